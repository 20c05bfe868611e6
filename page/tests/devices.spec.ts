// Pairing and roles on the canned world: what is shown, what a press does, and that none is taken that was meant for
// something else.

import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "vitest";
import { change, ownWorld, sent, WAIT } from "./demo/look";
import type { ConnectionState } from "../src/view/ports";

const at = ownWorld();
const ASKS = {
  id: 7,
  name: "Firefox on Linux",
  role: "controller" as const,
  code: "482 913",
  until: Date.now() + 600_000,
};

for (const [width, height] of [
  [1440, 900],
  [390, 664],
] as const) {
  test(`what a page without a device shows fits the screen and is clean: ${width}×${height}`, () =>
    at("#/", { viewport: { width, height } }, async ({ page, errors }) => {
      for (const [connection, title] of [
        [{ is: "pairing", code: "482 913", until: Date.now() + 600_000 }, "Does Parlor show the same code?"],
        [{ is: "unpaired" }, "This device is not paired"],
        [{ is: "other_run" }, "Parlor was started again"],
        [{ is: "impostor" }, "This is not your Parlor"],
      ] as [ConnectionState, string][]) {
        await change(page, (demo, connection) => void (demo.connection.value = connection), connection);
        await page.getByRole("heading", { name: title }).waitFor();
        expect(await page.title()).toBe("Parlor");
        expect(await page.locator(".fleet-row, #ask, #transcript").count()).toBe(0);
        const box = await page.locator(".state").boundingBox();
        expect(box && box.x >= 0 && box.x + box.width <= width && box.y + box.height <= height, title).toBe(true);
        expect(
          (await new AxeBuilder({ page }).analyze()).violations.map(({ id }) => id),
          title,
        ).toEqual([]);
      }
      expect(errors).toEqual([]);
    }));
}

test("a device that asks to be paired is told with its code; Allow and Deny take no press that was on its way elsewhere", () =>
  at("#/s/s1", { viewport: { width: 390, height: 664 } }, async ({ page, errors }) => {
    // The question is a screen of its own here; the conversation is one press away.
    await page.getByRole("button", { name: "Conversation" }).click();
    await page.locator("#composer").fill("half a sen");
    await change(page, (demo, asks) => void (demo.pairing.value = asks), ASKS);
    const [allow, deny] = [
      page.locator(".banner").getByRole("button", { name: "Allow" }),
      page.locator(".banner").getByRole("button", { name: "Deny" }),
    ];
    await page.locator(".banner").getByText("482 913").waitFor();
    expect(await allow.isDisabled()).toBe(true);
    // Typing goes on where it was, and keeps them off.
    await page.locator("#composer").pressSequentially("tence y\n");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("composer");
    expect((await sent(page)).filter((one) => "pair" in (one as object))).toEqual([]);
    await expect.poll(() => allow.isDisabled(), { timeout: WAIT }).toBe(false);
    expect((await new AxeBuilder({ page }).analyze()).violations.map(({ id }) => id)).toEqual([]);
    await deny.click();
    expect((await sent(page)).at(-1)).toEqual({ pair: [7, false] });
    await change(page, (demo, asks) => void (demo.pairing.value = { ...asks, id: 8 }), ASKS);
    await expect.poll(() => allow.isDisabled(), { timeout: WAIT }).toBe(false);
    await allow.click();
    expect((await sent(page)).at(-1)).toEqual({ pair: [8, true] });
    await page.locator(".banner").waitFor({ state: "detached" });
    expect(errors).toEqual([]);
  }));

test("a device that was paired stands there until it is closed or revoked; who may not revoke is only told", () =>
  at("#/", {}, async ({ page }) => {
    const joined = (id: string, name: string) => ({ id, name, role: "approver" as const });
    await change(page, (demo, all) => void (demo.joined.value = all), [
      joined("dev-2", "phone"),
      joined("dev-3", "tab\u202elet"),
    ]);
    await page.locator(".banner").getByText("phone was paired and may look, allow once and deny.").waitFor();
    await page.locator(".banner").getByText("tab⟨U+202E⟩let").waitFor();
    await page.locator(".banner", { hasText: "phone" }).getByRole("button", { name: "Revoke" }).click();
    expect((await sent(page)).at(-1)).toEqual({ revoke: "dev-2" });
    await page.locator(".banner", { hasText: "phone" }).waitFor({ state: "detached" });
    for (const role of ["approver", "observer"] as const) {
      await change(page, (demo, role) => void (demo.role.value = role), role);
      await change(page, (demo, asks) => void (demo.pairing.value = asks), { ...ASKS, code: undefined });
      await page.locator(".banner").getByText("A controller can allow it.").waitFor();
      expect(
        await page
          .locator(".banner")
          .getByRole("button", { name: /Revoke|Allow|Deny/ })
          .count(),
        role,
      ).toBe(0);
    }
    await page.locator(".banner", { hasText: "let" }).getByRole("button", { name: "Close" }).click();
    await page.locator(".banner", { hasText: "was paired" }).waitFor({ state: "detached" });
  }));

test("an approver is offered Allow once and Deny, by buttons and by keys, and nothing that lasts", () =>
  at("#/s/s1", {}, async ({ page, errors }) => {
    await change(page, (demo) => void (demo.role.value = "approver"), null);
    await page.locator("#ask h2").waitFor();
    const buttons = (): Promise<string[]> =>
      page
        .locator("#ask footer button")
        .evaluateAll((all) => all.map((one) => (one as HTMLElement).innerText.replace(/\s+/g, " ")));
    await expect.poll(buttons, { timeout: WAIT }).toEqual(["Allow once Y", "Deny and stop N", "Deny with reason… R"]);
    expect(await page.locator("#ask").innerText()).not.toMatch(/for good|for session/);
    expect(await page.locator("#composer").getAttribute("placeholder")).toBe("This device may only allow or deny.");
    for (const key of ["s", "a"]) await page.keyboard.press(key);
    // A yes to anything else may last.
    await change(
      page,
      (demo) =>
        demo.poke(
          (state) =>
            void (state.asks = [
              {
                id: 91,
                title: "This project brings MCP servers",
                kind: { confirm: { message: "x: npx y", yes: "Start them", no: "Not now", danger: true } },
              },
            ]),
        ),
      null,
    );
    await expect.poll(buttons, { timeout: WAIT }).toEqual(["Not now N", "No answer"]);
    await page.locator("#ask").getByText("A controller can say yes to this.").waitFor();
    await page.keyboard.press("y");
    await change(
      page,
      (demo) =>
        demo.poke(
          (state) =>
            void (state.asks = [
              {
                id: 92,
                title: "Which?",
                kind: { choose: { message: "Pick", choices: [{ id: "a", label: "one" }], many: false } },
              },
            ]),
        ),
      null,
    );
    await expect.poll(buttons, { timeout: WAIT }).toEqual(["No answer"]);
    await page.locator("#ask").getByText("one").waitFor();
    expect((await sent(page)).filter((one) => "answer" in (one as object))).toEqual([]);
    await page.getByRole("button", { name: "No answer" }).click();
    expect((await sent(page)).at(-1)).toEqual({ answer: [92, "dismissed"] });
    expect(errors).toEqual([]);
  }));
