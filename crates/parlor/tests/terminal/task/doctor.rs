//! `parlor doctor` in plain words: what is there, what is missing, what to do.

use crate::task::project::KEY;
use crate::task::{Project, Server, Wire};

/// The report and its exit code.
fn report(project: &Project, server: Option<&Server>) -> (String, Option<i32>) {
    let mut command = project.bare(&["doctor"]);
    if let Some(server) = server {
        command.envs(Wire::Anthropic.environment(&server.url));
    }
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(!said.contains(KEY), "a key has got out: {said}");
    (said, output.status.code())
}

#[test]
fn without_anything_it_says_how_to_begin() {
    let (said, code) = report(&Project::newcomer(), None);
    for wanted in [
        "model      offline: it needs no key",
        "for a real one `parlor login`, or set ANTHROPIC_API_KEY",
        "no key     anthropic, openai, gemini",
        "(not there, and not needed)",
        "fetch      off (--fetch",
        "mcp        no servers (`parlor mcp add`",
        "skills     none",
        "sandbox    ",
        "mode       new sessions of the terminal and the page begin here in ",
    ] {
        assert!(said.contains(wanted), "{wanted}\n{said}");
    }
    assert_eq!(code, Some(0));
}

#[test]
fn what_is_configured_is_tried_and_named() {
    let project = Project::new();
    let server = Server::start(Wire::Anthropic, Vec::new());
    let servers = r#"{"mcpServers": {"theirs": {"command": "/bin/theirs"}}}"#;
    std::fs::write(project.path("work/.mcp.json"), servers).unwrap();
    std::fs::write(
        project.path("config/config.toml"),
        "model = \"anthropic/claude-opus-4-5\"\n[fetch]\nenabled = true",
    )
    .unwrap();
    let (said, code) = report(&project, Some(&server));
    for wanted in [
        "model      anthropic/claude-opus-4-5",
        "anthropic    key from ANTHROPIC_API_KEY",
        // The server knows no list of models.
        "but: anthropic: ",
        "fetch      on; you are asked per host",
        "theirs: of this project, waits for you: `parlor mcp approve theirs`",
    ] {
        assert!(said.contains(wanted), "{wanted}\n{said}");
    }
    assert_eq!(code, Some(0));
}

#[test]
fn what_is_broken_is_told_and_the_exit_code_says_so() {
    let project = Project::new();
    std::fs::write(project.path("config/config.toml"), "compact_at = 5").unwrap();
    let (said, code) = report(&project, None);
    assert!(said.contains("config.toml: compact_at: 5 is no percentage"), "{said}");
    assert_eq!(code, Some(1));
}
