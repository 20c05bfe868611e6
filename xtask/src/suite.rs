//! Running the tests: all of the workspace, then the benches in their short form, the examples in the documentation and the page's.
//!
//! The page's tests run beside cargo's: they wait for a browser while those wait for cores. What they print stands behind.
//!
//! Everything is built once, first. The path of the program is given to the tests as `PARLOR_BIN`, so that a test in any
//! crate can start the real one. `cargo nextest` is used where it is installed (each test in its own process, a hanging
//! one is killed); plain `cargo test` runs the same tests otherwise.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::shell::Shell;
use crate::{docs, fuzz, needs, page};

/// How many cases a property test tries, and with `--slow`; proptest's own number is 256. Tests that say a number of their own keep
/// their share (`testkit::cases`).
const CASES: &str = "64";
const SLOW_CASES: &str = "5000";

/// The one test that needs a feature which nothing else may have (`cargo xtask layers`): built by itself, it compiles `dialects` and what
/// that stands on again, and nothing above.
const SCHEMAS: &[&str] = &["test", "--workspace", "--features", "dialects/schema", "--test", "schemas"];

/// The benches of the workspace, by name. Not `--benches`: that would run the tests of every library once more.
const BENCHES: &[&str] =
    &["figures", "fleet", "frame", "returning", "screen", "served", "start", "undo", "walk"];

/// How many tests nextest runs at once.
const TEST_THREADS: &str = "NEXTEST_TEST_THREADS";
/// Many wait for a process, a socket or a disk: with one test for each core a third of the cores' time goes unused.
const TESTS_PER_CORE: usize = 2;

/// What the page's tests print while cargo's run.
const PAGE_LOG: &str = "target/xtask/page-tests.log";

/// What a person asked of the test run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    depth: Depth,
    expectations: Expectations,
    names: Vec<String>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Depth {
    #[default]
    Usual,
    Slow,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Expectations {
    #[default]
    Compare,
    Rewrite,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    Nextest,
    Cargo,
}

impl Options {
    /// Reads `[--slow] [NAME...]`.
    pub(crate) fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self::default();
        for arg in args {
            match arg.as_str() {
                "--slow" => options.depth = Depth::Slow,
                flag if flag.starts_with('-') => bail!("unknown option {flag}; it takes [--slow] [NAME...]"),
                name => options.names.push(name.to_owned()),
            }
        }
        Ok(options)
    }

    /// The same, but inline expectations are rewritten with what the tests got.
    pub(crate) fn accepting(mut self) -> Self {
        self.expectations = Expectations::Rewrite;
        self
    }

    fn env<'a>(&self, binary: &'a str, server: &'a str, library: &'a str) -> Vec<(&'static str, &'a str)> {
        let mut env =
            vec![("PARLOR_BIN", binary), ("PARLOR_MCP_EVERYTHING", server), ("PARLOR_ACP_SDK", library)];
        match self.depth {
            Depth::Usual => env.push(("PROPTEST_CASES", CASES)),
            Depth::Slow => env.extend([("PARLOR_SLOW", "1"), ("PROPTEST_CASES", SLOW_CASES)]),
        }
        if self.expectations == Expectations::Rewrite {
            env.push(("UPDATE_EXPECT", "1"));
        }
        env
    }

    /// Builds all that [`Options::args`] runs.
    fn build(&self, runner: Runner) -> Vec<&str> {
        let mut args = match runner {
            Runner::Nextest => vec!["nextest", "run"],
            Runner::Cargo => vec!["test"],
        };
        args.extend(["--workspace", "--no-run"]);
        args
    }

    fn args(&self, runner: Runner) -> Vec<&str> {
        let mut args = match runner {
            Runner::Nextest if self.depth == Depth::Slow => vec!["nextest", "run", "--profile", "slow"],
            // The slow ones stand last, where a person looks.
            Runner::Nextest => {
                vec!["nextest", "run", "--status-level", "slow", "--final-status-level", "slow"]
            }
            Runner::Cargo => vec!["test", "--lib", "--bins", "--tests"],
        };
        args.extend(["--workspace", "--no-fail-fast"]);
        if !self.names.is_empty() {
            args.push("--");
            args.extend(self.names.iter().map(String::as_str));
        }
        args
    }
}

