//! A question as a request to the UI, and its answer: which form it takes, what fits into it, and what was offered.
//!
//! The existing terminal UI preselects the yes of a confirm and the first item of a pick. So what does not fit into a question, and
//! what is dangerous, is a pick with the no on top; what did not fit is told before it.

use super::super::wire::{
    AgentEvent, ConfirmParams, ConfirmResult, PermissionPreview, PermissionReady, PickItem, PickParams,
    PickResult, PromptParams, PromptResult, UiCapabilities, Words,
};
use super::{TERMINAL_UI, tool_words};
use domain::ask::{Answer, Ask, AskKind, Choice, Consent, Preview, Risk, Scope};
use rolekit::rpc;
use rolekit::said;
use rolekit::shown::{self, Asked, COLUMNS, Offer, Shown};
use serde_json::value::RawValue;
use wire::WireId;
use wire::jsonrpc::RpcError;

/// The rows of a question that the terminal UI shows on a screen of 80×24.
const ROWS: usize = 8;
/// The same with a diff, which that UI shows above the question.
const DIFF_ROWS: usize = 14;
/// Most lines of a diff that the terminal UI shows in a preview.
const MAX_PREVIEW_LINES: usize = 120;
/// How Parlor's own UI calls itself: it shows all of a question, and offers nothing for what does not fit.
pub(in super::super) const OURS: &str = "parlor";
/// The line before the rules, which the existing UI knows by its words.
pub(in super::super) const REMEMBER: &str = "Remember (don't ask again):";
/// Begins the paragraph that says why something is dangerous.
pub(in super::super) const WARNING: &str = "Warning: ";
/// What a question begins with that is asked for the second time.
const AGAIN: &str = "Answered before it could be read. Again: ";
const YES: &str = "yes";
const NO: &str = "no";

/// The UI at the other end, as far as a question depends on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader {
    ours: bool,
    terminal: bool,
    picks: bool,
}

impl Reader {
    pub(super) fn new(client: &str, ui: &UiCapabilities) -> Reader {
        Reader { ours: client == OURS, terminal: client == TERMINAL_UI, picks: ui.supports_pick }
    }

    /// A label in a row.
    fn row(self, label: &str) -> String {
        if self.ours { label.to_owned() } else { shown::one_row(&shown::visible(label), COLUMNS) }
    }

    /// Whether what is typed ahead can answer a question there.
    pub(super) fn types_ahead(self) -> bool {
        self.terminal
    }
}

/// A request to the UI.
#[derive(Debug, Clone)]
pub(super) enum Request {
    Confirm(ConfirmParams),
    Prompt(PromptParams),
    Pick(PickParams),
}

impl Request {
    /// As it is sent under an id.
    pub(super) fn line(&self, id: &WireId) -> String {
        match self {
            Request::Confirm(params) => rpc::request(id, params),
            Request::Prompt(params) => rpc::request(id, params),
            Request::Pick(params) => rpc::request(id, params),
        }
    }

    /// The same once more, saying so.
    pub(super) fn again(&self) -> Request {
        let mut again = self.clone();
        let title = match &mut again {
            Request::Confirm(params) => &mut params.title,
            Request::Prompt(params) => &mut params.title,
            Request::Pick(params) => &mut params.title,
        };
        title.insert_str(0, AGAIN);
        again
    }

    /// Whether an answer to the list is to give none: we put that there, and it is none of the choices.
    fn is_no_answer(&self, kind: &AskKind, ids: &[String]) -> bool {
        let (Request::Pick(params), AskKind::Choose { choices, .. }) = (self, kind) else { return false };
        let first = params.items.first().filter(|item| choices.iter().all(|choice| choice.id != item.id));
        first.is_some_and(|item| ids.contains(&item.id))
    }

    /// Whether an answer does nothing: a no, none at all, or what stands first in the list.
    pub(super) fn says_no(&self, answer: &Answer) -> bool {
        match (self, answer) {
            (_, Answer::Deny { .. } | Answer::Confirmed(false) | Answer::Dismissed) => true,
            (Request::Pick(params), Answer::Chosen(ids)) => {
                params.items.first().is_some_and(|item| *ids == [item.id.clone()])
            }
            (_, Answer::Allow { .. } | Answer::Confirmed(true) | Answer::Chosen(_) | Answer::Entered(_)) => {
                false
            }
        }
    }
}

