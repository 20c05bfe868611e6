import { describe, expect, test } from "vitest";
import { collapse, plain, spans } from "./ansi";
import { decode } from "./entities";
import { highlight, languageOf, languageOfPath, MAX_LINES, slices } from "./highlight";
import { followable } from "./links";
import { oneLine, pieces, visible } from "./unseen";

describe("links", () => {
  test("only what people follow can be followed", () => {
    expect(followable("https://a.example/x?y#z")).toBe("https://a.example/x?y#z");
    expect(followable("mailto:a@b.example")).toBe("mailto:a@b.example");
    for (const bad of [
      "javascript:alert(1)",
      "JaVaScRiPt:alert(1)",
      "java\nscript:1",
      "\u0001javascript:1",
      "data:text/html,x",
      "vbscript:x",
      "file:///etc/passwd",
      "/relative",
      "blob:x",
      "https://bank.example@evil.example/",
      "https://a.example/\u202egnp",
      "",
    ]) {
      expect(followable(bad), JSON.stringify(bad)).toBeUndefined();
    }
  });
});

describe("what cannot be seen", () => {
  test("is shown by number", () => {
    expect(visible("a\u202eb")).toBe("a⟨U+202E⟩b");
    expect(visible("rm\u200b -rf\u2066")).toBe("rm⟨U+200B⟩ -rf⟨U+2066⟩");
    expect(visible("tag\u{e0041}")).toBe("tag⟨U+E0041⟩");
    expect(visible("\u001b[31m")).toBe("⟨U+001B⟩[31m");
    expect(visible("plain\ttext\nnext ✓ 日本")).toBe("plain\ttext\nnext ✓ 日本");
    expect(pieces("x\ufeff")).toEqual([
      { text: "x", unseen: false },
      { text: "⟨U+FEFF⟩", unseen: true },
    ]);
  });

  test("a line stays one line", () => {
    expect(oneLine("a\n  b")).toBe("a ⏎ b");
    expect(oneLine("x".repeat(500)).length).toBe(401);
  });
});

describe("terminal text", () => {
  test("colours become classes and the rest is dropped", () => {
    expect(spans("\u001b[31mred\u001b[0m plain \u001b[1;32mbold\u001b[m")).toEqual([
      { text: "red", look: "ansi-1" },
      { text: " plain ", look: "" },
      { text: "bold", look: "ansi-2 ansi-bold" },
    ]);
    expect(
      plain("\u001b]0;title\u0007a\u001b[2Jb\u001b(Bc\u001b]8;;https://x.example\u001b\\link\u001b]8;;\u001b\\"),
    ).toBe("abclink");
    expect(plain("\u001b]52;c;never ends")).toBe("");
    expect(spans("\u001b[38;5;196mx\u001b[38;2;0;200;0my\u001b[38;5;250mz")).toEqual([
      { text: "x", look: "ansi-1" },
      { text: "y", look: "ansi-2" },
      { text: "z", look: "" },
    ]);
    expect(spans("\u001b[48;2;255;0;0mx")).toEqual([{ text: "x", look: "" }]);
  });

  test("what a return overwrites is gone", () => {
    expect(collapse("10%\r20%\r100%\ndone\r\n")).toBe("100%\ndone\n");
    expect(collapse("abcdef\rXY")).toBe("XYcdef");
    expect(collapse("ab\bc")).toBe("ac");
  });
});

describe("entities", () => {
  test("are what they stand for, once", () => {
    expect(decode("a &lt;b&gt; &amp;amp; &#x41;&#66; &nosuch; &#0;")).toBe("a <b> &amp; AB &nosuch; \ufffd");
  });
});

describe("highlighting", () => {
  test("gives a tree of scopes whose text is the code", async () => {
    const code = 'fn main() { let s = "x"; } // end';
    const found = await highlight(code, "rust");
    expect(found?.map((piece) => piece.text).join("")).toBe(code);
    expect(found?.some((piece) => piece.scope === "keyword")).toBe(true);
    expect(found?.some((piece) => piece.scope === "string")).toBe(true);
  });

  test("leaves alone what it does not know and what is too much", async () => {
    expect(await highlight("x", "klingon")).toBeUndefined();
    expect(await highlight("x", undefined)).toBeUndefined();
    expect(await highlight("x\n".repeat(MAX_LINES + 1), "rust")).toBeUndefined();
    expect([languageOf("ts {1}"), languageOf("RS"), languageOfPath("a/b.toml"), languageOfPath("Makefile")]).toEqual([
      "typescript",
      "rust",
      "ini",
      undefined,
    ]);
  });

  test("long code is cut where it begins anew", () => {
    const code = `${"fn a() {\n    b();\n}\n\n".repeat(2000)}end`;
    const cut = slices(code);
    expect(cut.join("")).toBe(code);
    expect(cut.length).toBeGreaterThan(1);
    expect(cut.slice(1).every((piece) => piece.startsWith("fn ") || piece === "end")).toBe(true);
  });
});
