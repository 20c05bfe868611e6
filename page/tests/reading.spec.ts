// Reading a conversation: the bar at the side, the beginning, the search, what a screen reader is told, and paper.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { change, ownWorld, WAIT } from "./demo/look";

const at = ownWorld();

/** So many answers of some words each, after what is there. */
const grow = (
  page: Page,
  from: number,
  count: number,
  text = "Some words of an answer.\n\n".repeat(6),
): Promise<void> =>
  change(
    page,
    ({ poke }, { from, count, text }) =>
      poke((state) => {
        state.asks = [];
        for (let id = from; id < from + count; id += 1) {
          const parts = [{ text: `Answer ${id}. ${text}` }];
          state.entries.set(id, { ...state.entries.get(5), id, parent: state.leaf, parts } as never);
          state.leaf = id;
        }
      }),
    { from, count, text },
  );
const top = (page: Page): Promise<number> => page.locator("#transcript").evaluate((box) => box.scrollTop);
const left = (page: Page): Promise<number> =>
  page.locator("#transcript").evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop);
/** Three frames: whatever moves by itself has moved. */
const frames = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    for (let count = 0; count < 3; count += 1) await new Promise((done) => requestAnimationFrame(done));
  });

describe("the reader's hands", () => {
  test("a scrollbar that is moved up while the end is followed stays where it was put", () =>
    at("#/s/s1", {}, async ({ page }) => {
      await grow(page, 100, 20);
      await expect.poll(() => left(page), { timeout: WAIT }).toBeLessThan(5);
      await page.locator("#transcript").evaluate((box) => box.scrollBy(0, -180));
      await page.locator(".new-below").waitFor();
      await grow(page, 200, 3);
      await page.getByText("3 new").waitFor();
      await frames(page);
      expect(await left(page)).toBeGreaterThan(180);
      await page.locator("#transcript").evaluate((box) => box.scrollTo(0, box.scrollHeight));
      await page.locator(".new-below").waitFor({ state: "detached" });
    }));

  test("End right behind Home goes to the end and stays there", () =>
    at("#/s/s1", {}, async ({ page }) => {
      await grow(page, 100, 60);
      await expect.poll(() => left(page), { timeout: WAIT }).toBeLessThan(5);
      await page.locator("#transcript").focus();
      for (let times = 0; times < 3; times += 1) {
        await page.keyboard.press("Home");
        await page.keyboard.press("End");
        await expect.poll(() => left(page), { timeout: WAIT }).toBeLessThan(5);
        for (let count = 0; count < 4; count += 1) await frames(page);
        expect(await left(page)).toBeLessThan(5);
        expect(await page.getByRole("button", { name: "To the end" }).count()).toBe(0);
      }
    }));
  test("Home goes to the beginning at once, in a long conversation too", () =>
    at("#/s/s1", {}, async ({ page }) => {
      await grow(page, 100, 400);
      await expect.poll(() => left(page), { timeout: WAIT }).toBeLessThan(5);
      await page.locator("#transcript").focus();
      await page.keyboard.press("Home");
      await expect.poll(() => top(page), { timeout: WAIT }).toBe(0);
      for (let count = 0; count < 4; count += 1) await frames(page);
      expect(await top(page)).toBe(0);
      await page.keyboard.press("End");
      await expect.poll(() => left(page), { timeout: WAIT }).toBeLessThan(5);
    }));
});

