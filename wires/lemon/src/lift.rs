//! lemon's → ours, without state: content, tokens, results, reasons, questions, signals. The roles decide what it is part of.

use super::wire::event::TaskDetails;
use super::wire::frame::ModelId;
use super::wire::message::{Block, ToolResult as WireResult, Usage};
use super::wire::ui::{ConsentHint, Method, NotifyType, Params, Position, Question, consent};
use super::wire::{Frame, Words};
use domain::ask::{Answer, AskKind, Assessment, Choice, Risk, Scope};
use domain::content::{Json, Part, TextKind};
use domain::event::{Failure, Finish};
use domain::fact::{FactAsk, Key};
use domain::session::ModelRef;
use domain::signal::{Level, Signal, WidgetPlace};
use domain::tool::{Progress, ToolResult};
use rolekit::shown;
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
        let mut whole = String::new();
        for text in texts {
            // The peer may have put a line break between them already.
            if !whole.is_empty() && !whole.ends_with('\n') && !text.starts_with('\n') {
                whole.push('\n');
            }
            whole.push_str(text);
        }
        whole
    }
}

/// What stands in blocks, by kind.
pub(super) fn contents(blocks: Vec<Block<'_>>) -> Contents {
    let mut contents = Contents::default();
    for block in blocks {
        match block {
            Block::Text(block) => contents.texts.push((TextKind::Text, block.text.into_owned())),
            Block::Thinking(block) => contents.texts.push((TextKind::Thought, block.thinking.into_owned())),
            Block::ToolCall(block) => {
                let args = block.arguments.map_or_else(Json::empty, |args| Json::verbatim(args.get()));
                contents.calls.push((block.id, block.name.into_owned(), args));
            }
            Block::Image(block) => {
                let (mime, base64) = (block.mime_type.into_owned(), block.data.into_owned().into());
                contents.images.push(Part::Image { mime, base64 });
            }
            Block::Unknown(kind) => contents.unknown.push(kind),
        }
    }
    contents
}

/// The model that a server names.
pub(super) fn model(model: &ModelId<'_>) -> ModelRef {
    ModelRef { provider: model.provider.to_string(), name: model.id.to_string() }
}

/// How a message ended; a reason that is not known counts as a complete one.
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
    let Usage { input, output, cache_read, cache_write, cost, .. } = usage;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and a cost is a small positive number"
    )]
    let cost_micros = (cost.total * 1_000_000.0).round() as u64;
    let input = input.saturating_add(cache_read).saturating_add(cache_write);
    domain::content::Usage { input, output, cache_read, cache_write, cost_micros, rough: false }
}

/// What a tool gave back: its texts joined, the details beside them.
pub(super) fn tool_result(blocks: Vec<Block<'_>>, details: Option<&RawValue>) -> ToolResult {
    let contents = contents(blocks);
    let json = details.map(|details| Json::verbatim(details.get()));
    ToolResult { text: contents.text(), parts: contents.images, json, truncated: false }
}

/// What a running tool says about itself: its output so far, and what it does now.
pub(super) fn progress(result: WireResult<'_>) -> Vec<Progress> {
    let text = contents(result.content).text();
    let details = result.details.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let task: TaskDetails = details.unwrap_or_default();
    let message = task.message.or_else(|| task.current_action.map(|action| action.title));
    let status = message.filter(|message| !message.is_empty()).map(|message| Progress::Status {
        percent: task.percent.and_then(|percent| u8::try_from(percent.min(100)).ok()),
        message,
    });
    let said = matches!(&status, Some(Progress::Status { message, .. }) if *message == text);
    let output = (!text.is_empty() && !said).then_some(Progress::Replace(text));
    output.into_iter().chain(status).collect()
}

/// Why a run broke: a string, or a tuple of a word and the rest.
pub(super) fn failure(reason: &Words<'_>, told_before: Option<&str>) -> Failure {
    let (code, message) = match reason {
        Words::Other(Value::Array(items)) => {
            let mut words = items.iter().map(|item| Words::from(item.clone()).shown());
            let code = words.next().unwrap_or_default();
            (code, words.collect::<Vec<_>>().join(": "))
        }
        words => (String::new(), words.shown()),
    };
    let message =
        [message.as_str(), told_before.unwrap_or_default(), &code].into_iter().find(|text| !text.is_empty());
    let message = message.unwrap_or("the runtime did not say why").to_owned();
    Failure::new(if code.is_empty() { "remote_error" } else { &code }, message)
}

/// A question that waits for our answer, as the wire wants it.
#[derive(Debug, PartialEq)]
pub(super) enum AnswerForm {
    Confirm,
    /// The values of the options by the ids that we know them under.
    Select(Vec<(String, Value)>),
    Text,
}

