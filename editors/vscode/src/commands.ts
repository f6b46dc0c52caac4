// The commands that ask the program and show what it says.

import * as path from "node:path";
import * as vscode from "vscode";
import type { Conversations } from "./conversation";
import type { Pages } from "./pages";
import * as program from "./program";
import type { Node } from "./skills";
import type { CatalogResult, SearchResult } from "./wire";

/** What the commands work with. */
export interface Tools {
  readonly program: () => string | undefined;
  readonly pages: Pages;
  readonly conversations: Conversations;
}

/** Explains a skill of the view, else the SKILL.md in the editor, else the folder. */
export async function explain(tools: Tools, node?: Node): Promise<void> {
  if (node?.kind === "skill") {
    await page(tools, `explain ${node.entry.name}`, ["explain", node.entry.path, ...session(tools)]);
    return;
  }
  const file = vscode.window.activeTextEditor?.document.uri;
  if (file?.scheme === "file" && path.basename(file.fsPath) === "SKILL.md") {
    const name = path.basename(path.dirname(file.fsPath));
    await page(tools, `explain ${name}`, ["explain", file.fsPath, ...session(tools)]);
    return;
  }
  await page(tools, "list --all", ["list", "--all", ...session(tools)]);
}

/** Shows what an agent would put into its prompt: that of the settings, or one that is chosen. */
export async function catalog(tools: Tools): Promise<void> {
  const found = tools.program();
  if (found === undefined) {
    return program.tellMissing();
  }
  const own = "As the settings say";
  const profiles = profileNames();
  const placeHolder = "Whose prompt?";
  const chosen = await vscode.window.showQuickPick([own, ...profiles], { placeHolder });
  if (chosen === undefined) {
    return;
  }
  const profile = chosen === own ? program.profileArgs(folder()) : ["--profile", chosen];
  const output = await program.run(found, ["catalog", "--json", "--cwd", here(), ...profile, ...session(tools)]);
  const title = chosen === own ? "catalog" : `catalog ${chosen}`;
  await tools.pages.show(title, output.code === 0 ? preview(JSON.parse(output.stdout)) : output.stderr);
}

function preview(result: CatalogResult): string {
  const said = [
    `${result.count} ${result.count === 1 ? "skill" : "skills"}, about ${result.tokens} tokens`,
    ...(result.shortened > 0 ? [`${result.shortened} descriptions shortened for want of room`] : []),
    ...(result.omitted > 0 ? [`${result.omitted} left out for want of room`] : []),
  ];
  const text = result.text === "" ? "Nothing: the model is told of no skill." : result.text;
  return `${said.join("; ")}. The prompt gets what is below the line.\n${"─".repeat(60)}\n${text}`;
}

/** Asks for words, and opens the skill that is chosen among the answers. */
export async function search(tools: Tools): Promise<void> {
  const found = tools.program();
  if (found === undefined) {
    return program.tellMissing();
  }
  const place = here();
  const pick = vscode.window.createQuickPick<vscode.QuickPickItem & { readonly file: string }>();
  pick.placeholder = "A name, or what the skill does";
  pick.matchOnDescription = true;
  const ask = program.settled(async () => {
    const query = pick.value.trim();
    if (query === "") {
      pick.items = [];
      return;
    }
    pick.busy = true;
    const args = ["search", "--json", "--cwd", place, ...program.profileArgs(folder()), "--", query];
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

/** Trusts the skills of a folder. The program asks in a terminal; returns whether the answer was yes. */
export async function trust(tools: Tools, node?: Node): Promise<boolean> {
  const found = tools.program();
  if (found === undefined) {
    await program.tellMissing();
    return false;
  }
  const dir = node?.kind === "skill" ? path.dirname(node.entry.path) : folder()?.uri.fsPath;
  if (dir === undefined) {
    return false;
  }
  if ((await program.run(found, ["trust", "--help"])).code !== 0) {
    const text = `Agent Skills: ${found} is too old to be told of trust. Install a newer one.`;
    await vscode.window.showErrorMessage(text);
    return false;
  }
  // Only a person grants, so that the program asks one at a terminal.
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

/** Runs a command of the program here and shows what it says. */
export async function page(tools: Tools, title: string, args: readonly string[]): Promise<void> {
  const found = tools.program();
  if (found === undefined) {
    return program.tellMissing();
  }
  const flags = ["--color", "never", "--cwd", here(), ...program.profileArgs(folder())];
  const output = await program.run(found, [...flags, ...args]);
  await tools.pages.show(title, output.stdout === "" ? output.stderr : output.stdout);
}

/** Returns the folder that a command is about: that of the file, else the first. */
function folder(): vscode.WorkspaceFolder | undefined {
  const file = vscode.window.activeTextEditor?.document.uri;
  const of = file === undefined ? undefined : vscode.workspace.getWorkspaceFolder(file);
  return of ?? vscode.workspace.workspaceFolders?.[0];
}

/** Returns the directory that a command is about: the folder's, the file's, home. */
function here(): string {
  const file = vscode.window.activeTextEditor?.document.uri;
  const dir = file?.scheme === "file" ? path.dirname(file.fsPath) : undefined;
  return folder()?.uri.fsPath ?? dir ?? process.env["HOME"] ?? "/";
}

function session(tools: Tools): string[] {
  return tools.conversations.args(folder());
}

/** Returns the profiles that the setting offers, which are made from the program's own table. */
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
