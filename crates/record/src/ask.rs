//! Asks, answers and how asks end.

use crate::written::{As, mirrored};
use domain::ask::{
    ActionDigest, Answer, Ask, AskKind, Assessment, Choice, Closing, Consent, Preview, Risk, Scope,
};
use domain::content::Json;
use domain::ids::{AskId, Millis, RunId, ToolRunId};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Risk", rename_all = "snake_case")]
enum RiskMirror {
    Low,
    Medium,
    High,
    Critical,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Assessment")]
struct AssessmentMirror {
    #[serde(with = "As::<Risk>")]
    risk: Risk,
    #[serde(default)]
    reasons: Vec<String>,
    #[serde(default)]
    reversible: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unrated: bool,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "ActionDigest")]
struct ActionDigestMirror(String);

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Choice")]
struct ChoiceMirror {
    id: String,
    label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "AskKind", rename_all = "snake_case")]
enum AskKindMirror {
    Consent(#[serde(with = "As::<Box<Consent>>")] Box<Consent>),
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
        #[serde(with = "As::<Vec<Choice>>")]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Consent")]
struct ConsentMirror {
    #[serde(with = "As::<ToolRunId>")]
    tool: ToolRunId,
    name: String,
    #[serde(with = "As::<Json>")]
    args: Json,
    #[serde(with = "As::<Option<Preview>>", default, skip_serializing_if = "Option::is_none")]
    preview: Option<Preview>,
    #[serde(with = "As::<Assessment>")]
    assessment: Assessment,
    #[serde(with = "As::<ActionDigest>")]
    digest: ActionDigest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(default)]
    takes_reason: bool,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Ask")]
struct AskMirror {
    #[serde(with = "As::<AskId>")]
    id: AskId,
    #[serde(with = "As::<Option<RunId>>", default, skip_serializing_if = "Option::is_none")]
    run: Option<RunId>,
    title: String,
    #[serde(with = "As::<AskKind>")]
    kind: AskKind,
    #[serde(with = "As::<Option<Millis>>", default, skip_serializing_if = "Option::is_none")]
    deadline: Option<Millis>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Scope", rename_all = "snake_case")]
enum ScopeMirror {
    Once,
    Session,
    Always,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Answer", rename_all = "snake_case")]
enum AnswerMirror {
    Allow {
        #[serde(with = "As::<Scope>")]
        scope: Scope,
        #[serde(with = "As::<Option<ActionDigest>>", default, skip_serializing_if = "Option::is_none")]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Closing", rename_all = "snake_case")]
enum ClosingMirror {
    Answered {
        #[serde(with = "As::<Answer>")]
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
