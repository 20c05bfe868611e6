//! One walk over the parsed Markdown: inline text is gathered with its looks, and each block is wrapped behind its leads.

use super::{address, code_rows, options, table};
use crate::look::Appearance;
use crate::row::{Piece, Row, wrap};
use crate::theme::Role;
use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd, TextMergeStream};
use ratatui_core::style::{Modifier, Style};
use std::sync::Arc;

/// Longest address that becomes a link.
const MAX_LINK: usize = 2_048;
/// Containers deeper than this are drawn as if at this depth.
const MAX_DEPTH: usize = 16;

/// Lays a whole text out.
pub(super) fn rows(text: &str, look: Appearance) -> Vec<Row> {
    let mut walk = Walk::new(look);
    // An address with signs in it comes in pieces.
    for event in TextMergeStream::new(Parser::new_ext(text, options())) {
        walk.take(event);
    }
    walk.flush();
    walk.rows
}

/// The mark of an item without a number.
const BULLET: &str = "• ";

/// What text stands inside.
enum Container {
    Quote,
    List { next: Option<u64> },
    Item { mark: String, used: bool },
}

struct Walk {
    look: Appearance,
    rows: Vec<Row>,
    inline: Vec<Piece>,
    containers: Vec<Container>,
    bold: usize,
    italic: usize,
    struck: usize,
    heading: Option<HeadingLevel>,
    link: Option<Arc<str>>,
    code: Option<(String, String)>,
    table: Option<table::Table>,
    /// Whether the next block stands apart from what is above.
    apart: bool,
}

