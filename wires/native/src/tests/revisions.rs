//! Peers of before hash otherwise: each is told what it can check, and is checked by what it tells. Who tells no hash is not checked.

use super::super::runtime_role::cursor;
use super::{greeting, hello, runtime};
use crate::{NativeRuntime, NativeUi, REVISION};
use domain::event::{Body, Outcome, SessionEvent};
use domain::port::News;
use domain::state::State;
use serde_json::{Value, json};
use testkit::bench::{Pair, RuntimeBench, UiBench};

/// What the first release said as a runtime, and as a UI.
const RELEASED: &str = include_str!("../../../../crates/parlor/fixtures/v0.1.0/native/from-runtime.jsonl");
const GREETED: &str = r#"{"hello":{"protocol":1,"revision":0,"name":"parlor","version":"0.1.0","capabilities":["hash","cursor","answers"]}}"#;

/// A session with a run that is over.
fn told(bench: &mut RuntimeBench) {
    bench.happen(Body::Session(SessionEvent::Opened {
        cwd: "/w".into(),
        project: "/w".into(),
        parent: None,
    }));
    bench.begin("hello");
    let (_, message) = bench.step();
    bench.delta(message, "Hel");
    bench.delta(message, "lo");
    bench.end(Outcome::Done);
}

/// The other side of a link says that it is of revision 1, whoever it is.
fn of_before(line: String) -> String {
    match line.starts_with("{\"hello\"") {
        true => line.replace("\"revision\":2", "\"revision\":1"),
        false => line,
    }
}

fn hashes(lines: &[Value]) -> Vec<&Value> {
    let told = |line: &'_ Value| line.get("hash").or_else(|| line.pointer("/attached/at")).is_some();
    lines
        .iter()
        .filter(|line| told(line))
        .map(|line| line.pointer("/hash/hash").unwrap_or(&line["attached"]["at"]["hash"]))
        .collect()
}

#[test]
fn a_ui_of_before_is_told_the_hashes_that_it_knows() {
    let mut bench = runtime();
    bench.say(GREETED);
    told(&mut bench);
    bench.attach();
    let old = json!(bench.state().hash_of_revision_1().to_string());
    let new = json!(bench.state().hash().to_string());
    assert_ne!(old, new);
    assert_eq!(hashes(&bench.sent()), [&old, &old]);
    // One of today, on the same session.
    bench.restart(NativeRuntime::new(), &greeting());
    bench.say(&GREETED.replace("\"revision\":0", "\"revision\":2"));
    bench.attach();
    assert_eq!(hashes(&bench.sent()), [&new]);
}

#[test]
fn a_cursor_is_good_with_the_hash_of_the_revision_that_brings_it() {
    let mut bench = runtime();
    told(&mut bench);
    let session = bench.session.clone();
    let cursors = [0, REVISION].map(|revision| (revision, cursor(revision, &session, bench.state())));
    for (revision, known) in [(0, 0), (1, 0), (2, 1), (0, 1), (1, 1), (2, 0)] {
        bench.restart(NativeRuntime::new(), &greeting());
        bench.say(
            &json!({"hello": {"protocol": 1, "revision": revision, "cursor": cursors[known].1}}).to_string(),
        );
        bench.attach();
        let attached = bench.sent().pop().unwrap()["attached"].clone();
        let right = (revision >= 2) == (known == 1);
        assert_eq!(attached["current"] == true, right, "{revision} {known}");
        assert_eq!(attached["replay"].is_array(), !right, "else the whole is told");
    }
}

#[test]
fn a_cursor_without_a_hash_is_told_the_whole_and_a_hash_that_is_left_out_is_not_compared() {
    let mut bench = runtime();
    told(&mut bench);
    let (session, seq) = (bench.session.clone(), bench.state().seq.0);
    let at = json!({"session": session.as_str(), "seq": seq});
    bench.say(&json!({"hello": {"protocol": 1, "revision": 2, "cursor": at}}).to_string());
    bench.attach();
    let mut attached = bench.sent().pop().unwrap();
    assert!(attached["attached"]["replay"].is_array(), "{attached}");

    let mut ui = UiBench::open(NativeUi::new(), &hello(None));
    ui.hear(&GREETED.replace("\"revision\":0", "\"revision\":2"));
    attached["attached"]["at"] = at.clone();
    ui.hear(&attached.to_string());
    ui.hear(&json!({ "hash": at }).to_string());
    ui.hear(&json!({"signal": {"session": session.as_str(), "signal": {"working": null}}}).to_string());
    assert_eq!(ui.state, *bench.state());
    assert_eq!(ui.link.drifts, []);
}

