//! How the fixtures are made: conversations with a scripted model over the native wire and over every other one, then exports, a list,
//! settings and rules. With `PARLOR_FIXTURES_FROM=BINARY` (`cargo xtask fixtures`) those of this version are made anew by that program; without it the recipe runs
//! with today's program and keeps nothing, so that it stays usable for the next release.

use crate::release::talk::{Native, ended};
use crate::release::{PARLOR, Release, program};
use domain::ids::{Seq, SessionId};
use domain::state::{State, StateHash};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use store::{Listing, SqliteStore, Store};
use testkit::Running;

/// Where those sessions work that are gone on with: a folder that every machine has.
const ANYWHERE: &str = "/tmp";
/// Names the program that makes the committed files.
const FROM: &str = "PARLOR_FIXTURES_FROM";

pub(crate) const STORY: &str = "sess-00000000a001";
pub(crate) const BRANCHES: &str = "sess-00000000b002";
pub(crate) const LONG: &str = "sess-00000000c003";
pub(crate) const STOPPED: &str = "sess-00000000d004";
pub(crate) const PICTURE: &str = "sess-00000000e005";
pub(crate) const STREAM: &str = "sess-00000000e006";
pub(crate) const RUNNING: &str = "sess-00000000f006";
pub(crate) const ASKING: &str = "sess-00000000f007";

/// A picture of two by two.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAE0lEQVR4nGP8z8DAwMDAxAADAAAKAQEB5Q0cBwAAAABJRU5ErkJggg==";

const SETTINGS: &str = r#"# made by hand, as a person does
model = "offline/offline"
compact_at = 80

[ui]
theme = "dark"
screen = "inline"
mouse = "off"
notify = "bell"
images = "off"

[ui.keys]
steer = "ctrl-t"
fold = ["ctrl-o", "f5"]
suspend = []
"/model" = "f2"

[extensions.weather]
command = ["weather-json", "--short"]
timeout_s = 10

[fetch]
enabled = false
private = false
"#;

const TALK: &str = r##"
model thought "Erst schauen 🔍." | text "Ich schaue nach: " | text "naïve café, 日本語, e\u0301, \u202Eabc\u202C." | tool read {"path":"notes.md"} | tool ls {}
model usage in=1200 out=30 cache_read=800 cache_write=12
---
model text "I write a file." | tool write {"path":"new.txt","content":"eins\nzwei\n"}
---
model text "I change one." | tool edit {"path":"notes.md","edits":[{"old":"alpha","new":"ALPHA"}]}
---
model tool bash {"command":"printf 'hello\\n' > made.txt; cat made.txt"} | tool bash {"command":"rm -r gone"}
---
model tool todo {"items":[{"text":"look","state":"done"},{"text":"tell","state":"active"}]} | tool nosuch {"x":1}
---
model tool ask {"kind":"choose","title":"Colour?","choices":[{"id":"r","label":"red"},{"id":"g","label":"green","detail":"calm"}]}
---
model tool ask {"kind":"text","title":"Your name?"} | tool ask {"kind":"confirm","title":"Sure?","danger":true} | tool ask {"kind":"edit","title":"Change it","prefill":"a\nb"}
---
model text "Done: **bold**, `code`, <b>no html</b>\n\n```rust\nfn main() {}\n```\n"
model usage in=2000 out=55
---
model text "Allowed for good." | tool bash {"command":"touch kept.txt"}
---
model text "It is there."
---
model text "First answer."
---
model text "Second answer."
---
model text "Another second answer."
---
model text "A long answer about the bridge that failed."
---
model text "Another long answer."
---
model text "Summary: the bridge failed twice."
---
model text "After the summary."
---
model text "Counting" | pause forever
---
model error bad_request "the model is out of order"
---
model text "Part one." | tool read {"path":"notes.md"} | tool ask {"kind":"confirm","title":"Go on?"} | tool ls {}
---
model text "You said something new."
---
model text "And a follow-up."
---
model text "A picture of two by two."
"##;

const LAST_TALK: &str = r#"
model text "I run it." | tool bash {"command":"echo begun; sleep 600; touch never.txt"}
---
model text "May I?" | tool write {"path":"parlor-v0.1.0-asked.txt","content":"once\n"}
"#;

/// What is asked and answered on every wire.
pub(crate) const SMALL_PROMPT: &str = "what is in a.txt?";
pub(crate) const SMALL_ANSWER: &str = "It says beta.";
const SMALL_TALK: &str = r#"
model thought "hm" | text "I look " | text "first." | tool read {"path":"a.txt"}
---
model text "It says beta."
"#;

