//! A model that goes round in a circle, found by what it does and not by how long it takes. Pure.
//!
//! A round is one answer of the model with the results of its calls. It is a repeat when it is the same as the round before, when two
//! rounds come in turn, or when neither it nor its results have anything new and no file was changed. A round in which a call itself
//! waited is none: who polls for a server or a build does the same on purpose. Invariant: the model is told before the person is, and
//! only a model that goes on after it was told ends its turn.

use super::step::Call;
use domain::tool::ToolOutcome;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tools::Outcome;

/// So many rounds that are all the same are a circle.
const SAME: usize = 4;
/// So many rounds of which every second one is the same are a circle.
const IN_TURN: usize = 6;
/// So many rounds without anything new are a circle.
const NOTHING_NEW: usize = 12;
/// So many rounds it may go on after the model was told.
const AFTER_TOLD: usize = 4;
/// A round whose calls took this long waited for something.
const WAITED: Duration = Duration::from_secs(5);
/// Rounds that are remembered: what came before them counts as new again.
const REMEMBERED: usize = 64;
/// The tools that change files and do nothing else.
const CHANGE_FILES: [&str; 3] = ["apply_patch", "edit", "write"];

/// What one round did.
#[derive(Debug, Clone, Default)]
struct Round {
    /// Each call with its arguments and its result.
    calls: Vec<(String, String, String)>,
    /// What the model said beside them.
    said: String,
    /// A tool for files has changed one.
    changed: bool,
    /// How long the calls took.
    took: Duration,
}

/// What is to be done about a round.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    GoOn,
    /// The model is to hear this with its next result.
    TellModel(String),
    /// The turn ends; the person hears this.
    TellPerson(String),
}

/// The rounds of a turn, from its start on.
#[derive(Debug, Default)]
pub(crate) struct Repeats(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    rounds: Rounds,
    /// The round under way.
    now: Round,
    /// What the model is to hear with the next result.
    word: Option<String>,
}

impl Repeats {
    /// A call of the round under way has ended. What the model is to hear stands in its result from here on, so that the record has it too.
    pub(super) fn ended(&self, call: &Call, outcome: &mut Outcome) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = call.call.name.clone();
        state.now.changed |= outcome.outcome == ToolOutcome::Done && CHANGE_FILES.contains(&name.as_str());
        state.now.calls.push((name, call.call.args.to_object().to_string(), outcome.result.text.clone()));
        if let Some(word) = state.word.take() {
            outcome.result.text.push_str(&word);
        }
    }

    /// The round is over: the model said this in it, and its calls took so long. Gives what the person hears when the turn has to end.
    pub(super) fn round_over(&self, said: &str, took: Duration) -> Option<String> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut round = Round { said: said.trim().to_owned(), took, ..std::mem::take(&mut state.now) };
        // Calls that run together end in any order.
        round.calls.sort();
        match state.rounds.add(&round) {
            Verdict::GoOn => None,
            Verdict::TellModel(word) => {
                state.word = Some(word);
                None
            }
            Verdict::TellPerson(words) => Some(words),
        }
    }
}

/// The rounds so far.
#[derive(Debug, Default)]
struct Rounds {
    newest: VecDeque<u64>,
    seen: VecDeque<u64>,
    /// Rounds in a row without anything new.
    nothing_new: usize,
    /// Rounds since the model was told, while the circle lasts.
    told: Option<usize>,
}

impl Rounds {
    /// Takes in what the model just did.
    fn add(&mut self, round: &Round) -> Verdict {
        if round.took >= WAITED {
            *self = Rounds { seen: std::mem::take(&mut self.seen), ..Rounds::default() };
            return Verdict::GoOn;
        }
        let mut is_new = round.changed;
        for thing in round.calls.iter().map(hash).chain([hash(&round.said)]) {
            if !self.seen.contains(&thing) {
                is_new = true;
                push(&mut self.seen, thing);
            }
        }
        push(&mut self.newest, hash(&round.calls));
        self.nothing_new = if is_new { 0 } else { self.nothing_new + 1 };
        let Some(what) = self.circle(round) else {
            self.told = None;
            return Verdict::GoOn;
        };
        match &mut self.told {
            None => {
                self.told = Some(0);
                Verdict::TellModel(format!(
                    "\n\nParlor: {what}. Doing it again will not change that. Try something else. If nothing else is left, say what \
                     you found and what you need, and end your turn."
                ))
            }
            Some(rounds) if *rounds + 1 < AFTER_TOLD => {
                *rounds += 1;
                Verdict::GoOn
            }
            Some(_) => {
                Verdict::TellPerson(format!("The model repeats itself: {what}. It was told so and went on."))
            }
        }
    }

