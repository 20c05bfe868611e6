//! The terminal UI on a hub, ours or one in front of a foreign runtime: how it is to be, its place at the hub, and how it stays on a
//! runtime that goes and comes back.

mod reconnect;

use crate::exit::Exit;
use crate::ui_settings::{self, Ui};
use crate::{aloud, fleet_port};
use domain::command::Command;
use domain::port::News;
use domain::session::ModelRef;
use host::launch::Launch;
use host::paths;
use host::settings;
use hub::core::Standing;
use hub::{Hub, LocalPort, LocalUi};
use reconnect::ScreenEnds;
pub(crate) use reconnect::Whereabouts;
use remote::front::Front;
use roles::Answers;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tui::{About, Begin, ExitReason, Keep, Note, Options, Restart, ScreenExits};

/// Commands that may wait between the UI and the hub.
pub(crate) const OUTGOING: usize = 64;

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
pub(crate) const NEWS: usize = 64;

/// How to go on later; what is not saved is told, for nobody can read it on the screen any more.
fn farewell(session: &str, status: &BTreeMap<String, String>) -> String {
    match status.get(domain::signal::UNSAVED) {
        None => format!("Resume this conversation with: parlor --resume {session}"),
        Some(why) => format!(
            "The end of this conversation is {why}\nWhat is kept of it, if anything: parlor --resume {session}"
        ),
    }
}

/// The same, where it is true: what is kept nowhere cannot be gone on with, and what a step of the tour keeps lies with the tour.
pub(crate) fn found_again(is_kept: bool) -> Option<tui::Farewell> {
    (is_kept && std::env::var_os(crate::tour::WITHIN).is_none()).then_some(farewell as tui::Farewell)
}

/// The place of a screen at the hub; it stays taken until this is dropped, also when the screen is gone.
pub(crate) struct Seat {
    _port: LocalPort,
    /// Carry what the screen and the hub say to each other.
    _relays: JoinSet<()>,
}

impl Seat {
    pub(crate) fn new(
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

/// How to have a real model, where the person can go from here and give a key; and where they cannot.
pub(crate) const LOG_IN: &str = "/login adds an API key, for a real model";
pub(crate) const LOG_IN_LATER: &str = "`parlor login` adds an API key, for a real model";

/// Which model answers, why, and what to ask it. `instead` is how to have a real one.
pub(crate) fn note_on(model: &ModelRef, instead: &str) -> Note {
    if model.provider == "offline" {
        note(format!("model: offline (no API key found). {instead}"), EXAMPLES)
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
pub(crate) fn with_fact(mut news: News, fact: Option<&str>) -> News {
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
    /// What is said first.
    prompt: Option<String>,
    /// What it begins with, where nothing is said first.
    begin: Option<Begin>,
    exits: Option<ScreenExits>,
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
        ui.settings.mouse &= std::env::var_os("PARLOR_NO_MOUSE").is_none_or(|value| value.is_empty());
        Ok(UiOptions {
            ui,
            file,
            warning: None,
            ephemeral: launch.ephemeral,
            plain: is_plain(launch),
            prompt: None,
            begin: None,
            exits: None,
        })
    }

    /// With more to tell on the first screen.
    pub(crate) fn telling(mut self, told: Vec<String>) -> UiOptions {
        self.ui.told.extend(told);
        self
    }

    /// With what was typed on the command line, to be said first.
    pub(crate) fn saying(self, prompt: Option<String>) -> UiOptions {
        UiOptions { prompt, ..self }
    }

    /// With what goes with the first prompt.
    pub(crate) fn beginning(self, begin: Option<Begin>) -> UiOptions {
        UiOptions { begin, ..self }
    }

    /// From which the person may go on with another agent.
    pub(crate) fn leaving(self, exits: Option<ScreenExits>) -> UiOptions {
        UiOptions { exits, ..self }
    }

    /// With something to know before anything else.
    pub(crate) fn warned(self, warning: Option<String>) -> UiOptions {
        UiOptions { warning, ..self }
    }

    /// For a screen in this folder.
    pub(crate) fn options(self, note: Note, cwd: PathBuf) -> Options {
        let data = paths::data().ok();
        Options {
            about: About {
                program: format!("parlor {}", host::version::version()),
                folder: domain::path_text::write(&cwd),
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
            begin: self.prompt.map(Begin::Prompt).or(self.begin),
            exits: self.exits,
            cwd,
            ..Options::default()
        }
    }

    /// Keeps what the person sets while the UI runs.
    fn keep(&self) -> Option<Keep> {
        let file = self.file.clone()?;
        Some(Keep(Arc::new(move |name, value| ui_settings::keep(&file, name, value))))
    }
}

/// A screen on a running hub, until the person leaves it; its place there is given too.
pub(crate) async fn seated(
    hub: &Hub,
    start: Option<Command>,
    options: Options,
    fact: Option<String>,
) -> anyhow::Result<(std::io::Result<ExitReason>, Seat)> {
    let begins = start.is_some();
    let mut ui = hub.attach("terminal", Standing::Controller, Answers::ON_SCREEN, start).await?;
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
    let keeping = reconnect::keep_attached(front, open, ScreenEnds { news, commands, restarts });
    let farewell = found_again(is_kept);
    let fleet = Some(fleet_port::port(visits));
    let options = Options { restart: Some((restart, again)), farewell, fleet, ..look.options(note, cwd) };
    let screen = tui::run(options, incoming, outgoing);
    // The screen ends first: it drops its ends of the channels, and the other side goes with them.
    let (kept, left) = tokio::join!(keeping, screen);
    if let Some(last) = kept? {
        aloud::last_words(&last);
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
            "Resume this conversation with: parlor --resume sess-1"
        );
        let status =
            BTreeMap::from([(domain::signal::UNSAVED.to_owned(), "not saved: no space left".to_owned())]);
        let said = farewell("sess-1", &status);
        assert!(said.starts_with("The end of this conversation is not saved: no space left"), "{said}");
    }
}
