//! Storms of streaming and resizing through terminal emulators, one that wraps anew and one that does not: what stood there before
//! stays, every word of the conversation stands there once and in order, and nothing is left of the live part.

use super::Able;
use super::inline::{InlinePainter, Resized};
use crate::msg::Msg;
use crate::update::tests::AttachedUi;
use crate::view::{Cache, Inline, InlineFrame};
use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi;
use domain::content::{Json, Part, Role, TextKind};
use domain::event::{Body, Finish, MessageEvent, Outcome, ToolEvent};
use domain::ids::{EntryId, MessageId, StepId, ToolRunId, TurnId};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use proptest::prelude::*;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use std::num::NonZero;

/// What a terminal emulator can be asked.
trait Emulator {
    const REFLOWS: bool;
    fn new(columns: u16, rows: u16) -> Self;
    fn feed(&mut self, bytes: &str);
    fn resize(&mut self, columns: u16, rows: u16);
    /// Row and column of the cursor.
    fn cursor(&self) -> (u16, u16);
    /// Every line, scrollback first; what was wrapped is one line.
    fn lines(&mut self) -> Vec<String>;
}

/// Leaves what was written as it is, as xterm does.
struct Rigid(vt100::Parser);

impl Emulator for Rigid {
    const REFLOWS: bool = false;

    fn new(columns: u16, rows: u16) -> Rigid {
        Rigid(vt100::Parser::new(NonZero::new(rows).unwrap(), NonZero::new(columns).unwrap(), 10_000))
    }

    fn feed(&mut self, bytes: &str) {
        self.0.process(bytes.as_bytes());
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.0.screen_mut().set_size(NonZero::new(rows).unwrap(), NonZero::new(columns).unwrap());
    }

    fn cursor(&self) -> (u16, u16) {
        self.0.screen().cursor_position()
    }

