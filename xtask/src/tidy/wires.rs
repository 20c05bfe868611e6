//! Code that knows a wire by its name outside the wire's own folders: what differs between wires belongs into their descriptions.
//!
//! A wire is named by an identifier that has its name as a word (`lemon::Frame`, `LEMON_CODES`), and by a string that begins with it.
//! An example in a help text and the folder of a foreign program (`.lemon`) name none.

use crate::program::{Program, line_of};
use crate::tree::Page;

/// Where each foreign wire lives. The native one is ours: everybody may name it.
const WIRES: &str = "wires/";
/// Where the kit knows them apart from our code.
const CHECKED: &str = "crates/kit/src/check/wires/";
/// Wires that are called like a family of models: a string that begins with one may be about those, and so is what stands in `MODELS`
/// and the settings of lemon's document.
const CALLED_LIKE_MODELS: &[&str] = &["claude"];
const MODELS: &[&str] = &["crates/models/", "wires/lemon/"];
/// The lists of all wires.
const LISTS: &[&str] =
    &["crates/dialects/src/lib.rs", "crates/dialects/src/registry.rs", "crates/kit/src/check/wires.rs"];

/// Every place that names a wire and is none of its own.
pub(super) fn findings(pages: &[Page], programs: &[Program<'_>]) -> Vec<String> {
    let wires = wires(pages);
    programs.iter().flat_map(|program| of_program(program, &wires)).collect()
}

/// The foreign wires, by their crates.
fn wires(pages: &[Page]) -> Vec<&str> {
    let folders = pages.iter().filter_map(|page| page.path.strip_prefix(WIRES)?.strip_suffix("/src/lib.rs"));
    folders.filter(|name| *name != "native").collect()
}

fn of_program(program: &Program<'_>, wires: &[&str]) -> Vec<String> {
    let path = program.path;
    if LISTS.contains(&path) {
        return Vec::new();
    }
    let own = [WIRES, CHECKED]
        .iter()
        .find_map(|folder| path.strip_prefix(folder))
        .and_then(|rest| rest.split(['/', '.']).next());
    let mut found: Vec<(usize, &str)> = Vec::new();
    let of_models = |wire: &str| {
        MODELS.iter().any(|models| path.starts_with(models)) && CALLED_LIKE_MODELS.contains(&wire)
    };
    for wire in wires.iter().filter(|wire| Some(**wire) != own && !of_models(wire)) {
        found.extend(
            identifiers(&program.code)
                .filter(|(_, name)| has_word(name, wire))
                .map(|(at, _)| (line_of(&program.code, at), *wire)),
        );
        let named = program.strings.iter().filter(|(_, text)| begins_with(text, wire));
        let named = named.filter(|_| !CALLED_LIKE_MODELS.contains(wire));
        found.extend(named.map(|(line, _)| (*line, *wire)));
    }
    found.sort_unstable();
    found.dedup();
    found
        .into_iter()
        .map(|(line, wire)| {
            format!("{path}:{line}: names the wire `{wire}`: put what differs into its description")
        })
        .collect()
}

fn identifiers(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let name = |c: char| c.is_alphanumeric() || c == '_';
    code.split(move |c| !name(c))
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - code.as_ptr() as usize, word))
}

/// Whether one of the words that a name is made of is this: `LEMON_CODES`, `LemonUi`, `to_lemon`.
fn has_word(name: &str, wire: &str) -> bool {
    name.split('_').any(|part| {
        let matches = |from: usize| {
            part.get(from..from + wire.len()).is_some_and(|word| word.eq_ignore_ascii_case(wire))
                && part[from + wire.len()..].chars().next().is_none_or(|next| !next.is_lowercase())
        };
        let begins = part.char_indices().filter(|(at, c)| *at == 0 || c.is_uppercase()).map(|(at, _)| at);
        begins.into_iter().any(matches)
    })
}

fn begins_with(text: &str, wire: &str) -> bool {
    text.strip_prefix(wire).is_some_and(|rest| rest.chars().next().is_none_or(|next| !next.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::programs;

    fn page(path: &str, text: &str) -> Page {
        Page { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_wire_is_named_in_its_folders_only() {
        for (text, count) in [
            ("let x = dialects::morse::DIALECT;", 1),
            ("use dialects::morse; use morse::X;", 1),
            ("use dialects::{\n    morse,\n};", 1),
            ("const MORSE_SAVES: &str = \"\";", 1),
            ("struct MorseUi; fn of_morse() {}", 1),
            ("if name == \"morse\" {}", 1),
            ("if name.starts_with(\"morse-\") {}", 1),
            ("#[cfg(test)]\nmod tests;\nuse dialects::morse;", 1),
            ("// \"morse\" is old\nlet x = \"remorse\"; let remorse = morsel;", 0),
            ("let folder = \".morse\"; let help = \"parlor serve --dialect morse\";", 0),
            ("#[cfg(test)]\nmod tests { use dialects::morse::X; }", 0),
        ] {
            for (path, own) in [
                ("crates/parlor/src/serve.rs", false),
                ("wires/semaphore/src/wire.rs", false),
                ("crates/rolekit/src/narrator.rs", false),
                ("crates/kit/src/check/wires/semaphore.rs", false),
                ("wires/morse/src/wire.rs", true),
                ("wires/morse/src/quirks.rs", true),
                ("crates/kit/src/check/wires/morse/scenes.rs", true),
                ("crates/dialects/src/registry.rs", true),
                ("crates/parlor/tests/whole.rs", true),
            ] {
                let pages = [page("wires/morse/src/lib.rs", ""), page(path, text)];
                let found = findings(&pages, &programs(&pages));
                assert_eq!(found.len(), if own { 0 } else { count }, "{path}: {text}: {found:?}");
            }
        }
    }
}
