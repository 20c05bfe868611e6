// Title, model, effort, mode, limits, queue, tools, servers, skills and rules of a session. What cannot be changed says
// why.

import { useEffect, useState } from "preact/hooks";
import type { State } from "../../model/state";
import type {
  Command,
  Effort,
  Mode,
  ModelEntry,
  Policy,
  QueueKind,
  Receipt,
  ServerEntry,
  SkillList,
  ToolEntry,
} from "../../model/types";
import { counted, tokens } from "../common/format";
import { Shape } from "../common/glyph";
import { MODES, modeWord } from "../common/modes";
import { refusalWords, type SessionPort } from "../ports";
import { Prose } from "../text/seen";
import { oneLine, visible } from "../text/unseen";
import { allowed, type Allowed } from "./allowed";
import { Field } from "./field";
import { AgentOptions, modelId, modelName } from "./options";
import { LIMITS, limitText, whyNot, withLimit, withTool } from "./switches";

const QUEUES: [QueueKind, string][] = [
  ["steer", "Steering"],
  ["follow_up", "Follow-ups"],
];
const QUEUE_MODES: [Mode, string][] = [
  ["one_at_a_time", "one at a time"],
  ["all", "all at once"],
];
const EFFORTS: Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
/** Most lines of a list that are drawn. */
const MOST = 200;

