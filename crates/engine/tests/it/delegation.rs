//! Tasks for others than our own sub-agents: agents of other programs, and sub-agents in worktrees of their own.

use crate::bench::{Bench, Plan, allow, answered, put};
use domain::ask::{ActionDigest, Answer, Ask, AskKind, Assessment, Closing, Consent, Preview, Risk, Scope};
use domain::command::{Command, FilesCommand};
use domain::content::{Json, Role, TextKind};
use domain::event::{AskEvent, Body, MessageEvent, ToolEvent};
use domain::ids::{AskId, MessageId, ToolRunId};
use domain::port::TurnEnd;
use domain::session::Policy;
use domain::tool::{Progress, ToolOutcome};
use engine::{
    Config, Delegation, OTHER_NEWS, OtherAgent, OtherAgents, OtherNews, OtherRun, OtherTask, OtherWord,
    OwnTree, Worktrees,
};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot};

/// An agent of another program that does one thing: asks, and on a yes makes a file by its own hands.
#[derive(Debug, Default)]
struct Other {
    agreed: bool,
    kept: Mutex<Vec<String>>,
    /// The modes that it was judged by, from its start on.
    modes: Arc<Mutex<Vec<Policy>>>,
    /// Waits for a word to stop instead of asking.
    waits: bool,
}

fn consent() -> Ask {
    let assessment = Assessment { risk: Risk::Medium, reasons: Vec::new(), reversible: true, unrated: false };
    let consent = Consent {
        tool: ToolRunId(7),
        name: "write".to_owned(),
        args: Json::verbatim("{}".to_owned()),
        preview: Some(Preview::Text("made".to_owned())),
        assessment,
        digest: ActionDigest("d".to_owned()),
        rule: None,
        takes_reason: true,
    };
    let kind = AskKind::Consent(Box::new(consent));
    Ask { id: AskId(9), run: None, title: "write made".to_owned(), kind, deadline: None }
}

impl OtherAgents for Other {
    fn there(&self) -> Vec<OtherAgent> {
        let file = PathBuf::from("/opt/robot");
        let (name, title) = ("robot".to_owned(), "Robot".to_owned());
        vec![OtherAgent { name, title, typed: "robot --acp".to_owned(), file, agreed: self.agreed }]
    }

    fn agree(&self, agent: &OtherAgent) -> Result<(), String> {
        self.kept.lock().unwrap().push(agent.name.clone());
        Ok(())
    }

    fn begin(&self, task: OtherTask) -> OtherRun {
        let (tell, news) = mpsc::channel(OTHER_NEWS);
        let (words, mut said) = mpsc::channel(8);
        let (ended, end) = oneshot::channel();
        let (modes, waits) = (self.modes.clone(), self.waits);
        modes.lock().unwrap().push(task.policy);
        tokio::spawn(async move {
            let happens = |body: Body| OtherNews::Happened(Box::new(body));
            let _ = tell.send(OtherNews::Said("in the sandbox".to_owned())).await;
            if waits {
                loop {
                    tokio::select! {
                        () = task.cancel.cancelled() => break,
                        Some(OtherWord::Mode(mode)) = said.recv() => modes.lock().unwrap().push(mode),
                    }
                }
                let _ = ended.send(TurnEnd::Cancelled);
                return;
            }
            let _ = tell.send(happens(Body::Ask(AskEvent::Opened(consent())))).await;
            let Some(OtherWord::Answer(AskId(9), answer)) = said.recv().await else { return };
            if matches!(answer, Answer::Allow { scope: Scope::Once, .. }) {
                std::fs::write(task.workspace.join("made"), &task.prompt).unwrap();
            }
            let message = MessageId(3);
            let role = Role::Assistant;
            let started = MessageEvent::Started { message, parent: None, role, turn: None, step: None };
            let text = format!("answered {}", matches!(answer, Answer::Allow { .. }));
            let delta = MessageEvent::Delta { message, kind: TextKind::Text, text };
            for event in [started, delta] {
                let _ = tell.send(happens(Body::Message(event))).await;
            }
            let _ = ended.send(TurnEnd::Done);
        });
        OtherRun { news, words, end }
    }
}

