//! Asks, answers and how asks end.

use crate::written::{self, mirrored};
use domain::ask::{
    ActionDigest, Answer, Ask, AskKind, Assessment, Choice, Closing, Consent, Preview, Risk, Scope,
};
use domain::content::Json;
use domain::ids::{AskId, Millis, RunId, ToolRunId};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(remote = "Risk", rename_all = "snake_case")]
enum RiskMirror {
    Low,
    Medium,
    High,
    Critical,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Assessment")]
struct AssessmentMirror {
    #[serde(with = "written")]
    risk: Risk,
    #[serde(default)]
    reasons: Vec<String>,
    #[serde(default)]
    reversible: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Preview", rename_all = "snake_case")]
enum PreviewMirror {
    Text(String),
    Command {
        line: String,
        #[serde(default)]
        inner: Vec<String>,
    },
    Diff {
        path: String,
        text: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ActionDigest")]
struct ActionDigestMirror(String);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Choice")]
struct ChoiceMirror {
    id: String,
    label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "AskKind", rename_all = "snake_case")]
enum AskKindMirror {
    Consent(#[serde(with = "written")] Box<Consent>),
    Confirm {
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        yes: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        no: Option<String>,
        #[serde(default)]
        danger: bool,
    },
    Choose {
        message: String,
        #[serde(with = "written")]
        choices: Vec<Choice>,
        #[serde(default)]
        many: bool,
    },
    Text {
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        placeholder: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<String>,
        #[serde(default)]
        secret: bool,
        #[serde(default)]
        multiline: bool,
    },
    Edit {
        message: String,
        prefill: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Consent")]
struct ConsentMirror {
    #[serde(with = "written")]
    tool: ToolRunId,
    name: String,
    #[serde(with = "written")]
    args: Json,
    #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
    preview: Option<Preview>,
    #[serde(with = "written")]
    assessment: Assessment,
    #[serde(with = "written")]
    digest: ActionDigest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(default)]
    takes_reason: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Ask")]
struct AskMirror {
    #[serde(with = "written")]
    id: AskId,
    #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
    run: Option<RunId>,
    title: String,
    #[serde(with = "written")]
    kind: AskKind,
    #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
    deadline: Option<Millis>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Scope", rename_all = "snake_case")]
enum ScopeMirror {
    Once,
    Session,
    Always,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Answer", rename_all = "snake_case")]
enum AnswerMirror {
    Allow {
        #[serde(with = "written")]
        scope: Scope,
        #[serde(with = "written", default, skip_serializing_if = "Option::is_none")]
        digest: Option<ActionDigest>,
    },
    Deny {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    Confirmed(bool),
    Chosen(Vec<String>),
    Entered(String),
    Dismissed,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Closing", rename_all = "snake_case")]
enum ClosingMirror {
    Answered {
        #[serde(with = "written")]
        answer: Answer,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    Withdrawn,
    Expired,
    Unattended,
}

mirrored!(
    Risk => RiskMirror,
    Assessment => AssessmentMirror,
    Preview => PreviewMirror,
    ActionDigest => ActionDigestMirror,
    Choice => ChoiceMirror,
    AskKind => AskKindMirror,
    Consent => ConsentMirror,
    Ask => AskMirror,
    Scope => ScopeMirror,
    Answer => AnswerMirror,
    Closing => ClosingMirror,
);
