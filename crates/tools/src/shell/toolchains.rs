//! Tools that let a project choose what runs: which version, by whom it is started. They look, for a few words, only where the files
//! by which a project chooses are known and none is there.

use super::programs::Programs;
use super::reach::Reach;
use super::surroundings::Surroundings;

/// Tools that come together.
pub(super) struct Toolchain {
    programs: &'static [&'static str],
    /// Where a manager of versions puts them, below the person's home.
    managed: &'static str,
    /// What a project chooses by: its names in the folder of the command and in those above it.
    chosen_by: &'static [&'static str],
}

const RUST: Toolchain = Toolchain {
    programs: &["cargo", "rustc", "rustfmt", "cargo-fmt"],
    managed: ".cargo/bin",
    chosen_by: &["rust-toolchain", "rust-toolchain.toml", ".cargo"],
};
const NODE: Toolchain =
    Toolchain { programs: &["node", "npm"], managed: ".nvm/versions/node", chosen_by: &[".npmrc"] };

/// The toolchain of this name.
pub(super) fn find(name: &str) -> Option<&'static Toolchain> {
    [&RUST, &NODE].into_iter().find(|toolchain| toolchain.programs.contains(&name))
}

/// Whether a tool only looks when it gets these words.
pub(super) fn looks(name: &str, args: &[&str]) -> bool {
    match (name, args) {
        (_, ["--version"]) | ("cargo" | "rustc", ["-V"]) | ("node" | "npm", ["-v"]) => true,
        ("cargo", ["fmt", rest @ ..]) => {
            let checks = |arg: &&str| matches!(*arg, "--check" | "--all" | "-q" | "--quiet" | "--");
            rest.contains(&"--check") && rest.iter().all(checks)
        }
        ("npm", ["ls" | "list", rest @ ..]) => {
            let depth = |arg: &str| {
                let depth = arg.strip_prefix("--depth=").unwrap_or(arg);
                !depth.is_empty() && depth.chars().all(|c| c.is_ascii_digit())
            };
            rest.iter().all(|arg| matches!(*arg, "--all" | "-a" | "--json" | "--depth") || depth(arg))
        }
        _ => false,
    }
}

impl Toolchain {
    /// Why the tool may be another program here, if that is so.
    pub(super) fn doubt(
        &self,
        name: &str,
        said: &str,
        programs: &Programs<'_>,
        reach: &Reach<'_>,
        place: &dyn Surroundings,
    ) -> Option<String> {
        let mut run = vec![said];
        // npm is a script of node's; cargo's `fmt` runs two more.
        match name {
            "npm" => run.push("node"),
            "cargo" => run.extend(["cargo-fmt", "rustfmt"]),
            _ => {}
        }
        if let Some(other) = run.into_iter().find(|name| !programs.is_managed(name, self.managed)) {
            return Some(format!("`{other}` is neither the system's own nor one of a known manager"));
        }
        let inside = |base: &&std::path::Path| place.inside(base);
        let mut folders = reach.bases().iter().flat_map(|base| base.ancestors().take_while(inside));
        let chosen = |folder: &std::path::Path| {
            self.chosen_by.iter().find(|file| folder.join(file).symlink_metadata().is_ok())
        };
        folders.find_map(chosen).map(|file| format!("`{file}` of the project may choose what `{name}` runs"))
    }
}
