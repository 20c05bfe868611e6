//! The folder of the tour, the programs that it opens in the terminal, and what is read of them afterwards.

use super::steps::{Opens, Seen, Step};
use crate::exit::Exit;
use crate::output;
use anyhow::Context;
use dialects::SHOWN_BRIDGED;
use domain::event::{AskEvent, Body, Event};
use domain::ids::{Seq, SessionId};
use host::devices;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;
use store::{Listing, SqliteStore, Store};
use tokio::signal::unix::{SignalKind, signal};
use tui::{Echo, FoundTerminal, TypedLine, ask_line};

/// How often it is looked whether a program has ended, or asks.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long a question stands before its program is killed: so that it is seen. Nothing depends on it.
const SEEN_FOR: Duration = Duration::from_millis(1500);
/// Events of a step that are read at most.
const MAX_EVENTS: usize = 10_000;
/// Sessions of the tour that are looked at at most.
const MAX_SESSIONS: usize = 1_000;
/// What the settings of the tour say.
const SETTINGS: &str = "policy = \"ask\"\nmodel = \"offline/offline\"\n";
/// What of our variables goes along: how it looks. Others would lead the steps elsewhere.
const LOOKS: &[&str] = &["PARLOR_THEME", "PARLOR_INLINE", "PARLOR_PLAIN"];

/// The folder of the tour.
pub(super) struct Stage {
    folder: PathBuf,
}

impl Stage {
    /// There, whether it is there yet or not.
    pub(super) fn at(folder: PathBuf) -> Stage {
        Stage { folder }
    }

    /// Where all of it lies.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Deletes all of it.
    pub(super) fn reset(&self) -> anyhow::Result<()> {
        match std::fs::remove_dir_all(&self.folder) {
            Err(why) if why.kind() != ErrorKind::NotFound => {
                Err(why).with_context(|| format!("cannot delete {}", self.folder.display()))
            }
            _ => Ok(()),
        }
    }

    fn progress(&self) -> PathBuf {
        self.folder.join("progress")
    }

