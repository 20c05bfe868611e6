//! Questions at the client: permissions and forms, and what its answers mean.
//!
//! A consent goes out as a permission request, everything else as a form with one field, where the client offers forms. Invariants: a
//! request that we sent is answered once or taken back; an answer that cannot be read is a no, an error is no answer; what is typed into a field for secrets
//! never goes into a form.

use super::super::wire::{
    CancelRequestParams, ConsentNote, CreateElicitationParams, CreateElicitationResult, ElicitationAction,
    FormChoice, FormField, FormItems, FormSchema, Meta, Own, PermissionKind, PermissionOption,
    PermissionOutcome, Raw, RequestPermissionParams, RequestPermissionResult, ToolCallContent,
    ToolCallUpdate, ToolStatus,
};
use super::super::{blocks, tool_words};
use super::AcpRuntime;
use super::telling::{part_content, terminal_content, text_content};
use domain::ask::{Answer, Ask, AskKind, Choice, Consent, Preview, Scope};
use domain::content::Part;
use domain::ids::{AskId, SessionId};
use domain::signal::Level;
use domain::tool::ToolPhase;
use rolekit::{rpc, shown};
use roles::{Item, RuntimeCx, View};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::time::Duration;
use wire::WireId;
use wire::jsonrpc::RpcError;

/// How long a question may wait, unless an option says otherwise: some clients never answer, and nobody else may be there.
pub const ANSWERS_WITHIN: Duration = Duration::from_secs(60 * 60);
/// Most questions that one client has at a time.
const MAX_OPEN: usize = 256;

const ALLOW_ONCE: &str = "allow_once";
const ALLOW_SESSION: &str = "allow_session";
const ALLOW_ALWAYS: &str = "allow_always";
const REJECT: &str = "reject_once";
const REJECT_WITH_REASON: &str = "reject_with_reason";
/// The only field of a form.
const FIELD: &str = "answer";
const YES: &str = "yes";
const NO: &str = "no";

/// What came of a question.
pub(super) enum Heard {
    /// What the person says, to whom, and what is odd about it.
    Answer(SessionId, AskId, Answer, Option<String>),
    /// The client could not ask: that is no answer of a person.
    Unanswerable(SessionId, AskId),
}

/// The questions that the client has.
#[derive(Debug, Default)]
pub(super) struct OpenAsks {
    open: Vec<PendingAsk>,
    last: u64,
}

#[derive(Debug)]
struct PendingAsk {
    id: WireId,
    session: SessionId,
    ask: Ask,
    /// The person said no and is asked why.
    why: bool,
}

impl OpenAsks {
    /// An id for a request of ours, whatever it asks for.
    pub(super) fn mint(&mut self) -> WireId {
        self.last += 1;
        WireId::number(self.last)
    }

    fn has(&self, session: &SessionId, ask: AskId) -> bool {
        self.open.iter().any(|open| open.session == *session && open.ask.id == ask)
    }

    /// The question is over; the request that is to be taken back.
    pub(super) fn close(&mut self, session: &SessionId, ask: AskId) -> Option<WireId> {
        let at = self.open.iter().position(|open| open.session == *session && open.ask.id == ask)?;
        Some(self.open.remove(at).id)
    }

    /// Nothing of this session is asked here any more; the requests that are to be taken back.
    pub(super) fn forget(&mut self, session: &SessionId) -> Vec<WireId> {
        self.open.extract_if(.., |open| open.session == *session).map(|open| open.id).collect()
    }

