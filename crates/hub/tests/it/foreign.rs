//! A foreign runtime at the end of a link: how much of it is shown, and that it hears everything before it is let go.

#![expect(clippy::unwrap_used, reason = "a test may fall over; its helping functions too")]

use domain::ask::Answer;
use domain::command::{Command, PromptOptions, RunCommand, Target};
use domain::content::Input;
use domain::event::{AskEvent, Body};
use domain::port::{News, Ticket};
use domain::signal::Signal;
use hub::core::{Engine, Setup, Standing};
use hub::{EngineSeat, Guest, Hub, LocalUi, RemoteSeat};
use link::{AsyncSink, AsyncSource, Limits, Wiring};
use roles::{Answers, Greeting, Hello, Lane};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

const READY: &str =
    r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"debug":false,"ui":true}"#;

/// A hub in front of this test, which plays the runtime at the other end of a pipe that holds so much.
async fn in_front(pipe: usize) -> (Hub, LocalUi, DuplexStream) {
    in_front_of(pipe, Arc::new(|_| {})).await
}

/// The same with this log.
async fn in_front_of(pipe: usize, log: hub::Log) -> (Hub, LocalUi, DuplexStream) {
    let setup = Setup::new(Engine::Followed, "/w", 1);
    let (ours, mut theirs) = tokio::io::duplex(pipe);
    let (read, write) = tokio::io::split(ours);
    let link =
        Wiring::new(Limits::default()).lane(Lane::MAIN, AsyncSource::new(read), AsyncSink(write)).start();
    let (role, hello) = (dialects::lemon::DIALECT.ui_role(), Hello::default());
    let seat = Box::new(RemoteSeat {
        role,
        link,
        hello,
        lossless: false,
        errands: None,
        last_lines: None,
        ended: None,
        stranger: None,
    });
    let store = Box::new(store::MemoryStore::default());
    let hub = Hub::start(setup, store, EngineSeat::Remote(seat), log);
    let ui = hub.attach("test", Standing::Controller, Answers::ALL, None).await.unwrap();
    theirs.write_all(format!("{READY}\n").as_bytes()).await.unwrap();
    (hub, ui, theirs)
}

fn notice(text: &str) -> String {
    format!("{{\"type\":\"ui_notify\",\"params\":{{\"message\":\"{text}\",\"notify_type\":\"info\"}}}}\n")
}

