//! Where the store and the files live: calls that may block on a disk, each on a thread for such work, with an answer for the hub.
//!
//! The store is one: its calls run one after the other, in the order they were asked for; the store travels to the thread with the call
//! and comes back with the answer. Files are many: a large one keeps neither the store nor another file waiting. A batch of events is
//! not copied into the queue: the queue holds its session's name, and the [`Keeper`] hands over what has come together when it is that
//! session's turn.
//!
//! Invariants: at most one call of the store is under way; what a call needs of the hub is taken at its beginning, so that it fits what
//! the store holds then; a request is answered once, by the store or by [`Archive::give_up`], and what a given-up one still did is
//! undone or reported ([`News::DeletedLate`]).

use super::files::Cabinet;
use super::keeper::{Batch, Keeper};
use super::past;
use crate::core::{Answer, Core, Request, RequestId, imported};
use domain::command::{ExportFormat, Refusal, RefusalKind};
use domain::event::Event;
use domain::ids::SessionId;
use domain::path_text;
use domain::session::Origin;
use domain::state::State;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use store::{Appended, Durability, Listing, Opened, Store, StoreError};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How long a request may take before its command is refused: longer than any session that can be opened takes on a slow disk.
const READ_PATIENCE: Duration = Duration::from_secs(60);
/// Files that are read or written at once; further ones wait.
const MAX_FILES: usize = 4;
/// Bytes of session states that may wait to be written as texts or files; past it such a request is refused, unless it is the only one.
const MAX_STATES: usize = 64 * 1024 * 1024;
/// A session of fewer events is read from its log as quickly as from a snapshot.
const WORTH_SNAPSHOT: u64 = 1_024;

/// The store and the files, with what they still have to do.
pub(super) struct Archive {
    /// `None` while a call is under way, and for good if the store broke down in one.
    store: Option<Box<dyn Store>>,
    cabinet: Arc<Cabinet>,
    queue: VecDeque<Task>,
    files: VecDeque<(RequestId, FileTask)>,
    files_open: usize,
    tending: bool,
    jobs: JoinSet<Finished>,
    /// When each request is given up.
    asked: BTreeMap<RequestId, OpenRequest>,
}

struct OpenRequest {
    until: Instant,
    /// Bytes of the state that it carries.
    bytes: usize,
}

/// What the store is to do.
enum Task {
    Append(SessionId),
    Fetch(RequestId, Request),
    Snapshot(SessionId),
    Tend,
    Close(SessionId),
}

/// What is to be done with files and texts, without the store.
enum FileTask {
    Save { session: SessionId, state: Box<State>, path: Option<String>, history: bool },
    Load { path: String, now: domain::ids::Millis },
    Folder { path: String },
    Text { session: SessionId, state: Box<State>, format: ExportFormat, events: Vec<Event> },
}

/// A call as it goes to the thread.
enum Job {
    Append { session: SessionId, batch: Batch },
    Fetch { id: RequestId, request: Request, unkept: Vec<Event>, open: bool },
    Snapshot { session: SessionId, state: Box<State> },
    Tend,
    Close { session: SessionId },
}

/// What a thread brings back.
pub(super) enum Finished {
    /// The store, and what it did.
    Store(Box<dyn Store>, Done),
    /// A file or a text.
    File(RequestId, Result<Answer, Refusal>),
}

/// What the store did.
pub(super) enum Done {
    /// A batch was appended, or not: then it comes back.
    Appended { session: SessionId, batch: Batch, result: Result<Appended, StoreError> },
    /// A request was answered; `about` is the session that it opened or took away.
    Fetched { id: RequestId, about: Option<SessionId>, with: Result<Answer, Refusal> },
    /// The log of a session that is to be written as a text.
    Log { id: RequestId, session: SessionId, state: Box<State>, events: Vec<Event> },
    /// The store wrote what it held back.
    Tended(Result<(), StoreError>),
    /// Something for the log, at most.
    Quiet(Option<String>),
}

/// What the hub has to take in.
pub(super) enum News {
    Appended {
        session: SessionId,
        batch: Batch,
        result: Result<Appended, StoreError>,
    },
    Answered {
        id: RequestId,
        about: Option<SessionId>,
        with: Result<Answer, Refusal>,
    },
    /// A request that was given up has taken a session away after all.
    DeletedLate(SessionId),
    Tended(Result<(), StoreError>),
    Log(String),
    Nothing,
}

