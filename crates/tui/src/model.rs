//! The model: all that the UI knows. It changes only in `update`; `view` draws it.

use crate::ask::{Answered, AskPanel};
use crate::commands::{Here, Restart};
use crate::complete::Completion;
use crate::composer::{Editor, History};
use crate::keymap::Keymap;
use crate::msg::{Fx, Outgoing};
use crate::overlay::Overlay;
use crate::picker::{Choice, ListKind};
use crate::picture::{Graphics, Pictures};
use crate::search::Search;
use crate::settings::{Setting, Settings};
use crate::theme::Theme;
use crate::thread::CellKey;
use crate::transcript::{Heights, Scroll};
use crate::world::World;
use domain::command::{Command, Target};
use domain::content::{Input, Part};
use domain::ids::{AskId, EntryId, Millis, RunId, SessionId};
use domain::port::Ticket;
use domain::prompt_text::OwnEnd;
use domain::session::Policy;
use domain::signal::Level;
use ratatui::layout::Position;
use std::collections::{BTreeMap, HashSet, VecDeque};

/// Toasts kept on the screen at once.
pub const MAX_TOASTS: usize = 3;
/// Words that came and went, kept to be read again.
pub const MAX_NOTICES: usize = 100;
/// How long a toast stays.
pub const TOAST_MS: u64 = 6_000;
/// How long a second Ctrl-C quits.
pub const QUIT_MS: u64 = 2_000;
/// How long a second Esc stops everything, in milliseconds.
pub const TWICE_MS: u64 = 1_500;
/// Commands whose receipt is waited for at most; older ones are forgotten.
const MAX_PENDING: usize = 256;

/// All that the view draws from: nothing else decides what is seen.
#[derive(Debug)]
pub struct Model {
    /// What came from the runtime.
    pub world: World,
    /// What the person sees and does.
    pub screen: Screen,
}

/// A word that shows for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toast {
    pub level: Level,
    /// The text, clean.
    pub text: String,
    pub until: Millis,
}

