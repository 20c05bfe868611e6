//! Where rules are kept: one small file per project in the user's data directory, and the session's own in memory.
//!
//! Never inside the project, so that nothing in a repository can allow itself anything. A file that cannot be understood
//! allows nothing and is not overwritten.

use super::{Allowance, Matcher, Rule};
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Rules of one project; past it nothing is added.
pub const MAX_RULES: usize = 1000;
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
    /// There are too many.
    #[error("rules file {} is full: remove rules that are no longer needed", path.display())]
    Full { path: PathBuf },
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// Which project this is for: a person may look into the file.
    #[serde(with = "path")]
    project: PathBuf,
    rules: Vec<Rule>,
}

/// Paths in the file: also those that are not UTF-8.
pub(super) mod path {
    use domain::path_text;
    use serde::{Deserialize as _, Deserializer, Serializer};
    use std::path::{Path, PathBuf};

    pub(in crate::policy) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&path_text::write(path))
    }

    pub(in crate::policy) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(path_text::read(&String::deserialize(from)?))
    }
}

/// The rules that hold in one session: the project's, which are kept, and the session's, which are not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    project: PathBuf,
    file: PathBuf,
    kept: Vec<Rule>,
    session: Vec<Rule>,
    given: Vec<Rule>,
}

impl Rules {
    /// The rules of `project` (a canonical path), from the user's data directory.
    pub fn load(data: &Path, project: &Path) -> Result<Rules, RulesError> {
        let mut rules = Rules::none(data, project);
        rules.kept = rules.read()?;
        Ok(rules)
    }

    /// No rules yet: what to go on with when [`Rules::load`] failed.
    pub fn none(data: &Path, project: &Path) -> Rules {
        let name = crate::digest::hex(project.as_os_str().as_encoded_bytes());
        let file = data.join("rules").join(format!("{name}.json"));
        let (kept, session, given) = (Vec::new(), Vec::new(), Vec::new());
        Rules { project: project.to_owned(), file, kept, session, given }
    }

    /// Reads the project's rules once more: another session may have changed them. What holds stays when that fails.
    pub fn refresh(&mut self) -> Result<(), RulesError> {
        self.kept = self.read()?;
        Ok(())
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

    /// Takes a kept rule back.
    pub fn remove(&mut self, rule: &Rule) -> Result<(), RulesError> {
        let mut kept = self.read()?;
        kept.retain(|known| known != rule);
        self.session.retain(|known| known != rule);
        self.write(kept)
    }

    fn read(&self) -> Result<Vec<Rule>, RulesError> {
        let fail = |source| RulesError::Io { path: self.file.clone(), source };
        let malformed = |why: String| RulesError::Malformed { path: self.file.clone(), why };
        match std::fs::metadata(&self.file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(fail(error)),
            Ok(meta) if meta.len() > MAX_BYTES => return Err(malformed("it is too large".to_owned())),
            Ok(_) => {}
        }
        let text = std::fs::read_to_string(&self.file).map_err(fail)?;
        let kept: Kept = serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        if kept.project != self.project {
            return Err(malformed(format!("it is for {}", kept.project.display())));
        }
        let empty = |rule: &Rule| matches!(&rule.matcher, Matcher::Prefix { words } | Matcher::Exact { words } if words.is_empty());
        if kept.rules.iter().any(empty) {
            return Err(malformed("a rule has no words".to_owned()));
        }
        Ok(kept.rules)
    }

    fn write(&mut self, rules: Vec<Rule>) -> Result<(), RulesError> {
        if rules.len() > MAX_RULES {
            return Err(RulesError::Full { path: self.file.clone() });
        }
        let fail = |source| RulesError::Io { path: self.file.clone(), source };
        let kept = Kept { project: self.project.clone(), rules };
        let text = serde_json::to_string_pretty(&kept).map_err(|error| fail(error.into()))?;
        let dir = self.file.parent().unwrap_or(Path::new("/"));
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(fail)?;
        let private = std::fs::Permissions::from_mode(0o600);
        let mut file = tempfile::Builder::new().permissions(private).tempfile_in(dir).map_err(fail)?;
        file.write_all(text.as_bytes()).map_err(fail)?;
        file.as_file().sync_all().map_err(fail)?;
        file.persist(&self.file).map_err(|error| fail(error.error))?;
        self.kept = kept.rules;
        Ok(())
    }
}
