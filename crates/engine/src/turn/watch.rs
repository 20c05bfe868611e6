//! Around a tool that may change files: what stands there is kept first, and what changed is written down after it.
//!
//! What the ledger is told blocks on the disk, so it is told apart. Where there is no ledger, nothing is kept and nothing is said.

use super::Turn;
use domain::port::Report;
use domain::signal::Signal;
use tools::Plan;
use tools::checkpoint::{Begun, NotKept, Watch, Watched};

/// The field of the status line that says what cannot be undone.
const STATUS: &str = "undo";

impl Turn {
    /// The turn begins. What the model said of files may no longer be so: then these are words for it.
    pub(super) async fn begin_watching(&self) -> Option<String> {
        let ledger = self.ledger.clone()?;
        let prompt = self.brief.input.text.clone();
        let turn = self.brief.turn.to_string();
        let begun = tokio::task::spawn_blocking(move || ledger.begin(&turn, &prompt)).await;
        let Begun { told, unsay } = begun.unwrap_or_default();
        if unsay {
            self.say_status(None).await;
        }
        told
    }

    /// Before anybody is asked about a call: whether it can be taken back is part of the question.
    pub(super) async fn prepare(&self, plan: &Plan) {
        let (Some(ledger), Some(watch)) = (self.ledger.clone(), Watch::of(plan)) else { return };
        let cancel = self.cancel.clone();
        let prepared =
            tokio::task::spawn_blocking(move || ledger.prepare(&watch, &|| cancel.is_cancelled())).await;
        if let Ok(Err(NotKept(why))) = prepared
            && !self.cancel.is_cancelled()
        {
            self.say_status(Some(format!("this turn's commands cannot be undone: {why}"))).await;
        }
    }

    /// A call is about to run.
    pub(super) async fn watch(&self, plan: &Plan) -> Option<Watched> {
        let (ledger, watch) = (self.ledger.clone()?, Watch::of(plan)?);
        let cancel = self.cancel.clone();
        tokio::task::spawn_blocking(move || ledger.before(&watch, &|| cancel.is_cancelled())).await.ok()
    }

    /// A call is over, however it ended.
    pub(super) async fn watched(&self, watched: Option<Watched>) {
        if let (Some(ledger), Some(watched)) = (self.ledger.clone(), watched) {
            let _ = tokio::task::spawn_blocking(move || ledger.after(watched)).await;
        }
    }

    async fn say_status(&self, text: Option<String>) {
        let signal = Signal::Status { key: STATUS.to_owned(), text };
        let report = Report::Signal { session: self.port.session.clone(), signal };
        let _ = self.port.reports.send((report, None)).await;
    }
}
