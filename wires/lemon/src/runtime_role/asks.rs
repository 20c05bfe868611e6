//! Questions to the person: domain asks as `ui_request`s, `ui_response`s as answers.
//!
//! An answer that cannot be understood never allows anything: it counts as no answer. The ids are made from the session's and the
//! question's, so that a question which is put again has the same one.

use super::super::wire::Frame;
use super::super::wire::ui::{Choice, ConsentHint, Method, Opts, Question, UiRequest, consent};
use super::ANSWER_DEADLINE;
use domain::ask::{Answer, Ask, AskKind, Consent, Preview, Scope};
use domain::ids::{AskId, Millis, SessionId};
use rolekit::session_name;
use rolekit::shown::{self, Asked, COLUMNS, Offer, Shown};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The rows of a title that the existing client shows on a screen of 80×24, with the options below it.
const TITLE_ROWS: usize = 6;
/// The rows of a title and the options together.
const OVERLAY_ROWS: usize = 12;

/// A question that waits for an answer.
#[derive(Debug)]
pub(super) struct OpenQuestion {
    pub(super) id: String,
    session: SessionId,
    pub(super) ask: Ask,
    /// It in rows that fit.
    shown: Shown,
}

impl OpenQuestion {
    /// What stands beside the question because it does not fit into it.
    pub(super) fn beside(&self) -> Option<&str> {
        self.shown.whole.as_deref()
    }
}

/// An answer that somebody waits for.
#[derive(Debug)]
pub(super) struct PersonsAnswer {
    pub(super) session: SessionId,
    pub(super) ask: AskId,
    pub(super) answer: Answer,
    /// What was wrong with it.
    pub(super) odd: Option<&'static str>,
    pub(super) asked: OpenQuestion,
}

/// The questions that wait, by their id on the wire.
#[derive(Debug, Default)]
pub(super) struct OpenQuestions(BTreeMap<String, OpenQuestion>);

impl OpenQuestions {
    /// Whether it was asked already.
    pub(super) fn has(&self, session: &SessionId, ask: AskId) -> bool {
        self.0.contains_key(&uuid(session, ask))
    }

    /// Whether a question of this session waits.
    pub(super) fn wait_in(&self, session: &SessionId) -> bool {
        self.0.values().any(|open| open.session == *session)
    }

    /// Notes a question that is asked now.
    pub(super) fn add(&mut self, session: &SessionId, ask: &Ask, shown: Shown) -> &OpenQuestion {
        let id = uuid(session, ask.id);
        let asked = OpenQuestion { id: id.clone(), session: session.clone(), ask: ask.clone(), shown };
        // Asked again it is the newer one that counts.
        self.0.remove(&id);
        self.0.entry(id).or_insert(asked)
    }

    /// The question is over; gives it when nobody had answered it here.
    pub(super) fn close(&mut self, session: &SessionId, ask: AskId) -> Option<OpenQuestion> {
        self.0.remove(&uuid(session, ask))
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
        let asked = self.0.remove(id)?;
        let (answer, odd) = match (result, error) {
            (_, Some(Some(_))) => (Answer::Dismissed, None),
            (Some(Some(result)), _) => lift(&asked, &result),
            (Some(None), _) | (None, Some(None)) => (Answer::Dismissed, None),
            (None, None) => (Answer::Dismissed, Some("neither result nor error")),
        };
        Some(PersonsAnswer { session: asked.session.clone(), ask: asked.ask.id, answer, odd, asked })
    }
}

/// A question in rows that fit; `None` when it is too long to be asked.
pub(super) fn fitted(ask: &Ask, prefix: Option<&SessionId>) -> Option<Shown> {
    let title = &titled(ask, prefix, "");
    match &ask.kind {
        AskKind::Consent(consent) => {
            let (assessment, rule) = (&consent.assessment, consent.rule.as_deref());
            shown::show(Asked { title, what: &what(consent), assessment, rule }, TITLE_ROWS)
        }
        AskKind::Choose { choices, .. } => {
            shown::show_question(title, &ask.kind, OVERLAY_ROWS.saturating_sub(choices.len()))
        }
        kind @ (AskKind::Confirm { .. } | AskKind::Text { .. } | AskKind::Edit { .. }) => {
            shown::show_question(title, kind, TITLE_ROWS)
        }
    }
}

