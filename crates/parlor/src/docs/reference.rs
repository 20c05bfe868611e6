//! The reference: commands, keys, slash commands, exit codes, providers and settings, each from the table that the program itself works with.

use crate::cli::Cli;
use crate::exit::{Exit, USAGE};
use clap::{Command, CommandFactory};
use engine::SETTINGS;
use models::catalog::{KnownProvider, known_providers};
use std::fmt::Write as _;
use tui::{ACTIONS, COMMANDS, StopSignal};

const NOTE: &str = "<!-- Written by `cargo xtask docs` from the program's own tables. Do not edit. -->\n\n";

/// Each page with the name of its file.
pub(super) fn pages() -> Vec<(&'static str, String)> {
    vec![
        ("commands.md", commands()),
        ("exit-codes.md", exit_codes()),
        ("keys.md", keys()),
        ("providers.md", providers()),
        ("settings.md", settings()),
        ("slash-commands.md", slash_commands()),
    ]
}

/// A page with its note and heading.
fn headed(title: &str, about: &str) -> String {
    format!("{NOTE}# {title}\n\n{about}\n\n")
}

/// A row of a table. Writing to memory does not fail.
fn row(page: &mut String, cells: &[&str]) {
    let cells: Vec<String> = cells.iter().map(|cell| super::cell(cell)).collect();
    let _ = writeln!(page, "| {} |", cells.join(" | "));
}

/// The head of a table.
fn head(page: &mut String, titles: &[&str]) {
    row(page, titles);
    let _ = writeln!(page, "|{}", "---|".repeat(titles.len()));
}

/// Words as code, with commas between them.
fn coded<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

