import { describe, expect, test } from "vitest";
import { heal, PENDING } from "./heal";
import { Growing, lex, type Token } from "./tokens";

/** The words of a text with how each is to look, in one string: what an eye would see. */
function seen(tokens: Token[], look = ""): string {
  return tokens
    .map((token) => {
      const inner = (token as { tokens?: Token[] }).tokens;
      switch (token.type) {
        case "strong":
        case "em":
        case "del":
          return seen(inner ?? [], look + token.type[0]);
        case "link":
          return seen(inner ?? [], `${look}a`);
        case "codespan":
        case "code":
          return letters((token as { text: string }).text, `${look}c`);
        case "list":
          return (token as unknown as { items: { tokens: Token[] }[] }).items
            .map((item) => seen(item.tokens, look))
            .join("");
        case "table": {
          const { header, rows } = token as unknown as { header: { tokens: Token[] }[]; rows: { tokens: Token[] }[][] };
          return [header, ...rows]
            .flat()
            .map((cell) => seen(cell.tokens, `${look}t`))
            .join("");
        }
        case "heading":
          return seen(inner ?? [], `${look}h`);
        case "space":
        case "hr":
        case "checkbox":
        case "def":
          return "";
        default:
          return inner ? seen(inner, look) : letters((token as { text?: string }).text ?? token.raw, look);
      }
    })
    .join("");
}

function letters(text: string, look: string): string {
  return [...text.replace(/\s+/g, "")].map((letter) => `${letter}${look}·`).join("");
}

const WRITTEN = [
  "Plain words, **bold words** and more.",
  "A *slanted* and ***both*** and ~~gone~~ word.",
  "An __under__ and _slanted_ one, not snake_case_name nor 2*3 = 6.",
  "Run `cargo test` and ``a ` b`` then.",
  "See [the docs](https://a.example/x_y*z) and go on.",
  "**[bold link](https://a.example)** after.",
  "Nested **bold with `code` and *slanted* inside** done.",
  "Look:\n\n```rust\nfn main() {\n    let x = 1;\n}\n```\n\nafter **that**.",
  "- first **item**\n- second `item`\n  - deeper *one*\n\nend",
  "1. one **a**\n2. two\n",
  "# A heading with `code`\n\ntext",
  "text\n\n## Second\n\nmore",
  "para\n- item after it\n- another",
  "> quoted **words** here\n> and `more`\n",
  "| name | **what** |\n|---|---|\n| `a` | one |\n| b | *two* |\n\nend",
  "1 < 2 and a > b, **x** [0] array[1] end",
  "- [ ] to do **now**\n- [x] done\n",
  "An escaped \\*star\\* stays.",
];

describe("a text that is being written", () => {
  for (const text of WRITTEN) {
    test(`never shows a mark or changes a look: ${JSON.stringify(text.slice(0, 40))}`, () => {
      const growing = new Growing();
      const whole = seen(lex(text));
      for (let end = 1; end <= text.length; end += 1) {
        const shown = seen(growing.take(text.slice(0, end), true).flatMap((block) => block.tokens));
        // A closing mark of code that has inner backticks, and digits that may number an item, are held back: less is
        // shown, never other.
        expect(whole.startsWith(shown), `${JSON.stringify(text.slice(0, end))}\n shows ${shown}\n  want ${whole}`).toBe(
          true,
        );
      }
      expect(seen(growing.take(text).flatMap((block) => block.tokens))).toBe(whole);
    });
  }

  test("is shown but for its last mark", () => {
    expect(heal("a **bo")).toBe("a **bo**");
    expect(heal("a **bold *and")).toBe("a **bold *and***");
    expect(heal("a **bold*")).toBe("a **bold**");
    expect(heal("a **")).toBe("a ");
    expect(heal("a **b ")).toBe("a **b** ");
    expect(heal("run `car")).toBe("run `car`");
    expect(heal("see [the do")).toBe(`see [the do](${PENDING})`);
    expect(heal("see [the docs](https://a.exa")).toBe(`see [the docs](${PENDING})`);
    expect(heal("![a pic")).toBe(`[a pic](${PENDING})`);
    expect(heal("```\ncode\n``")).toBe("```\ncode\n");
    expect(heal("para\n--")).toBe("para\n");
  });

  test("that is whole is as it was written", () => {
    for (const text of WRITTEN) expect(heal(`${text}\n\n`), text).toBe(`${text}\n\n`);
    expect(heal("```\n**not bold\n")).toBe("```\n**not bold\n");
    expect(heal("    **indented code")).toBe("    **indented code");
  });

  test("of any letters is mended without falling over, and only for as long as it is open", () => {
    const marks = [
      "*",
      "**",
      "_",
      "`",
      "``",
      "```",
      "~~",
      "[",
      "]",
      "(",
      ")",
      "!",
      "\\",
      "\n",
      "\n\n",
      " ",
      "a",
      "- ",
      "# ",
      "|",
      "> ",
      "1.",
      "<b>",
    ];
    let state = 7;
    for (let n = 0; n < 3000; n += 1) {
      let text = "";
      for (let length = 0; length < 12; length += 1) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        text += marks[state % marks.length];
      }
      expect(() => lex(heal(text)), JSON.stringify(text)).not.toThrow();
      const growing = new Growing();
      growing.take(text, true);
      expect(
        growing
          .take(text)
          .map((block) => block.text)
          .join(""),
        JSON.stringify(text),
      ).toBe(
        new Growing()
          .take(text)
          .map((block) => block.text)
          .join(""),
      );
    }
  });
});
