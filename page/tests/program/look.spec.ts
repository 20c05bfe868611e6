// How it looks and feels on the real server: axe on every screen in both schemes, and a phone. With PARLOR_SHOTS
// pictures are kept there.

import { source } from "axe-core";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { begin, ended, LONG, ownHouse, say } from "./house";

const CODE =
  'I look at it.\n\n```rust\nfn main() { println!("hi"); }\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n1. one\n2. [two](https://fine.example/)\n\n> a quote with `code`';

const home = ownHouse();
beforeAll(async () => {
  writeFileSync(join(home.house.project, "main.rs"), "fn main() {}\n");
});

/** All rules, or only those about colours: the scheme changes nothing else. */
async function axe(page: Page, name: string, rules: "all" | "colours" = "all"): Promise<void> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(source);
  const found = await page.evaluate(
    (only) =>
      (window as unknown as { axe: typeof import("axe-core") }).axe.run({
        resultTypes: ["violations"],
        ...(only.length > 0 ? { runOnly: only } : {}),
      }),
    rules === "all" ? [] : ["color-contrast", "link-in-text-block"],
  );
  expect(
    found.violations.map(
      (one) => `${name}: ${one.id}: ${one.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`,
    ),
  ).toEqual([]);
}

async function shot(page: Page, name: string): Promise<void> {
  const folder = process.env.PARLOR_SHOTS;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** A session with every sort of row that waits with a question. */
async function asking(page: Page, path: string): Promise<void> {
  await say(page, "make it greet");
  const turn = await home.model.turn();
  turn
    .think("It has to say something.")
    .say(CODE)
    .call("read", { path: "main.rs" })
    .call("ls", { path: "." }, 1)
    .call("read", { path: "nothing.rs" }, 2)
    .end();
  (await home.model.turn()).call("write", { path, content: 'fn main() {\n    println!("hi");\n}\n' }).end();
  await page.locator("#ask").waitFor();
}

for (const scheme of ["light", "dark"] as const) {
  test(`axe finds nothing on any screen, ${scheme}`, LONG, async () => {
    const { page, context, trouble } = await home.house.visitor({ colorScheme: scheme, reducedMotion: "reduce" });
    const rules = scheme === "light" ? "all" : "colours";
    await axe(page, "empty fleet", rules);
    await begin(page);
    await axe(page, "new session", rules);
    await asking(page, `${scheme}.rs`);
    await axe(page, "question", rules);
    await shot(page, `desk-${scheme}-question`);
    await page.getByRole("button", { name: "Deny with reason" }).click();
    await axe(page, "reason", rules);
    await page.getByRole("button", { name: "Back" }).click();
    await page.getByRole("button", { name: /Allow once/ }).click();
    (await home.model.turn()).say("It greets now.").end();
    await ended(page);
    await axe(page, "session", rules);
    await shot(page, `desk-${scheme}-session`);
    for (const name of ["Settings", "Branches", "Timeline", "Diff and undo"]) {
      await page.locator("#side").getByRole("button", { name, exact: true }).click();
      await page.getByRole("dialog").waitFor();
      await axe(page, name, rules);
      await shot(page, `desk-${scheme}-${name.split(" ")[0]?.toLowerCase()}`);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Go to", exact: true }).waitFor();
    await axe(page, "palette", rules);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Parlor" }).click();
    await page.locator("a.fleet-row").first().waitFor();
    await axe(page, "fleet", rules);
    await shot(page, `desk-${scheme}-fleet`);
    expect(trouble).toEqual([]);
    await context.close();
  });
}

/** Nothing stands beyond the edge of a phone, and nothing scrolls sideways but what has a bar of its own. */
async function fits(page: Page): Promise<void> {
  const beyond = await page.evaluate(() => {
    const inside = (element: Element): boolean => {
      for (let up = element.parentElement; up; up = up.parentElement)
        if (getComputedStyle(up).overflowX !== "visible" && up !== document.body && up !== document.documentElement)
          return true;
      return false;
    };
    return [...document.querySelectorAll("#app *")]
      .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !inside(element))
      .map((element) => element.outerHTML.slice(0, 100));
  });
  expect(beyond).toEqual([]);
  expect(
    await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.documentElement.scrollHeight,
      scrollX,
      scrollY,
    ]),
  ).toEqual([390, 844, 0, 0]);
}