fn commands() -> String {
    let mut page = headed("Commands", "Every command and flag, as `--help` tells them.");
    let cli = Cli::command();
    page.push_str("## parlor\n\n");
    flags(&mut page, &cli);
    for command in visible(&cli) {
        told(&mut page, "parlor", command);
    }
    page
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

fn told(page: &mut String, before: &str, command: &Command) {
    let name = format!("{before} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = write!(page, "\n## {name}\n\n{about}\n\n");
    flags(page, command);
    for sub in visible(command) {
        told(page, &name, sub);
    }
}

fn flags(page: &mut String, command: &Command) {
    let shown = command
        .get_arguments()
        .filter(|one| !one.is_hide_set() && one.get_id() != "help" && one.get_id() != "version");
    let mut shown = shown.peekable();
    if shown.peek().is_none() {
        return;
    }
    head(page, &["", "what it does"]);
    for one in shown {
        let values = one.get_value_names().unwrap_or_default().iter().map(|name| format!("<{name}>"));
        let values = if one.get_action().takes_values() {
            values.collect::<Vec<_>>().join(" ")
        } else {
            String::new()
        };
        let long = one.get_long().map(|long| format!("--{long}"));
        let short = one.get_short().map(|short| format!("-{short}"));
        let typed = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
        let typed = [typed, values].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let mut about = one.get_help().map(ToString::to_string).unwrap_or_default();
        if let Some(variable) = one.get_env() {
            let _ = write!(about, " (variable `{}`)", variable.to_string_lossy());
        }
        row(page, &[&format!("`{typed}`"), &about]);
    }
}

fn exit_codes() -> String {
    let mut page = headed("Exit codes", "How a command of `parlor` tells a script how it ended.");
    head(&mut page, &["code", "word in `--json`", "it"]);
    let mut rows = vec![(USAGE, "", "was called wrongly")];
    let signals = [StopSignal::HangUp, StopSignal::Interrupt, StopSignal::Quit, StopSignal::Terminate];
    let all = [
        Exit::Done,
        Exit::Failed,
        Exit::Denied,
        Exit::NeedsInput,
        Exit::TimedOut,
        Exit::Damaged,
        Exit::Unfinished,
        Exit::OverBudget,
        Exit::WrongForm,
    ];
    rows.extend(
        all.into_iter()
            .chain(signals.map(Exit::Cancelled))
            .map(|exit| (exit.code(), exit.word(), meaning(exit))),
    );
    rows.sort_unstable();
    for (code, word, meaning) in rows {
        let word = if word.is_empty() { String::new() } else { format!("`{word}`") };
        row(&mut page, &[&code.to_string(), &word, meaning]);
    }
    page.push_str("\n[headless.md](../headless.md) tells each of them for `parlor run`.\n");
    page
}

fn meaning(exit: Exit) -> &'static str {
    match exit {
        Exit::Done => "did what it was asked",
        Exit::Failed => "could not",
        Exit::Denied => {
            "was denied something: by a mode, a rule or a hook, or because nobody was there to allow it"
        }
        Exit::NeedsInput => "needed an answer, and nobody was there",
        Exit::TimedOut => "took longer than `--timeout`",
        Exit::Damaged => "did what it was asked, and found damage on the way",
        Exit::Unfinished => "has an answer that is not whole",
        Exit::OverBudget => "used up its budget",
        Exit::WrongForm => "has an answer that is not of the form that `--output-schema` asks for",
        Exit::Cancelled(StopSignal::HangUp) => "was stopped by SIGHUP",
        Exit::Cancelled(StopSignal::Interrupt) => "was stopped by SIGINT (Ctrl-C)",
        Exit::Cancelled(StopSignal::Quit) => "was stopped by SIGQUIT",
        Exit::Cancelled(StopSignal::Terminate) => "was stopped by SIGTERM",
    }
}

fn keys() -> String {
    let about = "What keys do in the terminal UI unless your [settings](../settings.md#keys) say otherwise. `?` shows them as they are \
                 now. The keys of a question or a list are written below it.";
    let mut page = headed("Keys", about);
    head(&mut page, &["name in the settings", "keys", "what it does"]);
    for named in ACTIONS {
        row(&mut page, &[&coded([named.name]), &coded(named.keys.iter().copied()), named.help]);
    }
    page
}

fn slash_commands() -> String {
    let about = "What can be typed in the terminal UI. Not every runtime can do all of it: `/help` shows what this one can.";
    let mut page = headed("Slash commands", about);
    head(&mut page, &["command", "what it does"]);
    for command in COMMANDS {
        let typed = format!("/{} {}", command.name, command.takes);
        row(&mut page, &[&coded([typed.trim_end()]), command.help]);
    }
    page
}

fn providers() -> String {
    let about = "Whose models Parlor can use, and the variables of the environment that it reads for each. Of several variables the first \
                 that is set counts. A key that `parlor login` keeps comes after a variable. [agents.md](../agents.md#models) has the rest.";
    let mut page = headed("Providers", about);
    head(
        &mut page,
        &[
            "name",
            "variable of the key",
            "variable of the address",
            "usual address",
            "model without a name",
            "offered",
        ],
    );
    for known in known_providers() {
        let KnownProvider { name, keys, addresses, usual_address, usual_model, offered } = known;
        let address = if usual_address.is_empty() { "none".to_owned() } else { coded([usual_address]) };
        row(
            &mut page,
            &[
                &coded([name]),
                &coded(keys.iter().copied()),
                &coded(addresses.iter().copied()),
                &address,
                &coded(usual_model),
                offered,
            ],
        );
    }
    page.push_str(
        "\n`offline` needs none of this: it is embedded, and understands a handful of plain requests. So that it is taken and nothing else: \
         `--model offline`.\n",
    );
    page
}

fn settings() -> String {
    let about = "All settings of `config.toml`, most often `~/.config/parlor/config.toml`. None of it is needed. \
                 [settings.md](../settings.md) tells what goes before what.";
    let mut page = headed("Settings", about);
    page.push_str("## The screen: `[ui]`\n\n");
    head(&mut page, &["setting", "values, the usual one first", "what it says"]);
    for (name, values, about) in tui::settings() {
        row(&mut page, &[&coded([name]), &coded(values), about]);
    }
    page.push_str("\nKeys are set in `[ui.keys]`, each under its [name](keys.md): `steer = \"ctrl-t\"`.\n");
    let mut table = None;
    for one in SETTINGS {
        if table != Some(one.table) {
            table = Some(one.table);
            let title = match one.table {
                "" => "At the top of the file".to_owned(),
                name => format!("`[{name}]`"),
            };
            let _ = write!(page, "\n## {title}\n\n");
            head(&mut page, &["setting", "example", "without it", "what it says"]);
        }
        let is_value =
            one.without.starts_with(|first: char| first.is_ascii_digit() && !one.without.contains(' '))
                || ["[]", "false"].contains(&one.without);
        let without = if is_value { coded([one.without]) } else { one.without.to_owned() };
        row(&mut page, &[&coded([one.name]), &coded([one.example]), &without, one.about]);
    }
    page
}
