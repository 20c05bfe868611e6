//! What is known, said and left behind from the first moment on: of a session in a room, of flags that come too late, of the page's port,
//! and of what was open where a server was begun.

use super::PARLOR;
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use testkit::{PATIENCE, Person, Running, Screen, said};

#[test]
fn a_room_tells_folder_model_and_mode_before_anything_is_said() {
    let world = Person::new(PARLOR);
    world.up();
    let mut terminal = Screen::start(&mut world.parlor("one", &["--policy", "auto-edit"]));
    let folder = world.path("one").canonicalize().unwrap();
    terminal.shows(&[
        "model   offline/offline",
        "An AI coding agent",
        folder.to_str().unwrap(),
        "offline · edits freely · one",
    ]);
    assert_eq!(terminal.count("connecting"), 0);
    // The same on its socket by hand.
    let pid = world.rooms()[0]["pid"].as_u64().unwrap();
    let socket = world.path(&format!("data/run/{pid}.sock"));
    let mut by_hand =
        Screen::start(&mut world.parlor("two", &["attach", "--socket", socket.to_str().unwrap()]));
    by_hand.shows(&["model   offline/offline", folder.to_str().unwrap(), "offline · edits freely · one"]);
    // Nobody has said anything: nothing is kept of it.
    drop((terminal, by_hand));
    world.says(&["down"]);
    assert_eq!(world.json(&["sessions", "list", "--all", "--json"]), json!([]));
}

#[test]
fn what_is_typed_for_a_session_that_is_gone_on_with_holds_or_is_said_not_to() {
    let world = Person::new(PARLOR);
    said(&world.parlor("one", &["run", "say one"]).output().unwrap());
    // In a process of its own, in a room, and without a screen.
    let mut here =
        Screen::start(&mut world.parlor("one", &["--here", "--continue", "--policy", "read-only"]));
    here.shows(&["say one", "read-only"]);
    here.vanish(PATIENCE);
    world.up();
    let mut room = Screen::start(&mut world.parlor("one", &["--continue", "--policy", "auto-edit"]));
    room.shows(&["say one", "edits freely"]);
    let mut late = Screen::start(&mut world.parlor("one", &["--continue", "--policy", "full"]));
    late.shows(&["say one", "edits freely"]);
    late.send("/notices\r");
    late.shows(&["--policy=full was not heeded: the session is open already; /policy"]);
    drop((room, late));
    world.says(&["down"]);
    let run = ["run", "--continue", "--policy", "read-only", "write x.txt: no"];
    let _ = world.parlor("one", &run).stdin(Stdio::null()).output().unwrap();
    assert!(!world.path("one/x.txt").exists());
}

#[test]
fn a_port_that_another_program_has_is_told_to_whoever_asks() {
    let world = Person::new(PARLOR);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    std::fs::create_dir(world.path("data")).unwrap();
    std::fs::write(world.path("data/web.port"), format!("{port}\n")).unwrap();
    let words = format!("the page's port of last time ({port}) cannot be had");
    let warned = |args: &[&str]| {
        let told = world.parlor("home", args).stdin(Stdio::null()).output().unwrap();
        said(&told);
        String::from_utf8_lossy(&told.stderr).contains(&words)
    };
    assert!(!warned(&["up"]), "the page is not served yet");
    // It waits for a browser then.
    let mut waiting = world.parlor("home", &["web", "--no-open"]);
    let mut waiting =
        waiting.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(waiting.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(told.any(|line| line.contains(&words)));
    waiting.kill().unwrap();
    waiting.wait().unwrap();
    assert!(warned(&["ps"]) && warned(&["up"]));
    assert!(world.json(&["up", "--json"])["warning"].as_str().unwrap().contains(&words));
    // Where browsers are enrolled it is served from the start, and who starts it is told at once.
    world.says(&["down"]);
    let device = json!({"id": "0123456789ab", "name": "phone", "role": "controller", "key": "A".repeat(87), "since": 1});
    std::fs::write(world.path("data/devices.json"), json!({"devices": [device]}).to_string()).unwrap();
    assert!(warned(&["up"]));
    world.says(&["down"]);
    drop(taken);
    assert!(!warned(&["up"]));
}

/// Starts this program by a shell that leaves descriptor 7 open for it; gives it and the other end of that.
fn with_seven(world: &Person, words: &str) -> (Running, impl Read + Send + 'static) {
    let like = world.parlor("one", &[]);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("exec 7>&1 >/dev/null; exec \"$0\" {words}")).arg(PARLOR);
    shell.current_dir(world.path("one")).env_clear();
    shell.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let seven = child.stdout.take().unwrap();
    (Running(child), seven)
}

#[track_caller]
fn ends(mut seven: impl Read + Send + 'static) {
    let (tell, told) = mpsc::sync_channel(1);
    std::thread::spawn(move || tell.send(seven.read_to_end(&mut Vec::new()).is_ok()));
    assert_eq!(told.recv_timeout(PATIENCE), Ok(true), "somebody holds it open");
}

#[test]
fn what_was_open_where_a_server_or_a_room_was_begun_is_not_held_by_it() {
    let world = Person::new(PARLOR);
    // Without a server the relay starts its room itself.
    let (mut relay, seven) = with_seven(&world, "relay");
    super::until("its room is there", || (!world.rooms().is_empty()).then_some(()));
    let mut stdin = relay.0.stdin.take().unwrap();
    let _ = stdin.write_all(b"\n");
    drop(stdin);
    relay.0.wait().unwrap();
    ends(seven);
    assert_eq!(world.rooms().len(), 1, "the room lives on");
    let (mut up, seven) = with_seven(&world, "up");
    assert!(up.0.wait().unwrap().success());
    ends(seven);
    assert!(world.says(&["up"]).contains("runs already"));
}