/// The file and the model of the small conversation.
pub(crate) fn set_small_scene(world: &Path) {
    fs::write(world.join("project/a.txt"), "alpha\nbeta\n").unwrap();
    fs::write(world.join("project/model.txt"), SMALL_TALK).unwrap();
}

/// A yes to everything but what removes something.
fn agree(ask: &Value) -> Value {
    let kind = &ask["kind"];
    let allow = |scope: &str| json!({"allow": {"scope": scope, "digest": kind["consent"]["digest"]}});
    let title = ask["title"].as_str().unwrap_or_default();
    if kind["consent"].is_object() && title.contains("rm -r") {
        json!({"deny": {"reason": "not that one"}})
    } else if kind["consent"].is_object() && title.contains("kept.txt") {
        allow("always")
    } else if kind["consent"].is_object() {
        allow("once")
    } else if kind["confirm"].is_object() {
        json!({ "confirmed": true })
    } else if kind["choose"].is_object() {
        json!({ "chosen": ["g"] })
    } else {
        json!({ "entered": "Zoë" })
    }
}

/// A new session that works where every machine has a folder.
fn elsewhere(id: &str, title: &str) -> Value {
    json!({"new_session": {"cwd": ANYWHERE, "title": title, "id": id}})
}

fn text(text: &str) -> Value {
    json!({ "input": { "text": text } })
}

/// As this version greets.
fn hello() -> Value {
    use dialects::native::{PROTOCOL, REVISION};
    json!({"hello": {"protocol": PROTOCOL, "revision": REVISION, "name": "parlor", "version": Release::current().version,
        "capabilities": ["hash", "cursor", "answers"]}})
}

fn serve(binary: &Path, world: &Path, script: &str, more: &[&str]) -> Native {
    fs::write(world.join("project/model.txt"), script).unwrap();
    let args = [&["serve", "--dialect", "native", "--stdio", "--model", "scripted/model.txt"], more].concat();
    Native::greeting(program(binary, world, &args), &hello())
}

/// Everything that a native UI does.
fn converse(binary: &Path, world: &Path) -> (Vec<String>, Vec<String>) {
    let recording = world.join("recording.txt").display().to_string();
    let mut ui = serve(binary, world, TALK, &["--record", &recording]);
    ui.new_session(STORY, "The whole story");
    let done = ui.prompt(STORY, &text("Look, write, ask. Grüße! 👋🏽"), agree, ended);
    assert_eq!(done, "done");
    ui.prompt(STORY, &text("and keep it"), agree, ended);
    let saved = json!({"save_session": {"path": "saved.json", "history": true}});
    ui.command(Some(STORY), &saved);

    ui.new_session(BRANCHES, "Branches");
    ui.prompt(BRANCHES, &text("first"), agree, ended);
    let leaf = ui.command(Some(BRANCHES), &json!("stats"));
    assert!(leaf["stats"].is_object());
    ui.prompt(BRANCHES, &text("second"), agree, ended);
    let first = first_answer(&ui.heard);
    let other =
        json!({"input": {"text": "second, otherwise"}, "options": {"from": first, "when_busy": "refuse"}});
    ui.prompt(BRANCHES, &other, agree, ended);
    ui.command(Some(BRANCHES), &json!({"rename_session": {"title": "Two branches"}}));
    ui.command(Some(BRANCHES), &json!({"set_policy": {"policy": "auto_edit"}}));

    ui.new_session(LONG, "Compacted");
    ui.prompt(LONG, &text("tell me of the bridge"), agree, ended);
    ui.prompt(LONG, &text("and once more"), agree, ended);
    ui.command(Some(LONG), &json!({"compact": {"instruction": "short"}}));
    ui.prompt(LONG, &text("go on"), agree, ended);

    ui.new_session(STOPPED, "Stopped and failed");
    ui.prompt(STOPPED, &text("count"), agree, |body| body.get("message_delta").map(drop));
    ui.command(Some(STOPPED), &json!({"cancel": {"reason": "enough"}}));
    assert_eq!(ui.follow(STOPPED, agree, ended), "cancelled");
    let failed = ui.prompt(STOPPED, &text("fail"), agree, ended);
    assert!(failed["failed"].is_object(), "{failed}");
    let asked = ui.prompt(STOPPED, &text("steered"), agree, |body| body.get("ask_opened").cloned());
    for kind in ["steer", "follow_up"] {
        let input = json!({ "text": format!("a {kind} that waits") });
        ui.command(Some(STOPPED), &json!({"enqueue": {"kind": kind, "input": input}}));
    }
    let answer = json!({"answer": {"ask": asked["id"], "answer": {"confirmed": true}}});
    ui.command(Some(STOPPED), &answer);
    assert_eq!(ui.follow(STOPPED, agree, ended), "done");

    ui.command(None, &elsewhere(PICTURE, "A picture"));
    let image = json!({"image": {"mime": "image/png", "base64": PNG}});
    let input = json!({"input": {"text": "What is this?", "attachments": [image]}});
    ui.prompt(PICTURE, &input, agree, ended);
    ui.command(None, &json!({"list_sessions": {"scope": "all"}}));
    ui.command(None, &json!({"history": {"session": BRANCHES, "max_runs": 2, "max_events": 100}}));
    ui.leave()
}

