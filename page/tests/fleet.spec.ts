// The fleet and the frame in a real browser, with a canned world.

import { expect, test } from "vitest";
import type { FleetRow, ConnectionState } from "../src/view/ports";
import { change, ownWorld, sent, WAIT } from "./demo/look";

const at = ownWorld();

test("rows stay where they are under the pointer, under headings that are true; leaving draws the list as it is", () =>
  at("#/", {}, async ({ page, errors }) => {
    const headings = (): Promise<string[]> =>
      page
        .locator("#fleet section")
        .evaluateAll((all) =>
          all.map(
            (one) =>
              `${one.querySelector("h2")?.textContent}: ${[...one.querySelectorAll("a")].map((row) => row.getAttribute("href")?.slice(-2)).join(" ")}`,
          ),
        );
    const is = (key: string, status: FleetRow["status"]): Promise<void> =>
      change(
        page,
        ({ rows }, { key, status }) =>
          void (rows.value = rows.value.map((row) => (row.key === key ? { ...row, status } : row))),
        { key, status },
      );
    // All of this moment: the test may run at midnight.
    await change(
      page,
      ({ rows }) => {
        const now = Date.now();
        rows.value = rows.value.map((row, at) => ({ ...row, since: now - at }));
      },
      undefined,
    );
    await expect
      .poll(headings, { timeout: WAIT })
      .toEqual(["Waiting for you · 2: s2 s1", "Running · 2: s3 s4", "Today · 2: s5 s6"]);
    const done = page.locator('a.fleet-row[href="#/s/s5"]');
    await done.hover();
    const place = await done.boundingBox();
    await is("s6", "waiting");
    await is("s1", "done");
    await page.locator(".elsewhere-waits").getByText("2 wait for you").waitFor();
    await expect
      .poll(headings, { timeout: WAIT })
      .toEqual([
        "Waiting for you · 1, today · 1: s2 s1",
        "Running · 2: s3 s4",
        "Waiting for you · 1, today · 1: s5 s6",
      ]);
    expect(await done.boundingBox()).toEqual(place);
    // The click leaves the focus behind in the list; the pointer goes, and nothing else happens.
    await done.click();
    await page.mouse.move(800, 400);
    await expect
      .poll(headings, { timeout: 3000 })
      .toEqual(["Waiting for you · 2: s6 s2", "Running · 2: s3 s4", "Today · 2: s1 s5"]);
    expect(await page.locator(".elsewhere-waits").innerText()).toBe("");
    // Keys hold it for a moment; the focus stays on its row when that goes elsewhere.
    await page.locator('a.fleet-row[href="#/s/s3"]').focus();
    await is("s3", "done");
    await page.locator("#fleet h2").getByText("Running · 1, today · 1").waitFor();
    await page.locator("#fleet h2").getByText("Running · 1", { exact: true }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute("href"))).toBe("#/s/s3");
    expect(errors).toEqual([]);
  }));

test("a stop without a connection is said to be none, until there is one again, and nowhere on a page that may not look", () =>
  at("#/s/s1", {}, async ({ page, errors }) => {
    const is = (connection: ConnectionState): Promise<void> =>
      change(page, (demo, connection) => void (demo.connection.value = connection), connection);
    const said = page
      .locator(".toast")
      .getByText("No connection to Parlor: nothing was done. Try again when it is back");
    await page.locator("#ask h2").waitFor();
    await is({ is: "lost", since: Date.now(), retryAt: undefined });
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await said.waitFor();
    await page.locator("#transcript").focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await said.waitFor();
    await is({ is: "up" });
    await said.waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await is({ is: "lost", since: Date.now(), retryAt: undefined });
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await said.waitFor();
    await is({ is: "revoked" });
    await page.getByText("This device was revoked").waitFor();
    expect(await page.locator(".toast").count()).toBe(0);
    await is({ is: "lost", since: Date.now(), retryAt: undefined });
    await page.locator("#ask h2").waitFor();
    expect(await page.locator(".toast").count()).toBe(0);
    expect(errors).toEqual([]);
  }));

