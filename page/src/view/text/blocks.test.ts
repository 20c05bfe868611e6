import { describe, expect, test } from "vitest";
import { Blocks } from "./blocks";
import { Growing, lex, type Token } from "./tokens";

const PIECES = [
  "A paragraph with **bold** and `code`.\n",
  "\n",
  "\n\n",
  "- one\n",
  "- two\n  more of two\n",
  "  - nested\n",
  "    continued\n",
  "1. first\n",
  "2) second\n",
  "```rust\nfn main() {}\n\nlet x = 1;\n```\n",
  "```\nnever closed\n",
  "~~~\n```\n~~~\n",
  "  ```\n  in a list\n  ```\n",
  "> quoted\n> more\n",
  "> - item in a quote\n",
  "| a | b |\n|---|---|\n| 1 | 2 |\n",
  "    indented code\n",
  "<div>\nraw\n</div>\n",
  "<!-- a comment\n\nwith a gap -->\n",
  "<script>\n\nalert(1)\n\n</script>\n",
  "  <b>in an item</b>\n",
  "<b>tag</b> first\n",
  "# Heading\n",
  "Setext\n===\n",
  "---\n",
  "* * *\n",
  "text [link](https://a.example) and [ref][x]\n",
  "hard  \nbreak\n",
  "\r\n",
  "last words without an end",
];

/** The same numbers each time: a failure can be had again. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function sample(next: () => number): string {
  return Array.from({ length: 1 + Math.floor(next() * 14) }, () => PIECES[Math.floor(next() * PIECES.length)]).join("");
}

/** What a tree says, without how it was written. */
function tree(tokens: Token[]): unknown {
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter((inner) => (inner as Token)?.type !== "space").map(strip);
    if (typeof value !== "object" || value === null) return typeof value === "string" ? value.trimEnd() : value;
    const { raw: _raw, links: _links, ...rest } = value as Record<string, unknown>;
    return Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, strip(inner)]));
  };
  return strip(tokens);
}

describe("the cutter", () => {
  test("any cut of the deltas gives the same tree", () => {
    for (let seed = 1; seed <= 120; seed += 1) {
      const next = random(seed);
      const text = sample(next);
      const whole = new Growing().take(text).map((block) => tree(block.tokens));
      const growing = new Growing();
      for (let at = 0; at < text.length; ) {
        at = Math.min(text.length, at + 1 + Math.floor(next() * 7));
        growing.take(text.slice(0, at));
      }
      expect(
        growing.take(text).map((block) => tree(block.tokens)),
        JSON.stringify(text),
      ).toEqual(whole);
    }
  });

  test("the blocks together are what the whole text would be", () => {
    for (let seed = 1; seed <= 800; seed += 1) {
      const text = sample(random(seed * 7));
      const cut = new Growing().take(text).flatMap((block) => block.tokens);
      expect(tree(cut), JSON.stringify(text)).toEqual(tree(lex(text)));
    }
  });

  test("closed blocks are never parsed again", () => {
    const growing = new Growing();
    const before = growing.take("one\n\ntwo\n\nthree\n");
    const after = growing.take("one\n\ntwo\n\nthree\nand more\n\nfour\n");
    expect(after[0]).toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    expect(after.length).toBe(4);
  });

  test("a definition that comes late makes a link of what stands above it", () => {
    const growing = new Growing();
    growing.take("see [this][x]\n\nnext\n\n");
    const found = JSON.stringify(growing.take("see [this][x]\n\nnext\n\n[x]: https://a.example\n"));
    expect(found).toContain('"href":"https://a.example"');
  });

  test("nothing is cut inside of a fence", () => {
    const blocks = new Blocks();
    blocks.append("```\na\n\nb\n\nc\n");
    expect(blocks.closed).toEqual([]);
    blocks.append("```\n\nafter\n\nend\n");
    expect(blocks.closed.length).toBe(2);
  });

  test("another text in the same place begins anew", () => {
    const blocks = new Blocks();
    blocks.take("one\n\ntwo\n\n");
    blocks.take("else");
    expect(blocks.closed).toEqual([]);
    expect(blocks.rest).toBe("else");
  });
});
