// A run under way: steered, followed up, stopped, and watched over a connection that breaks.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { begin, ended, LONG, ownHouse, say, WAIT } from "./house";

const home = ownHouse();

test("a run is steered, followed up, and stopped", LONG, async () => {
  const { page, context, trouble } = await home.house.visitor();
  await begin(page);
  await say(page, "begin");
  const first = await home.model.turn();
  first.say("working on it");
  await page.locator("#transcript").getByText("working on it").waitFor();

  const queue = page.getByRole("list", { name: "Waiting inputs" });
  // Parlor has it: before that it stands there as being sent.
  const queued = (words: RegExp): Locator => queue.getByRole("listitem").filter({ hasText: words });
  await say(page, "look left");
  await queued(/^Steer.*look left/).waitFor();
  await page.locator("#composer").fill("then tidy up");
  await page.locator("#composer").press("Alt+Enter");
  await queued(/^Next.*then tidy up/).waitFor();
  await page.locator("#composer").fill("never mind");
  await page.locator("#composer").press("Alt+Enter");
  const third = queued(/^Next.*never mind/);
  await third.getByRole("button", { name: "Discard" }).click();
  await third.waitFor({ state: "detached" });
  first.end();

  // The steer goes to the run that is under way, the follow-up comes after it, what was taken back never.
  const steered = await home.model.turn();
  expect(steered.told).toContain("look left");
  expect(steered.told).not.toContain("then tidy up");
  await page.locator("#transcript").getByText("You, steering").waitFor();
  steered.say("went left").end();
  const followed = await home.model.turn();
  expect(followed.told).toContain("then tidy up");
  expect(followed.told).not.toContain("never mind");
  await page.locator("#transcript").getByText("You, queued").waitFor();
  followed.say("tidying");
  await page.locator("#transcript").getByText("tidying").waitFor();
  await queue.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await followed.dropped;
  await page
    .locator("#transcript")
    .getByText(/^■?Stopped after/)
    .waitFor();
  await ended(page);
  // What was said until then stays, and the session goes on.
  await page.locator("#transcript").getByText("tidying").waitFor();
  await say(page, "once more");
  (await home.model.turn()).say("here again").end();
  await page.locator("#transcript").getByText("here again").waitFor();
  await ended(page);
  expect(trouble).toEqual([]);
  await context.close();
});

test("a connection that breaks in the middle of a message costs no word and doubles none", LONG, async () => {
  const { page, context, sockets, reach, trouble } = await home.house.visitor();
  await begin(page);
  await say(page, "count");
  const turn = await home.model.turn();
  const words = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, at) => `word${from + at} `).join("");
  turn.say(words(0, 50));
  await page.locator("#transcript").getByText("word49").waitFor();
  for (const socket of sockets) socket.cut();
  turn.say(words(50, 100));
  await page.locator("#transcript").getByText("word99").waitFor();
  // What is written meanwhile is kept and sent once, although the run that it was for has ended.
  reach.down = true;
  for (const socket of sockets) socket.cut();
  await expect.poll(() => reach.tried, { timeout: WAIT }).toBeGreaterThan(1);
  await say(page, "and then");
  await page.getByRole("list", { name: "Waiting inputs" }).getByText("and then").waitFor();
  turn.say(words(100, 150)).end();
  await expect
    .poll(
      async () =>
        JSON.parse(await home.house.parlor("ps", "--json"))
          .flatMap((one: { sessions: { running: boolean }[] }) => one.sessions)
          .some((one: { running: boolean }) => one.running),
      { timeout: WAIT },
    )
    .toBe(false);
  reach.down = false;
  const next = await home.model.turn();
  expect(next.told.split("and then").length).toBe(2);
  next.say("all of it").end();
  await page.locator("#transcript").getByText("all of it").waitFor();
  await ended(page);
  expect((await page.locator("#transcript .words").first().textContent())?.trim()).toBe(words(0, 150).trim());
  const sessions = sockets.filter((socket) => socket.sent.some((line) => line.startsWith('{"hello"')));
  expect(sessions.length).toBe(3);
  // It comes back with what it has: all of it is told again only where it has nothing.
  expect(
    sessions.slice(1).every((socket) => socket.sent.some((line) => JSON.parse(line).hello?.cursor !== undefined)),
  ).toBe(true);
  await expect.poll(() => page.locator("#transcript .prompt").count(), { timeout: WAIT }).toBe(2);
  expect(trouble).toEqual([]);
  await context.close();
});

test("the end of a run stands once, whatever is done after it", LONG, async () => {
  const { page, context, trouble } = await home.house.visitor();
  await begin(page);
  await say(page, "count slowly");
  const turn = await home.model.turn();
  turn.say("one, two");
  await page.locator("#transcript").getByText("one, two").waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await turn.dropped;
  await page
    .locator("#transcript")
    .getByText(/Stopped after/)
    .waitFor();
  await ended(page);
  for (const word of ["first", "second"]) {
    await say(page, `/run echo ${word}-command`);
    await page.locator("#transcript").getByText(`${word}-command`).first().waitFor();
  }
  await expect
    .poll(
      () =>
        page
          .locator("#transcript")
          .getByText(/Stopped after/)
          .count(),
      { timeout: WAIT },
    )
    .toBe(1);
  const rows = await page
    .locator("#transcript .entry")
    .evaluateAll((all) =>
      all
        .sort((a, b) => Number((a as HTMLElement).dataset.index) - Number((b as HTMLElement).dataset.index))
        .map((one) => one.textContent ?? ""),
    );
  expect(rows.findIndex((row) => row.includes("Stopped after"))).toBeLessThan(
    rows.findIndex((row) => row.includes("first-command")),
  );
  expect(trouble).toEqual([]);
  await context.close();
});

test("going back takes the files along where that is wanted, and brings the prompt back", LONG, async () => {
  const { page, context, trouble } = await home.house.visitor();
  await begin(page);
  for (const [files, name, there] of [
    ["words only", "stays.txt", true],
    ["words and files", "goes.txt", false],
  ] as const) {
    const file = join(home.house.project, name);
    await say(page, "write it");
    (await home.model.turn()).call("write", { path: name, content: files }).end();
    await page
      .locator("#ask")
      .getByRole("button", { name: /Allow once/ })
      .click();
    (await home.model.turn()).say("written").end();
    await ended(page);
    expect(existsSync(file)).toBe(true);
    await page.getByRole("button", { name: "Branches" }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^write it, on the current branch/ })
      .click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: `Go before it, ${files}` })
      .click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => page.locator("#composer").inputValue(), { timeout: WAIT }).toBe("write it");
    expect(existsSync(file)).toBe(there);
    await page.locator("#composer").fill("");
  }
  expect(trouble).toEqual([]);
  await context.close();
});
