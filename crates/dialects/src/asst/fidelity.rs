//! How asst carries each item of the vocabulary.

use roles::Item;
use roles::fidelity::Fidelity::{Dropped, Emulated, Exact, Refused};
use roles::fidelity::{Fidelity, Row};

const fn row(item: Item, wire: &'static str, fidelity: Fidelity) -> Row {
    Row { item, wire, fidelity }
}

const NO_ASKS: Fidelity = Dropped(
    "the wire has no questions: what the mode would ask for is denied with a reason that the model sees",
);
const NO_PLACE: Fidelity = Dropped("no place for it");

/// The table.
pub const TABLE: &[Row] = &[
    row(Item::Prompt, "user_message", Exact),
    row(Item::Steer, "", Refused("the wire has no steer")),
    row(
        Item::FollowUp,
        "user_message while another is answered",
        Emulated("waits and becomes a turn of its own"),
    ),
    row(Item::QueueModes, "", Refused("one message, one turn")),
    row(Item::Cancel, "", Emulated("over for the person; a foreign runtime goes on and is not listened to")),
    row(Item::Answer, "", NO_ASKS),
    row(Item::ContextUpdate, "", NO_PLACE),
    row(
        Item::SessionNew,
        "new_conversation, metadata.conversationId",
        Emulated("a conversation that is named for the first time is made"),
    ),
    row(
        Item::SessionOpen,
        "load_conversation, metadata.conversationId",
        Emulated("the id of a conversation names the session"),
    ),
    row(Item::SessionList, "", Refused("the wire has no list")),
    row(Item::SessionBranch, "", Refused("the wire has no branches")),
    row(Item::SessionClose, "", Dropped("conversations stay")),
    row(Item::SessionClear, "clear_history", Exact),
    row(Item::SessionSave, "", Refused("the runtime keeps its conversations itself")),
    row(Item::History, "", Refused("the wire never tells the past")),
    row(Item::Leaf, "", Refused("the wire has no tree")),
    row(Item::Tree, "", Refused("the wire has no tree")),
    row(Item::Compact, "", Refused("the wire has no word for it")),
    row(Item::Stats, "get_status", Emulated("state, length and uptime")),
    row(Item::ModelList, "", Refused("models are chosen at the start of the runtime")),
    row(Item::ModelSet, "", Refused("models are chosen at the start of the runtime")),
    row(Item::Policy, "", Dropped("chosen at the start of the runtime")),
    row(Item::McpList, "", Refused("the wire does not know servers")),
    row(Item::SkillsList, "", Refused("the wire does not know skills")),
    row(Item::Tools, "", Refused("the wire has no list")),
    row(Item::Extension, "", Refused("the wire has no extensions")),
    row(
        Item::Attachments,
        "attachments, images",
        Emulated("pictures as they are; files by path and type, named in the text too"),
    ),
    row(Item::RunLifecycle, "done or error", Emulated("a message is a turn; its run may answer several")),
    row(
        Item::RunOutcome,
        "done, error",
        Emulated("a cancel and a failure are both errors, told apart by their words"),
    ),
    row(Item::Turn, "id of the request", Exact),
    row(Item::Step, "", Emulated("begins with the first word after a tool's result")),
    row(
        Item::MessageText,
        "token",
        Emulated("one bubble per request; the texts of its steps are parted by a blank line"),
    ),
    row(Item::TextDeltas, "token", Exact),
    row(Item::Thought, "", Dropped("the wire has one kind of text")),
    row(Item::Image, "", Dropped("the runtime's side carries text only")),
    row(Item::Code, "token", Emulated("as a fenced block")),
    row(Item::Diff, "token", Emulated("as a fenced block")),
    row(Item::ToolLifecycle, "tool_use, tool_result", Exact),
    row(Item::ToolProgress, "", Dropped("the wire shows the result only")),
    row(Item::ToolResult, "tool_result", Emulated("the structured form if there is one, else the text")),
    row(Item::Decision, "", Dropped("the wire shows only that a tool ran or failed")),
    row(Item::Consent, "", NO_ASKS),
    row(Item::ConsentScope, "", NO_ASKS),
    row(Item::DenialReason, "tool_result error", Emulated("as the error of the tool")),
    row(Item::Confirm, "", NO_ASKS),
    row(Item::Choose, "", NO_ASKS),
    row(Item::TextAsk, "", NO_ASKS),
    row(Item::EditAsk, "", NO_ASKS),
    row(Item::AskWithdrawn, "", NO_ASKS),
    row(Item::Deadline, "", NO_ASKS),
    row(Item::QueueChanges, "", NO_PLACE),
    row(Item::ContextLeft, "", NO_PLACE),
    row(Item::Usage, "", NO_PLACE),
    row(Item::Compaction, "", NO_PLACE),
    row(Item::Plan, "", NO_PLACE),
    row(Item::Retry, "", NO_PLACE),
    row(Item::Notice, "error", Emulated("a failure ends its request; the rest goes to the log")),
    row(Item::Notify, "stderr", Emulated("a line of the log")),
    row(Item::Status, "", NO_PLACE),
    row(Item::Working, "", NO_PLACE),
    row(Item::Widget, "", NO_PLACE),
    row(Item::Title, "", NO_PLACE),
    row(Item::EditorText, "", NO_PLACE),
    row(Item::Suggestion, "", NO_PLACE),
    row(Item::Resume, "metadata.conversationId", Emulated("the conversation goes on; the past is not told")),
];
