//! The server in the background, through the built program: terminals that close, rooms that go on, servers that die, keys that only
//! one terminal has, and a session of another machine.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

mod agents;
mod clients;
mod devices;
mod first;

use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use testkit::{PATIENCE, Person, Screen, said};

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");

#[track_caller]
fn until<T>(what: &str, mut holds: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(held) = holds() {
            return held;
        }
        assert!(Instant::now() < end, "never: {what}");
        std::thread::yield_now();
    }
}

/// The host and the port of an address of the page.
fn place(address: &str) -> (&str, u16) {
    let host = address.strip_prefix("http://").unwrap().trim_end_matches('/');
    (host, host.rsplit_once(':').unwrap().1.parse().unwrap())
}

fn is_there(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'))
}

#[test]
fn the_page_is_served_by_the_server_when_the_command_has_ended_and_ends_with_it() {
    let world = Person::new(PARLOR);
    world.up();
    let (mut asking, address) = world.offers(&[]);
    let (host, port) = place(&address);
    let page = || {
        let mut asked = TcpStream::connect(("127.0.0.1", port))?;
        asked.set_read_timeout(Some(PATIENCE))?;
        write!(asked, "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
        let mut got = String::new();
        asked.read_to_string(&mut got).map(|_| got)
    };
    let got = page().unwrap();
    assert!(got.starts_with("HTTP/1.1 200") && got.contains("<title>"), "{got}");
    // Whoever asks again gets another address of the same page.
    let (mut again, other) = world.offers(&["--role", "observer"]);
    assert!(other != address && place(&other).1 == port, "{other}");
    for command in [&mut asking, &mut again] {
        command.kill().unwrap();
        command.wait().unwrap();
    }
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok(), "the page is the server's");
    world.says(&["down"]);
    // The number is free, and another program may have it by now.
    assert!(!page().is_ok_and(|got| got.contains("<title>")), "the page went with the server");
}

#[test]
fn a_run_goes_on_when_its_terminal_is_closed_and_a_second_one_attaches() {
    let world = Person::new(PARLOR);
    let up = world.up();
    assert_eq!(
        (up["started"].as_bool(), up["version"].as_str()),
        (Some(true), Some(env!("CARGO_PKG_VERSION")))
    );
    assert!(world.says(&["up"]).contains("runs already"));
    let mut first = Screen::start(&mut world.parlor("one", &[]));
    first.shows(&["goes on when this terminal is closed"]);
    first.send("run `touch made`\r");
    first.asks(&["touch made"]);
    // The same session, in the same process, whatever the terminal.
    let rooms = world.rooms();
    assert_eq!(rooms.len(), 1);
    assert_eq!(rooms[0]["cwd"].as_str(), world.path("one").canonicalize().unwrap().to_str());
    let session = rooms[0]["sessions"][0]["id"].as_str().unwrap().to_owned();
    first.vanish(PATIENCE);
    let mut second = Screen::start(&mut world.parlor("two", &["--resume", &session]));
    second.asks(&["touch made"]);
    assert!(!world.path("one/made").exists());
    second.send("y");
    second.sees("the file is made", || world.path("one/made").exists());
    assert_eq!(world.rooms()[0]["pid"], rooms[0]["pid"]);
    second.vanish(PATIENCE);

    let (server, room) = (up["pid"].as_u64().unwrap(), rooms[0]["pid"].as_u64().unwrap());
    let down = world.json(&["down", "--json"]);
    assert_eq!(
        (down["server"].as_u64(), down["rooms"].as_u64(), down["left"].as_u64()),
        (Some(server), Some(1), Some(0))
    );
    assert!(!is_there(server) && !is_there(room));
    assert!(world.says(&["down"]).contains("no server runs"));
    assert_eq!(
        std::fs::read_dir(world.path("data/rooms")).unwrap().count(),
        0,
        "logs of what ended well are gone"
    );
}

