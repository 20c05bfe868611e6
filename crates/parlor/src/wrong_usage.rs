//! What is told where a command line could not be read: which word is meant here, or what there is in its place.

use crate::cli::Cli;
use crate::habits::{meant, meant_below, mode_meant, nearest};
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use domain::harmless::{clean, in_line, quoted};
use std::ffi::OsString;

/// What is wrong with one word in the place of a command or a prompt.
pub(crate) fn no_command(word: &str) -> String {
    let shown = quoted(word);
    let cli = Cli::command();
    if crate::serve::argv_compat::words_in_help().any(|(served, _)| served == word) {
        return format!("{shown} comes first\n\nhint: parlor {word}, and its flags behind it");
    }
    let all = cli.get_subcommands().filter(|sub| !sub.is_hide_set()).flat_map(names);
    let hint = match (meant(word), nearest(word, all)) {
        (Some(here), _) => here.to_owned(),
        (None, Some(near)) => format!("did you mean `parlor {near}`?"),
        // A word of the terminal UI.
        (None, None) if tui::COMMANDS.iter().any(|command| command.name == word) => {
            format!(
                "`/{word}` does that in the terminal UI, which `parlor` opens; a prompt of one word goes with `parlor run`"
            )
        }
        (None, None) => {
            "`parlor --help` lists the commands; a prompt of one word goes with `parlor run`".to_owned()
        }
    };
    format!("there is no command {shown}\n\nhint: {hint}")
}

/// What is wrong with a command line that could not be read, where more is known of it than the reader of command lines says.
pub(crate) fn answer(why: &clap::Error, words: &[OsString]) -> Option<String> {
    let context = |kind| match why.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let first = words.get(1).and_then(|word| word.to_str()).filter(|word| !word.starts_with('-'));
    let cli = Cli::command();
    let foreign = first.filter(|first| cli.find_subcommand(first).is_none());
    if matches!(
        why.kind(),
        ErrorKind::MissingRequiredArgument
            | ErrorKind::ValueValidation
            | ErrorKind::ArgumentConflict
            | ErrorKind::TooManyValues
            | ErrorKind::TooFewValues
            | ErrorKind::WrongNumberOfValues
            | ErrorKind::NoEquals
    ) {
        return wire_as_a_name(words).or_else(|| with_example(why, &cli, words));
    }
    if why.kind() == ErrorKind::InvalidValue {
        let (flag, value) = (context(ContextKind::InvalidArg), context(ContextKind::InvalidValue));
        let mode = flag.zip(value).and_then(|(flag, value)| wrong_mode(why, flag, value));
        return mode.or_else(|| with_example(why, &cli, words));
    }
    let unknown = match why.kind() {
        ErrorKind::UnknownArgument => context(ContextKind::InvalidArg)?,
        ErrorKind::InvalidSubcommand => context(ContextKind::InvalidSubcommand)?,
        _ => return None,
    };
    let is_flag = unknown.starts_with('-');
    if let Some(first) = foreign {
        let said: Vec<_> = words.iter().skip(1).map(|word| word.to_string_lossy()).collect();
        let said = in_line(&clean(&said.join(" "))).replace('"', "'");
        if meant(first).is_some() || !first.contains(char::is_whitespace) && is_flag {
            // Words of a prompt may be words of a program, too.
            let quotes =
                if is_flag { String::new() } else { format!("; put a prompt in quotes: parlor \"{said}\"") };
            return Some(no_command(first) + &quotes);
        }
        if !is_flag {
            let all = cli.get_subcommands().filter(|sub| !sub.is_hide_set()).flat_map(names);
            if let Some(near) = nearest(first, all) {
                let rest = said.split_once(' ').map_or("", |(_, rest)| rest);
                return Some(format!(
                    "there is no command {}\n\nhint: did you mean `parlor {near} {rest}`?",
                    quoted(first)
                ));
            }
            let first = quoted(first);
            return Some(format!(
                "there is no command {first}\n\nhint: put a prompt in quotes: parlor \"{said}\""
            ));
        }
    }
    if is_flag {
        let typed = unknown.split('=').next().unwrap_or(unknown);
        let command = first.and_then(|first| cli.find_subcommand(first));
        let below = command.and_then(|command| command.find_subcommand(words.get(2)?.to_str()?));
        let of = format!(
            "parlor{}",
            [command, below]
                .into_iter()
                .flatten()
                .map(|sub| format!(" {}", sub.get_name()))
                .collect::<String>()
        );
        let own = [command, below].into_iter().flatten().flat_map(clap::Command::get_arguments);
        let of_all = cli.get_arguments().filter(|arg| command.is_none() || arg.is_global_set());
        let flags: Vec<String> = own
            .chain(of_all)
            .filter(|arg| !arg.is_hide_set())
            .filter_map(|arg| Some(format!("--{}", arg.get_long()?)))
            .collect();
        let hint = match (meant(typed), nearest(typed, flags.iter().map(String::as_str))) {
            // One letter means as many things as there are programs: only where a prompt begins is it known which.
            (Some(here), _) if typed.starts_with("--") || command.is_none_or(|of| of.get_name() == "run") => {
                here.to_owned()
            }
            (_, Some(flag)) => format!("did you mean {flag}?"),
            (_, None) => format!("`{of} --help` lists its flags"),
        };
        return Some(format!("`{of}` has no {}\n\nhint: {hint}", quoted(unknown)));
    }
    let of = cli.find_subcommand(first?)?;
    let below = words.get(2).and_then(|word| of.find_subcommand(word.to_str()?));
    if below.unwrap_or(of).get_arguments().any(clap::Arg::is_last_set) {
        let name =
            below.map_or(of.get_name().to_owned(), |below| format!("{} {}", of.get_name(), below.get_name()));
        let hint = if unknown.contains("://") {
            format!("an address goes behind --url: parlor {name} NAME --url {}", in_line(&clean(unknown)))
        } else {
            let example = example(below.unwrap_or(of), &format!("parlor {name}"));
            let example = example.map_or_else(String::new, |example| format!("for example {example}; "));
            format!("the program and its words go behind `--`; {example}`parlor {name} --help` shows how")
        };
        return Some(format!("`parlor {}` cannot use {}\n\nhint: {hint}", name, quoted(unknown)));
    }
    if let Some(here) = meant_below(of.get_name(), unknown).filter(|_| below.is_none()) {
        return Some(format!("`parlor {}` has no {}\n\nhint: {here}", of.get_name(), quoted(unknown)));
    }
    if !of.has_subcommands() {
        let name = of.get_name();
        return Some(format!(
            "`parlor {name}` cannot use {}\n\nhint: leave it out; `parlor {name} --help` tells all",
            quoted(unknown)
        ));
    }
    let all: Vec<&str> = of.get_subcommands().flat_map(names).collect();
    let name = of.get_name();
    let hint = match nearest(unknown, all.iter().copied()) {
        Some(near) => format!("did you mean `parlor {name} {near}`?"),
        None => format!("there are {}", all.join(", ")),
    };
    Some(format!("`parlor {name}` has no {}\n\nhint: {hint}", quoted(unknown)))
}

