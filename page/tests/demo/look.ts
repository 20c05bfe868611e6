// A browser on the canned world.

import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { createServer, type ViteDevServer } from "vite";
import type { State } from "../../src/model/state";
import type { DeviceRole, FleetRow, Joined, Pairing, ConnectionState } from "../../src/view/ports";

export const WAIT = 30_000;

export interface Seen {
  page: Page;
  errors: string[];
  foreign: string[];
}

/** What a test may change in the canned world, from inside of the page. */
export interface Demo {
  poke: (change: (state: State) => void) => void;
  sent: unknown[];
  begun: unknown[];
  rows: { value: FleetRow[] };
  connection: { value: ConnectionState };
  role: { value: DeviceRole };
  /** What changed in files, as the runtime tells it. */
  files: { value: string };
  pairing: { value: Pairing | undefined };
  joined: { value: readonly Joined[] };
}

export type At = <T>(hash: string, options: BrowserContextOptions, look: (seen: Seen) => Promise<T>) => Promise<T>;

/** For the tests of one file: opens a page at a place of the canned world, and closes it when it was looked at. */
export function ownWorld(): At {
  let server: ViteDevServer;
  let browser: Browser;
  let address: string;
  beforeAll(async () => {
    server = await createServer({
      root: new URL("../..", import.meta.url).pathname,
      server: { port: 0, host: "127.0.0.1" },
      logLevel: "error",
      configFile: false,
      oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    });
    await server.listen();
    address = `${server.resolvedUrls?.local[0]}tests/demo/index.html`;
    browser = await chromium.launch({
      executablePath: "/usr/bin/chromium",
      args: ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
    });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  return async (hash, options, look) => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT);
    const seen: Seen = { page, errors: [], foreign: [] };
    page.on("pageerror", (error) => seen.errors.push(error.message));
    page.on("dialog", (dialog) => {
      seen.errors.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(address.split("/tests")[0] ?? "") && !/^(blob|data):/.test(request.url()))
        seen.foreign.push(request.url());
    });
    await page.goto(address + hash);
    await page.waitForSelector(".head", { state: "attached" });
    try {
      return await look(seen);
    } finally {
      await context.close();
    }
  };
}

/** Changes the canned world; `change` runs in the page. */
export function change<T>(page: Page, change: (demo: Demo, given: T) => void, given: T): Promise<void> {
  return page.evaluate(`(${String(change)})(globalThis.parlorDemo, ${JSON.stringify(given ?? null)})`);
}

export const sent = (page: Page): Promise<unknown[]> =>
  page.evaluate(() => (globalThis as unknown as { parlorDemo: { sent: unknown[] } }).parlorDemo.sent);