const SCRIPT: &str = "model tool task {\"agent\":\"robot\",\"prompt\":\"make it\"}\n---\nmodel text \"ok\"";

fn with(other: &Arc<Other>, policy: Policy) -> Plan {
    let mut plan = Plan::script(SCRIPT).policy(policy);
    plan.delegation = Delegation { others: Some(other.clone()), worktrees: None };
    plan
}

fn agreed() -> Arc<Other> {
    Arc::new(Other { agreed: true, ..Other::default() })
}

fn titles(bench: &Bench) -> Vec<String> {
    let opened = bench.events.iter().filter_map(|event| match &event.body {
        Body::Ask(AskEvent::Opened(ask)) => Some(ask.title.clone()),
        _ => None,
    });
    opened.collect()
}

fn output(bench: &Bench) -> String {
    let pieces = bench.events.iter().filter_map(|event| match &event.body {
        Body::Tool(ToolEvent::Progress { progress: Progress::Output(text), .. }) => Some(text.as_str()),
        _ => None,
    });
    pieces.collect()
}

#[tokio::test]
async fn another_programs_agent_works_after_a_yes_is_asked_under_its_name_and_taken_back() {
    let other = agreed();
    let mut bench = Bench::with(with(&other, Policy::Ask));
    bench.closings = vec![allow(Scope::Once), allow(Scope::Once)];
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert!(bench.system().contains("- robot: another program's agent (Robot)"), "{}", bench.system());
    assert_eq!(titles(&bench), ["robot: make it", "Sub-agent robot “make it” asks: write made"]);
    let shown = bench.events.iter().find_map(|event| match &event.body {
        Body::Ask(AskEvent::Opened(Ask { kind: AskKind::Consent(consent), .. })) => Some(consent.clone()),
        _ => None,
    });
    let Some(Preview::Text(shown)) = shown.unwrap().preview else { panic!() };
    assert!(shown.starts_with("robot --acp\n(/opt/robot)\n\nmake it"), "{shown}");
    assert_eq!(bench.get("made").as_deref(), Some("make it"));
    assert_eq!(bench.outcomes(), [("task".to_owned(), ToolOutcome::Done, "answered true".to_owned())]);
    assert!(output(&bench).contains("in the sandbox"), "{}", output(&bench));
    bench.consult(Command::Files(FilesCommand::Undo { leave: false })).await.unwrap();
    assert_eq!(bench.get("made"), None, "what it made by its own hands is taken back");
}

#[tokio::test]
async fn one_that_was_never_started_is_asked_about_in_every_mode_and_looking_modes_refuse_it() {
    let begins = |other: &Other| other.modes.lock().unwrap().len();
    let other = Arc::new(Other::default());
    let mut bench = Bench::with(with(&other, Policy::Full));
    bench.closings = vec![answered(Answer::Confirmed(false))];
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert_eq!(titles(&bench), ["Start robot for a task?"]);
    assert_eq!((begins(&other), bench.get("made")), (0, None));
    let mut bench = Bench::with(with(&other, Policy::Full));
    bench.closings = vec![answered(Answer::Confirmed(true)), allow(Scope::Once)];
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert_eq!((begins(&other), other.kept.lock().unwrap().len()), (1, 1));
    for policy in [Policy::ReadOnly, Policy::Plan] {
        let other = agreed();
        let mut bench = Bench::with(with(&other, policy));
        bench.closings = vec![allow(Scope::Session); 3];
        assert_eq!(bench.run("go").await, TurnEnd::Done);
        assert_eq!((begins(&other), titles(&bench).len()), (0, 0), "{policy}");
    }
    let other = Arc::new(Other::default());
    let config = Config { is_headless: true, ..Config::default() };
    let mut bench = Bench::with(with(&other, Policy::Full).config(config));
    bench.closings = vec![Closing::Unattended];
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert_eq!(begins(&other), 0);
    let (_, outcome, text) = &bench.outcomes()[0];
    assert!(*outcome == ToolOutcome::Failed && text.contains("parlor attach robot"), "{text}");
}

