//! Whether a program is there: by its name on the path, or by its whole path. Nothing is started to find out.

use rustix::fs::Access;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where the program of this name would be started from. Folders of the path that are not whole are passed over: what lies there is
/// another program in each folder.
pub(super) fn on_path(program: &str, path: Option<OsString>) -> Option<PathBuf> {
    let runs = |file: &Path| file.is_file() && rustix::fs::access(file, Access::EXEC_OK).is_ok();
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|file| file.is_absolute() && runs(file));
    }
    let path = path?;
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(program)).find(|file| runs(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_program_is_a_file_that_runs_in_a_whole_folder_of_the_path() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for (name, mode) in [("one/agent", 0o644), ("two/agent", 0o755)] {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        std::fs::create_dir_all(at("two/folder")).unwrap();
        let path = || {
            Some(std::env::join_paths([PathBuf::from("."), PathBuf::new(), at("one"), at("two")]).unwrap())
        };
        assert_eq!(on_path("agent", path()), Some(at("two/agent")));
        assert_eq!(on_path("folder", path()), None);
        assert_eq!(on_path("nothing", path()), None);
        assert_eq!(on_path("agent", None), None);
        assert_eq!(on_path(&at("two/agent").display().to_string(), None), Some(at("two/agent")));
        assert_eq!(on_path("two/agent", path()), None, "another program in each folder");
        // A folder that is told from where one stands is another one elsewhere.
        let up = "../".repeat(std::env::current_dir().unwrap().components().count());
        let relative = Path::new(&up).join(at("two").strip_prefix("/").unwrap());
        assert!(relative.join("agent").is_file(), "it would be found");
        assert_eq!(on_path("agent", Some(relative.into())), None);
    }
}
