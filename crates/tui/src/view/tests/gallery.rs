//! The main screens as pictures: every one can be drawn in every width and colour, and those of the README are what is drawn.
//! `PARLOR_PICTURES=FOLDER` keeps them all, to be looked at (`cargo xtask picture FOLDER`).

mod film;
mod scenes;

use super::*;
use crate::commands::{FleetHere, Restart};
use crate::msg::FleetNews;
use crate::theme::Theme;
use domain::fleet::{Row, Status};
use domain::port::Abilities;
use domain::session::{FoundWords, ModelEntry, Origin, RuntimePlace};
use ratatui_core::style::Color;
use std::sync::Arc;

/// Widths from a phone's to a large screen's, each with the rows of such a screen.
const SIZES: [(u16, u16); 4] = [(40, 30), (80, 24), (120, 36), (200, 50)];
const THEMES: [Theme; 4] = [Theme::Dark, Theme::Light, Theme::Terminal, Theme::Plain];
/// A quarter past eight on a Tuesday.
const NOW: u64 = 1_767_082_500_000;
/// The process of the screen.
const HERE: u32 = 4_001;

pub(super) type Scene = (&'static str, fn(&mut AttachedUi));

pub(super) const SCENES: &[Scene] = &[
    ("first", first),
    ("first-told", first_told),
    ("conversation", conversation),
    ("working", working),
    ("question-write", question_write),
    ("question-command", question_command),
    ("question-choose", question_choose),
    ("question-plan", scenes::question_plan),
    ("sub-agent", scenes::sub_agent),
    ("ports", scenes::ports),
    ("servers", scenes::servers),
    ("fleet", fleet),
    ("keys", |stage| stage.ui.keys("?")),
    ("commands", |stage| stage.ui.keys("/")),
    ("sessions", sessions),
    ("search", search),
    ("models", models),
    ("rules", rules),
    ("devices", devices_of_page),
    ("themes", |stage| stage.ui.keys("/theme<enter>")),
    ("settings", |stage| stage.ui.keys("/settings<enter>")),
    ("status", status),
    ("error", error),
    ("lost", lost),
];

/// A screen as a person has it: in a folder with a branch, with a model.
pub(super) fn stage(columns: u16, rows: u16) -> AttachedUi {
    let mut stage = AttachedUi::on(Abilities::all("parlor 0.1.0"), columns, rows);
    stage.ui.wait(NOW);
    let examples =
        ["what does this project do?", "run the tests and tell me what fails", "find a small TODO and do it"];
    let note = Note {
        examples: examples.map(str::to_owned).to_vec(),
        model: Some("claude-sonnet-4-5".into()),
        ..Note::default()
    };
    let about = About {
        program: "Parlor 0.1.0".into(),
        settings: "/home/ann/.config/parlor/config.toml".into(),
        note,
        ..About::default()
    };
    stage.ui.tell(about);
    let model = ModelRef { provider: "anthropic".into(), name: "claude-sonnet-4-5".into() };
    stage.happen(Body::Session(SessionEvent::ModelChosen { model }));
    stage.ui.feed(Msg::Branch { cwd: "/w/shop".into(), name: Some("main".into()) });
    stage.ui.model.screen.start.stand(Restart::Start, false);
    stage.ui.model.screen.start.survey(FleetHere { pid: HERE, visits: true });
    stage
}

fn first(_: &mut AttachedUi) {}

pub(super) fn first_told(stage: &mut AttachedUi) {
    let told = crate::settings::Settings::default().set("theme", "drak").unwrap_err();
    let about = stage.ui.model.screen.start.about().clone();
    stage.ui.tell(About { told: vec![told], ..about });
}

/// What a run took so far, paid as the model is in the list of models.
fn usage(stage: &mut AttachedUi, input: u64, output: u64) {
    let usage = Usage { input, output, cost_micros: input * 3 + output * 15, ..Usage::default() };
    stage.happen(Body::Run(RunEvent::StepEnded { step: StepId(4), usage }));
    let used = input + output;
    stage.happen(Body::Context(ContextEvent::Measured { used, window: 200_000, rough: false }));
}

pub(super) fn conversation(stage: &mut AttachedUi) {
    stage.run("make the total readable");
    let thought = "The cart keeps its items in a list.\nThe sum is made by hand; an iterator says the same.";
    let (message, kind) = (MessageId(5), TextKind::Thought);
    stage.happen(Body::Message(MessageEvent::Delta { message, kind, text: thought.into() }));
    let read = tool(stage, 20, "read", r#"{"path":"src/cart.rs"}"#);
    let file = "impl Cart {\n    /// What is to be paid.\n    fn total(&self) -> u64 {\n        let mut s = 0;\n        for i in &self.items { s += i.price; }\n        return s;\n    }\n}\n";
    ended(stage, read, ToolOutcome::Done, file, Vec::new());
    looks::changed(stage);
    stage.text(ANSWER);
    usage(stage, 24_700, 1_300);
    stage.ui.wait(8_400);
    stage.end(Outcome::Done);
}

const ANSWER: &str = "## What changed\n\nThe sum was made **by hand**; now it is *one expression*, see [the book](https://example.org/iter) and `src/cart.rs`:\n\n1. `total` is public, since the till needs it\n2. it gives a `Money`\n   - which knows its currency\n   - and cannot be mixed with a count\n\n| before | after | lines |\n|---|---|---:|\n| a loop | an iterator | −2 |\n| `u64` | `Money` | 0 |\n\n```rust\nlet sum = cart.total(); // 12.50\nassert_eq!(sum, Money::new(12, 50));\n```\n\n> Prices in *foreign* money are still refused.\n";

pub(super) fn working(stage: &mut AttachedUi) {
    looks::work(stage);
    usage(stage, 24_700, 1_300);
    let (item, kind) = (QueuedId(30), QueueKind::FollowUp);
    let input = Input::text("then write the changelog");
    stage.happen(Body::Queue(QueueEvent::Added { item, kind, input, by: None }));
    let live = tool(stage, 23, "bash", r#"{"command":"cargo test -p shop --all-features"}"#);
    stage.happen(Body::Tool(ToolEvent::Started { tool: live }));
    let progress = Progress::Output("   Compiling money v0.3.1\n   Compiling shop v0.1.0\n".into());
    stage.happen(Body::Tool(ToolEvent::Progress { tool: live, progress }));
    stage.ui.wait(14_000);
    stage.ui.keys("and keep the old name as an alias");
}

fn asked(stage: &mut AttachedUi, title: &str, kind: Consent) {
    ask(stage, 40, title, AskKind::Consent(Box::new(kind)));
    stage.ui.wait(2_000);
}

fn consent_to(
    tool: ToolRunId,
    name: &str,
    args: &str,
    preview: Preview,
    risk: Risk,
    reason: &str,
) -> Consent {
    let assessment =
        Assessment { risk, reasons: vec![reason.into()], reversible: risk < Risk::High, unrated: false };
    let (args, preview) = (Json::verbatim(args), Some(preview));
    let digest = ActionDigest("d".into());
    Consent { tool, name: name.into(), args, preview, assessment, digest, rule: None, takes_reason: true }
}

pub(super) fn question_write(stage: &mut AttachedUi) {
    stage.run("make the greeting of the till warmer");
    let read = tool(stage, 20, "read", r#"{"path":"src/main.rs"}"#);
    let file = "//! The till.\n\nfn main() {\n    let name = std::env::args().nth(1);\n    println!(\"hello\");\n}\n";
    ended(stage, read, ToolOutcome::Done, file, Vec::new());
    stage.text("It says only `hello`. I let it name who is greeted, and say how the day is.\n");
    let args = r#"{"path":"src/main.rs"}"#;
    let id = tool(stage, 21, "write", args);
    let text = "@@ -1,6 +1,9 @@\n //! The till.\n \n fn main() {\n-    let name = std::env::args().nth(1);\n-    println!(\"hello\");\n+    let name = std::env::args().nth(1).unwrap_or(\"friend\".into());\n+    println!(\"hello, {name}\");\n+    if let Some(day) = today() {\n+        println!(\"a fine {day} to you\"); // as it is said in the house\n+    }\n }\n";
    let preview = Preview::Diff { path: "src/main.rs".into(), text: text.into() };
    let mut kind = consent_to(id, "write", args, preview, Risk::Medium, "changes a file");
    kind.rule = Some("write files under /w/shop".into());
    asked(stage, "overwrite src/main.rs", kind);
}

pub(super) fn question_command(stage: &mut AttachedUi) {
    stage.run("make room on the disk");
    let look = tool(stage, 20, "bash", r#"{"command":"du -sh target node_modules"}"#);
    ended(stage, look, ToolOutcome::Done, "4.1G\ttarget\n820M\tnode_modules\n", Vec::new());
    let line = "git clean -fdx && rm -rf ~/.cache/shop";
    let args = r#"{"command":"git clean -fdx && rm -rf ~/.cache/shop"}"#;
    let id = tool(stage, 21, "bash", args);
    let inner = vec!["git clean -fdx".into(), "rm -rf ~/.cache/shop".into()];
    let preview = Preview::Command { line: line.into(), inner };
    let mut kind =
        consent_to(id, "bash", args, preview, Risk::High, "`rm -rf` removes files outside the project");
    kind.assessment.reasons.insert(0, "`git clean` removes files that git does not keep".into());
    asked(stage, &format!("run `{line}`"), kind);
}

pub(super) fn question_choose(stage: &mut AttachedUi) {
    stage.run("add a database");
    let choice = |id: &str, label: &str, detail: &str| Choice {
        id: id.into(),
        label: label.into(),
        detail: Some(detail.into()),
    };
    let choices = vec![
        choice("a", "SQLite", "one file, nothing to run"),
        choice("b", "PostgreSQL", "a server; several programs at once"),
        choice("c", "None yet", "keep the carts in memory"),
    ];
    let message = "The shop has one process and few writes. What shall carts be kept in?".into();
    ask(stage, 40, "Which database?", AskKind::Choose { message, choices, many: false });
    stage.ui.wait(2_000);
}

/// A session of the person, as every screen that tells of it has it.
struct Kept {
    row: Row,
    messages: u64,
    prompt: &'static str,
}

/// All of them; the first is the one of the other screens.
fn kept() -> Vec<Kept> {
    let minutes = 60_000;
    let row = |number: u64, status: Status, title: &str, cwd: &str, ago: u64| Row {
        status,
        session: Some(SessionId::from_number(number)),
        pid: Some(4_000 + u32::try_from(number).unwrap()),
        title: title.into(),
        cwd: cwd.into(),
        since: Millis(NOW - ago * minutes),
        cost_micros: Some(number * 31_000),
        rough: false,
        branch: Some("main".into()),
        runtime: None,
        tasks: Vec::new(),
    };
    let kept = |row, messages, prompt| Kept { row, messages, prompt };
    let waits = |question: &str, ask| Status::Waiting { asks: 1, question: question.into(), ask };
    let done = || Status::Ended(Outcome::Done);
    let failure = Failure::new("model_overloaded", "the model is overloaded");
    let total = row(1, done(), "make the total readable", "/w/shop", 0);
    let till = row(2, waits("Which database?", None), "a till for the shop", "/w/shop", 3);
    let check = row(3, Status::Running, "why does make check fail on the mac", "/w/shop", 1);
    let closed = row(4, Status::Kept, "une aide en français", "/w/shop", 3_000);
    let bridge = row(
        5,
        waits("overwrite src/bridge.rs", Some(Box::new(scenes::elsewhere()))),
        "mend the bridge to codelia",
        "/w/bridge",
        14,
    );
    let parser = row(6, Status::Running, "port the parser", "/w/lang", 6);
    let notes = row(7, done(), "release notes for 0.3", "/w/lang", 55);
    let manual = row(8, Status::Ended(Outcome::Failed(failure)), "translate the manual", "/w/shop", 130);
    vec![
        kept(Row { pid: Some(HERE), cost_micros: Some(93_600), ..total }, 2, "make the total readable"),
        kept(Row { branch: Some("parlor/till".into()), ..till }, 8, "add a database"),
        kept(check, 12, "show me the whole output"),
        kept(Row { runtime: Some("codex".into()), cost_micros: None, ..parser }, 6, "now the errors"),
        kept(bridge, 20, "go on with the second half"),
        kept(notes, 28, "shorter, please"),
        kept(Row { cost_micros: Some(28_200), ..manual }, 2, "translate the manual"),
        // What git has checked out is known of live ones only.
        kept(Row { pid: None, branch: None, ..closed }, 16, "plus court"),
    ]
}

/// The same in the order of the fleet.
fn fleet_of_all() -> Arc<Vec<Row>> {
    let mut rows: Vec<Row> = kept().into_iter().map(|kept| kept.row).collect();
    let rank = |row: &Row| match row.status {
        Status::Waiting { .. } => (0, row.since.0),
        Status::Running => (1, row.since.0),
        _ => (2, 0),
    };
    rows.sort_by_key(rank);
    Arc::new(rows)
}

pub(super) fn fleet(stage: &mut AttachedUi) {
    stage.ui.keys("<alt-o>");
    stage.ui.feed(Msg::Fleet(FleetNews::Rows(fleet_of_all())));
}

/// Answers the last command that asked for a list.
fn answer(stage: &mut AttachedUi, receipt: Receipt) {
    let asked = stage.ui.fx.iter().rev().find_map(|fx| match fx {
        Fx::Send(outgoing) => Some(outgoing.ticket),
        _ => None,
    });
    stage.ui.hear(News::Settled { ticket: asked.unwrap(), with: Ok(receipt) });
}

pub(super) fn sessions(stage: &mut AttachedUi) {
    // Who waits elsewhere is told, as the setting says.
    stage.ui.model.screen.fleet.take(fleet_of_all());
    stage.ui.keys("<ctrl-x>");
    let summary = |Kept { row, messages, prompt }: Kept| SessionSummary {
        id: row.session.clone().unwrap(),
        title: row.title.clone(),
        cwd: row.cwd.clone(),
        project: row.cwd.clone(),
        created_at: Millis(row.since.0 - 7_200_000),
        updated_at: row.since,
        messages,
        last_prompt: Some(prompt.into()),
        last_run: None,
        running: row.is_busy(),
        elsewhere: false,
        outcome: match &row.status {
            Status::Ended(outcome) => Some(Box::new(outcome.clone())),
            _ => None,
        },
        usage: Usage { cost_micros: row.cost_micros.unwrap_or_default(), ..Usage::default() },
        found: None,
        origin: row.runtime.map(|dialect| {
            let place = RuntimePlace::Socket { path: format!("/run/{dialect}.sock") };
            Box::new(Origin { dialect, place, session: None })
        }),
    };
    // As the runtime lists them: the one that changed last stands first.
    let mut own: Vec<SessionSummary> = kept().into_iter().map(summary).collect();
    own.sort_by_key(|session| std::cmp::Reverse(session.updated_at));
    answer(stage, Receipt::Sessions(own));
    stage.ui.keys("<down>");
}

/// A search over all sessions, half typed.
pub(super) fn search(stage: &mut AttachedUi) {
    stage.ui.keys("/search<enter>pars");
    let found = |number: u64, title: &str, cwd: &str, hours: u64, text: &str| SessionSummary {
        title: title.into(),
        cwd: cwd.into(),
        updated_at: Millis(NOW - hours * 3_600_000),
        found: Some(Box::new(FoundWords {
            text: text.into(),
            at: Millis(NOW - hours * 3_600_000),
            entry: domain::ids::EntryId(number),
        })),
        ..SessionSummary::new(SessionId::from_number(number))
    };
    let sessions = vec![
        found(
            41,
            "speed up the parser",
            "/w/bridge",
            2,
            "The parser reads each line twice: once for its length, and once more to split it.",
        ),
        found(
            38,
            "which crates do we use?",
            "/w/shop",
            26,
            "…and `serde_json` parses the settings; nothing else depends on it.",
        ),
        found(
            22,
            "weekly report",
            "/w/notes",
            24 * 9,
            "Dates are parsed as day first, which is wrong for the American files.",
        ),
    ];
    answer(stage, Receipt::Sessions(sessions));
}

pub(super) fn models(stage: &mut AttachedUi) {
    stage.ui.keys("/model<enter>");
    let model = |provider: &str, name: &str, window, price: Option<(u64, u64)>| ModelEntry {
        model: ModelRef { provider: provider.into(), name: name.into() },
        context_window: window,
        max_output: None,
        price_input: price.map(|(input, _)| input),
        price_output: price.map(|(_, output)| output),
        thinks: None,
    };
    let models = vec![
        model("anthropic", "claude-opus-4-1", Some(200_000), Some((15_000_000, 75_000_000))),
        model("anthropic", "claude-sonnet-4-5", Some(200_000), Some((3_000_000, 15_000_000))),
        model("ollama", "qwen3", Some(32_768), None),
        model("offline", "offline", Some(100_000), Some((0, 0))),
    ];
    let current = Some(models[1].model.clone());
    answer(stage, Receipt::Models { models, current });
}

pub(super) fn rules(stage: &mut AttachedUi) {
    stage.ui.keys("/rules<enter>");
    let told = r#"{"session":[{"words":"write files under /w/shop","rule":{}}],"projects":[{"project":"/w/shop","here":true,"rules":[{"words":"run `cargo test` with any arguments","rule":{},"narrow":"cargo test"},{"words":"run exactly `make check`","rule":{},"narrow":"make check"}]},{"project":"/w/bridge","here":false,"rules":[{"words":"fetch from docs.rs","rule":{}}]}],"unread":[]}"#;
    answer(stage, Receipt::Extension(Json::verbatim(told)));
}

fn devices_of_page(stage: &mut AttachedUi) {
    stage.ui.model.screen.start.enlist();
    stage.ui.feed(Msg::Fleet(FleetNews::Asking(Some(devices::asking(3)))));
    stage.ui.keys("/devices<enter>");
    let all = vec![devices::device("dev-Xb4q9TzKc1o", "Chrome on Android")];
    stage.ui.feed(Msg::Fleet(FleetNews::Devices(all)));
}

fn status(stage: &mut AttachedUi) {
    conversation(stage);
    stage.ui.keys("/status<enter>");
}

pub(super) fn error(stage: &mut AttachedUi) {
    stage.ui.model.screen.composer.remember("translate the manual".to_owned());
    stage.run("translate the manual");
    let bash = tool(stage, 20, "bash", r#"{"command":"make manual"}"#);
    let said = "sh: 1: pandoc: not found\nmake: *** [Makefile:12: manual] Error 127\n";
    ended(stage, bash, ToolOutcome::Failed, said, Vec::new());
    stage.text("`pandoc` is missing here. I look for another w");
    usage(stage, 8_200, 240);
    stage.ui.wait(4_200);
    let failure = Failure::new("model_overloaded", "the model is overloaded")
        .hint("wait a minute, or switch it with /model");
    stage.end(Outcome::Failed(failure));
}

pub(super) fn lost(stage: &mut AttachedUi) {
    conversation(stage);
    let said = "it ended with code 3. /restart starts it again (Ctrl-D quits)\nboom: no config\ngiving up";
    stage.ui.hear(News::Link(LinkState::Lost(said.into())));
}

/// The words of a screen alone.
fn bare(screen: &str) -> String {
    screen.chars().filter(|c| !c.is_whitespace() && !"`│─┼".contains(*c)).collect()
}

#[test]
fn every_screen_is_drawn_in_every_width_and_colour() {
    let folder = std::env::var_os("PARLOR_PICTURES").map(std::path::PathBuf::from);
    for (name, scene) in SCENES {
        for (columns, rows) in SIZES {
            let mut stage = stage(columns, rows);
            scene(&mut stage);
            let plain = stage.ui.screen();
            for theme in THEMES {
                stage.ui.wear(theme);
                let (buffer, caret) = stage.ui.draw();
                let coloured =
                    buffer.content().iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
                assert_eq!(coloured, theme != Theme::Plain, "{name} in {}", theme.name());
                // Without colours code keeps its backticks, which moves what stands behind it.
                if theme != Theme::Plain {
                    assert_eq!(stage.ui.screen(), plain, "{name} is something else in {}", theme.name());
                } else if columns == 200 {
                    assert_eq!(bare(&stage.ui.screen()), bare(&plain), "{name} is something else in plain");
                }
                if let Some(folder) = &folder {
                    std::fs::create_dir_all(folder).unwrap();
                    let file = folder.join(format!("{name}-{columns:03}-{}.svg", theme.name()));
                    std::fs::write(file, crate::svg::svg(&buffer, caret, theme)).unwrap();
                    if theme == Theme::Terminal {
                        let file = folder.join(format!("{name}-{columns:03}-terminal-light.svg"));
                        std::fs::write(file, crate::svg::svg(&buffer, caret, Theme::Light)).unwrap();
                    }
                }
            }
        }
    }
}

/// `UPDATE_EXPECT=1 cargo test -p tui` draws them again.
#[test]
fn the_pictures_of_the_readme_are_what_is_drawn() {
    for (name, scene) in [("question", question_command as fn(&mut AttachedUi)), ("work", working)] {
        for theme in [Theme::Dark, Theme::Light] {
            let mut stage = stage(90, 36);
            // As a session begins in a project.
            stage.happen(Body::Session(SessionEvent::PolicyChosen { policy: Policy::Sandboxed }));
            scene(&mut stage);
            stage.ui.wear(theme);
            let path = format!("{}/../../docs/img/{name}-{}.svg", env!("CARGO_MANIFEST_DIR"), theme.name());
            let (buffer, caret) = stage.ui.draw();
            expect_file![path].assert_eq(&crate::svg::svg(&buffer, caret, theme));
        }
    }
}
