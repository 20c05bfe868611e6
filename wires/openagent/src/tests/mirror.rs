//! Both roles facing each other: what the table calls exact comes out as it went in.

use super::{HOME, consent, may_it_write, runtime, start, ui};
use domain::ask::{Answer, AskKind, Closing, Risk, Scope};
use domain::command::{Command, LibraryCommand, PromptOptions, Receipt, RunCommand};
use domain::content::{Input, Part, Usage};
use domain::event::{Body, NoteEvent, Outcome, ToolEvent};
use domain::ids::{EntryId, RunId, ToolRunId};
use domain::session::RunSummary;
use domain::signal::{Level, Signal};
use domain::state::{EntryKind, State};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use proptest::prelude::*;
use testkit::bench::{Pair, cancel, session, summary};

/// Both have greeted each other and a query is under way.
struct Query {
    pair: Pair,
    run: RunId,
}

impl Query {
    fn asked(prompt: &str) -> Query {
        let mut query = Query { pair: Pair::new(runtime(), ui()), run: RunId(0) };
        query.exchange();
        let options = PromptOptions {
            max_tokens: Some(9),
            temperature: Some(250),
            tools: Some(true),
            ..PromptOptions::default()
        };
        let command = Command::Run(RunCommand::Prompt { input: Input::text(prompt), options });
        let ticket = query.pair.ui.command(command.clone());
        query.exchange();
        let runtime = &mut query.pair.runtime;
        let (first, _, context) = runtime.command();
        assert!(
            matches!(context, Command::UpdateContext(ref context) if context.cwd.as_deref() == Some("/p"))
        );
        runtime.attach();
        runtime.settle(first, Ok(Receipt::Done));
        let (taken, _, heard) = runtime.command();
        assert_eq!(heard, command);
        query.run = start(runtime, taken);
        query.exchange();
        assert_eq!(query.pair.ui.settlement(ticket), Some(Ok(Receipt::Done)));
        query
    }

    fn exchange(&mut self) {
        self.pair.exchange();
    }

    /// One model response with everything in `deeds`, as the engine tells it.
    fn step(&mut self, deeds: &[Deed]) {
        let (step, message) = self.pair.runtime.step();
        let mut tools = Vec::new();
        for deed in deeds {
            let runtime = &mut self.pair.runtime;
            match deed {
                Deed::Text(text) => runtime.delta(message, text),
                Deed::Part(part) => runtime.part(message, part.clone()),
                Deed::Notice(level, text) => {
                    let entry = EntryId(runtime.ids.next());
                    let (parent, run) = (runtime.state().leaf, Some(self.run));
                    let (code, text, level) = ("code".to_owned(), text.clone(), *level);
                    runtime.happen(Body::Note(NoteEvent::Noticed { entry, parent, run, level, code, text }));
                }
                Deed::Tool(wish) => {
                    tools.push((runtime.propose(message, &wish.name, &wish.args), wish.clone()));
                }
            }
            self.exchange();
        }
        self.pair.runtime.end_message(message);
        for (tool, wish) in tools {
            self.exchange();
            if let Some(scope) = wish.consent {
                self.consent(tool, scope);
            }
            let runtime = &mut self.pair.runtime;
            runtime.start_tool(tool);
            for text in &wish.output {
                let progress = Progress::Output(text.clone());
                runtime.happen(Body::Tool(ToolEvent::Progress { tool, progress }));
            }
            let parts =
                wish.diff.iter().map(|text| Part::Diff { path: Some("a.rs".into()), text: text.clone() });
            let result =
                ToolResult { text: wish.result.clone(), parts: parts.collect(), ..ToolResult::default() };
            runtime.end_tool(tool, wish.outcome.clone(), result);
        }
        self.pair.runtime.end_step(step, Usage { input: 7, output: 3, ..Usage::default() });
        self.exchange();
    }

