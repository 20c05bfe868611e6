// The screens in a real browser, with a canned world: keys, questions, hostile text, widths.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { change, ownWorld, sent, WAIT } from "./demo/look";

const at = ownWorld();

/** Puts another question in the place of the one that is asked. */
const asks = (
  page: Page,
  ask: { id: number; kind?: unknown; preview?: unknown; takes_reason?: boolean },
): Promise<void> =>
  page.evaluate((wanted) => {
    const { poke } = (
      globalThis as unknown as { parlorDemo: { poke: (change: (state: { asks: unknown[] }) => void) => void } }
    ).parlorDemo;
    poke((state) => {
      const ask = structuredClone((globalThis as unknown as { kept?: object }).kept ?? state.asks[0]) as {
        id: number;
        kind: { consent: { preview: unknown } };
      };
      (globalThis as unknown as { kept?: object }).kept = structuredClone(ask);
      ask.id = wanted.id;
      if (wanted.kind) ask.kind = wanted.kind as never;
      else if (wanted.preview) ask.kind.consent.preview = wanted.preview;
      state.asks = [ask];
    });
  }, ask);
const connection = (page: Page, is: object): Promise<void> =>
  page.evaluate(
    (is) =>
      void ((globalThis as unknown as { parlorDemo: { connection: { value: object } } }).parlorDemo.connection.value =
        is),
    is,
  );

