//! Sessions from a person's side: the commands of `parlor sessions` as they are typed, and what a UI can do with a session.

use crate::bench::{self, Script};
use domain::command::{
    Command, ExportFormat, LibraryCommand, PromptOptions, Receipt, Refusal, RefusalKind, RunCommand,
    SessionCommand, Target,
};
use domain::content::{Input, Role};
use domain::event::{Body, RunEvent};
use domain::ids::SessionId;
use domain::port::{News, Ticket};
use domain::session::Policy;
use domain::state::{EntryKind, State};
use hub::LocalUi;
use hub::core::Standing;
use models::scripted::Scripted;
use roles::Answers;
use serde_json::Value;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use store::{SqliteStore, Store};

/// A person at a shell, with a project and a place for data.
struct Shell {
    home: tempfile::TempDir,
}

impl Shell {
    fn new() -> Shell {
        let home = tempfile::tempdir().expect("a home");
        for name in ["work", "other"] {
            std::fs::create_dir(home.path().join(name)).expect("a project");
        }
        Shell { home }
    }

    fn path(&self, name: &str) -> String {
        self.home.path().join(name).display().to_string()
    }

    fn type_in(&self, place: &str, args: &[&str]) -> Output {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_parlor"));
        command.args(args).current_dir(self.home.path().join(place)).stdin(std::process::Stdio::null());
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("PARLOR_DATA_DIR", self.home.path().join("data"));
        testkit::ask_offline(&mut command);
        command.output().expect("it starts")
    }

    fn says(&self, args: &[&str]) -> String {
        let output = self.type_in("work", args);
        let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{args:?}: {out}{error}");
        out.into_owned()
    }

    fn refuses(&self, args: &[&str]) -> String {
        let output = self.type_in("work", args);
        assert!(!output.status.success(), "{args:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    fn list(&self) -> Vec<Value> {
        serde_json::from_str(&self.says(&["sessions", "list", "--json"])).expect("JSON")
    }
}

#[test]
fn conversations_are_listed_shown_carried_and_removed() {
    let shell = Shell::new();
    assert!(shell.says(&["sessions"]).contains("No conversation"));
    assert!(shell.refuses(&["--continue", "run", "think"]).contains("no conversation"));
    shell.says(&["run", "list files"]);
    shell.says(&["--continue", "run", "think about lanterns"]);
    shell.type_in("other", &["run", "list files"]);
    let listed = shell.list();
    assert_eq!(listed.len(), 1, "the other project has its own");
    let id = listed[0]["id"].as_str().expect("an id").to_owned();
    let table = shell.says(&["sessions", "list", "--all"]);
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(!table.contains('\u{1b}'), "colours only on a terminal");
    let short = &id[5..14];
    assert!(shell.says(&["sessions", "show", short]).contains("think about lanterns"));
    assert!(shell.says(&["sessions", "tree", short]).contains("← here"));
    assert!(shell.says(&["sessions", "search", "lant"]).contains("about lanterns"));
    let found: Value =
        serde_json::from_str(&shell.says(&["sessions", "search", "lant", "--json"])).expect("JSON");
    assert_eq!(found[0]["session"], id.as_str());
    for (name, begins) in
        [("a.md", "# list files"), ("a.html", "<!doctype html>"), ("a.jsonl", "{\"format\"")]
    {
        let file = shell.path(name);
        shell.says(&["sessions", "export", short, "-o", &file]);
        assert!(std::fs::read_to_string(&file).expect("a file").starts_with(begins));
        assert!(shell.refuses(&["sessions", "export", short, "-o", &file]).contains("--force"));
    }
    let report = shell.says(&["sessions", "import", &shell.path("a.jsonl"), "--json"]);
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let twin = report["session"].as_str().expect("an id").to_owned();
    assert!(twin != id && report["missing"] == 0);
    assert_eq!(shell.says(&["sessions", "export", &twin]), shell.says(&["sessions", "export", &id]));
    shell.says(&["sessions", "rename", &twin, "a", "better", "name"]);
    assert!(shell.says(&["sessions"]).contains("a better name"));
    assert!(shell.refuses(&["sessions", "rm", &twin]).contains("--yes"));
    shell.says(&["sessions", "rm", "-y", &twin]);
    assert_eq!(shell.list().len(), 1);
    assert!(shell.refuses(&["--resume", &twin, "run", "think"]).contains("no conversation"));
    shell.says(&["--resume", short, "run", "think"]);
    assert_eq!(shell.list()[0]["messages"], 7);
}

fn runtime(script: &str, place: &Path) -> hub::Hub {
    let store = SqliteStore::at(&place.join("data")).expect("a store");
    let script = Arc::new(Scripted::parse(script).expect("the model's script"));
    parlor::stack::assemble_in(
        Arc::new(Script(script)),
        Box::new(store),
        place,
        &place.join("data"),
        Policy::default(),
        Arc::new(|_| {}),
    )
}

/// A UI that waits for what it asked for.
struct Ui {
    ui: LocalUi,
    state: State,
    ticket: u64,
}

impl Ui {
    async fn news(&mut self) -> Option<(Ticket, Result<Receipt, Refusal>)> {
        match self.ui.news.recv().await.expect("the hub runs") {
            News::Attached { replay, .. } => {
                self.state = State::new();
                for (at, body) in replay {
                    self.state.apply(at, &body).expect("a replay applies");
                }
            }
            News::Happened { event, .. } => self.state.follow(&event).expect("it fits"),
            News::Settled { ticket, with } => return Some((ticket, with)),
            News::Signal { .. } | News::Link(_) => {}
        }
        None
    }

