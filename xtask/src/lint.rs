//! Everything that judges the source without running it. All checks run, then all failures are named together,
//! because a person wants the whole list and not the first line of it.

use anyhow::{Result, bail};

use crate::shell::Shell;
use crate::{docs, layers, needs, page, tidy};

/// What is printed of the page meanwhile.
const PAGE_LOG: &str = "target/xtask/page-lint.log";

/// The fuzzer is a workspace of its own. Its form is looked at here; that it compiles is seen where it runs (`--slow`).
const FUZZ: &[&str] = &["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"];

/// The same of the desktop shell, which `cargo xtask test --desktop` compiles.
const DESKTOP: &[&str] = &["fmt", "--manifest-path", "desktop/Cargo.toml", "--check"];

/// Runs every check.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    needs::ensure(shell, needs::FOR_LINT)?;
    // What only the test of the derived schemas compiles.
    let schemas = [
        "clippy",
        "--workspace",
        "--features",
        "dialects/schema",
        "--test",
        "schemas",
        "--",
        "-D",
        "warnings",
    ];
    let log = shell.root().join(PAGE_LOG);
    let aside = shell.aside(&log)?;
    let (mut results, form) = std::thread::scope(|scope| {
        // Its packages come from the network: that is waited for beside the compiler.
        let form = scope.spawn(|| page::lint(&aside));
        let results = vec![
            ("tidy", tidy::run(shell)),
            ("layers", layers::run(shell)),
            ("page", page::check(shell)),
            ("fmt (`cargo fmt --all` repairs it)", shell.cargo(&["fmt", "--all", "--check"], &[])),
            (
                "fmt of the fuzzer (`cargo fmt --manifest-path fuzz/Cargo.toml` repairs it)",
                shell.cargo(FUZZ, &[]),
            ),
            (
                "fmt of the desktop shell (`cargo fmt --manifest-path desktop/Cargo.toml` repairs it)",
                shell.cargo(DESKTOP, &[]),
            ),
            ("clippy", shell.cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])),
            ("clippy of the schemas", shell.cargo(&schemas, &[])),
            ("links", docs::links(shell)),
        ];
        (results, form.join())
    });
    print!("{}", std::fs::read_to_string(&log).unwrap_or_default());
    let form = form.unwrap_or_else(|_| Err(anyhow::anyhow!("it could not be looked at")));
    results.push(("form of the page (`npm run fix --prefix page` repairs most of it)", form));
    let mut failed = Vec::new();
    for (name, result) in results {
        if let Err(error) = result {
            eprintln!("\n{name}: {error:#}");
            failed.push(name);
        }
    }
    if !failed.is_empty() {
        bail!("{}", failed.join(", "));
    }
    println!("\nlint: every check passed");
    Ok(())
}
