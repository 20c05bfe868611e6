//! What is done on a thread for blocking work: the calls of the store, and of files. Nothing here knows of queues, or of the hub.

use super::{AppendedBatch, Batch, FileTask, Job, StoreOutcome, past};
use crate::core::{Answer, Request, RequestId, imported};
use crate::shell::files::Cabinet;
use domain::command::{ExportFormat, Refusal, RefusalKind};
use domain::event::Event;
use domain::ids::SessionId;
use domain::path_text;
use domain::session::{Origin, SessionSummary};
use std::io;
use store::{Appended, Durability, Listing, Opened, Store, StoreError};

/// A kept session, or an id that is free for one.
type FoundSession = (Option<Box<(SessionId, Opened)>>, Option<SessionId>);

/// A call of the store, or of what reads beside it, which is only ever given what reads.
pub(super) fn perform(store: &mut dyn Store, job: Job) -> StoreOutcome {
    match job {
        Job::Append { session, batch } => {
            let created = if batch.create { store.create(&session) } else { Ok(()) };
            let result = created.and_then(|()| store.append(&session, &batch.events, batch.durability));
            if result.is_ok() && batch.waited_for && batch.durability == Durability::Soon {
                // One that cannot be written now is found out by the next call that must write.
                let _ = store.tend();
            }
            StoreOutcome::Appended { session, batch, result }
        }
        Job::AppendMany { batches } => {
            let (batches, tended) = append_many(store, batches);
            StoreOutcome::AppendedMany { batches, tended }
        }
        Job::Fetch { id, request, unkept, open } => fetch(store, id, request, unkept, open),
        Job::Snapshot { session, state } => match store.snapshot(&session, &state) {
            // One that could not be made for a lock is due again with the next batch.
            Ok(()) | Err(StoreError::Locked { .. }) => StoreOutcome::Quiet(None),
            Err(why) => StoreOutcome::Quiet(Some(format!("snapshot of {session}: {why}"))),
        },
        Job::Tend => StoreOutcome::Tended(store.tend()),
        Job::Close { session } => {
            let result = store.close(&session);
            StoreOutcome::Closed { session, result }
        }
    }
}

/// Appends what came together of many sessions: those that are new are made first, the rest is one call.
fn append_many(
    store: &mut dyn Store,
    batches: Vec<(SessionId, Batch)>,
) -> (Vec<AppendedBatch>, Result<(), StoreError>) {
    let made: Vec<Result<(), StoreError>> = batches
        .iter()
        .map(|(session, batch)| if batch.create { store.create(session) } else { Ok(()) })
        .collect();
    let ready = batches.iter().zip(&made).filter(|(_, made)| made.is_ok());
    let ready: Vec<store::Batch<'_>> = ready
        .map(|((session, batch), _)| store::Batch {
            session,
            events: &batch.events,
            durability: batch.durability,
        })
        .collect();
    let mut answers = store.append_many(&ready).into_iter();
    let results: Vec<Result<Appended, StoreError>> = made
        .into_iter()
        .zip(&batches)
        .map(|(made, (session, _))| {
            made.and_then(|()| answers.next().unwrap_or_else(|| Err(StoreError::NotOpen(session.clone()))))
        })
        .collect();
    let is_waited_for = |batch: &Batch| batch.waited_for && batch.durability == Durability::Soon;
    // One that cannot be written now is found out by the next call that must write, but for what is lost: that is told once.
    let tended = if batches.iter().any(|(_, batch)| is_waited_for(batch)) { store.tend() } else { Ok(()) };
    let batches = batches.into_iter().zip(results).map(|((session, batch), result)| (session, batch, result));
    (batches.collect(), tended)
}

