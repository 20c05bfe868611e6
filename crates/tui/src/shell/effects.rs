//! Performs the effects of the update: sends commands, copies, rings, opens the editor, looks for files.

use super::input::InputThread;
use super::{ExitReason, LoginPort, MAX_BACKLOG, ScreenExits, Shell};
use super::{branch, clipboard, command, files, gallery, picture};
use crate::msg::{Fx, LoginNews, Msg, ScreenExit};
use base64::Engine;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Longest text that is put on the clipboard through the terminal.
const MAX_COPY: usize = 1024 * 1024;
/// Bytes of earlier prompts that are read at the start.
const MAX_HISTORY_BYTES: u64 = 4 * 1024 * 1024;

/// The words by which a terminal shows a notification on the desktop: OSC 777 where terminals know only that, else OSC 9. Both at once
/// would be shown twice by those that know both. `text` is clean.
pub fn notification(text: &str) -> String {
    let term = std::env::var("TERM").unwrap_or_default();
    let knows_777 =
        term.starts_with("rxvt") || term.starts_with("foot") || std::env::var_os("VTE_VERSION").is_some();
    notification_for(knows_777, text)
}

fn notification_for(knows_777: bool, text: &str) -> String {
    let text = text.replace(';', ",");
    match knows_777 {
        true => format!("\x1b]777;notify;Parlor;{text}\x07"),
        false => format!("\x1b]9;{text}\x07"),
    }
}

impl Shell {
    /// Performs one effect; those that would block are started, and answer with a message later.
    pub(super) fn effect(&mut self, fx: Fx) {
        match fx {
            Fx::Send(outgoing) | Fx::Shown(outgoing) => {
                if self.backlog.len() < MAX_BACKLOG {
                    self.backlog.push_back(outgoing);
                }
            }
            Fx::Copy(text) => {
                let end =
                    text.char_indices().map(|(at, _)| at).find(|at| *at > MAX_COPY).unwrap_or(text.len());
                let coded = base64::engine::general_purpose::STANDARD.encode(&text[..end]);
                self.put(&format!("\x1b]52;c;{coded}\x07"));
                tokio::task::spawn_blocking(move || clipboard::put(&text));
            }
            Fx::Title(title) => self.put(&format!("\x1b]0;{title}\x07")),
            Fx::Bell => self.put("\x07"),
            Fx::Notify(text) => self.put(&notification(&text)),
            Fx::Fleet(wish) => {
                if let Some(wishes) = &self.wishes
                    && wishes.try_send(wish).is_err()
                {
                    let _ = self.inbox.try_send(Msg::ShellNotice("the fleet is busy: try again".to_owned()));
                }
            }
            Fx::Wake(after) => self.wake = Some(Instant::now() + after),
            Fx::SaveHistory(prompt) => self.save_history(&prompt),
            Fx::Redraw => {
                self.screen.forget();
                self.gallery.forget();
                self.dirty = true;
            }
            Fx::Draw { framed, png } => self.put(&gallery::transmit(&framed, &png)),
            Fx::Print => {
                self.screen.print_again();
                self.dirty = true;
            }
            Fx::Keep { setting, value } => {
                if self.kept.try_send((setting, value)).is_err() {
                    let _ = self
                        .inbox
                        .try_send(Msg::ShellNotice(format!("{} could not be kept", setting.name())));
                }
            }
            Fx::Mouse(on) => {
                let on = on && !self.options.settings.inline;
                let _ = self.terminal.set_mouse(on);
            }
            Fx::Write { path, text } => {
                let word = write_out(&self.options.cwd, &path, &text);
                let _ = self.inbox.try_send(Msg::ShellNotice(word));
            }
            Fx::Suspend => self.paused = Some(Pause::Suspend),
            Fx::OpenEditor(text) => self.paused = Some(Pause::Editor(text)),
            Fx::Attach(path) => {
                let (cwd, inbox) = (self.options.cwd.clone(), self.inbox.clone());
                tokio::task::spawn_blocking(move || {
                    let _ = inbox.blocking_send(Msg::Attached(picture::read(path.as_deref(), &cwd)));
                });
            }
            Fx::FindFiles(query) => {
                let (files, cwd, inbox) = (self.files.clone(), self.options.cwd.clone(), self.inbox.clone());
                tokio::task::spawn_blocking(move || {
                    // A screen that is too busy to hear gets the answer to its next key.
                    let tell: files::Tell = Arc::new(move |query, paths| {
                        let _ = inbox.try_send(Msg::Files { query, paths });
                    });
                    files.find(&cwd, &query, &tell);
                });
            }
            Fx::FindBranch(cwd) => self.find_branch(cwd),
            Fx::Shell(line) => {
                self.command = Some(command::Running::start(line, &self.options.cwd, self.inbox.clone()));
            }
            Fx::StopShell => self.command.iter_mut().for_each(command::Running::stop),
            Fx::Restart => {
                if let Some((_, again)) = &self.options.restart {
                    // A second wish on top of the first changes nothing.
                    let _ = again.try_send(());
                }
            }
            Fx::FindAgents => {
                find_agents(self.options.exits.clone(), self.inbox.clone());
            }
            Fx::FindProviders => {
                if let Some(port) = self.login_port() {
                    let inbox = self.inbox.clone();
                    self.logins.spawn_blocking(move || {
                        let _ = inbox.blocking_send(Msg::Login(LoginNews::Providers((port.providers)())));
                    });
                }
            }
            Fx::Login { provider, key, keep } => {
                if let Some(port) = self.login_port() {
                    let (inbox, given) = (self.inbox.clone(), (port.give)(provider, key, keep));
                    self.logins.spawn(async move {
                        let news = given.await;
                        let _ = inbox.send(Msg::Login(news)).await;
                    });
                }
            }
            Fx::StopLogin => self.logins.abort_all(),
            Fx::Leave(exit) => {
                let session = match exit {
                    // They come back to it, whatever was said there.
                    ScreenExit::Visit { .. } => self.model.world.current.clone(),
                    ScreenExit::Login | ScreenExit::Attach(_) | ScreenExit::GoOn(_) => {
                        self.kept_session().cloned()
                    }
                };
                self.exit = Some(ExitReason::Wants { exit, session });
            }
            Fx::Quit => self.exit = Some(ExitReason::Quit),
        }
    }

