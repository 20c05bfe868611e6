//! The way into a running hub: for links, for UIs of this process, for an engine's reports, and for who ends it.
//!
//! Everything goes through one bounded inbox; lines and reports take room that is given back when the hub has dealt with them, so that
//! whoever says more than the hub can take has to wait.

use super::archive::Archive;
use super::files::{Cabinet, Files};
use super::keeper::{Keeper, Keeping};
use super::{
    EngineSeat, ForeignKeeping, INBOX, Inbox, LAST_WORDS, LocalGuest, Log, RemoteSeat, Reported, Room, START,
    Shell, Visiting, Visits,
};
use crate::core::{Core, LiveSession, Setup, Standing};
use domain::command::{Command, Refusal, Target};
use domain::ids::{AskId, SessionId, UiId};
use domain::port::{News, Order, Ticket};
use link::{Incoming, LinkIo};
use roles::{Answers, Greeting, Lane, RuntimeRole};
use std::sync::Arc;
use store::{Opened, Store};
use tokio::sync::{Semaphore, mpsc, oneshot};

/// Bytes of lines from all peers that may wait for the hub, in [`ROOM_UNIT`]s; past it whoever sends has to wait.
const LINE_ROOM: usize = 16 * 1024;
/// The unit in which room for lines is given; a line takes at least one.
const ROOM_UNIT: usize = 1024;
/// Reports of the engine that the hub has taken and that wait for the store; past it the engine has to wait. A UI of ours has room for
/// what comes of them all at once.
const REPORT_ROOM: usize = LOCAL_NEWS / 4;
/// News that may wait for a UI of ours in this process.
pub const LOCAL_NEWS: usize = 1024;

/// A UI on a link, to be served in a dialect.
pub struct Guest {
    /// The dialect's role.
    pub role: Box<dyn RuntimeRole>,
    /// For the record: the dialect's name.
    pub name: String,
    /// What it may do.
    pub standing: Standing,
    pub greeting: Greeting,
    /// What is done for it first, such as opening a session.
    pub start: Option<Command>,
    /// Whether it outlives its connections: wires on which every command may come over a connection of its own.
    pub stays: bool,
}

/// The way into a running hub. Clones lead to the same one.
#[derive(Clone)]
pub struct Hub {
    pub(super) inbox: mpsc::Sender<Inbox>,
    lines: Arc<Semaphore>,
    reports: Arc<Semaphore>,
}

/// The hub is no longer there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the hub has stopped")]
pub struct Stopped;

/// A UI of ours in this process.
pub struct LocalUi {
    pub news: mpsc::Receiver<News>,
    /// The way to command.
    pub port: LocalPort,
}

impl LocalUi {
    /// The first news of a UI that begins with a command: where it is.
    ///
    /// # Errors
    /// When that command was refused. What the UI says next must not go elsewhere.
    pub async fn begun(&mut self) -> Result<Option<News>, Refusal> {
        match self.news.recv().await {
            Some(News::Settled { ticket: START, with: Err(refusal) }) => Err(refusal),
            first => Ok(first),
        }
    }
}

/// The way to command for a UI in this process. Dropping the last one lets the UI leave.
#[derive(Clone)]
pub struct LocalPort {
    ui: UiId,
    inbox: mpsc::Sender<Inbox>,
    _left: Arc<LeftOnDrop>,
}

struct LeftOnDrop {
    ui: UiId,
    inbox: mpsc::Sender<Inbox>,
}

impl Drop for LeftOnDrop {
    fn drop(&mut self) {
        // A full inbox is no reason to stay: the hub also notices that nobody listens any more.
        let _ = self.inbox.try_send(Inbox::LocalLeft(self.ui));
    }
}

impl LocalPort {
    /// Gives a command; the answer comes as [`News::Settled`] with this ticket.
    ///
    /// # Errors
    /// When the hub has stopped.
    pub async fn command(&self, ticket: Ticket, target: Target, command: Command) -> Result<(), Stopped> {
        let message = Inbox::LocalCommand(self.ui, ticket, target, command);
        self.inbox.send(message).await.map_err(|_| Stopped)
    }

    /// Says that nobody here can answer this question, now that it was seen: it stays open for others who can.
    ///
    /// # Errors
    /// When the hub has stopped.
    pub async fn cannot_answer(&self, session: SessionId, ask: AskId) -> Result<(), Stopped> {
        self.inbox.send(Inbox::LocalCannotAnswer(self.ui, session, ask)).await.map_err(|_| Stopped)
    }
}

impl Hub {
    /// Starts a hub as a task of the current runtime. [`Hub::stop`] ends it; it does not end by itself.
    pub fn start(setup: Setup, store: Box<dyn Store>, engine: EngineSeat, log: Log) -> Hub {
        Hub::start_with(setup, store, engine, Files::default(), log)
    }

