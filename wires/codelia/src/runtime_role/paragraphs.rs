//! Paragraphs of a text that comes piece by piece: each is given as soon as it is finished, so that a UI without text deltas has
//! something to show while the model still writes.
//!
//! A paragraph ends at an empty line outside of a fenced block. Invariants: the paragraphs, joined by an empty line, are the text but
//! for blank lines at their edges; none is empty; a fenced block is never cut.

/// A text of which not all has come.
#[derive(Debug, Default)]
pub(super) struct Paragraphs {
    /// What no paragraph was made of yet.
    rest: String,
    /// Bytes of `rest` that were looked at, up to the end of a line.
    seen: usize,
    /// What opened the fenced block that `seen` is in.
    fence: Option<String>,
    pub(super) last: Option<String>,
}

impl Paragraphs {
    /// More of the text; gives the paragraphs that are finished by it.
    pub(super) fn add(&mut self, text: &str) -> Vec<String> {
        self.rest.push_str(text);
        let mut finished = Vec::new();
        while let Some(length) = self.rest[self.seen..].find('\n') {
            let line = self.rest[self.seen..self.seen + length].trim();
            let end = self.seen + length + 1;
            if line.is_empty() && self.fence.is_none() {
                let paragraph: String = self.rest.drain(..end).collect();
                self.seen = 0;
                finished.extend(Self::trimmed(&paragraph));
                continue;
            }
            self.fence = match self.fence.take() {
                Some(open) if line.starts_with(&open) && line.trim_start_matches(['`', '~']).is_empty() => {
                    None
                }
                Some(open) => Some(open),
                None => fence(line),
            };
            self.seen = end;
        }
        if let Some(last) = finished.last() {
            self.last = Some(last.clone());
        }
        finished
    }

    /// The text is over; gives its last paragraph, if that was not given yet.
    pub(super) fn finish(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.rest);
        (self.seen, self.fence) = (0, None);
        let last = Self::trimmed(&rest)?;
        self.last = Some(last.clone());
        Some(last)
    }

    fn trimmed(paragraph: &str) -> Option<String> {
        // Spaces before the first line may mean something.
        let text = paragraph.trim_start_matches(['\n', '\r']).trim_end();
        (!text.trim().is_empty()).then(|| text.to_owned())
    }
}

/// The marks that open a fenced block.
fn fence(line: &str) -> Option<String> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let marks: String = line.chars().take_while(|c| *c == mark).collect();
    (marks.len() >= 3).then_some(marks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_fenced_block_is_one_paragraph() {
        let mut heard = Paragraphs::default();
        assert_eq!(heard.add("one\n"), [""; 0]);
        assert_eq!(heard.add("\n```rust\nfn a() {}\n\nfn b"), ["one"]);
        assert_eq!(heard.add("() {}\n```\n"), [""; 0]);
        assert_eq!(heard.add("\ntwo"), ["```rust\nfn a() {}\n\nfn b() {}\n```"]);
        assert_eq!(heard.finish().as_deref(), Some("two"));
        assert_eq!(heard.last.as_deref(), Some("two"));
        assert_eq!(heard.finish(), None);
        assert_eq!(heard.last.as_deref(), Some("two"));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_however_it_comes(text in "[ab \n`]{0,40}", cuts in prop::collection::vec(1usize..5, 0..40)) {
            let mut heard = Paragraphs::default();
            let mut given = Vec::new();
            let mut rest = text.as_str();
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                given.extend(heard.add(piece));
                rest = after;
            }
            given.extend(heard.add(rest));
            given.extend(heard.finish());
            let letters = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(letters(&given.join("\n\n")), letters(&text));
            prop_assert!(given.iter().all(|paragraph| !paragraph.trim().is_empty()));
        }
    }
}
