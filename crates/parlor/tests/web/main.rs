//! `parlor web` as a browser meets it: the built program, real sockets, real sessions in rooms.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panic")]

#[path = "../../../web/tests/page/client.rs"]
#[allow(dead_code, reason = "shared with the tests of the server, which use more of it")]
mod client;
mod kept;
#[allow(dead_code, reason = "shared with the bench of pages that return, which uses more of it")]
mod world;

use client::{Browser, Page, ask};
use link::websocket;
use link::{Lane, Limits};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use tokio::net::TcpStream;
use world::World;

fn hello(cursor: Option<&Value>) -> Value {
    let mut hello = json!({"protocol": 1, "revision": 1, "name": "page", "version": "0.1.0", "capabilities": ["hash", "cursor", "answers"]});
    if let Some(cursor) = cursor {
        hello["session"] = cursor["session"].clone();
        hello["cursor"] = cursor.clone();
    }
    json!({"hello": hello})
}

fn command(ticket: u64, what: &Value) -> Value {
    json!({"command": {"ticket": ticket, "what": what}})
}

fn prompt(text: &str) -> Value {
    json!({"prompt": {"input": {"text": text}}})
}

/// A page in a fresh session, and that session.
async fn begun(browser: &Browser) -> (Page, String) {
    let (mut page, answer) = browser.connect(&json!({"new": {}})).await;
    assert!(answer["welcome"].is_object(), "{answer}");
    page.say(&hello(None));
    page.until("hello").await;
    page.say(&command(1, &json!({"new_session": {}})));
    let attached = page.until("attached").await;
    // What answers is known before anything is said.
    assert_eq!(
        attached["abilities"]["model"],
        json!({"provider": "offline", "name": "offline"}),
        "{attached}"
    );
    (page, attached["at"]["session"].as_str().unwrap().to_owned())
}

/// Reads on until a run has ended; gives the numbers of the events, and the last proof.
async fn run_to_end(page: &mut Page) -> (Vec<u64>, Value) {
    let mut seqs = Vec::new();
    let (mut ended, mut hash) = (false, Value::Null);
    while !ended || hash.is_null() {
        let said = page.next().await.unwrap();
        if let Some(event) = said.get("event") {
            seqs.push(event["event"]["seq"].as_u64().unwrap());
            ended |= event["event"]["body"].get("run_ended").is_some();
            hash = Value::Null;
        }
        if let Some(told) = said.get("hash") {
            hash = told.clone();
        }
    }
    (seqs, hash)
}

#[tokio::test]
async fn a_page_converses_drops_and_comes_back_without_gap_or_double() {
    let world = World::new();
    let web = world.web(&[]);
    let browser = web.browser().await;
    let (mut page, session) = begun(&browser).await;
    page.say(&command(2, &prompt("list files")));
    let (seqs, hash) = run_to_end(&mut page).await;
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]));
    // A second page goes on while the first is gone.
    let cursor = json!({"session": session, "seq": hash["seq"], "hash": hash["hash"]});
    drop(page);
    let (mut other, answer) = browser.connect(&json!({"session": session})).await;
    assert!(answer["welcome"].is_object(), "{answer}");
    other.say(&hello(Some(&cursor)));
    let attached = other.until("attached").await;
    assert_eq!((&attached["current"], &attached["at"]["seq"]), (&json!(true), &hash["seq"]), "{attached}");
    other.say(&command(3, &prompt("list files")));
    let (more, proof) = run_to_end(&mut other).await;
    assert_eq!(more[0], hash["seq"].as_u64().unwrap() + 1, "nothing is told twice and nothing left out");
    // The first one comes back with what it knew: it is given the whole, and the same proof.
    let (mut page, _) = browser.connect(&json!({"session": session})).await;
    page.say(&hello(Some(&cursor)));
    let attached = page.until("attached").await;
    assert_eq!(
        (&attached["at"]["seq"], &attached["at"]["hash"]),
        (&proof["seq"], &proof["hash"]),
        "{attached}"
    );
    assert!(
        attached.get("current").is_none() && attached["replay"].as_array().is_some_and(|all| !all.is_empty())
    );
    // Both have the same next event, once.
    page.say(&command(4, &prompt("say on")));
    for page in [&mut page, &mut other] {
        let (next, _) = run_to_end(page).await;
        assert_eq!(next[0], proof["seq"].as_u64().unwrap() + 1);
        assert!(next.windows(2).all(|pair| pair[0] < pair[1]), "{next:?}");
    }
    // And the terminal's own list knows the session.
    let told: Value =
        serde_json::from_slice(&world.parlor(&["ps", "--json"]).output().unwrap().stdout).unwrap();
    assert!(told.to_string().contains(&session), "{told}");
}

