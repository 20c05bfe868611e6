//! Inputs that wait: what they are about is with the store, or being opened, or on its way elsewhere.
//!
//! Invariants: inputs about the same session, or from the same UI, are taken in the order in which they came; what waits is bounded for
//! each UI and in bytes, and past that a command is refused. Reports wait with their room ([`Room`]), so that an engine has to wait too.

use super::Room;
use crate::core::{Concerns, CoreInput};
use domain::ids::{SessionId, UiId};
use domain::port::Kept;
use std::collections::{BTreeSet, VecDeque};
use tokio::sync::oneshot;

/// Commands of one UI that may wait; past it they are refused as too many.
pub(super) const MAX_HELD: usize = 256;
/// Bytes of all commands that wait, whatever they are; past it they are refused as too many, unless nothing else waits.
const MAX_HELD_BYTES: usize = 32 * 1024 * 1024;

/// An input with what has to be done when it is taken.
pub(super) struct Arrival {
    pub(super) input: CoreInput,
    /// Where to say whether it is kept.
    pub(super) ack: Option<oneshot::Sender<Kept>>,
    _room: Room,
}

impl Arrival {
    /// What an engine reports, with where to say what became of it.
    pub(super) fn report(input: CoreInput, ack: Option<oneshot::Sender<Kept>>, room: Room) -> Arrival {
        Arrival { input, ack, _room: room }
    }
}

impl From<CoreInput> for Arrival {
    fn from(input: CoreInput) -> Arrival {
        Arrival { input, ack: None, _room: None }
    }
}

/// Inputs that wait for the store, in the order in which they came.
#[derive(Default)]
pub(super) struct HeldInputs {
    waiting: VecDeque<(Arrival, Concerns)>,
    bytes: usize,
}

impl HeldInputs {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether something waits that this must not overtake.
    pub(super) fn touches(&self, concerns: &Concerns) -> bool {
        self.waiting.iter().any(|(_, before)| overlap(before, concerns))
    }

    /// Whether something of this UI waits.
    pub(super) fn is_from(&self, ui: UiId) -> bool {
        self.waiting.iter().any(|(_, concerns)| concerns.ui == Some(ui))
    }

    /// The sessions about which something waits.
    pub(super) fn sessions(&self) -> BTreeSet<SessionId> {
        self.waiting.iter().flat_map(|(_, concerns)| concerns.sessions.iter().cloned()).collect()
    }

    /// Lets something wait, behind what waits already; gives a command back of which too many wait.
    pub(super) fn push(&mut self, arrival: Arrival, concerns: Concerns) -> Result<(), Box<CoreInput>> {
        if let CoreInput::Command { ui, .. } = &arrival.input {
            let of_one = self.waiting.iter().filter(|(_, before)| before.ui == Some(*ui)).count();
            let bytes = weight(&arrival.input);
            if of_one >= MAX_HELD || self.bytes + bytes > MAX_HELD_BYTES && self.bytes > 0 {
                return Err(Box::new(arrival.input));
            }
            self.bytes += bytes;
        }
        self.waiting.push_back((arrival, concerns));
        Ok(())
    }

    /// Lets something wait that came before everything else.
    pub(super) fn push_first(&mut self, arrival: Arrival, concerns: Concerns) {
        self.bytes += weight(&arrival.input);
        self.waiting.push_front((arrival, concerns));
    }

    /// Looks again whom everything that waits is about: a session may have moved to another id since.
    pub(super) fn reconsider(&mut self, of: impl Fn(&CoreInput) -> Concerns) {
        for (arrival, concerns) in &mut self.waiting {
            *concerns = of(&arrival.input);
        }
    }

    /// Takes out the first that may be taken now: it is not blocked, and nothing that it must not overtake waits before it.
    pub(super) fn next(&mut self, is_blocked: impl Fn(&CoreInput, &Concerns) -> bool) -> Option<Arrival> {
        let (mut uis, mut sessions) = (BTreeSet::new(), BTreeSet::new());
        let free = self.waiting.iter().position(|(arrival, concerns)| {
            let behind = concerns.ui.is_some_and(|ui| uis.contains(&ui))
                || concerns.sessions.iter().any(|session| sessions.contains(session));
            let waits = behind || is_blocked(&arrival.input, concerns);
            if waits {
                uis.extend(concerns.ui);
                sessions.extend(&concerns.sessions);
            }
            !waits
        })?;
        let (arrival, _) = self.waiting.remove(free)?;
        self.bytes = self.bytes.saturating_sub(weight(&arrival.input));
        Some(arrival)
    }
}

/// Whether the later one must not be taken before the earlier one.
pub(super) fn overlap(before: &Concerns, after: &Concerns) -> bool {
    before.ui.is_some() && before.ui == after.ui
        || before.sessions.iter().any(|session| after.sessions.contains(session))
}

