//! What was heard of a server's resources: how often each that somebody wants to hear of has changed.
//!
//! Belongs to a server, not to one connection to it: who named a resource hears of it also after a new start. Bounded: a server can
//! tell of no resource that nobody named.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most resources of one server of which changes are heard.
const MAX_HEARD: usize = 64;

/// How often resources have changed. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<BTreeMap<String, u64>>>);

impl Heard {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens for a resource from now on; how often it has changed. `None` where too many are listened for.
    pub(crate) fn listen(&self, uri: &str) -> Option<u64> {
        let mut all = self.all();
        if all.len() >= MAX_HEARD && !all.contains_key(uri) {
            return None;
        }
        Some(*all.entry(uri.to_owned()).or_default())
    }

    /// A resource has changed; of one that nobody listens for nothing is kept.
    pub(crate) fn updated(&self, uri: &str) {
        if let Some(count) = self.all().get_mut(uri) {
            *count = count.saturating_add(1);
        }
    }

    /// How often it has changed.
    pub(crate) fn count(&self, uri: &str) -> u64 {
        self.all().get(uri).copied().unwrap_or_default()
    }

    /// The resources that are listened for.
    pub(crate) fn uris(&self) -> Vec<String> {
        self.all().keys().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_tells_only_of_what_somebody_listens_for_and_only_so_much() {
        let heard = Heard::default();
        heard.updated("a://1");
        assert_eq!((heard.count("a://1"), heard.uris().len()), (0, 0));
        assert_eq!(heard.listen("a://1"), Some(0));
        heard.updated("a://1");
        assert_eq!((heard.count("a://1"), heard.listen("a://1")), (1, Some(1)));
        for at in 0..2 * MAX_HEARD {
            heard.listen(&format!("b://{at}"));
        }
        assert_eq!(heard.uris().len(), MAX_HEARD);
    }
}