#[test]
fn rooms_outlive_a_killed_server_and_the_next_one_finds_them() {
    let world = Person::new(PARLOR);
    let killed = world.up()["pid"].as_u64().unwrap();
    let mut terminal = Screen::start(&mut world.parlor("one", &[]));
    terminal.shows(&["goes on when this terminal is closed"]);
    terminal.send("run `touch made`\r");
    terminal.asks(&["touch made"]);
    let pid = rustix::process::Pid::from_raw(i32::try_from(killed).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    until("it is dead", || (!is_there(killed)).then_some(()));
    // What it left is taken over: lock, notice and socket.
    let up = world.up();
    assert_eq!(up["started"].as_bool(), Some(true));
    assert_ne!(up["pid"].as_u64(), Some(killed));
    let room = world.rooms()[0].clone();
    assert_eq!(up["rooms"].as_array().unwrap(), &vec![room["pid"].clone()]);
    terminal.send("y");
    terminal.sees("the file is made", || world.path("one/made").exists());
    // Asked for the session, the new server gives the room of the old one.
    let session = room["sessions"][0]["id"].as_str().unwrap();
    let mut second = Screen::start(&mut world.parlor("one", &["--resume", session]));
    second.shows(&["touch made"]);
    assert_eq!(world.rooms().len(), 1);
    let pid = rustix::process::Pid::from_raw(i32::try_from(up["pid"].as_u64().unwrap()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    until("it is dead", || (!is_there(up["pid"].as_u64().unwrap())).then_some(()));
    assert!(world.says(&["down"]).contains("session processes of one that was killed were ended: 1"));
    assert!(!is_there(room["pid"].as_u64().unwrap()));
}

#[test]
fn a_room_that_nobody_needs_ends_by_itself() {
    let world = Person::new(PARLOR);
    let up: Value = world.json(&["up", "--json", "--room-idle", "1"]);
    assert_eq!(up["started"].as_bool(), Some(true));
    let mut terminal = Screen::start(&mut world.parlor("one", &[]));
    terminal.shows(&["goes on when this terminal is closed"]);
    terminal.send("run `touch made`\r");
    terminal.asks(&["touch made"]);
    let room = world.rooms()[0]["pid"].as_u64().unwrap();
    let session = world.rooms()[0]["sessions"][0]["id"].as_str().unwrap().to_owned();
    // A question keeps it, also when nobody looks: one without a question, left later, is gone before it.
    terminal.vanish(PATIENCE);
    let mut idle = Screen::start(&mut world.parlor("two", &[]));
    idle.shows(&["goes on when this terminal is closed"]);
    let other = world.rooms().into_iter().find_map(|other| other["pid"].as_u64().filter(|pid| *pid != room));
    let other = other.unwrap();
    idle.vanish(PATIENCE);
    until("the other one is gone", || (!is_there(other)).then_some(()));
    assert!(is_there(room));
    let mut second = Screen::start(&mut world.parlor("one", &["--resume", &session]));
    second.asks(&["touch made"]);
    second.send("n");
    second.shows(&["ask anything"]);
    second.vanish(PATIENCE);
    until("it is gone", || (!is_there(room)).then_some(()));
    assert!(world.rooms().is_empty());
    // It is kept, and goes on in another room.
    let mut third = Screen::start(&mut world.parlor("one", &["--resume", &session]));
    third.shows(&["touch made"]);
    assert_eq!(world.rooms().len(), 1);
}

#[test]
fn what_cannot_go_through_the_server_has_a_process_of_its_own_and_says_so() {
    let world = Person::new(PARLOR);
    world.up();
    let own = |args: &[&str], variable: Option<(&str, &str)>, words: &[&str]| {
        let mut command = world.parlor("one", args);
        command.envs(variable);
        let mut terminal = Screen::start(&mut command);
        terminal.shows(words);
        assert!(world.rooms().is_empty(), "{args:?}");
    };
    own(
        &[],
        Some(("ANTHROPIC_API_KEY", "only-here")),
        &["runs in this terminal, not in the server", "ANTHROPIC_API_KEY"],
    );
    own(
        &[],
        Some(("OPENAI_BASE_URL", "http://127.0.0.1:1")),
        &["runs in this terminal, not in the server", "OPENAI_BASE_URL"],
    );
    own(&["--ephemeral"], None, &["runs in this terminal, not in the server", "nothing is to be kept"]);
    own(&["--here"], None, &["asks first"]);
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(args);
        assert!(
            command
                .current_dir(world.path("one"))
                .env("HOME", world.path("home"))
                .output()
                .unwrap()
                .status
                .success()
        );
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    own(
        &["--worktree=apart"],
        None,
        &["runs in this terminal, not in the server", "a worktree is ended where it was"],
    );
}

#[test]
fn the_last_conversation_goes_on_in_a_room() {
    let world = Person::new(PARLOR);
    said(&world.parlor("one", &["run", "say one"]).output().unwrap());
    said(&world.parlor("two", &["run", "say two"]).output().unwrap());
    world.up();
    let mut terminal = Screen::start(&mut world.parlor("one", &["--continue"]));
    terminal.shows(&["say one"]);
    // That of this folder, in a room of it, once however often it is asked for.
    let mut again = Screen::start(&mut world.parlor("one", &["--continue"]));
    again.shows(&["say one"]);
    let rooms = world.rooms();
    assert_eq!(rooms.len(), 1);
    assert_eq!(rooms[0]["cwd"].as_str(), world.path("one").canonicalize().unwrap().to_str());
}

#[test]
fn another_version_is_not_used() {
    let world = Person::new(PARLOR);
    std::fs::create_dir_all(world.path("data/run")).unwrap();
    let socket = world.path("data/run/s");
    let door = UnixListener::bind(&socket).unwrap();
    let notice =
        serde_json::json!({"pid": std::process::id(), "version": "9.9.9", "since": 1, "control": socket});
    std::fs::write(world.path("data/server.json"), notice.to_string()).unwrap();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = door.accept() {
            let mut line = String::new();
            let _ = BufReader::new(&stream).read_line(&mut line);
            let _ = (&stream).write_all(b"{\"status\":{\"version\":\"9.9.9\",\"rooms\":[]}}\n");
        }
    });
    let mut terminal = Screen::start(&mut world.parlor("one", &[]));
    terminal.shows(&["runs in this terminal, not in the server", "the server is parlor 9.9.9"]);
    drop(terminal);
    std::fs::remove_file(world.path("data/server.json")).unwrap();
}

#[test]
fn a_room_has_the_folder_and_the_cleaned_environment_of_its_terminal() {
    use std::os::unix::ffi::OsStrExt;
    let world = Person::new(PARLOR);
    let mut up = world.parlor("home", &["up"]);
    said(&up.env("ANTHROPIC_API_KEY", "").env("SERVER_TOKEN", "ours").output().unwrap());
    let mut command = world.parlor("two", &["--policy", "auto-edit"]);
    command.env("ODD", std::ffi::OsStr::from_bytes(b"caf\xe9\n")).env("TMUX", "x").env("MY_TOKEN", "theirs");
    let mut terminal = Screen::start(&mut command);
    terminal.shows(&["goes on when this terminal is closed"]);
    terminal.send("say hi\r");
    terminal.shows(&["edits freely"]);
    let room = world.rooms()[0].clone();
    let environ = std::fs::read(format!("/proc/{}/environ", room["pid"])).unwrap();
    let has = |text: &[u8]| environ.split(|byte| *byte == 0).any(|variable| variable == text);
    assert!(has(b"ODD=caf\xe9\n") && has(b"SERVER_TOKEN=ours") && has(b"TERM=dumb"));
    assert!(!environ.windows(6).any(|bytes| bytes == b"theirs") && !has(b"TMUX=x"));
    assert_eq!(room["cwd"].as_str(), world.path("two").canonicalize().unwrap().to_str());
}

#[test]
fn two_servers_begun_at_once_are_one_and_two_terminals_on_one_session_one_room() {
    let world = Person::new(PARLOR);
    let begin = || world.parlor("home", &["up", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let begun: Vec<Child> = (0..4).map(|_| begin()).collect();
    let told = begun.into_iter().map(|child| said(&child.wait_with_output().unwrap()));
    let pids: Vec<Value> =
        told.map(|told| serde_json::from_str::<Value>(&told).unwrap()["pid"].clone()).collect();
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");

    let kept = world.parlor("one", &["run", "--json", "say one"]).output().unwrap();
    let first: Value = serde_json::from_str(said(&kept).lines().next().unwrap()).unwrap();
    let listed = world.parlor("one", &["sessions", "list", "--json"]).output().unwrap();
    let listed = said(&listed);
    let session = listed
        .split('"')
        .find(|word| word.starts_with("sess-"))
        .unwrap_or_else(|| first["session"].as_str().unwrap());
    let mut terminals: Vec<Screen> =
        (0..3).map(|_| Screen::start(&mut world.parlor("one", &["--resume", session]))).collect();
    for terminal in &mut terminals {
        terminal.shows(&["say one"]);
    }
    assert_eq!(world.rooms().len(), 1);
    // A process of its own joins them there, and does not become a second writer.
    let mut here = Screen::start(&mut world.parlor("one", &["--here", "--resume", session]));
    here.shows(&["say one"]);
    assert_eq!(world.rooms().len(), 1);
}

#[test]
fn a_command_without_a_screen_has_a_session_that_nobody_needs_in_its_room() {
    let world = Person::new(PARLOR);
    world.up();
    let stands = |args: &[&str], words: &str| {
        let mut terminal = Screen::start(&mut world.parlor("one", args));
        terminal.shows(&[words]);
        terminal
    };
    let mut terminal = stands(&["--policy", "full"], "goes on when this terminal is closed");
    terminal.send("run `touch made`\r");
    terminal.sees("the file is made", || world.path("one/made").exists());
    terminal.shows(&["ask anything"]);
    let room = || world.rooms()[0]["pid"].as_u64().unwrap();
    let (held, session) = (room(), world.rooms()[0]["sessions"][0]["id"].as_str().unwrap().to_owned());
    // Somebody is there: what is possible is said, and nothing is taken from them.
    for words in
        [&["run", "--continue", "say two"][..], &["--resume", &session, "run", "x"], &["sessions", "undo"]]
    {
        let refused = world.parlor("one", words).stdin(Stdio::null()).output().unwrap();
        let err = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{words:?}: {err}");
        let there = format!("`parlor attach --session {session}` goes there");
        assert!(err.contains("somebody is attached to it") && err.contains(&there), "{err}");
        assert!(err.contains("`parlor down`"), "{err}");
    }
    assert!(is_there(held) && world.path("one/made").exists());
    terminal.vanish(PATIENCE);
    until("nobody is there", || {
        world.rooms()[0]["sessions"][0]["uis"].as_array().unwrap().is_empty().then_some(())
    });
    // It would stay for ten minutes.
    let told =
        said(&world.parlor("one", &["run", "--continue", "say two"]).stdin(Stdio::null()).output().unwrap());
    assert!(told.contains("two"), "{told}");
    assert!(!is_there(held));

    let terminal = stands(&["--continue"], "say two");
    assert_ne!(room(), held);
    terminal.vanish(PATIENCE);
    until("nobody is there", || {
        world.rooms()[0]["sessions"][0]["uis"].as_array().unwrap().is_empty().then_some(())
    });
    let told = said(&world.parlor("one", &["sessions", "undo"]).output().unwrap());
    assert!(told.contains("removed made") && !world.path("one/made").exists(), "{told}");

    // A question that waits is not answered by going away.
    let mut terminal = stands(&["--continue", "--policy", "ask"], "say two");
    terminal.send("run `touch again`\r");
    terminal.asks(&["touch again"]);
    terminal.vanish(PATIENCE);
    until("nobody is there", || {
        world.rooms()[0]["sessions"][0]["uis"].as_array().unwrap().is_empty().then_some(())
    });
    let refused = world.parlor("one", &["sessions", "redo"]).output().unwrap();
    let err = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(err.contains("a question waits for an answer there"), "{err}");
    assert!(is_there(room()));
}

#[test]
fn what_is_said_of_sessions_is_refused_where_none_is_begun() {
    let world = Person::new(PARLOR);
    for (words, idle) in [
        (&["up", "--policy", "full", "--ephemeral"][..], "--policy and --ephemeral"),
        (&["--model", "nonsense/x", "up"][..], "--model"),
        (&["web", "--cwd", "/"][..], "--cwd"),
    ] {
        let output = world.parlor("home", words).env("PARLOR_THEME", "dark").output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains(&format!("error: {idle} has no effect")), "{err}");
    }
    // What the environment says is for whoever it concerns.
    let output = world.parlor("home", &["up"]).env("PARLOR_THEME", "dark").output().unwrap();
    assert!(said(&output).contains("the server runs"));
}

#[test]
fn a_data_folder_may_be_named_from_where_one_is() {
    let world = Person::new(PARLOR);
    let relative = |args: &[&str]| {
        let mut command = world.parlor("one", args);
        said(&command.env("PARLOR_DATA_DIR", "../data").stdin(Stdio::null()).output().unwrap())
    };
    let up: Value = serde_json::from_str(&relative(&["up", "--json"])).unwrap();
    assert_eq!(up["started"].as_bool(), Some(true));
    assert_eq!(world.json(&["up", "--json"])["pid"], up["pid"], "it is the one of that folder");
    assert!(relative(&["down"]).contains("the server ended"));
}

#[test]
fn a_run_that_is_under_way_is_kept_as_stopped_when_the_server_is_told_to_end() {
    let world = Person::new(PARLOR);
    world.up();
    let mut terminal = Screen::start(&mut world.parlor("one", &["--policy", "full"]));
    terminal.shows(&["goes on when this terminal is closed"]);
    terminal.send("run `touch begun; exec sleep 1000`\r");
    terminal.sees("the command runs", || world.path("one/begun").exists());
    let session = world.rooms()[0]["sessions"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(world.json(&["down", "--json"])["killed"].as_u64(), Some(0));
    let shown = world.says(&["sessions", "show", &session]);
    assert!(shown.contains("(cancelled)") && !shown.contains("nobody knows"), "{shown}");
}

#[test]
fn what_a_killed_server_left_is_swept_away_by_the_next_one() {
    let world = Person::new(PARLOR);
    let first = world.up();
    let control = PathBuf::from(first["control"].as_str().unwrap());
    let pid = rustix::process::Pid::from_raw(first["pid"].as_i64().unwrap().try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    until("it is gone", || (!is_there(first["pid"].as_u64().unwrap())).then_some(()));
    assert!(control.exists());
    world.up();
    assert!(!control.exists());
}

#[test]
fn the_page_is_there_again_for_browsers_that_are_enrolled() {
    let world = Person::new(PARLOR);
    world.up();
    let (mut asking, address) = world.offers(&[]);
    let (_, port) = place(&address);
    let host = ("127.0.0.1", port);
    asking.kill().unwrap();
    asking.wait().unwrap();
    world.says(&["down"]);
    world.up();
    assert!(TcpStream::connect(host).is_err(), "nobody is enrolled, nobody asked");
    world.says(&["down"]);
    let key = "A".repeat(87);
    let device = json!({"id": "0123456789ab", "name": "phone", "role": "controller", "key": key, "since": 1});
    std::fs::write(world.path("data/devices.json"), json!({"devices": [device]}).to_string()).unwrap();
    assert!(world.says(&["devices"]).contains("phone"));
    world.up();
    assert!(TcpStream::connect(host).is_ok());
}

#[test]
fn a_data_folder_that_cannot_be_written_is_told() {
    let world = Person::new(PARLOR);
    std::fs::write(world.path("data"), "a file").unwrap();
    let output = world.parlor("home", &["up"]).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && err.contains("cannot be made"), "{err}");
    std::fs::remove_file(world.path("data")).unwrap();
    // A full disk, and a notice that cannot be left.
    std::fs::create_dir(world.path("data")).unwrap();
    std::os::unix::fs::symlink("/dev/full", world.path("data/server.log")).unwrap();
    let output = world.parlor("home", &["up"]).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && err.contains("No space left"), "{err}");
    std::fs::remove_file(world.path("data/server.log")).unwrap();
    std::fs::create_dir_all(world.path("data/server.json/x")).unwrap();
    let output = world.parlor("home", &["up"]).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && err.contains("server.json"), "{err}");
    std::fs::remove_dir_all(world.path("data/server.json")).unwrap();
    // A server that has no place for rooms: the terminal has a process of its own, and knows why.
    world.up();
    std::fs::write(world.path("data/rooms"), "a file").unwrap();
    let mut terminal = Screen::start(&mut world.parlor("one", &[]));
    terminal.shows(&[
        "runs in this terminal, not in the server",
        "the server cannot open it",
        "cannot be made",
    ]);
}

/// The relays that run on the fake of another machine; they end with the test.
#[derive(Clone, Default)]
struct FarAway(Arc<Mutex<Vec<Child>>>);

impl FarAway {
    /// The connections break.
    fn breaks(&self) {
        for mut relay in self.0.lock().unwrap().drain(..) {
            let _ = relay.kill();
            let _ = relay.wait();
        }
    }
}

impl Drop for FarAway {
    fn drop(&mut self) {
        self.breaks();
    }
}

/// A fake of another machine: whoever connects has this program run with the connection as stdin and stdout.
fn far_away(world: &Person, socket: &Path) -> FarAway {
    let away = FarAway::default();
    let relays = away.0.clone();
    let door = UnixListener::bind(socket).unwrap();
    let (cwd, like) = (world.path("two"), world.parlor("two", &[]));
    let environment: Vec<(OsString, OsString)> =
        like.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = door.accept() {
            let mut words = String::new();
            let _ = BufReader::with_capacity(1, &stream).read_line(&mut words);
            let mut relay = Command::new(PARLOR);
            // The words are those of ssh: `parlor relay`, and a session where one is named.
            relay
                .args(words.split_whitespace().skip(1))
                .current_dir(&cwd)
                .env_clear()
                .envs(environment.clone());
            let out: OwnedFd = stream.try_clone().unwrap().into();
            relay.stdin(OwnedFd::from(stream)).stdout(out);
            relays.lock().unwrap().push(relay.spawn().unwrap());
        }
    });
    away
}

