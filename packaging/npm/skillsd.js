#!/usr/bin/env node
// Runs the program from the package of this platform.
"use strict";

const { spawn } = require("node:child_process");

const name = `@skillsd/${process.platform}-${process.arch}`;

function fail(message) {
  console.error(`skillsd: ${message}`);
  process.exit(1);
}

let program;
try {
  program = require.resolve(`${name}/bin/skillsd`);
} catch {
  fail(`the package ${name} is not installed: install skillsd without --omit=optional, or with \`cargo install\``);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends its own interrupt to the program too.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => fail(`${program} cannot be run: ${error.message}`));
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
