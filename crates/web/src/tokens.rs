//! The tokens that enrol a device: random, good for one use and one minute, compared without telling how much of one was right.
//!
//! Invariants: a token itself is kept nowhere; after [`WRONG_TRIES`] wrong ones none is good any more, and nobody may try for a while.

use crate::devices::{Role, random};
use ring::hmac;
use ring::rand::SystemRandom;
use std::time::Duration;
use tokio::time::Instant;

/// For how long a token is good.
pub const GOOD_FOR: Duration = Duration::from_secs(60);
/// Wrong tries after which everything is off, and for how long.
pub(crate) const WRONG_TRIES: u32 = 5;
pub(crate) const PAUSE: Duration = Duration::from_secs(30);
/// Random bytes of a token.
const TOKEN_BYTES: usize = 32;
/// Tokens that are remembered, used and old ones too.
const MAX_TOKENS: usize = 64;

/// Why a token enrols nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unfit {
    Used,
    Old,
    Wrong,
    /// Too many were wrong; so long nobody may try.
    TooMany(Duration),
}

#[derive(Debug)]
struct Known {
    tag: hmac::Tag,
    born: Instant,
    role: Role,
    used: bool,
}

/// Those that were given out.
#[derive(Debug)]
pub(crate) struct Tokens {
    key: hmac::Key,
    known: Vec<Known>,
    wrong: u32,
    pause: Option<Instant>,
}

impl Tokens {
    /// None yet. `None` when the system has no random numbers.
    pub(crate) fn new() -> Option<Tokens> {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok()?;
        Some(Tokens { key, known: Vec::new(), wrong: 0, pause: None })
    }

    /// How long nobody may try; `None` when anybody may.
    pub(crate) fn pause(&self) -> Option<Duration> {
        let until = self.pause?;
        let now = Instant::now();
        (now < until).then(|| until - now)
    }

    /// A new one, for a device with this role. Where nobody may try yet, its time begins when they may.
    pub(crate) fn make(&mut self, role: Role) -> Option<String> {
        let token = random::<TOKEN_BYTES>()?;
        if self.known.len() >= MAX_TOKENS {
            self.known.remove(0);
        }
        let tag = hmac::sign(&self.key, token.as_bytes());
        let born = Instant::now() + self.pause().unwrap_or_default();
        self.known.push(Known { tag, born, role, used: false });
        Some(token)
    }

    /// Uses one up.
    pub(crate) fn spend(&mut self, token: &str) -> Result<Role, Unfit> {
        let now = Instant::now();
        if let Some(until) = self.pause {
            if now < until {
                return Err(Unfit::TooMany(until - now));
            }
            (self.pause, self.wrong) = (None, 0);
        }
        // All are looked at, and each is compared whole: how long it takes tells nothing.
        let mut found = None;
        for (at, known) in self.known.iter().enumerate() {
            if hmac::verify(&self.key, token.as_bytes(), known.tag.as_ref()).is_ok() {
                found = Some(at);
            }
        }
        match found.and_then(|at| self.known.get_mut(at)) {
            Some(known) if known.used => Err(Unfit::Used),
            Some(known) if now.duration_since(known.born) >= GOOD_FOR => Err(Unfit::Old),
            Some(known) => {
                known.used = true;
                Ok(known.role)
            }
            None => {
                self.wrong += 1;
                if self.wrong >= WRONG_TRIES {
                    self.known.clear();
                    self.pause = Some(now + PAUSE);
                }
                Err(Unfit::Wrong)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_token_is_good_once_and_for_a_minute() {
        let mut tokens = Tokens::new().unwrap();
        let (one, two) = (tokens.make(Role::Approver).unwrap(), tokens.make(Role::Controller).unwrap());
        assert!(one != two && one.len() == 43);
        assert_eq!(tokens.spend(&one), Ok(Role::Approver));
        assert_eq!(tokens.spend(&one), Err(Unfit::Used));
        tokio::time::advance(GOOD_FOR - Duration::from_millis(1)).await;
        let late = tokens.make(Role::Controller).unwrap();
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(tokens.spend(&two), Err(Unfit::Old));
        assert_eq!(tokens.spend(&late), Ok(Role::Controller));
        for wrong in ["", "x", &late[1..], &format!("{late}x")] {
            assert_eq!(tokens.spend(wrong), Err(Unfit::Wrong), "{wrong}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn after_wrong_ones_the_right_one_is_worth_nothing() {
        let mut tokens = Tokens::new().unwrap();
        let right = tokens.make(Role::Controller).unwrap();
        for _ in 0..WRONG_TRIES {
            assert_eq!(tokens.spend("wrong"), Err(Unfit::Wrong));
        }
        assert!(matches!(tokens.spend(&right), Err(Unfit::TooMany(_))));
        assert_eq!(tokens.pause(), Some(PAUSE));
        // One that is asked for meanwhile loses none of its time.
        let early = tokens.make(Role::Controller).unwrap();
        tokio::time::advance(PAUSE).await;
        assert_eq!(tokens.pause(), None);
        assert_eq!(tokens.spend(&right), Err(Unfit::Wrong));
        tokio::time::advance(GOOD_FOR - Duration::from_millis(1)).await;
        assert_eq!(tokens.spend(&early), Ok(Role::Controller));
        let fresh = tokens.make(Role::Controller).unwrap();
        assert_eq!(tokens.spend(&fresh), Ok(Role::Controller));
    }

    #[test]
    fn old_ones_make_room() {
        let mut tokens = Tokens::new().unwrap();
        for _ in 0..3 * MAX_TOKENS {
            tokens.make(Role::Observer).unwrap();
        }
        assert_eq!(tokens.known.len(), MAX_TOKENS);
    }
}
