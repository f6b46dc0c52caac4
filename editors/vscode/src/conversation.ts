// The editor's own conversation with the daemon, one for each folder: what is opened and saved there
// counts as touched, so that skills that wait for such files are activated as they are for an agent.

import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import { run, profileArgs, settled } from "./program";
import type { TouchResult } from "./wire";

/** How long files that are opened together are gathered. */
const GATHER_MS = 100;
/** How long after its end the program that tells of changes is started again. */
const AGAIN_MS = 5_000;

type Op = "read" | "write";

export class Conversations implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** Fires when something may have changed: by a touch, or on the disk. */
  readonly onDidChange = this.changed.event;
  private readonly subscriptions: vscode.Disposable[] = [];
  private readonly waiting = new Map<string, Set<string>>();
  private readonly begun = new Set<string>();
  private readonly followers = new Map<string, ChildProcess>();
  private base = newBase();
  private isOver = false;
  private readonly flush = settled(() => this.send(), GATHER_MS);

  constructor(
    private readonly program: () => string | undefined,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.subscriptions.push(
      vscode.workspace.onDidOpenTextDocument((it) => this.touch(it, "read")),
      vscode.workspace.onDidSaveTextDocument((it) => this.touch(it, "write")),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.follow()),
    );
  }

  /** Returns what the conversations of all folders are called, before their folders. */
  name(): string {
    return this.base;
  }

  /** Returns the conversation of a folder, as the daemon and the language server know it. */
  id(folder: vscode.WorkspaceFolder): string {
    return `${this.base}:${folder.uri.fsPath}`;
  }

  /** Returns the flags that have a command speak of a folder as its conversation sees it. */
  args(folder: vscode.WorkspaceFolder | undefined): string[] {
    return folder === undefined ? [] : ["--session", this.id(folder)];
  }

  /** Begins anew, with what is open now: another program or another profile counts. */
  async begin(): Promise<void> {
    await this.forget();
    this.base = newBase();
    this.follow();
    vscode.workspace.textDocuments.forEach((it) => this.touch(it, "read"));
  }

  /** Ends what was begun. */
  async end(): Promise<void> {
    this.isOver = true;
    this.dispose();
    await this.forget();
  }

  dispose(): void {
    this.subscriptions.splice(0).forEach((it) => void it.dispose());
    this.followers.forEach((it) => it.kill());
    this.followers.clear();
  }

  private touch(document: vscode.TextDocument, op: Op): void {
    const folder = vscode.workspace.getWorkspaceFolder(document.uri);
    if (document.uri.scheme !== "file" || folder === undefined) {
      return;
    }
    const key = `${op} ${folder.uri.toString()}`;
    const paths = this.waiting.get(key) ?? new Set();
    this.waiting.set(key, paths.add(document.uri.fsPath));
    this.flush();
  }

  private async send(): Promise<void> {
    const program = this.program();
    const batch = [...this.waiting];
    this.waiting.clear();
    for (const [key, paths] of batch) {
      const [op = "read", uri] = key.split(" ");
      const folder = vscode.workspace.workspaceFolders?.find((it) => it.uri.toString() === uri);
      if (program === undefined || folder === undefined) {
        continue;
      }
      this.begun.add(this.id(folder));
      const place = ["--cwd", folder.uri.fsPath, ...profileArgs(folder), ...this.args(folder)];
      const output = await run(program, ["touch", "--json", ...place, "--op", op, "--", ...paths]);
      if (output.code !== 0) {
        this.log.warn(`files could not be touched: ${output.stderr.trim()}`);
        continue;
      }
      const result = JSON.parse(output.stdout) as TouchResult;
      for (const it of result.activated) {
        this.log.info(`${it.name} is activated: ${it.matched.path} matches ${it.matched.pattern}`);
      }
      if (result.activated.length + result.discovered.length > 0) {
        this.changed.fire();
      }
    }
  }

  /** Listens to the daemon's news about each folder, and to none that is not open any more. */
  private follow(): void {
    this.followers.forEach((it) => it.kill());
    this.followers.clear();
    const program = this.program();
    for (const folder of program === undefined ? [] : vscode.workspace.workspaceFolders ?? []) {
      this.followOne(program as string, folder);
    }
  }

  private followOne(program: string, folder: vscode.WorkspaceFolder): void {
    const key = folder.uri.toString();
    const args = ["watch", "--json", "--cwd", folder.uri.fsPath, ...profileArgs(folder), ...this.args(folder)];
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"] });
    this.followers.set(key, child);
    child.stdout.on("data", () => this.changed.fire());
    // `close` follows an error too.
    child.on("error", (error) => this.log.warn(`changes are not told: ${error.message}`));
    child.on("close", () => {
      const isOurs = () => !this.isOver && this.followers.get(key) === child;
      setTimeout(() => isOurs() && this.followOne(program, folder), AGAIN_MS);
    });
  }

  private async forget(): Promise<void> {
    const program = this.program();
    const begun = [...this.begun];
    this.begun.clear();
    if (program !== undefined) {
      await Promise.all(begun.map((it) => run(program, ["session", "close", it], 2_000)));
    }
  }
}

function newBase(): string {
  return `vscode-${randomUUID()}`;
}
