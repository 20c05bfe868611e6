//! We are the client: what an agent offers in words of its own is told as it told it, and set as it wants it set.

use super::{client, told};
use domain::command::{Command, Receipt, RefusalKind};
use domain::content::Json;
use domain::event::Outcome;
use domain::port::menu::{AgentMenu, OptionKind, SET_OPTION};
use domain::signal::Signal;
use roles::Hello;
use serde_json::{Value, json};
use testkit::bench::UiBench;

fn menu(bench: &UiBench) -> AgentMenu {
    bench.role.abilities().map(|can| (*can.menu).clone()).unwrap_or_default()
}

fn set(bench: &mut UiBench, id: &str, value: &str) -> domain::port::Ticket {
    let payload = Json::verbatim(json!({"id": id, "value": value}).to_string());
    bench.command(Command::Extension { name: SET_OPTION.to_owned(), payload })
}

/// Options of every form, as agents send them.
fn options(model: &str, plan: &str, fast: bool) -> Value {
    json!([
        {"type":"select","id":"perm","name":"Permissions","category":"mode","currentValue":plan,"options":[
            {"value":"ask","name":"Ask first","description":"asks about everything"},{"value":"plan","name":"Plan"}]},
        {"type":"select","id":"model","name":"Model","currentValue":model,"options":[
            {"group":"best","name":"Best","options":[{"value":"opus","name":"Opus 5","description":"the large one"}]},
            {"group":"quick","name":"Quick","options":[{"value":"x/haiku","name":"Haiku 5"}]}]},
        {"type":"boolean","id":"fast","name":"Fast mode","description":"costs more","currentValue":fast},
        {"type":"dial","id":"odd","name":"From the future"},
    ])
}

fn telling(model: &str, plan: &str, fast: bool) -> String {
    told(json!({"sessionUpdate":"config_option_update","configOptions":options(model, plan, fast)}))
}

#[test]
fn what_an_agent_announces_is_on_its_menu() {
    let mut bench = client();
    assert_eq!(menu(&bench), AgentMenu::default());
    bench.hear(&told(json!({"sessionUpdate":"available_commands_update","availableCommands":[
        {"name":"review","description":"Review the changes","input":{"hint":"what to look at"}},
        {"name":"/init","description":"Write AGENTS.md"}]})));
    bench.hear(&telling("x/haiku", "ask", true));
    let menu = menu(&bench);
    let names: Vec<_> =
        menu.commands.iter().map(|command| (command.name.as_str(), command.hint.as_deref())).collect();
    assert_eq!(names, [("review", Some("what to look at")), ("init", None)]);
    let shown: Vec<_> =
        menu.options.iter().map(|option| (option.id.as_str(), option.kind, option.shown())).collect();
    assert_eq!(
        shown,
        [
            ("perm", OptionKind::Mode, "Ask first"),
            ("model", OptionKind::Model, "Haiku 5"),
            ("fast", OptionKind::Other, "on")
        ]
    );
    assert_eq!(menu.options[1].choices[0].group.as_deref(), Some("Best"));
    assert_eq!(menu.options[1].choices[0].about.as_deref(), Some("the large one"));
    let mode = Signal::Status { key: "mode".into(), text: Some("Ask first".into()) };
    assert!(bench.signals.contains(&mode), "{:?}", bench.signals);
    // It takes them back.
    bench.hear(&told(json!({"sessionUpdate":"available_commands_update","availableCommands":[]})));
    assert!(bench.role.abilities().is_some_and(|can| can.menu.commands.is_empty()));
}

#[test]
fn an_option_is_set_by_its_value_or_by_its_name() {
    let mut bench = client();
    bench.hear(&telling("opus", "ask", false));
    for (id, value, sent, kind) in [
        ("perm", "plan", json!("plan"), None),
        ("model", "haiku 5", json!("x/haiku"), None),
        ("fast", "on", json!(true), Some("boolean")),
    ] {
        bench.forget();
        let ticket = set(&mut bench, id, value);
        let asked = bench.sent();
        assert_eq!(asked[0]["method"], "session/set_config_option", "{id}");
        assert_eq!((&asked[0]["params"]["configId"], &asked[0]["params"]["value"]), (&json!(id), &sent));
        assert_eq!(asked[0]["params"]["type"].as_str(), kind, "{id}");
        let result = json!({"configOptions": options("x/haiku", "plan", true)});
        bench.hear(&json!({"jsonrpc":"2.0","id":asked[0]["id"],"result":result}).to_string());
        assert_eq!(bench.settlement(ticket), Some(Ok(Receipt::Done)), "{id}");
    }
    assert_eq!(menu(&bench).options[2].shown(), "on");
    bench.forget();
    for (id, value, word) in [
        ("perm", "yolo", "it can be ask, plan"),
        ("none", "x", "it has perm, model, fast"),
        ("odd", "x", "no option"),
    ] {
        let ticket = set(&mut bench, id, value);
        let refusal = bench.settlement(ticket).unwrap().unwrap_err();
        assert!(refusal.kind == RefusalKind::Invalid && refusal.message.contains(word), "{refusal:?}");
    }
    let ticket =
        bench.command(Command::Extension { name: SET_OPTION.to_owned(), payload: Json::verbatim("7") });
    assert_eq!(bench.settlement(ticket).unwrap().unwrap_err().kind, RefusalKind::Invalid);
    assert!(bench.sent().is_empty(), "what is refused is not sent");
}

