//! What could not be read of a session, and how it is told. Pure; the same for every store.

use crate::contract::Damage;
use domain::event::Event;
use domain::ids::Seq;
use domain::state::State;

/// What was damaged on the way.
#[derive(Debug, Default)]
pub struct Losses {
    /// First and last number of each row that could not be read.
    pub rows: Vec<(Seq, Seq)>,
    /// Numbers that are not there at all, as first and last.
    pub gaps: Vec<(Seq, Seq)>,
    /// Events that did not fit.
    pub unfit: u64,
    /// A page of the file is damaged: nothing after it could be read.
    pub page: bool,
    /// A row is whole but not understood: what about it this program does not know.
    pub newer: Option<String>,
}

impl Losses {
    /// Whether everything could be read.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.gaps.is_empty() && self.unfit == 0 && !self.page && self.newer.is_none()
    }

    /// Whether something is to be set aside.
    pub fn can_be_mended(&self) -> bool {
        !self.rows.is_empty() || !self.gaps.is_empty()
    }

    /// In words; `None` when nothing was lost.
    pub fn report(self) -> Option<Damage> {
        if self.is_empty() {
            return None;
        }
        let mut lost: Vec<(Seq, Seq)> = self.rows.into_iter().chain(self.gaps).collect();
        lost.sort();
        let count: u64 = lost.iter().map(|(first, last)| last.0 - first.0 + 1).sum();
        let mut message =
            format!("{count} of its events could not be read and were set aside; everything else is there");
        if self.page {
            message = "the file is damaged; what stood before the damage is there".to_owned();
        }
        if let Some(what) = self.newer {
            message = newer(&what);
        }
        Some(Damage { lost, unfit: self.unfit, message })
    }
}

/// Says that something was written by a program that knows more, with both versions.
pub fn newer(what: &str) -> String {
    let ours = env!("CARGO_PKG_VERSION");
    format!("a newer Parlor wrote a part of it that this one ({ours}) does not know: {what}")
}

/// Folds an event; one that does not fit (because something before it is lost) only takes its number.
pub fn follow(state: &mut State, event: &Event) -> bool {
    let fits = state.apply(event.at, &event.body).is_ok();
    state.seq = event.seq;
    fits
}
