//! Screens with their styles, at 40, 80 and 120 columns. `UPDATE_EXPECT=1 cargo test -p tui` writes them anew.

mod devices;
mod everywhere;
mod finished;
mod fleet;
mod found;
mod gallery;
mod keyboard;
mod looks;
mod panels;
mod passing;
mod questions;
mod theirs;
mod whole;
mod words;

use crate::about::{About, Note};
use crate::msg::{Fx, Msg};
use crate::update::tests::{AttachedUi, said};
use domain::ask::{ActionDigest, Ask, AskKind, Assessment, Choice, Consent, Preview, Risk};
use domain::command::{Receipt, Refusal, RefusalKind};
use domain::content::{Input, Json, Part, TextKind, Usage};
use domain::event::{
    AskEvent, Body, CACHE_LOST, ContextEvent, Failure, Finish, MessageEvent, NoteEvent, Outcome, PlanItem,
    PlanState, QueueEvent, RunEvent, SessionEvent, ToolEvent,
};
use domain::ids::{AskId, MessageId, Millis, QueuedId, RunId, SessionId, StepId, ToolRunId};
use domain::port::{LinkState, News};
use domain::queue::QueueKind;
use domain::session::{Budget, ModelRef, Policy, SessionSummary};
use domain::signal::{Level, Signal, WidgetPlace};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use expect_test::expect_file;

/// Draws a scene at each width and holds it against its file.
fn check(name: &str, rows: u16, scene: impl Fn(&mut AttachedUi)) {
    check_at(name, &[(40, rows), (80, rows), (120, rows)], scene);
}