/// What a command was sent for, to know what to do with its receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Want {
    /// Only that it is done.
    Nothing,
    /// That this text is heard; it comes back to the composer if it is refused.
    Said(String),
    /// That this input waits for its turn in the run of this session; when the run was over by then, it is said as a prompt.
    Waits(Option<SessionId>, Input),
    /// That an answer is taken; the question is open again if it is refused.
    Answer,
    /// A list for the picker on the screen.
    List(ListKind),
    /// A text to write to a file.
    Export(String),
    /// That the runtime has saved the session, and where.
    Saved,
    /// A word when it worked.
    Word(&'static str),
    /// That older messages are summarised; a receipt alone does not say so.
    Summary,
    /// That this mode is taken; what that means is known when it was.
    Policy(Policy),
    /// What it answers, to be read.
    Told,
    /// That what this line stands for is gone; it stays in its list until then.
    Gone(Choice),
    /// The skills, for completion.
    Skills,
    /// That files were taken back or done again; the conversation says which.
    Files,
    /// What changed, as a page with this title.
    Page(&'static str),
    /// That files went with the words to this entry; then the words go.
    GoBack(EntryId),
}

/// What the person sees and does.
#[derive(Debug)]
pub struct Screen {
    /// Columns and rows.
    pub size: (u16, u16),
    /// The time of the last tick.
    pub now: Millis,
    /// Colours, as they are now.
    pub theme: Theme,
    /// Colours where the person chose none: they follow the terminal.
    pub auto: Theme,
    /// What the person has set.
    pub settings: Settings,
    /// Where the person writes.
    pub composer: Editor,
    pub history: History,
    /// Where the transcript stands.
    pub scroll: Scroll,
    /// Heights of cells, to scroll by lines.
    pub heights: Heights,
    /// Whether everything is unfolded.
    pub details: bool,
    /// Cells that are folded other than the rest.
    pub flipped: HashSet<CellKey>,
    /// The cell under the selection.
    pub selected: Option<CellKey>,
    /// The question on the screen.
    pub ask: Option<AskPanel>,
    /// When a key came last that was not meant for a question.
    pub typed_at: Option<Millis>,
    /// The key that answered the last question, while no other came.
    pub last_answer: Option<Answered>,
    /// The question whose answer is being written in the person's own editor.
    pub edited: Option<AskId>,
    /// What stands over everything.
    pub overlay: Option<Overlay>,
    /// Words that show for a while.
    pub toasts: VecDeque<Toast>,
    /// Words that came and went, oldest first.
    pub notices: VecDeque<(Millis, Level, String)>,
    /// What can be done about a runtime that is gone.
    pub restart: Restart,
    /// Whether the person may leave for a login or for another agent.
    pub errands: bool,
    /// Until when a second Ctrl-C quits.
    pub quit_until: Option<Millis>,
    /// Until when a second Esc stops everything.
    pub all_until: Option<Millis>,
    /// The run that the person wants stopped.
    pub stopped: Option<RunId>,
    /// Whether the person wants a summary and nobody has told of one yet.
    pub summarising: bool,
    /// Whether what waited is put away with the run that ends, instead of coming back to the composer.
    pub put_away: bool,
    /// What the runtime thinks may be typed next.
    pub suggestion: Option<String>,
    /// What may be completed at the caret.
    pub completion: Option<Completion>,
    /// A search under way.
    pub search: Option<Search>,
    /// Skills that the runtime named, with what they are for.
    pub skills: Vec<(String, String)>,
    /// A command that the person ran: its output goes along with the next prompt.
    pub ran: Option<Ran>,
    /// How fast text comes in.
    pub flow: Flow,
    /// What the mouse is drawn over: where it began, where it is.
    pub drag: Option<(Position, Position)>,
    /// Pictures that go along with the next prompt: name and part.
    pub attached: Vec<(String, Part)>,
    /// What the terminal can do with pictures.
    pub graphics: Graphics,
    /// Pictures that were decoded.
    pub pictures: Pictures,
    /// Which key does what.
    pub keymap: Keymap,
    /// The window's title, as last set.
    pub title: String,
    /// How the UI was started.
    pub about: About,
    pub(crate) pending: BTreeMap<Ticket, Want>,
    /// What was written while the run was being stopped: said when it is over.
    pub(crate) afterwards: Vec<Input>,
    pub(crate) next_ticket: u64,
}

/// How fast text came in lately.
#[derive(Debug, Clone, Default)]
pub struct Flow(VecDeque<(Millis, usize)>);

impl Flow {
    /// The time looked back.
    const BACK_MS: u64 = 3_000;
    /// Bytes of a token, about.
    const TOKEN: u64 = 4;

    /// Counts text that came; what is too old for the speed is forgotten.
    pub fn add(&mut self, now: Millis, bytes: usize) {
        while self.0.front().is_some_and(|(at, _)| now.since(*at) > Flow::BACK_MS) {
            self.0.pop_front();
        }
        match self.0.back_mut().filter(|(at, _)| *at == now) {
            Some((_, sum)) => *sum += bytes,
            None => self.0.push_back((now, bytes)),
        }
    }

    /// Tokens per second, about; zero when it is too early to tell.
    pub fn rate(&self, now: Millis) -> u64 {
        let recent = self.0.iter().filter(|(at, _)| now.since(*at) <= Flow::BACK_MS);
        let bytes: usize = recent.clone().map(|(_, bytes)| bytes).sum();
        let since = recent.clone().next().map_or(0, |(at, _)| now.since(*at));
        if since < 1_000 { 0 } else { bytes as u64 * 1_000 / Flow::TOKEN / since }
    }
}

/// A command that the person ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub line: String,
    /// What it wrote, clean.
    pub output: String,
    pub since: Millis,
    /// Whether it was asked to end.
    pub stopping: bool,
    /// How it ended; `None` while it runs.
    pub end: Option<OwnEnd>,
}

impl Ran {
    /// Whether it is still running.
    pub fn runs(&self) -> bool {
        self.end.is_none()
    }
}

/// What the first screen tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// The program and its version.
    pub program: String,
    /// Where the person's settings lie.
    pub settings: String,
    /// What is wrong with them, and what to do.
    pub told: Vec<String>,
    /// What to know before anything else, such as that there is no workspace.
    pub warning: Option<String>,
    pub note: Note,
}

/// What the first screen tells of whoever answers; it may be known only when the screen stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Note {
    /// Which model is in use and why; empty when nothing is known.
    pub words: String,
    /// Requests to try.
    pub examples: Vec<String>,
    /// Why nothing will be kept, and what to do, if that is so.
    pub unkept: Option<String>,
}

impl Screen {
    /// What can be done from where the screen runs.
    pub fn here(&self) -> Here {
        Here { restart: self.restart, errands: self.errands }
    }
}

