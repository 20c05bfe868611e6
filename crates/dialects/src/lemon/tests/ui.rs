//! Our client as a server meets it: the handshake, commands and what settles them, questions, what servers leave out.

use super::stage::Ui;
use domain::ask::{Answer, AskKind};
use domain::command::{
    Command, LibraryCommand, ListCommand, Receipt, RefusalKind, RunCommand, SessionCommand,
};
use domain::content::Input;
use domain::event::Outcome;
use domain::ids::SessionId;
use domain::port::Ticket;
use domain::signal::{Level, Place, Signal};
use domain::tool::{ToolOutcome, ToolPhase};
use roles::{TimerKey, UiRole};
use serde_json::{Value, json};

fn prompt(text: &str) -> Command {
    Command::Run(RunCommand::Prompt { input: Input::text(text), options: Default::default() })
}

fn user(text: &str) -> Value {
    json!([{"role":"user","content":text,"timestamp":1}])
}

fn assistant(content: &Value, stop: Option<&str>) -> Value {
    json!([{"role":"assistant","content":content,"stop_reason":stop,"timestamp":2,
        "usage":{"input":10,"output":5,"cache_read":2,"cache_write":0,"cost":{"total":0.003}}}])
}

fn text(text: &str) -> Value {
    json!([{"type":"text","text":text}])
}

#[test]
fn a_server_of_the_first_kind() {
    let mut ui = Ui::open();
    ui.want(1, prompt("early"));
    assert!(ui.said().is_empty() && ui.role.abilities().is_none());
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"debug":false,"ui":true}"#);
    assert_eq!(ui.said(), [json!({"type":"prompt","text":"early"})]);
    let abilities = ui.role.abilities().expect("known");
    assert!(abilities.cancel && abilities.consent && !abilities.sessions);
    ui.want(2, Command::List(ListCommand::Models { provider: None }));
    assert_eq!(ui.settled.pop().map(|(_, with)| with.unwrap_err().kind), Some(RefusalKind::Unsupported));
}

