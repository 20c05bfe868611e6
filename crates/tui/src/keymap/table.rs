//! The actions: their names, default keys and what they do, in the order of the `?` page.

/// Something that a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Sends the prompt.
    Send,
    /// Sends it to be heard as soon as possible.
    Steer,
    /// A new line in the prompt.
    NewLine,
    /// The prompt before.
    Earlier,
    /// The prompt after.
    Later,
    /// Looks through earlier prompts.
    History,
    /// Writes in the person's own editor.
    Editor,
    /// Takes a picture from the clipboard.
    Picture,
    LineStart,
    LineEnd,
    WordLeft,
    WordRight,
    /// Cuts the word before the caret.
    CutWord,
    /// Cuts to the start of the line.
    CutToStart,
    /// Cuts to the end of the line.
    CutToEnd,
    /// Puts back what was cut.
    PutBack,
    /// Takes a change back.
    Undo,
    Redo,
    PageUp,
    PageDown,
    LineUp,
    LineDown,
    /// To the first message.
    ToStart,
    ToEnd,
    /// Opens or folds everything.
    Fold,
    /// Selects the cell above.
    SelectUp,
    /// Selects the cell below.
    SelectDown,
    /// Selects the prompt above.
    PromptUp,
    /// Selects the prompt below.
    PromptDown,
    Search,
    Queue,
    /// The list of sessions.
    Sessions,
    /// The next open session.
    NextSession,
    PreviousSession,
    /// The next mode of what may run without asking.
    NextPolicy,
    /// The model thinks less.
    LessEffort,
    /// The model thinks more.
    MoreEffort,
    /// All sessions, wherever they run.
    Fleet,
    /// The session that waits next for the person.
    NextWaiting,
    /// Opens a port of the session on this machine, or closes it.
    OpenPort,
    /// The page of keys.
    Keys,
    /// Starts or reaches a runtime again that is gone.
    Restart,
    /// Draws the screen anew.
    Redraw,
    /// Stops the program until it is continued.
    Suspend,
    /// Ends the UI.
    Quit,
}

impl Action {
    /// Whether it edits text, wherever text is edited.
    pub(crate) fn edits(self) -> bool {
        matches!(
            self,
            Action::LineStart
                | Action::LineEnd
                | Action::WordLeft
                | Action::WordRight
                | Action::CutWord
                | Action::CutToStart
                | Action::CutToEnd
                | Action::PutBack
                | Action::Undo
                | Action::Redo
        )
    }
}

/// An action with its name, its default keys and what it does.
#[derive(Debug)]
pub struct Named {
    pub action: Action,
    /// Its name in the settings.
    pub name: &'static str,
    /// Its keys unless the person wants others; the first one is shown in hints.
    pub keys: &'static [&'static str],
    /// What it does, in a line.
    pub help: &'static str,
}

const fn named(
    action: Action,
    name: &'static str,
    keys: &'static [&'static str],
    help: &'static str,
) -> Named {
    Named { action, name, keys, help }
}

/// The groups of the `?` page: a heading and the first action under it.
pub(crate) const GROUPS: &[(&str, Action)] = &[
    ("Writing", Action::Send),
    ("Reading", Action::PageUp),
    ("Sessions and the rest", Action::Queue),
    ("Editing", Action::LineStart),
];

