// What of a session can be changed from here; and where it cannot, why not. The server refuses the same; this only says
// it before.

import type { Abilities, Budget } from "../../model/types";
import type { DeviceRole } from "../ports";
import { visible } from "../text/unseen";

export type Switch = "title" | "model" | "effort" | "mode" | "limits" | "queue" | "tools";

/** Why each cannot be changed; nothing where it can. */
export function whyNot(can: Abilities, role: DeviceRole): Record<Switch, string | undefined> {
  const whole = role === "controller" ? undefined : "This device may not change anything.";
  const name = visible(can.name) || "This runtime";
  const unless = (able: boolean, words: string): string | undefined => whole ?? (able ? undefined : words);
  const rules = `${name} has its own rules.`;
  return {
    title: unless(can.rename_session !== false, `${name} names its sessions itself.`),
    model: unless(can.set_model ?? can.models, `${name} does not let others choose its model.`),
    effort: unless(can.effort !== false, `${name} does not let others choose how hard it thinks.`),
    mode: unless(can.policy !== false, rules),
    limits: unless(can.policy !== false, rules),
    queue: unless(can.steer || can.follow_up, `${name} has no queue.`),
    tools: unless(can.set_tools ?? can.models, `${name} does not let others choose its tools.`),
  };
}

/** Each limit as a person writes it: the words for it, and how many of ours are in one of theirs. */
export const LIMITS: { key: keyof Budget; words: string; of: number }[] = [
  { key: "max_cost_micros", words: "Cost of the session, $", of: 1_000_000 },
  { key: "max_steps", words: "Requests in a run", of: 1 },
  { key: "max_time_s", words: "Minutes of a turn", of: 60 },
];

export function limitText(budget: Budget, limit: (typeof LIMITS)[number]): string {
  const value = budget[limit.key];
  return value === undefined ? "" : String(value / limit.of);
}

/**
 * The budget with one limit changed. Empty is as the settings say, zero is no limit; words that are no number are told.
 */
export function withLimit(budget: Budget, limit: (typeof LIMITS)[number], text: string): Budget | string {
  const { [limit.key]: _, ...rest } = budget;
  const said = text.trim().replace(/^\$/, "").replace(",", ".");
  if (said === "") return rest;
  const value = /^\d+(?:\.\d+)?$/.test(said) ? Math.round(Number(said) * limit.of) : Number.NaN;
  if (!Number.isSafeInteger(value)) return `${limit.words}: “${text.trim()}” is no number.`;
  if (limit.of === 1 && !/^\d+$/.test(said)) return `${limit.words}: a whole number is needed.`;
  return { ...rest, [limit.key]: value };
}

/** The tools that the model may use when one is switched; nothing when these are all. */
export function withTool(
  all: readonly { name: string; active: boolean }[],
  name: string,
  on: boolean,
): string[] | undefined {
  const next = all.filter((tool) => (tool.name === name ? on : tool.active)).map((tool) => tool.name);
  return next.length === all.length ? undefined : next;
}
