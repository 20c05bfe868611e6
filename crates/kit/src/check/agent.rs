//! How well an agent works with models that err: scripted models, tasks, and what the harness makes of them.
//!
//! Each task has a folder, a server on loopback that plays the model on the APIs that agents speak, and a fresh copy of the agent, which
//! is prompted over its wire as a UI would. The model is not clever and not random: it reacts, by a table ([`tasks`]). What it is not: a
//! judge of wires, that is the rest of [`crate::check`]; nor of models. Invariants: nothing is judged by how a harness words its results;
//! nothing waits without a bound; with a task its server, its folder and its agent are gone.

mod bill;
mod form;
mod heard;
mod play;
mod reply;
mod report;
mod server;
pub mod tasks;
#[cfg(test)]
mod tests;

use super::at_once::at_once;
use super::shared::{greet, prompt};
use super::talk::{AnyWire, NextLine, Talk};
use super::wires::{self, End, RuntimeWire};
use super::{Stop, Wishes, real};
use crate::peer::{Carrier, Peer, PeerError};
use crate::player::Lane;
use play::TaskPlay;
use server::ModelServer;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

pub use heard::ModelApi;
pub use play::{AgentTask, TaskOutcome};
pub use reply::MODEL;
pub use report::{AgentReport, TaskFinding};

/// How long a run that ended before the model was done may take to be followed by another: a prompt that waits gets one of its own.
const FOLLOWS_WITHIN: Duration = Duration::from_secs(15);

/// Where an agent under test finds things.
#[derive(Debug, Clone)]
pub struct AgentGround {
    /// The model's server, without a path.
    pub url: String,
    /// The task's folder.
    pub cwd: PathBuf,
    /// A folder for whatever the agent keeps.
    pub home: PathBuf,
    /// Tokens that fit in a request, where that is part of the task.
    pub window: Option<u64>,
    /// What the agent is to do, where it is started for one prompt.
    pub prompt: Option<String>,
}

/// Starts the agent for a task.
pub type ReachAgent<'r> = dyn Fn(AgentGround) -> Pin<Box<dyn Future<Output = Result<Peer, PeerError>> + Send + 'r>>
    + Send
    + Sync
    + 'r;

/// How agents are spoken with.
pub struct AgentCheck {
    /// `None` for agents that are started anew for each prompt and speak no wire.
    wire: Option<&'static RuntimeWire>,
    patience: Duration,
}

/// What stands in place of a wire's name where there is none.
const NO_WIRE: &str = "by command";

impl AgentCheck {
    /// On the wire of this name. `patience` is how long the answer to one prompt may take.
    pub fn new(dialect: &str, patience: Duration) -> Option<AgentCheck> {
        Some(AgentCheck { wire: Some(wires::runtime(dialect)?), patience })
    }

    /// By a command that takes one prompt, works, and ends.
    pub fn by_command(patience: Duration) -> AgentCheck {
        AgentCheck { wire: None, patience }
    }

    fn dialect(&self) -> &'static str {
        self.wire.map_or(NO_WIRE, |wire| wire.dialect)
    }

    /// How bytes are carried.
    pub fn carrier(&self) -> Carrier {
        self.wire.map_or(Carrier::One, |wire| wire.carrier)
    }

    /// Whether an agent remembers one prompt at the next.
    pub fn remembers(&self) -> bool {
        self.wire.is_some()
    }

    /// Whether a prompt on this wire has to wait until the run before is over.
    pub fn waits(&self) -> bool {
        self.wire.is_none_or(|wire| wire.later.is_none())
    }

    /// Whether an agent can ask for consent on this wire.
    pub fn asks(&self) -> bool {
        self.wire.is_some_and(|wire| wire.asked.is_some())
    }

    /// Gives the agent every task, `most` of them at a time; `each` is told as they end.
    pub async fn run(
        &self,
        tasks: Vec<AgentTask>,
        reach: &ReachAgent<'_>,
        most: usize,
        each: &mut (dyn FnMut(&TaskFinding) + Send),
    ) -> AgentReport {
        let mut findings = Vec::new();
        let jobs = tasks.into_iter().map(|task| Box::pin(self.find(task, reach)));
        at_once(jobs, most, |index, finding| {
            each(&finding);
            findings.push((index, finding));
        })
        .await;
        findings.sort_by_key(|(index, _)| *index);
        AgentReport {
            dialect: self.dialect(),
            findings: findings.into_iter().map(|(_, finding)| finding).collect(),
        }
    }

    async fn find(&self, task: AgentTask, reach: &ReachAgent<'_>) -> TaskFinding {
        let began = Instant::now();
        let mut finding = TaskFinding::of(&task);
        match self.play(task, reach, &mut finding).await {
            Ok(()) => {}
            Err(why) => finding.outcome = TaskOutcome::Unsolved(format!("cannot be tried here: {why}")),
        }
        finding.took = began.elapsed();
        finding
    }

    /// Plays one task; what fails of our own is an error.
    async fn play(
        &self,
        task: AgentTask,
        reach: &ReachAgent<'_>,
        finding: &mut TaskFinding,
    ) -> io::Result<()> {
        let dir = tempfile::Builder::new().prefix("parlor-agent-").tempdir()?;
        let (cwd, home) = (real(dir.path()).join("work"), real(dir.path()).join("home"));
        lay_out(&task, &cwd)?;
        std::fs::create_dir_all(&home)?;
        let window = task.window;
        let play = Arc::new(Mutex::new(TaskPlay::new(task, cwd.clone())));
        let server = ModelServer::start(Arc::clone(&play)).await?;
        let ground = AgentGround { url: server.url.clone(), cwd, home, window, prompt: None };
        let driven = match self.wire {
            Some(wire) => self.on_wire(wire, reach, ground, &play, finding).await,
            None => self.prompt_by_prompt(reach, &ground, &play, finding).await,
        };
        let stopped = driven.err().map(|stop| match stop {
            Stop::Wrong { came, .. } => came,
            Stop::Skipped(why) => why,
        });
        let play = lock(&play);
        finding.outcome = play.outcome(stopped);
        finding.rounds = play.rounds;
        finding.summaries = play.summaries;
        finding.lost.clone_from(&play.lost);
        (finding.sent, finding.cached) = (play.bill.sent, play.bill.cached);
        Ok(())
    }

    /// One agent for all prompts, as a UI has it.
    async fn on_wire(
        &self,
        wire: &'static RuntimeWire,
        reach: &ReachAgent<'_>,
        ground: AgentGround,
        play: &Mutex<TaskPlay>,
        finding: &mut TaskFinding,
    ) -> Result<(), Stop> {
        let cwd = ground.cwd.clone();
        let peer = reach(ground).await.map_err(|why| unreached(&why, finding))?;
        let wishes = Wishes { patience: self.patience, ..Wishes::default() };
        let mut talk = Talk::new(peer, AnyWire::Runtime(wire), wishes, cwd);
        let driven = drive(&mut talk, play, &mut finding.questions).await;
        finding.said = talk.close().await;
        driven
    }

    /// An agent for each prompt, which is over when it ends. Nobody can be asked there.
    async fn prompt_by_prompt(
        &self,
        reach: &ReachAgent<'_>,
        ground: &AgentGround,
        play: &Mutex<TaskPlay>,
        finding: &mut TaskFinding,
    ) -> Result<(), Stop> {
        loop {
            let Some(prompt) = lock(play).next_prompt() else { return Ok(()) };
            let ground = AgentGround { prompt: Some(prompt), ..ground.clone() };
            let mut peer = reach(ground).await.map_err(|why| unreached(&why, finding))?;
            // Its stdin ends at once; what it says is nobody's business, and must not fill a pipe.
            let mut reading = JoinSet::new();
            for Lane { mut read, .. } in std::mem::take(&mut peer.lanes) {
                reading.spawn(async move {
                    let _ = tokio::io::copy(&mut read, &mut tokio::io::sink()).await;
                });
            }
            let exit = peer.ended(self.patience).await;
            finding.said = peer.stderr();
            peer.close().await;
            match exit {
                None => return Err(Stop::wrong(format!("not answered within {:?}", self.patience))),
                // How far it came says more than its code.
                Some(_) if lock(play).is_answered() => {}
                Some(exit) => return Err(Stop::wrong(format!("the agent {exit} before the model was done"))),
            }
        }
    }
}

