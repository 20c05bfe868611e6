// Inputs that wait for the run under way, and prompts that wait for the connection.

import { useState } from "preact/hooks";
import type { State, Waiting } from "../../model/state";
import { Icon } from "../common/icon";
import { refused } from "../chrome/toasts";
import type { SessionPort } from "../ports";
import { who } from "../common/who";
import { oneLine } from "../text/unseen";

export function Queue({ port, state }: { port: SessionPort; state: State }) {
  const { steer, followUp } = state.queues;
  const unsent = port.unsent.value;
  if (steer.length + followUp.length + unsent.length === 0) return null;
  return (
    <ul class="queue" aria-label="Waiting inputs" tabIndex={0}>
      {unsent.map((one) => (
        <li>
          <span class="label">{one.uncertain ? "Uncertain" : one.kept ? "Kept" : "Sending"}</span>
          <span class="grow cut">{oneLine(one.text)}</span>
          {one.uncertain && <span class="faint wide-only">Nobody knows whether Parlor has it.</span>}
          {one.uncertain && port.sendAgain && (
            <button type="button" class="quiet" onClick={() => port.sendAgain?.(one.id)}>
              Send again
            </button>
          )}
          {one.kept && !one.uncertain && <span class="faint wide-only">Will be sent once when Parlor answers.</span>}
          {(one.kept || one.uncertain) && (
            <button type="button" class="quiet" onClick={() => port.takeBack(one.id)}>
              Discard
            </button>
          )}
        </li>
      ))}
      {steer.map((one) => (
        <Item one={one} word="Steer" port={port} />
      ))}
      {followUp.map((one) => (
        <Item one={one} word="Next" port={port} />
      ))}
    </ul>
  );
}

function Item({ one, word, port }: { one: Waiting; word: string; port: SessionPort }) {
  const [text, setText] = useState<string | undefined>();
  const may = port.role.value === "controller";
  if (text !== undefined) {
    const save = (): void => {
      void port.send({ edit_queued: { item: one.id, input: { ...one.input, text } } }).catch(refused);
      setText(undefined);
    };
    return (
      <li>
        <input
          type="text"
          aria-label="Change the waiting input"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") save();
            if (event.key === "Escape") {
              event.stopPropagation();
              setText(undefined);
            }
          }}
        />
        <button type="button" class="quiet" onClick={save}>
          Save
        </button>
      </li>
    );
  }
  return (
    <li>
      <span class="label">{word}</span>
      <span class="grow cut">{oneLine(one.input.text)}</span>
      {one.by && !port.isOwn?.(one.id) && <span class="faint wide-only">from {who(one.by) ?? "another screen"}</span>}
      {may && (
        <button type="button" class="quiet" aria-label="Change" onClick={() => setText(one.input.text)}>
          <Icon name="edit" size={12} />
        </button>
      )}
      {may && (
        <button
          type="button"
          class="quiet"
          aria-label="Discard"
          onClick={() => void port.send({ drop_queued: { item: one.id } }).catch(refused)}
        >
          <Icon name="close" size={12} />
        </button>
      )}
    </li>
  );
}
