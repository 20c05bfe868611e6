//! Every program that Parlor itself starts: one list, with what holds each and why it is started. Nothing else in the crates starts one.
//!
//! What it is not: a judge of types. A start is `Command::new`, by whatever path; another name for `Command` is refused, so that it stays
//! findable. What a guard starts (`Guard::command`) is on the leash that it is given, and stands here by the file that asks for it.
//! docs/security.md tells the same list to readers.

use crate::program::{Program, line_of};
use crate::tree::Page;

/// A file that starts programs.
struct Start {
    file: &'static str,
    /// How often `Command::new` stands there.
    count: usize,
    program: &'static str,
    leash: &'static str,
    why: &'static str,
}

/// The one list.
const STARTS: &[Start] = &[
    Start {
        file: "crates/tools/src/bash/child.rs",
        count: 1,
        program: "the shell, for a command of the model",
        leash: "the sandbox, or the one for looking; free of it after a yes",
        why: "the `bash` tool",
    },
    Start {
        file: "crates/engine/src/mcp/process.rs",
        count: 1,
        program: "an MCP server",
        leash: "the sandbox, with what was agreed to",
        why: "you approved it, or your UI brought it",
    },
    Start {
        file: "crates/engine/src/converse.rs",
        count: 1,
        program: "an extension or a hook",
        leash: "none for yours, a project's hook is in the sandbox; it has no terminal and ends with Parlor",
        why: "your own settings name it, or you approved a project's hook",
    },
    Start {
        file: "crates/link/src/child.rs",
        count: 1,
        program: "a foreign runtime",
        leash: "none, or with `--leash` and for a task the sandbox; it has no terminal and ends with Parlor",
        why: "you wrote its command, or said yes to it",
    },
    Start {
        file: "crates/tools/src/own_git.rs",
        count: 1,
        program: "git",
        leash: "the sandbox for looking; when it writes none, with every program of a repository switched off",
        why: "worktrees, and what differs from the last commit",
    },
    Start {
        file: "crates/tools/src/sandbox.rs",
        count: 3,
        program: "Parlor, as the guard of a command and as the keeper of a network",
        leash: "none: it is what holds the others",
        why: "ends what it guards; the first tries whether namespaces work, the second makes sockets in a session's network",
    },
    Start {
        file: "crates/tools/src/sandbox/guard.rs",
        count: 1,
        program: "Parlor, as the limiter of a command",
        leash: "limits itself before it becomes the command",
        why: "the guard itself stays outside of the limits",
    },
    Start {
        file: "crates/tools/src/sandbox/limiter.rs",
        count: 1,
        program: "the command itself",
        leash: "the one that the limiter has put on",
        why: "the limiter becomes it",
    },
    Start {
        file: "crates/host/src/rooms/detach.rs",
        count: 2,
        program: "Parlor, as a session process or a server",
        leash: "none",
        why: "`parlor up`; the first is a program in between that ends at once",
    },
    Start {
        file: "crates/host/src/server/unit.rs",
        count: 2,
        program: "systemctl",
        leash: "none: words of ours only",
        why: "`parlor up --systemd` and its end",
    },
    Start {
        file: "crates/window/src/finder.rs",
        count: 1,
        program: "Parlor, as `parlor up`",
        leash: "none: words of ours only",
        why: "the desktop shell finds the server, or has it begun",
    },
    Start {
        file: "desktop/src/outside.rs",
        count: 1,
        program: "xdg-open, from the desktop shell",
        leash: "none",
        why: "you read a link and said that it is to be opened",
    },
    Start {
        file: "crates/remote/src/ssh.rs",
        count: 1,
        program: "ssh",
        leash: "none: your keys are what it is for",
        why: "`parlor attach ssh://HOST`",
    },
    Start {
        file: "crates/parlor/src/browser.rs",
        count: 1,
        program: "xdg-open or open",
        leash: "none",
        why: "`parlor web` and `parlor mcp login` open your browser",
    },
    Start {
        file: "crates/parlor/src/tour/stage.rs",
        count: 1,
        program: "Parlor, as a step of the tour shows it",
        leash: "none, and your terminal",
        why: "`parlor tour`",
    },
    Start {
        file: "crates/tui/src/shell/command.rs",
        count: 1,
        program: "your shell",
        leash: "none, and your terminal",
        why: "your own `!` commands",
    },
    Start {
        file: "crates/tui/src/shell/effects.rs",
        count: 1,
        program: "your editor",
        leash: "none, and your terminal",
        why: "you pressed the key for it",
    },
    Start {
        file: "crates/tui/src/shell/clipboard.rs",
        count: 1,
        program: "pbcopy, wl-copy, xclip or xsel",
        leash: "none: it gets the text on stdin",
        why: "you copied something",
    },
    Start {
        file: "crates/tui/src/shell/picture.rs",
        count: 1,
        program: "wl-paste, xclip or pngpaste",
        leash: "none: words of ours only",
        why: "you pasted a picture",
    },
];

const CALL: &str = "Command::new";
/// Paths of a `Command` that starts nothing.
const OTHERS: &[&str] = &["clap::"];
const LIST_IT: &str = "every program that Parlor starts stands in xtask/src/tidy/starts.rs with its leash and its reason: use what is there, or add a row";
/// Where readers find the list.
const TOLD: &str = "docs/security.md";

