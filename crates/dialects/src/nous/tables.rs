//! What the contract requires, as tables: every command with the keys of its payload and of its answer, every event, every
//! error code. The schema is made of them and the tests hold both roles to them.

/// A command and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandRow {
    /// Its name.
    pub name: &'static str,
    /// Whether the frozen contract names it.
    pub frozen: bool,
    /// Keys that its payload must have.
    pub required: &'static [Key],
    /// Keys that its payload may have.
    pub optional: &'static [Key],
    /// What it is answered with.
    pub answers: &'static [AnswerRow],
}

/// A successful answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerRow {
    /// Its type.
    pub kind: &'static str,
    /// Keys that are always there.
    pub required: &'static [Key],
    /// Keys that may be there.
    pub optional: &'static [Key],
}

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventRow {
    /// Its name.
    pub name: &'static str,
    /// Keys that its payload always has.
    pub required: &'static [Key],
    /// Keys that its payload may have.
    pub optional: &'static [Key],
}

/// A key and the JSON type of its value.
pub type Key = (&'static str, &'static str);

const TEXT: Key = ("text", "string");
const RUN: Key = ("run_id", "string");
const SESSION: Key = ("session_id", "string");
const LEAF: Key = ("leaf_id", "string");
const COMMAND: Key = ("command", "string");
const TURN: Key = ("turn_id", "string");
const MESSAGE_ID: Key = ("message_id", "string");
const DELTA: Key = ("delta", "string");
const TOOL: Key = ("tool_call_id", "string");
const TOOL_NAME: Key = ("tool_name", "string");
const CODE: Key = ("code", "string");
const MESSAGE: Key = ("message", "string");

const fn answer(kind: &'static str, required: &'static [Key], optional: &'static [Key]) -> AnswerRow {
    AnswerRow { kind, required, optional }
}

const fn frozen(
    name: &'static str,
    required: &'static [Key],
    optional: &'static [Key],
    answers: &'static [AnswerRow],
) -> CommandRow {
    CommandRow { name, frozen: true, required, optional, answers }
}

const fn later(
    name: &'static str,
    required: &'static [Key],
    optional: &'static [Key],
    answers: &'static [AnswerRow],
) -> CommandRow {
    CommandRow { name, frozen: false, required, optional, answers }
}

const RUN_ACCEPTED: &[AnswerRow] = &[answer("accepted", &[COMMAND, RUN], &[])];
const MODE_ACCEPTED: &[AnswerRow] = &[answer("accepted", &[COMMAND, ("mode", "string")], &[])];
const SESSION_ANSWER: &[AnswerRow] = &[answer("session", &[SESSION, ("active", "boolean")], &[])];
const MODE: &[Key] = &[("mode", "string")];

/// All commands.
pub const COMMANDS: &[CommandRow] = &[
    frozen(
        "prompt",
        &[TEXT],
        &[("wait", "boolean"), LEAF],
        &[
            answer("accepted", &[COMMAND, RUN], &[SESSION, LEAF]),
            answer(
                "result",
                &[("output", "string"), ("events", "array"), SESSION],
                &[LEAF, ("truncated", "boolean")],
            ),
        ],
    ),
    frozen("steer", &[TEXT], &[], RUN_ACCEPTED),
    frozen("follow_up", &[TEXT], &[], RUN_ACCEPTED),
    frozen("abort", &[], &[], RUN_ACCEPTED),
    frozen(
        "get_state",
        &[],
        &[],
        &[answer(
            "state",
            &[
                ("run_state", "string"),
                RUN,
                SESSION,
                ("steering_mode", "string"),
                ("follow_up_mode", "string"),
                ("pending_counts", "object"),
            ],
            &[],
        )],
    ),
    frozen(
        "get_messages",
        &[],
        &[SESSION, LEAF],
        &[answer("messages", &[SESSION, ("messages", "array")], &[LEAF, ("truncated", "boolean")])],
    ),
    frozen("new_session", &[], &[], SESSION_ANSWER),
    frozen("switch_session", &[SESSION], &[], SESSION_ANSWER),
    frozen(
        "branch_session",
        &[SESSION],
        &[("parent_id", "string")],
        &[answer("session", &[SESSION, ("active", "boolean")], &[("parent_id", "string")])],
    ),
    frozen(
        "set_active_tools",
        &[("tools", "array")],
        &[],
        &[answer("accepted", &[COMMAND], &[("count", "integer")])],
    ),
    frozen("set_steering_mode", MODE, &[], MODE_ACCEPTED),
    frozen("set_follow_up_mode", MODE, &[], MODE_ACCEPTED),
    frozen(
        "extension_command",
        &[("name", "string")],
        &[("payload", "object")],
        &[answer("extension_result", &[], &[])],
    ),
    frozen("ping", &[], &[], &[answer("pong", &[MESSAGE], &[])]),
    later(
        "get_tree",
        &[],
        &[SESSION],
        &[answer("tree", &[SESSION, ("nodes", "array")], &[LEAF, ("truncated", "boolean")])],
    ),
    later("set_leaf", &[LEAF], &[SESSION], &[answer("leaf", &[SESSION, LEAF], &[])]),
    later(
        "compact_session",
        &[],
        &[SESSION, ("instruction", "string")],
        &[answer(
            "compaction",
            &[
                SESSION,
                ("summary", "string"),
                ("first_kept_entry_id", "string"),
                ("tokens_before", "integer"),
                ("trigger", "string"),
            ],
            &[("instruction", "string")],
        )],
    ),
];

const fn event(name: &'static str, required: &'static [Key], optional: &'static [Key]) -> EventRow {
    EventRow { name, required, optional }
}

/// All events.
pub const EVENTS: &[EventRow] = &[
    event("agent_start", &[RUN], &[]),
    event("agent_end", &[RUN], &[]),
    event("turn_start", &[RUN, TURN], &[]),
    event("turn_end", &[RUN, TURN], &[]),
    event("message_start", &[RUN, TURN, MESSAGE_ID, ("role", "string")], &[]),
    event("message_update", &[RUN, TURN, MESSAGE_ID, DELTA], &[]),
    event("message_end", &[RUN, TURN, MESSAGE_ID], &[]),
    event("tool_execution_start", &[RUN, TURN, TOOL, TOOL_NAME], &[]),
    event("tool_execution_update", &[RUN, TURN, TOOL, TOOL_NAME, DELTA], &[]),
    event("tool_execution_end", &[RUN, TURN, TOOL, TOOL_NAME], &[]),
    event("status", &[MESSAGE], &[RUN, TURN]),
    event("warning", &[CODE, MESSAGE], &[RUN, TURN, TOOL, TOOL_NAME]),
    event("error", &[CODE, MESSAGE], &[RUN, TURN, ("cause", "string")]),
];

/// All codes of refusals.
pub const ERROR_CODES: &[&str] = &[
    "invalid_command",
    "invalid_payload",
    "command_rejected",
    "session_not_found",
    "session_error",
    "provider_error",
    "timeout",
    "internal_error",
    "not_implemented",
];

/// The row of a command.
pub fn command(name: &str) -> Option<&'static CommandRow> {
    COMMANDS.iter().find(|row| row.name == name)
}