#[test]
fn what_a_runtime_shows_before_its_hello_is_not_compared() {
    let mut bench = runtime();
    told(&mut bench);
    bench.attach();
    let shown = bench.lines();
    let mut ui = UiBench::open(NativeUi::new(), &hello(None));
    shown.iter().for_each(|line| ui.hear(line));
    ui.hear(&GREETED.replace("\"revision\":0", "\"revision\":2"));
    assert_eq!(ui.link.drifts, []);
    assert_eq!(ui.state, *bench.state());
}

#[test]
fn what_was_shown_before_the_hello_is_proved_after_it() {
    let bare = GREETED.replace("\"hash\",", "");
    for (hello, revision, proved) in [(GREETED, 2, true), (GREETED, 1, false), (&bare, 2, false)] {
        let mut bench = runtime();
        told(&mut bench);
        bench.attach();
        bench.happen(Body::Session(SessionEvent::Renamed { title: "early".into() }));
        let mut lines = bench.lines();
        bench.say(&hello.replace("\"revision\":0", &format!("\"revision\":{revision}")));
        let said = bench.lines();
        let hash = json!({"hash": {
            "session": bench.session.as_str(), "seq": bench.state().seq.0, "hash": bench.state().hash().to_string(),
        }});
        let after: Vec<Value> = said[1..].iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(after, if proved { vec![hash] } else { vec![] }, "{hello} {revision}");
        // A UI that was shown something else finds out.
        lines.extend(said);
        for (title, drifts) in [("early", 0), ("earli", usize::from(proved))] {
            let mut ui = UiBench::open(NativeUi::new(), &self::hello(None));
            lines.iter().for_each(|line| ui.hear(&line.replace("early", title)));
            assert_eq!(ui.link.drifts.len(), drifts, "{hello} {revision}");
        }
    }
}

#[test]
fn the_runtime_of_the_first_release_is_followed_and_checked() {
    let mut ui = UiBench::open(NativeUi::new(), &hello(None));
    RELEASED.lines().for_each(|line| ui.hear(line));
    let differ = |ui: &UiBench| ui.link.drifts.iter().filter(|drift| drift.place == "hash").count();
    assert_eq!(differ(&ui), 0, "{:#?}", ui.link.drifts);
    assert!(ui.news.iter().filter(|news| matches!(news, News::Attached { .. })).count() > 3);
    // A hash that it did not tell is found out.
    let mut ui = UiBench::open(NativeUi::new(), &hello(None));
    for line in RELEASED.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if let Some(hash) = line.pointer_mut("/hash/hash") {
            *hash = json!("0000000000000000");
        }
        ui.hear(&line.to_string());
    }
    assert!(differ(&ui) > 0);
}

#[test]
fn a_ui_that_comes_back_to_a_runtime_of_before_is_told_the_whole_and_agrees() {
    let mut pair = Pair::new(runtime(), UiBench::open(NativeUi::new(), &hello(None)));
    pair.exchange();
    told(&mut pair.runtime);
    pair.runtime.attach();
    pair.exchange();
    pair.ui.gone();
    pair.runtime.restart(NativeRuntime::new(), &greeting());
    pair.ui.call(|role, cx, _| role.open(cx, &hello(None)));
    pair.lines.clear();
    pair.exchange_with(of_before);
    assert!(pair.lines[0].contains(&format!("\"hash\":\"{}\"", pair.ui.state.hash())), "{}", pair.lines[0]);
    pair.runtime.attach();
    pair.exchange_with(of_before);
    let attached = pair.lines.iter().find(|line| line.contains("\"attached\"")).unwrap();
    let state: State = pair.runtime.state().clone();
    assert!(attached.contains("\"replay\"") && attached.contains(&state.hash_of_revision_1().to_string()));
    pair.runtime.signal(&domain::signal::Signal::Working(None));
    pair.exchange_with(of_before);
    assert_eq!((pair.ui.state, pair.ui.link.drifts), (state, vec![]));
}
