//! The notation of `command` steps: a word and what it needs. Total: whatever is written, an error says what was expected.
//!
//! ```text
//! prompt "text"      steer "text"        follow-up "text"     cancel ["reason"]     compact ["instruction"]
//! answer allow | allow session | allow always | deny ["reason"] | yes | no | choose a,b | enter "text" | dismiss
//! list-sessions [all] [N] ["search"]     history ID [RUNS] [EVENTS]     open-session ID     new-session ["cwd"]
//! close-session   clear-session   rename-session "title"   delete-session ID   branch-session   leaf ENTRY|none
//! list-models [PROVIDER]   set-model [PROVIDER/]NAME   set-policy read-only|ask|auto-edit|sandboxed|full
//! list-servers   list-skills   list-tools   set-tools a,b|all   stats   context "cwd" ["note"]
//! queue-mode steer|follow-up one-at-a-time|all   extension NAME {json}
//! ```

use domain::ask::{Answer, Scope};
use domain::command::{
    Command, LibraryCommand, ListCommand, ListScope, PromptOptions, QueueCommand, RunCommand, SessionCommand,
};
use domain::content::{Input, Json};
use domain::ids::{EntryId, SessionId};
use domain::queue::{Mode, QueueKind};
use domain::session::{Effort, Policy};
use domain::signal::UiContext;

/// Sessions, runs and events asked for where a step does not say.
const DEFAULT_LIMIT: u64 = 50;
const DEFAULT_RUNS: u64 = 20;
const DEFAULT_EVENTS: u64 = 1500;

/// What a person does at our UI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    Command(Command),
    /// An answer to the oldest open ask.
    Answer(Answer),
}

/// Reads what stands after `command`.
///
/// # Errors
/// What is wrong and what was expected.
pub fn parse_command(text: &str) -> Result<Act, String> {
    let mut rest = Words { text: text.trim() };
    let word = rest.word()?;
    let command = match word.as_str() {
        "answer" => {
            let answer = answer(&mut rest)?;
            rest.end()?;
            return Ok(Act::Answer(answer));
        }
        "prompt" => Command::Run(RunCommand::Prompt {
            input: Input::text(rest.string()?),
            options: PromptOptions::default(),
        }),
        "steer" => {
            Command::Queue(QueueCommand::Add { kind: QueueKind::Steer, input: Input::text(rest.string()?) })
        }
        "follow-up" => Command::Queue(QueueCommand::Add {
            kind: QueueKind::FollowUp,
            input: Input::text(rest.string()?),
        }),
        "cancel" => Command::Run(RunCommand::Cancel { run: None, reason: rest.maybe_string()? }),
        "compact" => Command::Run(RunCommand::Compact { instruction: rest.maybe_string()? }),
        "list-sessions" => list_sessions(&mut rest)?,
        "history" => Command::Library(LibraryCommand::History {
            session: session(&rest.word()?)?,
            max_runs: rest.maybe_number()?.unwrap_or(DEFAULT_RUNS),
            max_events: rest.maybe_number()?.unwrap_or(DEFAULT_EVENTS),
        }),
        "open-session" => Command::Library(LibraryCommand::Open { session: session(&rest.word()?)? }),
        "new-session" => {
            Command::Library(LibraryCommand::New { cwd: rest.maybe_string()?, title: None, id: None })
        }
        "branch-session" => Command::Library(LibraryCommand::Branch { session: None, at: None }),
        "close-session" => Command::Session(SessionCommand::Close),
        "clear-session" => Command::Session(SessionCommand::Clear),
        "rename-session" => Command::Session(SessionCommand::Rename { title: rest.string()? }),
        "delete-session" => Command::Library(LibraryCommand::Delete { session: session(&rest.word()?)? }),
        "leaf" => Command::Session(SessionCommand::SetLeaf { leaf: leaf(&rest.word()?)? }),
        "list-models" => Command::List(ListCommand::Models { provider: rest.maybe_word() }),
        "set-model" => set_model(&rest.word()?),
        "set-effort" => Command::Session(SessionCommand::SetEffort { effort: Effort::named(&rest.word()?) }),
        "set-policy" => Command::Session(SessionCommand::SetPolicy { policy: policy(&rest.word()?)? }),
        "list-servers" => Command::List(ListCommand::Servers),
        "list-skills" => Command::List(ListCommand::Skills { cwd: None, reload: false }),
        "list-tools" => Command::List(ListCommand::Tools),
        "set-tools" => Command::Session(SessionCommand::SetTools {
            tools: Some(rest.word()?).filter(|all| all != "all").map(|names| list(&names)),
        }),
        "stats" => Command::Session(SessionCommand::Stats),
        "context" => {
            let (cwd, note) = (rest.string()?, rest.maybe_string()?);
            Command::UpdateContext(UiContext {
                cwd: Some(cwd),
                notes: note.into_iter().collect(),
                ..UiContext::default()
            })
        }
        "queue-mode" => {
            Command::Queue(QueueCommand::SetMode { kind: queue(&rest.word()?)?, mode: mode(&rest.word()?)? })
        }
        "extension" => Command::Extension { name: rest.word()?, payload: rest.json()? },
        other => return Err(format!("unknown command `{other}`")),
    };
    rest.end()?;
    Ok(Act::Command(command))
}

