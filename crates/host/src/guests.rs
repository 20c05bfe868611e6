//! What a UI that connects meets: who we are, what it may do, where it begins, and whether it is written down.

use crate::settings;
use crate::stack::OwnStack;
use dialects::Dialect;
use domain::command::Command;
use domain::path_text;
use hub::core::Standing;
use hub::{Guest, Log};
use link::Watcher;
use roles::{FolderNames, Greeting};
use std::path::Path;
use std::sync::Arc;

/// The option by which a wire is told how long its questions may wait.
const ANSWER_WITHIN: &str = "answer-within";

/// The person's own figure for it, where the command line names none: UIs that start us cannot be told to name it.
pub fn answer_within(options: &[(String, String)]) -> Option<(String, String)> {
    let set = settings::read().config.answer_within?;
    let named = options.iter().any(|(name, _)| name == ANSWER_WITHIN);
    (!named).then(|| (ANSWER_WITHIN.to_owned(), set.as_secs().to_string()))
}

fn greeting(own: &OwnStack, options: Vec<(String, String)>, warnings: Vec<String>) -> Greeting {
    Greeting {
        version: crate::version::version().to_owned(),
        cwd: path_text::write(&own.cwd),
        model: Some((own.model.provider.clone(), own.model.name.clone())),
        models: own.models.iter().map(|model| (model.provider.clone(), model.name.clone())).collect(),
        options,
        warnings,
        folders: FolderNames(real_folder),
        ..Greeting::default()
    }
}

/// The name of a folder with its links resolved.
fn real_folder(folder: &str) -> String {
    Path::new(folder).canonicalize().map_or_else(|_| folder.to_owned(), |real| path_text::write(&real))
}

/// Who we are and what we can, for the greeting of every UI.
#[derive(Clone)]
pub struct Host {
    pub greeting: Greeting,
    pub standing: Standing,
    pub start: Option<Command>,
    /// Who listens in on its links.
    pub listening: Option<Listening>,
    /// Where it is told what happens at its doors.
    pub log: Log,
}

/// Gives who listens in on the next link of a wire, such as a recording, if anybody does.
pub type Listening = Arc<dyn Fn(Dialect) -> anyhow::Result<Option<Watcher>> + Send + Sync>;

impl Host {
    /// A host of our own agent, whose UIs may do what `standing` says.
    pub fn new(
        own: &OwnStack,
        options: Vec<(String, String)>,
        standing: Standing,
        warnings: Vec<String>,
        log: Log,
    ) -> Host {
        let greeting = greeting(own, options, warnings);
        Host { greeting, standing, start: None, listening: None, log }
    }

    /// A host whose UIs all come by its announced socket.
    pub(crate) fn of_room(own: &OwnStack, log: Log) -> Host {
        let greeting = greeting(own, answer_within(&[]).into_iter().collect(), Vec::new());
        Host { greeting, standing: Standing::Controller, start: None, listening: None, log }
    }

    /// A host in front of a foreign runtime, which knows no model and starts nothing.
    pub fn in_front(
        cwd: &Path,
        mut options: Vec<(String, String)>,
        warnings: Vec<String>,
        listening: Option<Listening>,
        log: Log,
    ) -> Host {
        options.extend(answer_within(&options));
        let greeting = Greeting {
            version: crate::version::version().to_owned(),
            cwd: path_text::write(cwd),
            model: None,
            models: Vec::new(),
            options,
            follows: true,
            warnings,
            ..Greeting::default()
        };
        Host { greeting, standing: Standing::Controller, start: None, listening, log }
    }

    /// Who listens in on the next link of this dialect, if anybody does.
    pub(crate) fn watcher(&self, dialect: Dialect) -> anyhow::Result<Option<Watcher>> {
        match &self.listening {
            Some(listening) => listening(dialect),
            None => Ok(None),
        }
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