    /// A response of the client; `None` when nobody asked, or it is asked for more.
    pub(super) fn hear(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        outcome: Result<&RawValue, RpcError>,
    ) -> Option<Heard> {
        let at = self.open.iter().position(|open| open.id == *id)?;
        let mut open = self.open.remove(at);
        if outcome.is_err() && !open.why {
            return Some(Heard::Unanswerable(open.session, open.ask.id));
        }
        let raw = outcome.map(RawValue::get).unwrap_or("null");
        let (answer, odd) = if open.why {
            (Answer::Deny { reason: lift_reason(raw) }, None)
        } else if let AskKind::Consent(consent) = &open.ask.kind {
            match lift_consent(consent, raw) {
                Chosen::Answer(answer, odd) => (answer, odd),
                Chosen::AskWhy => {
                    let why = ask_why(&open);
                    open.id = self.mint();
                    cx.send(rpc::request(&open.id, &why));
                    self.open.push(PendingAsk { why: true, ..open });
                    return None;
                }
            }
        } else {
            lift_form(&open.ask.kind, raw)
        };
        let odd = odd
            .or_else(|| (!open.ask.kind.accepts(&answer)).then(|| "it does not fit the question".to_owned()));
        let answer = if open.ask.kind.accepts(&answer) { answer } else { refusal(&open.ask.kind) };
        Some(Heard::Answer(open.session, open.ask.id, answer, odd))
    }
}

/// What a permission request was answered with.
enum Chosen {
    Answer(Answer, Option<String>),
    /// The person says no, and wants to say why.
    AskWhy,
}

/// Takes a request back that nobody needs answered any more.
pub(super) fn take_back(cx: &mut RuntimeCx<'_>, request_id: WireId) {
    cx.send(rpc::notification(&CancelRequestParams { request_id }));
}

impl AcpRuntime {
    /// Somebody has to be asked: this client too, if it can be.
    pub(super) fn ask_opened(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, ask: &Ask) {
        let session = view.session;
        if self.asks.has(session, ask.id) || !self.sessions.contains_key(session) {
            return;
        }
        if self.asks.open.len() >= MAX_OPEN {
            return cx.loss(Item::Consent, "too many questions wait at this client");
        }
        let (ours, forms) = (self.is_ours(), self.shows_forms());
        let waits = ask.deadline.map(|deadline| deadline.since(cx.now));
        let line = match &ask.kind {
            AskKind::Consent(consent) => {
                let (what, rule) = (shown::what(consent), consent.rule.as_deref());
                let words =
                    shown::Asked { title: &ask.title, what: &what, assessment: &consent.assessment, rule };
                // Shorter ones are sent whole: editors scroll.
                if words.is_too_long() {
                    self.notice(cx, session, Level::Warning, &shown::not_asked(&ask.title, session));
                    return cx.cannot_answer(session.clone(), ask.id);
                }
                let risk = words.risk();
                let cwd = &view.state.settings.cwd;
                let telling = self.sessions.get(session).and_then(|known| known.telling.as_ref());
                let terminal = telling.is_some_and(|telling| telling.has_terminal(consent.tool));
                let runs = view.state.tool(consent.tool).is_some_and(|tool| tool.phase == ToolPhase::Running);
                let asked = Asked { ours, forms, waits, terminal, runs };
                let params = permission(session, &ask.title, consent, risk, cwd, asked);
                let id = self.asks.mint();
                (rpc::request(&id, &params), id)
            }
            AskKind::Text { secret: true, .. } => return cx.loss(Item::TextAsk, "a question for a secret"),
            _ if !forms => return,
            kind if shown::is_too_long(&ask.title, kind) => {
                self.notice(cx, session, Level::Warning, &shown::not_asked(&ask.title, session));
                return cx.cannot_answer(session.clone(), ask.id);
            }
            kind => {
                let params = form(session, &ask.title, kind, Written { ours });
                let id = self.asks.mint();
                (rpc::request(&id, &params), id)
            }
        };
        let (line, id) = line;
        self.asks.open.push(PendingAsk { id, session: session.clone(), ask: ask.clone(), why: false });
        if let Some(known) = self.sessions.get_mut(session) {
            known.send(cx, line);
            if let Some((telling, tool)) = known.telling.as_mut().zip(ask.about()) {
                telling.stands_for(tool, ask.id);
            }
        }
    }
}

/// How words are written that a person agrees to: our own UIs write out themselves what a screen would hide.
#[derive(Clone, Copy)]
struct Written {
    ours: bool,
}

