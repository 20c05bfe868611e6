// How the window of the desktop shell stands and starts, where the page is in one.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Invoke, windowSettings, type WindowSettings, type WindowStanding } from "../../model/window";
import { startInfo } from "../fleet/start";
import { visible } from "../text/unseen";
import { Dialog } from "./dialog";

const ZOOMS = [50, 75, 90, 100, 110, 125, 150, 175, 200, 250, 300];

export function WindowPage({ invoke, close }: { invoke: Invoke; close: () => void }) {
  const [now, setNow] = useState<WindowStanding | undefined>();
  /** How often the shell has taken what was wanted: what is being written is as it is set then. */
  const [done, setDone] = useState(0);
  const [trouble, setTrouble] = useState<string | undefined>();
  const wanted = useRef<WindowSettings | undefined>(undefined);
  const told = (why: unknown): void => setTrouble(visible(String(why)));
  useEffect(() => void windowSettings.read(invoke).then(setNow, told), []);
  const set = (change: Partial<WindowSettings>): void => {
    if (!now) return;
    setTrouble(undefined);
    // What was just set holds also before the shell has said so: a second change does not take it back.
    const next = { ...(wanted.current ?? now.settings), ...change };
    wanted.current = next;
    windowSettings
      .set(invoke, next)
      .then((standing) => {
        setNow(standing);
        setDone((times) => times + 1);
      }, told)
      .finally(() => {
        if (wanted.current === next) wanted.current = undefined;
      });
  };
  const at = now?.settings;
  const toggle = ({ of, words, more }: { of: keyof WindowSettings; words: string; more?: string }) => (
    <label class="row">
      <input
        type="checkbox"
        checked={at?.[of] === true}
        onChange={(event) => set({ [of]: event.currentTarget.checked })}
      />
      <span class="grow">
        {words} {more && <span class="soft">{more}</span>}
      </span>
    </label>
  );
  return (
    <Dialog title="Window" close={close}>
      {at && now && (
        <>
          {toggle({ of: "autostart", words: "Start at login", more: "in the tray" })}
          {toggle({
            of: "hidden",
            words: "Start hidden",
            more: now.tray ? "in the tray" : "this desktop has no tray: in the task bar",
          })}
          {toggle({ of: "small", words: "Small window", more: "360×600, on the screen of the cursor" })}
          {toggle({ of: "notify", words: "Notify when a session waits", more: "while the window is not in front" })}
          <label class="row">
            <span class="grow">Zoom</span>
            <select value={String(at.zoom)} onChange={(event) => set({ zoom: Number(event.currentTarget.value) })}>
              {[...new Set([...ZOOMS, at.zoom])]
                .sort((one, other) => one - other)
                .map((zoom) => (
                  <option key={zoom} value={String(zoom)}>
                    {zoom} %
                  </option>
                ))}
            </select>
          </label>
          <Line
            id="window-shortcut"
            words="Shortcut"
            more="shows or hides the window; empty for none"
            is={at.shortcut}
            off={now.no_shortcut !== null}
            done={done}
            set={(shortcut) => set({ shortcut })}
          />
          {now.no_shortcut !== null && <p class="soft">{now.no_shortcut}</p>}
          <label class="row">
            <span class="grow">
              Agent <span class="soft">that a session begins with</span>
            </span>
            <select id="window-agent" value={at.agent} onChange={(event) => set({ agent: event.currentTarget.value })}>
              {[...new Set(["", ...(startInfo.value?.agents ?? []), at.agent])].map((name) => (
                <option key={name} value={name}>
                  {name === "" ? "Parlor's own" : visible(name)}
                </option>
              ))}
            </select>
          </label>
          <Line
            id="window-folder"
            words="Folder"
            more="that it begins in; empty for the last one"
            is={at.folder}
            done={done}
            set={(folder) => set({ folder })}
          />
        </>
      )}
      <p class="soft">
        Each session may begin with another agent and in another folder. Keys of providers are set by{" "}
        <code>parlor login</code>.
      </p>
      {trouble !== undefined && (
        <p class="risk" role="alert">
          {trouble}
        </p>
      )}
    </Dialog>
  );
}

/** A setting that is written, and holds once it is set. */
function Line(line: {
  id: string;
  words: string;
  more: string;
  is: string;
  off?: boolean;
  done: number;
  set: (text: string) => void;
}) {
  const [text, setText] = useState<string | undefined>();
  useEffect(() => setText(undefined), [line.done]);
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        line.set((text ?? line.is).trim());
      }}
    >
      <label class="grow" for={line.id}>
        {line.words} <span class="soft">{line.more}</span>
      </label>
      <input
        id={line.id}
        type="text"
        size={18}
        value={text ?? line.is}
        disabled={line.off}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="button" disabled={text === undefined || text.trim() === line.is}>
        Set
      </button>
    </form>
  );
}
