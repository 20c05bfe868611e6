// What somebody hears who does not see the screen: a question, the end of an answer, a stop. One region, and nothing is
// said twice.

import { useEffect, useRef, useState } from "preact/hooks";
import { openRun, type State } from "../../model/state";
import type { Ask, Outcome } from "../../model/types";
import { risk, title } from "../ask/words";
import { oneLine } from "../text/unseen";
import type { Row } from "./rows";

/** Most characters of an answer that are read out. */
const MOST = 160;

export function questionWords(ask: Ask): string {
  const what = "consent" in ask.kind ? ask.kind.consent : undefined;
  const preview = what?.preview;
  const command = preview && "command" in preview ? oneLine(preview.command.line, MOST) : "";
  return [`Question: ${title(ask)}`, command, what ? risk(what.assessment) : ""].filter(Boolean).join(" ");
}

/** How a run ended, with the beginning of what it said last. */
export function endWords(outcome: Outcome, rows: readonly Row[]): string {
  if (typeof outcome === "object") return `Failed: ${oneLine(outcome.failed.message, MOST)}`;
  if (outcome !== "done") return { cancelled: "Stopped", interrupted: "Interrupted", lost: "Lost" }[outcome];
  if (rows.at(-1)?.is === "end") return "Stopped: denied";
  const last = rows.findLast((row) => row.is === "text");
  const line = last?.is === "text" ? last.text.split("\n").find((line) => line.trim() !== "") : undefined;
  return line ? `Answered: ${oneLine(line.replace(/[*_`#]+/g, ""), MOST)}` : "Done";
}

export function Live({ state, rows }: { state: State; rows: readonly Row[] }) {
  const [words, setWords] = useState("");
  const ask = state.asks[0];
  const run = openRun(state)?.id;
  const before = useRef(run);
  useEffect(() => {
    if (ask) setWords(questionWords(ask));
  }, [ask?.id]);
  useEffect(() => {
    const was = before.current;
    before.current = run;
    if (was === undefined || was === run) return;
    const ended = state.runs.find((one) => one.id === was)?.ended;
    if (ended) setWords(endWords(ended.outcome, rows));
  }, [run]);
  return (
    <p class="hidden" id="live" role="status">
      {words}
    </p>
  );
}
