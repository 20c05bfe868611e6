//! The list of models, which this wire has by provider, and what a runtime asks because of it.
//!
//! The existing runtime asks for a missing key when the models of a provider are listed. Nobody wanted to give one: such a question is
//! answered with no, the provider is marked, and the list shows what came. One provider is asked after the other, so that it is known
//! whose key was asked for.

use super::super::wire::{ModelListParams, ModelListResult};
use super::responses::SentRequest;
use super::{CodeliaUi, LIST_OVER};
use domain::command::{Receipt, Refusal, RefusalKind};
use domain::port::Ticket;
use domain::session::{ModelEntry, ModelRef};
use domain::signal::{Level, Signal};
use roles::UiCx;
use std::collections::VecDeque;
use std::time::Duration;

/// The providers that the existing runtime knows.
const PROVIDERS: &[&str] = &["openai", "anthropic", "openrouter", "moonshot", "zai", "xai"];
/// Once the provider that answers has listed its models, the others have this long before the list is shown without them.
pub(super) const OTHERS_WITHIN: Duration = Duration::from_secs(1);

/// Models of several providers, until all have answered.
#[derive(Debug, Default)]
pub(super) struct GatheredModels {
    /// The providers that have not been asked.
    others: VecDeque<&'static str>,
    models: Vec<ModelEntry>,
    current: Option<ModelRef>,
    /// Whether the list would do without those that are missing.
    enough: bool,
}

impl CodeliaUi {
    /// Lists one provider, or the one that answers and then the others: those that answer without wanting a key first.
    pub(super) fn lower_models(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, provider: Option<String>) {
        let others = if provider.is_none() { PROVIDERS } else { &[] };
        let others = others.iter().copied().filter(|other| !self.keyless.contains(*other)).collect();
        self.gathered.insert(ticket, GatheredModels { others, ..GatheredModels::default() });
        self.list(cx, ticket, true, provider);
    }

    fn list(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, wanted: bool, provider: Option<String>) {
        let params = ModelListParams { provider: provider.clone(), include_details: true };
        self.answers_since_list = false;
        if !self.ask_runtime(cx, &params, SentRequest::Models { ticket, wanted, provider: provider.clone() })
        {
            let refusal = Refusal::new(RefusalKind::TooMany, "too many requests wait for the runtime");
            self.gather(cx, ticket, wanted, provider, Err(refusal));
        }
    }

    /// The models of one more provider; when all have answered, the list is whole.
    pub(super) fn gather(
        &mut self,
        cx: &mut UiCx<'_>,
        ticket: Ticket,
        wanted: bool,
        asked: Option<String>,
        list: Result<ModelListResult, Refusal>,
    ) {
        if let (Ok(_), Some(provider)) = (&list, asked.filter(|_| wanted)) {
            self.keyless.remove(&provider);
        }
        let Some(gathered) = self.gathered.get_mut(&ticket) else { return };
        match list {
            Ok(list) => {
                if wanted {
                    let provider = list.provider.clone();
                    gathered.current = list.current.clone().map(|name| ModelRef { provider, name });
                    gathered.others.retain(|other| *other != list.provider);
                    gathered.enough = true;
                    cx.timer(LIST_OVER, OTHERS_WITHIN);
                }
                // Some runtimes list the same whatever provider is named.
                if !gathered.models.iter().any(|entry| entry.model.provider == list.provider) {
                    gathered.models.extend(lift_models(list.clone()));
                }
                if wanted {
                    self.current_model(cx, &list);
                }
            }
            Err(refusal) if wanted => {
                self.gathered.remove(&ticket);
                return cx.settle(ticket, Err(refusal));
            }
            // A provider without a key, or one that the runtime does not know, has no models.
            Err(_) => {}
        }
        let next = self.gathered.get_mut(&ticket).and_then(|gathered| gathered.others.pop_front());
        match next {
            Some(next) => self.list(cx, ticket, false, Some(next.to_owned())),
            None => self.listed(cx, ticket),
        }
    }

    fn listed(&mut self, cx: &mut UiCx<'_>, ticket: Ticket) {
        if let Some(GatheredModels { models, current, .. }) = self.gathered.remove(&ticket) {
            cx.settle(ticket, Ok(Receipt::Models { models, current }));
        }
    }

    /// The others take too long: the lists show what came.
    pub(super) fn list_over(&mut self, cx: &mut UiCx<'_>) {
        let enough = self.gathered.iter().filter(|(_, gathered)| gathered.enough);
        for ticket in enough.map(|(ticket, _)| *ticket).collect::<Vec<_>>() {
            self.listed(cx, ticket);
        }
    }

    /// Whether a question comes only because we list models. Nobody is asked for a secret by mistake: the answer is no, and the
    /// provider is marked.
    pub(super) fn asks_by_mistake(&mut self, cx: &mut UiCx<'_>, run: Option<&str>, secret: bool) -> bool {
        if run.is_some() || self.run.is_some() || self.starting.is_some() {
            return false;
        }
        let mut whose = None;
        for waiting in self.pending.waiting() {
            let (provider, wanted) = match waiting {
                SentRequest::CurrentModel => (None, true),
                SentRequest::Models { wanted, provider, .. } => (provider.clone(), *wanted),
                // What lists nothing may want an answer of the person.
                SentRequest::SetModel { .. } | SentRequest::SetEffort { .. } => return false,
                _ => continue,
            };
            // The provider that answers is the person's own choice: only a secret that they were not led to is none of theirs.
            if !wanted || secret && !self.answers_since_list {
                whose = Some(provider.or(whose.take().flatten()));
            }
        }
        let Some(provider) = whose else { return false };
        let known = provider.as_ref().is_some_and(|provider| !self.keyless.insert(provider.clone()));
        if !known {
            let name = provider.as_deref().unwrap_or("The provider that answers here");
            let text = format!(
                "{name} needs a key before its models can be listed. Give it where the runtime is started; nothing is asked for here"
            );
            cx.signal(Signal::Notify { level: Level::Info, text });
        }
        true
    }
}

fn lift_models(list: ModelListResult) -> Vec<ModelEntry> {
    let micros = |dollars: Option<f64>| {
        dollars.filter(|d| d.is_finite() && *d >= 0.0).map(|d| (d * 1e6).round() as u64)
    };
    let mut details = list.details.unwrap_or_default();
    let provider = list.provider;
    let entry = |name: String| {
        let detail = details.remove(&name).unwrap_or_default();
        ModelEntry {
            model: ModelRef { provider: provider.clone(), name },
            context_window: detail.context_window,
            max_output: detail.max_output_tokens,
            price_input: micros(detail.cost_per_1m_input_tokens_usd),
            price_output: micros(detail.cost_per_1m_output_tokens_usd),
            thinks: None,
        }
    };
    list.models.into_iter().map(entry).collect()
}
