//! Sessions that are made up: a room says back what it hears.

use super::client::Browser;
use domain::fleet::{Row, Status};
use domain::ids::{Millis, SessionId};
use link::{Incoming, Lane, Limits, LinkIo, memory};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use web::{Act, Devices, NoRoom, NotServed, Options, Role, Rooms, Rows, Server, Shelf, Wanted};
use wire::lines::Frame;

pub(crate) const SESSION: &str = "sess-0123456789ab";
/// Bytes of a line of a flood.
const FLOOD: usize = 100_000;

#[derive(Default)]
pub(crate) struct Paper(Mutex<Devices>, AtomicU64);

impl Paper {
    pub(crate) fn devices(&self) -> Devices {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn alter(&self, change: impl FnOnce(&mut Devices)) {
        change(&mut self.0.lock().unwrap());
        self.1.fetch_add(1, Ordering::AcqRel);
    }
}

impl Shelf for Paper {
    fn stamp(&self) -> u64 {
        self.1.load(Ordering::Acquire)
    }

    fn read(&self) -> Devices {
        self.devices()
    }

    fn change(&self, change: &mut dyn FnMut(&mut Devices)) -> Result<Devices, String> {
        self.alter(|devices| change(devices));
        Ok(self.devices())
    }
}

pub(crate) struct Echo {
    rows: watch::Sender<Option<Rows>>,
    rooms: Mutex<JoinSet<()>>,
    /// Lines of a flood that have left their room.
    left: Arc<AtomicUsize>,
}

impl Rooms for Echo {
    fn fleet(&self) -> watch::Receiver<Option<Rows>> {
        self.rows.subscribe()
    }

    async fn reach(&self, wanted: Wanted) -> Result<LinkIo, NoRoom> {
        match wanted {
            Wanted::Session(id) if id.as_str() == SESSION => {}
            _ => return Err(NoRoom::NoSuchSession),
        }
        let (ours, room) = memory::pair(&[Lane::MAIN], Limits::default());
        self.rooms.lock().unwrap().spawn(echo(room, self.left.clone()));
        Ok(ours)
    }

    async fn act(&self, act: Act) -> String {
        format!("{act:?}")
    }
}

async fn echo(mut room: LinkIo, left: Arc<AtomicUsize>) {
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
    }
}

pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) server: Server<Echo>,
    pub(crate) shelf: Arc<Paper>,
    rooms: Arc<Echo>,
}

pub(crate) fn serve(listener: TcpListener, options: Options) -> Result<World, NotServed> {
    let rooms =
        Arc::new(Echo { rows: watch::channel(None).0, rooms: Mutex::default(), left: Arc::default() });
    let shelf: Arc<Paper> = Arc::default();
    let server = Server::start(listener, options, rooms.clone(), shelf.clone())?;
    Ok(World { address: server.address(), server, shelf, rooms })
}

impl World {
    pub(crate) async fn start() -> World {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        serve(listener, Options { version: "7".to_owned(), ..Options::default() }).unwrap()
    }

    /// A browser that was enrolled.
    pub(crate) async fn browser(&self, role: Role) -> Browser {
        let mut browser = Browser::new(self.address);
        let invitation = self.server.invite(role).unwrap();
        assert_eq!(browser.enrol(invitation.split_once("#token=").unwrap().1).await.status, 200);
        browser
    }

    /// How many lines of a flood have left their room.
    pub(crate) fn left(&self) -> usize {
        self.rooms.left.load(Ordering::Acquire)
    }

    pub(crate) fn rows(&self, rows: Vec<Row>) {
        self.rooms.rows.send_replace(Some(Arc::new(rows)));
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
    }
}
