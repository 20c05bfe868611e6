// The folder of a new session: written, chosen from those that are known, or completed from what is on the machine.

import { useEffect, useRef, useState } from "preact/hooks";
import { best } from "../composer/complete";
import type { FleetPort } from "../ports";
import { visible } from "../text/unseen";

/** Most folders in the list. */
const MOST = 12;
/** How long nothing is typed before the server is asked. */
const CALM_MS = 80;

interface FolderFieldProps {
  fleet: FleetPort;
  value: string;
  /** Folders of other sessions. */
  known: readonly string[];
  trouble: boolean;
  change: (folder: string) => void;
}

export function FolderField({ fleet, value, known, trouble, change }: FolderFieldProps) {
  const [typed, setTyped] = useState(false);
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const [found, setFound] = useState<readonly string[]>([]);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!typed || !/^[/~]/.test(value)) return setFound([]);
    let current = true;
    const wait = setTimeout(() => {
      void fleet.look?.({ folders: value }).then(
        ({ folders }) => current && setFound(folders),
        () => current && setFound([]),
      );
    }, CALM_MS);
    return () => {
      current = false;
      clearTimeout(wait);
    };
  }, [typed, value]);
  const others = typed ? best(value, known, (folder) => folder, MOST) : known;
  const offers = [...new Set([...found, ...others])].filter((folder) => folder !== value).slice(0, MOST);
  const shown = open && offers.length > 0;
  const chosen = Math.min(at, offers.length - 1);
  const take = (folder: string): void => {
    change(folder);
    setAt(-1);
    setTyped(false);
    setOpen(false);
    field.current?.focus();
  };
  const key = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    const down = event.key === "ArrowDown";
    if (down || event.key === "ArrowUp") {
      event.preventDefault();
      if (!shown) return setOpen(true);
      return setAt(
        chosen < 0 ? (down ? 0 : offers.length - 1) : (chosen + (down ? 1 : offers.length - 1)) % offers.length,
      );
    }
    if (!shown) return;
    // As in a shell: Tab completes, and goes one folder deeper with the next letter.
    const offer = offers[event.key === "Tab" && typed && !event.shiftKey ? Math.max(chosen, 0) : chosen];
    if ((event.key === "Enter" || event.key === "Tab") && offer !== undefined) {
      event.preventDefault();
      if (event.key === "Enter") return take(offer);
      change(`${offer}/`);
      setAt(-1);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      event.preventDefault();
      setOpen(false);
    }
  };
  return (
    <span class="folder-field">
      <label class="soft" for="first-folder">
        in
      </label>
      <input
        id="first-folder"
        ref={field}
        type="text"
        name="folder"
        role="combobox"
        aria-label="Folder, with its whole path"
        aria-expanded={shown}
        aria-controls="first-folders"
        aria-autocomplete="list"
        aria-activedescendant={shown && chosen >= 0 ? `folder-${chosen}` : undefined}
        aria-invalid={trouble}
        aria-describedby={trouble ? "no-folder" : undefined}
        value={value}
        placeholder="/a/folder"
        pattern="\s*(/|~).*"
        title="The whole path, from / on"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        onInput={(event) => {
          change(event.currentTarget.value);
          setTyped(true);
          setOpen(true);
          setAt(-1);
        }}
        onClick={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={key}
      />
      <ul class="folder-offers" id="first-folders" role="listbox" aria-label="Folders" hidden={!shown}>
        {shown &&
          offers.map((folder, index) => (
            <li
              key={folder}
              role="option"
              id={`folder-${index}`}
              aria-selected={index === chosen}
              onMouseDown={(event) => {
                event.preventDefault();
                take(folder);
              }}
              ref={(element) => {
                if (index === chosen) element?.scrollIntoView({ block: "nearest" });
              }}
            >
              <bdi class="cut">{visible(folder)}</bdi>
            </li>
          ))}
      </ul>
    </span>
  );
}
