//! Whatever happens in a run: nothing of it is lost, nothing told twice, and it does not matter when the narrator joined.

use super::{Narration, Narrator, Opens, Whole};
use domain::canon::Canon;
use domain::content::{Json, Part, Role, TextKind, Usage};
use domain::event::{Body, Failure, Finish, Outcome};
use domain::fact::{Fact, Key, Said};
use domain::ids::{Ids, MessageId, Millis, RunId, ToolRunId};
use domain::signal::Level;
use domain::state::{EntryKind, State};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// One run from beginning to end, and the state after each of its events; the first state is before all of them.
struct Story {
    run: RunId,
    bodies: Vec<(Millis, Body)>,
    states: Vec<State>,
}

fn story(said: Vec<Said>, outcome: Outcome) -> Story {
    let mut state = State::new();
    let mut canon = Canon::new(Ids::default());
    let (run, bodies) = canon.begin(&state);
    let mut story = Story { run, bodies: Vec::new(), states: vec![state.clone()] };
    let mut happen = |state: &mut State, bodies: Vec<Body>| {
        for body in bodies {
            let at = Millis(story.bodies.len() as u64 * 7);
            state.apply(at, &body).unwrap();
            story.bodies.push((at, body));
            story.states.push(state.clone());
        }
    };
    happen(&mut state, bodies);
    for said in said {
        let bodies = canon.take(&state, Millis(0), Fact::new(said));
        happen(&mut state, bodies);
    }
    let bodies = canon.close(&state, outcome);
    happen(&mut state, bodies);
    story
}

impl Story {
    fn end(&self) -> &State {
        self.states.last().unwrap()
    }

    fn told(&self, narrator: &mut Narrator, from: usize) -> Vec<Narration<'_>> {
        self.bodies[from..].iter().flat_map(|(at, body)| narrator.hear(*at, body)).collect()
    }

    /// What the model said and thought in each message, as the state has it.
    fn texts(&self) -> BTreeMap<MessageId, (String, String)> {
        let messages = self.end().entries.values().filter_map(|entry| match &entry.kind {
            EntryKind::Message(message) if message.role == Role::Assistant => Some(message),
            _ => None,
        });
        let texts = messages.map(|message| {
            let mut both = (String::new(), String::new());
            for (kind, text) in message.parts.iter().filter_map(Part::streamed) {
                match kind {
                    TextKind::Text => both.0.push_str(text),
                    TextKind::Thought => both.1.push_str(text),
                }
            }
            (message.id, both)
        });
        texts.filter(|(_, (text, thought))| !text.is_empty() || !thought.is_empty()).collect()
    }

    /// The texts, thoughts and blocks of the model, each with its kind, in no order.
    fn parts(&self) -> Vec<String> {
        let messages = self.end().entries.values().filter_map(|entry| match &entry.kind {
            EntryKind::Message(message) if message.role == Role::Assistant => Some(message),
            _ => None,
        });
        let parts = messages.flat_map(|message| &message.parts).filter(|part| {
            !matches!(part, Part::Tool(_)) && part.streamed().is_none_or(|(_, text)| !text.is_empty())
        });
        let mut parts: Vec<String> = parts.map(|part| format!("{part:?}")).collect();
        parts.sort();
        parts
    }
}

/// What was told, gathered.
#[derive(Debug, Default)]
struct Gathered {
    texts: BTreeMap<MessageId, (String, String)>,
    parts: Vec<String>,
    calls: BTreeMap<ToolRunId, (u32, u32, u32)>,
    starts: u32,
    ends: u32,
}

