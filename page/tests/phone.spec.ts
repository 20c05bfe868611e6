// A phone: what is asked is a screen of its own, with and without its keyboard, and sessions are found there.

import { expect, test } from "vitest";
import { change, ownWorld, sent, WAIT } from "./demo/look";

const at = ownWorld();

const lines = (count: number): string => "+one more line\n".repeat(count);
const FILES = ["a.rs", "b.rs", "c.rs"]
  .map((name) => `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -1,1 +1,41 @@\n same\n${lines(40)}`)
  .join("");

for (const [width, height, least] of [
  [390, 664, 0.6],
  [375, 667, 0.6],
  [390, 400, 0.3],
  [844, 390, 0.3],
] as const) {
  test(`a change that is asked about fills the screen, its answer in reach: ${width}×${height}`, () =>
    at("#/s/s1", { viewport: { width, height } }, async ({ page, errors }) => {
      await page.locator("#ask h2").waitFor();
      await change(
        page,
        ({ poke }, text) =>
          poke((state) => {
            const ask = structuredClone(state.asks[0]) as unknown as {
              id: number;
              kind: { consent: { preview: unknown } };
            };
            ask.id = 120;
            ask.kind.consent.preview = { diff: { path: "a.rs", text } };
            state.asks = [ask] as never;
          }),
        FILES,
      );
      await page.getByText("1 of 3: a.rs").waitFor();
      const body = await page.locator("#ask .body").boundingBox();
      expect((body?.height ?? 0) / height).toBeGreaterThan(least);
      for (const button of await page.locator("#ask button:visible").all()) {
        const box = await button.boundingBox();
        expect(box && box.y >= 0 && box.x >= 0 && box.y + box.height <= height && box.x + box.width <= width).toBe(
          true,
        );
      }
      expect(await page.locator("#composer").isVisible()).toBe(false);
      const row = page.locator("#ask .diff-row.added").first();
      // The first changed line can be read without a touch.
      const [first, inside] = [await row.boundingBox(), await page.locator("#ask .body").boundingBox()];
      expect(first && inside && first.y + first.height <= inside.y + inside.height).toBe(true);
      const allow = page.getByRole("button", { name: "Allow once" });
      expect(await allow.isDisabled()).toBe(true);
      const before = await allow.boundingBox();
      for (const name of ["2 of 3: b.rs", "3 of 3: c.rs"]) {
        await page.getByRole("button", { name: "Next file" }).click();
        await page.getByText(name).waitFor();
      }
      await page.locator("#ask .body").evaluate((box) => box.scrollTo(0, box.scrollHeight));
      await page.locator("#ask .primary:enabled").waitFor();
      expect(await allow.boundingBox()).toEqual(before);
      await page.getByRole("button", { name: "Previous file" }).click();
      await page.getByText("2 of 3: b.rs").waitFor();
      // The conversation is one press away, with the composer, and the question comes back as it was.
      await page.getByRole("button", { name: "Conversation" }).click();
      await page.locator("#composer").waitFor();
      expect(await page.locator("#transcript").isVisible()).toBe(true);
      await page.getByRole("button", { name: "Read and answer" }).click();
      await page.locator("#composer").waitFor({ state: "hidden" });
      await allow.click();
      await page.locator("#ask").waitFor({ state: "detached" });
      expect((await sent(page)).length).toBe(1);
      expect(errors).toEqual([]);
    }));
}

test("a reason is written over the keyboard of a phone, its buttons in reach", () =>
  at("#/s/s1", { viewport: { width: 375, height: 667 } }, async ({ page }) => {
    await page.getByRole("button", { name: "Deny with reason" }).click();
    await page.setViewportSize({ width: 375, height: 360 });
    await page.keyboard.type("not here");
    const field = await page.locator("#reason").boundingBox();
    expect(field && field.y >= 0 && field.y + field.height <= 360).toBe(true);
    const say = page.getByRole("button", { name: "Deny with this reason" });
    const box = await say.boundingBox();
    expect(box && box.y + box.height <= 360).toBe(true);
    await say.click();
    await expect
      .poll(() => sent(page), { timeout: WAIT })
      .toEqual([{ answer: [90, { deny: { reason: "not here" } }] }]);
  }));
