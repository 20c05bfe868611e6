//! A tool at work: started once its start is kept, told while it goes on, left behind when it does not stop in time.

use super::Turn;
use super::consent::could_run_twice;
use crate::host_gate::HostGate;
use crate::offered::{OpenCall, UI_LEFT, bounded};
use domain::ask::{Ask, AskKind, Closing};
use domain::event::{AskEvent, Body, NoteEvent, PlanItem, PlanState, ToolEvent};
use domain::ids::{AskId, Millis, ToolRunId};
use domain::live::LiveOutput;
use domain::offer::Offer;
use domain::port::Kept;
use domain::tool::{Progress, ToolOutcome, ToolResult};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tools::{Outcome, Plan, Question, Tool};

/// Pieces of live output that may wait; past it the tool waits.
const PROGRESS: usize = 64;
/// How long a tool may take to stop; then it is dropped, which ends what it holds.
const STOP_GRACE: Duration = Duration::from_millis(50);
/// What the model reads of a tool with a defect.
const BROKE: &str = "The tool broke down; try another way.";

/// What must be known before a tool starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// Its start must be on disk, unless it changes nothing.
    Written,
    /// A person said yes although its start cannot be written down.
    InSpite,
}

/// A tool's question that the person has before them.
struct OpenQuestion {
    id: AskId,
    kind: AskKind,
    waiting: oneshot::Receiver<Closing>,
    answer: oneshot::Sender<Closing>,
}

/// What is told of a tool's output while it runs.
struct Live {
    output: LiveOutput,
    since: Instant,
}

impl Live {
    fn now(&self) -> Millis {
        Millis(u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    fn take(&mut self, progress: Progress) -> Option<Progress> {
        self.output.take(self.now(), progress)
    }

    /// Output that had to wait, when its time has come.
    async fn late(&mut self) -> Option<Progress> {
        match self.output.due() {
            None => std::future::pending().await,
            Some(due) => {
                tokio::time::sleep_until(self.since + Duration::from_millis(due.0)).await;
                self.output.late(self.now())
            }
        }
    }
}

/// How the open question ends; `None` when the tool no longer wants to know.
async fn ended(open: &mut Option<OpenQuestion>) -> Option<Closing> {
    match open {
        None => std::future::pending().await,
        Some(open) => tokio::select! {
            closing = &mut open.waiting => closing.ok(),
            () = open.answer.closed() => None,
        },
    }
}

/// What was typed into a question for a secret.
fn typed<'a>(kind: &AskKind, closing: &'a Closing) -> Option<&'a str> {
    match closing {
        Closing::Answered { answer, .. } => kind.secret_in(answer),
        Closing::Withdrawn | Closing::Expired | Closing::Unattended => None,
    }
}

impl Turn {
    /// Runs a tool, once its start is kept: whatever happens later, the record says that it may have run.
    pub(super) async fn execute(&self, id: ToolRunId, tool: &dyn Tool, plan: Plan, start: Start) -> Outcome {
        if self.cancel.is_cancelled() {
            return Outcome::cancelled();
        }
        let offer = self.offer(&plan.tool);
        let call = offer.map(|_| self.calls.wait_for(id));
        match self.port.emit_written(Body::Tool(ToolEvent::Started { tool: id })).await {
            Kept::Safely => {}
            Kept::InMemory(_) if plan.read_only || start == Start::InSpite => {}
            // The disk failed in this very moment, after the yes.
            Kept::InMemory(why) => {
                let text =
                    format!("Not run: {}. Call it again to have the person asked.", could_run_twice(&why));
                return Outcome { outcome: ToolOutcome::Denied, result: ToolResult::text(text) };
            }
            Kept::Late => return Outcome::cancelled(),
        }
        if let (Some(offer), Some(call)) = (offer, call) {
            return self.await_ui(offer, call, &plan).await;
        }
        match plan.tool.as_str() {
            "ask" => return self.ask_person(&plan).await,
            "todo" => self.tell_plan(&plan).await,
            crate::sub_agents::NAME if self.sub_agent.is_none() => return self.run_task(id, &plan).await,
            _ => {}
        }
        let (progress, mut pieces) = mpsc::channel(PROGRESS);
        let mut live = Live { output: LiveOutput::default(), since: Instant::now() };
        let (asks, mut questions) = mpsc::channel(1);
        let mut open: Option<OpenQuestion> = None;
        let gate = Some(HostGate::of(&self.grants, &self.place));
        let port = tools::Port { progress, asks, cancel: self.cancel.clone(), gate };
        // On a task of its own, so that a defect in a tool ends the tool and not the turn.
        let mut running = JoinSet::new();
        running.spawn(tool.run(plan, port));
        let stopped = async {
            self.cancel.cancelled().await;
            tokio::time::sleep(STOP_GRACE).await;
        };
        tokio::pin!(stopped);
        let outcome = loop {
            tokio::select! {
                biased;
                Some(progress) = pieces.recv() => self.tell(id, live.take(progress)).await,
                late = live.late() => self.tell(id, late).await,
                Some(question) = questions.recv(), if open.is_none() => open = self.put(question).await,
                closing = ended(&mut open) => {
                    if let Some(over) = open.take() {
                        self.close(over, closing).await;
                    }
                }
                ended = running.join_next() => {
                    break ended.and_then(Result::ok).unwrap_or_else(|| Outcome::failed(BROKE));
                }
                () = &mut stopped => break Outcome::cancelled(),
            }
        };
        if let Some(left) = open {
            self.close(left, None).await;
        }
        // Something the tool left behind may hold the other end: only what is there already is told.
        while let Ok(progress) = pieces.try_recv() {
            self.tell(id, live.take(progress)).await;
        }
        outcome
    }

