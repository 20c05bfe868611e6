//! How dangerous a line is, command by command, and what a rule could cover.
//!
//! Low means: reads only, inside the workspace, nothing left open. Everything else starts higher and says why.

use super::looks::{Looking, Looks};
use super::reach::{Leads, Reach, WriteTarget};
use super::surroundings::Surroundings;
use super::table::{self, base, has_option};
use super::touches::{self, Touched};
use super::unwrap::{Bare, commands};
use super::{git, loops, parse, python};
use domain::ask::Risk;
use std::path::PathBuf;

/// Options of Python that change nothing about what the code may do.
const PYTHON_CALM: &[&str] = &["-I", "-u", "-B", "-E", "-s", "-S", "-q"];

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
    /// Whether it only looks, wherever that may be.
    pub looks: bool,
    /// What may allow it.
    pub cover: Cover,
    /// Files that redirections write, canonical.
    pub writes: Vec<PathBuf>,
    /// The script of the workspace that it runs.
    pub script: Option<ScriptFile>,
}

/// A script of the workspace as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptFile {
    /// The program that runs it; nothing where it is run itself.
    pub by: Option<String>,
    /// Where it lies, canonical.
    pub file: PathBuf,
    /// What it holds, as a digest.
    pub digest: String,
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
    /// Whether something in it changes git's own records.
    pub repository: bool,
    /// Whether something in it names a part of the workspace that steers programs, to do more than look at it.
    pub steering: bool,
    /// Whether all that it does is to remove folders that can be built or installed again. Whoever knows the session says so.
    pub only_built: bool,
    /// The files that it touches; `None` where that is not known before it runs.
    pub touches: Option<Touched>,
}

impl Inner {
    /// A command that only looks, until more is found.
    fn looking(bare: &Bare) -> Inner {
        Inner {
            shown: shown(bare),
            risk: Risk::Low,
            looks: true,
            cover: Cover::Free,
            writes: Vec::new(),
            script: None,
        }
    }
}

impl Judgement {
    fn nothing() -> Judgement {
        Judgement {
            inner: Vec::new(),
            doubts: Vec::new(),
            risk: Risk::Low,
            reasons: Vec::new(),
            reversible: true,
            network: false,
            repository: false,
            steering: false,
            only_built: false,
            touches: None,
        }
    }

    /// Whether it only looks, inside the workspace.
    pub fn read_only(&self) -> bool {
        self.doubts.is_empty()
            && self.inner.iter().all(|inner| inner.cover == Cover::Free && inner.writes.is_empty())
    }

    /// Whether it only looks, be it outside the project.
    pub fn looks(&self) -> bool {
        self.doubts.is_empty() && self.inner.iter().all(|inner| inner.looks)
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
pub fn judge(line: &str, place: &dyn Surroundings) -> Judgement {
    let found = commands(line);
    let mut judgement = Judgement { doubts: found.doubts, ..Judgement::nothing() };
    if !line.is_ascii() && !reads_utf8(place) {
        judgement
            .doubts
            .push("a shell may read its letters in another way in the encoding that is set".to_owned());
    }
    let mut reach = Reach::new(place);
    for bare in &found.commands {
        judgement.doubts.extend(reach.follow(&bare.simple.words));
    }
    let looks = Looks::new(&reach, place, &found.commands);
    let mut judge = Judge { reach: &reach, looks: &looks, out: &mut judgement };
    for bare in &found.commands {
        match loops::each_time(bare, &found.commands) {
            Some(times) if judge.only_looks(&times) => judge.looked(bare),
            _ => judge.command(bare),
        }
    }
    let touches = touches::of(&found.commands, &reach, judge.looks, place);
    let fed = found.commands.iter().any(|bare| bare.fed_shell);
    if fed && judgement.network {
        judgement.raise(Risk::Critical, "runs what it fetches from the network");
    }
    for doubt in judgement.doubts.clone() {
        judgement.raise(Risk::High, format!("cannot tell what it runs: {doubt}"));
        judgement.reversible = false;
    }
    // What steers programs is looked at around a command, and git's records hang together.
    let is_plain = judgement.doubts.is_empty() && !judgement.steering && !judgement.repository;
    judgement.touches = touches.filter(|_| is_plain);
    judgement
}

/// Whether the shells will take bytes beyond ASCII for what they are. In some encodings such a byte swallows the backslash or the
/// quote that follows it.
fn reads_utf8(place: &dyn Surroundings) -> bool {
    let set = |name: &&str| place.variable(name).is_some_and(|value| !value.is_empty());
    let language = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find(|name| set(name));
    let value = language.and_then(|name| place.variable(name)).map(|value| value.to_string_lossy());
    !cfg!(target_os = "macos") && value.is_none_or(|value| plain_language(&value))
}

/// Whether a language is one in which shells read what we read.
fn plain_language(value: &str) -> bool {
    let upper = value.to_ascii_uppercase();
    matches!(upper.as_str(), "C" | "POSIX") || upper.ends_with(".UTF-8") || upper.ends_with(".UTF8")
}

struct Judge<'a> {
    reach: &'a Reach<'a>,
    looks: &'a Looks<'a>,
    out: &'a mut Judgement,
}

impl Judge<'_> {
    /// Whether every one of these commands only looks, inside the workspace.
    fn only_looks(&self, commands: &[Bare]) -> bool {
        commands.iter().all(|bare| {
            let mut out = Judgement::nothing();
            let mut judge = Judge { reach: self.reach, looks: self.looks, out: &mut out };
            judge.command(bare);
            out.read_only()
        })
    }

