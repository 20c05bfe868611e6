//! Where rules are kept: one small file per project in the user's data directory, and the session's own in memory.
//!
//! Never inside the project, so that nothing in a repository can allow itself anything. A file that cannot be understood
//! allows nothing and is not overwritten.

use super::asked::AskedQuestions;
use crate::rule::{Allowance, Matcher, NotNarrower, Rule};
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Rules of one project; past it nothing is added.
pub const MAX_RULES: usize = 1000;
/// Projects whose rules are listed at most.
const MAX_PROJECTS: usize = 1000;
/// Largest rules file that is read.
const MAX_BYTES: u64 = 1024 * 1024;

/// Why rules could not be read or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RulesError {
    /// The file system said no.
    #[error("rules file {}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// The file holds something else.
    #[error("rules file {} cannot be understood, so it allows nothing: correct it or remove it ({why})", path.display())]
    Malformed { path: PathBuf, why: String },
    /// It is no rule that is kept for this project.
    #[error("no such rule is kept for this project any more")]
    Unknown,
    /// No rule is made narrower by these words.
    #[error("no rule of this project is made narrower by `{to}`: write the words of one and more of them")]
    NothingToNarrow { to: String },
    #[error(transparent)]
    NotNarrower(#[from] NotNarrower),
    /// There are too many.
    #[error("rules file {} is full: remove rules that are no longer needed", path.display())]
    Full { path: PathBuf },
}

#[derive(Debug, Serialize, Deserialize)]
struct RulesFile {
    /// Which project this is for: a person may look into the file.
    #[serde(with = "crate::rule::path")]
    project: PathBuf,
    rules: Vec<Rule>,
}

/// The rules that hold in one session: the project's, which are kept, and the session's, which are not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    project: PathBuf,
    file: PathBuf,
    kept: Vec<Rule>,
    session: Vec<Rule>,
    given: Vec<Rule>,
    /// The file as it was when it was read last.
    seen: Option<FileStamp>,
}

/// What tells one state of a file from another: a file that is written anew is another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    inode: u64,
    changed: (i64, i64),
    bytes: u64,
}

impl FileStamp {
    fn of(file: &Path) -> Option<FileStamp> {
        let meta = std::fs::metadata(file).ok()?;
        Some(FileStamp { inode: meta.ino(), changed: (meta.ctime(), meta.ctime_nsec()), bytes: meta.len() })
    }
}

/// The projects for which rules are kept, by path; of those that cannot be read, why.
pub fn projects(data: &Path) -> Result<Vec<Result<Rules, RulesError>>, RulesError> {
    let folder = data.join("rules");
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(RulesError::Io { path: folder, source }),
    };
    let files = entries.flatten().map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let mut all: Vec<Result<Rules, RulesError>> =
        files.take(MAX_PROJECTS).map(|file| Rules::in_file(data, &file)).collect();
    all.retain(|rules| rules.as_ref().map_or(true, |rules| !rules.kept.is_empty()));
    all.sort_by_key(|rules| rules.as_ref().ok().map(|rules| rules.project.clone()));
    Ok(all)
}

impl Rules {
    /// The rules that are kept in this file, for whichever project it says.
    fn in_file(data: &Path, file: &Path) -> Result<Rules, RulesError> {
        let kept = read_file(file)?;
        let rules = Rules::load(data, &kept.project)?;
        if rules.file != file {
            // A copy, or one that was renamed: nothing reads it.
            let why = format!("it is named for another project than {}", kept.project.display());
            return Err(RulesError::Malformed { path: file.to_owned(), why });
        }
        Ok(rules)
    }

    /// Whose rules these are, as a canonical path.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// What was asked in the project lately.
    pub fn asked(&self) -> AskedQuestions {
        AskedQuestions::beside(&self.file)
    }

    /// The rules that hold until the session closes.
    pub fn of_session(&self) -> &[Rule] {
        &self.session
    }

    /// The rules of `project` (a canonical path), from the user's data directory.
    pub fn load(data: &Path, project: &Path) -> Result<Rules, RulesError> {
        let mut rules = Rules::none(data, project);
        rules.refresh()?;
        Ok(rules)
    }

    /// No rules yet: what to go on with when [`Rules::load`] failed.
    pub fn none(data: &Path, project: &Path) -> Rules {
        let name = crate::digest::hex(project.as_os_str().as_encoded_bytes());
        let file = data.join("rules").join(format!("{name}.json"));
        let (kept, session, given) = (Vec::new(), Vec::new(), Vec::new());
        Rules { project: project.to_owned(), file, kept, session, given, seen: None }
    }

    /// Reads the project's rules once more: another session may have changed them. What holds stays when that fails.
    pub fn refresh(&mut self) -> Result<(), RulesError> {
        let seen = FileStamp::of(&self.file);
        self.kept = self.read()?;
        self.seen = seen;
        Ok(())
    }

    /// The same, only when the file is another than the one that was read: what somebody took back holds from now on.
    pub fn keep_up(&mut self) -> Result<(), RulesError> {
        if FileStamp::of(&self.file) == self.seen { Ok(()) } else { self.refresh() }
    }

    /// The same with what was allowed when the program was started.
    #[must_use]
    pub fn with(mut self, given: &[Allowance]) -> Rules {
        self.given = given.iter().cloned().map(Rule::given).collect();
        self
    }