impl Written {
    fn text(self, text: &str) -> String {
        if self.ours { text.to_owned() } else { shown::visible(text).into_owned() }
    }
}

/// What the client can be told with a question.
#[derive(Clone, Copy)]
struct Asked {
    ours: bool,
    forms: bool,
    waits: Option<u64>,
    /// Whether it has the call's output as a terminal.
    terminal: bool,
    /// Whether the call runs already, and asks about more than itself.
    runs: bool,
}

fn permission(
    session: &SessionId,
    title: &str,
    consent: &Consent,
    risk: String,
    cwd: &str,
    asked: Asked,
) -> RequestPermissionParams {
    let kind = tool_words::kind(&consent.name);
    let of_call = tool_words::title(&consent.name, &consent.args);
    let (called, status) = match asked.runs {
        // Who asks stands in the question's title alone.
        true => (title, ToolStatus::InProgress),
        false => (of_call.as_str(), ToolStatus::Pending),
    };
    let tool_call = ToolCallUpdate {
        tool_call_id: consent.tool.to_string(),
        title: Some(Written { ours: asked.ours }.text(called)),
        name: Some(consent.name.clone()),
        kind: Some(kind),
        status: Some(status),
        content: preview(consent, risk, cwd, asked),
        locations: Some(tool_words::locations(&consent.args, cwd)).filter(|places| !places.is_empty()),
        raw_input: Some(blocks::raw(&consent.args)),
        ..ToolCallUpdate::default()
    };
    let consent_note = note(title, consent, asked.waits);
    let parlor = Some(Own { consent: Some(consent_note), ..Own::default() });
    RequestPermissionParams {
        session_id: session.to_string(),
        tool_call,
        options: options(consent, asked.forms),
        meta: Some(Meta { parlor, ..Meta::default() }),
        ..RequestPermissionParams::default()
    }
}

/// What the person sees before deciding, the risk first; the command line stands in the title and the input already.
fn preview(consent: &Consent, risk: String, cwd: &str, asked: Asked) -> Option<Vec<ToolCallContent>> {
    let written = Written { ours: asked.ours };
    let mut content: Vec<ToolCallContent> =
        Some(written.text(&risk)).filter(|risk| !risk.is_empty()).map(text_content).into_iter().collect();
    content.extend(match &consent.preview {
        Some(Preview::Diff { path, text }) => {
            part_content(&Part::Diff { path: Some(path.clone()), text: text.clone() }, cwd, asked.ours)
        }
        Some(Preview::Text(text)) => vec![text_content(written.text(text))],
        Some(Preview::Command { line, .. }) => {
            vec![text_content(blocks::fenced(Some("sh"), &written.text(line), None))]
        }
        None => Vec::new(),
    });
    if asked.terminal && !content.is_empty() {
        // This list takes the place of the one in which the terminal stood.
        content.push(terminal_content(consent.tool));
    }
    Some(content).filter(|content| !content.is_empty())
}

fn note(title: &str, consent: &Consent, waits: Option<u64>) -> ConsentNote {
    let (command, inner) = match &consent.preview {
        Some(Preview::Command { line, inner }) => (Some(line.clone()), inner.clone()),
        _ => (None, Vec::new()),
    };
    ConsentNote {
        title: title.to_owned(),
        digest: consent.digest.0.clone(),
        risk: shown::risk(&consent.assessment).map(str::to_owned),
        reasons: consent.assessment.reasons.clone(),
        reversible: consent.assessment.reversible,
        rule: consent.rule.clone(),
        takes_reason: consent.takes_reason,
        command,
        inner,
        waits,
        ..ConsentNote::default()
    }
}

