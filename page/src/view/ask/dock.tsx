// The question over the composer: one at a time, the oldest first. It never scrolls away, and its buttons stand below
// what scrolls.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Answer, Ask } from "../../model/types";
import { Glyph } from "../common/glyph";
import { refusalWords, type DeviceRole } from "../ports";
import { Coded } from "../text/seen";
import { mayAnswer } from "../../model/rights";
import { QUIET_MS, takesClicks, takesKeys, type Guard } from "./guard";
import { Choosing, ConfirmBody, ConsentBody, Others, Writing } from "./kinds";
import { title, type Reach } from "./words";

export interface DockProps {
  asks: Ask[];
  /** What this device may do. */
  role: DeviceRole;
  answer: (ask: number, answer: Answer) => Promise<unknown>;
  /** A question is on the screen, be it as one more that waits; said once. */
  shown: (ask: number) => void;
  /** When the person last pressed a key anywhere. */
  typed: () => number;
  /** What became of a question that is gone, in words. */
  outcomeText: (ask: Ask) => string;
  /** Without a connection no answer is taken: it would hang in the air, and be lost when the person goes elsewhere. */
  connected: boolean;
  reach: Reach;
  /** Keeps the reason for a no while it is written. */
  reasons?:
    | { load: (ask: number) => Promise<string | undefined>; save: (ask: number, text: string) => void }
    | undefined;
}

export const UNCONNECTED = "No connection: answer when it is back.";

/** How long it is told that somebody else has answered. */
const TOLD_MS = 4000;

/** How an answer is given: by whom, and whether it may be given now. */
export interface Giving {
  give: (answer: Answer) => void;
  /** Whether this device may give such an answer: nothing else is offered. */
  may: (answer: Answer) => boolean;
  off: boolean;
  /** Why it may not be given, where that passes by itself. */
  why: string | undefined;
  reach: Reach;
  reason: { load: () => Promise<string | undefined>; save: (text: string) => void } | undefined;
  /** Nobody types at the moment: a field may take the focus. */
  calm: boolean;
  /** Registers what a letter does while no field has the focus. */
  keys: (table: Record<string, () => void>) => void;
}

