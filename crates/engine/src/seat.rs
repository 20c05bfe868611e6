//! What the agent keeps for a session between turns: rules, the workplace, the way to a turn under way.

use crate::cache_meter::CacheMeter;
use crate::editor::OpenFiles;
use crate::grants::Grants;
use crate::offered::OpenCalls;
use crate::port::Unwritten;
use crate::secrets::SessionSecrets;
use domain::ask::Closing;
use domain::command::{Refusal, RefusalKind};
use domain::ids::{AskId, RunId};
use domain::session::{ModelEntry, ModelRef};
use models::Model;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tools::ToolContext;
use tools::checkpoint::Ledger;

/// Where models come from.
pub trait ModelSource: Send + Sync {
    /// The model that a person means by this name.
    ///
    /// # Errors
    /// When there is none; the refusal says what to do.
    fn find(&self, provider: Option<&str>, name: &str) -> Result<ModelRef, Refusal>;

    /// The model of this name, ready to answer; the default one for `None`.
    ///
    /// # Errors
    /// When it cannot be used; the refusal says what to do.
    fn open(&self, wanted: Option<&ModelRef>) -> Result<Arc<dyn Model>, Refusal>;

    /// Whether there is a model of this name, as far as that can be known. May ask its provider; takes a bounded time.
    ///
    /// # Errors
    /// When its provider lists others and not this one.
    fn check<'a>(&'a self, model: &'a ModelRef) -> tools::BoxFuture<'a, Result<(), Refusal>> {
        let _ = model;
        Box::pin(async { Ok(()) })
    }

    /// Forgets the keys that the person has given; whose they were. What is used from here on was given otherwise. Reads and writes files.
    ///
    /// # Errors
    /// When none are kept here, or they cannot be removed.
    fn forget_keys(&self) -> Result<Vec<String>, Refusal> {
        Err(Refusal::new(RefusalKind::Unsupported, "no keys are kept here"))
    }

    /// Lets the provider of a model tell what it knows of it, where nobody else does. Takes a bounded time.
    fn learn<'a>(&'a self, model: &'a ModelRef) -> tools::BoxFuture<'a, ()> {
        let _ = model;
        Box::pin(async {})
    }

    /// The models there are. May ask servers; takes a bounded time.
    fn list(&self) -> tools::BoxFuture<'_, Vec<ModelEntry>>;
}

/// The asks of one session that a turn waits for.
#[derive(Debug, Default, Clone)]
pub(crate) struct OpenAsks(Arc<Mutex<BTreeMap<AskId, oneshot::Sender<Closing>>>>);

impl OpenAsks {
    /// Waits for an ask; register before it is reported, so that no answer can be missed.
    pub(crate) fn wait_for(&self, ask: AskId) -> oneshot::Receiver<Closing> {
        let (sender, receiver) = oneshot::channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(ask, sender);
        receiver
    }

    /// Hands the closing to whoever waits for this ask; one that nobody waits for is dropped.
    pub(crate) fn close(&self, ask: AskId, closing: Closing) {
        if let Some(waiting) = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&ask) {
            let _ = waiting.send(closing);
        }
    }
}

/// Whether a steer waits.
#[derive(Debug, Default, Clone)]
pub(crate) struct Steered(Arc<AtomicBool>);

impl Steered {
    /// Says whether a steer is queued now.
    pub(crate) fn set(&self, waits: bool) {
        self.0.store(waits, Ordering::Relaxed);
    }

    /// Whether a steer is queued: the rest of a step's tool calls is skipped then.
    pub(crate) fn waits(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What the agent keeps for a session.
pub(crate) struct Seat {
    /// The working directory as the session names it.
    pub(crate) cwd: String,
    pub(crate) unwritten: Unwritten,
    pub(crate) asked: OpenAsks,
    pub(crate) calls: OpenCalls,
    pub(crate) files: OpenFiles,
    pub(crate) steered: Steered,
    /// What turns do to files, where that is kept.
    pub(crate) ledger: Option<Ledger>,
    /// Whether the conversation says that what commands do cannot be taken back.
    pub(crate) unkept_told: Arc<AtomicBool>,
    pub(crate) place: ToolContext,
    pub(crate) grants: Grants,
    pub(crate) secrets: SessionSecrets,
    pub(crate) cache: CacheMeter,
    pub(crate) server_notes: crate::mcp::ServerNotes,
    /// Something the person must hear with the next turn.
    pub(crate) trouble: Option<String>,
    /// Why the tools did not follow the person's terminal, as it was said last.
    pub(crate) unmoved: Option<String>,
    pub(crate) under_way: Option<(RunId, CancellationToken)>,
}
