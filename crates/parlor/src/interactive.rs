//! `parlor` in a terminal: our own agent behind the screen, and what a person leaves that screen for.

use crate::exit::{self, Exit};
use crate::handover::{self, Ended, Told};
use crate::login::{self, Login, on_screen};
use crate::output;
use crate::screen::{
    self, LOG_IN, LOG_IN_LATER, NEWS, OUTGOING, Seat, UiOptions, found_again, note_on, seated, with_fact,
};
use crate::{agent_list, aloud, attach, fleet_port, resumed};
use domain::command::{Command, LibraryCommand};
use domain::ids::SessionId;
use domain::port::News;
use host::announcement::Announcement;
use host::launch::Launch;
use host::settings::{self};
use host::stack::EngineTask;
use host::worktrees::{self, Worktree};
use host::{mode, paths, stack, store_place};
use hub::Hub;
use hub::core::Standing;
use remote::elsewhere;
use roles::Answers;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tui::{Begin, Echo, ExitReason, Note, Options, ScreenExit, ScreenExits, TypedLine, ask_line};

/// `parlor` in a terminal, and what a person leaves its screen for: a login comes back to it, another agent takes its place.
pub(crate) async fn own_and_errands(launch: Launch, tree: Option<&Worktree>) -> anyhow::Result<Exit> {
    goes_on(launch, tree, None).await
}

/// The same, with what was done elsewhere before.
async fn goes_on(
    mut launch: Launch,
    tree: Option<&Worktree>,
    mut told: Option<Told>,
) -> anyhow::Result<Exit> {
    launch.own_ui = true;
    loop {
        let first = launch.prompt.take().map(Begin::Prompt);
        let with = told.take();
        let note = with.as_ref().map(Told::line);
        let first = first.or_else(|| with.as_ref().map(Told::begin));
        let (exit, session) = match own(launch.clone(), tree, first, note).await? {
            ScreenLeft::Over(exit) => return Ok(exit),
            ScreenLeft::For(exit, session) => (exit, session),
        };
        // Where something was said, it goes on.
        (launch.resume, launch.continue_last) = (session.map(|session| Some(session.to_string())), false);
        match exit {
            ScreenExit::Login => {
                let came_of_it = login::login(&launch, Login { provider: None, keep: false }).await;
                if let Err(why) = came_of_it {
                    output::print_error(&format!("error: {}", exit::in_words(&why)));
                }
                match ask_line("Enter goes back ", Echo::Hidden).await? {
                    TypedLine::Line(_) | TypedLine::Unusable(_) => {}
                    TypedLine::Cancelled => return Ok(Exit::Done),
                    TypedLine::Told(signal) => return Ok(Exit::Cancelled(signal)),
                }
            }
            ScreenExit::Attach(name) => {
                let from = launch.resume.clone().flatten().and_then(|id| SessionId::parse(&id));
                match handover::go_on(&launch, name, from).await? {
                    Ended::Over(exit) => return Ok(exit),
                    Ended::Back(back) => told = back.told,
                }
            }
            ScreenExit::GoOn(session) => {
                launch.resume = Some(Some(session.to_string()));
                if let Some(kept) = elsewhere::find(&mut launch)? {
                    return resumed::go_on(launch, kept, None).await;
                }
            }
            // Before anything of ours stood: it begins when they are back.
            ScreenExit::Visit { pid, session } => {
                if let Over::Ended(exit) = visits(&launch, pid, session).await? {
                    return Ok(exit);
                }
            }
        }
    }
}

enum ScreenLeft {
    Over(Exit),
    /// For something that needs the bare terminal, and where the person was.
    For(ScreenExit, Option<SessionId>),
}

/// How a visit of other processes came to its end.
pub(crate) enum Over {
    /// The person is back.
    Back,
    /// The program is to end.
    Ended(Exit),
}

/// The person is in sessions of other processes, one after the other, until they quit there.
pub(crate) async fn visits(launch: &Launch, pid: u32, session: SessionId) -> anyhow::Result<Over> {
    let mut next = Some((pid, session));
    while let Some((pid, session)) = next.take() {
        match attach::visit(launch, pid, &session).await {
            Ok(ExitReason::Wants { exit: ScreenExit::Visit { pid, session }, .. }) => {
                next = Some((pid, session));
            }
            Ok(ExitReason::Quit | ExitReason::Unanswered | ExitReason::Wants { .. }) => {}
            Ok(ExitReason::Signal(signal)) => return Ok(Over::Ended(Exit::Cancelled(signal))),
            Err(why) => {
                output::print_error(&format!("error: {}", exit::in_words(&why)));
                match ask_line("Enter goes back ", Echo::Hidden).await? {
                    TypedLine::Line(_) | TypedLine::Unusable(_) => {}
                    TypedLine::Cancelled => return Ok(Over::Ended(Exit::Done)),
                    TypedLine::Told(signal) => return Ok(Over::Ended(Exit::Cancelled(signal))),
                }
            }
        }
    }
    Ok(Over::Back)
}