fn answer(rest: &mut Words<'_>) -> Result<Answer, String> {
    let word = rest.word()?;
    Ok(match word.as_str() {
        "allow" => {
            let scope = match rest.maybe_word().as_deref() {
                None => Scope::Once,
                Some("session") => Scope::Session,
                Some("always") => Scope::Always,
                Some(other) => return Err(format!("`{other}` is no scope; it is session or always")),
            };
            Answer::Allow { scope, digest: None }
        }
        "deny" => Answer::Deny { reason: rest.maybe_string()? },
        "yes" => Answer::Confirmed(true),
        "no" => Answer::Confirmed(false),
        "choose" => Answer::Chosen(list(&rest.word()?)),
        "enter" => Answer::Entered(rest.string()?),
        "dismiss" => Answer::Dismissed,
        other => {
            return Err(format!(
                "`{other}` is no answer; it is allow, deny, yes, no, choose, enter or dismiss"
            ));
        }
    })
}

fn list_sessions(rest: &mut Words<'_>) -> Result<Command, String> {
    let mut scope = ListScope::Project(None);
    let mut limit = Some(DEFAULT_LIMIT);
    if rest.text.starts_with("all") {
        rest.word()?;
        scope = ListScope::All;
    }
    if let Some(number) = rest.maybe_number()? {
        limit = Some(number);
    }
    Ok(Command::Library(LibraryCommand::List { scope, limit, search: rest.maybe_string()? }))
}

fn set_model(name: &str) -> Command {
    match name.split_once('/') {
        Some((provider, name)) => Command::Session(SessionCommand::SetModel {
            provider: Some(provider.to_owned()),
            name: name.to_owned(),
        }),
        None => Command::Session(SessionCommand::SetModel { provider: None, name: name.to_owned() }),
    }
}

fn session(text: &str) -> Result<SessionId, String> {
    SessionId::parse(text).ok_or_else(|| format!("`{text}` is no session id"))
}

fn leaf(text: &str) -> Result<Option<EntryId>, String> {
    match text {
        "none" => Ok(None),
        text => text.parse().map(Some).map_err(|_| format!("`{text}` is no entry; it is entry-N or none")),
    }
}

fn queue(text: &str) -> Result<QueueKind, String> {
    match text {
        "steer" => Ok(QueueKind::Steer),
        "follow-up" => Ok(QueueKind::FollowUp),
        other => Err(format!("`{other}` is no queue; it is steer or follow-up")),
    }
}

fn mode(text: &str) -> Result<Mode, String> {
    match text {
        "one-at-a-time" => Ok(Mode::OneAtATime),
        "all" => Ok(Mode::All),
        other => Err(format!("`{other}` is no mode; it is one-at-a-time or all")),
    }
}

fn policy(text: &str) -> Result<Policy, String> {
    Policy::named(text).ok_or_else(|| {
        let names = Policy::ALL.map(Policy::name).join(", ");
        format!("`{text}` is no policy; there are {names}")
    })
}

fn list(text: &str) -> Vec<String> {
    text.split(',').filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

/// What is left of a step: words and JSON values.
struct Words<'t> {
    text: &'t str,
}

impl Words<'_> {
    fn word(&mut self) -> Result<String, String> {
        self.maybe_word().ok_or_else(|| "something is missing at the end".to_owned())
    }

    fn maybe_word(&mut self) -> Option<String> {
        let end = self.text.find(char::is_whitespace).unwrap_or(self.text.len());
        let (word, rest) = self.text.split_at(end);
        self.text = rest.trim_start();
        (!word.is_empty()).then(|| word.to_owned())
    }

    fn maybe_number(&mut self) -> Result<Option<u64>, String> {
        if !self.text.starts_with(|first: char| first.is_ascii_digit()) {
            return Ok(None);
        }
        let word = self.word()?;
        word.parse().map(Some).map_err(|_| format!("`{word}` is no number"))
    }

    fn string(&mut self) -> Result<String, String> {
        let found = self.text.to_owned();
        self.maybe_string()?.ok_or_else(|| format!("expected a text in double quotes, found `{found}`"))
    }

    fn maybe_string(&mut self) -> Result<Option<String>, String> {
        if !self.text.starts_with('"') {
            return Ok(None);
        }
        let json = self.json()?;
        serde_json::from_str(json.as_str()).map(Some).map_err(|error| error.to_string())
    }

    fn json(&mut self) -> Result<Json, String> {
        let mut values = serde_json::Deserializer::from_str(self.text).into_iter::<serde_json::Value>();
        match values.next() {
            Some(Ok(_)) => {
                let (value, rest) = self.text.split_at(values.byte_offset());
                let json = Json::verbatim(value);
                self.text = rest.trim_start();
                Ok(json)
            }
            Some(Err(error)) => Err(format!("bad JSON: {error}")),
            None => Err("expected JSON, found the end".to_owned()),
        }
    }

    fn end(&self) -> Result<(), String> {
        if self.text.is_empty() { Ok(()) } else { Err(format!("`{}` is too much", self.text)) }
    }
}
