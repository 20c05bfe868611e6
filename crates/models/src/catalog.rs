//! Which models there are, and how to get one: by name, or by what the environment offers.
//!
//! The environment is handed in, so that choosing is pure and testable; nothing here reads the process's own. Only
//! [`Catalog::choose`] and [`Catalog::list`] touch the network, and only for a bounded time.

mod known;
mod listing;
mod providers;
mod reference;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinSet;

use crate::http::Clients;
use crate::offline::Offline;
use crate::provider::{Facts, Remote, is_effort_taken};
use crate::scripted::{ScriptError, Scripted};
use crate::{Figures, Limits, Model, ModelError, ModelInfo, ModelName, Secret};
use listing::ListedModel;
use providers::{Environment, PROVIDERS, Provider};
pub use reference::{KnownProvider, known_providers};
pub use trial::{Trial, Verdict};

/// Bytes of a script file at most.
const MAX_SCRIPT: u64 = 4 * 1024 * 1024;
/// How long the first prompt waits for a provider to tell the figures of a model that nobody knows.
const LEARN_WAIT: Duration = Duration::from_secs(2);
/// The model of last resort, and the provider that holds it.
const OFFLINE: &str = "offline";
/// The provider whose models are script files.
const SCRIPTED: &str = "scripted";

/// Why a model cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// Neither `provider/name` nor a known provider or model.
    #[error("`{text}` is no model: write it as provider/name")]
    BadName { text: String },
    /// The half before the slash is unknown.
    #[error("there is no provider `{provider}`")]
    UnknownProvider { provider: String },
    /// The provider lists its models, and this is none of them.
    #[error("{provider} has no model `{name}`")]
    UnknownModel { provider: String, name: String },
    /// The provider needs a key.
    #[error("{provider} needs a key: {variable} is not set")]
    NoKey {
        provider: &'static str,
        /// The variable to set.
        variable: &'static str,
    },
    #[error("{variable} is not a URL")]
    BadBaseUrl {
        provider: &'static str,
        /// The variable that holds it.
        variable: &'static str,
    },
    /// The machine cannot speak HTTP.
    #[error(transparent)]
    NoClient(#[from] ModelError),
    /// The script file cannot be read.
    #[error("cannot read the script {path}: {why}")]
    NoScript { path: String, why: String },
    #[error("the script {path} has a mistake in {mistake}")]
    BadScript { path: String, mistake: ScriptError },
}

impl CatalogError {
    /// Whether the name itself is what is wrong, and not what stands behind it.
    pub fn is_wrong_name(&self) -> bool {
        match self {
            Self::BadName { .. } | Self::UnknownProvider { .. } | Self::UnknownModel { .. } => true,
            Self::NoScript { .. } | Self::BadScript { .. } => true,
            Self::NoKey { .. } | Self::BadBaseUrl { .. } | Self::NoClient(_) => false,
        }
    }

    /// What the person can do next.
    pub fn hint(&self) -> String {
        match self {
            Self::BadName { .. } | Self::UnknownModel { .. } => {
                "`parlor models` lists what is there".to_owned()
            }
            Self::UnknownProvider { .. } => {
                // A script is for tests and films; who has one knows it.
                let known = provider_ids().into_iter().filter(|id| *id != SCRIPTED);
                format!("known are {}", known.collect::<Vec<_>>().join(", "))
            }
            Self::NoKey { variable, .. } => {
                format!(
                    "`parlor login` adds one, or set {variable}; `--model offline/offline` tries everything without a key"
                )
            }
            Self::BadBaseUrl { variable, .. } => {
                format!("set {variable} to something like http://localhost:8000/v1")
            }
            Self::NoClient(error) => error.hint().to_owned(),
            Self::NoScript { .. } => "check the path after `scripted/`".to_owned(),
            Self::BadScript { .. } => "correct that line of the script".to_owned(),
        }
    }
}

/// The names that may stand before the slash.
pub fn provider_ids() -> Vec<&'static str> {
    [OFFLINE, SCRIPTED].into_iter().chain(PROVIDERS.iter().map(|provider| provider.id)).collect()
}

/// The variables of the environment that may hold a key: child processes that do not need them must not get them.
pub fn key_variables() -> Vec<&'static str> {
    providers::key_variables()
}

/// All variables of the environment that say something of providers: their keys, their addresses, their versions.
pub fn variables() -> Vec<&'static str> {
    providers::variables()
}

