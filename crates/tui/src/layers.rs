//! The modules of this crate stand in the layers that `lib.rs` names: nothing reaches up, so that there is no circle.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Where a module stands: its layer, the side of a bar, its place there.
type Place = (usize, usize, usize);

/// The places of all modules, as the head of `lib.rs` names them.
fn places(head: &str) -> BTreeMap<String, Place> {
    let lines = head.lines().filter_map(|line| line.strip_prefix("//! - ")?.split_once(": "));
    let mut places = BTreeMap::new();
    for (layer, (_, modules)) in lines.enumerate() {
        for (side, group) in modules.split(" | ").enumerate() {
            for (at, module) in group.split(", ").enumerate() {
                places.insert(module.to_owned(), (layer, side, at));
            }
        }
    }
    places
}

fn may_use(user: Place, used: Place) -> bool {
    used.0 < user.0 || (used.0, used.1) == (user.0, user.1) && used.2 < user.2
}

/// The modules of the crate that a source names; what is only for tests does not count.
fn named(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = lines.flat_map(|line| [line, "\n"]).collect();
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        // `pub(in crate::…)` and macros of other crates are not written here.
        let group = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let parts: Vec<&str> = group.map_or(vec![rest], |(inner, _)| inner.split(',').collect());
        for part in parts {
            let part = part.trim_start();
            let end = part.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(part.len());
            names.push(part[..end].to_owned());
        }
    }
    names
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            into.push(path);
        }
    }
}

/// Whether a file is compiled only for tests: so its module is declared.
fn is_for_tests(path: &Path) -> bool {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let folder = path.parent().unwrap();
    if folder.ends_with("tests") {
        return true;
    }
    let head = if folder.ends_with("src") { folder.join("lib.rs") } else { folder.with_extension("rs") };
    let head = fs::read_to_string(head).unwrap_or_default();
    let declared = [format!("mod {name};"), format!("pub(crate) mod {name};")];
    declared.iter().any(|declared| head.contains(&format!("#[cfg(test)]\n{declared}")))
}

#[test]
fn no_module_uses_one_above_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let places = places(&fs::read_to_string(src.join("lib.rs")).unwrap());
    let mut files = Vec::new();
    sources(&src, &mut files);
    let mut wrong = Vec::new();
    for file in files.iter().filter(|file| !file.ends_with("src/lib.rs") && !is_for_tests(file)) {
        let path = file.strip_prefix(&src).unwrap().with_extension("");
        let module = path.iter().next().and_then(|first| first.to_str()).unwrap();
        let place = places.get(module);
        if place.is_none() {
            wrong.push(format!("{module} stands in no layer: name it in the head of lib.rs"));
        }
        for used in named(&fs::read_to_string(file).unwrap()) {
            match (place, places.get(&used)) {
                _ if used == module => {}
                (Some(user), Some(used)) if may_use(*user, *used) => {}
                (_, Some(_)) => wrong.push(format!("{} uses {used}, which is above it", path.display())),
                (_, None) => wrong.push(format!("{} uses crate::{used}: name its module", path.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_reaches_up_or_over_a_bar_is_seen() {
    let places = places("//! - low: a, b\n//! - high: c, d | e\n");
    let may = |user: &str, used: &str| may_use(places[user], places[used]);
    assert!(may("b", "a") && may("c", "b") && may("d", "c") && may("e", "a"));
    assert!(!may("a", "b") && !may("a", "c") && !may("c", "d") && !may("e", "c") && !may("c", "e"));
    let source = "use crate::a;\n// crate::no\nuse crate::{b::X, c};\nlet x = crate::d::f();\n\
                  #[cfg(test)]\nmod tests {\n    use crate::e;\n}\n";
    assert_eq!(named(source), ["a", "b", "c", "d"]);
}
