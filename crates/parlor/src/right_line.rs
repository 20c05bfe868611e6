//! The line that was meant: the words that somebody typed, put right one by one until the program takes the line.
//!
//! Invariants: what is told is a line that the program reads; nothing but the words that could not be read is changed; a line that may hold
//! a key is never told. Where one word stays that nobody can put right, there is no line: no guess beside a mistake.

mod table;

use crate::cli::{self, Cli, Sub};
use crate::environment;
use crate::habits::{meant, meant_below, mode_meant, nearest};
use crate::serve::argv_compat;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory};
use domain::harmless::in_line;
use std::ffi::OsString;
use table::{BELOW, PAIRS, PROMPTS, RIGHT, Right};

/// Words of one line that are put right before it is given up.
const MOST_SLIPS: usize = 8;
/// Words of a line that is looked at.
const MOST_WORDS: usize = 64;
/// Words that are a prompt, whatever the first of them means to another program.
const A_SENTENCE: usize = 4;
/// How a hint goes on that takes all words for a prompt, and how one begins that names a command.
const QUOTES: &str = "; put a prompt in quotes: ";
const GUESS: &str = "did you mean `";
/// Before a second line of a hint.
const BESIDE: &str = "      ";
/// The mark behind which all words are another program's.
const END: &str = "--";

/// The answer to a wrong line, with the right one before its hint, where there is one.
pub(crate) fn beside(answer: &str, typed: &[OsString]) -> String {
    let Some(line) = meant_line(typed) else { return answer.to_owned() };
    let Some((wrong, hint)) = answer.split_once("hint: ") else { return format!("{answer}\n\nhint: {line}") };
    // What was guessed without the whole line gives way to it.
    let hint = hint.split_once(QUOTES).map_or(hint, |(before, _)| before);
    let guess = hint.strip_prefix(GUESS).and_then(|rest| rest.split_once("`?"));
    let hint = match guess {
        Some((guess, rest)) if !line.starts_with(guess) => rest.trim_start_matches([';', ' ']),
        _ => hint,
    };
    // One that says it by itself says it once.
    if hint.is_empty() {
        format!("{wrong}hint: {line}")
    } else if hint.ends_with(&line) || hint.contains(&format!("`{line}`")) {
        format!("{wrong}hint: {hint}")
    } else {
        format!("{wrong}hint: {line}\n{BESIDE}{hint}")
    }
}

/// The line that was meant, as it is typed in a shell.
fn meant_line(typed: &[OsString]) -> Option<String> {
    let words: Vec<String> =
        typed.iter().skip(1).map(|word| word.to_str().map(str::to_owned)).collect::<Option<_>>()?;
    if words.len() > MOST_WORDS || words.iter().any(|word| in_line(word) != *word) {
        return None;
    }
    let cli = Cli::command();
    let line = corrected(&cli, &words).or_else(|| joined(&cli, &words))?;
    let shown: Vec<String> = line.words.iter().map(|word| in_shell(word)).collect();
    let into = line.into.map_or_else(String::new, |file| format!(" > {}", in_shell(&file)));
    Some(format!("parlor {}{into}", shown.join(" ")).trim_end().to_owned())
}

