// The view of a worktree's skills, by state, each with the reason.

import * as vscode from "vscode";
import { run } from "./program";
import type { Entry, Health, ListResult, State } from "./wire";

/** The states in the order in which they are shown, with what a person calls them. */
const STATES: readonly (readonly [State, string])[] = [
  ["active", "Seen by the model"],
  ["activated", "Activated by a file"],
  ["conditional", "Waiting for a matching file"],
  ["untrusted", "Waiting for trust"],
  ["invalid", "Dropped: the file is broken"],
  ["denied", "Denied by a rule"],
  ["shadowed", "Shadowed by another of the same name"],
  ["hidden", "Not for the model"],
  ["ignored", "Switched off"],
];

const ICONS: Readonly<Record<State, readonly [string, string?]>> = {
  active: ["pass", "testing.iconPassed"],
  activated: ["pass-filled", "testing.iconPassed"],
  conditional: ["clock", "list.warningForeground"],
  untrusted: ["shield", "list.warningForeground"],
  invalid: ["error", "list.errorForeground"],
  denied: ["circle-slash", "list.errorForeground"],
  shadowed: ["copy"],
  hidden: ["eye-closed"],
  ignored: ["circle-slash"],
};

/** What the view shows, and what the status item counts. */
export interface Snapshot {
  readonly skills: readonly Entry[];
  readonly health: readonly Health[];
  /** Why there is no answer. */
  readonly failure?: string;
}

/** A folder, a state, or a skill. */
export type Node =
  | { readonly kind: "folder"; readonly folder: vscode.WorkspaceFolder }
  | { readonly kind: "state"; readonly folder: vscode.WorkspaceFolder; readonly state: State }
  | { readonly kind: "skill"; readonly entry: Entry };

export class Skills implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<Node | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly updated = new vscode.EventEmitter<void>();
  /** Fires when an answer has come. */
  readonly onDidUpdate = this.updated.event;
  private readonly snapshots = new Map<string, Snapshot>();

  constructor(private readonly program: () => string | undefined) {}

  /** Asks again for all folders. */
  async refresh(): Promise<void> {
    const folders = vscode.workspace.workspaceFolders ?? [];
    await Promise.all(folders.map((it) => this.ask(it)));
    this.changed.fire(undefined);
    this.updated.fire();
  }

  /** Returns what is known of a folder. */
  snapshot(folder: vscode.WorkspaceFolder): Snapshot | undefined {
    return this.snapshots.get(folder.uri.toString());
  }

  private async ask(folder: vscode.WorkspaceFolder): Promise<void> {
    const program = this.program();
    if (program === undefined) {
      this.snapshots.set(folder.uri.toString(), { skills: [], health: [], failure: "not installed" });
      return;
    }
    const args = ["list", "--all", "--json", "--cwd", folder.uri.fsPath, ...profileArgs(folder)];
    const output = await run(program, args);
    this.snapshots.set(folder.uri.toString(), read(output.stdout, output.stderr));
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case "folder": {
        const item = new vscode.TreeItem(node.folder.name, vscode.TreeItemCollapsibleState.Expanded);
        item.iconPath = vscode.ThemeIcon.Folder;
        return item;
      }
      case "state":
        return this.stateItem(node.folder, node.state);
      case "skill":
        return skillItem(node.entry);
    }
  }

  getChildren(node?: Node): Node[] {
    const folders = vscode.workspace.workspaceFolders ?? [];
    if (node === undefined) {
      const [only] = folders;
      if (folders.length === 1 && only !== undefined) {
        return this.states(only);
      }
      return folders.map((folder) => ({ kind: "folder", folder }));
    }
    switch (node.kind) {
      case "folder":
        return this.states(node.folder);
      case "state":
        return this.of(node.folder, node.state).map((entry) => ({ kind: "skill", entry }));
      case "skill":
        return [];
    }
  }

  private states(folder: vscode.WorkspaceFolder): Node[] {
    const held = STATES.filter(([state]) => this.of(folder, state).length > 0);
    return held.map(([state]) => ({ kind: "state", folder, state }));
  }

  private of(folder: vscode.WorkspaceFolder, state: State): Entry[] {
    return this.snapshot(folder)?.skills.filter((it) => it.state === state) ?? [];
  }

  private stateItem(folder: vscode.WorkspaceFolder, state: State): vscode.TreeItem {
    const title = STATES.find(([it]) => it === state)?.[1] ?? state;
    const { Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
    const open = state === "active" || state === "activated" || state === "invalid";
    const item = new vscode.TreeItem(title, open ? Expanded : Collapsed);
    item.description = String(this.of(folder, state).length);
    return item;
  }
}

function skillItem(entry: Entry): vscode.TreeItem {
  const item = new vscode.TreeItem(entry.name === "" ? "(no name)" : entry.name);
  item.description = entry.reason ?? entry.description ?? "";
  const tooltip = new vscode.MarkdownString();
  tooltip.appendText(entry.description ?? "No description.");
  if (entry.reason !== null) {
    tooltip.appendText(`\n\n${entry.reason}`);
  }
  if (entry.paths.length > 0) {
    tooltip.appendText(`\n\nFor files that match ${entry.paths.join(", ")}`);
  }
  tooltip.appendText(`\n\n${entry.scope}: ${entry.path}`);
  item.tooltip = tooltip;
  const [icon, color] = ICONS[entry.state];
  item.iconPath = new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
  item.contextValue = "skill";
  const uri = vscode.Uri.file(entry.path);
  item.command = { command: "vscode.open", title: "Open", arguments: [uri] };
  return item;
}

/** Returns the flags for the profile that the settings name. */
export function profileArgs(scope: vscode.ConfigurationScope | undefined): string[] {
  const profile = vscode.workspace.getConfiguration("skillsd", scope).get<string>("profile", "");
  return profile === "" ? [] : ["--profile", profile];
}

/** Reads an answer; anything else is why there is none. */
function read(stdout: string, stderr: string): Snapshot {
  try {
    const result = JSON.parse(stdout) as ListResult;
    return { skills: result.skills, health: result.health };
  } catch {
    return { skills: [], health: [], failure: stderr.trim() || "no answer" };
  }
}