impl Archive {
    pub(super) fn new(store: Box<dyn Store>, cabinet: Cabinet) -> Archive {
        Archive {
            store: Some(store),
            cabinet: Arc::new(cabinet),
            queue: VecDeque::new(),
            files: VecDeque::new(),
            files_open: 0,
            tending: false,
            jobs: JoinSet::new(),
            asked: BTreeMap::new(),
        }
    }

    /// Whether something is under way.
    pub(super) fn is_working(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// Whether a command waits for an answer.
    pub(super) fn is_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    /// When the next request is given up.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.asked.values().map(|asked| asked.until).min()
    }

    /// Asks for something; a refusal when too much waits already.
    pub(super) fn ask(&mut self, id: RequestId, request: Request) -> Result<(), Refusal> {
        let bytes = match &request {
            Request::Export { state, .. } | Request::Save { state, .. } => state.weight(),
            _ => 0,
        };
        let waiting: usize = self.asked.values().map(|asked| asked.bytes).sum();
        if bytes > 0 && waiting > 0 && waiting + bytes > MAX_STATES {
            let most = MAX_STATES / (1024 * 1024);
            let why = format!("{most} MiB of sessions wait to be written as texts or files");
            return Err(Refusal::new(RefusalKind::TooMany, why).hint("try again in a moment"));
        }
        self.asked.insert(id, OpenRequest { until: Instant::now() + READ_PATIENCE, bytes });
        match request {
            Request::Save { session, state, path, history } => {
                self.files.push_back((id, FileTask::Save { session, state, path, history }));
            }
            Request::Load { path, now } => self.files.push_back((id, FileTask::Load { path, now })),
            Request::Folder { path } => self.files.push_back((id, FileTask::Folder { path })),
            Request::Export {
                session,
                state,
                format: format @ (ExportFormat::Markdown | ExportFormat::Html),
            } => {
                self.files.push_back((id, FileTask::Text { session, state, format, events: Vec::new() }));
            }
            request => self.queue.push_back(Task::Fetch(id, request)),
        }
        Ok(())
    }

    /// Asks for the batch of a session to be appended.
    pub(super) fn append(&mut self, session: SessionId) {
        self.queue.push_back(Task::Append(session));
    }

    /// Lets the store write what it holds back, once for all who ask.
    pub(super) fn tend(&mut self) {
        if !std::mem::replace(&mut self.tending, true) {
            self.queue.push_back(Task::Tend);
        }
    }

    /// Keeps the state of a session for the next time it is opened, before anything more is appended.
    pub(super) fn snapshot(&mut self, session: SessionId) {
        self.queue.push_front(Task::Snapshot(session));
    }

    /// Lets the store forget what it holds open of a session.
    pub(super) fn close(&mut self, session: SessionId) {
        self.queue.push_back(Task::Close(session));
    }

    /// The same at the end of the program: with a snapshot, so that it opens at once the next time.
    pub(super) fn close_all(&mut self, sessions: impl Iterator<Item = SessionId>, core: &Core) {
        for session in sessions {
            if core.state(&session).is_some_and(|state| state.seq.0 >= WORTH_SNAPSHOT) {
                self.queue.push_back(Task::Snapshot(session.clone()));
            }
            self.queue.push_back(Task::Close(session));
        }
    }

    /// Begins what can be begun.
    pub(super) fn begin(&mut self, keeper: &mut Keeper, core: &Core) {
        while self.files_open < MAX_FILES
            && let Some((id, task)) = self.files.pop_front()
        {
            self.files_open += 1;
            let cabinet = self.cabinet.clone();
            self.jobs.spawn_blocking(move || {
                // A file that breaks us must not take the place of others for good.
                let work = AssertUnwindSafe(|| perform_file(&cabinet, task));
                let broken =
                    |_| Err(Refusal::new(RefusalKind::Internal, "this file could not be dealt with"));
                Finished::File(id, std::panic::catch_unwind(work).unwrap_or_else(broken))
            });
        }
        while self.store.is_some()
            && let Some(task) = self.queue.pop_front()
        {
            let Some(job) = self.job(task, keeper, core) else { continue };
            let Some(mut store) = self.store.take() else { return };
            self.jobs.spawn_blocking(move || {
                let done = perform(store.as_mut(), job);
                Finished::Store(store, done)
            });
        }
    }

