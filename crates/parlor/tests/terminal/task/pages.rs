//! The lines that pages tell a person to paste: they are read, and what they start answers.

use crate::task::Project;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

fn page(name: &str) -> String {
    let docs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    std::fs::read_to_string(docs.join(name)).map_err(|why| format!("{name}: {why}")).unwrap()
}

/// The fenced texts of this language.
fn fenced(page: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once(&format!("```{language}\n")) {
        let (text, after) = after.split_once("```").unwrap();
        found.push(text.to_owned());
        rest = after;
    }
    found
}

/// Starts what an editor would start, greets it, and wants an answer.
fn answers(project: &Project, command: &str, args: &[&str]) {
    assert_eq!(command, "parlor");
    let mut child = project.bare(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}});
    writeln!(child.stdin.take().unwrap(), "{hello}").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let answer: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    assert_eq!((&answer["id"], &answer["result"]["protocolVersion"]), (&json!(0), &json!(1)), "{answer}");
}

#[test]
fn the_json_for_editors_parses_and_names_a_command_that_answers() {
    let project = Project::new();
    for name in ["editors/zed.md", "editors/jetbrains.md"] {
        let blocks = fenced(&page(name), "json");
        assert_eq!(blocks.len(), 1, "{name}");
        let settings: Value = serde_json::from_str(&blocks[0]).unwrap();
        let agent = &settings["agent_servers"]["Parlor"];
        assert!(agent["env"].is_object(), "{name}");
        let args: Vec<&str> =
            agent["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
        answers(&project, agent["command"].as_str().unwrap(), &args);
    }
}

#[test]
fn the_lua_and_the_lisp_name_the_same_command_and_are_balanced() {
    for (name, language, wanted) in [
        (
            "editors/neovim.md",
            "lua",
            &["{ \"parlor\", \"acp\" }", "command = \"parlor\"", "args = { \"acp\" }"][..],
        ),
        ("editors/emacs.md", "elisp", &[":command \"parlor\"", ":command-params '(\"acp\")"]),
    ] {
        let code = fenced(&page(name), language).concat();
        for text in wanted {
            assert!(code.contains(text), "{name}: {text}");
        }
        for (open, close) in [('(', ')'), ('{', '}'), ('[', ']')] {
            assert_eq!(code.matches(open).count(), code.matches(close).count(), "{name}: {open}{close}");
        }
    }
}

#[test]
fn the_page_on_agents_names_all_that_are_known_and_its_settings_are_read() {
    let (project, page) = (Project::new(), page("agents.md"));
    let settings: String =
        fenced(&page, "toml").concat().lines().map(|line| format!("{}\n", line.trim())).collect();
    std::fs::write(project.path("config/config.toml"), settings).unwrap();
    let output = project.bare(&["agents", "--json"]).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let agents: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(agents.iter().any(|agent| agent["name"] == "mine"));
    for agent in agents.iter().filter(|agent| agent["source"] == "known to Parlor") {
        assert!(page.contains(agent["title"].as_str().unwrap()), "{agent}");
    }
}
