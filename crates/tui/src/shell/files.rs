//! Finding files by name: what git's index names is offered at once, then the project is walked once per burst of typing, ignoring what
//! git ignores. What fits is offered while the walk goes on.
//!
//! One walk at a time, on a thread of its own. What the walk before found stays until it is over; the first one shows what it has.

mod index;

use crate::fuzzy::Best;
use ignore::WalkBuilder;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Files known at most.
const MAX_FILES: usize = 1_000_000;
/// Files told at most.
const MAX_TOLD: usize = 50;
/// How long a walk is good for at least.
const FRESH: Duration = Duration::from_secs(10);
/// The same by how long it took: a large project is not walked again and again.
const FRESH_SHARE: u32 = 20;
/// Files that a walk finds before it hands them over.
const BATCH: usize = 2_000;
/// Between two answers to the same words while the walk goes on, at least.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// Takes an answer: the words, and the paths that fit, best first.
pub(super) type Tell = Arc<dyn Fn(String, Vec<String>) + Send + Sync>;

/// The files of a folder, as last walked.
#[derive(Clone, Default)]
pub(super) struct Files(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    paths: Vec<String>,
    /// When the last walk was over, and how long it took.
    walked: Option<(Instant, Duration)>,
    walks: bool,
    /// The words that were looked for last, and what fits best among the paths.
    best: Option<Best>,
}

impl Known {
    fn is_stale(&self) -> bool {
        !self.walks && self.walked.is_none_or(|(at, took)| at.elapsed() > FRESH.max(took * FRESH_SHARE))
    }

    /// The paths that fit these words, among those that are known by now.
    fn find(&mut self, query: &str) -> Vec<String> {
        let best = match &mut self.best {
            Some(best) if best.query() == query => best,
            other => other.insert(Best::of(query, MAX_TOLD)),
        };
        let found = best.look(&self.paths);
        found.into_iter().filter_map(|at| self.paths.get(at).cloned()).collect()
    }

    /// The answer to the words that were looked for last, by what is known now.
    fn again(&mut self) -> Option<(String, Vec<String>)> {
        let query = self.best.as_ref()?.query().to_owned();
        let paths = self.find(&query);
        Some((query, paths))
    }

    /// Other paths in the place of these.
    fn replace(&mut self, paths: Vec<String>) {
        self.paths = paths;
        self.best = self.best.take().map(|best| Best::of(best.query(), MAX_TOLD));
    }
}

impl Files {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the paths that fit: those that are known at once, and again when more are, until these are no longer the words that were
    /// looked for last. Blocks as long as a walk that it begins: not for the loop's own thread.
    pub(super) fn find(&self, folder: &Path, query: &str, tell: &Tell) {
        let (begins, found) = {
            let mut known = self.known();
            let begins = known.is_stale();
            known.walks |= begins;
            (begins, known.find(query))
        };
        // A first walk has nothing yet: what stands on the screen stays until it has.
        if !(begins && found.is_empty()) {
            tell(query.to_owned(), found);
        }
        if begins {
            let begun = Instant::now();
            self.gather(|| index::paths(folder), || walk(folder), (BATCH, TELL_EVERY), tell);
            let mut known = self.known();
            known.walked = Some((Instant::now(), begun.elapsed()));
            known.walks = false;
        }
    }

    /// Takes in what the index names and then what is really there, and tells what fits as it comes.
    fn gather<W: Iterator<Item = String>>(
        &self,
        index: impl FnOnce() -> Vec<String>,
        walk: impl FnOnce() -> W,
        (batch, every): (usize, Duration),
        tell: &Tell,
    ) {
        let is_first = self.known().walked.is_none();
        let hasher = RandomState::new();
        let mut shown = HashSet::new();
        if is_first {
            let named = index();
            shown.extend(named.iter().map(|path| hasher.hash_one(path)));
            if !named.is_empty() {
                self.known().replace(sorted(named));
                self.tell_again(tell);
            }
        }
        let (mut all, mut new, mut told_at) = (Vec::new(), Vec::new(), Instant::now());
        for path in walk().take(MAX_FILES) {
            if is_first && !shown.contains(&hasher.hash_one(&path)) {
                new.push(path.clone());
            }
            all.push(path);
            let is_due = all.len() % batch == 0 && told_at.elapsed() >= every;
            if is_due && !new.is_empty() {
                self.known().paths.append(&mut new);
                self.tell_again(tell);
                told_at = Instant::now();
            }
        }
        self.known().replace(sorted(all));
        self.tell_again(tell);
    }

