//! A session that lives in one process, joined from another by its id, on every wire: what was said is there, what one says the other
//! hears, and a question is answered by either.
//!
//! The processes are the built program; in front of each is a UI of ours over its wire.

use crate::bench;
use crate::talk::Talk;
use dialects::Dialect;
use domain::ask::{Answer, Scope};
use domain::event::{AskEvent, Body, Event, RunEvent};
use domain::ids::SessionId;
use hub::Hub;
use link::child::{Child, Launch, OnStderr};
use link::{Lane, Limits, LinkIo, unix};
use roles::Item;
use roles::fidelity::Verdict;
use std::ffi::OsString;
use std::process::Command;
use testkit::Person;
use tokio::sync::mpsc;

pub(crate) const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");

/// Where a wire with two connections is served, in the person's folders.
pub(crate) const SOCKET: &str = "two.sock";
/// How often something is said to a process that is being killed.
const TRIES: usize = 1_000;

/// A process of the program, and a UI on its wire.
pub(crate) struct Seated {
    pub(crate) talk: Talk,
    pub(crate) hub: Hub,
    pub(crate) child: Child,
}

/// Starts the program in the folder `one`; gives its stdin and stdout, and a way to wait until it says on stderr that it listens.
pub(crate) fn started(person: &Person, args: &[&str]) -> (LinkIo, Child, mpsc::Receiver<bool>) {
    let like = person.parlor("one", args);
    let set = |(name, value): (&std::ffi::OsStr, Option<&std::ffi::OsStr>)| {
        let mut word = name.to_owned();
        word.push("=");
        word.push(value?);
        Some(word)
    };
    let words: Vec<OsString> = ["/usr/bin/env".into(), "-i".into()]
        .into_iter()
        .chain(like.get_envs().filter_map(set))
        .chain([PARLOR.into()])
        .chain(like.get_args().map(OsString::from))
        .collect();
    let (listens, heard) = mpsc::channel(64);
    let on_stderr: OnStderr = Box::new(move |line: &str| {
        let _ = listens.try_send(line.starts_with("serving"));
    });
    let launch = Launch { cwd: Some(person.path("one")), on_stderr: Some(on_stderr), ..Launch::new(words) };
    let (link, child) = launch.start(Lane::MAIN, Limits::default()).expect("it starts");
    (link, child, heard)
}

impl Seated {
    pub(crate) async fn start(person: &Person, dialect: Dialect, args: &[&str]) -> Seated {
        Seated::start_in(person, dialect, args, None).await
    }

    /// Starts the program in the folder `one`; the UI wants to be in this session, where one is named.
    async fn start_in(
        person: &Person,
        dialect: Dialect,
        args: &[&str],
        session: Option<&SessionId>,
    ) -> Seated {
        let (mut link, child, mut heard) = started(person, args);
        if dialect.has_event_lane() {
            while !heard.recv().await.expect("it listens") {}
            let (path, lanes) = (person.path(SOCKET), (Lane::MAIN, Lane::EVENTS));
            let reached =
                unix::connect_two(&path, lanes, Limits::default(), unix::CONNECT_WITHIN, |_| Ok(())).await;
            link = reached.expect("it is reached");
        }
        let hub = bench::front_named(dialect, link, &person.path("one"), session);
        let mut talk = Talk::start(&hub).await;
        talk.until_connected().await;
        Seated { talk, hub, child }
    }

    pub(crate) async fn leave(self) {
        self.hub.stop().await;
        self.child.shutdown().await;
    }
}

fn asked(event: &Event) -> bool {
    matches!(event.body, Body::Ask(AskEvent::Opened(_)))
}

fn ended(event: &Event) -> bool {
    matches!(event.body, Body::Run(RunEvent::Ended { .. }))
}

/// Whether something was said in the session, as this UI sees it.
pub(crate) fn heard(talk: &Talk, words: &str) -> bool {
    talk.state.path().iter().any(|entry| format!("{entry:?}").contains(words))
}

/// The session of another process, with a past: its process, and its id.
async fn lives(person: &Person) -> (Seated, SessionId) {
    let native = dialects::native::DIALECT;
    let mut owner = Seated::start(person, native, &["serve", "--dialect", "native", "--stdio"]).await;
    let session = owner.talk.new_session().await;
    owner.talk.prompt("say lanterns", &[]).await;
    (owner, session)
}

/// What is said and asked by either is heard and answered by the other.
async fn share(dialect: Dialect, person: &Person, owner: &mut Seated, guest: &mut Seated) {
    let said = guest.talk.prompt("say owls", &[]).await;
    assert!(said.text.contains("owls"), "{dialect}: {said:?}");
    owner.talk.until(ended).await;
    assert!(heard(&owner.talk, "say owls"), "{dialect}: the other process does not hear it");
    owner.talk.ask("say foxes").await;
    owner.talk.until(ended).await;
    if tells_others(dialect) {
        guest.talk.until(ended).await;
        assert!(heard(&guest.talk, "foxes"), "{dialect}: it does not hear the other process");
    }
    // Asked by one, answered by the other.
    let allow = || Answer::Allow { scope: Scope::Once, digest: None };
    let made = |name: &str| person.path("one").join(name).exists();
    guest.talk.ask("write first.txt: hi").await;
    owner.talk.until(asked).await;
    owner.talk.answer(allow()).await;
    guest.talk.until(ended).await;
    owner.talk.until(ended).await;
    assert!(made("first.txt"), "{dialect}: it was allowed in the other process");
    if dialect.fidelity().iter().any(|row| row.item == Item::Consent && row.verdict == Verdict::Dropped) {
        return;
    }
    owner.talk.ask("write second.txt: hi").await;
    guest.talk.until(asked).await;
    guest.talk.answer_plainly(allow()).await;
    owner.talk.until(ended).await;
    assert!(made("second.txt"), "{dialect}: it was allowed here");
}