/// `parlor` in a terminal. The screen comes first: store, model and agent are put together behind it, while the person reads or types.
async fn own(
    mut launch: Launch,
    tree: Option<&Worktree>,
    first: Option<Begin>,
    note: Option<String>,
) -> anyhow::Result<ScreenLeft> {
    let look = UiOptions::of(&launch)?.telling(worktrees::told_at_start(&launch));
    let look = look.telling(note.into_iter().collect());
    // Which conversation to go on with is chosen from the list that the screen has; until then it stands in a new one.
    let list = launch.resume.take_if(|id| id.is_none()).map(|_| Begin::Sessions);
    let search = launch.search.take().map(Begin::Search);
    let begin = list.or(search).or(first);
    let work_dir = paths::work_dir(&launch, &mut settings::read().config)?;
    let (cwd, look) = (work_dir.cwd, look.warned(work_dir.workspace.err().map(|why| why.words())));
    let (outgoing, commands) = mpsc::channel(OUTGOING);
    let (news, incoming) = mpsc::channel(NEWS);
    let (note, noted) = watch::channel(Note::default());
    let farewell = found_again(!launch.ephemeral);
    // What goes to another agent is read from the file of this machine.
    let is_here = store_place::database(&launch).is_ok_and(|database| database.is_none());
    // What is given is kept, and so is what was agreed to.
    let exits = (!launch.ephemeral).then(|| ScreenExits {
        agents: Arc::new(move || if is_here { agent_list::for_screen() } else { Vec::new() }),
        login: Some(on_screen::port(launch.model.is_some())),
    });
    let asks_after = tree.is_some();
    let options = Options {
        note: Some(noted.clone()),
        farewell,
        exits,
        begin,
        asks_after,
        fleet: Some(fleet_port::port(true)),
        ..look.options(Note::default(), cwd)
    };
    let again = Options { note: None, begin: None, ..options.clone() };
    let (typed, again_fact) = (launch.clone(), tree.map(Worktree::shown));
    let screen = tui::run(options, incoming, outgoing);
    let fact = tree.map(Worktree::shown);
    // A task of its own, begun when the screen waits for the first time.
    let behind = async move {
        let mut task = JoinSet::new();
        task.spawn(stand(launch, news, commands, note, fact));
        task.join_next().await
    };
    tokio::pin!(screen, behind);
    let mut stack: Option<Behind> = None;
    let mut left = loop {
        tokio::select! {
            biased;
            left = &mut screen => break left,
            // An error ends the screen, which gives the terminal back, and is told there.
            stood = &mut behind, if stack.is_none() => stack = stood.transpose()?.transpose()?,
        }
    };
    if let Some(Behind { hub, engine, announcement: _announcement, seat }) = stack {
        // Its place here stays taken while the person is elsewhere: what runs goes on, and what it asks waits for them.
        let mut away = seat;
        while let Ok(ExitReason::Wants { exit: ScreenExit::Visit { pid, session }, session: was }) = left {
            left = match visits(&typed, pid, session).await? {
                Over::Ended(Exit::Cancelled(signal)) => Ok(ExitReason::Signal(signal)),
                Over::Ended(_) => Ok(ExitReason::Quit),
                Over::Back => {
                    let mut options = again.clone();
                    options.about.note.clone_from(&noted.borrow());
                    let back = seated(&hub, Some(back_to(was)), options, again_fact.clone()).await?;
                    away = back.1;
                    back.0
                }
            };
        }
        drop(away);
        leave(&hub, engine, left.as_ref().is_ok_and(|left| !matches!(left, ExitReason::Signal(_)))).await;
    }
    Ok(match left? {
        ExitReason::Wants { exit, session } => ScreenLeft::For(exit, session),
        other @ (ExitReason::Quit | ExitReason::Unanswered | ExitReason::Signal(_)) => {
            ScreenLeft::Over(screen::exit(&other))
        }
    })
}

/// Where the person is when they come back.
fn back_to(was: Option<SessionId>) -> Command {
    Command::Library(match was {
        Some(session) => LibraryCommand::Open { session },
        None => LibraryCommand::New { cwd: None, title: None, id: None },
    })
}

/// Stops our own hub. Unless the person chose to leave, the runs end first: nobody meant them to wait for the next time.
async fn leave(hub: &Hub, engine: EngineTask, chosen: bool) {
    if !chosen {
        hub.end().await;
    }
    aloud::stop(engine, hub).await;
}

/// What stands behind the screen.
struct Behind {
    hub: Hub,
    engine: EngineTask,
    announcement: Option<Announcement>,
    seat: Seat,
}

/// Puts everything together and connects it with the screen.
async fn stand(
    launch: Launch,
    news: mpsc::Sender<News>,
    commands: mpsc::Receiver<tui::Outgoing>,
    note: watch::Sender<Note>,
    fact: Option<String>,
) -> anyhow::Result<Behind> {
    // What another process has open is joined there.
    let own = stack::own_visiting(&launch, Some(host::visits::port()), stack::no_log()).await?;
    let begins = own.start.is_some();
    let start =
        own.start.or(Some(Command::Library(LibraryCommand::New { cwd: None, title: None, id: None })));
    let instead = if launch.ephemeral { LOG_IN_LATER } else { LOG_IN };
    let model = Some(own.model.name.clone());
    // A session that is gone on with has the mode that it had.
    let told = if begins { None } else { mode::first_told(&own.ground, &paths::data()?, launch.ephemeral) };
    note.send_replace(Note { unkept: own.unkept, told, model, ..note_on(&own.model, instead) });
    let mut ui = own.hub.attach("terminal", Standing::Controller, Answers::ON_SCREEN, start).await?;
    if begins && let Some(first) = ui.begun().await? {
        news.send(with_fact(first, fact.as_deref())).await?;
    }
    let seat = Seat::new(ui, commands, news, fact);
    let announcement = Announcement::quietly(&own.hub, &own.cwd, "terminal").await;
    Ok(Behind { hub: own.hub, engine: own.engine, announcement, seat })
}
