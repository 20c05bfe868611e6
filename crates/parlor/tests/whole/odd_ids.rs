//! Requests whose id is none (7.5, true, an object, null), over every wire of JSON-RPC and in both directions: whoever asked is told, with
//! the id null, and the link goes on.

use crate::bench;
use crate::examples::examples;
use dialects::Dialect;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf};

const ODD: &[&str] = &["7.5", "true", "{}", "[1]", "null", "1e400"];
/// What comes when nothing comes.
const LONG: std::time::Duration = std::time::Duration::from_secs(30);

fn of_json_rpc() -> Vec<Dialect> {
    let is_rpc = |dialect: &Dialect| examples(*dialect)[0].line.contains(r#""jsonrpc":"2.0""#);
    dialects::ALL.iter().copied().filter(is_rpc).collect()
}

/// The next line that answers something.
async fn answer(lines: &mut Lines<BufReader<ReadHalf<DuplexStream>>>, what: &str) -> Value {
    loop {
        let line = tokio::time::timeout(LONG, lines.next_line()).await;
        let line = line.unwrap_or_else(|_| panic!("{what}: no answer")).expect("a link");
        let line: Value =
            serde_json::from_str(&line.unwrap_or_else(|| panic!("{what}: closed"))).expect("JSON");
        if line.get("error").is_some() || line.get("result").is_some() {
            return line;
        }
    }
}

/// Asks with each id that is none, and then with one that is.
async fn ask(what: &str, method: &str, end: DuplexStream) {
    let (read, mut says) = tokio::io::split(end);
    let mut lines = BufReader::new(read).lines();
    for id in ODD {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{}}}}"#);
        says.write_all(format!("{line}\n").as_bytes()).await.expect("the link is there");
        let answer = answer(&mut lines, &format!("{what}: {line}")).await;
        assert_eq!(answer["id"], Value::Null, "{what}: {line}: {answer}");
        assert_eq!(answer["error"]["code"], -32600, "{what}: {line}: {answer}");
        assert!(answer["error"]["message"].to_string().contains("id"), "{what}: {line}: {answer}");
    }
    says.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":\"9\",\"method\":\"no.such\"}\n")
        .await
        .expect("the link is there");
    assert_eq!(answer(&mut lines, what).await["id"], "9", "{what}");
}

#[tokio::test(start_paused = true)]
async fn a_request_whose_id_is_none_is_answered_on_every_wire_of_json_rpc() {
    let wires = of_json_rpc();
    assert!(wires.len() >= 3, "{wires:?}");
    for dialect in wires {
        let place = bench::workplace();
        let runtime = bench::runtime("", place.path());
        let mut ends =
            bench::serve(&runtime, bench::guest(dialect, place.path(), Vec::new()), &bench::lanes(dialect))
                .await;
        ask(&format!("a UI of {dialect}"), "initialize", ends.remove(0)).await;
        // The other way round it is the runtime that asks.
        let (near, far) = tokio::io::duplex(1 << 20);
        let front = bench::front_in(dialect, bench::wire(&bench::lanes(dialect), vec![near]), place.path());
        ask(&format!("a runtime of {dialect}"), "ui.confirm.request", far).await;
        drop(front);
    }
}