    /// In words what is repeated, if anything is.
    fn circle(&self, round: &Round) -> Option<String> {
        let last = self.newest.back()?;
        let same = self.newest.iter().rev().take_while(|one| *one == last).count();
        let names = names(round);
        if same >= SAME {
            return Some(format!(
                "{names} was called with the same arguments {same} times and gave the same each time"
            ));
        }
        let before = self.newest.iter().rev().nth(1)?;
        let turns = self.newest.iter().rev().enumerate();
        let in_turn = turns.take_while(|(at, one)| *one == if at % 2 == 0 { last } else { before }).count();
        if in_turn >= IN_TURN {
            return Some(format!(
                "two calls, one of them {names}, came in turn {in_turn} times with the same results"
            ));
        }
        let rounds = self.nothing_new;
        (rounds >= NOTHING_NEW)
            .then(|| format!("{rounds} steps in a row brought nothing new and changed no file"))
    }
}

fn push(list: &mut VecDeque<u64>, thing: u64) {
    if list.len() >= REMEMBERED {
        list.pop_front();
    }
    list.push_back(thing);
}

fn hash(thing: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}

fn names(round: &Round) -> String {
    let mut names: Vec<&str> = round.calls.iter().map(|(name, _, _)| name.as_str()).collect();
    names.dedup();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round(name: &str, args: &str, result: &str) -> Round {
        Round { calls: vec![(name.into(), args.into(), result.into())], ..Round::default() }
    }

    fn verdicts(rounds: impl IntoIterator<Item = Round>) -> Vec<Verdict> {
        let mut all = Rounds::default();
        rounds.into_iter().map(|round| all.add(&round)).collect()
    }

    fn told_at(verdicts: &[Verdict]) -> (Option<usize>, Option<usize>) {
        let at = |is: fn(&Verdict) -> bool| verdicts.iter().position(is).map(|at| at + 1);
        (at(|one| matches!(one, Verdict::TellModel(_))), at(|one| matches!(one, Verdict::TellPerson(_))))
    }

    #[test]
    fn the_same_call_with_the_same_result_is_told_to_the_model_and_then_to_the_person() {
        let all = verdicts((0..20).map(|_| round("ls", "{}", "a.txt")));
        assert_eq!(told_at(&all), (Some(SAME), Some(SAME + AFTER_TOLD)));
        let Verdict::TellModel(words) = &all[SAME - 1] else { panic!() };
        assert!(words.contains("ls was called with the same arguments 4 times"), "{words}");
    }

    #[test]
    fn two_calls_in_turn_are_a_circle() {
        let all = verdicts(
            (0..20).map(|at| if at % 2 == 0 { round("ls", "{}", "a") } else { round("read", "b", "b") }),
        );
        assert_eq!(told_at(&all).0, Some(IN_TURN));
    }

    #[test]
    fn three_calls_in_turn_bring_nothing_new() {
        let all = verdicts((0..40).map(|at| round("read", &(at % 3).to_string(), "x")));
        assert_eq!(told_at(&all).0, Some(3 + NOTHING_NEW));
        // Words that are new do not make it one.
        let talking = (0..40)
            .map(|at| Round { said: format!("try {at}"), ..round("read", &(at % 3).to_string(), "x") });
        assert_eq!(told_at(&verdicts(talking)), (None, None));
    }

    #[test]
    fn who_polls_reads_much_or_changes_files_is_not_in_a_circle() {
        let polls = (0..60).map(|_| Round { took: WAITED, ..round("bash", "sleep 5; curl", "not yet") });
        assert_eq!(told_at(&verdicts(polls)), (None, None));
        let reads = (0..200).map(|at| round("read", &at.to_string(), "the same line"));
        assert_eq!(told_at(&verdicts(reads)), (None, None));
        let results = (0..200).map(|at| round("bash", "cargo test", &format!("{at} failed")));
        assert_eq!(told_at(&verdicts(results)), (None, None));
        let edits = (0..60).map(|at| match at % 2 {
            0 => Round { changed: true, ..round("edit", &at.to_string(), "changed") },
            _ => round("bash", "cargo test", "1 failed"),
        });
        assert_eq!(told_at(&verdicts(edits)), (None, None));
    }

    #[test]
    fn who_leaves_the_circle_begins_anew() {
        let mut all = Rounds::default();
        for _ in 0..SAME {
            all.add(&round("ls", "{}", "a"));
        }
        assert_eq!(all.add(&round("read", "b", "b")), Verdict::GoOn);
        let again: Vec<Verdict> = (0..SAME).map(|_| all.add(&round("ls", "{}", "a"))).collect();
        assert_eq!(told_at(&again), (Some(SAME), None), "{again:?}");
    }

    proptest! {
        #[test]
        fn the_person_never_hears_before_the_model(rounds in proptest::collection::vec((0u8..3, 0u8..2, any::<bool>()), 0..80)) {
            let rounds = rounds.iter().map(|(args, result, changed)| Round { changed: *changed, ..round("t", &args.to_string(), &result.to_string()) });
            let (model, person) = told_at(&verdicts(rounds));
            prop_assert!(person.is_none_or(|person| model.is_some_and(|model| model + AFTER_TOLD <= person)));
        }
    }
}
