//! What there is to say about each item of the vocabulary on this wire: where it stands, and how or why it is not exact. Whether it is
//! exact is not said here but computed.

use roles::Item;
use roles::fidelity::{Sources, Verdicts, Words};

const fn words(item: Item, wire: &'static str, why: &'static str) -> Words {
    Words { item, wire, why }
}

/// What this wire's table is made of.
pub const SOURCES: Sources =
    Sources { words: WORDS, rest: "", verdicts: Verdicts(include_str!("verdicts.txt")), across: &[] };

/// What there is to say about each item.
const WORDS: &[Words] = &[
    words(Item::Prompt, "run.start", ""),
    words(
        Item::Steer,
        "none",
        "the hub queues it; when the run would be over it is prompted, as the next turn of the same run",
    ),
    words(
        Item::FollowUp,
        "none",
        "the hub queues it; when the run would be over it is prompted, as the next turn of the same run",
    ),
    words(Item::QueueModes, "none: the hub keeps them", ""),
    words(Item::Cancel, "run.cancel", ""),
    words(Item::Answer, "result of ui.*.request", ""),
    words(Item::ContextUpdate, "ui.context.update, ui_context", "the size of the terminal is not told"),
    words(Item::SessionNew, "none", "a runtime makes its session when it is started"),
    words(Item::SessionOpen, "session_id of run.start: the next run goes there", ""),
    words(Item::SessionList, "session.list", "title, creation time and usage are not listed"),
    words(Item::SessionBranch, "none", "no word for it"),
    words(Item::SessionClose, "none", "left by the hub; the runtime is not told"),
    words(Item::SessionClear, "none", "no word for it"),
    words(Item::SessionSave, "none", "no word for it"),
    words(
        Item::History,
        "session.history",
        "told again as agent events, without status, usage and decisions",
    ),
    words(Item::Leaf, "none", "a conversation is a line here, not a tree"),
    words(Item::Tree, "none", "every branch is told, one after the other, as a line"),
    words(
        Item::Compact,
        "force_compaction of run.start",
        "told as a run that cannot be stopped; the summary is not shown",
    ),
    words(Item::Stats, "none", "counted by the hub from what it heard, which holds no usage"),
    words(Item::ModelList, "model.list", "one provider at a time"),
    words(Item::ModelSet, "model.set", ""),
    words(Item::Policy, "none", "no word for it"),
    words(Item::McpList, "mcp.list", ""),
    words(Item::SkillsList, "skills.list", ""),
    words(
        Item::Tools,
        "tools of run.start",
        "no list and no choice of the runtime's tools; tools of the UI are called with client.tool.call",
    ),
    words(Item::Extension, "none", "no word for it"),
    words(Item::Attachments, "input parts", "images cross; code and diffs as fenced text"),
    words(Item::RunLifecycle, "run.status", ""),
    words(Item::RunOutcome, "run.status", "interrupted and lost are errors; an error has no code"),
    words(Item::Turn, "none", "what the person says inside a run is a hidden_user_message"),
    words(Item::Step, "step_number", ""),
    words(Item::MessageText, "agent.event text, final", ""),
    words(Item::TextDeltas, "meta of agent.event", ""),
    words(Item::Thought, "agent.event reasoning", ""),
    words(Item::Image, "agent.event text", "[image] stands in its place"),
    words(Item::Code, "agent.event text", "as fenced text"),
    words(
        Item::Diff,
        "result of file tools",
        "as JSON in the result of write, edit and apply_patch, else as fenced text",
    ),
    words(
        Item::ToolLifecycle,
        "step_start, tool_call, tool_result, step_complete",
        "the start is told with the call; skipped and cancelled are failures",
    ),
    words(Item::ToolProgress, "none", "the result tells it all"),
    words(
        Item::ToolResult,
        "tool_result",
        "the structured form gives way to one that holds the diff; that a text was cut is not told",
    ),
    words(Item::Decision, "none", "seen from the result: a denial begins with \"Permission denied: \""),
    words(
        Item::Consent,
        "permission.*, ui.confirm.request",
        "four risks become two; the digest stays here; what does not fit is told before a ui.pick.request with Deny on top",
    ),
    words(
        Item::ConsentScope,
        "remember",
        "once and always; the hub keeps a yes for the session, for the very same action",
    ),
    words(Item::DenialReason, "reason", ""),
    words(Item::Confirm, "ui.confirm.request", ""),
    words(Item::Choose, "ui.pick.request", "the message stands in the title"),
    words(Item::TextAsk, "ui.prompt.request", "no placeholder"),
    words(Item::EditAsk, "ui.prompt.request", "a text of several lines with a default"),
    words(Item::AskWithdrawn, "none", "an answer that comes late is ignored; the dialog stays on the screen"),
    words(Item::Deadline, "none", "kept by the hub; the dialog may outlive it"),
    words(Item::QueueChanges, "none", "what leaves the queue is seen as what the person says"),
    words(Item::ContextLeft, "run.context", "whole percents"),
    words(Item::Usage, "none", "no word for it"),
    words(Item::Compaction, "compaction_start, compaction_complete", "without the summary"),
    words(Item::Plan, "none", "the tool that keeps it is seen as a tool call"),
    words(Item::Retry, "llm.retry", ""),
    words(
        Item::Notice,
        "stderr",
        "a line on stderr, which a UI that started the runtime shows; nothing on the wire",
    ),
    words(
        Item::Notify,
        "stderr",
        "a line on stderr, which a UI that started the runtime shows; nothing on the wire",
    ),
    words(Item::Status, "none", "no word for it"),
    words(Item::Working, "none", "no word for it"),
    words(Item::Widget, "none", "no word for it"),
    words(Item::Title, "none", "no word for it"),
    words(Item::EditorText, "none", "no word for it"),
    words(Item::Suggestion, "none", "no word for it"),
    words(
        Item::Resume,
        "session.history",
        "a UI that comes back asks for the replay, which holds what is over: of a run under way only the question",
    ),
];
