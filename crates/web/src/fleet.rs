//! The fleet as a page is told of it: all rows first, then what changed; and what is done to a row.

use crate::caller::{next, say};
use crate::devices::{Devices, Role, now};
use crate::holder::Holder;
use crate::offers::Pairing;
use crate::rooms::{Act, PageQuery, Rooms, Rows};
use crate::shared::Shared;
use domain::fleet::{Row, Status};
use domain::ids::SessionId;
use link::{LinkIo, Outgoing};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Changes are told at most this often.
const TOLD_EVERY: Duration = Duration::from_millis(50);
/// Things that are done at once for one page.
const MAX_ACTS: usize = 8;
/// Things that are looked up at once for one page: of more, the newest are refused.
const MAX_LOOKS: usize = 4;
/// Bytes of words that are searched for, and of the beginning of a path.
const MAX_WORDS: usize = 4096;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum FleetRequest {
    Act {
        id: u64,
        key: String,
        what: FleetAction,
    },
    /// A word about the browser that is asked about.
    Pair {
        id: u64,
        allow: bool,
    },
    /// Looks something up that no session tells.
    Look {
        id: u64,
        up: Looked,
    },
    /// Takes a device's right away.
    Revoke {
        device: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Looked {
    Start,
    Folders(String),
    Search(String),
    Log(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum FleetAction {
    Steer(String),
    Stop,
}

/// Tells until the page is gone or it is over (it may no longer); gives what it is told with the end. `browsers`: who knows of browsers
/// that ask to be devices.
pub(crate) async fn tell<R: Rooms>(
    rooms: &Arc<R>,
    holder: &impl Holder,
    browsers: Option<&Shared<R>>,
    page: &mut LinkIo,
    role: Role,
    over: impl Future<Output = (u16, String)>,
) -> (u16, String) {
    let rows = rooms.fleet();
    let out = page.outgoing.clone();
    let telling = async {
        let (mut rows, mut told) = (rows.clone(), Told::default());
        rows.mark_changed();
        while rows.changed().await.is_ok() {
            let now = rows.borrow_and_update().clone();
            if let Some(change) = now.and_then(|now| told.change(&now)) {
                let line = change.to_string();
                out.room_for(line.len()).await;
                if out.try_send(link::Lane::MAIN, line).is_err() {
                    return;
                }
                tokio::time::sleep(TOLD_EVERY).await;
            }
        }
    };
    let to_page = page.outgoing.clone();
    let pairing = async move {
        match browsers {
            Some(shared) => tell_of_devices(shared, to_page, role).await,
            None => std::future::pending().await,
        }
    };
    let acting = async {
        let (mut acts, mut looks) = (JoinSet::new(), JoinSet::new());
        loop {
            tokio::select! {
                line = next(page) => {
                    let Some(line) = line else { return };
                    let (id, key, what) = match serde_json::from_str(&line) {
                        Ok(FleetRequest::Act { id, key, what }) => (id, key, what),
                        Ok(FleetRequest::Pair { id, allow }) => {
                            if let Some(shared) = browsers {
                                pair(shared, holder, role, id, allow).await;
                            }
                            continue;
                        }
                        Ok(FleetRequest::Look { id, up }) => {
                            match query(role, looks.len(), up) {
                                Ok(query) => {
                                    let rooms = rooms.clone();
                                    looks.spawn(async move { found(id, rooms.look_up(query).await) });
                                }
                                Err(words) => say(page, &found(id, Err(words))),
                            }
                            continue;
                        }
                        Ok(FleetRequest::Revoke { device: id }) => {
                            if let Some(shared) = browsers {
                                revoke(shared, holder, role, id).await;
                            }
                            continue;
                        }
                        Err(_) => {
                            say(page, &json!({"said": {"words": "this could not be understood"}}));
                            continue;
                        }
                    };
                    let allowed = allowed(role, acts.len());
                    if allowed.is_ok() && !holder.may_command().await {
                        return;
                    }
                    let act = match allowed.and_then(|()| act(&rows, &key, what)) {
                        Ok(act) => act,
                        Err(words) => {
                            say(page, &json!({"said": {"id": id, "words": words}}));
                            continue;
                        }
                    };
                    let rooms = rooms.clone();
                    acts.spawn(async move { (id, rooms.act(act).await) });
                }
                Some(Ok(told)) = looks.join_next() => say(page, &told),
                Some(Ok((id, words))) = acts.join_next() => say(page, &json!({"said": {"id": id, "words": words}})),
            }
        }
    };
    tokio::select! {
        biased;
        ended = over => ended,
        () = telling => (1001, "the fleet is no longer gathered".to_owned()),
        () = pairing => (1001, "the server ends".to_owned()),
        () = acting => (1000, String::new()),
    }
}

/// Tells of the browser that is asked about, and of each one that was enrolled.
async fn tell_of_devices<R: Rooms>(shared: &Shared<R>, out: Outgoing, role: Role) {
    let (mut pairing, mut joined) = (shared.pairing.subscribe(), shared.joined.subscribe());
    // One that is asked about already is told at once; that there is none is nothing to tell.
    let is_asked = pairing.borrow_and_update().is_some();
    if is_asked {
        pairing.mark_changed();
    }
    loop {
        let told = tokio::select! {
            changed = pairing.changed() => {
                if changed.is_err() {
                    return;
                }
                let now = pairing.borrow_and_update().clone();
                json!({"pairing": now.map(|pairing| asked_about(&pairing, role))})
            }
            device = joined.recv() => match device {
                Ok(device) => json!({"joined": {"device": device.told()}}),
                // What a slow page has missed stands in the list of devices.
                Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => return,
            },
        };
        let line = told.to_string();
        out.room_for(line.len()).await;
        if out.try_send(link::Lane::MAIN, line).is_err() {
            return;
        }
    }
}

/// A browser that is asked about. Its code is for those who may say a word.
fn asked_about(pairing: &Pairing, role: Role) -> Value {
    let left = pairing.until.saturating_duration_since(Instant::now()).as_secs();
    let mut told =
        json!({"id": pairing.id, "name": pairing.name, "role": pairing.role.name(), "seconds": left});
    if role == Role::Controller {
        told["code"] = pairing.code.as_str().into();
    }
    told
}

async fn pair<R: Rooms>(shared: &Shared<R>, holder: &impl Holder, role: Role, id: u64, allow: bool) {
    if role == Role::Controller && (!allow || holder.may_command().await) {
        shared.answer_pairing(id, allow);
    }
}

async fn revoke<R: Rooms>(shared: &Shared<R>, holder: &impl Holder, role: Role, id: String) {
    if role != Role::Controller || !holder.may_command().await {
        return;
    }
    let change = move |devices: &mut Devices| {
        devices.revoke(&id, now());
    };
    if let Err(why) = shared.change_devices(change).await {
        shared.tell(&format!("could not revoke a device: {why}"));
    }
}

/// Everybody who may look at sessions may search them; where one could be begun is for those who may begin one.
fn query(role: Role, under_way: usize, up: Looked) -> Result<PageQuery, String> {
    if under_way >= MAX_LOOKS {
        return Err("too much is being looked up at once; try again in a moment".to_owned());
    }
    let query = match up {
        Looked::Search(words) => PageQuery::Search(words),
        _ if role != Role::Controller => {
            return Err(format!("this device is {role}; only a controller can begin a session"));
        }
        Looked::Start => PageQuery::Start,
        Looked::Folders(path) => PageQuery::Folders(path),
        Looked::Log(session) => match SessionId::parse(&session) {
            Some(session) => PageQuery::Log(session),
            None => return Err("this is not the id of a session".to_owned()),
        },
    };
    match &query {
        PageQuery::Search(text) | PageQuery::Folders(text) if text.len() > MAX_WORDS => {
            Err("this is too long to be looked up".to_owned())
        }
        _ => Ok(query),
    }
}

fn found(id: u64, found: Result<Value, String>) -> Value {
    match found {
        Ok(told) => json!({"found": {"id": id, "is": told}}),
        Err(words) => json!({"found": {"id": id, "words": words}}),
    }
}

fn allowed(role: Role, under_way: usize) -> Result<(), String> {
    match role {
        Role::Controller if under_way < MAX_ACTS => Ok(()),
        Role::Controller => Err("too much is being done at once; try again in a moment".to_owned()),
        Role::Approver | Role::Observer => {
            Err(format!("this device is {role}; only a controller can do that"))
        }
    }
}

fn act(rows: &watch::Receiver<Option<Rows>>, key: &str, what: FleetAction) -> Result<Act, String> {
    let rows = rows.borrow().clone();
    let row = rows.as_ref().and_then(|rows| rows.iter().find(|row| self::key(row) == key));
    let row = row.ok_or("this session is no longer there")?;
    let (Some(pid), Some(session)) = (row.pid, row.session.clone()) else {
        return Err("no process has this session open; open it first".to_owned());
    };
    Ok(match what {
        FleetAction::Steer(text) if text.trim().is_empty() => {
            return Err("there is nothing to say".to_owned());
        }
        FleetAction::Steer(text) => Act::Say { pid, session, text, busy: row.is_busy() },
        FleetAction::Stop => Act::Stop { pid, session },
    })
}

/// What a page was told.
#[derive(Default)]
struct Told {
    rows: Option<BTreeMap<String, Value>>,
}

impl Told {
    /// What is to be said so that the page knows these rows, if anything.
    fn change(&mut self, rows: &[Row]) -> Option<Value> {
        let now: BTreeMap<String, Value> = rows.iter().map(|row| (key(row), shown(row))).collect();
        let order = || rows.iter().map(key);
        let said = match &self.rows {
            None => {
                let all: Vec<&Value> = order().filter_map(|key| now.get(&key)).collect();
                Some(json!({"rows": {"all": true, "rows": all}}))
            }
            Some(before) => {
                let changed: Vec<&Value> = order()
                    .filter(|key| before.get(key) != now.get(key))
                    .filter_map(|key| now.get(&key))
                    .collect();
                let gone: Vec<&String> = before.keys().filter(|key| !now.contains_key(*key)).collect();
                let same = changed.is_empty() && gone.is_empty();
                (!same).then(|| json!({"rows": {"rows": changed, "gone": gone}}))
            }
        };
        self.rows = Some(now);
        said
    }
}

/// What a row is known by: its session, or its process where only that is known.
fn key(row: &Row) -> String {
    match (&row.session, row.pid) {
        (Some(session), _) => session.to_string(),
        (None, pid) => format!("pid-{}", pid.unwrap_or_default()),
    }
}

/// A row; what is not known is not there.
fn shown(row: &Row) -> Value {
    let mut told = json!({
        "key": key(row), "status": row.status.word(), "title": row.title, "cwd": row.cwd, "since": row.since.0,
    });
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            told[name] = value;
        }
    };
    if let Status::Waiting { asks, question, .. } = &row.status {
        add("asks", Some((*asks).into()));
        add("question", Some(question.clone().into()));
    } else {
        add("about", row.about().map(Value::from));
    }
    add("session", row.session.as_ref().map(|id| id.as_str().into()));
    add("pid", row.pid.map(Value::from));
    add("cost_micros", row.cost_micros.map(Value::from));
    add("rough", row.rough.then(|| true.into()));
    add("branch", row.branch.clone().map(Value::from));
    add("runtime", row.runtime.clone().map(Value::from));
    told
}