for (const [width, height] of [
  [390, 844],
  [390, 664],
  [1440, 900],
] as const) {
  test(`of a long notice whole lines are shown, the rest on demand, and no button moves: ${width}×${height}`, () =>
    at("#/s/s1", { viewport: { width, height }, reducedMotion: "reduce" }, async ({ page }) => {
      await page.locator("#ask h2").waitFor();
      const places = (): Promise<string[]> =>
        page
          .locator("#ask footer button, .composer button")
          .evaluateAll((all) => all.map((one) => JSON.stringify(one.getBoundingClientRect())));
      const aside = page.getByRole("button", { name: "Conversation" });
      if (await aside.isVisible()) await aside.click();
      await page.locator("#composer").fill("/short");
      await page.locator("#composer").press("Enter");
      const high = (): Promise<number> => page.locator("#composer").evaluate((field) => field.clientHeight);
      const low = await high();
      await page.locator("#composer").fill(`/${"x".repeat(500)}`);
      await expect.poll(high, { timeout: WAIT }).toBeGreaterThan(low);
      const before = await places();
      await page.locator("#composer").press("Enter");
      const toast = page.locator(".toast").first();
      await toast.getByRole("button", { name: "More" }).waitFor();
      const look = (): Promise<{ lines: number; stray: boolean; scrolls: boolean }> =>
        toast.evaluate((one) => {
          const words = one.querySelector(".said") as HTMLElement;
          const [box, inner] = [one.parentElement as HTMLElement, one.getBoundingClientRect()];
          const outer = box.getBoundingClientRect();
          return {
            lines: words.clientHeight / parseFloat(getComputedStyle(words).lineHeight),
            stray: inner.bottom > outer.bottom + 1 || inner.top < outer.top - 1,
            scrolls: words.scrollHeight > words.clientHeight && getComputedStyle(words).overflowY === "auto",
          };
        });
      expect(await look()).toEqual({ lines: 3, stray: false, scrolls: false });
      await toast.getByText("1 of 2").waitFor();
      expect(await page.locator(".toasts").evaluate((box) => box.scrollHeight - box.clientHeight)).toBe(0);
      expect(await places()).toEqual(before);
      await toast.getByRole("button", { name: "More" }).click();
      await toast.getByRole("button", { name: "Less" }).waitFor();
      expect(await look()).toMatchObject({ stray: false });
      expect(await places()).toEqual(before);
    }));
}

test("a device that may not do everything is offered nothing that is refused to it, and not told that it is asked", () =>
  at("#/s/s1", {}, async ({ page }) => {
    const diff = page.locator("#side").getByRole("button", { name: "Diff and undo" });
    await diff.waitFor();
    for (const [role, words] of [
      ["approver", "2 wait for you"],
      ["observer", "2 wait for an answer"],
    ] as const) {
      await change(page, (demo, role) => void (demo.role.value = role), role);
      await page.locator(".pill").getByText(words).waitFor();
      expect(await page.locator("#fleet h2").first().innerText()).toBe(
        role === "observer" ? "Waiting for an answer · 2" : "Waiting for you · 2",
      );
      expect(await diff.count()).toBe(0);
      await page.keyboard.press("Control+k");
      await page.keyboard.type("timeline");
      await page.getByRole("option", { name: /took how long/ }).waitFor();
      await page.getByRole("combobox").fill("changed in files");
      await page.getByText("No match.").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
  }));

test("diffs stand side by side where there is room, and it is said where there is none", () =>
  at("#/s/s1", {}, async ({ page, errors }) => {
    await page.locator("#transcript .diff").first().waitFor();
    await page.locator("#transcript").focus();
    await page.keyboard.press("d");
    await page.locator(".toast").getByText("no room for two sides here").waitFor();
    expect(await page.locator(".diff.split").count()).toBe(0);
    await page.locator("#side").getByRole("button", { name: "Diff and undo" }).click();
    const diff = page.getByRole("dialog", { name: "Changes" });
    await diff.locator(".diff.split").waitFor();
    // Nothing was ever taken back.
    expect(await diff.getByRole("button", { name: "Redo" }).isDisabled()).toBe(true);
    const both = diff.getByRole("button", { name: "Side by side" });
    await both.click();
    await diff.locator(".diff:not(.split)").waitFor();
    await page.keyboard.press("d");
    await diff.locator(".diff.split").waitFor();
    // A file without a line has nothing to stand anywhere.
    await change(page, (demo) => void (demo.files.value = "diff a/acc1 b/acc1\nnew file mode 100644\n"), undefined);
    await diff.getByLabel("Since").selectOption("start");
    await diff.locator(".diff", { hasText: "acc1" }).getByText("new, empty").first().waitFor();
    expect(await diff.innerText()).not.toContain("file mode");
    expect(errors).toEqual([]);
  }));

test("the first words are said on the screen of all sessions: none is made before, and they go to the new one", () =>
  at("#/", {}, async ({ page }) => {
    const field = page.getByRole("textbox", { name: "What a new session is to do" });
    const folder = page.locator("#first-folder");
    const begun = (): Promise<unknown[]> =>
      page.evaluate(() => (globalThis as never as { parlorDemo: { begun: unknown[] } }).parlorDemo.begun);
    // It begins where `parlor web` was run last, with the usual model, unless the person says otherwise.
    await expect.poll(() => folder.inputValue(), { timeout: WAIT }).toBe("/home/ada/parlor-two");
    await page.getByRole("button", { name: "New session" }).click();
    await page.getByRole("heading", { name: "New session" }).waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.id), { timeout: WAIT }).toBe("first");
    await page.keyboard.type("Mend the tests");
    expect([await sent(page), await begun()]).toEqual([[], []]);
    await folder.fill("no whole path");
    await field.press("Enter");
    expect(await begun()).toEqual([]);
    // Completed as in a shell: Tab goes on to the next part, Enter takes what is chosen.
    await folder.fill("/home/ada/se");
    await page.getByRole("option", { name: "/home/ada/server" }).waitFor();
    await folder.press("Tab");
    expect(await folder.inputValue()).toBe("/home/ada/server/");
    await folder.fill("/home/ada/par");
    await page.getByRole("option", { name: "/home/ada/parlor-two" }).waitFor();
    await folder.press("ArrowUp");
    await folder.press("Enter");
    expect(await folder.inputValue()).toBe("/home/ada/parlor-two");
    await folder.fill("/home/ada/server");
    await page.getByLabel(/^Model/).selectOption("anthropic/claude");
    await field.press("Enter");
    await expect
      .poll(begun, { timeout: WAIT })
      .toEqual([{ words: "Mend the tests", cwd: "/home/ada/server", model: "anthropic/claude" }]);
    await expect
      .poll(() => sent(page), { timeout: WAIT })
      .toEqual([{ prompt: { input: { text: "Mend the tests" }, options: { when_busy: "queue" } } }]);
    // Reached again by its address alone, nothing is begun.
    await page.goto(`${page.url().split("#")[0]}#/begin/1`);
    await page.getByRole("heading", { name: "New session" }).waitFor();
    expect((await begun()).length).toBe(1);
    await page.goto(`${page.url().split("#")[0]}#/`);
    // It was said: the field is free for another one, and the folder is kept.
    await field.waitFor();
    expect([await field.inputValue(), await page.locator("#first-folder").inputValue()]).toEqual([
      "",
      "/home/ada/server",
    ]);
    // Another program's agent stands beside Parlor, and has a model of its own.
    await page.getByLabel(/^Agent/).selectOption("codex");
    expect(await page.getByLabel(/^Model/).count()).toBe(0);
    await field.fill("Mend them again");
    await field.press("Enter");
    await expect
      .poll(async () => (await begun())[1], { timeout: WAIT })
      .toEqual({
        words: "Mend them again",
        cwd: "/home/ada/server",
        agent: "codex",
      });
  }));

