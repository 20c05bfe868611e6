//! What a page asks for that no session tells: where sessions begin and with which models, folders, and words in all that is kept.
//!
//! Invariants: nothing is changed; every answer is bounded, and what blocks on a disk does so on a thread of its own.

use crate::error::in_words;
use crate::model_source::Source;
use crate::rooms::AgentNames;
use crate::{launch, paths, settings};
use domain::ids::SessionId;
use domain::path_text;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use store::{Listing, SqliteStore, Store as _};

/// Folders that are offered at once.
const MAX_FOLDERS: usize = 50;
/// Entries of a folder that are looked at for that.
const MAX_ENTRIES: usize = 20_000;
/// Sessions that a search tells of: the newest.
const MAX_SESSIONS: usize = 20;
/// Places that a search looks for a piece of text in; of one session the newest is told.
const MAX_HITS: usize = 200;
/// Bytes at the end of a log that are told, and lines.
const MAX_LOG: u64 = 64 * 1024;
const MAX_LOG_LINES: usize = 300;
/// Models that are told.
const MAX_MODELS: usize = 500;
/// How long it counts which models there are: their providers are asked.
const MODELS_GOOD_FOR: Duration = Duration::from_secs(60);

/// The folder in which sessions of the page begin: that of whoever ran `parlor web` or `parlor up` last.
#[derive(Debug, Clone, Default)]
pub struct StartFolder(Arc<Mutex<Option<PathBuf>>>);

impl StartFolder {
    /// New sessions begin there from now on, where it is a whole path.
    pub(crate) fn is(&self, folder: PathBuf) {
        if folder.is_absolute() {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder);
        }
    }

    /// Where that is; without a word about it, where this process works.
    pub(crate) fn get(&self) -> Option<PathBuf> {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        told.filter(|folder| folder.is_dir()).or_else(|| paths::here().ok())
    }
}

/// The names of models, and which of them is used where none is named.
type Models = (Vec<String>, Option<String>);

/// The models there are, once they were asked for.
#[derive(Debug, Default)]
pub(super) struct KnownModels(tokio::sync::Mutex<Option<(Instant, Models)>>);

impl KnownModels {
    async fn get(&self) -> Models {
        let mut known = self.0.lock().await;
        if let Some((at, models)) = known.as_ref()
            && at.elapsed() < MODELS_GOOD_FOR
        {
            return models.clone();
        }
        let models = models().await;
        *known = Some((Instant::now(), models.clone()));
        models
    }
}

/// Without a model that can be used there are none to choose from; beginning a session says why.
async fn models() -> Models {
    let named = std::env::var(launch::MODEL).ok().filter(|name| !name.is_empty());
    let wanted = named.or_else(|| settings::read().config.model);
    let Ok(source) = Source::new(wanted.as_deref()).await else { return Models::default() };
    let mut names: Vec<String> =
        source.entries().await.into_iter().map(|(entry, _)| entry.model.to_string()).collect();
    let usual = source.default_model().to_string();
    if !names.contains(&usual) {
        names.insert(0, usual.clone());
    }
    names.truncate(MAX_MODELS);
    (names, Some(usual))
}

/// Where sessions begin, and with which models.
pub(super) async fn start(folder: &StartFolder, models: &KnownModels, agents: AgentNames) -> Value {
    let (names, usual) = models.get().await;
    let folder = folder.get().map(|folder| path_text::write(&folder));
    // Their programs are looked for on the disk.
    let agents = tokio::task::spawn_blocking(agents).await.unwrap_or_default();
    json!({"cwd": folder, "agent": "Parlor", "models": names, "model": usual, "agents": agents})
}

/// The end of a log, line by line.
pub(super) async fn log(file: Option<PathBuf>) -> Result<Value, String> {
    let Some(file) = file else {
        return Err(
            "nothing of this system keeps a log of this session: it is not open in a room of the server"
                .to_owned(),
        );
    };
    let read = tokio::task::spawn_blocking(move || end_of(&file)).await;
    let lines = read.map_err(|_| NO_LOG.to_owned())?.map_err(|why| format!("{NO_LOG}: {why}"))?;
    Ok(json!({ "lines": lines }))
}

const NO_LOG: &str = "the log could not be read";

fn end_of(file: &Path) -> std::io::Result<Vec<String>> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let mut file = std::fs::File::open(file)?;
    let cut = file.metadata()?.len().saturating_sub(MAX_LOG);
    file.seek(SeekFrom::Start(cut))?;
    let mut bytes = Vec::new();
    file.take(MAX_LOG).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // The first line of an end is a part of one.
    let mut lines: Vec<&str> = text.lines().skip(usize::from(cut > 0)).collect();
    let lines = lines.split_off(lines.len().saturating_sub(MAX_LOG_LINES));
    Ok(lines.into_iter().map(domain::harmless::in_line).collect())
}

/// Folders whose path begins like this one; `~` is the person's home. Those that are hidden are for who types their dot.
pub(super) async fn folders(beginning: String) -> Result<Value, String> {
    let found =
        tokio::task::spawn_blocking(move || beginning_with(&beginning, tools::home().as_deref())).await;
    let found = found.map_err(|_| "the folders could not be looked at".to_owned())?;
    Ok(json!({ "folders": found }))
}

