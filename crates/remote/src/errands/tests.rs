//! Errands done for real: files in a workspace of their own, commands, and the questions between.

use super::*;
use domain::ask::Preview;
use domain::content::Json;
use domain::errand::{AskedCall, AskedChange, CommandEnd, CommandErrand};
use domain::ids::SessionId;
use domain::tool::Decider;
use serde_json::Value;
use std::os::unix::fs::symlink;
use tempfile::TempDir;
use tools::checkpoint::MemoryVault;

struct Bench {
    folder: TempDir,
    port: ErrandPort,
    doing: Doing,
    last: u64,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        for dir in ["work", "data"] {
            std::fs::create_dir(folder.path().join(dir)).unwrap();
        }
        std::fs::write(folder.path().join("outside"), "SECRET").unwrap();
        let root = folder.path().canonicalize().unwrap().join("work");
        let work_dir = WorkDir { cwd: root.clone(), workspace: Ok(root) };
        let (port, doing) =
            begin(&work_dir, &folder.path().join("data"), None, &[], Some(Arc::new(MemoryVault::default())))
                .unwrap();
        Bench { folder, port, doing, last: 0 }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().canonicalize().unwrap().join("work").join(name).to_str().unwrap().to_owned()
    }

    fn text(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    async fn order(&self, id: ErrandId, step: ErrandStep, policy: Policy) {
        self.port
            .orders
            .send(ErrandOrder { id, session: SessionId::parse("sess-0001"), step, policy })
            .await
            .unwrap();
    }

    async fn news(&mut self) -> (ErrandId, ErrandNews) {
        self.port.news.recv().await.unwrap()
    }

    async fn want(&mut self, errand: Errand, policy: Policy) -> (ErrandId, ErrandNews) {
        self.last += 1;
        self.order(ErrandId(self.last), ErrandStep::Wanted(errand), policy).await;
        self.news().await
    }

    /// The same without the word that it begins.
    async fn has(&mut self, errand: Errand, policy: Policy) -> ErrandNews {
        match self.want(errand, policy).await.1 {
            ErrandNews::Begins { .. } => self.news().await.1,
            news => news,
        }
    }

    fn read(&self, name: &str) -> Errand {
        Errand::Read { path: self.path(name), line: None, limit: None }
    }

    fn write(&self, name: &str, text: &str) -> Errand {
        Errand::Write { path: self.path(name), text: text.to_owned() }
    }
}

fn text(news: &ErrandNews) -> Option<&str> {
    match news {
        ErrandNews::Done { done: ErrandDone::Text(text), .. } => Some(text),
        _ => None,
    }
}

fn is_asked(news: &ErrandNews) -> bool {
    matches!(news, ErrandNews::Asks(_))
}

#[tokio::test]
async fn reads_in_the_workspace_are_free_and_elsewhere_asked_for_links_followed() {
    let mut bench = Bench::new();
    std::fs::write(bench.path("f"), "one\ntwo\nthree\n").unwrap();
    symlink("../outside", bench.path("link")).unwrap();
    for policy in [Policy::ReadOnly, Policy::Ask, Policy::AutoEdit] {
        let read = bench.read("f");
        assert_eq!(text(&bench.has(read, policy).await), Some("one\ntwo\nthree\n"), "{policy:?}");
    }
    let part = Errand::Read { path: bench.path("f"), line: Some(2), limit: Some(1) };
    assert_eq!(text(&bench.has(part, Policy::Ask).await), Some("two\n"));
    for name in ["link", "../outside"] {
        let (id, news) = bench.want(bench.read(name), Policy::Ask).await;
        assert!(is_asked(&news), "{name}: {news:?}");
        bench.order(id, ErrandStep::Allowed(Scope::Once), Policy::Ask).await;
        assert_eq!(text(&bench.news().await.1), Some("SECRET"), "{name}");
    }
    let missing = bench.has(bench.read("none"), Policy::Ask).await;
    assert!(matches!(missing, ErrandNews::Refused { cause: ErrandCause::Missing, .. }), "{missing:?}");
}

