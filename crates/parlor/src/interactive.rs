//! The terminal UI on a hub, ours or one in front of a foreign runtime.

mod again;

use crate::cli::Attach;
use crate::exit::{self, Exit};
use crate::launch::Launch;
use crate::login::{self, Login};
use crate::ps::announcement::Announcement;
use crate::remote::Front;
use crate::settings::{self, Ui};
use crate::stack::EngineTask;
use crate::worktrees::{self, Worktree};
use crate::{agents, attach, fleet, places, resumed, stack};
use again::ScreenEnds;
pub(crate) use again::Whereabouts;
use domain::command::{Command, LibraryCommand};
use domain::ids::SessionId;
use domain::port::News;
use domain::session::ModelRef;
use hub::core::Standing;
use hub::{Hub, LocalPort, LocalUi};
use roles::Answers;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tui::{About, Begin, Echo, Errand, Errands, ExitReason, Keep, Note, Options, Restart, Typed, ask_line};

/// Commands that may wait between the UI and the hub.
const OUTGOING: usize = 64;

/// Requests that the offline model understands, for the first screen.
const EXAMPLES: &[&str] = &[
    "list files",
    "read README.md",
    "run `touch new.txt`",
    "write hello.txt: hi",
    "ask me something",
    "think",
    "count to 200 slowly",
];

/// Requests for anybody else.
const REQUESTS: &[&str] = &[
    "what does this project do, and where would I begin to read?",
    "run the tests and tell me what fails",
    "find the smallest TODO here and do it",
];

/// News that may wait between the hub and the UI.
const NEWS: usize = 64;

/// `parlor` in a terminal, and what a person leaves its screen for: a login comes back to it, another agent takes its place.
pub(crate) async fn own_and_errands(mut launch: Launch, tree: Option<&Worktree>) -> anyhow::Result<Exit> {
    loop {
        let (errand, session) = match own(launch.clone(), tree).await? {
            Left::Over(exit) => return Ok(exit),
            Left::For(errand, session) => (errand, session),
        };
        // Where something was said, it goes on.
        (launch.resume, launch.continue_last) = (session.map(|session| Some(session.to_string())), false);
        match errand {
            Errand::Login => {
                let came_of_it = login::login(&launch, Login { provider: None, keep: false }).await;
                if let Err(why) = came_of_it {
                    exit::complain(&format!("error: {}", exit::in_words(&why)));
                }
                match ask_line("Enter goes back ", Echo::Hidden).await? {
                    Typed::Line(_) | Typed::Unusable(_) => {}
                    Typed::Cancelled => return Ok(Exit::Done),
                    Typed::Told(signal) => return Ok(Exit::Cancelled(signal)),
                }
            }
            Errand::Attach(name) => {
                let attach = Attach::to(name);
                return attach::attach(Launch { resume: None, ..launch }, attach).await;
            }
            Errand::GoOn(session) => {
                launch.resume = Some(Some(session.to_string()));
                if let Some(kept) = resumed::find(&mut launch)? {
                    return resumed::go_on(launch, kept, None).await;
                }
            }
            // Before anything of ours stood: it begins when they are back.
            Errand::Visit { pid, session } => {
                if let Over::Ended(exit) = visits(&launch, pid, session).await? {
                    return Ok(exit);
                }
            }
        }
    }
}

/// How the screen was left.
enum Left {
    Over(Exit),
    /// For something that needs the bare terminal, and where the person was.
    For(Errand, Option<SessionId>),
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
            Ok(ExitReason::Wants { errand: Errand::Visit { pid, session }, .. }) => {
                next = Some((pid, session));
            }
            Ok(ExitReason::Quit | ExitReason::Unanswered | ExitReason::Wants { .. }) => {}
            Ok(ExitReason::Signal(signal)) => return Ok(Over::Ended(Exit::Cancelled(signal))),
            Err(why) => {
                exit::complain(&format!("error: {}", exit::in_words(&why)));
                match ask_line("Enter goes back ", Echo::Hidden).await? {
                    Typed::Line(_) | Typed::Unusable(_) => {}
                    Typed::Cancelled => return Ok(Over::Ended(Exit::Done)),
                    Typed::Told(signal) => return Ok(Over::Ended(Exit::Cancelled(signal))),
                }
            }
        }
    }
    Ok(Over::Back)
}

