//! Whether a command only looks, and where: the program must be the one that its name stands for, its options ones that are
//! known, its files in the workspace.

use super::lookers::{self, Reads};
use super::programs::{Program, Programs};
use super::reach::{Leads, Reach};
use super::surroundings::Surroundings;
use super::table::{self, base};
use super::unwrap::Bare;
use super::{BareExpansion, Word, git, small_languages};
use std::collections::HashMap;

/// What a command does to what it names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Looking {
    /// It looks, in the workspace.
    Inside,
    /// It looks, elsewhere.
    Outside(String),
    /// Its name stands for a program that may do anything.
    OtherProgram(String),
    /// It is one that looks, but so called it may do more.
    Unsure(String),
    /// It does something else.
    No,
}

/// What is known about the whole line when one command is looked at.
pub(super) struct Looks<'a> {
    reach: &'a Reach<'a>,
    place: &'a dyn Surroundings,
    programs: Programs<'a>,
    /// Variables that the line sets: whether what they hold stays one plain word.
    variables: HashMap<&'a str, bool>,
}

impl<'a> Looks<'a> {
    pub(super) fn new(reach: &'a Reach<'a>, place: &'a dyn Surroundings, commands: &'a [Bare]) -> Looks<'a> {
        let mut variables = HashMap::new();
        let mut set = |name: &'a str, plain: bool| {
            *variables.entry(name).or_insert(true) &= plain;
        };
        for simple in commands.iter().map(|bare| &bare.simple) {
            for (name, value) in &simple.assigns {
                set(name, is_plain(value));
            }
            if let Some((name, list)) = &simple.looped {
                // The files that fit a pattern are plain enough: `stays` has looked where they are.
                set(name, list.iter().all(|word| word.text.is_some() && (word.glob || is_plain(word))));
            }
        }
        Looks { reach, place, programs: Programs::new(place), variables }
    }

    /// Where the line would run.
    pub(super) fn place(&self) -> &dyn Surroundings {
        self.place
    }

    /// What the command called `name` does.
    pub(super) fn look(&self, name: &str, bare: &Bare, words: &[Option<&str>]) -> Looking {
        let args = words.get(1..).unwrap_or_default();
        let Some(kind) = self.kind(name) else { return Looking::No };
        let sedate = match args.iter().copied().collect::<Option<Vec<&str>>>() {
            // Whatever these get, they only say it.
            None => matches!(name, "echo" | "true" | "false" | ":"),
            Some(known) => self.sedate(&kind, name, bare, &known),
        };
        // It looks only for one word: for all others it is as if it were not known.
        if !sedate && matches!(kind, CommandKind::Version) {
            return Looking::No;
        }
        if let Some(doubt) = self.other_program(&kind, name, bare) {
            return Looking::OtherProgram(doubt);
        }
        if !sedate {
            // These have names of their own for what they do beside looking.
            let many_sided = matches!(kind, CommandKind::Program);
            let reason = format!("`{name}` with words that may make it do more than look");
            return if many_sided { Looking::No } else { Looking::Unsure(reason) };
        }
        if bare.around.elsewhere {
            let reason = format!("`{name}` may be another program there: it is looked for in other places");
            return Looking::Unsure(reason);
        }
        let mut words = bare.simple.words.iter().skip(1);
        match words.find_map(|word| Some((word, self.leaves(&kind, name, word)?))) {
            None => Looking::Inside,
            Some((word, leads)) => Looking::Outside(leads.reason("reads", word)),
        }
    }

    fn kind(&self, name: &str) -> Option<CommandKind> {
        match name {
            "cd" | "set" | "command" | "test" | "[" => Some(CommandKind::Shell),
            "find" | "sed" | "git" | "awk" | "gawk" | "mawk" => Some(CommandKind::Program),
            _ => lookers::find(name)
                .map(CommandKind::Looker)
                .or_else(|| table::TELL_VERSION.contains(&name).then_some(CommandKind::Version)),
        }
    }

    /// Whether it does no more than look when it gets these words.
    fn sedate(&self, kind: &CommandKind, name: &str, bare: &Bare, args: &[&str]) -> bool {
        match name {
            "cd" => args.len() == 1,
            "set" => args.iter().all(|arg| SETS.contains(arg)),
            "command" => matches!(args, ["-v" | "-V", _]),
            "test" | "[" => args.iter().all(|arg| !arg.starts_with('-') || TESTS.contains(arg)),
            "find" => {
                args.iter().all(|arg| !arg.starts_with('-') || number(arg) || table::FIND_LOOKS.contains(arg))
            }
            "sed" => sed_prints(args),
            // A file may be called like a program: no pattern may stand where one stands.
            "awk" | "gawk" | "mawk" | "jq" if bare.simple.words.iter().any(|word| word.glob) => false,
            "awk" | "gawk" | "mawk" => small_languages::awk_prints(args),
            "jq" if !small_languages::jq_prints(args) => false,
            // `-p` sets a variable, and runs what stands in its brackets.
            "wait" => args.is_empty(),
            "git" if args == ["--version"] => true,
            "git" => git::looks(args) && self.reach.bases().iter().all(|base| git::is_plain(base)),
            // In directories it follows links, wherever they lead.
            "diff" if self.names_directory(bare) => false,
            // `-v` and `%n` set a variable: `PATH`, say.
            "printf" => !args.iter().any(|arg| arg.starts_with("-v") || counts(arg)),
            // Anything but a format sets the clock.
            "date" if args.iter().any(|arg| !arg.starts_with(['-', '+'])) => false,
            _ => match kind {
                CommandKind::Looker(looker) => {
                    let globs = looker.most != usize::MAX && bare.simple.words.iter().any(|word| word.glob);
                    looker.sedate(args) && !globs
                }
                CommandKind::Version => args == ["--version"],
                CommandKind::Shell | CommandKind::Program => false,
            },
        }
    }

    /// Why another program than the known one would run, if that is so.
    fn other_program(&self, kind: &CommandKind, name: &str, bare: &Bare) -> Option<String> {
        let builtin = match kind {
            CommandKind::Shell => true,
            CommandKind::Looker(looker) => looker.builtin,
            CommandKind::Program | CommandKind::Version => false,
        };
        if let Some(doubt) = self.other_wrapper(bare) {
            return Some(doubt);
        }
        let said = bare.simple.words.first().and_then(|word| word.text.as_deref()).unwrap_or(name);
        let mut names = Vec::new();
        if !builtin || bare.around.run_by_program || said != base(said) {
            names.push(said);
        }
        if matches!(name, "egrep" | "fgrep") {
            // Scripts, nowadays, that run it.
            names.push("grep");
        }
        let doubt = names.into_iter().find_map(|name| self.doubt(name));
        let chooses = matches!(kind, CommandKind::Version) && !self.programs.is_systems(said);
        doubt.or_else(|| {
            chooses.then(|| format!("`{name}` is not the system's own: it may obey files of the project"))
        })
    }

    /// Why another program than the known one would run around a command, if that is so.
    pub(super) fn other_wrapper(&self, bare: &Bare) -> Option<String> {
        bare.around.wrappers.iter().find_map(|name| self.doubt(name))
    }

    /// Whether a name stands for the program that everybody means by it.
    pub(super) fn is_sure(&self, name: &str) -> bool {
        self.doubt(name).is_none()
    }

    fn doubt(&self, name: &str) -> Option<String> {
        match self.programs.look_up(name) {
            Program::Sure => None,
            Program::Doubtful(why) => Some(why),
        }
    }

    /// Where a word of a command that looks leads, when that is not in the workspace.
    fn leaves(&self, kind: &CommandKind, name: &str, word: &Word) -> Option<Leads> {
        let files = !matches!(kind, CommandKind::Looker(looker) if looker.reads == Reads::Words);
        if !files {
            return (!self.stays(word)).then_some(Leads::Unknown);
        }
        let leads = self.reach.leads(word, name != "cd");
        matches!(leads, Leads::Outside | Leads::Unknown).then_some(leads)
    }

    /// Whether a word that names no file still makes the shell look for none outside: patterns do, also those that come out of a
    /// variable.
    pub(super) fn stays(&self, word: &Word) -> bool {
        let plain = word.spills.iter().all(|spill| match spill {
            BareExpansion::Anything => false,
            // What neither the line nor the shell sets comes from the person.
            BareExpansion::Variable(name) => {
                self.variables.get(name.as_str()).copied().unwrap_or(!set_by_shell(name))
            }
        });
        plain && (!word.glob || self.reach.leads(word, true) == Leads::Inside)
    }

    /// Whether an argument may be a directory.
    fn names_directory(&self, bare: &Bare) -> bool {
        bare.simple.words.iter().skip(1).any(|word| {
            let text = word.text.as_deref().unwrap_or_default();
            word.glob || self.reach.bases().iter().any(|base| base.join(text).is_dir())
        })
    }
}

/// Whether a shell puts words of the line itself into this variable.
fn set_by_shell(name: &str) -> bool {
    name == "_"
        || name.starts_with("BASH")
        || ["REPLY", "MAPFILE", "COPROC", "FUNCNAME", "DIRSTACK"].contains(&name)
}

enum CommandKind {
    /// A word of the shell.
    Shell,
    /// A program that has a reader of its own for its words.
    Program,
    Looker(&'static lookers::Looker),
    /// It only looks when it tells its version.
    Version,
}

const SETS: &[&str] = &["-e", "-u", "-x", "-eu", "-ex", "-eux", "-euo", "-euxo", "-o", "pipefail"];
const TESTS: &[&str] = &[
    "-f", "-d", "-e", "-s", "-r", "-w", "-x", "-n", "-z", "-L", "-h", "-nt", "-ot", "-eq", "-ne", "-lt",
    "-gt", "-le", "-ge", "-a", "-o",
];

/// Whether what is put into a variable is text that no shell takes for a pattern.
fn is_plain(word: &Word) -> bool {
    word.text.as_deref().is_some_and(|text| !text.contains(['*', '?', '[', '\\']))
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