impl Walk {
    fn new(look: Appearance) -> Walk {
        Walk {
            look,
            rows: Vec::new(),
            inline: Vec::new(),
            containers: Vec::new(),
            bold: 0,
            italic: 0,
            struck: 0,
            heading: None,
            link: None,
            code: None,
            table: None,
            apart: false,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => {
                let link = self.link.clone();
                let code = self.look.code(&text, self.look.theme.style(Role::Code)).into_iter();
                self.inline.extend(code.map(|piece| Piece { link: link.clone(), ..piece }));
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.push(&text, self.look.theme.style(Role::Code));
            }
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::FootnoteReference(name) => self.push(&format!("[{name}]"), self.style()),
            Event::SoftBreak | Event::HardBreak => self.line_break(),
            Event::Rule => {
                self.separate();
                let line = "─".repeat(self.look.columns.min(40));
                self.rows.push(Row::of(line, self.look.theme.style(Role::Border)));
                self.apart = true;
            }
            Event::TaskListMarker(done) => {
                // The box is the mark of its item.
                match self.containers.last_mut() {
                    Some(Container::Item { mark, used: false }) if mark.as_str() == BULLET => {
                        *mark = if done { "☑ " } else { "☐ " }.to_owned();
                    }
                    _ => self.push(if done { "☑ " } else { "☐ " }, self.look.theme.style(Role::Dim)),
                }
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.separate(),
            Tag::Heading { level, .. } => {
                self.separate();
                self.heading = Some(level);
            }
            Tag::BlockQuote(_) => {
                self.separate();
                self.enter(Container::Quote);
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                self.separate();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => info.split([' ', ',']).next().unwrap_or("").to_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::HtmlBlock => self.separate(),
            Tag::List(first) => {
                let inside = self.containers.iter().any(|c| matches!(c, Container::Item { .. }));
                self.flush();
                if !inside {
                    self.separate();
                }
                self.apart = false;
                self.enter(Container::List { next: first });
            }
            Tag::Item => {
                let mark = match self.containers.last_mut() {
                    Some(Container::List { next: Some(number) }) => {
                        let mark = format!("{number}. ");
                        *number += 1;
                        mark
                    }
                    _ => BULLET.to_owned(),
                };
                self.enter(Container::Item { mark, used: false });
            }
            Tag::Table(alignments) => {
                self.flush();
                self.separate();
                self.table = Some(table::Table::new(alignments.into_iter().map(align).collect()));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.row();
                }
            }
            Tag::TableCell => {}
            Tag::Emphasis => self.italic += 1,
            Tag::Strong => self.bold += 1,
            Tag::Strikethrough => self.struck += 1,
            Tag::Link { dest_url, .. } => self.link = safe_link(&dest_url),
            Tag::Image { dest_url, .. } => {
                self.push("▣ ", self.look.theme.style(Role::Dim));
                self.link = safe_link(&dest_url);
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.finish_block(),
            TagEnd::Heading(_) => {
                self.finish_block();
                self.heading = None;
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.containers.pop();
                self.apart = true;
            }
            TagEnd::CodeBlock => {
                if let Some((language, text)) = self.code.take() {
                    let lead = self.lead();
                    self.rows.extend(code_rows(&text, &language, &lead, self.look));
                    self.apart = true;
                }
            }
            TagEnd::List(_) => {
                self.containers.pop();
                self.apart = !self.containers.iter().any(|c| matches!(c, Container::Item { .. }));
            }
            TagEnd::Item => {
                self.flush();
                if matches!(self.containers.last(), Some(Container::Item { used: false, .. })) {
                    // An item without text still shows its mark.
                    let lead = self.lead();
                    self.rows.push(Row::from(vec![lead]));
                }
                self.containers.pop();
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let lead = self.lead();
                    self.rows.extend(table.rows(&lead, self.look));
                    self.apart = true;
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::Emphasis => self.italic = self.italic.saturating_sub(1),
            TagEnd::Strong => self.bold = self.bold.saturating_sub(1),
            TagEnd::Strikethrough => self.struck = self.struck.saturating_sub(1),
            TagEnd::Link | TagEnd::Image => self.link = None,
            _ => {}
        }
    }

    fn enter(&mut self, container: Container) {
        self.flush();
        self.containers.push(container);
    }

    fn finish_block(&mut self) {
        self.flush();
        self.apart = true;
    }

    /// An empty row between blocks.
    fn separate(&mut self) {
        self.flush();
        if self.apart && !self.rows.is_empty() {
            let quoted = self.containers.iter().any(|c| matches!(c, Container::Quote));
            let row = if quoted { Row::from(vec![self.still_lead()]) } else { Row::empty() };
            self.rows.push(row);
        }
        self.apart = false;
    }

    fn text(&mut self, text: &str) {
        if let Some((_, code)) = &mut self.code {
            code.push_str(text);
            return;
        }
        let style = self.style();
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 {
                self.line_break();
            }
            self.push_linked(line, style);
        }
    }

    /// Text in which addresses are links, where it is not one already.
    fn push_linked(&mut self, text: &str, style: Style) {
        if self.link.is_some() {
            return self.push(text, style);
        }
        for (is_address, part) in address::split(text) {
            let link = if is_address { safe_link(part) } else { None };
            let style = if link.is_some() { style.patch(self.look.theme.style(Role::Link)) } else { style };
            self.inline.push(Piece { text: part.to_owned(), style, link, decor: false });
        }
    }

    fn push(&mut self, text: &str, style: Style) {
        if !text.is_empty() {
            self.inline.push(Piece { link: self.link.clone(), ..Piece::new(text, style) });
        }
    }

    fn line_break(&mut self) {
        if self.table.is_some() {
            self.push(" ", Style::new());
        } else {
            self.flush();
        }
    }

    fn style(&self) -> Style {
        let theme = self.look.theme;
        let mut style = match (&self.link, self.heading) {
            (Some(_), _) => theme.style(Role::Link),
            (None, Some(_)) => theme.style(Role::Heading),
            (None, None) => theme.style(Role::Text),
        };
        if self.bold > 0 {
            style = style.add_modifier(Modifier::BOLD);
        }
        if self.italic > 0 {
            style = style.add_modifier(Modifier::ITALIC);
        }
        if self.struck > 0 {
            style = style.add_modifier(Modifier::CROSSED_OUT);
        }
        if self.heading == Some(HeadingLevel::H1) {
            style = style.add_modifier(Modifier::UNDERLINED);
        }
        style
    }

    /// Ends the line of inline text that was gathered.
    fn flush(&mut self) {
        if self.inline.is_empty() {
            return;
        }
        let inline = std::mem::take(&mut self.inline);
        let first = self.lead();
        let rest = self.still_lead();
        self.rows.extend(wrap(&inline, self.look.prose(), &first, &rest));
    }

    /// What stands before the next row; marks of items are used up.
    fn lead(&mut self) -> Piece {
        let mut text = String::new();
        for container in self.containers.iter_mut().take(MAX_DEPTH) {
            match container {
                Container::Quote => text.push_str("▌ "),
                Container::List { .. } => {}
                Container::Item { mark, used: false } => text.push_str(mark),
                Container::Item { mark, used: true } => {
                    (0..crate::row::width(mark)).for_each(|_| text.push(' '));
                }
            }
            if let Container::Item { used, .. } = container {
                *used = true;
            }
        }
        Piece { decor: self.is_quoted(), ..Piece::new(text, self.look.theme.style(Role::Dim)) }
    }

    /// Whether nothing but bars stands before a row: the mark of an item belongs to the text.
    fn is_quoted(&self) -> bool {
        self.containers.iter().all(|container| matches!(container, Container::Quote))
    }

    /// What stands before rows that go on.
    fn still_lead(&self) -> Piece {
        let mut text = String::new();
        for container in self.containers.iter().take(MAX_DEPTH) {
            match container {
                Container::Quote => text.push_str("▌ "),
                Container::List { .. } => {}
                Container::Item { mark, .. } => (0..crate::row::width(mark)).for_each(|_| text.push(' ')),
            }
        }
        Piece { decor: self.is_quoted(), ..Piece::new(text, self.look.theme.style(Role::Dim)) }
    }
}

fn align(alignment: Alignment) -> table::Align {
    match alignment {
        Alignment::Center => table::Align::Center,
        Alignment::Right => table::Align::Right,
        Alignment::Left | Alignment::None => table::Align::Left,
    }
}

/// Only addresses that a person would open become links; what could end the sequence is refused.
fn safe_link(address: &str) -> Option<Arc<str>> {
    let known =
        ["https://", "http://", "mailto:", "file://"].iter().any(|scheme| address.starts_with(scheme));
    let plain = address.chars().all(|c| !c.is_control() && c != ' ');
    (known && plain && address.len() <= MAX_LINK).then(|| address.into())
}
