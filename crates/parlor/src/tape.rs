//! Who listens in on links: the tape behind `--record`, and what `--log-wire` shows. Also the file that every recording begins with.

use crate::output;
use anyhow::Context;
use dialects::Dialect;
use host::guests::Listening;
use kit::notation::{Heads, Side};
use kit::recorder::Recorder;
use kit::redact::Redactor;
use link::{Watcher, Way};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A recording in this file.
pub(crate) fn open(path: &Path, dialect: &str) -> anyhow::Result<Recorder> {
    let heads = Heads {
        preface: vec![
            "# What looked like a secret was taken out; look through it before you share it.".into(),
        ],
        dialect: Some(dialect.to_owned()),
        title: Some(format!("recorded by parlor {}", env!("CARGO_PKG_VERSION"))),
        session_cwd: std::env::current_dir().ok().map(|dir| domain::path_text::write(&dir)),
        home: tools::home().map(|home| domain::path_text::write(&home)),
        ..Heads::default()
    };
    Recorder::create(path, &heads)
        .with_context(|| format!("cannot write {}; name a file that does not exist yet", path.display()))
}

/// Brings a recording to disk; whoever wanted it hears when it is not whole.
pub(crate) fn finish(recorder: &Recorder) {
    if let Err(why) = recorder.finish() {
        output::print_error(&format!("warning: the recording is not whole: {why}"));
    }
}

/// Where `--record` writes. Every UI gets a file of its own: the first the one that was named, later ones with a number.
#[derive(Clone)]
pub(crate) struct Tape {
    path: PathBuf,
    begun: Arc<AtomicUsize>,
    open: Arc<Mutex<Vec<Recorder>>>,
    /// The one file of a wire whose connections come and go.
    shared: Arc<Mutex<Vec<(String, Watcher)>>>,
}

/// Files that one tape opens at most.
const MAX_FILES: usize = 64;

impl Tape {
    /// Nothing is written before somebody speaks.
    pub(crate) fn new(path: &Path) -> Tape {
        Tape { path: path.to_owned(), begun: Arc::default(), open: Arc::default(), shared: Arc::default() }
    }

    /// A watcher for the next link. `peer` is who is at its other end.
    fn watcher(&self, dialect: &str, peer: Side) -> anyhow::Result<Watcher> {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        if number >= MAX_FILES {
            return Ok(Watcher::new(|_, _, _| {}));
        }
        let path = match number {
            0 => self.path.clone(),
            later => self.path.with_added(&format!("{}", later + 1)),
        };
        let recorder = open(&path, dialect)?;
        locked(&self.open).push(recorder.clone());
        Ok(Watcher::new(move |way, lane, line| {
            let side = match way {
                Way::In => peer,
                Way::Out => peer.peer(),
            };
            recorder.note(side, u8::try_from(lane.kind().0).unwrap_or_default(), line.as_bytes());
        }))
    }

    /// The same watcher for every link of a wire.
    fn shared_watcher(&self, dialect: &str, peer: Side) -> anyhow::Result<Watcher> {
        let mut shared = locked(&self.shared);
        if let Some((_, watcher)) = shared.iter().find(|(name, _)| name == dialect) {
            return Ok(watcher.clone());
        }
        let watcher = self.watcher(dialect, peer)?;
        shared.push((dialect.to_owned(), watcher.clone()));
        Ok(watcher)
    }

    /// Listens in on the links of UIs: one file for each, or one for all of a wire whose connections come and go.
    pub(crate) fn of_uis(&self) -> Listening {
        let tape = self.clone();
        Arc::new(move |dialect: Dialect| {
            let watcher = match dialect.has_event_lane() {
                true => tape.shared_watcher(dialect.name(), Side::Ui)?,
                false => tape.watcher(dialect.name(), Side::Ui)?,
            };
            Ok(Some(watcher))
        })
    }

    /// Listens in on the links to runtimes.
    pub(crate) fn of_runtimes(&self) -> Listening {
        let tape = self.clone();
        Arc::new(move |dialect: Dialect| tape.watcher(dialect.name(), Side::Runtime).map(Some))
    }

    /// Brings everything to disk.
    pub(crate) fn finish(&self) {
        for recorder in locked(&self.open).iter() {
            finish(recorder);
        }
    }

    /// The tape of a second wire, beside this one.
    pub(crate) fn beside(&self, what: &str) -> Tape {
        Tape::new(&self.path.with_added(what))
    }
}

/// Shows every line of the links of UIs on stderr, without secrets.
pub(crate) fn on_stderr() -> Listening {
    Arc::new(|dialect: Dialect| {
        let (name, redactor) = (dialect.name(), Mutex::new(Redactor::new()));
        Ok(Some(Watcher::new(move |way, _, line: &str| {
            let (word, side) = match way {
                Way::In => ("RECV", Side::Ui),
                Way::Out => ("SEND", Side::Runtime),
            };
            let line = locked(&redactor).line(side, line).into_owned();
            output::print_error(&format!("[{name} {word}] {line}"));
        })))
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

trait WithAdded {
    fn with_added(&self, what: &str) -> PathBuf;
}

impl WithAdded for PathBuf {
    /// `a.txt` and `2` give `a.2.txt`.
    fn with_added(&self, what: &str) -> PathBuf {
        match self.extension().and_then(|extension| extension.to_str()) {
            Some(extension) => self.with_extension(format!("{what}.{extension}")),
            None => self.with_extension(what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_files_stand_beside_the_first() {
        let added = |path: &str| PathBuf::from(path).with_added("2").display().to_string();
        assert_eq!((added("a/b.txt"), added("a/b")), ("a/b.2.txt".into(), "a/b.2".into()));
    }
}
