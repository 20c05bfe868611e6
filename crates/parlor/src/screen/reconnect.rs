//! Keeping a UI on a runtime that goes and comes back: the screen stays, says what is wrong, and is attached again.
//!
//! States: attached (news and commands pass), looking (behind a socket it is tried again and again), waiting (a program that we started
//! is started again only when the person says so). Where nothing passes, commands are refused, so that what was said comes back to the
//! person. Ends when the screen does. Nothing is sent twice by itself: what happened meanwhile comes with the replay of the session.

use crate::exit;
use domain::command::{Command, Refusal, RefusalKind, RunCommand};
use domain::event::{Body, SessionEvent};
use domain::ids::SessionId;
use domain::port::{LinkState, News};
use domain::session::Policy;
use hub::core::Standing;
use link::LinkError;
use remote::front::{Front, LastWords};
use roles::Answers;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tui::Outgoing;

/// How long to wait before looking again, at first and at most.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const MAX_WAIT: Duration = Duration::from_secs(4);
/// What a person can do about a program that is gone.
const START_AGAIN: &str = "/restart starts it again (Ctrl-D quits)";

/// Said of a program that was not waited for.
const GIVEN_UP: &str = "its start was given up";

/// Said of a program that was started again and did not come as far as the session where the person was.
const NOT_BACK: &str = "it did not go back to the session, and begins a new one next time";

/// Where the screen was on a runtime that is gone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Whereabouts {
    pub(crate) session: Option<SessionId>,
    /// What the runtime calls it, where it has told.
    pub(crate) theirs: Option<Arc<str>>,
    /// What the person set for what may run, if they did.
    pub(crate) policy: Option<Policy>,
    /// The session was not there any more: what was named on the command line is not sought again either.
    pub(crate) anew: bool,
    /// The person wants it there again; else it is only looked whether it is.
    pub(crate) is_wanted: bool,
}

impl Whereabouts {
    /// What is told of where the screen is.
    fn learn(&mut self, told: &News) {
        match told {
            News::Attached { session, .. } => self.session = Some(session.clone()),
            News::Happened { event, .. } => {
                if let Body::Session(SessionEvent::PolicyChosen { policy }) = event.body {
                    self.policy = Some(policy);
                }
            }
            News::Signal { .. } | News::Settled { .. } | News::Link(_) => {}
        }
    }
}

/// Why news and commands stopped passing.
enum Stop {
    /// The screen is gone.
    Left,
    /// The runtime is.
    Lost(String),
    /// The person wants it anew.
    Restart,
    /// The person does not wait for its answer any longer.
    GivenUp,
}

/// The other ends of what the screen hears and says.
pub(super) struct ScreenEnds {
    pub(super) news: mpsc::Sender<News>,
    pub(super) commands: mpsc::Receiver<Outgoing>,
    /// The person wants the runtime started or reached again.
    pub(super) restarts: mpsc::Receiver<()>,
}

/// Passes news and commands between the screen and the runtime, whichever incarnation of it is there. Gives the last words of a program
/// that was gone when the screen ended.
pub(super) async fn keep_attached(
    mut front: Front,
    mut open: impl AsyncFnMut(Option<Whereabouts>) -> anyhow::Result<Front>,
    mut screen: ScreenEnds,
) -> anyhow::Result<Option<LastWords>> {
    let mut was = Whereabouts::default();
    loop {
        let sought = was.theirs.clone();
        let stop = screen.pass(&front, &mut was).await?;
        let is_ours = front.is_ours();
        // Of a runtime that never answered nothing is known: what was known before stays.
        let theirs = front.hub.their_session().await;
        let is_missing = is_ours && sought.is_some() && theirs.is_none();
        was.theirs = theirs.or(was.theirs);
        let found = match stop {
            Stop::Left => {
                front.close(true).await;
                return Ok(None);
            }
            Stop::Lost(why) if is_ours => {
                let last = front.last_words().await;
                let mut words = lost(&why, last.as_ref());
                if is_missing {
                    // Sought once more, it would be missed once more.
                    (was.session, was.theirs, was.anew) = (None, None, true);
                    words = format!("{NOT_BACK}: {words}");
                }
                let Some(found) = screen.wait(words, &mut open, &was).await else {
                    return Ok(last);
                };
                Some(found)
            }
            Stop::Lost(why) => {
                front.close(true).await;
                screen.look(why, &mut open, &was).await
            }
            Stop::GivenUp => {
                let last = front.close_soon().await;
                let Some(found) = screen.wait(lost(GIVEN_UP, Some(&last)), &mut open, &was).await else {
                    return Ok(Some(last));
                };
                Some(found)
            }
            Stop::Restart => {
                screen.tell("it is released, to start over".to_owned()).await;
                front.close(true).await;
                match open(Some(Whereabouts { is_wanted: true, ..was.clone() })).await {
                    Ok(front) => Some(front),
                    Err(why) if is_ours => {
                        let words = format!("{}. {START_AGAIN}", exit::in_words(&why));
                        screen.wait(words, &mut open, &was).await
                    }
                    Err(why) => screen.look(exit::in_words(&why), &mut open, &was).await,
                }
            }
        };
        let Some(found) = found else { return Ok(None) };
        front = found;
    }
}

