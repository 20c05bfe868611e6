//! Lines as Claude Code and the programs that drive it write them. No logic.
//!
//! Kinds and members that are not here are not read; a kind that nobody knows is told apart from one that is passed over.

use ::wire::lenient;
use domain::content::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A line of the program.
#[derive(Debug)]
pub enum FromAgent {
    Init(Box<Init>),
    Status(Status),
    Compacted(CompactNote),
    Retry(Retry),
    /// Words for the person, with how loud they are.
    Told(Told),
    Commands(Vec<SlashCommand>),
    Assistant(AssistantLine),
    User(UserLine),
    Stream(StreamLine),
    Result(Box<TurnResult>),
    Asks {
        id: String,
        request: AgentRequest,
    },
    Answers {
        id: String,
        outcome: Result<Value, String>,
    },
    TakesBack {
        id: String,
    },
    Suggests(String),
    /// Nothing that is shown.
    Beside,
    /// A kind that is not known.
    Unknown(String),
}

/// What the line is.
#[derive(Debug, Deserialize)]
struct Head {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    subtype: Option<String>,
}

/// Kinds that say nothing about the conversation.
const BESIDE: &[&str] = &[
    "keep_alive",
    "auth_status",
    "rate_limit_event",
    "tool_progress",
    "tool_use_summary",
    "transcript_mirror",
    "streamlined_text",
    "streamlined_tool_use_summary",
    "active_goal",
];
/// The same for notes of the system.
const BESIDE_NOTES: &[&str] = &[
    "thinking_tokens",
    "task_started",
    "task_progress",
    "task_updated",
    "task_notification",
    "background_tasks_changed",
    "session_state_changed",
    "files_persisted",
    "hook_started",
    "hook_progress",
    "hook_response",
    "memory_recall",
    "plugin_install",
    // The result of the call says the same.
    "permission_denied",
    "elicitation_complete",
    "control_request_progress",
];

/// Reads a line.
///
/// # Errors
/// When it is no object with a type, or lacks what its type must have.
pub fn read(line: &str) -> Result<FromAgent, serde_json::Error> {
    let Head { kind, subtype } = serde_json::from_str(line)?;
    Ok(match kind.as_str() {
        "system" => return read_note(subtype.as_deref().unwrap_or_default(), line),
        "assistant" => FromAgent::Assistant(serde_json::from_str(line)?),
        "user" => FromAgent::User(serde_json::from_str(line)?),
        "stream_event" => FromAgent::Stream(serde_json::from_str(line)?),
        "result" => FromAgent::Result(serde_json::from_str(line)?),
        "control_request" => {
            let ControlRequest { request_id: id, request } = serde_json::from_str(line)?;
            FromAgent::Asks { id, request }
        }
        "control_response" => {
            let ControlResponse { response } = serde_json::from_str(line)?;
            let ControlOutcome { subtype, request_id: id, response, error } = response;
            let outcome = if subtype == "error" { Err(error) } else { Ok(response) };
            FromAgent::Answers { id, outcome }
        }
        "control_cancel_request" => {
            FromAgent::TakesBack { id: serde_json::from_str::<ControlCancel>(line)?.request_id }
        }
        "prompt_suggestion" => FromAgent::Suggests(serde_json::from_str::<Suggestion>(line)?.suggestion),
        known if BESIDE.contains(&known) => FromAgent::Beside,
        _ => FromAgent::Unknown(kind),
    })
}

fn read_note(subtype: &str, line: &str) -> Result<FromAgent, serde_json::Error> {
    Ok(match subtype {
        "init" => FromAgent::Init(serde_json::from_str(line)?),
        "status" => FromAgent::Status(serde_json::from_str(line)?),
        "compact_boundary" => FromAgent::Compacted(serde_json::from_str(line)?),
        "api_retry" => FromAgent::Retry(serde_json::from_str(line)?),
        "informational"
        | "notification"
        | "local_command_output"
        | "model_refusal_fallback"
        | "model_refusal_no_fallback"
        | "mirror_error"
        | "session_writes_lost" => FromAgent::Told(serde_json::from_str(line)?),
        "commands_changed" => FromAgent::Commands(serde_json::from_str::<CommandList>(line)?.commands),
        known if BESIDE_NOTES.contains(&known) => FromAgent::Beside,
        _ => FromAgent::Unknown(format!("system/{subtype}")),
    })
}

