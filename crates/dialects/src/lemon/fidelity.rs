//! How lemon carries each item of the vocabulary.

use roles::Item;
use roles::fidelity::Fidelity::{self, Dropped, Emulated, Exact, Refused};
use roles::fidelity::Row;

const fn row(item: Item, wire: &'static str, fidelity: Fidelity) -> Row {
    Row { item, wire, fidelity }
}

/// A row for every item.
pub const TABLE: &[Row] = &[
    row(Item::Prompt, "prompt", Exact),
    row(
        Item::Steer,
        "-",
        Refused("busy: error \":already_streaming\"; behind a lemon server the hub queues"),
    ),
    row(
        Item::FollowUp,
        "-",
        Refused("busy: error \":already_streaming\"; behind a lemon server the hub queues"),
    ),
    row(Item::QueueModes, "-", Refused("the wire has no queue")),
    row(Item::Cancel, "abort", Exact),
    row(Item::Answer, "ui_response", Exact),
    row(Item::ContextUpdate, "-", Refused("the wire has no place for it")),
    row(
        Item::SessionNew,
        "start_session (existing programs)",
        Emulated("cwd and model are carried; a title and an id of one's own are not"),
    ),
    row(
        Item::SessionOpen,
        "start_session with session_file, set_active_session (existing programs)",
        Emulated("by the path of sessions_list or the id; not in the middle of a run"),
    ),
    row(
        Item::SessionList,
        "list_sessions, list_running_sessions (existing programs)",
        Emulated("id, path, time and cwd; the title as an extra field"),
    ),
    row(Item::SessionBranch, "-", Refused("the wire has no branches")),
    row(Item::SessionClose, "close_session (existing programs)", Exact),
    row(Item::SessionClear, "reset", Emulated("a run under way is stopped first; nothing is said back")),
    row(
        Item::SessionSave,
        "save, save_result",
        Emulated("the first servers do not answer: silence for three seconds counts as done"),
    ),
    row(
        Item::History,
        "message_start, message_end",
        Emulated("told as one run when a session is opened: the newest 400 messages, at most 512 KB"),
    ),
    row(Item::Leaf, "-", Refused("the wire has no tree")),
    row(Item::Tree, "-", Refused("the wire has no tree")),
    row(Item::Compact, "-", Refused("the wire has no command for it")),
    row(Item::Stats, "stats", Emulated("messages and turns; tokens are in the messages")),
    row(Item::ModelList, "list_models (existing programs)", Emulated("provider and name, no prices")),
    row(Item::ModelSet, "start_session model (existing programs)", Refused("only when a session starts")),
    row(Item::Policy, "-", Refused("set where the server is started")),
    row(Item::McpList, "-", Refused("the wire has no command for it")),
    row(Item::SkillsList, "-", Refused("the wire has no command for it")),
    row(Item::Tools, "-", Refused("the wire has no command for it")),
    row(Item::Extension, "-", Refused("error \"unknown command\"")),
    row(Item::Attachments, "prompt text", Emulated("texts are appended to the prompt, pictures dropped")),
    row(Item::RunLifecycle, "agent_start, agent_end", Exact),
    row(
        Item::RunOutcome,
        "canceled, error, stop_reason, agent_end",
        Emulated("a failure by its text alone; interrupted and lost as an error"),
    ),
    row(Item::Turn, "-", Emulated("seen by the person's message that begins it")),
    row(Item::Step, "turn_start, turn_end", Exact),
    row(Item::MessageText, "message_start, message_update, message_end", Exact),
    row(
        Item::TextDeltas,
        "message_update",
        Emulated("the whole message each time, gathered for 50 ms or longer"),
    ),
    row(Item::Thought, "thinking blocks", Exact),
    row(Item::Image, "image blocks", Exact),
    row(Item::Code, "text blocks", Emulated("fenced in the text")),
    row(Item::Diff, "text blocks", Emulated("fenced in the text")),
    row(Item::ToolLifecycle, "tool_call blocks, tool_execution_start, tool_execution_end", Exact),
    row(
        Item::ToolProgress,
        "tool_execution_update",
        Emulated("the last 16 KB of output each time; a measure in details"),
    ),
    row(
        Item::ToolResult,
        "tool_execution_end, tool_result messages",
        Emulated(
            "a diff beside the text stands in it; a text over 40 KB is cut in the middle, a structured form over 8 KB left out",
        ),
    ),
    row(Item::Decision, "-", Dropped("a denied tool ends as an error whose text says so")),
    row(
        Item::Consent,
        "ui_request confirm or select",
        Emulated("details in opts, which existing clients ignore"),
    ),
    row(
        Item::ConsentScope,
        "ui_request select",
        Emulated("four options when there is a rule to remember, else once"),
    ),
    row(
        Item::DenialReason,
        "-",
        Dropped("a no is a no; the model hears that the person said no and goes on"),
    ),
    row(Item::Confirm, "ui_request confirm", Emulated("own labels and the mark of danger are not carried")),
    row(
        Item::Choose,
        "ui_request select",
        Emulated("one of them; the text under the title stands in the title"),
    ),
    row(
        Item::TextAsk,
        "ui_request input or editor",
        Emulated("with a default or several lines it is an editor"),
    ),
    row(Item::EditAsk, "ui_request editor", Emulated("the text under the title stands in the title")),
    row(
        Item::AskWithdrawn,
        "ui_notify",
        Emulated("the overlay stays, but its answer no longer counts; why is notified"),
    ),
    row(Item::Deadline, "-", Emulated("30 s, not on the wire")),
    row(Item::QueueChanges, "-", Dropped("what is taken from a queue appears as the person's message")),
    row(Item::ContextLeft, "ui_status context", Emulated("in words")),
    row(
        Item::Usage,
        "usage of messages",
        Emulated(
            "what a step with tools used is told with the next message, so that the client's sum is right",
        ),
    ),
    row(Item::Compaction, "compaction_complete (existing programs)", Emulated("summary and size")),
    row(Item::Plan, "ui_widget plan", Emulated("one line each")),
    row(Item::Retry, "ui_notify", Emulated("in words")),
    row(Item::Notice, "ui_notify", Emulated("not kept by the client")),
    row(Item::Notify, "ui_notify", Exact),
    row(Item::Status, "ui_status", Exact),
    row(Item::Working, "ui_working", Exact),
    row(Item::Widget, "ui_widget", Exact),
    row(Item::Title, "ui_set_title", Exact),
    row(Item::EditorText, "ui_set_editor_text", Exact),
    row(Item::Suggestion, "-", Dropped("the wire has no word for it")),
    row(
        Item::Resume,
        "start_session (existing programs)",
        Emulated("a run under way is told from its beginning"),
    ),
];
