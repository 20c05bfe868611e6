//! What there is to say about each item of the vocabulary on this wire: where it stands, and how or why it is not exact. Whether it is
//! exact is not said here but computed.

use roles::Item;
use roles::fidelity::{Sources, Verdicts, Words};

const fn words(item: Item, wire: &'static str, why: &'static str) -> Words {
    Words { item, wire, why }
}

const NO_ASKS: &str =
    "the wire has no questions: what the mode would ask for is denied with a reason that the model sees";
const NO_PLACE: &str = "no place for it";

/// What this wire's table is made of.
pub const SOURCES: Sources =
    Sources { words: WORDS, rest: "", verdicts: Verdicts(include_str!("verdicts.txt")), across: &[] };

/// What there is to say about each item.
const WORDS: &[Words] = &[
    words(Item::Prompt, "user_message", ""),
    words(
        Item::Steer,
        "",
        "the hub queues it; when the answer is over it is prompted, as the next turn of the same run",
    ),
    words(Item::FollowUp, "user_message while another is answered", "waits and becomes a turn of its own"),
    words(Item::QueueModes, "none: the hub keeps them", ""),
    words(Item::Cancel, "", "over for the person; a foreign runtime goes on and is not listened to"),
    words(Item::Answer, "", NO_ASKS),
    words(Item::ContextUpdate, "", NO_PLACE),
    words(
        Item::SessionNew,
        "new_conversation, metadata.conversationId",
        "a conversation that is named for the first time is made",
    ),
    words(Item::SessionOpen, "load_conversation, metadata.conversationId: it names the session", ""),
    words(Item::SessionList, "", "the wire has no list"),
    words(Item::SessionBranch, "", "the wire has no branches"),
    words(Item::SessionClose, "", "conversations stay"),
    words(Item::SessionClear, "clear_history", ""),
    words(Item::SessionSave, "", "the runtime keeps its conversations itself"),
    words(Item::History, "", "the wire never tells the past"),
    words(Item::Leaf, "", "the wire has no tree"),
    words(Item::Tree, "", "the wire has no tree"),
    words(Item::Compact, "", "the wire has no word for it"),
    words(
        Item::Stats,
        "get_status",
        "counted by the hub from what it heard; get_status tells state, length and uptime",
    ),
    words(Item::ModelList, "", "models are chosen at the start of the runtime"),
    words(Item::ModelSet, "", "models are chosen at the start of the runtime"),
    words(Item::Policy, "", "chosen at the start of the runtime"),
    words(Item::McpList, "", "the wire does not know servers"),
    words(Item::SkillsList, "", "the wire does not know skills"),
    words(Item::Tools, "", "the wire has no list"),
    words(Item::Extension, "", "the wire has no extensions"),
    words(
        Item::Attachments,
        "attachments, images",
        "pictures as they are; files by path and type, named in the text too",
    ),
    words(Item::RunLifecycle, "done or error, for each message", ""),
    words(
        Item::RunOutcome,
        "done, error",
        "a cancel and a failure are both errors, told apart by their words",
    ),
    words(Item::Turn, "id of the request", "only the turns that a message of this UI began"),
    words(Item::Step, "", "begins with the first word after a tool's result"),
    words(
        Item::MessageText,
        "token",
        "one bubble per request; the texts of its steps are parted by a blank line",
    ),
    words(Item::TextDeltas, "token", ""),
    words(Item::Thought, "", "the wire has one kind of text"),
    words(Item::Image, "", "the runtime's side carries text only"),
    words(Item::Code, "token", "as a fenced block"),
    words(Item::Diff, "token", "as a fenced block"),
    words(
        Item::ToolLifecycle,
        "tool_use, tool_result",
        "one that was passed over is told as one that failed",
    ),
    words(Item::ToolProgress, "", "the wire shows the result only"),
    words(Item::ToolResult, "tool_result", "the structured form if there is one, else the text"),
    words(Item::Decision, "", "the wire shows only that a tool ran or failed"),
    words(Item::Consent, "", NO_ASKS),
    words(Item::ConsentScope, "", NO_ASKS),
    words(
        Item::DenialReason,
        "",
        "the wire has no questions, so nobody can deny; why the mode denied is the error of the tool",
    ),
    words(Item::Confirm, "", NO_ASKS),
    words(Item::Choose, "", NO_ASKS),
    words(Item::TextAsk, "", NO_ASKS),
    words(Item::EditAsk, "", NO_ASKS),
    words(Item::AskWithdrawn, "", NO_ASKS),
    words(Item::Deadline, "", NO_ASKS),
    words(Item::QueueChanges, "", NO_PLACE),
    words(Item::ContextLeft, "", NO_PLACE),
    words(Item::Usage, "", NO_PLACE),
    words(Item::Compaction, "", NO_PLACE),
    words(Item::Plan, "", NO_PLACE),
    words(Item::Retry, "", NO_PLACE),
    words(Item::Notice, "error", "a failure ends its request; the rest goes to the log"),
    words(
        Item::Notify,
        "stderr",
        "a line on stderr, which a UI that started the runtime shows; nothing on the wire",
    ),
    words(Item::Status, "", NO_PLACE),
    words(Item::Working, "", NO_PLACE),
    words(Item::Widget, "", NO_PLACE),
    words(Item::Title, "", NO_PLACE),
    words(Item::EditorText, "", NO_PLACE),
    words(Item::Suggestion, "", NO_PLACE),
    words(
        Item::Resume,
        "metadata.conversationId",
        "the conversation goes on with the next message; neither the past nor a run under way is told",
    ),
];
