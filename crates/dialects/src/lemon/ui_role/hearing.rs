//! Events of the runtime as facts. What it calls a turn is a step here; a person's message begins a turn of ours.
//!
//! Keeps what is needed to say each thing once: which message is open, which tools have ended. The canon repairs the rest.

use super::super::lift;
use super::super::wire::heard::{Compaction, Event, Message, ToolResult};
use crate::listener::Listener;
use domain::content::{Json, Role, Usage};
use domain::event::{Failure, Outcome, Trigger};
use domain::fact::{Fact, Key, Said};
use domain::signal::Level;
use domain::tool::{Progress, ToolOutcome};
use roles::{Drift, UiCx};
use serde_json::value::RawValue;

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
        }
    }

    pub(super) fn hear(&mut self, cx: &mut UiCx<'_>, event: &Event, line: &str) {
        let data: Vec<&RawValue> = event.data.iter().map(AsRef::as_ref).collect();
        let item = |at: usize| data.get(at).copied();
        let of_run = ["message_", "tool_execution_", "turn_"].iter().any(|of| event.kind.starts_with(of));
        if of_run {
            self.over &= !event.kind.ends_with("_start");
            if self.over {
                return;
            }
            self.running = true;
        }
        match event.kind.as_str() {
            "agent_start" => {
                *self = Hearing { running: true, ..Hearing::of(self.run + 1) };
                self.say(cx, Said::RunStarted);
            }
            "agent_end" => self.ended(cx),
            // Our step begins with the model's message: the person's comes after the wire's turn has begun.
            "turn_start" => {}
            "turn_end" => self.turn_ended(cx, item(0), item(1)),
            "message_start" | "message_update" | "message_end" => match item(0).and_then(read::<Message>) {
                Some(message) => self.message(cx, &event.kind, &message, line),
                None => cx.drift(Drift::new(event.kind.as_str(), "there is no message in it", line)),
            },
            "tool_execution_start" => {
                let (Some(tool), name) = (key(item(0)), text(item(1))) else { return odd(cx, event, line) };
                let args = item(2).map(|raw| Json::verbatim(raw.get()));
                self.say(cx, Said::ToolStarted { tool, name, args });
            }
            "tool_execution_update" => {
                let Some(tool) = key(item(0)) else { return odd(cx, event, line) };
                let result: ToolResult = item(3).and_then(read).unwrap_or_default();
                for progress in lift::progress(result.content.as_deref(), result.details.as_deref()) {
                    self.progress(cx, &tool, progress);
                }
            }
            "tool_execution_end" => {
                let Some(tool) = key(item(0)) else { return odd(cx, event, line) };
                let result: ToolResult = item(2).and_then(read).unwrap_or_default();
                let failed = item(3).and_then(read::<bool>).unwrap_or(false);
                self.tool_ended(cx, &tool, failed, result.content.as_deref(), result.details.as_deref());
            }
            "error" => {
                let failure = lift::failure(item(0), self.error_message.as_deref());
                self.end(cx, Outcome::Failed(failure));
            }
            // Existing servers end an aborted run with this alone.
            "canceled" | "cancelled" => self.end(cx, Outcome::Cancelled),
            "compaction_complete" => {
                let Compaction { summary, tokens_before } = item(0).and_then(read).unwrap_or_default();
                let compaction = domain::event::Compaction {
                    summary,
                    first_kept: None,
                    tokens_before: tokens_before.unwrap_or(0),
                    trigger: Trigger::Threshold,
                    usage: Usage::default(),
                };
                cx.fact(Fact::new(Said::Compacted(compaction)));
            }
            "branch_summarized" => {
                let text = "the runtime summarised another branch of the conversation".to_owned();
                let code = "branch_summarized".to_owned();
                cx.fact(Fact::new(Said::Notice { level: Level::Info, code, text }));
            }
            "quit" => cx.log("lemon: the runtime says goodbye"),
            // Said by later servers at each start; nothing in them is for the person.
            "extension_status_report" | "tool_schema_snapshot" | "loop_state_transition" => {}
            other => cx.drift(Drift::new("event", format!("unknown type {other}"), line)),
        }
    }

    fn message(&mut self, cx: &mut UiCx<'_>, kind: &str, message: &Message, line: &str) {
        let role = match message.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool_result" => return self.tool_message(cx, kind, message),
            other => return cx.drift(Drift::new("message", format!("unknown role {other}"), line)),
        };
        if self.open != Some(role) || kind == "message_start" {
            self.say(cx, Said::MessageStarted { message: None, role });
            self.open = Some(role);
        }
        let contents = lift::contents(message.content.as_deref());
        self.say(cx, Said::Whole { message: None, parts: contents.texts });
        if kind != "message_end" {
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
        let finish = lift::finish(message.stop_reason.as_deref());
        self.say(cx, Said::MessageEnded { message: None, finish });
        self.open = None;
        if role == Role::Assistant {
            self.usage = message.usage.map(lift::usage);
            self.stop_reason.clone_from(&message.stop_reason);
            self.error_message.clone_from(&message.error_message);
        }
    }

    /// A result in the conversation repeats what the tool's end said; it counts only when that did not come.
    fn tool_message(&mut self, cx: &mut UiCx<'_>, kind: &str, message: &Message) {
        if let (Some(id), "message_end") = (&message.tool_call_id, kind) {
            let (content, details) = (message.content.as_deref(), message.details.as_deref());
            self.tool_ended(cx, &Key::from(id.as_str()), message.is_error, content, details);
        }
    }

    fn tool_ended(
        &mut self,
        cx: &mut UiCx<'_>,
        tool: &Key,
        failed: bool,
        content: Option<&RawValue>,
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

    fn turn_ended(&mut self, cx: &mut UiCx<'_>, message: Option<&RawValue>, results: Option<&RawValue>) {
        for result in results.and_then(read::<Vec<Message>>).unwrap_or_default() {
            self.tool_message(cx, "message_end", &result);
        }
        let told = message.and_then(read::<Message>).and_then(|message| message.usage).map(lift::usage);
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
        // Whatever comes second (an end after an error, after a cancel) is of no run.
        let ended = std::mem::replace(self, Hearing { over: true, ..Hearing::of(self.run) });
        if ended.running {
            ended.listener.end(cx, outcome);
        }
    }
}

fn odd(cx: &mut UiCx<'_>, event: &Event, line: &str) {
    cx.drift(Drift::new(event.kind.as_str(), "its tuple has another shape", line));
}

fn read<'a, T: serde::Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

fn text(raw: Option<&RawValue>) -> Option<String> {
    raw.and_then(read::<String>)
}

fn key(raw: Option<&RawValue>) -> Option<Key> {
    text(raw).map(Key::from)
}
