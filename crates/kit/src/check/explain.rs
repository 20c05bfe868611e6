//! Where a rule that a report cites can be looked up.

use super::{Quote, Scenario, Suite};

/// The document of a wire, as a file of this project; our own is a page of it.
pub fn document(dialect: &str) -> String {
    match dialect {
        "native" => "docs/native-protocol.md".to_owned(),
        other => format!("crates/kit/documents/{other}.txt"),
    }
}

impl Suite {
    /// What a scenario asks, and the sentence on which it stands; `None` where there is no such scenario.
    pub fn explain(&self, name: &str) -> Option<String> {
        let Scenario { name, says, expects, .. } = self.scenarios.iter().find(|there| there.name == name)?;
        let (dialect, role) = (self.dialect, self.tested.word());
        let stands = match says {
            Some(Quote { section, text }) => {
                format!("{section}, in {}:\n  \u{201c}{text}\u{201d}", document(dialect))
            }
            None => format!("{} leaves it open: what is not kept costs nothing", document(dialect)),
        };
        Some(format!(
            "{name}: asked of a {role} that speaks {dialect}\n  {expects}\n{stands}\nall of them: docs/dialects/{dialect}.md#what-parlor-check-asks"
        ))
    }
}
