//! Receipts and refusals.

use crate::written::{As, Own, Ref, Written, mirrored};
use domain::command::{ExportFormat, History, Receipt, Refusal, RefusalKind};
use domain::content::Json;
use domain::event::{Compaction, Event};
use domain::ids::{EntryId, QueuedId, RunId, SessionId};
use domain::session::{
    ModelEntry, ModelRef, RunSummary, ServerEntry, SessionSummary, ShellJob, SkillList, Stats, ToolEntry,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Receipt", rename_all = "snake_case")]
enum ReceiptMirror {
    Done,
    Started {
        #[serde(with = "As::<SessionId>")]
        session: SessionId,
        #[serde(with = "As::<RunId>")]
        run: RunId,
    },
    Queued {
        #[serde(with = "As::<QueuedId>")]
        item: QueuedId,
        #[serde(with = "As::<RunId>")]
        run: RunId,
    },
    Cancelling {
        #[serde(with = "As::<RunSummary>")]
        run: RunSummary,
    },
    Session {
        #[serde(with = "As::<SessionSummary>")]
        session: SessionSummary,
        #[serde(with = "As::<Option<SessionId>>", default, skip_serializing_if = "Option::is_none")]
        parent: Option<SessionId>,
    },
    Sessions(#[serde(with = "As::<Vec<SessionSummary>>")] Vec<SessionSummary>),
    Leaf(#[serde(with = "As::<Option<EntryId>>")] Option<EntryId>),
    History(#[serde(with = "As::<History>")] History),
    Stats(#[serde(with = "As::<Stats>")] Stats),
    Saved {
        path: String,
        size: u64,
    },
    Exported {
        #[serde(with = "As::<ExportFormat>")]
        format: ExportFormat,
        text: String,
    },
    Models {
        #[serde(with = "As::<Vec<ModelEntry>>")]
        models: Vec<ModelEntry>,
        #[serde(with = "As::<Option<ModelRef>>", default, skip_serializing_if = "Option::is_none")]
        current: Option<ModelRef>,
    },
    Model(#[serde(with = "As::<ModelRef>")] ModelRef),
    Servers(#[serde(with = "As::<Vec<ServerEntry>>")] Vec<ServerEntry>),
    Skills(#[serde(with = "As::<SkillList>")] SkillList),
    Tools(#[serde(with = "As::<Vec<ToolEntry>>")] Vec<ToolEntry>),
    Jobs(#[serde(with = "As::<Vec<ShellJob>>")] Vec<ShellJob>),
    Files {
        text: String,
    },
    Compacted {
        #[serde(with = "As::<EntryId>")]
        entry: EntryId,
        #[serde(with = "As::<Compaction>")]
        compaction: Compaction,
    },
    Extension(#[serde(with = "As::<Json>")] Json),
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "History")]
struct HistoryMirror {
    runs: u64,
    #[serde(with = "As::<Vec<Event>>")]
    events: Vec<Event>,
    #[serde(default)]
    truncated: bool,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Refusal")]
struct RefusalMirror {
    #[serde(with = "As::<RefusalKind>")]
    kind: RefusalKind,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "RefusalKind", rename_all = "snake_case")]
enum RefusalKindMirror {
    Busy,
    NoRun,
    RunUnknown,
    SessionUnknown,
    EntryUnknown,
    AskUnknown,
    AskOver,
    QueuedUnknown,
    ModelUnknown,
    ToolUnknown,
    ExtensionUnknown,
    NothingToCompact,
    NotAllowed,
    Invalid,
    Unsupported,
    TooMany,
    Storage,
    TimedOut,
    Lost,
    Remote { code: String },
    Internal,
}

mirrored!(
    Receipt => ReceiptMirror,
    History => HistoryMirror,
    Refusal => RefusalMirror,
    RefusalKind => RefusalKindMirror,
);

/// Taken or refused: `{"receipt": …}` or `{"refusal": …}`.
impl Written for Result<Receipt, Refusal> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let with = match self {
            Ok(receipt) => With::Receipt(Ref(receipt)),
            Err(refusal) => With::Refusal(Ref(refusal)),
        };
        with.serialize(serializer)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Result<Receipt, Refusal>, D::Error> {
        Ok(match With::<Own<Receipt>, Own<Refusal>>::deserialize(deserializer)? {
            With::Receipt(own) => Ok(own.0),
            With::Refusal(own) => Err(own.0),
        })
    }

    #[cfg(feature = "schema")]
    fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <With<As<Receipt>, As<Refusal>> as schemars::JsonSchema>::json_schema(generator)
    }
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum With<T, E> {
    Receipt(T),
    Refusal(E),
}
