//! What goes along with a prompt: pictures as the terminal UI attaches them, text files as an editor does. It is read before anything is
//! started, so that a wrong name costs nothing.

use crate::exit;
use domain::content::Part;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Largest text file that goes along, in bytes. The model reads all of it; of a larger one it is better told the name.
const MAX_FILE: u64 = 1024 * 1024;
/// Most pictures and files that go along.
const MAX_ALONG: usize = 64;
/// Stands for stdin.
pub(crate) const STDIN: &str = "-";
/// How the model knows it.
const STDIN_NAME: &str = "stdin";
/// How long a pipe may take for its first byte.
pub(crate) const STDIN_WITHIN: Timespec = Timespec { tv_sec: 3, tv_nsec: 0 };

/// Reads pictures and files that were named on the command line; `cwd` is where the agent works. All that is wrong is wrong usage.
pub(super) fn read(images: &[PathBuf], files: &[PathBuf], cwd: &Path) -> anyhow::Result<Vec<Part>> {
    if images.len() + files.len() > MAX_ALONG {
        return Err(exit::usage(format!(
            "at most {MAX_ALONG} pictures and files can be attached to a prompt\n\nhint: name their folder in the prompt, and the agent reads what it needs"
        )));
    }
    let picture = |path: &PathBuf| {
        tui::picture_file(path).map_err(|why| {
            exit::usage(format!("--image: {why}\n\nhint: name a picture; attach a text with --file"))
        })
    };
    let text = |path: &PathBuf| {
        file(path, cwd).map_err(|(why, hint)| exit::usage(format!("--file: {why}\n\nhint: {hint}")))
    };
    let parts: anyhow::Result<Vec<Part>> = files.iter().map(text).chain(images.iter().map(picture)).collect();
    // A pipe that ends without a byte was none.
    let is_some = |part: &Part| !matches!(part, Part::Code { text, path: Some(path), .. } if text.is_empty() && path == STDIN_NAME);
    Ok(parts?.into_iter().filter(is_some).collect())
}

/// What there is on stdin beside a prompt on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnStdin {
    Nothing,
    /// A file, or a program that has begun to write or has ended.
    Something,
    /// A program that has not said a word yet.
    Silent,
}

/// Looks whether something is piped in. A terminal or `/dev/null` is nothing; a pipe is waited for, but not for ever: whoever starts
/// programs often leaves one open that nothing ever comes through.
pub(crate) fn on_stdin() -> OnStdin {
    let stdin = std::io::stdin();
    let kind = rustix::fs::fstat(&stdin).map(|stat| FileType::from_raw_mode(stat.st_mode));
    match kind {
        Ok(FileType::RegularFile) => OnStdin::Something,
        Ok(FileType::Fifo | FileType::Socket) => {
            let mut wait = [PollFd::new(&stdin, PollFlags::IN)];
            match poll(&mut wait, Some(&STDIN_WITHIN)) {
                Ok(0) => OnStdin::Silent,
                Ok(_) => OnStdin::Something,
                Err(_) => OnStdin::Nothing,
            }
        }
        _ => OnStdin::Nothing,
    }
}

/// Whether stdin goes along.
pub(super) fn takes_stdin(files: &[PathBuf]) -> bool {
    files.iter().any(|file| file.as_os_str() == STDIN)
}

/// A file as a part of the prompt; else why not, and what to do.
fn file(path: &Path, cwd: &Path) -> Result<Part, (String, &'static str)> {
    const NAME_IT: &str = "say its name in the prompt: the agent reads what it needs of it";
    let (name, mut bytes) = if path.as_os_str() == STDIN {
        (STDIN_NAME.to_owned(), Vec::new())
    } else {
        (shown(path, cwd), Vec::new())
    };
    let read = if path.as_os_str() == STDIN {
        std::io::stdin().take(MAX_FILE + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes))
    };
    read.map_err(|why| (format!("{} could not be read: {why}", path.display()), "check the path"))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err((format!("{name} is larger than {} MB", MAX_FILE / 1024 / 1024), NAME_IT));
    }
    let is_text = |text: &String| !text.contains('\0');
    let Some(text) = String::from_utf8(bytes).ok().filter(is_text) else {
        return Err((format!("{name} is no text in UTF-8"), "a picture is attached with --image"));
    };
    Ok(Part::Code { language: None, text, path: Some(name) })
}

/// How the agent names the file: from where it works, if it lies there.
fn shown(path: &Path, cwd: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    domain::path_text::write(whole.strip_prefix(cwd).unwrap_or(&whole))
}