    fn looked(&mut self, bare: &Bare) {
        self.out.inner.push(Inner::looking(bare));
    }

    fn command(&mut self, bare: &Bare) {
        let mut inner = Inner::looking(bare);
        if !bare.simple.words.is_empty() {
            self.words(bare, &mut inner);
        } else if let Some(doubt) = self.looks.other_wrapper(bare) {
            self.never(&mut inner, Risk::High, doubt);
        } else if bare.around.elsewhere {
            self.never(&mut inner, Risk::High, "runs a shell that reads its start files");
        }
        if let Some(reason) = self.variables(bare) {
            self.never(&mut inner, Risk::High, reason);
        }
        let listed = bare.simple.looped.iter().flat_map(|(_, list)| list);
        for word in listed {
            if !self.looks.stays(word) {
                self.never(&mut inner, Risk::High, Leads::Unknown.reason("goes over", word));
            }
        }
        for word in &bare.simple.reads {
            let leads = self.reach.leads(word, true);
            if matches!(leads, Leads::Outside | Leads::Unknown) {
                self.out.raise(Risk::High, leads.reason("reads", word));
                inner.risk = inner.risk.max(Risk::High);
                inner.cover = Cover::Never;
            }
        }
        for word in &bare.simple.writes {
            self.writes(word, &mut inner);
        }
        if bare.open && (inner.looks || inner.cover != Cover::Never) {
            self.never(&mut inner, Risk::High, "runs a command on names that are only known when it runs");
        }
        // A loop over plain words runs nothing by itself.
        if inner.cover != Cover::Free || !inner.shown.is_empty() {
            self.out.inner.push(inner);
        }
    }

    /// It does more than look, and no rule can cover it.
    fn never(&mut self, inner: &mut Inner, risk: Risk, reason: impl Into<String>) {
        self.out.raise(risk, reason);
        inner.risk = inner.risk.max(risk);
        (inner.looks, inner.cover) = (false, Cover::Never);
    }

    fn writes(&mut self, word: &super::Word, inner: &mut Inner) {
        match self.reach.write(word) {
            WriteTarget::Nothing => {}
            WriteTarget::File(path) => {
                self.out.raise(Risk::Medium, format!("writes {}", word.raw));
                inner.risk = inner.risk.max(Risk::Medium);
                inner.looks = false;
                inner.writes.push(path);
            }
            WriteTarget::Steering(reason) => {
                (self.out.steering, self.out.reversible) = (true, false);
                self.never(inner, Risk::High, reason);
            }
            WriteTarget::Dangerous(risk, reason) => {
                self.out.reversible = false;
                self.never(inner, risk, reason);
            }
        }
    }

    /// Why variables around the command make it another command, if they do.
    fn variables(&self, bare: &Bare) -> Option<String> {
        let alone = bare.simple.words.is_empty();
        let odd = bare.simple.assigns.iter().find(|(name, value)| {
            let text = value.text.as_deref();
            // A path there is read by the program.
            let stays = |text: &str| !text.starts_with(['/', ':']) && !text.contains("..");
            let harmless = table::HARMLESS_VARIABLES.contains(&name.as_str()) && text.is_some_and(stays);
            let language =
                table::LANGUAGE_VARIABLES.contains(&name.as_str()) && text.is_some_and(plain_language);
            !(harmless || language || alone && parse::private(name))
        })?;
        Some(format!("sets {}, which may change what runs", odd.0))
    }

