//! Ports of this machine from a session's own network: asked for by number, kept, taken back, and no other one with it.

use crate::hostile::bench::{Ran, Ui, World, as_each_user, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether the program gets a network for its commands here, as `doctor` says.
fn has_networks(world: &World) -> bool {
    let said = world.parlor(&["doctor"]).output().unwrap();
    String::from_utf8_lossy(&said.stdout).contains("a network of their own: what they start")
}

/// A program of the person's that answers whoever connects with a word, and counts them. It ends with the test.
struct Served {
    port: u16,
    came: Arc<AtomicUsize>,
}

impl Served {
    fn new() -> Served {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let came = Arc::new(AtomicUsize::new(0));
        let counted = came.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(b"of the machine\n");
            }
        });
        Served { port, came }
    }

    fn came(&self) -> usize {
        self.came.load(Ordering::SeqCst)
    }
}

/// A command line that connects there and prints what it hears.
fn hear(address: &str, port: u16) -> String {
    format!(
        "perl -MIO::Socket::IP -e 'my $c = IO::Socket::IP->new(GetAddrInfoFlags => 0, PeerAddr => q({address}), PeerPort => {port}) \
         or die qq(cannot reach 127.0.0.1:{port}: $!); print <$c>'"
    )
}

/// Runs a line; the question that it must lead to is answered with a choice.
fn choosing(ui: &mut Ui, line: &str, choice: &str) -> (Value, Ran) {
    ui.begin("bash", &json!({"command": line}));
    let ask = ui.asked();
    ui.command(json!({"answer": {"ask": ask["id"], "answer": {"chosen": [choice]}}}));
    (ask, ui.end(false))
}

