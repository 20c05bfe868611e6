//! Where the existing lemon programs leave their own document, and what we do. Each has a test of the same name.

use roles::fidelity::Quirk;

/// The deviations.
pub const QUIRKS: &[Quirk] = &[
    Quirk {
        name: "tuples_without_data",
        what: "the server leaves `data` out of events that carry nothing, where the document has an empty array",
        ours: "we send the empty array and read both",
    },
    Quirk {
        name: "no_end_after_cancel",
        what: "after an abort the server says `canceled` and no `agent_end`, after a failure `error` alone; its clients then refuse prompts for ever",
        ours: "we always send `agent_end`, after either; we take either as the end and pass over what comes second",
    },
    Quirk {
        name: "warning_not_warn",
        what: "clients know the level `warning`; the document's `warn` is shown as plain information",
        ours: "we send `warning` (`warn` with --compat seed) and read both",
    },
    Quirk {
        name: "log_lines_on_stdout",
        what: "log text and empty lines stand between the server's lines",
        ours: "we pass over what is no JSON and count it; our own stdout carries the protocol only",
    },
    Quirk {
        name: "reasons_as_arrays",
        what: "the reason of an `error` event is often an array of a word and a text, where the document has a string",
        ours: "we send a string and read both",
    },
    Quirk {
        name: "plain_text_prompts",
        what: "the server takes a line that is not JSON as a prompt",
        ours: "we too, unless it begins like an object: broken JSON is an unknown command and never reaches the model",
    },
    Quirk {
        name: "two_namespaces",
        what: "`__struct__` has one of two prefixes, by the age of the server",
        ours: "we send the document's and read neither",
    },
    Quirk {
        name: "one_session_from_the_start",
        what: "the later server starts without a session, which the first clients cannot deal with; the first server has no ids, which the later clients cannot deal with",
        ours: "we start with one session, name it in `ready` and in every event, and start one where the server has none",
    },
    Quirk {
        name: "stays_silent",
        what: "`reset` is never answered, `save` only by later servers",
        ours: "we answer `save` with `save_result`; without an answer we take silence for done",
    },
    Quirk {
        name: "answers_that_cancel",
        what: "a closed overlay gives null and no error, or null and a word, and for a confirm false",
        ours: "all count as no answer, or as no; none ever allows anything. Ours sends null and null, as the document says",
    },
    Quirk {
        name: "unknown_answers",
        what: "an answer to a question that is over is logged to stdout",
        ours: "we log it to stderr and ignore it",
    },
    Quirk {
        name: "reset_keeps_the_id",
        what: "after `reset` the server's session has another id inside, and its events are lost",
        ours: "the session keeps its id",
    },
    Quirk {
        name: "lines_of_64_kb",
        what: "the Python client stops hearing at the first line of 64 KB",
        ours: "`turn_end`, `agent_end` and lists carry what fits into 60 KB; long results and arguments of tools are cut in the middle",
    },
    Quirk {
        name: "breaks_on_select",
        what: "the Python client stops for good when it is asked to select, and says yes to every confirm without its person",
        ours: "it is recognised by how it writes `prompt` and `ui_response`, to the letter, told so, and asked nothing: what needs a yes is denied, and a yes of its own does not count; `--option asked=always` asks all the same",
    },
    Quirk {
        name: "asks_before_it_begins",
        what: "questions and events come from two processes of the server, so a question may come before the `agent_start` of its run",
        ours: "a question that comes while our prompt waits begins its run; who cancels answers every open question first",
    },
    Quirk {
        name: "signal_after_quit",
        what: "one client sends a signal a second after `quit`, and hits its new runtime when the old one is gone by then",
        ours: "after `quit` we stay for 1.5 s, or until the client closes our input",
    },
    Quirk {
        name: "known_before_active",
        what: "the later server makes a session active before it says that it is there; its client then shows that it is not found",
        ours: "`session_started` first, then `active_session`; nothing is said of a session before",
    },
    Quirk {
        name: "past_is_told",
        what: "a resumed session is known to the model, and its client shows nothing of it",
        ours: "its messages are told once more, as one run, before anything else; `history` in `ready` or `session_started` announces it",
    },
    Quirk {
        name: "message_twice",
        what: "`message_update` carries the whole message twice",
        ours: "once; what changed stands in the second element without it",
    },
];
