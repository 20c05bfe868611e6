//! No circle between the modules of a crate: what knows each other can neither be read nor moved apart.
//!
//! A crate that had to have one would stand in [`LEFT`] with its exact modules until it is opened, so that it can only get smaller.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::modules::Modules;

/// A crate and the modules of one of its circles, as a finding names them.
type Listed = (&'static str, &'static str);

/// The circles that are left: none. A crate that must have one for a while is written down here, and leaves when it is open.
const LEFT: &[Listed] = &[];

/// Every circle that is not on the list, and whatever of the list is not so any more.
pub(super) fn findings(crates: &[Modules]) -> Vec<String> {
    judged(crates, LEFT)
}

fn judged(crates: &[Modules], left: &[Listed]) -> Vec<String> {
    let left: Vec<(&str, BTreeSet<&str>)> =
        left.iter().map(|(name, modules)| (*name, modules.split(", ").collect())).collect();
    let found: Vec<(&Modules, BTreeSet<&str>)> =
        crates.iter().flat_map(|one| circles(one).into_iter().map(move |circle| (one, circle))).collect();
    let mut findings = Vec::new();
    for (one, circle) in &found {
        let listed = left.iter().find(|(name, modules)| *name == one.name && circle.is_subset(modules));
        match listed {
            Some((_, modules)) if modules == circle => {}
            Some((name, modules)) => findings.push(format!(
                "crate `{name}`: the circle of {} got smaller: write what is left of it into \
                 xtask/src/layers/circles.rs: {}",
                names(modules),
                names(circle)
            )),
            None => findings.push(told(one, circle)),
        }
    }
    for (name, modules) in &left {
        if !found.iter().any(|(one, circle)| one.name == *name && !circle.is_disjoint(modules)) {
            findings.push(format!(
                "crate `{name}`: the circle of {} is open: remove it from xtask/src/layers/circles.rs",
                names(modules)
            ));
        }
    }
    findings
}

/// One circle in words.
fn told(one: &Modules, circle: &BTreeSet<&str>) -> String {
    let lines: usize = circle.iter().filter_map(|module| one.lines.get(*module)).sum();
    let shortest = shortest(one, circle);
    let mut arrows = String::new();
    for (at, module) in shortest.iter().enumerate() {
        let next = shortest[(at + 1) % shortest.len()];
        let place = one.arrows.get(*module).and_then(|used| used.get(next)).map_or("", String::as_str);
        arrows.push_str(&format!("`{module}` names `{next}` at {place}, "));
    }
    format!(
        "crate `{}`: {} modules with {lines} lines are a circle ({}); the shortest way round: {arrows}so \
         move what one of these arrows needs into the module that it is about, below both",
        one.name,
        circle.len(),
        names(circle)
    )
}

fn names(circle: &BTreeSet<&str>) -> String {
    circle.iter().copied().collect::<Vec<_>>().join(", ")
}

/// The sets of modules in which each reaches each.
fn circles(one: &Modules) -> Vec<BTreeSet<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        one.arrows.keys().map(|module| (module.as_str(), reached(one, module))).collect();
    let mut found: Vec<BTreeSet<&str>> = Vec::new();
    for (module, reaches) in reached.iter().filter(|(module, reaches)| reaches.contains(*module)) {
        if found.iter().any(|circle| circle.contains(module)) {
            continue;
        }
        let back = |other: &&str| reached.get(other).is_some_and(|theirs| theirs.contains(module));
        found.push(reaches.iter().copied().filter(back).collect());
    }
    found
}

fn used<'m>(one: &'m Modules, module: &str) -> impl Iterator<Item = &'m str> {
    one.arrows.get(module).into_iter().flat_map(BTreeMap::keys).map(String::as_str)
}

fn reached<'m>(one: &'m Modules, from: &str) -> BTreeSet<&'m str> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&str> = used(one, from).collect();
    while let Some(module) = next.pop() {
        if found.insert(module) {
            next.extend(used(one, module));
        }
    }
    found
}

/// The fewest modules of the circle that lead back to where they begin.
fn shortest<'m>(one: &'m Modules, circle: &BTreeSet<&'m str>) -> Vec<&'m str> {
    circle.iter().filter_map(|start| round(one, start)).min_by_key(Vec::len).unwrap_or_default()
}

/// The shortest way from a module back to itself.
fn round<'m>(one: &'m Modules, start: &'m str) -> Option<Vec<&'m str>> {
    let mut ways = VecDeque::from([vec![start]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for next in used(one, way.last()?) {
            if next == start {
                return Some(way);
            }
            if seen.insert(next) {
                ways.push_back(way.iter().copied().chain([next]).collect());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate of modules with ten lines each; an arrow stands in line 3 of who names.
    fn house(arrows: &[(&str, &str)]) -> Modules {
        let mut one = Modules { name: "house".to_owned(), ..Modules::default() };
        for (from, to) in arrows {
            one.lines.extend([((*from).to_owned(), 10), ((*to).to_owned(), 10)]);
            let place = format!("crates/house/src/{from}.rs:3");
            one.arrows.entry((*from).to_owned()).or_default().insert((*to).to_owned(), place);
        }
        one
    }

    #[test]
    fn what_goes_one_way_passes() {
        let house = house(&[("roof", "wall"), ("roof", "floor"), ("wall", "floor"), ("door", "floor")]);
        assert_eq!(judged(&[house], &[]), Vec::<String>::new());
    }

    #[test]
    fn a_circle_is_told_by_its_shortest_way_with_a_place_for_each_arrow() {
        let house = house(&[
            ("roof", "wall"),
            ("wall", "floor"),
            ("floor", "roof"),
            ("wall", "door"),
            ("door", "wall"),
            ("roof", "sky"),
        ]);
        assert_eq!(
            judged(&[house], &[]),
            [
                "crate `house`: 4 modules with 40 lines are a circle (door, floor, roof, wall); the shortest way \
                 round: `door` names `wall` at crates/house/src/door.rs:3, `wall` names `door` at \
                 crates/house/src/wall.rs:3, so move what one of these arrows needs into the module that it is \
                 about, below both"
            ]
        );
    }

    #[test]
    fn two_circles_of_a_crate_are_two_findings() {
        let arrows = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "d"), ("d", "c")];
        let found = judged(&[house(&arrows)], &[]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("(a, b)") && found[1].contains("(c, d)"), "{found:?}");
    }

    #[test]
    fn a_listed_circle_passes_and_can_only_shrink() {
        let two = [("a", "b"), ("b", "a")];
        let three = [("a", "b"), ("b", "c"), ("c", "a")];
        let left = &[("house", "a, b, c")];
        assert_eq!(judged(&[house(&three)], left), Vec::<String>::new());
        for (arrows, wanted) in [
            (
                &two[..],
                "a, b, c got smaller: write what is left of it into xtask/src/layers/circles.rs: a, b",
            ),
            (&[("a", "b")][..], "the circle of a, b, c is open: remove it"),
            (&[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")][..], "4 modules with 40 lines are a circle"),
        ] {
            let found = judged(&[house(arrows)], left);
            assert!(found.len() == 1 && found[0].contains(wanted), "{found:?}");
        }
        let parted = house(&[("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")]);
        let found = judged(&[parted], &[("house", "a, b, c, d")]);
        assert!(
            found.len() == 2 && found[0].ends_with(": a, b") && found[1].ends_with(": c, d"),
            "{found:?}"
        );
        assert_eq!(judged(&[house(&three)], &[("hut", "a, b, c")]).len(), 2);
        assert_eq!(judged(&[], left).len(), 1);
    }
}
