// A model that is gone, and a device that was taken off the list.

import { expect, test } from "vitest";
import { begin, LONG, ownHouse, say, WAIT } from "./house";

const home = ownHouse();

test("a run that failed says why once; a device that was taken off shows nothing of the session", LONG, async () => {
  const { page, context, trouble } = await home.house.visitor();
  await begin(page);
  home.model.stop();
  await say(page, "where is everybody?");
  await page
    .locator(".failed-run")
    .getByText(/no connection/)
    .waitFor();
  expect((await page.locator("#transcript").innerText()).match(/no connection/g)?.length).toBe(1);
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await expect.poll(() => page.title(), { timeout: WAIT }).toContain("where is everybody?");

  for (const { id } of JSON.parse(await home.house.parlor("devices", "--json")).devices as { id: string }[])
    await home.house.parlor("devices", "revoke", id);
  await page.getByText("This device was revoked").waitFor();
  await expect.poll(() => page.title(), { timeout: WAIT }).toBe("Parlor");
  expect(await page.locator("#app").innerText()).not.toContain("everybody");
  expect(trouble).toEqual([]);
  await context.close();
});
