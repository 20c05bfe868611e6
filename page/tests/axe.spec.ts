// Every screen as axe judges it: names, roles, contrast, order.

import AxeBuilder from "@axe-core/playwright";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect, test } from "vitest";
import { change, ownWorld } from "./demo/look";

const at = ownWorld();

const PHONE = { viewport: { width: 390, height: 664 } };
const press =
  (name: string) =>
  (page: Page): Promise<void> =>
    page.getByRole("button", { name, exact: true }).click();
const key = (key: string) => async (page: Page) => {
  await page.locator("#transcript").focus();
  await page.keyboard.press(key);
};
const nobody = (page: Page): Promise<void> => change(page, ({ rows }) => void (rows.value = []), null);
/** An answer whose first heading is the greatest, and one that is the smallest. */
const headings = (page: Page): Promise<void> =>
  change(
    page,
    ({ poke }) =>
      poke((state) => {
        state.asks = [];
        const parts = [{ text: "# First\n\nwords\n\n#### Fourth\n\nwords" }];
        state.entries.set(5, { ...state.entries.get(5), parts } as never);
      }),
    null,
  );

/** A question of another kind than whether a command may run. */
const asked =
  (title: string, kind: object) =>
  (page: Page): Promise<void> =>
    change(page, ({ poke }, ask) => poke((state) => void (state.asks = [ask as never])), {
      id: 130,
      run: 1,
      title,
      kind,
    });
const CHOICES = [
  { id: "once", label: "Allow once" },
  { id: "session", label: "Allow for this session", detail: "run commands that start with `git commit`" },
  { id: "deny", label: "Deny", detail: "the sub-agent is told no, and goes on" },
];
const subAgent = asked("Sub-agent general asks: run `git commit`", {
  choose: { message: "Medium risk\n- works on this project\n\n  | git commit", choices: CHOICES, many: false },
});

/** A folder that is being completed. */
const complete = async (page: Page): Promise<void> => {
  await page.locator("#first-folder").fill("/home/ada/par");
  await page.getByRole("option").first().waitFor();
};
const seek = async (page: Page): Promise<void> => {
  await page.getByRole("button", { name: "Go to…" }).filter({ visible: true }).click();
  await page.keyboard.type("hangs");
  await page.getByRole("option", { name: /said in/ }).waitFor();
};

for (const [name, hash, options, before] of [
  ["session, light", "#/s/s1", { colorScheme: "light" }],
  ["session, dark", "#/s/s1", { colorScheme: "dark" }],
  ["answer with headings", "#/s/s1", {}, headings],
  ["question, phone", "#/s/s1", PHONE],
  [
    "conversation beside a question, phone, dark",
    "#/s/s1",
    { ...PHONE, colorScheme: "dark" },
    press("See conversation"),
  ],
  ["a sub-agent's question", "#/s/s1", {}, subAgent],
  ["a sub-agent's question, phone, dark", "#/s/s1", { ...PHONE, colorScheme: "dark" }, subAgent],
  [
    "a question with several answers",
    "#/s/s1",
    {},
    asked("Which?", { choose: { message: "", choices: CHOICES, many: true } }),
  ],
  ["a question of yes and no", "#/s/s1", {}, asked("Go on?", { confirm: { message: "It takes long.", danger: true } })],
  [
    "a question for a text",
    "#/s/s1",
    PHONE,
    asked("Name?", { text: { message: "Of the file", secret: false, multiline: false } }),
  ],
  ["a question for a secret", "#/s/s1", {}, asked("Token?", { text: { message: "", secret: true, multiline: false } })],
  ["a text to change", "#/s/s1", {}, asked("Edit the plan", { edit: { message: "As you leave it", prefill: "1. a" } })],
  ["fleet", "#/", {}],
  ["fleet, phone, dark", "#/", { ...PHONE, colorScheme: "dark" }],
  ["nobody there", "#/", {}, nobody],
  ["new session", "#/new", {}, complete],
  ["new session, phone, dark", "#/new", { ...PHONE, colorScheme: "dark" }, complete],
  ["search", "#/s/s1", {}, key("Control+f")],
  ["go to", "#/s/s1", {}, key("Control+k")],
  ["what was said anywhere, phone, dark", "#/", { ...PHONE, colorScheme: "dark" }, seek],
  ["keys", "#/s/s1", {}, key("?")],
  ["settings", "#/s/s1", {}, press("Settings")],
  ["changes", "#/s/s1", {}, press("Diff and undo")],
  ["branches", "#/s/s1", {}, press("Branches")],
  ["timeline", "#/s/s1", {}, press("Timeline")],
] as [string, string, BrowserContextOptions, ((page: Page) => Promise<unknown>)?][]) {
  test(`axe finds nothing: ${name}`, () =>
    at(hash, options, async ({ page }) => {
      await before?.(page);
      const found = await new AxeBuilder({ page }).analyze();
      expect(
        found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`),
      ).toEqual([]);
    }));
}
