//! What the hostile tests share: a world with a project, a home and things that nobody may touch; the program in it, as one user or
//! another; and a person at the native wire who answers questions.
//!
//! Always: a world lies outside of temp, where the sandbox lets everybody write; no variable of ours reaches the program; everything
//! that was started is ended and every folder removed with its value.

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Ordinary users that own nothing, on every machine: the first, and how many there are.
const NOBODIES: (u32, u32) = (40_000, 20_000);
/// Where root keeps worlds: outside of temp, not in a home that others cannot enter.
const ROOTS: &[&str] = &["/var/lib", "/opt", "/run"];

/// Runs a test as each user that we can be.
pub(crate) fn as_each_user(test: impl Fn(&World)) {
    test(&World::new(None));
    if rustix::process::getuid().is_root() {
        test(&World::new(Some(nobody())));
    }
}

/// An ordinary user of this test process alone: what a program of another test hides would count for this one's, were both one user.
fn nobody() -> u32 {
    let (first, count) = NOBODIES;
    first + std::process::id() % count
}

/// A place on disk with everything in it that an attack could want.
pub(crate) struct World {
    dir: TempDir,
    /// Whom the program runs as; `None` is us.
    user: Option<u32>,
    parlor: PathBuf,
    /// Keeps a copy of the program that the user can read.
    _programs: TempDir,
}

impl World {
    pub(crate) fn new(user: Option<u32>) -> World {
        let base = match rustix::process::getuid().is_root() {
            true => ROOTS.iter().map(PathBuf::from).find(|base| base.is_dir()).unwrap(),
            false => std::env::home_dir().unwrap(),
        };
        let dir = tempfile::Builder::new().prefix("parlor-hostile-").tempdir_in(base).unwrap();
        let programs = tempfile::tempdir().unwrap();
        for path in [dir.path(), programs.path()] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let parlor = reachable(Path::new(env!("CARGO_BIN_EXE_parlor")), programs.path());
        let world = World { dir, user, parlor, _programs: programs };
        for folder in ["project", "home", "data", "config", "run", "outside"] {
            world.folder(folder);
            fs::set_permissions(world.path(folder), fs::Permissions::from_mode(0o700)).unwrap();
        }
        world.put("project/a.txt", "alpha\nbeta\n");
        world.put("outside/canary", "alive\n");
        world
    }

