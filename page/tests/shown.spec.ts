// What the page says of a question that is on its screen, with a canned world.

import { expect, test } from "vitest";
import { change, ownWorld } from "./demo/look";

const at = ownWorld();

test("a question is said to be on the screen once, with those that wait behind it", () =>
  at("#/s/s1", {}, async ({ page }) => {
    const shown = (): Promise<number[]> => page.evaluate("globalThis.parlorDemo.shown");
    const asked = (ids: number[]): Promise<void> =>
      change(
        page,
        (demo, ids) => demo.poke((state) => void (state.asks = ids.map((id) => ({ ...state.asks[0], id }) as never))),
        ids,
      );
    await page.locator("#ask h2").waitFor();
    await expect.poll(shown).toEqual([90]);
    await asked([90, 91]);
    await expect.poll(shown).toEqual([90, 91]);
    await asked([91, 90]);
    await page.locator("#ask h2").waitFor();
    expect(await shown()).toEqual([90, 91]);
  }));
