//! The person's home folder: what `HOME` says when that is a place at all, else what the user database says.
//!
//! An empty or relative `HOME` is no answer: it would make the home folder a folder like any other, with all that is kept in it.

use std::ffi::OsString;
use std::path::PathBuf;

/// The home folder of the user who runs this program; `None` when nothing names one.
pub fn home() -> Option<PathBuf> {
    named(std::env::var_os("HOME")).or_else(known)
}

fn named(value: Option<OsString>) -> Option<PathBuf> {
    value.map(PathBuf::from).filter(|home| home.is_absolute())
}

/// What the user database says.
fn known() -> Option<PathBuf> {
    let user = nix::unistd::User::from_uid(nix::unistd::getuid()).ok()??;
    Some(user.dir).filter(|home| home.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_that_is_no_place_is_not_believed() {
        assert_eq!(named(Some("/h".into())), Some(PathBuf::from("/h")));
        for odd in ["", "relative", "./x", "~"] {
            assert_eq!(named(Some(odd.into())), None, "{odd:?}");
        }
        assert_eq!(named(None), None);
    }
}
