//! Every effort with every maker: what a maker has no word for never reaches it, and what it reaches is refused in its own words.

use models::{Delta, Effort, ErrorKind, Request};
use serde_json::{Value, json};

use crate::makers::refusal;
use crate::server::{Seen, Server, torn};
use crate::{KEY, catalog, hello, limits, model_at, stream};

const EFFORTS: [Effort; 7] =
    [Effort::None, Effort::Minimal, Effort::Low, Effort::Medium, Effort::High, Effort::Xhigh, Effort::Max];

const CHAT: &str =
    "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
const RESPONSES: &str = "data: {\"type\":\"response.completed\",\"response\":{}}\n\n";
const MESSAGES: &str = "data: {\"type\":\"message_stop\"}\n\n";
const CANDIDATES: &str = "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n";

/// Asks a model with every effort; what the server gets of each.
async fn asked(
    name: &str,
    variables: [&str; 2],
    judge: impl Fn(&Value) -> Result<(), String> + Send + Sync + 'static,
) -> Vec<Seen> {
    let server = Server::deciding(move |request| match judge(&request.body) {
        Ok(()) if request.line.contains("/responses") => torn(RESPONSES, 99),
        Ok(()) if request.line.contains("/messages") => torn(MESSAGES, 99),
        Ok(()) if request.line.contains(":stream") => torn(CANDIDATES, 99),
        Ok(()) => torn(CHAT, 99),
        Err(why) => refusal(&why),
    })
    .await;
    let [key, base] = variables;
    let model = catalog(&[(key, KEY), (base, &server.url)], limits()).open(name).unwrap();
    for effort in EFFORTS {
        let deltas = stream(&*model, Request { thinking: effort, ..hello() }).await;
        assert!(matches!(deltas.last(), Some(Ok(Delta::Done { .. }))), "{name} {effort:?}: {deltas:?}");
    }
    server.seen()
}

/// "Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: 'none', 'low', 'medium', and 'high'."
/// (github.com/openai/openai-agents-python/issues/2089)
fn of(word: &Value, known: &[&str]) -> Result<(), String> {
    match word.as_str() {
        Some(word) if known.contains(&word) => Ok(()),
        _ => Err(format!("Unsupported value: '{word}' is not supported. Supported values are: {known:?}.")),
    }
}

#[tokio::test]
async fn openai_gets_words_that_the_model_knows() {
    let variables = ["OPENAI_API_KEY", "OPENAI_BASE_URL"];
    for (model, known) in [
        ("o3", &["low", "medium", "high"][..]),
        ("gpt-5", &["minimal", "low", "medium", "high"]),
        ("gpt-5-pro", &["high"]),
        ("gpt-5.1", &["none", "low", "medium", "high"]),
        ("gpt-5.3-codex", &["low", "medium", "high", "xhigh"]),
        ("gpt-5.5", &["none", "low", "medium", "high", "xhigh"]),
        ("gpt-5.6-terra", &["none", "low", "medium", "high", "xhigh", "max"]),
    ] {
        let judge = move |body: &Value| of(&body["reasoning"]["effort"], known);
        let mut seen = asked(&format!("openai-responses/{model}"), variables, judge).await;
        let last = seen.pop().unwrap().body;
        assert_eq!(last["reasoning"]["effort"].as_str(), known.last().copied(), "{model}: the most there is");
        let judge = move |body: &Value| of(&body["reasoning_effort"], known);
        let seen = asked(&format!("openai-chat/{model}"), variables, judge).await;
        let medium = if known.len() > 1 { "medium" } else { "high" };
        assert_eq!(seen[3].body["reasoning_effort"], medium, "{model}");
    }
}

