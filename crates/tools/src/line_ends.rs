//! Ends of lines: text is compared as if every line ended in LF, and changed where it stands, so that what was not meant keeps its bytes.

/// A text as if its lines ended in LF, and the way back to the text itself.
pub(crate) struct Plain {
    pub(crate) text: String,
    /// Where in it an LF stands that has a CR before it in the text itself, ascending.
    crlf: Vec<usize>,
}

impl Plain {
    /// Reads a text with ends of any kind.
    pub(crate) fn of(text: &str) -> Plain {
        let mut plain = Plain { text: String::with_capacity(text.len()), crlf: Vec::new() };
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("\r\n") {
            plain.text.push_str(before);
            plain.crlf.push(plain.text.len());
            plain.text.push('\n');
            rest = after;
        }
        plain.text.push_str(rest);
        plain
    }

    /// Where a place is in the text itself.
    pub(crate) fn origin(&self, at: usize) -> usize {
        at + self.crlf.partition_point(|line_end| *line_end < at)
    }

    /// How lines end at a place: as most of those that stand in it do, else as the line that it is in, else as most of the text.
    pub(crate) fn ending(&self, from: usize, to: usize) -> &'static str {
        let crlf = |from: usize, to: usize| {
            let before = |at: usize| self.crlf.partition_point(|line_end| *line_end < at);
            before(to) - before(from)
        };
        let all = |from: usize, to: usize| self.text.get(from..to).unwrap_or_default().matches('\n').count();
        let line_end = self.text.get(to..).and_then(|rest| rest.find('\n')).map(|at| to + at);
        let is_crlf = match (all(from, to), line_end) {
            (0, Some(at)) => self.crlf.binary_search(&at).is_ok(),
            (0, None) => crlf(0, self.text.len()) * 2 > all(0, self.text.len()),
            (lines, _) => crlf(from, to) * 2 > lines,
        };
        if is_crlf { "\r\n" } else { "\n" }
    }
}

/// Text whose lines end in LF, with other ends.
pub(crate) fn with_ending(text: &str, ending: &str) -> String {
    if ending == "\n" { text.to_owned() } else { text.replace('\n', ending) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_found_again_and_lines_end_as_those_around() {
        let text = "a\r\nb\nc\r\n\r\nd\r";
        let plain = Plain::of(text);
        assert_eq!(plain.text, "a\nb\nc\n\nd\r");
        for (at, c) in plain.text.char_indices().filter(|(_, c)| *c != '\n') {
            assert_eq!(text[plain.origin(at)..].chars().next(), Some(c), "{at}");
        }
        assert_eq!(
            &text[plain.origin(1)..],
            "\r\nb\nc\r\n\r\nd\r",
            "a place at the end of a line is before all of it"
        );
        assert_eq!((plain.ending(0, 1), plain.ending(2, 3)), ("\r\n", "\n"));
        assert_eq!((plain.ending(0, 4), plain.ending(4, 7)), ("\n", "\r\n"));
        assert_eq!(plain.ending(8, 8), "\r\n", "after the last end of a line: as most");
    }
}
