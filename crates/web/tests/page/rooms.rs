//! Sessions that are made up: a room says back what it hears.

use super::client::Browser;
use domain::fleet::{Row, Status};
use domain::ids::{Millis, SessionId};
use link::entry::Origin;
use link::{Incoming, Lane, Limits, LinkIo, memory};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use web::{
    Act, ConnectionOwner, Devices, Identity, NoRoom, NotServed, Options, PageQuery, PageTarget, Parts, Role,
    Rooms, Rows, Server, Shelf,
};
use wire::lines::Frame;

pub(crate) const SESSION: &str = "sess-0123456789ab";
/// How long a slow look at the list takes: longer than the pause between two, so that one is always under way.
const SLOW: std::time::Duration = std::time::Duration::from_millis(700);
/// Bytes of a line of a flood.
const FLOOD: usize = 100_000;

#[derive(Default)]
pub(crate) struct Paper(Mutex<Devices>, AtomicU64, AtomicBool, AtomicUsize);

impl Paper {
    pub(crate) fn devices(&self) -> Devices {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn alter(&self, change: impl FnOnce(&mut Devices)) {
        change(&mut self.0.lock().unwrap());
        self.1.fetch_add(1, Ordering::AcqRel);
    }
}

impl Paper {
    /// From now on whoever reads it has what stood there a while ago.
    pub(crate) fn reads_slowly(&self) {
        self.2.store(true, Ordering::Release);
    }

    /// How many looks have ended.
    pub(crate) fn looks(&self) -> usize {
        self.3.load(Ordering::Acquire)
    }
}

impl Shelf for Paper {
    fn stamp(&self) -> u64 {
        // Always another one, so that it is read over and over.
        let slowly = self.2.load(Ordering::Acquire);
        self.1.fetch_add(u64::from(slowly), Ordering::AcqRel)
    }

    fn read(&self) -> Devices {
        let devices = self.devices();
        if self.2.load(Ordering::Acquire) {
            std::thread::sleep(SLOW);
        }
        self.3.fetch_add(1, Ordering::AcqRel);
        devices
    }

    fn change(&self, change: &mut dyn FnMut(&mut Devices)) -> Result<Devices, String> {
        self.alter(|devices| change(devices));
        Ok(self.devices())
    }
}

#[derive(Default)]
pub(crate) struct Echo {
    rows: watch::Sender<Option<Rows>>,
    rooms: Mutex<JoinSet<()>>,
    /// Lines of a flood that have left their room.
    left: Arc<AtomicUsize>,
    /// What its rooms answer a hello with.
    hello: Mutex<Value>,
    /// What was wanted last.
    wanted: Mutex<Option<PageTarget>>,
}

impl Echo {
    pub(crate) fn rows(&self, rows: Vec<Row>) {
        self.rows.send_replace(Some(Arc::new(rows)));
    }
}

impl Rooms for Echo {
    fn fleet(&self) -> watch::Receiver<Option<Rows>> {
        self.rows.subscribe()
    }

    async fn reach(&self, wanted: PageTarget) -> Result<LinkIo, NoRoom> {
        *self.wanted.lock().unwrap() = Some(wanted.clone());
        match wanted {
            PageTarget::Session(id) | PageTarget::Watched(id) if id.as_str() == SESSION => {}
            _ => return Err(NoRoom::NoSuchSession),
        }
        let (ours, room) = memory::pair(&[Lane::MAIN], Limits::default());
        self.rooms.lock().unwrap().spawn(echo(room, self.left.clone(), self.hello.lock().unwrap().clone()));
        Ok(ours)
    }

    async fn look_up(&self, query: PageQuery) -> Result<Value, String> {
        match query {
            PageQuery::Search(words) if words == "nothing" => Err("no match".to_owned()),
            query => Ok(json!(format!("{query:?}"))),
        }
    }

