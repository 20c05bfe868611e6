//! What is switched off for our own git, as settings that lead over every file. Pure.
//!
//! They go by the environment and not by `-c`: there a name ends at its first `=`, and a repository chooses the names of its filters.

use super::GitDeed;
use crate::shell::is_harmless_setting;
use std::ffi::OsString;
use std::path::PathBuf;

/// Settings that make git run something by themselves, as they are for us.
const ALWAYS: &[(&str, &str)] = &[
    ("core.quotepath", "false"),
    ("core.fsmonitor", "false"),
    ("core.hookspath", "/dev/null"),
    ("core.pager", "cat"),
    ("diff.autorefreshindex", "false"),
    // Git starts itself in other repositories without what is said here, and obeys their settings.
    ("submodule.recurse", "false"),
    ("diff.submodule", "short"),
    ("diff.ignoresubmodules", "all"),
    ("status.submodulesummary", "false"),
    // A folder that happens to look like a repository is none.
    ("safe.barerepository", "explicit"),
    // What signs and what looks at signatures.
    ("commit.gpgsign", "false"),
    ("merge.verifysignatures", "false"),
    ("log.showsignature", "false"),
    ("gpg.program", "false"),
    ("gpg.openpgp.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.ssh.defaultkeycommand", "false"),
    ("gpg.x509.program", "false"),
    // Tidying up asks a program which objects are still needed.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
];

/// Variables that do the same.
pub(super) const VARIABLES: &[(&str, &str)] = &[("GIT_EDITOR", "false"), ("GIT_ASKPASS", "false")];

/// Nothing is fetched, by whatever way a repository names.
pub(super) const NO_FETCH: &[(&str, &str)] = &[("GIT_ALLOW_PROTOCOL", ""), ("GIT_NO_LAZY_FETCH", "1")];

/// Where settings of the repository itself come from, as git calls it.
const REPOSITORY: &[&str] = &["local", "worktree"];
/// What we said ourselves, in its words.
const OURS: &str = "command";
/// The setting that chooses how branches are merged: it may take one side whole, or name a program.
const STRATEGY: &str = "pull.twohead";
/// The strategy that every git has and that takes both sides.
const USUAL_STRATEGY: &str = "recursive";
/// Filters, drivers, hooks and options of a repository that are switched off, each by a setting of its own.
const MAX_NAMED: usize = 200;

/// A setting that leads over every file.
type Setting = (String, String);

/// What the settings at one place would have git run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Switches {
    /// Whether the repository's own settings are all known to be harmless.
    pub(super) plain: bool,
    /// Whether commits would be signed.
    signs: bool,
    /// Whether a program would say which files changed.
    monitored: bool,
    /// What is not run, by its name.
    named: Vec<(SettingKind, String)>,
    /// The filters that are off also when git writes.
    pub(super) filters: Vec<String>,
    /// Where hooks lie, if the settings say so.
    pub(super) hooks: Option<PathBuf>,
    /// Always off.
    off: Vec<Setting>,
    /// Off while git looks: the person's own.
    off_looking: Vec<Setting>,
}

impl Switches {
    /// What `git config --list -z --show-scope` tells.
    pub(super) fn of(listed: &str) -> Result<Switches, String> {
        let mut fields = listed.split('\0');
        let mut all: Vec<(bool, &str, &str)> = Vec::new();
        while let (Some(scope), Some(setting)) = (fields.next(), fields.next()) {
            let (name, value) = setting.split_once('\n').unwrap_or((setting, "true"));
            if scope != OURS {
                all.push((REPOSITORY.contains(&scope), name, value));
            }
        }
        let mut theirs = all.iter().filter(|(repository, ..)| *repository);
        let plain = theirs.all(|(_, name, _)| is_harmless_setting(name) || is_always(name));
        let last = |wanted: &str| all.iter().rfind(|(_, name, _)| *name == wanted).map(|(.., value)| *value);
        let mut switches = Switches { plain, ..Switches::default() };
        switches.hooks = last("core.hookspath").map(PathBuf::from);
        let is_on =
            |value: &&str| !matches!(value.to_lowercase().as_str(), "false" | "no" | "off" | "0" | "");
        // Git has a monitor of its own, too.
        switches.monitored = last("core.fsmonitor").filter(is_on).is_some_and(|value| value != "true");
        switches.signs = last("commit.gpgsign").filter(is_on).is_some();
        let mut named = Vec::new();
        for (_, name, _) in &all {
            let Some((kind, name)) = SettingKind::of(name) else { continue };
            // It was read loosely, and what has another name is not switched off by this one.
            if name.contains(char::REPLACEMENT_CHARACTER) {
                return Err(format!(
                    "the settings of git have a name that is not UTF-8: {} {name}",
                    kind.word()
                ));
            }
            if !named.contains(&(kind, name)) {
                named.push((kind, name));
            }
        }
        if named.len() > MAX_NAMED {
            return Err(format!(
                "the settings of git name more than {MAX_NAMED} filters, merge drivers, merge options and hooks; what is not needed has to go first"
            ));
        }
        if last(STRATEGY).is_some() {
            switches.off.push((STRATEGY.to_owned(), USUAL_STRATEGY.to_owned()));
        }
        for (kind, name) in named {
            let off = kind.off(name);
            // The person's own, where nothing of the repository can steer it.
            if plain && matches!(kind, SettingKind::Filter | SettingKind::Driver) {
                switches.off_looking.extend(off);
                continue;
            }
            switches.off.extend(off);
            switches.named.push((kind, name.to_owned()));
            if kind == SettingKind::Filter {
                switches.filters.push(name.to_owned());
            }
        }
        Ok(switches)
    }

