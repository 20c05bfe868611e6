//! What README's table of things to try promises is what a newcomer sees.

use crate::task::Project;
use std::process::Command;
use testkit::Screen;

/// The rows of the table: what to say, and what is promised.
fn rows() -> Vec<(String, String)> {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let table = readme.split("| say | and see |").nth(1).unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let (say, see) = row.trim_matches(['|', ' ']).split_once(" | ").unwrap();
        let say = say.trim().strip_prefix("``").and_then(|say| say.strip_suffix("``")).unwrap_or(say);
        let say = if say.starts_with('`') { say.trim_matches('`') } else { say.trim() };
        (say.to_owned(), see.to_owned())
    })
    .collect()
}

#[test]
fn what_the_readme_promises_comes() {
    let rows = rows();
    assert!(rows.len() >= 9, "{rows:?}");
    for (say, see) in rows {
        let project = Project::newcomer();
        // A tag needs a repository.
        let made = Command::new("git").args(["init", "-q"]).current_dir(project.path("work")).status();
        assert!(made.unwrap().success());
        std::fs::write(project.path("work/README.md"), "hello there").unwrap();
        let mut terminal = Screen::start(&mut project.bare(&["--model", "offline/offline"]));
        terminal.shows(&["offline", "shows all keys"]);
        terminal.send(&format!("{say}\r"));
        let asks = see.contains("a consent") || see.contains("asks you");
        let mut asked = false;
        match say.as_str() {
            "list files" => terminal.shows(&["✓ ls", "sum.sh"]),
            "read README.md" => terminal.shows(&["✓ read README.md", "hello there"]),
            "run `ls -la`" => terminal.shows(&["✓ bash ls -la", "total"]),
            "run `touch new.txt`" => {
                terminal.shows(&["✓ bash touch new.txt", "printed:"]);
                terminal.until("the run is over", |screen| !screen.contents().contains("Esc stops"));
                assert!(project.path("work/new.txt").exists());
                terminal.send("/undo\r");
                let there = project.path("work/new.txt");
                terminal.sees("it is taken back", || !there.exists());
            }
            "write hello.txt: hi" => {
                terminal.shows(&["✓ write hello.txt", "+ hi"]);
                terminal.until("the run is over", |screen| !screen.contents().contains("Esc stops"));
                // From the sandbox through read-only.
                terminal.send("\x1b[Z\x1b[Z\x1b[Z");
                terminal.shows(&["asks first"]);
                terminal.send("write bye.txt: hi\r");
                terminal.asks(&["write bye.txt", "+ hi", "y allow once"]);
                terminal.send("y");
                terminal.shows(&["✓ write bye.txt"]);
            }
            "run `git tag try`" => {
                terminal.asks(&["$ git tag try", "y allow once", "n deny"]);
                asked = true;
                terminal.send("n");
                terminal.shows(&["denied", "■ stopped: you denied git tag try"]);
            }
            "ask me something" => {
                terminal.asks(&["y yes", "n no"]);
                asked = true;
                terminal.send("y");
                terminal.shows(&["You answered: yes"]);
            }
            "think" => terminal.shows(&["thought", "forty-two"]),
            "fail" => terminal.shows(&["failed", "try again"]),
            "count to 200 slowly" => {
                terminal.shows(&["1, 2, 3, 4", "Esc stops"]);
                terminal.send("\x1b");
                terminal.shows(&["stopped by you"]);
            }
            other => panic!("README has a row that nobody tries: {other}"),
        }
        assert_eq!(asked, asks, "{say}: {see}");
        let later = see.contains("Shift-Tab");
        assert!(asks || later || !terminal.said("waiting for your answer"), "{say}: {see}");
        terminal.send("\x04");
        assert!(terminal.finish(), "{say}: it ends well");
    }
}
