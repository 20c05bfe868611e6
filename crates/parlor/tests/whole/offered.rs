//! What is offered is possible: on every wire, each command, key and line of a list that our UI offers is sent to a runtime with exactly
//! the abilities that were announced, and none is refused because the runtime cannot do it.

use crate::bench;
use dialects::Dialect;
use domain::command::{Refusal, RefusalKind};
use domain::port::{Abilities, News};
use domain::state::EntryKind;
use hub::core::Standing;
use hub::{Hub, LocalUi};
use roles::Answers;
use std::path::Path;
use std::time::Duration;
use tui::{ACTIONS, COMMANDS, Headless, can_press};

/// Longest time that a command may take. The clock is paused: only what waits for nothing reaches it.
const PATIENCE: Duration = Duration::from_secs(60);

/// After this time of the paused clock nothing is under way any more.
const QUIET: Duration = Duration::from_secs(1);

/// Several answers, so that there is something to go back to, to summarise and to list.
const SCRIPT: &str = r#"
model text "First."
model step
model text "Second."
"#;

/// Commands that every runtime which can do them is told of.
const TOLD: &[&str] = &[
    "new",
    "branch",
    "rename",
    "clear",
    "reset",
    "compact",
    "skills",
    "mcp",
    "extension",
    "export",
    "save",
    "ping",
    "mode",
];

/// What stands behind commands that do nothing without it.
const ARGUMENTS: &[(&str, &[&str])] = &[
    ("new", &["", "a title"]),
    ("rename", &["a title"]),
    ("compact", &["", "keep the names"]),
    ("model", &["", "scripted/script"]),
    ("tools", &["", "read write"]),
    ("extension", &["echo {\"a\":1}", "echo words"]),
    ("mode", &["steer all", "follow-up one"]),
    ("export", &["md", "html", "jsonl"]),
    ("policy", &["", "read-only"]),
    ("effort", &["high"]),
];

/// Lines after which the conversation is not what it was.
const MOVES: &[&str] =
    &["/new", "/sessions", "/branch", "/clear", "/reset", "/compact", "/tree", "<ctrl-x>", "<alt-"];

/// Our UI in front of a runtime of this wire.
struct Stage {
    screen: Headless,
    ui: LocalUi,
    refused: Vec<Refusal>,
    /// Held while the stage stands.
    _hubs: (Hub, Hub),
}

impl Stage {
    /// After a round of talk, so that there is a session with something in it.
    async fn new(dialect: Dialect, place: &Path) -> Stage {
        let runtime = bench::runtime(SCRIPT, place);
        let lanes = bench::lanes(dialect);
        let ends = bench::serve(&runtime, bench::guest(dialect, place, Vec::new()), &lanes).await;
        let front = bench::front(dialect, bench::wire(&lanes, ends));
        let ui = front.attach("test", Standing::Controller, Answers::ALL, None).await.expect("the hub runs");
        let mut stage =
            Stage { screen: Headless::new(100, 40), ui, refused: Vec::new(), _hubs: (runtime, front) };
        for words in ["one", "two"] {
            stage.screen.keys(&format!("{words}<enter>"));
            stage
                .rest(|stage| {
                    let state = stage.screen.state();
                    let said = |entry: &&std::sync::Arc<domain::state::Entry>| {
                        matches!(entry.kind, EntryKind::Message(_))
                    };
                    let messages = state.entries.values().filter(said).count();
                    messages >= if words == "one" { 2 } else { 4 } && state.open_run().is_none()
                })
                .await;
        }
        // What a runtime can do may come after its answers (ACP tells its commands when it likes): only when nothing more comes is it
        // known. The clock is paused, so this waits for all that is under way, and for nothing else.
        while let Ok(news) = tokio::time::timeout(QUIET, stage.ui.news.recv()).await {
            stage.hear(news.expect("the hub runs"));
            stage.send().await;
        }
        assert!(!stage.abilities().name.is_empty(), "{dialect}: it never told what it can do");
        stage
    }

    fn abilities(&self) -> Abilities {
        self.screen.abilities().clone()
    }

    fn hear(&mut self, news: News) {
        if let News::Settled { with: Err(refusal), .. } = &news {
            self.refused.push(refusal.clone());
        }
        self.screen.hear(news);
    }

    async fn send(&mut self) -> usize {
        let sent = self.screen.sent();
        let count = sent.len();
        for outgoing in sent {
            let (ticket, target, command) = (outgoing.ticket, outgoing.target, outgoing.command);
            self.ui.port.command(ticket, target, command).await.expect("the hub runs");
        }
        count
    }

    /// Lets both sides talk until this holds.
    async fn rest(&mut self, holds: impl Fn(&Stage) -> bool) {
        self.send().await;
        while !holds(self) {
            let news = tokio::time::timeout(PATIENCE, self.ui.news.recv()).await;
            let news = news.unwrap_or_else(|_| panic!("nothing comes; refused: {:?}", self.refused));
            self.hear(news.expect("the hub runs"));
            self.send().await;
        }
    }

    /// Types, and lets both sides talk until everything that was sent is settled.
    async fn types(&mut self, keys: &str) -> usize {
        self.screen.keys(keys);
        let mut waits = self.send().await;
        let sent = waits;
        while waits > 0 {
            let news = tokio::time::timeout(PATIENCE, self.ui.news.recv()).await;
            let news = news.unwrap_or_else(|_| panic!("{keys}: never settled")).expect("the hub runs");
            waits -= usize::from(matches!(news, News::Settled { .. }));
            self.hear(news);
            waits += self.send().await;
        }
        sent
    }

    /// What was refused because the runtime cannot do it.
    fn impossible(&self) -> Vec<String> {
        let impossible = |refusal: &&Refusal| refusal.kind == RefusalKind::Unsupported;
        self.refused.iter().filter(impossible).map(ToString::to_string).collect()
    }
}

