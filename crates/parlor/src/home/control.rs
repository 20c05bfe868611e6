//! What is said to the server: a line of JSON for each request, with one key, and one for each answer. Both ends are here.
//!
//! | request | answer |
//! |---|---|
//! | `{"status":{"salt":"…"}}` | `{"status":{"pid","version","since","rooms","providers","warning"}}`; `warning` where the page is not as it was |
//! | `{"open":{"session","cwd","environment","flags"}}` | `{"opened":{"socket","pid","was_open"}}` |
//! | `{"web":{"role":"…"}}` | `{"web":{"address":"…","warning":"…"}}`, where one browser can be enrolled within a minute, for as long as this connection stays; the first request starts the page, unless browsers are enrolled already |
//! | `{"pairing":{}}` | when there is something to tell of the offer that was made on this connection, or of any if it made none: `{"pairing":{"asked":{"id","name","role","code"}}}`, `{"pairing":{"joined":{"id","name"}}}` or `{"pairing":{"over":{}}}` |
//! | `{"over":{"id":7}}` | `{"over":{}}`, when that browser is no longer asked about |
//! | `{"pair":{"id":7,"allow":true}}` | `{"pair":{"done":true}}` |
//! | `{"stop":{}}` | `{"stopped":{"rooms","killed","left"}}`, when the rooms have ended |
//!
//! Anything else, and what cannot be done, is answered with `{"error":{"message":"…"}}`.

use crate::entrance::{self, Refusals};
use crate::rooms::{self, Ended, Opened, Rooms, Wanted, birth};
use crate::web::{self as page, Asking, Served};
use crate::{devices, exit, sessions};
use anyhow::Context;
use domain::ids::SessionId;
use domain::path_text;
use link::unix::Listener;
use link::{Incoming, Limits, LinkError, LinkIo, Outgoing, unix};
use roles::Lane;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OnceCell, broadcast, mpsc};
use tokio::task::JoinSet;
use web::{Device, Offered, Pairing, Role, Shelf as _, Standing};
use wire::lines::Frame;

/// Most connections at once. Each open screen has one, two while a browser asks; that leaves room for commands.
const MAX_VISITORS: usize = 320;
/// How long to try to reach a server, and how long it may take to answer; a room may take a while to stand.
const REACHED_WITHIN: Duration = Duration::from_millis(500);
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
const ROOM_WITHIN: Duration = Duration::from_secs(70);
/// How long an offer to browsers lasts at most, and a little.
const PAIRED_WITHIN: Duration = Duration::from_secs(web::OFFER_GOOD_FOR.as_secs() + 10);
/// How long whoever asked may take to read the last answer.
const TELL_WITHIN: Duration = Duration::from_secs(2);

/// Where a server is reached, as it stands in its notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) pid: u32,
    pub(crate) version: String,
    /// Milliseconds since 1970.
    since: u64,
    socket: PathBuf,
}

impl Server {
    /// This process.
    pub(super) fn here(socket: &Path) -> Server {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Server { pid: std::process::id(), version, since: sessions::now().0, socket: socket.to_owned() }
    }

    /// As `parlor up --json` prints it.
    pub(super) fn to_json(&self) -> Value {
        let Server { pid, version, since, socket } = self;
        json!({"pid": pid, "version": version, "since": since, "control": path_text::write(socket)})
    }

    fn read(notice: &Path) -> Option<Server> {
        let told: Value = serde_json::from_str(&std::fs::read_to_string(notice).ok()?).ok()?;
        Some(Server {
            pid: u32::try_from(told.get("pid")?.as_u64()?).ok()?,
            version: told.get("version")?.as_str()?.to_owned(),
            since: told.get("since")?.as_u64()?,
            socket: path_text::read(told.get("control")?.as_str()?),
        })
    }
}

/// How a server stands.
#[derive(Debug, Clone)]
pub(crate) struct Status {
    pub(crate) pid: u32,
    pub(crate) version: String,
    /// Digests of what it knows of providers.
    pub(crate) providers: BTreeMap<String, String>,
    pub(crate) rooms: Vec<u64>,
    /// What is to be known of its page.
    pub(crate) warning: Option<String>,
    whole: Value,
}

impl Status {
    /// What a person is shown of it: digests of keys are for programs.
    pub(super) fn to_json(&self) -> Value {
        let mut told = self.whole.clone();
        if let Some(members) = told.as_object_mut() {
            members.remove("providers");
        }
        told
    }
}

/// What there is to know of an offer to browsers.
pub(crate) enum Paired {
    /// One has taken it up: the person is to be asked.
    Asked {
        id: u64,
        asking: Asking,
    },
    Joined {
        name: String,
        id: String,
    },
    /// Nobody has, and nobody will.
    Over,
}

