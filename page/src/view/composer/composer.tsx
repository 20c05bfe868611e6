// Where the person writes: prompts, steers, follow-ups, slash commands, files. Drafts are kept.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { openRun, type State } from "../../model/state";
import type { Abilities, Input, Part, Signal } from "../../model/types";
import { pastedPicture, shell } from "../../model/window";
import { Icon } from "../common/icon";
import { modeWord } from "../common/modes";
import { agentMode } from "../session/options";
import { mayWords } from "../common/who";
import { Picture } from "../session/part";
import { oneLine, visible } from "../text/unseen";
import type { SessionPort } from "../ports";
import { refused, toast } from "../chrome/toasts";
import { attach } from "./attach";
import { listed, read, saidToAgent, type Screen } from "./commands";
import { best, completing, type Offer } from "./complete";
import { knownFiles } from "./files";
import { askFolder, folderOf, remark, withFolder } from "./folder";
import { mentioned, withMention } from "./mention";
import { together, wanted } from "./returned";

/** Most offers in the list; all commands are among them. */
const MOST = 24;

type Suggestion = Extract<Signal, { suggestion: unknown }>["suggestion"];

export interface ComposerProps {
  port: SessionPort;
  state: State;
  show: (screen: Screen) => void;
  /** A prompt of one's own was sent. */
  sent: () => void;
}

/** Model, effort and mode, as far as they were told: before a session is there nobody knows its mode. */
export function settingWords(state: State, abilities: Abilities): string[] {
  const { effort, policy, cwd } = state.settings;
  const model = state.settings.model ?? abilities.model;
  return [
    model && visible(model.name),
    effort,
    abilities.policy === false
      ? (agentMode(abilities) ?? ownRules(abilities))
      : cwd === ""
        ? undefined
        : modeWord(policy),
  ].filter((word) => word !== undefined);
}

/** What is said in the place of a mode of a runtime that Parlor does not hold to one, once it is known. */
export function ownRules({ name, consent }: Abilities): string | undefined {
  if (name === "") return undefined;
  return consent ? "its own rules" : "its own rules; it never asks";
}

