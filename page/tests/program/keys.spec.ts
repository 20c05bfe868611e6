// Without a mouse: a conversation by keyboard alone; and what is being written: drafts, files by paste and by drop.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { begin, ended, LONG, ownHouse, say, WAIT } from "./house";

/** A picture of one point. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const home = ownHouse();

/** Goes round the regions until the focus is in this one. */
async function region(page: Page, id: string): Promise<void> {
  for (let at = 0; at < 8; at += 1) {
    if (await page.evaluate((id) => document.getElementById(id)?.contains(document.activeElement) ?? false, id)) return;
    await page.keyboard.press("F6");
  }
  throw new Error(`F6 does not lead to ${id}`);
}

/** Presses a key of a question until it counts: not right after somebody has typed. */
async function answers(page: Page, key: string): Promise<void> {
  await expect
    .poll(
      async () => {
        // Once it was given, the focus goes to the composer, and a letter would stand there.
        if ((await page.locator("#ask footer .primary:enabled").count()) > 0) await page.keyboard.press(key);
        return page.locator("#ask footer .primary").count();
      },
      { timeout: WAIT },
    )
    .toBe(0);
}

test("a whole conversation by keyboard alone", LONG, async () => {
  const { page, context, trouble } = await home.house.visitor();
  // No pointer is used in this test.
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Go to", exact: true }).waitFor();
  await page.keyboard.type("empty session");
  await page.keyboard.press("Enter");
  await page.waitForURL(/#\/s\/sess-/);
  await region(page, "composer");
  await page.keyboard.type("write one");
  await page.keyboard.press("Enter");
  (await home.model.turn()).call("write", { path: "one.txt", content: "1" }).end();
  await page.locator("#ask").waitFor();
  await region(page, "ask");
  await answers(page, "y");
  const second = await home.model.turn();
  expect(existsSync(join(home.house.project, "one.txt"))).toBe(true);
  second.call("write", { path: "two.txt", content: "2" }).end();
  await page.locator("#ask").getByText("two.txt").first().waitFor();
  await region(page, "ask");
  await expect
    .poll(
      async () => {
        if ((await page.locator("#reason").count()) === 0) await page.keyboard.press("r");
        return page.locator("#reason").count();
      },
      { timeout: WAIT },
    )
    .toBe(1);
  await page.keyboard.type("one is yes enough");
  await page.keyboard.press("Enter");
  const third = await home.model.turn();
  expect(third.told).toContain("one is yes enough");
  expect(existsSync(join(home.house.project, "two.txt"))).toBe(false);
  third.say("as you say").end();
  await page.locator("#transcript").getByText("as you say").waitFor();
  await ended(page);

  // To the fleet and back.
  await region(page, "transcript");
  await page.keyboard.press("g");
  await page.keyboard.press("f");
  await page.waitForURL(/#\/$/);
  // The address changes before the screen does.
  await page.locator("#transcript").waitFor({ state: "detached" });
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/#\/s\/sess-/);
  await page.locator("#transcript").getByText("as you say").waitFor();

  // The last prompt again, changed; then the run is stopped.
  await region(page, "composer");
  await page.keyboard.press("ArrowUp");
  await expect.poll(() => page.locator("#composer").inputValue(), { timeout: WAIT }).toBe("write one");
  await page.keyboard.type(" more");
  await page.keyboard.press("Enter");
  const fourth = await home.model.turn();
  expect(fourth.told).toContain("write one more");
  fourth.say("on my way");
  await page.locator("#transcript").getByText("on my way").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await fourth.dropped;
  await page
    .locator("#transcript")
    .getByText(/Stopped after/)
    .waitFor();

  // Everything that can be pressed can be reached: Tab goes through the page and comes back.
  const reached = new Set<string>();
  for (let at = 0; at < 120; at += 1) {
    await page.keyboard.press("Tab");
    const where = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return "";
      const outline = getComputedStyle(element);
      return `${outline.outlineStyle !== "none" || element.id === "composer" ? "" : "unseen "}${element.closest("[id]")?.id}`;
    });
    reached.add(where);
  }
  expect([...reached].filter((place) => place.startsWith("unseen"))).toEqual([]);
  for (const id of ["fleet", "transcript", "composer", "side"]) expect([...reached]).toContain(id);
  expect(trouble).toEqual([]);
  await context.close();
});

/** What is kept of drafts in the browser. */
async function keptDrafts(page: Page): Promise<string> {
  return page.evaluate(
    () =>
      new Promise<string>((done, lost) => {
        const opening = indexedDB.open("parlor");
        opening.onerror = () => lost(opening.error);
        opening.onsuccess = () => {
          const database = opening.result;
          const all = database.transaction("drafts").objectStore("drafts").getAll();
          all.onsuccess = () => {
            database.close();
            done(JSON.stringify(all.result));
          };
        };
      }),
  );
}