/// A mode that is none here: what the word means in the program that has it, and not the word that looks most like it.
fn wrong_mode(why: &clap::Error, flag: &str, word: &str) -> Option<String> {
    let mode = mode_meant(word).filter(|_| flag.starts_with("--policy"))?;
    let said = why.to_string();
    let said = said.strip_prefix("error: ").unwrap_or(&said);
    let said = said.split("\n\n").next().unwrap_or(said).trim_end();
    Some(format!(
        "{said}\n\nhint: here that is `--policy {mode}`; `parlor help consent` tells what each mode asks"
    ))
}

/// A wire in the place of an agent's name: whoever types that has a command of their own behind it.
fn wire_as_a_name(words: &[OsString]) -> Option<String> {
    let text = |at: usize| words.get(at).and_then(|word| word.to_str());
    let wire = text(2).filter(|_| text(1) == Some("attach"))?;
    let dialect = dialects::named(wire).ok()?.name();
    Some(format!(
        "{} is a protocol, and no agent's name\n\nhint: parlor attach --dialect {dialect} -- COMMAND, or --socket PATH",
        quoted(wire)
    ))
}

/// The first example of a command that begins like this and stands in one line.
fn example(command: &clap::Command, name: &str) -> Option<String> {
    let help = command.get_after_help()?.to_string();
    let typed = help.lines().map(|line| line.trim().split("   ").next().unwrap_or_default());
    typed.filter(|line| !line.ends_with('\\')).find(|line| line.starts_with(name)).map(str::to_owned)
}