/// Comes at the begin of every turn, and not before the first prompt.
#[derive(Debug, Default, Deserialize)]
pub struct Init {
    pub session_id: String,
    #[serde(default)]
    pub cwd: String,
    #[serde(default)]
    pub model: String,
    #[serde(rename = "permissionMode", default)]
    pub permission_mode: Option<String>,
    #[serde(default)]
    pub slash_commands: Vec<String>,
    #[serde(default)]
    pub claude_code_version: String,
}

/// What the program is busy with right now; where it names a permission mode, that one holds from here on.
#[derive(Debug, Deserialize)]
pub struct Status {
    /// `requesting`, `compacting` or nothing.
    #[serde(default)]
    pub status: Option<String>,
    #[serde(rename = "permissionMode", default)]
    pub permission_mode: Option<String>,
}

/// Comes when the conversation was summed up, before the line with the words of the summary.
#[derive(Debug, Deserialize)]
pub struct CompactNote {
    #[serde(default)]
    pub compact_metadata: CompactMetadata,
}

/// Why it was summed up (`manual` when it was asked for), and how large the conversation was before.
#[derive(Debug, Default, Deserialize)]
pub struct CompactMetadata {
    #[serde(default)]
    pub trigger: String,
    #[serde(default, deserialize_with = "lenient::whole_or_zero")]
    pub pre_tokens: u64,
    #[serde(default)]
    pub preserved_messages: Preserved,
}

/// Lines that were kept beside a summary, and come again after it.
#[derive(Debug, Default, Deserialize)]
pub struct Preserved {
    #[serde(default)]
    pub all_uuids: BTreeSet<String>,
}

/// A request to the model failed and is made again. Without a status no answer came at all.
#[derive(Debug, Deserialize)]
pub struct Retry {
    #[serde(default, deserialize_with = "lenient::whole_or_zero")]
    pub attempt: u64,
    #[serde(default, deserialize_with = "lenient::whole_or_zero")]
    pub max_retries: u64,
    #[serde(default, deserialize_with = "lenient::whole_or_zero")]
    pub retry_delay_ms: u64,
    #[serde(default)]
    pub error_status: Option<u16>,
    #[serde(default)]
    pub error: Value,
}

/// Several kinds of notes share it: the words stand in `content` or in `text`, or there are none besides the subtype.
#[derive(Debug, Deserialize)]
pub struct Told {
    pub subtype: String,
    #[serde(default)]
    pub content: Option<String>,
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub level: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Suggestion {
    suggestion: String,
}

#[derive(Debug, Deserialize)]
struct CommandList {
    commands: Vec<SlashCommand>,
}

/// Only the name is certain: what is learned from the begin of a turn has neither description nor hint.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct SlashCommand {
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(rename = "argumentHint", default)]
    pub hint: String,
}

/// What answers `initialize`.
#[derive(Debug, Default, Deserialize)]
pub struct Initialized {
    #[serde(default)]
    pub commands: Vec<SlashCommand>,
    #[serde(default)]
    pub models: Vec<ModelChoice>,
}

/// A model as it can be set: `value` may be an alias such as `default`, and `resolved` is what then answers.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ModelChoice {
    pub value: String,
    #[serde(rename = "resolvedModel", default)]
    pub resolved: String,
    #[serde(rename = "displayName", default)]
    pub name: String,
    #[serde(default)]
    pub description: Option<String>,
}

