//! The way out of a command in the session's own network: what it is told of it, who is asked, and who else can use it.

use crate::room::{Room, port};
use crate::sandbox::{guarded, program};
use domain::ask::{Answer, AskKind, Closing, Scope};
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tools::sandbox::{Guard, Lacks};
use tools::{Gate, Host, HostSay, Outcome, Port, Question};

/// Every host is asked about, and no rule is to be had.
#[derive(Debug)]
struct Asks;

impl Gate for Asks {
    fn says(&self, _: &Host) -> HostSay {
        HostSay::Asked { rule: None }
    }

    fn machine_ports(&self) -> Vec<u16> {
        Vec::new()
    }

    fn remember(&self, _: Scope, _: &Host) {}
}

/// A port of somebody who can be asked, and the questions.
fn asked() -> (Port, mpsc::Receiver<Question>) {
    let (mut port, _) = port();
    let (asks, questions) = mpsc::channel(1);
    port.asks = asks;
    port.gate = Some(Arc::new(Asks));
    (port, questions)
}

/// Says this to the command's own proxy, in bash alone, and prints the first line of the answer.
fn saying(request: &str) -> String {
    format!(
        "login=${{https_proxy#http://}}; login=$(printf %s \"${{login%@*}}\" | base64); exec 3<>/dev/tcp/127.0.0.1/${{https_proxy##*:}}; \
         printf '{request}\\r\\nProxy-Authorization: Basic %s\\r\\n\\r\\n' \"$login\" >&3; head -n 1 <&3 | tr -d '\\r'"
    )
}

async fn run(room: &Room, line: &str, port: Port) -> Outcome {
    room.call_with("bash", json!({"command": line}), port).await
}

fn has_networks(room: &Room) -> bool {
    room.place.guard().unwrap().networks().is_ok()
}

#[tokio::test]
async fn a_host_is_asked_for_while_the_command_runs_and_nobody_else_can_use_its_proxy() {
    let (room, other) = (guarded(), guarded());
    if !has_networks(&room) {
        return;
    }
    let (port, mut questions) = asked();
    let line = format!("echo ${{https_proxy##*:}} > at; {}", saying("CONNECT pypi.test:443 HTTP/1.1"));
    let person = async {
        let question = questions.recv().await.unwrap();
        assert!(question.title.ends_with("wants to reach pypi.test"), "{}", question.title);
        let AskKind::Choose { message, choices, .. } = &question.kind else { panic!("{:?}", question.kind) };
        assert!(message.contains("reach pypi.test?"), "{message}");
        // Without a project there is no rule to be had; the gate says so.
        assert_eq!(choices.iter().map(|choice| choice.id.as_str()).collect::<Vec<_>>(), ["deny", "once"]);
        let at: u16 = room.get("at").trim().parse().unwrap();
        // On this machine, as a page in a browser would try, and from another session: it is not there.
        if let Ok(mut stream) = std::net::TcpStream::connect(("127.0.0.1", at)) {
            stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
            let _ = stream.write_all(b"GET / HTTP/1.1\r\n\r\n");
            let mut said = String::new();
            let _ = stream.read_to_string(&mut said);
            assert!(!said.contains("arlor"), "{said}");
        }
        let there = format!("(exec 3<>/dev/tcp/127.0.0.1/{at}) 2>/dev/null && echo in || echo out");
        assert_eq!(other.done("bash", json!({"command": there})).await, "out\n");
        assert_eq!(
            room.place.net().unwrap().ports(),
            Vec::<u16>::new(),
            "it is none of the session's servers"
        );
        let answer = Answer::Chosen(vec!["deny".to_owned()]);
        question.answer.send(Closing::Answered { answer, by: None }).unwrap();
    };
    let (outcome, ()) = tokio::join!(run(&room, &line, port), person);
    let text = &outcome.result.text;
    assert!(text.starts_with("HTTP/1.1 403 Forbidden\n"), "{text}");
    assert!(text.ends_with("(refused: the person did not allow pypi.test: go on without it)"), "{text}");
}

