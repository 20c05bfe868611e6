//! Questions to the person: domain asks as `ui_request`s, `ui_response`s as answers.
//!
//! An answer that cannot be understood never allows anything: it counts as no answer. The ids are made from the session's and the
//! question's, so that a question which is put again has the same one.

use super::super::lower::risk_words;
use super::super::wire::Frame;
use super::super::wire::ui::{Choice, ConsentHint, Method, Opts, Question, UiRequest, consent};
use super::ANSWER_DEADLINE;
use crate::session_name;
use domain::ask::{Answer, Ask, AskKind, Assessment, Consent, Preview, Risk, Scope};
use domain::ids::{AskId, Millis, SessionId};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A question that waits for an answer.
#[derive(Debug)]
struct OpenQuestion {
    session: SessionId,
    ask: Ask,
}

/// An answer that somebody waits for.
#[derive(Debug)]
pub(super) struct PersonsAnswer {
    pub(super) session: SessionId,
    pub(super) ask: AskId,
    pub(super) answer: Answer,
    /// What was wrong with it.
    pub(super) odd: Option<&'static str>,
}

/// The questions that wait, by their id on the wire.
#[derive(Debug, Default)]
pub(super) struct OpenQuestions(BTreeMap<String, OpenQuestion>);

impl OpenQuestions {
    /// Notes a question; gives its id, or `None` when it was asked already.
    pub(super) fn add(&mut self, session: &SessionId, ask: &Ask) -> Option<String> {
        let id = uuid(session, ask.id);
        let fresh = !self.0.contains_key(&id);
        let asked = OpenQuestion { session: session.clone(), ask: ask.clone() };
        fresh.then(|| {
            self.0.insert(id.clone(), asked);
            id
        })
    }

    /// The question is over; gives it when nobody had answered it here.
    pub(super) fn close(&mut self, session: &SessionId, ask: AskId) -> Option<Ask> {
        self.0.remove(&uuid(session, ask)).map(|asked| asked.ask)
    }

    /// Drops the questions of a session that is closed.
    pub(super) fn forget(&mut self, session: &SessionId) {
        self.0.retain(|_, asked| asked.session != *session);
    }

    /// Takes a `ui_response`; `None` when nobody waits for it.
    pub(super) fn hear(
        &mut self,
        id: &str,
        result: Option<Option<Value>>,
        error: Option<Option<Value>>,
    ) -> Option<PersonsAnswer> {
        let OpenQuestion { session, ask } = self.0.remove(id)?;
        let (answer, odd) = match (result, error) {
            (_, Some(Some(_))) => (Answer::Dismissed, None),
            (Some(Some(result)), _) => lift(&ask.kind, &result),
            (Some(None), _) | (None, Some(None)) => (Answer::Dismissed, None),
            (None, None) => (Answer::Dismissed, Some("neither result nor error")),
        };
        Some(PersonsAnswer { session, ask: ask.id, answer, odd })
    }
}

/// On this wire a tool that was not allowed gives an error and the model goes on with it, so the no has a reason.
fn said_no() -> Answer {
    Answer::Deny { reason: Some("the person said no".to_owned()) }
}

/// An answer as the kind of question wants it.
fn lift(kind: &AskKind, result: &Value) -> (Answer, Option<&'static str>) {
    let not_fitting = (Answer::Dismissed, Some("not an answer to the question that was put"));
    match (kind, result) {
        (AskKind::Consent(_), Value::Bool(true)) => {
            (Answer::Allow { scope: Scope::Once, digest: None }, None)
        }
        (AskKind::Consent(_), Value::Bool(false)) => (said_no(), None),
        (AskKind::Consent(asked), Value::String(value)) if asked.rule.is_some() => match value.as_str() {
            consent::ONCE => (Answer::Allow { scope: Scope::Once, digest: None }, None),
            consent::SESSION => (Answer::Allow { scope: Scope::Session, digest: None }, None),
            consent::ALWAYS => (Answer::Allow { scope: Scope::Always, digest: None }, None),
            consent::DENY => (said_no(), None),
            _ => not_fitting,
        },
        (AskKind::Confirm { .. }, Value::Bool(yes)) => (Answer::Confirmed(*yes), None),
        (AskKind::Choose { .. }, result) => {
            let one = |value: &Value| match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            };
            let chosen: Option<Vec<String>> = match result {
                Value::Array(values) => values.iter().map(one).collect(),
                value => one(value).map(|value| vec![value]),
            };
            match chosen.map(Answer::Chosen).filter(|answer| kind.accepts(answer)) {
                Some(answer) => (answer, None),
                None => not_fitting,
            }
        }
        (AskKind::Text { .. } | AskKind::Edit { .. }, Value::String(text)) => {
            (Answer::Entered(text.clone()), None)
        }
        _ => not_fitting,
    }
}

/// Deadlines that differ by less from the document's are its own.
const SAME_DEADLINE_MS: u64 = 1_000;

/// How long a question may still wait, where that is not the document's figure.
fn deadline(ask: &Ask, now: Millis) -> Option<Option<u64>> {
    let usual = u64::try_from(ANSWER_DEADLINE.as_millis()).unwrap_or(u64::MAX);
    let left = ask.deadline.map(|at| at.since(now));
    left.is_none_or(|left| left.abs_diff(usual) > SAME_DEADLINE_MS).then_some(left)
}

