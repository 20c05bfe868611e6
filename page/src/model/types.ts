// Parlor's native protocol, version 1. Written by `parlor schema --typescript`: change the types in Rust, not this file.

/** Any JSON value. */
export type Json = unknown;

export type Abilities = {
  branch: boolean;
  cancel: boolean;
  clear?: boolean;
  compact?: boolean;
  consent: boolean;
  delete_session?: boolean;
  effort?: boolean;
  errands?: boolean;
  export?: boolean;
  extensions?: boolean;
  follow_up: boolean;
  go_back?: boolean;
  list_tools?: boolean;
  menu?: AgentMenu;
  model?: ModelRef;
  models: boolean;
  name: string;
  new_session?: boolean;
  open_session?: boolean;
  ping?: boolean;
  policy?: boolean;
  rename_session?: boolean;
  save?: boolean;
  servers: boolean;
  session_scope?: boolean;
  sessions: boolean;
  set_model?: boolean;
  set_tools?: boolean;
  skills: boolean;
  steer: boolean;
  text_only?: boolean;
  undo?: boolean;
};

export type About = "hello" | "session" | "line";

export type ActionDigest = string;

export type AgentChoice = { about?: string; group?: string; name: string; value: string };

export type AgentCommand = { about: string; hint?: string; name: string };

export type AgentMenu = { commands?: AgentCommand[]; mentions?: AgentCommand[]; options?: AgentOption[] };

export type AgentOption = {
  about?: string;
  choices: AgentChoice[];
  id: string;
  kind: OptionKind;
  name: string;
  value: string;
};

export type Answer =
  | "dismissed"
  | { allow: { digest?: ActionDigest; scope: Scope } }
  | { deny: { reason?: string } }
  | { confirmed: boolean }
  | { chosen: string[] }
  | { entered: string };

export type Ask = { deadline?: number; id: number; kind: AskKind; run?: number; title: string };

export type AskKind =
  | { consent: Consent }
  | { confirm: { danger: boolean; message: string; no?: string; yes?: string } }
  | { choose: { choices: Choice[]; many: boolean; message: string } }
  | {
    text: { default?: string; message: string; multiline: boolean; placeholder?: string; secret: boolean };
  }
  | { edit: { message: string; prefill: string } };

export type Assessment = { reasons: string[]; reversible: boolean; risk: Risk; unrated?: boolean };

export type Attached = {
  abilities: Abilities;
  at: Cursor;
  board: Board;
  current?: boolean;
  replay?: Array<[number, Body]>;
};

export type Base = {
  context?: [number, number];
  context_rough?: boolean;
  last_id: number;
  seq: number;
  updated_at: number;
  usage: Usage;
};

export type Board = {
  status?: Record<string, string>;
  title?: string;
  widgets?: Record<string, [WidgetPlace, string[]]>;
  working?: string;
};

export type Body =
  | { session_opened: { cwd: string; parent?: [string, number | null]; project: string } }
  | { renamed: { title: string } }
  | { model_chosen: { model: ModelRef } }
  | { came_from: { origin: Origin } }
  | { effort_chosen: { effort?: Effort } }
  | { budget_chosen: { budget: Budget } }
  | { policy_chosen: { policy: Policy } }
  | { tools_chosen: { tools?: string[] } }
  | { leaf_moved: { leaf?: number } }
  | { run_started: { run: number } }
  | { run_ended: { outcome: Outcome; run: number } }
  | { turn_started: { cause: Cause; run: number; turn: number } }
  | { turn_ended: { turn: number } }
  | { step_started: { model?: ModelRef; step: number; turn: number } }
  | { step_billed: { step: number; usage: Usage } }
  | { step_ended: { step: number; usage: Usage } }
  | { retrying: { attempt: number; delay_ms: number; kind?: RetryKind; max: number; reason: string } }
  | { message_started: { message: number; parent?: number; role: Role; step?: number; turn?: number } }
  | { message_delta: { kind: TextKind; message: number; text: string } }
  | { part_added: { message: number; part: Part } }
  | { message_ended: { finish: Finish; message: number } }
  | { tool_proposed: { args: Json; message: number; name: string; tool: number } }
  | { tool_decided: { decision: Decision; tool: number } }
  | { tool_started: { tool: number } }
  | { tool_progress: { progress: Progress; tool: number } }
  | { tool_ended: { outcome: ToolOutcome; result: ToolResult; tool: number } }
  | { ask_opened: Ask }
  | { ask_closed: { ask: number; closing: Closing } }
  | { queued: { by?: string; input: Input; item: number; kind: QueueKind } }
  | { queue_edited: { input: Input; item: number } }
  | { unqueued: { item: number; leaving: Leaving } }
  | { queue_mode_set: { kind: QueueKind; mode: Mode } }
  | { context_measured: { rough?: boolean; used: number; window: number } }
  | { compacted: { compaction: Compaction; entry: number; parent?: number } }
  | { plan_changed: { items: PlanItem[] } }
  | {
    noticed: { code: string; entry: number; level: Level; parent?: number; run?: number; text: string };
  }
  | { rebased: Base };

