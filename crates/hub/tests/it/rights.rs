//! Who comes by a link may do what its connection may, or less if its hello asks for that, and never more: every command, by every way
//! there is to have a right, through the real hub and over the native wire.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panic")]

use dialects::native::wire::{FromUi, Wanted};
use domain::rights::Standing;
use hub::core::{Engine, Setup};
use hub::{EngineSeat, Guest, Hub};
use link::{AsyncSink, AsyncSource, Limits, Wiring};
use roles::{Greeting, Lane};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::sync::mpsc;

/// Every command there is, and the least that may give it.
const TABLE: &str = include_str!("../../../../wires/native/src/rights.jsonl");
const PIPE: usize = 4 * 1024 * 1024;
/// A command that is settled as soon as it is looked at: what came before it and was refused was refused by then.
const LAST: u64 = 999;

fn hub() -> Hub {
    let (orders, mut ordered) = mpsc::channel(64);
    tokio::spawn(async move { while ordered.recv().await.is_some() {} });
    let store = Box::new(store::MemoryStore::default());
    Hub::start(Setup::new(Engine::Driven, "/w", 1), store, EngineSeat::Driven(orders), Arc::new(|_| {}))
}

/// Somebody on a native link whose connection may do what `standing` says.
struct Ui(Lines<BufReader<DuplexStream>>);

impl Ui {
    fn connect(hub: &Hub, standing: Standing) -> Ui {
        let (role, name) = (dialects::native::DIALECT.runtime_role(), "native".to_owned());
        let guest = Guest { role, name, standing, greeting: Greeting::default(), start: None, stays: false };
        let (ours, theirs) = tokio::io::duplex(PIPE);
        let (read, write) = tokio::io::split(ours);
        let link = Wiring::new(Limits::default()).lane(Lane::MAIN, AsyncSource::new(read), AsyncSink(write));
        let (serving, link) = (hub.clone(), link.start());
        tokio::spawn(async move { serving.serve(guest, link).await });
        Ui(BufReader::new(theirs).lines())
    }

    async fn say(&mut self, line: &Value) {
        let line = format!("{line}\n");
        self.0.get_mut().get_mut().write_all(line.as_bytes()).await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        serde_json::from_str(&self.0.next_line().await.unwrap().expect("the hub is there")).unwrap()
    }

    /// Says hello; gives what it is told that it may do.
    async fn greet(&mut self, revision: u32, rights: Option<&str>) -> Value {
        let mut hello = json!({"protocol": 1, "revision": revision, "capabilities": ["answers"]});
        if let Some(rights) = rights {
            hello["rights"] = rights.into();
        }
        self.say(&json!({ "hello": hello })).await;
        self.hear().await["hello"]["rights"].clone()
    }

    /// Gives every command of the table: those are refused that somebody with this right may not give, and for that reason.
    async fn try_all(&mut self, held_to: Standing) {
        let rows: Vec<Value> = TABLE.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
        for (row, ticket) in rows.iter().zip(1_u64..) {
            self.say(&json!({"command": {"ticket": ticket, "what": row["what"]}})).await;
        }
        self.say(
            &json!({"command": {"ticket": LAST, "what": {"answer": {"ask": 77, "answer": "dismissed"}}}}),
        )
        .await;
        let mut settled = BTreeMap::new();
        while !settled.contains_key(&LAST) {
            let line = self.hear().await;
            if let Some(ticket) = line["settled"]["ticket"].as_u64() {
                settled.insert(ticket, line["settled"]["with"].clone());
            }
        }
        for (row, ticket) in rows.iter().zip(1_u64..) {
            let line = json!({"command": {"ticket": ticket, "what": row["what"]}}).to_string();
            let Ok(FromUi::Command(Wanted { what, ticket, .. })) = serde_json::from_str(&line) else {
                panic!("{line}");
            };
            let least = Standing::named(row["least"].as_str().unwrap()).unwrap();
            let may = least.lowered_to(held_to) == least;
            assert_eq!(held_to.may(&what).is_ok(), may, "{held_to}: {line}");
            let refusal = settled.get(&ticket.0).map(|with| with["refusal"].clone()).unwrap_or_default();
            let by_right = held_to.may(&what).err().is_some_and(|why| refusal["message"] == why.message);
            assert_eq!(by_right && refusal["kind"] == "not_allowed", !may, "{held_to}: {line}: {refusal}");
        }
    }
}

#[tokio::test]
async fn every_command_is_for_those_who_have_the_right_and_keep_it() {
    for has in Standing::ALL {
        for asked in [None, Some("controller"), Some("approver"), Some("observer")] {
            let hub = hub();
            let mut ui = Ui::connect(&hub, has);
            let told = ui.greet(2, asked).await;
            let given = has.lowered_to(asked.and_then(Standing::named).unwrap_or_default());
            // Who asked for nothing and may do everything is told nothing.
            let expected = if asked.is_none() && has == Standing::Controller {
                Value::Null
            } else {
                json!(given.name())
            };
            assert_eq!(told, expected, "{has} that asks for {asked:?}");
            ui.try_all(given).await;
        }
    }
}

#[tokio::test]
async fn a_second_hello_changes_nothing() {
    let hub = hub();
    let mut ui = Ui::connect(&hub, Standing::Controller);
    ui.greet(2, Some("observer")).await;
    ui.say(&json!({"hello": {"protocol": 1, "revision": 2, "rights": "controller"}})).await;
    assert_eq!(ui.hear().await["error"]["message"], "hello was said already");
    ui.try_all(Standing::Observer).await;
}

#[tokio::test]
async fn the_list_of_uis_tells_what_each_may_do_and_nothing_of_whom_nobody_knows() {
    let hub = hub();
    let mut first = Ui::connect(&hub, Standing::Controller);
    first.greet(2, None).await;
    first.say(&json!({"command": {"ticket": 1, "what": {"new_session": {}}}})).await;
    let session = loop {
        if let Some(session) = first.hear().await["attached"]["at"]["session"].as_str() {
            break session.to_owned();
        }
    };
    let open = json!({"command": {"ticket": 1, "what": {"open_session": {"session": session}}}});
    let mut others = Vec::new();
    // One of before may be held to less by whoever carries its lines.
    for (revision, rights) in [(2, Some("observer")), (2, Some("approver")), (1, None), (1, Some("observer"))]
    {
        let mut ui = Ui::connect(&hub, Standing::Controller);
        ui.greet(revision, rights).await;
        ui.say(&open).await;
        while ui.hear().await["attached"].is_null() {}
        others.push(ui);
    }
    let present = hub.present().await.unwrap();
    let told: Vec<_> = present[0].uis.iter().map(|ui| ui.standing.map(Standing::name)).collect();
    assert_eq!(told, [Some("controller"), Some("observer"), Some("approver"), None, Some("observer")]);
}
