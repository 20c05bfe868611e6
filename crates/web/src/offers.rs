//! The offer to enrol a device: made when the person asks for it, good for one device and one minute. A browser that takes it up is
//! given a short code, which the person compares with the one on their own screen.
//!
//! Always: there is one offer and one candidate at a time; nobody is enrolled whom the person did not allow; a code says nothing to
//! whoever reads it, since it counts only for the connection that shows it. Pure but for random numbers: time comes in as a value.

use crate::devices::Role;
use ring::rand::{SecureRandom, SystemRandom};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// For how long an offer is good.
pub const GOOD_FOR: Duration = Duration::from_secs(60);
/// Browsers that may take up one offer, one after the other: more are somebody who tries.
const MAX_CANDIDATES: u32 = 5;
/// Characters of the name that an offer has for itself, and those that it is made of: none is taken for another.
const NAME_LENGTH: usize = 10;
const LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyz23456789";
const CODE_DIGITS: usize = 6;

/// Why a browser is not even asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// Nobody asked for a device within the last minute.
    NotOffered,
    /// Another one is being asked about.
    Busy,
    /// It came by another name than that of the offer.
    OtherName,
    /// Too many have tried.
    TooMany,
}

/// How it ended for a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Allowed(Role),
    Denied,
}

/// A browser that is being asked about, as screens show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairing {
    pub id: u64,
    /// The offer that it took up.
    pub offer: u64,
    /// What it calls itself.
    pub name: String,
    pub role: Role,
    /// What it shows to the person.
    pub code: String,
    /// Until when it may be allowed.
    pub until: Instant,
}

/// What a candidate is given.
#[derive(Debug)]
pub(crate) struct Ticket {
    pub(crate) pairing: Pairing,
    pub(crate) verdict: oneshot::Receiver<Verdict>,
}

/// How offers stand, for whoever made one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standing {
    /// The one that is open now.
    pub open: Option<u64>,
    /// The last one whose browser was allowed.
    pub allowed: Option<u64>,
}

#[derive(Debug)]
struct Offer {
    number: u64,
    role: Role,
    /// The name that it has for itself, where it has one.
    name: Option<String>,
    until: Instant,
    candidates: u32,
    candidate: Option<(Pairing, oneshot::Sender<Verdict>)>,
}

/// What is offered now.
#[derive(Debug, Default)]
pub(crate) struct Offers {
    open: Option<Offer>,
    made: u64,
    /// The last one whose browser was allowed.
    allowed: Option<u64>,
    /// Browsers that were asked about.
    number: u64,
}

impl Offers {
    /// Offers to enrol one device; gives the number of the offer. An earlier one is over, and so is whoever took it up.
    pub(crate) fn open(&mut self, role: Role, name: Option<String>, now: Instant) -> u64 {
        self.made += 1;
        let (number, until) = (self.made, now + GOOD_FOR);
        self.open = Some(Offer { number, role, name, until, candidates: 0, candidate: None });
        number
    }

    /// Whoever made this offer is gone: it is over, and so is whoever took it up. Another one stays.
    pub(crate) fn withdraw(&mut self, number: u64) {
        self.open.take_if(|offer| offer.number == number);
    }

    /// Which offer is open, and which was allowed last.
    pub(crate) fn standing(&self, now: Instant) -> Standing {
        let open = self.open.as_ref().filter(|offer| now < offer.until);
        Standing { open: open.map(|offer| offer.number), allowed: self.allowed }
    }

    /// The name of what is offered now; `None` when nothing is.
    pub(crate) fn offered(&self, now: Instant) -> Option<Option<&str>> {
        let offer = self.open.as_ref().filter(|offer| now < offer.until)?;
        Some(offer.name.as_deref())
    }

