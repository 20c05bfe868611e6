//! What is said to the server: a line of JSON for each request, with one key, and one for each answer. This is the end of who asks; `server/desk.rs` answers.
//!
//! | request | answer |
//! |---|---|
//! | `{"status":{"salt":"…"}}` | `{"status":{"pid","version","since","rooms","providers","warning"}}`; `warning` where the page is not as it was |
//! | `{"open":{"session","cwd","environment","agent","flags"}}` | `{"opened":{"socket","pid","was_open"}}` |
//! | `{"from":{"cwd":"…"}}` | `{"from":{}}`; sessions of the page begin in that folder from then on |
//! | `{"web":{"role":"…","cwd":"…"}}` | `{"web":{"address":"…","warning":"…"}}`, where one browser can be enrolled within a minute, for as long as this connection stays; the first request starts the page, unless browsers are enrolled already |
//! | `{"clients":{"cwd":"…"}}` | `{"clients":{"address":"ws://…","warning":"…"}}`: where clients of the one wire that comes over WebSockets find the server; the first request opens that door |
//! | `{"pairing":{}}` | when there is something to tell of the offer that was made on this connection, or of any if it made none: `{"pairing":{"asked":{"id","name","role","code"}}}`, `{"pairing":{"joined":{"id","name"}}}` or `{"pairing":{"over":{}}}` |
//! | `{"over":{"id":7}}` | `{"over":{}}`, when that browser is no longer asked about |
//! | `{"pair":{"id":7,"allow":true}}` | `{"pair":{"done":true}}` |
//! | `{"window":{"wants":"fleet"}}`, `…{"session":"…"}`, `…{"new":{"cwd":"…"}}` | what a page is told of it, from its `welcome` on (`web`'s `window.rs`): this connection is nothing else from then on |
//! | `{"stop":{}}` | `{"stopped":{"rooms","killed","left"}}`, when the rooms have ended |
//!
//! Anything else, and what cannot be done, is answered with `{"error":{"message":"…"}}`.

use crate::clock;
use crate::paths;
use crate::peer_trust;
use crate::rooms::{EndedRooms, OpenedRoom, RoomRequest, spawn_env};
use anyhow::Context;
use domain::ids::SessionId;
use domain::path_text;
use link::{Incoming, Limits, LinkError, LinkIo, unix};
use roles::Lane;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use web::Role;
use wire::lines::Frame;

/// How long to try to reach a server, and how long it may take to answer; a room may take a while to stand.
const REACHED_WITHIN: Duration = Duration::from_millis(500);
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
const ROOM_WITHIN: Duration = Duration::from_secs(70);
/// How long an offer to browsers lasts at most, and a little.
const PAIRED_WITHIN: Duration = Duration::from_secs(web::OFFER_GOOD_FOR.as_secs() + 10);

/// In the data folder: where the server that runs is reached.
pub(crate) const NOTICE: &str = "server.json";

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
    pub(crate) fn here(socket: &Path) -> Server {
        let version = crate::version::version().to_owned();
        Server { pid: std::process::id(), version, since: clock::now().0, socket: socket.to_owned() }
    }

    /// As `parlor up --json` prints it.
    pub(crate) fn to_json(&self) -> Value {
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

/// The folder in which we work, as it is told to the server.
fn here() -> Option<String> {
    paths::here().ok().map(|here| path_text::write(&here))
}

/// How a server stands.
#[derive(Debug, Clone)]
pub struct Status {
    pub pid: u32,
    pub version: String,
    /// Digests of what it knows of providers.
    pub providers: BTreeMap<String, String>,
    pub rooms: Vec<u64>,
    /// What is to be known of its page.
    pub warning: Option<String>,
    whole: Value,
}

impl Status {
    /// What a person is shown of it: digests of keys are for programs.
    pub fn to_json(&self) -> Value {
        let mut told = self.whole.clone();
        if let Some(members) = told.as_object_mut() {
            members.remove("providers");
        }
        told
    }
}

/// Who is asked about, as the person is told.
#[derive(Debug, Clone)]
pub struct Asking {
    pub name: String,
    pub role: String,
    pub code: String,
}

/// What came of a word about a browser.
pub fn said(allow: bool, done: bool) -> &'static str {
    match (allow, done) {
        (_, false) => "that came too late: the browser is gone, or its minute is over",
        (true, true) => "allowed",
        (false, true) => "denied; press Enter, or run `parlor web` again, to try once more",
    }
}

