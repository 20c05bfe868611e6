//! The items of a source file with their doc comments, read line by line: enough to judge comments, no parser of Rust.
//!
//! It relies on the code being formatted (an item begins its line, and what belongs to it is indented). Left out is what no reader of
//! the program's documentation sees: tests, macro bodies and raw strings.

use crate::tree::Page;

/// One item, field or variant, as far as its comment can be judged.
pub(super) struct Item<'t> {
    pub(super) kind: ItemKind,
    pub(super) public: bool,
    pub(super) name: &'t str,
    /// The type or trait it belongs to; empty at the top.
    pub(super) owner: &'t str,
    /// The rest of a field's, variant's or constant's line: its type.
    pub(super) value: &'t str,
    pub(super) comment: Vec<&'t str>,
    /// Where to look: the comment's first line, or the item's if there is none.
    pub(super) line: usize,
}

/// What a comment is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    Type,
    Trait,
    Function,
    /// A field, a variant or a constant.
    Value,
}

/// A line that begins something with a body.
struct Block<'t> {
    indent: usize,
    name: &'t str,
    public_trait: bool,
}

/// What was read since the last item: comment and attributes belong to the next one.
#[derive(Default)]
struct Before<'t> {
    comment: Vec<&'t str>,
    line: usize,
    test: bool,
    /// An attribute that goes on: its closing bracket stands alone at this indent.
    attribute: Option<usize>,
}

/// Reads the items of a file in order.
pub(super) fn items(text: &str) -> Vec<Item<'_>> {
    let mut found = Vec::new();
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut before = Before::default();
    // The mark that ends the raw string, or the indent of the brace that ends the skipped item.
    let mut raw: Option<String> = None;
    let mut skipped: Option<usize> = None;
    for (at, full) in text.lines().enumerate() {
        let line = full.trim();
        let indent = full.len() - full.trim_start().len();
        if let Some(end) = &raw {
            if full.contains(end.as_str()) {
                raw = None;
            }
            continue;
        }
        raw = raw_string(line);
        if let Some(until) = skipped {
            if indent <= until && line.starts_with('}') {
                skipped = None;
            }
            continue;
        }
        if let Some(until) = before.attribute {
            if indent == until && line.ends_with(']') {
                before.attribute = None;
            }
            continue;
        }
        if let Some(comment) = line.strip_prefix("///") {
            if before.comment.is_empty() {
                before.line = at + 1;
            }
            before.comment.push(comment);
            continue;
        }
        if line.starts_with("#[") {
            before.test |= is_test(line);
            before.attribute = (!line.ends_with(']')).then_some(indent);
            continue;
        }
        if line.is_empty() || line.starts_with("//") {
            continue;
        }
        if line != "{" && !line.starts_with("where") && !line.starts_with(['}', ')']) {
            while blocks.last().is_some_and(|block| block.indent >= indent) {
                blocks.pop();
            }
        }
        let Before { comment, line: first, test, .. } = std::mem::take(&mut before);
        if test || line.starts_with("macro_rules!") {
            skipped = (!line.ends_with([';', '}', ','])).then_some(indent);
            continue;
        }
        let Some(read) = read(line) else { continue };
        let owner = blocks.last();
        let inherited =
            read.kind == Some(ItemKind::Function) && owner.is_some_and(|block| block.public_trait);
        if let Some(kind) = read.kind.filter(|kind| *kind != ItemKind::Value || !comment.is_empty()) {
            found.push(Item {
                kind,
                public: read.public || inherited,
                name: read.name,
                owner: owner.map_or("", |block| block.name),
                value: if kind == ItemKind::Value { read.rest } else { "" },
                line: if comment.is_empty() { at + 1 } else { first },
                comment,
            });
        }
        if read.opens {
            let public_trait = read.kind == Some(ItemKind::Trait) && read.public;
            blocks.push(Block { indent, name: read.name, public_trait });
        }
    }
    found
}

