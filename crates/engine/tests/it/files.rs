//! What turns do to files, taken back: by tools that write and by commands; and what is said where it cannot be.

use crate::bench::{Bench, Plan, allow, deny};
use crate::mcp::echo;
use domain::ask::{Ask, AskKind, Closing, Scope};
use domain::command::{Command, DiffSince, FilesCommand, Receipt, RefusalKind};
use domain::event::{AskEvent, Body, FILES_REDONE, FILES_UNDONE, NoteEvent, ToolEvent};
use domain::port::TurnEnd;
use domain::session::Policy;
use domain::signal::Signal;
use domain::tool::ToolOutcome;
use std::sync::{Arc, Mutex, mpsc};
use tools::checkpoint::{MemoryVault, Print, TakePrint, Vault};
use tools::policy::Allowance;
use tools::sandbox::Guard;

const SCRIPT: &str = r#"
    model tool bash {"command":"printf two > a; rm b; mkdir -p d; printf new > d/c; chmod 755 a"}
    ---
    model text "Done."
    ---
    model tool write {"path":"e","content":"five"}
    ---
    model text "Done."
    ---
    model text "I see."
"#;

fn undo() -> Command {
    Command::Files(FilesCommand::Undo { leave: false })
}

fn redo() -> Command {
    Command::Files(FilesCommand::Redo { leave: false })
}

async fn text(bench: &mut Bench, command: Command) -> String {
    match bench.consult(command).await {
        Ok(Receipt::Files { text }) => text,
        other => panic!("{other:?}"),
    }
}

fn noted(bench: &Bench, wanted: &str) -> usize {
    bench.count(|body| matches!(body, Body::Note(NoteEvent::Noticed { code, .. }) if code == wanted))
}

#[tokio::test]
async fn what_commands_and_tools_did_is_taken_back_noted_and_told_to_the_model() {
    let mut bench = Bench::with(Plan::script(SCRIPT).policy(Policy::Full));
    bench.put("a", "one");
    bench.put("b", "two");
    assert_eq!(bench.run("first").await, TurnEnd::Done);
    assert_eq!(bench.run("second").await, TurnEnd::Done);
    assert_eq!((bench.get("a").as_deref(), bench.get("e").as_deref()), (Some("two"), Some("five")));
    let diff = |since| Command::Files(FilesCommand::Diff { since });
    let told = text(&mut bench, diff(DiffSince::Prompt)).await;
    assert!(told.contains("+five") && !told.contains("two"), "{told}");
    let told = text(&mut bench, diff(DiffSince::Start)).await;
    assert!(told.contains("+five") && told.contains("-one") && told.contains("new mode 100755"), "{told}");

    let told = text(&mut bench, undo()).await;
    assert!(told.contains("second") && told.contains("removed e"), "{told}");
    text(&mut bench, undo()).await;
    let files = ["a", "b", "d/c", "e"].map(|name| bench.get(name));
    assert_eq!(files, [Some("one".into()), Some("two".into()), None, None]);
    assert!(!bench.work().join("d").exists());
    let refused = bench.consult(undo()).await.unwrap_err();
    assert_eq!(refused.kind, RefusalKind::Invalid);
    text(&mut bench, redo()).await;
    assert_eq!((bench.get("a").as_deref(), bench.get("e")), (Some("two"), None));
    assert_eq!((noted(&bench, FILES_UNDONE), noted(&bench, FILES_REDONE)), (2, 1));
    assert!(bench.state.context_path().len() == 6, "notices are no part of what the model reads");

    bench.run("third").await;
    let notes = bench.notes();
    let seen = notes.last().unwrap();
    assert!(!bench.system().contains("took back"), "{}", bench.system());
    assert!(seen.contains("took back") && seen.contains("e.") && !seen.contains("d/c"), "{seen}");
}

