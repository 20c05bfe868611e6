//! Habits of existing clients that only a whole process can meet: how they start a runtime, how they leave it, what they wait for.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panic")]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use testkit::in_world;

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");
/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(20);

fn parlor(world: &Path, args: &[&str]) -> Command {
    let mut command = in_world(PARLOR, world, args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// A client on the stdio of a runtime.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(mut command: Command) -> Client {
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Client { child, input, output }
    }

    fn say(&mut self, line: &Value) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// The next line of a type, or with an event of that type.
    fn hear(&mut self, kind: &str) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "it ended before {kind}");
            let value: Value = serde_json::from_str(&line).unwrap();
            if value["type"] == kind || value["event"]["type"] == kind {
                return value;
            }
        }
    }

    /// Makes a request of JSON-RPC and waits for its answer.
    fn ask(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.say(&json!({"jsonrpc":"2.0","id":id,"method":method,"params":params}));
        loop {
            let mut line = String::new();
            assert_ne!(
                self.output.read_line(&mut line).unwrap(),
                0,
                "it ended before the answer to {method}"
            );
            let value: Value = serde_json::from_str(&line).unwrap();
            assert_ne!(value["method"], "session/request_permission", "nobody is here to be asked: {value}");
            if value["id"] == id && value.get("method").is_none() {
                return value;
            }
        }
    }

    /// Waits for its end while our end of its stdin stays open.
    fn gone(mut self) -> Option<i32> {
        let (told, ended) = mpsc::sync_channel(1);
        std::thread::spawn(move || told.send(self.child.wait().unwrap().code()));
        ended.recv_timeout(PATIENCE).expect("it goes")
    }
}

#[test]
fn a_lemon_client_that_quits_and_waits_sees_the_runtime_go() {
    let world = tempfile::tempdir().unwrap();
    let args = ["serve", "--dialect", "lemon", "--stdio", "--ephemeral", "run", "scripts/rpc.exs", "--"];
    let mut client = Client::start(parlor(world.path(), &args));
    client.hear("ready");
    client.say(&json!({ "type": "quit" }));
    client.hear("quit");
    assert_eq!(client.gone(), Some(0));
}

/// A nous server on sockets of its own.
struct Core {
    child: Child,
    socket: PathBuf,
}

