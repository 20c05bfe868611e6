//! What proves that two logs are the same, whatever rows they are kept in and whichever store has them: a digest over their records, each
//! with the digest of all before it.

use domain::event::Event;
use sha2::{Digest as _, Sha256};

/// Length of a digest, in bytes.
const LENGTH: usize = 32;

/// The digest of a log from its first event on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Chain([u8; LENGTH]);

impl Chain {
    /// As a store has it written down; `None` when it is no digest. A log without events has none.
    pub fn read(bytes: &[u8]) -> Option<Chain> {
        if bytes.is_empty() { Some(Chain::default()) } else { bytes.try_into().ok().map(Chain) }
    }

    /// Goes on with what follows.
    #[must_use]
    pub fn then(self, events: &[Event]) -> Chain {
        events.iter().fold(self, |Chain(before), event| {
            let mut hasher = Sha256::new();
            hasher.update(before);
            hasher.update(record::encode(event).as_bytes());
            Chain(hasher.finalize().into())
        })
    }

    /// As it is written down.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::event::{Body, RunEvent};
    use domain::ids::{Millis, RunId, Seq};

    #[test]
    fn one_record_more_less_or_other_is_another_digest() {
        let event = |seq, run| Event {
            seq: Seq(seq),
            at: Millis(seq),
            body: Body::Run(RunEvent::Started { run: RunId(run) }),
        };
        let whole = [event(1, 1), event(2, 2), event(3, 3)];
        let chain = Chain::default().then(&whole);
        assert_eq!(Chain::default().then(&whole[..1]).then(&whole[1..]), chain, "in whatever pieces");
        assert_eq!(Chain::read(chain.bytes()), Some(chain));
        assert_eq!(Chain::read(&[]), Some(Chain::default()));
        assert_eq!(Chain::read(&[1, 2]), None);
        for other in
            [&whole[..2], &[event(1, 1), event(2, 9), event(3, 3)], &[event(2, 2), event(1, 1), event(3, 3)]]
        {
            assert_ne!(Chain::default().then(other), chain);
        }
    }
}
