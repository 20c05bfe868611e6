//! MCP servers at work: a real one over pipes and over HTTP, and bad ones that must not hold up a run.

use crate::bench::{Bench, Plan, allow, answered, put};
use domain::ask::{Answer, AskKind, Closing, Risk, Scope};
use domain::command::{Command, ListCommand, Receipt};
use domain::event::{AskEvent, Body, RunEvent, ToolEvent};
use domain::port::TurnEnd;
use domain::session::{ServerEntry, ServerState};
use domain::signal::Signal;
use domain::tool::{Progress, ToolOutcome};
use engine::Config;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The example server, which cargo builds beside the tests.
pub(crate) fn echo() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let path = exe.parent().unwrap().parent().unwrap().join("examples/mcp_echo");
    assert!(path.exists(), "{} is missing: run `cargo build -p engine --examples`", path.display());
    path
}

pub(crate) fn child(mode: &str) -> Value {
    json!({"command": echo(), "args": [mode]})
}

/// A server of the person's, who said nothing of what it may reach.
pub(crate) fn own(entry: &engine::mcp::Entry) -> engine::mcp::Listed {
    let (entry, reach) = (entry.clone(), None);
    engine::mcp::Listed {
        entry,
        from_project: false,
        folder: None,
        from_ui: false,
        approved: true,
        reach,
        compared: None,
    }
}

/// The person said that these servers of theirs may reach nothing beside their caches.
pub(crate) fn let_reach_nothing(dir: &std::path::Path, servers: &Value) {
    let approvals = engine::mcp::Approvals::in_data(&dir.join("data"));
    for entry in engine::mcp::parse(&servers.to_string()).0 {
        approvals.agree(None, &entry.digest, "", Some(&engine::mcp::Reach::default())).unwrap();
    }
}

/// A bench with these servers of the person.
fn bench(servers: Value, script: impl Into<String>) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "settings/mcp.json", &json!({"mcpServers": servers}).to_string());
    std::fs::create_dir(dir.path().join("work")).unwrap();
    at(dir, script)
}

fn at(dir: tempfile::TempDir, script: impl Into<String>) -> Bench {
    let config = Config::default().at(None, Some(dir.path().join("settings")));
    Bench::at(dir, Plan::script(script).config(config))
}

/// The same with its only server ready, however long that takes: the first turn of a run waits but a little.
pub(crate) async fn ready(servers: Value, script: &str) -> Bench {
    let mut bench = bench(servers, format!("model text \"starting\"\n---\n{script}"));
    assert_eq!(bench.run("start").await, TurnEnd::Done);
    until(&mut bench, |state| *state == ServerState::Ready).await;
    bench
}

pub(crate) async fn servers(bench: &mut Bench) -> Vec<ServerEntry> {
    let Ok(Receipt::Servers(servers)) = bench.consult(Command::List(ListCommand::Servers)).await else {
        panic!()
    };
    servers
}

