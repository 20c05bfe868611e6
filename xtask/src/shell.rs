//! Starting other programs from the repository's root, with the command shown, timed, and its failure named.
//!
//! What it is not: a command interpreter. Arguments go to the program as they are.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// Where we stand and which cargo called us.
pub(crate) struct Shell {
    root: PathBuf,
    cargo: String,
    /// Where everything is printed instead of here.
    aside: Option<File>,
}

impl Shell {
    /// Finds the root from cargo's own variable, so that a moved checkout still works.
    pub(crate) fn at_root() -> Result<Self> {
        let manifest =
            std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
        let root = Path::new(&manifest).parent().context("xtask must lie in the repository's root")?;
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        Ok(Self { root: root.to_owned(), cargo, aside: None })
    }

    /// The same, with everything printed into this file: for what runs beside something else.
    pub(crate) fn aside(&self, path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = File::create(path).with_context(|| format!("could not write {}", path.display()))?;
        Ok(Self { root: self.root.clone(), cargo: self.cargo.clone(), aside: Some(file) })
    }

    /// The repository's root.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Runs one cargo command to its end; anything but success is an error.
    pub(crate) fn cargo(&self, args: &[&str], env: &[(&str, &str)]) -> Result<()> {
        self.perform(&self.cargo, "cargo", args, env)
    }

    /// Runs one program to its end; anything but success is an error.
    pub(crate) fn step(&self, program: &str, args: &[&str], env: &[(&str, &str)]) -> Result<()> {
        self.perform(program, program, args, env)
    }

    fn perform(&self, program: &str, shown: &str, args: &[&str], env: &[(&str, &str)]) -> Result<()> {
        let line = line_of(shown, args, env);
        self.say(&format!("\n$ {line}"))?;
        let began = Instant::now();
        let mut command = Command::new(program);
        command.args(args).envs(env.iter().copied()).current_dir(&self.root);
        if let Some(aside) = &self.aside {
            command.stdin(Stdio::null()).stdout(aside.try_clone()?).stderr(aside.try_clone()?);
        }
        let status = command.status().with_context(|| format!("could not start `{line}`"))?;
        self.say(&format!("  {:.1} s: {line}", began.elapsed().as_secs_f64()))?;
        if !status.success() {
            bail!("`{line}` ended with {status}");
        }
        Ok(())
    }

    fn say(&self, line: &str) -> Result<()> {
        match &self.aside {
            Some(aside) => writeln!(&*aside, "{line}")?,
            None => println!("{line}"),
        }
        Ok(())
    }

    /// What a cargo command prints on stdout; its stderr is passed through.
    pub(crate) fn cargo_output(&self, args: &[&str]) -> Result<String> {
        let line = line_of("cargo", args, &[]);
        let output = Command::new(&self.cargo)
            .args(args)
            .current_dir(&self.root)
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("could not start `{line}`"))?;
        if !output.status.success() {
            bail!("`{line}` ended with {}", output.status);
        }
        String::from_utf8(output.stdout)
            .with_context(|| format!("`{line}` printed something that is not text"))
    }

    /// The system that cargo builds for: named to it, build scripts are built without the flags of the program.
    pub(crate) fn host(&self) -> Result<String> {
        let told = self.cargo_output(&["-vV"])?;
        let host = told.lines().find_map(|line| line.strip_prefix("host: "));
        host.map(str::to_owned).context("cargo did not name its host")
    }

    /// Whether a program can be started and ends well, quietly.
    pub(crate) fn probe(&self, command: &[&str]) -> bool {
        let Some((program, args)) = command.split_first() else { return false };
        let program = if *program == "cargo" { self.cargo.as_str() } else { program };
        Command::new(program)
            .args(args)
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    /// What cargo knows about the workspace's own packages.
    pub(crate) fn metadata(&self) -> Result<serde_json::Value> {
        let text = self.cargo_output(&["metadata", "--format-version", "1", "--no-deps"])?;
        serde_json::from_str(&text).context("cargo metadata printed something that is not JSON")
    }
}

fn line_of(program: &str, args: &[&str], env: &[(&str, &str)]) -> String {
    let env = env.iter().map(|(name, value)| format!("{name}={value}"));
    env.chain([program.to_owned()])
        .chain(args.iter().map(|&arg| arg.to_owned()))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_fails_is_an_error_that_names_the_command() {
        let shell = Shell::at_root().unwrap();
        let error = shell.step("sh", &["-c", "exit 3"], &[]).unwrap_err();
        assert!(error.to_string().contains("sh -c exit 3"), "{error}");
        assert!(shell.step("no-such-program-anywhere", &[], &[]).is_err());
        assert!(shell.step("sh", &["-c", "exit 0"], &[]).is_ok());
    }

    #[test]
    fn a_probe_tells_presence_from_absence() {
        let shell = Shell::at_root().unwrap();
        assert!(shell.probe(&["cargo", "--version"]));
        assert!(!shell.probe(&["no-such-program-anywhere"]));
        assert!(!shell.probe(&[]));
    }
}
