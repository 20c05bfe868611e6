//! How dangerous a line is, command by command, and what a rule could cover.
//!
//! Low means: reads only, inside the workspace, nothing left open. Everything else starts higher and says why.

use super::table::{self, base, has_option};
use super::unwrap::{Bare, commands};
use super::{Word, parse};
use crate::place::Workplace;
use domain::ask::Risk;
use std::path::{Path, PathBuf};

/// Directories that a line may move to before we lose track.
const MAX_BASES: usize = 8;
/// Directory entries looked at for one file pattern.
const MAX_LOOKED: usize = 2000;
/// Bytes of a repository's config that are looked at.
const MAX_CONFIG: u64 = 64 * 1024;
/// Device files that harm nobody.
const TAME_DEVICES: &[&str] =
    &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2"];

/// What it takes to let a command run without asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cover {
    /// Nothing: it only looks.
    Free,
    /// A rule that matches these words, and one for each file written.
    Words(Vec<String>),
    /// No rule can: it must be asked.
    Never,
}

/// One command found inside a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inner {
    /// As a person reads it.
    pub shown: String,
    /// How dangerous it is.
    pub risk: Risk,
    /// What may allow it.
    pub cover: Cover,
    /// Files that redirections write, canonical.
    pub writes: Vec<PathBuf>,
}

/// What a line would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Every command inside it.
    pub inner: Vec<Inner>,
    /// What could not be told; with any of these no rule applies.
    pub doubts: Vec<String>,
    /// The highest risk.
    pub risk: Risk,
    /// Why, in words for the person.
    pub reasons: Vec<String>,
    /// Whether it can be undone.
    pub reversible: bool,
    /// Whether something in it needs the network.
    pub network: bool,
}

impl Judgement {
    /// Whether it only looks, inside the workspace.
    pub fn read_only(&self) -> bool {
        self.doubts.is_empty()
            && self.inner.iter().all(|inner| inner.cover == Cover::Free && inner.writes.is_empty())
    }

    fn raise(&mut self, risk: Risk, reason: impl Into<String>) {
        let reason = reason.into();
        self.risk = self.risk.max(risk);
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }
}

/// Reads `line` as bash would and judges every command in it. Looks at the file system, changes nothing.
pub fn judge(line: &str, place: &Workplace) -> Judgement {
    let found = commands(line);
    let mut judgement = Judgement {
        inner: Vec::new(),
        doubts: found.doubts,
        risk: Risk::Low,
        reasons: Vec::new(),
        reversible: true,
        network: false,
    };
    let mut judge = Judge { place, bases: vec![place.workdir().to_owned()], out: &mut judgement };
    for bare in &found.commands {
        judge.follow(bare);
    }
    for bare in &found.commands {
        judge.command(bare);
    }
    let fed = found.commands.iter().any(|bare| bare.fed_shell);
    if fed && judgement.network {
        judgement.raise(Risk::Critical, "runs what it fetches from the network");
    }
    for doubt in judgement.doubts.clone() {
        judgement.raise(Risk::High, format!("cannot tell what it runs: {doubt}"));
        judgement.reversible = false;
    }
    judgement
}

struct Judge<'a> {
    place: &'a Workplace,
    /// Every directory that the line may be in at some point.
    bases: Vec<PathBuf>,
    out: &'a mut Judgement,
}

/// Where a word leads.
#[derive(PartialEq, Eq)]
enum Leads {
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
    fn reason(&self, verb: &str, word: &Word) -> String {
        match self {
            Leads::Inside => format!("{verb} {}", word.raw),
            Leads::Unknown => format!("{verb} {}, which is only known when it runs", word.raw),
            Leads::Outside => format!("{verb} {}, outside the workspace", word.raw),
            Leads::Steering => format!("{verb} {}, which steers what programs do here", word.raw),
        }
    }
}

