//! A consent as `tool.request_approval`, and `tool.approve` as an answer to it.

use super::super::plain;
use super::super::wire::notify::{self, RequestApproval, RiskAssessment};
use super::super::wire::{ApproveOptions, ApproveParams, ApproveResult, code};
use super::client::Style;
use super::requests::{OpenagentMemo, invalid, objects, read};
use super::{MAX_REMEMBERED, OpenagentRuntime, words};
use domain::ask::{Answer, Ask, Closing, Consent, Preview, Risk, Scope};
use domain::command::{Command, Target};
use domain::content::Json;
use domain::ids::Millis;
use rolekit::endpoint::reply;
use rolekit::exchange::{Answering, Asking, Exchange, Fault, Next, Request, Settlement};
use rolekit::shown::{self, Asked, Shown};
use roles::RuntimeCx;
use serde_json::value::RawValue;
use wire::jsonrpc::{INVALID_PARAMS, RpcError};

pub(super) const REQUESTS: &[Exchange<OpenagentRuntime>] =
    &[Exchange::of::<ApproveParams>(OpenagentRuntime::approve, OpenagentRuntime::approved)];

/// The rows of a preview that the existing client shows on a screen of 80×24, below what else it says of the request.
const PREVIEW_ROWS: usize = 10;

/// The params of a request for approval.
pub(super) fn lower(
    ask: &Ask,
    consent: &Consent,
    shown: &Shown,
    execution_id: &str,
    query_id: &str,
    style: Style,
    now: Millis,
) -> RequestApproval {
    let description = if ask.title.is_empty() { &consent.name } else { &ask.title };
    let description = shown::visible(description).into_owned();
    let level = level(consent.assessment.risk).to_owned();
    let timeout = ask.deadline.map(|deadline| deadline.since(now).div_ceil(1000).max(1));
    let rule = consent.rule.as_deref().filter(|_| lasts(shown, style));
    RequestApproval {
        execution_id: execution_id.to_owned(),
        query_id: Some(query_id.to_owned()),
        tool: Some(tool(&consent.name, description.clone())),
        arguments: Some(object(&consent.args)),
        preview: Some(preview(consent, shown, style)),
        risk_assessment: Some(RiskAssessment {
            level: level.clone(),
            reasons: consent.assessment.reasons.iter().map(|why| shown::visible(why).into_owned()).collect(),
            reversible: Some(consent.assessment.reversible),
        }),
        timeout,
        tool_name: Some(consent.name.clone()),
        description: Some(description),
        risk_level: Some(level),
        rule: rule.map(|rule| shown::visible(rule).into_owned()),
        takes_reason: Some(consent.takes_reason),
    }
}

impl OpenagentRuntime {
    /// The existing client reads what is wrong from the result, the document has errors for it.
    fn no_approval(&self, error: RpcError, short: &str) -> Asking<Self> {
        if !self.client.terminal {
            return Err(error);
        }
        let (status, error) = ("error".to_owned(), Some(short.to_owned()));
        Ok(reply(&ApproveResult { status, error, ..ApproveResult::default() }))
    }

    fn approve(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        objects(request.params, &["options"])?;
        let params: ApproveParams = read(request.params)?;
        let Some(execution_id) = params.execution_id else {
            return self.no_approval(invalid("execution_id is required"), "execution_id required");
        };
        let found = self.queries.values().find_map(|query| {
            let asked = query.telling.execution(&execution_id)?.ask.as_ref()?;
            Some((query.session.clone()?, asked))
        });
        let Some((session, asked)) = found else {
            let error = invalid(format!("{execution_id:?} does not wait for approval"));
            return self.no_approval(error, "Execution not found");
        };
        if let Some(closing) = &asked.closing {
            let (number, why) = match closing {
                Closing::Expired => (code::TIMEOUT, "the request for approval ran out of time; ask again"),
                Closing::Withdrawn => (code::CANCELLED, "the query was cancelled"),
                Closing::Answered { .. } | Closing::Unattended => (INVALID_PARAMS, "it was answered already"),
            };
            return self.no_approval(RpcError::new(number, words(number, why)), "Execution not found");
        }
        let Some(approved) = params.approved else {
            return self.no_approval(invalid("approved is required: true or false"), "approved required");
        };
        let options = params.options.unwrap_or_default();
        let answer = lift(&asked.consent, asked.lasts, approved, &options, params.reason);
        let alone = approved && asked.lasts && options.remember_choice && !options.apply_to_similar;
        let remember = alone.then(|| (session.clone(), asked.consent.digest.clone()));
        let command = Command::Answer { ask: asked.ask, answer };
        let memo = OpenagentMemo::Approve { execution_id, approved, remember };
        Ok(Next::Hub(Target::Session(session), command, memo))
    }

