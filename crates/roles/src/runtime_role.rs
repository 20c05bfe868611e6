//! We play the runtime: what a dialect implements to serve foreign UIs, and what it is shown.
//!
//! A role is called with what arrived; it answers by pushing effects. It never blocks, never reads a clock, never does I/O. Calls
//! come one at a time and effects are performed in order, so a role needs no locks and can be tested as a function.

use crate::context::RuntimeCx;
use crate::effect::TimerKey;
use crate::line::{Lane, Line};
use crate::ui_role::START_TIMEOUT;
use domain::command::{Receipt, Refusal};
use domain::event::Event;
use domain::fleet::FleetChange;
use domain::ids::SessionId;
use domain::port::{Abilities, Ticket};
use domain::rights::Standing;
use domain::signal::{Board, Signal};
use domain::state::State;
use domain::ui_files::{FileRequest, FileRequestId, UiFiles};
use std::time::Duration;

/// What the runtime behind a runtime role is, for greetings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Greeting {
    pub version: String,
    /// Working directory of the runtime.
    pub cwd: String,
    /// The model that a new session would use, as provider and name.
    pub model: Option<(String, String)>,
    /// Further models that a session could use, as far as they are known without asking.
    pub models: Vec<(String, String)>,
    /// Options of this dialect, as given on the command line (`--option name=value`, `--no-ui`, `--compat seed|peer`).
    pub options: Vec<(String, String)>,
    /// Whether the runtime is another program: what it can do is then told later ([`RuntimeRole::abilities`]), and greetings that name
    /// it wait for that, within [`GREET_WITHIN`].
    pub follows: bool,
    /// Whether a session is shown to a UI that asks for none.
    pub shows_session: bool,
    /// The most that the peer may do. The hub says it.
    pub standing: Standing,
    /// What the person should know from the start and nobody may have read on stderr.
    pub warnings: Vec<String>,
    /// The one name of a folder that a UI may know by several. A role looks at no disk: whoever seats it does.
    pub folders: FolderNames,
}

/// Gives the name by which Parlor knows a folder, links resolved; a name that leads nowhere stays as it is.
#[derive(Debug, Clone, Copy)]
pub struct FolderNames(pub fn(&str) -> String);

impl FolderNames {
    /// Follows its links, as the host does it: two names that lead to one place give the same.
    pub fn real(self, folder: &str) -> String {
        (self.0)(folder)
    }
}

impl Default for FolderNames {
    /// Every name stands for itself.
    fn default() -> FolderNames {
        FolderNames(str::to_owned)
    }
}

impl PartialEq for FolderNames {
    /// How folders are looked up is nothing that is told, so two greetings do not differ by it.
    fn eq(&self, _: &FolderNames) -> bool {
        true
    }
}

impl Eq for FolderNames {}

/// How long a greeting may wait for what another program can do; then nothing is claimed of it. Longer than that program may take to
/// greet: that it is none, or does not start, is told in place of a greeting.
pub const GREET_WITHIN: Duration = START_TIMEOUT.saturating_add(Duration::from_secs(2));

/// The option that sets how long questions wait, in seconds; 0 for as long as it takes.
const ANSWER_WITHIN: &str = "answer-within";
/// The longest that the option may set.
const MAX_ANSWER_WITHIN: Duration = Duration::from_secs(24 * 60 * 60);

impl Greeting {
    /// The value of an option.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// How long questions wait on a wire that usually has this deadline; `None` for as long as it takes.
    ///
    /// # Errors
    /// What is wrong with the option, in words for a person; the usual deadline counts.
    pub fn answer_within(&self, usual: Duration) -> Result<Option<Duration>, String> {
        let Some(text) = self.option(ANSWER_WITHIN) else { return Ok(Some(usual)) };
        match text.parse().map(Duration::from_secs) {
            Ok(wait) if wait <= MAX_ANSWER_WITHIN => Ok((!wait.is_zero()).then_some(wait)),
            _ => {
                let (usual, most) = (usual.as_secs(), MAX_ANSWER_WITHIN.as_secs());
                Err(format!(
                    "{ANSWER_WITHIN}={text} is no number of seconds from 0 to {most}; {usual} counts"
                ))
            }
        }
    }
}

/// A session as a runtime role sees it.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    pub session: &'a SessionId,
    /// As it stands now. When a slow link catches up, this may be ahead of the event that is being told.
    pub state: &'a State,
    /// The lasting signals.
    pub board: &'a Board,
    /// Whether it is this link's current session.
    pub current: bool,
}

/// How a command was settled.
pub type Settled = Result<Receipt, Refusal>;