describe("a question", () => {
  test("is allowed by its key, with the digest of what was shown", () =>
    at("#/s/s1", {}, async ({ page, errors }) => {
      await page.locator("#ask h2").waitFor();
      await page.locator("#ask .primary:enabled").waitFor();
      await page.locator("#transcript").focus();
      await page.keyboard.press("y");
      await page.locator("#ask").waitFor({ state: "detached" });
      expect(await sent(page)).toEqual([{ answer: [90, { allow: { scope: "once", digest: "d1" } }] }]);
      expect(errors).toEqual([]);
    }));

  test("takes no key while somebody types", () =>
    at("#/s/s1", {}, async ({ page }) => {
      await page.locator("#composer").fill("go on, ");
      await page.locator("#composer").press("x");
      await page.evaluate(() => (document.activeElement as HTMLElement).blur());
      await page.keyboard.press("y");
      expect(await page.locator("#ask").count()).toBe(1);
      expect(await sent(page)).toEqual([]);
    }));

  test("is denied with a reason", () =>
    at("#/s/s1", {}, async ({ page }) => {
      await page.getByRole("button", { name: "Deny with reason" }).click();
      await page.keyboard.type("use nextest");
      await page.keyboard.press("Enter");
      await page.locator("#ask").waitFor({ state: "detached" });
      expect(await sent(page)).toEqual([{ answer: [90, { deny: { reason: "use nextest" } }] }]);
    }));

  const LONG_LINE = `echo ${"harmless words ".repeat(240)}; rm -rf ~`;
  const DIFF = (lines: number): string =>
    `--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,${lines + 1} @@\n same\n${`+${"long ".repeat(30)}; rm -rf ~\n`.repeat(lines)}`;
  for (const [name, width, height, what] of [
    ["a command on a phone", 390, 844, { preview: { command: { line: LONG_LINE, inner: [] } } }],
    ["a command over a phone's keyboard", 390, 420, { preview: { command: { line: LONG_LINE, inner: [] } } }],
    ["a change", 1440, 900, { preview: { diff: { path: "a.txt", text: DIFF(60) } } }],
    [
      "a question of yes or no",
      390,
      664,
      { kind: { confirm: { message: LONG_LINE, danger: false, yes: "Allow once" } } },
    ],
  ] as const) {
    test(`takes no yes before its end was in sight, and says so: ${name}`, () =>
      at("#/s/s1", { viewport: { width, height } }, async ({ page }) => {
        await page.locator("#ask h2").waitFor();
        await asks(page, { id: 97, ...what });
        const allow = page.getByRole("button", { name: "Allow once" });
        const note = page.getByText("More below: scroll to the end first");
        await note.waitFor();
        expect(await allow.isDisabled()).toBe(true);
        const before = await allow.boundingBox();
        await page.locator("#transcript").focus();
        for (const key of ["y", "s", "a"]) await page.keyboard.press(key);
        await page.locator("[role=alert]").getByText("More below").waitFor();
        expect(await sent(page)).toEqual([]);
        // Not yet the end; then the end, by the keys of what was asked.
        await page.keyboard.press("ArrowDown");
        expect(await allow.isDisabled()).toBe(true);
        expect(
          await page.locator("#ask .body[role=group]").evaluate((body) => body.scrollWidth - body.clientWidth),
        ).toBe(0);
        await page.keyboard.press("End");
        await note.waitFor({ state: "hidden" });
        expect(await allow.isEnabled()).toBe(true);
        expect(await allow.boundingBox()).toEqual(before);
        // Another question of the same number is to be read anew.
        await asks(page, {
          id: 97,
          ...("kind" in what
            ? { kind: { confirm: { ...what.kind.confirm, message: `${LONG_LINE} two` } } }
            : { preview: { command: { line: `${LONG_LINE.repeat(8)} two`, inner: [] } } }),
        });
        await note.waitFor();
        expect(await allow.isDisabled()).toBe(true);
        // A no needs no reading.
        await page.getByRole("button", { name: /^(Deny and stop|No) N$|^(Deny and stop|No)$/ }).click();
        await page.locator("#ask").waitFor({ state: "detached" });
      }));
  }

  test("of which a part is folded takes no yes before all was shown", () =>
    at("#/s/s1", {}, async ({ page }) => {
      await page.locator("#ask .primary:enabled").waitFor();
      await asks(page, { id: 98, preview: { diff: { path: "a.txt", text: DIFF(600) } } });
      await page.getByText("More below").waitFor();
      const down = (): Promise<void> =>
        page.locator("#ask .body[role=group]").evaluate((body) => body.scrollTo(0, body.scrollHeight));
      await expect
        .poll(
          async () => {
            await down();
            return page.getByText("Some of it is folded: show all of it first").count();
          },
          { timeout: WAIT },
        )
        .toBe(1);
      expect(await page.getByRole("button", { name: "Allow once" }).isDisabled()).toBe(true);
      await page.getByRole("button", { name: /^Show .* more lines/ }).click();
      await expect
        .poll(
          async () => {
            await down();
            return page.getByRole("button", { name: "Allow once" }).isEnabled();
          },
          { timeout: WAIT },
        )
        .toBe(true);
    }));

  test("is not answered without a connection, and says why", () =>
    at("#/s/s1", {}, async ({ page }) => {
      await page.locator("#ask .primary:enabled").waitFor();
      const before = await page.getByRole("button", { name: "Allow once" }).boundingBox();
      await connection(page, { is: "lost", since: Date.now(), retryAt: undefined });
      await page.locator("#ask").getByText("No connection: answer when it is back.").waitFor();
      expect(await page.locator("#ask footer button:enabled").count()).toBe(0);
      expect(await page.getByRole("button", { name: "Allow once" }).boundingBox()).toEqual(before);
      await page.locator("#transcript").focus();
      for (const key of ["y", "n", "s", "a", "r"]) await page.keyboard.press(key);
      expect(await sent(page)).toEqual([]);
      expect(await page.locator("#reason").count()).toBe(0);
      await connection(page, { is: "up" });
      await page.locator("#ask").getByText("No connection").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Allow once" }).click();
      await page.locator("#ask").waitFor({ state: "detached" });
    }));

  test("gives the focus on: to the next question, then to the composer, and takes it back from there", () =>
    at("#/s/s1", {}, async ({ page }) => {
      await page.locator("#ask .primary:enabled").waitFor();
      await asks(page, { id: 96 });
      await page.evaluate(() => {
        const { poke } = (
          globalThis as unknown as {
            parlorDemo: { poke: (change: (state: { asks: { id: number }[] }) => void) => void };
          }
        ).parlorDemo;
        poke(
          (state) =>
            void (state.asks = [...state.asks, { ...structuredClone(state.asks[0]), id: 99 } as { id: number }]),
        );
      });
      const where = (): Promise<string | undefined> =>
        page.evaluate(() => document.activeElement?.closest<HTMLElement>("#ask, #composer")?.id);
      await page.getByRole("button", { name: "Allow once" }).focus();
      await page.keyboard.press("y");
      await expect.poll(async () => (await sent(page)).length, { timeout: WAIT }).toBe(1);
      await expect.poll(where, { timeout: WAIT }).toBe("ask");
      await page.locator("#ask .primary:enabled").waitFor();
      await page.keyboard.press("y");
      await page.locator("#ask").waitFor({ state: "detached" });
      await expect.poll(where, { timeout: WAIT }).toBe("composer");
      // Nothing was written there: the next one has it, but takes no letter of somebody who begins to write at that
      // moment.
      await asks(page, { id: 100 });
      await expect.poll(where, { timeout: WAIT }).toBe("ask");
      await page.locator("#ask .primary:enabled").waitFor();
      await page.keyboard.press("y");
      expect((await sent(page)).length).toBe(2);
      await expect
        .poll(
          async () => {
            if ((await page.locator("#ask").count()) > 0) await page.keyboard.press("y");
            return (await sent(page)).length;
          },
          { timeout: WAIT },
        )
        .toBe(3);
      // What somebody writes keeps the focus.
      await expect.poll(where, { timeout: WAIT }).toBe("composer");
      await page.keyboard.type("and then");
      await asks(page, { id: 102 });
      await page.locator("#ask .primary:enabled").waitFor();
      expect(await where()).toBe("composer");
    }));

  test("keeps a reason that is being written over a reload, until it is given", () =>
    at("#/s/s1", {}, async ({ page }) => {
      await page.getByRole("button", { name: "Deny with reason" }).click();
      await page.keyboard.type("use nextest");
      await page.reload();
      await expect.poll(() => page.locator("#reason").inputValue(), { timeout: WAIT }).toBe("use nextest");
      await page.locator("#reason").press("Enter");
      await page.locator("#ask").waitFor({ state: "detached" });
      expect(await sent(page)).toEqual([{ answer: [90, { deny: { reason: "use nextest" } }] }]);
      await page.reload();
      await page.locator("#ask .primary:enabled").waitFor();
      expect(await page.locator("#reason").count()).toBe(0);
    }));

  test("of critical risk has no primary button and needs two presses", () =>
    at("#/s/s1", {}, async ({ page }) => {
      await page.evaluate(() => {
        const { poke } = (
          globalThis as unknown as { parlorDemo: { poke: (change: (state: { asks: unknown[] }) => void) => void } }
        ).parlorDemo;
        poke((state) => {
          const ask = structuredClone(state.asks[0]) as {
            id: number;
            kind: { consent: { assessment: { risk: string } } };
          };
          ask.id = 91;
          ask.kind.consent.assessment.risk = "critical";
          state.asks = [ask];
        });
      });
      await page.locator("#ask.critical").waitFor();
      expect(await page.locator("#ask .primary").count()).toBe(0);
      await page.waitForFunction(() => document.activeElement?.textContent?.startsWith("Deny"));
      await page.getByRole("button", { name: "Allow once" }).click();
      expect(await sent(page)).toEqual([]);
      await page.getByRole("button", { name: "press again" }).click();
      await page.locator("#ask").waitFor({ state: "detached" });
    }));

  test("keeps its buttons on the screen however long the command is", () =>
    at("#/s/s1", { viewport: { width: 390, height: 844 } }, async ({ page }) => {
      await page.evaluate(() => {
        const { poke } = (
          globalThis as unknown as { parlorDemo: { poke: (change: (state: { asks: unknown[] }) => void) => void } }
        ).parlorDemo;
        poke((state) => {
          const ask = structuredClone(state.asks[0]) as { id: number; kind: { consent: { preview: unknown } } };
          ask.id = 92;
          ask.kind.consent.preview = { command: { line: `echo ${"x\n".repeat(500)}\u202e`, inner: [] } };
          state.asks = [ask];
        });
      });
      await page.getByText("⟨U+202E⟩").waitFor();
      const box = await page.getByRole("button", { name: "Allow once" }).boundingBox();
      expect(box && box.y + box.height <= 844 && box.height >= 44).toBe(true);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    }));

  for (const [width, height] of [
    [390, 844],
    [390, 664],
    [1440, 900],
    [1024, 600],
  ] as const) {
    test(`keeps its buttons where they are, and the composer in sight, however much waits: ${width}×${height}`, () =>
      at("#/s/s1", { viewport: { width, height } }, async ({ page }) => {
        const poke = (waiting: number): Promise<void> =>
          page.evaluate((waiting) => {
            const { poke } = (
              globalThis as unknown as {
                parlorDemo: {
                  poke: (
                    change: (state: {
                      asks: { kind: { consent: { preview: unknown } } }[];
                      queues: { steer: unknown[] };
                    }) => void,
                  ) => void;
                };
              }
            ).parlorDemo;
            poke((state) => {
              const [ask] = state.asks;
              if (ask) ask.kind.consent.preview = { command: { line: `echo ${"x\n".repeat(500)}end`, inner: [] } };
              state.queues = {
                ...state.queues,
                steer: Array.from({ length: waiting }, (_, at) => ({ id: 200 + at, input: { text: `waits ${at}` } })),
              };
            });
          }, waiting);
        const allow = page.getByRole("button", { name: "Allow once" });
        await poke(0);
        await page.locator("#ask").getByText("end", { exact: false }).first().waitFor();
        // On a phone the question is a screen of its own, without the composer.
        const phone = width <= 700;
        if (!phone) await page.locator("#composer").fill("long\n".repeat(40));
        const before = await allow.boundingBox();
        await poke(40);
        await page.getByText("waits 39").waitFor({ state: "attached" });
        expect(await allow.boundingBox()).toEqual(before);
        for (const button of [
          allow,
          ...(phone
            ? []
            : [
                page.getByRole("button", { name: "Stop", exact: true }),
                page.getByRole("button", { name: "Steer", exact: true }),
              ]),
        ]) {
          const box = await button.boundingBox();
          expect(box && box.y >= 0 && box.y + box.height <= height, JSON.stringify(box)).toBe(true);
        }
      }));
  }

  test("with options is answered by Enter once one is chosen", () =>
    at("#/s/s1", {}, async ({ page }) => {
      await page.evaluate(() => {
        const { poke } = (
          globalThis as unknown as { parlorDemo: { poke: (change: (state: { asks: unknown[] }) => void) => void } }
        ).parlorDemo;
        poke(
          (state) =>
            void (state.asks = [
              {
                id: 93,
                title: "Which?",
                kind: {
                  choose: {
                    message: "Which?",
                    many: false,
                    choices: [
                      { id: "a", label: "first" },
                      { id: "b", label: "second" },
                    ],
                  },
                },
              },
            ]),
        );
      });
      await page.getByRole("radio", { name: "first" }).focus();
      await page.keyboard.press("Enter");
      expect(await sent(page)).toEqual([]);
      await page.getByRole("radio", { name: "second" }).check();
      await page.keyboard.press("Enter");
      await page.locator("#ask").waitFor({ state: "detached" });
      expect(await sent(page)).toEqual([{ answer: [93, { chosen: ["b"] }] }]);
    }));

  test("that wants a text is said once and has the focus, unless somebody writes", () =>
    at("#/s/s1", {}, async ({ page }) => {
      const ask = (id: number): Promise<void> =>
        page.evaluate((id) => {
          const { poke } = (
            globalThis as unknown as { parlorDemo: { poke: (change: (state: { asks: unknown[] }) => void) => void } }
          ).parlorDemo;
          poke(
            (state) =>
              void (state.asks = [
                {
                  id,
                  title: "What is your name?",
                  kind: { text: { message: "What is your name?", multiline: false, secret: false } },
                },
              ]),
          );
        }, id);
      await page.locator("#composer").focus();
      await ask(94);
      await page.locator("#answer:focus").waitFor();
      expect(
        await page.locator(":not(#live)").and(page.getByText("What is your name?")).filter({ visible: true }).count(),
      ).toBe(1);
      await page.keyboard.type("Bob");
      await page.keyboard.press("Enter");
      await page.locator("#ask").waitFor({ state: "detached" });
      expect(await sent(page)).toEqual([{ answer: [94, { entered: "Bob" }] }]);
      await page.locator("#composer").fill("half a tho");
      await ask(95);
      await page.locator("#answer").waitFor();
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("composer");
    }));
});

