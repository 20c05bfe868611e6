//! What the screen says of a runtime with rules of its own: nothing that only a runtime of ours would keep.

use super::*;
use domain::event::SessionEvent;
use domain::origin::{Origin, RuntimePlace};
use domain::port::Abilities;
use domain::session::Policy;

/// Talks, stops and asks, and nothing else.
fn theirs(consent: bool) -> Abilities {
    Abilities { name: "theirs 1.0".into(), cancel: true, consent, ..Abilities::default() }
}

fn chosen(stage: &mut AttachedUi, policy: Policy) {
    stage.happen(Body::Session(SessionEvent::PolicyChosen { policy }));
}

#[test]
fn the_name_that_its_own_programs_know_the_session_by_is_told() {
    let mut stage = AttachedUi::on(theirs(true), 100, 30);
    let place = RuntimePlace::Socket { path: "/run/core.sock".into() };
    let origin = Origin { dialect: "nous".into(), place, session: Some("sess-1794912991550264535".into()) };
    stage.happen(Body::Session(SessionEvent::CameFrom { origin }));
    stage.ui.keys("/status<enter>");
    let screen = stage.ui.screen();
    assert!(screen.contains("sess-1794912991550264535"), "{screen}");
}

#[test]
fn no_mode_of_ours_is_shown_for_it() {
    for consent in [true, false] {
        for policy in Policy::ALL {
            let mut stage = AttachedUi::on(theirs(consent), 100, 30);
            if policy != Policy::default() {
                chosen(&mut stage, policy);
            }
            for keys in ["", "/status<enter>", "<esc>/settings<enter>"] {
                stage.ui.keys(keys);
                let screen = stage.ui.screen();
                for word in ["asks first", "edits freely", "sandbox", "read-only ·", "when you allow it"] {
                    assert!(!screen.contains(word), "{policy:?} after {keys}: {word}\n{screen}");
                }
            }
            stage.ui.keys("<esc>");
            let held = policy == Policy::ReadOnly;
            let word = if held { "read-only where it asks" } else { "its own rules" };
            assert!(stage.ui.screen().contains(word), "{policy:?}\n{}", stage.ui.screen());
        }
    }
}

#[test]
fn before_it_has_told_what_it_can_do_nothing_is_said_of_it() {
    let mut stage = AttachedUi::on(Abilities::untold(), 100, 30);
    for word in ["asks first", "its own rules", "read-only"] {
        assert!(!stage.ui.screen().contains(word), "{}", stage.ui.screen());
    }
    let mut nowhere = crate::Headless::new(100, 30);
    assert!(!nowhere.screen().contains("asks first"));
}

#[test]
fn what_it_did_not_tell_is_not_counted_as_nothing() {
    let mut stage = AttachedUi::on(theirs(true), 100, 40);
    stage.ui.keys("/status<enter>");
    let screen = stage.ui.screen();
    for word in ["$0", "tokens", "tools     all", "0 in ("] {
        assert!(!screen.contains(word), "{word}\n{screen}");
    }
    let usage = Usage { input: 1_200, output: 30, cost_micros: 4_200, ..Usage::default() };
    stage.run("go");
    stage.happen(Body::Run(RunEvent::StepEnded { step: StepId(4), usage }));
    let screen = stage.ui.screen();
    assert!(screen.contains("tokens") && screen.contains("$0.0042"), "{screen}");
}

#[test]
fn status_of_a_runtime_with_its_own_rules() {
    check("theirs", 24, |stage| {
        *stage = AttachedUi::on(theirs(true), stage.ui.model.screen.window.size().0, 24);
        chosen(stage, Policy::ReadOnly);
        stage.ui.keys("/status<enter>");
    });
}

#[test]
fn first_screen_of_a_runtime_with_its_own_rules() {
    check("theirs_first", 22, |stage| {
        *stage = AttachedUi::on(theirs(false), stage.ui.model.screen.window.size().0, 22);
        stage.ui.tell(About { program: "parlor 0.1.0".into(), ..About::default() });
    });
}

