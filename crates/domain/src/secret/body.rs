//! Every text that an event or a signal may hold, with marks in the place of secrets.

use super::Secrets;
use crate::ask::{Answer, Ask, AskKind, Choice, Closing, Consent, Preview};
use crate::content::{Input, Part};
use crate::event::{
    AskEvent, Body, ContextEvent, Failure, MessageEvent, NoteEvent, Outcome, QueueEvent, RunEvent,
    SessionEvent, ToolEvent,
};
use crate::refusal::Refusal;
use crate::signal::Signal;
use crate::tool::{Decider, Progress, ToolResult};
use std::borrow::Cow;

impl Secrets {
    /// What happened, with marks. A piece of a stream is looked at by itself: [`super::Veil`] knows what came before it.
    #[must_use]
    pub fn mask_body(&self, mut body: Body) -> Body {
        if self.is_empty() {
            return body;
        }
        match &mut body {
            Body::Session(SessionEvent::Renamed { title }) => self.text(title),
            Body::Run(RunEvent::Ended { outcome: Outcome::Failed(failure), .. }) => self.failure(failure),
            Body::Message(MessageEvent::Delta { text, .. }) => self.text(text),
            Body::Message(MessageEvent::PartAdded { part, .. }) => self.part(part),
            Body::Tool(ToolEvent::Proposed { args, .. }) => *args = self.mask_json(args),
            Body::Tool(ToolEvent::Decided { decision, .. }) => {
                decision.reason.iter_mut().for_each(|text| self.text(text));
                if let Decider::Rule(words) = &mut decision.by {
                    self.text(words);
                }
            }
            Body::Tool(ToolEvent::Progress { progress, .. }) => match progress {
                Progress::Output(text) | Progress::Replace(text) => self.text(text),
                Progress::Status { message, .. } => self.text(message),
            },
            Body::Tool(ToolEvent::Ended { result, .. }) => self.mask_result(result),
            Body::Ask(AskEvent::Opened(ask)) => self.ask(ask),
            Body::Ask(AskEvent::Closed { closing: Closing::Answered { answer, .. }, .. }) => {
                self.answer(answer);
            }
            Body::Queue(QueueEvent::Added { input, .. } | QueueEvent::Edited { input, .. }) => {
                self.input(input);
            }
            Body::Context(ContextEvent::Compacted { compaction, .. }) => self.text(&mut compaction.summary),
            Body::Note(NoteEvent::PlanChanged { items }) => {
                items.iter_mut().for_each(|item| self.text(&mut item.text));
            }
            Body::Run(RunEvent::Retrying { reason, .. }) => self.text(reason),
            Body::Note(NoteEvent::Noticed { text, .. }) => self.text(text),
            Body::Run(
                RunEvent::Ended { .. }
                | RunEvent::Started { .. }
                | RunEvent::TurnStarted { .. }
                | RunEvent::TurnEnded { .. }
                | RunEvent::StepStarted { .. }
                | RunEvent::StepBilled { .. }
                | RunEvent::StepEnded { .. },
            )
            | Body::Ask(AskEvent::Closed { .. })
            | Body::Session(
                SessionEvent::Opened { .. }
                | SessionEvent::CameFrom { .. }
                | SessionEvent::ModelChosen { .. }
                | SessionEvent::EffortChosen { .. }
                | SessionEvent::BudgetChosen { .. }
                | SessionEvent::PolicyChosen { .. }
                | SessionEvent::ToolsChosen { .. }
                | SessionEvent::LeafMoved { .. },
            )
            | Body::Message(MessageEvent::Started { .. } | MessageEvent::Ended { .. })
            | Body::Tool(ToolEvent::Started { .. })
            | Body::Queue(QueueEvent::Left { .. } | QueueEvent::ModeSet { .. })
            | Body::Context(ContextEvent::Measured { .. })
            | Body::Rebased(_) => {}
        }
        body
    }

