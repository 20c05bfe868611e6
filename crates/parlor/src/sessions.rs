//! `parlor sessions`: the conversations that are kept, looked at and moved by hand.
//!
//! It reads the store itself and needs no hub; what is being written by a running Parlor can be read, not changed. Reports go to
//! stdout, as a table or with `--json` as one JSON document.

mod args;
mod files;
mod kept_store;
mod maintenance;
mod moving;
mod pick;
mod reports;
mod transfer;

pub(crate) use args::Sessions;
pub(crate) use pick::{Picked, pick};

use crate::aloud;
use crate::exit::Exit;
use crate::output::{self, Stream};
use crate::paint::{Paint, line};
use anyhow::Context as _;
use args::{Act, Id, List, Recover, Remove, Rename, Report, Search, Show};
use domain::event::{Body, Event, SessionEvent};
use domain::ids::{Millis, SessionId};
use domain::session::SessionSummary;
use host::clock::now;
use host::kept;
use host::kept::{find, newest, not_used, told};
use host::launch::Launch;
use host::paths;
use host::store_place;
use kept_store::KeptStore;
use reports::Called;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use store::{Durability, Listing, SqliteStore, StoreError};
use tools::checkpoint::Direction;

/// What every act works with.
pub(crate) struct SessionCommands {
    store: KeptStore,
    /// The project the person stands in.
    project: String,
    cwd: PathBuf,
    now: Millis,
}

/// Does what was typed.
pub(crate) async fn sessions(launch: &Launch, sessions: Sessions) -> anyhow::Result<Exit> {
    let data = paths::data()?;
    let act = sessions.act.unwrap_or_default();
    if let Some(address) = store_place::database(launch)? {
        if matches!(act, Act::Recover(_) | Act::Backup(_)) {
            store_place::only_here(launch, "a backup")?;
        }
        return perform(launch, act, KeptStore::Team(store_place::open(address)?)).await;
    }
    let brings = matches!(act, Act::Import(_) | Act::Recover(Recover { file: Some(_), .. }));
    if !SqliteStore::is_at(&data).map_err(|why| told(&why))? && !brings {
        return nothing_yet(&act);
    }
    match &act {
        Act::Recover(recover) => return maintenance::recover(&data, recover),
        Act::Backup(backup) => return maintenance::back_up(&data, backup),
        _ => {}
    }
    let store = KeptStore::Here(Box::new(open(&data, act.only_reads())?));
    perform(launch, act, store).await
}

async fn perform(launch: &Launch, act: Act, store: KeptStore) -> anyhow::Result<Exit> {
    let work_dir = aloud::work_dir(launch, &mut aloud::settings())?;
    let mut commands =
        SessionCommands { store, project: paths::project(&work_dir), cwd: work_dir.cwd, now: now() };
    match act {
        Act::List(list) => commands.list(&list),
        Act::Show(show) => commands.show(&show),
        Act::Search(search) => commands.search(&search),
        Act::Tree(id) => commands.tree(&id),
        Act::Export(export) => commands.export(&export),
        Act::Import(import) => commands.import(&import),
        Act::Rename(rename) => commands.rename(rename),
        Act::Remove(remove) => commands.remove(&remove),
        Act::Undo(undo) => commands.move_files(&undo, Direction::Back).await,
        Act::Redo(redo) => commands.move_files(&redo, Direction::Forth).await,
        Act::Diff(diff) => commands.diff_files(&diff),
        Act::Move(moves) => commands.move_to(&moves),
        // Done above, without opening the store.
        Act::Recover(_) | Act::Backup(_) => Ok(Exit::Done),
    }
}

