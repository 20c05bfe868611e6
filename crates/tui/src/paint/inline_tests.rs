//! Storms of streaming and resizing through a terminal emulator: every line stands in the scrollback once and in order.

use super::inline::InlinePainter;
use crate::msg::Msg;
use crate::update::tests::Stage;
use crate::view::{Cache, Inline};
use domain::content::{Json, Part, Role, TextKind};
use domain::event::{Body, Finish, Outcome};
use domain::ids::{EntryId, MessageId, StepId, ToolRunId, TurnId};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use proptest::prelude::*;
use std::num::NonZero;

struct Terminal {
    stage: Stage,
    inline: Inline,
    painter: InlinePainter,
    cache: Cache,
    emulator: vt100::Parser,
    next: u64,
    leaf: EntryId,
}

#[derive(Debug, Clone)]
enum Step {
    Text(String),
    NextMessage,
    Tool(u8),
    Resize(u16, u16),
    Draw,
    Type(String),
}

impl Terminal {
    fn new(columns: u16, rows: u16) -> Terminal {
        let mut stage = Stage::new(columns, rows);
        stage.run("begin");
        let size = |n| NonZero::new(n).unwrap();
        let mut emulator = vt100::Parser::new(size(rows), size(columns), 10_000);
        emulator.process(b"earlier\r\n");
        let (inline, cache) = (Inline::default(), Cache::default());
        let mut terminal = Terminal {
            stage,
            inline,
            painter: InlinePainter::new(true, 1),
            cache,
            emulator,
            next: 100,
            leaf: EntryId(5),
        };
        terminal.draw();
        terminal
    }

    fn draw(&mut self) {
        let frame = self.inline.frame(&self.stage.ui.model, &mut self.cache);
        let rows = self.stage.ui.model.screen.size.1;
        let bytes = self.painter.frame(rows, frame);
        self.emulator.process(bytes.as_bytes());
    }

    fn message(&self) -> MessageId {
        MessageId(self.leaf.0)
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Text(text) => {
                let (message, kind) = (self.message(), TextKind::Text);
                self.stage.happen(Body::MessageDelta { message, kind, text });
            }
            Step::NextMessage => {
                let message = self.message();
                self.stage.happen(Body::MessageEnded { message, finish: Finish::Complete });
                self.next += 1;
                let (parent, next) = (Some(self.leaf), MessageId(self.next));
                let (turn, step) = (Some(TurnId(2)), Some(StepId(4)));
                self.stage.happen(Body::MessageStarted {
                    message: next,
                    parent,
                    role: Role::Assistant,
                    turn,
                    step,
                });
                self.leaf = next.into();
            }
            Step::Tool(lines) => {
                self.next += 1;
                let (tool, message) = (ToolRunId(self.next), self.message());
                let (name, args) =
                    ("bash".to_owned(), Json::verbatim(format!(r#"{{"command":"job {}"}}"#, self.next)));
                self.stage.happen(Body::ToolProposed { tool, message, name, args });
                self.stage.happen(Body::ToolStarted { tool });
                self.draw();
                for line in 0..lines {
                    let progress = Progress::Output(format!("tool {} says {line}\n", self.next));
                    self.stage.happen(Body::ToolProgress { tool, progress });
                    self.draw();
                }
                let text = self
                    .stage
                    .ui
                    .model
                    .world
                    .state()
                    .tool(tool)
                    .map(|t| t.output.clone())
                    .unwrap_or_default();
                let result =
                    ToolResult { text, parts: vec![Part::Text(String::new())], ..ToolResult::default() };
                self.stage.happen(Body::ToolEnded { tool, outcome: ToolOutcome::Done, result });
            }
            Step::Resize(columns, rows) => {
                let size = |n| NonZero::new(n).unwrap();
                self.emulator.screen_mut().set_size(size(rows), size(columns));
                self.stage.ui.feed(Msg::Resize(columns, rows));
                self.draw();
            }
            Step::Draw => self.draw(),
            Step::Type(text) => self.stage.ui.keys(&text),
        }
    }

    /// Every line that the emulator holds, scrollback first.
    fn lines(&mut self) -> Vec<String> {
        let width = self.stage.ui.model.screen.size.0;
        let screen = self.emulator.screen_mut();
        screen.set_scrollback(usize::MAX);
        let back = screen.scrollback();
        let mut lines = Vec::new();
        for left in (1..=back).rev() {
            screen.set_scrollback(left);
            lines.extend(screen.rows(0, width).next().map(|line| line.trim_end().to_owned()));
        }
        screen.set_scrollback(0);
        lines.extend(screen.rows(0, width).map(|line| line.trim_end().to_owned()));
        lines
    }
}

fn step() -> impl Strategy<Value = Step> {
    let words = prop::sample::select(vec![
        "some words ",
        "日本語 ",
        "\n\n",
        "- item\n",
        "```\ncode\n```\n\n",
        "a much longer piece of text than fits into one row of the screen ",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
        "👍 ok ",
        "# Head\n\n",
    ]);
    prop_oneof![
        6 => words.prop_map(|text| Step::Text(text.to_owned())),
        2 => Just(Step::NextMessage),
        1 => (0u8..6).prop_map(Step::Tool),
        1 => (24u16..70, 8u16..30).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
        6 => Just(Step::Draw),
        1 => prop::sample::select(vec!["typing ", "<ctrl-j>", "<backspace>"]).prop_map(|keys| Step::Type(keys.to_owned())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_line_stands_once_and_in_order(steps in prop::collection::vec(step(), 1..80)) {
        let mut terminal = Terminal::new(50, 16);
        let mut resized = false;
        for step in steps {
            let size = terminal.stage.ui.model.screen.size;
            resized |= matches!(step, Step::Resize(columns, rows) if (columns, rows) != size);
            terminal.step(step);
        }
        terminal.stage.end(Outcome::Cancelled);
        terminal.stage.ui.wait(20_000);
        terminal.draw();
        let model = &terminal.stage.ui.model;
        let columns = usize::from(model.screen.size.0) - 2;
        let mut all = crate::transcript::Handed::default();
        let mut cache = crate::transcript::CellCache::default();
        let rows = all.advance(model, &mut cache, columns);
        let mut expected: Vec<String> = if resized { Vec::new() } else { vec!["earlier".to_owned()] };
        expected.extend(rows.iter().map(|row| format!(" {}", row.text()).trim_end().to_owned()));
        let lines = terminal.lines();
        prop_assert!(lines.len() > expected.len());
        prop_assert_eq!(&lines[..expected.len()], &expected[..]);
        prop_assert!(lines[expected.len()].starts_with("──"), "{:?}", &lines[expected.len()]);
    }
}
