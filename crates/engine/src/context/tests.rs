//! Where a conversation is cut.

use super::*;
use crate::briefing::Told;
use models::{ToolArgs, ToolCall};

fn context(sizes: &[usize]) -> Context {
    let mut context = Context::default();
    for (at, size) in sizes.iter().enumerate() {
        context.push(EntryId(at as u64 + 1), Told::default(), ChatMessage::user("x".repeat(*size)));
    }
    context
}

#[test]
fn the_newest_fifth_is_kept() {
    for (sizes, cut) in [
        (&[100; 10][..], Some(8)),
        (&[10, 10, 10, 1000], Some(3)),
        (&[1000, 1000, 10], Some(2)),
        (&[10, 1000], None),
        (&[10], None),
        (&[], None),
    ] {
        assert_eq!(context(sizes).cut(), cut, "{sizes:?}");
    }
}

#[test]
fn a_summary_takes_the_place_of_what_was_cut() {
    let mut context = context(&[100; 10]);
    assert_eq!(context.tokens(), 250);
    let cut = context.cut().unwrap();
    assert_eq!((context.older(cut).len(), context.first_kept(cut)), (8, Some(EntryId(9))));
    context.compacted(cut, EntryId(20), "in short");
    assert_eq!(context.messages().len(), 3);
    assert!(context.messages()[0].text().ends_with("in short"));
}

#[test]
fn what_the_provider_counted_leads_the_estimate() {
    let mut context = context(&[400]);
    context.set_overhead(400);
    assert_eq!(context.tokens(), 200);
    context.counted(1000);
    context.push(EntryId(2), Told::default(), ChatMessage::user("x".repeat(40)));
    assert_eq!(context.tokens(), 1010);
}

#[test]
fn a_result_stands_with_its_call_and_replaces_an_older_one() {
    let mut context = Context::default();
    let call = ToolCall { id: "c".into(), name: "read".into(), args: ToolArgs::read("") };
    let asks =
        ChatMessage::Assistant { content: Vec::new(), tool_calls: vec![call.clone()], kept: Vec::new() };
    context.push(EntryId(1), Told::default(), asks);
    context.answer("c", ChatMessage::tool(&call, "did not run"));
    context.answer("c", ChatMessage::tool(&call, "text"));
    context.answer("unknown", ChatMessage::tool(&call, "lost"));
    let texts: Vec<String> = context.messages().iter().map(ChatMessage::text).collect();
    assert_eq!(texts, ["", "text"]);
}
