//! We play the UI; a runtime of this wire is at the other end.
//!
//! What is said is taken when it is sent: the wire has no receipts. Its run ends with `end`, or with the link.

use super::wire::{FromRuntime, FromUi};
use domain::ask::{Answer, Assessment, Risk};
use domain::command::{Command, Receipt, Refusal, RefusalKind, RunCommand};
use domain::content::{Input, Json, TextKind};
use domain::event::{Cause, Failure, Outcome};
use domain::fact::{FactAsk, Key, Said};
use domain::ids::AskId;
use domain::port::{Abilities, Ticket};
use domain::tool::{ToolOutcome, ToolResult};
use rolekit::listener::Listener;
use roles::{Drift, HANDSHAKE_TIMEOUT, Hello, Lane, Line, Reason, Seen, TimerKey, UiCx, UiRole};

const HANDSHAKE: TimerKey = TimerKey(1);

/// The UI's side.
#[derive(Debug, Default)]
pub(crate) struct PostcardUi {
    ready: bool,
    runs: u64,
    run: Option<Listener<()>>,
}

fn send(cx: &mut UiCx<'_>, line: &FromUi) {
    match serde_json::to_string(line) {
        Ok(line) => cx.send(line),
        Err(why) => cx.log(format!("a line could not be written: {why}")),
    }
}

impl PostcardUi {
    fn prompt(&mut self, cx: &mut UiCx<'_>, input: &Input) -> Result<Receipt, Refusal> {
        if self.run.is_some() {
            return Err(Refusal::new(RefusalKind::Busy, "an answer is under way").hint("wait for its end"));
        }
        if !input.attachments.is_empty() {
            return Err(Refusal::new(RefusalKind::Unsupported, "this wire carries text only"));
        }
        send(cx, &FromUi::Say { text: input.text.clone() });
        self.runs += 1;
        let run = Listener::new(Key::from(self.runs.to_string()));
        run.say(cx, Said::RunStarted);
        run.say(cx, Said::TurnStarted(Some(Cause::Prompt)));
        run.input(cx, input);
        self.run = Some(run);
        Ok(Receipt::Done)
    }

    fn answer(cx: &mut UiCx<'_>, seen: Seen<'_>, ask: AskId, answer: Answer) -> Result<Receipt, Refusal> {
        let Some(ask) = seen.names.ask(ask).map(ToString::to_string) else {
            return Err(Refusal::new(RefusalKind::AskUnknown, "the runtime does not ask that"));
        };
        let line = match answer {
            Answer::Allow { .. } => FromUi::Yes { ask },
            Answer::Deny { reason } => FromUi::No { ask, reason },
            Answer::Dismissed => FromUi::No { ask, reason: None },
            Answer::Confirmed(_) | Answer::Chosen(_) | Answer::Entered(_) => {
                return Err(Refusal::new(RefusalKind::Invalid, "the question wants a yes or a no"));
            }
        };
        send(cx, &line);
        Ok(Receipt::Done)
    }

    fn heard(&mut self, cx: &mut UiCx<'_>, line: FromRuntime) -> Option<()> {
        match line {
            FromRuntime::Ready => {
                self.ready = true;
                cx.cancel_timer(HANDSHAKE);
            }
            FromRuntime::Text { text } => {
                let run = self.run.as_mut()?;
                run.model_speaks(cx);
                run.say(cx, Said::Text { message: None, kind: TextKind::Text, text });
            }
            FromRuntime::Call { call, tool, args } => {
                let (run, call) = (self.run.as_mut()?, Key::from(call));
                run.model_speaks(cx);
                run.note(&call, || ());
                let args = Json::verbatim(args.to_string());
                run.say(cx, Said::ToolProposed { tool: call, name: tool, args });
            }
            FromRuntime::Result { call, ok, text } => {
                let outcome = if ok { ToolOutcome::Done } else { ToolOutcome::Failed };
                self.run.as_mut()?.result(cx, &Key::from(call), outcome, ToolResult::text(text));
            }
            FromRuntime::MayI { ask, call, tool, args } => {
                // The vocabulary wants a risk and the wire tells none: the middle one, without grounds.
                let assessment =
                    Assessment { risk: Risk::Medium, reasons: Vec::new(), reversible: false, unrated: false };
                let kind = FactAsk::Consent {
                    tool: Some(Key::from(call)),
                    name: tool.clone(),
                    args: Json::verbatim(args.to_string()),
                    preview: None,
                    assessment,
                    rule: None,
                    takes_reason: true,
                };
                let title = format!("May {tool} run?");
                self.run
                    .as_ref()?
                    .say(cx, Said::AskOpened { ask: Key::from(ask), title, kind, deadline: None });
            }
            FromRuntime::End { error } => {
                let outcome = match error {
                    None => Outcome::Done,
                    Some(error) if error == "stopped" => Outcome::Cancelled,
                    Some(error) => Outcome::Failed(Failure::new("runtime", error)),
                };
                self.run.take()?.end(cx, outcome);
            }
        }
        Some(())
    }
}

impl UiRole for PostcardUi {
    fn open(&mut self, cx: &mut UiCx<'_>, _: &Hello) {
        cx.timer(HANDSHAKE, HANDSHAKE_TIMEOUT);
    }

    fn line(&mut self, cx: &mut UiCx<'_>, _: Seen<'_>, _: Lane, line: Line) {
        let Line::Text(text) = line else { return cx.drift(Drift::new("line", "too long or not UTF-8", "")) };
        match serde_json::from_str(&text) {
            Ok(heard) => {
                if self.heard(cx, heard).is_none() {
                    cx.drift(Drift::new("line", "no answer is under way", &text));
                }
            }
            Err(why) => cx.drift(Drift::new("line", why.to_string(), &text)),
        }
    }

    fn command(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket, command: Command) {
        let with = match command {
            Command::Run(RunCommand::Prompt { input, .. }) => self.prompt(cx, &input),
            Command::Run(RunCommand::Cancel { .. }) => {
                send(cx, &FromUi::Stop);
                Ok(Receipt::Done)
            }
            Command::Answer { ask, answer } => PostcardUi::answer(cx, seen, ask, answer),
            _ => Err(Refusal::new(RefusalKind::Unsupported, "this runtime cannot do that")),
        };
        cx.settle(ticket, with);
    }

    fn timer(&mut self, cx: &mut UiCx<'_>, _: Seen<'_>, key: TimerKey) {
        if key == HANDSHAKE && !self.ready {
            cx.close(Reason::Unusable("the runtime does not say that it is ready".to_owned()));
        }
    }

    fn closed(&mut self, _: &mut UiCx<'_>, _: Seen<'_>) {
        self.run = None;
    }

    fn abilities(&self) -> Option<Abilities> {
        self.ready.then(|| Abilities {
            name: "postcard".to_owned(),
            cancel: true,
            consent: true,
            ..Abilities::default()
        })
    }
}
