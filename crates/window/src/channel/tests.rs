//! The page's connections, with this process in the place of the server.

use super::*;
use crate::finder::tests::World;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};

fn channel(world: &World) -> Channel {
    Channel::new(Arc::new(world.finder()))
}

/// The server's end of a connection, once it has heard what is wanted.
async fn taken(server: &UnixListener) -> (Value, BufReader<UnixStream>) {
    let mut peer = BufReader::new(server.accept().await.unwrap().0);
    (said(&mut peer).await, peer)
}

async fn said(peer: &mut BufReader<UnixStream>) -> Value {
    let mut line = String::new();
    peer.read_line(&mut line).await.unwrap();
    serde_json::from_str(&line).unwrap()
}

#[tokio::test]
async fn lines_go_both_ways_as_they_are_and_the_end_is_told_once() {
    let world = World::new();
    let server = world.listens();
    let channel = channel(&world);
    let wants = json!({"session": "s", "later": [1]});
    let number = channel.open(&wants).await.unwrap();
    let (asked, mut peer) = taken(&server).await;
    assert_eq!(asked, json!({"window": {"wants": wants}}));
    let lines = vec!["{\"a\": 1}".to_owned(), "\"b\u{2028}\"".to_owned()];
    assert!(channel.send(number, lines.clone()).await);
    let mut heard = Vec::new();
    for _ in 0..2 {
        let mut line = String::new();
        peer.read_line(&mut line).await.unwrap();
        heard.push(line.trim_end_matches('\n').to_owned());
    }
    assert_eq!(heard, lines);
    peer.write_all(b"{\"welcome\":{}}\n{ \"x\" :1}\nend 1001 the server ends\n").await.unwrap();
    let (mut lines, mut end) = (Vec::new(), None);
    while end.is_none() {
        let heard = channel.read(number).await;
        lines.extend(heard.lines);
        end = heard.end;
    }
    assert_eq!(lines, ["{\"welcome\":{}}", "{ \"x\" :1}"]);
    assert_eq!(end, Some(TheEnd { code: 1001, reason: "the server ends".to_owned() }));
    assert_eq!(channel.read(number).await, Heard::lost());
    assert!(!channel.send(number, vec!["x".to_owned()]).await);
}

#[tokio::test]
async fn what_the_page_does_not_read_waits_where_it_came_from() {
    let world = World::new();
    let server = world.listens();
    let channel = channel(&world);
    let number = channel.open(&json!("fleet")).await.unwrap();
    let (_, mut peer) = taken(&server).await;
    let line = format!("\"{}\"\n", "x".repeat(100_000));
    const LINES: usize = 200;
    let mut written = 0;
    // It writes until nobody takes any more: what is held is bounded, far below all that there is to say.
    while written < LINES {
        let full =
            tokio::time::timeout(std::time::Duration::from_millis(300), peer.write_all(line.as_bytes()));
        if full.await.is_err() {
            break;
        }
        written += 1;
    }
    assert!(written < LINES / 2, "{written} of {LINES} lines were taken though nobody read");
    drop(peer);
    let (mut lines, mut most) = (0, 0);
    loop {
        let heard = channel.read(number).await;
        most = most.max(heard.lines.iter().map(String::len).sum());
        lines += heard.lines.iter().filter(|line| line.len() == 100_002).count();
        if let Some(end) = heard.end {
            assert_eq!(end.code, LOST);
            break;
        }
    }
    assert_eq!(lines, written);
    assert!(most <= MAX_TOLD, "{most} bytes were told at once");
}

#[tokio::test]
async fn a_read_that_waits_ends_when_the_page_closes_or_is_loaded_anew() {
    let world = World::new();
    let server = world.listens();
    let channel = channel(&world);
    let (mut numbers, mut peers) = (Vec::new(), Vec::new());
    for at in 0..2 {
        numbers.push(channel.open(&json!(at)).await.unwrap());
        peers.push(taken(&server).await.1);
    }
    let ends = async {
        channel.close(numbers[0]);
        channel.close_all();
    };
    let (heard, again, ()) = tokio::join!(channel.read(numbers[0]), channel.read(numbers[1]), ends);
    assert_eq!((heard, again), (Heard::lost(), Heard::lost()));
    // The server is told, too.
    for mut peer in peers {
        assert_eq!(peer.read_line(&mut String::new()).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn connections_are_bounded_and_a_server_that_is_not_there_is_told_in_the_words_of_a_socket() {
    let world = World::new();
    let server = world.listens();
    let channel = channel(&world);
    let mut peers = Vec::new();
    for at in 0..MAX_CONNECTIONS {
        channel.open(&json!(at)).await.unwrap();
        peers.push(taken(&server).await);
    }
    let full = channel.open(&json!("more")).await.unwrap_err();
    assert!(full.lines[0].contains("too many sessions"), "{full:?}");
    channel.close_all();
    drop(server);
    std::fs::remove_file(world.dir.path().join("server.json")).unwrap();
    let stopped = channel.open(&json!("fleet")).await.unwrap_err();
    assert_eq!((stopped.lines.len(), stopped.end.unwrap().code), (0, LEAVES));
    let missing = Channel::new(Arc::new(Finder::new(world.dir.path().join("no"))));
    let told = missing.open(&json!("fleet")).await.unwrap_err();
    assert!(told.lines[0].starts_with(r#"{"refused":{"code":"no_parlor""#), "{told:?}");
    assert_eq!(told.end.unwrap().code, NOT_HAD);
}

#[test]
fn only_the_last_line_of_a_server_is_taken_for_the_end() {
    assert_eq!(TheEnd::read("end 4412 gone away").map(|end| end.code), Some(4412));
    for other in ["{\"end\":1}", "end", "end x y", "end 70000 x", "ending 1 x", " end 1 x"] {
        assert_eq!(TheEnd::read(other), None, "{other}");
    }
}
