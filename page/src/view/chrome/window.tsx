// How the window of the desktop shell stands and starts, where the page is in one.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Invoke, windowSettings, type WindowSettings, type WindowStanding } from "../../model/window";
import { visible } from "../text/unseen";
import { Dialog } from "./dialog";

const ZOOMS = [50, 75, 90, 100, 110, 125, 150, 175, 200, 250, 300];

export function WindowPage({ invoke, close }: { invoke: Invoke; close: () => void }) {
  const [now, setNow] = useState<WindowStanding | undefined>();
  const [shortcut, setShortcut] = useState<string | undefined>();
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
        if (change.shortcut !== undefined) setShortcut(undefined);
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
          <form
            class="row"
            onSubmit={(event) => {
              event.preventDefault();
              set({ shortcut: (shortcut ?? at.shortcut).trim() });
            }}
          >
            <label class="grow" for="window-shortcut">
              Shortcut <span class="soft">shows or hides the window; empty for none</span>
            </label>
            <input
              id="window-shortcut"
              type="text"
              size={18}
              value={shortcut ?? at.shortcut}
              disabled={now.no_shortcut !== null}
              onInput={(event) => setShortcut(event.currentTarget.value)}
            />
            <button type="submit" class="button" disabled={shortcut === undefined || shortcut.trim() === at.shortcut}>
              Set
            </button>
          </form>
          {now.no_shortcut !== null && <p class="soft">{now.no_shortcut}</p>}
        </>
      )}
      <p class="soft">
        Agent, model and folder are chosen where a session begins. Keys of providers are set by{" "}
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