export function SettingsPanel({ port, state }: { port: SessionPort; state: State }) {
  const [models, setModels] = useState<ModelEntry[]>([]);
  const [servers, setServers] = useState<ServerEntry[] | undefined>();
  const [skills, setSkills] = useState<SkillList | undefined>();
  const [tools, setTools] = useState<ToolEntry[]>([]);
  const [rules, setRules] = useState<unknown>();
  const [trouble, setTrouble] = useState<string | undefined>();
  const can = port.abilities.value;
  const why = whyNot(can, port.role.value);
  const may = port.role.value === "controller";
  const failed = (error: unknown): void => setTrouble(refusalWords(error));
  const set = (command: Command, then?: () => void): void =>
    void port.send(command).then(() => {
      setTrouble(undefined);
      then?.();
    }, failed);
  // A list that a runtime does not have is left out.
  const ask = (
    wanted: boolean | undefined,
    command: Command,
    take: (receipt: Exclude<Receipt, string>) => void,
    lost: (error: unknown) => void = () => undefined,
  ): void => {
    if (wanted !== false) port.send(command).then((receipt) => typeof receipt === "object" && take(receipt), lost);
  };
  const askTools = (): void =>
    ask(can.list_tools, "list_tools", (receipt) => "tools" in receipt && setTools(receipt.tools));
  const askSkills = (reload: boolean): void =>
    ask(
      can.skills,
      { list_skills: { reload } },
      (receipt) => "skills" in receipt && setSkills(receipt.skills),
      reload ? failed : undefined,
    );
  useEffect(() => {
    ask(can.models, { list_models: {} }, (receipt) => "models" in receipt && setModels(receipt.models.models));
    ask(can.servers, "list_servers", (receipt) => "servers" in receipt && setServers(receipt.servers));
    askSkills(false);
    askTools();
    ask(
      can.policy,
      { extension: { name: "parlor/rules", payload: {} } },
      (receipt) => "extension" in receipt && setRules(receipt.extension),
    );
  }, []);
  const kept = allowed(rules);
  const revoke = (rule: Allowed): void =>
    ask(
      true,
      { extension: { name: "parlor/rules", payload: rule.revoke } },
      (receipt) => "extension" in receipt && setRules(receipt.extension),
      failed,
    );
  const model = state.settings.model ?? can.model;
  const id = modelId;
  const { budget, policy, effort } = state.settings;
  const queueMode = (kind: QueueKind): Mode => (kind === "steer" ? state.queues.steerMode : state.queues.followUpMode);
  return (
    <>
      {trouble && (
        <p class="risk" role="alert">
          <Prose text={trouble} />
        </p>
      )}
      <div class="fields">
        <Field id="set-title" name="Title" why={why.title} value={state.settings.title ?? "none yet"}>
          <Written
            id="set-title"
            text={state.settings.title ?? ""}
            take={(title) => title.trim() !== "" && set({ rename_session: { title: title.trim() } })}
          />
        </Field>
        <Field
          id="set-model"
          name="Model"
          why={why.model}
          value={model ? modelName(can, model) : "as the settings say"}
        >
          <select
            id="set-model"
            value={model ? id(model) : ""}
            onChange={(event) => {
              const one = models.find((entry) => id(entry.model) === event.currentTarget.value);
              if (one) set({ set_model: { provider: one.model.provider, name: one.model.name } });
            }}
          >
            {(!model || !models.some((entry) => id(entry.model) === id(model))) && (
              <option value={model ? id(model) : ""}>{model ? modelName(can, model) : "as the settings say"}</option>
            )}
            {models.map((entry) => (
              <option value={id(entry.model)}>
                {modelName(can, entry.model)}
                {entry.context_window ? ` · ${tokens(entry.context_window)}` : ""}
              </option>
            ))}
          </select>
        </Field>
        <Field id="set-effort" name="Effort" why={why.effort} value={effort ?? "as the provider does"}>
          <select
            id="set-effort"
            value={effort ?? ""}
            onChange={(event) =>
              set({
                set_effort: event.currentTarget.value === "" ? {} : { effort: event.currentTarget.value as Effort },
              })
            }
          >
            <option value="">as the provider does</option>
            {EFFORTS.map((name) => (
              <option value={name}>{name}</option>
            ))}
          </select>
        </Field>
        {can.policy !== false && (
          <Field id="set-policy" name="Mode" why={why.mode} value={modeWord(policy)}>
            <select
              id="set-policy"
              value={policy}
              onChange={(event) => set({ set_policy: { policy: event.currentTarget.value as Policy } })}
            >
              {MODES.map(([name, word, when]) => (
                <option value={name}>
                  {word}
                  {when}
                </option>
              ))}
            </select>
          </Field>
        )}
      </div>
      <AgentOptions can={can} may={may} set={set} />
      <section>
        <h3 class="label">Limits</h3>
        {why.limits ? (
          <p class="soft">
            {LIMITS.map((limit) => `${limit.words}: ${limitText(budget, limit) || "as the settings say"}`).join(" · ")}.{" "}
            {why.limits}
          </p>
        ) : (
          <>
            <div class="fields wide">
              {LIMITS.map((limit) => (
                <Field id={`set-${limit.key}`} name={limit.words} why={undefined} value="">
                  <Written
                    id={`set-${limit.key}`}
                    text={limitText(budget, limit)}
                    hint="as the settings say"
                    number
                    take={(text) => {
                      const next = withLimit(budget, limit, text);
                      if (typeof next === "string") setTrouble(next);
                      else set({ set_budget: { budget: next } });
                    }}
                  />
                </Field>
              ))}
            </div>
            <p class="faint">0 is no limit.</p>
          </>
        )}
      </section>
      <section>
        <h3 class="label">Queue</h3>
        <div class="fields">
          {QUEUES.filter(([kind]) => (kind === "steer" ? can.steer : can.follow_up)).map(([kind, words]) => (
            <Field
              id={`set-queue-${kind}`}
              name={words}
              why={why.queue}
              value={QUEUE_MODES.find(([mode]) => mode === queueMode(kind))?.[1] ?? ""}
            >
              <select
                id={`set-queue-${kind}`}
                value={queueMode(kind)}
                onChange={(event) => set({ set_queue_mode: { kind, mode: event.currentTarget.value as Mode } })}
              >
                {QUEUE_MODES.map(([mode, name]) => (
                  <option value={mode}>{name}</option>
                ))}
              </select>
            </Field>
          ))}
        </div>
        {!can.steer && !can.follow_up && <p class="soft">{why.queue}</p>}
      </section>
      {tools.length > 0 && (
        <section>
          <h3 class="label">
            Tools · {tools.filter((tool) => tool.active).length} of {tools.length}
          </h3>
          {why.tools && <p class="soft">{why.tools}</p>}
          {state.settings.tools && !why.tools && (
            <p>
              <button type="button" class="more" onClick={() => set({ set_tools: {} }, askTools)}>
                Allow all tools again
              </button>
            </p>
          )}
          <ul class="list">
            {tools.slice(0, MOST).map((tool) => (
              <li>
                <label class="row">
                  <input
                    type="checkbox"
                    checked={tool.active}
                    disabled={why.tools !== undefined}
                    onChange={(event) => {
                      const next = withTool(tools, tool.name, event.currentTarget.checked);
                      set({ set_tools: next ? { tools: next } : {} }, askTools);
                    }}
                  />
                  <span class="grow">
                    <span class="mono">{visible(tool.name)}</span>{" "}
                    <span class="soft">{oneLine(firstSentence(tool.description), 160)}</span>
                  </span>
                </label>
              </li>
            ))}
          </ul>
          <More of={tools.length} />
        </section>
      )}
      {servers && (
        <section>
          <h3 class="label">MCP servers · {servers.length}</h3>
          <p class="soft">
            {servers.length === 0 ? "None. " : ""}They are set in files, not from here: <code>parlor mcp</code> tells
            which.
          </p>
          <ul class="list">
            {servers.slice(0, MOST).map((server) => (
              <li>
                <span class="mono">{visible(server.id)}</span>{" "}
                <span class={typeof server.state === "string" ? "soft" : "risk"}>{serverWords(server)}</span>
              </li>
            ))}
          </ul>
          <More of={servers.length} />
        </section>
      )}
      {skills && (
        <section>
          <h3 class="label row">
            <span class="grow">
              Skills · {skills.skills.length}
              {skills.truncated ? "+" : ""}
            </span>
            {may && (
              <button type="button" class="more" onClick={() => askSkills(true)}>
                Read again
              </button>
            )}
          </h3>
          <p class="soft">
            {skills.skills.length === 0 ? "None. " : ""}They are files: whoever changes one has it read again here.
          </p>
          <ul class="list">
            {skills.skills.slice(0, MOST).map((skill) => (
              <li title={visible(skill.path)}>
                <span class="mono">{visible(skill.name)}</span>{" "}
                <span class="soft">{oneLine(skill.description, 200)}</span>
              </li>
            ))}
            {(skills.errors ?? []).slice(0, MOST).map(([path, words]) => (
              <li>
                <span class="risk">
                  <Shape of="cross" />
                </span>{" "}
                <span class="mono">{visible(path)}</span> <span class="risk">{oneLine(words)}</span>
              </li>
            ))}
          </ul>
          <More of={skills.skills.length} />
        </section>
      )}
      {kept.length > 0 && (
        <section>
          <h3 class="label">Always allowed · {kept.length}</h3>
          <ul class="list">
            {kept.slice(0, MOST).map((rule) => (
              <li class="row">
                <span class="grow">
                  {visible(rule.words)} <span class="soft">{visible(rule.where)}</span>
                </span>
                {may && (
                  <button type="button" class="quiet" onClick={() => revoke(rule)}>
                    Revoke
                  </button>
                )}
              </li>
            ))}
          </ul>
          <More of={kept.length} />
        </section>
      )}
    </>
  );
}

