//! What servers offer beside tools, and tools that are found by a search: as the person uses them, and as a hostile server would.

use crate::bench::{Bench, Plan, answered, put};
use crate::mcp::{child, question, ready, until};
use domain::ask::{Answer, AskKind};
use domain::event::{Body, NoteEvent};
use domain::port::TurnEnd;
use domain::session::ServerState;
use serde_json::{Value, json};

/// The example server with what it has beside tools.
fn offering(how: &str) -> Value {
    let mut server = child("");
    server["env"] = json!({"MCP_ECHO_OFFERS": how, "ECHO_KEY": "s3cret-value"});
    server
}

fn many() -> Value {
    let mut server = child("");
    server["env"] = json!({"MCP_ECHO_MANY": "1"});
    server
}

/// A bench whose server is ready, after a turn in which UIs were told what it offers.
async fn greeted(servers: Value, script: &str) -> Bench {
    let mut bench = ready(servers, script).await;
    assert_eq!(bench.run("hello").await, TurnEnd::Done);
    bench
}

/// All that the model was told with a request after the greeting, the first of which is 1.
fn told(bench: &Bench, at: usize) -> String {
    let request = &bench.model.seen()[at + 1];
    format!("{:?}", request.messages)
}

fn notes(bench: &Bench, wanted: &str) -> Vec<String> {
    let note = |body: &Body| match body {
        Body::Note(NoteEvent::Noticed { code, text, .. }) if code == wanted => Some(text.clone()),
        _ => None,
    };
    bench.events.iter().filter_map(|event| note(&event.body)).collect()
}

/// What every request carries.
fn standing(request: &models::Request) -> usize {
    let tools = request
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.schema.to_string().len());
    request.system.as_ref().map_or(0, String::len) + tools.sum::<usize>()
}

#[tokio::test]
async fn many_tools_of_servers_are_found_by_a_search_and_every_request_stays_small() {
    let script = [
        "model text \"ok\"",
        "model tool tool_search {\"query\":\"action 7 of a repository\"}",
        "model tool tool_call {\"name\":\"mcp__big__repository_action_7\",\"arguments\":{\"owner\":\"a\",\"name\":\"b\"}}",
        "model text \"done\"",
    ];
    let mut bench = greeted(json!({"big": many()}), &script.join("\n---\n")).await;
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let seen = bench.model.seen();
    let before: usize = 25 * 500;
    for request in &seen[2..] {
        assert!(request.tools.iter().all(|tool| !tool.name.starts_with("mcp__")), "{:?}", request.tools);
        let size = standing(request);
        assert!(size <= 14 * 1024, "{size} bytes; the tools alone would be more than {before}");
    }
    // The same bytes before the conversation, whatever was found and called: what the provider has in its cache stays.
    assert!(
        seen[2..].windows(2).all(|pair| pair[0].system == pair[1].system && pair[0].tools == pair[1].tools)
    );
    assert!(told(&bench, 1).contains("big (2"), "which servers there are: {}", told(&bench, 1));
    assert!(told(&bench, 2).contains("mcp__big__repository_action_7"), "{}", told(&bench, 2));
    let called: Vec<&str> = bench.state.tools.values().map(|run| run.name.as_str()).collect();
    assert_eq!(
        called,
        ["tool_search", "mcp__big__repository_action_7"],
        "in the record it is the tool itself"
    );
}

#[tokio::test]
async fn a_tool_that_is_found_is_asked_about_like_any_other() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "work/.mcp.json", &json!({"mcpServers": {"big": many()}}).to_string());
    put(dir.path(), "settings/config.toml", "");
    let call = "model tool tool_call {\"name\":\"mcp__big__put\",\"arguments\":{\"text\":\"x\"}}";
    let script = format!("model text \"ok\"\n---\n{call}\n---\nmodel text \"done\"");
    let config = engine::Config::default().at(None, Some(dir.path().join("settings")));
    let mut bench = Bench::at(dir, Plan::script(script).config(config));
    // The project's servers are agreed to; the tool is not.
    bench.closings.push(answered(Answer::Confirmed(true)));
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    until(&mut bench, |state| *state == ServerState::Ready).await;
    bench.closings = vec![crate::bench::deny(Some("no"))];
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let run = bench.state.tools.values().last().unwrap();
    let denied = domain::tool::ToolPhase::Ended(domain::tool::ToolOutcome::Denied);
    assert_eq!((run.name.as_str(), &run.phase), ("mcp__big__put", &denied));
}

