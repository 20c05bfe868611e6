//! Names that are near one that is not there: what a model probably meant.

use super::ToolContext;
use crate::{diff, exact, names};
use similar::DiffTag;
use std::path::{Path, PathBuf};

/// Names that are told.
const MAX_NEAR: usize = 3;
/// Names of one folder that are looked at.
const MAX_LOOKED: usize = 5_000;
/// How much of two names must be the same, in percent.
const ALIKE: usize = 75;
const SAME_STEM: usize = 95;

impl ToolContext {
    /// Says which files of the workspace have names near this path, first in its own folder, then anywhere; `None` where none has, or
    /// where looking would need consent.
    pub(crate) fn near(&self, path: &Path) -> Option<String> {
        let root = self.root()?;
        if !self.inside(path) || !self.readable(path) {
            return None;
        }
        let wanted = path.file_name()?.to_str()?;
        let folder = path.parent()?;
        let mut found = beside(folder, wanted);
        if found.is_empty() {
            let named =
                |path: &String| Path::new(path).file_name().and_then(|name| name.to_str()).map(str::to_owned);
            let all = names::names(root)
                .files
                .into_iter()
                .filter_map(|path| Some((named(&path)?, root.join(path))));
            found = nearest(wanted, all);
        }
        found.retain(|path| self.readable(path));
        let shown: Vec<String> = found.iter().take(MAX_NEAR).map(|path| self.show(path)).collect();
        (!shown.is_empty()).then(|| format!("near it there is {}", shown.join(", ")))
    }
}

/// Near names in one folder. Hidden ones only for who names a hidden one.
fn beside(folder: &Path, wanted: &str) -> Vec<PathBuf> {
    let Some(entries) = exact::open_folder(folder).ok().and_then(|open| rustix::fs::Dir::new(open).ok())
    else {
        return Vec::new();
    };
    let entries = entries.filter_map(Result::ok).take(MAX_LOOKED);
    let names = entries.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
    let names = names.filter(|name| {
        !matches!(name.as_str(), "." | "..") && name.starts_with('.') == wanted.starts_with('.')
    });
    nearest(wanted, names.map(|name| (name.clone(), folder.join(name))))
}

/// The nearest of some names, best first.
fn nearest(wanted: &str, names: impl Iterator<Item = (String, PathBuf)>) -> Vec<PathBuf> {
    let scored = names.filter_map(|(name, path)| Some((alike(wanted, &name)?, path)));
    let mut scored: Vec<(usize, PathBuf)> = scored.collect();
    scored.sort_by(|(a, at), (b, bt)| b.cmp(a).then_with(|| at.cmp(bt)));
    scored.into_iter().map(|(_, path)| path).take(MAX_NEAR).collect()
}

/// How much two names are alike, in percent; `None` where it is too little. A common ending makes no two names alike.
fn alike(wanted: &str, name: &str) -> Option<usize> {
    let (wanted, name) = (wanted.to_lowercase(), name.to_lowercase());
    if wanted == name {
        return Some(100);
    }
    let parts = |name: &str| match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => (stem.to_owned(), ending.to_owned()),
        _ => (name.to_owned(), String::new()),
    };
    let ((stem, ending), (other, its)) = (parts(&wanted), parts(&name));
    if stem == other {
        // The same name with another ending is meant more often than a name that only looks like it.
        return Some(SAME_STEM);
    }
    let (a, b) = if ending == its { (&stem, &other) } else { (&wanted, &name) };
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let steps = diff::compared(&a, &b, None).into_ops();
    let kept = steps.iter().filter(|step| step.tag() == DiffTag::Equal);
    let same: usize = kept.map(|step| step.old_range().len()).sum();
    let ratio = 200 * same / (a.len() + b.len());
    (ratio >= ALIKE).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_near_by_letters_by_case_and_by_stem() {
        for (wanted, name) in [
            ("main.py", "mian.py"),
            ("README.md", "readme.md"),
            ("app.js", "app.ts"),
            ("util.rs", "utils.rs"),
        ] {
            assert!(alike(wanted, name).is_some(), "{wanted} {name}");
        }
        for (wanted, name) in [("main.py", "setup.cfg"), ("a.rs", "b.rs"), ("config.toml", "Cargo.toml")] {
            assert!(alike(wanted, name).is_none(), "{wanted} {name}: {:?}", alike(wanted, name));
        }
    }

    #[test]
    fn near_names_are_told_and_nothing_outside_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for path in ["work/src/parse.rs", "work/src/.hidden.rs", "work/docs/guide.md", "other/secret.txt"] {
            std::fs::create_dir_all(base.join(path).parent().unwrap()).unwrap();
            std::fs::write(base.join(path), "").unwrap();
        }
        let place = ToolContext::new(&base.join("work"), &base.join("out")).unwrap();
        let near = |path: &str| place.near(&place.resolve(path).unwrap());
        assert_eq!(near("src/parser.rs").as_deref(), Some("near it there is src/parse.rs"));
        assert_eq!(near("guide.md").as_deref(), Some("near it there is docs/guide.md"));
        assert_eq!(near("hidden.rs"), None);
        assert_eq!(near("../other/secrets.txt"), None);
    }
}
