// Debian's Firefox, spoken to directly by WebDriver BiDi: lines of JSON on a WebSocket that it opens itself, so that no
// driver is needed.

import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import { WebSocket } from "ws";

/** How long anything may take to happen on a busy machine. */
const WAIT = 100_000;
/** What it must not do by itself: ask its makers for anything, or show a page of theirs. */
const PREFERENCES = {
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.page": 0,
  "browser.startup.homepage_override.mstone": "ignore",
  "datareporting.policy.dataSubmissionEnabled": false,
  "app.update.auto": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "services.settings.server": "data:,",
  "toolkit.telemetry.enabled": false,
  "remote.active-protocols": 1,
};
/** Keys as WebDriver writes them. */
const KEYS: Record<string, string> = {
  Enter: "\uE007",
  Escape: "\uE00C",
  Home: "\uE011",
  End: "\uE010",
  Control: "\uE009",
};

interface Told {
  id?: number;
  result?: unknown;
  error?: string;
  message?: string;
  method?: string;
  params?: { level?: string; text?: string | null; type?: string };
}

/** One window of it. */
export class Firefox {
  /** Errors of scripts, and what the content policy refused. */
  readonly trouble: string[] = [];
  private readonly asked = new Map<number, { tell: (result: never) => void; fail: (why: Error) => void }>();
  private next = 1;
  private tab = "";

  private constructor(
    private readonly process: ChildProcess,
    private readonly socket: WebSocket,
    private readonly profile: string,
  ) {
    socket.on("message", (data) => this.hear(JSON.parse(String(data)) as Told));
  }

  static async start(): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), "parlor-firefox-"));
    const lines = Object.entries(PREFERENCES).map(([name, is]) => `user_pref("${name}", ${JSON.stringify(is)});`);
    writeFileSync(join(profile, "user.js"), lines.join("\n"));
    const words = ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "about:blank"];
    const firefox = spawn("firefox-esr", words, {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, HOME: profile, MOZ_HEADLESS: "1" },
    });
    const address = await new Promise<string>((found, lost) => {
      createInterface({ input: firefox.stderr }).on("line", (line) => {
        const at = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(line)?.[1];
        if (at) found(at);
      });
      firefox.once("error", lost);
      firefox.once("exit", (code) => lost(new Error(`firefox-esr ended with ${code}`)));
    });
    const socket = new WebSocket(`${address}/session`);
    await new Promise((open, lost) => socket.once("open", open).once("error", lost));
    const browser = new Firefox(firefox, socket, profile);
    await browser.ask("session.new", { capabilities: {} });
    await browser.ask("session.subscribe", { events: ["log.entryAdded"] });
    const { contexts } = await browser.ask<{ contexts: { context: string }[] }>("browsingContext.getTree", {});
    browser.tab = contexts[0]?.context ?? "";
    return browser;
  }

  async close(): Promise<void> {
    const gone = new Promise((done) => this.process.once("exit", done));
    this.process.kill("SIGTERM");
    await gone;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 10 });
  }

  private hear(told: Told): void {
    if (told.method === "log.entryAdded") {
      const { level, text, type } = told.params ?? {};
      if (level === "error" || /Content-Security-Policy|Trusted ?Type/.test(text ?? ""))
        this.trouble.push(`${type}: ${text}`);
      return;
    }
    const asked = this.asked.get(told.id ?? 0);
    this.asked.delete(told.id ?? 0);
    if (told.error !== undefined) asked?.fail(new Error(`${told.error}: ${told.message}`));
    else asked?.tell(told.result as never);
  }

  private ask<T>(method: string, params: object): Promise<T> {
    return new Promise((tell, fail) => {
      const id = this.next++;
      this.asked.set(id, { tell, fail });
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }

  async size(width: number, height: number): Promise<void> {
    await this.ask("browsingContext.setViewport", { context: this.tab, viewport: { width, height } });
  }

  async go(url: string): Promise<void> {
    await this.ask("browsingContext.navigate", { context: this.tab, url, wait: "interactive" });
  }

  /** What an expression is in the page: text, a number, a boolean, or a promise of one. */
  async is<T = string>(expression: string): Promise<T> {
    const found = await this.ask<{ result?: { value?: T }; exceptionDetails?: { text: string } }>("script.evaluate", {
      expression,
      target: { context: this.tab },
      awaitPromise: true,
    });
    if (found.exceptionDetails) throw new Error(found.exceptionDetails.text);
    return found.result?.value as T;
  }

  /** Waits until an expression is true. */
  async until(expression: string): Promise<void> {
    await expect
      .poll(() => this.is<boolean>(`Boolean(${expression})`).catch(() => false), { timeout: WAIT, message: expression })
      .toBe(true);
  }

  /** Waits until these words can be seen. */
  async sees(words: string): Promise<void> {
    await this.until(`document.body.innerText.includes(${JSON.stringify(words)})`);
  }

  /** A click of the mouse in the middle of the first element that can be seen, is on, and has these words. */
  async click(selector: string, words = ""): Promise<void> {
    const element = `[...document.querySelectorAll(${JSON.stringify(selector)})].find((one) => one.offsetParent !== null && !one.disabled && (one.innerText + (one.getAttribute("aria-label") ?? "")).includes(${JSON.stringify(words)}))`;
    await this.until(element);
    const place = await this.is(
      `(() => { const box = ${element}.getBoundingClientRect(); return JSON.stringify([Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)]); })()`,
    );
    const [x, y] = JSON.parse(place) as [number, number];
    const actions = [
      { type: "pointerMove", x, y },
      { type: "pointerDown", button: 0 },
      { type: "pointerUp", button: 0 },
    ];
    await this.act({ type: "pointer", id: "mouse", actions });
  }

  /** Types text, or presses a key by its name; `Control+f` holds the first. */
  async press(keys: string): Promise<void> {
    const [held, key] = /^Control\+.$/.test(keys) ? ["Control", keys.slice(-1)] : [undefined, keys];
    const down = (value: string): object[] => [
      { type: "keyDown", value },
      { type: "keyUp", value },
    ];
    const pressed = KEYS[key] ? down(KEYS[key]) : [...key].flatMap(down);
    const with_ = held ? KEYS[held] : undefined;
    const actions = with_ ? [{ type: "keyDown", value: with_ }, ...pressed, { type: "keyUp", value: with_ }] : pressed;
    await this.act({ type: "key", id: "keys", actions });
  }

  private async act(source: object): Promise<void> {
    await this.ask("input.performActions", { context: this.tab, actions: [source] });
  }

  /** A picture of what can be seen, as PNG. */
  async shot(): Promise<Buffer> {
    const { data } = await this.ask<{ data: string }>("browsingContext.captureScreenshot", { context: this.tab });
    return Buffer.from(data, "base64");
  }
}