/// The entry of the first answer in the newest session.
fn first_answer(heard: &[String]) -> Value {
    let bodies = heard.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let started = bodies.filter(|line| line["event"]["session"] == BRANCHES).find_map(|line| {
        let started = line.pointer("/event/event/body/message_started")?;
        (started["role"] == "assistant").then(|| started["message"].clone())
    });
    started.unwrap()
}

/// One conversation dies while a tool runs, one while a person is asked.
fn die(binary: &Path, world: &Path) {
    let mut ui = serve(binary, world, LAST_TALK, &[]);
    ui.new_session(RUNNING, "Killed while a tool ran");
    ui.prompt(RUNNING, &text("run it"), agree, |body| body.get("tool_progress").map(drop));
    ui.command(None, &elsewhere(ASKING, "Killed while it asked"));
    ui.prompt(ASKING, &text("write it"), agree, |body| body.get("ask_opened").map(drop));
    ui.kill();
}

/// A conversation of so many events that its store keeps a snapshot.
fn stream(binary: &Path, world: &Path) {
    let words: Vec<String> = (1..=1_200).map(|n| format!("text \"word {n} \"")).collect();
    let mut ui = serve(binary, world, &format!("model {}\n", words.join(" | ")), &[]);
    ui.new_session(STREAM, "A long stream");
    ui.prompt(STREAM, &text("count in words"), agree, ended);
    ui.leave();
}

/// The same small conversation on every other wire, both sides by the same program.
fn every_wire(binary: &Path, world: &Path) {
    for &dialect in Release::current().wires {
        set_small_scene(world);
        let recording = world.join(format!("{dialect}.txt")).display().to_string();
        let serve = ["serve", "--ephemeral", "--dialect", dialect, "--model", "scripted/model.txt"];
        let attach = ["attach", "--dialect", dialect, "--prompt", SMALL_PROMPT, "--record"];
        let attach = [&attach[..], &[recording.as_str()]].concat();
        let said = if dialect == "nous" {
            let serve = [&serve[..], &["--socket", "s"]].concat();
            let child = program(binary, world, &serve).stderr(Stdio::piped()).spawn().unwrap();
            let mut serving = Running(child);
            // It says where it listens once it does.
            let stderr = serving.0.stderr.take().unwrap();
            let mut lines = std::io::BufRead::lines(std::io::BufReader::new(stderr));
            assert!(lines.any(|line| line.unwrap().contains("serving nous")));
            program(binary, world, &[&attach[..], &["--socket", "s"]].concat()).output().unwrap()
        } else {
            let binary_text = binary.display().to_string();
            let args = [&attach[..], &["--", &binary_text], &serve[..], &["--stdio"]].concat();
            program(binary, world, &args).output().unwrap()
        };
        assert!(
            crate::release::stdout(&said).contains(SMALL_ANSWER),
            "{dialect}: {}",
            crate::release::stderr(&said)
        );
    }
}

/// What belongs to the machine that made the store: who held its leases.
fn forget_machine(data: &Path) {
    let connection = Connection::open(data.join("sessions.db")).unwrap();
    connection
        .execute_batch(
            "PRAGMA secure_delete = ON;
             UPDATE leases SET host = 'elsewhere', started = 1, expires = min(expires, 1),
                 owner = CASE owner WHEN '' THEN '' ELSE 'elsewhere/' || session END;
             PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = delete; PRAGMA journal_mode = wal;",
        )
        .unwrap();
}

