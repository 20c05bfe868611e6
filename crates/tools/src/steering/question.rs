//! The question whether what a program wrote to files that steer shall be taken. What becomes of the answer is the caller's.

use super::compare::PutBack;
use crate::port::Port;
use domain::ask::{Answer, AskKind, Closing};

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SteeringAnswer {
    Yes,
    No,
    /// Nobody was there, or there was nothing to ask.
    Nothing,
    /// It cannot be shown whole, and a yes is for what was shown.
    NotAsked,
}

/// Asks the person about what was put back; `who` wrote it.
pub(crate) async fn ask(back: &PutBack, title: &str, who: &str, port: &Port) -> SteeringAnswer {
    if back.is_empty() {
        return SteeringAnswer::Nothing;
    }
    let Some(message) = back.question(who) else { return SteeringAnswer::NotAsked };
    let (yes, no) = (Some("use its version".to_owned()), Some("leave them as they were".to_owned()));
    match port.ask(title, AskKind::Confirm { message, yes, no, danger: true }).await {
        Some(Closing::Answered { answer: Answer::Confirmed(true), .. }) => SteeringAnswer::Yes,
        Some(Closing::Answered { .. }) => SteeringAnswer::No,
        _ => SteeringAnswer::Nothing,
    }
}
