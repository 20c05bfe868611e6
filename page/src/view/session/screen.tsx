// One session: transcript, question, composer, details.

import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { openRun, type Retry, type State as Sessions } from "../../model/state";
import type { Answer, Ask, Closing } from "../../model/types";
import { Dock } from "../ask/dock";
import { closed, reach } from "../ask/words";
import { Dialog } from "../chrome/dialog";
import { refused, toast, Toasts } from "../chrome/toasts";
import { Blocked } from "../chrome/connection";
import { duration } from "../common/format";
import { Glyph } from "../common/glyph";
import { Icon } from "../common/icon";
import { memo } from "../common/memo";
import { now } from "../common/now";
import { Composer } from "../composer/composer";
import type { Screen } from "../composer/commands";
import { Queue } from "../composer/queue";
import { START, type Scroll } from "../list/scroll";
import { refusalWords, type SessionPort } from "../ports";
import { visible } from "../text/unseen";
import { StatusLine, Widgets } from "./board";
import { Details } from "./details";
import { Elsewhere, Empty } from "./empty";
import { Changes, Timeline, Tree } from "./panels";
import { rows, type Row } from "./rows";
import { SettingsPanel } from "./settings";
import { Transcript } from "./transcript";
import { retryWords } from "./words";

export interface SessionProps {
  port: SessionPort;
  screen: Screen | undefined;
  show: (screen: Screen | undefined) => void;
  typed: () => number;
  /** Folders of other sessions. */
  folders: ReadonlySignal<readonly string[]>;
  /** Nothing floats over it: words that come and go have their place here. */
  told: boolean;
  /** The folder in which it is to begin, where one was named and it has not yet. */
  wanted: string | undefined;
  /** Begins a session in a folder. */
  begin: (folder: string) => void;
}

export const SessionMain = memo(function SessionMain({
  port,
  screen,
  show,
  typed,
  folders,
  told,
  wanted,
  begin,
}: SessionProps) {
  const state = port.state.value;
  const rev = port.rev.value;
  const shown = useMemo(() => rows(state), [state, rev]);
  const scroll = useSignal<Scroll>(START);
  const opened = useSignal<ReadonlyMap<string, boolean>>(new Map());
  const [own, setOwn] = useState(0);
  const [found, setFound] = useState<string | undefined>();
  const board = port.board.value;
  const run = openRun(state);
  const connection = port.connection.value;
  useEffect(
    () =>
      port.onSignal((signal) => {
        if ("notify" in signal) toast(signal.notify.level, visible(signal.notify.text));
      }),
    [port],
  );
  const reasons = useMemo(
    () =>
      port.loadReason &&
      port.saveReason && {
        load: (ask: number) => port.loadReason?.(ask) ?? Promise.resolve(undefined),
        save: (ask: number, text: string) => port.saveReason?.(ask, text),
      },
    [port],
  );
  const unmade = wanted !== undefined && port.id.value === undefined;
  const place = (
    <Elsewhere
      folders={folders.value}
      go={begin}
      {...(unmade ? { typed: wanted } : {})}
      {...(unmade && connection.is === "refused" ? { trouble: refusalWords(connection) } : {})}
    />
  );
  if (unmade && connection.is === "refused")
    return (
      <main class="main" id="main" aria-label="Session">
        <div class="empty" id="transcript" tabIndex={-1}>
          <div class="state" role="status">
            <h2>No session was begun</h2>
          </div>
          {place}
        </div>
      </main>
    );
  const blocked = Blocked({ connection, known: shown.length > 0, retry: () => port.retryNow() });
  if (blocked)
    return (
      <main class="main" id="main">
        {blocked}
      </main>
    );
  const again = (): void => {
    const last = [...state.entries.values()]
      .reverse()
      .find((entry) => entry.kind === "message" && entry.role === "user");
    if (last?.kind !== "message") return;
    const text = last.parts.map((part) => ("text" in part ? part.text : "")).join("");
    void port
      .prompt(
        {
          prompt: {
            input: { text, attachments: last.parts.filter((part) => !("text" in part)) },
            options: { when_busy: "refuse" },
          },
        },
        text,
      )
      .catch(refused);
  };
  const close = (): void => show(undefined);
  return (
    <main class="main" id="main" aria-label="Session">
      {shown.length === 0 ? (
        <div class="empty" id="transcript" tabIndex={-1}>
          <Empty
            named={port.id.value !== undefined}
            cwd={state.settings.cwd}
            sandboxed={state.settings.policy === "sandboxed" && port.abilities.value.policy !== false}
            connection={connection}
            role={port.role.value}
          />
          {port.role.value === "controller" &&
            (unmade || (connection.is === "up" && state.settings.cwd !== "")) &&
            place}
        </div>
      ) : (
        <Transcript rows={shown} own={own} scroll={scroll} opened={opened} found={found} again={again} />
      )}
      {screen === "search" && (
        <Find
          rows={shown}
          go={setFound}
          close={() => {
            setFound(undefined);
            close();
          }}
        />
      )}
      <div class="bottom">
        <div class="column">
          {told && <Toasts place="flow" />}
          <Widgets board={board} place="above" />
          {run && state.asks.length === 0 && connection.is !== "stopped" && (
            <div class="working" role="status">
              <Glyph of="half" look="accent" turns />
              <span class="cut">
                {state.retry ? <Again retry={state.retry} /> : visible(board.working ?? "Working")}
              </span>
              <Since at={run.startedAt} />
            </div>
          )}
          <Queue port={port} state={state} />
          {/* Next to the composer: what grows above it does not move its buttons. */}
          <Dock
            asks={state.asks}
            role={port.role.value}
            answer={(ask, answer) => port.answer(ask, answer)}
            shown={(ask) => port.shown?.(ask)}
            typed={typed}
            outcomeText={(ask) => outcomeText(ask, state, port.closing?.(ask.id))}
            connected={connection.is === "up"}
            reach={reach(port.abilities.value)}
            reasons={reasons}
          />
          <Composer port={port} state={state} show={show} sent={() => setOwn(own + 1)} />
          <Widgets board={board} place="below" />
          <StatusLine board={board} port={port} />
        </div>
      </div>
      {screen === "settings" && (
        <Dialog title="Session settings" close={close}>
          <SettingsPanel port={port} state={state} />
        </Dialog>
      )}
      {screen === "changes" && (
        <Dialog title="Changes" wide close={close}>
          <Changes port={port} />
        </Dialog>
      )}
      {screen === "tree" && (
        <Dialog title="Branches" wide close={close}>
          <Tree port={port} state={state} close={close} />
        </Dialog>
      )}
      {screen === "timeline" && (
        <Dialog title="Timeline" wide close={close}>
          <Timeline state={state} now={now.value} />
        </Dialog>
      )}
    </main>
  );
});