/// An ssh that asks on the terminal, then carries to the fake of another machine. With `SLOW` it brings nothing back but the first line
/// until that file is there.
const SSH: &str = r#"#!/usr/bin/perl
use Socket; use IO::Select;
unless ("@ARGV" =~ /BatchMode=yes/) {
  open(T, "+<", "/dev/tty") or die "no terminal"; syswrite(T, "password: "); my $word = <T>; chomp $word;
  die "ssh: wrong password\n" if $word ne "sesame";
}
shift while @ARGV && $ARGV[0] ne "parlor";
socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un($ENV{FAR_AWAY})) or die; syswrite(S, "@ARGV\n");
my $both = IO::Select->new(\*STDIN, \*S);
my ($slow, $greeted, $held) = ($ENV{SLOW}, 0, "");
while (1) {
  for my $h ($both->can_read($slow ? 0.02 : undef)) {
    my $n = sysread($h, my $b, 65536); exit unless $n;
    if ($h != \*S) { syswrite(S, $b); next; }
    $held .= $b;
    if (!$greeted && $held =~ s/^(.*?\n)//s) { $greeted = 1; syswrite(STDOUT, $1); }
  }
  if ($greeted && (!$slow || -e $slow)) { syswrite(STDOUT, $held); ($held, $slow) = ("", undef); }
}
"#;

/// Another machine, and an ssh that leads there.
struct Far {
    bin: PathBuf,
    socket: PathBuf,
    away: FarAway,
}

impl Far {
    fn new(world: &Person) -> Far {
        let (bin, socket) = (world.path("bin"), world.path("far"));
        std::fs::create_dir(&bin).unwrap();
        std::fs::write(bin.join("ssh"), SSH).unwrap();
        std::fs::set_permissions(bin.join("ssh"), std::fs::Permissions::from_mode(0o700)).unwrap();
        let away = far_away(world, &socket);
        Far { bin, socket, away }
    }

    /// A terminal of its own, as a person's shell has one.
    fn attach(&self, world: &Person, address: &str, slow: Option<&Path>) -> Screen {
        self.attach_with(world, &[address], slow)
    }

    fn attach_with(&self, world: &Person, words: &[&str], slow: Option<&Path>) -> Screen {
        let mut command = Command::new("setsid");
        let parlor = world.parlor("one", &[&["attach"], words].concat());
        command
            .arg("--ctty")
            .arg("--wait")
            .arg(PARLOR)
            .args(parlor.get_args())
            .current_dir(world.path("one"))
            .env_clear();
        command.envs(parlor.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("FAR_AWAY", &self.socket).env("PATH", format!("{}:/usr/bin:/bin", self.bin.display()));
        command.envs(slow.map(|slow| ("SLOW", slow)));
        let mut terminal = Screen::start(&mut command);
        terminal.shows(&["password: "]);
        assert_eq!(terminal.count("\u{256d}"), 0, "no screen yet");
        terminal
    }
}

#[test]
fn what_is_typed_before_the_relay_has_attached_goes_to_the_session_that_is_then_shown() {
    let world = Person::new(PARLOR);
    world.up();
    let (far, go) = (Far::new(&world), world.path("go"));
    let mut terminal = far.attach(&world, "ssh://me@far", Some(&go));
    terminal.send("sesame\r");
    terminal.shows(&["on me@far"]);
    terminal.send("say from afar\r");
    terminal.settles();
    std::fs::write(&go, "").unwrap();
    terminal.shows(&["from afar", "ask anything"]);
    let sessions = world.rooms()[0]["sessions"].clone();
    assert_eq!(sessions.as_array().map(Vec::len), Some(1), "it was said nowhere else: {sessions}");
}

#[test]
fn a_folder_of_another_machine_is_worked_in_and_one_prompt_needs_no_screen() {
    let world = Person::new(PARLOR);
    world.up();
    let far = Far::new(&world);
    std::fs::create_dir(world.path("two/shop")).unwrap();
    let words = ["ssh://me@far", "--cwd", "shop", "--prompt", "say from afar"];
    let mut once = far.attach_with(&world, &words, None);
    once.send("sesame\r");
    once.finish();
    assert!(once.said("from afar"));
    let shop = world.path("two/shop").canonicalize().unwrap();
    assert_eq!(world.rooms()[0]["cwd"].as_str(), shop.to_str());
    let mut both = Command::new(PARLOR);
    both.args(["attach", "ssh://far/sess-1", "--cwd", "shop"]);
    let both = both.stdin(Stdio::null()).output().unwrap();
    assert_eq!(both.status.code(), Some(2), "one that is there works where it began");
}

#[test]
fn a_session_of_another_machine_is_attached_after_ssh_has_asked() {
    let world = Person::new(PARLOR);
    world.up();
    let far = Far::new(&world);
    let (away, socket) = (far.away.clone(), far.socket.clone());
    let attach = |address: &str| far.attach(&world, address, None);
    let mut terminal = attach("ssh://me@far");
    terminal.send("sesame\r");
    terminal.shows(&["on me@far"]);
    terminal.send("say from afar\r");
    terminal.shows(&["from afar", "ask anything"]);
    let rooms = world.rooms();
    assert_eq!(rooms[0]["cwd"].as_str(), world.path("two").canonicalize().unwrap().to_str());
    let session = rooms[0]["sessions"][0]["id"].as_str().unwrap().to_owned();
    // The connection breaks: ssh is tried again without questions, and it goes on where it was.
    away.breaks();
    terminal.shows(&["the runtime is back"]);
    terminal.send("say back again\r");
    terminal.shows(&["from afar", "back again", "ask anything"]);
    assert_eq!((world.rooms().len(), terminal.count("password")), (1, 0));
    // Nobody is there any more: that is said, and what was shown stays.
    std::fs::rename(&socket, world.path("gone")).unwrap();
    away.breaks();
    terminal.shows(&["the runtime is gone", "from afar"]);
    std::fs::rename(world.path("gone"), &socket).unwrap();
    terminal.send("/restart\r");
    // What is sent before stays in the line for prompts, so it is waited for the end of that notice.
    until("it is back", || {
        terminal.settles();
        (terminal.count("the runtime is gone") == 0).then_some(())
    });
    terminal.send("say once more\r");
    terminal.shows(&["from afar", "once more", "ask anything"]);
    drop(terminal);
    let mut again = attach(&format!("ssh://far/{session}"));
    again.send("sesame\r");
    again.shows(&["from afar"]);
    assert_eq!(world.rooms().len(), 1, "nothing is started twice");
    let mut wrong = attach("ssh://far");
    wrong.send("guess\r");
    wrong.finish();
    assert!(wrong.said("wrong password"));
}
