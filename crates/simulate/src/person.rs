//! A person at a UI: types, answers, stops, looks away, leaves and comes back. What the UI is told is held against the laws in the
//! moment in which the process says it; the person sees it when the line has brought it.

mod view;

use crate::database::Incarnation;
use crate::dice::Dice;
use crate::line::{Connection, Heard};
use crate::plan::Fault;
use crate::process::Process;
use crate::world::World;
use domain::ask::{Answer, Scope};
use domain::command::{
    Command, LibraryCommand, PromptOptions, QueueCommand, Receipt, Refusal, RefusalKind, RunCommand,
    SessionCommand, Target, WhenBusy,
};
use domain::content::Input;
use domain::ids::{AskId, SessionId};
use domain::port::Ticket;
use domain::queue::QueueKind;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use view::Views;

/// How long somebody who cannot get in waits before they try again.
const RETRY_MILLIS: u64 = 700;
/// How long somebody stays where nothing is saved, once nothing goes wrong any more.
const UNSAVED_MILLIS: u64 = 12_000;

/// What somebody wants, until it is settled.
#[derive(Debug, Clone)]
enum Wish {
    Input(String),
    Title(String),
    Answer(SessionId, AskId),
    Stop(SessionId),
    Open,
    New,
}

/// See the module.
pub(crate) struct Person {
    name: String,
    number: usize,
    world: Arc<World>,
    processes: Arc<Vec<Process>>,
    dice: Dice,
    node: usize,
    on_wire: bool,
    /// Says something now and then, and not all the time.
    is_slow: bool,
    session: SessionId,
    views: Views,
    line: Option<Line>,
    ticket: u64,
    wishes: BTreeMap<Ticket, Wish>,
    inputs: u64,
    /// Since when nothing is saved, as far as this UI knows.
    unsaved_since: Option<u64>,
    /// In the end each says one thing more, which must come to something.
    last_word: Option<String>,
}

/// An open connection, and what is on its way.
struct Line {
    connection: Connection,
    /// The process at its other end.
    who: Incarnation,
    coming: VecDeque<(u64, Heard)>,
    going: VecDeque<(u64, Ticket, Target, Command)>,
    /// What the process has told, apart from what has come.
    told: Views,
    looks_again: u64,
    /// What breaks a law unless it is told in the same breath that nothing is saved; and when it was heard.
    doubts: Vec<(u64, String)>,
}

enum Next {
    Heard(Option<Heard>),
    Due,
}

impl Person {
    pub(crate) fn new(
        (number, session): (usize, SessionId),
        world: Arc<World>,
        processes: Arc<Vec<Process>>,
        mut dice: Dice,
    ) -> Person {
        let (on_wire, is_slow) = (dice.per_mille(400), dice.per_mille(500));
        let node = if world.plan.has(Fault::Rival) { number % 2 } else { 0 };
        Person {
            name: format!("ui {number}"),
            number,
            world,
            processes,
            dice,
            node,
            on_wire,
            is_slow,
            session,
            views: Views::default(),
            line: None,
            ticket: 0,
            wishes: BTreeMap::new(),
            inputs: 0,
            unsaved_since: None,
            last_word: None,
        }
    }

    /// Lives as long as the schedule lasts.
    pub(crate) async fn live(mut self) {
        let mut acts_at = self.world.now() + self.dice.below(500);
        loop {
            if self.world.is_broken() {
                return;
            }
            let due = self.line.as_ref().and_then(Line::next_due).unwrap_or(u64::MAX);
            let looks_again = self.line.as_ref().map_or(0, |line| line.looks_again);
            let looks = looks_again <= self.world.now();
            let until = due.min(acts_at).min(if looks { u64::MAX } else { looks_again });
            let until = self.world.at(until);
            let next = match &mut self.line {
                Some(line) => line.next(until, looks).await,
                None => {
                    tokio::time::sleep_until(until).await;
                    Next::Due
                }
            };
            match next {
                Next::Heard(Some(heard)) => self.told(heard),
                Next::Heard(None) => self.lose("the process is gone"),
                Next::Due => {}
            }
            self.moves().await;
            if acts_at <= self.world.now() {
                self.acts().await;
                let least = if self.is_slow { 800 } else { 20 };
                let most = if self.views.of(&self.session).is_none() { 900 } else { least * 3 + 1_200 };
                acts_at = self.world.now() + self.dice.between(least.min(100), most);
            }
        }
    }