    /// A browser that came by this name takes the offer up.
    pub(crate) fn take_up(&mut self, by: &str, called: &str, now: Instant) -> Result<Ticket, Unfit> {
        let offer = self.open.as_mut().filter(|offer| now < offer.until).ok_or(Unfit::NotOffered)?;
        if offer.name.as_deref().is_some_and(|name| name != by) {
            return Err(Unfit::OtherName);
        }
        // One that is gone makes room.
        if offer.candidate.as_ref().is_some_and(|(_, verdict)| !verdict.is_closed()) {
            return Err(Unfit::Busy);
        }
        if offer.candidates >= MAX_CANDIDATES {
            return Err(Unfit::TooMany);
        }
        offer.candidates += 1;
        self.number += 1;
        let pairing = Pairing {
            id: self.number,
            offer: offer.number,
            name: called.to_owned(),
            role: offer.role,
            code: code().ok_or(Unfit::NotOffered)?,
            until: offer.until,
        };
        let (tell, verdict) = oneshot::channel();
        offer.candidate = Some((pairing.clone(), tell));
        Ok(Ticket { pairing, verdict })
    }

    /// Who is asked about now.
    pub(crate) fn pairing(&self, now: Instant) -> Option<&Pairing> {
        let offer = self.open.as_ref().filter(|offer| now < offer.until)?;
        offer.candidate.as_ref().filter(|(_, verdict)| !verdict.is_closed()).map(|(pairing, _)| pairing)
    }

    /// The person's word about the candidate of this number, which is the end of the offer; whether it was still waited for.
    pub(crate) fn answer(&mut self, id: u64, allow: bool, now: Instant) -> bool {
        if self.pairing(now).is_none_or(|pairing| pairing.id != id) {
            return false;
        }
        let Some((pairing, verdict)) = self.open.take().and_then(|offer| offer.candidate) else {
            return false;
        };
        let word = if allow { Verdict::Allowed(pairing.role) } else { Verdict::Denied };
        let heard = verdict.send(word).is_ok();
        if allow && heard {
            self.allowed = Some(pairing.offer);
        }
        heard
    }
}

/// A name that no browser has met: it keeps nothing under it that somebody else could have left there.
pub(crate) fn fresh_name() -> Option<String> {
    let mut bytes = [0; NAME_LENGTH];
    SystemRandom::new().fill(&mut bytes).ok()?;
    // Thirty-two letters: each is as likely as the others.
    Some(bytes.iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect())
}

/// Whether this is a name that an offer may have for itself.
pub(crate) fn is_fresh_name(name: &str) -> bool {
    name.len() == NAME_LENGTH && name.bytes().all(|byte| LETTERS.contains(&byte))
}

