//! The oracle: every line that is judged free is run for real, without any leash, by a user who could do harm, in a project full of
//! traps. Afterwards nothing has changed, nothing was opened for writing, and no secret was said.
//!
//! Lines come from the tables (each option of each program) and from a generator over the reader's grammar. The seed is fixed: a failure
//! can be repeated. With `PARLOR_SLOW` there are many more lines, and `strace`, where it is installed, tells of
//! files that were opened for writing elsewhere.

mod canary;
mod generator;

use super::judge::judge;
use super::lookers::{LOOKERS, Options};
use canary::Canary;
use generator::Generator;

const SEED: u64 = 0x5EED_0FC0_FFEE;
/// Lines that are made up, and of those that are free the ones that are run.
const MADE: usize = 60_000;
const RUN: usize = 600;
/// How many times more with `PARLOR_SLOW`.
const SLOW: usize = 12;
/// Of the lines about git, one in so many is run.
const GIT_SAMPLE: usize = 9;

fn slowly() -> bool {
    std::env::var_os("PARLOR_SLOW").is_some()
}

/// Runs the lines that are free; tells how many those were.
fn run_free(canary: &Canary, lines: impl Iterator<Item = String>, most: usize) -> usize {
    let free = lines.filter(|line| judge(line, canary.place()).read_only());
    let mut ran = 0;
    for line in free.take(most) {
        canary.run(&line);
        ran += 1;
    }
    canary.check_everything();
    println!("{ran} lines were free and run");
    ran
}

/// Whether this machine has the program: a name that is not found shows nothing.
fn is_here(name: &str) -> bool {
    ["/usr/local/bin", "/usr/bin", "/bin"].iter().any(|dir| std::path::Path::new(dir).join(name).exists())
}

#[test]
fn every_option_of_every_program_that_looks_only_looks() {
    let canary = Canary::new();
    let mut lines = Vec::new();
    for looker in LOOKERS.iter().filter(|looker| looker.builtin || is_here(looker.name)) {
        let name = looker.name;
        let Options::These { flags, valued, long } = &looker.options else {
            lines.extend(["a.txt", "-a x", "--help", "'*' a.txt"].map(|args| format!("{name} {args}")));
            continue;
        };
        // Endless, and harmless.
        let ends = |letter: &char| !(name == "tail" && matches!(letter, 'f' | 'F'));
        lines.push(format!("{name} a.txt"));
        lines.push(format!("{name} a.txt b.txt"));
        lines.extend(flags.chars().filter(ends).map(|letter| format!("{name} -{letter} a.txt b.txt")));
        for letter in valued.chars() {
            for value in ["1", "a.txt", "w", "x,y"] {
                lines.push(format!("{name} -{letter}{value} a.txt"));
                lines.push(format!("{name} -{letter} {value} a.txt"));
            }
        }
        for option in long.iter().filter(|option| **option != "--follow") {
            lines.push(format!("{name} {option} a.txt"));
            lines.push(format!("{name} {option}=1 a.txt b.txt"));
            lines.push(format!("{name} {option}=b.txt a.txt"));
        }
    }
    let all = lines.len();
    let ran = run_free(&canary, lines.into_iter(), usize::MAX);
    assert!(ran * 2 > all && ran > 500, "{ran} of {all}: the table must be worth the test");
}

#[test]
fn git_that_looks_only_looks() {
    if !is_here("git") {
        return;
    }
    let canary = Canary::new();
    canary.make_repository();
    let every = if slowly() { 1 } else { GIT_SAMPLE };
    let lines: Vec<String> = generator::git_lines().into_iter().step_by(every).collect();
    let all = lines.len();
    let ran = run_free(&canary, lines.into_iter(), usize::MAX);
    assert!(ran * 2 > all && ran > 100, "{ran} of {all}: the table must be worth the test");
}

#[test]
fn whatever_line_is_free_only_looks() {
    let canary = Canary::new();
    canary.make_repository();
    let times = if slowly() { SLOW } else { 1 };
    let mut generator = Generator::new(SEED);
    let ran = run_free(&canary, (0..MADE * times).map(|_| generator.line()), RUN * times);
    assert!(ran > RUN / 2, "{ran}: the lines must be worth the test");
}

#[test]
fn no_free_line_runs_a_program_of_the_project() {
    let canary = Canary::new();
    canary.make_repository();
    canary.bring_own_programs();
    let times = if slowly() { SLOW } else { 1 };
    let mut generator = Generator::new(SEED ^ 1);
    let ran = run_free(&canary, (0..MADE * times / 8).map(|_| generator.line()), RUN * times / 4);
    assert!(ran > RUN / 40, "{ran}: what the shell does itself is free all the same");
}

#[test]
fn whatever_small_program_or_loop_is_free_only_looks() {
    let canary = Canary::new();
    canary.make_repository();
    let times = if slowly() { SLOW } else { 1 };
    let mut generator = Generator::new(SEED ^ 2);
    let lines = (0..MADE * times / 8).map(|_| generator.small_language_or_loop());
    let ran = run_free(&canary, lines, RUN * times / 4);
    assert!(ran > RUN / 8, "{ran}: the lines must be worth the test");
}

/// Lines that once were free and did harm. None is free now; were one free again, it would be run and seen.
const ONCE_FREE: &[&str] = &[
    "cat commands | xargs -I{} sh -c 'echo {}'",
    "cat commands | xargs -n1 -I % env bash -c 'echo %'",
    "strings @args",
    "strings @list",
    "strings @*",
    "echo x | uniq - b.txt",
    "echo x | xxd - b.txt",
    "sh -c 'cat .*/outside/secret.txt'",
    "echo ../outside/*",
    "x='../outside/*'; echo $x",
    "echo $(cat glob)",
    "for x in ../outside/*; do echo \"$x\"; done",
    "git grep -h CANARY",
    "git describe --dirty --always",
    "hexdump -flink a.txt",
    "ls -LR",
    "md5sum -c sums",
];

#[test]
fn lines_that_once_did_harm_are_not_run_or_do_none() {
    let canary = Canary::new();
    canary.make_repository();
    assert_eq!(run_free(&canary, ONCE_FREE.iter().map(|line| (*line).to_owned()), usize::MAX), 0);
}
