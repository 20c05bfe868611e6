// How the way to Parlor is: nothing while it is well, words after a moment.

import { clock } from "../common/format";
import { now as time } from "../common/now";
import type { DeviceRole, Doubt, Way } from "../ports";
import { Coded } from "../text/seen";

const SOON_MS = 1000;
const LOST_MS = 3000;

/** One line under the header for each thing that is not as it should be. */
export function Banner({ way, retry, reload }: { way: Way; retry: () => void; reload: () => void }) {
  const now = way.is === "connecting" || way.is === "lost" ? time.value : 0;
  if (way.is === "connecting" && now - way.since > SOON_MS) return <div class="banner" role="status">Connecting…</div>;
  if (way.is === "lost" && now - way.since > LOST_MS) {
    const left = way.retryAt === undefined ? undefined : Math.max(0, Math.ceil((way.retryAt - now) / 1000));
    return (
      <div class="banner" role="status">
        <span>No connection to Parlor since {clock(way.since)}. {left ? `Trying again in ${left} s` : "Trying again"}. If it was stopped, start it with <code>parlor up</code>.</span>
        <button type="button" class="more" onClick={retry}>Try now</button>
      </div>
    );
  }
  if (way.is === "stopped") {
    return (
      <div class="banner" role="status">
        <span>Parlor has stopped on this machine. Start it with <code>parlor up</code>. What is shown is how it was.</span>
        <button type="button" class="more" onClick={retry}>Try now</button>
      </div>
    );
  }
  if (way.is === "newer") {
    return <Newer reload={reload} words="Parlor is newer than this page and says what it does not understand." />;
  }
  return null;
}

/** The server has another page than this one. */
export function Newer({ reload, words = "Parlor has a newer page than this one." }: { reload: () => void; words?: string }) {
  return (
    <div class="banner" role="status">
      <span>{words} What you are writing is kept.</span>
      <button type="button" class="more" onClick={reload}>Reload</button>
    </div>
  );
}

/** The hashes differ: what is shown here is not what Parlor has. */
export function Doubted({ doubt, seen, reload }: { doubt: Doubt | undefined; seen: () => void; reload: () => void }) {
  switch (doubt) {
    case undefined:
      return null;
    case "reading":
      return <div class="banner" role="status">This page held something else than Parlor. Reading the session again…</div>;
    case "read":
      return (
        <div class="banner" role="status">
          <span>This page showed something wrong and has read the session again.</span>
          <button type="button" class="more" onClick={seen}>Close</button>
        </div>
      );
    case "disagrees":
      return (
        <div class="banner warn" role="alert">
          <span>This page and Parlor do not agree on this session: what is shown here may be wrong. A terminal shows it as it is.</span>
          <button type="button" class="more" onClick={reload}>Reload</button>
        </div>
      );
  }
}

/** What this device may not do, where it may not do everything. */
export function Role({ role, way }: { role: DeviceRole; way: Way }) {
  // Before the server has said so, nobody knows.
  if (way.is !== "up" || role === "controller") return null;
  const [word, words] = role === "observer" ? ["Read-only", "This device may look, not write or answer."] : ["Answers only", "This device may look and answer questions, not write."];
  return <span class="tag" title={`${words} \`parlor devices role\` changes that.`}>{word}<span class="hidden">. {words}</span></span>;
}

/** The whole screen for what nothing can be done about from here. `known`: there is something to read meanwhile. */
export function Blocked({ way, known }: { way: Way; known: boolean }) {
  switch (way.is) {
    case "stopped":
      return known ? null : <State title="Parlor has stopped on this machine">Start it with <code>parlor up</code>.</State>;
    case "unpaired":
      return <State title="This device is not paired">Run <code>parlor web</code> and open the address that it prints.</State>;
    case "revoked":
      return <State title="This device was taken off the list">Run <code>parlor web</code> and open the address that it prints to pair it again.</State>;
    case "refused":
      return <State title={way.message}>{way.hint && <Coded text={way.hint} />}</State>;
    case "connecting":
    case "up":
    case "lost":
    case "newer":
      return null;
  }
}

export function State({ title, children }: { title: string; children?: preact.ComponentChildren }) {
  return <div class="state" role="status"><h2>{title}</h2><p>{children}</p></div>;
}
