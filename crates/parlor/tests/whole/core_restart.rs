//! A core that goes and comes back, played line by line: the hub knows where one was, so that one can go back there.
//!
//! The hub and the role are the real ones.

use crate::bench;
use domain::port::{LinkState, News};
use hub::core::Standing;
use roles::Answers;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

#[tokio::test(start_paused = true)]
async fn where_one_was_is_known_after_the_core_is_gone() {
    let dialect = dialects::nous::DIALECT;
    let lanes = bench::lanes(dialect);
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in &lanes {
        let (near, far) = tokio::io::duplex(64 * 1024);
        ours.push(near);
        theirs.push(far);
    }
    let hub = bench::front(dialect, bench::wire(&lanes, ours));
    let mut ui = hub.attach("person", Standing::Controller, Answers::ALL, None).await.expect("the hub runs");
    assert_eq!(hub.their_session().await, None, "nothing was told yet");
    let (read, mut write) = tokio::io::split(theirs.remove(0));
    let mut lines = BufReader::new(read).lines();
    for (asked, kind, payload) in [
        ("ping", "pong", json!({ "message": "pong" })),
        ("get_state", "state", json!({ "run_state": "idle", "session_id": "sess-1794" })),
        ("get_messages", "messages", json!({ "session_id": "sess-1794", "messages": [] })),
    ] {
        let line = lines.next_line().await.expect("a line").expect("the hub stays");
        let line: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(line["type"], asked);
        let answer = json!({ "v": "1", "id": line["id"], "type": kind, "payload": payload, "ok": true });
        write.write_all(format!("{answer}\n").as_bytes()).await.expect("the hub listens");
    }
    drop((lines, write, theirs));
    while !matches!(ui.news.recv().await.expect("the hub runs"), News::Link(LinkState::Lost(_))) {}
    assert_eq!(hub.their_session().await.as_deref(), Some("sess-1794"));
}
