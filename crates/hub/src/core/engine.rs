//! Who does the runs, as three strategies: every question whose answer depends on that is answered here.
//!
//! What it is not: the way to an engine, which is the shell's. Invariant: nothing else asks which engine it is; they cannot be compared.

use domain::ask::{Answer, Closing};
use domain::canon::Canon;
use domain::command::{Command, LibraryCommand, QueueCommand, Receipt, SessionCommand};
use domain::event::{Body, SessionEvent};
use domain::ids::Ids;
use domain::port::Abilities;
use domain::queue::QueueKind;

/// Who does the runs.
#[derive(Debug, Clone, Copy)]
pub enum Engine {
    /// Our agent: told each turn's input.
    Driven,
    /// A foreign runtime: its facts go through the canon.
    Followed,
    /// A runtime on a lossless wire: its events are taken as they are.
    Mirrored,
}

impl Engine {
    /// The strategy for a runtime behind a wire.
    pub fn behind_wire(lossless: bool) -> Engine {
        if lossless { Engine::Mirrored } else { Engine::Followed }
    }

    /// Whether it is part of this program.
    pub(super) fn is_ours(self) -> bool {
        match self {
            Engine::Driven => true,
            Engine::Followed | Engine::Mirrored => false,
        }
    }

    /// Whether sessions are kept in our store. What a foreign runtime said is kept nowhere but here, in memory.
    pub fn is_kept(self) -> bool {
        match self {
            Engine::Driven => true,
            Engine::Followed | Engine::Mirrored => false,
        }
    }

    /// What repairs the stream of a session, where that is needed.
    pub(super) fn canon(self, ids: &Ids) -> Option<Canon> {
        match self {
            Engine::Followed => Some(Canon::new(ids.clone())),
            Engine::Driven | Engine::Mirrored => None,
        }
    }

    /// Whether commands are passed on as they are, the session that they are for included.
    pub(super) fn decides_all(self) -> bool {
        match self {
            Engine::Mirrored => true,
            Engine::Driven | Engine::Followed => false,
        }
    }

    /// What may be tried before a runtime has told what it can do.
    pub(super) fn abilities(self) -> Abilities {
        match self {
            Engine::Driven => Abilities::all("parlor"),
            Engine::Followed | Engine::Mirrored => Abilities::untold(),
        }
    }

    /// Whether what may run without asking is decided there and by nobody here: a policy would be a word without effect.
    pub(super) fn has_own_rules(self) -> bool {
        match self {
            Engine::Followed => true,
            Engine::Driven | Engine::Mirrored => false,
        }
    }

    /// Whether a command waits until the runtime has told what it can do: what it cannot the hub supplies. A mirrored one is told all.
    pub(super) fn waits_for_greeting(self, command: &Command) -> bool {
        match self {
            Engine::Followed => {
                !matches!(command, Command::Files(_)) && is_theirs(command, &Abilities::untold())
            }
            Engine::Driven | Engine::Mirrored => false,
        }
    }

    /// Whether a runtime must be asked about a command; else the hub does what it wants.
    pub(super) fn decides(self, command: &Command, abilities: &Abilities) -> bool {
        match self {
            Engine::Driven => false,
            Engine::Followed => is_theirs(command, abilities),
            Engine::Mirrored => true,
        }
    }

    /// Whether the runtime has to be told to go to a session before a command about it. Here means that we have been shown it; `stands`,
    /// that it is where the runtime's one conversation is.
    pub(super) fn goes_first(
        self,
        command: &Command,
        abilities: &Abilities,
        here: bool,
        stands: bool,
    ) -> bool {
        match self {
            Engine::Driven => false,
            Engine::Followed => !here || !stands && (is_theirs(command, abilities) || reads_past(command)),
            // Every command says for which session it is.
            Engine::Mirrored => !here,
        }
    }

    /// Whether it is in one session at a time, which it must not leave in the middle of a run.
    pub(super) fn has_one_conversation(self) -> bool {
        match self {
            Engine::Followed => true,
            Engine::Driven | Engine::Mirrored => false,
        }
    }

    /// Whether the past of a session is what we were shown of it.
    pub(super) fn past_is_shown(self) -> bool {
        self.has_one_conversation()
    }

