//! A network of the session's own: what commands start there they reach there, and nothing leaves or comes in.

#![cfg(target_os = "linux")]

use crate::bash::{SOON, gone};
use crate::room::Room;
use crate::sandbox::{guarded, program};
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::SocketAddr;
use std::time::Duration;
use tokio::time::timeout;
use tools::sandbox::{Guard, Lacks};

/// Answers each connection with a word, at an address and a port that it prints; ends with its job.
fn server(family: &str, address: &str, word: &str) -> String {
    format!(
        "perl -MIO::Socket::IP -e '$|=1; my $s = IO::Socket::IP->new(Family => Socket::{family}, GetAddrInfoFlags => 0, LocalAddr => q({address}), \
         LocalPort => 0, Listen => 5) or die qq(no: $@ $!); print qq(at ), $s->sockport, qq(\\n); \
         while (my $c = $s->accept) {{ print $c qq({word}\\n); close $c }}'"
    )
}

fn client(address: &str, port: u16) -> String {
    format!(
        "perl -MIO::Socket::IP -e 'my $c = IO::Socket::IP->new(GetAddrInfoFlags => 0, PeerAddr => q({address}), PeerPort => {port}) or die qq(no: $@); \
         print <$c>'"
    )
}

/// Starts a server in the background; gives the port that it printed.
async fn started(room: &Room, line: &str) -> u16 {
    let told = room.done("bash", json!({"command": line, "background": true})).await;
    let number: String =
        told.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    let job = number.parse().unwrap();
    let port = async {
        loop {
            let (report, text, _) = room.place.jobs().read(job).unwrap();
            if let Some(port) = text.strip_prefix("at ").and_then(|text| text.trim().parse().ok()) {
                return port;
            }
            assert!(report.over_for.is_none(), "{text}");
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, port).await.expect("no server")
}

fn has_networks(room: &Room) -> bool {
    room.place.guard().unwrap().networks().is_ok()
}

#[tokio::test]
async fn a_server_in_the_background_is_reached_by_the_next_command_and_from_nowhere_else() {
    let (room, other) = (guarded(), guarded());
    if !has_networks(&room) {
        return;
    }
    for (family, address) in [("AF_INET", "127.0.0.1"), ("AF_INET6", "::1")] {
        let port = started(&room, &server(family, address, "hello")).await;
        assert_eq!(room.done("bash", json!({"command": client(address, port)})).await, "hello\n");
        // We reach it by a socket that was made there.
        let net = room.place.net().unwrap();
        assert!(net.ports().contains(&port), "{:?}", net.ports());
        let mut text = String::new();
        net.connect(port).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello\n");
        // Neither this machine does, nor a command that has the whole network, nor another session.
        assert!(std::net::TcpStream::connect((address, port)).is_err());
        room.failed("bash", json!({"command": client(address, port), "network": true})).await;
        room.failed("bash", json!({"command": client(address, port), "unsandboxed": true})).await;
        other.failed("bash", json!({"command": client(address, port)})).await;
        assert!(other.place.net().unwrap().connect(port).is_err());
    }
    assert_eq!(room.place.net().unwrap().ports().len(), 2);
    assert_eq!(other.place.net().unwrap().ports(), Vec::<u16>::new());
}

#[tokio::test]
async fn we_listen_inside_and_are_reached_by_commands_alone() {
    let room = guarded();
    if !has_networks(&room) {
        return;
    }
    let net = room.place.net().unwrap();
    let listener = net.listen(None).unwrap();
    let port = listener.local_addr().unwrap().port();
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
    let answers = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"from Parlor\n").unwrap();
    });
    assert_eq!(room.done("bash", json!({"command": client("127.0.0.1", port)})).await, "from Parlor\n");
    answers.join().unwrap();
    assert_eq!(net.ports(), Vec::<u16>::new(), "what we listen at is nobody's server");
    let taken = net.listen(None).unwrap();
    assert!(net.listen(Some(taken.local_addr().unwrap().port())).is_err());
}