export function Dock({ asks, role, answer, shown, typed, outcomeText, connected, reach, reasons }: DockProps) {
  const ask = asks[0];
  const [sending, setSending] = useState<{ ask: number; word: string } | undefined>();
  const [refused, setRefused] = useState<string | undefined>();
  const [changed, setChanged] = useState(false);
  const [, tick] = useState(0);
  const guard = useRef<Guard>({ since: 0, typed: 0 });
  const seen = useRef<{ id: number; text: string } | undefined>(undefined);
  const table = useRef<Record<string, () => void>>({});
  const [told, setTold] = useState<string | undefined>();
  /** The question that lies beside the conversation where there is no room for both. */
  const [laid, setLaid] = useState<number | undefined>();
  const last = useRef<Ask | undefined>(undefined);
  const mine = useRef(new Set<number>());
  /**
   * The focus was put into the composer after an answer: the next question may have it, but no key before this time.
   */
  const lent = useRef(false);
  const quietUntil = useRef(0);
  useEffect(() => {
    const before = last.current;
    last.current = ask;
    if (
      ask &&
      !before &&
      lent.current &&
      isFree(document.activeElement) &&
      takesKeys({ ...guard.current, typed: typed() }, Date.now())
    ) {
      quietUntil.current = Date.now() + QUIET_MS;
      document.getElementById("ask")?.focus();
    }
    lent.current = false;
    if (!before || asks.some((one) => one.id === before.id)) return;
    if (mine.current.has(before.id)) {
      // What had the focus is gone with the question. A phone would show its keyboard.
      if (document.activeElement !== null && document.activeElement !== document.body) return;
      if (ask) document.getElementById("ask")?.focus();
      else if (!matchMedia("(pointer: coarse)").matches) {
        document.getElementById("composer")?.focus();
        lent.current = true;
      }
      return;
    }
    setTold(outcomeText(before));
    setTimeout(() => setTold(undefined), TOLD_MS);
  }, [ask?.id]);
  const said = useRef(new Set<number>());
  useEffect(() => {
    // A page that nobody sees shows nothing.
    const say = (): void => {
      if (role === "observer" || !connected || document.visibilityState !== "visible") return;
      const fresh = asks.filter((one) => !said.current.has(one.id));
      for (const one of fresh) {
        said.current.add(one.id);
        shown(one.id);
      }
    };
    say();
    document.addEventListener("visibilitychange", say);
    return () => document.removeEventListener("visibilitychange", say);
  }, [asks.map((one) => one.id).join(), role, connected]);
  const text = ask ? JSON.stringify(ask.kind) : "";
  if (ask && (seen.current?.id !== ask.id || seen.current.text !== text)) {
    const same = seen.current?.id === ask.id;
    seen.current = { id: ask.id, text };
    guard.current = { since: Date.now(), typed: typed() };
    table.current = {};
    if (same !== changed) setChanged(same);
    if (sending && sending.ask !== ask.id) setSending(undefined);
    if (refused) setRefused(undefined);
  }
  useEffect(() => {
    if (!changed) return;
    const wait = setTimeout(() => tick((count) => count + 1), 450);
    return () => clearTimeout(wait);
  }, [changed, text]);
  useEffect(() => {
    const key = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.repeat) return;
      if (inField(event.target) || document.querySelector("[role=dialog]")) return;
      // Enter is the button's that has the focus.
      if (event.key === "Enter" && event.target instanceof HTMLElement && event.target.closest("button, a, summary"))
        return;
      const does = table.current[event.key];
      if (!does) return;
      event.preventDefault();
      if (Date.now() >= quietUntil.current && takesKeys({ ...guard.current, typed: typed() }, Date.now())) does();
    };
    document.addEventListener("keydown", key);
    return () => document.removeEventListener("keydown", key);
  }, []);
  if (!ask)
    return told ? (
      <p class="gone-ask" role="status">
        {told}
      </p>
    ) : null;
  const answers = role !== "observer";
  const why = answers && !connected && sending?.ask !== ask.id ? UNCONNECTED : undefined;
  const off = !answers || !connected || sending?.ask === ask.id || !takesClicks(guard.current, changed, Date.now());
  const give = (said: Answer): void => {
    // Pressed twice before it was drawn: the second answer would be refused and look like somebody else's.
    if (off || !mayAnswer(role, said) || mine.current.has(ask.id)) return;
    setSending({ ask: ask.id, word: "Sending…" });
    mine.current.add(ask.id);
    setRefused(undefined);
    reasons?.save(ask.id, "");
    answer(ask.id, said).catch((error: unknown) => {
      setSending(undefined);
      mine.current.delete(ask.id);
      setRefused(refusalWords(error));
    });
  };
  const reason = reasons && { load: () => reasons.load(ask.id), save: (text: string) => reasons.save(ask.id, text) };
  const giving: Giving = {
    give,
    may: (said) => mayAnswer(role, said),
    off,
    why,
    reach,
    reason,
    calm: takesKeys({ ...guard.current, typed: typed() }, Date.now()),
    keys: (wanted) => void (table.current = off ? {} : wanted),
  };
  const assessment = "consent" in ask.kind ? ask.kind.consent.assessment : undefined;
  const rated = assessment?.unrated ? undefined : assessment?.risk;
  const critical = rated === "critical";
  return (
    <section
      class={`ask${critical ? " critical" : ""}${laid === ask.id ? " aside" : ""}`}
      id="ask"
      data-risk={rated}
      aria-label="A question for you"
      tabIndex={-1}
      key={ask.id}
    >
      <header>
        <Glyph of="diamond" look={critical ? "risk" : "wait"} />
        <h2 class="grow">
          <Coded text={title(ask)} />
        </h2>
        {asks.length > 1 && <span class="soft">1 of {asks.length}</span>}
        <button
          type="button"
          class="quiet ask-aside"
          onClick={() => setLaid(laid === ask.id ? undefined : ask.id)}
          aria-expanded={laid !== ask.id}
        >
          {laid === ask.id ? "Read and answer" : "See conversation"}
        </button>
      </header>
      {changed && (
        <p class="body wait" role="alert">
          The agent has changed its request. Read it again.
        </p>
      )}
      <Kind ask={ask} giving={giving} />
      {(refused || sending?.ask === ask.id || !answers) && (
        <footer>
          <span role="status" class={refused ? "risk full" : "said full"}>
            {refused ?? (answers ? sending?.word : "This device may look, not answer.")}
          </span>
        </footer>
      )}
    </section>
  );
}

/** A message that only repeats the title is not said again. */
function once(message: string, ask: Ask): string {
  return message.trim() === ask.title.trim() ? "" : message;
}

function Kind({ ask, giving }: { ask: Ask; giving: Giving }) {
  const { kind } = ask;
  if ("consent" in kind) return <ConsentBody ask={ask} consent={kind.consent} giving={giving} />;
  if ("confirm" in kind)
    return <ConfirmBody {...kind.confirm} message={once(kind.confirm.message, ask)} giving={giving} />;
  const { message } = "choose" in kind ? kind.choose : "text" in kind ? kind.text : kind.edit;
  // An observer sees the form that others fill in; who may say no to it is not offered more than that.
  if (giving.may("dismissed") && !giving.may({ entered: "" }))
    return (
      <Others message={once(message, ask)} choices={"choose" in kind ? kind.choose.choices : []} giving={giving} />
    );
  if ("choose" in kind) return <Choosing {...kind.choose} message={once(kind.choose.message, ask)} giving={giving} />;
  if ("text" in kind)
    return (
      <Writing
        message={once(kind.text.message, ask)}
        start={kind.text.default ?? ""}
        placeholder={kind.text.placeholder}
        secret={kind.text.secret}
        lines={kind.text.multiline ? 4 : 1}
        giving={giving}
      />
    );
  return (
    <Writing
      message={once(kind.edit.message, ask)}
      start={kind.edit.prefill}
      placeholder={undefined}
      secret={false}
      lines={10}
      giving={giving}
    />
  );
}

/** Nobody writes here: nothing has the focus, or a composer without a word in it. */
export function isFree(at: Element | null): boolean {
  return at === null || at === document.body || (at.id === "composer" && (at as HTMLTextAreaElement).value === "");
}

export function inField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))
  );
}
