//! Events of the runtime as facts. What it calls a turn is a step here; a person's message begins a turn of ours.
//!
//! Keeps what is needed to say each thing once: which message is open, which tools have ended. The canon repairs the rest.

use super::super::lift;
use super::super::wire::event::Event;
use super::super::wire::message::{AssistantMessage, Block, Message, ToolResultMessage};
use domain::content::{Json, Role, TextKind, Usage};
use domain::event::{Failure, Finish, Outcome, Trigger};
use domain::fact::{Fact, Key, Said};
use domain::signal::Level;
use domain::tool::{Progress, ToolOutcome};
use rolekit::listener::Listener;
use roles::{Drift, UiCx};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What was heard of the run under way.
#[derive(Debug)]
pub(super) struct Hearing {
    /// Runs have no names here; a number tells what comes late from what is new.
    run: u64,
    listener: Listener<()>,
    running: bool,
    /// It has ended: what still comes of it is too late.
    over: bool,
    open: Option<Role>,
    usage: Option<Usage>,
    /// How the last message of the model ended, and what it said went wrong.
    stop_reason: Option<String>,
    error_message: Option<String>,
    /// What we said to begin it, until the server repeats it; not every one does.
    unrepeated: Option<String>,
}

/// How far a message is that is said once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Start,
    Update,
    End,
}

impl Default for Hearing {
    fn default() -> Hearing {
        Hearing::of(0)
    }
}

impl Hearing {
    fn of(run: u64) -> Hearing {
        Hearing {
            run,
            listener: Listener::new(run.to_string().into()),
            running: false,
            over: false,
            open: None,
            usage: None,
            stop_reason: None,
            error_message: None,
            unrepeated: None,
        }
    }

    /// The run that has just begun is of this prompt of ours.
    pub(super) fn prompted(&mut self, text: Option<String>) {
        self.unrepeated = text;
    }

    /// Says what the person said, where the server went on without.
    pub(super) fn say_prompt(&mut self, cx: &mut UiCx<'_>) {
        let Some(text) = self.unrepeated.take() else { return };
        self.say(cx, Said::MessageStarted { message: None, role: Role::User });
        self.say(cx, Said::Text { message: None, kind: TextKind::Text, text });
        self.say(cx, Said::MessageEnded { message: None, finish: Finish::Complete });
    }

    /// What a runtime says of a run; nothing of one that is over.
    pub(super) fn hear(&mut self, cx: &mut UiCx<'_>, event: Event<'_>, line: &str) {
        let starts =
            matches!(event, Event::MessageStart(_) | Event::ToolExecutionStart(..) | Event::TurnStart(_));
        let goes_on = matches!(
            event,
            Event::MessageUpdate(..)
                | Event::MessageEnd(_)
                | Event::ToolExecutionUpdate(..)
                | Event::ToolExecutionEnd(..)
                | Event::TurnEnd(..)
        );
        if goes_on && self.over {
            return;
        }
        if starts || goes_on {
            (self.over, self.running) = (false, true);
        }
        match event {
            Event::AgentStart(_) => {
                *self = Hearing { running: true, ..Hearing::of(self.run + 1) };
                self.say(cx, Said::RunStarted);
            }
            Event::AgentEnd(_) => self.ended(cx),
            // Our step begins with the model's message: the person's comes after the wire's turn has begun.
            Event::TurnStart(_) => {}
            Event::TurnEnd(message, results) => self.turn_ended(cx, *message, results),
            Event::MessageStart((message,)) => self.message(cx, Moment::Start, *message, line),
            Event::MessageUpdate(message, _) => self.message(cx, Moment::Update, *message, line),
            Event::MessageEnd((message,)) => self.message(cx, Moment::End, *message, line),
            Event::ToolExecutionStart(tool, name, args) => {
                self.say_prompt(cx);
                let name = (!name.is_empty()).then(|| name.into_owned());
                let args = args.map(|raw| Json::verbatim(raw.get()));
                self.say(cx, Said::ToolStarted { tool: tool.into(), name, args });
            }
            Event::ToolExecutionUpdate(tool, _, _, result) => {
                let tool = Key::from(tool);
                for progress in lift::progress(result) {
                    self.progress(cx, &tool, progress);
                }
            }
            Event::ToolExecutionEnd(tool, _, result, failed) => {
                self.tool_ended(cx, &tool.into(), failed, result.content, result.details.as_deref());
            }
            Event::Error(reason, ()) => {
                let failure = lift::failure(&reason, self.error_message.as_deref());
                self.end(cx, Outcome::Failed(failure));
            }
            // Existing servers end an aborted run with this alone.
            Event::Canceled(_) => self.end(cx, Outcome::Cancelled),
            Event::CompactionComplete((compaction,)) => {
                let compaction = domain::event::Compaction {
                    summary: compaction.summary.into_owned(),
                    first_kept: None,
                    tokens_before: compaction.tokens_before,
                    trigger: Trigger::Threshold,
                    unexplained: true,
                    usage: Usage::default(),
                };
                cx.fact(Fact::new(Said::Compacted(compaction)));
            }
            Event::BranchSummarized => {
                let text = "the runtime summarised another branch of the conversation".to_owned();
                let code = "branch_summarized".to_owned();
                cx.fact(Fact::new(Said::Notice { level: Level::Info, code, text }));
            }
            Event::Quit(_) => cx.log("lemon: the runtime says goodbye"),
            Event::Idle => {}
            Event::Odd(why, kind) => cx.drift(Drift::new(kind, why, line)),
            Event::Unknown(kind) => cx.drift(Drift::new("event", format!("unknown type {kind}"), line)),
        }
    }

