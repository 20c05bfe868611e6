//! Text that means harm, in every place where text of others is shown: what reaches the terminal are our own sequences and nothing else.

use super::inline::InlinePainter;
use super::*;
use crate::msg::{Fx, Msg};
use crate::update::tests::AttachedUi;
use crate::view::{Cache, Inline};
use domain::ask::{Ask, AskKind, Choice};
use domain::command::{Receipt, Refusal, RefusalKind};
use domain::content::{Input, Json, Part, TextKind, Usage};
use domain::event::{
    AskEvent, Body, Failure, MessageEvent, NoteEvent, Outcome, PlanItem, PlanState, QueueEvent, SessionEvent,
    ToolEvent,
};
use domain::ids::{AskId, EntryId, MessageId, Millis, QueuedId, RunId, SessionId, ToolRunId};
use domain::port::{LinkState, News, Ticket};
use domain::queue::QueueKind;
use domain::session::SessionSummary;
use domain::signal::{Level, Signal, WidgetPlace};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use proptest::prelude::*;

type Put = fn(&mut AttachedUi, &str);

fn signal(stage: &mut AttachedUi, signal: Signal) {
    stage.ui.hear(News::Signal { session: SessionId::from_number(1), signal });
}

fn part(stage: &mut AttachedUi, part: Part) {
    stage.run("go");
    stage.happen(Body::Message(MessageEvent::PartAdded { message: MessageId(5), part }));
}

fn ask(stage: &mut AttachedUi, title: &str, kind: AskKind) {
    stage.run("go");
    let ask = Ask { id: AskId(40), run: Some(RunId(1)), title: title.to_owned(), kind, deadline: None };
    stage.happen(Body::Ask(AskEvent::Opened(ask)));
    stage.ui.wait(500);
}

fn tool(stage: &mut AttachedUi, name: &str, args: &str, output: &str) {
    stage.run("go");
    let (tool, message) = (ToolRunId(20), MessageId(5));
    let (name, args) = (name.to_owned(), Json::verbatim(args));
    stage.happen(Body::Tool(ToolEvent::Proposed { tool, message, name, args }));
    stage.happen(Body::Tool(ToolEvent::Started { tool }));
    stage.happen(Body::Tool(ToolEvent::Progress { tool, progress: Progress::Output(output.to_owned()) }));
}

