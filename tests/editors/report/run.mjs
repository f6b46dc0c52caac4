// Tests the page of `skillsd report` in headless Chromium. Needs skillsd on PATH, SKILL_ROOT (a
// worktree) and SHOTS (a directory for pictures). Prints a line for each step.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import axe from "axe-core";
import { chromium } from "playwright-core";

const { SKILL_ROOT, SHOTS } = process.env;
const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
  "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND"];
const PAGE = path.join(SKILL_ROOT, "skillsd-report.html");
const HOSTILE = "<img src=x onerror=document.title=1>";
const skills = "main table:has(caption:text-is('Skills')) tbody tr";

function check(what, holds, seen) {
  if (!holds) {
    throw new Error(`${what}: ${JSON.stringify(seen) ?? "no"}`);
  }
  console.log(`  ${what}`);
}

function skillsd(...args) {
  return execFileSync("skillsd", args, { cwd: SKILL_ROOT, encoding: "utf8" });
}

const hostile = path.join(SKILL_ROOT, ".claude/skills/hostile");
mkdirSync(hostile, { recursive: true });
writeFileSync(path.join(hostile, "SKILL.md"),
  `---\nname: "${HOSTILE}"\ndescription: "</td><script>document.title=2</script>"\n---\n"><svg onload=document.title=3>\n`);
skillsd("report", "--profile", "all");
const text = readFileSync(PAGE, "utf8");
skillsd("report", "--profile", "all");
check("the page is written again, and equal skills make an equal page", text === readFileSync(PAGE, "utf8"));

const browser = await chromium.launch({ executablePath: BROWSER, args: FLAGS });
const faults = [];

async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.on("console", (message) => faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error}`));
  page.on("request", (request) => request.url() === `file://${PAGE}` || faults.push(`request: ${request.url()}`));
  await page.goto(`file://${PAGE}`);
  return page;
}

try {
  const page = await open();
  await rows(page);
  await search(page);
  await sort(page);
  await harmless(page);
  await layout(page);
  await page.close();
  for (const colorScheme of ["light", "dark"]) {
    await accessible(colorScheme);
  }
  await withoutScript();
  check("nothing is logged, and nothing else is requested", faults.length === 0, faults);
} finally {
  await browser.close();
}

async function rows(page) {
  const lists = JSON.parse(skillsd("list", "--all", "--profile", "all", "--json"));
  const entries = Object.values(lists).flatMap((list) => list.skills);
  const known = new Set(entries.map((it) => `${it.name}\n${it.path}`));
  check("there is a row for each skill", (await page.locator(skills).count()) === known.size, [...known]);
  const heads = await page.locator("main table:has(caption:text-is('Skills')) thead th").allInnerTexts();
  check("there is a column for each agent", Object.keys(lists).every((it) => heads.some((head) => head.includes(it))), heads);
}

async function search(page) {
  const all = await page.locator("main tbody tr").count();
  await page.getByLabel("Search").fill("BROKEN invalid");
  const shown = await page.locator("main tbody tr:visible").allInnerTexts();
  const has = (row) => /broken/i.test(row) && /invalid/i.test(row);
  check("the search shows the rows with all words", shown.length > 0 && shown.length < all && shown.every(has), shown);
  const said = await page.getByRole("status").innerText();
  check("the number of rows is announced", said === `${shown.length} of ${all} rows match`, said);
  await page.getByLabel("Search").fill("no such word");
  check("a table without matching rows says so", await page.getByText("No row matches the search.").first().isVisible());
  await page.getByLabel("Search").fill("");
  check("an empty search shows all rows", (await page.locator("main tbody tr:visible").count()) === all);
}

async function sort(page) {
  const button = page.locator("main table:has(caption:text-is('Skills')) thead button").last();
  const keys = () => page.locator(`${skills} td:last-child`).evaluateAll((cells) => cells.map((it) => Number(it.dataset.key)));
  const isSorted = (keys) => keys.every((key, nth) => nth === 0 || keys[nth - 1] <= key);
  await button.focus();
  await page.keyboard.press("Enter");
  const ascending = await keys();
  check("a column is sorted by its number, with the keyboard", isSorted(ascending), ascending);
  await page.keyboard.press("Enter");
  const descending = await keys();
  check("and the other way round", isSorted(descending.toReversed()) && descending[0] > descending.at(-1), descending);
  const sorted = await page.locator("th[aria-sort]").evaluateAll((heads) => heads.map((it) => it.getAttribute("aria-sort")));
  check("assistive technology is told which column is sorted", sorted.join() === "descending", sorted);
  await page.locator("main table:has(caption:text-is('Skills')) thead button").first().click();
}

async function harmless(page) {
  check("a hostile name is shown as text", await page.locator(skills).getByText(HOSTILE).first().isVisible());
  const added = await page.evaluate(() => document.querySelectorAll("img, iframe, svg svg, main script").length);
  check("and is no element", added === 0, added);
  check("no script of a skill runs", /^Skills of /.test(await page.title()), await page.title());
}

async function layout(page) {
  const colors = await page.locator(`${skills} td:has-text("invalid")`).evaluateAll((cells) =>
    cells.map((it) => getComputedStyle(it).color !== getComputedStyle(document.body).color));
  check("the state of a dropped skill has a colour", colors.length > 0 && colors.every(Boolean), colors);
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: path.join(SHOTS, "report.png") });
  await page.screenshot({ path: path.join(SHOTS, "report-whole.png"), fullPage: true });
  for (const width of [320, 768, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(`a window of ${width} pixels needs no horizontal scrolling`, wide <= width, wide);
  }
  await page.emulateMedia({ media: "print" });
  check("the navigation is not printed", !(await page.getByRole("navigation").isVisible()));
}

async function accessible(colorScheme) {
  const page = await open({ colorScheme });
  await page.evaluate(axe.source);
  const { violations, passes } = await page.evaluate(() => axe.run());
  const found = violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.html).join(" ")}`);
  check(`axe finds no violation in ${colorScheme}`, found.length === 0 && passes.length > 0, found);
  await page.screenshot({ path: path.join(SHOTS, `report-${colorScheme}.png`), fullPage: true });
  await page.context().close();
}

async function withoutScript() {
  const page = await open({ javaScriptEnabled: false });
  check("without a script all rows are shown", await page.locator(skills).last().isVisible());
  check("and no search", !(await page.getByLabel("Search").isVisible()));
}
