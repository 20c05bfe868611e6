// One session: transcript, question, composer, details.

import { useSignal } from "@preact/signals";
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
import { memo } from "../common/memo";
import { now } from "../common/now";
import { Composer } from "../composer/composer";
import type { Screen } from "../composer/commands";
import { Queue } from "../composer/queue";
import { START, type Scroll } from "../list/scroll";
import { refusalWords, type Beginning, type FleetPort, type SessionPort } from "../ports";
import { visible } from "../text/unseen";
import { StatusLine, Widgets } from "./board";
import { promptOf, moveTo } from "./back";
import { markdown, save } from "./export";
import { wanted as anew } from "../composer/returned";
import { Begin } from "../fleet/home";
import { takeFirst } from "../fleet/start";
import { Details } from "./details";
import { Empty } from "./empty";
import { Find, toFind, type Sought } from "./finder";
import { Live } from "./live";
import { SessionLog } from "./log";
import { Changes, Timeline, Tree } from "./panels";
import { rows } from "./rows";
import { SettingsPanel } from "./settings";
import { Transcript } from "./transcript";
import { retryWords } from "./words";

export interface SessionProps {
  port: SessionPort;
  screen: Screen | undefined;
  show: (screen: Screen | undefined) => void;
  typed: () => number;
  /** Nothing floats over it: words that come and go have their place here. */
  told: boolean;
  /** What it is begun with, as long as it was not. */
  beginning: Beginning | undefined;
  fleet: FleetPort;
}

export const SessionMain = memo(function SessionMain({
  port,
  screen,
  show,
  typed,
  told,
  beginning,
  fleet,
}: SessionProps) {
  const state = port.state.value;
  const rev = port.rev.value;
  const shown = useMemo(() => rows(state), [state, rev]);
  const scroll = useSignal<Scroll>(START);
  const opened = useSignal<ReadonlyMap<string, boolean>>(new Map());
  const [own, setOwn] = useState(0);
  const [sought, setSought] = useState<Sought | undefined>();
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
  const close = (): void => show(undefined);
  // What was said for it on the screen of all sessions is said once it is there.
  const made = port.id.value !== undefined;
  useEffect(() => {
    const text = made ? takeFirst(port) : undefined;
    if (text === undefined) return;
    setOwn((count) => count + 1);
    void port.prompt({ prompt: { input: { text }, options: { when_busy: "queue" } } }, text).catch((error: unknown) => {
      refused(error);
      anew.value = text;
    });
  }, [made]);
  useEffect(() => {
    if (screen === "print") print();
    else if (screen === "export") {
      const name = visible(state.settings.title ?? "Session");
      save(name, markdown(name, shown));
    } else return;
    close();
  }, [screen]);
  /** Goes back before a prompt, words only: it stands in the composer then. */
  const before = (id: number): void => {
    const entry = state.entries.get(id);
    const text = entry && promptOf(entry);
    if (!entry || text === undefined) return;
    const { leaf, why } = moveTo(state, port.abilities.peek(), entry.parent);
    if (why !== undefined) return void toast("warning", why);
    void port.send({ set_leaf: leaf === undefined ? {} : { leaf } }).then(() => void (anew.value = text), refused);
  };
  const latest = useRef(before);
  latest.current = before;
  const edit = useRef((id: number) => latest.current(id)).current;
  const can = port.abilities.value;
  const mayEdit = port.role.value === "controller" && connection.is === "up" && (can.go_back ?? can.branch) !== false;
  useEffect(() => {
    if (screen !== "search") setSought(undefined);
  }, [screen]);
  const asked = toFind.value?.session === port.id.value && shown.length > 0;
  useEffect(() => {
    if (asked) show("search");
  }, [asked]);
  if (beginning && port.id.value === undefined && connection.is === "refused")
    return (
      <main class="main" id="main" aria-label="Session">
        <Begin
          fleet={fleet}
          folder={beginning.cwd}
          model={beginning.model}
          title="No session was begun"
          trouble={refusalWords(connection)}
        />
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
        </div>
      ) : (
        <Transcript
          rows={shown}
          own={own}
          scroll={scroll}
          opened={opened}
          sought={sought}
          again={again}
          edit={mayEdit ? edit : undefined}
        />
      )}
      <Live state={state} rows={shown} />
      {screen === "search" && <Find rows={shown} session={port.id.value} go={setSought} close={close} />}
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
      {screen === "log" && (
        <Dialog title="Log" wide close={close}>
          <SessionLog port={port} fleet={fleet} />
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
  const consent = "consent" in ask.kind ? ask.kind.consent : undefined;
  const tool = consent && state.tools.get(consent.tool);
  // One that ran and asked about something else was decided on before.
  const decision = tool?.name === consent?.name ? tool?.decision : undefined;
  if (!decision) return openRun(state) ? "Answered elsewhere." : "The question is no longer asked: the run is over.";
  const answer: Answer = decision.allowed
    ? { allow: { scope: decision.scope } }
    : { deny: decision.reason ? { reason: decision.reason } : {} };
  const by = typeof decision.by === "object" && "person" in decision.by ? decision.by.person : undefined;
  return closed({ answered: { answer, ...(by ? { by } : {}) } });
}
