// The extension: the language server, the view of skills, the status item, and the commands.

import { spawn, type ChildProcess } from "node:child_process";
import * as path from "node:path";
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";
import { Pages, SCHEME } from "./pages";
import * as program from "./program";
import { Skills, profileArgs, type Node } from "./skills";
import type { SearchResult } from "./wire";

/** How long changes settle before the view asks again. */
const SETTLE_MS = 300;

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("Agent Skills", { log: true });
  const pages = new Pages();
  const skills = new Skills(() => program.find(context));
  const status = vscode.window.createStatusBarItem("skillsd.status", vscode.StatusBarAlignment.Left, 0);
  status.name = "Agent Skills";
  status.command = "skillsd.skills.focus";
  const refresh = settled(() => skills.refresh());
  const register = (name: string, handler: (node?: Node) => Promise<void>) =>
    vscode.commands.registerCommand(`skillsd.${name}`, handler);

  context.subscriptions.push(
    output,
    status,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, pages),
    vscode.window.registerTreeDataProvider("skillsd.skills", skills),
    skills.onDidUpdate(() => showStatus(status, skills)),
    vscode.workspace.onDidSaveTextDocument(refresh),
    vscode.workspace.onDidChangeWorkspaceFolders(refresh),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("skillsd.path")) {
        void restart(context, output);
      }
      if (event.affectsConfiguration("skillsd")) {
        refresh();
      }
    }),
    register("refresh", () => skills.refresh()),
    register("restart", () => restart(context, output)),
    register("explain", (node) => explain(context, pages, node)),
    register("search", () => search(context)),
    register("status", () => page(context, pages, "skillsd status", ["status"])),
    register("showLog", () => page(context, pages, "skillsd log", ["logs"])),
    // Changes on the disk that no editor made: agents, git, other programs.
    watched(refresh),
  );
  await restart(context, output);
  await skills.refresh();
  follow(context, refresh);
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

/** Starts the language server, in place of the one that runs. */
async function restart(context: vscode.ExtensionContext, output: vscode.LogOutputChannel): Promise<void> {
  await client?.stop().catch(() => undefined);
  client = undefined;
  const found = program.find(context);
  if (found === undefined) {
    void program.tellMissing();
    return;
  }
  const server: ServerOptions = { command: found, args: ["lsp"] };
  const options: LanguageClientOptions = {
    // By name and not by language: newer versions call a SKILL.md `skill`, older ones `markdown`.
    documentSelector: [{ scheme: "file", pattern: "**/SKILL.md" }],
    outputChannel: output,
  };
  client = new LanguageClient("skillsd", "Agent Skills", server, options);
  try {
    await client.start();
  } catch (error) {
    output.error(`the language server did not start: ${String(error)}`);
    void vscode.window.showErrorMessage("Agent Skills: the language server did not start; see the output.");
  }
}

/** Explains a skill of the view, else the SKILL.md in the editor, else the folder. */
async function explain(context: vscode.ExtensionContext, pages: Pages, node?: Node): Promise<void> {
  if (node?.kind === "skill") {
    await page(context, pages, `explain ${node.entry.name}`, ["explain", node.entry.path]);
    return;
  }
  const file = vscode.window.activeTextEditor?.document.uri;
  if (file?.scheme === "file" && path.basename(file.fsPath) === "SKILL.md") {
    const name = path.basename(path.dirname(file.fsPath));
    await page(context, pages, `explain ${name}`, ["explain", file.fsPath]);
    return;
  }
  await page(context, pages, "list --all", ["list", "--all"]);
}

/** Asks for words, and opens the skill that is chosen among the answers. */
async function search(context: vscode.ExtensionContext): Promise<void> {
  const found = program.find(context);
  if (found === undefined) {
    return program.tellMissing();
  }
  const folder = here();
  const pick = vscode.window.createQuickPick<vscode.QuickPickItem & { readonly file: string }>();
  pick.placeholder = "A name, or what the skill does";
  pick.matchOnDescription = true;
  const ask = settled(async () => {
    const query = pick.value.trim();
    if (query === "") {
      pick.items = [];
      return;
    }
    pick.busy = true;
    const args = ["search", "--json", "--cwd", folder, ...profileArgs(undefined), "--", query];
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

/** Runs a command of the program here and shows what it says. */
async function page(
  context: vscode.ExtensionContext,
  pages: Pages,
  title: string,
  args: readonly string[],
): Promise<void> {
  const found = program.find(context);
  if (found === undefined) {
    return program.tellMissing();
  }
  const flags = ["--color", "never", "--cwd", here(), ...profileArgs(undefined)];
  const output = await program.run(found, [...flags, ...args]);
  await pages.show(title, output.stdout === "" ? output.stderr : output.stdout);
}

/** Returns the directory that a command is about: the file's, the folder's, home. */
function here(): string {
  const file = vscode.window.activeTextEditor?.document.uri;
  if (file?.scheme === "file") {
    return path.dirname(file.fsPath);
  }
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? process.env["HOME"] ?? "/";
}

function showStatus(item: vscode.StatusBarItem, skills: Skills): void {
  const snapshots = (vscode.workspace.workspaceFolders ?? []).flatMap((it) => skills.snapshot(it) ?? []);
  const entries = snapshots.flatMap((it) => it.skills);
  const failure = snapshots.find((it) => it.failure !== undefined)?.failure;
  const listed = entries.filter((it) => it.state === "active" || it.state === "activated").length;
  const broken = entries.filter((it) => it.state === "invalid").length;
  const unwell = snapshots.flatMap((it) => it.health);
  const isWell = failure === undefined && unwell.length === 0;
  item.text = failure === undefined ? `$(book) ${listed}${broken > 0 ? ` $(error) ${broken}` : ""}` : "$(warning) skills";
  const lines = [
    failure === undefined ? `${listed} skills, ${entries.length - listed} left out` : `skillsd: ${failure}`,
    ...unwell.map((it) => `${it.message}. ${it.hint}`),
  ];
  item.tooltip = lines.join("\n");
  item.backgroundColor = isWell ? undefined : new vscode.ThemeColor("statusBarItem.warningBackground");
  item.show();
}

function watched(refresh: () => void): vscode.Disposable {
  const watcher = vscode.workspace.createFileSystemWatcher("**/SKILL.md");
  watcher.onDidChange(refresh);
  watcher.onDidCreate(refresh);
  watcher.onDidDelete(refresh);
  return watcher;
}

/** Follows the daemon's own news, so that changes outside the folders show too. */
function follow(context: vscode.ExtensionContext, refresh: () => void): void {
  const found = program.find(context);
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (found === undefined || folder === undefined) {
    return;
  }
  const child: ChildProcess = spawn(found, ["watch", "--json", "--cwd", folder], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  child.stdout?.on("data", refresh);
  // Without news the watcher of files above still tells of most changes.
  child.on("error", () => undefined);
  context.subscriptions.push({ dispose: () => child.kill() });
}

/** Returns a function that runs once after the last of its calls has settled. */
function settled(run: () => Promise<void>): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), SETTLE_MS);
  };
}