/// The way to a server.
pub(crate) struct Control {
    pub(crate) server: Server,
    link: LinkIo,
}

impl Control {
    /// Reaches the server of this data folder, if one runs.
    ///
    /// # Errors
    /// When somebody is there and is not to be talked to.
    pub(crate) async fn here() -> anyhow::Result<Option<Control>> {
        Control::reach(&std::path::absolute(crate::places::data()?)?.join(super::NOTICE)).await
    }

    /// Reaches the server of a notice, if it runs.
    pub(super) async fn reach(notice: &Path) -> anyhow::Result<Option<Control>> {
        let Some(server) = Server::read(notice) else { return Ok(None) };
        let reached =
            unix::connect(&server.socket, Lane::MAIN, Limits::default(), REACHED_WITHIN, entrance::trust)
                .await;
        match reached {
            Ok(link) => Ok(Some(Control { server, link })),
            Err(LinkError::Connect { source, .. })
                if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) =>
            {
                Ok(None)
            }
            Err(why) => Err(why.into()),
        }
    }

    /// Asks the server who it is and which rooms it has.
    pub(crate) async fn status(&mut self) -> anyhow::Result<Status> {
        self.status_with("").await
    }

    /// The same with digests of its providers, with this salt.
    pub(crate) async fn status_with(&mut self, salt: &str) -> anyhow::Result<Status> {
        let whole = self.ask(&json!({"status": {"salt": salt}}), "status", ANSWER_WITHIN).await?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let providers = whole.get("providers").and_then(Value::as_object).into_iter().flatten();
        let rooms = whole.get("rooms").and_then(Value::as_array).into_iter().flatten();
        Ok(Status {
            pid: self.server.pid,
            version: whole.get("version").map(text).unwrap_or_default(),
            providers: providers.map(|(name, digest)| (name.clone(), text(digest))).collect(),
            rooms: rooms.filter_map(Value::as_u64).collect(),
            warning: whole.get("warning").map(text),
            whole,
        })
    }

    /// Asks for a room.
    pub(crate) async fn open(&mut self, wanted: &Wanted) -> anyhow::Result<Opened> {
        let text = |word: &OsString| path_text::write(Path::new(word));
        let asked = json!({"open": {
            "session": wanted.session.as_ref().map(SessionId::as_str),
            "cwd": wanted.cwd.as_deref().map(path_text::write),
            "environment": wanted.environment.as_deref().map(birth::to_json),
            "flags": wanted.flags.iter().map(text).collect::<Vec<_>>(),
        }});
        let told = self.ask(&asked, "opened", ROOM_WITHIN).await?;
        let pid = told.get("pid").and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok());
        let socket = told.get("socket").and_then(Value::as_str);
        Ok(Opened {
            socket: path_text::read(socket.context("the server named no socket")?),
            pid: pid.context("the server named no process")?,
            was_open: told.get("was_open") == Some(&Value::Bool(true)),
        })
    }

    /// Has its page offered to one browser; the address, and what is to be known of the page.
    pub(crate) async fn web(&mut self, role: Role) -> anyhow::Result<(String, Option<String>)> {
        let told = self.ask(&json!({"web": {"role": role.word()}}), "web", ANSWER_WITHIN).await?;
        let text = |key: &str| told.get(key).and_then(Value::as_str).map(str::to_owned);
        Ok((text("address").context("the server named no address")?, text("warning")))
    }

    /// Waits for what there is to know of the browser that takes up the offer.
    pub(crate) async fn pairing(&mut self) -> anyhow::Result<Paired> {
        let told = self.ask(&json!({"pairing": {}}), "pairing", PAIRED_WITHIN).await?;
        let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(asked) = told.get("asked") {
            let id = asked.get("id").and_then(Value::as_u64).context("the server named no browser")?;
            let [name, role, code] = ["name", "role", "code"].map(|key| text(asked, key));
            return Ok(Paired::Asked { id, asking: Asking { name, role, code } });
        }
        Ok(match told.get("joined") {
            Some(joined) => Paired::Joined { name: text(joined, "name"), id: text(joined, "id") },
            None => Paired::Over,
        })
    }

    /// Waits until a browser is no longer asked about. To be dropped means to ask another thing on a link of its own.
    pub(crate) async fn over(&self, id: u64) -> anyhow::Result<()> {
        let mut other = Control::here().await?.context("the server went away")?;
        other.ask(&json!({"over": {"id": id}}), "over", PAIRED_WITHIN).await.map(drop)
    }

    /// The person's word about a browser; whether it came in time.
    pub(crate) async fn pair(&mut self, id: u64, allow: bool) -> anyhow::Result<bool> {
        let told = self.ask(&json!({"pair": {"id": id, "allow": allow}}), "pair", ANSWER_WITHIN).await?;
        Ok(told.get("done") == Some(&Value::Bool(true)))
    }

    /// Tells it to stop, and waits until its rooms have ended.
    pub(super) async fn stop(&mut self, within: Duration) -> anyhow::Result<Ended> {
        let told = self.ask(&json!({"stop": {}}), "stopped", within).await?;
        let count = |key: &str| told.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let count = |key: &str| count(key).unwrap_or_default();
        Ok(Ended { rooms: count("rooms"), killed: count("killed"), left: count("left") })
    }

    async fn ask(&mut self, request: &Value, key: &str, within: Duration) -> anyhow::Result<Value> {
        let gone = || anyhow::anyhow!("the server (process {}) went away", self.server.pid);
        self.link.outgoing.try_send(Lane::MAIN, request.to_string()).map_err(|_| gone())?;
        let answered = async {
            loop {
                match self.link.incoming.recv().await {
                    Some(Incoming::Frame { frame: Frame::Line(line), .. }) => return Some(line),
                    Some(Incoming::Frame { .. }) => {}
                    Some(Incoming::Closed { .. }) | None => return None,
                }
            }
        };
        let line = tokio::time::timeout(within, answered).await;
        let line =
            line.with_context(|| format!("the server (process {}) does not answer", self.server.pid))?;
        let told: Value = serde_json::from_str(&line.ok_or_else(gone)?)
            .context("the server says nothing that can be read")?;
        if let Some(error) = told.get("error") {
            anyhow::bail!("{}", error.get("message").and_then(Value::as_str).unwrap_or("the server refused"));
        }
        told.get(key).cloned().context("the server answers something else; it may be of another version")
    }
}