impl Judge<'_> {
    /// Notes where `cd` may lead.
    fn follow(&mut self, bare: &Bare) {
        let words = texts(bare);
        if words.first() != Some(&Some("cd")) {
            return;
        }
        let target = match words.get(1..) {
            Some([Some(dir)]) if !dir.starts_with('-') && !dir.is_empty() => *dir,
            _ => {
                self.out.doubts.push("`cd` leads to a place that is not known".to_owned());
                return;
            }
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
            self.out.doubts.push("it changes directory too often".to_owned());
        }
    }

    fn command(&mut self, bare: &Bare) {
        let mut cover = Cover::Free;
        let mut risk = Risk::Low;
        let variables = self.variables(bare);
        if !bare.simple.words.is_empty() {
            (risk, cover) = self.words(bare);
        }
        if let Some(reason) = variables {
            self.out.raise(Risk::High, reason);
            (risk, cover) = (risk.max(Risk::High), Cover::Never);
        }
        for word in &bare.simple.reads {
            let leads = self.leads(word, true);
            if matches!(leads, Leads::Outside | Leads::Unknown) {
                self.out.raise(Risk::High, leads.reason("reads", word));
                (risk, cover) = (risk.max(Risk::High), Cover::Never);
            }
        }
        let mut writes = Vec::new();
        for word in &bare.simple.writes {
            match self.write(word) {
                Written::Nothing => {}
                Written::File(path) => {
                    self.out.raise(Risk::Medium, format!("writes {}", word.raw));
                    risk = risk.max(Risk::Medium);
                    writes.push(path);
                }
                Written::Dangerous(level, reason) => {
                    self.out.raise(level, reason);
                    self.out.reversible = false;
                    (risk, cover) = (risk.max(level), Cover::Never);
                }
            }
        }
        if bare.open && cover != Cover::Never {
            self.out.raise(Risk::High, "runs a command on names that are only known when it runs");
            (risk, cover) = (risk.max(Risk::High), Cover::Never);
        }
        self.out.inner.push(Inner { shown: shown(bare), risk, cover, writes });
    }

    /// Why variables around the command make it another command, if they do.
    fn variables(&self, bare: &Bare) -> Option<String> {
        let alone = bare.simple.words.is_empty();
        let odd = bare.simple.assigns.iter().find(|(name, _)| {
            let known = table::HARMLESS_VARIABLES.contains(&name.as_str());
            !(known || alone && parse::private(name))
        })?;
        Some(format!("sets {}, which may change what runs", odd.0))
    }

    fn words(&mut self, bare: &Bare) -> (Risk, Cover) {
        let words = texts(bare);
        let Some(Some(name)) = words.first().copied() else { return (Risk::High, Cover::Never) };
        let name = base(name);
        if bare.rights {
            self.out.raise(Risk::Critical, format!("`{name}` acts with other rights"));
            self.out.reversible = false;
            return (Risk::Critical, Cover::Never);
        }
        if let Some(reason) = destroys(name, &words) {
            self.out.raise(Risk::Critical, reason);
            self.out.reversible = false;
            return (Risk::Critical, Cover::Never);
        }
        if self.looks(name, bare, &words) {
            let mut words = bare.simple.words.iter().skip(1);
            return match words.find_map(|word| Some((word, self.leaves(name, word)?))) {
                None => (Risk::Low, Cover::Free),
                Some((word, leads)) => {
                    self.out.raise(Risk::High, leads.reason("reads", word));
                    (Risk::High, Cover::Never)
                }
            };
        }
        let risk = self.acts(name, &words);
        let mut cover = match words.iter().map(|word| word.map(str::to_owned)).collect::<Option<Vec<_>>>() {
            Some(words) => Cover::Words(words),
            None => Cover::Never,
        };
        for word in bare.simple.words.iter().skip(1) {
            let leads = self.leads(word, false);
            if leads != Leads::Inside {
                self.out.raise(Risk::High, leads.reason("names", word));
                cover = Cover::Never;
            } else if word.glob {
                // A file name could look like an option.
                cover = Cover::Never;
            }
        }
        let lifted = if cover == Cover::Never { risk.max(Risk::High) } else { risk };
        (lifted, cover)
    }

    /// Risk of a command that does more than look.
    fn acts(&mut self, name: &str, words: &[Option<&str>]) -> Risk {
        let verb = words.get(1).copied().flatten().unwrap_or_default();
        let reaches = table::NETWORK.contains(&name)
            || table::NETWORK_VERBS.iter().any(|(program, verbs)| *program == name && verbs.contains(&verb));
        let (risk, reason) = if reaches {
            self.out.network = true;
            (Risk::High, format!("`{name}` uses the network"))
        } else if table::SYSTEM.contains(&name) {
            (Risk::High, format!("`{name}` changes the system"))
        } else if name == "rm" || name == "unlink" {
            (Risk::High, "deletes files".to_owned())
        } else if name == "git" && loses(verb, words) {
            (Risk::High, format!("`git {verb}` may lose changes"))
        } else if name == "git" && verb.starts_with('-') {
            (Risk::High, "`git` with options that change what it runs".to_owned())
        } else if table::CHANGES_FILES.contains(&name) {
            (Risk::Medium, format!("`{name}` changes files"))
        } else if table::BUILDS.contains(&name) {
            (Risk::Medium, format!("`{name}` works on this workspace and runs its code"))
        } else {
            (Risk::High, format!("`{name}` may do anything"))
        };
        if risk >= Risk::High {
            self.out.reversible = false;
        }
        self.out.raise(risk, reason);
        risk
    }

    /// Whether the command only looks, wherever it looks.
    fn looks(&self, name: &str, bare: &Bare, words: &[Option<&str>]) -> bool {
        let args = words.get(1..).unwrap_or_default();
        let Some(known) = args.iter().copied().collect::<Option<Vec<&str>>>() else {
            // Whatever these get, they only say it.
            return matches!(name, "echo" | "true" | "false" | ":");
        };
        match name {
            "cd" => return known.len() == 1,
            "set" => {
                return known.iter().all(|arg| {
                    ["-e", "-u", "-x", "-eu", "-ex", "-eux", "-euo", "-euxo", "-o", "pipefail"].contains(arg)
                });
            }
            "command" => return known.len() == 2,
            "test" | "[" => return known.iter().all(|arg| !arg.starts_with('-') || TESTS.contains(arg)),
            "find" => {
                return known
                    .iter()
                    .all(|arg| !arg.starts_with('-') || number(arg) || table::FIND_LOOKS.contains(arg));
            }
            "sed" => return sed_prints(&known),
            "git" => return self.git_looks(&known),
            _ => {}
        }
        if let [flag] = known.as_slice()
            && ["--version", "-V"].contains(flag)
            && (table::BUILDS.contains(&name) || ["python", "python3", "node"].contains(&name))
            && !name.contains('/')
        {
            return true;
        }
        let Some(looker) = table::LOOKERS.iter().find(|looker| looker.name == name) else { return false };
        let plain = known.iter().filter(|arg| !arg.starts_with('-')).count();
        let sedate = !known.iter().any(|arg| has_option(arg, looker.short, looker.long));
        let globs = looker.most != usize::MAX && bare.simple.words.iter().any(|word| word.glob);
        sedate && !globs && plain <= looker.most && (!bare.open || !looker.files)
    }

    fn git_looks(&self, args: &[&str]) -> bool {
        let args = match args {
            ["--no-pager" | "-P", rest @ ..] => rest,
            all => all,
        };
        let Some((verb, rest)) = args.split_first() else { return false };
        let listed = table::GIT_LISTS.contains(&args);
        let sedate = !rest.iter().any(|arg| has_option(arg, table::GIT_SHORT, table::GIT_LONG));
        (listed || table::GIT_LOOKS.contains(verb) && sedate)
            && self.bases.iter().all(|base| git_is_plain(base))
    }

    /// Where a command that looks would look, when that is not in the workspace.
    fn leaves(&self, name: &str, word: &Word) -> Option<Leads> {
        let files =
            table::LOOKERS.iter().find(|looker| looker.name == name).is_none_or(|looker| looker.files);
        let leads = if files { self.leads(word, name != "cd") } else { Leads::Inside };
        matches!(leads, Leads::Outside | Leads::Unknown).then_some(leads)
    }

    /// Where a word may lead, from every directory that the line may be in. With `existing`, what is not there does not count:
    /// it cannot be read.
    fn leads(&self, word: &Word, existing: bool) -> Leads {
        if word.tilde {
            return Leads::Outside;
        }
        let Some(text) = word.text.as_deref() else { return Leads::Unknown };
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
        let Some(joined) = joined.to_str() else { return Leads::Outside };
        if glob && part.contains(['*', '?', '[']) {
            return if self.pattern_stays(joined, part) { Leads::Inside } else { Leads::Outside };
        }
        // A name that is too long or too odd for the file system names nothing.
        let Ok(path) = self.place.resolve(joined) else {
            return if existing && !part.contains("..") { Leads::Inside } else { Leads::Outside };
        };
        if existing && !path.exists() && !joined.starts_with("/dev/") {
            return Leads::Inside;
        }
        if !self.place.readable(&path) && !TAME_DEVICES.contains(&joined) {
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
        if rest.contains(&"..") {
            return false;
        }
        let Ok(start) = self.place.resolve(if start.is_empty() { "/" } else { &start }) else { return false };
        let mut looked = 0;
        // A pattern without a directory may match a file whose name is an option.
        let open = written.starts_with(['*', '?', '[']);
        if open && has_dashed(&start) {
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

    fn write(&self, word: &Word) -> Written {
        let Some(text) = word.text.as_deref().filter(|_| !word.glob && !word.tilde) else {
            return Written::Dangerous(
                Risk::High,
                format!("writes to {}, which is only known when it runs", word.raw),
            );
        };
        if TAME_DEVICES.contains(&text) {
            return Written::Nothing;
        }
        if text.starts_with("/dev/") {
            return Written::Dangerous(Risk::Critical, format!("writes to the device {text}"));
        }
        let mut last = None;
        for base in &self.bases {
            let joined = base.join(text);
            let path = joined.to_str().and_then(|joined| self.place.resolve(joined).ok());
            match path {
                Some(path) if self.place.inside(&path) => {
                    if let Some(part) = self.place.steering(&path) {
                        let reason = format!("changes `{part}`, which steers what programs do here");
                        return Written::Dangerous(Risk::High, reason);
                    }
                    last = Some(path);
                }
                _ => return Written::Dangerous(Risk::High, format!("writes {text}, outside the workspace")),
            }
        }
        match (last, self.bases.len()) {
            (Some(path), 1) => Written::File(path),
            _ => Written::Dangerous(Risk::Medium, format!("writes {text} after changing directory")),
        }
    }
}

enum Written {
    Nothing,
    File(PathBuf),
    Dangerous(Risk, String),
}

const TESTS: &[&str] = &[
    "-f", "-d", "-e", "-s", "-r", "-w", "-x", "-n", "-z", "-L", "-h", "-nt", "-ot", "-eq", "-ne", "-lt",
    "-gt", "-le", "-ge", "-a", "-o",
];

fn texts(bare: &Bare) -> Vec<Option<&str>> {
    bare.simple.words.iter().map(|word| word.text.as_deref()).collect()
}

fn number(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|digits| digits.chars().all(|c| c.is_ascii_digit()))
}

/// The ways in which an argument may name a file: itself, each piece of it, what is glued to a short option.
fn readings(text: &str) -> Vec<&str> {
    let parts = |c: char| c.is_whitespace() || "=:,@\"'()[]{};".contains(c);
    let mut readings = vec![text];
    readings.extend(text.split(parts));
    if text.starts_with('-') && !text.starts_with("--") {
        let glued = text.char_indices().skip(2).map(|(at, _)| at);
        readings
            .extend(glued.filter_map(|at| text.get(at..)).filter(|rest| rest.starts_with(['/', '.', '~'])));
    }
    readings.retain(|part| !part.is_empty());
    readings
}

/// The path with its steps back taken along the names, links not followed.
fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::ParentDir => {
                out.pop();
            }
            std::path::Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

fn has_dashed(dir: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(dir) else { return false };
    let mut names = entries.take(MAX_LOOKED + 1).enumerate();
    names.any(|(count, entry)| {
        count == MAX_LOOKED || entry.is_ok_and(|entry| entry.file_name().as_encoded_bytes().starts_with(b"-"))
    })
}

fn sed_prints(args: &[&str]) -> bool {
    let ["-n", script, files @ ..] = args else { return false };
    let range = script.strip_suffix('p').unwrap_or_default();
    let plain = !range.is_empty() && range.chars().all(|c| c.is_ascii_digit() || c == ',' || c == '$');
    plain && files.iter().all(|file| !file.starts_with('-'))
}

/// Why a command cannot be undone, if it is one of those.
fn destroys(name: &str, words: &[Option<&str>]) -> Option<String> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let args: Vec<&str> = words.iter().skip(1).flatten().copied().collect();
    let any = |short: &str, long: &[&str]| args.iter().any(|arg| has_option(arg, short, long));
    let reason = match name {
        "rm" if any("rR", &["--recursive", "--no-preserve-root"]) => "deletes whole directories",
        "chmod" | "chown" | "chgrp" if any("R", &["--recursive"]) => "changes rights of whole directories",
        "find" if args.contains(&"-delete") => "deletes every file it finds",
        "git" => return git_destroys(&args),
        _ if table::DESTROYS.contains(&name) || name.starts_with("mkfs") => "cannot be undone",
        _ => return None,
    };
    Some(format!("`{name}` {reason}"))
}

