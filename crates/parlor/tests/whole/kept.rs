//! Conversations with other programs' runtimes stay: listed, searched, exported and gone on with, as they are typed at a shell.
//!
//! The runtimes are the built program itself behind each wire, with a store of their own, so that what they keep can be told from what
//! is kept here.

use domain::ids::SessionId;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use store::{SqliteStore, Store};

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");
/// Wires whose runtimes are started and spoken with on their stdin and stdout.
const STARTED: &[&str] = &["codelia", "lemon", "openagent", "asst", "acp"];

/// A person at a shell, with two folders and a place for data; the runtime has a place of its own.
struct Shell {
    home: tempfile::TempDir,
}

impl Shell {
    fn new() -> Shell {
        let home = tempfile::tempdir().expect("a home");
        for name in ["work", "other"] {
            std::fs::create_dir(home.path().join(name)).expect("a folder");
        }
        Shell { home }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn command(&self, place: &str, args: &[&str]) -> Command {
        let mut command = Command::new(PARLOR);
        command.args(args).current_dir(self.path(place)).stdin(Stdio::null()).env_clear();
        command.env("HOME", self.home.path()).env("PARLOR_DATA_DIR", self.path("data"));
        command.env("XDG_RUNTIME_DIR", self.home.path());
        testkit::ask_offline(&mut command);
        command
    }

    fn type_in(&self, place: &str, args: &[&str]) -> Output {
        self.command(place, args).output().expect("it starts")
    }

    fn says(&self, args: &[&str]) -> String {
        self.says_in("work", args).0
    }

    /// What stdout and stderr say.
    fn says_in(&self, place: &str, args: &[&str]) -> (String, String) {
        let output = self.type_in(place, args);
        let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{args:?}: {out}{error}");
        (out.into_owned(), error.into_owned())
    }

    fn refuses(&self, args: &[&str]) -> String {
        let output = self.type_in("work", args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{args:?}: {}{error}", String::from_utf8_lossy(&output.stdout));
        error
    }

    /// The words that start a runtime with a store of its own.
    fn runtime(&self, dialect: &str) -> Vec<String> {
        let data = format!("PARLOR_DATA_DIR={}", self.path("theirs").display());
        ["/usr/bin/env", &data, PARLOR, "serve", "--dialect", dialect, "--stdio"].map(str::to_owned).to_vec()
    }

    fn attach(&self, dialect: &str, more: &[&str], prompt: &str) -> String {
        let runtime = self.runtime(dialect);
        let mut args = vec!["attach", "--dialect", dialect, "--prompt", prompt];
        args.extend(more);
        args.push("--");
        args.extend(runtime.iter().map(String::as_str));
        self.says(&args)
    }

    fn list(&self) -> Vec<Value> {
        serde_json::from_str(&self.says(&["sessions", "list", "--json"])).expect("JSON")
    }

    /// The one conversation that is kept here.
    fn only(&self) -> Value {
        let mut listed = self.list();
        assert_eq!(listed.len(), 1, "{listed:#?}");
        listed.remove(0)
    }

    /// What the person said in the conversations that the runtime itself keeps.
    fn told_there(&self) -> Vec<Vec<String>> {
        let store = SqliteStore::to_read(&self.path("theirs")).expect("a store");
        let sessions = store.list(&store::Listing::default()).expect("sessions");
        sessions.iter().map(|session| prompts(&store, &session.id)).collect()
    }

    fn prompts(&self, id: &str) -> Vec<String> {
        let store = SqliteStore::to_read(&self.path("data")).expect("a store");
        prompts(&store, &SessionId::parse(id).expect("an id"))
    }
}

fn prompts(store: &SqliteStore, session: &SessionId) -> Vec<String> {
    use domain::content::Role;
    use domain::state::EntryKind;
    let state = store.load(session).expect("a session").state;
    let said = state.entries.values().filter_map(|entry| match &entry.kind {
        EntryKind::Message(message) if message.role == Role::User => Some(message.text()),
        EntryKind::Message(_) | EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
    });
    said.collect()
}

fn id(session: &Value) -> String {
    session["id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_conversation_with_a_started_runtime_is_kept_found_and_gone_on_with() {
    for dialect in STARTED {
        let shell = Shell::new();
        shell.attach(dialect, &[], "think about lanterns");
        let kept = shell.only();
        let id = id(&kept);
        assert_eq!(kept["origin"]["dialect"], *dialect, "{kept:#}");
        let words = &kept["origin"]["place"]["command"]["words"];
        assert_eq!(words[3], "serve", "{kept:#}");
        assert!(!kept["title"].as_str().unwrap_or_default().is_empty());
        assert!(
            shell.says(&["sessions"]).contains(&format!("[{dialect}] think about lanterns")),
            "{dialect}"
        );
        let shown = shell.says(&["sessions", "show", &id]);
        assert!(shown.contains("serve --dialect") && shown.contains("think about lanterns"), "{shown}");
        assert!(shell.says(&["sessions", "search", "lant"]).contains("about lanterns"), "{dialect}");
        assert!(shell.says(&["sessions", "export", &id]).starts_with("# think about lanterns"), "{dialect}");
        let before = shell.told_there();
        // From another folder: what it is and where it runs is shown, and it runs where it ran.
        let (_, error) = shell.says_in("other", &["--resume", &id, "run", "think about owls"]);
        assert!(error.contains("starting /usr/bin/env") && error.contains("/work)"), "{dialect}: {error}");
        let after = shell.only();
        assert_eq!(after["id"], kept["id"], "{dialect}");
        assert_eq!(shell.prompts(&id), ["think about lanterns", "think about owls"], "{dialect}");
        let there = shell.told_there();
        match after["origin"]["session"].as_str() {
            Some(_) => {
                assert_eq!(there.len(), before.len(), "{dialect}: the runtime went on with its own session");
                assert!(there.iter().any(|said| said.len() == 2), "{dialect}: {there:?}");
            }
            None => {
                let shown = shell.says(&["sessions", "show", "--all", &id]);
                assert!(shown.contains("starts over and knows nothing"), "{dialect}: {shown}");
            }
        }
        shell.says(&["--continue", "run", "think about foxes"]);
        assert_eq!(shell.prompts(&id).len(), 3, "{dialect}: --continue does the same");
    }
}

#[test]
fn the_same_session_attached_again_is_the_same_kept_session() {
    for dialect in ["codelia", "lemon", "openagent"] {
        let shell = Shell::new();
        shell.attach(dialect, &[], "think about lanterns");
        let kept = shell.only();
        let Some(there) = kept["origin"]["session"].as_str() else {
            continue;
        };
        shell.attach(dialect, &["--session", there], "think about owls");
        assert_eq!(shell.only()["id"], kept["id"], "{dialect}");
        assert_eq!(shell.prompts(&id(&kept)), ["think about lanterns", "think about owls"], "{dialect}");
        shell.attach(dialect, &[], "think about foxes");
        assert_eq!(shell.list().len(), 2, "{dialect}: another session is another");
    }
}

#[test]
fn with_ephemeral_nothing_of_it_stays() {
    let shell = Shell::new();
    shell.attach("codelia", &["--ephemeral"], "think about lanterns");
    assert!(!shell.path("data").join("sessions.db").exists());
    assert!(!shell.path("data").join("attached").exists());
}

/// A runtime on a socket, ended with the test.
struct Served {
    child: Child,
    socket: String,
}

impl Served {
    fn new(shell: &Shell, dialect: &str) -> Served {
        let socket = shell.path("far.sock").display().to_string();
        let mut command = shell.command("work", &["serve", "--dialect", dialect, "--socket", &socket]);
        let child = command.env("PARLOR_DATA_DIR", shell.path("theirs")).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
        loop {
            let line = lines.next().expect("it listens").expect("text");
            if line.starts_with("serving") {
                break;
            }
        }
        std::thread::spawn(move || lines.for_each(drop));
        Served { child, socket }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_runtime_behind_a_socket_is_found_again_and_its_session_is_one() {
    let shell = Shell::new();
    let served = Served::new(&shell, "nous");
    let attach = |prompt: &str| {
        shell.says(&["attach", "--dialect", "nous", "--socket", &served.socket, "--prompt", prompt]);
    };
    attach("think about lanterns");
    attach("think about owls");
    let kept = shell.only();
    let id = id(&kept);
    assert_eq!(kept["origin"]["place"]["socket"]["path"], served.socket.as_str(), "{kept:#}");
    let (_, error) = shell.says_in("other", &["--resume", &id, "run", "think about foxes"]);
    assert!(error.contains("connecting to"), "{error}");
    assert_eq!(shell.prompts(&id), ["think about lanterns", "think about owls", "think about foxes"]);
    drop(served);
    assert!(shell.refuses(&["--resume", &id, "run", "hi"]).contains("far.sock"), "the dead are named");
    assert_eq!(shell.prompts(&id).len(), 3, "and what is kept is still there");
}

#[test]
fn a_prompt_tells_its_own_answer_and_nothing_of_the_past() {
    for dialect in STARTED.iter().filter(|dialect| **dialect != "asst") {
        let shell = Shell::new();
        shell.attach(dialect, &["--ephemeral"], "say FIRST");
        let store = SqliteStore::to_read(&shell.path("theirs")).expect("a store");
        let theirs = store.list(&store::Listing::default()).expect("sessions")[0].id.to_string();
        for more in [["--session", &theirs, "--ephemeral"].as_slice(), &["--session", &theirs]] {
            for word in ["SECOND", "THIRD"] {
                let said = shell.attach(dialect, more, &format!("say {word}"));
                assert_eq!(said.trim(), word, "{dialect} {more:?}");
            }
        }
    }
    let shell = Shell::new();
    let served = Served::new(&shell, "nous");
    for word in ["FIRST", "SECOND", "THIRD"] {
        let prompt = format!("say {word}");
        let args =
            ["attach", "--ephemeral", "--dialect", "nous", "--socket", &served.socket, "--prompt", &prompt];
        assert_eq!(shell.says(&args).trim(), word);
    }
}

/// Starts a long run and gives it back once something of its answer was told.
fn counting(command: &mut Command) -> Child {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
    let mut pieces = 0;
    while pieces < 5 {
        let line = lines.next().expect("it goes on").expect("text");
        pieces += usize::from(line.contains("delta"));
    }
    std::thread::spawn(move || lines.for_each(drop));
    child
}

#[test]
fn a_killed_parlor_leaves_the_conversation_and_it_goes_on() {
    let shell = Shell::new();
    let runtime = shell.runtime("codelia");
    let mut args = vec!["attach", "--dialect", "codelia", "--json", "--prompt", "count to 200 slowly", "--"];
    args.extend(runtime.iter().map(String::as_str));
    let mut child = counting(&mut shell.command("work", &args));
    child.kill().expect("it is killed");
    child.wait().expect("it is gone");
    let kept = shell.only();
    assert_eq!(kept["running"], false, "nobody runs it: {kept:#}");
    let id = id(&kept);
    assert_eq!(shell.prompts(&id), ["count to 200 slowly"]);
    shell.says(&["--resume", &id, "run", "think about owls"]);
    assert_eq!(shell.prompts(&id), ["count to 200 slowly", "think about owls"]);
    assert_eq!(shell.only()["id"], kept["id"]);
}

#[test]
fn two_who_follow_one_session_at_once_keep_it_once() {
    let shell = Shell::new();
    let served = Served::new(&shell, "nous");
    shell.says(&["attach", "--dialect", "nous", "--socket", &served.socket, "--prompt", "think about owls"]);
    let kept = shell.only();
    let args = [
        "attach",
        "--dialect",
        "nous",
        "--socket",
        &served.socket,
        "--json",
        "--prompt",
        "count to 200 slowly",
    ];
    let mut first = counting(&mut shell.command("work", &args));
    let second = [
        "attach",
        "--dialect",
        "nous",
        "--socket",
        &served.socket,
        "--timeout",
        "20",
        "--prompt",
        "think about foxes",
    ];
    let second = shell.type_in("work", &second);
    let error = String::from_utf8_lossy(&second.stderr);
    assert!(error.contains("not kept here") && error.contains("another program"), "{error}");
    let refused = shell.refuses(&["--resume", &id(&kept), "run", "hi"]);
    assert!(refused.contains("is open in another program"), "{refused}");
    first.kill().expect("it is ended");
    first.wait().expect("it is gone");
    assert_eq!(shell.only()["id"], kept["id"]);
}

#[test]
fn a_command_that_came_from_elsewhere_is_not_started_unasked() {
    let shell = Shell::new();
    shell.attach("codelia", &[], "think about lanterns");
    let (file, id) = (shell.path("backup.db").display().to_string(), id(&shell.only()));
    shell.says(&["sessions", "backup", &file]);
    let jsonl = shell.path("a.jsonl").display().to_string();
    shell.says(&["sessions", "export", &id, "-o", &jsonl]);
    std::fs::remove_dir_all(shell.path("data")).expect("another machine");
    shell.says(&["sessions", "recover", &file]);
    let refused = shell.refuses(&["--resume", &id, "run", "hi"]);
    assert!(refused.contains("starting /usr/bin/env") && refused.contains("never typed here"), "{refused}");
    assert_eq!(shell.prompts(&id).len(), 1, "nothing was said");
    // A file may not even name one.
    let report: Value =
        serde_json::from_str(&shell.says(&["sessions", "import", &jsonl, "--json"])).expect("JSON");
    let imported = report["session"].as_str().expect("an id").to_owned();
    let listed = shell.list();
    let imported = listed.iter().find(|session| session["id"] == imported.as_str()).expect("it is there");
    assert_eq!(imported.get("origin"), None, "{imported:#}");
    // Typed here once, it is known.
    shell.attach("codelia", &[], "think about owls");
    shell.says(&["--resume", &id, "run", "think about foxes"]);
}

#[test]
fn a_command_with_a_key_is_kept_without_it_and_told_how_to_start_it() {
    let shell = Shell::new();
    let mut runtime = shell.runtime("codelia");
    runtime.insert(1, "OPENAI_API_KEY=hunter2hunter2".to_owned());
    // The key would make the runtime choose a model that nobody can reach here.
    runtime.extend(["--model".to_owned(), "offline/offline".to_owned()]);
    let mut args = vec!["attach", "--dialect", "codelia", "--prompt", "think about lanterns", "--"];
    args.extend(runtime.iter().map(String::as_str));
    shell.says(&args);
    let id = id(&shell.only());
    for file in std::fs::read_dir(shell.path("data")).expect("the data") {
        let bytes = std::fs::read(file.expect("a file").path()).unwrap_or_default();
        assert!(!bytes.windows(14).any(|window| window == b"hunter2hunter2"), "a key was kept");
    }
    let refused = shell.refuses(&["--resume", &id, "run", "hi"]);
    assert!(refused.contains("parlor attach --dialect codelia --session"), "{refused}");
}

#[test]
fn our_own_agent_is_not_given_the_conversation_of_another() {
    let shell = Shell::new();
    shell.attach("codelia", &[], "think about lanterns");
    let id = id(&shell.only());
    let refused = shell.refuses(&["--resume", &id, "--model", "offline/offline", "run", "hi"]);
    assert!(refused.contains("--model cannot be honoured here"), "{refused}");
    let folder = shell.path("work");
    std::fs::rename(&folder, shell.path("moved")).expect("the folder is gone");
    let output = shell.type_in("other", &["--resume", &id, "run", "hi"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("is gone, the folder in which"), "{error}");
}
