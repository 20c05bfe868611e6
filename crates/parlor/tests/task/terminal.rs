//! The terminal UI on a real pseudo-terminal: what a person sees before they allow something, and what the keys do.

mod screen;

use crate::project::KEY;
use crate::{Project, Server, Wire, story};
use screen::Terminal;

/// Starts the program and says what is wanted.
fn asked(project: &Project, server: &Server, wire: Wire) -> Terminal {
    let mut terminal = Terminal::start(project.parlor(wire, server, &[]));
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
