// The right column: context, plan, money, branches, changes.

import { contextLeft, openRun, spent, type Count, type State, type Used } from "../../model/state";
import { money, tokens, counted } from "../common/format";
import { Glyph } from "../common/glyph";
import { Icon } from "../common/icon";
import { modeWord } from "../common/modes";
import { mayShow, type Screen } from "../composer/commands";
import { ownRules } from "../composer/composer";
import type { SessionPort } from "../ports";
import { Prose } from "../text/seen";
import { visible } from "../text/unseen";
import { changed } from "./changed";
import { jump } from "./jump";
import { agentMode } from "./options";

const PLAN = { pending: ["ring", "not begun"], active: ["dot", "under way"], done: ["check", "done"] } as const;

/** What was used, and how much of it came from the provider's cache; what is an estimate is marked. */
export function tokenWords({ input = 0, output = 0, cache_read = 0, rough }: Used): string | undefined {
  const about = (count: Count): string => `${rough ? "~" : ""}${tokens(count)}`;
  const share = Math.floor((Math.min(Number(cache_read), Number(input)) * 100) / Number(input));
  const cached = cache_read && input ? ` (${share}% cached)` : "";
  return input || output ? `${about(input)} in${cached} · ${about(output)} out` : undefined;
}

export function Details({ port, state, show }: { port: SessionPort; state: State; show: (screen: Screen) => void }) {
  // Without a session there is nothing to open.
  const live = port.id.value !== undefined && port.connection.value.is !== "refused";
  const left = contextLeft(state);
  const rough = state.contextRough ? "~" : "";
  const usage = spent(state);
  const abilities = port.abilities.value;
  const model = state.settings.model ?? abilities.model;
  const files = changed(state);
  return (
    <aside class="side scroll" id="side" aria-label="Details" tabIndex={-1}>
      {state.context && (
        <section>
          <h2>Context</h2>
          <div class="pair">
            <span>
              {rough}
              {tokens(state.context.used)} of {tokens(state.context.window)}
            </span>
            <span>{left === undefined ? "" : `${rough}${left} % left`}</span>
          </div>
          <div
            class={`gauge${left !== undefined && left < 15 ? " full" : ""}`}
            role="meter"
            aria-label="Context left"
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={left ?? 100}
          >
            <i style={{ transform: `scaleX(${(100 - (left ?? 100)) / 100})` }} />
          </div>
        </section>
      )}
      {state.plan.length > 0 && (
        <section>
          <h2>Plan</h2>
          <ol class="plan">
            {state.plan.map((item) => (
              <li class={item.state}>
                <Glyph
                  of={PLAN[item.state][0]}
                  look={item.state === "done" ? "ok" : item.state === "active" ? "accent" : "faint"}
                />
                <span>
                  <span class="hidden">{PLAN[item.state][1]}: </span>
                  <Prose text={item.text} />
                </span>
              </li>
            ))}
          </ol>
        </section>
      )}
      <section>
        <h2>Session</h2>
        {state.settings.cwd !== "" && (
          <div class="pair">
            <span>Folder</span>
            <span class="cut" title={visible(state.settings.cwd)}>
              {visible(state.settings.cwd)}
            </span>
          </div>
        )}
        {model && (
          <div class="pair">
            <span>Model</span>
            <span class="cut">{visible(model.name)}</span>
          </div>
        )}
        {abilities.policy === false && ownRules(abilities) !== undefined && (
          <div class="pair">
            <span>Mode</span>
            <span>{[agentMode(abilities), ownRules(abilities)].filter(Boolean).join(" · ")}</span>
          </div>
        )}
        {state.settings.cwd !== "" && abilities.policy !== false && (
          <div class="pair">
            <span>Mode</span>
            <span>
              {modeWord(state.settings.policy)}
              {state.settings.effort ? ` · effort ${state.settings.effort}` : ""}
            </span>
          </div>
        )}
        {tokenWords(usage) && (
          <div class="pair">
            <span>Tokens</span>
            <span>{tokenWords(usage)}</span>
          </div>
        )}
        {money(usage.cost_micros, usage.rough) && (
          <div class="pair">
            <span>Cost</span>
            <span>{money(usage.cost_micros, usage.rough)}</span>
          </div>
        )}
      </section>
      {files.length > 0 && (
        <section>
          <h2>Changes</h2>
          <ul class="changed">
            {files.slice(-12).map((file) => (
              <li key={file.path}>
                <button type="button" title={visible(file.path)} onClick={() => void (jump.value = file.tool)}>
                  <span class="mono cut grow">{visible(file.path)}</span>
                  {file.counted && <span class="ok">+{file.added}</span>}
                  {file.counted && <span class="risk">−{file.removed}</span>}
                </button>
              </li>
            ))}
          </ul>
          {files.length > 12 && <div class="faint">{counted(files.length - 12, "more file")}</div>}
        </section>
      )}
      <section class="side-acts">
        {live && abilities.undo !== false && mayShow("changes", port.role.value) && (
          <button type="button" class="button" onClick={() => show("changes")}>
            <Icon name="diff" /> Diff and undo
          </button>
        )}
        {live && (
          <button type="button" class="button" onClick={() => show("tree")}>
            <Icon name="branch" /> Branches
          </button>
        )}
        {live && (
          <button type="button" class="button" onClick={() => show("timeline")}>
            <Icon name="activity" /> Timeline
          </button>
        )}
        {live && abilities.policy === false && mayShow("log", port.role.value) && (
          <button type="button" class="button" onClick={() => show("log")}>
            <Icon name="info" /> Log
          </button>
        )}
        {live && (
          <button type="button" class="button" onClick={() => show("settings")}>
            <Icon name="settings" /> Settings
          </button>
        )}
      </section>
      {abilities.name !== "" && (
        <p class="faint">
          {visible(abilities.name)}
          {openRun(state) ? "" : " · idle"}
        </p>
      )}
    </aside>
  );
}
