//! What this wire carries of the vocabulary. "Here" is the side we play; each row says how the item crosses the wire.

use roles::Item;
use roles::fidelity::Fidelity::{Dropped, Emulated, Exact, Refused};
use roles::fidelity::{Fidelity, Row};

const fn row(item: Item, wire: &'static str, fidelity: Fidelity) -> Row {
    Row { item, wire, fidelity }
}

/// Every item of the vocabulary on this wire.
pub const TABLE: &[Row] = &[
    row(Item::Prompt, "run.start", Exact),
    row(Item::Steer, "none", Refused("the hub queues it and prompts again when the run is over")),
    row(Item::FollowUp, "none", Refused("the hub queues it and prompts again when the run is over")),
    row(Item::QueueModes, "none", Refused("the hub keeps them")),
    row(Item::Cancel, "run.cancel", Exact),
    row(Item::Answer, "result of ui.*.request", Exact),
    row(
        Item::ContextUpdate,
        "ui.context.update, ui_context",
        Emulated("the range of a selection is not kept"),
    ),
    row(Item::SessionNew, "none", Refused("a runtime makes its session when it is started")),
    row(
        Item::SessionOpen,
        "session_id of run.start",
        Emulated("the next run goes there; a replay shows what was"),
    ),
    row(Item::SessionList, "session.list", Emulated("title, creation time and usage are not listed")),
    row(Item::SessionBranch, "none", Refused("no word for it")),
    row(Item::SessionClose, "none", Refused("no word for it")),
    row(Item::SessionClear, "none", Refused("no word for it")),
    row(Item::SessionSave, "none", Refused("no word for it")),
    row(
        Item::History,
        "session.history",
        Emulated("told again as agent events, without status, usage and decisions"),
    ),
    row(Item::Leaf, "none", Refused("a conversation is a line here, not a tree")),
    row(Item::Tree, "none", Dropped("a conversation is a line here; the active path is shown")),
    row(
        Item::Compact,
        "force_compaction of run.start",
        Emulated("told as a run that cannot be stopped; the summary is not shown"),
    ),
    row(Item::Stats, "none", Refused("the hub counts by itself")),
    row(Item::ModelList, "model.list", Emulated("one provider at a time")),
    row(Item::ModelSet, "model.set", Exact),
    row(Item::Policy, "none", Refused("no word for it")),
    row(Item::McpList, "mcp.list", Exact),
    row(Item::SkillsList, "skills.list", Exact),
    row(
        Item::Tools,
        "tools of run.start",
        Refused("tools that a UI offers are not used; the loss is reported"),
    ),
    row(Item::Extension, "none", Refused("no word for it")),
    row(Item::Attachments, "input parts", Emulated("images cross; code and diffs as fenced text")),
    row(Item::RunLifecycle, "run.status", Exact),
    row(Item::RunOutcome, "run.status", Emulated("interrupted and lost are errors; an error has no code")),
    row(Item::Turn, "none", Emulated("what the person says inside a run is a hidden_user_message")),
    row(
        Item::Step,
        "step_number",
        Emulated("seen from the numbers of tool calls, which begin again with each answer"),
    ),
    row(Item::MessageText, "agent.event text, final", Exact),
    row(Item::TextDeltas, "meta of agent.event", Exact),
    row(Item::Thought, "agent.event reasoning", Exact),
    row(Item::Image, "none", Dropped("[image] stands in its place")),
    row(Item::Code, "agent.event text", Emulated("as fenced text")),
    row(
        Item::Diff,
        "result of file tools",
        Emulated("as JSON in the result of write, edit and apply_patch, else as fenced text"),
    ),
    row(
        Item::ToolLifecycle,
        "step_start, tool_call, tool_result, step_complete",
        Emulated("the start is not told; skipped and cancelled are errors"),
    ),
    row(Item::ToolProgress, "none", Dropped("the result tells it all")),
    row(Item::ToolResult, "tool_result", Exact),
    row(
        Item::Decision,
        "none",
        Dropped("seen from the result: a denial begins with \"Permission denied: \""),
    ),
    row(
        Item::Consent,
        "permission.*, ui.confirm.request",
        Emulated("four risks become two; the digest stays here"),
    ),
    row(Item::ConsentScope, "remember", Emulated("once and always; until the session closes counts once")),
    row(Item::DenialReason, "reason", Exact),
    row(Item::Confirm, "ui.confirm.request", Exact),
    row(Item::Choose, "ui.pick.request", Emulated("the message stands in the title")),
    row(Item::TextAsk, "ui.prompt.request", Emulated("no placeholder")),
    row(Item::EditAsk, "ui.prompt.request", Emulated("a text of several lines with a default")),
    row(
        Item::AskWithdrawn,
        "none",
        Emulated("an answer that comes late is ignored; the dialog may stay on the screen"),
    ),
    row(Item::Deadline, "none", Dropped("kept by the hub; the dialog may outlive it")),
    row(Item::QueueChanges, "none", Dropped("what leaves the queue is seen as what the person says")),
    row(Item::ContextLeft, "run.context", Emulated("whole percents")),
    row(Item::Usage, "none", Dropped("no word for it")),
    row(Item::Compaction, "compaction_start, compaction_complete", Emulated("without the summary")),
    row(Item::Plan, "none", Dropped("the tool that keeps it is seen as a tool call")),
    row(Item::Retry, "llm.retry", Exact),
    row(Item::Notice, "stderr", Emulated("a line in the log, which the UI shows")),
    row(Item::Notify, "stderr", Emulated("a line in the log, which the UI shows")),
    row(Item::Status, "none", Dropped("no word for it")),
    row(Item::Working, "none", Dropped("no word for it")),
    row(Item::Widget, "none", Dropped("no word for it")),
    row(Item::Title, "none", Dropped("no word for it")),
    row(Item::EditorText, "none", Dropped("no word for it")),
    row(Item::Suggestion, "none", Dropped("no word for it")),
    row(Item::Resume, "session.history", Emulated("a UI that comes back asks for the replay")),
];
