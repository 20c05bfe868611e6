//! We play the runtime; a UI of this wire is at the other end.
//!
//! One session, one answer at a time: what is said while an answer is under way waits for its end. Bad lines are answered with an `end`
//! that says what was wrong, and the link lives on.

use super::wire::{FromRuntime, FromUi};
use domain::ask::{Answer, AskKind, Scope};
use domain::command::{Command, PromptOptions, Receipt, Refusal, RunCommand, Target, WhenBusy};
use domain::content::Input;
use domain::event::{AskEvent, Body, Event, Outcome, RunEvent};
use domain::ids::AskId;
use domain::port::Ticket;
use domain::tool::ToolOutcome;
use rolekit::narrator::{Narration, Narrator};
use roles::{Answers, Greeting, Item, Lane, Line, RuntimeCx, RuntimeRole, Tickets, View};
use serde_json::Value;

/// The runtime's side.
#[derive(Debug, Default)]
pub(crate) struct PostcardRuntime {
    under_way: Tickets<()>,
    narrator: Option<Narrator>,
}

fn send(cx: &mut RuntimeCx<'_>, line: &FromRuntime) {
    match serde_json::to_string(line) {
        Ok(line) => cx.send(line),
        Err(why) => cx.log(format!("a line could not be written: {why}")),
    }
}

fn fail(cx: &mut RuntimeCx<'_>, why: impl Into<String>) {
    send(cx, &FromRuntime::End { error: Some(why.into()) });
}

fn args(json: &domain::content::Json) -> Value {
    serde_json::from_str(json.as_str()).unwrap_or_default()
}

/// Our ids are numbers; on the wire they are text.
fn ask_id(text: &str) -> Option<AskId> {
    text.parse().ok().map(AskId)
}

impl PostcardRuntime {
    fn command(&mut self, cx: &mut RuntimeCx<'_>, command: Command) {
        self.under_way.command(cx, Target::Current, command, ());
    }

    fn answer(&mut self, cx: &mut RuntimeCx<'_>, ask: &str, answer: Answer) {
        match ask_id(ask) {
            Some(ask) => self.command(cx, Command::Answer { ask, answer }),
            None => fail(cx, format!("there is no question {ask:?}")),
        }
    }

    fn told(cx: &mut RuntimeCx<'_>, told: Narration<'_>) {
        match told {
            Narration::Text { text, .. } => send(cx, &FromRuntime::Text { text: text.to_owned() }),
            Narration::Call { tool, name, args: json, .. } => {
                let (call, tool) = (tool.0.to_string(), name.to_owned());
                send(cx, &FromRuntime::Call { call, tool, args: args(json) });
            }
            Narration::CallResult { tool, outcome, result, .. } => {
                let (call, ok) = (tool.0.to_string(), *outcome == ToolOutcome::Done);
                send(cx, &FromRuntime::Result { call, ok, text: result.text.clone() });
            }
            Narration::RunEnded { outcome, .. } => {
                let error = match outcome {
                    Outcome::Done => None,
                    Outcome::Cancelled => Some("stopped".to_owned()),
                    Outcome::Failed(failure) => Some(failure.message.clone()),
                    Outcome::Interrupted | Outcome::Lost => Some("the answer was cut off".to_owned()),
                };
                send(cx, &FromRuntime::End { error });
            }
            Narration::Thought { .. } => cx.loss(Item::Thought, "what the model thinks"),
            _ => {}
        }
    }
}

impl RuntimeRole for PostcardRuntime {
    fn open(&mut self, cx: &mut RuntimeCx<'_>, _: &Greeting) {
        send(cx, &FromRuntime::Ready);
    }

    fn line(&mut self, cx: &mut RuntimeCx<'_>, _: Lane, line: Line) {
        let Line::Text(text) = line else { return fail(cx, "the line is too long or not UTF-8") };
        match serde_json::from_str(&text) {
            Ok(FromUi::Say { text }) => {
                let options = PromptOptions { when_busy: WhenBusy::Queue, ..PromptOptions::default() };
                self.command(cx, Command::Run(RunCommand::Prompt { input: Input::text(text), options }));
            }
            Ok(FromUi::Stop) => {
                self.command(cx, Command::Run(RunCommand::Cancel { run: None, reason: None }));
            }
            Ok(FromUi::Yes { ask }) => {
                self.answer(cx, &ask, Answer::Allow { scope: Scope::Once, digest: None });
            }
            Ok(FromUi::No { ask, reason }) => self.answer(cx, &ask, Answer::Deny { reason }),
            Err(why) => fail(cx, format!("not a line of this wire: {why}")),
        }
    }

    fn attached(&mut self, _: &mut RuntimeCx<'_>, view: View<'_>) {
        let open = view.state.runs.last().filter(|run| run.ended.is_none());
        self.narrator = open.map(|run| Narrator::amid(run.id, view.state));
    }

    fn event(&mut self, cx: &mut RuntimeCx<'_>, _: View<'_>, event: &Event) {
        if let Body::Run(RunEvent::Started { run }) = &event.body {
            self.narrator = Some(Narrator::new(*run));
        }
        for told in self.narrator.iter_mut().flat_map(|narrator| narrator.hear(event.at, &event.body)) {
            PostcardRuntime::told(cx, told);
        }
        if let Body::Ask(AskEvent::Opened(ask)) = &event.body
            && let AskKind::Consent(consent) = &ask.kind
        {
            let (ask, call) = (ask.id.0.to_string(), consent.tool.0.to_string());
            let (tool, args) = (consent.name.clone(), args(&consent.args));
            send(cx, &FromRuntime::MayI { ask, call, tool, args });
        }
    }

    fn settled(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        _: Option<View<'_>>,
        ticket: Ticket,
        with: Result<Receipt, Refusal>,
    ) {
        self.under_way.settled(cx, ticket);
        if let Err(refusal) = with {
            fail(cx, refusal.to_string());
        }
    }

    fn can_answer(&self) -> Answers {
        Answers { consent: true, ..Answers::NONE }
    }
}