#[tokio::test]
async fn writes_go_by_the_mode_with_a_diff() {
    let mut bench = Bench::new();
    std::fs::write(bench.path("f"), "old\n").unwrap();
    let write = bench.write("f", "new\n");
    let denied = bench.has(write.clone(), Policy::ReadOnly).await;
    assert!(matches!(denied, ErrandNews::Refused { cause: ErrandCause::Mode, .. }), "{denied:?}");
    let (id, asked) = bench.want(write.clone(), Policy::Ask).await;
    let ErrandNews::Asks(consent) = asked else { panic!("{asked:?}") };
    assert_eq!(consent.name, "write");
    assert!(
        matches!(&consent.preview, Some(Preview::Diff { text, .. }) if text.contains("-old") && text.contains("+new"))
    );
    assert_eq!(bench.text("f").as_deref(), Some("old\n"), "nothing happens before the answer");
    bench.order(id, ErrandStep::Allowed(Scope::Once), Policy::Ask).await;
    let done = bench.news().await.1;
    assert!(matches!(done, ErrandNews::Done { done: ErrandDone::Nothing, seen: Some(_) }), "{done:?}");
    assert_eq!(bench.text("f").as_deref(), Some("new\n"));
    // Once is once.
    assert!(is_asked(&bench.want(bench.write("f", "again\n"), Policy::Ask).await.1));
    let (_, begins) = bench.want(bench.write("sub/g", "made\n"), Policy::AutoEdit).await;
    assert!(matches!(&begins, ErrandNews::Begins { name, .. } if name == "write"), "{begins:?}");
    assert!(matches!(bench.news().await.1, ErrandNews::Done { .. }));
    assert_eq!(bench.text("sub/g").as_deref(), Some("made\n"));
}

#[tokio::test]
async fn steering_files_and_what_lies_outside_are_asked_for_in_every_mode() {
    let mut bench = Bench::new();
    symlink("../elsewhere", bench.path("way-out")).unwrap();
    symlink("AGENTS.md", bench.path("innocent.txt")).unwrap();
    for name in ["AGENTS.md", ".git/config", ".git/hooks/post-checkout", "innocent.txt", "way-out", "../new"]
    {
        for policy in [Policy::Ask, Policy::AutoEdit, Policy::Sandboxed, Policy::Full] {
            let news = bench.want(bench.write(name, "x"), policy).await.1;
            assert!(is_asked(&news), "{name} {policy:?}: {news:?}");
        }
        assert_eq!(bench.text(name), None, "{name}");
    }
}

#[tokio::test]
async fn a_no_and_a_file_that_changed_meanwhile_write_nothing() {
    let mut bench = Bench::new();
    std::fs::write(bench.path("f"), "old\n").unwrap();
    let (id, _) = bench.want(bench.write("f", "new\n"), Policy::Ask).await;
    bench.order(id, ErrandStep::Dropped, Policy::Ask).await;
    bench.order(id, ErrandStep::Allowed(Scope::Once), Policy::Ask).await;
    assert!(matches!(bench.news().await.1, ErrandNews::Refused { .. }), "a late yes does nothing");
    let (id, _) = bench.want(bench.write("f", "new\n"), Policy::Ask).await;
    std::fs::write(bench.path("f"), "another\n").unwrap();
    bench.order(id, ErrandStep::Allowed(Scope::Once), Policy::Ask).await;
    assert!(matches!(bench.news().await.1, ErrandNews::Refused { .. }));
    assert_eq!(bench.text("f").as_deref(), Some("another\n"));
    // What the runtime changed by its own hands is no reason to refuse its next write.
    let read = bench.read("f");
    assert_eq!(text(&bench.has(read, Policy::Ask).await), Some("another\n"));
    std::fs::write(bench.path("f"), "by itself\n").unwrap();
    assert!(matches!(bench.has(bench.write("f", "b\n"), Policy::AutoEdit).await, ErrandNews::Done { .. }));
}

#[tokio::test]
async fn a_yes_for_the_same_again_is_for_nothing_else() {
    let mut bench = Bench::new();
    let (id, asked) = bench.want(bench.write("a", "x"), Policy::Ask).await;
    assert!(matches!(&asked, ErrandNews::Asks(consent) if consent.rule.is_some()), "{asked:?}");
    bench.order(id, ErrandStep::Allowed(Scope::Session), Policy::Ask).await;
    assert!(matches!(bench.news().await.1, ErrandNews::Done { .. }));
    assert!(matches!(bench.has(bench.write("a", "x"), Policy::Ask).await, ErrandNews::Done { .. }));
    assert!(is_asked(&bench.has(bench.write("a", "other"), Policy::Ask).await));
    assert!(is_asked(&bench.has(bench.write("b", "x"), Policy::Ask).await));
    assert!(is_asked(&bench.has(bench.write("AGENTS.md", "x"), Policy::Ask).await));
}

