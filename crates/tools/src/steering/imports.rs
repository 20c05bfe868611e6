//! Files that `CLAUDE.md` takes in by `@path`: they are instructions as it is, so whoever writes one of them steers.
//!
//! A path counts where it begins a word, outside of code; relative ones start in the folder of the file that names them. Of a name that is
//! no file nothing is said, unless it ends like one: `@someone` is a person. It is found all the same, because whoever makes a file of that
//! name has it taken in. Bounded in depth, number and size; a circle is gone through once.

use crate::plain_file;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// The files that may take in others, in lower case.
const TAKE_IN: &[&str] = &["claude.md", "claude.local.md"];
/// How many files may stand between the first and the last.
pub const MAX_DEPTH: usize = 5;
/// Files that one takes in, all of them.
pub const MAX_IMPORTS: usize = 32;
/// Links to nothing that are followed one after the other.
const MAX_LINKS: usize = 8;
/// Names that are looked at in all those files together; the ones past it take nothing in.
const MAX_NAMES: usize = 1024;
/// Largest file that is taken in, in bytes.
pub const MAX_FILE: u64 = 64 * 1024;
/// How a file of instructions is called.
const ENDING: &str = ".md";
/// What is said of a file that is not there.
const NOTHING_THERE: &str = "there is no such file";
/// What follows a path in a sentence.
const STOPS: &[char] = &['.', ',', ';', ':', '!', '?', ')', ']', '"', '\''];

/// A file that another one takes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenIn {
    /// Every link followed.
    pub path: PathBuf,
    pub by: PathBuf,
    /// What it holds, or why that cannot be told.
    pub text: Result<String, String>,
    /// Whether it is nothing to be told of: nothing is there, and the name is not one of a file of instructions.
    pub quiet: bool,
}

/// Whether a file of this name may take in others.
pub fn takes_in(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    TAKE_IN.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// All that `file` takes in, with what those take in before them. `may_read` says of a file, every link followed, whether it may be:
/// a repository must not have other files read. Reads files: call where blocking is allowed.
pub fn imports(
    file: &Path,
    text: &str,
    home: Option<&Path>,
    may_read: &dyn Fn(&Path) -> Result<(), String>,
) -> Vec<TakenIn> {
    let seen = file.canonicalize().into_iter().collect();
    let mut taken = Taken { home, may_read, seen, names: 0, found: Vec::new() };
    taken.of(file, text, 1);
    taken.found
}

struct Taken<'a> {
    home: Option<&'a Path>,
    may_read: &'a dyn Fn(&Path) -> Result<(), String>,
    seen: BTreeSet<PathBuf>,
    names: usize,
    found: Vec<TakenIn>,
}

impl Taken<'_> {
    fn of(&mut self, file: &Path, text: &str, depth: usize) {
        for named in named(text) {
            self.names += 1;
            if self.names > MAX_NAMES {
                return;
            }
            if depth > MAX_DEPTH || self.seen.len() > MAX_IMPORTS {
                continue;
            }
            for way in self.ways(file, named) {
                if !way.is_file() && may_become_a_file(&way) {
                    let text = Err(NOTHING_THERE.to_owned());
                    self.found.push(TakenIn { path: way, by: file.to_owned(), text, quiet: true });
                }
            }
            let Some(path) = self.lead(file, named).filter(|path| self.seen.insert(path.clone())) else {
                continue;
            };
            let text = (self.may_read)(&path).and_then(|()| read(&path));
            if let Ok(text) = &text {
                self.of(&path, text, depth + 1);
            }
            self.found.push(TakenIn { path, by: file.to_owned(), text, quiet: false });
        }
    }

    /// Where a name may lead: as it is written, and without what follows it in a sentence.
    fn ways(&self, file: &Path, named: &str) -> Vec<PathBuf> {
        let bare = named.trim_end_matches(STOPS);
        // What ends so is a folder.
        let files = [named, bare].into_iter().filter(|way| !way.is_empty() && !way.ends_with('/'));
        let mut ways: Vec<PathBuf> = files.filter_map(|way| self.full(file, way)).collect();
        ways.dedup();
        ways.iter().map(|way| straight(way, MAX_LINKS)).collect()
    }

    fn full(&self, file: &Path, named: &str) -> Option<PathBuf> {
        match (named.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => Some(home.join(rest)),
            (Some(_), None) => None,
            (None, _) => Some(file.parent()?.join(named)),
        }
    }

    /// Where a name leads, if that is a file or is called like one.
    fn lead(&self, file: &Path, named: &str) -> Option<PathBuf> {
        let bare = named.trim_end_matches(STOPS);
        let there = [named, bare].into_iter().filter_map(|way| self.full(file, way)?.canonicalize().ok());
        let missing = || {
            self.full(file, bare).filter(|_| bare.ends_with(ENDING)).map(|path| straight(&path, MAX_LINKS))
        };
        there.into_iter().find(|path| path.is_file()).or_else(missing)
    }
}

