//! A scripted session: one run, two tools, one consent, streamed text before and after.

use domain::ask::{ActionDigest, Answer, Ask, AskKind, Assessment, Closing, Consent, Risk, Scope};
use domain::content::{Json, Part, Role, TextKind, Usage};
use domain::event::{
    AskEvent, Body, Cause, Event, Finish, MessageEvent, Outcome, RunEvent, SessionEvent, ToolEvent,
};
use domain::ids::{AskId, EntryId, MessageId, Millis, RunId, Seq, SessionId, StepId, ToolRunId, TurnId};
use domain::state::State;
use domain::tool::{Decider, Decision, Progress, ToolOutcome, ToolResult};

/// The session of the script.
pub(crate) fn session() -> SessionId {
    SessionId::from_number(0xabc)
}

/// The consent of the script.
pub(crate) const ASK: AskId = AskId(8);
/// The tool it is about.
pub(crate) const BASH: ToolRunId = ToolRunId(7);

/// Numbers bodies from 1.
pub(crate) fn numbered(bodies: impl IntoIterator<Item = Body>) -> Vec<Event> {
    let events = bodies.into_iter().zip(1..);
    events.map(|(body, n)| Event { seq: Seq(n), at: Millis(1_000 + n), body }).collect()
}

/// What follows `state`.
pub(crate) fn following(state: &State, bodies: impl IntoIterator<Item = Body>) -> Vec<Event> {
    let mut events = numbered(bodies);
    for event in &mut events {
        event.seq.0 += state.seq.0;
        event.at.0 += state.seq.0;
    }
    events
}

/// The fold of events.
pub(crate) fn fold(events: &[Event]) -> State {
    let mut state = State::new();
    for event in events {
        state.fold(event).unwrap();
    }
    state
}

/// The bodies that open a session.
pub(crate) fn opened() -> Body {
    Body::Session(SessionEvent::Opened { cwd: "/work".into(), project: "/work".into(), parent: None })
}

/// A finished message outside any run, which can be found.
pub(crate) fn said(id: u64, role: Role, text: &str) -> Vec<Body> {
    let message = MessageId(id);
    vec![
        Body::Message(MessageEvent::Started { message, parent: None, role, turn: None, step: None }),
        Body::Message(MessageEvent::PartAdded { message, part: Part::Text(text.into()) }),
        Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }),
    ]
}

/// The whole script.
pub(crate) fn script() -> Vec<Event> {
    let (run, turn, step, read) = (RunId(1), TurnId(2), StepId(4), ToolRunId(6));
    let (prompt, answer) = (MessageId(3), MessageId(5));
    let mut bodies = vec![
        opened(),
        Body::Run(RunEvent::Started { run }),
        Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }),
        Body::Message(MessageEvent::Started {
            message: prompt,
            parent: None,
            role: Role::User,
            turn: Some(turn),
            step: None,
        }),
        Body::Message(MessageEvent::PartAdded {
            message: prompt,
            part: Part::Text("fix the failing bridge".into()),
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
    ];
    for word in ["Let ", "me ", "look ", "at ", "the ", "bridge."] {
        bodies.push(Body::Message(MessageEvent::Delta {
            message: answer,
            kind: TextKind::Text,
            text: word.into(),
        }));
    }
    bodies.push(proposed(read, answer, "read", r#"{"path":"bridge.rs"}"#));
    bodies.push(proposed(BASH, answer, "bash", r#"{"command":"make"}"#));
    bodies.push(Body::Message(MessageEvent::Ended { message: answer, finish: Finish::Complete }));
    bodies.push(Body::Tool(ToolEvent::Decided { tool: read, decision: decision(Decider::Policy) }));
    bodies.push(Body::Tool(ToolEvent::Started { tool: read }));
    bodies.push(Body::Tool(ToolEvent::Progress { tool: read, progress: Progress::Output("line".into()) }));
    bodies.push(ended(read));
    bodies.push(Body::Ask(AskEvent::Opened(consent(run))));
    bodies.push(Body::Ask(AskEvent::Closed {
        ask: ASK,
        closing: Closing::Answered {
            answer: Answer::Allow { scope: Scope::Once, digest: None },
            by: Some("a UI".into()),
        },
    }));
    bodies.push(Body::Tool(ToolEvent::Decided { tool: BASH, decision: decision(Decider::Person(None)) }));
    bodies.push(Body::Tool(ToolEvent::Started { tool: BASH }));
    bodies.push(Body::Tool(ToolEvent::Progress { tool: BASH, progress: Progress::Output("built".into()) }));
    bodies.push(ended(BASH));
    bodies.push(Body::Run(RunEvent::StepEnded {
        step,
        usage: Usage { input: 10, output: 20, ..Usage::default() },
    }));
    bodies.push(Body::Run(RunEvent::TurnEnded { turn }));
    bodies.push(Body::Run(RunEvent::Ended { run, outcome: Outcome::Done }));
    numbered(bodies)
}

fn proposed(tool: ToolRunId, message: MessageId, name: &str, args: &str) -> Body {
    Body::Tool(ToolEvent::Proposed { tool, message, name: name.into(), args: Json::verbatim(args) })
}

fn decision(by: Decider) -> Decision {
    Decision { allowed: true, by, scope: Scope::Once, reason: None, digest: None }
}

fn ended(tool: ToolRunId) -> Body {
    Body::Tool(ToolEvent::Ended { tool, outcome: ToolOutcome::Done, result: ToolResult::text("ok") })
}

fn consent(run: RunId) -> Ask {
    let assessment = Assessment {
        risk: Risk::High,
        reasons: vec!["runs a program".into()],
        reversible: false,
        unrated: false,
    };
    let consent = Consent {
        tool: BASH,
        name: "bash".into(),
        args: Json::verbatim(r#"{"command":"make"}"#),
        preview: None,
        assessment,
        digest: ActionDigest("d1".into()),
        rule: None,
        takes_reason: true,
    };
    Ask {
        id: ASK,
        run: Some(run),
        title: "Run make?".into(),
        kind: AskKind::Consent(Box::new(consent)),
        deadline: None,
    }
}
