//! The modules of a crate and who names whom: `crate::a`, `super::a`, and what the crate's root re-exports from `a`.
//!
//! A module is a file or folder right under `src` (`a.rs` with `a/` is one), or a `mod` that stands in the root itself. The root is
//! one too, as far as it has items of its own: declaring its modules and re-exporting what they have is no use of them.
//! What it is not: a compiler. Names that a macro makes up are not seen.

use std::collections::BTreeMap;

use crate::program::{Program, line_of};

/// What the root of a crate is called here.
pub(super) const ROOT: &str = "lib";
/// The files that can be one.
const ROOTS: &[&str] = &["lib.rs", "main.rs"];

/// One crate by its modules.
#[derive(Debug, Default)]
pub(super) struct Modules {
    pub(super) name: String,
    /// The length of each module, all its files together.
    pub(super) lines: BTreeMap<String, usize>,
    /// Who names whom, and where first: `file:line`.
    pub(super) arrows: BTreeMap<String, BTreeMap<String, String>>,
}

/// Every crate among these sources.
pub(super) fn crates(sources: &[Program<'_>]) -> Vec<Modules> {
    let mut files: BTreeMap<&str, Vec<File<'_>>> = BTreeMap::new();
    for source in sources {
        if let Some(file) = File::of(source) {
            files.entry(file.folder).or_default().push(file);
        }
    }
    files.iter().map(|(folder, files)| modules(folder, files)).collect()
}

/// One file of a crate.
struct File<'s> {
    /// The crate's folder.
    folder: &'s str,
    /// The modules that it is in, outermost first; nothing for the root.
    path: Vec<&'s str>,
    source: &'s Program<'s>,
}

impl<'s> File<'s> {
    fn of(source: &'s Program<'s>) -> Option<Self> {
        let (folder, inside) = source.path.split_once("/src/")?;
        let root = ROOTS.contains(&inside);
        let path = if root { Vec::new() } else { inside.trim_end_matches(".rs").split('/').collect() };
        Some(Self { folder, path, source })
    }

    fn is_root(&self) -> bool {
        self.path.is_empty()
    }
}

fn modules(folder: &str, files: &[File<'_>]) -> Modules {
    // A crate with both has a program of a few lines that uses it by its name, like anybody else.
    let root = ROOTS.iter().find_map(|name| {
        files.iter().find(|file| file.is_root() && file.source.path.ends_with(&format!("/{name}")))
    });
    let code = root.map_or("", |root| root.source.code.as_str());
    let names = Names::of(code, files);
    let mut found =
        Modules { name: folder.rsplit('/').next().unwrap_or_default().to_owned(), ..Modules::default() };
    for file in files {
        if file.is_root() && root.is_none_or(|root| root.source.path != file.source.path) {
            continue;
        }
        let module = file.path.first().copied().unwrap_or(ROOT);
        *found.lines.entry(module.to_owned()).or_default() += file.source.code.lines().count();
        let inline = inline_modules(&file.source.code);
        for (at, name) in named(file, &inline, &names) {
            let own = match inline.iter().find(|inline| file.is_root() && inline.holds(at)) {
                Some(inline) => inline.name,
                None => module,
            };
            let used = names.module(name);
            if let Some(used) = used.filter(|used| *used != own) {
                let place = || format!("{}:{}", file.source.path, line_of(&file.source.code, at));
                found.arrows.entry(own.to_owned()).or_default().entry(used.to_owned()).or_insert_with(place);
            }
        }
    }
    found
}

/// What a name in the root stands for.
#[derive(Default)]
struct Names<'s> {
    modules: Vec<&'s str>,
    /// A re-exported name and the first word of where it comes from.
    exported: BTreeMap<&'s str, &'s str>,
}

impl<'s> Names<'s> {
    fn of(root: &'s str, files: &[File<'s>]) -> Self {
        let mut modules: Vec<&str> = files.iter().filter_map(|file| file.path.first().copied()).collect();
        modules.extend(inline_modules(root).iter().filter(|inline| inline.depth == 0).map(|one| one.name));
        modules.sort_unstable();
        modules.dedup();
        let mut exported = BTreeMap::new();
        for (begin, _) in words(root).filter(|(_, word)| *word == "use") {
            exports(&root[begin + "use".len()..], None, &mut exported);
        }
        Self { modules, exported }
    }

    /// The module behind a name at the root; none for one of another crate.
    fn module(&self, name: &'s str) -> Option<&'s str> {
        if self.modules.contains(&name) {
            return Some(name);
        }
        match self.exported.get(name) {
            Some(from) if self.modules.contains(from) => Some(from),
            Some(_) => None,
            None => Some(ROOT),
        }
    }
}

