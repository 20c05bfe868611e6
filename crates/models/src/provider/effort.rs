//! How hard a model shall think, in the words of each house. Pure.
//!
//! Seven efforts of ours meet ladders with two to seven rungs. What a house does not have becomes the nearest that it has, never dearer than
//! what was asked for unless it has nothing cheaper; none becomes the least that the model can. A house that is not known gets our word
//! unchanged and may refuse it in its own. By the makers' documentation of autumn 2026.

use serde_json::{Map, Value, json};

use super::House;
use super::house::{plain_name, version};
use crate::Effort;

/// The word for each effort, from none to max; `None` where there is nothing to send.
type Ladder = [Option<&'static str>; 7];

const fn words(words: [&'static str; 7]) -> Ladder {
    let [a, b, c, d, e, f, g] = words;
    [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f), Some(g)]
}

const NOTHING: Ladder = [None; 7];
/// Our own words, for who has them all or is not known.
const OURS: Ladder = words(["none", "minimal", "low", "medium", "high", "xhigh", "max"]);
const LOW_TO_HIGH: Ladder = words(["low", "low", "low", "medium", "high", "high", "high"]);
const NONE_TO_HIGH: Ladder = words(["none", "low", "low", "medium", "high", "high", "high"]);
/// Kimi K3, GLM from 5.3 on: they always think.
const LOW_HIGH_MAX: Ladder = words(["low", "low", "low", "high", "high", "high", "max"]);

/// Whether a model of a house takes an effort; `None` where nobody knows. OpenAI, Anthropic and Google have a table of their own.
pub(crate) fn is_taken(house: House, model: &str) -> Option<bool> {
    let name = plain_name(model);
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    match house {
        House::DeepSeek => Some(true),
        House::Moonshot => match version(&name, "kimi-k") {
            Some((3.., _)) => Some(true),
            // They think or not; those that always do, and older ones that never do, cannot be told.
            Some((2, 5 | 6)) => Some(true),
            Some(_) => Some(false),
            None => name.starts_with("moonshot-v1").then_some(false),
        },
        House::Zai => version(&name, "glm-").map(|version| version >= (4, 5)),
        House::Qwen if has(&["coder", "instruct"]) => Some(false),
        House::Qwen if has(&["thinking", "qwq", "qwen-plus", "qwen-flash", "qwen-turbo"]) => Some(true),
        House::Qwen => version(&name, "qwen").map(|version| version >= (3, 0)),
        House::Xai if has(&["non-reasoning", "code-fast", "fast-reasoning", "grok-4.20"]) => Some(false),
        House::Xai => match version(&name, "grok-") {
            Some((4, 3..) | (5.., _)) => Some(true),
            Some((3, _)) => Some(has(&["mini"])),
            // "reasoning_effort is not supported by grok-3, grok-4 and grok-4-fast-reasoning." (docs.x.ai/docs/guides/reasoning)
            Some(_) => Some(false),
            None => None,
        },
        House::Groq if has(&["gpt-oss", "qwen3"]) => Some(true),
        House::Groq if has(&["llama", "gemma", "kimi-k2"]) => Some(false),
        House::Mistral if has(&["magistral", "codestral", "ministral", "pixtral"]) => Some(false),
        House::Mistral if has(&["medium-3-5", "medium-3.5", "small-2603"]) => Some(true),
        House::Groq | House::Mistral | House::OpenRouter | House::Other => None,
        House::OpenAi | House::Anthropic | House::Google => None,
    }
}

/// The word for an effort, where the house has words.
pub(super) fn word(house: House, model: &str, effort: Effort) -> Option<&'static str> {
    let name = plain_name(model);
    let ladder = match house {
        House::OpenAi => openai(&name),
        House::DeepSeek => {
            [None, Some("low"), Some("low"), Some("high"), Some("high"), Some("high"), Some("max")]
        }
        House::Moonshot if version(&name, "kimi-k").is_some_and(|version| version < (3, 0)) => NOTHING,
        House::Moonshot => LOW_HIGH_MAX,
        House::Zai => match version(&name, "glm-") {
            Some((..=4, _) | (5, ..=1)) => NOTHING,
            Some((5, 2)) => {
                [None, Some("minimal"), Some("low"), Some("medium"), Some("high"), Some("xhigh"), Some("max")]
            }
            _ => LOW_HIGH_MAX,
        },
        House::Qwen => NOTHING,
        House::Xai if name.contains("mini") => words(["low", "low", "low", "high", "high", "high", "high"]),
        House::Xai if version(&name, "grok-") == Some((4, 3)) => NONE_TO_HIGH,
        House::Xai => LOW_TO_HIGH,
        House::Groq if name.contains("qwen") => {
            words(["none", "default", "default", "default", "default", "default", "default"])
        }
        House::Mistral => words(["none", "none", "high", "high", "high", "high", "high"]),
        House::OpenRouter | House::Anthropic | House::Google => OURS,
        House::Groq | House::Other => openai_by_name(&name).unwrap_or(OURS),
    };
    ladder[rung(effort)?]
}

