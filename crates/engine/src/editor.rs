//! The person's editor as tools see it: what it holds is asked for through the hub, and waited for within a bound.
//!
//! What always holds: a wish is answered by the editor, by its leaving, or by the end of our patience; nothing waits for ever. One that let
//! our patience end once is not asked again in that run, and the person is told.

use crate::port::Port;
use domain::ids::RunId;
use domain::path_text;
use domain::port::Report;
use domain::signal::Level;
use domain::ui_files::{FileAnswer, FileRequest, FileRequestId, UiFiles};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tools::buffers::Buffers;

/// How long an editor may take. It answers from memory, or writes one file.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
struct FileRequests {
    last: u64,
    open: BTreeMap<FileRequestId, oneshot::Sender<FileAnswer>>,
    /// The run in which the editor let a wish wait for too long.
    silent_in: Option<RunId>,
}

/// What editors were asked and have not answered. Clones share it.
#[derive(Debug, Default, Clone)]
pub(crate) struct OpenFiles(Arc<Mutex<FileRequests>>);

impl OpenFiles {
    /// The editor has answered, or is gone.
    pub(crate) fn close(&self, id: FileRequestId, with: FileAnswer) {
        if let Some(waiting) = self.lock().open.remove(&id) {
            let _ = waiting.send(with);
        }
    }

    fn begin(&self) -> (FileRequestId, oneshot::Receiver<FileAnswer>) {
        let (sender, answer) = oneshot::channel();
        let mut book = self.lock();
        book.last += 1;
        let id = FileRequestId(book.last);
        book.open.insert(id, sender);
        (id, answer)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, FileRequests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The editor of one turn. Its calls block: tools are on threads of their own.
#[derive(Debug)]
pub(crate) struct Editor {
    port: Port,
    open: OpenFiles,
    does: UiFiles,
    patience: Duration,
    runtime: Handle,
}

impl Editor {
    /// The editor, where a UI of the session is one.
    pub(crate) fn of_turn(port: &Port, open: &OpenFiles, does: UiFiles) -> Option<Arc<dyn Buffers>> {
        let editor = || Editor {
            port: port.clone(),
            open: open.clone(),
            does,
            patience: PATIENCE,
            runtime: Handle::current(),
        };
        does.any().then(|| Arc::new(editor()) as Arc<dyn Buffers>)
    }

    fn answers(&self) -> bool {
        self.open.lock().silent_in != Some(self.port.run)
    }

    /// Our patience is at an end: for the rest of the run the editor is not asked.
    fn give_up(&self, id: FileRequestId, path: &str) -> FileAnswer {
        let first = {
            let mut book = self.open.lock();
            book.open.remove(&id);
            book.silent_in.replace(self.port.run) != Some(self.port.run)
        };
        let seconds = self.patience.as_secs();
        if first {
            let text = format!(
                "The editor did not answer within {seconds} s when it was asked for {path}. For the rest of this run files are read \
                 from the disk and written there: what is typed in the editor and not saved is not seen."
            );
            self.runtime.block_on(self.port.notify(Level::Warning, text));
        }
        Err(format!("it did not answer within {seconds} s"))
    }

    fn ask(&self, request: FileRequest) -> FileAnswer {
        let (id, answer) = self.open.begin();
        let session = self.port.session.clone();
        let (FileRequest::Read { path } | FileRequest::Write { path, .. }) = &request;
        let path = path.clone();
        let answered = self.runtime.block_on(async {
            let _ = self.port.reports.send((Report::FileWanted { session, id, request }, None)).await;
            tokio::time::timeout(self.patience, answer).await
        });
        match answered {
            Ok(Ok(with)) => with,
            Ok(Err(_)) => Err("the editor has left".to_owned()),
            Err(_) => self.give_up(id, &path),
        }
    }
}

impl Buffers for Editor {
    fn reads(&self) -> bool {
        self.does.reads && self.answers()
    }

    fn writes(&self) -> bool {
        self.does.writes && self.answers()
    }

    fn read(&self, path: &Path) -> Result<String, String> {
        self.ask(FileRequest::Read { path: path_text::write(path) })
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), String> {
        self.ask(FileRequest::Write { path: path_text::write(path), text: text.to_owned() }).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::{Reported, Unwritten};
    use domain::ids::{Ids, SessionId};
    use domain::signal::Signal;
    use tokio::sync::mpsc;

    fn editor(run: RunId, open: &OpenFiles, reports: &mpsc::Sender<Reported>) -> Arc<Editor> {
        let session = SessionId::parse("sess-0001").unwrap();
        let port = Port { session, run, reports: reports.clone(), unwritten: Unwritten::default() };
        let does = UiFiles { reads: true, writes: true };
        let patience = Duration::from_millis(20);
        Arc::new(Editor { port, open: open.clone(), does, patience, runtime: Handle::current() })
    }

    #[tokio::test]
    async fn an_editor_that_does_not_answer_once_is_not_asked_again_in_that_run_and_the_person_is_told() {
        let (reports, mut told) = mpsc::channel(16);
        let (open, ids) = (OpenFiles::default(), Ids::default());
        let run = RunId::mint(&ids);
        let (first, next) = (editor(run, &open, &reports), editor(run, &open, &reports));
        let asked = first.clone();
        let read = tokio::task::spawn_blocking(move || asked.read(Path::new("/w/a.txt"))).await.unwrap();
        assert!(read.unwrap_err().contains("did not answer"));
        // The same for the next turn of the run; another run asks anew.
        assert!(!first.reads() && !first.writes() && !next.reads());
        assert!(editor(RunId::mint(&ids), &open, &reports).reads());
        // One that was under way as well says nothing more.
        let asked = next.clone();
        let _ = tokio::task::spawn_blocking(move || asked.write(Path::new("/w/a.txt"), "x")).await.unwrap();
        drop((reports, first, next));
        let mut notices = Vec::new();
        while let Some((report, _)) = told.recv().await {
            if let Report::Signal { signal: Signal::Notify { text, .. }, .. } = report {
                notices.push(text);
            }
        }
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert!(notices[0].contains("/w/a.txt") && notices[0].contains("from the disk"), "{notices:?}");
        assert!(open.lock().open.is_empty(), "nothing waits");
    }
}
