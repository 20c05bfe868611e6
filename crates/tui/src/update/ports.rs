//! The ports at which commands of the session listen: seen, opened on the person's machine, closed again. The runtime leads them out and
//! tells them; here it is only a list.

use super::lists;
use crate::keymap::Action;
use crate::model::{Model, Want};
use crate::msg::Fx;
use crate::picker::{Choice, Item, ListKind};
use domain::command::{Command, PORTS};
use domain::content::Json;
use domain::listening::{self, LISTENING, ListeningPort};
use domain::signal::Level;
use serde_json::{Value, json};

/// Ports listed at most.
const MAX_PORTS: usize = 512;

/// What is said where there is no port.
pub(super) const NOBODY: &str = "no command of this session listens anywhere now";

/// `/ports`, and what stands behind it.
pub(super) fn command(model: &mut Model, argument: &str, fx: &mut Vec<Fx>) {
    let words: Vec<&str> = argument.split_whitespace().collect();
    if let ["allow", port] = words.as_slice()
        && let Ok(port) = port.parse::<u16>()
    {
        return model.send(Want::PortAllowed(port), request(&json!({ "allow": port })), fx);
    }
    let asked = match words.as_slice() {
        [] => Some(json!({})),
        [port] => port.parse::<u16>().ok().map(|port| json!({ "open": port })),
        ["close", port] => port.parse::<u16>().ok().map(|port| json!({ "close": port })),
        _ => None,
    };
    let Some(asked) = asked else {
        return model.toast(
            Level::Info,
            "write it like: /ports, /ports 5173, /ports close 5173, or /ports allow 5432",
        );
    };
    lists::open(model, ListKind::Ports, fx);
    ask(model, &asked, fx);
}

/// The key: opens the newest port, and closes it again. It never means another one, so that what is said of it is true.
pub(super) fn press(model: &mut Model, fx: &mut Vec<Fx>) {
    let Some(ListeningPort { port, open }) = listening(model).last().copied() else {
        return model.toast(Level::Info, NOBODY);
    };
    let what = if open { json!({ "close": port }) } else { json!({ "open": port }) };
    model.send(Want::Port(port, !open), request(&what), fx);
}

/// A key's wish has come true.
pub(super) fn switched(model: &mut Model, port: u16, open: bool) {
    let keymap = model.screen.preferences.keymap();
    let key = |command: &str| keymap.shown_or(Action::OpenPort, &format!("{command} {port}"));
    let word = match open {
        true => {
            format!("http://127.0.0.1:{port} is open on this machine · {} closes it", key("/ports close"))
        }
        false => format!("port {port} is closed again · {} opens it", key("/ports")),
    };
    model.toast(Level::Success, word);
}

/// Commands may reach a port of this machine.
pub(super) fn allowed(model: &mut Model, port: u16) {
    let word = format!("commands of this project may reach port {port} of this machine; /rules revokes it");
    model.toast(Level::Success, word);
}

/// Says which ports are new, and the key that opens the newest.
pub(super) fn told(model: &mut Model, before: &[ListeningPort]) {
    let is_new = |one: &&ListeningPort| !one.open && before.iter().all(|known| known.port != one.port);
    let now = listening(model);
    let fresh: Vec<String> = now.iter().filter(is_new).map(|one| one.port.to_string()).collect();
    let Some((newest, older)) = fresh.split_last() else { return };
    let command = format!("/ports {newest}");
    let opens = match model.screen.preferences.keymap().shown_or(Action::OpenPort, &command) {
        key if key == command => command,
        key => format!("{key} or {command}"),
    };
    let who = match older {
        [] => format!("a command listens on {newest}"),
        _ => format!("commands listen on {} and {newest}", older.join(", ")),
    };
    let word = format!("{who} · {opens} opens it on this machine");
    model.toast(Level::Info, word);
}

