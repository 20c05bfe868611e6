//! The conformance kit: named scenarios that a program either keeps or not, for runtimes and for UIs, on every wire.
//!
//! A scenario plays the other side of the wire against a fresh copy of the program, in a directory of its own, and is tolerant of
//! everything that a document leaves open: any text, any ids, any number of events. What a program has no occasion to show (it never
//! asked, it was too quick to be cancelled) is skipped, with the reason. Invariants: each scenario judges one thing; no scenario
//! depends on another; nothing waits without a bound.

pub mod agent;
mod at_once;
mod defects;
mod expected;
mod explain;
mod report;
mod scenes;
mod shared;
mod talk;
#[cfg(test)]
mod tests;
mod ui;
mod wires;

use crate::peer::{Carrier, Peer, PeerError};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::{Duration, Instant};
use talk::Talk;

pub use defects::Defect;
pub use expected::{Expected, NotExpected};
pub use explain::document;
pub use report::CheckReport;

/// How many times the patience one scenario may take.
const SCENARIO_PATIENCE: u32 = 6;

/// What the program under test is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tested {
    /// It runs an agent.
    Runtime,
    /// A person sits at it.
    Ui,
}

impl Tested {
    /// `runtime` or `ui`.
    pub fn word(self) -> &'static str {
        match self {
            Tested::Runtime => "runtime",
            Tested::Ui => "ui",
        }
    }

    /// The scenario that is about whether the program can be spoken with at all.
    fn first(self) -> &'static str {
        match self {
            Tested::Runtime => shared::ANSWERS,
            Tested::Ui => ui::PROMPTS,
        }
    }
}

/// What is said to the program, and how patient the kit is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wishes {
    /// A prompt that gets a short answer without tools.
    pub plain: String,
    /// A prompt that needs a harmless tool.
    pub tool: String,
    /// A prompt that is answered slowly, within seconds.
    pub slow: String,
    /// A prompt that makes the agent append the line `once` to the file [`MARK`], which needs consent.
    pub consent: String,
    /// How long the program may take for anything that is due.
    pub patience: Duration,
    /// How long it must be silent before nothing more is expected of it.
    pub lull: Duration,
}

/// The file that the consent prompt writes to.
pub const MARK: &str = "parlor-check.txt";

impl Default for Wishes {
    fn default() -> Wishes {
        Wishes {
            plain: "Say hello.".to_owned(),
            tool: "list files".to_owned(),
            slow: "count to 200 slowly".to_owned(),
            consent: format!("run `echo once >> {MARK}`"),
            patience: Duration::from_secs(20),
            lull: Duration::from_millis(1500),
        }
    }
}

/// A future of a scenario.
pub type Doing<'t> = Pin<Box<dyn Future<Output = Result<(), Stop>> + Send + 't>>;

/// Starts or reaches the program, in a directory.
pub type Reach<'r> =
    dyn Fn(PathBuf) -> Pin<Box<dyn Future<Output = Result<Peer, PeerError>> + Send + 'r>> + Send + Sync + 'r;

/// One thing to find out.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// Unique within its wire and role.
    pub name: &'static str,
    /// What the wire's document says about it; `None` when that leaves it open, so that it costs nothing.
    pub says: Option<Quote>,
    /// What a program should do, in a sentence.
    pub expects: &'static str,
    act: ScenarioPlay,
}

/// How a scenario is played.
#[derive(Clone, Copy)]
enum ScenarioPlay {
    Code(fn(&mut Talk) -> Doing<'_>),
    /// As its wire's file tells it.
    Steps(&'static [scenes::SceneStep]),
}

impl ScenarioPlay {
    async fn play(self, talk: &mut Talk) -> Result<(), Stop> {
        match self {
            ScenarioPlay::Code(act) => act(talk).await,
            ScenarioPlay::Steps(steps) => scenes::play(talk, steps).await,
        }
    }
}

/// A sentence of a wire's document, word for word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quote {
    pub section: &'static str,
    pub text: &'static str,
}

/// Why a scenario ends early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The program does not keep to it.
    Wrong {
        came: String,
        /// The scenario that is about what went wrong, where this one is about something else.
        cause: Option<&'static str>,
    },
    /// The program gave no occasion.
    Skipped(String),
}