    fn approved(&mut self, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        let OpenagentMemo::Approve { execution_id, approved, remember } = settled.memo else {
            return Err(Fault::Odd);
        };
        let (status, execution_id, error) = match settled.with {
            Ok(_) => (if approved { "approved" } else { "rejected" }, Some(execution_id), None),
            Err(refusal) if self.client.terminal => ("error", None, Some(refusal.to_string())),
            Err(refusal) => return Err(refusal.into()),
        };
        if error.is_none() && self.remembered.len() < MAX_REMEMBERED {
            self.remembered.extend(remember);
        }
        let status = status.to_owned();
        Ok(reply(&ApproveResult { status, execution_id, error, ..ApproveResult::default() }))
    }
}

/// A rule that was shown covers what is like this action, so it is kept only where the person said so. Remembering the choice alone
/// reaches no further than the very same action: that is [`super::queries`]' to remember.
pub(super) fn lift(
    consent: &Consent,
    lasts: bool,
    approved: bool,
    options: &ApproveOptions,
    reason: Option<String>,
) -> Answer {
    if !approved {
        let reason = reason.filter(|reason| consent.takes_reason && !reason.trim().is_empty());
        return Answer::Deny { reason };
    }
    let scope = match (options.remember_choice, options.apply_to_similar) {
        _ if !lasts => Scope::Once,
        (true, true) if consent.rule.is_some() => Scope::Always,
        (_, true) => Scope::Session,
        (_, false) => Scope::Once,
    };
    Answer::Allow { scope, digest: Some(consent.digest.clone()) }
}

/// A tool as the wire describes it.
pub(super) fn tool(name: &str, description: String) -> notify::Tool {
    notify::Tool { name: name.to_owned(), description, category: category(name).to_owned() }
}

/// A consent in rows that fit; `None` when it is too long to be asked.
pub(super) fn fitted(ask: &Ask, consent: &Consent) -> Option<Shown> {
    let asked = Asked {
        title: if ask.title.is_empty() { &consent.name } else { &ask.title },
        what: &shown::what(consent),
        assessment: &consent.assessment,
        rule: consent.rule.as_deref(),
    };
    shown::show(asked, PREVIEW_ROWS)
}

/// What goes before a request whose preview does not hold it: whoever reads objects is sent all of it there.
pub(super) fn before(shown: &Shown, style: Style) -> Option<&str> {
    shown.whole.as_deref().filter(|_| !style.object_preview)
}

/// Whether a yes may reach further than this action.
pub(super) fn lasts(shown: &Shown, style: Style) -> bool {
    before(shown, style).is_none()
}

fn preview(consent: &Consent, shown: &Shown, style: Style) -> notify::Preview {
    if style.object_preview {
        let (kind, content, file) = match &consent.preview {
            Some(Preview::Diff { path, text }) => ("diff", text.clone(), Some(path.clone())),
            Some(Preview::Command { line, .. }) => ("command", line.clone(), None),
            Some(Preview::Text(text)) => ("text", text.clone(), None),
            None => ("text", shown::what(consent), None),
        };
        return notify::Preview::Object {
            kind: kind.to_owned(),
            content: shown::visible(&content).into_owned(),
            file,
        };
    }
    let Shown { risk, what, .. } = shown;
    let content = if risk.is_empty() { what.clone() } else { format!("{risk}\n{what}") };
    // Printed as it stands, in raw mode.
    notify::Preview::Text(if style.carriage_returns { plain::in_raw_mode(&content) } else { content })
}

fn level(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
        Risk::Critical => "critical",
    }
}

fn category(tool: &str) -> &'static str {
    match tool {
        "read" | "write" | "edit" | "ls" | "find" | "grep" => "file_system",
        name if name.starts_with("file_") || name.starts_with("directory_") => "file_system",
        "bash" | "shell" | "shell_command" => "shell",
        "fetch" | "web" | "search" => "network",
        _ => "other",
    }
}

/// Arguments must be an object on this wire.
pub(super) fn object(args: &Json) -> Box<RawValue> {
    match RawValue::from_string(args.as_str().trim().to_owned()) {
        Ok(raw) if raw.get().starts_with('{') => raw,
        _ => serde_json::value::to_raw_value(&serde_json::json!({ "value": args.as_str() }))
            .unwrap_or_default(),
    }
}
