//! Both roles facing each other: what the table calls exact comes out as it went in, and every line on the way fits the schema.

use super::bench::{HOME, RuntimeBench, START, UiBench, consent_ask, session};
use super::schema::known;
use domain::ask::{Answer, AskKind, Closing, Risk, Scope};
use domain::command::{Command, LibraryCommand, PromptOptions, Receipt, RunCommand};
use domain::content::{Input, Part, Role, Usage};
use domain::event::{AskEvent, Body, Finish, MessageEvent, NoteEvent, Outcome, RunEvent, ToolEvent};
use domain::ids::{AskId, EntryId, Millis, RunId};
use domain::session::RunSummary;
use domain::signal::{Level, Signal};
use domain::state::{EntryKind, State};
use domain::tool::{Decider, Decision, Progress, ToolOutcome, ToolResult};
use proptest::prelude::*;
use roles::{RuntimeRole, UiEffect};

/// A runtime role and a UI role with a wire between them; the test is the hub on both sides.
struct Pair {
    runtime: RuntimeBench,
    ui: UiBench,
    run: RunId,
    next_id: u64,
}

impl Pair {
    /// Both have greeted each other and a query is under way.
    fn asked(prompt: &str) -> Pair {
        let (runtime, ui) = (RuntimeBench::new(), UiBench::new());
        let mut pair = Pair { runtime, ui, run: RunId(0), next_id: 1_000_000 };
        pair.exchange();
        let options = PromptOptions {
            max_tokens: Some(9),
            temperature: Some(250),
            tools: Some(true),
            ..PromptOptions::default()
        };
        let ticket = pair.ui.command(Command::Run(RunCommand::Prompt {
            input: Input::text(prompt),
            options: options.clone(),
        }));
        pair.exchange();
        let (context, _, command) = pair.runtime.command();
        assert!(
            matches!(command, Command::UpdateContext(ref context) if context.cwd.as_deref() == Some("/p"))
        );
        pair.runtime.attach(HOME);
        pair.runtime.settle(context, Ok(Receipt::Done));
        let (taken, _, command) = pair.runtime.command();
        assert_eq!(command, Command::Run(RunCommand::Prompt { input: Input::text(prompt), options }));
        pair.run = pair.runtime.start(HOME, taken);
        pair.exchange();
        assert_eq!(pair.ui.settled(ticket), Some(Ok(Receipt::Done)));
        pair
    }

    /// Moves lines until both are silent.
    fn exchange(&mut self) {
        self.ui.now = self.runtime.now;
        loop {
            let (up, down) = (self.ui.lines(), self.runtime.lines());
            if up.is_empty() && down.is_empty() {
                return;
            }
            for line in up {
                assert!(known(&serde_json::from_str(&line).unwrap()), "{line}");
                self.runtime.say(&line);
            }
            for line in down {
                assert!(known(&serde_json::from_str(&line).unwrap()), "{line}");
                self.ui.hear(&line);
            }
        }
    }

    fn runtime_state(&self) -> &State {
        &self.runtime.states[&session(HOME)]
    }

    fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// One model response with everything in `deeds`, as the engine tells it.
    fn step(&mut self, deeds: &[Deed]) {
        let (step, message) = self.runtime.answer(HOME);
        let mut tools = Vec::new();
        for deed in deeds {
            match deed {
                Deed::Text(text) => self.runtime.delta(HOME, message, text),
                Deed::Part(part) => {
                    self.runtime
                        .happen(HOME, Body::Message(MessageEvent::PartAdded { message, part: part.clone() }));
                }
                Deed::Notice(level, text) => {
                    let entry = EntryId(self.id());
                    let (parent, run) = (self.runtime_state().leaf, Some(self.run));
                    let (code, text) = ("code".to_owned(), text.clone());
                    let level = *level;
                    self.runtime.happen(
                        HOME,
                        Body::Note(NoteEvent::Noticed { entry, parent, run, level, code, text }),
                    );
                }
                Deed::Tool(wish) => {
                    tools.push((self.runtime.propose(message, &wish.name, &wish.args), wish.clone()));
                }
            }
            self.exchange();
        }
        self.runtime.happen(HOME, Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
        for (tool, wish) in tools {
            self.exchange();
            let allowed = wish.consent.is_none_or(|scope| self.consent(tool, scope));
            let decision =
                Decision { allowed, by: Decider::Policy, scope: Scope::Once, reason: None, digest: None };
            self.runtime.happen(HOME, Body::Tool(ToolEvent::Decided { tool, decision }));
            self.runtime.happen(HOME, Body::Tool(ToolEvent::Started { tool }));
            for text in &wish.output {
                let progress = Progress::Output(text.clone());
                self.runtime.happen(HOME, Body::Tool(ToolEvent::Progress { tool, progress }));
            }
            let parts =
                wish.diff.iter().map(|text| Part::Diff { path: Some("a.rs".into()), text: text.clone() });
            let result =
                ToolResult { text: wish.result.clone(), parts: parts.collect(), ..ToolResult::default() };
            self.runtime
                .happen(HOME, Body::Tool(ToolEvent::Ended { tool, outcome: wish.outcome.clone(), result }));
        }
        self.runtime.happen(
            HOME,
            Body::Run(RunEvent::StepEnded { step, usage: Usage { input: 7, output: 3, ..Usage::default() } }),
        );
        self.exchange();
    }

    /// The person on the UI's side says yes; gives what the runtime's side heard.
    fn consent(&mut self, tool: domain::ids::ToolRunId, scope: Scope) -> bool {
        let ask = AskId(self.id());
        let deadline = Some(Millis(self.runtime.now.0 + 30_000));
        let asked = consent_ask(ask, tool, self.run, Risk::High, deadline);
        self.runtime.happen(HOME, Body::Ask(AskEvent::Opened(asked.clone())));
        self.exchange();
        let shown = self.ui.state.asks[0].clone();
        assert_eq!((&shown.title, shown.deadline), (&asked.title, asked.deadline));
        let (AskKind::Consent(shown), AskKind::Consent(wanted)) = (&shown.kind, &asked.kind) else {
            panic!()
        };
        assert_eq!((&shown.preview, &shown.assessment), (&wanted.preview, &wanted.assessment));
        assert_eq!((&shown.rule, shown.takes_reason, &shown.args), (&wanted.rule, true, &wanted.args));
        self.ui.answer(Answer::Allow { scope, digest: None });
        self.exchange();
        let (ticket, _, command) = self.runtime.command();
        let Command::Answer { ask: answered, answer } = command else { panic!("{command:?}") };
        assert_eq!(answered, ask);
        assert!(matches!(&answer, Answer::Allow { scope: heard, .. } if *heard == scope), "{answer:?}");
        self.runtime.settle(ticket, Ok(Receipt::Done));
        self.runtime.happen(
            HOME,
            Body::Ask(AskEvent::Closed { ask, closing: Closing::Answered { answer, by: None } }),
        );
        self.exchange();
        true
    }
}

/// Something in a model response.
#[derive(Debug, Clone)]
enum Deed {
    Text(String),
    Part(Part),
    Notice(Level, String),
    Tool(Wish),
}

#[derive(Debug, Clone)]
struct Wish {
    name: String,
    args: String,
    consent: Option<Scope>,
    output: Vec<String>,
    diff: Option<String>,
    outcome: ToolOutcome,
    result: String,
}

/// What the model said and did, with neighbouring texts joined: ids and the borders of messages aside.
fn told(state: &State) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    let mut text = String::new();
    for entry in state.entries.values() {
        let EntryKind::Message(message) = &entry.kind else { continue };
        for part in &message.parts {
            if let Part::Text(more) = part {
                text.push_str(more);
                continue;
            }
            if !text.is_empty() {
                told.push(format!("{:?} text {:?}", message.role, std::mem::take(&mut text)));
            }
            told.push(match part {
                Part::Tool(id) => {
                    let tool = state.tool(*id).unwrap();
                    let diffs: Vec<_> = tool.result.iter().flat_map(|r| &r.parts).collect();
                    let result = tool.result.as_ref().map(|result| &result.text);
                    format!(
                        "{} {} {:?} {:?} {result:?} {diffs:?}",
                        tool.name, tool.args, tool.phase, tool.output
                    )
                }
                part => format!("{part:?}"),
            });
        }
        if !text.is_empty() {
            told.push(format!("{:?} text {:?}", message.role, std::mem::take(&mut text)));
        }
    }
    told
}

fn notices(state: &State) -> Vec<String> {
    let notice = |entry: &domain::state::Entry| match &entry.kind {
        EntryKind::Notice { level, code, text, .. } => Some(format!("{level:?} {code} {text:?}")),
        _ => None,
    };
    state.entries.values().filter_map(notice).collect()
}

/// Texts of one role that stand side by side count as one: this wire has no borders of messages that hold nothing else.
fn joined(lines: Vec<String>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for line in lines {
        match (joined.last_mut(), line.strip_prefix("Assistant text \"")) {
            (Some(last), Some(more)) if last.starts_with("Assistant text \"") => {
                last.pop();
                last.push_str(more);
            }
            _ => joined.push(line),
        }
    }
    joined
}

fn words() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 .,éß\n]{1,16}"
}

