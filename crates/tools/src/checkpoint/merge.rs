//! Takes changes back on top of what others did since: three versions of a path become one, or it is said that they cannot.
//!
//! Pure but for the contents that it asks for. Invariant: whoever changed something that the other side did not change keeps it.

use super::image::Image;
use super::step::Change;

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
        // Byte by byte, so that texts in any encoding keep their bytes.
        Ok(content.iter().map(|byte| char::from(*byte)).collect::<String>())
    };
    let (base, mine, theirs) = (text(base)?, text(mine)?, text(theirs)?);
    let merge = similar::TextMerge::from_lines(&base, &mine, &theirs);
    if merge.is_conflicted() {
        return Err(NotMerged::Conflict("the same lines were changed since".to_owned()));
    }
    let merged = merge.to_string().chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect();
    contents.put(merged).map_err(NotMerged::Failed)
}