function Again({ retry }: { retry: Retry }) {
  return <>{retryWords(retry, now.value)}</>;
}

/** How long it takes so far. */
function Since({ at }: { at: number }) {
  return <span class="faint">{duration(now.value - at)}</span>;
}

export function SessionSide({ port, show }: { port: SessionPort; show: (screen: Screen) => void }) {
  void port.rev.value;
  return <Details port={port} state={port.state.value} show={show} />;
}

/** What became of a question that somebody else has closed, as far as the session tells. */
function outcomeText(ask: Ask, state: Sessions, closing: Closing | undefined): string {
  if (closing) return closed(closing);
  const decision = "consent" in ask.kind ? state.tools.get(ask.kind.consent.tool)?.decision : undefined;
  if (!decision) return openRun(state) ? "Answered elsewhere." : "The question is no longer asked: the run is over.";
  const answer: Answer = decision.allowed
    ? { allow: { scope: decision.scope } }
    : { deny: decision.reason ? { reason: decision.reason } : {} };
  const by = typeof decision.by === "object" && "person" in decision.by ? decision.by.person : undefined;
  return closed({ answered: { answer, ...(by ? { by } : {}) } });
}

function textOfRow(row: Row): string {
  switch (row.is) {
    case "prompt":
      return row.entry.parts.map((part) => ("text" in part ? part.text : "")).join("");
    case "text":
    case "thought":
      return row.text;
    case "tool":
      return `${row.tool.args} ${row.tool.result?.text ?? row.tool.output}`;
    case "notice":
      return row.entry.text;
    case "part":
    case "compaction":
    case "cut":
    case "end":
      return "";
  }
}

function Find({ rows, go, close }: { rows: Row[]; go: (key: string | undefined) => void; close: () => void }) {
  const [word, setWord] = useState("");
  const [at, setAt] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const hits = useMemo(
    () => (word.length < 2 ? [] : rows.filter((row) => textOfRow(row).toLowerCase().includes(word.toLowerCase()))),
    [word, rows],
  );
  const step = (by: number): void => {
    const next = hits.length === 0 ? 0 : (at + by + hits.length) % hits.length;
    setAt(next);
    go(hits[next]?.key);
  };
  return (
    <div class="find" role="search">
      <input
        ref={field}
        type="search"
        aria-label="Search this conversation"
        placeholder="Search"
        value={word}
        onInput={(event) => {
          setWord(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter")
            step(event.shiftKey ? -1 : at === 0 && !document.querySelector(".entry.found") ? 0 : 1);
          if (event.key === "Escape") {
            event.stopPropagation();
            close();
          }
        }}
      />
      <span class="soft" role="status">
        {hits.length > 0 ? `${at + 1} of ${hits.length}` : word.length > 1 ? "none" : ""}
      </span>
      <button type="button" class="quiet" aria-label="Close search" onClick={close}>
        <Icon name="close" size={12} />
      </button>
    </div>
  );
}