/// Nothing was ever kept: lists are empty, everything else has nothing to act on.
fn nothing_yet(act: &Act) -> anyhow::Result<Exit> {
    let report = match act {
        Act::List(List { report, .. }) | Act::Search(Search { report, .. }) => report,
        Act::Show(_)
        | Act::Tree(_)
        | Act::Export(_)
        | Act::Import(_)
        | Act::Rename(_)
        | Act::Remove(_)
        | Act::Undo(_)
        | Act::Redo(_)
        | Act::Diff(_)
        | Act::Recover(_)
        | Act::Move(_)
        | Act::Backup(_) => {
            anyhow::bail!("no conversation is kept yet; start one with `parlor`")
        }
    };
    output::print_line(if report.json {
        "[]"
    } else {
        "No conversation is kept yet. Start one with `parlor`."
    });
    Ok(Exit::Done)
}

/// The store; where it cannot be written, whoever only reads gets it all the same.
fn open(data: &Path, only_reads: bool) -> anyhow::Result<SqliteStore> {
    match SqliteStore::at(data) {
        Err(why @ (StoreError::ReadOnly { .. } | StoreError::Full { .. })) if only_reads => {
            let store = SqliteStore::to_read(data).map_err(|why| told(&why))?;
            output::print_error(&format!("note: {why}: what is kept is shown, and nothing new can be kept"));
            Ok(store)
        }
        opened => {
            let store = opened.map_err(|why| told(&why))?;
            if let Some(words) = not_used(store.put_away()) {
                output::print_error(&format!("warning: {words}"));
            }
            Ok(store)
        }
    }
}

impl SessionCommands {
    /// The session that was named, or the newest of this project.
    fn named(&self, id: Option<&str>) -> anyhow::Result<SessionId> {
        if let Some(id) = id {
            return find(&*self.store, id);
        }
        newest(&*self.store, &self.project)
    }

    fn all(&self) -> anyhow::Result<Vec<SessionSummary>> {
        self.store.list(&Listing::default()).map_err(|why| told(&why))
    }

    fn list(&self, list: &List) -> anyhow::Result<Exit> {
        let listing = Listing {
            project: (!list.all).then(|| self.project.clone()),
            search: None,
            limit: Some(list.limit),
        };
        let sessions = self.store.list(&listing).map_err(|why| told(&why))?;
        let open = self.store.holders()?;
        if list.report.json {
            output::print_line(&reports::list_json(&sessions, &open)?);
            return Ok(Exit::Done);
        }
        if sessions.is_empty() {
            output::print_line(if list.all {
                "No conversation is kept yet. Start one with `parlor`."
            } else {
                "No conversation in this project yet. `parlor sessions list --all` shows all projects."
            });
            return Ok(Exit::Done);
        }
        // Ids are shortened so that they name one session among all, not only among those shown.
        let short = kept::shortened(&self.all()?);
        output::print_report(
            &reports::table(&sessions, &Called { short, open }, list.all, self.now, Paint::of_stdout()),
            Stream::Out,
        );
        if sessions.len() == list.limit {
            output::print_error(&format!("({} newest; --limit N shows more)", list.limit));
        }
        Ok(Exit::Done)
    }

    fn show(&self, show: &Show) -> anyhow::Result<Exit> {
        let id = self.named(show.id.as_deref())?;
        let summary = self.store.summary(&id).map_err(|why| told(&why))?;
        let mut opened = self.store.load(&id).map_err(|why| told(&why))?;
        if !summary.running {
            // Nobody runs it: it is shown as it will be when it is opened.
            for body in store::recover(&opened.state).bodies {
                let at = opened.state.updated_at;
                opened.state.apply(at, &body).context("the session's record does not fit together")?;
            }
        }
        if show.report.json {
            output::print_line(&reports::show_json(&summary, &opened.state));
        } else {
            let last = if show.all { usize::MAX } else { show.last };
            output::print_report(
                &reports::show(&summary, &opened.state, last, self.now, Paint::of_stdout()),
                Stream::Out,
            );
        }
        if let Some(damage) = opened.damage {
            output::print_error(&format!("warning: {}", damage.message));
        }
        Ok(Exit::Done)
    }

