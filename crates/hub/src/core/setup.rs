//! What a hub starts with.

use super::Engine;
use domain::port::menu::AgentMenu;
use domain::session::{Budget, Effort, Policy};

/// What sessions may spend, as the program that holds them was told.
#[derive(Debug, Clone, Copy, Default)]
pub struct GivenBudget {
    /// Kept with each new session.
    pub usual: Budget,
    /// Typed for what is done now: also kept with a session that is gone on with, in the place of what it had.
    pub typed: Budget,
}

/// Who can be asked what a lossless runtime wants to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Nobody but UIs here: what none of them can answer is declined.
    Alone,
    /// Others too, and it counts on us: what nobody here can answer is left to them, but in runs that were begun here.
    Counted,
    /// Others too, and it knows that we can answer nothing: it decides by itself.
    Mute,
}

impl Sharing {
    /// With others on the same runtime.
    pub fn among(answers: bool) -> Sharing {
        if answers { Sharing::Counted } else { Sharing::Mute }
    }
}

/// What the hub starts with.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Who does the runs.
    pub engine: Engine,
    /// Working directory of new sessions.
    pub cwd: String,
    /// Project root of new sessions.
    pub project: String,
    /// How hard the model thinks in new sessions; `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// How tools get their consent in new sessions.
    pub policy: Policy,
    /// The one of these that was typed: it holds for what is opened here, and not for sessions of other processes.
    pub typed_policy: Option<Policy>,
    /// The same in a folder that a UI names, where that is another mode: of such a folder the program knows nothing.
    pub policy_elsewhere: Option<Policy>,
    /// What sessions may spend.
    pub budget: GivenBudget,
    /// Why mode `sandboxed` cannot be had here, if so.
    pub no_sandbox: Option<String>,
    /// Refuse a foreign runtime that acts without asking, before anything is said to it.
    pub require_consent: bool,
    /// Nobody looks on: what was typed for a foreign runtime holds by itself, or its run is stopped.
    pub is_headless: bool,
    /// Whether a lossless runtime has other UIs than those here.
    pub sharing: Sharing,
    /// Sessions that other processes have open are looked for there ([`super::CoreEffect::Visit`]).
    pub visits: bool,
    /// The commands of our agent that UIs know from the start.
    pub menu: AgentMenu,
    /// A number no other process starts with, for session ids.
    pub salt: u64,
}

impl Setup {
    /// New sessions stand in one folder, ask before tools run, and leave to the provider how hard a model thinks.
    pub fn new(engine: Engine, folder: &str, salt: u64) -> Setup {
        Setup {
            engine,
            cwd: folder.to_owned(),
            project: folder.to_owned(),
            effort: None,
            policy: Policy::Ask,
            typed_policy: None,
            policy_elsewhere: None,
            budget: GivenBudget::default(),
            no_sandbox: None,
            require_consent: false,
            is_headless: false,
            sharing: Sharing::Alone,
            visits: false,
            menu: AgentMenu::default(),
            salt,
        }
    }
}
