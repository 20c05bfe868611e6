//! Variables of the environment that stand for a flag: looked at before the command line is read.
//!
//! Always: one that cannot be understood is told (which, what it may be, what holds instead) and costs only itself, in every command.
//! Where its meaning protects something, the safe thing is done: nothing is kept with a `PARLOR_EPHEMERAL` that nobody understands, and
//! no other model than the one that was meant hears what is said. An empty one is as one that is not set.

use crate::cli::{Cli, Line};
use crate::help;
use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches};
use host::launch::{Launch, MODEL, Unread};
use std::ffi::OsString;
use tui::Settings;

const EPHEMERAL: &str = "PARLOR_EPHEMERAL";
/// What stands for a flag may say.
const ON_OR_OFF: &[&str] = &["1", "true", "yes", "on", "y", "t", "0", "false", "no", "off", "n", "f"];

/// A variable that stands for a flag.
struct Variable {
    name: &'static str,
    /// What it stands for on the command line.
    flag: &'static str,
    /// What it may be.
    takes: &'static str,
    /// What holds when it says nothing that is understood.
    instead: &'static str,
    /// What is wrong with a value that is text, if something is.
    wrong: fn(&str) -> bool,
}

const VARIABLES: &[Variable] = &[
    Variable {
        name: MODEL,
        flag: "model",
        takes: "a model as PROVIDER/NAME",
        instead: "no model is spoken to unless --model names one",
        wrong: |_| false,
    },
    Variable {
        name: "PARLOR_THEME",
        flag: "theme",
        takes: "auto, terminal, dark, light, contrast or plain",
        instead: "your settings count",
        wrong: |text| Settings::default().set("theme", text).is_err(),
    },
    Variable {
        name: "PARLOR_FETCH",
        flag: "fetch",
        takes: "1 or 0, true or false, on or off, yes or no",
        instead: "your settings count",
        wrong: is_neither,
    },
    Variable {
        name: "PARLOR_INLINE",
        flag: "inline",
        takes: "1 or 0, true or false, on or off, yes or no",
        instead: "your settings count",
        wrong: is_neither,
    },
    Variable {
        name: "PARLOR_PLAIN",
        flag: "plain",
        takes: "1 or 0, true or false, on or off, yes or no",
        instead: "the terminal decides",
        wrong: is_neither,
    },
    Variable {
        name: EPHEMERAL,
        flag: "ephemeral",
        takes: "1 or 0, true or false, on or off, yes or no",
        instead: "nothing is kept on disk, as if it were 1",
        wrong: is_neither,
    },
];

fn is_neither(text: &str) -> bool {
    !ON_OR_OFF.contains(&text.to_lowercase().as_str())
}

/// What of the flags for agents and screens a command heeds. All are taken behind every command, so that somebody may give one to all of
/// them (by an alias, say); but where one does nothing it stands in no help, and the command's own are not hidden among those.
const HEEDED: &[(&str, &[&str])] = &[
    ("run", AGENT),
    ("serve", AGENT),
    ("tour", &[]),
    ("attach", SCREEN),
    ("new", SCREEN),
    ("bridge", &["cwd", "policy"]),
    ("up", &[]),
    ("down", &[]),
    ("relay", &["cwd"]),
    ("agents", &[]),
    ("login", &[]),
    ("logout", &[]),
    ("sessions", &["cwd", "workspace", "store"]),
    ("worktrees", PLACE),
    ("models", &["model"]),
    ("ps", &["plain"]),
    ("web", &[]),
    ("devices", &[]),
    ("record", &[]),
    ("replay", &[]),
    ("trace", &[]),
    ("check", &[]),
    ("hooks", PLACE),
    // The last three for `serve`.
    ("mcp", &["cwd", "workspace", "model", "policy", "ephemeral"]),
    ("skills", PLACE),
    ("rules", PLACE),
    ("prompt", &["model", "cwd", "workspace", "fetch"]),
    ("schema", &[]),
    ("completions", &[]),
    ("man", &[]),
    ("doctor", &["model", "cwd", "workspace", "fetch", "store"]),
];
/// What a command heeds that only looks at a project.
const PLACE: &[&str] = &["cwd", "workspace"];
/// A screen on another agent.
const SCREEN: &[&str] = &["cwd", "policy", "inline", "full_screen", "plain", "theme", "ephemeral", "store"];
/// An agent without a screen.
const AGENT: &[&str] = &[
    "model",
    "effort",
    "cwd",
    "workspace",
    "policy",
    "fetch",
    "ephemeral",
    "store",
    "max_cost",
    "max_steps",
    "max_time",
];

/// Whether a flag of all, by its id, does something with this command.
pub(crate) fn heeds(command: &str, flag: &str) -> bool {
    let heeded = HEEDED.iter().find(|(known, _)| *known == command);
    heeded.is_none_or(|(_, heeded)| heeded.contains(&flag))
}