/// Reads one tree of a `use`: each name that it brings, with the first word of its path. Returns what is after it.
fn exports<'s>(tree: &'s str, first: Option<&'s str>, into: &mut BTreeMap<&'s str, &'s str>) -> &'s str {
    let mut rest = tree.trim_start();
    let (mut first, mut last) = (first, "");
    loop {
        let word = word_at(rest);
        rest = rest[word.len()..].trim_start();
        if !matches!(word, "crate" | "self" | "") {
            first = first.or(Some(word));
            last = word;
        }
        if let Some(more) = rest.strip_prefix("::") {
            rest = more.trim_start();
        } else if let Some(more) = rest.strip_prefix('{') {
            rest = more;
            loop {
                rest = exports(rest, first, into).trim_start();
                match rest.strip_prefix(',') {
                    Some(more) if !more.trim_start().starts_with('}') => rest = more,
                    Some(more) => break rest = more,
                    None => break,
                }
            }
            return rest.trim_start().strip_prefix('}').unwrap_or(rest);
        } else {
            break;
        }
    }
    if let Some(renamed) = rest.strip_prefix("as ") {
        last = word_at(renamed.trim_start());
        rest = &renamed.trim_start()[last.len()..];
    }
    if let Some(first) = first.filter(|_| !last.is_empty()) {
        into.insert(last, first);
    }
    rest
}

/// A `mod name { … }` of a file.
struct Inline<'s> {
    name: &'s str,
    begin: usize,
    end: usize,
    /// In how many others it is.
    depth: usize,
}

impl Inline<'_> {
    fn holds(&self, at: usize) -> bool {
        (self.begin..self.end).contains(&at)
    }
}

fn inline_modules(code: &str) -> Vec<Inline<'_>> {
    let mut found: Vec<Inline<'_>> = Vec::new();
    for (at, _) in words(code).filter(|(_, word)| *word == "mod") {
        let name = word_at(code[at + "mod".len()..].trim_start());
        let begin = at + code[at..].find([';', '{']).unwrap_or(code.len() - at);
        if code[begin..].starts_with('{') && !name.is_empty() {
            let end = begin + length_in_brackets(&code[begin..]);
            let depth = found.iter().filter(|outer| outer.holds(at)).count();
            found.push(Inline { name, begin, end, depth });
        }
    }
    found
}

/// How long what stands in brackets is that begins here, with them.
fn length_in_brackets(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, sign) in code.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

/// The names at the root of the crate that a file uses, and where.
fn named<'s>(file: &File<'s>, inline: &[Inline<'_>], names: &Names<'s>) -> Vec<(usize, &'s str)> {
    let code = file.source.code.as_str();
    let mut found = Vec::new();
    let mut exported = 0..0;
    for (at, word) in words(code) {
        let after = code[at + word.len()..].trim_start();
        let before = code[..at].trim_end();
        if file.is_root() && word == "use" && before.ends_with(['b', ')']) {
            // `pub use`, `pub(crate) use`: a name for others.
            exported = at..at + code[at..].find(';').unwrap_or(code.len() - at);
        }
        let Some(path) = after.strip_prefix("::").filter(|_| !exported.contains(&at)) else { continue };
        let goes_on = before.ends_with("::");
        let depth = file.path.len() + inline.iter().filter(|inline| inline.holds(at)).count();
        match word {
            // `pub(in crate::a)` says who may see something, and uses nothing.
            "crate" if !goes_on && !before.ends_with("(in") => at_root(path, 0, at, &mut found),
            "super" if !before.ends_with("super::") => at_root(path, depth.saturating_sub(1), at, &mut found),
            _ if depth == 0 && !goes_on && names.modules.contains(&word) => found.push((at, word)),
            _ => {}
        }
    }
    found
}

/// Reads the names that follow `crate::` or `super::`, `above` modules below the root.
fn at_root<'s>(path: &'s str, above: usize, at: usize, found: &mut Vec<(usize, &'s str)>) {
    let path = path.trim_start();
    if let Some(group) = path.strip_prefix('{') {
        for part in parts(group) {
            at_root(part, above, at, found);
        }
        return;
    }
    let word = word_at(path);
    match path[word.len()..].trim_start().strip_prefix("::") {
        Some(rest) if word == "super" => at_root(rest, above.saturating_sub(1), at, found),
        _ if above > 0 || word == "self" => {}
        // A glob takes what the root has.
        _ => found.push((at, if word.is_empty() { ROOT } else { word })),
    }
}

