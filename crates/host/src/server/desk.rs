//! What the server answers to whoever asks it over its control socket; [`crate::control`] says what can be asked.

use super::clients::Clients;
use crate::control::Server;
use crate::devices;
use crate::error::in_words;
use crate::page::{self, Served, StartFolder, Ways};
use crate::peer_trust::{Refusals, origin_of};
use crate::rooms::{self, EndedRooms, OpenedRoom, RoomRequest, Rooms, spawn_env};
use anyhow::Context;
use domain::ids::SessionId;
use domain::path_text;
use hub::Log;
use link::unix::{Listener, Peer};
use link::{Incoming, Limits, LinkIo, Outgoing};
use roles::Lane;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OnceCell, broadcast, mpsc, watch};
use tokio::task::JoinSet;
use web::{Device, Offered, Pairing, Role, Shelf as _, Standing, Window};
use wire::lines::Frame;

/// Most connections at once. Each open screen has one, two while a browser asks; that leaves room for commands.
const MAX_VISITORS: usize = 320;
/// How long whoever asked may take to read the last answer.
const TELL_WITHIN: Duration = Duration::from_secs(2);

/// What the server answers from.
pub(super) struct Desk {
    server: Server,
    data: PathBuf,
    rooms: Rooms,
    page: Page,
    begins: StartFolder,
    ways: SharedWays,
    clients: ClientDoor,
    log: Log,
    visitors: Mutex<JoinSet<()>>,
    /// Whether the server is about to end, for windows.
    ends: watch::Sender<bool>,
}

/// The page, from the first time that it is asked for.
type Page = Arc<OnceCell<Served>>;
/// The door of clients, from the first time that it is asked for.
type ClientDoor = Arc<OnceCell<Clients>>;
/// The ways to sessions, from the first time that a page or a window needs them.
type SharedWays = Arc<OnceCell<Arc<Ways>>>;

impl Desk {
    pub(super) fn new(server: Server, data: PathBuf, rooms: Rooms, log: Log) -> Desk {
        Desk {
            server,
            data,
            rooms,
            page: Page::default(),
            begins: StartFolder::default(),
            ways: SharedWays::default(),
            clients: ClientDoor::default(),
            log,
            visitors: Mutex::default(),
            ends: watch::Sender::new(false),
        }
    }

    /// Serves the page from the start where browsers are enrolled: they come back by themselves, and nobody may be there to ask for it.
    pub(super) async fn serve_known(&self, data: &Path) {
        let known = devices::File::new(data, self.log.clone()).read().active().count() > 0;
        if known && let Err(why) = self.asked_of().page().await {
            (self.log)(&format!("the page is not served: {}", in_words(&why)));
        }
    }

    /// Lets clients in from the start. Where it cannot be listened anywhere, whoever asks for the address is told so.
    pub(super) async fn serve_clients(&self) {
        if let Err(why) = self.asked_of().clients().await {
            (self.log)(&format!("clients cannot come in: {}", in_words(&why)));
        }
    }

    /// Lets everybody go who still asks.
    pub(super) async fn close(&self) {
        let mut visitors = self.visitors.lock().await;
        self.ends.send_replace(true);
        // Windows are told; who only waits for an answer is not waited for.
        let told = async { while self.ends.receiver_count() > 0 && visitors.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(TELL_WITHIN, told).await;
        visitors.shutdown().await;
        drop(visitors);
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
            begins: self.begins.clone(),
            ways: self.ways.clone(),
            clients: self.clients.clone(),
            log: self.log.clone(),
        }
    }
}

/// Somebody who asked to stop and waits for the answer.
pub(super) struct AskedToStop(LinkIo);

impl AskedToStop {
    /// Tells whoever asked what came of it, which is the last thing the server says.
    pub(super) async fn answer(self, ended: EndedRooms) {
        let EndedRooms { rooms, killed, left } = ended;
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
            let (peer, link) = accepted.into_known_link(Lane::MAIN, Limits::default());
            let ends = desk.ends.clone();
            visitors.spawn(hear(link, desk.asked_of(), stop.clone(), (peer, ends)));
        }
    }
}

/// An offer to browsers that was made on a connection: it is over when that is.
struct PairingOffer {
    page: Page,
    number: u64,
    joined: broadcast::Receiver<Device>,
}

impl Drop for PairingOffer {
    fn drop(&mut self) {
        if let Some(page) = self.page.get() {
            page.server.withdraw(self.number);
        }
    }
}