/// A path as it was typed, with the person's home in the place of `~`.
pub(super) fn whole(typed: &str, home: Option<&Path>) -> String {
    match (typed.strip_prefix('~'), home.and_then(Path::to_str)) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ => typed.to_owned(),
    }
}

fn beginning_with(typed: &str, home: Option<&Path>) -> Vec<String> {
    let typed = whole(typed, home);
    let Some((parent, name)) = typed.rsplit_once('/') else { return Vec::new() };
    let parent = if parent.is_empty() { "/" } else { parent };
    let name = name.to_lowercase();
    let Ok(entries) = std::fs::read_dir(path_text::read(parent)) else { return Vec::new() };
    let mut found = BTreeSet::new();
    for entry in entries.take(MAX_ENTRIES).flatten() {
        let called = entry.file_name().to_string_lossy().to_lowercase();
        if called.starts_with(&name)
            && (name.starts_with('.') || !called.starts_with('.'))
            && entry.path().is_dir()
        {
            found.insert(path_text::write(&entry.path()));
        }
    }
    found.into_iter().take(MAX_FOLDERS).collect()
}

/// The newest sessions in which all of these words were said, each with where, as far as its words are near the newest.
pub(super) async fn search(words: String) -> Result<Value, String> {
    let found = tokio::task::spawn_blocking(move || found(&words)).await;
    found
        .map_err(|_| "the search was broken off".to_owned())?
        .map_err(|why| format!("what is kept cannot be searched: {}", in_words(&why)))
}

fn found(words: &str) -> anyhow::Result<Value> {
    let data = paths::data()?;
    if !SqliteStore::is_at(&data)? {
        return Ok(json!({"sessions": []}));
    }
    let store = SqliteStore::to_read(&data)?;
    let listing = Listing { search: Some(words.to_owned()), limit: Some(MAX_SESSIONS), ..Listing::default() };
    let sessions = store.list(&listing)?;
    let mut places: BTreeMap<SessionId, (String, u64)> = BTreeMap::new();
    for hit in store.search(words, MAX_HITS)? {
        places.entry(hit.session).or_insert((hit.snippet, 0)).1 += 1;
    }
    let told = sessions.iter().map(|session| {
        let mut told = json!({
            "session": session.id.as_str(), "title": session.title, "cwd": session.cwd, "at": session.updated_at.0,
        });
        if let Some((snippet, hits)) = places.get(&session.id) {
            told["snippet"] = snippet.as_str().into();
            told["hits"] = (*hits).into();
        }
        told
    });
    Ok(json!({"sessions": told.collect::<Vec<_>>()}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_completed_from_its_beginning_on() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["project", "Project two", "other", ".hidden"] {
            std::fs::create_dir(root.join(folder)).unwrap();
        }
        std::fs::write(root.join("profile"), "a file").unwrap();
        let root = root.to_str().unwrap();
        let found = |typed: &str| beginning_with(typed, Some(Path::new(root)));
        let named =
            |names: &[&str]| names.iter().map(|name| format!("{root}/{name}")).collect::<Vec<String>>();
        assert_eq!(found(&format!("{root}/pro")), named(&["Project two", "project"]));
        assert_eq!(found("~/o"), named(&["other"]));
        assert_eq!(found(&format!("{root}/")), named(&["Project two", "other", "project"]));
        assert_eq!(found(&format!("{root}/.")), named(&[".hidden"]));
        assert!(found("relative").is_empty() && found(&format!("{root}/not/there/")).is_empty());
        assert!(found("~other/").is_empty(), "another person's home is not ours");
    }

    #[tokio::test]
    async fn of_a_log_the_end_is_told_harmless_and_bounded() {
        assert!(log(None).await.unwrap_err().contains("not open in a room"));
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("room.log");
        assert!(log(Some(file.clone())).await.unwrap_err().contains("could not be read"));
        std::fs::write(&file, b"stderr: \x1b[31mred\xff\nlast\n").unwrap();
        let told = log(Some(file.clone())).await.unwrap();
        let lines: Vec<&str> = told["lines"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(lines.len() == 2 && lines[1] == "last" && !lines[0].contains('\u{1b}'), "{told}");
        std::fs::write(&file, "a line\n".repeat(99_999)).unwrap();
        let told = log(Some(file)).await.unwrap();
        assert_eq!(told["lines"].as_array().unwrap().len(), MAX_LOG_LINES);
    }

    #[test]
    fn sessions_begin_where_the_last_command_was_run_while_that_is_there() {
        let (start, dir) = (StartFolder::default(), tempfile::tempdir().unwrap());
        let here = paths::here().ok();
        assert_eq!(start.get(), here);
        start.is("relative".into());
        assert_eq!(start.get(), here);
        start.is(dir.path().to_owned());
        assert_eq!(start.get().as_deref(), Some(dir.path()));
        drop(dir);
        assert_eq!(start.get(), here);
    }
}
