//! The page in a window of the desktop shell, over a link in memory.

use super::rooms::{Echo, SESSION, row};
use link::entry::Origin;
use link::{Incoming, Lane, Limits, LinkIo, memory};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tokio::task::JoinSet;
use web::{Role, Server, Window, code};
use wire::lines::Frame;

/// The shell's end of a window.
struct Shell {
    link: LinkIo,
    origin: Arc<Mutex<Origin>>,
    ends: watch::Sender<bool>,
    log: Arc<Mutex<Vec<String>>>,
    _window: JoinSet<()>,
}

impl Shell {
    fn open(rooms: &Arc<Echo>, wants: Value) -> Shell {
        Shell::of(rooms, wants, Origin::Person, None)
    }

    fn of(rooms: &Arc<Echo>, wants: Value, origin: Origin, browsers: Option<Arc<Server<Echo>>>) -> Shell {
        let (ours, theirs) = memory::pair(&[Lane::MAIN], Limits::default());
        let (origin, log) = (Arc::new(Mutex::new(origin)), Arc::<Mutex<Vec<String>>>::default());
        let (seen, lines) = (origin.clone(), log.clone());
        let ends = watch::Sender::new(false);
        let window = Window {
            rooms: rooms.clone(),
            version: "7".to_owned(),
            look: Arc::new(move || *seen.lock().unwrap()),
            log: Arc::new(move |line: &str| lines.lock().unwrap().push(line.to_owned())),
            ends: ends.subscribe(),
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { window.serve(&wants, theirs, browsers.as_deref()).await });
        Shell { link: ours, origin, ends, log, _window: tasks }
    }

    fn say(&self, line: &Value) {
        self.link.outgoing.try_send(Lane::MAIN, line.to_string()).unwrap();
    }

    async fn line(&mut self) -> Option<String> {
        match self.link.incoming.recv().await? {
            Incoming::Frame { frame: Frame::Line(line), .. } => Some(line),
            _ => None,
        }
    }

    async fn next(&mut self) -> Value {
        serde_json::from_str(&self.line().await.unwrap()).unwrap()
    }

    /// How it ended, with nothing after it.
    async fn end(&mut self) -> String {
        loop {
            let line = self.line().await.unwrap();
            if line.starts_with("end ") {
                assert_eq!(self.line().await, None);
                return line;
            }
        }
    }
}

#[tokio::test]
async fn a_window_has_what_a_page_has_after_its_welcome_without_a_device() {
    let rooms = Arc::<Echo>::default();
    let mut shell = Shell::open(&rooms, json!({"session": SESSION}));
    let welcome = shell.next().await;
    assert_eq!(
        welcome["welcome"]["device"],
        json!({"id": "window", "name": "this window", "role": "controller"})
    );
    let line = json!({"anything": "goes\u{2028} on as it is"});
    shell.say(&line);
    assert_eq!(shell.next().await, json!({"echo": line}));
    shell.say(&json!({"leave": true}));
    assert!(shell.end().await.starts_with(&format!("end {} ", code::GONE)));
    // A session that is not there, and what nobody can want.
    for (wants, why) in [
        (json!({"session": "sess-ffffffffffff"}), "no_such_session"),
        (json!({"session": "../x"}), "no_such_session"),
        (json!({"new": {"cwd": "/w"}}), "no_such_session"),
        (json!({"everything": 1}), "unread"),
        (Value::Null, "unread"),
    ] {
        let mut shell = Shell::open(&rooms, wants.clone());
        assert_eq!(shell.next().await["refused"]["code"], json!(why), "{wants}");
        assert!(shell.end().await.starts_with("end 44"));
    }
}

