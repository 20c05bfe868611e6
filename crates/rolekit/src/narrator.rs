//! The narrator: what happened in one run, put in the order and the pieces in which any wire can tell it.
//!
//! It knows which message is open and what was said in it, what its tools are called and how far they are, and what of all this was
//! told. It knows no wire and has no switch for one: it gives [`Narration`] values, and a role writes those that its wire has words for.
//! It is not the state: it remembers only the run that is being told, so that a role can also tell a past from events alone.
//!
//! Invariants: the pieces of a message's text are its text, in order, with [`CUT_LINE`] below one that is said anew; every call has one result; a finished text is held back until it
//! is known whether it was the run's last; whoever joins in the middle ([`Narrator::amid`]) is told the same rest as whoever heard
//! the beginning; what was missed ([`Narrator::missed`]) is told once.

mod message;
mod missed;
#[cfg(test)]
mod tests;

use domain::content::{Json, Part, Role, TextKind, Usage};
use domain::event::{Body, ContextEvent, Finish, MessageEvent, NoteEvent, Outcome, RunEvent, ToolEvent};
use domain::ids::{EntryId, MessageId, Millis, RunId, StepId, ToolRunId, TurnId};
use domain::session::ModelRef;
use domain::state::State;
use domain::tool::{Decision, Progress, ToolOutcome, ToolResult};
use message::MessageSoFar;
use std::collections::{BTreeMap, BTreeSet};

/// What stands below the piece of an answer that was cut off and is said anew, so that nobody takes the two for two answers.
pub const CUT_LINE: &str = "\n\n[cut off here: the model was asked again, and repeats it below]\n\n";

/// The name of a tool whose proposal was not heard.
const UNKNOWN_TOOL: &str = "tool";

/// Something to tell about a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Narration<'a> {
    RunStarted,
    TurnStarted,
    StepStarted {
        step: StepId,
        model: Option<&'a ModelRef>,
        /// A step of the same turn came before it.
        again: bool,
    },
    MessageStarted {
        message: MessageId,
        role: Role,
    },
    /// All that the person said in one message, when it is over.
    Prompt {
        parts: Vec<Part>,
        began: Millis,
    },
    /// More of what the model says.
    Text {
        message: MessageId,
        text: &'a str,
        opens: Opens,
        came: Came<'a>,
    },
    /// More of what the model thinks.
    Thought {
        message: MessageId,
        text: &'a str,
        came: Came<'a>,
    },
    /// Something between the texts of the model's message: code, a diff, a picture, what only a wire knows.
    Block {
        message: MessageId,
        part: &'a Part,
        opens: Opens,
    },
    /// A text or a thought is whole, and something follows it.
    Whole(Whole),
    /// The model wants a tool.
    Call {
        tool: ToolRunId,
        message: MessageId,
        name: &'a str,
        args: &'a Json,
    },
    CallStarted {
        tool: ToolRunId,
    },
    CallProgress {
        tool: ToolRunId,
        progress: &'a Progress,
        /// Bytes of output that were told before.
        told: usize,
    },
    CallResult {
        tool: ToolRunId,
        call: NarratedCall,
        outcome: &'a ToolOutcome,
        result: &'a ToolResult,
    },
    MessageEnded {
        message: MessageId,
        role: Role,
        finish: &'a Finish,
    },
    StepEnded {
        step: StepId,
        usage: Usage,
        /// The model called a tool in it.
        called: bool,
    },
    TurnEnded,
    RunEnded {
        outcome: &'a Outcome,
        /// The last text of the run, if nothing followed it.
        last: Option<Whole>,
    },
}

/// How much a piece of text begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opens {
    /// Nothing was said in the run before.
    Run,
    /// Something was said in a turn before.
    Turn,
    /// Something was said in another message of the turn.
    Message,
    /// Something was said in the same message.
    Nothing,
}

/// How a text came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Came<'a> {
    InPieces,
    AtOnce(&'a Part),
}

/// A text with the blocks under it, or a thought.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    pub kind: TextKind,
    /// Each part, and whether all of it was told piece by piece.
    pub parts: Vec<(Part, bool)>,
}

