//! The person's editor as tools see it: what it holds is asked for through the hub, and waited for within a bound.
//!
//! What always holds: a wish is answered by the editor, by its leaving, or by the end of our patience; nothing waits for ever.

use crate::port::Port;
use domain::path_text;
use domain::port::Report;
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
struct Book {
    last: u64,
    open: BTreeMap<FileRequestId, oneshot::Sender<FileAnswer>>,
}

/// What editors were asked and have not answered. Clones share it.
#[derive(Debug, Default, Clone)]
pub(crate) struct OpenFiles(Arc<Mutex<Book>>);

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

    fn lock(&self) -> std::sync::MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The editor of one turn. Its calls block: tools are on threads of their own.
#[derive(Debug)]
pub(crate) struct Editor {
    port: Port,
    open: OpenFiles,
    does: UiFiles,
    runtime: Handle,
}

impl Editor {
    /// The editor, where a UI of the session is one.
    pub(crate) fn of_turn(port: &Port, open: &OpenFiles, does: UiFiles) -> Option<Arc<dyn Buffers>> {
        let editor = || Editor { port: port.clone(), open: open.clone(), does, runtime: Handle::current() };
        does.any().then(|| Arc::new(editor()) as Arc<dyn Buffers>)
    }

    fn ask(&self, request: FileRequest) -> FileAnswer {
        let (id, answer) = self.open.begin();
        let session = self.port.session.clone();
        let answered = self.runtime.block_on(async {
            let _ = self.port.reports.send((Report::FileWanted { session, id, request }, None)).await;
            tokio::time::timeout(PATIENCE, answer).await
        });
        match answered {
            Ok(Ok(with)) => with,
            Ok(Err(_)) => Err("the editor has left".to_owned()),
            Err(_) => {
                self.open.lock().open.remove(&id);
                Err(format!("it did not answer within {} s", PATIENCE.as_secs()))
            }
        }
    }
}

impl Buffers for Editor {
    fn reads(&self) -> bool {
        self.does.reads
    }

    fn writes(&self) -> bool {
        self.does.writes
    }

    fn read(&self, path: &Path) -> Result<String, String> {
        self.ask(FileRequest::Read { path: path_text::write(path) })
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), String> {
        self.ask(FileRequest::Write { path: path_text::write(path), text: text.to_owned() }).map(|_| ())
    }
}