/// What the server answers from.
pub(super) struct Desk {
    server: Server,
    data: PathBuf,
    rooms: Rooms,
    page: Page,
    visitors: Mutex<JoinSet<()>>,
}

/// The page, from the first time that it is asked for.
type Page = Arc<OnceCell<Served>>;

impl Desk {
    pub(super) fn new(server: Server, data: PathBuf, rooms: Rooms) -> Desk {
        Desk { server, data, rooms, page: Page::default(), visitors: Mutex::default() }
    }

    /// Serves the page from the start where browsers are enrolled: they come back by themselves, and nobody may be there to ask for it.
    pub(super) async fn serve_known(&self, data: &Path) {
        let known = devices::File::new(data).read().active().count() > 0;
        if known && let Err(why) = self.asked_of().page().await {
            exit::complain(&format!("the page is not served: {}", exit::in_words(&why)));
        }
    }

    /// Lets everybody go who still asks.
    pub(super) async fn close(&self) {
        self.visitors.lock().await.shutdown().await;
        if let Some(page) = self.page.get() {
            page.server.say_goodbye().await;
        }
    }

    fn asked_of(&self) -> Answers {
        Answers {
            server: self.server.clone(),
            data: self.data.clone(),
            rooms: self.rooms.clone(),
            page: self.page.clone(),
        }
    }
}

/// Somebody who asked to stop and waits for the answer.
pub(super) struct AskedToStop(LinkIo);

impl AskedToStop {
    /// Tells whoever asked what came of it, which is the last thing the server says.
    pub(super) async fn answer(self, ended: Ended) {
        let Ended { rooms, killed, left } = ended;
        let line = json!({"stopped": {"rooms": rooms, "killed": killed, "left": left}});
        let _ = self.0.outgoing.try_send(Lane::MAIN, line.to_string());
        self.0.shutdown(TELL_WITHIN).await;
    }
}

/// Answers whoever connects until somebody asks to stop.
pub(super) async fn attend(door: &Listener, desk: &Desk) -> AskedToStop {
    let mut refusals = Refusals::default();
    let (stop, mut stopped) = mpsc::channel(1);
    loop {
        let accepted = tokio::select! {
            accepted = door.accept() => accepted,
            Some(asked) = stopped.recv() => return AskedToStop(asked),
        };
        // A socket that cannot be listened at any more is no reason to end what runs.
        let Ok(accepted) = accepted else {
            let asked = stopped.recv().await;
            match asked {
                Some(asked) => return AskedToStop(asked),
                None => std::future::pending::<()>().await,
            }
            continue;
        };
        let Ok(accepted) = refusals.admit(link::entry::Door::Control, accepted) else { continue };
        let mut visitors = desk.visitors.lock().await;
        while visitors.try_join_next().is_some() {}
        if visitors.len() < MAX_VISITORS {
            let link = accepted.into_link(Lane::MAIN, Limits::default());
            visitors.spawn(hear(link, desk.asked_of(), stop.clone()));
        }
    }
}

