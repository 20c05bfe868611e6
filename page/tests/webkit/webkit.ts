// The system's WebKitGTK in its own small browser, driven over WebDriver on a screen that nobody sees.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import { WAIT } from "../program/house";
import type { Driven } from "../program/conversation";

/** Keys as WebDriver writes them. */
const KEYS: Record<string, string> = {
  Enter: "\uE007",
  Escape: "\uE00C",
  Home: "\uE011",
  End: "\uE010",
  Control: "\uE009",
};

/** Where Debian has it. */
function binary(): string {
  for (const folder of readdirSync("/usr/lib")) {
    const path = `/usr/lib/${folder}/webkit2gtk-4.1/MiniBrowser`;
    if (existsSync(path)) return path;
  }
  throw new Error("there is no MiniBrowser of webkit2gtk-4.1");
}

/** A port that was free a moment ago: the driver takes no other way. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function gone(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const end = once(process, "exit");
  process.kill("SIGTERM");
  await end;
}

/** One window of it. */
export class WebKit implements Driven {
  private constructor(
    private readonly screen: ChildProcess,
    private readonly driver: ChildProcess,
    private readonly home: string,
    private readonly at: string,
  ) {}

  static async start(): Promise<WebKit> {
    const home = mkdtempSync(join(tmpdir(), "parlor-webkit-"));
    // Its buttons and its field for addresses may not be wider than a phone.
    mkdirSync(join(home, ".config/gtk-3.0"), { recursive: true });
    writeFileSync(
      join(home, ".config/gtk-3.0/gtk.css"),
      "* { padding: 0; margin: 0; min-width: 0; border-width: 0; font-size: 4px; }",
    );
    const words = ["-displayfd", "1", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"];
    const screen = spawn("Xvfb", words, { stdio: ["ignore", "pipe", "ignore"] });
    const [display] = (await once(createInterface({ input: screen.stdout }), "line")) as [string];
    const port = await freePort();
    const driver = spawn("WebKitWebDriver", ["--host=127.0.0.1", `--port=${port}`], {
      stdio: "ignore",
      env: {
        PATH: process.env.PATH ?? "",
        HOME: home,
        XDG_RUNTIME_DIR: home,
        DISPLAY: `:${display}`,
        GDK_BACKEND: "x11",
        NO_AT_BRIDGE: "1",
        LIBGL_ALWAYS_SOFTWARE: "1",
        WEBKIT_DISABLE_COMPOSITING_MODE: "1",
      },
    });
    const at = `http://127.0.0.1:${port}/session`;
    const options = { binary: binary(), args: ["--automation"] };
    const asked = { capabilities: { alwaysMatch: { "webkitgtk:browserOptions": options } } };
    let session: string | undefined;
    await expect
      .poll(
        async () => {
          const told = await fetch(at, { method: "POST", body: JSON.stringify(asked) }).catch(() => undefined);
          const said = (await told?.json()) as { value: { sessionId?: string } } | undefined;
          return (session = said?.value.sessionId) !== undefined;
        },
        { timeout: WAIT },
      )
      .toBe(true);
    return new WebKit(screen, driver, home, `${at}/${session}`);
  }

  async close(): Promise<void> {
    await this.ask("", "DELETE").catch(() => undefined);
    await gone(this.driver);
    await gone(this.screen);
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10 });
  }

  readonly trouble: string[] = [];

  private async ask<T>(path: string, method: string, body?: object): Promise<T> {
    const told = await fetch(this.at + path, { method, ...(body ? { body: JSON.stringify(body) } : {}) });
    const { value } = (await told.json()) as { value: T & { error?: string; message?: string } };
    if (!told.ok) throw new Error(`${value.error}: ${value.message}`);
    return value;
  }

  async size(width: number, height: number): Promise<void> {
    // The frame around the page is the browser's own matter.
    let [more, taller] = [0, 0];
    await expect
      .poll(
        async () => {
          await this.ask("/window/rect", "POST", { x: 0, y: 0, width: width + more, height: height + taller });
          const [is, tall] = JSON.parse(await this.is("JSON.stringify([innerWidth, innerHeight])")) as [number, number];
          more += width - is;
          taller += height - tall;
          return [is, tall];
        },
        { timeout: WAIT },
      )
      .toEqual([width, height]);
  }

  async go(url: string): Promise<void> {
    await this.ask("/url", "POST", { url });
    const tells =
      "for (const kind of ['error', 'unhandledrejection', 'securitypolicyviolation']) addEventListener(kind, (event) => (window.trouble ??= []).push(kind + ': ' + (event.message ?? event.reason ?? event.violatedDirective)))";
    await this.ask("/execute/sync", "POST", { script: tells, args: [] });
  }

  async is<T = string>(expression: string): Promise<T> {
    return this.ask<T>("/execute/sync", "POST", { script: `return (${expression})`, args: [] });
  }

  async until(expression: string): Promise<void> {
    await expect
      .poll(() => this.is<boolean>(`Boolean(${expression})`).catch(() => false), { timeout: WAIT, message: expression })
      .toBe(true);
    const trouble = await this.is<string[] | null>("window.trouble ?? null").catch(() => null);
    this.trouble.splice(0, this.trouble.length, ...(trouble ?? []));
  }

  async sees(words: string): Promise<void> {
    await this.until(`document.body.innerText.includes(${JSON.stringify(words)})`);
  }

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
    await this.ask("/actions", "POST", { actions: [source] });
  }
}