fn run(command: &str, args: &[&str]) -> CommandErrand {
    let args = args.iter().map(|word| (*word).to_owned()).collect();
    CommandErrand { command: command.to_owned(), args, ..CommandErrand::default() }
}

/// Starts a command that the person is asked about, and gives its name.
async fn start(bench: &mut Bench, command: CommandErrand) -> (ErrandId, String) {
    let (id, asked) = bench.want(Errand::Start(command), Policy::Ask).await;
    assert!(is_asked(&asked), "{asked:?}");
    bench.order(id, ErrandStep::Allowed(Scope::Once), Policy::Ask).await;
    match bench.news().await.1 {
        ErrandNews::Done { done: ErrandDone::Started(name), .. } => (id, name),
        news => panic!("{news:?}"),
    }
}

/// News of another errand than the command's own end.
async fn tended(bench: &mut Bench, errand: Errand) -> ErrandNews {
    let (id, mut news) = bench.want(errand, Policy::Ask).await;
    let mut of = id;
    while matches!(news, ErrandNews::Over(_) | ErrandNews::Wrote(_)) || of.0 != bench.last {
        (of, news) = bench.news().await;
    }
    news
}

#[tokio::test]
async fn commands_are_judged_as_bash_is_and_end_with_what_they_printed() {
    let mut bench = Bench::new();
    let denied = bench.has(Errand::Start(run("touch made", &[])), Policy::ReadOnly).await;
    assert!(matches!(denied, ErrandNews::Refused { cause: ErrandCause::Mode, .. }), "{denied:?}");
    let words = ["-c", "printf 'a b'; touch \"$0\"; exit 3", "made it"];
    let (_, terminal) = start(&mut bench, run("sh", &words)).await;
    let ended = tended(&mut bench, Errand::Wait { terminal: terminal.clone() }).await;
    let end = CommandEnd::Exited(Some(3));
    assert_eq!(ended, ErrandNews::Done { done: ErrandDone::Ended(end), seen: None });
    let output = tended(&mut bench, Errand::Output { terminal: terminal.clone() }).await;
    let done = ErrandDone::Output { text: "a b".to_owned(), truncated: false, end: Some(end) };
    assert_eq!(output, ErrandNews::Done { done, seen: None });
    assert!(bench.text("made it").is_some(), "words stay words");
    let released = tended(&mut bench, Errand::Release { terminal: terminal.clone() }).await;
    assert!(matches!(released, ErrandNews::Done { done: ErrandDone::Nothing, .. }), "{released:?}");
    let gone = tended(&mut bench, Errand::Output { terminal }).await;
    assert!(matches!(gone, ErrandNews::Refused { cause: ErrandCause::Missing, .. }), "{gone:?}");
}

#[tokio::test]
async fn output_is_the_last_bytes_and_a_killed_command_can_still_be_asked_about() {
    let mut bench = Bench::new();
    let command =
        CommandErrand { output_limit: Some(4), ..run("echo 'wie schön'; touch ready; exec sleep 600", &[]) };
    let (_, terminal) = start(&mut bench, command).await;
    while bench.text("ready").is_none() {
        tokio::task::yield_now().await;
    }
    let killed = tended(&mut bench, Errand::Kill { terminal: terminal.clone() }).await;
    assert!(matches!(killed, ErrandNews::Done { done: ErrandDone::Nothing, .. }), "{killed:?}");
    let output = tended(&mut bench, Errand::Output { terminal }).await;
    let done =
        ErrandDone::Output { text: "ön\n".to_owned(), truncated: true, end: Some(CommandEnd::Stopped) };
    assert_eq!(output, ErrandNews::Done { done, seen: None });
}

#[tokio::test]
async fn what_a_command_writes_is_told_as_it_comes() {
    let mut bench = Bench::new();
    let line =
        "touch began; printf one; until test -e go; do :; done; printf ' two'; until test -e end; do :; done";
    let (id, _) = start(&mut bench, run(line, &[])).await;
    for (piece, next) in [("one", "go"), (" two", "end")] {
        assert_eq!(bench.news().await, (id, ErrandNews::Wrote(piece.to_owned())));
        std::fs::write(bench.path(next), "").unwrap();
    }
    let (of, over) = bench.news().await;
    assert!(
        of == id && matches!(&over, ErrandNews::Over(result) if result.text.starts_with("one two")),
        "{over:?}"
    );
}

