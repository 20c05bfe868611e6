//! How the UI was started: what the first screen tells, and what can be done from here.

use crate::commands::{FleetHere, Here, Restart};

/// What the first screen tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// The program and its version.
    pub program: String,
    /// The folder that it is started in, as it is shown until a session tells its own.
    pub folder: String,
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
    /// Requests to try where it turns out that the offline model answers, which understands no others.
    pub offline_examples: Vec<String>,
    /// Why nothing will be kept, and what to do, if that is so.
    pub unkept: Option<String>,
    /// What is new since the last start, in one line.
    pub told: Option<String>,
    /// The model that answers where a session has taken no other, if it is known.
    pub model: Option<String>,
}

/// How the UI was started.
#[derive(Debug)]
pub(crate) struct Start {
    about: About,
    here: Here,
    /// What git has checked out, and in which folder that was looked for.
    branch: Option<(String, String)>,
    /// What is to be known at the start was told.
    is_told: bool,
}

impl Start {
    /// Started with nothing around it: nothing can be restarted, nobody sees to errands.
    pub(crate) fn new(about: About) -> Start {
        Start { about, here: Here::default(), branch: None, is_told: false }
    }

    /// All that the first screen tells.
    pub(crate) fn about(&self) -> &About {
        &self.about
    }

    /// What can be done from where the screen runs.
    pub(crate) fn here(&self) -> Here {
        self.here
    }

    /// What can be done about a runtime that is gone, and whether the person may leave for an errand.
    pub(crate) fn stand(&mut self, restart: Restart, exits: bool) {
        self.here = Here { restart, exits, ..self.here };
    }

    /// A key can be given on the screen itself.
    pub(crate) fn logs_in(&mut self) {
        self.here.login = true;
    }

    /// The fleet is gathered for this screen.
    pub(crate) fn survey(&mut self, fleet: FleetHere) {
        self.here.fleet = Some(fleet);
    }

    /// Somebody tells of the devices of the page.
    pub(crate) fn enlist(&mut self) {
        self.here.devices = true;
    }

    /// What git has checked out in a folder, or nothing.
    pub(crate) fn checked_out(&mut self, cwd: String, branch: Option<String>) {
        self.branch = branch.map(|branch| (cwd, branch));
    }

    /// What git has checked out in this folder, as far as it is known; before anybody has told a folder, where the screen was started.
    pub(crate) fn branch(&self, cwd: &str) -> Option<&str> {
        self.branch.as_ref().filter(|(at, _)| cwd.is_empty() || at == cwd).map(|(_, branch)| branch.as_str())
    }

    /// What is to be told at the start, once.
    pub(crate) fn untold(&mut self) -> Vec<String> {
        if std::mem::replace(&mut self.is_told, true) { Vec::new() } else { self.about.told.clone() }
    }

    /// It is known now who answers.
    pub(crate) fn note(&mut self, note: Note) {
        self.about.note = note;
    }

    /// Tells something else on the first screen.
    pub(crate) fn tell(&mut self, about: About) {
        self.about = about;
    }
}