/// Every place where text of others is shown.
const PLACES: &[(&str, Put)] = &[
    ("prompt", |stage, text| stage.run(text)),
    ("answer", |stage, text| {
        stage.run("go");
        stage.text(text);
    }),
    ("link", |stage, text| {
        stage.run("go");
        stage.text(&format!("[words](https://example.org/{text}) and <https://{text}>"));
    }),
    ("code block", |stage, text| {
        stage.run("go");
        stage.text(&format!("```{text}\n{text}\n```\n\n| {text} | b |\n|---|---|\n| 1 | {text} |\n"));
    }),
    ("thought", |stage, text| {
        stage.run("go");
        let (message, kind) = (MessageId(5), TextKind::Thought);
        stage.happen(Body::Message(MessageEvent::Delta { message, kind, text: text.to_owned() }));
        stage.ui.keys("<ctrl-o>");
    }),
    ("code", |stage, text| {
        let (language, path) = (Some(text.to_owned()), Some(text.to_owned()));
        part(stage, Part::Code { language, text: text.to_owned(), path });
    }),
    ("diff", |stage, text| {
        let hunk = format!("@@ -1 +1 @@ {text}\n-{text}\n+{text}!\n");
        part(stage, Part::Diff { path: Some(text.to_owned()), text: hunk });
    }),
    ("image", |stage, text| part(stage, Part::Image { mime: text.to_owned(), base64: "QUJD".into() })),
    ("tool name", |stage, text| tool(stage, text, "{}", "")),
    ("tool arguments", |stage, text| {
        let args = serde_json::json!({ "command": text, "path": text }).to_string();
        tool(stage, "bash", &args, "");
        stage.ui.keys("<ctrl-o>");
    }),
    ("tool output", |stage, text| tool(stage, "bash", "{}", text)),
    ("tool result", |stage, text| {
        tool(stage, "bash", "{}", "");
        let parts = vec![Part::Diff { path: Some(text.to_owned()), text: format!("+{text}") }];
        let result = ToolResult { text: text.to_owned(), parts, ..ToolResult::default() };
        stage.happen(Body::Tool(ToolEvent::Ended {
            tool: ToolRunId(20),
            outcome: ToolOutcome::Failed,
            result,
        }));
        stage.ui.keys("<ctrl-o>");
    }),
    ("failure", |stage, text| {
        stage.run("go");
        stage.end(Outcome::Failed(Failure::new("x", text).hint(text)));
    }),
    ("notice", |stage, text| {
        stage.run("go");
        let (entry, parent, level) = (EntryId(60), Some(EntryId(5)), Level::Warning);
        stage.happen(Body::Note(NoteEvent::Noticed {
            entry,
            parent,
            run: None,
            level,
            code: text.to_owned(),
            text: text.to_owned(),
        }));
    }),
    ("queue and plan", |stage, text| {
        stage.run("go");
        let (item, kind) = (QueuedId(30), QueueKind::Steer);
        stage.happen(Body::Queue(QueueEvent::Added { item, kind, input: Input::text(text), by: None }));
        stage.happen(Body::Note(NoteEvent::PlanChanged {
            items: vec![PlanItem { text: text.to_owned(), state: PlanState::Active }],
        }));
    }),
    ("title", |stage, text| {
        stage.run("go");
        stage.happen(Body::Session(SessionEvent::Renamed { title: text.to_owned() }));
        signal(stage, Signal::Title(text.to_owned()));
    }),
    ("signals", |stage, text| {
        stage.run("go");
        let words = || text.to_owned();
        signal(stage, Signal::Notify { level: Level::Error, text: words() });
        signal(stage, Signal::Status { key: words(), text: Some(words()) });
        signal(stage, Signal::Working(Some(words())));
        signal(stage, Signal::Widget { key: words(), lines: vec![words()], place: WidgetPlace::Above });
        signal(stage, Signal::Widget { key: "b".into(), lines: vec![words()], place: WidgetPlace::Below });
        let (source, context) = (words(), Some(words()));
        signal(stage, Signal::Suggestion { text: words(), confidence: 900, source, context });
    }),
    ("editor text", |stage, text| signal(stage, Signal::EditorText(text.to_owned()))),
    ("paste", |stage, text| stage.ui.feed(Msg::Paste(text.to_owned()))),
    ("from the editor", |stage, text| stage.ui.feed(Msg::FromEditor(Some(text.to_owned())))),
    ("history", |stage, text| {
        stage.ui.feed(Msg::History(vec![text.to_owned()]));
        stage.ui.keys("<up>");
    }),
    ("files", |stage, text| {
        stage.ui.keys("see @x");
        stage.ui.feed(Msg::Files { query: "x".into(), paths: vec![text.to_owned()] });
    }),
    ("a file taken", |stage, text| {
        stage.ui.keys("see @x");
        stage.ui.feed(Msg::Files { query: "x".into(), paths: vec![text.to_owned()] });
        stage.ui.keys("<tab>");
    }),
    ("command of the person", |stage, text| {
        stage.ui.keys("!ls<enter>");
        stage.ui.feed(Msg::Shell {
            line: text.to_owned(),
            said: crate::update::tests::said(text),
            code: Some(1),
        });
    }),
    ("words", |stage, text| {
        stage.ui.feed(Msg::ShellNotice(text.to_owned()));
        stage.ui.feed(Msg::Note(crate::about::Note {
            words: text.to_owned(),
            examples: vec![text.to_owned()],
            unkept: Some(text.to_owned()),
            told: Some(text.to_owned()),
            offline_examples: vec![text.to_owned()],
            model: Some(text.to_owned()),
        }));
        stage.ui.feed(Msg::Attached(Err(text.to_owned())));
    }),
    ("link lost", |stage, text| stage.ui.hear(News::Link(LinkState::Lost(text.to_owned())))),
    ("refusal", |stage, text| {
        stage.ui.keys("hello<enter>");
        let refusal = Refusal::new(RefusalKind::Busy, text).hint(text);
        stage.ui.hear(News::Settled { ticket: Ticket(1), with: Err(refusal) });
    }),
    ("confirm", |stage, text| {
        let (yes, no) = (Some(text.to_owned()), Some(text.to_owned()));
        ask(stage, text, AskKind::Confirm { message: text.to_owned(), yes, no, danger: true });
    }),
    ("choose", |stage, text| {
        let choice = Choice { id: text.to_owned(), label: text.to_owned(), detail: Some(text.to_owned()) };
        ask(stage, text, AskKind::Choose { message: text.to_owned(), choices: vec![choice], many: true });
    }),
    ("text", |stage, text| {
        let (placeholder, default) = (Some(text.to_owned()), Some(text.to_owned()));
        let message = text.to_owned();
        ask(stage, text, AskKind::Text { message, placeholder, default, secret: false, multiline: false });
    }),
    ("edit", |stage, text| {
        ask(stage, text, AskKind::Edit { message: text.to_owned(), prefill: text.to_owned() });
    }),
    ("sessions", |stage, text| {
        stage.ui.keys("<ctrl-x>");
        let summary = SessionSummary {
            id: SessionId::from_number(2),
            title: text.to_owned(),
            cwd: text.to_owned(),
            project: text.to_owned(),
            created_at: Millis(0),
            updated_at: Millis(0),
            messages: 4,
            last_prompt: Some(text.to_owned()),
            last_run: None,
            running: true,
            elsewhere: false,
            outcome: None,
            usage: Usage::default(),
            found: None,
            origin: Some(Box::new(domain::session::Origin {
                dialect: text.to_owned(),
                place: domain::session::RuntimePlace::Socket { path: text.to_owned() },
                session: Some(text.to_owned()),
            })),
        };
        stage.ui.hear(News::Settled { ticket: Ticket(1), with: Ok(Receipt::Sessions(vec![summary])) });
    }),
];

