// What can be set of an agent, in its own words: its modes and its other options, each with what it says of the value it
// has. The model of an agent is the session's model, and has its own field.

import type { Abilities, AgentChoice, AgentOption, Command, ModelRef } from "../../model/types";
import { oneLine, visible } from "../text/unseen";
import { Field } from "./field";

/** Most values of an option that are listed. */
const MOST = 200;

/** What an agent calls the mode that it is in. */
export function agentMode(can: Abilities): string | undefined {
  const mode = can.menu?.options?.find((option) => option.kind === "mode");
  return mode && shown(mode);
}

/** A model as it is written; an agent may tell no provider. */
export function modelId({ provider, name }: ModelRef): string {
  return visible(provider === "" ? name : `${provider}/${name}`);
}

/** The same by the name that the agent has for it, where it has one. */
export function modelName(can: Abilities, model: ModelRef): string {
  const option = can.menu?.options?.find((one) => one.kind === "model");
  const written = model.provider === "" ? model.name : `${model.provider}/${model.name}`;
  return visible(option?.choices.find((choice) => choice.value === written)?.name ?? written);
}

/** How the value of an option is called. */
function shown(option: AgentOption): string {
  return visible(chosen(option)?.name ?? option.value);
}

function chosen(option: AgentOption): AgentChoice | undefined {
  return option.choices.find((choice) => choice.value === option.value);
}

/** Sets an option: a value that it has not is refused by who knows them. */
export function setOption(option: AgentOption, value: string): Command {
  return { extension: { name: "option", payload: { id: option.id, value } } };
}

/** The values by the headlines under which they stand, in the agent's order. */
export function grouped(choices: readonly AgentChoice[]): [string, AgentChoice[]][] {
  const groups = new Map<string, AgentChoice[]>();
  for (const choice of choices.slice(0, MOST)) {
    const group = choice.group ?? "";
    groups.set(group, [...(groups.get(group) ?? []), choice]);
  }
  return [...groups];
}

export function AgentOptions({ can, may, set }: { can: Abilities; may: boolean; set: (command: Command) => void }) {
  const options = (can.menu?.options ?? []).filter((option) => option.kind !== "model");
  if (options.length === 0) return null;
  return (
    <section>
      <h3 class="label">Options of {visible(can.name)}</h3>
      <div class="fields">
        {options.map((option, at) => (
          <Option id={`set-option-${at}`} option={option} may={may} set={set} />
        ))}
      </div>
    </section>
  );
}

function Option({
  id,
  option,
  may,
  set,
}: {
  id: string;
  option: AgentOption;
  may: boolean;
  set: (command: Command) => void;
}) {
  const about = chosen(option)?.about ?? option.about;
  const listed = option.choices.slice(0, MOST);
  return (
    <>
      <Field
        id={id}
        name={visible(option.name)}
        why={may ? undefined : "This device may not change anything."}
        value={shown(option)}
      >
        <select
          id={id}
          value={option.value}
          title={option.about && oneLine(option.about, 300)}
          onChange={(event) => set(setOption(option, event.currentTarget.value))}
        >
          {!listed.some((choice) => choice.value === option.value) && (
            <option value={option.value}>{shown(option)}</option>
          )}
          {grouped(listed).map(([group, choices]) =>
            group === "" ? (
              choices.map((choice) => <Value choice={choice} />)
            ) : (
              <optgroup label={visible(group)}>
                {choices.map((choice) => (
                  <Value choice={choice} />
                ))}
              </optgroup>
            ),
          )}
        </select>
      </Field>
      {about && (
        <>
          <span />
          <span class="faint">{oneLine(about, 200)}</span>
        </>
      )}
    </>
  );
}

function Value({ choice }: { choice: AgentChoice }) {
  return (
    <option value={choice.value} title={choice.about && oneLine(choice.about, 300)}>
      {visible(choice.name)}
    </option>
  );
}
