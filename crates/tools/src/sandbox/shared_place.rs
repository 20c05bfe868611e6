//! Places that a setting opens to commands, as they are when Parlor starts: every link followed, or why nobody gets them.
//!
//! Others may have been at a name before us: in temp any user of the machine makes a link or a folder of whatever name they like. What
//! they made there is not what the person meant. Not here: what commands do with a place later, which no link leads away.

use super::Closed;
use domain::path_text;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{DirBuilder, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

/// Links that are followed on the way to one place.
const MAX_LINKS: usize = 40;
/// The right of everybody to write in a folder.
const ANYBODY: u32 = 0o002;
const ROOT: u32 = 0;

/// What is done about a place that is missing in a folder where anybody may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MissingPlace {
    Stays,
    /// It is made for this user alone, before somebody else does.
    IsMade,
}

/// Why commands do not get a place that a setting names; nothing where they do.
pub fn refused_place(place: &Path) -> Option<String> {
    leads(place, MissingPlace::Stays).err()
}

/// Where a place leads, or why nobody gets it.
pub(super) fn leads(place: &Path, missing: MissingPlace) -> Result<PathBuf, String> {
    let user = rustix::process::geteuid().as_raw();
    let shown = path_text::write(place);
    let mut rest: VecDeque<OsString> = steps(place);
    let mut here = PathBuf::from("/");
    let (mut links, mut made) = (0, false);
    while let Some(step) = rest.pop_front() {
        if step == ".." {
            here.pop();
            continue;
        }
        let open = here.metadata().is_ok_and(|above| above.mode() & ANYBODY != 0);
        let next = here.join(&step);
        let found = match next.symlink_metadata() {
            Err(why)
                if why.kind() == ErrorKind::NotFound && missing == MissingPlace::IsMade && (open || made) =>
            {
                made = true;
                let make = DirBuilder::new().mode(0o700).create(&next);
                make.and_then(|()| next.symlink_metadata()).map_err(|why| format!("{shown}: {why}"))?
            }
            Err(_) => {
                here = next;
                here.extend(rest.iter());
                break;
            }
            Ok(found) => found,
        };
        if let Some(why) = others(&found, open, user) {
            let at = path_text::write(&next);
            let hint = "remove it, or name a place in a folder of your own";
            return Err(format!("{shown}: {at} is {why}, which may lead anywhere: {hint}"));
        }
        if found.is_symlink() {
            links += 1;
            let target = next.read_link().ok().filter(|_| links <= MAX_LINKS);
            let target = target.ok_or_else(|| format!("{shown}: its links cannot be followed"))?;
            if target.is_absolute() {
                here = PathBuf::from("/");
            }
            rest = steps(&target).into_iter().chain(rest).collect();
        } else {
            here = next;
        }
    }
    match links > 0 && is_too_much(&here) {
        false => Ok(here),
        true => Err(format!(
            "{shown} is a link to {}, where secrets are kept: name that itself if you mean it",
            path_text::write(&here)
        )),
    }
}

/// What a name is that somebody else may have made in the person's place; `open` says that anybody may write beside it.
fn others(found: &Metadata, open: bool, user: u32) -> Option<&'static str> {
    let is_ours = found.uid() == user || found.uid() == ROOT;
    match (found.is_symlink(), open, is_ours) {
        // A command, where it shares the person's temp, can make one of the person's own.
        (true, true, _) => Some("a link in a folder where anybody writes"),
        (true, false, false) => Some("a link of another user"),
        (false, true, false) => Some("another user's"),
        _ => None,
    }
}

/// Whether a link must not open this: the home, what it lies in, and what is closed.
fn is_too_much(place: &Path) -> bool {
    let home = crate::home().and_then(|home| home.canonicalize().ok());
    home.as_ref().is_some_and(|home| home.starts_with(place))
        || Closed::of(home.as_deref(), None).meets(place)
}

fn steps(path: &Path) -> VecDeque<OsString> {
    let named = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    named.map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    #[test]
    fn what_others_made_where_anybody_writes_is_not_what_the_person_named() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for (folder, mode) in [("open", 0o1777), ("open/own", 0o755), ("own", 0o755), ("own/inner", 0o755)] {
            std::fs::create_dir(base.join(folder)).unwrap();
            std::fs::set_permissions(base.join(folder), Permissions::from_mode(mode)).unwrap();
        }
        symlink(base.join("own"), base.join("open/link")).unwrap();
        symlink("own/../own/inner", base.join("good")).unwrap();
        symlink("/", base.join("whole")).unwrap();
        symlink("loop", base.join("loop")).unwrap();
        let leads = |place: &str| leads(&base.join(place), MissingPlace::Stays);
        for (place, to) in [
            ("open", Ok("open")),
            ("open/own", Ok("open/own")),
            ("own/inner", Ok("own/inner")),
            ("good", Ok("own/inner")),
            ("good/new/one", Ok("own/inner/new/one")),
            ("open/none", Ok("open/none")),
            ("open/link", Err("anybody")),
            ("open/link/inner", Err("anybody")),
            ("whole", Err("secrets")),
            ("loop", Err("links")),
        ] {
            match (leads(place), to) {
                (Ok(led), Ok(to)) => assert_eq!(led, base.join(to), "{place}"),
                (Err(why), Err(to)) => assert!(why.contains(to), "{place}: {why}"),
                (led, _) => panic!("{place} leads to {led:?}"),
            }
        }
        // As long as it was not made, another user could.
        let made = super::leads(&base.join("open/new/deep"), MissingPlace::IsMade).unwrap();
        assert_eq!(made.metadata().unwrap().mode() & 0o777, 0o700);
        assert_eq!(base.join("open/new").metadata().unwrap().mode() & 0o777, 0o700);
        assert!(
            super::leads(&base.join("own/new"), MissingPlace::IsMade).is_ok()
                && !base.join("own/new").exists()
        );
        // Only root can make what another user would.
        if rustix::process::geteuid().is_root() {
            for theirs in ["open/own", "own/inner"] {
                chown(base.join(theirs), Some(40_000), Some(40_000)).unwrap();
            }
            assert!(leads("open/own").unwrap_err().contains("another user's"));
            assert!(leads("own/inner").is_ok(), "a folder that the person named on purpose");
        }
    }
}
