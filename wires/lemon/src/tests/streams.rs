//! Long answers: what is repeated is gathered, nothing is lost, and the cost stays linear.

use super::{kind, speaking};
use domain::event::{Body, ToolEvent};
use domain::tool::Progress;
use proptest::prelude::*;

fn updates(lines: &[String]) -> usize {
    lines.iter().filter(|line| line.contains(r#""type":"message_update""#)).count()
}

#[test]
fn the_first_piece_is_said_at_once_and_the_rest_gathered() {
    let (mut stage, message) = speaking();
    stage.delta(message, "a");
    assert_eq!(updates(&stage.lines()), 1);
    for _ in 0..49 {
        stage.now.0 += 1;
        stage.delta(message, "b");
    }
    assert_eq!(updates(&stage.lines()), 0);
    assert_eq!(stage.link.timers.len(), 1);
    stage.wait(60);
    let sent = stage.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0]["event"]["data"][0]["content"][0]["text"].as_str().map(str::len), Some(50));
    assert_eq!(sent[0]["event"]["data"][1][2].as_str().map(str::len), Some(49), "only what is new");
}

#[test]
fn a_long_answer_costs_little_more_than_its_length_in_time() {
    let (mut stage, message) = speaking();
    let (mut bytes, mut said) = (0, 0);
    // 400 KB in ten seconds, in ten thousand pieces: said whole each time that would be two gigabytes.
    for _ in 0..10_000 {
        stage.now.0 += 1;
        stage.delta(message, &"x".repeat(40));
        let lines = stage.lines();
        said += updates(&lines);
        bytes += lines.iter().map(String::len).sum::<usize>();
    }
    assert!(said < 210, "{said} updates");
    assert!(bytes < 25_000_000, "{bytes} bytes");
    stage.end_message(message);
    stage.wait(60);
    let sent = stage.sent();
    let last = sent.last().expect("the end");
    assert_eq!(kind(last), "message_end");
    assert_eq!(last["event"]["data"][0]["content"][0]["text"].as_str().map(str::len), Some(400_000));
}

#[test]
fn the_output_of_a_tool_is_repeated_by_its_end_only() {
    let (mut stage, message) = speaking();
    let tool = stage.propose(message, "bash", "{}");
    stage.end_message(message);
    stage.start_tool(tool);
    stage.lines();
    let mut longest = 0;
    for _ in 0..2_000 {
        stage.now.0 += 1;
        stage.happen(Body::Tool(ToolEvent::Progress { tool, progress: Progress::Output("é".repeat(100)) }));
        longest = stage.lines().iter().map(String::len).max().unwrap_or(0).max(longest);
    }
    assert!(longest < 40_000, "{longest}");
    stage.now.0 += 100;
    let status = Progress::Status { percent: Some(40), message: "half way".to_owned() };
    stage.happen(Body::Tool(ToolEvent::Progress { tool, progress: status }));
    let sent = stage.sent();
    assert_eq!(sent[0]["event"]["data"][3]["details"]["percent"], 40);
}

proptest! {
    #[test]
    fn whatever_the_pace_the_end_is_whole(pieces in prop::collection::vec(("[a-zé\\n]{0,5}", 0u64..80), 0..40)) {
        let (mut stage, message) = speaking();
        let mut whole = String::new();
        for (text, wait) in pieces {
            stage.now.0 += wait;
            stage.delta(message, &text);
            whole += &text;
        }
        stage.end_message(message);
        stage.wait(60);
        let sent = stage.sent();
        let ends: Vec<_> = sent.iter().filter(|line| kind(line) == "message_end").collect();
        let said = ends.last().map(|line| line["event"]["data"][0]["content"][0]["text"].clone());
        prop_assert_eq!(said.and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default(), whole);
    }
}
