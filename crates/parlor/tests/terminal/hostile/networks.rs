//! A command against the network of its session: reaching the machine's own ports, or anything beyond, and the process that keeps it.

use crate::hostile::bench::{Serving, Ui, World, alive, as_each_user, wait_until};
use serde_json::json;
use std::io::Read as _;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Stdio;
use testkit::Screen;

/// Whether the program gets a network for its commands here, as `doctor` says.
fn has_networks(world: &World) -> bool {
    let said = world.parlor(&["doctor"]).output().unwrap();
    String::from_utf8_lossy(&said.stdout).contains("a network of their own: what they start")
}

/// A session that runs what is on the leash unasked.
fn sandboxed(world: &World) -> (Serving, Ui) {
    let serving = world.serve(&["--policy", "sandboxed"]);
    let ui = world.ui(&serving.socket);
    (serving, ui)
}

/// A command line that connects, says something and fails where it cannot.
fn connect(host: &str, port: u16, protocol: &str) -> String {
    format!(
        "perl -MIO::Socket::IP -e 'my $c = IO::Socket::IP->new(GetAddrInfoFlags => 0, PeerAddr => q({host}), PeerPort => {port}, \
         Proto => q({protocol})) or die; print $c qq(x\\n)'"
    )
}

/// The process that keeps the session's network.
fn keeper(serving: &Serving) -> i32 {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let parent = format!("PPid:\t{}\n", serving.child.id());
    let mut keepers = pids.filter(|pid| {
        let read = |what: &str| std::fs::read_to_string(format!("/proc/{pid}/{what}")).unwrap_or_default();
        read("cmdline").ends_with("\0__guard\0--keep\0") && read("status").contains(&parent)
    });
    let found = keepers.next().expect("nobody keeps a network");
    assert_eq!(keepers.next(), None, "one is enough");
    found
}

/// Has a command listen in the background, unasked; gives its port.
fn served(world: &World, ui: &mut Ui, port: u16) -> u16 {
    let serve = "perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(LocalAddr => q(127.0.0.1), LocalPort => shift, Listen => 5) \
                 or die; open(my $f, q(>), q(port.new)); print $f $s->sockport; close $f; rename q(port.new), q(port); \
                 while (my $c = $s->accept) { print $c qq(hello\\n); close $c }'";
    let ran = ui.call("bash", &json!({"command": format!("{serve} {port}"), "background": true}), false);
    assert_eq!((ran.outcome.as_str(), ran.asked), ("done", None), "{}", ran.text);
    wait_until("it listens", || !world.get("project/port").is_empty());
    world.get("project/port").parse().unwrap()
}

#[test]
fn a_server_and_its_client_need_no_question_and_the_machines_ports_are_out_of_reach() {
    as_each_user(|world| {
        if !has_networks(world) {
            return;
        }
        let (_serving, mut ui) = sandboxed(world);
        let port = served(world, &mut ui, 0);
        let client = "perl -MIO::Socket::INET -e 'my $c = IO::Socket::INET->new(PeerAddr => q(127.0.0.1:).shift) or die; print <$c>'";
        let ran = ui.bash(&format!("{client} {port} > answer; cat answer"), false);
        assert_eq!((ran.text.as_str(), ran.asked), ("hello\n", None));

        let tcp = ["127.0.0.1:0", "[::1]:0"].map(|address| TcpListener::bind(address).ok());
        for listener in tcp.iter().flatten() {
            let address = listener.local_addr().unwrap();
            let line = connect(&address.ip().to_string(), address.port(), "tcp");
            let ran = ui.bash(&line, false);
            assert_eq!((ran.outcome.as_str(), ran.asked), ("failed", None), "{line}: {}", ran.text);
            // Bound there it is nobody's but the session's.
            listener.set_nonblocking(true).unwrap();
            assert!(listener.accept().is_err(), "{line}");
        }
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp.set_nonblocking(true).unwrap();
        ui.bash(&connect("127.0.0.1", udp.local_addr().unwrap().port(), "udp"), false);
        assert!(udp.recv(&mut [0; 8]).is_err(), "a datagram came out");

        let name = format!("parlor-hostile-{}", std::process::id());
        let _others = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        for (what, line) in [
            ("another host", connect("192.0.2.1", 80, "tcp")),
            ("another host by UDP", connect("192.0.2.1", 53, "udp")),
            ("another host by IPv6", connect("2001:db8::1", 80, "tcp")),
            ("a name", connect("example.com", 80, "tcp")),
            ("raw", "perl -MSocket -e 'socket(S, AF_INET, SOCK_RAW, 1) or exit 1'".to_owned()),
            ("packets", "perl -e 'socket(S, 17, 3, 0) or exit 1'".to_owned()),
            (
                "raw, as root of one's own",
                "unshare -Ur perl -MSocket -e 'socket(S, AF_INET, SOCK_RAW, 1) or exit 1'".to_owned(),
            ),
            ("loopback off", "unshare -Ur ip link set lo down".to_owned()),
            ("the machine's network", "unshare -Ur nsenter --net=/proc/1/ns/net true".to_owned()),
            (
                "a socket without a file",
                format!(
                    r#"perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack("S a*", AF_UNIX, "\0{name}")) or exit 1'"#
                ),
            ),
        ] {
            let ran = ui.bash(&line, false);
            assert_eq!((ran.outcome.as_str(), ran.asked), ("failed", None), "{what}: {}", ran.text);
        }
    });
}

