//! Where tools work: the workspace, the working directory, what was read, what runs in the background.
//!
//! There may be no workspace (see [`crate::workspace`]): then every path lies outside. Paths are resolved component by component with
//! every symbolic link followed, also for files that do not exist yet, and compared by components, never as text. Clones share one memory of what was read.

mod editor_files;
mod followed;
mod near;

use crate::buffers::Buffers;
use crate::built::BuiltFolders;
use crate::error::ToolError;
use crate::gate::Gate;
use crate::jobs::Jobs;
use crate::known_secrets::KnownSecrets;
use crate::net::Net;
use crate::proxy::Inward;
use crate::sandbox::{Closed, Guard};
use crate::shell::{self, Surroundings};
use crate::temp::{self, Temp};
use crate::tree::Tree;
use crate::tries::Tries;
use domain::path_text;
pub(crate) use followed::Followed;
use followed::Known;
use std::collections::{HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many files' digests are remembered; past it the oldest is forgotten, as if never read.
pub const MAX_SEEN: usize = 4096;
/// How many symbolic links one path may take, as in the kernel.
const MAX_LINKS: usize = 40;

/// How long what is closed is not looked up again: it is asked for each word of a command line.
const CLOSED_FOR: Duration = Duration::from_secs(1);
/// How long the instructions that take in other files are not looked for again: one call asks several times.
const TAKING_IN_FOR: Duration = Duration::from_secs(1);

/// Where a session's tools work. Cheap to clone; clones share what was read and the background jobs.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The workspace; `None` where there is none.
    root: Option<Arc<Path>>,
    /// The walks through it.
    tree: Option<Arc<Tree>>,
    workdir: Arc<Path>,
    outputs: Arc<Path>,
    guard: Option<Arc<Guard>>,
    /// The network of the session's commands, where they are guarded.
    net: Option<Net>,
    /// What leads into it of this machine.
    inward: Arc<Inward>,
    /// Temp of the session's commands, where they are guarded.
    temp: Option<Temp>,
    home: Option<Arc<Path>>,
    env: Arc<[(OsString, OsString)]>,
    seen: Arc<Mutex<ReadDigests>>,
    jobs: Arc<Jobs>,
    secrets: KnownSecrets,
    tries: Arc<Tries>,
    /// What was closed when it was last looked up.
    closed: Arc<Mutex<Option<LookedUp>>>,
    /// The instructions that take in other files, as they were last looked for.
    taking_in: Arc<Mutex<Option<FoundInstructions>>>,
    buffers: Option<Arc<dyn Buffers>>,
    /// `None` where there is no workspace.
    built: Option<Arc<BuiltFolders>>,
}

/// The closed places, and when they were looked up.
type LookedUp = (Instant, Arc<Closed>);
/// Files of instructions, and when they were found.
type FoundInstructions = (Instant, Arc<[PathBuf]>);

#[derive(Debug, Default)]
struct ReadDigests {
    files: HashMap<PathBuf, Known>,
    order: VecDeque<PathBuf>,
}

impl ToolContext {
    /// A workplace whose workspace is `root` (it must exist) and whose long outputs are kept under `outputs` (made when
    /// needed; it should lie in the user's data directory, never in the project).
    pub fn new(root: &Path, outputs: &Path) -> Result<ToolContext, ToolError> {
        let place = ToolContext::without_workspace(root, outputs)?;
        let built = Some(Arc::new(BuiltFolders::of(&place.workdir)));
        let tree = Some(Arc::new(Tree::new(&place.workdir)));
        Ok(ToolContext { root: Some(place.workdir.clone()), built, tree, ..place })
    }

    /// A workplace at `workdir` (it must exist) where there is no workspace: everything but our own kept outputs is outside.
    pub fn without_workspace(workdir: &Path, outputs: &Path) -> Result<ToolContext, ToolError> {
        let workdir: Arc<Path> = workdir.canonicalize().map_err(ToolError::io(workdir))?.into();
        if !workdir.is_dir() {
            return Err(ToolError::path(&workdir, "is not a directory"));
        }
        let outputs = std::path::absolute(outputs).map_err(ToolError::io(outputs))?;
        Ok(ToolContext {
            root: None,
            tree: None,
            workdir,
            // In a folder that may not be entered nothing is kept, and work goes on.
            outputs: real(&outputs).unwrap_or(outputs).into(),
            guard: None,
            net: None,
            inward: Arc::default(),
            temp: None,
            home: crate::home::home().map(Arc::from),
            env: crate::env::cleaned(std::env::vars_os()).into(),
            seen: Arc::default(),
            jobs: Arc::default(),
            secrets: KnownSecrets::default(),
            tries: Arc::default(),
            closed: Arc::default(),
            taking_in: Arc::default(),
            buffers: None,
            built: None,
        })
    }

