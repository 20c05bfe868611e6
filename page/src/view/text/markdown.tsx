// Draws marked's tokens as elements of our own. HTML of a transcript stays text, pictures are never fetched.

import type { Token, Tokens } from "marked";
import type { ComponentChildren, VNode } from "preact";
import { Shape } from "../common/glyph";
import { memo } from "../common/memo";
import { Code } from "./code";
import { decode } from "./entities";
import { PENDING } from "./heal";
import { followable } from "./links";
import { Prose, Seen } from "./seen";
import type { Parsed } from "./tokens";
import { visible } from "./unseen";

/** Deeper lists and quotes than this are shown as their text. */
const MAX_DEPTH = 24;

/** One block; drawn again only when its tokens are others. */
export const Block = memo(function Block({ block, open }: { block: Parsed; open: boolean }) {
  return <>{blocks(block.tokens, open, 0)}</>;
});

function blocks(tokens: Token[], open: boolean, depth: number): ComponentChildren[] {
  return tokens.map((token, at) => one(token, open && at === tokens.length - 1, depth));
}

function one(token: Token, open: boolean, depth: number): ComponentChildren {
  if (depth > MAX_DEPTH)
    return (
      <p>
        <Prose text={token.raw} />
      </p>
    );
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return heading(token as Tokens.Heading);
    case "paragraph":
      return <p>{inline(token.tokens ?? [], depth)}</p>;
    case "text": {
      const inner = (token as Tokens.Text).tokens;
      return inner ? <span>{inline(inner, depth)}</span> : <Prose text={decode((token as Tokens.Text).text)} />;
    }
    case "code": {
      const code = token as Tokens.Code;
      return <Code text={code.text} language={code.lang} open={open && !closed(code.raw)} />;
    }
    case "hr":
      return <hr />;
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [], open, depth + 1)}</blockquote>;
    case "list":
      return list(token as Tokens.List, open, depth);
    case "table":
      return table(token as Tokens.Table, depth);
    case "html":
      return (
        <p class="as-text">
          <Seen text={token.raw.trimEnd()} />
        </p>
      );
    default:
      return (
        <p>
          <Prose text={token.raw} />
        </p>
      );
  }
}

/** Whether a fence has its end: only then is its code whole. */
function closed(raw: string): boolean {
  const mark = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1];
  if (!mark) return true;
  const lines = raw.trimEnd().split("\n");
  return lines.length > 1 && (lines.at(-1) ?? "").trim().startsWith(mark);
}

function heading(token: Tokens.Heading): VNode {
  const inner = inline(token.tokens, 0);
  // All of one level, below the page's own: an answer begins at any, and leaves some out.
  return <h3 class={token.depth === 1 ? "md-1" : undefined}>{inner}</h3>;
}

function list(token: Tokens.List, open: boolean, depth: number): VNode {
  const items = token.items.map((item, at) => (
    <li class={item.task ? "task" : undefined}>
      {item.task && (
        <span class="task-mark" role="img" aria-label={item.checked ? "done" : "not done"}>
          <Shape of={item.checked ? "ticked" : "unticked"} />
        </span>
      )}
      {blocks(
        item.tokens.filter((inner) => inner.type !== "checkbox"),
        open && at === token.items.length - 1,
        depth + 1,
      )}
    </li>
  ));
  return token.ordered ? <ol start={token.start === "" ? 1 : token.start}>{items}</ol> : <ul>{items}</ul>;
}

function table(token: Tokens.Table, depth: number): VNode {
  const align = (cell: Tokens.TableCell): string | undefined => (cell.align ? `align-${cell.align}` : undefined);
  return (
    <div class="table" role="group" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {token.header.map((cell) => (
              <th scope="col" class={align(cell)}>
                {inline(cell.tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td class={align(cell)}>{inline(cell.tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: Token[], depth: number): ComponentChildren[] {
  return tokens.map((token) => word(token, depth + 1));
}

function word(token: Token, depth: number): ComponentChildren {
  if (depth > MAX_DEPTH) return <Prose text={token.raw} />;
  switch (token.type) {
    case "text":
    case "escape": {
      const inner = (token as Tokens.Text).tokens;
      return inner ? inline(inner, depth) : <Prose text={decode((token as Tokens.Text).text)} />;
    }
    case "strong":
      return <strong>{inline(token.tokens ?? [], depth)}</strong>;
    case "em":
      return <em>{inline(token.tokens ?? [], depth)}</em>;
    case "del":
      return <del>{inline(token.tokens ?? [], depth)}</del>;
    case "codespan":
      return (
        <code>
          <Seen text={(token as Tokens.Codespan).text} />
        </code>
      );
    case "br":
      return <br />;
    case "link":
      return link(token as Tokens.Link, depth);
    case "image": {
      // A picture from elsewhere would tell its server that somebody reads this.
      const image = token as Tokens.Image;
      const href = followable(image.href);
      const name = `image: ${visible(decode(image.text) || image.href)}`;
      return href ? (
        <a href={href} rel="noopener noreferrer" target="_blank">
          {name}
        </a>
      ) : (
        <span>{name}</span>
      );
    }
    case "checkbox":
      return null;
    default:
      return <Prose text={token.raw} />;
  }
}

function link(token: Tokens.Link, depth: number): ComponentChildren {
  const inner = inline(token.tokens, depth);
  // Where it leads is still being written.
  if (token.href === PENDING) return <span class="link">{inner}</span>;
  const href = followable(token.href);
  if (!href)
    return (
      <span title={visible(token.href)}>
        {inner}
        {token.text === token.href ? null : ` (${visible(token.href)})`}
      </span>
    );
  return (
    <a href={href} rel="noopener noreferrer" target="_blank" title={href}>
      {inner}
    </a>
  );
}
