//! What the UI knows of the runtime: the sessions it has seen, each as the fold of its events, and which one is current.

use crate::thread::Thread;
use domain::event::Event;
use domain::ids::{Millis, SessionId};
use domain::port::{Abilities, LinkState};
use domain::session::ModelRef;
use domain::signal::Board;
use domain::state::State;
use std::collections::BTreeMap;

/// Sessions kept folded; the one that was left longest ago goes first.
pub(crate) const MAX_SEEN: usize = 16;

/// One session as this UI sees it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionView {
    pub(crate) state: State,
    /// The cells of its active path.
    pub(crate) thread: Thread,
    /// Its lasting signals.
    pub(crate) board: Board,
    /// What the runtime behind it can do.
    pub(crate) abilities: Abilities,
    /// Whether something happened while it was not the current one.
    pub(crate) unread: bool,
    /// What the person had begun to type.
    pub(crate) draft: String,
    /// When it was last the current one.
    pub(crate) looked_at: Millis,
}

impl SessionView {
    /// The model that is chosen, or the one that answered last, or the one that would.
    pub(crate) fn model(&self) -> Option<&ModelRef> {
        let steps = self.state.runs.iter().rev().flat_map(|run| run.turns.iter().rev());
        let answered = || steps.flat_map(|turn| turn.steps.iter().rev()).find_map(|step| step.model.as_ref());
        self.state.settings.model.as_ref().or_else(answered).or(self.abilities.model.as_ref())
    }

    /// The same as its runtime names it to people; else by its id, with its provider.
    pub(crate) fn model_name(&self) -> Option<String> {
        self.model().map(|model| self.named(model).unwrap_or_else(|| model.to_string()))
    }

    /// What the runtime calls a model, where it says so.
    pub(crate) fn named(&self, model: &ModelRef) -> Option<String> {
        self.abilities.menu.model(model).map(|choice| choice.name.clone())
    }
}

/// Everything that came from the runtime.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) sessions: BTreeMap<SessionId, SessionView>,
    /// The one on the screen.
    pub(crate) current: Option<SessionId>,
    /// How the way to the runtime is.
    pub(crate) link: LinkState,
    /// Stands in before the first session comes.
    none: SessionView,
}

impl Default for World {
    fn default() -> World {
        let none = SessionView { abilities: Abilities::untold(), ..SessionView::default() };
        let sessions = BTreeMap::new();
        World { sessions, current: None, link: LinkState::Connecting, none }
    }
}

impl World {
    /// The session on the screen, or an empty one.
    pub(crate) fn seen(&self) -> &SessionView {
        self.current.as_ref().and_then(|id| self.sessions.get(id)).unwrap_or(&self.none)
    }

    /// The session on the screen, to change.
    pub(crate) fn seen_mut(&mut self) -> &mut SessionView {
        match self.current.as_ref().and_then(|id| self.sessions.get_mut(id)) {
            Some(seen) => seen,
            None => &mut self.none,
        }
    }

    /// The state of the session on the screen.
    pub(crate) fn state(&self) -> &State {
        &self.seen().state
    }

    /// Whether a run is under way on the screen.
    pub(crate) fn is_running(&self) -> bool {
        self.state().open_run().is_some()
    }

    /// Takes an event in; `false` when it does not fit what is known (a gap, or an unknown session).
    pub(crate) fn happened(&mut self, session: &SessionId, event: &Event) -> bool {
        let is_current = self.current.as_ref() == Some(session);
        let Some(seen) = self.sessions.get_mut(session) else { return false };
        if event.seq <= seen.state.seq {
            return true;
        }
        if seen.state.apply(event.at, &event.body).is_err() {
            return false;
        }
        seen.state.seq = event.seq;
        seen.thread.follow(&seen.state, &event.body);
        seen.unread |= !is_current;
        true
    }

    /// Forgets sessions beyond [`MAX_SEEN`].
    pub(crate) fn trim(&mut self) {
        while self.sessions.len() > MAX_SEEN {
            let idle = self.sessions.iter().filter(|(id, seen)| {
                Some(*id) != self.current.as_ref() && seen.draft.is_empty() && seen.state.open_run().is_none()
            });
            let Some(oldest) = idle.min_by_key(|(_, seen)| seen.looked_at).map(|(id, _)| id.clone()) else {
                return;
            };
            self.sessions.remove(&oldest);
        }
    }
}
