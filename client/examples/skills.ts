// Skills for an agent in TypeScript: `npm install vscode-jsonrpc`, then `skills.ts DIR [SKILL]`.
import { execFileSync } from "node:child_process";
import { connect } from "node:net";
import { resolve } from "node:path";
import {
  createMessageConnection, ResponseError, SocketMessageReader, SocketMessageWriter,
} from "vscode-jsonrpc/node";

type Skills = { clock: string; skills: { name: string; description: string | null }[] };

const [dir = ".", skill] = process.argv.slice(2);
// Starts the daemon where none runs, and asks where it listens.
execFileSync("skillsd", ["sync"]);
const status = JSON.parse(execFileSync("skillsd", ["status", "--json"], { encoding: "utf8" }));
const socket = connect(status.socket);
const daemon = createMessageConnection(
  new SocketMessageReader(socket), new SocketMessageWriter(socket));
daemon.listen();
const ask = <T>(method: string, params: object = {}): Promise<T> =>
  daemon.sendRequest(method, { cwd: resolve(dir), profile: "claude-code", ...params });

let { clock } = await ask<{ clock: string }>("events/subscribe", { kinds: ["skills/changed"] });
console.log((await ask<{ text: string }>("catalog/render")).text);
if (skill) {
  try {
    console.log((await ask<{ output: string }>("skills/load", { name: skill })).output);
  } catch (error) { // `hint` says what to do, to a person or a model.
    if (!(error instanceof ResponseError)) throw error;
    console.log(`${error.message}. ${error.data.hint}`);
  }
}
// At most one event is on its way; what changed is asked for.
daemon.onNotification("events/event", async () => {
  const changed = await ask<Skills>("skills/list", { since: clock });
  clock = changed.clock;
  for (const { name } of changed.skills) console.log(`+ ${name}`);
});