#[tokio::test]
async fn this_machine_is_not_reached_by_the_way_out() {
    let room = guarded();
    if !has_networks(&room) {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let number = listener.local_addr().unwrap().port();
    let (port, mut questions) = asked();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::1]"] {
        for request in [
            format!("CONNECT {host}:{number} HTTP/1.1"),
            format!("GET http://{host}:{number}/ HTTP/1.1\\r\\nHost: example.com"),
        ] {
            let text = run(&room, &saying(&request), port.clone()).await.result.text;
            assert!(text.starts_with("HTTP/1.1 403 Forbidden\n"), "{request}: {text}");
            assert!(
                text.contains("(refused: ")
                    && text.contains("the session's own network: call 127.0.0.1 without"),
                "{text}"
            );
        }
    }
    assert!(questions.try_recv().is_err(), "nobody is asked about it");
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn programs_are_told_of_it_only_where_it_works() {
    let room = guarded();
    let lacks = Lacks { namespaces: true, ..Lacks::default() };
    let guard = Guard::new(&program(), &["__guard"]).without(lacks);
    let without = Room::new();
    let without = Room { place: without.place.clone().guarded(guard), ..without };
    let proxied = guarded();
    let env = [("PATH", crate::room::SYSTEM), ("HTTPS_PROXY", "http://proxy.corp.test:3128")];
    let env = env.map(|(name, value)| (name.into(), value.into())).into_iter();
    let proxied = Room { place: proxied.place.clone().with_env(env), ..proxied };
    let print = "echo $http_proxy,$HTTPS_PROXY,$no_proxy,$NODE_USE_ENV_PROXY | tee here";
    let told = async |room: &Room, args| {
        let (port, _questions) = asked();
        room.call_with("bash", args, port).await.result.text
    };
    if has_networks(&room) {
        let shown = told(&room, json!({"command": print})).await;
        let text = room.get("here");
        let address = text.split(',').next().unwrap();
        let (login, number) = address.split_once("@127.0.0.1:").unwrap_or_else(|| panic!("{text}"));
        number.parse::<u16>().unwrap_or_else(|_| panic!("{text}"));
        let secret = login.strip_prefix("http://parlor:").unwrap_or_else(|| panic!("{text}"));
        assert!(secret.len() == 32 && secret.bytes().all(|byte| byte.is_ascii_hexdigit()), "{text}");
        let not = "localhost,.localhost,127.0.0.1,127.0.0.0/8,0.0.0.0,::1,[::1]";
        assert_eq!(text, format!("{address},{address},{not},1\n"));
        // The command has it, and nobody else reads it, however it comes.
        let hidden = address.replace(secret, "[secret 0: not kept]");
        assert_eq!(shown, format!("{hidden},{hidden},{not},1\n"));
        let slowly = "set -o pipefail; echo $http_proxy | while IFS= read -rn1 c; do printf %s \"$c\"; done | tee here";
        let shown = told(&room, json!({"command": slowly})).await;
        let next = room.get("here");
        assert!(next.len() > 40 && !shown.contains(&next[14..46]), "{shown}");
        assert!(!next.contains(secret), "the next command has the same secret: {next}");
        // Nobody decides on hosts, so there is no way.
        assert_eq!(room.done("bash", json!({"command": print})).await, ",,,\n");
    }
    let free = json!({"command": print, "unsandboxed": true, "reason": "x"});
    let network = json!({"command": print, "network": true, "reason": "x"});
    for args in [free, network] {
        assert_eq!(told(&room, args).await, ",,,\n");
    }
    assert_eq!(told(&without, json!({"command": print})).await, ",,,\n");
    // The person's own proxy is not ours to replace.
    assert_eq!(told(&proxied, json!({"command": print})).await, ",http://proxy.corp.test:3128,,\n");
}

#[tokio::test]
async fn in_the_background_only_rules_count_and_the_output_says_so() {
    let room = guarded();
    if !has_networks(&room) {
        return;
    }
    let (port, mut questions) = asked();
    let line = saying("CONNECT pypi.test:443 HTTP/1.1");
    let outcome = room.call_with("bash", json!({"command": line, "background": true}), port).await;
    assert!(outcome.result.text.starts_with("started as job-1"), "{}", outcome.result.text);
    room.place.jobs().wait(1, crate::bash::SOON).await;
    let (_, text, _) = room.place.jobs().read(1).unwrap();
    assert!(text.starts_with("HTTP/1.1 403 Forbidden\n") && text.contains("in the background"), "{text}");
    assert!(questions.try_recv().is_err());
}