/// The ports that the current session's field of the status line names.
pub(super) fn listening(model: &Model) -> Vec<ListeningPort> {
    model.world.seen().board.status.get(LISTENING).map(|text| listening::read(text)).unwrap_or_default()
}

/// Opens a port on this machine, or closes it again; the list as it is then comes as the answer.
pub(super) fn switch(model: &mut Model, port: u16, open: bool, fx: &mut Vec<Fx>) {
    ask(model, &if open { json!({ "close": port }) } else { json!({ "open": port }) }, fx);
}

fn ask(model: &mut Model, what: &Value, fx: &mut Vec<Fx>) {
    model.send(Want::List(ListKind::Ports), request(what), fx);
}

fn request(what: &Value) -> Command {
    Command::Extension { name: PORTS.to_owned(), payload: Json::verbatim(what.to_string()) }
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
        (false, _) => "only commands of this session can reach it".to_owned(),
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
    use domain::ids::SessionId;
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

    fn say(stage: &mut AttachedUi, ports: &[(u16, bool)]) {
        let ports: Vec<ListeningPort> =
            ports.iter().map(|(port, open)| ListeningPort { port: *port, open: *open }).collect();
        let signal = listening::told(&ports);
        stage.ui.hear(News::Signal { session: SessionId::from_number(1), signal });
    }

    #[test]
    fn one_key_opens_the_newest_port_and_then_closes_it() {
        let mut stage = AttachedUi::new(100, 24);
        stage.ui.keys("<alt-p>");
        assert_eq!(stage.commands(), []);
        assert!(stage.ui.screen().contains(NOBODY), "{}", stage.ui.screen());
        say(&mut stage, &[(3000, false), (5173, false)]);
        let screen = stage.ui.screen();
        assert!(
            screen
                .contains("commands listen on 3000 and 5173 · Alt-P or /ports 5173 opens it on this machine"),
            "{screen}"
        );
        stage.ui.keys("a draft<alt-p>");
        assert_eq!(asked(&mut stage), json!({ "open": 5173 }));
        settle(&mut stage, Ok(r#"{"ports": []}"#));
        let screen = stage.ui.screen();
        assert!(
            screen.contains("http://127.0.0.1:5173 is open on this machine · Alt-P closes it"),
            "{screen}"
        );
        say(&mut stage, &[(3000, false), (5173, true)]);
        stage.ui.keys("<f4>");
        assert_eq!(asked(&mut stage), json!({ "close": 5173 }), "as it was said");
        settle(&mut stage, Ok(r#"{"ports": []}"#));
        assert!(stage.ui.screen().contains("port 5173 is closed again"), "{}", stage.ui.screen());
        stage.ui.keys("<alt-p>");
        asked(&mut stage);
        settle(&mut stage, Err(Refusal::new(RefusalKind::NotAllowed, "an observer may only look")));
        let screen = stage.ui.screen();
        assert!(screen.contains("an observer may only look") && screen.contains("a draft"), "{screen}");
        // A port that comes again is told again, one that was told is not.
        stage.ui.wait(60_000);
        say(&mut stage, &[(3000, true), (5173, false)]);
        assert!(!stage.ui.screen().contains("a command listens"), "{}", stage.ui.screen());
        say(&mut stage, &[]);
        say(&mut stage, &[(5173, false)]);
        assert!(
            stage.ui.screen().contains("a command listens on 5173 · Alt-P or /ports 5173 opens it"),
            "{}",
            stage.ui.screen()
        );
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
        assert!(screen.contains("☐ 5173") && screen.contains("only commands of this session"), "{screen}");
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
        stage.ui.keys("<esc>/ports allow 5432<enter>");
        assert_eq!(asked(&mut stage), json!({ "allow": 5432 }));
        settle(&mut stage, Ok(r#"{"ports": []}"#));
        assert!(stage.ui.screen().contains("may reach port 5432 of this machine"), "{}", stage.ui.screen());
        stage.ui.keys("/ports all of them<enter>");
        assert_eq!(stage.commands(), []);
    }
}
