// Everything the view needs, put together: the fleet on a socket of its own, and each session that is looked at on
// another.

import { Drafts } from "./drafts";
import { enrol } from "./enrol";
import { Fleet } from "./fleet";
import { browser, cutOff, wakeful, WebSocketLink } from "./link";
import type { Env, Subscription } from "./link";
import { Session } from "./session";
import type { Clock } from "./session";
import { shell, windowed } from "./window";
import { dropWorkers } from "./workers";
import type { SessionPort, ConnectionState, World } from "../view/ports";

/** Connections of a session that may be over when the fleet's is well again. */
const PASSING: readonly ConnectionState["is"][] = ["unpaired", "other_run", "impostor"];

/** The clock of a browser. A page in the background has no frames: there a timer does. */
export function browserClock(): Clock {
  return {
    now: () => Date.now(),
    frame: (what) =>
      void (document.visibilityState === "visible" ? requestAnimationFrame(what) : setTimeout(what, 100)),
    later: (ms, what) => {
      const timer = setTimeout(what, ms);
      return () => clearTimeout(timer);
    },
  };
}

/** Calls back when the page goes out of sight: it may be thrown away from then on. */
function leaving(what: () => void): void {
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && what());
  window.addEventListener("pagehide", what);
}

/** Where the page is: in a window of the desktop shell, or in a browser. */
function here(): Env {
  const invoke = shell();
  return invoke ? windowed(invoke) : browser();
}

export function openWorld(
  env: Env = here(),
  clock: Clock = browserClock(),
  onWake = wakeful,
  onLeave = leaving,
  pairs: typeof enrol = enrol,
  onCut = cutOff,
): World {
  const drafts = new Drafts();
  onLeave(() => drafts.leave());
  const fleet = new Fleet(clock);
  const looks = new Set<Session>();
  let pairing = false;
  /** A browser that is nobody here asks to be somebody, by itself and once; then it waits to be told to. */
  const pair = async (): Promise<void> => {
    if (pairing) return;
    pairing = true;
    fleet.listener.connection({ is: "pairing" });
    const refused = await pairs((code) => fleet.listener.connection({ is: "pairing", ...code })).catch(
      (error: unknown) => ({
        code: "lost",
        message: String(error),
      }),
    );
    pairing = false;
    if (!refused) link.retryNow();
    else if (refused.code === "impostor") fleet.listener.connection({ is: "impostor" });
    else if (!("open" in refused && env.leaveFor(refused.open))) fleet.listener.connection({ is: "unpaired", refused });
  };
  const told = (connection: ConnectionState): void => {
    if (connection.is === "unpaired") return void pair();
    fleet.listener.connection(connection);
    if (connection.is !== "up") return;
    void dropWorkers();
    for (const session of looks) if (PASSING.includes(session.connection.peek().is)) session.retryNow();
  };
  const link = new WebSocketLink(() => "fleet", { ...fleet.listener, connection: told }, env);
  /** Who is nobody here need not show who they are. */
  const begin = async (): Promise<void> => {
    await env.begin?.();
    return (await env.enrolled().catch(() => false)) ? link.retryNow() : pair();
  };
  fleet.use({
    send: (text) => link.send(text),
    wake: () => link.wake(),
    retryNow: () => void begin(),
    close: () => link.close(),
  });
  onWake(() => {
    void dropWorkers();
    link.wake();
  });
  onCut(() => link.cut());
  void dropWorkers();
  void begin();

  const look = (wanted: Exclude<Subscription, "fleet">): SessionPort => {
    const session = new Session(wanted, clock, drafts, fleet.role.peek());
    const own = new WebSocketLink(() => session.subscription(), session.listener, env);
    session.use({
      send: (text) => own.send(text),
      wake: () => own.wake(),
      retryNow: () => (env.begin ? void env.begin().then(() => own.retryNow()) : own.retryNow()),
      close: () => own.close(),
    });
    looks.add(session);
    const unwake = onWake(() => own.wake());
    const uncut = onCut(() => own.cut());
    const close = session.close.bind(session);
    session.close = () => {
      looks.delete(session);
      unwake();
      uncut();
      close();
    };
    own.start();
    return session;
  };

  return {
    fleet,
    open: (session) => look({ session }),
    begin: ({ cwd, model, agent }) =>
      look({ new: { ...(cwd ? { cwd } : {}), ...(model ? { model } : {}), ...(agent ? { agent } : {}) } }),
    reload: async () => {
      await drafts.flushAll();
      location.reload();
    },
  };
}
