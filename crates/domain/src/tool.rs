//! Tool runs: proposed, awaiting consent, running, ended. None starts without a recorded decision.

use crate::ask::{ActionDigest, Scope};
use crate::content::{Json, Part};
use crate::ids::{AskId, MessageId, Millis, RunId, StepId, ToolRunId};
use serde::{Deserialize, Serialize};

/// Where a tool run stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ToolPhase {
    /// The model wants it.
    Proposed,
    /// A person is asked.
    Awaiting(AskId),
    /// It may run.
    Allowed,
    /// It runs.
    Running,
    /// It is over.
    Ended(ToolOutcome),
}

/// How a tool run ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    /// It did what it was asked.
    Done,
    /// It ran, or could not, and says so.
    Failed,
    /// Not allowed; the reason is in the result.
    Denied,
    /// Passed over, for instance because a steer was queued.
    Skipped,
    /// Stopped with its run.
    Cancelled,
    /// It was running when the program died: nobody knows what it did.
    Unknown,
}

/// Who or what decided that a tool may run, or may not.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// The policy mode, for instance because the risk is low.
    Policy,
    /// A remembered rule, in words.
    Rule(String),
    /// A person; the UI in words.
    Person(Option<String>),
    /// A foreign runtime, which does not tell.
    Foreign,
}

/// Begins the result of a call to a tool that is there and was switched off.
pub const NOT_ACTIVE: &str = "This tool is not active";

/// The recorded decision about exactly one action.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decision {
    /// Whether it may run.
    pub allowed: bool,
    pub by: Decider,
    /// How far a yes reaches.
    pub scope: Scope,
    /// What the model is told after a no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was decided on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<ActionDigest>,
}

/// Bytes of a result from which on it is long: left out of an old part of a conversation, and to be read again.
pub const LONG_RESULT: usize = 2_000;

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
pub struct ToolResult {
    /// What the model reads.
    #[serde(default)]
    pub text: String,
    /// What the person may see beside it: diffs, images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Structured form, when there is one.
    #[serde(default, deserialize_with = "crate::content::present", skip_serializing_if = "Option::is_none")]
    pub json: Option<Json>,
    /// Whether `text` was cut; the rest can be fetched.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl ToolResult {
    /// A plain text result.
    pub fn text(text: impl Into<String>) -> ToolResult {
        ToolResult { text: text.into(), ..ToolResult::default() }
    }
}

/// How far a running tool is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// More output.
    Output(String),
    /// The whole output so far, from wires that repeat it.
    Replace(String),
    /// A measure and a word.
    Status {
        /// 0 to 100.
        #[serde(skip_serializing_if = "Option::is_none")]
        percent: Option<u8>,
        /// What it does now.
        message: String,
    },
}

/// One use of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolRun {
    pub id: ToolRunId,
    /// The run it belongs to.
    pub run: RunId,
    /// The step it belongs to.
    pub step: StepId,
    /// The message that proposed it.
    pub message: MessageId,
    pub name: String,
    /// Its arguments as the model wrote them.
    pub args: Json,
    pub phase: ToolPhase,
    /// What was decided, once it is.
    pub decision: Option<Decision>,
    /// Live output so far.
    pub output: String,
    /// Last measure of progress.
    pub status: Option<(Option<u8>, String)>,
    /// What it gave back, once it ended.
    pub result: Option<ToolResult>,
    pub proposed_at: Millis,
    pub started_at: Option<Millis>,
    pub ended_at: Option<Millis>,
    /// How it was proposed, as a stream.
    pub(crate) proposed: u64,
    /// That stream, with its output.
    pub(crate) roll: u64,
    /// What its standing has added to the sum of the state's hash.
    pub(crate) added: u64,
}

impl ToolRun {
    /// Whether it is over, with whatever outcome.
    pub fn ended(&self) -> bool {
        matches!(self.phase, ToolPhase::Ended(_))
    }

    /// How long it ran, when it is over.
    pub fn duration(&self) -> Option<u64> {
        Some(self.ended_at?.since(self.started_at.unwrap_or(self.proposed_at)))
    }
}