/// A call of a tool that has no result yet.
#[derive(Debug, Clone, PartialEq)]
pub struct NarratedCall {
    pub name: String,
    pub args: Json,
    pub proposed_at: Millis,
    pub started_at: Option<Millis>,
    /// Bytes of its output that were told.
    pub output: usize,
    /// Whether it may run, once that is decided.
    pub decision: Option<Decision>,
    status: Option<(Option<u8>, String)>,
}

impl NarratedCall {
    fn new(name: &str, args: Json, proposed_at: Millis) -> NarratedCall {
        NarratedCall {
            name: name.to_owned(),
            args,
            proposed_at,
            started_at: None,
            output: 0,
            decision: None,
            status: None,
        }
    }

    /// It was denied, and nobody said why.
    pub fn denied_without_reason(&self) -> bool {
        self.decision.as_ref().is_some_and(|decision| !decision.allowed && decision.reason.is_none())
    }
}

/// One run that is being told.
#[derive(Debug)]
pub struct Narrator {
    run: RunId,
    begun: bool,
    over: bool,
    /// The newest turn, and whether it is open.
    turn: Option<(TurnId, bool)>,
    /// The newest step, and whether it is open.
    step: Option<(StepId, bool)>,
    /// The open turn has had a step.
    stepped: bool,
    /// The open step has called a tool.
    called: bool,
    messages: BTreeMap<MessageId, MessageSoFar>,
    calls: BTreeMap<ToolRunId, NarratedCall>,
    ended_calls: BTreeSet<ToolRunId>,
    /// The newest entry that is no message.
    last_entry: Option<EntryId>,
    /// The text of the newest finished message, of which it is not known whether something follows.
    held: Option<Whole>,
    spoke_in_run: bool,
    spoke_in_turn: bool,
}

impl Narrator {
    /// A run from its beginning.
    pub fn new(run: RunId) -> Narrator {
        Narrator {
            run,
            begun: false,
            over: false,
            turn: None,
            step: None,
            stepped: false,
            called: false,
            messages: BTreeMap::new(),
            calls: BTreeMap::new(),
            ended_calls: BTreeSet::new(),
            last_entry: None,
            held: None,
            spoke_in_run: false,
            spoke_in_turn: false,
        }
    }

    /// A run that is under way: what `state` holds of it counts as told, and what is open in it goes on.
    pub fn amid(run: RunId, state: &State) -> Narrator {
        let mut narrator = Narrator::new(run);
        for (at, body) in narrator.missed(state) {
            narrator.hear(at, &body);
        }
        // Nobody was told these pieces.
        narrator.messages.values_mut().for_each(MessageSoFar::forget_pieces);
        if let Some(whole) = &mut narrator.held {
            whole.forget_pieces();
        }
        narrator
    }

    /// Which run is told.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// A call that has no result yet.
    pub fn call(&self, tool: ToolRunId) -> Option<&NarratedCall> {
        self.calls.get(&tool)
    }

