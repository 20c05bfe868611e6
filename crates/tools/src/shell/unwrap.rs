//! Looks through programs whose only job is to run another one: `env`, `sh -c`, `xargs`, `timeout`, `find -exec` and so on.
//!
//! Only the options named here are understood; any other is a doubt.

use super::parse::parse;
use super::{Simple, Word};

/// Deepest chain of wrappers.
const MAX_WRAPS: usize = 8;

/// One command with its wrappers taken off.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Bare {
    /// The command and what was said around it.
    pub(super) simple: Simple,
    /// Whether more arguments come from elsewhere, as with `xargs`.
    pub(super) open: bool,
    /// Whether it runs with other rights.
    pub(super) rights: bool,
    /// Whether it is a shell that runs what it is fed.
    pub(super) fed_shell: bool,
    pub(super) around: Around,
}

/// What stands between the line and a command in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Around {
    /// The programs that are run before it and run it.
    pub(super) wrappers: Vec<String>,
    /// Whether a program runs it, so that nothing is built in.
    pub(super) run_by_program: bool,
    /// Whether programs may be looked for in other places there: start files were read, or the environment was emptied.
    pub(super) elsewhere: bool,
}

/// What was found, and what could not be told.
#[derive(Debug, Default)]
pub(super) struct UnwrappedLine {
    pub(super) commands: Vec<Bare>,
    pub(super) doubts: Vec<String>,
}

/// Takes the wrappers off everything in `line`.
pub(super) fn commands(line: &str) -> UnwrappedLine {
    let mut found = UnwrappedLine::default();
    read(line, &Around::default(), 0, &mut found);
    found
}

fn read(line: &str, around: &Around, depth: usize, found: &mut UnwrappedLine) {
    if depth > MAX_WRAPS {
        found.doubts.push("it is wrapped too deeply".to_owned());
        return;
    }
    let script = parse(line);
    found.doubts.extend(script.doubts);
    for simple in script.commands {
        unwrap(Bare { simple, around: around.clone(), ..Bare::default() }, depth, found);
    }
}

fn unwrap(mut bare: Bare, depth: usize, found: &mut UnwrappedLine) {
    if depth > MAX_WRAPS || found.commands.len() > super::parse::MAX_COMMANDS {
        found.doubts.push("it is wrapped too deeply".to_owned());
        return;
    }
    let Some(first) = bare.simple.words.first() else {
        found.commands.push(bare);
        return;
    };
    let Some(name) = first.text.clone().filter(|_| !first.glob && !first.tilde) else {
        found.doubts.push(format!("`{}` is only known when it runs", first.raw));
        found.commands.push(bare);
        return;
    };
    match peel(&name, &mut bare) {
        Ok(Peeled::Bare) => found.commands.push(bare),
        Ok(Peeled::Inner) => unwrap(bare, depth + 1, found),
        Ok(Peeled::Script(line)) => {
            if bare.open {
                // Words from elsewhere may become any part of the line: `xargs -I{} sh -c 'echo {}'`.
                found.doubts.push("a shell runs a line that is completed when it runs".to_owned());
            }
            let around = Around { run_by_program: false, ..bare.around.clone() };
            let before = found.commands.len();
            read(&line, &around, depth + 1, found);
            // The redirections and variables around the shell count too, and the shell itself when there is nothing in it.
            bare.simple.words.clear();
            if bare.simple != Simple::default() || found.commands.len() == before {
                found.commands.push(bare);
            }
        }
        Ok(Peeled::Also(inner)) => {
            found.commands.push(bare);
            for bare in inner {
                unwrap(bare, depth + 1, found);
            }
        }
        Err(doubt) => {
            found.doubts.push(doubt);
            found.commands.push(bare);
        }
    }
}

enum Peeled {
    /// It is no wrapper.
    Bare,
    /// A wrapper was taken off.
    Inner,
    /// A shell that runs this line.
    Script(String),
    /// It runs these beside its own work.
    Also(Vec<Bare>),
}