    fn lose(&mut self, why: &str) {
        if self.line.take().is_some() {
            self.world.say(|| format!("{}: its connection is over: {why}", self.name));
        }
        self.wishes.clear();
    }

    /// Something left the process: the laws are held against it now.
    fn told(&mut self, heard: Heard) {
        let now = self.world.now();
        let Some(line) = &mut self.line else { return };
        let judged = {
            let database = self.world.database();
            let mut checks = self.world.checks();
            match &heard {
                Heard::Settled(ticket, with) => match (self.wishes.get(ticket), &**with) {
                    (Some(wish), Ok(receipt)) => {
                        checks.settled += 1;
                        let unsaved = line.told.is_unsaved(&self.session);
                        let kept = database.kept(&self.session);
                        let (is_kept, answered) = match (wish, receipt) {
                            (Wish::Input(text), _) => (kept.is_some_and(|kept| kept.has_input(text)), Ok(())),
                            (Wish::Title(title), _) => {
                                (kept.is_some_and(|kept| kept.has_title(title)), Ok(()))
                            }
                            (Wish::Answer(session, ask), _) => {
                                let answered = checks.answered(line.who, session, *ask);
                                (kept.is_some_and(|kept| kept.has_closed(*ask)), answered)
                            }
                            (Wish::Stop(session), Receipt::Cancelling { run }) if run.outcome.is_none() => {
                                checks.stopping(line.who, session, run.run, now);
                                (true, Ok(()))
                            }
                            _ => (true, Ok(())),
                        };
                        if !is_kept && !unsaved {
                            let what = format!(
                                "law 7: {} was told that {wish:?} is taken, and it is not kept",
                                self.name
                            );
                            line.doubts.push((now, what));
                        }
                        answered
                    }
                    _ => Ok(()),
                },
                heard => {
                    let seen = line.told.sees(&self.name, heard);
                    if let Err(doubt) = line.told.compares(&self.name, heard, &database, &mut checks) {
                        line.doubts.push((now, doubt));
                    }
                    if matches!(heard, Heard::Unsaved(_, true)) {
                        line.doubts.clear();
                    }
                    seen
                }
            }
        };
        self.world.judge(judged);
        let (usual, long) = (self.dice.below(3), self.dice.between(5, 900));
        let takes = if self.world.may(Fault::SlowLines) { long } else { usual };
        let after = line.coming.back().map_or(0, |(due, _)| *due);
        let due = (now + takes).max(after).max(self.world.through_from(self.node));
        line.coming.push_back((due, heard));
    }

    /// Takes in what has come, and lets go what is due.
    async fn moves(&mut self) {
        loop {
            let now = self.world.now();
            let Some(line) = &mut self.line else { return };
            if let Some((_, doubt)) = line.doubts.first().filter(|(since, _)| *since < now) {
                return self.world.broke(doubt.clone());
            }
            if line.coming.front().is_some_and(|(due, _)| *due <= now) {
                let Some((_, heard)) = line.coming.pop_front() else { return };
                self.hears(heard).await;
            } else if line.going.front().is_some_and(|(due, ..)| *due <= now) {
                let Some((_, ticket, target, command)) = line.going.pop_front() else { return };
                if !line.connection.says(ticket, target, command).await {
                    self.lose("the process hears nothing more");
                }
            } else {
                return;
            }
        }
    }

    async fn hears(&mut self, heard: Heard) {
        match heard {
            Heard::Settled(ticket, with) => {
                let Some(wish) = self.wishes.remove(&ticket) else { return };
                self.world.say(|| {
                    let with = match &*with {
                        Ok(_) => "yes".to_owned(),
                        Err(no) => format!("no: {no}"),
                    };
                    format!("{}: {wish:?}: {with}", self.name)
                });
                if let Err(refusal) = *with {
                    self.refused(&wish, &refusal).await;
                }
            }
            Heard::Refused => {
                self.views = Views::default();
                self.lose("it was not let in");
                self.goes_elsewhere();
            }
            heard => {
                let seen = self.views.sees(&self.name, &heard);
                self.world.judge(seen);
                let unsaved = self.views.is_unsaved(&self.session);
                self.unsaved_since = unsaved.then(|| self.unsaved_since.unwrap_or(self.world.now()));
            }
        }
    }

