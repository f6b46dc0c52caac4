export interface PriceProps {
  cents: number;
  currency: string;
}

export function Price({ cents, currency }: PriceProps) {
  const format = new Intl.NumberFormat(undefined, { style: "currency", currency });
  return <data value={cents}>{format.format(cents / 100)}</data>;
}
