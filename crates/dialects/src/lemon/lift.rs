//! lemon's → ours, without state: content, tokens, results, reasons, questions, signals. The roles decide what it is part of.

use super::wire::heard::{Block, Question, SignalParams, TaskDetails, Usage};
use super::wire::{ConsentHint, consent, method};
use domain::ask::{Answer, AskKind, Assessment, Choice, Risk, Scope};
use domain::content::{Json, Part, TextKind};
use domain::event::{Failure, Finish};
use domain::fact::{FactAsk, Key};
use domain::signal::{Level, Place, Signal};
use domain::tool::{Progress, ToolResult};
use serde_json::Value;
use serde_json::value::RawValue;

/// What stands in a message.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Contents {
    /// Text and thought, in order.
    pub(super) texts: Vec<(TextKind, String)>,
    /// Pictures.
    pub(super) images: Vec<Part>,
    /// Tool calls: id, name, arguments.
    pub(super) calls: Vec<(String, String, Json)>,
    /// Types of blocks that we do not know.
    pub(super) unknown: Vec<String>,
}

impl Contents {
    /// The text alone.
    pub(super) fn text(&self) -> String {
        let texts =
            self.texts.iter().filter(|(kind, _)| *kind == TextKind::Text).map(|(_, text)| text.as_str());
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Content is a string or a list of blocks; anything else is nothing.
pub(super) fn contents(raw: Option<&RawValue>) -> Contents {
    let mut contents = Contents::default();
    let Some(raw) = raw else { return contents };
    if let Ok(text) = serde_json::from_str::<String>(raw.get()) {
        contents.texts.push((TextKind::Text, text));
        return contents;
    }
    for raw in serde_json::from_str::<Vec<&RawValue>>(raw.get()).unwrap_or_default() {
        let Ok(block) = serde_json::from_str::<Block>(raw.get()) else {
            contents.unknown.push("unreadable block".to_owned());
            continue;
        };
        match block.kind.as_str() {
            "text" => contents.texts.push((TextKind::Text, block.text)),
            "thinking" => contents.texts.push((TextKind::Thought, block.thinking)),
            "tool_call" => {
                let args = block.arguments.map_or_else(Json::empty, |args| Json::verbatim(args.get()));
                contents.calls.push((block.id, block.name, args));
            }
            "image" => contents.images.push(Part::Image { mime: block.mime_type, base64: block.data.into() }),
            _ => contents.unknown.push(block.kind),
        }
    }
    contents
}

pub(super) fn finish(stop_reason: Option<&str>) -> Finish {
    match stop_reason {
        Some("length") => Finish::Length,
        Some("aborted") => Finish::Interrupted,
        Some("error") => Finish::Failed,
        _ => Finish::Complete,
    }
}

/// On this wire the cached tokens stand apart.
pub(super) fn usage(usage: Usage) -> domain::content::Usage {
    let (read, write) = (usage.cache_read.unwrap_or(0), usage.cache_write.unwrap_or(0));
    let dollars = usage.cost.unwrap_or_default().total;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and a cost is a small positive number"
    )]
    let cost_micros = (dollars * 1_000_000.0).round() as u64;
    domain::content::Usage {
        input: usage.input.unwrap_or(0).saturating_add(read).saturating_add(write),
        output: usage.output.unwrap_or(0),
        cache_read: read,
        cache_write: write,
        cost_micros,
    }
}

pub(super) fn tool_result(content: Option<&RawValue>, details: Option<&RawValue>) -> ToolResult {
    let contents = contents(content);
    let json = details.map(RawValue::get).filter(|text| *text != "null").map(Json::verbatim);
    ToolResult { text: contents.text(), parts: contents.images, json, truncated: false }
}

/// What a running tool says about itself: its output so far, and what it does now.
pub(super) fn progress(content: Option<&RawValue>, details: Option<&RawValue>) -> Vec<Progress> {
    let text = contents(content).text();
    let task: TaskDetails = details.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let message = task.message.clone().or_else(|| task.current_action.map(|action| action.title));
    let status = message.filter(|message| !message.is_empty()).map(|message| Progress::Status {
        percent: task.percent.and_then(|percent| u8::try_from(percent.min(100)).ok()),
        message,
    });
    let said = matches!(&status, Some(Progress::Status { message, .. }) if *message == text);
    let output = (!text.is_empty() && !said).then_some(Progress::Replace(text));
    output.into_iter().chain(status).collect()
}

/// Why a run broke: a string, or a tuple of a word and the rest.
pub(super) fn failure(reason: Option<&RawValue>, told_before: Option<&str>) -> Failure {
    let value: Value = reason.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let (code, message) = match &value {
        Value::Array(items) => {
            let mut words = items.iter().map(word);
            let code = words.next().unwrap_or_default();
            (code, words.collect::<Vec<_>>().join(": "))
        }
        Value::Null => (String::new(), String::new()),
        value => (String::new(), word(value)),
    };
    let message =
        [message.as_str(), told_before.unwrap_or_default(), &code].into_iter().find(|text| !text.is_empty());
    let message = message.unwrap_or("the runtime did not say why").to_owned();
    Failure::new(if code.is_empty() { "remote_error" } else { &code }, message)
}

/// A JSON value for people.
pub(super) fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

/// A question that waits for our answer, as the wire wants it.
#[derive(Debug, PartialEq)]
pub(super) enum Asked {
    Confirm,
    /// The values of the options by the ids that we know them under.
    Select(Vec<(String, Value)>),
    Text,
}

