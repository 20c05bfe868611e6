//! Waiting for a program that starts: by its life, not by the clock. One that fetches itself first, or loads for minutes, is not one that hangs.
//!
//! Where a person named a time ([`Hello::start_within`]) that one counts alone. Else a person at a terminal waits for as long as it lives, and
//! where nobody can choose it is given up once it has written nothing for [`START_TIMEOUT`].

use domain::ids::Millis;
use roles::{Hello, START_TIMEOUT};
use std::time::Duration;

/// How long a program may still take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// It is looked again after that.
    For(Duration),
    /// It is given up: that is the time it had.
    Over(Duration),
}

/// A program that starts.
#[derive(Debug, Clone, Default)]
pub struct Start {
    attended: bool,
    /// The person has a key for it: in a room of the server they only leave.
    has_key: bool,
    limit: Option<Duration>,
    begun: Millis,
    stirs: bool,
}

impl Start {
    /// A program that was started now.
    pub fn of(hello: &Hello, now: Millis) -> Start {
        let attended = hello.is_attended || (hello.size.is_some() && !hello.is_away);
        Start { attended, has_key: hello.size.is_some(), limit: hello.start_within, begun: now, stirs: false }
    }

    /// The same on a wire where nobody is told that it takes long: the clock counts.
    pub fn by_clock(hello: &Hello, now: Millis) -> Start {
        Start { attended: false, ..Start::of(hello, now) }
    }

    /// When to look first.
    pub fn first(&self) -> Duration {
        self.limit.map_or(START_TIMEOUT, |limit| limit.min(START_TIMEOUT))
    }

    /// It wrote something beside its wire.
    pub fn stirred(&mut self) {
        self.stirs = true;
    }

    /// What it wrote up to now was told.
    pub fn told(&mut self) {
        self.stirs = false;
    }

    /// How long it is waited for, as a sentence for the person.
    pub fn until(&self) -> String {
        let seconds = START_TIMEOUT.as_secs();
        let time = match (self.limit, self.attended) {
            (Some(limit), _) => format!("It gets {} s (start_within_s)", limit.as_secs()),
            (None, true) => "It is waited for while it lives".to_owned(),
            (None, false) => format!("It gets {seconds} s, and as long again whenever it wrote on stderr"),
        };
        let key = if self.attended && self.has_key { "; Esc twice gives it up." } else { "." };
        time + key
    }

    /// Whether it is waited for any longer.
    pub fn due(&mut self, now: Millis) -> Waits {
        let waited = Duration::from_millis(now.since(self.begun));
        match self.limit {
            Some(limit) if waited >= limit => Waits::Over(limit),
            Some(limit) => Waits::For(START_TIMEOUT.min(limit - waited)),
            None if self.attended || std::mem::take(&mut self.stirs) => Waits::For(START_TIMEOUT),
            None => Waits::Over(START_TIMEOUT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGUN: Millis = Millis(1_000);

    fn after(seconds: u64) -> Millis {
        Millis(BEGUN.0 + seconds * 1_000)
    }

    fn hello(size: Option<(u16, u16)>, limit: Option<u64>) -> Hello {
        Hello { size, start_within: limit.map(Duration::from_secs), ..Hello::default() }
    }

    #[test]
    fn a_person_waits_while_it_lives_and_nobody_else_longer_than_it_moves() {
        let mut attended = Start::of(&hello(Some((80, 24)), None), BEGUN);
        assert_eq!(attended.due(after(3_000)), Waits::For(START_TIMEOUT));
        let mut alone = Start::of(&hello(None, None), BEGUN);
        alone.stirred();
        assert_eq!(alone.due(after(30)), Waits::For(START_TIMEOUT));
        assert_eq!(alone.due(after(60)), Waits::Over(START_TIMEOUT), "it wrote nothing since");
        alone.stirred();
        alone.told();
        assert_eq!(alone.due(after(60)), Waits::Over(START_TIMEOUT));
        let mut away = Start::of(&Hello { is_away: true, ..hello(Some((80, 24)), None) }, BEGUN);
        assert_eq!(away.due(after(30)), Waits::Over(START_TIMEOUT));
        let mut by_clock = Start::by_clock(&hello(Some((80, 24)), None), BEGUN);
        assert_eq!(by_clock.due(after(30)), Waits::Over(START_TIMEOUT));
    }

    #[test]
    fn a_time_that_the_person_named_counts_alone() {
        for size in [None, Some((80, 24))] {
            let mut short = Start::of(&hello(size, Some(5)), BEGUN);
            assert_eq!(short.first(), Duration::from_secs(5));
            short.stirred();
            assert_eq!(short.due(after(5)), Waits::Over(Duration::from_secs(5)));
            let mut long = Start::of(&hello(size, Some(70)), BEGUN);
            assert_eq!(long.first(), START_TIMEOUT);
            assert_eq!(long.due(after(30)), Waits::For(START_TIMEOUT), "silence is no reason");
            assert_eq!(long.due(after(60)), Waits::For(Duration::from_secs(10)));
            assert_eq!(long.due(after(70)), Waits::Over(Duration::from_secs(70)));
            assert_eq!(long.until().contains("70 s (start_within_s); Esc twice"), size.is_some());
        }
    }
}
