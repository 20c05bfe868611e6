//! A small session, out and back.

use super::*;
use domain::ask::Scope;
use domain::content::{Json, TextKind, Usage};
use domain::event::{
    Body, Cause, Compaction, ContextEvent, Event, Finish, MessageEvent, Outcome, RunEvent, SessionEvent,
    ToolEvent, Trigger,
};
use domain::grammar::check_all;
use domain::ids::{MessageId, RunId, Seq, SessionId, StepId, ToolRunId, TurnId};
use domain::session::Policy;
use domain::tool::{Decider, Decision, Progress, ToolResult};
use expect_test::expect;

const START: u64 = 1_763_000_000_000;

fn session() -> SessionId {
    SessionId::from_number(7)
}

fn saved(state: &State, history: bool) -> String {
    let mut text = Vec::new();
    save(&mut text, &session(), state, history).unwrap();
    String::from_utf8(text).unwrap()
}

fn here() -> Destination {
    Destination { cwd: "/here/sub".into(), project: "/here".into() }
}

/// A run with a tool, cut in the middle unless `whole`; a compaction; another branch.
fn bodies(whole: bool) -> Vec<Body> {
    let (run, turn, step, tool) = (RunId(1), TurnId(2), StepId(4), ToolRunId(6));
    let (prompt, answer) = (MessageId(3), MessageId(5));
    let user = |message, parent: Option<u64>, turn| {
        Body::Message(MessageEvent::Started {
            message,
            parent: parent.map(EntryId),
            role: Role::User,
            turn,
            step: None,
        })
    };
    let decision =
        Decision { allowed: true, by: Decider::Policy, scope: Scope::Once, reason: None, digest: None };
    let mut bodies = vec![
        Body::Session(SessionEvent::Opened { cwd: "/there".into(), project: "/there".into(), parent: None }),
        Body::Session(SessionEvent::PolicyChosen { policy: Policy::Full }),
        Body::Run(RunEvent::Started { run }),
        Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }),
        user(prompt, None, Some(turn)),
        Body::Message(MessageEvent::PartAdded {
            message: prompt,
            part: Part::Text("Fix <b>it</b>\nplease".into()),
        }),
        Body::Message(MessageEvent::Ended { message: prompt, finish: Finish::Complete }),
        Body::Run(RunEvent::StepStarted { turn, step, model: None }),
        Body::Message(MessageEvent::Started {
            message: answer,
            parent: Some(EntryId(3)),
            role: Role::Assistant,
            turn: Some(turn),
            step: Some(step),
        }),
        Body::Message(MessageEvent::Delta { message: answer, kind: TextKind::Thought, text: "hm".into() }),
        Body::Message(MessageEvent::Delta {
            message: answer,
            kind: TextKind::Text,
            text: "See ```\n".into(),
        }),
        Body::Message(MessageEvent::Delta {
            message: answer,
            kind: TextKind::Text,
            text: "[x](javascript:alert(1))".into(),
        }),
        Body::Tool(ToolEvent::Proposed {
            tool,
            message: answer,
            name: "read".into(),
            args: Json::verbatim(r#"{"path":"a"}"#),
        }),
        Body::Message(MessageEvent::Ended { message: answer, finish: Finish::Complete }),
        Body::Tool(ToolEvent::Decided { tool, decision }),
        Body::Tool(ToolEvent::Started { tool }),
        Body::Tool(ToolEvent::Progress { tool, progress: Progress::Output("so far".into()) }),
    ];
    if !whole {
        return bodies;
    }
    let usage = Usage { input: 10, output: 2, ..Usage::default() };
    let compaction = Compaction {
        summary: "We fixed it.".into(),
        first_kept: None,
        tokens_before: 12,
        trigger: Trigger::Manual,
        unexplained: false,
        usage: Usage::default(),
    };
    let other = MessageId(8);
    bodies.extend([
        Body::Tool(ToolEvent::Ended {
            tool,
            outcome: ToolOutcome::Done,
            result: ToolResult {
                // The second one would be told forever.
                parts: vec![
                    Part::Diff { path: Some("a".into()), text: "-old\n+new\n".into() },
                    Part::Tool(tool),
                ],
                ..ToolResult::text("```\ninside\n```")
            },
        }),
        Body::Run(RunEvent::StepEnded { step, usage }),
        Body::Run(RunEvent::TurnEnded { turn }),
        Body::Run(RunEvent::Ended { run, outcome: Outcome::Done }),
        user(other, Some(3), None),
        Body::Message(MessageEvent::PartAdded { message: other, part: Part::Text("another way".into()) }),
        Body::Message(MessageEvent::Ended { message: other, finish: Finish::Complete }),
        Body::Session(SessionEvent::LeafMoved { leaf: Some(EntryId(5)) }),
        Body::Context(ContextEvent::Measured { used: 5, window: 10, rough: true }),
        Body::Context(ContextEvent::Compacted { entry: EntryId(9), parent: Some(EntryId(5)), compaction }),
    ]);
    bodies
}

