//! Asks: what the runtime asks the person, and how such a question ends.
//!
//! An ask closes exactly once ([`Closing`]). An answer to a consent is bound to the digest of what was shown.

use crate::content::Json;
use crate::ids::{AskId, Millis, RunId, ToolRunId};
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};

/// The longest question, in bytes, that somebody is asked: more is not read before a yes, whatever screen shows it.
pub const MAX_SHOWN: usize = 64 * 1024;

/// How dangerous an action is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Reads only, inside the workspace.
    Low,
    /// Changes files, can be undone.
    Medium,
    /// Changes the system, leaves the workspace or uses the network.
    High,
    /// Cannot be undone, or is dangerous in itself.
    Critical,
}

/// Risk with its grounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Assessment {
    pub risk: Risk,
    /// Why, in words for the person.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// Whether the action can be undone.
    #[serde(default)]
    pub reversible: bool,
    /// Nobody told how dangerous it is: `risk` is then how careful we are, and not to be shown as a fact.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unrated: bool,
}

/// As native revision 1 hashes it; what came later counts only where it was said.
impl Hash for Assessment {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Assessment { risk, reasons, reversible, unrated } = self;
        (risk, reasons, reversible).hash(hasher);
        if *unrated {
            unrated.hash(hasher);
        }
    }
}

/// What the person sees before deciding.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Preview {
    /// Plain text.
    Text(String),
    /// A command line, with the commands that were found inside it.
    Command {
        /// As it would run.
        line: String,
        /// Each inner command, parsed.
        #[serde(default)]
        inner: Vec<String>,
    },
    /// A unified diff.
    Diff {
        /// The file.
        path: String,
        /// Unified diff text.
        text: String,
    },
}

/// Digest of exactly the action that was shown: tool, canonical arguments, working directory, pre-image of files.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActionDigest(pub String);

/// One thing to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Choice {
    /// What the answer names.
    pub id: String,
    /// What the person reads.
    pub label: String,
    /// A second line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// What kind of question it is. Every kind has exactly one overlay in our UIs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AskKind {
    /// May this tool run?
    Consent(Box<Consent>),
    /// Yes or no.
    Confirm {
        /// The text under the title.
        message: String,
        /// Label of yes, if not the usual one.
        #[serde(skip_serializing_if = "Option::is_none")]
        yes: Option<String>,
        /// Label of no, if not the usual one.
        #[serde(skip_serializing_if = "Option::is_none")]
        no: Option<String>,
        /// Whether yes is dangerous.
        #[serde(default)]
        danger: bool,
    },
    /// One or several of a list.
    Choose {
        /// The text under the title.
        message: String,
        /// What there is to choose.
        choices: Vec<Choice>,
        /// Whether several may be taken.
        #[serde(default)]
        many: bool,
    },
    /// A line of text.
    Text {
        /// The text under the title.
        message: String,
        /// Shown in the empty field.
        #[serde(skip_serializing_if = "Option::is_none")]
        placeholder: Option<String>,
        /// What stands in the field at first.
        #[serde(skip_serializing_if = "Option::is_none")]
        default: Option<String>,
        /// Not to be shown, logged or kept.
        #[serde(default)]
        secret: bool,
        /// Several lines are welcome.
        #[serde(default)]
        multiline: bool,
    },
    /// A text to change.
    Edit {
        /// The text under the title.
        message: String,
        /// What stands in the editor at first.
        prefill: String,
    },
}

/// The question whether a tool may run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
pub struct Consent {
    /// The tool run in question.
    pub tool: ToolRunId,
    /// The tool's name.
    pub name: String,
    /// Its arguments.
    pub args: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// How dangerous it is.
    pub assessment: Assessment,
    /// What the answer is bound to.
    pub digest: ActionDigest,
    /// The rule that "always" would add, in words; `None` when there is none to offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Whether a reason for a denial reaches the model.
    #[serde(default)]
    pub takes_reason: bool,
}

/// A question to the person.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ask {
    pub id: AskId,
    /// The run that waits for it; `None` when it belongs to no run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The line on top.
    pub title: String,
    pub kind: AskKind,
    /// When it expires; `None` means that it waits for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Millis>,
}

impl Ask {
    /// The tool run whose consent is asked for.
    pub fn about(&self) -> Option<ToolRunId> {
        match &self.kind {
            AskKind::Consent(consent) => Some(consent.tool),
            AskKind::Confirm { .. }
            | AskKind::Choose { .. }
            | AskKind::Text { .. }
            | AskKind::Edit { .. } => None,
        }
    }
}