#[tokio::test]
async fn a_device_is_revoked_from_the_command_line_and_an_observer_only_looks() {
    let world = World::new();
    let web = world.web(&[]);
    let browser = web.browser().await;
    let (mut page, session) = begun(&browser).await;
    let list: Value =
        serde_json::from_slice(&world.parlor(&["devices", "--json"]).output().unwrap().stdout).unwrap();
    assert_eq!(list["devices"][0]["id"], json!(browser.id));
    assert!(world.parlor(&["devices", "role", &browser.id, "observer"]).status().unwrap().success());
    assert_eq!(page.end().await, web::code::ROLE);
    let (mut page, answer) = browser.connect(&json!({"session": session})).await;
    assert_eq!(answer["welcome"]["device"]["role"], json!("observer"));
    page.say(&hello(Some(&json!({"session": session, "seq": 0, "hash": "0"}))));
    assert_eq!(page.until("hello").await["rights"], json!("observer"), "the process itself holds it to that");
    page.until("attached").await;
    page.say(&command(9, &prompt("write x.txt: no")));
    let settled = page.until("settled").await;
    assert_eq!((&settled["ticket"], &settled["with"]["refusal"]["kind"]), (&json!(9), &json!("not_allowed")));
    let told = world.parlor(&["ps", "--json"]).output().unwrap().stdout;
    assert!(String::from_utf8_lossy(&told).contains(r#""role":"observer""#), "ps tells what the page may do");
    let (mut fleet, _) = browser.connect(&json!("fleet")).await;
    // What was gathered when it came may be told first.
    let shows =
        |rows: &Value| rows["rows"].as_array().unwrap().iter().any(|row| row["session"] == json!(session));
    while !shows(&fleet.until("rows").await) {}
    assert!(world.parlor(&["devices", "revoke", "a test"]).status().unwrap().success());
    assert_eq!((page.end().await, fleet.end().await), (web::code::REVOKED, web::code::REVOKED));
    let (_, answer) = browser.connect(&json!("fleet")).await;
    assert_eq!(answer["refused"]["code"], json!("revoked"));
    assert!(!world.path("project/x.txt").exists());
}

#[tokio::test]
async fn pages_are_told_that_the_server_ends() {
    for in_background in [false, true] {
        let world = World::new();
        if in_background {
            assert!(world.parlor(&["up"]).output().unwrap().status.success());
        }
        let web = world.web(&[]);
        let browser = web.browser().await;
        let (mut page, _) = begun(&browser).await;
        let (mut fleet, _) = browser.connect(&json!("fleet")).await;
        let mut ending = if in_background {
            world.parlor(&["down"]).stdout(Stdio::null()).spawn().unwrap()
        } else {
            Command::new("kill").arg(web.pid().to_string()).spawn().unwrap()
        };
        assert_eq!((page.end().await, fleet.end().await), (1001, 1001), "{in_background}");
        assert!(ending.wait().unwrap().success());
    }
}

#[tokio::test]
async fn wrong_hosts_origins_and_tokens_are_refused() {
    let world = World::new();
    let web = world.web(&[]);
    let (address, port) = (web.address, web.address.port());
    let get = |host: &str, more: &str| {
        format!("GET /wire HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n")
    };
    let upgrade = "Upgrade: websocket\r\n";
    for (request, status) in [
        (get(&format!("evil.example:{port}"), ""), 421),
        (
            get(&format!("evil.example:{port}"), &format!("Origin: http://evil.example:{port}\r\n{upgrade}")),
            421,
        ),
        (get(&address.to_string(), upgrade), 403),
        (get(&address.to_string(), &format!("Origin: http://127.0.0.1:{}\r\n{upgrade}", port ^ 1)), 403),
    ] {
        assert_eq!(ask(address, &request).await.status, status, "{request}");
    }
    // Nothing in the printed address lets anybody in, and a no is one.
    let url = web.fresh();
    assert!(!url.contains(['#', '?', '@']), "{url}");
    let mut browser = Browser::at(address, &url);
    let (page, told) = browser.candidate().await;
    web.until_said(told["code"]["code"].as_str().unwrap()).await;
    let told = web.answers("n", browser.enrolled(page)).await;
    assert_eq!(told["refused"]["code"], json!("denied"));
    // A yes that was typed before anybody asked counts for nothing.
    web.types("yyy");
    let mut browser = Browser::at(address, &web.fresh());
    let (page, told) = browser.candidate().await;
    web.until_said(told["code"]["code"].as_str().unwrap()).await;
    let told = web.answers("n", browser.enrolled(page)).await;
    assert_eq!(told["refused"]["code"], json!("denied"));
    web.browser().await;
}

#[tokio::test]
async fn another_server_on_another_port_finds_nothing_of_ours() {
    let world = World::new();
    let web = world.web(&[]);
    let browser = web.browser().await;
    // What a browser would take along to any port of this host: it is given nothing, and so has nothing to take.
    let mut jar = String::new();
    let mut answers = Vec::new();
    for path in ["/", "/nowhere", "/enrol", "/wire"] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", web.address);
        answers.push(ask(web.address, &request).await);
    }
    for answer in &answers {
        assert!(!answer.head.contains("access-control-"), "{}", answer.head);
        let cookies = answer.head.lines().filter_map(|line| line.strip_prefix("set-cookie: "));
        jar.extend(
            cookies.map(|cookie| format!("Cookie: {}\r\n", cookie.split(';').next().unwrap_or_default())),
        );
    }
    // A server of somebody else on another port, and its log of a visit.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hostile = listener.local_addr().unwrap();
    let logging = tokio::spawn(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let (mut visitor, _) = listener.accept().await.unwrap();
        let mut log = vec![0; 4096];
        let read = visitor.read(&mut log).await.unwrap();
        log.truncate(read);
        visitor.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n").await.unwrap();
        String::from_utf8(log).unwrap()
    });
    ask(hostile, &format!("GET / HTTP/1.1\r\nHost: {hostile}\r\n{jar}Connection: close\r\n\r\n")).await;
    let log = logging.await.unwrap();
    assert!(log.contains(&hostile.to_string()));
    for ours in [&browser.id, &browser.key(), "Cookie", &web.address.port().to_string()] {
        assert!(!log.contains(ours), "{ours} stands in a log of somebody else: {log}");
    }
    // It passes our challenge on to a page of its own origin; the page signs for that host, which opens nothing here.
    let (mut page, nonce) = browser.challenged().await.unwrap();
    page.say(&browser.shows(&nonce, &hostile.to_string(), &json!("fleet")));
    assert_eq!(page.next().await.unwrap()["refused"]["code"], json!("bad_signature"));
    // And its pages cannot ask us for anything.
    let stream = TcpStream::connect(web.address).await.unwrap();
    let url = format!("ws://{}/wire", web.address);
    let called =
        websocket::call(stream, &url, Some(&format!("http://{hostile}")), Lane::MAIN, Limits::default())
            .await;
    assert_eq!(called.err(), Some(websocket::Unanswered::Refused(403)));
}