    /// Something in it: `project/…`, `home/…`, `outside/…`, `data`, `config`, `run`.
    pub(crate) fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(below)
    }

    /// Makes a folder that belongs to the user.
    pub(crate) fn folder(&self, below: impl AsRef<Path>) {
        fs::create_dir(self.path(&below)).unwrap();
        self.give(below);
    }

    /// Writes a file that belongs to the user.
    pub(crate) fn put(&self, below: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        fs::write(self.path(&below), text).unwrap();
        self.give(below);
    }

    /// What a file holds; nothing when there is none.
    pub(crate) fn get(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap_or_default()
    }

    /// The program that attacks (`examples/attack.rs`), laid into the project; how a command calls it.
    pub(crate) fn attack(&self) -> String {
        let beside = std::env::current_exe().unwrap();
        let program = beside.ancestors().nth(2).unwrap().join("examples/attack");
        let copied = fs::copy(program, self.path("project/attack"));
        copied.expect(
            "`cargo build -p parlor --example attack` builds what a test of all of parlor builds by itself",
        );
        self.give("project/attack");
        self.path("project/attack").display().to_string()
    }

    /// A folder in temp that belongs to the user.
    pub(crate) fn temp(&self) -> TempDir {
        let temp = tempfile::tempdir().unwrap();
        if self.user.is_some() {
            chown(temp.path(), self.user, self.user).unwrap();
        }
        temp
    }

    fn give(&self, below: impl AsRef<Path>) {
        if self.user.is_some() {
            chown(self.path(below), self.user, self.user).unwrap();
        }
    }

    /// A program in this world, as its user.
    pub(crate) fn program(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path("project"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("PARLOR_DATA_DIR", self.path("data"))
            .env("PARLOR_CONFIG_DIR", self.path("config"))
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("TERM", "xterm-256color")
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// The program under test, with the model that does what it is told.
    pub(crate) fn parlor(&self, args: &[&str]) -> Command {
        let mut command = self.program(&self.parlor);
        // Who attaches to a runtime cannot say which model it uses, nor who only shows or keeps sessions.
        if !matches!(args.first(), Some(&"attach" | &"bridge" | &"web" | &"up" | &"down")) {
            command.args(["--model", "offline"]);
        }
        command.args(args);
        command
    }

    /// What a program of the person's own says, on either way out.
    pub(crate) fn outside(&self, program: &str, args: &[&str]) -> String {
        let Output { stdout, stderr, .. } = self.program(program).args(args).output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr))
    }

    /// The same for a program of another user.
    pub(crate) fn stranger(&self, program: &str, args: &[&str]) -> String {
        let other = if self.user.is_none() { nobody() } else { nobody() - 1 };
        // Where the world's own folders are closed to others.
        let copies = tempfile::tempdir().unwrap();
        fs::set_permissions(copies.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let copy = copies.path().join("stranger");
        fs::copy(program, &copy).unwrap();
        let mut command = Command::new(copy);
        let command =
            command.args(args).current_dir("/").env_clear().stdin(Stdio::null()).uid(other).gid(other);
        let Output { stdout, stderr, .. } = command.output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr))
    }

    /// Whether the program runs as root here.
    pub(crate) fn is_root(&self) -> bool {
        self.user.is_none() && rustix::process::getuid().is_root()
    }

    /// Writes a program that belongs to the user.
    pub(crate) fn executable(&self, below: &str, text: &str) {
        self.put(below, text);
        fs::set_permissions(self.path(below), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// `parlor serve` on a socket in this world, with arguments of `parlor`.
    pub(crate) fn serve(&self, args: &[&str]) -> Serving {
        self.start(self.parlor(args), &[], self.usual_socket())
    }

    /// The same with arguments of `serve`.
    pub(crate) fn serve_with(&self, args: &[&str]) -> Serving {
        self.start(self.parlor(&[]), args, self.usual_socket())
    }

    /// `parlor serve` on another socket, with arguments of `parlor`.
    pub(crate) fn serve_at(&self, args: &[&str], socket: PathBuf) -> Serving {
        self.start(self.parlor(args), &[], socket)
    }

    fn usual_socket(&self) -> PathBuf {
        self.path("run/hostile.sock")
    }

    fn start(&self, mut command: Command, args: &[&str], socket: PathBuf) -> Serving {
        command.args(["serve", "--dialect", "native"]).args(args).arg("--socket").arg(&socket);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let serving = Serving { child, socket };
        wait_until("it listens", || serving.socket.exists());
        serving
    }

    /// A person's UI on a socket, with a new session.
    pub(crate) fn ui(&self, socket: &Path) -> Ui {
        let mut ui = Ui::new(self.relay(socket));
        ui.command(json!({"new_session": {}}));
        ui
    }

    /// Somebody with a lesser role at a socket, in the session that is there.
    pub(crate) fn ui_as(&self, socket: &Path, role: &str) -> Ui {
        Ui::with_role(self.relay(socket), Some(role))
    }

    /// A process of the world's user that carries its stdin and stdout to a socket: nobody else may connect.
    fn relay(&self, socket: &Path) -> Child {
        let mut command = self.parlor(&["__relay"]);
        command.arg(socket).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().unwrap()
    }
}

/// A program where every user can start it: itself, or a copy.
fn reachable(program: &Path, copies: &Path) -> PathBuf {
    let others = |path: &Path| fs::metadata(path).is_ok_and(|meta| meta.mode() & 0o005 == 0o005);
    if program.ancestors().take_while(|path| !path.as_os_str().is_empty()).all(others) {
        return program.to_owned();
    }
    // Its name is what makes it guard its commands.
    let copy = copies.join("parlor");
    fs::copy(program, &copy).unwrap();
    copy
}

/// Waits for something that another process does.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::yield_now();
    }
}

/// Whether a process is there and does something: one that only waits to be reaped does not.
pub(crate) fn alive(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')))
}

/// A runtime that serves the native wire.
pub(crate) struct Serving {
    pub(crate) child: Child,
    pub(crate) socket: PathBuf,
}

impl Serving {
    /// Stops it as a terminal does with Ctrl-Z, or lets it go on.
    pub(crate) fn pause(&self, paused: bool) {
        let signal = if paused { rustix::process::Signal::STOP } else { rustix::process::Signal::CONT };
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
        // Each thread stops when it is next looked at, not at once.
        wait_until("every thread stands still", || !paused || self.stands_still());
    }

    fn stands_still(&self) -> bool {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        threads.map(|thread| fs::read_to_string(thread.unwrap().path().join("stat")).unwrap_or_default()).all(
            |stat| stat.rsplit(')').next().is_none_or(|rest| rest.trim_start().starts_with(['T', 't', 'Z'])),
        )
    }