/// A message of the model, one block in each line.
#[derive(Debug, Deserialize)]
pub struct AssistantLine {
    pub message: ModelMessage,
    /// The call whose agent says it.
    #[serde(default)]
    pub parent_tool_use_id: Option<String>,
    /// It says that the model could not be asked.
    #[serde(default)]
    pub error: Option<String>,
    #[serde(default)]
    pub uuid: String,
}

/// Lines with the same id are parts of one response. The id is also that of the stream that told its words before.
#[derive(Debug, Deserialize)]
pub struct ModelMessage {
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub content: Vec<Block>,
    #[serde(default)]
    pub usage: Option<Tokens>,
}

/// A message that begins.
#[derive(Debug, Deserialize)]
pub struct MessageHead {
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub usage: Option<Tokens>,
}

/// Tokens of one response, or of all of a turn.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub struct Tokens {
    #[serde(default, deserialize_with = "lenient::whole_or_zero")]
    pub input_tokens: u64,
    #[serde(default, deserialize_with = "lenient::whole_or_zero")]
    pub output_tokens: u64,
    #[serde(default, deserialize_with = "lenient::whole_or_zero")]
    pub cache_creation_input_tokens: u64,
    #[serde(default, deserialize_with = "lenient::whole_or_zero")]
    pub cache_read_input_tokens: u64,
}

/// A block that the model says; members by its type.
#[derive(Debug, Default, Deserialize)]
pub struct Block {
    #[serde(rename = "type", default)]
    pub kind: String,
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub thinking: Option<String>,
    /// Of a call.
    #[serde(default)]
    pub id: Option<String>,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub input: Option<Json>,
}

/// A block that goes to the model: the result of a call, a part of one, or words.
#[derive(Debug, Default, Deserialize)]
pub struct ToldBlock {
    #[serde(rename = "type", default)]
    pub kind: String,
    #[serde(default)]
    pub text: Option<String>,
    /// Of a result.
    #[serde(default)]
    pub tool_use_id: Option<String>,
    #[serde(default)]
    pub content: Option<Content>,
    #[serde(default)]
    pub is_error: Option<bool>,
    /// Of a picture.
    #[serde(default)]
    pub source: Option<Source>,
}

/// A text, or blocks.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Content {
    Text(String),
    Blocks(Vec<ToldBlock>),
}

/// The bytes of a picture. Only those of kind `base64` are read and written; one of another kind is not shown.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Source {
    #[serde(rename = "type", default)]
    pub kind: String,
    #[serde(default)]
    pub media_type: String,
    #[serde(default)]
    pub data: String,
}

/// What goes to the model: results of calls, and what the program says in the person's name.
#[derive(Debug, Deserialize)]
pub struct UserLine {
    pub message: UserMessage,
    #[serde(default)]
    pub parent_tool_use_id: Option<String>,
    /// The result as the program keeps it.
    #[serde(default)]
    pub tool_use_result: Option<Value>,
}

/// A text alone may be a summary or what a slash command printed; results of calls come as blocks.
#[derive(Debug, Deserialize)]
pub struct UserMessage {
    pub content: Content,
}

/// A piece of a message before all of it is there; the message comes again in whole lines.
#[derive(Debug, Deserialize)]
pub struct StreamLine {
    pub event: StreamEvent,
    #[serde(default)]
    pub parent_tool_use_id: Option<String>,
}

/// An event of the model's stream; others than these are passed over.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamEvent {
    MessageStart {
        message: MessageHead,
    },
    ContentBlockDelta {
        delta: Delta,
    },
    MessageDelta {
        #[serde(default)]
        usage: Option<Tokens>,
    },
    #[serde(other)]
    Other,
}

/// A piece of words or of a thought. One of a call's input has neither and is passed over: the call comes whole.
#[derive(Debug, Default, Deserialize)]
pub struct Delta {
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub thinking: Option<String>,
}