/// The ask as a request; `None` when it cannot be asked there so that a yes is for what was seen.
pub(super) fn request(ask: &Ask, run_id: Option<String>, reader: Reader) -> Option<Request> {
    Some(match &ask.kind {
        AskKind::Consent(consent) => {
            let shown = fitted(&ask.title, consent)?;
            match shown.whole {
                Some(_) if reader.ours => Request::Confirm(consent_params(&ask.title, consent, run_id, true)),
                None => {
                    let lasts = shown.offers.contains(&Offer::Allow(Scope::Always));
                    Request::Confirm(consent_params(&ask.title, consent, run_id, lasts))
                }
                Some(_) => {
                    let items = shown.offers.iter().map(|offer| offered(*offer)).collect();
                    list(reader, run_id, consent_title(&ask.title, consent, &shown), items)?
                }
            }
        }
        AskKind::Confirm { yes, no, danger, .. } => {
            let shown = fitted_question(ask, reader)?;
            let label = |label: &Option<String>| label.as_deref().map(|label| reader.row(label));
            if no_first(&shown, *danger, reader) {
                let item = |id: &str, label: Option<String>, usual: &str| PickItem {
                    id: id.to_owned(),
                    label: label.unwrap_or_else(|| usual.to_owned()),
                    detail: None,
                };
                let items = vec![item(NO, label(no), "No"), item(YES, label(yes), "Yes")];
                return list(reader, run_id, list_title(&shown), items);
            }
            Request::Confirm(ConfirmParams {
                run_id,
                message: shown.what,
                title: shown.title,
                confirm_label: label(yes),
                cancel_label: label(no),
                danger_level: Some(danger_level(*danger).to_owned()),
                allow_remember: false,
                allow_reason: false,
            })
        }
        AskKind::Choose { many, .. } => {
            let shown = fitted_question(ask, reader)?;
            let item =
                |choice: Choice| PickItem { id: choice.id, label: choice.label, detail: choice.detail };
            let title = match (reader.ours, shown.what.as_str()) {
                (false, _) => list_title(&shown),
                (true, "") => shown.title,
                (true, what) => format!("{}: {what}", shown.title),
            };
            let items = shown.choices.into_iter().map(item).collect();
            Request::Pick(PickParams { run_id, title, items, multi: *many })
        }
        AskKind::Text { default, secret, multiline, placeholder: _, .. } => {
            let (shown, default_value) = (fitted_question(ask, reader)?, default.clone());
            let (title, message) = (prompt_title(&shown), shown.what);
            let (multiline, secret) = (*multiline, *secret);
            Request::Prompt(PromptParams { run_id, title, message, default_value, multiline, secret })
        }
        AskKind::Edit { prefill, .. } => {
            let (shown, default_value) = (fitted_question(ask, reader)?, Some(prefill.clone()));
            let (title, message, multiline) = (prompt_title(&shown), shown.what, true);
            Request::Prompt(PromptParams { run_id, title, message, default_value, multiline, secret: false })
        }
    })
}

/// A question that is no consent in rows that fit, or as it is where the reader fits it; `None` when it is too long to be asked.
fn fitted_question(ask: &Ask, reader: Reader) -> Option<Shown> {
    if !reader.ours {
        // The title of a list is one row.
        let rows = if matches!(ask.kind, AskKind::Choose { .. }) { 1 } else { ROWS };
        return shown::show_question(&ask.title, &ask.kind, rows);
    }
    let (message, choices) = match &ask.kind {
        AskKind::Consent(_) => ("", &[][..]),
        AskKind::Choose { message, choices, .. } => (message.as_str(), choices.as_slice()),
        AskKind::Confirm { message, .. } | AskKind::Text { message, .. } | AskKind::Edit { message, .. } => {
            (message.as_str(), &[][..])
        }
    };
    let what = if message.trim() == ask.title.trim() { "" } else { message };
    let (title, what, choices) = (ask.title.clone(), what.to_owned(), choices.to_vec());
    (!shown::is_too_long(&title, &ask.kind)).then(|| Shown { title, what, choices, ..Shown::default() })
}

/// The one row above a list.
fn list_title(shown: &Shown) -> String {
    let all = match (shown.title.as_str(), shown.what.as_str(), &shown.whole) {
        (_, _, Some(whole)) => whole,
        (title, "", None) => title,
        (title, what, None) => &format!("{title}: {what}"),
    };
    shown::one_row(all, COLUMNS)
}

/// A title of several rows stands in the message.
fn prompt_title(shown: &Shown) -> String {
    if shown.title.is_empty() { list_title(shown) } else { shown.title.clone() }
}

/// Whether a yes-or-no question is a list with the no on top: it is dangerous, or does not fit.
fn no_first(shown: &Shown, danger: bool, reader: Reader) -> bool {
    danger && reader.terminal && reader.picks || shown.whole.is_some()
}

/// `None` where the UI has no lists.
fn list(reader: Reader, run_id: Option<String>, title: String, items: Vec<PickItem>) -> Option<Request> {
    reader.picks.then_some(Request::Pick(PickParams { run_id, title, items, multi: false }))
}

