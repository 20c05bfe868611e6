//! Tools that a UI offers along with a prompt: the model may call them, and the UI itself performs them, outside of our reach.
//!
//! What always holds: an offer never takes the name of a tool of ours or of a server, and all of them together stay small enough to be
//! read by a model.

use crate::content::Json;
use crate::refusal::{Refusal, RefusalKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Most tools that a UI may offer at once.
pub const MAX_OFFERS: usize = 64;
/// Most bytes of all offers of a prompt together.
pub const MAX_OFFERED_BYTES: usize = 256 * 1024;
/// Longest name that every provider takes.
pub const MAX_NAME: usize = 64;
/// How long a call is waited for unless the offer says otherwise, in milliseconds.
pub const USUAL_PATIENCE_MS: u64 = 60_000;
/// The longest that an offer may say: a person may have to think.
pub const MAX_PATIENCE_MS: u64 = 60 * 60 * 1000;
/// The tools that our own agent has. An offer must not pass for one of them.
pub const OUR_TOOLS: &[&str] = &[
    "ask",
    "bash",
    "bash_jobs",
    "edit",
    "fetch",
    "find",
    "grep",
    "ls",
    "read",
    "recall",
    "skill",
    "todo",
    "tool_call",
    "tool_search",
    "write",
];
/// How the names of tools of MCP servers begin.
pub const SERVERS_BEGIN: &str = "mcp__";

/// A tool that a UI performs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
pub struct Offer {
    pub name: String,
    /// What it does and when to take it.
    #[serde(default)]
    pub description: String,
    /// JSON schema of its arguments.
    pub schema: Json,
    /// How long a call may take, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience_ms: Option<u64>,
    /// Whether the UI wants nobody to be asked. It counts only where the person at that very UI could have been.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unasked: bool,
}

impl Offer {
    /// How long a call is waited for, in milliseconds.
    pub fn patience(&self) -> u64 {
        self.patience_ms.unwrap_or(USUAL_PATIENCE_MS).clamp(1, MAX_PATIENCE_MS)
    }

    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        self.name.len() + self.description.len() + self.schema.as_str().len()
    }
}

/// Whether these can be offered together.
///
/// # Errors
/// Which of them cannot, and what to do about it.
pub fn check(offers: &[Offer]) -> Result<(), Refusal> {
    let refused = |what: String, hint: &str| Err(Refusal::new(RefusalKind::Invalid, what).hint(hint));
    if offers.len() > MAX_OFFERS {
        return refused(format!("{} tools are offered", offers.len()), "offer at most 64 at once");
    }
    if offers.iter().map(Offer::weight).sum::<usize>() > MAX_OFFERED_BYTES {
        return refused("the offered tools are too large".to_owned(), "offer at most 256 KiB of them");
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut names = BTreeSet::new();
    for Offer { name, .. } in offers {
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(plain) {
            return refused(
                format!("{name:?} is no name for a tool"),
                "use at most 64 letters, digits, _ and -",
            );
        }
        if OUR_TOOLS.contains(&name.as_str()) || name.starts_with(SERVERS_BEGIN) {
            return refused(format!("the tool {name:?} is there already"), "offer yours under another name");
        }
        if !names.insert(name) {
            return refused(format!("the tool {name:?} is offered twice"), "offer each tool once");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(name: &str) -> Offer {
        Offer {
            name: name.to_owned(),
            description: String::new(),
            schema: Json::empty(),
            patience_ms: None,
            unasked: false,
        }
    }

    #[test]
    fn names_are_plain_once_and_nobody_elses() {
        assert!(check(&[offer("show_file"), offer("Show-2")]).is_ok());
        let long = "x".repeat(MAX_NAME + 1);
        for names in [&[""][..], &["ö"], &["a b"], &["a", "a"], &["bash"], &["mcp__files__read"], &[&long]] {
            let offers: Vec<Offer> = names.iter().map(|name| offer(name)).collect();
            assert_eq!(check(&offers).unwrap_err().kind, RefusalKind::Invalid, "{names:?}");
        }
    }

    #[test]
    fn offers_are_bounded_in_number_in_size_and_in_time() {
        let many: Vec<Offer> = (0..=MAX_OFFERS).map(|n| offer(&format!("t{n}"))).collect();
        assert!(check(&many[1..]).is_ok() && check(&many).is_err());
        let large = Offer { description: "x".repeat(MAX_OFFERED_BYTES), ..offer("a") };
        assert!(check(&[large]).is_err());
        assert_eq!(offer("a").patience(), USUAL_PATIENCE_MS);
        assert_eq!(Offer { patience_ms: Some(u64::MAX), ..offer("a") }.patience(), MAX_PATIENCE_MS);
        assert_eq!(Offer { patience_ms: Some(0), ..offer("a") }.patience(), 1);
    }
}