/// `parlor` in a terminal. The screen comes first: store, model and agent are put together behind it, while the person reads or types.
async fn own(mut launch: Launch, tree: Option<&Worktree>) -> anyhow::Result<Left> {
    let look = UiOptions::of(&launch)?.telling(worktrees::told_at_start(&launch));
    // Which conversation to go on with is chosen from the list that the screen has; until then it stands in a new one.
    let begin = launch.resume.take_if(|id| id.is_none()).map(|_| Begin::Sessions);
    let ground = places::ground(&launch, &mut settings::read().config)?;
    let (cwd, look) = (ground.cwd, look.warned(ground.workspace.err().map(|why| why.words())));
    let (outgoing, commands) = mpsc::channel(OUTGOING);
    let (news, incoming) = mpsc::channel(NEWS);
    let (note, noted) = watch::channel(Note::default());
    // What is kept nowhere cannot be gone on with.
    let farewell = (!launch.ephemeral).then_some(farewell as tui::Farewell);
    // What is given is kept, and so is what was agreed to.
    let errands = (!launch.ephemeral).then(|| Errands(Arc::new(agents::for_screen)));
    let asks_after = tree.is_some();
    let options = Options {
        note: Some(noted.clone()),
        farewell,
        errands,
        begin,
        asks_after,
        fleet: Some(fleet::port(true)),
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
        while let Ok(ExitReason::Wants { errand: Errand::Visit { pid, session }, session: was }) = left {
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
        ExitReason::Wants { errand, session } => Left::For(errand, session),
        other @ (ExitReason::Quit | ExitReason::Unanswered | ExitReason::Signal(_)) => {
            Left::Over(exit(&other))
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
    engine.stop(hub).await;
}

/// How to go on later; what is not saved is told, for nobody can read it on the screen any more.
fn farewell(session: &str, status: &BTreeMap<String, String>) -> String {
    match status.get(hub::UNSAVED) {
        None => format!("To go on with this conversation: parlor --resume {session}"),
        Some(why) => format!(
            "The end of this conversation is {why}\nWhat is kept of it, if anything: parlor --resume {session}"
        ),
    }
}

/// What stands behind the screen.
struct Behind {
    hub: Hub,
    engine: EngineTask,
    announcement: Option<Announcement>,
    seat: Seat,
}

/// The place of a screen at the hub; it stays taken until this is dropped, also when the screen is gone.
struct Seat {
    _port: LocalPort,
    /// Carry what the screen and the hub say to each other.
    _relays: JoinSet<()>,
}

impl Seat {
    fn new(
        ui: LocalUi,
        commands: mpsc::Receiver<tui::Outgoing>,
        news: mpsc::Sender<News>,
        fact: Option<String>,
    ) -> Seat {
        let mut relays = JoinSet::new();
        relays.spawn(pass(commands, ui.port.clone()));
        relays.spawn(relay(ui.news, news, fact));
        Seat { _port: ui.port, _relays: relays }
    }
}

/// Puts everything together and connects it with the screen.
async fn stand(
    launch: Launch,
    news: mpsc::Sender<News>,
    commands: mpsc::Receiver<tui::Outgoing>,
    note: watch::Sender<Note>,
    fact: Option<String>,
) -> anyhow::Result<Behind> {
    let own = stack::own(&launch, stack::no_log()).await?;
    let begins = own.start.is_some();
    let start =
        own.start.or(Some(Command::Library(LibraryCommand::New { cwd: None, title: None, id: None })));
    let instead = if launch.ephemeral { LOG_IN_LATER } else { LOG_IN };
    let model = Some(own.model.name.clone());
    note.send_replace(Note { unkept: own.unkept, model, ..note_on(&own.model, instead) });
    let mut ui = own.hub.attach("terminal", Standing::Controller, Answers::ALL, start).await?;
    if begins && let Some(first) = ui.begun().await? {
        news.send(with_fact(first, fact.as_deref())).await?;
    }
    let seat = Seat::new(ui, commands, news, fact);
    let announcement = Announcement::quietly(&own.hub, &own.cwd, "terminal").await;
    Ok(Behind { hub: own.hub, engine: own.engine, announcement, seat })
}

/// How to have a real model, where the person can go from here and give a key; and where they cannot.
const LOG_IN: &str = "/login takes the key of a provider, to have a real one";
const LOG_IN_LATER: &str = "`parlor login` takes the key of a provider, to have a real one";

/// Which model answers, why, and what to ask it. `instead` is how to have a real one.
fn note_on(model: &ModelRef, instead: &str) -> Note {
    if model.provider == "offline" {
        note(format!("model: offline (no key found: it understands plain requests). {instead}"), EXAMPLES)
    } else {
        note(format!("model: {model}"), REQUESTS)
    }
}

/// What to ask somebody else's runtime; its model is known only when it has told.
pub(crate) fn note_on_another(words: String) -> Note {
    Note { offline_examples: owned(EXAMPLES), ..note(words, REQUESTS) }
}

fn note(words: String, examples: &[&str]) -> Note {
    Note { words, examples: owned(examples), ..Note::default() }
}

fn owned(examples: &[&str]) -> Vec<String> {
    examples.iter().map(|&example| example.to_owned()).collect()
}

/// In which status field a worktree stands.
const WORKTREE: &str = "worktree";

/// What is shown of a session says in which worktree that is.
fn with_fact(mut news: News, fact: Option<&str>) -> News {
    if let (News::Attached { board, .. }, Some(fact)) = (&mut news, fact) {
        board.status.insert(WORKTREE.to_owned(), fact.to_owned());
    }
    news
}

/// Passes what the hub tells to the screen. Without one it is not heard, and the place is not given up.
async fn relay(mut from: mpsc::Receiver<News>, to: mpsc::Sender<News>, fact: Option<String>) {
    while let Some(heard) = from.recv().await {
        let _ = to.send(with_fact(heard, fact.as_deref())).await;
    }
}

/// Passes what the screen wants to the hub.
async fn pass(mut commands: mpsc::Receiver<tui::Outgoing>, port: LocalPort) {
    while let Some(tui::Outgoing { ticket, target, command }) = commands.recv().await {
        if port.command(ticket, target, command).await.is_err() {
            return;
        }
    }
}

/// How the program ends after a screen was left for good.
pub(crate) fn exit(left: &ExitReason) -> Exit {
    match left {
        ExitReason::Quit | ExitReason::Wants { .. } => Exit::Done,
        ExitReason::Unanswered => Exit::NeedsInput,
        ExitReason::Signal(signal) => Exit::Cancelled(*signal),
    }
}

/// Whether lines of text are wanted instead of a screen: as asked for, and in a terminal that cannot draw one.
pub(crate) fn is_plain(launch: &Launch) -> bool {
    launch.plain || std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// How the terminal UI is to be: what the person has set, and over it what the command line says.
#[derive(Debug, Clone)]
pub(crate) struct UiOptions {
    ui: Ui,
    file: Option<PathBuf>,
    /// What to know before anything else.
    warning: Option<String>,
    /// Whether nothing is to be kept, what was typed neither.
    ephemeral: bool,
    /// Lines of text instead of a screen.
    plain: bool,
}

impl UiOptions {
    /// As set, and as asked for on the command line.
    pub(crate) fn of(launch: &Launch) -> anyhow::Result<UiOptions> {
        let file = settings::file();
        let mut ui = Ui::read(file.as_deref());
        ui.told.splice(..0, settings::read().told);
        ui.told.splice(..0, launch.unread.told.iter().cloned());
        if let Some(name) = &launch.theme {
            ui.settings.set("theme", name).map_err(anyhow::Error::msg)?;
        }
        ui.settings.inline |= launch.inline;
        ui.settings.inline &= !launch.full_screen;
        ui.settings.mouse &= std::env::var_os("PARLOR_NO_MOUSE").is_none();
        Ok(UiOptions { ui, file, warning: None, ephemeral: launch.ephemeral, plain: is_plain(launch) })
    }

    /// With more to tell on the first screen.
    pub(crate) fn telling(mut self, told: Vec<String>) -> UiOptions {
        self.ui.told.extend(told);
        self
    }

    /// With something to know before anything else.
    fn warned(self, warning: Option<String>) -> UiOptions {
        UiOptions { warning, ..self }
    }

    fn options(self, note: Note, cwd: PathBuf) -> Options {
        let data = places::data().ok();
        Options {
            about: About {
                program: format!("parlor {}", env!("CARGO_PKG_VERSION")),
                note,
                settings: self.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default(),
                warning: self.warning.clone(),
                told: self.ui.told.clone(),
            },
            keep: self.keep(),
            settings: self.ui.settings,
            keys: self.ui.keys,
            history: data.as_ref().filter(|_| !self.ephemeral).map(|data| data.join("prompts")),
            drafts: data,
            plain: self.plain,
            cwd,
            ..Options::default()
        }
    }

    /// Keeps what the person sets while the UI runs.
    fn keep(&self) -> Option<Keep> {
        let file = self.file.clone()?;
        Some(Keep(Arc::new(move |name, value| settings::keep(&file, name, value))))
    }
}

/// A screen on a running hub, until the person leaves it; its place there is given too.
async fn seated(
    hub: &Hub,
    start: Option<Command>,
    options: Options,
    fact: Option<String>,
) -> anyhow::Result<(std::io::Result<ExitReason>, Seat)> {
    let begins = start.is_some();
    let mut ui = hub.attach("terminal", Standing::Controller, Answers::ALL, start).await?;
    let first = if begins { ui.begun().await? } else { None };
    let (outgoing, commands) = mpsc::channel(OUTGOING);
    let (news, heard) = mpsc::channel(NEWS);
    if let Some(first) = first {
        news.send(with_fact(first, fact.as_deref())).await?;
    }
    let seat = Seat::new(ui, commands, news, fact);
    Ok((tui::run(options, heard, outgoing).await, seat))
}

/// The terminal UI on a foreign runtime: when that goes away, the screen says why and stays until it is back. `restart` is what the
/// person can do about it; `visits` whether they may leave for another process.
pub(crate) async fn on_runtime(
    front: Front,
    open: impl AsyncFnMut(Option<Whereabouts>) -> anyhow::Result<Front>,
    restart: Restart,
    (note, visits): (Note, bool),
    cwd: PathBuf,
    look: UiOptions,
    is_kept: bool,
) -> anyhow::Result<ExitReason> {
    let (news, incoming) = mpsc::channel(NEWS);
    let (outgoing, commands) = mpsc::channel(OUTGOING);
    // One wish is enough.
    let (again, restarts) = mpsc::channel(1);
    let keeping = again::keep_attached(front, open, ScreenEnds { news, commands, restarts });
    let farewell = is_kept.then_some(farewell as tui::Farewell);
    let fleet = Some(fleet::port(visits));
    let options = Options { restart: Some((restart, again)), farewell, fleet, ..look.options(note, cwd) };
    let screen = tui::run(options, incoming, outgoing);
    // The screen ends first: it drops its ends of the channels, and the other side goes with them.
    let (kept, left) = tokio::join!(keeping, screen);
    if let Some(last) = kept? {
        last.say();
    }
    Ok(left?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_leaves_what_is_not_saved_is_told() {
        assert_eq!(
            farewell("sess-1", &BTreeMap::new()),
            "To go on with this conversation: parlor --resume sess-1"
        );
        let status = BTreeMap::from([(hub::UNSAVED.to_owned(), "not saved: no space left".to_owned())]);
        let said = farewell("sess-1", &status);
        assert!(said.starts_with("The end of this conversation is not saved: no space left"), "{said}");
    }
}
