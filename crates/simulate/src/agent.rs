//! The agent of a simulation: it keeps the rules that our engine keeps towards the hub, thinks by dice, and its tools act in the world,
//! where it is counted how often each does.

use crate::database::Incarnation;
use crate::dice::Dice;
use crate::plan::{Fault, Mutant};
use crate::world::{World, lock};
use domain::ask::{ActionDigest, Answer, Ask, AskKind, Assessment, Closing, Consent, Risk, Scope};
use domain::content::{Json, Role, TextKind, Usage};
use domain::event::{AskEvent, Body, Finish, MessageEvent, RunEvent, ToolEvent};
use domain::ids::{AskId, EntryId, MessageId, RunId, SessionId, StepId, ToolRunId, TurnId};
use domain::port::{Kept, OpenConsent, Order, Report, TurnBrief, TurnEnd};
use domain::tool::{Decider, Decision, Progress, ToolOutcome, ToolResult};
use hub::Reported;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Most steps of a turn.
const STEPS: u64 = 3;
/// Longer than a hub waits for an engine that was told to stop.
const DEAF: Duration = Duration::from_secs(40);

/// What the agent of one process has in its hands.
#[derive(Default)]
struct Hands {
    waiting: BTreeMap<(SessionId, AskId), oneshot::Sender<Closing>>,
    runs: BTreeMap<(SessionId, RunId), CancellationToken>,
    steers: BTreeSet<SessionId>,
    turns: BTreeSet<(SessionId, TurnId)>,
}

/// Does the orders of a hub until there are none any more.
pub(crate) async fn serve(
    world: Arc<World>,
    who: Incarnation,
    mut orders: mpsc::Receiver<Order>,
    reports: mpsc::Sender<Reported>,
    mut dice: Dice,
) {
    let (hands, mut turns) = (Arc::new(Mutex::new(Hands::default())), JoinSet::new());
    while let Some(order) = orders.recv().await {
        match order {
            Order::Turn(brief) => {
                let (session, run) = (brief.session.clone(), brief.run);
                world.say(|| format!("agent {who}: begins {} of {run} in {session}", brief.turn));
                let mut held = lock(&hands);
                if !held.turns.insert((session.clone(), brief.turn)) {
                    world.broke(format!("the agent was given {} of {session} twice", brief.turn));
                }
                let cancel = held.runs.entry((session.clone(), run)).or_default().clone();
                let open = brief.resume.iter().flat_map(|resume| &resume.consents);
                let resumed = open.map(|open| (open.clone(), held.wait_for(&session, open.ask))).collect();
                drop(held);
                let (world, reports, hands) = (world.clone(), reports.clone(), hands.clone());
                let turn = Turn { world, who, reports, hands, brief: *brief, dice: dice.split() };
                turns.spawn(turn.run(cancel, resumed));
            }
            Order::Cancel { session, run } => {
                world.say(|| format!("agent {who}: is told to stop {run} of {session}"));
                if let Some(cancel) = lock(&hands).runs.get(&(session, run)) {
                    cancel.cancel();
                }
            }
            Order::AskClosed { session, ask, closing } => {
                if let Some(waiting) = lock(&hands).waiting.remove(&(session, ask)) {
                    let _ = waiting.send(closing);
                }
            }
            Order::SteerWaits { session, waits } => {
                let steers = &mut lock(&hands).steers;
                let _ = if waits { steers.insert(session) } else { steers.remove(&session) };
            }
            // It may be opened again later, and gone on with.
            Order::Forget { session } => lock(&hands).turns.retain(|(of, _)| *of != session),
            Order::Consult { .. }
            | Order::StoreFails { .. }
            | Order::PolicyChanged { .. }
            | Order::Performed { .. }
            | Order::OffersGone { .. }
            | Order::FileDone { .. } => {}
        }
        while turns.try_join_next().is_some() {}
    }
}

impl Hands {
    fn wait_for(&mut self, session: &SessionId, ask: AskId) -> oneshot::Receiver<Closing> {
        let (closed, waiting) = oneshot::channel();
        self.waiting.insert((session.clone(), ask), closed);
        waiting
    }
}

struct Turn {
    world: Arc<World>,
    who: Incarnation,
    reports: mpsc::Sender<Reported>,
    hands: Arc<Mutex<Hands>>,
    brief: TurnBrief,
    dice: Dice,
}

/// The hub is gone, or wants to hear no more of this turn.
struct Over;

type Resumed = Vec<(OpenConsent, oneshot::Receiver<Closing>)>;

impl Turn {
    async fn run(mut self, cancel: CancellationToken, resumed: Resumed) {
        let deaf = self.dice.per_mille(60) && self.world.may(Fault::Late);
        let end = tokio::select! {
            biased;
            () = cancel.cancelled() => TurnEnd::Cancelled,
            end = self.works(resumed) => if end.is_ok() { TurnEnd::Done } else { TurnEnd::Cancelled },
        };
        if deaf && end == TurnEnd::Cancelled {
            tokio::time::sleep(DEAF).await;
        }
        let (session, run, turn) = (self.brief.session.clone(), self.brief.run, self.brief.turn);
        let _ = self.reports.send((Report::TurnDone { session, run, turn, end }, None)).await;
    }

    async fn works(&mut self, resumed: Resumed) -> Result<(), Over> {
        if let Some(resume) = self.brief.resume.clone() {
            for (open, waiting) in resumed {
                self.goes_on(open.tool, &open.digest, waiting).await?;
            }
            self.says(Body::Run(RunEvent::StepEnded { step: resume.step, usage: Usage::default() })).await?;
        }
        let mut parent = self.brief.leaf;
        for _ in 0..self.dice.between(1, STEPS) {
            parent = Some(self.step(parent).await?);
        }
        Ok(())
    }