#[tokio::test]
async fn a_switch_and_a_word_go_to_who_has_both() {
    // "reasoning_effort": "low/high/max", "thinking": {"type": "enabled/disabled"} (api-docs.deepseek.com/guides/thinking_mode)
    let deepseek = |body: &Value| match body["thinking"]["type"].as_str() {
        Some("disabled") if body.get("reasoning_effort").is_none() => Ok(()),
        Some("enabled") => of(&body["reasoning_effort"], &["low", "high", "max"]),
        _ => Err("thinking.type must be enabled or disabled".to_owned()),
    };
    let seen = asked("deepseek/deepseek-v4-pro", ["DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL"], deepseek).await;
    assert_eq!(seen[0].body["thinking"]["type"], "disabled", "none is none");
    assert_eq!(seen[6].body["reasoning_effort"], "max");
    // GLM-5.3: "thinking.type supports enabled only", "low, high, or max" (dev.to/aihubmix, of Z.ai's documentation)
    let glm = |body: &Value| {
        of(&body["thinking"]["type"], &["enabled"])
            .and(of(&body["reasoning_effort"], &["low", "high", "max"]))
    };
    asked("zai/glm-5.3", ["ZAI_API_KEY", "ZAI_BASE_URL"], glm).await;
    let older = |body: &Value| match body.get("reasoning_effort") {
        None => of(&body["thinking"]["type"], &["enabled", "disabled"]),
        Some(_) => Err("reasoning_effort is of GLM-5.2 and newer".to_owned()),
    };
    let seen = asked("zai/glm-4.7", ["ZAI_API_KEY", "ZAI_BASE_URL"], older).await;
    assert_eq!(seen[0].body["thinking"]["type"], "disabled");
    // kimi-k3 "always reasons"; kimi-k2.6 is switched and has no effort (platform.kimi.ai/docs/guide/use-thinking-effort)
    let k3 = |body: &Value| match body.get("thinking") {
        None => of(&body["reasoning_effort"], &["low", "high", "max"]),
        Some(_) => Err("kimi-k3 has no thinking field".to_owned()),
    };
    asked("moonshot/kimi-k3", ["MOONSHOT_API_KEY", "MOONSHOT_BASE_URL"], k3).await;
    let k2 = |body: &Value| match body.get("reasoning_effort") {
        None => of(&body["thinking"]["type"], &["enabled", "disabled"]),
        Some(_) => Err("no graduated effort".to_owned()),
    };
    asked("moonshot/kimi-k2.6", ["MOONSHOT_API_KEY", "MOONSHOT_BASE_URL"], k2).await;
    // "enable_thinking": ..., "thinking_budget": 500 (docs.qwencloud.com/developer-guides/text-generation/thinking)
    let qwen = |body: &Value| match (body["enable_thinking"].as_bool(), body.get("thinking_budget")) {
        (Some(true), None) | (Some(false), None) => Ok(()),
        (Some(true), Some(budget)) if budget.as_u64() > Some(0) => Ok(()),
        other => Err(format!("{other:?}")),
    };
    let seen = asked("qwen/qwen3.6-plus", ["DASHSCOPE_API_KEY", "DASHSCOPE_BASE_URL"], qwen).await;
    assert_eq!(
        (&seen[0].body["enable_thinking"], &seen[4].body["thinking_budget"]),
        (&json!(false), &json!(24_576))
    );
}

#[tokio::test]
async fn routers_and_other_houses_get_their_own_words() {
    let router = |body: &Value| {
        of(&body["reasoning"]["effort"], &["none", "minimal", "low", "medium", "high", "xhigh", "max"])
    };
    asked("openrouter/moonshotai/kimi-k3", ["OPENROUTER_API_KEY", "OPENROUTER_BASE_URL"], router).await;
    let grok = |body: &Value| of(&body["reasoning"]["effort"], &["low", "medium", "high"]);
    asked("xai/grok-5", ["XAI_API_KEY", "XAI_BASE_URL"], grok).await;
    let groq = |body: &Value| of(&body["reasoning_effort"], &["low", "medium", "high"]);
    asked("groq/openai/gpt-oss-120b", ["GROQ_API_KEY", "GROQ_BASE_URL"], groq).await;
    let groq = |body: &Value| of(&body["reasoning_effort"], &["none", "default"]);
    asked("groq/qwen/qwen3-32b", ["GROQ_API_KEY", "GROQ_BASE_URL"], groq).await;
    let mistral = |body: &Value| of(&body["reasoning_effort"], &["none", "high"]);
    asked("mistral/mistral-medium-3-5", ["MISTRAL_API_KEY", "MISTRAL_BASE_URL"], mistral).await;
}

#[tokio::test]
async fn who_is_known_to_take_no_effort_gets_none_unless_the_person_says_otherwise() {
    let none = |body: &Value| match (body.get("reasoning"), body.get("reasoning_effort")) {
        (None, None) => Ok(()),
        // docs.x.ai/docs/guides/reasoning: "Specifying reasoning_effort parameter will get an error response."
        _ => Err("Argument not supported on this model: reasoningEffort".to_owned()),
    };
    asked("xai/grok-4", ["XAI_API_KEY", "XAI_BASE_URL"], none).await;
    asked("moonshot/kimi-k2.7-code", ["MOONSHOT_API_KEY", "MOONSHOT_BASE_URL"], none).await;
    let server = Server::start(vec![torn(RESPONSES, 99)]).await;
    let env = [("XAI_API_KEY", KEY), ("XAI_BASE_URL", &*server.url)];
    let set = models::Figures { thinking: Some(true), ..models::Figures::default() };
    let catalog = catalog(&env, limits()).with_figures(&[("xai/grok-4".to_owned(), set)].into());
    let model = catalog.open("xai/grok-4").unwrap();
    assert_eq!(model.info().thinking, Some(true));
    stream(&*model, Request { thinking: Effort::High, ..hello() }).await;
    assert_eq!(server.seen()[0].body["reasoning"]["effort"], "high");
}

