//! A key that is given on the screen: what is tried and saved, and that nothing shows it.

use crate::commands::Restart;
use crate::msg::{Fx, LoginNews, Msg, ProviderLine};
use crate::update::tests::AttachedUi;
use domain::command::{Command, SessionCommand};
use domain::event::{Body, SessionEvent};
use domain::session::ModelRef;

fn logging_in() -> AttachedUi {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.model.screen.start.stand(Restart::None, true);
    stage.ui.model.screen.start.logs_in();
    stage.ui.keys("/login<enter>");
    assert!(stage.ui.fx.contains(&Fx::FindProviders));
    let line = |name: &str, has_key| ProviderLine { name: name.into(), about: String::new(), has_key };
    stage.ui.feed(Msg::Login(LoginNews::Providers(vec![line("anthropic", true), line("openai", false)])));
    assert!(stage.ui.screen().contains("✓ anthropic"), "{}", stage.ui.screen());
    stage.ui.keys("openai<enter>");
    stage
}

/// What was given to be tried, and whether it is to be saved whatever comes of it.
fn given(stage: &mut AttachedUi) -> Vec<(String, String, bool)> {
    let given = stage.ui.fx.drain(..).filter_map(|fx| match fx {
        Fx::Login { provider, key, keep } => Some((provider, key.expose().to_owned(), keep)),
        _ => None,
    });
    given.collect()
}

#[test]
fn a_key_is_given_without_leaving_the_screen_and_never_shown() {
    const SECRET: &str = "sk-very-secret";
    let mut stage = logging_in();
    stage.ui.keys("sk-very");
    stage.ui.feed(Msg::Paste("-secret\n".into()));
    let screen = stage.ui.screen();
    assert!(
        screen.contains("The API key of openai") && screen.contains("(14 characters, not shown)"),
        "{screen}"
    );
    stage.ui.keys("<enter>");
    assert!(!format!("{:?}", stage.ui.fx).contains("sk-"), "what is printed of it hides it");
    assert!(!stage.ui.fx.iter().any(|fx| matches!(fx, Fx::SaveHistory(_) | Fx::Leave(_))));
    assert_eq!(given(&mut stage), [("openai".into(), SECRET.into(), false)]);
    assert!(stage.ui.screen().contains("asking openai…"));
    // Refused, it is saved only by a word for it; the same letter is part of a key elsewhere.
    stage.ui.feed(Msg::Login(LoginNews::Unsure("openai does not accept this key".into())));
    assert!(
        stage.ui.screen().contains("does not accept")
            && stage.ui.screen().contains("s saves it all the same")
    );
    stage.ui.keys("xy");
    assert_eq!(given(&mut stage), []);
    stage.ui.keys("s");
    assert_eq!(given(&mut stage), [("openai".into(), SECRET.into(), true)]);
    let model = Some(("openai".to_owned(), "gpt-5".to_owned()));
    let said = vec!["saved the key of openai".to_owned()];
    stage.ui.feed(Msg::Login(LoginNews::Kept { said, note: None, model }));
    assert!(!stage.ui.model.screen.over.is_open() && stage.ui.screen().contains("saved the key of openai"));
    let set = SessionCommand::SetModel { provider: Some("openai".into()), name: "gpt-5".into() };
    assert_eq!(stage.commands(), [Command::Session(set)], "who had no model has one");
    assert!(stage.ui.model.screen.composer.is_empty());
    for keys in ["<up>", "<ctrl-r>", "<esc>/notices<enter>"] {
        stage.ui.keys(keys);
        assert!(!stage.ui.screen().contains("sk-"), "{keys}: {}", stage.ui.screen());
    }
}

#[test]
fn a_login_that_is_ended_saves_nothing() {
    for (keys, stops) in [("<esc>", false), ("k<enter><esc><esc>", true), ("k<ctrl-c>", true)] {
        let mut stage = logging_in();
        stage.ui.fx.clear();
        stage.ui.keys(keys);
        assert!(!stage.ui.model.screen.over.is_open(), "{keys}");
        assert_eq!(stage.ui.fx.contains(&Fx::StopLogin), stops, "{keys}");
        assert!(!stage.ui.fx.contains(&Fx::Quit));
    }
    // What is no key is asked for once more; Enter on nothing gives nothing.
    let mut stage = logging_in();
    stage.ui.keys("<enter>a b<enter>");
    assert_eq!(given(&mut stage).len(), 1);
    stage.ui.feed(Msg::Login(LoginNews::Failed("that is no key: there are blanks in it".into())));
    stage.ui.keys("<enter>");
    assert_eq!(given(&mut stage), [], "the one before is gone");
    assert!(stage.ui.screen().contains("blanks in it"), "{}", stage.ui.screen());
    // Who has a model keeps it.
    let chosen = ModelRef { provider: "vllm".into(), name: "one".into() };
    stage.happen(Body::Session(SessionEvent::ModelChosen { model: chosen }));
    let model = Some(("openai".to_owned(), "gpt-5".to_owned()));
    stage.commands();
    stage.ui.feed(Msg::Login(LoginNews::Kept { said: Vec::new(), note: None, model }));
    assert_eq!(stage.commands(), []);
}