/// What a person can type at this runtime, as keys: each line is typed on a screen of its own.
fn offered(abilities: &Abilities, session: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for command in COMMANDS.iter().filter(|command| (command.can)(abilities)) {
        let known = ARGUMENTS.iter().find(|(name, _)| *name == command.name);
        let mut given: Vec<&str> = known.map_or(vec![""], |(_, given)| given.to_vec());
        if command.name == "sessions" && abilities.open_session {
            given.push(session);
        }
        if command.name == "model" && !abilities.set_model {
            given = vec![""];
        }
        for argument in given {
            // A line that ends with the name of a command offers to complete it.
            lines.push(match argument {
                "" => format!("/{}<esc><enter>", command.name),
                argument => format!("/{} {argument}<enter>", command.name),
            });
        }
    }
    for named in ACTIONS.iter().filter(|named| can_press(named.action, abilities)) {
        lines.extend(named.keys.iter().map(|key| format!("<{key}>")));
    }
    // A message that is selected offers its own keys.
    lines.push("<alt-up><alt-up>b".to_owned());
    lines
}

#[tokio::test(start_paused = true)]
async fn whatever_is_offered_is_not_refused() {
    for dialect in dialects::ALL.iter().copied() {
        let place = bench::workplace();
        let stage = Stage::new(dialect, place.path()).await;
        let session = stage.screen.session().map(ToString::to_string).unwrap_or_default();
        let can = stage.abilities();
        let lines = offered(&can, &session);
        let mut refused = Vec::new();
        let mut shared = stage;
        for line in lines {
            let place = bench::workplace();
            // What goes elsewhere or takes something away begins anew; the rest can follow each other.
            let alone = MOVES.iter().any(|name| line.starts_with(name));
            let mut own = if alone { Some(Stage::new(dialect, place.path()).await) } else { None };
            assert!(
                own.as_ref().is_none_or(|own| own.abilities() == can),
                "{dialect}: each time another runtime"
            );
            let stage = own.as_mut().unwrap_or(&mut shared);
            let sent = stage.types(&line).await;
            let name = line.trim_start_matches('/').split([' ', '<']).next().unwrap_or_default();
            assert!(
                sent > 0 || !line.starts_with('/') || !TOLD.contains(&name),
                "{dialect}: {line} says nothing"
            );
            // In a list the line under the cursor is chosen, and taken away where that is offered.
            if stage.screen.shows_list() {
                stage.types("<ctrl-x><ctrl-x>").await;
                stage.types("<up><enter>").await;
            }
            stage.screen.tidy();
            refused.extend(stage.impossible().into_iter().map(|why| format!("{line}: {why}")));
            stage.refused.clear();
        }
        assert!(refused.is_empty(), "{dialect} refuses what was offered: {refused:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_runtime_cannot_do_is_not_sent_to_it() {
    for dialect in dialects::ALL.iter().copied() {
        let place = bench::workplace();
        let mut stage = Stage::new(dialect, place.path()).await;
        let abilities = stage.abilities();
        for command in COMMANDS.iter().filter(|command| !(command.can)(&abilities)) {
            stage.screen.keys(&format!("/{} x<enter>", command.name));
            assert_eq!(stage.send().await, 0, "{dialect}: /{}", command.name);
            let screen = stage.screen.screen();
            assert!(screen.contains(&format!("cannot do /{}", command.name)), "{dialect}: {screen}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn both_wires_that_only_name_sessions_begin_them_and_go_back() {
    for dialect in dialects::ALL.iter().copied() {
        let place = bench::workplace();
        let mut stage = Stage::new(dialect, place.path()).await;
        let can = stage.abilities();
        if !can.new_session || can.sessions {
            continue;
        }
        let here = |stage: &Stage| stage.screen.session().cloned().expect("a session");
        stage.types("/new<esc><enter>").await;
        let second = here(&stage);
        stage.types("/new<esc><enter>").await;
        assert_ne!(here(&stage), second, "{dialect}");
        stage.types(&format!("/sessions {second}<enter>")).await;
        assert_eq!(here(&stage), second, "{dialect}");
        // The list holds those that were seen here.
        stage.types("<ctrl-x>").await;
        assert!(stage.screen.screen().contains(second.as_str()), "{dialect}");
        assert_eq!(stage.impossible(), Vec::<String>::new(), "{dialect}");
    }
}

/// The words that people type who come from another program's own UI.
#[tokio::test(start_paused = true)]
async fn what_people_know_from_other_uis_is_understood() {
    for dialect in dialects::ALL.iter().copied() {
        let place = bench::workplace();
        let mut stage = Stage::new(dialect, place.path()).await;
        let can = stage.abilities();
        for (name, possible, shows) in [
            ("abort", true, "nothing runs"),
            ("ping", can.ping, ""),
            ("save", can.save, "save"),
            ("reset", can.clear, ""),
        ] {
            // What is offered opens a list of commands, which Esc closes.
            let line = if possible { format!("/{name}<esc><enter>") } else { format!("/{name} x<enter>") };
            let sent = stage.types(&line).await;
            assert_eq!(sent > 0, possible && name != "abort", "{dialect}: {line}");
            let screen = stage.screen.screen();
            let cannot = format!("cannot do /{name}");
            let shows = if possible { shows } else { &cannot };
            assert!(screen.contains(shows), "{dialect}: {line}: {screen}");
            assert_eq!(stage.impossible(), Vec::<String>::new(), "{dialect}: {line}");
        }
        if dialect.name() == "lemon" {
            assert!(can.ping && can.save && can.clear, "what its own clients can");
        }
    }
}
