// A session is begun in the folder that was meant, on the built program.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { begin, ended, LONG, ownHouse, WAIT } from "./house";
import { pair, web } from "./pairing";

const home = ownHouse();

test("where nothing is set a project's session works inside it, and says so", LONG, async () => {
  rmSync(join(home.house.place, "config", "config.toml"));
  const { page, trouble } = await home.house.visitor();
  await begin(page);
  await page.getByText("It works inside this project, and asks before anything leaves it.").waitFor();
  expect(trouble).toEqual([]);
});

/** Opens the screen on which a session is begun. */
async function fresh(page: Page): Promise<{ words: Locator; folder: Locator }> {
  await page.locator("#fleet > footer").getByRole("button", { name: "New session" }).click();
  await page.getByRole("heading", { name: "New session" }).waitFor();
  return { words: page.locator("#first"), folder: page.locator("#first-folder") };
}

/** Sessions that some process has open. */
const open = async (): Promise<{ cwd: string; model?: unknown }[]> =>
  JSON.parse(await home.house.parlor("ps", "--json")).flatMap((one: { sessions: unknown[] }) => one.sessions);

test(
  "a session begins where `parlor web` was run last, with its first words and no process before them",
  LONG,
  async () => {
    const { page, trouble } = await home.house.visitor();
    const folder = join(home.house.place, "a project & more");
    mkdirSync(folder);
    let { words, folder: field } = await fresh(page);
    await expect.poll(() => field.inputValue(), { timeout: WAIT }).toBe(home.house.project);
    await page.getByLabel(/^Model/).waitFor();
    expect(
      await page
        .getByLabel(/^Model/)
        .locator("option")
        .allInnerTexts(),
    ).toContain("vllm/scripted");
    const before = (await open()).length;
    // Typed in part and completed from what is on the machine.
    await field.fill(join(home.house.place, "a p"));
    await page.getByRole("option", { name: folder }).click();
    await words.fill("begin here");
    expect((await open()).length).toBe(before);
    await page.getByRole("button", { name: "Begin" }).click();
    (await home.model.turn()).say("begun").end();
    await page.waitForURL(/#\/s\/sess-/);
    await page.locator("#transcript").getByText("begun").waitFor();
    await page.locator("#side").getByText(folder).waitFor();
    expect((await open()).length).toBe(before + 1);
    // Beside it, one more is begun in the same folder.
    ({ words, folder: field } = await fresh(page));
    expect(await field.inputValue()).toBe(folder);
    // Another `parlor web`, in that folder: sessions of the page begin there from now on.
    const shell = await web(home.house.program, { cwd: folder, env: home.house.environment });
    const other = await home.house.browser.newContext();
    const second = await other.newPage();
    second.setDefaultTimeout(WAIT);
    await pair(shell, second);
    await shell.ended;
    await expect.poll(() => second.locator("#first-folder").inputValue(), { timeout: WAIT }).toBe(folder);
    await other.close();
    expect(trouble).toEqual([]);
  },
);

test(
  "a folder that is not there is told beside the field, with what was written; nothing is left behind",
  LONG,
  async () => {
    const { page, trouble } = await home.house.visitor();
    const folder = join(home.house.place, "not there");
    const { words, folder: field } = await fresh(page);
    const before = (await open()).length;
    await words.fill("begin there");
    for (const wrong of [folder, `${folder}/deeper`]) {
      await field.fill(wrong);
      await page.getByRole("button", { name: "Begin" }).click();
      await page.getByRole("alert").getByText(`${wrong} is not a folder to work in`).waitFor();
      expect([await field.inputValue(), await words.inputValue()]).toEqual([wrong, "begin there"]);
      await page.locator("#first-folder:focus").waitFor();
      expect(await page.locator("#main").innerText()).not.toContain("`");
      expect(await page.locator("#composer").count()).toBe(0);
    }
    expect((await open()).length).toBe(before);
    mkdirSync(`${folder}/deeper`, { recursive: true });
    await page.getByRole("button", { name: "Begin" }).click();
    (await home.model.turn()).say("begun there").end();
    await page.locator("#transcript").getByText("begun there").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(trouble).toEqual([]);
  },
);

test("what was said in a session that is over is found from Go to… while one types", LONG, async () => {
  const { page, trouble } = await home.house.visitor();
  const { words } = await fresh(page);
  await words.fill("what is a capybara");
  await words.press("Enter");
  (await home.model.turn())
    .say(`${"Some words.\n\n".repeat(40)}A rodent of the wetlands.\n\n${"More words.\n\n".repeat(40)}`)
    .end();
  await page.waitForURL(/#\/s\/sess-/);
  await ended(page);
  await page.getByRole("link", { name: "Parlor" }).click();
  await page.getByRole("button", { name: "Go to…" }).click();
  await page.keyboard.type("wetl");
  await page.getByRole("option", { name: /said in.*capybara.*A rodent of the wetlands/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("1 of 1").waitFor();
  await expect.poll(() => page.evaluate(() => CSS.highlights.get("found-now")?.size), { timeout: WAIT }).toBe(1);
  expect(trouble).toEqual([]);
});