#[test]
fn policies_of_a_runtime_with_its_own_rules() {
    check("theirs_policies", 12, |stage| {
        *stage = AttachedUi::on(theirs(true), stage.ui.model.screen.window.size().0, 12);
        chosen(stage, Policy::ReadOnly);
        stage.ui.keys("/policy<esc><enter>");
    });
}

#[test]
fn a_rule_that_the_runtime_does_not_keep_for_the_session_is_not_promised() {
    let mut stage = AttachedUi::on(theirs(true), 100, 30);
    stage.run("go");
    stage.consent(40, Some("rm in this project"));
    stage.ui.wait(crate::ask::SEEN_MS);
    let screen = stage.ui.screen().replace('\u{a0}', " ");
    assert!(screen.contains("a would also allow: rm") && screen.contains("s the same again"), "{screen}");
    assert!(!screen.contains("s and a would also allow"), "{screen}");
}

#[test]
fn tokens_that_nobody_told_are_not_shown_as_none() {
    let mut stage = AttachedUi::on(theirs(true), 100, 30);
    let (summary, usage) = (String::new(), Usage::default());
    let trigger = domain::event::Trigger::Manual;
    let (tokens_before, unexplained) = (0, true);
    let compaction =
        domain::event::Compaction { summary, first_kept: None, tokens_before, trigger, unexplained, usage };
    let entry = domain::ids::EntryId(3);
    stage.happen(Body::Context(ContextEvent::Compacted { entry, parent: None, compaction }));
    let screen = stage.ui.screen();
    assert!(screen.contains("were summarised") && !screen.contains("0 tokens"), "{screen}");
    assert!(!screen.contains("as you asked") && !screen.contains("full"), "nobody said why: {screen}");
}

#[test]
fn a_danger_that_nobody_told_is_not_on_the_screen() {
    let mut stage = AttachedUi::on(theirs(true), 100, 30);
    stage.run("go");
    let id = tool(&mut stage, 30, "bash", "{}");
    let mut kind = consent(id, Preview::Command { line: "rm x".into(), inner: Vec::new() }, Risk::Medium);
    let AskKind::Consent(asked) = &mut kind else { panic!("a consent") };
    (asked.assessment.unrated, asked.assessment.reversible) = (true, true);
    ask(&mut stage, 40, "Allow bash?", kind);
    let screen = stage.ui.screen();
    assert!(screen.contains("Run this command?") && !screen.to_lowercase().contains("risk"), "{screen}");
}

#[test]
fn lists_offer_only_what_the_runtime_can_do() {
    let mut stage = AttachedUi::on(Abilities { sessions: true, open_session: true, ..theirs(true) }, 100, 30);
    stage.ui.keys("<ctrl-x>");
    assert!(stage.ui.screen().contains("Enter opens it") && !stage.ui.screen().contains("deletes"));
    let mut stage = AttachedUi::on(theirs(true), 100, 30);
    stage.ui.keys("/tree<enter>");
    assert!(!stage.ui.screen().contains("goes back"), "{}", stage.ui.screen());
    stage.ui.keys("<esc><ctrl-x>");
    assert!(stage.ui.screen().contains("stays in its session"), "{}", stage.ui.screen());
    let mut stage = AttachedUi::on(theirs(true), 100, 60);
    stage.ui.keys("?");
    assert!(!stage.ui.screen().contains("Ctrl-X"), "{}", stage.ui.screen());
    stage.ui.keys("<esc>/keys<enter>");
    let screen = stage.ui.screen();
    let sessions = screen.lines().find(|line| line.contains("Ctrl-X")).unwrap();
    assert!(sessions.contains("(not with this runtime)") && !sessions.contains("delete"), "{screen}");
}

