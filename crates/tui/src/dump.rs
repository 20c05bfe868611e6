//! A buffer as text with its styles, for snapshots: a lost highlight must not pass unseen.

use ratatui_core::buffer::Buffer;
use ratatui_core::style::Style;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// The grid, then each run of cells that do not look plain: `row:from..to style`.
pub(crate) fn dump(buffer: &Buffer) -> String {
    let area = buffer.area;
    let mut out = String::new();
    let mut styles = String::new();
    for y in area.y..area.bottom() {
        let mut line = String::new();
        let mut run: Option<(u16, Style)> = None;
        let mut skip = 0;
        for x in area.x..area.right() {
            let cell = &buffer[(x, y)];
            if skip > 0 {
                skip -= 1;
            } else {
                line.push_str(cell.symbol());
                skip = cell.symbol().width().min(2).saturating_sub(1);
            }
            let style = plain(cell.style());
            if run.is_some_and(|(_, s)| s != style) || run.is_none() {
                tell(&mut styles, y, run, x);
                run = Some((x, style));
            }
        }
        tell(&mut styles, y, run, area.right());
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.push_str(&styles);
    out
}

fn plain(style: Style) -> Style {
    let reset = ratatui_core::style::Color::Reset;
    let keep = |colour: Option<ratatui_core::style::Color>| colour.filter(|c| *c != reset);
    Style { fg: keep(style.fg), bg: keep(style.bg), underline_color: None, ..style }
}

fn tell(styles: &mut String, y: u16, run: Option<(u16, Style)>, end: u16) {
    let Some((from, style)) = run else { return };
    let mut looks = Vec::new();
    looks.extend(style.fg.map(|colour| format!("fg={colour}")));
    looks.extend(style.bg.map(|colour| format!("bg={colour}")));
    if !style.add_modifier.is_empty() {
        looks.push(format!("{:?}", style.add_modifier));
    }
    if !looks.is_empty() {
        let _ = writeln!(styles, "{y}:{from}..{end} {}", looks.join(" "));
    }
}
