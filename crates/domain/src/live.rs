//! Live output of one tool run on its way into the record: the beginning whole, then only the newest lines, now and then.
//!
//! What a tool says while it runs is for the person who watches; what it gave back is in its result. Without a bound a chatty command
//! would stay in the record for ever. Invariants: what is let through of one tool run adds up to at most [`MAX_LIVE`] bytes; what is
//! left out is said where it is left out; no character is torn.

use crate::ids::Millis;
use crate::tool::Progress;

/// Output of one tool run that is told as it comes.
pub const LIVE_WHOLE: usize = 128 * 1024;
/// The newest output that is told after that, each time.
pub const LIVE_TAIL: usize = 4 * 1024;
/// How often the newest output is told; then no more until the result.
pub const MAX_TAILS: u32 = 128;
/// The first pause between two tails, in milliseconds; it grows by itself with every [`TAILS_PER_PACE`] tails.
const PACE_MS: u64 = 500;
const TAILS_PER_PACE: u32 = 16;
/// Longest word of progress.
const MAX_STATUS: usize = 1024;
/// Words of progress that are told as they come; then they keep the same pace as tails, and end with them.
const FREE_STATUSES: u32 = 64;
/// What is said of what is left out, at most.
const MAX_REMARK: usize = 128;
/// The most that one tool run adds to the record while it runs.
pub const MAX_LIVE: usize = LIVE_WHOLE
    + MAX_TAILS as usize * (LIVE_TAIL + MAX_REMARK)
    + (FREE_STATUSES + MAX_TAILS) as usize * (MAX_STATUS + MAX_REMARK);

/// What was told of a tool run's output, and what waits to be.
#[derive(Debug, Default)]
pub struct LiveOutput {
    /// Bytes told as they came.
    told: usize,
    /// Bytes that the tool wrote in all.
    wrote: u64,
    /// The newest output, once not everything is told any more.
    tail: String,
    /// Something of it was not told yet.
    waits: bool,
    tails: Pace,
    status: Option<(Option<u8>, String)>,
    statuses: Pace,
    free_statuses: u32,
}

/// Lets something pass now and then, more and more seldom.
#[derive(Debug, Default)]
struct Pace {
    passed: u32,
    next: Millis,
}

impl Pace {
    fn due(&self) -> Option<Millis> {
        (self.passed < MAX_TAILS).then_some(self.next)
    }

    fn passes(&mut self, now: Millis) -> bool {
        let passes = self.due().is_some_and(|due| due <= now);
        if passes {
            self.passed += 1;
            let pause = PACE_MS * u64::from(1 + self.passed / TAILS_PER_PACE);
            self.next = Millis(now.0.saturating_add(pause));
        }
        passes
    }
}

impl LiveOutput {
    /// Takes what the tool says; gives what is to be told of it now.
    pub fn take(&mut self, now: Millis, progress: Progress) -> Option<Progress> {
        match progress {
            Progress::Output(text) => {
                self.wrote = self.wrote.saturating_add(text.len() as u64);
                if self.tail.is_empty() && self.told + text.len() <= LIVE_WHOLE {
                    self.told += text.len();
                    return (!text.is_empty()).then_some(Progress::Output(text));
                }
                self.tail.push_str(&text);
                self.shorten();
                self.waits = true;
                self.tail_due(now)
            }
            Progress::Replace(text) => {
                self.wrote = text.len() as u64;
                if self.tail.is_empty() && self.told + text.len() <= LIVE_WHOLE {
                    self.told += text.len();
                    return Some(Progress::Replace(text));
                }
                self.tail = text;
                self.shorten();
                self.waits = true;
                self.tail_due(now)
            }
            Progress::Status { percent, mut message } => {
                cut(&mut message, MAX_STATUS);
                if self.free_statuses < FREE_STATUSES {
                    self.free_statuses += 1;
                    return Some(Progress::Status { percent, message });
                }
                self.status = Some((percent, message));
                self.status_due(now)
            }
        }
    }

    /// When something that waits may be told; `None` when nothing waits, or nothing more will be told before the result.
    pub fn due(&self) -> Option<Millis> {
        let tail = self.tails.due().filter(|_| self.waits);
        let status = self.statuses.due().filter(|_| self.status.is_some());
        tail.into_iter().chain(status).min()
    }

    /// Something that waited and is due.
    pub fn late(&mut self, now: Millis) -> Option<Progress> {
        self.tail_due(now).or_else(|| self.status_due(now))
    }

    fn tail_due(&mut self, now: Millis) -> Option<Progress> {
        if !self.waits || !self.tails.passes(now) {
            return None;
        }
        let before = self.wrote.saturating_sub(self.tail.len() as u64);
        let last = self.tails.due().is_none();
        let remark = if last {
            format!("[{before} bytes before this; what follows comes with the result]")
        } else {
            format!("[{before} bytes before this; the newest:]")
        };
        self.waits = false;
        Some(Progress::Replace(format!("{remark}\n{}", self.tail)))
    }

