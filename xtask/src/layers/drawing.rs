//! The crates in ARCHITECTURE.md: a drawing of the arrows, made from the table, and what each row says that a crate may use.
//!
//! An arrow that follows from others is left out of the drawing, so that it can be read; the rows have all of them.

use super::{BINARY, Layer, listed};
use crate::tree::Page;

/// The page that has the drawing and the rows.
pub(super) const PAGE: &str = "ARCHITECTURE.md";
const BEGIN: &str = "```mermaid\n";
const END: &str = "```\n";
/// How a row says that a crate uses none of ours.
const NONE: &str = "–";

/// What is not so on the page.
pub(super) fn findings(layers: &[Layer], page: &Page) -> Vec<String> {
    let mut found = Vec::new();
    match drawn(&page.text) {
        None => found.push(format!("{PAGE}: has no drawing of the crates: put a `mermaid` block there")),
        Some((_, old, _)) if old != drawing(layers) => {
            found.push(format!("{PAGE}: the drawing of the crates is out of date: run `cargo xtask docs`"));
        }
        Some(_) => {}
    }
    for layer in ours(layers) {
        let wanted = match layer {
            Layer { name: BINARY, .. } => "all".to_owned(),
            Layer { uses: [], .. } => NONE.to_owned(),
            Layer { uses, .. } => listed(uses),
        };
        let begins = format!("| `{}` |", layer.name);
        let row = page.text.lines().find(|line| line.starts_with(&begins));
        let said = row.and_then(|row| row.trim_end_matches('|').rsplit('|').next()).map(str::trim);
        if said != Some(&wanted) {
            let said =
                said.map_or_else(|| "it has no row".to_owned(), |said| format!("the page says: {said}"));
            found.push(format!("{PAGE}: `{}` may use: {wanted}; {said}", layer.name));
        }
    }
    found
}

/// The page with a fresh drawing; `None` where it has no place for one.
pub(super) fn redrawn(layers: &[Layer], text: &str) -> Option<String> {
    let (before, _, after) = drawn(text)?;
    Some(format!("{before}{}{after}", drawing(layers)))
}

/// The page before, in and after its drawing.
fn drawn(text: &str) -> Option<(&str, &str, &str)> {
    let begin = text.find(BEGIN)? + BEGIN.len();
    let end = begin + text.get(begin..)?.find(END)?;
    Some((&text[..begin], &text[begin..end], &text[end..]))
}

fn drawing(layers: &[Layer]) -> String {
    let mut lines = vec!["graph TD".to_owned()];
    for layer in ours(layers).rev() {
        for used in layer.uses {
            let beside = layer.uses.iter().filter(|other| *other != used);
            if !beside.into_iter().any(|other| reaches(layers, other, used)) {
                lines.push(format!("    {} --> {used}", layer.name));
            }
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

/// The crates that make up the program.
fn ours(layers: &[Layer]) -> impl DoubleEndedIterator<Item = &Layer> {
    layers.iter().filter(|layer| layer.name != "xtask")
}

fn reaches(layers: &[Layer], from: &str, to: &str) -> bool {
    let uses = layers.iter().find(|layer| layer.name == from).map_or(&[][..], |layer| layer.uses);
    uses.contains(&to) || uses.iter().any(|used| reaches(layers, used, to))
}

#[cfg(test)]
mod tests {
    use super::super::Outside;
    use super::*;

    const fn layer(name: &'static str, uses: &'static [&'static str]) -> Layer {
        Layer { name, why: "", uses, outside: Outside::Any }
    }

    const HOUSE: &[Layer] = &[
        layer("ground", &[]),
        layer("wall", &["ground"]),
        layer("roof", &["ground", "wall"]),
        layer(BINARY, &["ground", "wall", "roof"]),
        layer("xtask", &[]),
    ];
    const DRAWN: &str = "graph TD\n    parlor --> roof\n    roof --> wall\n    wall --> ground\n";
    const ROWS: &str = "| `ground` | x | – |\n| `wall` | x | ground |\n| `roof` | a, b | ground, wall |\n| `parlor` | x | all |\n";

    fn page(drawing: &str, rows: &str) -> Page {
        Page { path: PAGE.to_owned(), text: format!("# A\n```mermaid\n{drawing}```\n{rows}") }
    }

    #[test]
    fn arrows_that_follow_from_others_are_left_out() {
        assert_eq!(drawing(HOUSE), DRAWN);
    }

    #[test]
    fn a_true_page_passes_and_a_stale_one_is_redrawn() {
        assert_eq!(findings(HOUSE, &page(DRAWN, ROWS)), Vec::<String>::new());
        let stale = page("graph TD\n    roof --> ground\n", ROWS);
        let found = findings(HOUSE, &stale);
        assert!(found.len() == 1 && found[0].contains("out of date"), "{found:?}");
        assert_eq!(redrawn(HOUSE, &stale.text), Some(page(DRAWN, ROWS).text));
    }

    #[test]
    fn a_row_that_says_too_little_or_is_missing_is_named() {
        let rows = ROWS
            .replace("| a, b | ground, wall |", "| a, b | wall |")
            .replace("| `wall` | x | ground |\n", "");
        let found = findings(HOUSE, &page(DRAWN, &rows));
        assert_eq!(
            found,
            [
                "ARCHITECTURE.md: `wall` may use: ground; it has no row",
                "ARCHITECTURE.md: `roof` may use: ground, wall; the page says: wall",
            ]
        );
    }

    #[test]
    fn a_page_without_a_drawing_is_found() {
        let bare = Page { path: PAGE.to_owned(), text: ROWS.to_owned() };
        let found = findings(HOUSE, &bare);
        assert!(found.len() == 1 && found[0].contains("no drawing"), "{found:?}");
        assert_eq!(redrawn(HOUSE, &bare.text), None);
    }
}
