//! The process of one server: started on its leash, its last words kept, ended with everything that it started.

use super::caches;
use super::client::{Trouble, short};
use super::entry::{Entry, Way};
use super::log::ServerLog;
use super::login::Logins;
use super::reach::Reach;
use domain::path_text;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::unix::pipe;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinSet;
use tools::sandbox::{Guard, Leash, handed_on};
use tools::steering::{self, Commits};

/// What is kept of a server's last words on stderr, in bytes.
const LAST_WORDS: usize = 2_000;
/// The shortest value of a variable that is not shown: a shorter one stands in many a text by chance.
const SHORTEST_SECRET: usize = 6;
/// Bytes of a line that are logged.
const LOGGED_LINE: usize = 1_000;
/// Lines of them that stand beside a call that failed.
const LAST_LINES: usize = 5;
/// How long a server that broke off may take to end and to say why.
const LAST_BREATH: Duration = Duration::from_secs(1);
/// Bytes of stderr that are read at once.
const CHUNK: usize = 1024;

/// Where a server runs, and what it may reach there.
#[derive(Debug, Clone)]
pub(crate) struct ServerScope {
    /// The project, or the session's folder where there is none.
    pub(crate) dir: PathBuf,
    /// Where it is started: there, or below it where its file lies.
    pub(crate) cwd: PathBuf,
    /// Whether that is a workspace, so that it can be let write there.
    pub(crate) workspace: bool,
    pub(crate) guard: Option<Guard>,
    /// Where tokens of logins are kept.
    pub(crate) logins: Logins,
    /// A project's server gets no variable of ours that might be a secret.
    pub(crate) from_project: bool,
    pub(crate) reach: Reach,
    /// Its folder for what it downloads; made when it starts.
    pub(crate) cache: PathBuf,
    /// Where what it says on stderr is written down.
    pub(crate) log: ServerLog,
}

impl ServerScope {
    /// The folders with files of the person's that it can write in: what steers programs there is compared.
    pub(crate) fn writable(&self) -> Vec<PathBuf> {
        let project = self.workspace && (self.reach.project || self.guard.is_none());
        let folders = self.reach.folders.iter().map(|folder| path_text::read(folder));
        project.then(|| self.dir.clone()).into_iter().chain(folders).collect()
    }

    /// What it may not reach and could be let, in words that follow `may not`; `None` where nothing holds it.
    pub(crate) fn missing(&self) -> Option<String> {
        self.guard.as_ref().and_then(|_| self.reach.missing())
    }

    /// A trouble with what may be the reason of it.
    pub(crate) fn explained(&self, entry: &Entry, trouble: Trouble) -> Trouble {
        // Only a program that was started ran into its sandbox.
        let is_held = matches!(entry.in_environment(self.from_project), Ok(Way::Child { .. }));
        match (trouble, self.missing().filter(|_| is_held)) {
            (Trouble::Broken(why), Some(missing)) => Trouble::Broken(format!(
                "{why}. In its sandbox it may not {missing}; /mcp or `parlor mcp approve` lets it"
            )),
            (trouble, _) => trouble,
        }
    }

    fn leash(&self, cache: &Path) -> Leash {
        let mut writable = self.writable();
        let (mut locked, mut pinned) = (Vec::new(), Vec::new());
        for folder in &writable {
            let (more, also) = steering::locks(folder, Commits::Not);
            locked.extend(more);
            pinned.extend(also);
        }
        // A project in temp could be written otherwise, as temp can.
        if self.workspace && !self.reach.project && !cache.starts_with(&self.dir) {
            locked.push(self.dir.clone());
        }
        writable.push(cache.to_owned());
        let (network, sockets) = (self.reach.network, self.reach.programs);
        Leash { writable, locked, pinned, network, sockets, ..Leash::default() }
    }
}

/// The process group of a server, which does not outlive this value.
pub(super) struct Process {
    group: Option<Pid>,
    /// Its guard ends everything that came from it when it is asked to stop, also what left the group.
    guarded: bool,
    words: Arc<Words>,
    child: Child,
    /// Reads stderr to its end.
    listening: JoinSet<()>,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.ask_to_end();
    }
}

