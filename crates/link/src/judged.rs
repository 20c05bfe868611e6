//! A link on which somebody is asked before each line whether the peer may still speak.

use std::future::Future;

use tokio::sync::mpsc;

use crate::lane_io::{FORWARDED_FRAMES, Incoming, LinkIo};

impl LinkIo {
    /// The same link, which ends at the first line that `may` does not let through. Must be called within a tokio runtime.
    #[must_use]
    pub fn judged<F>(mut self, may: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = bool> + Send,
    {
        let (sender, incoming) = mpsc::channel(FORWARDED_FRAMES);
        let mut source = std::mem::replace(&mut self.incoming, incoming);
        self.readers.spawn(async move {
            while let Some(next) = source.recv().await {
                if matches!(next, Incoming::Frame { .. }) && !may().await {
                    return;
                }
                if sender.send(next).await.is_err() {
                    return;
                }
            }
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use crate::{Incoming, Lane, Limits, memory};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use wire::lines::Frame;

    #[tokio::test]
    async fn the_first_line_that_is_not_let_through_is_the_end() {
        let (ours, theirs) = memory::pair(&[Lane::MAIN], Limits::default());
        let may = Arc::new(AtomicBool::new(true));
        let asked = may.clone();
        let mut ours = ours.judged(move || {
            let asked = asked.clone();
            async move { asked.load(Ordering::Acquire) }
        });
        let line = |text: &str| Some(Incoming::Frame { lane: Lane::MAIN, frame: Frame::Line(text.into()) });
        theirs.outgoing.try_send(Lane::MAIN, "first".into()).unwrap();
        assert_eq!(ours.incoming.recv().await, line("first"));
        may.store(false, Ordering::Release);
        theirs.outgoing.try_send(Lane::MAIN, "second".into()).unwrap();
        assert_eq!(ours.incoming.recv().await, None);
    }
}
