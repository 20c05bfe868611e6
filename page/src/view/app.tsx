// The frame around everything: header, fleet, session, what floats, and the keys that work everywhere.

import { computed, effect, signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { openRun, spent } from "../model/state";
import { shell, windowSettings } from "../model/window";
import { inField } from "./ask/dock";
import { Devices } from "./chrome/devices";
import { KeysPage } from "./chrome/keys";
import { badge, Teller } from "./chrome/notify";
import { Palette, type Act } from "./chrome/palette";
import { nextScheme } from "./chrome/scheme";
import { WindowPage } from "./chrome/window";
import { connection, forgetAll, refused, toast, Toasts } from "./chrome/toasts";
import { Banner, Blocked, Doubted, Newer, Role } from "./chrome/connection";
import { folder, money } from "./common/format";
import { Shape } from "./common/glyph";
import { Icon } from "./common/icon";
import { tick } from "./common/now";
import { forWhom } from "./common/who";
import { mayShow, offered, type Screen } from "./composer/commands";
import { knownFiles } from "./composer/files";
import { askFolder, folderOf, remark, withFolder } from "./composer/folder";
import { mentioned } from "./composer/mention";
import { switchSides } from "./diff/view";
import { title, waitingRows } from "./fleet/groups";
import { Begin, Home } from "./fleet/home";
import { Fleet } from "./fleet/list";
import { beginWith, handOver, takeBeginning } from "./fleet/start";
import type { Beginning, Said, SessionPort, World } from "./ports";
import { toFind } from "./session/finder";
import { SessionMain, SessionSide } from "./session/screen";
import { visible } from "./text/unseen";

/** Two presses of Escape within this time stop the run. */
const TWICE_MS = 1000;
const MAC = /Mac|iPhone|iPad/.test(navigator.platform);
const REGIONS = ["fleet", "transcript", "ask", "composer", "side"];

const place = signal(location.hash);
addEventListener("hashchange", () => void (place.value = location.hash));

type Where =
  | { at: "fleet" }
  | { at: "session"; id: string }
  | { at: "new"; folder: string | undefined }
  | { at: "begin"; place: string };

function where(hash: string): Where {
  const session = /^#\/s\/(.+)$/.exec(hash)?.[1];
  if (session) return { at: "session", id: decodeURIComponent(session) };
  const begin = /^#\/begin\/(\d+)$/.exec(hash)?.[1];
  if (begin) return { at: "begin", place: begin };
  const [fresh, folder] = /^#\/new(?:\/(.+))?$/.exec(hash) ?? [];
  return fresh ? { at: "new", folder: folder && decodeURIComponent(folder) } : { at: "fleet" };
}

export function App({ world }: { world: World }) {
  const { fleet } = world;
  const here = where(place.value);
  const [screen, setScreen] = useState<Screen | undefined>();
  const [palette, setPalette] = useState(false);
  /** Where the page is in a window of the desktop shell: its settings are shown. */
  const [standing, setStanding] = useState(false);
  const desktop = shell();
  useEffect(() => void (desktop && windowSettings.read(desktop).catch(() => undefined)), []);
  const [columns, setColumns] = useState({ fleet: true, side: true, drawer: false });
  const typed = useRef(0);
  /**
   * The session that is shown. `screen` stays the same when a new one gets its name, so that what is being typed stays
   * where it is.
   */
  const port = useRef<{ key: string; port: SessionPort; screen: number; beginning?: Beginning } | undefined>(undefined);
  const screens = useRef(0);
  const key = here.at === "session" ? here.id : here.at === "begin" ? `begin ${here.place}` : here.at;
  if (port.current?.key !== key) {
    port.current?.port.close();
    const beginning = here.at === "begin" ? takeBeginning(here.place) : undefined;
    const shown = here.at === "session" ? world.open(here.id) : beginning && world.begin(beginning);
    if (shown && beginning) handOver(shown, beginning);
    port.current = shown && { key, port: shown, screen: (screens.current += 1), ...(beginning ? { beginning } : {}) };
  }
  const open = port.current?.port;
  const made = here.at === "begin" ? open?.id.value : undefined;
  useEffect(() => {
    // The new session has a name now: the address is its own, and it is not opened twice.
    if (made && port.current) {
      port.current = { ...port.current, key: made };
      history.replaceState(null, "", `#/s/${made}`);
      place.value = location.hash;
    }
  }, [made]);
  useEffect(tick, []);
  // What is read of the fleet and of the session here: a row or a word that changes draws only what shows it.
  const about = useMemo(
    () => ({
      waiting: computed(() => fleet.rows.value.filter((row) => row.status === "waiting").length),
      rows: computed(() => fleet.rows.value.length > 0),
      entries: computed(() => (open ? open.state.value.entries.size > 0 : false)),
      asks: computed(() => open?.state.value.asks.length ?? 0),
      name: computed(() =>
        open
          ? visible(
              open.state.value.settings.title ??
                fleet.rows.value.find((row) => row.session === open.id.value)?.title ??
                "New session",
            )
          : here.at === "fleet"
            ? "Fleet"
            : "New session",
      ),
      cwd: computed(() => open?.state.value.settings.cwd ?? ""),
      cost: computed(() =>
        open ? money(spent(open.state.value).cost_micros, spent(open.state.value).rough) : undefined,
      ),
    }),
    [fleet, open, here.at],
  );
  const name = about.name.value;
  const asks = Math.max(about.waiting.value, about.asks.value);
  const blocked = Blocked({
    connection: fleet.connection.value,
    known: about.rows.value || about.entries.value,
    retry: () => fleet.retryNow(),
  });
  const teller = useRef(new Teller()).current;
  useEffect(() => effect(() => teller.look(fleet.rows.value, fleet.known?.value ?? true)), [fleet]);
  const windowTitle = open?.board.value.title;
  useEffect(() => {
    // Whoever may not look any more is not told what there was, nor how many wait.
    const waits = asks > 0 && !blocked;
    document.title = blocked
      ? "Parlor"
      : `${waits ? `(${asks}) ` : ""}${windowTitle ? visible(windowTitle) : name} · Parlor`;
    badge(waits ? asks : 0);
    document
      .querySelector<HTMLLinkElement>("link[rel=icon]")
      ?.setAttribute("href", waits ? "/favicon-waiting.svg" : "/favicon.svg");
  }, [asks, name, windowTitle, blocked === null]);
  const up = (open ?? fleet).connection.value.is === "up";
  useLayoutEffect(() => connection(up), [up]);
  useLayoutEffect(forgetAll, [blocked === null]);
  const go = (hash: string): void => void (location.hash = hash);
  const beginIn = (folder: string): void => go(`#/new/${encodeURIComponent(folder)}`);
  // Beside a session, one more is begun where that is.
  const begin = (): void => (about.cwd.peek() !== "" ? beginIn(about.cwd.peek()) : go("#/new"));
  const latest = useRef(begin);
  latest.current = begin;
  const steady = useRef({
    begin: () => latest.current(),
    typed: () => typed.current,
    window: () => setStanding(true),
  }).current;
  const beginsIn = here.at === "new" ? here.folder : undefined;
  const nextWaiting = (): void => {
    const waiting = waitingRows(fleet.rows.peek());
    const others = waiting.filter((row) => row.session && row.session !== key);
    const next = others[0]?.session;
    if (next) go(`#/s/${encodeURIComponent(next)}`);
    else toast("info", `${waiting.length > 0 ? "Only this session" : "Nobody"} waits ${forWhom(fleet.role.peek())}.`);
  };
  const stop = (): void => void open?.send({ cancel: {} }).catch(refused);
  const held = useRef<{ g: number; escape: number; unsay: () => void }>({ g: 0, escape: 0, unsay: () => undefined });
  const floats = palette || standing || screen !== undefined;
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const before = typed.current;
      if (inField(event.target)) typed.current = Date.now();
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        return setPalette(true);
      }
      if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "f") {
        const field = document.querySelector<HTMLElement>(".find input");
        // In the field a second one is the browser's, and so it is where there is nothing of ours to search.
        if (!open || blocked || palette || (screen && !field) || document.activeElement === field) return;
        event.preventDefault();
        if (field) field.focus();
        else setScreen("search");
        return;
      }
      if (event.key === "F6") {
        event.preventDefault();
        return region(event.shiftKey ? -1 : 1);
      }
      if (event.key === "Escape") {
        if (floats || columns.drawer) {
          held.current.escape = 0;
          setPalette(false);
          setStanding(false);
          setScreen(undefined);
          return setColumns({ ...columns, drawer: false });
        }
        // Whether it closes something else is known once that has had it.
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || inField(event.target) || event.defaultPrevented) return;
      // Of what floats, changes have a key.
      if (floats && !(event.key === "d" && screen === "changes" && !palette)) return;
      if (event.key === "f" && Date.now() - held.current.g < 1000) return go("#/");
      held.current.g = event.key === "g" ? Date.now() : 0;
      const table: Record<string, () => void> = {
        "?": () => setScreen("keys"),
        "/": () => setScreen("search"),
        w: nextWaiting,
        j: () => step(1),
        k: () => step(-1),
        d: switchSides,
        "[": () => setColumns({ ...columns, fleet: !columns.fleet }),
        "]": () =>
          matchMedia("(max-width: 1280px)").matches
            ? setColumns({ ...columns, drawer: !columns.drawer })
            : setColumns({ ...columns, side: !columns.side }),
        // What is asked is read to its end with the same key.
        ...(document.activeElement?.closest("#ask .body")
          ? {}
          : { End: () => document.querySelector<HTMLElement>(".new-below")?.click() }),
      };
      const does = table[event.key];
      if (!does) {
        // A letter outside of a field is typing too, unless it is a key of a question.
        if (event.key.length === 1 && !"ynrsa123456789".includes(event.key)) typed.current = Date.now();
        else typed.current = before;
        return;
      }
      event.preventDefault();
      does();
    };
    /** An Escape that has closed nothing: whoever closes something keeps it to themselves. */
    const onEscape = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.isComposing || event.defaultPrevented || floats || columns.drawer) return;
      const run = open && openRun(open.state.peek());
      held.current.unsay();
      held.current.unsay = () => undefined;
      if (run && Date.now() - held.current.escape < TWICE_MS) {
        held.current.escape = 0;
        stop();
      } else if (run) {
        const unsay = toast("info", "Escape once more stops the run.");
        const over = setTimeout(unsay, TWICE_MS);
        held.current.unsay = () => {
          clearTimeout(over);
          unsay();
        };
        held.current.escape = Date.now();
      }
    };
    addEventListener("keydown", press, true);
    addEventListener("keydown", onEscape);
    return () => {
      removeEventListener("keydown", press, true);
      removeEventListener("keydown", onEscape);
    };
  });
  const acts = (): Act[] => [
    ...fleet.rows.value
      .filter((row) => row.session)
      .map(
        (row): Act => ({
          kind: "session",
          name: title(row),
          words: folder(row.cwd),
          does: () => go(`#/s/${encodeURIComponent(row.session ?? "")}`),
        }),
      ),
    { kind: "go", name: "Fleet", words: "g f", does: () => go("#/") },
    { kind: "go", name: "Next session that waits", words: "w", does: nextWaiting },
    { kind: "do", name: "New session", does: begin },
    ...(fleet.role.value === "controller"
      ? [
          {
            kind: "do",
            name: "Empty session",
            words: "to set it up before the first prompt",
            does: () => beginWith(about.cwd.peek() === "" ? {} : { cwd: about.cwd.peek() }),
          },
        ]
      : []),
    { kind: "do", name: "Switch colours", does: nextScheme },
    ...(desktop
      ? [{ kind: "do", name: "Window", words: "how it starts, shortcut, notifications", does: () => setStanding(true) }]
      : []),
    { kind: "do", name: "Diffs unified or side by side", words: "d", does: switchSides },
    ...(open ? [] : [{ kind: "do", name: "All keys", words: "?", does: () => setScreen("keys") }]),
    ...(open && live(open)
      ? offered(open.abilities.value)
          .filter((slash) => slash.does.is === "show" && mayShow(slash.does.screen, open.role.value))
          .map(
            (slash): Act => ({
              kind: "show",
              name: slash.words.charAt(0).toUpperCase() + slash.words.slice(1),
              words: `/${slash.name}`,
              does: () => slash.does.is === "show" && setScreen(slash.does.screen),
            }),
          )
      : []),
    ...(open && open.role.value === "controller"
      ? withFolder(knownFiles(open.state.value), folderOf(open).value).map(
          ({ path, how }): Act => ({
            kind: "file",
            name: visible(path),
            words: how,
            does: () => void (mentioned.value = path),
          }),
        )
      : []),
    ...(open && openRun(open.state.value) ? [{ kind: "do", name: "Stop the run", does: stop }] : []),
  ];
  useEffect(() => {
    if (palette && open?.role.peek() === "controller") askFolder(open, Date.now());
  }, [palette]);
  const searched = async (word: string): Promise<readonly Said[]> =>
    (await fleet.look?.({ search: word }))?.sessions ?? [];
  const reload = (): void => void (world.reload ? world.reload() : location.reload());
  const cost = about.cost.value;
  const look = [
    "frame",
    columns.fleet ? "" : "no-fleet",
    columns.side && open ? "" : "no-side",
    columns.drawer ? "drawer" : "",
    here.at === "fleet" && !blocked ? "at-fleet" : "",
    blocked ? "blocked" : "",
  ]
    .filter(Boolean)
    .join(" ");
  return (
    <div class={look}>
      {open && (
        <a
          class="skip"
          href="#transcript"
          onClick={(event) => {
            event.preventDefault();
            document.getElementById("transcript")?.focus();
          }}
        >
          To the conversation
        </a>
      )}
      {open && (
        <a
          class="skip"
          href="#composer"
          onClick={(event) => {
            event.preventDefault();
            document.getElementById("composer")?.focus();
          }}
        >
          To the composer
        </a>
      )}
      <header class="head">
        {here.at !== "fleet" && (
          <a class="quiet narrow-only" href="#/" aria-label="Back to the fleet">
            <Icon name="back" size={18} />
          </a>
        )}
        <h1 class={open && !blocked ? "brand" : ""}>
          <a href="#/">Parlor</a>
        </h1>
        {open && !blocked && (
          <span class="cut isolate">
            {about.cwd.value ? <span class="soft wide-only">{visible(folder(about.cwd.value))} / </span> : null}
            {name}
          </span>
        )}
        {asks > 0 && !blocked && (
          <button type="button" class="pill" onClick={nextWaiting}>
            <Shape of="diamond" /> {asks}
            <span class="wide-only">
              {asks === 1 ? " waits" : " wait"} {forWhom(fleet.role.value)}
            </span>
          </button>
        )}
        <span class="grow" />
        <Role role={fleet.role.value} connection={fleet.connection.value} />
        {cost && !blocked && <span class="soft wide-only">{cost}</span>}
        {here.at === "fleet" && !blocked && fleet.role.value === "controller" && (
          <a class="quiet narrow-only" href="#/new" aria-label="New session">
            <Icon name="plus" size={18} />
          </a>
        )}
        {!blocked && (
          <button type="button" class="quiet narrow-only" onClick={() => setPalette(true)} aria-label="Go to…">
            <Icon name="search" size={18} />
          </button>
        )}
        {!blocked && (
          <button
            type="button"
            class="jump wide-only"
            onClick={() => setPalette(true)}
            aria-label="Go to…"
            title="Go to a session, what was said in one, a command or a file"
          >
            <Icon name="search" size={13} />
            <span>Go to…</span>
            <kbd>{MAC ? "⌘" : "Ctrl"} K</kbd>
          </button>
        )}
        <button type="button" class="quiet" onClick={() => setScreen("keys")} aria-label="Keys" title="Keys (?)">
          <Icon name="help" />
        </button>
        {open && !blocked && (
          <button
            type="button"
            class="quiet"
            onClick={() =>
              matchMedia("(max-width: 1280px)").matches
                ? setColumns({ ...columns, drawer: !columns.drawer })
                : setColumns({ ...columns, side: !columns.side })
            }
            aria-label="Details"
            title="Details ( ] )"
            aria-expanded={columns.drawer || columns.side}
          >
            <Icon name="info" />
          </button>
        )}
      </header>
      <div class="notes">
        {!blocked && <Devices fleet={fleet} typed={steady.typed} />}
        {!blocked &&
          (open ? (
            <Banner connection={open.connection.value} retry={() => open.retryNow()} reload={reload} />
          ) : (
            <Banner connection={fleet.connection.value} retry={() => fleet.retryNow()} reload={reload} />
          ))}
        {open && <Doubted doubt={open.doubt?.value} seen={() => open.seenDoubt?.()} reload={reload} />}
        {fleet.newer?.value && open?.connection.value.is !== "newer" && <Newer reload={reload} />}
      </div>
      {blocked ? (
        <main class="main" id="main">
          {blocked}
        </main>
      ) : (
        <>
          <Fleet
            fleet={fleet}
            current={here.at === "fleet" ? undefined : key}
            begin={steady.begin}
            window={desktop && steady.window}
          />
          {open ? (
            <SessionMain
              key={port.current?.screen}
              port={open}
              screen={screen === "keys" ? undefined : screen}
              show={setScreen}
              typed={steady.typed}
              told={!floats}
              beginning={port.current?.beginning}
              fleet={fleet}
            />
          ) : (
            <main class="main" id="main">
              {here.at === "fleet" ? (
                <Home fleet={fleet} />
              ) : (
                <Begin key={place.value} fleet={fleet} folder={beginsIn} title="New session" />
              )}
            </main>
          )}
          {open && <SessionSide port={open} show={setScreen} />}
        </>
      )}
      {palette && (
        <Palette
          acts={acts()}
          files={open?.role.value === "controller"}
          remark={open && remark(folderOf(open).value)}
          search={fleet.look && searched}
          open={(session, word) => {
            toFind.value = { session, word };
            go(`#/s/${encodeURIComponent(session)}`);
          }}
          close={() => setPalette(false)}
        />
      )}
      {standing && desktop && <WindowPage invoke={desktop} close={() => setStanding(false)} />}
      {screen === "keys" && <KeysPage close={() => setScreen(undefined)} />}
      {(!open || floats) && !blocked && <Toasts place="float" dialog={floats} />}
    </div>
  );
}

/** Whether there is a session to look into. */
function live(port: SessionPort): boolean {
  return port.id.value !== undefined && port.connection.value.is !== "refused";
}

function region(by: number): void {
  const all = REGIONS.map((id) => document.getElementById(id)).filter(
    (element) => element !== null && element.offsetParent !== null,
  );
  const at = all.findIndex((element) => element?.contains(document.activeElement));
  all[(at + by + all.length) % all.length]?.focus();
}

/** Rows of the fleet, or lines of the transcript that open. */
function step(by: number): void {
  const inFleet =
    document.getElementById("fleet")?.contains(document.activeElement) || !document.getElementById("transcript");
  const all = [
    ...document.querySelectorAll<HTMLElement>(
      inFleet ? "a.fleet-row" : "#transcript [aria-expanded], #transcript pre, #transcript .diff-rows",
    ),
  ];
  const at = all.indexOf(document.activeElement as HTMLElement);
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}
