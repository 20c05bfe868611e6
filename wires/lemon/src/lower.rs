//! Ours → lemon's, without state: content, messages, tool results, tokens, signals. The roles decide when something is said.

use super::Compat;
use super::wire::Frame;
use super::wire::frame::ModelId;
use super::wire::message::{
    AssistantMessage, Block, Content, Cost, ImageBlock, Message, TextBlock, ThinkingBlock, ToolCallBlock,
    ToolResult, ToolResultMessage, Usage, UserMessage, of,
};
use super::wire::ui::{
    EditorText, Notify, NotifyType, Params, Position, Status, Title, Widget, WidgetOpts, Working,
};
use domain::content::{Json, Part};
use domain::event::Finish;
use domain::ids::{Millis, ToolRunId};
use domain::session::ModelRef;
use domain::signal::{Level, Signal, WidgetPlace};
use domain::tool::{ToolOutcome, ToolRun};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;

/// What `api` says: clients show it at most.
const API: &str = "parlor";
/// Shown for a session whose model is not known yet.
pub(super) const NO_MODEL: ModelId<'static> =
    ModelId { provider: Cow::Borrowed("runtime"), id: Cow::Borrowed("unknown") };

/// Longest line that a client is sent where it can be helped: one of the existing clients stops hearing at the first line of 64 KB.
pub(super) const MAX_LINE: usize = 60_000;
/// Most text of a tool's result. What is left out is in the middle, since the end tells how it went.
const MAX_RESULT_TEXT: usize = 40_000;
/// Longest structured form of a tool's result that goes with its text.
const MAX_DETAILS: usize = 8_000;
/// Arguments that are longer are shown with their long texts cut.
const MAX_ARGS: usize = 24_000;
/// What is left of a long text in arguments that are too long.
const MAX_ARG_TEXT: usize = 2_000;

/// Name and arguments of a tool run that stands in a message.
pub(super) type ToolName<'a> = (&'a str, &'a Json);

/// The model as frames carry it; empty where it is not known.
pub(super) fn model_id(model: Option<&ModelRef>) -> ModelId<'_> {
    model.map_or(NO_MODEL, |model| ModelId {
        provider: model.provider.as_str().into(),
        id: model.name.as_str().into(),
    })
}

/// JSON text as it came. What is not JSON (which nobody should have let in) goes as a string.
pub(super) fn raw(json: &Json) -> Cow<'_, RawValue> {
    match serde_json::from_str::<&RawValue>(json.as_str()) {
        Ok(raw) => Cow::Borrowed(raw),
        Err(_) => Cow::Owned(to_raw_value(json.as_str()).unwrap_or_else(|_| RawValue::NULL.to_owned())),
    }
}

/// Arguments as the model wrote them; what is only long in them is cut, for they are shown, not run.
pub(super) fn arguments(json: &Json) -> Cow<'_, RawValue> {
    if json.as_str().len() <= MAX_ARGS {
        return raw(json);
    }
    let Ok(mut value) = serde_json::from_str::<Value>(json.as_str()) else { return raw(json) };
    cut_texts(&mut value);
    to_raw_value(&value).map_or_else(|_| raw(json), Cow::Owned)
}

fn cut_texts(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > MAX_ARG_TEXT => {
            *text = middle_out(text, MAX_ARG_TEXT).into_owned();
        }
        Value::Array(items) => items.iter_mut().for_each(cut_texts),
        Value::Object(keys) => keys.values_mut().for_each(cut_texts),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}

/// A text of at most about `most` bytes: its beginning and its end.
fn middle_out(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let head = (0..=most * 3 / 4).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let tail =
        (text.len() - most / 4..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let left_out = tail - head;
    format!("{}\n… {left_out} bytes are not shown here …\n{}", &text[..head], &text[tail..]).into()
}

/// A text as a block of content.
pub(super) fn text_block<'a>(text: impl Into<Cow<'a, str>>) -> Block<'a> {
    Block::Text(TextBlock { of: of::TEXT, text: text.into(), text_signature: None })
}

/// The blocks of a message, and what stands in it that has no block of its own.
pub(super) fn blocks<'a>(
    parts: &'a [Part],
    tool: impl Fn(ToolRunId) -> Option<ToolName<'a>>,
) -> Vec<Block<'a>> {
    let mut blocks: Vec<Block<'a>> = parts.iter().filter_map(|part| block(part, &tool)).collect();
    part_texts(&mut blocks);
    blocks
}

