//! Sessions, models, servers and skills: the messages that list what there is.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wire::lenient::{null_as_default, opt_whole_i64, opt_whole_u64, whole_u64};

/// Parameters of `session.list`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionListParams {
    /// At most; 50 if absent, no limit if zero or less.
    #[serde(default, deserialize_with = "opt_whole_i64", skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    /// `[L]` `current_workspace` or `all`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// `[L]` Which workspace, if not the runtime's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_root: Option<String>,
}

/// Result of `session.list`, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionListResult {
    pub sessions: Vec<SessionItem>,
    /// `[L]` The workspace that the list is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_workspace_root: Option<String>,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionItem {
    pub session_id: String,
    /// When something last happened, as RFC 3339.
    #[serde(default, deserialize_with = "null_as_default")]
    pub updated_at: String,
    /// Its last run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    #[serde(default, deserialize_with = "opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub message_count: Option<u64>,
    /// The last thing the person said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_user_message: Option<String>,
    /// `[L]` Where it belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_root: Option<String>,
}

/// Parameters of `session.history`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionHistoryParams {
    #[serde(default, deserialize_with = "null_as_default")]
    pub session_id: String,
    /// At most; 20 if absent.
    #[serde(default, deserialize_with = "opt_whole_i64", skip_serializing_if = "Option::is_none")]
    pub max_runs: Option<i64>,
    /// At most, the newest; 1500 if absent.
    #[serde(default, deserialize_with = "opt_whole_i64", skip_serializing_if = "Option::is_none")]
    pub max_events: Option<i64>,
}

/// Result of `session.history`; the events came before it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionHistoryResult {
    #[serde(deserialize_with = "whole_u64")]
    pub runs: u64,
    #[serde(deserialize_with = "whole_u64")]
    pub events_sent: u64,
    /// Whether older ones were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// `[L]` What is other than when the session was left, in lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_diff: Option<String>,
}

/// Parameters of `model.list`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelListParams {
    /// Whose models; the configured provider's if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Whether limits and prices are wanted.
    #[serde(default, deserialize_with = "null_as_default")]
    pub include_details: bool,
}

/// The models of one provider.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelListResult {
    #[serde(default, deserialize_with = "null_as_default")]
    pub provider: String,
    /// Their names.
    #[serde(default, deserialize_with = "null_as_default")]
    pub models: Vec<String>,
    /// The one in use, if it is among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// Limits and prices by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<BTreeMap<String, ModelDetails>>,
    /// `[L]` Where the current one comes from: `config` or `session`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// `[L]` How hard it thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

/// Limits and prices of a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelDetails {
    /// Tokens that fit.
    #[serde(default, deserialize_with = "opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// Tokens it may read.
    #[serde(default, deserialize_with = "opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub max_input_tokens: Option<u64>,
    /// Tokens it may write.
    #[serde(default, deserialize_with = "opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// `[L]` Dollars per million tokens read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_per_1m_input_tokens_usd: Option<f64>,
    /// `[L]` Dollars per million tokens written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_per_1m_output_tokens_usd: Option<f64>,
}

/// Parameters of `model.set`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelSetParams {
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// `[L]` How hard it shall think: `low`, `medium`, `high`, `xhigh` or `max`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// `[L]` Whether it shall answer sooner for more money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast: Option<bool>,
    /// `[L]` For how long: `config` or `session`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// `[L]` Back to the configured model.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "std::ops::Not::not")]
    pub reset: bool,
}

/// The model that is used from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelSetResult {
    #[serde(default, deserialize_with = "null_as_default")]
    pub provider: String,
    pub name: String,
    /// `[L]` For how long: `config` or `session`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// `[L]` How hard it thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

/// Parameters of `mcp.list`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpListParams {
    /// `loaded` or `configured`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

/// The configured servers and how they are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpListResult {
    pub servers: Vec<McpServer>,
}

/// How one configured server is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpServer {
    /// Its name.
    pub id: String,
    /// `http` or `stdio`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub transport: String,
    /// `project` or `global`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether it is switched on.
    #[serde(default, deserialize_with = "null_as_default")]
    pub enabled: bool,
    /// `disabled`, `connecting`, `ready`, `error`, `[L]` `auth_required`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub state: String,
    /// How many tools it offers.
    #[serde(default, deserialize_with = "opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub tools: Option<u64>,
    /// What last went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// When it last answered, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_connected_at: Option<String>,
}

/// Parameters of `skills.list`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkillsListParams {
    /// As seen from here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Look again.
    #[serde(default, deserialize_with = "null_as_default")]
    pub force_reload: bool,
}

/// The catalogue, and the files in it that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkillsListResult {
    pub skills: Vec<Skill>,
    /// What could not be read.
    #[serde(default, deserialize_with = "null_as_default")]
    pub errors: Vec<SkillError>,
    /// Whether there are more.
    #[serde(default, deserialize_with = "null_as_default")]
    pub truncated: bool,
}

/// An entry of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Skill {
    pub id: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub description: String,
    /// Its file.
    #[serde(default, deserialize_with = "null_as_default")]
    pub path: String,
    /// Its folder.
    #[serde(default, deserialize_with = "null_as_default")]
    pub dir: String,
    /// `repo` or `user`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub scope: String,
    /// When the file changed, in milliseconds since 1970. May have a fraction.
    #[serde(default, deserialize_with = "floor_u64")]
    pub mtime_ms: u64,
}

/// File times of the existing runtime have fractions of a millisecond.
fn floor_u64<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let number = Option::<f64>::deserialize(deserializer)?.unwrap_or_default();
    Ok(if number.is_finite() && number > 0.0 { number as u64 } else { 0 })
}

/// A skill that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkillError {
    /// Its file.
    #[serde(default, deserialize_with = "null_as_default")]
    pub path: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub message: String,
}