fn peel(name: &str, bare: &mut Bare) -> Result<Peeled, String> {
    let plain = super::table::base(name);
    match plain {
        "env" => env(bare),
        "nohup" => Ok(strip(bare, 1)),
        "builtin" => Ok(shell_word(bare, 1)),
        "exec" => {
            let odd = arg(bare, 1).is_none_or(|word| word.starts_with('-'));
            if odd { Err("`exec` changes the shell itself".to_owned()) } else { Ok(strip(bare, 1)) }
        }
        "command" => match arg(bare, 1) {
            Some("-v" | "-V") => Ok(Peeled::Bare),
            Some("-p") => {
                bare.around.elsewhere = true;
                Ok(shell_word(bare, 2))
            }
            Some(word) if !word.starts_with('-') => Ok(shell_word(bare, 1)),
            _ => odd(plain),
        },
        "time" => match arg(bare, 1) {
            Some("-p") => Ok(strip(bare, 2)),
            Some(word) if !word.starts_with('-') => Ok(strip(bare, 1)),
            _ => odd(plain),
        },
        "nice" => match arg(bare, 1) {
            Some("-n") if arg(bare, 2).is_some_and(number) => Ok(strip(bare, 3)),
            Some(word) if word.strip_prefix("-n").is_some_and(number) => Ok(strip(bare, 2)),
            Some(word) if !word.starts_with('-') => Ok(strip(bare, 1)),
            _ => odd(plain),
        },
        "stdbuf" => {
            let options = bare.simple.words.iter().skip(1).take_while(|word| {
                word.text
                    .as_deref()
                    .is_some_and(|text| text.len() > 2 && text.starts_with('-') && !text.starts_with("--"))
            });
            let count = options.count();
            Ok(strip(bare, count + 1))
        }
        "timeout" => timeout(bare),
        "xargs" => xargs(bare),
        "sudo" | "doas" | "su" | "pkexec" | "run0" | "runuser" => {
            bare.rights = true;
            Ok(Peeled::Bare)
        }
        "sh" | "bash" | "dash" | "ash" => shell(bare),
        "zsh" | "fish" | "ksh" | "mksh" | "csh" | "tcsh" | "pwsh" | "nu" | "busybox" | "toybox" => {
            bare.fed_shell = true;
            Err(format!("`{plain}` is a shell whose language is not read here"))
        }
        "find" => Ok(find(bare)),
        _ if super::table::CHANGES_SHELL.contains(&plain) => {
            Err(format!("`{plain}` changes the shell itself"))
        }
        _ => Ok(Peeled::Bare),
    }
}

fn odd<T>(name: &str) -> Result<T, String> {
    Err(format!("`{name}` has options that are not read here"))
}

/// The word at this place, when it is surely one word: what only the shell knows, or a file pattern, may become several.
fn arg(bare: &Bare, at: usize) -> Option<&str> {
    let word = bare.simple.words.get(at)?;
    word.text.as_deref().filter(|_| !word.glob)
}

fn number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
}

/// Takes a program and its options off; without a rest it was no wrapper.
fn strip(bare: &mut Bare, count: usize) -> Peeled {
    let peeled = shell_word(bare, count);
    bare.around.run_by_program |= matches!(peeled, Peeled::Inner);
    peeled
}

/// The same for a word of the shell. To some shells it is a program, so it is looked up all the same.
fn shell_word(bare: &mut Bare, count: usize) -> Peeled {
    if bare.simple.words.len() <= count {
        return Peeled::Bare;
    }
    let name = bare.simple.words.drain(..count).next().and_then(|word| word.text);
    bare.around.wrappers.extend(name);
    Peeled::Inner
}

fn env(bare: &mut Bare) -> Result<Peeled, String> {
    let mut at = 1;
    loop {
        let Some(word) = bare.simple.words.get(at) else { return Ok(Peeled::Bare) };
        let Some(text) = word.text.as_deref() else {
            return Err("`env` gets words that are not known".to_owned());
        };
        match text {
            "-i" | "-" | "--ignore-environment" => {
                bare.around.elsewhere = true;
                at += 1;
            }
            "-u" | "--unset" if arg(bare, at + 1).is_some() => {
                bare.around.elsewhere |= arg(bare, at + 1) == Some("PATH");
                at += 2;
            }
            _ if text.starts_with('-') => return odd("env"),
            _ => match text.split_once('=') {
                Some((name, value)) => {
                    let value =
                        Word { text: Some(value.to_owned()), raw: value.to_owned(), ..Word::default() };
                    bare.simple.assigns.push((name.to_owned(), value));
                    at += 1;
                }
                None => return Ok(strip(bare, at)),
            },
        }
    }
}

