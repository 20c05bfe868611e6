//! Which of what happens in a session is the run of one prompt: what came before it is the past, or somebody else's.
//!
//! States: nothing (nobody has taken the prompt), run (the receipt named it), any (taken without a word about a run). Invariant: nothing
//! of a run passes before its receipt named it. A quick runtime tells of a run before its receipt, so the newest one is put aside.

use domain::event::{Body, Event, RunEvent};
use domain::ids::RunId;

/// Most events of a run that are put aside for its receipt; past it they are given up, and the answer is read where it is kept.
const MAX_ASIDE: usize = 65_536;

/// Whose end is the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Awaited {
    /// Nobody has taken the prompt yet: what ends now is the past.
    #[default]
    Nothing,
    Run(RunId),
    /// The prompt was taken without a word about its run.
    Any,
}

/// The run of our prompt, among others.
#[derive(Debug, Default)]
pub(super) struct PromptRun {
    awaited: Awaited,
    /// The newest run, from its beginning, for as long as it may be ours.
    aside: Vec<Event>,
    /// Whether that run goes on.
    open: bool,
}

impl PromptRun {
    /// Something happened: what of it is ours, or nobody's, and is told now.
    pub(super) fn heard(&mut self, event: Event) -> Vec<Event> {
        if self.is_taken() {
            return vec![event];
        }
        match &event.body {
            Body::Run(RunEvent::Started { .. }) => {
                self.aside.clear();
                self.open = true;
            }
            Body::Run(RunEvent::Ended { .. }) if self.open => {
                self.put_aside(event);
                self.open = false;
                return Vec::new();
            }
            _ if !self.open => return vec![event],
            _ => {}
        }
        self.put_aside(event);
        Vec::new()
    }

    fn put_aside(&mut self, event: Event) {
        if self.aside.len() < MAX_ASIDE {
            self.aside.push(event);
        }
    }

    /// The prompt was taken as this run: what is known of it already.
    pub(super) fn taken(&mut self, run: RunId) -> Vec<Event> {
        self.awaited = Awaited::Run(run);
        let aside = std::mem::take(&mut self.aside);
        let is_ours =
            |event: &Event| matches!(event.body, Body::Run(RunEvent::Started { run: began }) if began == run);
        if aside.first().is_some_and(is_ours) { aside } else { Vec::new() }
    }

    /// The prompt waits for this run, which is another's until then.
    pub(super) fn waits_for(&mut self, run: RunId) {
        self.awaited = Awaited::Run(run);
        self.aside.clear();
    }

    /// The prompt was taken without a word about its run.
    pub(super) fn taken_somehow(&mut self) {
        self.awaited = Awaited::Any;
        self.aside.clear();
    }

    /// Whether somebody has taken the prompt.
    pub(super) fn is_taken(&self) -> bool {
        self.awaited != Awaited::Nothing
    }

    /// The run that the receipt named.
    pub(super) fn run(&self) -> Option<RunId> {
        match self.awaited {
            Awaited::Run(run) => Some(run),
            Awaited::Nothing | Awaited::Any => None,
        }
    }

    /// With the end of another run nothing is over for who waits.
    pub(super) fn ends_with(&self, run: RunId) -> bool {
        match self.awaited {
            Awaited::Nothing => false,
            Awaited::Run(ours) => ours == run,
            Awaited::Any => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::event::{Outcome, SessionEvent};
    use domain::ids::{Millis, Seq};

    fn event(body: Body) -> Event {
        Event { seq: Seq(0), at: Millis(0), body }
    }

    fn began(run: u64) -> Event {
        event(Body::Run(RunEvent::Started { run: RunId(run) }))
    }

    fn ended(run: u64) -> Event {
        event(Body::Run(RunEvent::Ended { run: RunId(run), outcome: Outcome::Done }))
    }

    fn title() -> Event {
        event(Body::Session(SessionEvent::Renamed { title: "t".into() }))
    }

    #[test]
    fn nothing_of_the_past_passes_and_its_end_is_not_the_end() {
        let mut own = PromptRun::default();
        for run in [1, 5] {
            for past in [began(run), title(), ended(run)] {
                assert_eq!(own.heard(past), []);
            }
            assert!(!own.ends_with(RunId(run)));
        }
        assert_eq!(own.heard(title()).len(), 1, "what belongs to no run passes");
        assert_eq!(own.taken(RunId(9)), []);
        assert_eq!(own.heard(began(9)).len(), 1);
        assert!(own.ends_with(RunId(9)) && !own.ends_with(RunId(5)));
    }

    #[test]
    fn a_run_that_was_quicker_than_its_receipt_is_told_from_its_beginning() {
        let mut own = PromptRun::default();
        for event in [began(1), ended(1), began(9), title(), ended(9)] {
            assert_eq!(own.heard(event), []);
        }
        assert_eq!(own.taken(RunId(9)), [began(9), title(), ended(9)]);
    }

    #[test]
    fn a_prompt_that_waits_for_the_run_of_another_tells_nothing_of_what_that_said_before() {
        let mut own = PromptRun::default();
        assert_eq!(own.heard(began(4)), []);
        assert_eq!(own.heard(title()), []);
        own.waits_for(RunId(4));
        assert_eq!(own.heard(title()).len(), 1);
        assert!(own.ends_with(RunId(4)));
    }
}
