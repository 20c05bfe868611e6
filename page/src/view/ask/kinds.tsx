// Each kind of question: what scrolls, and the buttons below it.

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Answer, Ask, Choice, Consent, Preview } from "../../model/types";
import { Diffs } from "../diff/view";
import { Coded, Seen } from "../text/seen";
import { Told } from "./told";
import { visible } from "../text/unseen";
import { isFree, type Giving } from "./dock";
import { Further, Note, useEnd } from "./end";
import { Files } from "./files";
import { noWord, REACH, risk, rule } from "./words";

/** The second press that a critical action needs must come within this time. */
const AGAIN_MS = 4000;

export function ConsentBody({ ask, consent, giving }: { ask: Ask; consent: Consent; giving: Giving }) {
  const [why, setWhy] = useState(false);
  /** The reason as far as it was written. */
  const [said, setSaid] = useState({ text: "", restored: false });
  const [armed, setArmed] = useState(false);
  const deny = useRef<HTMLButtonElement>(null);
  const { assessment } = consent;
  const critical = assessment.risk === "critical" && !assessment.unrated;
  const allow = (scope: "once" | "session" | "always"): Answer => ({ allow: { scope, digest: consent.digest } });
  const end = useEnd(why ? undefined : JSON.stringify(consent));
  const unread = end.left !== undefined;
  const yes = (answer: Answer) => (): void => (unread ? end.say() : giving.give(answer));
  const once = (): void => {
    if (unread) return end.say();
    if (!critical || armed) return giving.give(allow("once"));
    setArmed(true);
    setTimeout(() => setArmed(false), AGAIN_MS);
  };
  const no = (): void => giving.give({ deny: {} });
  // From here on letters are the reason's, also those that come before its field is drawn.
  const because = (): void => {
    giving.keys({});
    setWhy(true);
  };
  useEffect(() => {
    if (!consent.takes_reason) return;
    void giving.reason?.load().then((text) => {
      if (!text) return;
      setSaid({ text, restored: true });
      because();
    });
  }, []);
  const words = risk(assessment);
  const kept = giving.may(allow("once")) && !giving.may(allow("always")) ? undefined : rule(consent);
  // The most dangerous answers are never given by a stray letter.
  giving.keys(
    why
      ? {}
      : {
          y: once,
          n: no,
          ...(consent.takes_reason ? { r: because } : {}),
          ...(kept && !critical ? { s: yes(allow("session")), a: yes(allow("always")) } : {}),
        },
  );
  useEffect(() => {
    if (critical) deny.current?.focus();
  }, [critical]);
  if (why) {
    return (
      <Reason
        giving={giving}
        start={said.text}
        calm={!said.restored || giving.calm}
        back={(text) => {
          setSaid({ text, restored: false });
          giving.reason?.save("");
          setWhy(false);
        }}
      />
    );
  }
  const far = REACH[giving.reach];
  return (
    <>
      <div class="body" ref={end.body} tabIndex={0} role="group" aria-label="What is asked">
        {(words || assessment.reasons.length > 0) && (
          <p class={`risk-words risk-${assessment.unrated ? "unrated" : assessment.risk}`}>
            <b>{words}</b>
            {words && assessment.reasons.length > 0 ? ": " : ""}
            <Coded text={assessment.reasons.join("; ")} />
            {assessment.reasons.length > 0 ? "." : ""}
          </p>
        )}
        <Shown preview={consent.preview} consent={consent} />
        {kept && !critical && (
          <p>
            {far.rule}: <Coded text={kept} />.
          </p>
        )}
        <span class="ask-end" ref={end.mark} />
        <Further end={end} />
      </div>
      <Files preview={consent.preview} body={end.body} />
      <Note giving={giving} />
      <footer>
        <button
          type="button"
          class={`button ${critical ? "danger" : "primary"}`}
          disabled={giving.off || unread}
          onClick={once}
        >
          {critical && armed ? "Allow once: press again" : "Allow once"} <kbd>Y</kbd>
        </button>
        <button type="button" class="button" ref={deny} disabled={giving.off} onClick={no}>
          {noWord(ask, consent)} <kbd>N</kbd>
        </button>
        {consent.takes_reason && (
          <button
            type="button"
            class="button"
            disabled={giving.off}
            title="The agent goes on with your reason"
            onClick={because}
          >
            Deny with reason… <kbd>R</kbd>
          </button>
        )}
        {kept && (
          <button
            type="button"
            class="button"
            disabled={giving.off || critical || unread}
            onClick={yes(allow("session"))}
          >
            {far.session} <kbd>S</kbd>
          </button>
        )}
        {kept && (
          <button
            type="button"
            class="button"
            disabled={giving.off || critical || unread}
            onClick={yes(allow("always"))}
          >
            {far.always} <kbd>A</kbd>
          </button>
        )}
      </footer>
    </>
  );
}

