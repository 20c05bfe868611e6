//! Files that `CLAUDE.md` takes in by `@path`: they are instructions as it is, so whoever writes one of them steers.
//!
//! A path counts where it begins a word, outside of code; relative ones start in the folder of the file that names them. Of a name that is
//! no file nothing is said, unless it ends like one: `@someone` is a person, `@docs/new.md` may be written. Bounded in depth, number and size; a circle is gone through once.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

/// The files that may take in others, in lower case.
const TAKE_IN: &[&str] = &["claude.md", "claude.local.md"];
/// How many files may stand between the first and the last.
pub const MAX_DEPTH: usize = 5;
/// Files that one takes in, all of them.
pub const MAX_IMPORTS: usize = 32;
/// Largest file that is taken in, in bytes.
pub const MAX_FILE: u64 = 64 * 1024;
/// How a file of instructions is called.
const ENDING: &str = ".md";
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
    let mut taken = Taken { home, may_read, seen, found: Vec::new() };
    taken.of(file, text, 1);
    taken.found
}

struct Taken<'a> {
    home: Option<&'a Path>,
    may_read: &'a dyn Fn(&Path) -> Result<(), String>,
    seen: BTreeSet<PathBuf>,
    found: Vec<TakenIn>,
}

impl Taken<'_> {
    fn of(&mut self, file: &Path, text: &str, depth: usize) {
        for named in named(text) {
            let Some(path) = self.lead(file, named) else { continue };
            if depth > MAX_DEPTH || self.seen.len() > MAX_IMPORTS || !self.seen.insert(path.clone()) {
                continue;
            }
            let text = (self.may_read)(&path).and_then(|()| read(&path));
            if let Ok(text) = &text {
                self.of(&path, text, depth + 1);
            }
            self.found.push(TakenIn { path, by: file.to_owned(), text });
        }
    }

    /// Where a name leads, if that is a file or is called like one.
    fn lead(&self, file: &Path, named: &str) -> Option<PathBuf> {
        let folder = file.parent()?;
        let full = |named: &str| match (named.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => Some(home.join(rest)),
            (Some(_), None) => None,
            (None, _) => Some(folder.join(named)),
        };
        let bare = named.trim_end_matches(STOPS);
        let there = [named, bare].into_iter().filter_map(|way| full(way)?.canonicalize().ok());
        let missing = || full(bare).filter(|_| bare.ends_with(ENDING)).map(|path| straight(&path));
        there.into_iter().find(|path| path.is_file()).or_else(missing)
    }
}

/// The path with its steps back taken, of something that is not there; as much of it as is there with every link followed.
fn straight(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            other => out.push(other),
        }
        out = out.canonicalize().unwrap_or(out);
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
    // A pipe in its place would keep us waiting.
    if !path.is_file() {
        return Err("there is no such file".to_owned());
    }
    let open = std::fs::File::open(path).map_err(|why| why.to_string())?;
    let mut bytes = Vec::new();
    open.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|why| why.to_string())?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(format!("it is larger than {} KB", MAX_FILE / 1024));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
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
        assert_eq!(found[4].by, file);
        assert!(takes_in(Path::new("/x/Claude.local.md")) && !takes_in(Path::new("/x/AGENTS.md")));
    }
}
