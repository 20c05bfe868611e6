//! Tool outcomes, decisions, results and progress.

use crate::written::{As, mirrored};
use domain::ask::{ActionDigest, Scope};
use domain::content::{Json, Part};
use domain::tool::{Decider, Decision, Progress, ToolOutcome, ToolResult};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ToolOutcome", rename_all = "snake_case")]
enum ToolOutcomeMirror {
    Done,
    Failed,
    Denied,
    Skipped,
    Cancelled,
    Unknown,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Decider", rename_all = "snake_case")]
enum DeciderMirror {
    Policy,
    Rule(String),
    Person(Option<String>),
    Foreign,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Decision")]
struct DecisionMirror {
    allowed: bool,
    #[serde(with = "As::<Decider>")]
    by: Decider,
    #[serde(with = "As::<Scope>")]
    scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(with = "As::<Option<ActionDigest>>", default, skip_serializing_if = "Option::is_none")]
    digest: Option<ActionDigest>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ToolResult")]
struct ToolResultMirror {
    #[serde(default)]
    text: String,
    #[serde(with = "As::<Vec<Part>>", default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Part>,
    // `Some(null)` and `None` differ, so the key is written exactly when there is a value.
    #[cfg_attr(feature = "schema", schemars(with = "As::<Json>"))]
    #[serde(with = "present", default, skip_serializing_if = "Option::is_none")]
    json: Option<Json>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

/// An optional JSON payload whose `null` is a value of its own.
mod present {
    use crate::Written;
    use domain::content::Json;
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Option<Json>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(json) => json.write(serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
        Json::read(deserializer).map(Some)
    }
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Progress", rename_all = "snake_case")]
enum ProgressMirror {
    Output(String),
    Replace(String),
    Status {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        percent: Option<u8>,
        message: String,
    },
}

mirrored!(
    ToolOutcome => ToolOutcomeMirror,
    Decider => DeciderMirror,
    Decision => DecisionMirror,
    ToolResult => ToolResultMirror,
    Progress => ProgressMirror,
);