/// The provider that is meant by a name, as its keys are kept: several wires of one maker share a key.
pub fn account(text: &str) -> Option<&'static str> {
    providers::find(text).map(Provider::account)
}

/// Where a provider is unless somebody says otherwise; `None` where everybody has an address of their own.
pub fn usual_address(provider: &str) -> Option<String> {
    providers::find(provider)?.usual_address().map(|address| providers::shown(&address))
}

/// A key that the person has kept, and the address that it was kept for: it is sent nowhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptKey {
    pub key: Secret,
    /// As [`Trial::address`] gave it.
    pub address: String,
}

/// Where a key comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyFrom {
    /// A variable of the environment.
    Variable(&'static str),
    /// Kept by the person.
    Kept,
}

/// One provider as `parlor doctor` shows it. Holds no key, only where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderState {
    /// The name before the slash.
    pub provider: &'static str,
    /// The variable that its key is looked for in first.
    pub variable: &'static str,
    /// Where its key comes from, if there is one.
    pub key_from: Option<KeyFrom>,
    /// The address that a key was kept for, when that is not where requests go now: such a key is not used.
    pub kept_for: Option<String>,
    /// Where requests go, without user and password; or what is wrong.
    pub address: Result<String, CatalogError>,
    /// Lives on this machine and asks for no key.
    pub local: bool,
    /// The environment offers it (a local server may still not answer).
    pub offered: bool,
}

/// One line of `parlor models`.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    pub name: ModelName,
    /// What is known of it.
    pub info: ModelInfo,
    /// The provider itself named it; else it comes from the built-in table.
    pub confirmed: bool,
}

/// All that could be found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// Models, by provider in the order of preference; `offline/offline` comes last.
    pub models: Vec<Listed>,
    /// Providers that could not be asked, and why.
    pub troubles: Vec<ModelError>,
}

/// Finds and opens models.
#[derive(Default)]
pub struct Catalog {
    env: Environment,
    limits: Limits,
    clients: Clients,
    /// What servers told about their models.
    learned: Arc<Mutex<BTreeMap<ModelName, Figures>>>,
    /// What the person has set.
    set: BTreeMap<ModelName, Figures>,
    /// Providers that were asked for a model that is not known.
    asked: Mutex<BTreeSet<&'static str>>,
}