#[test]
fn the_model_that_answers_is_named_wherever_models_are() {
    let can = Abilities { models: true, ..theirs(true) };
    let mut stage = AttachedUi::on(can, 100, 40);
    stage.ui.keys("/status<enter>");
    assert!(!stage.ui.screen().contains("model  "), "nobody told one\n{}", stage.ui.screen());
    stage.ui.keys("<esc>");
    stage.run("go");
    stage.end(Outcome::Done);
    let model = Some(ModelRef { provider: "vllm".into(), name: "fake-1".into() });
    let (run, turn, step) = (RunId(70), domain::ids::TurnId(71), StepId(72));
    stage.happen(Body::Run(RunEvent::Started { run }));
    stage.happen(Body::Run(RunEvent::TurnStarted { run, turn, cause: domain::event::Cause::Prompt }));
    stage.happen(Body::Run(RunEvent::StepStarted { turn, step, model }));
    for keys in ["/status<enter>", "<esc>/settings<enter>"] {
        stage.ui.keys(keys);
        let screen = stage.ui.screen();
        assert!(screen.contains("fake-1") && !screen.contains("runtime's own"), "{keys}\n{screen}");
    }
}

#[test]
fn what_it_can_do_in_full_is_not_listed_as_nothing() {
    let mut stage = AttachedUi::new(100, 40);
    stage.ui.keys("/status<enter>");
    let screen = stage.ui.screen();
    for odd in ["cannot nothing", "cannot     nothing", "1 runs", "the runtime's own"] {
        assert!(!screen.contains(odd), "{odd}\n{screen}");
    }
}

#[test]
fn a_full_bar_is_a_context_with_room() {
    for (used, bar) in
        [(0, "▰▰▰▰▰▰▰▰ 100%"), (8_000, "▰▰▰▰▰▰▰▰ 96%"), (190_000, "▰▱▱▱▱▱▱▱ 5%"), (200_000, "▱▱▱▱▱▱▱▱ 0%")]
    {
        let mut stage = AttachedUi::new(100, 20);
        stage.happen(Body::Context(ContextEvent::Measured { used, window: 200_000, rough: false }));
        let screen = stage.ui.screen();
        assert!(screen.contains(&format!("context {bar} left")), "{used}: {screen}");
    }
}

#[test]
fn a_picture_that_cannot_go_along_is_told_before_it_is_sent() {
    for (text_only, word) in
        [(true, "stays here: this runtime accepts only text"), (false, "will be sent with")]
    {
        let mut stage = AttachedUi::on(Abilities { text_only, ..theirs(true) }, 100, 20);
        let part = Part::Image { mime: "image/png".into(), base64: "AAAA".into() };
        stage.ui.feed(Msg::Attached(Ok(("shot.png".into(), part))));
        let screen = stage.ui.screen();
        assert!(screen.contains(word), "{screen}");
    }
}

#[test]
fn nothing_is_made_up_of_a_session_that_its_runtime_only_names() {
    for (abilities, invents) in [(theirs(true), false), (Abilities::all("ours"), true)] {
        let sessions = true;
        let mut stage = AttachedUi::on(Abilities { sessions, open_session: true, ..abilities }, 100, 30);
        stage.ui.keys("<ctrl-x>");
        let ticket = stage.ui.sent().pop().expect("the list is asked for").ticket;
        let named =
            SessionSummary { title: "named".into(), ..SessionSummary::new(SessionId::from_number(5)) };
        stage.ui.hear(News::Settled { ticket, with: Ok(Receipt::Sessions(vec![named])) });
        let screen = stage.ui.screen();
        assert_eq!(screen.contains("0 messages") && screen.contains("closed"), invents, "{screen}");
        assert!(screen.contains("named") && (invents || !screen.contains("closed")), "{screen}");
    }
}

#[test]
fn percents_are_not_told_as_tokens() {
    let mut stage = AttachedUi::new(100, 40);
    stage.happen(Body::Context(ContextEvent::Measured { used: 63, window: 100, rough: false }));
    stage.ui.keys("/status<enter>");
    let screen = stage.ui.screen();
    assert!(screen.contains("37% left") && !screen.contains("63 of"), "{screen}");
}

