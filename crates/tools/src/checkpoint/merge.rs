//! Takes changes back on top of what others did since: three versions of a path become one, or it is said that they cannot.
//!
//! Pure but for the contents that it asks for. Invariant: whoever changed something that the other side did not change keeps it.

use super::image::Image;
use super::step::Change;
use crate::diff::compared;
use similar::DiffTag;
use std::ops::Range;

/// Largest text that is merged.
const MAX_MERGED: usize = 2 * 1024 * 1024;

/// Where contents come from and go to.
pub(crate) trait Contents {
    /// A content by its digest.
    ///
    /// # Errors
    /// When it is not kept any more or cannot be read, in words.
    fn get(&mut self, digest: &str) -> Result<Vec<u8>, String>;

    /// Keeps a content; its digest comes back.
    ///
    /// # Errors
    /// When it cannot be kept, in words.
    fn put(&mut self, content: Vec<u8>) -> Result<String, String>;
}

/// Why versions do not become one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotMerged {
    /// Both sides did something to the same thing; the words say what.
    Conflict(String),
    Failed(String),
}

/// What stands at a path once its changes (oldest first) are taken back from what stands there now.
pub(crate) fn taken_back(
    now: &Image,
    changes: &[&Change],
    contents: &mut dyn Contents,
) -> Result<Image, NotMerged> {
    changes
        .iter()
        .rev()
        .try_fold(now.clone(), |state, change| merge(&change.after, &state, &change.before, contents))
}

/// Does to `mine` what leads from `base` to `theirs`.
pub(crate) fn merge(
    base: &Image,
    mine: &Image,
    theirs: &Image,
    contents: &mut dyn Contents,
) -> Result<Image, NotMerged> {
    if mine == base || mine == theirs {
        return Ok(theirs.clone());
    }
    if theirs == base {
        return Ok(mine.clone());
    }
    let conflict = |words: &str| Err(NotMerged::Conflict(words.to_owned()));
    match (base, mine, theirs) {
        (
            Image::File { digest: base, mode: base_mode },
            Image::File { digest: mine, mode: my_mode },
            Image::File { digest: theirs, mode: their_mode },
        ) => {
            let mode = one_of(*base_mode, *my_mode, *their_mode);
            let Some(mode) = mode else { return conflict("its permissions were changed since") };
            let digest = match one_of(base, mine, theirs) {
                Some(digest) => digest.clone(),
                None => merge_texts(base, mine, theirs, contents)?,
            };
            Ok(Image::File { digest, mode })
        }
        (Image::Folder { mode: base }, Image::Folder { mode: mine }, Image::Folder { mode: theirs }) => {
            match one_of(*base, *mine, *theirs) {
                Some(mode) => Ok(Image::Folder { mode }),
                None => conflict("its permissions were changed since"),
            }
        }
        // A folder that somebody set other permissions for is removed when it is empty.
        (Image::Folder { .. }, Image::Folder { .. }, Image::Absent) => Ok(Image::Absent),
        (_, Image::Absent, _) => conflict("it was removed since"),
        (Image::Absent, ..) => conflict("something else was put there since"),
        _ => conflict("it was changed since"),
    }
}

/// The value that only one side changed; `None` when both did, and not alike.
fn one_of<T: PartialEq>(base: T, mine: T, theirs: T) -> Option<T> {
    if mine == base || mine == theirs {
        Some(theirs)
    } else if theirs == base {
        Some(mine)
    } else {
        None
    }
}

fn merge_texts(
    base: &str,
    mine: &str,
    theirs: &str,
    contents: &mut dyn Contents,
) -> Result<String, NotMerged> {
    let mut text = |digest: &str| {
        let content = contents.get(digest).map_err(NotMerged::Failed)?;
        if content.contains(&0) || content.len() > MAX_MERGED {
            return Err(NotMerged::Conflict(
                "it was changed since, and is no text that could be merged".to_owned(),
            ));
        }
        Ok(content)
    };
    match merged(&text(base)?, &text(mine)?, &text(theirs)?) {
        Some(merged) => contents.put(merged).map_err(NotMerged::Failed),
        None => Err(NotMerged::Conflict("the same lines were changed since".to_owned())),
    }
}