/// Each session with its last event and the hash of its fold.
pub(crate) fn hashes(data: &Path, of: fn(&State) -> StateHash) -> String {
    let store = SqliteStore::at(data).unwrap();
    let mut lines: Vec<String> = Vec::new();
    for summary in store.list(&Listing::default()).unwrap() {
        let state = store.load(&summary.id).unwrap().state;
        lines.push(format!("{} {} {}\n", summary.id, state.seq.0, of(&state)));
    }
    lines.sort();
    lines.concat()
}

fn make(binary: &Path, world: &Path) {
    // The store tells which program a conversation was with: a name that every machine could have.
    let named = world.join("parlor");
    std::os::unix::fs::symlink(fs::canonicalize(binary).unwrap(), &named).unwrap();
    let binary = named.as_path();
    for folder in ["project", "data", "config", "out/native", "out/exports", "out/wires"] {
        fs::create_dir_all(world.join(folder)).unwrap();
    }
    fs::create_dir(world.join("project/.git")).unwrap();
    fs::write(world.join("project/notes.md"), "# Notes\n\nalpha\nüber\n").unwrap();
    fs::create_dir(world.join("project/gone")).unwrap();
    let out = world.join("out");
    let (said, heard) = converse(binary, world);
    fs::write(out.join("native/from-ui.jsonl"), said.join("\n") + "\n").unwrap();
    fs::write(out.join("native/from-runtime.jsonl"), heard.join("\n") + "\n").unwrap();
    fs::copy(world.join("recording.txt"), out.join("native/recording.txt")).unwrap();
    fs::copy(world.join("project/saved.json"), out.join("exports/saved.json")).unwrap();
    stream(binary, world);
    die(binary, world);
    every_wire(binary, world);
    for &dialect in Release::current().wires {
        fs::copy(world.join(format!("{dialect}.txt")), out.join(format!("wires/{dialect}.txt"))).unwrap();
    }
    for session in [STORY, BRANCHES, LONG, STOPPED, PICTURE, RUNNING, ASKING] {
        for format in ["jsonl", "md", "html"] {
            if format != "jsonl" && session != STORY {
                continue;
            }
            let file = out.join(format!("exports/{session}.{format}")).display().to_string();
            let done =
                program(binary, world, &["sessions", "export", session, "-o", &file]).output().unwrap();
            assert!(done.status.success(), "{}", crate::release::stderr(&done));
        }
    }
    let list = program(binary, world, &["sessions", "list", "--all", "--json"]).output().unwrap();
    fs::write(out.join("list.json"), list.stdout).unwrap();
    fs::write(world.join("config/config.toml"), SETTINGS).unwrap();
    let added = ["mcp", "add", "clock", "--", "clock-server", "--utc"];
    assert!(program(binary, world, &added).output().unwrap().status.success());
    for file in ["config.toml", "mcp.json"] {
        fs::copy(world.join("config").join(file), out.join(file)).unwrap();
    }
    // What was asked lies beside the rules, and is of a week.
    let kept = fs::read_dir(world.join("data/rules")).unwrap().map(|entry| entry.unwrap().path());
    let rules: Vec<PathBuf> =
        kept.filter(|path| path.extension().is_some_and(|kind| kind == "json")).collect();
    assert_eq!(rules.len(), 1, "{rules:?}");
    fs::copy(&rules[0], out.join("rules.json")).unwrap();
    forget_machine(&world.join("data"));
    fs::write(out.join("hashes.txt"), hashes(&world.join("data"), State::hash_of_revision_1)).unwrap();
    fs::write(out.join("hashes-2.txt"), hashes(&world.join("data"), State::hash)).unwrap();
    forget_machine(&world.join("data"));
    fs::copy(world.join("data/sessions.db"), out.join("sessions.db")).unwrap();
}

#[test]
fn the_recipe_makes_fixtures() {
    if let Some(binary) = std::env::var_os(FROM) {
        let world = Release::current().world();
        let _ = fs::remove_dir_all(&world);
        fs::create_dir_all(&world).unwrap();
        make(Path::new(&binary), &world);
        copy_over(&world.join("out"), &Release::current().fixtures());
        fs::remove_dir_all(&world).unwrap();
        return;
    }
    let world = tempfile::tempdir().unwrap();
    make(Path::new(PARLOR), world.path());
    let store = SqliteStore::at(&world.path().join("out")).unwrap();
    let story = SessionId::parse(STORY).unwrap();
    assert!(store.events(&story, Seq(0), usize::MAX).unwrap().len() > 100);
}

fn copy_over(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_over(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).map(drop).unwrap();
        }
    }
}