/// The parts of a group, whose opening bracket is read already.
fn parts(group: &str) -> Vec<&str> {
    let (mut depth, mut begin) = (0_usize, 0);
    let mut found = Vec::new();
    for (at, sign) in group.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' if depth > 0 => continue,
            ',' | '}' => {
                found.push(&group[begin..at]);
                begin = at + 1;
                if sign == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    found.retain(|part| !part.trim().is_empty());
    found
}

fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

fn word_at(text: &str) -> &str {
    &text[..text.find(|sign| !is_word(sign)).unwrap_or(text.len())]
}

fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.split(|sign| !is_word(sign))
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - code.as_ptr() as usize, word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::sources;
    use crate::tree::Page;

    fn pages(files: &[(&str, &str)]) -> Vec<Page> {
        let page = |(path, text): &(&str, &str)| Page {
            path: format!("crates/a/src/{path}"),
            text: (*text).to_owned(),
        };
        files.iter().map(page).collect()
    }

    /// The arrows as text, each with its line.
    fn arrows(files: &[(&str, &str)]) -> Vec<String> {
        let pages = pages(files);
        let crates = crates(&sources(&pages));
        assert_eq!(crates.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["a"]);
        let of = |(from, used): (&String, &BTreeMap<String, String>)| {
            used.iter()
                .map(|(to, place)| format!("{from} {to} {}", place.trim_start_matches("crates/a/src/")))
                .collect::<Vec<_>>()
        };
        crates[0].arrows.iter().flat_map(of).collect()
    }

    #[track_caller]
    fn uses(code: &str, wanted: &[&str]) {
        let root = "mod up;\nmod side;\nmod low;\nmod ours { pub const A: u8 = 1; }\n\
                    pub use side::{Thing, deep::Other as Renamed, more::{First, Second}};\n\
                    pub use outside::Dialect;\nfn own() {}\n";
        let files = [("lib.rs", root), ("up/deep.rs", code), ("up.rs", ""), ("side.rs", ""), ("low.rs", "")];
        let found: Vec<String> = arrows(&files)
            .iter()
            .filter_map(|arrow| arrow.strip_prefix("up ")?.split(' ').next().map(str::to_owned))
            .collect();
        assert_eq!(found, wanted, "{code}");
    }

    #[test]
    fn a_module_is_named_in_every_spelling() {
        uses("use crate::low::X;", &["low"]);
        uses("use crate::low;", &["low"]);
        uses("use crate::{low, side::{A, B}};", &["low", "side"]);
        uses("use crate::{\n    up::X,\n    low::{\n        A,\n        B,\n    },\n};", &["low"]);
        uses("use super::super::low::X;", &["low"]);
        uses("use super::{super::low, other};", &["low"]);
        uses("fn f() -> crate::low::X { crate::side::f(super::g(), self::h()) }", &["low", "side"]);
        uses("macro_rules! m { () => { $crate::low::f() } }", &["low"]);
        uses("mod inner { use super::super::super::low::X; }", &["low"]);
        uses("mod inner { use super::super::low::X; }", &[]);
        uses("use super::low::X;", &[]);
        uses("use low::X; use other::crates::low;", &[]);
        uses("pub(in crate::up) fn f() {}", &[]);
        uses("use crate::ours::A;", &["ours"]);
    }

    #[test]
    fn what_the_root_re_exports_is_its_modules() {
        for name in ["Thing", "Renamed", "First", "Second"] {
            uses(&format!("use crate::{name};"), &["side"]);
        }
        uses("use crate::Dialect;", &[]);
        uses("use crate::own;", &["lib"]);
        uses("use crate::*;", &["lib"]);
    }

    #[test]
    fn comments_strings_and_tests_name_nobody() {
        uses("// crate::low\n/// [`crate::low`]\nfn f() { \"crate::low\"; }", &[]);
        uses("#[cfg(test)]\nmod tests {\n    use crate::low;\n}", &[]);
        uses("#[cfg(test)]\nuse crate::low;\nuse crate::side;", &["side"]);
        let files = [
            ("lib.rs", "mod up;\n#[cfg(test)]\nmod bench;\n"),
            ("up.rs", "fn f() {}"),
            ("up/tests.rs", "use crate::bench;"),
            ("bench.rs", "use crate::up;"),
        ];
        assert_eq!(arrows(&files), Vec::<String>::new());
    }

    #[test]
    fn the_root_names_what_its_own_items_use() {
        let root = "mod up;\nmod low;\npub use up::A;\npub(crate) use low::B;\n\nfn f() { up::run(crate::low::X) }\n";
        let files =
            [("lib.rs", root), ("up.rs", ""), ("low.rs", ""), ("main.rs", "fn main() { a::f(up::g()) }")];
        assert_eq!(arrows(&files), ["lib low lib.rs:6", "lib up lib.rs:6"]);
    }

    #[test]
    fn a_file_and_its_folder_are_one_module() {
        let files = [
            ("lib.rs", "mod up;\nmod low;\n"),
            ("up.rs", "mod deep;\nuse crate::up::deep::X;\n"),
            ("up/deep.rs", "use super::Y;\n\nuse crate::low::Z;\n"),
            ("low.rs", ""),
        ];
        assert_eq!(arrows(&files), ["up low up/deep.rs:3"]);
        let pages = pages(&files);
        assert_eq!(crates(&sources(&pages))[0].lines["up"], 5);
    }
}
