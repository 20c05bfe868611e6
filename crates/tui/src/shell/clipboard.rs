//! The desktop's clipboard, where one of its programs is there. The terminal is told as well (OSC 52), and over SSH only the terminal:
//! a program there would fill a clipboard on the other machine.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a program may take to accept a text; then it is ended.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(10);

type Program = (&'static str, &'static [&'static str]);

/// Puts a text there. Takes a bounded time, on a thread for blocking work; what cannot be done is left to the terminal.
pub(super) fn put(text: &str) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let found = programs(named).iter().find_map(|program| Some((find(program.0, &path)?, program.1)));
    if let Some((program, arguments)) = found {
        hand_over(Command::new(program).args(arguments), text, PATIENCE);
    }
}

/// The programs that fit this desktop, the likeliest first.
fn programs(named: impl Fn(&str) -> Option<OsString>) -> Vec<Program> {
    if ["SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"].iter().any(|name| named(name).is_some()) {
        return Vec::new();
    }
    if cfg!(target_os = "macos") {
        return vec![("pbcopy", &[])];
    }
    let mut programs: Vec<Program> = Vec::new();
    if named("WAYLAND_DISPLAY").is_some() {
        programs.push(("wl-copy", &[]));
    }
    if named("DISPLAY").is_some() {
        programs.push(("xclip", &["-selection", "clipboard"]));
        programs.push(("xsel", &["--clipboard", "--input"]));
    }
    programs
}

/// The program of this name in one of the folders of `path`.
fn find(name: &str, path: &OsStr) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let runs = |file: &PathBuf| {
        file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    // A name without a folder would be looked for where the person happens to be.
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(runs)
}

/// Gives a program the text, and waits for it; whether it took it. One that does not end is ended.
fn hand_over(command: &mut Command, text: &str, patience: Duration) -> bool {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    let until = Instant::now() + patience;
    // A program that does not read must not be waited for in writing.
    let mut pipe = child.stdin.take().filter(|pipe| rustix::io::ioctl_fionbio(pipe, true).is_ok());
    let mut left = text.as_bytes();
    loop {
        match pipe.as_mut().map(|pipe| pipe.write(left)) {
            Some(Ok(written)) if written < left.len() => left = &left[written..],
            Some(Err(why)) if why.kind() == std::io::ErrorKind::WouldBlock => {}
            // All of it is written, or it wants no more.
            Some(Ok(_) | Err(_)) | None => pipe = None,
        }
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < until => std::thread::sleep(LOOK),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn names(set: &[&str]) -> Vec<&'static str> {
        let named = |name: &str| set.contains(&name).then(|| OsString::from("x"));
        programs(named).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    #[cfg(not(target_os = "macos"))]
    fn the_desktop_says_which_program_and_over_ssh_there_is_none() {
        assert_eq!(names(&[]), Vec::<&str>::new());
        assert_eq!(names(&["WAYLAND_DISPLAY", "DISPLAY"]), ["wl-copy", "xclip", "xsel"]);
        assert_eq!(names(&["DISPLAY"]), ["xclip", "xsel"]);
        for ssh in ["SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"] {
            assert_eq!(names(&["WAYLAND_DISPLAY", "DISPLAY", ssh]), Vec::<&str>::new());
        }
    }

    #[test]
    fn a_program_is_found_where_it_can_be_run() {
        let dir = tempfile::tempdir().unwrap();
        for (folder, mode) in [("a", 0o644), ("b", 0o755)] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
            let file = dir.path().join(folder).join("xclip");
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let path = std::env::join_paths([dir.path().join("a"), ".".into(), dir.path().join("b")]).unwrap();
        assert_eq!(find("xclip", &path), Some(dir.path().join("b/xclip")));
        assert_eq!(find("xsel", &path), None);
    }

    #[test]
    fn the_text_is_handed_over_and_one_that_does_not_read_is_ended() {
        let dir = tempfile::tempdir().unwrap();
        let kept = dir.path().join("kept");
        let text = "words\n".repeat(50_000);
        let mut takes = Command::new("sh");
        takes.args(["-c", "cat > \"$0\""]).arg(&kept);
        assert!(hand_over(&mut takes, &text, Duration::from_secs(60)));
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), text);
        // `exec`, so that what is ended is what holds the pipe.
        let mut hangs = Command::new("sh");
        let pid = dir.path().join("pid");
        hangs.args(["-c", "echo $$ > \"$0\"; exec sleep 600"]).arg(&pid);
        assert!(!hand_over(&mut hangs, &text, Duration::from_millis(300)));
        let pid = std::fs::read_to_string(pid).unwrap();
        assert!(!std::path::Path::new(&format!("/proc/{}", pid.trim())).exists(), "it is gone");
        assert!(!hand_over(&mut Command::new("/nowhere/at-all"), "", PATIENCE));
    }
}