fn git_destroys(args: &[&str]) -> Option<String> {
    let has = |short: &str, long: &[&str]| args.iter().any(|arg| has_option(arg, short, long));
    let verb = args.iter().find(|arg| !arg.starts_with('-'))?;
    let lost = match *verb {
        "push" => {
            has("fd", &["--force", "--force-with-lease", "--mirror", "--delete", "--prune"])
                || args.iter().any(|arg| arg.starts_with(['+', ':']))
        }
        "reset" => has("", &["--hard"]),
        "clean" => has("fdxX", &["--force"]),
        "filter-branch" | "filter-repo" => true,
        "reflog" => args.contains(&"expire") || args.contains(&"delete"),
        "stash" => args.contains(&"clear") || args.contains(&"drop"),
        _ => false,
    };
    lost.then(|| format!("`git {verb}` throws work away"))
}

fn loses(verb: &str, words: &[Option<&str>]) -> bool {
    let deletes = || words.iter().flatten().any(|arg| has_option(arg, "dDfM", &["--delete", "--force"]));
    matches!(
        verb,
        "checkout"
            | "restore"
            | "switch"
            | "reset"
            | "clean"
            | "update-ref"
            | "gc"
            | "prune"
            | "worktree"
            | "config"
    ) || matches!(verb, "branch" | "tag") && deletes()
}

