//! Asks as requests to the UI: first come, first asked, one open at a time, because the existing UI shows one and forgets the rest.
//!
//! The desk decides nothing: an answer becomes a command, and the request is over when the ask is closed, by whoever. An answer that
//! comes after that is ignored. The wire cannot take a question back, so an unanswered request may stay on the UI's screen.

use super::super::wire::{
    AgentEvent, ConfirmParams, ConfirmResult, PermissionPreview, PermissionReady, PickItem, PickParams,
    PickResult, PromptParams, PromptResult, UiCapabilities,
};
use super::tool_words;
use crate::rpc;
use domain::ask::{Answer, Ask, AskKind, Choice, Consent, Preview, Risk, Scope};
use domain::ids::{AskId, SessionId};
use serde_json::value::RawValue;
use std::collections::VecDeque;
use wire::jsonrpc::RpcError;
use wire::{Correlation, WireId};

/// Most asks that wait behind the open one; the hub allows fewer per session.
const MAX_WAITING: usize = 1024;
/// Most lines of a diff in a preview, as the existing runtime does it.
const MAX_PREVIEW_LINES: usize = 120;
/// The line before the rules, which the existing UI knows by its words.
pub(in super::super) const REMEMBER: &str = "Remember (don't ask again):";
/// Begins the paragraph that says why something is dangerous.
pub(in super::super) const WARNING: &str = "Warning: ";

/// One UI watches several sessions, and each numbers its asks by itself.
#[derive(Debug, Clone)]
pub(super) struct SessionAsk {
    pub(super) session: SessionId,
    pub(super) ask: Ask,
}

#[derive(Debug)]
struct Open {
    id: WireId,
    asked: SessionAsk,
    answered: bool,
}

/// What is open and what waits.
#[derive(Debug, Default)]
pub(super) struct OpenAsks {
    ids: Correlation<()>,
    open: Option<Open>,
    waiting: VecDeque<SessionAsk>,
}

/// What an incoming answer is.
#[derive(Debug)]
pub(super) enum AskAnswer {
    /// An answer to the open ask; `odd` says what was wrong with it, if anything.
    Answer {
        session: SessionId,
        ask: AskId,
        answer: Answer,
        odd: Option<String>,
        /// A no was to be remembered.
        lasting_no: bool,
    },
    /// To a question that is closed or was never asked.
    Stale,
}

impl OpenAsks {
    /// Whether a UI with these capabilities can answer.
    pub(super) fn can_ask(ui: &UiCapabilities, kind: &AskKind) -> bool {
        match kind {
            AskKind::Consent(_) | AskKind::Confirm { .. } => ui.supports_confirm,
            AskKind::Choose { .. } => ui.supports_pick,
            AskKind::Text { .. } | AskKind::Edit { .. } => ui.supports_prompt,
        }
    }

    /// Puts an ask at the end of the line; false when there is no room.
    pub(super) fn add(&mut self, asked: SessionAsk) -> bool {
        let known = self.open.iter().map(|open| &open.asked).chain(&self.waiting);
        if known.into_iter().any(|other| other.session == asked.session && other.ask.id == asked.ask.id) {
            return true;
        }
        let room = self.waiting.len() < MAX_WAITING;
        if room {
            self.waiting.push_back(asked);
        }
        room
    }

    /// The next ask to send, of those that may be asked now, if none is open: it is open from now on.
    pub(super) fn next(&mut self, may_ask: impl Fn(&SessionAsk) -> bool) -> Option<(WireId, SessionAsk)> {
        if self.open.is_some() {
            return None;
        }
        let place = self.waiting.iter().position(may_ask)?;
        let asked = self.waiting.remove(place)?;
        let id = self.ids.next_string_id("ui_");
        self.open = Some(Open { id: id.clone(), asked: asked.clone(), answered: false });
        Some((id, asked))
    }