    /// What a task needs of the hub now; `None` if there is nothing to do any more.
    fn job(&self, task: Task, keeper: &mut Keeper, core: &Core) -> Option<Job> {
        match task {
            Task::Append(session) => {
                let batch = keeper.take(&session)?;
                Some(Job::Append { session, batch })
            }
            Task::Fetch(id, request) => {
                self.asked.get(&id)?;
                let (unkept, open) = match &request {
                    Request::History { session, .. } | Request::Export { session, .. } => {
                        (keeper.unkept(session), keeper.is_open(session))
                    }
                    _ => (Vec::new(), false),
                };
                Some(Job::Fetch { id, request, unkept, open })
            }
            Task::Snapshot(session) => {
                let state = core.state(&session).filter(|_| keeper.is_kept(&session))?;
                Some(Job::Snapshot { state: Box::new(state.clone()), session })
            }
            Task::Tend => Some(Job::Tend),
            Task::Close(session) => Some(Job::Close { session }),
        }
    }

    /// Waits for the next thing that is done. Nothing is lost if it is not waited for to the end.
    pub(super) async fn finished(&mut self) -> Option<Finished> {
        // One that broke down answers nobody, which is found out in time.
        self.jobs.join_next().await?.ok()
    }

    /// Takes back what was lent and says what the hub has to know.
    pub(super) fn take_back(&mut self, finished: Finished) -> News {
        let (store, done) = match finished {
            Finished::File(id, with) => {
                self.files_open = self.files_open.saturating_sub(1);
                return self.answered(id, None, with);
            }
            Finished::Store(store, done) => (store, done),
        };
        self.store = Some(store);
        match done {
            Done::Appended { session, batch, result } => News::Appended { session, batch, result },
            Done::Fetched { id, about, with } => self.answered(id, about, with),
            Done::Log { id, session, state, events } => {
                if self.asked.contains_key(&id) {
                    let format = ExportFormat::Jsonl;
                    self.files.push_back((id, FileTask::Text { session, state, format, events }));
                }
                News::Nothing
            }
            Done::Tended(result) => {
                self.tending = false;
                News::Tended(result)
            }
            Done::Quiet(Some(line)) => News::Log(line),
            Done::Quiet(None) => News::Nothing,
        }
    }

    fn answered(&mut self, id: RequestId, about: Option<SessionId>, with: Result<Answer, Refusal>) -> News {
        if self.asked.remove(&id).is_some() {
            return News::Answered { id, about, with };
        }
        match (with, about) {
            (Ok(Answer::Opened(Some(_)) | Answer::Found { kept: Some(_), .. }), Some(session)) => {
                self.close(session);
                News::Nothing
            }
            (Ok(Answer::Deleted(true)), Some(session)) => News::DeletedLate(session),
            _ => News::Nothing,
        }
    }

    /// The requests that have waited too long, each with what its command is refused with.
    pub(super) fn give_up(&mut self, now: Instant) -> Vec<(RequestId, Refusal)> {
        let over: Vec<RequestId> =
            self.asked.iter().filter(|(_, asked)| asked.until <= now).map(|(id, _)| *id).collect();
        over.into_iter()
            .map(|id| {
                self.asked.remove(&id);
                let why = format!("the disk has not answered for {} s", READ_PATIENCE.as_secs());
                let refusal = Refusal::new(RefusalKind::Storage, why);
                (id, refusal.hint("it may still be done; look at the disk, then look again"))
            })
            .collect()
    }

    /// Lets go of the store, if it is here.
    pub(super) fn shut(&mut self) {
        self.store = None;
    }
}

/// A kept session, or an id that is free for one.
type Found = (Option<Box<(SessionId, Opened)>>, Option<SessionId>);

