//! The core's names of messages that were just said. Its events give a message another id than the one that it keeps it under, and no
//! run of ours tells them: a name is found by what the person said, from the newest message on.
//!
//! What it is not: a list of names, which the canon keeps. Invariant: a name that is found is that of a message with the same words.

use crate::wire::MessageEntry;
use domain::content::Role;
use domain::ids::EntryId;
use domain::state::{EntryKind, Message, State};

/// The core's name of a message on the way to the leaf; `None` for one that it has not kept.
pub(super) fn of(state: &State, entry: EntryId, kept: &[MessageEntry]) -> Option<String> {
    let said: Vec<(EntryId, &Message)> = state
        .path()
        .into_iter()
        .filter_map(|entry| match &entry.kind {
            EntryKind::Message(message) => Some((entry.id, message)),
            EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
        })
        .collect();
    let at = said.iter().position(|(id, _)| *id == entry)?;
    let is_prompt = |message: &Message| message.role == Role::User;
    // A turn is what the person said and all that was answered.
    let turn = said[..=at].iter().rposition(|(_, message)| is_prompt(message))?;
    let mut newest = kept.len();
    for (of, (_, message)) in said.iter().enumerate().rev().filter(|(_, (_, message))| is_prompt(message)) {
        let same = |entry: &MessageEntry| entry.role == "user" && entry.text.trim() == message.text().trim();
        let Some(found) = kept[..newest].iter().rposition(same) else {
            // The core keeps no turn that was stopped or failed.
            if of == turn {
                return None;
            }
            continue;
        };
        if of == turn {
            let answers = kept[found + 1..newest].iter().take_while(|entry| entry.role != "user");
            let of_turn = if turn == at { Some(&kept[found]) } else { answers.last() };
            return of_turn.map(|entry| entry.id.clone());
        }
        newest = found;
    }
    None
}