/// Whether a UI of this wire is told of runs that it did not begin.
fn tells_others(dialect: Dialect) -> bool {
    dialect != dialects::asst::DIALECT
}

/// A UI of this wire on the session that another process has; ACP's clients always say themselves which session they want.
async fn joined(person: &Person, dialect: Dialect, args: &[&str], session: &SessionId) -> Seated {
    let named = Some(session).filter(|_| dialect == dialects::acp::DIALECT);
    let mut guest = Seated::start_in(person, dialect, args, named).await;
    let is_shown = |talk: &Talk| heard(talk, "lanterns") && talk.state.open_run().is_none();
    while named.is_some() && !is_shown(&guest.talk) {
        guest.talk.until(|_| true).await;
    }
    guest
}

/// The words that serve this wire.
fn serving(person: &Person, dialect: Dialect) -> Vec<String> {
    let serve = ["serve", "--dialect", dialect.name()].map(str::to_owned);
    let socket = person.path(SOCKET).display().to_string();
    let place = if dialect.has_event_lane() {
        vec!["--socket".to_owned(), socket]
    } else {
        vec!["--stdio".to_owned()]
    };
    serve.into_iter().chain(place).collect()
}

fn on_stdio() -> impl Iterator<Item = Dialect> {
    dialects::ALL.iter().copied().filter(|dialect| !dialect.has_event_lane())
}

#[tokio::test]
async fn a_relay_speaks_the_wire_that_is_asked_of_it() {
    for dialect in on_stdio() {
        let person = Person::new(PARLOR);
        let (mut owner, session) = lives(&person).await;
        let args = ["relay", "--dialect", dialect.name(), session.as_str()];
        let mut guest = joined(&person, dialect, &args, &session).await;
        share(dialect, &person, &mut owner, &mut guest).await;
        guest.leave().await;
        owner.leave().await;
    }
}

#[tokio::test]
async fn who_is_started_for_a_session_of_another_process_is_led_there() {
    for dialect in dialects::ALL.iter().copied() {
        let person = Person::new(PARLOR);
        let (mut owner, session) = lives(&person).await;
        let words = serving(&person, dialect);
        let args: Vec<&str> =
            words.iter().map(String::as_str).chain(["--session", session.as_str()]).collect();
        let mut guest = joined(&person, dialect, &args, &session).await;
        share(dialect, &person, &mut owner, &mut guest).await;
        guest.leave().await;
        owner.leave().await;
    }
}

#[tokio::test]
async fn a_ui_of_any_wire_opens_what_another_process_has_open() {
    for dialect in dialects::ALL.iter().copied() {
        let person = Person::new(PARLOR);
        let (mut owner, session) = lives(&person).await;
        let words = serving(&person, dialect);
        let args: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut guest = Seated::start(&person, dialect, &args).await;
        guest.talk.open(&session).await.unwrap_or_else(|why| panic!("{dialect}: {why}"));
        let tells_past = dialect != dialects::asst::DIALECT;
        assert!(
            !tells_past || heard(&guest.talk, "lanterns"),
            "{dialect}: what was said before is not shown"
        );
        share(dialect, &person, &mut owner, &mut guest).await;
        guest.leave().await;
        owner.leave().await;
    }
}

#[tokio::test]
async fn who_began_a_session_over_a_relay_opens_what_another_process_has_open() {
    for dialect in on_stdio() {
        let person = Person::new(PARLOR);
        let (mut owner, session) = lives(&person).await;
        let mut guest = Seated::start(&person, dialect, &["relay", "--dialect", dialect.name()]).await;
        guest.talk.open(&session).await.unwrap_or_else(|why| panic!("{dialect}: {why}"));
        share(dialect, &person, &mut owner, &mut guest).await;
        guest.leave().await;
        owner.leave().await;
    }
}

#[tokio::test]
async fn who_visits_goes_on_when_the_other_process_is_gone() {
    for dialect in [dialects::native::DIALECT, dialects::codelia::DIALECT, dialects::lemon::DIALECT] {
        let person = Person::new(PARLOR);
        let (owner, session) = lives(&person).await;
        let mut guest =
            Seated::start(&person, dialect, &["serve", "--dialect", dialect.name(), "--stdio"]).await;
        guest.talk.open(&session).await.unwrap_or_else(|why| panic!("{dialect}: {why}"));
        let killed = Command::new("kill").args(["-9", &owner.child.id().to_string()]).status();
        assert!(killed.expect("it is killed").success());
        if dialect.is_lossless() {
            assert!(guest.talk.is_told("The process that had this session is gone").await);
        }
        // What is said before the end is noticed is refused.
        let mut tries = 0;
        while let Err(why) = guest.talk.prompt_in(&session, "say badgers").await {
            tries += 1;
            assert!(tries < TRIES, "{dialect}: {why}");
        }
        guest.talk.until(ended).await;
        assert!(heard(&guest.talk, "badgers") && heard(&guest.talk, "lanterns"), "{dialect}");
        let kept = person.json(&["sessions", "list", "--all", "--json"]);
        assert_eq!(kept.as_array().map(Vec::len), Some(1), "{dialect}: it is the same session: {kept:#}");
        guest.leave().await;
        owner.leave().await;
    }
}
