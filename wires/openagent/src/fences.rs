//! Finds code fences in text that comes in pieces: a pure splitter, fed piece by piece.
//!
//! Text outside of fences goes on at once, but for the few characters at the beginning of a line that may become a fence. Code is held
//! until its fence closes. Invariants: how the text was cut does not matter; nothing is lost but the fences themselves and the line
//! break after each; what is held is bounded.

/// Longest first line of a fence; a longer one is text.
const MAX_OPENER: usize = 200;
/// Most bytes of one block, give or take a line; what is longer comes as several.
pub(super) const MAX_BLOCK: usize = 256 * 1024;
/// Spaces that may stand before a fence.
const MAX_INDENT: usize = 3;

/// Something that is whole enough to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fenced {
    /// Text outside of fences.
    Text(String),
    /// What stood between two fences.
    Block {
        /// The first word after the opening fence.
        language: Option<String>,
        /// The lines, without the last line break.
        text: String,
    },
}

/// The splitter.
#[derive(Debug, Default)]
pub(super) struct Fences {
    /// Outside: in the middle of a line that is no fence.
    amid: bool,
    /// Outside: the beginning of a line that may become a fence.
    held: String,
    block: Option<Open>,
    text: String,
    out: Vec<Fenced>,
}

#[derive(Debug)]
struct Open {
    mark: char,
    length: usize,
    language: Option<String>,
    body: String,
    line: String,
}

impl Fences {
    /// Takes more text; gives what can be told.
    pub(super) fn push(&mut self, text: &str) -> Vec<Fenced> {
        text.chars().for_each(|c| self.take(c));
        self.pieces()
    }

    /// The text is over: gives what was held. A fence that never closed closes here.
    pub(super) fn finish(&mut self) -> Vec<Fenced> {
        match self.block.take() {
            Some(mut open) => {
                if !closes(&open, &open.line) {
                    let line = std::mem::take(&mut open.line);
                    open.body.push_str(&line);
                }
                self.emit(open);
            }
            None => self.text.push_str(&std::mem::take(&mut self.held)),
        }
        self.amid = false;
        self.pieces()
    }

    fn take(&mut self, c: char) {
        match &mut self.block {
            Some(open) => {
                open.line.push(c);
                if c == '\n' || open.line.len() >= MAX_BLOCK {
                    self.line_in_block();
                }
            }
            None if self.amid => {
                self.text.push(c);
                self.amid = c != '\n';
            }
            None => {
                self.held.push(c);
                if c == '\n' {
                    let line = std::mem::take(&mut self.held);
                    match opener(&line) {
                        Some(open) => self.block = Some(open),
                        None => self.text.push_str(&line),
                    }
                } else if !may_open(&self.held) {
                    self.text.push_str(&std::mem::take(&mut self.held));
                    self.amid = true;
                }
            }
        }
    }

    fn line_in_block(&mut self) {
        let Some(mut open) = self.block.take() else { return };
        let line = std::mem::take(&mut open.line);
        if closes(&open, &line) {
            return self.emit(open);
        }
        open.body.push_str(&line);
        if open.body.len() >= MAX_BLOCK {
            let (mark, length, language) = (open.mark, open.length, open.language.clone());
            self.emit(open);
            open = Open { mark, length, language, body: String::new(), line };
            open.line.clear();
        }
        self.block = Some(open);
    }

    fn emit(&mut self, open: Open) {
        self.flush_text();
        let mut text = open.body;
        if text.ends_with('\n') {
            text.pop();
        }
        self.out.push(Fenced::Block { language: open.language, text });
    }

    fn flush_text(&mut self) {
        if !self.text.is_empty() {
            self.out.push(Fenced::Text(std::mem::take(&mut self.text)));
        }
    }

    fn pieces(&mut self) -> Vec<Fenced> {
        self.flush_text();
        std::mem::take(&mut self.out)
    }
}

/// The line's mark, how often it stands there, and what follows; `None` when the line begins otherwise.
fn marks(line: &str) -> Option<(char, usize, &str)> {
    let rest = line.trim_start_matches(' ');
    if line.len() - rest.len() > MAX_INDENT {
        return None;
    }
    let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let after = rest.trim_start_matches(mark);
    Some((mark, rest.len() - after.len(), after))
}