impl Gathered {
    fn take(&mut self, told: &[Narration<'_>]) {
        for told in told {
            match told {
                Narration::Text { message, text, .. } => {
                    self.texts.entry(*message).or_default().0.push_str(text);
                }
                Narration::Thought { message, text, .. } => {
                    self.texts.entry(*message).or_default().1.push_str(text);
                }
                Narration::Whole(whole) => self.whole(whole),
                Narration::RunEnded { last, .. } => {
                    self.ends += 1;
                    last.iter().for_each(|whole| self.whole(whole));
                }
                Narration::RunStarted => self.starts += 1,
                Narration::Call { tool, .. } => self.calls.entry(*tool).or_default().0 += 1,
                Narration::CallStarted { tool } => self.calls.entry(*tool).or_default().1 += 1,
                Narration::CallResult { tool, .. } => self.calls.entry(*tool).or_default().2 += 1,
                _ => {}
            }
        }
    }

    fn whole(&mut self, whole: &Whole) {
        let said = whole.parts.iter().filter(|(part, _)| part.streamed().is_none_or(|(_, t)| !t.is_empty()));
        self.parts.extend(said.map(|(part, _)| format!("{part:?}")));
        self.parts.sort();
    }
}

/// Told alike, whoever was told the pieces of a text that is whole by now.
fn alike(mut told: Vec<Narration<'_>>) -> Vec<Narration<'_>> {
    for told in &mut told {
        match told {
            Narration::Whole(whole) | Narration::RunEnded { last: Some(whole), .. } => whole.forget_pieces(),
            _ => {}
        }
    }
    told
}

const TOOLS: &[&str] = &["t1", "t2", "t3"];

fn tool() -> impl Strategy<Value = Key> {
    prop::sample::select(TOOLS).prop_map(Key::from)
}

fn message() -> impl Strategy<Value = Option<Key>> {
    prop::option::of(prop::sample::select(&["m1", "m2"]).prop_map(Key::from))
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        "[a-c]{0,2}".prop_map(Part::Text),
        "[a-c]{0,2}".prop_map(|text| Part::Thought { text, signature: None }),
        Just(Part::Code { language: None, text: "code".to_owned(), path: None }),
        Just(Part::Diff { path: None, text: "+x".to_owned() }),
    ]
}

fn said() -> impl Strategy<Value = Said> {
    let kind = prop_oneof![Just(TextKind::Text), Just(TextKind::Thought)];
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant), Just(Role::System)];
    let outcome = prop_oneof![Just(ToolOutcome::Done), Just(ToolOutcome::Denied), Just(ToolOutcome::Failed)];
    let structure = prop_oneof![
        Just(Said::TurnStarted(None)),
        Just(Said::TurnEnded),
        Just(Said::StepStarted),
        Just(Said::StepEnded(Usage { output: 3, ..Usage::default() })),
        Just(Said::Notice { level: Level::Warning, code: "w".into(), text: "careful".into() }),
    ];
    let messages = prop_oneof![
        1 => (message(), role).prop_map(|(message, role)| Said::MessageStarted { message, role }),
        4 => (message(), kind, "[a-cé]{0,3}").prop_map(|(message, kind, text)| Said::Text { message, kind, text }),
        2 => (message(), part()).prop_map(|(message, part)| Said::Part { message, part }),
        2 => message().prop_map(|message| Said::MessageEnded { message, finish: Finish::Complete }),
    ];
    let status = Progress::Status { percent: Some(4), message: "half".into() };
    let tools = prop_oneof![
        tool().prop_map(|tool| Said::ToolProposed { tool, name: "ls".into(), args: Json::empty() }),
        tool().prop_map(|tool| Said::ToolStarted { tool, name: None, args: None }),
        (tool(), prop_oneof![Just(Progress::Output("…".into())), Just(status)])
            .prop_map(|(tool, progress)| Said::ToolProgress { tool, progress }),
        (tool(), outcome).prop_map(|(tool, outcome)| Said::ToolEnded {
            tool,
            outcome,
            result: ToolResult::text("r")
        }),
    ];
    prop_oneof![1 => structure, 5 => messages, 3 => tools]
}

fn stories() -> impl Strategy<Value = Story> {
    let outcome = prop_oneof![
        Just(Outcome::Done),
        Just(Outcome::Cancelled),
        Just(Outcome::Failed(Failure::new("x", "y")))
    ];
    (prop::collection::vec(said(), 0..25), outcome).prop_map(|(said, outcome)| story(said, outcome))
}

impl std::fmt::Debug for Story {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.bodies.iter().map(|(_, body)| body)).finish()
    }
}

