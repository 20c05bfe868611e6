//! Messages into the update, and effects that come out of it. Plain data: the shell makes the former and performs the latter.

use crate::about::Note;
use crate::key::Key;
use crate::login::TypedKey;
use crate::picture::{Decoded, Framed};
use crate::settings::Setting;
use domain::command::{Command, Target};
use domain::content::Part;
use domain::fleet::Row;
use domain::ids::{Millis, SessionId};
use domain::port::{News, Ticket};
use std::sync::Arc;
use std::time::Duration;

/// Where the mouse did something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mouse {
    pub(crate) act: MouseAct,
    /// Column, from 0.
    pub(crate) column: u16,
    /// Row, from 0.
    pub(crate) row: u16,
}

/// What the mouse did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MouseAct {
    /// The wheel, away from the person.
    WheelUp,
    /// The wheel, towards the person.
    WheelDown,
    /// The left button went down.
    Press,
    /// The mouse moved with the button down.
    Drag,
    /// The button went up.
    Release,
}

/// What a command has written: the end of it, and how many lines came before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CommandOutput {
    pub(crate) text: String,
    pub(crate) lost: usize,
}

/// Everything that can change the model: the person, the runtime, the clock, answers of the shell.
#[derive(Debug, Clone)]
pub(crate) enum Msg {
    Key(Key),
    /// Text that was pasted.
    Paste(String),
    Mouse(Mouse),
    /// The screen has this many columns and rows.
    Resize(u16, u16),
    /// It is now this late. Comes before anything that depends on time, and when a wake was asked for.
    Tick(Millis),
    /// A frame is on the screen. Comes only when a question waits for it.
    Drawn,
    /// The terminal was someone else's for a while and is ours again.
    Back,
    /// From the runtime.
    News(News),
    /// A command, as typed behind no other text.
    Slash(String),
    /// The line of this number, from 0, in the list that is open.
    Pick(usize),
    /// What the person wrote in their own editor; `None` when it could not be run.
    FromEditor(Option<String>),
    /// Files whose names fit the query.
    Files {
        query: String,
        /// Paths, best first.
        paths: Vec<String>,
    },
    /// A picture for the next prompt: its name and itself, or why there is none.
    Attached(Result<(String, Part), String>),
    /// A picture was decoded, or could not be.
    Picture {
        framed: Framed,
        /// What came of it.
        decoded: Option<Decoded>,
    },
    Begin(Begin),
    /// Earlier prompts, oldest first, read at the start.
    History(Vec<String>),
    /// What a command of the person's has written so far.
    ShellSaid(CommandOutput),
    /// A command that the person ran is over.
    Shell {
        line: String,
        said: CommandOutput,
        /// Its exit code; `None` when a signal ended it.
        code: Option<i32>,
    },
    /// Whether the screen is dark, when the terminal told.
    Background {
        dark: bool,
    },
    /// What git has checked out in a folder, if anything.
    Branch {
        cwd: String,
        name: Option<String>,
    },
    /// A line more for the first screen.
    Note(Note),
    /// What was found, for the list that asked.
    Agents(Vec<AgentLine>),
    /// For the form that asks for a key.
    Login(LoginNews),
    /// Rows of sessions elsewhere, devices of the page, or what came of an act on one.
    Fleet(FleetNews),
    /// Something that the shell tells the person in passing, such as a failure of its own.
    ShellNotice(String),
}

/// What the UI begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begin {
    /// The list of sessions.
    Sessions,
    /// The search over all sessions, for these words.
    Search(String),
    /// A prompt, said as soon as there is a session.
    Prompt(String),
    /// Something that goes with the first prompt, by the name that stands in the composer.
    With { name: String, part: Part },
}

/// Another program's agent, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentLine {
    /// As it is asked for.
    pub name: String,
    /// What there is to know at a glance.
    pub about: String,
    /// Its command, where it comes from, how to get it.
    pub more: String,
    /// Why it cannot be started now, if so.
    pub missing: Option<String>,
}

/// A provider whose key can be given, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderLine {
    pub name: String,
    /// What there is to know at a glance.
    pub about: String,
    /// Whether a key of it is known already.
    pub has_key: bool,
}