describe("the conversation", () => {
  test("a hostile transcript stays text", () =>
    at("#/s/s1", {}, async ({ page, errors, foreign }) => {
      await page.evaluate(() => {
        const { poke } = (
          globalThis as unknown as {
            parlorDemo: { poke: (change: (state: { entries: Map<number, unknown>; leaf: number }) => void) => void };
          }
        ).parlorDemo;
        poke((state) => {
          const text =
            "<img src=x onerror=alert(1)>\n\n<script>alert(2)</script>\n\n[click](javascript:alert(3)) ![pic](https://evil.example/x.png) <svg onload=alert(4)>\n\n<iframe src='https://evil.example'></iframe>\n";
          state.entries.set(60, {
            ...(state.entries.get(5) as object),
            id: 60,
            parent: 5,
            parts: [{ text }, { image: { mime: "image/svg+xml", base64: btoa("<svg onload='alert(5)'/>") } }],
          });
          state.leaf = 60;
        });
      });
      await page.getByText("onerror=alert(1)").waitFor();
      expect(await page.locator("#transcript :is(script, iframe, img, object, embed)").count()).toBe(0);
      expect(await page.locator('#transcript a[href^="javascript"]').count()).toBe(0);
      expect(errors).toEqual([]);
      expect(foreign).toEqual([]);
    }));

  test("is followed until the reader goes up, and again at the button", () =>
    at("#/s/s1", {}, async ({ page }) => {
      const grow = (id: number): Promise<void> =>
        page.evaluate((id) => {
          const { poke } = (
            globalThis as unknown as {
              parlorDemo: { poke: (change: (state: { entries: Map<number, unknown>; leaf: number }) => void) => void };
            }
          ).parlorDemo;
          poke((state) => {
            state.entries.set(id, {
              ...(state.entries.get(5) as object),
              id,
              parent: state.leaf,
              parts: [{ text: `answer ${id}\n\n`.repeat(20) }],
            });
            state.leaf = id;
          });
        }, id);
      const left = (): Promise<number> =>
        page.evaluate(() => {
          const box = document.getElementById("transcript");
          return box ? box.scrollHeight - box.clientHeight - box.scrollTop : -1;
        });
      for (let id = 100; id < 104; id += 1) await grow(id);
      await expect.poll(left, { timeout: WAIT }).toBeLessThan(5);
      await page.locator("#transcript").hover();
      await page.mouse.wheel(0, -600);
      await page.locator(".new-below").waitFor();
      await grow(110);
      await page.getByText("1 new").waitFor();
      expect(await left()).toBeGreaterThan(100);
      await page.locator(".new-below").click();
      await expect.poll(left, { timeout: WAIT }).toBeLessThan(5);
    }));

  test("below a prompt of one's own only what is out of sight is new", () =>
    at("#/s/s1", {}, async ({ page }) => {
      const add = (from: number, count: number, role: "user" | "assistant"): Promise<void> =>
        change(
          page,
          ({ poke }, { from, count, role }) =>
            poke((state) => {
              state.asks = [];
              state.runs = state.runs.map((run) => ({ ...run, ended: { at: Date.now(), outcome: "done" } }));
              for (let id = from; id < from + count; id += 1) {
                state.entries.set(id, {
                  ...state.entries.get(5),
                  id,
                  parent: state.leaf,
                  role,
                  parts: [{ text: `row ${id}` }],
                } as never);
                state.leaf = id;
              }
            }),
          { from, count, role },
        );
      await add(100, 30, "assistant");
      await page.locator("#transcript").getByText("row 129").waitFor();
      await page.locator("#composer").fill("go");
      await page.locator("#composer").press("Enter");
      await add(200, 1, "user");
      await page.locator("#transcript").getByText("row 200").waitFor();
      const top = (): Promise<number> =>
        page
          .locator(".entry", { hasText: "row 200" })
          .evaluate(
            (row) =>
              row.getBoundingClientRect().top - (row.closest("#transcript") as HTMLElement).getBoundingClientRect().top,
          );
      await expect.poll(top, { timeout: WAIT }).toBeLessThan(5);
      await add(201, 9, "assistant");
      await page.locator("#transcript").getByText("row 209").waitFor();
      expect(await page.locator(".new-below").count()).toBe(0);
      await add(210, 30, "assistant");
      await page.locator(".new-below").waitFor();
      const unseen = await page.locator("#transcript .entry").evaluateAll((all) => {
        const edge = (document.getElementById("transcript") as HTMLElement).getBoundingClientRect().bottom;
        return (
          239 -
          Math.max(
            ...all
              .filter((row) => row.getBoundingClientRect().top < edge)
              .map((row) => Number(/row (\d+)/.exec(row.textContent ?? "")?.[1] ?? 0)),
          )
        );
      });
      expect(unseen).toBeGreaterThan(3);
      await page.locator(".new-below").getByText(`${unseen} new`).waitFor();
    }));

  test("ten thousand entries draw only what is in sight", () =>
    at("#/s/s1", {}, async ({ page, errors }) => {
      await page.evaluate(() => {
        const { poke } = (
          globalThis as unknown as {
            parlorDemo: { poke: (change: (state: { entries: Map<number, unknown>; leaf: number }) => void) => void };
          }
        ).parlorDemo;
        poke((state) => {
          for (let id = 1000; id < 11_000; id += 1) {
            state.entries.set(id, {
              ...(state.entries.get(5) as object),
              id,
              parent: state.leaf,
              parts: [{ text: `entry ${id}` }],
            });
            state.leaf = id;
          }
        });
      });
      await page.getByText("entry 10999").waitFor();
      expect(await page.locator("#transcript .entry").count()).toBeLessThan(80);
      expect(errors).toEqual([]);
    }));
});