fn offered(offer: Offer) -> PickItem {
    let (id, label) = match offer {
        Offer::Deny => (NO, "Deny"),
        Offer::Allow(_) => (YES, "Allow once"),
    };
    PickItem { id: id.to_owned(), label: label.to_owned(), detail: None }
}

/// What stands in `run.status` while the ask is open.
pub(super) fn waiting_words(kind: &AskKind) -> &'static str {
    match kind {
        AskKind::Consent(_) | AskKind::Confirm { .. } => "waiting for confirmation",
        AskKind::Choose { .. } => "waiting for a choice",
        AskKind::Text { .. } | AskKind::Edit { .. } => "waiting for input",
    }
}

fn is_diff(consent: &Consent) -> bool {
    matches!(consent.preview, Some(Preview::Diff { .. }))
}

fn heading(consent: &Consent) -> &'static str {
    if matches!(consent.preview, Some(Preview::Command { .. })) { "Run command?" } else { "Run tool?" }
}

/// What would happen, in codelia's names. What another program calls it stands above that: this wire's own title says nothing of it.
fn what(title: &str, consent: &Consent) -> String {
    let what = match consent.preview {
        None => format!("{} {}", tool_words::name(&consent.name), consent.args),
        Some(_) => shown::what(consent),
    };
    with_title(title, consent, what)
}

fn with_title(title: &str, consent: &Consent, what: String) -> String {
    let known = format!("{} {what}", heading(consent));
    match consent.assessment.unrated && !said::is_told(title, &known) {
        true => format!("{title}\n{what}"),
        false => what,
    }
}

/// A consent in rows that fit; `None` when it is too long to be asked.
fn fitted(title: &str, consent: &Consent) -> Option<Shown> {
    let asked = Asked {
        title: heading(consent),
        what: &what(title, consent),
        assessment: &consent.assessment,
        rule: consent.rule.as_deref(),
    };
    shown::show(asked, if is_diff(consent) { DIFF_ROWS } else { ROWS })
}

/// The line above a list: the risk, and both ends of what is asked.
fn consent_title(title: &str, consent: &Consent, shown: &Shown) -> String {
    let risk = shown::risk(&consent.assessment).map(|risk| format!("Risk {risk}. ")).unwrap_or_default();
    shown::one_row(&format!("{risk}{} {}", shown.title, shown::visible(&what(title, consent))), COLUMNS)
}

fn consent_params(asked: &str, consent: &Consent, run_id: Option<String>, lasts: bool) -> ConfirmParams {
    let risk = shown::risk_words(shown::risk(&consent.assessment), &consent.assessment.reasons);
    let title = format!("{} {}", heading(consent), shown::visible(&risk));
    let fits = shown::one_row(&title, COLUMNS);
    let mut message = match &consent.preview {
        Some(Preview::Diff { path, .. }) => {
            with_title(asked, consent, format!("{} {path}", tool_words::name(&consent.name)))
        }
        _ => what(asked, consent),
    };
    let danger = !consent.assessment.unrated && consent.assessment.risk >= Risk::High;
    if !consent.assessment.reasons.is_empty() && (danger || fits != title.trim_end()) {
        message.push_str(&format!("\n\n{WARNING}{}", consent.assessment.reasons.join("; ")));
    }
    let rule = consent.rule.as_ref().filter(|_| lasts);
    if let Some(rule) = rule {
        message.push_str(&format!("\n\n{REMEMBER}\n- {rule}"));
    }
    ConfirmParams {
        run_id,
        title: fits,
        message: shown::visible(&message).into_owned(),
        confirm_label: Some("Allow".to_owned()),
        cancel_label: Some("Deny".to_owned()),
        danger_level: Some(danger_level(danger).to_owned()),
        allow_remember: rule.is_some(),
        allow_reason: consent.takes_reason,
    }
}

fn danger_level(danger: bool) -> &'static str {
    if danger { "danger" } else { "normal" }
}

