//! The secrets of a session, shared by whoever must not write them down.

use domain::secret::Secrets;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The secrets of a session that this process knows. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct KnownSecrets(Arc<Mutex<Secrets>>);

impl KnownSecrets {
    /// Waits for other threads that read or add one.
    pub fn lock(&self) -> MutexGuard<'_, Secrets> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