/// The question; `None` for a method that we do not know.
pub(super) fn question(
    method: &Method,
    id: &str,
    asked: Question<'_>,
) -> Option<(String, FactAsk, AnswerForm)> {
    let title = asked.title.into_owned();
    let message = asked.message.unwrap_or_default().into_owned();
    Some(match (method, asked.opts.consent) {
        (Method::Confirm, Some(hint)) => (title, consent_ask(id, hint, message), AnswerForm::Confirm),
        (Method::Confirm, None) => {
            let kind = AskKind::Confirm { message, yes: None, no: None, danger: false };
            (title, FactAsk::Other(kind), AnswerForm::Confirm)
        }
        (Method::Select, hint) => {
            let (mut choices, mut values) = (Vec::new(), Vec::new());
            for option in asked.options.unwrap_or_default() {
                let (id, label) = (option.value.shown(), option.label.into_owned());
                choices.push(Choice { id: id.clone(), label, detail: option.description.map(Into::into) });
                values.push((id, option.value.into_json()));
            }
            let ours = choices.iter().any(|choice| choice.id == consent::DENY);
            match hint.filter(|_| ours) {
                Some(hint) => {
                    let title = without_risk(title, &hint.risk, &hint.reasons);
                    let (title, text) = title.split_once('\n').unwrap_or((&title, ""));
                    (title.to_owned(), consent_ask(id, hint, text.to_owned()), AnswerForm::Select(values))
                }
                None => {
                    let kind = AskKind::Choose { message: String::new(), choices, many: false };
                    (title, FactAsk::Other(kind), AnswerForm::Select(values))
                }
            }
        }
        (Method::Input, _) => {
            let kind = AskKind::Text {
                message: String::new(),
                placeholder: asked.placeholder.flatten().map(Into::into),
                default: None,
                secret: asked.opts.secret,
                multiline: false,
            };
            (title, FactAsk::Other(kind), AnswerForm::Text)
        }
        (Method::Editor, _) => {
            let prefill = asked.prefill.flatten().unwrap_or_default().into_owned();
            (title, FactAsk::Other(AskKind::Edit { message: String::new(), prefill }), AnswerForm::Text)
        }
        (Method::Other(_), _) => return None,
    })
}

fn consent_ask(id: &str, hint: ConsentHint, shown: String) -> FactAsk {
    let risk = match hint.risk.as_str() {
        "low" => Risk::Low,
        "medium" => Risk::Medium,
        "critical" => Risk::Critical,
        _ => Risk::High,
    };
    let unrated = !["low", "medium", "high", "critical"].contains(&hint.risk.as_str());
    let tool = if hint.tool_call_id.is_empty() { Key::from(id) } else { Key::from(hint.tool_call_id) };
    let shown = hint.what.unwrap_or_else(|| without_risk(shown, &hint.risk, &hint.reasons));
    FactAsk::Consent {
        tool: Some(tool),
        name: hint.tool_name,
        args: Json::empty(),
        preview: Some(domain::ask::Preview::Text(shown)),
        assessment: Assessment { risk, reasons: hint.reasons, reversible: hint.reversible, unrated },
        rule: hint.rule,
        takes_reason: false,
    }
}

/// What is shown of an action without the line about its risk, before it or behind it: whoever knows the hint shows that by itself.
fn without_risk(shown: String, risk: &str, reasons: &[String]) -> String {
    let words = shown::risk_words(Some(risk).filter(|risk| !risk.is_empty()), reasons);
    if words.is_empty() {
        return shown;
    }
    let words = shown::visible(&words);
    let before = shown.strip_prefix(&*words).filter(|rest| rest.is_empty() || rest.starts_with('\n'));
    match before.or_else(|| shown.strip_suffix(&*words)) {
        Some(rest) => rest.trim_matches('\n').to_owned(),
        None => shown,
    }
}

/// The result that the wire wants for an answer. A question that is closed without an answer gives null, as the document says.
pub(super) fn result(asked: &AnswerForm, answer: &Answer) -> Option<Value> {
    match (asked, answer) {
        (AnswerForm::Confirm, Answer::Allow { .. } | Answer::Confirmed(true)) => Some(Value::Bool(true)),
        (AnswerForm::Confirm, Answer::Dismissed) => None,
        (AnswerForm::Confirm, _) => Some(Value::Bool(false)),
        (AnswerForm::Select(values), answer) => {
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
        (AnswerForm::Text, Answer::Entered(text)) => Some(Value::String(text.clone())),
        (AnswerForm::Text, _) => None,
    }
}

/// A signal; `None` for a line that is none.
pub(super) fn signal(frame: Frame<'_>) -> Option<Signal> {
    Some(match frame {
        Frame::UiNotify(Params { params }) => {
            let level = match params.notify_type.or(params.other_type) {
                Some(NotifyType::Warn | NotifyType::Warning) => Level::Warning,
                Some(NotifyType::Error) => Level::Error,
                Some(NotifyType::Success) => Level::Success,
                Some(NotifyType::Info | NotifyType::Other(_)) | None => Level::Info,
            };
            Signal::Notify { level, text: params.message.into_owned() }
        }
        Frame::UiStatus(Params { params }) => {
            Signal::Status { key: params.key.into_owned(), text: params.text.map(Into::into) }
        }
        Frame::UiWorking(Params { params }) => Signal::Working(params.message.map(Into::into)),
        Frame::UiWidget(Params { params }) => {
            let lines = match params.content {
                None => Vec::new(),
                Some(Words::Text(text)) => text.split('\n').map(str::to_owned).collect(),
                Some(Words::Other(Value::Array(lines))) => {
                    lines.into_iter().map(|line| Words::from(line).shown()).collect()
                }
                Some(other) => vec![other.shown()],
            };
            let place = match params.opts.position {
                Position::Above => WidgetPlace::Above,
                Position::Below => WidgetPlace::Below,
            };
            Signal::Widget { key: params.key.into_owned(), lines, place }
        }
        Frame::UiSetTitle(Params { params }) => Signal::Title(params.title.into_owned()),
        Frame::UiSetEditorText(Params { params }) => Signal::EditorText(params.text.into_owned()),
        _ => return None,
    })
}
