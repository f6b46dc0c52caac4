// The status bar item: the number of skills, and warnings.

import * as vscode from "vscode";
import { isListed, type Skills } from "./skills";

export function create(skills: Skills): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("skillsd.status", vscode.StatusBarAlignment.Left, 0);
  item.name = "Agent Skills";
  item.command = "skillsd.skills.focus";
  return vscode.Disposable.from(item, skills.onDidUpdate(() => show(item, skills)));
}

function show(item: vscode.StatusBarItem, skills: Skills): void {
  const snapshots = (vscode.workspace.workspaceFolders ?? []).flatMap((it) => skills.snapshot(it) ?? []);
  const entries = snapshots.flatMap((it) => it.skills);
  const failure = snapshots.find((it) => it.failure !== undefined)?.failure;
  const count = (state: string) => entries.filter((it) => it.state === state).length;
  const listed = entries.filter(isListed).length;
  const broken = count("invalid");
  const problems = snapshots.flatMap((it) => it.health);
  const isHealthy = failure === undefined && problems.length === 0;
  const bad = broken > 0 ? ` $(error) ${broken}` : "";
  item.text = failure === undefined ? `$(book) ${listed}${bad}${isHealthy ? "" : " $(warning)"}` : "$(warning) skills";
  const counts = [
    `${listed} ${listed === 1 ? "skill is" : "skills are"} seen by the model`,
    ...(count("activated") > 0 ? [`${count("activated")} of them activated by a file`] : []),
    ...(count("conditional") > 0 ? [`${count("conditional")} waiting for a matching file`] : []),
    `${entries.length - listed} not loaded`,
  ];
  const health = problems.map((it) => `${it.message}. ${it.hint}`);
  item.tooltip = [failure === undefined ? counts.join(", ") : `skillsd: ${failure}`, ...health].join("\n");
  item.backgroundColor = isHealthy ? undefined : new vscode.ThemeColor("statusBarItem.warningBackground");
  item.show();
}