    /// The person on the UI's side says yes, and the runtime's side hears it.
    fn consent(&mut self, tool: ToolRunId, scope: Scope) {
        let wanted = consent(&mut self.pair.runtime, tool, Risk::High);
        let ask = may_it_write(&mut self.pair.runtime, tool, Risk::High);
        self.exchange();
        let shown = self.pair.ui.state.asks[0].clone();
        assert_eq!(shown.title, "Write a.rs");
        assert_eq!(shown.deadline.map(|at| at.since(self.pair.runtime.now)), Some(30_000));
        let (AskKind::Consent(shown), AskKind::Consent(wanted)) = (&shown.kind, &wanted) else { panic!() };
        assert_eq!((&shown.preview, &shown.assessment), (&wanted.preview, &wanted.assessment));
        assert_eq!((&shown.rule, shown.takes_reason, &shown.args), (&wanted.rule, true, &wanted.args));
        self.pair.ui.answer(Answer::Allow { scope, digest: None });
        self.exchange();
        let (ticket, _, command) = self.pair.runtime.command();
        let Command::Answer { ask: answered, answer } = command else { panic!("{command:?}") };
        assert_eq!(answered, ask);
        assert!(matches!(&answer, Answer::Allow { scope: heard, .. } if *heard == scope), "{answer:?}");
        self.pair.runtime.settle(ticket, Ok(Receipt::Done));
        self.pair.runtime.close_ask(ask, Closing::Answered { answer, by: None });
        self.exchange();
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
    state.entries.values().filter_map(|entry| notice(entry)).collect()
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
    #![proptest_config(testkit::cases(64))]

    #[test]
    fn what_is_exact_comes_out_as_it_went_in(
        prompt in "[a-z]{1,9}", steps in prop::collection::vec(prop::collection::vec(deed(), 0..6), 1..4), cancelled: bool,
    ) {
        let mut query = Query::asked(&prompt);
        for mut deeds in steps {
            // A model's tool calls end its message: the wire tells a tool when it is asked about or starts.
            deeds.sort_by_key(|deed| matches!(deed, Deed::Tool(_)));
            query.step(&deeds);
        }
        let outcome = if cancelled { Outcome::Cancelled } else { Outcome::Done };
        query.pair.runtime.end(outcome.clone());
        query.exchange();
        let wanted = joined(told(query.pair.runtime.state()).into_iter().map(|line| line.replace("User text \"go\"", &format!("User text {prompt:?}"))).collect());
        prop_assert_eq!(joined(told(&query.pair.ui.state)), wanted);
        prop_assert_eq!(notices(&query.pair.ui.state), notices(query.pair.runtime.state()));
        prop_assert_eq!(query.pair.ui.outcome(), Some(outcome));
        prop_assert_eq!(query.pair.ui.state.usage, query.pair.runtime.state().usage);
    }

    #[test]
    fn suggestions_survive(text in "[a-z -]{1,20}", confidence in 0u16..=1000, source in "[a-z_]{1,9}", context in prop::option::of("[a-z ]{1,9}")) {
        let mut query = Query::asked("go");
        query.pair.ui.forget();
        let signal = Signal::Suggestion { text, confidence, source, context };
        query.pair.runtime.signal(&signal);
        query.exchange();
        prop_assert!(query.pair.ui.signals.contains(&signal));
    }
}

#[test]
fn a_cancel_goes_through_both() {
    let mut query = Query::asked("go");
    let ticket = query.pair.ui.command(cancel());
    query.exchange();
    let (cancel, _, command) = query.pair.runtime.command();
    assert_eq!(command, Command::Run(RunCommand::Cancel { run: Some(query.run), reason: None }));
    let run = RunSummary { run: query.run, outcome: None };
    query.pair.runtime.settle(cancel, Ok(Receipt::Cancelling { run }));
    query.pair.runtime.end(Outcome::Cancelled);
    query.exchange();
    assert!(matches!(query.pair.ui.settlement(ticket), Some(Ok(Receipt::Cancelling { .. }))));
    assert_eq!(query.pair.ui.outcome(), Some(Outcome::Cancelled));
}

#[test]
fn a_denial_with_a_reason_goes_through_both() {
    let mut query = Query::asked("go");
    let (_, message) = query.pair.runtime.step();
    let tool = query.pair.runtime.propose(message, "write", "{}");
    may_it_write(&mut query.pair.runtime, tool, Risk::Critical);
    query.exchange();
    query.pair.ui.answer(Answer::Deny { reason: Some("too risky".into()) });
    query.exchange();
    let (_, _, command) = query.pair.runtime.command();
    assert!(
        matches!(&command, Command::Answer { answer: Answer::Deny { reason: Some(why) }, .. } if why == "too risky"),
        "{command:?}"
    );
}

#[test]
fn sessions_go_through_both() {
    let mut query = Query::asked("go");
    query.step(&[Deed::Text("an answer".into())]);
    query.pair.runtime.end(Outcome::Done);
    query.exchange();
    let ticket = query.pair.ui.command(Command::Library(LibraryCommand::Open { session: session(HOME) }));
    query.exchange();
    let (load, _, command) = query.pair.runtime.command();
    assert_eq!(command, Command::Library(LibraryCommand::Open { session: session(HOME) }));
    query.pair.runtime.settle(load, Ok(Receipt::Session { session: summary(&session(HOME)), parent: None }));
    query.exchange();
    assert!(
        matches!(query.pair.ui.settlement(ticket), Some(Ok(Receipt::Session { session: s, .. })) if s.id == session(HOME))
    );
    assert_eq!(query.pair.ui.texts(), ["an answer", "an answer"], "once live, once from the loaded session");
    assert!(query.pair.runtime.role.can_answer().consent);
}