    /// What git ignored when Parlor opened this session; `None` where there is no workspace.
    pub(crate) fn built(&self) -> Option<&BuiltFolders> {
        self.built.as_deref()
    }

    /// The same workplace with another working directory (relative ones start at the workspace).
    pub fn at(&self, workdir: &Path) -> Result<ToolContext, ToolError> {
        let workdir = self.root.as_ref().unwrap_or(&self.workdir).join(workdir);
        let workdir = workdir.canonicalize().map_err(ToolError::io(&workdir))?;
        if !workdir.is_dir() {
            return Err(ToolError::path(&workdir, "is not a directory"));
        }
        Ok(ToolContext { workdir: workdir.into(), ..self.clone() })
    }

    /// The same workplace with commands run by `guard`.
    #[must_use]
    pub fn guarded(self, guard: Guard) -> ToolContext {
        let net = Some(Net::new(guard.clone()));
        let temp = Some(Temp::new(guard.clone(), &self.outputs));
        ToolContext { guard: Some(Arc::new(guard)), net, temp, closed: Arc::default(), ..self }
    }

    /// The same workplace whose commands get another environment than what is left of ours. It is cleaned too.
    #[must_use]
    pub fn with_env(self, all: impl Iterator<Item = (OsString, OsString)>) -> ToolContext {
        ToolContext { env: crate::env::cleaned(all).into(), ..self }
    }

    /// The same workplace of somebody whose home folder is another.
    #[must_use]
    pub fn with_home(self, home: &Path) -> ToolContext {
        ToolContext { home: Some(home.into()), closed: Arc::default(), ..self }
    }

    /// The same workplace beside an editor that holds files.
    #[must_use]
    pub fn with_buffers(self, buffers: Option<Arc<dyn Buffers>>) -> ToolContext {
        ToolContext { buffers, ..self }
    }

    /// The editor that holds files of the person, if there is one.
    pub(crate) fn buffers(&self) -> Option<&Arc<dyn Buffers>> {
        self.buffers.as_ref()
    }