#[test]
fn the_examples_fit_whoever_answers() {
    let note = Note {
        examples: vec!["find the smallest TODO".into()],
        offline_examples: vec!["list files".into()],
        ..Note::default()
    };
    let mut stage = AttachedUi::on(theirs(true), 100, 30);
    stage.ui.tell(About { note, ..About::default() });
    for (provider, shown, hidden) in
        [("vllm", "smallest TODO", "list files"), ("offline", "list files", "smallest TODO")]
    {
        let model = ModelRef { provider: provider.into(), name: "one".into() };
        stage.happen(Body::Session(SessionEvent::ModelChosen { model }));
        let screen = stage.ui.screen();
        assert!(screen.contains(shown) && !screen.contains(hidden), "{provider}\n{screen}");
    }
}

/// An agent with commands, a mode, a model and a switch.
fn with_menu() -> Abilities {
    use domain::port::menu::{AgentChoice, AgentCommand, AgentMenu, AgentOption, OptionKind};
    let choice = |value: &str, name: &str, about: &str| AgentChoice {
        value: value.into(),
        name: name.into(),
        about: Some(about.into()),
        group: None,
    };
    let option = |id: &str, name: &str, kind, value: &str, choices| AgentOption {
        id: id.into(),
        name: name.into(),
        about: None,
        kind,
        value: value.into(),
        choices,
    };
    let command = |name: &str, about: &str, hint: Option<&str>| AgentCommand {
        name: name.into(),
        about: about.into(),
        hint: hint.map(Into::into),
    };
    let modes =
        vec![choice("default", "Always ask", "asks first"), choice("plan", "Plan mode", "only plans")];
    let models =
        vec![choice("opus", "Opus 5", "the large one"), choice("x/haiku", "Haiku 5", "the quick one")];
    let menu = AgentMenu {
        commands: vec![
            command("dataviz", "draws a chart", Some("FILE")),
            command("status", "their own status", None),
        ],
        options: vec![
            option("mode", "Mode", OptionKind::Mode, "default", modes),
            option("model", "Model", OptionKind::Model, "x/haiku", models),
            option(
                "fast",
                "Fast mode",
                OptionKind::Other,
                "off",
                vec![choice("on", "on", ""), choice("off", "off", "")],
            ),
        ],
        ..AgentMenu::default()
    };
    Abilities { menu: menu.into(), models: true, set_model: true, extensions: true, ..theirs(true) }
}

fn sent_texts(stage: &mut AttachedUi) -> Vec<String> {
    use domain::command::{Command, RunCommand};
    let text = |sent: crate::msg::Outgoing| match sent.command {
        Command::Run(RunCommand::Prompt { input, .. }) => input.text,
        Command::Extension { name, payload } => format!("{name} {}", payload.as_str()),
        other => format!("{other:?}"),
    };
    stage.ui.sent().into_iter().map(text).collect()
}

#[test]
fn commands_that_an_agent_announced_are_offered_under_its_name_and_sent_to_it() {
    let mut stage = AttachedUi::on(with_menu(), 120, 30);
    stage.ui.keys("/data");
    let screen = stage.ui.screen();
    assert!(screen.contains("/dataviz FILE") && screen.contains("theirs 1.0: draws a chart"), "{screen}");
    stage.ui.keys("<enter>a.csv<enter>");
    assert_eq!(sent_texts(&mut stage), ["/dataviz a.csv"]);
    // One that is called like ours is reached with a second slash, and shown so.
    let mut stage = AttachedUi::on(with_menu(), 120, 30);
    stage.ui.keys("/stat");
    assert!(stage.ui.screen().contains("//status"), "{}", stage.ui.screen());
    stage.ui.keys("us<enter>");
    assert!(
        stage.ui.screen().contains("runtime") && sent_texts(&mut stage).is_empty(),
        "{}",
        stage.ui.screen()
    );
    stage.ui.keys("<esc>//status<enter>");
    assert_eq!(sent_texts(&mut stage), ["/status"]);
    // What nobody announced is no command, and is not sent.
    let mut stage = AttachedUi::on(with_menu(), 120, 30);
    stage.ui.keys("/nonesuch<enter>");
    assert!(stage.ui.screen().contains("there is no command /nonesuch"), "{}", stage.ui.screen());
    assert_eq!(sent_texts(&mut stage), [""; 0]);
    stage.ui.keys("/help<enter>");
    stage.ui.keys("<end>");
    assert!(stage.ui.screen().contains("/dataviz FILE"), "{}", stage.ui.screen());
}