describe("going back", () => {
  for (const [button, files] of [
    ["Go before it, words only", []],
    ["Go before it, words and files", [{ go_files: { back: [2], forth: [], leave: false } }]],
  ] as const) {
    test(`${button}: the prompt comes to the composer`, () =>
      at("#/s/s1", {}, async ({ page }) => {
        await page.evaluate(() => {
          const { poke } = (
            globalThis as unknown as {
              parlorDemo: { poke: (change: (state: { asks: unknown[]; runs: object[] }) => void) => void };
            }
          ).parlorDemo;
          poke((state) => {
            state.asks = [];
            state.runs = state.runs.map((run) => ({ ...run, ended: { at: 5, outcome: "done" } }));
          });
        });
        await page.getByRole("button", { name: "Branches" }).click();
        await page
          .getByRole("dialog")
          .getByRole("button", { name: /^The bridge test hangs/ })
          .click();
        await page.getByRole("button", { name: button }).click();
        await page.getByRole("dialog").waitFor({ state: "detached" });
        await expect
          .poll(() => page.locator("#composer").inputValue(), { timeout: WAIT })
          .toBe("The bridge test hangs when the peer goes away. Find out why and fix it.");
        expect(await sent(page)).toEqual([...files, { set_leaf: {} }]);
      }));
  }
});

