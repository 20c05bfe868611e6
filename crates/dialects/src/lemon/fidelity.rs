//! How lemon carries each item of the vocabulary.

use crate::fidelity::Fidelity::{self, Dropped, Emulated, Exact, Refused};
use crate::fidelity::Row;

const fn row(item: &'static str, wire: &'static str, fidelity: Fidelity) -> Row {
    Row { item, wire, fidelity }
}

/// A row for every item.
pub const TABLE: &[Row] = &[
    row("prompt", "prompt", Exact),
    row("steer", "-", Refused("busy: error \":already_streaming\"; behind a lemon server the hub queues")),
    row(
        "follow-up",
        "-",
        Refused("busy: error \":already_streaming\"; behind a lemon server the hub queues"),
    ),
    row("queue modes", "-", Refused("the wire has no queue")),
    row("cancel", "abort", Exact),
    row("answer", "ui_response", Exact),
    row("context update", "-", Refused("the wire has no place for it")),
    row(
        "session new",
        "start_session (existing programs)",
        Emulated("cwd and model are carried; a title and an id of one's own are not"),
    ),
    row(
        "session open",
        "start_session with session_file, set_active_session (existing programs)",
        Emulated("by the path of sessions_list or the id; not in the middle of a run"),
    ),
    row(
        "session list",
        "list_sessions, list_running_sessions (existing programs)",
        Emulated("id, path, time and cwd; the title as an extra field"),
    ),
    row("session branch", "-", Refused("the wire has no branches")),
    row("session close", "close_session (existing programs)", Exact),
    row("session clear", "reset", Emulated("a run under way is stopped first; nothing is said back")),
    row(
        "session save",
        "save, save_result",
        Emulated("the first servers do not answer: silence for three seconds counts as done"),
    ),
    row(
        "history",
        "message_start, message_end",
        Emulated("told as one run when a session is opened: the newest 400 messages, at most 512 KB"),
    ),
    row("leaf", "-", Refused("the wire has no tree")),
    row("tree", "-", Refused("the wire has no tree")),
    row("compact", "-", Refused("the wire has no command for it")),
    row("stats", "stats", Emulated("messages and turns; tokens are in the messages")),
    row("model list", "list_models (existing programs)", Emulated("provider and name, no prices")),
    row("model set", "start_session model (existing programs)", Refused("only when a session starts")),
    row("policy", "-", Refused("set where the server is started")),
    row("mcp list", "-", Refused("the wire has no command for it")),
    row("skills list", "-", Refused("the wire has no command for it")),
    row("tools", "-", Refused("the wire has no command for it")),
    row("extension", "-", Refused("error \"unknown command\"")),
    row("attachments", "prompt text", Emulated("texts are appended to the prompt, pictures dropped")),
    row("run lifecycle", "agent_start, agent_end", Exact),
    row(
        "run outcome",
        "canceled, error, stop_reason, agent_end",
        Emulated("a failure by its text alone; interrupted and lost as an error"),
    ),
    row("turn", "-", Emulated("seen by the person's message that begins it")),
    row("step", "turn_start, turn_end", Exact),
    row("message text", "message_start, message_update, message_end", Exact),
    row(
        "text deltas",
        "message_update",
        Emulated("the whole message each time, gathered for 50 ms or longer"),
    ),
    row("thought", "thinking blocks", Exact),
    row("image", "image blocks", Exact),
    row("code", "text blocks", Emulated("fenced in the text")),
    row("diff", "text blocks", Emulated("fenced in the text")),
    row("tool lifecycle", "tool_call blocks, tool_execution_start, tool_execution_end", Exact),
    row(
        "tool progress",
        "tool_execution_update",
        Emulated("the last 16 KB of output each time; a measure in details"),
    ),
    row(
        "tool result",
        "tool_execution_end, tool_result messages",
        Emulated(
            "a diff beside the text stands in it; a text over 40 KB is cut in the middle, a structured form over 8 KB left out",
        ),
    ),
    row("decision", "-", Dropped("a denied tool ends as an error whose text says so")),
    row(
        "consent",
        "ui_request confirm or select",
        Emulated("details in opts, which existing clients ignore"),
    ),
    row(
        "consent scope",
        "ui_request select",
        Emulated("four options when there is a rule to remember, else once"),
    ),
    row("denial reason", "-", Dropped("a no is a no; the model hears that the person said no and goes on")),
    row("confirm", "ui_request confirm", Emulated("own labels and the mark of danger are not carried")),
    row("choose", "ui_request select", Emulated("one of them; the text under the title stands in the title")),
    row(
        "text ask",
        "ui_request input or editor",
        Emulated("with a default or several lines it is an editor"),
    ),
    row("edit ask", "ui_request editor", Emulated("the text under the title stands in the title")),
    row(
        "ask withdrawn",
        "ui_notify",
        Emulated("the overlay stays, but its answer no longer counts; why is notified"),
    ),
    row("deadline", "-", Emulated("30 s, not on the wire")),
    row("queue changes", "-", Dropped("what is taken from a queue appears as the person's message")),
    row("context left", "ui_status context", Emulated("in words")),
    row(
        "usage",
        "usage of messages",
        Emulated(
            "what a step with tools used is told with the next message, so that the client's sum is right",
        ),
    ),
    row("compaction", "compaction_complete (existing programs)", Emulated("summary and size")),
    row("plan", "ui_widget plan", Emulated("one line each")),
    row("retry", "ui_notify", Emulated("in words")),
    row("notice", "ui_notify", Emulated("not kept by the client")),
    row("notify", "ui_notify", Exact),
    row("status", "ui_status", Exact),
    row("working", "ui_working", Exact),
    row("widget", "ui_widget", Exact),
    row("title", "ui_set_title", Exact),
    row("editor text", "ui_set_editor_text", Exact),
    row("suggestion", "-", Dropped("the wire has no word for it")),
    row(
        "resume",
        "start_session (existing programs)",
        Emulated("a run under way is told from its beginning"),
    ),
];
