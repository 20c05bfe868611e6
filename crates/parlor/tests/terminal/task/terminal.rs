//! The terminal UI on a real pseudo-terminal: what a person sees before they allow something, and what the keys do.

#[allow(dead_code, reason = "other tests use more of it")]
use crate::task::project::KEY;
use crate::task::story::{self, Say};
use crate::task::{Project, Server, Wire};
use serde_json::json;
use testkit::Screen;

/// Starts the program and says what is wanted.
fn asked(project: &Project, server: &Server, wire: Wire) -> Screen {
    let mut terminal = Screen::start(&mut project.parlor(wire, server, &[]));
    terminal.shows(&[wire.model()]);
    terminal.send("mend sum.sh until the test passes\r");
    terminal
}

#[track_caller]
fn mends(wire: Wire) {
    let (project, server) = (Project::new(), Server::start(wire, story::mend()));
    let mut terminal = asked(&project, &server, wire);
    terminal.asks(&["edit sum.sh", "- echo $(( $1 - $2 ))", "+ echo $(( $1 * $2 ))"]);
    assert!(project.sum().contains('-'), "nothing is done before the answer");
    terminal.send("y");
    terminal.asks(&["sh test.sh"]);
    assert!(project.sum().contains('*'), "what was allowed is done");
    terminal.send("y");
    terminal.asks(&["FAILED: 2 and 3 made 6", "- echo $(( $1 * $2 ))", "+ echo $(( $1 + $2 ))"]);
    terminal.send("y");
    terminal.asks(&["sh test.sh", "Once more."]);
    terminal.send("y");
    terminal.shows(&["ok: 2 and 3 make 5", "It adds now, and the test passes."]);
    assert_eq!(server.trouble(), Vec::<String>::new());
    assert_eq!((server.requests(), project.sum().as_str()), (6, "echo $(( $1 + $2 ))\n"));
    terminal.send("\x04");
    assert!(terminal.finish(), "it ends well");
    assert!(!terminal.said(KEY) && !project.kept_anywhere(KEY), "a key has got out");
}

#[test]
fn the_task_through_anthropic_messages() {
    mends(Wire::Anthropic);
}

#[test]
fn the_task_through_openai_chat_completions() {
    mends(Wire::OpenAiChat);
}

#[test]
fn the_task_through_openai_responses() {
    mends(Wire::OpenAiResponses);
}

#[test]
fn the_task_through_gemini() {
    mends(Wire::Gemini);
}

#[test]
fn the_task_through_a_local_server_without_a_key() {
    mends(Wire::Local);
}

#[test]
fn words_being_typed_allow_nothing_and_tab_goes_to_the_question_and_back() {
    let (project, server) = (Project::new(), Server::start(Wire::OpenAiChat, story::mend()));
    let before = project.sum();
    let mut terminal = Screen::start(&mut project.parlor(Wire::OpenAiChat, &server, &[]));
    terminal.shows(&[Wire::OpenAiChat.model()]);
    // The person goes on typing before the question can be there.
    terminal.send("mend sum.sh until the test passes\ryou");
    terminal.shows(&["▌", "edit sum.sh", "Tab to answer; your text stays"]);
    // A pause between two words is as long as the clock on the screen takes to go on.
    for (word, typed) in [(" you", "> you you"), (" you", "> you you you")] {
        terminal.a_second_passes();
        terminal.send(word);
        terminal.shows(&[typed, "Tab to answer; your text stays"]);
    }
    assert_eq!(project.sum(), before, "no word that was typed allowed it");
    terminal.send("\x1b[200~yes\x1b[201~");
    terminal.shows(&["> you you youyes"]);
    terminal.send("\t");
    terminal.asks(&["y allow once", "> you you youyes"]);
    terminal.send("\t");
    terminal.shows(&["Tab to answer"]);
    terminal.send("y\t");
    terminal.asks(&["y allow once", "> you you youyesy"]);
    assert_eq!(project.sum(), before);
    terminal.send("y");
    terminal.shows(&["sh test.sh", "> you you youyesy"]);
    assert!(project.sum().contains('*'), "what was allowed is done");
}

