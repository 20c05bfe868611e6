// What turns the direction of writing is shown by number wherever words of others are drawn.

import { h, type ComponentChildren } from "preact";
import { expect, test } from "vitest";
import type { MessageEntry } from "../../model/state";
import { refusalWords } from "../ports";
import { Entry } from "../session/entry";
import { ShownPart } from "../session/part";
import type { Row } from "../session/rows";
import { words } from "../testing";
import { Block } from "./markdown";
import { Prose } from "./seen";
import { lex } from "./tokens";
import { harmless } from "./unseen";

const TURNED = "\u202egnp.exe\u202c";
const SHOWN = "⟨U+202E⟩gnp.exe⟨U+202C⟩";

test("prose shows what does harm, and keeps what scripts and emoji need", () => {
  const shown = (text: string): string =>
    harmless(text)
      .map((piece) => piece.text)
      .join("");
  for (const code of [
    0x1b, 0x85, 0x61c, 0x180e, 0x200b, 0x200e, 0x200f, 0x2028, 0x202a, 0x202e, 0x2060, 0x2066, 0x2069, 0xfeff, 0xfffb,
    0x1bca0, 0x1d173, 0xe0041, 0x10eeee,
  ]) {
    expect(shown(`a${String.fromCodePoint(code)}b`), code.toString(16)).toBe(
      `a⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩b`,
    );
  }
  for (const text of ["👨‍👩‍👧 ❤️ 1️⃣", "می‌خواهم", "שלום עולם", "co\u00adop", "tab\tline\nnext"])
    expect(shown(text)).toBe(text);
  expect(shown("a\r\nb\rc")).toBe("a\nb\nc");
  expect(words(h(Prose, { text: "" }))).toBe("");
});

test("maths between dollars stays as it was written, and prices are no maths", () => {
  const said = (text: string): string =>
    lex(text)
      .map((token) => words(h(Block, { block: { text, tokens: [token] }, open: false })))
      .join("");
  for (const maths of ["$$a\\,b^*c^*$$", "$x_1 \\, y_1$", "$$\\int_0^1\\!x\\,dx$$"])
    expect(said(`so ${maths} holds`)).toBe(`so ${maths} holds`);
  expect(said("from $5 to **$10** a\\*day")).toBe("from $5 to $10 a*day");
});

test("Markdown of every kind", () => {
  for (const text of [
    TURNED,
    `**${TURNED}**`,
    `*${TURNED}*`,
    `~~${TURNED}~~`,
    `# ${TURNED}`,
    `> ${TURNED}`,
    `- ${TURNED}`,
    `1. ${TURNED}`,
    `- [ ] ${TURNED}`,
    `| a |\n|---|\n| ${TURNED} |`,
    `| ${TURNED} |\n|---|\n| a |`,
    `[${TURNED}](https://a.example/)`,
    `[${TURNED}](javascript:1)`,
    `![${TURNED}](https://a.example/x.png)`,
    `\`${TURNED}\``,
    `<b>${TURNED}</b>`,
    "&#x202e;gnp.exe&#x202c;",
    `${"> ".repeat(40)}${TURNED}`,
  ]) {
    const drawn = words(h(Block, { block: { text, tokens: lex(text) }, open: false }));
    expect(drawn, JSON.stringify(text)).toContain(SHOWN);
    expect(drawn, JSON.stringify(text)).not.toMatch(/[\u202a-\u202e]/);
  }
});

test("prompts, thoughts, notices, summaries, ends, and words of a refusal", () => {
  const node = { id: 1, at: 0, added: { hi: 0, lo: 0 }, batch: 0 };
  const entry: MessageEntry = {
    ...node,
    kind: "message",
    role: "user",
    parts: [{ text: TURNED }],
    tailOpen: false,
    roll: { hi: 0, lo: 0 },
    rolled: { begun: false, parts: 0, text: 0 },
  };
  const all: Row[] = [
    { is: "prompt", key: "1", entry, cause: "prompt" },
    { is: "thought", key: "1", text: TURNED, open: false, entry },
    { is: "notice", key: "1", entry: { ...node, kind: "notice", level: "info", code: "x", text: TURNED } },
    {
      is: "notice",
      key: "1",
      entry: { ...node, kind: "notice", level: "info", code: "persons_command", text: TURNED },
    },
    {
      is: "compaction",
      key: "1",
      entry: { ...node, kind: "compaction", compaction: { summary: TURNED, tokens_before: 1, trigger: "manual" } },
    },
    {
      is: "end",
      key: "1",
      run: {
        id: 1,
        startedAt: 0,
        turns: [],
        ended: { at: 1, outcome: { failed: { code: "x", message: TURNED, hint: TURNED } } },
      },
    },
  ];
  const drawn: [string, ComponentChildren][] = [
    ...all.map((row): [string, ComponentChildren] => [
      row.is,
      h(Entry, { row, open: true, toggle: () => undefined, again: () => undefined, edit: undefined }),
    ]),
    ["part", h(ShownPart, { part: { text: TURNED } })],
    ["thought part", h(ShownPart, { part: { thought: { text: TURNED } } })],
    ["opaque", h(ShownPart, { part: { opaque: { kind: TURNED, json: {} } } })],
    ["refusal", refusalWords({ message: TURNED, hint: TURNED })],
  ];
  for (const [name, one] of drawn) {
    expect(words(one), name).toContain(SHOWN);
    expect(words(one), name).not.toMatch(/[\u202a-\u202e]/);
  }
});