test("a whole conversation by touch on a phone", LONG, async () => {
  const { page, context, trouble } = await home.house.visitor({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    deviceScaleFactor: 2,
    colorScheme: "dark",
    reducedMotion: "reduce",
  });
  await fits(page);
  await page.locator("header").getByRole("link", { name: "New session" }).tap();
  await page.getByLabel(/^Model/).waitFor();
  await fits(page);
  await page.locator("#first").tap();
  await page.keyboard.insertText("make it greet");
  await page.getByRole("button", { name: "Begin" }).tap();
  await page.waitForURL(/#\/s\/sess-/);
  const turn = await home.model.turn();
  turn
    .say(`${CODE}\n\n\`${"a_very_long_name_without_a_break".repeat(6)}\``)
    .call("bash", { command: `touch ${"long ".repeat(400)}` })
    .end();
  const ask = page.locator("#ask");
  await ask.waitFor();
  await shot(page, "phone-question");
  await axe(page, "question on a phone");
  await fits(page);
  // However long the command is, the buttons are there, large enough, and the preview scrolls.
  for (const button of await ask.getByRole("button").all()) {
    const box = await button.boundingBox();
    expect(
      box && box.height >= 44 && box.width >= 44 && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844,
    ).toBe(true);
  }
  expect(await ask.locator(".body").evaluate((body) => body.scrollHeight > body.clientHeight)).toBe(true);
  await ask.getByRole("button", { name: "Deny with reason" }).tap();
  await page.keyboard.insertText("write a file instead");
  await shot(page, "phone-reason");
  await ask.getByRole("button", { name: "Deny with this reason" }).tap();
  const told = await home.model.turn();
  expect(told.told).toContain("write a file instead");
  told.call("write", { path: "phone.txt", content: "hi\n" }).end();
  await ask.getByText("phone.txt").first().waitFor();
  await fits(page);
  await ask.getByRole("button", { name: /Allow once/ }).tap();
  const last = await home.model.turn();
  expect(existsSync(join(home.house.project, "phone.txt"))).toBe(true);
  // What comes next is queued, and the run is stopped, by touch too.
  last.say("It is written.");
  await page.locator("#transcript").getByText("It is written.").waitFor();
  await page.locator("#composer").tap();
  await page.keyboard.insertText("and after that");
  await fits(page);
  await page.getByRole("button", { name: "Queue" }).tap();
  await page.getByRole("list", { name: "Waiting inputs" }).getByText("and after that").waitFor();
  await fits(page);
  await shot(page, "phone-running");
  await page.getByRole("button", { name: "Stop" }).tap();
  await last.dropped;
  await page
    .locator("#transcript")
    .getByText(/Stopped after/)
    .waitFor();
  await fits(page);
  await axe(page, "session on a phone");
  await shot(page, "phone-session");
  await page.getByRole("button", { name: "Details" }).tap();
  await page.locator("#side").getByRole("button", { name: "Settings" }).tap();
  await page.getByRole("dialog").waitFor();
  await fits(page);
  await shot(page, "phone-settings");
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).tap();
  await page.getByRole("button", { name: "Details" }).tap();
  await page.getByRole("link", { name: "Back to the fleet" }).tap();
  await page.locator("a.fleet-row").first().tap();
  await page.locator("#transcript").getByText("It is written.").waitFor();
  await shot(page, "phone-back");
  expect(trouble).toEqual([]);
  await context.close();
});
