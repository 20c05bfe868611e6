//! Programs with one planted defect: our runtime with a filter in front that breaks one thing. The kit must find it, and nothing else.

use super::{check, red, wishes};
use kit::check::{Suite, Tested};
use kit::peer::Peer;
use kit::player::Lane;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A defect: what it does with what passes.
enum Defect {
    /// With a line of the runtime: the lines that go on instead; it may hold some back. A text goes on as it is.
    Said(fn(Value, &mut Vec<Value>) -> Vec<Value>),
    /// With a line of the UI; `None` ends the program.
    Heard(fn(&[u8]) -> Option<Vec<u8>>),
    /// With a whole chunk of the UI, before it is cut into lines.
    Chunk(fn(&[u8]) -> Vec<u8>),
    /// The end of stdin is kept from the program.
    NoEnd,
}
use Defect::{Chunk, Heard, NoEnd, Said};

/// Leads the only lane of a program through defects.
fn broken(peer: Peer, defects: fn() -> Vec<Defect>) -> Peer {
    peer.with_lanes(|lanes| lanes.into_iter().map(|lane| lead(lane, defects)).collect())
}

fn lead(lane: Lane, defects: fn() -> Vec<Defect>) -> Lane {
    let Lane { number, read: mut from_program, write: mut to_program } = lane;
    // One pipe per direction, so that each can end by itself.
    let (write, mut from_kit) = tokio::io::duplex(64 * 1024);
    let (mut to_kit, read) = tokio::io::duplex(64 * 1024);
    let (dead, mut died) = tokio::sync::watch::channel(false);
    tokio::spawn(async move {
        let (mut buffer, mut bytes) = (Vec::new(), vec![0; 64 * 1024]);
        let mut saying: Vec<_> = defects().into_iter().map(|defect| (defect, Vec::new())).collect();
        loop {
            let count = tokio::select! {
                count = from_program.read(&mut bytes) => count.unwrap_or(0),
                _ = died.wait_for(|dead| *dead) => 0,
            };
            if count == 0 {
                let _ = to_kit.shutdown().await;
                return;
            }
            buffer.extend_from_slice(&bytes[..count]);
            while let Some(line) = cut(&mut buffer) {
                let mut lines = json_of(&line).map_or(vec![], |line| vec![line]);
                for (defect, held) in &mut saying {
                    if let Said(said) = defect {
                        lines = lines.into_iter().flat_map(|line| said(line, held)).collect();
                    }
                }
                for line in lines {
                    let text = line.as_str().map_or_else(|| line.to_string(), str::to_owned);
                    if to_kit.write_all(format!("{text}\n").as_bytes()).await.is_err() {
                        return;
                    }
                }
            }
        }
    });
    tokio::spawn(async move {
        let (mut buffer, mut bytes) = (Vec::new(), vec![0; 64 * 1024]);
        while let Ok(count @ 1..) = from_kit.read(&mut bytes).await {
            let mut piece = bytes[..count].to_vec();
            for defect in defects() {
                if let Chunk(chunk) = defect {
                    piece = chunk(&piece);
                }
            }
            buffer.extend_from_slice(&piece);
            while let Some(mut line) = cut(&mut buffer) {
                for defect in defects() {
                    if let Heard(heard) = defect {
                        match heard(&line) {
                            Some(other) => line = other,
                            None => {
                                let _ = dead.send(true);
                                return;
                            }
                        }
                    }
                }
                if to_program.write_all(&line).await.is_err() || to_program.flush().await.is_err() {
                    return;
                }
            }
        }
        if defects().iter().any(|defect| matches!(defect, NoEnd)) {
            // Held open for as long as the test runs.
            std::future::pending::<()>().await;
        }
    });
    Lane { number, read: Box::new(read), write: Box::new(write) }
}

/// The first line of a buffer, with its newline.
fn cut(buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    let end = buffer.iter().position(|byte| *byte == b'\n')?;
    Some(buffer.drain(..=end).collect())
}

async fn expect_red(filter: fn(Peer) -> Peer, expected: &[&str]) {
    let suite = Suite::of("codelia", Tested::Runtime).unwrap();
    let report = check(
        &suite,
        "PARLOR serve --dialect codelia --stdio --ephemeral",
        &wishes(Duration::from_secs(8)),
        filter,
    )
    .await;
    assert_eq!(red(&report), expected, "{}", report.summary());
}

/// Defects that do not get into each other's way share a run: each must turn its own scenario red, and nothing else may be.
macro_rules! defects {
    ($($name:ident [$($red:literal),*] $($defect:expr),*;)*) => {
        $(#[tokio::test]
        async fn $name() {
            expect_red(|peer| broken(peer, || vec![$($defect),*]), &[$($red),*]).await;
        })*
    };
}

fn is(line: &Value, place: &str, text: &str) -> bool {
    line.pointer(place).and_then(Value::as_str) == Some(text)
}

/// The line with a place changed, where it has it.
fn with(mut line: Value, place: &str, change: impl FnOnce(Value) -> Value) -> Vec<Value> {
    if let Some(at) = line.pointer_mut(place) {
        *at = change(at.take());
    }
    vec![line]
}