/// What is tried inside, and must fail: everything that leads out of the network, or changes it.
const OUT: &[(&str, &str)] = &[
    ("another host", "exec 3<>/dev/tcp/192.0.2.1/80"),
    ("another host by UDP", "echo x > /dev/udp/192.0.2.1/53"),
    (
        "another host by IPv6",
        "perl -MIO::Socket::IP -e 'IO::Socket::IP->new(PeerAddr => q(2001:db8::1), PeerPort => 80) or exit 1'",
    ),
    ("a name", "perl -MSocket -e 'my ($e, @a) = Socket::getaddrinfo(q(example.com), 80); exit($e ? 1 : 0)'"),
    ("raw", "perl -MSocket -e 'socket(S, AF_INET, SOCK_RAW, 1) or exit 1'"),
    ("raw by IPv6", "perl -MSocket -e 'socket(S, AF_INET6, SOCK_RAW, 58) or exit 1'"),
    ("ping", "perl -MSocket -e 'socket(S, AF_INET, SOCK_DGRAM, 1) or exit 1'"),
    ("packets", "perl -e 'socket(S, 17, 3, 0) or exit 1'"),
    ("a machine around this one", "perl -e 'socket(S, 40, 1, 0) or exit 1'"),
    ("a new device", "ip link add dummy0 type dummy"),
    ("loopback off", "ip link set lo down"),
    ("loopback with another address", "ip address add 192.0.2.9/24 dev lo"),
    ("the network of others", "nsenter --net=/proc/1/ns/net true || nsenter --net=/proc/$PPID/ns/net true"),
    ("the network of others, as root of one's own", "unshare -Ur nsenter --net=/proc/1/ns/net true"),
    ("rights here, as root of one's own", "unshare -Ur ip link set lo down"),
    ("raw, as root of one's own", "unshare -Ur perl -MSocket -e 'socket(S, AF_INET, SOCK_RAW, 1) or exit 1'"),
    ("settings of the network", "echo 1 > /proc/sys/net/ipv4/ip_forward"),
];