for (const viewport of [
  { width: 1440, height: 900 },
  { width: 390, height: 664 },
  { width: 375, height: 667 },
])
  test(`what was said in any session is found while one types, and leads to the word: ${viewport.width}×${viewport.height}`, () =>
    at("#/", { viewport }, async ({ page, errors }) => {
      await change(page, (demo) => demo.poke((state) => void (state.asks = [])), undefined);
      await page.getByRole("button", { name: "Go to…" }).filter({ visible: true }).click();
      await page.keyboard.type("hangs");
      const hit = page.getByRole("option", { name: /said in.*Fix the failing bridge.*The bridge test hangs/ });
      await hit.waitFor();
      await page.getByRole("status").getByText("1 session says it").waitFor({ state: "attached" });
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => url.hash === "#/s/s1");
      await page.getByText(/^\d of \d/).waitFor();
      expect(await page.getByRole("searchbox").inputValue()).toBe("hangs");
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Go to…" }).filter({ visible: true }).click();
      await page.keyboard.type("zzzz-not-there");
      await page.getByText("No match.").waitFor();
      expect(errors).toEqual([]);
    }));

test("who wants it is told of a question while nobody looks, without a sound, and a click opens it", () =>
  at("#/", { permissions: ["notifications"] }, async ({ page }) => {
    await page.evaluate(() => {
      const told: unknown[] = [];
      class Told {
        static requestPermission = async (): Promise<string> => "granted";
        onclick: (() => void) | undefined;
        constructor(title: string, options: object) {
          told.push([title, options]);
          setTimeout(() => this.onclick?.());
        }
        close(): void {}
      }
      Object.assign(globalThis, { Notification: Told, told });
      Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
    });
    const told = (): Promise<unknown> => page.evaluate(() => (globalThis as never as { told: unknown }).told);
    const asks = (question: string): Promise<void> =>
      change(
        page,
        ({ rows }, question) =>
          void (rows.value = rows.value.map((row) =>
            row.key === "s3" ? { ...row, status: "waiting" as const, question } : row,
          )),
        question,
      );
    await asks("before it was wanted");
    expect(await told()).toEqual([]);
    await page.getByRole("button", { name: "Notifications: off" }).click();
    await page.getByRole("button", { name: "Notifications: on, without sound" }).waitFor();
    await asks("run: rm x");
    await expect
      .poll(told, { timeout: WAIT })
      .toEqual([["Write docs for the page", { body: "Question: run: rm x", tag: "s3", silent: true }]]);
    await page.waitForURL((url) => url.hash === "#/s/s3");
  }));
