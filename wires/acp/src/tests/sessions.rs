//! We are the agent: sessions that a client loads, resumes, closes, and shares with others.

use super::super::AcpRuntime;
use super::runtime::{answers, begun, prompt};
use super::{agent, greeted, here, one, settle_lists, up, updates};
use domain::command::{Command, LibraryCommand, Receipt, RunCommand, SessionCommand};
use domain::content::Usage;
use domain::event::Outcome;
use domain::port::Abilities;
use domain::port::menu::{AgentChoice, AgentMenu, AgentOption, OptionKind, SET_OPTION};
use domain::session::SessionSummary;
use domain::tool::{ToolOutcome, ToolResult};
use roles::Greeting;
use serde_json::{Value, json};
use std::sync::Arc;
use testkit::bench::{RuntimeBench, summary};

/// Gives the session to the client by one of these methods.
fn opened_by(bench: &mut RuntimeBench, method: &str, servers: &Value) -> Vec<Value> {
    let params = json!({"sessionId":"sess-0001","cwd":"/w","mcpServers":servers});
    bench.say(&json!({"jsonrpc":"2.0","id":3,"method":method,"params":params}).to_string());
    let ticket = one(bench, |command| matches!(command, Command::Library(LibraryCommand::Open { .. })));
    bench.attach();
    bench.settle(ticket, Ok(Receipt::Session { session: summary(&here()), parent: None }));
    settle_lists(bench);
    bench.sent()
}