fn options(consent: &Consent, forms: bool) -> Vec<PermissionOption> {
    let option = |id: &str, name: String, kind: PermissionKind| PermissionOption {
        option_id: id.to_owned(),
        name,
        kind,
        ..PermissionOption::default()
    };
    let mut options = vec![
        option(ALLOW_ONCE, "Allow once".to_owned(), PermissionKind::AllowOnce),
        option(ALLOW_SESSION, "Allow in this session".to_owned(), PermissionKind::AllowAlways),
    ];
    if let Some(rule) = &consent.rule {
        options.push(option(ALLOW_ALWAYS, format!("Always allow {rule}"), PermissionKind::AllowAlways));
    }
    options.push(option(REJECT, "Reject".to_owned(), PermissionKind::RejectOnce));
    if forms && consent.takes_reason {
        options.push(option(REJECT_WITH_REASON, "Reject and say why".to_owned(), PermissionKind::RejectOnce));
    }
    options
}

/// An answer that cannot be read is a no, and so is one to a question that was put otherwise.
fn refusal(kind: &AskKind) -> Answer {
    match kind {
        AskKind::Consent(_) => Answer::Deny { reason: None },
        AskKind::Confirm { .. } => Answer::Confirmed(false),
        AskKind::Choose { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => Answer::Dismissed,
    }
}

/// Reads an object: a list would be taken for its members in their order.
fn object<T: serde::de::DeserializeOwned>(raw: &str) -> Result<T, serde_json::Error> {
    match raw.starts_with('{') {
        true => serde_json::from_str(raw),
        false => Err(serde::de::Error::custom("it is no object")),
    }
}

fn lift_consent(consent: &Consent, raw: &str) -> Chosen {
    let no = |odd: Option<String>| Chosen::Answer(Answer::Deny { reason: None }, odd);
    let result: RequestPermissionResult = match object(raw) {
        Ok(result) => result,
        Err(_) if raw == "null" => return no(None),
        Err(why) => return no(Some(why.to_string())),
    };
    let option = match result.outcome {
        PermissionOutcome::Selected(selected) => selected.option_id,
        PermissionOutcome::Cancelled(_) => return no(None),
        PermissionOutcome::Unknown(odd) => {
            return no(Some(format!("an outcome that is not known: {}", odd.text())));
        }
    };
    let allow = |scope| Chosen::Answer(Answer::Allow { scope, digest: Some(consent.digest.clone()) }, None);
    match option.as_str() {
        ALLOW_ONCE => allow(Scope::Once),
        ALLOW_SESSION => allow(Scope::Session),
        // Only what was offered can be remembered.
        ALLOW_ALWAYS if consent.rule.is_some() => allow(Scope::Always),
        REJECT => {
            let reason = result.meta.and_then(|meta| meta.reason).filter(|reason| !reason.trim().is_empty());
            Chosen::Answer(Answer::Deny { reason }, None)
        }
        REJECT_WITH_REASON if consent.takes_reason => Chosen::AskWhy,
        other => no(Some(format!("an option that was not offered: {other:?}"))),
    }
}

fn ask_why(open: &PendingAsk) -> CreateElicitationParams {
    let field =
        FormField { kind: "string".to_owned(), title: Some("Why not".to_owned()), ..FormField::default() };
    one_field(&open.session, "What shall the agent do instead?".to_owned(), None, field)
}

fn lift_reason(raw: &str) -> Option<String> {
    let result: CreateElicitationResult = serde_json::from_str(raw).ok()?;
    let text = result.content?.get(FIELD)?.value();
    let text = text.as_str()?.trim();
    (result.action == ElicitationAction::Accept && !text.is_empty()).then(|| text.to_owned())
}

fn one_field(
    session: &SessionId,
    message: String,
    title: Option<String>,
    field: FormField,
) -> CreateElicitationParams {
    let requested_schema = FormSchema {
        kind: "object".to_owned(),
        title,
        properties: BTreeMap::from([(FIELD.to_owned(), field)]),
        required: vec![FIELD.to_owned()],
        ..FormSchema::default()
    };
    CreateElicitationParams {
        message,
        session_id: Some(session.to_string()),
        requested_schema: Some(requested_schema),
        ..CreateElicitationParams::default()
    }
}

/// A question as a form with one field; what kind of question it is goes along for those who know our words.
fn form(session: &SessionId, title: &str, kind: &AskKind, written: Written) -> CreateElicitationParams {
    let text = |text: &str| Some(written.text(text));
    let string = || FormField { kind: "string".to_owned(), ..FormField::default() };
    let (message, word, field) = match kind {
        AskKind::Confirm { message, yes, no, .. } => {
            let choice = |value: &str, label: &Option<String>, usual: &str| FormChoice {
                value: value.to_owned(),
                title: label.as_deref().map_or_else(|| usual.to_owned(), |label| written.text(label)),
                ..FormChoice::default()
            };
            let one_of = Some(vec![choice(YES, yes, "Yes"), choice(NO, no, "No")]);
            (message, "confirm", FormField { one_of, ..string() })
        }
        AskKind::Choose { message, choices, many: false } => {
            (message, "choose", FormField { one_of: Some(lower_choices(choices, written)), ..string() })
        }
        AskKind::Choose { message, choices, many: true } => {
            let items =
                Some(FormItems { any_of: Some(lower_choices(choices, written)), ..FormItems::default() });
            (message, "choose", FormField { kind: "array".to_owned(), items, ..FormField::default() })
        }
        AskKind::Text { message, placeholder, default, .. } => {
            let default = default.as_deref().map(json_text);
            (
                message,
                "text",
                FormField {
                    description: placeholder.as_deref().map(|hint| written.text(hint)),
                    default,
                    ..string()
                },
            )
        }
        AskKind::Edit { message, prefill } => {
            (message, "edit", FormField { default: Some(json_text(prefill)), ..string() })
        }
        AskKind::Consent(consent) => return one_field(session, consent.name.clone(), text(title), string()),
    };
    let said = written.text(if message.is_empty() { title } else { message });
    let parlor = Some(Own { ask: text(word), ..Own::default() });
    let meta = Some(Meta { parlor, ..Meta::default() });
    CreateElicitationParams { meta, ..one_field(session, said, text(title), field) }
}

fn json_text(text: &str) -> Raw {
    Raw::keep(&serde_json::Value::from(text).to_string())
}

fn lower_choices(choices: &[Choice], written: Written) -> Vec<FormChoice> {
    let choice = |choice: &Choice| FormChoice {
        value: choice.id.clone(),
        title: written.text(&choice.label),
        description: choice.detail.as_deref().map(|detail| written.text(detail)),
        ..FormChoice::default()
    };
    choices.iter().map(choice).collect()
}

fn lift_form(kind: &AskKind, raw: &str) -> (Answer, Option<String>) {
    let no = refusal(kind);
    let result: CreateElicitationResult = match object(raw) {
        Ok(result) => result,
        Err(_) if raw == "null" => return (no, None),
        Err(why) => return (no, Some(why.to_string())),
    };
    if result.action != ElicitationAction::Accept {
        return (no, None);
    }
    let value = result.content.and_then(|content| content.get(FIELD).map(Raw::value)).unwrap_or_default();
    let one = |value: &serde_json::Value| value.as_str().map(ToOwned::to_owned);
    let answer = match kind {
        AskKind::Confirm { .. } => Answer::Confirmed(value.as_str() == Some(YES)),
        // A list where several may be taken, else one text: nothing else was asked for.
        AskKind::Choose { many, .. } => {
            let chosen: Option<Vec<String>> = match &value {
                serde_json::Value::Array(values) if *many => values.iter().map(one).collect(),
                value if !many => one(value).map(|id| vec![id]),
                _ => None,
            };
            match chosen {
                Some(chosen) if chosen.is_empty() => Answer::Dismissed,
                Some(chosen) => Answer::Chosen(chosen),
                None => return (no, Some("the field holds no choice".to_owned())),
            }
        }
        AskKind::Text { .. } | AskKind::Edit { .. } => match value.as_str() {
            Some(text) => Answer::Entered(text.to_owned()),
            None => return (no, Some("the field holds no text".to_owned())),
        },
        AskKind::Consent(_) => no,
    };
    (answer, None)
}
