//! The shell: the one place with a terminal, a clock and files. One loop: wake → update → effects → at most sixty frames a second.
//!
//! Nothing is drawn when nothing changed; idle, nothing wakes. Whatever ends the program restores the terminal.

mod effects;
mod files;
mod input;
mod picture;
mod screen;
mod terminal;

use crate::keymap::Keymap;
use crate::model::{About, Model};
use crate::msg::{Begin, Fx, Msg, Outgoing};
use crate::theme::Theme;
use crate::update::update;
use crate::view::Cache;
use domain::ids::Millis;
use domain::port::{LinkState, News};
use input::InputThread;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use terminal::Terminal;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Between two frames at least.
const FRAME: Duration = Duration::from_millis(16);
/// Messages taken in before a frame is due, so that a storm cannot starve the screen.
const MAX_BATCH: usize = 512;
/// Commands that wait for the runtime at most.
const MAX_BACKLOG: usize = 1_024;
/// Messages from the shell's own tasks (editor, files, commands) that wait at most.
const MAX_INBOX: usize = 64;

/// How the UI is to be.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What the first screen tells.
    pub about: About,
    /// Colours; without one, the terminal's own, or none with `NO_COLOR`.
    pub theme: Option<Theme>,
    /// Where earlier prompts are kept; nowhere if `None`.
    pub history: Option<PathBuf>,
    /// Whether finished text goes to the terminal's own scrollback, with a small live part below, instead of a screen of its own.
    pub inline: bool,
    /// Whether the mouse is the UI's (else the terminal's own selection works).
    pub mouse: bool,
    /// Which key does what.
    pub keys: Keymap,
    /// What to begin with.
    pub begin: Option<Begin>,
    /// The folder where files are looked up and commands run.
    pub cwd: PathBuf,
}

/// Why the UI ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    /// The person left.
    Quit,
    /// The terminal went away or a signal asked to end.
    Signal,
}

/// Runs the UI until the person leaves.
///
/// # Errors
/// When there is no terminal, or it cannot be used.
pub async fn run(
    options: Options,
    incoming: mpsc::Receiver<News>,
    outgoing: mpsc::Sender<Outgoing>,
) -> io::Result<ExitReason> {
    let theme = options.theme.unwrap_or_else(default_theme);
    let mut model = Model::new(options.about.clone(), theme);
    // Inline, the terminal's own scrolling and selecting are what the person wants.
    let mouse = options.mouse && !options.inline;
    model.screen.mouse = mouse;
    model.screen.keymap.clone_from(&options.keys);
    // Before the terminal is taken, so that no signal can end the program and leave it behind.
    let signals = terminal::Signals::new()?;
    let terminal = Terminal::enter(mouse, !options.inline)?;
    let size = terminal.size();
    let (inbox, from_tasks) = mpsc::channel(MAX_INBOX);
    let screen = screen::Screen::new(&terminal, options.inline);
    let mut fx = Vec::new();
    update(&mut model, Msg::Tick(now()), &mut fx);
    update(&mut model, Msg::Resize(size.0, size.1), &mut fx);
    let mut shell = Shell {
        model,
        cache: Cache::default(),
        screen,
        terminal,
        options,
        outgoing,
        backlog: VecDeque::new(),
        inbox,
        wake: None,
        dirty: true,
        drawn_at: None,
        exit: None,
        paused: None,
        files: files::Files::default(),
    };
    shell.perform(fx);
    shell.load_history();
    shell.tell_background();
    shell.draw()?;
    shell.work(incoming, from_tasks, signals).await
}

fn default_theme() -> Theme {
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if no_colour { Theme::Plain } else { Theme::Terminal }
}

fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

struct Shell {
    model: Model,
    cache: Cache,
    screen: screen::Screen,
    terminal: Terminal,
    options: Options,
    outgoing: mpsc::Sender<Outgoing>,
    backlog: VecDeque<Outgoing>,
    inbox: mpsc::Sender<Msg>,
    wake: Option<Instant>,
    dirty: bool,
    drawn_at: Option<Instant>,
    exit: Option<ExitReason>,
    paused: Option<effects::Pause>,
    files: files::Files,
}

impl Shell {
    async fn work(
        &mut self,
        mut incoming: mpsc::Receiver<News>,
        mut from_tasks: mpsc::Receiver<Msg>,
        mut signals: terminal::Signals,
    ) -> io::Result<ExitReason> {
        let mut input = InputThread::start()?;
        let mut runtime_gone = false;
        let outgoing = self.outgoing.clone();
        let mut begin = self.options.begin.take();
        while self.exit.is_none() {
            let (wake, waiting) = (self.wake, !self.backlog.is_empty());
            let frame_at = self.dirty.then(|| self.drawn_at.map_or_else(Instant::now, |at| at + FRAME));
            tokio::select! {
                biased;
                () = signals.next() => self.exit = Some(ExitReason::Signal),
                read = input.next() => match read {
                    Some(msg) => self.take(msg),
                    None => self.exit = Some(ExitReason::Signal),
                },
                () = until(frame_at) => self.draw()?,
                permit = outgoing.reserve(), if waiting => match permit {
                    Ok(permit) => {
                        if let Some(next) = self.backlog.pop_front() {
                            permit.send(next);
                        }
                    }
                    Err(_) => self.backlog.clear(),
                },
                Some(msg) = from_tasks.recv() => self.take(msg),
                news = incoming.recv(), if !runtime_gone => match news {
                    Some(news) => {
                        self.take(Msg::News(news));
                        for _ in 0..MAX_BATCH {
                            let Ok(news) = incoming.try_recv() else { break };
                            self.take(Msg::News(news));
                        }
                    }
                    None => {
                        runtime_gone = true;
                        let why = "it closed the link; quit with Ctrl-D and start again".to_owned();
                        self.take(Msg::News(News::Link(LinkState::Lost(why))));
                    }
                },
                () = until(wake) => {
                    self.wake = None;
                    self.take(Msg::Tick(now()));
                }
            }
            if self.model.world.current.is_some()
                && let Some(begin) = begin.take()
            {
                self.take(Msg::Begin(begin));
            }
            self.pause(&mut input).await?;
        }
        self.screen.leave(&self.terminal)?;
        self.terminal.leave();
        Ok(self.exit.unwrap_or(ExitReason::Quit))
    }

    /// Lets the colours fit the screen, where nobody chose them and the terminal shows all of them.
    fn tell_background(&mut self) {
        let colours = std::env::var("COLORTERM").is_ok_and(|value| value == "truecolor" || value == "24bit");
        if let (None, true, Some(dark)) = (self.options.theme, colours, self.terminal.facts().dark) {
            self.take(Msg::Background { dark });
        }
    }

    fn take(&mut self, msg: Msg) {
        let mut fx = Vec::new();
        update(&mut self.model, Msg::Tick(now()), &mut fx);
        update(&mut self.model, msg, &mut fx);
        self.dirty = true;
        self.perform(fx);
    }

    fn perform(&mut self, fx: Vec<Fx>) {
        for fx in fx {
            self.effect(fx);
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        self.dirty = false;
        self.drawn_at = Some(Instant::now());
        let (columns, rows) = self.model.screen.size;
        if columns == 0 || rows == 0 {
            return Ok(());
        }
        self.screen.draw(&self.model, &mut self.cache, &self.terminal)
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
