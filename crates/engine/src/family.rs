//! What models of one family are given beside the usual tools, and told beside the usual words: what its makers and users say that it
//! needs to hear, and nothing that is true for all.

use std::sync::Arc;
use tools::Toolbox;

/// Pieces of the names of models that were trained on patches.
const KNOW_PATCHES: &[&str] = &["gpt-", "codex", "o3", "o4"];

/// What a family is told, by a piece of its models' names.
const ADVICE: &[(&[&str], &str)] = &[
    (
        KNOW_PATCHES,
        "Do the work; never end with an offer or a question whether to go on. Change files with apply_patch or edit, not with \
         commands.",
    ),
    (
        &["claude"],
        "Do what was asked, and no more than that: no files, fallbacks, options or documents that nobody asked for.",
    ),
    (
        &["gemini", "gemma"],
        "Call a tool rather than describe what you would do, and do not repeat a call that failed in the same way. Put code into files, \
         not into the answer.",
    ),
    (
        &["qwen", "deepseek", "kimi", "glm", "mistral", "devstral", "llama", "grok"],
        "Call tools only through the tool interface, by their exact names; a call that is written as text does nothing.",
    ),
];

/// Whether a model of this name is of a family.
fn is_of(model: &str, pieces: &[&str]) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    // In the middle of a name two letters may mean anything.
    pieces.iter().any(|piece| name.starts_with(piece) || piece.len() > 2 && name.contains(piece))
}

/// What a model of this name is told beside the others.
pub(crate) fn advice(model: &str) -> Option<&'static str> {
    ADVICE.iter().find(|(pieces, _)| is_of(model, pieces)).map(|(_, words)| *words)
}

/// Adds the tools that a model of this name was trained on.
pub(crate) fn suit(toolbox: &mut Toolbox, model: &str) {
    if is_of(model, KNOW_PATCHES) {
        toolbox.add(Arc::new(tools::ApplyPatch));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_known_by_its_models_names() {
        for (model, word) in [
            ("openai/gpt-5.5", "apply_patch"),
            ("o4-mini", "apply_patch"),
            ("anthropic.claude-sonnet-4-5", "no more than that"),
            ("gemini-3-pro", "Put code into files"),
            ("moonshotai/kimi-k3", "exact names"),
        ] {
            assert!(advice(model).is_some_and(|words| words.contains(word)), "{model}");
        }
        for model in ["offline", "phi-4o3", "some-model"] {
            assert_eq!(advice(model), None, "{model}");
        }
    }

    #[test]
    fn patches_are_offered_to_those_who_know_them() {
        let offered = |model: &str| {
            let mut toolbox = Toolbox::standard();
            suit(&mut toolbox, model);
            toolbox.get("apply_patch").is_some()
        };
        for model in [
            "gpt-5.5",
            "openai/gpt-oss-20b",
            "codex-mini",
            "o4-mini",
            "GPT-4.1",
            "chatgpt-4o-latest",
            "ft:gpt-4.1:me",
        ] {
            assert!(offered(model), "{model}");
        }
        for model in ["claude-opus-4-7", "gemini-3-pro", "offline", "qwen3-coder"] {
            assert!(!offered(model), "{model}");
        }
    }
}