impl Model {
    /// A model before anything was heard.
    pub fn new(about: About, theme: Theme) -> Model {
        let screen = Screen {
            size: (80, 24),
            now: Millis(0),
            theme,
            auto: theme,
            settings: Settings::default(),
            composer: Editor::default(),
            history: History::default(),
            scroll: Scroll::Tail,
            heights: Heights::default(),
            details: false,
            flipped: HashSet::new(),
            selected: None,
            ask: None,
            typed_at: None,
            last_answer: None,
            edited: None,
            overlay: None,
            toasts: VecDeque::new(),
            notices: VecDeque::new(),
            restart: Restart::None,
            errands: false,
            quit_until: None,
            all_until: None,
            stopped: None,
            summarising: false,
            put_away: false,
            suggestion: None,
            completion: None,
            search: None,
            skills: Vec::new(),
            ran: None,
            flow: Flow::default(),
            drag: None,
            attached: Vec::new(),
            graphics: Graphics::None,
            pictures: Pictures::default(),
            keymap: Keymap::default(),
            title: String::new(),
            about,
            pending: BTreeMap::new(),
            afterwards: Vec::new(),
            next_ticket: 0,
        };
        Model { world: World::default(), screen }
    }

    /// Sends a command about the session on the screen.
    pub(crate) fn send(&mut self, want: Want, command: Command, fx: &mut Vec<Fx>) {
        self.screen.next_ticket += 1;
        let ticket = Ticket(self.screen.next_ticket);
        if self.screen.pending.len() >= MAX_PENDING {
            self.screen.pending.pop_first();
        }
        self.screen.pending.insert(ticket, want);
        let target = self.world.current.clone().map_or(Target::Current, Target::Session);
        fx.push(Fx::Send(Outgoing { ticket, target, command }));
    }

    /// Keeps a word for whoever looks for it later.
    pub(crate) fn notice(&mut self, level: Level, text: &str) {
        if self.screen.notices.len() >= MAX_NOTICES {
            self.screen.notices.pop_front();
        }
        self.screen.notices.push_back((self.screen.now, level, crate::clean::clean_line(text)));
    }

    /// Shows a word for a while.
    pub(crate) fn toast(&mut self, level: Level, text: impl AsRef<str>) {
        let text = crate::clean::clean_line(text.as_ref());
        let until = Millis(self.screen.now.0 + TOAST_MS);
        self.notice(level, &text);
        self.screen.toasts.retain(|toast| toast.text != text);
        self.screen.toasts.push_back(Toast { level, text, until });
        while self.screen.toasts.len() > MAX_TOASTS {
            self.screen.toasts.pop_front();
        }
    }

    /// Whether pictures are shown: the person wants it and the terminal can.
    pub(crate) fn shows_pictures(&self) -> bool {
        let can = match self.screen.graphics {
            Graphics::None => false,
            Graphics::Blocks => self.screen.theme != Theme::Plain,
            Graphics::Placeholders => true,
        };
        can && self.screen.settings.images
    }

    /// Rings for the person, as they want it.
    pub(crate) fn ring(&self, text: &str, fx: &mut Vec<Fx>) {
        let notify = self.screen.settings.notify;
        if notify.bell {
            fx.push(Fx::Bell);
        }
        if notify.desktop {
            fx.push(Fx::Notify(crate::clean::clean_line(text)));
        }
    }

    /// Gives a setting a value and keeps it.
    pub(crate) fn set(&mut self, setting: Setting, value: &'static str, fx: &mut Vec<Fx>) {
        if let Err(why) = self.screen.settings.set(setting.name(), value) {
            return self.toast(Level::Warning, why);
        }
        match setting {
            Setting::Theme => self.recolour(),
            Setting::Mouse => fx.push(Fx::Mouse(self.screen.settings.mouse)),
            Setting::Images => fx.push(Fx::Redraw),
            Setting::Screen | Setting::Notify => {}
        }
        fx.push(Fx::Keep { setting, value });
    }

    /// Takes the colours that are set.
    pub(crate) fn recolour(&mut self) {
        self.screen.theme = self.screen.settings.theme.unwrap_or(self.screen.auto);
    }

    /// Whether a cell is unfolded.
    pub fn is_open(&self, key: CellKey) -> bool {
        self.screen.details != self.screen.flipped.contains(&key)
    }
}
