// What is being written in each session, kept at every pause. A page that goes has no time for the database, which
// answers later: what it has not kept by then is put into the browser's small storage, which is there at once, and
// taken over by the next page.

import { DRAFTS, forget, keep, kept } from "./database";
import type { Draft } from "../view/ports";

/** A pause of the person who writes. */
export const PAUSE_MS = 300;
/** Most letters of a draft that are put away in a hurry: with more, its attachments are those that were kept before. */
const MAX_HURRIED = 500_000;

/** Of the browser's storage, what is used. There may be none. */
type Small = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** What was put away in a hurry; without `attachments` those that were kept are meant. */
interface Hurried {
  text: string;
  attachments?: Draft["attachments"];
}

export class Drafts {
  private readonly due = new Map<string, { draft: Draft; timer: ReturnType<typeof setTimeout> }>();

  constructor(private readonly small: Small | undefined = storage()) {}

  async load(session: string): Promise<Draft | undefined> {
    const waiting = this.due.get(session);
    if (waiting) return waiting.draft;
    const stored = await kept<Draft>(DRAFTS, session).catch(() => undefined);
    const hurried = this.hurried(session);
    if (!hurried) return stored;
    const draft = { text: hurried.text, attachments: hurried.attachments ?? stored?.attachments ?? [] };
    // Written meanwhile: that is newer.
    if (!this.due.has(session)) void this.write(session, draft);
    return isEmpty(draft) ? undefined : draft;
  }

  save(session: string, draft: Draft): void {
    clearTimeout(this.due.get(session)?.timer);
    const timer = setTimeout(() => void this.flush(session), PAUSE_MS);
    this.due.set(session, { draft, timer });
  }

  /**
   * The session has another name now: what was written for it goes along, and the next of the old name begins empty.
   */
  async rename(from: string, to: string): Promise<void> {
    if (from === to) return;
    const draft = await this.load(from);
    const { timer } = this.due.get(from) ?? {};
    clearTimeout(timer);
    this.due.delete(from);
    if (draft && !this.due.has(to)) this.save(to, draft);
    await this.write(from, { text: "", attachments: [] });
  }

  /** The page may be gone at once: what waits for its pause is put away before this returns. */
  leave(): void {
    for (const [session, { draft }] of this.due) this.hurry(session, draft);
    void this.flushAll();
  }

  /** Keeps all that waits for its pause, now. */
  async flushAll(): Promise<void> {
    await Promise.all([...this.due.keys()].map((session) => this.flush(session)));
  }

  /** Keeps what waits for its pause, now. */
  async flush(session: string): Promise<void> {
    const waiting = this.due.get(session);
    if (!waiting) return;
    clearTimeout(waiting.timer);
    this.due.delete(session);
    await this.write(session, waiting.draft);
  }

  /** A browser that keeps nothing costs only the draft after a reload. */
  private async write(session: string, draft: Draft): Promise<void> {
    const put = this.raw(session);
    try {
      await (isEmpty(draft) ? forget(DRAFTS, session) : keep(DRAFTS, session, draft));
      // Only what it was when this began: what was put away since then is newer.
      if (put !== null && this.raw(session) === put) this.small?.removeItem(keyOf(session));
    } catch {
      // What was put away in a hurry stays there.
    }
  }

  private hurry(session: string, draft: Draft): void {
    const whole: Hurried = { text: draft.text, attachments: draft.attachments };
    const text = JSON.stringify(whole);
    try {
      this.small?.setItem(
        keyOf(session),
        text.length <= MAX_HURRIED ? text : JSON.stringify({ text: draft.text } satisfies Hurried),
      );
    } catch {
      // It is full, or closed to us: the database may still be in time.
    }
  }

  private raw(session: string): string | null {
    try {
      return this.small?.getItem(keyOf(session)) ?? null;
    } catch {
      return null;
    }
  }

  private hurried(session: string): Hurried | undefined {
    try {
      const found: unknown = JSON.parse(this.raw(session) ?? "null");
      return typeof found === "object" && found !== null && typeof (found as Hurried).text === "string"
        ? (found as Hurried)
        : undefined;
    } catch {
      return undefined;
    }
  }
}

function isEmpty(draft: Draft): boolean {
  return draft.text === "" && draft.attachments.length === 0;
}

function keyOf(session: string): string {
  return `draft ${session}`;
}

function storage(): Small | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}