    /// The ask is over. Gives it back if it was the open one.
    pub(super) fn close(&mut self, session: &SessionId, ask: AskId) -> Option<SessionAsk> {
        let is = |asked: &SessionAsk| asked.session == *session && asked.ask.id == ask;
        self.waiting.retain(|asked| !is(asked));
        self.open.take_if(|open| is(&open.asked)).map(|open| open.asked)
    }

    /// Nothing of this session can be answered here any more.
    pub(super) fn forget(&mut self, session: &SessionId) {
        self.waiting.retain(|asked| asked.session != *session);
        self.open.take_if(|open| open.asked.session == *session);
    }

    /// A response of the UI.
    pub(super) fn hear(&mut self, id: &WireId, outcome: Result<&RawValue, RpcError>) -> AskAnswer {
        let Some(open) = self.open.as_mut().filter(|open| open.id == *id && !open.answered) else {
            return AskAnswer::Stale;
        };
        open.answered = true;
        let raw = outcome.as_ref().ok().and_then(|raw| serde_json::from_str::<ConfirmResult>(raw.get()).ok());
        let lasting_no = raw.is_some_and(|result| !result.ok && result.remember)
            && matches!(open.asked.ask.kind, AskKind::Consent(_));
        let (answer, odd) = lift_answer(&open.asked.ask.kind, outcome);
        let (session, ask) = (open.asked.session.clone(), open.asked.ask.id);
        AskAnswer::Answer { session, ask, answer, odd, lasting_no }
    }
}

/// What stands in `run.status` while the ask is open.
pub(super) fn waiting_words(kind: &AskKind) -> &'static str {
    match kind {
        AskKind::Consent(_) | AskKind::Confirm { .. } => "waiting for confirmation",
        AskKind::Choose { .. } => "waiting for a choice",
        AskKind::Text { .. } | AskKind::Edit { .. } => "waiting for input",
    }
}

/// The request line of an ask.
pub(super) fn lower_ask(id: &WireId, ask: &Ask, run_id: Option<String>) -> String {
    let title = ask.title.clone();
    match &ask.kind {
        AskKind::Consent(consent) => rpc::request(id, &consent_params(consent, run_id)),
        AskKind::Confirm { message, yes, no, danger } => {
            let params = ConfirmParams {
                run_id,
                message: once(&title, message),
                title,
                confirm_label: yes.clone(),
                cancel_label: no.clone(),
                danger_level: Some(danger_level(*danger).to_owned()),
                allow_remember: false,
                allow_reason: false,
            };
            rpc::request(id, &params)
        }
        AskKind::Choose { message, choices, many } => {
            let title =
                if message.is_empty() || *message == title { title } else { format!("{title}: {message}") };
            let item = |choice: &Choice| PickItem {
                id: choice.id.clone(),
                label: choice.label.clone(),
                detail: choice.detail.clone(),
            };
            let items = choices.iter().map(item).collect();
            rpc::request(id, &PickParams { run_id, title, items, multi: *many })
        }
        AskKind::Text { message, default, secret, multiline, placeholder: _ } => {
            let (message, default_value) = (once(&title, message), default.clone());
            let params = PromptParams {
                run_id,
                title,
                message,
                default_value,
                multiline: *multiline,
                secret: *secret,
            };
            rpc::request(id, &params)
        }
        AskKind::Edit { message, prefill } => {
            let (message, default_value) = (once(&title, message), Some(prefill.clone()));
            let params =
                PromptParams { run_id, title, message, default_value, multiline: true, secret: false };
            rpc::request(id, &params)
        }
    }
}

/// The message, unless the title says it already.
fn once(title: &str, message: &str) -> String {
    if message.trim() == title.trim() { String::new() } else { message.to_owned() }
}

