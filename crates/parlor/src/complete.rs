//! Completions: a few lines for each shell, which ask the program at each Tab what can stand at the cursor.
//!
//! What there is comes from the command line as clap knows it, so nothing here names a flag; only values that are kept somewhere (sessions,
//! models, agents …) have a list of their own, in `complete/kept.rs`.
//!
//! Invariants: nothing is written, started or asked over the network, and what cannot be read is an empty list: a Tab has nobody to tell.
//! What others named (titles, branches) reaches the terminal without controls.

mod kept;

use crate::cli::{Cli, Shell};
use crate::{environment, output};
use clap::{Arg, Command, CommandFactory};
use domain::harmless::{clean, in_line};
use std::any::TypeId;
use std::ffi::OsString;
use std::path::PathBuf;

/// The word that the shells call the program with, then a name of [`Asks`] and what is typed.
pub(crate) const COMPLETE: &str = "__complete";
/// The longest text beside a value, in letters.
const MAX_ABOUT: usize = 60;

const BASH: &str = include_str!("complete/parlor.bash");
const ZSH: &str = include_str!("complete/parlor.zsh");
const FISH: &str = include_str!("complete/parlor.fish");

impl Shell {
    /// The file for the shell to read.
    pub(crate) fn script(self) -> anyhow::Result<String> {
        let mut script = Vec::new();
        match self {
            Shell::Bash => return Ok(BASH.to_owned()),
            Shell::Zsh => return Ok(ZSH.to_owned()),
            Shell::Fish => return Ok(FISH.to_owned()),
            // They know commands and flags, and ask nobody.
            Shell::Elvish => {
                clap_complete::generate(
                    clap_complete::shells::Elvish,
                    &mut Cli::command(),
                    "parlor",
                    &mut script,
                );
            }
            Shell::Powershell => {
                clap_complete::generate(
                    clap_complete::shells::PowerShell,
                    &mut Cli::command(),
                    "parlor",
                    &mut script,
                );
            }
        }
        Ok(String::from_utf8(script)?)
    }
}

/// What can stand at the cursor.
#[derive(Debug, Default, PartialEq, Eq)]
struct Answer {
    found: Vec<Candidate>,
    /// What of the disk can stand there, too.
    disk: Option<Disk>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    value: String,
    about: String,
}

impl Candidate {
    fn new(value: impl Into<String>, about: &str) -> Candidate {
        let about: String = in_line(&clean(about)).chars().take(MAX_ABOUT).collect();
        Candidate { value: value.into(), about }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disk {
    Files,
    Folders,
}

impl Disk {
    /// As the scripts know it.
    fn word(self) -> &'static str {
        match self {
            Disk::Files => ":files",
            Disk::Folders => ":folders",
        }
    }
}

/// Answers a shell: `bash LINE BREAKS TYPE`, or `zsh` and `fish` with the words behind `parlor`.
pub(crate) fn answer(asked: &[OsString]) {
    let asked: Vec<String> = asked.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match asked.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["bash", line, breaks, kind] => {
            let words = shell_words(line);
            let typed: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
            // By `%` and `*` bash puts in what it is given; else one of several is looked at first.
            let only_values = ["37", "42"].contains(kind);
            told(&at_cursor(&typed, kept::values), |all, one| {
                for_bash(all, one, &typed, breaks, only_values)
            });
        }
        ["zsh", words @ ..] => told(&at_cursor(words, kept::values), |_, one| {
            format!("{}:{}", one.value.replace(':', "\\:"), one.about)
        }),
        ["fish", words @ ..] => {
            told(&at_cursor(words, kept::values), |_, one| format!("{}\t{}", one.value, one.about));
        }
        _ => {}
    }
}

fn told(answer: &Answer, line: impl Fn(&Answer, &Candidate) -> String) {
    for one in &answer.found {
        output::print_line(&line(answer, one));
    }
    if let Some(disk) = answer.disk {
        output::print_line(disk.word());
    }
}

/// Bash puts in what begins all lines, behind the last letter of the word that it breaks words at; what a value is stands beside it only
/// while there are several.
fn for_bash(all: &Answer, one: &Candidate, typed: &[&str], breaks: &str, only_values: bool) -> String {
    let word = typed.last().copied().unwrap_or_default();
    let from = word.rfind(|letter| breaks.contains(letter)).map_or(0, |at| at + 1);
    let value: String = one
        .value
        .get(from..)
        .unwrap_or_default()
        .chars()
        .flat_map(|letter| {
            let plain = letter.is_alphanumeric() || "-_./:=,@+%".contains(letter);
            (!plain).then_some('\\').into_iter().chain([letter])
        })
        .collect();
    if only_values || all.found.len() < 2 || one.about.is_empty() {
        return value;
    }
    format!("{value}  ({})", one.about)
}