    fn login_port(&self) -> Option<LoginPort> {
        self.options.exits.as_ref().and_then(|exits| exits.login.clone())
    }

    /// Looks what git has checked out. Of a folder that another program names only its name is known, unless it is ours.
    pub(super) fn find_branch(&self, cwd: String) {
        let folder = domain::path_text::read(&cwd);
        if self.options.restart.is_some() && folder != self.options.cwd {
            return;
        }
        // Two small files; a screen that is too busy to hear looks again after the next run.
        let _ = self.inbox.try_send(Msg::Branch { name: branch::find(&folder), cwd });
    }

    fn put(&self, bytes: &str) {
        // A terminal that cannot be written to ends the loop at the next frame.
        let _ = self.terminal.write(bytes);
    }

    /// Gives the terminal to someone else for a while, when that was asked for.
    pub(super) async fn pause(&mut self, input: &mut InputThread) -> io::Result<()> {
        let Some(pause) = self.paused.take() else { return Ok(()) };
        input.pause().await;
        self.screen.leave(&self.terminal)?;
        self.terminal.leave();
        let msg = match pause {
            Pause::Suspend => {
                // The default of SIGTSTP stops the whole job; this returns when it is continued.
                let _ = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
                None
            }
            Pause::Editor(text) => {
                let folder = draft_folder(self.options.drafts.as_deref());
                let edited = tokio::task::spawn_blocking(move || edit(&text, &folder)).await;
                Some(Msg::FromEditor(edited.ok().and_then(Result::ok)))
            }
        };
        self.terminal.resume()?;
        // The screen of its own is a new one: the terminal knows no pictures there.
        self.gallery.forget();
        self.screen.come_back(&self.terminal)?;
        input.resume();
        let (columns, rows) = self.terminal.size();
        self.take(Msg::Resize(columns, rows));
        self.take(Msg::Back);
        if let Some(msg) = msg {
            self.take(msg);
        }
        Ok(())
    }

    /// Reads earlier prompts: one per line, line breaks written as `\n`.
    pub(super) fn load_history(&mut self) {
        let Some(path) = &self.options.history else { return };
        // A pipe in its place would be waited for.
        let small = fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_HISTORY_BYTES);
        let Some(text) = small.then(|| fs::read_to_string(path).ok()).flatten() else { return };
        let prompts = text.lines().map(read_line).collect();
        self.take(Msg::History(prompts));
    }

    /// What was being written when the program ended is the newest of the earlier prompts next time.
    pub(super) fn save_drafts(&self) {
        let others = self.model.world.sessions.values().map(|seen| seen.draft.clone());
        let own = self.model.screen.composer.unfolded();
        let drafts = others.chain([own]).filter(|draft| !draft.trim().is_empty());
        drafts.for_each(|draft| self.save_history(draft.trim_end()));
    }

    fn save_history(&self, prompt: &str) {
        self.options.history.iter().for_each(|path| keep_prompt(path, prompt));
    }
}

/// Looks which agents there are; the answer comes to the inbox.
pub(super) fn find_agents(exits: Option<ScreenExits>, inbox: mpsc::Sender<Msg>) {
    if let Some(ScreenExits { agents, .. }) = exits {
        // Files are read for it; the list says so until it is there.
        tokio::task::spawn_blocking(move || {
            let _ = inbox.blocking_send(Msg::Agents(agents()));
        });
    }
}