/// The next notice that is shown.
async fn shown(ui: &mut LocalUi) -> String {
    loop {
        if let News::Signal { signal: Signal::Notify { text, .. }, .. } = ui.news.recv().await.unwrap() {
            return text;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn of_a_runtime_that_says_too_much_some_notices_are_shown_and_the_rest_counted() {
    let (hub, mut ui, mut runtime) = in_front(64 * 1024).await;
    for number in 1..=25 {
        runtime.write_all(notice(&format!("word {number}")).as_bytes()).await.unwrap();
    }
    for number in 1..=10 {
        assert_eq!(shown(&mut ui).await, format!("word {number}"));
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    runtime.write_all(notice("later").as_bytes()).await.unwrap();
    let next = shown(&mut ui).await;
    assert!(next.starts_with("later") && next.contains("(15 more notices"), "{next}");
    runtime.write_all(notice("last").as_bytes()).await.unwrap();
    assert_eq!(shown(&mut ui).await, "last", "that is said once");
    hub.stop().await;
}

#[tokio::test]
async fn a_runtime_hears_what_was_said_before_it_is_let_go() {
    // Far more than the pipe holds: it can only be written while the runtime reads.
    let (hub, mut ui, mut runtime) = in_front(1024).await;
    while !matches!(ui.news.recv().await.unwrap(), News::Attached { abilities, .. } if abilities.name.starts_with("lemon"))
    {
    }
    let text = "word ".repeat(40_000);
    let (input, options) = (Input::text(text.clone()), PromptOptions::default());
    let prompt = Command::Run(RunCommand::Prompt { input, options });
    ui.port.command(Ticket(1), Target::Current, prompt).await.unwrap();
    // Shown to be in the hub: what is asked behind it is answered.
    ui.port
        .command(Ticket(2), Target::Current, Command::Session(domain::command::SessionCommand::Stats))
        .await
        .unwrap();
    while !matches!(ui.news.recv().await.unwrap(), News::Settled { ticket: Ticket(2), .. }) {}
    let mut heard = String::new();
    let (_, read) = tokio::join!(hub.stop(), runtime.read_to_string(&mut heard));
    read.unwrap();
    assert!(heard.contains(text.trim_end()), "{} bytes came", heard.len());
    assert!(heard.ends_with('\n'));
}

#[tokio::test(start_paused = true)]
async fn a_runtime_that_does_not_answer_is_told_of_within_ten_seconds_with_the_end_of_its_stderr() {
    for (lines, told) in
        [(vec!["starting", "waiting for a browser"], "waiting for a browser"), (vec![], "nothing")]
    {
        let setup = Setup::new(Engine::Followed, "/w", 1);
        let (ours, _theirs) = tokio::io::duplex(64 * 1024);
        let (read, write) = tokio::io::split(ours);
        let link =
            Wiring::new(Limits::default()).lane(Lane::MAIN, AsyncSource::new(read), AsyncSink(write)).start();
        let (role, hello) = (dialects::acp::DIALECT.ui_role(), Hello::default());
        let lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
        let last_lines: Option<hub::LastLines> = Some(Arc::new(move || lines.clone()));
        let seat = Box::new(RemoteSeat {
            role,
            link,
            hello,
            lossless: false,
            errands: None,
            last_lines,
            ended: None,
            stranger: None,
        });
        let store = Box::new(store::MemoryStore::default());
        let hub = Hub::start(setup, store, EngineSeat::Remote(seat), Arc::new(|_| {}));
        let mut ui = hub.attach("test", Standing::Controller, Answers::ALL, None).await.unwrap();
        let before = tokio::time::Instant::now();
        let word = shown(&mut ui).await;
        assert!(before.elapsed() < Duration::from_secs(10), "{:?}", before.elapsed());
        assert!(word.contains("has not answered") && word.contains(told), "{word}");
        hub.stop().await;
    }
}

/// A codelia UI at the other end of a pipe, in front of a runtime that answers nothing.
async fn unanswered(hub: &Hub) -> (tokio::task::JoinHandle<()>, DuplexStream) {
    let guest = Guest {
        role: dialects::codelia::DIALECT.runtime_role(),
        name: "codelia".into(),
        standing: Standing::Controller,
        greeting: Greeting { follows: true, ..Greeting::default() },
        start: None,
        stays: false,
    };
    let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
    let (read, write) = tokio::io::split(ours);
    let link =
        Wiring::new(Limits::default()).lane(Lane::MAIN, AsyncSource::new(read), AsyncSink(write)).start();
    let serving = hub.clone();
    let served = tokio::spawn(async move { serving.serve(guest, link).await.unwrap() });
    let start =
        r#"{"jsonrpc":"2.0","id":"2","method":"run.start","params":{"input":{"type":"text","text":"go"}}}"#;
    theirs.write_all(format!("{start}\n").as_bytes()).await.unwrap();
    (served, theirs)
}

#[tokio::test(start_paused = true)]
async fn a_ui_that_only_listens_is_served_for_thirty_seconds_at_most() {
    let (hub, _ui, mut runtime) = in_front(64 * 1024).await;
    let (served, mut theirs) = unanswered(&hub).await;
    // The prompt has reached the runtime, which begins and says nothing more.
    let mut heard = Vec::new();
    while !String::from_utf8_lossy(&heard).contains(r#""prompt""#) {
        runtime.read_buf(&mut heard).await.unwrap();
    }
    runtime.write_all(b"{\"type\":\"event\",\"event\":{\"type\":\"agent_start\"}}\n").await.unwrap();
    let mut told = Vec::new();
    while !String::from_utf8_lossy(&told).contains(r#""running""#) {
        theirs.read_buf(&mut told).await.unwrap();
    }
    let before = tokio::time::Instant::now();
    theirs.shutdown().await.unwrap();
    served.await.unwrap();
    let waited = before.elapsed();
    assert!(waited >= Duration::from_secs(29) && waited < Duration::from_secs(35), "{waited:?}");
    hub.stop().await;
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_runtime_that_is_gone_is_told_at_once() {
    let (hub, _ui, runtime) = in_front(64 * 1024).await;
    drop(runtime);
    let (served, mut theirs) = unanswered(&hub).await;
    let before = tokio::time::Instant::now();
    theirs.shutdown().await.unwrap();
    let mut heard = String::new();
    theirs.read_to_string(&mut heard).await.unwrap();
    assert!(heard.contains(r#""id":"2","error""#) && heard.contains("the runtime is gone"), "{heard}");
    served.await.unwrap();
    assert!(before.elapsed() < Duration::from_secs(5), "{:?}", before.elapsed());
    hub.stop().await;
}

#[tokio::test]
async fn what_a_runtime_says_unreadably_is_in_the_log_without_the_secret_that_it_was_given() {
    const SECRET: &str = "hunter2-of-tonight";
    /// Of the log; few are said here.
    const LINES: usize = 100;
    let (tell, mut told) = tokio::sync::mpsc::channel(LINES);
    let log: hub::Log = Arc::new(move |line| drop(tell.try_send(line.to_owned())));
    let (hub, mut ui, mut runtime) = in_front_of(64 * 1024, log).await;
    while !matches!(ui.news.recv().await.unwrap(), News::Attached { abilities, .. } if abilities.name.starts_with("lemon"))
    {
    }
    let (input, options) = (Input::text("log in"), PromptOptions::default());
    let prompt = Command::Run(RunCommand::Prompt { input, options });
    ui.port.command(Ticket(1), Target::Current, prompt).await.unwrap();
    let asks = r#"{"type":"ui_request","id":"q","method":"input","params":{"title":"Password?","opts":{"secret":true}}}"#;
    runtime
        .write_all(
            format!("{{\"type\":\"event\",\"event\":{{\"type\":\"agent_start\"}}}}\n{asks}\n").as_bytes(),
        )
        .await
        .unwrap();
    let ask = loop {
        if let News::Happened { event, .. } = ui.news.recv().await.unwrap()
            && let Body::Ask(AskEvent::Opened(ask)) = &event.body
        {
            break ask.id;
        }
    };
    let answer = Command::Answer { ask, answer: Answer::Entered(SECRET.to_owned()) };
    ui.port.command(Ticket(2), Target::Current, answer).await.unwrap();
    while !matches!(ui.news.recv().await.unwrap(), News::Settled { ticket: Ticket(2), .. }) {}
    // Whole, and where what is kept of a line is cut in the middle of it.
    let cut = "x".repeat(roles::Drift::MAX_RAW - 8);
    runtime
        .write_all(format!("junk {SECRET} \u{1b}[31m\n{cut}{SECRET} and more\nno more\n").as_bytes())
        .await
        .unwrap();
    let mut said = String::new();
    while !said.contains("said: no more") {
        said += &format!("{}\n", told.recv().await.unwrap());
    }
    assert!(said.contains(&format!("said: junk {} \\u{{1b}}[31m", domain::secret::mark(ask))), "{said}");
    assert!(said.contains(&cut) && !said.contains("hunter"), "{said}");
    hub.stop().await;
}