#[test]
fn a_command_cannot_end_enter_or_read_the_keeper_and_it_ends_with_parlor_however_that_ends() {
    as_each_user(|world| {
        if !has_networks(world) {
            return;
        }
        let attack = world.attack();
        let (mut serving, mut ui) = sandboxed(world);
        assert_eq!(ui.bash("echo made > x; cat x", false).text, "made\n");
        let keeper = keeper(&serving);
        let status = tools::sandbox::status();
        if status.landlock.is_some_and(|version| version >= 6) {
            for signal in ["KILL", "STOP", "TERM"] {
                let ran = ui.bash(&format!("kill -{signal} {keeper} && echo hit"), false);
                assert!(ran.text.contains("not permitted") && !ran.text.contains("hit"), "{ran:?}");
            }
        }
        if status.landlock.is_some() {
            for line in [
                format!("{attack} trace {keeper}"),
                format!("{attack} read-memory {keeper}"),
                format!("cat /proc/{keeper}/environ"),
                format!("head -c 1 /proc/{keeper}/fd/0"),
                format!("nsenter --target {keeper} --net --user true"),
            ] {
                let ran = ui.bash(&line, false);
                assert_eq!(ran.outcome, "failed", "{line}: {ran:?}");
            }
        }
        assert_eq!(ui.bash("echo still > x; cat x", false).text, "still\n");
        serving.child.kill().unwrap();
        wait_until("the keeper is gone", || !alive(keeper));
    });
}

#[test]
fn a_port_is_led_out_when_the_person_says_so_and_never_where_the_page_was() {
    as_each_user(|world| {
        if !has_networks(world) {
            return;
        }
        let (_serving, mut ui) = sandboxed(world);
        let ports = |ui: &mut Ui, what: serde_json::Value| {
            ui.settled(json!({"extension": {"name": "parlor/ports", "payload": what}}))
        };
        let none = json!({"receipt": {"extension": {"ports": []}}});
        assert_eq!(ports(&mut ui, json!({})), none, "nothing runs yet");
        let port = served(world, &mut ui, 0);
        let is = |open: bool| json!({"receipt": {"extension": {"ports": [{"port": port, "open": open, "listens": true}]}}});
        assert_eq!(ports(&mut ui, json!({})), is(false));
        let refused = ports(&mut ui, json!({"open": 1}));
        assert!(refused["refusal"]["message"].as_str().unwrap().contains("nothing of this session listens"));
        assert_eq!(ports(&mut ui, json!({"open": port})), is(true));
        let mut text = String::new();
        TcpStream::connect(("127.0.0.1", port)).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello\n");
        // No more than that one: from a command that has the network the rest of the session is as far away as ever.
        assert_eq!(ports(&mut ui, json!({"close": port})), is(false));
        world.put("data/web.ports", format!("1\n{port}\n"));
        let refused = ports(&mut ui, json!({"open": port}));
        assert!(refused["refusal"]["message"].as_str().unwrap().contains("the page's"), "{refused}");
    });
}

/// A port of this machine that nobody has, below those that the kernel chooses by itself.
fn free_port() -> u16 {
    let start = u16::try_from(std::process::id() % 20_000).unwrap();
    let mut ports = (0..20_000).map(|step| 10_000 + (start + step) % 20_000);
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}

