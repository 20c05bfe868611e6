// What opens over a session: changes with undo, branches as a picture, timeline.

import { useEffect, useState } from "preact/hooks";
import { children, path, textOf, toolOutcome, type Entry, type State } from "../../model/state";
import type { Command, DiffSince } from "../../model/types";
import { refused, toast } from "../chrome/toasts";
import { counted, duration } from "../common/format";
import { Icon } from "../common/icon";
import { isDiff } from "../diff/parse";
import { Diffs } from "../diff/view";
import { promptOf, moveTo, type LeafMove } from "./back";
import { wanted } from "../composer/returned";
import { refusalWords, type SessionPort } from "../ports";
import { Prose } from "../text/seen";
import { oneLine, visible } from "../text/unseen";
import { came, summary, verb } from "./words";

const SINCE: [DiffSince, string][] = [
  ["prompt", "Last prompt"],
  ["start", "Whole session"],
  ["commit", "Last commit"],
];

export function Changes({ port }: { port: SessionPort }) {
  const [since, setSince] = useState<DiffSince>("prompt");
  const [text, setText] = useState<string | undefined>();
  const [trouble, setTrouble] = useState<string | undefined>();
  const may = port.role.value === "controller";
  const look = (): void => {
    setTrouble(undefined);
    port.send({ diff_files: { since } }).then(
      (receipt) => setText(typeof receipt === "object" && "files" in receipt ? receipt.files.text : ""),
      (error: unknown) => setTrouble(refusalWords(error)),
    );
  };
  useEffect(look, [since]);
  const act = (command: Command): void => {
    port.send(command).then(
      (receipt) => {
        if (typeof receipt === "object" && "files" in receipt) toast("success", visible(receipt.files.text));
        look();
      },
      (error: unknown) => setTrouble(refusalWords(error)),
    );
  };
  return (
    <>
      <div class="row">
        <label class="row">
          Since{" "}
          <select value={since} onChange={(event) => setSince(event.currentTarget.value as DiffSince)}>
            {SINCE.map(([name, words]) => (
              <option value={name}>{words}</option>
            ))}
          </select>
        </label>
        <span class="grow" />
        <button type="button" class="button" disabled={!may} onClick={() => act({ undo_files: { leave: false } })}>
          <Icon name="undo" /> Undo last prompt
        </button>
        <button
          type="button"
          class="button"
          disabled={!may || !wasUndone(port.state.value)}
          onClick={() => act({ redo_files: { leave: false } })}
        >
          <Icon name="redo" /> Redo
        </button>
      </div>
      {trouble && (
        <p class="risk" role="alert">
          <Prose text={trouble} />
        </p>
      )}
      {text === undefined ? (
        !trouble && <p class="soft">Looking…</p>
      ) : isDiff(text) ? (
        <Diffs text={text} />
      ) : (
        <p class="soft">
          <Prose text={text || "Nothing changed."} />
        </p>
      )}
    </>
  );
}

/** Whether changes of files were ever taken back: without that there is nothing to do again. */
export function wasUndone(state: State): boolean {
  for (const entry of state.entries.values()) if (entry.kind === "notice" && entry.code === "files_undone") return true;
  return false;
}

interface Node {
  entry: Entry;
  x: number;
  y: number;
  here: boolean;
}

const STEP = 26;
const LANE = 20;

/** Prompts and summaries are nodes; what comes between them is their line. */
export function placed(state: State): { nodes: Node[]; edges: [Node, Node][] } {
  const below = children(state);
  const here = new Set(path(state).map((entry) => entry.id));
  const nodes: Node[] = [];
  const edges: [Node, Node][] = [];
  let lanes = 0;
  // An own stack: a long conversation is deeper than a call may be.
  const stack: { entry: Entry; from: Node | undefined; lane: number }[] = [];
  const roots = below.get(undefined) ?? [];
  roots
    .slice()
    .reverse()
    .forEach((entry, at) => void stack.push({ entry, from: undefined, lane: at === roots.length - 1 ? 0 : -1 }));
  while (stack.length > 0) {
    const { entry, from, lane } = stack.pop() as (typeof stack)[number];
    const at = lane < 0 ? (lanes += 1) : lane;
    let node = from;
    if (entry.kind === "compaction" || (entry.kind === "message" && entry.role === "user")) {
      node = { entry, x: at, y: nodes.length, here: here.has(entry.id) };
      nodes.push(node);
      if (from) edges.push([from, node]);
    }
    const next = (below.get(entry.id) ?? []).filter((child) => child.kind !== "notice");
    next
      .slice()
      .reverse()
      .forEach(
        (child, index) => void stack.push({ entry: child, from: node, lane: index === next.length - 1 ? at : -1 }),
      );
  }
  return { nodes, edges };
}

