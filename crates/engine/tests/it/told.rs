//! What the model is told beside the conversation: what stood in a request stands in the next one, byte for byte, whatever changes.

use crate::bench::{Bench, Plan};
use domain::event::{Body, CACHE_LOST, NoteEvent};
use domain::port::TurnEnd;
use domain::signal::UiContext;
use models::Request;

fn checkout(bench: &Bench, branch: &str) {
    bench.put(".git/HEAD", &format!("ref: refs/heads/{branch}\n"));
}

fn in_editor(file: &str, selected: Option<&str>) -> UiContext {
    UiContext {
        active_file: Some(file.to_owned()),
        selection: selected.map(|text| (text.to_owned(), file.to_owned())),
        ..UiContext::default()
    }
}

/// Each request begins with all of the one before it.
fn assert_grown(requests: &[Request]) {
    for (at, pair) in requests.windows(2).enumerate() {
        assert_eq!(pair[0].system, pair[1].system, "request {}", at + 1);
        assert_eq!(pair[0].tools, pair[1].tools, "request {}", at + 1);
        assert!(pair[1].messages.starts_with(&pair[0].messages), "{at}: {:#?}", pair);
    }
}

fn answers(count: usize) -> String {
    vec!["model text \"ok\""; count].join("\n---\n")
}

#[tokio::test(start_paused = true)]
async fn what_changes_is_told_at_the_end_and_what_was_sent_stays_as_it_was() {
    let mut bench = Bench::new(answers(3));
    checkout(&bench, "main");
    bench.put("AGENTS.md", "Tabs.");
    bench.ui = in_editor("a.rs", Some("fn a()"));
    assert_eq!(bench.run("first").await, TurnEnd::Done);
    assert!(bench.system().contains("Git: on branch main.") && bench.system().contains("Tabs."));
    assert_eq!(bench.notes(), ["The person has a.rs open.\nSelected in a.rs:\nfn a()"]);

    checkout(&bench, "feature");
    bench.put("AGENTS.md", "Spaces.");
    bench.ui = in_editor("a.rs", None);
    assert_eq!(bench.run("second").await, TurnEnd::Done);
    let file = bench.work().join("AGENTS.md").display().to_string();
    let second = format!(
        "- Git: on branch feature.\n- No longer so: the selection.\nInstructions for the work here; where they differ from others, these \
         lead:\nFrom {file}:\nSpaces."
    );
    assert_eq!(bench.notes().last(), Some(&second));

    // Nothing changed, so nothing is told.
    assert_eq!(bench.run("third").await, TurnEnd::Done);
    assert_eq!(bench.notes().len(), 2, "{:?}", bench.notes());
    let mut requests = bench.model.seen();

    // In another process it goes on as it was sent, and only what is new there is told.
    let mut bench = bench.reborn(Plan::script(answers(2)));
    bench.attended = false;
    assert_eq!(bench.run("fourth").await, TurnEnd::Done);
    let last = bench.notes().pop().unwrap();
    assert!(
        last.contains("- Nobody is there while you work")
            && last.contains("No longer so: the file that is open."),
        "{last}"
    );
    assert_eq!(bench.run("fifth").await, TurnEnd::Done);
    assert_eq!(bench.notes().len(), 3, "{:?}", bench.notes());
    requests.extend(bench.model.seen());
    for request in &mut requests {
        // Nobody there, no question: that tool is gone by what it is.
        request.tools.retain(|tool| tool.name != "ask");
    }
    assert_grown(&requests);
}

#[tokio::test(start_paused = true)]
async fn a_summary_has_all_that_is_so_told_anew() {
    let script = "model tool read {\"path\":\"sub/a.txt\"} | usage in=100 out=5\n---\nmodel tool ls {} | usage in=85000 out=5\n---\nmodel \
                  text \"In short.\"\n---\nmodel text \"done\"";
    let mut bench = Bench::with(Plan::script(script).window(100_000));
    checkout(&bench, "main");
    bench.put("sub/AGENTS.md", "Only tabs here.");
    bench.put("sub/a.txt", &"long ".repeat(400));
    bench.ui = in_editor("a.rs", None);
    assert_eq!(bench.run("look").await, TurnEnd::Done);
    let (requests, notes) = (bench.model.seen(), bench.notes());
    assert!(!requests[1].system.as_deref().unwrap().contains("Only tabs here."));
    let system = bench.system();
    let told = format!("{system}{}", notes.concat());
    assert_eq!(told.matches("Only tabs here.").count(), 1, "{told}");
    assert_eq!(told.matches("The person has a.rs open.").count(), 1, "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_the_provider_has_lost_is_noted_once() {
    let usage = [
        "in=50000 cache_write=50000",
        "in=51000 cache_read=50000",
        "in=52000 cache_read=1000",
        "in=53000 cache_read=52000",
    ];
    let script = usage.map(|usage| format!("model text \"ok\" | usage {usage} out=1")).join("\n---\n");
    let mut bench = Bench::new(script);
    for prompt in ["first", "second", "third", "fourth"] {
        assert_eq!(bench.run(prompt).await, TurnEnd::Done);
    }
    let lost: Vec<&str> = bench
        .events
        .iter()
        .filter_map(|event| match &event.body {
            Body::Note(NoteEvent::Noticed { code, text, .. }) if code == CACHE_LOST => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        lost,
        ["The provider's cache was lost: 50000 tokens were read again."],
        "neither cause nor price is known"
    );
    assert_eq!(bench.state.usage.cached_percent(), Some(50));
}
