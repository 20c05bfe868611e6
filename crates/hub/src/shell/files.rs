//! Sessions as files that a UI names: where they may lie, and that nothing is overwritten.
//!
//! Invariants: a path is followed to its end before it is judged; what a UI names is read or written only inside the workspace, our
//! own place for such files or a place that the person allowed, and never a file that steers programs or agents there (nobody is
//! asked on this way, so that is refused); a file that is there stays as it is, unless it is a saved session: then the older one
//! stays beside the newer. What is saved without a name is one file per session, in our own place.

use domain::command::{Refusal, RefusalKind};
use domain::ids::SessionId;
use domain::path_text;
use domain::state::State;
use export::{Destination, MAX_IMPORT};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Component, Path, PathBuf};

/// Writes what is to be in a file, piece by piece: a long session is not held once more as a text.
type Save<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// Ends the name of a save that was followed by another of the same name.
const OLDER: &str = ".bak";

/// Where sessions may be saved to and loaded from, besides the workspace.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// The data directory; in it only `saved` is used, where saves without a name go. `None`: they are refused.
    pub data: Option<PathBuf>,
    pub workspace: Option<PathBuf>,
    /// Further directories that the person allows.
    pub allowed: Vec<PathBuf>,
}

/// The files of a hub that works at one place.
#[derive(Debug)]
pub(super) struct Cabinet {
    files: Files,
    place: Destination,
}

impl Cabinet {
    pub(super) fn new(files: Files, place: Destination) -> Cabinet {
        Cabinet { files, place }
    }

    /// Writes a session to a file that a UI named.
    pub(super) fn save(
        &self,
        session: &SessionId,
        state: &State,
        path: Option<&str>,
        history: bool,
    ) -> Result<(String, u64), Refusal> {
        let save = |file: &mut dyn Write| export::save(file, session, state, history);
        let path = match path.filter(|path| !path.is_empty()) {
            Some(path) => {
                self.make_place(path);
                let path = self.resolve(path)?;
                let written = match write_new(&path, &save) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.is_save(&path) => {
                        renew(&path, &save)
                    }
                    written => written,
                };
                written.map_err(|error| not_written(&path, &error))?;
                path
            }
            None => self.save_unnamed(session, &save)?,
        };
        let size = fs::metadata(&path).map_or(0, |found| found.len());
        Ok((path_text::write(&path), size))
    }

    fn save_unnamed(&self, session: &SessionId, save: Save<'_>) -> Result<PathBuf, Refusal> {
        let Some(directory) = self.drawer() else {
            return Err(Refusal::new(RefusalKind::Invalid, "say where to save it").hint("give a path"));
        };
        make_directory(&directory).map_err(|error| not_written(&directory, &error))?;
        // Nothing but saves lies here, and a later save holds all that an earlier one held.
        let path = directory.join(format!("{session}.json"));
        put(&path, save).map_err(|error| not_written(&path, &error))?;
        Ok(path)
    }

    /// Reads a session from a file that a UI named; gives the id that it had, where that is one.
    pub(super) fn load(&self, path: &str) -> Result<(Option<SessionId>, State), Refusal> {
        let path = self.resolve(path)?;
        let text = read_whole(&path).map_err(|error| not_read(&path, &error))?;
        let import = export::read(&text, &self.place).map_err(|why| {
            let why = format!("{} cannot be loaded: {why}", path.display());
            Refusal::new(RefusalKind::Invalid, why).hint("use a file that was saved or exported as JSONL")
        })?;
        Ok((SessionId::parse(&import.was), import.state))
    }

    /// Whether a session was saved there, by us.
    fn is_save(&self, path: &Path) -> bool {
        read_whole(path).is_ok_and(|text| export::read(&text, &self.place).is_ok())
    }

    /// Our own place for them. Not all of the data directory: rules lie there too, and no UI may put a file in their place.
    fn drawer(&self) -> Option<PathBuf> {
        self.files.data.as_ref().map(|data| data.join("saved"))
    }

    /// Makes the folders of a path below a directory that the person allows: on a fresh home a client's own place is not there yet.
    fn make_place(&self, text: &str) {
        let named = self.named(text);
        let plain = named.components().all(|part| !matches!(part, Component::ParentDir | Component::CurDir));
        let Some(parent) = named.parent().filter(|parent| plain && !parent.exists()) else { return };
        let Some(there) = parent.ancestors().find(|dir| dir.exists()) else { return };
        let real = |dir: &Path| dir.canonicalize().ok();
        // A link below may lead anywhere: nothing is made where it leads out.
        let stays = |dir: &PathBuf| {
            !there.starts_with(dir)
                || real(dir).zip(real(there)).is_some_and(|(dir, there)| there.starts_with(dir))
        };
        if self.files.allowed.iter().any(|dir| parent.starts_with(dir) && stays(dir)) {
            // What cannot be made is told by the save itself.
            let _ = make_directory(parent);
        }
    }

    fn named(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), std::env::home_dir()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => path_text::read(&self.place.cwd).join(path_text::read(text)),
        }
    }

    /// Where a path leads, if it may lead there.
    fn resolve(&self, text: &str) -> Result<PathBuf, Refusal> {
        let named = self.named(text);
        let (Some(parent), Some(name)) = (named.parent(), named.file_name()) else {
            return Err(Refusal::new(RefusalKind::Invalid, format!("{text} names no file")));
        };
        let parent = parent.canonicalize().map_err(|error| not_read(parent, &error))?;
        let path = parent.join(name);
        // A link may lead anywhere: what counts is where.
        let path = if path.is_symlink() {
            path.canonicalize().map_err(|error| not_read(&path, &error))?
        } else {
            path
        };
        let drawer = self.drawer();
        let places = [self.files.workspace.as_deref(), drawer.as_deref()];
        let places = places.into_iter().flatten().chain(self.files.allowed.iter().map(PathBuf::as_path));
        let mut inside = false;
        for place in places.filter_map(|place| place.canonicalize().ok()) {
            let Ok(below) = path.strip_prefix(&place) else { continue };
            if let Some(part) = domain::steering::part(below.iter().filter_map(|name| name.to_str())) {
                let why = format!(
                    "{} is or lies in `{part}`, which other programs execute or obey",
                    path.display()
                );
                return Err(Refusal::new(RefusalKind::NotAllowed, why).hint("use another name or folder"));
            }
            inside = true;
        }
        if inside {
            return Ok(path);
        }
        let why = match self.files.workspace {
            Some(_) => {
                format!("{} lies outside the project and the data directory's `saved`", path.display())
            }
            None => format!(
                "there is no workspace, and {} lies outside the data directory's `saved`",
                path.display()
            ),
        };
        Err(Refusal::new(RefusalKind::NotAllowed, why)
            .hint("use a place inside, or allow one with PARLOR_SAVE_DIRS when you start Parlor"))
    }
}