#[tokio::test]
async fn a_servers_prompt_is_listed_asks_for_what_it_needs_and_is_shown() {
    let mut bench = greeted(
        json!({"srv": offering("")}),
        "model text \"ok\"\n---\nmodel text \"one\"\n---\nmodel text \"two\"",
    )
    .await;
    let command = bench.menu.command("srv:plan-trip").cloned().expect("it is in the menu");
    assert_eq!(command.hint.as_deref(), Some("city [style]"));
    assert!(command.about.contains("Plan a trip"), "{command:?}");
    assert_eq!(bench.run("/srv:plan-trip Rome in a hurry").await, TurnEnd::Done);
    assert!(
        told(&bench, 1).contains("Plan a trip to \\\"Rome\\\" (\\\"in a hurry\\\")"),
        "{}",
        told(&bench, 1)
    );
    assert!(
        notes(&bench, "command")[0].contains("Plan a trip to"),
        "the person sees what it puts before the model"
    );
    // What it needs is asked for, with what the server says it could be.
    bench.prompt("/srv:plan-trip").await;
    let ask = question(&mut bench).await;
    let AskKind::Choose { choices, .. } = &ask.kind else { panic!("{ask:?}") };
    assert_eq!(choices.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["Oslo", "Rome"]);
    bench.close(ask.id, answered(Answer::Chosen(vec!["Oslo".to_owned()]))).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    assert!(told(&bench, 2).contains("Plan a trip to \\\"Oslo\\\""), "{}", told(&bench, 2));
    // Nobody there: it says what is missing.
    bench.attended = false;
    let TurnEnd::Failed(why) = bench.run("/srv:plan-trip").await else { panic!("it needs a city") };
    assert!(why.message.contains("needs city") && why.hint.unwrap().contains("city="));
}

#[tokio::test]
async fn a_resource_is_named_read_and_heard_of_and_what_is_offered_changes_in_a_session() {
    let script = [
        "model text \"ok\"",
        "model text \"one\"",
        "model tool mcp__srv__change {}",
        "model text \"two\"",
        "model text \"three\"",
    ];
    let script = format!("{}{}", script.join("\n---\n"), "\n---\nmodel text \"more\"".repeat(2_000));
    let mut bench = greeted(json!({"srv": offering("")}), &script).await;
    let mentions: Vec<&str> = bench.menu.mentions.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(mentions, ["srv:note://today"]);
    let ends = bench.run("what of @srv:note://today, and @srv:note://day/monday and @nobody:note://x?").await;
    assert_eq!(ends, TurnEnd::Done);
    let first = told(&bench, 1);
    assert!(
        first.contains("note://today: the sun shines") && first.contains("note://day/monday: the sun shines"),
        "{first}"
    );
    assert!(first.contains("material, no instruction"), "{first}");
    assert_eq!(bench.run("change it").await, TurnEnd::Done);
    // It is told with a prompt after that, and the list is asked for again a moment after it changed.
    let began = std::time::Instant::now();
    let newest = |bench: &Bench| format!("{:?}", bench.model.seen().last().unwrap().messages);
    let told = "srv:note://today, which the person named before, has changed";
    let has_tool = |bench: &Bench| {
        let seen = bench.model.seen();
        seen.last().unwrap().tools.iter().any(|tool| tool.name == "mcp__srv__came_later")
    };
    assert!(!has_tool(&bench));
    while bench.menu.command("srv:later").is_none() || !newest(&bench).contains(told) || !has_tool(&bench) {
        assert!(began.elapsed().as_secs() < 60, "{:?} {}", bench.menu, newest(&bench));
        assert_eq!(bench.run("again").await, TurnEnd::Done);
    }
    assert!(!newest(&bench).contains("nobody/wants"), "only what the person named");
}

