//! How asst carries each item of the vocabulary.

use crate::fidelity::Fidelity::{Dropped, Emulated, Exact, Refused};
use crate::fidelity::{Fidelity, Row};

const fn row(item: &'static str, wire: &'static str, fidelity: Fidelity) -> Row {
    Row { item, wire, fidelity }
}

const NO_ASKS: Fidelity = Dropped(
    "the wire has no questions: what the mode would ask for is denied with a reason that the model sees",
);
const NO_PLACE: Fidelity = Dropped("no place for it");

/// The table.
pub const TABLE: &[Row] = &[
    row("prompt", "user_message", Exact),
    row("steer", "", Refused("the wire has no steer")),
    row(
        "follow-up",
        "user_message while another is answered",
        Emulated("waits and becomes a turn of its own"),
    ),
    row("queue modes", "", Refused("one message, one turn")),
    row("cancel", "", Emulated("over for the person; a foreign runtime goes on and is not listened to")),
    row("answer", "", NO_ASKS),
    row("context update", "", NO_PLACE),
    row(
        "session new",
        "new_conversation, metadata.conversationId",
        Emulated("a conversation that is named for the first time is made"),
    ),
    row(
        "session open",
        "load_conversation, metadata.conversationId",
        Emulated("the id of a conversation names the session"),
    ),
    row("session list", "", Refused("the wire has no list")),
    row("session branch", "", Refused("the wire has no branches")),
    row("session close", "", Dropped("conversations stay")),
    row("session clear", "clear_history", Exact),
    row("session save", "", Refused("the runtime keeps its conversations itself")),
    row("history", "", Refused("the wire never tells the past")),
    row("leaf", "", Refused("the wire has no tree")),
    row("tree", "", Refused("the wire has no tree")),
    row("compact", "", Refused("the wire has no word for it")),
    row("stats", "get_status", Emulated("state, length and uptime")),
    row("model list", "", Refused("models are chosen at the start of the runtime")),
    row("model set", "", Refused("models are chosen at the start of the runtime")),
    row("policy", "", Dropped("chosen at the start of the runtime")),
    row("mcp list", "", Refused("the wire does not know servers")),
    row("skills list", "", Refused("the wire does not know skills")),
    row("tools", "", Refused("the wire has no list")),
    row("extension", "", Refused("the wire has no extensions")),
    row(
        "attachments",
        "attachments, images",
        Emulated("pictures as they are; files by path and type, named in the text too"),
    ),
    row("run lifecycle", "done or error", Emulated("a message is a turn; its run may answer several")),
    row(
        "run outcome",
        "done, error",
        Emulated("a cancel and a failure are both errors, told apart by their words"),
    ),
    row("turn", "id of the request", Exact),
    row("step", "", Emulated("begins with the first word after a tool's result")),
    row(
        "message text",
        "token",
        Emulated("one bubble per request; the texts of its steps are parted by a blank line"),
    ),
    row("text deltas", "token", Exact),
    row("thought", "", Dropped("the wire has one kind of text")),
    row("image", "", Dropped("the runtime's side carries text only")),
    row("code", "token", Emulated("as a fenced block")),
    row("diff", "token", Emulated("as a fenced block")),
    row("tool lifecycle", "tool_use, tool_result", Exact),
    row("tool progress", "", Dropped("the wire shows the result only")),
    row("tool result", "tool_result", Emulated("the structured form if there is one, else the text")),
    row("decision", "", Dropped("the wire shows only that a tool ran or failed")),
    row("consent", "", NO_ASKS),
    row("consent scope", "", NO_ASKS),
    row("denial reason", "tool_result error", Emulated("as the error of the tool")),
    row("confirm", "", NO_ASKS),
    row("choose", "", NO_ASKS),
    row("text ask", "", NO_ASKS),
    row("edit ask", "", NO_ASKS),
    row("ask withdrawn", "", NO_ASKS),
    row("deadline", "", NO_ASKS),
    row("queue changes", "", NO_PLACE),
    row("context left", "", NO_PLACE),
    row("usage", "", NO_PLACE),
    row("compaction", "", NO_PLACE),
    row("plan", "", NO_PLACE),
    row("retry", "", NO_PLACE),
    row("notice", "error", Emulated("a failure ends its request; the rest goes to the log")),
    row("notify", "stderr", Emulated("a line of the log")),
    row("status", "", NO_PLACE),
    row("working", "", NO_PLACE),
    row("widget", "", NO_PLACE),
    row("title", "", NO_PLACE),
    row("editor text", "", NO_PLACE),
    row("suggestion", "", NO_PLACE),
    row("resume", "metadata.conversationId", Emulated("the conversation goes on; the past is not told")),
];
