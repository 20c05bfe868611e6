//! An agent of another program as a sub-agent of ours: started on the leash in front of a hub of its own, given one task, and gone when that
//! is over.
//!
//! What it asks its client for is judged by our mode and rules there, as for an editor's agent (`parlor acp --to NAME --leash`). Its
//! conversation is not kept here: the session that gave the task has what it did. Invariants: only agents of the ACP wire, and only such as
//! are on this machine; `end` is said after everything that was started is gone.

use crate::agents::{self, Agent, State};
use crate::agreement::{agreement, is_agreed};
use crate::front::{Approach, Begin, Front, Person};
use crate::leash::LeashWish;
use crate::origin::{self, RuntimeAddress};
use domain::ask::Answer;
use domain::command::{Command, PromptOptions, RunCommand, SessionCommand, Target};
use domain::content::Input;
use domain::event::{Body, Failure, Outcome, RunEvent};
use domain::ids::AskId;
use domain::port::{LinkState, News, Ticket, TurnEnd};
use engine::{OTHER_NEWS, OtherAgent, OtherAgents, OtherNews, OtherRun, OtherTask, OtherWord};
use host::launch::Launch;
use hub::core::Standing;
use hub::{Hub, LocalUi, Log};
use roles::Answers;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

/// How long the list of agents is taken as it was read: it is asked for in every turn.
const FRESH: Duration = Duration::from_secs(10);
/// Words that may wait for it.
const WORDS: usize = 64;
const PROMPT: Ticket = Ticket(1);
const OTHER: Ticket = Ticket(2);

/// The agents of `parlor agents` as sub-agents.
#[derive(Debug, Default)]
pub struct TaskAgents {
    read: Mutex<Option<(Instant, Vec<Agent>)>>,
    /// Those at work.
    tasks: Mutex<JoinSet<()>>,
}

impl TaskAgents {
    /// Those that are installed and speak the wire of agents. What a runner would fetch first is not offered to a model.
    fn usable(&self) -> Vec<Agent> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, agents)) = &*read
            && at.elapsed() < FRESH
        {
            return agents.clone();
        }
        let fits = |agent: &Agent| {
            agent.dialect == dialects::OF_HELPERS && matches!(agent.state, State::Installed(_))
        };
        let agents: Vec<Agent> = agents::known(&[]).agents.into_iter().filter(fits).collect();
        *read = Some((Instant::now(), agents.clone()));
        agents
    }

    fn find(&self, wanted: &OtherAgent) -> Option<Agent> {
        self.usable().into_iter().find(|agent| seen(agent, wanted.agreed) == *wanted)
    }
}

fn seen(agent: &Agent, agreed: bool) -> OtherAgent {
    let (name, title) = (agent.name.clone(), agent.title.clone());
    OtherAgent { name, title, typed: agent.typed(), file: agent.file(), agreed }
}

impl OtherAgents for TaskAgents {
    fn there(&self) -> Vec<OtherAgent> {
        self.usable().iter().map(|agent| seen(agent, is_agreed(agent))).collect()
    }

    fn agree(&self, wanted: &OtherAgent) -> Result<(), String> {
        let agent = self.find(wanted).ok_or("it is another one now")?;
        let (origin, whole) = agreement(&agent);
        match whole {
            true => origin::remember(&origin).map_err(|why| format!("{why:#}")),
            false => Err("something in its command looks like a key".to_owned()),
        }
    }

    fn begin(&self, task: OtherTask) -> OtherRun {
        let (tell, news) = mpsc::channel(OTHER_NEWS);
        let (words, said) = mpsc::channel(WORDS);
        let (ended, end) = oneshot::channel();
        let agent = self.find(&task.agent);
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let _ = ended.send(match agent {
                Some(agent) => work(agent, task, &tell, said).await,
                None => failed("it is not there any more as it was when it was asked about"),
            });
        });
        OtherRun { news, words, end }
    }
}

fn failed(why: impl std::fmt::Display) -> TurnEnd {
    TurnEnd::Failed(Failure::new("agent", format!("The agent could not do it: {why}")))
}