describe("search", () => {
  /** The words that are marked as gone to, and whether they are in sight. */
  const marked = (page: Page): Promise<{ words: string; seen: boolean; all: number } | undefined> =>
    page.evaluate(() => {
      const now = [...(CSS.highlights.get("found-now") ?? [])][0] as Range | undefined;
      const box = document.getElementById("transcript")?.getBoundingClientRect();
      if (!now || !box) return undefined;
      const place = now.getBoundingClientRect();
      const over = document.elementFromPoint(place.left + 1, (place.top + place.bottom) / 2);
      return {
        words: now.toString(),
        seen: place.top >= box.top && place.bottom <= box.bottom && over?.closest(".entry") !== null,
        all: CSS.highlights.get("found")?.size ?? 0,
      };
    });

  test("goes to the word itself, far down in a long answer, and marks it", () =>
    at("#/s/s1", {}, async ({ page, errors }) => {
      const words = Array.from({ length: 1500 }, (_, at) => `word${at}${at % 12 === 0 ? "\n\n" : ""}`).join(" ");
      await grow(page, 100, 3);
      await grow(page, 200, 1, words);
      await grow(page, 300, 30);
      await page.locator("#transcript").focus();
      await page.keyboard.press("Control+f");
      await page.getByRole("searchbox").fill("Word777");
      await page.getByText("1 of 1").waitFor();
      await expect.poll(() => marked(page), { timeout: WAIT }).toEqual({ words: "word777", seen: true, all: 1 });
      // Hits are counted as hits, not as messages.
      await page.getByRole("searchbox").fill("word77");
      await page.getByText("1 of 11").waitFor();
      await page.keyboard.press("Enter");
      await page.getByText("2 of 11").waitFor();
      await expect.poll(async () => (await marked(page))?.seen, { timeout: WAIT }).toBe(true);
      await page.getByRole("searchbox").fill("nowhere at all");
      await page.getByText("No match").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("searchbox").waitFor({ state: "detached" });
      expect(await page.evaluate(() => CSS.highlights.size)).toBe(0);
      expect(errors).toEqual([]);
    }));

  test("opens what is folded, and finds lines of a diff and of an output that were not drawn", () =>
    at("#/s/s1", {}, async ({ page }) => {
      const diff = `--- a/x.rs\n+++ b/x.rs\n@@ -1,1 +1,701 @@\n same\n${Array.from({ length: 700 }, (_, at) => `+line ${at}${at === 650 ? " needle-in-diff" : ""}\n`).join("")}`;
      await change(
        page,
        ({ poke }, diff) =>
          poke((state) => {
            state.asks = [];
            const tools = state.tools as Map<number, unknown>;
            const edit = state.tools.get(8);
            const run = state.tools.get(7);
            if (!edit || !run) return;
            tools.set(8, { ...edit, result: { text: "edited", parts: [{ diff: { path: "x.rs", text: diff } }] } });
            tools.set(7, { ...run, result: { text: `needle-in-output\n${"filler\n".repeat(5000)}` } });
          }),
        diff,
      );
      await page.locator("#transcript").focus();
      await page.keyboard.press("/");
      for (const word of ["needle-in-diff", "needle-in-output", "Let me look"]) {
        await page.getByRole("searchbox").fill(word);
        await page.getByText("1 of 1").waitFor();
        await expect.poll(() => marked(page), { timeout: WAIT }).toEqual({ words: word, seen: true, all: 1 });
      }
    }));

  test("a second Ctrl-F is the browser's", () =>
    at("#/s/s1", {}, async ({ page }) => {
      await page.evaluate(() =>
        addEventListener("keydown", (event) => {
          document.title = `${event.key} ${event.defaultPrevented}`;
        }),
      );
      await page.keyboard.press("Control+f");
      await page.getByRole("searchbox").waitFor();
      expect(await page.title()).toBe("f true");
      await page.keyboard.press("Control+f");
      expect(await page.title()).toBe("f false");
    }));
});

test("a question, the end of an answer and a stop are told to a screen reader", () =>
  at("#/s/s1", {}, async ({ page }) => {
    const live = page.locator("#live");
    const says = (words: string | RegExp): Promise<void> => live.getByText(words).waitFor({ state: "attached" });
    expect(await live.getAttribute("role")).toBe("status");
    await says(/^Question: Run this command\? cargo test .* Medium risk$/);
    await change(
      page,
      ({ poke }) =>
        poke((state) => {
          state.asks = [];
          state.runs = state.runs.map((run) => ({ ...run, ended: { at: Date.now(), outcome: "done" } }));
        }),
      null,
    );
    await says(/^Answered: The reader task waits on a channel/);
    for (const [outcome, words] of [
      ["cancelled", "Stopped"],
      [{ failed: { code: "x", message: "no key" } }, "Failed: no key"],
    ] as const) {
      await change(
        page,
        ({ poke }) => poke((state) => void (state.runs = state.runs.map(({ ended: _, ...run }) => run as never))),
        null,
      );
      await frames(page);
      await change(
        page,
        ({ poke }, outcome) =>
          poke(
            (state) => void (state.runs = state.runs.map((run) => ({ ...run, ended: { at: 1, outcome } as never }))),
          ),
        outcome,
      );
      await says(words);
    }
  }));