#[test]
fn load_tells_the_past_before_its_answer_and_resume_tells_none() {
    for (method, replays) in [("session/load", true), ("session/resume", false)] {
        let mut bench = greeted(json!({"_meta":{"terminal_output":true}}));
        bench.opened("/w");
        bench.begin("hello");
        let (step, message) = bench.step();
        bench.delta(message, "hi");
        let tool = bench.propose(message, "bash", r#"{"command":"ls"}"#);
        bench.end_message(message);
        bench.run_tool(tool, ToolOutcome::Done, ToolResult::text("a.txt"));
        bench.end_step(step, Usage::default());
        bench.end(Outcome::Done);
        bench.forget();
        let sent = opened_by(&mut bench, method, &json!([]));
        let at = sent.iter().position(|line| line["id"] == 3).unwrap();
        assert!(sent[at]["result"]["modes"].is_object() && sent[at]["result"]["configOptions"].is_array());
        let before = updates(&sent[..at]);
        if replays {
            assert_eq!(before.first(), Some(&"user_message_chunk"));
            assert_eq!(before.last(), Some(&"tool_call_update"));
            let all = sent[..at].iter().map(Value::to_string).collect::<String>();
            assert!(!all.contains("terminal"), "no terminal is named in a past: {all}");
            assert!(all.contains("a.txt") && all.contains("hi"), "{all}");
        } else {
            assert_eq!(before, Vec::<&str>::new());
        }
    }
}

/// A client may know the folder by a link: it gets the session all the same, and no other one.
#[test]
fn a_session_is_found_by_any_name_of_its_folder() {
    for (cwd, found) in [("/w", true), ("/linked", true), ("/elsewhere", false)] {
        for method in ["session/load", "session/resume"] {
            let mut bench = greeted(json!({}));
            bench.opened("/w");
            let params = json!({"sessionId":"sess-0001","cwd":cwd,"mcpServers":[]});
            bench.say(&json!({"jsonrpc":"2.0","id":3,"method":method,"params":params}).to_string());
            let is_open =
                |command: &Command| matches!(command, Command::Library(LibraryCommand::Open { .. }));
            let ticket = one(&mut bench, is_open);
            bench.attach();
            let session = SessionSummary { cwd: "/w".to_owned(), ..summary(&here()) };
            bench.settle(ticket, Ok(Receipt::Session { session, parent: None }));
            if found {
                settle_lists(&mut bench);
            }
            let answer = answers(&bench.sent(), 3)[0].clone();
            assert_eq!(answer.get("result").is_some(), found, "{method} {cwd}: {answer}");
        }
        let mut bench = greeted(json!({}));
        let params = json!({"cwd":cwd});
        bench.say(&json!({"jsonrpc":"2.0","id":4,"method":"session/list","params":params}).to_string());
        let is_list = |command: &Command| matches!(command, Command::Library(LibraryCommand::List { .. }));
        let ticket = one(&mut bench, is_list);
        let session = SessionSummary { cwd: "/w".to_owned(), ..summary(&here()) };
        bench.settle(ticket, Ok(Receipt::Sessions(vec![session])));
        let listed = answers(&bench.sent(), 4)[0]["result"]["sessions"].as_array().unwrap().len();
        assert_eq!(listed, usize::from(found), "session/list {cwd}");
    }
}

#[test]
fn a_session_that_another_process_has_open_is_marked_in_the_list() {
    let mut bench = greeted(json!({}));
    bench.say(r#"{"jsonrpc":"2.0","id":4,"method":"session/list","params":{}}"#);
    let ticket = one(&mut bench, |command| matches!(command, Command::Library(LibraryCommand::List { .. })));
    let there = SessionSummary { elsewhere: true, ..summary(&here()) };
    bench.settle(ticket, Ok(Receipt::Sessions(vec![there, summary(&here())])));
    let listed = answers(&bench.sent(), 4)[0]["result"]["sessions"].clone();
    let marks = [0, 1].map(|at| listed[at]["_meta"]["parlor"].get("elsewhere").cloned());
    assert_eq!(marks, [Some(json!(true)), None], "{listed}");
}

#[test]
fn the_session_where_the_link_was_put_is_loaded_without_being_opened() {
    let mut bench = agent();
    bench.attach();
    bench.say(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#);
    assert_eq!(bench.sent()[0]["result"]["_meta"]["parlor"]["session"], "sess-0001");
    bench.opened("/w");
    let params = json!({"sessionId":"sess-0001","cwd":"/w","mcpServers":[]});
    bench.say(&json!({"jsonrpc":"2.0","id":3,"method":"session/load","params":params}).to_string());
    // A runtime behind us may have no name for it yet.
    let ticket = one(&mut bench, |command| matches!(command, Command::Session(SessionCommand::Stats)));
    bench.settle(ticket, Ok(Receipt::Stats(Default::default())));
    settle_lists(&mut bench);
    let sent = bench.sent();
    assert!(answers(&sent, 3)[0]["result"]["modes"].is_object(), "{sent:?}");
    prompt(&mut bench, 4, "go");
    one(&mut bench, |command| matches!(command, Command::Run(RunCommand::Prompt { .. })));
}

#[test]
fn what_a_runtime_learns_later_that_it_can_do_is_told_to_the_client() {
    use domain::port::Abilities;
    let mut bench = up(json!({}));
    let tell = |bench: &mut RuntimeBench, can: Abilities| {
        bench.call(|role, cx| {
            role.abilities(cx, None, &can);
        });
        bench.sent()
    };
    tell(&mut bench, Abilities { cancel: true, ..Abilities::default() });
    let sent = tell(&mut bench, Abilities { cancel: true, compact: true, ..Abilities::default() });
    assert_eq!(updates(&sent), ["available_commands_update"]);
    assert!(sent[0].to_string().contains("compact"), "{sent:?}");
    let sent = tell(&mut bench, Abilities { compact: true, set_model: true, ..Abilities::default() });
    assert_eq!(updates(&sent), ["config_option_update"]);
}

#[test]
fn a_run_under_way_is_told_before_the_answer_to_load_and_after_that_to_resume_and_names_no_terminal() {
    for method in ["session/load", "session/resume"] {
        let mut bench = greeted(json!({"_meta":{"terminal_output":true}}));
        bench.opened("/w");
        bench.begin("hello");
        let (_, message) = bench.step();
        let tool = bench.propose(message, "bash", r#"{"command":"ls"}"#);
        bench.end_message(message);
        bench.start_tool(tool);
        bench.forget();
        let sent = opened_by(&mut bench, method, &json!([]));
        let at = sent.iter().position(|line| line["id"] == 3).unwrap();
        let call = |sent: &[Value]| updates(sent).contains(&"tool_call");
        assert_eq!(
            (call(&sent[..at]), call(&sent[at..])),
            (method == "session/load", method != "session/load")
        );
        if method == "session/load" {
            assert_eq!(updates(&sent[..at])[..2], ["session_info_update", "user_message_chunk"], "{sent:?}");
        } else {
            assert_eq!(at, 0, "{sent:?}");
        }
        // What comes after is live.
        bench.end_tool(tool, ToolOutcome::Done, ToolResult::text("a.txt"));
        assert_eq!(updates(&bench.sent()), ["tool_call_update"]);
        let all = sent.iter().map(Value::to_string).collect::<String>();
        assert!(!all.contains("terminal"), "{method}: {all}");
    }
}

#[test]
fn servers_that_another_agent_does_not_get_are_never_passed_over_in_silence() {
    let servers = json!([{"name":"files","command":"/bin/files","args":[],"env":[]}]);
    for (capabilities, notices) in [(json!({"session":{"notices":{}}}), true), (json!({}), false)] {
        let behind = Greeting { follows: true, ..super::greeting() };
        let mut bench = RuntimeBench::open(AcpRuntime::new(), here(), &behind);
        let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        bench.say(&json!({"jsonrpc":"2.0","id":0,"method":"initialize","params":params}).to_string());
        bench.call(|role, cx| {
            role.abilities(cx, None, &Abilities::all("far"));
        });
        bench.sent();
        bench.opened("/w");
        let sent = opened_by(&mut bench, "session/resume", &servers);
        assert!(bench.given.is_empty());
        assert_eq!(updates(&sent).contains(&"notice"), notices, "{sent:?}");
        begun(&mut bench, 5);
        let all = bench.sent().iter().map(Value::to_string).collect::<String>();
        assert_eq!(
            all.contains("does not get the MCP servers"),
            !notices,
            "with the next prompt, once: {all}"
        );
    }
}

/// A program behind us with a mode of this value, an option, and a model of its own.
fn with_options(mode: &str) -> Abilities {
    let choice = |value: &str| AgentChoice {
        value: value.to_owned(),
        name: value.to_uppercase(),
        about: Some(format!("what {value} is")),
        group: None,
    };
    let option = |id: &str, kind, value: &str, values: [&str; 2]| AgentOption {
        id: id.to_owned(),
        name: id.to_uppercase(),
        about: None,
        kind,
        value: value.to_owned(),
        choices: values.map(choice).to_vec(),
    };
    let options = vec![
        option("approval", OptionKind::Mode, mode, ["auto", "ask"]),
        option("fast", OptionKind::Other, "off", ["off", "on"]),
        option("brain", OptionKind::Model, "a", ["a", "b"]),
    ];
    let menu = Arc::new(AgentMenu { options, ..AgentMenu::default() });
    Abilities { policy: false, effort: false, menu, ..Abilities::all("far") }
}

#[test]
fn what_the_program_behind_us_lets_be_set_is_set_from_the_client_in_its_own_words() {
    let behind = Greeting { follows: true, ..super::greeting() };
    let mut bench = RuntimeBench::open(AcpRuntime::new(), here(), &behind);
    bench.say(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#);
    bench.call(|role, cx| {
        role.abilities(cx, None, &with_options("auto"));
    });
    bench.sent();
    bench.opened("/w");
    let sent = opened_by(&mut bench, "session/resume", &json!([]));
    let result = answers(&sent, 3)[0]["result"].clone();
    assert_eq!(result["modes"]["currentModeId"], "auto", "{result}");
    assert_eq!(result["modes"]["availableModes"][1]["name"], "ASK", "{result}");
    let ids = |options: &Value| -> Vec<String> {
        options.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        ids(&result["configOptions"]),
        ["model", "approval", "fast"],
        "its model is the session's: {result}"
    );
    let set = |bench: &mut RuntimeBench, method: &str, params: Value| -> (String, Value) {
        bench.say(&json!({"jsonrpc":"2.0","id":8,"method":method,"params":params}).to_string());
        let (ticket, _, command) = bench.commands().remove(0);
        let Command::Extension { name, payload } = command else { panic!("{command:?}") };
        assert_eq!(name, SET_OPTION);
        bench.settle(ticket, Ok(Receipt::Done));
        (payload.as_str().to_owned(), answers(&bench.sent(), 8)[0]["result"].clone())
    };
    let option = json!({"sessionId":"sess-0001","configId":"fast","value":"on"});
    let (payload, answer) = set(&mut bench, "session/set_config_option", option);
    assert_eq!(payload, r#"{"id":"fast","value":"on"}"#);
    assert_eq!(answer["configOptions"][2]["currentValue"], "on", "{answer}");
    let mode = json!({"sessionId":"sess-0001","modeId":"ask"});
    assert_eq!(set(&mut bench, "session/set_mode", mode).0, r#"{"id":"approval","value":"ask"}"#);
    // It tells by itself how it stands.
    bench.call(|role, cx| {
        role.abilities(cx, None, &with_options("ask"));
    });
    let sent = bench.sent();
    assert_eq!(updates(&sent), ["current_mode_update", "config_option_update"]);
    assert_eq!(sent[0]["params"]["update"]["currentModeId"], "ask");
}

#[test]
fn a_run_that_was_begun_elsewhere_is_shown_with_what_was_said_and_its_end() {
    let mut bench = up(json!({}));
    bench.forget();
    bench.begin("from another");
    bench.talk("yes");
    bench.end(Outcome::Done);
    let sent = bench.sent();
    assert_eq!(
        updates(&sent),
        [
            "session_info_update",
            "user_message_chunk",
            "agent_message_chunk",
            "session_info_update",
            "session_info_update"
        ]
    );
    assert_eq!(sent[0]["params"]["update"]["_meta"]["parlor"]["run"]["state"], "started");
    assert_eq!(sent[4]["params"]["update"]["_meta"]["parlor"]["run"]["state"], "done");
}

#[test]
fn closing_stops_what_runs_and_answers_it() {
    let mut bench = up(json!({}));
    begun(&mut bench, 5);
    bench.say(r#"{"jsonrpc":"2.0","id":8,"method":"session/close","params":{"sessionId":"sess-0001"}}"#);
    let wanted = bench.commands();
    assert!(matches!(wanted[0].2, Command::Run(RunCommand::Cancel { .. })));
    assert!(matches!(wanted[1].2, Command::Session(SessionCommand::Close)));
    bench.forget();
    bench.detach(&here());
    bench.settle(wanted[1].0, Ok(Receipt::Done));
    let sent = bench.sent();
    assert_eq!(answers(&sent, 5)[0]["result"]["stopReason"], "cancelled");
    assert_eq!(answers(&sent, 8)[0]["result"], json!({}));
    prompt(&mut bench, 9, "still there?");
    assert_eq!(bench.sent()[0]["error"]["code"], -32002);
}

#[test]
fn a_session_goes_on_from_another_only_where_its_folder_is_meant() {
    let is_close = |command: &Command| matches!(command, Command::Session(SessionCommand::Close));
    let is_branch = |command: &Command| matches!(command, Command::Library(LibraryCommand::Branch { session: Some(of), at: None }) if *of == here());
    for (cwd, held) in [("/w", false), ("/w", true), ("/elsewhere", false), ("/elsewhere", true)] {
        let mut bench = greeted(json!({}));
        bench.opened("/w");
        if held {
            opened_by(&mut bench, "session/resume", &json!([]));
        }
        let params = json!({"sessionId":"sess-0001","cwd":cwd,"mcpServers":[]});
        bench.say(&json!({"jsonrpc":"2.0","id":4,"method":"session/fork","params":params}).to_string());
        let ticket = one(&mut bench, |command| matches!(command, Command::Session(SessionCommand::Stats)));
        bench.settle(ticket, Ok(Receipt::Stats(Default::default())));
        if cwd == "/w" {
            one(&mut bench, is_branch);
            assert!(bench.sent().is_empty());
            continue;
        }
        // Nothing was made, and a session that the client never had is left.
        let commands: Vec<Command> = bench.commands().into_iter().map(|(_, _, command)| command).collect();
        assert_eq!(
            (commands.len(), commands.iter().all(is_close)),
            (usize::from(!held), true),
            "{commands:?}"
        );
        assert_eq!(answers(&bench.sent(), 4)[0]["error"]["code"], -32602);
    }
}

#[test]
fn a_client_sets_the_title_of_any_session_and_hears_which_one_is_kept() {
    let say = |title: &str| {
        let params = json!({"sessionId":"sess-0001","title":title});
        json!({"jsonrpc":"2.0","id":3,"method":"session/set_title","params":params}).to_string()
    };
    let mut bench = greeted(json!({}));
    bench.say(&say("  mend the door "));
    let ticket = one(
        &mut bench,
        |command| matches!(command, Command::Session(SessionCommand::Rename { title }) if title == "mend the door"),
    );
    bench.settle(ticket, Ok(Receipt::Done));
    assert_eq!(answers(&bench.sent(), 3)[0]["result"], json!({"title":"mend the door"}));
    bench.say(&say("  "));
    assert_eq!(answers(&bench.sent(), 3)[0]["error"]["code"], -32602);
}

#[test]
fn further_folders_of_a_project_are_told_to_the_model_and_must_be_whole() {
    let mut bench = greeted(json!({}));
    let opens = |folders: Value| {
        let params = json!({"cwd":"/w","mcpServers":[],"additionalDirectories":folders});
        json!({"jsonrpc":"2.0","id":1,"method":"session/new","params":params}).to_string()
    };
    for wrong in [json!(["lib"]), json!(vec!["/x"; 65])] {
        bench.say(&opens(wrong));
        assert_eq!(bench.sent()[0]["error"]["code"], -32602);
    }
    bench.say(&opens(json!(["/lib", "/docs"])));
    let ticket = one(&mut bench, |command| matches!(command, Command::Library(LibraryCommand::New { .. })));
    bench.miss(domain::event::Body::Session(domain::event::SessionEvent::Opened {
        cwd: "/w".to_owned(),
        project: "/w".to_owned(),
        parent: None,
    }));
    bench.attach();
    bench.settle(ticket, Ok(Receipt::Session { session: summary(&here()), parent: None }));
    let models = one(&mut bench, |command| matches!(command, Command::List(_)));
    bench.settle(models, Ok(Receipt::Models { models: Vec::new(), current: None }));
    let wanted = bench.commands();
    let notes: Vec<&String> = wanted
        .iter()
        .filter_map(|(_, _, command)| match command {
            Command::UpdateContext(context) => Some(&context.notes[0]),
            _ => None,
        })
        .collect();
    assert!(notes.len() == 1 && notes[0].contains("/lib, /docs"), "{wanted:?}");
    assert_eq!(bench.sent()[0]["result"]["sessionId"], "sess-0001", "before it is known what came of that");
}