/// The program's flags, those left out of the help that have nothing to do with the command that is named.
pub(crate) fn with_heeded(command: clap::Command, words: &[OsString]) -> clap::Command {
    let mut named = words.iter().skip(1).filter_map(|word| word.to_str());
    let Some((_, heeded)) = named.find_map(|word| HEEDED.iter().find(|(command, _)| *command == word)) else {
        return command;
    };
    let idle = command.get_arguments().filter(|argument| argument.is_global_set());
    let idle: Vec<clap::Id> = idle.map(|argument| argument.get_id().clone()).collect();
    let idle = idle.into_iter().filter(|id| !heeded.contains(&id.as_str()));
    idle.fold(command, |command, id| command.mut_arg(id, |argument| argument.hide(true)))
}

/// Reads the command line, and for what it does not say the environment.
pub(crate) fn parse(
    words: &[OsString],
    value: impl Fn(&str) -> Option<OsString>,
) -> Result<Line, clap::Error> {
    let (mut command, mut unread, mut ephemeral) =
        (with_heeded(Cli::command(), words), Unread::default(), false);
    if help::is_asked(words) {
        command = help::grouped(command);
    }
    let unset = |command: clap::Command, flag| command.mut_arg(flag, |arg| arg.env(Resettable::Reset));
    if value(host::paths::WORKSPACE).is_some_and(|value| value.is_empty()) {
        command = unset(command, "workspace");
    }
    for variable in VARIABLES {
        let Some(value) = value(variable.name) else { continue };
        let what = match value.to_str() {
            Some("") => {
                command = unset(command, variable.flag);
                continue;
            }
            Some(text) if (variable.wrong)(text) => format!("cannot be {text:?}"),
            Some(_) => continue,
            None => "is not UTF-8 text".to_owned(),
        };
        command = unset(command, variable.flag);
        let Variable { name, takes, instead, .. } = variable;
        let line = format!("{name} {what}; it may be {takes}; {instead}");
        ephemeral |= *name == EPHEMERAL;
        if *name == MODEL {
            unread.model = Some(line.clone());
        }
        unread.ours = true;
        unread.told.push(line);
    }
    // Never taken apart: that takes as long as a third of reading the line, and the program needs it once.
    let mut command = std::mem::ManuallyDrop::new(command);
    let found = command.try_get_matches_from_mut(words)?;
    let is_typed = |flag: &str| found.value_source(flag) == Some(ValueSource::CommandLine);
    // A variable gives way to a flag; two flags do not.
    if is_typed("inline") && is_typed("full_screen") {
        let why = "the argument '--full-screen' cannot be used with '--inline'";
        return Err(command.error(ErrorKind::ArgumentConflict, why));
    }
    let Cli { prompt, common, sub } = Cli::from_arg_matches(&found)?;
    let launch = Launch { prompt, ..Launch::from(common) };
    let typed =
        crate::unsupported_flags::OURS.iter().map(|flag| flag.member).filter(|flag| is_typed(flag)).collect();
    unread.told.extend(keys());
    let ephemeral = launch.ephemeral || ephemeral;
    Ok(Line { launch: Launch { typed, unread, ephemeral, ..launch }, sub })
}