    fn words(&mut self, bare: &Bare, inner: &mut Inner) {
        let words = texts(bare);
        let Some(Some(name)) = words.first().copied() else {
            (inner.risk, inner.looks, inner.cover) = (Risk::High, false, Cover::Never);
            return;
        };
        let name = base(name);
        let critical = if bare.rights {
            Some(format!("`{name}` acts with other rights"))
        } else {
            destroys(name, &words)
        };
        if let Some(reason) = critical {
            self.out.reversible = false;
            // Agreed to, it can do what it is there for.
            self.out.repository |= name == "git";
            return self.never(inner, Risk::Critical, reason);
        }
        let look = self.looks.look(name, bare, &words);
        if look == Looking::Inside {
            return;
        }
        self.out.repository |= name == "git" && !matches!(look, Looking::Outside(_));
        (inner.looks, inner.cover) = (false, known_words(&words));
        match look {
            Looking::Inside => {}
            Looking::Outside(reason) => {
                self.out.raise(Risk::High, reason);
                (inner.risk, inner.looks, inner.cover) = (Risk::High, true, Cover::Never);
            }
            Looking::OtherProgram(reason) => {
                self.out.reversible = false;
                self.never(inner, Risk::High, reason);
            }
            Looking::Unsure(reason) => {
                self.out.raise(Risk::High, reason);
                inner.risk = Risk::High;
                self.arguments(bare, inner);
            }
            Looking::No => {
                inner.risk = self.acts(name, &words);
                inner.script = self.script(bare);
                self.arguments(bare, inner);
            }
        }
    }

    /// The script that a command runs, where it is a plain file of the workspace that steers nothing else.
    fn script(&self, bare: &Bare) -> Option<ScriptFile> {
        let mut words = bare.simple.words.iter();
        let first = words.next()?;
        let name = first.text.as_deref()?;
        let (by, word) = match table::RUNS_SCRIPTS.contains(&name) {
            true => (Some(name.to_owned()), words.next()?),
            false => (None, first),
        };
        let path = word.text.as_deref().filter(|_| !word.glob && !word.tilde)?;
        let [base] = self.reach.bases() else { return None };
        let named = by.is_none() && !path.contains('/') || path.starts_with('-');
        let file = self.looks.place().follow(&base.join(path)).filter(|_| !named)?;
        let ours = self.looks.place().inside(&file) && file.metadata().ok()?.is_file();
        let digest = self.looks.place().digest(&file).filter(|_| ours)?;
        Some(ScriptFile { by, file, digest })
    }

    /// What the words of a command that does more than look lead to.
    fn arguments(&mut self, bare: &Bare, inner: &mut Inner) {
        for word in bare.simple.words.iter().skip(1) {
            let leads = self.reach.leads(word, false);
            self.out.steering |= leads == Leads::Steering;
            if leads != Leads::Inside {
                self.out.raise(Risk::High, leads.reason("uses", word));
                inner.cover = Cover::Never;
            } else if word.glob {
                // A file name could look like an option.
                inner.cover = Cover::Never;
            }
        }
        if inner.cover == Cover::Never {
            inner.risk = inner.risk.max(Risk::High);
        }
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
        } else if name == "git" && git::loses(verb, words) {
            (Risk::High, format!("`git {verb}` may lose changes"))
        } else if name == "git" && verb.starts_with('-') {
            (Risk::High, "`git` with options that change what it runs".to_owned())
        } else if table::CHANGES_FILES.contains(&name) {
            (Risk::Medium, format!("`{name}` changes files"))
        } else if table::BUILDS.contains(&name) {
            (Risk::Medium, format!("`{name}` runs code of this project"))
        } else if let Some(reason) = interprets(name, words) {
            // Nobody knows what it leaves behind.
            self.out.reversible = false;
            (Risk::Medium, reason)
        } else if table::RUNS_SCRIPTS.contains(&name) {
            (Risk::High, format!("`{name}` can do anything"))
        } else {
            (Risk::High, format!("unknown command: `{name}`"))
        };
        if risk >= Risk::High {
            self.out.reversible = false;
        }
        self.out.raise(risk, reason);
        risk
    }
}

/// Why code that an interpreter gets is no more alarming than a build, if that is so.
fn interprets(name: &str, words: &[Option<&str>]) -> Option<String> {
    let python = name == "python" || name == "python3" || name.starts_with("python3.");
    let args: Option<Vec<&str>> = words.iter().skip(1).copied().collect();
    let args = args?;
    let mut rest = args.iter().skip_while(|arg| PYTHON_CALM.contains(*arg));
    match rest.next().copied() {
        Some("-c") if python => {
            let code = rest.next()?;
            python::is_mild(code).then(|| format!("`{name}` runs code that seems only to compute and print"))
        }
        _ => None,
    }
}

fn texts(bare: &Bare) -> Vec<Option<&str>> {
    bare.simple.words.iter().map(|word| word.text.as_deref()).collect()
}

/// What a rule may match, when all words are known.
fn known_words(words: &[Option<&str>]) -> Cover {
    let known: Option<Vec<String>> = words.iter().map(|word| word.map(str::to_owned)).collect();
    known.map_or(Cover::Never, Cover::Words)
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
        "git" => return git::destroys(&args),
        _ if table::DESTROYS.contains(&name) || name.starts_with("mkfs") => "cannot be undone",
        _ => return None,
    };
    Some(format!("`{name}` {reason}"))
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