/// Hears one visitor.
async fn hear(
    mut link: LinkIo,
    answers: Answers,
    stop: mpsc::Sender<LinkIo>,
    (peer, ends): (Peer, watch::Sender<bool>),
) {
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
        // From here on it is a page's, for as long as it lasts.
        if let Some(window) = request.get("window") {
            let wants = window.get("wants").cloned().unwrap_or_default();
            return answers.window(link, peer, &wants, ends.subscribe()).await;
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
    begins: StartFolder,
    ways: SharedWays,
    clients: ClientDoor,
    log: Log,
}

impl Answers {
    /// Gives the page in a window what it wants, until either side is gone.
    async fn window(&self, link: LinkIo, peer: Peer, wants: &Value, ends: watch::Receiver<bool>) {
        let rooms = match self.ways().await {
            Ok(ways) => ways,
            Err(why) => {
                let told = json!({"code": "cannot_open", "message": in_words(&why), "hint": ""});
                say(&link.outgoing, &json!({"refused": told}));
                link.shutdown(TELL_WITHIN).await;
                return;
            }
        };
        let window = Window {
            rooms,
            version: crate::version::version().to_owned(),
            look: Arc::new(move || origin_of(&peer)),
            log: self.log.clone(),
            ends,
        };
        window.serve(wants, link, self.page.get().map(|page| &page.server)).await;
    }

    async fn ways(&self) -> anyhow::Result<Arc<Ways>> {
        let ways = self
            .ways
            .get_or_try_init(async || Ways::to(self.rooms.clone(), self.begins.clone()).map(Arc::new))
            .await?;
        Ok(ways.clone())
    }

    async fn answer(&self, request: &Value, made: &mut Option<PairingOffer>) -> Value {
        let Some((what, with)) =
            request.as_object().filter(|asked| asked.len() == 1).and_then(|asked| asked.iter().next())
        else {
            return error("a request is an object with one key");
        };
        match what.as_str() {
            "status" => self.status(with.get("salt").and_then(Value::as_str).unwrap_or_default()),
            "open" => match read(with) {
                Ok(wanted) => match self.rooms.open(wanted).await {
                    Ok(OpenedRoom { socket, pid, was_open }) => {
                        json!({"opened": {"socket": path_text::write(&socket), "pid": pid, "was_open": was_open}})
                    }
                    Err(why) => error(&why.to_string()),
                },
                Err(why) => error(why),
            },
            "from" => {
                self.begin_in(with);
                json!({"from": {}})
            }
            "web" => match self.offer(with.get("role").and_then(Value::as_str)).await {
                Ok(offered) => {
                    self.begin_in(with);
                    let mut told = json!({"address": offered.address});
                    *made = self.page.get().map(|page| PairingOffer {
                        page: self.page.clone(),
                        number: offered.number,
                        joined: page.server.joined(),
                    });
                    self.warn(&mut told);
                    json!({"web": told})
                }
                Err(why) => error(&in_words(&why)),
            },
            "clients" => match self.clients().await {
                Ok(clients) => {
                    self.begin_in(with);
                    json!({"clients": {"address": clients.url(), "warning": clients.warning()}})
                }
                Err(why) => error(&in_words(&why)),
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

    /// Sessions of the page begin where whoever asks works.
    fn begin_in(&self, with: &Value) {
        if let Some(cwd) = with.get("cwd").and_then(Value::as_str) {
            self.begins.is(path_text::read(cwd));
        }
    }

    /// Offers the page to one browser; the first offer starts the page.
    async fn offer(&self, role: Option<&str>) -> anyhow::Result<Offered> {
        let role = role.and_then(Role::named).context("`role` is controller, approver or observer")?;
        page::offer(&self.page().await?.server, role)
    }

    /// Waits until there is something to tell of the offer that was made here; where none was, of any.
    async fn pairing(&self, made: Option<&mut PairingOffer>) -> Value {
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
                        "id": asked.id, "name": asked.name, "role": asked.role.name(), "code": asked.code,
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

    async fn clients(&self) -> anyhow::Result<&Clients> {
        let open = || Clients::open(&self.data, self.rooms.clone(), self.begins.clone(), self.log.clone());
        self.clients.get_or_try_init(open).await
    }

    async fn page(&self) -> anyhow::Result<&Served> {
        let usual = page::Serving::usual();
        let start = async || {
            let served = page::start(&usual, self.ways().await?, self.log.clone()).await?;
            // For the log; whoever asks is told too.
            served.warning.iter().for_each(|warning| (self.log)(&format!("warning: {warning}")));
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
        told["providers"] = json!(spawn_env::providers(salt));
        if let Some(clients) = self.clients.get() {
            told["clients"] = json!(clients.url());
        }
        self.warn(&mut told);
        json!({"status": told})
    }
}

/// Reads what is wanted.
fn read(with: &Value) -> Result<RoomRequest, &'static str> {
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
        Some(told) => Some(spawn_env::from_json(told).ok_or("`environment` is a list of pairs")?),
        None => None,
    };
    let flags = member("flags").and_then(Value::as_array).into_iter().flatten();
    let flags: Option<Vec<OsString>> =
        flags.map(|flag| Some(path_text::read(flag.as_str()?).into_os_string())).collect();
    let agent = match member("agent") {
        Some(name) => Some(name.as_str().ok_or("`agent` is a name")?.to_owned()),
        None => None,
    };
    let own_ui = member("own_ui") == Some(&Value::Bool(true));
    let flags = flags.ok_or("`flags` are words")?;
    Ok(RoomRequest { session, cwd, environment, own_ui, agent, wire: None, starts_none: false, flags })
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
            json!({"agent": 1}),
            json!({"environment": {}}),
            json!({"flags": [1]}),
        ] {
            assert!(read(&wrong).is_err(), "{wrong}");
        }
    }
}
