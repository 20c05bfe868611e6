//! When to try again and how long to wait. Pure; the dice are thrown outside.

use std::time::Duration;

use crate::{ErrorKind, ModelError};

/// Attempts at a server that is silent until the time is up, or that ends without a word.
const MAX_SILENT_ATTEMPTS: u32 = 2;

/// The waits and attempts of requests. The defaults suit people; tests and slow servers set their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From the request to the first byte of the answer.
    pub first_byte: Duration,
    /// From one piece of the answer to the next.
    pub idle: Duration,
    /// The first one counts too.
    pub attempts: u32,
    /// The wait after the first failure; doubles each time.
    pub base_delay: Duration,
    /// The longest wait of our own choice.
    pub max_delay: Duration,
    /// The longest wait a provider may ask for; past it the person is told instead.
    pub max_retry_after: Duration,
    /// How long a server may take to say that it is there, when a model is chosen.
    pub probe: Duration,
    /// How long a provider may take to list its models.
    pub list: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Local servers read a long prompt for minutes before they say anything.
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(180),
            attempts: 5,
            base_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(20),
            max_retry_after: Duration::from_secs(90),
            probe: Duration::from_millis(700),
            list: Duration::from_secs(6),
        }
    }
}

/// The wait before the attempt after `failed` attempts; `None` when there is to be none.
///
/// `dice` is any number; our own waits are spread over half to the whole of the doubled delay.
pub(crate) fn wait_before_next(
    error: &ModelError,
    failed: u32,
    limits: &Limits,
    dice: u64,
) -> Option<Duration> {
    // A server that was silent for minutes gets one more chance, not a quarter of an hour.
    let attempts = match error.kind {
        ErrorKind::Timeout { .. } | ErrorKind::Empty => limits.attempts.min(MAX_SILENT_ATTEMPTS),
        _ => limits.attempts,
    };
    if failed >= attempts || !error.is_transient() {
        return None;
    }
    if let Some(asked) = error.retry_after {
        return (asked <= limits.max_retry_after).then_some(asked);
    }
    let doubled =
        limits.base_delay.saturating_mul(1 << failed.saturating_sub(1).min(16)).min(limits.max_delay);
    let half = u64::try_from(doubled.as_millis() / 2).unwrap_or(u64::MAX);
    Some(Duration::from_millis(half.saturating_add(dice % half.saturating_add(1))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wait;

    #[test]
    fn waits() {
        let limits = Limits::default();
        let busy = ModelError::new(ErrorKind::Overloaded, "a/b", "");
        let wait = |error: &ModelError, failed, dice| wait_before_next(error, failed, &limits, dice);
        let millis = |ms| Some(Duration::from_millis(ms));
        assert_eq!(wait(&busy, 1, 0), millis(250));
        assert_eq!(wait(&busy, 1, 250), millis(500));
        assert_eq!(wait(&busy, 1, 251), millis(250));
        assert_eq!(wait(&busy, 3, 1000), millis(2000));
        assert_eq!(wait(&busy, 5, 0), None, "no attempts left");
        let many = Limits { attempts: 100, ..limits };
        assert_eq!(wait_before_next(&busy, 99, &many, 0), millis(10_000), "capped");
        let asked = |secs| busy.clone().with_retry_after(Some(Duration::from_secs(secs)));
        assert_eq!(wait(&asked(7), 1, 99), millis(7_000));
        assert_eq!(wait(&asked(3600), 1, 0), None, "too long to wait silently");
        let silent = ModelError::new(ErrorKind::Timeout { which: Wait::FirstByte }, "a/b", "");
        assert_eq!((wait(&silent, 1, 0), wait(&silent, 2, 0)), (millis(250), None));
        assert_eq!(wait(&ModelError::new(ErrorKind::BadRequest, "a/b", ""), 1, 0), None);
    }
}
