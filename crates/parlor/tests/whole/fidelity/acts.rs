//! What the engine of a scene does: one turn, bit by bit, as the probe wants it.

use super::scene::Scene;
use domain::ask::{Ask, AskKind, Assessment, Closing, Consent, Preview, Risk};
use domain::content::{Json, Part, Role, TextKind, Usage};
use domain::event::{AskEvent, Body, Finish, MessageEvent, RunEvent, ToolEvent};
use domain::ids::{AskId, EntryId, Ids, MessageId, Millis, RunId, SessionId, StepId, ToolRunId, TurnId};
use domain::port::{Order, Report, TurnBrief, TurnEnd};
use domain::session::ModelRef;
use domain::signal::Signal;
use domain::tool::{Decider, Decision, Progress, ToolOutcome, ToolResult};

/// A turn that the engine is doing.
pub(crate) struct Doing {
    pub(crate) session: SessionId,
    pub(crate) run: RunId,
    pub(crate) turn: TurnId,
    pub(crate) ids: Ids,
    leaf: Option<EntryId>,
    step: Option<StepId>,
    message: Option<MessageId>,
}

impl Doing {
    fn of(brief: &TurnBrief) -> Doing {
        Doing {
            session: brief.session.clone(),
            run: brief.run,
            turn: brief.turn,
            ids: brief.ids.clone(),
            leaf: brief.leaf,
            step: None,
            message: None,
        }
    }

    pub(crate) async fn happens(&self, scene: &Scene, body: Body) {
        let (session, run) = (self.session.clone(), Some(self.run));
        scene.report(Report::Happened { session, run, body }).await;
    }

    pub(crate) async fn signals(&self, scene: &Scene, signal: Signal) {
        scene.report(Report::Signal { session: self.session.clone(), signal }).await;
    }

    /// The model is asked, and begins to speak.
    pub(crate) async fn begin_step(&mut self, scene: &Scene) {
        let (step, message) = (StepId::mint(&self.ids), MessageId::mint(&self.ids));
        let model = Some(ModelRef { provider: "north".to_owned(), name: "large".to_owned() });
        self.happens(scene, Body::Run(RunEvent::StepStarted { turn: self.turn, step, model })).await;
        let (turn, parent) = (Some(self.turn), self.leaf);
        let role = Role::Assistant;
        let started = MessageEvent::Started { message, parent, role, turn, step: Some(step) };
        self.happens(scene, Body::Message(started)).await;
        (self.step, self.message, self.leaf) = (Some(step), Some(message), Some(message.into()));
    }

    pub(crate) fn message(&self) -> MessageId {
        self.message.expect("a message")
    }

    pub(crate) fn leaf(&self) -> Option<EntryId> {
        self.leaf
    }

    pub(crate) async fn says(&self, scene: &Scene, text: &str) {
        self.streams(scene, TextKind::Text, text).await;
    }

    pub(crate) async fn streams(&self, scene: &Scene, kind: TextKind, text: &str) {
        let (message, text) = (self.message(), text.to_owned());
        self.happens(scene, Body::Message(MessageEvent::Delta { message, kind, text })).await;
    }

    pub(crate) async fn adds(&self, scene: &Scene, part: Part) {
        let message = self.message();
        self.happens(scene, Body::Message(MessageEvent::PartAdded { message, part })).await;
    }

    pub(crate) async fn end_message(&mut self, scene: &Scene) {
        if let Some(message) = self.message.take() {
            let ended = MessageEvent::Ended { message, finish: Finish::Complete };
            self.happens(scene, Body::Message(ended)).await;
        }
    }

    pub(crate) async fn end_step(&mut self, scene: &Scene, usage: Usage) {
        self.end_message(scene).await;
        if let Some(step) = self.step.take() {
            self.happens(scene, Body::Run(RunEvent::StepEnded { step, usage })).await;
        }
    }

    pub(crate) async fn proposes(&self, scene: &Scene, name: &str, args: &str) -> ToolRunId {
        let (tool, message) = (ToolRunId::mint(&self.ids), self.message());
        let (name, args) = (name.to_owned(), Json::verbatim(args));
        self.happens(scene, Body::Tool(ToolEvent::Proposed { tool, message, name, args })).await;
        tool
    }

    pub(crate) async fn starts(&self, scene: &Scene, tool: ToolRunId, by: Decider) {
        let scope = domain::ask::Scope::Once;
        let decision = Decision { allowed: true, by, scope, reason: None, digest: None };
        self.happens(scene, Body::Tool(ToolEvent::Decided { tool, decision })).await;
        self.happens(scene, Body::Tool(ToolEvent::Started { tool })).await;
    }

    pub(crate) async fn progresses(&self, scene: &Scene, tool: ToolRunId, progress: Progress) {
        self.happens(scene, Body::Tool(ToolEvent::Progress { tool, progress })).await;
    }

