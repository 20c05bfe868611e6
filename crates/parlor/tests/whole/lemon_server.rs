//! Our UI's side in front of a lemon server that the test plays line by line: what goes out, and in which order.
//!
//! The hub and the role are the real ones; time is the test's.

use crate::bench;
use domain::command::{Command, PromptOptions, Receipt, Refusal, RefusalKind, RunCommand, Target};
use domain::content::Input;
use domain::event::{AskEvent, Body, Outcome, RunEvent};
use domain::port::{LinkState, News, Ticket};
use hub::core::Standing;
use hub::{Hub, LocalUi};
use roles::{Answers, Lane};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

/// A hub in front of the server, with a person.
struct Played {
    hub: Hub,
    ui: LocalUi,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
    tickets: u64,
}

impl Played {
    async fn start() -> Played {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let hub = bench::front(dialects::lemon::DIALECT, bench::wire(&[Lane::MAIN], vec![ours]));
        let ui = hub.attach("person", Standing::Controller, Answers::ALL, None).await.expect("the hub runs");
        let (read, out) = tokio::io::split(theirs);
        Played { hub, ui, lines: BufReader::new(read).lines(), out, tickets: 0 }
    }

    /// The server says this.
    async fn says(&mut self, line: Value) {
        self.out.write_all(format!("{line}\n").as_bytes()).await.expect("the hub listens");
    }

    async fn event(&mut self, kind: &str, data: Value) {
        self.says(json!({"type":"event","event":{"type":kind,"data":data}})).await;
    }

    /// What the server hears next.
    async fn hears(&mut self) -> Value {
        let line = self.lines.next_line().await.expect("a line").expect("the hub stays");
        serde_json::from_str(&line).expect("JSON")
    }

    async fn wants(&mut self, command: Command) -> Ticket {
        self.tickets += 1;
        self.ui.port.command(Ticket(self.tickets), Target::Current, command).await.expect("the hub runs");
        Ticket(self.tickets)
    }

    async fn prompts(&mut self, text: &str) -> Ticket {
        let (input, options) = (Input::text(text), PromptOptions::default());
        self.wants(Command::Run(RunCommand::Prompt { input, options })).await
    }

    /// Waits for a piece of news that is wanted.
    async fn news<T>(&mut self, wanted: impl Fn(&News) -> Option<T>) -> T {
        loop {
            let news = self.ui.news.recv().await.expect("the hub runs");
            if let Some(found) = wanted(&news) {
                return found;
            }
        }
    }

    async fn settled(&mut self, ticket: Ticket) -> Result<Receipt, Refusal> {
        self.news(|news| match news {
            News::Settled { ticket: of, with } if *of == ticket => Some(with.clone()),
            _ => None,
        })
        .await
    }

    async fn is_asked(&mut self) {
        self.news(|news| match news {
            News::Happened { event, .. } => {
                matches!(event.body, Body::Ask(AskEvent::Opened(_))).then_some(())
            }
            _ => None,
        })
        .await;
    }

    async fn run_ended(&mut self) -> Outcome {
        self.news(|news| match news {
            News::Happened { event, .. } => match &event.body {
                Body::Run(RunEvent::Ended { outcome, .. }) => Some(outcome.clone()),
                _ => None,
            },
            _ => None,
        })
        .await
    }
}

fn ready() -> Value {
    json!({"type":"ready","cwd":"/w","model":{"provider":"fake","id":"fake-1"},"debug":false,"ui":true})
}

fn cancel() -> Command {
    Command::Run(RunCommand::Cancel { run: None, reason: None })
}

/// Plays with time that passes when everybody waits.
fn play(scene: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime").block_on(scene);
}

/// The two orders in which the processes of a server may speak, and each kind of question.
#[test]
fn stopping_a_run_answers_its_question_first_whichever_came_first() {
    for method in ["confirm", "select", "input", "editor"] {
        for question_first in [true, false] {
            play(async {
                let mut server = Played::start().await;
                server.says(ready()).await;
                let prompt = server.prompts("ask me").await;
                assert_eq!(server.hears().await["type"], "prompt");
                let params =
                    json!({"title":"Sure?","message":"m","options":[{"label":"A","value":"a"}],"opts":{}});
                let question = json!({"type":"ui_request","id":"u-1","method":method,"params":params});
                if question_first {
                    server.says(question.clone()).await;
                }
                server.event("agent_start", json!([])).await;
                if !question_first {
                    server.says(question).await;
                }
                server.settled(prompt).await.expect("taken");
                server.is_asked().await;
                server.wants(cancel()).await;
                let heard = [server.hears().await, server.hears().await];
                let answer = json!({"type":"ui_response","id":"u-1","result":null,"error":null});
                assert_eq!(heard[0], answer, "{method}, question first: {question_first}");
                assert_eq!(heard[1]["type"], "abort");
                server.event("canceled", json!(["assistant_aborted"])).await;
                assert_eq!(server.run_ended().await, Outcome::Cancelled);
                // The agent is free: the next prompt goes out and is taken.
                let prompt = server.prompts("go on").await;
                assert_eq!(server.hears().await["text"], "go on");
                server.event("agent_start", json!([])).await;
                server.settled(prompt).await.expect("taken");
                server.hub.stop().await;
            });
        }
    }
}