impl Process {
    /// Starts it; with its stdin and stdout.
    pub(super) fn start(
        command: &str,
        args: &[String],
        env: &BTreeMap<String, String>,
        scope: &ServerScope,
    ) -> io::Result<(Process, ChildStdin, ChildStdout)> {
        let cache = caches::make(&scope.cache)?;
        let mut program: Command = match &scope.guard {
            // What the person lets every command write is no server's.
            Some(guard) => {
                guard.clone().only_temp().command(OsStr::new(command), &scope.leash(&cache)).into()
            }
            None => Command::new(command),
        };
        let (stderr, theirs) = io::pipe()?;
        program
            .args(args)
            .current_dir(&scope.cwd)
            .env_clear()
            .envs(variables(env, &cache, scope))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(theirs)
            .process_group(0);
        let mut child = program.spawn()?;
        // It holds our end of the pipe: with that open the pipe would never end.
        drop(program);
        let pipe = pipe::Receiver::from_owned_fd(stderr.into())?;
        let (secrets, log) = (secrets(env), scope.log.clone());
        let words = Arc::new(Words { pipe, kept: Mutex::default(), line: Mutex::default(), secrets, log });
        let mut listening = JoinSet::new();
        listening.spawn(listen(words.clone()));
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let pipes = child.stdin.take().zip(child.stdout.take());
        let process = Process { group, guarded: scope.guard.is_some(), words, child, listening };
        let (input, output) = pipes.ok_or_else(|| io::Error::other("it has no pipes"))?;
        Ok((process, input, output))
    }

    /// What to tell of a server that never answered: how it ended and what it said.
    pub(super) async fn obituary(&mut self) -> String {
        let ended = match tokio::time::timeout(LAST_BREATH, self.child.wait()).await {
            Ok(Ok(status)) => format!("it ended with {status} before it answered"),
            Ok(Err(_)) | Err(_) => "it closed its pipes before it answered".to_owned(),
        };
        let _ = tokio::time::timeout(LAST_BREATH, self.listening.join_next()).await;
        let words = self.last_words();
        if words.is_empty() { ended } else { format!("{ended}; it last said: {words}") }
    }

    /// Its last words on stderr, as one piece.
    pub(super) fn last_words(&self) -> String {
        short(self.words.text().trim())
    }

    /// Its last lines on stderr.
    pub(super) fn last_lines(&self) -> Option<String> {
        let text = self.words.text();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default().join("\n");
        (!last.is_empty()).then(|| short(&last))
    }

    /// Ends it, and waits for that.
    pub(super) async fn end(mut self) {
        self.ask_to_end();
        let _ = tokio::time::timeout(LAST_BREATH, self.child.wait()).await;
    }

    fn ask_to_end(&self) {
        if let Some(group) = self.group {
            // It may be gone already, which is what we want.
            let _ = kill_process_group(group, if self.guarded { Signal::TERM } else { Signal::KILL });
        }
    }
}

/// What a server knows: of our environment what is no secret, where its cache is, and what its entry says.
fn variables(
    entry: &BTreeMap<String, String>,
    cache: &Path,
    scope: &ServerScope,
) -> Vec<(OsString, OsString)> {
    let network = scope.reach.network || scope.guard.is_none();
    let mut all = tools::env::cleaned(std::env::vars_os());
    all.extend(caches::variables(cache, network));
    all.extend(entry.iter().map(|(name, value)| (name.into(), value.into())));
    if scope.guard.is_some() { handed_on(all).collect() } else { all }
}

/// What a server says on stderr, of which the end is kept.
struct Words {
    pipe: pipe::Receiver,
    kept: Mutex<Vec<u8>>,
    /// The line that is not over yet, as far as it is kept.
    line: Mutex<Vec<u8>>,
    log: ServerLog,
    /// What is not shown of it, the longest first, with the name that stands there instead.
    secrets: Vec<(String, String)>,
}

/// The values of an entry's variables that may be secret, the longest first, and what stands for each.
fn secrets(env: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let mut secrets: Vec<(String, String)> = env
        .iter()
        .map(|(name, value)| (value.trim().to_owned(), format!("[{name}]")))
        .filter(|(value, _)| value.len() >= SHORTEST_SECRET)
        .collect();
    secrets.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
    secrets
}

