//! The server as pages and attackers see it, over real sockets of loopback, with sessions that are only made up.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panic")]

#[allow(dead_code, reason = "shared with the tests of the program, which use more of it")]
mod client;
mod enrol;
mod rooms;
mod window;

use client::{Browser, Page, ask};
use link::websocket::Unanswered;
use rooms::{World, row};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use web::{Role, code};

fn command(ticket: u64, what: &Value) -> Value {
    json!({"command": {"ticket": ticket, "what": what}})
}

#[tokio::test]
async fn an_upgrade_needs_our_host_and_our_origin() {
    let world = World::start().await;
    let address = world.address;
    let upgrade = |host: &str, origin: &str| {
        format!(
            "GET /wire HTTP/1.1\r\nHost: {host}\r\n{origin}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
    };
    let own = address.to_string();
    let close = |text: String| text.replace("Connection: Upgrade", "Connection: close, Upgrade");
    for (host, origin, status) in [
        (own.clone(), String::new(), 403),
        (own.clone(), "Origin: http://evil.example\r\n".to_owned(), 403),
        (own.clone(), format!("Origin: http://127.0.0.1:{}\r\n", address.port() ^ 1), 403),
        (own.clone(), "Origin: null\r\n".to_owned(), 403),
        (
            format!("evil.example:{}", address.port()),
            format!("Origin: http://evil.example:{}\r\n", address.port()),
            421,
        ),
    ] {
        assert_eq!(ask(address, &close(upgrade(&host, &origin))).await.status, status, "{host} {origin}");
    }
    assert!(Browser::new(address).challenged().await.is_ok());
}

#[tokio::test]
async fn only_a_device_with_its_key_is_welcomed() {
    let world = World::start().await;
    let browser = world.browser(Role::Controller).await;
    let wants = json!("fleet");
    let (_page, answer) = browser.connect(&wants).await;
    assert_eq!(answer["welcome"]["device"]["id"], json!(browser.id));
    // Somebody who knows the id and has another key; nobody; a signature for another host; an old signature.
    let mut thief = Browser { host: browser.host.clone(), ..Browser::new(world.address) };
    thief.id = browser.id.clone();
    let nobody = Browser::new(world.address);
    for (who, code) in [(&thief, "bad_signature"), (&nobody, "unknown_device")] {
        let (mut page, answer) = who.connect(&wants).await;
        assert_eq!(answer["refused"]["code"], json!(code));
        assert_eq!(page.end().await, code::DEVICE);
    }
    let (mut page, nonce) = browser.challenged().await.unwrap();
    page.say(&browser.shows(&nonce, "evil.example", &wants));
    assert_eq!(page.next().await.unwrap()["refused"]["code"], json!("bad_signature"));
    let (old, nonce) = browser.challenged().await.unwrap();
    drop(old);
    let (mut page, _) = browser.challenged().await.unwrap();
    page.say(&browser.shows(&nonce, &browser.host, &wants));
    assert_eq!(page.next().await.unwrap()["refused"]["code"], json!("bad_signature"));
    // A proof that is longer than anything may be that comes from a stranger.
    let (mut page, nonce) = browser.challenged().await.unwrap();
    let mut long = browser.shows(&nonce, &browser.host, &wants);
    long["device"]["more"] = json!("x".repeat(20_000));
    page.say(&long);
    assert!(page.next().await.is_none_or(|said| said["refused"].is_object()));
    // What is no proof at all.
    for line in [json!({}), json!({"hello": {}})] {
        let (mut page, _) = browser.challenged().await.unwrap();
        page.say(&line);
        assert!(page.next().await.is_none_or(|said| said["refused"].is_object()));
    }
}

#[tokio::test]
async fn lines_go_both_ways_and_the_end_of_a_room_is_told() {
    let world = World::start().await;
    let browser = world.browser(Role::Controller).await;
    let (mut page, answer) = browser.connect(&json!({"session": rooms::SESSION})).await;
    assert!(answer["welcome"].is_object(), "{answer}");
    let line = json!({"anything": "goes\u{2028} on as it is"});
    page.say(&line);
    assert_eq!(page.until("echo").await, line);
    page.say(&json!({"leave": true}));
    assert_eq!(page.end().await, code::GONE);
    let (mut page, answer) = browser.connect(&json!({"session": "sess-ffffffffffff"})).await;
    assert_eq!(answer["refused"]["code"], json!("no_such_session"));
    assert_eq!(page.end().await, code::SESSION);
}

#[tokio::test]
async fn only_a_controller_may_have_a_program_started_for_a_session() {
    let world = World::start().await;
    let session = || domain::ids::SessionId::parse(rooms::SESSION).unwrap();
    for (role, wanted) in [
        (Role::Controller, web::PageTarget::Session(session())),
        (Role::Approver, web::PageTarget::Watched(session())),
        (Role::Observer, web::PageTarget::Watched(session())),
    ] {
        let browser = world.browser(role).await;
        let _page = browser.connect(&json!({"session": rooms::SESSION})).await;
        assert_eq!(world.wanted(), Some(wanted), "{role}");
    }
}

#[tokio::test]
async fn a_role_holds_for_every_line() {
    let world = World::start().await;
    let hello = json!({"hello": {"protocol": 1, "revision": 1, "name": "page", "version": "0", "capabilities": ["hash", "cursor", "answers"]}});
    let prompt = json!({"prompt": {"input": {"text": "hi"}}});
    let answer = json!({"answer": {"ask": 1, "answer": {"allow": {"scope": "once"}}}});
    let lasting = [
        json!({"answer": {"ask": 1, "answer": {"allow": {"scope": "always"}}}}),
        json!({"answer": {"ask": 1, "answer": {"allow": {"scope": "session"}}}}),
        json!({"answer": {"ask": 1, "answer": {"confirmed": true}}}),
        json!({"extension": {"name": "parlor/rules", "payload": {}}}),
    ];
    for (role, asked) in [(Role::Observer, false), (Role::Approver, true)] {
        let browser = world.browser(role).await;
        let (mut page, _) = browser.connect(&json!({"session": rooms::SESSION})).await;
        page.say(&hello);
        let capabilities = page.until("echo").await["hello"]["capabilities"].clone();
        assert_eq!(capabilities.as_array().unwrap().contains(&json!("answers")), asked, "{role}");
        page.say(&command(7, &prompt));
        let settled = page.until("settled").await;
        assert_eq!(
            (&settled["ticket"], &settled["with"]["refusal"]["kind"]),
            (&json!(7), &json!("not_allowed")),
            "{role}"
        );
        page.say(&command(6, &answer));
        let said = page.next().await.unwrap();
        match role {
            Role::Approver => assert_eq!(said["echo"]["command"]["what"], answer),
            _ => assert_eq!(said["settled"]["with"]["refusal"]["kind"], json!("not_allowed"), "{said}"),
        }
        for what in &lasting {
            page.say(&command(9, what));
            let said = page.next().await.unwrap();
            assert_eq!(
                said["settled"]["with"]["refusal"]["kind"],
                json!("not_allowed"),
                "{role} {what}: {said}"
            );
        }
        // Said twice in one line, so that one reader could see one and another the other.
        let both = format!(r#"{{"command":{{"ticket":8,"what":{answer},"what":{prompt}}}}}"#);
        page.link.outgoing.try_send(link::Lane::MAIN, both).unwrap();
        let said = page.next().await.unwrap();
        assert!(said.get("echo").is_none(), "{role}: {said}");
        page.link.outgoing.try_send(link::Lane::MAIN, "{".to_owned()).unwrap();
        page.until("error").await;
        let (mut page, answer) = browser.connect(&json!({"new": {}})).await;
        assert_eq!(answer["refused"]["code"], json!("cannot_open"), "{role}");
        page.end().await;
    }
}

/// Every command, in rooms that hold a page to its role and in rooms that do not, or do not say so.
#[tokio::test]
async fn a_role_is_held_here_until_the_room_has_said_that_it_holds_it() {
    let table = include_str!("../../../../wires/native/src/rights.jsonl");
    let rows: Vec<Value> = table.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let world = World::start().await;
    let greets = |revision: u32, rights: Option<&str>| {
        let mut hello =
            json!({"protocol": 1, "revision": revision, "name": "room", "version": "0", "capabilities": []});
        if let Some(rights) = rights {
            hello["rights"] = rights.into();
        }
        hello
    };
    for role in [Role::Approver, Role::Observer] {
        let browser = world.browser(role).await;
        for (greeting, held_there) in [
            (greets(1, None), false),
            // Words of a revision that does not have them.
            (greets(1, Some("observer")), false),
            (greets(2, None), false),
            (greets(2, Some("controller")), false),
            (greets(2, Some("approver")), role == Role::Approver),
            (greets(2, Some("observer")), true),
            (greets(3, Some("observer")), true),
        ] {
            world.rooms_greet(greeting.clone());
            let (mut page, _) = browser.connect(&json!({"session": rooms::SESSION})).await;
            // Whatever a page asks for, it is its role or less that goes on.
            page.say(
                &json!({"hello": {"protocol": 1, "revision": 2, "rights": "controller", "capabilities": []}}),
            );
            assert_eq!(page.until("echo").await["hello"]["rights"], json!(role.name()));
            page.until("hello").await;
            for (row, ticket) in rows.iter().zip(1_u64..) {
                let least = Role::named(row["least"].as_str().unwrap()).unwrap();
                page.say(&command(ticket, &row["what"]));
                let said = page.next().await.unwrap();
                if held_there || least.lowered_to(role) == least {
                    assert_eq!(
                        said["echo"]["command"]["ticket"],
                        json!(ticket),
                        "{role} {greeting} {row}: {said}"
                    );
                } else {
                    let settled = &said["settled"];
                    assert_eq!(settled["ticket"], json!(ticket), "{role} {greeting} {row}: {said}");
                    assert_eq!(
                        settled["with"]["refusal"]["kind"],
                        json!("not_allowed"),
                        "{role} {row}: {said}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn a_page_that_asks_for_less_than_its_role_gets_less() {
    let world = World::start().await;
    for role in [Role::Controller, Role::Approver, Role::Observer] {
        let browser = world.browser(role).await;
        let (mut page, _) = browser.connect(&json!({"session": rooms::SESSION})).await;
        page.say(&json!({"hello": {"protocol": 1, "revision": 2, "rights": "observer", "capabilities": []}}));
        assert_eq!(page.until("echo").await["hello"]["rights"], json!("observer"));
    }
}

#[tokio::test]
async fn a_revoked_device_loses_its_live_sockets_and_another_role_makes_it_come_again() {
    let world = World::start().await;
    let (one, two) = (world.browser(Role::Controller).await, world.browser(Role::Controller).await);
    let (mut session, _) = one.connect(&json!({"session": rooms::SESSION})).await;
    let (mut fleet, _) = one.connect(&json!("fleet")).await;
    let (mut other, _) = two.connect(&json!({"session": rooms::SESSION})).await;
    world.shelf.alter(|devices| assert!(devices.revoke(&one.id, 1)));
    assert_eq!((session.end().await, fleet.end().await), (code::REVOKED, code::REVOKED));
    let (_, answer) = one.connect(&json!("fleet")).await;
    assert_eq!(answer["refused"]["code"], json!("revoked"));
    other.say(&json!({"still": "here"}));
    other.until("echo").await;
    world.shelf.alter(|devices| assert!(devices.entrust(&two.id, Role::Observer)));
    assert_eq!(other.end().await, code::ROLE);
}

#[tokio::test]
async fn who_connects_is_judged_by_the_list_of_this_moment() {
    let world = World::start().await;
    // Several times: the server looks at the list by itself too, and may do so just in between.
    for _ in 0..4 {
        let device = world.browser(Role::Controller).await;
        world.shelf.alter(|devices| assert!(devices.entrust(&device.id, Role::Observer)));
        let (_page, answer) = device.connect(&json!("fleet")).await;
        assert_eq!(answer["welcome"]["device"]["role"], json!("observer"), "{answer}");
        world.shelf.alter(|devices| assert!(devices.revoke(&device.id, 1)));
        let (_page, answer) = device.connect(&json!({"session": rooms::SESSION})).await;
        assert_eq!(answer["refused"]["code"], json!("revoked"), "{answer}");
    }
}

#[tokio::test]
async fn the_fleet_is_told_and_acted_on_as_far_as_the_role_allows() {
    let world = World::start().await;
    world.rows(vec![row(1, "mend it"), row(2, "leave it")]);
    let controller = world.browser(Role::Controller).await;
    let (mut page, _) = controller.connect(&json!("fleet")).await;
    let rows = page.until("rows").await;
    assert_eq!((&rows["all"], rows["rows"].as_array().unwrap().len()), (&json!(true), 2));
    assert_eq!(rows["rows"][0]["status"], json!("running"));
    assert!(rows["rows"][0].get("cost_micros").is_none(), "what is not known is left out: {rows}");
    world.rows(vec![row(1, "mended"), row(3, "new")]);
    let change = page.until("rows").await;
    let titles: Vec<&Value> = change["rows"].as_array().unwrap().iter().map(|row| &row["title"]).collect();
    assert_eq!(
        (titles, &change["gone"]),
        (vec![&json!("mended"), &json!("new")], &json!(["sess-000000000002"]))
    );
    page.say(&json!({"act": {"id": 4, "key": "sess-000000000001", "what": {"steer": "go on"}}}));
    let said = page.until("said").await;
    assert_eq!(said["id"], json!(4));
    assert!(said["words"].as_str().unwrap().contains("go on"), "{said}");
    let observer = world.browser(Role::Observer).await;
    let (mut page, _) = observer.connect(&json!("fleet")).await;
    page.say(&json!({"act": {"id": 5, "key": "sess-000000000001", "what": "stop"}}));
    assert!(page.until("said").await["words"].as_str().unwrap().contains("only a controller"));
}

#[tokio::test]
async fn what_no_session_tells_is_looked_up_as_far_as_the_role_allows() {
    let world = World::start().await;
    let mut told = Vec::new();
    for role in [Role::Controller, Role::Approver, Role::Observer] {
        let browser = world.browser(role).await;
        let (mut page, _) = browser.connect(&json!("fleet")).await;
        for (id, up) in
            [json!("start"), json!({"folders": "/a/b"}), json!({"search": "mend it"})].iter().enumerate()
        {
            page.say(&json!({"look": {"id": id, "up": up}}));
            let found = page.until("found").await;
            assert_eq!(found["id"], json!(id));
            told.push(found.get("is").cloned());
        }
    }
    let search = || Some(json!("Search(\"mend it\")"));
    let all = [Some(json!("Start")), Some(json!("Folders(\"/a/b\")")), search()];
    assert_eq!(told[..3], all);
    assert_eq!(told[3..], [None, None, search(), None, None, search()]);
    let browser = world.browser(Role::Controller).await;
    let (mut page, _) = browser.connect(&json!("fleet")).await;
    page.say(&json!({"look": {"id": 7, "up": {"search": "nothing"}}}));
    assert_eq!(page.until("found").await, json!({"id": 7, "words": "no match"}));
    page.say(&json!({"look": {"id": 8, "up": {"search": "x".repeat(5000)}}}));
    assert!(page.until("found").await["words"].as_str().unwrap().contains("too long"));
}

#[tokio::test]
async fn a_slow_page_holds_up_its_room_and_not_our_memory() {
    let world = World::start().await;
    let browser = world.browser(Role::Controller).await;
    let (mut page, _) = browser.connect(&json!({"session": rooms::SESSION})).await;
    // Far more than all buffers on the way (8 MB of the room's own, and some more), asked for without reading any of it.
    page.say(&json!({"flood": 400}));
    let mut left = world.left();
    loop {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let now = world.left();
        if now > 0 && now == left {
            break;
        }
        left = now;
    }
    assert!(left < 200, "{left} of 400 lines left their room");
    for number in 0..400 {
        assert_eq!(page.until("flood").await, json!(number));
    }
}

#[tokio::test]
async fn a_stranger_cannot_fill_the_log() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let log: web::Log = {
        let lines = lines.clone();
        Arc::new(move |words: &str| lines.lock().unwrap().push(words.to_owned()))
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let options = web::Options { log: Some(log), ..web::Options::default() };
    let world = rooms::serve(listener, options).unwrap();
    let begun = std::time::Instant::now();
    let strange = "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    for _ in 0..200 {
        assert_eq!(ask(world.address, strange).await.status, 421);
    }
    // A line a second, and as often how many were left out.
    let most = 2 * (usize::try_from(begun.elapsed().as_secs()).unwrap() + 1);
    let told = lines.lock().unwrap().clone();
    assert!((1..=most).contains(&told.len()) && told[0].starts_with("refused a request from"), "{told:?}");
    let browser = world.browser(Role::Controller).await;
    assert!(
        lines.lock().unwrap().iter().any(|line| line.contains(&browser.id)),
        "what the person does is told"
    );
    // Nothing is lost without a word.
    loop {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        let told = lines.lock().unwrap().clone();
        let left_out = told.iter().filter_map(|line| line.trim_end_matches(')').strip_suffix(" more"));
        let left_out = left_out.map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap());
        let whole =
            told.iter().filter(|line| line.starts_with("refused a request") && !line.ends_with(" more"));
        if left_out.sum::<usize>() + whole.count() == 200 {
            break;
        }
    }
}

#[tokio::test]
async fn there_is_no_plain_server_beyond_loopback() {
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
    let served = rooms::serve(listener, web::Options::default());
    assert!(matches!(served, Err(web::NotServed::Unencrypted(_))));
}

#[tokio::test]
async fn a_page_of_another_version_is_told_which_one_is_served() {
    let world = World::start().await;
    let stream = tokio::net::TcpStream::connect(world.address).await.unwrap();
    let (url, origin) = (format!("ws://{}/wire", world.address), format!("http://{}", world.address));
    let called =
        link::websocket::call(stream, &url, Some(&origin), link::Lane::MAIN, link::Limits::default()).await;
    let (link, socket) = called.unwrap_or_else(|why: Unanswered| panic!("{why}"));
    let mut page = Page { link, socket };
    let challenge = page.until("challenge").await;
    assert_eq!(challenge["version"], json!("7"));
    // What the page that is served knows of itself, for it compares the two.
    let digests = include_str!("../../../../page/dist/digest.txt");
    let sources = digests.lines().find_map(|line| line.strip_prefix("sources ")).unwrap();
    assert_eq!(challenge["page"], json!(sources));
    let scripts = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../page/dist/assets")).unwrap();
    let mut scripts = scripts.map(|script| std::fs::read(script.unwrap().path()).unwrap());
    let knows = |script: Vec<u8>| String::from_utf8_lossy(&script).contains(sources);
    assert!(scripts.any(knows), "the page knows its own digest");
}

#[tokio::test]
async fn a_signature_is_for_the_host_that_was_asked_for_and_for_its_port() {
    let world = World::start().await;
    let browser = world.browser(Role::Controller).await;
    let port = world.address.port();
    // Each of these is a host of ours; a key lives in the browser under one of them, and its signature is good there only.
    let signed = async |asked: &str, signed: &str| {
        let stream = tokio::net::TcpStream::connect(world.address).await.unwrap();
        let (url, origin) = (format!("ws://{asked}/wire"), format!("http://{asked}"));
        let called =
            link::websocket::call(stream, &url, Some(&origin), link::Lane::MAIN, link::Limits::default());
        let (link, socket) = called.await.unwrap();
        let mut page = Page { link, socket };
        let nonce = page.until("challenge").await["nonce"].as_str().unwrap().to_owned();
        page.say(&browser.shows(&nonce, signed, &json!("fleet")));
        page.next().await.unwrap().get("welcome").is_some()
    };
    let (number, name) = (format!("127.0.0.1:{port}"), format!("localhost:{port}"));
    assert!(signed(&number, &number).await && signed(&name, &name).await);
    for (asked, other) in [
        (&number, &name),
        (&name, &number),
        (&number, &"127.0.0.1".to_owned()),
        (&number, &format!("127.0.0.1:{}", port ^ 1)),
    ] {
        assert!(!signed(asked, other).await, "{asked} took a signature for {other}");
    }
}

#[tokio::test]
async fn every_route_has_the_guard_and_the_headers() {
    let world = World::start().await;
    let address = world.address;
    let listed = web::ROUTES.iter().map(|(method, path)| {
        (method.as_str(), path.replace("{file}", "digest.txt").replace("{*file}", "x.js"))
    });
    let others = [
        ("GET", "/nowhere/at/all"),
        ("OPTIONS", "/enrol"),
        ("DELETE", "/"),
        ("GET", "/../../etc/passwd"),
        ("GET", "/%2e%2e%2fCargo.toml"),
    ];
    for (method, path) in listed.chain(others.map(|(method, path)| (method, path.to_owned()))) {
        for (host, origin, expected) in [
            (address.to_string(), format!("http://{address}"), None),
            ("evil.example".to_owned(), format!("http://{address}"), Some(421)),
            (address.to_string(), "http://evil.example".to_owned(), Some(403)),
        ] {
            let request = format!(
                "{method} {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nConnection: close\r\n\r\n"
            );
            let answer = ask(address, &request).await;
            match expected {
                Some(status) => assert_eq!(answer.status, status, "{method} {path} {host} {origin}"),
                None => assert!(
                    answer.status != 421 && answer.status != 403,
                    "{method} {path}: {}",
                    answer.status
                ),
            }
            for header in [
                "content-security-policy: default-src 'none'",
                "x-content-type-options: nosniff",
                "referrer-policy: no-referrer",
                "cross-origin-opener-policy: same-origin",
                "cross-origin-resource-policy: same-origin",
                "x-frame-options: deny",
                "permissions-policy: ",
                "cache-control: ",
            ] {
                assert!(answer.head.contains(header), "{method} {path} {host}: no {header}\n{}", answer.head);
            }
            assert!(
                !answer.head.contains("access-control") && !answer.head.contains("set-cookie"),
                "{}",
                answer.head
            );
            assert!(!answer.head.contains("evil.example"), "{}", answer.head);
        }
    }
    let index =
        ask(address, &format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")).await;
    assert_eq!((index.status, index.head.contains("text/html")), (200, true));
}