#[test]
fn a_server_without_a_session_is_asked_for_one() {
    let mut ui = Ui::open();
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"debug":false,"ui":true,"primary_session_id":null,"active_session_id":null}"#);
    assert_eq!(ui.said(), [json!({"type":"start_session","cwd":super::stage::CWD})]);
    assert!(ui.role.abilities().is_none());
    ui.hear(r#"{"type":"active_session","session_id":"e6ecb30da6624e45"}"#);
    ui.hear(r#"{"type":"session_started","session_id":"e6ecb30da6624e45","cwd":"/w","model":{"provider":"p","id":"m"}}"#);
    assert_eq!(ui.said(), [json!({"type":"set_active_session","session_id":"e6ecb30da6624e45"})]);
    ui.want(1, prompt("hi"));
    assert_eq!(ui.said(), [json!({"type":"prompt","text":"hi","session_id":"e6ecb30da6624e45"})]);
    ui.hear(
        r#"{"type":"event","session_id":"another0another0","event_seq":0,"event":{"type":"agent_start"}}"#,
    );
    assert!(ui.state.runs.is_empty(), "of a session in the background");
    ui.hear(
        r#"{"type":"event","session_id":"e6ecb30da6624e45","event_seq":0,"event":{"type":"agent_start"}}"#,
    );
    assert_eq!(ui.settled, [(Ticket(1), Ok(Receipt::Done))]);
}

#[test]
fn a_server_that_never_says_ready_is_given_up() {
    let mut ui = Ui::open();
    ui.hear("warning: redefining module");
    ui.timer(TimerKey(1));
    assert!(ui.closes());
}

#[test]
fn a_run_with_a_tool() {
    let mut ui = Ui::up();
    ui.want(1, prompt("look"));
    ui.event("agent_start", &json!([]));
    ui.event("turn_start", &json!([]));
    ui.event("message_start", &user("look"));
    ui.event("message_end", &user("look"));
    ui.event("message_start", &assistant(&json!([]), None));
    let call = json!([{"type":"thinking","thinking":"hm"},{"type":"text","text":"Let me"},
        {"type":"tool_call","id":"call_1","name":"read","arguments":{"path":"a"}}]);
    ui.event("message_update", &assistant(&json!([{"type":"thinking","thinking":"h"}]), None));
    ui.event("message_update", &assistant(&call, None));
    ui.event("message_end", &assistant(&call, Some("tool_use")));
    ui.event("tool_execution_start", &json!(["call_1","read",{"path":"a"}]));
    ui.event(
        "tool_execution_update",
        &json!(["call_1","read",{"path":"a"},{"content":[{"type":"text","text":"al"}],"details":null}]),
    );
    ui.event(
        "tool_execution_end",
        &json!(["call_1","read",{"content":[{"type":"text","text":"alpha"}],"details":{"lines":1}},false]),
    );
    let result = json!({"role":"tool_result","tool_call_id":"call_1","tool_name":"read","content":text("alpha"),"is_error":false,"timestamp":3});
    ui.event("message_start", &json!([result]));
    ui.event("message_end", &json!([result]));
    let message = assistant(&call, Some("tool_use"))[0].clone();
    ui.event("turn_end", &json!([message, [result]]));
    ui.event("turn_start", &json!([]));
    ui.event("message_start", &assistant(&json!([]), None));
    ui.event("message_end", &assistant(&text("Done."), Some("stop")));
    ui.event("turn_end", &json!([assistant(&text("Done."), Some("stop"))[0], []]));
    ui.event("agent_end", &json!([[]]));
    assert_eq!(ui.outcome(), Some(Outcome::Done));
    assert_eq!(ui.state.runs[0].turns.len(), 1);
    assert_eq!(ui.state.runs[0].turns[0].steps.len(), 2);
    assert_eq!(ui.state.tools.len(), 1, "said twice, told once");
    let tool = ui.state.tools.values().next().expect("a tool");
    assert_eq!(tool.phase, ToolPhase::Ended(ToolOutcome::Done));
    assert_eq!(tool.args.as_str(), r#"{"path":"a"}"#);
    assert_eq!(tool.result.as_ref().map(|result| result.text.as_str()), Some("alpha"));
    assert_eq!(ui.last_text(), "Done.");
    assert_eq!((ui.state.usage.input, ui.state.usage.cache_read, ui.state.usage.cost_micros), (24, 4, 6_000));
    assert!(ui.drifts.is_empty(), "{:?}", ui.drifts);
}

#[test]
fn a_tool_whose_end_never_came_ends_with_its_message() {
    let mut ui = Ui::up();
    ui.event("agent_start", &json!([]));
    ui.event("tool_execution_start", &json!(["call_1", "read", {}]));
    ui.event("message_end", &json!([{"role":"tool_result","tool_call_id":"call_1","tool_name":"read","content":text("no"),"is_error":true}]));
    let tool = ui.state.tools.values().next().expect("a tool");
    assert_eq!(tool.phase, ToolPhase::Ended(ToolOutcome::Failed));
}

#[test]
fn commands_and_what_settles_them() {
    let mut ui = Ui::open();
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"ui":true,"active_session_id":"sess-one","primary_session_id":"sess-one"}"#);
    ui.want(1, Command::Session(SessionCommand::Stats));
    ui.hear(r#"{"type":"stats","stats":{"message_count":4,"turn_count":2}}"#);
    ui.want(2, Command::Library(LibraryCommand::Save { path: None, history: true }));
    ui.hear(r#"{"type":"save_result","ok":true,"path":"/s","session_id":"sess-one"}"#);
    ui.want(3, Command::List(ListCommand::Models { provider: None }));
    ui.hear(r#"{"type":"models_list","providers":[{"id":"p","models":[{"id":"m","name":"M"}]}]}"#);
    ui.want(
        4,
        Command::Library(LibraryCommand::List { scope: Default::default(), limit: None, search: None }),
    );
    ui.hear(r#"{"type":"sessions_list","sessions":[{"path":"/d/e6ecb30da6624e45.jsonl","id":"e6ecb30da6624e45","timestamp":7,"cwd":"/w"}]}"#);
    ui.want(5, Command::Session(SessionCommand::Clear));
    ui.want(6, Command::Run(RunCommand::Cancel { run: None, reason: None }));
    ui.want(7, Command::Run(RunCommand::Compact { instruction: None }));
    ui.want(8, prompt("again"));
    ui.hear(r#"{"type":"error","message":":already_streaming","session_id":"sess-one"}"#);
    ui.want(
        9,
        Command::Library(LibraryCommand::Open {
            session: SessionId::parse("e6ecb30da6624e45").expect("an id"),
        }),
    );
    ui.hear(r#"{"type":"session_started","session_id":"e6ecb30da6624e45","cwd":"/w","model":{"provider":"p","id":"m"}}"#);
    let kinds: Vec<Value> = ui.said().iter().map(|line| line["type"].clone()).collect();
    assert_eq!(
        kinds,
        [
            "stats",
            "save",
            "list_models",
            "list_sessions",
            "reset",
            "prompt",
            "start_session",
            "set_active_session"
        ]
    );
    let how: Vec<String> = ui
        .settled
        .iter()
        .map(|(ticket, with)| {
            let word = match with {
                Ok(receipt) => {
                    format!("{receipt:?}").split([' ', '(', '{']).next().unwrap_or_default().to_owned()
                }
                Err(refusal) => format!("{:?}", refusal.kind),
            };
            format!("{} {word}", ticket.0)
        })
        .collect();
    assert_eq!(
        how,
        [
            "1 Stats",
            "2 Saved",
            "3 Models",
            "4 Sessions",
            "5 Leaf",
            "6 NoRun",
            "7 Unsupported",
            "8 Busy",
            "9 Session"
        ]
    );
    assert_eq!(ui.timers().len(), 7, "one for the handshake and one for each that waited");
}

#[test]
fn what_is_never_answered_is_settled_by_time() {
    let mut ui = Ui::up();
    ui.want(1, Command::Library(LibraryCommand::Save { path: None, history: true }));
    ui.want(2, Command::Session(SessionCommand::Stats));
    let keys: Vec<TimerKey> = ui.timers().into_iter().skip(1).collect();
    for key in keys {
        ui.timer(key);
    }
    assert_eq!(ui.settled[0], (Ticket(1), Ok(Receipt::Done)));
    assert_eq!(ui.settled[1].1.as_ref().map_err(|refusal| refusal.kind.clone()), Err(RefusalKind::TimedOut));
    ui.want(3, prompt("x"));
    ui.closed();
    assert_eq!(ui.settled[2].1.as_ref().map_err(|refusal| refusal.kind.clone()), Err(RefusalKind::Lost));
}

#[test]
fn an_abort_is_sent_and_its_end_taken() {
    let mut ui = Ui::up();
    ui.event("agent_start", &json!([]));
    ui.want(1, Command::Run(RunCommand::Cancel { run: None, reason: None }));
    assert_eq!(ui.said(), [json!({"type":"abort"})]);
    assert!(matches!(ui.settled[0].1, Ok(Receipt::Cancelling { .. })));
    ui.event("canceled", &json!(["assistant_aborted"]));
    ui.event("agent_end", &json!([[]]));
    assert_eq!((ui.outcome(), ui.state.runs.len()), (Some(Outcome::Cancelled), 1));
}

#[test]
fn questions_and_their_answers() {
    let fruit = json!({"title":"Pick","options":[{"label":"Apple","value":"apple","description":"red"},{"label":"Seven","value":7,"description":null}],"opts":{}});
    for (method, params, answer, result) in [
        ("select", &fruit, Answer::Chosen(vec!["apple".to_owned()]), json!("apple")),
        ("select", &fruit, Answer::Chosen(vec!["7".to_owned()]), json!(7)),
        ("select", &fruit, Answer::Dismissed, Value::Null),
        ("confirm", &json!({"title":"t","message":"m","opts":{}}), Answer::Confirmed(true), json!(true)),
        ("confirm", &json!({"title":"t","message":"m","opts":{}}), Answer::Confirmed(false), json!(false)),
        ("confirm", &json!({"title":"t","message":"m","opts":{}}), Answer::Dismissed, json!(false)),
        (
            "input",
            &json!({"title":"t","placeholder":null,"opts":{}}),
            Answer::Entered("x".to_owned()),
            json!("x"),
        ),
        ("input", &json!({"title":"t","placeholder":"p","opts":{}}), Answer::Dismissed, Value::Null),
        (
            "editor",
            &json!({"title":"t","prefill":"a\nb","opts":{}}),
            Answer::Entered("c".to_owned()),
            json!("c"),
        ),
        ("editor", &json!({"title":"t","prefill":null,"opts":{}}), Answer::Dismissed, Value::Null),
    ] {
        let mut ui = Ui::up();
        ui.hear(&json!({"type":"ui_request","id":"u-1","method":method,"params":params}).to_string());
        let ask = ui.state.asks.first().cloned().expect("an ask");
        assert!(ask.kind.accepts(&answer), "{method}");
        assert_eq!(ask.deadline.map(|at| at.0), Some(31_000));
        ui.want(1, Command::Answer { ask: ask.id, answer: answer.clone() });
        assert_eq!(
            ui.said(),
            [json!({"type":"ui_response","id":"u-1","result":result,"error":null})],
            "{method} {answer:?}"
        );
        ui.want(2, Command::Answer { ask: ask.id, answer });
        assert!(ui.said().is_empty() && ui.settled[1].1.is_err(), "answered once");
    }
}

#[test]
fn a_question_that_we_cannot_put_is_answered_as_such() {
    let mut ui = Ui::up();
    ui.hear(r#"{"type":"ui_request","id":"u-1","method":"paint","params":{}}"#);
    assert!(ui.state.asks.is_empty());
    assert_eq!(ui.said()[0]["error"], "this UI cannot ask paint");
}

#[test]
fn signals_in_all_their_spellings() {
    let mut ui = Ui::up();
    for line in [
        r#"{"type":"ui_notify","params":{"message":"a","notify_type":"warn"}}"#,
        r#"{"type":"ui_notify","params":{"message":"b","type":"warning"}}"#,
        r#"{"type":"ui_status","params":{"key":"k","text":null}}"#,
        r#"{"type":"ui_widget","params":{"key":"w","content":["x","y"],"opts":{"position":"above"}}}"#,
        r#"{"type":"ui_widget","params":{"key":"w","content":null}}"#,
        r#"{"type":"ui_working","params":{"message":"z"}}"#,
        r#"{"type":"ui_set_title","params":{"title":"t"}}"#,
        r#"{"type":"ui_set_editor_text","params":{"text":"e"}}"#,
    ] {
        ui.hear(line);
    }
    let warn = |text: &str| Signal::Notify { level: Level::Warning, text: text.to_owned() };
    let widget = |lines: &[&str]| Signal::Widget {
        key: "w".to_owned(),
        lines: lines.iter().map(|&l| l.to_owned()).collect(),
        place: Place::Above,
    };
    assert_eq!(
        ui.signals,
        [
            warn("a"),
            warn("b"),
            Signal::Status { key: "k".to_owned(), text: None },
            widget(&["x", "y"]),
            widget(&[]),
            Signal::Working(Some("z".to_owned())),
            Signal::Title("t".to_owned()),
            Signal::EditorText("e".to_owned()),
        ]
    );
}

#[test]
fn errors_that_nobody_waits_for_are_shown() {
    let mut ui = Ui::up();
    ui.hear(r#"{"type":"error","message":"stdin closed"}"#);
    assert_eq!(ui.signals, [Signal::Notify { level: Level::Error, text: "stdin closed".to_owned() }]);
}

#[test]
fn odd_lines_are_counted_and_harm_nobody() {
    let mut ui = Ui::up();
    let odd = [
        "[warning] log line",
        "[1]",
        r#"{"a":1}"#,
        r#"{"type":"weather"}"#,
        r#"{"type":"event"}"#,
        r#"{"type":"event","event":{"type":"message_end","data":[]}}"#,
        r#"{"type":"event","event":{"type":"tool_execution_start","data":[7]}}"#,
        r#"{"type":"event","event":{"type":"novel","data":[]}}"#,
        r#"{"type":"ui_request","id":7}"#,
    ];
    for line in odd {
        ui.hear(line);
    }
    assert_eq!(ui.drifts.len(), odd.len());
    ui.hear("");
    ui.event("agent_start", &json!([]));
    assert_eq!(ui.drifts.len(), odd.len());
    assert!(ui.state.open_run().is_some());
}

#[test]
fn a_consent_of_our_own_server_is_one_again() {
    let mut ui = Ui::up();
    ui.event("agent_start", &json!([]));
    let hint = json!({"consent":{"tool_call_id":"tool-7","tool_name":"bash","risk":"high","reasons":["it writes"],"reversible":false}});
    ui.hear(&json!({"type":"ui_request","id":"u-1","method":"confirm","params":{"title":"Run?","message":"$ ls","opts":hint}}).to_string());
    let ask = ui.state.asks.first().cloned().expect("an ask");
    assert!(matches!(&ask.kind, AskKind::Consent(consent) if consent.name == "bash"));
    ui.want(1, Command::Answer { ask: ask.id, answer: Answer::Deny { reason: None } });
    assert_eq!(ui.said()[0]["result"], false);
}

#[test]
fn a_server_that_starts_again_is_taken_up_anew() {
    let mut ui = Ui::up();
    ui.want(1, prompt("restart"));
    ui.event("agent_start", &json!([]));
    ui.want(2, Command::Session(SessionCommand::Stats));
    ui.hear(r#"{"type":"ready","cwd":"/w","model":{"provider":"p","id":"m"},"debug":false,"ui":true}"#);
    assert_eq!(ui.outcome(), Some(Outcome::Lost));
    assert!(matches!(&ui.settled[1], (_, Err(refusal)) if refusal.kind == RefusalKind::Lost));
    assert!(matches!(&ui.signals[0], Signal::Notify { text, .. } if text.contains("started again")));
    ui.said();
    ui.want(3, prompt("again"));
    assert_eq!(ui.said()[0]["text"], "again");
}