impl Stop {
    /// The program does not keep to it; `came` says what it did instead.
    pub(crate) fn wrong(came: impl Into<String>) -> Stop {
        Stop::Wrong { came: came.into(), cause: None }
    }

    /// The same, on the way to what the scenario is about: another one judges that.
    pub(crate) fn because(self, cause: &'static str) -> Stop {
        match self {
            Stop::Wrong { came, .. } => Stop::Wrong { came, cause: Some(cause) },
            Stop::Skipped(why) => Stop::Skipped(why),
        }
    }
}

/// What became of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScenarioOutcome {
    /// Kept.
    Passed,
    /// Not kept; what came instead.
    Failed(String),
    /// Not kept, and the document does not demand it; what came instead.
    Open(String),
    /// There was no occasion.
    Skipped(String),
}

/// A scenario and what became of it.
#[derive(Clone)]
pub struct Finding {
    pub scenario: Scenario,
    /// What became of it.
    pub found: ScenarioOutcome,
    /// The last lines of the conversation, as a transcript, and of the program's stderr.
    pub said: Vec<String>,
    /// How long it took.
    pub took: Duration,
    /// The scenario that is about what went wrong here.
    cause: Option<&'static str>,
    /// The scenario that counts it, where another one does.
    pub because: Option<&'static str>,
}

impl Finding {
    fn is_red(&self) -> bool {
        matches!(self.found, ScenarioOutcome::Failed(_) | ScenarioOutcome::Open(_))
    }

    /// The scenario that counts what went wrong here, if anything did.
    fn counted_by(&self) -> Option<&'static str> {
        if self.is_red() { Some(self.scenario.name) } else { self.because }
    }

    /// A fault counts once: where the scenario that is about it found it too, or had itself no occasion because of a third, this one is
    /// not judged.
    fn judged(mut self, others: &[(usize, Finding)]) -> Finding {
        let cause = self.cause.filter(|_| self.is_red());
        let other = cause.and_then(|cause| others.iter().find(|(_, other)| other.scenario.name == cause));
        if let Some(because) = other.and_then(|(_, other)| other.counted_by()) {
            self.found = ScenarioOutcome::Skipped(format!("not judged because of {because}"));
            self.because = Some(because);
        }
        self
    }
}

/// All scenarios of a wire and role.
pub struct Suite {
    /// The wire.
    pub dialect: &'static str,
    pub tested: Tested,
    /// How bytes are carried.
    pub carrier: Carrier,
    /// What is found out, in order.
    pub scenarios: Vec<Scenario>,
    wire: talk::AnyWire,
}

impl Suite {
    /// The scenarios of a wire; `None` when there are none for this role yet.
    pub fn of(dialect: &str, tested: Tested) -> Option<Suite> {
        match tested {
            Tested::Runtime => {
                let wire = wires::runtime(dialect)?;
                let mut scenarios = shared::scenarios(wire);
                scenarios.extend(wire.own());
                let wire_of = talk::AnyWire::Runtime(wire);
                Some(Suite { dialect: wire.dialect, tested, carrier: wire.carrier, scenarios, wire: wire_of })
            }
            Tested::Ui => {
                let wire = wires::ui(dialect)?;
                let (scenarios, wire_of) = (ui::scenarios(wire), talk::AnyWire::Ui(wire));
                Some(Suite { dialect: wire.dialect, tested, carrier: wire.carrier, scenarios, wire: wire_of })
            }
        }
    }