#[tokio::test]
async fn the_port_outlives_the_server_and_of_a_page_only_a_tab_that_stayed_open() {
    let world = World::new();
    let first = world.web(&[]);
    let mut browser = first.browser().await;
    let port = first.address.port();
    drop(first);
    let again = world.web(&[]);
    if again.address.port() != port {
        // Somebody else took it in between; then this is said, and there is nothing to see here.
        assert!(again.said().contains("cannot be had"), "{}", again.said());
        return;
    }
    browser.address = again.address;
    let (_page, answer) = browser.connect(&json!("fleet")).await;
    assert_eq!(answer["refused"]["code"], json!("other_run"), "{answer}");
    assert_eq!(answer["refused"]["open"], json!(again.url), "it is told where it is confirmed again");
    let (mut page, nonce) = browser.challenged().await.unwrap();
    page.say(&browser.tab_shows(&nonce, &json!("fleet")));
    page.until("welcome").await;
}

#[tokio::test]
async fn the_page_has_both_addresses_of_this_machine_or_none() {
    let world = World::new();
    let web = world.web(&[]);
    let port = web.address.port();
    let other = std::net::SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, port));
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    assert!(std::net::TcpListener::bind(other).is_err(), "somebody else can have {other}");
    let answer =
        ask(other, &format!("GET / HTTP/1.1\r\nHost: [::1]:{port}\r\nConnection: close\r\n\r\n")).await;
    assert_eq!(answer.status, 200);
    drop(web);
    // Somebody took the other one while nobody served the page.
    let Ok(_impostor) = std::net::TcpListener::bind(other) else { return };
    let again = world.web(&[]);
    assert_ne!(again.address.port(), port);
    again.until_said("cannot be had").await;
    let refused = world.parlor(&["web", "--no-open", "--port", &port.to_string()]).output().unwrap();
    assert!(!refused.status.success() && refused.stdout.is_empty(), "{refused:?}");
}

