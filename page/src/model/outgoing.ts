// A prompt on its way, and what is believed of those that a page left behind.

import type { Unsent } from "../view/ports";
import type { Command, Input } from "./types";

export interface Outgoing extends Unsent {
  command: Command;
  /** The session has its words already; only the receipt is still to come. */
  heard?: boolean | undefined;
  /** The last event when it was sent; absent while it was not. */
  sentAt?: number | undefined;
  ticket?: number | undefined;
}

/** The words of a command that says something. */
export function inputOf(command: Command): Input | undefined {
  if (typeof command !== "object") return undefined;
  return "enqueue" in command ? command.enqueue.input : "prompt" in command ? command.prompt.input : undefined;
}

/** Whether nobody else can have written into what this browser keeps for this address. */
export function isEncrypted(): boolean {
  return globalThis.location?.protocol === "https:";
}

/** No event has this number. */
const NEVER = -1;

/**
 * What was kept at a plain address, which another program may have spoken from meanwhile: only words that say
 * something, as the person will see them, and only to be sent by the person.
 */
export function onlyWords(kept: Partial<Outgoing> | null): Outgoing[] {
  const text = kept?.command === undefined ? undefined : inputOf(kept.command)?.text;
  if (typeof text !== "string" || typeof kept?.id !== "string") return [];
  return [
    {
      id: kept.id,
      text,
      kept: true,
      uncertain: true,
      sentAt: NEVER,
      command: { prompt: { input: { text }, options: { when_busy: "queue" } } },
    },
  ];
}