    /// What the leash closes to commands, and tools read only when a person agreed.
    pub fn closed(&self) -> Arc<Closed> {
        let mut known = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((at, closed)) if at.elapsed() < CLOSED_FOR => closed.clone(),
            _ => {
                let closed = Arc::new(Closed::of(self.home.as_deref(), self.guard()));
                *known = Some((Instant::now(), closed.clone()));
                closed
            }
        }
    }

    /// The environment that commands get.
    pub fn env(&self) -> &[(OsString, OsString)] {
        &self.env
    }

    /// A variable of the environment that commands get.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
    }

    /// The workspace, canonical; `None` where there is none.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// The walks through it.
    pub(crate) fn tree(&self) -> Option<&Arc<Tree>> {
        self.tree.as_ref()
    }

    /// What relative paths start from, canonical.
    pub fn workdir(&self) -> &Path {
        &self.workdir
    }

    /// The same workplace where these secrets are not written to files of ours.
    #[must_use]
    pub fn discreet(self, secrets: KnownSecrets) -> ToolContext {
        ToolContext { secrets, ..self }
    }

    /// Secrets that are not written to files of ours.
    pub fn secrets(&self) -> &KnownSecrets {
        &self.secrets
    }

    /// Where long outputs are kept.
    pub fn outputs(&self) -> &Path {
        &self.outputs
    }

    /// What runs commands on our behalf; `None` means that they run unguarded.
    pub fn guard(&self) -> Option<&Guard> {
        self.guard.as_deref()
    }

    /// The network of the session's own, which its commands inside the leash share; `None` where commands run unguarded.
    pub fn net(&self) -> Option<&Net> {
        self.net.as_ref()
    }

    /// Whether commands are held inside the leash: there is a guard, and the kernel can.
    pub fn confined(&self) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.holds())
    }

    /// What leads into the session's network of this machine.
    pub(crate) fn inward(&self) -> &Inward {
        &self.inward
    }

    /// Leads into the session's network what rules allow of this machine's ports; nothing where no command was run yet.
    pub async fn lead_in(&self, gate: &Arc<dyn Gate>) {
        if let Some(net) = self.net.as_ref().filter(|net| net.keeper().is_some()) {
            self.inward.refresh(net, gate).await;
        }
    }

    /// The same workplace without its network and its temp: for who lasts as long as what is kept there, and would keep it.
    #[must_use]
    pub fn without_net(&self) -> ToolContext {
        ToolContext { net: None, temp: None, inward: Arc::default(), ..self.clone() }
    }

    /// The commands that failed inside the leash.
    pub(crate) fn tries(&self) -> &Tries {
        &self.tries
    }

    /// The commands that run in the background.
    pub fn jobs(&self) -> &Arc<Jobs> {
        &self.jobs
    }

    /// Where `text` leads for a tool: absolute, every link followed. The file itself need not exist. What [`ToolContext::show`] gives is
    /// understood. A path in temp leads to the session's own, as it does for commands, unless only the person's has something there.
    pub fn resolve(&self, text: &str) -> Result<PathBuf, ToolError> {
        let path = self.start_of(text)?;
        let theirs = self.follow(&path);
        match self.follow_as_commands(&path) {
            Ok(own) if own.symlink_metadata().is_ok() || !theirs.as_ref().is_ok_and(|path| path.exists()) => {
                Ok(own)
            }
            Err(why) if theirs.is_err() => Err(why),
            _ => theirs,
        }
    }

    /// The same for a file that is written whatever was there: never into the person's temp.
    pub(crate) fn resolve_written(&self, text: &str) -> Result<PathBuf, ToolError> {
        let path = self.start_of(text)?;
        if let Some(temp) = self.temp.as_ref().filter(|_| temp::is_in(&path)) {
            temp.make().map_err(ToolError::io(&path))?;
        }
        self.follow_as_commands(&path)
    }

    /// Where a path leads for commands, every link on the way as they find it.
    fn follow_as_commands(&self, path: &Path) -> Result<PathBuf, ToolError> {
        let behind = |path: &Path| self.in_own_temp(path);
        let named = followed_by(path, &behind)?;
        Ok(behind(&named).unwrap_or(named))
    }

    fn start_of(&self, text: &str) -> Result<PathBuf, ToolError> {
        let plain = Path::new(text);
        if text.is_empty() {
            return Err(ToolError::path(plain, "the path is empty"));
        }
        let start = match (text.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            (None, Some(home)) if text == "~" => home.to_path_buf(),
            _ => path_text::read(text),
        };
        Ok(self.workdir.join(start))
    }

    /// The file of the session's temp that commands find at a path; `None` where they find what the person has.
    fn in_own_temp(&self, path: &Path) -> Option<PathBuf> {
        let own = self.temp.as_ref()?.behind(path)?;
        let is_shared = self.inside(path)
            || path.starts_with(&self.outputs)
            || self.home.as_ref().is_some_and(|home| path.starts_with(home))
            || self.guard().is_some_and(|guard| guard.shares(path))
            || self.is_linked_git(path);
        (!is_shared).then_some(own)
    }

    /// Whether a resolved path lies in the session's own temp.
    pub fn in_temp(&self, path: &Path) -> bool {
        self.temp.as_ref().is_some_and(|temp| temp.holds(path))
    }

    /// Temp of the session's own; `None` where commands run unguarded.
    pub(crate) fn temp(&self) -> Option<&Temp> {
        self.temp.as_ref()
    }

    /// Where a path leads: absolute, every link followed.
    pub fn follow(&self, path: &Path) -> Result<PathBuf, ToolError> {
        real(&self.workdir.join(path))
    }

    /// Whether a resolved path lies in the workspace.
    pub fn inside(&self, path: &Path) -> bool {
        self.root.as_ref().is_some_and(|root| path.starts_with(root))
    }

    /// Whether a resolved path may be read without asking: our own kept outputs, the session's temp, and the workspace but for secrets that lie in it.
    pub fn readable(&self, path: &Path) -> bool {
        path.starts_with(&self.outputs)
            || self.in_temp(path)
            || (self.inside(path) || self.is_linked_git(path)) && !self.closed().holds(path)
    }

    /// The part of the workspace that makes writing `path` more than routine, if there is one.
    pub fn steering(&self, path: &Path) -> Option<String> {
        let root = self.root.as_ref()?;
        if self.is_linked_git(path) {
            return Some(".git".to_owned());
        }
        let inner = path.strip_prefix(root).ok()?;
        let part = domain::steering::part(inner.iter().filter_map(|name| name.to_str())).map(str::to_owned);
        part.or_else(|| crate::steering::is_led_to(root, path))
    }

    /// The same for a path that a tool would write: also the instructions of folders elsewhere in the workspace that take it in, which
    /// the model is told once it works there. Walks the workspace.
    pub fn steering_when_written(&self, path: &Path) -> Option<String> {
        let elsewhere = || {
            let root = self.root.as_ref().filter(|root| path.starts_with(root))?;
            crate::steering::taken_in_by(root, &self.taking_in(root), path)
        };
        self.steering(path).or_else(elsewhere)
    }

    fn taking_in(&self, root: &Path) -> Arc<[PathBuf]> {
        let mut known = self.taking_in.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((at, files)) if at.elapsed() < TAKING_IN_FOR => files.clone(),
            _ => {
                let files: Arc<[PathBuf]> = crate::steering::taking_in(root).into();
                *known = Some((Instant::now(), files.clone()));
                files
            }
        }
    }

    /// Whether a resolved path belongs to the repository that the workspace is a worktree of: it is its `.git`.
    fn is_linked_git(&self, path: &Path) -> bool {
        let linked = self.root.as_deref().and_then(shell::linked_git);
        linked.is_some_and(|linked| path.starts_with(linked.common))
    }

    /// The path as a person would say it: relative to the working directory where that is shorter, as an address where its name is
    /// not UTF-8.
    pub fn show(&self, path: &Path) -> String {
        if let Some(named) = self.temp.as_ref().and_then(|temp| temp.name_of(path)) {
            return path_text::write(&named);
        }
        match path.strip_prefix(&self.workdir).map(Path::to_str) {
            Ok(Some("")) => ".".to_owned(),
            Ok(Some(inner)) => inner.to_owned(),
            Ok(None) | Err(_) => path_text::write(path),
        }
    }

    /// Why a tool cannot, with what commands call a path in the session's temp.
    pub fn named(&self, error: ToolError) -> ToolError {
        let named = |path: PathBuf| self.temp.as_ref().and_then(|temp| temp.name_of(&path)).unwrap_or(path);
        match error {
            ToolError::Io { path, source } => ToolError::Io { path: named(path), source },
            ToolError::Path { path, why } => ToolError::Path { path: named(path), why },
            ToolError::Changed { path } => ToolError::Changed { path: named(path) },
            other => other,
        }
    }

    /// Remembers what a file held when the model saw or wrote it.
    pub fn saw(&self, path: &Path, digest: String) {
        self.know(path, Known::seen(digest));
    }

    /// What the file held when the model last saw it; `None` when it never did.
    pub fn last_seen(&self, path: &Path) -> Option<String> {
        self.known(path).map(|known| known.digest)
    }

    fn know(&self, path: &Path, known: Known) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.files.insert(path.to_owned(), known).is_none() {
            seen.order.push_back(path.to_owned());
        }
        if seen.order.len() > MAX_SEEN
            && let Some(oldest) = seen.order.pop_front()
        {
            seen.files.remove(&oldest);
        }
    }

    fn known(&self, path: &Path) -> Option<Known> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).files.get(path).cloned()
    }
}

