//! The composer's editing, by tables of keys.

use super::*;
use crate::key::Key;
use proptest::prelude::*;

fn typed(keys: &str) -> Editor {
    let mut editor = Editor::default();
    press(&mut editor, keys);
    editor
}

fn press(editor: &mut Editor, keys: &str) {
    let mut rest = keys;
    while let Some(c) = rest.chars().next() {
        let name = rest.strip_prefix('<').and_then(|r| r.split_once('>'));
        if let Some((name, after)) = name {
            editor.key(name.parse().unwrap());
            rest = after;
        } else {
            editor.key(Key::char(c));
            rest = &rest[c.len_utf8()..];
        }
    }
}

#[test]
fn keys_do_what_people_expect() {
    for (keys, text, caret) in [
        ("hello", "hello", 5),
        ("hello<home>x", "xhello", 1),
        ("one two<ctrl-w>", "one ", 4),
        ("one two<ctrl-w><ctrl-y><ctrl-y>", "one twotwo", 10),
        ("one two<ctrl-a><ctrl-k>", "", 0),
        ("one two<alt-b><ctrl-u>", "two", 0),
        ("a<ctrl-j>b<ctrl-a><ctrl-k>", "a\n", 2),
        ("a<ctrl-j>b<up>", "a\nb", 3),
        ("ab<ctrl-t>", "ba", 2),
        ("日本<left><backspace>", "本", 0),
        ("👩‍👩‍👧x<left><left>y", "y👩‍👩‍👧x", 1),
        ("one two<ctrl-_>", "one", 3),
        ("one two<ctrl-_><alt-Z>", "one two", 7),
        ("abc<left><ctrl-d>", "ab", 2),
    ] {
        let editor = typed(keys);
        assert_eq!((editor.text(), editor.caret()), (text, caret), "{keys}");
    }
}

#[test]
fn a_big_paste_is_a_mark_until_it_is_sent_and_goes_as_a_whole() {
    let paste = "line\n".repeat(40);
    let mut editor = typed("see ");
    editor.paste(&paste);
    assert_eq!(editor.text(), "see [paste 1: 40 lines, 200 characters]");
    assert_eq!(editor.unfolded(), format!("see {paste}"));
    press(&mut editor, "<backspace>");
    assert_eq!(editor.text(), "see ");
    editor.paste("small\u{1b}[2J");
    assert_eq!(editor.take().unfolded(), "see small");
    assert!(editor.is_empty());
}

#[test]
fn history_walks_back_and_returns_to_the_draft() {
    let mut history = History::default();
    history.load(vec!["one".into(), "two".into()]);
    let text = |text: &str| Some(FoldedText::plain(text));
    assert_eq!(history.earlier(FoldedText::plain("draft")), text("two"));
    assert_eq!(history.earlier(FoldedText::plain("two")), text("one"));
    assert_eq!(history.earlier(FoldedText::plain("one")), None);
    assert_eq!(history.later(), text("two"));
    assert_eq!(history.later(), text("draft"));
    assert_eq!(history.later(), None);
}

#[test]
fn an_earlier_prompt_comes_back_with_its_paste_folded() {
    let (first, second) = ("line\n".repeat(40), "other\n".repeat(30));
    let said = |paste: &str| format!("see {paste} please");
    let mut composer = Composer::default();
    for paste in [&first, &second] {
        composer.insert("see ");
        composer.paste(paste);
        composer.insert(" please");
        assert_eq!(composer.submit(), Some(said(paste)));
    }
    composer.earlier();
    assert_eq!(composer.text(), "see [paste 1: 30 lines, 180 characters] please");
    assert_eq!(composer.unfolded(), said(&second));
    composer.earlier();
    assert_eq!((composer.text().len(), composer.unfolded()), (46, said(&first)));
    // One more paste gets a mark of its own, and all of it is said.
    composer.paste(&second);
    assert_eq!(
        composer.text(),
        "see [paste 1: 40 lines, 200 characters] please[paste 2: 30 lines, 180 characters]"
    );
    assert_eq!(composer.submit(), Some(format!("{}{}", said(&first), second.trim_end())));
    // What is put away comes back the same way, and a draft that was left for an earlier prompt too.
    composer.paste(&first);
    assert_eq!(composer.put_away(), first);
    composer.earlier();
    assert_eq!(
        (composer.text(), composer.unfolded()),
        ("[paste 1: 40 lines, 200 characters]", first.clone())
    );
    composer.earlier();
    composer.later();
    assert_eq!(composer.unfolded(), first);
}

proptest! {
    #[test]
    fn the_caret_is_always_inside_its_row(text in "[ab日👍é \n]{0,60}", at in 0usize..80, columns in 2usize..20) {
        let mut editor = Editor::with(text);
        editor.move_to(at);
        let laid = lay_out(editor.text(), editor.caret(), columns);
        prop_assert!(laid.caret.row < laid.rows.len());
        prop_assert!(laid.caret.column <= columns);
        let joined: usize = laid.rows.iter().map(|(from, to)| to - from).sum();
        let breaks = editor.text().matches('\n').count();
        prop_assert_eq!(joined + breaks, editor.text().len());
    }

    #[test]
    fn no_keys_break_the_editor(keys in prop::collection::vec(prop::sample::select(vec![
        "left", "right", "home", "end", "backspace", "delete", "ctrl-w", "ctrl-k", "ctrl-u", "ctrl-y", "ctrl-t", "alt-b", "alt-f",
        "alt-d", "ctrl-_", "alt-Z", "a", "é", "👩", " ", "ctrl-j",
    ]), 0..60)) {
        let mut editor = Editor::default();
        for key in keys {
            editor.key(key.parse().unwrap());
            prop_assert!(editor.text().is_char_boundary(editor.caret()));
        }
    }
}
