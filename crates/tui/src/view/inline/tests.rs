//! What is handed out, row by row; how it looks in a terminal is tested with the painter.

use super::*;
use crate::update::tests::AttachedUi;
use domain::event::{Body, Outcome, SessionEvent};
use domain::ids::EntryId;

struct InlineUi {
    stage: AttachedUi,
    inline: Inline,
    cache: Cache,
}

impl InlineUi {
    fn new(columns: u16, rows: u16) -> InlineUi {
        let mut stage = AttachedUi::new(columns, rows);
        stage.run("begin");
        InlineUi { stage, inline: Inline::default(), cache: Cache::default() }
    }

    fn commit(&mut self) -> Vec<String> {
        let frame = self.inline.frame(&self.stage.ui.model, &mut self.cache);
        frame.commit.iter().map(Row::text).collect()
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.stage.ui.feed(crate::msg::Msg::Resize(columns, rows));
    }
}

#[test]
fn finished_blocks_leave_and_the_last_one_stays() {
    let mut inline_ui = InlineUi::new(40, 20);
    assert_eq!(inline_ui.commit(), ["> begin"]);
    inline_ui.stage.text("First paragraph.\n\nSecond\none");
    assert_eq!(inline_ui.commit(), ["", "First paragraph.", ""]);
    inline_ui.stage.text("\n\nThird\none");
    assert_eq!(inline_ui.commit(), ["Second", "one", ""]);
    assert!(inline_ui.commit().is_empty());
    inline_ui.stage.end(Outcome::Done);
    assert_eq!(inline_ui.commit().first().map(String::as_str), Some("Third"));
}

#[test]
fn another_width_or_other_folds_take_nothing_back() {
    let mut inline_ui = InlineUi::new(40, 20);
    inline_ui.stage.text("First paragraph.\n\nSecond, which is a good deal longer\nthan one row of this");
    assert_eq!(inline_ui.commit().len(), 4);
    inline_ui.resize(24, 20);
    inline_ui.stage.ui.keys("<ctrl-o>");
    assert!(inline_ui.commit().is_empty());
    inline_ui.stage.text(" line.\n\nThird\none");
    assert_eq!(
        inline_ui.commit(),
        ["Second, which is a", "good deal longer", "than one row of this", "line.", ""]
    );
}

#[test]
fn a_block_longer_than_the_screen_leaves_row_by_row() {
    let mut inline_ui = InlineUi::new(30, 10);
    inline_ui.commit();
    let mut all = Vec::new();
    for number in 0..60 {
        inline_ui.stage.text(&format!("word{number} "));
        all.extend(inline_ui.commit());
    }
    assert!(all.len() > 5, "{all:?}");
    inline_ui.stage.end(Outcome::Done);
    all.extend(inline_ui.commit());
    let words: Vec<String> = all.iter().flat_map(|row| row.split(' ')).map(str::to_owned).collect();
    let said: Vec<String> = words.into_iter().filter(|word| word.starts_with("word")).collect();
    assert_eq!(said, (0..60).map(|number| format!("word{number}")).collect::<Vec<_>>());
}

#[test]
fn rows_that_left_the_screen_are_not_said_again_though_their_markup_closes() {
    let mut inline_ui = InlineUi::new(24, 20);
    inline_ui.commit();
    inline_ui.stage.text("some **bold words that go on (and");
    inline_ui.commit();
    assert_eq!(inline_ui.inline.adoptable(), 3);
    inline_ui.inline.adopt(3);
    inline_ui.stage.text(" on)** and end.\n\nNext\none");
    assert_eq!(inline_ui.commit(), ["on) and", "end.", ""]);
}

#[test]
fn a_branch_is_told_and_nothing_is_written_twice() {
    let mut inline_ui = InlineUi::new(60, 20);
    inline_ui.stage.text("An answer.");
    inline_ui.stage.end(Outcome::Cancelled);
    assert!(inline_ui.commit().contains(&"An answer.".to_owned()));
    inline_ui.stage.happen(Body::Session(SessionEvent::LeafMoved { leaf: Some(EntryId(3)) }));
    assert_eq!(inline_ui.commit(), ["", "── another branch, after “begin” ──"]);
    inline_ui.stage.happen(Body::Session(SessionEvent::LeafMoved { leaf: None }));
    assert_eq!(inline_ui.commit(), ["", "── from the beginning ──"]);
    assert!(inline_ui.commit().is_empty());
    inline_ui.inline.print_again();
    inline_ui.stage.happen(Body::Session(SessionEvent::LeafMoved { leaf: Some(EntryId(3)) }));
    assert_eq!(inline_ui.commit()[..3], ["", "── the conversation once more ──", "> begin"]);
}

#[test]
fn what_the_person_said_is_no_longer_than_it_is() {
    let mut inline_ui = InlineUi::new(40, 20);
    inline_ui.stage.ui.wear(crate::theme::Theme::Dark);
    let frame = inline_ui.inline.frame(&inline_ui.stage.ui.model, &mut inline_ui.cache);
    assert_eq!(frame.commit[0].text(), "> begin");
    assert_eq!(frame.commit[0].fill, None, "a terminal that becomes narrower would make two rows of it");
}