#[tokio::test]
async fn a_certificate_of_ones_own_encrypts() {
    use rustls::pki_types::{CertificateDer, ServerName};
    let world = World::new();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (cert, key) = (world.path("cert.pem"), world.path("key.pem"));
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let web = world.web(&["--tls", cert.to_str().unwrap(), key.to_str().unwrap()]);
    assert!(web.url.starts_with("https://"), "{}", web.url);
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from(made.cert.der().to_vec())).unwrap();
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config =
        rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let connector = tokio_rustls::TlsConnector::from(std::sync::Arc::new(config));
    let stream = TcpStream::connect(web.address).await.unwrap();
    let stream = connector.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap();
    let host = format!("localhost:{}", web.address.port());
    let (url, origin) = (format!("ws://{host}/wire"), format!("https://{host}"));
    let (link, socket) =
        websocket::call(stream, &url, Some(&origin), Lane::MAIN, Limits::default()).await.unwrap();
    let mut page = Page { link, socket };
    assert!(page.until("challenge").await["nonce"].is_string());
    // Who speaks plainly there is not answered.
    let mut plain = TcpStream::connect(web.address).await.unwrap();
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    plain.write_all(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
    let mut heard = Vec::new();
    let _ = plain.read_to_end(&mut heard).await;
    assert!(!String::from_utf8_lossy(&heard).contains("200 OK"));
    let refused =
        world.parlor(&["web", "--tls", key.to_str().unwrap(), cert.to_str().unwrap()]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
}

#[tokio::test]
async fn a_proxy_is_believed_by_the_name_that_was_given_and_by_no_other() {
    let world = World::new();
    let web = world.web(&["--behind-proxy", "--host", "parlor.example.org"]);
    assert!(web.url.starts_with("https://parlor.example.org/"), "{}", web.url);
    let mut seen = BTreeSet::new();
    for (host, origin) in [
        ("parlor.example.org", "https://parlor.example.org"),
        ("parlor.example.org", "https://evil.example"),
        ("evil.example", "https://evil.example"),
    ] {
        let stream = TcpStream::connect(web.address).await.unwrap();
        let called = websocket::call(
            stream,
            &format!("ws://{host}/wire"),
            Some(origin),
            Lane::MAIN,
            Limits::default(),
        )
        .await;
        seen.insert((host, origin, called.err()).2.map(|why| why.to_string()));
    }
    let refused = |status| Some(websocket::Unanswered::Refused(status).to_string());
    assert_eq!(seen, BTreeSet::from([None, refused(403), refused(421)]));
    for args in [
        &["web", "--bind", "0.0.0.0", "--no-open"][..],
        &["web", "--behind-proxy"],
        &["web", "--bind", "::", "--no-open"],
    ] {
        assert_eq!(world.parlor(args).output().unwrap().status.code(), Some(2), "{args:?}");
    }
}

/// What nginx does with a request by what docs/web.md says: the head with these fields set, everything else as it comes.
fn as_nginx(head: &str) -> String {
    let recipe = include_str!("../../../../docs/web.md")
        .split("```nginx")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let asked = |name: &str| {
        let field = |line: &str| {
            line.split_once(": ")
                .filter(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.to_owned())
        };
        head.lines().find_map(field).unwrap_or_default()
    };
    let set: Vec<(&str, String)> = recipe
        .lines()
        .filter_map(|line| line.trim().strip_prefix("proxy_set_header ")?.strip_suffix(';')?.split_once(' '))
        .map(|(name, value)| {
            let value = match value {
                "$host" => asked("host").split(':').next().unwrap_or_default().to_owned(),
                "$http_host" => asked("host"),
                "$http_upgrade" => asked("upgrade"),
                word => word.trim_matches('"').to_owned(),
            };
            (name, value)
        })
        .collect();
    assert!(recipe.contains("proxy_http_version 1.1;") && set.len() == 3, "{recipe}");
    let kept = head.lines().filter(|line| {
        let name = line.split_once(": ").map_or("", |(name, _)| name);
        // Fields of one hop are not passed on, unless they are set.
        !["connection", "upgrade"].contains(&name.to_ascii_lowercase().as_str())
            && !set.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
    });
    let set = set.iter().map(|(name, value)| format!("{name}: {value}"));
    let lines: Vec<String> = kept.map(str::to_owned).chain(set).collect();
    format!("{}\r\n\r\n", lines.join("\r\n"))
}

#[tokio::test]
async fn the_recipe_for_nginx_brings_a_page_to_its_session() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let world = World::new();
    let web = world.web(&["--behind-proxy", "--host", "parlor.example.org"]);
    let (to, proxy) = (web.address, tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap());
    let at = proxy.local_addr().unwrap();
    let mut passing = tokio::task::JoinSet::new();
    passing.spawn(async move {
        while let Ok((mut page, _)) = proxy.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(page.read_u8().await.unwrap());
            }
            let mut server = TcpStream::connect(to).await.unwrap();
            let head = as_nginx(String::from_utf8(head).unwrap().trim_end());
            server.write_all(head.as_bytes()).await.unwrap();
            let _ = tokio::io::copy_bidirectional(&mut page, &mut server).await;
        }
    });
    let host = "parlor.example.org";
    let mut browser = Browser { host: host.to_owned(), ..Browser::new(at) };
    let stream = TcpStream::connect(at).await.unwrap();
    let (url, origin) = (format!("ws://{host}/enrol"), format!("https://{host}"));
    let (link, socket) =
        websocket::call(stream, &url, Some(&origin), Lane::MAIN, Limits::default()).await.unwrap();
    let mut page = Page { link, socket };
    let challenge = page.until("challenge").await;
    assert_eq!(challenge["lasting"], json!(true));
    page.say(&browser.asks_to_last(challenge["nonce"].as_str().unwrap()));
    let code = page.until("code").await["code"].as_str().unwrap().to_owned();
    web.until_said(&code).await;
    let told = web.answers("y", browser.enrolled(page)).await;
    assert!(told["enrolled"].is_object(), "{told}");
    let stream = TcpStream::connect(at).await.unwrap();
    let (url, origin) = (format!("ws://{host}/wire"), format!("https://{host}"));
    let (link, socket) =
        websocket::call(stream, &url, Some(&origin), Lane::MAIN, Limits::default()).await.unwrap();
    let mut page = Page { link, socket };
    let nonce = page.until("challenge").await["nonce"].as_str().unwrap().to_owned();
    page.say(&browser.shows(&nonce, host, &json!({"new": {}})));
    page.until("welcome").await;
    page.say(&hello(None));
    page.until("hello").await;
    page.say(&command(1, &json!({"new_session": {}})));
    page.until("attached").await;
    page.say(&command(2, &prompt("list files")));
    run_to_end(&mut page).await;
}

