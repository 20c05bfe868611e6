//! A screen as a picture (SVG), for documents: drawn from the real buffer, so that it shows what the program shows.

use crate::row::grapheme_width;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use std::fmt::Write;

/// Width of a column and height of a row, in picture units.
const CELL: (f64, f64) = (8.4, 18.0);
const MARGIN: f64 = 12.0;
const BACKGROUND: &str = "#1b1e25";
const FOREGROUND: &str = "#d8dee9";
const SIXTEEN: [&str; 16] = [
    "#282c34", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#abb2bf", "#5c6370",
    "#ef7a85", "#a9d18e", "#f0d08a", "#72b7f2", "#d19fe8", "#7fd1c7", "#ffffff",
];

/// The picture of a screen.
pub fn svg(buffer: &Buffer) -> String {
    let area = buffer.area;
    let wide = f64::from(area.width) * CELL.0 + 2.0 * MARGIN;
    let high = f64::from(area.height) * CELL.1 + 2.0 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide:.0} {high:.0}\" font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n"
    );
    for y in area.y..area.bottom() {
        let mut x = area.x;
        while x < area.right() {
            let first = &buffer[(x, y)];
            let mut text = String::new();
            let mut end = x;
            while end < area.right() && looks_same(first, &buffer[(end, y)]) {
                text.push_str(buffer[(end, y)].symbol());
                end += u16::try_from(grapheme_width(buffer[(end, y)].symbol()).max(1)).unwrap_or(1);
            }
            piece(&mut out, first, &text, (x - area.x, y - area.y), end - x);
            x = end;
        }
    }
    out.push_str("</svg>\n");
    out
}

fn looks_same(a: &Cell, b: &Cell) -> bool {
    (a.fg, a.bg, a.modifier) == (b.fg, b.bg, b.modifier)
}

fn piece(out: &mut String, look: &Cell, text: &str, at: (u16, u16), columns: u16) {
    let (mut ink, mut paper) = (colour(look.fg), colour(look.bg));
    if look.modifier.contains(Modifier::REVERSED) {
        (ink, paper) =
            (Some(paper.unwrap_or(BACKGROUND.to_owned())), Some(ink.unwrap_or(FOREGROUND.to_owned())));
    }
    let (x, y) = (MARGIN + f64::from(at.0) * CELL.0, MARGIN + f64::from(at.1) * CELL.1);
    let wide = f64::from(columns) * CELL.0;
    if let Some(paper) = paper {
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{:.1}\" fill=\"{paper}\"/>",
            CELL.1
        );
    }
    let shown = text.trim_end();
    if shown.is_empty() {
        return;
    }
    let mut style = String::new();
    for (bit, attribute) in [
        (Modifier::BOLD, " font-weight=\"bold\""),
        (Modifier::ITALIC, " font-style=\"italic\""),
        (Modifier::UNDERLINED, " text-decoration=\"underline\""),
        (Modifier::CROSSED_OUT, " text-decoration=\"line-through\""),
        (Modifier::DIM, " opacity=\"0.6\""),
    ] {
        if look.modifier.contains(bit) {
            style.push_str(attribute);
        }
    }
    let columns: usize = crate::row::width(shown);
    let length = f64::from(u32::try_from(columns).unwrap_or(0)) * CELL.0;
    let ink = ink.unwrap_or(FOREGROUND.to_owned());
    let baseline = y + CELL.1 * 0.75;
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{baseline:.1}\" fill=\"{ink}\" textLength=\"{length:.1}\" xml:space=\"preserve\"{style}>{}</text>",
        escape(shown)
    );
}

fn colour(colour: Color) -> Option<String> {
    let named = match colour {
        Color::Reset => return None,
        Color::Rgb(r, g, b) => return Some(format!("#{r:02x}{g:02x}{b:02x}")),
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 8,
        Color::LightRed => 9,
        Color::LightGreen => 10,
        Color::LightYellow => 11,
        Color::LightBlue => 12,
        Color::LightMagenta => 13,
        Color::LightCyan => 14,
        Color::White => 15,
        Color::Indexed(n) if n < 16 => usize::from(n),
        Color::Indexed(n @ 16..=231) => {
            let step = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
            let n = n - 16;
            return Some(format!("#{:02x}{:02x}{:02x}", step(n / 36), step(n / 6 % 6), step(n % 6)));
        }
        Color::Indexed(n) => {
            let grey = 8 + 10 * (n - 232);
            return Some(format!("#{grey:02x}{grey:02x}{grey:02x}"));
        }
    };
    SIXTEEN.get(named).map(|code| (*code).to_owned())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn a_screen_becomes_text_with_colours() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 6, 1));
        buffer.set_string(0, 0, "a<b", Style::new().fg(Color::Red));
        let picture = svg(&buffer);
        assert!(picture.contains("fill=\"#e06c75\"") && picture.contains(">a&lt;b</text>"), "{picture}");
    }
}
