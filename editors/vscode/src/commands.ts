// The commands that run the program and show its output.

import * as path from "node:path";
import * as vscode from "vscode";
import type { Sessions } from "./sessions";
import type { Pages } from "./pages";
import * as program from "./program";
import type { Node } from "./skills";
import type { CatalogResult, SearchResult } from "./wire";

/** The objects that commands use. */
export interface CommandContext {
  readonly program: () => string | undefined;
  readonly pages: Pages;
  readonly sessions: Sessions;
}

/** Explains the given skill, else the open SKILL.md; otherwise lists the skills of the folder. */
export async function explain(context: CommandContext, node?: Node): Promise<void> {
  if (node?.kind === "skill") {
    await page(context, `explain ${node.entry.name}`, ["explain", node.entry.path, ...session(context)]);
    return;
  }
  const file = vscode.window.activeTextEditor?.document.uri;
  if (file?.scheme === "file" && path.basename(file.fsPath) === "SKILL.md") {
    const name = path.basename(path.dirname(file.fsPath));
    await page(context, `explain ${name}`, ["explain", file.fsPath, ...session(context)]);
    return;
  }
  await page(context, "list --all", ["list", "--all", ...session(context)]);
}

/** Shows the prompt listing of the configured profile, or of a chosen one. */
export async function catalog(context: CommandContext): Promise<void> {
  const found = context.program();
  if (found === undefined) {
    return program.tellMissing();
  }
  const own = "Configured profile";
  const profiles = profileNames();
  const placeHolder = "Select a profile";
  const chosen = await vscode.window.showQuickPick([own, ...profiles], { placeHolder });
  if (chosen === undefined) {
    return;
  }
  const profile = chosen === own ? program.profileArgs(folder()) : ["--profile", chosen];
  const output = await program.run(found, ["catalog", "--json", "--cwd", here(), ...profile, ...session(context)]);
  const title = chosen === own ? "catalog" : `catalog ${chosen}`;
  await context.pages.show(title, output.code === 0 ? preview(JSON.parse(output.stdout)) : output.stderr);
}

function preview(result: CatalogResult): string {
  const counts = [
    `${result.count} ${result.count === 1 ? "skill" : "skills"}, about ${result.tokens} tokens`,
    ...(result.shortened > 0 ? [`${result.shortened} descriptions dropped: listing budget exceeded`] : []),
    ...(result.omitted > 0 ? [`${result.omitted} skills omitted: listing budget exceeded`] : []),
  ];
  const text = result.text === "" ? "(empty: the prompt lists no skills)" : result.text;
  return `${counts.join("; ")}. The prompt listing follows below the line.\n${"─".repeat(60)}\n${text}`;
}

/** Searches skills by the words that the user types, and opens the chosen one. */
export async function search(context: CommandContext): Promise<void> {
  const found = context.program();
  if (found === undefined) {
    return program.tellMissing();
  }
  const cwd = here();
  const pick = vscode.window.createQuickPick<vscode.QuickPickItem & { readonly file: string }>();
  pick.placeholder = "Name or description of a skill";
  pick.matchOnDescription = true;
  const ask = program.debounce(async () => {
    const query = pick.value.trim();
    if (query === "") {
      pick.items = [];
      return;
    }
    pick.busy = true;
    const args = ["search", "--json", "--cwd", cwd, ...program.profileArgs(folder()), "--", query];
    const output = await program.run(found, args);
    pick.busy = false;
    if (query === pick.value.trim() && output.code === 0) {
      const result = JSON.parse(output.stdout) as SearchResult;
      pick.items = result.skills.map((it) => ({
        label: it.name,
        description: it.description ?? "",
        file: it.path,
        alwaysShow: true,
      }));
    }
  });
  pick.onDidChangeValue(ask);
  pick.onDidAccept(() => {
    const [chosen] = pick.selectedItems;
    pick.hide();
    if (chosen !== undefined) {
      void vscode.window.showTextDocument(vscode.Uri.file(chosen.file));
    }
  });
  pick.onDidHide(() => pick.dispose());
  pick.show();
}

/** Trusts the skills of a folder. The program asks in a terminal; returns true if the user confirmed. */
export async function trust(context: CommandContext, node?: Node): Promise<boolean> {
  const found = context.program();
  if (found === undefined) {
    await program.tellMissing();
    return false;
  }
  const dir = node?.kind === "skill" ? path.dirname(node.entry.path) : folder()?.uri.fsPath;
  if (dir === undefined) {
    return false;
  }
  if ((await program.run(found, ["trust", "--help"])).code !== 0) {
    const text = `Agent Skills: ${found} is too old: it has no trust command. Install a newer version.`;
    await vscode.window.showErrorMessage(text);
    return false;
  }
  // Trust can be granted only by a person, so the program asks in a terminal.
  const terminal = vscode.window.createTerminal({ name: "skillsd trust", shellPath: found, shellArgs: ["trust", dir] });
  terminal.show();
  return new Promise((resolve) => {
    const closing = vscode.window.onDidCloseTerminal((it) => {
      if (it === terminal) {
        closing.dispose();
        resolve(it.exitStatus?.code === 0);
      }
    });
  });
}

/** Runs a command of the program in the current folder and shows its output. */
export async function page(context: CommandContext, title: string, args: readonly string[]): Promise<void> {
  const found = context.program();
  if (found === undefined) {
    return program.tellMissing();
  }
  const flags = ["--color", "never", "--cwd", here(), ...program.profileArgs(folder())];
  const output = await program.run(found, [...flags, ...args]);
  await context.pages.show(title, output.stdout === "" ? output.stderr : output.stdout);
}

/** Returns the folder for a command: that of the active file, else the first. */
function folder(): vscode.WorkspaceFolder | undefined {
  const file = vscode.window.activeTextEditor?.document.uri;
  const containing = file === undefined ? undefined : vscode.workspace.getWorkspaceFolder(file);
  return containing ?? vscode.workspace.workspaceFolders?.[0];
}

/** Returns the working directory for a command: the folder, else the active file's directory, else home. */
function here(): string {
  const file = vscode.window.activeTextEditor?.document.uri;
  const dir = file?.scheme === "file" ? path.dirname(file.fsPath) : undefined;
  return folder()?.uri.fsPath ?? dir ?? process.env["HOME"] ?? "/";
}

function session(context: CommandContext): string[] {
  return context.sessions.args(folder());
}

/** Returns the profiles that the setting offers; they are generated from the program's table. */
function profileNames(): string[] {
  const extension = vscode.extensions.getExtension("skillsd.skillsd");
  const manifest = extension?.packageJSON as Manifest | undefined;
  const choices = manifest?.contributes.configuration.properties["skillsd.profile"]?.enum ?? [];
  return choices.filter((it) => it !== "");
}

interface Manifest {
  readonly contributes: {
    readonly configuration: { readonly properties: Record<string, { readonly enum?: readonly string[] }> };
  };
}
