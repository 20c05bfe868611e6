//! The search over all sessions: what is asked for while somebody types, what is shown, and where Enter goes.

use crate::msg::{Begin, Msg};
use crate::update::tests::AttachedUi;
use domain::command::{Command, LibraryCommand, ListScope, Receipt};
use domain::ids::{EntryId, Millis, SessionId};
use domain::port::News;
use domain::session::{FoundWords, SessionSummary};

fn found(number: u64, title: &str, text: Option<&str>) -> SessionSummary {
    let found = text.map(|text| FoundWords { text: text.into(), at: Millis(1), entry: EntryId(number) });
    SessionSummary {
        title: title.into(),
        found: found.map(Box::new),
        ..SessionSummary::new(SessionId::from_number(number))
    }
}

fn asks(words: &str) -> Command {
    let search = Some(words.to_owned());
    Command::Library(LibraryCommand::List { scope: ListScope::All, limit: Some(50), search })
}

fn settle(stage: &mut AttachedUi, receipt: Receipt) {
    let ticket = stage.ui.model.screen.tickets.last();
    stage.ui.hear(News::Settled { ticket, with: Ok(receipt) });
}

#[test]
fn every_letter_searches_all_sessions_and_enter_goes_to_the_words() {
    let mut stage = AttachedUi::new(100, 24);
    stage.ui.keys("/search<enter>");
    assert!(stage.ui.screen().contains("type words: everything that was said is searched"));
    stage.commands();
    stage.ui.keys("p");
    assert_eq!(stage.commands(), [], "one letter begins words of every session");
    stage.ui.keys("a");
    assert_eq!(stage.commands(), [asks("pa")]);
    assert!(stage.ui.screen().contains("looking…"));
    let said = format!("{}the parser reads each line twice", "long before that ".repeat(4));
    settle(
        &mut stage,
        Receipt::Sessions(vec![found(7, "speed it up", Some(&said)), found(8, "Parlor", None)]),
    );
    let screen = stage.ui.screen();
    assert!(screen.contains("speed it up") && screen.contains("the parser reads"), "{screen}");
    assert!(screen.contains("in its title"), "{screen}");
    // What was found stays while the next letter is on its way, whatever its titles say.
    stage.ui.keys("r");
    assert_eq!(stage.commands(), [asks("par")]);
    assert!(stage.ui.screen().contains("speed it up"), "{}", stage.ui.screen());
    settle(&mut stage, Receipt::Sessions(Vec::new()));
    assert!(stage.ui.screen().contains("no match"), "{}", stage.ui.screen());
    stage.ui.keys("<backspace>");
    settle(&mut stage, Receipt::Sessions(vec![found(7, "speed it up", Some(&said))]));
    stage.commands();
    stage.ui.keys("<enter>");
    let session = SessionId::from_number(7);
    assert_eq!(stage.commands(), [Command::Library(LibraryCommand::Open { session })]);
}

#[test]
fn words_that_were_found_are_marked_and_looked_at_where_they_were_said() {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("why is it slow?");
    stage.text("The parser reads each line twice.");
    let here = stage.ui.model.world.current.clone().unwrap();
    stage.ui.feed(Msg::Begin(Begin::Search("line parser".into())));
    assert_eq!(stage.commands().last(), Some(&asks("line parser")));
    let summary = SessionSummary { id: here, ..found(1, "slow", Some("The parser reads each line twice.")) };
    settle(&mut stage, Receipt::Sessions(vec![summary]));
    stage.ui.keys("<enter>");
    assert_eq!(stage.commands(), [], "it is on the screen");
    let screen = stage.ui.screen();
    assert!(screen.contains("find: parser") && screen.contains("1 of 1"), "the longest of them: {screen}");
}

#[test]
fn in_front_of_a_runtime_without_sessions_this_one_is_searched() {
    let abilities = domain::port::Abilities { sessions: false, ..domain::port::Abilities::all("codex 1.2") };
    let mut stage = AttachedUi::on(abilities, 80, 24);
    stage.run("hello");
    stage.ui.keys("/search hello<enter>");
    assert!(stage.ui.screen().contains("find: hello"), "{}", stage.ui.screen());
}
