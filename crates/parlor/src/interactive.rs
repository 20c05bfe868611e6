//! The terminal UI on a hub, ours or one in front of a foreign runtime.

mod again;

use crate::cli::{Attach, Common};
use crate::exit::{self, Exit};
use crate::login::{self, Login};
use crate::ps::announcement::Announcement;
use crate::remote::Front;
use crate::settings::{self, Ui};
use crate::stack::EngineTask;
use crate::{agents, attach, places, stack};
use again::ScreenEnds;
pub(crate) use again::Whereabouts;
use domain::command::{Command, LibraryCommand};
use domain::ids::SessionId;
use domain::port::News;
use domain::session::ModelRef;
use hub::core::Standing;
use hub::{Hub, LocalPort};
use roles::Answers;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tui::commands::Restart;
use tui::{About, Echo, Errand, Errands, ExitReason, Keep, Note, Options, Typed, ask_line};

/// Commands that may wait between the UI and the hub.
const OUTGOING: usize = 64;

/// Requests that the offline model understands, for the first screen.
const EXAMPLES: &[&str] = &[
    "list files",
    "read README.md",
    "run `ls -la`",
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
pub(crate) async fn own_and_errands(mut common: Common) -> anyhow::Result<Exit> {
    loop {
        let (errand, session) = match own(common.clone()).await? {
            Left::Over(exit) => return Ok(exit),
            Left::For(errand, session) => (errand, session),
        };
        // Where something was said, it goes on.
        (common.resume, common.continue_last) = (session.map(|session| Some(session.to_string())), false);
        match errand {
            Errand::Login => {
                let came_of_it = login::login(&common, Login { provider: None, keep: false }).await;
                if let Err(why) = came_of_it {
                    exit::complain(&format!("error: {}", exit::in_words(&why)));
                }
                if ask_line("Enter goes back ", Echo::Hidden).await? == Typed::Cancelled {
                    return Ok(Exit::Done);
                }
            }
            Errand::Attach(name) => {
                let attach = Attach::to(name);
                return attach::attach(Common { resume: None, ..common }, attach).await;
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

/// `parlor` in a terminal. The screen comes first: store, model and agent are put together behind it, while the person reads or types.
async fn own(common: Common) -> anyhow::Result<Left> {
    let look = UiOptions::of(&common)?;
    if common.resume == Some(None) {
        // Which conversation to go on with is asked on the bare terminal.
        let own = stack::own(&common, stack::no_log()).await?;
        let _announcement = Announcement::quietly(&own.hub, &own.cwd, "terminal").await;
        let look = look.warned(own.no_workspace);
        let note = Note { unkept: own.unkept, ..note_on(&own.model, LOG_IN_LATER) };
        let exit = on(&own.hub, own.start, note, own.cwd, look).await;
        leave(&own.hub, own.engine, exit.as_ref().is_ok_and(|exit| *exit == Exit::Done)).await;
        return Ok(Left::Over(exit?));
    }
    let ground = places::ground(&common, &mut settings::read().config)?;
    let (cwd, look) = (ground.cwd, look.warned(ground.workspace.err().map(|why| why.words())));
    let (outgoing, commands) = mpsc::channel(OUTGOING);
    let (news, incoming) = mpsc::channel(NEWS);
    let (note, noted) = watch::channel(Note::default());
    // What is kept nowhere cannot be gone on with.
    let farewell = (!common.ephemeral).then_some(farewell as tui::Farewell);
    // What is given is kept, and so is what was agreed to.
    let errands = (!common.ephemeral).then(|| Errands(Arc::new(agents::for_screen)));
    let options = Options { note: Some(noted), farewell, errands, ..look.options(Note::default(), cwd) };
    let screen = tui::run(options, incoming, outgoing);
    // A task of its own, begun when the screen waits for the first time.
    let behind = async move {
        let mut task = JoinSet::new();
        task.spawn(stand(common, news, commands, note));
        task.join_next().await
    };
    tokio::pin!(screen, behind);
    let mut stack: Option<Behind> = None;
    let left = loop {
        tokio::select! {
            biased;
            left = &mut screen => break left,
            // An error ends the screen, which gives the terminal back, and is told there.
            stood = &mut behind, if stack.is_none() => stack = stood.transpose()?.transpose()?,
        }
    };
    if let Some(Behind { hub, engine, announcement: _announcement, relays: _relays }) = stack {
        leave(&hub, engine, left.as_ref().is_ok_and(|left| *left != ExitReason::Signal)).await;
    }
    Ok(match left? {
        ExitReason::Wants { errand, session } => Left::For(errand, session),
        other @ (ExitReason::Quit | ExitReason::Signal) => Left::Over(exit(&other)),
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
    /// Carry what the screen and the hub say to each other.
    relays: JoinSet<()>,
}

/// Puts everything together and connects it with the screen.
async fn stand(
    common: Common,
    news: mpsc::Sender<News>,
    commands: mpsc::Receiver<tui::Outgoing>,
    note: watch::Sender<Note>,
) -> anyhow::Result<Behind> {
    let own = stack::own(&common, stack::no_log()).await?;
    let begins = own.start.is_some();
    let start =
        own.start.or(Some(Command::Library(LibraryCommand::New { cwd: None, title: None, id: None })));
    let instead = if common.ephemeral { LOG_IN_LATER } else { LOG_IN };
    note.send_replace(Note { unkept: own.unkept, ..note_on(&own.model, instead) });
    let mut ui = own.hub.attach("terminal", Standing::Controller, Answers::ALL, start).await?;
    if begins && let Some(first) = ui.begun().await? {
        news.send(first).await?;
    }
    let mut relays = JoinSet::new();
    relays.spawn(pass(commands, ui.port));
    relays.spawn(relay(ui.news, news));
    let announcement = Announcement::quietly(&own.hub, &own.cwd, "terminal").await;
    Ok(Behind { hub: own.hub, engine: own.engine, announcement, relays })
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

/// What to ask somebody else's runtime.
pub(crate) fn note_on_another(words: String) -> Note {
    note(words, REQUESTS)
}

fn note(words: String, examples: &[&str]) -> Note {
    Note { words, examples: examples.iter().map(|&example| example.to_owned()).collect(), unkept: None }
}

/// Passes what the hub tells to the screen.
async fn relay(mut from: mpsc::Receiver<News>, to: mpsc::Sender<News>) {
    while let Some(heard) = from.recv().await {
        if to.send(heard).await.is_err() {
            return;
        }
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

fn exit(left: &ExitReason) -> Exit {
    match left {
        ExitReason::Quit | ExitReason::Wants { .. } => Exit::Done,
        ExitReason::Signal => Exit::Cancelled,
    }
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
}

impl UiOptions {
    /// As set, and as asked for on the command line.
    pub(crate) fn of(common: &Common) -> anyhow::Result<UiOptions> {
        let file = settings::file();
        let mut ui = Ui::read(file.as_deref());
        ui.told.splice(..0, settings::read().told);
        ui.told.splice(..0, common.unread.told().map(str::to_owned));
        if let Some(name) = &common.theme {
            ui.settings.set("theme", name).map_err(anyhow::Error::msg)?;
        }
        ui.settings.inline |= common.inline;
        ui.settings.inline &= !common.full_screen;
        ui.settings.mouse &= std::env::var_os("PARLOR_NO_MOUSE").is_none();
        Ok(UiOptions { ui, file, warning: None, ephemeral: common.ephemeral })
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

/// The terminal UI on a running hub.
pub(crate) async fn on(
    hub: &Hub,
    start: Option<Command>,
    note: Note,
    cwd: PathBuf,
    look: UiOptions,
) -> anyhow::Result<Exit> {
    let begins = start.is_some();
    let mut ui = hub.attach("terminal", Standing::Controller, Answers::ALL, start).await?;
    let first = if begins { ui.begun().await? } else { None };
    let (outgoing, commands) = mpsc::channel(OUTGOING);
    let mut relays = JoinSet::new();
    relays.spawn(pass(commands, ui.port));
    let (news, heard) = mpsc::channel(NEWS);
    if let Some(first) = first {
        news.send(first).await?;
    }
    relays.spawn(relay(ui.news, news));
    let left = tui::run(look.options(note, cwd), heard, outgoing).await;
    Ok(exit(&left?))
}

/// The terminal UI on a foreign runtime: when that goes away, the screen says why and stays until it is back. `restart` is what the
/// person can do about it.
pub(crate) async fn on_runtime(
    front: Front,
    open: impl AsyncFnMut(Option<Whereabouts>) -> anyhow::Result<Front>,
    restart: Restart,
    note: Note,
    cwd: PathBuf,
    look: UiOptions,
    is_kept: bool,
) -> anyhow::Result<Exit> {
    let (news, incoming) = mpsc::channel(NEWS);
    let (outgoing, commands) = mpsc::channel(OUTGOING);
    // One wish is enough.
    let (again, restarts) = mpsc::channel(1);
    let keeping = again::keep_attached(front, open, ScreenEnds { news, commands, restarts });
    let farewell = is_kept.then_some(farewell as tui::Farewell);
    let options = Options { restart: Some((restart, again)), farewell, ..look.options(note, cwd) };
    let screen = tui::run(options, incoming, outgoing);
    // The screen ends first: it drops its ends of the channels, and the other side goes with them.
    let (kept, left) = tokio::join!(keeping, screen);
    if let Some(last) = kept? {
        last.say();
    }
    Ok(exit(&left?))
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
