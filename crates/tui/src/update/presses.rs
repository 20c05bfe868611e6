//! Single keys that people bring with them from elsewhere: Shift-Tab, Esc twice, Del.

use super::tests::AttachedUi;
use crate::wishes::TWICE_MS;
use domain::command::{Command, LibraryCommand, ListCommand, Receipt, Refusal, RefusalKind, SessionCommand};
use domain::content::Json;
use domain::event::{Body, Outcome, SessionEvent};
use domain::ids::{EntryId, SessionId};
use domain::port::{Abilities, News};
use domain::session::{ModelEntry, ModelRef, Policy, SessionSummary};

fn settle(stage: &mut AttachedUi, with: Result<Receipt, Refusal>) {
    let ticket = stage.ui.model.screen.tickets.last();
    stage.ui.hear(News::Settled { ticket, with });
}

fn set(policy: Policy) -> Command {
    Command::Session(SessionCommand::SetPolicy { policy })
}

fn chosen(stage: &mut AttachedUi, policy: Policy) {
    stage.happen(Body::Session(SessionEvent::PolicyChosen { policy }));
}

#[test]
fn shift_tab_goes_through_the_modes_and_never_into_the_widest() {
    let mut stage = AttachedUi::new(80, 24);
    for (from, to) in [
        (Policy::Ask, Policy::AutoEdit),
        (Policy::AutoEdit, Policy::Sandboxed),
        (Policy::Sandboxed, Policy::ReadOnly),
        (Policy::ReadOnly, Policy::Plan),
        (Policy::Plan, Policy::Ask),
        (Policy::Full, Policy::Ask),
    ] {
        chosen(&mut stage, from);
        stage.ui.keys("draft<backtab>");
        assert_eq!(stage.commands(), [set(to)], "from {}", from.name());
        settle(&mut stage, Ok(Receipt::Done));
        assert!(stage.ui.screen().contains(crate::policy::asks_when(to)), "{}", stage.ui.screen());
        stage.ui.keys("<ctrl-u>");
        stage.ui.wait(60_000);
    }
}

#[test]
fn shift_tab_pressed_twice_goes_two_modes_on_before_anybody_answered() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("<backtab><backtab>");
    assert_eq!(stage.commands(), [set(Policy::AutoEdit), set(Policy::Sandboxed)]);
}

#[test]
fn a_mode_that_cannot_be_had_is_passed_over() {
    let mut stage = AttachedUi::new(80, 24);
    chosen(&mut stage, Policy::AutoEdit);
    stage.ui.keys("<backtab>");
    assert_eq!(stage.commands(), [set(Policy::Sandboxed)]);
    settle(&mut stage, Err(Refusal::new(RefusalKind::Unsupported, "no Landlock here")));
    assert_eq!(stage.commands(), [set(Policy::ReadOnly)]);
    assert!(stage.ui.screen().contains("no Landlock here"), "{}", stage.ui.screen());
    settle(&mut stage, Err(Refusal::new(RefusalKind::Internal, "nor this")));
    assert_eq!(stage.commands(), [], "it does not go round for ever");
}

#[test]
fn shift_tab_on_a_foreign_runtime_says_whose_rules_hold_and_changes_nothing() {
    for errands in [false, true] {
        let abilities = Abilities { policy: false, errands, ..Abilities::all("codex 1.2") };
        let mut stage = AttachedUi::on(abilities, 80, 24);
        stage.ui.keys("<backtab>");
        assert_eq!(stage.commands(), []);
        assert!(stage.ui.screen().contains("codex 1.2 acts by its own rules"), "{}", stage.ui.screen());
    }
}

#[test]
fn shift_tab_answers_no_question() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    stage.consent(10, Some("rm"));
    for wait in [0, 60_000] {
        stage.ui.wait(wait);
        stage.ui.keys("<backtab>");
        assert_eq!(stage.commands(), []);
    }
}

fn to_leaf(leaf: Option<EntryId>) -> Command {
    Command::Session(SessionCommand::SetLeaf { leaf })
}

#[test]
fn esc_twice_edits_the_last_prompt() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("say it\nwell");
    stage.text("an answer");
    stage.end(Outcome::Done);
    stage.ui.keys("<esc>");
    assert_eq!(stage.commands(), []);
    assert!(stage.ui.screen().contains("Esc again edits your last prompt"), "{}", stage.ui.screen());
    stage.ui.keys("<esc>");
    assert_eq!(stage.commands(), [to_leaf(None)]);
    assert_eq!(stage.ui.model.screen.composer.text(), "say it\nwell");
}