export function Composer({ port, state, show, sent }: ComposerProps) {
  const [text, setText] = useState("");
  const [parts, setParts] = useState<Part[]>([]);
  const [cursor, setCursor] = useState(0);
  const [at, setAt] = useState(0);
  const [shut, setShut] = useState(false);
  const [over, setOver] = useState(false);
  const [past, setPast] = useState<number | undefined>();
  const [suggested, setSuggested] = useState<Suggestion | undefined>();
  const field = useRef<HTMLTextAreaElement>(null);
  const files = useRef<HTMLInputElement>(null);
  const abilities = port.abilities.value;
  const run = openRun(state);
  const may = port.role.value === "controller";
  useEffect(() => {
    let current = true;
    void port.loadDraft().then((draft) => {
      if (!current || !draft || field.current?.value) return;
      setText(draft.text);
      setParts(draft.attachments);
    });
    const stop = port.onSignal((signal) => {
      if ("editor_text" in signal) setText(signal.editor_text);
      else if ("suggestion" in signal) setSuggested(signal.suggestion);
    });
    return () => {
      current = false;
      stop();
    };
  }, [port]);
  // What the field had at the beginning is not what somebody has written: it would take the place of what was kept.
  const untouched = useRef(true);
  // A new session is opened to say something.
  useEffect(() => {
    if (may && port.id.peek() === undefined) field.current?.focus();
  }, []);
  useEffect(() => {
    if (untouched.current && text === "" && parts.length === 0) return;
    untouched.current = false;
    // What the field has by now: a letter may have come since this was drawn.
    port.saveDraft({ text: field.current?.value ?? text, attachments: parts });
  }, [text, parts]);
  /** At once, not after the next picture: the page may be gone by then. */
  const written = (next: string): void => {
    untouched.current = false;
    setText(next);
    port.saveDraft({ text: next, attachments: parts });
  };
  useEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, window.innerHeight * 0.4)}px`;
  }, [text]);

  const word = shut ? undefined : completing(text, cursor);
  const naming = word?.kind === "file";
  const folder = folderOf(port).value;
  useEffect(() => {
    if (naming) askFolder(port, Date.now());
  }, [naming]);
  const paths = useMemo(() => (naming ? withFolder(knownFiles(state), folder) : []), [naming, folder, state.rev]);
  const offers: Offer[] = !word
    ? []
    : word.kind === "command"
      ? best(word.word, listed(abilities), (slash) => slash.name, MOST).map((slash) => ({
          text: `${slash.written} `,
          name: visible(slash.written),
          words: visible(slash.words),
        }))
      : best(word.word, paths, (file) => file.path, MOST).map((file) => ({
          text: `@${file.path} `,
          name: visible(file.path),
          words: file.how,
        }));
  const chosen = Math.min(at, offers.length - 1);
  const take = (offer: Offer): void => {
    if (!word) return;
    const next = text.slice(0, word.from) + offer.text + text.slice(word.to);
    setText(next);
    const place = word.from + offer.text.length;
    requestAnimationFrame(() => {
      field.current?.setSelectionRange(place, place);
      setCursor(place);
      field.current?.focus();
    });
  };

  const mention = mentioned.value;
  useEffect(() => {
    if (mention === undefined) return;
    mentioned.value = undefined;
    const next = withMention(text, field.current?.selectionStart ?? text.length, mention);
    setText(next.text);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(next.cursor, next.cursor);
    });
  }, [mention]);
  // Gone back before a prompt: it is changed and said anew. What is being written stays above it.
  const prompt = wanted.value;
  useEffect(() => {
    if (prompt === undefined) return;
    wanted.value = undefined;
    setText((before) => together(before, [{ text: prompt }]));
    toast("info", "Change the prompt and send it: what came after stays on its own branch.");
    requestAnimationFrame(() => field.current?.focus());
  }, [prompt]);
  // A run was stopped: what waited for it is not lost.
  const returned = port.returned?.value;
  useEffect(() => {
    if (!returned || returned.length === 0) return;
    port.seenReturned?.();
    setText((before) => together(before, returned));
    setParts((before) => [...before, ...returned.flatMap((input) => input.attachments ?? [])]);
    toast(
      "info",
      returned.length === 1
        ? "What you had queued was not heard; it is in the composer again."
        : `${returned.length} queued inputs were not heard; they are in the composer again.`,
    );
  }, [returned]);
  // What was suggested stands until something else is written or said.
  const suggestion = may && text === "" ? suggested : undefined;
  const takeSuggestion = (): void => {
    if (suggestion) setText(suggestion.text);
    setSuggested(undefined);
    field.current?.focus();
  };

  const say = async (follow: boolean): Promise<void> => {
    const said = text.trim();
    if (said === "" && parts.length === 0) return;
    const known = read(said, abilities);
    // It stays in the field: a slip of one letter is mended there.
    if (known?.is === "refused") return void toast("warning", known.words);
    if (known) {
      const { does } = known.slash;
      if (does.is !== "send") {
        setText("");
        if (does.is === "show") show(does.screen);
        else location.hash = does.hash;
        return;
      }
      if (does.needs && known.rest === "") return void toast("warning", `/${known.slash.name} needs ${does.needs}.`);
      setText("");
      try {
        const receipt = await port.send(does.command(known.rest));
        if (does.leaves) setText(known.rest);
        if (typeof receipt === "object" && "files" in receipt) toast("info", visible(receipt.files.text));
      } catch (error) {
        refused(error);
        setText(text);
      }
      return;
    }
    const words = saidToAgent(said, abilities);
    const input: Input = parts.length > 0 ? { text: words, attachments: parts } : { text: words };
    const busy = run !== undefined;
    const kind = follow && abilities.follow_up ? "follow_up" : "steer";
    const command = busy
      ? ({ enqueue: { kind, input } } as const)
      : ({ prompt: { input, options: { when_busy: "queue" } } } as const);
    setText("");
    setParts([]);
    setPast(undefined);
    setSuggested(undefined);
    port.saveDraft({ text: "", attachments: [] });
    if (!busy) sent();
    try {
      await port.prompt(command, said);
    } catch (error) {
      refused(error);
      // What was refused is not lost: it stands in the composer again.
      if (field.current?.value === "") {
        setText(text);
        setParts(parts);
      }
    }
  };
  const add = async (given: Iterable<File>): Promise<void> => {
    for (const file of given) {
      const part = await attach(file);
      if (typeof part === "string") toast("warning", part);
      else setParts((before) => [...before, part]);
    }
  };
  const prompts = (): string[] => {
    const all: string[] = [];
    for (const entry of state.entries.values())
      if (entry.kind === "message" && entry.role === "user")
        all.push(entry.parts.map((part) => ("text" in part ? part.text : "")).join(""));
    return all;
  };
  const key = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (offers.length > 0) {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        setAt((chosen + (event.key === "ArrowDown" ? 1 : offers.length - 1)) % offers.length);
        return;
      }
      const offer = offers[chosen];
      if (
        (event.key === "Tab" || (event.key === "Enter" && offer?.text.trim() !== text.trim())) &&
        !event.shiftKey &&
        offer
      ) {
        event.preventDefault();
        take(offer);
        return;
      }
      if (event.key === "Escape") {
        event.stopPropagation();
        setShut(true);
        return;
      }
    }
    if (event.key === "ArrowRight" && suggestion) {
      event.preventDefault();
      takeSuggestion();
    } else if (event.key === "Enter" && event.altKey) {
      event.preventDefault();
      void say(true);
    } else if (
      event.key === "Enter" &&
      !event.shiftKey &&
      (event.ctrlKey || event.metaKey || !matchMedia("(pointer: coarse)").matches)
    ) {
      event.preventDefault();
      void say(false);
    } else if (event.key === "ArrowUp" && (text === "" || past !== undefined)) {
      const all = prompts();
      const next = Math.min((past ?? -1) + 1, all.length - 1);
      if (next >= 0) {
        event.preventDefault();
        setPast(next);
        setText(all[all.length - 1 - next] ?? "");
      }
    } else if (event.key === "ArrowDown" && past !== undefined) {
      event.preventDefault();
      const all = prompts();
      setPast(past === 0 ? undefined : past - 1);
      setText(past === 0 ? "" : (all[all.length - past] ?? ""));
    }
  };
  const hint = !may
    ? port.connection.value.is === "up"
      ? mayWords(port.role.value)
      : "Connecting…"
    : run
      ? "Steer, or queue what comes next…"
      : "Say what you want done…";
  return (
    <div
      class={`composer${over ? " over-drop" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void add(event.dataTransfer?.files ?? []);
      }}
    >
      {(offers.length > 0 || (naming && remark(folder))) && (
        <div class="complete">
          <ul role="listbox" id="offers" aria-label="Completions">
            {offers.map((offer, index) => (
              <li
                role="option"
                id={`offer-${index}`}
                aria-selected={index === chosen}
                onMouseDown={(event) => {
                  event.preventDefault();
                  take(offer);
                }}
              >
                <span class="name">{offer.name}</span>
                <span class="soft cut">{offer.words}</span>
              </li>
            ))}
          </ul>
          {naming && remark(folder) && (
            <p class="remark" role="note">
              {remark(folder)}
            </p>
          )}
        </div>
      )}
      {parts.length > 0 && (
        <div class="attached">
          {parts.map((part, index) => (
            <span class="chip">
              {"image" in part ? (
                <Picture mime={part.image.mime} base64={part.image.base64} />
              ) : (
                <span class="cut">{"code" in part ? visible(part.code.path ?? "") : "attached"}</span>
              )}
              <button
                type="button"
                class="quiet"
                aria-label="Remove the attachment"
                onClick={() => setParts(parts.filter((_, other) => other !== index))}
              >
                <Icon name="close" size={12} />
              </button>
            </span>
          ))}
        </div>
      )}
      <textarea
        id="composer"
        ref={field}
        rows={1}
        value={text}
        disabled={!may}
        placeholder={hint}
        aria-label={hint}
        aria-autocomplete="list"
        aria-controls={offers.length > 0 ? "offers" : undefined}
        aria-activedescendant={offers.length > 0 ? `offer-${chosen}` : undefined}
        onInput={(event) => {
          written(event.currentTarget.value);
          setCursor(event.currentTarget.selectionStart);
          setAt(0);
          setShut(false);
          setPast(undefined);
        }}
        onSelect={(event) => setCursor(event.currentTarget.selectionStart)}
        onKeyDown={key}
        onPaste={(event) => {
          const given = [...(event.clipboardData?.files ?? [])];
          if (given.length > 0) {
            event.preventDefault();
            void add(given);
            return;
          }
          const desktop = shell();
          if (desktop) void pastedPicture(desktop).then(add, (why: unknown) => toast("warning", visible(String(why))));
        }}
      />
      {suggestion && (
        <div class="suggestion">
          <button
            type="button"
            class="quiet grow"
            onClick={takeSuggestion}
            title={suggestion.context ? visible(suggestion.context) : "Put it into the composer"}
          >
            {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a kbd takes no focus. */}
            <kbd aria-hidden="true">→</kbd>
            <span class="hidden">Suggested: </span>
            <span class="cut">{oneLine(suggestion.text)}</span>
          </button>
          <span class="faint cut">{oneLine(suggestion.source, 40)}</span>
          <button type="button" class="quiet" aria-label="Drop the suggestion" onClick={() => setSuggested(undefined)}>
            <Icon name="close" size={12} />
          </button>
        </div>
      )}
      {may && (
        <div class="tools">
          <input
            ref={files}
            type="file"
            multiple
            hidden
            aria-hidden="true"
            tabIndex={-1}
            onChange={(event) => {
              void add(event.currentTarget.files ?? []);
              event.currentTarget.value = "";
            }}
          />
          <button
            type="button"
            class="quiet"
            disabled={!may}
            aria-label="Attach a file"
            title="Attach a file"
            onClick={() => files.current?.click()}
          >
            <Icon name="attach" />
          </button>
          <button type="button" class="quiet settings" onClick={() => show("settings")} title="Model, effort and mode">
            {settingWords(state, abilities).join(" · ") || "Settings"} <Icon name="open" size={12} />
          </button>
          <span class="grow" />
          {run && abilities.cancel && may && (
            <button type="button" class="quiet" onClick={() => void port.send({ cancel: {} }).catch(refused)}>
              <Icon name="stop" size={12} /> Stop
            </button>
          )}
          {run && abilities.follow_up && may && (
            <button
              type="button"
              class="quiet"
              disabled={text.trim() === ""}
              title="Alt Enter"
              onClick={() => void say(true)}
            >
              Queue
            </button>
          )}
          <button
            type="button"
            class="send"
            disabled={!may || (text.trim() === "" && parts.length === 0)}
            aria-label={run ? "Steer" : "Send"}
            title={run ? "Steer (Enter)" : "Send (Enter)"}
            onClick={() => void say(false)}
          >
            {run ? (
              <>
                <Icon name="steer" /> Steer
              </>
            ) : (
              <>
                <Icon name="send" /> Send
              </>
            )}
          </button>
        </div>
      )}
    </div>
  );
}