    fn status_due(&mut self, now: Millis) -> Option<Progress> {
        if self.status.is_none() || !self.statuses.passes(now) {
            return None;
        }
        self.status.take().map(|(percent, message)| Progress::Status { percent, message })
    }

    fn shorten(&mut self) {
        if self.tail.len() > LIVE_TAIL {
            let mut from = self.tail.len() - LIVE_TAIL;
            while !self.tail.is_char_boundary(from) {
                from += 1;
            }
            self.tail.drain(..from);
        }
    }
}

/// Cuts a text to at most `most` bytes of whole characters, with a mark; true when it was longer.
pub(crate) fn cut(text: &mut String, most: usize) -> bool {
    if text.len() <= most {
        return false;
    }
    let mut end = most.saturating_sub('…'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text.push('…');
    text.shrink_to_fit();
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn output(text: &str) -> Progress {
        Progress::Output(text.to_owned())
    }

    fn size(progress: &Progress) -> usize {
        match progress {
            Progress::Output(text) | Progress::Replace(text) => text.len(),
            Progress::Status { message, .. } => message.len(),
        }
    }

    #[test]
    fn a_short_output_is_told_as_it_came() {
        let mut live = LiveOutput::default();
        for text in ["a\n", "b\n"] {
            assert_eq!(live.take(Millis(0), output(text)), Some(output(text)));
        }
        assert_eq!((live.due(), live.late(Millis(9_999))), (None, None));
    }

    #[test]
    fn what_is_due_first_is_due_next() {
        let mut live = LiveOutput::default();
        let status = || Progress::Status { percent: None, message: "on it".to_owned() };
        live.take(Millis(0), output(&"x".repeat(LIVE_WHOLE)));
        live.take(Millis(0), output("a"));
        for _ in 0..FREE_STATUSES {
            live.take(Millis(0), status());
        }
        assert!(live.take(Millis(50), status()).is_some());
        assert_eq!((live.take(Millis(60), status()), live.take(Millis(60), output("b"))), (None, None));
        assert_eq!(live.due(), Some(Millis(PACE_MS)), "the output, which was told before the status");
    }

    #[test]
    fn past_the_beginning_only_the_newest_is_told_and_how_much_was_before() {
        let mut live = LiveOutput::default();
        live.take(Millis(0), output(&"x".repeat(LIVE_WHOLE)));
        let Some(Progress::Replace(told)) = live.take(Millis(0), output("next\n")) else { panic!() };
        assert_eq!(told, format!("[{LIVE_WHOLE} bytes before this; the newest:]\nnext\n"));
        assert_eq!(live.take(Millis(1), output("soon\n")), None, "not at once again");
        assert_eq!(live.due(), Some(Millis(PACE_MS)));
        let Some(Progress::Replace(told)) = live.late(Millis(PACE_MS)) else { panic!() };
        assert!(told.ends_with("next\nsoon\n"), "{told}");
        assert_eq!((live.due(), live.late(Millis(9_999))), (None, None), "nothing new waits");
    }

    #[test]
    fn an_endless_output_adds_up_to_its_bound_and_ends_with_a_word() {
        let (mut live, mut told, mut last) = (LiveOutput::default(), 0, None);
        for number in 0..2_000_000u64 {
            let line = format!("{number}\n");
            if let Some(progress) = live.take(Millis(number), output(&line)) {
                told += size(&progress);
                last = Some(progress);
            }
        }
        assert!(told <= MAX_LIVE, "{told}");
        let Some(Progress::Replace(last)) = last else { panic!() };
        assert!(last.contains("comes with the result"), "{last}");
        assert_eq!(live.due(), None);
    }

    #[test]
    fn words_of_progress_are_shortened_and_become_rare() {
        let mut live = LiveOutput::default();
        let status =
            |n: u64| Progress::Status { percent: None, message: format!("{n}{}", "é".repeat(9_000)) };
        let told: Vec<Progress> = (0..10_000).filter_map(|n| live.take(Millis(n), status(n))).collect();
        assert!(told.len() < 100, "{}", told.len());
        assert!(told.iter().all(|progress| size(progress) <= MAX_STATUS));
    }

    proptest! {
        #[test]
        fn whatever_comes_stays_within_the_bound(
            pieces in prop::collection::vec((0u8..3, 0usize..40_000, 0u64..3_000), 0..120),
        ) {
            let (mut live, mut now, mut told) = (LiveOutput::default(), 0, 0);
            for (kind, length, pause) in pieces {
                now += pause;
                let text = "é".repeat(length);
                let progress = match kind {
                    0 => Progress::Output(text),
                    1 => Progress::Replace(text),
                    _ => Progress::Status { percent: Some(1), message: text },
                };
                told += live.late(Millis(now)).as_ref().map_or(0, size);
                told += live.take(Millis(now), progress).as_ref().map_or(0, size);
            }
            prop_assert!(told <= MAX_LIVE, "{}", told);
        }
    }
}
