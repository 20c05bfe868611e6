// Everything the view needs, put together: the fleet on a socket of its own, and each session that is looked at on another.

import { Drafts } from "./drafts";
import { Fleet } from "./fleet";
import { browser, wakeful, WebSocketLink } from "./link";
import type { Surroundings } from "./link";
import { Session } from "./session";
import type { Clock } from "./session";
import type { SessionPort, World } from "../view/ports";

/** The clock of a browser. A page in the background has no frames: there a timer does. */
export function browserClock(): Clock {
  return {
    now: () => Date.now(),
    frame: (what) => void (document.visibilityState === "visible" ? requestAnimationFrame(what) : setTimeout(what, 100)),
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

export function openWorld(around: Surroundings = browser(), clock: Clock = browserClock(), onWake = wakeful, onLeave = leaving): World {
  const drafts = new Drafts();
  onLeave(() => drafts.leave());
  const fleet = new Fleet(clock);
  const link = new WebSocketLink(() => "fleet", fleet.ear, around);
  fleet.use(link);
  onWake(() => link.wake());
  link.start();

  const look = (wanted: { session: string } | { new: { cwd?: string } }): SessionPort => {
    const session = new Session(wanted, clock, drafts, fleet.role.peek());
    const way = new WebSocketLink(() => session.wants(), session.ear, around);
    session.use(way);
    const unwake = onWake(() => way.wake());
    const close = session.close.bind(session);
    session.close = () => {
      unwake();
      close();
    };
    way.start();
    return session;
  };

  return {
    fleet,
    open: (session) => look({ session }),
    begin: (cwd) => look({ new: cwd === undefined ? {} : { cwd } }),
    reload: async () => {
      await drafts.flushAll();
      location.reload();
    },
  };
}
