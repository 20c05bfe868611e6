//! Signals, the board, what a UI knows about where the person works; queues' kinds and modes.

use crate::written::{As, mirrored};
use domain::queue::{Mode, QueueKind};
use domain::signal::{Board, Level, Signal, UiContext, WidgetPlace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Level", rename_all = "snake_case")]
enum LevelMirror {
    Info,
    Success,
    Warning,
    Error,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "WidgetPlace", rename_all = "snake_case")]
enum PlaceMirror {
    Above,
    Below,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "QueueKind", rename_all = "snake_case")]
enum QueueKindMirror {
    Steer,
    FollowUp,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Mode", rename_all = "snake_case")]
enum ModeMirror {
    #[serde(rename = "one_at_a_time")]
    OneAtATime,
    All,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Signal", rename_all = "snake_case")]
enum SignalMirror {
    Notify {
        #[serde(with = "As::<Level>")]
        level: Level,
        text: String,
    },
    Status {
        key: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    Working(Option<String>),
    Widget {
        key: String,
        lines: Vec<String>,
        #[serde(with = "As::<WidgetPlace>")]
        place: WidgetPlace,
    },
    Title(String),
    EditorText(String),
    Suggestion {
        text: String,
        confidence: u16,
        source: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
    },
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Board")]
struct BoardMirror {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    status: BTreeMap<String, String>,
    #[serde(
        with = "As::<BTreeMap<String, (WidgetPlace, Vec<String>)>>",
        default,
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    widgets: BTreeMap<String, (WidgetPlace, Vec<String>)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    working: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "UiContext")]
struct UiContextMirror {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workspace_root: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    active_file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    selection: Option<(String, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<(u16, u16)>,
}

mirrored!(
    Level => LevelMirror,
    WidgetPlace => PlaceMirror,
    QueueKind => QueueKindMirror,
    Mode => ModeMirror,
    Signal => SignalMirror,
    Board => BoardMirror,
    UiContext => UiContextMirror,
);
