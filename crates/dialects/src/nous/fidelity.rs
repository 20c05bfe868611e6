//! How nous carries each item of the vocabulary.

use roles::Item;
use roles::fidelity::Fidelity::{Dropped, Emulated, Exact, Refused};
use roles::fidelity::{Fidelity, Row};

const fn row(item: Item, wire: &'static str, fidelity: Fidelity) -> Row {
    Row { item, wire, fidelity }
}

const NO_ASKS: Fidelity = Dropped(
    "the wire has no questions: what the mode would ask for is denied with a reason that the model sees",
);

/// The table.
pub const TABLE: &[Row] = &[
    row(Item::Prompt, "prompt", Exact),
    row(Item::Steer, "steer", Exact),
    row(Item::FollowUp, "follow_up", Exact),
    row(Item::QueueModes, "set_steering_mode, set_follow_up_mode", Exact),
    row(Item::Cancel, "abort", Exact),
    row(Item::Answer, "", NO_ASKS),
    row(Item::ContextUpdate, "", Dropped("the core has its own working directory")),
    row(Item::SessionNew, "new_session", Exact),
    row(Item::SessionOpen, "switch_session", Exact),
    row(Item::SessionList, "", Refused("the wire has no list")),
    row(
        Item::SessionBranch,
        "branch_session",
        Emulated("at the leaf only; set_leaf chooses another place first"),
    ),
    row(Item::SessionClose, "", Dropped("sessions stay; the hub closes its own")),
    row(Item::SessionClear, "", Refused("a new session serves the same end")),
    row(Item::SessionSave, "", Refused("the core keeps its sessions itself")),
    row(
        Item::History,
        "get_messages",
        Emulated("messages with their text and tools; told as runs that are over"),
    ),
    row(Item::Leaf, "set_leaf, prompt.leaf_id", Emulated("for messages whose names get_messages told")),
    row(Item::Tree, "get_tree", Emulated("with the first 80 bytes of each message")),
    row(Item::Compact, "compact_session", Exact),
    row(Item::Stats, "", Dropped("counted by the hub")),
    row(Item::ModelList, "", Refused("models are chosen at the start of the core")),
    row(Item::ModelSet, "", Refused("models are chosen at the start of the core")),
    row(Item::Policy, "", Dropped("chosen at the start of the core")),
    row(Item::McpList, "", Refused("the wire does not know servers")),
    row(Item::SkillsList, "", Refused("the wire does not know skills")),
    row(Item::Tools, "set_active_tools", Emulated("chosen by name; there is no list")),
    row(Item::Extension, "extension_command", Exact),
    row(Item::Attachments, "prompt.text", Emulated("texts are appended; pictures cannot be carried")),
    row(Item::RunLifecycle, "agent_start, agent_end", Exact),
    row(Item::RunOutcome, "error, warning provider_aborted before agent_end", Exact),
    row(Item::Turn, "turn_start, turn_end", Exact),
    row(Item::Step, "status provider_usage", Emulated("a step ends where its usage is told")),
    row(
        Item::MessageText,
        "message_start, message_update, message_end",
        Emulated("one message per turn; the texts of its steps are parted by a blank line"),
    ),
    row(Item::TextDeltas, "message_update", Exact),
    row(Item::Thought, "", Dropped("the wire has one kind of text")),
    row(Item::Image, "", Dropped("the wire carries text only")),
    row(Item::Code, "message_update", Emulated("as a fenced block")),
    row(Item::Diff, "message_update", Emulated("as a fenced block")),
    row(Item::ToolLifecycle, "tool_execution_start, tool_execution_end", Exact),
    row(Item::ToolProgress, "tool_execution_update", Exact),
    row(
        Item::ToolResult,
        "tool_execution_update, warning",
        Emulated("as text; structured forms and pictures are left out"),
    ),
    row(Item::Decision, "", Dropped("the wire shows only that a tool ran or was blocked")),
    row(Item::Consent, "", NO_ASKS),
    row(Item::ConsentScope, "", NO_ASKS),
    row(Item::DenialReason, "warning tool_blocked", Emulated("as the text of the warning and of the tool")),
    row(Item::Confirm, "", NO_ASKS),
    row(Item::Choose, "", NO_ASKS),
    row(Item::TextAsk, "", NO_ASKS),
    row(Item::EditAsk, "", NO_ASKS),
    row(Item::AskWithdrawn, "", NO_ASKS),
    row(Item::Deadline, "", NO_ASKS),
    row(
        Item::QueueChanges,
        "get_state pending_counts",
        Emulated("counts on request; warning queue_cleared when a run takes them with it"),
    ),
    row(Item::ContextLeft, "", Dropped("no place for it")),
    row(Item::Usage, "status provider_usage", Emulated("tokens read and written; no cache, no money")),
    row(Item::Compaction, "status session_compacted", Emulated("announced with the tokens before")),
    row(Item::Plan, "", Dropped("no place for it")),
    row(Item::Retry, "warning provider_retry", Emulated("attempt and reason as text")),
    row(Item::Notice, "status, warning, error", Exact),
    row(Item::Notify, "status, warning", Emulated("as an event without a turn")),
    row(Item::Status, "", Dropped("no place for it")),
    row(Item::Working, "", Dropped("no place for it")),
    row(Item::Widget, "", Dropped("no place for it")),
    row(Item::Title, "", Dropped("no place for it")),
    row(Item::EditorText, "", Dropped("no place for it")),
    row(Item::Suggestion, "", Dropped("no place for it")),
    row(
        Item::Resume,
        "get_state, get_messages",
        Emulated("the state, the messages and the partial text of the one being said"),
    ),
];
