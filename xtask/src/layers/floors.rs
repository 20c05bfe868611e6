//! The layers that a crate names for its modules in the head of its `lib.rs`, lowest first: nothing reaches up.
//!
//! A crate need not name any; that its modules have no circle is judged anyway. One that does says more: which way an arrow may go
//! that is not there yet, and who must not know whom (the sides of a bar).

use std::collections::BTreeMap;

use super::modules::{Modules, ROOT};
use crate::tree::Page;

/// The words that a head has before its layers.
const SAYS_SO: &str = "//! The modules stand in layers";

/// Where a module stands: its layer, the side of a bar, its place there.
type Place = (usize, usize, usize);

/// Every arrow that goes up or over a bar, in crates that name layers.
pub(super) fn findings(crates: &[Modules], pages: &[Page]) -> Vec<String> {
    let head = |one: &Modules| {
        let root = format!("/{}/src/lib.rs", one.name);
        pages.iter().find(|page| page.path.ends_with(&root)).filter(|page| page.text.contains(SAYS_SO))
    };
    crates.iter().filter_map(|one| Some(of_crate(one, &places(&head(one)?.text)))).flatten().collect()
}

/// The places of all modules, as the head of `lib.rs` names them.
fn places(head: &str) -> BTreeMap<&str, Place> {
    let lines = head.lines().filter_map(|line| line.strip_prefix("//! - ")?.split_once(": "));
    let mut places = BTreeMap::new();
    for (layer, (_, modules)) in lines.enumerate() {
        for (side, group) in modules.split(" | ").enumerate() {
            for (at, module) in group.split(", ").enumerate() {
                places.insert(module, (layer, side, at));
            }
        }
    }
    places
}

fn may_use(user: Place, used: Place) -> bool {
    used.0 < user.0 || (used.0, used.1) == (user.0, user.1) && used.2 < user.2
}

fn of_crate(one: &Modules, places: &BTreeMap<&str, Place>) -> Vec<String> {
    let name = &one.name;
    let mut findings = Vec::new();
    for module in one.lines.keys().filter(|module| *module != ROOT && !places.contains_key(module.as_str())) {
        findings
            .push(format!("crate `{name}`: `{module}` stands in no layer: name it in the head of lib.rs"));
    }
    for module in places.keys().filter(|module| !one.lines.contains_key(**module)) {
        findings.push(format!("crate `{name}`: the head of lib.rs names `{module}`, which is no module"));
    }
    for (user, used) in one.arrows.iter().filter(|(user, _)| *user != ROOT) {
        for (used, place) in used {
            match (places.get(user.as_str()), places.get(used.as_str())) {
                (Some(above), Some(below)) if may_use(*above, *below) => {}
                (Some(_), Some(_)) => findings.push(format!(
                    "{place}: `{user}` must not use `{used}`, by the layers in the head of lib.rs"
                )),
                _ if used == ROOT => findings.push(format!(
                    "{place}: `{user}` uses something of lib.rs: it belongs into a module below"
                )),
                _ => {}
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "//! A house.\n//!\n//! The modules stand in layers, lowest first.\n//!\n//! - low: a, b\n//! - high: c, d | e\n";

    /// A crate with one arrow, which stands in line 3 of who names.
    fn house(user: &str, used: &str) -> Vec<Modules> {
        let lines = ["a", "b", "c", "d", "e"].map(|module| (module.to_owned(), 10)).into();
        let used = BTreeMap::from([(used.to_owned(), format!("crates/house/src/{user}.rs:3"))]);
        vec![Modules { name: "house".to_owned(), lines, arrows: [(user.to_owned(), used)].into() }]
    }

    fn judged(crates: &[Modules], head: &str) -> Vec<String> {
        findings(crates, &[Page { path: "crates/house/src/lib.rs".to_owned(), text: head.to_owned() }])
    }

    #[test]
    fn what_reaches_up_or_over_a_bar_is_found() {
        for (user, used) in [("b", "a"), ("c", "b"), ("d", "c"), ("e", "a"), ("lib", "e")] {
            assert_eq!(judged(&house(user, used), HEAD), Vec::<String>::new(), "{user} {used}");
        }
        for (user, used) in [("a", "b"), ("a", "c"), ("c", "d"), ("e", "c"), ("c", "e")] {
            let wanted = format!(
                "crates/house/src/{user}.rs:3: `{user}` must not use `{used}`, by the layers in the head of lib.rs"
            );
            assert_eq!(judged(&house(user, used), HEAD), [wanted]);
        }
        assert!(judged(&house("a", "lib"), HEAD)[0].contains("`a` uses something of lib.rs"));
    }

    #[test]
    fn every_module_has_its_place_and_every_place_its_module() {
        let found = judged(&house("b", "a"), &HEAD.replace("d | e", "d | f"));
        assert_eq!(
            found,
            [
                "crate `house`: `e` stands in no layer: name it in the head of lib.rs",
                "crate `house`: the head of lib.rs names `f`, which is no module",
            ]
        );
    }

    #[test]
    fn a_crate_that_names_no_layers_is_not_held_to_any() {
        assert_eq!(judged(&house("a", "b"), "//! A house.\n//! - low: a, b\n"), Vec::<String>::new());
    }
}
