//! What git ignores: the rules of a folder on top of those of the folders above it, as `.gitignore`, `.git/info/exclude` and the person's
//! own file of excludes say it.
//!
//! IgnoreRules are read in every walk and told apart by their text: rules that are the same are the very same, so that what they said of a
//! name need not be worked out again. As git does it, `.gitignore` is not read through a link.

use crate::shell::git_word;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};
use rustix::fs::{CWD, Mode, OFlags, openat};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file that says what git ignores in its folder and below.
pub(super) const RULES: &str = ".gitignore";
/// Bytes of a file of rules that are read.
const MAX_RULES: u64 = 1024 * 1024;

/// The texts of one folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Texts {
    pub(super) ignore: Option<Vec<u8>>,
    pub(super) exclude: Option<Vec<u8>>,
}

/// What is ignored in a folder and below.
#[derive(Debug)]
pub(super) struct IgnoreRules {
    above: Option<Arc<IgnoreRules>>,
    folder: PathBuf,
    texts: Texts,
    ignore: Gitignore,
    exclude: Gitignore,
}

impl IgnoreRules {
    /// For whoever keeps nothing.
    pub(super) fn none(root: &Path) -> Arc<IgnoreRules> {
        Arc::new(IgnoreRules::of(None, root, Texts::default()))
    }

    /// Those that hold for a whole workspace: the person's own, and those of the folders above it.
    pub(super) fn above(root: &Path, last: Option<&Arc<IgnoreRules>>) -> Arc<IgnoreRules> {
        let known: Vec<&Arc<IgnoreRules>> =
            std::iter::successors(last, |rules| rules.above.as_ref()).collect();
        let own = gitconfig_excludes_path().and_then(|path| open(CWD, &path, OFlags::empty()));
        let texts = Texts { ignore: None, exclude: own };
        let mut rules = match known.last().filter(|first| first.texts == texts) {
            Some(first) => Arc::clone(first),
            None => Arc::new(IgnoreRules::of(None, root, texts)),
        };
        let mut folders: Vec<&Path> = root.ancestors().skip(1).collect();
        folders.reverse();
        for folder in folders {
            let ignore = open(CWD, &folder.join(RULES), OFlags::empty());
            let texts = Texts { ignore, exclude: exclude(folder) };
            let same = known.iter().find(|known| known.above.is_some() && known.folder == folder);
            rules = IgnoreRules::below(&rules, folder, texts, same.copied());
        }
        rules
    }

    /// Those of a folder. `last` are the ones that it had before.
    pub(super) fn below(
        above: &Arc<IgnoreRules>,
        folder: &Path,
        texts: Texts,
        last: Option<&Arc<IgnoreRules>>,
    ) -> Arc<IgnoreRules> {
        if texts == Texts::default() {
            return above.clone();
        }
        let is_same = |last: &&Arc<IgnoreRules>| {
            last.above.as_ref().is_some_and(|one| Arc::ptr_eq(one, above))
                && last.folder == folder
                && last.texts == texts
        };
        match last.filter(is_same) {
            Some(last) => last.clone(),
            None => Arc::new(IgnoreRules::of(Some(above.clone()), folder, texts)),
        }
    }

    fn of(above: Option<Arc<IgnoreRules>>, folder: &Path, texts: Texts) -> IgnoreRules {
        let compiled =
            |text: Option<&Vec<u8>>| text.map_or_else(Gitignore::empty, |text| compile(folder, text));
        let (ignore, exclude) = (compiled(texts.ignore.as_ref()), compiled(texts.exclude.as_ref()));
        IgnoreRules { above, folder: folder.to_owned(), texts, ignore, exclude }
    }

    /// Whether a path right in the folder of these rules, or in one below that has none of its own, is ignored.
    pub(super) fn ignores(&self, path: &Path, is_folder: bool) -> bool {
        let (mut ignore, mut exclude) = (Match::None, Match::None);
        let mut here = Some(self);
        while let Some(rules) = here {
            if ignore.is_none() {
                ignore = rules.ignore.matched(path, is_folder);
            }
            // The person's own come last: they are the first of the chain, and nobody's exclude went before.
            if exclude.is_none() {
                exclude = rules.exclude.matched(path, is_folder);
            }
            here = rules.above.as_deref();
        }
        ignore.or(exclude).is_ignore()
    }
}

fn compile(folder: &Path, text: &[u8]) -> Gitignore {
    let mut rules = GitignoreBuilder::new(folder);
    for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
        // What comes after something that is no text is not read.
        let Ok(line) = std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)) else { break };
        let line = if at == 0 { line.trim_start_matches('\u{feff}') } else { line };
        // A line that is no rule hides nothing.
        let _ = rules.add_line(None, line);
    }
    rules.build().unwrap_or_else(|_| Gitignore::empty())
}

/// The text of the rules in an open folder.
pub(super) fn ignore(folder: impl AsFd) -> Option<Vec<u8>> {
    open(folder, Path::new(RULES), OFlags::NOFOLLOW)
}

/// What the repository that lies in a folder excludes, also where that is a worktree.
pub(super) fn exclude(folder: &Path) -> Option<Vec<u8>> {
    open(CWD, &records(folder)?.1.join("info/exclude"), OFlags::empty())
}

/// Where the repository that lies in a folder has its records: those of this checkout, and those of all.
pub(super) fn records(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let git = folder.join(".git");
    if !git.metadata().ok()?.is_file() {
        return Some((git.clone(), git));
    }
    let own = folder.join(git_word(&git, "gitdir:")?);
    let common = own.join(git_word(&own.join("commondir"), "")?);
    Some((own, common))
}

/// The beginning of a file, where it is one: a pipe in its place keeps nobody.
fn open(folder: impl AsFd, name: &Path, also: OFlags) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | also;
    let file = File::from(openat(folder, name, flags, Mode::empty()).ok()?);
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut text = Vec::new();
    file.take(MAX_RULES).read_to_end(&mut text).ok()?;
    Some(text)
}
