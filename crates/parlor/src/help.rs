//! `parlor --help`: the commands in groups by what one wants to do, behind examples.
//!
//! Invariants: each command that is shown stands in one group, in the order of [`GROUPS`], also on the page of commands; a command's own
//! flags stand before those of all, which have the same order everywhere. No line of an example or of a group is broken at 80 columns.

use crate::serve::argv_compat;
use clap::Command;
use std::ffi::OsString;
use std::fmt::Write as _;

/// What one wants to do, and the commands for it.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    ("Start", &["tour", "run", "login", "logout", "models", "doctor"]),
    ("Conversations", &["sessions", "worktrees", "ps"]),
    ("Browser and background", &["web", "devices", "up", "down"]),
    ("Permissions and tools", &["rules", "mcp", "hooks", "skills", "prompt"]),
    (AGENTS, &["agents", "attach"]),
    (
        "For authors of UIs and agents",
        &["new", "serve", "bridge", "check", "record", "replay", "trace", "schema", "relay"],
    ),
    ("Shell", &["completions", "man"]),
];

/// The group in which the words stand that editors are told.
const AGENTS: &str = "Other agents, and editors";

const EXAMPLES: &str = "  parlor                           opens the terminal UI
  parlor \"fix the failing test\"    opens it with this prompt
  parlor --continue                goes on with the newest conversation
  parlor run \"list files\"          one prompt, the answer on stdout
  git diff | parlor run \"what does this change?\"
  parlor web                       the same in a browser";

/// Whether these words may ask for help; it takes longer to put together than a line is read.
pub(crate) fn is_asked(words: &[OsString]) -> bool {
    let asks = |word: &str| {
        let short = word.starts_with('-') && !word.starts_with("--") && word.contains('h');
        short || matches!(word, "--help" | "help")
    };
    words.iter().skip(1).filter_map(|word| word.to_str()).any(asks)
}

/// The program with its commands in groups.
pub(crate) fn grouped(command: Command) -> Command {
    let heading = command.get_styles().get_header();
    let (heading, plain) = (heading.render().to_string(), heading.render_reset().to_string());
    let mut text = format!("{heading}Examples:{plain}\n{EXAMPLES}\n");
    let width = command.get_subcommands().map(|sub| sub.get_name().len()).max().unwrap_or_default();
    let name_style = command.get_styles().get_literal();
    let (name_style, name_end) = (name_style.render().to_string(), name_style.render_reset().to_string());
    for (group, names) in GROUPS {
        // Writing to memory does not fail.
        let _ = write!(text, "\n{heading}{group}:{plain}\n");
        let mut row = |name: &str, about: &str| {
            let _ = writeln!(text, "  {name_style}{name:<width$}{name_end}  {about}");
        };
        for sub in names.iter().filter_map(|name| command.find_subcommand(name)) {
            row(sub.get_name(), &sub.get_about().map(ToString::to_string).unwrap_or_default());
        }
        if *group == AGENTS {
            argv_compat::words_in_help().for_each(|(word, about)| row(word, &about));
        }
    }
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}\n{{all-args}}{{after-help}}"
    );
    command
        .mut_subcommands(|sub| sub.hide(true))
        .override_usage("parlor [OPTIONS] [PROMPT]\n       parlor [OPTIONS] COMMAND …")
        .help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_command_stands_in_one_group() {
        let cli = Cli::command();
        let mut shown: Vec<&str> =
            cli.get_subcommands().filter(|sub| !sub.is_hide_set()).map(Command::get_name).collect();
        let mut in_groups: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        shown.sort_unstable();
        in_groups.sort_unstable();
        assert_eq!(in_groups, shown, "say in GROUPS what a command is for");
    }

    #[test]
    fn no_line_of_a_group_is_wider_than_a_usual_terminal() {
        let help = grouped(Cli::command()).term_width(80).render_long_help().to_string();
        let groups = help.split("\nArguments:").next().unwrap();
        assert!(groups.contains("\nStart:\n  tour  ") && groups.contains("\n  acp "), "{help}");
        assert!(help.contains("\nModel:\n") && help.contains("parlor help COMMAND"), "{help}");
        assert_eq!(help.matches("\n  run  ").count(), 1);
        for line in groups.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn help_is_recognised_however_it_is_asked_for() {
        let asked = |line: &str| is_asked(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(["parlor -h", "parlor --help", "parlor help", "parlor -ch"].into_iter().all(asked));
        assert!(!["parlor", "parlor run hi", "parlor --here"].into_iter().any(asked));
    }
}
