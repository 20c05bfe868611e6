//! `parlor man`: manual pages, one for each command, from the command line as clap knows it. Whoever installed with cargo has no folder of
//! them, so the program writes them itself.

use crate::cli::{Cli, Man};
use crate::exit::{Exit, usage};
use crate::help::GROUPS;
use crate::{environment, output};
use anyhow::Context;
use clap::{Arg, Command, CommandFactory};
use domain::harmless::quoted;
use std::ffi::OsString;
use std::fmt::Write as _;

/// Prints or writes them.
pub(crate) fn man(asked: &Man) -> anyhow::Result<Exit> {
    let pages = pages();
    let Some(folder) = &asked.into else {
        let wanted = ["parlor"].into_iter().chain(asked.command.iter().map(String::as_str));
        let wanted = wanted.collect::<Vec<_>>().join("-");
        let Some((_, text)) = pages.iter().find(|(name, _)| *name == wanted) else {
            let command = quoted(&asked.command.join(" "));
            return Err(usage(format!(
                "there is no command {command}\n\nhint: `parlor --help` lists the commands; `parlor help topics` lists other pages"
            )));
        };
        output::print(text);
        return Ok(Exit::Done);
    };
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (name, text) in &pages {
        let path = folder.join(format!("{name}.1"));
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    output::print_error(&format!("wrote {} pages into {}", pages.len(), folder.display()));
    Ok(Exit::Done)
}

/// The program with the flags of all in the command of this name, as far as it heeds them.
fn whole(name: &str) -> Command {
    let mut cli = environment::with_heeded(Cli::command(), &["parlor", name].map(OsString::from));
    cli.build();
    cli
}

/// The pages of all commands by their names, such as `parlor-run`.
fn pages() -> Vec<(String, String)> {
    let mut pages = vec![("parlor".to_owned(), page("parlor", &whole("")))];
    for name in GROUPS.iter().flat_map(|(_, names)| *names) {
        if let Some(command) = whole(name).find_subcommand(name) {
            of_command(&mut pages, "parlor", command);
        }
    }
    pages
}

fn of_command(pages: &mut Vec<(String, String)>, before: &str, command: &Command) {
    let name = format!("{before}-{}", command.get_name());
    pages.push((name.clone(), page(&name, command)));
    for sub in shown(command) {
        of_command(pages, &name, sub);
    }
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

/// A page. Writing to memory does not fail.
fn page(name: &str, command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = format!(
        ".TH \"{}\" \"1\" \"\" \"{}\" \"Parlor\"\n.SH NAME\n{} \\- {}\n",
        escaped(&name.to_uppercase()),
        escaped(&format!("parlor {}", host::version::version())),
        escaped(name),
        text(&about)
    );
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage:").unwrap_or(&usage);
    let _ =
        writeln!(page, ".SH SYNOPSIS\n.nf\n{}\n.fi", lines(usage.lines().map(|line| escaped(line.trim()))));
    if let Some(long) = command.get_long_about() {
        let _ = writeln!(page, ".SH DESCRIPTION\n{}", paragraphs(&long.to_string()));
    }
    commands(&mut page, name, command);
    flags(&mut page, command);
    if let Some(after) = command.get_after_help() {
        examples(&mut page, &after.to_string());
    }
    let others = if name == "parlor" { String::new() } else { "parlor(1)\n.PP\n".to_owned() };
    let _ =
        writeln!(page, ".SH SEE ALSO\n{others}`parlor help topics` lists the pages of the documentation.");
    page
}

fn commands(page: &mut String, name: &str, command: &Command) {
    let mut all = shown(command).peekable();
    if all.peek().is_none() {
        return;
    }
    page.push_str(".SH COMMANDS\n");
    let row = |page: &mut String, sub: &Command| {
        let title = escaped(&format!("{name}-{}", sub.get_name()));
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(page, ".TP\n\\fB{title}\\fR(1)\n{}", text(&about));
    };
    if name != "parlor" {
        all.for_each(|sub| row(page, sub));
        return;
    }
    for (group, names) in GROUPS {
        let _ = writeln!(page, ".SS {}", escaped(group));
        names.iter().filter_map(|name| command.find_subcommand(name)).for_each(|sub| row(page, sub));
    }
}

/// Arguments and flags, those under a heading below it.
fn flags(page: &mut String, command: &Command) {
    let all: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    let mut headings: Vec<Option<&str>> = vec![None];
    for arg in &all {
        if !headings.contains(&arg.get_help_heading()) {
            headings.push(arg.get_help_heading());
        }
    }
    page.push_str(".SH OPTIONS\n");
    for heading in headings {
        if let Some(heading) = heading {
            let _ = writeln!(page, ".SS {}", escaped(heading));
        }
        for arg in all.iter().filter(|arg| arg.get_help_heading() == heading) {
            flag(page, arg);
        }
    }
}

fn flag(page: &mut String, arg: &Arg) {
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let typed: Vec<String> =
        short.into_iter().chain(long).map(|typed| format!("\\fB{}\\fR", escaped(&typed))).collect();
    let takes = arg.get_action().takes_values();
    let values = arg.get_value_names().unwrap_or_default().iter().filter(|_| takes);
    let values: Vec<String> = values.map(|value| format!("\\fI{}\\fR", escaped(value))).collect();
    let title = [typed.join(", "), values.join(" ")].into_iter().filter(|part| !part.is_empty());
    let about = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let _ = writeln!(page, ".TP\n{}\n{}", title.collect::<Vec<_>>().join(" "), paragraphs(&about));
    let values = arg.get_possible_values();
    let named: Vec<&str> = values.iter().filter(|one| !one.is_hide_set()).map(|one| one.get_name()).collect();
    if !named.is_empty() {
        let _ = writeln!(page, ".br\nOne of {}.", escaped(&named.join(", ")));
    }
    if let Some(variable) = arg.get_env() {
        let _ = writeln!(page, ".br\nVariable: {}.", escaped(&variable.to_string_lossy()));
    }
}

/// What stands below a command's help: lines to be typed as they are, the rest as text.
fn examples(page: &mut String, after: &str) {
    let typed = |line: &&str| line.starts_with(' ');
    let examples: Vec<&str> = after.lines().filter(typed).collect();
    if !examples.is_empty() {
        let _ = writeln!(
            page,
            ".SH EXAMPLES\n.nf\n{}\n.fi",
            lines(examples.iter().map(|line| escaped(line.trim())))
        );
    }
    let rest: Vec<&str> = after.lines().filter(|line| !typed(line) && !line.ends_with(':')).collect();
    let rest = rest.join("\n");
    if !rest.trim().is_empty() {
        let _ = writeln!(page, ".PP\n{}", paragraphs(rest.trim()));
    }
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Text with its paragraphs; what stands in back quotes is bold.
fn paragraphs(told: &str) -> String {
    let all = told.split("\n\n").map(|one| text(&one.split_whitespace().collect::<Vec<_>>().join(" ")));
    all.collect::<Vec<_>>().join("\n.sp\n")
}

fn text(told: &str) -> String {
    let pieces = told.split('`').enumerate().map(|(at, piece)| match at % 2 {
        1 => format!("\\fB{}\\fR", escaped(piece)),
        _ => escaped(piece),
    });
    let all = pieces.collect::<String>();
    // A full stop or an apostrophe at the start of a line is a request.
    if all.starts_with(['.', '\'']) { format!("\\&{all}") } else { all }
}

fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('…', "...");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_all_its_flags() {
        let pages = pages();
        let cli = Cli::command();
        for sub in cli.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            let name = format!("parlor-{}", sub.get_name());
            let (_, text) = pages.iter().find(|(known, _)| *known == name).expect(&name);
            for flag in sub.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(Arg::get_long) {
                assert!(text.contains(&escaped(&format!("--{flag}"))), "{name} --{flag}");
            }
        }
        assert!(pages.iter().any(|(name, _)| name == "parlor-sessions-export"), "those below, too");
    }

    #[test]
    fn a_page_is_made_of_known_requests_and_nothing_of_it_is_taken_for_one() {
        let known = [".TH", ".SH", ".SS", ".TP", ".PP", ".br", ".sp", ".nf", ".fi"];
        for (name, page) in pages() {
            assert!(
                page.starts_with(".TH ")
                    && page.contains("\n.SH NAME\n")
                    && page.contains("\n.SH SYNOPSIS\n")
            );
            assert_eq!(page.matches("\n.nf\n").count(), page.matches("\n.fi\n").count(), "{name}");
            for line in page.lines() {
                let request = line.split(' ').next().unwrap_or_default();
                let is_request = line.starts_with(['.', '\'']);
                assert!(!is_request || known.contains(&request), "{name}: {line}");
                assert!(!line.is_empty(), "{name} has an empty line");
                let bare = line.replace("\\e", "").replace("\\-", "").replace("\\&", "");
                assert!(
                    ["\\fB", "\\fI", "\\fR"]
                        .iter()
                        .fold(bare, |bare, font| bare.replace(font, ""))
                        .find('\\')
                        .is_none(),
                    "{name}: {line}"
                );
            }
        }
    }

    #[test]
    fn what_is_written_reads_as_it_is() {
        assert_eq!(text("`a\\b` is -x"), "\\fBa\\eb\\fR is \\-x");
        assert_eq!(text(".env too"), "\\&.env too");
        assert_eq!(paragraphs("one\ntwo\n\nthree"), "one two\n.sp\nthree");
    }
}
