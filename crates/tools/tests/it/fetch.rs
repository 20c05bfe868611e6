//! Pages from a server on loopback.

use crate::room::{Room, port};
use domain::ask::Risk;
use domain::session::Policy;
use domain::tool::ToolOutcome;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use tools::policy::{Rule, Verdict, decide};
use tools::{Deed, Fetch, Outcome, Tool as _};

/// A server that knows a few pages; the page `/stall` says when it was asked for and then nothing more.
fn server() -> (String, std::sync::mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = format!("127.0.0.1:{}", listener.local_addr().unwrap().port());
    let (asked, stalled) = std::sync::mpsc::sync_channel(1);
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let asked = asked.clone();
            std::thread::spawn(move || serve(socket, &asked));
        }
    });
    (host, stalled)
}

fn serve(mut socket: TcpStream, asked: &std::sync::mpsc::SyncSender<()>) {
    let mut reader = BufReader::new(socket.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let mut headers = String::new();
    while reader.read_line(&mut headers).unwrap_or(0) > 2 {}
    let (status, kind, more, body) = match line.split(' ').nth(1).unwrap_or_default() {
        "/" => ("200 OK", "text/html", "", "<h1>Hello</h1><script>no()</script>".to_owned()),
        "/heads" => ("200 OK", "text/plain", "", headers.to_ascii_lowercase()),
        "/long" => ("200 OK", "text/plain", "", (0..20_000).map(|n| format!("line {n}\n")).collect()),
        "/huge" => ("200 OK", "text/plain", "", "x".repeat(tools::fetch::MAX_BODY + 1_000)),
        "/moved" => ("302 Found", "text/plain", "location: /\r\n", String::new()),
        "/away" => ("302 Found", "text/plain", "location: http://127.0.0.1:1/\r\n", String::new()),
        "/round" => ("302 Found", "text/plain", "location: /round\r\n", String::new()),
        "/picture" => ("200 OK", "image/png", "", "\u{89}PNG".to_owned()),
        "/stall" => {
            asked.send(()).unwrap();
            let _ = reader.read_line(&mut line);
            return;
        }
        _ => ("404 Not Found", "text/plain", "", "no such page".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: {kind}\r\n{more}content-length: {}\r\n\r\n",
        body.len()
    );
    // The client may have had enough.
    let _ = socket.write_all(head.as_bytes()).and_then(|()| socket.write_all(body.as_bytes()));
}

async fn fetch(room: &Room, args: Value) -> Outcome {
    let tool = Fetch { private: true };
    let plan = tool.plan(&args, &room.place).unwrap();
    tool.run(plan, port().0).await
}

#[tokio::test]
async fn a_page_comes_as_text() {
    let (room, (host, _)) = (Room::new(), server());
    let get = |path: &str| fetch(&room, json!({ "url": format!("http://{host}{path}") }));
    let page = get("/").await;
    assert_eq!(page.outcome, ToolOutcome::Done);
    assert!(
        page.result.text.contains("# Hello") && !page.result.text.contains("no()"),
        "{}",
        page.result.text
    );
    assert!(page.result.text.contains("written by others"));
    assert!(get("/moved").await.result.text.contains("# Hello"));
    let raw = fetch(&room, json!({ "url": format!("http://{host}/"), "raw": true })).await;
    assert!(raw.result.text.contains("<h1>"));
    let heads = get("/heads").await.result.text;
    assert!(
        heads.contains("user-agent: parlor/") && !heads.contains("cookie") && !heads.contains("referer"),
        "{heads}"
    );
    let missing = get("/nothing").await;
    assert_eq!(missing.outcome, ToolOutcome::Failed);
    assert!(missing.result.text.contains("404 Not Found") && missing.result.text.contains("no such page"));
    assert!(get("/picture").await.result.text.contains("image/png"));
}

#[tokio::test]
async fn a_redirect_to_another_host_is_told_and_not_followed() {
    let (room, (host, _)) = (Room::new(), server());
    let away = fetch(&room, json!({ "url": format!("http://{host}/away") })).await;
    assert!(away.result.text.contains("redirects to another host"), "{}", away.result.text);
    assert!(away.result.text.ends_with("fetch http://127.0.0.1:1/"));
    let round = fetch(&room, json!({ "url": format!("http://{host}/round") })).await;
    assert!(round.result.text.contains("redirects more than"), "{}", round.result.text);
}

#[tokio::test]
async fn a_long_page_is_cut_and_its_rest_can_be_read() {
    let (room, (host, _)) = (Room::new(), server());
    let long = fetch(&room, json!({ "url": format!("http://{host}/long") })).await.result;
    assert!(long.truncated && long.text.len() < 60 * 1024);
    let (_, after) = long.text.split_once("the whole is in ").unwrap();
    let file = after.split(", use read").next().unwrap();
    assert!(std::fs::read_to_string(file).unwrap().contains("line 10000\n"));
    assert!(room.place.readable(file.as_ref()), "without asking again");
    let huge = fetch(&room, json!({ "url": format!("http://{host}/huge") })).await.result;
    assert!(huge.truncated && huge.text.contains("cut: the page is longer than"), "{}", &huge.text[..200]);
}

#[tokio::test]
async fn a_stalled_page_is_left_when_the_person_cancels() {
    let (room, (host, stalled)) = (Room::new(), server());
    let tool = Fetch { private: true };
    let plan = tool.plan(&json!({ "url": format!("http://{host}/stall") }), &room.place).unwrap();
    let (port, _news) = port();
    let cancel = port.cancel.clone();
    let running = tokio::spawn(tool.run(plan, port));
    tokio::task::spawn_blocking(move || stalled.recv().unwrap()).await.unwrap();
    cancel.cancel();
    assert_eq!(running.await.unwrap().outcome, ToolOutcome::Cancelled);
}

#[test]
fn the_person_is_asked_for_each_host() {
    let room = Room::new();
    let plan = |url: &str| Fetch::default().plan(&json!({ "url": url }), &room.place);
    let docs = plan("https://docs.example/page?q=1").unwrap();
    assert_eq!(docs.title, "fetch from docs.example: https://docs.example/page?q=1");
    assert_eq!(docs.deed, Deed::Fetch { host: "docs.example".into() });
    assert!(!docs.assessment.reversible && docs.assessment.reasons[0].contains("docs.example"));
    let offer = docs.rule.clone().unwrap();
    assert_eq!(offer.words, "fetch pages from docs.example");
    for (mode, verdict) in [(Policy::Ask, Verdict::Ask), (Policy::AutoEdit, Verdict::Ask)] {
        assert_eq!(decide(mode, &docs, &[]), verdict, "{mode}");
    }
    assert!(matches!(decide(Policy::ReadOnly, &docs, &offer.rules), Verdict::Deny(_)));
    let asks = |url: &str, rules: &[Rule]| decide(Policy::Ask, &plan(url).unwrap(), rules) == Verdict::Ask;
    assert!(!asks("https://docs.example/other", &offer.rules));
    for other in ["https://docs.example.evil/", "https://docs.example:8443/", "https://evil/?docs.example"] {
        assert!(asks(other, &offer.rules), "{other}");
    }
    // What is so long that it may carry a secret away is asked in spite of a rule.
    let long = format!("https://docs.example/?q={}", "x".repeat(400));
    assert_eq!(plan(&long).unwrap().assessment.risk, Risk::High);
    assert!(asks(&long, &offer.rules));
    for own in ["http://127.0.0.1/", "http://localhost:8080/", "http://169.254.169.254/latest/meta-data/"] {
        assert!(plan(own).unwrap_err().to_string().contains("private = true"), "{own}");
    }
}
