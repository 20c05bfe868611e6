//! A screen as a picture: the buffer as SVG, for documents. Pure.

use crate::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::style::{Color, Modifier, Style};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

const COLUMN: f32 = 8.4;
const ROW: f32 = 18.0;
const EDGE: f32 = 14.0;

/// The screen that the picture is of.
struct SvgColours {
    paper: &'static str,
    ink: &'static str,
    /// Red, green, yellow, blue, magenta, cyan, as such a terminal shows them.
    named: [&'static str; 6],
}

const DARK: SvgColours = SvgColours {
    paper: "#14161b",
    ink: "#d7dae0",
    named: ["#f0707a", "#8fca74", "#e3c06f", "#6cb2f3", "#c98ae0", "#5cc4ce"],
};
const LIGHT: SvgColours = SvgColours {
    paper: "#fdfdfc",
    ink: "#24292f",
    named: ["#c0182c", "#2b7a0b", "#9a5b00", "#0550ae", "#7b2fbf", "#0b7285"],
};

/// The screen as one SVG document, on the background that the theme is made for, with the caret where it is.
pub fn svg(buffer: &Buffer, caret: Option<Position>, theme: Theme) -> String {
    let sheet = match theme {
        Theme::Light => &LIGHT,
        Theme::Dark | Theme::Terminal | Theme::Contrast | Theme::Plain => &DARK,
    };
    let area = buffer.area;
    let (width, height) =
        (f32::from(area.width) * COLUMN + 2.0 * EDGE, f32::from(area.height) * ROW + 2.0 * EDGE);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"ui-monospace, \
         SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{}\"/>\n",
        sheet.paper
    );
    for y in area.top()..area.bottom() {
        row(buffer, y, sheet, &mut out);
    }
    if let Some(at) = caret {
        let (left, top) = (f32::from(at.x) * COLUMN + EDGE, f32::from(at.y) * ROW + EDGE);
        let _ = writeln!(
            out,
            "<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"2\" height=\"{:.1}\" fill=\"{}\"/>",
            top + 1.0,
            ROW - 2.0,
            sheet.ink
        );
    }
    out.push_str("</svg>\n");
    out
}

/// A run of cells of one style is one element.
fn row(buffer: &Buffer, y: u16, sheet: &SvgColours, out: &mut String) {
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
        out.push_str(&run((start, y, x - start), style, &text, sheet));
    }
}

fn run((x, y, cells): (u16, u16, u16), style: Style, text: &str, sheet: &SvgColours) -> String {
    let mut out = String::new();
    let has = |modifier| style.add_modifier.contains(modifier);
    let (mut ink, mut paper) =
        (colour(style.fg, sheet.ink, sheet), style.bg.map(|bg| colour(Some(bg), sheet.paper, sheet)));
    if has(Modifier::REVERSED) {
        let front = std::mem::replace(&mut ink, paper.take().unwrap_or_else(|| sheet.paper.to_owned()));
        paper = Some(front);
    }
    let (left, top) = (f32::from(x) * COLUMN + EDGE, f32::from(y) * ROW + EDGE);
    let width = f32::from(cells) * COLUMN;
    if let Some(paper) = paper.filter(|paper| paper != sheet.paper) {
        let _ = writeln!(
            out,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{ROW}\" fill=\"{paper}\"/>"
        );
    }
    if text.trim().is_empty() {
        return out;
    }
    let weight = if has(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let slant = if has(Modifier::ITALIC) { " font-style=\"italic\"" } else { "" };
    let faint = if has(Modifier::DIM) { " opacity=\"0.6\"" } else { "" };
    let line = match (has(Modifier::UNDERLINED), has(Modifier::CROSSED_OUT)) {
        (true, _) => " text-decoration=\"underline\"",
        (false, true) => " text-decoration=\"line-through\"",
        (false, false) => "",
    };
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        out,
        "<text x=\"{left:.1}\" y=\"{:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\" \
         fill=\"{ink}\"{weight}{slant}{faint}{line}>{text}</text>",
        top + 13.5
    );
    out
}

/// Colours as a terminal with this sheet shows them.
fn colour(colour: Option<Color>, fallback: &str, sheet: &SvgColours) -> String {
    let named = match colour {
        Some(Color::Rgb(red, green, blue)) => return format!("#{red:02x}{green:02x}{blue:02x}"),
        Some(Color::Indexed(index)) => return indexed(index, sheet),
        Some(Color::Black) => "#3b4048",
        Some(Color::Red | Color::LightRed) => sheet.named[0],
        Some(Color::Green | Color::LightGreen) => sheet.named[1],
        Some(Color::Yellow | Color::LightYellow) => sheet.named[2],
        Some(Color::Blue | Color::LightBlue) => sheet.named[3],
        Some(Color::Magenta | Color::LightMagenta) => sheet.named[4],
        Some(Color::Cyan | Color::LightCyan) => sheet.named[5],
        Some(Color::Gray) => "#b4b9c2",
        Some(Color::DarkGray) => "#7d838f",
        Some(Color::White) => "#eceff4",
        Some(Color::Reset) | None => fallback,
    };
    named.to_owned()
}

/// The 256 colours of terminals: sixteen names, a cube, greys.
fn indexed(index: u8, sheet: &SvgColours) -> String {
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
        0..16 => colour(Some(NAMED[usize::from(index)]), sheet.ink, sheet),
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
        let caret = Some(Position::new(2, 0));
        let picture = svg(&buffer, caret, Theme::Dark);
        assert!(picture.contains("<rect x=\"30.8\" y=\"15.0\" width=\"2\""), "{picture}");
        assert!(picture.contains(">a&lt;b</text>"), "{picture}");
        assert!(picture.contains("fill=\"#f0707a\">red</text>"), "{picture}");
    }
}