/// Ensures what is needed, builds the binary, runs the tests, and says plainly how it ended.
pub(crate) fn run(shell: &Shell, options: &Options) -> Result<()> {
    let began = Instant::now();
    needs::ensure(shell, needs::FOR_TEST)?;
    if options.names.is_empty() {
        needs::ensure(shell, needs::FOR_PAGE_TESTS)?;
    }

    let runner =
        if shell.probe(&["cargo", "nextest", "--version"]) { Runner::Nextest } else { Runner::Cargo };
    // One build for everything: the program that the tests of its own crate start is the one that all others start, too.
    let mut parts = Parts::default();
    let whole = options.names.is_empty();
    let log = shell.root().join(PAGE_LOG);
    let aside = shell.aside(&log)?;
    let (built, alone) = std::thread::scope(|scope| {
        let alone = whole.then(|| scope.spawn(|| timed(|| page::test_alone(&aside))));
        let built = parts.time("build", || shell.cargo(&options.build(runner), &[]));
        (built, alone.map(joined))
    });
    built?;
    let binary = binary(shell, "debug")?;
    let server = shell.root().join(needs::MCP_EVERYTHING).display().to_string();
    let library = shell.root().join(needs::ACP_LIBRARY).display().to_string();
    let mut env = options.env(&binary, &server, &library);
    let threads = (TESTS_PER_CORE * std::thread::available_parallelism().map_or(1, usize::from)).to_string();
    if std::env::var_os(TEST_THREADS).is_none() {
        env.push((TEST_THREADS, &threads));
    }

    if runner == Runner::Cargo && !options.names.is_empty() {
        // nextest refuses names that fit no test; cargo would call it a success.
        let mut args = options.args(runner);
        args.push("--list");
        if count_listed(&shell.cargo_output(&args)?) == 0 {
            bail!("no test is named {:?}", options.names);
        }
    }
    let (mut results, browser) = std::thread::scope(|scope| {
        let browser = whole.then(|| scope.spawn(|| timed(|| page::test_in_a_browser(&aside, &binary))));
        let mut results = vec![parts.time("tests", || shell.cargo(&options.args(runner), &env))];
        if whole {
            results.push(parts.time("schemas", || shell.cargo(SCHEMAS, &env)));
            let examples = ["test", "--workspace", "--doc", "--no-fail-fast"];
            results.push(parts.time("examples in the documentation", || shell.cargo(&examples, &env)));
            results.push(parts.time("pages", || docs::run(shell, docs::Mode::Check, Some(&binary))));
        }
        (results, browser.map(joined))
    });
    if let (Some((alone, some)), Some((browser, more))) = (alone, browser) {
        // Nothing beside them: some take the time.
        results.push(parts.time("benches", || shell.cargo(&benches(), &env)));
        parts.beside("the page", some + more);
        print!("{}", std::fs::read_to_string(&log).unwrap_or_default());
        results.extend([alone, browser]);
        if options.depth == Depth::Slow {
            results.push(parts.time("fuzzing", || fuzz::run(shell, &fuzz::Fuzzing::in_suite())));
        }
    } else {
        println!(
            "only tests named {:?} were asked for: derived schemas, benches, documentation examples and the page are left out",
            options.names
        );
    }

    let failed: Vec<String> =
        results.into_iter().filter_map(Result::err).map(|error| format!("{error:#}")).collect();
    println!("\ntest: {parts}");
    let took = began.elapsed().as_secs_f64();
    if !failed.is_empty() {
        bail!("TESTS FAILED after {took:.1} s: {}", failed.join("; "));
    }
    let which = if options.names.is_empty() { "all tests" } else { "the tests that were asked for" };
    println!("\ntest: {which} passed in {took:.1} s");
    Ok(())
}

/// What was done, and the minutes that it took.
fn timed<T>(does: impl FnOnce() -> T) -> (T, f64) {
    let began = Instant::now();
    let done = does();
    (done, began.elapsed().as_secs_f64() / 60.0)
}

/// What a thread did; if it panicked, that is a failure like any other.
fn joined(thread: std::thread::ScopedJoinHandle<'_, (Result<()>, f64)>) -> (Result<()>, f64) {
    thread.join().unwrap_or_else(|_| (Err(anyhow::anyhow!("the page's tests could not be run")), 0.0))
}

/// How long each part took.
#[derive(Debug, Default)]
struct Parts(Vec<(String, f64)>);

impl Parts {
    fn time<T>(&mut self, name: &str, does: impl FnOnce() -> T) -> T {
        let (done, minutes) = timed(does);
        self.0.push((name.to_owned(), minutes));
        done
    }

    /// What ran beside the others.
    fn beside(&mut self, name: &str, minutes: f64) {
        self.0.push((format!("{name} (beside the others)"), minutes));
    }
}

impl std::fmt::Display for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<String> =
            self.0.iter().map(|(name, minutes)| format!("{name} {minutes:.1}")).collect();
        write!(f, "minutes by part: {}", parts.join(", "))
    }
}

