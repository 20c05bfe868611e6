// `parlor web` in a shell, and the key that a person presses there once both sides show the same code.

import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const WAIT = 50_000;

/** Names that a browser under test may find: this machine's. */
export const RESOLVES = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE *.localhost";

export interface Shell {
  process: ChildProcess;
  /** What it printed first. */
  address: string;
  /** All addresses that it has printed, the newest last. */
  addresses: string[];
  /** What it has said to the person. */
  said(): string;
  /** What the person types. */
  type(line: string): void;
  /** Waits until it has ended by itself. */
  ended: Promise<number | null>;
}

/** Runs `parlor web --no-open` and waits for its address. */
export async function web(program: string, options: { cwd: string; env: Record<string, string> }, ...words: string[]): Promise<Shell> {
  const process = spawn(program, ["web", "--no-open", ...words], { ...options, stdio: ["pipe", "pipe", "pipe"] });
  let said = "";
  process.stderr.setEncoding("utf8").on("data", (text: string) => void (said += text));
  const ended = new Promise<number | null>((done) => process.once("exit", done));
  const addresses: string[] = [];
  const address = await new Promise<string>((found, lost) => {
    createInterface({ input: process.stdout }).on("line", (line) => (addresses.push(line), found(line)));
    void ended.then(() => lost(new Error(`\`parlor web\` ended: ${said}`)));
  });
  return { process, address, addresses, said: () => said, type: (line) => void process.stdin.write(`${line}\n`), ended };
}

/** The code that the page shows, once the shell shows it too. */
export async function sameCode(shell: Shell, page: Page): Promise<string> {
  const code = await page.locator(".state .pair-code").innerText();
  expect(code).toMatch(/^\d{3} \d{3}$/);
  await expect.poll(shell.said, { timeout: WAIT }).toContain(code);
  return code;
}

/** Opens the page and says yes to it. */
export async function pair(shell: Shell, page: Page): Promise<void> {
  await page.goto(shell.address);
  await sameCode(shell, page);
  shell.type("y");
  await shows(page);
}

/** Waits until the page shows the fleet. */
export async function shows(page: Page): Promise<void> {
  await page.getByText(/No session yet|Nobody waits for|wait(s)? for (you|an answer)/).filter({ visible: true }).first().waitFor();
}
