//! We play the runtime; a UI of this wire is at the other end. What is said while an answer is under way waits for its end.

use crate::wire::{FromRuntime, FromUi, STOPPED};
use domain::ask::{Answer, AskKind, Scope};
use domain::command::{Command, PromptOptions, RunCommand, Target, WhenBusy};
use domain::content::Input;
use domain::event::{AskEvent, Body, Event, Outcome, RunEvent};
use domain::ids::AskId;
use domain::port::Ticket;
use domain::tool::ToolOutcome;
use rolekit::lines::{MAX_UNDER_WAY, read, send};
use rolekit::narrator::{Narration, Narrator};
use roles::{Answers, Lane, Line, RuntimeCx, RuntimeRole, Settled, Tickets, View};

/// A UI of this wire is served by it.
#[derive(Default)]
pub(crate) struct PostcardRuntime {
    under_way: Tickets<()>,
    narrator: Option<Narrator>,
}

/// What a line of the UI wants of us.
fn lift(line: FromUi) -> Command {
    let answer = |ask, answer| Command::Answer { ask: AskId(ask), answer };
    let options = PromptOptions { when_busy: WhenBusy::Queue, ..PromptOptions::default() };
    match line {
        FromUi::Say { text } => Command::Run(RunCommand::Prompt { input: Input::text(text), options }),
        FromUi::Stop {} => Command::Run(RunCommand::Cancel { run: None, reason: None }),
        FromUi::Yes { ask } => answer(ask, Answer::Allow { scope: Scope::Once, digest: None }),
        FromUi::No { ask, reason } => answer(ask, Answer::Deny { reason }),
    }
}

fn end(error: Option<&str>) -> FromRuntime {
    FromRuntime::End { error: error.map(str::to_owned) }
}

/// What happened in a run, where the wire has a word for it.
fn lower(told: Narration<'_>) -> Option<FromRuntime> {
    Some(match told {
        Narration::Text { text, .. } => FromRuntime::Text { text: text.to_owned() },
        Narration::Thought { text, .. } => FromRuntime::Thought { text: text.to_owned() },
        Narration::Call { tool, name, args, .. } => {
            FromRuntime::Call { call: tool.0, tool: name.to_owned(), args: args.clone() }
        }
        Narration::CallResult { tool, outcome, result, .. } => {
            FromRuntime::Result { call: tool.0, ok: *outcome == ToolOutcome::Done, text: result.text.clone() }
        }
        Narration::RunEnded { outcome, .. } => match outcome {
            Outcome::Done => end(None),
            Outcome::Cancelled => end(Some(STOPPED)),
            Outcome::Failed(failure) => end(Some(&failure.message)),
            Outcome::Interrupted | Outcome::Lost => end(Some("the answer was cut off")),
        },
        _ => return None,
    })
}

impl RuntimeRole for PostcardRuntime {
    fn line(&mut self, cx: &mut RuntimeCx<'_>, _: Lane, line: Line) {
        match read(&line) {
            Ok(_) if self.under_way.len() >= MAX_UNDER_WAY => send(cx, &end(Some("too much at once"))),
            Ok(line) => _ = self.under_way.command(cx, Target::Current, lift(line), ()),
            Err(why) => send(cx, &end(Some(&why))),
        }
    }

    fn attached(&mut self, _: &mut RuntimeCx<'_>, view: View<'_>) {
        self.narrator = view.state.open_run().map(|run| Narrator::amid(run.id, view.state));
    }

    fn event(&mut self, cx: &mut RuntimeCx<'_>, _: View<'_>, event: &Event) {
        if let Body::Run(RunEvent::Started { run }) = &event.body {
            self.narrator = Some(Narrator::new(*run));
        }
        let told = self.narrator.iter_mut().flat_map(|narrator| narrator.hear(event.at, &event.body));
        told.filter_map(lower).for_each(|line| send(cx, &line));
        if let Body::Ask(AskEvent::Opened(ask)) = &event.body
            && let AskKind::Consent(consent) = &ask.kind
        {
            let (tool, args) = (consent.name.clone(), consent.args.clone());
            send(cx, &FromRuntime::MayI { ask: ask.id.0, call: consent.tool.0, tool, args });
        }
    }

    fn settled(&mut self, cx: &mut RuntimeCx<'_>, _: Option<View<'_>>, ticket: Ticket, with: Settled) {
        self.under_way.settled(cx, ticket);
        if let Err(refusal) = with {
            send(cx, &end(Some(&refusal.to_string())));
        }
    }

    fn can_answer(&self) -> Answers {
        Answers { consent: true, ..Answers::NONE }
    }
}
