// A person's machine for one file of tests: folders, a server of Parlor, a browser. PARLOR_BIN is the program; with
// PARLOR_PAGE its files of the page come from that folder instead, so that a change is tried without building the
// program.

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
  type WebSocketRoute,
} from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { Model } from "./model";
import { pair, RESOLVES, web } from "./pairing";

/** How long anything may take to happen on a busy machine. */
export const WAIT = 100_000;
/** A whole test. */
export const LONG = { timeout: 4 * WAIT };

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

/** A browser that is enrolled, and all that went wrong in it. */
export interface Visitor {
  context: BrowserContext;
  page: Page;
  /** Errors of scripts, dialogs, refusals of the content policy, requests to other hosts. */
  trouble: string[];
  /** Sockets of the page, newest last. */
  sockets: Wire[];
  /** Whether Parlor is out of reach, and how often the page has tried since. */
  reach: { down: boolean; tried: number };
}

/** One socket of the page, with what went over it. */
export interface Wire {
  sent: string[];
  got: string[];
  /** Ends it as a lost connection does, for the page and for the server. */
  cut(): void;
}

export class House {
  readonly project: string;
  private constructor(
    readonly place: string,
    readonly program: string,
    readonly environment: Record<string, string>,
    readonly browser: Browser,
    private readonly server: ChildProcess,
  ) {
    this.project = join(place, "project");
  }

  static async open(model?: Model): Promise<House> {
    const program = process.env.PARLOR_BIN ?? "";
    expect(existsSync(program), "PARLOR_BIN names the built program").toBe(true);
    const place = realpathSync(mkdtempSync(join(tmpdir(), "parlor-page-")));
    for (const folder of ["home", "project", "config"]) mkdirSync(join(place, folder));
    // Whoever is asked before each change sees a question by a harmless one.
    writeFileSync(join(place, "config", "config.toml"), 'policy = "ask"\n');
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: join(place, "home"),
      TERM: "xterm-256color",
      PARLOR_DATA_DIR: join(place, "data"),
      PARLOR_CONFIG_DIR: join(place, "config"),
      ...model?.environment,
    };
    const browser = await chromium.launch({
      executablePath: "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        RESOLVES,
        ...(process.env.PARLOR_PAGE ? ["--disable-features=LocalNetworkAccessChecks"] : []),
      ],
    });
    // In the foreground: sessions that the page begins are in this folder.
    const server = spawn(program, ["up", "--foreground"], {
      cwd: join(place, "project"),
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    await new Promise((serving, ended) => {
      for (const stream of [server.stdout, server.stderr])
        createInterface({ input: stream }).on("line", (line) => line.startsWith("serving") && serving(line));
      server.once("exit", () => ended(new Error("the server ended")));
    });
    return new House(place, program, env, browser, server);
  }

  async close(): Promise<void> {
    await this.browser.close();
    const gone = new Promise((done) => this.server.once("exit", done));
    // Ends its rooms too, which are nobody's children.
    await this.parlor("down");
    await gone;
    rmSync(this.place, { recursive: true, force: true, maxRetries: 10 });
  }

  async parlor(...words: string[]): Promise<string> {
    return (
      await promisify(execFile)(this.program, words, { cwd: this.project, env: this.environment, encoding: "utf8" })
    ).stdout;
  }

  /** A browser of its own that was paired and shows the fleet; `words` are for `parlor web`. */
  async visitor(options: BrowserContextOptions = {}, ...words: string[]): Promise<Visitor> {
    const context = await this.browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    const shell = await web(this.program, { cwd: this.project, env: this.environment }, ...words);
    const { address } = shell;
    const visitor = { context, trouble: [] as string[], sockets: [] as Wire[], reach: { down: false, tried: 0 } };
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT);
    await fromFolder(page, new URL(address).origin);
    await page.routeWebSocket(/\/wire$/, (socket) => {
      if (!visitor.reach.down) return void visitor.sockets.push(tapped(socket));
      visitor.reach.tried += 1;
      void socket.close({ code: 1001 });
    });
    watch(page, new URL(address).origin, visitor.trouble);
    await pair(shell, page);
    await shell.ended;
    return { ...visitor, page };
  }
}

/** A house and its model for the tests of one file: opened before the first of them, closed after the last. */
export function ownHouse(): { model: Model; house: House } {
  const home = {} as { model: Model; house: House };
  beforeAll(async () => {
    home.model = await Model.start();
    home.house = await House.open(home.model);
  });
  afterAll(async () => {
    await home.house?.close();
    home.model?.stop();
  });
  return home;
}

/** Everything that a transcript must never bring about. */
function watch(page: Page, origin: string, trouble: string[]): void {
  page.on("pageerror", (error) => trouble.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (/Content Security Policy|Trusted ?Type|Refused to/i.test(message.text()))
      trouble.push(`policy: ${message.text()}`);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("blob:")) trouble.push(`request: ${url.slice(0, 200)}`);
  });
  page.on("popup", (popup) => trouble.push(`popup: ${popup.url()}`));
  page.on("download", (download) => trouble.push(`download: ${download.url().slice(0, 200)}`));
}

function tapped(page: WebSocketRoute): Wire {
  const server = page.connectToServer();
  const wire: Wire = {
    sent: [],
    got: [],
    cut: () => void Promise.all([page.close({ code: 1001 }), server.close({ code: 1001 })]),
  };
  page.onMessage((text) => {
    wire.sent.push(String(text));
    server.send(text);
  });
  server.onMessage((text) => {
    wire.got.push(String(text));
    page.send(text);
  });
  return wire;
}

/** The page's files from `PARLOR_PAGE`, with the headers of the server. */
async function fromFolder(page: Page, origin: string): Promise<void> {
  const folder = process.env.PARLOR_PAGE;
  if (!folder) return;
  let headers: Record<string, string> | undefined;
  await page.route(`${origin}/**`, async (route) => {
    const path = new URL(route.request().url()).pathname;
    const file = join(folder, path === "/" ? "index.html" : path);
    if (route.request().method() !== "GET" || !existsSync(file)) return route.continue();
    if (!headers) {
      const {
        "content-length": _,
        "content-type": __,
        "content-encoding": ___,
        ...rest
      } = (await route.fetch({ url: `${origin}/` })).headers();
      headers = rest;
    }
    return route.fulfill({
      body: readFileSync(file),
      headers: { ...headers, "content-type": TYPES[extname(file)] ?? "" },
    });
  });
}

/** Begins a session in which nothing is said yet; gives its id. */
export async function begin(page: Page): Promise<string> {
  const before = page.url();
  await page.getByRole("button", { name: "Go to…" }).filter({ visible: true }).click();
  const dialog = page.getByRole("dialog", { name: "Go to", exact: true });
  await dialog.getByRole("combobox").fill("Empty session");
  // It is offered when the page has heard what it may do.
  await dialog.getByRole("option", { name: /Empty session/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.hash.startsWith("#/s/sess-") && url.href !== before);
  return decodeURIComponent(page.url().split("#/s/")[1] ?? "");
}

/** Says a line in the session that is shown. */
export async function say(page: Page, line: string): Promise<void> {
  await page.locator("#composer").fill(line);
  await page.locator("#composer").press("Enter");
}

/** Waits until the run that is under way has ended: what is said before would steer it. */
export async function ended(page: Page): Promise<void> {
  await page
    .locator("#side")
    .getByText(/· idle$/)
    .waitFor({ state: "attached" });
}
