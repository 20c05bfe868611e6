//! Markdown in, rows out; and the same rows however the text was cut.

use super::*;
use crate::theme::Theme;
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn look(columns: usize) -> Appearance {
    Appearance { columns, theme: Theme::Terminal, open: true, whole: false, opens: None, pictures: false }
}

fn check(text: &str, columns: usize, expected: Expect) {
    let lines: Vec<String> =
        rows(text, look(columns)).iter().map(|row| row.text().trim_end().to_owned()).collect();
    expected.assert_eq(&(lines.join("\n") + "\n"));
}

#[test]
fn blocks_stand_apart_and_lists_hang() {
    check(
        "# Title\nSome *text* with `code` that is long enough to wrap.\n\n- one\n- two that is too long for one line\n  - inner\n\n1. first\n2. second\n\n> quoted text that wraps too\n>\n> more\n\n---\n- [x] done\n- [ ] open",
        24,
        expect![[r#"
            Title

            Some text with code that
            is long enough to wrap.

            • one
            • two that is too long
              for one line
              • inner

            1. first
            2. second

            ▌ quoted text that wraps
            ▌ too
            ▌
            ▌ more

            ────────────────────────

            ☑ done
            ☐ open
        "#]],
    );
}

#[test]
fn tables_fit_the_screen() {
    let table = "| key | what it does |\n|:---:|-----:|\n| Esc | stops the run at once |\n| `y` | yes |";
    check(
        table,
        60,
        expect![[r#"
        key │          what it does
        ────┼──────────────────────
        Esc │ stops the run at once
         y  │                   yes
    "#]],
    );
    check(
        table,
        20,
        expect![[r#"
        key │   what it does
        ────┼───────────────
        Esc │  stops the run
            │        at once
         y  │            yes
    "#]],
    );
}

#[test]
fn code_is_coloured_by_its_language() {
    let rows = rows("```rust\nlet x = \"a\"; // why\n/* open\nclosed */ fn\n```", look(40));
    let of = |row: &Row, role| {
        let style = Theme::Terminal.style(role);
        row.pieces.iter().skip(1).filter(|p| p.style == style).map(|p| p.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(of(&rows[0], Role::Keyword), ["let"]);
    assert_eq!(of(&rows[0], Role::Literal), ["\"a\""]);
    assert_eq!(of(&rows[0], Role::Comment), ["// why"]);
    assert_eq!(of(&rows[1], Role::Comment), ["/* open"]);
    assert_eq!(of(&rows[2], Role::Comment), ["closed */"]);
    assert_eq!(of(&rows[2], Role::Keyword), ["fn"]);
}

#[test]
fn only_addresses_a_person_would_open_are_links() {
    let link = |text: &str| {
        let rows = rows(text, look(60));
        rows.iter().flat_map(|row| &row.pieces).find_map(|piece| piece.link.clone())
    };
    assert_eq!(link("[a](https://example.org/x)").as_deref(), Some("https://example.org/x"));
    assert_eq!(link("[a](javascript:alert(1))"), None);
    assert_eq!(link("[a](https://e.org/%1b)").as_deref(), Some("https://e.org/%1b"));
}

const BLOCKS: &[&str] = &[
    "# Head\n",
    "para one\nwith two lines\n",
    "\n",
    "- item\n- item two\n  - inner\n",
    "\n\n",
    "1. a\n\n   more\n2. b\n",
    "```rust\nfn a() {\n\n}\n```\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "> quote\nlazy\n",
    "---\n",
    "    indented\n",
    "*open emphasis",
    "`tick ",
    "日本語 👍 text\n",
    "Setext\n====\n",
    "<div>\nhtml\n</div>\n",
    "red \u{1b}[31mtext\n",
];

proptest! {
    #![proptest_config(testkit::cases(120))]
    #[test]
    fn a_stream_shows_what_the_whole_shows(
        blocks in prop::collection::vec(prop::sample::select(BLOCKS), 0..10),
        cuts in prop::collection::vec(1usize..12, 1..80),
        columns in 8usize..50,
    ) {
        let text = blocks.join("\n");
        let mut stream = Stream::default();
        let mut end = 0;
        for cut in cuts.iter().cycle() {
            end = (end + cut).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            let (head, tail) = stream.rows(&text[..end], look(columns));
            let whole = rows(&text[..end], look(columns));
            let streamed: Vec<Row> = head.iter().cloned().chain(tail).collect();
            let show = |rows: &[Row]| rows.iter().map(|r| r.text().trim_end().to_owned()).collect::<Vec<_>>().join("\n").trim_end().to_owned();
            prop_assert_eq!(show(&streamed), show(&whole), "{:?}", &text[..end]);
            if end == text.len() {
                break;
            }
        }
    }

    #[test]
    fn nothing_is_wider_than_the_screen(text in "[-#>*`|_\\[\\]()a-z0-9 \n日]{0,120}", columns in 24usize..60) {
        for row in rows(&text, look(columns)) {
            prop_assert!(row.width() <= columns || row.text().contains('│') || row.text().contains('▌') || row.text().contains('•'), "{:?}", row.text());
        }
    }
}

#[test]
fn an_address_that_stands_alone_is_a_link() {
    let text = "See https://example.org/a_b_c?q=1. Not `https://in.code` nor\n\n```\nhttps://in.block\n```\n";
    let rows = rows(text, look(60));
    let links: Vec<&Piece> = rows.iter().flat_map(|row| &row.pieces).filter(|p| p.link.is_some()).collect();
    assert_eq!(links.len(), 1, "{rows:?}");
    assert_eq!(links[0].text, "https://example.org/a_b_c?q=1");
    assert_eq!(links[0].link.as_deref(), Some("https://example.org/a_b_c?q=1"));
    assert_eq!(links[0].style, Theme::Terminal.style(Role::Link));
}

#[test]
fn running_text_is_never_wider_than_can_be_read() {
    let words = "word ".repeat(60);
    let text = format!("{words}\n\n- {words}\n\n> {words}\n\n```\n{}\n```\n", "x".repeat(150));
    let rows = rows(&text, look(198));
    let (code, prose): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.text().contains('x'));
    assert!(prose.iter().all(|row| row.width() <= 100) && prose[0].width() > 90);
    assert_eq!(code.iter().map(|row| row.width()).collect::<Vec<_>>(), [152], "code may be wider");
}