/// Clients write one block right behind the other: two texts get a line break between them.
fn part_texts(blocks: &mut [Block<'_>]) {
    for at in 1..blocks.len() {
        let (before, rest) = blocks.split_at_mut(at);
        if let (Some(Block::Text(before)), Some(Block::Text(next))) = (before.last(), rest.first_mut())
            && !before.text.is_empty()
            && !before.text.ends_with('\n')
            && !next.text.starts_with('\n')
        {
            next.text.to_mut().insert(0, '\n');
        }
    }
}

fn block<'a>(part: &'a Part, tool: impl Fn(ToolRunId) -> Option<ToolName<'a>>) -> Option<Block<'a>> {
    Some(match part {
        Part::Text(text) => text_block(text),
        Part::Thought { text, signature } => Block::Thinking(ThinkingBlock {
            of: of::THINKING,
            thinking: text.into(),
            thinking_signature: signature.as_deref().map(Into::into),
        }),
        Part::Image { mime, base64 } => {
            Block::Image(ImageBlock { of: of::IMAGE, data: (&**base64).into(), mime_type: mime.into() })
        }
        Part::Code { language, text, path } => {
            text_block(fenced(language.as_deref().unwrap_or(""), path.as_deref(), text))
        }
        Part::Diff { path, text } => text_block(fenced("diff", path.as_deref(), text)),
        Part::Tool(id) => {
            let (name, args) = tool(*id)?;
            Block::ToolCall(ToolCallBlock {
                of: of::TOOL_CALL,
                id: id.to_string(),
                name: name.into(),
                arguments: Some(arguments(args)),
            })
        }
        Part::Opaque { .. } if part.is_private() => return None,
        Part::Opaque { kind, json } => text_block(fenced("json", Some(kind), json.as_str())),
    })
}

/// A fence long enough for what stands in it.
fn fenced(language: &str, path: Option<&str>, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let head = path.map(|path| format!("{path}\n")).unwrap_or_default();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{head}{fence}{language}\n{text}{end}{fence}\n")
}

/// The person's words as a message.
pub(super) fn user_message(parts: &[Part], at: Millis) -> Message<'_> {
    let content = match parts {
        [Part::Text(text)] => Content::Text(text.into()),
        parts => Content::Blocks(blocks(parts, |_| None)),
    };
    Message::User(UserMessage { of: of::USER, content, timestamp: at.0 })
}

/// Why a message of the model ended.
pub(super) fn stop_reason(finish: &Finish, with_tools: bool) -> &'static str {
    match finish {
        Finish::Complete if with_tools => "tool_use",
        Finish::Complete | Finish::Refused => "stop",
        Finish::Length => "length",
        Finish::Interrupted => "aborted",
        Finish::Failed | Finish::Cut => "error",
    }
}

/// A message of the model; without `finish` it is still being written.
pub(super) fn assistant_message<'a>(
    content: Vec<Block<'a>>,
    model: Option<&'a ModelRef>,
    finish: Option<&Finish>,
    usage: Option<domain::content::Usage>,
    at: Millis,
) -> AssistantMessage<'a> {
    let ModelId { provider, id } = model_id(model);
    let with_tools = content.iter().any(|block| matches!(block, Block::ToolCall(_)));
    let broken = match finish {
        Some(Finish::Failed) => Some("The model's answer broke off."),
        Some(Finish::Cut) => Some("The model's answer broke off; it is asked again."),
        Some(Finish::Refused) => Some("The model or its provider declined to answer."),
        Some(Finish::Complete | Finish::Length | Finish::Interrupted) | None => None,
    };
    AssistantMessage {
        of: of::ASSISTANT,
        content,
        provider,
        model: id,
        api: API,
        usage: usage.map(usage_of),
        stop_reason: finish.map(|finish| stop_reason(finish, with_tools).into()),
        error_message: broken.map(Into::into),
        timestamp: at.0,
    }
}

