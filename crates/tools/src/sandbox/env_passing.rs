//! Variables on their way to a command: those that our own binary would obey while it is a guard or a limiter go under another name.
//!
//! A project may name `LD_PRELOAD` for its server. That is the server's matter, on its leash; the guard is on none.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::process::Command;

/// What stands before a name on its way.
const HANDED: &[u8] = b"PARLOR_HANDED_";
/// Beginnings of names that programs obey before their `main`.
const OBEYED: &[&str] = &["LD_", "DYLD_", "GLIBC_", "MALLOC_", "RUST_"];

/// The environment for a command under a guard, as the guard must be given it.
pub fn handed_on(
    all: impl IntoIterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    all.into_iter().map(|(name, value)| {
        let obeyed = OBEYED.iter().any(|start| name.as_bytes().starts_with(start.as_bytes()));
        (if obeyed { OsString::from_vec([HANDED, name.as_bytes()].concat()) } else { name }, value)
    })
}

/// Gives a command its variables under their own names.
pub(super) fn hand_over(command: &mut Command) {
    for (name, value) in std::env::vars_os() {
        if let Some(own) = name.as_bytes().strip_prefix(HANDED) {
            command.env_remove(&name).env(OsStr::from_bytes(own), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_guard_would_obey_goes_under_another_name() {
        let all = [("LD_PRELOAD", "evil.so"), ("GLIBC_TUNABLES", "x"), ("HOME", "/h")];
        let all = all.map(|(name, value)| (name.into(), value.into()));
        let names: Vec<OsString> = handed_on(all).map(|(name, _)| name).collect();
        assert_eq!(names, ["PARLOR_HANDED_LD_PRELOAD", "PARLOR_HANDED_GLIBC_TUNABLES", "HOME"]);
    }
}