    async fn command(&mut self, command: Command) -> Result<Receipt, Refusal> {
        self.ticket += 1;
        let ticket = Ticket(self.ticket);
        self.ui.port.command(ticket, Target::Current, command).await.expect("the hub runs");
        loop {
            if let Some((settled, with)) = self.news().await
                && settled == ticket
            {
                return with;
            }
        }
    }

    async fn prompt(&mut self, text: &str) {
        let prompt =
            Command::Run(RunCommand::Prompt { input: Input::text(text), options: PromptOptions::default() });
        let runs = self.state.runs.len();
        self.command(prompt).await.expect("a run");
        while self.state.runs.len() == runs || self.state.open_run().is_some() {
            self.news().await;
        }
    }
}

/// What was said in a session, without what only the agent reads.
fn said(state: &State) -> Vec<String> {
    let entry = |(id, entry): (&domain::ids::EntryId, &Arc<domain::state::Entry>)| match &entry.kind {
        EntryKind::Message(message) => {
            let parts: Vec<_> = message.parts.iter().filter(|part| !part.is_private()).collect();
            format!("{id:?} {:?} {:?} {:?} {parts:?}", entry.parent, entry.at, message.role)
        }
        _ => format!("{id:?} {entry:?}"),
    };
    state.entries.iter().map(entry).collect()
}

async fn lasting() {
    let place = bench::workplace();
    let hub = runtime("model text \"one\"\nmodel step\nmodel text \"two\"\n", place.path());
    let session = SessionId::from_number(1);
    let ui = hub.attach("test", Standing::Controller, Answers::ALL, None).await.expect("the hub runs");
    let mut talk = Ui { ui, state: State::new(), ticket: 0 };
    let new = Command::Library(LibraryCommand::New { cwd: None, title: None, id: Some(session.clone()) });
    talk.command(new).await.expect("a session");
    talk.prompt("first").await;
    talk.command(Command::Session(SessionCommand::Clear)).await.expect("cleared");
    assert!(talk.state.path().is_empty(), "a new branch");
    assert!(talk.state.entries.len() >= 2, "nothing is destroyed");
    talk.prompt("second").await;

    let history = Command::Library(LibraryCommand::History {
        session: session.clone(),
        max_runs: 1,
        max_events: 1_000,
    });
    let Ok(Receipt::History(history)) = talk.command(history).await else { panic!("a history") };
    assert!(history.truncated && history.runs == 1);
    assert!(matches!(history.events[0].body, Body::Run(RunEvent::Started { .. })));
    let Ok(Receipt::Stats(stats)) = talk.command(Command::Session(SessionCommand::Stats)).await else {
        panic!("numbers")
    };
    assert_eq!((stats.runs, stats.messages), (2, 4));

    for format in [ExportFormat::Markdown, ExportFormat::Html, ExportFormat::Jsonl] {
        let export = Command::Library(LibraryCommand::Export { session: None, format });
        let Ok(Receipt::Exported { text, .. }) = talk.command(export).await else { panic!("a text") };
        assert!(text.contains("second"));
    }
    let save =
        |path: &str| Command::Library(LibraryCommand::Save { path: Some(path.to_owned()), history: true });
    let Ok(Receipt::Saved { path, size }) = talk.command(save("kept.json")).await else { panic!("saved") };
    assert_eq!(std::fs::metadata(&path).expect("a file").len(), size);
    let again = talk.command(save("kept.json")).await;
    assert!(matches!(again, Ok(Receipt::Saved { .. })), "{again:?}");
    assert!(std::fs::metadata(format!("{path}.bak")).is_ok(), "what was there stays beside it");
    assert_eq!(
        talk.command(save("/etc/kept.json")).await.expect_err("outside").kind,
        RefusalKind::NotAllowed
    );
    let before = talk.state.clone();
    let Ok(Receipt::Session { session: loaded, .. }) =
        talk.command(Command::Library(LibraryCommand::Load { path })).await
    else {
        panic!("loaded")
    };
    // It says what the session says, so it leads back to it.
    assert_eq!(loaded.id, session);
    // What only the agent reads stays with it: a file has none of it.
    assert_eq!(said(&talk.state), said(&before));
    assert_eq!(talk.state.leaf, before.leaf);
    hub.stop().await;

    let mut store = SqliteStore::at(&place.path().join("data")).expect("a store");
    let kept = store.open(&session).expect("it is kept").state;
    assert_eq!(kept, before, "all branches survive");
    let prompts = kept
        .entries
        .values()
        .filter(|entry| matches!(&entry.kind, EntryKind::Message(message) if message.role == Role::User));
    assert_eq!(prompts.count(), 2);
}

#[test]
fn what_was_said_survives_clearing_and_the_program() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(lasting());
    runtime.shutdown_background();
}
