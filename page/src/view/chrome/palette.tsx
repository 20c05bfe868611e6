// Everything by its name: sessions, commands, and files.

import { useState } from "preact/hooks";
import { best } from "../composer/complete";
import { Dialog } from "./dialog";

export interface Act {
  kind: string;
  name: string;
  words?: string;
  does: () => void;
}

/** Of sessions and files so many before a word is typed: commands shall not be lost among hundreds. */
const FIRST: Record<string, number> = { session: 8, file: 6 };

export function some(acts: readonly Act[]): Act[] {
  const seen: Record<string, number> = {};
  return acts.filter(({ kind }) => (seen[kind] = (seen[kind] ?? 0) + 1) <= (FIRST[kind] ?? 50));
}

export function Palette({
  acts,
  files,
  remark,
  close,
}: {
  acts: Act[];
  files: boolean;
  remark: string | undefined;
  close: () => void;
}) {
  const what = files ? "Sessions, commands and files" : "Sessions and commands";
  const [word, setWord] = useState("");
  const [at, setAt] = useState(0);
  const shown = word === "" ? some(acts) : best(word, acts, (act) => `${act.name} ${act.words ?? ""}`, 50);
  const chosen = Math.min(at, shown.length - 1);
  const take = (act: Act | undefined): void => {
    close();
    act?.does();
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setAt((chosen + 1) % Math.max(1, shown.length));
    else if (event.key === "ArrowUp") setAt((chosen + shown.length - 1) % Math.max(1, shown.length));
    else if (event.key === "Enter") take(shown[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Palette" close={close} bare>
      <input
        type="text"
        placeholder={what}
        aria-label={what}
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`act-${chosen}`}
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
      {shown.length === 0 && <p class="nobody">Nothing by that name.</p>}
      {files && remark && <p class="remark">{remark}</p>}
    </Dialog>
  );
}