    async fn step(&mut self, parent: Option<EntryId>) -> Result<EntryId, Over> {
        let (step, message) = (StepId::mint(&self.brief.ids), MessageId::mint(&self.brief.ids));
        let turn = self.brief.turn;
        self.says(Body::Run(RunEvent::StepStarted { turn, step, model: None })).await?;
        let (role, turn, of) = (Role::Assistant, Some(turn), Some(step));
        self.says(Body::Message(MessageEvent::Started { message, parent, role, turn, step: of })).await?;
        for piece in 0..self.dice.below(5) {
            let text = format!("{piece} ");
            self.says(Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text })).await?;
            self.thinks(400).await;
        }
        let mut tools = Vec::new();
        for _ in 0..self.dice.below(3) {
            let tool = ToolRunId::mint(&self.brief.ids);
            let (name, args) = ("act".to_owned(), Json::empty());
            self.says(Body::Tool(ToolEvent::Proposed { tool, message, name, args })).await?;
            tools.push(tool);
        }
        self.says(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete })).await?;
        for tool in tools {
            if lock(&self.hands).steers.contains(&self.brief.session) {
                self.ends(tool, ToolOutcome::Skipped).await?;
            } else {
                self.asks(tool).await?;
            }
        }
        self.says(Body::Run(RunEvent::StepEnded { step, usage: Usage::default() })).await?;
        Ok(message.into())
    }

    /// Asks for a tool.
    async fn asks(&mut self, tool: ToolRunId) -> Result<(), Over> {
        let (id, digest) = (AskId::mint(&self.brief.ids), ActionDigest(format!("act {tool}")));
        let assessment =
            Assessment { risk: Risk::Low, reasons: Vec::new(), reversible: false, unrated: false };
        let consent = Consent {
            tool,
            name: "act".to_owned(),
            args: Json::empty(),
            preview: None,
            assessment,
            digest: digest.clone(),
            rule: None,
            takes_reason: true,
        };
        let kind = AskKind::Consent(Box::new(consent));
        let ask = Ask { id, run: Some(self.brief.run), title: "act".to_owned(), kind, deadline: None };
        let waiting = lock(&self.hands).wait_for(&self.brief.session, id);
        self.says(Body::Ask(AskEvent::Opened(ask))).await?;
        self.goes_on(tool, &digest, waiting).await
    }

    /// Goes on with a tool once the question about it is over.
    async fn goes_on(
        &mut self,
        tool: ToolRunId,
        digest: &ActionDigest,
        waiting: oneshot::Receiver<Closing>,
    ) -> Result<(), Over> {
        let closing = waiting.await.map_err(|_| Over)?;
        let (allowed, by) = match closing {
            Closing::Answered { answer: Answer::Allow { .. }, by } => (true, Decider::Person(by)),
            Closing::Answered { by, .. } => (false, Decider::Person(by)),
            Closing::Withdrawn | Closing::Expired | Closing::Unattended => (false, Decider::Policy),
        };
        let digest = allowed.then(|| digest.clone());
        let decision = Decision { allowed, by, scope: Scope::Once, reason: None, digest };
        self.says(Body::Tool(ToolEvent::Decided { tool, decision })).await?;
        if !allowed {
            return self.ends(tool, ToolOutcome::Denied).await;
        }
        let early = self.world.plan.is(Mutant::ToolBeforeCommit);
        if early {
            self.acts(tool);
        }
        match self.hears(Body::Tool(ToolEvent::Started { tool })).await? {
            Kept::Safely if !early => self.acts(tool),
            Kept::Safely => {}
            Kept::InMemory(_) => return self.ends(tool, ToolOutcome::Denied).await,
            Kept::Late => return Err(Over),
        }
        for _ in 0..self.dice.below(3) {
            self.thinks(800).await;
            let progress = Progress::Output("more".to_owned());
            self.says(Body::Tool(ToolEvent::Progress { tool, progress })).await?;
        }
        self.ends(tool, ToolOutcome::Done).await
    }

    /// The tool does what it does, in the world.
    fn acts(&self, tool: ToolRunId) {
        let (world, session) = (&self.world, &self.brief.session);
        world.say(|| format!("agent {}: {tool} of {session} ACTS", self.who));
        let now = world.now();
        let database = world.database();
        let found =
            world.checks().acts(self.who, (session, self.brief.run, tool), database.kept(session), now);
        drop(database);
        world.judge(found);
    }

    async fn ends(&mut self, tool: ToolRunId, outcome: ToolOutcome) -> Result<(), Over> {
        let result = ToolResult::text("so");
        self.says(Body::Tool(ToolEvent::Ended { tool, outcome, result })).await
    }

    async fn thinks(&mut self, most: u64) {
        let long = self.dice.below(most);
        tokio::time::sleep(Duration::from_millis(long)).await;
    }

    /// Says something; streaming text and progress are not waited for.
    async fn says(&mut self, body: Body) -> Result<(), Over> {
        if body.is_durable() {
            return match self.hears(body).await? {
                Kept::Late => Err(Over),
                Kept::Safely | Kept::InMemory(_) => Ok(()),
            };
        }
        self.reports.send((self.happened(body), None)).await.map_err(|_| Over)
    }

    /// Says something and waits for what becomes of it.
    async fn hears(&mut self, body: Body) -> Result<Kept, Over> {
        let (ack, kept) = oneshot::channel();
        self.reports.send((self.happened(body), Some(ack))).await.map_err(|_| Over)?;
        kept.await.map_err(|_| Over)
    }

    fn happened(&self, body: Body) -> Report {
        Report::Happened { session: self.brief.session.clone(), run: Some(self.brief.run), body }
    }
}