/// What is told just before the person is asked.
pub(super) fn before(ask: &Ask, reader: Reader) -> Vec<AgentEvent> {
    match &ask.kind {
        AskKind::Consent(consent) => permission_events(&ask.title, consent, reader),
        AskKind::Confirm { .. } | AskKind::Choose { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => {
            question_before(ask, reader).map(said).into_iter().collect()
        }
    }
}

/// What is told before a question that is no consent: all of it, where not all of it is shown there.
pub(super) fn question_before(ask: &Ask, reader: Reader) -> Option<String> {
    let shown = fitted_question(ask, reader)?;
    let danger = matches!(ask.kind, AskKind::Confirm { danger: true, .. });
    match (&shown.whole, &ask.kind) {
        (Some(whole), _) if *whole == shown.rows() => Some(shown.rows()),
        (Some(whole), _) => Some(format!("{whole}\n\n{}", shown.rows())),
        // A list has no text under its title.
        (None, AskKind::Confirm { .. }) if no_first(&shown, danger, reader) && !shown.what.is_empty() => {
            Some(shown.rows())
        }
        (None, _) => None,
    }
}

fn said(content: String) -> AgentEvent {
    AgentEvent::Text(Words { content, timestamp: 0 })
}

fn permission_events(title: &str, consent: &Consent, reader: Reader) -> Vec<AgentEvent> {
    let (tool, tool_call_id) = (tool_words::name(&consent.name).to_owned(), Some(consent.tool.to_string()));
    let preview = PermissionPreview {
        tool: tool.clone(),
        tool_call_id: tool_call_id.clone(),
        ..PermissionPreview::default()
    };
    let Some(shown) = fitted(title, consent) else { return Vec::new() };
    let mut events = Vec::new();
    let is_shown = match &consent.preview {
        Some(Preview::Diff { path, text })
            if !reader.terminal || text.lines().count() <= MAX_PREVIEW_LINES =>
        {
            let diff = if reader.ours { text.clone() } else { shown::visible(text).into_owned() };
            let (file_path, diff) = (Some(path.clone()), Some(diff));
            events.push(AgentEvent::PermissionPreview(PermissionPreview { file_path, diff, ..preview }));
            true
        }
        _ => false,
    };
    // That UI has no other place for a long text than the conversation; what fits stands right above the question.
    if let Some(whole) = shown.whole.as_ref().filter(|_| reader.terminal) {
        let rows = shown.rows();
        let content = if is_shown { rows } else { format!("{whole}\n\n{rows}") };
        events.push(said(content));
    }
    events.push(AgentEvent::PermissionReady(PermissionReady { tool, tool_call_id }));
    events
}

/// An answer that cannot be read is a no: the UI believes that it has answered and will not do so again.
pub(super) fn lift_answer(
    kind: &AskKind,
    asked: &Request,
    outcome: Result<&RawValue, RpcError>,
) -> (Answer, Option<String>) {
    let no = match kind {
        AskKind::Consent(_) => Answer::Deny { reason: None },
        AskKind::Confirm { .. } => Answer::Confirmed(false),
        AskKind::Choose { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => Answer::Dismissed,
    };
    let raw = match outcome {
        // An error and null are how existing UIs say that the person closed the dialog.
        Err(_) => return (no, None),
        Ok(raw) if raw.get() == "null" => return (no, None),
        // A list would be read as the members in their order.
        Ok(raw) if !raw.get().starts_with('{') => return (no, Some("the answer is no object".to_owned())),
        Ok(raw) => raw.get(),
    };
    let lifted = match (kind, asked) {
        (AskKind::Consent(consent), Request::Confirm(params)) => {
            serde_json::from_str(raw).map(|result| lift_consent(consent, params, result))
        }
        (AskKind::Consent(consent), _) => picked_yes(raw).map(|yes| {
            let digest = Some(consent.digest.clone());
            if yes { Answer::Allow { scope: Scope::Once, digest } } else { Answer::Deny { reason: None } }
        }),
        (AskKind::Confirm { .. }, Request::Pick(_)) => picked_yes(raw).map(Answer::Confirmed),
        (AskKind::Confirm { .. }, _) => {
            serde_json::from_str::<ConfirmResult>(raw).map(|result| Answer::Confirmed(result.ok))
        }
        (AskKind::Choose { .. }, _) => {
            serde_json::from_str::<PickResult>(raw).map(|result| match result.ids {
                ids if ids.is_empty() || asked.is_no_answer(kind, &ids) => Answer::Dismissed,
                ids => Answer::Chosen(ids),
            })
        }
        (AskKind::Text { .. } | AskKind::Edit { .. }, _) => serde_json::from_str::<PromptResult>(raw)
            .map(|result| result.value.map_or(Answer::Dismissed, Answer::Entered)),
    };
    match lifted {
        Ok(answer) if kind.accepts(&answer) => (answer, None),
        Ok(_) => (no, Some("the answer does not fit the question".to_owned())),
        Err(error) => (no, Some(error.to_string())),
    }
}

/// Whether the yes was taken from a list with the no on top, and nothing beside it.
fn picked_yes(raw: &str) -> Result<bool, serde_json::Error> {
    serde_json::from_str::<PickResult>(raw).map(|result| result.ids == [YES])
}

fn lift_consent(consent: &Consent, asked: &ConfirmParams, result: ConfirmResult) -> Answer {
    if !result.ok {
        let reason = result.reason.filter(|reason| !reason.trim().is_empty());
        return Answer::Deny { reason };
    }
    // Only what was offered can be remembered.
    let scope = if result.remember && asked.allow_remember { Scope::Always } else { Scope::Once };
    Answer::Allow { scope, digest: Some(consent.digest.clone()) }
}