/// Draws a scene at each size and holds it against its file.
fn check_at(name: &str, sizes: &[(u16, u16)], scene: impl Fn(&mut AttachedUi)) {
    let mut all = String::new();
    for &(columns, rows) in sizes {
        let mut stage = AttachedUi::new(columns, rows);
        scene(&mut stage);
        let (_, caret) = stage.ui.draw();
        let caret = caret.map_or("none".to_owned(), |at| format!("{},{}", at.x, at.y));
        all.push_str(&format!("=== {columns}x{rows}, caret {caret}\n{}", stage.ui.dump()));
    }
    let path = format!("{}/src/view/snapshots/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    expect_file![path].assert_eq(&all);
}

fn tool(stage: &mut AttachedUi, id: u64, name: &str, args: &str) -> ToolRunId {
    let tool = ToolRunId(id);
    let (name, args) = (name.to_owned(), Json::verbatim(args));
    stage.happen(Body::Tool(ToolEvent::Proposed { tool, message: MessageId(5), name, args }));
    tool
}

fn ended(stage: &mut AttachedUi, tool: ToolRunId, outcome: ToolOutcome, text: &str, parts: Vec<Part>) {
    stage.happen(Body::Tool(ToolEvent::Started { tool }));
    let result = ToolResult { text: text.to_owned(), parts, json: None, truncated: false };
    stage.happen(Body::Tool(ToolEvent::Ended { tool, outcome, result }));
}

const DIFF: &str = "@@ -1,3 +1,4 @@\n use std::io;\n-fn answer() -> u32 { 41 }\n+fn answer() -> u32 { 42 }\n+fn extra() {}\n // end\n";

fn ask(stage: &mut AttachedUi, id: u64, title: &str, kind: AskKind) {
    let ask = Ask { id: AskId(id), run: Some(RunId(1)), title: title.into(), kind, deadline: None };
    stage.happen(Body::Ask(AskEvent::Opened(ask)));
    stage.ui.wait(crate::ask::SEEN_MS);
}

fn consent(tool: ToolRunId, preview: Preview, risk: Risk) -> AskKind {
    AskKind::Consent(Box::new(Consent {
        tool,
        name: "bash".into(),
        args: Json::verbatim(r#"{"command":"rm -rf build"}"#),
        preview: Some(preview),
        assessment: Assessment {
            risk,
            reasons: vec!["removes files".into(), "outside version control".into()],
            reversible: false,
            unrated: false,
        },
        digest: ActionDigest("d".into()),
        rule: Some("rm in this project".into()),
        takes_reason: true,
    }))
}

#[test]
fn pictures() {
    use crate::picture::{Graphics, Pixels};
    let base64 = crate::picture::tests::png(160, 96);
    let image = Part::Image { mime: "image/png".into(), base64: base64.clone() };
    let told = |stage: &mut AttachedUi| {
        stage.run("look at this");
        stage.happen(Body::Message(MessageEvent::PartAdded { message: MessageId(5), part: image.clone() }));
    };
    check("picture_names", 14, told);
    check("pictures", 14, |stage| {
        told(stage);
        stage.ui.model.screen.preferences.draw_with(Graphics::Blocks);
        let columns = usize::from(stage.ui.model.screen.window.size().0) - 2;
        let framed = crate::picture::framed(&base64, columns).unwrap();
        let rgb = [[200, 30, 30], [30, 200, 30], [30, 30, 200], [220, 220, 220]].concat().into();
        let pixels = Pixels { width: 2, height: 2, rgb };
        let decoded = Some(crate::picture::Decoded { pixels, png: None });
        stage.ui.feed(Msg::Picture { framed, decoded });
    });
}

#[test]
fn first_screen_in_the_sandbox() {
    check("first_screen_in_the_sandbox", 22, |stage| {
        let told = Some("new: it works unasked; policy = \"ask\" goes back".into());
        let note = Note { words: "model: offline".into(), told, ..Note::default() };
        let settings = "/home/ann/.config/parlor/config.toml".into();
        stage.ui.tell(About { program: "parlor 0.1.0".into(), settings, note, ..About::default() });
        stage.happen(Body::Session(SessionEvent::PolicyChosen { policy: Policy::Sandboxed }));
    });
}

/// The first screen before anything is known, and as soon as it is.
#[test]
fn the_first_screen_has_eight_rows_and_does_not_jump() {
    let examples = vec!["list files".into(), "read README.md".into(), "think".into()];
    let about = |told: Vec<String>, note| About {
        program: "parlor 0.1.0".into(),
        folder: "/w/shop".into(),
        told,
        note,
        ..About::default()
    };
    let known = Note {
        words: "model: offline (no API key found). /login adds an API key, for a real model".into(),
        examples,
        told: Some("new: it works unasked; policy = \"ask\" goes back".into()),
        ..Note::default()
    };
    let of = |screen: &str| screen.lines().map(str::trim_end).map(str::to_owned).collect::<Vec<_>>();
    for (columns, most) in [(80, 8), (120, 8), (40, 8)] {
        for told in
            [Vec::new(), vec!["steer: Ctrl-C always keeps its meaning; choose another key".to_owned(); 3]]
        {
            let mut first = crate::headless::Headless::new(columns, 24);
            first.tell(about(told.clone(), Note::default()));
            let before = of(&first.screen());
            let mut stage = AttachedUi::new(columns, 24);
            stage.ui.tell(about(told, known.clone()));
            for policy in Policy::ALL {
                stage.happen(Body::Session(SessionEvent::PolicyChosen { policy }));
                let after = of(&stage.ui.screen());
                let high = after.iter().position(|line| line.starts_with('─')).unwrap();
                let used = after[..high].iter().rposition(|line| !line.is_empty()).unwrap() + 1;
                assert!(used <= most, "{columns}: {after:#?}");
                let keys = |lines: &[String]| lines.iter().position(|line| line.contains("shows all keys"));
                assert!(keys(&before).is_some(), "{before:#?}");
                if columns > 40 {
                    assert_eq!(keys(&before), keys(&after), "{before:#?} {after:#?}");
                    for words in ["parlor 0.1.0", "model ", "folder ", "! steer"] {
                        let at = |lines: &[String]| lines.iter().position(|line| line.contains(words));
                        assert_eq!(at(&before), at(&after), "{words}: {before:#?} {after:#?}");
                    }
                    assert!(
                        after.iter().any(|line| line.contains(crate::policy::asks_when(policy))),
                        "{after:#?}"
                    );
                }
            }
        }
    }
}

#[test]
fn first_screen() {
    check("first_screen", 22, |stage| {
        let note = Note {
            words: "model: offline (no key found)".into(),
            examples: vec!["list files".into(), "read README.md".into()],
            model: Some("offline".into()),
            ..Note::default()
        };
        stage.ui.tell(About { program: "parlor 0.1.0".into(), note, ..About::default() });
        stage.ui.feed(Msg::Branch { cwd: "/w/shop".into(), name: Some("main".into()) });
    });
}

#[test]
fn the_footer_tells_model_mode_folder_and_branch_before_anything_was_said() {
    let mut stage = AttachedUi::new(80, 24);
    let note = Note { model: Some("fake-1".into()), ..Note::default() };
    stage.ui.feed(Msg::Note(note));
    stage.ui.feed(Msg::Branch { cwd: "/w/shop".into(), name: Some("feature/x".into()) });
    let screen = stage.ui.screen();
    assert!(screen.contains("fake-1 · asks first · shop · feature/x"), "{screen}");
    // Of another folder nothing is known.
    stage.ui.feed(Msg::Branch { cwd: "/w/other".into(), name: Some("elsewhere".into()) });
    assert!(!stage.ui.screen().contains("elsewhere"));
    // One that was chosen, or has answered, leads.
    let model = ModelRef { provider: "p".into(), name: "chosen".into() };
    stage.happen(Body::Session(SessionEvent::ModelChosen { model }));
    let screen = stage.ui.screen();
    assert!(screen.contains("chosen · asks first") && !screen.contains("fake-1"), "{screen}");
}

#[test]
fn the_footer_tells_model_and_branch_before_there_is_a_session() {
    let mut ui = crate::Headless::new(80, 24);
    ui.feed(Msg::Branch { cwd: "/w/shop".into(), name: Some("feature/x".into()) });
    assert!(ui.screen().contains("feature/x"), "{}", ui.screen());
    ui.feed(Msg::Note(Note { model: Some("fake-1".into()), ..Note::default() }));
    assert!(ui.screen().contains("fake-1 · feature/x"), "{}", ui.screen());
}

#[test]
fn what_is_checked_out_is_looked_at_again_when_it_may_have_changed() {
    let looks = |stage: &mut AttachedUi| {
        let looked = |fx: &Fx| *fx == Fx::FindBranch("/w/shop".into());
        std::mem::take(&mut stage.ui.fx).iter().any(looked)
    };
    let mut stage = AttachedUi::new(80, 24);
    assert!(looks(&mut stage), "it is known which folder it is");
    stage.run("check out another");
    assert!(!looks(&mut stage));
    stage.end(Outcome::Done);
    assert!(looks(&mut stage));
    stage.ui.feed(Msg::Shell { line: "git switch x".into(), said: said(""), code: Some(0) });
    assert!(looks(&mut stage));
}

#[test]
fn all_keys_fit_on_a_usual_screen_that_is_wide_enough() {
    for (columns, rows) in [(120, 24), (160, 24), (200, 24)] {
        let mut stage = AttachedUi::new(columns, rows);
        stage.ui.keys("?");
        let screen = stage.ui.screen();
        assert!(screen.trim_end().ends_with("Esc closes · / finds"), "{screen}");
        for word in [
            "Shift-Tab",
            "Esc Esc",
            "Ctrl-X",
            "makes it again",
            "quits",
            "view all",
            "choose, answer",
            "stops; twice: queue too",
        ] {
            assert!(screen.contains(word), "{word}\n{screen}");
        }
    }
}

/// What does not fit on a screen is read screen by screen: none ends with a heading, and each begins with a group.
#[test]
fn keys_that_do_not_fit_are_read_screen_by_screen() {
    for (columns, rows) in [(40, 30), (60, 24), (80, 24), (80, 18), (80, 12), (100, 20)] {
        let mut stage = AttachedUi::new(columns, rows);
        stage.ui.keys("?");
        let mut seen = String::new();
        for page in 1..10 {
            let screen = stage.ui.screen();
            if seen.lines().next_back() == screen.lines().next_back() {
                break;
            }
            let dump = stage.ui.dump();
            let words = |row: usize| screen.lines().nth(row).unwrap_or_default().trim();
            let is_heading = |row: usize| {
                let only = format!("{row}:1..{} BOLD", 1 + words(row).chars().count());
                dump.lines().any(|line| line == only)
            };
            let last = (1..usize::from(rows) - 1).rev().find(|row| !words(*row).is_empty()).unwrap();
            assert!(!is_heading(last), "{columns}x{rows}, page {page}\n{screen}");
            assert!(screen.contains("Esc closes"), "{screen}");
            seen = screen;
            stage.ui.keys("<pagedown>");
        }
        assert!(seen.contains("quits") || seen.contains("makes it again"), "to the end: {seen}");
    }
}

#[test]
fn words_are_found_on_a_page_and_marked() {
    let mut stage = AttachedUi::new(80, 12);
    stage.ui.keys("?/suspends");
    let (screen, caret) = (stage.ui.screen(), stage.ui.draw().1);
    assert!(screen.contains("Ctrl-Z") && screen.contains("find: suspends   1 of 1"), "{screen}");
    assert_eq!(caret.map(|at| (at.x, at.y)), Some((15, 11)));
    assert!(stage.ui.dump().contains("REVERSED") || stage.ui.dump().contains("bg="), "{}", stage.ui.dump());
    stage.ui.keys("<esc>");
    assert!(stage.ui.screen().contains("/ finds"), "the page stays: {}", stage.ui.screen());
    stage.ui.keys("<esc>");
    assert!(!stage.ui.model.screen.over.is_open());
}

#[test]
fn letters_that_are_looked_for_answer_no_question() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    stage.consent(10, Some("rm"));
    stage.ui.wait(crate::ask::SEEN_MS);
    stage.commands();
    stage.ui.keys("v/yansr<enter>y");
    assert_eq!(stage.commands(), []);
    stage.ui.keys("<esc>");
    assert!(stage.ui.model.screen.over.shows_question(), "only the search is over");
}

#[test]
fn conversation() {
    check("conversation", 40, |stage| {
        stage.run("show me everything\nin two lines");
        let thought = |text: &str| {
            Body::Message(MessageEvent::Delta {
                message: MessageId(5),
                kind: TextKind::Thought,
                text: text.into(),
            })
        };
        stage.happen(thought("First this.\nThen that."));
        stage.text(
            "# Title\nSome **bold**, *italic*, ~~old~~ and `code`; see [docs](https://example.org).\n\n",
        );
        stage.text("- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 日本 |\n\n```rust\nlet x = 1; // one\n```\n> quoted\n");
        let read = tool(stage, 20, "read", r#"{"path":"src/lib.rs"}"#);
        ended(stage, read, ToolOutcome::Done, "fn main() {}\n", Vec::new());
        let edit = tool(stage, 21, "edit", r#"{"path":"src/lib.rs"}"#);
        let diff = Part::Diff { path: Some("src/lib.rs".into()), text: DIFF.into() };
        ended(stage, edit, ToolOutcome::Done, "edited", vec![diff]);
        let bash = tool(stage, 22, "bash", r#"{"command":"false"}"#);
        ended(stage, bash, ToolOutcome::Failed, "\u{1b}[31merror\u{1b}[0m: it broke\u{1b}[2J", Vec::new());
        let live = tool(stage, 23, "bash", r#"{"command":"sleep 9"}"#);
        stage.happen(Body::Tool(ToolEvent::Started { tool: live }));
        stage.happen(Body::Tool(ToolEvent::Progress {
            tool: live,
            progress: Progress::Output("one\ntwo\n".into()),
        }));
    });
}

#[test]
fn unfolded() {
    check("unfolded", 24, |stage| {
        stage.run("open");
        let thought = Body::Message(MessageEvent::Delta {
            message: MessageId(5),
            kind: TextKind::Thought,
            text: "Deep\nthought.".into(),
        });
        stage.happen(thought);
        let read = tool(stage, 20, "grep", r#"{"pattern":"fn main","path":"src"}"#);
        let found: String = (1..9).map(|n| format!("src/{n}.rs: fn main\n")).collect();
        ended(stage, read, ToolOutcome::Done, &found, Vec::new());
        stage.ui.keys("<ctrl-o>");
    });
}

#[test]
fn endings() {
    check("endings", 20, |stage| {
        stage.run("fail");
        stage.text("half an ans");
        let failure = Failure::new("model_overloaded", "the model is overloaded")
            .hint("wait a minute, or /model takes another");
        stage.end(Outcome::Failed(failure));
    });
}

#[test]
fn guesses_are_marked_and_told() {
    check("guesses", 20, |stage| {
        stage.happen(Body::Session(SessionEvent::BudgetChosen {
            budget: Budget { max_cost_micros: Some(2_500_000), ..Budget::default() },
        }));
        stage.run("work");
        let usage = Usage { input: 900, output: 120, cost_micros: 12_345, rough: true, ..Usage::default() };
        stage.happen(Body::Run(RunEvent::StepEnded { step: StepId(4), usage }));
        stage.happen(Body::Context(ContextEvent::Measured { used: 50_000, window: 200_000, rough: true }));
        stage.end(Outcome::Done);
        stage.ui.keys("/status<enter>");
    });
}

#[test]
fn the_status_page_tells_how_much_came_from_the_cache_and_when_it_was_lost() {
    let mut stage = AttachedUi::new(100, 30);
    stage.run("work");
    let usage = Usage { input: 40_000, output: 120, cache_read: 38_000, ..Usage::default() };
    stage.happen(Body::Run(RunEvent::StepEnded { step: StepId(4), usage }));
    stage.end(Outcome::Done);
    stage.ui.keys("/status<enter>");
    let screen = stage.ui.screen();
    assert!(screen.contains("from the provider's cache, 95%)") && !screen.contains("lost"), "{screen}");
    for (entry, text) in [(901, "Lost by one thing."), (902, "Lost by another.")] {
        stage.happen(Body::Note(NoteEvent::Noticed {
            entry: domain::ids::EntryId(entry),
            parent: None,
            run: None,
            level: Level::Info,
            code: CACHE_LOST.to_owned(),
            text: text.to_owned(),
        }));
    }
    stage.ui.keys("<esc>/status<enter>");
    let screen = stage.ui.screen();
    assert!(screen.contains("cache     lost 2 times; the last: Lost by another."), "{screen}");
}

#[test]
fn a_measure_that_somebody_told_is_not_marked() {
    for (rough, shown) in [(true, " ~75%"), (false, " 75%")] {
        let mut stage = AttachedUi::new(80, 20);
        stage.happen(Body::Context(ContextEvent::Measured { used: 50_000, window: 200_000, rough }));
        let screen = stage.ui.dump();
        assert!(screen.contains(shown), "{screen}");
    }
}

#[test]
fn busy() {
    check("busy", 20, |stage| {
        stage.run("work");
        stage.text("working on it");
        stage.happen(Body::Run(RunEvent::StepEnded {
            step: StepId(4),
            usage: Usage { input: 900, output: 120, cost_micros: 12_345, ..Usage::default() },
        }));
        stage.happen(Body::Context(ContextEvent::Measured { used: 185_000, window: 200_000, rough: false }));
        for (item, kind, text) in
            [(30, QueueKind::FollowUp, "then test it"), (31, QueueKind::Steer, "use tabs")]
        {
            stage.happen(Body::Queue(QueueEvent::Added {
                item: QueuedId(item),
                kind,
                input: Input::text(text),
                by: None,
            }));
        }
        let item = |text: &str, state| PlanItem { text: text.into(), state };
        let items = vec![
            item("read", PlanState::Done),
            item("write", PlanState::Active),
            item("test", PlanState::Pending),
        ];
        stage.happen(Body::Note(NoteEvent::PlanChanged { items }));
        let session = SessionId::from_number(1);
        for signal in [
            Signal::Working(Some("compiling".into())),
            Signal::Status { key: "branch".into(), text: Some("main*".into()) },
            Signal::Widget { key: "w".into(), lines: vec!["a widget".into()], place: WidgetPlace::Below },
            Signal::Notify { level: Level::Warning, text: "look out".into() },
        ] {
            stage.ui.hear(News::Signal { session: session.clone(), signal });
        }
        stage.ui.wait(2_000);
        stage.ui.keys("more");
    });
}

#[test]
fn consents() {
    check("consent_command", 24, |stage| {
        stage.run("clean up");
        let id = tool(stage, 20, "bash", r#"{"command":"rm -rf build"}"#);
        let preview = Preview::Command { line: "rm -rf build".into(), inner: vec!["rm -rf build".into()] };
        ask(stage, 40, "Allow bash?", consent(id, preview, Risk::Critical));
    });
    check("consent_small", 10, |stage| {
        stage.run("clean up");
        let id = tool(stage, 20, "bash", r#"{"command":"rm -rf build"}"#);
        let preview = Preview::Command { line: "rm -rf build".into(), inner: vec!["rm -rf build".into()] };
        ask(stage, 40, "Allow bash?", consent(id, preview, Risk::Critical));
    });
    check("consent_diff", 24, |stage| {
        stage.run("edit");
        let id = tool(stage, 20, "edit", r#"{"path":"src/lib.rs"}"#);
        let preview = Preview::Diff { path: "src/lib.rs".into(), text: DIFF.into() };
        ask(stage, 40, "Allow edit?", consent(id, preview, Risk::Medium));
        stage.ui.keys("ruse edit instead");
    });
}

#[test]
fn other_asks() {
    let choice = |id: &str, label: &str, detail: Option<&str>| Choice {
        id: id.into(),
        label: label.into(),
        detail: detail.map(str::to_owned),
    };
    check("choose", 18, |stage| {
        stage.run("ask");
        let choices =
            vec![choice("a", "Apple", Some("red")), choice("b", "Banana", None), choice("c", "Cherry", None)];
        ask(stage, 40, "Fruit", AskKind::Choose { message: "Which ones?".into(), choices, many: true });
        stage.ui.keys("<space><down>");
    });
    check("text_secret", 14, |stage| {
        stage.run("ask");
        let (message, placeholder) = ("The key, please.".to_owned(), Some("sk-…".to_owned()));
        ask(
            stage,
            40,
            "Key",
            AskKind::Text { message, placeholder, default: None, secret: true, multiline: false },
        );
        stage.ui.keys("hunter2");
    });
    check("confirm", 14, |stage| {
        stage.run("ask");
        let message = "This cannot be undone.".to_owned();
        ask(
            stage,
            40,
            "Really?",
            AskKind::Confirm { message, yes: Some("do it".into()), no: None, danger: true },
        );
    });
    check("edit", 14, |stage| {
        stage.run("ask");
        ask(
            stage,
            40,
            "Edit this",
            AskKind::Edit { message: "A text".into(), prefill: "line one\nline two".into() },
        );
        stage.ui.keys("!");
    });
}

#[test]
fn lists() {
    check("sessions", 12, |stage| {
        stage.ui.keys("<ctrl-x>");
        let summary = |number: u64, title: &str, running| SessionSummary {
            id: SessionId::from_number(number),
            title: title.into(),
            cwd: "/w".into(),
            project: "/w".into(),
            created_at: Millis(0),
            updated_at: Millis(0),
            messages: 4,
            last_prompt: Some("the last thing said".into()),
            last_run: None,
            running,
            elsewhere: false,
            outcome: None,
            usage: Usage::default(),
            origin: None,
            found: None,
        };
        let sessions = vec![summary(1, "this one", false), summary(2, "another", true)];
        let ticket = domain::port::Ticket(1);
        stage.ui.hear(News::Settled { ticket, with: Ok(Receipt::Sessions(sessions)) });
        stage.ui.keys("<down>");
    });
    check("completion", 16, |stage| stage.ui.keys("/mo"));
    check("files", 12, |stage| {
        stage.ui.keys("see @li");
        stage
            .ui
            .feed(Msg::Files { query: "li".into(), paths: vec!["src/lib.rs".into(), "my list.md".into()] });
    });
    check("tree", 14, |stage| {
        stage.run("first try");
        stage.text("an answer");
        stage.end(Outcome::Done);
        stage.ui.keys("/tree<enter>");
    });
}

#[test]
fn pages() {
    check("keys", 50, |stage| stage.ui.keys("?"));
    check("help", 34, |stage| stage.ui.keys("/help<enter>"));
    check("status", 20, |stage| stage.ui.keys("/status<enter>"));
}

#[test]
fn words_for_the_person() {
    check("search", 14, |stage| {
        stage.run("find me");
        stage.text("Here it is: find this, and Find that.");
        stage.ui.keys("<ctrl-f>find");
    });
    check("refused", 12, |stage| {
        stage.ui.keys("hello<enter>");
        let refusal = Refusal::new(RefusalKind::Busy, "a run is under way").hint("stop it with Esc");
        stage.ui.hear(News::Settled { ticket: domain::port::Ticket(1), with: Err(refusal) });
    });
    check("lost", 12, |stage| {
        stage.run("hello");
        stage.text("hel");
        stage.happen(Body::Message(MessageEvent::Ended {
            message: MessageId(5),
            finish: Finish::Interrupted,
        }));
        stage.ui.hear(News::Link(LinkState::Lost("connection reset; trying again in 2 s".into())));
    });
    check("died", 14, |stage| {
        let said =
            "it ended with code 3. /restart starts it again (Ctrl-D quits)\nboom: no config\ngiving up";
        stage.ui.hear(News::Link(LinkState::Lost(said.into())));
    });
    check("shell", 14, |stage| {
        stage.ui.keys("!ls<enter>");
        stage.ui.feed(Msg::Shell { line: "ls".into(), said: said("a\nb\n"), code: Some(1) });
    });
}