fn is_stop(command: &Command) -> bool {
    matches!(command, Command::Run(RunCommand::Cancel { .. }))
}

/// Why a program is gone, what can be done, and below it what it said last.
fn lost(why: &str, last: Option<&LastWords>) -> String {
    let exit = last.and_then(|last| last.exit);
    let why = exit.map_or_else(|| why.to_owned(), |exit| format!("it {exit}"));
    let said = last.map(|last| last.stderr.as_slice()).unwrap_or_default();
    let lines = said.iter().map(|line| format!("\n{line}"));
    format!("{why}. {START_AGAIN}{}", lines.collect::<String>())
}

impl ScreenEnds {
    async fn tell(&self, words: String) -> Option<()> {
        self.news.send(News::Link(LinkState::Lost(words))).await.ok()
    }

    async fn pass(&mut self, front: &Front, was: &mut Whereabouts) -> anyhow::Result<Stop> {
        let mut ui = front.hub.attach("terminal", Standing::Controller, Answers::ON_SCREEN, None).await?;
        // As long as nothing is shown, a program that we started has not answered.
        let mut starts = front.is_ours();
        loop {
            tokio::select! {
                heard = ui.news.recv() => {
                    let told = match heard {
                        Some(News::Link(LinkState::Lost(why))) => return Ok(Stop::Lost(why)),
                        None => return Ok(Stop::Lost("the link was closed".to_owned())),
                        Some(told) => told,
                    };
                    was.learn(&told);
                    starts &= !matches!(told, News::Attached { .. });
                    if self.news.send(told).await.is_err() {
                        return Ok(Stop::Left);
                    }
                }
                said = self.commands.recv() => match said {
                    Some(said) if starts && is_stop(&said.command) => return Ok(Stop::GivenUp),
                    Some(Outgoing { ticket, target, command }) => {
                        if ui.port.command(ticket, target, command).await.is_err() {
                            return Ok(Stop::Lost("the link was closed".to_owned()));
                        }
                    }
                    None => return Ok(Stop::Left),
                },
                Some(()) = self.restarts.recv() => return Ok(Stop::Restart),
            }
        }
    }

    /// Waits until the person wants the program started again, and it was; `None` when the screen is gone.
    async fn wait(
        &mut self,
        mut words: String,
        open: &mut impl AsyncFnMut(Option<Whereabouts>) -> anyhow::Result<Front>,
        was: &Whereabouts,
    ) -> Option<Front> {
        loop {
            self.tell(words).await?;
            self.refuse_until(None).await?;
            match open(Some(Whereabouts { is_wanted: true, ..was.clone() })).await {
                Ok(front) => return Some(front),
                Err(why) => words = format!("{}. {START_AGAIN}", exit::in_words(&why)),
            }
        }
    }

    /// Tries again and again, and at once when the person says so; `None` when the screen is gone.
    async fn look(
        &mut self,
        mut why: String,
        open: &mut impl AsyncFnMut(Option<Whereabouts>) -> anyhow::Result<Front>,
        was: &Whereabouts,
    ) -> Option<Front> {
        let mut wait = FIRST_WAIT;
        loop {
            self.tell(format!("{why}. It is looked for; what you type stays here (Ctrl-D quits)")).await?;
            let is_wanted = self.refuse_until(Some(Instant::now() + wait)).await?;
            wait = (wait * 2).min(MAX_WAIT);
            match open(Some(Whereabouts { is_wanted, ..was.clone() })).await {
                Ok(front) => return Some(front),
                // Somebody else is there now, and that is worth more than why the first one left.
                Err(error) if matches!(error.downcast_ref(), Some(LinkError::Distrusted { .. })) => {
                    why = error.to_string();
                }
                Err(_) => {}
            }
        }
    }

