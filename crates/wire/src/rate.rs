//! A token bucket on a clock that is handed in. Decides; does not wait and does not read the time.

/// Requests a link may make per second.
pub const REQUESTS_PER_SECOND: u32 = 100;

/// One token, in the unit the bucket counts in, so that refilling by the millisecond loses nothing.
const TOKEN: u64 = 1000;

/// Allows a burst of one second's worth, then `per_second` on average.
#[derive(Debug, Clone)]
pub struct Rate {
    per_second: u32,
    level: u64,
    last_ms: Option<u64>,
}

impl Rate {
    /// A full bucket. `per_second` 0 allows nothing.
    pub fn new(per_second: u32) -> Self {
        Self { per_second, level: u64::from(per_second) * TOKEN, last_ms: None }
    }

    /// Whether one more request may pass at `now_ms`. A clock that goes back adds nothing and does no harm.
    pub fn allow(&mut self, now_ms: u64) -> bool {
        let last = self.last_ms.unwrap_or(now_ms);
        let gained = now_ms.saturating_sub(last).saturating_mul(u64::from(self.per_second));
        self.level = self.level.saturating_add(gained).min(u64::from(self.per_second) * TOKEN);
        self.last_ms = Some(now_ms.max(last));
        if self.level < TOKEN {
            return false;
        }
        self.level -= TOKEN;
        true
    }
}

impl Default for Rate {
    fn default() -> Self {
        Self::new(REQUESTS_PER_SECOND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn passed(rate: &mut Rate, now_ms: u64, tries: usize) -> usize {
        (0..tries).filter(|_| rate.allow(now_ms)).count()
    }

    #[test]
    fn a_burst_of_one_second_then_the_average() {
        let mut rate = Rate::default();
        assert_eq!(passed(&mut rate, 5_000, 1_000), 100);
        assert_eq!(passed(&mut rate, 5_009, 10), 0);
        assert_eq!(passed(&mut rate, 5_010, 10), 1);
        assert_eq!(passed(&mut rate, 5_510, 1_000), 50);
        assert_eq!(passed(&mut rate, 100_000, 1_000), 100);
    }

    #[test]
    fn small_steps_add_up() {
        let mut rate = Rate::new(3);
        assert_eq!(passed(&mut rate, 0, 10), 3);
        let count: usize = (1..=10_000).map(|now| passed(&mut rate, now, 2)).sum();
        assert_eq!(count, 30);
    }

    #[test]
    fn a_clock_that_goes_back_grants_nothing() {
        let mut rate = Rate::new(1);
        assert!(rate.allow(10_000));
        assert!(!rate.allow(0));
        assert!(!rate.allow(10_500));
        assert!(rate.allow(11_000));
    }

    #[test]
    fn zero_allows_nothing() {
        assert_eq!(passed(&mut Rate::new(0), u64::MAX, 5), 0);
    }

    proptest! {
        #[test]
        fn never_more_than_a_burst_and_the_average(
            per_second in 1u32..200, steps in proptest::collection::vec(0u64..50, 1..200),
        ) {
            let mut rate = Rate::new(per_second);
            let (mut now, mut count) = (0, 0u64);
            for step in steps {
                now += step;
                count += u64::from(rate.allow(now));
            }
            prop_assert!(count * TOKEN <= u64::from(per_second) * (TOKEN + now));
        }
    }
}