/** A text that is taken by Enter, or when the person goes on. */
function Written({
  id,
  text,
  hint,
  number,
  take,
}: {
  id: string;
  text: string;
  hint?: string;
  number?: boolean;
  take: (text: string) => void;
}) {
  const [said, setSaid] = useState<string | undefined>();
  const done = (): void => {
    if (said !== undefined && said !== text) take(said);
    setSaid(undefined);
  };
  return (
    <input
      id={id}
      type="text"
      inputMode={number ? "decimal" : undefined}
      placeholder={hint}
      value={said ?? text}
      onInput={(event) => setSaid(event.currentTarget.value)}
      onBlur={done}
      onKeyDown={(event) => event.key === "Enter" && done()}
    />
  );
}

function firstSentence(text: string): string {
  return /^[^\n]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text.split("\n")[0] ?? "";
}

function More({ of }: { of: number }) {
  return of > MOST ? <p class="faint">and {counted(of - MOST, "more", "more")}</p> : null;
}

export function serverWords(server: ServerEntry): string {
  const state =
    typeof server.state === "string"
      ? {
          disabled: "switched off",
          connecting: "connecting…",
          ready: "ready",
          auth_required: `needs login: parlor mcp login ${oneLine(server.id)}`,
        }[server.state]
      : `failed: ${oneLine(server.state.failed)}`;
  return `${state}${server.tools === undefined ? "" : ` · ${counted(server.tools, "tool")}`}${server.from_project ? " · of this project" : ""}`;
}
