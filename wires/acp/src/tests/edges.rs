//! We are the agent of a client at its edges: it names another folder, cannot ask, closes, says too much, shows little.

use super::runtime::{answers, begun, prompt};
use super::{greeted, here, one, settle_lists, up, updates};
use domain::ask::{Answer, AskKind, Closing};
use domain::command::{Command, LibraryCommand, Receipt, Refusal, RefusalKind, RunCommand, SessionCommand};
use domain::content::{Json, Part};
use domain::event::{Body, Compaction, ContextEvent, SessionEvent, ToolEvent};
use domain::ids::EntryId;
use domain::session::ModelRef;
use domain::signal::{Level, Signal};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use domain::ui_files::{FileRequest, FileRequestId};
use roles::Line;
use serde_json::{Value, json};
use testkit::bench::{RuntimeBench, summary};

const LONG: &str = "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-one\n+eins\n@@ -9,400 +9,400 @@\n-nine\n+neun\n\
    \\ The diff is cut here: in all it adds 401 and removes 401 lines.\n";

#[test]
fn a_diff_that_is_cut_is_no_pair_of_texts_and_says_so() {
    let mut bench = up(json!({}));
    begun(&mut bench, 5);
    let (_, message) = bench.step();
    let tool = bench.propose(message, "edit", r#"{"path":"b.txt"}"#);
    let mut consent = bench.consent(tool);
    consent.preview = Some(domain::ask::Preview::Diff { path: "b.txt".to_owned(), text: LONG.to_owned() });
    bench.ask("Edit?", AskKind::Consent(Box::new(consent)));
    let sent = bench.sent();
    let asked = sent.iter().find(|line| line["method"] == "session/request_permission").unwrap();
    let mut asked = asked["params"]["toolCall"]["content"].clone();
    let risk = asked.as_array_mut().unwrap().remove(0);
    assert_eq!(risk["content"]["text"], "Risk medium");
    let mut bench = up(json!({}));
    begun(&mut bench, 5);
    let (_, message) = bench.step();
    let tool = bench.propose(message, "edit", r#"{"path":"b.txt"}"#);
    let parts = vec![Part::Diff { path: Some("b.txt".to_owned()), text: LONG.to_owned() }];
    bench.run_tool(tool, ToolOutcome::Done, ToolResult { parts, ..ToolResult::text("edited") });
    let told = bench.sent().last().unwrap()["params"]["update"]["content"].clone();
    for content in [asked, told] {
        let whole = json!({"type":"diff","path":"/w/b.txt","oldText":"one\n","newText":"eins\n"});
        assert_eq!(content[0], whole);
        let rest = content[1]["content"]["text"].as_str().unwrap();
        assert!(rest.contains("adds 401 and removes 401 lines"), "{content}");
        assert!(
            rest.contains("-nine\n+neun") && !content.to_string().contains("\"oldText\":\"nine"),
            "{content}"
        );
    }
}

fn load(bench: &mut RuntimeBench, method: &str, cwd: &str) {
    let params = json!({"sessionId":"sess-0001","cwd":cwd,"mcpServers":[]});
    bench.say(&json!({"jsonrpc":"2.0","id":3,"method":method,"params":params}).to_string());
}

#[test]
fn a_session_is_given_only_to_who_names_its_folder() {
    for method in ["session/load", "session/resume"] {
        let mut bench = greeted(json!({}));
        bench.opened("/w");
        bench.begin("hello");
        bench.talk("hi");
        bench.end(domain::event::Outcome::Done);
        bench.forget();
        load(&mut bench, method, "w");
        assert_eq!(bench.sent()[0]["error"]["code"], -32602, "a relative one");
        for (cwd, fits) in [("/other", false), ("/w/sub", false), ("/w/", true)] {
            load(&mut bench, method, cwd);
            let ticket =
                one(&mut bench, |command| matches!(command, Command::Library(LibraryCommand::Open { .. })));
            bench.attach();
            let mut session = summary(&here());
            session.cwd = "/w".to_owned();
            bench.settle(ticket, Ok(Receipt::Session { session, parent: None }));
            if fits {
                settle_lists(&mut bench);
            } else {
                one(&mut bench, |command| matches!(command, Command::Session(SessionCommand::Close)));
                bench.detach(&here());
            }
            let sent = bench.sent();
            let answer = answers(&sent, 3)[0];
            assert_eq!(answer.get("error").is_none(), fits, "{method} {cwd}: {answer}");
            if !fits {
                assert_eq!(sent.len(), 1, "nothing of it is told: {sent:?}");
                assert!(answer["error"]["message"].as_str().unwrap().contains("works in /w"), "{answer}");
            }
        }
    }
}

#[test]
fn an_effort_is_offered_where_the_model_takes_one() {
    let mut bench = up(json!({}));
    let ids = |sent: &[Value]| -> Vec<String> {
        let options = sent.last().unwrap()["params"]["update"]["configOptions"].clone();
        options.as_array().unwrap().iter().map(|option| option["id"].as_str().unwrap().to_owned()).collect()
    };
    for (name, offered) in [("plain", vec!["mode", "model"]), ("large", vec!["mode", "model", "effort"])] {
        let model = ModelRef { provider: "north".to_owned(), name: name.to_owned() };
        bench.happen(Body::Session(SessionEvent::ModelChosen { model }));
        assert_eq!(ids(&bench.sent()), offered, "{name}");
    }
}

#[test]
fn a_client_that_cannot_ask_has_not_said_no() {
    let mut bench = up(json!({}));
    begun(&mut bench, 5);
    let (_, message) = bench.step();
    let tool = bench.propose(message, "bash", r#"{"command":"make"}"#);
    let consent = bench.consent(tool);
    let ask = bench.ask("Run?", AskKind::Consent(Box::new(consent)));
    let sent = bench.sent();
    let id = sent.iter().find(|line| line["method"] == "session/request_permission").unwrap()["id"].clone();
    let error = json!({"jsonrpc":"2.0","id":id,"error":{"code":-32601,"message":"what?"}});
    bench.say(&error.to_string());
    assert!(bench.commands().is_empty(), "it is no answer of a person");
    assert_eq!(bench.unanswerable, [ask]);
    // Who answers elsewhere is heard, and this client has nothing to take back.
    bench.close_ask(ask, Closing::Unattended);
    assert!(bench.sent().is_empty());
}

#[test]
fn a_client_that_closes_its_end_stops_what_it_prompted_and_nothing_else() {
    let mut bench = up(json!({}));
    bench.call(|role, cx| role.last_word(cx));
    assert!(bench.commands().is_empty(), "nothing runs");
    bench.begin("from another");
    bench.call(|role, cx| role.last_word(cx));
    assert!(bench.commands().is_empty(), "what others began goes on");
    bench.end(domain::event::Outcome::Done);
    begun(&mut bench, 5);
    bench.forget();
    bench.call(|role, cx| role.last_word(cx));
    one(&mut bench, |command| matches!(command, Command::Run(RunCommand::Cancel { .. })));
    bench.end(domain::event::Outcome::Cancelled);
    assert_eq!(answers(&bench.sent(), 5)[0]["result"]["stopReason"], "cancelled");
    // One that is only on its way is stopped as well.
    prompt(&mut bench, 6, "go");
    bench.call(|role, cx| role.last_word(cx));
    let wanted = bench.commands();
    assert!(matches!(wanted[1].2, Command::Run(RunCommand::Cancel { .. })), "{wanted:?}");
}

#[test]
fn a_session_that_was_given_is_kept_though_nothing_is_said_in_it() {
    assert_eq!(up(json!({})).kept, [here()]);
}

fn compacted(bench: &mut RuntimeBench) {
    let compaction = Compaction {
        summary: "the gist".to_owned(),
        first_kept: None,
        tokens_before: 0,
        trigger: domain::event::Trigger::Manual,
        unexplained: false,
        usage: domain::content::Usage::default(),
    };
    bench.happen(Body::Context(ContextEvent::Compacted { entry: EntryId(77), parent: None, compaction }));
}

#[test]
fn a_summary_is_said_where_the_client_knows_no_word_for_it() {
    let mut bench = up(json!({}));
    bench.forget();
    prompt(&mut bench, 5, "/compact");
    let ticket = one(&mut bench, |command| matches!(command, Command::Run(RunCommand::Compact { .. })));
    compacted(&mut bench);
    bench.settle(ticket, Ok(Receipt::Done));
    let sent = bench.sent();
    assert_eq!(updates(&sent), ["agent_message_chunk"]);
    assert!(sent[0].to_string().contains("the gist"), "{sent:?}");
    assert_eq!(sent[1]["result"]["stopReason"], "end_turn", "the answer comes last");
    let mut bench = up(json!({"session":{"compaction":{}}}));
    bench.forget();
    compacted(&mut bench);
    assert_eq!(updates(&bench.sent()), ["compaction_update"]);
}

#[test]
fn a_warning_is_said_beside_an_answer_where_the_client_shows_no_notices() {
    let warning = |text: &str| Signal::Notify { level: Level::Warning, text: text.to_owned() };
    let mut bench = up(json!({}));
    bench.forget();
    bench.signal(&warning("the server is gone"));
    bench.signal(&Signal::Notify { level: Level::Info, text: "by the way".to_owned() });
    assert!(bench.sent().is_empty(), "nothing outside of an answer");
    begun(&mut bench, 5);
    bench.signal(&warning("the editor is silent"));
    let sent = bench.sent();
    let said: Vec<&str> =
        sent.iter().filter_map(|line| line["params"]["update"]["content"]["text"].as_str()).collect();
    assert_eq!(said, ["the server is gone\n\n", "the editor is silent\n\n"]);
}

#[test]
fn a_picture_that_is_no_picture_is_refused_with_words() {
    let mut bench = up(json!({}));
    bench.forget();
    for (data, mime, taken) in
        [("!!", "image/png", false), ("", "image/png", false), ("iVBORw0=", "image/png", true)]
    {
        for block in [
            json!({"type":"image","data":data,"mimeType":mime}),
            json!({"type":"resource","resource":{"uri":"file:///a.png","blob":data,"mimeType":mime}}),
        ] {
            let params = json!({"sessionId":"sess-0001","prompt":[block]});
            bench.say(&json!({"jsonrpc":"2.0","id":9,"method":"session/prompt","params":params}).to_string());
            assert_eq!(bench.commands().len(), usize::from(taken), "{params}");
            let sent = bench.sent();
            assert_eq!(sent.is_empty(), taken, "{sent:?}");
            if !taken {
                assert_eq!(sent[0]["error"]["code"], -32602);
                assert!(sent[0]["error"]["message"].as_str().unwrap().contains("base64"), "{sent:?}");
            }
        }
    }
}

#[test]
fn a_steer_where_nothing_runs_begins_a_turn_unless_the_client_wants_to() {
    for (idle, outcome) in [(None, "startedNewTurn"), (Some("promptRequired"), "promptRequired")] {
        let mut bench = up(json!({}));
        bench.forget();
        let mut params = json!({"sessionId":"sess-0001","prompt":[{"type":"text","text":"left"}]});
        if let Some(idle) = idle {
            params["_meta"] = json!({"steering":{"idleBehavior":idle}});
        }
        bench.say(&json!({"jsonrpc":"2.0","id":9,"method":"_session/steering","params":params}).to_string());
        let ticket = one(&mut bench, |command| matches!(command, Command::Queue(_)));
        bench.settle(ticket, Err(Refusal::new(RefusalKind::NoRun, "nothing runs")));
        if idle.is_none() {
            let ticket = one(
                &mut bench,
                |command| matches!(command, Command::Run(RunCommand::Prompt { input, .. }) if input.text == "left"),
            );
            let run = bench.mint_run();
            bench.settle(ticket, Ok(Receipt::Started { session: here(), run }));
        }
        assert_eq!(bench.sent()[0]["result"]["outcome"], outcome);
    }
}

#[test]
fn a_file_that_is_too_long_for_a_line_is_answered_with_the_reason() {
    let mut bench = up(json!({"fs":{"readTextFile":true,"writeTextFile":true}}));
    begun(&mut bench, 2);
    bench.sent();
    let request = FileRequest::Read { path: "/w/huge.log".into() };
    bench.call(|role, cx| role.file(cx, &here(), FileRequestId(7), &request));
    let id = bench.sent()[0]["id"].clone();
    bench.line(Line::Overlong(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":"some log li"#)));
    assert!(bench.sent().is_empty(), "a response has no answer");
    let (_, with) = bench.files.remove(0);
    assert!(with.unwrap_err().starts_with(domain::ui_files::TOO_LONG), "the reason is told");
    // A request that is too long still gets its error.
    bench.line(Line::Overlong(
        r#"{"jsonrpc":"2.0","id":8,"method":"session/prompt","params":{"pro"#.to_owned(),
    ));
    assert_eq!(bench.sent()[0]["id"], 8);
}

#[test]
fn a_logout_forgets_the_kept_keys_and_says_so_in_every_session() {
    let mut bench = up(json!({"session":{"notices":{}}}));
    bench.forget();
    bench.say(r#"{"jsonrpc":"2.0","id":9,"method":"logout","params":{}}"#);
    let ticket = one(
        &mut bench,
        |command| matches!(command, Command::Extension { name, .. } if name == domain::command::FORGET_KEYS),
    );
    let whose = Json::verbatim(r#"["openai"]"#.to_owned());
    bench.settle(ticket, Ok(Receipt::Extension(whose)));
    let sent = bench.sent();
    assert_eq!(sent[0]["result"], json!({}));
    assert_eq!(updates(&sent), ["notice"]);
    assert!(sent[1].to_string().contains("keys of openai are forgotten"), "{sent:?}");
}

#[test]
fn every_question_of_ours_has_a_deadline_and_is_taken_back_when_it_is_over() {
    let mut bench = up(json!({"elicitation":{"form":{}}}));
    let deadline = bench.role.can_answer().deadline.expect("a deadline unless the person wants none");
    assert!(deadline <= super::super::ANSWERS_WITHIN);
    begun(&mut bench, 5);
    let (_, message) = bench.step();
    let tool = bench.propose(message, "bash", r#"{"command":"make"}"#);
    let consent = bench.consent(tool);
    let ask = bench.ask("Run?", AskKind::Consent(Box::new(consent)));
    let asked = bench.sent().into_iter().find(|line| line["method"] == "session/request_permission").unwrap();
    // The form that asks why is a question of its own, with the time of the first.
    let why = json!({"outcome":{"outcome":"selected","optionId":"reject_with_reason"}});
    bench.say(&json!({"jsonrpc":"2.0","id":asked["id"],"result":why}).to_string());
    let form = bench.sent()[0].clone();
    assert_eq!(form["method"], "elicitation/create");
    bench.close_ask(ask, Closing::Expired);
    let sent = bench.sent();
    assert_eq!(
        (&sent[0]["method"], &sent[0]["params"]["requestId"]),
        (&json!("$/cancel_request"), &form["id"])
    );
}

#[test]
fn what_a_running_call_asks_is_a_permission_on_it_also_without_forms_and_the_call_stands_again_after_it() {
    let mut bench = up(json!({}));
    assert!(!bench.role.can_answer().other, "this client shows no forms");
    begun(&mut bench, 5);
    let (_, message) = bench.step();
    let tool = bench.propose(message, "task", r#"{"agent":"general","prompt":"write b"}"#);
    bench.start_tool(tool);
    let progress = Progress::Output("read a\n".to_owned());
    bench.happen(Body::Tool(ToolEvent::Progress { tool, progress }));
    let mut consent = bench.consent(tool);
    (consent.name, consent.args) = ("write".to_owned(), Json::verbatim(r#"{"path":"b","content":"new"}"#));
    bench.sent();
    let title = "Sub-agent general “write b” asks: write b";
    let ask = bench.ask(title, AskKind::Consent(Box::new(consent)));
    let asked = bench.sent().into_iter().find(|line| line["method"] == "session/request_permission").unwrap();
    let call = &asked["params"]["toolCall"];
    assert_eq!(
        (&call["toolCallId"], &call["title"], &call["status"]),
        (&json!(tool.to_string()), &json!(title), &json!("in_progress"))
    );
    assert_eq!(call["rawInput"]["path"], "b");
    let yes = json!({"outcome":{"outcome":"selected","optionId":"allow_once"}});
    bench.say(&json!({"jsonrpc":"2.0","id":asked["id"],"result":yes}).to_string());
    one(&mut bench, |command| matches!(command, Command::Answer { answer: Answer::Allow { .. }, .. }));
    bench.sent();
    bench.close_ask(ask, Closing::Withdrawn);
    let update = bench.sent()[0]["params"]["update"].clone();
    assert_eq!((&update["toolCallId"], &update["status"]), (&json!(tool.to_string()), &json!("in_progress")));
    assert_eq!(update["rawInput"]["agent"], "general", "{update}");
    assert_eq!(update["content"][0]["content"]["text"], "read a\n", "{update}");
    assert!(!update["title"].as_str().unwrap().contains("asks"), "{update}");
}
