// A session is begun in the folder that was meant, on the built program.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { begin, LONG, ownHouse } from "./house";

const home = ownHouse();

test("where nothing is set a project's session works inside it, and says so", LONG, async () => {
  rmSync(join(home.house.place, "config", "config.toml"));
  const { page, trouble } = await home.house.visitor();
  await begin(page);
  await page.getByText("It works inside this project, and asks before anything leaves it.").waitFor();
  expect(trouble).toEqual([]);
});

test("a folder is typed once and offered from then on", LONG, async () => {
  const { page, trouble } = await home.house.visitor();
  const folder = join(home.house.place, "a project & more");
  mkdirSync(folder);
  const first = await begin(page);
  await page.getByLabel("Another folder, with its whole path").fill(folder);
  await page.getByRole("button", { name: "Begin there" }).click();
  await page.getByText(`Say what you want done in ${folder}.`).waitFor();
  const second = decodeURIComponent(page.url().split("#/s/")[1] ?? "");
  expect(second).not.toBe(first);
  // Beside it, one more is begun in the same folder.
  await page.locator("#fleet > footer").getByRole("button", { name: "New session" }).click();
  await page.waitForURL((url) => url.hash.startsWith("#/s/sess-") && !url.hash.includes(second));
  await page.getByText(`Say what you want done in ${folder}.`).waitFor();
  // From elsewhere it is offered.
  await page.goto(`${page.url().split("#")[0]}#/s/${first}`);
  await page.getByRole("button", { name: folder }).click();
  await page.getByText(`Say what you want done in ${folder}.`).waitFor();
  expect(trouble).toEqual([]);
});

test("a folder that is not there is told beside the field, which stays; nothing is left behind", LONG, async () => {
  const { page, trouble } = await home.house.visitor();
  const folder = join(home.house.place, "not there");
  const field = page.getByLabel("Another folder, with its whole path");
  await begin(page);
  const rows = async (): Promise<number> =>
    JSON.parse(await home.house.parlor("ps", "--json")).flatMap((one: { sessions: unknown[] }) => one.sessions).length;
  const before = await rows();
  for (const wrong of [folder, `${folder}/deeper`]) {
    await field.fill(wrong);
    await page.getByRole("button", { name: "Begin there" }).click();
    await page.getByRole("alert").getByText(`${wrong} is no directory to work in`).waitFor();
    expect(await field.inputValue()).toBe(wrong);
    await page.locator("input[name=folder]:focus").waitFor();
    expect(await page.locator("#main").innerText()).not.toContain("`");
    expect(await page.locator("#side button").count()).toBe(0);
    expect(await page.locator("#composer").count()).toBe(0);
  }
  expect(await rows()).toBe(before);
  mkdirSync(folder);
  await field.fill(folder);
  await page.getByRole("button", { name: "Begin there" }).click();
  await page.getByText(`Say what you want done in ${folder}.`).waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  expect(trouble).toEqual([]);
});
