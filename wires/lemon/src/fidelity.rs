//! What there is to say about each item of the vocabulary on this wire: where it stands, and how or why it is not exact. Whether it is
//! exact is not said here but computed.

use roles::Item;
use roles::fidelity::{Sources, Verdicts, Words};

const fn words(item: Item, wire: &'static str, why: &'static str) -> Words {
    Words { item, wire, why }
}

/// What this wire's table is made of.
pub const SOURCES: Sources =
    Sources { words: WORDS, rest: "", verdicts: Verdicts(include_str!("verdicts.txt")), across: ACROSS };

/// What there is to say about each item.
const WORDS: &[Words] = &[
    words(Item::Prompt, "prompt", ""),
    words(
        Item::Steer,
        "none: busy is error \":already_streaming\"",
        "the hub queues it; when the run would be over it is prompted, as the next turn of the same run",
    ),
    words(
        Item::FollowUp,
        "none: busy is error \":already_streaming\"",
        "the hub queues it; when the run would be over it is prompted, as the next turn of the same run",
    ),
    words(Item::QueueModes, "none: the hub keeps them", ""),
    words(Item::Cancel, "abort", ""),
    words(Item::Answer, "ui_response", ""),
    words(Item::ContextUpdate, "-", "the wire has no place for it"),
    words(
        Item::SessionNew,
        "start_session (existing programs)",
        "cwd and model are carried; a title and an id of one's own are not",
    ),
    words(Item::SessionOpen, "start_session with session_file, set_active_session (existing programs)", ""),
    words(
        Item::SessionList,
        "list_sessions, list_running_sessions (existing programs)",
        "name, path, time and cwd, what runs first; the title as an extra field",
    ),
    words(Item::SessionBranch, "-", "the wire has no branches"),
    words(
        Item::SessionClose,
        "close_session (existing programs)",
        "left by the hub; a UI of ours does not send close_session, a server of ours obeys it",
    ),
    words(Item::SessionClear, "reset: a run under way is stopped first", ""),
    words(
        Item::SessionSave,
        "save, save_result",
        "under a name that the server chooses; the first servers do not answer, and silence for three seconds counts as done",
    ),
    words(
        Item::History,
        "message_start, message_end",
        "told as one run when a session is opened: the newest 400 messages, at most 512 KB",
    ),
    words(Item::Leaf, "-", "the wire has no tree"),
    words(Item::Tree, "none", "the active path is shown"),
    words(Item::Compact, "-", "the wire has no command for it"),
    words(Item::Stats, "stats; a UI of ours counts by itself", ""),
    words(Item::ModelList, "list_models (existing programs)", "provider and name, no prices"),
    words(Item::ModelSet, "start_session model (existing programs)", "only when a session starts"),
    words(Item::Policy, "-", "set where the server is started"),
    words(Item::McpList, "-", "the wire has no command for it"),
    words(Item::SkillsList, "-", "the wire has no command for it"),
    words(Item::Tools, "-", "the wire has no command for it"),
    words(Item::Extension, "-", "error \"unknown command\""),
    words(Item::Attachments, "prompt text", "texts are appended to the prompt, pictures dropped"),
    words(Item::RunLifecycle, "agent_start, agent_end", ""),
    words(
        Item::RunOutcome,
        "canceled, error, stop_reason, agent_end",
        "a failure by its text alone; interrupted and lost as an error",
    ),
    words(Item::Turn, "-", "seen by the person's message that begins it"),
    words(Item::Step, "turn_start, turn_end", ""),
    words(Item::MessageText, "message_start, message_update, message_end", ""),
    words(Item::TextDeltas, "message_update: the whole message each time, gathered for 50 ms or longer", ""),
    words(Item::Thought, "thinking blocks", ""),
    words(Item::Image, "image blocks", ""),
    words(Item::Code, "text blocks", "fenced in the text"),
    words(Item::Diff, "text blocks", "fenced in the text"),
    words(
        Item::ToolLifecycle,
        "tool_call blocks, tool_execution_start, tool_execution_end",
        "one that was passed over is told as one that failed",
    ),
    words(
        Item::ToolProgress,
        "tool_execution_update: the last 16 KB of output each time, a measure in details",
        "",
    ),
    words(
        Item::ToolResult,
        "tool_execution_end, tool_result messages",
        "a diff beside the text stands in it; a text over 40 KB is cut in the middle, a structured form over 8 KB left out",
    ),
    words(Item::Decision, "-", "a denied tool ends as an error whose text says so"),
    words(
        Item::Consent,
        "ui_request confirm or select",
        "details in opts, which existing clients ignore; what does not fit into six rows stands in a ui_widget before it, and Deny is first",
    ),
    words(
        Item::ConsentScope,
        "ui_request select: four options when there is a rule to remember, else once",
        "",
    ),
    words(Item::DenialReason, "-", "a no is a no; the model hears that the person said no and goes on"),
    words(Item::Confirm, "ui_request confirm", "own labels and the mark of danger are not carried"),
    words(Item::Choose, "ui_request select", "one of them; the text under the title stands in the title"),
    words(Item::TextAsk, "ui_request input or editor", "with a default or several lines it is an editor"),
    words(Item::EditAsk, "ui_request editor", "the text under the title stands in the title"),
    words(Item::AskWithdrawn, "none", "the overlay stays, but its answer no longer counts"),
    words(Item::Deadline, "opts.deadline_ms where it is not 30 s", ""),
    words(Item::QueueChanges, "-", "what is taken from a queue appears as the person's message"),
    words(Item::ContextLeft, "ui_status context", "in words"),
    words(Item::Usage, "usage of messages: that of a step with tools stands in the next message", ""),
    words(Item::Compaction, "compaction_complete (existing programs)", "summary and size"),
    words(Item::Plan, "ui_widget plan", "one line each"),
    words(Item::Retry, "ui_notify", "in words"),
    words(Item::Notice, "ui_notify", "not kept by the client"),
    words(Item::Notify, "ui_notify", ""),
    words(Item::Status, "ui_status", ""),
    words(Item::Working, "ui_working", ""),
    words(Item::Widget, "ui_widget", ""),
    words(Item::Title, "ui_set_title", ""),
    words(Item::EditorText, "ui_set_editor_text", ""),
    words(Item::Suggestion, "-", "the wire has no word for it"),
    words(Item::Resume, "start_session (existing programs): a run under way is told from its beginning", ""),
];

/// What this wire carries and yet not over every bridge.
const ACROSS: &[(Item, &str)] =
    &[(Item::Title, "a runtime whose session bears the title tells it as that, too, so it comes twice")];
