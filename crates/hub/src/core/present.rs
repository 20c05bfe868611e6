//! Who is here: the live sessions and the UIs attached to them, for those who only want to look.

use super::{Core, Standing};
use domain::fleet::Member;
use domain::ids::{SessionId, UiId};

/// A session that is open in this hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveSession {
    pub id: SessionId,
    /// Its title, or the beginning of the first prompt.
    pub title: String,
    /// Where its agent works.
    pub cwd: String,
    /// Whether a run is under way.
    pub running: bool,
    /// Questions that wait for an answer.
    pub asks: usize,
    pub uis: Vec<AttachedUi>,
}

/// A UI that sees a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedUi {
    /// What it is called in the record, such as its wire.
    pub name: String,
    /// What it may do, where that is known here.
    pub standing: Option<Standing>,
}

impl Core {
    /// The ids of all sessions in memory.
    pub fn open_sessions(&self) -> impl Iterator<Item = &SessionId> {
        self.sessions.keys()
    }

    /// The sessions that are open, each with who sees it.
    pub fn present(&self) -> Vec<LiveSession> {
        let told = |ui: &super::Ui| AttachedUi {
            name: ui.name.clone(),
            standing: (!ui.is_held_elsewhere).then_some(ui.standing),
        };
        let session = |id: &SessionId| {
            let live = self.sessions.get(id)?;
            let uis = self.uis.values().filter(|ui| ui.seen.contains(id));
            Some(LiveSession {
                id: id.clone(),
                title: live.state.title(),
                cwd: live.state.settings.cwd.clone(),
                running: live.state.open_run().is_some(),
                asks: live.state.asks.len(),
                uis: uis.map(told).collect(),
            })
        };
        self.own().filter_map(|(id, _)| session(id)).collect()
    }

    /// The sessions that are open, as the fleet shows them.
    pub fn members(&self) -> Vec<Member> {
        let member = |(id, live): (&SessionId, &super::Live)| Member::of(id, &live.state);
        self.own().map(member).collect()
    }

    /// A UI that only watches sees no session any more.
    pub(super) fn set_apart(&mut self, ui: UiId) {
        let Some(seat) = self.uis.get_mut(&ui) else { return };
        seat.fleet_only = true;
        for session in seat.seen.clone() {
            self.detach(ui, &session);
        }
    }
}