export type Budget = { max_cost_micros?: number; max_steps?: number; max_time_s?: number };

export type Cause = "prompt" | "steer" | "follow_up";

export type Choice = { detail?: string; id: string; label: string };

export type Closing = "withdrawn" | "expired" | "unattended" | { answered: { answer: Answer; by?: string } };

export type Command =
  | { prompt: { input: Input; options: PromptOptions } }
  | { cancel: { reason?: string; run?: number } }
  | { compact: { instruction?: string } }
  | { enqueue: { input: Input; kind: QueueKind } }
  | { edit_queued: { input: Input; item: number } }
  | { drop_queued: { item: number } }
  | { set_queue_mode: { kind: QueueKind; mode: Mode } }
  | { new_session: { cwd?: string; id?: string; title?: string } }
  | { open_session: { session: string } }
  | { branch_session: { at?: number; session?: string } }
  | { delete_session: { session: string } }
  | { list_sessions: { limit?: number; scope: ListScope; search?: string } }
  | { history: { max_events: number; max_runs: number; session: string } }
  | { export_session: { format: ExportFormat; session?: string } }
  | { save_session: { history: boolean; path?: string } }
  | { load_session: { path: string } }
  | "close_session"
  | "clear_session"
  | "stats"
  | { rename_session: { title: string } }
  | { set_leaf: { leaf?: number } }
  | { set_model: { name: string; provider?: string } }
  | { set_effort: { effort?: Effort } }
  | { set_budget: { budget: Budget } }
  | { set_policy: { policy: Policy } }
  | { set_tools: { tools?: string[] } }
  | "list_servers"
  | "list_tools"
  | { list_models: { provider?: string } }
  | { list_skills: { cwd?: string; reload: boolean } }
  | "list_jobs"
  | { run_line: { cwd?: string; line: string; seconds?: number } }
  | { start_job: { cwd?: string; line: string; typed?: boolean } }
  | { read_job: { job: string; wait?: number } }
  | { stop_job: { job: string } }
  | { undo_files: { leave: boolean } }
  | { redo_files: { leave: boolean } }
  | { go_files: { back: number[]; forth: number[]; leave: boolean } }
  | { diff_files: { since: DiffSince } }
  | { performed: { failed: boolean; result: ToolResult; tool: number } }
  | { answer: { answer: Answer; ask: number } }
  | { update_context: UiContext }
  | { extension: { name: string; payload: Json } };

export type Compaction = {
  first_kept?: number;
  summary: string;
  tokens_before: number;
  trigger: Trigger;
  unexplained?: boolean;
  usage?: Usage;
};

export type Complaint = { about: About; hint?: string; message: string; ticket?: number };

export type Consent = {
  args: Json;
  assessment: Assessment;
  digest: ActionDigest;
  name: string;
  preview?: Preview;
  rule?: string;
  takes_reason: boolean;
  tool: number;
};

export type Cursor = { hash?: string; seq: number; session: string };

export type Decider = "policy" | "foreign" | { rule: string } | { person: string | null };

export type Decision = { allowed: boolean; by: Decider; digest?: ActionDigest; reason?: string; scope: Scope };

