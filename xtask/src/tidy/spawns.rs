//! Tasks and threads that nothing holds: each could go on when its owner is over.
//!
//! What it is not: a judge of types. A task is owned when it is begun on something with a name (`tasks.spawn(..)`), which is then a
//! `JoinSet`, a scope or `link::Tasks`; a runtime or a handle of one owns nothing. A blocking call that is awaited where it begins, and
//! a thread that is joined there, are held by whoever waits.

use crate::program::{Program, line_of};

const SPAWNS: &[&str] = &["spawn", "spawn_blocking", "spawn_local"];
/// Names of what begins tasks and holds none.
const NO_OWNERS: &[&str] = &["runtime", "handle", "rt"];

/// The files that begin some nevertheless, how many, and what ends them.
const SPAWNERS: &[(&str, usize, &str)] = &[
    ("crates/hub/src/shell/hub.rs", 1, "the hub's own task: Hub::stop returns when it is over"),
    ("crates/kit/src/check/defects/channel.rs", 2, "ends with either of its pipes"),
    ("crates/kit/src/recorder.rs", 1, "Recorder::finish waits for its thread, as long as a disk may take"),
    ("crates/link/src/child/process.rs", 1, "ends with the child, which ends with its handle"),
    (
        "crates/link/src/stdio.rs",
        2,
        "a read of stdin cannot be called off: abandoned at the end of the process",
    ),
    ("crates/models/src/emit.rs", 1, "ends when its reader goes or cancels: every wait of it looks for that"),
    (
        "crates/parlor/src/lib.rs",
        1,
        "ends commands that lost their guard for as long as the program lasts, then goes with its runtime",
    ),
    (
        "crates/team/src/database.rs",
        4,
        "its thread is joined when the database is let go, and its tasks end with their runtime there; a call is awaited where it begins",
    ),
    (
        "crates/tools/src/bash/child.rs",
        1,
        "kills a group after its grace time; the guard does it if we end first",
    ),
    (
        "crates/tools/src/bash/jobs.rs",
        1,
        "Jobs::end stops the commands and waits until each has told its end",
    ),
    ("crates/tools/src/sandbox/guard.rs", 1, "waits for the death of our parent: abandoned with the process"),
    (
        "crates/tools/src/tool.rs",
        2,
        "awaited below unless a cancel comes first; a thread is joined by the one that began it",
    ),
    (
        "crates/tui/src/shell/effects.rs",
        4,
        "one look at the clipboard, a picture, a folder or the agents there are; its answer goes to an inbox that may be gone",
    ),
    ("crates/tui/src/shell/gallery.rs", 1, "ends with the gallery, whose end of the channel it reads"),
    ("crates/tui/src/shell/lines.rs", 1, "woken and joined by its end, which is awaited"),
    ("crates/tui/src/shell/line.rs", 1, "awaited below, also when a signal comes first"),
    (
        "crates/tui/src/shell/input.rs",
        3,
        "a read of a terminal cannot be called off: abandoned with the process; the wait is awaited below",
    ),
    (
        "crates/parlor/src/output/canvas.rs",
        1,
        "reads keys in short waits and ends with the screen that it reads for",
    ),
    (
        "crates/parlor/src/output/reader.rs",
        1,
        "waits until nobody reads stdout, which cannot be called off: abandoned with the process",
    ),
    ("crates/parlor/src/fleet_port.rs", 1, "gathers for one screen and ends when that wishes no more"),
    ("crates/host/src/fleet.rs", 1, "a look at the disk is awaited right there"),
];
const OWN_IT: &str =
    "every task is awaited or dropped with its owner: use link::Tasks or a JoinSet that the owner holds";

