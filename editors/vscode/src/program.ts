// Finds and runs the `skillsd` program.

import { execFile, type ChildProcess } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";

/** The result of running the program. */
export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  /** The exit code: 0 is success, 1 means findings, others are failures; -1 if it did not run. */
  readonly code: number;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/**
 * Returns the path of the program: from the setting, the extension's package, PATH, or the usual
 * install directories. Editors that are not started from a shell often have a shorter PATH.
 */
export function find(context: vscode.ExtensionContext): string | undefined {
  const setting = vscode.workspace.getConfiguration("skillsd").get<string>("path", "").trim();
  if (setting !== "") {
    const home = process.env["HOME"] ?? "";
    const file = setting.startsWith("~/") ? path.join(home, setting.slice(2)) : setting;
    return isExecutable(file) ? file : undefined;
  }
  const bundled = context.asAbsolutePath(path.join("bin", "skillsd"));
  if (isExecutable(bundled)) {
    return bundled;
  }
  const home = process.env["HOME"] ?? "";
  const directories = (process.env["PATH"] ?? "").split(path.delimiter).filter((it) => it !== "");
  const ofHome = [".cargo", ".local", ".npm-global"].map((it) => path.join(home, it, "bin"));
  directories.push(...ofHome, "/opt/homebrew/bin", "/usr/local/bin");
  return directories.map((it) => path.join(it, "skillsd")).find(isExecutable);
}

/** Shows that the program is missing, with an action to fix it. */
export async function tellMissing(): Promise<void> {
  const setting = vscode.workspace.getConfiguration("skillsd").get<string>("path", "").trim();
  const what =
    setting === ""
      ? "`skillsd` is not on PATH. Run `cargo install --path daemon` in a checkout of skillsd, or set `skillsd.path`."
      : `\`skillsd.path\` is \`${setting}\`, which is not executable.`;
  // No command to copy: in the editor's terminal it would build a `daemon` of the open folder.
  const open = "Open Setting";
  const chosen = await vscode.window.showErrorMessage(`Agent Skills: ${what}`, open);
  if (chosen === open) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "skillsd.path");
  }
}

/** Returns the flags for the configured profile. */
export function profileArgs(scope: vscode.ConfigurationScope | undefined): string[] {
  const profile = vscode.workspace.getConfiguration("skillsd", scope).get<string>("profile", "");
  return profile === "" ? [] : ["--profile", profile];
}

/** Returns a function that calls `run` once, `afterMs` after its last call. */
export function debounce(run: () => Promise<void>, afterMs = 300): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), afterMs);
  };
}

/** Runs the program once. Never throws: errors are in the output. */
export function run(program: string, args: readonly string[], timeoutMs = 20_000): Promise<Output> {
  return new Promise((resolve) => {
    const options = { timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 };
    const child: ChildProcess = execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      const errorText = error !== null && stderr === "" ? error.message : stderr;
      resolve({ stdout, stderr: errorText, code });
    });
    child.stdin?.end();
  });
}