/// An offer to browsers that was made on a connection: it is over when that is.
struct Made {
    page: Page,
    number: u64,
    joined: broadcast::Receiver<Device>,
}

impl Drop for Made {
    fn drop(&mut self) {
        if let Some(page) = self.page.get() {
            page.server.withdraw(self.number);
        }
    }
}

/// Hears one visitor.
async fn hear(mut link: LinkIo, answers: Answers, stop: mpsc::Sender<LinkIo>) {
    let (mut next, mut made) = (None, None);
    loop {
        let heard = match next.take() {
            Some(heard) => heard,
            None => match link.incoming.recv().await {
                Some(heard) => heard,
                None => return,
            },
        };
        let line = match heard {
            Incoming::Frame { frame: Frame::Line(line), .. } => line,
            Incoming::Frame { .. } => {
                say(&link.outgoing, &error("this is no line of text within bounds"));
                continue;
            }
            Incoming::Closed { .. } => return,
        };
        let request: Value = serde_json::from_str(&line).unwrap_or_default();
        if request.get("stop").is_some() {
            let _ = stop.send(link).await;
            return;
        }
        // Whoever goes while it waits for a browser holds its place no longer.
        let waits = ["pairing", "over"].iter().any(|what| request.get(what).is_some());
        let answering = answers.answer(&request, &mut made);
        tokio::pin!(answering);
        let answer = loop {
            tokio::select! {
                answer = &mut answering => break answer,
                heard = link.incoming.recv(), if waits && next.is_none() => match heard {
                    None | Some(Incoming::Closed { .. }) => return,
                    heard => next = heard,
                },
            }
        };
        say(&link.outgoing, &answer);
    }
}

fn say(outgoing: &Outgoing, line: &Value) {
    // Whoever does not read misses its answer.
    let _ = outgoing.try_send(Lane::MAIN, line.to_string());
}

fn error(message: &str) -> Value {
    json!({"error": {"message": message}})
}

/// What is needed to answer.
struct Answers {
    server: Server,
    data: PathBuf,
    rooms: Rooms,
    page: Page,
}

impl Answers {
    async fn answer(&self, request: &Value, made: &mut Option<Made>) -> Value {
        let Some((what, with)) =
            request.as_object().filter(|asked| asked.len() == 1).and_then(|asked| asked.iter().next())
        else {
            return error("a request is an object with one key");
        };
        match what.as_str() {
            "status" => self.status(with.get("salt").and_then(Value::as_str).unwrap_or_default()),
            "open" => match read(with) {
                Ok(wanted) => match self.rooms.open(wanted).await {
                    Ok(Opened { socket, pid, was_open }) => {
                        json!({"opened": {"socket": path_text::write(&socket), "pid": pid, "was_open": was_open}})
                    }
                    Err(why) => error(&why.to_string()),
                },
                Err(why) => error(why),
            },
            "web" => match self.offer(with.get("role").and_then(Value::as_str)).await {
                Ok(offered) => {
                    let mut told = json!({"address": offered.address});
                    *made = self.page.get().map(|page| Made {
                        page: self.page.clone(),
                        number: offered.number,
                        joined: page.server.joined(),
                    });
                    self.warn(&mut told);
                    json!({"web": told})
                }
                Err(why) => error(&exit::in_words(&why)),
            },
            "pairing" => self.pairing(made.as_mut()).await,
            "over" => self.over(with.get("id").and_then(Value::as_u64)).await,
            "pair" => {
                let id = with.get("id").and_then(Value::as_u64).unwrap_or_default();
                let allow = with.get("allow") == Some(&Value::Bool(true));
                let done = self.page.get().is_some_and(|page| page.server.answer_pairing(id, allow));
                json!({"pair": {"done": done}})
            }
            _ => error("this is nothing that the server knows"),
        }
    }

    /// Offers the page to one browser; the first offer starts the page.
    async fn offer(&self, role: Option<&str>) -> anyhow::Result<Offered> {
        let role = role
            .and_then(|role| role.parse::<Role>().ok())
            .context("`role` is controller, approver or observer")?;
        page::offer(&self.page().await?.server, role)
    }

