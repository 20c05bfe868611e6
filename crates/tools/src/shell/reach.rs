//! Where the words of a line lead: into the workspace, out of it, or nobody knows. Follows links and file patterns.
//!
//! A line may change directory: every directory it may be in at some point counts.

use super::Word;
use super::surroundings::Surroundings;
use domain::ask::Risk;
use std::path::{Component, Path, PathBuf};

/// Directories that a line may move to before we lose track.
const MAX_BASES: usize = 8;
/// Longest word that is looked at as a path, in bytes: the kernel takes no longer one.
const MAX_WORD: usize = 4096;
/// Directory entries looked at for one file pattern.
const MAX_LOOKED: usize = 2000;
/// Longest word of options whose ends are tried as file names, in bytes.
const MAX_OPTIONS: usize = 256;
/// Device files that harm nobody. Not the terminal: a text written there paints over the person's screen.
const TAME_DEVICES: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2"];

/// What every reason says that is about a file which steers programs.
pub(crate) const STEERS: &str = "other programs execute or obey";

/// Where a word leads.
#[derive(PartialEq, Eq)]
pub(super) enum Leads {
    /// It names nothing, or something in the workspace.
    Inside,
    /// Only the shell will know.
    Unknown,
    /// It may leave the workspace.
    Outside,
    /// It names a part of the workspace that steers programs.
    Steering,
}

impl Leads {
    /// In words for the person.
    pub(super) fn reason(&self, verb: &str, word: &Word) -> String {
        match self {
            Leads::Inside => format!("{verb} {}", word.raw),
            Leads::Unknown => format!("{verb} {}, which is only known when it runs", word.raw),
            Leads::Outside if word.raw.contains("://") => format!("contacts {}", word.raw),
            Leads::Outside => format!("{verb} {}, outside the project", word.raw),
            Leads::Steering => format!("{verb} {}, which {STEERS}", word.raw),
        }
    }
}

/// What a redirection writes.
pub(super) enum WriteTarget {
    /// Nothing that stays.
    Nothing,
    /// A file of the workspace.
    File(PathBuf),
    /// A part of the workspace that steers programs.
    Steering(String),
    /// Something else that must be asked.
    Dangerous(Risk, String),
}

/// The directories that a line may be in.
pub(super) struct Reach<'a> {
    place: &'a dyn Surroundings,
    bases: Vec<PathBuf>,
}