pub const ACTIONS: &[Named] = &[
    named(Action::Send, "send", &["enter"], "sends; while a run is under way: queued until its end"),
    named(Action::Steer, "steer", &["ctrl-s"], "steers the run: heard as soon as the current step allows"),
    named(
        Action::NewLine,
        "new-line",
        &["ctrl-j", "shift-enter", "alt-enter"],
        "a new line (also \\ and Enter)",
    ),
    named(Action::Earlier, "earlier", &["ctrl-p"], "the prompt before (also ↑ in the first line)"),
    named(Action::Later, "later", &["ctrl-n"], "the prompt after (also ↓ in the last line)"),
    named(Action::History, "history", &["ctrl-r"], "looks through earlier prompts"),
    named(Action::Editor, "editor", &["ctrl-g"], "writes in your own editor ($EDITOR)"),
    named(
        Action::Picture,
        "picture",
        &["alt-v", "ctrl-v"],
        "attach a picture from the clipboard (or drop a file)",
    ),
    named(Action::PageUp, "page-up", &["pageup"], "a page up (also the wheel)"),
    named(Action::PageDown, "page-down", &["pagedown"], "a page down"),
    named(Action::LineUp, "line-up", &["shift-up"], "a line up"),
    named(Action::LineDown, "line-down", &["shift-down"], "a line down"),
    named(Action::ToStart, "to-start", &["ctrl-home"], "to the first message"),
    named(Action::ToEnd, "to-end", &["ctrl-end"], "to the end, following what comes"),
    named(Action::Fold, "fold", &["ctrl-o"], "opens or folds all tools and thoughts"),
    named(
        Action::SelectUp,
        "select-up",
        &["alt-up"],
        "selects: then Enter opens, c copies, b goes back there to branch",
    ),
    named(Action::SelectDown, "select-down", &["alt-down"], "selects the next one"),
    named(Action::PromptUp, "prompt-up", &["ctrl-up"], "to your prompt above"),
    named(Action::PromptDown, "prompt-down", &["ctrl-down"], "to your prompt below"),
    named(Action::Search, "search", &["ctrl-f"], "finds words; Enter goes on to the older one"),
    named(Action::Queue, "queue", &["ctrl-q"], "what is queued: edit it or delete it"),
    named(Action::Sessions, "sessions", &["ctrl-x"], "all sessions: go on with one, or delete it"),
    named(Action::NextSession, "next-session", &["alt-]"], "the next open session"),
    named(Action::PreviousSession, "previous-session", &["alt-["], "the open session before"),
    named(
        Action::NextPolicy,
        "next-policy",
        &["backtab"],
        "the next mode: how much runs without asking (never full: /mode full)",
    ),
    named(Action::LessEffort, "less-effort", &["alt-,"], "the model thinks less"),
    named(Action::MoreEffort, "more-effort", &["alt-."], "the model thinks more"),
    named(
        Action::Fleet,
        "fleet",
        &["alt-o", "f3"],
        "all sessions wherever they run, who waits for you first (from anywhere)",
    ),
    named(Action::NextWaiting, "next-waiting", &["alt-n", "f6"], "to the next session that waits for you"),
    named(
        Action::OpenPort,
        "open-port",
        &["alt-p", "f4"],
        "opens on this machine the port at which a command listens, then closes it",
    ),
    named(Action::Keys, "keys", &["?", "f1"], "this page (? when nothing is typed)"),
    named(Action::Restart, "restart", &["f5"], "starts a runtime again that is gone; what you wrote stays"),
    named(Action::Redraw, "redraw", &["ctrl-l"], "redraws the screen"),
    named(Action::Suspend, "suspend", &["ctrl-z"], "suspends; `fg` brings it back"),
    named(Action::Quit, "quit", &["ctrl-d"], "quits (when nothing is typed)"),
    named(Action::LineStart, "line-start", &["ctrl-a", "home"], "to the start of the line"),
    named(Action::LineEnd, "line-end", &["ctrl-e", "end"], "to the end of the line"),
    named(Action::WordLeft, "word-left", &["alt-b", "ctrl-left", "alt-left"], "a word to the left"),
    named(Action::WordRight, "word-right", &["alt-f", "ctrl-right", "alt-right"], "a word to the right"),
    named(
        Action::CutWord,
        "cut-word",
        &["ctrl-w", "alt-backspace", "ctrl-backspace"],
        "cuts the word before",
    ),
    named(Action::CutToStart, "cut-to-start", &["ctrl-u"], "cuts to the start of the line"),
    named(Action::CutToEnd, "cut-to-end", &["ctrl-k"], "cuts to the end of the line"),
    named(Action::PutBack, "put-back", &["ctrl-y"], "puts back what was cut"),
    named(Action::Undo, "undo", &["alt-z", "ctrl-_"], "undoes the last change"),
    named(Action::Redo, "redo", &["alt-shift-z", "alt-_"], "redo"),
];