/// Clients add tokens up, and on this wire the cached ones stand apart.
pub(super) fn usage_of(usage: domain::content::Usage) -> Usage {
    #[expect(clippy::cast_precision_loss, reason = "a cost in dollars is only shown")]
    let total = usage.cost_micros as f64 / 1_000_000.0;
    Usage {
        of: of::USAGE,
        input: usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write),
        output: usage.output,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        total_tokens: usage.total(),
        cost: Cost { of: of::COST, input: 0.0, output: 0.0, cache_read: 0.0, cache_write: 0.0, total },
    }
}

/// Whether the wire tells this end of a tool as an error.
pub(super) fn is_error(outcome: &ToolOutcome) -> bool {
    *outcome != ToolOutcome::Done
}

/// What a tool gave back: its text and what can be shown beside it.
pub(super) fn tool_result(result: &domain::tool::ToolResult) -> ToolResult<'_> {
    let text = middle_out(&result.text, MAX_RESULT_TEXT);
    let mut room = MAX_RESULT_TEXT.saturating_sub(text.len()).max(MAX_ARG_TEXT);
    let mut content = vec![text_block(text)];
    for mut block in blocks(&result.parts, |_| None) {
        if let Block::Text(TextBlock { text, .. }) = &mut block {
            *text = middle_out(text, room).into_owned().into();
            room = room.saturating_sub(text.len()).max(MAX_ARG_TEXT);
        }
        content.push(block);
    }
    part_texts(&mut content);
    let details = result.json.as_ref().filter(|json| json.as_str().len() <= MAX_DETAILS);
    ToolResult { of: of::RESULT, content, details: details.map(raw) }
}

/// The message that puts a tool's result into the conversation; `None` while the tool has not ended, and for one that was passed over
/// with its run: a result would say that it was carried out.
pub(super) fn tool_message(tool: &ToolRun) -> Option<ToolResultMessage<'_>> {
    let domain::tool::ToolPhase::Ended(outcome) = &tool.phase else { return None };
    if *outcome == ToolOutcome::Cancelled && tool.started_at.is_none() {
        return None;
    }
    let ToolResult { content, details, .. } = tool_result(tool.result.as_ref()?);
    Some(ToolResultMessage {
        of: of::TOOL_RESULT,
        tool_call_id: tool.id.to_string(),
        tool_name: tool.name.as_str().into(),
        content,
        details,
        is_error: is_error(outcome),
        timestamp: tool.ended_at.unwrap_or(tool.proposed_at).0,
    })
}

/// The existing clients show `warn`, the document's word, like any other word they do not know.
pub(super) fn notify_type(level: Level, compat: Compat) -> NotifyType {
    match (level, compat) {
        (Level::Info, _) => NotifyType::Info,
        (Level::Success, _) => NotifyType::Success,
        (Level::Warning, Compat::Peer) => NotifyType::Warning,
        (Level::Warning, Compat::Seed) => NotifyType::Warn,
        (Level::Error, _) => NotifyType::Error,
    }
}

/// A signal as a line; `None` for the one that this wire has no word for.
pub(super) fn signal(signal: &Signal, compat: Compat) -> Option<Frame<'_>> {
    Some(match signal {
        Signal::Notify { level, text } => {
            let notify_type = Some(notify_type(*level, compat));
            let params = Notify { message: text.into(), notify_type, other_type: None };
            Frame::UiNotify(Params { params })
        }
        Signal::Status { key, text } => Frame::UiStatus(Params {
            params: Status { key: key.into(), text: text.as_deref().map(Into::into) },
        }),
        Signal::Working(text) => {
            Frame::UiWorking(Params { params: Working { message: text.as_deref().map(Into::into) } })
        }
        Signal::Widget { key, lines, place } => {
            let position = match place {
                WidgetPlace::Above => Position::Above,
                WidgetPlace::Below => Position::Below,
            };
            let content = (!lines.is_empty()).then(|| lines.join("\n").into());
            let params = Widget { key: key.into(), content, opts: WidgetOpts { position } };
            Frame::UiWidget(Params { params })
        }
        Signal::Title(title) => Frame::UiSetTitle(Params { params: Title { title: title.into() } }),
        Signal::EditorText(text) => {
            Frame::UiSetEditorText(Params { params: EditorText { text: text.into() } })
        }
        Signal::Suggestion { .. } => return None,
    })
}