#[tokio::test]
async fn everything_that_was_started_ends_with_the_hub_and_with_who_wanted_it() {
    let mut bench = Bench::new();
    let line = |name: &str| format!("echo $$ > {name}; exec sleep 600");
    let (first, _) = start(&mut bench, run(&line("first"), &[])).await;
    start(&mut bench, run(&line("second"), &[])).await;
    let mut pids = Vec::new();
    for name in ["first", "second"] {
        while !bench.text(name).is_some_and(|text| text.ends_with('\n')) {
            tokio::task::yield_now().await;
        }
        pids.push(bench.text(name).unwrap().trim().to_owned());
    }
    let lives = |pid: &str| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !status.is_empty() && !status.contains(") Z ")
    };
    bench.order(first, ErrandStep::Dropped, Policy::Ask).await;
    while lives(&pids[0]) {
        tokio::task::yield_now().await;
    }
    assert!(lives(&pids[1]));
    let Bench { port, doing, folder, .. } = bench;
    drop(port);
    doing.end().await;
    while lives(&pids[1]) {
        tokio::task::yield_now().await;
    }
    drop(folder);
}

/// What an agent asks to do by its own hands.
fn asked(command: Option<&str>, changes: Vec<AskedChange>) -> Errand {
    let command = command.map(str::to_owned);
    let args = Json::verbatim(json!({"command": command}).to_string());
    Errand::Judge(Box::new(AskedCall {
        name: "shell".to_owned(),
        args,
        command,
        cwd: None,
        changes,
        is_whole: true,
    }))
}

fn change(path: String, old: Option<&str>, new: &str) -> AskedChange {
    AskedChange { path, old: old.map(str::to_owned), new: new.to_owned() }
}

fn is_allowed(news: &ErrandNews) -> Option<&Decider> {
    match news {
        ErrandNews::Done { done: ErrandDone::Allowed(by), .. } => Some(by),
        _ => None,
    }
}

#[tokio::test]
async fn a_command_of_an_agents_own_hands_goes_by_the_rules_that_a_person_made_for_ours() {
    let mut bench = Bench::new();
    let looks = bench.has(asked(Some("ls -l"), Vec::new()), Policy::Ask).await;
    assert!(is_allowed(&looks).is_some(), "what changes nothing needs no word: {looks:?}");
    let (id, news) = bench.want(asked(Some("touch made"), Vec::new()), Policy::Ask).await;
    let ErrandNews::Asks(consent) = news else { panic!("{news:?}") };
    assert!(consent.rule.is_some() && !consent.assessment.unrated, "{consent:?}");
    bench.order(id, ErrandStep::Allowed(Scope::Always), Policy::Ask).await;
    assert!(is_allowed(&bench.news().await.1).is_some());
    assert_eq!(bench.text("made"), None, "the agent does it, not we");
    let again = bench.has(asked(Some("touch made"), Vec::new()), Policy::Ask).await;
    assert!(matches!(is_allowed(&again), Some(Decider::Rule(_))), "{again:?}");
    // The sandbox does not hold what the agent does.
    let unheld = bench.has(asked(Some("touch other; rm made"), Vec::new()), Policy::Sandboxed).await;
    assert!(is_asked(&unheld), "{unheld:?}");
    let denied = bench.has(asked(Some("touch other"), Vec::new()), Policy::ReadOnly).await;
    assert!(matches!(denied, ErrandNews::Refused { cause: ErrandCause::Mode, .. }), "{denied:?}");
}

#[tokio::test]
async fn a_change_of_an_agents_own_hands_is_bound_to_the_file_that_was_shown() {
    let mut bench = Bench::new();
    std::fs::write(bench.path("f"), "one\ntwo\n").unwrap();
    let of = |bench: &Bench| asked(None, vec![change(bench.path("f"), Some("two"), "2")]);
    let want = of(&bench);
    let (id, news) = bench.want(want, Policy::Ask).await;
    let ErrandNews::Asks(consent) = news else { panic!("{news:?}") };
    let Some(Preview::Diff { text, .. }) = &consent.preview else { panic!("{consent:?}") };
    assert!(text.contains("-two") && text.contains("+2"), "{text}");
    std::fs::write(bench.path("f"), "another\ntwo\n").unwrap();
    bench.order(id, ErrandStep::Allowed(Scope::Once), Policy::Ask).await;
    let refused = bench.news().await.1;
    assert!(matches!(refused, ErrandNews::Refused { cause: ErrandCause::Failed, .. }), "{refused:?}");
    let want = of(&bench);
    assert!(is_allowed(&bench.has(want, Policy::AutoEdit).await).is_some());
    // Where it is not sure what is changed, and where it would steer programs, a person is asked in that mode too.
    for (path, old) in
        [("f", Some("nothing of it")), (".git/hooks/pre-commit", None), ("../outside", Some("SECRET"))]
    {
        let want = asked(None, vec![change(bench.path(path), old, "x")]);
        let news = bench.has(want, Policy::AutoEdit).await;
        assert!(is_asked(&news), "{path}: {news:?}");
    }
}

