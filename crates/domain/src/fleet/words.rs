//! A row in words: the same ones wherever it is shown.

use super::{Row, Status};
use crate::event::Outcome;

impl Status {
    /// The word for people: that a session is kept says nothing to whoever only knows that it is not open.
    pub fn shown(&self) -> &'static str {
        match self {
            Status::Kept => "closed",
            Status::Waiting { .. }
            | Status::Running
            | Status::Fresh
            | Status::Ended(_)
            | Status::Silent
            | Status::OtherVersion(_)
            | Status::Dead => self.word(),
        }
    }

    /// One word for how it stands, for scripts.
    pub fn word(&self) -> &'static str {
        match self {
            Status::Waiting { .. } => "waiting",
            Status::Running => "running",
            Status::Fresh => "new",
            Status::Ended(Outcome::Done) => "done",
            Status::Ended(Outcome::Failed(_)) => "failed",
            Status::Ended(Outcome::Cancelled) => "stopped",
            Status::Ended(Outcome::Interrupted) => "interrupted",
            Status::Ended(Outcome::Lost) => "lost",
            Status::Kept => "kept",
            Status::Silent => "silent",
            Status::OtherVersion(_) => "other",
            Status::Dead => "dead",
        }
    }
}

impl Row {
    /// What else there is to say of how it stands.
    pub fn about(&self) -> Option<String> {
        let pid = self.pid.unwrap_or_default();
        Some(match &self.status {
            Status::Waiting { asks, question, .. } if *asks > 1 => format!("{question} (1 of {asks})"),
            Status::Waiting { question, .. } => question.clone(),
            Status::Running => match self.tasks.as_slice() {
                [] => return None,
                [one] => format!("sub-agent {one}"),
                several => format!("{} sub-agents: {}", several.len(), several.join("; ")),
            },
            Status::Ended(Outcome::Failed(failure)) => failure.message.clone(),
            Status::Silent => format!("process {pid} does not answer"),
            Status::OtherVersion(version) => {
                format!("process {pid} is Parlor {version}, which does not tell of its sessions")
            }
            // Several of them, as one line.
            Status::Dead if self.pid.is_none() => "what they left was removed".to_owned(),
            Status::Dead => format!("process {pid} died; what it left was removed"),
            Status::Fresh | Status::Ended(_) | Status::Kept => return None,
        })
    }
}