fn printed(world: &World, args: &[&str]) -> String {
    let said = world.parlor(args).output().unwrap();
    assert!(said.status.success(), "{args:?}: {}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8_lossy(&said.stdout).into_owned()
}

/// A line that asks a page at a port for what it serves.
fn get(port: u16) -> String {
    format!(
        "perl -MIO::Socket::INET -e 'my $c = IO::Socket::INET->new(PeerAddr => q(127.0.0.1:{port})) or die qq(no 127.0.0.1:{port}); \
         print $c qq(GET / HTTP/1.0\\r\\nHost: 127.0.0.1:{port}\\r\\n\\r\\n); print qq(heard: ), <$c>'"
    )
}

fn allow(ui: &mut Ui, port: u16) -> Value {
    ui.settled(json!({"extension": {"name": "parlor/ports", "payload": {"allow": port}}}))
}

#[test]
fn a_port_of_the_machine_is_asked_for_by_its_number_kept_shown_and_taken_back() {
    as_each_user(|world| {
        if !has_networks(world) {
            return;
        }
        let mut serving = world.serve(&["--policy", "sandboxed"]);
        let mut ui = world.ui(&serving.socket);
        let (wanted, other) = (Served::new(), Served::new());
        // Before anything was said, and of one that was allowed until the session closes: for the project.
        let (early, kept) = (Served::new(), Served::new());
        assert!(allow(&mut ui, early.port)["receipt"].is_object());
        assert_eq!(ui.bash(&hear("127.0.0.1", early.port), false).text, "of the machine\n");
        ui.bash(&hear("127.0.0.1", kept.port), false);
        let (_, ran) = choosing(&mut ui, &hear("127.0.0.1", kept.port), "session");
        assert_eq!(ran.text, "of the machine\n");
        assert!(!printed(world, &["rules"]).contains(&format!("port {}", kept.port)));
        assert!(allow(&mut ui, kept.port)["receipt"].is_object());
        assert!(printed(world, &["rules"]).contains(&format!("port {}", kept.port)));
        printed(world, &["rules", "revoke", "2"]);
        printed(world, &["rules", "revoke", "1"]);
        let (line, port) = (hear("127.0.0.1", wanted.port), wanted.port);
        let ran = ui.bash(&line, false);
        assert_eq!((ran.outcome.as_str(), ran.asked, wanted.came()), ("failed", None, 0), "{}", ran.text);
        let told = format!("whether it may reach port {port} of this machine is then asked");
        assert!(ran.text.contains(&told), "{}", ran.text);

        let (ask, ran) = choosing(&mut ui, &line, "deny");
        assert!(
            ask["title"].as_str().unwrap().ends_with(&format!("wants to reach port {port} of this machine"))
        );
        assert!(ran.text.contains(&format!("did not allow port {port} of this machine")), "{}", ran.text);
        assert_eq!(wanted.came(), 0);
        let (_, ran) = choosing(&mut ui, &line, "once");
        assert_eq!(ran.text, "of the machine\n");
        let (_, ran) = choosing(&mut ui, &line, "always");
        assert_eq!(ran.text, "of the machine\n");
        for address in ["127.0.0.1", "::1"] {
            let ran = ui.bash(&hear(address, port), false);
            assert_eq!((ran.text.as_str(), ran.asked), ("of the machine\n", None), "{address}");
        }
        // What goes on in the background has it too, and nobody is asked about another.
        let line = format!("{} > heard; {} > other", hear("127.0.0.1", port), hear("127.0.0.1", other.port));
        ui.call("bash", &json!({"command": line, "background": true}), false);
        wait_until("it was heard", || !world.get("project/heard").is_empty());
        let ran = ui.bash(&hear("127.0.0.1", other.port), false);
        assert_eq!((ran.outcome.as_str(), ran.asked), ("failed", None), "{}", ran.text);
        assert_eq!((other.came(), world.get("project/other")), (0, String::new()));

        let listed = printed(world, &["rules"]);
        assert!(listed.contains(&format!("let commands reach port {port} of this machine")), "{listed}");
        printed(world, &["rules", "revoke", "1"]);
        let before = wanted.came();
        let (_, ran) = choosing(&mut ui, &hear("127.0.0.1", port), "deny");
        assert!(ran.text.contains("did not allow"), "{}", ran.text);
        assert_eq!(wanted.came(), before);

        // The person needs no command for it.
        assert!(allow(&mut ui, other.port)["receipt"].is_object());
        assert_eq!(ui.bash(&hear("127.0.0.1", other.port), false).text, "of the machine\n");
        ui.settled(json!({"set_policy": {"policy": "read_only"}}));
        assert_eq!(ui.bash(&hear("127.0.0.1", other.port), false).outcome, "denied");
        // What leads a port in does not keep temp beyond the session's end.
        let temps = || fs::read_dir(world.path("data/temp")).into_iter().flatten().count();
        assert_eq!(temps(), 1);
        drop(ui);
        let process = rustix::process::Pid::from_child(&serving.child);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
        serving.child.wait().unwrap();
        assert_eq!(temps(), 0, "temp is left behind");
    });
}

#[test]
fn a_question_names_what_else_may_connect_and_a_server_of_the_session_gets_the_port() {
    as_each_user(|world| {
        if !has_networks(world) {
            return;
        }
        let serving = world.serve(&["--policy", "sandboxed"]);
        let mut ui = world.ui(&serving.socket);
        let served = Served::new();
        let port = served.port;
        assert_eq!(ui.bash(&hear("127.0.0.1", port), false).outcome, "failed");
        ui.call("bash", &json!({"command": "sleep 1000", "background": true}), false);
        let (ask, _) = choosing(&mut ui, &hear("127.0.0.1", port), "deny");
        let title = ask["title"].as_str().unwrap();
        assert!(title.ends_with(&format!("` or job-1 wants to reach port {port} of this machine")), "{ask}");
        assert!(ask.to_string().contains("job-1, in the background:\\n$ sleep 1000"), "{ask}");

        let listen = format!(
            "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(LocalAddr => q(127.0.0.1:{port}), Listen => 1, ReuseAddr => 1) or die qq($!\\n); print q(it listens)'"
        );
        let ran = ui.bash(&listen, false);
        assert!(ran.text.contains(&format!("Parlor listened at port {port} here")), "{}", ran.text);
        assert_eq!(ui.bash(&listen, false).text, "it listens");
        // One that is allowed for longer stays, and who wants to listen there is told.
        assert!(allow(&mut ui, port)["receipt"].is_object());
        let ran = ui.bash(&listen, false);
        assert!(
            ran.text.contains(&format!("port {port} leads to port {port} of this machine")),
            "{}",
            ran.text
        );
    });
}

#[test]
fn no_parlor_is_reached_whatever_its_file_is_called_or_lets_be_seen() {
    as_each_user(|world| {
        if !has_networks(world) {
            return;
        }
        let serving = world.serve(&["--policy", "sandboxed"]);
        let mut ui = world.ui(&serving.socket);
        assert_eq!(ui.bash("echo made > x; cat x", false).text, "made\n");
        // One that may only be run is not to be looked into by an ordinary user.
        for (name, mode) in [("another", 0o755), ("unseen", 0o111)] {
            let (program, data) = (world.path(name), format!("data-{name}"));
            fs::copy(world.parlor(&[]).get_program(), &program).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
            world.folder(&data);
            let mut page = world.program(&program);
            let page = page.arg("web").env("PARLOR_DATA_DIR", world.path(&data));
            let mut page = page.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let number = || world.get(&format!("{data}/web.port")).trim().parse::<u16>().ok();
            wait_until("it is served", || number().is_some());
            let port = number().unwrap();
            let get = get(port);
            let ran = ui.bash(&get, false);
            assert_eq!((ran.outcome.as_str(), ran.asked), ("failed", None), "{name}: {}", ran.text);
            assert!(!ran.text.contains("is then asked"), "{name}: {}", ran.text);
            let unknown = format!("who listens at port {port} of this machine cannot be told");
            assert_eq!(
                ran.text.contains(&unknown),
                mode == 0o111 && !world.is_root(),
                "{name}: {}",
                ran.text
            );
            assert!(allow(&mut ui, port)["receipt"].is_object());
            assert_eq!(ui.bash(&get, false).text, "heard: ", "{name}");
            page.kill().unwrap();
            page.wait().unwrap();
        }
    });
}

#[test]
fn parlors_own_page_is_never_a_port_to_be_had_and_no_name_leads_to_the_machine() {
    as_each_user(|world| {
        if !has_networks(world) {
            return;
        }
        let serving = world.serve(&["--policy", "sandboxed"]);
        let mut ui = world.ui(&serving.socket);
        assert_eq!(ui.bash("echo made > x; cat x", false).text, "made\n");
        let was = Served::new();
        let mut page = world.parlor(&["web"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let number = || world.get("data/web.port").trim().parse::<u16>().ok();
        wait_until("it is served", || number().is_some() && !world.get("data/web.ports").is_empty());
        let now = number().unwrap();
        world.put("data/web.ports", format!("{}\n{now}\n", was.port));
        for port in [was.port, now] {
            let refused = allow(&mut ui, port);
            assert!(refused["refusal"]["message"].as_str().unwrap().contains("Parlor's page"), "{refused}");
            let ran = ui.bash(&hear("127.0.0.1", port), false);
            assert_eq!((ran.outcome.as_str(), ran.asked), ("failed", None), "{}", ran.text);
            assert!(!ran.text.contains("is then asked"), "{}", ran.text);
        }
        // Also where it is written down nowhere, as for a page with other folders: whoever has the port is looked at.
        world.put("data/web.ports", "");
        assert!(allow(&mut ui, now)["receipt"].is_object());
        let ran = ui.bash(&get(now), false);
        // What connects is let in here, and gets no further.
        assert_eq!((ran.text.as_str(), ran.asked), ("heard: ", None));
        page.kill().unwrap();
        page.wait().unwrap();

        // A rule for one port is none for the proxy, by whatever name.
        let served = Served::new();
        assert!(allow(&mut ui, served.port)["receipt"].is_object());
        let port = served.port;
        let proxied = |host: &str| {
            format!(
                "login=${{https_proxy#http://}}; login=$(printf %s \"${{login%@*}}\" | base64); exec 3<>/dev/tcp/127.0.0.1/${{https_proxy##*:}}; \
                 printf 'CONNECT {host}:{port} HTTP/1.1\\r\\nProxy-Authorization: Basic %s\\r\\n\\r\\n' \"$login\" >&3; head -n 1 <&3"
            )
        };
        for host in ["localhost", "127.0.0.1"] {
            let ran = ui.bash(&proxied(host), false);
            assert!(ran.text.starts_with("HTTP/1.1 403"), "{host}: {}", ran.text);
        }
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        if name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        {
            let (_, ran) = choosing(&mut ui, &proxied(&name), "once");
            assert!(
                ran.text.starts_with("HTTP/1.1 403") || ran.text.starts_with("HTTP/1.1 502"),
                "{}",
                ran.text
            );
        }
        assert_eq!(served.came(), 0);
    });
}
