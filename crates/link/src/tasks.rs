//! Where tasks are born and where they end. A task started elsewhere is a fault.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Tasks with a common end. Dropping it aborts them all.
#[derive(Debug, Default)]
pub struct Tasks {
    set: JoinSet<()>,
    token: CancellationToken,
    report: Shutdown,
}

/// How the tasks ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shutdown {
    /// Ended by themselves or by the common end.
    pub ended: usize,
    /// Panicked: a fault of ours.
    pub panicked: usize,
    /// Still busy after the bound, and aborted.
    pub aborted: usize,
}

impl std::ops::Add for Shutdown {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            ended: self.ended + other.ended,
            panicked: self.panicked + other.panicked,
            aborted: self.aborted + other.aborted,
        }
    }
}

impl Tasks {
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a task. It is dropped at its next await when the common end comes.
    pub fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        let token = self.token.clone();
        self.set.spawn(async move {
            token.run_until_cancelled(task).await;
        });
    }

    /// Tells of the common end; for tasks that belong to something else and follow it.
    pub fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// Waits until all tasks ended by themselves, at most `within`; says whether they did. Cancel-safe.
    pub async fn settle(&mut self, within: Duration) -> bool {
        let all = async {
            while let Some(outcome) = self.set.join_next().await {
                match outcome {
                    Ok(()) => self.report.ended += 1,
                    Err(error) if error.is_panic() => self.report.panicked += 1,
                    Err(_) => self.report.aborted += 1,
                }
            }
        };
        tokio::time::timeout(within, all).await.is_ok()
    }

    /// Ends all tasks and waits for them, at most `within`.
    pub async fn shutdown(mut self, within: Duration) -> Shutdown {
        self.token.cancel();
        if !self.settle(within).await {
            self.report.aborted += self.set.len();
            self.set.abort_all();
        }
        self.report
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        // The set aborts its own tasks; the token tells those that only follow.
        self.token.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn shutdown_ends_waiting_tasks_and_counts_panics() {
        let mut tasks = Tasks::new();
        tasks.spawn(std::future::pending());
        tasks.spawn(async { panic!("on purpose") });
        tokio::task::yield_now().await;
        let report = tasks.shutdown(Duration::from_secs(5)).await;
        assert_eq!(report, Shutdown { ended: 1, panicked: 1, aborted: 0 });
    }

    #[tokio::test]
    async fn dropping_cancels_the_token() {
        let tasks = Tasks::new();
        let token = tasks.token();
        drop(tasks);
        assert!(token.is_cancelled());
    }
}
