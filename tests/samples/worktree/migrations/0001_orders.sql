SET lock_timeout = '2s';

CREATE TABLE orders (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    placed_at timestamptz NOT NULL DEFAULT now(),
    total_cents integer NOT NULL
);