fn wish() -> impl Strategy<Value = Wish> {
    let scope = prop_oneof![Just(Scope::Once), Just(Scope::Session), Just(Scope::Always)];
    let outcome = prop_oneof![Just(ToolOutcome::Done), Just(ToolOutcome::Failed)];
    let output = prop::collection::vec(words(), 0..3);
    // A consent shows its own name and arguments, so those are the tool's.
    let named = prop_oneof![
        scope.prop_map(|scope| (
            "write".to_owned(),
            r#"{"path":"a.rs","content":"x"}"#.to_owned(),
            Some(scope)
        )),
        ("[a-z]{1,8}", 0u32..9).prop_map(|(name, n)| (name, format!(r#"{{"n":{n}}}"#), None)),
    ];
    (named, output, prop::option::of(words()), outcome, words()).prop_map(
        |((name, args, consent), output, diff, outcome, result)| Wish {
            name,
            args,
            consent,
            output,
            diff,
            outcome,
            result,
        },
    )
}

fn deed() -> impl Strategy<Value = Deed> {
    let code = (prop::option::of("[a-z]{1,6}"), words(), prop::option::of("[a-z]{1,6}"));
    let level =
        prop_oneof![Just(Level::Info), Just(Level::Warning), Just(Level::Success), Just(Level::Error)];
    prop_oneof![
        4 => words().prop_map(Deed::Text),
        1 => code.prop_map(|(language, text, path)| Deed::Part(Part::Code { language, text, path })),
        1 => (prop::option::of("[a-z]{1,6}"), words()).prop_map(|(path, text)| Deed::Part(Part::Diff { path, text })),
        1 => (level, words()).prop_map(|(level, text)| Deed::Notice(level, text)),
        2 => wish().prop_map(Deed::Tool),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_exact_comes_out_as_it_went_in(
        prompt in "[a-z]{1,9}", steps in prop::collection::vec(prop::collection::vec(deed(), 0..6), 1..4), cancelled: bool,
    ) {
        let mut pair = Pair::asked(&prompt);
        for mut deeds in steps {
            // A model's tool calls end its message: the wire tells a tool when it is asked about or starts.
            deeds.sort_by_key(|deed| matches!(deed, Deed::Tool(_)));
            pair.step(&deeds);
        }
        let outcome = if cancelled { Outcome::Cancelled } else { Outcome::Done };
        pair.runtime.end(HOME, outcome.clone());
        pair.exchange();
        let wanted = joined(told(pair.runtime_state()).into_iter().map(|line| line.replace("User text \"go\"", &format!("User text {prompt:?}"))).collect());
        prop_assert_eq!(joined(told(&pair.ui.state)), wanted);
        prop_assert_eq!(notices(&pair.ui.state), notices(pair.runtime_state()));
        prop_assert_eq!(pair.ui.outcome(), Some(outcome));
        prop_assert_eq!(pair.ui.state.usage, pair.runtime_state().usage);
    }

    #[test]
    fn suggestions_survive(text in "[a-z -]{1,20}", confidence in 0u16..=1000, source in "[a-z_]{1,9}", context in prop::option::of("[a-z ]{1,9}")) {
        let mut pair = Pair::asked("go");
        pair.ui.effects.clear();
        let signal = Signal::Suggestion { text, confidence, source, context };
        pair.runtime.signal(&signal);
        pair.exchange();
        prop_assert!(pair.ui.effects.contains(&UiEffect::Signal(signal)));
    }
}

#[test]
fn a_cancel_goes_through_both() {
    let mut pair = Pair::asked("go");
    let ticket = pair.ui.command(Command::Run(RunCommand::Cancel { run: None, reason: None }));
    pair.exchange();
    let (cancel, _, command) = pair.runtime.command();
    assert_eq!(command, Command::Run(RunCommand::Cancel { run: Some(pair.run), reason: None }));
    let run = RunSummary { run: pair.run, outcome: None };
    pair.runtime.settle(cancel, Ok(Receipt::Cancelling { run }));
    pair.runtime.now = Millis(START + 5);
    pair.runtime.end(HOME, Outcome::Cancelled);
    pair.exchange();
    assert!(matches!(pair.ui.settled(ticket), Some(Ok(Receipt::Cancelling { .. }))));
    assert_eq!(pair.ui.outcome(), Some(Outcome::Cancelled));
}

#[test]
fn a_denial_with_a_reason_goes_through_both() {
    let mut pair = Pair::asked("go");
    let (_, message) = pair.runtime.answer(HOME);
    let tool = pair.runtime.propose(message, "write", "{}");
    pair.runtime.ask(tool, pair.run, Risk::Critical);
    pair.exchange();
    pair.ui.answer(Answer::Deny { reason: Some("too risky".into()) });
    pair.exchange();
    let (_, _, command) = pair.runtime.command();
    assert!(
        matches!(&command, Command::Answer { answer: Answer::Deny { reason: Some(why) }, .. } if why == "too risky"),
        "{command:?}"
    );
}

#[test]
fn sessions_go_through_both() {
    let mut pair = Pair::asked("go");
    pair.step(&[Deed::Text("an answer".into())]);
    pair.runtime.end(HOME, Outcome::Done);
    pair.exchange();
    let ticket = pair.ui.command(Command::Library(LibraryCommand::Open { session: session(HOME) }));
    pair.exchange();
    let (load, _, command) = pair.runtime.command();
    assert_eq!(command, Command::Library(LibraryCommand::Open { session: session(HOME) }));
    pair.runtime.settle(load, Ok(Receipt::Session { session: super::bench::summary(HOME), parent: None }));
    pair.exchange();
    assert!(
        matches!(pair.ui.settled(ticket), Some(Ok(Receipt::Session { session: s, .. })) if s.id == session(HOME))
    );
    let said = pair.ui.state.entries.values().filter(|entry| match &entry.kind {
        EntryKind::Message(message) => message.role == Role::Assistant && message.text() == "an answer",
        _ => false,
    });
    assert_eq!(said.count(), 2, "once live, once from the loaded session");
    assert!(pair.runtime.role.can_answer().consent);
}
