#!/usr/bin/env node
// Runs the program from the package of this platform.
"use strict";

const { spawn } = require("node:child_process");
const { optionalDependencies } = require("../package.json");

const name = `@skillsd/${process.platform}-${process.arch}`;

function fail(message) {
  console.error(`skillsd: ${message}`);
  process.exit(1);
}

let program;
try {
  program = require.resolve(`${name}/bin/skillsd`);
} catch {
  fail(
    name in optionalDependencies
      ? `the package ${name} is not installed: install skillsd again without --omit=optional`
      : `there is no program for ${process.platform}-${process.arch}: skillsd runs on Linux and macOS, on x64 and arm64`,
  );
}

// Set before the start, so that no signal ends the launcher alone. A terminal sends SIGINT and SIGQUIT
// to the program too, to which a second one does no harm.
for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
// `skillsd install` recognises by the launcher's path the start script that pnpm puts in PATH.
const env = { ...process.env, SKILLSD_LAUNCHER: __filename };
const child = spawn(program, process.argv.slice(2), { stdio: "inherit", env });
child.on("error", (error) => fail(`${program} cannot be run: ${error.message}`));
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
