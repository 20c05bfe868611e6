//! The clock by which an owner stops: it goes on while the machine sleeps, and nobody can set it.

use std::sync::Arc;
use std::time::Duration;

/// How long the machine has been up, sleep included.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Duration + Send + Sync>);

impl Clock {
    /// The one of this machine.
    pub fn system() -> Clock {
        Clock(Arc::new(since_boot))
    }

    /// One that is told the time, for tests.
    pub fn told(by: impl Fn() -> Duration + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(by))
    }

    /// Since when it counts is no matter: only differences are looked at.
    pub(crate) fn now(&self) -> Duration {
        (self.0)()
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}

#[cfg(target_os = "linux")]
fn since_boot() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
}

#[cfg(not(target_os = "linux"))]
fn since_boot() -> Duration {
    static BEGUN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    BEGUN.elapsed()
}
