// Two browsers and a terminal on one session.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { begin, ended, LONG, ownHouse, say, type Visitor, WAIT } from "./house";
import { Terminal } from "./terminal";

const home = ownHouse();

/** What the page's own state hashes to: it tells when it comes back after a loss. */
async function hashOf({ sockets }: Visitor): Promise<{ seq: number; hash: string }> {
  const before = sockets.length;
  for (const socket of sockets) socket.cut();
  const cursors = (): { seq: number; hash: string }[] =>
    sockets
      .slice(before)
      .flatMap((socket) => socket.sent)
      .map((line) => JSON.parse(line)?.hello?.cursor)
      .filter(Boolean);
  await expect.poll(() => cursors().length, { timeout: WAIT }).toBeGreaterThan(0);
  const { seq, hash } = cursors()[0] as { seq: number; hash: string };
  return { seq, hash };
}

test("two browsers and a terminal hold one conversation, and hold the same", LONG, async () => {
  const desk = await home.house.visitor();
  const phone = await home.house.visitor({ viewport: { width: 390, height: 844 }, hasTouch: true });
  const session = await begin(desk.page);
  await phone.page.goto(`${phone.page.url().split("#")[0]}#/s/${session}`);
  const terminal = await Terminal.on(home.house, session);
  try {
    await say(desk.page, "from the desk");
    (await home.model.turn()).say("heard the **desk**").end();
    for (const { page } of [desk, phone]) await page.locator("#transcript").getByText("heard the desk").waitFor();
    await terminal.shows("heard the desk");
    await ended(phone.page);

    terminal.types("from the terminal");
    (await home.model.turn()).say("heard the terminal").end();
    for (const { page } of [desk, phone]) {
      await page.locator("#transcript").getByText("from the terminal").waitFor();
      await page.locator("#transcript").getByText("heard the terminal").waitFor();
      await ended(page);
    }

    // A question is everybody's until somebody answers it.
    await phone.page.locator("#composer").fill("from the phone");
    await phone.page.getByRole("button", { name: "Send", exact: true }).tap();
    (await home.model.turn()).call("write", { path: "one.txt", content: "1" }).end();
    for (const { page } of [desk, phone]) await page.locator("#ask").waitFor();
    await terminal.shows("one.txt");
    expect(existsSync(join(home.house.project, "one.txt"))).toBe(false);
    await phone.page.getByRole("button", { name: /Allow once/ }).tap();
    await desk.page.locator("#ask").waitFor({ state: "detached" });
    (await home.model.turn()).call("write", { path: "two.txt", content: "2" }).end();

    for (const { page } of [desk, phone]) await page.locator("#ask").getByText("two.txt").first().waitFor();
    await terminal.shows("two.txt");
    await terminal.shows('Answer "yes" for this once');
    await terminal.answers(
      "no because one is enough",
      Promise.all([desk, phone].map(({ page }) => page.locator("#ask").waitFor({ state: "detached" }))),
    );
    (await home.model.turn()).say("so be it").end();
    for (const { page } of [desk, phone]) {
      await page.locator("#transcript").getByText("so be it").waitFor();
      await ended(page);
    }
    expect(existsSync(join(home.house.project, "one.txt"))).toBe(true);
    expect(existsSync(join(home.house.project, "two.txt"))).toBe(false);

    const there = await terminal.hash(session);
    expect(await hashOf(desk)).toEqual(there);
    expect(await hashOf(phone)).toEqual(there);
    expect([...desk.trouble, ...phone.trouble]).toEqual([]);
  } finally {
    await terminal.close();
  }
});
