//! How many connections Parlor carries in all, for proxies and ports that are led out together: each has two descriptors, and a process
//! has only so many, which Parlor needs for its own files, too.

use tokio::sync::Semaphore;

/// Connections at once, of all commands of all sessions. With two descriptors each they leave most of the usual 1024.
pub(crate) const MAX_CARRIED: usize = 160;

/// A place for each connection; it is held as long as the connection is there.
pub(crate) static PLACES: Semaphore = Semaphore::const_new(MAX_CARRIED);
