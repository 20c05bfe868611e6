//! Around a tool that may change files: what stands there is kept first, and what changed is written down after it.
//!
//! What the ledger is told blocks on the disk, so it is told apart. Where there is no ledger, nothing is kept and nothing is said.

use super::Turn;
use super::consent::CallPlan;
use super::step::Call;
use domain::ids::EntryId;
use domain::port::Report;
use domain::signal::Signal;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tools::checkpoint::{Begun, CallScope, NotKept, Watched};

/// The field of the status line that says what cannot be undone.
const STATUS: &str = "undo";
/// The code of the notice that says the same in the conversation, once in a session.
const NOT_KEPT: &str = "cannot_undo";
/// How long a look at the files may take before the person is told what is waited for.
const PATIENCE: Duration = Duration::from_millis(500);
/// What they are told before a call, and after it.
const KEEPING: &str = "keeping the files' state before the command";
const COMPARING: &str = "looking at what the command changed";

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

    /// Before a call is decided on: whether it can be taken back is part of the decision and of the question.
    pub(super) async fn prepare(&self, call: &Call, planned: &mut CallPlan, leaf: Option<EntryId>) {
        let CallPlan::Ready(_, plan, _) = planned else { return };
        let (Some(ledger), Some(scope)) = (self.ledger.clone(), CallScope::of(plan)) else { return };
        if self.never_runs(call, plan) {
            return;
        }
        let (cancel, watch) = (self.cancel.clone(), scope.clone());
        let look = move || ledger.prepare(&watch, &|| cancel.is_cancelled());
        if let Some(Err(NotKept(why))) = self.looked(KEEPING, look).await
            && !self.cancel.is_cancelled()
        {
            self.say_status(Some(format!("this turn's commands cannot be undone: {why}"))).await;
            self.say_not_kept(leaf, &why).await;
            // The ledger says it once in a turn, and it holds for all of it.
            let _ = self.unkept.set(why);
        }
        let without_git = self.place.root().is_some_and(|root| !root.join(".git").exists());
        if let Some(why) = self.unkept.get().filter(|_| without_git && scope.is_wide()) {
            plan.cannot_be_undone(why);
        }
    }

    /// Tells it in the conversation, where no width of the screen leaves it out. Where there is no workspace commands write nothing.
    async fn say_not_kept(&self, leaf: Option<EntryId>, why: &str) {
        if self.place.root().is_some() && !self.unkept_told.swap(true, Ordering::Relaxed) {
            let text = format!("What commands change here cannot be undone: {why}");
            self.notice(leaf, NOT_KEPT, text).await;
        }
    }

    /// A call is about to run, or several together.
    pub(super) async fn watch(&self, scope: Option<CallScope>) -> Option<Watched> {
        let (ledger, watch) = (self.ledger.clone()?, scope?);
        let cancel = self.cancel.clone();
        self.looked(KEEPING, move || ledger.before(&watch, &|| cancel.is_cancelled())).await
    }

    /// Looks at the files; in a large tree that takes long, which is told while it lasts.
    async fn looked<T: Send + 'static>(
        &self,
        words: &str,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let looking = async { tokio::task::spawn_blocking(look).await.ok() };
        tokio::pin!(looking);
        tokio::select! {
            biased;
            done = &mut looking => return done,
            () = tokio::time::sleep(PATIENCE) => {}
        }
        self.say(Signal::Working(Some(words.to_owned()))).await;
        let done = looking.await;
        self.say(Signal::Working(None)).await;
        done
    }

    /// A call is over, however it ended.
    pub(super) async fn watched(&self, watched: Option<Watched>) {
        if let (Some(ledger), Some(watched)) = (self.ledger.clone(), watched)
            && let Some(Some(NotKept(why))) = self.looked(COMPARING, move || ledger.after(watched)).await
        {
            self.say_status(Some(format!("this turn's commands cannot be undone: {why}"))).await;
            let _ = self.unkept.set(why);
        }
    }

    /// Says in the conversation what came out when calls were over, unless it was said.
    pub(super) async fn say_late(&self, leaf: Option<EntryId>) {
        if let Some(why) = self.unkept.get() {
            self.say_not_kept(leaf, why).await;
        }
    }

    async fn say_status(&self, text: Option<String>) {
        self.say(Signal::Status { key: STATUS.to_owned(), text }).await;
    }

    async fn say(&self, signal: Signal) {
        let report = Report::Signal { session: self.port.session.clone(), signal };
        let _ = self.port.reports.send((report, None)).await;
    }
}
