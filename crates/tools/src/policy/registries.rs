//! Where installers get what they install: a rule for one of them brings the hosts without which it could do nothing. Pure.
//!
//! The hosts stand in the words of the rule, and each is kept, shown and taken back by itself.

use crate::address::Host;
use crate::rule::{Matcher, Rule};

/// The port of every registry.
const HTTPS: u16 = 443;

const NPM: &[&str] = &["registry.npmjs.org"];
const CRATES: &[&str] = &["index.crates.io", "static.crates.io"];
const PYPI: &[&str] = &["pypi.org", "files.pythonhosted.org"];

/// What a command begins with, and its hosts.
const REGISTRIES: &[(&[&str], &[&str])] = &[
    (&["npm", "install"], NPM),
    (&["npm", "ci"], NPM),
    (&["npm", "update"], NPM),
    (&["pnpm", "install"], NPM),
    (&["pnpm", "add"], NPM),
    (&["cargo", "add"], CRATES),
    (&["cargo", "fetch"], CRATES),
    (&["cargo", "update"], CRATES),
    (&["pip", "install"], PYPI),
    (&["pip3", "install"], PYPI),
    (&["python", "-m", "pip", "install"], PYPI),
    (&["python3", "-m", "pip", "install"], PYPI),
    (&["uv", "add"], PYPI),
    (&["uv", "sync"], PYPI),
];

/// The hosts that come with a rule for commands.
pub(super) fn hosts_of(rule: &Rule) -> Vec<Rule> {
    let (Matcher::Prefix { words } | Matcher::Exact { words }) = &rule.matcher else { return Vec::new() };
    let begins = |start: &[&str]| words.len() >= start.len() && words.iter().zip(start).all(|(a, b)| a == b);
    let known = REGISTRIES.iter().find(|(start, _)| begins(start)).map_or(&[][..], |(_, hosts)| hosts);
    known
        .iter()
        .filter_map(|host| Host::parse(host, Some(HTTPS)).ok())
        .map(|host| Rule::reach(&host))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installer_brings_its_registry_and_nothing_else_brings_one() {
        let hosts = |line: &str| {
            let words = line.split(' ').map(str::to_owned).collect();
            let rules = hosts_of(&Rule { tool: None, matcher: Matcher::Exact { words } });
            rules.iter().map(Rule::to_string).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(hosts("npm install lodash"), "let commands reach registry.npmjs.org");
        assert_eq!(hosts("npm test"), "");
        assert_eq!(hosts("cargo"), "");
        for (start, known) in REGISTRIES {
            assert_eq!(
                hosts(&start.join(" ")).matches("let commands reach").count(),
                known.len(),
                "{start:?}"
            );
        }
    }
}