/// Keys that are set and cannot be sent to anybody.
fn keys() -> impl Iterator<Item = String> {
    let set = std::env::vars_os().filter(|(_, value)| value.to_str().is_none());
    let names = set.filter_map(|(name, _)| name.into_string().ok());
    names.filter(|name| name.ends_with("_API_KEY")).map(|name| {
        format!("{name} is not UTF-8 text; it may be the key of a provider; it is as if it were not set")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    fn read(args: &[&str], set: &[(&str, &[u8])]) -> Line {
        let words: Vec<OsString> = ["parlor"].iter().chain(args).map(OsString::from).collect();
        let value = |name: &str| {
            let found = set.iter().find(|(set, _)| *set == name);
            found.map(|(_, bytes)| OsStr::from_bytes(bytes).to_owned())
        };
        parse(&words, value).unwrap()
    }

    /// The flags that a page lists, without their dashes.
    fn listed(help: &str) -> Vec<String> {
        // Examples are broken into lines too.
        let listed = help.split("\nExample").next().unwrap_or_default();
        let words = listed.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        let words = words.flat_map(|line| line.split([' ', ',', '=', '[']).map(str::to_owned));
        words.filter_map(|word| word.strip_prefix("--").map(|name| name.replace('-', "_"))).collect()
    }

    #[test]
    fn the_help_of_every_command_lists_its_own_flags_and_those_that_it_heeds() {
        let everywhere: Vec<String> = Cli::command()
            .get_arguments()
            .filter(|argument| argument.is_global_set())
            .map(|argument| argument.get_id().to_string())
            .collect();
        assert!(everywhere.iter().any(|flag| flag == "max_cost") && everywhere.len() > 10, "{everywhere:?}");
        for (command, heeded) in HEEDED {
            assert!(
                heeded.iter().all(|flag| everywhere.iter().any(|one| one == flag)),
                "{command}: {heeded:?}"
            );
        }
        let cli = Cli::command();
        for sub in cli.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            let name = sub.get_name();
            let (_, heeded) = HEEDED.iter().find(|(known, _)| *known == name).unwrap_or_else(|| {
                panic!("say in HEEDED what `parlor {name}` does with the flags for agents and screens")
            });
            let below = sub.get_subcommands().next().map(|below| below.get_name().to_owned());
            for words in [Some(vec![name, "--help"]), below.as_deref().map(|below| vec![name, below, "-h"])] {
                let Some(words) = words else { continue };
                let line: Vec<OsString> = ["parlor"].iter().chain(&words).map(OsString::from).collect();
                let page = parse(&line, |_| None).unwrap_err().to_string();
                let mut shown = listed(&page);
                shown.retain(|flag| everywhere.contains(flag));
                shown.sort_unstable();
                let mut expected: Vec<&str> = heeded.to_vec();
                expected.sort_unstable();
                assert_eq!(shown, expected, "{words:?}");
                let own = sub.get_arguments().filter(|own| !own.is_hide_set() && !own.is_positional());
                let own: Vec<&str> = own.filter_map(clap::Arg::get_long).collect();
                let own_page = words.len() == 2;
                assert!(!own_page || own.iter().all(|own| page.contains(&format!("--{own}"))), "{page}");
            }
        }
    }

    #[test]
    fn a_flag_that_does_nothing_is_taken_all_the_same() {
        // Somebody who has given it to every command by an alias is not refused by those that have no use for it.
        for words in ["trace x", "sessions", "devices", "down", "check --dialect codelia --role ui --list"] {
            let words: Vec<&str> =
                ["--model", "a/b", "--policy", "full"].into_iter().chain(words.split(' ')).collect();
            assert_eq!(read(&words, &[]).launch.model.as_deref(), Some("a/b"));
        }
    }

    #[test]
    fn the_help_of_a_command_without_an_agent_lists_its_own_flags() {
        let help = |words: &str| {
            let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
            parse(&words, |_| None).unwrap_err().to_string()
        };
        for (words, own) in [
            ("parlor login --help", "--keep"),
            ("parlor help agents", "--registry"),
            ("parlor logout -h", "--all"),
        ] {
            let text = help(words);
            assert!(text.contains(own) && !text.contains("--model") && !text.contains("--theme"), "{text}");
        }
        assert!(help("parlor run --help").contains("--model"));
        let word = dialects::ALL.iter().find_map(|dialect| dialect.description().habits.command).unwrap();
        assert!(help("parlor --help").contains(&format!("\n  {word} ")));
    }

    #[test]
    fn a_variable_that_says_nothing_is_told_and_the_safe_thing_is_done() {
        for rubbish in [&b"maybe"[..], b"\xff", b"2"] {
            let all: Vec<(&str, &[u8])> = VARIABLES.iter().map(|variable| (variable.name, rubbish)).collect();
            let cli = read(&["doctor"], &all);
            let told: Vec<&str> = cli.launch.unread.told.iter().map(String::as_str).collect();
            for variable in VARIABLES.iter().filter(|variable| variable.name != MODEL || rubbish == b"\xff") {
                let line = told.iter().find(|line| line.starts_with(variable.name)).unwrap();
                assert!(line.contains(variable.takes) && line.contains(variable.instead), "{line}");
            }
            assert!(cli.launch.ephemeral && cli.launch.unread.ours);
            assert!(!cli.launch.fetch && !cli.launch.inline && cli.launch.theme.is_none());
            assert_eq!(cli.launch.unread.model.is_some(), rubbish == b"\xff");
        }
    }

    #[test]
    fn the_command_line_goes_before_a_variable_that_says_nothing() {
        let cli = read(&["--theme", "dark", "--model", "offline", "doctor"], &[("PARLOR_THEME", b"\xff")]);
        assert_eq!(cli.launch.theme.as_deref(), Some("dark"));
        assert_eq!(cli.launch.model.as_deref(), Some("offline"));
    }

    #[test]
    fn an_empty_variable_is_as_one_that_is_not_set() {
        let all: Vec<(&str, &[u8])> = VARIABLES.iter().map(|variable| (variable.name, &b""[..])).collect();
        let cli = read(&["doctor"], &all);
        assert_eq!(
            cli.launch
                .unread
                .told
                .iter()
                .map(String::as_str)
                .filter(|line| line.starts_with("PARLOR_"))
                .count(),
            0
        );
        assert!(!cli.launch.ephemeral);
    }
}
