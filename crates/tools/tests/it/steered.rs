//! Commands and the files that steer programs, by the tool itself: with namespaces where they work, and without.

use crate::room::Room;
use domain::ask::{Answer, AskKind, Closing};
use domain::session::Policy;
use domain::tool::ToolOutcome;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tools::policy::{Verdict, decide};
use tools::sandbox::{Guard, Lacks};
use tools::{Outcome, Port};

fn room(namespaces: bool) -> Room {
    let here = std::env::current_exe().unwrap();
    let program = here.ancestors().nth(2).unwrap().join("examples/guard");
    let guard =
        Guard::new(&program, &["__guard"]).without(Lacks { namespaces: !namespaces, ..Lacks::default() });
    let room = Room::new();
    let room = Room { place: room.place.clone().guarded(guard), ..room };
    room.put("AGENTS.md", "be kind\n");
    room.put("evil.sh", "echo evil > AGENTS.md; echo evil > .envrc; echo fine > out.txt; true");
    room
}

/// Runs a line while somebody answers what is asked; gives the questions too.
async fn answered(room: &Room, line: &str, answer: Option<bool>) -> (Outcome, Vec<String>) {
    let (progress, _news) = mpsc::channel(16);
    let (asks, mut questions) = mpsc::channel::<tools::Question>(1);
    let port = Port { progress, asks, cancel: CancellationToken::new(), gate: None };
    let call = room.call_with("bash", json!({ "command": line }), port);
    let person = async {
        let mut heard = Vec::new();
        while let Some(question) = questions.recv().await {
            // While the question is open everything is as it was.
            assert_eq!(std::fs::read_to_string(room.path("AGENTS.md")).unwrap(), "be kind\n");
            assert!(!room.path(".envrc").exists());
            let AskKind::Confirm { message, danger: true, .. } = question.kind else {
                panic!("{question:?}")
            };
            heard.push(message);
            let closing = match answer {
                Some(yes) => Closing::Answered { answer: Answer::Confirmed(yes), by: None },
                None => Closing::Unattended,
            };
            let _ = question.answer.send(closing);
        }
        heard
    };
    tokio::join!(call, person)
}

#[tokio::test]
async fn what_a_script_did_to_files_that_steer_is_put_back_and_asked() {
    for namespaces in [true, false] {
        for (answer, kept) in [(Some(true), true), (Some(false), false), (None, false)] {
            let room = room(namespaces);
            let locked = room.place.guard().unwrap().namespaces().is_ok();
            let (outcome, asked) = answered(&room, "sh ./evil.sh", answer).await;
            assert_eq!(asked.len(), 1, "{asked:?}");
            assert_eq!(room.get("out.txt"), "fine\n");
            assert_eq!(asked[0].contains("changed AGENTS.md"), !locked, "{asked:?}");
            assert!(asked[0].contains("made .envrc"), "{asked:?}");
            assert_eq!(room.path(".envrc").exists(), kept);
            assert_eq!(room.get("AGENTS.md") == "evil\n", kept && !locked);
            assert_eq!(
                room.path(".envrc.held").exists(),
                answer.is_none(),
                "only what nobody decided on waits"
            );
            assert!(outcome.result.text.contains("protected files"), "{}", outcome.result.text);
        }
    }
}

#[tokio::test]
async fn a_person_says_yes_only_to_what_they_were_shown() {
    let make = |count| {
        format!("mkdir $(seq -f d%g {count}); for i in $(seq {count}); do echo run-$i > d$i/.npmrc; done")
    };
    for namespaces in [true, false] {
        let room = room(namespaces);
        room.put("few.sh", &make(25));
        let (_, asked) = answered(&room, "sh ./few.sh", Some(true)).await;
        assert_eq!(asked.len(), 1, "{asked:?}");
        for number in 1..=25 {
            assert!(asked[0].contains(&format!("+run-{number}\n")), "{asked:?}");
            assert!(room.path(&format!("d{number}/.npmrc")).exists());
        }
        let room = self::room(namespaces);
        room.put("many.sh", &make(2000));
        room.put("long.sh", "seq 20000 > .npmrc");
        for script in ["many", "long"] {
            let (outcome, asked) = answered(&room, &format!("sh ./{script}.sh"), Some(true)).await;
            assert_eq!(asked, [""; 0], "{script}");
            assert!(outcome.result.text.contains("nobody was asked"), "{}", outcome.result.text);
        }
        for made in ["d1/.npmrc", "d2000/.npmrc", ".npmrc"] {
            assert!(!room.path(made).exists() && room.path(&format!("{made}.held")).exists(), "{made}");
        }
    }
}

#[tokio::test]
async fn what_the_line_named_and_a_person_agreed_to_works_without_another_question() {
    for namespaces in [true, false] {
        let room = room(namespaces);
        let line = "echo new > AGENTS.md && echo made > .npmrc";
        let plan = room.plan("bash", &json!({"command": line})).unwrap();
        assert!(
            !plan.read_only
                && plan
                    .assessment
                    .reasons
                    .iter()
                    .any(|reason| reason.contains("other programs execute or obey"))
        );
        let (outcome, asked) = answered(&room, line, Some(false)).await;
        assert_eq!(outcome.outcome, ToolOutcome::Done, "{}", outcome.result.text);
        assert_eq!(asked, Vec::<String>::new());
        assert_eq!((room.get("AGENTS.md"), room.get(".npmrc")), ("new\n".to_owned(), "made\n".to_owned()));
    }
}

