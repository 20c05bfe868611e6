//! Where asst's programs differ from asst's document, and what we do. Each has a test of the same name in `tests/quirks.rs`.

use roles::fidelity::Quirk;

const fn quirk(name: &'static str, what: &'static str, ours: &'static str) -> Quirk {
    Quirk { name, what, ours }
}

/// Where the existing programs of this wire leave its document.
pub const QUIRKS: &[Quirk] = &[
    quirk(
        "two_sets_of_names",
        "the document writes toolId, toolName, input; the programs tool_use_id, tool_name, tool_input, and the shell breaks without them",
        "both are sent, both are read",
    ),
    quirk(
        "tool_ids_hold_the_request",
        "the shell shows a tool only if its id contains the id of the message",
        "our tool ids begin with it",
    ),
    quirk(
        "ready_is_said_again",
        "the shell may begin to listen after ready was said, and then waits for ever",
        "ready comes at once, and again after 1, 3, 7 and 15 seconds unless a request came",
    ),
    quirk(
        "images_in_a_string",
        "the shell sends pictures as a string of JSON that no document names; larger than 5 MB is refused, nonsense is left out",
        "the same; a plain list is taken too",
    ),
    quirk(
        "every_request_is_answered",
        "the runtime is silent about empty messages, get_status, unknown kinds and missing ids",
        "done or error for each, with an empty id when there is none",
    ),
    quirk(
        "failed_tools_are_results",
        "the document wants an error response for a failed tool, which would end the request; the runtime sends a result with an error",
        "a result with error, and the same inside result, where the shell looks for it",
    ),
    quirk(
        "empty_results_are_filled",
        "the shell shows an empty result as a tool that still runs",
        "(no output)",
    ),
    quirk(
        "results_are_objects",
        "the runtime's tools answer with lists of files, or objects with content or stdout",
        "as a UI they are shown as names, lines and text; the value goes along",
    ),
    quirk(
        "messages_do_not_mix",
        "the runtime works on several messages at once over one history and mixes them",
        "one after the other; each response carries the id of its own request",
    ),
    quirk(
        "numbers_as_ids",
        "the runtime repeats whatever id it got; the document wants strings",
        "a number is repeated as it came",
    ),
    quirk(
        "errors_without_an_id",
        "the runtime answers what it cannot read with an error without an id",
        "as a runtime the id is empty; as a UI such an error ends the message under way",
    ),
    quirk(
        "silence_is_survived",
        "the runtime may never answer",
        "as a UI other requests are given up after 10 seconds, a message after three minutes without a word, or the time that give_up_after_s in the settings names",
    ),
];
