// The `skillsd` program: where it is, and how it is asked.

import { execFile, type ChildProcess } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";

/** What a run of the program gave. */
export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  /** 0 is fine and 1 has findings; everything else is a failure. */
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
 * Returns the program's path: the setting's, the one in the extension, the one on PATH, one where
 * installers put it. An editor that was not started from a shell often has a shorter PATH than one.
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
  const places = (process.env["PATH"] ?? "").split(path.delimiter).filter((it) => it !== "");
  places.push(path.join(home, ".cargo", "bin"), path.join(home, ".local", "bin"));
  return places.map((it) => path.join(it, "skillsd")).find(isExecutable);
}

/** Says that the program is missing, and offers what helps. */
export async function tellMissing(): Promise<void> {
  const setting = vscode.workspace.getConfiguration("skillsd").get<string>("path", "").trim();
  const what =
    setting === ""
      ? "`skillsd` is not on PATH. Install it with `cargo install skillsd`, or set `skillsd.path`."
      : `\`skillsd.path\` names \`${setting}\`, which cannot be run.`;
  const copy = "Copy Install Command";
  const open = "Open Setting";
  const chosen = await vscode.window.showErrorMessage(`Agent Skills: ${what}`, copy, open);
  if (chosen === copy) {
    await vscode.env.clipboard.writeText("cargo install skillsd");
  } else if (chosen === open) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "skillsd.path");
  }
}

/** Returns the flags for the profile that the settings name. */
export function profileArgs(scope: vscode.ConfigurationScope | undefined): string[] {
  const profile = vscode.workspace.getConfiguration("skillsd", scope).get<string>("profile", "");
  return profile === "" ? [] : ["--profile", profile];
}

/** Returns a function that runs once after the last of its calls has settled. */
export function settled(run: () => Promise<void>, afterMs = 300): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), afterMs);
  };
}

/** Runs the program once. Never throws: what went wrong is in the output. */
export function run(program: string, args: readonly string[], timeoutMs = 20_000): Promise<Output> {
  return new Promise((resolve) => {
    const options = { timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 };
    const child: ChildProcess = execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      const said = error !== null && stderr === "" ? error.message : stderr;
      resolve({ stdout, stderr: said, code });
    });
    child.stdin?.end();
  });
}
