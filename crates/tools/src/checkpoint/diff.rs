//! What changed, as a text in the usual form; and what git says of a workspace.

use super::image::{Image, shown};
use super::merge::Contents;
use super::step::Step;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest text; the rest is cut and said so.
const MAX_TEXT: usize = 1024 * 1024;
/// How long git may take.
const MAX_GIT: Duration = Duration::from_secs(20);
/// How often it is looked whether git has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// A diff in the making.
#[derive(Debug, Default)]
pub(crate) struct Text {
    text: String,
    left: String,
    cut: usize,
}

impl Text {
    /// Takes a path in.
    ///
    /// # Errors
    /// When a content cannot be read.
    pub(crate) fn add(
        &mut self,
        path: &Path,
        before: &Image,
        now: &Image,
        contents: &mut dyn Contents,
    ) -> Result<(), String> {
        let is_folder = |image: &Image| matches!(image, Image::Folder { .. } | Image::Absent);
        if before == now || is_folder(before) && is_folder(now) {
            return Ok(());
        }
        if self.text.len() > MAX_TEXT {
            self.cut += 1;
            return Ok(());
        }
        let name = shown(path);
        let _ = writeln!(self.text, "diff a/{name} b/{name}");
        match (mode(before), mode(now)) {
            (None, Some(mode)) => _ = writeln!(self.text, "new file mode 100{mode:o}"),
            (Some(mode), None) => _ = writeln!(self.text, "deleted file mode 100{mode:o}"),
            (Some(old), Some(new)) if old != new => {
                let _ = write!(self.text, "old mode 100{old:o}\nnew mode 100{new:o}\n");
            }
            _ => {}
        }
        let (old, new) = (text(before, contents)?, text(now, contents)?);
        if old == new {
            return Ok(());
        }
        let told = old.zip(new).map(|(old, new)| crate::diff::diff(&name, &old, &new).text);
        match told {
            Some(diff) => self.text.push_str(&diff),
            None => _ = writeln!(self.text, "Binary files a/{name} and b/{name} differ"),
        }
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        Ok(())
    }

    /// Names what a step could not keep.
    pub(crate) fn tell(&mut self, step: &Step) {
        for lost in &step.lost {
            let _ = writeln!(self.left, "# {}: {}", shown(&lost.path), lost.why);
        }
        if let Some(why) = &step.blind {
            let _ = writeln!(self.left, "# what commands changed is not known: {why}");
        }
    }

    /// The whole.
    pub(crate) fn end(mut self) -> String {
        if self.cut > 0 {
            let _ = writeln!(self.text, "# and {} more files", self.cut);
        }
        self.text + &self.left
    }
}

fn mode(image: &Image) -> Option<u32> {
    match image {
        Image::File { mode, .. } => Some(*mode),
        Image::Absent | Image::Link { .. } | Image::Folder { .. } | Image::Unkept { .. } => None,
    }
}

/// What a line-by-line comparison takes: lines for what is there, `None` for what has no lines.
fn text(image: &Image, contents: &mut dyn Contents) -> Result<Option<String>, String> {
    Ok(match image {
        Image::Absent | Image::Folder { .. } => Some(String::new()),
        Image::Link { target } => Some(format!("link to {}\n", shown(target))),
        Image::Unkept { .. } => None,
        Image::File { digest, .. } => {
            let content = contents.get(digest)?;
            String::from_utf8(content).ok().filter(|text| !text.contains('\0'))
        }
    })
}

/// What differs in a workspace from what was committed last, as git tells it, and the names of files that git does not know. Nothing that
/// a repository's settings name is run for it, but for filters that git itself needs to read files.
///
/// # Errors
/// When git is not there, or says no.
pub fn against_git(root: &Path) -> Result<String, String> {
    let head = git(root, &["rev-parse", "--verify", "--quiet", "HEAD"]).is_ok();
    let base = if head { "HEAD" } else { "--cached" };
    let mut text = git(root, &["diff", "--no-ext-diff", "--no-textconv", "--no-color", base, "--", "."])?;
    let new = git(root, &["ls-files", "--others", "--exclude-standard", "--", "."])?;
    for name in new.lines() {
        let _ = writeln!(text, "# not in git: {name}");
    }
    Ok(text)
}

fn git(root: &Path, args: &[&str]) -> Result<String, String> {
    let mut child = Command::new("git")
        .args([
            "--no-optional-locks",
            "--no-pager",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.hooksPath=/dev/null",
        ])
        .args(args)
        .current_dir(root)
        .env_clear()
        .envs(crate::env::cleaned(std::env::vars_os()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|why| format!("git cannot be started: {why}"))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let drain = |stream: Option<Box<dyn std::io::Read + Send>>| {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = (&mut stream).take(MAX_TEXT as u64).read_to_end(&mut bytes);
            // The rest is drained, so that git never waits for us.
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (text, words, status) = std::thread::scope(|scope| {
        let out = scope.spawn(move || drain(out.map(|out| Box::new(out) as Box<dyn std::io::Read + Send>)));
        let err = scope.spawn(move || drain(err.map(|err| Box::new(err) as Box<dyn std::io::Read + Send>)));
        let until = Instant::now() + MAX_GIT;
        let status = loop {
            match child.try_wait() {
                Ok(None) if Instant::now() < until => std::thread::sleep(PAUSE),
                Ok(Some(status)) => break Some(status),
                Ok(None) | Err(_) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
            }
        };
        (out.join().unwrap_or_default(), err.join().unwrap_or_default(), status)
    });
    match status {
        Some(status) if status.success() => Ok(text),
        Some(_) => Err(words.lines().next().unwrap_or("git says no").to_owned()),
        None => Err(format!("git took more than {} seconds", MAX_GIT.as_secs())),
    }
}
