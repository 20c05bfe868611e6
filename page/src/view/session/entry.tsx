// One row of the transcript.

import { useEffect, useRef } from "preact/hooks";
import type { Outcome } from "../../model/types";
import { Glyph, LEVELS } from "../common/glyph";
import { memo } from "../common/memo";
import { clock, duration } from "../common/format";
import { CopyButton, copyText } from "../common/copy";
import { Icon } from "../common/icon";
import { Block } from "../text/markdown";
import { Bundles, Growing, type Parsed } from "../text/tokens";
import { Prose } from "../text/seen";
import { visible } from "../text/unseen";
import { Picture, ShownPart } from "./part";
import type { Row } from "./rows";
import { Output, Tool } from "./tool";

export interface EntryProps {
  row: Row;
  /** Whether the reader has opened or folded it; nothing when not touched. */
  open: boolean | undefined;
  toggle: (key: string) => void;
  again: () => void;
  /** Goes back before a prompt, which comes to the composer; absent where that cannot be done. */
  edit: ((entry: number) => void) | undefined;
}

export const Entry = memo(function Entry({ row, open, toggle, again, edit }: EntryProps) {
  switch (row.is) {
    case "prompt": {
      const text = row.entry.parts.map((part) => ("text" in part ? part.text : "")).join("");
      const images = row.entry.parts.filter((part) => "image" in part);
      const rest = row.entry.parts.filter((part) => !("image" in part) && !("text" in part));
      return (
        <>
          <div class="prompt">
            <span class={row.cause && row.cause !== "prompt" ? "cause" : "hidden"}>
              {row.cause === "steer" ? "You, steering" : row.cause === "follow_up" ? "You, queued" : "You"}
            </span>
            <Prose text={text} />
            {images.length > 0 && (
              <div class="images">
                {images.map((part) => (
                  <Picture mime={part.image.mime} base64={part.image.base64} />
                ))}
              </div>
            )}
            {rest.map((part) => (
              <ShownPart part={part} />
            ))}
          </div>
          <div class="prompt-acts">
            {edit && (
              <button type="button" class="quiet" onClick={() => edit(row.entry.id)}>
                <Icon name="edit" size={12} /> Edit and send again
              </button>
            )}
            <time class="faint">{clock(row.entry.at)}</time>
          </div>
        </>
      );
    }
    case "text":
      return (
        <>
          <Words text={row.text} open={row.open} />
          {!row.open && (
            <div class="row-acts">
              <CopyButton text={row.text} what="answer" />
            </div>
          )}
        </>
      );
    case "thought": {
      const shown = open ?? false;
      return (
        <>
          <button type="button" class="fold-line" aria-expanded={shown} onClick={() => toggle(row.key)}>
            <Glyph of={shown ? "open" : "closed"} look="faint" />
            <span>{row.open ? "Thinking" : "Thought"}</span>
            {!shown && (
              <span class="faint cut grow">{visible(row.text.trim().split("\n")[0]?.slice(0, 160) ?? "")}</span>
            )}
          </button>
          {shown && (
            <div class="thought">
              <Prose text={row.text} />
            </div>
          )}
        </>
      );
    }
    case "tool":
      return <Tool tool={row.tool} open={open} toggle={() => toggle(row.key)} />;
    case "part":
      return <ShownPart part={row.part} />;
    case "notice":
      if (row.entry.code === "persons_command") return <Output text={row.entry.text} />;
      return (
        <p class={`notice${row.entry.level === "error" ? " risk" : ""}`}>
          <Glyph of={LEVELS[row.entry.level]} />
          <span>
            <Prose text={row.entry.text} />
          </span>
        </p>
      );
    case "compaction": {
      const shown = open ?? false;
      return (
        <div class="compaction">
          <button type="button" class="fold-line" aria-expanded={shown} onClick={() => toggle(row.key)}>
            <Glyph of={shown ? "open" : "closed"} look="faint" />
            What came before is a summary from here on
          </button>
          {shown && (
            <div class="thought">
              <Prose text={row.entry.compaction.summary} />
            </div>
          )}
        </div>
      );
    }
    case "cut":
      return (
        <p class="notice">
          <Glyph of="warning" />
          {row.words}
        </p>
      );
    case "end":
      return (
        <End
          outcome={row.run.ended?.outcome ?? "done"}
          ms={(row.run.ended?.at ?? 0) - row.run.startedAt}
          again={again}
        />
      );
  }
});

function Words({ text, open }: { text: string; open: boolean }) {
  const growing = useRef<{ blocks: Growing; bundles: Bundles } | undefined>(undefined);
  growing.current ??= { blocks: new Growing(), bundles: new Bundles() };
  const { blocks, bundles } = growing.current;
  const all = bundles.take(blocks.take(text, open));
  return (
    <div class="words">
      {all.map((some, at) => (
        <Bundle key={at} blocks={some} open={open && at === all.length - 1} />
      ))}
    </div>
  );
}

/**
 * How long a bundle is laid out before it may be left out while nobody sees it: its height is known by then, and
 * nothing moves.
 */
const LAID_OUT_MS = 500;

const Bundle = memo(function Bundle({ blocks, open }: { blocks: Parsed[]; open: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (open) return;
    const wait = setTimeout(() => box.current?.classList.add("far"), LAID_OUT_MS);
    return () => clearTimeout(wait);
  }, [open]);
  return (
    <div class="blocks" ref={box}>
      {blocks.map((block, at) => (
        <div class="block" key={at}>
          <Block block={block} open={open && at === blocks.length - 1} />
        </div>
      ))}
    </div>
  );
});

function End({ outcome, ms, again }: { outcome: Outcome; ms: number; again: () => void }) {
  if (typeof outcome === "object") {
    const { code, message, hint } = outcome.failed;
    const ended = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
    const words = `Failed: ${ended(message)}`;
    const next = hint && ended(hint.charAt(0).toUpperCase() + hint.slice(1));
    return (
      <div class="failed-run" role="alert">
        <p class="notice strong">
          <Glyph of="cross" look="risk" />
          <span>
            <Prose text={words} />
          </span>
        </p>
        {next && (
          <p class="next">
            <Prose text={next} />
          </p>
        )}
        <div class="row">
          <button type="button" class="button" onClick={again}>
            Try again
          </button>
          <button
            type="button"
            class="button"
            onClick={() => void copyText([`${code}: ${words}`, next].filter(Boolean).join("\n"))}
          >
            Copy details
          </button>
        </div>
      </div>
    );
  }
  // When it was interrupted nobody knows: its end was written when it was opened again.
  const words = {
    // Such an end has a row only where a no was the reason.
    done: "Stopped: what it asked for was denied",
    cancelled: "Stopped",
    interrupted: "Interrupted: Parlor ended in the middle",
    lost: "The runtime went away in the middle",
  }[outcome];
  return (
    <p class="notice">
      <Glyph of={outcome === "cancelled" || outcome === "done" ? "square" : outcome === "lost" ? "broken" : "pause"} />
      <span>
        {words}
        {outcome === "interrupted" || outcome === "done" ? "" : ` after ${duration(ms)}`}.
      </span>
    </p>
  );
}
