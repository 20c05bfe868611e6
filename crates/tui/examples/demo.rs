//! The screen with a made-up runtime, to try it by hand: it streams, asks, runs tools and can be stopped, all without a model.
//! `--inline` keeps to the terminal's own scrollback; `--picture FILE` plays a conversation and writes its screen as an SVG.

use domain::ask::{ActionDigest, Answer, Ask, AskKind, Assessment, Choice, Closing, Consent, Preview, Risk};
use domain::command::{Command, QueueCommand, Receipt, RunCommand};
use domain::content::{Json, Part, Role, TextKind, Usage};
use domain::event::{
    AskEvent, Body, Cause, ContextEvent, Event, Finish, MessageEvent, Outcome, QueueEvent, RunEvent,
    SessionEvent, ToolEvent,
};
use domain::ids::{AskId, EntryId, Ids, MessageId, Millis, RunId, Seq, SessionId, StepId, ToolRunId, TurnId};
use domain::port::{Abilities, News};
use domain::session::{ModelRef, RunSummary};
use domain::signal::Board;
use domain::state::State;
use domain::tool::{Decider, Decision, Progress, ToolOutcome, ToolResult};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;
use tui::{About, Note, Options, Outgoing};

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let (news, incoming) = mpsc::channel(256);
    let (outgoing, commands) = mpsc::channel(64);
    let examples = ["tell me about Parlor", "run `cargo test`", "edit a file", "ask me something", "count"];
    let about = About {
        program: "Parlor (demo)".into(),
        note: Note {
            words: "A made-up runtime answers: nothing is read, run or written.".into(),
            examples: examples.map(String::from).to_vec(),
            ..Note::default()
        },
        ..About::default()
    };
    let mut arguments = std::env::args_os().filter_map(|word| word.into_string().ok()).skip(1);
    if arguments.next().as_deref() == Some("--picture") {
        let path = arguments.next().ok_or_else(|| std::io::Error::other("say where: --picture FILE"))?;
        return std::fs::write(path, picture(about, news, incoming, commands).await);
    }
    let inline =
        std::env::args_os().filter_map(|word| word.into_string().ok()).any(|argument| argument == "--inline");
    let settings = tui::Settings { inline, ..Default::default() };
    let options = Options { about, settings, cwd: ".".into(), ..Options::default() };
    tokio::spawn(async move { Fake::new(news).serve(commands).await });
    tui::run(options, incoming, outgoing).await?;
    Ok(())
}

/// Talks until a consent waits, and draws that screen.
async fn picture(
    about: About,
    news: mpsc::Sender<News>,
    mut incoming: mpsc::Receiver<News>,
    commands: mpsc::Receiver<Outgoing>,
) -> String {
    let (say, hear) = mpsc::channel(64);
    drop(commands);
    tokio::spawn(async move { Fake::new(news).serve(hear).await });
    let mut ui = tui::Headless::new(100, 36);
    ui.tell(about);
    let mut prompts = ["tell me about Parlor", "edit a file"].into_iter();
    while let Some(news) = incoming.recv().await {
        ui.hear(news);
        let state = ui.state();
        if !state.asks.is_empty() {
            break;
        }
        if state.open_run().is_none()
            && ui.sent().is_empty()
            && let Some(prompt) = prompts.next()
        {
            ui.keys(&format!("{prompt}<enter>"));
            for outgoing in ui.sent() {
                let _ = say.send(outgoing).await;
            }
        }
    }
    ui.wait(1_000);
    ui.tidy();
    let (screen, caret) = ui.draw();
    tui::svg(&screen, caret, tui::Theme::Terminal)
}

enum Next {
    Say(Body),
    Wait(u64),
    Until(AskId),
}

struct Fake {
    news: mpsc::Sender<News>,
    state: State,
    ids: Ids,
    session: SessionId,
    plan: VecDeque<Next>,
}

impl Fake {
    fn new(news: mpsc::Sender<News>) -> Fake {
        let session = SessionId::from_number(1);
        Fake { news, state: State::new(), ids: Ids::default(), session, plan: VecDeque::new() }
    }

    async fn serve(mut self, mut commands: mpsc::Receiver<Outgoing>) {
        let replay = vec![
            (
                now(),
                Body::Session(SessionEvent::Opened {
                    cwd: "/home/you/parlor".into(),
                    project: "/home/you/parlor".into(),
                    parent: None,
                }),
            ),
            (
                now(),
                Body::Session(SessionEvent::ModelChosen {
                    model: ModelRef { provider: "demo".into(), name: "demo".into() },
                }),
            ),
        ];
        replay.iter().for_each(|(at, body)| {
            let _ = self.state.apply(*at, body);
        });
        let attached = News::Attached {
            session: self.session.clone(),
            replay,
            board: Board::default(),
            abilities: Abilities::all("demo runtime"),
        };
        let _ = self.news.send(attached).await;
        loop {
            let waits = match self.plan.front() {
                Some(Next::Wait(ms)) => Some(Duration::from_millis(*ms)),
                Some(Next::Until(ask)) if self.state.ask(*ask).is_some() => None,
                Some(_) => Some(Duration::ZERO),
                None => None,
            };
            tokio::select! {
                command = commands.recv() => match command {
                    Some(command) => self.hear(command).await,
                    None => return,
                },
                () = async { match waits {
                    Some(time) => tokio::time::sleep(time).await,
                    None => std::future::pending().await,
                } } => {
                    if let Some(Next::Say(body)) = self.plan.pop_front() {
                        self.say(body).await;
                    }
                }
            }
        }
    }