impl Surroundings for ToolContext {
    fn workdir(&self) -> &Path {
        self.workdir()
    }

    fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variable(name)
    }

    fn follow(&self, path: &Path) -> Option<PathBuf> {
        self.follow(path).ok()
    }

    fn resolve(&self, text: &str) -> Option<PathBuf> {
        self.follow(&self.start_of(text).ok()?).ok()
    }

    fn inside(&self, path: &Path) -> bool {
        self.inside(path)
    }

    fn readable(&self, path: &Path) -> bool {
        self.readable(path)
    }

    fn steering(&self, path: &Path) -> Option<String> {
        self.steering(path)
    }

    fn writable(&self) -> &[PathBuf] {
        self.guard().map_or(&[], Guard::writable)
    }

    fn digest(&self, file: &Path) -> Option<String> {
        crate::digest::of_file(file).ok().flatten()
    }
}

/// Follows every link of an absolute path. What does not exist is kept as it is, but nothing can step back out of it.
fn real(path: &Path) -> Result<PathBuf, ToolError> {
    followed_by(path, &|_| None)
}

/// The same for who finds other files at some paths: `behind` tells which.
fn followed_by(path: &Path, behind: &dyn Fn(&Path) -> Option<PathBuf>) -> Result<PathBuf, ToolError> {
    let mut rest: Vec<OsString> = pieces(path);
    let mut here = PathBuf::from("/");
    let mut missing = false;
    let mut links = 0;
    while let Some(piece) = rest.pop() {
        if piece == ".." {
            if missing {
                return Err(ToolError::path(path, "steps back out of a directory that does not exist"));
            }
            here.pop();
            continue;
        }
        let next = here.join(&piece);
        if missing {
            here = next;
            continue;
        }
        let file = behind(&next);
        let file = file.as_ref().unwrap_or(&next);
        match std::fs::symlink_metadata(file) {
            Ok(meta) if meta.is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(ToolError::path(path, "too many symbolic links"));
                }
                let target = std::fs::read_link(file).map_err(ToolError::io(&next))?;
                if target.is_absolute() {
                    here = PathBuf::from("/");
                }
                rest.extend(pieces(&target));
            }
            Ok(_) => here = next,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                missing = true;
                here = next;
            }
            Err(error) => return Err(ToolError::Io { path: next, source: error }),
        }
    }
    Ok(here)
}