    async fn refused(&mut self, wish: &Wish, refusal: &Refusal) {
        if refusal.kind == RefusalKind::SessionUnknown && self.node == 0 && matches!(wish, Wish::Open) {
            let (title, id) = (Some("first".to_owned()), Some(self.session.clone()));
            self.wants(Wish::New, Command::Library(LibraryCommand::New { cwd: None, title, id })).await;
        } else if matches!(wish, Wish::Open | Wish::New) {
            self.goes_elsewhere();
        }
        if let Wish::Input(text) = wish
            && self.last_word.as_ref() == Some(text)
        {
            self.last_word = None;
        }
    }

    /// Perhaps another process has it.
    fn goes_elsewhere(&mut self) {
        if self.world.plan.has(Fault::Rival) && self.dice.per_mille(100) {
            self.lose("it goes elsewhere");
            self.node = 1 - self.node;
        }
    }

    /// Gives a command, which takes its time to get there.
    async fn wants(&mut self, wish: Wish, command: Command) {
        let (usual, long) = (self.dice.below(3), self.dice.between(5, 900));
        let takes = if self.world.may(Fault::SlowLines) { long } else { usual };
        let now = self.world.now();
        let Some(line) = &mut self.line else { return };
        self.ticket += 1;
        let ticket = Ticket(self.ticket);
        self.world.say(|| format!("{}: wants {wish:?}", self.name));
        let target = match &wish {
            Wish::New | Wish::Open => Target::Current,
            _ => Target::Session(self.session.clone()),
        };
        self.wishes.insert(ticket, wish);
        let after = line.going.back().map_or(0, |(due, ..)| *due);
        let due = (now + takes).max(after).max(self.world.through_from(self.node));
        line.going.push_back((due, ticket, target, command));
    }

    async fn acts(&mut self) {
        let Some(line) = &mut self.line else { return self.connects().await };
        if self.world.is_calm() {
            return self.ends().await;
        }
        let now = self.world.now();
        if self.world.may(Fault::Breaks) && self.dice.per_mille(40) {
            return self.lose("it broke");
        }
        if self.world.may(Fault::Leaving) && self.dice.per_mille(60) {
            return self.lose("the person left");
        }
        if self.world.may(Fault::SlowUis) && self.dice.per_mille(60) {
            line.looks_again = now + self.dice.between(500, 6_000);
            return self.world.say(|| format!("{}: reads nothing for a while", self.name));
        }
        let view = self.views.of(&self.session);
        let (run, asks) = view.map_or((None, Vec::new()), |view| {
            (view.open_run().map(|run| run.id), view.asks.iter().map(|ask| ask.id).collect())
        });
        match self.dice.below(20) {
            0..9 if view.is_none() => self.opens().await,
            0..5 => self.types(WhenBusy::Queue).await,
            5 => self.types(WhenBusy::Refuse).await,
            6 => self.steers().await,
            7 if run.is_some() => {
                let command = RunCommand::Cancel { run: None, reason: None };
                self.wants(Wish::Stop(self.session.clone()), Command::Run(command)).await;
            }
            8 => {
                let title = format!("title {} of {}", self.inputs, self.name);
                self.inputs += 1;
                let command = SessionCommand::Rename { title: title.clone() };
                self.wants(Wish::Title(title), Command::Session(command)).await;
            }
            9..18 if view.is_some() => self.answers(&asks, 850).await,
            _ => {}
        }
    }

    async fn opens(&mut self) {
        let session = self.session.clone();
        self.wants(Wish::Open, Command::Library(LibraryCommand::Open { session })).await;
    }

    fn input(&mut self) -> String {
        self.inputs += 1;
        format!("word {} of {}", self.inputs, self.name)
    }