#[tokio::test]
async fn nothing_leads_out_and_nothing_changes_it() {
    let room = guarded();
    if !has_networks(&room) {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    room.failed("bash", json!({"command": format!("exec 3<>/dev/tcp/127.0.0.1/{port}")})).await;
    for (what, line) in OUT {
        let outcome = room.call("bash", json!({"command": line})).await;
        assert_eq!(outcome.outcome, domain::tool::ToolOutcome::Failed, "{what}: {}", outcome.result.text);
    }
    // Sockets without a file belong to a network.
    let name = format!("parlor-net-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _others = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
    let line = format!(
        r#"perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack("S a*", AF_UNIX, "\0{name}")) or exit 1'"#
    );
    room.failed("bash", json!({"command": line})).await;
    // Loopback is as it was.
    let port = started(&room, &server("AF_INET", "127.0.0.1", "still here")).await;
    assert_eq!(room.done("bash", json!({"command": client("127.0.0.1", port)})).await, "still here\n");
    drop(listener);
}

#[tokio::test]
async fn it_is_made_for_commands_on_the_leash_alone_and_ends_with_the_session() {
    let room = guarded();
    if !has_networks(&room) {
        return;
    }
    let net = room.place.net().unwrap().clone();
    room.put("a.txt", "one\n");
    room.done("bash", json!({"command": "cat a.txt"})).await;
    room.done("bash", json!({"command": "true > b.txt", "network": true})).await;
    room.done("bash", json!({"command": "true > b.txt", "unsandboxed": true})).await;
    assert_eq!((net.keeper(), net.ports()), (None, vec![]), "nobody needed it");
    room.done("bash", json!({"command": "true > b.txt"})).await;
    let keeper = net.keeper().unwrap().cast_signed();
    // Nobody on the leash ends it or looks into it.
    let line = format!("kill -9 {keeper} || cat /proc/{keeper}/environ || readlink /proc/{keeper}/fd/0");
    if room.place.guard().unwrap().status().landlock.is_some_and(|version| version >= 6) {
        room.failed("bash", json!({"command": line})).await;
    }
    room.done("bash", json!({"command": "true > b.txt"})).await;
    assert_eq!(net.keeper(), Some(keeper.cast_unsigned()), "one for all commands");
    drop((net, room));
    gone(keeper).await;
}

#[tokio::test]
async fn a_keeper_that_was_killed_is_made_again_at_the_next_command() {
    let room = guarded();
    if !has_networks(&room) {
        return;
    }
    let net = room.place.net().unwrap().clone();
    started(&room, &server("AF_INET", "127.0.0.1", "before")).await;
    let killed = net.keeper().unwrap();
    let pid = rustix::process::Pid::from_raw(killed.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let port = async {
        loop {
            // Until it is noticed that it is gone, which nobody is told.
            let port = started(&room, &server("AF_INET", "127.0.0.1", "after")).await;
            if net.keeper() != Some(killed) {
                return port;
            }
        }
    };
    let port = timeout(SOON, port).await.expect("none is made");
    assert_eq!(room.done("bash", json!({"command": client("127.0.0.1", port)})).await, "after\n");
    let mut text = String::new();
    net.connect(port).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "after\n");
    assert_eq!(net.ports(), [port], "what runs in the one before is out of reach");
}

#[tokio::test]
async fn a_command_finds_nothing_of_it_open_and_no_stdin() {
    let room = guarded();
    let text =
        room.done("bash", json!({"command": "cat; readlink /proc/self/fd/0; echo /proc/self/fd/*"})).await;
    assert_eq!(text, "/dev/null\n/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n");
}

#[tokio::test]
async fn a_server_that_accepts_nobody_holds_up_neither_us_nor_others() {
    let room = guarded();
    if !has_networks(&room) {
        return;
    }
    let line = "perl -MIO::Socket::IP -e '$|=1; my $s = IO::Socket::IP->new(LocalAddr => q(127.0.0.1), LocalPort => 0, Listen => 1); \
                print qq(at ), $s->sockport, qq(\\n); sleep 1000'";
    let port = started(&room, line).await;
    let net = room.place.net().unwrap().clone();
    let filled = tokio::task::spawn_blocking(move || {
        let mut held = Vec::new();
        while let Ok(stream) = net.connect(port) {
            held.push(stream);
            assert!(held.len() < 64);
        }
        (net, held)
    });
    let (net, _held) = timeout(SOON + Duration::from_secs(10), filled).await.unwrap().unwrap();
    assert!(net.ports().contains(&port));
    assert!(net.listen(None).is_ok());
}

#[tokio::test]
async fn without_such_networks_a_command_has_none_as_ever_and_it_is_said() {
    for lacks in
        [Lacks { networks: true, ..Lacks::default() }, Lacks { namespaces: true, ..Lacks::default() }]
    {
        let room = Room::new();
        let guard = Guard::new(&program(), &["__guard"]).without(lacks);
        let status = guard.status();
        assert!(status.lines().iter().any(|line| line.contains("127.0.0.1") && line.contains("must ask")));
        let room = Room { place: room.place.clone().guarded(guard), ..room };
        let text = room.failed("bash", json!({"command": server("AF_INET", "127.0.0.1", "x")})).await;
        assert!(!status.network || text.contains("denied"), "{text}");
        assert_eq!(room.place.net().unwrap().keeper(), None);
        assert!(room.place.net().unwrap().listen(None).is_err());
    }
}

#[tokio::test]
async fn a_port_is_led_out_until_it_is_taken_back_or_the_session_ends() {
    let room = guarded();
    if !has_networks(&room) {
        return;
    }
    let port = started(&room, &server("AF_INET6", "::1", "hello")).await;
    let net = room.place.net().unwrap().clone();
    let asked = move || {
        let mut text = String::new();
        std::net::TcpStream::connect(("127.0.0.1", port))?.read_to_string(&mut text)?;
        std::io::Result::Ok(text)
    };
    let ask = || async { tokio::task::spawn_blocking(asked).await.unwrap() };
    assert!(ask().await.is_err());
    net.lead_out(port).unwrap();
    net.lead_out(port).unwrap();
    assert_eq!(net.led_out(), [port]);
    for _ in 0..3 {
        assert_eq!(ask().await.unwrap(), "hello\n");
    }
    assert!(net.take_back(port) && !net.take_back(port));
    // The task that listens ends when it is next looked at.
    let ended = async {
        while ask().await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, ended).await.expect("it is still led out");
    // One that a program of the person's has is not taken from it.
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = net.lead_out(other.local_addr().unwrap().port()).unwrap_err();
    assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
    // Nor where a browser that is told localhost would come to that one, or to ours, as it likes.
    if let Ok(other) = std::net::TcpListener::bind("[::1]:0") {
        let taken = net.lead_out(other.local_addr().unwrap().port()).unwrap_err();
        assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
    }
    net.lead_out(port).unwrap();
    assert_eq!(ask().await.unwrap(), "hello\n");
    drop((net, room));
    let ended = async {
        while ask().await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, ended).await.expect("it outlives its session");
}

#[tokio::test]
async fn ports_that_are_led_out_carry_only_so_many_connections_in_all() {
    const MAX_CARRIED: usize = 160;
    const MAX_OF_ONE: usize = 128;
    let room = guarded();
    if !has_networks(&room) {
        return;
    }
    let net = room.place.net().unwrap().clone();
    let mut doors = Vec::new();
    for _ in 0..2 {
        // A number that is free inside may be taken on this machine.
        let inside = loop {
            let inside = net.listen(None).unwrap();
            if net.lead_out(inside.local_addr().unwrap().port()).is_ok() {
                break inside;
            }
        };
        inside.set_nonblocking(true).unwrap();
        doors.push(tokio::net::TcpListener::from_std(inside).unwrap());
    }
    let mut carried = Vec::new();
    for number in 0..MAX_CARRIED {
        let door = &doors[number / MAX_OF_ONE];
        let outside = tokio::net::TcpStream::connect(door.local_addr().unwrap()).await.unwrap();
        carried.push((outside, timeout(SOON, door.accept()).await.unwrap().unwrap()));
    }
    let at = doors[1].local_addr().unwrap();
    let mut late = tokio::net::TcpStream::connect(at).await.unwrap();
    let mut bytes = [0; 9];
    let closed = tokio::io::AsyncReadExt::read(&mut late, &mut bytes);
    assert_eq!(timeout(SOON, closed).await.expect("it is carried").unwrap_or(0), 0);
    // What ends makes room.
    carried.clear();
    let again = async {
        loop {
            let _outside = tokio::net::TcpStream::connect(at).await.unwrap();
            if timeout(Duration::from_millis(100), doors[1].accept()).await.is_ok() {
                return;
            }
        }
    };
    timeout(SOON, again).await.expect("there is no room again");
}