    /// The socket by which every serving process can be found, beside the one it was told.
    pub(crate) fn native_socket(&self, world: &World) -> PathBuf {
        let native_socket = world.path("data/run").join(format!("{}.sock", self.child.id()));
        wait_until("it can be found", || native_socket.exists());
        native_socket
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A person at the native wire.
pub(crate) struct Ui {
    relay: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    input: ChildStdin,
    ticket: u64,
}

impl Drop for Ui {
    fn drop(&mut self) {
        let _ = self.relay.kill();
        let _ = self.relay.wait();
    }
}

/// One tool run as the person saw it.
#[derive(Debug, Clone)]
pub(crate) struct Ran {
    /// What it gave back.
    pub(crate) text: String,
    /// `done`, `failed`, `denied`, …
    pub(crate) outcome: String,
    /// What was asked before it ran, if anything.
    pub(crate) asked: Option<Value>,
}

impl Ui {
    fn new(relay: Child) -> Ui {
        Ui::with_role(relay, None)
    }

    fn with_role(mut relay: Child, role: Option<&str>) -> Ui {
        let lines = BufReader::new(relay.stdout.take().unwrap()).lines();
        let input = relay.stdin.take().unwrap();
        let mut ui = Ui { relay, lines, input, ticket: 0 };
        let mut hello = json!({"protocol": 1, "name": "person", "version": "0", "capabilities": ["answers"]});
        if let Some(role) = role {
            hello["rights"] = role.into();
        }
        ui.send(&json!({"hello": hello}));
        let greeting = ui.next();
        assert!(greeting.get("hello").is_some(), "the person is not let in: {greeting}");
        ui
    }

    fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    pub(crate) fn command(&mut self, what: Value) {
        self.ticket += 1;
        self.send(&json!({"command": {"ticket": self.ticket, "what": what}}));
    }

    fn next(&mut self) -> Value {
        let line = self.lines.next().expect("the runtime is gone").unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// What a command is settled with; what happens meanwhile is passed over.
    pub(crate) fn settled(&mut self, what: Value) -> Value {
        self.command(what);
        loop {
            let message = self.next();
            if message["settled"]["ticket"] == self.ticket {
                return message["settled"]["with"].clone();
            }
        }
    }

    /// The model runs a command line; every question is answered with `yes`.
    pub(crate) fn bash(&mut self, line: &str, yes: bool) -> Ran {
        self.call("bash", &json!({"command": line}), yes)
    }

    /// The model calls a tool; every question is answered with `yes`. Gives what became of it when the run is over.
    pub(crate) fn call(&mut self, tool: &str, args: &Value, yes: bool) -> Ran {
        self.begin(tool, args);
        self.end(yes)
    }

    /// The model is told to call a tool.
    pub(crate) fn begin(&mut self, tool: &str, args: &Value) {
        let text = format!("call {tool} {args}");
        self.command(json!({"prompt": {"input": {"text": text}}}));
    }

    /// Says yes to the question about the tool that was begun.
    pub(crate) fn allow(&mut self) {
        let ask = self.asked();
        let allow = json!({"allow": {"scope": "once", "digest": ask["kind"]["consent"]["digest"]}});
        self.command(json!({"answer": {"ask": ask["id"], "answer": allow}}));
    }

    /// Waits until this field of the status line is told; gives its words.
    pub(crate) fn status(&mut self, key: &str) -> String {
        loop {
            let message = self.next();
            let said = &message["signal"]["signal"]["status"];
            if let (Some(named), Some(text)) = (said["key"].as_str(), said["text"].as_str())
                && named == key
            {
                return text.to_owned();
            }
        }
    }

    /// Answers the next question.
    pub(crate) fn answer(&mut self, answer: &Value) {
        let ask = self.asked();
        self.command(json!({"answer": {"ask": ask["id"], "answer": answer}}));
    }

    /// The next question. What ends without one is told, where it would be waited for in vain.
    #[track_caller]
    pub(crate) fn asked(&mut self) -> Value {
        let mut ended = Value::Null;
        loop {
            let message = self.next();
            let body = &message["event"]["event"]["body"];
            if let Some(ask) = body.get("ask_opened") {
                return ask.clone();
            }
            if let Some(end) = body.get("tool_ended") {
                ended = end.clone();
            }
            assert!(body.get("run_ended").is_none(), "nothing was asked: {ended}");
        }
    }

    /// What became of the tool that was begun.
    pub(crate) fn end(&mut self, yes: bool) -> Ran {
        let mut ran = Ran { text: String::new(), outcome: String::new(), asked: None };
        loop {
            let message = self.next();
            let body = &message["event"]["event"]["body"];
            if let Some(ask) = body.get("ask_opened") {
                let answer = match (ask["kind"].get("consent"), yes) {
                    (Some(consent), true) => json!({"allow": {"scope": "once", "digest": consent["digest"]}}),
                    (Some(_), false) => json!({"deny": {}}),
                    (None, _) => json!("dismissed"),
                };
                self.command(json!({"answer": {"ask": ask["id"], "answer": answer}}));
                ran.asked = Some(ask.clone());
            }
            if let Some(ended) = body.get("tool_ended") {
                ran.text = ended["result"]["text"].as_str().unwrap_or_default().to_owned();
                ran.outcome = ended["outcome"].as_str().unwrap_or_default().to_owned();
            }
            if body.get("run_ended").is_some() {
                return ran;
            }
        }
    }
}
