//! What the person wants of the run and of the program, until it has come: to stop, to quit, a summary, words for when the run is over.

use domain::content::Input;
use domain::ids::{Millis, RunId};
use std::collections::VecDeque;

/// How long a second Ctrl-C quits.
const QUIT_MS: u64 = 2_000;
/// How long a second Esc stops everything, in milliseconds.
pub(crate) const TWICE_MS: u64 = 1_500;
/// Texts that wait until a run has stopped at most; one more stays in the composer.
const MAX_LATER: usize = 32;
/// Texts from here that are known to wait in a queue at most; the oldest is forgotten.
const MAX_WAITING: usize = 64;

/// What is wanted and has not come yet.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    /// Until when a second Ctrl-C quits.
    quit_until: Option<Millis>,
    /// Until when a second Esc stops everything.
    all_until: Option<Millis>,
    /// Until when a second Esc edits the last prompt.
    edit_until: Option<Millis>,
    /// Until when a second Esc gives up a program that starts.
    give_up_until: Option<Millis>,
    /// The run that the person wants stopped.
    stopped: Option<RunId>,
    /// Whether the person wants a summary and nobody has told of one yet.
    summary: bool,
    /// Whether what waited is put away with the run that ends, instead of coming back to the composer.
    put_away: bool,
    /// What was written while the run was being stopped: said when it is over.
    later: Vec<Input>,
    /// What was written here and waits in a queue.
    waiting: VecDeque<String>,
}

impl Wishes {
    /// A key to quit: the second one does.
    pub(crate) fn quit(&mut self, now: Millis) -> bool {
        let second = self.quit_until.is_some();
        if !second {
            self.quit_until = Some(Millis(now.0 + QUIT_MS));
        }
        second
    }

    /// Whether the next such key would quit.
    pub(crate) fn is_quitting(&self) -> bool {
        self.quit_until.is_some()
    }

    /// Any other key; one that is not Esc also means that not everything is to be stopped.
    pub(crate) fn go_on(&mut self, is_esc: bool) {
        self.quit_until = None;
        if !is_esc {
            self.all_until = None;
            self.edit_until = None;
            self.give_up_until = None;
        }
    }

    /// A key to stop came: the same once more, soon, stops everything.
    pub(crate) fn stop_once(&mut self, now: Millis) {
        self.all_until = Some(Millis(now.0 + TWICE_MS));
    }

    /// Whether this is the second one; the next one is the first again.
    pub(crate) fn stops_everything(&mut self) -> bool {
        self.all_until.take().is_some()
    }

    /// Esc that means nothing else: the second one, soon, edits the last prompt.
    pub(crate) fn edits_last(&mut self, now: Millis) -> bool {
        let second = self.edit_until.take().is_some();
        if !second {
            self.edit_until = Some(Millis(now.0 + TWICE_MS));
        }
        second
    }

    /// Esc while a program starts: the second one, soon, gives it up.
    pub(crate) fn gives_up(&mut self, now: Millis) -> bool {
        let second = self.give_up_until.take().is_some();
        if !second {
            self.give_up_until = Some(Millis(now.0 + TWICE_MS));
        }
        second
    }

    /// Whether a second Esc edits the last prompt.
    pub(crate) fn is_editing(&self) -> bool {
        self.edit_until.is_some()
    }

    /// Forgets what was waited for too long.
    pub(crate) fn tick(&mut self, now: Millis) {
        self.quit_until = self.quit_until.filter(|until| *until > now);
        self.all_until = self.all_until.filter(|until| *until > now);
        self.edit_until = self.edit_until.filter(|until| *until > now);
        self.give_up_until = self.give_up_until.filter(|until| *until > now);
    }

    /// When a second key is a first one again.
    pub(crate) fn ends(&self) -> impl Iterator<Item = Millis> {
        [self.quit_until, self.all_until, self.edit_until, self.give_up_until].into_iter().flatten()
    }

    /// The run is to be stopped.
    pub(crate) fn stop(&mut self, run: Option<RunId>) {
        self.stopped = run;
    }

    /// Whether the person wants this run stopped; of a question without a run, whether they want any stopped.
    pub(crate) fn has_stopped(&self, run: Option<RunId>) -> bool {
        self.stopped.is_some_and(|stopped| run.is_none_or(|run| run == stopped))
    }

    /// The person asks for older messages to be put together.
    pub(crate) fn want_summary(&mut self) {
        self.summary = true;
    }

    /// Whether one is wanted that nobody has told of.
    pub(crate) fn wants_summary(&self) -> bool {
        self.summary
    }

    /// It is there, or will not come; `false` when nobody wanted one.
    pub(crate) fn take_summary(&mut self) -> bool {
        std::mem::take(&mut self.summary)
    }

    /// What waits is put away with the run that ends.
    pub(crate) fn put_away(&mut self) {
        self.put_away = true;
    }

    /// Whether what waits stays out of the composer when the run ends.
    pub(crate) fn puts_away(&self) -> bool {
        self.put_away
    }

    /// Another run begins: what waits for it is not put away.
    pub(crate) fn run_begins(&mut self) {
        self.put_away = false;
    }

    /// A text that was written here waits in a queue.
    pub(crate) fn waits(&mut self, text: String) {
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(text);
    }

    /// Whether a text that a stopped run leaves behind is this person's: they wrote it here, or stopped the run here. With several UIs on
    /// one session it is otherwise somebody else's.
    pub(crate) fn comes_back(&mut self, text: &str) -> bool {
        let own = self.waiting.iter().position(|waiting| waiting == text);
        own.map(|at| self.waiting.remove(at)).is_some() || self.has_stopped(None)
    }

    /// Keeps an input until the run is over.
    ///
    /// # Errors
    /// When there are too many: the input comes back.
    pub(crate) fn say_later(&mut self, input: Input) -> Result<(), Input> {
        if self.later.len() >= MAX_LATER {
            return Err(input);
        }
        self.later.push(input);
        Ok(())
    }

    /// What was kept, oldest first.
    pub(crate) fn take_later(&mut self) -> Vec<Input> {
        std::mem::take(&mut self.later)
    }
}