/// Looks until the only server is as wanted.
pub(crate) async fn until(bench: &mut Bench, wanted: impl Fn(&ServerState) -> bool) -> ServerEntry {
    let start = Instant::now();
    loop {
        let entry = servers(bench).await.remove(0);
        if wanted(&entry.state) {
            return entry;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{entry:?}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn tools_of_a_server_are_offered_and_called() {
    let mut bench = ready(
        json!({"echo": child("")}),
        r#"
        model tool mcp__echo__echo {"text":"hello"} | tool mcp__echo__image {} | tool mcp__echo__fail {}
        ---
        model text "ok"
        "#,
    )
    .await;
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    // They only read, so they run side by side and end in any order.
    let outcomes = bench.outcomes();
    let of = |name: &str| {
        outcomes.iter().find(|(tool, ..)| tool == name).map(|(_, outcome, text)| (outcome, text.as_str()))
    };
    assert_eq!(of("mcp__echo__echo"), Some((&ToolOutcome::Done, "hello")), "{outcomes:?}");
    assert_eq!(of("mcp__echo__fail"), Some((&ToolOutcome::Failed, "it does not work")));
    assert_eq!(
        bench.count(|body| matches!(body, Body::Ask(AskEvent::Opened(_)))),
        0,
        "they say that they only read"
    );
    let image = bench.state.tools.values().find(|tool| tool.name.ends_with("image")).unwrap();
    assert_eq!(image.result.as_ref().unwrap().parts.len(), 1);
    let entry = servers(&mut bench).await.remove(0);
    assert_eq!((entry.state, entry.tools, entry.http), (ServerState::Ready, Some(13), false));
    let Ok(Receipt::Tools(tools)) = bench.consult(Command::List(ListCommand::Tools)).await else { panic!() };
    assert_eq!(tools.iter().filter(|tool| tool.source == "mcp:echo").count(), 13);
}

#[tokio::test]
async fn a_tool_that_may_change_something_needs_consent() {
    let mut bench = ready(
        json!({"echo": child("")}),
        r#"
        model tool mcp__echo__put {"text":"a"} | tool mcp__echo__put {"text":"b"} | tool mcp__echo__wipe {}
        ---
        model text "ok"
        "#,
    )
    .await;
    bench.prompt("go").await;
    bench.until(|body| matches!(body, Body::Ask(AskEvent::Opened(_)))).await;
    let ask = bench.state.asks[0].clone();
    let AskKind::Consent(consent) = &ask.kind else { panic!() };
    assert_eq!(consent.assessment.risk, Risk::Medium);
    assert_eq!(consent.rule.as_deref(), Some("use mcp__echo__put"));
    bench.closings = vec![Closing::Unattended];
    bench.close(ask.id, allow(Scope::Session)).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    let outcomes: Vec<ToolOutcome> = bench.outcomes().into_iter().map(|(_, outcome, _)| outcome).collect();
    assert_eq!(outcomes, [ToolOutcome::Done, ToolOutcome::Done, ToolOutcome::Denied]);
}

#[tokio::test]
async fn no_secret_of_ours_reaches_a_server() {
    let mut bench = ready(
        json!({"echo": {"command": echo(), "env": {"GIVEN_TOKEN": "by the person"}}}),
        "model tool mcp__echo__env {}\n---\nmodel text \"ok\"",
    )
    .await;
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let names = bench.outcomes()[0].2.clone();
    let names: Vec<&str> = names.split(' ').collect();
    assert!(names.contains(&"PATH") && names.contains(&"GIVEN_TOKEN"), "{names:?}");
    // Beside them it is told where its own cache is, and nothing else.
    let told = [
        "XDG_",
        "npm_config_",
        "PNPM_",
        "COREPACK_",
        "YARN_",
        "BUN_",
        "DENO_",
        "UV_",
        "PIP",
        "PRE_COMMIT_",
        "GO",
    ];
    let told = [&told[..], &["PYTHONPYCACHEPREFIX", "NUGET_PACKAGES", "DOTNET_CLI_HOME"]].concat();
    let kept = |name: &str| {
        name == "GIVEN_TOKEN"
            || told.iter().any(|start| name.starts_with(start))
            || name.starts_with("GIT_")
            || tools::env::kept(name.as_ref(), std::env::var_os(name).unwrap_or_default().as_ref())
    };
    assert!(names.iter().all(|name| kept(name)), "{names:?}");
}

#[tokio::test]
async fn a_server_that_hangs_does_not_hold_up_the_run() {
    let mut bench = bench(json!({"echo": child("hang")}), "model text \"ok\"");
    let start = Instant::now();
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!(servers(&mut bench).await[0].state, ServerState::Connecting);
}

#[tokio::test]
async fn a_server_that_cannot_start_says_why() {
    let mut bench = bench(json!({"echo": child("die")}), "model text \"ok\"");
    assert_eq!(servers(&mut bench).await[0].state, ServerState::Connecting, "nothing starts before a turn");
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let entry = until(&mut bench, |state| matches!(state, ServerState::Failed(_))).await;
    let ServerState::Failed(why) = entry.state else { panic!() };
    assert!(why.contains("the database is missing"), "{why}");
    assert_eq!(entry.tools, None);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let mut bench = bench(json!({"echo": {"command": "/no/such/program"}}), "model text \"ok\"");
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let entry = until(&mut bench, |state| matches!(state, ServerState::Failed(_))).await;
    let ServerState::Failed(why) = entry.state else { panic!() };
    assert!(why.contains("/no/such/program cannot be started"), "{why}");
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_ends_the_call_not_the_turn() {
    let mut bench =
        ready(json!({"echo": child("")}), "model tool mcp__echo__die {}\n---\nmodel text \"went on\"").await;
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let (_, outcome, text) = bench.outcomes().remove(0);
    assert_eq!(outcome, ToolOutcome::Failed);
    assert!(text.starts_with("The MCP server echo: "), "{text}");
    until(&mut bench, |state| matches!(state, ServerState::Failed(_))).await;
}

#[tokio::test]
async fn noise_before_the_protocol_is_survived() {
    let mut bench = ready(
        json!({"echo": child("noise")}),
        "model tool mcp__echo__echo {\"text\":\"x\"}\n---\nmodel text \"ok\"",
    )
    .await;
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert_eq!(bench.outcomes()[0].1, ToolOutcome::Done, "{:?}", bench.outcomes());
}

#[tokio::test]
async fn a_cancel_reaches_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let told = dir.path().join("told");
    let script = format!("model tool mcp__echo__slow {}\n", json!({"text": told.display().to_string()}));
    let mut bench = ready(json!({"echo": child("")}), &script).await;
    bench.prompt("go").await;
    bench.until(|body| matches!(body, Body::Tool(ToolEvent::Started { .. }))).await;
    says(&told, "started").await;
    bench.cancel().await;
    assert_eq!(bench.finish().await, TurnEnd::Cancelled);
    says(&told, "cancelled").await;
}

/// Looks until a file says something.
async fn says(file: &std::path::Path, what: &str) {
    let start = Instant::now();
    while std::fs::read_to_string(file).unwrap_or_default() != what {
        assert!(start.elapsed() < Duration::from_secs(60), "{what} never came");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_projects_servers_start_only_after_consent() {
    let dir = tempfile::tempdir().unwrap();
    let file = json!({"mcpServers": {"theirs": {"command": echo()}}}).to_string();
    put(dir.path(), "work/.mcp.json", &file);
    let mut bench = at(dir, "model text \"one\"\n---\nmodel text \"two\"\n---\nmodel text \"three\"");
    bench.prompt("one").await;
    let ask = question(&mut bench).await;
    let AskKind::Confirm { message, danger: true, .. } = &ask.kind else { panic!() };
    assert!(message.contains("theirs: runs `"), "{message}");
    // Asked of the run, which waits for it before the model is asked anything.
    assert_eq!(ask.run, bench.state.open_run().map(|run| run.id));
    assert_eq!(bench.count(|body| matches!(body, Body::Run(RunEvent::StepStarted { .. }))), 0);
    bench.close(ask.id, answered(Answer::Confirmed(true))).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    let entry = until(&mut bench, |state| *state == ServerState::Ready).await;
    assert!(entry.from_project);
    // Another entry under the same name is another server.
    let file = json!({"mcpServers": {"theirs": {"command": echo(), "args": ["other"]}}}).to_string();
    bench.put(".mcp.json", &file);
    assert_eq!(servers(&mut bench).await[0].state, ServerState::Disabled);
    bench.closings = vec![Closing::Unattended];
    assert_eq!(bench.run("two").await, TurnEnd::Done);
    assert_eq!(bench.run("three").await, TurnEnd::Done);
    assert_eq!(servers(&mut bench).await[0].state, ServerState::Disabled);
    assert_eq!(
        bench.count(|body| matches!(body, Body::Ask(AskEvent::Opened(_)))),
        2,
        "nobody is asked twice"
    );
    // Told beside the run, whenever that comes.
    bench
        .until_signal(
            |signal| matches!(signal, Signal::Notify { text, .. } if text.contains("parlor mcp approve")),
        )
        .await;
}

#[tokio::test]
async fn a_run_that_waits_for_the_word_on_servers_can_be_stopped() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "work/.mcp.json", &json!({"mcpServers": {"theirs": {"command": echo()}}}).to_string());
    let mut bench = at(dir, "model text \"one\"");
    bench.prompt("one").await;
    question(&mut bench).await;
    bench.cancel().await;
    assert_eq!(bench.finish().await, TurnEnd::Cancelled);
}

#[tokio::test]
async fn a_projects_server_is_not_believed_that_it_only_reads() {
    let dir = tempfile::tempdir().unwrap();
    let file = json!({"mcpServers": {"theirs": child("")}}).to_string();
    put(dir.path(), "work/.mcp.json", &file);
    let script =
        "model text \"one\"\n---\nmodel tool mcp__theirs__echo {\"text\":\"x\"}\n---\nmodel text \"ok\"";
    let mut bench = at(dir, script);
    bench.closings = vec![answered(Answer::Confirmed(true))];
    assert_eq!(bench.run("start").await, TurnEnd::Done);
    until(&mut bench, |state| *state == ServerState::Ready).await;
    bench.closings = vec![Closing::Unattended];
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert_eq!(bench.outcomes()[0].1, ToolOutcome::Denied, "{:?}", bench.outcomes());
}

/// The example server behind a URL, which goes away with the test.
async fn http_server() -> (tokio::process::Child, String) {
    use tokio::io::AsyncBufReadExt as _;
    let mut command = tokio::process::Command::new(echo());
    command.arg("http").stdout(std::process::Stdio::piped()).kill_on_drop(true);
    let mut server = command.spawn().unwrap();
    let mut url = String::new();
    tokio::io::BufReader::new(server.stdout.take().unwrap()).read_line(&mut url).await.unwrap();
    (server, url.trim().to_owned())
}

#[tokio::test]
async fn a_server_behind_a_url_works_the_same() {
    let (_server, url) = http_server().await;
    let mut bench = ready(
        json!({"far": {"type": "http", "url": url, "headers": {"X-Who": "parlor"}}}),
        "model tool mcp__far__echo {\"text\":\"from afar\"}\n---\nmodel text \"ok\"",
    )
    .await;
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert_eq!(bench.outcomes()[0].2, "from afar");
    let entry = servers(&mut bench).await.remove(0);
    assert_eq!((entry.state, entry.http), (ServerState::Ready, true));
}

/// Answers every request with this.
async fn answering(answer: &'static str) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    url
}

#[tokio::test]
async fn a_server_that_wants_a_login_is_shown_as_such() {
    let url = answering(
        "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    );
    let mut bench = bench(json!({"far": {"url": url.await}}), "model text \"ok\"\n---\nmodel text \"ok\"");
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    until(&mut bench, |state| *state == ServerState::AuthRequired).await;
    assert_eq!(bench.run("again").await, TurnEnd::Done);
    let what = |signal: &Signal| match signal {
        Signal::Notify { text, .. } => {
            text.contains("far wants a login") && text.contains("\"Authorization\"")
        }
        _ => false,
    };
    assert_eq!(bench.signals.iter().filter(|signal| what(signal)).count(), 1, "{:?}", bench.signals);
}

/// The open question that no consent is about, once it is there.
pub(crate) async fn question(bench: &mut Bench) -> domain::ask::Ask {
    bench.until(|body| matches!(body, Body::Ask(AskEvent::Opened(_)))).await;
    bench.state.asks.last().unwrap().clone()
}

#[tokio::test]
async fn a_server_asks_the_person_field_by_field() {
    let mut bench =
        ready(json!({"echo": child("")}), "model tool mcp__echo__form {}\n---\nmodel text \"ok\"").await;
    bench.prompt("go").await;
    let name = question(&mut bench).await;
    assert_eq!(name.title, "The MCP server echo asks for name (1 of 3)");
    let AskKind::Text { message, .. } = &name.kind else { panic!() };
    assert_eq!(message, "Who are you?\nYour name");
    bench.close(name.id, answered(Answer::Entered("Ann".into()))).await;
    let size = question(&mut bench).await;
    bench.close(size.id, answered(Answer::Entered("large".into()))).await;
    let again = question(&mut bench).await;
    assert_eq!(again.title, "size (2 of 3): it must be a whole number");
    bench.close(again.id, answered(Answer::Entered("7".into()))).await;
    let sure = question(&mut bench).await;
    bench.close(sure.id, answered(Answer::Confirmed(true))).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    let said: Value = serde_json::from_str(&bench.outcomes()[0].2).unwrap();
    assert_eq!(said["Ok"], json!({"action": "accept", "content": {"name": "Ann", "size": 7, "sure": true}}));
}

#[tokio::test]
async fn a_secret_in_a_form_goes_to_the_server_alone() {
    let script = "model tool mcp__echo__login {}\n---\nmodel text \"ok\"";
    let mut bench = ready(json!({"echo": child("")}), script).await;
    bench.prompt("go").await;
    let asked = question(&mut bench).await;
    assert!(matches!(asked.kind, AskKind::Text { secret: true, .. }), "{asked:?}");
    bench.close(asked.id, answered(Answer::Entered("hunter2".into()))).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    // The server says again what it got.
    let mark = domain::secret::mark(asked.id);
    assert!(bench.outcomes()[0].2.contains(&format!(r#""password":"{mark}""#)), "{:?}", bench.outcomes());
    let told = bench.told().join("\n");
    assert!(told.contains(&mark) && !told.contains("hunter2"), "the model does not read it: {told}");
    assert!(!format!("{:?}", bench.events).contains("hunter2"));
}

#[tokio::test]
async fn a_server_hears_no_and_silence() {
    let script = "model tool mcp__echo__form {}\n---\nmodel tool mcp__echo__form {}\n---\nmodel text \"ok\"";
    let mut bench = ready(json!({"echo": child("")}), script).await;
    bench.closings = vec![answered(Answer::Dismissed), Closing::Unattended];
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let said: Vec<String> = bench.outcomes().into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(said, [r#"{"Ok":{"action":"decline"}}"#, r#"{"Ok":{"action":"cancel"}}"#]);
}

#[tokio::test]
async fn a_cancel_ends_the_question_of_a_server() {
    let mut bench = ready(json!({"echo": child("")}), "model tool mcp__echo__form {}").await;
    bench.prompt("go").await;
    question(&mut bench).await;
    bench.cancel().await;
    assert_eq!(bench.finish().await, TurnEnd::Cancelled);
}

#[tokio::test]
async fn the_progress_of_a_server_is_shown() {
    let mut bench = ready(json!({"echo": child("")}), "model tool mcp__echo__steps {}").await;
    bench.prompt("go").await;
    let half = Progress::Status { percent: Some(50), message: "half way".into() };
    bench
        .until(|body| matches!(body, Body::Tool(ToolEvent::Progress { progress, .. }) if *progress == half))
        .await;
    bench.cancel().await;
    assert_eq!(bench.finish().await, TurnEnd::Cancelled);
    let first = Progress::Status { percent: Some(25), message: "1 of 4".into() };
    assert_eq!(
        bench.count(
            |body| matches!(body, Body::Tool(ToolEvent::Progress { progress, .. }) if *progress == first)
        ),
        1
    );
}

#[tokio::test]
async fn what_is_no_server_is_told_without_our_words() {
    let answer =
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello";
    let url = answering(answer).await;
    let mut bench = bench(json!({"far": {"url": url}}), "model text \"ok\"");
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let entry = until(&mut bench, |state| matches!(state, ServerState::Failed(_))).await;
    let ServerState::Failed(why) = entry.state else { panic!() };
    assert!(!why.contains("rmcp") && why.len() < 200, "{why}");
}

#[tokio::test]
async fn a_guarded_server_writes_only_in_the_workspace_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("work")).unwrap();
    put(dir.path(), "settings/mcp.json", &json!({"mcpServers": {"echo": child("")}}).to_string());
    // Not below temp, where everybody may write; the build may lie there too.
    let outside = tempfile::tempdir_in(std::env::home_dir().unwrap()).unwrap();
    let (inside, outside) = (dir.path().join("work/saved"), outside.path().join("saved"));
    let pipe = dir.path().join("work/pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let script = format!(
        "model tool mcp__echo__save {} | tool mcp__echo__save {} | tool mcp__echo__fork {}\n---\nmodel text \"ok\"",
        json!({"text": inside}),
        json!({"text": outside}),
        json!({"text": pipe}),
    );
    let gone = tokio::task::spawn_blocking(move || std::fs::read(pipe));
    let config = Config::default().at(None, Some(dir.path().join("settings")));
    let plan = Plan::script(format!("model text \"starting\"\n---\n{script}")).config(config);
    let mut bench = Bench::at(dir, plan.guard(tools::sandbox::Guard::new(&echo(), &["__guard"])));
    bench.closings = vec![answered(Answer::Chosen(vec!["write".to_owned()]))];
    assert_eq!(bench.run("start").await, TurnEnd::Done);
    until(&mut bench, |state| *state == ServerState::Ready).await;
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    // They run side by side and end in any order.
    let outcomes = bench.outcomes();
    let of = |name: &str, as_it: &ToolOutcome| {
        outcomes.iter().filter(|(tool, outcome, _)| tool.ends_with(name) && outcome == as_it).count()
    };
    assert_eq!(of("fork", &ToolOutcome::Done), 1, "{outcomes:?}");
    let outside = usize::from(!tools::sandbox::status().files);
    assert_eq!(of("save", &ToolOutcome::Done), 1 + outside, "{outcomes:?}");
    assert_eq!(of("save", &ToolOutcome::Failed), 1 - outside, "{outcomes:?}");
    let _dir = bench.leave();
    // Reading the pipe ends when the last process that holds the other end is gone.
    tokio::time::timeout(Duration::from_secs(60), gone).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_server_can_be_tried() {
    let (entries, _) = engine::mcp::parse(&json!({"mcpServers": {"echo": child("")}}).to_string());
    let dir = tempfile::tempdir().unwrap();
    let (config, here) = (Config::default(), dir.path().to_str().unwrap());
    let work_dir = config.work_dir(here, here);
    let tested = engine::mcp::test(&own(&entries[0]), dir.path(), &work_dir, None).await.unwrap();
    assert_eq!(tested.tools.len(), 13);
    let (entries, _) = engine::mcp::parse(&json!({"mcpServers": {"echo": child("die")}}).to_string());
    let why = engine::mcp::test(&own(&entries[0]), dir.path(), &work_dir, None).await.unwrap_err();
    assert!(why.contains("the database is missing"), "{why}");
}

#[tokio::test]
async fn the_reference_server_works_when_it_is_there() {
    let Some(path) = std::env::var_os("PARLOR_MCP_EVERYTHING") else { return };
    let dir = tempfile::tempdir().unwrap();
    let servers = json!({"all": {"command": "node", "args": [path.to_str().unwrap(), "stdio"]}});
    put(dir.path(), "settings/mcp.json", &json!({"mcpServers": servers}).to_string());
    std::fs::create_dir(dir.path().join("work")).unwrap();
    let mut bench = at(
        dir,
        "model text \"hi\"\n---\nmodel tool mcp__all__echo {\"message\":\"hi there\"}\n---\nmodel text \"ok\"",
    );
    assert_eq!(bench.run("start").await, TurnEnd::Done);
    until(&mut bench, |state| *state == ServerState::Ready).await;
    bench.closings = vec![allow(Scope::Once)];
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let (_, outcome, text) = bench.outcomes().remove(0);
    assert!(outcome == ToolOutcome::Done && text.contains("hi there"), "{outcome:?} {text}");
}

fn given(name: &str, entry: &Value) -> domain::given_server::GivenServer {
    domain::given_server::GivenServer {
        name: name.to_owned(),
        entry: domain::content::Json::verbatim(entry.to_string()),
    }
}

#[tokio::test]
async fn a_server_that_a_ui_brings_is_used_unasked_shown_and_written_down_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let script = "model text \"one\"\n---\nmodel tool mcp__theirs__echo {\"text\":\"hi\"}\nmodel step\nmodel text \"two\"";
    std::fs::create_dir(dir.path().join("work")).unwrap();
    let mut bench = at(dir, script);
    bench.given_servers =
        vec![given("theirs", &json!({"command": echo()})), given("bad name", &json!({"command": "x"}))];
    assert_eq!(bench.run("one").await, TurnEnd::Done);
    assert_eq!(bench.count(|body| matches!(body, Body::Ask(_))), 0, "the person chose it in the UI");
    let entry = until(&mut bench, |state| *state == ServerState::Ready).await;
    assert_eq!((entry.id.as_str(), entry.from_project), ("theirs", false));
    let told = |signal: &Signal| matches!(signal, Signal::Notify { text, .. } if text.contains("bad name"));
    assert_eq!(bench.signals.iter().filter(|signal| told(signal)).count(), 1, "{:?}", bench.signals);
    bench.given_servers.clear();
    assert!(servers(&mut bench).await.is_empty(), "nothing of it is kept");
}

#[tokio::test]
async fn trouble_with_a_server_that_a_ui_brought_is_told_in_words_that_help_there() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("work")).unwrap();
    let mut bench = at(dir, "model text \"one\"\n---\nmodel text \"two\"");
    bench.given_servers = vec![
        given("breaks", &json!({"command": "/bin/sh", "args": ["-c", "echo no such thing >&2; exit 3"]})),
        given("hangs", &json!({"command": "/bin/sh", "args": ["-c", "read line; read line"]})),
    ];
    assert_eq!(bench.run("one").await, TurnEnd::Done);
    let told = |bench: &Bench, word: &str| -> Vec<String> {
        let texts = bench.signals.iter().filter_map(|signal| match signal {
            Signal::Notify { text, .. } if text.contains(word) => Some(text.clone()),
            _ => None,
        });
        texts.collect()
    };
    let broken = told(&bench, "breaks");
    assert!(broken.len() == 1 && broken[0].contains("no such thing"), "{broken:?}");
    assert!(!broken[0].contains("parlor mcp test"), "that knows only what stands in a file: {broken:?}");
    let slow = told(&bench, "hangs");
    assert!(slow.len() == 1 && slow[0].contains("still starting"), "{slow:?}");
    // Once is enough.
    assert_eq!(bench.run("two").await, TurnEnd::Done);
    assert_eq!((told(&bench, "breaks").len(), told(&bench, "hangs").len()), (1, 1));
}