proptest! {
    #![proptest_config(testkit::cases(300))]

    #[test]
    fn pieces_are_the_text_and_calls_have_one_end(story in stories()) {
        let mut gathered = Gathered::default();
        gathered.take(&story.told(&mut Narrator::new(story.run), 0));
        prop_assert_eq!(&gathered.texts, &story.texts());
        prop_assert_eq!(&gathered.parts, &story.parts());
        let calls: Vec<ToolRunId> = story.end().tools.keys().copied().collect();
        prop_assert_eq!(gathered.calls.keys().copied().collect::<Vec<_>>(), calls);
        for (tool, (proposed, started, ended)) in gathered.calls {
            let ran = u32::from(story.end().tools[&tool].started_at.is_some());
            prop_assert_eq!((proposed, started, ended), (1, ran, 1));
        }
        prop_assert_eq!((gathered.starts, gathered.ends), (1, 1));
    }

    #[test]
    fn who_joins_is_told_the_same_rest(story in stories()) {
        for at in 1..story.bodies.len() {
            let mut joined = Narrator::amid(story.run, &story.states[at]);
            let mut beginning = Narrator::new(story.run);
            story.bodies[..at].iter().for_each(|(when, body)| drop(beginning.hear(*when, body)));
            prop_assert_eq!(alike(story.told(&mut joined, at)), alike(story.told(&mut beginning, at)), "from {}", at);
        }
    }

    #[test]
    fn what_was_missed_is_told_once(story in stories(), left in any::<prop::sample::Index>(), back in any::<prop::sample::Index>()) {
        let back = back.index(story.states.len());
        let left = left.index(back + 1);
        let mut narrator = Narrator::new(story.run);
        let mut gathered = Gathered::default();
        for (at, body) in &story.bodies[..left] {
            gathered.take(&narrator.hear(*at, body));
        }
        for (at, body) in narrator.missed(&story.states[back]) {
            gathered.take(&narrator.hear(at, &body));
        }
        prop_assert_eq!(narrator.missed(&story.states[back]), vec![]);
        gathered.take(&story.told(&mut narrator, back));
        prop_assert_eq!(&gathered.texts, &story.texts());
        prop_assert_eq!(&gathered.parts, &story.parts());
        for (proposed, _, ended) in gathered.calls.values() {
            prop_assert_eq!((*proposed, *ended), (1, 1));
        }
        prop_assert_eq!((gathered.starts, gathered.ends), (1, 1));
    }
}

fn text(text: &str) -> Said {
    Said::Text { message: None, kind: TextKind::Text, text: text.to_owned() }
}

fn thought(text: &str) -> Said {
    Said::Text { message: None, kind: TextKind::Thought, text: text.to_owned() }
}

fn ended() -> Said {
    Said::MessageEnded { message: None, finish: Finish::Complete }
}

fn call() -> Said {
    Said::ToolProposed { tool: "t1".into(), name: "ls".into(), args: Json::empty() }
}

fn result() -> Said {
    Said::ToolEnded { tool: "t1".into(), outcome: ToolOutcome::Done, result: ToolResult::text("r") }
}

fn all_told(story: &Story) -> Vec<Narration<'_>> {
    story.told(&mut Narrator::new(story.run), 0)
}

fn words(whole: &Whole) -> String {
    whole.parts.iter().filter_map(|(part, _)| part.streamed()).map(|(_, text)| text).collect()
}

#[test]
fn the_last_text_comes_with_the_end_and_every_other_before_what_follows_it() {
    let said = vec![
        thought("hm"),
        text("first"),
        call(),
        ended(),
        result(),
        Said::StepStarted,
        text("last"),
        ended(),
    ];
    let story = story(said, Outcome::Done);
    let told = all_told(&story);
    let order: Vec<String> = told
        .iter()
        .filter_map(|told| match told {
            Narration::Whole(whole) => Some(format!("whole {}", words(whole))),
            Narration::Call { .. } => Some("call".to_owned()),
            Narration::CallResult { .. } => Some("result".to_owned()),
            Narration::StepStarted { again, .. } => Some(format!("step {again}")),
            Narration::RunEnded { last: Some(last), .. } => Some(format!("end {}", words(last))),
            _ => None,
        })
        .collect();
    assert_eq!(order, ["step false", "whole hm", "whole first", "call", "result", "step true", "end last"]);
}

#[test]
fn a_text_tells_what_it_begins() {
    let said = vec![
        text("a"),
        text("b"),
        ended(),
        text("c"),
        ended(),
        Said::MessageStarted { message: None, role: Role::User },
        text("person"),
        ended(),
        text("d"),
    ];
    let story = story(said, Outcome::Done);
    let opens: Vec<(&str, Opens)> = all_told(&story)
        .into_iter()
        .filter_map(|told| match told {
            Narration::Text { text, opens, .. } => Some((text, opens)),
            _ => None,
        })
        .collect();
    let wanted = [("a", Opens::Run), ("b", Opens::Nothing), ("c", Opens::Message), ("d", Opens::Turn)];
    assert_eq!(opens, wanted);
}

