//! Failures that are known: a file that names them, strict in both directions. What is named and passes is as wrong as what is not
//! named and fails, so that the file never outlives its reasons.

use super::{CheckReport, ScenarioOutcome, Suite};
use std::collections::BTreeMap;

/// The scenarios that are expected to fail, with the reasons that the file gives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expected {
    names: BTreeMap<String, String>,
}

/// What is not as the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotExpected {
    /// It failed and is not named.
    Failed(String),
    /// It is named and passed.
    Passed(String),
    /// It is named and there is no such scenario.
    Unknown(String),
}

impl std::fmt::Display for NotExpected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotExpected::Failed(name) => write!(f, "{name} failed"),
            NotExpected::Passed(name) => {
                write!(f, "{name} passed, though it is expected to fail: take it out of the file")
            }
            NotExpected::Unknown(name) => {
                write!(f, "{name} is no scenario of this wire and role: take it out of the file")
            }
        }
    }
}

impl Expected {
    /// Reads lines of `NAME # why`; empty lines and lines that begin with `#` say nothing.
    pub fn parse(text: &str) -> Expected {
        let entry = |line: &str| {
            let (name, why) = line.split_once('#').unwrap_or((line, ""));
            let name = name.trim();
            (!name.is_empty()).then(|| (name.to_owned(), why.trim().to_owned()))
        };
        Expected { names: text.lines().filter_map(entry).collect() }
    }

    /// Why a scenario is expected to fail, if it is.
    pub fn why(&self, name: &str) -> Option<&str> {
        self.names.get(name).map(String::as_str)
    }

    /// Everything that is not as expected.
    pub fn against(&self, suite: &Suite, report: &CheckReport) -> Vec<NotExpected> {
        let mut wrong = Vec::new();
        for finding in &report.findings {
            let name = finding.scenario.name;
            match (&finding.found, self.names.contains_key(name)) {
                (ScenarioOutcome::Failed(_), false) => wrong.push(NotExpected::Failed(name.to_owned())),
                (ScenarioOutcome::Passed, true) => wrong.push(NotExpected::Passed(name.to_owned())),
                _ => {}
            }
        }
        let known = |name: &String| suite.scenarios.iter().any(|scenario| scenario.name == name);
        wrong.extend(self.names.keys().filter(|name| !known(name)).cloned().map(NotExpected::Unknown));
        wrong
    }
}
