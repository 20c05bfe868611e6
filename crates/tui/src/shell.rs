//! The shell: the one place with a terminal, a clock and files. One loop: wake → update → effects → a frame, paced: at once after
//! a key, else at most twenty times a second.
//!
//! Nothing is drawn when nothing changed; idle, nothing wakes. Whatever ends the program restores the terminal.

mod bitmap;
mod branch;
mod clipboard;
mod command;
mod decode;
mod effects;
mod files;
mod gallery;
mod input;
mod line;
mod lines;
mod picture;
mod plain;
mod raw;
mod screen;
mod terminal;

pub use effects::notification;
pub use line::{Echo, MAX_LINE, TypedLine, ask_line};
pub use picture::picture_file;
pub use terminal::{FoundTerminal, StopSignal};

use crate::about::{About, Note};
use crate::commands::{FleetHere, Restart};
use crate::keymap::Keymap;
use crate::layout::has_unseen_question;
use crate::login::TypedKey;
use crate::model::Model;
use crate::msg::{
    AgentLine, Begin, FleetNews, FleetWish, Fx, LoginNews, Msg, Outgoing, ProviderLine, ScreenExit,
};
use crate::picture::Graphics;
use crate::settings::{Setting, Settings};
use crate::theme::{Depth, Theme};
use crate::update::update;
use crate::view::Cache;
use decode::Answer;
use domain::ids::{Millis, SessionId};
use domain::port::{LinkState, News};
use input::{Input, InputThread};
use screen::FrameOutcome;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use terminal::Terminal;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Between two frames that show what came in, at least.
const FRAME: Duration = Duration::from_millis(50);
/// Between two frames after a key, at least: nobody should wait for what they typed.
const KEY_FRAME: Duration = Duration::from_millis(4);
/// How long the size must have stayed the same before the inline screen is drawn for it: while a window is dragged, the terminal moves
/// what is shown itself.
const QUIET: Duration = Duration::from_millis(40);
/// The same where the next size may be told that much later than it is there: tmux takes sizes that come within 250 ms together.
/// What is drawn for a size that is gone stands in the wrong places.
const QUIET_LATE: Duration = Duration::from_millis(300);
/// Messages taken in before a frame is due, so that a storm cannot starve the screen.
const MAX_BATCH: usize = 512;
/// Commands that wait for the runtime at most.
const MAX_BACKLOG: usize = 1_024;
/// Messages from the shell's own tasks (editor, files, commands) that wait at most.
const MAX_INBOX: usize = 64;
/// How long the end waits for settings to be kept.
const KEEP_WITHIN: Duration = Duration::from_secs(1);

/// How the UI is to be.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What the first screen tells.
    pub about: About,
    /// What the person has set; colours that were not chosen are the terminal's own, or none with `NO_COLOR`.
    pub settings: Settings,
    /// Keeps what the person sets from here on.
    pub keep: Option<Keep>,
    /// Where earlier prompts are kept; nowhere if `None`.
    pub history: Option<PathBuf>,
    /// A folder of the person's own, for the file that their editor gets.
    pub drafts: Option<PathBuf>,
    pub keys: Keymap,
    /// A line more for the first screen, told when it is known.
    pub note: Option<watch::Receiver<Note>>,
    /// What to say on the bare terminal when the person leaves, given the session they were in and its status fields; only where
    /// something was said.
    pub farewell: Option<Farewell>,
    pub begin: Option<Begin>,
    /// Lines of text instead of a screen.
    pub plain: bool,
    /// Whether the person is asked something on the bare terminal when they have left.
    pub asks_after: bool,
    /// The folder where files are looked up and commands run.
    pub cwd: PathBuf,
    /// What can be done about a runtime that is gone, and who does it.
    pub restart: Option<(Restart, mpsc::Sender<()>)>,
    /// What the person may leave the screen for, where whoever runs it sees to that.
    pub exits: Option<ScreenExits>,
    /// Where the fleet is gathered.
    pub fleet: Option<FleetPort>,
}

/// The way to whoever gathers the fleet.
#[derive(Clone)]
pub struct FleetPort {
    /// Begins, given where to tell; gives where to wish. No rows are gathered before that is wished for; devices are told of always.
    pub begin: Arc<GatherFn>,
    /// The process that the screen belongs to.
    pub pid: u32,
    /// Whether the person may go to sessions of other processes.
    pub visits: bool,
}

