//! Receipts and refusals.

use crate::written::{self, Own, Ref, Written, mirrored};
use domain::command::{ExportFormat, History, Receipt, Refusal, RefusalKind};
use domain::content::Json;
use domain::event::{Compaction, Event};
use domain::ids::{EntryId, QueuedId, RunId, SessionId};
use domain::session::{
    ModelEntry, ModelRef, RunSummary, ServerEntry, SessionSummary, SkillList, Stats, ToolEntry,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(remote = "Receipt", rename_all = "snake_case")]
enum ReceiptMirror {
    Done,
    Started {
        #[serde(with = "written")]
        session: SessionId,
        #[serde(with = "written")]
        run: RunId,
    },
    Queued {
        #[serde(with = "written")]
        item: QueuedId,
        #[serde(with = "written")]
        run: RunId,
    },
    Cancelling {
        #[serde(with = "written")]
        run: RunSummary,
    },
    Session {
        #[serde(with = "written")]
        session: SessionSummary,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        parent: Option<SessionId>,
    },
    Sessions(#[serde(with = "written")] Vec<SessionSummary>),
    Leaf(#[serde(with = "written")] Option<EntryId>),
    History(#[serde(with = "written")] History),
    Stats(#[serde(with = "written")] Stats),
    Saved {
        path: String,
        size: u64,
    },
    Exported {
        #[serde(with = "written")]
        format: ExportFormat,
        text: String,
    },
    Models {
        #[serde(with = "written")]
        models: Vec<ModelEntry>,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        current: Option<ModelRef>,
    },
    Model(#[serde(with = "written")] ModelRef),
    Servers(#[serde(with = "written")] Vec<ServerEntry>),
    Skills(#[serde(with = "written")] SkillList),
    Tools(#[serde(with = "written")] Vec<ToolEntry>),
    Compacted {
        #[serde(with = "written")]
        entry: EntryId,
        #[serde(with = "written")]
        compaction: Compaction,
    },
    Extension(#[serde(with = "written")] Json),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "History")]
struct HistoryMirror {
    runs: u64,
    #[serde(with = "written")]
    events: Vec<Event>,
    #[serde(default)]
    truncated: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Refusal")]
struct RefusalMirror {
    #[serde(with = "written")]
    kind: RefusalKind,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Serialize, Deserialize)]
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
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum With<T, E> {
    Receipt(T),
    Refusal(E),
}
