// One conversation as a person has it, on a desk and on a phone, in a browser that is driven without Playwright.

import { expect } from "vitest";
import { WAIT, type House } from "./house";
import type { Model } from "./model";
import { answers, type Shell } from "./pairing";

/** What such a browser does for a test; `firefox.ts` and `../webkit/webkit.ts` are two. */
export interface Driven {
  /** Errors of scripts, and what the content policy refused. */
  readonly trouble: string[];
  size(width: number, height: number): Promise<void>;
  go(url: string): Promise<void>;
  is<T = string>(expression: string): Promise<T>;
  until(expression: string): Promise<void>;
  sees(words: string): Promise<void>;
  click(selector: string, words?: string): Promise<void>;
  press(keys: string): Promise<void>;
}

export async function converses(home: { house: House; model: Model }, shell: Shell, browser: Driven): Promise<void> {
  await browser.size(1440, 900);
  await browser.go(shell.address);
  await browser.until("document.querySelector('.pair-code')");
  const code = await browser.is("document.querySelector('.pair-code').innerText");
  await expect.poll(shell.said, { timeout: WAIT }).toContain(code);
  await answers(shell, "y", browser.until("document.querySelector('#first')"));
  await shell.ended;
  await browser.click("#first");
  await browser.press("write a greeting");
  await browser.press("Enter");
  const lines = Array.from({ length: 60 }, (_, at) => `line ${at}`).join("\n");
  (await home.model.turn())
    .say(`I write it.\n\n${"Some words before.\n\n".repeat(60)}`)
    .call("write", { path: "fox.txt", content: lines })
    .end();
  await browser.sees("rite fox.txt");
  // A phone: the question is the whole screen, read to its end, its answer in reach.
  for (const [width, height] of [
    [390, 664],
    [375, 667],
  ] as const) {
    await browser.size(width, height);
    await browser.until(
      "getComputedStyle(document.querySelector('#composer')).display === 'none' || document.querySelector('#composer').offsetParent === null",
    );
    expect(await browser.is<number>("document.querySelector('#ask .body').clientHeight")).toBeGreaterThan(height * 0.5);
    expect(
      await browser.is<number>(
        "Math.max(...[...document.querySelectorAll('#ask footer button')].map((one) => one.getBoundingClientRect().bottom))",
      ),
    ).toBeLessThanOrEqual(height);
  }
  await browser.is(
    "(() => { const box = document.querySelector('#ask .body'); box.scrollTop = box.scrollHeight; return ''; })()",
  );
  await browser.click("#ask .primary", "Allow once");
  (await home.model.turn()).say("It is written, says the fox.").end();
  await browser.size(1440, 900);
  await browser.sees("says the fox");
  // Home, the end again, and a search that marks the word itself.
  await browser.click("#transcript");
  await browser.press("Home");
  await browser.until("document.querySelector('#transcript').scrollTop === 0");
  await browser.press("End");
  await browser.until(
    "(() => { const box = document.querySelector('#transcript'); return box.scrollHeight - box.clientHeight - box.scrollTop < 5; })()",
  );
  await browser.press("Control+f");
  await browser.press("a greeting");
  await browser.sees("1 of 1");
  await browser.until("CSS.highlights.get('found-now')?.size === 1");
  expect(browser.trouble).toEqual([]);
}
