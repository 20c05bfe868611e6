//! Which files a line reads and writes, where that can be told before it runs: only then may it run beside another one.
//!
//! It can be told of few: of programs that touch nothing but the files they are given by name, so called that every name is known, and
//! of redirections. A build, a test, an interpreter, git or a script runs what the project holds and may write anywhere, so nothing is
//! said of those; nor of patterns, variables, or directories that are copied.

use super::Word;
use super::looks::{Looking, Looks};
use super::reach::{Reach, lexical};
use super::surroundings::Surroundings;
use super::table::base;
use super::unwrap::Bare;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Words and programs that read no file, whatever they are given.
const SAYS: &[&str] = &[
    "cd", "set", "echo", "printf", "true", "false", ":", "sleep", "pwd", "seq", "date", "basename", "dirname",
];
/// Programs that read the files that they name, and no other.
const READS: &[&str] = &["cat", "head", "tail", "wc", "test", "["];
/// Programs that write the files that they name, and no other, with the options that leave it so.
const WRITES: &[(&str, &[&str])] = &[
    ("touch", &["-a", "-c", "-m"]),
    ("mkdir", &["-p", "-v"]),
    ("rmdir", &["-v"]),
    ("rm", &["-f", "-r", "-R", "-rf", "-fr", "-v"]),
    ("cp", COPIES),
    ("mv", &["-f", "-n", "-v"]),
    ("tee", &["-a"]),
];
/// `cp` follows links that it finds in a directory, so it may get none.
const COPIES: &[&str] = &["-f", "-n", "-p", "-v"];

/// The files that a line touches, every link followed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Touched {
    pub reads: Vec<PathBuf>,
    pub writes: Vec<PathBuf>,
}

/// What the commands of a line touch; `None` where that is not known of all of them.
pub(super) fn of(
    commands: &[Bare],
    reach: &Reach<'_>,
    looks: &Looks<'_>,
    place: &dyn Surroundings,
) -> Option<Touched> {
    let paths = Paths { reach, place };
    let mut touched = Touched::default();
    for bare in commands {
        let simple = &bare.simple;
        let plain = bare.around == super::unwrap::Around::default() && !bare.open && !bare.rights;
        if !plain || bare.fed_shell || !simple.assigns.is_empty() || simple.looped.is_some() {
            return None;
        }
        for word in &simple.writes {
            paths.add(word, &mut touched.writes)?;
        }
        for word in &simple.reads {
            paths.add(word, &mut touched.reads)?;
        }
        let Some((program, args)) = simple.words.split_first() else { continue };
        let name = program.text.as_deref()?;
        let words: Vec<Option<&str>> = simple.words.iter().map(|word| word.text.as_deref()).collect();
        if SAYS.contains(&name) || READS.contains(&name) {
            if looks.look(base(name), bare, &words) != Looking::Inside || args.iter().any(|word| word.glob) {
                return None;
            }
            if READS.contains(&name) {
                args.iter().try_for_each(|word| paths.add(word, &mut touched.reads))?;
            }
            continue;
        }
        let (_, flags) = WRITES.iter().find(|(known, _)| *known == name)?;
        if !looks.is_sure(name) {
            return None;
        }
        for word in args {
            match word.text.as_deref()? {
                flag if flag.starts_with('-') && flags.contains(&flag) => {}
                flag if flag.starts_with('-') => return None,
                text if *flags == COPIES && paths.names_directory(text) => return None,
                _ => paths.add(word, &mut touched.writes)?,
            }
        }
    }
    Some(touched)
}

/// Where words lead, from every directory that the line may be in.
struct Paths<'a> {
    reach: &'a Reach<'a>,
    place: &'a dyn Surroundings,
}

impl Paths<'_> {
    /// Adds every file that a word may name; `None` where that is not known.
    fn add(&self, word: &Word, to: &mut Vec<PathBuf>) -> Option<()> {
        let text = word.text.as_deref().filter(|_| !word.glob && !word.tilde)?;
        if text == "/dev/null" {
            return Some(());
        }
        for base in self.reach.bases() {
            let named = base.join(text);
            let path = self.place.follow(&named)?;
            // A link on the way lies somewhere too, and what is there may be moved.
            if path != lexical(&named) {
                return None;
            }
            to.push(ground(path)?);
        }
        Some(())
    }

    fn names_directory(&self, text: &str) -> bool {
        self.reach.bases().iter().any(|base| base.join(text).is_dir())
    }
}

/// What is touched when this path is: the first folder on the way that is not there yet, since it is made with it or missed. `None` for a
/// file that has other names, too.
pub(crate) fn ground(path: PathBuf) -> Option<PathBuf> {
    match path.symlink_metadata() {
        Ok(found) if found.is_file() && found.nlink() > 1 => None,
        Ok(_) => Some(path),
        Err(_) => {
            let missing = |above: &&Path| above.symlink_metadata().is_err();
            path.ancestors().take_while(missing).last().map(Path::to_owned)
        }
    }
}