    /// Keeps only the scenarios whose name contains a text; whether there are any.
    pub fn only(&mut self, part: &str) -> bool {
        self.scenarios.retain(|scenario| scenario.name.contains(part));
        !self.scenarios.is_empty()
    }

    /// Keeps only these scenarios.
    pub fn only_named(&mut self, names: &[&str]) {
        self.scenarios.retain(|scenario| names.contains(&scenario.name));
    }

    /// Runs every scenario, `at_once` of them at a time; `each` is told as they end.
    pub async fn run(
        &self,
        reach: &Reach<'_>,
        wishes: &Wishes,
        at_once: usize,
        each: &mut (dyn FnMut(&Finding) + Send),
    ) -> CheckReport {
        let mut findings: Vec<(usize, Finding)> = Vec::new();
        // Those that wait for the scenario that is about what went wrong.
        let mut held: Vec<(usize, Finding)> = Vec::new();
        let jobs = self.scenarios.iter().map(|scenario| Box::pin(self.find(*scenario, reach, wishes)));
        at_once::at_once(jobs, at_once, |index, finding| {
            held.push((index, finding));
            while let Some(at) = held.iter().position(|(_, finding)| self.can_be_judged(finding, &findings)) {
                let (index, finding) = held.remove(at);
                let finding = finding.judged(&findings);
                each(&finding);
                findings.push((index, finding));
            }
        })
        .await;
        // Two that blame each other wait for ever: then each is judged by itself.
        for (index, finding) in held {
            each(&finding);
            findings.push((index, finding));
        }
        findings.sort_by_key(|(index, _)| *index);
        let findings = findings.into_iter().map(|(_, finding)| finding).collect();
        CheckReport { dialect: self.dialect, tested: self.tested, findings }
    }

    /// Whether it is known what became of the scenario that is about what went wrong in this one.
    fn can_be_judged(&self, finding: &Finding, findings: &[(usize, Finding)]) -> bool {
        let Some(cause) = finding.cause.filter(|cause| *cause != finding.scenario.name) else { return true };
        let played = self.scenarios.iter().any(|scenario| scenario.name == cause);
        !played || findings.iter().any(|(_, other)| other.scenario.name == cause)
    }

    async fn find(&self, scenario: Scenario, reach: &Reach<'_>, wishes: &Wishes) -> Finding {
        let began = Instant::now();
        let (stop, said) = match tempfile::Builder::new().prefix("parlor-check-").tempdir() {
            Err(why) => (Err(Stop::wrong(format!("cannot make a directory to work in: {why}"))), Vec::new()),
            Ok(dir) => match reach(real(dir.path())).await {
                Err(why) => {
                    let (why, said) = (why.to_string(), why.said());
                    (
                        Err(Stop::wrong(format!("cannot speak with the program: {why}"))
                            .because(self.tested.first())),
                        said,
                    )
                }
                Ok(peer) => {
                    let mut talk = Talk::new(peer, self.wire, wishes.clone(), real(dir.path()));
                    let bound = wishes.patience * SCENARIO_PATIENCE;
                    let stop = tokio::time::timeout(bound, scenario.act.play(&mut talk)).await;
                    let stop = stop.unwrap_or_else(|_| Err(Stop::wrong(format!("not over after {bound:?}"))));
                    (stop, talk.close().await)
                }
            },
        };
        let (found, cause) = match stop {
            Ok(()) => (ScenarioOutcome::Passed, None),
            Err(Stop::Wrong { came, cause }) => {
                let cause = cause.filter(|cause| *cause != scenario.name);
                let demanded = scenario.says.is_some();
                (if demanded { ScenarioOutcome::Failed(came) } else { ScenarioOutcome::Open(came) }, cause)
            }
            Err(Stop::Skipped(why)) => (ScenarioOutcome::Skipped(why), None),
        };
        Finding { scenario, found, said, took: began.elapsed(), cause, because: None }
    }
}

/// A path as programs see it, links resolved.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