fn perform(store: &mut dyn Store, job: Job) -> Done {
    match job {
        Job::Append { session, batch } => {
            let created = if batch.create { store.create(&session) } else { Ok(()) };
            let result = created.and_then(|()| store.append(&session, &batch.events, batch.durability));
            if result.is_ok() && batch.waited_for && batch.durability == Durability::Soon {
                // One that cannot be written now is found out by the next call that must write.
                let _ = store.tend();
            }
            Done::Appended { session, batch, result }
        }
        Job::Fetch { id, request, unkept, open } => fetch(store, id, request, unkept, open),
        Job::Snapshot { session, state } => {
            let why = store.snapshot(&session, &state).err();
            Done::Quiet(why.map(|why| format!("snapshot of {session}: {why}")))
        }
        Job::Tend => Done::Tended(store.tend()),
        Job::Close { session } => {
            let why = store.close(&session).err();
            Done::Quiet(why.map(|why| format!("store: {why}")))
        }
    }
}

fn fetch(store: &mut dyn Store, id: RequestId, request: Request, unkept: Vec<Event>, open: bool) -> Done {
    let (about, with) = match request {
        Request::Open { session } => {
            let with = match store.open(&session) {
                Ok(opened) => Ok(Answer::Opened(Some(Box::new(opened)))),
                Err(StoreError::Unknown(_)) => Ok(Answer::Opened(None)),
                Err(why) => Err(why.to_refusal()),
            };
            (Some(session), with)
        }
        Request::Find { origin } => match find(store, &origin) {
            Ok((kept, free)) => {
                let about = kept.as_ref().map(|kept| kept.0.clone());
                (about, Ok(Answer::Found { kept, free }))
            }
            Err(why) => (None, Err(why.to_refusal())),
        },
        Request::Delete { session, live } => {
            let with = delete(store, &session, live).map(Answer::Deleted).map_err(|why| why.to_refusal());
            (Some(session), with)
        }
        Request::List { project, limit, search } => {
            let limit = limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
            let listed = store.list(&Listing { project, search, limit });
            (None, listed.map(Answer::Listed).map_err(|why| why.to_refusal()))
        }
        Request::History { session, max_runs, max_events } => {
            let past = past::history(store, &session, &unkept, open, (max_runs, max_events));
            (None, past.map(Answer::History).map_err(|why| why.to_refusal()))
        }
        Request::Export { session, state, .. } => {
            match store.events(&session, domain::ids::Seq(0), usize::MAX) {
                Ok(mut events) => {
                    events.extend(unkept);
                    return Done::Log { id, session, state, events };
                }
                // Nothing of it was ever written.
                Err(StoreError::Unknown(_)) => return Done::Log { id, session, state, events: unkept },
                Err(why) => (None, Err(why.to_refusal())),
            }
        }
        Request::Save { .. } | Request::Load { .. } | Request::Folder { .. } => {
            (None, Err(Refusal::new(RefusalKind::Internal, "a file is no matter for the store")))
        }
    };
    Done::Fetched { id, about, with }
}

/// What is kept of a foreign session, opened for writing; else the id that it is to be kept under, unless that is taken.
fn find(store: &mut dyn Store, origin: &Origin) -> Result<Found, StoreError> {
    if let Some(id) = store.find_origin(origin)? {
        let opened = store.open(&id)?;
        return Ok((Some(Box::new((id, opened))), None));
    }
    let free = origin.kept_as().filter(|id| matches!(store.summary(id), Err(StoreError::Unknown(_))));
    Ok((None, free))
}

/// Whether there was such a session: one that is open here may never have been written.
fn delete(store: &mut dyn Store, session: &SessionId, live: bool) -> Result<bool, StoreError> {
    match store.summary(session) {
        Err(StoreError::Unknown(_)) if !live => return Ok(false),
        Err(why) if !live => return Err(why),
        _ => {}
    }
    match store.delete(session) {
        Ok(()) | Err(StoreError::Unknown(_)) => Ok(true),
        Err(why) => Err(why),
    }
}

