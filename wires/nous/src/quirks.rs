//! Where nous's programs differ from nous's documents, and what we do. Each has a test of the same name in `tests/quirks.rs`.

use roles::fidelity::Quirk;

const fn quirk(name: &'static str, what: &'static str, ours: &'static str) -> Quirk {
    Quirk { name, what, ours }
}

/// Where the existing programs of this wire leave its document.
pub const QUIRKS: &[Quirk] = &[
    quirk(
        "subscribes_after_the_answer",
        "corectl connects to the event socket only after the prompt was accepted, and loses a quick run",
        "for 300 ms the events of a new run are kept for a new subscriber: while it runs, and also after its end unless somebody subscribed for it; who has listened for longer does not count",
    ),
    quirk(
        "finished_runs_stay_past",
        "the terminal UI locks on the first run that it hears of",
        "a run that nobody heard is dropped when the next begins; subscribers hear only what happens from then on",
    ),
    quirk(
        "decode_errors_lose_the_id",
        "the core answers what it cannot read with an empty id",
        "so do we; as a UI an answer without an id settles the oldest command",
    ),
    quirk(
        "version_is_a_string",
        "the document writes v=1; the core takes the string \"1\" only, or none",
        "the same; the number 1 is refused",
    ),
    quirk(
        "keys_of_any_case",
        "the core reads envelope keys in any case, and blanks around the line",
        "so do we",
    ),
    quirk(
        "messages_without_an_end",
        "the core sends no message_end for a failed or aborted answer",
        "we always send it; as a UI the canon supplies it",
    ),
    quirk(
        "tool_results_twice",
        "the core repeats every tool result as text of the message",
        "we do not; as a UI the repetition is recognised and left out",
    ),
    quirk(
        "waiting_runs_are_invisible",
        "a run with wait:true cannot be seen, steered or aborted",
        "with us it can",
    ),
    quirk(
        "unknown_leaf",
        "the core takes an unknown leaf_id and shows everything, or hangs the prompt in the air",
        "command_rejected leaf_not_found",
    ),
    quirk("branch_parent_alias", "branch_session also takes parent_id", "so do we"),
    quirk(
        "no_handshake",
        "clients connect and close without a word to see whether the core is there",
        "harmless with us too",
    ),
];