fn unreached(why: &PeerError, finding: &mut TaskFinding) -> Stop {
    finding.said = why.said();
    Stop::wrong(format!("cannot speak with the agent: {why}"))
}

fn lay_out(task: &AgentTask, cwd: &Path) -> io::Result<()> {
    std::fs::create_dir_all(cwd)?;
    for (path, text) in &task.files {
        let path = cwd.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}

fn lock(play: &Mutex<TaskPlay>) -> MutexGuard<'_, TaskPlay> {
    play.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says the task's prompts and yes to every question, until all are answered.
async fn drive(talk: &mut Talk, play: &Mutex<TaskPlay>, questions: &mut u64) -> Result<(), Stop> {
    greet(talk).await?;
    let mut asked = BTreeSet::new();
    loop {
        let Some(text) = lock(play).next_prompt() else { return Ok(()) };
        prompt(talk, &text).await?;
        follow(talk, play, &mut asked).await?;
        *questions = u64::try_from(asked.len()).unwrap_or(u64::MAX);
    }
}

/// Follows the run of a prompt to its end, and those of prompts that are said meanwhile.
async fn follow(talk: &mut Talk, play: &Mutex<TaskPlay>, asked: &mut BTreeSet<String>) -> Result<(), Stop> {
    let wire = talk.wire()?;
    let deadline = Instant::now() + talk.wishes.patience;
    let mut ended: Option<Instant> = None;
    loop {
        let until = ended.map_or(deadline, |ended| deadline.min(ended + FOLLOWS_WITHIN));
        let line = match talk.next_within(until.saturating_duration_since(Instant::now())).await {
            NextLine::Json(_, line) => line,
            NextLine::Noise(_) => continue,
            NextLine::Closed => return Err(Stop::wrong("the agent closed before the run was over")),
            // The outcome says how far it came.
            NextLine::Nothing if ended.is_some() => return Ok(()),
            NextLine::Nothing => {
                return Err(Stop::wrong(format!("not answered within {:?}", talk.wishes.patience)));
            }
        };
        if let Some(question) = wire.asked.and_then(|asked| asked(&line)) {
            let id = talk.id();
            talk.say(&(wire.answer)(id, &question, true)).await?;
            asked.insert(question.to_string());
        }
        if (wire.run_id)(&line).is_some() {
            ended = None;
            let early = wire.later.and_then(|later| Some((later, lock(play).early_prompt()?)));
            if let Some((later, text)) = early {
                let id = talk.id();
                talk.say(&later(id, &text)).await?;
            }
        }
        match (wire.ended)(&line) {
            Some(End::Failed | End::Cancelled) => {
                return Err(Stop::wrong(format!(
                    "the run failed: {}",
                    crate::pattern::clip(&line.to_string(), 300)
                )));
            }
            Some(End::Done) => {}
            None if (wire.last_word)(&line) => {}
            None => continue,
        }
        if lock(play).is_answered() {
            return Ok(());
        }
        ended = Some(Instant::now());
    }
}
