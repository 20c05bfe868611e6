// How the connection to Parlor is: nothing while it is well, words after a moment.

import { clock } from "../common/format";
import { now as time } from "../common/now";
import { mayWords } from "../common/who";
import type { DeviceRole, Doubt, ConnectionState } from "../ports";
import { Coded } from "../text/seen";

const SOON_MS = 1000;
const LOST_MS = 3000;

/** One line under the header for each thing that is not as it should be. */
export function Banner({
  connection,
  retry,
  reload,
}: {
  connection: ConnectionState;
  retry: () => void;
  reload: () => void;
}) {
  const now = connection.is === "connecting" || connection.is === "lost" ? time.value : 0;
  if (connection.is === "connecting" && now - connection.since > SOON_MS)
    return (
      <div class="banner" role="status">
        Connecting…
      </div>
    );
  if (connection.is === "lost" && now - connection.since > LOST_MS) {
    const left =
      connection.retryAt === undefined ? undefined : Math.max(0, Math.ceil((connection.retryAt - now) / 1000));
    return (
      <div class="banner" role="status">
        <span>
          No connection to Parlor since {clock(connection.since)}. {left ? `Trying again in ${left} s` : "Trying again"}
          . If it was stopped, start it with <code>parlor up</code>.
        </span>
        <button type="button" class="more" onClick={retry}>
          Try now
        </button>
      </div>
    );
  }
  if (connection.is === "stopped") {
    return (
      <div class="banner" role="status">
        <span>
          Parlor has stopped on this machine. Start it with <code>parlor up</code>. What is shown is how it was.
        </span>
        <button type="button" class="more" onClick={retry}>
          Try now
        </button>
      </div>
    );
  }
  if (connection.is === "newer") {
    return <Newer reload={reload} words="Parlor is newer than this page and says what it does not understand." />;
  }
  return null;
}

/** The server has another page than this one. */
export function Newer({
  reload,
  words = "Parlor has a newer page than this one.",
}: {
  reload: () => void;
  words?: string;
}) {
  return (
    <div class="banner" role="status">
      <span>{words} What you are writing is kept.</span>
      <button type="button" class="more" onClick={reload}>
        Reload
      </button>
    </div>
  );
}

/** The hashes differ: what is shown here is not what Parlor has. */
export function Doubted({ doubt, seen, reload }: { doubt: Doubt | undefined; seen: () => void; reload: () => void }) {
  switch (doubt) {
    case undefined:
      return null;
    case "reading":
      return (
        <div class="banner" role="status">
          This page held something else than Parlor. Reading the session again…
        </div>
      );
    case "read":
      return (
        <div class="banner" role="status">
          <span>This page showed something wrong and has read the session again.</span>
          <button type="button" class="more" onClick={seen}>
            Close
          </button>
        </div>
      );
    case "disagrees":
      return (
        <div class="banner warn" role="alert">
          <span>
            This page and Parlor do not agree on this session: what is shown here may be wrong. A terminal shows it as
            it is.
          </span>
          <button type="button" class="more" onClick={reload}>
            Reload
          </button>
        </div>
      );
  }
}

/** What this device may not do, where it may not do everything. */
export function Role({ role, connection }: { role: DeviceRole; connection: ConnectionState }) {
  // Before the server has said so, nobody knows.
  if (connection.is !== "up" || role === "controller") return null;
  const words = mayWords(role);
  return (
    <span class="tag" title={`${words} \`parlor devices role\` changes that.`}>
      {role === "observer" ? "Read-only" : "Allow or deny"}
      <span class="hidden">. {words}</span>
    </span>
  );
}

/** Why a device is not paired, by the code of its refusal; of any other, the server's own words. */
const UNPAIRED: Record<string, [title: string, hint: string]> = {
  not_offered: ["This device is not paired", "Run `parlor web` in a terminal: it opens the page."],
  other_name: ["This device is not paired", "Run `parlor web` in a terminal: it opens the page."],
  busy: ["Another device is being paired", "Wait until that is done, then try again."],
  denied: ["This device was not paired", "The answer was no. Run `parlor web` in a terminal to ask again."],
  too_late: ["This device was not paired", "Nobody answered in time. Run `parlor web` in a terminal to ask again."],
  too_many: ["Too many ask at once", "Try again in a moment."],
  lost: ["This device was not paired", "The connection was lost before that."],
  from_command: [
    "This browser is not let in",
    "A command of an agent has started it. Open the page in a browser of your own.",
  ],
  other_user: ["This browser is not let in", "It belongs to another user of the machine that Parlor runs on."],
};

/** The whole screen for what cannot be gone on with. `known`: there is something to read meanwhile. */
export function Blocked({
  connection,
  known,
  retry,
}: {
  connection: ConnectionState;
  known: boolean;
  retry: () => void;
}) {
  const again = (
    <button type="button" class="button" onClick={retry}>
      Try again
    </button>
  );
  switch (connection.is) {
    case "stopped":
      return known ? null : (
        <State title="Parlor has stopped on this machine">
          Start it with <code>parlor up</code>.
        </State>
      );
    case "pairing":
      return <Pairing code={connection.code} until={connection.until} />;
    case "unpaired": {
      const { code = "not_offered", message = "", hint = "" } = connection.refused ?? {};
      const [title, words] = UNPAIRED[code] ?? [message, hint];
      return (
        <State title={title} after={again}>
          <Coded text={words} />
        </State>
      );
    }
    case "other_run":
      return (
        <State title="Parlor was started again" after={again}>
          It was paired with this page before that. Run <code>parlor web</code> in a terminal: it opens the page again.
        </State>
      );
    case "impostor":
      return (
        <State title="This is not your Parlor" after={again}>
          Something else answers at this address. Nothing was sent to it. Close this tab and run <code>parlor web</code>
          .
        </State>
      );
    case "revoked":
      return (
        <State title="This device was revoked">
          Run <code>parlor web</code> in a terminal to pair it again.
        </State>
      );
    case "refused":
      return <State title={connection.message}>{connection.hint && <Coded text={connection.hint} />}</State>;
    case "connecting":
    case "up":
    case "lost":
    case "newer":
      return null;
  }
}

/** The code that both sides show. */
function Pairing({ code, until }: { code: string | undefined; until: number | undefined }) {
  if (code === undefined) return <State title="Pairing this device…" slow />;
  const left = until === undefined ? undefined : Math.max(0, Math.ceil((until - time.value) / 1000));
  return (
    <State
      title="Does Parlor show the same code?"
      after={left === undefined ? null : <p class="faint">{left} s left</p>}
    >
      <span class="pair-code">{code}</span>
      If so, press <kbd>y</kbd> in the terminal where you ran <code>parlor web</code>, or allow it on a page that is
      open. If not, press <kbd>n</kbd>.
    </State>
  );
}

/** `slow`: most often it is over before anybody could read it. */
export function State({
  title,
  children,
  after,
  slow,
}: {
  title: string;
  children?: preact.ComponentChildren;
  after?: preact.ComponentChildren;
  slow?: boolean;
}) {
  return (
    <div class={`state${slow ? " slow" : ""}`} role="status">
      <h2>{title}</h2>
      <p>{children}</p>
      {after}
    </div>
  );
}