    /// The same, with further places for sessions as files.
    pub fn start_with(
        setup: Setup,
        store: Box<dyn Store>,
        engine: EngineSeat,
        files: Files,
        log: Log,
    ) -> Hub {
        let keeping = if setup.engine.is_kept() { Keeping::First } else { Keeping::Nothing };
        Hub::launch(Core::new(setup.clone()), setup, (store, keeping), engine, files, None, log)
    }

    /// The same for our own agent, in a program that is led to sessions which other processes have open.
    pub fn start_visiting(
        setup: Setup,
        store: Box<dyn Store>,
        orders: mpsc::Sender<Order>,
        files: Files,
        visits: Visits,
        log: Log,
    ) -> Hub {
        let (setup, engine) = (Setup { visits: true, ..setup }, EngineSeat::Driven(orders));
        let keeping = (store, Keeping::First);
        let (mut shell, messages) = Hub::shell(Core::new(setup.clone()), setup, keeping, engine, files, log);
        shell.visiting = Visiting::by(visits);
        Hub::run(shell, messages, None)
    }

    /// A hub in front of a foreign runtime whose sessions are kept.
    pub fn start_keeping(
        setup: Setup,
        store: Box<dyn Store>,
        seat: RemoteSeat,
        keeping: ForeignKeeping,
        log: Log,
    ) -> Hub {
        let ForeignKeeping { origin, kept } = keeping;
        let mut core = Core::new(setup.clone());
        core.keep(origin);
        let engine = EngineSeat::Remote(Box::new(seat));
        Hub::launch(core, setup, (store, Keeping::Beside), engine, Files::default(), kept, log)
    }

    fn launch(
        core: Core,
        setup: Setup,
        (store, keeping): (Box<dyn Store>, Keeping),
        engine: EngineSeat,
        files: Files,
        kept: Option<(SessionId, Opened)>,
        log: Log,
    ) -> Hub {
        let (shell, messages) = Hub::shell(core, setup, (store, keeping), engine, files, log);
        Hub::run(shell, messages, kept)
    }

    fn run(shell: Shell, messages: mpsc::Receiver<Inbox>, kept: Option<(SessionId, Opened)>) -> Hub {
        let hub = shell.hub.clone();
        tokio::spawn(shell.run(messages, kept));
        hub
    }

    /// The shell of a hub, before it runs, and what it will hear.
    pub(super) fn shell(
        core: Core,
        setup: Setup,
        (store, keeping): (Box<dyn Store>, Keeping),
        engine: EngineSeat,
        files: Files,
        log: Log,
    ) -> (Shell, mpsc::Receiver<Inbox>) {
        let (inbox, messages) = mpsc::channel(INBOX);
        let (lines, reports) = (Semaphore::new(LINE_ROOM), Semaphore::new(REPORT_ROOM));
        let hub = Hub { inbox, lines: Arc::new(lines), reports: Arc::new(reports) };
        let place = export::Destination { cwd: setup.cwd, project: setup.project };
        let forgets = store.forgets().map(str::to_owned);
        let keeper = Keeper::new(keeping, forgets, log.clone());
        let archive = Archive::new(store, Cabinet::new(files, place));
        (Shell::new(core, (keeper, archive), engine, log, hub), messages)
    }

    /// Serves a UI on a link until the link ends.
    ///
    /// # Errors
    /// When the hub has stopped.
    pub async fn serve(&self, guest: Guest, link: LinkIo) -> Result<(), Stopped> {
        let ui = self.seat(guest).await?;
        self.connect(ui, Lane::MAIN, link).await
    }

    /// Makes room for a UI whose connections come one by one ([`Hub::connect`]).
    ///
    /// # Errors
    /// When the hub has stopped.
    pub async fn seat(&self, guest: Guest) -> Result<UiId, Stopped> {
        let (number, seated) = oneshot::channel();
        self.inbox.send(Inbox::Guest(guest, number)).await.map_err(|_| Stopped)?;
        seated.await.map_err(|_| Stopped)
    }

    /// Moves what comes over one connection of a UI until it ends.
    ///
    /// # Errors
    /// When the hub has stopped.
    pub async fn connect(&self, ui: UiId, lane: Lane, link: LinkIo) -> Result<(), Stopped> {
        self.connect_after(ui, lane, link, Vec::new()).await
    }

    /// The same, when something was heard on the link before it was known whose it is.
    ///
    /// # Errors
    /// When the hub has stopped.
    pub async fn connect_after(
        &self,
        ui: UiId,
        lane: Lane,
        mut link: LinkIo,
        heard: Vec<Incoming>,
    ) -> Result<(), Stopped> {
        self.inbox.send(Inbox::Connected(ui, lane, link.outgoing.clone())).await.map_err(|_| Stopped)?;
        for incoming in heard {
            self.hand_over(incoming, |incoming, held| Inbox::Incoming(ui, incoming, held)).await?;
        }
        let ours = link.outgoing.clone();
        loop {
            // A peer that said goodbye may keep its end open for as long as it likes: it waits for us to go.
            let incoming = tokio::select! {
                biased;
                () = ours.closing() => None,
                incoming = link.incoming.recv() => incoming,
            };
            let Some(incoming) = incoming else { break };
            if let Incoming::Closed { reason: link::Ending::Eof, .. } = &incoming {
                self.farewell(ui, lane, &ours).await;
            }
            self.hand_over(incoming, |incoming, held| Inbox::Incoming(ui, incoming, held)).await?;
        }
        link.shutdown(LAST_WORDS).await;
        Ok(())
    }

