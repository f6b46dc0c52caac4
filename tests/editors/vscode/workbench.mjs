// VS Code's workbench as a person sees and uses it: a server, a browser, keys, and what is on the screen.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { createServer } from "node:net";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";

const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";
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
    // A group of its own: the extension host outlives its server.
    const options = { detached: true, stdio: ["ignore", out, out] };
    const server = spawn(process.execPath, [entry, ...places, ...flags], options);
    const it = new Workbench();
    Object.assign(it, { entry, places, port, server, log, pictures });
    await it.answers();
    return it;
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
    this.page.setDefaultTimeout(30_000);
    const host = `127.0.0.1:${this.port}`;
    const payload = encodeURIComponent(JSON.stringify([["openFile", `vscode-remote://${host}${file}`]]));
    await this.page.goto(`http://${host}/?folder=${encodeURIComponent(folder)}&payload=${payload}`);
    await this.page.waitForSelector(".editor-instance .view-lines .view-line");
  }

  /** Runs a command by its title in the palette. */
  async command(title) {
    await this.page.keyboard.press("F1");
    await this.pick(`>${title}`, title);
  }

  /** Opens a file of the folder by its name. */
  async openFile(name) {
    await this.page.keyboard.press("Control+P");
    await this.pick(name, path.basename(name), path.dirname(name));
    await this.page.waitForSelector(`.tab.active:has-text("${path.basename(name)}")`);
  }

  /** Types into the box that asks, and takes the row that shows all labels. */
  async pick(text, ...labels) {
    const box = await this.page.waitForSelector(".quick-input-widget:not(.hidden) input");
    await box.fill(text);
    const shows = labels.map((label) => `:has-text("${label}")`).join("");
    const row = `.quick-input-list .monaco-list-row${shows}`;
    await this.page.waitForSelector(row);
    await this.page.click(row);
  }

  /** Presses a key until it has brought an element: a slow machine may not be ready for the first. */
  async press(key, selector) {
    for (let turn = 0; turn < 5; turn += 1) {
      await this.page.keyboard.press(key);
      const found = await this.page.waitForSelector(selector, { timeout: 6_000 }).catch(() => undefined);
      if (found !== undefined) {
        return found;
      }
    }
    throw new Error(`${key} does not bring ${selector}`);
  }

  /** Goes to a place in the file. */
  async go(line, column) {
    await this.page.keyboard.press("Control+G");
    const box = await this.page.waitForSelector(".quick-input-widget:not(.hidden) input");
    await box.fill(`:${line}:${column}`);
    await this.page.keyboard.press("Enter");
    await this.shows(".editor-statusbar-item, .statusbar-item", `Ln ${line}, Col ${column}`);
  }

  /** Waits until an element shows a text; returns what it shows. */
  async shows(selector, text, what = "innerText") {
    await this.page.waitForFunction(([selector, text, what]) => {
      const shown = (it) => (what === "innerText" ? it.innerText : it.getAttribute(what)) ?? "";
      return [...document.querySelectorAll(selector)].some((it) => shown(it).replace(/\s+/g, " ").includes(text));
    }, [selector, text, what]);
  }

  /** Waits until no element shows a text. */
  async hides(selector, text = "") {
    await this.page.waitForFunction(([selector, text]) =>
      ![...document.querySelectorAll(selector)].some((it) => it.innerText.replace(/\s+/g, " ").includes(text)),
    [selector, text]);
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
    for (let turn = 0; turn < 300; turn += 1) {
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
      // It has ended already.
    }
  }

  async answers() {
    for (let turn = 0; turn < 300; turn += 1) {
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
