// Everything by its name: sessions, commands, and files; and sessions by what was said in them.

import { useEffect, useState } from "preact/hooks";
import { best, fits } from "../composer/complete";
import { folder } from "../common/format";
import type { Said } from "../ports";
import { oneLine, visible } from "../text/unseen";
import { Dialog } from "./dialog";

export interface Act {
  kind: string;
  name: string;
  words?: string;
  does: () => void;
}

/** Of sessions and files so many before a word is typed: commands shall not be lost among hundreds. */
const FIRST: Record<string, number> = { session: 8, file: 6 };
/** Letters from which on it is searched in what was said. */
const LEAST = 2;
/** How long nothing is typed before it is searched. */
const CALM_MS = 120;
/** Most characters of a place in which words were said. */
const SNIPPET = 160;

export function some(acts: readonly Act[]): Act[] {
  const seen: Record<string, number> = {};
  return acts.filter(({ kind }) => (seen[kind] = (seen[kind] ?? 0) + 1) <= (FIRST[kind] ?? 50));
}

/** What a search has found so far: nothing yet, sessions, or why there was none. */
type Found = { word: string; sessions: readonly Said[] } | { word: string; trouble: string };

export interface PaletteProps {
  acts: Act[];
  files: boolean;
  remark: string | undefined;
  /** Searches what was said in all sessions. */
  search: ((word: string) => Promise<readonly Said[]>) | undefined;
  /** Opens a session at these words. */
  open: (session: string, word: string) => void;
  close: () => void;
}

export function Palette({ acts, files, remark, search, open, close }: PaletteProps) {
  const what = files
    ? "Sessions, what was said in them, commands and files"
    : "Sessions, what was said in them, commands";
  const [word, setWord] = useState("");
  const [at, setAt] = useState(0);
  const [found, setFound] = useState<Found | undefined>();
  const wanted = word.trim();
  useEffect(() => {
    if (!search || wanted.length < LEAST) return setFound(undefined);
    let current = true;
    const wait = setTimeout(() => {
      void search(wanted).then(
        (sessions) => current && setFound({ word: wanted, sessions }),
        (trouble: unknown) => current && setFound({ word: wanted, trouble: visible(String(trouble)) }),
      );
    }, CALM_MS);
    return () => {
      current = false;
      clearTimeout(wait);
    };
  }, [wanted]);
  // What was found for the word before stays until more is known: nothing jumps while one types.
  const sessions = found && "sessions" in found ? found.sessions : [];
  const name = (act: Act): string => `${act.name} ${act.words ?? ""}`;
  const named = word === "" ? some(acts) : best(word, acts, name, 50);
  // Letters that only stand somewhere in a name come after what was said in so many words.
  const far = named.findIndex((act) => word !== "" && fits(word, name(act)) === 3);
  const before = far < 0 ? named : named.slice(0, far);
  const said = sessions.map(
    (one): Act => ({
      kind: "said in",
      name: one.title,
      words: one.snippet ? oneLine(one.snippet, SNIPPET) : folder(one.cwd),
      does: () => open(one.session, found?.word ?? wanted),
    }),
  );
  const shown = [...before, ...said, ...named.slice(before.length)];
  const chosen = Math.min(at, shown.length - 1);
  const searches = search !== undefined && wanted.length >= LEAST && found?.word !== wanted;
  const take = (act: Act | undefined): void => {
    close();
    act?.does();
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setAt((chosen + 1) % Math.max(1, shown.length));
    else if (event.key === "ArrowUp") setAt((chosen + shown.length - 1) % Math.max(1, shown.length));
    else if (event.key === "Enter" && !event.isComposing) take(shown[chosen]);
    else return;
    event.preventDefault();
  };
  const counted = said.length === 0 ? "" : `${said.length} ${said.length === 1 ? "session says" : "sessions say"} it`;
  return (
    <Dialog title="Go to" close={close} bare>
      <input
        type="text"
        placeholder={what}
        aria-label={what}
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown.length > 0 ? `act-${chosen}` : undefined}
        value={word}
        onInput={(event) => {
          setWord(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={key}
      />
      <ul id="palette-list" role="listbox" aria-label="Found">
        {shown.map((act, index) => (
          <li
            role="option"
            id={`act-${index}`}
            class={act.kind === "said in" ? "said-in" : undefined}
            aria-selected={index === chosen}
            onMouseDown={(event) => {
              event.preventDefault();
              take(act);
            }}
            ref={(element) => {
              if (index === chosen) element?.scrollIntoView({ block: "nearest" });
            }}
          >
            <span class="kind">{act.kind}</span>
            <span class="cut">{act.name}</span>
            <span class="grow" />
            <span class="faint cut">{act.words}</span>
          </li>
        ))}
      </ul>
      <p class={shown.length === 0 && !searches ? "nobody" : "hidden"} role="status">
        {searches ? "" : shown.length === 0 ? "No match." : counted}
      </p>
      {found && "trouble" in found && <p class="remark risk">{found.trouble}</p>}
      {files && remark && <p class="remark">{remark}</p>}
    </Dialog>
  );
}
