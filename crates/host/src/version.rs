//! Which program this is: its version, and the commit that it was built from where that is known (`0.2.0+9565bb8f1`). By it processes of
//! two builds tell each other apart, though both are of the same version.

use std::sync::OnceLock;

static VERSION: OnceLock<String> = OnceLock::new();

/// Tells what only the binary knows; before anything asks.
pub fn set_commit(commit: Option<&str>) {
    let _ = VERSION.set(written(commit));
}

/// The version, with the commit behind it.
pub fn version() -> &'static str {
    VERSION.get_or_init(|| written(None))
}

fn written(commit: Option<&str>) -> String {
    let version = env!("CARGO_PKG_VERSION");
    commit.map_or_else(|| version.to_owned(), |commit| format!("{version}+{commit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_builds_of_one_version_are_told_apart_and_one_without_a_commit_says_its_version() {
        assert_eq!(written(None), env!("CARGO_PKG_VERSION"));
        assert_ne!(written(Some("9565bb8f1")), written(Some("0fd0d024e")));
        assert!(written(Some("9565bb8f1")).ends_with("+9565bb8f1"));
    }
}
