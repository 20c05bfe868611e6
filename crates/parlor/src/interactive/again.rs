//! Keeping a UI on a runtime that goes and comes back: the screen stays, says what is wrong, and is attached again.
//!
//! States: attached (news and commands pass), looking (commands are refused, so that what was said comes back to the person). Ends when
//! the screen does. Nothing is sent twice by itself: what happened meanwhile comes with the replay of the session.

use crate::remote::Front;
use domain::command::{Refusal, RefusalKind};
use domain::ids::SessionId;
use domain::port::{LinkState, News};
use hub::core::Standing;
use link::LinkError;
use roles::Answers;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tui::Outgoing;

/// How long to wait before looking again, at first and at most.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const MAX_WAIT: Duration = Duration::from_secs(4);

/// Why news and commands stopped passing.
enum Stop {
    /// The screen is gone.
    Left,
    /// The runtime is.
    Lost(String),
}

/// Passes news and commands between the screen and the runtime, whichever incarnation of it is there.
pub(super) async fn keep_attached(
    mut front: Front,
    mut open: impl AsyncFnMut(Option<SessionId>) -> anyhow::Result<Front>,
    news: mpsc::Sender<News>,
    mut commands: mpsc::Receiver<Outgoing>,
) -> anyhow::Result<()> {
    let mut session = None;
    loop {
        let stop = pass(&front, &news, &mut commands, &mut session).await?;
        front.close(true).await;
        let Stop::Lost(why) = stop else { return Ok(()) };
        let Some(found) = look(why, &mut open, session.as_ref(), &news, &mut commands).await else {
            return Ok(());
        };
        front = found;
    }
}

async fn pass(
    front: &Front,
    news: &mpsc::Sender<News>,
    commands: &mut mpsc::Receiver<Outgoing>,
    session: &mut Option<SessionId>,
) -> anyhow::Result<Stop> {
    let mut ui = front.hub.attach("terminal", Standing::Controller, Answers::ALL, None).await?;
    loop {
        tokio::select! {
            heard = ui.news.recv() => {
                let told = match heard {
                    Some(News::Link(LinkState::Lost(why))) => return Ok(Stop::Lost(why)),
                    None => return Ok(Stop::Lost("the link was closed".to_owned())),
                    Some(told) => told,
                };
                if let News::Attached { session: current, .. } = &told {
                    *session = Some(current.clone());
                }
                if news.send(told).await.is_err() {
                    return Ok(Stop::Left);
                }
            }
            said = commands.recv() => match said {
                Some(Outgoing { ticket, target, command }) => {
                    if ui.port.command(ticket, target, command).await.is_err() {
                        return Ok(Stop::Lost("the link was closed".to_owned()));
                    }
                }
                None => return Ok(Stop::Left),
            },
        }
    }
}

/// Tries again and again; `None` when the screen is gone.
async fn look(
    mut why: String,
    open: &mut impl AsyncFnMut(Option<SessionId>) -> anyhow::Result<Front>,
    session: Option<&SessionId>,
    news: &mpsc::Sender<News>,
    commands: &mut mpsc::Receiver<Outgoing>,
) -> Option<Front> {
    let mut wait = FIRST_WAIT;
    loop {
        let word = format!("{why}. It is looked for; what you type stays here (Ctrl-D quits)");
        news.send(News::Link(LinkState::Lost(word))).await.ok()?;
        refuse_until(Instant::now() + wait, news, commands).await?;
        wait = (wait * 2).min(MAX_WAIT);
        match open(session.cloned()).await {
            Ok(front) => return Some(front),
            // Somebody else is there now, and that is worth more than why the first one left.
            Err(error) if matches!(error.downcast_ref(), Some(LinkError::Distrusted { .. })) => {
                why = error.to_string();
            }
            Err(_) => {}
        }
    }
}

/// Tells every command of this time that nobody heard it; `None` when the screen is gone.
async fn refuse_until(
    end: Instant,
    news: &mpsc::Sender<News>,
    commands: &mut mpsc::Receiver<Outgoing>,
) -> Option<()> {
    loop {
        tokio::select! {
            () = sleep_until(end) => return Some(()),
            said = commands.recv() => {
                let refusal = Refusal::new(RefusalKind::Lost, "the runtime is gone")
                    .hint("what you wrote is back in the composer; send it again when the runtime is back");
                news.send(News::Settled { ticket: said?.ticket, with: Err(refusal) }).await.ok()?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::command::{Command, ListCommand, Target};
    use domain::port::Ticket;

    #[tokio::test(start_paused = true)]
    async fn what_is_said_meanwhile_is_refused_so_that_it_comes_back() {
        let (news, mut heard) = mpsc::channel(8);
        let (say, mut commands) = mpsc::channel(8);
        let command = Command::List(ListCommand::Tools);
        say.send(Outgoing { ticket: Ticket(7), target: Target::Current, command }).await.unwrap();
        let mut tries = 0;
        let open = async |session: Option<SessionId>| -> anyhow::Result<Front> {
            tries += 1;
            assert_eq!(session, Some(SessionId::from_number(3)));
            anyhow::bail!("nobody listens")
        };
        let session = SessionId::from_number(3);
        let leave = async {
            // The banner, the refusal, and a second try that tells the banner again; then the screen goes.
            let News::Link(LinkState::Lost(word)) = heard.recv().await.unwrap() else { panic!() };
            assert!(word.starts_with("it crashed"));
            let News::Settled { ticket, with: Err(refusal) } = heard.recv().await.unwrap() else { panic!() };
            assert_eq!((ticket, refusal.kind), (Ticket(7), RefusalKind::Lost));
            assert!(matches!(heard.recv().await, Some(News::Link(LinkState::Lost(_)))));
            drop((heard, say));
        };
        let mut open = open;
        let (found, ()) = tokio::join!(
            look("it crashed".to_owned(), &mut open, Some(&session), &news, &mut commands),
            leave
        );
        assert!(found.is_none());
        assert!(tries >= 1);
    }
}