    /// Tells every command up to a time, or until the person wants the runtime anew (gives which), that nobody heard it; `None` when the
    /// screen is gone.
    async fn refuse_until(&mut self, end: Option<Instant>) -> Option<bool> {
        loop {
            let over = async {
                match end {
                    Some(end) => sleep_until(end).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = over => return Some(false),
                Some(()) = self.restarts.recv() => return Some(true),
                said = self.commands.recv() => {
                    let refusal = Refusal::new(RefusalKind::Lost, "the runtime is gone")
                        .hint("what you wrote is back in the composer; send it again when the runtime is back");
                    self.news.send(News::Settled { ticket: said?.ticket, with: Err(refusal) }).await.ok()?;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::command::{ListCommand, Target};
    use domain::event::Event;
    use domain::ids::{Millis, Seq};
    use domain::port::Ticket;
    use link::child::Exit;

    type Person = (mpsc::Receiver<News>, mpsc::Sender<Outgoing>, mpsc::Sender<()>);

    fn screen() -> (ScreenEnds, Person) {
        let ((news, heard), (say, commands)) = (mpsc::channel(8), mpsc::channel(8));
        let (restart, restarts) = mpsc::channel(1);
        (ScreenEnds { news, commands, restarts }, (heard, say, restart))
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_said_meanwhile_is_refused_so_that_it_comes_back() {
        let (mut ends, (mut heard, say, restart)) = screen();
        let command = Command::List(ListCommand::Tools);
        say.send(Outgoing { ticket: Ticket(7), target: Target::Current, command }).await.unwrap();
        let mut tries = 0;
        let session = Some(SessionId::from_number(3));
        let was = Whereabouts { session, theirs: Some("their-own-name".into()), ..Whereabouts::default() };
        let open = async |wanted: Option<Whereabouts>| -> anyhow::Result<Front> {
            tries += 1;
            assert_eq!(wanted.as_ref(), Some(&was));
            anyhow::bail!("nobody listens")
        };
        let leave = async {
            // The banner, the refusal, and a second try that tells the banner again; then the screen goes.
            let News::Link(LinkState::Lost(word)) = heard.recv().await.unwrap() else { panic!() };
            assert!(word.starts_with("it crashed"));
            let News::Settled { ticket, with: Err(refusal) } = heard.recv().await.unwrap() else { panic!() };
            assert_eq!((ticket, refusal.kind), (Ticket(7), RefusalKind::Lost));
            assert!(matches!(heard.recv().await, Some(News::Link(LinkState::Lost(_)))));
            drop((heard, say, restart));
        };
        let mut open = open;
        let (found, ()) = tokio::join!(ends.look("it crashed".to_owned(), &mut open, &was), leave);
        assert!(found.is_none());
        assert!(tries >= 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_is_started_again_only_when_the_person_says_so() {
        let (mut ends, (mut heard, say, restart)) = screen();
        let mut tries = 0;
        let mut open = async |_: Option<Whereabouts>| -> anyhow::Result<Front> {
            tries += 1;
            anyhow::bail!("no such program")
        };
        let person = async {
            let News::Link(LinkState::Lost(word)) = heard.recv().await.unwrap() else { panic!() };
            assert_eq!(word, "it ended");
            let long = tokio::time::timeout(MAX_WAIT * 10, heard.recv()).await;
            assert!(long.is_err(), "nothing happens by itself");
            restart.send(()).await.unwrap();
            let News::Link(LinkState::Lost(word)) = heard.recv().await.unwrap() else { panic!() };
            assert!(word.starts_with("no such program. /restart starts it again"), "{word}");
            drop((heard, say, restart));
        };
        let nowhere = Whereabouts::default();
        let (found, ()) = tokio::join!(ends.wait("it ended".to_owned(), &mut open, &nowhere), person);
        assert!(found.is_none());
        assert_eq!(tries, 1);
    }

    #[test]
    fn where_one_was_includes_what_one_set() {
        let mut was = Whereabouts::default();
        let session = SessionId::from_number(3);
        for policy in [Policy::Ask, Policy::ReadOnly] {
            let body = Body::Session(SessionEvent::PolicyChosen { policy });
            let event = Arc::new(Event { seq: Seq(1), at: Millis(1), body });
            was.learn(&News::Happened { session: session.clone(), event });
        }
        assert_eq!(was.policy, Some(Policy::ReadOnly));
    }

    #[test]
    fn the_exit_code_and_the_last_lines_are_told_with_the_loss() {
        let last = LastWords { exit: Some(Exit::Code(3)), stderr: vec!["boom".into(), "no config".into()] };
        assert_eq!(
            lost("the peer closed the link", Some(&last)),
            "it ended with code 3. /restart starts it again (Ctrl-D quits)\nboom\nno config"
        );
        assert!(lost("the peer closed the link", None).starts_with("the peer closed the link. "));
    }
}
