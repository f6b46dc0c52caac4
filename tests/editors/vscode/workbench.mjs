// VS Code's workbench for tests: a server, a browser, keystrokes, and the screen's content.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { createServer } from "node:net";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";

const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";
/** How long anything may take to come: a machine may be busy with other things. */
const PATIENCE_MS = 90_000;
/** How long a key is given before it is pressed again. */
const KEY_MS = 9_000;
const INPUT = ".quick-input-widget:not(.hidden) input";
const SETTINGS = {
  "security.workspace.trust.enabled": false,
  "workbench.startupEditor": "none",
  "workbench.enableExperiments": false,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "editor.minimap.enabled": false,
  "git.enabled": false,
};

/** A server that has been started, and a page of its workbench. */
export class Workbench {
  /** Starts the server in `home`; `place` is what `install` made. */
  static async start(place, home, pictures) {
    const entry = path.join(place, "node_modules/code-server/out/node/entry.js");
    const data = path.join(home, "code");
    mkdirSync(path.join(data, "User"), { recursive: true });
    mkdirSync(pictures, { recursive: true });
    writeFileSync(path.join(data, "User/settings.json"), JSON.stringify(SETTINGS));
    const config = path.join(home, "config.yaml");
    writeFileSync(config, "auth: none\ncert: false\n");
    const places = ["--config", config, "--user-data-dir", data, "--extensions-dir", path.join(home, "extensions")];
    const port = await freePort();
    const flags = ["--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check",
      "--disable-workspace-trust", "--disable-getting-started-override"];
    const log = path.join(home, "server.log");
    const out = openSync(log, "w");
    // Its own process group, because the extension host outlives its server.
    const options = { detached: true, stdio: ["ignore", out, out] };
    const server = spawn(process.execPath, [entry, ...places, ...flags], options);
    const it = new Workbench();
    Object.assign(it, { entry, places, port, server, log, pictures });
    await it.answers();
    return it;
  }

  /** Has the folder's settings say this and nothing else. */
  async configure(settings) {
    const text = JSON.stringify(settings);
    await this.command("Preferences: Open Workspace Settings (JSON)");
    await this.shows(".tab.active", "settings.json");
    await this.page.click(".editor-group-container.active .editor-instance .view-line >> nth=0");
    await this.page.keyboard.press("Control+A");
    await this.page.keyboard.insertText(text);
    await this.reads(text);
    await this.page.keyboard.press("Control+S");
    await this.gone(".tab.active.dirty");
    await this.command("View: Close Editor");
    await this.hides(".tab.active", "settings.json");
  }

  /** Installs a package; those who open the workbench from now on have it. */
  install(vsix) {
    const args = [this.entry, ...this.places, "--force", "--install-extension", vsix];
    const ran = spawnSync(process.execPath, args, { encoding: "utf8" });
    check(`${path.basename(vsix)} is installed`, ran.status === 0, ran.stdout + ran.stderr);
  }

  /** Opens a folder with a file, as a new window. */
  async open(folder, file) {
    this.browser ??= await chromium.launch({
      executablePath: BROWSER,
      args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"],
    });
    await this.page?.close();
    this.page = await this.browser.newPage({ viewport: { width: 1280, height: 860 } });
    this.page.setDefaultTimeout(PATIENCE_MS);
    const host = `127.0.0.1:${this.port}`;
    const payload = encodeURIComponent(JSON.stringify([["openFile", `vscode-remote://${host}${file}`]]));
    await this.page.goto(`http://${host}/?folder=${encodeURIComponent(folder)}&payload=${payload}`);
    await this.page.waitForSelector(".editor-instance .view-lines .view-line");
  }

  /** Runs a command by its title in the palette. */
  async command(title) {
    await this.press("F1", INPUT);
    await this.pick(`>${title}`, title);
  }

  /** Opens a file of the folder by its name. */
  async openFile(name) {
    await this.press("Control+P", INPUT);
    await this.pick(name, path.basename(name), path.dirname(name));
    // The tab alone does not distinguish files of the same name.
    await this.shows(".editor-group-container.active .breadcrumbs-control", name.replaceAll("/", " "));
  }

  /** Types into the box that asks, and takes the row of this name that shows the other texts. */
  async pick(text, name, ...others) {
    const box = await this.page.waitForSelector(INPUT);
    await box.fill(text);
    const shows = others.map((other) => `:has-text("${other}")`).join("");
    const row = `.quick-input-list .monaco-list-row:has(:text-is("${name}"))${shows}`;
    for (let turn = 0; turn < PATIENCE_MS / KEY_MS; turn += 1) {
      await this.page.click(row);
      // A list that is being redrawn ignores clicks.
      const taken = this.page.waitForFunction(([selector, text]) => {
        const box = document.querySelector(selector);
        return box === null || box.offsetParent === null || box.value !== text;
      }, [INPUT, text], { timeout: KEY_MS });
      if (await taken.then(() => true, () => false)) {
        return;
      }
    }
    throw new Error(`${name} cannot be chosen`);
  }