/// What there is to know of an offer to browsers.
pub enum Paired {
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
pub struct Control {
    pub(crate) server: Server,
    link: LinkIo,
}

impl Control {
    /// Reaches the server of this data folder, if one runs.
    ///
    /// # Errors
    /// When somebody is there and is not to be talked to.
    pub async fn here() -> anyhow::Result<Option<Control>> {
        Control::reach(&std::path::absolute(paths::data()?)?.join(NOTICE)).await
    }

    /// Reaches the server of a notice, if it runs.
    pub(crate) async fn reach(notice: &Path) -> anyhow::Result<Option<Control>> {
        let Some(server) = Server::read(notice) else { return Ok(None) };
        let reached =
            unix::connect(&server.socket, Lane::MAIN, Limits::default(), REACHED_WITHIN, peer_trust::trust)
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
    pub async fn status(&mut self) -> anyhow::Result<Status> {
        self.status_with("").await
    }

    /// The same with digests of its providers, with this salt.
    pub async fn status_with(&mut self, salt: &str) -> anyhow::Result<Status> {
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
    pub async fn open(&mut self, wanted: &RoomRequest) -> anyhow::Result<OpenedRoom> {
        let text = |word: &OsString| path_text::write(Path::new(word));
        let asked = json!({"open": {
            "session": wanted.session.as_ref().map(SessionId::as_str),
            "cwd": wanted.cwd.as_deref().map(path_text::write),
            "environment": wanted.environment.as_deref().map(spawn_env::to_json),
            "own_ui": wanted.own_ui,
            "agent": wanted.agent,
            "flags": wanted.flags.iter().map(text).collect::<Vec<_>>(),
        }});
        let told = self.ask(&asked, "opened", ROOM_WITHIN).await?;
        let pid = told.get("pid").and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok());
        let socket = told.get("socket").and_then(Value::as_str);
        Ok(OpenedRoom {
            socket: path_text::read(socket.context("the server named no socket")?),
            pid: pid.context("the server named no process")?,
            was_open: told.get("was_open") == Some(&Value::Bool(true)),
        })
    }

    /// Sessions of its page begin from now on in the folder in which we work.
    pub async fn begin_here(&mut self) -> anyhow::Result<()> {
        let asked = json!({"from": {"cwd": here()}});
        self.ask(&asked, "from", ANSWER_WITHIN).await.map(drop)
    }

    /// Has its page offered to one browser; the address, and what is to be known of the page.
    pub async fn web(&mut self, role: Role) -> anyhow::Result<(String, Option<String>)> {
        let cwd = here();
        let told = self.ask(&json!({"web": {"role": role.name(), "cwd": cwd}}), "web", ANSWER_WITHIN).await?;
        let text = |key: &str| told.get(key).and_then(Value::as_str).map(str::to_owned);
        Ok((text("address").context("the server named no address")?, text("warning")))
    }

    /// Has clients let in over WebSockets; the address, and what is to be known of it.
    pub async fn clients(&mut self) -> anyhow::Result<(String, Option<String>)> {
        let told = self.ask(&json!({"clients": {"cwd": here()}}), "clients", ANSWER_WITHIN).await?;
        let text = |key: &str| told.get(key).and_then(Value::as_str).map(str::to_owned);
        Ok((text("address").context("the server named no address")?, text("warning")))
    }

    /// Waits for what there is to know of the browser that takes up the offer.
    pub async fn pairing(&mut self) -> anyhow::Result<Paired> {
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
    pub async fn over(&self, id: u64) -> anyhow::Result<()> {
        let mut other = Control::here().await?.context("the server went away")?;
        other.ask(&json!({"over": {"id": id}}), "over", PAIRED_WITHIN).await.map(drop)
    }

    /// The person's word about a browser; whether it came in time.
    pub async fn pair(&mut self, id: u64, allow: bool) -> anyhow::Result<bool> {
        let told = self.ask(&json!({"pair": {"id": id, "allow": allow}}), "pair", ANSWER_WITHIN).await?;
        Ok(told.get("done") == Some(&Value::Bool(true)))
    }

    /// Tells it to stop, and waits until its rooms have ended.
    pub(crate) async fn stop(&mut self, within: Duration) -> anyhow::Result<EndedRooms> {
        let told = self.ask(&json!({"stop": {}}), "stopped", within).await?;
        let count = |key: &str| told.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let count = |key: &str| count(key).unwrap_or_default();
        Ok(EndedRooms { rooms: count("rooms"), killed: count("killed"), left: count("left") })
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
