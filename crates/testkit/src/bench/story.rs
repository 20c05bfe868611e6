//! What happens in a session of the bench: runs, turns, steps, messages, tools, questions and what waits, each in a word.
//!
//! Everything is told to the role. Ids rise from 1, whatever they name.

use super::RuntimeBench;
use domain::ask::{ActionDigest, Ask, AskKind, Assessment, Closing, Consent, Risk, Scope};
use domain::content::{Input, Json, Part, Role, TextKind, Usage};
use domain::event::{
    AskEvent, Body, Cause, Finish, Leaving, MessageEvent, Outcome, QueueEvent, RunEvent, SessionEvent,
    ToolEvent,
};
use domain::ids::{AskId, MessageId, Millis, QueuedId, RunId, StepId, ToolRunId, TurnId};
use domain::queue::QueueKind;
use domain::tool::{Decider, Decision, ToolOutcome, ToolResult};

/// A yes or a no of the rules.
fn decision(allowed: bool) -> Decision {
    Decision { allowed, by: Decider::Policy, scope: Scope::Once, reason: None, digest: None }
}

impl RuntimeBench {
    /// The session has a place. Nobody is told: links come later.
    pub fn opened(&mut self, cwd: &str) {
        let (cwd, project) = (cwd.to_owned(), cwd.to_owned());
        self.miss(Body::Session(SessionEvent::Opened { cwd, project, parent: None }));
    }

    /// An id that no run has yet, as a receipt would name it.
    pub fn mint_run(&self) -> RunId {
        RunId::mint(&self.ids)
    }

    /// A run that somebody else's prompt began.
    pub fn begin(&mut self, text: &str) -> RunId {
        let run = self.mint_run();
        self.start(run, text);
        run
    }

    /// A run whose id is known from a receipt, up to what the person said.
    pub fn start(&mut self, run: RunId, text: &str) -> TurnId {
        self.happen(Body::Run(RunEvent::Started { run }));
        self.turn(Cause::Prompt, text)
    }

    /// The next turn of the open run, with what the person said.
    pub fn turn(&mut self, cause: Cause, text: &str) -> TurnId {
        let run = self.state().open_run().expect("an open run").id;
        let turn = TurnId::mint(&self.ids);
        self.happen(Body::Run(RunEvent::TurnStarted { run, turn, cause }));
        let message = self.message(Role::User, None);
        self.part(message, Part::Text(text.to_owned()));
        self.end_message(message);
        turn
    }

    /// The open turn is over.
    pub fn end_turn(&mut self) {
        let turn = self.open_turn();
        self.happen(Body::Run(RunEvent::TurnEnded { turn }));
    }

    fn open_turn(&mut self) -> TurnId {
        self.state().open_run().and_then(|run| run.open_turn()).expect("an open turn").id
    }

    fn message(&mut self, role: Role, step: Option<StepId>) -> MessageId {
        let (turn, parent) = (Some(self.open_turn()), self.state().leaf);
        let message = MessageId::mint(&self.ids);
        self.happen(Body::Message(MessageEvent::Started { message, parent, role, turn, step }));
        message
    }

    /// A step with the beginning of the model's message.
    pub fn step(&mut self) -> (StepId, MessageId) {
        let (turn, model) = (self.open_turn(), self.model.clone());
        let step = StepId::mint(&self.ids);
        self.happen(Body::Run(RunEvent::StepStarted { turn, step, model }));
        (step, self.message(Role::Assistant, Some(step)))
    }

    /// More text of the model.
    pub fn delta(&mut self, message: MessageId, text: &str) {
        self.piece(message, TextKind::Text, text);
    }

    /// More of a text or of a thought.
    pub fn piece(&mut self, message: MessageId, kind: TextKind, text: &str) {
        self.happen(Body::Message(MessageEvent::Delta { message, kind, text: text.to_owned() }));
    }

    /// Something whole in a message.
    pub fn part(&mut self, message: MessageId, part: Part) {
        self.happen(Body::Message(MessageEvent::PartAdded { message, part }));
    }

