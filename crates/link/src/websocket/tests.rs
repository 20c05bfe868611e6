//! Two ends over memory, with time that only passes where nothing else is to be done; and ends that do not keep to the rules.

use super::*;
use crate::{Ending, Incoming, Limits};
use ::wire::lines::Frame;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

const LINE: usize = 4 * 1024;

fn limits() -> Limits {
    Limits { line: LINE, ..Limits::default() }
}

/// A server's link, and the bare other end.
async fn served(pipe: usize, allowance: u64) -> (LinkIo, Socket, DuplexStream) {
    let (ours, theirs) = tokio::io::duplex(pipe);
    let (link, socket) = accepted(ours, Lane::MAIN, limits(), allowance).await;
    (link, socket, theirs)
}

/// A frame as a client sends it, masked with zeros.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        short @ 0..126 => bytes.push(0x80 | u8::try_from(short).unwrap()),
        long => {
            bytes.push(0x80 | 126);
            bytes.extend(u16::try_from(long).unwrap().to_be_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes.extend(payload);
    bytes
}

const TEXT: u8 = 0x81;
const BINARY: u8 = 0x82;
const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;
const PONG: u8 = 0x8a;

/// The next frame of the server: its first byte and what is in it.
async fn heard(stream: &mut DuplexStream) -> (u8, Vec<u8>) {
    let first = stream.read_u8().await.unwrap();
    let length = match stream.read_u8().await.unwrap() {
        126 => usize::from(stream.read_u16().await.unwrap()),
        127 => usize::try_from(stream.read_u64().await.unwrap()).unwrap(),
        short => usize::from(short),
    };
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload).await.unwrap();
    (first, payload)
}

fn closed_as(payload: &[u8]) -> u16 {
    u16::from_be_bytes([payload[0], payload[1]])
}

async fn line(link: &mut LinkIo) -> String {
    match link.incoming.recv().await {
        Some(Incoming::Frame { frame: Frame::Line(line), .. }) => line,
        other => panic!("no line but {other:?}"),
    }
}

