//! `cargo xtask`: the project's chores as one program, so that a clean clone needs only Rust.
//!
//! What it is not: a build system. Cargo builds; this decides what to run, in which order, and whether the
//! result counts. Each chore is one file. Judgements (layers, tidy, links) are pure functions over text, and
//! only the thin code around them reads files or starts programs.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command for people: its output is its work"
)]

mod claims;
mod comments;
mod desktop;
mod dist;
mod docs;
mod findings;
mod fuzz;
mod layers;
mod links;
mod lint;
mod needs;
mod package;
mod page;
mod program;
mod seeds;
mod sheet;
mod shell;
mod suite;
mod tidy;
mod tree;
mod words;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::shell::Shell;

const HELP: &str = "\
cargo xtask CHORE

  test [--slow] [NAME...]  install what the tests need, then run all of them (or those whose name contains NAME), every bench
                           in its short form, and docs --check
  test --desktop           the tests of the desktop shell, in a window system of their own; in no other chore
  lint                     formatting, clippy, layers, tidy, links, the tests that pages and the sentences of documents name, the
                           page's freshness; warnings are errors
  layers                   check which crate and which module of a crate uses which, and the drawing in ARCHITECTURE.md
  tidy                     check heads, lengths, names and comments of source files, and that no two places of the wires share
                           12 lines in a row (to the letter; comments, tests, `use` and lines without a word are passed over)
  docs [--check]           write the generated pages (or check them), and check every relative link and named test
  page                     build the page of `parlor web` again, which is committed
  desktop [--build | --package [PARLOR SHELL] | --figures | WORD...]
                           install what the desktop shell needs, build it and the program, and start it with these words, or
                           make a Debian package of both
  picture [FOLDER]         draw the README's pictures again, or all main screens into an (absolute) folder
  film                     draw the README's film again
  sheet                    put the scenes of the terminal and the page on one sheet (target/sheet), for somebody who knows none of them
  words [PLACE]            list every text for people (those below a folder), so that all of them can be looked at once more
  dist                     build the program as it is published, and refuse one that grew past its bound
  fuzz [--seconds N] [TARGET...]
                           try hostile inputs, guided by what they reach: both roles of every wire, and what reads bytes (30 s each)
  simulate [--shared] [--seeds N] [--from SEED] | --seed SEED
                           play the hub from seeds, with a store, lines and processes that fail (100000 schedules); one seed tells its steps
  fixtures                 make the fixtures of this version anew, with the program as it is now
  mcp-conformance          play the client scenarios of MCP's conformance suite, and write into docs/extend.md what came of each
  accept [NAME...]         run the tests and write what they got into their inline expectations
  ci                       run .ci/run, which is what the build server runs
  help                     show this
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args_os().filter_map(|word| word.into_string().ok()).skip(1).collect();
    let Some((chore, rest)) = args.split_first() else {
        eprint!("{HELP}");
        return ExitCode::from(2);
    };
    match run(chore, rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: cargo xtask {chore} failed: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The tests that draw pictures.
const PICTURES: &[&str] = &["test", "--quiet", "--package", "tui", "--lib", "gallery"];

/// The test that draws the film.
const FILM: &[&str] = &["test", "--quiet", "--package", "tui", "--lib", "gallery::film"];

/// The program that simulates, with its checks switched on.
const SIMULATE: &[&str] = &["run", "--quiet", "--package", "simulate", "--"];

fn run(chore: &str, rest: &[String]) -> Result<()> {
    let shell = Shell::at_root()?;
    match chore {
        "test" if rest == ["--desktop"] => desktop::test(&shell),
        "test" => suite::run(&shell, &suite::Options::parse(rest)?),
        "accept" => suite::run(&shell, &suite::Options::parse(rest)?.accepting()),
        "docs" => match rest {
            [] => docs::run(&shell, docs::Mode::Write, None),
            [flag] if flag == "--check" => docs::run(&shell, docs::Mode::Check, None),
            _ => bail!("it takes nothing or --check"),
        },
        "page" => no_arguments(rest).and_then(|()| page::build(&shell)),
        "picture" => match rest {
            [] => shell.step("cargo", PICTURES, &[("UPDATE_EXPECT", "1")]),
            [folder] => shell.step("cargo", PICTURES, &[("PARLOR_PICTURES", folder)]),
            _ => bail!("it takes nothing or a folder"),
        },
        "film" => no_arguments(rest).and_then(|()| shell.step("cargo", FILM, &[("UPDATE_EXPECT", "1")])),
        "sheet" => no_arguments(rest).and_then(|()| sheet::run(&shell, PICTURES)),
        "words" => match rest {
            [] => words::run(&shell, ""),
            [place] => words::run(&shell, place),
            _ => bail!("it takes nothing or the beginning of a path"),
        },
        "desktop" => desktop::run(&shell, desktop::Wanted::parse(rest)),
        "dist" => no_arguments(rest).and_then(|()| dist::run(&shell)),
        "fuzz" => fuzz::run(&shell, &fuzz::Fuzzing::parse(rest)?),
        "simulate" => {
            let words: Vec<&str> = SIMULATE.iter().copied().chain(rest.iter().map(String::as_str)).collect();
            shell.step("cargo", &words, &[])
        }
        "fixtures" => no_arguments(rest).and_then(|()| suite::fixtures(&shell)),
        "lint" => no_arguments(rest).and_then(|()| lint::run(&shell)),
        "layers" => no_arguments(rest).and_then(|()| layers::run(&shell)),
        "tidy" => no_arguments(rest).and_then(|()| tidy::run(&shell)),
        "mcp-conformance" => no_arguments(rest).and_then(|()| suite::mcp_conformance(&shell)),
        "ci" => no_arguments(rest).and_then(|()| shell.step("bash", &[".ci/run"], &[])),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        _ => bail!("there is no such chore\n\n{HELP}"),
    }
}

fn no_arguments(rest: &[String]) -> Result<()> {
    if rest.is_empty() { Ok(()) } else { bail!("it takes no arguments, got {rest:?}") }
}
