//! What the contract requires, as tables: every command with the keys of its payload and of its answer, every event, every
//! error code. The schema is made of them and the tests hold both roles to them.

/// A command and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandRow {
    pub name: &'static str,
    /// Whether the frozen contract names it.
    pub frozen: bool,
    /// Keys that its payload must have.
    pub required: &'static [Key],
    /// Keys that its payload may have.
    pub optional: &'static [Key],
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

/// What the document demands of one kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventRow {
    pub name: &'static str,
    /// Keys that its payload always has.
    pub required: &'static [Key],
    /// Keys that its payload may have.
    pub optional: &'static [Key],
}

/// A key and what its value is.
pub type Key = (&'static str, Kind);

/// What the value of a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Flag,
    Count,
    /// Of an extension: whatever it wants.
    AnyObject,
    Names,
    /// How many inputs wait, by kind.
    Counts,
    /// Flat, as a waiting prompt gets them.
    Events,
    Messages,
    /// Of a tree of messages.
    Nodes,
}

const TEXT: Key = ("text", Kind::Text);
const RUN: Key = ("run_id", Kind::Text);
const SESSION: Key = ("session_id", Kind::Text);
const LEAF: Key = ("leaf_id", Kind::Text);
const COMMAND: Key = ("command", Kind::Text);
const TURN: Key = ("turn_id", Kind::Text);
const MESSAGE_ID: Key = ("message_id", Kind::Text);
const DELTA: Key = ("delta", Kind::Text);
const TOOL: Key = ("tool_call_id", Kind::Text);
const TOOL_NAME: Key = ("tool_name", Kind::Text);
const CODE: Key = ("code", Kind::Text);
const MESSAGE: Key = ("message", Kind::Text);

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
const MODE_ACCEPTED: &[AnswerRow] = &[answer("accepted", &[COMMAND, ("mode", Kind::Text)], &[])];
const SESSION_ANSWER: &[AnswerRow] = &[answer("session", &[SESSION, ("active", Kind::Flag)], &[])];
const MODE: &[Key] = &[("mode", Kind::Text)];

/// The requests of the document, in its order.
pub const COMMANDS: &[CommandRow] = &[
    frozen(
        "prompt",
        &[TEXT],
        &[("wait", Kind::Flag), LEAF],
        &[
            answer("accepted", &[COMMAND, RUN], &[SESSION, LEAF]),
            answer(
                "result",
                &[("output", Kind::Text), ("events", Kind::Events), SESSION],
                &[LEAF, ("truncated", Kind::Flag)],
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
                ("run_state", Kind::Text),
                RUN,
                SESSION,
                ("steering_mode", Kind::Text),
                ("follow_up_mode", Kind::Text),
                ("pending_counts", Kind::Counts),
            ],
            &[],
        )],
    ),
    frozen(
        "get_messages",
        &[],
        &[SESSION, LEAF],
        &[answer("messages", &[SESSION, ("messages", Kind::Messages)], &[LEAF, ("truncated", Kind::Flag)])],
    ),
    frozen("new_session", &[], &[], SESSION_ANSWER),
    frozen("switch_session", &[SESSION], &[], SESSION_ANSWER),
    frozen(
        "branch_session",
        &[SESSION],
        &[("parent_id", Kind::Text)],
        &[answer("session", &[SESSION, ("active", Kind::Flag)], &[("parent_id", Kind::Text)])],
    ),
    frozen(
        "set_active_tools",
        &[("tools", Kind::Names)],
        &[],
        &[answer("accepted", &[COMMAND], &[("count", Kind::Count)])],
    ),
    frozen("set_steering_mode", MODE, &[], MODE_ACCEPTED),
    frozen("set_follow_up_mode", MODE, &[], MODE_ACCEPTED),
    frozen(
        "extension_command",
        &[("name", Kind::Text)],
        &[("payload", Kind::AnyObject)],
        &[answer("extension_result", &[], &[])],
    ),
    frozen("ping", &[], &[], &[answer("pong", &[MESSAGE], &[])]),
    later(
        "get_tree",
        &[],
        &[SESSION],
        &[answer("tree", &[SESSION, ("nodes", Kind::Nodes)], &[LEAF, ("truncated", Kind::Flag)])],
    ),
    later("set_leaf", &[LEAF], &[SESSION], &[answer("leaf", &[SESSION, LEAF], &[])]),
    later(
        "compact_session",
        &[],
        &[SESSION, ("instruction", Kind::Text)],
        &[answer(
            "compaction",
            &[
                SESSION,
                ("summary", Kind::Text),
                ("first_kept_entry_id", Kind::Text),
                ("tokens_before", Kind::Count),
                ("trigger", Kind::Text),
            ],
            &[("instruction", Kind::Text)],
        )],
    ),
];

const fn event(name: &'static str, required: &'static [Key], optional: &'static [Key]) -> EventRow {
    EventRow { name, required, optional }
}

/// The kinds of events of the document, in its order.
pub const EVENTS: &[EventRow] = &[
    event("agent_start", &[RUN], &[]),
    event("agent_end", &[RUN], &[]),
    event("turn_start", &[RUN, TURN], &[]),
    event("turn_end", &[RUN, TURN], &[]),
    event("message_start", &[RUN, TURN, MESSAGE_ID, ("role", Kind::Text)], &[]),
    event("message_update", &[RUN, TURN, MESSAGE_ID, DELTA], &[]),
    event("message_end", &[RUN, TURN, MESSAGE_ID], &[]),
    event("tool_execution_start", &[RUN, TURN, TOOL, TOOL_NAME], &[]),
    event("tool_execution_update", &[RUN, TURN, TOOL, TOOL_NAME, DELTA], &[]),
    event("tool_execution_end", &[RUN, TURN, TOOL, TOOL_NAME], &[]),
    event("status", &[MESSAGE], &[RUN, TURN]),
    event("warning", &[CODE, MESSAGE], &[RUN, TURN, TOOL, TOOL_NAME]),
    event("error", &[CODE, MESSAGE], &[RUN, TURN, ("cause", Kind::Text)]),
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
