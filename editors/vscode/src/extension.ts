// The extension: the language server, the view of skills, the status item, and the commands.

import * as vscode from "vscode";
import * as commands from "./commands";
import { Sessions } from "./sessions";
import { Language } from "./language";
import { Pages, SCHEME } from "./pages";
import * as program from "./program";
import { Skills, type Node } from "./skills";
import * as status from "./status";

/** Stopped by `deactivate`. */
let running: { readonly language: Language; readonly sessions: Sessions } | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("Agent Skills", { log: true });
  const find = () => program.find(context);
  const pages = new Pages();
  const sessions = new Sessions(find, output);
  const skills = new Skills(find, sessions);
  const language = new Language(find, sessions, output);
  running = { language, sessions };
  const commandContext: commands.CommandContext = { program: find, pages, sessions };
  const refresh = program.debounce(() => skills.refresh());
  const restart = async () => {
    await sessions.restart();
    await language.restart();
    await skills.refresh();
  };
  // Restarts run one after the other, so that no language server is left running.
  let last = Promise.resolve();
  const queueRestart = () => (last = last.catch(() => undefined).then(restart));
  const register = (name: string, handler: (node?: Node) => Promise<void>) =>
    vscode.commands.registerCommand(`skillsd.${name}`, handler);

  context.subscriptions.push(
    output,
    sessions,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, pages),
    skills.show(),
    status.create(skills),
    language.showReferences(),
    sessions.onDidChange(refresh),
    vscode.workspace.onDidChangeWorkspaceFolders(refresh),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("skillsd.path") || event.affectsConfiguration("skillsd.profile")) {
        await queueRestart();
      }
    }),
    register("refresh", () => skills.refresh()),
    register("restart", queueRestart),
    register("explain", (node) => commands.explain(commandContext, node)),
    register("catalog", () => commands.catalog(commandContext)),
    register("search", () => commands.search(commandContext)),
    register("trust", async (node) => {
      if (await commands.trust(commandContext, node)) {
        await skills.refresh();
      }
    }),
    register("status", () => commands.page(commandContext, "skillsd status", ["status"])),
    register("showLog", () => commands.page(commandContext, "skillsd log", ["logs"])),
    // Refreshes on changes on the disk even if the program reports none.
    watchSkillFiles(refresh),
  );
  await queueRestart();
}

export async function deactivate(): Promise<void> {
  await Promise.all([running?.language.stop(), running?.sessions.end()]);
}

function watchSkillFiles(refresh: () => void): vscode.Disposable {
  const watcher = vscode.workspace.createFileSystemWatcher("**/SKILL.md");
  watcher.onDidChange(refresh);
  watcher.onDidCreate(refresh);
  watcher.onDidDelete(refresh);
  return watcher;
}
