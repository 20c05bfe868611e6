//! read, write, edit, ls: what they show, keep and refuse.

use crate::room::Room;
use domain::ask::{Preview, Risk};
use domain::content::Part;
use domain::tool::ToolOutcome;
use serde_json::json;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use tools::still_valid;

#[tokio::test]
async fn reads_pages_with_line_numbers() {
    let room = Room::new();
    let text: String = (1..=5000).map(|n| format!("line {n}\n")).collect();
    room.put("a.txt", &text);
    let page = room.done("read", json!({"file_path": "a.txt", "offset": 3, "limit": 2})).await;
    assert_eq!(page, "     3\tline 3\n     4\tline 4\n(more follows: go on with offset 5)");
    let page = room.call("read", json!({"path": "a.txt"})).await.result;
    assert!(
        page.truncated && page.text.contains("  2000\tline 2000\n(more follows: go on with offset 2001)")
    );
    assert!(room.done("read", json!({"path": "a.txt", "offset": 9000})).await.contains("has 5000 lines"));
    room.put("empty", "");
    assert_eq!(room.done("read", json!({"path": "empty"})).await, "(the file is empty)");
}

#[tokio::test]
async fn a_huge_line_is_cut_and_a_huge_file_is_paged() {
    let room = Room::new();
    room.put("long", &format!("{}\nnext\n", "é".repeat(300_000)));
    let page = room.done("read", json!({"path": "long"})).await;
    assert!(page.contains("(line of 600001 bytes, cut)") && page.ends_with("     2\tnext"), "{}", page.len());
    room.put("big", &"some words in a line\n".repeat(200_000));
    let page = room.call("read", json!({"path": "big", "limit": 1_000_000})).await.result;
    assert!(page.truncated && page.text.len() < 60_000);
}

#[tokio::test]
async fn pictures_by_content_binaries_and_odd_files_politely() {
    let room = Room::new();
    std::fs::write(room.path("pic.txt"), b"\x89PNG\r\n\x1a\n....").unwrap();
    let result = room.call("read", json!({"path": "pic.txt"})).await.result;
    assert!(matches!(result.parts.as_slice(), [Part::Image { mime, .. }] if mime == "image/png"));
    std::fs::write(room.path("blob"), b"ab\0cd").unwrap();
    assert!(room.failed("read", json!({"path": "blob"})).await.contains("binary data"));
    assert!(room.failed("read", json!({"path": "."})).await.contains("use ls"));
    assert!(room.failed("read", json!({"path": "missing"})).await.contains("No such file"));
    assert!(room.failed("read", json!({"path": "/dev/zero"})).await.contains("not a plain file"));
}

#[tokio::test]
async fn outside_the_workspace_is_high_risk_also_through_links() {
    let room = Room::new();
    symlink("/etc", room.path("etc")).unwrap();
    symlink(room.dir.path().join("secret"), room.path("link")).unwrap();
    room.put("in.txt", "x");
    assert_eq!(room.risk("read", &json!({"path": "in.txt"})), Risk::Low);
    for path in ["/etc/passwd", "etc/passwd", "../x", "~/.ssh/id", "link"] {
        assert_eq!(room.risk("read", &json!({"path": path})), Risk::High, "{path}");
        assert_eq!(room.risk("write", &json!({"path": path, "content": ""})), Risk::High, "{path}");
    }
    assert_eq!(room.risk("ls", &json!({"path": "etc"})), Risk::High);
    assert_eq!(room.risk("write", &json!({"path": ".git/hooks/pre-commit", "content": ""})), Risk::High);
    assert_eq!(room.risk("write", &json!({"path": "new.txt", "content": ""})), Risk::Medium);
}