async fn ending(link: &mut LinkIo) -> Ending {
    match link.incoming.recv().await {
        Some(Incoming::Closed { reason, .. }) => reason,
        other => panic!("no end but {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_is_a_line_both_ways_and_a_newline_cuts_none() {
    let (mut link, _, mut peer) = served(1 << 16, u64::MAX).await;
    link.outgoing.try_send(Lane::MAIN, "one".into()).unwrap();
    link.outgoing.try_send(Lane::MAIN, "zwei ü".into()).unwrap();
    link.outgoing.try_send(Lane::MAIN, String::new()).unwrap();
    assert_eq!(heard(&mut peer).await, (TEXT, b"one".to_vec()));
    assert_eq!(heard(&mut peer).await, (TEXT, "zwei ü".as_bytes().to_vec()));
    assert_eq!(heard(&mut peer).await, (TEXT, Vec::new()));
    peer.write_all(&frame(TEXT, "{\n \"a\":\r\n1}".as_bytes())).await.unwrap();
    // In two frames, as any browser may send it.
    peer.write_all(&frame(0x01, b"he")).await.unwrap();
    peer.write_all(&frame(0x80, b"llo")).await.unwrap();
    let whole = line(&mut link).await;
    assert!(whole.starts_with('{') && whole.ends_with("1}") && !whole.contains('\n'), "{whole:?}");
    assert_eq!(line(&mut link).await, "hello");
}

#[tokio::test(start_paused = true)]
async fn a_long_message_goes_in_pieces_and_is_one_line() {
    // Characters of two bytes, so that one is cut where the first piece ends.
    let long = format!("x{}", "ü".repeat(PIECE_BYTES));
    let (link, _, mut peer) = served(1 << 17, u64::MAX).await;
    link.outgoing.try_send(Lane::MAIN, long.clone()).unwrap();
    link.outgoing.try_send(Lane::MAIN, "short".into()).unwrap();
    let (first, mut whole) = heard(&mut peer).await;
    assert_eq!((first, whole.len()), (0x01, PIECE_BYTES));
    for (kind, length) in [(0x00, PIECE_BYTES), (0x80, 1)] {
        let (first, more) = heard(&mut peer).await;
        assert_eq!((first, more.len()), (kind, length));
        whole.extend(more);
    }
    assert_eq!(whole, long.as_bytes());
    assert_eq!(heard(&mut peer).await, (TEXT, b"short".to_vec()));
}

#[tokio::test(start_paused = true)]
async fn a_ping_is_answered_and_is_no_line() {
    let (mut link, _, mut peer) = served(1 << 16, u64::MAX).await;
    peer.write_all(&frame(PING, b"are you there")).await.unwrap();
    assert_eq!(heard(&mut peer).await, (PONG, b"are you there".to_vec()));
    peer.write_all(&frame(TEXT, b"line")).await.unwrap();
    assert_eq!(line(&mut link).await, "line");
}

#[tokio::test(start_paused = true)]
async fn the_longest_message_passes_and_a_longer_one_ends_it_with_its_code() {
    let (mut link, _, mut peer) = served(1 << 16, u64::MAX).await;
    peer.write_all(&frame(TEXT, &[b'x'; LINE])).await.unwrap();
    assert_eq!(line(&mut link).await.len(), LINE);
    // Also in pieces, each of which would do.
    peer.write_all(&frame(0x01, &[b'x'; LINE])).await.unwrap();
    peer.write_all(&frame(0x80, b"y")).await.unwrap();
    let (kind, payload) = heard(&mut peer).await;
    assert_eq!((kind, closed_as(&payload)), (CLOSE, 1009));
    assert!(matches!(ending(&mut link).await, Ending::ReadFailed(why) if why.contains("too long")));
    let (mut link, _, mut peer) = served(1 << 16, u64::MAX).await;
    peer.write_all(&frame(TEXT, &[b'x'; LINE + 1])).await.unwrap();
    assert_eq!(closed_as(&heard(&mut peer).await.1), 1009);
    assert!(matches!(ending(&mut link).await, Ending::ReadFailed(_)));
}

#[tokio::test(start_paused = true)]
async fn binary_messages_and_bytes_that_are_no_text_end_it_with_their_codes() {
    for (bytes, code) in [(frame(BINARY, b"{}"), 1003), (frame(TEXT, b"\xff\xfe"), 1007)] {
        let (mut link, _, mut peer) = served(1 << 16, u64::MAX).await;
        peer.write_all(&bytes).await.unwrap();
        let (kind, payload) = heard(&mut peer).await;
        assert_eq!((kind, closed_as(&payload)), (CLOSE, code));
        assert!(matches!(ending(&mut link).await, Ending::ReadFailed(_)));
    }
}

#[tokio::test(start_paused = true)]
async fn frames_against_the_protocol_end_it_with_their_code() {
    let unmasked = vec![TEXT, 2, b'h', b'i'];
    for bytes in [
        unmasked,
        frame(0x83, b"reserved kind"),
        frame(0xc1, b"reserved bit"),
        frame(0x80, b"goes on with nothing"),
        frame(0x09, b"a ping in pieces"),
        frame(PING, &[b'x'; 126]),
        [frame(0x01, b"begun"), frame(TEXT, b"and begun again")].concat(),
    ] {
        let (mut link, _, mut peer) = served(1 << 16, u64::MAX).await;
        peer.write_all(&bytes).await.unwrap();
        let (kind, payload) = heard(&mut peer).await;
        assert_eq!((kind, closed_as(&payload)), (CLOSE, 1002), "{bytes:?}");
        assert!(matches!(ending(&mut link).await, Ending::ReadFailed(_)), "{bytes:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_closes_is_told_apart_and_with_what() {
    let (server, client) = tokio::io::duplex(1 << 16);
    let answering = tokio::spawn(async move {
        let mut server = server;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(server.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        assert!(head.contains("Origin: http://here") || head.contains("origin: http://here"), "{head}");
        let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).unwrap();
        let accept = accept_key(key.as_bytes());
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        server.write_all(answer.as_bytes()).await.unwrap();
        accepted(server, Lane::MAIN, limits(), u64::MAX).await
    });
    let called = call(client, "ws://here/wire", Some("http://here"), Lane::MAIN, limits()).await;
    let ((mut link, socket), (theirs, control)) = (called.unwrap(), answering.await.unwrap());
    control.close_with(4410, "revoked");
    theirs.outgoing.try_send(Lane::MAIN, "last word".into()).unwrap();
    let report = theirs.shutdown(Duration::from_secs(5)).await;
    assert_eq!((report.panicked, report.aborted), (0, 0));
    assert_eq!(line(&mut link).await, "last word");
    assert_eq!(ending(&mut link).await, Ending::Eof);
    assert_eq!(socket.closed_with(), Some((4410, "revoked".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn a_reason_that_does_not_fit_is_cut_at_a_character() {
    let (link, socket, mut peer) = served(1 << 16, u64::MAX).await;
    socket.close_with(4404, &"ü".repeat(100));
    link.outgoing.close_after_flush();
    let (kind, payload) = heard(&mut peer).await;
    assert_eq!((kind, closed_as(&payload)), (CLOSE, 4404));
    assert_eq!(std::str::from_utf8(&payload[2..]).unwrap(), "ü".repeat(61));
}

#[tokio::test(start_paused = true)]
async fn a_half_open_peer_is_asked_and_then_given_up() {
    let (mut link, _, mut peer) = served(1 << 16, u64::MAX).await;
    let began = Instant::now();
    assert_eq!(heard(&mut peer).await.0, PING);
    assert!(began.elapsed() >= PING_EVERY && began.elapsed() < 2 * PING_EVERY);
    // It answered once: that was a sign of life.
    peer.write_all(&frame(PONG, b"")).await.unwrap();
    let alive = Instant::now();
    match ending(&mut link).await {
        Ending::ReadFailed(why) => assert!(why.contains("nothing was heard"), "{why}"),
        other => panic!("{other:?}"),
    }
    assert!(alive.elapsed() >= SILENT_AFTER && alive.elapsed() <= SILENT_AFTER + PING_EVERY);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_takes_little_at_a_time_is_not_given_up_and_one_that_takes_nothing_is() {
    let (mut link, _, mut peer) = served(64, u64::MAX).await;
    link.outgoing.try_send(Lane::MAIN, "x".repeat(LINE)).unwrap();
    // It reads slowly, and says nothing for far longer than it may be silent.
    let mut byte = [0; 64];
    for _ in 0..20 {
        tokio::time::sleep(PING_EVERY).await;
        peer.read_exact(&mut byte).await.unwrap();
        assert!(link.incoming.is_empty());
    }
    assert!(matches!(ending(&mut link).await, Ending::ReadFailed(_)));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_peer_may_not_say_much() {
    let (mut link, _, mut peer) = served(1 << 16, 1_000).await;
    peer.write_all(&frame(TEXT, b"who I am")).await.unwrap();
    assert_eq!(line(&mut link).await, "who I am");
    peer.write_all(&frame(TEXT, &[b'x'; 1_500])).await.unwrap();
    assert!(
        matches!(ending(&mut link).await, Ending::ReadFailed(why) if why.contains("before it was known"))
    );
    let (mut link, socket, mut peer) = served(1 << 16, 1_000).await;
    socket.trust();
    peer.write_all(&frame(TEXT, &[b'x'; 1_500])).await.unwrap();
    assert_eq!(line(&mut link).await.len(), 1_500);
}
