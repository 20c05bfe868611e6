//! A project full of traps, with a home and an outside that hold secrets, and whoever runs lines in it.
//!
//! Everything belongs to a user who may write it all: what does not change was not tried. As root that is nobody's uid, else our own.

use crate::context::ToolContext;
use rustix::fs::inotify;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::mem::MaybeUninit;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The user who runs lines when we are root.
const NOBODY: u32 = 65534;
/// Stands in every secret, and in no name.
const SECRET: &str = "CANARY-CONTENT-7f3a91";
/// Stands in names outside of the project, and nowhere else.
const SECRET_NAME: &str = "CANARY-NAME-52c8d0";
/// Longest time of one line.
const PATIENCE: Duration = Duration::from_secs(10);
/// Where programs are looked for.
const SYSTEM: &str = "/usr/local/bin:/usr/bin:/bin";

/// The project, what is around it, and who watches.
pub(super) struct Canary {
    dir: tempfile::TempDir,
    place: std::cell::OnceCell<ToolContext>,
    path: std::cell::RefCell<String>,
    watch: std::cell::OnceCell<(rustix::fd::OwnedFd, BTreeMap<PathBuf, String>)>,
    watchdog: Watchdog,
    _alone: std::sync::MutexGuard<'static, ()>,
}

/// One project at a time in a process: a child that another thread starts holds open for a moment what is just being written here.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Ends what does not end by itself.
#[derive(Default)]
struct Watchdog(std::sync::Arc<std::sync::Mutex<Option<(Pid, Instant)>>>);

