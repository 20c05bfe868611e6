//! Whether a provider still had in its cache what was sent before, and where not, by what that was lost and what it cost. Pure but for the
//! lock; not here: what keeps requests the same (`briefing/told.rs`) and the marks (`models`).
//!
//! Only what is known is said: a provider that never told of a cache has lost none, and a cause that nobody can tell is left out.

use crate::chat;
use domain::session::ModelRef;
use models::{Effort, ModelInfo, Price, Request, Usage};
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Fewer tokens than this are not worth a word.
const MIN_LOST: u64 = 8_192;
/// A request that finds less than this percent of what was sent before has lost it.
const FOUND_PERCENT: u64 = 50;
const MICROS: f64 = 1_000_000.0;
const MINUTE: Duration = Duration::from_secs(60);

/// How long makers say that they keep what nobody asks for. Anthropic: "By default, the cache has a 5-minute lifetime." OpenAI: 5 to 10
/// minutes for older models, 30 for newer ones, so that more than 30 are too many for all.
const KEPT_FOR: [(&str, Duration); 4] = [
    ("anthropic", Duration::from_secs(5 * 60)),
    ("openai", Duration::from_secs(30 * 60)),
    ("openai-chat", Duration::from_secs(30 * 60)),
    ("azure", Duration::from_secs(30 * 60)),
];

/// What a provider reads from its beginning, so far as it decides about the cache.
#[derive(Debug, Clone)]
pub(crate) struct RequestPrint {
    model: ModelRef,
    at: SystemTime,
    tools: u64,
    system: u64,
    effort: Effort,
    messages: Vec<u64>,
    /// A summary stands for what was said before.
    is_summarized: bool,
    /// The request without the conversation.
    frame: Request,
}

/// By what a cache was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Model,
    Summary,
    Tools,
    Instructions,
    /// An earlier part of the conversation is another one: old results were left out, or it was taken up elsewhere.
    Past,
    Effort,
    Pause(Duration),
}

/// The last request of a session, and what was found of it. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct CacheMeter(Arc<Mutex<Option<Asked>>>);

#[derive(Debug)]
struct Asked {
    print: RequestPrint,
    tokens: u64,
    /// The provider has told of a cache.
    caches: bool,
}

impl RequestPrint {
    /// A request as it is about to be sent.
    pub(crate) fn of(request: &Request, model: ModelRef, at: SystemTime) -> RequestPrint {
        RequestPrint {
            model,
            at,
            tools: hash(&format!("{:?}", request.tools)),
            system: hash(&request.system),
            effort: request.thinking,
            messages: request.messages.iter().map(|message| hash(&format!("{message:?}"))).collect(),
            is_summarized: request.messages.first().is_some_and(chat::is_summary),
            frame: Request {
                messages: Vec::new(),
                system: request.system.clone(),
                tools: request.tools.clone(),
                max_tokens: request.max_tokens,
                temperature: request.temperature,
                thinking: request.thinking,
                schema: request.schema.clone(),
                cache_key: request.cache_key.clone(),
            },
        }
    }

    /// Why this does not begin as `before` did, or was asked too late.
    fn differs(&self, before: &RequestPrint) -> Option<Cause> {
        let past = self.messages.starts_with(&before.messages);
        let pause = self.at.duration_since(before.at).unwrap_or_default();
        let kept = KEPT_FOR.iter().find(|(provider, _)| *provider == self.model.provider).map(|kept| kept.1);
        match () {
            () if self.model != before.model => Some(Cause::Model),
            () if !past && self.is_summarized => Some(Cause::Summary),
            () if self.tools != before.tools => Some(Cause::Tools),
            () if self.system != before.system => Some(Cause::Instructions),
            () if !past => Some(Cause::Past),
            () if self.effort != before.effort => Some(Cause::Effort),
            () if kept.is_some_and(|kept| pause > kept) => Some(Cause::Pause(pause)),
            () => None,
        }
    }
}

impl CacheMeter {
    /// What stood around the conversation in the last request to this model: who asks with the same finds what is in the cache.
    pub(crate) fn frame(&self, model: &ModelRef) -> Option<Request> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|last| last.print.model == *model).map(|last| last.print.frame.clone())
    }

    /// The provider has answered; where it had lost what was sent before, the words for that.
    pub(crate) fn answered(&self, print: RequestPrint, usage: &Usage, info: &ModelInfo) -> Option<String> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let told = usage.cache_read > 0 || usage.cache_write > 0;
        let same = last.as_ref().is_some_and(|last| last.caches && last.print.model == print.model);
        let asked = Asked { tokens: usage.input, caches: told || same, print };
        let before = last.replace(asked).filter(|before| before.caches)?;
        let now = last.as_ref()?;
        let expected = before.tokens.min(usage.input);
        let lost = expected.saturating_sub(usage.cache_read);
        if lost < MIN_LOST || usage.cache_read.saturating_mul(100) >= expected.saturating_mul(FOUND_PERCENT) {
            return None;
        }
        // What a summary stands in was never sent before, so nobody could have it.
        let cause = now.print.differs(&before.print);
        if cause == Some(Cause::Summary) {
            return None;
        }
        Some(words(lost, cause, info.price.as_ref()))
    }
}

