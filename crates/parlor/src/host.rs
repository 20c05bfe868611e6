//! What a UI that connects meets: who we are, what it may do, where it begins, and whether it is written down.

use crate::exit;
use crate::settings;
use crate::stack::OwnStack;
use crate::tape::Tape;
use dialects::Dialect;
use domain::command::Command;
use domain::path_text;
use hub::Guest;
use hub::core::Standing;
use kit::notation::Side;
use kit::redact::Redactor;
use link::{Watcher, Way};
use roles::Greeting;
use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;

/// The option by which a wire is told how long its questions may wait.
const ANSWER_WITHIN: &str = "answer-within";

/// The person's own figure for it, where the command line names none: UIs that start us cannot be told to name it.
pub(crate) fn answer_within(options: &[(String, String)]) -> Option<(String, String)> {
    let set = settings::read().config.answer_within?;
    let named = options.iter().any(|(name, _)| name == ANSWER_WITHIN);
    (!named).then(|| (ANSWER_WITHIN.to_owned(), set.as_secs().to_string()))
}

fn greeting(own: &OwnStack, options: Vec<(String, String)>, warnings: Vec<String>) -> Greeting {
    Greeting {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        cwd: path_text::write(&own.cwd),
        model: Some((own.model.provider.clone(), own.model.name.clone())),
        models: own.models.iter().map(|model| (model.provider.clone(), model.name.clone())).collect(),
        options,
        warnings,
        ..Greeting::default()
    }
}

/// Who we are and what we can, for the greeting of every UI.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) greeting: Greeting,
    pub(crate) standing: Standing,
    pub(crate) start: Option<Command>,
    pub(crate) tape: Option<Tape>,
    /// Every line goes to stderr too.
    pub(crate) log_wire: bool,
}

impl Host {
    /// A host of our own agent, whose UIs may do what `standing` says.
    pub(crate) fn new(
        own: &OwnStack,
        options: Vec<(String, String)>,
        standing: Standing,
        warnings: Vec<String>,
    ) -> Host {
        let greeting = greeting(own, options, warnings);
        Host { greeting, standing, start: None, tape: None, log_wire: false }
    }

    /// A host whose UIs all come by its announced socket.
    pub(crate) fn of_room(own: &OwnStack) -> Host {
        let greeting = greeting(own, answer_within(&[]).into_iter().collect(), Vec::new());
        Host { greeting, standing: Standing::Controller, start: None, tape: None, log_wire: false }
    }

    /// A host in front of a foreign runtime, which knows no model and starts nothing.
    pub(crate) fn in_front(
        cwd: &Path,
        mut options: Vec<(String, String)>,
        warnings: Vec<String>,
        tape: Option<Tape>,
    ) -> Host {
        options.extend(answer_within(&options));
        let greeting = Greeting {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            cwd: path_text::write(cwd),
            model: None,
            models: Vec::new(),
            options,
            follows: true,
            warnings,
            ..Greeting::default()
        };
        Host { greeting, standing: Standing::Controller, start: None, tape, log_wire: false }
    }

    /// Who listens in on the next link of this dialect, if it is to be recorded.
    pub(crate) fn watcher(&self, dialect: Dialect) -> anyhow::Result<Option<Watcher>> {
        let Some(tape) = &self.tape else {
            let (name, redactor) = (dialect.name(), Mutex::new(Redactor::new()));
            let said = move |way, _, line: &str| {
                let (word, side) = match way {
                    Way::In => ("RECV", Side::Ui),
                    Way::Out => ("SEND", Side::Runtime),
                };
                let line = redactor.lock().unwrap_or_else(PoisonError::into_inner).line(side, line);
                exit::complain(&format!("[{name} {word}] {line}"));
            };
            return Ok(self.log_wire.then(|| Watcher::new(said)));
        };
        let watcher = match dialect.has_event_lane() {
            true => tape.shared_watcher(dialect.name(), Side::Ui)?,
            false => tape.watcher(dialect.name(), Side::Ui)?,
        };
        Ok(Some(watcher))
    }

    /// A seat for a UI of this dialect.
    pub(crate) fn guest(&self, dialect: Dialect) -> Guest {
        Guest {
            role: dialect.runtime_role(),
            name: dialect.name().to_owned(),
            standing: self.standing,
            greeting: Greeting { shows_session: self.start.is_some(), ..self.greeting.clone() },
            start: self.start.clone(),
            stays: dialect.has_event_lane(),
        }
    }
}
