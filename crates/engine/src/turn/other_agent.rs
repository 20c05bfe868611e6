//! Another program's agent at work on a task: what it does is told like what our own sub-agents do, its questions are asked in the session
//! after our rules have judged them, and it is on the leash from its start to its end.
//!
//! The call itself is asked about, as the mode has it, for it works by its own hands: one look at the files stands around all of it, so that
//! `/undo` takes it back. Invariants: none is started that the person has not agreed to; when the call is over it no longer runs; a mode
//! that only looks ends it.

use super::Turn;
use super::servers::PersonReply;
use super::sub_agent::SubRun;
use crate::delegation::{OtherAgent, OtherNews, OtherRun, OtherTask, OtherWord};
use crate::host_gate::HostGate;
use crate::sub_agents::{SubAgent, Task};
use domain::ask::{Answer, Ask, AskKind, Choice, Closing, Scope};
use domain::event::{AskEvent, Body, Failure};
use domain::harmless;
use domain::ids::{AskId, ToolRunId};
use domain::port::TurnEnd;
use domain::session::Policy;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tools::{Gate, Host, HostSay, Outcome, Plan};

/// How long one that is told to stop may take; the hub gives a turn two seconds.
const STOP_GRACE: Duration = Duration::from_millis(1_700);
/// Most hosts that are asked for, or named as not reached.
const MAX_HOSTS: usize = 10;
/// What may be chosen where a host is asked for.
const SESSION: &str = "session";
const ALWAYS: &str = "always";
const DENY: &str = "deny";

impl Turn {
    /// Gives a task to another program's agent, and waits for its last words.
    pub(super) async fn run_other(
        &self,
        id: ToolRunId,
        plan: &Plan,
        (agent, other): (&SubAgent, &OtherAgent),
        task: Task,
    ) -> Outcome {
        let (Some(others), Some(workspace)) = (self.delegation.others.clone(), self.place.root()) else {
            return Outcome::failed(format!(
                "{} works in the sandbox only, and that needs a folder that is a project.",
                other.name
            ));
        };
        if let Err(refused) = self.agreed_to(other).await {
            return refused;
        }
        let policy = self.grants.policy();
        let (wants, mut wanted) = mpsc::channel(MAX_HOSTS);
        let gate = Arc::new(Knocking::new(HostGate::of(&self.grants, &self.place), wants));
        let (mut hosts, mut open_hosts): (JoinSet<AskId>, BTreeSet<AskId>) = Default::default();
        let cancel = self.cancel.child_token();
        let mut changes = self.grants.changes();
        let run = others.begin(OtherTask {
            agent: other.clone(),
            prompt: task.prompt.clone(),
            workspace: workspace.to_owned(),
            cwd: self.place.workdir().to_owned(),
            policy,
            allow: self.allow.clone(),
            gate: gate.clone(),
            attended: !self.nobody_there(),
            cancel: cancel.clone(),
        });
        let OtherRun { mut news, words, mut end } = run;
        let mut sub = SubRun::of(id, agent, &task);
        self.begin_transcript(&mut sub, &task.prompt).await;
        let mut answers: JoinSet<(AskId, Closing)> = JoinSet::new();
        let stopped = async {
            cancel.cancelled().await;
            tokio::time::sleep(STOP_GRACE).await;
        };
        tokio::pin!(stopped);
        let mut mode = policy;
        let mut ended = loop {
            tokio::select! {
                biased;
                Some(news) = news.recv() => self.other_news(news, &mut sub, &mut answers).await,
                Some(over) = sub.next_answer() => sub.answered(over),
                Some(host) = wanted.recv() => {
                    open_hosts.extend(self.ask_for_host(&other.name, host, &gate, &mut hosts).await);
                }
                Some(ask) = hosts.join_next() => drop(ask.map(|ask| open_hosts.remove(&ask))),
                Some(answer) = answers.join_next() => {
                    if let Ok((ask, closing)) = answer {
                        let _ = words.send(OtherWord::Answer(ask, said(closing))).await;
                    }
                }
                Ok(()) = changes.changed() => {
                    let now = self.grants.policy();
                    if matches!(now, Policy::ReadOnly | Policy::Plan) {
                        cancel.cancel();
                    } else if now != std::mem::replace(&mut mode, now) {
                        let _ = words.send(OtherWord::Mode(now)).await;
                    }
                }
                over = &mut end => break over.ok(),
                () = &mut stopped => break Some(TurnEnd::Cancelled),
            }
        };
        while let Ok(more) = news.try_recv() {
            self.other_news(more, &mut sub, &mut answers).await;
        }
        if cancel.is_cancelled() && !self.cancel.is_cancelled() {
            let why = format!("It was stopped: in mode {} nothing is changed.", self.grants.policy());
            ended = Some(TurnEnd::Failed(Failure::new("mode", why)));
        }
        let refused = gate.refused();
        if !refused.is_empty() {
            let words = format!("It did not reach {}: nobody allowed that.", refused.join(", "));
            let line = sub.story.line(&words);
            self.tell(id, line).await;
            if let Some(TurnEnd::Failed(failure)) = &mut ended {
                failure.message = format!("{}\n{words}", failure.message);
            }
        }
        for ask in open_hosts {
            if !self.cancel.is_cancelled() {
                let closing = Closing::Withdrawn;
                self.port.emit_kept(Body::Ask(AskEvent::Closed { ask, closing })).await;
            }
        }
        self.withdraw(&mut sub).await;
        self.tell(id, Some(sub.story.status())).await;
        self.outcome_of(&mut sub, ended, plan, None).await
    }

