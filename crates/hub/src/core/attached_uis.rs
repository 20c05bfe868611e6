//! Who is attached and what each may do.

use super::{Core, CoreEffect, CoreInput, Live, Ui};
use domain::command::{Command, Refusal, RefusalKind, RunCommand, SessionCommand, ShellCommand};
use domain::ids::{AskId, SessionId, UiId};
use domain::port::Ticket;
use domain::signal::{Level, Signal};

impl Core {
    /// Whether the UI may give this command.
    pub(super) fn check_standing(&self, ui: UiId, command: &Command) -> Result<(), Refusal> {
        let Some(seat) = self.uis.get(&ui) else {
            return Err(Refusal::new(RefusalKind::NotAllowed, "this UI is not attached"));
        };
        if seat.fleet_only {
            let refusal =
                Refusal::new(RefusalKind::NotAllowed, "this link only watches which sessions are open");
            return Err(refusal.hint("give commands over a link of their own"));
        }
        seat.standing.may(command)
    }

    /// A command line is run for whoever could have said yes to it, and for nobody else.
    pub(super) fn check_person(&self, ui: UiId, command: &ShellCommand) -> Result<(), Refusal> {
        let runs = matches!(command, ShellCommand::Run { .. } | ShellCommand::Start { .. });
        if !runs || self.uis.get(&ui).is_some_and(|seat| seat.answers.consent) {
            return Ok(());
        }
        let refusal = Refusal::new(RefusalKind::NotAllowed, "nobody at this UI can be asked what may run");
        Err(refusal.hint("use one that answers whether a tool may run"))
    }

    /// Does a command in a session; the others there hear who did it, where the session alone would not say so.
    pub(super) fn in_session_aloud(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: SessionId,
        command: Command,
    ) -> Result<(), Refusal> {
        // What a runtime behind us decides is told when it has.
        let ours = !self.setup.engine.decides(&command, &self.abilities);
        let stops = |live: &Live| live.state.open_run().is_some() && live.cancel_by.is_none();
        let done = done(&command).filter(|_| ours).filter(|_| {
            let is_stop = matches!(command, Command::Run(RunCommand::Cancel { .. }));
            !is_stop || self.sessions.get(&session).is_some_and(stops)
        });
        self.in_session(ui, ticket, session.clone(), command)?;
        if let Some(done) = done {
            self.tell_others(ui, &session, done);
        }
        Ok(())
    }

    /// Tells everybody else who sees the session what this UI did there.
    pub(super) fn tell_others(&mut self, ui: UiId, session: &SessionId, done: &str) {
        let Some(by) = self.name_of(ui) else { return };
        let text = format!("The {done} by {by}.");
        let others = self.uis.iter().filter(|(other, seat)| **other != ui && seat.seen.contains(session));
        let tell = others.map(|(other, _)| CoreEffect::Signal {
            ui: *other,
            session: session.clone(),
            signal: Signal::Notify { level: Level::Info, text: text.clone() },
        });
        self.out.extend(tell);
    }

    /// The UI's name, for the record.
    pub(super) fn name_of(&self, ui: UiId) -> Option<String> {
        self.uis.get(&ui).map(|seat| seat.name.clone())
    }

    /// Lets a UI see a session and work there.
    pub(super) fn attach(&mut self, ui: UiId, session: &SessionId) {
        let Some(seat) = self.uis.get_mut(&ui).filter(|seat| !seat.fleet_only) else { return };
        let moved = seat.current.as_ref() != Some(session);
        seat.current = Some(session.clone());
        let new = seat.seen.insert(session.clone());
        if let Some(live) = self.sessions.get_mut(session) {
            live.is_closing = false;
        }
        if new || moved {
            self.out.push(CoreEffect::Attach { ui, session: session.clone() });
        }
    }

    /// Takes a session out of sight of a UI.
    pub(super) fn detach(&mut self, ui: UiId, session: &SessionId) {
        let Some(seat) = self.uis.get_mut(&ui) else { return };
        if seat.current.as_ref() == Some(session) {
            seat.current = None;
        }
        if seat.seen.remove(session) {
            self.out.push(CoreEffect::Detach { ui, session: session.clone() });
        }
        self.withdraw_offers(ui, Some(session));
        self.withdraw_files(ui, Some(session));
    }