fn timeout(bare: &mut Bare) -> Result<Peeled, String> {
    let mut at = 1;
    loop {
        match arg(bare, at) {
            Some("-k" | "-s" | "--kill-after" | "--signal") if arg(bare, at + 1).is_some() => at += 2,
            Some("--foreground" | "--preserve-status" | "-v" | "--verbose") => at += 1,
            Some(text) if text.starts_with("--kill-after=") || text.starts_with("--signal=") => at += 1,
            Some(text) if text.starts_with(|c: char| c.is_ascii_digit()) => return Ok(strip(bare, at + 1)),
            _ => return odd("timeout"),
        }
    }
}

fn xargs(bare: &mut Bare) -> Result<Peeled, String> {
    let mut at = 1;
    bare.open = true;
    loop {
        match arg(bare, at) {
            Some("-n" | "-I" | "-P" | "-L" | "-d" | "-s") if arg(bare, at + 1).is_some() => at += 2,
            Some("-0" | "-r" | "-t" | "-x" | "--null" | "--no-run-if-empty" | "-0r" | "-r0") => at += 1,
            Some(text) if text.starts_with("-n") || text.starts_with("-P") || text.starts_with("-I") => {
                at += 1;
            }
            Some(text) if text.starts_with('-') => return odd("xargs"),
            Some(_) => return Ok(strip(bare, at)),
            None if at < bare.simple.words.len() => return Err("`xargs` runs what is not known".to_owned()),
            None => return Ok(Peeled::Bare),
        }
    }
}

fn shell(bare: &mut Bare) -> Result<Peeled, String> {
    let mut at = 1;
    loop {
        match arg(bare, at) {
            Some("--login") => {
                bare.around.elsewhere = true;
                at += 1;
            }
            Some("--noprofile" | "--norc" | "--posix") => at += 1,
            Some("-o" | "-eo" | "-euo" | "-euxo") if arg(bare, at + 1) == Some("pipefail") => at += 2,
            Some(text) if text.len() > 1 && text.starts_with('-') && !text.starts_with("--") => {
                let letters = text.trim_start_matches('-').to_owned();
                if !letters.chars().all(|c| "lieuxc".contains(c)) {
                    return odd("a shell");
                }
                // Start files may change where programs are looked for.
                bare.around.elsewhere |= letters.contains(['l', 'i']);
                if !letters.contains('c') {
                    at += 1;
                    continue;
                }
                let Some(line) = arg(bare, at + 1) else {
                    return Err("a shell runs a line that is not known".to_owned());
                };
                // A second flag after `-c` would make the line the argument after it.
                if line.starts_with(['-', '+']) {
                    return odd("a shell");
                }
                let line = line.to_owned();
                bare.around.wrappers.extend(bare.simple.words.first().and_then(|word| word.text.clone()));
                return Ok(Peeled::Script(line));
            }
            Some(text) if text.starts_with('-') || text.starts_with('+') => return odd("a shell"),
            // A script file: a program like any other.
            Some(_) => return Ok(Peeled::Bare),
            None => {
                bare.fed_shell = true;
                return Err("a shell reads its script from another command".to_owned());
            }
        }
    }
}

/// The commands that `find` runs. They get file names of their own.
fn find(bare: &Bare) -> Peeled {
    let mut inner = Vec::new();
    let words = &bare.simple.words;
    for (at, word) in words.iter().enumerate() {
        if !matches!(word.text.as_deref(), Some("-exec" | "-execdir" | "-ok" | "-okdir")) {
            continue;
        }
        let rest = words.get(at + 1..).unwrap_or_default();
        let ends = |(at, word): (usize, &Word)| match word.text.as_deref() {
            Some(";") => true,
            Some("+") => at > 0 && rest.get(at - 1).is_some_and(|before| before.raw == "{}"),
            _ => false,
        };
        let length = rest.iter().enumerate().position(ends).unwrap_or(rest.len());
        let run = rest.iter().take(length).cloned().collect();
        let around = Around { run_by_program: true, ..bare.around.clone() };
        let simple = Simple { words: run, ..Simple::default() };
        inner.push(Bare { simple, open: true, around, ..Bare::default() });
    }
    if inner.is_empty() { Peeled::Bare } else { Peeled::Also(inner) }
}
