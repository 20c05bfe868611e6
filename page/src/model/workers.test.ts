// Nothing stands between the page and Parlor, and nothing of the page is loaded later, when something else might
// answer.

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { dropWorkers } from "./workers";

test("every service worker under this name is taken away", async () => {
  const gone: string[] = [];
  const one = (name: string) =>
    ({ unregister: async () => gone.push(name) > 0 }) as unknown as ServiceWorkerRegistration;
  expect(await dropWorkers({ getRegistrations: async () => [one("a"), one("b")] })).toBe(2);
  expect(gone).toEqual(["a", "b"]);
  expect(await dropWorkers(undefined)).toBe(0);
  expect(await dropWorkers({ getRegistrations: () => Promise.reject(new Error("no")) })).toBe(0);
});

test("the page registers no worker and loads no script after its start", () => {
  const root = new URL("..", import.meta.url).pathname;
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (name) => /\.tsx?$/.test(name) && !name.includes(".test."),
  )) {
    const text = readFileSync(root + file, "utf8");
    expect(text, file).not.toMatch(/\bimport\s*\(|serviceWorker\.register|new (Shared)?Worker\b|importScripts/);
  }
});