#[tokio::test]
async fn a_cancel_and_a_mode_that_only_looks_end_it() {
    for by_mode in [false, true] {
        let other = Arc::new(Other { agreed: true, waits: true, ..Other::default() });
        let mut bench = Bench::with(with(&other, Policy::Full));
        bench.prompt("go").await;
        bench.until(|body| matches!(body, Body::Tool(ToolEvent::Progress { .. }))).await;
        if by_mode {
            bench.choose_policy(Policy::ReadOnly).await;
            assert_eq!(bench.finish().await, TurnEnd::Done);
            let (_, outcome, text) = &bench.outcomes()[0];
            assert!(*outcome == ToolOutcome::Failed && text.contains("read-only"), "{text}");
        } else {
            bench.cancel().await;
            assert_eq!(bench.finish().await, TurnEnd::Cancelled);
        }
    }
}

/// Worktrees that are plain folders, and know whether something was done in them.
#[derive(Debug)]
struct Trees(PathBuf);

impl Worktrees for Trees {
    fn make(&self, folder: &Path) -> Result<OwnTree, String> {
        let path = self.0.join("task-1");
        std::fs::create_dir_all(&path).unwrap();
        let (name, branch) = ("task-1".to_owned(), "parlor/task-1".to_owned());
        Ok(OwnTree { name, branch, path: path.canonicalize().unwrap(), of: folder.to_owned() })
    }

    fn settle(&self, tree: &OwnTree) -> Result<Option<String>, String> {
        let work = std::fs::read_dir(&tree.path).unwrap().count();
        if work == 0 {
            std::fs::remove_dir(&tree.path).unwrap();
            return Ok(None);
        }
        Ok(Some(format!("{work} file not committed")))
    }
}

#[tokio::test]
async fn a_sub_agent_may_work_in_a_worktree_of_its_own() {
    for (asked, work, kept) in [
        (r#""agent":"general","isolation":"worktree""#, true, true),
        (r#""agent":"careful""#, true, true),
        (r#""agent":"careful""#, false, false),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let does = if work { r#"tool write {"path":"x","content":"1"}"# } else { r#"tool ls {"path":"."}"# };
        let script = format!(
            "model tool task {{{asked},\"prompt\":\"do it\"}}\n---\nmodel {does}\n---\nmodel text \"done so\"\n---\nmodel text \"ok\""
        );
        let mut plan = Plan::script(script).policy(Policy::AutoEdit);
        plan.delegation =
            Delegation { others: None, worktrees: Some(Arc::new(Trees(dir.path().to_owned()))) };
        plan.config = Config { keeps_outputs: true, ..Config::default() };
        let mut bench = Bench::with(plan);
        let careful = "---\nname: careful\ndescription: works apart\nisolation: worktree\n---\nBe careful.\n";
        put(&bench.work(), ".claude/agents/careful.md", careful);
        assert_eq!(bench.run("go").await, TurnEnd::Done);
        let (_, outcome, text) = &bench.outcomes()[0];
        assert_eq!((outcome, text.starts_with("done so")), (&ToolOutcome::Done, true), "{text}");
        assert_eq!(bench.get("x"), None, "nothing of it is in the session's folder");
        assert_eq!(dir.path().join("task-1").exists(), kept);
        assert_eq!(dir.path().join("task-1/x").exists(), work);
        assert_eq!(text.contains("`parlor worktrees merge task-1 --commit MESSAGE`"), kept, "{text}");
        // Where it can be read is told, and it is there.
        let told = output(&bench);
        let file = told.lines().find_map(|line| line.strip_prefix("all that it says and reads: ")).unwrap();
        let transcript = std::fs::read_to_string(file).unwrap();
        for words in ["## Its task\n\ndo it", "done so", if work { "## write" } else { "## ls" }] {
            assert!(transcript.contains(words), "{words}: {transcript}");
        }
    }
}

#[tokio::test]
async fn a_task_that_wants_a_worktree_is_not_done_without_one() {
    let script = "model tool task {\"agent\":\"general\",\"isolation\":\"worktree\",\"prompt\":\"x\"}\n---\nmodel text \"ok\"";
    let mut bench = Bench::with(Plan::script(script).policy(Policy::Full));
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let (_, outcome, text) = &bench.outcomes()[0];
    assert!(*outcome == ToolOutcome::Failed && text.contains("There is no worktree for it"), "{text}");
}