#[test]
fn a_question_that_comes_while_a_run_is_stopped_is_answered_at_once() {
    play(async {
        let mut server = Played::start().await;
        server.says(ready()).await;
        server.prompts("ask me").await;
        server.hears().await;
        server.event("agent_start", json!([])).await;
        server.news(|news| matches!(news, News::Happened { event, .. } if matches!(event.body, Body::Run(RunEvent::Started { .. }))).then_some(())).await;
        server.wants(cancel()).await;
        assert_eq!(server.hears().await["type"], "abort");
        let params = json!({"title":"Sure?","message":"m","opts":{}});
        server.says(json!({"type":"ui_request","id":"u-9","method":"confirm","params":params})).await;
        assert_eq!(server.hears().await, json!({"type":"ui_response","id":"u-9","result":null,"error":null}));
        server.hub.stop().await;
    });
}

#[test]
fn a_server_that_never_starts_a_session_is_told_in_time_and_the_prompt_given_back() {
    play(async {
        let mut server = Played::start().await;
        let mut greeting = ready();
        greeting["active_session_id"] = Value::Null;
        greeting["primary_session_id"] = Value::Null;
        let before = tokio::time::Instant::now();
        server.says(greeting).await;
        let prompt = server.prompts("hello").await;
        assert_eq!(server.hears().await["type"], "start_session");
        let why = server
            .news(|news| match news {
                News::Link(LinkState::Lost(why)) => Some(why.clone()),
                _ => None,
            })
            .await;
        assert!(why.contains("start_session") && why.contains("10 s"), "{why}");
        // The prompt waited for a session, and is refused now.
        let refusal = server.settled(prompt).await.expect_err("refused");
        assert_eq!(refusal.kind, RefusalKind::Lost);
        assert!(before.elapsed().as_secs() <= 11, "{:?}", before.elapsed());
        server.hub.stop().await;
    });
}

#[test]
fn who_leaves_says_quit_last() {
    play(async {
        let mut server = Played::start().await;
        server.says(ready()).await;
        server.prompts("hello").await;
        assert_eq!(server.hears().await["type"], "prompt");
        let Played { hub, ui, mut lines, out: _out, .. } = server;
        let stopping = tokio::spawn(async move { hub.stop().await });
        let mut last = String::new();
        while let Ok(Some(line)) = lines.next_line().await {
            last = line;
        }
        assert_eq!(last, r#"{"type":"quit"}"#);
        drop(ui);
        stopping.await.expect("it stops");
    });
}

/// Lines of a lemon UI on a bridge, up to the end of the run.
async fn told_through_a_bridge(to: dialects::Dialect) -> Vec<Value> {
    let place = bench::workplace();
    let script =
        "model text \"I look.\" | tool read {\"path\":\"a.txt\"}\nmodel step\nmodel text \"Seen.\"\n";
    let behind = bench::runtime(script, place.path());
    let ends = bench::serve(&behind, bench::guest(to, place.path(), Vec::new()), &bench::lanes(to)).await;
    let bridge = bench::front(to, bench::wire(&bench::lanes(to), ends));
    let guest = bench::guest(dialects::lemon::DIALECT, place.path(), Vec::new());
    let end = bench::serve(&bridge, guest, &[Lane::MAIN]).await.remove(0);
    let (read, mut out) = tokio::io::split(end);
    let mut lines = BufReader::new(read).lines();
    let mut told = Vec::new();
    while let Ok(Some(line)) = lines.next_line().await {
        let line: Value = serde_json::from_str(&line).expect("JSON");
        if line["type"] == "ready" {
            let prompt = json!({"type":"prompt","text":"look"});
            out.write_all(format!("{prompt}\n").as_bytes()).await.expect("the hub listens");
        }
        let over = line["event"]["type"] == "agent_end";
        told.push(line);
        if over {
            break;
        }
    }
    bridge.stop().await;
    behind.stop().await;
    told
}

#[test]
fn behind_every_bridge_a_message_ends_before_its_tool_starts() {
    for to in dialects::ALL {
        // A wire without tools tells none.
        let mut tools = 0;
        play(async {
            let told = told_through_a_bridge(*to).await;
            let mut open = false;
            for line in &told {
                let (event, role) = (&line["event"]["type"], &line["event"]["data"][0]["role"]);
                match event.as_str() {
                    Some("message_start") if role == "assistant" => open = true,
                    Some("message_end") if role == "assistant" => open = false,
                    Some("tool_execution_start") => {
                        tools += 1;
                        assert!(!open, "lemon on {to}: a tool starts in the middle of a message: {told:#?}");
                    }
                    _ => {}
                }
            }
            let role = |line: &&Value| {
                line["event"]["type"] == "message_end" && line["event"]["data"][0]["role"] == "assistant"
            };
            let said: String = told
                .iter()
                .filter(role)
                .map(|line| line["event"]["data"][0]["content"].to_string())
                .collect();
            assert_eq!(
                (said.matches("I look.").count(), said.matches("Seen.").count()),
                (1, 1),
                "lemon on {to}: {said}"
            );
        });
        eprintln!("lemon on {to}: {tools} tools");
    }
}