function Shown({ preview, consent }: { preview: Preview | undefined; consent: Consent }) {
  if (preview && "diff" in preview) return <Diffs text={preview.diff.text} path={preview.diff.path} />;
  const args = typeof consent.args === "string" ? consent.args : JSON.stringify(consent.args, null, 2);
  const text = !preview ? args : "command" in preview ? preview.command.line : preview.text;
  const inner = preview && "command" in preview ? preview.command.inner : [];
  return (
    <>
      <pre class="preview">
        <Seen text={text} />
      </pre>
      {inner.length > 1 && (
        <p>
          Runs{" "}
          {inner.map((line, at) => (
            <>
              {at > 0 && ", "}
              <code>
                <Seen text={line} />
              </code>
            </>
          ))}
          .
        </p>
      )}
    </>
  );
}

function Reason({
  giving,
  start,
  calm,
  back,
}: {
  giving: Giving;
  start: string;
  calm: boolean;
  back: (text: string) => void;
}) {
  const [text, setText] = useState(start);
  const field = useRef<HTMLTextAreaElement>(null);
  // Before it is painted: whoever types at once types into it.
  useLayoutEffect(() => {
    if (calm) field.current?.focus();
  }, []);
  const write = (next: string): void => {
    setText(next);
    giving.reason?.save(next);
  };
  const say = (): void => {
    if (text.trim() !== "") giving.give({ deny: { reason: text.trim() } });
  };
  return (
    <>
      <div class="body">
        <label for="reason">What should it do instead? The agent goes on with this.</label>
        <textarea
          id="reason"
          ref={field}
          rows={2}
          value={text}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
              event.preventDefault();
              say();
            }
            if (event.key === "Escape") {
              event.stopPropagation();
              back(text);
            }
          }}
        />
      </div>
      <Note giving={giving} />
      <footer>
        <button type="button" class="button primary" disabled={giving.off || text.trim() === ""} onClick={say}>
          Deny with this reason
        </button>
        <button type="button" class="button" onClick={() => back(text)}>
          Back
        </button>
      </footer>
    </>
  );
}

export function ConfirmBody({
  message,
  yes,
  no,
  danger,
  giving,
}: {
  message: string;
  yes?: string;
  no?: string;
  danger: boolean;
  giving: Giving;
}) {
  const say = (confirmed: boolean) => () => giving.give({ confirmed });
  const end = useEnd(message === "" ? undefined : message);
  const unread = end.left !== undefined;
  // An observer sees all buttons, and that they are off.
  const may = giving.may({ confirmed: true }) || !giving.may({ confirmed: false });
  giving.keys({ ...(may ? { y: unread ? end.say : say(true) } : {}), n: say(false) });
  return (
    <>
      {message && (
        <div class="body" ref={end.body} tabIndex={0} role="group" aria-label="What is asked">
          <p>
            <Told text={message} />
          </p>
          <span class="ask-end" ref={end.mark} />
          <Further end={end} />
        </div>
      )}
      {may ? (
        <Note giving={giving} />
      ) : (
        <p class="ask-note" role="note">
          A controller can say yes to this.
        </p>
      )}
      <footer>
        {may && (
          <button
            type="button"
            class={`button ${danger ? "danger" : "primary"}`}
            disabled={giving.off || unread}
            onClick={say(true)}
          >
            {visible(yes ?? "Yes")} <kbd>Y</kbd>
          </button>
        )}
        <button type="button" class="button" disabled={giving.off} onClick={say(false)}>
          {visible(no ?? "No")} <kbd>N</kbd>
        </button>
        <button type="button" class="button" disabled={giving.off} onClick={() => giving.give("dismissed")}>
          No answer
        </button>
      </footer>
    </>
  );
}