#[tokio::test]
async fn a_window_is_told_the_fleet_and_does_what_its_rows_offer() {
    let rooms = Arc::<Echo>::default();
    rooms.rows(vec![row(1, "one")]);
    let mut shell = Shell::open(&rooms, json!("fleet"));
    assert!(shell.next().await["welcome"].is_object());
    let told = shell.next().await;
    let key = told["rows"]["rows"][0]["key"].clone();
    shell.say(&json!({"act": {"id": 3, "key": key, "what": "stop"}}));
    let said = shell.next().await;
    assert!(said["said"]["words"].as_str().unwrap().starts_with("Stop"), "{said}");
    rooms.rows(vec![row(2, "two")]);
    assert_eq!(shell.next().await["rows"]["gone"], json!([key]));
    shell.ends.send_replace(true);
    assert_eq!(shell.end().await, "end 1001 the server ends");
}

/// Each cell of the door of windows: who is let in is seen here, the others are refused.
#[tokio::test]
async fn nobody_opens_a_window_who_cannot_be_shown_to_be_the_person() {
    let rooms = Arc::<Echo>::default();
    let all = [
        (Origin::Person, true),
        (Origin::Inside(7), false),
        (Origin::Command, false),
        (Origin::OtherUser, false),
        (Origin::LowerLimit, false),
        (Origin::Unseen, false),
        (Origin::Proxy, false),
        (Origin::Gone, false),
        (Origin::NotLookedAt, false),
    ];
    for (origin, let_in) in all {
        let mut shell = Shell::of(&rooms, json!({"session": SESSION}), origin, None);
        let said = shell.next().await;
        assert_eq!(said["welcome"].is_object(), let_in, "{origin:?}: {said}");
        if !let_in {
            assert!(shell.end().await.starts_with(&format!("end {} ", code::DEVICE)), "{origin:?}");
            assert_eq!(shell.log.lock().unwrap().len(), 1);
        }
    }
}

#[tokio::test]
async fn a_window_that_fell_into_the_hands_of_a_command_commands_nothing() {
    let rooms = Arc::<Echo>::default();
    let answer = json!({"command": {"ticket": 7, "what": {"answer": {"ask": 1, "answer": {"allow": {"scope": "once"}}}}}});
    for origin in [Origin::Command, Origin::Gone, Origin::Inside(7), Origin::Unseen] {
        let mut shell = Shell::open(&rooms, json!({"session": SESSION}));
        assert!(shell.next().await["welcome"].is_object());
        shell.say(&answer);
        assert_eq!(shell.next().await["echo"], answer);
        *shell.origin.lock().unwrap() = origin;
        shell.say(&answer);
        assert_eq!(
            shell.end().await,
            format!("end {} this connection is held by a command of an agent", code::DEVICE)
        );
        let mut fleet = Shell::open(&rooms, json!("fleet"));
        rooms.rows(vec![row(1, "one")]);
        assert!(fleet.next().await["welcome"].is_object());
        let key = fleet.next().await["rows"]["rows"][0]["key"].clone();
        *fleet.origin.lock().unwrap() = origin;
        fleet.say(&json!({"act": {"id": 3, "key": key, "what": "stop"}}));
        assert_eq!(fleet.end().await, "end 1000 ");
    }
}

#[tokio::test]
async fn a_window_is_asked_about_browsers_where_the_page_is_served_too() {
    let world = super::rooms::World::start().await;
    let (rooms, server) = world.parts();
    rooms.rows(Vec::new());
    let mut shell = Shell::of(&rooms, json!("fleet"), Origin::Person, Some(server.clone()));
    assert!(shell.next().await["welcome"].is_object());
    assert!(shell.next().await["rows"]["all"] == json!(true));
    let page = server.offer(Role::Observer).unwrap().address;
    let mut browser = super::client::Browser::at(server.address(), &page);
    let (page, _) = browser.candidate().await;
    let asked = shell.next().await;
    assert!(asked["pairing"]["code"].is_string(), "{asked}");
    shell.say(&json!({"pair": {"id": asked["pairing"]["id"], "allow": true}}));
    assert_eq!(browser.enrolled(page).await["enrolled"]["device"]["role"], json!("observer"));
}