#[test]
fn a_block_stands_under_its_text_and_what_the_person_said_is_one() {
    let code = || Part::Code { language: None, text: "code".to_owned(), path: None };
    let said = vec![
        Said::MessageStarted { message: None, role: Role::User },
        Said::Part { message: None, part: Part::Text("one".to_owned()) },
        Said::Part { message: None, part: Part::Text("two".to_owned()) },
        ended(),
        text("see"),
        Said::Part { message: None, part: code() },
        Said::Part { message: None, part: Part::Text("more".to_owned()) },
    ];
    let story = story(said, Outcome::Done);
    let told = all_told(&story);
    let prompts: Vec<_> = told.iter().filter(|told| matches!(told, Narration::Prompt { .. })).collect();
    let parts = vec![Part::Text("one".to_owned()), Part::Text("two".to_owned())];
    assert!(
        matches!(prompts.as_slice(), [Narration::Prompt { parts: said, .. }] if *said == parts),
        "{prompts:?}"
    );
    let whole = told.iter().find_map(|told| match told {
        Narration::Whole(whole) => Some(whole.clone()),
        _ => None,
    });
    let parts = vec![(Part::Text("see".to_owned()), true), (code(), false)];
    assert_eq!(whole, Some(Whole { kind: TextKind::Text, parts }));
}

#[test]
fn a_finished_text_is_told_before_the_step_that_follows_it() {
    let story = story(vec![text("a"), ended(), Said::StepStarted], Outcome::Done);
    let told = all_told(&story);
    let whole = told.iter().position(|told| matches!(told, Narration::Whole(_)));
    let step = told.iter().rposition(|told| matches!(told, Narration::StepStarted { .. }));
    assert!(whole.is_some() && whole < step, "{told:?}");
}

#[test]
fn who_joins_has_not_heard_the_pieces_before() {
    let story = story(vec![text("a"), text("b"), ended()], Outcome::Done);
    let begun = story.texts().keys().next().copied();
    let at = story.states.iter().position(|state| begun.is_some_and(|id| !texts_of(state, id).is_empty()));
    let at = at.unwrap();
    let told = story.told(&mut Narrator::amid(story.run, &story.states[at]), at);
    let last = told.iter().find_map(|told| match told {
        Narration::RunEnded { last: Some(last), .. } => Some(last.parts.clone()),
        _ => None,
    });
    assert_eq!(last, Some(vec![(Part::Text("ab".to_owned()), false)]), "{told:?}");
    let told = all_told(&story);
    assert!(
        matches!(told.last(), Some(Narration::RunEnded { last: Some(last), .. }) if last.parts[0].1),
        "{told:?}"
    );
}

fn texts_of(state: &State, message: MessageId) -> String {
    state.message(message).map(|message| message.text()).unwrap_or_default()
}

#[test]
fn a_result_without_its_call_has_a_name_and_comes_once() {
    let end = Body::Tool(domain::event::ToolEvent::Ended {
        tool: ToolRunId(9),
        outcome: ToolOutcome::Done,
        result: ToolResult::text("r"),
    });
    let mut narrator = Narrator::new(RunId(1));
    let told = narrator.hear(Millis(5), &end);
    assert!(
        matches!(told.as_slice(), [Narration::CallResult { call, .. }] if call.name == "tool"),
        "{told:?}"
    );
    assert_eq!(narrator.hear(Millis(6), &end), vec![]);
}

#[test]
fn a_text_that_was_cut_and_is_said_anew_has_a_line_below_it() {
    let said = vec![
        Said::StepStarted,
        Said::Text { message: None, kind: TextKind::Text, text: "Half of".to_owned() },
        Said::MessageEnded { message: None, finish: Finish::Cut },
        Said::StepEnded(Usage::default()),
        Said::StepStarted,
        Said::Text { message: None, kind: TextKind::Text, text: "Half of it.".to_owned() },
        Said::MessageEnded { message: None, finish: Finish::Complete },
    ];
    let story = story(said, Outcome::Done);
    let told = story.told(&mut Narrator::new(story.run), 0);
    let texts: Vec<&str> = told
        .iter()
        .filter_map(|told| match told {
            Narration::Text { text, .. } => Some(*text),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["Half of", super::CUT_LINE, "Half of it."]);
    let wholes: Vec<String> = told
        .iter()
        .filter_map(|told| match told {
            Narration::Whole(whole) => {
                Some(whole.parts.iter().map(|(part, _)| part.streamed().unwrap().1).collect())
            }
            _ => None,
        })
        .collect();
    assert_eq!(wholes, [format!("Half of{}", super::CUT_LINE)], "also where only whole texts are told");
}