    async fn types(&mut self, when_busy: WhenBusy) {
        let text = self.input();
        let options = PromptOptions { when_busy, ..PromptOptions::default() };
        let command = RunCommand::Prompt { input: Input::text(text.as_str()), options };
        self.wants(Wish::Input(text), Command::Run(command)).await;
    }

    async fn steers(&mut self) {
        let (text, kind) = (self.input(), QueueKind::Steer);
        let command = QueueCommand::Add { kind, input: Input::text(text.as_str()) };
        self.wants(Wish::Input(text), Command::Queue(command)).await;
    }

    async fn answers(&mut self, asks: &[AskId], allows: u64) {
        let Some(ask) = asks.first().copied() else { return };
        let answer = match self.dice.per_mille(allows) {
            true => Answer::Allow { scope: Scope::Once, digest: None },
            false => Answer::Deny { reason: None },
        };
        self.wants(Wish::Answer(self.session.clone(), ask), Command::Answer { ask, answer }).await;
    }

    /// Nothing goes wrong any more: each says one thing more, and whoever stands where nothing is saved leaves.
    async fn ends(&mut self) {
        let now = self.world.now();
        if self.unsaved_since.is_some_and(|since| since + UNSAVED_MILLIS < now) {
            self.unsaved_since = None;
            self.lose("nothing is saved there");
            self.node = if self.world.plan.has(Fault::Rival) { 1 - self.node } else { self.node };
            return;
        }
        let Some(view) = self.views.of(&self.session).filter(|_| self.line.is_some()) else {
            if !self.wishes.values().any(|wish| matches!(wish, Wish::Open | Wish::New)) {
                self.opens().await;
            }
            return;
        };
        let asks: Vec<AskId> = view.asks.iter().map(|ask| ask.id).collect();
        if !asks.is_empty() {
            return self.answers(&asks, 1_000).await;
        }
        if let Some(text) = self.last_word.clone() {
            let waits = self.wishes.values().any(|wish| matches!(wish, Wish::Input(input) if *input == text));
            let is_kept = self.world.database().kept(&self.session).is_some_and(|kept| kept.has_input(&text));
            if !waits && !is_kept {
                // It was lost with its connection, and the person sees that it is not there.
                self.last_word = None;
            }
            if is_kept {
                self.world.checks().last_words(self.number);
            }
            return;
        }
        self.types(WhenBusy::Queue).await;
        self.last_word = Some(format!("word {} of {}", self.inputs, self.name));
    }

    async fn connects(&mut self) {
        if !self.dice.per_mille(700) && !self.world.is_calm() {
            return;
        }
        if self.world.through_from(self.node) > self.world.now() {
            return;
        }
        let cursor = self.views.cursor(&self.session);
        let Some((who, connection)) = self.processes[self.node].connects(&self.name, self.on_wire).await
        else {
            tokio::time::sleep(Duration::from_millis(RETRY_MILLIS)).await;
            return;
        };
        self.world.say(|| {
            let (node, at) = (self.node, cursor.as_ref().map_or(0, |at| at.seq.0));
            format!("{}: connects with process {node}, knows up to event {at}", self.name)
        });
        let knows = self.views.of(&self.session).is_some();
        let greets = connection.greets(knows.then(|| self.session.clone()), cursor);
        if !greets {
            return;
        }
        let told = if self.on_wire { self.views.clone() } else { Views::default() };
        if !self.on_wire {
            self.views = Views::default();
        }
        self.unsaved_since = None;
        self.wishes.clear();
        let (coming, going, doubts) = (VecDeque::new(), VecDeque::new(), Vec::new());
        self.line = Some(Line { connection, who, coming, going, told, looks_again: 0, doubts });
        if !(knows && self.on_wire) {
            self.opens().await;
        }
    }
}

impl Line {
    fn next_due(&self) -> Option<u64> {
        let coming = self.coming.front().map(|(due, _)| *due);
        coming.into_iter().chain(self.going.front().map(|(due, ..)| *due)).min()
    }

    async fn next(&mut self, until: Instant, looks: bool) -> Next {
        tokio::select! {
            biased;
            () = tokio::time::sleep_until(until) => Next::Due,
            heard = self.connection.hears(), if looks => Next::Heard(heard),
        }
    }
}
