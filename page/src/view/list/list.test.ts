import { describe, expect, test } from "vitest";
import { inSight } from "./rows";
import { atEnd, moved, START } from "./scroll";

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
