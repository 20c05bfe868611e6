// Words that this page has queued. Those that nobody will hear any more, since the run was stopped, go back to who
// wrote them: also where the page was away meanwhile.

import { forget, keep, kept, OUTBOX } from "./database";
import type { State } from "./state";
import type { Body, Input } from "./types";

/** Most inputs of which it is known that they are of this page. */
const MOST = 64;

export class OwnQueue {
  private readonly items = new Map<number, Input>();

  constructor(private session: string | undefined) {}

  /** What was queued before the page was left. */
  async restore(): Promise<void> {
    if (this.session === undefined) return;
    const stored = await kept<Array<[number, Input]>>(OUTBOX, keyOf(this.session)).catch(() => undefined);
    for (const [item, input] of stored ?? []) if (!this.items.has(item)) this.items.set(item, input);
  }

  /** The session has a name now. */
  named(session: string): void {
    this.session = session;
  }

  has(item: number): boolean {
    return this.items.has(item);
  }

  add(item: number, input: Input): void {
    if (this.items.size >= MOST) this.items.delete(this.items.keys().next().value ?? item);
    this.items.set(item, input);
    this.store();
  }

  /**
   * What this event leaves unheard; to be asked before the event is folded. `stopped`: by this page, so all words come
   * here.
   */
  left(body: Body, state: State, stopped: boolean): Input | undefined {
    if ("queue_edited" in body && this.items.has(body.queue_edited.item))
      this.add(body.queue_edited.item, body.queue_edited.input);
    if (!("unqueued" in body)) return undefined;
    const { item, leaving } = body.unqueued;
    const own = this.items.delete(item);
    if (own) this.store();
    if (leaving !== "cleared" || (!own && !stopped)) return undefined;
    return [...state.queues.steer, ...state.queues.followUp].find((waiting) => waiting.id === item)?.input;
  }

  /** What went away while this page was not there, and was not heard either. */
  missed(state: State): Input[] {
    const waiting = new Set([...state.queues.steer, ...state.queues.followUp].map((one) => one.id));
    const gone = [...this.items].filter(([item]) => !waiting.has(item));
    if (gone.length === 0) return [];
    for (const [item] of gone) this.items.delete(item);
    this.store();
    return gone.filter(([item, input]) => !heard(state, item, input)).map(([, input]) => input);
  }

  private store(): void {
    if (this.session === undefined) return;
    const key = keyOf(this.session);
    const stored = this.items.size > 0 ? keep(OUTBOX, key, [...this.items]) : forget(OUTBOX, key);
    stored.catch(() => undefined);
  }
}

function keyOf(session: string): string {
  return `queued ${session}`;
}

/** Whether a message that is younger than the item has its words. */
function heard(state: State, item: number, input: Input): boolean {
  for (const entry of state.entries.values()) {
    if (entry.kind !== "message" || entry.role !== "user" || entry.id < item) continue;
    if (
      entry.parts
        .map((part) => ("text" in part ? part.text : ""))
        .join("")
        .includes(input.text)
    )
      return true;
  }
  return false;
}
