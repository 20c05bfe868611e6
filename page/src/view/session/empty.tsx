// A session in which nothing was said: where it is, once that is known.

import { State } from "../chrome/connection";
import type { DeviceRole, ConnectionState } from "../ports";
import { Coded } from "../text/seen";
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
  if (cwd === "" && named)
    return (
      <div class="slow state" role="status">
        <h2>Opening the session…</h2>
      </div>
    );
  if (cwd !== "" && role !== "controller")
    return (
      <State title="Nothing yet">
        Nothing was said in <code>{visible(cwd)}</code> so far.
      </State>
    );
  return (
    <State title={cwd === "" ? "New session" : "Nothing yet"}>
      Say what you want done
      {cwd === "" ? (
        ""
      ) : (
        <>
          {" "}
          in <code>{visible(cwd)}</code>
        </>
      )}
      .
      {cwd !== "" && sandboxed && (
        <>
          {" "}
          It works inside this project, and asks before anything leaves it. To be asked first: Mode in the settings of
          this session, or <code>policy = "ask"</code> in your own.
        </>
      )}
    </State>
  );
}

interface ElsewhereProps {
  folders: readonly string[];
  go: (folder: string) => void;
  /** What was typed, and why no session could be begun there. */
  typed?: string | undefined;
  trouble?: string | undefined;
}

/** Other folders for a session in which nothing was said: a click begins one there instead. */
export function Elsewhere({ folders, go, typed, trouble }: ElsewhereProps) {
  return (
    <div class="state elsewhere">
      {folders.length > 0 && <p>Or begin in</p>}
      <ul>
        {folders.map((folder) => (
          <li key={folder}>
            <button type="button" class="quiet cut isolate" onClick={() => go(folder)}>
              {visible(folder)}
            </button>
          </li>
        ))}
      </ul>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = new FormData(event.currentTarget).get("folder");
          if (typeof wanted === "string" && wanted.trim() !== "") go(wanted.trim());
        }}
      >
        <input
          type="text"
          name="folder"
          ref={(field) => {
            if (trouble !== undefined && document.activeElement === document.body) field?.focus();
          }}
          defaultValue={typed}
          aria-invalid={trouble !== undefined}
          aria-describedby={trouble === undefined ? undefined : "no-folder"}
          placeholder="/another/folder"
          aria-label="Another folder, with its whole path"
          autocomplete="off"
          spellcheck={false}
          pattern="\s*/.*"
          title="The whole path, from / on"
        />
        <button type="submit" class="button">
          Begin there
        </button>
      </form>
      {trouble !== undefined && (
        <p class="risk" id="no-folder" role="alert">
          <Coded text={trouble} />
        </p>
      )}
    </div>
  );
}
