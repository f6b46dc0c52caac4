// The status item: how many skills there are, and whether all is well.

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
  const unwell = snapshots.flatMap((it) => it.health);
  const isWell = failure === undefined && unwell.length === 0;
  const bad = broken > 0 ? ` $(error) ${broken}` : "";
  item.text = failure === undefined ? `$(book) ${listed}${bad}${isWell ? "" : " $(warning)"}` : "$(warning) skills";
  const counts = [
    `${listed} ${listed === 1 ? "skill is" : "skills are"} seen by the model`,
    ...(count("activated") > 0 ? [`${count("activated")} of them activated by a file`] : []),
    ...(count("conditional") > 0 ? [`${count("conditional")} waiting for a matching file`] : []),
    `${entries.length - listed} left out in all`,
  ];
  const health = unwell.map((it) => `${it.message}. ${it.hint}`);
  item.tooltip = [failure === undefined ? counts.join(", ") : `skillsd: ${failure}`, ...health].join("\n");
  item.backgroundColor = isWell ? undefined : new vscode.ThemeColor("statusBarItem.warningBackground");
  item.show();
}