/// How far a yes reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This one action.
    Once,
    /// The same kind of action until the session closes.
    Session,
    /// The rule that was shown, for this project.
    Always,
}

/// What the person says.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// To a consent: yes. The digest, when the wire can carry it, must be the one that was shown.
    Allow {
        /// How far it reaches.
        scope: Scope,
        /// What the person saw.
        #[serde(skip_serializing_if = "Option::is_none")]
        digest: Option<ActionDigest>,
    },
    /// To a consent: no. With a reason the model goes on with it; without, the turn stops.
    Deny {
        /// What the model is told.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    Confirmed(bool),
    /// To a choose: the ids taken.
    Chosen(Vec<String>),
    /// To a text or an edit.
    Entered(String),
    /// The person closed the question without an answer.
    Dismissed,
}

impl AskKind {
    /// Whether `answer` is an answer to this kind of question.
    pub fn accepts(&self, answer: &Answer) -> bool {
        match (self, answer) {
            (_, Answer::Dismissed) => true,
            (AskKind::Consent(consent), Answer::Allow { digest, .. }) => {
                digest.as_ref().is_none_or(|shown| *shown == consent.digest)
            }
            (AskKind::Consent(_), Answer::Deny { .. }) => true,
            (AskKind::Confirm { .. }, Answer::Confirmed(_)) => true,
            (AskKind::Choose { choices, many, .. }, Answer::Chosen(ids)) => {
                (*many || ids.len() <= 1) && ids.iter().all(|id| choices.iter().any(|c| c.id == *id))
            }
            (AskKind::Text { .. } | AskKind::Edit { .. }, Answer::Entered(_)) => true,
            (AskKind::Consent(_) | AskKind::Confirm { .. } | AskKind::Choose { .. }, _) => false,
            (AskKind::Text { .. } | AskKind::Edit { .. }, _) => false,
        }
    }

    /// The answer to `ask` as it may be kept: what a secret field holds is never stored, a mark stands in its place.
    pub fn keepable(&self, ask: AskId, answer: Answer) -> Answer {
        match (self, answer) {
            (AskKind::Text { secret: true, .. }, Answer::Entered(_)) => {
                Answer::Entered(crate::mark::mark(ask))
            }
            (_, answer) => answer,
        }
    }

    /// What was typed into a field that asks for a secret.
    pub fn secret_in<'a>(&self, answer: &'a Answer) -> Option<&'a str> {
        match (self, answer) {
            (AskKind::Text { secret: true, .. }, Answer::Entered(text)) => Some(text),
            _ => None,
        }
    }
}

/// Who answers a consent that the person said yes to before, for the whole session.
pub const EARLIER_YES: &str = "the same action, allowed for this session";

/// How an ask ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Closing {
    /// Someone answered.
    Answered {
        /// What they said (never the text of a secret).
        answer: Answer,
        /// Which UI it came from, in words for the record.
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The run ended or was cancelled.
    Withdrawn,
    /// The deadline passed.
    Expired,
    /// Nobody could be asked.
    Unattended,
}

impl Closing {
    /// How it ended and by whom, for those who did not answer: `allowed once by terminal#2`.
    pub fn told(&self) -> String {
        let (what, by) = match self {
            Closing::Answered { answer, by } => (answer.told(), by),
            Closing::Withdrawn => return "withdrawn".to_owned(),
            Closing::Expired => return "not answered in time".to_owned(),
            Closing::Unattended => return "not answered: nobody could be asked".to_owned(),
        };
        match by {
            Some(by) => format!("{what} by {by}"),
            None => format!("{what} elsewhere"),
        }
    }
}

impl Answer {
    /// What was done to a question by it.
    fn told(&self) -> &'static str {
        match self {
            Answer::Allow { scope: Scope::Once, .. } => "allowed once",
            Answer::Allow { scope: Scope::Session, .. } => "allowed for the session",
            Answer::Allow { scope: Scope::Always, .. } => "allowed always",
            Answer::Deny { .. } => "denied",
            Answer::Confirmed(true) => "answered with yes",
            Answer::Confirmed(false) => "answered with no",
            Answer::Chosen(_) | Answer::Entered(_) => "answered",
            Answer::Dismissed => "dismissed",
        }
    }
}