describe("everywhere", () => {
  test("palette, keys and search open by key and close by Escape", () =>
    at("#/s/s1", {}, async ({ page }) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog", { name: "Go to", exact: true }).waitFor();
      await page.keyboard.type("axum");
      await page.getByRole("option", { name: /Bump axum/ }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.locator("#transcript").focus();
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keys" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }));

  for (const [width, height] of [
    [1440, 900],
    [1024, 600],
    [390, 844],
    [390, 664],
  ] as const) {
    test(`words that come and go lie over no button and move none: ${width}×${height}`, () =>
      at("#/s/s1", { viewport: { width, height } }, async ({ page }) => {
        await page.locator("#ask h2").waitFor();
        const places = (): Promise<string[]> =>
          page
            .locator("#ask footer button, .composer button")
            .evaluateAll((all) => all.map((one) => JSON.stringify(one.getBoundingClientRect())));
        const aside = page.getByRole("button", { name: "Conversation" });
        if (await aside.isVisible()) await aside.click();
        await page.locator("#composer").fill("/frobnicate");
        const before = await places();
        await page.locator("#composer").press("Enter");
        await page.locator(".toast").getByText("no command /frobnicate").waitFor();
        await page.locator("#composer").fill("/login");
        await page.locator("#composer").press("Enter");
        await page.locator(".toast").getByText("command of the terminal").waitFor();
        expect(await places()).toEqual(before);
        const covered = await page.evaluate(() =>
          [...document.querySelectorAll("button, a, textarea, input")]
            .filter((one) => {
              const { left, top, width, height } = one.getBoundingClientRect();
              const over = width > 0 ? document.elementFromPoint(left + width / 2, top + height / 2) : null;
              // What is scrolled out of the conversation is under everything.
              return over?.closest(".toasts") && !one.closest(".toasts, #transcript");
            })
            .map((one) => one.outerHTML.slice(0, 100)),
        );
        expect(covered).toEqual([]);
        // Over what floats they float too, outside of it.
        await page.locator("#transcript").focus();
        await page.keyboard.press("?");
        const dialog = await page
          .getByRole("dialog", { name: "Keys" })
          .getByRole("button", { name: "Close" })
          .boundingBox();
        const said = await page.locator(".toasts").boundingBox();
        const apart =
          dialog &&
          said &&
          (said.y >= dialog.y + dialog.height ||
            said.y + said.height <= dialog.y ||
            said.x >= dialog.x + dialog.width ||
            said.x + said.width <= dialog.x);
        expect(apart).toBe(true);
      }));
  }

  test("an Escape that closes something arms nothing; the offer to stop goes with its second", () =>
    at("#/s/s1", {}, async ({ page }) => {
      const offer = page.getByText("Escape once more stops the run.");
      const composer = page.locator("#composer");
      await composer.pressSequentially("/");
      await page.getByRole("option", { name: /^\/undo/ }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("option", { name: /^\/undo/ }).waitFor({ state: "detached" });
      expect(await offer.count()).toBe(0);
      await page.keyboard.press("Escape");
      await offer.waitFor();
      expect(await sent(page)).toEqual([]);
      await offer.waitFor({ state: "detached", timeout: 3000 });
      // A dialog that is closed by it, too.
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog", { name: "Go to", exact: true }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      expect(await offer.count()).toBe(0);
      await page.keyboard.press("Escape");
      await page.keyboard.press("Escape");
      // The palette has asked for the files of the folder.
      await expect
        .poll(async () => (await sent(page)).filter((command) => !JSON.stringify(command).startsWith('{"extension"')), {
          timeout: WAIT,
        })
        .toEqual([{ cancel: {} }]);
      expect(await offer.count()).toBe(0);
    }));

  test("says what to send, and slash commands are offered", () =>
    at("#/s/s1", {}, async ({ page }) => {
      await page.locator("#composer").pressSequentially("/un");
      await page.getByRole("option", { name: /^\/undo/ }).waitFor();
      await page.locator("#composer").fill("also the docs");
      await page.locator("#composer").press("Enter");
      await expect
        .poll(() => sent(page), { timeout: WAIT })
        .toEqual([{ enqueue: { kind: "steer", input: { text: "also the docs" } } }]);
    }));
});