    /// Whether the hub itself stops a run before it passes a cancel on: the questions of a run that is being stopped must not be
    /// answered any more, whatever the runtime does. A mirrored runtime tells itself what becomes of them.
    pub(super) fn is_stopped_here(self) -> bool {
        match self {
            Engine::Followed => true,
            Engine::Driven | Engine::Mirrored => false,
        }
    }

    /// What it did with a command that it was consulted about.
    pub(super) fn settled(self, command: &Command, receipt: &Receipt) -> Settled {
        let changes = match (self, command, receipt) {
            (Engine::Followed, ..) => return Settled::Foreign,
            (Engine::Driven, Command::Session(SessionCommand::SetModel { .. }), Receipt::Model(model)) => {
                SessionEvent::ModelChosen { model: model.clone() }
            }
            (Engine::Driven, Command::Session(SessionCommand::SetEffort { effort }), _) => {
                SessionEvent::EffortChosen { effort: *effort }
            }
            (Engine::Driven, Command::Session(SessionCommand::SetTools { tools }), _) => {
                SessionEvent::ToolsChosen { tools: tools.clone() }
            }
            (Engine::Driven | Engine::Mirrored, ..) => return Settled::Done,
        };
        Settled::Changes(Body::Session(changes))
    }

    /// How it hears that an ask closed.
    pub(super) fn hears(self, is_consent: bool, closing: Closing) -> Closing {
        match (self, closing) {
            // A foreign runtime waits for an answer: one that its model can go on with.
            (Engine::Followed, Closing::Unattended) if is_consent => denied("nobody could be asked"),
            (Engine::Followed, Closing::Expired) if is_consent => denied("nobody answered in time"),
            (_, closing) => closing,
        }
    }

    /// Whether what the person typed goes to it as they typed it. Our own engine gets marks, and looks them up where they are used.
    pub(super) fn hears_secrets(self) -> bool {
        match self {
            Engine::Followed => true,
            Engine::Driven | Engine::Mirrored => false,
        }
    }
}

/// What a settled command means for the session.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// Nothing more.
    Done,
    Changes(Body),
    /// The receipt has the runtime's ids and must be translated.
    Foreign,
}

/// Whether a foreign runtime must be asked; the rest the hub supplies.
fn is_theirs(command: &Command, abilities: &Abilities) -> bool {
    match command {
        Command::Queue(QueueCommand::Add { kind: QueueKind::Steer, .. }) => abilities.steer,
        Command::Queue(QueueCommand::Add { kind: QueueKind::FollowUp, .. }) => abilities.follow_up,
        // One that takes steers as they come has no queue whose mode could be set: what waits, waits here.
        Command::Queue(QueueCommand::SetMode { .. }) => abilities.steer && abilities.follow_up,
        Command::Answer { .. }
        | Command::Queue(QueueCommand::Edit { .. } | QueueCommand::Drop { .. })
        | Command::Session(
            SessionCommand::Stats
            | SessionCommand::Close
            | SessionCommand::SetPolicy { .. }
            | SessionCommand::SetBudget { .. },
        ) => false,
        Command::Library(LibraryCommand::Export { .. }) => abilities.export,
        command => !reads_past(command),
    }
}

fn reads_past(command: &Command) -> bool {
    matches!(command, Command::Library(LibraryCommand::History { .. }))
}

/// Whether the runtime works in another session afterwards.
pub(super) fn moves(command: &Command) -> bool {
    matches!(
        command,
        Command::Library(
            LibraryCommand::Open { .. }
                | LibraryCommand::New { .. }
                | LibraryCommand::Load { .. }
                | LibraryCommand::Branch { .. }
        )
    )
}

/// The session in which a command is to be done; `None` for those that name theirs themselves, or need none.
pub(super) fn is_in_session(command: &Command) -> bool {
    match command {
        Command::Library(
            LibraryCommand::Save { .. }
            | LibraryCommand::Export { session: None, .. }
            | LibraryCommand::Branch { session: None, .. },
        ) => true,
        Command::Library(_) | Command::List(_) => false,
        _ => true,
    }
}

fn denied(reason: &str) -> Closing {
    Closing::Answered { answer: Answer::Deny { reason: Some(reason.to_owned()) }, by: None }
}