    /// Waits until there is something to tell of the offer that was made here; where none was, of any.
    async fn pairing(&self, made: Option<&mut Made>) -> Value {
        let over = || json!({"pairing": {"over": {}}});
        let Some(page) = self.page.get() else { return over() };
        let (mut pairing, mut standing) = (page.server.pairing(), page.server.standing());
        let mut anybody = page.server.joined();
        let (offer, joined) = match made {
            Some(made) => (Some(made.number), &mut made.joined),
            None => (None, &mut anybody),
        };
        let told = async {
            loop {
                let ours = |asked: &&Pairing| offer.is_none_or(|offer| asked.offer == offer);
                if let Some(asked) = pairing.borrow_and_update().as_ref().filter(ours) {
                    return json!({"pairing": {"asked": {
                        "id": asked.id, "name": asked.name, "role": asked.role.word(), "code": asked.code,
                    }}});
                }
                let Standing { open, allowed } = *standing.borrow_and_update();
                let is_allowed = offer.is_none() || allowed == offer;
                // Another one was made since, or the word about it was no.
                if open != offer && !is_allowed {
                    return over();
                }
                tokio::select! {
                    changed = pairing.changed() => if changed.is_err() { return over() },
                    changed = standing.changed() => if changed.is_err() { return over() },
                    device = joined.recv(), if is_allowed => return match device {
                        Ok(device) => json!({"pairing": {"joined": {"id": device.id, "name": device.name}}}),
                        Err(_) => over(),
                    },
                }
            }
        };
        tokio::time::timeout(web::OFFER_GOOD_FOR, told).await.unwrap_or_else(|_| over())
    }

    /// Waits until this browser is no longer asked about.
    async fn over(&self, id: Option<u64>) -> Value {
        if let Some(page) = self.page.get() {
            let mut pairing = page.server.pairing();
            let _ = pairing.wait_for(|asked| asked.as_ref().map(|asked| asked.id) != id).await;
        }
        json!({"over": {}})
    }

    async fn page(&self) -> anyhow::Result<&Served> {
        let usual = page::Web::usual();
        let start = async || {
            let served = page::start(&usual, self.rooms.clone()).await?;
            // For the log; whoever asks is told too.
            served.warning.iter().for_each(|warning| page::warn(warning));
            Ok(served)
        };
        self.page.get_or_try_init(start).await
    }

    /// Adds what is to be known of the page, if it is served.
    fn warn(&self, told: &mut Value) {
        if let Some(warning) = self.page.get().and_then(|served| served.warning.as_ref()) {
            told["warning"] = json!(warning);
        }
    }

    fn status(&self, salt: &str) -> Value {
        let mut told = self.server.to_json();
        told["rooms"] = json!(rooms::live(&self.data));
        told["data"] = json!(path_text::write(&self.data));
        told["providers"] = json!(birth::providers(salt));
        self.warn(&mut told);
        json!({"status": told})
    }
}

/// Reads what is wanted.
fn read(with: &Value) -> Result<Wanted, &'static str> {
    let member = |key: &str| with.get(key).filter(|value| !value.is_null());
    let session = match member("session") {
        Some(id) => Some(id.as_str().and_then(SessionId::parse).ok_or("`session` is the id of a session")?),
        None => None,
    };
    let cwd = match member("cwd") {
        Some(cwd) => {
            let cwd = path_text::read(cwd.as_str().ok_or("`cwd` is a path")?);
            Some(cwd).filter(|cwd| cwd.is_absolute()).map(Some).ok_or("`cwd` is an absolute path")?
        }
        None => None,
    };
    let environment = match member("environment") {
        Some(told) => Some(birth::from_json(told).ok_or("`environment` is a list of pairs")?),
        None => None,
    };
    let flags = member("flags").and_then(Value::as_array).into_iter().flatten();
    let flags: Option<Vec<OsString>> =
        flags.map(|flag| Some(path_text::read(flag.as_str()?).into_os_string())).collect();
    Ok(Wanted { session, cwd, environment, flags: flags.ok_or("`flags` are words")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_is_read_or_refused() {
        let wanted = read(&json!({"cwd": "/w", "environment": [["A", "b"]], "flags": ["--fetch"]})).unwrap();
        assert_eq!(wanted.cwd, Some("/w".into()));
        assert_eq!(wanted.environment, Some(vec![("A".into(), "b".into())]));
        assert!(wanted.session.is_none() && wanted.flags == ["--fetch"]);
        for wrong in [
            json!({"session": 1}),
            json!({"cwd": "relative"}),
            json!({"cwd": 1}),
            json!({"environment": {}}),
            json!({"flags": [1]}),
        ] {
            assert!(read(&wrong).is_err(), "{wrong}");
        }
    }
}