    /// A one-way word, with marks.
    #[must_use]
    pub fn mask_signal(&self, mut signal: Signal) -> Signal {
        if self.is_empty() {
            return signal;
        }
        match &mut signal {
            Signal::Notify { text, .. } | Signal::Title(text) | Signal::EditorText(text) => self.text(text),
            Signal::Status { text, .. } | Signal::Working(text) => {
                text.iter_mut().for_each(|text| self.text(text));
            }
            Signal::Widget { lines, .. } => lines.iter_mut().for_each(|line| self.text(line)),
            Signal::Suggestion { text, context, .. } => {
                self.text(text);
                context.iter_mut().for_each(|text| self.text(text));
            }
        }
        signal
    }

    /// Why something was refused, with marks.
    #[must_use]
    pub fn mask_refusal(&self, mut refusal: Refusal) -> Refusal {
        self.text(&mut refusal.message);
        refusal.hint.iter_mut().for_each(|hint| self.text(hint));
        refusal
    }

    /// What a tool gave back, with marks.
    pub fn mask_result(&self, result: &mut ToolResult) {
        self.text(&mut result.text);
        result.parts.iter_mut().for_each(|part| self.part(part));
        if let Some(json) = &mut result.json {
            *json = self.mask_json(json);
        }
    }

    fn text(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.mask(text) {
            *text = masked;
        }
    }

    fn failure(&self, failure: &mut Failure) {
        self.text(&mut failure.message);
        failure.hint.iter_mut().for_each(|hint| self.text(hint));
    }

    fn part(&self, part: &mut Part) {
        match part {
            Part::Text(text) | Part::Thought { text, .. } => self.text(text),
            Part::Code { text, path, .. } | Part::Diff { path, text } => {
                self.text(text);
                path.iter_mut().for_each(|path| self.text(path));
            }
            Part::Opaque { json, .. } => *json = self.mask_json(json),
            Part::Image { .. } | Part::Tool(_) => {}
        }
    }

    fn input(&self, input: &mut Input) {
        self.text(&mut input.text);
        input.attachments.iter_mut().for_each(|part| self.part(part));
    }

    fn ask(&self, ask: &mut Ask) {
        self.text(&mut ask.title);
        match &mut ask.kind {
            AskKind::Consent(consent) => self.consent(consent),
            AskKind::Confirm { message, yes, no, .. } => {
                self.text(message);
                yes.iter_mut().chain(no).for_each(|text| self.text(text));
            }
            AskKind::Choose { message, choices, .. } => {
                self.text(message);
                for Choice { id, label, detail } in choices {
                    self.text(id);
                    self.text(label);
                    detail.iter_mut().for_each(|text| self.text(text));
                }
            }
            AskKind::Text { message, placeholder, default, .. } => {
                self.text(message);
                placeholder.iter_mut().chain(default).for_each(|text| self.text(text));
            }
            AskKind::Edit { message, prefill } => {
                self.text(message);
                self.text(prefill);
            }
        }
    }

    fn consent(&self, consent: &mut Consent) {
        consent.args = self.mask_json(&consent.args);
        match &mut consent.preview {
            Some(Preview::Command { line, inner }) => {
                self.text(line);
                inner.iter_mut().for_each(|text| self.text(text));
            }
            Some(Preview::Diff { path, text }) => {
                self.text(path);
                self.text(text);
            }
            Some(Preview::Text(text)) => self.text(text),
            None => {}
        }
        consent.assessment.reasons.iter_mut().for_each(|text| self.text(text));
        consent.rule.iter_mut().for_each(|text| self.text(text));
    }

    fn answer(&self, answer: &mut Answer) {
        match answer {
            Answer::Entered(text) => self.text(text),
            Answer::Deny { reason } => reason.iter_mut().for_each(|text| self.text(text)),
            Answer::Chosen(ids) => ids.iter_mut().for_each(|id| self.text(id)),
            Answer::Allow { .. } | Answer::Confirmed(_) | Answer::Dismissed => {}
        }
    }
}
