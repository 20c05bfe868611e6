//! Sessions out to files and in from them.

use super::SessionCommands;
use super::args::{Export, Format, Import};
use crate::exit::Exit;
use crate::output;
use crate::paint;
use anyhow::Context;
use domain::ids::{Seq, SessionId};
use domain::state::State;
use export::{Destination, MAX_IMPORT};
use host::kept;
use host::kept::told;
use std::io::{Read, Write};
use std::path::Path;
use store::Durability;

/// Events appended at once.
const BATCH: usize = 10_000;
/// How many ids are tried before giving up: each is one in 2⁴⁸.
const TRIES: u64 = 16;

impl SessionCommands {
    /// Writes one conversation as a file or to the standard output.
    pub(super) fn export(&self, export: &Export) -> anyhow::Result<Exit> {
        let id = self.named(export.id.as_deref())?;
        let format = export.format.or_else(|| by_name(export.output.as_deref()?)).unwrap_or(Format::Md);
        let opened = self.store.load(&id).map_err(|why| told(&why))?;
        if let Some(damage) = opened.damage {
            output::print_error(&format!("warning: {}", damage.message));
        }
        let text = match format {
            Format::Md => export::markdown(&opened.state),
            Format::Html => export::html(&opened.state),
            Format::Jsonl => export::jsonl(&id, &opened.state, &self.events(&id, &opened.state)?),
        };
        match &export.output {
            None => output::print(&text),
            Some(path) => {
                write(path, &text, export.force)?;
                if export.report.is_json() {
                    let report =
                        serde_json::json!({ "session": id.as_str(), "path": path, "size": text.len() });
                    output::print_line(&report.to_string());
                } else {
                    output::print_error(&format!("{} ({} bytes)", path.display(), text.len()));
                }
            }
        }
        Ok(Exit::Done)
    }

    /// All that happened; where the log is not whole, the shortest events that give the same.
    fn events(&self, id: &SessionId, state: &State) -> anyhow::Result<Vec<domain::event::Event>> {
        let events = self.store.events(id, Seq(0), usize::MAX).map_err(|why| told(&why))?;
        let mut folded = State::new();
        let whole = events.iter().all(|event| folded.fold(event).is_ok()) && folded.hash() == state.hash();
        Ok(if whole { events } else { export::events_of(state) })
    }

    /// Reads an exported conversation into a new session; a file that cannot be read leaves none behind.
    pub(super) fn import(&mut self, import: &Import) -> anyhow::Result<Exit> {
        let text = read(&import.file)?;
        let place = Destination { cwd: domain::path_text::write(&self.cwd), project: self.project.clone() };
        let read = export::read(&text, &place)
            .with_context(|| format!("{} cannot be imported", import.file.display()))?;
        let id = self.fresh()?;
        let mut kept = Ok(());
        for events in read.events.chunks(BATCH) {
            kept = kept.and_then(|()| self.store.append(&id, events, Durability::Now).map(drop));
        }
        let kept = kept.and_then(|()| self.store.snapshot(&id, &read.state));
        let closed = self.store.close(&id);
        kept.and(closed).map_err(|why| told(&why))?;
        if read.missing > 0 {
            output::print_error(&format!(
                "warning: the file was cut: {} events are missing at its end",
                read.missing
            ));
        }
        if import.report.is_json() {
            let (events, missing) = (read.events.len(), read.missing);
            let report = serde_json::json!({ "session": id.as_str(), "was": read.was, "events": events, "missing": missing });
            output::print_line(&report.to_string());
        } else {
            let short = kept::shortened(&self.all()?);
            let id = short.get(&id).map_or(id.as_str(), String::as_str);
            output::print_line(&format!(
                "“{}” is here; go on with `parlor --resume {id}`",
                paint::line(&read.title)
            ));
        }
        Ok(Exit::Done)
    }

    /// A session that nobody has, open for writing.
    fn fresh(&mut self) -> anyhow::Result<SessionId> {
        for attempt in 0..TRIES {
            let number = (self.now.0 << 20) ^ u64::from(std::process::id()).rotate_left(7) ^ attempt;
            let id = SessionId::from_number(number & 0xffff_ffff_ffff);
            match self.store.create(&id) {
                Ok(()) => return Ok(id),
                Err(store::StoreError::Exists(_)) => {}
                Err(why) => return Err(told(&why)),
            }
        }
        anyhow::bail!("no free id was found\n\nhint: run it again")
    }
}

fn by_name(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "html" | "htm" => Some(Format::Html),
        "jsonl" => Some(Format::Jsonl),
        "md" | "markdown" | "txt" => Some(Format::Md),
        _ => None,
    }
}

/// Writes beside the file first, so that a full disk leaves what was there.
fn write(path: &Path, text: &str, force: bool) -> anyhow::Result<()> {
    if path.exists() && !force {
        anyhow::bail!("{} is there already; --force overwrites it", path.display());
    }
    let name = path.file_name().with_context(|| format!("{} names no file", path.display()))?;
    let mut beside = name.to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let beside = path.with_file_name(beside);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options
        .open(&beside)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written.with_context(|| format!("{} cannot be written", path.display()))
}

fn read(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let most = MAX_IMPORT as u64 + 1;
    if path == Path::new("-") {
        std::io::stdin().lock().take(most).read_to_string(&mut text).context("stdin cannot be read")?;
    } else {
        let file = std::fs::File::open(path).with_context(|| {
            format!("{} cannot be read; name a file that `parlor sessions export` wrote", path.display())
        })?;
        file.take(most)
            .read_to_string(&mut text)
            .with_context(|| format!("{} is no text", path.display()))?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_says_its_format() {
        for (name, format) in [
            ("a.html", Some(Format::Html)),
            ("a.JSONL", Some(Format::Jsonl)),
            ("a.md", Some(Format::Md)),
            ("a", None),
            ("a.pdf", None),
        ] {
            assert_eq!(by_name(Path::new(name)), format);
        }
    }

    #[test]
    fn a_file_is_overwritten_only_when_told() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.md");
        write(&path, "one", false).unwrap();
        assert!(write(&path, "two", false).unwrap_err().to_string().contains("--force"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
        write(&path, "two", true).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }
}
