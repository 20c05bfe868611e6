// A tool run: one line that opens. A failed one is open by itself.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { toolOutcome, type ToolRun } from "../../model/state";
import type { Decision, ToolOutcome } from "../../model/types";
import { duration, counted } from "../common/format";
import { Glyph, type Sign } from "../common/glyph";
import { now } from "../common/now";
import { bywords } from "../common/who";
import { Diffs } from "../diff/view";
import { spans } from "../text/ansi";
import { Prose, Seen } from "../text/seen";
import { visible } from "../text/unseen";
import { ShownPart } from "./part";
import { called } from "./called";
import { came, summary, verb } from "./words";

/** Of a long output the end is shown: what happened last tells most. */
const SHOWN = 20_000;

const GLYPHS: Record<ToolOutcome, [Sign, string, string]> = {
  done: ["check", "ok", "done"],
  failed: ["cross", "risk", "failed"],
  denied: ["cross", "soft", "denied"],
  skipped: ["ring", "faint", "skipped"],
  cancelled: ["square", "faint", "stopped"],
  unknown: ["question", "risk", "unknown: it ran when Parlor died"],
};

export function Tool({ tool, open, toggle }: { tool: ToolRun; open: boolean | undefined; toggle: () => void }) {
  const outcome = toolOutcome(tool);
  const waits = typeof tool.phase === "object" && "awaiting" in tool.phase;
  // A changed file is what people look for: it stands open, as a failure does.
  const changed = outcome === "done" && (tool.result?.parts ?? []).some((part) => "diff" in part);
  const shown =
    open ??
    (changed || outcome === "failed" || outcome === "unknown" || (tool.phase === "running" && tool.output !== ""));
  const [glyph, look, word] = outcome
    ? GLYPHS[outcome]
    : waits
      ? (["diamond", "wait", "waits for you"] as const)
      : tool.phase === "running"
        ? (["half", "accent", "running"] as const)
        : (["ring", "faint", "not started"] as const);
  const tail = [
    tool.status && !outcome
      ? [tool.status.percent === undefined ? undefined : `${tool.status.percent} %`, tool.status.message]
          .filter(Boolean)
          .join(" ")
      : undefined,
    outcome && outcome !== "done" ? word : undefined,
    outcome === "done" && !shown ? lines(tool) : undefined,
    tool.startedAt === undefined ? undefined : duration((tool.endedAt ?? now.value) - tool.startedAt),
  ]
    .filter(Boolean)
    .join(" · ");
  return (
    <div class="tool">
      <button type="button" class="tool-line" aria-expanded={shown} onClick={toggle}>
        <Glyph of={glyph} look={look} turns={tool.phase === "running"} />
        <span class="hidden">{word}: </span>
        <span>{visible(verb(tool.name, came(tool)))}</span>
        <span class="object cut">{summary(tool.args)}</span>
        {tail && <span class="tail">· {visible(tail)}</span>}
      </button>
      {shown && <Body tool={tool} />}
    </div>
  );
}

function lines(tool: ToolRun): string | undefined {
  const text = tool.result?.text ?? "";
  const count = text === "" ? 0 : text.trimEnd().split("\n").length;
  return count > 1 ? counted(count, "line") : undefined;
}

function Body({ tool }: { tool: ToolRun }) {
  const why = decided(tool.decision);
  const result = tool.result;
  const text = result ? result.text : tool.output;
  const diffs = (result?.parts ?? []).filter((part) => "diff" in part);
  // A diff says all that the arguments of an edit say, and better.
  const command = diffs.length > 0 ? undefined : called(tool);
  return (
    <div class="tool-body">
      {command && (
        <pre class="output" tabIndex={0} role="group" aria-label="Called with">
          <Seen text={command} />
        </pre>
      )}
      {(result?.parts ?? []).map((part, at) =>
        "diff" in part ? (
          <Diffs key={at} text={part.diff.text} path={part.diff.path} />
        ) : (
          <ShownPart key={at} part={part} />
        ),
      )}
      {text !== "" && !(diffs.length > 0 && toolOutcome(tool) === "done") && <Output text={text} />}
      {result?.truncated && <p class="why">The output is longer than what was kept here.</p>}
      {text === "" && !result?.parts?.length && toolOutcome(tool) !== undefined && <p class="why">No output.</p>}
      {why && (
        <p class="why">
          <Prose text={why} />
        </p>
      )}
    </div>
  );
}

export function Output({ text }: { text: string }) {
  return text.length > SHOWN ? <LongOutput text={text} /> : <Said text={text} />;
}

function LongOutput({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  if (all) return <Said text={text} />;
  return (
    <Said text={text.slice(-SHOWN)}>
      <button type="button" class="more" onClick={() => setAll(true)}>
        Show {counted(text.length - SHOWN, "character")} before this
      </button>
    </Said>
  );
}

function Said({ text, children }: { text: string; children?: ComponentChildren }) {
  return (
    <pre class="output" tabIndex={0} role="log" aria-label="Output" aria-live="off">
      {children}
      {spans(text).map((span) => (
        <span class={span.look || undefined}>
          <Seen text={span.text} />
        </span>
      ))}
    </pre>
  );
}

function decided(decision: Decision | undefined): string | undefined {
  if (!decision) return undefined;
  const verb = decision.allowed ? "Allowed" : "Denied";
  const reason = decision.reason ? `: ${decision.reason}` : "";
  if (decision.by === "policy") return decision.allowed ? undefined : `Denied by the mode${reason}`;
  if (decision.by === "foreign") return decision.allowed ? undefined : `Denied${reason}`;
  if ("rule" in decision.by) return `${verb} by a rule: ${decision.by.rule}`;
  return `${verb}${bywords(decision.by.person)}${reason}`;
}