/// Every start that is not on the list.
pub(super) fn findings(programs: &[Program<'_>]) -> Vec<String> {
    programs.iter().flat_map(of_program).collect()
}

/// Rows whose file is gone, and rows that readers are not told.
pub(super) fn untrue(pages: &[Page], documents: &[Page]) -> Vec<String> {
    let missing = STARTS.iter().filter(|start| !pages.iter().any(|page| page.path == start.file));
    let missing = missing.map(|start| {
        format!("{}: listed in xtask/src/tidy/starts.rs but not there: remove the row", start.file)
    });
    let told = documents.iter().find(|page| page.path == TOLD).map_or("", |page| &page.text);
    let row = |start: &Start| format!("| {} | {} | {} |", start.program, start.leash, start.why);
    let untold = STARTS.iter().map(row).filter(|row| !told.contains(row.as_str()));
    missing.chain(untold.map(|row| format!("{TOLD}: what Parlor starts lacks this row: {row}"))).collect()
}

fn of_program(program: &Program<'_>) -> Vec<String> {
    let path = program.path;
    let mut found: Vec<String> = renamed(&program.code)
        .into_iter()
        .map(|line| format!("{path}:{line}: Command by another name is not found: use its own"))
        .collect();
    let lines = starts(&program.code);
    let listed = STARTS.iter().find(|start| start.file == path).map_or(0, |start| start.count);
    if lines.len() < listed {
        let count = lines.len();
        found.push(format!(
            "{path}: starts {count} of the {listed} programs that xtask/src/tidy/starts.rs lists: correct it"
        ));
    } else if lines.len() > listed {
        found.extend(lines.iter().map(|line| format!("{path}:{line}: starts a program: {LIST_IT}")));
    }
    found
}

/// The lines where a program is started, from 1.
fn starts(code: &str) -> Vec<usize> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let calls = code.match_indices(CALL).filter(|(at, _)| {
        let (before, after) = (&code[..*at], &code[at + CALL.len()..]);
        !before.ends_with(is_name)
            && !after.starts_with(is_name)
            && !OTHERS.iter().any(|other| before.ends_with(other))
    });
    calls.map(|(at, _)| line_of(code, at)).collect()
}

/// The lines where `Command` of a process gets another name.
fn renamed(code: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    for statement in code.split_inclusive(';') {
        let begins = ["use ", "type "].iter().filter_map(|word| statement.rfind(word)).max();
        if let Some(begins) = begins {
            let said: String = statement[begins..].split_whitespace().collect::<Vec<_>>().join(" ");
            let imported =
                said.starts_with("use ") && said.contains("process") && said.contains("Command as ");
            let typed = said.starts_with("type ") && said.contains("process::Command");
            if imported || typed {
                found.push(line_of(code, at + begins));
            }
        }
        at += statement.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(path: &'static str, code: &str) -> Program<'static> {
        Program { path, code: code.to_owned(), strings: Vec::new() }
    }

    #[test]
    fn a_start_is_found_in_every_spelling() {
        for code in [
            "Command::new(a)",
            "std::process::Command::new(a)",
            "tokio::process::Command::new(a)",
            "use std::process as p; p::Command::new(a)",
            "names.map(Command::new)",
        ] {
            assert_eq!(starts(code).len(), 1, "{code}");
        }
        for code in ["clap::Command::new(a)", "MyCommand::new(a)", "Command::newer(a)", "command.new(a)"] {
            assert!(starts(code).is_empty(), "{code}");
        }
    }

    #[test]
    fn another_name_for_it_is_refused() {
        for code in [
            "use std::process::Command as Run;",
            "use a;\nuse std::process::{Child, Command as Run, Stdio};",
            "use tokio::process::{\n    Child,\n    Command as\n    Run,\n};",
            "type Run = std::process::Command;",
        ] {
            assert_eq!(renamed(code).len(), 1, "{code}");
        }
        for code in ["use wire::Command as Said;", "use std::process::{Child, Command};", "let a = b as C;"] {
            assert!(renamed(code).is_empty(), "{code}");
        }
    }

    #[test]
    fn a_program_outside_of_the_list_is_refused() {
        for start in STARTS {
            let listed = program(start.file, &"Command::new(a);\n".repeat(start.count));
            assert!(findings(&[listed]).is_empty(), "{}", start.file);
            assert!(findings(&[program(start.file, "")])[0].contains("correct it"), "{}", start.file);
        }
        let one = |path, code| findings(&[program(path, code)]).join("\n");
        assert!(
            one("crates/a/src/b.rs", "\nCommand::new(a)").contains("crates/a/src/b.rs:2: starts a program")
        );
        let git = "crates/tools/src/own_git.rs";
        assert!(one(git, "Command::new(a);Command::new(b)").contains(LIST_IT));
    }

    #[test]
    fn the_list_names_what_is_there_and_readers_are_told_it() {
        let page = |path: &str, text: String| Page { path: path.to_owned(), text };
        let pages: Vec<Page> = STARTS.iter().map(|start| page(start.file, String::new())).collect();
        let rows =
            STARTS.iter().map(|start| format!("| {} | {} | {} |\n", start.program, start.leash, start.why));
        let told = page(TOLD, rows.collect());
        assert!(untrue(&pages, &[told]).is_empty());
        assert_eq!(untrue(&pages, &[]).len(), STARTS.len());
        assert!(untrue(&pages[1..], &[])[0].contains("remove the row"));
    }
}