#[tokio::test]
async fn a_server_that_refuses_an_effort_says_why() {
    let server = Server::start(vec![refusal("`llama3` does not support thinking")]).await;
    let model = model_at(&server.url, "vllm/llama3", limits());
    let deltas = stream(&*model, Request { thinking: Effort::Xhigh, ..hello() }).await;
    assert_eq!(server.seen()[0].body["reasoning_effort"], "xhigh", "who is not known gets the person's word");
    match deltas.last() {
        Some(Err(why)) => {
            assert!(why.kind == ErrorKind::BadRequest && why.to_string().contains("llama3"), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

/// Claude by generation: tokens before 4.6 ("do not support adaptive thinking"), words from then on; "manual extended thinking ... will return
/// a 400 error" from 4.7 on, and "disabled" with models that always think (docs.aws.amazon.com/bedrock, claude-messages-adaptive-thinking).
#[tokio::test]
async fn claude_counts_tokens_or_takes_words_by_generation() {
    let variables = ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"];
    for model in
        ["claude-opus-4-1", "claude-sonnet-4-5", "claude-sonnet-4-20250514", "claude-3-7-sonnet-latest"]
    {
        let budget = |body: &Value| {
            let (budget, most) = (body["thinking"]["budget_tokens"].as_u64(), body["max_tokens"].as_u64());
            match (body["thinking"]["type"].as_str(), budget) {
                (None, None) => Ok(()),
                (Some("enabled"), Some(1024..)) if budget < most && most <= Some(64_000) => Ok(()),
                other => Err(format!("{other:?} of {most:?}")),
            }
        };
        let seen = asked(&format!("anthropic/{model}"), variables, budget).await;
        assert_eq!(seen[0].body.get("thinking"), None, "{model}: none is none");
        assert!(
            seen[6].body["thinking"]["budget_tokens"].as_u64()
                > seen[3].body["thinking"]["budget_tokens"].as_u64()
        );
    }
    for (model, stops, known) in [
        ("claude-opus-4-6", None, &["low", "medium", "high", "max"][..]),
        ("claude-opus-4-8", None, &["low", "medium", "high", "xhigh", "max"]),
        ("claude-opus-5", Some("disabled"), &["low", "medium", "high", "xhigh", "max"]),
        ("claude-sonnet-5", Some("disabled"), &["low", "medium", "high", "xhigh", "max"]),
        ("claude-fable-5-1", Some("adaptive"), &["low", "medium", "high", "xhigh", "max"]),
        ("claude-opus-5-5", Some("adaptive"), &["low", "medium", "high", "xhigh", "max"]),
        ("claude-next", Some("adaptive"), &["low", "medium", "high", "xhigh", "max"]),
    ] {
        let words = move |body: &Value| match body["thinking"]["type"].as_str() {
            Some("adaptive") => of(&body["output_config"]["effort"], known),
            kind if kind == stops && body.get("output_config").is_none() => Ok(()),
            other => Err(format!("thinking.type {other:?} is not supported on this model")),
        };
        let seen = asked(&format!("anthropic/{model}"), variables, words).await;
        assert_eq!(seen[0].body["thinking"]["type"].as_str(), stops, "{model}");
        assert_eq!(seen[6].body["output_config"]["effort"], "max", "{model}");
    }
}

/// "You cannot use both thinking_level and thinking_budget in the same request. Doing so will return a 400 error"; 2.5 Pro takes 128 to 32,768
/// tokens, 2.5 Flash 0 to 24,576, Gemini 3 Pro low and high, Flash minimal to high (ai.google.dev/gemini-api/docs/thinking).
#[tokio::test]
async fn gemini_takes_levels_or_tokens_never_both() {
    let variables = ["GEMINI_API_KEY", "GEMINI_BASE_URL"];
    for (model, least, most) in [("gemini-2.5-pro", 128, 32_768), ("gemini-2.5-flash", 0, 24_576)] {
        let tokens = move |body: &Value| {
            let config = &body["generationConfig"]["thinkingConfig"];
            match config["thinkingBudget"].as_u64() {
                Some(budget) if config.get("thinkingLevel").is_none() && (least..=most).contains(&budget) => {
                    Ok(())
                }
                other => Err(format!("{other:?} is out of range")),
            }
        };
        let seen = asked(&format!("gemini/{model}"), variables, tokens).await;
        assert_eq!(seen[0].body["generationConfig"]["thinkingConfig"]["thinkingBudget"], least, "{model}");
        assert_eq!(seen[6].body["generationConfig"]["thinkingConfig"]["thinkingBudget"], most, "{model}");
    }
    for (model, known) in [
        ("gemini-3-pro-preview", &["low", "high"][..]),
        ("gemini-3.1-pro", &["low", "medium", "high"]),
        ("gemini-3-flash", &["minimal", "low", "medium", "high"]),
        ("gemini-4-flash", &["minimal", "low", "medium", "high"]),
    ] {
        let levels = move |body: &Value| {
            let config = &body["generationConfig"]["thinkingConfig"];
            let both = config.get("thinkingBudget").is_some();
            if both { Err("both".to_owned()) } else { of(&config["thinkingLevel"], known) }
        };
        asked(&format!("gemini/{model}"), variables, levels).await;
    }
}