    fn message(&mut self, cx: &mut UiCx<'_>, moment: Moment, message: Message<'_>, line: &str) {
        let (role, blocks, stop_reason) = match message {
            Message::User(message) => (Role::User, Vec::from(message.content), None),
            Message::Assistant(AssistantMessage { content, stop_reason, error_message, usage, .. }) => {
                let stop_reason = stop_reason.map(Cow::into_owned);
                if moment == Moment::End {
                    self.usage = usage.map(lift::usage);
                    self.stop_reason.clone_from(&stop_reason);
                    self.error_message = error_message.map(Cow::into_owned);
                }
                (Role::Assistant, content, stop_reason)
            }
            Message::Tool(message) if moment == Moment::End => return self.tool_message(cx, message),
            Message::Tool(_) => return,
            Message::Unknown(role) => {
                return cx.drift(Drift::new("message", format!("unknown role {role}"), line));
            }
        };
        match role {
            Role::User => self.unrepeated = None,
            Role::Assistant | Role::System => self.say_prompt(cx),
        }
        if self.open != Some(role) || moment == Moment::Start {
            self.say(cx, Said::MessageStarted { message: None, role });
            self.open = Some(role);
        }
        let contents = lift::contents(blocks);
        self.say(cx, Said::Whole { message: None, parts: contents.texts });
        if moment != Moment::End {
            return;
        }
        for part in contents.images {
            self.say(cx, Said::Part { message: None, part });
        }
        for (tool, name, args) in contents.calls {
            self.say(cx, Said::ToolProposed { tool: tool.into(), name, args });
        }
        for unknown in contents.unknown {
            cx.drift(Drift::new("content", format!("unknown block {unknown}"), line));
        }
        let finish = lift::finish(stop_reason.as_deref());
        self.say(cx, Said::MessageEnded { message: None, finish });
        self.open = None;
    }

    /// A result in the conversation repeats what the tool's end said; it counts only when that did not come.
    fn tool_message(&mut self, cx: &mut UiCx<'_>, message: ToolResultMessage<'_>) {
        let ToolResultMessage { tool_call_id, is_error, content, details, .. } = message;
        if !tool_call_id.is_empty() {
            self.tool_ended(cx, &tool_call_id.into(), is_error, content, details.as_deref());
        }
    }

    fn tool_ended(
        &mut self,
        cx: &mut UiCx<'_>,
        tool: &Key,
        failed: bool,
        content: Vec<Block<'_>>,
        details: Option<&RawValue>,
    ) {
        let outcome = if failed { ToolOutcome::Failed } else { ToolOutcome::Done };
        let result = lift::tool_result(content, details);
        self.listener.result(cx, tool, outcome, result);
    }

    fn progress(&self, cx: &mut UiCx<'_>, tool: &Key, progress: Progress) {
        if !self.listener.has_ended(tool) {
            self.say(cx, Said::ToolProgress { tool: tool.clone(), progress });
        }
    }

    fn turn_ended(&mut self, cx: &mut UiCx<'_>, message: Message<'_>, results: Vec<Message<'_>>) {
        for result in results {
            if let Message::Tool(result) = result {
                self.tool_message(cx, result);
            }
        }
        let told = match message {
            Message::Assistant(message) => message.usage.map(lift::usage),
            Message::User(_) | Message::Tool(_) | Message::Unknown(_) => None,
        };
        let usage = told.or(self.usage.take()).unwrap_or_default();
        (self.usage, self.open) = (None, None);
        self.say(cx, Said::StepEnded(usage));
    }

    fn ended(&mut self, cx: &mut UiCx<'_>) {
        let outcome = match self.stop_reason.as_deref() {
            Some("error") => {
                let message = self.error_message.clone();
                Outcome::Failed(Failure::new(
                    "assistant_error",
                    message.unwrap_or_else(|| "the model's answer broke off".to_owned()),
                ))
            }
            Some("aborted") => Outcome::Cancelled,
            _ => Outcome::Done,
        };
        self.end(cx, outcome);
    }

    /// Of the run under way.
    fn say(&self, cx: &mut UiCx<'_>, said: Said) {
        self.listener.say(cx, said);
    }

    /// The runtime went elsewhere; what comes next is of another run.
    pub(super) fn forget(&mut self) {
        *self = Hearing::of(self.run + 1);
    }

    fn end(&mut self, cx: &mut UiCx<'_>, outcome: Outcome) {
        self.say_prompt(cx);
        // Whatever comes second (an end after an error, after a cancel) is of no run.
        let ended = std::mem::replace(self, Hearing { over: true, ..Hearing::of(self.run) });
        if ended.running {
            ended.listener.end(cx, outcome);
        }
    }
}
