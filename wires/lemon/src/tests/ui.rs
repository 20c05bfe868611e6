//! Our client as a server meets it: what a transcript cannot show of it, and what servers leave out.

use super::{event, ui, ui_open};
use domain::ask::{Answer, AskKind, Preview};
use domain::command::{Command, LibraryCommand, Receipt, RefusalKind};
use domain::content::Role;
use domain::event::Outcome;
use roles::{Reason, TimerKey};
use serde_json::{Value, json};
use testkit::bench::texts;

fn text(text: &str) -> Value {
    json!([{"type":"text","text":text}])
}

#[test]
fn commands_wait_until_the_server_is_ready() {
    let mut ui = ui_open();
    ui.prompt("early");
    assert!(ui.sent().is_empty() && ui.role.abilities().is_none());
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"debug":false,"ui":true}"#);
    assert_eq!(ui.sent(), [json!({"type":"prompt","text":"early"})]);
    let abilities = ui.role.abilities().expect("known");
    assert!(abilities.cancel && abilities.consent && !abilities.sessions);
}

#[test]
fn what_happens_in_another_session_is_not_ours() {
    let mut ui = ui_open();
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"ui":true,"active_session_id":"sess-one","primary_session_id":"sess-one"}"#);
    ui.hear(r#"{"type":"event","session_id":"sess-two","event_seq":0,"event":{"type":"agent_start"}}"#);
    assert!(ui.state.runs.is_empty());
}

#[test]
fn a_question_has_a_deadline_and_one_answer_in_its_own_type() {
    let mut ui = ui();
    let fruit = json!({"title":"Pick","options":[{"label":"Seven","value":7,"description":null}],"opts":{}});
    ui.hear(&json!({"type":"ui_request","id":"u-1","method":"select","params":fruit}).to_string());
    let ask = ui.state.asks.first().cloned().expect("an ask");
    assert_eq!(ask.deadline.map(|at| at.since(ui.now)), Some(30_000));
    let answer = Answer::Chosen(vec!["7".to_owned()]);
    ui.command(Command::Answer { ask: ask.id, answer: answer.clone() });
    assert_eq!(ui.sent(), [json!({"type":"ui_response","id":"u-1","result":7,"error":null})]);
    ui.command(Command::Answer { ask: ask.id, answer });
    assert!(ui.sent().is_empty() && ui.settled[1].1.is_err(), "answered once");
}

#[test]
fn what_the_person_said_is_shown_whether_the_server_repeats_it_or_not() {
    let says = |role: &str, words: &str| json!([{"role":role,"content":text(words)}]);
    for repeats in [true, false] {
        let mut ui = ui();
        ui.prompt("look");
        event(&mut ui, "agent_start", &json!([]));
        if repeats {
            event(&mut ui, "message_end", &says("user", "look"));
        }
        event(&mut ui, "message_start", &says("assistant", "I"));
        event(&mut ui, "message_end", &says("assistant", "I see"));
        event(&mut ui, "agent_end", &json!([[]]));
        assert_eq!(texts(&ui.state, Role::User), ["look"], "repeated: {repeats}");
        assert_eq!(texts(&ui.state, Role::Assistant), ["I see"]);
        assert_eq!(ui.state.runs.len(), 1);
        // A run of somebody else is not of our words.
        event(&mut ui, "agent_start", &json!([]));
        event(&mut ui, "message_end", &says("assistant", "well"));
        event(&mut ui, "agent_end", &json!([[]]));
        assert_eq!(texts(&ui.state, Role::User), ["look"]);
    }
}

#[test]
fn what_the_person_said_stays_when_the_server_dies_before_it_repeats_it() {
    let mut ui = ui();
    ui.prompt("look");
    event(&mut ui, "agent_start", &json!([]));
    ui.gone();
    assert_eq!(texts(&ui.state, Role::User), ["look"]);
    assert_eq!(ui.outcome(), Some(Outcome::Lost));
}

const LATER: &str = r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"ui":true,"primary_session_id":null,"active_session_id":null}"#;

fn question(id: &str, method: &str) -> String {
    json!({"type":"ui_request","id":id,"method":method,"params":{"title":"Sure?","message":"","opts":{}}})
        .to_string()
}

#[test]
fn a_question_before_its_run_has_begun_begins_it() {
    let mut ui = ui();
    let prompt = ui.prompt("ask me");
    ui.hear(&question("u-1", "confirm"));
    assert!(ui.settlement(prompt).is_some_and(|with| with.is_ok()), "the prompt was taken: its agent asks");
    assert_eq!(ui.state.asks.len(), 1);
    event(&mut ui, "agent_start", &json!([]));
    event(&mut ui, "agent_end", &json!([[]]));
    assert_eq!(ui.outcome(), Some(Outcome::Done));
    assert_eq!(ui.state.runs.len(), 1, "and no second run comes of it");
}