/// Writes a file that is not there yet; all of it or none.
fn write_new(path: &Path, save: Save<'_>) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = BufWriter::new(options.open(path)?);
    let written = save(&mut file).and_then(|()| file.flush()).and_then(|()| file.get_ref().sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

/// Writes a file, in the place of an older one if there is one. At every moment one of them is whole.
fn put(path: &Path, save: Save<'_>) -> io::Result<()> {
    let newer = beside(path, ".new");
    // What a save that was cut off left behind.
    let _ = fs::remove_file(&newer);
    write_new(&newer, save)?;
    fs::rename(&newer, path)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Saves again under the same name: the older file stays beside it with [`OLDER`] at its end. At every moment one of them is whole.
fn renew(path: &Path, save: Save<'_>) -> io::Result<()> {
    let newer = beside(path, ".new");
    let _ = fs::remove_file(&newer);
    write_new(&newer, save)?;
    fs::rename(path, beside(path, OLDER))?;
    fs::rename(&newer, path)
}

fn make_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

fn read_whole(path: &Path) -> io::Result<String> {
    // Before it is opened: opening a pipe would wait for whoever writes to it.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    let mut text = String::new();
    File::open(path)?.take(MAX_IMPORT as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

fn not_read(path: &Path, error: &io::Error) -> Refusal {
    if error.kind() == io::ErrorKind::NotFound {
        return Refusal::new(RefusalKind::Invalid, format!("there is no {}", path.display()))
            .hint("look at the name, or make its folder first");
    }
    Refusal::new(RefusalKind::Storage, format!("{} cannot be read: {error}", path.display()))
        .hint("look whether it is there and yours")
}

fn not_written(path: &Path, error: &io::Error) -> Refusal {
    if error.kind() == io::ErrorKind::AlreadyExists {
        return Refusal::new(RefusalKind::Invalid, format!("{} is there already", path.display()))
            .hint("use another name; nothing was overwritten");
    }
    Refusal::new(RefusalKind::Storage, format!("{} cannot be written: {error}", path.display()))
        .hint("look at the disk and its permissions, or use another place")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::event::{Body, Event, SessionEvent};
    use domain::ids::{Millis, Seq};

    fn state() -> State {
        let mut state = State::new();
        let bodies = [
            Body::Session(SessionEvent::Opened { cwd: "/far".into(), project: "/far".into(), parent: None }),
            Body::Session(SessionEvent::Renamed { title: "kept".into() }),
        ];
        for (body, n) in bodies.into_iter().zip(1..) {
            state.fold(&Event { seq: Seq(n), at: Millis(n), body }).unwrap();
        }
        state
    }

    struct Bench {
        home: tempfile::TempDir,
        cabinet: Cabinet,
    }

    fn bench() -> Bench {
        let home = tempfile::tempdir().unwrap();
        for name in ["project", "data", "data/saved", "allowed", "other"] {
            fs::create_dir(home.path().join(name)).unwrap();
        }
        let project = home.path().join("project").display().to_string();
        let files = Files {
            data: Some(home.path().join("data")),
            workspace: Some(home.path().join("project")),
            allowed: vec![home.path().join("allowed")],
        };
        let cabinet = Cabinet::new(files, Destination { cwd: project.clone(), project });
        Bench { home, cabinet }
    }

    #[test]
    fn what_was_saved_is_loaded_and_nothing_else_is_overwritten() {
        let Bench { home, cabinet } = bench();
        let session = SessionId::from_number(1);
        let allowed = home.path().join("allowed/s.json").display().to_string();
        for name in ["s.json", "../data/saved/s.json", &allowed] {
            let (path, size) = cabinet.save(&session, &state(), Some(name), true).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().len(), size);
            let (was, loaded) = cabinet.load(&path).unwrap();
            assert_eq!(was.as_ref(), Some(&session));
            assert_eq!(loaded.title(), "kept");
            assert_eq!(loaded.settings.cwd, cabinet.place.cwd, "tools work here, not where the file says");
            let (again, _) = cabinet.save(&session, &state(), Some(name), false).unwrap();
            assert_eq!(again, path, "the same session is saved under the same name again");
            let older = fs::metadata(format!("{path}.bak")).unwrap().len();
            assert_eq!(older, size, "and what was there stays beside it");
        }
        fs::write(home.path().join("project/notes.json"), "{\"mine\":1}").unwrap();
        let refused = cabinet.save(&session, &state(), Some("notes.json"), true).unwrap_err();
        assert!(refused.message.contains("is there already"), "{refused}");
        let first = cabinet.save(&session, &state(), None, true).unwrap();
        let second = cabinet.save(&session, &state(), None, false).unwrap();
        assert_eq!(first.0, second.0, "one file per session");
        assert_eq!(cabinet.load(&second.0).unwrap().1.title(), "kept");
        let saves = fs::read_dir(Path::new(&first.0).parent().unwrap()).unwrap();
        let of_it = |name: &str| name.starts_with(session.as_str());
        let names = saves.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        assert_eq!(names.filter(|name| of_it(name)).count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_clients_own_place_is_made_and_nothing_is_made_elsewhere() {
        let Bench { home, cabinet } = bench();
        let Cabinet { mut files, place } = cabinet;
        files.allowed.push(home.path().join(".theirs/sessions"));
        let cabinet = Cabinet::new(files, place);
        let session = SessionId::from_number(1);
        let save = |path: &str| {
            let path = home.path().join(path).display().to_string();
            cabinet.save(&session, &state(), Some(&path), true).map(|_| ()).map_err(|refusal| refusal.kind)
        };
        assert_eq!(save(".theirs/sessions/session-123.json"), Ok(()));
        assert_eq!(save(".theirs/sessions/2026/session-123.json"), Ok(()));
        std::os::unix::fs::symlink(home.path().join("other"), home.path().join(".theirs/sessions/way"))
            .unwrap();
        for path in [
            "other/new/s.json",
            ".theirs/other/s.json",
            ".theirs/sessions/way/new/s.json",
            ".theirs/sessions/../x/s.json",
        ] {
            assert_eq!(save(path), Err(RefusalKind::Invalid), "{path}: its folder is not there");
        }
        assert_eq!(fs::read_dir(home.path().join("other")).unwrap().count(), 0);
        assert_eq!(cabinet.load("nothing.json").unwrap_err().kind, RefusalKind::Invalid);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_outside_is_read_or_written_whatever_the_path_looks_like() {
        let Bench { home, cabinet } = bench();
        let session = SessionId::from_number(1);
        let other = home.path().join("other");
        let (project, secret) = (home.path().join("project"), other.join("secret.json"));
        let mut text = Vec::new();
        export::save(&mut text, &session, &state(), true).unwrap();
        fs::write(&secret, text).unwrap();
        std::os::unix::fs::symlink(&other, project.join("way")).unwrap();
        std::os::unix::fs::symlink(&secret, project.join("link.json")).unwrap();
        std::os::unix::fs::symlink(other.join("new.json"), project.join("dangling.json")).unwrap();
        for path in ["../other/secret.json", "way/secret.json", "link.json", &secret.display().to_string()] {
            assert_eq!(cabinet.load(path).unwrap_err().kind, RefusalKind::NotAllowed, "{path}");
        }
        for path in [
            "../other/new.json",
            "../data/rules.json",
            "way/new.json",
            "dangling.json",
            "",
            "..",
            "no/such/place.json",
        ] {
            let refused = cabinet.save(&session, &state(), Some(path).filter(|p| !p.is_empty()), true);
            assert!(path.is_empty() || refused.is_err(), "{path}: {refused:?}");
        }
        assert_eq!(fs::read_dir(&other).unwrap().count(), 1, "nothing new outside");
        assert!(cabinet.load(".").is_err() && cabinet.load("way").is_err());
        fs::write(project.join("x.json"), "{}").unwrap();
        assert_eq!(cabinet.load("x.json").unwrap_err().kind, RefusalKind::Invalid);
    }

    #[test]
    fn without_a_workspace_only_our_own_places_remain() {
        let Bench { home, cabinet } = bench();
        let Cabinet { files, place } = cabinet;
        let cabinet = Cabinet::new(Files { workspace: None, ..files }, place);
        let session = SessionId::from_number(1);
        let refused = cabinet.save(&session, &state(), Some("s.json"), true).unwrap_err();
        assert!(refused.message.contains("there is no workspace"), "{refused}");
        assert!(!home.path().join("project/s.json").exists());
        let (path, _) = cabinet.save(&session, &state(), None, true).unwrap();
        assert_eq!(cabinet.load(&path).unwrap().1.title(), "kept");
    }

    #[test]
    fn what_steers_programs_is_neither_made_nor_read() {
        let Bench { home, cabinet } = bench();
        let session = SessionId::from_number(1);
        let project = home.path().join("project");
        fs::create_dir_all(project.join(".git/hooks")).unwrap();
        fs::create_dir(project.join("sub")).unwrap();
        std::os::unix::fs::symlink(".git", project.join("innocent")).unwrap();
        let before = fs::read_dir(&project).unwrap().count();
        for path in [
            ".git/hooks/pre-commit",
            ".GIT/hooks/x",
            "innocent/config2",
            ".mcp.json",
            "AGENTS.md",
            "sub/agents.MD",
            "CLAUDE.md",
            ".envrc",
            "sub/../.npmrc",
        ] {
            let refused = cabinet.save(&session, &state(), Some(path), true).unwrap_err();
            let known = refused.kind == RefusalKind::NotAllowed || path.starts_with(".GIT");
            assert!(known && !refused.message.is_empty(), "{path}: {refused}");
            assert!(cabinet.load(path).is_err(), "{path}");
        }
        assert_eq!(fs::read_dir(&project).unwrap().count(), before);
        assert_eq!(fs::read_dir(project.join(".git/hooks")).unwrap().count(), 0);
        let refused = cabinet.save(&session, &state(), Some("AGENTS.md"), true).unwrap_err();
        assert!(refused.message.contains("`AGENTS.md`, which other programs execute or obey"), "{refused}");
        cabinet.save(&session, &state(), Some("sub/talk.json"), true).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_saved_file_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let Bench { home: _home, cabinet } = bench();
        let (path, _) = cabinet.save(&SessionId::from_number(1), &state(), None, true).unwrap();
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