/// The words of a line up to the cursor, without their quotes; the last one is at the cursor, and may be empty.
fn shell_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None | Some('"'), '\\') => word.extend(letters.next()),
            (None, _) if letter.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(letter),
        }
    }
    words.push(word);
    words
}

/// Where the words before the cursor lead to.
struct Place<'c> {
    root: &'c Command,
    /// The commands, from the first one behind `parlor` on.
    path: Vec<&'c Command>,
    /// The flag whose value is at the cursor.
    flag: Option<&'c Arg>,
    /// How many words stand in the place of arguments.
    arguments: usize,
    /// Whether `--` is before.
    behind: bool,
}

impl<'c> Place<'c> {
    fn of(root: &'c Command, before: &[&str]) -> Place<'c> {
        let mut place = Place { root, path: Vec::new(), flag: None, arguments: 0, behind: false };
        let mut values = 0;
        for word in before {
            if place.behind {
                place.arguments += 1;
            } else if place.flag.is_some_and(|flag| !may_be_left_out(flag) || !word.starts_with('-')) {
                values -= 1;
                if values == 0 {
                    place.flag = None;
                }
            } else if *word == "--" {
                (place.flag, place.behind) = (None, true);
            } else if word.starts_with('-') && word.len() > 1 {
                place.flag = place.awaiting(word);
                values = place.flag.map_or(0, most_values);
            } else if let Some(sub) = place.command().find_subcommand(word).filter(|_| place.arguments == 0) {
                place.path.push(sub);
            } else {
                place.arguments += 1;
            }
        }
        place
    }

    fn command(&self) -> &'c Command {
        self.path.last().copied().unwrap_or(self.root)
    }

    fn path_names(&self) -> Vec<&'c str> {
        self.path.iter().map(|command| command.get_name()).collect()
    }

    /// The flags that can be typed here.
    fn flags(&self) -> impl Iterator<Item = &'c Arg> {
        let of_all =
            self.root.get_arguments().filter(|_| !self.path.is_empty()).filter(|arg| arg.is_global_set());
        self.command().get_arguments().chain(of_all).filter(|arg| !arg.is_positional() && !arg.is_hide_set())
    }

    fn named(&self, long: &str) -> Option<&'c Arg> {
        self.flags().find(|arg| {
            arg.get_long() == Some(long) || arg.get_all_aliases().is_some_and(|all| all.contains(&long))
        })
    }

    /// The flag of this word, if its value is the next word.
    fn awaiting(&self, word: &str) -> Option<&'c Arg> {
        let flag = match word.strip_prefix("--") {
            Some(long) => self.named(long),
            None => {
                let last = word.chars().last();
                self.flags().find(|arg| arg.get_short() == last)
            }
        };
        flag.filter(|flag| flag.get_action().takes_values() && !flag.is_require_equals_set())
    }

    /// What stands here if it is no flag.
    fn argument(&self) -> Option<&'c Arg> {
        let all: Vec<&Arg> =
            self.command().get_positionals().filter(|arg| arg.is_last_set() == self.behind).collect();
        let many = all.last().is_some_and(|last| most_values(last) > 1);
        all.get(self.arguments).or_else(|| all.last().filter(|_| many)).copied()
    }
}

fn most_values(arg: &Arg) -> usize {
    let many = matches!(arg.get_action(), clap::ArgAction::Append) && arg.is_positional();
    arg.get_num_args().map_or(if many { usize::MAX } else { 1 }, |range| range.max_values())
}

fn may_be_left_out(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|range| range.min_values() == 0)
}