fn may_open(held: &str) -> bool {
    if held.len() > MAX_OPENER {
        return false;
    }
    if held.len() <= MAX_INDENT && held.bytes().all(|b| b == b' ') {
        return true;
    }
    match marks(held) {
        Some((_, _, "")) => true,
        Some((mark, length, info)) => length >= 3 && !(mark == '`' && info.contains('`')),
        None => false,
    }
}

fn opener(line: &str) -> Option<Open> {
    let (mark, length, info) = marks(line).filter(|_| may_open(line))?;
    let language = info.split_whitespace().next().map(str::to_owned);
    (length >= 3).then(|| Open { mark, length, language, body: String::new(), line: String::new() })
}

fn closes(open: &Open, line: &str) -> bool {
    marks(line).is_some_and(|(mark, length, rest)| {
        mark == open.mark && length >= open.length && rest.trim().is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(parts: &[&str]) -> Vec<Fenced> {
        let mut fences = Fences::default();
        let mut pieces: Vec<Fenced> = parts.iter().flat_map(|part| fences.push(part)).collect();
        pieces.extend(fences.finish());
        let mut joined: Vec<Fenced> = Vec::new();
        for piece in pieces {
            match (joined.last_mut(), piece) {
                (Some(Fenced::Text(before)), Fenced::Text(text)) => before.push_str(&text),
                (_, piece) => joined.push(piece),
            }
        }
        joined
    }

    fn text(text: &str) -> Fenced {
        Fenced::Text(text.to_owned())
    }

    fn block(language: Option<&str>, text: &str) -> Fenced {
        Fenced::Block { language: language.map(str::to_owned), text: text.to_owned() }
    }

    #[test]
    fn fences_and_what_is_none() {
        for (whole, pieces) in [
            ("a\n```rust\nfn x() {}\n```\nb", vec![text("a\n"), block(Some("rust"), "fn x() {}"), text("b")]),
            ("```\n\n```\n", vec![block(None, "")]),
            ("~~~ diff x\n-a\n+b\n~~~~", vec![block(Some("diff"), "-a\n+b")]),
            ("````\n```\n````\n", vec![block(None, "```")]),
            ("```sh\nls", vec![block(Some("sh"), "ls")]),
            ("```", vec![text("```")]),
            ("a ```b``` c", vec![text("a ```b``` c")]),
            ("```a``` c\n", vec![text("```a``` c\n")]),
            ("    ```\nx", vec![text("    ```\nx")]),
            ("`` x\n", vec![text("`` x\n")]),
            ("", vec![]),
        ] {
            assert_eq!(split(&[whole]), pieces, "{whole:?}");
        }
    }

    #[test]
    fn text_is_not_held_longer_than_needed() {
        let mut fences = Fences::default();
        assert_eq!(fences.push("Hello"), [text("Hello")]);
        assert_eq!(fences.push(" you\n``"), [text(" you\n")]);
        assert_eq!(fences.push("x"), [text("``x")]);
    }

    #[test]
    fn a_very_long_block_comes_in_parts() {
        let line = "x".repeat(1023) + "\n";
        let whole = format!("```c\n{}```\n", line.repeat(600));
        let pieces = split(&[&whole]);
        assert_eq!(pieces.len(), 3);
        let all: usize =
            pieces.iter().map(|p| if let Fenced::Block { text, .. } = p { text.len() } else { 0 }).sum();
        assert_eq!(all, 600 * 1024 - 3);
    }

    proptest! {
        #[test]
        fn the_cuts_do_not_matter(whole in "([`~ ]{0,4}|[a-cé]{0,3}|\n|```|```rs\n|\n```\n){0,12}", cuts in prop::collection::vec(0usize..60, 0..6)) {
            let mut at: Vec<usize> = cuts.into_iter().filter(|at| whole.is_char_boundary((*at).min(whole.len()))).map(|at| at.min(whole.len())).collect();
            at.sort_unstable();
            let mut parts = Vec::new();
            let mut from = 0;
            for to in at {
                parts.push(&whole[from..to]);
                from = to;
            }
            parts.push(&whole[from..]);
            prop_assert_eq!(split(&parts), split(&[&whole]));
        }

        #[test]
        fn text_without_marks_goes_through(whole in "[a-z \n]{0,60}") {
            let wanted = if whole.is_empty() { vec![] } else { vec![text(&whole)] };
            prop_assert_eq!(split(&[&whole]), wanted);
        }
    }
}