/// Every bare spawn that is not on the list, and whatever of the list is not so any more.
pub(super) fn findings(programs: &[Program<'_>]) -> Vec<String> {
    programs.iter().flat_map(of_program).collect()
}

fn of_program(program: &Program<'_>) -> Vec<String> {
    let path = program.path;
    let lines = bare(&program.code);
    let listed = SPAWNERS.iter().find(|(listed, _, _)| *listed == path).map_or(0, |(_, count, _)| *count);
    if lines.len() < listed {
        return vec![format!(
            "{path}: begins {} of the {listed} tasks that xtask/src/tidy/spawns.rs lists: correct it",
            lines.len()
        )];
    }
    if lines.len() == listed {
        return Vec::new();
    }
    lines.iter().map(|line| format!("{path}:{line}: a bare spawn: {OWN_IT}")).collect()
}

/// The lines of bare spawns, from 1.
fn bare(code: &str) -> Vec<usize> {
    let mut found: Vec<usize> = SPAWNS
        .iter()
        .flat_map(|name| {
            code.match_indices(&format!("{name}(")).map(|(at, _)| (at, at + name.len())).collect::<Vec<_>>()
        })
        .filter(|(at, arguments)| is_bare(code, *at, *arguments))
        .map(|(at, _)| line_of(code, at))
        .collect();
    found.sort_unstable();
    found
}

/// Whether the call at `at`, whose arguments begin with the bracket at `arguments`, leaves something that nobody holds.
fn is_bare(code: &str, at: usize, arguments: usize) -> bool {
    let before = code[..at].trim_end();
    // A longer name, a definition, and the start of a process.
    if code[..at].ends_with(is_name) || before.ends_with("fn") || code[arguments..].starts_with("()") {
        return false;
    }
    let after = code[closed(code, arguments)..].trim_start();
    if [".await", ".join()"].iter().any(|waits| after.starts_with(waits)) {
        return false;
    }
    let Some(owner) = before.strip_suffix('.') else { return true };
    let owner = owner.trim_end();
    let name = &owner[owner.rfind(|c| !is_name(c)).map_or(0, |end| end + 1)..];
    name.is_empty() || NO_OWNERS.contains(&name)
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where the bracket that opens here is closed.
fn closed(code: &str, from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code[from..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return from + at + 1;
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_holds_is_found_in_every_spelling() {
        for code in [
            "tokio::spawn(work);",
            "tokio::task::spawn(work);",
            "spawn(work);",
            "Handle::current().spawn(work);",
            "self.runtime.spawn(work);",
            "handle.spawn_blocking(work);",
            "tokio::task::spawn_blocking(work);",
            "spawn_local(work);",
            "std::thread::spawn(move || work());",
            "thread::Builder::new()\n    .name(name)\n    .spawn(move || work())?;",
        ] {
            assert_eq!(bare(code).len(), 1, "{code}");
        }
        assert_eq!(bare("a\nb\ntokio::spawn(work);\nspawn(work);"), [3, 4]);
    }

    #[test]
    fn what_somebody_holds_is_not() {
        for code in [
            "tasks.spawn(work);",
            "self.0.spawn(work);",
            "self\n    .jobs\n    .spawn_blocking(work);",
            "scope.spawn(|| work());",
            "Command::new(program).spawn()?;",
            "pub fn spawn(&mut self) {}",
            "respawn(work);",
            "let done = tokio::task::spawn_blocking(work).await;",
            "spawn_blocking(move || work(\n    (1)))\n    .await",
            "thread::spawn(work).join()",
        ] {
            assert!(bare(code).is_empty(), "{code}");
        }
    }

    #[test]
    fn a_listed_file_begins_as_many_as_the_list_says() {
        let (path, count, _) = SPAWNERS[0];
        let program = |spawns: usize| Program {
            path,
            code: "tokio::spawn(work);\n".repeat(spawns),
            strings: Vec::new(),
        };
        assert!(findings(&[program(count)]).is_empty());
        assert_eq!(findings(&[program(count + 1)]).len(), count + 1);
        assert!(findings(&[program(count - 1)])[0].contains("correct it"));
        assert!(SPAWNERS.iter().all(|(_, count, why)| *count > 0 && !why.is_empty()));
    }
}
