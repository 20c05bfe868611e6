//! What is handed out, row by row; how it looks in a terminal is tested with the painter.

use super::*;
use crate::update::tests::Stage;
use domain::event::{Body, Outcome, SessionEvent};
use domain::ids::EntryId;

struct Desk {
    stage: Stage,
    inline: Inline,
    cache: Cache,
}

impl Desk {
    fn new(columns: u16, rows: u16) -> Desk {
        let mut stage = Stage::new(columns, rows);
        stage.run("begin");
        Desk { stage, inline: Inline::default(), cache: Cache::default() }
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
    let mut desk = Desk::new(40, 20);
    assert_eq!(desk.commit(), ["> begin"]);
    desk.stage.text("First paragraph.\n\nSecond\none");
    assert_eq!(desk.commit(), ["", "First paragraph.", ""]);
    desk.stage.text("\n\nThird\none");
    assert_eq!(desk.commit(), ["Second", "one", ""]);
    assert!(desk.commit().is_empty());
    desk.stage.end(Outcome::Done);
    assert_eq!(desk.commit().first().map(String::as_str), Some("Third"));
}

#[test]
fn another_width_or_other_folds_take_nothing_back() {
    let mut desk = Desk::new(40, 20);
    desk.stage.text("First paragraph.\n\nSecond, which is a good deal longer\nthan one row of this");
    assert_eq!(desk.commit().len(), 4);
    desk.resize(24, 20);
    desk.stage.ui.keys("<ctrl-o>");
    assert!(desk.commit().is_empty());
    desk.stage.text(" line.\n\nThird\none");
    assert_eq!(
        desk.commit(),
        ["Second, which is a", "good deal longer", "than one row of this", "line.", ""]
    );
}

#[test]
fn a_block_longer_than_the_screen_leaves_row_by_row() {
    let mut desk = Desk::new(30, 10);
    desk.commit();
    let mut all = Vec::new();
    for number in 0..60 {
        desk.stage.text(&format!("word{number} "));
        all.extend(desk.commit());
    }
    assert!(all.len() > 5, "{all:?}");
    desk.stage.end(Outcome::Done);
    all.extend(desk.commit());
    let words: Vec<String> = all.iter().flat_map(|row| row.split(' ')).map(str::to_owned).collect();
    let said: Vec<String> = words.into_iter().filter(|word| word.starts_with("word")).collect();
    assert_eq!(said, (0..60).map(|number| format!("word{number}")).collect::<Vec<_>>());
}

#[test]
fn rows_that_left_the_screen_are_not_said_again_though_their_markup_closes() {
    let mut desk = Desk::new(24, 20);
    desk.commit();
    desk.stage.text("some **bold words that go on (and");
    desk.commit();
    assert_eq!(desk.inline.adoptable(), 3);
    desk.inline.adopt(3);
    desk.stage.text(" on)** and end.\n\nNext\none");
    assert_eq!(desk.commit(), ["on) and", "end.", ""]);
}

#[test]
fn a_branch_is_told_and_nothing_is_written_twice() {
    let mut desk = Desk::new(60, 20);
    desk.stage.text("An answer.");
    desk.stage.end(Outcome::Cancelled);
    assert!(desk.commit().contains(&"An answer.".to_owned()));
    desk.stage.happen(Body::Session(SessionEvent::LeafMoved { leaf: Some(EntryId(3)) }));
    assert_eq!(desk.commit(), ["", "── another branch, after “begin” ──"]);
    desk.stage.happen(Body::Session(SessionEvent::LeafMoved { leaf: None }));
    assert_eq!(desk.commit(), ["", "── from the beginning ──"]);
    assert!(desk.commit().is_empty());
    desk.inline.print_again();
    desk.stage.happen(Body::Session(SessionEvent::LeafMoved { leaf: Some(EntryId(3)) }));
    assert_eq!(desk.commit()[..3], ["", "── the conversation once more ──", "> begin"]);
}