/// From its start until nothing of it is left.
async fn work(
    agent: Agent,
    task: OtherTask,
    tell: &mpsc::Sender<OtherNews>,
    said: mpsc::Receiver<OtherWord>,
) -> TurnEnd {
    let launch = Launch {
        cwd: Some(task.cwd.clone()),
        workspace: Some(task.workspace.clone()),
        policy: Some(task.policy),
        allow: task.allow.clone(),
        ephemeral: true,
        ..Launch::default()
    };
    let leash =
        LeashWish { shared: Vec::new(), folder: Some(task.cwd.clone()), gate: Some(task.gate.clone()) };
    let approach = Approach {
        dialect: agent.dialect,
        begin: Begin::default(),
        person: if task.attended { Person::There } else { Person::Away },
        size: None,
        judged: true,
        leash: Some(leash),
        listening: None,
        in_room: false,
    };
    let place = RuntimeAddress::Command(agent.command.iter().map(Into::into).collect());
    let telling = tell.clone();
    // Lines about it are few; one that finds no room is no reason to wait.
    let log: Log = Arc::new(move |line: &str| drop(telling.try_send(OtherNews::Said(line.to_owned()))));
    let opened = tokio::select! {
        biased;
        () = task.cancel.cancelled() => return TurnEnd::Cancelled,
        opened = Front::open(&launch, place, approach, None, log) => opened,
    };
    let front = match opened {
        Ok(front) => front,
        Err(why) => return failed(format!("{why:#}")),
    };
    let end = converse(&front.hub, &task, tell, said).await;
    let last = match &end {
        TurnEnd::Cancelled => {
            front.close_soon().await;
            None
        }
        end => front.close(matches!(end, TurnEnd::Done)).await,
    };
    match (end, last) {
        (TurnEnd::Failed(mut failure), Some(last)) => {
            for line in last.lines() {
                failure.message.push_str(&format!("\n{line}"));
            }
            TurnEnd::Failed(failure)
        }
        (end, _) => end,
    }
}

/// Gives it the task and follows it to its end.
async fn converse(
    hub: &Hub,
    task: &OtherTask,
    tell: &mpsc::Sender<OtherNews>,
    mut said: mpsc::Receiver<OtherWord>,
) -> TurnEnd {
    let Ok(LocalUi { mut news, port }) =
        hub.attach("sub-agent", Standing::Controller, Answers::ALL, None).await
    else {
        return failed("its hub stopped");
    };
    let prompt = RunCommand::Prompt { input: Input::text(&task.prompt), options: PromptOptions::default() };
    if port.command(PROMPT, Target::Current, Command::Run(prompt)).await.is_err() {
        return failed("its hub stopped");
    }
    let mut begun = false;
    loop {
        let happened: Vec<Body> = tokio::select! {
            biased;
            () = task.cancel.cancelled() => {
                // Told so that it can stop what it does elsewhere; what is here is ended with it.
                let cancel = Command::Run(RunCommand::Cancel { run: None, reason: None });
                let _ = port.command(OTHER, Target::Current, cancel).await;
                return TurnEnd::Cancelled;
            }
            Some(word) = said.recv() => {
                if port.command(OTHER, Target::Current, command_of(word)).await.is_err() {
                    return failed("its hub stopped");
                }
                continue;
            }
            news = news.recv() => match news {
                None => return failed("its hub stopped"),
                Some(News::Link(LinkState::Lost(why))) => return failed(why),
                Some(News::Settled { ticket: PROMPT, with: Err(refusal) }) => return failed(refusal),
                Some(News::Happened { event, .. }) => vec![event.body.clone()],
                // A session that is led elsewhere is shown again; what was told of the task before is not told twice.
                Some(News::Attached { replay, .. }) if !begun => {
                    let bodies = replay.into_iter().map(|(_, body)| body);
                    bodies.skip_while(|body| !matches!(body, Body::Run(RunEvent::Started { .. }))).collect()
                }
                Some(News::Attached { replay, .. }) => {
                    let end = replay.into_iter().map(|(_, body)| body).filter(|body| ends(body).is_some());
                    end.last().into_iter().collect()
                }
                Some(_) => continue,
            },
        };
        for body in happened {
            begun |= matches!(body, Body::Run(RunEvent::Started { .. }));
            if let Some(end) = ends(&body) {
                return end;
            }
            if tell.send(OtherNews::Happened(Box::new(body))).await.is_err() {
                return TurnEnd::Cancelled;
            }
        }
    }
}

/// What the end of its run means for the task; nothing for all else that happens.
fn ends(body: &Body) -> Option<TurnEnd> {
    let Body::Run(RunEvent::Ended { outcome, .. }) = body else { return None };
    Some(match outcome {
        Outcome::Done => TurnEnd::Done,
        Outcome::Failed(failure) => TurnEnd::Failed(failure.clone()),
        Outcome::Cancelled => failed("it stopped by itself"),
        Outcome::Interrupted | Outcome::Lost => failed("it went away in the middle"),
    })
}

fn command_of(word: OtherWord) -> Command {
    let answer = |ask: AskId, answer: Answer| Command::Answer { ask, answer };
    match word {
        OtherWord::Answer(ask, said) => answer(ask, said),
        OtherWord::Mode(policy) => Command::Session(SessionCommand::SetPolicy { policy }),
    }
}