  /** Presses a key until it has brought an element: a slow machine may not be ready for the first. */
  async press(key, selector) {
    for (let turn = 0; turn < PATIENCE_MS / KEY_MS; turn += 1) {
      await this.page.keyboard.press(key);
      const found = await this.page.waitForSelector(selector, { timeout: KEY_MS }).catch(() => undefined);
      if (found !== undefined) {
        return found;
      }
    }
    throw new Error(`${key} does not bring ${selector}`);
  }

  /** Goes to a place in the file. */
  async go(line, column) {
    const box = await this.press("Control+G", INPUT);
    await box.fill(`:${line}:${column}`);
    await this.page.keyboard.press("Enter");
    await this.shows(".editor-statusbar-item, .statusbar-item", `Ln ${line}, Col ${column}`);
  }

  /** Waits until an element shows a text. */
  async shows(selector, text) {
    await this.page.waitForFunction(([selector, text]) =>
      [...document.querySelectorAll(selector)].some((it) => it.innerText.replace(/\s+/g, " ").includes(text)),
    [selector, text]);
  }

  /** Waits until an element says this to a person; says what is there when none comes to be. */
  async says(name, selector, pattern) {
    const args = [selector, pattern.source];
    const said = this.page.waitForFunction(([selector, pattern]) =>
      [...document.querySelectorAll(selector)].some((it) =>
        new RegExp(pattern).test(it.ariaLabel ?? it.innerText.replace(/\s+/g, " "))), args);
    const isThere = await said.then(() => true, () => false);
    check(name, isThere, isThere ? undefined : await this.texts(selector));
  }

  /** Waits until no element shows a text. */
  async hides(selector, text = "") {
    await this.page.waitForFunction(([selector, text]) =>
      ![...document.querySelectorAll(selector)].some((it) => it.innerText.replace(/\s+/g, " ").includes(text)),
    [selector, text]);
  }

  /** Waits until no element is there. */
  async gone(selector) {
    await this.page.waitForFunction((selector) => document.querySelector(selector) === null, selector);
  }

  /** Returns what a person reads in each element that is there. */
  texts(selector) {
    return this.page.$$eval(selector, (rows) =>
      rows.map((it) => it.getAttribute("aria-label") ?? it.innerText.replace(/\s+/g, " ")));
  }

  /** Returns the text of the editor that has the focus, with blanks as blanks. */
  async text() {
    const lines = await this.page.$$eval(".editor-group-container.active .editor-instance .view-line", (all) =>
      all.map((it) => [Number.parseFloat(it.style.top), it.innerText.replaceAll("\u00a0", " ")]));
    return lines.sort(([a], [b]) => a - b).map(([, text]) => text).join("\n");
  }

  /** Waits until the editor's text holds this. */
  async reads(part) {
    for (let turn = 0; turn < PATIENCE_MS / 100; turn += 1) {
      if ((await this.text()).includes(part)) {
        return;
      }
      await sleep(100);
    }
    throw new Error(`the editor does not show \`${part}\`: ${await this.text()}`);
  }

  shot(name) {
    return this.page.screenshot({ path: path.join(this.pictures, `${name}.png`) });
  }

  /** Says what can be known of a failure. */
  async fail(error) {
    console.log(`FAIL ${String(error.stack ?? error).split("\n").slice(0, 12).join(" | ")}`);
    await this.page?.screenshot({ path: path.join(this.pictures, "failure.png") }).catch(() => undefined);
    console.log(readFileSync(this.log, "utf8").split("\n").slice(-15).join("\n"));
  }

  async stop() {
    await this.browser?.close();
    try {
      process.kill(-this.server.pid, "SIGKILL");
    } catch {
      // Already exited.
    }
  }

  async answers() {
    for (let turn = 0; turn < PATIENCE_MS / 100; turn += 1) {
      const isUp = await new Promise((resolve) => {
        get(`http://127.0.0.1:${this.port}/healthz`, (response) => {
          response.resume();
          resolve(true);
        }).on("error", () => resolve(false));
      });
      if (isUp) {
        return;
      }
      await sleep(100);
    }
    throw new Error("the server does not answer");
  }
}

/** Says that a step has gone well, else ends the run. */
export function check(name, good, detail) {
  if (!good) {
    throw new Error(`${name}: ${JSON.stringify(detail)}`);
  }
  console.log(`ok   ${name}`);
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