#[test]
fn esc_twice_means_it_only_soon_and_with_nothing_between() {
    for between in ["x<backspace>", "<ctrl-l>", ""] {
        let mut stage = AttachedUi::new(80, 24);
        stage.run("say it");
        stage.end(Outcome::Done);
        stage.ui.keys("<esc>");
        stage.ui.keys(between);
        stage.ui.wait(if between.is_empty() { TWICE_MS } else { 0 });
        stage.ui.keys("<esc>");
        let expected = if between == "<ctrl-l>" { vec![to_leaf(None)] } else { vec![] };
        // To draw the screen anew is nothing that is done to the conversation.
        assert_eq!(stage.commands(), expected, "{between}");
    }
}

#[test]
fn esc_that_stops_a_run_edits_nothing() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("go");
    stage.ui.keys("<esc>");
    stage.commands();
    stage.end(Outcome::Cancelled);
    stage.ui.keys("<esc>");
    assert_eq!(stage.commands(), [], "the second one belongs to the first");
    stage.ui.keys("<esc>");
    assert_eq!(stage.commands(), []);
    stage.ui.keys("<esc>");
    assert_eq!(stage.commands(), [to_leaf(None)]);
}

#[test]
fn esc_keeps_its_other_meanings_and_edits_where_one_can_go_back() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("<esc><esc>");
    assert!(stage.commands().is_empty() && !stage.ui.screen().contains("Esc again"), "nothing was said yet");
    stage.run("say it");
    stage.end(Outcome::Done);
    stage.ui.keys("draft<esc>");
    let screen = stage.ui.screen();
    assert!(composer(&stage).is_empty() && !screen.contains("Esc again"), "{screen}");
    let mut stage = AttachedUi::on(Abilities { go_back: false, ..Abilities::all("x") }, 80, 24);
    stage.run("say it");
    stage.end(Outcome::Done);
    stage.ui.keys("<esc><esc>");
    assert!(stage.commands().is_empty() && !stage.ui.screen().contains("Esc again"));
}

#[test]
fn the_key_that_opens_the_list_deletes_nothing() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("<ctrl-x>");
    stage.commands();
    let other = SessionId::from_number(2);
    let listed = SessionSummary { title: "other".into(), ..SessionSummary::new(other.clone()) };
    settle(&mut stage, Ok(Receipt::Sessions(vec![listed])));
    stage.ui.keys("<ctrl-x><ctrl-x><ctrl-x>");
    assert_eq!(stage.commands(), []);
    stage.ui.keys("<delete>");
    assert!(stage.ui.screen().contains("Del again deletes"), "{}", stage.ui.screen());
    assert_eq!(stage.commands(), []);
    stage.ui.keys("<delete>");
    assert_eq!(stage.commands(), [Command::Library(LibraryCommand::Delete { session: other })]);
}

fn composer(stage: &AttachedUi) -> &str {
    stage.ui.model.screen.composer.text()
}

#[test]
fn what_a_command_takes_is_offered_and_taken_by_tab() {
    let mut stage = AttachedUi::new(80, 24);
    for (keys, offered, text) in [
        ("/them<tab>", &["auto", "dark", "light"][..], "/theme "),
        ("/theme da", &["dark"], "/theme da"),
        ("/theme da<tab>", &[], "/theme dark"),
        ("/policy r<tab>", &[], "/policy read-only"),
        ("/mode ", &["ask", "asks first, before it changes anything"], "/mode "),
        ("/mode r<tab>", &[], "/mode read-only"),
        ("/effort ", &["low", "the provider decides"], "/effort "),
        ("/diff <down><enter>", &[], "/diff git"),
        ("/queue fo<tab>", &[], "/queue follow-up"),
        ("/queue steer a<tab>", &[], "/queue steer all"),
        ("/export h<tab>", &[], "/export html"),
    ] {
        stage.ui.keys("<ctrl-u>");
        stage.ui.keys(keys);
        let screen = stage.ui.screen();
        assert!(offered.iter().all(|word| screen.contains(word)), "{keys}\n{screen}");
        assert_eq!(composer(&stage), text, "{keys}");
    }
}