    async fn say(&mut self, body: Body) {
        let event = Event { seq: Seq(self.state.seq.0 + 1), at: now(), body };
        if self.state.fold(&event).is_ok() {
            let _ = self
                .news
                .send(News::Happened { session: self.session.clone(), event: Arc::new(event) })
                .await;
        }
    }

    async fn hear(&mut self, said: Outgoing) {
        let mut receipt = Receipt::Done;
        match said.command {
            Command::Run(RunCommand::Prompt { input, .. }) => self.begin(&input.text).await,
            Command::Queue(QueueCommand::Add { kind, input }) => {
                let item = domain::ids::QueuedId::mint(&self.ids);
                self.say(Body::Queue(QueueEvent::Added { item, kind, input, by: None })).await;
            }
            Command::Run(RunCommand::Cancel { .. }) => {
                self.plan.clear();
                if let Some(run) = self.state.open_run() {
                    receipt = Receipt::Cancelling { run: RunSummary { run: run.id, outcome: None } };
                }
                for body in self.state.close_run(Outcome::Cancelled) {
                    self.say(body).await;
                }
            }
            Command::Answer { ask, answer } => {
                let denied = matches!(answer, Answer::Deny { .. } | Answer::Dismissed);
                self.say(Body::Ask(AskEvent::Closed {
                    ask,
                    closing: Closing::Answered { answer, by: None },
                }))
                .await;
                if denied && let Some(tool) = self.state.open_tools().first().copied() {
                    self.plan.clear();
                    let result = ToolResult::text("denied");
                    self.say(Body::Tool(ToolEvent::Ended { tool, outcome: ToolOutcome::Denied, result }))
                        .await;
                    for body in self.state.close_run(Outcome::Done) {
                        self.plan.push_back(Next::Say(body));
                    }
                }
            }
            _ => {}
        }
        let _ = self.news.send(News::Settled { ticket: said.ticket, with: Ok(receipt) }).await;
    }

