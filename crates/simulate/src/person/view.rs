//! The sessions as one UI knows them: it folds what it is told, and can say with a hash what it knows.

use crate::checks::Checks;
use crate::database::Database;
use crate::line::Heard;
use domain::ids::{Seq, SessionId};
use domain::state::State;
use native::wire::Cursor;
use std::collections::BTreeMap;

/// See the module.
#[derive(Clone, Default)]
pub(super) struct Views(BTreeMap<SessionId, View>);

#[derive(Clone, Default)]
struct View {
    state: State,
    unsaved: bool,
}

impl Views {
    /// What is known of a session, if it was ever shown.
    pub(super) fn of(&self, session: &SessionId) -> Option<&State> {
        self.0.get(session).map(|view| &view.state)
    }

    /// Whether it was told that what happens there is not saved.
    pub(super) fn is_unsaved(&self, session: &SessionId) -> bool {
        self.0.get(session).is_some_and(|view| view.unsaved)
    }

    /// From where the UI can go on, with the proof of what it knows.
    pub(super) fn cursor(&self, session: &SessionId) -> Option<Cursor> {
        let state = self.of(session)?;
        Some(Cursor { session: session.clone(), seq: state.seq, hash: Some(state.hash().to_string()) })
    }

    /// Holds what a process tells, and was taken in, against what is kept.
    pub(super) fn compares(
        &self,
        who: &str,
        heard: &Heard,
        database: &Database,
        checks: &mut Checks,
    ) -> Result<(), String> {
        let (session, at) = match heard {
            Heard::Happened(session, event) => {
                let kept = database.kept(session);
                if self.is_unsaved(session) {
                    return Ok(());
                }
                return checks.told(who, event, kept);
            }
            Heard::Attached { session, .. } => (session, self.0.get(session).map(|view| view.state.seq)),
            Heard::Hash(at) => (&at.session, Some(at.seq)),
            _ => return Ok(()),
        };
        let (Some(at), Some(view)) = (at, self.0.get(session)) else { return Ok(()) };
        let kept = database.kept(session).and_then(|kept| kept.hash_at(at));
        match kept {
            Some(kept) if !view.unsaved && view.state.seq == at && kept != view.state.hash() => {
                Err(format!("law 9: at event {} of {session} {who} sees another state than is kept", at.0))
            }
            _ => Ok(()),
        }
    }

    /// Takes in what has come.
    pub(super) fn sees(&mut self, who: &str, heard: &Heard) -> Result<(), String> {
        match heard {
            Heard::Attached { session, replay, at, unsaved } => {
                let view = self.0.entry(session.clone()).or_default();
                view.unsaved = *unsaved;
                if let Some(replay) = replay {
                    view.state = State::new();
                    for (at, body) in replay {
                        let applied = view.state.apply(*at, body);
                        applied.map_err(|why| format!("law 9: {who} cannot fold a replay: {why:?}"))?;
                    }
                    if let Some(at) = at {
                        view.state.seq = at.seq;
                    }
                }
                is_as_told(who, &view.state, at.as_ref())
            }
            Heard::Detached(session) => {
                self.0.remove(session);
                Ok(())
            }
            Heard::Unsaved(session, unsaved) => {
                self.0.entry(session.clone()).or_default().unsaved = *unsaved;
                Ok(())
            }
            Heard::Happened(session, event) => {
                let Some(view) = self.0.get_mut(session) else { return Ok(()) };
                if event.seq <= view.state.seq {
                    let (seq, last) = (event.seq.0, view.state.seq.0);
                    return Err(format!("no seq twice: {who} is told event {seq} of {session} after {last}"));
                }
                let followed = view.state.follow(event);
                followed.map_err(|why| format!("{who} cannot fold event {}: {why:?}", event.seq.0))
            }
            Heard::Hash(at) => match self.0.get(&at.session).filter(|view| view.state.seq == at.seq) {
                Some(view) => is_as_told(who, &view.state, Some(at)),
                None => Ok(()),
            },
            Heard::Settled(..) | Heard::Refused | Heard::Nothing => Ok(()),
        }
    }
}

/// Whether a state is the one that a process says it is.
fn is_as_told(who: &str, state: &State, told: Option<&Cursor>) -> Result<(), String> {
    let Some(told) = told else { return Ok(()) };
    let hash = state.hash().to_string();
    if told.seq == state.seq && told.hash.as_ref().is_none_or(|told| *told == hash) {
        return Ok(());
    }
    let Seq(at) = told.seq;
    Err(format!("law 9: at event {at} {who} sees another state than its process: {hash} at {}", state.seq.0))
}