#[tokio::test]
async fn what_we_do_not_know_is_covered_by_no_rule_and_the_same_again_only_by_a_yes_for_the_session() {
    let mut bench = Bench::new();
    let odd = |args: Value| {
        let args = Json::verbatim(args.to_string());
        let (name, changes) = ("shell".to_owned(), Vec::new());
        Errand::Judge(Box::new(AskedCall { name, args, command: None, cwd: None, changes, is_whole: false }))
    };
    let (id, news) = bench.want(odd(json!({"ticket": 7})), Policy::AutoEdit).await;
    let ErrandNews::Asks(consent) = news else { panic!("{news:?}") };
    assert!(consent.rule.is_none() && consent.assessment.unrated, "{consent:?}");
    bench.order(id, ErrandStep::Allowed(Scope::Session), Policy::AutoEdit).await;
    assert!(is_allowed(&bench.news().await.1).is_some());
    assert!(is_allowed(&bench.has(odd(json!({"ticket": 7})), Policy::AutoEdit).await).is_some());
    assert!(is_asked(&bench.has(odd(json!({"ticket": 8})), Policy::AutoEdit).await));
    // A call that shows nothing is never the same as another.
    let (id, _) = bench.want(odd(json!({})), Policy::Ask).await;
    bench.order(id, ErrandStep::Allowed(Scope::Session), Policy::Ask).await;
    assert!(is_allowed(&bench.news().await.1).is_some());
    assert!(is_asked(&bench.has(odd(json!({})), Policy::Ask).await));
}

#[tokio::test]
async fn what_an_agent_did_by_its_own_hands_in_a_prompt_is_taken_back_file_by_file() {
    use domain::command::{DiffSince, FilesCommand};
    let mut bench = Bench::new();
    std::fs::write(bench.path("f"), "old\n").unwrap();
    std::fs::write(bench.path("gone"), "was there\n").unwrap();
    let (before, kept) = bench.want(Errand::Before { prompt: "change it".to_owned() }, Policy::Ask).await;
    assert!(matches!(kept, ErrandNews::Done { done: ErrandDone::Nothing, .. }), "{kept:?}");
    std::fs::write(bench.path("f"), "new\n").unwrap();
    std::fs::write(bench.path("made"), "made\n").unwrap();
    std::fs::remove_file(bench.path("gone")).unwrap();
    bench.last += 1;
    let after = ErrandStep::Wanted(Errand::After { of: before });
    bench.order(ErrandId(bench.last), after, Policy::Ask).await;
    let shown = bench.has(Errand::Files(FilesCommand::Diff { since: DiffSince::Prompt }), Policy::Ask).await;
    assert!(
        matches!(&shown, ErrandNews::Done { done: ErrandDone::Files { text, noted: None }, .. } if text.contains("+new")),
        "{shown:?}"
    );
    let back = bench.has(Errand::Files(FilesCommand::Undo { leave: false }), Policy::Ask).await;
    assert!(
        matches!(&back, ErrandNews::Done { done: ErrandDone::Files { noted: Some(_), .. }, .. }),
        "{back:?}"
    );
    let text = |name: &str| bench.text(name);
    assert_eq!(
        (text("f").as_deref(), text("made"), text("gone").as_deref()),
        (Some("old\n"), None, Some("was there\n"))
    );
    let again = bench.has(Errand::Files(FilesCommand::Redo { leave: false }), Policy::Ask).await;
    assert!(matches!(&again, ErrandNews::Done { .. }), "{again:?}");
    assert_eq!(bench.text("f").as_deref(), Some("new\n"));
    let none = bench.has(Errand::Files(FilesCommand::Redo { leave: false }), Policy::Ask).await;
    assert!(matches!(none, ErrandNews::Refused { .. }), "{none:?}");
}
