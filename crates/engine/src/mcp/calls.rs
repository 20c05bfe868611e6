//! The calls that are under way on one connection, and how progress and questions of the server reach them.
//!
//! A server's progress does not name its call in a way the protocol's library hands on, so it is shown only when one call alone
//! can be meant. Its questions go to the newest call: the person behind all of them is the same.

use domain::ask::{AskKind, Closing};
use domain::tool::Progress;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;
use tools::{Port, Question};

/// Characters of a progress message that are shown.
const MAX_MESSAGE: usize = 500;

/// Questions of one server that may wait for the person; one more is not asked.
const MAX_OPEN: usize = 8;

/// The calls of one connection. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct McpCalls(Arc<SharedCalls>);

#[derive(Debug, Default)]
struct SharedCalls {
    calls: Mutex<Vec<(u64, Port)>>,
    /// Questions that a person has before them.
    open: AtomicUsize,
}

/// A call that is under way as long as this lives.
pub(crate) struct McpCall {
    calls: McpCalls,
    id: u64,
}

impl Drop for McpCall {
    fn drop(&mut self) {
        self.calls.calls().retain(|(id, _)| *id != self.id);
    }
}

impl McpCalls {
    fn calls(&self) -> std::sync::MutexGuard<'_, Vec<(u64, Port)>> {
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call, until the result is dropped.
    pub(crate) fn begin(&self, port: Port) -> McpCall {
        let mut calls = self.calls();
        let id = calls.last().map_or(0, |(last, _)| last + 1);
        calls.push((id, port));
        McpCall { calls: self.clone(), id }
    }

    /// Whether somebody is being asked something.
    pub(crate) fn asks(&self) -> bool {
        self.0.open.load(Ordering::Relaxed) > 0
    }

    /// The server tells how far it is.
    pub(crate) fn progress(&self, done: f64, total: Option<f64>, message: Option<String>) {
        let port = match self.calls().as_slice() {
            [(_, port)] => port.clone(),
            _ => return,
        };
        let message = message.map(|text| text.chars().take(MAX_MESSAGE).collect());
        let message = message.unwrap_or_else(|| match total {
            Some(total) => format!("{done} of {total}"),
            None => format!("{done}"),
        });
        // Where nobody reads fast enough, the next one tells more.
        let _ = port.progress.try_send(Progress::Status { percent: percent(done, total), message });
    }

    /// Asks the person through the newest call; `None` when there is none, or it ended.
    pub(crate) async fn ask(&self, title: String, kind: AskKind) -> Option<Closing> {
        let port = self.calls().last().map(|(_, port)| port.clone())?;
        let (answer, answered) = oneshot::channel();
        let open = self.0.open.fetch_add(1, Ordering::Relaxed);
        let _open = QuestionCount(&self.0.open);
        if open >= MAX_OPEN {
            return None;
        }
        port.asks.send(Question { title, kind, answer }).await.ok()?;
        answered.await.ok()
    }
}

struct QuestionCount<'a>(&'a AtomicUsize);

impl Drop for QuestionCount<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn percent(done: f64, total: Option<f64>) -> Option<u8> {
    let share = done / total.filter(|total| *total > 0.0)? * 100.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 100")]
    share.is_finite().then(|| share.clamp(0.0, 100.0) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percentages_whatever_is_said() {
        let table = [
            (1.0, Some(4.0), Some(25)),
            (9.0, Some(4.0), Some(100)),
            (-1.0, Some(4.0), Some(0)),
            (1.0, Some(0.0), None),
            (f64::NAN, Some(1.0), None),
            (1.0, None, None),
        ];
        for (done, total, want) in table {
            assert_eq!(percent(done, total), want, "{done} of {total:?}");
        }
    }
}