/// The sequences that are ours: `ESC [ … final` with these finals, and links.
fn check(bytes: &str) -> Result<(), String> {
    let mut rest = bytes;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\r' | '\n' => {}
            '\x1b' => {
                rest = ours(rest)
                    .ok_or_else(|| format!("ESC {:?}", rest.chars().take(30).collect::<String>()))?;
            }
            c if c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c) => return Err(format!("{c:?}")),
            _ => {}
        }
    }
    Ok(())
}

fn ours(rest: &str) -> Option<&str> {
    if let Some(link) = rest.strip_prefix("]8;;") {
        let end = link.find("\x1b\\")?;
        let clean = link[..end].chars().all(|c| !c.is_control());
        return clean.then_some(&link[end + 2..]);
    }
    let inside = rest.strip_prefix('[')?;
    let end = inside.find(|c: char| !c.is_ascii_digit() && c != ';' && c != '?')?;
    let (numbers, last) = (&inside[..end], inside[end..].chars().next()?);
    let known = match last {
        'h' | 'l' => ["?25", "?2026"].contains(&numbers),
        'J' | 'K' => ["", "2"].contains(&numbers),
        'A' | 'B' | 'C' | 'G' | 'H' | 'L' | 'M' | 'S' | 'T' | 'm' | 'r' => !numbers.contains('?'),
        _ => false,
    };
    known.then_some(&inside[end + 1..])
}

fn harm() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "\x1b[2J",
            "\x1b[31m",
            "\x1b]0;owned\x07",
            "\x1b]52;c;aGk=\x1b\\",
            "\x1b]8;;http://evil\x1b\\",
            "\x1bP1$r\x1b\\",
            "\x1b_Gi=1\x1b\\",
            "\x1bc",
            "\x1b(0",
            "\x1b[?1049l",
            "\x1b[6n",
            "\x1b",
            "\u{9b}2J",
            "\u{9d}0;x\u{9c}",
            "\x07",
            "\x08",
            "\x0c",
            "\x0e",
            "\r",
            "\n",
            "\t",
            "\0",
            "\x7f",
            "\u{202e}",
            "\u{200b}",
            "[2J",
            "]0;x",
            "\x1b[",
            "\x1b]",
            "\x1b[1;1H",
            "\x1b[?25l",
            "\x1b\x1b[H",
            "\x1b[38;5",
            "`",
            "**",
            "](",
            "&#27;[2J",
            "&#x9b;31m",
            "&#7;",
        ])
        .prop_map(str::to_owned),
        "[a-z 日👍é]{1,6}",
    ];
    prop::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(testkit::cases(24))]
    #[test]
    fn nothing_of_others_reaches_the_terminal_raw(text in harm()) {
        for (name, put) in PLACES {
            let mut stage = AttachedUi::new(60, 24);
            put(&mut stage, &text);
            let (buffer, caret) = stage.ui.draw();
            let mut cache = Cache::default();
            let area = buffer.area;
            let mut again = Buffer::empty(area);
            crate::view::view(&stage.ui.model, &mut cache, area, &mut again);
            let full = Painter::new(Able { synchronized: true, ..Able::default() }).frame(buffer, &cache.links, caret);
            let frame = Inline::default().frame(&stage.ui.model, &mut Cache::default());
            let inline = InlinePainter::new(Able { synchronized: true, ..Able::default() }).frame(24, frame);
            for (mode, bytes) in [("full", full), ("inline", inline)] {
                prop_assert!(check(&bytes).is_ok(), "{name}, {mode}: {:?}", check(&bytes));
            }
            for fx in &stage.ui.fx {
                if let Fx::Title(told) | Fx::Notify(told) = fx {
                    prop_assert!(!told.chars().any(char::is_control), "{name}: {told:?}");
                }
            }
        }
    }
}
