//! The written form of what a process tells of its sessions.

use crate::written::{As, mirrored};
use domain::content::Usage;
use domain::event::Outcome;
use domain::fleet::{Doing, Member};
use domain::ids::{Millis, SessionId};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Member")]
struct MemberMirror {
    #[serde(with = "As::<SessionId>")]
    session: SessionId,
    title: String,
    cwd: String,
    #[serde(default)]
    project: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    runtime: Option<String>,
    #[serde(with = "As::<Doing>")]
    doing: Doing,
    #[serde(with = "As::<Millis>")]
    since: Millis,
    #[serde(with = "As::<Usage>", default)]
    usage: Usage,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Doing", rename_all = "snake_case")]
enum DoingMirror {
    Nothing,
    Running,
    Waiting { asks: u64, question: String },
    Ended(#[serde(with = "As::<Outcome>")] Outcome),
}

mirrored!(
    Member => MemberMirror,
    Doing => DoingMirror,
);
