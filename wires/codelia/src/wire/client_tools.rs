//! Tools that a UI offers with a run and performs itself: `client.tool.*`. All of it is `[L]`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use wire::lenient::{null_as_default, opt_whole_u64};

/// A tool that the UI performs, in `tools` of `run.start`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientTool {
    pub name: String,
    /// What it does and when to take it.
    #[serde(default, deserialize_with = "null_as_default")]
    pub description: String,
    /// JSON schema of its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Box<RawValue>>,
    /// How long a call may take; a minute if absent.
    #[serde(default, deserialize_with = "opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// `default`, or `never` when nobody has to be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
}

/// Parameters of `client.tool.call`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientToolCallParams {
    pub run_id: String,
    pub name: String,
    /// The arguments, where they are an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Box<RawValue>>,
    /// The same as the model wrote them.
    pub raw_arguments: String,
}

/// What came of a call.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientToolCallResult {
    pub ok: bool,
    /// Anything, or `{type: text | json | parts}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<serde_json::Value>,
    /// Why it did not work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Parameters of `client.tool.cancel`: nobody waits for that call any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientToolCancelParams {
    /// The id of the call.
    pub request_id: String,
    pub run_id: String,
    pub name: String,
    /// `timeout`; ours also says `cancelled`.
    pub reason: String,
}
