import { describe, expect, test } from "vitest";
import { inSight } from "./rows";
import { atEnd, below, moved, START } from "./scroll";

describe("the view", () => {
  test("follows until the reader goes up, and again when the end is reached", () => {
    const free = moved(START, { is: "up" });
    expect(free.mode).toBe("free");
    expect(moved(free, { is: "grew", rows: 3 })).toEqual({ mode: "free", fresh: 3 });
    expect(moved(moved(free, { is: "grew", rows: 3 }), { is: "end" })).toEqual(START);
    expect(moved(START, { is: "grew", rows: 3 })).toBe(START);
  });

  test("a prompt of one's own is put to the top once, and then nothing moves", () => {
    const anchored = moved(moved(START, { is: "up" }), { is: "own" });
    expect(anchored).toEqual({ mode: "anchoring", fresh: 0 });
    expect(moved(anchored, { is: "grew", rows: 1 })).toEqual({ mode: "anchoring", fresh: 1 });
    expect(moved(anchored, { is: "up" }).mode).toBe("free");
    expect(moved(anchored, { is: "end" })).toEqual(START);
  });

  test("what came and stood on the screen is not new; what is below it is, until it was seen", () => {
    const starts = [0, 100, 200, 300, 400];
    const unseen = (most: number, edge: number): number => below(most, starts.length, edge, (at) => starts[at] ?? 0);
    expect([unseen(5, 1000), unseen(5, 300), unseen(5, 301), unseen(1, 0), unseen(9, 0)]).toEqual([0, 2, 1, 1, 5]);
    const grown = moved(moved(START, { is: "own" }), { is: "grew", rows: 5 });
    expect(moved(grown, { is: "below", rows: 2 })).toEqual({ mode: "anchoring", fresh: 2 });
    // Older rows may be below too: they do not become new.
    const free = { mode: "free" as const, fresh: 2 };
    expect(moved(free, { is: "below", rows: 40 })).toBe(free);
    expect(moved(free, { is: "below", rows: 0 })).toEqual({ mode: "free", fresh: 0 });
  });

  test("fractions of a pixel are still the end", () => {
    expect(atEnd(599.5, 400, 1000)).toBe(true);
    expect(atEnd(500, 400, 1000)).toBe(false);
  });
});

describe("rows of one height", () => {
  test("only those in sight, and a few more", () => {
    expect(inSight(1800, 180, 18, 10_000, 5)).toEqual({ first: 95, end: 115 });
    expect(inSight(0, 100, 18, 3)).toEqual({ first: 0, end: 3 });
    expect(inSight(1e9, 100, 18, 30)).toEqual({ first: 20, end: 30 });
    expect(inSight(0, 100, 18, 0)).toEqual({ first: 0, end: 0 });
  });
});