impl Words {
    /// Takes in what stands in the pipe, past the event loop, which may not have heard of it: what was said before an answer is known
    /// with the answer. Tells whether more may come.
    fn take(&self) -> bool {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut chunk = [0; CHUNK];
        loop {
            match rustix::io::read(&self.pipe, &mut chunk) {
                Ok(0) => return false,
                Ok(count) => {
                    let read = chunk.get(..count).unwrap_or_default();
                    self.note(read);
                    kept.extend_from_slice(read);
                    // One that is cut in two would not be known for what it is.
                    let longest = self.secrets.first().map_or(0, |(value, _)| value.len());
                    let excess = kept.len().saturating_sub(LAST_WORDS + longest);
                    kept.drain(..excess);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(why) => return why == rustix::io::Errno::WOULDBLOCK,
            }
        }
    }

    /// Takes whole lines into the log.
    fn note(&self, read: &[u8]) {
        let longest = self.secrets.first().map_or(0, |(value, _)| value.len());
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        for byte in read {
            match byte {
                b'\n' => {
                    self.log.say("stderr", &masked(&line, LOGGED_LINE, &self.secrets));
                    line.clear();
                }
                // A secret that begins before the end of what is shown is known whole.
                _ if line.len() < LOGGED_LINE + longest => line.push(*byte),
                _ => {}
            }
        }
    }

    fn text(&self) -> String {
        self.take();
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        last_of(&kept, &self.secrets)
    }
}

/// The beginning of a line, with the name of each secret in its place.
fn masked(line: &[u8], most: usize, secrets: &[(String, String)]) -> String {
    let (mut shown, mut at) = (Vec::new(), 0);
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty() && at < most) {
        let secret = secrets.iter().find(|(value, _)| rest.starts_with(value.as_bytes()));
        let (length, words) = match secret {
            Some((value, name)) => (value.len(), name.as_bytes()),
            None => (1, rest.get(..1).unwrap_or_default()),
        };
        at += length;
        shown.extend_from_slice(words);
    }
    String::from_utf8_lossy(&shown).into_owned()
}

/// The end of what was said, with the name of each secret in its place. What stands before the end may begin within a secret.
fn last_of(kept: &[u8], secrets: &[(String, String)]) -> String {
    let end = kept.len().saturating_sub(LAST_WORDS);
    let (mut shown, mut at) = (Vec::new(), 0);
    while let Some(rest) = kept.get(at..).filter(|rest| !rest.is_empty()) {
        let secret = secrets.iter().find(|(value, _)| rest.starts_with(value.as_bytes()));
        let (length, words) = match secret {
            Some((value, name)) => (value.len(), name.as_bytes()),
            None => (1, rest.get(..1).unwrap_or_default()),
        };
        at += length;
        if at > end {
            shown.extend_from_slice(words);
        }
    }
    String::from_utf8_lossy(&shown).into_owned()
}

/// Drains stderr, so that a talkative server never waits.
async fn listen(words: Arc<Words>) {
    let empty = || Err(io::ErrorKind::WouldBlock.into());
    while words.pipe.readable().await.is_ok() {
        let taken = words.pipe.try_io(|| if words.take() { empty() } else { Ok(()) });
        if !taken.is_err_and(|why| why.kind() == io::ErrorKind::WouldBlock) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_secret_is_logged_wherever_a_line_is_cut() {
        let secrets = vec![("s3cret-value".to_owned(), "[TOKEN]".to_owned())];
        for before in [0, 5, LOGGED_LINE - 20, LOGGED_LINE - 12, LOGGED_LINE - 5, LOGGED_LINE] {
            let line = format!("{}s3cret-value and more", "x".repeat(before));
            let kept = &line.as_bytes()[..line.len().min(LOGGED_LINE + 12)];
            let shown = masked(kept, LOGGED_LINE, &secrets);
            assert!(!shown.contains("s3c"), "{before}: {shown}");
            assert_eq!(shown.contains("[TOKEN]"), before < LOGGED_LINE, "{before}: {shown}");
        }
    }

    #[test]
    fn a_value_of_the_entry_is_shown_by_its_name_wherever_the_end_begins() {
        let env =
            [("TOKEN", "s3cret-value"), ("LONGER", "a s3cret-value too"), ("PORT", "8080"), ("EMPTY", "")];
        let secrets = secrets(&env.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        let said = "with s3cret-value: a s3cret-value too\nat 8080";
        assert_eq!(last_of(said.as_bytes(), &secrets), "with [TOKEN]: [LONGER]\nat 8080");
        let longest = secrets[0].0.len();
        for before in 0..LAST_WORDS + 2 * longest {
            let said = format!("{}s3cret-value{}", "x".repeat(longest), "y".repeat(before));
            let kept = &said.as_bytes()[said.len().saturating_sub(LAST_WORDS + longest)..];
            let shown = last_of(kept, &secrets);
            assert!(!shown.contains("value") && !shown.contains("s3c"), "{before}: {shown}");
            assert_eq!(shown.contains("[TOKEN]"), before < LAST_WORDS, "{before}: {shown}");
        }
    }
}