/// A turn is over.
#[derive(Debug, Default, Deserialize)]
pub struct TurnResult {
    pub subtype: String,
    #[serde(default)]
    pub is_error: bool,
    #[serde(default)]
    pub result: Option<String>,
    #[serde(default)]
    pub errors: Vec<String>,
    #[serde(default)]
    pub api_error_status: Option<u16>,
    #[serde(default)]
    pub stop_reason: Option<String>,
    #[serde(default)]
    pub terminal_reason: Option<String>,
    #[serde(default)]
    pub session_id: String,
    /// Of all turns of this process.
    #[serde(default)]
    pub total_cost_usd: f64,
    #[serde(default)]
    pub usage: Tokens,
    #[serde(rename = "modelUsage", default)]
    pub model_usage: BTreeMap<String, ModelUse>,
}

/// Read only for the size of the context window; the largest of a turn's models is shown.
#[derive(Debug, Default, Deserialize)]
pub struct ModelUse {
    #[serde(rename = "contextWindow", default, deserialize_with = "lenient::whole_or_zero")]
    pub context_window: u64,
}

#[derive(Debug, Deserialize)]
struct ControlRequest {
    request_id: String,
    request: AgentRequest,
}

/// What the program asks; members by its subtype.
#[derive(Debug, Default, Deserialize)]
pub struct AgentRequest {
    pub subtype: String,
    #[serde(default)]
    pub tool_name: String,
    #[serde(default)]
    pub tool_use_id: String,
    #[serde(default)]
    pub input: Option<Json>,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub decision_reason: Option<String>,
    #[serde(default)]
    pub blocked_path: Option<String>,
    #[serde(default)]
    pub permission_suggestions: Vec<Value>,
    #[serde(default)]
    pub suppress_always_allow_rule: bool,
}

#[derive(Debug, Deserialize)]
struct ControlResponse {
    response: ControlOutcome,
}

#[derive(Debug, Deserialize)]
struct ControlOutcome {
    subtype: String,
    request_id: String,
    #[serde(default)]
    response: Value,
    #[serde(default)]
    error: String,
}

#[derive(Debug, Deserialize)]
struct ControlCancel {
    request_id: String,
}

/// A line to the program.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToAgent<'a> {
    User { message: Prompt, parent_tool_use_id: Option<String>, session_id: &'a str },
    ControlRequest { request_id: &'a str, request: UiRequest<'a> },
    ControlResponse { response: UiResponse<'a> },
}

/// What the person says; `role` is always `user`.
#[derive(Debug, Serialize)]
pub struct Prompt {
    pub role: &'static str,
    pub content: PromptContent,
}

/// A text alone is written as one: only then is it read as a command.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum PromptContent {
    Text(String),
    Blocks(Vec<PromptBlock>),
}

/// Used where something is attached: files become fenced text, since only text and pictures are taken.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PromptBlock {
    Text { text: String },
    Image { source: Source },
}

/// Each is answered by its id, or given up after a while. `Initialize` is the first, and commands wait for its answer.
#[derive(Debug, Serialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub enum UiRequest<'a> {
    Initialize,
    Interrupt,
    SetPermissionMode { mode: &'a str },
    SetModel { model: &'a str },
}

/// `Error` only answers a request that is not offered here; a no of the person is a `Success` that denies.
#[derive(Debug, Serialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub enum UiResponse<'a> {
    Success { request_id: &'a str, response: Decision },
    Error { request_id: &'a str, error: &'a str },
}

/// A yes gives the input back, with the answers where it was a form. A no with `interrupt` ends the turn as well.
#[derive(Debug, Serialize)]
#[serde(tag = "behavior", rename_all = "snake_case")]
pub enum Decision {
    Allow {
        #[serde(rename = "updatedInput")]
        updated_input: Json,
        #[serde(rename = "updatedPermissions", skip_serializing_if = "Vec::is_empty")]
        updated_permissions: Vec<Value>,
    },
    Deny {
        message: String,
        interrupt: bool,
    },
}