type GatherFn = dyn Fn(mpsc::Sender<FleetNews>) -> mpsc::Sender<FleetWish> + Send + Sync;

impl fmt::Debug for FleetPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FleetPort")
    }
}

/// Lets the person leave the screen for a login or for another agent; tells which agents there are.
#[derive(Clone)]
pub struct ScreenExits {
    pub agents: Arc<AgentsFn>,
    /// Takes a key without the screen being left; lines of text leave it all the same.
    pub login: Option<LoginPort>,
}

/// Takes the key of a provider.
#[derive(Clone)]
pub struct LoginPort {
    /// Whose key can be given.
    pub providers: Arc<dyn Fn() -> Vec<ProviderLine> + Send + Sync>,
    /// Tries a key of this provider and saves it, whatever the provider says if so.
    pub give: Arc<GiveFn>,
}

type GiveFn = dyn Fn(String, TypedKey, bool) -> Pin<Box<dyn Future<Output = LoginNews> + Send>> + Send + Sync;

type AgentsFn = dyn Fn() -> Vec<AgentLine> + Send + Sync;

impl fmt::Debug for ScreenExits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScreenExits")
    }
}

/// The last word, given a session and its status fields.
pub type Farewell = fn(&str, &BTreeMap<String, String>) -> String;

/// Keeps a setting, given its name and value; tells in words why it could not.
#[derive(Clone)]
pub struct Keep(pub Arc<KeepFn>);

type KeepFn = dyn Fn(&str, &str) -> Result<(), String> + Send + Sync;

impl fmt::Debug for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keep")
    }
}

/// Why the UI ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExitReason {
    /// The person left.
    Quit,
    /// A question waits, and nobody is there who could answer it.
    Unanswered,
    /// The person left for something that needs the bare terminal.
    Wants {
        exit: ScreenExit,
        /// Where they were, if something was said there.
        session: Option<SessionId>,
    },
    /// A signal asked to end, or the terminal went away, which counts as SIGHUP.
    Signal(StopSignal),
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
    if options.plain {
        return plain::run(options, incoming, outgoing).await;
    }
    let settings = options.settings;
    let depth = Depth::told(variable);
    let mut model = Model::new(options.about.clone(), default_theme(depth, variable));
    model.screen.preferences.load(settings, options.keys.clone());
    model.screen.preferences.colour_with(depth);
    let restart = options.restart.as_ref().map(|(restart, _)| *restart).unwrap_or_default();
    model.screen.start.stand(restart, options.exits.is_some());
    if options.exits.as_ref().is_some_and(|exits| exits.login.is_some()) {
        model.screen.start.logs_in();
    }
    let (told, fleet) = mpsc::channel(MAX_INBOX);
    let wishes = options.fleet.as_ref().map(|port| {
        model.screen.start.survey(FleetHere { pid: port.pid, visits: port.visits });
        model.screen.start.enlist();
        (port.begin)(told)
    });
    // Inline, the terminal's own scrolling and selecting are what the person wants.
    let mouse = settings.mouse && !settings.inline;
    // Before the terminal is taken, so that no signal can end the program and leave it behind.
    let signals = terminal::Signals::new()?;
    let sizes = terminal::Sizes::new()?;
    let terminal = Terminal::enter(mouse, !settings.inline)?;
    let size = terminal.size();
    let (inbox, from_tasks) = mpsc::channel(MAX_INBOX);
    model.screen.preferences.draw_with(graphics(&terminal, settings.inline, depth));
    let gallery = gallery::Gallery::new(inbox.clone());
    let (kept, keeping) = keeper(options.keep.clone(), inbox.clone());
    let screen = screen::TerminalScreen::new(&terminal, settings.inline)?;
    let mut fx = Vec::new();
    update(&mut model, Msg::Tick(now()), &mut fx);
    update(&mut model, Msg::Resize(size.0, size.1), &mut fx);
    fx.extend(model.fleet_wish().filter(|_| settings.fleet));
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
        typed: false,
        drawn_at: None,
        resized_at: None,
        locating: None,
        moved: false,
        exit: None,
        paused: None,
        files: files::Files::default(),
        kept,
        keeping,
        gallery,
        command: None,
        logins: JoinSet::new(),
        wishes,
    };
    shell.perform(fx);
    shell.load_history();
    shell.draw()?;
    let left = shell.work(incoming, from_tasks, fleet, (signals, sizes)).await;
    shell.end().await;
    left
}

