//! Sessions: made, loaded, listed, left; how they are set; and prompts.

use super::content::{ConfigValue, ContentBlock};
use super::open::{Raw, object, union, words};
use super::own::Meta;
use serde::{Deserialize, Serialize};
use wire::WireId;
use wire::lenient::null_as_default;

object! {
    struct NewSessionParams {
        cwd: String,
        list additional_directories: String,
        #[serde(deserialize_with = "null_as_default")]
        mcp_servers: Vec<McpServer>,
        #[serde(rename = "_meta")]
        opt meta: Meta,
    }
}

object! {
    struct LoadSessionParams {
        session_id: String,
        cwd: String,
        list additional_directories: String,
        #[serde(deserialize_with = "null_as_default")]
        mcp_servers: Vec<McpServer>,
        #[serde(rename = "_meta")]
        opt meta: Meta,
    }
}

object! {
    struct ResumeSessionParams {
        session_id: String,
        cwd: String,
        list additional_directories: String,
        list mcp_servers: McpServer,
        #[serde(rename = "_meta")]
        opt meta: Meta,
    }
}

object! {
    /// A server of tools that the client passes on: a command without a type, an address with one.
    struct McpServer {
        #[serde(rename = "type")]
        opt kind: String,
        name: String,
        opt command: String,
        opt args: Vec<String>,
        opt env: Vec<Named>,
        opt url: String,
        opt headers: Vec<Named>,
    }
}

object! {
    struct Named {
        name: String,
        value: String,
    }
}

object! {
    struct NewSessionResult {
        session_id: String,
        opt modes: ModeState,
        opt config_options: Vec<ConfigOption>,
        /// Of older agents, in no schema.
        #[cfg_attr(feature = "schema", schemars(skip))]
        opt models: ModelState,
        #[serde(rename = "_meta")]
        opt meta: Meta,
    }
}

object! {
    /// How a session is set that was there before.
    struct SessionSetup {
        opt modes: ModeState,
        opt config_options: Vec<ConfigOption>,
        #[cfg_attr(feature = "schema", schemars(skip))]
        opt models: ModelState,
        #[serde(rename = "_meta")]
        opt meta: Meta,
    }
}

object! {
    struct ModeState {
        current_mode_id: String,
        available_modes: Vec<SessionMode>,
    }
}

object! {
    struct SessionMode {
        id: String,
        name: String,
        opt description: String,
    }
}

object! {
    struct ModelState {
        #[serde(default)]
        current_model_id: String,
        list available_models: ModelInfo,
    }
}

object! {
    struct ModelInfo {
        model_id: String,
        #[serde(default)]
        name: String,
        opt description: String,
    }
}

union! {
    enum ConfigOption by "type" {
        "select" => Select(SelectOption),
        #[cfg_attr(feature = "schema", schemars(skip))]
        "boolean" => Switch(SwitchOption),
    }
}

impl ConfigOption {
    /// Its id and what it is about.
    pub fn about(&self) -> Option<(&str, Option<&Category>)> {
        match self {
            ConfigOption::Select(option) => Some((&option.id, option.category.as_ref())),
            ConfigOption::Switch(option) => Some((&option.id, option.category.as_ref())),
            ConfigOption::Unknown(_) => None,
        }
    }
}

words! {
    enum Category {
        #[default]
        "mode" => Mode,
        "model" => Model,
        #[cfg_attr(feature = "schema", schemars(skip))]
        "model_config" => ModelConfig,
        "thought_level" => ThoughtLevel,
    }
}

object! {
    struct SelectOption {
        id: String,
        name: String,
        opt description: String,
        opt category: Category,
        current_value: String,
        options: Vec<SelectEntry>,
    }
}

object! {
    struct SwitchOption {
        id: String,
        name: String,
        opt description: String,
        opt category: Category,
        current_value: bool,
    }
}

/// A choice, or several under a headline.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum SelectEntry {
    Choice(SelectChoice),
    #[cfg_attr(feature = "schema", schemars(skip))]
    Group(SelectGroup),
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown(Raw),
}

