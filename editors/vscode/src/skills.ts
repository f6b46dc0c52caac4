// The tree view of a worktree's skills, grouped by state.

import * as vscode from "vscode";
import type { Sessions } from "./sessions";
import { profileArgs, run } from "./program";
import type { Entry, Health, ListResult, State } from "./wire";

/** The states in display order, with their titles. */
const STATES: readonly (readonly [State, string])[] = [
  ["active", "Seen by the model"],
  ["activated", "Activated by a file"],
  ["conditional", "Waiting for a matching file"],
  ["untrusted", "Waiting for trust"],
  ["invalid", "Dropped: the file is broken"],
  ["denied", "Denied by a permission rule"],
  ["shadowed", "Shadowed by a skill with the same name"],
  ["hidden", "Hidden from the model"],
  ["ignored", "Disabled"],
  ["refused", "Refused: symlink leads outside"],
];

/** The states that are expanded initially. */
const EXPANDED: readonly State[] = ["active", "activated", "conditional", "untrusted", "invalid"];

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
  refused: ["error", "list.errorForeground"],
};

/** The skills and health of one folder. */
export interface Snapshot {
  readonly skills: readonly Entry[];
  readonly health: readonly Health[];
  /** The error message if the request failed. */
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
  /** Fires after a refresh. */
  readonly onDidUpdate = this.updated.event;
  private readonly snapshots = new Map<string, Snapshot>();

  private view: vscode.TreeView<Node> | undefined;
  private requests = 0;

  constructor(
    private readonly program: () => string | undefined,
    private readonly sessions: Sessions,
  ) {}

  /** Creates the contributed tree view. */
  show(): vscode.Disposable {
    this.view = vscode.window.createTreeView("skillsd.skills", { treeDataProvider: this });
    return this.view;
  }

  /** Lists the skills of all folders again. */
  async refresh(): Promise<void> {
    this.requests += 1;
    const request = this.requests;
    const folders = vscode.workspace.workspaceFolders ?? [];
    const answers = await Promise.all(folders.map((it) => this.ask(it)));
    if (request !== this.requests) {
      // Drops the result: a later request has a newer one.
      return;
    }
    this.snapshots.clear();
    answers.forEach((it, index) => this.snapshots.set(folders[index]?.uri.toString() ?? "", it));
    if (this.view !== undefined) {
      const failure = answers.find((it) => it.failure !== undefined)?.failure;
      this.view.message = failure === undefined ? "" : `skillsd: ${failure}`;
    }
    this.changed.fire(undefined);
    this.updated.fire();
  }

  /** Returns the last snapshot of a folder. */
  snapshot(folder: vscode.WorkspaceFolder): Snapshot | undefined {
    return this.snapshots.get(folder.uri.toString());
  }

  private async ask(folder: vscode.WorkspaceFolder): Promise<Snapshot> {
    const program = this.program();
    if (program === undefined) {
      return { skills: [], health: [], failure: "not installed" };
    }
    const context = ["--cwd", folder.uri.fsPath, ...profileArgs(folder), ...this.sessions.args(folder)];
    const output = await run(program, ["list", "--all", "--json", ...context]);
    return read(output.stdout, output.stderr);
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
        return this.skillsIn(node.folder, node.state).map((entry) => ({ kind: "skill", entry }));
      case "skill":
        return [];
    }
  }

  private states(folder: vscode.WorkspaceFolder): Node[] {
    const present = STATES.filter(([state]) => this.skillsIn(folder, state).length > 0);
    return present.map(([state]) => ({ kind: "state", folder, state }));
  }

  private skillsIn(folder: vscode.WorkspaceFolder, state: State): Entry[] {
    return this.snapshot(folder)?.skills.filter((it) => it.state === state) ?? [];
  }

  private stateItem(folder: vscode.WorkspaceFolder, state: State): vscode.TreeItem {
    const title = STATES.find(([it]) => it === state)?.[1] ?? state;
    const { Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
    const open = EXPANDED.includes(state);
    const item = new vscode.TreeItem(title, open ? Expanded : Collapsed);
    item.description = String(this.skillsIn(folder, state).length);
    // Keeps its id when the count changes, so that it stays expanded or collapsed.
    item.id = `${folder.uri.toString()} ${state}`;
    return item;
  }
}

/** Returns true if the prompt lists a skill. */
export function isListed(entry: Entry): boolean {
  return entry.state === "active" || entry.state === "activated";
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
    tooltip.appendText(`\n\nActivated by files that match ${entry.paths.join(", ")}`);
  }
  tooltip.appendText(`\n\n${entry.scope}: ${entry.path}`);
  item.tooltip = tooltip;
  const [icon, color] = ICONS[entry.state];
  item.iconPath = new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
  item.contextValue = entry.trusted ? "skill trusted" : "skill";
  const uri = vscode.Uri.file(entry.path);
  item.command = { command: "vscode.open", title: "Open", arguments: [uri] };
  return item;
}

/** Parses the output of `skillsd list`; other output becomes the failure. */
function read(stdout: string, stderr: string): Snapshot {
  try {
    const result = JSON.parse(stdout) as ListResult;
    const { skills, health, nextCursor } = result;
    const more = { code: "more", message: `The view shows only the first ${skills.length} skills`, hint: "Run `skillsd list --all` to see all of them." };
    return { skills, health: nextCursor === null ? health : [...health, more] };
  } catch {
    return { skills: [], health: [], failure: stderr.trim() || "no answer" };
  }
}
