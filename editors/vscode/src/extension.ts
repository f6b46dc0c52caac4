// The extension: the language server, the view of skills, the status item, and the commands.

import * as vscode from "vscode";
import * as commands from "./commands";
import { Conversations } from "./conversation";
import { Language } from "./language";
import { Pages, SCHEME } from "./pages";
import * as program from "./program";
import { Skills, type Node } from "./skills";
import * as status from "./status";

/** What has to be ended in order. */
let running: { readonly language: Language; readonly conversations: Conversations } | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("Agent Skills", { log: true });
  const find = () => program.find(context);
  const pages = new Pages();
  const conversations = new Conversations(find, output);
  const skills = new Skills(find, conversations);
  const language = new Language(find, conversations, output);
  running = { language, conversations };
  const tools: commands.Tools = { program: find, pages, conversations };
  const refresh = program.settled(() => skills.refresh());
  const again = async () => {
    await conversations.begin();
    await language.restart();
    await skills.refresh();
  };
  // One after the other, so that no language server is left behind.
  let last = Promise.resolve();
  const begin = () => (last = last.catch(() => undefined).then(again));
  const register = (name: string, handler: (node?: Node) => Promise<void>) =>
    vscode.commands.registerCommand(`skillsd.${name}`, handler);

  context.subscriptions.push(
    output,
    conversations,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, pages),
    skills.show(),
    status.create(skills),
    language.showReferences(),
    conversations.onDidChange(refresh),
    vscode.workspace.onDidChangeWorkspaceFolders(refresh),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("skillsd.path") || event.affectsConfiguration("skillsd.profile")) {
        await begin();
      }
    }),
    register("refresh", () => skills.refresh()),
    register("restart", begin),
    register("explain", (node) => commands.explain(tools, node)),
    register("catalog", () => commands.catalog(tools)),
    register("search", () => commands.search(tools)),
    register("trust", async (node) => {
      if (await commands.trust(tools, node)) {
        await skills.refresh();
      }
    }),
    register("status", () => commands.page(tools, "skillsd status", ["status"])),
    register("showLog", () => commands.page(tools, "skillsd log", ["logs"])),
    // Changes on the disk that no editor made, for a program that cannot tell of them.
    watched(refresh),
  );
  await begin();
}

export async function deactivate(): Promise<void> {
  await Promise.all([running?.language.stop(), running?.conversations.end()]);
}

function watched(refresh: () => void): vscode.Disposable {
  const watcher = vscode.workspace.createFileSystemWatcher("**/SKILL.md");
  watcher.onDidChange(refresh);
  watcher.onDidCreate(refresh);
  watcher.onDidDelete(refresh);
  return watcher;
}
