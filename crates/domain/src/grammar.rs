//! The laws of the event stream as a checker. It runs in every test that sees events, in the conformance kit and in debug builds.
//!
//! It keeps only what is open and the largest ids, so it can watch a stream for ever, from its first event ([`Grammar::new`]) or from
//! the state that a session is opened with ([`Grammar::at`]). Ids must rise within their kind: that is how "never reused" is checked
//! without remembering them all. It sees what a stream shows: a cancel is no event, so "after a cancel nothing starts" is the hub's to
//! keep, and which action a decision is about is known to it where a consent named it.

use crate::ask::{ActionDigest, Answer, AskKind, Closing};
use crate::content::Role;
use crate::event::{
    AskEvent, Body, ContextEvent, Event, Leaving, MessageEvent, NoteEvent, Outcome, QueueEvent, RunEvent,
    ToolEvent,
};
use crate::ids::{AskId, EntryId, MessageId, QueuedId, RunId, Seq, StepId, ToolRunId, TurnId};
use crate::queue::QueueKind;
use crate::state::{EntryKind, State};
use crate::tool::{Decider, Decision, ToolPhase, ToolRun};
use std::collections::BTreeMap;
use std::fmt;

/// A broken law, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub seq: Seq,
    /// Which law (see the list in `docs/domain.md`).
    pub law: u8,
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {} breaks law {}: {}", self.seq.0, self.law, self.what)
    }
}

impl std::error::Error for Violation {}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Tool {
    /// `asked`: what the person was shown, once somebody was asked.
    Proposed {
        asked: Option<ActionDigest>,
        answered: bool,
        allowed: Option<bool>,
    },
    Running,
}

#[derive(Debug, Clone, Copy)]
struct OpenMessage {
    role: Role,
    run: Option<RunId>,
}

#[derive(Debug, Clone)]
struct OpenAsk {
    run: Option<RunId>,
    /// The tool and what was shown of it.
    about: Option<(ToolRunId, ActionDigest)>,
}

/// Watches one session's stream.
#[derive(Debug, Clone, Default)]
pub struct Grammar {
    seq: Option<Seq>,
    run: Option<RunId>,
    turn: Option<TurnId>,
    step: Option<StepId>,
    messages: BTreeMap<MessageId, OpenMessage>,
    tools: BTreeMap<ToolRunId, Tool>,
    asks: BTreeMap<AskId, OpenAsk>,
    queued: BTreeMap<QueuedId, QueueKind>,
    last: Last,
}

#[derive(Debug, Clone, Default)]
struct Last {
    run: Option<RunId>,
    turn: Option<TurnId>,
    step: Option<StepId>,
    entry: Option<EntryId>,
    tool: Option<ToolRunId>,
    ask: Option<AskId>,
    queued: Option<QueuedId>,
}

type Checked = Result<(), (u8, String)>;

fn law(number: u8, holds: bool, what: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err((number, what())) }
}

fn rises<T: Copy + PartialOrd + fmt::Display>(last: &mut Option<T>, id: T) -> Checked {
    let fresh = last.is_none_or(|last| last < id);
    *last = Some(last.map_or(id, |last| if last < id { id } else { last }));
    law(1, fresh, || format!("{id} is used again"))
}

impl Grammar {
    /// A watcher of a stream from its first event.
    pub fn new() -> Grammar {
        Grammar::default()
    }