#[test]
fn what_was_typed_behind_a_command_is_not_replaced_by_enter() {
    let mut stage = AttachedUi::new(80, 24);
    // `full` would be offered; nobody said it.
    stage.ui.keys("/policy fu<enter>");
    assert_eq!(stage.commands(), []);
    stage.ui.keys("/policy ask<enter>");
    assert_eq!(stage.commands(), [set(Policy::Ask)]);
    stage.ui.keys("/mode full<enter>");
    assert_eq!(stage.commands(), [set(Policy::Full)]);
    // With nothing behind it the command is meant, not the first that is offered.
    stage.ui.keys("/policy <enter>");
    assert!(stage.commands().is_empty() && stage.ui.screen().contains("What may run without asking"));
}

#[test]
fn models_are_looked_up_once_and_offered() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("/model f");
    assert_eq!(stage.commands(), [Command::List(ListCommand::Models { provider: None })]);
    let model = |name: &str| ModelEntry {
        model: ModelRef { provider: "vllm".into(), name: name.into() },
        context_window: None,
        max_output: None,
        price_input: None,
        price_output: None,
        thinks: None,
    };
    let models = vec![model("fake-1"), model("other")];
    settle(&mut stage, Ok(Receipt::Models { models, current: None }));
    assert!(stage.ui.screen().contains("vllm/fake-1"), "{}", stage.ui.screen());
    stage.ui.keys("ake<tab>");
    assert_eq!((stage.commands(), composer(&stage)), (vec![], "/model vllm/fake-1"));
    // A runtime that lists none is asked for none, and one that refuses disturbs nobody.
    let mut stage = AttachedUi::on(Abilities { models: false, ..Abilities::all("x") }, 80, 24);
    stage.ui.keys("/model f");
    assert_eq!(stage.commands(), []);
}

const TOLD: &str = r#"{"session": [{"words": "run exactly `make`", "rule": {"allow": "exact", "words": ["make"]}, "narrow": null}],
    "projects": [
        {"project": "/other", "here": false, "rules": [{"words": "fetch pages from a.org", "rule": {"allow": "host", "host": "a.org"}}]},
        {"project": "/w/shop", "here": true, "rules": [{"words": "run commands that start with `cargo test`",
            "rule": {"allow": "prefix", "words": ["cargo", "test"]}, "narrow": "cargo test"}]}],
    "unread": ["rules file x cannot be understood"]}"#;

fn asked_of_rules(stage: &mut AttachedUi) -> serde_json::Value {
    let commands = stage.commands();
    let [Command::Extension { name, payload }] = &commands[..] else { panic!("{commands:?}") };
    assert_eq!(name, domain::command::RULES);
    serde_json::from_str(payload.as_str()).unwrap()
}

