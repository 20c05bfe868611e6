//! The desktop shell (`desktop/`, a workspace of its own): what it needs of the system, its build, its start and its tests in a real window
//! system that nobody sees.
//!
//! Nothing else builds it: it stands on hundreds of crates of a toolkit.

use anyhow::{Context, Result, bail};

use crate::needs;
use crate::package;
use crate::shell::Shell;
use crate::suite::binary;

/// What names its workspace to cargo.
const MANIFEST: &str = "desktop/Cargo.toml";
/// Where it is built: a target directory that is set for the main workspace is not for this one.
const TARGET: &str = "desktop/target";

/// What a person asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted<'a> {
    /// Build it and start it with these words.
    Start(&'a [String]),
    Build,
    /// Build it and make a package of it.
    Package,
}

impl<'a> Wanted<'a> {
    /// Reads `[--build | --package | WORD...]`.
    pub(crate) fn parse(rest: &'a [String]) -> Wanted<'a> {
        match rest {
            [flag] if flag == "--build" => Wanted::Build,
            [flag] if flag == "--package" => Wanted::Package,
            words => Wanted::Start(words),
        }
    }
}

/// Builds the program and the shell, and starts the shell.
pub(crate) fn run(shell: &Shell, wanted: Wanted<'_>) -> Result<()> {
    needs::ensure(shell, needs::FOR_DESKTOP)?;
    let profile = if wanted == Wanted::Package {
        needs::ensure(shell, needs::FOR_PACKAGE)?;
        "dist"
    } else {
        "release"
    };
    shell.cargo(&["build", "--profile", profile, "--package", "parlor"], &[])?;
    let build = ["build", "--profile", profile, "--manifest-path", MANIFEST, "--target-dir", TARGET];
    shell.cargo(&build, &[])?;
    let (parlor, window) = (binary(shell, profile)?, built(shell, profile)?);
    println!("{window}");
    match wanted {
        Wanted::Build => Ok(()),
        Wanted::Package => {
            println!("{}", package::build(shell, &parlor, &window)?.display());
            Ok(())
        }
        Wanted::Start(words) => {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            shell.step(&window, &words, &[("PARLOR_BIN", &parlor)])
        }
    }
}

/// Its own tests: the built shell in a window system of its own, with the built program.
pub(crate) fn test(shell: &Shell) -> Result<()> {
    needs::ensure(shell, needs::FOR_DESKTOP)?;
    needs::ensure(shell, needs::FOR_DESKTOP_TESTS)?;
    shell.cargo(&["build", "--package", "parlor"], &[])?;
    let parlor = binary(shell, "debug")?;
    let test = ["test", "--manifest-path", MANIFEST, "--target-dir", TARGET];
    shell.cargo(&test, &[("PARLOR_BIN", &parlor)])
}

fn built(shell: &Shell, profile: &str) -> Result<String> {
    let path = shell.root().join(TARGET).join(profile).join("parlor-desktop");
    if !path.is_file() {
        bail!("the build ended well but {} is not there", path.display());
    }
    path.into_os_string().into_string().ok().context("the target directory's path is not valid UTF-8")
}
