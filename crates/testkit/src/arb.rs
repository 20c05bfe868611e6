//! proptest strategies for every noun of the vocabulary. They make any value there is, not grammatical streams of them.

mod ask;
mod command;
mod content;
mod event;
mod receipt;
mod session;

pub use ask::{answer, ask, ask_kind, closing, consent};
pub use command::{command, target};
pub use content::{input, json, part, role, text, text_kind, usage};
pub use event::{body, compaction, event, finish, outcome, tool_result};
pub use receipt::{receipt, refusal, settlement};
pub use session::{
    abilities, board, budget, effort, level, member, mode, model_ref, origin, policy, queue_kind, session_id,
    session_summary, signal, ui_context,
};

use proptest::prelude::*;

/// Numbers that ids and times are made of; large ones too.
pub fn number() -> BoxedStrategy<u64> {
    prop_oneof![4 => 0..1000u64, 1 => any::<u64>()].boxed()
}

/// One of a few values.
fn one_of<T: Clone + std::fmt::Debug + 'static>(values: &'static [T]) -> BoxedStrategy<T> {
    proptest::sample::select(values).boxed()
}

fn maybe<T: std::fmt::Debug + 'static>(
    value: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Option<T>> {
    proptest::option::of(value).boxed()
}

fn up_to_three<T: std::fmt::Debug + 'static>(
    value: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Vec<T>> {
    proptest::collection::vec(value, 0..4).boxed()
}