#[test]
fn modes_and_options_of_an_agent_are_chosen_by_their_names() {
    let mut stage = AttachedUi::on(with_menu(), 120, 30);
    stage.ui.keys("/mode<enter>");
    let screen = stage.ui.screen();
    for word in ["Always ask", "in use · asks first", "Plan mode", "only plans"] {
        assert!(screen.contains(word), "{word}\n{screen}");
    }
    stage.ui.keys("<down><enter>");
    assert_eq!(sent_texts(&mut stage), [r#"option {"id":"mode","value":"plan"}"#]);
    stage.ui.keys("/mode plan<enter>");
    assert_eq!(sent_texts(&mut stage), [r#"option {"id":"mode","value":"plan"}"#]);
    for (line, sets) in [("/queue steer all", 1), ("/mode steer all", 1), ("/queue one", 2)] {
        stage.ui.keys(&format!("{line}<enter>"));
        let sent = sent_texts(&mut stage);
        assert!(sent.len() == sets && sent[0].contains("SetMode"), "our queue has its modes still: {sent:?}");
    }
    stage.ui.keys("/options<enter>");
    let screen = stage.ui.screen();
    for word in ["Mode", "Always ask", "Haiku 5", "Fast mode"] {
        assert!(screen.contains(word), "{word}\n{screen}");
    }
    stage.ui.keys("fast<enter><up><enter>");
    assert_eq!(sent_texts(&mut stage), [r#"option {"id":"fast","value":"on"}"#]);
    stage.ui.keys("/options none on<enter>");
    assert!(stage.ui.screen().contains("options: mode, model, fast"), "{}", stage.ui.screen());
    // A runtime without options is not said to have some.
    let mut stage = AttachedUi::on(theirs(true), 120, 30);
    stage.ui.keys("/opt");
    assert!(!stage.ui.screen().contains("/options"), "{}", stage.ui.screen());
}

#[test]
fn models_are_called_as_their_agent_calls_them() {
    let mut stage = AttachedUi::on(with_menu(), 120, 30);
    let model = ModelRef { provider: "x".into(), name: "haiku".into() };
    stage.happen(Body::Session(SessionEvent::ModelChosen { model: model.clone() }));
    assert!(stage.ui.screen().contains("Haiku 5"), "{}", stage.ui.screen());
    stage.ui.keys("/model<enter>");
    let ticket = stage.ui.sent()[0].ticket;
    let entry = |provider: &str, name: &str| domain::session::ModelEntry {
        model: ModelRef { provider: provider.into(), name: name.into() },
        context_window: None,
        max_output: None,
        price_input: None,
        price_output: None,
        thinks: None,
    };
    let models = vec![entry("", "opus"), entry("x", "haiku"), entry("", "unnamed")];
    stage.ui.hear(News::Settled { ticket, with: Ok(Receipt::Models { models, current: Some(model) }) });
    let screen = stage.ui.screen();
    for word in ["Opus 5", "the large one · opus", "in use · the quick one · x/haiku", "unnamed"] {
        assert!(screen.contains(word), "{word}\n{screen}");
    }
}
