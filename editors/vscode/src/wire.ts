// The parts of the daemon's answers that the extension reads; docs/protocol.md describes all of
// them.

export type State =
  | "active"
  | "activated"
  | "conditional"
  | "shadowed"
  | "invalid"
  | "hidden"
  | "denied"
  | "untrusted"
  | "ignored"
  | "refused";

export interface Entry {
  readonly name: string;
  readonly description: string | null;
  readonly path: string;
  readonly scope: string;
  readonly root: string;
  readonly state: State;
  readonly reason: string | null;
  readonly paths: readonly string[];
  readonly trusted: boolean;
  readonly diagnostics: { readonly error: number; readonly warning: number };
}

export interface Health {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export interface ListResult {
  readonly clock: string;
  readonly health: readonly Health[];
  readonly skills: readonly Entry[];
  readonly nextCursor: string | null;
}

export interface TouchResult {
  readonly activated: readonly (Entry & { readonly matched: { readonly pattern: string; readonly path: string } })[];
  readonly discovered: readonly { readonly dir: string }[];
}

export interface CatalogResult {
  readonly text: string;
  readonly count: number;
  readonly tokens: number;
  readonly shortened: number;
  readonly omitted: number;
}

export interface SearchResult {
  readonly skills: readonly (Entry & { readonly score: number })[];
}
