//! Where the store and the files live: calls that may block on a disk, each on a thread for such work, with an answer for the hub.
//!
//! The store is one: its calls run one after the other; the store travels to the thread with the call and comes back with the answer.
//! What only reads has a way of its own beside it ([`Store::reader`]), unless it needs what only the store knows of a session that is open
//! here. Files are many: a large one keeps neither the store nor another file waiting. A batch of events is
//! not copied into the queue: the queue holds its session's name, and the [`Keeper`] hands over what has come together when it is that
//! session's turn.
//!
//! Another program's lock on the file is no failure for [`LOCK_PATIENCE`]: the call answers at once, stands where it stood in the queue and
//! is made anew every [`LOCK_PAUSE`]; behind it waits only what is about the same session.
//!
//! Invariants: at most one call of the store is under way; calls about the same session are made in the order they were asked for; what a
//! call needs of the hub is taken at its beginning, so that it fits what the store holds then; what reads sees what was to be written before it was asked for, unless a lock is in the way of that; a request is
//! answered once, by the store or by [`Archive::give_up`], and what a given-up one still did is undone or reported ([`News::DeletedLate`]).

mod calls;

use super::files::Cabinet;
use super::keeper::{Batch, Keeper};
use super::machine::Calls;
use super::past;
use crate::core::{Answer, Core, Request, RequestId};
use domain::command::{ExportFormat, Refusal, RefusalKind};
use domain::event::Event;
use domain::ids::SessionId;
use domain::state::State;
use std::collections::{BTreeMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use store::{Appended, LOCK_PATIENCE, MAX_GROUP, Store, StoreError};
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

/// How long to wait before another program's lock is tried again: less than a person or a sync of the disk takes.
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// The store and the files, with what they still have to do.
pub(super) struct Archive {
    /// `None` while a call is under way, and for good if the store broke down in one.
    store: Option<Box<dyn Store>>,
    /// What reads beside the store; `None` while it does.
    reader: Option<Box<dyn Store>>,
    /// Else the store reads, in between.
    reads_beside: bool,
    /// Whether batches that wait go together ([`Store::is_grouping`]).
    is_grouping: bool,
    cabinet: Arc<Cabinet>,
    queue: VecDeque<Queued>,
    /// The call of the store under way, unless it only reads.
    under_way: Option<UnderWay>,
    reads: VecDeque<Reading>,
    /// How many calls of the store were asked for.
    asked_for: u64,
    /// When a lock that was met is tried again.
    again: Option<Instant>,
    /// Since when a lock is in the way of tending.
    untended: Option<Instant>,
    files: VecDeque<(RequestId, FileTask)>,
    files_open: usize,
    tending: bool,
    pub(super) calls: Calls,
    jobs: JoinSet<Finished>,
    /// When each request is given up.
    asked: BTreeMap<RequestId, OpenRequest>,
}

struct OpenRequest {
    until: Instant,
    /// Bytes of the state that it carries.
    bytes: usize,
}

/// What waits for the store.
struct Queued {
    task: Task,
    under_way: UnderWay,
}

/// A call that writes.
#[derive(Clone, Copy)]
struct UnderWay {
    number: u64,
    /// Since when another program's lock is in its way.
    locked: Option<Instant>,
}

/// What waits to be read.
struct Reading {
    id: RequestId,
    request: Request,
    /// The last call that was asked for before it.
    after: u64,
}

/// What the store is to do.
enum Task {
    Append(SessionId),
    Fetch(RequestId, Request),
    Snapshot(SessionId),
    Tend,
    Close(SessionId),
}

impl Task {
    fn session(&self) -> Option<&SessionId> {
        match self {
            Task::Append(session)
            | Task::Snapshot(session)
            | Task::Close(session)
            | Task::Fetch(
                _,
                Request::Open { session }
                | Request::Recall { session, .. }
                | Request::Delete { session, .. }
                | Request::History { session, .. }
                | Request::Export { session, .. },
            ) => Some(session),
            Task::Fetch(..) | Task::Tend => None,
        }
    }
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
    Append {
        session: SessionId,
        batch: Batch,
    },
    /// What came together of many sessions while the store was at work.
    AppendMany {
        batches: Vec<(SessionId, Batch)>,
    },
    Fetch {
        id: RequestId,
        request: Request,
        unkept: Vec<Event>,
        open: bool,
    },
    Snapshot {
        session: SessionId,
        state: Box<State>,
    },
    Tend,
    Close {
        session: SessionId,
    },
}

/// What a thread brings back.
pub(super) enum Finished {
    /// The store, and what it did.
    Store(Box<dyn Store>, StoreOutcome),
    /// What reads beside the store, and what it read.
    Reader(Box<dyn Store>, StoreOutcome),
    /// A file or a text.
    File(RequestId, Result<Answer, Refusal>),
}

/// What the store did.
pub(super) enum StoreOutcome {
    /// A batch was appended, or not: then it comes back.
    Appended { session: SessionId, batch: Batch, result: Result<Appended, StoreError> },
    /// The same for each of many sessions.
    AppendedMany { batches: Vec<AppendedBatch>, tended: Result<(), StoreError> },
    /// A request was answered; `about` is the session that it opened or took away. One that only met a lock comes back.
    Fetched {
        id: RequestId,
        about: Option<SessionId>,
        with: Result<Answer, Refusal>,
        locked: Option<Request>,
    },
    /// The log of a session that is to be written as a text.
    Log { id: RequestId, session: SessionId, state: Box<State>, events: Vec<Event> },
    /// The store wrote what it held back.
    Tended(Result<(), StoreError>),
    /// A session was closed, or not.
    Closed { session: SessionId, result: Result<(), StoreError> },
    /// Something for the log, at most.
    Quiet(Option<String>),
}

/// A batch of a session, and whether it was appended.
pub(super) type AppendedBatch = (SessionId, Batch, Result<Appended, StoreError>);

/// What the hub has to take in.
pub(super) enum News {
    AppendedMany {
        batches: Vec<AppendedBatch>,
        tended: Result<(), StoreError>,
    },
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
    pub(super) fn new(mut store: Box<dyn Store>, cabinet: Cabinet) -> Archive {
        store.never_wait();
        let (reader, is_grouping) = (store.reader(), store.is_grouping());
        Archive {
            store: Some(store),
            reads_beside: reader.is_some(),
            is_grouping,
            reader,
            cabinet: Arc::new(cabinet),
            queue: VecDeque::new(),
            under_way: None,
            reads: VecDeque::new(),
            asked_for: 0,
            again: None,
            untended: None,
            files: VecDeque::new(),
            files_open: 0,
            tending: false,
            calls: Calls::OnThreads,
            jobs: JoinSet::new(),
            asked: BTreeMap::new(),
        }
    }

    /// Whether others write the same store from other machines: what it does not take may not go on in memory.
    pub(super) fn is_shared(&self) -> bool {
        self.is_grouping
    }

    /// Whether something is under way.
    pub(super) fn is_working(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// Whether something is under way, or waits for a lock to be tried again.
    pub(super) fn has_work(&self) -> bool {
        self.is_working() || self.store.is_some() && !(self.queue.is_empty() && self.reads.is_empty())
    }

    /// Whether a command waits for an answer.
    pub(super) fn is_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    /// When the next request is given up, or a lock tried again.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.asked.values().map(|asked| asked.until).chain(self.again).min()
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
            request @ (Request::List { .. } | Request::History { .. } | Request::Export { .. }) => {
                self.reads.push_back(Reading { id, request, after: self.asked_for });
            }
            request @ (Request::Open { .. }
            | Request::Recall { .. }
            | Request::Find { .. }
            | Request::Delete { .. }) => {
                self.push(Task::Fetch(id, request));
            }
        }
        Ok(())
    }

    fn queued(&mut self, task: Task) -> Queued {
        Queued { task, under_way: self.queued_now() }
    }

    fn queued_now(&mut self) -> UnderWay {
        self.asked_for += 1;
        UnderWay { number: self.asked_for, locked: None }
    }

    fn push(&mut self, task: Task) {
        let queued = self.queued(task);
        self.queue.push_back(queued);
    }

    /// Asks for the batch of a session to be appended.
    pub(super) fn append(&mut self, session: SessionId) {
        self.push(Task::Append(session));
    }

    /// Lets the store write what it holds back, once for all who ask.
    pub(super) fn tend(&mut self) {
        if !std::mem::replace(&mut self.tending, true) {
            self.push(Task::Tend);
        }
    }

    /// Keeps the state of a session for the next time it is opened, before anything more is appended.
    pub(super) fn snapshot(&mut self, session: SessionId) {
        let queued = self.queued(Task::Snapshot(session));
        self.queue.push_front(queued);
    }

    /// Lets the store forget what it holds open of a session.
    pub(super) fn close(&mut self, session: SessionId) {
        self.push(Task::Close(session));
    }

    /// The same at the end of the program: with a snapshot, so that it opens at once the next time.
    pub(super) fn close_all(&mut self, sessions: impl Iterator<Item = SessionId>, core: &Core) {
        for session in sessions {
            if core.state(&session).is_some_and(|state| state.seq.0 >= WORTH_SNAPSHOT) {
                self.push(Task::Snapshot(session.clone()));
            }
            self.push(Task::Close(session));
        }
    }

    /// Begins what can be begun.
    pub(super) fn begin(&mut self, keeper: &mut Keeper, core: &Core) {
        while self.files_open < MAX_FILES
            && let Some((id, task)) = self.files.pop_front()
        {
            self.files_open += 1;
            let cabinet = self.cabinet.clone();
            self.calls.begin(&mut self.jobs, move || {
                // A file that breaks us must not take the place of others for good.
                let work = AssertUnwindSafe(|| calls::perform_file(&cabinet, task));
                let broken =
                    |_| Err(Refusal::new(RefusalKind::Internal, "this file could not be dealt with"));
                Finished::File(id, std::panic::catch_unwind(work).unwrap_or_else(broken))
            });
        }
        self.again = self.again.filter(|again| Instant::now() < *again);
        while self.begin_read(keeper) || self.begin_write(keeper, core) {}
    }

    /// Begins with what may be read now; whether there was any.
    fn begin_read(&mut self, keeper: &Keeper) -> bool {
        let is_beside = |reading: &Reading| {
            self.reads_beside
                && match &reading.request {
                    Request::History { session, .. } | Request::Export { session, .. } => {
                        !keeper.knows(session)
                    }
                    _ => true,
                }
        };
        let may_begin = |reading: &Reading| {
            let free = if is_beside(reading) { &self.reader } else { &self.store };
            free.is_some() && !self.waits(reading)
        };
        let Some(place) = self.reads.iter().position(may_begin) else { return false };
        let beside = is_beside(&self.reads[place]);
        let Some(Reading { id, request, .. }) = self.reads.remove(place) else { return false };
        let Some(job) = self.fetch(id, request, keeper) else { return true };
        if beside {
            let Some(mut reader) = self.reader.take() else { return false };
            self.calls.begin(&mut self.jobs, move || {
                let done = calls::perform(reader.as_mut(), job);
                Finished::Reader(reader, done)
            });
        } else {
            self.call(job, None);
        }
        true
    }

    /// Whether something is to be written first. Nobody waits to read for another program's lock.
    fn waits(&self, reading: &Reading) -> bool {
        let writes = || self.under_way.into_iter().chain(self.queue.iter().map(|queued| queued.under_way));
        writes().any(|write| write.number <= reading.after) && !writes().any(|write| write.locked.is_some())
    }

    /// Begins with what the store is to do next, unless it waits for a lock; whether there was any.
    fn begin_write(&mut self, keeper: &mut Keeper, core: &Core) -> bool {
        if self.store.is_none() {
            return false;
        }
        let mut waiting = Vec::new();
        let free = self.queue.iter().position(|queued| {
            let session = queued.task.session();
            let waits = queued.under_way.locked.is_some() && self.again.is_some()
                || session.is_some_and(|session| waiting.contains(&session));
            waiting.extend(session.filter(|_| waits));
            !waits
        });
        let Some(Queued { task, under_way }) = free.and_then(|free| self.queue.remove(free)) else {
            return false;
        };
        let job = match task {
            Task::Append(session) if self.is_grouping => self.group(session, keeper),
            task => self.job(task, keeper, core),
        };
        if let Some(job) = job {
            self.call(job, Some(under_way));
        }
        true
    }

    /// The batch of a session, with those of others that wait, each for itself: nothing about the same session may wait before it.
    fn group(&mut self, first: SessionId, keeper: &mut Keeper) -> Option<Job> {
        let mut batches: Vec<(SessionId, Batch)> =
            keeper.take(&first).map(|batch| (first, batch)).into_iter().collect();
        let (mut left, mut passed) = (VecDeque::new(), Vec::new());
        while let Some(Queued { task, under_way }) = self.queue.pop_front() {
            let session = task.session().cloned();
            match task {
                Task::Append(session) if batches.len() < MAX_GROUP && !passed.contains(&session) => {
                    batches.extend(keeper.take(&session).map(|batch| (session, batch)));
                }
                task => {
                    passed.extend(session);
                    left.push_back(Queued { task, under_way });
                }
            }
        }
        self.queue = left;
        (!batches.is_empty()).then_some(Job::AppendMany { batches })
    }

    fn call(&mut self, job: Job, under_way: Option<UnderWay>) {
        let Some(mut store) = self.store.take() else { return };
        self.under_way = under_way;
        self.calls.begin(&mut self.jobs, move || {
            let done = calls::perform(store.as_mut(), job);
            Finished::Store(store, done)
        });
    }

    /// What it takes to answer a request; `None` if nobody wants to know any more.
    fn fetch(&self, id: RequestId, request: Request, keeper: &Keeper) -> Option<Job> {
        self.asked.get(&id)?;
        let (unkept, open) = match &request {
            Request::History { session, .. } | Request::Export { session, .. } => {
                (keeper.unkept(session), keeper.is_open(session))
            }
            _ => (Vec::new(), false),
        };
        Some(Job::Fetch { id, request, unkept, open })
    }

    /// What a task needs of the hub now; `None` if there is nothing to do any more.
    fn job(&self, task: Task, keeper: &mut Keeper, core: &Core) -> Option<Job> {
        match task {
            Task::Append(session) => {
                let batch = keeper.take(&session)?;
                Some(Job::Append { session, batch })
            }
            Task::Fetch(id, request) => self.fetch(id, request, keeper),
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
    pub(super) fn take_back(&mut self, finished: Finished, keeper: &mut Keeper) -> News {
        let (done, was) = match finished {
            Finished::File(id, with) => {
                self.files_open = self.files_open.saturating_sub(1);
                return self.answered(id, None, with);
            }
            Finished::Reader(reader, done) => {
                self.reader = Some(reader);
                (done, None)
            }
            Finished::Store(store, done) => {
                self.store = Some(store);
                (done, self.under_way.take())
            }
        };
        let Some(done) = self.try_again(done, was, keeper) else { return News::Nothing };
        if was.is_some_and(|was| was.locked.is_some()) {
            // Whoever waits too is tried at once, and has the whole patience for the next lock.
            self.queue.iter_mut().for_each(|queued| queued.under_way.locked = None);
        }
        match done {
            StoreOutcome::Appended { session, batch, result } => News::Appended { session, batch, result },
            StoreOutcome::AppendedMany { batches, tended } => News::AppendedMany { batches, tended },
            StoreOutcome::Fetched { id, about, with, .. } => self.answered(id, about, with),
            StoreOutcome::Log { id, session, state, events } => {
                if self.asked.contains_key(&id) {
                    let format = ExportFormat::Jsonl;
                    self.files.push_back((id, FileTask::Text { session, state, format, events }));
                }
                News::Nothing
            }
            StoreOutcome::Tended(result) => {
                self.tending = false;
                News::Tended(result)
            }
            StoreOutcome::Closed { result: Ok(()), .. } => News::Nothing,
            // Where only a lock is in the way it stays open, and is closed with the store.
            StoreOutcome::Closed { result: Err(why), .. } => News::Log(format!("store: {why}")),
            StoreOutcome::Quiet(Some(line)) => News::Log(line),
            StoreOutcome::Quiet(None) => News::Nothing,
        }
    }

    /// Puts back what only met another program's lock and may wait for it; gives on what is done, or has waited long enough.
    fn try_again(
        &mut self,
        done: StoreOutcome,
        was: Option<UnderWay>,
        keeper: &mut Keeper,
    ) -> Option<StoreOutcome> {
        let now = Instant::now();
        let since = was.and_then(|was| was.locked).unwrap_or(now);
        let is_early = now.duration_since(since) < LOCK_PATIENCE;
        let task = match done {
            // Who knows already that nothing can be written now does not wait for it again.
            StoreOutcome::Appended { session, batch, result: Err(StoreError::Locked { .. }) }
                if is_early && keeper.trouble(&session).is_none() =>
            {
                keeper.put_back(&session, batch);
                Task::Append(session)
            }
            StoreOutcome::Fetched { id, locked: Some(request), .. } if is_early => Task::Fetch(id, request),
            StoreOutcome::Closed { session, result: Err(StoreError::Locked { .. }) } if is_early => {
                Task::Close(session)
            }
            StoreOutcome::Tended(Err(StoreError::Locked { .. }))
                if now.duration_since(*self.untended.get_or_insert(now)) < LOCK_PATIENCE =>
            {
                // It is tended again soon enough.
                self.tending = false;
                return None;
            }
            done => {
                if let StoreOutcome::Tended(Ok(())) = done {
                    self.untended = None;
                }
                return Some(done);
            }
        };
        let was = was.unwrap_or_else(|| self.queued_now());
        self.again = Some(now + LOCK_PAUSE);
        // Where it stood: whoever came first is tried first.
        let place = self.queue.iter().position(|queued| queued.under_way.number > was.number);
        let queued = Queued { task, under_way: UnderWay { locked: Some(since), ..was } };
        self.queue.insert(place.unwrap_or(self.queue.len()), queued);
        None
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

    /// Lets go of the store, if it is here. Who only reads goes first: the last one tidies up, and has to write for that.
    pub(super) fn shut(&mut self) {
        self.reader = None;
        self.store = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{CoreEffect, CoreInput, Engine, Setup, Standing};
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
        let entry = Entry { id: EntryId(1), parent: None, at: Millis(1), kind };
        state.entries.insert(EntryId(1), Arc::new(entry));
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
        core.step(Millis(1), CoreInput::Arrived { ui, name: "test".into(), answers, standing });
        let (cwd, title, id) = (None, Some("said".into()), Some(session.clone()));
        let command = Command::Library(LibraryCommand::New { cwd, title, id });
        let (ticket, target) = (Ticket(1), Target::Current);
        for out in core.step(Millis(1), CoreInput::Command { ui, ticket, target, command }) {
            if let CoreEffect::Append { session, event } = out {
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
