//! Other programs' agents in rooms of the server: side by side, beyond their terminals, started again only when the person says so.

use super::{PARLOR, until};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use testkit::{PATIENCE, Person, Screen};

/// A world with an agent that the person has agreed to: ours, over another wire, as `mine`.
fn agreed() -> Person {
    let world = Person::new(PARLOR);
    let program = world.path("home/agent");
    let pids = world.path("home/pids");
    let script = format!(
        "#!/bin/sh\necho $$ >> {}\nexec {PARLOR} serve --dialect codelia --stdio --ephemeral\n",
        pids.display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let file = world.path("config/config.toml");
    let settings = std::fs::read_to_string(&file).unwrap_or_default();
    let program = program.display().to_string();
    let agent = format!("\n[agents.mine]\ncommand = [{program:?}]\ndialect = \"codelia\"\n");
    std::fs::write(&file, settings + &agent).unwrap();
    assert!(world.says(&["attach", "mine", "--yes", "--prompt", "say howdy"]).contains("howdy"));
    std::fs::remove_file(pids).unwrap();
    world.up();
    world
}

/// The rooms with an agent of another program.
fn rooms(world: &Person) -> Vec<Value> {
    let all = world.json(&["ps", "--json"]);
    let all = all.as_array().unwrap().iter();
    all.filter(|process| process["serving"] == "room on codelia").cloned().collect()
}

fn in_room(world: &Person, folder: &str) -> Screen {
    let mut screen = Screen::start(&mut world.parlor(folder, &["attach", "mine"]));
    screen.shows(&["mine, goes on when this terminal is closed"]);
    screen
}

#[test]
fn agents_stand_side_by_side_in_rooms_and_outlive_their_terminals() {
    let world = agreed();
    let mut first = in_room(&world, "one");
    first.send("hello\r");
    first.shows(&["I am the offline model"]);
    let rooms_before = rooms(&world);
    assert_eq!(rooms_before.len(), 1, "{rooms_before:?}");
    let session = rooms_before[0]["sessions"][0]["id"].as_str().unwrap().to_owned();
    let second = in_room(&world, "two");
    assert_eq!(rooms(&world).len(), 2);
    first.vanish(PATIENCE);
    let mut again = Screen::start(&mut world.parlor("two", &["--resume", &session]));
    again.shows(&["I am the offline model"]);
    let pids: Vec<Value> = rooms(&world).iter().map(|room| room["pid"].clone()).collect();
    assert!(pids.len() == 2 && pids.contains(&rooms_before[0]["pid"]), "{pids:?}");
    drop((again, second));
}

#[test]
fn an_agent_that_ends_is_started_again_when_the_person_says_so_and_not_by_itself() {
    let world = agreed();
    let mut screen = in_room(&world, "one");
    screen.send("hello\r");
    screen.shows(&["I am the offline model"]);
    let pids = || std::fs::read_to_string(world.path("home/pids")).unwrap();
    let first: i32 = pids().trim().parse().unwrap();
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(first).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    screen.shows(&["It is looked for"]);
    until("its room is gone", || rooms(&world).is_empty().then_some(()));
    assert_eq!(pids().lines().count(), 1, "nobody asked for it");
    // F5.
    screen.send("\x1b[15~");
    until("it is started again", || (pids().lines().count() == 2).then_some(()));
    screen.shows(&["the runtime is back"]);
    assert_eq!(rooms(&world).len(), 1);
}

#[test]
fn a_session_in_a_room_goes_on_with_another_agent_and_comes_back() {
    let world = agreed();
    let mut screen = Screen::start(&mut world.parlor("one", &[]));
    screen.shows(&["goes on when this terminal is closed"]);
    screen.send("say howdy\r");
    screen.shows(&["> say howdy", " howdy"]);
    // Nobody goes to another agent in the middle of a run.
    screen.settles();
    screen.send("/agents mine\r");
    screen.shows(&[
        "mine, goes on when this terminal is closed",
        "goes on from what was said",
        "what came before",
    ]);
    assert_eq!((world.rooms().len(), rooms(&world).len()), (1, 1), "the room that was left goes on");
    screen.send("/agents parlor\r");
    screen.shows(&["> say howdy"]);
}

#[test]
fn an_agent_that_nobody_agreed_to_is_started_in_no_room() {
    let world = agreed();
    let socket = world.json(&["up", "--json"])["control"].as_str().unwrap().to_owned();
    std::fs::remove_file(world.path("data/attached")).unwrap();
    let mut control = std::os::unix::net::UnixStream::connect(socket).unwrap();
    control.set_read_timeout(Some(PATIENCE)).unwrap();
    std::io::Write::write_all(&mut control, b"{\"open\":{\"agent\":\"mine\"}}\n").unwrap();
    let mut said = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(control), &mut said).unwrap();
    assert!(said.contains("was never agreed to here"), "{said}");
    assert!(!world.path("home/pids").exists());
}