/// What the reader of command lines says of a command that is known, and how that is typed.
fn with_example(why: &clap::Error, cli: &clap::Command, words: &[OsString]) -> Option<String> {
    let said = why.to_string();
    let said = said.strip_prefix("error: ").unwrap_or(&said);
    let said = said.split("\n\nFor more information").next().unwrap_or(said).trim_end();
    // Its tips name what looks alike by its letters: tcsh is no zsh.
    let said = said.split("\n\n  tip: ").next().unwrap_or(said).trim_end();
    // Of a number, Rust says where it stops being one.
    let said = said.replace("invalid digit found in string", "write a number");
    let said = said.replace("invalid IP address syntax", "write an address such as 127.0.0.1");
    let Some(command) = words.get(1).and_then(|word| cli.find_subcommand(word.to_str()?)) else {
        return Some(format!(
            "{said}\n\nhint: for example parlor \"fix the failing test\"; `parlor --help` tells all"
        ));
    };
    let below = words.get(2).and_then(|word| command.find_subcommand(word.to_str()?));
    let name = ["parlor", command.get_name()].into_iter().chain(below.map(clap::Command::get_name));
    let name = name.collect::<Vec<_>>().join(" ");
    let typed = below.and_then(|below| example(below, &name)).or_else(|| example(command, &name));
    let example = typed.map_or_else(String::new, |example| format!("for example {example}; "));
    let meant = match (why.get(ContextKind::InvalidValue), why.get(ContextKind::ValidValue)) {
        (Some(ContextValue::String(value)), Some(ContextValue::Strings(all))) => {
            nearest(value, all.iter().map(String::as_str))
        }
        _ => None,
    };
    let meant = meant.map_or_else(String::new, |meant| format!("did you mean {meant}? "));
    Some(format!("{said}\n\nhint: {meant}{example}`{name} --help` tells all"))
}

/// The name of a command, and its other names.
fn names(command: &clap::Command) -> impl Iterator<Item = &str> {
    std::iter::once(command.get_name()).chain(command.get_all_aliases())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::habits::{BELOW, HABITS};

    /// What stands in back quotes.
    fn in_back_quotes(text: &str) -> impl Iterator<Item = &str> {
        text.split('`').skip(1).step_by(2)
    }

    #[test]
    fn what_is_told_can_be_typed() {
        let mut tried = 0;
        let told = HABITS.iter().map(|habit| habit.here).chain(BELOW.iter().map(|below| below.here));
        for here in told {
            for line in in_back_quotes(here) {
                let line = line.replace("--dialect NAME", "--dialect codelia");
                let line =
                    line.replace(" MODE", " ask").replace(" LEVEL", " low").replace("TOOL,TOOL", "write");
                let line =
                    line.replace(" TOOL", " write").replace(" NAME --", " x --").replace("DOLLARS", "1");
                let line = line.replace("OPENAI_BASE_URL=http://localhost:8000/v1 ", "");
                let line = line
                    .replace("--port PORT", "--port 1")
                    .replace(" N", " 1")
                    .replace("help COMMAND", "help run");
                let words = if line.starts_with("--") { format!("parlor {line}") } else { line };
                // A command of the screen, or a setting.
                if !words.starts_with("parlor") {
                    continue;
                }
                if words.starts_with("parlor help ") && words != "parlor help run" {
                    // A page, and no command of the same name.
                    let asked = words.split(' ').map(OsString::from).collect::<Vec<_>>();
                    assert!(crate::topics::asked(&asked).is_some_and(|page| page.is_ok()));
                    continue;
                }
                let mut said = Vec::new();
                for (at, piece) in words.split('"').enumerate() {
                    if at % 2 == 1 {
                        said.push(OsString::from(piece));
                    } else {
                        said.extend(piece.split_whitespace().map(OsString::from));
                    }
                }
                let said = crate::serve::argv_compat::our_words(said);
                let read = crate::environment::parse(&said, |_| None);
                let told = |why: &clap::Error| {
                    matches!(
                        why.kind(),
                        ErrorKind::DisplayHelp
                            | ErrorKind::DisplayVersion
                            | ErrorKind::MissingRequiredArgument
                    )
                };
                if let Err(why) = read {
                    assert!(told(&why), "{words}: {why}");
                }
                tried += 1;
            }
        }
        assert!(tried > 50, "{tried}");
    }

    #[test]
    fn nothing_of_ours_is_shadowed_and_no_word_stands_twice() {
        let cli = Cli::command();
        let mut all: Vec<&str> = HABITS.iter().flat_map(|habit| habit.words).copied().collect();
        for word in &all {
            assert!(cli.find_subcommand(word).is_none(), "{word} is a command");
            let global = cli
                .get_arguments()
                .find(|flag| flag.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long)));
            assert!(global.is_none(), "{word} is a flag");
        }
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
