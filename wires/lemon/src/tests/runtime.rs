//! Our server as a client meets it: each way a run can go, and what a transcript cannot show.

use super::super::LemonRuntime;
use super::super::wire::Frame;
use super::{kind, kinds, opened, ready, session, speaking};
use domain::ask::{Answer, AskKind, Closing};
use domain::command::{Command, LibraryCommand, Receipt, Refusal, RefusalKind, SessionCommand, Target};
use domain::content::{Part, TextKind, Usage};
use domain::event::{Body, Cause, Failure, MessageEvent, Outcome, RunEvent, SessionEvent};
use domain::ids::{RunId, TurnId};
use domain::session::{Effort, ModelEntry, ModelRef, SessionSummary, Stats};
use domain::signal::{Level, Signal, WidgetPlace};
use domain::tool::{ToolOutcome, ToolResult};
use rolekit::session_name;
use roles::{Greeting, Line, Reason};
use serde_json::{Value, json};
use testkit::bench::{RuntimeBench, summary};

#[test]
fn a_refusal_brings_its_hint() {
    let mut stage = ready();
    let id = "100000000000";
    let words = "the disk is full (make room)";
    for (line, reply) in [
        (r#"{"type":"prompt","text":"hi"}"#, json!({"type":"error","message":words,"session_id":id})),
        (r#"{"type":"save"}"#, json!({"type":"save_result","ok":false,"error":words,"session_id":id})),
    ] {
        stage.asked(line, Err(Refusal::new(RefusalKind::Storage, "the disk is full").hint("make room")));
        assert_eq!(stage.sent(), [reply], "{line}");
    }
    stage.asked(r#"{"type":"abort"}"#, Err(Refusal::new(RefusalKind::NoRun, "no run")));
    assert_eq!(stage.sent(), Vec::<Value>::new());
}

#[test]
fn bad_input_is_answered_and_the_link_lives() {
    let mut stage = ready();
    let deep = format!("{{\"type\":\"ping\",\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
    for line in ["7", r#"["ping"]"#, r#"{"type":7}"#] {
        stage.say(line);
        assert_eq!(stage.lines(), [r#"{"type":"error","message":"unknown command"}"#], "{line}");
    }
    for line in [Line::Text(deep), Line::Overlong("{".to_owned())] {
        stage.line(line);
        assert_eq!(kinds(&mut stage), ["error"]);
    }
    assert!(stage.commands().is_empty());
}

#[test]
fn models_are_told_in_order() {
    let mut stage = ready();
    let entry = |provider: &str, name: &str| ModelEntry {
        model: ModelRef { provider: provider.to_owned(), name: name.to_owned() },
        context_window: None,
        max_output: None,
        price_input: None,
        price_output: None,
        thinks: None,
    };
    let models = vec![entry("z", "b"), entry("a", "x"), entry("z", "a")];
    stage.asked(r#"{"type":"list_models"}"#, Ok(Receipt::Models { models, current: None }));
    let providers = json!([{"id":"a","models":[{"id":"x","name":"x"}]},
        {"id":"z","models":[{"id":"a","name":"a"},{"id":"b","name":"b"}]}]);
    assert_eq!(stage.sent(), [json!({"type":"models_list","error":null,"providers":providers})]);
}

#[test]
fn a_session_is_started_where_and_with_what_the_client_says() {
    let mut stage = ready();
    stage.say(r#"{"type":"start_session","cwd":"/other","model":"p:m"}"#);
    let (ticket, _, command) = stage.command();
    let cwd = Some("/other".to_owned());
    assert_eq!(command, Command::Library(LibraryCommand::New { cwd, title: None, id: None }));
    stage.session = session(2);
    stage.attach();
    assert!(stage.lines().is_empty(), "the first stays active until the client says otherwise");
    stage.settle(ticket, Ok(Receipt::Session { session: summary(&session(2)), parent: None }));
    let (ticket, target, command) = stage.command();
    assert_eq!(target, Target::Session(session(2)));
    let (provider, name) = (Some("p".to_owned()), "m".to_owned());
    assert_eq!(command, Command::Session(SessionCommand::SetModel { provider, name }));
    stage.settle(ticket, Ok(Receipt::Done));
    assert_eq!(kinds(&mut stage), ["session_started"]);
    stage.say(r#"{"type":"start_session","session_file":"/tmp/elsewhere/talk.json"}"#);
    stage.say(r#"{"type":"start_session","session_file":"sess-000000000009"}"#);
    let wanted: Vec<Command> = stage.commands().into_iter().map(|(_, _, command)| command).collect();
    let load = Command::Library(LibraryCommand::Load { path: "/tmp/elsewhere/talk.json".to_owned() });
    assert_eq!(wanted, [load, Command::Library(LibraryCommand::Open { session: session(9) })]);
}

#[test]
fn sessions_that_are_not_there() {
    let mut stage = ready();
    for (line, reply) in [
        (r#"{"type":"close_session"}"#, "session_id required for close_session"),
        (r#"{"type":"set_active_session"}"#, "session_id required for set_active_session"),
        (r#"{"type":"set_active_session","session_id":"../x"}"#, "session not found"),
    ] {
        stage.say(line);
        assert_eq!(stage.sent()[0]["message"], reply, "{line}");
    }
}

#[test]
fn what_a_step_used_is_told_with_the_next_message() {
    let mut stage = ready();
    stage.begin("look");
    let used = Usage { input: 10, output: 5, ..Usage::default() };
    let (step, message) = stage.step();
    super::read(&mut stage, message, ToolResult::text("alpha"));
    stage.end_step(step, used);
    let (step, message) = stage.step();
    stage.delta(message, "done");
    stage.end_step(step, used);
    stage.end(Outcome::Done);
    let sent = stage.sent();
    let events: Vec<&Value> = sent.iter().filter(|line| line["type"] == "event").collect();
    let numbered = events.iter().enumerate().all(|(at, line)| line["event_seq"] == json!(at));
    assert!(numbered, "numbered from 0, by one");
    let said = |line: &&Value| kind(line) == "message_end" && line["event"]["data"][0]["role"] == "assistant";
    let ends: Vec<&Value> = events.into_iter().filter(said).map(|line| &line["event"]["data"][0]).collect();
    assert_eq!(ends[0]["usage"], Value::Null, "not known before the tools have run");
    assert_eq!(ends[0]["stop_reason"], "tool_use");
    assert_eq!(ends[1]["usage"]["input"], 20, "so that the sum is right");
}

#[test]
fn more_than_a_hundred_commands_a_second_are_refused() {
    let mut stage = ready();
    for _ in 0..150 {
        stage.say(r#"{"type":"ping"}"#);
    }
    let told = kinds(&mut stage);
    assert_eq!(told.iter().filter(|kind| *kind == "pong").count(), 100);
    assert_eq!(told.last().map(String::as_str), Some("error"));
    stage.now.0 += 1_000;
    stage.say(r#"{"type":"ping"}"#);
    assert_eq!(kinds(&mut stage), ["pong"]);
}

#[test]
fn an_end_always_comes() {
    let failure = Failure::new("model_error", "HTTP 529").hint("try later");
    for (outcome, words) in [
        (Outcome::Done, vec!["agent_end"]),
        (Outcome::Cancelled, vec!["canceled", "agent_end"]),
        (Outcome::Failed(failure), vec!["error", "agent_end"]),
        (Outcome::Interrupted, vec!["error", "agent_end"]),
        (Outcome::Lost, vec!["error", "agent_end"]),
    ] {
        let (mut stage, message) = speaking();
        stage.delta(message, "half");
        stage.forget();
        stage.end(outcome);
        assert_eq!(kinds(&mut stage), [["message_end", "turn_end"].as_slice(), &words].concat());
    }
}

#[test]
fn a_tool_that_was_cancelled_while_it_was_asked_about_is_passed_over() {
    let (mut stage, message) = speaking();
    let tool = stage.propose(message, "write", "{}");
    stage.end_message(message);
    let consent = stage.consent(tool);
    let ask = stage.ask("Write?", AskKind::Consent(Box::new(consent)));
    stage.forget();
    stage.close_ask(ask, Closing::Withdrawn);
    stage.end_tool(tool, ToolOutcome::Cancelled, ToolResult::text("cancelled"));
    stage.end(Outcome::Cancelled);
    let told = stage.sent();
    let end = told.iter().find(|line| kind(line) == "turn_end").expect("the end of the turn");
    assert_eq!(end["event"]["data"][1], json!([]), "it has no result");
    let executed = told.iter().any(|line| kind(line).starts_with("tool_execution"));
    assert!(!executed, "{told:?}");
}

#[test]
fn the_thinking_level_is_the_one_that_was_chosen_or_left_out() {
    let level = |follows: bool, effort: Option<Effort>| {
        let greeting = Greeting { cwd: "/w".to_owned(), follows, ..Greeting::default() };
        let mut stage = RuntimeBench::open(LemonRuntime::new(), session(1), &greeting);
        stage.opened("/w");
        if effort.is_some() {
            stage.miss(Body::Session(SessionEvent::EffortChosen { effort }));
        }
        stage.attach();
        let boot = stage.command().0;
        stage.settle(boot, Ok(Receipt::Stats(Stats::default())));
        stage.forget();
        stage.say(r#"{"type":"stats"}"#);
        let ticket = stage.command().0;
        stage.settle(ticket, Ok(Receipt::Stats(Stats::default())));
        let told = stage.sent();
        let stats = told.iter().find(|line| line["type"] == "stats").expect("numbers");
        stats["stats"].get("thinking_level").cloned()
    };
    assert_eq!(level(false, Some(Effort::High)), Some(json!("high")));
    assert_eq!(level(false, None), Some(json!("off")));
    assert_eq!(level(false, Some(Effort::None)), Some(json!("off")));
    assert_eq!(level(false, Some(Effort::Max)), Some(json!("xhigh")));
    assert_eq!(level(true, Some(Effort::Low)), Some(json!("low")));
    assert_eq!(level(true, None), None, "nobody told");
}

#[test]
fn a_session_named_by_its_id_has_no_title() {
    let mut stage = ready();
    stage.say(r#"{"type":"list_sessions"}"#);
    let named = SessionSummary { title: session(2).to_string(), ..SessionSummary::new(session(2)) };
    let titled = SessionSummary { title: "mend it".to_owned(), ..SessionSummary::new(session(3)) };
    let ticket = stage.command().0;
    stage.settle(ticket, Ok(Receipt::Sessions(vec![named, titled])));
    let told = stage.sent();
    let titles: Vec<_> = (0..2).map(|at| told[0]["sessions"][at].get("title").cloned()).collect();
    assert_eq!(titles, [None, Some(json!("mend it"))]);
}

#[test]
fn a_session_that_another_process_has_open_runs_there() {
    let mut stage = ready();
    stage.say(r#"{"type":"list_sessions"}"#);
    let there = SessionSummary { elsewhere: true, running: true, ..SessionSummary::new(session(2)) };
    let ticket = stage.command().0;
    stage.settle(ticket, Ok(Receipt::Sessions(vec![there, SessionSummary::new(session(3))])));
    stage.sent();
    stage.say(r#"{"type":"list_running_sessions"}"#);
    let told = stage.sent().remove(0);
    let running = told["sessions"].as_array().unwrap().clone();
    let last = running.last().unwrap();
    assert_eq!(running.len(), 2, "its own, and the one elsewhere: {told}");
    assert_eq!(last["session_id"], session_name::write(&session(2)), "{told}");
    assert_eq!(last["is_streaming"], true, "{told}");
}

#[test]
fn a_run_that_fails_before_the_model_spoke_is_balanced_too() {
    let mut stage = ready();
    stage.begin("go");
    stage.end(Outcome::Failed(Failure::new("no_model", "there is no model")));
    let sent = stage.sent();
    let kinds: Vec<String> = sent.iter().map(kind).collect();
    assert_eq!(
        kinds,
        ["agent_start", "turn_start", "message_start", "message_end", "turn_end", "error", "agent_end"]
    );
    assert_eq!(sent[5]["event"]["data"], json!(["there is no model", null]));
    let message = &sent[4]["event"]["data"][0];
    assert_eq!(message["stop_reason"], "error");
    assert_eq!(message["error_message"], "there is no model");
}

#[test]
fn what_was_missed_is_told_once() {
    let (mut stage, message) = speaking();
    stage.delta(message, "half");
    stage.lines();
    stage.miss(Body::Message(MessageEvent::Delta {
        message,
        kind: TextKind::Text,
        text: " more".to_owned(),
    }));
    stage.now.0 += 100;
    stage.attach();
    let sent = stage.sent();
    assert_eq!(sent.iter().map(kind).collect::<Vec<_>>(), ["message_update"]);
    assert_eq!(sent[0]["event"]["data"][0]["content"][0]["text"], "half more");
    for body in stage.state().close_run(Outcome::Done) {
        stage.miss(body);
    }
    stage.attach();
    assert_eq!(kinds(&mut stage), ["message_update", "message_end", "turn_end", "agent_end"]);
    stage.attach();
    assert!(stage.lines().is_empty());
}

#[test]
fn a_client_that_comes_in_the_middle_hears_the_run_from_its_beginning() {
    let mut stage = opened(&[]);
    stage.miss(Body::Run(RunEvent::Started { run: RunId(10) }));
    stage.miss(Body::Run(RunEvent::TurnStarted { run: RunId(10), turn: TurnId(11), cause: Cause::Prompt }));
    stage.attach();
    assert_eq!(kinds(&mut stage), ["ready", "agent_start", "turn_start"]);
}

#[test]
fn signals_have_the_exact_shapes() {
    let mut stage = ready();
    let status = |text: Option<&str>| Signal::Status { key: "k".to_owned(), text: text.map(str::to_owned) };
    let widget = |lines: &[&str]| Signal::Widget {
        key: "w".to_owned(),
        lines: lines.iter().map(|&l| l.to_owned()).collect(),
        place: WidgetPlace::Below,
    };
    for (signal, line) in [
        (
            Signal::Notify { level: Level::Success, text: "t".to_owned() },
            r#"{"type":"ui_notify","params":{"message":"t","notify_type":"success"}}"#,
        ),
        (status(Some("t")), r#"{"type":"ui_status","params":{"key":"k","text":"t"}}"#),
        (status(None), r#"{"type":"ui_status","params":{"key":"k","text":null}}"#),
        (
            widget(&["a", "b"]),
            r#"{"type":"ui_widget","params":{"key":"w","content":"a\nb","opts":{"position":"below"}}}"#,
        ),
        (
            widget(&[]),
            r#"{"type":"ui_widget","params":{"key":"w","content":null,"opts":{"position":"below"}}}"#,
        ),
        (Signal::Working(Some("t".to_owned())), r#"{"type":"ui_working","params":{"message":"t"}}"#),
        (Signal::Working(None), r#"{"type":"ui_working","params":{"message":null}}"#),
        (Signal::Title("t".to_owned()), r#"{"type":"ui_set_title","params":{"title":"t"}}"#),
        (Signal::EditorText("t".to_owned()), r#"{"type":"ui_set_editor_text","params":{"text":"t"}}"#),
    ] {
        stage.signal(&signal);
        assert_eq!(stage.lines(), [line]);
    }
}

#[test]
fn what_was_asked_before_a_quit_is_answered_first() {
    let mut stage = ready();
    stage.say(r#"{"type":"save"}"#);
    stage.say(r#"{"type":"quit"}"#);
    let (ticket, ..) = stage.command();
    assert!(stage.lines().is_empty());
    stage.settle(ticket, Ok(Receipt::Saved { path: "/s.json".to_owned(), size: 3 }));
    assert_eq!(kinds(&mut stage), ["save_result", "quit"]);
    stage.wait(2_000);
    assert_eq!(stage.link.closed, Some(Reason::Quit));
}

#[test]
fn a_frame_that_cannot_be_written_is_told() {
    let line = Frame::Unknown("what another server says".to_owned()).line();
    let line: Value = serde_json::from_str(&line).expect("a line of JSON");
    assert_eq!(line["type"], "error");
    assert!(
        line["message"].as_str().is_some_and(|message| message.contains("a line of the runtime is lost"))
    );
}

/// Our server with two sessions that the client has open.
fn with_two() -> RuntimeBench {
    let mut stage = ready();
    stage.say(r#"{"type":"start_session"}"#);
    let (ticket, ..) = stage.command();
    stage.session = session(0x21);
    stage.attach();
    stage.settle(ticket, Ok(Receipt::Session { session: summary(&session(0x21)), parent: None }));
    stage.forget();
    stage
}

#[test]
fn sessions_are_named_by_what_varies_and_found_by_its_beginning() {
    let mut stage = with_two();
    stage.say(r#"{"type":"list_running_sessions"}"#);
    let running = stage.sent().remove(0)["sessions"].clone();
    let ids: Vec<&Value> = running.as_array().into_iter().flatten().map(|one| &one["session_id"]).collect();
    assert_eq!(ids, ["100000000000", "120000000000"], "in the order in which they were opened");
    for (said, meant) in [
        ("10", session(1)),
        ("12", session(0x21)),
        ("120000000000", session(0x21)),
        ("sess-000000000021", session(0x21)),
    ] {
        stage.say(&json!({"type":"abort","session_id":said}).to_string());
        assert_eq!(stage.command().1, Target::Session(meant), "{said}");
    }
    for said in ["1", "", "3"] {
        stage.say(&json!({"type":"abort","session_id":said}).to_string());
        assert_eq!(
            stage.sent(),
            [json!({"type":"error","message":"session not found","session_id":said})],
            "one that two begin with, or none"
        );
    }
    // What a list told can be opened by its beginning too.
    let listed = vec![summary(&session(0xabc)), summary(&session(0xabd))];
    stage.asked(r#"{"type":"list_sessions"}"#, Ok(Receipt::Sessions(listed)));
    let sent = stage.sent();
    assert_eq!(sent[0]["sessions"][0]["id"], "cba000000000");
    assert_eq!(sent[0]["sessions"][0]["path"], "cba000000000");
    for line in [
        r#"{"type":"start_session","session_file":"dba"}"#,
        r#"{"type":"start_session","session_file":"/kept/sess-000000000abd.jsonl"}"#,
        r#"{"type":"set_active_session","session_id":"dba0"}"#,
    ] {
        stage.say(line);
        let open = Command::Library(LibraryCommand::Open { session: session(0xabd) });
        assert_eq!(stage.command().2, open, "{line}");
    }
}

#[test]
fn running_sessions_stand_in_the_order_in_which_they_were_opened() {
    let mut stage = ready();
    for number in [9, 3] {
        stage.say(r#"{"type":"start_session"}"#);
        let (ticket, ..) = stage.command();
        stage.session = session(number);
        stage.attach();
        stage.settle(ticket, Ok(Receipt::Session { session: summary(&session(number)), parent: None }));
    }
    stage.forget();
    for _ in 0..2 {
        stage.say(r#"{"type":"list_running_sessions"}"#);
        let running = stage.sent().remove(0)["sessions"].clone();
        let ids: Vec<&Value> =
            running.as_array().into_iter().flatten().map(|one| &one["session_id"]).collect();
        assert_eq!(ids, ["100000000000", "900000000000", "300000000000"]);
    }
}

#[test]
fn a_message_ends_before_its_tool_starts() {
    // As wires tell it whose messages go on while a tool runs.
    let (mut stage, message) = speaking();
    stage.delta(message, "Let me look.");
    let tool = stage.propose(message, "bash", r#"{"command":"ls"}"#);
    stage.start_tool(tool);
    stage.end_tool(tool, ToolOutcome::Done, ToolResult::text("a.txt"));
    stage.delta(message, "One file.");
    let second = stage.propose(message, "bash", "{}");
    stage.run_tool(second, ToolOutcome::Done, ToolResult::text("b"));
    stage.end_message(message);
    stage.end(Outcome::Done);
    let sent: Vec<Value> = stage.sent().into_iter().filter(|line| line["type"] == "event").collect();
    let told = sent.iter().map(|line| {
        let role = line["event"]["data"][0]["role"].as_str().unwrap_or_default().to_owned();
        format!("{} {role}", kind(line)).trim().to_owned()
    });
    let told: Vec<String> = told.filter(|line| !line.starts_with("message_update")).collect();
    let round = [
        "message_end assistant",
        "tool_execution_start",
        "tool_execution_end",
        "message_start tool_result",
        "message_end tool_result",
    ];
    let wanted =
        [&round[..], &["message_start assistant"], &round, &["turn_end assistant", "agent_end"]].concat();
    assert_eq!(told, wanted);
    let ends: Vec<&Value> = sent
        .iter()
        .filter(|line| kind(line) == "message_end" && line["event"]["data"][0]["role"] == "assistant")
        .map(|line| &line["event"]["data"][0])
        .collect();
    assert_eq!((&ends[0]["stop_reason"], &ends[1]["stop_reason"]), (&json!("tool_use"), &json!("tool_use")));
    assert_eq!(ends[0]["content"][0]["text"], "Let me look.");
    assert_eq!(ends[1]["content"][0]["text"], "One file.", "what follows is a message of its own");
    assert_eq!(ends[1]["content"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_deadline_of_questions_can_be_set() {
    let asked = |options: &[(&str, &str)], millis: Option<u64>| {
        let mut stage = super::up(options);
        let said = stage.sent();
        let deadline = stage.role.can_answer().deadline;
        let kind = AskKind::Confirm { message: "m".to_owned(), yes: None, no: None, danger: false };
        let at = millis.map(|millis| domain::ids::Millis(stage.now.0 + millis));
        stage.ask_until("Sure?", kind, at);
        let opts = stage.sent().pop().expect("a question")["params"]["opts"].clone();
        (deadline.map(|wait| wait.as_secs()), opts, said)
    };
    assert_eq!(asked(&[], Some(30_000)).0, Some(30), "the document's");
    assert_eq!(asked(&[], Some(30_000)).1, json!({}), "which need not be said");
    let (deadline, opts, _) = asked(&[("answer-within", "120")], Some(120_000));
    assert_eq!((deadline, opts), (Some(120), json!({"deadline_ms":120_000})));
    let (deadline, opts, _) = asked(&[("answer-within", "0")], None);
    assert_eq!((deadline, opts), (None, json!({"deadline_ms":null})), "for as long as it takes");
    for odd in ["soon", "-1", "99999999"] {
        let (deadline, _, said) = asked(&[("answer-within", odd)], Some(30_000));
        assert_eq!(deadline, Some(30));
        let told =
            said.iter().any(|line| line["type"] == "ui_notify" && line.to_string().contains("answer-within"));
        assert!(told, "{odd}: {said:?}");
    }
}

#[test]
fn warnings_are_told_to_who_cannot_see_stderr() {
    let greeting = Greeting { warnings: vec!["openai needs a key".to_owned()], ..Greeting::default() };
    let mut stage = RuntimeBench::open(LemonRuntime::new(), session(1), &greeting);
    stage.opened("/w");
    stage.attach();
    let sent = stage.sent();
    assert_eq!(sent.iter().map(kind).collect::<Vec<_>>(), ["ready", "ui_notify"]);
    assert_eq!(sent[1]["params"], json!({"message":"openai needs a key","notify_type":"warning"}));
    stage.forget();
    stage.say(r#"{"type":"start_session","system_prompt":"Be brief."}"#);
    let told = stage.sent();
    assert_eq!(kind(&told[0]), "ui_notify", "{told:?}");
    assert!(told[0]["params"]["message"].as_str().is_some_and(|text| text.contains("a system prompt")));
}

#[test]
fn two_texts_of_a_result_stand_on_lines_of_their_own() {
    let (mut stage, message) = speaking();
    let diff = Part::Diff { path: Some("dd.txt".to_owned()), text: "+x\n".to_owned() };
    let parts = vec![diff];
    super::read(&mut stage, message, ToolResult { parts, ..ToolResult::text("wrote dd.txt (1 line)") });
    let sent = stage.sent();
    let ended = sent.iter().find(|line| kind(line) == "tool_execution_end").expect("the end of the tool");
    let blocks = ended["event"]["data"][2]["content"].as_array().expect("blocks");
    let text: String = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    assert!(text.starts_with("wrote dd.txt (1 line)\ndd.txt\n"), "{text:?}");
    // Our own UI joins them with one break, not two.
    let mut ui = super::ui();
    for line in &sent {
        ui.hear(&line.to_string());
    }
    let tool = ui.state.tools.values().next().expect("a tool");
    assert_eq!(tool.result.as_ref().map(|result| result.text.clone()), Some(text));
}

#[test]
fn a_question_that_is_longer_than_the_screen_has_the_no_first_and_the_rest_beside_it() {
    let mut stage = ready();
    let message = format!("one\n{}last", "more\n".repeat(40));
    let kind =
        AskKind::Confirm { message: message.clone(), yes: Some("Start".into()), no: None, danger: true };
    let ask = stage.ask("Sure?", kind);
    let sent = stage.sent();
    assert_eq!(sent[0]["type"], "ui_widget");
    assert!(sent[0]["params"]["content"].as_str().unwrap().contains(&message));
    let request = &sent[1];
    let title = request["params"]["title"].as_str().unwrap();
    assert!(title.contains("one") && title.ends_with("last") && title.lines().count() <= 7, "{title}");
    let labels = ["No", "Start"].map(|label| json!(label));
    let options = &request["params"]["options"];
    assert_eq!([&options[0]["label"], &options[1]["label"]], labels.each_ref());
    let answer = json!({"type":"ui_response","id":request["id"],"result":options[1]["value"],"error":null});
    stage.say(&answer.to_string());
    assert_eq!(stage.command().2, Command::Answer { ask, answer: Answer::Confirmed(true) });
    assert_eq!(stage.sent()[0]["params"]["content"], Value::Null, "what stood beside it is taken away");
}

#[test]
fn a_question_whose_text_is_its_title_is_told_once() {
    let mut stage = ready();
    let kind = AskKind::Confirm { message: "Delete it?".to_owned(), yes: None, no: None, danger: false };
    let deadline = Some(domain::ids::Millis(stage.now.0 + 30_000));
    stage.ask_until("Delete it?", kind, deadline);
    assert_eq!(stage.sent()[0]["params"], json!({"title":"Delete it?","message":"","opts":{}}));
}

#[test]
fn after_a_goodbye_we_stay_for_the_signal_of_who_starts_us_again() {
    let mut stage = ready();
    stage.begin("go");
    stage.forget();
    stage.say(r#"{"type":"quit"}"#);
    assert_eq!(kinds(&mut stage), ["quit"]);
    let (_, _, command) = stage.command();
    assert_eq!(
        command,
        Command::Session(SessionCommand::Close),
        "what ran for the client alone ends at once"
    );
    stage.wait(1_100);
    assert_eq!(stage.link.closed, None, "one client sends its signal a second later");
    stage.say(r#"{"type":"ping"}"#);
    stage.end(Outcome::Done);
    stage.signal(&Signal::Notify { level: Level::Info, text: "x".to_owned() });
    assert!(stage.is_silent(), "nothing follows a goodbye");
    stage.wait(1_000);
    assert_eq!(stage.link.closed, Some(Reason::Quit));
}
