// A session is begun with its first words, its folder and its model: none is made before them.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { usual as setInWindow } from "../../model/window";
import { Icon } from "../common/icon";
import type { Beginning, FleetPort, SessionPort, StartInfo } from "../ports";
import { Coded } from "../text/seen";
import { visible } from "../text/unseen";
import { FolderField } from "./folder";
import { folders } from "./groups";

/** What is being written; kept when one looks elsewhere in between. */
export const firstWords = signal("");
/** What the server tells of a start, once it has. */
export const startInfo = signal<StartInfo | undefined>(undefined);
/** The folder that the person chose, and the one that was offered then: another `parlor web` offers another one. */
const KEPT = "folder";

export function keptFolder(offered: string | undefined): string | undefined {
  try {
    const [folder, under] = JSON.parse(localStorage.getItem(KEPT) ?? "[]") as string[];
    return under === (offered ?? "") ? folder : undefined;
  } catch {
    return undefined;
  }
}

function keepFolder(folder: string, offered: string | undefined): void {
  try {
    localStorage.setItem(KEPT, JSON.stringify([folder, offered ?? ""]));
  } catch {
    // Without storage the server's folder is offered.
  }
}

/** What was wanted at a place of this page, until it is begun: nothing is begun by an address alone. */
const wanted = new Map<string, Beginning>();
let count = 0;

/** Begins a session. */
export function beginWith(beginning: Beginning): void {
  const place = String((count += 1));
  wanted.set(place, beginning);
  location.hash = `#/begin/${place}`;
}

/** What is to be begun here, once. */
export function takeBeginning(place: string): Beginning | undefined {
  const found = wanted.get(place);
  wanted.delete(place);
  return found;
}

/** What is said to a session that is being begun, once it is there. */
const pending = new WeakMap<SessionPort, string>();

export function handOver(port: SessionPort, { words }: Beginning): void {
  if (words !== undefined) pending.set(port, words);
}

/** The first words for this session, once. */
export function takeFirst(port: SessionPort): string | undefined {
  const words = pending.get(port);
  pending.delete(port);
  if (words !== undefined && firstWords.peek().trim() === words) firstWords.value = "";
  return words;
}

interface StartProps {
  fleet: FleetPort;
  /** Where it is to begin, where that was said. */
  folder?: string | undefined;
  model?: string | undefined;
  /** Why it could not be begun as it stands here. */
  trouble?: string | undefined;
  /** It was opened to be written in. */
  writes?: boolean;
}

export function Start({ fleet, folder, model, trouble, writes = false }: StartProps) {
  const known = folders(fleet.rows.value, "");
  const info = startInfo.value;
  const offered = info?.cwd ?? undefined;
  const set = setInWindow.value;
  const usual = folder ?? (set?.folder || keptFolder(offered)) ?? offered ?? known[0] ?? "";
  const [place, setPlace] = useState(usual);
  const [chosen, setChosen] = useState(model ?? "");
  const [choice, setAgent] = useState<string | undefined>();
  const agents = info?.agents ?? [];
  const agent = choice ?? set?.agent ?? "";
  /** An agent that was set for all sessions and cannot be begun is said, and another one has to be chosen. */
  const missing = info && agent !== "" && !agents.includes(agent) ? agent : undefined;
  const touched = useRef(folder !== undefined);
  const words = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (!touched.current) setPlace(usual);
  }, [usual]);
  const up = fleet.connection.value.is === "up";
  useEffect(() => {
    if (up) void fleet.look?.({ start: true }).then((start) => void (startInfo.value = start), forget);
  }, [up]);
  useEffect(() => {
    if (trouble !== undefined) document.getElementById("first-folder")?.focus();
    else if (writes) words.current?.focus();
  }, [trouble]);
  const begin = (form: HTMLFormElement): void => {
    const first = firstWords.value.trim();
    if (first === "" || missing !== undefined || !form.reportValidity()) return;
    const cwd = place.trim().replace(/(?<=.)\/+$/, "");
    if (touched.current && cwd !== "") keepFolder(cwd, offered);
    beginWith({ words: first, ...(cwd === "" ? {} : { cwd }), ...answerer(agent, chosen) });
  };
  return (
    <form
      class="start composer"
      aria-label="New session"
      onSubmit={(event) => {
        event.preventDefault();
        begin(event.currentTarget);
      }}
    >
      <textarea
        id="first"
        ref={words}
        rows={3}
        aria-label="What a new session is to do"
        placeholder="Say what you want done…"
        value={firstWords.value}
        onInput={(event) => void (firstWords.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          if (matchMedia("(pointer: coarse)").matches && !event.ctrlKey && !event.metaKey) return;
          event.preventDefault();
          if (event.currentTarget.form) begin(event.currentTarget.form);
        }}
      />
      <div class="tools">
        <FolderField
          fleet={fleet}
          value={place}
          known={known}
          trouble={trouble !== undefined}
          change={(next) => {
            touched.current = true;
            setPlace(next);
          }}
        />
        {info && (
          <>
            {(agents.length > 0 || missing !== undefined) && (
              <label class="soft start-choice start-agent">
                <span>Agent</span>
                <select value={agent} onChange={(event) => setAgent(event.currentTarget.value)}>
                  <option value="">{visible(info.agent)}</option>
                  {missing !== undefined && (
                    <option value={missing} disabled>
                      {visible(missing)}
                    </option>
                  )}
                  {agents.map((name) => (
                    <option key={name} value={name}>
                      {visible(name)}
                    </option>
                  ))}
                </select>
              </label>
            )}
            {agent === "" && (
              <label class="soft start-choice start-model">
                <span>Model</span>
                <select value={chosen} onChange={(event) => setChosen(event.currentTarget.value)}>
                  <option value="">{info.model ? visible(info.model) : "the usual model"}</option>
                  {info.models
                    .filter((name) => name !== info.model)
                    .map((name) => (
                      <option key={name} value={name}>
                        {visible(name)}
                      </option>
                    ))}
                </select>
              </label>
            )}
          </>
        )}
        <button type="submit" class="send" disabled={firstWords.value.trim() === "" || missing !== undefined}>
          <Icon name="send" /> Begin
        </button>
      </div>
      {missing !== undefined && (
        <p class="risk start-trouble" role="alert">
          {visible(missing)}, the agent of your window's settings, cannot be begun here: choose another one, or run{" "}
          <code>parlor attach {visible(missing)}</code> once in a terminal, which asks you about its command.
        </p>
      )}
      {trouble !== undefined && (
        <p class="risk start-trouble" id="no-folder" role="alert">
          <Coded text={trouble} />
        </p>
      )}
    </form>
  );
}

/** Who is to answer, as it was chosen: Parlor with a model, or another program's agent, which has its own. */
export function answerer(agent: string, model: string): Pick<Beginning, "model" | "agent"> {
  if (agent !== "") return { agent };
  return model === "" ? {} : { model };
}

/** Without an answer the newest session's folder is offered, and the usual model. */
function forget(): void {}