    /// Gives what a peer said to the hub, once there is room for it.
    pub(super) async fn hand_over(
        &self,
        incoming: Incoming,
        message: impl FnOnce(Incoming, Room) -> Inbox,
    ) -> Result<(), Stopped> {
        let units = match &incoming {
            Incoming::Frame { frame, .. } => (frame.len() / ROOM_UNIT).clamp(1, LINE_ROOM),
            Incoming::Closed { .. } => 1,
        };
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        let held = self.lines.clone().acquire_many_owned(units).await.ok();
        self.inbox.send(message(incoming, held)).await.map_err(|_| Stopped)
    }

    /// Attaches a UI of this process.
    ///
    /// # Errors
    /// When the hub has stopped.
    pub async fn attach(
        &self,
        name: &str,
        standing: Standing,
        answers: Answers,
        start: Option<Command>,
    ) -> Result<LocalUi, Stopped> {
        let (sender, news) = mpsc::channel(LOCAL_NEWS);
        let (number, seated) = oneshot::channel();
        let guest = LocalGuest { name: name.to_owned(), standing, answers, start, news: sender, number };
        self.inbox.send(Inbox::Local(guest)).await.map_err(|_| Stopped)?;
        let ui = seated.await.map_err(|_| Stopped)?;
        let left = Arc::new(LeftOnDrop { ui, inbox: self.inbox.clone() });
        Ok(LocalUi { news, port: LocalPort { ui, inbox: self.inbox.clone(), _left: left } })
    }

    /// Takes the reports of an engine in, until it ends.
    pub async fn reports(&self, mut reports: mpsc::Receiver<Reported>) {
        while let Some(reported) = reports.recv().await {
            let room = self.reports.clone().acquire_owned().await.ok();
            if self.inbox.send(Inbox::Reported(reported, room)).await.is_err() {
                return;
            }
        }
    }

    /// Waits until no run is under way.
    pub async fn idle(&self) {
        let (done, idle) = oneshot::channel();
        if self.inbox.send(Inbox::Idle(done)).await.is_ok() {
            let _ = idle.await;
        }
    }

    /// The sessions that are open, each with who sees it.
    ///
    /// # Errors
    /// When the hub has stopped.
    pub async fn present(&self) -> Result<Vec<LiveSession>, Stopped> {
        let (asking, present) = oneshot::channel();
        self.inbox.send(Inbox::Present(asking)).await.map_err(|_| Stopped)?;
        present.await.map_err(|_| Stopped)
    }

    /// Whether a UI is led from here to a session of another process.
    pub async fn is_visiting(&self) -> bool {
        let (asking, visiting) = oneshot::channel();
        self.inbox.send(Inbox::Visiting(asking)).await.is_ok() && visiting.await.unwrap_or(false)
    }

    /// What a foreign runtime calls the session where it is, or was when it went; `None` where it has told no name.
    pub async fn their_session(&self) -> Option<Arc<str>> {
        let (asking, session) = oneshot::channel();
        self.inbox.send(Inbox::TheirSession(asking)).await.ok()?;
        session.await.ok()?
    }

    /// Waits until the runtime is lost before it has told what it can do; gives why. With one that has told, or one of ours, it waits
    /// for ever.
    pub async fn lost_early(&self) -> String {
        let (asking, lost) = oneshot::channel();
        let _ = self.inbox.send(Inbox::LostEarly(asking)).await;
        match lost.await {
            Ok(why) => why,
            Err(_) => std::future::pending().await,
        }
    }

    /// Waits until the runtime is lost, whenever that is; gives why. With one of ours it waits for ever.
    pub async fn lost(&self) -> String {
        let (asking, lost) = oneshot::channel();
        let _ = self.inbox.send(Inbox::Lost(asking)).await;
        match lost.await {
            Ok(why) => why,
            Err(_) => std::future::pending().await,
        }
    }

    /// Ends every run in the record, tells the UIs, and closes their links once that is written. For a program that is told to stop.
    pub async fn end(&self) {
        let (done, ended) = oneshot::channel();
        if self.inbox.send(Inbox::End(done)).await.is_ok() {
            let _ = ended.await;
        }
    }

    /// Keeps what is not kept yet and stops; returns when the hub's task is over.
    pub async fn stop(&self) {
        let (done, stopped) = oneshot::channel();
        if self.inbox.send(Inbox::Stop(done)).await.is_ok() {
            let _ = stopped.await;
        }
        self.inbox.closed().await;
    }
}
