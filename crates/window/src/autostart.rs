//! Whether the shell is started when the person logs in: a file in the folder that desktops read for it, and nothing else. It starts in
//! the tray.
//!
//! Invariants: a file that we did not write is never changed; the program's path is quoted as the file's form asks for it.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// The file in the desktop's folder.
const FILE: &str = "parlor-desktop.desktop";
/// Stands in what we wrote.
const OURS: &str = "X-Parlor-Autostart=true";
/// Bytes of the file that are read.
const MAX_FILE: u64 = 64 * 1024;

/// The file, where there is a place for one.
pub fn file(var: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name| var(name).filter(|folder| folder.is_absolute());
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("autostart").join(FILE))
}

/// Whether the person wants it to be started.
pub fn is_on(file: &Path) -> bool {
    text(file).is_ok_and(|text| text.lines().all(|line| line.trim() != "Hidden=true"))
}

fn text(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(file)?.take(MAX_FILE).read_to_string(&mut text)?;
    Ok(text)
}

/// Has this program started at each login, or no longer.
///
/// # Errors
/// Why it cannot be, for the person.
pub fn set(file: &Path, program: &Path, on: bool) -> Result<(), String> {
    let told = |why: io::Error| format!("{}: {why}", file.display());
    match text(file) {
        Ok(text) if !text.lines().any(|line| line == OURS) => {
            return Err(format!("{} is not Parlor's own: change or remove it by hand", file.display()));
        }
        Err(why) if why.kind() == io::ErrorKind::NotFound && !on => return Ok(()),
        Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(told(why)),
        _ => {}
    }
    if !on {
        return std::fs::remove_file(file).map_err(told);
    }
    let program = program.to_str().and_then(quoted).ok_or_else(|| {
        format!(
            "{} has characters that such a file cannot name: put the program elsewhere",
            program.display()
        )
    })?;
    let entry = format!(
        "[Desktop Entry]\nType=Application\nName=Parlor\nComment=Your agents' sessions, one question away\nExec={program} --hidden\nIcon=parlor\n{OURS}\n"
    );
    write(file, &entry).map_err(told)
}

/// Writes it whole or not at all.
fn write(file: &Path, text: &str) -> io::Result<()> {
    std::fs::create_dir_all(file.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
    let beside = file.with_extension(format!("{}.new", std::process::id()));
    let mut new = std::fs::File::create(&beside)?;
    new.write_all(text.as_bytes())?;
    std::fs::rename(&beside, file)
}

/// As a word of `Exec`: in quotes, where a few characters are escaped twice (once for the word, once for the file).
fn quoted(program: &str) -> Option<String> {
    if program.chars().any(|one| one.is_control() || one == '=') {
        return None;
    }
    let mut word = String::from("\"");
    for one in program.chars() {
        match one {
            '"' | '`' | '$' => word.extend(['\\', '\\', one]),
            '\\' => word.push_str("\\\\\\\\"),
            '%' => word.push_str("%%"),
            other => word.push(other),
        }
    }
    word.push('"');
    Some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_once_wanted_and_gone_when_no_longer() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("autostart").join(FILE);
        assert_eq!((set(&file, Path::new("/p"), false), is_on(&file)), (Ok(()), false));
        set(&file, Path::new("/opt/a b/parlor-desktop"), true).unwrap();
        assert!(is_on(&file));
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("\nExec=\"/opt/a b/parlor-desktop\" --hidden\n"), "{text}");
        // Again, from where it lies now.
        set(&file, Path::new("/usr/bin/parlor-desktop"), true).unwrap();
        assert!(std::fs::read_to_string(&file).unwrap().contains("\"/usr/bin/parlor-desktop\""));
        set(&file, Path::new("/p"), false).unwrap();
        assert!(!file.exists() && !is_on(&file));
    }

    #[test]
    fn a_file_of_somebody_else_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(FILE);
        for theirs in ["[Desktop Entry]\nExec=other\n", "[Desktop Entry]\nHidden=true\n"] {
            std::fs::write(&file, theirs).unwrap();
            assert_eq!(is_on(&file), !theirs.contains("Hidden"));
            for on in [true, false] {
                assert!(set(&file, Path::new("/p"), on).unwrap_err().contains("by hand"));
            }
            assert_eq!(std::fs::read_to_string(&file).unwrap(), theirs);
        }
    }

    #[test]
    fn a_path_is_one_word_whatever_is_in_it() {
        assert_eq!(quoted("/a b"), Some("\"/a b\"".to_owned()));
        assert_eq!(quoted("/a$b`c\"d"), Some(r#""/a\\$b\\`c\\"d""#.to_owned()));
        assert_eq!(quoted(r"/a\b"), Some(r#""/a\\\\b""#.to_owned()));
        assert_eq!(quoted("/50%u"), Some("\"/50%%u\"".to_owned()));
        assert_eq!((quoted("/a\nExec=b"), quoted("/a=b")), (None, None));
    }

    #[test]
    fn it_lies_where_desktops_look() {
        let with = |set: &'static [(&'static str, &'static str)]| {
            file(move |name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| PathBuf::from(value)))
        };
        assert_eq!(with(&[("HOME", "/h")]), Some("/h/.config/autostart/parlor-desktop.desktop".into()));
        assert_eq!(
            with(&[("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")]),
            Some("/x/autostart/parlor-desktop.desktop".into())
        );
        assert_eq!(with(&[("HOME", "rel")]), None);
    }
}