    /// All rules that hold now.
    pub fn all(&self) -> Vec<Rule> {
        self.given.iter().chain(&self.kept).chain(&self.session).cloned().collect()
    }

    /// The rules that are kept for the project.
    pub fn kept(&self) -> &[Rule] {
        &self.kept
    }

    /// Allows until the session closes.
    pub fn add_for_session(&mut self, rules: &[Rule]) {
        for rule in rules {
            if !self.session.contains(rule) && self.session.len() < MAX_RULES {
                self.session.push(rule.clone());
            }
        }
    }

    /// Allows for good. Other sessions may have added rules meanwhile: they are kept.
    pub fn add_for_project(&mut self, rules: &[Rule]) -> Result<(), RulesError> {
        let mut kept = self.read()?;
        for rule in rules {
            if !kept.contains(rule) {
                kept.push(rule.clone());
            }
        }
        self.write(kept)
    }

    /// Takes a kept rule back; whatever was allowed with it for the session alone ends too.
    pub fn remove(&mut self, rule: &Rule) -> Result<(), RulesError> {
        let mut kept = self.read()?;
        let before = kept.len();
        kept.retain(|known| known != rule);
        if kept.len() == before {
            return Err(RulesError::Unknown);
        }
        self.remove_of_session(rule);
        self.write(kept)
    }

    /// Takes back what was allowed until the session closes; whether there was such a rule.
    pub fn remove_of_session(&mut self, rule: &Rule) -> bool {
        let before = self.session.len();
        self.session.retain(|known| known != rule);
        self.session.len() < before
    }

    /// Puts a narrower rule in the place of a kept one; it is told.
    pub fn narrow(&mut self, rule: &Rule, to: &str) -> Result<Rule, RulesError> {
        let narrower = rule.narrowed(to)?;
        let mut kept = self.read()?;
        let at = kept.iter().position(|known| known == rule).ok_or(RulesError::Unknown)?;
        kept.remove(at);
        if !kept.contains(&narrower) {
            kept.insert(at, narrower.clone());
        }
        self.remove_of_session(rule);
        self.write(kept)?;
        Ok(narrower)
    }

    /// Narrows the kept rule that these words narrow; of several, the one that is nearest to them. It is told.
    pub fn narrow_to(&mut self, to: &str) -> Result<Rule, RulesError> {
        let kept = self.read()?;
        let fitting = kept.iter().filter(|rule| rule.narrowed(to).is_ok());
        let nearest = fitting.max_by_key(|rule| rule.to_narrow().map_or(0, |words| words.len()));
        match nearest {
            Some(rule) => self.narrow(rule, to),
            None => Err(RulesError::NothingToNarrow { to: to.to_owned() }),
        }
    }

    fn read(&self) -> Result<Vec<Rule>, RulesError> {
        if std::fs::metadata(&self.file).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            return Ok(Vec::new());
        }
        let kept = read_file(&self.file)?;
        if kept.project != self.project {
            let why = format!("it is for {}", kept.project.display());
            return Err(RulesError::Malformed { path: self.file.clone(), why });
        }
        Ok(kept.rules)
    }

    fn write(&mut self, rules: Vec<Rule>) -> Result<(), RulesError> {
        if rules.len() > MAX_RULES {
            return Err(RulesError::Full { path: self.file.clone() });
        }
        let fail = |source| RulesError::Io { path: self.file.clone(), source };
        let kept = RulesFile { project: self.project.clone(), rules };
        let text = serde_json::to_string_pretty(&kept).map_err(|error| fail(error.into()))?;
        let dir = self.file.parent().unwrap_or(Path::new("/"));
        private_folder(dir).map_err(fail)?;
        let private = std::fs::Permissions::from_mode(0o600);
        let mut file = tempfile::Builder::new().permissions(private).tempfile_in(dir).map_err(fail)?;
        file.write_all(text.as_bytes()).map_err(fail)?;
        file.as_file().sync_all().map_err(fail)?;
        file.persist(&self.file).map_err(|error| fail(error.error))?;
        self.kept = kept.rules;
        self.seen = FileStamp::of(&self.file);
        Ok(())
    }
}

/// Makes a folder for the person alone, where it is missing.
pub(super) fn private_folder(dir: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

fn read_file(file: &Path) -> Result<RulesFile, RulesError> {
    let fail = |source| RulesError::Io { path: file.to_owned(), source };
    let malformed = |why: String| RulesError::Malformed { path: file.to_owned(), why };
    let meta = std::fs::metadata(file).map_err(fail)?;
    // A pipe in its place would be waited for.
    if !meta.is_file() {
        return Err(malformed("it is no file".to_owned()));
    }
    if meta.len() > MAX_BYTES {
        return Err(malformed("it is too large".to_owned()));
    }
    let text = std::fs::read_to_string(file).map_err(fail)?;
    let kept: RulesFile = serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
    let empty = |rule: &Rule| matches!(&rule.matcher, Matcher::Prefix { words } | Matcher::Exact { words } if words.is_empty());
    if kept.rules.iter().any(empty) {
        return Err(malformed("a rule has no words".to_owned()));
    }
    Ok(kept)
}