export type DiffSince = "prompt" | "start" | "commit";

export type Doing =
  | "nothing"
  | "running"
  | { waiting: { ask?: Ask; asks: number; question: string } }
  | { ended: Outcome };

export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

export type Event = { at: number; body: Body; seq: number };

export type ExportFormat = "markdown" | "html" | "jsonl";

export type Failure = { code: string; hint?: string; message: string };

export type Finish = "complete" | "length" | "interrupted" | "failed" | "cut" | "refused";

export type FleetNews = { all?: boolean; closed?: string[]; members: Member[] };

export type FleetWatch = { alone: boolean };

export type FoundWords = { at: number; entry: number; text: string };

export type Happened = { event: Event; session: string };

export type Hello = {
  capabilities: string[];
  cursor?: Cursor;
  name: string;
  protocol: number;
  revision: number;
  rights?: Standing;
  session?: string;
  version: string;
};

export type History = { events: Event[]; runs: number; truncated: boolean };

export type Input = { attachments?: Part[]; text: string };

export type JobState = "running" | "stopped" | { exited: number | null };

export type Leaving = "taken" | "dropped" | "cleared";

export type Level = "info" | "success" | "warning" | "error";

export type ListScope = "all" | { project: string | null };

export type Member = {
  cwd: string;
  doing: Doing;
  project: string;
  runtime?: string;
  session: string;
  since: number;
  tasks?: string[];
  title: string;
  usage: Usage;
};

export type Mode = "one_at_a_time" | "all";

export type ModelEntry = {
  context_window?: number;
  max_output?: number;
  model: ModelRef;
  price_input?: number;
  price_output?: number;
  thinks?: boolean;
};

export type ModelRef = { name: string; provider: string };

export type Named = { session: string };

export type Offer = { description: string; name: string; patience_ms?: number; schema: Json; unasked?: boolean };

export type OptionKind = "model" | "other" | "mode" | "effort";

export type Origin = { dialect: string; place: RuntimePlace; session?: string };

export type Outcome = "done" | "cancelled" | "interrupted" | "lost" | { failed: Failure };

export type Part =
  | { text: string }
  | { thought: { signature?: string; text: string } }
  | { image: { base64: string; mime: string } }
  | { code: { language?: string; path?: string; text: string } }
  | { diff: { path?: string; text: string } }
  | { tool: number }
  | { opaque: { json: Json; kind: string } };

export type PlanItem = { state: PlanState; text: string };

export type PlanState = "pending" | "active" | "done";

export type Policy = "read_only" | "ask" | "auto_edit" | "sandboxed" | "full" | "plan";

export type Preview =
  | { text: string }
  | { command: { inner: string[]; line: string } }
  | { diff: { path: string; text: string } };

export type Progress = { output: string } | { replace: string } | { status: { message: string; percent?: number } };

export type PromptOptions = {
  ask_first?: boolean;
  from?: number;
  max_tokens?: number;
  offers?: Offer[];
  temperature?: number;
  tools?: boolean;
  when_busy: WhenBusy;
};

export type QueueKind = "steer" | "follow_up";

export type Receipt =
  | "done"
  | { started: { run: number; session: string } }
  | { queued: { item: number; run: number } }
  | { cancelling: { run: RunSummary } }
  | { session: { parent?: string; session: SessionSummary } }
  | { sessions: SessionSummary[] }
  | { leaf: number | null }
  | { history: History }
  | { stats: Stats }
  | { saved: { path: string; size: number } }
  | { exported: { format: ExportFormat; text: string } }
  | { models: { current?: ModelRef; models: ModelEntry[] } }
  | { model: ModelRef }
  | { servers: ServerEntry[] }
  | { skills: SkillList }
  | { tools: ToolEntry[] }
  | { jobs: ShellJob[] }
  | { files: { text: string } }
  | { compacted: { compaction: Compaction; entry: number } }
  | { extension: Json };

export type Refusal = { hint?: string; kind: RefusalKind; message: string };