/// The place of an effort on a ladder; `None` when nothing is asked.
fn rung(effort: Effort) -> Option<usize> {
    Effort::ALL.iter().position(|known| *known == effort)
}

/// OpenAI's ladder, also for its models behind other houses.
fn openai_by_name(name: &str) -> Option<Ladder> {
    let is_openai = name.starts_with("gpt-") || series_o(name);
    is_openai.then(|| openai(name))
}

fn series_o(name: &str) -> bool {
    version(name, "o").is_some()
}

/// "gpt-5.1 defaults to none ... The supported reasoning values for gpt-5.1 are none, low, medium, and high. All models before gpt-5.1
/// default to medium reasoning effort, and do not support none. The gpt-5-pro model defaults to (and only supports) high reasoning effort.
/// xhigh is supported for all models after gpt-5.1-codex-max." (the description of `reasoning.effort` in OpenAI's API); GPT-5.6 has max.
fn openai(name: &str) -> Ladder {
    if series_o(name) || name.starts_with("gpt-oss") {
        return LOW_TO_HIGH;
    }
    let (codex, pro) = (name.contains("codex"), name.contains("-pro"));
    let version = version(name, "gpt-").unwrap_or((5, 6));
    let mut ladder = match version {
        (..=4, _) | (5, 0) if pro => words(["high"; 7]),
        (..=4, _) | (5, 0) => words(["minimal", "minimal", "low", "medium", "high", "high", "high"]),
        (5, 1) if name.contains("codex-max") => {
            words(["none", "low", "low", "medium", "high", "xhigh", "xhigh"])
        }
        (5, 1) => NONE_TO_HIGH,
        (5, 2..=5) if pro => words(["medium", "medium", "medium", "medium", "high", "xhigh", "xhigh"]),
        (5, 2..=5) => words(["none", "low", "low", "medium", "high", "xhigh", "xhigh"]),
        _ => words(["none", "low", "low", "medium", "high", "xhigh", "max"]),
    };
    if codex {
        // Models for coding always think.
        ladder[0] = Some("low");
        ladder[1] = Some("low");
    }
    ladder
}

/// Tokens of thought for an effort, where a model counts them; none at all is not here.
pub(super) fn budget(effort: Effort) -> u32 {
    match effort {
        Effort::Off | Effort::None | Effort::Minimal => 1_024,
        Effort::Low => 2_048,
        Effort::Medium => 8_192,
        Effort::High => 24_576,
        Effort::Xhigh => 32_768,
        Effort::Max => 49_152,
    }
}