/// The question; `None` for a method that we do not know.
pub(super) fn question(method: &str, id: &str, asked: Question) -> Option<(String, FactAsk, Asked)> {
    let hint = asked.opts.get("consent").cloned();
    let hint: Option<ConsentHint> = hint.and_then(|hint| serde_json::from_value(hint).ok());
    let title = asked.title;
    Some(match (method, hint) {
        (method::CONFIRM, Some(hint)) => (title, consent_ask(id, hint, asked.message), Asked::Confirm),
        (method::CONFIRM, None) => {
            let kind = AskKind::Confirm { message: asked.message, yes: None, no: None, danger: false };
            (title, FactAsk::Other(kind), Asked::Confirm)
        }
        (method::SELECT, hint) => {
            let options: Vec<(Choice, Value)> = asked.options.iter().map(option).collect();
            let values = options.iter().map(|(choice, value)| (choice.id.clone(), value.clone())).collect();
            let ours = options.iter().any(|(choice, _)| choice.id == consent::DENY);
            match hint.filter(|hint| hint.rule.is_some() && ours) {
                Some(hint) => {
                    let (title, text) = title.split_once('\n').unwrap_or((&title, ""));
                    (title.to_owned(), consent_ask(id, hint, text.to_owned()), Asked::Select(values))
                }
                None => {
                    let choices = options.into_iter().map(|(choice, _)| choice).collect();
                    let kind = AskKind::Choose { message: String::new(), choices, many: false };
                    (title, FactAsk::Other(kind), Asked::Select(values))
                }
            }
        }
        (method::INPUT, _) => {
            let secret = asked.opts.get("secret") == Some(&Value::Bool(true));
            let placeholder = asked.placeholder;
            let kind = AskKind::Text {
                message: String::new(),
                placeholder,
                default: None,
                secret,
                multiline: false,
            };
            (title, FactAsk::Other(kind), Asked::Text)
        }
        (method::EDITOR, _) => {
            let kind = AskKind::Edit { message: String::new(), prefill: asked.prefill.unwrap_or_default() };
            (title, FactAsk::Other(kind), Asked::Text)
        }
        _ => return None,
    })
}

/// An option is an object, or only its value.
fn option(value: &Value) -> (Choice, Value) {
    let named = value.get("value").cloned().unwrap_or_else(|| value.clone());
    let id = word(&named);
    let label = value.get("label").map_or_else(|| id.clone(), word);
    let detail = value.get("description").map(word).filter(|text| !text.is_empty());
    (Choice { id, label, detail }, named)
}

fn consent_ask(id: &str, hint: ConsentHint, shown: String) -> FactAsk {
    let risk = match hint.risk.as_str() {
        "low" => Risk::Low,
        "medium" => Risk::Medium,
        "critical" => Risk::Critical,
        _ => Risk::High,
    };
    let tool = if hint.tool_call_id.is_empty() { Key::from(id) } else { Key::from(hint.tool_call_id) };
    FactAsk::Consent {
        tool: Some(tool),
        name: hint.tool_name,
        args: Json::empty(),
        preview: Some(domain::ask::Preview::Text(shown)),
        assessment: Assessment { risk, reasons: hint.reasons, reversible: hint.reversible },
        rule: hint.rule,
        takes_reason: false,
    }
}

/// The result that the wire wants for an answer. A question that is closed without an answer gives null, and no for a confirm, as the
/// existing clients do.
pub(super) fn result(asked: &Asked, answer: &Answer) -> Option<Value> {
    match (asked, answer) {
        (Asked::Confirm, Answer::Allow { .. } | Answer::Confirmed(true)) => Some(Value::Bool(true)),
        (Asked::Confirm, _) => Some(Value::Bool(false)),
        (Asked::Select(values), answer) => {
            let wanted = match answer {
                Answer::Allow { scope: Scope::Once, .. } => consent::ONCE,
                Answer::Allow { scope: Scope::Session, .. } => consent::SESSION,
                Answer::Allow { scope: Scope::Always, .. } => consent::ALWAYS,
                Answer::Deny { .. } => consent::DENY,
                Answer::Chosen(ids) => ids.first()?.as_str(),
                Answer::Confirmed(_) | Answer::Entered(_) | Answer::Dismissed => return None,
            };
            values.iter().find(|(id, _)| id == wanted).map(|(_, value)| value.clone())
        }
        (Asked::Text, Answer::Entered(text)) => Some(Value::String(text.clone())),
        (Asked::Text, _) => None,
    }
}

/// A signal; `None` for a type that is none.
pub(super) fn signal(kind: &str, params: SignalParams) -> Option<Signal> {
    Some(match kind {
        "ui_notify" => {
            let level = match params.notify_type.or(params.other_type).as_deref() {
                Some("warn" | "warning") => Level::Warning,
                Some("error") => Level::Error,
                Some("success") => Level::Success,
                _ => Level::Info,
            };
            Signal::Notify { level, text: params.message.unwrap_or_default() }
        }
        "ui_status" => Signal::Status { key: params.key, text: params.text },
        "ui_working" => Signal::Working(params.message),
        "ui_widget" => {
            let lines = match &params.content {
                Value::Null => Vec::new(),
                Value::String(text) => text.split('\n').map(str::to_owned).collect(),
                Value::Array(lines) => lines.iter().map(word).collect(),
                other => vec![word(other)],
            };
            let below = params.opts.get("position").is_some_and(|position| position == "below");
            let place = if below { Place::Below } else { Place::Above };
            Signal::Widget { key: params.key, lines, place }
        }
        "ui_set_title" => Signal::Title(params.title),
        "ui_set_editor_text" => Signal::EditorText(params.text.unwrap_or_default()),
        _ => return None,
    })
}
