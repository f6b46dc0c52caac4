// The editor's own session with the daemon, one for each folder. Files opened and saved there count
// as touched, so that skills with matching `paths` are activated as they are for an agent.

import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import { run, profileArgs, debounce } from "./program";
import type { TouchResult } from "./wire";

/** Touches within this time are sent together. */
const TOUCH_DELAY_MS = 100;
/** The delay before `skillsd watch` is started again after it ended. */
const RESTART_DELAY_MS = 5_000;

type Op = "read" | "write";

export class Sessions implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** Fires when skills may have changed, by a touch or on the disk. */
  readonly onDidChange = this.changed.event;
  private readonly subscriptions: vscode.Disposable[] = [];
  private readonly pendingTouches = new Map<string, Set<string>>();
  private readonly opened = new Set<string>();
  private readonly watchers = new Map<string, ChildProcess>();
  private prefix = newPrefix();
  private isDisposed = false;
  private readonly flush = debounce(() => this.send(), TOUCH_DELAY_MS);

  constructor(
    private readonly program: () => string | undefined,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.subscriptions.push(
      vscode.workspace.onDidOpenTextDocument((it) => this.touch(it, "read")),
      vscode.workspace.onDidSaveTextDocument((it) => this.touch(it, "write")),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.watchAll()),
    );
  }

  /** Returns the prefix of all session ids; the folder follows it. */
  sessionPrefix(): string {
    return this.prefix;
  }

  /** Returns the session id of a folder, as the daemon and the language server use it. */
  id(folder: vscode.WorkspaceFolder): string {
    return `${this.prefix}:${folder.uri.fsPath}`;
  }

  /** Returns the flags that make a command use the session of a folder. */
  args(folder: vscode.WorkspaceFolder | undefined): string[] {
    return folder === undefined ? [] : ["--session", this.id(folder)];
  }

  /** Starts new sessions with the files open now, after the program or the profile has changed. */
  async restart(): Promise<void> {
    await this.closeAll();
    this.prefix = newPrefix();
    this.watchAll();
    vscode.workspace.textDocuments.forEach((it) => this.touch(it, "read"));
  }

  /** Closes all sessions. */
  async end(): Promise<void> {
    this.isDisposed = true;
    this.dispose();
    await this.closeAll();
  }

  dispose(): void {
    this.subscriptions.splice(0).forEach((it) => void it.dispose());
    this.watchers.forEach((it) => it.kill());
    this.watchers.clear();
  }

  private touch(document: vscode.TextDocument, op: Op): void {
    const folder = vscode.workspace.getWorkspaceFolder(document.uri);
    if (document.uri.scheme !== "file" || folder === undefined) {
      return;
    }
    const key = `${op} ${folder.uri.toString()}`;
    const paths = this.pendingTouches.get(key) ?? new Set();
    this.pendingTouches.set(key, paths.add(document.uri.fsPath));
    this.flush();
  }

  private async send(): Promise<void> {
    const program = this.program();
    const batch = [...this.pendingTouches];
    this.pendingTouches.clear();
    for (const [key, paths] of batch) {
      const [op = "read", uri] = key.split(" ");
      const folder = vscode.workspace.workspaceFolders?.find((it) => it.uri.toString() === uri);
      if (program === undefined || folder === undefined) {
        continue;
      }
      this.opened.add(this.id(folder));
      const context = ["--cwd", folder.uri.fsPath, ...profileArgs(folder), ...this.args(folder)];
      const output = await run(program, ["touch", "--json", ...context, "--op", op, "--", ...paths]);
      if (output.code !== 0) {
        this.log.warn(`cannot report touched files: ${output.stderr.trim()}`);
        continue;
      }
      const result = JSON.parse(output.stdout) as TouchResult;
      for (const it of result.activated) {
        this.log.info(`activated ${it.name}: ${it.matched.path} matches ${it.matched.pattern}`);
      }
      if (result.activated.length + result.discovered.length > 0) {
        this.changed.fire();
      }
    }
  }

  /** Runs `skillsd watch` for each open folder, and stops the others. */
  private watchAll(): void {
    this.watchers.forEach((it) => it.kill());
    this.watchers.clear();
    const program = this.program();
    for (const folder of program === undefined ? [] : vscode.workspace.workspaceFolders ?? []) {
      this.watchFolder(program as string, folder);
    }
  }

  private watchFolder(program: string, folder: vscode.WorkspaceFolder): void {
    const key = folder.uri.toString();
    const args = ["watch", "--json", "--cwd", folder.uri.fsPath, ...profileArgs(folder), ...this.args(folder)];
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"] });
    this.watchers.set(key, child);
    child.stdout.on("data", () => this.changed.fire());
    // `close` is emitted after an error too.
    child.on("error", (error) => this.log.warn(`cannot watch for changes: ${error.message}`));
    child.on("close", () => {
      const isCurrent = () => !this.isDisposed && this.watchers.get(key) === child;
      setTimeout(() => isCurrent() && this.watchFolder(program, folder), RESTART_DELAY_MS);
    });
  }

  private async closeAll(): Promise<void> {
    const program = this.program();
    const opened = [...this.opened];
    this.opened.clear();
    if (program !== undefined) {
      await Promise.all(opened.map((it) => run(program, ["session", "close", it], 2_000)));
    }
  }
}

function newPrefix(): string {
  return `vscode-${randomUUID()}`;
}
