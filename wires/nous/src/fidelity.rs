//! What there is to say about each item of the vocabulary on this wire: where it stands, and how or why it is not exact. Whether it is
//! exact is not said here but computed.

use roles::Item;
use roles::fidelity::{Sources, Verdicts, Words};

const fn words(item: Item, wire: &'static str, why: &'static str) -> Words {
    Words { item, wire, why }
}

const NO_ASKS: &str =
    "the wire has no questions: what the mode would ask for is denied with a reason that the model sees";

/// What this wire's table is made of.
pub const SOURCES: Sources =
    Sources { words: WORDS, rest: "", verdicts: Verdicts(include_str!("verdicts.txt")), across: &[] };

/// What there is to say about each item.
const WORDS: &[Words] = &[
    words(Item::Prompt, "prompt", ""),
    words(Item::Steer, "steer", ""),
    words(Item::FollowUp, "follow_up", ""),
    words(Item::QueueModes, "set_steering_mode, set_follow_up_mode", ""),
    words(Item::Cancel, "abort", ""),
    words(Item::Answer, "", NO_ASKS),
    words(Item::ContextUpdate, "", "the core has its own working directory"),
    words(Item::SessionNew, "new_session", "without a title"),
    words(Item::SessionOpen, "switch_session", ""),
    words(Item::SessionList, "", "the wire has no list"),
    words(Item::SessionBranch, "branch_session", "at the leaf only; set_leaf chooses another place first"),
    words(Item::SessionClose, "", "sessions stay; the hub leaves its own"),
    words(Item::SessionClear, "", "a new session serves the same end"),
    words(Item::SessionSave, "", "the core keeps its sessions itself"),
    words(Item::History, "get_messages", "messages with their text and tools; told as runs that are over"),
    words(Item::Leaf, "set_leaf, prompt.leaf_id", ""),
    words(Item::Tree, "get_tree", "a UI of ours shows the active path; get_tree is answered for others"),
    words(Item::Compact, "compact_session", ""),
    words(Item::Stats, "", "counted by the hub from what it heard"),
    words(Item::ModelList, "", "models are chosen at the start of the core"),
    words(Item::ModelSet, "", "models are chosen at the start of the core"),
    words(Item::Policy, "", "chosen at the start of the core"),
    words(Item::McpList, "", "the wire does not know servers"),
    words(Item::SkillsList, "", "the wire does not know skills"),
    words(Item::Tools, "set_active_tools", "chosen by name; there is no list"),
    words(Item::Extension, "extension_command", ""),
    words(Item::Attachments, "prompt.text", "texts are appended; pictures cannot be carried"),
    words(Item::RunLifecycle, "agent_start, agent_end", ""),
    words(
        Item::RunOutcome,
        "error, warning provider_aborted before agent_end",
        "a failure by its text, the hint in it; its code is one of the wire's own",
    ),
    words(
        Item::Turn,
        "turn_start, turn_end",
        "a turn that another UI began is told as a steer, without what was said",
    ),
    words(Item::Step, "status provider_usage", "a step ends where its usage is told"),
    words(
        Item::MessageText,
        "message_start, message_update, message_end",
        "one message per turn; the texts of its steps are parted by a blank line",
    ),
    words(Item::TextDeltas, "message_update", ""),
    words(Item::Thought, "", "the wire has one kind of text"),
    words(Item::Image, "", "the wire carries text only"),
    words(Item::Code, "message_update", "as a fenced block"),
    words(Item::Diff, "message_update", "as a fenced block"),
    words(
        Item::ToolLifecycle,
        "tool_execution_start, tool_execution_end",
        "without the arguments; one that was passed over is told as started",
    ),
    words(Item::ToolProgress, "tool_execution_update", "the output as it comes; a measure is not told"),
    words(
        Item::ToolResult,
        "tool_execution_update, warning",
        "as text; structured forms and pictures are left out",
    ),
    words(Item::Decision, "", "the wire shows only that a tool ran or was blocked"),
    words(Item::Consent, "", NO_ASKS),
    words(Item::ConsentScope, "", NO_ASKS),
    words(
        Item::DenialReason,
        "",
        "the wire has no questions, so nobody can deny; why the mode denied stands in a warning tool_blocked",
    ),
    words(Item::Confirm, "", NO_ASKS),
    words(Item::Choose, "", NO_ASKS),
    words(Item::TextAsk, "", NO_ASKS),
    words(Item::EditAsk, "", NO_ASKS),
    words(Item::AskWithdrawn, "", NO_ASKS),
    words(Item::Deadline, "", NO_ASKS),
    words(
        Item::QueueChanges,
        "get_state pending_counts",
        "counts on request; warning queue_cleared when a run takes them with it",
    ),
    words(Item::ContextLeft, "", "no place for it"),
    words(Item::Usage, "status provider_usage", "tokens read and written; no cache, no money"),
    words(Item::Compaction, "status session_compacted", "announced with the tokens before"),
    words(Item::Plan, "", "no place for it"),
    words(Item::Retry, "warning provider_retry", "attempt and reason as text"),
    words(Item::Notice, "status, warning, error", ""),
    words(Item::Notify, "status, warning", "as an event without a turn"),
    words(Item::Status, "", "no place for it"),
    words(Item::Working, "", "no place for it"),
    words(Item::Widget, "", "no place for it"),
    words(Item::Title, "", "no place for it"),
    words(Item::EditorText, "", "no place for it"),
    words(Item::Suggestion, "", "no place for it"),
    words(
        Item::Resume,
        "get_state, get_messages",
        "the state and the text of the message that is being said, from its beginning",
    ),
];
