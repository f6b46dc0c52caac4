// The language server: started, and started again.

import * as vscode from "vscode";
import {
  LanguageClient,
  type LanguageClientOptions,
  type Location,
  type Position,
  type ServerOptions,
  type StaticFeature,
} from "vscode-languageclient/node";
import type { Conversations } from "./conversation";
import * as program from "./program";

/** Skills, and the files that speak of them. */
const FILES = [
  "**/SKILL.md",
  "**/{CLAUDE,CLAUDE.local,AGENTS,AGENTS.override,GEMINI}.md",
  "**/{.claude,.opencode,.agents,.codex,.gemini,opencode}/{commands,command,agents,agent,prompts}/**/*.md",
];

/** What the line above a skill calls when it is chosen: shows the places that name the skill. */
const SHOW = "skillsd.showReferences";

/** Tells the server that this client knows the command. */
const KNOWS_SHOW: StaticFeature = {
  fillClientCapabilities(capabilities) {
    capabilities.experimental = { ...capabilities.experimental, commands: { commands: [SHOW] } };
  },
  initialize() {},
  getState: () => ({ kind: "static" }),
  clear() {},
};

export class Language {
  private client: LanguageClient | undefined;

  constructor(
    private readonly program: () => string | undefined,
    private readonly conversations: Conversations,
    private readonly output: vscode.LogOutputChannel,
  ) {}

  /** Takes up the command of the lines above a skill: what they hold are the protocol's own types. */
  showReferences(): vscode.Disposable {
    return vscode.commands.registerCommand(SHOW, async (uri: string, at: Position, places: Location[]) => {
      const convert = this.client?.protocol2CodeConverter;
      if (convert !== undefined) {
        const shown = [convert.asUri(uri), convert.asPosition(at), await convert.asReferences(places)];
        await vscode.commands.executeCommand("editor.action.showReferences", ...shown);
      }
    });
  }

  /** Starts the language server, in place of the one that runs. */
  async restart(): Promise<void> {
    await this.stop();
    const found = this.program();
    if (found === undefined) {
      // Not waited for: a message stays until somebody answers it.
      void program.tellMissing();
      return;
    }
    const server: ServerOptions = { command: found, args: ["lsp"] };
    const options: LanguageClientOptions = {
      // By name and not by language: newer versions call a SKILL.md `skill`, older ones `markdown`.
      documentSelector: FILES.map((pattern) => ({ scheme: "file", pattern })),
      outputChannel: this.output,
      // It sees what the conversations see, and leaves touched files to them.
      initializationOptions: { session: this.conversations.name() },
      synchronize: { configurationSection: "skillsd" },
    };
    const client = new LanguageClient("skillsd", "Agent Skills", server, options);
    client.registerFeature(KNOWS_SHOW);
    try {
      await client.start();
      this.client = client;
    } catch (error) {
      this.output.error(`the language server did not start: ${String(error)}`);
      void vscode.window.showErrorMessage("Agent Skills: the language server did not start; see the output.");
    }
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    // One that has died already cannot be stopped, which is as good.
    await client?.stop().catch(() => undefined);
  }
}