    fn tell_again(&self, tell: &Tell) {
        let again = self.known().again();
        if let Some((query, paths)) = again {
            tell(query, paths);
        }
    }
}

/// Those nearest to the folder first, then the shortest.
fn sorted(mut paths: Vec<String>) -> Vec<String> {
    paths.sort_by_cached_key(|path| (path.matches('/').count(), path.len()));
    paths
}

fn walk(folder: &Path) -> impl Iterator<Item = String> {
    let mut walk = WalkBuilder::new(folder);
    // Hidden files are files of the project too; what git keeps for itself is not.
    walk.hidden(false).require_git(false).filter_entry(|entry| entry.file_name() != ".git");
    let entries = walk.build().filter_map(Result::ok).filter(|entry| entry.depth() > 0);
    entries.filter_map(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let path = entry.path().strip_prefix(folder).ok()?.to_str()?.to_owned();
        Some(if is_folder { format!("{path}/") } else { path })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, sync_channel};

    /// More than any of these tests tells or walks.
    const MANY: usize = 64;

    fn teller() -> (Tell, Receiver<(String, Vec<String>)>) {
        let (send, told) = sync_channel(MANY);
        let send = Mutex::new(send);
        let tell: Tell = Arc::new(move |query, paths| {
            let _ = send.lock().unwrap().send((query, paths));
        });
        (tell, told)
    }

    /// What is told last of these words.
    fn found(files: &Files, folder: &Path, query: &str) -> Vec<String> {
        let (tell, told) = teller();
        files.find(folder, query, &tell);
        told.try_iter().last().unwrap().1
    }

    #[test]
    fn files_are_found_and_ignored_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("src")).unwrap();
        for (path, text) in
            [("src/main.rs", ""), ("README.md", ""), ("secret.log", ""), (".gitignore", "*.log\n")]
        {
            std::fs::write(folder.path().join(path), text).unwrap();
        }
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        std::fs::write(folder.path().join(".git/config"), "").unwrap();
        let files = Files::default();
        assert_eq!(found(&files, folder.path(), "main"), ["src/main.rs"]);
        assert_eq!(found(&files, folder.path(), "secret"), Vec::<String>::new());
        assert_eq!(found(&files, folder.path(), "git"), [".gitignore"], "a hidden file is a file");
        assert_eq!(found(&files, folder.path(), ""), ["README.md", ".gitignore", "src/", "src/main.rs"]);
    }

    #[test]
    fn what_fits_is_offered_while_the_walk_goes_on() {
        let files = Files::default();
        let (tell, told) = teller();
        let (walked, walk) = sync_channel::<String>(MANY);
        files.known().find("part");
        let (gathering, at_work) = (files, tell);
        let gatherer = std::thread::spawn(move || {
            let index = || vec!["named/part.rs".to_owned(), "gone/part.rs".to_owned()];
            gathering.gather(index, || walk.into_iter(), (1, Duration::ZERO), &at_work);
        });
        let told = || told.recv_timeout(Duration::from_secs(60)).expect("it is told");
        assert_eq!(told().1, ["gone/part.rs", "named/part.rs"], "git's index is there at once");
        walked.send("other.rs".to_owned()).unwrap();
        assert_eq!(told().1.len(), 2);
        walked.send("new_part.rs".to_owned()).unwrap();
        assert!(told().1.contains(&"new_part.rs".to_owned()), "the walk is not over yet");
        walked.send("named/part.rs".to_owned()).unwrap();
        drop(walked);
        let (query, paths) = told();
        assert_eq!(query, "part");
        assert!(paths.contains(&"named/part.rs".to_owned()) && paths.len() == 2, "as it is: {paths:?}");
        gatherer.join().unwrap();
    }

    #[test]
    fn while_a_project_is_walked_again_what_is_known_stays() {
        let files = Files::default();
        files.known().replace(vec!["old.rs".to_owned()]);
        files.known().walked = Some((Instant::now(), Duration::ZERO));
        files.known().find("rs");
        let (tell, told) = teller();
        let walk = || ["a.rs", "b.rs"].map(str::to_owned).into_iter();
        files.gather(Vec::new, walk, (1, Duration::ZERO), &tell);
        let told: Vec<Vec<String>> = told.try_iter().map(|(_, paths)| paths).collect();
        assert_eq!(told, [["a.rs", "b.rs"]]);
    }
}