impl Core {
    fn start(world: &Path) -> Core {
        let socket = world.join("core.sock");
        let place = socket.display().to_string();
        let mut command = parlor(world, &["serve", "--dialect", "nous", "--ephemeral", "--socket", &place]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        Core { child, socket }
    }

    fn events(&self) -> PathBuf {
        self.socket.with_extension("sock.events")
    }

    /// Connects, as soon as somebody listens.
    fn connect(path: &Path) -> UnixStream {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match UnixStream::connect(path) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(PATIENCE)).unwrap();
                    return stream;
                }
                Err(why) => assert!(Instant::now() < deadline, "{}: {why}", path.display()),
            }
            std::thread::yield_now();
        }
    }

    /// Says one command on a connection of its own, as existing clients do.
    fn ask(&self, kind: &str, payload: &Value) -> Value {
        let mut stream = Core::connect(&self.socket);
        writeln!(stream, "{}", json!({ "v": "1", "id": "c", "type": kind, "payload": payload })).unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn terminate(&mut self) -> Option<i32> {
        let kill = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(kill.success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_nous_server_takes_its_sockets_away_and_finds_those_of_a_killed_one() {
    let world = tempfile::tempdir().unwrap();
    let mut core = Core::start(world.path());
    assert_eq!(core.ask("ping", &json!({}))["type"], "pong");
    core.child.kill().unwrap();
    core.child.wait().unwrap();
    assert!(core.socket.exists() && core.events().exists());

    let mut core = Core::start(world.path());
    assert_eq!(core.ask("ping", &json!({}))["type"], "pong");
    // Open connections do not hold it.
    let (_waiting, _subscribed) = (Core::connect(&core.socket), Core::connect(&core.events()));
    assert_eq!(core.terminate(), Some(0));
    assert!(!core.socket.exists() && !core.events().exists());
}

#[test]
fn a_lemon_client_that_calls_us_in_the_place_of_mix_finds_its_runtime() {
    let world = tempfile::tempdir().unwrap();
    let cwd = world.path().join("work");
    std::fs::create_dir(&cwd).unwrap();
    let place = cwd.display().to_string();
    let args = ["run", "scripts/rpc.exs", "--", "--cwd", &place, "--model", "anthropic:claude", "--no-ui"];
    let mut client = Client::start(parlor(world.path(), &args));
    let ready = client.hear("ready");
    assert_eq!(ready["cwd"], json!(cwd.canonicalize().unwrap()));
    assert_eq!(ready["ui"], false);
    client.say(&json!({ "type": "prompt", "text": "say hello" }));
    client.hear("agent_end");
}

/// What asst's shell calls takes no argument of the person, so a policy is given before it, or in the settings.
#[test]
fn a_shell_that_cannot_be_asked_says_how_to_allow_and_its_person_can() {
    const SHELL: [&str; 2] = ["tsx", "src/index.ts"];
    for (flags, settings, allowed) in [
        (&[][..], None, false),
        (&["--policy", "auto-edit"][..], None, true),
        (&[][..], Some("policy = \"auto-edit\"\n"), true),
    ] {
        let world = tempfile::tempdir().unwrap();
        if let Some(settings) = settings {
            std::fs::create_dir(world.path().join("config")).unwrap();
            std::fs::write(world.path().join("config/config.toml"), settings).unwrap();
        }
        let args = [&["serve", "--dialect", "asst", "--stdio", "--ephemeral"][..], flags, &SHELL].concat();
        let mut client = Client::start(parlor(world.path(), &args));
        client.hear("ready");
        client.say(&json!({ "id": "m1", "kind": "user_message", "message": "write note.txt: hi" }));
        let result = client.hear("tool_result");
        client.hear("done");
        assert_eq!(world.path().join("note.txt").exists(), allowed, "{flags:?} {settings:?}: {result}");
        if !allowed {
            let why = result["data"]["error"].as_str().unwrap();
            assert!(why.contains("--policy auto-edit") && why.contains("`policy` in the settings"), "{why}");
        }
        drop(client.input);
        client.child.wait().unwrap();
    }
}

/// An agent's command that connects to the agent's own socket could answer the questions that are asked about it.
#[test]
fn a_command_of_an_agent_is_not_let_in_as_a_ui() {
    let world = tempfile::tempdir().unwrap();
    let core = Core::start(world.path());
    assert_eq!(core.ask("ping", &json!({}))["type"], "pong");
    let socket = core.socket.display().to_string();
    let attach = ["attach", "--dialect", "nous", "--socket", &socket, "--prompt", "list files"];
    let free = parlor(world.path(), &attach).output().unwrap();
    assert!(free.status.success(), "{free:?}");
    let own = std::process::id().to_string();
    let guarded = [&["__guard", "--parent", &own, "--rw", "/", "--net", "--", PARLOR][..], &attach].concat();
    let guarded = parlor(world.path(), &guarded).output().unwrap();
    assert!(!guarded.status.success() && guarded.stdout.is_empty(), "{guarded:?}");
}

#[test]
fn a_wire_of_two_sockets_is_not_looked_for_on_pipes() {
    let world = tempfile::tempdir().unwrap();
    let args = [
        "attach",
        "--dialect",
        "nous",
        "--prompt",
        "hello",
        "--",
        PARLOR,
        "serve",
        "--dialect",
        "nous",
        "--stdio",
    ];
    let attach = parlor(world.path(), &args).stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8_lossy(&attach.stderr).into_owned();
    assert!(!attach.status.success() && said.contains("name its socket"), "{said}");
}

/// An editor that was started by way of a link knows the project by that name, and its files too.
#[test]
fn an_editor_finds_its_session_by_a_link_to_the_folder() {
    let world = tempfile::tempdir().unwrap();
    let (real, link) = (world.path().join("project"), world.path().join("linked"));
    std::fs::create_dir(&real).unwrap();
    std::fs::write(real.join("note.txt"), "forty-two").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let agent = || {
        let mut client = Client::start(parlor(world.path(), &["acp"]));
        client.ask(0, "initialize", &json!({"protocolVersion":1}));
        client
    };
    let prompt = |client: &mut Client, id: u64, session: &Value| {
        let text = format!("read {}", link.join("note.txt").display());
        let text = json!([{"type":"text","text":text}]);
        let answer = client.ask(id, "session/prompt", &json!({"sessionId":session,"prompt":text}));
        assert_eq!(
            answer["result"]["stopReason"], "end_turn",
            "the file of that name is in the session's folder"
        );
    };
    let mut first = agent();
    let made = first.ask(1, "session/new", &json!({"cwd":real,"mcpServers":[]}));
    let session = made["result"]["sessionId"].clone();
    prompt(&mut first, 2, &session);
    drop(first.input);
    first.child.wait().unwrap();

    let mut second = agent();
    for (cwd, found) in [(&link, 1), (&real, 1), (&world.path().to_path_buf(), 0)] {
        let listed = second.ask(3, "session/list", &json!({"cwd":cwd}));
        assert_eq!(listed["result"]["sessions"].as_array().unwrap().len(), found, "{}", cwd.display());
    }
    let load = |cwd: &Path| json!({"sessionId":session,"cwd":cwd,"mcpServers":[]});
    assert_eq!(second.ask(4, "session/load", &load(world.path()))["error"]["code"], -32602);
    let loaded = second.ask(5, "session/load", &load(&link));
    assert!(loaded.get("result").is_some(), "{loaded}");
    prompt(&mut second, 6, &session);
    drop(second.input);
    second.child.wait().unwrap();
}
