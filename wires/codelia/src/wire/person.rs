//! What is known about the person's place, and the questions to the person: `ui.*`.

use super::SkillsListResult;
use serde::{Deserialize, Serialize};
use wire::lenient::null_as_default;

/// Parameters of `ui.context.update`, and `ui_context` of `run.start`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UiContextParams {
    /// Working directory of the UI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_root: Option<String>,
    /// The file with the focus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_file: Option<ActiveFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<serde_json::Map<String, serde_json::Value>>,
}

/// `[L]` Parameters of `context.inspect`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextInspectParams {
    /// Whether files of instructions are wanted.
    #[serde(default, deserialize_with = "null_as_default")]
    pub include_agents: bool,
    /// Whether skills are wanted.
    #[serde(default, deserialize_with = "null_as_default")]
    pub include_skills: bool,
}

/// `[L]` Where the runtime works, and with what. What it does not know is left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextInspectResult {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_working_dir: Option<String>,
    /// The folder that it works in freely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_sandbox_root: Option<String>,
    /// What the UI told last about where the person works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ui_context: Option<InspectedUi>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<InspectedSkills>,
}

/// `[L]` Where the person works.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InspectedUi {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_root: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_file_path: Option<String>,
}

/// `[L]` The skills as seen from there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InspectedSkills {
    pub root_dir: String,
    pub working_dir: String,
    pub catalog: SkillsListResult,
}

/// The file with the focus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActiveFile {
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language_id: Option<String>,
}

/// A range of a file that the person has marked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Selection {
    /// In which file.
    pub path: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub range: Range,
    /// The text, if the UI has it at hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_text: Option<String>,
}

/// A stretch of a file, counted from 0, without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Range {
    /// First place.
    pub start: Position,
    /// Place after the last.
    pub end: Position,
}

/// A place in a file, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Position {
    pub line: u64,
    pub column: u64,
}

/// Parameters of `ui.confirm.request`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfirmParams {
    /// The run that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The line on top.
    pub title: String,
    /// The text under it.
    #[serde(default, deserialize_with = "null_as_default")]
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_label: Option<String>,
    /// Label of no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_label: Option<String>,
    /// `normal` or `danger`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub danger_level: Option<String>,
    /// Whether the answer may be remembered.
    #[serde(default, deserialize_with = "null_as_default")]
    pub allow_remember: bool,
    /// Whether a no may carry a reason.
    #[serde(default, deserialize_with = "null_as_default")]
    pub allow_reason: bool,
}

/// Result of `ui.confirm.request`. Written with all three members, as the existing UI does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfirmResult {
    /// Yes or no.
    pub ok: bool,
    #[serde(default, deserialize_with = "null_as_default")]
    pub remember: bool,
    /// Why not.
    #[serde(default)]
    pub reason: Option<String>,
}

/// Parameters of `ui.prompt.request`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptParams {
    /// The run that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The line on top.
    pub title: String,
    /// The text under it.
    #[serde(default, deserialize_with = "null_as_default")]
    pub message: String,
    /// What stands in the field at first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_value: Option<String>,
    /// Several lines are welcome.
    #[serde(default, deserialize_with = "null_as_default")]
    pub multiline: bool,
    /// Not to be shown.
    #[serde(default, deserialize_with = "null_as_default")]
    pub secret: bool,
}

/// Result of `ui.prompt.request`; null means that the person closed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptResult {
    pub value: Option<String>,
}

/// Parameters of `ui.pick.request`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PickParams {
    /// The run that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The line on top.
    pub title: String,
    pub items: Vec<PickItem>,
    /// Whether several may be taken.
    #[serde(default, deserialize_with = "null_as_default")]
    pub multi: bool,
}

/// One line of a list that the person chooses from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PickItem {
    /// What the answer names.
    pub id: String,
    /// What the person reads.
    pub label: String,
    /// A second line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Result of `ui.pick.request`; empty means that the person closed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PickResult {
    pub ids: Vec<String>,
}
