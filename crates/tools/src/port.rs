//! What a running tool has in its hands, and how a run ends. Which tool it is does not matter here.

use crate::error::ToolError;
use crate::gate::Gate;
use crate::title::one_line;
use domain::ask::{AskKind, Closing};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// A boxed future, so that tools can be kept as trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a running tool has in its hands.
#[derive(Debug, Clone)]
pub struct Port {
    /// Where live output goes.
    pub progress: mpsc::Sender<Progress>,
    /// Where questions to the person go.
    pub asks: mpsc::Sender<Question>,
    /// Says when to stop.
    pub cancel: CancellationToken,
    /// Who decides on hosts that commands want to reach; without one they reach none by name.
    pub gate: Option<Arc<dyn Gate>>,
}

impl Port {
    /// Asks the person, and waits for the end of the question; `None` when the tool is stopped before.
    pub(crate) async fn ask(&self, title: &str, kind: AskKind) -> Option<Closing> {
        let (answer, closing) = oneshot::channel();
        self.asks.send(Question { title: one_line(title), kind, answer }).await.ok()?;
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => None,
            closing = closing => closing.ok(),
        }
    }
}

/// A question of a running tool to the person. Dropping the end of `answer` withdraws it.
#[derive(Debug)]
pub struct Question {
    /// What it is about, and who asks.
    pub title: String,
    pub kind: AskKind,
    /// Where the end of the question is told; closed when the tool is stopped.
    pub answer: oneshot::Sender<Closing>,
}

/// How a run ended, and what it gave back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Done, failed or cancelled.
    pub outcome: ToolOutcome,
    /// What the model and the person get to see.
    pub result: ToolResult,
}

impl Outcome {
    /// The tool did what it was asked.
    pub fn done(result: ToolResult) -> Outcome {
        Outcome { outcome: ToolOutcome::Done, result }
    }

    /// It did not work; `why` also says what to do next.
    pub fn failed(why: impl Into<String>) -> Outcome {
        Outcome { outcome: ToolOutcome::Failed, result: ToolResult::text(why) }
    }

    /// The person or the end of the run stopped it.
    pub fn cancelled() -> Outcome {
        Outcome { outcome: ToolOutcome::Cancelled, result: ToolResult::text("cancelled") }
    }
}

impl From<Result<ToolResult, ToolError>> for Outcome {
    fn from(result: Result<ToolResult, ToolError>) -> Outcome {
        match result {
            Ok(result) => Outcome::done(result),
            Err(error) => Outcome::failed(error.to_string()),
        }
    }
}