/// Both changes of a text in one; `None` where they touch each other, and are not the same. In bytes: the text may be in any encoding.
fn merged(base: &[u8], mine: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    let [base, mine, theirs] = [base, mine, theirs].map(lines);
    let (mut my_edits, mut their_edits) = (edits(&base, &mine).peekable(), edits(&base, &theirs).peekable());
    let (mut merged, mut done) = (Vec::new(), 0);
    while let Some(start) =
        my_edits.peek().into_iter().chain(their_edits.peek()).map(|(at, _)| at.start).min()
    {
        // What no kept line stands between belongs together.
        let (mut end, mut my_part, mut their_part) = (start, None, None);
        loop {
            let touches = |edit: &Edit| edit.0.start <= end;
            if let Some(edit) = my_edits.next_if(touches) {
                end = end.max(edit.0.end);
                my_part = Some(grown(my_part, edit));
            } else if let Some(edit) = their_edits.next_if(touches) {
                end = end.max(edit.0.end);
                their_part = Some(grown(their_part, edit));
            } else {
                break;
            }
        }
        // An edit of less than the part has kept lines of the base around it.
        let side = |lines: &[&[u8]], (at, to): Edit| {
            lines[to.start - (at.start - start)..to.end + (end - at.end)].concat()
        };
        let (my_part, their_part) =
            (my_part.map(|edit| side(&mine, edit)), their_part.map(|edit| side(&theirs, edit)));
        if my_part.is_some() && their_part.is_some() && my_part != their_part {
            return None;
        }
        merged.extend(base[done..start].concat());
        merged.extend(my_part.or(their_part).unwrap_or_default());
        done = end;
    }
    merged.extend(base[done..].concat());
    Some(merged)
}

/// Lines of the base, and those that stand in their place.
type Edit = (Range<usize>, Range<usize>);

fn edits(base: &[&[u8]], side: &[&[u8]]) -> impl Iterator<Item = Edit> {
    let steps = compared(base, side, None).into_ops().into_iter();
    steps.filter(|step| step.tag() != DiffTag::Equal).map(|step| (step.old_range(), step.new_range()))
}

/// An edit with the next one of the same side, and what stands between them.
fn grown(before: Option<Edit>, (at, to): Edit) -> Edit {
    let (from, from_to) = before.map_or((at.start, to.start), |(at, to)| (at.start, to.start));
    (from..at.end, from_to..to.end)
}

/// Lines with their ends, of all three kinds.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    let ends = |at: usize| text[at] == b'\n' || text[at] == b'\r' && text.get(at + 1) != Some(&b'\n');
    let mut lines = Vec::new();
    let mut from = 0;
    for at in (0..text.len()).filter(|at| ends(*at) || at + 1 == text.len()) {
        lines.push(&text[from..=at]);
        from = at + 1;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(base: &str, mine: &str, theirs: &str) -> Option<String> {
        merged(base.as_bytes(), mine.as_bytes(), theirs.as_bytes())
            .map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn what_only_one_side_changed_is_kept_and_what_both_did_is_a_conflict() {
        let base = "a\nb\nc\nd\ne\n";
        assert_eq!(texts(base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\n").unwrap(), "A\nb\nc\nd\n");
        assert_eq!(texts(base, "a\nx\nc\nd\ne\n", "a\nx\nc\nd\nE\n").unwrap(), "a\nx\nc\nd\nE\n");
        assert_eq!(texts(base, "a\nx\nc\nd\ne\n", "a\ny\nc\nd\ne\n"), None);
        // Side by side, without a line between them that both kept.
        assert_eq!(texts(base, "a\nx\nc\nd\ne\n", "a\nb\ny\nd\ne\n"), None);
        assert_eq!(texts("a\r\nb\rc", "A\r\nb\rc", "a\r\nb\rC").unwrap(), "A\r\nb\rC");
        assert_eq!(merged(b"\xff\nb\nc\n", b"\xff\nb\nC\n", b"\xfe\nb\nc\n").unwrap(), b"\xfe\nb\nC\n");
    }

    proptest! {
        /// Against the crate's own.
        #[test]
        fn texts_are_merged_as_the_crate_merges_them(
            base in "([a-d]?(\n|\r|\r\n)){0,12}[ab]?",
            mine in "([a-d]?(\n|\r|\r\n)){0,12}[ab]?",
            theirs in "([a-d]?(\n|\r|\r\n)){0,12}[ab]?",
        ) {
            let wanted = similar::TextMerge::from_lines(&base, &mine, &theirs);
            let wanted = (!wanted.is_conflicted()).then(|| wanted.to_string());
            prop_assert_eq!(texts(&base, &mine, &theirs), wanted);
        }

        /// Small changes of one text, which seldom meet.
        #[test]
        fn small_changes_are_merged_as_the_crate_merges_them(
            base in prop::collection::vec(0u8..30, 0..20),
            mine in prop::collection::vec((0usize..20, prop::option::of(30u8..40), prop::bool::ANY), 0..3),
            theirs in prop::collection::vec((0usize..20, prop::option::of(30u8..40), prop::bool::ANY), 0..3),
        ) {
            let changed = |changes: &[(usize, Option<u8>, bool)]| {
                let mut lines = base.clone();
                for (at, new, also_remove) in changes {
                    let at = (*at).min(lines.len());
                    if *also_remove && at < lines.len() {
                        lines.remove(at);
                    }
                    lines.splice(at..at, *new);
                }
                lines
            };
            let text = |lines: &[u8]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            let [base, mine, theirs] = [text(&base), text(&changed(&mine)), text(&changed(&theirs))];
            let wanted = similar::TextMerge::from_lines(&base, &mine, &theirs);
            let wanted = (!wanted.is_conflicted()).then(|| wanted.to_string());
            prop_assert_eq!(texts(&base, &mine, &theirs), wanted);
        }
    }
}