/// Whether somebody could make a file there. No folder: what lies in it is not taken in.
fn may_become_a_file(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(meta) => !meta.is_dir(),
        Err(why) => why.kind() == ErrorKind::NotFound,
    }
}

/// The path with its steps back taken, of something that is not there; as much of it as is there with every link followed.
fn straight(path: &Path, links: usize) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            other => out.push(other),
        }
        out = match (out.canonicalize(), out.read_link()) {
            (Ok(real), _) => real,
            // Whoever writes through a link to nothing makes what it leads to.
            (Err(_), Ok(target)) if links > 0 => {
                straight(&out.parent().unwrap_or(&out).join(target), links - 1)
            }
            _ => out,
        };
    }
    out
}

/// The words of a text that begin with `@`, without it and outside of code.
fn named(text: &str) -> Vec<&str> {
    let (mut found, mut fence) = (Vec::new(), None);
    for line in text.lines() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => {
                // Between two marks stands code.
                let plain = line.split('`').step_by(2);
                let words = plain.flat_map(str::split_whitespace).filter_map(|word| word.strip_prefix('@'));
                found.extend(words.filter(|word| !word.is_empty()));
            }
            _ => {}
        }
    }
    found
}

/// The text of a file of instructions.
///
/// # Errors
/// Why it cannot be read, in words.
pub(super) fn read(path: &Path) -> Result<String, String> {
    if !path.is_file() {
        return Err(NOTHING_THERE.to_owned());
    }
    plain_file::read(path, MAX_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_taken_in_outside_of_code_once_and_not_too_deep() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let put = |path: &str, text: &str| {
            std::fs::create_dir_all(base.join(path).parent().unwrap()).unwrap();
            std::fs::write(base.join(path), text).unwrap();
        };
        let text = "See @docs/style.md, and @docs/style.md again.\n- @docs/more.md.\nmail a@docs/no.md, by @someone\n`@docs/no.md`\n\
                    ```\n@docs/no.md\n```\n@~/own.md @missing.md @docs/large.md @/etc/hostname";
        put("w/CLAUDE.md", text);
        put("w/docs/style.md", "Tabs. @../CLAUDE.md @1.md");
        put("w/docs/more.md", "More.");
        put("w/docs/no.md", "never");
        put("w/docs/large.md", &"x".repeat(70_000));
        put("home/own.md", "mine");
        for at in 1..9 {
            put(&format!("w/docs/{at}.md"), &format!("number {at} @{}.md", at + 1));
        }
        let inside = |path: &Path| match path.starts_with(base.join("w")) {
            true => Ok(()),
            false => Err("it leads out of the project".to_owned()),
        };
        let file = base.join("w/CLAUDE.md");
        let found = imports(&file, text, Some(&base.join("home")), &inside);
        let told: Vec<String> = found
            .iter()
            .filter(|import| !import.quiet)
            .map(|import| {
                let name = import.path.file_name().unwrap().to_string_lossy().into_owned();
                match &import.text {
                    Ok(_) => name,
                    Err(why) => format!("{name}: {why}"),
                }
            })
            .collect();
        assert_eq!(
            told,
            [
                "4.md",
                "3.md",
                "2.md",
                "1.md",
                "style.md",
                "more.md",
                "own.md: it leads out of the project",
                "missing.md: there is no such file",
                "large.md: it is larger than 64 KB",
                "hostname: it leads out of the project"
            ]
        );
        let loud: Vec<&TakenIn> = found.iter().filter(|import| !import.quiet).collect();
        assert_eq!(loud[4].by, file);
        assert!(takes_in(Path::new("/x/Claude.local.md")) && !takes_in(Path::new("/x/AGENTS.md")));
    }
}
