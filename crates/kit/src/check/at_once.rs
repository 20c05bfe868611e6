//! Several futures at a time, in one task: they may borrow, and end with whoever waits for them.

use std::future::{Future, poll_fn};
use std::task::Poll;

/// Runs the jobs, `most` of them at a time; `done` is told as they end, with their place in the row.
pub(super) async fn at_once<F: Future + Unpin>(
    jobs: impl ExactSizeIterator<Item = F>,
    most: usize,
    mut done: impl FnMut(usize, F::Output),
) {
    let mut waiting = jobs.enumerate();
    let mut running: Vec<(usize, F)> = Vec::new();
    poll_fn(|cx| {
        loop {
            while running.len() < most.max(1) {
                let Some(job) = waiting.next() else { break };
                running.push(job);
            }
            let before = running.len();
            running.retain_mut(|(index, job)| match std::pin::Pin::new(job).poll(cx) {
                Poll::Pending => true,
                Poll::Ready(value) => {
                    done(*index, value);
                    false
                }
            });
            match running.len() {
                0 if waiting.len() == 0 => return Poll::Ready(()),
                // Somebody ended: there is room for the next.
                left if left < before => {}
                _ => return Poll::Pending,
            }
        }
    })
    .await;
}
