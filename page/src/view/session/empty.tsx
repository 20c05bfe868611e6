// A session in which nothing was said: where it is, once that is known.

import { State } from "../chrome/connection";
import type { DeviceRole, ConnectionState } from "../ports";
import { visible } from "../text/unseen";

export function Empty({
  named,
  cwd,
  sandboxed,
  connection,
  role,
}: {
  named: boolean;
  cwd: string;
  /** Whether it works inside its project unasked. */
  sandboxed: boolean;
  connection: ConnectionState;
  role: DeviceRole;
}) {
  // The line under the header says what is wrong.
  if (cwd === "" && connection.is !== "up" && connection.is !== "connecting") return <div class="state" />;
  if (cwd === "")
    return (
      <div class="slow state" role="status">
        <h2>{named ? "Opening" : "Beginning"} the session…</h2>
      </div>
    );
  if (role !== "controller")
    return (
      <State title="Nothing yet">
        Nothing was said in <code>{visible(cwd)}</code> so far.
      </State>
    );
  return (
    <State title="Nothing yet">
      Say what you want done in <code>{visible(cwd)}</code>.
      {sandboxed && (
        <>
          {" "}
          It works inside this project, and asks before anything leaves it. To be asked first: Mode in the settings of
          this session, or <code>policy = "ask"</code> in your own.
        </>
      )}
    </State>
  );
}