/// What can stand in the place of the last of these words. `kept` gives the values of an argument of a command, where they are kept.
fn at_cursor(words: &[&str], kept: impl Fn(&[&str], &Arg) -> Vec<Candidate>) -> Answer {
    let (word, before) = words.split_last().map_or(("", &[][..]), |(word, before)| (*word, before));
    // The words that editors are told mean `serve`.
    let as_typed: Vec<&str> = match before {
        [first, rest @ ..] if crate::serve::argv_compat::words_in_help().any(|(word, _)| word == *first) => {
            ["serve"].into_iter().chain(rest.iter().copied()).collect()
        }
        _ => before.to_vec(),
    };
    let line: Vec<OsString> = ["parlor"].iter().chain(&as_typed).map(OsString::from).collect();
    let cli = environment::with_heeded(Cli::command(), &line);
    if let ["help"] = as_typed.as_slice() {
        let mut answer = Answer { found: commands(&cli), disk: None };
        answer.found.extend(crate::topics::all().map(|(name, title)| Candidate::new(name, title)));
        return answer.beginning("", word);
    }
    let place = Place::of(&cli, &as_typed);
    let value = |arg: &Arg, before: &str, typed: &str| {
        let list = arg.get_value_delimiter().and_then(|comma| typed.rfind(comma)).map_or(0, |at| at + 1);
        let (before, typed) = (format!("{before}{}", &typed[..list]), &typed[list..]);
        of_value(&place, arg, typed, &kept).beginning(&before, typed)
    };
    if let Some(flag) = place.flag {
        return value(flag, "", word);
    }
    if !place.behind
        && let Some((long, typed)) = word.strip_prefix("--").and_then(|long| long.split_once('='))
    {
        let flag = place.named(long).filter(|flag| flag.get_action().takes_values());
        return flag.map_or_else(Answer::default, |flag| value(flag, &format!("--{long}="), typed));
    }
    if !place.behind && word.starts_with('-') {
        return flags(&place).beginning("", word);
    }
    let mut answer = place.argument().map_or_else(Answer::default, |arg| value(arg, "", word));
    if !place.behind && place.arguments == 0 {
        answer
            .found
            .extend(Answer { found: commands(place.command()), disk: None }.beginning("", word).found);
        if place.path.is_empty() {
            let words = crate::serve::argv_compat::words_in_help();
            let words = words.map(|(word, about)| Candidate::new(word, &about));
            answer.found.extend(words.filter(|one| one.value.starts_with(word)));
        }
    }
    if answer == Answer::default() && word.is_empty() && !place.behind { flags(&place) } else { answer }
}

impl Answer {
    /// What begins as it is typed, behind what stands before in the same word.
    fn beginning(self, before: &str, typed: &str) -> Answer {
        let found = self.found.into_iter().filter(|one| one.value.starts_with(typed));
        let found = found.map(|one| Candidate { value: format!("{before}{}", one.value), ..one });
        Answer { found: found.collect(), disk: self.disk }
    }
}

fn flags(place: &Place<'_>) -> Answer {
    let flag = |arg: &Arg| {
        let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
        Some(Candidate::new(format!("--{}", arg.get_long()?), first_sentence(&about)))
    };
    let help = Candidate::new("--help", "Print help");
    Answer { found: place.flags().filter_map(flag).chain([help]).collect(), disk: None }
}

fn commands(command: &Command) -> Vec<Candidate> {
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    let about = |sub: &Command| sub.get_about().map(ToString::to_string).unwrap_or_default();
    shown.map(|sub| Candidate::new(sub.get_name(), first_sentence(&about(sub)))).collect()
}

fn first_sentence(about: &str) -> &str {
    let end = about.find(". ").into_iter().chain(about.find(['\n', ':', ';'])).min();
    end.map_or(about, |end| &about[..end]).trim_end_matches('.')
}

/// The values of a flag or an argument.
fn of_value(
    place: &Place<'_>,
    arg: &Arg,
    typed: &str,
    kept: impl Fn(&[&str], &Arg) -> Vec<Candidate>,
) -> Answer {
    let named = arg.get_possible_values();
    let named = named.iter().filter(|value| !value.is_hide_set()).map(|value| {
        let about = value.get_help().map(ToString::to_string).unwrap_or_default();
        Candidate::new(value.get_name(), first_sentence(&about))
    });
    let mut found: Vec<Candidate> = named.collect();
    found.extend(kept(&place.path_names(), arg));
    // A session may also be named by more of its id than it is listed with.
    found.iter_mut().filter(|one| !one.value.is_empty() && typed.starts_with(&one.value)).for_each(|one| {
        one.value = typed.to_owned();
    });
    let is_path = arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    let is_folder = arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "DIR"));
    let disk = (is_path || arg.is_last_set()).then_some(if is_folder { Disk::Folders } else { Disk::Files });
    Answer { found, disk }
}

#[cfg(test)]
mod tests;