    /// A UI is there. In front of a foreign runtime there is one conversation, and everybody sees it.
    pub(super) fn arrived(&mut self, ui: UiId, seat: Ui) {
        self.uis.insert(ui, seat);
        if let Some(runtime_session) = self.runtime_session.clone() {
            self.attach(ui, &runtime_session);
        } else if self.has_told {
            // With a session it would be told with that.
            self.out.push(CoreEffect::Abilities { ui });
        }
    }

    /// A UI is gone: nothing is owed to it any more, and asks that only it could answer close.
    pub(super) fn left(&mut self, ui: UiId) {
        self.uis.remove(&ui);
        self.withdraw_offers(ui, None);
        self.withdraw_files(ui, None);
        self.consulted.retain(|_, consulted| consulted.ui != ui);
        self.parked.retain(|input| !matches!(input, CoreInput::Command { ui: of, .. } if *of == ui));
        let sessions: Vec<SessionId> = self.sessions.keys().cloned().collect();
        for session in sessions {
            self.unattended(&session);
        }
    }

    /// A UI is gone and will not come back: nobody would see what its runs still do. A question stays open for who opens the session
    /// next.
    pub(super) fn gone(&mut self, ui: UiId) {
        let seen = self.uis.get(&ui).map(|seat| seat.seen.clone()).unwrap_or_default();
        self.left(ui);
        for session in seen {
            let asks = self.sessions.get(&session).is_some_and(|live| !live.state.asks.is_empty());
            if !asks && self.wanted_alone(&session, ui) {
                self.abandon(&session);
            }
        }
    }

    /// Whether nobody sees the session any more and this UI began what runs there. Who sees one of another process is not known here.
    pub(super) fn wanted_alone(&self, session: &SessionId, ui: UiId) -> bool {
        let began = self.sessions.get(session).is_some_and(|live| live.prompter == Some(ui));
        began && !self.watched(session) && !self.is_visited(session)
    }

    /// Whether this UI is still due something that comes by itself: the answer to a command, or more of a run that waits for nobody.
    pub(crate) fn is_due_more(&self, ui: UiId) -> bool {
        let goes_on = |session: &SessionId| {
            let state = self.sessions.get(session).map(|live| &live.state);
            state.is_some_and(|state| state.open_run().is_some() && state.asks.is_empty())
        };
        let waits = |input: &CoreInput| matches!(input, CoreInput::Command { ui: of, .. } if *of == ui);
        self.consulted.values().any(|consulted| consulted.ui == ui)
            || self.parked.iter().any(waits)
            || self.pending.values().any(|pending| pending.ui == ui)
            || self.uis.get(&ui).is_some_and(|seat| seat.seen.iter().any(goes_on))
    }

    /// Whether somebody who sees the session could answer such an ask.
    pub(super) fn attended(&self, session: &SessionId, consent: bool) -> bool {
        self.able(session, consent).next().is_some()
    }

    /// Those who see the session and could answer such an ask.
    pub(super) fn able(&self, session: &SessionId, consent: bool) -> impl Iterator<Item = &Ui> {
        let can = move |seat: &&Ui| seat.answers.can(consent) && seat.standing.is_asked(consent);
        self.uis.values().filter(can).filter(|seat| seat.seen.contains(session))
    }

    /// Whether anybody who sees the session can answer this ask.
    pub(super) fn is_asked(&self, session: &SessionId, consent: bool, ask: AskId) -> bool {
        let about = (session.clone(), ask);
        self.able(session, consent).any(|seat| !seat.unanswerable.contains(&about))
    }

    /// Whether somebody sees the session whom such an ask is for, whatever their UI can show. Who only looks on is not waited for, and
    /// neither does their coming or leaving end a question.
    pub(super) fn is_overseen(&self, session: &SessionId, consent: bool) -> bool {
        self.uis.values().any(|seat| seat.seen.contains(session) && seat.standing.is_asked(consent))
    }

    /// Whether anybody sees the session at all.
    pub(super) fn watched(&self, session: &SessionId) -> bool {
        self.uis.values().any(|seat| seat.seen.contains(session))
    }
}

/// What a command does that others would see without knowing whose doing it is.
pub(super) fn done(command: &Command) -> Option<&'static str> {
    match command {
        Command::Session(SessionCommand::Clear) => Some("conversation was emptied"),
        Command::Session(SessionCommand::SetLeaf { .. }) => Some("conversation was set back"),
        Command::Run(RunCommand::Cancel { .. }) => Some("run was stopped"),
        _ => None,
    }
}