test("Arabic and Hebrew are laid out from the right, English beside them from the left", () =>
  at("#/s/s1", {}, async ({ page }) => {
    await grow(page, 100, 1, "\n\nمرحبا بالعالم.\n\nplain english.");
    const side = (words: string): Promise<boolean> =>
      page
        .locator(".words p", { hasText: words })
        .first()
        .evaluate((one) => {
          const range = document.createRange();
          range.selectNodeContents(one);
          const [inner, outer] = [range.getBoundingClientRect(), one.getBoundingClientRect()];
          return outer.right - inner.right < inner.left - outer.left;
        });
    expect(await side("مرحبا")).toBe(true);
    expect(await side("plain english")).toBe(false);
  }));

test("a conversation is printed whole, not only what is in sight", () =>
  at("#/s/s1", {}, async ({ page }) => {
    await grow(page, 100, 60);
    await page.getByText("Answer 159.").waitFor();
    const drawn = (): Promise<number> => page.locator("#transcript .entry").count();
    const before = await drawn();
    expect(before).toBeLessThan(50);
    const paper = (await page.pdf()).toString("latin1");
    expect((paper.match(/\/Type \/Page\b/g) ?? []).length).toBeGreaterThan(5);
    // Afterwards only what is in sight is drawn again.
    await expect.poll(drawn, { timeout: WAIT }).toBeLessThan(50);
    const saved = page.waitForEvent("download");
    await page.locator("#composer").fill("/export");
    await page.locator("#composer").press("Enter");
    expect((await saved).suggestedFilename()).toBe("Fix-the-failing-bridge.md");
  }));

test("an answer is copied, a changed file leads to its change, and a prompt comes back to be changed", () =>
  at("#/s/s1", { permissions: ["clipboard-read", "clipboard-write"] }, async ({ page }) => {
    await change(
      page,
      ({ poke }) =>
        poke((state) => {
          state.asks = [];
          state.runs = state.runs.map((run) => ({ ...run, ended: { at: Date.now(), outcome: "done" } }));
        }),
      null,
    );
    await page.locator(".words").first().hover();
    await page.getByRole("button", { name: "Copy answer" }).first().click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^The reader task waits .*\n/);
    await grow(page, 100, 40);
    const file = page.locator("#side").getByRole("button", { name: /bridge\.rs/ });
    expect(await file.innerText()).toMatch(/\+3\s*−1/);
    await file.click();
    await page.locator("#transcript .diff").waitFor();
    await page.locator("#transcript").press("Home");
    await page.locator(".prompt").first().hover();
    await page.getByRole("button", { name: "Edit and send again" }).click();
    await expect
      .poll(() => page.locator("#composer").inputValue(), { timeout: WAIT })
      .toMatch(/^The bridge test hangs/);
    expect(
      await page.evaluate(() =>
        JSON.stringify((globalThis as never as { parlorDemo: { sent: unknown } }).parlorDemo.sent),
      ),
    ).toBe('[{"set_leaf":{}}]');
  }));

test("a page at which nothing happens lays out nothing", () =>
  at("#/s/s1", {}, async ({ page }) => {
    await page.clock.install();
    await page.reload();
    await page.locator("#ask h2").waitFor();
    await change(
      page,
      ({ poke, rows }) => {
        poke((state) => {
          state.asks = [];
          state.runs = state.runs.map((run) => ({ ...run, ended: { at: Date.now(), outcome: "done" } }));
        });
        // Of this and the next minute: what is younger counts its seconds.
        rows.value = rows.value.map((row) => ({ ...row, status: "done" as const, since: Date.now() - 3_630_000 }));
      },
      null,
    );
    // What the change began has ended: words that are shown for a moment, heights that are measured.
    await page.clock.runFor(20_000);
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    const layouts = async (): Promise<number> => {
      // What waits to be laid out is laid out now.
      await page.evaluate(() => document.body.offsetHeight);
      const { metrics } = await session.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "LayoutCount")?.value ?? -1;
    };
    await page.clock.runFor(1000);
    const before = await layouts();
    let after = before;
    for (let second = 0; second < 20; second += 1) {
      await page.clock.runFor(1000);
      after = await layouts();
    }
    expect(after - before).toBe(0);
    // It is seen where something does happen.
    await change(page, ({ rows }) => void (rows.value = rows.value.slice(1)), null);
    await page.clock.runFor(1000);
    expect(await layouts()).toBeGreaterThan(after);
  }));
