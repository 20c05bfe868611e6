//! Texts as they are read line by line, or heard: no signs that only an eye can use. Pure.

use crate::clean::{clean, clean_line};
use domain::prompt_text;

/// A line that streams in is told before its end when it is this long, at the end of a sentence.
const LONG: usize = 160;
/// As much of a line without a sentence in it is held back, in bytes.
const MAX_HELD: usize = 8 * 1024;
/// Lines of output or of a preview that are told; of longer ones the beginning and the end.
const MAX_LINES: usize = 24;
/// Lines of the beginning of a longer one.
const HEAD: usize = 8;

/// What the model says, on its way to whole lines and sentences. What was told is never told otherwise.
#[derive(Debug, Default)]
pub(super) struct Speech {
    held: String,
    in_code: bool,
}

impl Speech {
    /// More of it came: the lines and sentences that are whole now.
    pub(super) fn feed(&mut self, text: &str) -> Vec<String> {
        self.held.push_str(text);
        let mut lines = Vec::new();
        while let Some((line, rest)) = self.held.split_once('\n') {
            let (line, rest) = (line.to_owned(), rest.to_owned());
            lines.extend(self.line(&line));
            self.held = rest;
        }
        let is_prose = !self.in_code && !self.held.starts_with("```") && !self.held.starts_with('|');
        if is_prose && self.held.len() >= LONG {
            let ends = [". ", "! ", "? "];
            let end = ends.iter().filter_map(|end| self.held.rfind(end)).max().map(|at| at + 1);
            let word = || self.held.rfind(' ').filter(|_| self.held.len() >= MAX_HELD);
            if let Some(end) = end.or_else(word) {
                let rest = self.held.split_off(end);
                let sentence = std::mem::replace(&mut self.held, rest.trim_start().to_owned());
                lines.extend(self.line(&sentence));
            }
        }
        lines
    }

    /// It is over, or something else comes: what is left of it.
    pub(super) fn end(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.held);
        let line = self.line(&rest);
        self.in_code = false;
        line
    }

    /// A line without the signs of Markdown; `None` where nothing is left to tell.
    fn line(&mut self, line: &str) -> Option<String> {
        let line = clean_line(line);
        let line = line.trim_end();
        if let Some(language) = line.trim_start().strip_prefix("```") {
            self.in_code = !self.in_code;
            return Some(match (self.in_code, language.trim()) {
                (true, "") => "Code begins:".to_owned(),
                (true, language) => format!("Code begins ({language}):"),
                (false, _) => "Code ends.".to_owned(),
            });
        }
        if self.in_code {
            return Some(line.to_owned());
        }
        let bare = line.trim();
        if bare.is_empty() || bare.len() >= 3 && bare.chars().all(|c| "-*_=|:─═ ".contains(c)) {
            return None;
        }
        let bare = bare.trim_start_matches('#').trim_start();
        let row = bare.strip_prefix('|').and_then(|row| row.strip_suffix('|'));
        let told = match row {
            Some(row) => row.split('|').map(str::trim).collect::<Vec<_>>().join("; "),
            None if line.starts_with(' ') => line.to_owned(),
            None => bare.to_owned(),
        };
        Some(told.replace("**", ""))
    }
}

/// A unified diff in words: every line with its number and what becomes of it.
pub(super) fn diff(text: &str) -> Vec<String> {
    let (mut old, mut new) = (0usize, 0usize);
    let mut lines = Vec::new();
    for line in clean(text).lines() {
        let mut sign = line.chars();
        match sign.next() {
            _ if line.starts_with("--- ") || line.starts_with("diff ") || line.starts_with("index ") => {}
            _ if line.starts_with("+++ ") => {
                let name = line[4..].trim();
                lines.push(format!("File {}:", name.strip_prefix("b/").unwrap_or(name)));
            }
            Some('@') => {
                let number = |sign: char| {
                    let digits = line.split_once(sign)?.1;
                    digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
                };
                (old, new) = (number('-').unwrap_or(0), number('+').unwrap_or(0));
            }
            Some('+') => {
                lines.push(format!("add line {new}: {}", sign.as_str()));
                new += 1;
            }
            Some('-') => {
                lines.push(format!("remove line {old}: {}", sign.as_str()));
                old += 1;
            }
            Some(' ') => {
                lines.push(format!("line {new}: {}", sign.as_str()));
                (old, new) = (old + 1, new + 1);
            }
            Some('\\') | None => {}
            Some(_) => lines.push(line.to_owned()),
        }
    }
    lines
}

/// Whether so many lines are not told at once.
pub(super) fn is_long<T>(lines: &[T]) -> bool {
    lines.len() > MAX_LINES
}

/// Lines of a text; of a long one its beginning and its end, with a word between them. `how` says how to have them all.
pub(super) fn some_of(lines: Vec<String>, how: &str) -> Vec<String> {
    if !is_long(&lines) {
        return lines;
    }
    let hidden = lines.len() - MAX_LINES;
    let tail = lines[HEAD + hidden..].to_vec();
    let mut told = lines;
    told.truncate(HEAD);
    let (lines, are) = if hidden == 1 { ("line", "is") } else { ("lines", "are") };
    told.push(format!("{hidden} more {lines} {are} left out{how}"));
    told.extend(tail);
    told
}