impl<'a> Reach<'a> {
    pub(super) fn new(place: &'a dyn Surroundings) -> Reach<'a> {
        Reach { place, bases: vec![place.workdir().to_owned()] }
    }

    /// The folders in which the command may be when a relative path is read.
    pub(super) fn bases(&self) -> &[PathBuf] {
        &self.bases
    }

    /// Notes where `cd` may lead; gives a doubt when that cannot be told.
    pub(super) fn follow(&mut self, words: &[Word]) -> Option<String> {
        let (first, rest) = words.split_first()?;
        if first.text.as_deref() != Some("cd") {
            return None;
        }
        let target = match rest {
            [word] if !word.glob && !word.tilde => word.text.as_deref(),
            _ => None,
        };
        let Some(target) = target.filter(|target| !target.starts_with('-') && !target.is_empty()) else {
            return Some("`cd` leads to a place that is not known".to_owned());
        };
        for base in self.bases.clone() {
            let next = base.join(target);
            // After a link, bash steps back along the name it came by, programs along the real directory.
            for next in [lexical(&next), next] {
                if !self.bases.contains(&next) {
                    self.bases.push(next);
                }
            }
        }
        if self.bases.len() > MAX_BASES {
            self.bases.truncate(MAX_BASES);
            return Some("it changes directory too often".to_owned());
        }
        None
    }

    /// Where a word may lead, from every directory that the line may be in. With `existing`, what is not there does not count:
    /// it cannot be read.
    pub(super) fn leads(&self, word: &Word, existing: bool) -> Leads {
        if word.tilde {
            return Leads::Outside;
        }
        let Some(text) = word.text.as_deref().filter(|text| text.len() <= MAX_WORD) else {
            return Leads::Unknown;
        };
        if is_options(text) && text.len() > MAX_OPTIONS {
            return Leads::Unknown;
        }
        let mut steering = false;
        for part in readings(text) {
            for base in &self.bases {
                match self.place_of(base, part, word.glob, existing) {
                    Leads::Inside => {}
                    Leads::Outside | Leads::Unknown => return Leads::Outside,
                    Leads::Steering => steering = true,
                }
            }
        }
        if steering { Leads::Steering } else { Leads::Inside }
    }

    fn place_of(&self, base: &Path, part: &str, glob: bool, existing: bool) -> Leads {
        let joined = base.join(part);
        if glob && part.contains(['*', '?', '[']) {
            let stays = joined.to_str().is_some_and(|joined| self.pattern_stays(joined, part));
            return if stays { Leads::Inside } else { Leads::Outside };
        }
        // A name that is too long or too odd for the file system names nothing.
        let Some(path) = self.place.follow(&joined) else {
            return if existing && !part.contains("..") { Leads::Inside } else { Leads::Outside };
        };
        if existing && !path.exists() && !joined.starts_with("/dev") {
            return Leads::Inside;
        }
        if !self.place.readable(&path) && !TAME_DEVICES.iter().any(|device| joined == Path::new(device)) {
            return Leads::Outside;
        }
        if self.place.steering(&path).is_some() { Leads::Steering } else { Leads::Inside }
    }

    /// Whether nothing that a file pattern can match lies outside: it starts inside, and no link on its way leads out.
    fn pattern_stays(&self, pattern: &str, written: &str) -> bool {
        let pieces: Vec<&str> = pattern.split('/').collect();
        let fixed = pieces.iter().take_while(|piece| !piece.contains(['*', '?', '['])).count();
        let start = pieces.get(..fixed).unwrap_or_default().join("/");
        let rest = pieces.get(fixed..).unwrap_or_default();
        if rest.iter().any(|piece| steps_back(piece)) {
            return false;
        }
        let Some(start) = self.place.resolve(if start.is_empty() { "/" } else { &start }) else {
            return false;
        };
        let mut looked = 0;
        // A pattern without a directory may match a file whose name is an option, or names a file of words.
        let open = written.starts_with(['*', '?', '[', '-', '@']);
        if open && has_special(&start) {
            return false;
        }
        self.place.inside(&start) && self.links_stay(&start, rest.len(), &mut looked)
    }

    fn links_stay(&self, dir: &Path, depth: usize, looked: &mut usize) -> bool {
        // What cannot be listed cannot be matched.
        let Ok(entries) = std::fs::read_dir(dir) else { return true };
        for entry in entries {
            *looked += 1;
            let Ok(entry) = entry else { return false };
            let Ok(kind) = entry.file_type() else { return false };
            if *looked > MAX_LOOKED {
                return false;
            }
            let fine = if kind.is_symlink() {
                // A link to a directory could lead on to more links: only the last step may be one.
                depth <= 1 && entry.path().canonicalize().is_ok_and(|path| self.place.inside(&path))
            } else {
                depth <= 1 || !kind.is_dir() || self.links_stay(&entry.path(), depth - 1, looked)
            };
            if !fine {
                return false;
            }
        }
        true
    }

    /// What a redirection to `word` writes.
    pub(super) fn write(&self, word: &Word) -> WriteTarget {
        let Some(text) = word.text.as_deref().filter(|_| !word.glob && !word.tilde) else {
            return WriteTarget::Dangerous(
                Risk::High,
                format!("writes to {}, which is only known when it runs", word.raw),
            );
        };
        if TAME_DEVICES.contains(&text) {
            return WriteTarget::Nothing;
        }
        if text.starts_with("/dev/") {
            return WriteTarget::Dangerous(Risk::Critical, format!("writes to the device {text}"));
        }
        let mut last = None;
        for base in &self.bases {
            let path = self.place.follow(&base.join(text));
            match path {
                Some(path) if self.place.inside(&path) => {
                    if let Some(part) = self.place.steering(&path) {
                        let reason = format!("changes `{part}`, which {STEERS}");
                        return WriteTarget::Steering(reason);
                    }
                    last = Some(path);
                }
                _ => {
                    return WriteTarget::Dangerous(Risk::High, format!("writes {text}, outside the project"));
                }
            }
        }
        match (last, self.bases.len()) {
            (Some(path), 1) => WriteTarget::File(path),
            _ => WriteTarget::Dangerous(Risk::Medium, format!("writes {text} after changing directory")),
        }
    }
}

fn is_options(text: &str) -> bool {
    text.starts_with('-') && !text.starts_with("--")
}

/// Whether a piece of a pattern is, or may match, the directory above: older shells and plain ones let `.*` do so.
fn steps_back(piece: &str) -> bool {
    piece == ".."
        || piece.starts_with('.') && piece.get(1..).is_some_and(|rest| rest.starts_with(['*', '?', '[', '.']))
}

/// The ways in which an argument may name a file: itself, each piece of it, what is glued to a short option.
fn readings(text: &str) -> Vec<&str> {
    let parts = |c: char| c.is_whitespace() || "=:,@\"'()[]{};".contains(c);
    let mut readings = vec![text];
    readings.extend(text.split(parts));
    if is_options(text) {
        readings.extend(text.char_indices().skip(2).filter_map(|(at, _)| text.get(at..)));
    }
    readings.retain(|part| !part.is_empty());
    readings
}

/// The path with its steps back taken along the names, links not followed.
pub(super) fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

fn has_special(dir: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(dir) else { return false };
    let mut names = entries.take(MAX_LOOKED + 1).enumerate();
    names.any(|(count, entry)| {
        count == MAX_LOOKED
            || entry
                .is_ok_and(|entry| matches!(entry.file_name().as_encoded_bytes().first(), Some(b'-' | b'@')))
    })
}
