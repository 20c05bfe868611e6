// The fleet and the frame in a real browser, with a canned world.

import { expect, test } from "vitest";
import type { FleetRow } from "../src/view/ports";
import { change, ownWorld, WAIT } from "./demo/look";

const at = ownWorld();

test("rows stay where they are under the pointer, under headings that are true; leaving draws the list as it is", () =>
  at("#/", {}, async ({ page, errors }) => {
    const headings = (): Promise<string[]> => page.locator("#fleet section").evaluateAll((all) => all.map((one) => `${one.querySelector("h2")?.textContent}: ${[...one.querySelectorAll("a")].map((row) => row.getAttribute("href")?.slice(-2)).join(" ")}`));
    const is = (key: string, status: FleetRow["status"]): Promise<void> =>
      change(page, ({ rows }, { key, status }) => void (rows.value = rows.value.map((row) => (row.key === key ? { ...row, status } : row))), { key, status });
    // All of this moment: the test may run at midnight.
    await change(page, ({ rows }) => void (rows.value = rows.value.map((row, at) => ({ ...row, since: Date.now() - at }))), undefined);
    await expect.poll(headings, { timeout: WAIT }).toEqual(["Waiting for you · 2: s2 s1", "Running · 2: s3 s4", "Today · 2: s5 s6"]);
    const done = page.locator('a.fleet-row[href="#/s/s5"]');
    await done.hover();
    const place = await done.boundingBox();
    await is("s6", "waiting");
    await is("s1", "done");
    await page.locator(".elsewhere-waits").getByText("2 wait for you").waitFor();
    await expect.poll(headings, { timeout: WAIT }).toEqual(["Waiting for you · 1, today · 1: s2 s1", "Running · 2: s3 s4", "Waiting for you · 1, today · 1: s5 s6"]);
    expect(await done.boundingBox()).toEqual(place);
    // The click leaves the focus behind in the list; the pointer goes, and nothing else happens.
    await done.click();
    await page.mouse.move(800, 400);
    await expect.poll(headings, { timeout: 3000 }).toEqual(["Waiting for you · 2: s6 s2", "Running · 2: s3 s4", "Today · 2: s1 s5"]);
    expect(await page.locator(".elsewhere-waits").innerText()).toBe("");
    // Keys hold it for a moment; the focus stays on its row when that goes elsewhere.
    await page.locator('a.fleet-row[href="#/s/s3"]').focus();
    await is("s3", "done");
    await page.locator("#fleet h2").getByText("Running · 1, today · 1").waitFor();
    await page.locator("#fleet h2").getByText("Running · 1", { exact: true }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute("href"))).toBe("#/s/s3");
    expect(errors).toEqual([]);
  }));
