// Who did something, as people call it.

import type { DeviceRole } from "../ports";
import { oneLine } from "../text/unseen";

/** A screen as a person knows it; nothing where the wire tells only a number. */
export function who(by: string | null | undefined): string | undefined {
  const name = oneLine((by ?? "").replace(/#\d+$/, ""), 40).trim();
  if (name === "" || name === "native") return undefined;
  return name === "terminal" ? "the terminal" : name;
}

/** How it is told that somebody has done something; a name is left out where none is known. */
export function bywords(by: string | null | undefined): string {
  const name = who(by);
  return name === undefined ? "" : name === "the terminal" ? " in the terminal" : ` by ${name}`;
}

/** For whom a question waits: whoever may only look is not asked. */
export function forWhom(role: DeviceRole): string {
  return role === "observer" ? "for an answer" : "for you";
}

/** What a device that may not do everything may do. */
export function mayWords(role: DeviceRole): string {
  return role === "observer" ? "This device may only look." : "This device may only allow or deny.";
}