impl Watchdog {
    fn new() -> Watchdog {
        let dog = Watchdog::default();
        let watched = std::sync::Arc::downgrade(&dog.0);
        std::thread::spawn(move || {
            while let Some(watched) = watched.upgrade() {
                if let Some((pid, since)) = *watched.lock().unwrap()
                    && since.elapsed() > PATIENCE
                {
                    let _ = kill_process_group(pid, Signal::KILL);
                }
                drop(watched);
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        dog
    }

    fn run(&self, command: &mut Command) -> Output {
        let child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
        *self.0.lock().unwrap() = Some((pid, Instant::now()));
        let output = child.wait_with_output().unwrap();
        *self.0.lock().unwrap() = None;
        output
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

impl Canary {
    pub(super) fn new() -> Canary {
        let dir = tempfile::Builder::new().prefix("canary").tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let (place, path) = (std::cell::OnceCell::new(), SYSTEM.to_owned().into());
        let watch = std::cell::OnceCell::new();
        let alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let canary = Canary { dir, place, path, watch, watchdog: Watchdog::new(), _alone: alone };
        canary.lay_out();
        canary
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn lay_out(&self) {
        for file in ["outside/secret.txt", "home/.ssh/id_rsa", "home/.netrc", "outside/deep/secret.txt"] {
            self.put(file, &format!("{SECRET} in {}\n", Path::new(file).display()));
        }
        for file in ["outside", "home", "outside/deep", ""] {
            self.put(&format!("{file}/{SECRET_NAME}"), SECRET);
        }
        let root = self.root();
        let outside = root.join("outside");
        let text: String = (1..40).map(|n| format!("{n}:word{n} x y\tz\n")).collect();
        for file in ["a.txt", "b.txt", "src/lib.rs", "src/deep/c.txt", ".hidden/d.txt", "with space.txt"] {
            self.put(&format!("project/{file}"), &text);
        }
        // Names that are options, file lists, formats or commands to whoever does not look closely.
        let names = [
            "-delete",
            "-o",
            "-rf",
            "--pre=sh",
            "--output=PWN",
            "-exec",
            "--files0-from=list",
            "@list",
            "%n",
            ";touch PWN;",
            "$(touch PWN)",
            "`touch PWN`",
            "x\ny",
            "*",
            "[a]",
            "{}",
            "-",
            "#",
            "~",
            "'",
            "\"",
        ];
        for name in names {
            std::fs::write(root.join("project/odd").join(name), "x\n")
                .or_else(|_| {
                    std::fs::create_dir_all(root.join("project/odd"))?;
                    std::fs::write(root.join("project/odd").join(name), "x\n")
                })
                .unwrap();
        }
        let secret = outside.join("secret.txt");
        self.put("project/list", &format!("{}\n", secret.display()));
        self.put("project/list0", &format!("{}\0", secret.display()));
        self.put("project/@args", &format!("{}\n", secret.display()));
        self.put("project/glob", &format!("{}/*\n", outside.display()));
        self.put("project/sums", &format!("d41d8cd98f00b204e9800998ecf8427e  {}\n", secret.display()));
        self.put("project/commands", "x; touch PWN\n$(touch PWN)\n`touch PWN`\n-o PWN\n");
        self.put("project/bin/evil", "#!/bin/sh\n: > PWN\n");
        let links = [
            ("project/link", "../outside/secret.txt"),
            ("project/dirlink", "../outside"),
            ("project/src/up", "../.."),
            ("project/inner", "src/lib.rs"),
            ("project/dangling", "../outside/PWN"),
            ("project/-link", "../outside/secret.txt"),
        ];
        for (link, target) in links {
            symlink(target, root.join(link)).unwrap();
        }
        std::fs::create_dir(root.join("tmp")).unwrap();
        self.mark_programs();
        give(&root);
    }

    fn mark_programs(&self) {
        for entry in std::fs::read_dir(self.project().join("bin")).unwrap() {
            let path = entry.unwrap().path();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    /// Makes the project a git repository in which a tracked directory has become a link that leads out.
    pub(super) fn make_repository(&self) {
        self.put("project/tracked/secret.txt", "x\n");
        give(&self.root());
        for args in [
            &["init", "-q"][..],
            &["add", "a.txt", "b.txt", "src/lib.rs", "tracked"],
            // Its maintenance would go on in the background and be taken for what is tried next.
            &[
                "-c",
                "maintenance.auto=0",
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "commit",
                "-qm",
                "first",
            ],
            &["tag", "v1"],
        ] {
            let done = self.prepared("git").args(args).output().unwrap();
            assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        }
        std::fs::remove_dir_all(self.project().join("tracked")).unwrap();
        symlink("../outside", self.project().join("tracked")).unwrap();
        // So that git would like to refresh what it knows of them.
        self.put("project/a.txt", "changed\n");
        let now = std::time::SystemTime::now() + Duration::from_secs(5);
        std::fs::File::options()
            .write(true)
            .open(self.project().join("b.txt"))
            .unwrap()
            .set_modified(now)
            .unwrap();
        give(&self.root());
    }

    /// Puts programs of the project before those of the system, under every name that lines use.
    pub(super) fn bring_own_programs(&self) {
        for name in super::generator::PROGRAMS.iter().chain(super::generator::WRAPPERS) {
            self.put(&format!("project/bin/{name}"), "#!/bin/sh\n: > PWN\n");
        }
        self.mark_programs();
        *self.path.borrow_mut() = format!("{}:{SYSTEM}", self.project().join("bin").display());
        give(&self.root());
    }

    /// The project as the judge sees it.
    pub(super) fn place(&self) -> &ToolContext {
        self.place.get_or_init(|| {
            let place = ToolContext::new(&self.project(), &self.root().join("outputs")).unwrap();
            place.with_env(self.env().into_iter())
        })
    }

    fn env(&self) -> Vec<(OsString, OsString)> {
        let home = self.root().join("home");
        let pairs = [
            ("PATH", self.path.borrow().clone().into()),
            ("HOME", home.into_os_string()),
            ("LANG", "C.UTF-8".into()),
        ];
        pairs.into_iter().map(|(name, value)| (name.into(), value)).collect()
    }

    /// A program as whoever may do harm would run it here.
    fn prepared(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let env = crate::env::cleaned(self.env().into_iter());
        command.env_clear().envs(env).envs(crate::env::LOOKING.iter().copied());
        command.env("TMPDIR", self.root().join("tmp")).current_dir(self.project()).stdin(Stdio::null());
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// Runs a line that was judged free and looks whether it was.
    pub(super) fn run(&self, line: &str) {
        let (inotify, _) = self.watch.get_or_init(|| (watch(&self.root()), tree(&self.root())));
        let traced = (super::slowly() && super::is_here("strace")).then(|| self.root().join("tmp/trace"));
        let mut command = self.prepared(if traced.is_some() { "strace" } else { "/bin/bash" });
        if let Some(trace) = &traced {
            command
                .args(["-f", "-qq", "-e", "trace=open,openat,openat2,creat", "-o"])
                .arg(trace)
                .arg("/bin/bash");
        }
        let output = self.watchdog.run(command.arg("-c").arg(line));
        self.said_nothing_secret(line, &output);
        let touched = drained(inotify);
        assert!(touched.is_empty(), "{line:?} touched {touched:?}");
        if let Some(trace) = &traced {
            self.opened_nothing(line, &std::fs::read_to_string(trace).unwrap_or_default());
        }
    }

    fn said_nothing_secret(&self, line: &str, output: &Output) {
        for said in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(said);
            for secret in [SECRET, SECRET_NAME, "root:x:0:0"] {
                // Backwards, too: `rev` tells it as well.
                let backwards: String = secret.chars().rev().collect();
                assert!(!text.contains(secret) && !text.contains(&backwards), "{line:?} said {text}");
            }
        }
    }

    /// What `strace` saw: nothing was opened for writing but what goes away.
    fn opened_nothing(&self, line: &str, trace: &str) {
        let tmp = self.root().join("tmp");
        let opened = trace.lines().filter(|call| {
            ["O_WRONLY", "O_RDWR", "O_CREAT", "creat("].iter().any(|way| call.contains(way))
                && !call.contains(" = -1 ")
        });
        for call in opened {
            let path = call.split('"').nth(1).unwrap_or_default();
            let fine = Path::new(path).starts_with(&tmp)
                || matches!(
                    path,
                    "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/fd/1" | "/dev/fd/2" | "/dev/tty"
                );
            assert!(fine, "{line:?}: {call}");
        }
    }

    /// Compares everything once more, byte by byte.
    pub(super) fn check_everything(&self) {
        let Some((_, before)) = self.watch.get() else { return };
        let after = tree(&self.root());
        for (path, was) in before {
            assert_eq!(after.get(path), Some(was), "{} changed", path.display());
        }
        assert_eq!(
            after.len(),
            before.len(),
            "something is new: {:?}",
            after.keys().find(|path| !before.contains_key(*path))
        );
    }
}

/// Gives everything below to whoever runs the lines.
fn give(root: &Path) {
    if !is_root() {
        return;
    }
    chown(root, Some(NOBODY), Some(NOBODY)).unwrap();
    for entry in std::fs::read_dir(root).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            give(&entry.path());
        } else {
            lchown(entry.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
}

fn folders(root: &Path, found: &mut Vec<PathBuf>) {
    found.push(root.to_owned());
    for entry in std::fs::read_dir(root).unwrap() {
        let entry = entry.unwrap();
        // Temp goes away, and who looks may use it.
        if entry.file_type().unwrap().is_dir() && entry.file_name() != "tmp" {
            folders(&entry.path(), found);
        }
    }
}

/// Watches every folder for what only somebody who does more than look does.
fn watch(root: &Path) -> rustix::fd::OwnedFd {
    use inotify::{CreateFlags, WatchFlags};
    let watcher = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
    let mut found = Vec::new();
    folders(root, &mut found);
    let writing = WatchFlags::CLOSE_WRITE | WatchFlags::MODIFY | WatchFlags::ATTRIB;
    let moving = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVE;
    for folder in found {
        inotify::add_watch(&watcher, &folder, writing | moving).unwrap();
    }
    watcher
}

fn drained(watcher: &rustix::fd::OwnedFd) -> Vec<String> {
    let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
    let mut reader = inotify::Reader::new(watcher, &mut buffer);
    let mut seen = Vec::new();
    while let Ok(event) = reader.next() {
        seen.push(format!("{:?} {:?}", event.events(), event.file_name()));
    }
    seen
}

/// Everything below, with all that could change: what is in it, what it is, and when that was last another.
fn tree(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut dirs = Vec::new();
    folders(root, &mut dirs);
    for dir in dirs {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            if path == root.join("tmp") {
                continue;
            }
            let holds = if meta.is_symlink() {
                format!("{:?}", std::fs::read_link(&path).unwrap())
            } else if meta.is_file() {
                crate::digest::hex(&std::fs::read(&path).unwrap())
            } else {
                String::new()
            };
            let (mode, links, times) = (
                meta.mode(),
                meta.nlink(),
                (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()),
            );
            found.insert(path, format!("{mode:o} {links} {}:{} {times:?} {holds}", meta.uid(), meta.gid()));
        }
    }
    found
}
