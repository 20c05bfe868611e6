//! UIs on links, beside a store that takes its time.

use crate::late::locked::Holder;
use crate::late::stage::{Stage, open, session, setup};
use domain::command::{Command, Receipt, Refusal};
use domain::event::Event;
use domain::port::{Order, Ticket};
use hub::core::Standing;
use hub::{EngineSeat, Files, Guest, Hub};
use link::{AsyncSink, AsyncSource, Limits, Wiring};
use roles::{Answers, Greeting, Lane, Line, RuntimeCx, RuntimeRole, View};
use std::sync::Arc;
use store::{SqliteStore, Store};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::sync::mpsc;

/// Serves a UI on a link; gives its end of the wire.
fn serve(hub: &Hub, role: Box<dyn RuntimeRole>, start: Option<Command>) -> DuplexStream {
    let guest = Guest {
        role,
        name: "peer".into(),
        standing: Standing::Controller,
        greeting: Greeting::default(),
        start,
        stays: false,
    };
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (read, write) = tokio::io::split(ours);
    let link = Wiring::new(Limits::default()).lane(Lane::MAIN, AsyncSource::new(read), AsyncSink(write));
    let (hub, link) = (hub.clone(), link.start());
    tokio::spawn(async move { hub.serve(guest, link).await });
    theirs
}

/// A codelia UI on a link.
struct Peer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
}

impl Peer {
    async fn new(hub: &Hub) -> Peer {
        let theirs = serve(hub, dialects::codelia::DIALECT.runtime_role(), None);
        let (read, write) = tokio::io::split(theirs);
        let mut peer = Peer { lines: BufReader::new(read).lines(), write };
        peer.say(r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocol_version":"0","client_info":{"name":"t","version":"0"}}}"#).await;
        peer.hears("\"i\"").await;
        peer
    }

    async fn say(&mut self, line: &str) {
        self.write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn hears(&mut self, what: &str) -> String {
        loop {
            let line = self.lines.next_line().await.unwrap().unwrap();
            if line.contains(what) {
                return line;
            }
        }
    }
}

#[tokio::test]
async fn a_database_that_another_program_has_locked_stops_nobody_else() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::at(directory.path()).unwrap();
    let (orders, mut ordered) = mpsc::channel(64);
    let hub = Hub::start(setup(), Box::new(store), EngineSeat::Driven(orders), Arc::new(|_| {}));
    let (mut a, mut b) = (Peer::new(&hub).await, Peer::new(&hub).await);
    let mut other = Holder::of(directory.path());
    a.say(
        r#"{"jsonrpc":"2.0","id":"p","method":"run.start","params":{"input":{"type":"text","text":"go"}}}"#,
    )
    .await;
    // These are answered while the database is locked: it is let go only after they are.
    b.say(r#"{"jsonrpc":"2.0","id":"u","method":"no.such.method","params":{}}"#).await;
    assert!(b.hears("\"u\"").await.contains("error"));
    b.say(r#"{"jsonrpc":"2.0","id":"c","method":"run.cancel","params":{"run_id":"run-1"}}"#).await;
    b.hears("\"c\"").await;
    b.say(r#"{"jsonrpc":"2.0","id":"l","method":"session.list","params":{}}"#).await;
    assert!(b.hears("\"l\"").await.contains("result"));
    assert!(ordered.try_recv().is_err(), "the engine works on a prompt that is not kept");
    other.let_go();
    a.hears("\"p\"").await;
    while !matches!(ordered.recv().await.unwrap(), Order::Turn(_)) {}
    hub.stop().await;
    let kept = SqliteStore::at(directory.path()).unwrap();
    assert_eq!(kept.list(&store::Listing::default()).unwrap().len(), 1);
}

/// Tells the order in which it is called.
struct Witness(mpsc::Sender<String>);

impl RuntimeRole for Witness {
    fn open(&mut self, _: &mut RuntimeCx<'_>, _: &Greeting) {}
    fn line(&mut self, _: &mut RuntimeCx<'_>, _: Lane, line: Line) {
        self.0.try_send(format!("{line:?}")).unwrap();
    }
    fn attached(&mut self, _: &mut RuntimeCx<'_>, view: View<'_>) {
        self.0.try_send(format!("attached {}", view.session)).unwrap();
    }
    fn event(&mut self, _: &mut RuntimeCx<'_>, _: View<'_>, _: &Event) {}
    fn settled(
        &mut self,
        _: &mut RuntimeCx<'_>,
        _: Option<View<'_>>,
        _: Ticket,
        _: Result<Receipt, Refusal>,
    ) {
    }
    fn can_answer(&self) -> Answers {
        Answers::NONE
    }
}

#[tokio::test(start_paused = true)]
async fn a_ui_is_told_where_it_begins_before_it_is_heard_however_long_that_takes() {
    let mut stage = Stage::new(Files::default()).await;
    let mut b = stage.ui(None).await;
    b.command(crate::late::stage::new(2)).await.unwrap();
    stage.hold();
    let (calls, mut called) = mpsc::channel(16);
    let mut theirs = serve(&stage.hub, Box::new(Witness(calls)), Some(open(9)));
    theirs.write_all(b"hello\n").await.unwrap();
    stage.called_with("open").await;
    for _ in 0..20 {
        tokio::task::yield_now().await;
        assert!(b.command(crate::late::stage::stats()).await.is_ok());
    }
    assert!(called.try_recv().is_err(), "heard before it was told where it is");
    stage.let_go();
    assert_eq!(called.recv().await.unwrap(), format!("attached {}", session(9)));
    assert!(called.recv().await.unwrap().contains("hello"));
}