#[test]
fn a_secret_reaches_the_model_and_the_command_and_nothing_that_is_kept_or_shown() {
    const SECRET: &str = "hunter2-of-tonight";
    let ask = json!({ "kind": "text", "title": "Password?", "secret": true });
    // The command says the secret to a file in temp, which is gone with the session, and says it again.
    let login = json!({ "command": format!("echo {SECRET} | tee /tmp/mine | wc -c; echo {SECRET}") });
    let story = vec![
        Say::call("I need it.", "ask", ask, SECRET),
        Say::call("I log in.", "bash", login, SECRET),
        Say::words("I used hunter2-of-tonight, as you said."),
        Say::words("Nothing else."),
    ];
    let (project, server) = (Project::new(), Server::start(Wire::OpenAiChat, story));
    let mut terminal = Screen::start(&mut project.parlor(Wire::OpenAiChat, &server, &["--policy", "ask"]));
    terminal.shows(&[Wire::OpenAiChat.model()]);
    terminal.send("log in\r");
    terminal.shows(&["Password?", "Enter answer"]);
    terminal.send(&format!("\x1b[200~{SECRET}\x1b[201~"));
    terminal.shows(&["••••••"]);
    terminal.send("\r");
    terminal.asks(&["not kept]", "tee"]);
    terminal.send("y");
    terminal.shows(&["I used [secret", "not kept], as you said."]);
    // The next turn is told from the record, and the model still reads it.
    terminal.send("what else?\r");
    terminal.shows(&["Nothing else."]);
    assert_eq!(server.trouble(), Vec::<String>::new());
    assert!(!terminal.said(SECRET), "it was on the screen");
    terminal.send("\x04");
    assert!(terminal.finish(), "it ends well");
    assert!(!project.kept_anywhere(SECRET), "it was written to a file of ours");
    assert!(project.kept_anywhere("not kept]"), "the record has a mark");
    for format in ["md", "html", "jsonl"] {
        let export = project.bare(&["sessions", "export", "--format", format]).output().unwrap();
        let text = String::from_utf8_lossy(&export.stdout).into_owned();
        assert!(text.contains("not kept]") && !text.contains(SECRET), "{format}: {text} {export:?}");
    }
}

#[test]
fn a_key_held_down_answers_one_question() {
    let (project, server) = (Project::new(), Server::start(Wire::OpenAiChat, story::mend()));
    let mut terminal = asked(&project, &server, Wire::OpenAiChat);
    terminal.asks(&["edit sum.sh"]);
    terminal.send("yyyyyyyy");
    terminal.asks(&["sh test.sh"]);
    // It repeats in the next one: the keys come faster than a finger can.
    terminal.send("yyyyyyyy");
    terminal.a_second_passes();
    terminal.asks(&["sh test.sh", "y allow once"]);
    assert!(!terminal.said("FAILED: 2 and 3 made 6"), "the command was not run");
}

#[test]
fn one_key_stops_a_model_that_says_nothing_more() {
    let (project, server) =
        (Project::new(), Server::start(Wire::Anthropic, vec![Say::stall("I begin, and")]));
    let mut terminal = asked(&project, &server, Wire::Anthropic);
    terminal.shows(&["I begin, and"]);
    terminal.send("\x1b");
    terminal.shows(&["stopped by you"]);
    server.left_alone();
}

#[test]
fn what_is_denied_with_a_reason_is_not_done_and_the_model_hears_why() {
    let mut story = story::mend();
    story[1].gives = "Permission denied: rather add";
    story.truncate(2);
    story.push(Say::words("Then I would add."));
    let (project, server) = (Project::new(), Server::start(Wire::Gemini, story));
    let before = project.sum();
    let mut terminal = asked(&project, &server, Wire::Gemini);
    terminal.asks(&["edit sum.sh"]);
    terminal.send("r");
    terminal.shows(&["why not:"]);
    terminal.send("rather add\r");
    terminal.shows(&["denied", "rather add", "Then I would add."]);
    assert_eq!((server.trouble(), project.sum()), (Vec::new(), before));
}

#[test]
fn another_model_goes_on_with_everything_that_was_said_and_done() {
    let first = story::mend().remove(0);
    let story = vec![first, Say::words("It takes away."), Say::words("I see what you both did.")];
    let (project, one) = (Project::new(), Server::start(Wire::Anthropic, story.clone()));
    let two = Server::going_on(Wire::OpenAiChat, story, 2);
    let mut command = project.parlor(Wire::Anthropic, &one, &[]);
    let mut terminal = Screen::start(command.envs(Wire::OpenAiChat.environment(&two.url)));
    terminal.shows(&[Wire::Anthropic.model()]);
    terminal.send("what does sum.sh do?\r");
    terminal.shows(&["It takes away."]);
    terminal.send("/model openai-chat/gpt-5\r");
    terminal.shows(&["gpt-5 · asks first"]);
    terminal.send("and now?\r");
    terminal.shows(&["I see what you both did."]);
    assert_eq!((one.trouble(), two.trouble()), (Vec::new(), Vec::new()));
}

#[test]
fn what_went_wrong_is_told_once_with_what_to_do() {
    // The server refuses a request that does not carry the key it knows.
    let (project, server) = (Project::new(), Server::start(Wire::OpenAiChat, story::mend()));
    let mut command = project.parlor(Wire::OpenAiChat, &server, &[]);
    let mut terminal = Screen::start(command.env("OPENAI_API_KEY", "another"));
    terminal.shows(&[Wire::OpenAiChat.model()]);
    terminal.send("go\r");
    terminal.shows(&["bad request (HTTP 400)", "another model may accept it", "failed after"]);
    assert_eq!(terminal.count("bad request (HTTP 400)"), 1);
}