/// What is told while a person gives a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginNews {
    /// Whose key can be given.
    Providers(Vec<ProviderLine>),
    /// It was no key, or cannot be saved: why.
    Failed(String),
    /// The provider does not accept it, or could not be asked: why. Nothing was saved.
    Unsure(String),
    /// It is saved.
    Kept {
        /// What to know now, in lines.
        said: Vec<String>,
        /// For the first screen, where the key changes who answers.
        note: Option<Note>,
        /// The model that answers from now on where none did: its provider and name.
        model: Option<(String, String)>,
    },
}

/// What a person leaves the screen for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScreenExit {
    /// To give the key of a provider.
    Login,
    /// To talk to the agent of this name.
    Attach(String),
    /// To go on with a conversation that is with another program.
    GoOn(SessionId),
    /// To be in a session that another process of this person has open.
    Visit { pid: u32, session: SessionId },
}

/// What whoever gathers the fleet tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FleetNews {
    /// All rows anew.
    Rows(Arc<Vec<Row>>),
    /// What came of something that was wished.
    Said(String),
    /// The browser that wants to become a device, or that nobody does any more.
    Asking(Option<Asking>),
    /// One has become a device.
    Joined(DeviceLine),
    /// All devices anew.
    Devices(Vec<DeviceLine>),
}

/// A browser that wants to become a device of the page. Its words are its own: nothing of them was cleaned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asking {
    /// The process that is asked for it.
    pub server: u32,
    /// Its number there.
    pub id: u64,
    pub name: String,
    pub role: String,
    /// What it shows, to be compared.
    pub code: String,
}

/// A device of the page, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceLine {
    pub id: String,
    pub name: String,
    pub role: String,
    pub since: Millis,
}

/// What is wanted of whoever gathers the fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FleetWish {
    /// To be told of it, or no longer.
    Watch(bool),
    Act(FleetAct),
    /// To be told all devices.
    Devices,
    /// That the device of this id is one no more.
    Revoke(String),
    /// That a browser becomes a device, or does not.
    Pair {
        server: u32,
        id: u64,
        allow: bool,
    },
}

/// What is done to a session of another process, from its row. Answers are not among it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FleetAct {
    /// Says something to it.
    Say {
        pid: u32,
        session: SessionId,
        text: String,
        /// A run is under way, which it is to steer.
        busy: bool,
    },
    /// Stops its run.
    Stop { pid: u32, session: SessionId },
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fx {
    /// Sends a command to the runtime.
    Send(Outgoing),
    /// Tells the runtime that a question is on the screen, which nobody asked for.
    Shown(Outgoing),
    /// Puts text on the clipboard.
    Copy(String),
    /// Opens the person's editor on this text.
    OpenEditor(String),
    /// Sets the window's title.
    Title(String),
    Bell,
    /// Shows a notification on the desktop.
    Notify(String),
    /// A tick after this time.
    Wake(Duration),
    /// Reads a picture: the file, or what is on the clipboard.
    Attach(Option<String>),
    FindFiles(String),
    /// Looks what git has checked out in a folder.
    FindBranch(String),
    /// Keeps a prompt for later sessions.
    SaveHistory(String),
    /// Runs a command of the person's.
    Shell(String),
    /// Stops that command.
    StopShell,
    /// Writes a text to a file.
    Write {
        path: String,
        text: String,
    },
    /// Gives a picture to the terminal.
    Draw {
        /// Which, and how large.
        framed: Framed,
        /// The picture as PNG.
        png: Arc<[u8]>,
    },
    /// Keeps what the person has set.
    Keep {
        setting: Setting,
        value: &'static str,
    },
    /// Switches the mouse on or off.
    Mouse(bool),
    /// Draws everything anew.
    Redraw,
    /// Writes the conversation to the terminal's scrollback once more; on a screen of its own there is nothing to write.
    Print,
    /// Stops the program until it is continued.
    Suspend,
    /// Starts the runtime again, or connects to it again.
    Restart,
    /// Looks which agents there are.
    FindAgents,
    /// Looks whose key can be given.
    FindProviders,
    /// Tries a key and saves it, whatever the provider says if `keep`.
    Login {
        provider: String,
        key: TypedKey,
        keep: bool,
    },
    /// Ends that.
    StopLogin,
    /// Wants something of whoever gathers the fleet.
    Fleet(FleetWish),
    /// Leaves the screen for something that needs the bare terminal.
    Leave(ScreenExit),
    /// Ends the UI.
    Quit,
}

/// A command on its way to the runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Its receipt or refusal will carry this.
    pub ticket: Ticket,
    pub target: Target,
    pub command: Command,
}
