//! What changed, as a text in the usual form; and what git says of a workspace.

use super::image::{Image, shown};
use super::merge::Contents;
use super::step::Step;
use crate::own_git::OwnGit;
use crate::sandbox::Guard;
use std::fmt::Write as _;
use std::path::Path;

/// Longest text; the rest is cut and said so.
const MAX_TEXT: usize = 1024 * 1024;

/// A diff in the making.
#[derive(Debug, Default)]
pub(crate) struct Text {
    text: String,
    left: String,
    cut: usize,
}

impl Text {
    /// Takes a path in.
    ///
    /// # Errors
    /// When a content cannot be read.
    pub(crate) fn add(
        &mut self,
        path: &Path,
        before: &Image,
        now: &Image,
        contents: &mut dyn Contents,
    ) -> Result<(), String> {
        let is_folder = |image: &Image| matches!(image, Image::Folder { .. } | Image::Absent);
        if before == now || is_folder(before) && is_folder(now) {
            return Ok(());
        }
        if self.text.len() > MAX_TEXT {
            self.cut += 1;
            return Ok(());
        }
        let name = shown(path);
        let _ = writeln!(self.text, "diff a/{name} b/{name}");
        match (mode(before), mode(now)) {
            (None, Some(mode)) => _ = writeln!(self.text, "new file mode 100{mode:o}"),
            (Some(mode), None) => _ = writeln!(self.text, "deleted file mode 100{mode:o}"),
            (Some(old), Some(new)) if old != new => {
                let _ = write!(self.text, "old mode 100{old:o}\nnew mode 100{new:o}\n");
            }
            _ => {}
        }
        let (old, new) = (text(before, contents)?, text(now, contents)?);
        if old == new {
            return Ok(());
        }
        let told = old.zip(new).map(|(old, new)| crate::diff::diff(&name, &old, &new).text);
        match told {
            Some(diff) => self.text.push_str(&diff),
            None => _ = writeln!(self.text, "Binary files a/{name} and b/{name} differ"),
        }
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        Ok(())
    }

    /// Names what a step could not keep.
    pub(crate) fn tell(&mut self, step: &Step) {
        for lost in &step.lost {
            let _ = writeln!(self.left, "# {}: {}", shown(&lost.path), lost.why);
        }
        if let Some(why) = &step.blind {
            let _ = writeln!(self.left, "# what commands changed is not known: {why}");
        }
    }

    /// The whole.
    pub(crate) fn end(mut self) -> String {
        if self.cut > 0 {
            let _ = writeln!(self.text, "# and {} more files", self.cut);
        }
        self.text + &self.left
    }
}

fn mode(image: &Image) -> Option<u32> {
    match image {
        Image::File { mode, .. } => Some(*mode),
        Image::Absent | Image::Link { .. } | Image::Folder { .. } | Image::Unkept { .. } => None,
    }
}

/// What a line-by-line comparison takes: lines for what is there, `None` for what has no lines.
fn text(image: &Image, contents: &mut dyn Contents) -> Result<Option<String>, String> {
    Ok(match image {
        Image::Absent | Image::Folder { .. } => Some(String::new()),
        Image::Link { target } => Some(format!("link to {}\n", shown(target))),
        Image::Unkept { .. } => None,
        Image::File { digest, .. } => {
            let content = contents.get(digest)?;
            String::from_utf8(content).ok().filter(|text| !text.contains('\0'))
        }
    })
}

/// What differs in a workspace from what was committed last, as git tells it, and the names of files that git does not know. Nothing that
/// a repository's settings name is run for it.
///
/// # Errors
/// When git is not there, or says no.
pub fn against_git(root: &Path, guard: Option<&Guard>) -> Result<String, String> {
    let git = OwnGit::at(root, guard);
    let said = |args: &[&str]| {
        let first = |why: String| why.lines().next().unwrap_or("git says no").to_owned();
        git.look(args).map_err(first)
    };
    let head = said(&["rev-parse", "--verify", "--quiet", "HEAD"]).is_ok();
    let base = if head { "HEAD" } else { "--cached" };
    let mut text = said(&["diff", "--no-ext-diff", "--no-textconv", "--no-color", base, "--", "."])?;
    if text.len() > MAX_TEXT {
        let end = (0..=MAX_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        text.truncate(end);
        text.push_str("\n# and more\n");
    }
    let new = said(&["ls-files", "--others", "--exclude-standard", "--", "."])?;
    for name in new.lines() {
        let _ = writeln!(text, "# not in git: {name}");
    }
    Ok(text)
}
