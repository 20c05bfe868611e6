//! What there is to say about each item of the vocabulary on this wire. Whether it is exact is not said here but computed.

use roles::Item;
use roles::fidelity::{Sources, Verdicts, Words};

const fn words(item: Item, wire: &'static str, why: &'static str) -> Words {
    Words { item, wire, why }
}

/// What this wire's table is made of.
pub(super) const SOURCES: Sources = Sources {
    words: WORDS,
    rest: "the wire has no word for it",
    verdicts: Verdicts(include_str!("verdicts.txt")),
    across: &[],
};

const WORDS: &[Words] = &[
    words(Item::Prompt, "say", ""),
    words(Item::Steer, "", "the hub keeps it and says it when the answer is over"),
    words(Item::FollowUp, "", "the hub keeps it and says it when the answer is over"),
    words(Item::Cancel, "stop", ""),
    words(Item::Answer, "yes, no", ""),
    words(Item::Stats, "", "counted by the hub from what it heard"),
    words(Item::RunLifecycle, "say to end", ""),
    words(Item::RunOutcome, "end", "why it ended is a sentence without a kind"),
    words(Item::Turn, "say", "every say is a turn of its own"),
    words(Item::Step, "the first word after a result", ""),
    words(Item::MessageText, "text", ""),
    words(Item::TextDeltas, "text", ""),
    words(Item::ToolLifecycle, "call, result", "the wire does not say when a call begins to run"),
    words(Item::ToolResult, "result", "its text, and whether it went well"),
    words(Item::Consent, "may_i", "without preview, risk and rule"),
    words(Item::DenialReason, "no", ""),
];