fn events(whole: bool) -> Vec<Event> {
    let numbered = bodies(whole).into_iter().zip(1..);
    numbered.map(|(body, n)| Event { seq: Seq(n), at: Millis(START + n * 500), body }).collect()
}

fn fold(events: &[Event]) -> State {
    let mut state = State::new();
    for event in events {
        state.fold(event).unwrap();
    }
    state
}

#[test]
fn as_markdown() {
    let page = markdown(&fold(&events(true)));
    expect![[r##"
        # Fix <b>it</b>

        - Started: 2025-11-13 02:13 UTC
        - Last change: 2025-11-13 02:13 UTC
        - Directory: /there
        - Messages: 3 in 1 turns
        - Tokens: 10 in, 2 out
        - Other branches: 1 entries that are not shown

        ## You · 2025-11-13 02:13 UTC

        Fix <b>it</b>
        please

        ## Agent · 2025-11-13 02:13 UTC

        > *Thought:* hm

        See ```
        [x](javascript:alert(1))

        **read** (done, 1.0 s)

        ```json
        {"path":"a"}
        ```

        ````
        ```
        inside
        ```
        ````

        `a`

        ```diff
        -old
        +new
        ```

        ---

        *What came before, in short (2025-11-13 02:13 UTC):*

        > We fixed it.
    "##]]
    .assert_eq(&page);
}

#[test]
fn a_page_holds_no_markup_of_the_session() {
    let mut state = fold(&events(true));
    let nasty = "Look: <script>alert(1)</script> <img src=x onerror=y> ![p](http://far/p.png) [a](data:text/html,x) \
                 [b](https://ok.example/) \n\n```html\n<iframe src=\"x\">\n```\n\n```rust\"><i>\nlet a = 1;\n```";
    let title = Body::Session(SessionEvent::Renamed { title: "</title><script>".into() });
    state.apply(Millis(START), &title).unwrap();
    let message = MessageId(20);
    for body in [
        Body::Message(MessageEvent::Started {
            message,
            parent: Some(EntryId(9)),
            role: Role::Assistant,
            turn: None,
            step: None,
        }),
        Body::Message(MessageEvent::PartAdded { message, part: Part::Text(nasty.into()) }),
        Body::Message(MessageEvent::PartAdded {
            message,
            part: Part::Image { mime: "image/png\" onload=\"x".into(), base64: "AA".into() },
        }),
        Body::Message(MessageEvent::PartAdded {
            message,
            part: Part::Image { mime: "image/png".into(), base64: "AA==".into() },
        }),
    ] {
        state.apply(Millis(START), &body).unwrap();
    }
    let page = html(&state);
    let tags: Vec<&str> = page.split('<').skip(1).filter_map(|tag| tag.split('>').next()).collect();
    for tag in &tags {
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap_or("");
        assert!(!["script", "iframe", "i", "b\"", "object", "form"].contains(&name), "{tag}");
        assert!(!tag.contains("onerror") && !tag.contains("onload") && !tag.contains("javascript:"), "{tag}");
    }
    let pictures: Vec<_> = tags.iter().filter(|tag| tag.starts_with("img")).collect();
    assert_eq!(pictures, [&"img alt=\"picture\" src=\"data:image/png;base64,AA==\""]);
    assert!(page.contains("<a href=\"https://ok.example/\">b</a>") && page.contains("<a href=\"#\">a</a>"));
    assert!(page.contains("<span class=\"w\">let</span>"));
    assert!(page.contains("prefers-color-scheme: dark") && !page.contains("http-equiv=\"refresh\""));
}

#[test]
fn records_come_back_in_another_place_and_grant_nothing() {
    let events = events(true);
    let state = fold(&events);
    for text in [
        jsonl(&session(), &state, &events),
        jsonl(&session(), &state, &events_of(&state)),
        saved(&state, true),
    ] {
        let import = read(&text, &here()).unwrap();
        assert!(check_all(&import.events).unwrap().is_closed());
        assert_eq!(import.state, fold(&import.events));
        assert_eq!((import.was.as_str(), import.missing), (session().as_str(), 0));
        let (back, mut was) = (import.state, state.clone());
        (was.settings.cwd, was.settings.project) = (here().cwd, here().project);
        was.settings.policy = Policy::default();
        assert_eq!((&back.entries, &back.tools, &back.leaf), (&was.entries, &was.tools, &was.leaf));
        assert_eq!((&back.runs, back.usage, back.context), (&was.runs, was.usage, was.context));
        assert_eq!((&back.settings, back.created_at), (&was.settings, was.created_at));
    }
}

#[test]
fn what_was_open_is_closed_and_a_cut_file_is_noticed() {
    let events = events(false);
    let state = fold(&events);
    let text = jsonl(&session(), &state, &events);
    let import = read(&text, &here()).unwrap();
    assert!(check_all(&import.events).unwrap().is_closed());
    let tool = import.state.tool(ToolRunId(6)).unwrap();
    assert_eq!(tool.phase, ToolPhase::Ended(ToolOutcome::Unknown));
    assert_eq!(import.state.runs[0].ended.as_ref().unwrap().1, Outcome::Interrupted);

    let cut = read(&text[..text.len() - 30], &here()).unwrap();
    assert_eq!(cut.missing, 1);
    let head = text.lines().next().unwrap();
    assert_eq!(read(head, &here()), Err(NotASession::Empty));
}

#[test]
fn settings_alone_can_be_saved() {
    let text = saved(&fold(&events(true)), false);
    let import = read(&text, &here()).unwrap();
    assert_eq!((import.events.len(), import.state.entries.len()), (1, 0));
    assert!(!text.contains("please"));
}

#[test]
fn other_texts_are_refused() {
    let (events, state) = (events(true), fold(&events(true)));
    let text = jsonl(&session(), &state, &events);
    let newer = text.replacen("\"version\":1", "\"version\":99", 1);
    assert!(matches!(read(&newer, &here()), Err(NotASession::Newer { found: 99, .. })));
    for foreign in ["", "hello", "{}", "{\"format\":\"else\"}", "[1,2]"] {
        assert_eq!(read(foreign, &here()), Err(NotASession::Foreign), "{foreign}");
    }
    let mut lines: Vec<&str> = text.lines().collect();
    lines.remove(4);
    let gap = lines.join("\n") + "\n";
    assert!(
        matches!(read(&gap, &here()), Err(NotASession::Unfit { number: 4, .. })),
        "{:?}",
        read(&gap, &here())
    );
    let broken = text.replacen("run_started", "run_begun", 1);
    assert!(matches!(read(&broken, &here()), Err(NotASession::Unreadable { number: 3, .. })));
}
