//! What a chore found, as its end: the judgements are lists of sentences, and none may be lost.

use anyhow::{Result, bail};

/// Turns a list of findings into an error that shows every one of them.
pub(crate) fn judge(what: &str, findings: &[String]) -> Result<()> {
    if findings.is_empty() {
        println!("{what}: fine");
        return Ok(());
    }
    bail!("{} finding(s)\n  {}", findings.len(), findings.join("\n  "))
}
