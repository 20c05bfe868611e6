//! The ports at which commands of the session listen: seen, opened on the person's machine, closed again. The runtime leads them out and
//! tells them; here it is only a list.

use super::lists;
use crate::model::{Model, Want};
use crate::msg::Fx;
use crate::picker::{Choice, Item, ListKind};
use domain::command::{Command, PORTS};
use domain::content::Json;
use domain::signal::Level;
use serde_json::{Value, json};

/// Ports listed at most.
const MAX_PORTS: usize = 512;

/// `/ports`, and what stands behind it.
pub(super) fn command(model: &mut Model, argument: &str, fx: &mut Vec<Fx>) {
    let words: Vec<&str> = argument.split_whitespace().collect();
    let asked = match words.as_slice() {
        [] => Some(json!({})),
        [port] => port.parse::<u16>().ok().map(|port| json!({ "open": port })),
        ["close", port] => port.parse::<u16>().ok().map(|port| json!({ "close": port })),
        _ => None,
    };
    let Some(asked) = asked else {
        return model.toast(Level::Info, "write it like: /ports, /ports 5173, or /ports close 5173");
    };
    lists::open(model, ListKind::Ports, fx);
    ask(model, &asked, fx);
}

/// Opens a port on this machine, or closes it again; the list as it is then comes as the answer.
pub(super) fn switch(model: &mut Model, port: u16, open: bool, fx: &mut Vec<Fx>) {
    ask(model, &if open { json!({ "close": port }) } else { json!({ "open": port }) }, fx);
}

fn ask(model: &mut Model, what: &Value, fx: &mut Vec<Fx>) {
    let command = Command::Extension { name: PORTS.to_owned(), payload: Json::verbatim(what.to_string()) };
    model.send(Want::List(ListKind::Ports), command, fx);
}

/// The lines of the list.
pub(super) fn items(told: &Json) -> Vec<Item> {
    let told: Value = serde_json::from_str(told.as_str()).unwrap_or_default();
    let lines = told["ports"].as_array().cloned().unwrap_or_default();
    lines.iter().take(MAX_PORTS).filter_map(item).collect()
}

fn item(line: &Value) -> Option<Item> {
    let port = line["port"].as_u64().and_then(|port| u16::try_from(port).ok())?;
    let open = line["open"] == true;
    let detail = match (open, line["listens"] != false) {
        (true, true) => format!("open on this machine: http://127.0.0.1:{port}"),
        (true, false) => "open on this machine; nothing listens there now".to_owned(),
        (false, _) => "commands of this session reach it, nobody else does".to_owned(),
    };
    let sign = if open { "☑ " } else { "☐ " };
    let choice = Choice::Port(port, open);
    Some(Item { cells: Vec::new(), more: String::new(), label: port.to_string(), detail, choice, sign })
}

#[cfg(test)]
mod tests {
    use super::super::tests::AttachedUi;
    use super::*;
    use domain::command::{Receipt, Refusal, RefusalKind};
    use domain::port::News;

    fn settle(stage: &mut AttachedUi, with: Result<&str, Refusal>) {
        let ticket = stage.ui.model.screen.tickets.last();
        let with = with.map(|told| Receipt::Extension(Json::verbatim(told)));
        stage.ui.hear(News::Settled { ticket, with });
    }

    fn asked(stage: &mut AttachedUi) -> Value {
        let commands = stage.commands();
        let [Command::Extension { name, payload }] = &commands[..] else { panic!("{commands:?}") };
        assert_eq!(name, PORTS);
        serde_json::from_str(payload.as_str()).unwrap()
    }

    #[test]
    fn ports_are_listed_opened_and_closed_by_one_key_or_by_their_number() {
        let mut stage = AttachedUi::new(100, 24);
        stage.ui.keys("/ports<enter>");
        assert_eq!(asked(&mut stage), json!({}));
        settle(
            &mut stage,
            Ok(r#"{"ports": [{"port": 5173, "open": false, "listens": true}, {"port": 99999}]}"#),
        );
        let screen = stage.ui.screen();
        assert!(screen.contains("☐ 5173") && screen.contains("nobody else does"), "{screen}");
        assert!(!screen.contains("99999"), "{screen}");
        stage.ui.keys("<enter>");
        assert_eq!(asked(&mut stage), json!({ "open": 5173 }));
        settle(&mut stage, Ok(r#"{"ports": [{"port": 5173, "open": true, "listens": true}]}"#));
        assert!(stage.ui.screen().contains("http://127.0.0.1:5173"), "{}", stage.ui.screen());
        stage.ui.keys("<enter>");
        assert_eq!(asked(&mut stage), json!({ "close": 5173 }));
        stage.ui.keys("<esc>/ports 8080<enter>");
        assert_eq!(asked(&mut stage), json!({ "open": 8080 }));
        settle(&mut stage, Err(Refusal::new(RefusalKind::Invalid, "port 8080 of this machine is taken")));
        assert!(stage.ui.screen().contains("8080 of this machine is taken"), "{}", stage.ui.screen());
        stage.ui.keys("<esc>/ports close 8080<enter>");
        assert_eq!(asked(&mut stage), json!({ "close": 8080 }));
        for told in ["", "null", "[]", r#"{"ports": 7}"#] {
            settle(&mut stage, Ok(told));
            assert!(stage.ui.screen().contains("no command of this session listens"), "{told}");
            stage.ui.keys("<esc>/ports<enter>");
            stage.commands();
        }
        stage.ui.keys("<esc>/ports all of them<enter>");
        assert_eq!(stage.commands(), []);
    }
}