/// Writes an effort into a request of Chat Completions.
pub(super) fn write(house: House, model: &str, effort: Effort, body: &mut Map<String, Value>) {
    if effort == Effort::Off {
        return;
    }
    let thinks = effort != Effort::None;
    let word = word(house, model, effort);
    match house {
        House::OpenRouter => {
            body.extend(word.map(|word| ("reasoning".to_owned(), json!({ "effort": word }))));
            return;
        }
        House::Qwen => {
            body.insert("enable_thinking".into(), json!(thinks));
            // Without a budget it thinks as long as it can.
            if thinks && effort != Effort::Max {
                body.insert("thinking_budget".into(), json!(budget(effort)));
            }
        }
        _ => {}
    }
    // A switch, for who can leave thinking out; Kimi has it only where it has no words.
    let is_switched = match house {
        House::DeepSeek | House::Zai => thinks || word.is_none(),
        House::Moonshot => word.is_none(),
        _ => false,
    };
    if is_switched {
        let switch = body.entry("thinking").or_insert_with(|| json!({}));
        switch["type"] = json!(if thinks { "enabled" } else { "disabled" });
    }
    body.extend(word.map(|word| ("reasoning_effort".to_owned(), json!(word))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn every_effort_has_a_word_that_the_house_knows() {
        let rows = [
            (House::OpenAi, "o3"),
            (House::OpenAi, "gpt-5"),
            (House::OpenAi, "gpt-5-codex"),
            (House::OpenAi, "gpt-5-pro"),
            (House::OpenAi, "gpt-5.1"),
            (House::OpenAi, "gpt-5.1-codex-max"),
            (House::OpenAi, "gpt-5.5"),
            (House::OpenAi, "gpt-5.6-terra"),
            (House::DeepSeek, "deepseek-v4-pro"),
            (House::Moonshot, "kimi-k3"),
            (House::Moonshot, "kimi-k2.6"),
            (House::Zai, "glm-4.6"),
            (House::Zai, "glm-5.2"),
            (House::Zai, "glm-5.3"),
            (House::Qwen, "qwen3.6-plus"),
            (House::Xai, "grok-3-mini"),
            (House::Xai, "grok-4.3"),
            (House::Xai, "grok-5"),
            (House::Groq, "openai/gpt-oss-120b"),
            (House::Groq, "qwen/qwen3-32b"),
            (House::Mistral, "mistral-medium-3-5"),
            (House::OpenRouter, "anthropic/claude-opus-5"),
            (House::Other, "gpt-5.5"),
            (House::Other, "llama"),
        ];
        let line = |(house, model): (House, &str)| {
            let said = Effort::ALL.map(|effort| {
                let mut body = Map::new();
                write(house, model, effort, &mut body);
                let values: Vec<String> = body
                    .iter()
                    .map(|(field, value)| match (field.as_str(), value) {
                        ("reasoning_effort", Value::String(word)) => word.clone(),
                        (_, value) => value.to_string(),
                    })
                    .collect();
                values.join(" ")
            });
            format!("{house:?} {model}: {}\n", said.join(", "))
        };
        expect![[r#"
            OpenAi o3: low, low, low, medium, high, high, high
            OpenAi gpt-5: minimal, minimal, low, medium, high, high, high
            OpenAi gpt-5-codex: low, low, low, medium, high, high, high
            OpenAi gpt-5-pro: high, high, high, high, high, high, high
            OpenAi gpt-5.1: none, low, low, medium, high, high, high
            OpenAi gpt-5.1-codex-max: low, low, low, medium, high, xhigh, xhigh
            OpenAi gpt-5.5: none, low, low, medium, high, xhigh, xhigh
            OpenAi gpt-5.6-terra: none, low, low, medium, high, xhigh, max
            DeepSeek deepseek-v4-pro: {"type":"disabled"}, low {"type":"enabled"}, low {"type":"enabled"}, high {"type":"enabled"}, high {"type":"enabled"}, high {"type":"enabled"}, max {"type":"enabled"}
            Moonshot kimi-k3: low, low, low, high, high, high, max
            Moonshot kimi-k2.6: {"type":"disabled"}, {"type":"enabled"}, {"type":"enabled"}, {"type":"enabled"}, {"type":"enabled"}, {"type":"enabled"}, {"type":"enabled"}
            Zai glm-4.6: {"type":"disabled"}, {"type":"enabled"}, {"type":"enabled"}, {"type":"enabled"}, {"type":"enabled"}, {"type":"enabled"}, {"type":"enabled"}
            Zai glm-5.2: {"type":"disabled"}, minimal {"type":"enabled"}, low {"type":"enabled"}, medium {"type":"enabled"}, high {"type":"enabled"}, xhigh {"type":"enabled"}, max {"type":"enabled"}
            Zai glm-5.3: low, low {"type":"enabled"}, low {"type":"enabled"}, high {"type":"enabled"}, high {"type":"enabled"}, high {"type":"enabled"}, max {"type":"enabled"}
            Qwen qwen3.6-plus: false, true 1024, true 2048, true 8192, true 24576, true 32768, true
            Xai grok-3-mini: low, low, low, high, high, high, high
            Xai grok-4.3: none, low, low, medium, high, high, high
            Xai grok-5: low, low, low, medium, high, high, high
            Groq openai/gpt-oss-120b: low, low, low, medium, high, high, high
            Groq qwen/qwen3-32b: none, default, default, default, default, default, default
            Mistral mistral-medium-3-5: none, none, high, high, high, high, high
            OpenRouter anthropic/claude-opus-5: {"effort":"none"}, {"effort":"minimal"}, {"effort":"low"}, {"effort":"medium"}, {"effort":"high"}, {"effort":"xhigh"}, {"effort":"max"}
            Other gpt-5.5: none, low, low, medium, high, xhigh, xhigh
            Other llama: none, minimal, low, medium, high, xhigh, max
        "#]].assert_eq(&rows.map(line).concat());
    }

    #[test]
    fn only_who_is_known_not_to_take_an_effort_is_refused_one() {
        for (house, model, taken) in [
            (House::DeepSeek, "deepseek-v4-pro", Some(true)),
            (House::Moonshot, "kimi-k3", Some(true)),
            (House::Moonshot, "kimi-k2.6", Some(true)),
            (House::Moonshot, "kimi-k2.7-code", Some(false)),
            (House::Moonshot, "moonshot-v1-8k", Some(false)),
            (House::Moonshot, "kimi-latest", None),
            (House::Zai, "glm-5.3", Some(true)),
            (House::Zai, "glm-4-plus", Some(false)),
            (House::Qwen, "qwen3-coder-plus", Some(false)),
            (House::Qwen, "qwen3.6-plus", Some(true)),
            (House::Qwen, "qwen2.5-72b", Some(false)),
            (House::Xai, "grok-5", Some(true)),
            (House::Xai, "grok-4-0709", Some(false)),
            (House::Xai, "grok-4.20-non-reasoning", Some(false)),
            (House::Xai, "grok-3-mini", Some(true)),
            (House::Xai, "grok-latest", None),
            (House::Groq, "llama-3.3-70b-versatile", Some(false)),
            (House::Mistral, "mistral-large-latest", None),
            (House::OpenRouter, "moonshotai/kimi-k3", None),
            (House::Other, "llama", None),
        ] {
            assert_eq!(is_taken(house, model), taken, "{model}");
        }
    }
}