/// Whether git, started in `dir`, would obey a config that makes it run nothing else.
fn git_is_plain(dir: &Path) -> bool {
    for dir in dir.ancestors() {
        let dot = dir.join(".git");
        match std::fs::symlink_metadata(&dot) {
            Ok(meta) if meta.is_dir() => {
                // Submodules bring configs of their own.
                let more = ["config.worktree", "modules"].iter().any(|name| dot.join(name).exists());
                return !more && !dir.join(".gitmodules").exists() && config_is_plain(&dot.join("config"));
            }
            Ok(_) => return false,
            Err(_) => {}
        }
        // A directory that is itself a bare repository brings its own config.
        if dir.join("HEAD").exists() && dir.join("objects").exists() {
            return false;
        }
    }
    true
}

fn config_is_plain(path: &Path) -> bool {
    match std::fs::metadata(path) {
        Ok(meta) if meta.len() <= MAX_CONFIG => {}
        _ => return false,
    }
    let Ok(text) = std::fs::read_to_string(path) else { return false };
    let text = text.to_ascii_lowercase();
    !table::GIT_RUNS.iter().any(|word| text.contains(word))
}

fn shown(bare: &Bare) -> String {
    let mut pieces: Vec<String> =
        bare.simple.assigns.iter().map(|(name, value)| format!("{name}={}", value.raw)).collect();
    pieces.extend(bare.simple.words.iter().map(|word| word.raw.clone()));
    pieces.extend(bare.simple.reads.iter().map(|word| format!("< {}", word.raw)));
    pieces.extend(bare.simple.writes.iter().map(|word| format!("> {}", word.raw)));
    if bare.open {
        pieces.push("…".to_owned());
    }
    pieces.join(" ")
}