    async fn other_news(
        &self,
        news: OtherNews,
        sub: &mut SubRun<'_>,
        answers: &mut JoinSet<(AskId, Closing)>,
    ) {
        match news {
            OtherNews::Said(line) => {
                let line = sub.story.line(&harmless::in_line(&line));
                self.tell(sub.id, line).await;
            }
            OtherNews::Happened(body) => {
                if let Body::Ask(AskEvent::Opened(ask)) = &*body {
                    let (id, closing) = (ask.id, sub.asked.wait_for(ask.id));
                    answers.spawn(async move { (id, closing.await.unwrap_or(Closing::Withdrawn)) });
                }
                self.retell_body(*body, sub).await;
            }
        }
    }

    /// Asks whether it may reach a host. It was refused there already, and tries again by itself if it likes: it never waits for us.
    async fn ask_for_host(
        &self,
        name: &str,
        host: Host,
        gate: &Arc<Knocking>,
        asking: &mut JoinSet<AskId>,
    ) -> Option<AskId> {
        let choice =
            |id: &str, label: &str| Choice { id: id.to_owned(), label: label.to_owned(), detail: None };
        let choices = vec![
            choice(SESSION, "For this session"),
            choice(ALWAYS, "Always in this project"),
            choice(DENY, "Do not let it"),
        ];
        let message = format!(
            "It sends to {host} what it likes of what it can read, and so may commands of this project then."
        );
        let kind = AskKind::Choose { message, choices, many: false };
        let id = AskId::mint(&self.brief.ids);
        let closing = self.asked.wait_for(id);
        let title = format!("Sub-agent {name}: let it reach {host}?");
        let ask = Ask { id, run: Some(self.brief.run), title, kind, deadline: None };
        if !self.port.emit_kept(Body::Ask(AskEvent::Opened(ask))).await {
            return None;
        }
        let gate = gate.clone();
        asking.spawn(async move {
            let scope = match closing.await {
                Ok(Closing::Answered { answer: Answer::Chosen(chosen), .. }) => {
                    match chosen.first().map(String::as_str) {
                        Some(SESSION) => Some(Scope::Session),
                        Some(ALWAYS) => Some(Scope::Always),
                        _ => None,
                    }
                }
                _ => None,
            };
            if let Some(scope) = scope {
                let _ = tokio::task::spawn_blocking(move || gate.let_in(scope, &host)).await;
            }
            id
        });
        Some(id)
    }

    /// Asks for its first start, unless the person agreed to exactly this command before.
    async fn agreed_to(&self, other: &OtherAgent) -> Result<(), Outcome> {
        if other.agreed {
            return Ok(());
        }
        let name = &other.name;
        let message = format!(
            "{} is another program's agent. To be started, now and whenever it is given a task or asked for:\n\n  {}\n\nThat is {}. \
             It runs in the sandbox: it writes in this project and in its own folders, and reaches the hosts that rules allow.",
            harmless::in_line(&other.title),
            harmless::in_line(&other.typed),
            domain::path_text::write(&other.file)
        );
        let (yes, no) = (Some("Start it".to_owned()), Some("Not now".to_owned()));
        let kind = AskKind::Confirm { message, yes, no, danger: true };
        match self.ask_about((format!("Start {name} for a task?"), kind)).await {
            PersonReply::Said(Answer::Confirmed(true)) => {
                let (others, agent) = (self.delegation.others.clone(), other.clone());
                let keep = move || others.map_or(Ok(()), |others| others.agree(&agent));
                if let Ok(Err(why)) = tokio::task::spawn_blocking(keep).await {
                    let text = format!("It could not be kept that {name} may be started: {why}");
                    self.port.notify(domain::signal::Level::Warning, text).await;
                }
                Ok(())
            }
            PersonReply::Said(_) => {
                Err(Outcome::failed(format!("The person does not want {name} to be started.")))
            }
            PersonReply::Nobody => Err(Outcome::failed(format!(
                "{name} was never started here, and nobody can be asked: the person starts it once with `parlor attach {name}`."
            ))),
            PersonReply::Nothing => Err(Outcome::cancelled()),
        }
    }
}

/// What a question's end in the session means for who asked it.
fn said(closing: Closing) -> Answer {
    match closing {
        Closing::Answered { answer, .. } => answer,
        Closing::Withdrawn | Closing::Expired | Closing::Unattended => Answer::Dismissed,
    }
}

/// A gate that tells whom it did not let through, once for each. The agent does not wait for the answer: it would take that for a host
/// that does not answer.
#[derive(Debug)]
struct Knocking {
    gate: Arc<dyn Gate>,
    refused: Mutex<BTreeSet<String>>,
    wants: mpsc::Sender<Host>,
}

impl Knocking {
    fn new(gate: Arc<dyn Gate>, wants: mpsc::Sender<Host>) -> Knocking {
        Knocking { gate, refused: Mutex::default(), wants }
    }

    /// The person said yes to it.
    fn let_in(&self, scope: Scope, host: &Host) {
        self.gate.remember(scope, host);
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).remove(&host.to_string());
    }

    fn refused(&self) -> Vec<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

impl Gate for Knocking {
    fn says(&self, host: &Host) -> HostSay {
        let say = self.gate.says(host);
        if matches!(say, HostSay::Allowed) {
            return say;
        }
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = refused.len() < MAX_HOSTS && refused.insert(host.to_string());
        match say {
            HostSay::Asked { .. } => {
                if is_new {
                    // As many as are told fit in.
                    let _ = self.wants.try_send(host.clone());
                }
                HostSay::Denied(format!("no rule lets it reach {host}; the person is asked, so try again"))
            }
            say => say,
        }
    }

    fn machine_ports(&self) -> Vec<u16> {
        self.gate.machine_ports()
    }

    fn remember(&self, scope: Scope, host: &Host) {
        self.gate.remember(scope, host);
    }
}