/// Where the files of the test modules that this file declares are, without their ending.
pub(crate) fn test_modules(page: &Page) -> Vec<String> {
    let path = page.path.trim_end_matches(".rs");
    let folder = match path.rsplit_once('/') {
        Some((folder, "lib" | "main")) => folder,
        _ => path,
    };
    let mut found = Vec::new();
    let mut test = false;
    for line in page.text.lines().map(str::trim) {
        let declared = line.strip_suffix(';').and_then(|line| line.rsplit_once("mod "));
        match declared {
            Some((_, name)) if test => found.push(format!("{folder}/{name}")),
            _ => {}
        }
        test = is_test(line) || test && line.starts_with("#[");
    }
    found
}

fn is_test(attribute: &str) -> bool {
    ["#[cfg(test)]", "#[cfg(any(test", "#[cfg(all(test", "#[test]"]
        .iter()
        .any(|test| attribute.starts_with(test))
}

/// What one line declares.
struct Read<'t> {
    /// Nothing for what has a body but is no item to judge: an `impl`.
    kind: Option<ItemKind>,
    public: bool,
    name: &'t str,
    rest: &'t str,
    opens: bool,
}

fn read(line: &str) -> Option<Read<'_>> {
    let (public, mut rest) = visibility(line);
    if let Some(constant) = rest.strip_prefix("const ").or_else(|| rest.strip_prefix("static ")) {
        let named = constant.split(':').next().unwrap_or_default();
        if constant.contains(':') && is_name(named) {
            return Some(Read {
                kind: Some(ItemKind::Value),
                public,
                name: named,
                rest: value(&constant[named.len()..]),
                opens: false,
            });
        }
    }
    for qualifier in ["default ", "const ", "async ", "unsafe ", "extern \"C\" "] {
        rest = rest.strip_prefix(qualifier).unwrap_or(rest);
    }
    if rest.starts_with("impl")
        && !is_name(rest.split([' ', ':', ',', '(']).next()?.trim_start_matches("impl"))
    {
        // `impl<T> Trait<T> for Type<T> {`: the type owns what stands in it.
        let head = rest.split(" where ").next().unwrap_or(rest);
        let owner = head
            .rsplit_once(" for ")
            .map_or_else(|| after_generics(&head["impl".len()..]), |(_, owner)| owner);
        return Some(Read { kind: None, public, name: owner, rest: "", opens: true });
    }
    let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
    let kind = match word {
        "fn" => ItemKind::Function,
        "struct" | "enum" | "union" | "type" => ItemKind::Type,
        "trait" => ItemKind::Trait,
        "use" | "mod" | "let" | "return" | "if" | "match" | "for" | "while" | "loop" => return None,
        _ => ItemKind::Value,
    };
    let named = if kind == ItemKind::Value { rest } else { after };
    let name = &named[..named.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(named.len())];
    let opens = kind != ItemKind::Value && kind != ItemKind::Function && !line.ends_with([';', '}']);
    is_name(name).then(|| Read { kind: Some(kind), public, name, rest: value(&named[name.len()..]), opens })
}

/// The line without its visibility, and whether it has one.
fn visibility(line: &str) -> (bool, &str) {
    if let Some(rest) = line.strip_prefix("pub ") {
        return (true, rest);
    }
    match line.strip_prefix("pub(").and_then(|rest| rest.split_once(") ")) {
        Some((_, rest)) => (true, rest),
        None => (false, line),
    }
}

/// The text after the generic parameters that it begins with.
fn after_generics(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return text[at..].trim_start_matches('>');
        }
    }
    text
}

/// What follows a name up to its value: a type.
fn value(rest: &str) -> &str {
    rest.split(" = ").next().unwrap_or_default()
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The mark that will end the raw string which this line begins and does not end.
fn raw_string(line: &str) -> Option<String> {
    let begin = line.find("r#").or_else(|| line.find("r\""))?;
    if line[..begin].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let after = &line[begin + 1..];
    let hashes = after.len() - after.trim_start_matches('#').len();
    let rest = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    (!rest.contains(&end)).then_some(end)
}