/** Files as the clipboard or the pointer brings them. */
async function given(page: Page, how: "paste" | "drop", name: string, type: string, base64: string): Promise<void> {
  await page.evaluate(
    ([how, name, type, base64]) => {
      const bytes = Uint8Array.from(atob(base64 ?? ""), (character) => character.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], name ?? "", { type: type ?? "" }));
      const event =
        how === "paste"
          ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
          : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
      document.getElementById("composer")?.dispatchEvent(event);
    },
    [how, name, type, base64],
  );
}

test("a draft with its files outlives a reload, and goes out whole", LONG, async () => {
  const { page, context, trouble } = await home.house.visitor();
  await begin(page);
  await page.locator("#composer").fill("half a thought");
  await given(page, "paste", "shot.png", "image/png", PNG);
  await given(page, "drop", "notes.txt", "text/plain", Buffer.from("what I noted").toString("base64"));
  const chips = page.locator(".composer .chip");
  await expect.poll(() => chips.count(), { timeout: WAIT }).toBe(2);
  // What is neither text nor a picture is refused in words, and so is a drawing that could run something.
  await given(page, "drop", "blob.bin", "application/octet-stream", "AAEC");
  await page.getByText(/blob\.bin is no text and no picture/).waitFor();
  await expect.poll(() => keptDrafts(page), { timeout: WAIT }).toContain("what I noted");
  await expect.poll(() => keptDrafts(page), { timeout: WAIT }).toContain("half a thought");
  await page.reload();
  await expect.poll(() => page.locator("#composer").inputValue(), { timeout: WAIT }).toBe("half a thought");
  await expect.poll(() => chips.count(), { timeout: WAIT }).toBe(2);
  // It is writable once it is known who this is.
  await expect.poll(() => page.locator("#composer").isEnabled(), { timeout: WAIT }).toBe(true);
  await page.locator("#composer").press("Enter");
  const turn = await home.model.turn();
  expect(turn.told).toContain("half a thought");
  expect(turn.told).toContain("what I noted");
  expect(turn.told).toContain(PNG);
  turn.say("I see").end();
  await page.locator("#transcript .prompt img").waitFor();
  await ended(page);
  await expect.poll(() => keptDrafts(page), { timeout: WAIT }).not.toContain("half a thought");
  // Another session has a draft of its own.
  await page.locator("#composer").fill("for the first");
  await expect.poll(() => keptDrafts(page), { timeout: WAIT }).toContain("for the first");
  await begin(page);
  expect(await page.locator("#composer").inputValue()).toBe("");
  await page.goBack();
  await expect.poll(() => page.locator("#composer").inputValue(), { timeout: WAIT }).toBe("for the first");
  await say(page, "done");
  (await home.model.turn()).say("bye").end();
  await ended(page);
  expect(trouble).toEqual([]);
  await context.close();
});

test("a draft of this moment outlives a reload, and no older one comes back", LONG, async () => {
  const { page, context, trouble } = await home.house.visitor();
  await begin(page);
  const composer = page.locator("#composer");
  const after = (): Promise<void> =>
    expect.poll(() => composer.inputValue(), { timeout: WAIT }).toBe("first and second") as Promise<void>;
  await composer.fill("first");
  await expect.poll(() => keptDrafts(page), { timeout: WAIT }).toContain("first");
  // Typed and gone, without the pause after which it is kept.
  await composer.pressSequentially(" and second");
  await page.reload();
  await after();
  // And what was deleted in the last moment stays deleted.
  await composer.fill("");
  await page.reload();
  await page.locator("#transcript").waitFor();
  await expect.poll(() => composer.isEnabled(), { timeout: WAIT }).toBe(true);
  await expect.poll(() => keptDrafts(page), { timeout: WAIT }).not.toContain("first");
  expect(await composer.inputValue()).toBe("");
  expect(trouble).toEqual([]);
  await context.close();
});

test("a command that nobody knows is refused and stays in the field; with two slashes it is said", LONG, async () => {
  const { page, context, trouble } = await home.house.visitor();
  await begin(page);
  const composer = page.locator("#composer");
  await say(page, "/frobnicate now");
  await page.getByText(/There is no command \/frobnicate/).waitFor();
  expect(await composer.inputValue()).toBe("/frobnicate now");
  await say(page, "/login");
  await page.getByText(/command of the terminal/).waitFor();
  await say(page, "//frobnicate now");
  const turn = await home.model.turn();
  expect(turn.told).toContain("//frobnicate now");
  turn.say("as you say").end();
  await ended(page);
  // Nothing else has reached the model.
  await expect.poll(() => page.locator("#transcript .prompt").count(), { timeout: WAIT }).toBe(1);
  expect(trouble).toEqual([]);
  await context.close();
});
