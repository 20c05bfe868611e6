//! What models of one family are given beside the usual tools.

use std::sync::Arc;
use tools::Toolbox;

/// How the names of models begin that were trained on patches.
const KNOW_PATCHES: &[&str] = &["gpt-", "codex", "o3", "o4"];

/// Adds the tools that a model of this name was trained on.
pub(crate) fn suit(toolbox: &mut Toolbox, model: &str) {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    if KNOW_PATCHES.iter().any(|family| name.starts_with(family)) {
        toolbox.add(Arc::new(tools::ApplyPatch));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_are_offered_to_those_who_know_them() {
        let offered = |model: &str| {
            let mut toolbox = Toolbox::standard();
            suit(&mut toolbox, model);
            toolbox.get("apply_patch").is_some()
        };
        for model in ["gpt-5.5", "openai/gpt-oss-20b", "codex-mini", "o4-mini", "GPT-4.1"] {
            assert!(offered(model), "{model}");
        }
        for model in ["claude-opus-4-7", "gemini-3-pro", "offline", "qwen3-coder"] {
            assert!(!offered(model), "{model}");
        }
    }
}