/// What the terminal can do with pictures. In the scrollback they could not be decoded in time.
fn graphics(terminal: &Terminal, inline: bool, depth: Depth) -> Graphics {
    match () {
        () if inline => Graphics::None,
        () if terminal.facts().placeholders => Graphics::Placeholders,
        () if depth == Depth::All => Graphics::Blocks,
        () => Graphics::None,
    }
}

/// The colours where nobody chose any, before the terminal has said how dark its screen is: most are dark, and text has the
/// terminal's own colour on either.
fn default_theme(depth: Depth, variable: impl Fn(&str) -> String) -> Theme {
    let light = terminal::dark_told(&variable("COLORFGBG")) == Some(false);
    match depth {
        _ if !variable("NO_COLOR").is_empty() => Theme::Plain,
        Depth::Mono => Theme::Plain,
        Depth::Sixteen => Theme::Terminal,
        Depth::Indexed | Depth::All if light => Theme::Light,
        Depth::Indexed | Depth::All => Theme::Dark,
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

struct Shell {
    model: Model,
    cache: Cache,
    screen: screen::TerminalScreen,
    terminal: Terminal,
    options: Options,
    outgoing: mpsc::Sender<Outgoing>,
    backlog: VecDeque<Outgoing>,
    inbox: mpsc::Sender<Msg>,
    wake: Option<Instant>,
    dirty: bool,
    /// Whether the person did something that is not drawn yet.
    typed: bool,
    drawn_at: Option<Instant>,
    /// When the size changed last, and it must be known where the inline screen is.
    resized_at: Option<Instant>,
    /// Which answer of the terminal will tell it, and until when that is waited for.
    locating: Option<(u32, Instant)>,
    /// Whether the size changed since: the answer is worth nothing.
    moved: bool,
    exit: Option<ExitReason>,
    paused: Option<effects::Pause>,
    files: files::Files,
    gallery: gallery::Gallery,
    /// The person's command under way.
    command: Option<command::Running>,
    /// A key that is tried, and who looks for providers.
    logins: JoinSet<()>,
    /// Settings on their way to be kept, one after the other.
    kept: mpsc::Sender<(Setting, &'static str)>,
    keeping: JoinSet<()>,
    /// Where is wished of whoever gathers the fleet.
    wishes: Option<mpsc::Sender<FleetWish>>,
}

/// Keeps settings in the order in which they were chosen, beside the loop, until there are no more.
fn keeper(
    keep: Option<Keep>,
    inbox: mpsc::Sender<Msg>,
) -> (mpsc::Sender<(Setting, &'static str)>, JoinSet<()>) {
    let (send, mut chosen) = mpsc::channel::<(Setting, &'static str)>(MAX_INBOX);
    let mut keeping = JoinSet::new();
    keeping.spawn_blocking(move || {
        while let Some((setting, value)) = chosen.blocking_recv() {
            let Some(Keep(keep)) = &keep else { continue };
            if let Err(why) = keep(setting.name(), value) {
                let _ = inbox.blocking_send(Msg::ShellNotice(why));
            }
        }
    });
    (send, keeping)
}

impl Shell {
    async fn work(
        &mut self,
        mut incoming: mpsc::Receiver<News>,
        mut from_tasks: mpsc::Receiver<Msg>,
        mut fleet: mpsc::Receiver<FleetNews>,
        (mut signals, mut sizes): (terminal::Signals, terminal::Sizes),
    ) -> io::Result<ExitReason> {
        let mut input = InputThread::start()?;
        let mut runtime_gone = false;
        let outgoing = self.outgoing.clone();
        let mut begin = self.options.begin.take();
        let mut note = self.options.note.take();
        self.find_branch(domain::path_text::write(&self.options.cwd));
        while self.exit.is_none() {
            let (wake, waiting) = (self.wake, !self.backlog.is_empty());
            let pace = if self.typed { KEY_FRAME } else { FRAME };
            let frame_at = self.dirty.then(|| self.drawn_at.map_or_else(Instant::now, |at| at + pace));
            let frame_at = frame_at.filter(|_| self.resized_at.is_none());
            let quiet_at = self.resized_at.filter(|_| self.locating.is_none()).map(|at| at + self.quiet());
            let silent_at = self.locating.map(|(_, until)| until);
            tokio::select! {
                biased;
                signal = signals.next() => self.exit = Some(ExitReason::Signal(signal)),
                read = input.next() => match read {
                    Some(Input::Msg(msg, at)) => {
                        self.take_at(at, *msg);
                        self.typed = true;
                    }
                    Some(Input::Answer(answer)) => self.learn(&answer)?,
                    Some(Input::Gone) | None => return Ok(self.abandon()),
                },
                () = sizes.changed() => {
                    let (columns, rows) = self.terminal.size();
                    self.resize((columns, rows));
                    self.take(Msg::Resize(columns, rows));
                    self.typed = true;
                }
                () = until(quiet_at) => self.locate()?,
                () = until(silent_at) => self.located(None),
                () = until(frame_at) => match self.draw() {
                    Err(_) if terminal::is_gone() => return Ok(self.abandon()),
                    drawn => drawn?,
                },
                permit = outgoing.reserve(), if waiting => match permit {
                    Ok(permit) => {
                        if let Some(next) = self.backlog.pop_front() {
                            permit.send(next);
                        }
                    }
                    Err(_) => self.backlog.clear(),
                },
                Some(msg) = from_tasks.recv() => self.take(msg),
                Some(heard) = fleet.recv() => self.take(Msg::Fleet(heard)),
                said = told(&mut note) => self.take(Msg::Note(said)),
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
                if let Begin::Prompt(text) = &begin {
                    self.model.screen.composer.remember(text.clone());
                    self.perform(vec![Fx::SaveHistory(text.clone())]);
                }
                self.take(Msg::Begin(begin));
            }
            self.pause(&mut input).await?;
        }
        if terminal::is_gone() {
            return Ok(self.abandon());
        }
        self.save_drafts();
        self.await_answers(&mut input).await;
        let gone = self.gallery.forget();
        self.forget_pictures(&gone)?;
        self.screen.finish(&self.model, &mut self.cache, &self.terminal)?;
        // What comes next, a question or another screen, reads the terminal itself.
        input.end().await;
        self.terminal.leave();
        if !matches!(self.exit, Some(ExitReason::Wants { .. })) {
            self.say_farewell();
        }
        Ok(self.exit.take().unwrap_or(ExitReason::Quit))
    }

    /// Waits for what must not be broken off: the person's command, and settings that were chosen just now.
    async fn end(self) {
        let Shell { terminal, command, kept, mut keeping, .. } = self;
        // The person has it back at once.
        drop(terminal);
        if let Some(command) = command {
            command.end().await;
        }
        drop(kept);
        let _ = tokio::time::timeout(KEEP_WITHIN, keeping.join_next()).await;
    }

    /// Ends without a terminal: nothing can be shown any more, and what was begun to be typed is kept.
    fn abandon(&mut self) -> ExitReason {
        self.save_drafts();
        ExitReason::Signal(StopSignal::HangUp)
    }

    /// The terminal answers something that it was asked, whenever that is.
    fn learn(&mut self, answer: &Answer) -> io::Result<()> {
        if let (None, Some(key)) = (self.terminal.answering(), answer.as_key()) {
            self.take(Msg::Key(key));
            return Ok(());
        }
        let (answering, wanted) = (self.terminal.answering(), self.locating.map(|(wanted, _)| wanted));
        self.terminal.learn(answer)?;
        match answer {
            Answer::Dark(dark) => self.take(Msg::Background { dark: *dark }),
            Answer::Name(_) => self.draw_pictures(),
            Answer::Cursor(row, column) if wanted.is_some() && wanted == answering => {
                self.located(Some((*row, *column)));
            }
            // It came to the end without a word about its cursor.
            Answer::Attributes if wanted.is_some() && wanted <= answering => self.located(None),
            Answer::Cursor(..) | Answer::Attributes | Answer::Keys | Answer::Synchronized(_) => {}
        }
        Ok(())
    }

    /// The terminal told its name, and so what it can do with pictures.
    fn draw_pictures(&mut self) {
        let preferences = &mut self.model.screen.preferences;
        let graphics = graphics(&self.terminal, self.options.settings.inline, Depth::told(variable));
        if preferences.graphics() != graphics {
            preferences.draw_with(graphics);
            self.gallery.forget();
            self.dirty = true;
        }
    }

    /// Takes in what the terminal still has to say: what comes after the end would be typed into whatever reads it next.
    async fn await_answers(&mut self, input: &mut InputThread) {
        while let Some(until) = self.terminal.owes_until() {
            match tokio::time::timeout_at(until, input.next()).await {
                Ok(Some(Input::Answer(answer))) if self.terminal.learn(&answer).is_ok() => {}
                Ok(Some(Input::Msg(..))) => {}
                Ok(Some(Input::Answer(_) | Input::Gone) | None) | Err(_) => return,
            }
        }
    }

    fn take(&mut self, msg: Msg) {
        self.take_at(now(), msg);
    }

    /// Takes in what came at this time.
    fn take_at(&mut self, at: Millis, msg: Msg) {
        let mut fx = Vec::new();
        update(&mut self.model, Msg::Tick(at), &mut fx);
        update(&mut self.model, msg, &mut fx);
        self.dirty = true;
        self.perform(fx);
    }

    fn kept_session(&self) -> Option<&SessionId> {
        kept_session(&self.model)
    }

    /// Tells how to go on later, below what is left of the screen.
    fn say_farewell(&self) {
        if let (Some(farewell), Some(session)) = (self.options.farewell, self.kept_session()) {
            // A terminal that is gone needs no farewell.
            let status = &self.model.world.seen().board.status;
            let _ = writeln!(terminal::stdout(), "{}", farewell(&session.to_string(), status));
        }
    }

    /// Lets the terminal forget pictures.
    fn forget_pictures(&self, ids: &[u32]) -> io::Result<()> {
        let knows = self.model.screen.preferences.graphics() == Graphics::Placeholders;
        if knows { self.terminal.write(&gallery::delete(ids)) } else { Ok(()) }
    }

    fn perform(&mut self, fx: Vec<Fx>) {
        for fx in fx {
            self.effect(fx);
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        (self.dirty, self.typed) = (false, false);
        self.drawn_at = Some(Instant::now());
        let (columns, rows) = self.model.screen.window.size();
        if columns == 0 || rows == 0 {
            return Ok(());
        }
        match self.screen.draw(&self.model, &mut self.cache, &self.terminal)? {
            FrameOutcome::Done if has_unseen_question(&self.model) => self.take(Msg::Drawn),
            FrameOutcome::Done => {}
            FrameOutcome::Lost => self.resized_at = Some(Instant::now()),
        }
        let drawn = self.model.screen.preferences.graphics() == Graphics::Placeholders;
        let gone = self.gallery.want(&self.cache.pictures, drawn);
        self.forget_pictures(&gone)
    }

    /// The terminal says that it has this size.
    fn resize(&mut self, size: (u16, u16)) {
        if self.locating.is_some() {
            self.moved |= size != self.model.screen.window.size();
        } else {
            // Even if the size is what it was in the end: rows may have moved meanwhile.
            self.screen.lose();
            self.resized_at = self.resized_at.map(|_| Instant::now());
        }
    }

    /// How long the size must have stayed the same.
    fn quiet(&self) -> Duration {
        if self.terminal.facts().tells_late { QUIET_LATE } else { QUIET }
    }

    /// The size stayed the same for a while: where is the inline screen now?
    fn locate(&mut self) -> io::Result<()> {
        if self.terminal.facts().cursor {
            self.locating = Some((self.terminal.locate()?, Instant::now() + terminal::ANSWER));
        } else {
            self.located(None);
        }
        Ok(())
    }

    /// The terminal told where its cursor is, or cannot tell.
    fn located(&mut self, cursor: Option<(u16, u16)>) {
        self.locating = None;
        self.dirty = true;
        let (size, moved) = (self.terminal.size(), std::mem::take(&mut self.moved));
        if size != self.model.screen.window.size() || moved {
            // The answer is about a size that is gone.
            self.resized_at = Some(Instant::now());
            self.take(Msg::Resize(size.0, size.1));
            return;
        }
        self.resized_at = None;
        self.screen.located(size, cursor, self.terminal.facts().reflows);
    }
}

/// The session that can be gone on with: where something was said, and is kept.
fn kept_session(model: &Model) -> Option<&SessionId> {
    let kept = model.screen.start.about().note.unkept.is_none();
    let said = kept && !model.world.seen().thread.cells().is_empty();
    model.world.current.as_ref().filter(|_| said)
}

/// What is told late; never, once there is nobody to tell it.
async fn told(note: &mut Option<watch::Receiver<Note>>) -> Note {
    if let Some(teller) = note
        && teller.changed().await.is_ok()
    {
        return teller.borrow().clone();
    }
    *note = None;
    std::future::pending().await
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
