//! A PostgreSQL for tests: one server for all tests that run at the same time, each with a database of its own in it; and servers of a
//! test's own, for tests that stop them.
//!
//! The server listens on a Unix socket in a folder below the temporary one, runs as an ordinary user where the tests run as root, and is
//! gone with its folder three seconds after the last test that used it, also when that was killed.

use crate::Running;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const KEEPER: &str = include_str!("postgres/keeper.sh");
/// Who runs the server where the tests run as root.
const NOBODY: u32 = 65534;

/// The server that tests share.
struct Shared {
    dir: PathBuf,
    /// Locked for as long as this process lives.
    _used: File,
}

/// A database of a test's own.
pub struct Database {
    dir: PathBuf,
    name: String,
}

impl Database {
    /// Makes one in the shared server.
    pub fn new() -> Database {
        static SHARED: OnceLock<Shared> = OnceLock::new();
        Database::in_folder(&SHARED.get_or_init(shared).dir)
    }

    fn in_folder(dir: &Path) -> Database {
        static DATABASES: AtomicU64 = AtomicU64::new(0);
        let number = DATABASES.fetch_add(1, Ordering::Relaxed);
        let name = format!("t{}_{number}", std::process::id());
        let database = Database { dir: dir.to_owned(), name };
        // One of a process that had our number is no one's any more.
        run_sql(dir, "postgres", &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", database.name));
        run_sql(dir, "postgres", &format!("CREATE DATABASE {}", database.name));
        database
    }

    /// How it is reached.
    pub fn address(&self) -> String {
        self.address_at(&self.dir)
    }

    /// The same by way of a socket in another folder.
    pub fn address_at(&self, dir: &Path) -> String {
        format!("postgres://postgres@/{}?host={}", self.name, dir.display().to_string().replace('/', "%2F"))
    }

    /// The same as another user.
    pub fn address_of(&self, user: &str) -> String {
        self.address().replacen("postgres@", &format!("{user}@"), 1)
    }

    /// The socket of its server.
    pub fn socket(&self) -> PathBuf {
        self.dir.join(".s.PGSQL.5432")
    }

    /// As the server knows it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Does something in it by hand; gives what it prints.
    pub fn sql(&self, sql: &str) -> String {
        run_sql(&self.dir, &self.name, sql)
    }
}

impl Default for Database {
    fn default() -> Database {
        Database::new()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let drop = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let _ = psql(&self.dir, "postgres", &drop).output();
    }
}

/// A server of a test's own, which may be stopped and started again.
pub struct Server {
    place: tempfile::TempDir,
    running: Option<Running>,
}

impl Server {
    /// Sets one up and starts it. What is committed is on its disk.
    pub fn new() -> Server {
        let place = tempfile::Builder::new().prefix("parlor-pg").tempdir().unwrap();
        let mut server = Server { place, running: None };
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(server.dir(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let made = server
            .program("initdb")
            .arg("-D")
            .arg(server.dir().join("data"))
            .args([
                "-U",
                "postgres",
                "--no-sync",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--wal-segsize=1",
            ])
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        server.start();
        server
    }

    /// An empty one, gone with the server.
    pub fn database(&self) -> Database {
        Database::in_folder(self.dir())
    }

    /// Its folder, with its socket.
    pub fn dir(&self) -> &Path {
        self.place.path()
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new("setpriv");
        if rustix::process::geteuid().is_root() {
            let id = NOBODY.to_string();
            command.args(["--reuid", &id, "--regid", &id, "--clear-groups"]);
        }
        command.args(["--pdeathsig", "INT"]).arg(programs().join(name)).current_dir(self.dir());
        command
    }

    /// Starts it, and waits until it takes connections.
    pub fn start(&mut self) {
        let dir = self.dir().to_owned();
        let mut command = self.program("postgres");
        command.arg("-D").arg(dir.join("data")).arg("-k").arg(&dir).args([
            "-c",
            "listen_addresses=",
            "-c",
            "shared_buffers=16MB",
        ]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.running = Some(Running(command.spawn().unwrap()));
        let end = Instant::now() + crate::PATIENCE;
        while !psql(&dir, "postgres", "SELECT 1").output().unwrap().status.success() {
            assert!(Instant::now() < end, "the server does not come");
            std::thread::yield_now();
        }
    }

    /// Kills it in the middle of whatever it does, as a power cut would.
    pub fn kill(&mut self) {
        let Some(Running(child)) = &mut self.running else { return };
        let pid = i32::try_from(child.id()).unwrap();
        // It takes its own processes with it, and writes nothing any more.
        let _ = rustix::process::kill_process(
            rustix::process::Pid::from_raw(pid).unwrap(),
            rustix::process::Signal::QUIT,
        );
        let _ = child.wait();
        self.running = None;
    }
}

impl Default for Server {
    fn default() -> Server {
        Server::new()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Where the programs of PostgreSQL are: the newest that is installed.
pub fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| {
            entry.file_name().to_str()?.parse::<u32>().ok().map(|version| (version, entry.path().join("bin")))
        })
        .filter(|(_, programs)| programs.join("initdb").exists())
        .max();
    let on_path = || {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).find(|folder| folder.join("initdb").exists())
    };
    newest
        .map(|(_, programs)| programs)
        .or_else(on_path)
        .expect("PostgreSQL is installed: `cargo xtask test` does that")
}

fn psql(dir: &Path, database: &str, sql: &str) -> Command {
    let mut command = Command::new(programs().join("psql"));
    command.args([
        "-X",
        "-q",
        "-A",
        "-t",
        "-v",
        "ON_ERROR_STOP=1",
        "-U",
        "postgres",
        "-d",
        database,
        "-c",
        sql,
    ]);
    command.arg("-h").arg(dir).env_remove("PGPASSFILE").stdin(Stdio::null());
    command
}

fn run_sql(dir: &Path, database: &str, sql: &str) -> String {
    let done = psql(dir, database, sql).output().unwrap();
    assert!(done.status.success(), "{sql}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// Finds the shared server, or starts it.
fn shared() -> Shared {
    let uid = rustix::process::geteuid().as_raw();
    let dir = std::env::temp_dir().join(format!("parlor-postgres-{uid}"));
    let beside = |end: &str| {
        let path = dir.with_extension(end);
        File::options().create(true).append(true).open(path).unwrap()
    };
    let starting = beside("start");
    starting.lock().unwrap();
    // Whoever takes it down has this alone, and is through when we get it.
    let used = beside("use");
    used.lock_shared().unwrap();
    if !is_up(&dir) {
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::DirBuilder::new().mode(0o700).create(&dir).unwrap();
        let mut keeper = Command::new("sh")
            .args(["-c", KEEPER, "keeper"])
            .arg(&dir)
            .arg(programs())
            .arg(NOBODY.to_string())
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // What ends the group of a test does not end it for others.
            .process_group(0)
            .spawn()
            .unwrap();
        wait_until_ready(&mut keeper, &dir);
    }
    Shared { dir, _used: used }
}

fn wait_until_ready(keeper: &mut Child, dir: &Path) {
    let mut said = String::new();
    let read = BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut said);
    let log = || std::fs::read_to_string(dir.with_extension("log")).unwrap_or_default();
    assert!(read.is_ok() && said == "ready\n", "the server does not come: {}", log());
}

/// Whether the server is there, and ours: the folder is in a place that everybody may write.
fn is_up(dir: &Path) -> bool {
    let Ok(found) = std::fs::symlink_metadata(dir) else { return false };
    let uid = rustix::process::geteuid().as_raw();
    let is_ours = found.is_dir() && (found.uid() == uid || uid == 0 && found.uid() == NOBODY);
    assert!(is_ours && found.permissions().mode() & 0o077 == 0, "{} is somebody else's", dir.display());
    dir.join("ready").exists() && psql(dir, "postgres", "SELECT 1").output().unwrap().status.success()
}
