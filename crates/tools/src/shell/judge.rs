//! How dangerous a line is, command by command, and what a rule could cover.
//!
//! Low means: reads only, inside the workspace, nothing left open. Everything else starts higher and says why.

use super::reach::{Leads, Reach, Written};
use super::table::{self, base, has_option};
use super::unwrap::{Bare, commands};
use super::{Word, git, parse};
use crate::place::Workplace;
use domain::ask::Risk;
use std::path::PathBuf;

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
    let mut reach = Reach::new(place);
    for bare in &found.commands {
        judgement.doubts.extend(reach.follow(&bare.simple.words));
    }
    let mut judge = Judge { reach, out: &mut judgement };
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
    reach: Reach<'a>,
    out: &'a mut Judgement,
}

impl Judge<'_> {
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
            let leads = self.reach.leads(word, true);
            if matches!(leads, Leads::Outside | Leads::Unknown) {
                self.out.raise(Risk::High, leads.reason("reads", word));
                (risk, cover) = (risk.max(Risk::High), Cover::Never);
            }
        }
        let mut writes = Vec::new();
        for word in &bare.simple.writes {
            match self.reach.write(word) {
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
            let leads = self.reach.leads(word, false);
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
        } else if name == "git" && git::loses(verb, words) {
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
        if matches!(known.as_slice(), ["--version"]) && table::TELL_VERSION.contains(&name) {
            return true;
        }
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
            // In directories it follows links, wherever they lead.
            "diff" if self.names_directory(bare) => return false,
            // `%n` sets a variable: `PATH`, say.
            "printf" if known.iter().any(|arg| counts(arg)) => return false,
            // Anything but a format sets the clock.
            "date" if known.iter().any(|arg| !arg.starts_with(['-', '+'])) => return false,
            "git" => return git::looks(&known) && self.reach.bases().iter().all(|base| git::is_plain(base)),
            _ => {}
        }
        let Some(looker) = table::LOOKERS.iter().find(|looker| looker.name == name) else { return false };
        // A dash alone is a file, and after two of them everything is.
        let options = known.iter().position(|arg| *arg == "--").unwrap_or(known.len());
        let names = |(at, arg): &(usize, &&str)| *at > options || **arg == "-" || !arg.starts_with('-');
        let plain = known.iter().enumerate().filter(names).count();
        let sedate = !known.iter().any(|arg| has_option(arg, looker.short, looker.long));
        let globs = looker.most != usize::MAX && bare.simple.words.iter().any(|word| word.glob);
        sedate && !globs && plain <= looker.most && (!bare.open || !looker.files)
    }

    /// Whether an argument may be a directory.
    fn names_directory(&self, bare: &Bare) -> bool {
        bare.simple.words.iter().skip(1).any(|word| {
            let text = word.text.as_deref().unwrap_or_default();
            word.glob || self.reach.bases().iter().any(|base| base.join(text).is_dir())
        })
    }

    /// Where a command that looks would look, when that is not in the workspace.
    fn leaves(&self, name: &str, word: &Word) -> Option<Leads> {
        let files =
            table::LOOKERS.iter().find(|looker| looker.name == name).is_none_or(|looker| looker.files);
        let leads = if files { self.reach.leads(word, name != "cd") } else { Leads::Inside };
        matches!(leads, Leads::Outside | Leads::Unknown).then_some(leads)
    }
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

/// Whether a format tells `printf` to put how much it has written into a variable.
fn counts(format: &str) -> bool {
    format.split('%').skip(1).any(|rest| {
        let rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphabetic() || "hjlLtz".contains(c));
        rest.starts_with('n')
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
