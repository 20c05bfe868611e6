//! The sending end of a stream: bounded, ends at once on cancel or when nobody listens.

use std::future::Future;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{DELTA_BACKLOG, Delta, Deltas, ErrorKind, ModelError};

/// Why a producer stops early.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The token fired.
    Cancelled,
    /// The receiver is gone.
    Dropped,
    Failed(ModelError),
}

impl From<ModelError> for Halt {
    fn from(error: ModelError) -> Self {
        Self::Failed(error)
    }
}

/// Hands deltas to the reader.
pub(crate) struct Emit {
    out: mpsc::Sender<Result<Delta, ModelError>>,
    cancel: CancellationToken,
}

impl Emit {
    /// Sends one delta, waiting for room.
    pub(crate) async fn send(&self, delta: Delta) -> Result<(), Halt> {
        self.until_stopped(self.out.send(Ok(delta))).await?.map_err(|_| Halt::Dropped)
    }

    /// Waits for time to pass.
    pub(crate) async fn pause(&self, time: Duration) -> Result<(), Halt> {
        self.until_stopped(tokio::time::sleep(time)).await
    }

    /// Runs a future unless the stream is cancelled or dropped first; then the future is dropped.
    pub(crate) async fn until_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, Halt> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Halt::Cancelled),
            () = self.out.closed() => Err(Halt::Dropped),
            done = work => Ok(done),
        }
    }
}

/// Starts a producer task. `produce` must send [`Delta::Done`] last when it returns `Ok`.
pub(crate) fn produce<F, Fut>(source: String, cancel: CancellationToken, produce: F) -> Deltas
where
    F: FnOnce(Emit) -> Fut + Send + 'static,
    Fut: Future<Output = Result<(), Halt>> + Send + 'static,
{
    let (out, deltas) = mpsc::channel(DELTA_BACKLOG);
    let emit = Emit { out: out.clone(), cancel };
    tokio::spawn(async move {
        let error = match produce(emit).await {
            Ok(()) | Err(Halt::Dropped) => return,
            Err(Halt::Cancelled) => ModelError::new(ErrorKind::Cancelled, source, ""),
            Err(Halt::Failed(error)) => error,
        };
        // The connection is gone already; only this small task waits for the reader. A reader that left is no loss.
        let _ = out.send(Err(error)).await;
    });
    deltas
}
