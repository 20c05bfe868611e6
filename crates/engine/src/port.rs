//! How a turn reports: with or without waiting until the hub has kept it.

use domain::event::Body;
use domain::ids::{RunId, SessionId};
use domain::port::{Kept, Report};
use domain::signal::{Level, Signal};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// Reports that may wait for the hub; past it the engine waits.
pub const REPORTS: usize = 256;

/// A report, and where the hub says what became of it.
pub type Reported = (Report, Option<oneshot::Sender<Kept>>);

/// Why what happens in a session cannot be written down now, if it cannot.
#[derive(Debug, Default, Clone)]
pub(crate) struct Unwritten(Arc<Mutex<Option<String>>>);

impl Unwritten {
    /// Notes why the last write failed, or that writing works again.
    pub(crate) fn set(&self, why: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// Why nothing can be written now, if that is so.
    pub(crate) fn why(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Where a run reports to: the hub numbers, keeps and tells what it gets.
#[derive(Debug, Clone)]
pub(crate) struct Port {
    pub(crate) session: SessionId,
    pub(crate) run: RunId,
    pub(crate) reports: mpsc::Sender<Reported>,
    pub(crate) unwritten: Unwritten,
}

impl Port {
    /// Reports what happened in the run and goes on: the hub keeps it in order.
    pub(crate) async fn emit(&self, body: Body) {
        let report = Report::Happened { session: self.session.clone(), run: Some(self.run), body };
        let _ = self.reports.send((report, None)).await;
    }

    /// A passing word to the person.
    pub(crate) async fn notify(&self, level: Level, text: String) {
        let signal = Signal::Notify { level, text };
        let _ = self.reports.send((Report::Signal { session: self.session.clone(), signal }, None)).await;
    }

    /// Reports what happened and waits until it is kept, as well as the store can; `false` when the run is over or being stopped.
    pub(crate) async fn emit_kept(&self, body: Body) -> bool {
        self.emit_written(body).await != Kept::Late
    }

    /// Reports what happened and waits until it is known whether it is on disk.
    pub(crate) async fn emit_written(&self, body: Body) -> Kept {
        let (ack, kept) = oneshot::channel();
        let report = Report::Happened { session: self.session.clone(), run: Some(self.run), body };
        if self.reports.send((report, Some(ack))).await.is_err() {
            return Kept::Late;
        }
        let kept = kept.await.unwrap_or(Kept::Late);
        match &kept {
            Kept::Safely => self.unwritten.set(None),
            Kept::InMemory(why) => self.unwritten.set(Some(why.clone())),
            Kept::Late => {}
        }
        kept
    }
}
