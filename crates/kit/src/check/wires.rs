//! What the kit knows of each wire: how to greet, ask, answer and recognise ends, from either side. One file and one folder per
//! wire, with the scenarios and the planted defects that only it has. None of this uses the dialects' own code: a fault there must not hide itself.

mod acp;
mod asst;
mod codelia;
mod lemon;
mod native;
mod nous;
mod openagent;

use super::defects::Defect;
use super::scenes::{OwnScenario, PartLine, ScenarioFile};
use super::{Scenario, ScenarioPlay};
use crate::notation::NotationError;
use crate::pattern::{Bindings, Missing, Pattern};
use crate::peer::Carrier;
use serde_json::Value;
use std::sync::LazyLock;

/// What a wire's file of scenarios tells, read when it is needed. That it can be read is held by a test.
pub(super) type Told = LazyLock<Result<ScenarioFile, NotationError>>;

/// How a conversation begins.
pub(super) enum Greeting {
    /// Nobody greets.
    None,
    /// The runtime speaks first.
    Hear,
    /// The UI speaks first.
    Say(fn() -> Value),
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Done,
    Failed,
    Cancelled,
}

/// A wire as a UI sees it, for testing runtimes.
pub(super) struct RuntimeWire {
    pub(super) dialect: &'static str,
    pub(super) carrier: Carrier,
    pub(super) told: &'static Told,
    pub(super) greeting: Greeting,
    /// Whether a line ends the handshake.
    pub(super) greeted: fn(&Value) -> bool,
    /// What a UI says to a line by itself, whatever the scenario.
    pub(super) reply: fn(&Value) -> Vec<Value>,
    /// What the program calls the session, where a line tells it and later lines must name it: they say `{session}` in its place, and
    /// `{cwd}` for where the program works.
    pub(super) session: fn(&Value) -> Option<String>,
    /// What a line announces that the program can do, or cannot: an ability, and whether it is there.
    pub(super) announces: fn(&Value) -> Vec<(&'static str, bool)>,
    /// Whether a line says that the program has no such request.
    pub(super) not_known: fn(&Value, u64) -> bool,
    /// A harmless request, and whether a line answers it.
    pub(super) probe: fn(u64) -> Value,
    pub(super) probed: fn(&Value, u64) -> bool,
    pub(super) prompt: fn(u64, &str) -> Value,
    /// The run's id, where a line tells it; anything that shows that the run began, where runs have no ids.
    pub(super) run_id: fn(&Value) -> Option<Value>,
    pub(super) ended: fn(&Value) -> Option<End>,
    /// Whether a run is ended by the same word as a request is answered with: who has that wrong has one thing wrong.
    pub(super) ends_as_it_answers: bool,
    /// Whether a line is a run's last word, on wires where a line that tells its end besides may be left out.
    pub(super) last_word: fn(&Value) -> bool,
    /// Whether a line belongs to a run.
    pub(super) of_run: fn(&Value) -> bool,
    pub(super) cancel: Option<fn(u64, &Value) -> Value>,
    /// What names a question for consent, if a line is one.
    pub(super) asked: Option<fn(&Value) -> Option<Value>>,
    pub(super) answer: fn(u64, &Value, bool) -> Value,
    pub(super) ends_with_stdin: bool,
    /// A prompt that waits for its turn while another one is answered.
    pub(super) later: Option<fn(u64, &str) -> Value>,
    /// What a runtime may get wrong of the words that only this wire has.
    pub(super) defects: fn() -> Vec<Defect>,
    /// What its document leaves to a runtime: nobody may mind.
    pub(super) permitted: fn() -> Vec<Defect>,
}

/// A wire as a runtime sees it, for testing UIs.
pub(super) struct UiWire {
    pub(super) dialect: &'static str,
    pub(super) carrier: Carrier,
    pub(super) told: &'static Told,
    /// What lines name that only code can know.
    pub(super) bound: fn() -> Bindings,
}

const RUNTIMES: &[&RuntimeWire] = &[
    &native::RUNTIME,
    &codelia::RUNTIME,
    &nous::RUNTIME,
    &lemon::RUNTIME,
    &openagent::RUNTIME,
    &asst::RUNTIME,
    &acp::RUNTIME,
];
const UIS: &[&UiWire] =
    &[&native::UI, &codelia::UI, &nous::UI, &lemon::UI, &openagent::UI, &asst::UI, &acp::UI];

/// The wire of this name, for testing runtimes.
pub(super) fn runtime(dialect: &str) -> Option<&'static RuntimeWire> {
    RUNTIMES.iter().copied().find(|wire| wire.dialect == dialect)
}