/// Has the program as it is now make what it would leave: store, exports, recordings, native lines and settings of this version.
pub(crate) fn fixtures(shell: &Shell) -> Result<()> {
    shell.cargo(&["build", "--package", "parlor"], &[])?;
    let from = binary(shell, "debug")?;
    let recipe = ["test", "--package", "parlor", "--test", "program", "the_recipe_makes_fixtures"];
    shell.cargo(&recipe, &[("PARLOR_FIXTURES_FROM", &from)])
}

/// Plays the client scenarios of MCP's conformance suite, and writes into the page what came of each. One of them measures time, so that
/// none is a test that a busy machine must pass.
pub(crate) fn mcp_conformance(shell: &Shell) -> Result<()> {
    needs::ensure(shell, needs::FOR_MCP_CONFORMANCE)?;
    let at = |place: &str| shell.root().join(place).display().to_string();
    let (suite, node) = (at(needs::MCP_CONFORMANCE), at(needs::MCP_CONFORMANCE_NODE));
    let env = [("PARLOR_MCP_CONFORMANCE", suite.as_str()), ("PARLOR_NODE", &node), ("UPDATE_EXPECT", "1")];
    let test =
        ["test", "--package", "engine", "--test", "it", "every_client_scenario_of_the_conformance_suite"];
    shell.cargo(&test, &env)
}

/// Every bench, briefly: one that cannot measure a row any more fails, and so does one that counts more than its bar.
fn benches() -> Vec<&'static str> {
    let mut args = vec!["test", "--workspace", "--no-fail-fast"];
    args.extend(BENCHES.iter().flat_map(|bench| ["--bench", bench]));
    args.extend(["--", "--short"]);
    args
}

fn count_listed(listing: &str) -> usize {
    listing.lines().filter(|line| line.ends_with(": test")).count()
}

/// Where cargo left the program that it built with a profile of this folder.
pub(crate) fn binary(shell: &Shell, profile: &str) -> Result<String> {
    let metadata = shell.metadata()?;
    let target = metadata["target_directory"].as_str().context("cargo metadata names no target directory")?;
    let path = Path::new(target).join(profile).join(format!("parlor{}", std::env::consts::EXE_SUFFIX));
    if !path.is_file() {
        bail!("the build ended well but {} is not there", path.display());
    }
    path.into_os_string().into_string().ok().context("the target directory's path is not valid UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Options> {
        Options::parse(&args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn names_go_behind_the_dashes_with_both_runners() {
        let options = parsed(&["canon", "--slow", "grammar"]).unwrap();
        assert_eq!(
            options.args(Runner::Nextest).join(" "),
            "nextest run --profile slow --workspace --no-fail-fast -- canon grammar"
        );
        assert_eq!(
            options.args(Runner::Cargo).join(" "),
            "test --lib --bins --tests --workspace --no-fail-fast -- canon grammar"
        );
    }

    #[test]
    fn the_environment_says_what_was_asked() {
        let usual = parsed(&[]).unwrap();
        let told = usual.env("bin", "mcp", "acp");
        assert_eq!(
            told,
            [
                ("PARLOR_BIN", "bin"),
                ("PARLOR_MCP_EVERYTHING", "mcp"),
                ("PARLOR_ACP_SDK", "acp"),
                ("PROPTEST_CASES", "64")
            ]
        );
        let all = parsed(&["--slow"]).unwrap().accepting();
        let names: Vec<&str> = all.env("bin", "mcp", "acp").into_iter().map(|(name, _)| name).collect();
        assert_eq!(
            names,
            [
                "PARLOR_BIN",
                "PARLOR_MCP_EVERYTHING",
                "PARLOR_ACP_SDK",
                "PARLOR_SLOW",
                "PROPTEST_CASES",
                "UPDATE_EXPECT"
            ]
        );
    }

    #[test]
    fn every_bench_is_run() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut found = Vec::new();
        let members = ["crates", "wires"].map(|folder| root.join(folder).read_dir().unwrap().flatten());
        for member in members.into_iter().flatten() {
            let manifest = std::fs::read_to_string(member.path().join("Cargo.toml")).unwrap_or_default();
            for part in manifest.split("[[bench]]").skip(1) {
                found.extend(part.split('"').nth(1).map(str::to_owned));
            }
        }
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, BENCHES);
    }

    #[test]
    fn a_listing_is_counted() {
        assert_eq!(count_listed("a::b: test\nc: test\n\n2 tests, 0 benchmarks\n"), 2);
        assert_eq!(count_listed("0 tests, 0 benchmarks\n"), 0);
    }

    #[test]
    fn an_unknown_option_is_refused() {
        assert!(parsed(&["--fast"]).is_err());
    }
}