#[test]
fn modes_that_are_no_options_are_one_of_them_here() {
    let mut bench = client();
    bench.forget();
    bench.command(Command::Library(domain::command::LibraryCommand::New {
        cwd: Some("/else".to_owned()),
        title: None,
        id: None,
    }));
    let id = bench.sent()[0]["id"].clone();
    let modes = json!({"currentModeId":"code","availableModes":[
        {"id":"code","name":"Code"},{"id":"chat","name":"Chat","description":"only talks"}]});
    bench.hear(&json!({"jsonrpc":"2.0","id":id,"result":{"sessionId":"theirs-1","modes":modes}}).to_string());
    let option = menu(&bench).of_kind(OptionKind::Mode).cloned().expect("a mode");
    assert_eq!((option.shown(), option.choices.len()), ("Code", 2));
    bench.forget();
    let ticket = set(&mut bench, &option.id, "Chat");
    let asked = bench.sent();
    assert_eq!(
        (&asked[0]["method"], &asked[0]["params"]["modeId"]),
        (&json!("session/set_mode"), &json!("chat"))
    );
    bench.hear(&json!({"jsonrpc":"2.0","id":asked[0]["id"],"result":{}}).to_string());
    assert_eq!(bench.settlement(ticket), Some(Ok(Receipt::Done)));
    assert_eq!(
        menu(&bench).of_kind(OptionKind::Mode).map(|option| option.shown().to_owned()),
        Some("Chat".into())
    );
}

#[test]
fn a_word_about_the_login_is_no_surprise() {
    let mut bench = client();
    bench.hear(r#"{"jsonrpc":"2.0","method":"_auth/status_update","params":{"loggedIn":true}}"#);
    assert!(bench.link.drifts.is_empty() && bench.link.logs.is_empty(), "{:?}", bench.link.logs);
    let status =
        json!({"authStatus":{"kind":"gateway","label":"Custom model gateway","detail":"loop\u{1b}[2J"}});
    bench.hear(&json!({"jsonrpc":"2.0","method":"_auth/status_update","params":status}).to_string());
    let said = bench.link.logs.join("\n");
    assert!(
        said.starts_with("the agent's login: Custom model gateway (loop") && !said.contains('\u{1b}'),
        "{said}"
    );
}

#[test]
fn an_answer_that_is_cut_before_its_first_word_is_said_to_be_empty() {
    for (word, empty) in [(None, true), (Some("Well"), false)] {
        let mut bench = client();
        bench.prompt("go");
        if let Some(word) = word {
            bench.hear(&told(
                json!({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":word}}),
            ));
        }
        bench.hear(r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"max_tokens"}}"#);
        assert_eq!(bench.outcome(), Some(Outcome::Done));
        assert_eq!(format!("{:?}", bench.events).contains("empty_answer"), empty, "{word:?}");
    }
}

/// Whether it was given up after so long, of which its stderr moved for the first `moving` seconds.
fn given_up(hello: &Hello, moving: u64, seconds: u64) -> bool {
    let mut bench = UiBench::open(super::AcpUi::new(), hello);
    for second in 0..seconds {
        if second < moving {
            bench.role.stirred();
        }
        bench.wait(1_000);
    }
    bench.link.closed.is_some()
}

#[test]
fn a_starting_agent_is_waited_for_while_it_lives() {
    let headless = Hello { cwd: "/w".to_owned(), is_away: true, ..Hello::default() };
    let person = Hello { size: Some((80, 24)), is_away: false, ..headless.clone() };
    assert!(given_up(&headless, 0, 31), "nothing moves and nobody looks");
    assert!(!given_up(&headless, 100, 119), "it fetches itself");
    assert!(given_up(&headless, 100, 200), "it did, and hangs now");
    assert!(!given_up(&person, 0, 600), "the person leaves when it is enough");
}

#[test]
fn a_headless_run_hears_what_an_agent_would_have_asked() {
    let hello = Hello { cwd: "/w".to_owned(), is_away: true, ..Hello::default() };
    let mut bench = UiBench::open(super::AcpUi::new(), &hello);
    let offered = bench.sent()[0]["params"]["clientCapabilities"]["elicitation"].clone();
    assert!(offered["form"].is_object() && offered["url"].is_object(), "{offered}");
}