    pub(crate) async fn ends(
        &self,
        scene: &Scene,
        tool: ToolRunId,
        outcome: ToolOutcome,
        result: ToolResult,
    ) {
        self.happens(scene, Body::Tool(ToolEvent::Ended { tool, outcome, result })).await;
    }

    /// The model wants a tool and says no more; it is allowed, runs and gives back a text.
    pub(crate) async fn uses(&mut self, scene: &Scene, name: &str, args: &str, text: &str) {
        let tool = self.proposes(scene, name, args).await;
        self.end_message(scene).await;
        self.starts(scene, tool, Decider::Policy).await;
        self.ends(scene, tool, ToolOutcome::Done, ToolResult::text(text)).await;
    }

    pub(crate) async fn asks(
        &self,
        scene: &Scene,
        title: &str,
        kind: AskKind,
        deadline: Option<Millis>,
    ) -> AskId {
        let (id, title) = (AskId::mint(&self.ids), title.to_owned());
        let ask = Ask { id, run: Some(self.run), title, kind, deadline };
        self.happens(scene, Body::Ask(AskEvent::Opened(ask))).await;
        id
    }

    /// The model wants a tool that needs a consent.
    pub(crate) async fn wants_consent(&self, scene: &Scene) -> ToolRunId {
        self.proposes(scene, "bash", r#"{"command":"make all"}"#).await
    }

    /// Asks whether a command may run.
    pub(crate) async fn asks_consent(&self, scene: &Scene, deadline: Option<Millis>) -> AskId {
        let tool = self.wants_consent(scene).await;
        self.asks(scene, "Run a command?", AskKind::Consent(Box::new(consent(tool))), deadline).await
    }

    /// A question about this command: the same one twice would be answered by what was said to the first.
    pub(crate) async fn asks_about(&self, scene: &Scene, line: &str) {
        let args = format!(r#"{{"command":"{line}"}}"#);
        let usual = consent(self.proposes(scene, "bash", &args).await);
        let args = Json::verbatim(args);
        let preview = Some(Preview::Command { line: line.to_owned(), inner: Vec::new() });
        let asked = AskKind::Consent(Box::new(Consent { args, preview, ..usual }));
        self.asks(scene, "Run a command?", asked, None).await;
    }

    pub(crate) async fn withdraws(&self, scene: &Scene, ask: AskId) {
        let closed = AskEvent::Closed { ask, closing: Closing::Withdrawn };
        self.happens(scene, Body::Ask(closed)).await;
    }

    pub(crate) async fn done(self, scene: &mut Scene, end: TurnEnd) {
        let Doing { session, run, turn, .. } = self;
        scene.report(Report::TurnDone { session, run, turn, end }).await;
        scene.rest().await;
    }
}

pub(crate) fn consent(tool: ToolRunId) -> Consent {
    Consent {
        tool,
        name: "bash".to_owned(),
        args: Json::verbatim(r#"{"command":"make all"}"#),
        preview: Some(Preview::Command {
            line: "make all".to_owned(),
            inner: vec!["make all".to_owned(), "cc".to_owned()],
        }),
        assessment: Assessment {
            risk: Risk::High,
            reasons: vec!["it runs a program".to_owned()],
            reversible: false,
            unrated: false,
        },
        digest: domain::ask::ActionDigest("5f1d".to_owned()),
        rule: Some("make *".to_owned()),
        takes_reason: true,
    }
}

impl Scene {
    /// The turn that the engine was told to do last.
    pub(crate) fn doing(&self) -> Doing {
        Doing::of(self.turns().last().expect("a turn"))
    }

    /// The UI prompts; the engine begins to do it.
    pub(crate) async fn begins(&mut self, text: &str) -> Doing {
        let before = self.turns().len();
        let taken = self.prompt(text).await;
        assert!(self.turns().len() > before, "a prompt begins a turn: {taken:?}");
        self.doing()
    }

    /// The model says this, and the turn is over.
    pub(crate) async fn answers(&mut self, text: &str) {
        let mut doing = self.doing();
        doing.begin_step(self).await;
        doing.says(self, text).await;
        doing.end_step(self, Usage { input: 10, output: 5, ..Usage::default() }).await;
        doing.done(self, TurnEnd::Done).await;
    }

    /// A question of the person, and what the model says to it.
    pub(crate) async fn round(&mut self, question: &str, answer: &str) {
        self.begins(question).await;
        self.answers(answer).await;
    }

    /// How the engine's questions were closed, so far.
    pub(crate) fn closings(&self) -> Vec<Closing> {
        let closings = self.orders().into_iter().filter_map(|order| match order {
            Order::AskClosed { closing, .. } => Some(closing),
            _ => None,
        });
        closings.collect()
    }
}