    /// Takes what happened; gives what to tell.
    pub fn hear<'a>(&mut self, at: Millis, body: &'a Body) -> Vec<Narration<'a>> {
        let mut told = Vec::new();
        match body {
            Body::Run(event) if !self.over => self.run_event(event, &mut told),
            Body::Message(event) => self.message_event(at, event, &mut told),
            Body::Tool(event) => self.tool_event(at, event, &mut told),
            Body::Context(ContextEvent::Compacted { entry, .. })
            | Body::Note(NoteEvent::Noticed { entry, .. }) => {
                self.last_entry = self.last_entry.max(Some(*entry));
            }
            Body::Run(_)
            | Body::Session(_)
            | Body::Ask(_)
            | Body::Queue(_)
            | Body::Context(ContextEvent::Measured { .. })
            | Body::Note(NoteEvent::PlanChanged { .. })
            | Body::Rebased(_) => {}
        }
        told
    }

    fn run_event<'a>(&mut self, event: &'a RunEvent, told: &mut Vec<Narration<'a>>) {
        match event {
            RunEvent::Started { run } => {
                if *run == self.run && !std::mem::replace(&mut self.begun, true) {
                    told.push(Narration::RunStarted);
                }
            }
            RunEvent::TurnStarted { turn, .. } => {
                if self.turn.is_none_or(|(newest, _)| newest < *turn) {
                    self.release(told);
                    self.turn = Some((*turn, true));
                    (self.stepped, self.spoke_in_turn) = (false, false);
                    told.push(Narration::TurnStarted);
                }
            }
            RunEvent::TurnEnded { turn } => {
                if self.turn == Some((*turn, true)) {
                    self.turn = Some((*turn, false));
                    told.push(Narration::TurnEnded);
                }
            }
            RunEvent::StepStarted { step, model, .. } => {
                if self.step.is_none_or(|(newest, _)| newest < *step) {
                    self.release(told);
                    (self.step, self.called) = (Some((*step, true)), false);
                    let again = std::mem::replace(&mut self.stepped, true);
                    told.push(Narration::StepStarted { step: *step, model: model.as_ref(), again });
                }
            }
            RunEvent::StepEnded { step, usage } => {
                if self.step == Some((*step, true)) {
                    self.step = Some((*step, false));
                    told.push(Narration::StepEnded { step: *step, usage: *usage, called: self.called });
                }
            }
            RunEvent::Ended { run, outcome } => {
                if *run == self.run {
                    self.over = true;
                    told.push(Narration::RunEnded { outcome, last: self.held.take() });
                }
            }
            RunEvent::StepBilled { .. } | RunEvent::Retrying { .. } => {}
        }
    }

    fn message_event<'a>(&mut self, at: Millis, event: &'a MessageEvent, told: &mut Vec<Narration<'a>>) {
        match event {
            MessageEvent::Started { message, role, .. } => {
                if self.messages.contains_key(message) {
                    return;
                }
                if *role == Role::Assistant {
                    self.release(told);
                }
                self.messages.insert(*message, MessageSoFar::new(*role, at));
                told.push(Narration::MessageStarted { message: *message, role: *role });
            }
            MessageEvent::Delta { message, kind, text } => {
                self.text(at, *message, *kind, text, Came::InPieces, told);
            }
            MessageEvent::PartAdded { message, part } => match part {
                Part::Text(text) => {
                    self.text(at, *message, TextKind::Text, text, Came::AtOnce(part), told);
                }
                Part::Thought { text, .. } => {
                    self.text(at, *message, TextKind::Thought, text, Came::AtOnce(part), told);
                }
                Part::Opaque { .. } if part.is_private() => {}
                Part::Code { .. } | Part::Diff { .. } | Part::Image { .. } | Part::Opaque { .. } => {
                    self.block(at, *message, part, told);
                }
                Part::Tool(_) => {}
            },
            MessageEvent::Ended { message, finish } => self.message_ended(*message, finish, told),
        }
    }

    fn text<'a>(
        &mut self,
        at: Millis,
        message: MessageId,
        kind: TextKind,
        text: &'a str,
        came: Came<'a>,
        told: &mut Vec<Narration<'a>>,
    ) {
        let heard = self.messages.entry(message).or_insert_with(|| MessageSoFar::new(Role::Assistant, at));
        let before = heard.text(kind, text, came);
        if heard.role != Role::Assistant || heard.ended {
            return;
        }
        told.extend(before.filter(Whole::says_something).map(Narration::Whole));
        if text.is_empty() {
            return;
        }
        told.push(match kind {
            TextKind::Text => Narration::Text { message, text, opens: self.opens(message), came },
            TextKind::Thought => Narration::Thought { message, text, came },
        });
    }

    fn block<'a>(&mut self, at: Millis, message: MessageId, part: &'a Part, told: &mut Vec<Narration<'a>>) {
        let heard = self.messages.entry(message).or_insert_with(|| MessageSoFar::new(Role::Assistant, at));
        let before = heard.block(part);
        if heard.role != Role::Assistant || heard.ended {
            return;
        }
        told.extend(before.filter(Whole::says_something).map(Narration::Whole));
        let opens = match part {
            Part::Code { .. } | Part::Diff { .. } => self.opens(message),
            _ => Opens::Nothing,
        };
        told.push(Narration::Block { message, part, opens });
    }

    /// The model says something in this message: what that begins.
    fn opens(&mut self, message: MessageId) -> Opens {
        let in_run = std::mem::replace(&mut self.spoke_in_run, true);
        let in_turn = std::mem::replace(&mut self.spoke_in_turn, true);
        let heard = self.messages.get_mut(&message);
        let in_message = heard.is_some_and(|heard| std::mem::replace(&mut heard.spoke, true));
        match (in_message, in_turn, in_run) {
            (true, _, _) => Opens::Nothing,
            (false, true, _) => Opens::Message,
            (false, false, true) => Opens::Turn,
            (false, false, false) => Opens::Run,
        }
    }

    fn message_ended<'a>(&mut self, message: MessageId, finish: &'a Finish, told: &mut Vec<Narration<'a>>) {
        let Some(heard) = self.messages.get(&message).filter(|heard| !heard.ended) else { return };
        let (role, began) = (heard.role, heard.began);
        if *finish == Finish::Cut {
            self.text(began, message, TextKind::Text, CUT_LINE, Came::InPieces, told);
        }
        let whole = self.messages.get_mut(&message).and_then(MessageSoFar::end);
        match role {
            Role::User => {
                let parts = whole.map(Whole::into_parts).unwrap_or_default();
                told.push(Narration::Prompt { parts, began });
            }
            Role::Assistant => self.hold(message, whole.filter(Whole::says_something), told),
            Role::System => {}
        }
        told.push(Narration::MessageEnded { message, role, finish });
    }

    /// A finished text may be the run's last one, unless the model has begun another message already.
    fn hold(&mut self, message: MessageId, whole: Option<Whole>, told: &mut Vec<Narration<'_>>) {
        let Some(whole) = whole else { return };
        let mut newer = self.messages.iter().rev().take_while(|(id, _)| **id > message);
        if whole.kind == TextKind::Thought || newer.any(|(_, heard)| heard.role == Role::Assistant) {
            told.push(Narration::Whole(whole));
        } else {
            self.held = Some(whole);
        }
    }

    /// Something follows what is held back.
    fn release(&mut self, told: &mut Vec<Narration<'_>>) {
        told.extend(self.held.take().map(Narration::Whole));
    }

    fn tool_event<'a>(&mut self, at: Millis, event: &'a ToolEvent, told: &mut Vec<Narration<'a>>) {
        match event {
            ToolEvent::Proposed { tool, message, name, args } => {
                if self.is_known(*tool) {
                    return;
                }
                self.called = true;
                let heard =
                    self.messages.entry(*message).or_insert_with(|| MessageSoFar::new(Role::Assistant, at));
                let before = heard.called();
                told.extend(before.filter(Whole::says_something).map(Narration::Whole));
                self.calls.insert(*tool, NarratedCall::new(name, args.clone(), at));
                told.push(Narration::Call { tool: *tool, message: *message, name, args });
            }
            ToolEvent::Decided { tool, decision } => {
                if let Some(call) = self.open_call(at, *tool) {
                    call.decision = Some(decision.clone());
                }
            }
            ToolEvent::Started { tool } => self.call_started(at, *tool, told),
            ToolEvent::Progress { tool, progress } => {
                let Some(call) = self.open_call(at, *tool) else { return };
                let before = call.output;
                match progress {
                    Progress::Output(text) => call.output += text.len(),
                    Progress::Replace(whole) => call.output = call.output.max(whole.len()),
                    Progress::Status { percent, message } => call.status = Some((*percent, message.clone())),
                }
                told.push(Narration::CallProgress { tool: *tool, progress, told: before });
            }
            ToolEvent::Ended { tool, outcome, result } => {
                if self.open_call(at, *tool).is_none() {
                    return;
                }
                self.ended_calls.insert(*tool);
                if let Some(call) = self.calls.remove(tool) {
                    told.push(Narration::CallResult { tool: *tool, call, outcome, result });
                }
            }
        }
    }

    fn call_started(&mut self, at: Millis, tool: ToolRunId, told: &mut Vec<Narration<'_>>) {
        let Some(call) = self.open_call(at, tool).filter(|call| call.started_at.is_none()) else { return };
        call.started_at = Some(at);
        told.push(Narration::CallStarted { tool });
    }

    fn is_known(&self, tool: ToolRunId) -> bool {
        self.calls.contains_key(&tool) || self.ended_calls.contains(&tool)
    }

    /// A call without a result; one whose proposal was not heard is taken as it is, one that has ended is not there.
    fn open_call(&mut self, at: Millis, tool: ToolRunId) -> Option<&mut NarratedCall> {
        if self.ended_calls.contains(&tool) {
            return None;
        }
        Some(self.calls.entry(tool).or_insert_with(|| NarratedCall::new(UNKNOWN_TOOL, Json::empty(), at)))
    }
}
