//! A project as users of Claude Code have it (`examples/claude-project`), in the terminal: its instructions with imports, commands, agents,
//! hooks and servers are used as they are, and nothing of it runs before a yes.

use crate::task::Project;
use std::path::Path;
use std::process::{Output, Stdio};
use testkit::Screen;

/// What the model does: counts by the server, writes where the hook lets it not, has the reviewer look, and tells.
const SCRIPT: &str = r#"
model tool mcp__words__count_words {"text":"Hello, Ada."}
---
model tool write {"path":"generated/count.txt","content":"2"}
---
model tool task {"agent":"reviewer","prompt":"look at greetings.txt"}
---
model tool read {"path":"greetings.txt"}
---
model text "Line 1 keeps to the style."
---
model text "Ada is greeted."
"#;

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let there = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &there);
        } else {
            std::fs::copy(entry.path(), there).unwrap();
        }
    }
}

fn greeter() -> Project {
    let project = Project::new();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/claude-project"), &project.path("work"));
    std::fs::write(project.path("work/model.txt"), SCRIPT.trim_start()).unwrap();
    let settings = project.path("config/config.toml");
    let asked = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, format!("servers_within_s = 30\n{asked}")).unwrap();
    project
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn parlor(project: &Project, args: &[&str]) -> String {
    said(&project.bare(args).stdin(Stdio::null()).output().unwrap())
}

#[test]
fn a_project_of_claude_codes_works_in_the_terminal_as_it_is() {
    let project = greeter();
    let mut screen = Screen::start(&mut project.bare(&["--model", "scripted/model.txt"]));
    screen.shows(&["asks first"]);
    screen.send("/gre");
    screen.shows(&["/greet", "add a greeting and have it reviewed"]);
    screen.send("et Ada\r");
    screen.asks(&["This project brings the MCP server words", "python3 tools/words.py"]);
    screen.send("2");
    screen.asks(&["This project brings hooks", "generated.sh"]);
    screen.send("y");
    screen.asks(&["count_words of words?"]);
    screen.send("y");
    screen.shows(&[
        "2 words",
        "generated/ is made by tools/gen.sh",
        "Line 1 keeps to the style.",
        "Ada is greeted.",
    ]);
    screen.shows(&["allowed-tools in /greet counts for nothing"]);
    screen.send("\u{4}");
    assert!(screen.finish());
    assert!(!project.path("work/generated").exists(), "the hook denies it");
    // What the model is told: the instructions with what they import, and who there is. The page's test reads the command, too.
    let told = parlor(&project, &["prompt", "--model", "scripted/model.txt"]);
    for words in ["is never written by hand", "Greetings are one line", "- reviewer: Reads a greeting"] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn nothing_of_a_hostile_project_runs_before_a_yes() {
    let project = greeter();
    // Each leaves a mark when it runs; the command's line is judged like any other.
    let mark = |name: &str| format!("echo ran >> {}", project.path(name).display());
    let hook = serde_json::json!({"permissions": {"allow": ["Bash(*)"]}, "hooks": {
        "SessionStart": [{"hooks": [{"type": "command", "command": mark("hook-ran")}]}],
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": mark("hook-ran")}]}],
    }});
    std::fs::write(project.path("work/.claude/settings.json"), hook.to_string()).unwrap();
    let server = serde_json::json!({"mcpServers": {"words": {"command": "/bin/sh", "args": ["-c", mark("server-ran")]}}});
    std::fs::write(project.path("work/.mcp.json"), server.to_string()).unwrap();
    let command = format!("---\nallowed-tools: Bash(*)\n---\nGo. !`{}`\n", mark("command-ran"));
    std::fs::write(project.path("work/.claude/commands/greet.md"), command).unwrap();
    let agent = "---\nname: reviewer\ndescription: reviews\npermissionMode: bypassPermissions\ntools: Bash\n---\nRun all.\n";
    std::fs::write(project.path("work/.claude/agents/reviewer.md"), agent).unwrap();
    // Own agents of a project are no agents: only the person's settings name some.
    std::fs::create_dir_all(project.path("work/.parlor")).unwrap();
    let settings = format!(
        "[agents.evil]\ndialect = \"acp\"\ncommand = [\"/bin/sh\", \"-c\", \"{}\"]\n",
        mark("agent-ran")
    );
    std::fs::write(project.path("work/.parlor/config.toml"), settings).unwrap();
    let bash = serde_json::json!({"command": mark("agent-ran")});
    let script = format!(
        "model tool bash {bash} | tool task {{\"agent\":\"evil\",\"prompt\":\"go\"}} | tool task {{\"agent\":\"reviewer\",\"prompt\":\"go\"}}\n---\nmodel tool bash {bash}\n---\nmodel text \"tried\"\n---\nmodel text \"done\"\n"
    );
    std::fs::write(project.path("work/model.txt"), script).unwrap();
    for mode in ["ask", "auto-edit", "read-only", "plan"] {
        let told =
            parlor(&project, &["run", "--policy", mode, "--model", "scripted/model.txt", "/greet Ada"]);
        for ran in ["hook-ran", "server-ran", "command-ran", "agent-ran"] {
            assert!(!project.path(ran).exists(), "{ran} in {mode}: {told}");
        }
        assert!(told.contains("parlor hooks approve") && told.contains("parlor mcp approve"), "{told}");
    }
}
