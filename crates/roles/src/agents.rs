//! Agents that speak a wire: the well-known ones that its description names, and those that its registry publishes. Plain data.
//!
//! It is not a list of what is installed, and nothing here starts or fetches anything: whoever shows a list looks at the machine.

use std::collections::BTreeMap;

/// An agent that is known without a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownAgent {
    /// As it is asked for.
    pub name: &'static str,
    /// As its makers call it.
    pub title: &'static str,
    /// The program and its arguments, once it is installed.
    pub command: &'static [&'static str],
    /// What a person types, or reads, to have it.
    pub install: &'static str,
}

/// Reads a published list, or one entry of it: each entry, or why it cannot be used.
///
/// # Errors
/// Why the text is neither.
pub type ReadRegistry = fn(&str) -> Result<Vec<Result<PublishedAgent, String>>, String>;

/// An agent as a registry publishes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublishedAgent {
    /// As it is asked for.
    pub name: String,
    /// As its makers call it.
    pub title: String,
    pub version: String,
    pub description: String,
    /// Programs to be downloaded, by platform.
    pub binaries: BTreeMap<String, Binary>,
    /// Packages, in the order in which the registry's form names their kinds.
    pub packages: Vec<Package>,
}

/// A program that is downloaded and unpacked by hand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Binary {
    /// Where it is published.
    pub archive: String,
    /// The digest of what is published there, if it is told.
    pub sha256: Option<String>,
    /// The program's own name, without the folder it is unpacked in.
    pub program: String,
    pub arguments: Arguments,
}

/// A package that a runner fetches when it is started for the first time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Package {
    /// The program that fetches and runs it.
    pub runner: &'static str,
    /// What the runner is told before the arguments of the agent.
    pub lead: Vec<String>,
    /// The package, with its version if one is told.
    pub package: String,
    pub arguments: Arguments,
}

/// What a program is started with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    pub words: Vec<String>,
    /// Variables that are set for it.
    pub env: BTreeMap<String, String>,
}