fn hears(port: u16) -> String {
    let mut text = String::new();
    if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
        let _ = stream.read_to_string(&mut text);
    }
    text
}

#[test]
fn a_person_is_told_where_a_command_listens_and_who_only_looks_opens_nothing() {
    as_each_user(|world| {
        if !has_networks(world) {
            return;
        }
        let (serving, mut ui) = sandboxed(world);
        let port = served(world, &mut ui, free_port());
        assert_eq!(ui.status("parlor/listening"), format!("listens on {port}"));
        for role in ["observer", "approver"] {
            let mut looks = world.ui_as(&serving.socket, role);
            let refused =
                looks.settled(json!({"extension": {"name": "parlor/ports", "payload": {"open": port}}}));
            assert_eq!(refused["refusal"]["kind"], "not_allowed", "{role}: {refused}");
        }
        assert_eq!(hears(port), "");
    });
}

#[test]
fn three_hundred_ports_are_told_in_one_line() {
    as_each_user(|world| {
        if !has_networks(world) {
            return;
        }
        let (_serving, mut ui) = sandboxed(world);
        let many = "perl -MIO::Socket::INET -e 'my @all = map { IO::Socket::INET->new(LocalAddr => q(127.0.0.1), LocalPort => $_, Listen => 1) \
                    or die } 20001..20300; sleep 600'";
        let ran = ui.call("bash", &json!({"command": many, "background": true}), false);
        assert_eq!(ran.outcome, "done", "{}", ran.text);
        let mut told = String::new();
        wait_until("all are told", || {
            told = ui.status("parlor/listening");
            told.contains("20300")
        });
        assert!(told.ends_with("20299, 20300, and 292 more") && told.len() < 100, "{told}");
    });
}

#[test]
fn one_key_leads_a_port_out_and_takes_it_back_and_a_new_session_has_it_next() {
    as_each_user(|world| {
        if !has_networks(world) {
            return;
        }
        let port = free_port();
        let serve = |word: &str| {
            let line = format!(
                "perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(LocalAddr => q(127.0.0.1:{port}), Listen => 5) or die; \
                 while (my $c = $s->accept) {{ print $c qq({word}); close $c }}'"
            );
            format!("call bash {}\r", json!({"command": line, "background": true}))
        };
        let mut terminal = Screen::sized(&mut world.parlor(&["--policy", "sandboxed"]), 160, 40);
        terminal.shows(&["offline"]);
        terminal.send(&serve("first"));
        terminal.shows(&[&format!(
            "a command listens on {port} · Alt-P or /ports {port} opens it on this machine"
        )]);
        assert_eq!(hears(port), "", "nobody has opened it");
        terminal.send("\x1bp");
        terminal.shows(&[&format!("http://127.0.0.1:{port} is open on this machine · Alt-P closes it")]);
        assert_eq!(hears(port), "first");
        terminal.shows(&[&format!("listens on {port} (open)")]);
        terminal.send("\x1bp");
        terminal.shows(&[&format!("port {port} is closed again")]);
        assert_eq!(hears(port), "");
        terminal.shows(&[&format!("listens on {port} (Alt-P)")]);
        terminal.send("\x1bp");
        terminal.shows(&[&format!("listens on {port} (open)")]);
        assert_eq!(hears(port), "first");
        // The session before still has it, in the same program: whoever opens it now wants this one.
        terminal.send("/new\r");
        terminal.until("a new session", |screen| !screen.contents().contains("listens on"));
        terminal.send(&serve("second"));
        terminal.shows(&[&format!("listens on {port} (Alt-P)")]);
        terminal.send("\x1bp");
        terminal.shows(&[&format!("listens on {port} (open)")]);
        assert_eq!(hears(port), "second");
    });
}

#[test]
fn the_page_writes_down_where_it_is_served() {
    as_each_user(|world| {
        let mut page = world.parlor(&["web"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let wrote = |file: &str| world.get(&format!("data/{file}")).trim().to_owned();
        wait_until("it is served", || !wrote("web.port").is_empty() && !wrote("web.ports").is_empty());
        assert_eq!(wrote("web.ports"), wrote("web.port"));
        page.kill().unwrap();
        page.wait().unwrap();
    });
}
