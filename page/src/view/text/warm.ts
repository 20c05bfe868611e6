// Reads a word of each kind while the page waits for the server: the first use of a pattern compiles it, which all
// together takes longer than a frame, and the first token of an answer is a bad moment for that.

import { heal } from "./heal";
import { lex } from "./tokens";

const SAMPLES = [
  "word",
  "two words",
  "a **b** `c` [d](https://e.example) f",
  "a _b_ *c* ~~d~~ https://e.example",
  "- a\n- b\n\n1. c",
  "| a | b |\n|---|---|\n| 1 | 2 |",
  "```rust\nlet a;\n```",
  "## a\n\n> b\n\n<b>c</b>",
];

export function warm(samples: readonly string[] = SAMPLES): void {
  const [first, ...rest] = samples;
  if (first === undefined || typeof requestIdleCallback !== "function") return;
  requestIdleCallback(() => {
    lex(heal(first));
    warm(rest);
  });
}