/// What would happen, in words.
fn what(consent: &Consent) -> String {
    match &consent.preview {
        Some(Preview::Command { line, .. }) => format!("$ {line}"),
        _ => shown::what(consent),
    }
}

/// On this wire a tool that was not allowed gives an error and the model goes on with it, so the no has a reason.
fn said_no() -> Answer {
    Answer::Deny { reason: Some("the person said no".to_owned()) }
}

/// Whether a yes or no is put as such, and not as a list: all of it is shown, and a yes reaches no further.
fn is_confirm(kind: &AskKind, shown: &Shown) -> bool {
    match kind {
        AskKind::Consent(_) | AskKind::Confirm { .. } => {
            let lasts = shown.offers.contains(&Offer::Allow(Scope::Always));
            shown.offers.first() == Some(&Offer::Allow(Scope::Once)) && !lasts
        }
        AskKind::Choose { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => false,
    }
}

/// An answer as the question wants it: only what was offered can be taken, and only in the form in which it was.
fn lift(asked: &OpenQuestion, result: &Value) -> (Answer, Option<&'static str>) {
    let not_fitting = (Answer::Dismissed, Some("not an answer to the question that was put"));
    let kind = &asked.ask.kind;
    let offer = match (is_confirm(kind, &asked.shown), result) {
        (true, Value::Bool(true)) => Some(Offer::Allow(Scope::Once)),
        (true, Value::Bool(false)) => Some(Offer::Deny),
        (false, Value::String(value)) => {
            asked.shown.offers.iter().copied().find(|offer| value_of(*offer) == value)
        }
        _ => None,
    };
    match (kind, result) {
        (AskKind::Consent(_), _) => match offer {
            Some(Offer::Allow(scope)) => (Answer::Allow { scope, digest: None }, None),
            Some(Offer::Deny) => (said_no(), None),
            None => not_fitting,
        },
        (AskKind::Confirm { .. }, _) => match offer {
            Some(offer) => (Answer::Confirmed(offer != Offer::Deny), None),
            None => not_fitting,
        },
        (AskKind::Choose { many, .. }, result) => {
            let one = |value: &Value| value.as_str().map(str::to_owned);
            let chosen: Option<Vec<String>> = match result {
                Value::Array(values) if *many => values.iter().map(one).collect(),
                value => one(value).map(|value| vec![value]),
            };
            match chosen {
                Some(ids) if asked.shown.is_no_answer(&ids) => (Answer::Dismissed, None),
                Some(ids) if kind.accepts(&Answer::Chosen(ids.clone())) => (Answer::Chosen(ids), None),
                Some(_) | None => not_fitting,
            }
        }
        (AskKind::Text { .. } | AskKind::Edit { .. }, Value::String(text)) => {
            (Answer::Entered(text.clone()), None)
        }
        (AskKind::Text { .. } | AskKind::Edit { .. }, _) => not_fitting,
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

/// The line on top; `prefix` tells which session asks when it is not the one in front.
fn titled(ask: &Ask, prefix: Option<&SessionId>, more: &str) -> String {
    let session = prefix.map(|session| format!("[{}] ", session_name::write(session))).unwrap_or_default();
    let more = if more.is_empty() || more == ask.title { String::new() } else { format!(": {more}") };
    format!("{session}{}{more}", ask.title)
}

/// The question as a line.
pub(super) fn lower(question: &OpenQuestion, prefix: Option<&SessionId>, now: Millis) -> String {
    let OpenQuestion { id, ask, shown, .. } = question;
    // One line, where nothing had to be left out.
    let title = |more: &str| -> Cow<'_, str> {
        match shown.whole {
            Some(_) => shown.rows().into(),
            None => shown::visible(&titled(ask, prefix, more)).into_owned().into(),
        }
    };
    let label = |label: &Option<String>, usual: &str| {
        label.as_deref().map_or(usual.to_owned(), |label| shown::one_row(&shown::visible(label), COLUMNS))
    };
    let (method, mut params) = match &ask.kind {
        AskKind::Consent(consent) => lower_consent(&ask.kind, consent, shown),
        // Who cannot see all of it finds the no first.
        AskKind::Confirm { yes, no, .. } if shown.whole.is_some() => {
            let option = |offer: &Offer| {
                let label = match offer {
                    Offer::Deny => label(no, "No"),
                    Offer::Allow(_) => label(yes, "Yes"),
                };
                Choice { label: label.into(), value: value_of(*offer).into(), description: None }
            };
            let options = Some(shown.offers.iter().map(option).collect());
            (Method::Select, Question { title: shown.rows().into(), options, ..Question::default() })
        }
        AskKind::Confirm { message, .. } => (
            Method::Confirm,
            Question {
                title: title(""),
                // Clients show both, one under the other.
                message: Some(if *message == ask.title { "".into() } else { shown::visible(message) }),
                ..Question::default()
            },
        ),
        AskKind::Choose { message, .. } => {
            let options = shown.choices.iter().map(|choice| Choice {
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
            let placeholder = Some(placeholder.as_deref().map(shown::visible));
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

/// Yes or no; a list where a yes can reach further, or where a no has to stand first.
fn lower_consent<'a>(kind: &AskKind, consent: &'a Consent, shown: &'a Shown) -> (Method, Question<'a>) {
    let lasts = shown.offers.contains(&Offer::Allow(Scope::Always));
    let rule = consent.rule.as_ref().filter(|_| lasts);
    let hint = ConsentHint {
        tool_call_id: consent.tool.to_string(),
        tool_name: consent.name.clone(),
        risk: shown::risk(&consent.assessment).unwrap_or_default().to_owned(),
        reasons: consent.assessment.reasons.clone(),
        reversible: consent.assessment.reversible,
        rule: rule.cloned(),
        what: shown.whole.as_ref().map(|_| what(consent)),
    };
    let opts = Opts { consent: Some(hint), ..Opts::default() };
    if is_confirm(kind, shown) {
        let message = Shown { title: String::new(), ..shown.clone() }.rows();
        let title = shown.title.as_str().into();
        return (
            Method::Confirm,
            Question { title, message: Some(message.into()), opts, ..Question::default() },
        );
    }
    // A select has no text under its title, so the title carries it.
    let title = Cow::Owned(shown.rows());
    let options = shown.offers.iter().map(|offer| Choice {
        label: label_of(*offer).into(),
        value: value_of(*offer).into(),
        description: rule.filter(|_| lasting(*offer)).map(|rule| rule.as_str().into()),
    });
    let options = Some(options.collect());
    (Method::Select, Question { title, options, opts, ..Question::default() })
}

fn lasting(offer: Offer) -> bool {
    matches!(offer, Offer::Allow(Scope::Session | Scope::Always))
}

fn value_of(offer: Offer) -> &'static str {
    match offer {
        Offer::Allow(Scope::Once) => consent::ONCE,
        Offer::Allow(Scope::Session) => consent::SESSION,
        Offer::Allow(Scope::Always) => consent::ALWAYS,
        Offer::Deny => consent::DENY,
    }
}

fn label_of(offer: Offer) -> &'static str {
    match offer {
        Offer::Allow(Scope::Once) => "Allow once",
        Offer::Allow(Scope::Session) => "Allow for this session",
        Offer::Allow(Scope::Always) => "Always allow",
        Offer::Deny => "Deny",
    }
}

/// An id that looks as the existing clients expect.
fn uuid(session: &SessionId, ask: AskId) -> String {
    let hash = session.as_str().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let (a, b, c, d) = (hash >> 32, hash >> 16 & 0xffff, hash & 0x0fff, ask.0 >> 48 & 0x3fff);
    format!("{a:08x}-{b:04x}-4{c:03x}-{:04x}-{:012x}", 0x8000 | d, ask.0 & 0xffff_ffff_ffff)
}
