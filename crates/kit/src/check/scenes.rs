//! The scenarios that a wire's file tells (`wires/NAME/scenarios.txt`): the sentence of the document beside what is said and expected.
//!
//! The file is written like a transcript, of which it has the heads `title` and `seed`, the signs `>` and `<`, the patterns, `anyorder` and
//! `#`. A line that is indented goes on with the one before. In it stand
//!
//! - `word NAME CONDITION`: a condition that others may name;
//! - `runtime NAME…` or `ui NAME…`, then `seed` and `says`: what the document says about scenarios that every wire has;
//! - `part NAME`: what the kit says (`<`) in the place of a runtime, and conditions by which it knows what a UI says (`>`). In `reply` each
//!   condition stands above what it is answered with. `$id` is the id of the prompt and `$text` its words, `$said` the model's,
//!   `$ask` the number of a question and `$seq` that of an event;
//! - `scenario NAME`, then `title`, perhaps `seed` and `says` (a document that says nothing leaves it open), and steps.
//!
//! A *condition* holds of a line: patterns, `/place` (something is there), `/place is text` (`name`, `number`, `count`, `list`, `object`;
//! `count below 99`), a `word`, and `any`, `greeted`, `ended`, `of-run`, `asked`, which the wire's table knows. They are joined by `and`,
//! `not` (and not) and, weakest, `or`. Names that a pattern binds stay bound; `$id` is the number of the request that was said last, and
//! each `>` line with it is a new one. `$plain`, `$tool`, `$slow` and `$consent` are the prompts.
//!
//! The *steps*: `greet`, `hello` (only its first line), `probe`, `prompt plain` and `>` say something. `< CONDITION else WORDS` waits for
//! a line, passing over others (`because greets`, `answers` or `run-ends` before `else`: that scenario is about its absence); `anyorder else WORDS` … `end` for
//! several. `gather CONDITION` keeps what comes up to such a line, `lull` what comes until the program is silent, in addition; whatever
//! is said next lets go of it. A `gather` that waits for `ended` and does not come to it judges nothing, except of a slow prompt. `needs NAME` skips what a program did
//! not announce. `must` judges the line that was found last, `none`, `some` (which finds it) and `once` those that were
//! kept, `each /place` the elements there; `rises`, `counts`, `pairs` and `judge` look at all of them. What does not hold is wrong (`else
//! WORDS`; without, the line) or had no occasion (`skip WORDS`), where `$name` is a value and `${name}` its bare text. `tries N
//! CONDITION` … `end` goes again until such a line was kept.

mod parse;
mod play;

use super::wires::RuntimeWire;
use super::{Quote, Stop, Tested};
use crate::notation::NotationError;
use crate::pattern::{Bindings, Pattern, matches};
use serde_json::Value;

pub(super) use play::play;

