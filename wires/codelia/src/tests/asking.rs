//! What is typed ahead answers nothing, and a list asks nobody for a secret.

use super::quirks::named;
use super::{may_it_run, ui_greeted};
use crate::READ_WITHIN_MS;
use domain::ask::{Answer, AskKind};
use domain::command::{Command, ListCommand, Receipt, SessionCommand};
use domain::ids::AskId;
use domain::port::Ticket;
use serde_json::{Value, json};
use testkit::bench::{RuntimeBench, UiBench};

/// The terminal UI is asked something dangerous in a run that waits for it.
fn asked_by_a_run() -> (RuntimeBench, AskId) {
    let mut bench = named("codelia-tui");
    bench.begin("do it");
    bench.forget();
    let kind = AskKind::Confirm {
        message: "npx some-server".into(),
        yes: Some("Start them".into()),
        no: Some("Not now".into()),
        danger: true,
    };
    let ask = bench.ask("This project brings MCP servers", kind);
    (bench, ask)
}

#[test]
fn enter_alone_says_no_to_what_is_dangerous() {
    let (mut bench, ask) = asked_by_a_run();
    let sent = bench.sent();
    let said = &sent[0]["params"]["event"];
    assert_eq!(said["type"], "text");
    assert!(said["content"].as_str().unwrap().contains("npx some-server"), "{said}");
    let request = sent.last().unwrap();
    assert_eq!(request["method"], "ui.pick.request");
    let labels: Vec<&str> = request["params"]["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["Not now", "Start them"]);
    bench.say(r#"{"id":"ui_1","result":{"ids":["no"]}}"#);
    assert_eq!(bench.command().2, Command::Answer { ask, answer: Answer::Confirmed(false) });
    // Who says no by the document still gets its question as the document has it.
    let mut bench = named("t");
    bench.begin("do it");
    bench.forget();
    bench.ask("Sure?", AskKind::Confirm { message: "x".into(), yes: None, no: None, danger: true });
    assert_eq!(bench.sent().last().unwrap()["method"], "ui.confirm.request");
}

#[test]
fn a_yes_before_it_can_be_read_is_asked_again_once() {
    let yes = r#""result":{"ids":["yes"]}"#;
    let (mut bench, ask) = asked_by_a_run();
    bench.forget();
    bench.wait(400);
    bench.say(&format!(r#"{{"id":"ui_1",{yes}}}"#));
    assert!(bench.commands().is_empty(), "nobody can have read it");
    let again = bench.sent().pop().unwrap();
    assert_eq!((&again["id"], &again["method"]), (&"ui_2".into(), &"ui.pick.request".into()));
    assert!(again["params"]["title"].as_str().unwrap().contains("Again: "), "{again}");
    // What is said the second time counts, however soon.
    bench.wait(10);
    bench.say(&format!(r#"{{"id":"ui_2",{yes}}}"#));
    assert_eq!(bench.command().2, Command::Answer { ask, answer: Answer::Confirmed(true) });

    // So does a yes that took its time, and a no at once.
    let (mut bench, ask) = asked_by_a_run();
    bench.wait(READ_WITHIN_MS);
    bench.say(&format!(r#"{{"id":"ui_1",{yes}}}"#));
    assert_eq!(bench.command().2, Command::Answer { ask, answer: Answer::Confirmed(true) });
    let (mut bench, ask) = asked_by_a_run();
    bench.say(r#"{"id":"ui_1","result":{"ids":[]}}"#);
    assert_eq!(bench.command().2, Command::Answer { ask, answer: Answer::Confirmed(false) });

    // A consent is no other, and neither is a secret; programs that answer at once are asked once.
    for (name, times) in [("codelia-tui", 2), ("t", 1)] {
        let mut bench = named(name);
        bench.begin("do it");
        let (_, message) = bench.step();
        let tool = bench.propose(message, "bash", "{}");
        may_it_run(&mut bench, tool, None);
        for time in 1..=times {
            assert!(bench.commands().is_empty(), "{name}");
            bench.say(&format!(r#"{{"id":"ui_{time}","result":{{"ok":true}}}}"#));
        }
        assert!(matches!(bench.command().2, Command::Answer { answer: Answer::Allow { .. }, .. }), "{name}");
    }
}

/// The runtime asks for a key, as the existing one does.
const KEY: &str = r#"{"id":"k1","method":"ui.prompt.request","params":{"title":"OpenRouter API key","message":"","secret":true}}"#;

fn list_models(bench: &mut UiBench) -> Ticket {
    bench.command(Command::List(ListCommand::Models { provider: None }))
}

/// The only request that was sent: its id, and the provider whose models it asks for.
fn asked(bench: &mut UiBench) -> (String, Option<String>) {
    let sent = bench.sent();
    let lists: Vec<&Value> = sent.iter().filter(|line| line["method"] == "model.list").collect();
    assert_eq!(lists.len(), 1, "{sent:?}");
    let provider = lists[0]["params"]["provider"].as_str().map(str::to_owned);
    (lists[0]["id"].as_str().unwrap().to_owned(), provider)
}

/// The runtime lists one model of a provider.
fn answer(bench: &mut UiBench, id: &str, provider: &str) {
    let result =
        json!({"provider":provider,"models":[format!("{provider}-1")],"current":format!("{provider}-1")});
    bench.hear(&json!({"id":id,"result":result}).to_string());
}

fn is_settled(bench: &UiBench, ticket: Ticket) -> bool {
    bench.settled.iter().any(|(settled, _)| *settled == ticket)
}

fn listed(bench: &mut UiBench, ticket: Ticket) -> Vec<String> {
    match bench.settlement(ticket) {
        Some(Ok(Receipt::Models { models, .. })) => {
            models.into_iter().map(|entry| entry.model.provider).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// Lists all models in front of a runtime that wants a key for openrouter.
fn list_all(bench: &mut UiBench) -> (Vec<String>, Vec<String>) {
    let ticket = list_models(bench);
    let (id, provider) = asked(bench);
    assert_eq!(provider, None, "the provider that answers comes first");
    answer(bench, &id, "openai");
    let mut tried = Vec::new();
    while !is_settled(bench, ticket) {
        let (id, provider) = asked(bench);
        let provider = provider.expect("a provider by its name");
        if provider == "openrouter" {
            bench.hear(KEY);
            let sent = bench.sent();
            assert_eq!(sent, [json!({"jsonrpc":"2.0","id":"k1","result":{"value":null}})], "no key, at once");
            bench.hear(&json!({"id":id,"error":{"code":-32000,"message":"no key"}}).to_string());
        } else {
            answer(bench, &id, &provider);
        }
        tried.push(provider);
    }
    (listed(bench, ticket), tried)
}

#[test]
fn a_list_of_models_asks_nobody_for_a_key() {
    let mut bench = ui_greeted();
    let (listed, tried) = list_all(&mut bench);
    assert_eq!(bench.state.asks, [], "nobody is asked");
    assert_eq!(listed, ["openai", "anthropic", "moonshot", "zai", "xai"]);
    assert!(tried.contains(&"openrouter".to_owned()));
    let said = format!("{:?}", bench.signals);
    assert!(said.contains("openrouter needs a key"), "{said}");
    // It is not asked for another time.
    let (_, tried) = list_all(&mut bench);
    assert!(!tried.contains(&"openrouter".to_owned()), "{tried:?}");
}

#[test]
fn a_list_of_models_shows_what_came_within_a_second() {
    let mut bench = ui_greeted();
    let ticket = list_models(&mut bench);
    let (id, _) = asked(&mut bench);
    bench.wait(5_000);
    assert!(!is_settled(&bench, ticket), "without the provider that answers there is no list");
    answer(&mut bench, &id, "zai");
    assert_eq!(asked(&mut bench).1.as_deref(), Some("openai"));
    bench.wait(1_000);
    assert_eq!(listed(&mut bench, ticket), ["zai"]);
}

#[test]
fn what_a_runtime_asks_for_something_else_comes_to_the_person() {
    // A model that the person chose may need a key.
    let mut bench = ui_greeted();
    list_models(&mut bench);
    let chosen = SessionCommand::SetModel { provider: Some("openrouter".into()), name: "m".into() };
    bench.command(Command::Session(chosen));
    bench.hear(KEY);
    assert_eq!(bench.state.asks.len(), 1);
    // So may the first steps in a runtime that has none, as long as the person takes them.
    let mut bench = ui_greeted();
    list_models(&mut bench);
    bench.hear(r#"{"id":"p1","method":"ui.pick.request","params":{"title":"Provider","items":[{"id":"a","label":"A"}]}}"#);
    let ask = bench.state.asks[0].id;
    bench.command(Command::Answer { ask, answer: Answer::Chosen(vec!["a".into()]) });
    bench.hear(KEY);
    assert_eq!(bench.state.asks.last().unwrap().title, "OpenRouter API key");
    // A run that waits for an answer gets it.
    let mut bench = super::ui_running();
    list_models(&mut bench);
    bench.hear(KEY);
    assert_eq!(bench.state.asks.len(), 1);
}
