//! The desktop shell (`desktop/`, a workspace of its own): what it needs of the system, its build, its start and its tests in a real window
//! system that nobody sees.
//!
//! Nothing else builds it: it stands on hundreds of crates of a toolkit.

use anyhow::{Context, Result, bail};

use crate::needs;
use crate::package;
use crate::page;
use crate::shell::Shell;
use crate::suite::binary;

/// What names its workspace to cargo.
const MANIFEST: &str = "desktop/Cargo.toml";
/// Where it is built: a target directory that is set for the main workspace is not for this one.
const TARGET: &str = "desktop/target";

/// How both programs are built for other machines, and to be measured.
const DIST: &str = "dist";

/// What a person asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted<'a> {
    /// Build it and start it with these words.
    Start(&'a [String]),
    Build,
    /// Build it and make a package of it.
    Package,
    /// Make a package of these two programs, which were built before.
    PackageOf(&'a str, &'a str),
    /// Measure it beside an empty window of the same toolkit.
    Figures,
}

impl<'a> Wanted<'a> {
    /// Reads `[--build | --package [PARLOR SHELL] | --figures | WORD...]`.
    pub(crate) fn parse(rest: &'a [String]) -> Wanted<'a> {
        match rest {
            [flag] if flag == "--build" => Wanted::Build,
            [flag] if flag == "--package" => Wanted::Package,
            [flag, parlor, window] if flag == "--package" => Wanted::PackageOf(parlor, window),
            [flag] if flag == "--figures" => Wanted::Figures,
            words => Wanted::Start(words),
        }
    }
}

/// Builds the program and the shell, and starts the shell.
pub(crate) fn run(shell: &Shell, wanted: Wanted<'_>) -> Result<()> {
    needs::ensure(shell, needs::FOR_DESKTOP)?;
    let profile = match wanted {
        Wanted::PackageOf(parlor, window) => {
            needs::ensure(shell, needs::FOR_PACKAGE)?;
            println!("{}", package::build(shell, parlor, window)?.display());
            return Ok(());
        }
        Wanted::Package => {
            needs::ensure(shell, needs::FOR_PACKAGE)?;
            DIST
        }
        Wanted::Figures => {
            needs::ensure(shell, needs::FOR_DESKTOP_TESTS)?;
            DIST
        }
        Wanted::Start(_) | Wanted::Build => "release",
    };
    shell.cargo(&["build", "--profile", profile, "--package", "parlor"], &[])?;
    let build = ["build", "--profile", profile, "--manifest-path", MANIFEST, "--target-dir", TARGET];
    shell.cargo(&build, &[])?;
    let (parlor, window) = (binary(shell, profile)?, built(shell, profile)?);
    println!("{window}");
    match wanted {
        Wanted::Build | Wanted::PackageOf(..) => Ok(()),
        Wanted::Package => {
            println!("{}", package::build(shell, &parlor, &window)?.display());
            Ok(())
        }
        Wanted::Figures => {
            let in_workspace = ["--manifest-path", MANIFEST, "--target-dir", TARGET];
            shell.cargo(
                &[&["build", "--profile", DIST, "--example", "empty"], &in_workspace[..]].concat(),
                &[],
            )?;
            let empty = shell.root().join(TARGET).join(DIST).join("examples/empty").display().to_string();
            let env = [("PARLOR_BIN", &parlor[..]), ("PARLOR_EMPTY_WINDOW", &empty)];
            shell.cargo(
                &[&["bench", "--profile", DIST, "--bench", "figures"], &in_workspace[..]].concat(),
                &env,
            )
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
    shell.cargo(&test, &[("PARLOR_BIN", &parlor)])?;
    page::test_in_webkit(shell, &parlor)
}

fn built(shell: &Shell, profile: &str) -> Result<String> {
    let path = shell.root().join(TARGET).join(profile).join("parlor-desktop");
    if !path.is_file() {
        bail!("the build ended well but {} is not there", path.display());
    }
    path.into_os_string().into_string().ok().context("the target directory's path is not valid UTF-8")
}
