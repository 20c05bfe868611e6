//! Text on a terminal: colours where they are wanted, widths as they are seen, nothing that could command the terminal.

use crate::output::{self, Stream};
use domain::harmless::clean;
use domain::ids::Millis;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A line is no wider than this, however wide the terminal is.
pub(crate) const WIDEST: usize = 100;
/// The width of a table where nobody says how wide the terminal is.
const USUAL_WIDTH: usize = 100;
/// Narrower than this nothing is cut.
const LEAST_WIDTH: usize = 40;

/// How text is marked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    colours: bool,
    /// Columns there are; `None` when nobody looks at a screen, so nothing is cut.
    pub(crate) width: Option<usize>,
}

impl Paint {
    /// What fits stdout: colours on a terminal, unless `NO_COLOR` is set or the terminal is a dumb one.
    pub(crate) fn of_stdout() -> Paint {
        let width = Stream::Out.is_terminal().then(columns);
        Paint { colours: Stream::Out.takes_colours(), width }
    }

    /// Neither colours nor cuts.
    #[cfg(test)]
    pub(crate) fn plain() -> Paint {
        Paint { colours: false, width: None }
    }

    fn mark(self, code: &str, text: &str) -> String {
        if self.colours && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// For what may be overlooked.
    pub(crate) fn dim(self, text: &str) -> String {
        self.mark("2", text)
    }

    /// For titles and names.
    pub(crate) fn strong(self, text: &str) -> String {
        self.mark("1", text)
    }

    /// For ids and for who speaks.
    pub(crate) fn accent(self, text: &str) -> String {
        self.mark("36", text)
    }

    /// For what was found, and for what goes on now.
    pub(crate) fn hit(self, text: &str) -> String {
        self.mark("1;33", text)
    }
}

fn columns() -> usize {
    output::columns().map_or(USUAL_WIDTH, |columns| columns.max(LEAST_WIDTH))
}

/// One line without anything that is not text.
pub(crate) fn line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lines without anything that is not text.
pub(crate) fn lines(text: &str) -> String {
    clean(text).trim_end().to_owned()
}

/// As many columns of it as fit.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut taken = 0;
    let fits = |c: &char| {
        taken += c.width().unwrap_or(0);
        taken < width
    };
    let mut short: String = text.chars().take_while(fits).collect();
    short.push('…');
    short
}

/// Filled with spaces up to a width.
pub(crate) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// How long ago, as people say it.
pub(crate) fn ago(at: Millis, now: Millis) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let seconds = now.0.saturating_sub(at.0) / 1_000;
    match seconds {
        0..45 => "just now".to_owned(),
        45..HOUR => format!("{} min ago", (seconds / MINUTE).max(1)),
        HOUR..DAY => format!("{} h ago", seconds / HOUR),
        _ if seconds < 2 * DAY => "yesterday".to_owned(),
        _ if seconds < 14 * DAY => format!("{} days ago", seconds / DAY),
        _ => wire::time::write(at.0)[..10].to_owned(),
    }
}

/// A path as people say it.
pub(crate) fn home(path: &str) -> String {
    let home = std::env::home_dir().map(|home| home.display().to_string()).filter(|home| home.len() > 1);
    match home.and_then(|home| path.strip_prefix(&home).map(str::to_owned)) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => line(&format!("~{rest}")),
        Some(_) | None => line(path),
    }
}

/// A paragraph or a point of a list in lines of this width; what belongs to a point stands below its first word.
pub(crate) fn wrapped(line: &str, width: usize) -> Vec<String> {
    let bare = line.trim_start();
    let marked = bare.starts_with("- ")
        || bare.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok());
    let marker = if marked { bare.find(' ').map_or(0, |at| at + 1) } else { 0 };
    let indent = " ".repeat(line.len() - bare.len() + marker);
    let mut lines = vec![line[..line.len() - bare.len()].to_owned()];
    for word in bare.split_whitespace() {
        let last = lines.last_mut();
        match last {
            Some(last) if last.trim().is_empty() || last.width() + 1 + word.width() <= width => {
                if !last.trim().is_empty() {
                    last.push(' ');
                }
                last.push_str(word);
            }
            _ => lines.push(format!("{indent}{word}")),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_people_say_them() {
        let now = 1_763_000_000_000;
        for (seconds, words) in [
            (0, "just now"),
            (50, "1 min ago"),
            (3_599, "59 min ago"),
            (7_300, "2 h ago"),
            (90_000, "yesterday"),
            (300_000, "3 days ago"),
            (3_000_000, "2025-10-09"),
        ] {
            assert_eq!(ago(Millis(now - seconds * 1_000), Millis(now)), words);
        }
        assert_eq!(ago(Millis(now + 5_000), Millis(now)), "just now", "a clock that jumped back");
    }

    #[test]
    fn nothing_commands_the_terminal_and_widths_are_as_seen() {
        assert_eq!(line("a\u{1b}[31m\n\tb\u{9b}2J"), "a b");
        assert_eq!(lines("a\u{1b}[31m\nb\u{7}\n\n"), "a\nb");
        assert_eq!(cut("日本語テキスト", 7), "日本語…");
        assert_eq!(pad("日本", 6), "日本  ");
        assert_eq!(Paint::plain().strong("x"), "x");
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("- one two three", 9), ["- one two", "  three"]);
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("", 7), [""]);
    }
}
