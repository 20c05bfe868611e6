//! How a turn reports: with or without waiting until the hub has kept it.

use domain::event::Body;
use domain::ids::{RunId, SessionId};
use domain::port::Report;
use domain::signal::{Level, Signal};
use tokio::sync::{mpsc, oneshot};

/// Reports that may wait for the hub; past it the engine waits.
pub const REPORTS: usize = 256;

/// A report, and where the hub says that it is kept (`true`) or came too late (`false`).
pub type Reported = (Report, Option<oneshot::Sender<bool>>);

#[derive(Debug, Clone)]
pub(crate) struct Port {
    pub(crate) session: SessionId,
    pub(crate) run: RunId,
    pub(crate) reports: mpsc::Sender<Reported>,
}

impl Port {
    /// Reports what happened.
    pub(crate) async fn emit(&self, body: Body) {
        let report = Report::Happened { session: self.session.clone(), run: Some(self.run), body };
        let _ = self.reports.send((report, None)).await;
    }

    /// Reports something that belongs to no run.
    pub(crate) async fn emit_outside(&self, body: Body) {
        let report = Report::Happened { session: self.session.clone(), run: None, body };
        let _ = self.reports.send((report, None)).await;
    }

    /// A passing word to the person.
    pub(crate) async fn notify(&self, level: Level, text: String) {
        let signal = Signal::Notify { level, text };
        let _ = self.reports.send((Report::Signal { session: self.session.clone(), signal }, None)).await;
    }

    /// Reports what happened and waits until it is kept; `false` when the run is over or being stopped.
    pub(crate) async fn emit_kept(&self, body: Body) -> bool {
        let (ack, kept) = oneshot::channel();
        let report = Report::Happened { session: self.session.clone(), run: Some(self.run), body };
        if self.reports.send((report, Some(ack))).await.is_err() {
            return false;
        }
        kept.await.unwrap_or(false)
    }
}