    async fn act(&self, act: Act) -> String {
        format!("{act:?}")
    }
}

async fn echo(mut room: LinkIo, left: Arc<AtomicUsize>, hello: Value) {
    while let Some(Incoming::Frame { frame: Frame::Line(line), .. }) = room.incoming.recv().await {
        let said: Value = serde_json::from_str(&line).unwrap();
        if said.get("leave").is_some() {
            return;
        }
        for number in 0..said["flood"].as_u64().unwrap_or_default() {
            let line = json!({"flood": number, "long": "x".repeat(FLOOD)}).to_string();
            room.outgoing.room_for(line.len()).await;
            room.outgoing.try_send(Lane::MAIN, line).unwrap();
            left.fetch_add(1, Ordering::AcqRel);
        }
        room.outgoing.try_send(Lane::MAIN, json!({"echo": said}).to_string()).unwrap();
        if said.get("hello").is_some() && hello.is_object() {
            room.outgoing.try_send(Lane::MAIN, json!({"hello": hello}).to_string()).unwrap();
        }
    }
}

pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) server: Arc<Server<Echo>>,
    pub(crate) shelf: Arc<Paper>,
    /// Who everybody is seen as.
    pub(crate) origin: Arc<Mutex<Origin>>,
    rooms: Arc<Echo>,
}

impl World {
    /// What a window of the same program has.
    pub(crate) fn parts(&self) -> (Arc<Echo>, Arc<Server<Echo>>) {
        (self.rooms.clone(), self.server.clone())
    }

    /// What a page wanted last.
    pub(crate) fn wanted(&self) -> Option<PageTarget> {
        self.rooms.wanted.lock().unwrap().clone()
    }

    /// From now on rooms answer a hello with this.
    pub(crate) fn rooms_greet(&self, hello: Value) {
        *self.rooms.hello.lock().unwrap() = hello;
    }
}

pub(crate) fn serve(listener: TcpListener, options: Options) -> Result<World, NotServed> {
    serve_again(listener, options, Arc::default(), &Identity::make().unwrap())
}

/// A server with the devices and the identity that another one had.
pub(crate) fn serve_again(
    listener: TcpListener,
    options: Options,
    shelf: Arc<Paper>,
    identity: &[u8],
) -> Result<World, NotServed> {
    let rooms = Arc::<Echo>::default();
    let origin = Arc::new(Mutex::new(Origin::Person));
    let seen = origin.clone();
    let parts = Parts {
        listeners: vec![listener],
        rooms: rooms.clone(),
        shelf: shelf.clone(),
        look: Arc::new(move |_| ConnectionOwner { origin: *seen.lock().unwrap(), process: Some(1) }),
        identity: Identity::read(identity).unwrap(),
    };
    let server = Arc::new(Server::start(options, parts)?);
    Ok(World { address: server.address(), server, shelf, origin, rooms })
}

impl World {
    pub(crate) async fn start() -> World {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        serve(listener, Options { version: "7".to_owned(), ..Options::default() }).unwrap()
    }

    /// A browser that was enrolled.
    pub(crate) async fn browser(&self, role: Role) -> Browser {
        let page = self.server.offer(role).unwrap().address;
        let mut browser = Browser::at(self.address, &page);
        let (page, told) = browser.candidate().await;
        let asked = self.server.pairing().borrow().clone().unwrap_or_else(|| panic!("{told}"));
        assert_eq!(told["code"]["code"], json!(asked.code));
        assert!(self.server.answer_pairing(asked.id, true));
        let told = browser.enrolled(page).await;
        assert_eq!(told["enrolled"]["device"]["role"], json!(role.name()), "{told}");
        browser
    }

    pub(crate) fn everybody_is(&self, origin: Origin) {
        *self.origin.lock().unwrap() = origin;
    }

    /// How many lines of a flood have left their room.
    pub(crate) fn left(&self) -> usize {
        self.rooms.left.load(Ordering::Acquire)
    }

    pub(crate) fn rows(&self, rows: Vec<Row>) {
        self.rooms.rows(rows);
    }
}

pub(crate) fn row(number: u64, title: &str) -> Row {
    Row {
        status: Status::Running,
        session: Some(SessionId::from_number(number)),
        pid: Some(1),
        title: title.to_owned(),
        cwd: "/w".to_owned(),
        since: Millis(1),
        cost_micros: None,
        rough: false,
        branch: None,
        runtime: None,
        tasks: Vec::new(),
    }
}