#[tokio::test]
async fn writes_atomically_keep_the_mode_and_show_a_diff() {
    let room = Room::new();
    room.put("run.sh", "one\ntwo\n");
    std::fs::set_permissions(room.path("run.sh"), std::fs::Permissions::from_mode(0o751)).unwrap();
    room.done("read", json!({"path": "run.sh"})).await;
    let args = json!({"path": "run.sh", "content": "one\nthree\n"});
    let plan = room.plan("write", &args).unwrap();
    let Some(Preview::Diff { text, .. }) = plan.preview else { panic!("no diff") };
    assert!(text.contains("-two\n+three\n"), "{text}");
    let result = room.call("write", args).await.result;
    assert!(matches!(result.parts.as_slice(), [Part::Diff { .. }]));
    assert_eq!(room.get("run.sh"), "one\nthree\n");
    assert_eq!(std::fs::metadata(room.path("run.sh")).unwrap().permissions().mode() & 0o777, 0o751);
    room.done("write", json!({"path": "new/deep/x", "content": "hi"})).await;
    assert_eq!(room.get("new/deep/x"), "hi");
    assert_eq!(std::fs::read_dir(room.place.root().unwrap()).unwrap().count(), 2, "nothing is left behind");
    assert!(room.failed("write", json!({"path": "new", "content": ""})).await.contains("is a directory"));
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_not_overwritten() {
    let room = Room::new();
    room.put("a", "one\n");
    let args = json!({"path": "a", "content": "mine\n"});
    let plan = room.plan("write", &args).unwrap();
    assert!(plan.assessment.reasons.iter().any(|why| why.contains("not read")), "{:?}", plan.assessment);
    room.done("read", json!({"path": "a"})).await;
    let plan = room.plan("write", &args).unwrap();
    room.put("a", "theirs\n");
    let tool = room.tool("write");
    assert!(still_valid(&*tool, &plan).is_err());
    let told = tool.run(plan, crate::room::port().0).await.result.text;
    assert!(told.contains("read it again"), "{told}");
    assert!(room.failed("write", args.clone()).await.contains("read it again"));
    assert_eq!(room.get("a"), "theirs\n");
    room.done("read", json!({"path": "a"})).await;
    room.done("write", args).await;
    room.done("write", json!({"path": "a", "content": "again\n"})).await;
}

#[tokio::test]
async fn a_consent_is_bound_to_the_file_as_it_was_shown() {
    let room = Room::new();
    let args = json!({"path": "a", "content": "mine\n"});
    let plan = room.plan("write", &args).unwrap();
    still_valid(&*room.tool("write"), &plan).unwrap();
    room.put("a", "theirs\n");
    assert!(still_valid(&*room.tool("write"), &plan).is_err());
    let plan = room.plan("write", &args).unwrap();
    std::fs::remove_file(room.path("a")).unwrap();
    symlink("/etc/hosts", room.path("a")).unwrap();
    assert!(still_valid(&*room.tool("write"), &plan).is_err(), "a link in its place is another action");
}

#[tokio::test]
async fn lists_what_git_would_see() {
    let room = Room::new();
    for name in ["src/main.rs", "target/x.o", ".hidden", "b.txt"] {
        room.put(name, "");
    }
    room.put(".gitignore", "target\n");
    assert_eq!(room.done("ls", json!({})).await, ".gitignore\n.hidden\nb.txt\nsrc/");
    assert_eq!(room.done("ls", json!({"all": true})).await, ".gitignore\n.hidden\nb.txt\nsrc/\ntarget/");
    assert!(room.done("ls", json!({"depth": 2})).await.contains("src/main.rs"));
    assert_eq!(room.done("ls", json!({"path": "b.txt"})).await, "b.txt (0 bytes)");
}

#[tokio::test]
async fn edits_are_exact_and_all_or_none() {
    let room = Room::new();
    room.put("a.rs", "fn one() {}\nfn two() {}\nfn two() {}\n");
    room.done("read", json!({"path": "a.rs"})).await;
    let told =
        room.failed("edit", json!({"path": "a.rs", "old_string": "fn two", "new_string": "fn x"})).await;
    assert!(told.contains("2 times (lines 2, 3)") && told.contains("nothing was changed"), "{told}");
    let edits = json!([{"old": "fn one", "new": "fn uno"}, {"old": "absent", "new": "x"}]);
    let told = room.failed("edit", json!({"path": "a.rs", "edits": edits})).await;
    assert!(told.contains("edit 2: the text to replace (`old`) was not found"), "{told}");
    assert!(room.get("a.rs").contains("fn one"));
    let edits = json!([{"old": "fn one", "new": "fn uno"}, {"old": "fn two", "new": "fn due", "all": true}]);
    let args = json!({"file_path": "a.rs", "edits": edits});
    let plan = room.plan("edit", &args).unwrap();
    assert!(matches!(&plan.preview, Some(Preview::Diff { text, .. }) if text.contains("+fn uno() {}")));
    assert_eq!(plan.assessment.risk, Risk::Medium);
    let result = room.call("edit", args).await.result;
    assert_eq!(result.text, "a.rs: 2 edits, +3 -3 lines");
    assert!(matches!(result.parts.as_slice(), [Part::Diff { .. }]));
    assert_eq!(room.get("a.rs"), "fn uno() {}\nfn due() {}\nfn due() {}\n");
    for (old, new) in [("", "x"), ("uno", "uno")] {
        room.failed("edit", json!({"path": "a.rs", "old": old, "new": new})).await;
    }
    assert!(room.failed("edit", json!({"path": "b", "old": "x", "new": "y"})).await.contains("use write"));
    room.put("aaa", "aaa");
    assert!(room.failed("edit", json!({"path": "aaa", "old": "aa", "new": "b"})).await.contains("2 times"));
}

#[tokio::test]
async fn edits_keep_line_endings_and_do_not_undo_others() {
    let room = Room::new();
    room.put("dos", "one\r\ntwo\r\nthree\r\n");
    room.done("edit", json!({"path": "dos", "old": "one\ntwo", "new": "1\n2"})).await;
    assert_eq!(room.get("dos"), "1\r\n2\r\nthree\r\n");
    room.put("mixed", "one\r\ntwo\nthree\n");
    room.done("edit", json!({"path": "mixed", "old": "two\n", "new": "2\n"})).await;
    assert_eq!(room.get("mixed"), "one\r\n2\nthree\n");
    room.put("mixed", "theirs two\n");
    let told = room.failed("edit", json!({"path": "mixed", "old": "two", "new": "2"})).await;
    assert!(told.contains("read it again"), "{told}");
}

#[tokio::test]
async fn an_edit_fits_whatever_the_ends_of_lines_are() {
    let room = Room::new();
    room.put("mixed", "one\r\ntwo\nthree\r\nfour\r\n");
    room.done("edit", json!({"path": "mixed", "old": "one\ntwo\nthree", "new": "1\n2\nand\n3"})).await;
    assert_eq!(room.get("mixed"), "1\n2\nand\n3\r\nfour\r\n");
    room.done("edit", json!({"path": "mixed", "old": "four", "new": "4\n5"})).await;
    assert_eq!(room.get("mixed"), "1\n2\nand\n3\r\n4\r\n5\r\n");
    // Whoever means the ends themselves gets them.
    room.done("edit", json!({"path": "mixed", "old": "3\r\n4", "new": "3\n4"})).await;
    assert_eq!(room.get("mixed"), "1\n2\nand\n3\n4\r\n5\r\n");
}

#[tokio::test]
async fn a_text_in_an_older_encoding_is_shown_changed_and_kept_as_it_is() {
    let room = Room::new();
    std::fs::write(room.path("latin"), b"caf\xe9\r\nna\xefve\n").unwrap();
    let page = room.done("read", json!({"path": "latin"})).await;
    assert_eq!(
        page,
        "     1\tcafé\n     2\tnaïve\n(written in Latin-1 (windows-1252): edit and write keep that)"
    );
    room.done("edit", json!({"path": "latin", "old": "café", "new": "thé"})).await;
    assert_eq!(std::fs::read(room.path("latin")).unwrap(), b"th\xe9\r\nna\xefve\n");
    let told = room.failed("edit", json!({"path": "latin", "old": "thé", "new": "t→"})).await;
    assert!(told.contains("Latin-1 (windows-1252), which has no '→'"), "{told}");
    room.done("write", json!({"path": "latin", "content": "ça\n"})).await;
    assert_eq!(std::fs::read(room.path("latin")).unwrap(), b"\xe7a\n");
    let wide: Vec<u8> = "\u{feff}one\ntwo\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(room.path("wide"), &wide).unwrap();
    assert!(
        room.done("read", json!({"path": "wide"}))
            .await
            .starts_with("     1\tone\n     2\ttwo\n(written in UTF-16")
    );
    room.done("edit", json!({"path": "wide", "old": "two", "new": "2€"})).await;
    let wide: Vec<u8> = "\u{feff}one\n2€\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(std::fs::read(room.path("wide")).unwrap(), wide);
}

#[tokio::test]
async fn what_does_not_stand_there_exactly_is_shown_as_it_is() {
    let room = Room::new();
    room.put("a.rs", "fn a() {\n\tlet x = 1;   \n}\n");
    // How deep the new line is meant to be is not sure.
    let args = json!({"path": "a.rs", "old": "    let x = 1;", "new": "    let x = 1;\n      y"});
    let told = room.failed("edit", args).await;
    assert!(
        told.contains("nearest is at line 2 (it differs in") && told.ends_with("\n\tlet x = 1;   "),
        "{told}"
    );
    assert_eq!(room.get("a.rs"), "fn a() {\n\tlet x = 1;   \n}\n");
}

#[tokio::test]
async fn find_and_grep_leave_out_what_is_ignored_also_when_it_is_named() {
    let room = Room::new();
    for file in ["a.log", "keep/b.log", "src/c.rs", "src/gen.rs"] {
        room.put(file, "word\n");
    }
    room.put(".gitignore", "a.log\n*gen.rs\n");
    assert_eq!(room.done("find", json!({"pattern": "*.log"})).await, "keep/b.log");
    assert_eq!(room.done("find", json!({"pattern": "src/**/*.rs"})).await, "src/c.rs");
    assert_eq!(room.done("grep", json!({"pattern": "word", "glob": "*.rs"})).await, "src/c.rs:1:word");
    let others = room.done("grep", json!({"pattern": "word", "glob": "!*.rs"})).await;
    assert_eq!(others, "keep/b.log:1:word");
}

#[tokio::test]
async fn searches_what_git_would_see_within_bounds() {
    let room = Room::new();
    room.put("src/main.rs", "fn main() {\n    println!(\"hi\");\n}\n");
    room.put("src/lib.rs", "// Main part\n");
    room.put("target/x.rs", "fn main() {}\n");
    room.put("notes.md", "main\n");
    room.put(".gitignore", "target\n");
    std::fs::write(room.path("blob"), b"main\0main").unwrap();
    symlink("/etc", room.path("etc")).unwrap();
    assert_eq!(
        room.done("grep", json!({"pattern": "main"})).await,
        "notes.md:1:main\nsrc/main.rs:1:fn main() {"
    );
    let found = room
        .done("grep", json!({"pattern": "MAIN", "ignore_case": true, "glob": "*.rs", "files_only": true}))
        .await;
    assert_eq!(found, "src/lib.rs\nsrc/main.rs");
    let found = room.done("grep", json!({"pattern": "println!(", "literal": true, "context": 1})).await;
    assert_eq!(found, "src/main.rs-1-fn main() {\nsrc/main.rs:2:    println!(\"hi\");\nsrc/main.rs-3-}");
    assert_eq!(room.done("grep", json!({"pattern": "absent"})).await, "(no matches)");
    assert!(room.failed("grep", json!({"pattern": "("})).await.contains("give `literal`"));
    assert!(room.failed("grep", json!({"pattern": "x", "path": "nowhere"})).await.contains("no such file"));
    assert_eq!(room.risk("grep", &json!({"pattern": "root", "path": "etc"})), Risk::High);
    assert_eq!(room.done("find", json!({"pattern": "*.rs"})).await, "src/lib.rs\nsrc/main.rs");
    assert_eq!(room.done("find", json!({"pattern": "main"})).await, "src/main.rs");
    assert_eq!(room.done("find", json!({"pattern": "src/**"})).await, "src/lib.rs\nsrc/main.rs");
    assert_eq!(room.done("find", json!({"pattern": "*.zig"})).await, "(no such files)");
    room.put("many", &"main\n".repeat(5000));
    let result = room.call("grep", json!({"pattern": "main", "path": "many", "limit": 3})).await.result;
    assert!(
        result.truncated && result.text.ends_with("(more than 3 results: narrow the search)"),
        "{}",
        result.text
    );
    let result = room.call("find", json!({"pattern": "*", "limit": 1})).await.result;
    assert!(result.truncated, "{}", result.text);
}

#[tokio::test]
async fn plans_come_back_as_items_and_questions_need_the_engine() {
    let room = Room::new();
    let result = room
        .call("todo", json!({"items": [{"text": "a", "state": "done"}, {"text": "b", "state": "active"}]}))
        .await
        .result;
    assert_eq!(result.text, "the plan has 2 steps, 1 done");
    let json = r#"{"items":[{"state":"done","text":"a"},{"state":"active","text":"b"}]}"#;
    let told: serde_json::Value = serde_json::from_str(result.json.unwrap().as_str()).unwrap();
    assert_eq!(told, serde_json::from_str::<serde_json::Value>(json).unwrap());
    assert!(room.failed("ask", json!({"kind": "confirm", "title": "Go?"})).await.contains("decide yourself"));
}

#[tokio::test]
async fn what_commands_may_not_read_is_read_only_by_its_name() {
    let room = Room::new();
    room.put("inside.txt", "needle");
    room.put_home(".ssh/id", "needle SECRET");
    room.put_home(".bash_history", "needle SECRET");
    room.put_home("notes/a.txt", "needle");
    symlink("../home/.ssh", room.path("innocent")).unwrap();
    // By whatever name it is called.
    for path in ["~/.ssh/id", "~/notes/../.ssh/id", "innocent/id", "../home/.ssh/id"] {
        let plan = room.plan("read", &json!({"path": path})).unwrap();
        assert_eq!(plan.deed, tools::Deed::ReadClosed, "{path}");
        assert!(plan.assessment.reasons[0].contains("where people keep secrets"), "{:?}", plan.assessment);
    }
    // Who looks around above it does not come upon it, and hears so.
    let text = room.done("grep", json!({"pattern": "needle", "path": "~"})).await;
    assert!(text.contains("notes/a.txt") && !text.contains("SECRET"), "{text}");
    assert!(text.contains("(2 passed over, since people keep secrets there"), "{text}");
    let text = room.done("find", json!({"pattern": "id", "path": "~"})).await;
    assert!(!text.contains(".ssh/id") && text.contains("passed over"), "{text}");
    let text = room.done("ls", json!({"path": "~", "depth": 2})).await;
    assert!(
        text.contains("notes/a.txt") && !text.contains("id\n") && text.contains("2 passed over"),
        "{text}"
    );
    // Agreed to by its name, it is there.
    assert!(room.done("grep", json!({"pattern": "needle", "path": "~/.ssh"})).await.contains("SECRET"));
    assert!(room.done("read", json!({"path": "~/.ssh/id"})).await.contains("SECRET"));
    // What lies in the workspace is the agent's to work with.
    room.put(".ssh/config", "Host x");
    assert_eq!(room.plan("read", &json!({"path": ".ssh/config"})).unwrap().deed, tools::Deed::Read);
}

/// Folders of the workspace and links to a folder of secrets that change places all the time.
struct Swapper {
    stop: std::sync::Arc<std::sync::atomic::AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Swapper {
    fn start(folder: std::path::PathBuf, link: std::path::PathBuf) -> Swapper {
        use std::sync::atomic::Ordering;
        let stop = std::sync::Arc::<std::sync::atomic::AtomicBool>::default();
        let seen = stop.clone();
        let swap = move || {
            while !seen.load(Ordering::Relaxed) {
                let cwd = rustix::fs::CWD;
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(cwd, &folder, cwd, &link, flags).unwrap();
            }
        };
        Swapper { stop, thread: Some(std::thread::spawn(swap)) }
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

#[tokio::test]
async fn no_tool_is_led_astray_by_folders_that_become_links() {
    const TRIES: usize = 150;
    let room = Room::new();
    room.put_home(".ssh/key", "SECRET");
    let keys = room.dir.path().canonicalize().unwrap().join("home/.ssh");
    room.put("d/key", "plain");
    symlink(&keys, room.path("l")).unwrap();
    let swapper = Swapper::start(room.path("d"), room.path("l"));
    for number in 0..TRIES {
        for (tool, args) in [
            ("read", json!({"path": "d/key"})),
            ("grep", json!({"path": "d", "pattern": "SECRET"})),
            ("grep", json!({"path": ".", "pattern": "SECRET"})),
            ("write", json!({"path": format!("d/new{number}"), "content": "x"})),
        ] {
            let Ok(plan) = room.plan(tool, &args) else { continue };
            // What leads out when it is planned is asked about; that is not what is tried here.
            if plan.assessment.reasons.iter().any(|why| why.contains("outside") || why.contains("secrets")) {
                continue;
            }
            let (port, _news) = crate::room::port();
            let text = room.tool(tool).run(plan, port).await.result.text;
            assert!(!text.contains(":SECRET") && !text.contains("\tSECRET"), "{tool} {text}");
        }
    }
    drop(swapper);
    let names: Vec<_> = std::fs::read_dir(&keys).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["key"]);
}

#[tokio::test]
async fn a_path_that_leads_elsewhere_than_it_was_planned_is_not_used() {
    let room = Room::new();
    room.put_home(".ssh/key", "SECRET");
    room.put("d/key", "plain");
    for (tool, args) in [
        ("read", json!({"path": "d/key"})),
        ("ls", json!({"path": "d"})),
        ("find", json!({"path": "d", "pattern": "key"})),
        ("grep", json!({"path": "d", "pattern": "SECRET"})),
        ("write", json!({"path": "d/new", "content": "x"})),
    ] {
        let plan = room.plan(tool, &args).unwrap();
        std::fs::rename(room.path("d"), room.path("was")).unwrap();
        symlink(room.dir.path().join("home/.ssh"), room.path("d")).unwrap();
        let (port, _news) = crate::room::port();
        let outcome = room.tool(tool).run(plan, port).await;
        std::fs::remove_file(room.path("d")).unwrap();
        std::fs::rename(room.path("was"), room.path("d")).unwrap();
        assert!(!outcome.result.text.contains("SECRET"), "{tool} {outcome:?}");
        assert_ne!((tool, outcome.outcome), ("write", ToolOutcome::Done));
    }
    assert!(!room.dir.path().join("home/.ssh/new").exists());
}

#[tokio::test]
async fn a_secret_inside_of_the_workspace_is_read_only_by_its_name() {
    let mut room = Room::new();
    room.put_home(".config/gh/hosts.yml", "needle SECRET");
    room.put_home(".config/git/credentials", "needle SECRET");
    room.put_home(".config/nvim/init.lua", "needle");
    let home = room.dir.path().canonicalize().unwrap().join("home");
    let place = tools::ToolContext::new(&home.join(".config"), &room.dir.path().join("outputs")).unwrap();
    let path = [("PATH".into(), crate::room::SYSTEM.into())];
    room.place = place.with_home(&home).with_env(path.into_iter());
    for (path, deed) in [
        ("gh/hosts.yml", tools::Deed::ReadClosed),
        ("nvim/../gh/hosts.yml", tools::Deed::ReadClosed),
        ("git/credentials", tools::Deed::ReadClosed),
        ("nvim/init.lua", tools::Deed::Read),
    ] {
        assert_eq!(room.plan("read", &json!({"path": path})).unwrap().deed, deed, "{path}");
    }
    for (line, risk) in [("cat gh/hosts.yml", Risk::High), ("cat nvim/init.lua", Risk::Low)] {
        assert_eq!(room.risk("bash", &json!({"command": line})), risk, "{line}");
    }
    let text = room.done("grep", json!({"pattern": "needle"})).await;
    assert!(text.contains("nvim/init.lua") && !text.contains("SECRET"), "{text}");
    assert!(text.contains("(2 passed over, since people keep secrets there"), "{text}");
}

#[test]
fn characters_that_cannot_be_seen_are_told_in_the_question() {
    let room = Room::new();
    room.put("a.txt", "text");
    room.put("a\u{e0041}.txt", "text");
    for (tool, args, words) in [
        ("write", json!({"path": "b.txt", "content": "return\u{200b} true"}), "cannot be seen (U+200B)"),
        ("write", json!({"path": "b\u{202e}txt.sh", "content": "x"}), "cannot be seen (U+202E)"),
        ("read", json!({"path": "a\u{e0041}.txt"}), "cannot be seen (U+E0041)"),
        ("bash", json!({"command": "cat a.txt # \u{2066}"}), "cannot tell what it runs"),
    ] {
        let assessment = room.plan(tool, &args).unwrap().assessment;
        let told = assessment.reasons.iter().any(|why| why.contains(words));
        assert!(told && assessment.risk >= Risk::High, "{tool} {args}: {assessment:?}");
    }
    let plain = room.plan("write", &json!({"path": "b.txt", "content": "naïve 漢字\n\tx"})).unwrap();
    assert!(
        !plain.assessment.reasons.iter().any(|why| why.contains("cannot be seen")),
        "{:?}",
        plain.assessment
    );
}