export function Tree({ port, state, close }: { port: SessionPort; state: State; close: () => void }) {
  const { nodes, edges } = placed(state);
  const [chosen, setChosen] = useState<Entry | undefined>();
  if (nodes.length === 0) return <p class="soft">Nothing was said yet.</p>;
  const wide = (Math.max(...nodes.map((node) => node.x)) + 1) * LANE;
  const abilities = port.abilities.value;
  const go = (command: Command): void => void port.send(command).then(close, refused);
  // Files first: where they cannot go, the words stay too.
  const perform = async (move: LeafMove, withFiles: boolean, prompt: string | undefined): Promise<void> => {
    try {
      if (withFiles) {
        const receipt = await port.send({ go_files: { back: move.back, forth: move.forth, leave: false } });
        if (typeof receipt === "object" && "files" in receipt) toast("success", visible(receipt.files.text));
      }
      await port.send(move.leaf === undefined ? { set_leaf: {} } : { set_leaf: { leaf: move.leaf } });
    } catch (error) {
      return refused(error);
    }
    if (prompt !== undefined) wanted.value = prompt;
    close();
  };
  const may = port.role.value === "controller";
  const spot = (node: Node): [number, number] => [10 + node.x * LANE, 14 + node.y * STEP];
  const words = (entry: Entry): string => oneLine(entry.kind === "message" ? textOf(entry) : "summary", 90);
  return (
    <div class="tree">
      <p class="soft">Choose a prompt to go back to it. Nothing is lost: the other branch stays.</p>
      <svg width={Math.max(wide + 560, 200)} height={nodes.length * STEP + 8} role="group" aria-label="Branches">
        {edges.map(([from, to]) => {
          const [[x1, y1], [x2, y2]] = [spot(from), spot(to)];
          return (
            <path
              class={`edge${from.here && to.here ? " here" : ""}`}
              d={x1 === x2 ? `M${x1} ${y1}V${y2}` : `M${x1} ${y1}V${y2 - 10}Q${x1} ${y2} ${x2} ${y2}`}
            />
          );
        })}
        {nodes.map((node) => {
          const [x, y] = spot(node);
          const pick = (event: Event): void => {
            event.preventDefault();
            setChosen(node.entry);
          };
          return (
            <a
              href="#"
              role="button"
              aria-label={`${words(node.entry)}${node.here ? ", on the current branch" : ""}`}
              onClick={pick}
            >
              <rect class="hit" x={0} y={y - STEP / 2} width={wide + 560} height={STEP} rx={4} />
              <circle class={`node${node.here ? " here" : ""}`} cx={x} cy={y} r={5} />
              <text x={wide + 8} y={y + 4}>
                {words(node.entry)}
              </text>
            </a>
          );
        })}
      </svg>
      {chosen && (
        <div class="chosen">
          <p class="cut">{words(chosen)}</p>
          <Going
            name="Go before it"
            move={moveTo(state, abilities, chosen.parent)}
            may={may}
            go={(move, files) => void perform(move, files, promptOf(chosen))}
          />
          {tip(state, chosen) !== state.leaf && (
            <Going
              name="Go to this branch"
              move={moveTo(state, abilities, tip(state, chosen))}
              may={may}
              go={(move, files) => void perform(move, files, undefined)}
            />
          )}
          <div class="row">
            <button
              type="button"
              class="button"
              disabled={!may}
              onClick={() => go({ branch_session: { at: chosen.id } })}
            >
              New session from here
            </button>
          </div>
        </div>
      )}
    </div>
  );
}

