//! How openagent carries the vocabulary. "Exact" is held to its word by a test that sends both roles against each other.

use crate::fidelity::Fidelity::{Dropped, Emulated, Exact, Refused};
use crate::fidelity::{Fidelity, Row};

const fn row(item: &'static str, wire: &'static str, fidelity: Fidelity) -> Row {
    Row { item, wire, fidelity }
}

/// The table.
pub const TABLE: &[Row] = &[
    row("prompt", "agent.query", Exact),
    row("steer", "none", Refused("this wire has no queue; our hub supplies one to its own UIs")),
    row("follow-up", "none", Refused("this wire has no queue; our hub supplies one to its own UIs")),
    row("queue modes", "none", Refused("this wire has no queue")),
    row("cancel", "agent.cancel", Emulated("a backend that cannot cancel is no longer listened to")),
    row("answer", "tool.approve", Exact),
    row(
        "context update",
        "context.update, context of agent.query",
        Emulated("commands, output and files become notes; env is left out"),
    ),
    row("session new", "none", Refused("a backend makes its sessions by itself")),
    row("session open", "session.load {session_id}", Exact),
    row(
        "session list",
        "session.list",
        Emulated("id, title, times, messages and tokens; working directories are not told"),
    ),
    row(
        "session branch",
        "none",
        Emulated("a second and third query at once run in side sessions; the wire cannot ask for a branch"),
    ),
    row("session close", "none", Refused("the wire leaves a session by loading another")),
    row("session clear", "none", Refused("the wire has no word for it")),
    row("session save", "session.save", Exact),
    row("history", "session.load messages", Emulated("texts with their role and time; tools are left out")),
    row("leaf", "none", Refused("the wire has no tree")),
    row("tree", "none", Refused("the wire has no tree")),
    row("compact", "none", Refused("the wire has no word for it")),
    row("stats", "stream.complete metadata", Emulated("tokens, duration and tools of each query")),
    row("model list", "models of initialize", Emulated("the model in use, told with the hello")),
    row("model set", "none", Refused("the wire cannot choose a model")),
    row(
        "policy",
        "options.require_approval",
        Emulated("false waves reversible actions up to medium risk through; the rest is asked"),
    ),
    row("mcp list", "none", Refused("the wire has no word for it")),
    row("skills list", "none", Refused("the wire has no word for it")),
    row("tools", "options.tools_enabled", Emulated("on or off for a query")),
    row("extension", "none", Refused("the wire has no word for it")),
    row(
        "attachments",
        "message",
        Emulated("texts are put into the message; pictures are left out, and said so"),
    ),
    row("run lifecycle", "agent.query result, stream.complete", Exact),
    row(
        "run outcome",
        "stream.complete status, stream.error",
        Emulated(
            "success, cancelled, error, timeout; failures keep message and hint, their code becomes a number",
        ),
    ),
    row("turn", "none", Dropped("a query is one turn to this wire")),
    row("step", "none", Dropped("the wire tells tools and texts, not the questions to the model")),
    row(
        "message text",
        "stream.token, stream.block",
        Emulated("fenced code becomes blocks of its own; control sequences are left out"),
    ),
    row("text deltas", "stream.token, stream.tokens", Exact),
    row(
        "thought",
        "agent.thinking thought",
        Emulated("our member beside the document's; other UIs show its last line"),
    ),
    row("image", "stream.token", Emulated("named, not shown")),
    row("code", "stream.block code", Exact),
    row("diff", "stream.block diff", Exact),
    row("tool lifecycle", "tool.progress, tool.complete", Exact),
    row(
        "tool progress",
        "tool.progress",
        Emulated("whole outputs that replace earlier ones are told by their last line"),
    ),
    row(
        "tool result",
        "tool.complete, stream.block diff",
        Emulated("text, diffs and whether it was cut; pictures and structured forms are left out"),
    ),
    row(
        "decision",
        "tool.complete status",
        Emulated("rejected and timeout are told apart; who decided is not told"),
    ),
    row("consent", "tool.request_approval", Emulated("inner commands of a command line are not told")),
    row("consent scope", "remember_choice, apply_to_similar", Exact),
    row(
        "denial reason",
        "tool.approve reason",
        Emulated("our member beside the document's, sent only where it was offered"),
    ),
    row("confirm", "none", Dropped("unattended on this wire: the engine goes on with that")),
    row("choose", "none", Dropped("unattended on this wire: the engine goes on with that")),
    row("text ask", "none", Dropped("unattended on this wire: the engine goes on with that")),
    row("edit ask", "none", Dropped("unattended on this wire: the engine goes on with that")),
    row(
        "ask withdrawn",
        "tool.complete",
        Emulated("the tool's end says so; the request itself stays on the client's screen"),
    ),
    row("deadline", "timeout", Exact),
    row("queue changes", "none", Dropped("this wire has no queue")),
    row("context left", "none", Dropped("the wire has no word for it")),
    row("usage", "stream.complete metadata", Emulated("tokens read and written of a query, at its end")),
    row("compaction", "agent.thinking", Emulated("told in words")),
    row("plan", "agent.thinking", Emulated("the item being done and how many are done")),
    row("retry", "agent.thinking", Emulated("told in words")),
    row("notice", "stream.block error or text", Exact),
    row("notify", "stream.block", Emulated("as a notice, while a query runs")),
    row("status", "none", Dropped("the wire has no status fields")),
    row("working", "agent.thinking", Emulated("as the phase executing, while a query runs")),
    row("widget", "none", Dropped("the wire has no widgets")),
    row("title", "none", Dropped("the wire has no titles of windows")),
    row("editor text", "none", Dropped("the wire cannot write into the composer")),
    row("suggestion", "suggestion.inline", Exact),
    row(
        "resume",
        "session.load",
        Emulated("a client that comes back loads its session; a run under way is told from its beginning"),
    ),
];