#[tokio::test]
async fn a_file_that_the_person_changed_too_is_named_and_left() {
    let mut bench = Bench::with(Plan::script(SCRIPT).policy(Policy::Full));
    bench.put("a", "one");
    bench.put("b", "two");
    bench.run("first").await;
    bench.put("a", "the person's");
    let refused = bench.consult(undo()).await.unwrap_err();
    assert!(refused.kind == RefusalKind::NotAllowed && refused.message.contains("a ("), "{refused}");
    assert_eq!((bench.get("a").as_deref(), bench.get("b")), (Some("the person's"), None));
    assert_eq!(noted(&bench, FILES_UNDONE), 0);
    let told = text(&mut bench, Command::Files(FilesCommand::Undo { leave: true })).await;
    assert!(told.contains("left as it is: a"), "{told}");
    assert_eq!((bench.get("a").as_deref(), bench.get("b").as_deref()), (Some("the person's"), Some("two")));
}

/// A vault whose disk is full, or has room for contents of so many bytes.
#[derive(Debug, Default)]
struct FullVault(MemoryVault, usize);

impl Vault for FullVault {
    fn keep(&self, contents: Vec<(String, Vec<u8>)>) -> Result<(), String> {
        match self.1 > 0 && contents.iter().all(|(_, content)| content.len() <= self.1) {
            true => self.0.keep(contents),
            false => Err("no space left".to_owned()),
        }
    }
    fn content(&self, digest: &str) -> Result<Option<Vec<u8>>, String> {
        self.0.content(digest)
    }
    fn prints(&self, root: &[u8], take: TakePrint<'_>) -> Result<(), String> {
        self.0.prints(root, take)
    }
    fn set_prints(&self, root: &[u8], seen: Vec<Print>, gone: Vec<Vec<u8>>) -> Result<(), String> {
        self.0.set_prints(root, seen, gone)
    }
    fn steps(&self, session: &str) -> Result<Vec<String>, String> {
        self.0.steps(session)
    }
    fn put_step(&self, session: &str, name: &str, step: &str, uses: &[&str]) -> Result<(), String> {
        self.0.put_step(session, name, step, uses)
    }
}

fn says_so(signal: &Signal) -> bool {
    matches!(signal, Signal::Status { text: Some(text), .. } if text.contains("cannot be undone"))
}

#[tokio::test]
async fn where_a_command_cannot_be_undone_that_is_said_before_it_is_asked_for() {
    let plan = Plan { vault: Some(Arc::new(FullVault::default())), ..Plan::script(SCRIPT) };
    let mut bench = Bench::with(plan);
    bench.put("a", "one");
    bench.closings = vec![deny(None)];
    bench.run("first").await;
    assert_eq!(bench.count(|body| matches!(body, Body::Tool(ToolEvent::Started { .. }))), 0);
    assert_eq!(bench.signals.iter().filter(|signal| says_so(signal)).count(), 1, "{:?}", bench.signals);
    assert_eq!(bench.get("a").as_deref(), Some("one"));
}

#[tokio::test]
async fn a_command_that_can_be_undone_says_nothing_and_runs_all_the_same_where_it_cannot() {
    let mut bench = Bench::new(SCRIPT);
    bench.closings = vec![allow(Scope::Once)];
    bench.run("first").await;
    assert!(!bench.signals.iter().any(says_so), "{:?}", bench.signals);
    let plan = Plan { vault: Some(Arc::new(FullVault::default())), ..Plan::script(SCRIPT) };
    let mut bench = Bench::with(plan.policy(Policy::Full));
    bench.put("a", "one");
    bench.run("first").await;
    assert_eq!(bench.get("a").as_deref(), Some("two"));
    let told = text(&mut bench, undo()).await;
    assert!(told.contains("what its commands did"), "{told}");
    assert_eq!(bench.get("a").as_deref(), Some("two"));
}

