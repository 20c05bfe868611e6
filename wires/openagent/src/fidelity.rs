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
    words(Item::Prompt, "agent.query", ""),
    words(
        Item::Steer,
        "none",
        "the hub queues it; when the query is over it is prompted, as the next turn of the same run",
    ),
    words(
        Item::FollowUp,
        "none",
        "the hub queues it; when the query is over it is prompted, as the next turn of the same run",
    ),
    words(Item::QueueModes, "none: the hub keeps them", ""),
    words(Item::Cancel, "agent.cancel; a backend that cannot cancel is no longer listened to", ""),
    words(Item::Answer, "tool.approve", ""),
    words(
        Item::ContextUpdate,
        "context.update, context of agent.query",
        "commands, output and files become notes; env is left out",
    ),
    words(Item::SessionNew, "none", "a backend makes its sessions by itself"),
    words(Item::SessionOpen, "session.load {session_id}", ""),
    words(
        Item::SessionList,
        "session.list",
        "id, title, times, messages and tokens; working directories are not told",
    ),
    words(
        Item::SessionBranch,
        "none",
        "the wire cannot ask for a branch; a second and third query at once run in side sessions",
    ),
    words(Item::SessionClose, "none", "left by the hub; the wire leaves a session by loading another"),
    words(Item::SessionClear, "none", "the wire has no word for it"),
    words(Item::SessionSave, "session.save", ""),
    words(Item::History, "session.load messages", "texts with their role and time; tools are left out"),
    words(Item::Leaf, "none", "the wire has no tree"),
    words(Item::Tree, "none", "the active path is shown"),
    words(Item::Compact, "none", "the wire has no word for it"),
    words(Item::Stats, "stream.complete metadata", "counted by the hub from what it heard"),
    words(
        Item::ModelList,
        "models of initialize",
        "the model in use, then those that are known without asking providers, told with the hello",
    ),
    words(Item::ModelSet, "none", "the wire cannot choose a model"),
    words(
        Item::Policy,
        "options.require_approval",
        "the wire cannot choose a mode; a query may say that every tool needs approval, or that reversible actions up to medium risk need none",
    ),
    words(Item::McpList, "none", "the wire has no word for it"),
    words(Item::SkillsList, "none", "the wire has no word for it"),
    words(Item::Tools, "options.tools_enabled", "the wire has no list; a query may switch all of them off"),
    words(Item::Extension, "none", "the wire has no word for it"),
    words(Item::Attachments, "message", "texts are put into the message; pictures are left out, and said so"),
    words(Item::RunLifecycle, "agent.query result, stream.complete", ""),
    words(
        Item::RunOutcome,
        "stream.complete status, stream.error",
        "success, cancelled, error, timeout; failures keep message and hint, their code becomes a number",
    ),
    words(Item::Turn, "none", "a query is one turn to this wire"),
    words(Item::Step, "none", "told as one: the wire tells tools and texts, not the questions to the model"),
    words(
        Item::MessageText,
        "stream.token, stream.block",
        "fenced code becomes blocks of its own; control sequences are left out",
    ),
    words(Item::TextDeltas, "stream.token, stream.tokens", ""),
    words(
        Item::Thought,
        "agent.thinking thought: our member beside the document's, of which other UIs show the last line",
        "",
    ),
    words(Item::Image, "stream.token", "named, not shown"),
    words(Item::Code, "stream.block code", ""),
    words(Item::Diff, "stream.block diff", ""),
    words(
        Item::ToolLifecycle,
        "tool.progress, tool.complete",
        "one that was passed over is told without its arguments",
    ),
    words(
        Item::ToolProgress,
        "tool.progress; an output that replaces an earlier one is told by its last line",
        "",
    ),
    words(
        Item::ToolResult,
        "tool.complete, stream.block diff",
        "text, diffs and whether it was cut; pictures and structured forms are left out",
    ),
    words(
        Item::Decision,
        "tool.complete status",
        "rejected and timeout are told apart; who or what allowed a tool is not told",
    ),
    words(
        Item::Consent,
        "tool.request_approval",
        "inner commands of a command line are not told; for the existing client a block before it holds what its preview cannot",
    ),
    words(Item::ConsentScope, "remember_choice, apply_to_similar", ""),
    words(
        Item::DenialReason,
        "tool.approve reason: our member beside the document's, sent only where it was offered",
        "",
    ),
    words(Item::Confirm, "none", "unattended on this wire: the engine goes on with that"),
    words(Item::Choose, "none", "unattended on this wire: the engine goes on with that"),
    words(Item::TextAsk, "none", "unattended on this wire: the engine goes on with that"),
    words(Item::EditAsk, "none", "unattended on this wire: the engine goes on with that"),
    words(
        Item::AskWithdrawn,
        "tool.complete",
        "the tool's end says so; the request itself stays on the client's screen",
    ),
    words(Item::Deadline, "timeout", ""),
    words(Item::QueueChanges, "none", "this wire has no queue"),
    words(Item::ContextLeft, "none", "the wire has no word for it"),
    words(Item::Usage, "stream.complete metadata", "tokens read and written of a query, at its end"),
    words(Item::Compaction, "agent.thinking", "told in words"),
    words(Item::Plan, "agent.thinking", "the item being done and how many are done"),
    words(Item::Retry, "agent.thinking", "told in words"),
    words(Item::Notice, "stream.block error or text", ""),
    words(Item::Notify, "stream.block", "as a notice, while a query runs"),
    words(Item::Status, "none", "the wire has no status fields"),
    words(Item::Working, "agent.thinking", "as the phase executing, while a query runs"),
    words(Item::Widget, "none", "the wire has no widgets"),
    words(Item::Title, "none", "the wire has no titles of windows"),
    words(Item::EditorText, "none", "the wire cannot write into the composer"),
    words(Item::Suggestion, "suggestion.inline", ""),
    words(
        Item::Resume,
        "session.load",
        "a client that comes back loads its session; what a query under way said so far is told, the rest is not",
    ),
];

/// What is exact on this wire and on another, and yet not over a bridge between them: why.
const ACROSS: &[(Item, &str)] =
    &[(Item::ToolProgress, "a lemon runtime repeats the whole output, of which the last line is told")];
