//! What there is to say about each item of the vocabulary on this wire: where it stands, and how or why it is not exact. Whether it is
//! exact is not said here but computed.

use roles::Item;
use roles::fidelity::{Sources, Verdicts, Words};

const fn words(item: Item, wire: &'static str, why: &'static str) -> Words {
    Words { item, wire, why }
}

const NO_TREE: &str = "a session is one line here: the active path is shown";
const NO_PLACE: &str = "no place for it";

/// What this wire's table is made of.
pub const SOURCES: Sources =
    Sources { words: WORDS, rest: "", verdicts: Verdicts(include_str!("verdicts.txt")), across: &[] };

/// What there is to say about each item.
const WORDS: &[Words] = &[
    words(Item::Prompt, "session/prompt", ""),
    words(Item::Steer, "_session/steering, where it is advertised", ""),
    words(
        Item::FollowUp,
        "session/prompt while another is answered",
        "kept by the hub until the prompt before it is answered",
    ),
    words(Item::QueueModes, "", "an agent that takes steers takes each as it comes"),
    words(Item::Cancel, "session/cancel", ""),
    words(Item::Answer, "the result of session/request_permission or elicitation/create", ""),
    words(
        Item::ContextUpdate,
        "resource_link, resource in the next prompt",
        "goes with a prompt, not by itself",
    ),
    words(Item::SessionNew, "session/new", "without a title"),
    words(Item::SessionOpen, "session/load, session/resume", ""),
    words(Item::SessionList, "session/list", "without usage and the last prompt"),
    words(Item::SessionBranch, "", "only an unstable method has it, for whole sessions"),
    words(Item::SessionClose, "session/close", "a session that is left stays open at the agent"),
    words(Item::SessionClear, "", "make a new session"),
    words(Item::SessionSave, "", "everything is kept anyway"),
    words(
        Item::History,
        "session/update before the answer to session/load",
        "as chunks, without decisions, usage and times",
    ),
    words(Item::Leaf, "", NO_TREE),
    words(Item::Tree, "", NO_TREE),
    words(Item::Compact, "session/prompt with /compact, where the agent lists it", ""),
    words(Item::Stats, "none: counted by the hub from what it heard", ""),
    words(Item::ModelList, "configOptions of category model", "names without windows and prices"),
    words(Item::ModelSet, "session/set_config_option", ""),
    words(
        Item::Policy,
        "modes, configOptions of category mode",
        "an agent's modes are its own; ours counts for what it has us do",
    ),
    words(Item::McpList, "", NO_PLACE),
    words(Item::SkillsList, "available_commands_update", NO_PLACE),
    words(Item::Tools, "", NO_PLACE),
    words(Item::Extension, "methods that begin with an underscore", "other names are refused"),
    words(Item::Attachments, "image, resource, resource_link", ""),
    words(Item::RunLifecycle, "session/prompt and its answer; _meta.parlor.run", ""),
    words(Item::RunOutcome, "stopReason, or an error", "an error has one code for everything that broke"),
    words(Item::Turn, "user_message_chunk inside a prompt", "seen where the person says more"),
    words(Item::Step, "none: where the model speaks after its calls", ""),
    words(Item::MessageText, "agent_message_chunk", ""),
    words(Item::TextDeltas, "agent_message_chunk", ""),
    words(Item::Thought, "agent_thought_chunk", ""),
    words(Item::Image, "content of type image", ""),
    words(Item::Code, "content of type resource, or fenced in a text", ""),
    words(Item::Diff, "content of type text", "fenced in a message; a call's is content of type diff"),
    words(Item::ToolLifecycle, "tool_call, tool_call_update", ""),
    words(Item::ToolProgress, "tool_call_update, _meta.terminal_output", ""),
    words(Item::ToolResult, "content and rawOutput of tool_call_update", "without its mark that it was cut"),
    words(Item::Decision, "", "seen from the status; who decided is not told"),
    words(Item::Consent, "session/request_permission", ""),
    words(Item::ConsentScope, "options of kind allow_once and allow_always", ""),
    words(Item::DenialReason, "_meta.reason, or a form", ""),
    words(Item::Confirm, "elicitation/create with one field", "without the danger"),
    words(Item::Choose, "elicitation/create with one field", ""),
    words(Item::TextAsk, "elicitation/create with one field", ""),
    words(Item::EditAsk, "elicitation/create with one field", ""),
    words(Item::AskWithdrawn, "$/cancel_request", ""),
    words(Item::Deadline, "_meta.parlor", ""),
    words(Item::QueueChanges, "", "the queue is not told"),
    words(Item::ContextLeft, "usage_update", ""),
    words(Item::Usage, "_meta.parlor of the answer to session/prompt", ""),
    words(Item::Compaction, "compaction_update", "without the sizes before"),
    words(Item::Plan, "plan", ""),
    words(Item::Retry, "notice", "a notice where the client shows such"),
    words(Item::Notice, "notice", "without its code"),
    words(Item::Notify, "notice", "kept as a word of the conversation"),
    words(Item::Status, "", NO_PLACE),
    words(Item::Working, "", NO_PLACE),
    words(Item::Widget, "", NO_PLACE),
    words(Item::Title, "session_info_update", ""),
    words(Item::EditorText, "", NO_PLACE),
    words(Item::Suggestion, "", NO_PLACE),
    words(Item::Resume, "session/load", ""),
];
