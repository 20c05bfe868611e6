//! What happens in a run: Elixir tuples, each a tag and an array.
//!
//! Written, a tuple has exactly the document's elements. Read, it is taken element by element: existing servers leave out empty arrays
//! and elements at the end, and put more there than the document has.

use super::Words;
use super::message::{Block, Message, ToolResult};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use wire::lenient::{null_as_default, opt_whole_u64, whole_or_zero};

/// An event on its line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventLine<'a> {
    /// `[L]`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Cow<'a, str>>,
    /// `[L]` From 0, by one, per session.
    #[serde(default, deserialize_with = "opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub event_seq: Option<u64>,
    pub event: Event<'a>,
}

/// A tuple of no elements.
pub type Nothing = [u8; 0];
/// JSON as it came.
pub type Raw<'a> = Cow<'a, RawValue>;

/// A tuple, its tag and its elements. Elements that we have no use for are not read.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum Event<'a> {
    /// A run begins.
    AgentStart(Nothing),
    /// A run is over; its messages.
    AgentEnd((Vec<Message<'a>>,)),
    /// A step begins.
    TurnStart(Nothing),
    /// A step is over: its message, and those of its tools.
    TurnEnd(Box<Message<'a>>, Vec<Message<'a>>),
    /// A message begins.
    MessageStart((Box<Message<'a>>,)),
    /// A message so far, and what changed last.
    MessageUpdate(Box<Message<'a>>, Change<'a>),
    /// A message is whole.
    MessageEnd((Box<Message<'a>>,)),
    /// A tool runs: id, name, arguments.
    ToolExecutionStart(String, Cow<'a, str>, Option<Raw<'a>>),
    /// A tool goes on: id, name, arguments, result so far.
    ToolExecutionUpdate(String, Cow<'a, str>, Option<Raw<'a>>, ToolResult<'a>),
    /// A tool has ended: id, name, result, whether it went wrong.
    ToolExecutionEnd(String, Cow<'a, str>, ToolResult<'a>, bool),
    /// The run broke: why, and the state it was in, which is null from us.
    Error(Words<'a>, ()),
    /// The run was stopped: why.
    Canceled((Cow<'a, str>,)),
    /// `[L]` A summary is in the place of older messages.
    CompactionComplete((Compaction<'a>,)),
    /// Goodbye.
    Quit(Nothing),
    /// `[L]` Another branch of the conversation was summarised. Not said by us.
    #[serde(skip)]
    BranchSummarized,
    /// `[L]` Said by later servers, with nothing for the person in it.
    #[serde(skip)]
    Idle,
    /// A tuple that lacks what it is about.
    #[serde(skip)]
    Odd(&'static str, String),
    /// Something else, by its tag.
    #[serde(skip)]
    Unknown(String),
}

impl<'de> Deserialize<'de> for Event<'_> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Tuple {
            #[serde(rename = "type")]
            kind: String,
            #[serde(default, deserialize_with = "null_as_default")]
            data: Vec<Box<RawValue>>,
        }
        let Tuple { kind, data } = Tuple::deserialize(reader)?;
        let data: Vec<&RawValue> = data.iter().map(AsRef::as_ref).collect();
        let message = || element(&data, 0).map(Box::new);
        let tool = || element::<String>(&data, 0);
        let name = || element::<String>(&data, 1).unwrap_or_default().into();
        let read = match kind.as_str() {
            "agent_start" => Some(Event::AgentStart([])),
            "agent_end" => Some(Event::AgentEnd((Vec::new(),))),
            "turn_start" => Some(Event::TurnStart([])),
            "turn_end" => {
                let message = message().unwrap_or_else(|| Box::new(Message::Unknown(String::new())));
                Some(Event::TurnEnd(message, element(&data, 1).unwrap_or_default()))
            }
            "message_start" => message().map(|message| Event::MessageStart((message,))),
            "message_update" => message().map(|message| Event::MessageUpdate(message, Change::default())),
            "message_end" => message().map(|message| Event::MessageEnd((message,))),
            "tool_execution_start" => {
                let args = data.get(2).map(|raw| Cow::Owned((*raw).to_owned()));
                tool().map(|tool| Event::ToolExecutionStart(tool, name(), args))
            }
            "tool_execution_update" => {
                let result = element(&data, 3).unwrap_or_default();
                tool().map(|tool| Event::ToolExecutionUpdate(tool, name(), None, result))
            }
            "tool_execution_end" => {
                let result = element(&data, 2).unwrap_or_default();
                let failed = element(&data, 3).unwrap_or_default();
                tool().map(|tool| Event::ToolExecutionEnd(tool, name(), result, failed))
            }
            "error" => Some(Event::Error(element(&data, 0).unwrap_or_default(), ())),
            "canceled" | "cancelled" => Some(Event::Canceled((Cow::default(),))),
            "compaction_complete" => {
                Some(Event::CompactionComplete((element(&data, 0).unwrap_or_default(),)))
            }
            "quit" => Some(Event::Quit([])),
            "branch_summarized" => Some(Event::BranchSummarized),
            "extension_status_report" | "tool_schema_snapshot" | "loop_state_transition" => Some(Event::Idle),
            _ => Some(Event::Unknown(kind.clone())),
        };
        let lacks = if kind.starts_with("message") {
            "there is no message in it"
        } else {
            "its tuple has another shape"
        };
        Ok(read.unwrap_or(Event::Odd(lacks, kind)))
    }
}

fn element<T: DeserializeOwned>(data: &[&RawValue], at: usize) -> Option<T> {
    data.get(at).and_then(|raw| serde_json::from_str(raw.get()).ok())
}

/// What changed last in a partial message: how, in which block, and what came. The message itself is not repeated in it, since no
/// client reads that.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change<'a>(pub ChangeKind, pub u64, pub Changed<'a>);

/// How a partial message changed.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    #[default]
    TextDelta,
    ThinkingDelta,
    ToolCallEnd,
}

/// What came to a partial message.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Changed<'a> {
    /// More of a text.
    Text(Cow<'a, str>),
    /// A call of a tool.
    Block(Block<'a>),
    #[default]
    Nothing,
}

/// `[L]` A summary in the place of older messages.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Compaction<'a> {
    #[serde(default, deserialize_with = "null_as_default")]
    pub summary: Cow<'a, str>,
    /// The oldest entry that stays.
    #[serde(skip_deserializing)]
    pub first_kept_entry_id: Option<String>,
    #[serde(default, deserialize_with = "whole_or_zero")]
    pub tokens_before: u64,
}

/// What the `task` tool says about itself in the `details` of its result.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TaskDetails {
    /// The existing servers': what it does now.
    #[serde(default, skip_serializing)]
    pub current_action: Option<TaskAction>,
    /// Ours: how far it is, 0 to 100.
    #[serde(default, deserialize_with = "opt_whole_u64")]
    pub percent: Option<u64>,
    /// Ours: what it does now.
    #[serde(default)]
    pub message: Option<String>,
}

/// What the `task` tool does now.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct TaskAction {
    /// In words.
    #[serde(default, deserialize_with = "null_as_default")]
    pub title: String,
}