export type RefusalKind =
  | "busy"
  | "no_run"
  | "run_unknown"
  | "session_unknown"
  | "entry_unknown"
  | "ask_unknown"
  | "ask_over"
  | "queued_unknown"
  | "model_unknown"
  | "tool_unknown"
  | "extension_unknown"
  | "nothing_to_compact"
  | "not_allowed"
  | "invalid"
  | "unsupported"
  | "too_many"
  | "storage"
  | "timed_out"
  | "lost"
  | "internal"
  | { remote: { code: string } };

export type Replay = { items: Array<[number, Body]>; session: string };

export type RetryKind = "rate_limit" | "overloaded" | "timeout" | "network" | "provider";

export type Risk = "low" | "medium" | "high" | "critical";

export type Role = "user" | "assistant" | "system";

export type RunSummary = { outcome?: Outcome; run: number };

export type RuntimePlace =
  | { socket: { path: string } }
  | { command: { folder: string; incomplete?: boolean; words: string[] } };

export type Said = { session: string; signal: Signal };

export type Scope = "once" | "session" | "always";

export type ServerEntry = {
  connected_at?: number;
  from_project: boolean;
  http: boolean;
  id: string;
  reach?: ServerReach;
  state: ServerState;
  tools?: number;
};

export type ServerReach = { folders?: string[]; network: boolean; programs: boolean; project: boolean };

export type ServerState = "disabled" | "connecting" | "ready" | "auth_required" | { failed: string };

export type SessionSummary = {
  created_at: number;
  cwd: string;
  elsewhere?: boolean;
  found?: FoundWords;
  id: string;
  last_prompt?: string;
  last_run?: number;
  messages: number;
  origin?: Origin;
  outcome?: Outcome;
  project: string;
  running: boolean;
  title: string;
  updated_at: number;
  usage: Usage;
};

export type Settled = { ticket: number; with: { receipt: Receipt } | { refusal: Refusal } };

export type ShellJob = {
  ended_at?: number;
  id?: string;
  line: string;
  output?: string;
  started_at: number;
  state: JobState;
  truncated?: boolean;
};

export type Signal =
  | { notify: { level: Level; text: string } }
  | { status: { key: string; text?: string } }
  | { working: string | null }
  | { widget: { key: string; lines: string[]; place: WidgetPlace } }
  | { title: string }
  | { editor_text: string }
  | { suggestion: { confidence: number; context?: string; source: string; text: string } };

export type SkillEntry = {
  description: string;
  from_project: boolean;
  id: string;
  modified_at: number;
  name: string;
  path: string;
};

export type SkillList = { errors?: Array<[string, string]>; skills: SkillEntry[]; truncated: boolean };

export type Standing = "controller" | "approver" | "observer";

export type Stats = { messages: number; runs: number; tools: number; turns: number; usage: Usage };

export type Target = "current" | { session: string };

export type TextKind = "text" | "thought";

export type ToolEntry = { active: boolean; description: string; name: string; source: string };

export type ToolOutcome = "done" | "failed" | "denied" | "skipped" | "cancelled" | "unknown";

export type ToolResult = { json?: Json; parts?: Part[]; text: string; truncated?: boolean };

export type Trigger = "manual" | "threshold" | "overflow";

export type UiContext = {
  active_file?: string;
  cwd?: string;
  notes?: string[];
  selection?: [string, string];
  size?: [number, number];
  workspace_root?: string;
};

export type Usage = {
  cache_read?: number;
  cache_write?: number;
  cost_micros?: number;
  input?: number;
  output?: number;
  rough?: boolean;
};

export type Wanted = { target?: Target; ticket: number; what: Command };

export type WhenBusy = "refuse" | "queue";

export type WidgetPlace = "above" | "below";

export type FromUi = { hello: Hello } | { command: Wanted } | { watch_fleet: FleetWatch } | { error: Complaint };

export type FromRuntime =
  | { hello: Hello }
  | { settled: Settled }
  | { attached: Attached }
  | { attached_begin: Attached }
  | { replay: Replay }
  | { attached_end: Named }
  | { detached: Named }
  | { event: Happened }
  | { signal: Said }
  | { fleet: FleetNews }
  | { hash: Cursor }
  | { error: Complaint };