/// Six digits, in two groups.
fn code() -> Option<String> {
    let mut bytes = [0; 8];
    SystemRandom::new().fill(&mut bytes).ok()?;
    let number = u64::from_ne_bytes(bytes) % 10_u64.pow(u32::try_from(CODE_DIGITS).ok()?);
    let digits = format!("{number:0CODE_DIGITS$}");
    let (first, second) = digits.split_at(CODE_DIGITS / 2);
    Some(format!("{first} {second}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64, begin: Instant) -> Instant {
        begin + Duration::from_millis(millis)
    }

    #[test]
    fn nobody_is_asked_about_unless_the_person_asked_within_a_minute() {
        let (mut offers, begin) = (Offers::default(), Instant::now());
        assert_eq!(offers.take_up("a", "x", begin).err(), Some(Unfit::NotOffered));
        offers.open(Role::Approver, Some("a".to_owned()), begin);
        assert_eq!(offers.offered(begin), Some(Some("a")));
        assert_eq!(offers.take_up("b", "x", begin).err(), Some(Unfit::OtherName));
        let late = begin + GOOD_FOR;
        assert_eq!(
            (offers.take_up("a", "x", late).err(), offers.offered(late)),
            (Some(Unfit::NotOffered), None)
        );
        let mut ticket = offers.take_up("a", "x", at(59_999, begin)).unwrap();
        // Allowed too late.
        assert!(!offers.answer(ticket.pairing.id, true, late));
        assert!(ticket.verdict.try_recv().is_err());
    }

    #[test]
    fn one_at_a_time_is_asked_about_and_one_word_ends_the_offer() {
        let (mut offers, now) = (Offers::default(), Instant::now());
        offers.open(Role::Controller, None, now);
        let mut first = offers.take_up("any", "first", now).unwrap();
        assert_eq!(offers.take_up("any", "second", now).err(), Some(Unfit::Busy));
        assert!(!offers.answer(first.pairing.id + 1, true, now), "another number allows nobody");
        assert_eq!(offers.pairing(now), Some(&first.pairing));
        assert!(offers.answer(first.pairing.id, true, now));
        assert_eq!(first.verdict.try_recv(), Ok(Verdict::Allowed(Role::Controller)));
        assert_eq!(
            offers.take_up("any", "second", now).err(),
            Some(Unfit::NotOffered),
            "one offer, one device"
        );
        offers.open(Role::Controller, None, now);
        let mut third = offers.take_up("any", "third", now).unwrap();
        assert!(offers.answer(third.pairing.id, false, now));
        assert_eq!(third.verdict.try_recv(), Ok(Verdict::Denied));
        assert_eq!(offers.take_up("any", "again", now).err(), Some(Unfit::NotOffered));
    }

    #[test]
    fn who_is_gone_makes_room_but_not_for_ever() {
        let (mut offers, now) = (Offers::default(), Instant::now());
        offers.open(Role::Controller, None, now);
        for _ in 0..MAX_CANDIDATES {
            let ticket = offers.take_up("any", "x", now).unwrap();
            let id = ticket.pairing.id;
            drop(ticket);
            assert!(offers.pairing(now).is_none() && !offers.answer(id, true, now));
        }
        assert_eq!(offers.take_up("any", "x", now).err(), Some(Unfit::TooMany));
        // A new offer ends who took up the old one.
        offers.open(Role::Controller, None, now);
        let mut ticket = offers.take_up("any", "x", now).unwrap();
        offers.open(Role::Controller, None, now);
        assert!(ticket.verdict.try_recv().is_err() && !offers.answer(ticket.pairing.id, true, now));
    }

    #[test]
    fn an_offer_is_over_when_whoever_made_it_is_gone_and_no_other_one_is() {
        let (mut offers, now) = (Offers::default(), Instant::now());
        let first = offers.open(Role::Controller, None, now);
        let mut ticket = offers.take_up("any", "x", now).unwrap();
        assert_eq!(ticket.pairing.offer, first);
        offers.withdraw(first);
        assert!(ticket.verdict.try_recv().is_err() && !offers.answer(ticket.pairing.id, true, now));
        assert_eq!(offers.take_up("any", "y", now).err(), Some(Unfit::NotOffered));
        let second = offers.open(Role::Controller, None, now);
        offers.withdraw(first);
        assert_eq!(offers.standing(now), Standing { open: Some(second), allowed: None });
        let ticket = offers.take_up("any", "z", now).unwrap();
        assert!(offers.answer(ticket.pairing.id, true, now));
        assert_eq!(offers.standing(now), Standing { open: None, allowed: Some(second) });
    }

    #[test]
    fn names_and_codes_are_as_they_are_shown() {
        let (one, two) = (fresh_name().unwrap(), fresh_name().unwrap());
        assert!(one != two && is_fresh_name(&one) && is_fresh_name(&two));
        for wrong in ["", "abc", "abcdefghi1", "ABCDEFGHIJ", "abcdefghi.", "abcdefghijk"] {
            assert!(!is_fresh_name(wrong), "{wrong}");
        }
        for _ in 0..100 {
            let code = code().unwrap();
            let shown = code.len() == CODE_DIGITS + 1 && code.as_bytes()[CODE_DIGITS / 2] == b' ';
            assert!(shown && code.bytes().filter(u8::is_ascii_digit).count() == CODE_DIGITS, "{code}");
        }
    }
}