    /// A watcher of what follows a state. What a state no longer knows, such as the answer to an ask that is closed, is not held
    /// against what comes next.
    pub fn at(state: &State) -> Grammar {
        let (run, last) = (state.open_run(), state.last_id);
        let id = run.map(|run| run.id);
        // As far back as the run under way reaches: what an older one left open is damage, and not what comes next.
        let tail = state.entries.values().rev().map_while(|entry| match &entry.kind {
            EntryKind::Message(message) if message.run.is_some() && message.run != id => None,
            EntryKind::Message(message) => Some(Some(message)),
            EntryKind::Compaction(_) | EntryKind::Notice { .. } => Some(None),
        });
        let messages = tail.flatten().filter(|message| message.finish.is_none());
        let tools = state.open_tools().into_iter().filter_map(|tool| state.tool(tool));
        Grammar {
            seq: Some(state.seq),
            run: id,
            turn: run.and_then(|run| run.open_turn()).map(|turn| turn.id),
            step: run.and_then(|run| run.open_step()).map(|step| step.id),
            messages: messages.map(|m| (m.id, OpenMessage { role: m.role, run: m.run })).collect(),
            tools: tools.map(|tool| (tool.id, Tool::of(tool, state))).collect(),
            asks: state
                .asks
                .iter()
                .map(|ask| (ask.id, OpenAsk { run: ask.run, about: shown(&ask.kind) }))
                .collect(),
            queued: state.queues.all().map(|(kind, waiting)| (waiting.id, kind)).collect(),
            // All ids of a session come from one counter.
            last: Last {
                run: Some(RunId(last)),
                turn: Some(TurnId(last)),
                step: Some(StepId(last)),
                entry: Some(EntryId(last)),
                tool: Some(ToolRunId(last)),
                ask: Some(AskId(last)),
                queued: Some(QueuedId(last)),
            },
        }
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// The first law that it breaks.
    pub fn check(&mut self, event: &Event) -> Result<(), Violation> {
        let seq = event.seq;
        let due = self.seq.map_or(Seq(1), Seq::next);
        self.seq = Some(seq);
        let numbered = law(1, seq == due, || format!("number {} came where {} was due", seq.0, due.0));
        numbered.and_then(|()| self.body(&event.body)).map_err(|(law, what)| Violation { seq, law, what })
    }

    /// Takes the next event of a stream that may have been joined on its way: numbers rise, and not always by one.
    ///
    /// # Errors
    /// The first law that it breaks.
    pub fn follow(&mut self, event: &Event) -> Result<(), Violation> {
        let (seq, last) = (event.seq, self.seq.replace(event.seq));
        let rises = last.is_none_or(|last| last < seq);
        let numbered =
            law(1, rises, || format!("number {} came behind {}", seq.0, last.unwrap_or_default().0));
        numbered.and_then(|()| self.body(&event.body)).map_err(|(law, what)| Violation { seq, law, what })
    }

    /// Whether nothing is open.
    pub fn is_closed(&self) -> bool {
        self.run.is_none() && self.messages.is_empty() && self.tools.is_empty() && self.asks.is_empty()
    }

    fn body(&mut self, body: &Body) -> Checked {
        match body {
            Body::Run(event) => self.run(event),
            Body::Message(event) => self.message(event),
            Body::Tool(event) => self.tool(event),
            Body::Ask(AskEvent::Opened(ask)) => self.ask_opened(ask.id, ask.run, &ask.kind),
            Body::Ask(AskEvent::Closed { ask, closing }) => self.ask_closed(*ask, closing),
            Body::Queue(event) => self.queue(event),
            Body::Context(ContextEvent::Compacted { entry, .. })
            | Body::Note(NoteEvent::Noticed { entry, .. }) => rises(&mut self.last.entry, *entry),
            Body::Rebased(_) => law(1, false, || "a replay inside a live stream".to_owned()),
            Body::Session(_)
            | Body::Context(ContextEvent::Measured { .. })
            | Body::Note(NoteEvent::PlanChanged { .. }) => Ok(()),
        }
    }

    fn run(&mut self, event: &RunEvent) -> Checked {
        match event {
            RunEvent::Started { run } => {
                law(2, self.run.is_none(), || format!("{run} started inside another run"))?;
                self.run = Some(*run);
                rises(&mut self.last.run, *run)
            }
            RunEvent::Ended { run, outcome } => self.run_ended(*run, outcome),
            RunEvent::TurnStarted { run, turn, .. } => {
                law(2, self.run == Some(*run), || format!("{turn} started outside its run"))?;
                law(2, self.turn.is_none(), || format!("{turn} started inside another turn"))?;
                self.turn = Some(*turn);
                rises(&mut self.last.turn, *turn)
            }
            RunEvent::TurnEnded { turn } => {
                law(2, self.turn == Some(*turn), || format!("{turn} ended but is not open"))?;
                law(2, self.step.is_none(), || format!("{turn} ended before its step"))?;
                law(2, self.messages.is_empty(), || format!("{turn} ended before its messages"))?;
                self.turn = None;
                Ok(())
            }
            RunEvent::StepStarted { turn, step, .. } => {
                law(2, self.turn == Some(*turn), || format!("{step} started outside its turn"))?;
                law(2, self.step.is_none(), || format!("{step} started inside another step"))?;
                self.step = Some(*step);
                rises(&mut self.last.step, *step)
            }
            RunEvent::StepBilled { step, .. } => {
                law(2, self.step == Some(*step), || format!("{step} was billed but is not open"))
            }
            RunEvent::StepEnded { step, .. } => {
                law(2, self.step == Some(*step), || format!("{step} ended but is not open"))?;
                law(2, self.tools.is_empty(), || format!("{step} ended before its tools"))?;
                let open = self.messages.values().any(|message| message.role == Role::Assistant);
                law(2, !open, || format!("{step} ended before its messages"))?;
                self.step = None;
                Ok(())
            }
            RunEvent::Retrying { .. } => Ok(()),
        }
    }

    fn message(&mut self, event: &MessageEvent) -> Checked {
        match event {
            MessageEvent::Started { message, role, turn, step, .. } => {
                law(2, *turn == self.turn || turn.is_none(), || {
                    format!("{message} started outside its turn")
                })?;
                law(2, *step == self.step || step.is_none(), || {
                    format!("{message} started outside its step")
                })?;
                self.messages.insert(*message, OpenMessage { role: *role, run: self.run });
                rises(&mut self.last.entry, (*message).into())
            }
            MessageEvent::Delta { message, .. } | MessageEvent::PartAdded { message, .. } => {
                self.open_message(*message)
            }
            MessageEvent::Ended { message, .. } => {
                self.open_message(*message)?;
                self.messages.remove(message);
                Ok(())
            }
        }
    }

    fn queue(&mut self, event: &QueueEvent) -> Checked {
        match event {
            QueueEvent::Added { item, kind, .. } => {
                self.queued.insert(*item, *kind);
                rises(&mut self.last.queued, *item)
            }
            QueueEvent::Edited { item, .. } => {
                law(6, self.queued.contains_key(item), || format!("{item} does not wait"))
            }
            QueueEvent::Left { item, leaving } => {
                let Some(kind) = self.queued.remove(item) else {
                    return Err((6, format!("{item} does not wait")));
                };
                match leaving {
                    Leaving::Taken => self.taken(*item, kind),
                    Leaving::Dropped | Leaving::Cleared => Ok(()),
                }
            }
            QueueEvent::ModeSet { .. } => Ok(()),
        }
    }

    fn taken(&self, item: QueuedId, kind: QueueKind) -> Checked {
        let steers = self.queued.values().any(|waiting| *waiting == QueueKind::Steer);
        law(6, kind == QueueKind::Steer || !steers, || format!("{item} was taken while a steer waits"))?;
        let older = self.queued.iter().any(|(other, of)| *of == kind && *other < item);
        law(6, !older, || format!("{item} was taken before one that has waited longer"))
    }

    fn run_ended(&mut self, run: RunId, outcome: &Outcome) -> Checked {
        law(2, self.run == Some(run), || format!("{run} ended but is not open"))?;
        // What is in the turn has ended then: a turn ends after its messages and its step, a step after its tools.
        law(2, self.turn.is_none(), || format!("{run} ended before its turn"))?;
        let speaks = self.messages.values().any(|message| message.run == Some(run));
        law(2, !speaks, || format!("{run} ended before its messages"))?;
        law(4, self.asks.values().all(|ask| ask.run != Some(run)), || {
            format!("{run} ended before its asks")
        })?;
        let cleared = self.queued.is_empty() || *outcome == Outcome::Done;
        law(6, cleared, || format!("{run} was stopped and left inputs waiting"))?;
        self.run = None;
        Ok(())
    }

    fn open_message(&self, message: MessageId) -> Checked {
        law(2, self.messages.contains_key(&message), || format!("{message} is not open"))
    }

    fn tool(&mut self, event: &ToolEvent) -> Checked {
        match event {
            ToolEvent::Proposed { tool, message, .. } => {
                self.open_message(*message)?;
                law(2, self.step.is_some(), || format!("{tool} proposed outside a step"))?;
                self.tools.insert(*tool, Tool::Proposed { asked: None, answered: false, allowed: None });
                rises(&mut self.last.tool, *tool)
            }
            ToolEvent::Decided { tool, decision } => self.decided(*tool, decision),
            ToolEvent::Started { tool } => {
                let may = matches!(self.tools.get(tool), Some(Tool::Proposed { allowed: Some(true), .. }));
                law(5, may, || format!("{tool} started without a recorded yes"))?;
                self.tools.insert(*tool, Tool::Running);
                Ok(())
            }
            ToolEvent::Progress { tool, .. } => {
                law(2, self.tools.get(tool) == Some(&Tool::Running), || format!("{tool} is not running"))
            }
            ToolEvent::Ended { tool, .. } => {
                let about = |ask: &OpenAsk| ask.about.as_ref().is_some_and(|(of, _)| of == tool);
                let asked = self.asks.values().any(about);
                law(4, !asked, || format!("{tool} ended before its ask"))?;
                law(2, self.tools.remove(tool).is_some(), || format!("{tool} ended but is not open"))
            }
        }
    }

    fn decided(&mut self, tool: ToolRunId, decision: &Decision) -> Checked {
        let Some(Tool::Proposed { asked, answered, allowed }) = self.tools.get_mut(&tool) else {
            return Err((5, format!("{tool} was decided but is not proposed")));
        };
        law(5, allowed.is_none(), || format!("{tool} was decided twice"))?;
        // A foreign runtime may decide by itself once its question is closed.
        let foreign = decision.by == Decider::Foreign;
        let fair = !decision.allowed || asked.is_none() || *answered || foreign;
        law(5, fair, || format!("{tool} was allowed while or although its ask was not answered with yes"))?;
        let same = match (asked, &decision.digest) {
            (Some(shown), Some(decided)) => !decision.allowed || shown == decided,
            (None, _) | (_, None) => true,
        };
        law(5, same, || format!("{tool} was allowed for another action than the one that was shown"))?;
        *allowed = Some(decision.allowed);
        Ok(())
    }

    fn ask_opened(&mut self, ask: AskId, run: Option<RunId>, kind: &AskKind) -> Checked {
        law(4, run.is_none() || run == self.run, || format!("{ask} opened outside its run"))?;
        let about = shown(kind);
        if let Some((tool, digest)) = &about {
            match self.tools.get_mut(tool) {
                Some(Tool::Proposed { asked, answered, allowed: None }) => {
                    (*asked, *answered) = (Some(digest.clone()), false);
                }
                // It asks about more than itself: its own decision stands.
                Some(Tool::Running) => {}
                _ => return Err((5, format!("{ask} asks about {tool}, which is not up for decision"))),
            }
        }
        self.asks.insert(ask, OpenAsk { run, about });
        rises(&mut self.last.ask, ask)
    }

    fn ask_closed(&mut self, ask: AskId, closing: &Closing) -> Checked {
        let Some(OpenAsk { about, .. }) = self.asks.remove(&ask) else {
            return Err((4, format!("{ask} closed but is not open")));
        };
        let Some((tool, shown)) = about else { return Ok(()) };
        let (yes, seen) = match closing {
            Closing::Answered { answer: Answer::Allow { digest, .. }, .. } => (true, digest.as_ref()),
            Closing::Answered { .. } | Closing::Withdrawn | Closing::Expired | Closing::Unattended => {
                (false, None)
            }
        };
        law(5, seen.is_none_or(|seen| *seen == shown), || {
            format!("{ask} was answered with yes to another action")
        })?;
        if let Some(Tool::Proposed { answered, .. }) = self.tools.get_mut(&tool) {
            *answered = yes;
        }
        Ok(())
    }
}

impl Tool {
    /// A tool run that has not ended, as a state knows it.
    fn of(tool: &ToolRun, state: &State) -> Tool {
        let asked = match &tool.phase {
            ToolPhase::Running => return Tool::Running,
            ToolPhase::Awaiting(ask) => state.ask(*ask).and_then(|ask| shown(&ask.kind)),
            ToolPhase::Proposed | ToolPhase::Allowed | ToolPhase::Ended(_) => None,
        };
        let allowed = tool.decision.as_ref().map(|decision| decision.allowed);
        Tool::Proposed { asked: asked.map(|(_, digest)| digest), answered: false, allowed }
    }
}

/// The tool that a question is about, and what it shows of it.
fn shown(kind: &AskKind) -> Option<(ToolRunId, ActionDigest)> {
    match kind {
        AskKind::Consent(consent) => Some((consent.tool, consent.digest.clone())),
        AskKind::Confirm { .. } | AskKind::Choose { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => {
            None
        }
    }
}

/// Checks a whole stream.
///
/// # Errors
/// The first law that is broken.
pub fn check_all<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Grammar, Violation> {
    let mut grammar = Grammar::new();
    for event in events {
        grammar.check(event)?;
    }
    Ok(grammar)
}

#[cfg(test)]
mod tests;