#[test]
fn rules_are_listed_revoked_and_narrowed() {
    let told = || Ok(Receipt::Extension(Json::verbatim(TOLD)));
    let mut stage = AttachedUi::new(100, 24);
    stage.ui.keys("/rules<enter>");
    assert_eq!(asked_of_rules(&mut stage), serde_json::json!({}));
    settle(&mut stage, told());
    let screen = stage.ui.screen();
    let at = |text: &str| screen.find(text).unwrap_or_else(|| panic!("{text}\n{screen}"));
    assert!(at("for this session") < at("in this project") && at("in this project") < at("in /other"));
    assert!(at("fetch pages from a.org") < at("cannot be understood"));
    stage.ui.keys("<down><delete>");
    assert_eq!(stage.commands(), [], "once is not enough");
    stage.ui.keys("<delete>");
    let refusal = Refusal::new(RefusalKind::Storage, "the disk is full");
    settle(&mut stage, Err(refusal));
    let screen = stage.ui.screen();
    assert!(screen.contains("the disk is full") && screen.contains("in /other"), "the list stays\n{screen}");
    stage.ui.keys("<delete><delete>");
    let first = stage.commands();
    assert_eq!(first.len(), 2, "said again");
    stage.ui.keys("<esc>/rules<enter>");
    stage.commands();
    settle(&mut stage, told());
    stage.ui.keys("<down><delete><delete>");
    let rule = serde_json::json!({ "allow": "prefix", "words": ["cargo", "test"] });
    let revoked = serde_json::json!({ "revoke": { "project": "/w/shop", "rule": rule } });
    assert_eq!(asked_of_rules(&mut stage), revoked);
    settle(&mut stage, Ok(Receipt::Extension(Json::verbatim(r#"{"projects": []}"#))));
    assert!(
        stage.ui.screen().contains("nothing was allowed for longer than once yet"),
        "{}",
        stage.ui.screen()
    );
    stage.ui.keys("<esc>/rules<enter>");
    stage.commands();
    settle(&mut stage, told());
    stage.ui.keys("<down><enter>");
    assert_eq!(composer(&stage), "/rules narrow cargo test");
    stage.ui.keys(" --lib<enter>");
    let narrowed = serde_json::json!({ "narrow": { "to": "cargo test --lib" } });
    assert_eq!(asked_of_rules(&mut stage), narrowed);
    settle(&mut stage, Err(Refusal::new(RefusalKind::Invalid, "no rule is made narrower")));
    assert!(stage.ui.screen().contains("no rule is made narrower"), "{}", stage.ui.screen());
}

#[test]
fn whatever_a_runtime_says_of_rules_is_shown_or_left_out() {
    for told in [
        "",
        "null",
        "[]",
        r#"{"projects": 3, "session": {"a": 1}}"#,
        r#"{"projects": [{"rules": [1, null]}]}"#,
    ] {
        let mut stage = AttachedUi::new(80, 24);
        stage.ui.keys("/rules<enter>");
        settle(&mut stage, Ok(Receipt::Extension(Json::verbatim(told))));
        stage.ui.keys("<enter><delete><delete><esc>");
    }
}

#[test]
fn a_foreign_runtime_keeps_its_own_rules() {
    let mut stage = AttachedUi::on(Abilities { policy: false, ..Abilities::all("codex 1.2") }, 100, 24);
    stage.ui.keys("/rules<enter>");
    assert_eq!(stage.commands(), []);
    assert!(stage.ui.screen().contains("codex 1.2 acts by its own rules"), "{}", stage.ui.screen());
}

#[test]
fn a_prompt_that_is_found_again_keeps_its_paste_folded() {
    let paste = "line\n".repeat(40);
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("see ");
    stage.ui.feed(crate::msg::Msg::Paste(paste.clone()));
    stage.ui.keys("<enter>other<enter><ctrl-r><down><enter>");
    assert_eq!(composer(&stage), "see [paste 1: 40 lines, 200 characters]");
    assert_eq!(stage.ui.model.screen.composer.unfolded(), format!("see {paste}"));
}

#[test]
fn what_a_server_may_reach_stands_below_it_and_enter_opens_it() {
    use domain::session::{ServerEntry, ServerReach, ServerState};
    let servers = |network| {
        let reach = Some(ServerReach { network, ..ServerReach::default() });
        let (id, state) = ("files".to_owned(), ServerState::Ready);
        let (http, from_project, tools, connected_at) = (false, true, Some(4), None);
        Ok(Receipt::Servers(vec![ServerEntry { id, http, from_project, state, tools, connected_at, reach }]))
    };
    let mut stage = AttachedUi::new(100, 24);
    stage.ui.keys("/mcp<enter>");
    stage.commands();
    settle(&mut stage, servers(false));
    let screen = stage.ui.screen();
    for line in [
        "it may not use it",
        "it may only read it",
        "it may not talk to them",
        "Enter changes what it may reach",
    ] {
        assert!(screen.contains(line), "{line}\n{screen}");
    }
    stage.ui.keys("<down><enter>");
    let commands = stage.commands();
    let [Command::Extension { name, payload }] = &commands[..] else { panic!("{commands:?}") };
    assert_eq!(name, domain::command::SERVER_REACH);
    let asked: serde_json::Value = serde_json::from_str(payload.as_str()).unwrap();
    assert_eq!(asked, serde_json::json!({"server": "files", "network": true}));
    settle(&mut stage, Ok(Receipt::Extension(Json::verbatim("{}"))));
    // How they are then is told again, and the cursor stays where it was.
    let commands = stage.commands();
    assert_eq!(commands, [Command::List(ListCommand::Servers)]);
    settle(&mut stage, servers(true));
    assert!(stage.ui.screen().contains("☑ files: the network"), "{}", stage.ui.screen());
    stage.ui.keys("<enter>");
    let commands = stage.commands();
    let [Command::Extension { payload, .. }] = &commands[..] else { panic!("{commands:?}") };
    assert!(payload.as_str().contains(r#""network":false"#), "{payload:?}");
}
