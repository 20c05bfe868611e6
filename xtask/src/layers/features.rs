//! Whether the tests compile what is shipped as it is shipped. Cargo joins the features that all members of a build ask for: one that only
//! a test switches on in a crate of the program makes cargo compile that crate, and all that stands on it, a second time.
//!
//! What it is not: a word on which features there should be. Where a test needs one that costs the program nothing, it stands in the
//! workspace's definition of the crate.

use crate::shell::Shell;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};

/// A package with its version, and the features it is compiled with; a package that build scripts use too may have two sets.
type Compiled = BTreeMap<String, BTreeSet<BTreeSet<String>>>;

/// Both builds, as cargo would do them.
pub(super) fn findings(shell: &Shell, binary: &str) -> Result<Vec<String>> {
    let tree = |of: &[&str]| {
        let how = ["tree", "--prefix", "none", "--format", "{p}|{f}"];
        shell.cargo_output(&[&how, of].concat()).map(|text| read(&text))
    };
    let shipped = tree(&["--package", binary, "--edges", "normal,build"])?;
    let tested = tree(&["--workspace", "--edges", "normal,build,dev"])?;
    Ok(differences(&shipped, &tested))
}

fn read(text: &str) -> Compiled {
    let mut compiled = Compiled::new();
    for (package, features) in text.lines().filter_map(|line| line.split_once('|')) {
        let features = features.trim_end_matches(" (*)").split(',').filter(|name| !name.is_empty());
        let package = package.split(" (").next().unwrap_or(package).to_owned();
        compiled.entry(package).or_default().insert(features.map(str::to_owned).collect());
    }
    compiled
}

fn differences(shipped: &Compiled, tested: &Compiled) -> Vec<String> {
    let mut found = Vec::new();
    for (package, as_shipped) in shipped {
        let Some(as_tested) = tested.get(package) else { continue };
        let known: BTreeSet<&String> = as_shipped.iter().flatten().collect();
        for features in as_tested.difference(as_shipped) {
            let added: Vec<&str> =
                features.iter().filter(|name| !known.contains(name)).map(String::as_str).collect();
            let what =
                if added.is_empty() { "a set of features of its own".to_owned() } else { added.join(", ") };
            found.push(format!(
                "tests compile `{package}` a second time, with {what}: do without it, or switch it on in the workspace's Cargo.toml \
                 (`cargo tree --workspace -e features -i {}` tells who asks)",
                package.replace(" v", "@")
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_that_only_tests_switch_on_is_named_with_its_package() {
        let shipped =
            read("parlor v1.0.0 (/p)|\ntokio v1.2.3|net,rt\nsyn v3.0.0|full\ntokio v1.2.3|net,rt (*)\n");
        let same = read("parlor v1.0.0 (/p)|\ntokio v1.2.3|net,rt\nsyn v3.0.0|full\nvt100 v0.1.0|default\n");
        assert_eq!(differences(&shipped, &same), Vec::<String>::new());
        let more = read("tokio v1.2.3|net,rt,test-util\nsyn v3.0.0|full\nsyn v2.0.0|fold\n");
        let found = differences(&shipped, &more);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("`tokio v1.2.3` a second time, with test-util"), "{found:?}");
        assert!(found[0].contains("-i tokio@1.2.3`"), "{found:?}");
    }

    #[test]
    fn two_sets_of_one_package_are_compared_each() {
        let shipped = read("syn v3.0.0|full\nsyn v3.0.0|derive\n");
        assert_eq!(differences(&shipped, &read("syn v3.0.0|derive\n")), Vec::<String>::new());
        let joined = differences(&shipped, &read("syn v3.0.0|derive,full\n"));
        assert!(joined[0].contains("a set of features of its own"), "{joined:?}");
    }
}