    /// Waits for the UI that performs a tool; it has heard that it was started.
    async fn await_ui(&self, offer: &Offer, mut call: OpenCall, plan: &Plan) -> Outcome {
        let patience = Duration::from_millis(offer.patience());
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Outcome::cancelled(),
            performed = call.answered() => match performed {
                Some(performed) => bounded(performed, plan.place.outputs(), &plan.digest.0),
                None => Outcome::failed(UI_LEFT),
            },
            () = tokio::time::sleep(patience) => {
                let name = &offer.name;
                Outcome::failed(format!(
                    "The UI did not perform {name} within {} s, and was told to leave it. Go on without it.",
                    patience.as_secs_f32()
                ))
            }
        }
    }

    /// Puts how far it is on the record, if there is anything to say.
    pub(super) async fn tell(&self, tool: ToolRunId, progress: Option<Progress>) {
        if let Some(progress) = progress {
            self.port.emit(Body::Tool(ToolEvent::Progress { tool, progress })).await;
        }
    }

    /// Puts a tool's question before the person; nothing when the run is being stopped.
    async fn put(&self, question: Question) -> Option<OpenQuestion> {
        let (id, run) = (AskId::mint(&self.brief.ids), Some(self.brief.run));
        let waiting = self.asked.wait_for(id);
        let Question { title, kind, answer } = question;
        let asked = Body::Ask(AskEvent::Opened(Ask { id, run, title, kind: kind.clone(), deadline: None }));
        self.port.emit_kept(asked).await.then_some(OpenQuestion { id, kind, waiting, answer })
    }

    /// A question is over: answered, or withdrawn by the tool that asked.
    async fn close(&self, open: OpenQuestion, closing: Option<Closing>) {
        match closing {
            Some(closing) => {
                if let Some(value) = typed(&open.kind, &closing) {
                    self.secrets.for_server(open.id, value);
                }
                let _ = open.answer.send(closing);
            }
            None if self.cancel.is_cancelled() => {}
            None => {
                let closing = Closing::Withdrawn;
                self.port.emit_kept(Body::Ask(AskEvent::Closed { ask: open.id, closing })).await;
            }
        }
    }

    /// The model asks the person something.
    async fn ask_person(&self, plan: &Plan) -> Outcome {
        let request = match tools::ask::parse(&plan.args) {
            Ok(request) => request,
            Err(why) => return Outcome::failed(why.to_string()),
        };
        let id = AskId::mint(&self.brief.ids);
        let waiting = self.asked.wait_for(id);
        let (run, title, kind) = (Some(self.brief.run), request.title.clone(), request.kind.clone());
        if !self
            .port
            .emit_kept(Body::Ask(AskEvent::Opened(Ask { id, run, title, kind, deadline: None })))
            .await
        {
            return Outcome::cancelled();
        }
        let closing = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Outcome::cancelled(),
            closing = waiting => closing.unwrap_or(Closing::Withdrawn),
        };
        let text = match typed(&request.kind, &closing) {
            Some(value) => self.secrets.for_model(id, value, self.asking.as_ref()),
            None => tools::ask::report(&request, &closing),
        };
        Outcome::done(ToolResult::text(text))
    }

    /// The model's plan, for the UIs.
    async fn tell_plan(&self, plan: &Plan) {
        let Ok(items) = tools::todo::items(&plan.args) else { return };
        let state = |state: tools::ItemState| match state {
            tools::ItemState::Pending => PlanState::Pending,
            tools::ItemState::Active => PlanState::Active,
            tools::ItemState::Done => PlanState::Done,
        };
        let items =
            items.into_iter().map(|item| PlanItem { text: item.text, state: state(item.state) }).collect();
        self.port.emit(Body::Note(NoteEvent::PlanChanged { items })).await;
    }
}