    async fn begin(&mut self, prompt: &str) {
        let ids = self.ids.clone();
        let (run, turn, step) = (RunId::mint(&ids), TurnId::mint(&ids), StepId::mint(&ids));
        let (asked, answer) = (MessageId::mint(&ids), MessageId::mint(&ids));
        let parent = self.state.leaf;
        for body in [
            Body::Run(RunEvent::Started { run }),
            Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }),
            Body::Message(MessageEvent::Started {
                message: asked,
                parent,
                role: Role::User,
                turn: Some(turn),
                step: None,
            }),
            Body::Message(MessageEvent::PartAdded { message: asked, part: Part::Text(prompt.into()) }),
            Body::Message(MessageEvent::Ended { message: asked, finish: Finish::Complete }),
            Body::Run(RunEvent::StepStarted { turn, step, model: None }),
            Body::Message(MessageEvent::Started {
                message: answer,
                parent: Some(EntryId::from(asked)),
                role: Role::Assistant,
                turn: Some(turn),
                step: Some(step),
            }),
        ] {
            self.say(body).await;
        }
        let thought = "The person said something. A short answer with a little of everything will do.";
        self.stream(answer, TextKind::Thought, thought, 10);
        if prompt.contains("run") {
            self.tool(answer, "bash", r#"{"command":"cargo test -p domain"}"#, command_preview(), Risk::High);
        } else if prompt.contains("edit") {
            self.tool(answer, "edit", r#"{"path":"src/lib.rs"}"#, diff_preview(), Risk::Medium);
        } else if prompt.contains("ask") {
            self.choose(run);
        } else if prompt.contains("count") {
            let text: String = (1..=200).map(|n| format!("{n} ")).collect();
            self.stream(answer, TextKind::Text, &text, 30);
        }
        self.stream(answer, TextKind::Text, SAMPLE, 12);
        self.plan.push_back(Next::Say(Body::Message(MessageEvent::Ended {
            message: answer,
            finish: Finish::Complete,
        })));
        let usage = Usage { input: 1_250, output: 320, cost_micros: 5_300, ..Usage::default() };
        self.plan.push_back(Next::Say(Body::Run(RunEvent::StepEnded { step, usage })));
        self.plan.push_back(Next::Say(Body::Context(ContextEvent::Measured {
            used: 42_000,
            window: 100_000,
            rough: false,
        })));
        self.plan.push_back(Next::Say(Body::Run(RunEvent::TurnEnded { turn })));
        self.plan.push_back(Next::Say(Body::Run(RunEvent::Ended { run, outcome: Outcome::Done })));
    }

    fn stream(&mut self, message: MessageId, kind: TextKind, text: &str, ms: u64) {
        for piece in text.split_inclusive(' ') {
            self.plan.push_back(Next::Say(Body::Message(MessageEvent::Delta {
                message,
                kind,
                text: piece.into(),
            })));
            self.plan.push_back(Next::Wait(ms));
        }
    }

    fn tool(&mut self, message: MessageId, name: &str, args: &str, preview: Preview, risk: Risk) {
        let (tool, ask) = (ToolRunId::mint(&self.ids), AskId::mint(&self.ids));
        let args = Json::verbatim(args);
        let consent = Consent {
            tool,
            name: name.into(),
            args: args.clone(),
            preview: Some(preview.clone()),
            assessment: Assessment {
                risk,
                reasons: vec![
                    (if risk < Risk::High { "changes a file" } else { "runs a program of this project" })
                        .into(),
                ],
                reversible: risk < Risk::High,
                unrated: false,
            },
            digest: ActionDigest("demo".into()),
            rule: Some(format!("{name} in this project")),
            takes_reason: true,
        };
        let title = format!("Allow {name}?");
        let kind = AskKind::Consent(Box::new(consent));
        let run = self.state.open_run().map(|run| run.id);
        let decision = Decision {
            allowed: true,
            by: Decider::Person(None),
            scope: domain::ask::Scope::Once,
            reason: None,
            digest: None,
        };
        let parts = match preview {
            Preview::Diff { path, text } => vec![Part::Diff { path: Some(path), text }],
            Preview::Command { .. } | Preview::Text(_) => Vec::new(),
        };
        let output = "\u{1b}[32m   Compiling\u{1b}[0m domain v0.1.0\n\u{1b}[32m    Finished\u{1b}[0m in 2.1s\n\u{1b}[32m     Running\u{1b}[0m unit tests\n";
        let text = if parts.is_empty() {
            format!("{output}\ntest result: \u{1b}[32mok\u{1b}[0m. 41 passed; 0 failed\n")
        } else {
            "edited".into()
        };
        self.plan.extend([
            Next::Say(Body::Tool(ToolEvent::Proposed { tool, message, name: name.into(), args })),
            Next::Say(Body::Ask(AskEvent::Opened(Ask { id: ask, run, title, kind, deadline: None }))),
            Next::Until(ask),
            Next::Say(Body::Tool(ToolEvent::Decided { tool, decision })),
            Next::Say(Body::Tool(ToolEvent::Started { tool })),
            Next::Wait(400),
        ]);
        for line in output.split_inclusive('\n') {
            self.plan.push_back(Next::Say(Body::Tool(ToolEvent::Progress {
                tool,
                progress: Progress::Output(line.into()),
            })));
            self.plan.push_back(Next::Wait(400));
        }
        let result = ToolResult { text, parts, json: None, truncated: false };
        self.plan.push_back(Next::Say(Body::Tool(ToolEvent::Ended {
            tool,
            outcome: ToolOutcome::Done,
            result,
        })));
    }

    fn choose(&mut self, run: RunId) {
        let ask = AskId::mint(&self.ids);
        let choice = |id: &str, label: &str, detail: &str| Choice {
            id: id.into(),
            label: label.into(),
            detail: Some(detail.into()),
        };
        let choices = vec![choice("tea", "Tea", "green or black"), choice("coffee", "Coffee", "with milk?")];
        let kind = AskKind::Choose { message: "What would you like to drink?".into(), choices, many: false };
        let ask_body = Ask { id: ask, run: Some(run), title: "A question".into(), kind, deadline: None };
        self.plan.extend([Next::Say(Body::Ask(AskEvent::Opened(ask_body))), Next::Until(ask)]);
    }
}

fn command_preview() -> Preview {
    Preview::Command { line: "cargo test -p domain".into(), inner: vec!["cargo test -p domain".into()] }
}

fn diff_preview() -> Preview {
    let text = "@@ -1,4 +1,5 @@\n //! The demo.\n \n-pub fn answer() -> u32 { 41 }\n+pub fn answer() -> u32 { 42 }\n+pub fn question() -> &'static str { \"?\" }\n // end\n";
    Preview::Diff { path: "src/lib.rs".into(), text: text.into() }
}

fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(0))
}

const SAMPLE: &str = "## What Parlor is

Parlor is **one program** for *talking to agents*: a runtime, a UI and the bridge between. See [the site](https://example.org/parlor).

- streams Markdown as it comes
- asks before `bash` runs
  - with a reason when you say no

| key | does |
|-----|------|
| Esc | stops the run |
| Ctrl-S | steers |

```rust
fn main() {
    let answer = 42; // the usual
    println!(\"{answer}\");
}
```

> Quoted words stand aside.
";