fn words(lost: u64, cause: Option<Cause>, price: Option<&Price>) -> String {
    let cause = match cause {
        Some(Cause::Model) => " since another model answers now".to_owned(),
        Some(Cause::Tools) => " since other tools are offered now".to_owned(),
        Some(Cause::Instructions) => " since the instructions changed".to_owned(),
        Some(Cause::Past) => " since an earlier part of the conversation changed".to_owned(),
        Some(Cause::Effort) => " since the thinking effort changed".to_owned(),
        Some(Cause::Pause(pause)) => {
            format!(" after a pause of {} minutes", pause.as_secs() / MINUTE.as_secs())
        }
        Some(Cause::Summary) | None => String::new(),
    };
    let cost = price
        .and_then(|price| more(lost, price))
        .map(|cost| format!(", ${cost:.2} more"))
        .unwrap_or_default();
    format!("The provider's cache was lost{cause}: {lost} tokens were read again{cost}.")
}

/// Dollars that it cost beyond what the cache would have; nothing where that is not known or less than a cent.
#[expect(clippy::cast_precision_loss, reason = "a count of tokens is far below where that matters")]
fn more(lost: u64, price: &Price) -> Option<f64> {
    let paid = price.cache_write.unwrap_or(price.input);
    let dollars = lost as f64 * (paid - price.cache_read?) / MICROS;
    Some(dollars).filter(|dollars| *dollars >= 0.01)
}

fn hash(value: &impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::{ChatMessage, ToolSpec};

    fn at(minute: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + MINUTE * u32::try_from(minute).unwrap()
    }

    fn model(name: &str) -> ModelRef {
        ModelRef { provider: "anthropic".into(), name: name.into() }
    }

    fn request(texts: &[&str]) -> Request {
        let messages = texts.iter().map(|text| ChatMessage::user(*text)).collect();
        Request { system: Some("be".into()), messages, ..Request::default() }
    }

    /// What is said of the second of two requests; each finds `found` of 100,000 tokens.
    fn told(change: impl Fn(&mut Request, &mut RequestPrint), minutes: u64, found: u64) -> Option<String> {
        let price = Price { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: Some(3.75) };
        let info = ModelInfo { price: Some(price), ..ModelInfo::default() };
        let meter = CacheMeter::default();
        let first = request(&["a"]);
        let usage = Usage { input: 100_000, cache_write: 100_000, ..Usage::default() };
        let print = RequestPrint::of(&first, model("x"), at(0));
        assert_eq!(meter.answered(print, &usage, &info), None, "there was nothing before");
        let mut second = request(&["a", "b"]);
        let mut print = RequestPrint::of(&second, model("x"), at(minutes));
        change(&mut second, &mut print);
        let print = RequestPrint::of(&second, print.model, print.at);
        let usage = Usage { input: 101_000, cache_read: found, ..Usage::default() };
        meter.answered(print, &usage, &info)
    }

    #[test]
    fn a_cache_that_was_lost_is_told_with_its_cause_and_cost() {
        let same = |_: &mut Request, _: &mut RequestPrint| {};
        assert_eq!(told(same, 4, 100_000), None);
        let text = |cause: &str| {
            Some(format!("The provider's cache was lost{cause}: 100000 tokens were read again, $0.34 more."))
        };
        assert_eq!(told(same, 6, 0), text(" after a pause of 6 minutes"));
        assert_eq!(told(same, 1, 0), text(""), "what nobody knows is left out");
        assert_eq!(told(|_, print| print.model = model("y"), 1, 0), text(" since another model answers now"));
        assert_eq!(
            told(|now, _| now.system = Some("be brief".into()), 1, 0),
            text(" since the instructions changed")
        );
        let tool = ToolSpec { name: "t".into(), description: String::new(), schema: serde_json::json!({}) };
        assert_eq!(
            told(|now, _| now.tools = vec![tool.clone()], 1, 0),
            text(" since other tools are offered now")
        );
        assert_eq!(
            told(|now, _| *now = request(&["other", "b"]), 1, 0),
            text(" since an earlier part of the conversation changed")
        );
        let summary = |now: &mut Request, _: &mut RequestPrint| now.messages = vec![chat::summary("s")];
        assert_eq!(told(summary, 1, 0), None, "it was never sent before");
        assert_eq!(
            told(|now, _| now.thinking = Effort::High, 1, 0),
            text(" since the thinking effort changed")
        );
        // Most of it was found: what is new is not lost.
        assert_eq!(told(same, 1, 60_000), None);
    }

    #[test]
    fn who_never_told_of_a_cache_has_lost_none() {
        let meter = CacheMeter::default();
        for step in 0..3 {
            let asked = request(&["a"]);
            let print = RequestPrint::of(&asked, model("x"), at(step * 60));
            let usage = Usage { input: 100_000, ..Usage::default() };
            assert_eq!(meter.answered(print, &usage, &ModelInfo::default()), None);
        }
    }
}
