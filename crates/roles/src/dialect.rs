//! One wire, described once: everything that others need to know of it. Each crate in `wires/` exports one.
//!
//! Whoever serves, attaches, bridges, records or documents reads the description; nobody asks for a wire by its name.

use crate::agents::{KnownAgent, ReadRegistry};
use crate::fidelity::{Carried, Quirk, Row, Sources};
use crate::{Answers, Lane, Line, Reason, RuntimeCx, RuntimeRole, Settled, UiRole, View};
use domain::event::Event;
use domain::port::Ticket;
use std::ffi::OsString;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

/// What a wire is and does.
pub struct Description {
    /// As on the command line.
    pub name: &'static str,
    pub lanes: Lanes,
    /// Whether the wire carries our events as they are, so that a session is mirrored instead of canonised.
    pub lossless: bool,
    /// Whether its document wants what is under way finished before the program ends.
    pub drains: bool,
    /// The exit code by which a runtime of this wire asks to be started again.
    pub restart_code: Option<i32>,
    /// Whether a client's first line belongs to this wire. Two wires never say yes to the same line.
    pub recognises: fn(&str) -> bool,
    /// Whether a runtime of this wire may begin with this line: what only it says, or all of its kind, such as an error of JSON-RPC.
    pub greets: fn(&str) -> bool,
    /// Where its programs meet when nobody names a place.
    pub sockets: Option<UsualSockets>,
    /// What its UIs put on the command line of the runtime that they start.
    pub habits: Habits,
    /// None where UIs of the wire start its one program themselves, so that nobody would ever be served.
    pub runtime_role: Option<fn() -> Box<dyn RuntimeRole>>,
    pub ui_role: fn() -> Box<dyn UiRole>,
    /// How it carries each item of the vocabulary.
    pub fidelity: Sources,
    /// Where existing programs leave their own document, and what we do.
    pub quirks: &'static [Quirk],
}

/// How many byte streams a link of the wire has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lanes {
    /// One, both ways.
    One,
    /// Commands over one socket, events over a second one; every command may come over a connection of its own.
    CommandsAndEvents,
}

/// A look at an environment variable.
pub type Variable<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Where programs of a wire meet, as functions of the environment. They open nothing.
#[derive(Clone, Copy)]
pub struct UsualSockets {
    /// Where a runtime with this process id listens.
    pub listen: fn(Variable<'_>, u32) -> Vec<PathBuf>,
    /// Where a UI looks, best first.
    pub connect: fn(Variable<'_>) -> Vec<PathBuf>,
}

/// What UIs of a wire say to the runtime that they start. They cannot be told to say it our way.
#[derive(Debug, Clone, Copy)]
pub struct Habits {
    /// Flags, with dashes. Words are told apart by dashes: `_` counts as one.
    pub flags: &'static [(&'static str, Meaning)],
    /// Variables of the environment that are `1`, and the option of the dialect that each switches on.
    pub variables: &'static [(&'static str, &'static str)],
    pub interpreter: Option<Interpreter>,
    /// The folder in the home directory in which they have sessions saved, and nothing else.
    pub saves: Option<&'static str>,
    /// The word by which they are told to start us as a runtime of this wire on stdio: `parlor WORD`.
    pub command: Option<&'static str>,
    /// Well-known agents that speak it.
    pub agents: &'static [KnownAgent],
    /// The flag by which its program is started in a session, before the program's name of it: its wire has no word for that.
    pub resumes: Option<&'static str>,
    /// Reads lists of agents in the form in which its registry publishes them.
    pub registry: Option<ReadRegistry>,
}

impl Habits {
    /// Its programs start no runtime, or say nothing to it.
    pub const NONE: Habits = Habits {
        flags: &[],
        variables: &[],
        interpreter: None,
        saves: None,
        command: None,
        agents: &[],
        resumes: None,
        registry: None,
    };
}

/// The program that a UI believes to start, which runs a script.
#[derive(Debug, Clone, Copy)]
pub struct Interpreter {
    /// The word in front of the script.
    pub word: &'static str,
    /// How the script's name ends.
    pub script_ends: &'static str,
    /// Whether the UI names its runtime by one path and calls it as it would call the interpreter: with our path there,
    /// `word SCRIPT -- …` means a runtime of this wire on stdio.
    pub in_our_place: bool,
}

/// What a flag of theirs means to us.
#[derive(Debug, Clone, Copy)]
pub enum Meaning {
    /// The working directory.
    Cwd,
    /// The model, `PROVIDER:ID`.
    Model,
    /// How much runs without asking, in the wire's own words.
    Approval(&'static [(&'static str, Approval)]),
    /// An option of the dialect that is on, by this name.
    Option(&'static str),
    /// Nothing; it has a value.
    Idle,
}

/// How much runs without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// Everything is asked.
    Ask,
    /// Changes of files in the workspace are not.
    Edits,
    /// Nothing is but what cannot be undone: it is the person's word for commands, for the network and for leaving the sandbox.
    Everything,
}

/// One wire. Two are the same when their names are.
#[derive(Clone, Copy)]
pub struct Dialect(&'static Description);

impl Dialect {
    /// The wire of this description.
    pub const fn new(description: &'static Description) -> Dialect {
        Dialect(description)
    }

    /// All that the program knows of this wire.
    pub fn description(self) -> &'static Description {
        self.0
    }

    /// As on the command line.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// We play the runtime; a wire that has none says so and hangs up.
    pub fn runtime_role(self) -> Box<dyn RuntimeRole> {
        self.0.runtime_role.map_or_else(|| Box::new(Unserved(self)) as Box<dyn RuntimeRole>, |role| role())
    }

    /// Whether we play the runtime of this wire.
    pub fn is_served(self) -> bool {
        self.0.runtime_role.is_some()
    }

    /// We play the UI.
    pub fn ui_role(self) -> Box<dyn UiRole> {
        (self.0.ui_role)()
    }

    /// Whether the wire carries our events as they are.
    pub fn is_lossless(self) -> bool {
        self.0.lossless
    }

    /// Whether events go over a second socket.
    pub fn has_event_lane(self) -> bool {
        self.0.lanes == Lanes::CommandsAndEvents
    }

    /// How it carries each item of the vocabulary.
    pub fn fidelity(self) -> Vec<Row> {
        self.0.fidelity.table()
    }

    /// What becomes of each item between a UI of this wire and a runtime of another, over a bridge.
    pub fn carried_on(self, runtime: Dialect) -> Vec<Carried> {
        self.0.fidelity.carried_on(runtime.name(), &runtime.fidelity())
    }

    /// Where existing programs leave their own document.
    pub fn quirks(self) -> &'static [Quirk] {
        self.0.quirks
    }
}

/// Stands where a wire has no runtime role: no UI is served.
struct Unserved(Dialect);

impl RuntimeRole for Unserved {
    fn line(&mut self, cx: &mut RuntimeCx<'_>, _: Lane, _: Line) {
        let why = format!("Parlor drives programs of {} and is none: nobody is served on this wire", self.0);
        cx.close(Reason::Unusable(why));
    }

    fn attached(&mut self, _: &mut RuntimeCx<'_>, _: View<'_>) {}

    fn event(&mut self, _: &mut RuntimeCx<'_>, _: View<'_>, _: &Event) {}

    fn settled(&mut self, _: &mut RuntimeCx<'_>, _: Option<View<'_>>, _: Ticket, _: Settled) {}

    fn can_answer(&self) -> Answers {
        Answers::NONE
    }
}

impl PartialEq for Dialect {
    fn eq(&self, other: &Dialect) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Dialect {}

impl Hash for Dialect {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
