//! Commands that failed inside the leash, with their last lines: shown in the question that follows when the model asks to leave it.
//!
//! The kernel does not say what it refused. The command's own words are all that there is, and are shown as no more than that.

use crate::title::one_line;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Failed commands that are remembered; past it the oldest is forgotten.
const MAX_TRIES: usize = 32;
const LAST_LINES: usize = 6;

/// Commands that failed inside the leash.
#[derive(Debug, Default)]
pub(crate) struct Tries(Mutex<VecDeque<Try>>);

#[derive(Debug)]
struct Try {
    line: String,
    workdir: PathBuf,
    last: Vec<String>,
}

impl Tries {
    /// Remembers how a command ended: with these words when it failed, with nothing when it worked.
    pub(crate) fn note(&self, line: &str, workdir: &Path, failed: Option<&str>) {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tries.retain(|known| !known.is(line, workdir));
        let Some(output) = failed else { return };
        let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.iter().skip(lines.len().saturating_sub(LAST_LINES)).map(|line| one_line(line));
        let (line, workdir, last) = (line.trim().to_owned(), workdir.to_owned(), last.collect());
        tries.push_back(Try { line, workdir, last });
        if tries.len() > MAX_TRIES {
            tries.pop_front();
        }
    }

    /// The last lines of this command, when it failed before.
    pub(crate) fn of(&self, line: &str, workdir: &Path) -> Option<Vec<String>> {
        let tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tries.iter().find(|known| known.is(line, workdir)).map(|known| known.last.clone())
    }
}

impl Try {
    fn is(&self, line: &str, workdir: &Path) -> bool {
        self.line == line.trim() && self.workdir == workdir
    }
}

/// Words of programs and of the system for what a leash refuses.
const REFUSED: &[&str] = &[
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "eacces",
    "eperm",
    "erofs",
    "not permitted",
    "network is unreachable",
    "could not resolve",
    "couldn't resolve",
    "temporary failure in name resolution",
    "name or service not known",
    "getaddrinfo",
    "enetunreach",
    "enotfound",
    "address family not supported",
    "dns error",
    "failed to lookup address",
];

/// Whether an output may come from what a leash refused.
pub(crate) fn sounds_refused(output: &str) -> bool {
    let lower = output.to_lowercase();
    REFUSED.iter().any(|words| lower.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_until_it_works() {
        let (tries, here) = (Tries::default(), Path::new("/w"));
        let output: String = (1..=20).map(|number| format!("line {number}\n\n")).collect();
        tries.note(" make ", here, Some(&output));
        assert_eq!(tries.of("make", here).unwrap().first().unwrap(), "line 15");
        assert_eq!(tries.of("make", here).unwrap().last().unwrap(), "line 20");
        assert!(tries.of("make", Path::new("/other")).is_none() && tries.of("make x", here).is_none());
        tries.note("make", here, Some("\u{1b}[2Jbad"));
        assert_eq!(tries.of("make", here).unwrap(), [" [2Jbad"]);
        tries.note("make", here, None);
        assert!(tries.of("make", here).is_none());
        for number in 0..=MAX_TRIES {
            tries.note(&format!("x{number}"), here, Some(""));
        }
        assert!(tries.of("x0", here).is_none() && tries.of("x1", here).is_some());
    }
}
