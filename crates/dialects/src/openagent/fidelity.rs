//! How openagent carries the vocabulary. "Exact" is held to its word by a test that sends both roles against each other.

use roles::Item;
use roles::fidelity::Fidelity::{Dropped, Emulated, Exact, Refused};
use roles::fidelity::{Fidelity, Row};

const fn row(item: Item, wire: &'static str, fidelity: Fidelity) -> Row {
    Row { item, wire, fidelity }
}

/// The table.
pub const TABLE: &[Row] = &[
    row(Item::Prompt, "agent.query", Exact),
    row(Item::Steer, "none", Refused("this wire has no queue; our hub supplies one to its own UIs")),
    row(Item::FollowUp, "none", Refused("this wire has no queue; our hub supplies one to its own UIs")),
    row(Item::QueueModes, "none", Refused("this wire has no queue")),
    row(Item::Cancel, "agent.cancel", Emulated("a backend that cannot cancel is no longer listened to")),
    row(Item::Answer, "tool.approve", Exact),
    row(
        Item::ContextUpdate,
        "context.update, context of agent.query",
        Emulated("commands, output and files become notes; env is left out"),
    ),
    row(Item::SessionNew, "none", Refused("a backend makes its sessions by itself")),
    row(Item::SessionOpen, "session.load {session_id}", Exact),
    row(
        Item::SessionList,
        "session.list",
        Emulated("id, title, times, messages and tokens; working directories are not told"),
    ),
    row(
        Item::SessionBranch,
        "none",
        Emulated("a second and third query at once run in side sessions; the wire cannot ask for a branch"),
    ),
    row(Item::SessionClose, "none", Refused("the wire leaves a session by loading another")),
    row(Item::SessionClear, "none", Refused("the wire has no word for it")),
    row(Item::SessionSave, "session.save", Exact),
    row(
        Item::History,
        "session.load messages",
        Emulated("texts with their role and time; tools are left out"),
    ),
    row(Item::Leaf, "none", Refused("the wire has no tree")),
    row(Item::Tree, "none", Refused("the wire has no tree")),
    row(Item::Compact, "none", Refused("the wire has no word for it")),
    row(Item::Stats, "stream.complete metadata", Emulated("tokens, duration and tools of each query")),
    row(Item::ModelList, "models of initialize", Emulated("the model in use, told with the hello")),
    row(Item::ModelSet, "none", Refused("the wire cannot choose a model")),
    row(
        Item::Policy,
        "options.require_approval",
        Emulated("false waves reversible actions up to medium risk through; the rest is asked"),
    ),
    row(Item::McpList, "none", Refused("the wire has no word for it")),
    row(Item::SkillsList, "none", Refused("the wire has no word for it")),
    row(Item::Tools, "options.tools_enabled", Emulated("on or off for a query")),
    row(Item::Extension, "none", Refused("the wire has no word for it")),
    row(
        Item::Attachments,
        "message",
        Emulated("texts are put into the message; pictures are left out, and said so"),
    ),
    row(Item::RunLifecycle, "agent.query result, stream.complete", Exact),
    row(
        Item::RunOutcome,
        "stream.complete status, stream.error",
        Emulated(
            "success, cancelled, error, timeout; failures keep message and hint, their code becomes a number",
        ),
    ),
    row(Item::Turn, "none", Dropped("a query is one turn to this wire")),
    row(Item::Step, "none", Dropped("the wire tells tools and texts, not the questions to the model")),
    row(
        Item::MessageText,
        "stream.token, stream.block",
        Emulated("fenced code becomes blocks of its own; control sequences are left out"),
    ),
    row(Item::TextDeltas, "stream.token, stream.tokens", Exact),
    row(
        Item::Thought,
        "agent.thinking thought",
        Emulated("our member beside the document's; other UIs show its last line"),
    ),
    row(Item::Image, "stream.token", Emulated("named, not shown")),
    row(Item::Code, "stream.block code", Exact),
    row(Item::Diff, "stream.block diff", Exact),
    row(Item::ToolLifecycle, "tool.progress, tool.complete", Exact),
    row(
        Item::ToolProgress,
        "tool.progress",
        Emulated("whole outputs that replace earlier ones are told by their last line"),
    ),
    row(
        Item::ToolResult,
        "tool.complete, stream.block diff",
        Emulated("text, diffs and whether it was cut; pictures and structured forms are left out"),
    ),
    row(
        Item::Decision,
        "tool.complete status",
        Emulated("rejected and timeout are told apart; who decided is not told"),
    ),
    row(Item::Consent, "tool.request_approval", Emulated("inner commands of a command line are not told")),
    row(Item::ConsentScope, "remember_choice, apply_to_similar", Exact),
    row(
        Item::DenialReason,
        "tool.approve reason",
        Emulated("our member beside the document's, sent only where it was offered"),
    ),
    row(Item::Confirm, "none", Dropped("unattended on this wire: the engine goes on with that")),
    row(Item::Choose, "none", Dropped("unattended on this wire: the engine goes on with that")),
    row(Item::TextAsk, "none", Dropped("unattended on this wire: the engine goes on with that")),
    row(Item::EditAsk, "none", Dropped("unattended on this wire: the engine goes on with that")),
    row(
        Item::AskWithdrawn,
        "tool.complete",
        Emulated("the tool's end says so; the request itself stays on the client's screen"),
    ),
    row(Item::Deadline, "timeout", Exact),
    row(Item::QueueChanges, "none", Dropped("this wire has no queue")),
    row(Item::ContextLeft, "none", Dropped("the wire has no word for it")),
    row(Item::Usage, "stream.complete metadata", Emulated("tokens read and written of a query, at its end")),
    row(Item::Compaction, "agent.thinking", Emulated("told in words")),
    row(Item::Plan, "agent.thinking", Emulated("the item being done and how many are done")),
    row(Item::Retry, "agent.thinking", Emulated("told in words")),
    row(Item::Notice, "stream.block error or text", Exact),
    row(Item::Notify, "stream.block", Emulated("as a notice, while a query runs")),
    row(Item::Status, "none", Dropped("the wire has no status fields")),
    row(Item::Working, "agent.thinking", Emulated("as the phase executing, while a query runs")),
    row(Item::Widget, "none", Dropped("the wire has no widgets")),
    row(Item::Title, "none", Dropped("the wire has no titles of windows")),
    row(Item::EditorText, "none", Dropped("the wire cannot write into the composer")),
    row(Item::Suggestion, "suggestion.inline", Exact),
    row(
        Item::Resume,
        "session.load",
        Emulated("a client that comes back loads its session; a run under way is told from its beginning"),
    ),
];