/** A question that somebody else has to answer; here it can be left without an answer. */
export function Others({ message, choices, giving }: { message: string; choices: Choice[]; giving: Giving }) {
  giving.keys({});
  return (
    <>
      {(message || choices.length > 0) && (
        <div class="body" tabIndex={0} role="group" aria-label="What is asked">
          {message && (
            <p>
              <Told text={message} />
            </p>
          )}
          {choices.length > 0 && (
            <ul>
              {choices.map((choice) => (
                <li>
                  <Seen text={choice.label} />
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      <p class="ask-note" role="note">
        A controller can answer this.
      </p>
      <footer>
        <button type="button" class="button" disabled={giving.off} onClick={() => giving.give("dismissed")}>
          No answer
        </button>
      </footer>
    </>
  );
}

export function Choosing({
  message,
  choices,
  many,
  giving,
}: {
  message: string;
  choices: Choice[];
  many: boolean;
  giving: Giving;
}) {
  const [taken, setTaken] = useState<readonly string[]>([]);
  const [filter, setFilter] = useState("");
  const shown = choices.filter((choice) =>
    `${choice.label} ${choice.detail ?? ""}`.toLowerCase().includes(filter.toLowerCase()),
  );
  const take = (id: string): void =>
    setTaken(many ? (taken.includes(id) ? taken.filter((other) => other !== id) : [...taken, id]) : [id]);
  const answer = (): void => {
    if (taken.length > 0) giving.give({ chosen: [...taken] });
  };
  giving.keys({
    ...Object.fromEntries(shown.slice(0, 9).map((choice, at) => [String(at + 1), () => take(choice.id)])),
    Enter: answer,
  });
  return (
    <>
      <div class="body">
        {message && (
          <p>
            <Told text={message} />
          </p>
        )}
        {choices.length > 9 && (
          <input
            type="search"
            aria-label="Filter"
            placeholder="Filter"
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        )}
        <ul
          class="choices"
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.isComposing) {
              event.preventDefault();
              answer();
            }
          }}
        >
          {shown.map((choice, at) => (
            <li>
              <label>
                <input
                  type={many ? "checkbox" : "radio"}
                  name="choice"
                  checked={taken.includes(choice.id)}
                  onChange={() => take(choice.id)}
                />
                <span>
                  <Seen text={choice.label} />
                  {choice.detail && (
                    <span class="soft">
                      {" "}
                      · <Seen text={choice.detail} />
                    </span>
                  )}
                </span>
                <span class="grow" />
                {at < 9 && <kbd class="faint">{at + 1}</kbd>}
              </label>
            </li>
          ))}
        </ul>
      </div>
      <Note giving={giving} />
      <footer>
        <button type="button" class="button primary" disabled={giving.off || taken.length === 0} onClick={answer}>
          Answer{taken.length > 0 && <kbd>Enter</kbd>}
        </button>
        <button type="button" class="button" disabled={giving.off} onClick={() => giving.give("dismissed")}>
          No answer
        </button>
      </footer>
    </>
  );
}

export function Writing({
  message,
  start,
  placeholder,
  secret,
  lines,
  giving,
}: {
  message: string;
  start: string;
  placeholder: string | undefined;
  secret: boolean;
  lines: number;
  giving: Giving;
}) {
  const [text, setText] = useState(start);
  const field = useRef<HTMLElement>(null);
  giving.keys({});
  // Whoever writes something else goes on with that.
  useLayoutEffect(() => {
    if (isFree(document.activeElement) && giving.calm) field.current?.focus();
  }, []);
  const say = (): void => giving.give({ entered: text });
  const enter = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && !event.isComposing && (lines === 1 || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      say();
    }
  };
  return (
    <>
      <div class="body">
        <label for="answer" class={message ? undefined : "hidden"}>
          {message ? <Told text={message} /> : "Your answer"}
        </label>
        {lines === 1 || secret ? (
          <input
            id="answer"
            ref={field as RefObject<HTMLInputElement>}
            {...(secret ? { type: "password" as const } : { type: "text" as const })}
            autocomplete="off"
            spellcheck={!secret}
            value={text}
            placeholder={visible(placeholder ?? "")}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={enter}
          />
        ) : (
          <textarea
            id="answer"
            ref={field as RefObject<HTMLTextAreaElement>}
            class="mono"
            rows={lines}
            value={text}
            placeholder={visible(placeholder ?? "")}
            aria-label={message ? undefined : "Answer"}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={enter}
          />
        )}
        {secret && <p>Goes to Parlor and is not kept in the record.</p>}
      </div>
      <Note giving={giving} />
      <footer>
        <button type="button" class="button primary" disabled={giving.off} onClick={say}>
          Answer{lines > 1 ? <kbd>Ctrl Enter</kbd> : null}
        </button>
        <button type="button" class="button" disabled={giving.off} onClick={() => giving.give("dismissed")}>
          No answer
        </button>
      </footer>
    </>
  );
}
