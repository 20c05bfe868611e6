//! The built shell on a desktop of its own, with the built program: what a person does in its window, and what is left when something is
//! killed.

#![cfg(target_os = "linux")]

mod desk;
mod desktop;
mod document;
mod driver;
mod world;

use serde_json::json;
use std::process::Stdio;
use world::{SHELL, World, until};

#[test]
fn a_first_start_leads_to_a_conversation_whose_question_is_answered_in_the_window() {
    let world = World::new();
    let window = world.window(&[]);
    window.begins("write hello.txt: hi", &world.path("project"));
    window.reads("Allow once");
    world.pictured("window", &window);
    assert!(!world.path("project/hello.txt").exists());
    window.presses("Allow once", || world.path("project/hello.txt").exists());
    assert_eq!(std::fs::read_to_string(world.path("project/hello.txt")).unwrap().trim(), "hi");
    // Nothing listens for browsers: no port was ever asked for.
    assert!(!world.path("data/web.port").exists());
}

#[test]
fn what_is_denied_is_not_done() {
    let world = World::new();
    let window = world.window(&[]);
    window.begins("write no.txt: no", &world.path("project"));
    window.reads("Allow once");
    window.presses("Deny", || !window.text().contains("Allow once"));
    assert!(!world.path("project/no.txt").exists());
}

#[test]
fn a_shell_that_is_killed_leaves_its_question_open_and_the_next_one_shows_it() {
    let world = World::new();
    let window = world.window(&[]);
    window.begins("write later.txt: hi", &world.path("project"));
    window.reads("Allow once");
    world.kill(&["-KILL"], SHELL);
    drop(window);
    assert_eq!(world.rooms().len(), 1);
    let window = world.window(&[]);
    window.reads("later.txt");
    window.eval("document.querySelector('a[href^=\"#/s/\"]').click()");
    window.reads("Allow once");
    window.presses("Allow once", || world.path("project/later.txt").exists());
}

#[test]
fn a_server_that_is_killed_is_begun_anew_and_one_that_is_ended_is_not() {
    let world = World::new();
    let window = world.window(&[]);
    window.begins("write after.txt: hi", &world.path("project"));
    window.reads("Allow once");
    let server = world.parlor(&["up", "--json"])["pid"].as_i64().unwrap();
    world.command("kill").args(["-KILL", &server.to_string()]).status().unwrap();
    until("another server runs", || {
        let notice = std::fs::read_to_string(world.path("data/server.json")).unwrap_or_default();
        !notice.is_empty() && !notice.contains(&format!("\"pid\":{server},"))
    });
    window.presses("Allow once", || world.path("project/after.txt").exists());
    world.parlor(&["down", "--json"]);
    window.reads("Parlor has stopped");
    assert!(!world.path("data/server.json").exists());
    window.presses("Try now", || world.path("data/server.json").exists());
}

#[test]
fn the_page_asks_for_nothing_but_its_connections_and_goes_nowhere() {
    let world = World::new();
    let window = world.window(&[]);
    window.reads("Begin");
    for command in [
        "plugin:window|close",
        "plugin:webview|create_webview_window",
        "plugin:event|listen",
        "plugin:shell|open",
        "quit",
    ] {
        window.eval(&format!(
            "window.told = undefined; window.__TAURI_INTERNALS__.invoke({}, {{}}).then(() => window.told = 'done', (why) => window.told = 'refused')",
            json!(command)
        ));
        until(command, || window.eval("return window.told ?? null") == json!("refused"));
    }
    window.eval("location.href = 'https://example.com/'");
    window.eval("window.open('https://example.com/')");
    window.reads("Begin");
    assert_eq!(window.eval("return location.origin"), json!("tauri://localhost"));
    // What is not of the page is not loaded either.
    window.eval("window.told = undefined; fetch('https://example.com/').then(() => window.told = 'done', () => window.told = 'refused')");
    until("the fetch is refused", || window.eval("return window.told ?? null") == json!("refused"));
}

#[test]
fn a_second_start_goes_to_the_first_and_quitting_ends_no_session() {
    let world = World::new();
    let window = world.window(&[]);
    window.begins("list files", &world.path("project"));
    until("a room", || !world.rooms().is_empty());
    until("the window is seen", || !world.windows().is_empty());
    assert!(world.start(&["--hidden"]).success());
    until("it is put aside", || world.windows().is_empty());
    assert!(world.start(&[]).success());
    until("it is seen again", || !world.windows().is_empty());
    assert!(world.start(&["--allow"]).code() == Some(2));
    assert!(world.start(&["--quit"]).success());
    until("the first has ended", || !world.runs(SHELL));
    assert_eq!(world.rooms().len(), 1);
}

#[test]
fn of_starts_at_the_same_time_one_stays_and_hears_the_others() {
    let world = World::new();
    let all: Vec<_> = (0..4)
        .map(|_| {
            world
                .command(SHELL)
                .env_remove("TAURI_WEBVIEW_AUTOMATION")
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    until("one is seen", || !world.windows().is_empty());
    until("the others have ended", || world.count(SHELL) == 1);
    assert_eq!(world.windows().len(), 1);
    assert!(world.start(&["--quit"]).success());
    for one in all {
        let ended = one.wait_with_output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
    }
}

#[test]
fn without_a_bus_there_is_a_window_all_the_same() {
    let world = World::new();
    let mut alone = world.command(SHELL);
    alone.env_remove("TAURI_WEBVIEW_AUTOMATION").stderr(Stdio::piped());
    let started = alone.env("DBUS_SESSION_BUS_ADDRESS", "nonsense").spawn().unwrap();
    until("it is seen", || !world.windows().is_empty());
    world.kill(&["-TERM"], SHELL);
    let said = started.wait_with_output().unwrap().stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("no tray") && !said.contains("panicked"), "{said}");
}

#[test]
fn without_a_screen_it_is_told_what_is_missing() {
    let world = World::new();
    let mut blind = world.command(SHELL);
    blind.env_remove("DISPLAY").env_remove("TAURI_WEBVIEW_AUTOMATION");
    let ended = blind.output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("there is no window") && !said.contains("panicked"), "{said}");
}
