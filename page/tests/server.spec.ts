// The built page on the built program: a real server, real rooms, a real browser. PARLOR_BIN is the program.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pair, RESOLVES, web, type Shell } from "./program/pairing";

const WAIT = 100_000;
const program = process.env.PARLOR_BIN ?? "";
const place = realpathSync(mkdtempSync(join(tmpdir(), "parlor-page-")));
const project = join(place, "project");
const env = {
  PATH: process.env.PATH ?? "",
  HOME: join(place, "home"),
  PARLOR_DATA_DIR: join(place, "data"),
  PARLOR_CONFIG_DIR: join(place, "config"),
};
let server: Shell;
let browser: Browser;

const parlor = (...words: string[]): string =>
  execFileSync(program, words, { cwd: project, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

beforeAll(async () => {
  expect(existsSync(program), "PARLOR_BIN names the built program").toBe(true);
  for (const folder of ["home", "project", "config"]) mkdirSync(join(place, folder));
  writeFileSync(join(place, "config", "config.toml"), 'policy = "ask"\n');
  writeFileSync(join(project, "only-in-the-answer.txt"), "");
  server = await web(program, { cwd: project, env });
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", RESOLVES] });
});
afterAll(async () => {
  await browser?.close();
  server?.kill("SIGTERM");
  // Rooms are nobody's children.
  parlor("down");
  rmSync(place, { recursive: true, force: true, maxRetries: 10 });
});

/** Says a line in the session that is shown. */
async function say(page: Page, line: string): Promise<void> {
  await page.locator("#composer").fill(line);
  await page.locator("#composer").press("Enter");
}

/** Waits until the run that is under way has ended: what is said before would steer it. */
async function ended(page: Page): Promise<void> {
  await page.getByText(/· idle$/).waitFor();
}

test("a browser is paired once, converses, answers, is cut off, comes back, and is revoked", {
  timeout: 5 * WAIT,
}, async () => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT);
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await pair(server, page);
  await page.getByRole("button", { name: "New session" }).waitFor();
  expect(page.url()).toMatch(/^http:\/\/[a-z2-9]{10}\.localhost:\d+\/$/);
  expect(await context.cookies()).toEqual([]);

  // The same address enrols nobody else.
  const other = await browser.newContext();
  const stranger = await other.newPage();
  stranger.setDefaultTimeout(WAIT);
  await stranger.goto(server.address);
  await stranger.getByRole("heading", { name: "This device is not paired" }).waitFor();
  await other.close();

  await page.getByRole("button", { name: "New session" }).click();
  await page.locator("#first").fill("list files");
  await page.locator("#first").press("Enter");
  await page.locator("#transcript").getByText("only-in-the-answer.txt").first().waitFor();
  await ended(page);

  await say(page, "write hello.txt: hi");
  await page.locator("#ask").waitFor();
  expect(existsSync(join(project, "hello.txt"))).toBe(false);
  await page.getByRole("button", { name: /Allow once/ }).click();
  await page.locator("#ask").waitFor({ state: "detached" });
  await expect.poll(() => existsSync(join(project, "hello.txt")), { timeout: WAIT }).toBe(true);
  await ended(page);

  await say(page, "write other.txt: no");
  await page.locator("#ask").waitFor();
  await page.getByRole("button", { name: /reason/i }).click();
  await page.keyboard.type("not that name");
  await page.keyboard.press("Enter");
  await page.locator("#transcript").getByText("not that name").first().waitFor();
  await ended(page);
  expect(existsSync(join(project, "other.txt"))).toBe(false);

  // Cut off in the middle of an answer: the run goes on, and the page has all of it afterwards.
  await say(page, "count to 60 slowly");
  await page
    .locator("#transcript")
    .getByText(/\b1\b.*\b2\b/s)
    .first()
    .waitFor();
  await context.setOffline(true);
  await context.setOffline(false);
  await page
    .locator("#transcript")
    .getByText(/\b60\b/)
    .first()
    .waitFor();

  parlor("devices", "revoke", String(JSON.parse(parlor("devices", "--json")).devices[0].id));
  await page.getByText("This device was revoked").waitFor();
  expect(errors).toEqual([]);
  await context.close();
});
