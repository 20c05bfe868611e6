// `parlor web` in a terminal, and the key that a person presses there once both sides show the same code.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const WAIT = 100_000;

/** Names that a browser under test may find: this machine's. */
export const RESOLVES = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE *.localhost";

export interface Shell {
  /** Ends it by a signal. */
  kill(signal: NodeJS.Signals): void;
  /** What it printed first. */
  address: string;
  /** All addresses that it has printed, the newest last. */
  addresses: string[];
  /** What it has said to the person. */
  said(): string;
  /** What the person types: each key counts for itself. */
  type(keys: string): void;
  /** Waits until it has ended by itself. */
  ended: Promise<number | null>;
}

/** After how long a key is pressed again: those of the first half second after a question count for nothing. */
const AGAIN = 1_500;

/** Runs `parlor web --no-open` in a terminal, where alone it asks, and waits for its address. */
export async function web(
  program: string,
  options: { cwd: string; env: Record<string, string> },
  ...words: string[]
): Promise<Shell> {
  const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
  const command = [program, "web", "--no-open", ...words].map(quoted).join(" ");
  // Its lines are not to be broken; and it is to be ended itself, not the terminal around it.
  const terminal = spawn("script", ["-qfec", `stty -echo cols 400; echo "process $$"; exec ${command}`, "/dev/null"], {
    ...options,
    stdio: ["pipe", "pipe", "ignore"],
  });
  // A key that is pressed while it ends is lost, as in any terminal: no fault of the test.
  terminal.stdin.on("error", () => undefined);
  let said = "";
  let number = 0;
  const ended = new Promise<number | null>((done) => terminal.once("exit", done));
  const addresses: string[] = [];
  const address = await new Promise<string>((found, lost) => {
    createInterface({ input: terminal.stdout }).on("line", (written) => {
      const line = written.trim();
      said += `${line}\n`;
      if (line.startsWith("process ")) number ||= Number(line.slice("process ".length));
      if (/^https?:\/\/\S+$/.test(line)) {
        addresses.push(line);
        found(line);
      }
    });
    void ended.then(() => lost(new Error(`\`parlor web\` ended: ${said}`)));
  });
  const kill = (signal: NodeJS.Signals): void => {
    // One that has ended by itself has its number no more.
    if (terminal.exitCode === null) process.kill(number, signal);
  };
  return { kill, address, addresses, said: () => said, type: (keys) => void terminal.stdin.write(keys), ended };
}

/** Presses a key until its answer has shown, with more than a second between: a key that is held down is no answer. */
export async function answers(shell: Shell, key: string, shown: Promise<unknown>): Promise<void> {
  shell.type(key);
  const again = setInterval(() => shell.type(key), AGAIN);
  try {
    await shown;
  } finally {
    clearInterval(again);
  }
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
  await answers(shell, "y", shows(page));
}

/** Waits until the page shows the fleet. */
export async function shows(page: Page): Promise<void> {
  await page
    .getByText(/No session yet|Nobody waits for|wait(s)? for (you|an answer)/)
    .filter({ visible: true })
    .first()
    .waitFor();
}
