//! How nous carries each item of the vocabulary.

use crate::fidelity::Fidelity::{Dropped, Emulated, Exact, Refused};
use crate::fidelity::{Fidelity, Row};

const fn row(item: &'static str, wire: &'static str, fidelity: Fidelity) -> Row {
    Row { item, wire, fidelity }
}

const NO_ASKS: Fidelity = Dropped(
    "the wire has no questions: what the mode would ask for is denied with a reason that the model sees",
);

/// The table.
pub const TABLE: &[Row] = &[
    row("prompt", "prompt", Exact),
    row("steer", "steer", Exact),
    row("follow-up", "follow_up", Exact),
    row("queue modes", "set_steering_mode, set_follow_up_mode", Exact),
    row("cancel", "abort", Exact),
    row("answer", "", NO_ASKS),
    row("context update", "", Dropped("the core has its own working directory")),
    row("session new", "new_session", Exact),
    row("session open", "switch_session", Exact),
    row("session list", "", Refused("the wire has no list")),
    row(
        "session branch",
        "branch_session",
        Emulated("at the leaf only; set_leaf chooses another place first"),
    ),
    row("session close", "", Dropped("sessions stay; the hub closes its own")),
    row("session clear", "", Refused("a new session serves the same end")),
    row("session save", "", Refused("the core keeps its sessions itself")),
    row(
        "history",
        "get_messages",
        Emulated("messages with their text and tools; told as runs that are over"),
    ),
    row("leaf", "set_leaf, prompt.leaf_id", Emulated("for messages whose names get_messages told")),
    row("tree", "get_tree", Emulated("with the first 80 bytes of each message")),
    row("compact", "compact_session", Exact),
    row("stats", "", Dropped("counted by the hub")),
    row("model list", "", Refused("models are chosen at the start of the core")),
    row("model set", "", Refused("models are chosen at the start of the core")),
    row("policy", "", Dropped("chosen at the start of the core")),
    row("mcp list", "", Refused("the wire does not know servers")),
    row("skills list", "", Refused("the wire does not know skills")),
    row("tools", "set_active_tools", Emulated("chosen by name; there is no list")),
    row("extension", "extension_command", Exact),
    row("attachments", "prompt.text", Emulated("texts are appended; pictures cannot be carried")),
    row("run lifecycle", "agent_start, agent_end", Exact),
    row("run outcome", "error, warning provider_aborted before agent_end", Exact),
    row("turn", "turn_start, turn_end", Exact),
    row("step", "status provider_usage", Emulated("a step ends where its usage is told")),
    row(
        "message text",
        "message_start, message_update, message_end",
        Emulated("one message per turn; the texts of its steps are parted by a blank line"),
    ),
    row("text deltas", "message_update", Exact),
    row("thought", "", Dropped("the wire has one kind of text")),
    row("image", "", Dropped("the wire carries text only")),
    row("code", "message_update", Emulated("as a fenced block")),
    row("diff", "message_update", Emulated("as a fenced block")),
    row("tool lifecycle", "tool_execution_start, tool_execution_end", Exact),
    row("tool progress", "tool_execution_update", Exact),
    row(
        "tool result",
        "tool_execution_update, warning",
        Emulated("as text; structured forms and pictures are left out"),
    ),
    row("decision", "", Dropped("the wire shows only that a tool ran or was blocked")),
    row("consent", "", NO_ASKS),
    row("consent scope", "", NO_ASKS),
    row("denial reason", "warning tool_blocked", Emulated("as the text of the warning and of the tool")),
    row("confirm", "", NO_ASKS),
    row("choose", "", NO_ASKS),
    row("text ask", "", NO_ASKS),
    row("edit ask", "", NO_ASKS),
    row("ask withdrawn", "", NO_ASKS),
    row("deadline", "", NO_ASKS),
    row(
        "queue changes",
        "get_state pending_counts",
        Emulated("counts on request; warning queue_cleared when a run takes them with it"),
    ),
    row("context left", "", Dropped("no place for it")),
    row("usage", "status provider_usage", Emulated("tokens read and written; no cache, no money")),
    row("compaction", "status session_compacted", Emulated("announced with the tokens before")),
    row("plan", "", Dropped("no place for it")),
    row("retry", "warning provider_retry", Emulated("attempt and reason as text")),
    row("notice", "status, warning, error", Exact),
    row("notify", "status, warning", Emulated("as an event without a turn")),
    row("status", "", Dropped("no place for it")),
    row("working", "", Dropped("no place for it")),
    row("widget", "", Dropped("no place for it")),
    row("title", "", Dropped("no place for it")),
    row("editor text", "", Dropped("no place for it")),
    row("suggestion", "", Dropped("no place for it")),
    row(
        "resume",
        "get_state, get_messages",
        Emulated("the state, the messages and the partial text of the one being said"),
    ),
];
