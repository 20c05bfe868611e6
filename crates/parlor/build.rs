//! Links the program so that it starts quickly, and tells it which commit it is built from.

use std::path::Path;
use std::process::Command;

/// Whoever builds outside git says it here.
const COMMIT: &str = "PARLOR_COMMIT";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).as_deref() == Ok(value);
    let glibc = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    // Some 80,000 places hold addresses. In a program that may be loaded anywhere, all of them are written at every start, which takes
    // longer than all that we do until the screen stands; and each command of the agent starts us once more, as its guard. A build
    // for oneself does without; what is published (`dist`) can be loaded anywhere.
    if glibc && is("PROFILE", "release") && !is("OPT_LEVEL", "3") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    println!("cargo::rerun-if-env-changed={COMMIT}");
    // A build of everyday work asks nobody: each commit would compile and link the program and its tests anew.
    let said = std::env::var(COMMIT).ok();
    if let Some(commit) = said.or_else(|| is("PROFILE", "release").then(commit).flatten()) {
        println!("cargo::rustc-env={COMMIT}={commit}");
    }
}

/// The commit that is checked out; none outside git.
fn commit() -> Option<String> {
    // Git adds a line there at each commit and checkout.
    let moves = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&moves).is_file() {
        println!("cargo::rerun-if-changed={moves}");
    }
    git(&["rev-parse", "--short=9", "HEAD"])
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| said.trim().to_owned()).filter(|said| !said.is_empty())
}