/// What the person said. A command of theirs that goes along is only named: what it wrote was told when it ran.
pub(super) fn prompted(text: &str) -> String {
    let text = text.trim();
    let said = prompt_text::own_command(text).and_then(|(line, end)| {
        let (_, words) = text.split_once("\n```\n\n")?;
        Some(format!("You, with `{}` ({end}): {}", clean_line(line), clean_line(words.trim())))
    });
    said.unwrap_or_else(|| format!("You: {}", clean_line(text)))
}

/// A span of time in words.
pub(super) fn span(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0 => "less than a second".to_owned(),
        1..60 => many(seconds, "second"),
        60..3_600 if seconds.is_multiple_of(60) => many(seconds / 60, "minute"),
        60..3_600 => format!("{} and {}", many(seconds / 60, "minute"), many(seconds % 60, "second")),
        _ => format!("{} and {}", many(seconds / 3_600, "hour"), many(seconds / 60 % 60, "minute")),
    }
}

/// A number of things.
pub(super) fn many(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// A text of the screen without its signs, and without keys that are not here.
pub(super) fn aloud(text: &str) -> String {
    const KEYS: &[&str] = &[" (Esc)", " (↑ brings it back)", "; Esc closes", " (Esc again discards it)"];
    let mut text = KEYS.iter().fold(clean_line(text), |text, key| text.replace(key, ""));
    for (sign, word) in [(" · ", ", "), ("→", "to"), ("…", "..."), ("−", "minus "), ("› ", ""), ("│ ", "")]
    {
        text = text.replace(sign, word);
    }
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_told_in_whole_lines_and_sentences_and_never_twice() {
        let text =
            "# Title\n\nOne **bold** word.\n---\n| a | b |\n|---|---|\n```rust\nlet x = 1;\n\n```\nEnd";
        let whole =
            ["Title", "One bold word.", "a; b", "Code begins (rust):", "let x = 1;", "", "Code ends."];
        for size in 1..text.len() {
            let (mut speech, mut told) = (Speech::default(), Vec::new());
            for piece in text.as_bytes().chunks(size) {
                told.extend(speech.feed(std::str::from_utf8(piece).unwrap()));
            }
            assert_eq!(told, whole, "in pieces of {size}");
            assert_eq!(speech.end().as_deref(), Some("End"));
        }
    }

    #[test]
    fn a_long_paragraph_is_told_sentence_by_sentence() {
        let mut speech = Speech::default();
        let first = "A sentence that is long enough to be told before its paragraph is over, since somebody \
                     waits for it and would hear nothing for a long time.";
        assert_eq!(speech.feed(first), [""; 0]);
        assert_eq!(speech.feed(" And a second one that goes on"), [first]);
        assert_eq!(speech.end().as_deref(), Some("And a second one that goes on"));
        // What has no end at all is not held back for ever.
        assert!(!Speech::default().feed(&"word ".repeat(2_000)).is_empty());
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let told = Speech::default().feed("a\u{1b}[2Jb\u{7}\u{9b}1mc\n");
        assert_eq!(told, ["abc"]);
        assert_eq!(diff("+a\u{1b}[31mb"), ["add line 0: ab"]);
    }

    #[test]
    fn a_diff_is_told_by_line_numbers() {
        let text =
            "--- a/x.rs\n+++ b/x.rs\n@@ -3,3 +3,3 @@\n same\n-old\n+new\n\\ No newline at end of file\n";
        assert_eq!(diff(text), ["File x.rs:", "line 3: same", "remove line 4: old", "add line 4: new"]);
    }

    #[test]
    fn of_a_long_text_the_end_is_told_too() {
        let lines = (0..100).map(|n| n.to_string()).collect();
        let told = some_of(lines, "");
        assert_eq!((told.len(), told.last().unwrap().as_str()), (MAX_LINES + 1, "99"));
        assert!(told[HEAD].starts_with("76 more lines are left out"), "{told:?}");
        let one_more = some_of((0..=MAX_LINES).map(|n| n.to_string()).collect(), "");
        assert_eq!(one_more[HEAD], "1 more line is left out");
    }

    #[test]
    fn a_command_that_goes_along_is_named_and_not_told_again() {
        let along =
            prompt_text::with_own_command("make", prompt_text::OwnEnd::Code(2), "long\noutput", "why?");
        assert_eq!(prompted(&along), "You, with `make` (exit code 2): why?");
        assert_eq!(prompted(" I ran `x` today\n"), "You: I ran `x` today");
    }

    #[test]
    fn times_are_words() {
        for (ms, words) in [
            (900, "less than a second"),
            (1_000, "1 second"),
            (61_000, "1 minute and 1 second"),
            (7_320_000, "2 hours and 2 minutes"),
        ] {
            assert_eq!(span(ms), words);
        }
    }
}