/// What a file of scenarios tells.
#[derive(Default)]
pub(super) struct ScenarioFile {
    /// What the document says about scenarios that every wire has.
    quotes: Vec<(Tested, &'static str, Quote)>,
    /// What is said to a UI, by what it is.
    parts: Vec<(&'static str, Vec<PartLine>)>,
    /// The scenarios that only this wire has, in order.
    pub(super) own: Vec<OwnScenario>,
}

/// What is said in a `reply` belongs to the condition above it, so order counts.
pub(super) enum PartLine {
    /// The UI may say this.
    Heard(Condition),
    /// The kit says this, on a lane.
    Said(u8, Pattern),
}

/// A scenario that only one wire has.
pub(super) struct OwnScenario {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) says: Option<Quote>,
    pub(super) steps: Vec<SceneStep>,
}

/// A judgement that no condition can express: of all lines that were kept.
pub(super) type Judgement = (&'static str, fn(&[Value]) -> Result<(), Stop>);

/// One step of a scenario.
pub(super) enum SceneStep {
    Greet,
    Hello,
    Probe,
    Prompt(WishName),
    /// A line, and whether it is a request with a number of its own.
    Say(Pattern, bool),
    Await {
        all: Vec<Condition>,
        /// The scenario that is about what is missing here.
        because: Option<&'static str>,
        what: String,
    },
    Gather(Condition),
    /// Only for programs that announced this ability.
    Needs(String),
    Lull,
    Must(Condition, Otherwise),
    None(Condition, Otherwise),
    Some(Condition, Otherwise),
    Once(Condition, Otherwise),
    Each(String, Condition, Otherwise),
    /// The numbers at a place rise, perhaps by one; the words are for when there are none.
    Rises {
        place: String,
        by_one: bool,
        without: Otherwise,
    },
    /// As many `thing_start` as `thing_end` at a place.
    Pairs(String, Vec<String>),
    Judge(fn(&[Value]) -> Result<(), Stop>),
    Tries(u32, Condition, Vec<SceneStep>),
}

/// A prompt that the person who checks may choose.
#[derive(Clone, Copy)]
pub(super) enum WishName {
    Plain,
    Tool,
    Slow,
    Consent,
}

/// What a scenario ends with when something does not hold.
pub(super) struct Otherwise {
    skipped: bool,
    words: String,
}

/// What has to hold of a line: one of these alternatives, each of which is a list of terms that hold or must not.
#[derive(Clone)]
pub(super) struct Condition(Vec<Vec<(bool, Term)>>);

#[derive(Clone)]
enum Term {
    Fits(Pattern),
    Has(String),
    Is(String, JsonKind),
    Wire(LineKind),
    Word(Condition),
}

#[derive(Clone, Copy)]
enum JsonKind {
    Text,
    /// A text that is not empty.
    Name,
    Number,
    /// A whole number, not negative, perhaps below a bound.
    Count(Option<u64>),
    List,
    Object,
}

/// What the wire's table knows of a line.
#[derive(Clone, Copy)]
enum LineKind {
    Any,
    Greeted,
    Ended,
    OfRun,
    Asked,
}

impl ScenarioFile {
    /// Reads a file; the error names the line.
    pub(super) fn parse(
        text: &'static str,
        judgements: &'static [Judgement],
    ) -> Result<ScenarioFile, NotationError> {
        parse::file(text, judgements)
    }

    /// What the document says about a scenario that every wire has.
    pub(super) fn says(&self, tested: Tested, scenario: &str) -> Option<Quote> {
        let found = self.quotes.iter().find(|(whose, name, _)| *whose == tested && *name == scenario);
        found.map(|(.., quote)| *quote)
    }

    /// The lines of a part; none where the wire has no such thing.
    pub(super) fn part(&self, name: &str) -> &[PartLine] {
        self.parts.iter().find(|(known, _)| *known == name).map_or(&[], |(_, lines)| lines)
    }

    /// The names of the scenarios that it has quotes for.
    #[cfg(test)]
    pub(super) fn quoted(&self, tested: Tested) -> impl Iterator<Item = &'static str> {
        self.quotes.iter().filter(move |(whose, ..)| *whose == tested).map(|(_, name, _)| *name)
    }
}

impl Condition {
    /// Whether it holds of a line; names that it binds then are bound.
    pub(super) fn holds(&self, wire: Option<&RuntimeWire>, line: &Value, bindings: &mut Bindings) -> bool {
        self.0.iter().any(|terms| {
            let mut tried = bindings.clone();
            let holds = terms.iter().all(|(wanted, term)| match wanted {
                true => term.holds(wire, line, &mut tried),
                false => !term.holds(wire, line, &mut tried.clone()),
            });
            if holds {
                *bindings = tried;
            }
            holds
        })
    }
}

impl Condition {
    /// Whether the end of a run is one of the things that it holds of.
    fn awaits_the_end(&self) -> bool {
        let is_end = |terms: &Vec<_>| matches!(terms.as_slice(), [(true, Term::Wire(LineKind::Ended))]);
        self.0.iter().any(is_end)
    }
}

impl Term {
    fn holds(&self, wire: Option<&RuntimeWire>, line: &Value, bindings: &mut Bindings) -> bool {
        match self {
            Term::Fits(pattern) => matches(pattern, line, bindings).is_ok(),
            Term::Has(place) => line.pointer(place).is_some(),
            Term::Is(place, kind) => line.pointer(place).is_some_and(|value| kind.is(value)),
            Term::Wire(kind) => wire.is_some_and(|wire| kind.is(wire, line)),
            Term::Word(condition) => condition.holds(wire, line, bindings),
        }
    }
}

impl JsonKind {
    fn is(self, value: &Value) -> bool {
        match self {
            JsonKind::Text => value.is_string(),
            JsonKind::Name => value.as_str().is_some_and(|text| !text.is_empty()),
            JsonKind::Number => value.is_number(),
            JsonKind::Count(below) => {
                value.as_u64().is_some_and(|count| below.is_none_or(|below| count < below))
            }
            JsonKind::List => value.is_array(),
            JsonKind::Object => value.is_object(),
        }
    }
}

impl LineKind {
    fn is(self, wire: &RuntimeWire, line: &Value) -> bool {
        match self {
            LineKind::Any => true,
            LineKind::Greeted => (wire.greeted)(line),
            LineKind::Ended => (wire.ended)(line).is_some(),
            LineKind::OfRun => (wire.of_run)(line),
            LineKind::Asked => wire.asked.is_some_and(|asked| asked(line).is_some()),
        }
    }
}
