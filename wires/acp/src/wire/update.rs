//! `session/update`: everything that an agent tells by itself.

use super::content::{ContentBlock, ToolCallContent};
use super::open::{Raw, object, union, words};
use super::own::{CallMeta, Meta};
use super::session::ConfigOption;
use wire::lenient::{opt_whole_u64, or_default, present, whole_u64};

object! {
    struct SessionNotification {
        session_id: String,
        update: SessionUpdate,
        #[serde(rename = "_meta", deserialize_with = "or_default")]
        opt meta: Meta,
    }
}

union! {
    enum SessionUpdate by "sessionUpdate" {
        "user_message_chunk" => UserMessage(ContentChunk),
        "agent_message_chunk" => AgentMessage(ContentChunk),
        "agent_thought_chunk" => AgentThought(ContentChunk),
        "tool_call" => ToolCall(Box<ToolCall>),
        "tool_call_update" => ToolCallUpdate(Box<ToolCallUpdate>),
        "plan" => Plan(Plan),
        "available_commands_update" => AvailableCommands(AvailableCommands),
        "current_mode_update" => CurrentMode(CurrentMode),
        "config_option_update" => ConfigOptions(ConfigOptions),
        "session_info_update" => SessionInfo(SessionInfoUpdate),
        "usage_update" => Usage(UsageUpdate),
        "notice" => Notice(Notice),
        "compaction_update" => Compaction(CompactionUpdate),
        #[cfg_attr(feature = "schema", schemars(skip))]
        "compaction_summary_chunk" => CompactionSummary(CompactionSummary),
    }
}

object! {
    struct ContentChunk {
        content: ContentBlock,
        opt message_id: String,
        #[serde(rename = "_meta", deserialize_with = "or_default")]
        opt meta: Meta,
    }
}

words! {
    enum ToolKind {
        "read" => Read,
        "edit" => Edit,
        #[cfg_attr(feature = "schema", schemars(skip))]
        "delete" => Delete,
        #[cfg_attr(feature = "schema", schemars(skip))]
        "move" => Move,
        "search" => Search,
        "execute" => Execute,
        "think" => Think,
        "fetch" => Fetch,
        #[cfg_attr(feature = "schema", schemars(skip))]
        "switch_mode" => SwitchMode,
        #[default]
        "other" => Unsaid,
    }
}

words! {
    enum ToolStatus {
        #[default]
        "pending" => Pending,
        "in_progress" => InProgress,
        "completed" => Completed,
        "failed" => Failed,
    }
}

object! {
    struct ToolCall {
        tool_call_id: String,
        #[serde(default)]
        title: String,
        opt name: String,
        opt kind: ToolKind,
        opt status: ToolStatus,
        list content: ToolCallContent,
        list locations: Location,
        opt raw_input: Raw,
        opt raw_output: Raw,
        #[serde(rename = "_meta", deserialize_with = "or_default")]
        opt meta: CallMeta,
    }
}

object! {
    /// What is absent is unchanged; lists take the place of the lists before.
    struct ToolCallUpdate {
        tool_call_id: String,
        opt title: String,
        opt name: String,
        opt kind: ToolKind,
        opt status: ToolStatus,
        opt content: Vec<ToolCallContent>,
        opt locations: Vec<Location>,
        opt raw_input: Raw,
        opt raw_output: Raw,
        #[serde(rename = "_meta", deserialize_with = "or_default")]
        opt meta: CallMeta,
    }
}

impl From<ToolCall> for ToolCallUpdate {
    fn from(call: ToolCall) -> ToolCallUpdate {
        ToolCallUpdate {
            tool_call_id: call.tool_call_id,
            title: Some(call.title).filter(|title| !title.is_empty()),
            name: call.name,
            kind: call.kind,
            status: call.status,
            content: Some(call.content).filter(|content| !content.is_empty()),
            locations: Some(call.locations).filter(|places| !places.is_empty()),
            raw_input: call.raw_input,
            raw_output: call.raw_output,
            meta: call.meta,
            rest: call.rest,
        }
    }
}

object! {
    struct Location {
        path: String,
        #[serde(deserialize_with = "opt_whole_u64")]
        opt line: u64,
    }
}

object! {
    /// The whole plan, each time.
    struct Plan {
        entries: Vec<PlanEntry>,
    }
}

object! {
    struct PlanEntry {
        content: String,
        #[serde(default)]
        priority: PlanPriority,
        #[serde(default)]
        status: PlanStatus,
    }
}

words! {
    enum PlanPriority {
        #[cfg_attr(feature = "schema", schemars(skip))]
        "high" => High,
        #[default]
        "medium" => Medium,
        #[cfg_attr(feature = "schema", schemars(skip))]
        "low" => Low,
    }
}

words! {
    enum PlanStatus {
        #[default]
        "pending" => Pending,
        "in_progress" => InProgress,
        "completed" => Completed,
    }
}

object! {
    struct AvailableCommands {
        available_commands: Vec<AvailableCommand>,
    }
}

object! {
    /// A command that is sent as a prompt, `/name …`.
    struct AvailableCommand {
        name: String,
        description: String,
        opt input: CommandInput,
    }
}

object! {
    struct CommandInput {
        hint: String,
    }
}

object! {
    struct CurrentMode {
        #[serde(alias = "modeId")]
        current_mode_id: String,
    }
}

object! {
    struct ConfigOptions {
        config_options: Vec<ConfigOption>,
    }
}

object! {
    struct SessionInfoUpdate {
        /// Null clears it; absent leaves it as it is.
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        title: Option<Option<String>>,
        #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
        updated_at: Option<Option<String>>,
        #[serde(rename = "_meta", deserialize_with = "or_default")]
        opt meta: Meta,
    }
}

object! {
    /// How full the model's context is, and what the session has cost.
    struct UsageUpdate {
        #[serde(deserialize_with = "whole_u64")]
        used: u64,
        #[serde(deserialize_with = "whole_u64")]
        size: u64,
        opt cost: Cost,
    }
}

object! {
    struct Cost {
        amount: f64,
        currency: String,
    }
}

object! {
    struct Notice {
        severity: Severity,
        title: String,
        opt description: String,
    }
}

words! {
    enum Severity {
        #[default]
        "info" => Info,
        "warning" => Warning,
        "error" => Error,
    }
}

object! {
    struct CompactionUpdate {
        compaction_id: String,
        status: CompactionStatus,
        opt summary: Vec<ContentBlock>,
        opt error: String,
    }
}

words! {
    enum CompactionStatus {
        #[cfg_attr(feature = "schema", schemars(skip))]
        "in_progress" => InProgress,
        #[default]
        "completed" => Completed,
        #[cfg_attr(feature = "schema", schemars(skip))]
        "failed" => Failed,
        #[cfg_attr(feature = "schema", schemars(skip))]
        "cancelled" => Cancelled,
    }
}

object! {
    struct CompactionSummary {
        compaction_id: String,
        content: ContentBlock,
    }
}
