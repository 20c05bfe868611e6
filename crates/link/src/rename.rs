//! A link whose only lane gets another name: which lane a connection is can depend on what it says first.

use tokio::sync::mpsc;

use crate::Lane;
use crate::lane_io::{FORWARDED_FRAMES, Incoming, LinkIo};

impl Incoming {
    /// The same, on another lane.
    #[must_use]
    pub fn on(self, lane: Lane) -> Self {
        match self {
            Self::Frame { frame, .. } => Self::Frame { lane, frame },
            Self::Closed { reason, .. } => Self::Closed { lane, reason },
        }
    }
}

impl LinkIo {
    /// The same link, its lanes all called `lane`; for a link of one lane. Must be called within a tokio runtime.
    #[must_use]
    pub fn renamed(mut self, lane: Lane) -> Self {
        let (sender, incoming) = mpsc::channel(FORWARDED_FRAMES);
        let mut source = std::mem::replace(&mut self.incoming, incoming);
        self.readers.spawn(async move {
            while let Some(next) = source.recv().await {
                if sender.send(next.on(lane)).await.is_err() {
                    return;
                }
            }
        });
        self.outgoing = self.outgoing.renamed(lane);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, memory};
    use wire::lines::Frame;

    #[tokio::test]
    async fn lines_go_both_ways_under_the_new_name() {
        let (ours, mut theirs) = memory::pair(&[Lane(2)], Limits::default());
        let mut ours = ours.renamed(Lane::MAIN);
        ours.outgoing.try_send(Lane::MAIN, "to them".into()).unwrap();
        theirs.outgoing.try_send(Lane(2), "to us".into()).unwrap();
        let line = |lane, text: &str| Some(Incoming::Frame { lane, frame: Frame::Line(text.into()) });
        assert_eq!(theirs.incoming.recv().await, line(Lane(2), "to them"));
        assert_eq!(ours.incoming.recv().await, line(Lane::MAIN, "to us"));
    }
}