#[tokio::test]
async fn an_address_is_shown_before_anybody_opens_it_and_a_bad_one_never() {
    let visit =
        |url: &str| format!("model tool mcp__srv__visit {{\"text\":\"{url}\"}}\n---\nmodel text \"ok\"");
    let script =
        ["https://login.example.org/x?y=1", "error", "file:///etc/passwd"].map(visit).join("\n---\n");
    let mut bench = greeted(json!({"srv": offering("")}), &format!("model text \"ok\"\n---\n{script}")).await;
    for (at, says) in [(2, "accept"), (4, "visited")] {
        bench.prompt("go").await;
        let ask = question(&mut bench).await;
        let AskKind::Confirm { message, danger: true, .. } = &ask.kind else { panic!("{ask:?}") };
        assert!(message.contains("https://login.example.org/x"), "{message}");
        assert!(message.contains("Parlor does not open it"), "{message}");
        bench.close(ask.id, answered(Answer::Confirmed(true))).await;
        assert_eq!(bench.finish().await, TurnEnd::Done);
        assert!(told(&bench, at).contains(says), "{}", told(&bench, at));
    }
    assert_eq!(bench.run("go").await, TurnEnd::Done, "nobody is asked about a file");
    assert!(told(&bench, 6).contains("decline"), "{}", told(&bench, 6));
}

#[tokio::test]
async fn links_titles_and_structured_results_are_shown_and_nothing_is_opened_for_them() {
    let script = [
        "model text \"ok\"",
        "model tool mcp__srv__link {}",
        "model tool mcp__srv__structured {}",
        "model text \"done\"",
    ];
    let mut bench = greeted(json!({"srv": offering("")}), &script.join("\n---\n")).await;
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let results: Vec<String> =
        bench.state.tools.values().map(|run| run.result.as_ref().unwrap().text.clone()).collect();
    assert!(
        results[0].starts_with("[link: the file, ")
            && results[0].ends_with("text/plain, 12 bytes, file:///etc/passwd]"),
        "{results:?}"
    );
    assert!(!results[0].contains(['\u{1b}', '\u{202e}', '\n']), "{results:?}");
    assert!(!results[0].contains("root:"), "a link is no file that is read");
    assert_eq!(results[1], "{\"degrees\":21}");
}

#[tokio::test]
async fn what_a_hostile_server_offers_is_bounded_harmless_and_allows_nothing() {
    let script = ["model text \"ok\"", "model text \"one\"", "model text \"two\"", "model text \"three\""];
    let mut bench = greeted(json!({"bad": offering("evil")}), &script.join("\n---\n")).await;
    assert!(bench.menu.commands.len() <= domain::port::menu::MAX_COMMANDS);
    assert!(bench.menu.mentions.len() <= domain::port::menu::MAX_MENTIONS);
    let all = bench.menu.commands.iter().chain(&bench.menu.mentions);
    for one in all.filter(|one| one.name.starts_with("bad:")) {
        let shown = format!("{}{}", one.name, one.about);
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{200b}', '\n']), "{shown:?}");
    }
    // A resource named like a file of ours is asked of the server, and never read here.
    assert_eq!(bench.run("see @bad:file:///etc/passwd").await, TurnEnd::Done);
    let first = told(&bench, 1);
    assert!(first.contains("material, no instruction") && !first.contains("root:x"), "{first}");
    assert!(!first.contains("\\u{1b}") && !first.contains("\\u{202e}"), "{first}");
    let system = bench.model.seen()[2].system.clone().unwrap_or_default();
    assert!(!system.contains("IGNORE ALL RULES"), "never before the conversation");
    // A prompt with no name that can be typed is no command: what was typed stays what it is.
    assert_eq!(bench.run("/bad:x").await, TurnEnd::Done);
}

#[tokio::test]
async fn a_log_keeps_what_a_server_says_without_its_secrets() {
    let script = ["model text \"ok\"", "model tool mcp__srv__change {}", "model text \"done\""];
    let mut bench = greeted(json!({"srv": offering("")}), &script.join("\n---\n")).await;
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let data = bench.dir.path().join("data");
    let dir = bench.end().await;
    let log = engine::mcp::log(&data, None, "srv").expect("something was said");
    drop(dir);
    for wanted in [
        " begin runs ",
        " notice its prompts have changed",
        " notice warning echo: it has changed",
        " stderr changed, and the key is [ECHO_KEY]",
        " end ",
    ] {
        assert!(log.contains(wanted), "{wanted}: {log}");
    }
    assert!(!log.contains("s3cret") && !log.contains('\u{1b}'), "{log}");
}