/// Keeps a prompt among the earlier ones.
pub(super) fn keep_prompt(path: &Path, prompt: &str) {
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return;
    }
    if let Some(folder) = path.parent() {
        let _ = fs::create_dir_all(folder);
    }
    let line = write_line(prompt);
    // Prompts may hold secrets: only their writer may read them. A history that cannot be kept disturbs nobody.
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    let _ = file.and_then(|mut file| writeln!(file, "{line}"));
}

/// Writes a text to a file; what came of it, in words.
pub(super) fn write_out(cwd: &Path, path: &str, text: &str) -> String {
    match fs::write(cwd.join(path), text) {
        Ok(()) => format!("written to {path}"),
        Err(error) => format!("{path} could not be written: {error}"),
    }
}

/// A prompt as one line of the history file.
fn write_line(prompt: &str) -> String {
    prompt.replace('\\', "\\\\").replace('\n', "\\n")
}

fn read_line(line: &str) -> String {
    let mut prompt = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => prompt.push('\n'),
            ('\\', Some(other)) => prompt.push(other),
            (c, _) => prompt.push(c),
        }
    }
    prompt
}

/// Why someone else gets the terminal.
#[derive(Debug)]
pub(super) enum Pause {
    /// The program is stopped.
    Suspend,
    /// The person's editor.
    Editor(String),
}

/// Names that are tried for the file that the editor gets.
const TRIES: u32 = 16;

fn edit(text: &str, folder: &Path) -> io::Result<String> {
    let set = ["VISUAL", "EDITOR"].iter().find_map(std::env::var_os).filter(|editor| !editor.is_empty());
    edit_with(&set.unwrap_or_else(|| "vi".into()), text, folder)
}

/// What the person's editor leaves, which the shell runs: it may have arguments, quotes and variables, as git takes it too.
fn edit_with(editor: &OsStr, text: &str, folder: &Path) -> io::Result<String> {
    let mut line = editor.to_owned();
    line.push(" \"$@\"");
    let (path, mut file) = draft(folder)?;
    file.write_all(text.as_bytes())?;
    let status = Command::new("sh").arg("-c").arg(line).arg(editor).arg(&path).status();
    let edited = fs::read_to_string(&path);
    let _ = fs::remove_file(&path);
    if status?.success() { edited } else { Err(io::Error::other("the editor failed")) }
}

/// The folder for what the editor gets: the person's own, made for them alone. In temp every command of an agent could read it, and write in
/// it; only where nothing else can be had it lies there.
fn draft_folder(own: Option<&Path>) -> PathBuf {
    let made = own
        .filter(|own| own.is_dir() || fs::DirBuilder::new().recursive(true).mode(0o700).create(own).is_ok());
    made.map_or_else(std::env::temp_dir, Path::to_owned)
}

/// A new file for the person alone. Never one that is there: another user could have laid it, or a link, in its place.
fn draft(folder: &Path) -> io::Result<(PathBuf, fs::File)> {
    let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
    for number in 0..TRIES {
        let path = folder.join(format!("parlor-{}-{number}.md", std::process::id()));
        match OpenOptions::new().create_new(true).write(true).mode(0o600).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => taken = why,
            Err(why) => return Err(why),
        }
    }
    Err(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_editor_gets_lies_in_a_folder_of_the_person_alone() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("data/parlor");
        assert_eq!(draft_folder(Some(&own)), own, "not in temp, where commands of the agent read and write");
        assert_eq!(mode(&own), 0o700);
        // Somebody has guessed the first name.
        let bait = dir.path().join("bait");
        fs::write(&bait, "bait").unwrap();
        std::os::unix::fs::symlink(&bait, own.join(format!("parlor-{}-0.md", std::process::id()))).unwrap();
        let (path, mut file) = draft(&own).unwrap();
        file.write_all(b"text").unwrap();
        assert!(path.starts_with(&own) && mode(&path) == 0o600);
        assert_eq!(fs::read_to_string(&bait).unwrap(), "bait");
    }

    #[test]
    fn the_editor_is_run_by_the_rules_of_the_shell() {
        let dir = tempfile::tempdir().unwrap();
        for editor in ["sh -c 'printf more >> \"$1\"' its-name", "MORE=more; sh -c 'printf more >> \"$0\"'"] {
            assert_eq!(edit_with(OsStr::new(editor), "text and ", dir.path()).unwrap(), "text and more");
        }
        assert!(edit_with(OsStr::new("false"), "text", dir.path()).is_err());
    }

    #[test]
    fn prompts_come_back_as_they_were_said() {
        for prompt in ["plain", "two\nlines", "a \\n that is none", "C:\\new\n\\", ""] {
            assert_eq!(read_line(&write_line(prompt)), prompt);
            assert!(!write_line(prompt).contains('\n'));
        }
    }
}