fn fetch(
    store: &mut dyn Store,
    id: RequestId,
    request: Request,
    unkept: Vec<Event>,
    open: bool,
) -> StoreOutcome {
    let (about, answered) = match &request {
        Request::Open { session } => {
            let opened = match store.open(session) {
                Ok(opened) => Ok(Answer::Opened(Some(Box::new(opened)))),
                Err(StoreError::Unknown(_)) => Ok(Answer::Opened(None)),
                Err(why @ (StoreError::Busy { .. } | StoreError::Elsewhere { .. })) => {
                    Ok(Answer::Elsewhere(why.to_refusal()))
                }
                Err(why) => Err(why),
            };
            (Some(session.clone()), opened)
        }
        Request::Find { origin } => match find(store, origin) {
            Ok((kept, free)) => {
                let about = kept.as_ref().map(|kept| kept.0.clone());
                (about, Ok(Answer::Found { kept, free }))
            }
            Err(why) => (None, Err(why)),
        },
        Request::Recall { session, origin } => match recall(store, session, origin) {
            Ok(kept) => {
                let about = kept.as_ref().map(|kept| kept.0.clone());
                (about, Ok(Answer::Found { kept, free: None }))
            }
            Err(why) => (None, Err(why)),
        },
        Request::Delete { session, live } => {
            (Some(session.clone()), delete(store, session, *live).map(Answer::Deleted))
        }
        Request::List { project, limit, search } => {
            let limit = limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
            let listing = Listing { project: project.clone(), search: search.clone(), limit };
            (None, store.list(&listing).map(Answer::Listed))
        }
        Request::History { session, max_runs, max_events } => {
            let past = past::history(store, session, &unkept, open, (*max_runs, *max_events));
            (None, past.map(Answer::History))
        }
        Request::Export { session, .. } => match store.events(session, domain::ids::Seq(0), usize::MAX) {
            Ok(mut events) => {
                events.extend(unkept);
                return log(id, request, events);
            }
            // Nothing of it was ever written.
            Err(StoreError::Unknown(_)) => return log(id, request, unkept),
            Err(why) => (None, Err(why)),
        },
        Request::Save { .. } | Request::Load { .. } | Request::Folder { .. } => return misplaced(id),
    };
    let locked = matches!(answered, Err(StoreError::Locked { .. })).then_some(request);
    StoreOutcome::Fetched { id, about, with: answered.map_err(|why| why.to_refusal()), locked }
}

/// The log of a session that is to be exported.
fn log(id: RequestId, request: Request, events: Vec<Event>) -> StoreOutcome {
    match request {
        Request::Export { session, state, .. } => StoreOutcome::Log { id, session, state, events },
        _ => misplaced(id),
    }
}

fn misplaced(id: RequestId) -> StoreOutcome {
    let with = Err(Refusal::new(RefusalKind::Internal, "a file is no matter for the store"));
    StoreOutcome::Fetched { id, about: None, with, locked: None }
}

/// What is kept of a foreign session, opened for writing; else the id that it is to be kept under, unless that is taken.
fn find(store: &mut dyn Store, origin: &Origin) -> Result<FoundSession, StoreError> {
    if let Some(id) = store.find_origin(origin)? {
        let opened = store.open(&id)?;
        return Ok((Some(Box::new((id, opened))), None));
    }
    let free = origin.kept_as().filter(|id| matches!(store.summary(id), Err(StoreError::Unknown(_))));
    Ok((None, free))
}

/// What is kept under an id, or of what the runtime or a UI of it calls so, opened for writing; the sessions of others are not looked
/// into.
fn recall(
    store: &mut dyn Store,
    session: &SessionId,
    origin: &Origin,
) -> Result<Option<Box<(SessionId, Opened)>>, StoreError> {
    let is_its = |found: &SessionSummary| found.origin.as_deref().is_some_and(|of| of.is_beside(origin));
    let id = match store.summary(session) {
        Ok(found) if is_its(&found) => Some(session.clone()),
        Ok(_) | Err(StoreError::Unknown(_)) => {
            let named = origin.named(session.as_str());
            let given = named.kept_as().filter(|id| store.summary(id).is_ok_and(|found| is_its(&found)));
            store.find_origin(&named)?.or(given)
        }
        Err(why) => return Err(why),
    };
    let Some(id) = id else { return Ok(None) };
    let opened = store.open(&id)?;
    Ok(Some(Box::new((id, opened))))
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

/// Reads or writes a file, or makes the text of one.
pub(super) fn perform_file(cabinet: &Cabinet, task: FileTask) -> Result<Answer, Refusal> {
    match task {
        FileTask::Save { session, state, path, history } => {
            let (path, size) = cabinet.save(&session, &state, path.as_deref(), history)?;
            Ok(Answer::Saved { path, size })
        }
        FileTask::Folder { path } => folder(&path).map(|()| Answer::Folder),
        FileTask::Load { path, now } => {
            let (was, state) = cabinet.load(&path)?;
            Ok(Answer::Loaded(Box::new(imported(&state, now).with_id(was))))
        }
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