#[tokio::test]
async fn a_commit_that_was_agreed_to_works_and_a_hook_that_came_with_it_does_not() {
    for namespaces in [true, false] {
        let room = room(namespaces);
        room.done(
            "bash",
            json!({"command": "git init -q . && mkdir -p .git/hooks", "unsandboxed": true, "reason": "x"}),
        )
        .await;
        let commit =
            "git add out.txt && git -c user.name=n -c user.email=e commit -qm x && git log --format=%s";
        room.put("out.txt", "x");
        let (outcome, asked) = answered(&room, commit, None).await;
        assert_eq!((outcome.result.text.as_str(), asked.len()), ("x\n", 0));
        room.put("evil.sh", "echo evil > .git/hooks/post-checkout; true");
        let (_, asked) =
            answered(&room, "git status --short && sh evil.sh && git add out.txt", Some(false)).await;
        assert_eq!(
            asked.len(),
            usize::from(!namespaces || room.place.guard().unwrap().namespaces().is_err())
        );
        assert!(!room.path(".git/hooks/post-checkout").exists());
    }
}

#[tokio::test]
async fn a_job_in_the_background_is_held_to_the_same_when_it_ends() {
    let room = room(false);
    room.done("bash", json!({"command": "sh ./evil.sh", "background": true})).await;
    let over = async {
        loop {
            let text = room.done("bash_jobs", json!({"action": "read", "id": "job-1"})).await;
            if text.contains("exit code") {
                return text;
            }
            tokio::task::yield_now().await;
        }
    };
    let text = tokio::time::timeout(crate::bash::SOON, over).await.unwrap();
    assert!(text.contains("put back as they were") && text.contains("AGENTS.md.held"), "{text}");
    assert_eq!(room.get("AGENTS.md"), "be kind\n");
}

#[tokio::test]
async fn a_program_without_a_terminal_fails_with_a_word_on_what_to_ask_for() {
    for namespaces in [true, false] {
        let room = room(namespaces);
        let outcome = room.call("bash", json!({"command": "script -qc tty /dev/null"})).await;
        let given = room.place.guard().unwrap().namespaces().is_ok();
        assert_eq!(outcome.outcome == ToolOutcome::Done, given, "{}", outcome.result.text);
        assert_eq!(
            outcome.result.text.contains("call it again with `unsandboxed`"),
            !given,
            "{}",
            outcome.result.text
        );
        let other = room.failed("bash", json!({"command": "echo empty; exit 1"})).await;
        assert!(!other.contains("unsandboxed"), "{other}");
    }
}

#[test]
fn no_tool_writes_unasked_what_instructions_anywhere_in_the_workspace_take_in() {
    let room = Room::new();
    room.put("CLAUDE.md", "@docs/rules.txt and @docs/norule, by @someone\n");
    room.put("sub/CLAUDE.md", "@../docs/of-sub.md\n");
    room.put("docs/of-sub.md", "be kind\n");
    let verdict = |path: &str| {
        let plan = room.plan("write", &json!({"path": path, "content": "be evil"})).unwrap();
        (decide(Policy::AutoEdit, &plan, &[]), plan.assessment.reasons)
    };
    for path in ["docs/rules.txt", "docs/norule", "docs/of-sub.md"] {
        let (verdict, reasons) = verdict(path);
        assert!(matches!(verdict, Verdict::Ask), "{path} {verdict:?} {reasons:?}");
    }
    assert!(verdict("docs/of-sub.md").1.concat().contains("`sub/CLAUDE.md`"));
    assert!(matches!(verdict("docs/other.md").0, Verdict::Allow(_)));
}

#[tokio::test]
async fn a_file_that_steers_is_put_back_when_it_was_written_through_another_name() {
    for namespaces in [true, false] {
        for (folder, ignored) in [("node_modules", ""), ("dist", "dist/\n"), ("plain", "")] {
            let room = room(namespaces);
            room.put(".gitignore", ignored);
            room.put(&format!("{folder}/x"), "");
            // An earlier command may have made it: that changed nothing. Nobody looks into the first two folders.
            let other = room.path(&format!("{folder}/link"));
            std::fs::hard_link(room.path("AGENTS.md"), &other).unwrap();
            // As long as before, and as old as before.
            let line =
                format!("touch -r {folder}/link t; echo be evil > {folder}/link; touch -r t {folder}/link");
            let (_, asked) = answered(&room, &line, Some(false)).await;
            assert_eq!(asked.len(), 1, "{folder} {asked:?}");
            assert!(asked[0].contains("changed AGENTS.md"), "{folder} {asked:?}");
            assert_eq!(room.get("AGENTS.md"), "be kind\n");
        }
    }
}

#[tokio::test]
async fn a_file_that_steers_is_put_back_when_its_folder_was_moved_and_another_put_there() {
    for namespaces in [true, false] {
        let room = room(namespaces);
        room.put("d/.npmrc", "fine\n");
        room.put(
            "move.sh",
            "mv d away; mkdir d; echo evil > d/.npmrc; touch -r away/.npmrc d/.npmrc; touch -r away d",
        );
        let (_, asked) = answered(&room, "sh ./move.sh", Some(false)).await;
        assert_eq!(asked.len(), 1, "{asked:?}");
        assert!(asked[0].contains("changed d/.npmrc"), "{asked:?}");
        assert_eq!(room.get("d/.npmrc"), "fine\n");
        // Moved away and put back as it was: nothing happened.
        let room = self::room(namespaces);
        room.put("d/.npmrc", "fine\n");
        room.put("move.sh", "mv d away; mkdir d; rmdir d; mv away d");
        assert_eq!(answered(&room, "sh ./move.sh", Some(false)).await.1, [""; 0]);
        assert_eq!(room.get("d/.npmrc"), "fine\n");
    }
}