/// A word as a shell reads it back.
fn in_shell(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./:=@%+,{}".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if !word.contains(['"', '$', '`', '\\', '!']) {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A line on its way to being right.
struct Mended {
    words: Vec<String>,
    /// The file that its stdout goes into.
    into: Option<String>,
}

/// What is wrong with a line.
struct Wrong {
    kind: ErrorKind,
    /// The word that is not known, or the flag whose value is not.
    word: String,
    value: String,
    /// What the value may be.
    valid: Vec<String>,
}

impl Wrong {
    fn of(why: &clap::Error) -> Wrong {
        let text = |kind| match why.get(kind) {
            Some(ContextValue::String(text)) => text.clone(),
            _ => String::new(),
        };
        let word = match why.kind() {
            ErrorKind::InvalidSubcommand => text(ContextKind::InvalidSubcommand),
            _ => text(ContextKind::InvalidArg),
        };
        let valid = match why.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(all)) => all.clone(),
            _ => Vec::new(),
        };
        Wrong { kind: why.kind(), word, value: text(ContextKind::InvalidValue), valid }
    }

    /// A word in the place of a command, which could be read as a prompt.
    fn word(word: &str) -> Wrong {
        Wrong {
            kind: ErrorKind::InvalidSubcommand,
            word: word.to_owned(),
            value: String::new(),
            valid: Vec::new(),
        }
    }
}

/// Whether the program takes these words; `None` says that it does not, and nobody knows which word it is.
fn read(words: &[String]) -> Result<(), Option<Wrong>> {
    let line = std::iter::once("parlor").chain(words.iter().map(String::as_str)).map(OsString::from);
    let line = line.collect::<Vec<_>>();
    if crate::topics::asked(&line).is_some_and(|page| page.is_ok()) {
        return Ok(());
    }
    let line = cli::with_run(argv_compat::our_words(line));
    if cli::command_for_value(&line).is_some() {
        return Err(None);
    }
    let read = match environment::parse(&line, |_| None) {
        Ok(read) => read,
        Err(why) if matches!(why.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => return Ok(()),
        Err(why) => return Err(Some(Wrong::of(&why))),
    };
    let of_a_session = matches!(read.sub, None | Some(Sub::Run(_)));
    match &read.launch.prompt {
        Some(word) if !word.contains(char::is_whitespace) => Err(Some(Wrong::word(word))),
        Some(_) if !of_a_session => Err(None),
        _ if read.launch.worktree.is_some() && !of_a_session => Err(None),
        _ => Ok(()),
    }
}

/// The line with each wrong word put right.
fn corrected(cli: &Command, typed: &[String]) -> Option<Mended> {
    let mut line = Mended { words: typed.to_vec(), into: None };
    let is_ours = typed.first().is_some_and(|first| cli.find_subcommand(first).is_some());
    for _ in 0..MOST_SLIPS {
        match read(&line.words) {
            Ok(()) => {
                let is_new = line.words != typed || line.into.is_some();
                return (is_new && heeds(cli, &line, typed)).then_some(line);
            }
            Err(wrong) => mend(cli, &mut line, &wrong?, is_ours)?,
        }
    }
    None
}

/// Whether each flag that was put into the line does something there: those of all commands are taken behind any.
fn heeds(cli: &Command, line: &Mended, typed: &[String]) -> bool {
    let Some(at) = command_at(cli, line) else { return true };
    let new = ours(line).filter(|word| word.starts_with("--") && !typed.contains(word));
    let mut named = new.filter_map(|word| word.split('=').next()?.strip_prefix("--"));
    let of_all =
        |name: &str| cli.get_arguments().find(|arg| arg.is_global_set() && arg.get_long() == Some(name));
    named
        .all(|name| of_all(name).is_none_or(|arg| environment::heeds(&line.words[at], arg.get_id().as_str())))
}

/// Whether several words without a flag may be a prompt: what another program has as a command is none, unless a sentence follows.
fn is_prompt(words: &[String]) -> bool {
    let Some(first) = words.first().filter(|_| words.len() > 1) else { return false };
    meant(first).is_none() || words.len() >= A_SENTENCE || PROMPTS.contains(&first.as_str())
}

/// Several words without a flag, as one prompt.
fn joined(cli: &Command, typed: &[String]) -> Option<Mended> {
    let is_ours = typed.first().is_some_and(|first| cli.find_subcommand(first).is_some());
    let is_prompt = is_prompt(typed) && !is_ours && !typed.iter().any(|word| word.starts_with('-'));
    let line = Mended { words: vec![typed.join(" ")], into: None };
    (is_prompt && read(&line.words).is_ok()).then_some(line)
}

/// Puts one word right.
fn mend(cli: &Command, line: &mut Mended, wrong: &Wrong, is_ours: bool) -> Option<()> {
    if foreign_first(cli, line).is_some() {
        return Some(());
    }
    match wrong.kind {
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand => {
            let at = ours(line).position(|word| names(word, &wrong.word))?;
            if wrong.word.starts_with('-') { flag(cli, line, at) } else { bare(cli, line, at, is_ours) }
        }
        ErrorKind::InvalidValue => value(line, wrong),
        ErrorKind::TooManyValues => {
            let flag = wrong.word.split([' ', '=']).next()?;
            let word = line.words.iter_mut().find(|word| names(word, flag))?;
            let (name, value) = word.split_once('=')?;
            let is_yes = ["true", "1", "yes", "on"].contains(&value);
            is_yes.then(|| name.to_owned()).map(|name| *word = name)
        }
        // A wire in the place of an agent's name.
        ErrorKind::ArgumentConflict => {
            let wire = line.words.get(1).filter(|_| line.words[0] == "attach")?;
            dialects::named(wire).ok()?;
            line.words.insert(1, "--dialect".to_owned());
            Some(())
        }
        _ => None,
    }
}

/// The words before those of another program.
fn ours(line: &Mended) -> impl Iterator<Item = &String> {
    line.words.iter().take_while(|word| *word != END)
}

/// Whether a word of the line is this one: a flag may have its value behind it.
fn names(word: &str, unknown: &str) -> bool {
    word == unknown
        || unknown.starts_with('-') && word.strip_prefix(unknown).is_some_and(|rest| rest.starts_with('='))
}

fn right(word: &str) -> Option<&'static Right> {
    let is = |known: &&str| *known == word || word.len() > 2 && known.eq_ignore_ascii_case(word);
    RIGHT.iter().find(|(words, _)| words.iter().any(is)).map(|(_, right)| right)
}

fn words(of: &[&str]) -> Vec<String> {
    of.iter().map(|word| (*word).to_owned()).collect()
}

/// The first word, where it is a command of another program or one of ours that was misspelt.
fn foreign_first(cli: &Command, line: &mut Mended) -> Option<()> {
    let first = line.words.first().filter(|first| {
        !first.starts_with('-')
            && !first.contains(char::is_whitespace)
            && cli.find_subcommand(first).is_none()
    })?;
    if argv_compat::words_in_help().any(|(word, _)| word == first) {
        return None;
    }
    if let Some(second) = line.words.get(1) {
        let pair = PAIRS.iter().find(|(firsts, seconds, _)| {
            firsts.contains(&first.as_str()) && seconds.contains(&second.as_str())
        });
        if let Some((.., new)) = pair {
            line.words.splice(..2, words(new));
            return Some(());
        }
    }
    if right(first).is_some() {
        return put(cli, line, 0);
    }
    if meant(first).is_some() {
        return None;
    }
    let all = cli.get_subcommands().filter(|sub| !sub.is_hide_set());
    let all = all.flat_map(|sub| std::iter::once(sub.get_name()).chain(sub.get_all_aliases()));
    line.words[0] = nearest(first, all)?.to_owned();
    Some(())
}

/// Does with a word what is right for it.
fn put(cli: &Command, line: &mut Mended, at: usize) -> Option<()> {
    let word = line.words.get(at)?.clone();
    let (name, value) = match word.split_once('=').filter(|_| word.starts_with('-')) {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (word.as_str(), None),
    };
    // A value behind `=`, or the next word.
    let taken = |line: &mut Mended| {
        let value = value.clone().or_else(|| line.words.get(at + 1).cloned());
        line.words.drain(at..(at + if word.contains('=') { 1 } else { 2 }).min(line.words.len()));
        value
    };
    match right(name)? {
        Right::Out => {
            line.words.remove(at);
        }
        Right::OutWithValue => {
            taken(line);
        }
        Right::Into => line.into = Some(taken(line)?),
        Right::Printed => match taken(line)?.as_str() {
            "json" | "stream-json" | "jsonl" => line.words.insert(at, "--json".to_owned()),
            "text" | "plain" => {}
            _ => return None,
        },
        Right::Served => {
            let (word, _) = argv_compat::words_in_help().next()?;
            line.words[at] = word.to_owned();
        }
        Right::Is(new) => {
            let mut new = words(new);
            let is_command = cli.find_subcommand(&new[0]).is_some();
            if is_command && line.words[..at].contains(&new[0]) {
                new.clear();
            }
            match (value, new.last_mut()) {
                (Some(value), Some(flag)) if flag.starts_with('-') => *flag = format!("{flag}={value}"),
                (value, _) => new.extend(value),
            }
            line.words.splice(at..=at, new);
        }
    }
    Some(())
}

/// The place of the command in a line, if it has one.
fn command_at(cli: &Command, line: &Mended) -> Option<usize> {
    ours(line).position(|word| cli.find_subcommand(word).is_some())
}

/// A flag that is not known there.
fn flag(cli: &Command, line: &mut Mended, at: usize) -> Option<()> {
    let word = line.words[at].clone();
    let name = word.split('=').next()?;
    let command = command_at(cli, line).filter(|command| *command < at);
    let named = command.and_then(|at| cli.find_subcommand(&line.words[at]));
    let below = command.and_then(|at| named?.find_subcommand(line.words.get(at + 1)?));
    if meant(name).is_some() {
        // One letter means as many things as there are programs.
        let is_plain = name.starts_with("--") || named.is_none_or(|of| of.get_name() == "run");
        return is_plain.then(|| put(cli, line, at)).flatten();
    }
    let long = |arg: &Arg| Some(format!("--{}", arg.get_long()?));
    let own = [named, below].into_iter().flatten().flat_map(Command::get_arguments);
    let of_all = cli.get_arguments().filter(|arg| named.is_none() || arg.is_global_set());
    let flags: Vec<String> = own.chain(of_all).filter(|arg| !arg.is_hide_set()).filter_map(long).collect();
    if let Some(near) = nearest(name, flags.iter().map(String::as_str)) {
        line.words[at] = format!("{near}{}", &word[name.len()..]);
        return Some(());
    }
    // What only a prompt without a screen takes.
    let run = cli.find_subcommand("run")?;
    if named.is_none() && run.get_arguments().filter_map(long).any(|flag| flag == name) {
        line.words.insert(0, "run".to_owned());
        return Some(());
    }
    None
}

/// A word that is no flag and stands where none is taken.
fn bare(cli: &Command, line: &mut Mended, at: usize, is_ours: bool) -> Option<()> {
    let word = line.words[at].clone();
    if argv_compat::words_in_help().any(|(served, _)| served == word) {
        line.words.remove(at);
        line.words.insert(0, word);
        return Some(());
    }
    let Some(command) = command_at(cli, line).filter(|command| *command < at) else {
        // Behind a flag and its value a word is a prompt of its own, and one word alone is no prompt without `run`.
        if at.checked_sub(2).is_some_and(|flag| takes_value(cli, &line.words[flag])) {
            line.words.insert(0, "run".to_owned());
            return Some(());
        }
        return join_from(line, at.checked_sub(1)?);
    };
    let of = cli.find_subcommand(&line.words[command])?;
    let below = line.words.get(command + 1).and_then(|word| of.find_subcommand(word));
    let target = below.unwrap_or(of);
    if of.get_name() == "attach" && word.contains(char::is_whitespace) {
        line.words.insert(at, "--prompt".to_owned());
        return Some(());
    }
    if target.get_arguments().any(Arg::is_last_set) {
        let takes_url = target.get_arguments().any(|arg| arg.get_long() == Some("url"));
        let mark = if takes_url && word.contains("://") { "--url" } else { END };
        line.words.insert(at, mark.to_owned());
        return Some(());
    }
    if of.has_subcommands() && below.is_none() && at == command + 1 {
        let known =
            BELOW.iter().find(|(name, known, _)| *name == of.get_name() && known.contains(&word.as_str()));
        if let Some((.., new)) = known {
            line.words.splice(command..=at, words(new));
            return Some(());
        }
        if meant_below(of.get_name(), &word).is_some() {
            return None;
        }
        let all =
            of.get_subcommands().flat_map(|sub| std::iter::once(sub.get_name()).chain(sub.get_all_aliases()));
        line.words[at] = nearest(&word, all)?.to_owned();
        return Some(());
    }
    if below.is_none() && meant_below(of.get_name(), &word).is_some() {
        return None;
    }
    let takes_none = !of.has_subcommands() && target.get_positionals().next().is_none();
    (is_ours && takes_none).then(|| drop(line.words.remove(at)))
}

/// Whether the word is one of our flags, and the next word its value.
fn takes_value(cli: &Command, word: &str) -> bool {
    let of = |arg: &Arg| {
        let long = arg.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long));
        long || arg
            .get_short()
            .is_some_and(|short| word.strip_prefix('-') == Some(short.encode_utf8(&mut [0; 4])))
    };
    cli.get_arguments().any(|arg| of(arg) && arg.get_action().takes_values())
}

/// One prompt of the words from there to the next flag.
fn join_from(line: &mut Mended, from: usize) -> Option<()> {
    let count = line.words[from..].iter().take_while(|word| !word.starts_with('-')).count();
    let words = &line.words[from..from + count];
    let prompt = is_prompt(words).then(|| words.join(" "))?;
    line.words.splice(from..from + count, [prompt]);
    Some(())
}

/// A value that is none there, where another is meant by it.
fn value(line: &mut Mended, wrong: &Wrong) -> Option<()> {
    let flag = wrong.word.split([' ', '=']).next()?;
    let lower = wrong.value.to_lowercase();
    let mode = mode_meant(&wrong.value).filter(|_| flag == "--policy");
    let same = || wrong.valid.iter().find(|valid| **valid == lower).map(String::as_str);
    let new = mode.or_else(same).or_else(|| nearest(&wrong.value, wrong.valid.iter().map(String::as_str)))?;
    let inline = format!("{flag}={}", wrong.value);
    let word = line.words.iter_mut().find(|word| **word == wrong.value || **word == inline)?;
    *word = if *word == inline { format!("{flag}={new}") } else { new.to_owned() };
    Some(())
}

#[cfg(test)]
mod tests;
