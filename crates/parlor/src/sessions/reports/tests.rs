//! What the reports look like.

use super::*;
use domain::content::{Role, Usage};
use domain::event::{Body, Finish, MessageEvent, SessionEvent};
use domain::ids::{EntryId, MessageId};

const NOW: u64 = 1_763_000_000_000;

fn state() -> State {
    let mut state = State::new();
    let mut at = NOW - 600_000;
    let mut tell = |body: Body| {
        at += 1_000;
        state.apply(Millis(at), &body).unwrap();
    };
    tell(Body::Session(SessionEvent::Opened { cwd: "/p".into(), project: "/p".into(), parent: None }));
    for (id, parent, role, text) in [
        (1, None, Role::User, "fix the bridge"),
        (2, Some(1), Role::Assistant, "It is fixed.\nReally."),
        (3, Some(1), Role::Assistant, "I cannot."),
        (4, Some(2), Role::User, "thanks\u{1b}[2J"),
    ] {
        let message = MessageId(id);
        tell(Body::Message(MessageEvent::Started {
            message,
            parent: parent.map(EntryId),
            role,
            turn: None,
            step: None,
        }));
        tell(Body::Message(MessageEvent::PartAdded { message, part: Part::Text(text.into()) }));
        tell(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    }
    state
}

fn summary(number: u64, title: &str, running: bool) -> SessionSummary {
    SessionSummary {
        id: SessionId::from_number(number),
        title: title.to_owned(),
        cwd: "/p".to_owned(),
        project: "/src/bridge".to_owned(),
        created_at: Millis(NOW - 7_200_000),
        updated_at: Millis(NOW - 300_000 * number),
        messages: number * 11,
        last_prompt: None,
        last_run: None,
        running,
        elsewhere: false,
        outcome: None,
        usage: Usage::default(),
        origin: None,
        found: None,
    }
}

#[test]
fn a_table_is_aligned_whatever_the_titles_hold() {
    let sessions =
        [summary(1, "日本 bridge\u{1b}[0m", true), summary(30, "b", false), summary(31, "c", false)];
    let open = [1, 31].map(|number| (SessionId::from_number(number), Value::from(77))).into();
    let called = Called { short: host::kept::shortened(&sessions), open };
    expect_test::expect![[r#"
        ID            CHANGED        MSGS  TITLE        PROJECT
        00000000000   running          11  日本 bridge  /src/bridge
        00000000001e  2 h ago         330  b            /src/bridge
        00000000001f  2 h ago, open   341  c            /src/bridge
    "#]]
    .assert_eq(&table(&sessions, &called, true, Millis(NOW), Paint::plain()));
}

#[test]
fn a_session_is_shown_from_its_end() {
    expect_test::expect![[r#"
        fix the bridge
        id        sess-000000000001
        project   /src/bridge
        begun     9 min ago
        changed   9 min ago
        holds     4 messages, 0 turns, 0 runs, 0 tool runs

        … 1 earlier entry (--all shows it)

        Agent 9 min ago
        It is fixed.
        Really.

        You 9 min ago
        thanks
    "#]]
    .assert_eq(&show(&summary(1, "x", false), &state(), 2, Millis(NOW), Paint::plain()));
}

#[test]
fn a_tree_shows_branches_and_where_one_is() {
    expect_test::expect![[r#"
        ● You fix the bridge entry-1
        ├─ ● Agent It is fixed. Really. entry-2
        │  ● You thanks entry-4 ← here
        └─ ○ Agent I cannot. entry-3
    "#]]
    .assert_eq(&tree(&state(), Paint::plain()));
    assert_eq!(tree(&State::new(), Paint::plain()), "Nothing was said yet.\n");
}

#[test]
fn a_long_conversation_does_not_exhaust_the_stack() {
    let mut state = State::new();
    for id in 1..=20_000u64 {
        let parent = (id > 1).then(|| EntryId(id - 1));
        let body = Body::Message(MessageEvent::Started {
            message: MessageId(id),
            parent,
            role: Role::User,
            turn: None,
            step: None,
        });
        state.apply(Millis(1), &body).unwrap();
    }
    assert_eq!(tree(&state, Paint::plain()).lines().count(), 20_000);
}

#[test]
fn programs_get_json() {
    let whole: Value = serde_json::from_str(&show_json(&summary(1, "x", false), &state())).unwrap();
    assert_eq!(whole["entries"].as_array().unwrap().len(), 3);
    assert_eq!(whole["stats"]["messages"], 4);
    let tree: Value = serde_json::from_str(&tree_json(&state())).unwrap();
    assert_eq!(
        (tree["leaf"].as_str(), tree["entries"][2]["active"].as_bool()),
        (Some("entry-4"), Some(false))
    );
    let hit = SearchHit {
        session: SessionId::from_number(1),
        title: "t".into(),
        entry: EntryId(2),
        at: Millis(3),
        snippet: "the bridge".into(),
    };
    let found: Value = serde_json::from_str(&found_json(&[hit])).unwrap();
    assert_eq!(found[0]["snippet"], "the bridge");
}

#[test]
fn of_a_long_output_the_rest_is_counted() {
    for (lines, more) in [(5, ""), (6, "  │ … 1 more line\n"), (9, "  │ … 4 more lines\n")] {
        let mut out = String::new();
        show_output(&mut out, &"x\n".repeat(lines), Paint::plain());
        assert_eq!(out, format!("{}{more}", "  │ x\n".repeat(5)));
    }
}
