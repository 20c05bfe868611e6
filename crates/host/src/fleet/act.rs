//! What a person does to a session from its row: says something to it, or stops it. Each goes over a link of its own, as a UI that
//! nobody can be asked at: an answer to a question never goes this way.

use super::follow::{ANSWER_WITHIN, greet, next, reach, say};
use crate::directory::{self, SocketPurpose};
use dialects::native::wire::{FromRuntime, FromUi, Settled, Wanted};
use domain::command::{Command, PromptOptions, QueueCommand, Receipt, Refusal, RunCommand, Target, WhenBusy};
use domain::content::Input;
use domain::ids::SessionId;
use domain::port::Ticket;
use domain::queue::QueueKind;
use std::path::PathBuf;
use web::Act;

/// Our only ticket on a link of its own.
const TICKET: Ticket = Ticket(1);

/// The socket of a process that was seen.
///
/// # Errors
/// When there is no place for sockets.
pub fn socket(pid: u32) -> anyhow::Result<PathBuf> {
    Ok(directory::here()?.socket(pid, SocketPurpose::Ui))
}

/// Does it; gives words for the person, whatever came of it.
pub async fn act(act: Act) -> String {
    let (pid, session, command) = match act {
        Act::Say { pid, session, text, busy } => (pid, session, said(text, busy)),
        Act::Stop { pid, session } => {
            let reason = Some("stopped from the fleet".to_owned());
            (pid, session, Command::Run(RunCommand::Cancel { run: None, reason }))
        }
    };
    match tokio::time::timeout(ANSWER_WITHIN, give(pid, session, command)).await {
        Ok(Ok(receipt)) => words(&receipt).to_owned(),
        Ok(Err(why)) => why,
        Err(_) => format!("process {pid} does not answer; open the session to see its status"),
    }
}

/// What was typed, as it is best heard now.
fn said(text: String, busy: bool) -> Command {
    let input = Input::text(text);
    if busy {
        return Command::Queue(QueueCommand::Add { kind: QueueKind::Steer, input });
    }
    let options = PromptOptions { when_busy: WhenBusy::Queue, ..PromptOptions::default() };
    Command::Run(RunCommand::Prompt { input, options })
}

async fn give(pid: u32, session: SessionId, command: Command) -> Result<Receipt, String> {
    let socket = socket(pid).map_err(|why| why.to_string())?;
    let mut link = reach(&socket).await.map_err(|why| why.to_string())?;
    let gone = || format!("process {pid} went away");
    greet(&mut link).await.ok_or_else(gone)?;
    let wanted = Wanted { ticket: TICKET, target: Target::Session(session), what: command };
    if !say(&link, &FromUi::Command(wanted)) {
        return Err(gone());
    }
    loop {
        match next(&mut link, None).await.ok_or_else(gone)? {
            FromRuntime::Settled(Settled { ticket: TICKET, with }) => return with.map_err(refused),
            FromRuntime::Error(complaint) => return Err(complaint.message),
            _ => {}
        }
    }
}

fn refused(refusal: Refusal) -> String {
    match refusal.hint {
        Some(hint) => format!("{}: {hint}", refusal.message),
        None => refusal.message,
    }
}

fn words(receipt: &Receipt) -> &'static str {
    match receipt {
        Receipt::Started { .. } => "it has begun",
        Receipt::Queued { .. } => "it is heard as soon as the current step allows",
        Receipt::Cancelling { .. } => "it is being stopped",
        _ => "done",
    }
}