/** One move: with words only, or with what the prompts in between did to files. */
export function Going({
  name,
  move,
  may,
  go,
}: {
  name: string;
  move: LeafMove;
  may: boolean;
  go: (move: LeafMove, files: boolean) => void;
}) {
  const off = !may || move.why !== undefined;
  return (
    <div class="row">
      <button type="button" class="button" disabled={off} onClick={() => go(move, false)}>
        {name}
        {move.files === "choose" ? ", words only" : ""}
      </button>
      {move.files === "choose" && (
        <button type="button" class="button" disabled={off} onClick={() => go(move, true)}>
          {name}, words and files
        </button>
      )}
      <span class="soft">
        {move.why ??
          {
            choose: "Words only: files stay as they are.",
            stay: "Files stay as they are: this runtime cannot undo changes.",
            none: "",
          }[move.files]}
      </span>
    </div>
  );
}

/** The newest entry below. */
function tip(state: State, entry: Entry): number {
  const below = children(state);
  let last = entry.id;
  for (;;) {
    const next = (below.get(last) ?? []).filter((child) => child.kind !== "notice").at(-1);
    if (!next) return last;
    last = next.id;
  }
}

interface Span {
  name: string;
  from: number;
  to: number;
  look: string;
}

/** A wait that is shorter is none of a person. */
const WAITED_MS = 1000;

/** What took how long: runs by their number in the session, and what was in them. */
export function spans(state: State, now: number): Span[] {
  const tools = [...state.tools.values()].slice(-200);
  const first = Math.max(0, state.runs.length - 20);
  const rows: Span[] = [];
  state.runs.slice(first).forEach((run, at) => {
    rows.push({
      name: `Run ${first + at + 1}`,
      from: run.startedAt,
      to: run.ended?.at ?? now,
      look: typeof run.ended?.outcome === "object" ? "failed" : "",
    });
    for (const tool of tools.filter((one) => one.run === run.id)) {
      const what = `${verb(tool.name, came(tool))} ${summary(tool.args)}`;
      if (tool.startedAt === undefined) {
        const waits = typeof tool.phase === "object" && "awaiting" in tool.phase;
        const asked = waits || (typeof tool.decision?.by === "object" && "person" in tool.decision.by);
        if (asked)
          rows.push({
            name: `  ${waits ? "waits" : "waited"} for an answer${waits ? "" : tool.decision?.allowed ? "" : ", denied"}: ${what}`,
            from: tool.proposedAt,
            to: tool.endedAt ?? run.ended?.at ?? now,
            look: "asked",
          });
        continue;
      }
      if (tool.startedAt - tool.proposedAt > WAITED_MS)
        rows.push({ name: "  waited for an answer", from: tool.proposedAt, to: tool.startedAt, look: "asked" });
      rows.push({
        name: `  ${what}`,
        from: tool.startedAt,
        to: tool.endedAt ?? now,
        look: toolOutcome(tool) === "failed" ? "failed" : "tool",
      });
    }
  });
  return rows;
}

export function Timeline({ state, now }: { state: State; now: number }) {
  const rows = spans(state, now);
  if (rows.length === 0) return <p class="soft">Nothing was run yet.</p>;
  const from = Math.min(...rows.map((row) => row.from));
  const all = Math.max(1, Math.max(...rows.map((row) => row.to)) - from);
  const percent = (ms: number): string => `${(ms * 100) / all}%`;
  return (
    <ol class="timeline" aria-label={counted(rows.length, "span")}>
      {rows.map((row) => (
        <li class={row.name.startsWith("  ") ? "inner" : undefined}>
          <span class="name cut" title={oneLine(row.name.trim())}>
            {oneLine(row.name.trim(), 120)}
          </span>
          <span class="track" aria-hidden="true">
            <i
              class={`bar ${row.look}`}
              style={{ left: percent(row.from - from), width: percent(row.to - row.from) }}
            />
          </span>
          <span class="faint">{duration(row.to - row.from)}</span>
        </li>
      ))}
    </ol>
  );
}