/// The wire of this name, for testing UIs.
pub(super) fn ui(dialect: &str) -> Option<&'static UiWire> {
    UIS.iter().copied().find(|wire| wire.dialect == dialect)
}

impl RuntimeWire {
    /// The scenarios that only this wire has.
    pub(super) fn own(&self) -> Vec<Scenario> {
        let own = self.told.as_ref().map(|file| file.own.as_slice()).unwrap_or_default();
        let scenario = |own: &'static OwnScenario| Scenario {
            name: own.name,
            says: own.says,
            expects: own.title,
            act: ScenarioPlay::Steps(&own.steps),
        };
        own.iter().map(scenario).collect()
    }
}

impl UiWire {
    fn part(&self, name: &str) -> &'static [PartLine] {
        self.told.as_ref().map(|file| file.part(name)).unwrap_or_default()
    }

    /// What names stand for before the UI has said anything, while question `ask` is the one that is asked.
    pub(super) fn names(&self, ask: u64) -> Bindings {
        let mut names = (self.bound)();
        names.bind("ask", Value::from(ask));
        names
    }

    /// The lines of a part, each with its lane.
    pub(super) fn lines(&self, part: &str) -> Vec<(u8, &'static Pattern)> {
        let said = self.part(part).iter().filter_map(|line| match line {
            PartLine::Said(lane, pattern) => Some((*lane, pattern)),
            PartLine::Heard(_) => None,
        });
        said.collect()
    }

    /// What a line of the UI is answered with before any prompt: the handshake, lists, whatever it wants to know.
    pub(super) fn reply(&self, line: &Value) -> Vec<Value> {
        let mut names = (self.bound)();
        let fits =
            |part: &PartLine| matches!(part, PartLine::Heard(heard) if heard.holds(None, line, &mut names));
        let mut lines = self.part("reply").iter();
        if lines.position(fits).is_none() {
            return Vec::new();
        }
        let said = lines.map_while(|part| match part {
            PartLine::Said(_, pattern) => Some(pattern),
            PartLine::Heard(_) => None,
        });
        said.map(|pattern| filled(pattern, &mut names)).collect()
    }

    /// The prompt's text, if a line is one; what it names is known then.
    pub(super) fn prompt(&self, line: &Value, names: &mut Bindings) -> Option<String> {
        self.hears("prompt", line, names).then(|| {
            names.bind("id", line.get("id").cloned().unwrap_or_default());
            names.get("text").and_then(Value::as_str).unwrap_or_default().to_owned()
        })
    }

    /// Whether the question was answered with yes, if a line is its answer.
    pub(super) fn answered(&self, line: &Value, ask: u64) -> Option<bool> {
        let mut names = self.names(ask);
        self.hears("answered", line, &mut names).then(|| self.hears("yes", line, &mut names))
    }

    fn hears(&self, part: &str, line: &Value, names: &mut Bindings) -> bool {
        let fits = |part: &PartLine| matches!(part, PartLine::Heard(heard) if heard.holds(None, line, names));
        self.part(part).iter().any(fits)
    }
}

/// A line with what its names stand for. What nobody has named yet is made up.
pub(super) fn filled(pattern: &Pattern, names: &mut Bindings) -> Value {
    let line = pattern.fill(names, Missing::Invent).unwrap_or_default();
    serde_json::from_str(&line).unwrap_or_default()
}

/// The abilities that scenarios for all wires are about.
pub(super) const CANCEL: &str = "cancel";
pub(super) const CONSENT: &str = "consent";

/// Where a wire has no words for what a program can do.
fn nothing(_: &Value) -> Vec<(&'static str, bool)> {
    Vec::new()
}

/// A text at a place of a line.
fn text<'v>(line: &'v Value, place: &str) -> Option<&'v str> {
    line.pointer(place).and_then(Value::as_str)
}

/// A text that is not empty.
fn named(line: &Value, place: &str) -> Option<Value> {
    text(line, place).filter(|text| !text.is_empty()).map(Value::from)
}