/// Shows no value of the environment: some are keys.
impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Catalog {
    /// A catalog for this environment (names and values).
    pub fn new(env: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { env: env.into_iter().collect(), ..Self::default() }
    }

    /// The same with keys that the person has kept, by provider. A key of the environment goes before them.
    #[must_use]
    pub fn keeping(mut self, keys: BTreeMap<String, KeptKey>) -> Self {
        self.env.kept = keys;
        self
    }

    /// The same with other waits and attempts.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The same with figures that the person has set, by what they call the model. A name that means nothing is left out.
    #[must_use]
    pub fn with_figures(mut self, figures: &BTreeMap<String, Figures>) -> Self {
        let set = figures.iter().filter_map(|(text, figures)| Some((self.resolve(text).ok()?, *figures)));
        self.set = set.collect();
        self
    }

    /// The full name for what a person typed: `provider/name`, a provider alone, or the name of a known model alone.
    pub fn resolve(&self, text: &str) -> Result<ModelName, CatalogError> {
        let text = text.trim();
        if text == OFFLINE {
            return Ok(ModelName::new(OFFLINE, OFFLINE));
        }
        if let Some(name) = ModelName::parse(text) {
            if matches!(name.provider.as_str(), OFFLINE | SCRIPTED) {
                return Ok(name);
            }
            return match providers::find(&name.provider) {
                Some(provider) => Ok(ModelName::new(provider.id, name.name)),
                None => Err(CatalogError::UnknownProvider { provider: name.provider }),
            };
        }
        if let Some(provider) = providers::find(text)
            && let Some(model) = provider.default_model
        {
            return Ok(ModelName::new(provider.id, model));
        }
        let maker = known::maker_of(text);
        let provider =
            maker.and_then(|maker| PROVIDERS.iter().find(|provider| provider.maker == Some(maker)));
        match provider {
            Some(provider) => Ok(ModelName::new(provider.id, text)),
            None => Err(CatalogError::BadName { text: text.to_owned() }),
        }
    }

    /// Opens a model by what a person typed. Asks nobody; a wrong name shows at the first request.
    pub fn open(&self, text: &str) -> Result<Arc<dyn Model>, CatalogError> {
        let name = self.resolve(text)?;
        match name.provider.as_str() {
            OFFLINE => return Ok(Arc::new(Offline::default())),
            SCRIPTED => return open_script(name),
            _ => {}
        }
        let provider = providers::find(&name.provider)
            .ok_or_else(|| CatalogError::UnknownProvider { provider: name.provider.clone() })?;
        let target = provider.target(&self.env)?;
        let facts = self.facts(provider, &name);
        Ok(Arc::new(Remote {
            name,
            facts,
            target,
            limits: self.limits,
            clients: self.clients.clone(),
            takes_no_schema: Arc::default(),
        }))
    }

    /// Lets a provider tell the figures of a model that nobody knows, once for each provider. Takes a bounded time.
    pub async fn learn(&self, name: &ModelName) {
        let Some(provider) = providers::find(&name.provider) else { return };
        let info = self.info(provider, name);
        let wanted = info.is_guessed() || info.context_window.is_none();
        let first = || self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(provider.id);
        if wanted && provider.lists_models() && first() {
            self.ask(vec![provider], self.limits.list.min(LEARN_WAIT)).await;
        }
    }

    /// Whether there is such a model, as far as that can be known: a name that nobody knows is looked up in its provider's own list.
    /// One that gives no list is believed.
    ///
    /// # Errors
    /// When the provider lists others and not this one.
    pub async fn check(&self, name: &ModelName) -> Result<(), CatalogError> {
        let unknown =
            || CatalogError::UnknownModel { provider: name.provider.clone(), name: name.name.clone() };
        if name.provider == OFFLINE {
            return if name.name == OFFLINE { Ok(()) } else { Err(unknown()) };
        }
        let Some(provider) = providers::find(&name.provider) else { return Ok(()) };
        let in_table = provider.base(&self.env).is_none()
            && provider.maker.is_some_and(|maker| known::is_known(maker, &name.name));
        if in_table
            || !provider.lists_models()
            || self.learned.lock().unwrap_or_else(PoisonError::into_inner).contains_key(name)
        {
            return Ok(());
        }
        let answers = self.ask(vec![provider], self.limits.list).await;
        let listed = answers.into_iter().find_map(|(_, found)| found.ok()).filter(|found| !found.is_empty());
        match listed {
            Some(found) if !found.iter().any(|found| found.name == name.name) => Err(unknown()),
            _ => Ok(()),
        }
    }

    /// What the environment offers without asking anybody; `None` when there is no key.
    pub fn configured(&self) -> Option<ModelName> {
        let keyed =
            PROVIDERS.iter().filter(|provider| !provider.is_local() && provider.is_offered(&self.env));
        let keyed = keyed.filter(|provider| provider.key(&self.env).is_some());
        keyed.filter_map(|provider| Some(ModelName::new(provider.id, provider.default_model?))).next()
    }

    /// The model to use when nobody said which: by key, else a server that answers, else `offline/offline`.
    ///
    /// A server at an address of its own is asked what it has, since it need not have the provider's usual model.
    pub async fn choose(&self) -> ModelName {
        let configured = self.configured();
        let own = |provider: &Provider| provider.base(&self.env).is_some();
        let asked = match configured.as_ref().and_then(|name| providers::find(&name.provider)) {
            Some(provider) if own(provider) => vec![provider],
            Some(_) => vec![],
            None => PROVIDERS.iter().filter(|provider| provider.is_offered(&self.env)).collect(),
        };
        let answers = self.ask(asked, self.limits.probe).await;
        let first = answers.into_iter().find_map(|(provider, found)| {
            let found = found.ok()?;
            let usual = found.iter().find(|found| Some(found.name.as_str()) == provider.default_model);
            let name = usual.or_else(|| found.first())?.name.clone();
            Some(ModelName::new(provider.id, name))
        });
        first.or(configured).unwrap_or_else(|| ModelName::new(OFFLINE, OFFLINE))
    }

    /// All models that can be had now. Every provider that is offered is asked at the same time.
    pub async fn list(&self) -> Listing {
        let offered = PROVIDERS.iter().filter(|provider| provider.is_offered(&self.env)).collect();
        let mut listing = Listing::default();
        for (provider, found) in self.ask(offered, self.limits.list).await {
            match found {
                Ok(found) => listing.models.extend(found.into_iter().map(|found| {
                    let name = ModelName::new(provider.id, found.name);
                    Listed { info: self.info(provider, &name), name, confirmed: true }
                })),
                Err(error) => {
                    // A local server at its usual address that is not there is no trouble, it is the usual case.
                    if provider.is_local() && provider.base(&self.env).is_none() {
                        continue;
                    }
                    listing.troubles.push(error);
                    let names = provider.maker.into_iter().flat_map(known::names);
                    listing.models.extend(names.map(|name| {
                        let name = ModelName::new(provider.id, name);
                        Listed { info: self.info(provider, &name), name, confirmed: false }
                    }));
                }
            }
        }
        let offline = Offline::default();
        listing.models.push(Listed { name: offline.name().clone(), info: offline.info(), confirmed: true });
        listing
    }

    /// Models of the providers that are configured, as far as they are known without asking: those of local servers are not.
    pub fn known(&self) -> Vec<ModelName> {
        let offered =
            PROVIDERS.iter().filter(|provider| provider.is_offered(&self.env) && !provider.is_local());
        let names = offered.flat_map(|provider| {
            provider.maker.into_iter().flat_map(known::names).map(|name| ModelName::new(provider.id, name))
        });
        names.chain([Offline::default().name().clone()]).collect()
    }

    /// What is configured and what is missing, for `parlor doctor`.
    pub fn providers(&self) -> Vec<ProviderState> {
        let state = |provider: &'static Provider| ProviderState {
            provider: provider.id,
            variable: provider.keys[0],
            key_from: provider.key(&self.env).map(|(from, _)| from),
            kept_for: provider
                .kept(&self.env)
                .filter(|_| provider.key(&self.env).is_none())
                .map(|kept| providers::shown(&kept.address)),
            address: provider.target(&self.env).map(|target| providers::shown(&target.base_url)),
            local: provider.is_local(),
            offered: provider.is_offered(&self.env),
        };
        PROVIDERS.iter().map(state).collect()
    }

    /// Asks several providers at once; the answers come back in the order of the providers.
    async fn ask(
        &self,
        providers: Vec<&'static Provider>,
        time: Duration,
    ) -> Vec<(&'static Provider, Result<Vec<ListedModel>, ModelError>)> {
        if providers.is_empty() {
            return Vec::new();
        }
        let mut tasks = JoinSet::new();
        for (at, provider) in providers.into_iter().enumerate() {
            // A bad address shows in `providers()`; there is nobody to ask.
            let Ok(target) = provider.target(&self.env) else { continue };
            let clients = self.clients.clone();
            tasks.spawn(async move {
                let found = listing::ask(&clients, &target, provider.id, time).await;
                (at, provider, found)
            });
        }
        let mut answers = tasks.join_all().await;
        answers.sort_by_key(|(at, ..)| *at);
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, provider, found) in &answers {
            for found in found.iter().flatten() {
                learned.insert(ModelName::new(provider.id, &found.name), found.figures);
            }
        }
        answers.into_iter().map(|(_, provider, found)| (provider, found)).collect()
    }

    fn info(&self, provider: &Provider, name: &ModelName) -> ModelInfo {
        self.facts(provider, name).info(name)
    }

    fn facts(&self, provider: &Provider, name: &ModelName) -> Facts {
        let mut known = known::info(provider.maker, &name.name);
        known.thinking = known.thinking.or_else(|| is_effort_taken(provider.house, &name.name));
        Facts {
            known,
            learned: Arc::clone(&self.learned),
            set: self.set.get(name).copied().unwrap_or_default(),
        }
    }
}

fn open_script(name: ModelName) -> Result<Arc<dyn Model>, CatalogError> {
    use std::io::Read as _;
    let path = name.name.clone();
    let mut text = String::new();
    std::fs::File::open(&path)
        .and_then(|file| file.take(MAX_SCRIPT).read_to_string(&mut text))
        .map_err(|error| CatalogError::NoScript { path: path.clone(), why: error.to_string() })?;
    let model = Scripted::parse(&text).map_err(|mistake| CatalogError::BadScript { path, mistake })?;
    Ok(Arc::new(model.named(name)))
}

#[cfg(test)]
mod tests;
