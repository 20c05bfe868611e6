//! `cargo xtask desktop --package`: a Debian package with the program, the desktop shell, its entry in the menu and its icon.
//!
//! What it needs of the system is read off the two programs themselves (`dpkg-shlibdeps`), not written down by hand.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::shell::Shell;

/// Where it is put together, below the target folder of the shell.
const FOLDER: &str = "desktop/target/package";
/// The package's name; one holds both programs, which are of one version.
const NAME: &str = "parlor-desktop";
/// What the two use beyond libraries: a program that opens links.
const ALSO: &str = "xdg-utils";
/// The entry in the menu; links to Parlor open with it.
const ENTRY: &str = "\
[Desktop Entry]
Type=Application
Name=Parlor
GenericName=Coding agents
Comment=Your agents' sessions, one question away
Exec=parlor-desktop %u
Icon=parlor
Terminal=false
Categories=Development;
MimeType=x-scheme-handler/parlor;
StartupNotify=false
Actions=toggle;quit;

[Desktop Action toggle]
Name=Show or hide the window
Exec=parlor-desktop --toggle

[Desktop Action quit]
Name=Quit the window; sessions go on
Exec=parlor-desktop --quit
";
/// The icon's sizes, as they lie in `desktop/icons`.
const SIZES: [&str; 3] = ["32x32", "128x128", "256x256"];

/// Puts the package together from the two programs; gives its path.
pub(crate) fn build(shell: &Shell, parlor: &str, window: &str) -> Result<PathBuf> {
    let folder = shell.root().join(FOLDER);
    let tree = folder.join("tree");
    if tree.exists() {
        std::fs::remove_dir_all(&tree).with_context(|| format!("could not clear {}", tree.display()))?;
    }
    for (from, to) in [(parlor, "usr/bin/parlor"), (window, "usr/bin/parlor-desktop")] {
        put(Path::new(from), &tree.join(to), 0o755)?;
    }
    let icons = shell.root().join("desktop/icons");
    for size in SIZES {
        let to = tree.join(format!("usr/share/icons/hicolor/{size}/apps/parlor.png"));
        put(&icons.join(format!("{size}.png")), &to, 0o644)?;
    }
    put(&icons.join("parlor.svg"), &tree.join("usr/share/icons/hicolor/scalable/apps/parlor.svg"), 0o644)?;
    write(&tree.join("usr/share/applications/parlor-desktop.desktop"), ENTRY)?;
    for license in ["LICENSE-MIT", "LICENSE-APACHE"] {
        put(&shell.root().join(license), &tree.join("usr/share/doc").join(NAME).join(license), 0o644)?;
    }
    let version = version(shell)?;
    let architecture = said(&folder, "dpkg", &["--print-architecture"])?;
    let control = control(&version, architecture.trim(), &libraries(&folder, parlor, window)?, size(&tree)?);
    write(&tree.join("DEBIAN/control"), &control)?;
    let package = folder.join(format!("{NAME}_{version}_{}.deb", architecture.trim()));
    let [from, to] = [&tree, &package].map(|path| path.display().to_string());
    shell.step("dpkg-deb", &["--build", "--root-owner-group", &from, &to], &[])?;
    Ok(package)
}

fn control(version: &str, architecture: &str, libraries: &str, kilobytes: u64) -> String {
    format!(
        "Package: {NAME}\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: Parlor <parlor@localhost>\nSection: devel\nPriority: optional\n\
         Depends: {libraries}, {ALSO}\nInstalled-Size: {kilobytes}\nDescription: coding agents in a terminal, a browser and a window\n \
         One program that runs agents and speaks with every other one's user\n interfaces, and its window for the desktop. Sessions outlive every window.\n"
    )
}

/// The packages of the libraries that the programs use.
fn libraries(folder: &Path, parlor: &str, window: &str) -> Result<String> {
    // It reads the name of a source package, and only that.
    write(&folder.join("debian/control"), &format!("Source: {NAME}\n"))?;
    let told = said(folder, "dpkg-shlibdeps", &["-O", parlor, window])?;
    read_libraries(&told).with_context(|| format!("dpkg-shlibdeps said no packages: {told:?}"))
}

fn read_libraries(told: &str) -> Option<String> {
    let all = told.lines().find_map(|line| line.strip_prefix("shlibs:Depends="))?.trim();
    (!all.is_empty()).then(|| all.to_owned())
}

fn version(shell: &Shell) -> Result<String> {
    let metadata = shell.metadata()?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let parlor = packages.into_iter().find(|package| package["name"] == "parlor");
    let version = parlor.and_then(|package| package["version"].as_str());
    version.map(str::to_owned).context("cargo metadata names no version of parlor")
}

fn said(folder: &Path, program: &str, args: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(args)
        .current_dir(folder)
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("could not start {program}"))?;
    if !output.status.success() {
        bail!("{program} ended with {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("{program} printed something that is not text"))
}

fn size(folder: &Path) -> Result<u64> {
    let mut kilobytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let data = entry.metadata()?;
        kilobytes += if data.is_dir() { size(&entry.path())? } else { data.len().div_ceil(1024) };
    }
    Ok(kilobytes)
}

fn write(to: &Path, text: &str) -> Result<()> {
    let folder = to.parent().context("a file lies in a folder")?;
    std::fs::create_dir_all(folder)?;
    std::fs::write(to, text).with_context(|| format!("could not write {}", to.display()))
}

fn put(from: &Path, to: &Path, mode: u32) -> Result<()> {
    let folder = to.parent().context("a file lies in a folder")?;
    std::fs::create_dir_all(folder)?;
    std::fs::copy(from, to)
        .with_context(|| format!("could not copy {} to {}", from.display(), to.display()))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(to, std::fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_needs_is_read_off_the_programs() {
        let told = "dpkg-shlibdeps: nothing\nshlibs:Depends=libc6 (>= 2.36), libgtk-3-0 (>= 3.21)\n";
        assert_eq!(read_libraries(told).unwrap(), "libc6 (>= 2.36), libgtk-3-0 (>= 3.21)");
        assert_eq!((read_libraries("shlibs:Depends=\n"), read_libraries("")), (None, None));
        let control = control("1.2.3", "amd64", "libc6", 5);
        // Every line is a field or goes on with one: dpkg refuses others.
        assert!(control.lines().all(|line| line.starts_with(' ') || line.contains(": ")), "{control}");
        assert!(control.contains("\nDepends: libc6, xdg-utils\n"), "{control}");
    }

    #[test]
    fn the_entry_opens_links_and_says_no_word_that_the_shell_does_not_know() {
        assert!(ENTRY.contains("\nMimeType=x-scheme-handler/parlor;\n"));
        let words: Vec<&str> = ENTRY.lines().filter_map(|line| line.strip_prefix("Exec=")).collect();
        assert_eq!(words, ["parlor-desktop %u", "parlor-desktop --toggle", "parlor-desktop --quit"]);
    }
}