    /// What is not run that a person may count on, in words.
    pub(super) fn left_out(&self, deed: GitDeed) -> Vec<String> {
        let counts = |kind: SettingKind| match kind {
            SettingKind::Filter => deed != GitDeed::Remove,
            SettingKind::Driver | SettingKind::Options => deed == GitDeed::Merge,
            SettingKind::Hook => true,
        };
        let named = self.named.iter().filter(|(kind, _)| counts(*kind));
        let monitor = self.monitored.then(|| "core.fsmonitor".to_owned());
        let signs =
            (self.signs && matches!(deed, GitDeed::Commit | GitDeed::Merge)).then(|| "signing".to_owned());
        let named = named.map(|(kind, name)| format!("{} {name}", kind.word()));
        monitor.into_iter().chain(signs).chain(named).collect()
    }

    /// Whether filters run when git writes.
    pub(super) fn has_own_filters(&self) -> bool {
        !self.off_looking.is_empty()
    }

    /// The settings for one call.
    pub(super) fn settings(&self, writes: bool) -> Vec<Setting> {
        let looking: &[Setting] = if writes { &[] } else { &self.off_looking };
        [&self.off, looking].concat()
    }
}

/// What settings name by a name of their own and git runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SettingKind {
    Filter,
    Driver,
    Hook,
    /// Options for each merge into a branch: they sign, and they leave out what they are told to merge.
    Options,
}

impl SettingKind {
    /// What a setting makes git run, and its name.
    fn of(setting: &str) -> Option<(SettingKind, &str)> {
        let (section, rest) = setting.split_once('.')?;
        let (name, key) = rest.rsplit_once('.')?;
        match (section, key) {
            ("filter", "clean" | "smudge" | "process") => Some((SettingKind::Filter, name)),
            ("merge", "driver") => Some((SettingKind::Driver, name)),
            ("hook", "command") => Some((SettingKind::Hook, name)),
            ("branch", "mergeoptions") => Some((SettingKind::Options, name)),
            _ => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            SettingKind::Filter => "filter",
            SettingKind::Driver => "merge driver",
            SettingKind::Hook => "hook",
            SettingKind::Options => "merge options of branch",
        }
    }

    /// The settings that switch it off.
    fn off(self, name: &str) -> Vec<Setting> {
        let (section, off): (_, &[(&str, &str)]) = match self {
            SettingKind::Filter => {
                ("filter", &[("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")])
            }
            // An empty one would take one side for the whole; this one finds a conflict.
            SettingKind::Driver => ("merge", &[("driver", "false")]),
            SettingKind::Hook => ("hook", &[("enabled", "false"), ("command", "true")]),
            SettingKind::Options => ("branch", &[("mergeoptions", "")]),
        };
        off.iter().map(|(key, value)| (format!("{section}.{name}.{key}"), (*value).to_owned())).collect()
    }
}

/// Whether a setting is ours in every repository, whatever that says.
fn is_always(name: &str) -> bool {
    ALWAYS.iter().any(|(ours, _)| *ours == name)
}

/// What is off in every repository.
pub(super) fn always() -> Vec<Setting> {
    ALWAYS.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Settings as git takes them from the environment.
pub(super) fn as_variables(settings: &[Setting]) -> Vec<(OsString, OsString)> {
    let each = settings.iter().enumerate().flat_map(|(number, (name, value))| {
        [(format!("GIT_CONFIG_KEY_{number}"), name), (format!("GIT_CONFIG_VALUE_{number}"), value)]
    });
    let count = ("GIT_CONFIG_COUNT".into(), settings.len().to_string().into());
    std::iter::once(count).chain(each.map(|(name, value)| (name.into(), value.into()))).collect()
}