    /// A message is complete.
    pub fn end_message(&mut self, message: MessageId) {
        self.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    }

    /// A step is over, and the messages in it.
    pub fn end_step(&mut self, step: StepId, usage: Usage) {
        for message in self.state().open_messages() {
            self.end_message(message);
        }
        self.happen(Body::Run(RunEvent::StepEnded { step, usage }));
    }

    /// A step in which the model only says this.
    pub fn talk(&mut self, text: &str) {
        let (step, message) = self.step();
        self.delta(message, text);
        self.end_step(step, Usage { input: 11, output: 7, ..Usage::default() });
    }

    /// The model wants a tool.
    pub fn propose(&mut self, message: MessageId, name: &str, args: &str) -> ToolRunId {
        let tool = ToolRunId::mint(&self.ids);
        let (name, args) = (name.to_owned(), Json::verbatim(args));
        self.happen(Body::Tool(ToolEvent::Proposed { tool, message, name, args }));
        tool
    }

    /// A tool is allowed by the rules and runs.
    pub fn start_tool(&mut self, tool: ToolRunId) {
        self.happen(Body::Tool(ToolEvent::Decided { tool, decision: decision(true) }));
        self.happen(Body::Tool(ToolEvent::Started { tool }));
    }

    /// What came of a tool.
    pub fn end_tool(&mut self, tool: ToolRunId, outcome: ToolOutcome, result: ToolResult) {
        self.happen(Body::Tool(ToolEvent::Ended { tool, outcome, result }));
    }

    /// A tool that nobody is asked about; one that is denied does not start.
    pub fn run_tool(&mut self, tool: ToolRunId, outcome: ToolOutcome, result: ToolResult) {
        if outcome != ToolOutcome::Denied {
            self.start_tool(tool);
        }
        self.end_tool(tool, outcome, result);
    }

    /// What a person could be asked about a tool; a test says what else it needs.
    pub fn consent(&mut self, tool: ToolRunId) -> Consent {
        let proposed = self.state().tool(tool).expect("a proposed tool");
        Consent {
            tool,
            name: proposed.name.clone(),
            args: proposed.args.clone(),
            preview: None,
            assessment: Assessment {
                risk: Risk::Medium,
                reasons: Vec::new(),
                reversible: true,
                unrated: false,
            },
            digest: ActionDigest("d".to_owned()),
            rule: None,
            takes_reason: true,
        }
    }

    /// A person is asked, without a deadline.
    pub fn ask(&mut self, title: &str, kind: AskKind) -> AskId {
        self.ask_until(title, kind, None)
    }

    /// A person is asked and may take so long.
    pub fn ask_until(&mut self, title: &str, kind: AskKind, deadline: Option<Millis>) -> AskId {
        let (id, run) = (AskId::mint(&self.ids), self.state().open_run().map(|run| run.id));
        self.happen(Body::Ask(AskEvent::Opened(Ask { id, run, title: title.to_owned(), kind, deadline })));
        id
    }

    /// A question is answered or withdrawn.
    pub fn close_ask(&mut self, ask: AskId, closing: Closing) {
        self.happen(Body::Ask(AskEvent::Closed { ask, closing }));
    }

    /// A text waits for the run.
    pub fn queue(&mut self, kind: QueueKind, text: &str) -> QueuedId {
        let (item, input) = (QueuedId::mint(&self.ids), Input::text(text));
        self.happen(Body::Queue(QueueEvent::Added { item, kind, input, by: None }));
        item
    }

    /// A text waits no more, and why.
    pub fn leave(&mut self, item: QueuedId, leaving: Leaving) {
        self.happen(Body::Queue(QueueEvent::Left { item, leaving }));
    }

    /// Closes what is open and ends the run.
    pub fn end(&mut self, outcome: Outcome) {
        for body in self.state().close_run(outcome) {
            self.happen(body);
        }
    }
}
