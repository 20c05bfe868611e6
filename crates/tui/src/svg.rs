//! A screen as a picture: the buffer as SVG, for documents. Pure.

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

const COLUMN: f32 = 8.4;
const ROW: f32 = 18.0;
const EDGE: f32 = 14.0;
const PAPER: &str = "#14161b";
const INK: &str = "#d7dae0";

/// The screen as one SVG document.
pub fn svg(buffer: &Buffer) -> String {
    let area = buffer.area;
    let (width, height) =
        (f32::from(area.width) * COLUMN + 2.0 * EDGE, f32::from(area.height) * ROW + 2.0 * EDGE);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"ui-monospace, \
         SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{PAPER}\"/>\n"
    );
    for y in area.top()..area.bottom() {
        row(buffer, y, &mut out);
    }
    out.push_str("</svg>\n");
    out
}

/// A run of cells of one style is one element.
fn row(buffer: &Buffer, y: u16, out: &mut String) {
    let area = buffer.area;
    let mut x = area.left();
    while x < area.right() {
        let style = buffer[(x, y)].style();
        let (start, mut text) = (x, String::new());
        while x < area.right() && buffer[(x, y)].style() == style {
            let symbol = buffer[(x, y)].symbol();
            text.push_str(symbol);
            x += u16::try_from(symbol.width()).unwrap_or(1).max(1);
        }
        run(start, y, x - start, style, &text, out);
    }
}

fn run(x: u16, y: u16, cells: u16, style: Style, text: &str, out: &mut String) {
    let reversed = style.add_modifier.contains(Modifier::REVERSED);
    let (mut ink, mut paper) = (colour(style.fg, INK), style.bg.map(|bg| colour(Some(bg), PAPER)));
    if reversed {
        let front = std::mem::replace(&mut ink, paper.take().unwrap_or_else(|| PAPER.to_owned()));
        paper = Some(front);
    }
    let (left, top) = (f32::from(x) * COLUMN + EDGE, f32::from(y) * ROW + EDGE);
    let width = f32::from(cells) * COLUMN;
    if let Some(paper) = paper.filter(|paper| paper != PAPER) {
        let _ = writeln!(
            out,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{ROW}\" fill=\"{paper}\"/>"
        );
    }
    if text.trim().is_empty() {
        return;
    }
    let weight = if style.add_modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let slant = if style.add_modifier.contains(Modifier::ITALIC) { " font-style=\"italic\"" } else { "" };
    let faint = if style.add_modifier.contains(Modifier::DIM) { " opacity=\"0.6\"" } else { "" };
    let line =
        if style.add_modifier.contains(Modifier::UNDERLINED) { " text-decoration=\"underline\"" } else { "" };
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        out,
        "<text x=\"{left:.1}\" y=\"{:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\" \
         fill=\"{ink}\"{weight}{slant}{faint}{line}>{text}</text>",
        top + 13.5
    );
}

/// Colours as a dark terminal shows them.
fn colour(colour: Option<Color>, fallback: &str) -> String {
    let named = match colour {
        Some(Color::Rgb(red, green, blue)) => return format!("#{red:02x}{green:02x}{blue:02x}"),
        Some(Color::Indexed(index)) => return indexed(index),
        Some(Color::Black) => "#3b4048",
        Some(Color::Red | Color::LightRed) => "#f0707a",
        Some(Color::Green | Color::LightGreen) => "#8fca74",
        Some(Color::Yellow | Color::LightYellow) => "#e3c06f",
        Some(Color::Blue | Color::LightBlue) => "#6cb2f3",
        Some(Color::Magenta | Color::LightMagenta) => "#c98ae0",
        Some(Color::Cyan | Color::LightCyan) => "#5cc4ce",
        Some(Color::Gray) => "#b4b9c2",
        Some(Color::DarkGray) => "#7d838f",
        Some(Color::White) => "#eceff4",
        Some(Color::Reset) | None => fallback,
    };
    named.to_owned()
}

/// The 256 colours of terminals: sixteen names, a cube, greys.
fn indexed(index: u8) -> String {
    const NAMED: [Color; 16] = [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];
    match index {
        0..16 => colour(Some(NAMED[usize::from(index)]), INK),
        16..232 => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            let cube = index - 16;
            format!("#{:02x}{:02x}{:02x}", level(cube / 36), level(cube / 6 % 6), level(cube % 6))
        }
        232.. => {
            let grey = 8 + 10 * (index - 232);
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;

    #[test]
    fn text_is_escaped_and_runs_of_one_style_are_one_element() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 6, 1));
        buffer.set_string(0, 0, "a<b", Style::default());
        buffer.set_string(3, 0, "red", Style::default().fg(Color::Red));
        let picture = svg(&buffer);
        assert!(picture.contains(">a&lt;b</text>"), "{picture}");
        assert!(picture.contains("fill=\"#f0707a\">red</text>"), "{picture}");
    }
}