/// We play the runtime: a foreign UI is at the other end.
pub trait RuntimeRole: Send {
    /// The link is up.
    fn open(&mut self, _cx: &mut RuntimeCx<'_>, _greeting: &Greeting) {}
    /// A line came.
    fn line(&mut self, cx: &mut RuntimeCx<'_>, lane: Lane, line: Line);
    /// The peer opened one more connection on a lane (wires with several); `false` when it closed one.
    fn lane(&mut self, _cx: &mut RuntimeCx<'_>, _lane: Lane, _open: bool) {}
    /// This link now sees `view.session` (it asked for it, or was put there). Everything so far is in the state; events follow.
    fn attached(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>);
    /// This link no longer sees the session.
    fn detached(&mut self, _cx: &mut RuntimeCx<'_>, _session: &SessionId) {}
    /// What the runtime behind this role can do; again when that changes, with what this link works in. `true` when the role has
    /// shown that session once more because of it: everything so far is told.
    fn abilities(
        &mut self,
        _cx: &mut RuntimeCx<'_>,
        _view: Option<View<'_>>,
        _abilities: &Abilities,
    ) -> bool {
        false
    }
    /// Something happened in a session that this link sees.
    fn event(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, event: &Event);
    /// A one-way word.
    fn signal(&mut self, _cx: &mut RuntimeCx<'_>, _view: View<'_>, _signal: &Signal) {}
    /// A command of this link is settled.
    fn settled(&mut self, cx: &mut RuntimeCx<'_>, view: Option<View<'_>>, ticket: Ticket, with: Settled);
    /// What is new of the sessions that are open here; only called once the role wanted it ([`RuntimeCx::watch_fleet`]).
    fn fleet(&mut self, _cx: &mut RuntimeCx<'_>, _change: FleetChange) {}
    /// A timer ran out.
    fn timer(&mut self, _cx: &mut RuntimeCx<'_>, _key: TimerKey) {}
    /// The runtime behind this role has not told what it can do, and says something else: the peer hears of it, where its wire has a word
    /// for that before the greeting, and goes on waiting.
    fn odd(&mut self, cx: &mut RuntimeCx<'_>, what: &str) {
        cx.log(format!("warning: {what}"));
    }
    /// The runtime behind this role went before it told what it can do: nothing will come of this link, which is closed in a moment. A
    /// peer that waits for its greeting, or comes for it now, is told why in its own words.
    fn lost(&mut self, _cx: &mut RuntimeCx<'_>, _why: &str) {}
    /// The peer has closed its end of the link, and may still read: what it is due is told before it counts as gone.
    fn last_word(&mut self, _cx: &mut RuntimeCx<'_>) {}
    /// Whether the peer waits for an answer that nobody but this role knows of, as that to a greeting which waits for the runtime.
    fn owes(&self) -> bool {
        false
    }
    /// The peer is gone.
    fn closed(&mut self, _cx: &mut RuntimeCx<'_>) {}
    /// What asks the peer can answer: nobody is asked on a wire that cannot carry the question.
    fn can_answer(&self) -> Answers;
    /// Whether a peer whose connection broke comes back to its runs by itself. Those of another wire are over for it, and stopped where
    /// nobody else sees them.
    fn comes_back(&self) -> bool {
        false
    }
    /// What the peer wants to be held to, which lowers what it may do and never raises it; `None` while nobody knows what it is held to
    /// elsewhere. Most wires have no word for it.
    fn rights(&self) -> Option<Standing> {
        Some(Standing::Controller)
    }
    /// What the peer does with files on our behalf.
    fn files(&self) -> UiFiles {
        UiFiles::default()
    }
    /// A tool wants a file of a session that this link sees; only called as far as [`RuntimeRole::files`] says.
    /// [`RuntimeCx::file_done`] answers, once.
    fn file(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        _session: &SessionId,
        id: FileRequestId,
        _request: &FileRequest,
    ) {
        cx.file_done(id, Err("this UI holds no files".to_owned()));
    }
}

/// Which asks a link's peer can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answers {
    /// Whether a tool may run.
    pub consent: bool,
    /// Anything else.
    pub other: bool,
    /// How long a question may wait on this wire; `None` means for ever. On a wire that cannot answer, how long one may hold up a turn
    /// that it began.
    pub deadline: Option<Duration>,
    /// Whether the peer says when a question is on its screen ([`domain::command::SHOWN`]). One that does not counts as having shown it.
    pub says_shown: bool,
}

impl Answers {
    /// Everything.
    pub const ALL: Answers = Answers { consent: true, other: true, deadline: None, says_shown: false };
    /// The same, by a screen that says when a question is on it.
    pub const ON_SCREEN: Answers = Answers { says_shown: true, ..Answers::ALL };
    /// Nothing: the wire has no asks.
    pub const NONE: Answers = Answers { consent: false, other: false, ..Answers::ALL };

    /// Whether such an ask can be answered.
    pub fn can(self, consent: bool) -> bool {
        if consent { self.consent } else { self.other }
    }
}