    /// `done` or `skipped`, by a step's name.
    pub(super) fn came_of(&self, step: &str) -> Option<&'static str> {
        let noted = std::fs::read_to_string(self.progress()).unwrap_or_default();
        let last = noted.lines().rev().find_map(|line| line.strip_prefix(step)?.strip_prefix(' '))?;
        ["done", "skipped"].into_iter().find(|word| *word == last)
    }

    /// Notes what came of a step; what was done once stays done.
    pub(super) fn note(&self, step: &str, word: &str) -> anyhow::Result<()> {
        if self.came_of(step) == Some("done") {
            return Ok(());
        }
        self.prepare()?;
        let noted = std::fs::read_to_string(self.progress()).unwrap_or_default();
        std::fs::write(self.progress(), format!("{noted}{step} {word}\n"))
            .with_context(|| format!("cannot write {}", self.progress().display()))
    }

    fn prepare(&self) -> anyhow::Result<()> {
        let made = ["project", "data", "config"]
            .iter()
            .try_for_each(|name| std::fs::create_dir_all(self.folder.join(name)));
        made.and_then(|()| std::fs::write(self.folder.join("config/config.toml"), SETTINGS))
            .with_context(|| format!("cannot prepare {}", self.folder.display()))
    }

    /// Puts the project as the step needs it, and forgets rules of steps before: they would answer its question.
    fn set(&self, step: &Step) -> anyhow::Result<()> {
        self.prepare()?;
        let gone = |result: std::io::Result<()>| match result {
            Err(why) if why.kind() != ErrorKind::NotFound => Err(why),
            _ => Ok(()),
        };
        let project = self.folder.join("project");
        let set = || {
            gone(std::fs::remove_dir_all(self.folder.join("data/rules")))?;
            step.makes.iter().try_for_each(|file| gone(std::fs::remove_file(project.join(file))))?;
            step.needs.map_or(Ok(()), |(file, text)| std::fs::write(project.join(file), text))
        };
        set().with_context(|| format!("cannot prepare {}", project.display()))
    }

    /// Opens what a step opens, until the person comes back, and reads what happened. Else: how the program is to end.
    pub(super) async fn show(&self, step: &Step) -> anyhow::Result<Result<Seen, Exit>> {
        self.set(step)?;
        let before = self.sessions()?;
        let browsers = self.browsers();
        let mut killed = None;
        match step.opens {
            Opens::Prompt(prompt) => self.until_left(&[prompt]).await?,
            Opens::Killed(prompt) => {
                let found = FoundTerminal::find()?;
                let mut child = self.start(&[prompt])?;
                if let Some((session, seq)) = self.asked(&mut child, &before).await? {
                    tokio::time::sleep(SEEN_FOR).await;
                    child.kill().context("cannot kill it")?;
                    child.wait()?;
                    found.give_back();
                    killed = Some(seq);
                    let told = "\nkill -9: it is gone, in the middle of its question.\nEnter opens the conversation again ";
                    if let TypedLine::Told(signal) = ask_line(told, Echo::Hidden).await? {
                        return Ok(Err(Exit::Cancelled(signal)));
                    }
                    self.until_left(&["--resume", session.as_str()]).await?;
                }
            }
            Opens::Page => self.until_left(&["web"]).await?,
            Opens::Bridge => {
                let program = program()?.into_os_string().into_string();
                let program = program.map_err(|_| anyhow::anyhow!("the path of this program is no text\n\nhint: start Parlor from a folder whose name is UTF-8 text"))?;
                let (ui, agent) = SHOWN_BRIDGED;
                let (ui, agent) = (ui.name(), agent.name());
                let bridge = [program.as_str(), "bridge", "--from", ui, "--stdio", "--to", agent, "--"];
                let served = [program.as_str(), "serve", "--dialect", agent, "--stdio"];
                let words = [&["attach", "--dialect", ui, "--"], &bridge[..], &served[..]].concat();
                self.until_left(&words).await?;
            }
        }
        let began = self.newest(&before)?;
        let events = began.map_or(Ok(Vec::new()), |session| self.events(&session))?;
        let browsers = self.browsers().saturating_sub(browsers);
        Ok(Ok(Seen { events, killed, browsers, project: self.folder.join("project") }))
    }

    /// Parlor in this terminal, in the world of the tour.
    fn start(&self, words: &[&str]) -> anyhow::Result<Child> {
        let mut command = Command::new(program()?);
        command.args(words).current_dir(self.folder.join("project"));
        for (name, _) in std::env::vars_os() {
            let looks = LOOKS.iter().any(|look| name == *look);
            if name.as_encoded_bytes().starts_with(b"PARLOR_") && !looks {
                command.env_remove(name);
            }
        }
        command.env("PARLOR_DATA_DIR", self.folder.join("data"));
        command.env("PARLOR_CONFIG_DIR", self.folder.join("config")).env(super::WITHIN, "1");
        command.spawn().context("cannot start Parlor again")
    }

    async fn until_left(&self, words: &[&str]) -> anyhow::Result<()> {
        // Ctrl-C at the page is meant for what was opened; the tour hears it, too, and goes on.
        let _interrupts = signal(SignalKind::interrupt())?;
        let mut child = self.start(words)?;
        while child.try_wait()?.is_none() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// The session that asks, and how far its record goes; nothing when the program ends without a question.
    async fn asked(
        &self,
        child: &mut Child,
        before: &BTreeSet<SessionId>,
    ) -> anyhow::Result<Option<(SessionId, Seq)>> {
        while child.try_wait()?.is_none() {
            tokio::time::sleep(LOOK_EVERY).await;
            // The store is made meanwhile: what cannot be read yet is read at the next look.
            let Ok(Some(session)) = self.newest(before) else { continue };
            let Ok(events) = self.events(&session) else { continue };
            let open = events.iter().rev().find_map(|event| match &event.body {
                Body::Ask(AskEvent::Opened(_)) => Some(true),
                Body::Ask(AskEvent::Closed { .. }) => Some(false),
                _ => None,
            });
            if let (Some(true), Some(last)) = (open, events.last()) {
                return Ok(Some((session, last.seq)));
            }
        }
        Ok(None)
    }

    fn store(&self) -> anyhow::Result<Option<SqliteStore>> {
        let data = self.folder.join("data");
        if !data.exists() || !SqliteStore::is_at(&data)? {
            return Ok(None);
        }
        Ok(Some(SqliteStore::to_read(&data)?))
    }

    fn listed(&self) -> anyhow::Result<Vec<SessionId>> {
        let Some(store) = self.store()? else { return Ok(Vec::new()) };
        let listing = Listing { limit: Some(MAX_SESSIONS), ..Listing::default() };
        Ok(store.list(&listing)?.into_iter().map(|summary| summary.id).collect())
    }

    fn sessions(&self) -> anyhow::Result<BTreeSet<SessionId>> {
        Ok(self.listed()?.into_iter().collect())
    }

    /// The newest session that was not there before.
    fn newest(&self, before: &BTreeSet<SessionId>) -> anyhow::Result<Option<SessionId>> {
        Ok(self.listed()?.into_iter().find(|session| !before.contains(session)))
    }

    fn events(&self, session: &SessionId) -> anyhow::Result<Vec<Event>> {
        let Some(store) = self.store()? else { return Ok(Vec::new()) };
        Ok(store.events(session, Seq(0), MAX_EVENTS)?)
    }

    fn browsers(&self) -> usize {
        let known = web::Shelf::read(&devices::File::new(&self.folder.join("data"), output::stderr_log()));
        known.active().count()
    }
}

fn program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("the path of this program is not known")
}