impl<'de> Deserialize<'de> for SelectEntry {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<SelectEntry, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let known = if raw.word("group").is_some() {
            serde_json::from_str(raw.text()).map(SelectEntry::Group)
        } else {
            serde_json::from_str(raw.text()).map(SelectEntry::Choice)
        };
        Ok(known.unwrap_or(SelectEntry::Unknown(raw)))
    }
}

object! {
    struct SelectChoice {
        value: String,
        name: String,
        opt description: String,
    }
}

object! {
    struct SelectGroup {
        group: String,
        name: String,
        options: Vec<SelectChoice>,
    }
}

impl SelectOption {
    /// Every choice, whatever headline it stands under.
    pub fn choices(&self) -> impl Iterator<Item = &SelectChoice> {
        self.options.iter().flat_map(|entry| match entry {
            SelectEntry::Choice(choice) => std::slice::from_ref(choice),
            SelectEntry::Group(group) => &group.options,
            SelectEntry::Unknown(_) => &[],
        })
    }
}

object! {
    struct ListSessionsParams {
        opt cwd: String,
        opt cursor: String,
        #[serde(rename = "_meta")]
        opt meta: Meta,
    }
}

object! {
    struct ListSessionsResult {
        sessions: Vec<SessionInfo>,
        opt next_cursor: String,
    }
}

object! {
    struct SessionInfo {
        session_id: String,
        cwd: String,
        list additional_directories: String,
        opt title: String,
        opt updated_at: String,
        #[serde(rename = "_meta", deserialize_with = "wire::lenient::or_default")]
        opt meta: Meta,
    }
}

object! {
    struct CloseSessionParams {
        session_id: String,
    }
}

object! {
    struct DeleteSessionParams {
        session_id: String,
    }
}

object! {
    struct SetModeParams {
        session_id: String,
        mode_id: String,
    }
}

object! {
    struct SetModelParams {
        session_id: String,
        model_id: String,
    }
}

object! {
    struct SetTitleParams {
        session_id: String,
        title: String,
    }
}

object! {
    /// The title as it is kept.
    struct SetTitleResult {
        title: String,
    }
}

object! {
    struct SetConfigOptionParams {
        session_id: String,
        config_id: String,
        /// `boolean` where the value is a switch.
        #[serde(rename = "type")]
        opt kind: String,
        value: ConfigValue,
    }
}

object! {
    struct SetConfigOptionResult {
        config_options: Vec<ConfigOption>,
    }
}

object! {
    struct PromptParams {
        session_id: String,
        prompt: Vec<ContentBlock>,
        #[serde(rename = "_meta")]
        opt meta: Meta,
    }
}

object! {
    struct PromptResult {
        stop_reason: StopReason,
        #[serde(rename = "_meta")]
        opt meta: Meta,
    }
}

words! {
    enum StopReason {
        #[default]
        "end_turn" => EndTurn,
        "max_tokens" => MaxTokens,
        "max_turn_requests" => MaxTurnRequests,
        "refusal" => Refusal,
        "cancelled" => Cancelled,
    }
}

object! {
    struct CancelParams {
        session_id: String,
    }
}

/// Which request is taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CancelRequestParams {
    #[cfg_attr(feature = "schema", schemars(with = "NumberOrText"))]
    pub request_id: WireId,
}

/// An id as a schema sees it.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema, Serialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum NumberOrText {
    Number(i64),
    Text(String),
}

object! {
    /// An extension in wide use: something that is said into the run under way.
    struct SteeringParams {
        session_id: String,
        prompt: Vec<ContentBlock>,
        #[serde(rename = "_meta")]
        opt meta: Meta,
    }
}

object! {
    struct SteeringResult {
        outcome: SteeringOutcome,
    }
}

words! {
    enum SteeringOutcome {
        #[default]
        "injected" => Injected,
        "startedNewTurn" => StartedNewTurn,
        "promptRequired" => PromptRequired,
        "failed" => Failed,
    }
}