#[tokio::test]
async fn that_a_command_cannot_be_undone_is_said_when_it_is_over_where_it_comes_out_then() {
    let vault = FullVault(MemoryVault::default(), 3);
    let plan = Plan { vault: Some(Arc::new(vault)), ..Plan::script(GROWING) };
    let mut bench = Bench::with(plan.policy(Policy::Full));
    bench.put("a", "one");
    bench.run("first").await;
    assert_eq!(noted(&bench, "cannot_undo"), 1);
    assert!(bench.signals.iter().any(says_so), "{:?}", bench.signals);
}

const GROWING: &str = r#"
    model tool bash {"command":"printf 'much more' > a"}
    ---
    model text "Done."
"#;

const LOSING: &str = r#"
    model tool bash {"command":"rm a"}
    ---
    model text "Done."
    ---
    model tool bash {"command":"rm b"}
    model tool bash {"command":"rm c"}
    ---
    model text "Done."
"#;

/// A bench in mode `sandboxed` with three files that undo cannot keep, and with nobody to ask.
fn unkept(plan: Plan) -> Bench {
    let plan = Plan { vault: Some(Arc::new(FullVault::default())), ..plan };
    let mut bench = Bench::with(plan.policy(Policy::Sandboxed).guard(Guard::new(&echo(), &["__guard"])));
    for name in ["a", "b", "c"] {
        bench.put(name, name);
    }
    bench.closings = vec![Closing::Unattended; 3];
    bench
}

fn reasons(bench: &Bench) -> Vec<Vec<String>> {
    let asked = bench.events.iter().filter_map(|event| match &event.body {
        Body::Ask(AskEvent::Opened(Ask { kind: AskKind::Consent(consent), .. })) => {
            Some(consent.assessment.reasons.clone())
        }
        _ => None,
    });
    asked.collect()
}

fn left(bench: &Bench) -> Vec<&'static str> {
    ["a", "b", "c"].into_iter().filter(|name| bench.get(name).is_some()).collect()
}

#[tokio::test]
async fn in_mode_sandboxed_a_command_that_neither_undo_nor_git_takes_back_is_asked_about() {
    let mut bench = unkept(Plan::script(LOSING));
    bench.run("first").await;
    bench.run("second").await;
    let asked = reasons(&bench);
    assert_eq!((asked.len(), left(&bench)), (3, vec!["a", "b", "c"]));
    for reasons in asked {
        assert!(
            reasons[0].starts_with("cannot be undone: ") && reasons[0].contains("no space"),
            "{reasons:?}"
        );
    }
    for (_, outcome, text) in bench.outcomes() {
        assert_eq!(outcome, ToolOutcome::Denied);
        assert!(text.contains("cannot be undone (") && text.contains("nobody could be asked"), "{text}");
    }
}

#[tokio::test]
async fn a_repository_of_its_own_or_a_rule_lets_such_a_command_run_unasked() {
    if tools::sandbox::status().can_hold().is_err() {
        // Then this mode asks like `ask`.
        return;
    }
    let with_git = unkept(Plan::script(LOSING));
    with_git.put(".git/HEAD", "ref: refs/heads/main\n");
    let with_rule = unkept(Plan::script(LOSING).allow(vec![Allowance::Tool("bash".to_owned())]));
    for mut bench in [with_git, with_rule] {
        bench.run("first").await;
        bench.run("second").await;
        assert_eq!((reasons(&bench).len(), left(&bench)), (0, vec![]), "{:?}", bench.outcomes());
    }
}

#[tokio::test]
async fn that_commands_cannot_be_undone_stands_in_the_conversation_once_and_before_the_first() {
    let mut bench = unkept(Plan::script(LOSING));
    bench.run("first").await;
    bench.run("second").await;
    assert_eq!(noted(&bench, "cannot_undo"), 1);
    let place = |wanted: fn(&Body) -> bool| bench.events.iter().position(|event| wanted(&event.body));
    let told = place(|body| matches!(body, Body::Note(NoteEvent::Noticed { .. }))).unwrap();
    assert!(told < place(|body| matches!(body, Body::Ask(AskEvent::Opened(_)))).unwrap());
    let Body::Note(NoteEvent::Noticed { text, parent, .. }) = &bench.events[told].body else { panic!() };
    assert!(text.contains("cannot be undone: ") && text.contains("no space left"), "{text}");
    let said = place(|body| matches!(body, Body::Message(_))).unwrap();
    assert!(said < told && parent.is_some(), "it stands behind what was said");
}

