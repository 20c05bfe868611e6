// The words of a question. Each thing is said once: what the preview shows is not in the title again.

import type { Abilities, Answer, Ask, Assessment, Closing, Consent } from "../../model/types";
import { bywords } from "../common/who";
import { oneLine, visible } from "../text/unseen";

export function title(ask: Ask): string {
  const said = oneLine(ask.title);
  if (!("consent" in ask.kind)) return said;
  const { preview, name } = ask.kind.consent;
  const vague = isVague(said, name);
  if (preview && "command" in preview && (vague || repeats(said, preview.command.line))) return "Run this command?";
  if (preview && "diff" in preview && vague) return `Change ${visible(preview.diff.path)}?`;
  return vague ? `Use ${visible(name)}?` : asking(said);
}

/** What is to be done, as a question: “write a.txt” is “Write a.txt?”. */
function asking(said: string): string {
  return /[?!.:…]$/.test(said) || said === "" ? said : `${said.charAt(0).toUpperCase()}${said.slice(1)}?`;
}

function isVague(title: string, tool: string): boolean {
  const said = title.replace(/[?. ]+$/, "").toLowerCase();
  const at = said.indexOf(" ");
  const [verb, what] = at < 0 ? [said, ""] : [said.slice(0, at), said.slice(at + 1)];
  return (
    ["run", "use", "allow", "approve", "execute"].includes(verb) &&
    (["tool", "a tool", "this tool", "command", "a command"].includes(what) || what === tool.toLowerCase())
  );
}

function repeats(title: string, line: string): boolean {
  const start = visible(line.trim().split("\n")[0] ?? "").slice(0, 40);
  return start !== "" && title.includes(start);
}

export function risk(assessment: Assessment): string {
  const word = assessment.unrated
    ? ""
    : { low: "Low risk", medium: "Medium risk", high: "High risk", critical: "Critical risk" }[assessment.risk];
  const undo =
    assessment.reversible || assessment.risk === "low"
      ? ""
      : assessment.risk === "medium"
        ? "may not be undoable"
        : "cannot be undone";
  return [word, undo].filter(Boolean).join(", ");
}

export function rule(consent: Consent): string | undefined {
  if (consent.rule === undefined) return undefined;
  const said = oneLine(consent.rule);
  const line = consent.preview && "command" in consent.preview ? consent.preview.command.line.trim() : undefined;
  const exactly = `run exactly \`${oneLine(line ?? "")}\``;
  // What it would have answered may stand behind it.
  const rest = line !== undefined && said.startsWith(exactly) ? said.slice(exactly.length) : undefined;
  return rest === "" || rest?.startsWith("; would ") ? `exactly this command${rest}` : said;
}

/** How far a yes goes that is for more than once, as `reach` in `crates/tui/src/layout/page.rs` reads it. */
export type Reach = "same" | "theirs" | "project";

export function reach(can: Abilities): Reach {
  return can.session_scope === false ? "same" : can.policy === false ? "theirs" : "project";
}

/** What the buttons for more than once are called, and what stands before the rule that they make. */
export const REACH: Record<Reach, { session: string; always: string; rule: string }> = {
  // The rule is not kept that long: only the same action is.
  same: { session: "Allow the same again", always: "Always allow", rule: "“Always allow” would also allow" },
  theirs: {
    session: "Allow for session",
    always: "Always allow",
    rule: "“Allow for session” and “Always allow” would also allow",
  },
  project: {
    session: "Allow for session",
    always: "Always allow",
    rule: "“Allow for session” and “Always allow” (in this project) would also allow",
  },
};

/**
 * What the button for a no is called: where a reason is taken, a no without one stops the run, and with one the agent
 * goes on.
 */
export function noWord(ask: Pick<Ask, "run">, consent: Pick<Consent, "takes_reason">): string {
  return consent.takes_reason && ask.run !== undefined ? "Deny and stop" : "Deny";
}

/** What became of a question that somebody else has closed. */
export function closed(closing: Closing): string {
  if (closing === "withdrawn") return "The question was withdrawn.";
  if (closing === "expired") return "The question's time ran out.";
  if (closing === "unattended") return "Nobody could be asked.";
  const { answer, by } = closing.answered;
  return `Answered${bywords(by) || (by ? " on another screen" : " elsewhere")}: ${answered(answer)}.`;
}

export function answered(answer: Answer): string {
  if (answer === "dismissed") return "no answer";
  if ("allow" in answer)
    return { once: "allowed once", session: "allowed for this session", always: "always allowed" }[answer.allow.scope];
  if ("deny" in answer) return answer.deny.reason ? `denied, “${oneLine(answer.deny.reason, 80)}”` : "denied";
  if ("confirmed" in answer) return answer.confirmed ? "yes" : "no";
  if ("chosen" in answer)
    return answer.chosen.length === 0 ? "nothing chosen" : answer.chosen.map((id) => oneLine(id, 40)).join(", ");
  return "a text";
}
