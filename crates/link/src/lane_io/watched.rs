//! A link that somebody listens in on: every line that comes or goes is shown to a watcher, unchanged and undelayed. Outgoing lines are
//! shown when they are taken for writing, incoming ones when they are framed.

use std::borrow::Cow;

use tokio::sync::mpsc;
use wire::lines::Frame;

use super::{FORWARDED_FRAMES, Incoming, LinkIo};
use crate::watch::{Watcher, Way};

impl LinkIo {
    /// The same link, with somebody who sees its lines. Must be called within a tokio runtime.
    #[must_use]
    pub fn watched(mut self, watcher: &Watcher) -> Self {
        let (sender, incoming) = mpsc::channel(FORWARDED_FRAMES);
        let mut source = std::mem::replace(&mut self.incoming, incoming);
        let seeing = watcher.clone();
        self.readers.spawn(async move {
            while let Some(next) = source.recv().await {
                if let Incoming::Frame { lane, frame } = &next {
                    seeing.show(Way::In, *lane, &shown(frame));
                }
                if sender.send(next).await.is_err() {
                    return;
                }
            }
        });
        self.outgoing = self.outgoing.watched(watcher.clone());
        self
    }
}

/// A frame as text: the line, or how it began and what was wrong with it.
fn shown(frame: &Frame) -> Cow<'_, str> {
    match frame {
        Frame::Line(line) | Frame::Unfinished(line) => line.into(),
        Frame::Overlong { bytes_seen, head } => format!("{head}… [{bytes_seen} bytes, too long]").into(),
        Frame::NotUtf8 { at, head } => format!("{head}… [not UTF-8 at byte {at}]").into(),
        Frame::Nul { at, head } => format!("{head}… [NUL at byte {at}]").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lane, Limits, memory};
    use std::sync::{Arc, Mutex};

    #[tokio::test]
    async fn both_directions_are_seen_and_pass_unchanged() {
        let seen: Arc<Mutex<Vec<(Way, String)>>> = Arc::default();
        let noting = seen.clone();
        let watcher = Watcher::new(move |way, _, line| noting.lock().unwrap().push((way, line.to_owned())));
        let (ours, mut theirs) = memory::pair(&[Lane::MAIN], Limits::default());
        let mut ours = ours.watched(&watcher);
        ours.outgoing.try_send(Lane::MAIN, "to them".into()).unwrap();
        theirs.outgoing.try_send(Lane::MAIN, "to us".into()).unwrap();
        let line = |text: &str| Some(Incoming::Frame { lane: Lane::MAIN, frame: Frame::Line(text.into()) });
        assert_eq!(theirs.incoming.recv().await, line("to them"));
        assert_eq!(ours.incoming.recv().await, line("to us"));
        assert_eq!(*seen.lock().unwrap(), [(Way::Out, "to them".into()), (Way::In, "to us".into())]);
        drop(theirs);
        assert!(matches!(ours.incoming.recv().await, Some(Incoming::Closed { .. })));
        assert_eq!(ours.incoming.recv().await, None);
    }
}