const IN_THE_BACKGROUND: &str = r#"
    model tool bash {"command":"while [ ! -e go ]; do sleep 0.05; done; printf late > late","background":true}
    ---
    model tool write {"path":"e","content":"five"}
    ---
    model text "It goes on."
"#;

#[tokio::test]
async fn what_a_command_in_the_background_does_later_is_left_and_the_undo_says_so() {
    let mut bench = Bench::with(Plan::script(IN_THE_BACKGROUND).policy(Policy::Full));
    assert_eq!(bench.run("watch it").await, TurnEnd::Done);
    bench.put("go", "");
    while bench.get("late").as_deref() != Some("late") {
        tokio::task::yield_now().await;
    }
    let told = text(&mut bench, undo()).await;
    assert!(told.contains("removed e"), "{told}");
    assert!(
        told.contains("left as it is: what commands in the background did later (nobody can tell"),
        "{told}"
    );
    assert_eq!((bench.get("e"), bench.get("late").as_deref()), (None, Some("late")));
}

/// A vault that says what was last seen of a workspace only when it is told to.
#[derive(Debug)]
struct SlowVault(MemoryVault, Mutex<mpsc::Receiver<()>>);

impl Vault for SlowVault {
    fn keep(&self, contents: Vec<(String, Vec<u8>)>) -> Result<(), String> {
        self.0.keep(contents)
    }
    fn content(&self, digest: &str) -> Result<Option<Vec<u8>>, String> {
        self.0.content(digest)
    }
    fn prints(&self, root: &[u8], take: TakePrint<'_>) -> Result<(), String> {
        let _ = self.1.lock().unwrap().recv();
        self.0.prints(root, take)
    }
    fn set_prints(&self, root: &[u8], seen: Vec<Print>, gone: Vec<Vec<u8>>) -> Result<(), String> {
        self.0.set_prints(root, seen, gone)
    }
    fn steps(&self, session: &str) -> Result<Vec<String>, String> {
        self.0.steps(session)
    }
    fn put_step(&self, session: &str, name: &str, step: &str, uses: &[&str]) -> Result<(), String> {
        self.0.put_step(session, name, step, uses)
    }
}

#[tokio::test]
async fn a_look_at_the_files_that_takes_long_is_told_while_it_lasts() {
    let (go_on, told) = mpsc::sync_channel(1);
    let vault = SlowVault(MemoryVault::default(), Mutex::new(told));
    let plan = Plan { vault: Some(Arc::new(vault)), ..Plan::script(SCRIPT) };
    let mut bench = Bench::with(plan.policy(Policy::Full));
    let words = |bench: &Bench| -> Vec<Option<String>> {
        let working = bench.signals.iter().filter_map(|signal| match signal {
            Signal::Working(words) => Some(words.clone()),
            _ => None,
        });
        working.collect()
    };
    bench.prompt("first").await;
    bench.until_signal(|signal| matches!(signal, Signal::Working(_))).await;
    assert!(words(&bench)[0].as_deref().unwrap().contains("keeping the files' state"), "{:?}", words(&bench));
    assert_eq!(bench.count(|body| matches!(body, Body::Tool(ToolEvent::Started { .. }))), 0);
    // From here on it takes no time: nobody waits for a channel that is gone.
    drop(go_on);
    assert_eq!(bench.finish().await, TurnEnd::Done);
    assert_eq!(words(&bench).last(), Some(&None), "and is not told any more");
}
