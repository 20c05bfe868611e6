import { expect, test } from "vitest";
import { listening } from "./board";

test("ports are read from the words that a person reads", () => {
  expect(listening("listens on 3000, 5173 (open), and 12 more")).toEqual({
    ports: [
      { port: 3000, open: false },
      { port: 5173, open: true },
    ],
    more: "and 12 more",
  });
  for (const wrong of ["", "listens on", "listens on 0, 99999, x, <b>80</b>", "5173"])
    expect(listening(wrong)).toEqual({ ports: [], more: undefined });
});