/// The components of a path, last first, without root and `.`.
fn pieces(path: &Path) -> Vec<OsString> {
    let mut pieces: Vec<OsString> = path
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect();
    pieces.reverse();
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_and_steps_back_cannot_hide_where_a_path_leads() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let root = base.join("work");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::fs::create_dir(base.join("work-twin")).unwrap();
        symlink("/etc", root.join("etc")).unwrap();
        symlink("../work-twin/new", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        symlink("sub", root.join("fine")).unwrap();
        let place = ToolContext::new(&root, &base.join("out")).unwrap();
        let cases = [
            ("sub/new.txt", true),
            ("./sub/../new/deep.txt", true),
            ("fine/x", true),
            ("etc/passwd", false),
            ("etc/new-file", false),
            ("dangling", false),
            ("../work-twin/x", false),
            ("..", false),
            ("sub/../../x", false),
            ("/", false),
            ("~", false),
        ];
        for (text, inside) in cases {
            let path = place.resolve(text).unwrap();
            assert_eq!(place.inside(&path), inside, "{text} -> {}", path.display());
        }
        for bad in ["", "loop", "new/../../x", "nul\0byte"] {
            assert!(place.resolve(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn relative_paths_start_at_the_working_directory() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        let place = ToolContext::new(dir.path(), &dir.path().join("out")).unwrap();
        let below = place.at(Path::new("sub")).unwrap();
        assert_eq!(below.resolve("x").unwrap(), place.root().unwrap().join("sub/x"));
        assert!(below.inside(&below.resolve("../x").unwrap()));
        assert!(place.at(Path::new("missing")).is_err());
    }

    #[test]
    fn without_a_workspace_everything_is_outside() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        std::fs::create_dir(base.join("sub")).unwrap();
        let place = ToolContext::without_workspace(&base, &base.join("out")).unwrap();
        assert_eq!((place.root(), place.workdir()), (None, base.as_path()));
        for text in ["x", ".", "/", "~", "sub/x"] {
            let path = place.resolve(text).unwrap();
            assert!(!place.inside(&path) && !place.readable(&path), "{text}");
            assert_eq!(place.steering(&path), None);
        }
        assert!(place.readable(&base.join("out/output-1")), "our own kept outputs stay readable");
        assert_eq!(place.at(Path::new("sub")).unwrap().workdir(), base.join("sub"));
    }

    #[test]
    fn a_name_that_is_not_utf8_is_shown_so_that_it_can_be_named() {
        use std::os::unix::ffi::OsStrExt as _;
        let dir = tempfile::tempdir().unwrap();
        let odd = dir.path().canonicalize().unwrap().join(OsStr::from_bytes(b"caf\xe9"));
        std::fs::create_dir(&odd).unwrap();
        std::fs::write(odd.join("plain"), "").unwrap();
        let place = ToolContext::new(dir.path(), &dir.path().join("out")).unwrap();
        let shown = place.show(&odd);
        assert!(shown.starts_with("file:///") && shown.ends_with("/caf%E9"), "{shown}");
        assert_eq!(place.resolve(&shown).unwrap(), odd);
        let within = place.at(&odd).unwrap();
        assert_eq!(within.show(&odd.join("plain")), "plain");
        assert!(!place.inside(&place.resolve("file:///etc/pass%77d").unwrap()), "an address is no way out");
    }

    #[test]
    fn what_was_seen_is_bounded_and_shared() {
        let dir = tempfile::tempdir().unwrap();
        let place = ToolContext::new(dir.path(), dir.path()).unwrap();
        let twin = place.clone();
        for number in 0..=MAX_SEEN {
            place.saw(Path::new(&format!("/f{number}")), "d".into());
        }
        assert_eq!(twin.last_seen(Path::new("/f0")), None);
        assert_eq!(twin.last_seen(Path::new("/f1")), Some("d".into()));
    }
}