fn consent_params(consent: &Consent, run_id: Option<String>) -> ConfirmParams {
    let (title, mut message) = match &consent.preview {
        Some(Preview::Command { line, .. }) => ("Run command?", line.clone()),
        Some(Preview::Text(text)) => ("Run tool?", text.clone()),
        Some(Preview::Diff { path, .. }) => {
            ("Run tool?", format!("{} {path}", tool_words::name(&consent.name)))
        }
        None => ("Run tool?", format!("{} {}", tool_words::name(&consent.name), consent.args)),
    };
    let danger = !consent.assessment.unrated && consent.assessment.risk >= Risk::High;
    if danger && !consent.assessment.reasons.is_empty() {
        message.push_str(&format!("\n\n{WARNING}{}", consent.assessment.reasons.join("; ")));
    }
    if let Some(rule) = &consent.rule {
        message.push_str(&format!("\n\n{REMEMBER}\n- {rule}"));
    }
    ConfirmParams {
        run_id,
        title: title.to_owned(),
        message,
        confirm_label: Some("Allow".to_owned()),
        cancel_label: Some("Deny".to_owned()),
        danger_level: Some(danger_level(danger).to_owned()),
        allow_remember: consent.rule.is_some(),
        allow_reason: consent.takes_reason,
    }
}

fn danger_level(danger: bool) -> &'static str {
    if danger { "danger" } else { "normal" }
}

/// What is told just before the person is asked about a tool.
pub(super) fn permission_events(consent: &Consent) -> Vec<AgentEvent> {
    let (tool, tool_call_id) = (tool_words::name(&consent.name).to_owned(), Some(consent.tool.to_string()));
    let mut events = Vec::new();
    if let Some(Preview::Diff { path, text }) = &consent.preview {
        let lines: Vec<&str> = text.lines().collect();
        let cut = lines.len() > MAX_PREVIEW_LINES;
        let diff = if cut { lines[..MAX_PREVIEW_LINES].join("\n") } else { text.clone() };
        events.push(AgentEvent::PermissionPreview(PermissionPreview {
            tool: tool.clone(),
            tool_call_id: tool_call_id.clone(),
            file_path: Some(path.clone()),
            diff: Some(diff),
            summary: None,
            truncated: cut.then_some(true),
        }));
    }
    events.push(AgentEvent::PermissionReady(PermissionReady { tool, tool_call_id }));
    events
}

/// An answer that cannot be read is a no: the UI believes that it has answered and will not do so again.
fn lift_answer(kind: &AskKind, outcome: Result<&RawValue, RpcError>) -> (Answer, Option<String>) {
    let no = match kind {
        AskKind::Consent(_) => Answer::Deny { reason: None },
        AskKind::Confirm { .. } => Answer::Confirmed(false),
        AskKind::Choose { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => Answer::Dismissed,
    };
    let raw = match outcome {
        // An error and null are how existing UIs say that the person closed the dialog.
        Err(_) => return (no, None),
        Ok(raw) if raw.get() == "null" => return (no, None),
        Ok(raw) => raw.get(),
    };
    let lifted = match kind {
        AskKind::Consent(consent) => serde_json::from_str(raw).map(|result| lift_consent(consent, result)),
        AskKind::Confirm { .. } => {
            serde_json::from_str::<ConfirmResult>(raw).map(|result| Answer::Confirmed(result.ok))
        }
        AskKind::Choose { .. } => serde_json::from_str::<PickResult>(raw).map(|result| match result.ids {
            ids if ids.is_empty() => Answer::Dismissed,
            ids => Answer::Chosen(ids),
        }),
        AskKind::Text { .. } | AskKind::Edit { .. } => serde_json::from_str::<PromptResult>(raw)
            .map(|result| result.value.map_or(Answer::Dismissed, Answer::Entered)),
    };
    match lifted {
        Ok(answer) if kind.accepts(&answer) => (answer, None),
        Ok(_) => (no, Some("the answer does not fit the question".to_owned())),
        Err(error) => (no, Some(error.to_string())),
    }
}

fn lift_consent(consent: &Consent, result: ConfirmResult) -> Answer {
    if !result.ok {
        let reason = result.reason.filter(|reason| !reason.trim().is_empty());
        return Answer::Deny { reason };
    }
    // Only what was offered can be remembered.
    let scope = if result.remember && consent.rule.is_some() { Scope::Always } else { Scope::Once };
    Answer::Allow { scope, digest: Some(consent.digest.clone()) }
}
