// What is being written is not lost, however suddenly the page goes.

import "fake-indexeddb/auto";
import { beforeEach, expect, test } from "vitest";
import { DRAFTS, forget, keep, kept } from "./database";
import { Drafts } from "./drafts";
import type { Draft } from "../view/ports";

const draft = (text: string): Draft => ({ text, attachments: [] });
const PICTURE = { image: { mime: "image/png", base64: "AAAA" } };

class Small extends Map<string, string> {
  getItem = (key: string): string | null => this.get(key) ?? null;
  setItem = (key: string, value: string): void => void this.set(key, value);
  removeItem = (key: string): void => void this.delete(key);
}

beforeEach(async () => {
  for (const session of ["a", "b", "new"]) await forget(DRAFTS, session);
});

test("a page that is gone before the database has heard of it", async () => {
  await keep(DRAFTS, "a", draft("an older one"));
  const small = new Small();
  const before = new Drafts(small);
  before.save("a", draft("the newest words"));
  before.leave();
  // Nothing more runs in that page: only what was put away in the same moment is there.
  const left = new Small(small);
  await keep(DRAFTS, "a", draft("an older one"));
  expect(await new Drafts(left).load("a")).toEqual(draft("the newest words"));
});

test("words that were taken away do not come back", async () => {
  await keep(DRAFTS, "a", draft("sent already"));
  const small = new Small();
  const before = new Drafts(small);
  before.save("a", draft(""));
  before.leave();
  const left = new Small(small);
  await keep(DRAFTS, "a", draft("sent already"));
  expect(await new Drafts(left).load("a")).toBeUndefined();
});

test("what was put away is taken over, once", async () => {
  const small = new Small();
  const before = new Drafts(small);
  before.save("a", { text: "look", attachments: [PICTURE] });
  before.leave();
  await before.flushAll();
  const drafts = new Drafts(small);
  expect(await drafts.load("a")).toEqual({ text: "look", attachments: [PICTURE] });
  await expect.poll(() => small.size, { timeout: 30_000, interval: 1 }).toBe(0);
  expect(await kept(DRAFTS, "a")).toEqual({ text: "look", attachments: [PICTURE] });
});

test("a storage that is full or broken costs nothing but the hurry", async () => {
  const broken = {
    getItem: () => "{ no json",
    setItem: () => {
      throw new Error("full");
    },
    removeItem: () => undefined,
  };
  const drafts = new Drafts(broken);
  drafts.save("a", draft("words"));
  drafts.leave();
  await expect.poll(() => kept(DRAFTS, "a"), { timeout: 30_000, interval: 1 }).toEqual(draft("words"));
  expect(await drafts.load("a")).toEqual(draft("words"));
});

test("what was written for a new session goes with it, and the next new one is empty", async () => {
  for (const pause of [false, true]) {
    const drafts = new Drafts(new Small());
    drafts.save("new", draft("begin"));
    if (pause) await drafts.flushAll();
    await drafts.rename("new", "b");
    await drafts.flushAll();
    expect(await drafts.load("b")).toEqual(draft("begin"));
    expect(await drafts.load("new")).toBeUndefined();
    await forget(DRAFTS, "b");
  }
});