#[test]
fn a_prompt_that_a_question_of_somebody_else_seemed_to_take_fails_in_words() {
    let mut ui = ui();
    ui.prompt("mine");
    ui.hear(&question("u-1", "confirm"));
    ui.begin();
    ui.hear(r#"{"type":"error","message":":already_streaming"}"#);
    assert!(
        matches!(ui.outcome(), Some(Outcome::Failed(failure)) if failure.message.contains("already_streaming"))
    );
    ui.hear(r#"{"type":"error","message":"another"}"#);
    assert_eq!(ui.signals.len(), 1, "later errors are told as ever");
}

#[test]
fn a_server_that_never_starts_a_session_is_diagnosed() {
    let mut ui = ui_open();
    let prompt = ui.prompt("hello");
    ui.hear(LATER);
    assert_eq!(ui.sent()[0]["type"], "start_session");
    ui.wait(9_000);
    assert_eq!(ui.link.closed, None);
    ui.wait(2_000);
    let Some(Reason::Unusable(why)) = &ui.link.closed else { panic!("it still waits") };
    assert!(
        why.contains("did not answer start_session within 10 s") && why.contains("Start it again"),
        "{why}"
    );
    let settled = ui.settlement(prompt);
    assert!(
        matches!(settled, Some(Err(refusal)) if refusal.kind == RefusalKind::Lost),
        "the text is given back"
    );
}

#[test]
fn a_session_that_came_in_time_is_not_taken_for_a_mute_one() {
    let mut ui = ui_open();
    ui.hear(LATER);
    ui.hear(r#"{"type":"session_started","session_id":"e6ecb30da6624e45","cwd":"/w","model":{"provider":"p","id":"m"}}"#);
    ui.wait(60_000);
    assert_eq!(ui.link.closed, None);
    assert!(ui.role.abilities().is_some());
}

#[test]
fn a_server_may_say_how_long_a_question_waits() {
    for (opts, wait) in [
        (json!({}), Some(30_000)),
        (json!({"deadline_ms":120_000}), Some(120_000)),
        (json!({"deadline_ms":null}), None),
    ] {
        let mut ui = ui();
        let params = json!({"title":"Sure?","message":"","opts":opts});
        ui.hear(&json!({"type":"ui_request","id":"u-1","method":"confirm","params":params}).to_string());
        let deadline = ui.state.asks.first().expect("an ask").deadline;
        assert_eq!(deadline.map(|at| at.since(ui.now)), wait, "{params}");
    }
}

#[test]
fn who_leaves_says_so() {
    let mut ui = ui();
    ui.call(|role, cx, _| role.leave(cx));
    assert_eq!(ui.lines(), [r#"{"type":"quit"}"#]);
    let mut early = ui_open();
    early.call(|role, cx, _| role.leave(cx));
    assert!(early.lines().is_empty(), "not to one that has not greeted");
}

#[test]
fn what_was_said_and_not_saved_is_saved_before_we_leave() {
    let mut ui = ui();
    ui.prompt("go");
    ui.lines();
    ui.call(|role, cx, _| role.leave(cx));
    assert_eq!(ui.lines(), [r#"{"type":"save"}"#, r#"{"type":"quit"}"#]);
    let mut ui = self::ui();
    ui.prompt("go");
    ui.hear(r#"{"type":"save_result","ok":true,"path":"/s/1.jsonl"}"#);
    ui.lines();
    ui.call(|role, cx, _| role.leave(cx));
    assert_eq!(ui.lines(), [r#"{"type":"quit"}"#], "the person has saved it");
}

#[test]
fn where_the_server_has_forgotten_the_session_a_new_one_begins() {
    for (last, begins) in [(Some("s-1"), true), (None, false)] {
        let session = || Some("s-1".into());
        let hello = roles::Hello {
            cwd: "/w".to_owned(),
            session: session(),
            last_session: last.and_then(|_| session()),
            ..roles::Hello::default()
        };
        let mut ui = ui_open();
        ui.call(|role, cx, _| role.open(cx, &hello));
        ui.hear(&json!({"type":"ready","cwd":"/w","model":{"provider":"f","id":"m"},"primary_session_id":null,"active_session_id":null}).to_string());
        ui.hear(r#"{"type":"sessions_list","sessions":[]}"#);
        ui.hear(r#"{"type":"running_sessions","sessions":[]}"#);
        let asked = ui.lines();
        assert!(asked.iter().any(|line| line.contains("set_active_session")), "{asked:?}");
        ui.hear(r#"{"type":"error","message":"unknown session: s-1"}"#);
        let said = ui.lines();
        let began = said.iter().any(|line| line.contains("start_session") && line.contains("/w"));
        assert_eq!(began, begins, "{said:?}");
    }
}

#[test]
fn the_reasons_of_a_consent_stand_beside_what_it_is_about_and_not_in_it() {
    let mut ui = ui();
    event(&mut ui, "agent_start", &json!([]));
    let hint = json!({"consent":{"tool_call_id":"t","tool_name":"bash","risk":"high","reasons":["it writes"],"reversible":false}});
    let message = "$ touch a\nRisk high: it writes";
    ui.hear(&json!({"type":"ui_request","id":"u","method":"confirm","params":{"title":"Run?","message":message,"opts":hint}}).to_string());
    let ask = ui.state.asks.first().cloned().expect("an ask");
    let AskKind::Consent(consent) = ask.kind else { panic!("a consent") };
    assert_eq!(consent.preview, Some(Preview::Text("$ touch a".to_owned())));
    assert_eq!(consent.assessment.reasons, ["it writes"]);
}

const SAVED: &str = r#"{"type":"sessions_list","sessions":[{"path":"/data/b.jsonl","id":"bbbb5555cccc8888","timestamp":5,"cwd":"/w"},{"path":"/data/a.jsonl","id":"aaaa1111bbbb7777","timestamp":4,"cwd":"/w"}]}"#;
const RUNNING: &str = r#"{"type":"running_sessions","sessions":[{"session_id":"ffff0000aaaa9999","cwd":"/x","is_streaming":true},{"session_id":"aaaa1111bbbb7777","cwd":"/w","is_streaming":false}],"error":null}"#;

/// Our client in front of a server with several sessions, with what it should go to.
fn ui_of_many(wanted: Option<&str>) -> testkit::bench::UiBench {
    let hello = roles::Hello { session: wanted.map(Into::into), ..roles::Hello::default() };
    let mut ui = testkit::bench::UiBench::open(super::super::LemonUi::new(), &hello);
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"ui":true,"primary_session_id":"eeee2222dddd6666","active_session_id":"eeee2222dddd6666"}"#);
    ui
}

/// What goes out for a command, with both lists told.
fn with_lists(ui: &mut testkit::bench::UiBench) -> Vec<Value> {
    assert_eq!(ui.sent(), [json!({"type":"list_sessions"})]);
    ui.hear(SAVED);
    assert_eq!(ui.sent(), [json!({"type":"list_running_sessions"})]);
    ui.hear(RUNNING);
    ui.sent()
}

fn open(id: &str) -> Command {
    Command::Library(LibraryCommand::Open { session: testkit::bench::session(id) })
}

#[test]
fn what_runs_there_is_listed_before_what_is_saved_and_each_once() {
    let list = Command::Library(LibraryCommand::List {
        scope: domain::command::ListScope::All,
        limit: None,
        search: None,
    });
    let mut ui = ui_of_many(None);
    for _ in 0..2 {
        let ticket = ui.command(list.clone());
        assert!(with_lists(&mut ui).is_empty());
        let Some(Ok(Receipt::Sessions(sessions))) = ui.settlement(ticket) else { panic!("no list") };
        let told: Vec<(&str, bool)> = sessions.iter().map(|one| (one.id.as_str(), one.running)).collect();
        assert_eq!(
            told,
            [("ffff0000aaaa9999", true), ("bbbb5555cccc8888", false), ("aaaa1111bbbb7777", false)]
        );
    }
    // A server without the second list, which says so or says nothing.
    for silent in [true, false] {
        let mut ui = ui_of_many(None);
        let ticket = ui.command(list.clone());
        ui.hear(SAVED);
        if silent {
            ui.wait(11_000);
        } else {
            ui.hear(r#"{"type":"error","message":"unknown command"}"#);
        }
        assert!(
            matches!(ui.settlement(ticket), Some(Ok(Receipt::Sessions(sessions))) if sessions.len() == 2)
        );
    }
}

#[test]
fn the_session_that_was_named_is_the_one_that_is_opened_or_there_is_none() {
    for (wanted, command) in [
        ("ffff0000aaaa9999", json!({"type":"set_active_session","session_id":"ffff0000aaaa9999"})),
        ("ffff", json!({"type":"set_active_session","session_id":"ffff0000aaaa9999"})),
        ("bbbb", json!({"type":"start_session","session_file":"/data/b.jsonl"})),
    ] {
        let mut ui = ui_of_many(Some(wanted));
        assert_eq!(with_lists(&mut ui), [command], "{wanted}");
        assert!(ui.role.abilities().is_none(), "it is not there yet");
    }
    let mut ui = ui_of_many(Some("/data/c.jsonl"));
    assert_eq!(ui.sent(), [json!({"type":"start_session","session_file":"/data/c.jsonl"})], "a path is one");
    let mut ui = ui_of_many(Some("eeee2222dddd6666"));
    assert!(ui.sent().is_empty() && ui.role.abilities().is_some(), "it is there already");
    let mut ui = ui_of_many(Some("gone"));
    assert_eq!(with_lists(&mut ui), [json!({"type":"set_active_session","session_id":"gone"})]);
    ui.hear(r#"{"type":"error","message":"session not found","session_id":"gone"}"#);
    let Some(Reason::Unusable(why)) = &ui.link.closed else { panic!("it goes on elsewhere") };
    assert!(why.contains("no session gone") && why.contains("ffff0000aaaa9999"), "{why}");
    let hello = roles::Hello { session: Some("old1".into()), ..roles::Hello::default() };
    let mut ui = testkit::bench::UiBench::open(super::super::LemonUi::new(), &hello);
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"debug":false,"ui":true}"#);
    assert!(matches!(&ui.link.closed, Some(Reason::Unusable(why)) if why.contains("old1")));
}

#[test]
fn the_model_is_told_of_each_session_that_one_goes_to() {
    let mut ui = ui_of_many(None);
    assert!(ui.state.settings.model.is_some());
    let models = |ui: &testkit::bench::UiBench| {
        let chosen = |event: &&domain::event::Event| {
            matches!(
                event.body,
                domain::event::Body::Session(domain::event::SessionEvent::ModelChosen { .. })
            )
        };
        ui.events.iter().filter(chosen).count()
    };
    assert_eq!(models(&ui), 1);
    ui.command(Command::Library(LibraryCommand::New { cwd: None, title: None, id: None }));
    ui.hear(r#"{"type":"session_started","session_id":"dddd3333eeee5555","cwd":"/w","model":{"provider":"p","id":"m"}}"#);
    assert_eq!(models(&ui), 2, "the same model, in another session");
    ui.sent();
    ui.command(open("eeee2222dddd6666"));
    with_lists(&mut ui);
    ui.hear(r#"{"type":"active_session","session_id":"eeee2222dddd6666"}"#);
    assert_eq!(models(&ui), 3, "and again where one comes back");
}

#[test]
fn a_ping_is_answered_by_a_pong() {
    let mut ui = ui();
    let ping = Command::Extension { name: "ping".to_owned(), payload: domain::content::Json::empty() };
    let ticket = ui.command(ping.clone());
    assert_eq!(ui.lines(), [r#"{"type":"ping"}"#]);
    assert!(ui.settlement(ticket).is_none());
    ui.hear(r#"{"type":"pong"}"#);
    assert!(matches!(ui.settlement(ticket), Some(Ok(Receipt::Extension(_)))));
    let ticket = ui.command(ping);
    ui.wait(11_000);
    assert!(matches!(ui.settlement(ticket), Some(Err(refusal)) if refusal.kind == RefusalKind::TimedOut));
}

#[test]
fn names_that_a_server_of_ours_makes_are_read_back() {
    let mut ui = ui_of_many(None);
    let ticket = ui.command(Command::Library(LibraryCommand::New { cwd: None, title: None, id: None }));
    ui.hear(r#"{"type":"session_started","session_id":"3b2a104f0e81","cwd":"/w","model":{"provider":"p","id":"m"}}"#);
    let settled = ui.settlement(ticket);
    assert!(
        matches!(settled, Some(Ok(Receipt::Session { session, .. })) if session.id.as_str() == "sess-18e0f401a2b3")
    );
    assert_eq!(ui.role.session_name().as_deref(), Some("sess-18e0f401a2b3"));
    ui.sent();
    // Nobody's list has it: it is asked for by its name on the wire.
    ui.command(open("sess-18e0f401a2b4"));
    assert_eq!(with_lists(&mut ui), [json!({"type":"set_active_session","session_id":"4b2a104f0e81"})]);
}

#[test]
fn a_server_that_says_nothing_is_asked_once_whether_it_is_there() {
    let mut ui = ui_open();
    let knock = TimerKey(2);
    assert!(ui.link.timers.contains_key(&knock), "{:?}", ui.link.timers);
    ui.fire(knock);
    assert_eq!(ui.sent(), [json!({"type": "ping", "jsonrpc": "2.0", "id": "knock", "method": "ping"})]);
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"debug":false,"ui":true}"#);
    ui.hear(r#"{"type":"pong"}"#);
    assert!(ui.role.abilities().is_some() && ui.link.drifts.is_empty(), "{:?}", ui.link.drifts);
}

#[test]
fn the_greeting_of_another_wire_is_none_and_that_of_a_server_still_counts() {
    let mut ui = ui_open();
    ui.hear(r#"{"type":"ready","timestamp":1730000000000,"version":"1.0.0"}"#);
    assert!(ui.role.abilities().is_none(), "it is not the server that was meant");
    assert!(ui.link.drifts.iter().any(|drift| drift.place == "ready"), "{:?}", ui.link.drifts);
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"debug":false,"ui":true}"#);
    assert!(ui.role.abilities().is_some());
}
