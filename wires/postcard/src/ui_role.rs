//! We play the UI; a runtime of this wire is at the other end. The wire has no receipts: what is said is taken when it is sent.

use crate::wire::{FromRuntime, FromUi, STOPPED};
use domain::ask::{Answer, Assessment, Risk};
use domain::command::{Command, Receipt, Refusal, RefusalKind, RunCommand};
use domain::content::{Input, TextKind};
use domain::event::{Failure, Outcome};
use domain::fact::{FactAsk, Key, Said};
use domain::port::{Abilities, Ticket};
use domain::tool::{ToolOutcome, ToolResult};
use rolekit::lines::{read, send};
use rolekit::listener::Listener;
use roles::{Drift, Lane, Line, Seen, Settled, UiCx, UiRole};

/// Drives a runtime of this wire.
#[derive(Default)]
pub(crate) struct PostcardUi {
    runs: u64,
    run: Option<Listener<()>>,
}

fn say(cx: &mut UiCx<'_>, line: &FromUi) -> Settled {
    send(cx, line);
    Ok(Receipt::Done)
}

/// The runtime's ids are numbers; among facts they are text.
fn key(id: u64) -> Key {
    id.to_string().into()
}

impl PostcardUi {
    fn prompt(&mut self, cx: &mut UiCx<'_>, input: &Input) -> Settled {
        let refused = |kind, why| Err(Refusal::new(kind, why));
        let None = self.run else { return refused(RefusalKind::Busy, "an answer is under way") };
        let [] = input.attachments[..] else { return refused(RefusalKind::Unsupported, "text only") };
        self.runs += 1;
        self.run = Some(Listener::begin(cx, key(self.runs), input));
        say(cx, &FromUi::Say { text: input.text.clone() })
    }

    fn hear(&mut self, cx: &mut UiCx<'_>, line: FromRuntime) -> Result<(), String> {
        let Some(run) = &mut self.run else { return Err("no answer is under way".to_owned()) };
        match line {
            FromRuntime::Text { text } => run.text(cx, TextKind::Text, text),
            FromRuntime::Thought { text } => run.text(cx, TextKind::Thought, text),
            FromRuntime::Call { call, tool, args } => run.call(cx, key(call), tool, args, ()),
            FromRuntime::Result { call, ok, text } => {
                let outcome = if ok { ToolOutcome::Done } else { ToolOutcome::Failed };
                run.result(cx, &key(call), outcome, ToolResult::text(text));
            }
            FromRuntime::MayI { ask, call, tool: name, args } => {
                // The wire tells no risk: we are careful, and do not claim to know.
                let (risk, reasons, preview, rule, takes_reason) = (Risk::Medium, vec![], None, None, true);
                let assessment = Assessment { risk, reasons, reversible: false, unrated: true };
                let (ask, tool, title) = (key(ask), Some(key(call)), format!("May {name} run?"));
                let kind = FactAsk::Consent { tool, name, args, preview, assessment, rule, takes_reason };
                run.say(cx, Said::AskOpened { ask, title, kind, deadline: None });
            }
            FromRuntime::End { error } => {
                let outcome = match error {
                    None => Outcome::Done,
                    Some(error) if error == STOPPED => Outcome::Cancelled,
                    Some(error) => Outcome::Failed(Failure::new("runtime", error)),
                };
                run.say(cx, Said::RunEnded(outcome));
                self.run = None;
            }
        }
        Ok(())
    }
}

impl UiRole for PostcardUi {
    fn line(&mut self, cx: &mut UiCx<'_>, _: Seen<'_>, _: Lane, line: Line) {
        if let Err(why) = read(&line).and_then(|heard| self.hear(cx, heard)) {
            cx.drift(Drift::new("line", why, line.kept()));
        }
    }

    fn command(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket, command: Command) {
        let with = match command {
            Command::Run(RunCommand::Prompt { input, .. }) => self.prompt(cx, &input),
            Command::Run(RunCommand::Cancel { .. }) => say(cx, &FromUi::Stop {}),
            Command::Answer { ask, answer } => match (seen.names.ask(ask).map(|ask| ask.parse()), answer) {
                (Some(Ok(ask)), Answer::Allow { .. }) => say(cx, &FromUi::Yes { ask }),
                (Some(Ok(ask)), Answer::Deny { reason }) => say(cx, &FromUi::No { ask, reason }),
                (Some(Ok(ask)), _) => say(cx, &FromUi::No { ask, reason: None }),
                _ => Err(Refusal::new(RefusalKind::AskUnknown, "the runtime does not ask that")),
            },
            _ => Err(Refusal::new(RefusalKind::Unsupported, "this runtime cannot do that")),
        };
        cx.settle(ticket, with);
    }

    fn closed(&mut self, _: &mut UiCx<'_>, _: Seen<'_>) {}

    fn abilities(&self) -> Option<Abilities> {
        Some(Abilities { name: "postcard".to_owned(), cancel: true, consent: true, ..Abilities::default() })
    }
}