    fn search(&self, search: &Search) -> anyhow::Result<Exit> {
        let words = search.words.join(" ");
        let mut found = self.store.search(&words, search.limit).map_err(|why| told(&why))?;
        if search.here {
            let listing = Listing { project: Some(self.project.clone()), ..Listing::default() };
            let here = self.store.list(&listing).map_err(|why| told(&why))?;
            found.retain(|hit| here.iter().any(|session| session.id == hit.session));
        }
        if search.report.json {
            output::print_line(&reports::found_json(&found));
            return Ok(Exit::Done);
        }
        if found.is_empty() {
            output::print_error(&format!("No match: {words}"));
            return Ok(Exit::Failed);
        }
        let short = kept::shortened(&self.all()?);
        output::print_report(
            &reports::found(&found, &short, &words, self.now, Paint::of_stdout()),
            Stream::Out,
        );
        Ok(Exit::Done)
    }

    fn tree(&self, tree: &Id) -> anyhow::Result<Exit> {
        let id = self.named(tree.id.as_deref())?;
        let state = self.store.load(&id).map_err(|why| told(&why))?.state;
        if tree.report.json {
            output::print_line(&reports::tree_json(&state));
        } else {
            output::print_report(&reports::tree(&state, Paint::of_stdout()), Stream::Out);
        }
        Ok(Exit::Done)
    }

    fn rename(&mut self, rename: Rename) -> anyhow::Result<Exit> {
        let id = find(&*self.store, &rename.id)?;
        let title = line(&rename.title.join(" "));
        anyhow::ensure!(!title.is_empty(), "a title needs a word\n\nhint: parlor sessions rename ID TITLE");
        let state = self.store.open(&id).map_err(|why| told(&why))?.state;
        let event = Event {
            seq: state.seq.next(),
            at: state.updated_at,
            body: Body::Session(SessionEvent::Renamed { title: title.clone() }),
        };
        let appended = self.store.append(&id, &[event], Durability::Now);
        self.store.close(&id).map_err(|why| told(&why))?;
        appended.map_err(|why| told(&why))?;
        if rename.report.json {
            output::print_line(&serde_json::json!({ "session": id.as_str(), "title": title }).to_string());
        } else {
            output::print_line(&format!("{id} is now “{title}”"));
        }
        Ok(Exit::Done)
    }

    fn remove(&mut self, remove: &Remove) -> anyhow::Result<Exit> {
        let mut ids = Vec::new();
        for id in &remove.ids {
            ids.push(find(&*self.store, id)?);
        }
        ids.sort();
        ids.dedup();
        if !remove.yes && !self.agreed(&ids)? {
            output::print_error("Nothing was removed.");
            return Ok(Exit::LEFT);
        }
        let mut removed = Ok(());
        for id in &ids {
            removed = self.store.delete(id);
            if removed.is_err() {
                break;
            }
            if !remove.report.json {
                output::print_line(&format!("removed {id}"));
            }
        }
        if let KeptStore::Here(store) = &mut self.store {
            maintenance::give_back(store);
        }
        removed.map_err(|why| told(&why))?;
        if remove.report.json {
            let ids: Vec<&str> = ids.iter().map(SessionId::as_str).collect();
            output::print_line(&serde_json::json!({ "removed": ids }).to_string());
        }
        Ok(Exit::Done)
    }

    /// Asks before something is gone for good.
    fn agreed(&self, ids: &[SessionId]) -> anyhow::Result<bool> {
        let mut input = std::io::stdin().lock();
        anyhow::ensure!(
            std::io::stdin().is_terminal() && Stream::Err.is_terminal(),
            "this deletes {} conversation(s) permanently; pass --yes to confirm",
            ids.len()
        );
        for id in ids {
            let summary = self.store.summary(id).map_err(|why| told(&why))?;
            output::print_error(&format!("{id}  {} ({} messages)", line(&summary.title), summary.messages));
        }
        output::print_to("Delete permanently? [y/N] ", Stream::Err);
        let mut answer = String::new();
        input.read_line(&mut answer)?;
        Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
    }
}

impl Report {
    /// Whether a program reads it.
    fn is_json(&self) -> bool {
        self.json
    }
}