fn perform_file(cabinet: &Cabinet, task: FileTask) -> Result<Answer, Refusal> {
    match task {
        FileTask::Save { session, state, path, history } => {
            let (path, size) = cabinet.save(&session, &state, path.as_deref(), history)?;
            Ok(Answer::Saved { path, size })
        }
        FileTask::Folder { path } => folder(&path).map(|()| Answer::Folder),
        FileTask::Load { path, now } => Ok(Answer::Loaded(Box::new(imported(&cabinet.load(&path)?, now)))),
        FileTask::Text { session, state, format, events } => Ok(Answer::Exported(match format {
            ExportFormat::Markdown => export::markdown(&state),
            ExportFormat::Html => export::html(&state),
            ExportFormat::Jsonl => export::jsonl(&session, &state, &past::events(events, &state)),
        })),
    }
}

/// Refuses a folder that nobody could work in.
fn folder(path: &str) -> Result<(), Refusal> {
    let why = match std::fs::metadata(path_text::read(path)) {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => format!("{path} is no folder"),
        Err(why) if why.kind() == io::ErrorKind::NotFound => format!("there is no folder {path}"),
        Err(why) => format!("the folder {path} cannot be used: {why}"),
    };
    Err(Refusal::new(RefusalKind::Invalid, why).hint("name one that is there"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Engine, In, Out, Setup, Standing};
    use crate::shell::files::Files;
    use crate::shell::keeper::Keeping;
    use domain::command::{Command, LibraryCommand, Target};
    use domain::ids::{EntryId, Millis, UiId};
    use domain::port::Ticket;
    use domain::signal::Level;
    use domain::state::{Entry, EntryKind};
    use store::MemoryStore;

    fn archive() -> Archive {
        let place = export::Destination { cwd: "/w".into(), project: "/w".into() };
        Archive::new(Box::new(MemoryStore::new()), Cabinet::new(Files::default(), place))
    }

    fn export(bytes: usize) -> Request {
        let (code, text) = (String::new(), "x".repeat(bytes));
        let kind = EntryKind::Notice { level: Level::Info, code, text, run: None };
        let mut state = Box::new(State::new());
        state.entries.insert(EntryId(1), Entry { id: EntryId(1), parent: None, at: Millis(1), kind });
        Request::Export { session: SessionId::from_number(1), state, format: ExportFormat::Jsonl }
    }

    #[tokio::test]
    async fn so_many_bytes_of_states_wait_and_no_more() {
        let mut archive = archive();
        archive.ask(RequestId(1), export(MAX_STATES + 1)).unwrap();
        let refused = archive.ask(RequestId(2), export(1)).unwrap_err();
        assert_eq!(refused.kind, RefusalKind::TooMany);
        let list = Request::List { project: None, limit: None, search: None };
        archive.ask(RequestId(3), list).unwrap();
        assert_eq!(archive.give_up(Instant::now() + READ_PATIENCE).len(), 2);
        for id in 4..6 {
            archive.ask(RequestId(id), export(MAX_STATES / 3)).unwrap();
        }
        assert!(archive.ask(RequestId(6), export(MAX_STATES / 3)).is_err());
    }

    #[tokio::test]
    async fn a_state_is_a_snapshot_only_when_the_log_holds_all_of_it() {
        let setup = Setup::new(Engine::Driven, "/w", 1);
        let (mut core, ui, session) = (Core::new(setup), UiId(1), SessionId::from_number(1));
        let mut keeper = Keeper::new(Keeping::First, None, Arc::new(|_| {}));
        let (answers, standing) = (roles::Answers::ALL, Standing::Controller);
        core.step(Millis(1), In::Arrived { ui, name: "test".into(), answers, standing });
        let (cwd, title, id) = (None, Some("said".into()), Some(session.clone()));
        let command = Command::Library(LibraryCommand::New { cwd, title, id });
        let (ticket, target) = (Ticket(1), Target::Current);
        for out in core.step(Millis(1), In::Command { ui, ticket, target, command }) {
            if let Out::Append { session, event } = out {
                keeper.add(session, event);
            }
        }
        let archive = archive();
        let snapshot =
            |keeper: &mut Keeper| archive.job(Task::Snapshot(session.clone()), keeper, &core).is_some();
        assert!(!snapshot(&mut keeper), "nothing is written yet");
        let batch = keeper.take(&session).unwrap();
        assert!(!snapshot(&mut keeper), "it is being written");
        keeper.appended(&session, batch, Ok(Appended::default()));
        assert!(snapshot(&mut keeper));
    }
}