/// A line of the UI with a place set, where it has it.
fn set(line: &[u8], place: &str, to: Value) -> Option<Vec<u8>> {
    let Some(value) = json_of(line) else { return Some(line.to_vec()) };
    Some(format!("{}\n", with(value, place, |_| to)[0]).into_bytes())
}

fn json_of(line: &[u8]) -> Option<Value> {
    serde_json::from_slice(line).ok()
}

fn reuses_seq(line: Value, _: &mut Vec<Value>) -> Vec<Value> {
    with(line, "/params/seq", |_| json!(4))
}

fn numbers_as_texts(line: Value, _: &mut Vec<Value>) -> Vec<Value> {
    with(line, "/id", |id| if id.is_number() { json!(id.to_string()) } else { id })
}

fn errors_twice(line: Value, _: &mut Vec<Value>) -> Vec<Value> {
    if line.get("error").is_some() { vec![line.clone(), line] } else { vec![line] }
}

fn log_on_stdout(line: Value, _: &mut Vec<Value>) -> Vec<Value> {
    if is(&line, "/params/status", "running") { vec![line, json!("INFO a run begins")] } else { vec![line] }
}

fn another_code(line: Value, _: &mut Vec<Value>) -> Vec<Value> {
    with(line, "/error/code", |code| if code == -32601 { json!(-32603) } else { code })
}

fn no_version(line: Value, _: &mut Vec<Value>) -> Vec<Value> {
    with(line, "/result/protocol_version", |_| Value::Null)
}

fn another_run(line: Value, _: &mut Vec<Value>) -> Vec<Value> {
    if is(&line, "/method", "agent.event") {
        with(line, "/params/run_id", |_| json!("run-other"))
    } else {
        vec![line]
    }
}

fn never_completed(line: Value, _: &mut Vec<Value>) -> Vec<Value> {
    if is(&line, "/params/status", "completed") { vec![] } else { vec![line] }
}

fn ends_twice(line: Value, _: &mut Vec<Value>) -> Vec<Value> {
    if is(&line, "/params/status", "completed") { vec![line.clone(), line] } else { vec![line] }
}

fn events_before_the_run(line: Value, held: &mut Vec<Value>) -> Vec<Value> {
    if line.pointer("/result/run_id").is_some() {
        held.push(line);
        return vec![];
    }
    std::iter::once(line).chain(held.drain(..)).collect()
}

fn dies_on_garbage(line: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(line).ok().filter(|text| !text.trim().is_empty() && text.len() < 1000);
    if text.is_some() && json_of(line).is_none() { None } else { Some(line.to_vec()) }
}

fn dies_on_bytes_that_are_no_text(line: &[u8]) -> Option<Vec<u8>> {
    std::str::from_utf8(line).is_ok().then(|| line.to_vec())
}

fn dies_on_long_lines(line: &[u8]) -> Option<Vec<u8>> {
    (line.len() < 10 * 1024 * 1024).then(|| line.to_vec())
}

fn dies_on_stray_answers(line: &[u8]) -> Option<Vec<u8>> {
    let stray = json_of(line).is_some_and(|line| is(&line, "/id", "never-asked"));
    (!stray).then(|| line.to_vec())
}

fn dies_on_blank_lines(line: &[u8]) -> Option<Vec<u8>> {
    (!line.trim_ascii().is_empty()).then(|| line.to_vec())
}

fn one_request_per_chunk(chunk: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = chunk.split_inclusive(|byte| *byte == b'\n').collect();
    let requests =
        lines.iter().filter(|line| String::from_utf8_lossy(line).contains("parlor.check.unknown")).count();
    if requests > 1 { lines[0].to_vec() } else { chunk.to_vec() }
}

fn a_chunk_is_a_line(chunk: &[u8]) -> Vec<u8> {
    // Long ones come in pieces however they are written.
    if chunk.ends_with(b"\n") || chunk.len() > 1000 { chunk.to_vec() } else { Vec::new() }
}

defects! {
    wrong_words ["answers", "events-name-run", "id-as-sent", "initialize", "method-not-found", "only-protocol", "seq-rises"]
        Said(reuses_seq), Said(numbers_as_texts), Said(errors_twice), Said(log_on_stdout), Said(another_code), Said(no_version),
        Said(another_run);
    wrong_order ["run-ends", "run-id"] Said(never_completed), Said(events_before_the_run);
    wrong_ends ["end-of-stdin", "run-ends"] Said(ends_twice), NoEnd;
    dies_of_input ["blank-lines", "garbage", "not-utf8", "oversized-line", "stray-response"]
        Heard(dies_on_garbage), Heard(dies_on_bytes_that_are_no_text), Heard(dies_on_long_lines), Heard(dies_on_stray_answers),
        Heard(dies_on_blank_lines);
    takes_no_for_yes ["asks-only-who-can-answer", "consent-no", "consent-twice"]
        Heard(|line| set(line, "/result/ok", json!(true))),
        Heard(|line| set(line, "/params/ui_capabilities/supports_confirm", json!(true)));
    takes_yes_for_no ["consent-yes", "two-in-one-write"]
        Heard(|line| set(line, "/result/ok", json!(false))), Chunk(one_request_per_chunk);
    reads_chunks ["torn-line"] Chunk(a_chunk_is_a_line);
}
