//! The built program in front of runtimes with rules of their own, on every wire: the screen says nothing that they do not keep, read-only
//! denies what they ask for, and one that acts without asking hears nothing where consent is required.

use crate::task::{PATIENCE, Project};
use dialects::Dialect;
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;
use testkit::Screen;

/// What the offline model does when it is told to, and the file that is there then.
const WRITE: &str = "write made.txt: hi";
const MADE: &str = "work/made.txt";

/// A runtime of this wire, started by who attaches to it or listening already.
struct Runtime {
    project: Project,
    dialect: Dialect,
    args: Vec<String>,
    /// Listens where a wire needs sockets.
    child: Option<Child>,
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Runtime {
    fn new(dialect: Dialect, with: &[&str]) -> Runtime {
        let project = Project::new();
        let mut args: Vec<String> =
            ["serve", "--dialect", dialect.name(), "--model", "offline/offline"].map(str::to_owned).to_vec();
        args.extend(with.iter().map(|arg| (*arg).to_owned()));
        let mut child = None;
        if dialect.has_event_lane() {
            let socket = project.path("s");
            args.extend(["--socket".to_owned(), socket.display().to_string()]);
            let words: Vec<&str> = args.iter().map(String::as_str).collect();
            let mut command = project.bare(&words);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            child = Some(command.spawn().unwrap());
            let end = Instant::now() + PATIENCE;
            while !socket.exists() {
                assert!(Instant::now() < end, "{dialect}: it does not listen");
                std::thread::yield_now();
            }
        } else {
            args.push("--stdio".to_owned());
        }
        Runtime { project, dialect, args, child }
    }

    /// `parlor attach` on it.
    fn attach(&self, with: &[&str]) -> Command {
        let mut command = self.project.bare(&["attach", "--dialect", self.dialect.name()]);
        command.args(with);
        match &self.child {
            Some(_) => command.arg("--socket").arg(self.project.path("s")),
            None => command.arg("--").arg(env!("CARGO_BIN_EXE_parlor")).args(&self.args),
        };
        command
    }

    fn wrote(&self) -> bool {
        self.project.path(MADE).exists()
    }
}

fn foreign() -> impl Iterator<Item = Dialect> {
    dialects::ALL.iter().copied().filter(|dialect| !dialect.is_lossless())
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn nothing_on_the_screen_says_that_a_runtime_asks_which_does_not() {
    for dialect in foreign() {
        let runtime = Runtime::new(dialect, &["--policy", "full"]);
        let mut terminal = Screen::start(&mut runtime.attach(&[]));
        terminal.shows(&["its own rules"]);
        terminal.send("/policy full\r");
        terminal.send(&format!("{WRITE}\r"));
        terminal.shows(&["wrote made.txt", "its own rules"]);
        assert!(runtime.wrote(), "{dialect}");
        terminal.send("/status\r");
        terminal.shows(&["it cannot"]);
        for lie in ["asks first", "read-only ·", "policy set", "$0.0000", "tools     all"] {
            assert!(!terminal.said(lie), "{dialect}: {lie}");
        }
    }
}

#[test]
fn read_only_denies_what_is_asked_for_and_is_refused_where_nothing_is() {
    for dialect in foreign() {
        let runtime = Runtime::new(dialect, &[]);
        let said = runtime.attach(&["--policy", "read-only", "--prompt", WRITE]).output().unwrap();
        assert!(!runtime.wrote(), "{dialect}: {}", words(&said));
        if said.status.code() == Some(2) {
            assert!(words(&said).contains("act without asking"), "{dialect}: {}", words(&said));
            continue;
        }
        let mut terminal = Screen::start(&mut runtime.attach(&["--policy", "read-only"]));
        terminal.shows(&["read-only where it asks"]);
        terminal.send(&format!("{WRITE}\r"));
        terminal.shows(&["This was denied"]);
        terminal.settles();
        assert!(!runtime.wrote() && !terminal.said("y allow once"), "{dialect}");
        terminal.send("/status\r");
        terminal.shows(&["what it does unasked cannot be stopped"]);
    }
}

#[test]
fn a_flag_that_cannot_be_honoured_is_refused_before_anything_starts() {
    for dialect in foreign() {
        let project = Project::new();
        let mark = project.path("started");
        for flags in [&["--policy", "full"][..], &["--model", "a/b"], &["--fetch"]] {
            // It counts for what such a runtime has done by our hands.
            if flags[0] == "--policy" && dialect.ui_role().has_errands() {
                continue;
            }
            for (word, wire) in [("attach", "--dialect"), ("bridge", "--to")] {
                let mut command = project.bare(&[word, wire, dialect.name()]);
                if word == "bridge" {
                    command.args(["--from", "native", "--stdio"]);
                }
                command.args(flags).args(["--", "touch"]).arg(&mark).stdin(Stdio::null());
                let said = command.output().unwrap();
                assert_eq!(said.status.code(), Some(2), "{dialect} {flags:?}: {}", words(&said));
                assert!(words(&said).contains("where the runtime is started"), "{}", words(&said));
                assert!(!mark.exists(), "{dialect} {flags:?}: it was started");
            }
        }
    }
}

#[test]
fn where_consent_is_required_a_runtime_that_acts_unasked_hears_no_prompt() {
    let mut by_its_greeting = 0;
    for dialect in foreign() {
        // Some wires tell in their greeting that nobody will be asked.
        let unasking = Runtime::new(dialect, &["--option", "no-ui=true", "--policy", "full"]);
        let said = unasking.attach(&["--require-consent", "--prompt", WRITE]).output().unwrap();
        assert_ne!(said.status.code(), Some(0), "{dialect}: {}", words(&said));
        assert!(words(&said).contains("without asking"), "{dialect}: {}", words(&said));
        // One that only shows it by what it does is stopped then, with a code of its own.
        if said.status.code() != Some(3) {
            assert!(!unasking.wrote(), "{dialect}: {}", words(&said));
        }
        // The command line was sound there: only the runtime itself could tell.
        by_its_greeting += usize::from(said.status.code() == Some(1));
        let asking = Runtime::new(dialect, &[]);
        let said = asking.attach(&["--require-consent", "--prompt", "think"]).output().unwrap();
        assert!(matches!(said.status.code(), Some(0 | 2)), "{dialect}: {}", words(&said));
    }
    assert!(by_its_greeting > 0, "no runtime was refused after its greeting");
}