/// The question as a line. `prefix` tells which session asks when it is not the one in front.
pub(super) fn lower(id: &str, ask: &Ask, prefix: Option<&SessionId>, now: Millis) -> String {
    let title = |more: &str| {
        let session =
            prefix.map(|session| format!("[{}] ", session_name::write(session))).unwrap_or_default();
        let more = if more.is_empty() || more == ask.title { String::new() } else { format!(": {more}") };
        Cow::<str>::Owned(format!("{session}{}{more}", ask.title))
    };
    let (method, mut params) = match &ask.kind {
        AskKind::Consent(consent) => lower_consent(consent, title("")),
        AskKind::Confirm { message, .. } => (
            Method::Confirm,
            Question {
                title: title(""),
                // Clients show both, one under the other.
                message: Some(if *message == ask.title { "" } else { message }.into()),
                ..Question::default()
            },
        ),
        AskKind::Choose { message, choices, .. } => {
            let options = choices.iter().map(|choice| Choice {
                label: choice.label.as_str().into(),
                value: choice.id.as_str().into(),
                description: choice.detail.as_deref().map(Into::into),
            });
            let options = Some(options.collect());
            (Method::Select, Question { title: title(message), options, ..Question::default() })
        }
        // An input has no place for what stands in it at first, and one line only.
        AskKind::Text { message, default, multiline, secret: false, .. }
            if *multiline || default.is_some() =>
        {
            let prefill = Some(default.as_deref().map(Into::into));
            (Method::Editor, Question { title: title(message), prefill, ..Question::default() })
        }
        AskKind::Text { message, placeholder, secret, .. } => {
            let placeholder = Some(placeholder.as_deref().map(Into::into));
            let opts = Opts { secret: *secret, ..Opts::default() };
            (Method::Input, Question { title: title(message), placeholder, opts, ..Question::default() })
        }
        AskKind::Edit { message, prefill } => {
            let prefill = Some(Some(prefill.as_str().into()));
            (Method::Editor, Question { title: title(message), prefill, ..Question::default() })
        }
    };
    params.opts.deadline_ms = deadline(ask, now);
    Frame::UiRequest(UiRequest { id: id.into(), method, params }).line()
}

/// Yes or no; with a rule to offer, how far a yes reaches.
fn lower_consent<'a>(consent: &'a Consent, title: Cow<'a, str>) -> (Method, Question<'a>) {
    let hint = ConsentHint {
        tool_call_id: consent.tool.to_string(),
        tool_name: consent.name.clone(),
        risk: risk(&consent.assessment).unwrap_or_default().to_owned(),
        reasons: consent.assessment.reasons.clone(),
        reversible: consent.assessment.reversible,
        rule: consent.rule.clone(),
    };
    let opts = Opts { consent: Some(hint), ..Opts::default() };
    let shown = shown(consent);
    let Some(rule) = consent.rule.as_ref() else {
        return (
            Method::Confirm,
            Question { title, message: Some(shown.into()), opts, ..Question::default() },
        );
    };
    // A select has no text under its title, so the title carries it.
    let title = Cow::Owned(format!("{title}\n{shown}"));
    let choice = |value: &'static str, label: &'static str, rule: Option<&'a str>| Choice {
        label: label.into(),
        value: value.into(),
        description: rule.map(Into::into),
    };
    let options = vec![
        choice(consent::ONCE, "Allow once", None),
        choice(consent::SESSION, "Allow for this session", Some(rule.as_str())),
        choice(consent::ALWAYS, "Always allow", Some(rule.as_str())),
        choice(consent::DENY, "Deny", None),
    ];
    (Method::Select, Question { title, options: Some(options), opts, ..Question::default() })
}

/// Longest preview that is put into a question.
const MAX_PREVIEW: usize = 4_000;

/// What would happen and how dangerous it is, in words.
fn shown(consent: &Consent) -> String {
    let what = match &consent.preview {
        Some(Preview::Text(text)) => text.clone(),
        Some(Preview::Command { line, .. }) => format!("$ {line}"),
        Some(Preview::Diff { path, text }) => format!("{path}\n{text}"),
        None => format!("{} {}", consent.name, consent.args),
    };
    let mut text: String = what.chars().take(MAX_PREVIEW).collect();
    if text.len() < what.len() {
        text.push_str("\n…");
    }
    let words = risk_words(risk(&consent.assessment).unwrap_or_default(), &consent.assessment.reasons);
    if words.is_empty() { text } else { format!("{text}\n{words}") }
}

/// How dangerous it is in a word, where somebody told.
fn risk(assessment: &Assessment) -> Option<&'static str> {
    let word = match assessment.risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
        Risk::Critical => "critical",
    };
    (!assessment.unrated).then_some(word)
}

/// An id that looks as the existing clients expect.
fn uuid(session: &SessionId, ask: AskId) -> String {
    let hash = session.as_str().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let (a, b, c, d) = (hash >> 32, hash >> 16 & 0xffff, hash & 0x0fff, ask.0 >> 48 & 0x3fff);
    format!("{a:08x}-{b:04x}-4{c:03x}-{:04x}-{:012x}", 0x8000 | d, ask.0 & 0xffff_ffff_ffff)
}
