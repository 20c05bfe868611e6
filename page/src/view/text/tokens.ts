// Markdown to marked's tokens. The lexer only: no HTML is ever made.

import { Lexer, type MarkedOptions, type Token, type TokensList } from "marked";
import { Blocks, definitions } from "./blocks";
import { heal } from "./heal";

export type { Token } from "marked";

/** A block's tokens, kept for as long as its text stays the same. */
export interface Parsed {
  text: string;
  tokens: Token[];
}

/** Maths between dollars: it is shown as it was written, for Markdown would take its backslashes and stars. */
const MATHS = /^(?:\$\$[^$]+\$\$|\$(?=[^\s$])[^$\n]*[^\s$]\$(?!\d))/;
const extensions: NonNullable<MarkedOptions["extensions"]> = {
  inline: [
    (text) => {
      const raw = MATHS.exec(text)?.[0];
      return raw === undefined ? undefined : { type: "text", raw, text: raw, escaped: false };
    },
  ],
  startInline: [(text) => text.indexOf("$")],
  renderers: {},
  childTokens: {},
};

export function lex(text: string, links = ""): Token[] {
  const lexer = new Lexer({ gfm: true, extensions });
  if (links !== "") {
    const known = new Lexer({ gfm: true }).lex(links).links;
    Object.assign((lexer.tokens as TokensList).links, known);
  }
  return lexer.lex(text);
}

/** Blocks that are drawn as one: a long message has hundreds, and only its end changes. */
const TOGETHER = 16;

/** Cuts blocks into lists that stay the same objects for as long as the blocks in them do. */
export class Bundles {
  private kept: Parsed[][] = [];

  take(blocks: Parsed[]): Parsed[][] {
    const found: Parsed[][] = [];
    for (let from = 0; from < blocks.length; from += TOGETHER) {
      const before = this.kept[found.length];
      const end = Math.min(from + TOGETHER, blocks.length);
      const same = before?.length === end - from && before.every((block, at) => block === blocks[from + at]);
      found.push(same ? before : blocks.slice(from, end));
    }
    this.kept = found;
    return found;
  }
}

/** A Markdown text that grows: closed blocks are parsed once. */
export class Growing {
  private readonly blocks = new Blocks();
  private done: Parsed[] = [];
  private links = "";
  private last: Parsed | undefined;

  /** The blocks of `text` as it stands now; `open` while more of it is to come. */
  take(text: string, open = false): Parsed[] {
    this.blocks.take(text);
    const { closed, rest } = this.blocks;
    if (closed.length < this.done.length) this.done = [];
    const links = this.blocks.defines || /^ {0,3}\[[^\]\n]+\]:/m.test(rest) ? definitions(text) : "";
    if (links !== this.links) {
      // A definition may be for a link that stands above it.
      this.links = links;
      this.done = this.done.map((block) => (block.text.includes("[") ? parsed(block.text, links) : block));
      this.last = undefined;
    }
    for (let at = this.done.length; at < closed.length; at += 1) this.done.push(parsed(closed[at] ?? "", this.links));
    if (rest.trim() === "") return this.done.slice();
    const shown = open ? heal(rest) : rest;
    if (this.last?.text !== shown) this.last = parsed(shown, this.links);
    return shown.trim() === "" ? this.done.slice() : [...this.done, this.last];
  }
}

function parsed(text: string, links: string): Parsed {
  return { text, tokens: lex(text, links) };
}
