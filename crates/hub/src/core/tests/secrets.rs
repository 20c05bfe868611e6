//! What was typed into a question for a secret reaches whoever asked, and nobody else.

use super::*;
use domain::command::ExportFormat;

fn secret() -> AskKind {
    AskKind::Text { message: "?".into(), placeholder: None, default: None, secret: true, multiline: false }
}

#[test]
fn a_secret_goes_to_who_asked_and_a_mark_to_everybody_else() {
    let mut bench = Bench::new();
    let brief = bench.prompt("log in");
    bench.arrive(OTHER, Answers::ALL, Standing::Controller);
    bench.command(OTHER, Command::Library(LibraryCommand::Open { session: brief.session.clone() })).unwrap();
    bench.outs.clear();
    let (step, message) = (StepId::mint(&brief.ids), MessageId::mint(&brief.ids));
    bench.happened(&brief, Body::Run(RunEvent::StepStarted { turn: brief.turn, step, model: None }));
    let ask = AskId::mint(&brief.ids);
    let question =
        Ask { id: ask, run: Some(brief.run), title: "Password?".into(), kind: secret(), deadline: None };
    assert!(bench.happened(&brief, Body::Ask(AskEvent::Opened(question))));
    let answer = Answer::Entered("hunter2".into());
    bench.command(TERMINAL, Command::Answer { ask, answer: answer.clone() }).unwrap();
    let told = bench.outs.iter().any(|out| {
        matches!(out, CoreEffect::Order(Order::AskClosed { closing: Closing::Answered { answer: given, .. }, .. }) if *given == answer)
    });
    assert!(told, "who asked gets it");
    // The model says it again, piece by piece, and wants a tool with it.
    let parent = brief.leaf;
    let turn = Some(brief.turn);
    bench.happened(
        &brief,
        Body::Message(MessageEvent::Started {
            message,
            parent,
            role: Role::Assistant,
            turn,
            step: Some(step),
        }),
    );
    for piece in ["I use h", "unt", "er", "2 now, and hun", "t"] {
        let kind = domain::content::TextKind::Text;
        assert!(
            bench.happened(&brief, Body::Message(MessageEvent::Delta { message, kind, text: piece.into() }))
        );
    }
    let tool = ToolRunId::mint(&brief.ids);
    let args = Json::verbatim(r#"{"command":"login hunter2","pin":7}"#);
    bench.happened(&brief, Body::Tool(ToolEvent::Proposed { tool, message, name: "bash".into(), args }));
    bench.happened(&brief, Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    let signal =
        domain::signal::Signal::Notify { level: domain::signal::Level::Info, text: "hunter2!".into() };
    bench.step(CoreInput::Report(Report::Signal { session: brief.session.clone(), signal }));
    bench.turn_done(&brief, TurnEnd::Failed(domain::event::Failure::new("x", "bad hunter2")));
    let mark = domain::secret::mark(ask);
    let message = bench.state().message(message).unwrap().text();
    assert_eq!(message, format!("I use {mark} now, and hunt"));
    assert_eq!(
        bench.state().tool(tool).unwrap().args.as_str(),
        format!(r#"{{"command":"login {mark}","pin":7}}"#)
    );
    for out in &bench.outs {
        if !matches!(out, CoreEffect::Order(Order::AskClosed { .. })) {
            assert!(!format!("{out:?}").contains("hunter2"), "{out:?}");
        }
    }
    let marked = |ui: UiId| {
        bench
            .outs
            .iter()
            .filter(|out| matches!(out, CoreEffect::Event { ui: to, .. } if *to == ui))
            .any(|out| format!("{out:?}").contains(&mark))
    };
    assert!(marked(TERMINAL) && marked(OTHER));
}

#[test]
fn what_an_engine_settles_a_command_with_has_marks_too() {
    let mut bench = Bench::new();
    let brief = bench.prompt("log in");
    let ask = AskId::mint(&brief.ids);
    let question =
        Ask { id: ask, run: Some(brief.run), title: "Key?".into(), kind: secret(), deadline: None };
    bench.happened(&brief, Body::Ask(AskEvent::Opened(question)));
    bench.command(TERMINAL, Command::Answer { ask, answer: Answer::Entered("hunter2".into()) }).unwrap();
    let said = || "it is hunter2".to_owned();
    let all = [
        Ok(Receipt::Exported { format: ExportFormat::Jsonl, text: said() }),
        Ok(Receipt::Extension(Json::verbatim(r#"{"it":"hunter2"}"#))),
        Err(Refusal::new(RefusalKind::Busy, said())),
    ];
    for (at, with) in all.into_iter().enumerate() {
        bench.outs.clear();
        let (ticket, command) =
            (Ticket(70 + at as u64), Command::List(ListCommand::Models { provider: None }));
        bench.step(CoreInput::Command { ui: TERMINAL, ticket, target: Target::Current, command });
        let consult = bench.outs.iter().find_map(|out| match out {
            CoreEffect::Order(Order::Consult { ticket, .. }) => Some(*ticket),
            _ => None,
        });
        bench.step(CoreInput::Report(Report::Settled { ticket: consult.unwrap(), with }));
        let settled = format!("{:?}", bench.outs);
        assert!(settled.contains("not kept]") && !settled.contains("hunter2"), "{settled}");
    }
}

#[test]
fn a_secret_that_cannot_be_kept_is_refused_and_the_question_stays() {
    let mut bench = Bench::new();
    let brief = bench.prompt("log in");
    let ask = AskId::mint(&brief.ids);
    let question =
        Ask { id: ask, run: Some(brief.run), title: "Key?".into(), kind: secret(), deadline: None };
    bench.happened(&brief, Body::Ask(AskEvent::Opened(question)));
    let long = Answer::Entered("x".repeat(domain::secret::MAX_LENGTH + 1));
    let refused = bench.command(TERMINAL, Command::Answer { ask, answer: long }).unwrap_err();
    assert!(refused.message.contains("at most"), "{refused}");
    assert!(bench.state().ask(ask).is_some());
}

#[test]
fn what_a_lossless_runtime_says_of_a_secret_is_masked_with_its_numbers() {
    let mut bench = Bench::with(Engine::Mirrored, None);
    let session = SessionId::from_number(1);
    let mut theirs = State::new();
    let mut happen = |bench: &mut Bench, body: Body| {
        let event = Event { seq: theirs.seq.next(), at: Millis(0), body };
        theirs.fold(&event).unwrap();
        bench.step(CoreInput::MirrorEvent {
            session: SessionId::from_number(1),
            event: std::sync::Arc::new(event),
        });
    };
    bench.step(CoreInput::Mirror {
        session: session.clone(),
        state: Box::new(State::new()),
        board: Default::default(),
    });
    let (run, turn, step, message, ask) =
        (RunId(1), domain::ids::TurnId(2), StepId(3), MessageId(4), AskId(5));
    happen(
        &mut bench,
        Body::Session(SessionEvent::Opened { cwd: "/w".into(), project: "/w".into(), parent: None }),
    );
    happen(&mut bench, Body::Run(RunEvent::Started { run }));
    happen(&mut bench, Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }));
    happen(&mut bench, Body::Run(RunEvent::StepStarted { turn, step, model: None }));
    let question = Ask { id: ask, run: Some(run), title: "Password?".into(), kind: secret(), deadline: None };
    happen(&mut bench, Body::Ask(AskEvent::Opened(question)));
    let answer = Answer::Entered("hunter2".into());
    let command = Command::Answer { ask, answer };
    bench.step(CoreInput::Command { ui: TERMINAL, ticket: Ticket(1), target: Target::Current, command });
    bench.outs.clear();
    let start = Body::Message(MessageEvent::Started {
        message,
        parent: None,
        role: Role::Assistant,
        turn: Some(turn),
        step: Some(step),
    });
    happen(&mut bench, start);
    for piece in ["I use hun", "ter", "2 and hu"] {
        let kind = domain::content::TextKind::Text;
        happen(&mut bench, Body::Message(MessageEvent::Delta { message, kind, text: piece.into() }));
    }
    happen(&mut bench, Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    let text = bench.core.state(&session).unwrap().message(message).unwrap().text();
    assert_eq!(text, format!("I use {} and hu", domain::secret::mark(ask)));
    assert!(bench.outs.iter().all(|out| !format!("{out:?}").contains("hunter2")));
    assert_eq!(bench.core.state(&session).unwrap().seq, theirs.seq);
    // It shows the session once more, as it has it.
    bench.step(CoreInput::Mirror {
        session: session.clone(),
        state: Box::new(theirs),
        board: Default::default(),
    });
    let text = bench.core.state(&session).unwrap().message(message).unwrap().text();
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn a_foreign_runtime_hears_what_the_person_saw_masked() {
    let mut bench = Bench::with(Engine::Followed, None);
    let session = bench.core.runtime_session(Millis(bench.now)).0.expect("a session");
    bench.step(CoreInput::Left { ui: TERMINAL });
    bench.arrive(TERMINAL, Answers::ALL, Standing::Controller);
    let opens = |bench: &mut Bench, key: &str, kind: AskKind| {
        let kind = domain::fact::FactAsk::Other(kind);
        let said = domain::fact::Said::AskOpened { ask: key.into(), title: "?".into(), kind, deadline: None };
        let fact = domain::fact::Fact::new(said);
        bench.step(CoreInput::Report(Report::Said { session: session.clone(), fact }));
        bench.state().asks.last().expect("it is open").id
    };
    let first = opens(&mut bench, "first", secret());
    bench
        .command(TERMINAL, Command::Answer { ask: first, answer: Answer::Entered("hunter2".into()) })
        .unwrap();
    // Asked again with the value in the text: the person sees a mark, and may send it back.
    let mark = domain::secret::mark(first);
    let default = Some("login hunter2".to_owned());
    let plain =
        AskKind::Text { message: "?".into(), placeholder: None, default, secret: false, multiline: false };
    let second = opens(&mut bench, "second", plain);
    let shown = format!("{:?}", bench.state().asks);
    assert!(shown.contains(&mark) && !shown.contains("hunter2"), "{shown}");
    let answer = Answer::Entered(format!("login {mark}"));
    bench.command(TERMINAL, Command::Answer { ask: second, answer }).unwrap();
    let heard = bench.closings().pop();
    let said = Answer::Entered("login hunter2".into());
    assert!(matches!(&heard, Some(Closing::Answered { answer, .. }) if *answer == said), "{heard:?}");
}