    fn lines(&mut self) -> Vec<String> {
        let screen = self.0.screen_mut();
        let width = screen.size().1.get();
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

/// Wraps what was written for the width it has, as nearly all do.
struct Flowing {
    term: Term<VoidListener>,
    parser: ansi::Processor,
}

struct Size(usize, usize);

impl Dimensions for Size {
    fn total_lines(&self) -> usize {
        self.1
    }
    fn screen_lines(&self) -> usize {
        self.1
    }
    fn columns(&self) -> usize {
        self.0
    }
}

impl Emulator for Flowing {
    const REFLOWS: bool = true;

    fn new(columns: u16, rows: u16) -> Flowing {
        let size = Size(columns.into(), rows.into());
        Flowing { term: Term::new(Config::default(), &size, VoidListener), parser: ansi::Processor::new() }
    }

    fn feed(&mut self, bytes: &str) {
        self.parser.advance(&mut self.term, bytes.as_bytes());
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.term.resize(Size(columns.into(), rows.into()));
    }

    fn cursor(&self) -> (u16, u16) {
        let at = self.term.grid().cursor.point;
        (u16::try_from(at.line.0).unwrap(), u16::try_from(at.column.0).unwrap())
    }

    fn lines(&mut self) -> Vec<String> {
        let grid = self.term.grid();
        let (first, last) = (grid.topmost_line().0, grid.bottommost_line().0);
        let mut lines = vec![String::new()];
        for line in first..=last {
            let row = &grid[Line(line)];
            for x in 0..grid.columns() {
                let cell = &row[Column(x)];
                if !cell.flags.intersects(Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER) {
                    let end = lines.last_mut().unwrap();
                    end.push(cell.c);
                    end.extend(cell.zerowidth().into_iter().flatten());
                }
            }
            if !row[Column(grid.columns() - 1)].flags.contains(Flags::WRAPLINE) {
                let end = lines.last_mut().unwrap();
                *end = end.trim_end().to_owned();
                lines.push(String::new());
            }
        }
        lines
    }
}

/// What stood in the terminal before.
const EARLIER: &[&str] = &["$ ls", "one  two  three", "$ parlor --inline"];

struct Storm<E> {
    stage: AttachedUi,
    inline: Inline,
    painter: InlinePainter,
    cache: Cache,
    emulator: E,
    next: u64,
    leaf: EntryId,
    /// The rows handed out, as they were.
    handed: Vec<String>,
    /// The rows of the live part.
    live: Vec<String>,
}

#[derive(Debug, Clone)]
enum Step {
    Text(&'static str),
    Words(u8),
    NextMessage,
    Tool(u8),
    Resize(u16, u16),
    /// Several changes before the terminal is quiet again.
    Drag(Vec<(u16, u16)>),
    Draw,
    Type(&'static str),
}

impl<E: Emulator> Storm<E> {
    fn new(columns: u16, rows: u16) -> Storm<E> {
        let mut stage = AttachedUi::new(columns, rows);
        stage.run("begin");
        let mut emulator = E::new(columns, rows);
        for line in EARLIER {
            emulator.feed(&format!("{line}\r\n"));
        }
        let (inline, cache, painter) = (
            Inline::default(),
            Cache::default(),
            InlinePainter::new(Able { synchronized: true, ..Able::default() }),
        );
        let (next, leaf, handed, live) = (100, EntryId(5), Vec::new(), Vec::new());
        let mut storm = Storm { stage, inline, painter, cache, emulator, next, leaf, handed, live };
        storm.draw();
        storm
    }

    fn draw(&mut self) {
        let frame = self.inline.frame(&self.stage.ui.model, &mut self.cache);
        self.write(frame);
    }

    fn write(&mut self, frame: InlineFrame) {
        self.handed.extend(frame.commit.iter().map(|row| format!(" {}", row.text()).trim_end().to_owned()));
        let shown = crate::dump::dump(&frame.live);
        self.live =
            shown.lines().take(frame.live.area.height.into()).map(|row| row.trim_end().to_owned()).collect();
        let rows = self.stage.ui.model.screen.window.size().1;
        let bytes = self.painter.frame(rows, frame);
        self.emulator.feed(&bytes);
    }

    fn message(&self) -> MessageId {
        MessageId(self.leaf.0)
    }

    fn say(&mut self, text: String) {
        let (message, kind) = (self.message(), TextKind::Text);
        self.stage.happen(Body::Message(MessageEvent::Delta { message, kind, text }));
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Text(text) => self.say(text.to_owned()),
            Step::Words(count) => {
                for _ in 0..count {
                    self.next += 1;
                    self.say(format!("w{} ", self.next));
                }
            }
            Step::NextMessage => {
                let message = self.message();
                self.stage.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
                self.next += 1;
                let (parent, message, role) = (Some(self.leaf), MessageId(self.next), Role::Assistant);
                let (turn, step) = (Some(TurnId(2)), Some(StepId(4)));
                self.stage.happen(Body::Message(MessageEvent::Started { message, parent, role, turn, step }));
                self.leaf = message.into();
            }
            Step::Tool(lines) => self.tool(lines),
            Step::Resize(columns, rows) => self.drag(&[(columns, rows)]),
            Step::Drag(sizes) => self.drag(&sizes),
            Step::Draw => self.draw(),
            Step::Type(keys) => self.stage.ui.keys(keys),
        }
    }

    fn tool(&mut self, lines: u8) {
        self.next += 1;
        let (tool, message) = (ToolRunId(self.next), self.message());
        let args = Json::verbatim(format!(r#"{{"command":"job {}"}}"#, self.next));
        self.stage.happen(Body::Tool(ToolEvent::Proposed { tool, message, name: "bash".to_owned(), args }));
        self.stage.happen(Body::Tool(ToolEvent::Started { tool }));
        self.draw();
        for line in 0..lines {
            let progress = Progress::Output(format!("at work {line}\n"));
            self.stage.happen(Body::Tool(ToolEvent::Progress { tool, progress }));
            self.draw();
        }
        self.next += 1;
        let parts = vec![Part::Text(String::new())];
        let result = ToolResult { text: format!("w{}", self.next), parts, ..ToolResult::default() };
        self.stage.happen(Body::Tool(ToolEvent::Ended { tool, outcome: ToolOutcome::Done, result }));
    }

    fn drag(&mut self, sizes: &[(u16, u16)]) {
        for (columns, rows) in sizes {
            self.emulator.resize(*columns, *rows);
        }
        let Some((columns, rows)) = sizes.last().copied() else { return };
        self.stage.ui.feed(Msg::Resize(columns, rows));
        let to = Resized { columns, rows, cursor: Some(self.emulator.cursor()), reflows: E::REFLOWS };
        let adopted = self.painter.resized(to, self.inline.adoptable());
        self.inline.adopt(adopted);
        self.handed.extend(self.live.drain(..adopted));
        self.draw();
    }

    /// The program ends; what is left in the terminal.
    fn leave(&mut self) -> Vec<String> {
        self.stage.end(Outcome::Cancelled);
        self.draw();
        let bytes = self.painter.erase();
        self.emulator.feed(&bytes);
        let commit = self.inline.last(&self.stage.ui.model, &mut self.cache);
        let live = Buffer::empty(Rect::new(0, 0, self.stage.ui.model.screen.window.size().0, 0));
        self.write(InlineFrame { commit, live, links: Vec::new(), caret: None });
        let mut lines = self.emulator.lines();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }
}

/// Words like `w12`, in order.
fn numbers(lines: &[String]) -> Vec<u64> {
    let words = lines.iter().flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric()));
    words.filter_map(|word| word.strip_prefix('w')?.parse().ok()).collect()
}

fn step(wild: bool) -> impl Strategy<Value = Step> {
    let text = prop::sample::select(vec![
        "日本語 ",
        "\n\n",
        "- item\n",
        "```\ncode\n```\n\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
        "👍 ok ",
        "# Head\n\n",
        "**bold ",
        "** ",
        "`x` ",
    ]);
    let (least, most) = if wild { (20u16, 120u16) } else { (30, 60) };
    let columns = move || least..most;
    let rows = move || if wild { 9u16..50 } else { 16u16..30 };
    prop_oneof![
        3 => text.prop_map(Step::Text),
        5 => (1u8..30).prop_map(Step::Words),
        2 => Just(Step::NextMessage),
        1 => (0u8..6).prop_map(Step::Tool),
        2 => (columns(), rows()).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
        1 => prop::collection::vec((columns(), rows()), 1..5).prop_map(Step::Drag),
        6 => Just(Step::Draw),
        1 => prop::sample::select(vec!["typing ", "<ctrl-j>", "<backspace>"]).prop_map(Step::Type),
    ]
}

fn steps(wild: bool) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(wild), 1..80)
}

/// Each word once and in order, and what was there before as it was.
fn weather<E: Emulator>(steps: Vec<Step>, columns: u16) -> Result<(Vec<String>, Vec<String>), TestCaseError> {
    let mut storm = Storm::<E>::new(columns, 16);
    for step in steps {
        storm.step(step);
    }
    let lines = storm.leave();
    let said = numbers(&storm.handed);
    prop_assert!(said.is_sorted_by(|a, b| a < b), "{said:?}");
    Ok((lines, storm.handed))
}

proptest! {
    #![proptest_config(testkit::cases(48))]

    #[test]
    fn every_line_stands_once_and_in_order_where_lines_are_wrapped_anew(steps in steps(false)) {
        let (lines, handed) = weather::<Flowing>(steps, 50)?;
        prop_assert_eq!(&lines[..EARLIER.len()], EARLIER);
        prop_assert_eq!(&lines[EARLIER.len()..], &handed[..]);
    }

    #[test]
    fn every_word_stands_once_and_in_order_in_a_wild_storm(steps in steps(true)) {
        let (lines, handed) = weather::<Flowing>(steps, 50)?;
        prop_assert_eq!(&lines[..EARLIER.len()], EARLIER);
        prop_assert_eq!(numbers(&lines), numbers(&handed));
    }

    #[test]
    fn where_lines_are_cut_not_wrapped_every_line_stands_once_and_in_order_too(steps in steps(false)) {
        let (lines, handed) = weather::<Rigid>(steps, 60)?;
        prop_assert_eq!(lines.len(), EARLIER.len() + handed.len());
        for (line, written) in lines.iter().zip(EARLIER.iter().copied().chain(handed.iter().map(String::as_str))) {
            prop_assert!(written.starts_with(line.as_str()), "{line:?} of {written:?}");
        }
    }
}
