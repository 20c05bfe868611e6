//! A consent as `tool.request_approval`, and `tool.approve` as an answer to it.

use super::super::plain;
use super::super::wire::ApproveOptions;
use super::super::wire::notify::{self, RequestApproval, RiskAssessment};
use super::client::Style;
use crate::shown::{self, Asked, Shown};
use domain::ask::{Answer, Ask, Consent, Preview, Risk, Scope};
use domain::content::Json;
use domain::ids::Millis;
use serde_json::value::RawValue;

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
