// Starts and restarts the language server.

import * as vscode from "vscode";
import {
  LanguageClient,
  type LanguageClientOptions,
  type Location,
  type Position,
  type ServerOptions,
  type StaticFeature,
} from "vscode-languageclient/node";
import type { Sessions } from "./sessions";
import * as program from "./program";

/** The files that the language server supports. */
const FILES = [
  "**/SKILL.md",
  "**/{CLAUDE,CLAUDE.local,AGENTS,AGENTS.override,GEMINI}.md",
  "**/{.claude,.opencode,.agents,.codex,.gemini,opencode}/{commands,command,agents,agent,prompts}/**/*.md",
];

/** The command of a code lens: shows the locations that mention the skill. */
const SHOW_REFERENCES = "skillsd.showReferences";

/** Announces the command in the client's capabilities. */
const SHOW_REFERENCES_FEATURE: StaticFeature = {
  fillClientCapabilities(capabilities) {
    capabilities.experimental = { ...capabilities.experimental, commands: { commands: [SHOW_REFERENCES] } };
  },
  initialize() {},
  getState: () => ({ kind: "static" }),
  clear() {},
};

export class Language {
  private client: LanguageClient | undefined;

  constructor(
    private readonly program: () => string | undefined,
    private readonly sessions: Sessions,
    private readonly output: vscode.LogOutputChannel,
  ) {}

  /** Registers the command of code lenses. Its arguments are LSP types. */
  showReferences(): vscode.Disposable {
    return vscode.commands.registerCommand(SHOW_REFERENCES, async (uri: string, at: Position, locations: Location[]) => {
      const convert = this.client?.protocol2CodeConverter;
      if (convert !== undefined) {
        const shown = [convert.asUri(uri), convert.asPosition(at), await convert.asReferences(locations)];
        await vscode.commands.executeCommand("editor.action.showReferences", ...shown);
      }
    });
  }

  /** Starts the language server, after stopping the running one. */
  async restart(): Promise<void> {
    await this.stop();
    const found = this.program();
    if (found === undefined) {
      // Not awaited: the message stays open until the user dismisses it.
      void program.tellMissing();
      return;
    }
    const server: ServerOptions = { command: found, args: ["lsp"] };
    const options: LanguageClientOptions = {
      // Selected by file name, because newer versions of VS Code give SKILL.md the language
      // `skill`, older ones `markdown`.
      documentSelector: FILES.map((pattern) => ({ scheme: "file", pattern })),
      outputChannel: this.output,
      // The language server uses these sessions and leaves touches to them.
      initializationOptions: { session: this.sessions.sessionPrefix() },
      synchronize: { configurationSection: "skillsd" },
    };
    const client = new LanguageClient("skillsd", "Agent Skills", server, options);
    client.registerFeature(SHOW_REFERENCES_FEATURE);
    try {
      await client.start();
      this.client = client;
    } catch (error) {
      this.output.error(`cannot start the language server: ${String(error)}`);
      void vscode.window.showErrorMessage("Agent Skills: cannot start the language server. See the output.");
    }
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    // Stopping fails if the server has already died; that is fine.
    await client?.stop().catch(() => undefined);
  }
}