/// What a waiting command takes; what else waits takes room elsewhere ([`Room`]) or hardly any.
fn weight(input: &CoreInput) -> usize {
    match input {
        CoreInput::Command { command, .. } => size_of::<Arrival>() + command.weight(),
        CoreInput::Arrived { .. }
        | CoreInput::Apart { .. }
        | CoreInput::Answers { .. }
        | CoreInput::Rights { .. }
        | CoreInput::Files { .. }
        | CoreInput::FileDone { .. }
        | CoreInput::Servers { .. }
        | CoreInput::CannotAnswer { .. }
        | CoreInput::Keep { .. }
        | CoreInput::Left { .. }
        | CoreInput::Gone { .. }
        | CoreInput::Report(_)
        | CoreInput::Mirror { .. }
        | CoreInput::MirrorEvent { .. }
        | CoreInput::Abilities(_)
        | CoreInput::Lost
        | CoreInput::Named { .. }
        | CoreInput::Told { .. }
        | CoreInput::Answered { .. }
        | CoreInput::Deleted { .. }
        | CoreInput::VisitOver { .. }
        | CoreInput::VisitForgotten { .. }
        | CoreInput::LeaseLost { .. }
        | CoreInput::LeaseForgotten { .. }
        | CoreInput::Ending
        | CoreInput::Tick { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::command::{Command, SessionCommand, Target};
    use domain::port::Ticket;
    use domain::signal::UiContext;

    fn command(ui: u64, ticket: u64) -> Arrival {
        arrival(ui, ticket, Command::Session(SessionCommand::Stats))
    }

    fn arrival(ui: u64, ticket: u64, command: Command) -> Arrival {
        let (ui, ticket, target) = (UiId(ui), Ticket(ticket), Target::Current);
        Arrival::from(CoreInput::Command { ui, ticket, target, command })
    }

    fn about(ui: u64, session: u64) -> Concerns {
        Concerns { ui: Some(UiId(ui)), sessions: vec![SessionId::from_number(session)] }
    }

    fn ticket(arrival: Option<Arrival>) -> Option<u64> {
        match arrival?.input {
            CoreInput::Command { ticket, .. } => Some(ticket.0),
            _ => None,
        }
    }

    #[test]
    fn nothing_overtakes_what_concerns_the_same_session_or_ui() {
        let mut held = HeldInputs::default();
        // The second shares the session with the first, the third the UI with the second; the fourth shares nothing.
        for (ui, session, number) in [(1, 1, 1), (2, 1, 2), (2, 2, 3), (3, 3, 4)] {
            assert!(held.push(command(ui, number), about(ui, session)).is_ok());
        }
        let first_blocked =
            |_: &CoreInput, concerns: &Concerns| concerns.sessions[0] == SessionId::from_number(1);
        assert_eq!(ticket(held.next(first_blocked)), Some(4));
        assert_eq!(ticket(held.next(first_blocked)), None);
        let order: Vec<u64> = std::iter::from_fn(|| ticket(held.next(|_, _| false))).collect();
        assert_eq!(order, [1, 2, 3]);
    }

    #[test]
    fn nothing_overtakes_what_concerns_a_session_that_moved() {
        let mut held = HeldInputs::default();
        assert!(held.push(command(1, 1), about(1, 1)).is_ok());
        assert!(!held.touches(&about(2, 2)));
        held.reconsider(|_| about(1, 2));
        assert!(held.touches(&about(2, 2)), "it stands under the second id now");
        assert!(!held.touches(&about(2, 1)));
    }

    #[test]
    fn so_many_commands_of_one_ui_wait_and_no_more() {
        let mut held = HeldInputs::default();
        for number in 0..MAX_HELD as u64 {
            assert!(held.push(command(1, number), about(1, 1)).is_ok());
        }
        assert!(held.push(command(1, 0), about(1, 1)).is_err());
        assert!(held.push(command(2, 0), about(2, 1)).is_ok(), "another UI may wait as well");
        let leaves = Concerns { ui: Some(UiId(1)), sessions: Vec::new() };
        assert!(held.push(CoreInput::Left { ui: UiId(1) }.into(), leaves).is_ok(), "who leaves is not lost");
    }

    #[test]
    fn so_many_bytes_wait_and_no_more_whatever_the_commands_are() {
        const LARGE: usize = MAX_HELD_BYTES / 4;
        let text = || "x".repeat(LARGE);
        let rename = || Command::Session(SessionCommand::Rename { title: text() });
        let context = || Command::UpdateContext(UiContext { notes: vec![text()], ..UiContext::default() });
        let mut held = HeldInputs::default();
        // Of different UIs and about different sessions: the bound is for all together.
        for (number, command) in [(1, rename()), (2, context()), (3, rename())] {
            assert!(held.push(arrival(number, number, command), about(number, number)).is_ok());
        }
        assert!(held.push(arrival(4, 4, context()), about(4, 4)).is_err(), "{} bytes wait", held.bytes);
        assert!(held.push(command(4, 5), about(4, 4)).is_ok(), "there is room for a small one");
        assert_eq!(ticket(held.next(|_, _| false)), Some(1));
        assert!(held.push(arrival(4, 6, context()), about(4, 4)).is_ok(), "there is room again");
        while held.next(|_, _| false).is_some() {}
        assert_eq!(held.bytes, 0);
        let huge = Command::Session(SessionCommand::Rename { title: "x".repeat(MAX_HELD_BYTES + 1) });
        assert!(held.push(arrival(1, 7, huge), about(1, 1)).is_ok(), "alone it may wait");
        assert!(held.push(command(2, 8), about(2, 2)).is_err());
        let first = arrival(3, 9, rename());
        held.push_first(first, about(3, 3));
        assert!(held.bytes > MAX_HELD_BYTES + LARGE, "what came first is counted as well");
    }
}
