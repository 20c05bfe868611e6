//! The past of a session for a client that comes to it: clients show what they are told and nothing else, so its messages are told once
//! more, as one run that is over at once.

use super::super::lower;
use super::super::wire::event::Event;
use super::super::wire::message::Message;
use super::telling::{Telling, weight, whole_message};
use domain::content::Role;
use domain::state::{EntryKind, State};
use roles::RuntimeCx;

/// Most messages of the past that are told: the newest.
const MAX_MESSAGES: usize = 400;
/// Most text of them.
const MAX_TEXT: usize = 512 * 1024;

impl Telling {
    /// Tells the messages of all runs that are over; `false` when there are none.
    pub(super) fn tell_past(&mut self, cx: &mut RuntimeCx<'_>, state: &State) -> bool {
        let path = state.path_to(state.leaf);
        let open = state.open_run().map(|run| run.id);
        let over = path.iter().rev().filter_map(|entry| match &entry.kind {
            EntryKind::Message(message) if message.role != Role::System => Some(message),
            EntryKind::Message(_) | EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
        });
        let over =
            over.filter(|message| message.finish.is_some() && (message.run.is_none() || message.run != open));
        let mut room = MAX_TEXT;
        let fits = over.take(MAX_MESSAGES).take_while(|message| {
            let size = message.parts.iter().map(weight).sum::<usize>();
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        });
        let mut newest_first: Vec<_> = fits.collect();
        newest_first.reverse();
        if newest_first.is_empty() {
            return false;
        }
        self.say(cx, Event::AgentStart([]));
        for message in newest_first {
            let results = message.tools().filter_map(|id| state.tool(id)).filter_map(lower::tool_message);
            for whole in whole_message(state, message.id).into_iter().chain(results.map(Message::Tool)) {
                self.say_whole(cx, whole);
            }
        }
        self.say(cx, Event::AgentEnd((Vec::new(),)));
        true
    }
}
