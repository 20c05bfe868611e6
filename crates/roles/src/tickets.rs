//! Commands that are under way, and what each of them was for.
//!
//! Invariants: a ticket is given once; what waits under it is handed back once. Keeps no bound: a role refuses before it asks, with
//! the words of its wire.

use crate::context::RuntimeCx;
use domain::command::{Command, Target};
use domain::port::Ticket;
use std::collections::BTreeMap;

/// What waits for settlements, by ticket.
#[derive(Debug)]
pub struct Tickets<P> {
    waiting: BTreeMap<Ticket, P>,
    last: u64,
}

impl<P> Default for Tickets<P> {
    fn default() -> Tickets<P> {
        Tickets { waiting: BTreeMap::new(), last: 0 }
    }
}

impl<P> Tickets<P> {
    /// A ticket that was never used before, under which `what` is found again.
    pub fn issue(&mut self, what: P) -> Ticket {
        self.last += 1;
        let ticket = Ticket(self.last);
        self.waiting.insert(ticket, what);
        ticket
    }

    /// Hands a command to the hub; `what` waits for its settlement.
    pub fn command(&mut self, cx: &mut RuntimeCx<'_>, target: Target, command: Command, what: P) -> Ticket {
        let ticket = self.issue(what);
        cx.command(ticket, target, command);
        ticket
    }

    /// What waited under a ticket that is settled.
    pub fn take(&mut self, ticket: Ticket) -> Option<P> {
        self.waiting.remove(&ticket)
    }

    /// What waited for a receipt of the hub; one that nobody waits for is logged.
    pub fn settled(&mut self, cx: &mut RuntimeCx<'_>, ticket: Ticket) -> Option<P> {
        let waited = self.take(ticket);
        if waited.is_none() {
            cx.log(format!("ignored: a receipt for ticket {}, which nobody waits for", ticket.0));
        }
        waited
    }

    /// What waits under a ticket.
    pub fn get_mut(&mut self, ticket: Ticket) -> Option<&mut P> {
        self.waiting.get_mut(&ticket)
    }

    /// All that waits, oldest first.
    pub fn values(&self) -> impl Iterator<Item = &P> {
        self.waiting.values()
    }

    /// All that waits, oldest first, for a link that is gone.
    pub fn drain(&mut self) -> impl Iterator<Item = P> + use<P> {
        std::mem::take(&mut self.waiting).into_values()
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_given_once_and_settled_once() {
        let mut tickets = Tickets::default();
        let (first, second) = (tickets.issue('a'), tickets.issue('b'));
        assert_ne!(first, second);
        assert_eq!(tickets.take(first), Some('a'));
        assert_eq!(tickets.take(first), None);
        assert_ne!(tickets.issue('c'), first);
        assert_eq!(tickets.drain().collect::<Vec<_>>(), ['b', 'c']);
        assert!(tickets.is_empty());
        assert!(tickets.issue('d') > second);
    }

    #[test]
    fn a_receipt_that_nobody_waits_for_is_logged() {
        let mut tickets = Tickets::<()>::default();
        let mut effects = Vec::new();
        let mut cx = RuntimeCx { now: domain::ids::Millis(0), effects: &mut effects };
        assert_eq!(tickets.settled(&mut cx, Ticket(7)), None);
        assert_eq!(effects.len(), 1, "{effects:?}");
    }
}