#[tokio::test]
async fn other_wires_go_over_websockets_when_they_are_named() {
    let world = World::new();
    let (_serving, url) = world.listening("codelia");
    let address: std::net::SocketAddr =
        url.strip_prefix("ws://").unwrap().split('/').next().unwrap().parse().unwrap();
    let call = async |url: &str, origin: Option<&str>| {
        let stream = TcpStream::connect(address).await.unwrap();
        websocket::call(stream, url, origin, Lane::MAIN, Limits::default()).await
    };
    let (link, socket) = call(&url, None).await.unwrap();
    let mut page = Page { link, socket };
    page.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocol_version": "0", "client_info": {"name": "t", "version": "0"}}}));
    assert_eq!(page.next().await.unwrap()["id"], json!(1));
    assert_eq!(call(&url, Some("http://127.0.0.1")).await.err(), Some(websocket::Unanswered::Refused(403)));
    assert_eq!(
        call(&format!("ws://{address}/"), None).await.err(),
        Some(websocket::Unanswered::Refused(404))
    );
    for args in [
        &["serve", "--dialect", "native", "--listen", "ws://127.0.0.1:0"][..],
        &["serve", "--dialect", "codelia", "--listen", "ws://0.0.0.0:0"],
        &["serve", "--dialect", "auto", "--listen", "ws://127.0.0.1:0"],
        &["serve", "--dialect", "codelia", "--listen", "http://127.0.0.1:0"],
    ] {
        assert_eq!(world.parlor(args).output().unwrap().status.code(), Some(2), "{args:?}");
    }
}
