//! Models for the engine, from the environment, the kept keys and the command line. An opened model is kept, so that a script goes
//! on where it was.

use crate::{keys, paths, settings};
use domain::command::{Refusal, RefusalKind};
use domain::session::{ModelEntry, ModelRef};
use engine::ModelSource;
use models::catalog::{Catalog, CatalogError, Listed, account};
use models::{Model, ModelName};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The catalogue of models, with the one that is used when none is named.
pub struct Source {
    /// Another one once other keys are kept.
    catalog: Mutex<Stamped>,
    default: String,
    open: Mutex<BTreeMap<String, Arc<dyn Model>>>,
}

/// A catalogue, and the file of keys that it was made with.
struct Stamped {
    keys: Option<(u64, u64, Option<std::time::SystemTime>)>,
    catalog: Arc<Catalog>,
}

impl Stamped {
    /// By what is kept now. Keys that come meanwhile make it another one at the next look.
    fn now() -> Stamped {
        Stamped { keys: keys::stamp(), catalog: Arc::new(catalog()) }
    }
}

impl Source {
    /// Chooses the default: what was asked for, else what the environment offers, else the offline model.
    pub async fn new(wanted: Option<&str>) -> Result<Source, CatalogError> {
        let stamped = Stamped::now();
        let default = match wanted {
            Some(wanted) => stamped.catalog.resolve(wanted)?,
            None => stamped.catalog.choose().await,
        };
        let source = Source {
            catalog: Mutex::new(stamped),
            default: default.to_string(),
            open: Mutex::new(BTreeMap::new()),
        };
        source.opened(&source.default.clone())?;
        Ok(source)
    }

    /// The default model's name.
    pub fn default_model(&self) -> ModelRef {
        match ModelName::parse(&self.default) {
            Some(name) => ModelRef { provider: name.provider, name: name.name },
            None => ModelRef { provider: String::new(), name: self.default.clone() },
        }
    }

    /// Models that are known without asking anybody.
    pub(crate) fn known_models(&self) -> Vec<ModelRef> {
        let known = self.catalog().known().into_iter();
        known.map(|name| ModelRef { provider: name.provider, name: name.name }).collect()
    }

    /// The models there are, and whether some figures of each are a guess.
    pub async fn entries(&self) -> Vec<(ModelEntry, bool)> {
        let price = |dollars: f64| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a price is a small positive number"
            )]
            let micros = (dollars * 1_000_000.0).round().max(0.0) as u64;
            micros
        };
        let entry = |listed: Listed| {
            let entry = ModelEntry {
                model: ModelRef { provider: listed.name.provider, name: listed.name.name },
                context_window: listed.info.context_window.map(u64::from),
                max_output: listed.info.max_output.map(u64::from),
                price_input: listed.info.price.as_ref().map(|p| price(p.input)),
                price_output: listed.info.price.as_ref().map(|p| price(p.output)),
                thinks: listed.info.thinking,
            };
            (entry, listed.info.is_guessed())
        };
        self.catalog().list().await.models.into_iter().map(entry).collect()
    }

    /// Whether the default model takes a thinking effort; `None` where nobody knows.
    pub(crate) fn default_thinks(&self) -> Option<bool> {
        self.opened(&self.default).ok().map_or(Some(false), |model| model.info().thinking)
    }

    /// By the keys that are kept now: a login counts at once, wherever it was.
    fn catalog(&self) -> Arc<Catalog> {
        let mut stamped = self.catalog.lock().unwrap_or_else(PoisonError::into_inner);
        if stamped.keys != keys::stamp() {
            *stamped = Stamped::now();
            // What was opened holds its key. What has none, such as a script, goes on where it was.
            let needs_key =
                |name: &str| name.split('/').next().is_some_and(|provider| account(provider).is_some());
            self.open.lock().unwrap_or_else(PoisonError::into_inner).retain(|name, _| !needs_key(name));
        }
        stamped.catalog.clone()
    }

    fn opened(&self, name: &str) -> Result<Arc<dyn Model>, CatalogError> {
        let catalog = self.catalog();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = open.get(name) {
            return Ok(model.clone());
        }
        let model = catalog.open(name)?;
        open.insert(name.to_owned(), model.clone());
        Ok(model)
    }
}

impl ModelSource for Source {
    fn find(&self, provider: Option<&str>, name: &str) -> Result<ModelRef, Refusal> {
        let text = match provider {
            Some(provider) => format!("{provider}/{name}"),
            None => name.to_owned(),
        };
        let found = self.catalog().resolve(&text).map_err(|why| refused(&why))?;
        Ok(ModelRef { provider: found.provider, name: found.name })
    }

    fn open(&self, wanted: Option<&ModelRef>) -> Result<Arc<dyn Model>, Refusal> {
        let name = wanted.map_or_else(|| self.default.clone(), ToString::to_string);
        self.opened(&name).map_err(|why| refused(&why))
    }

    fn check<'a>(&'a self, model: &'a ModelRef) -> tools::BoxFuture<'a, Result<(), Refusal>> {
        Box::pin(async {
            let name = ModelName::new(model.provider.clone(), model.name.clone());
            self.catalog().check(&name).await.map_err(|why| refused(&why))
        })
    }

    fn forget_keys(&self) -> Result<Vec<String>, Refusal> {
        let whose = keys::read().into_keys().collect();
        keys::forget_all().map_err(|why| {
            Refusal::new(RefusalKind::Storage, format!("the kept keys could not be removed: {why:#}"))
                .hint("`parlor logout --all` in a terminal")
        })?;
        *self.catalog.lock().unwrap_or_else(PoisonError::into_inner) = Stamped::now();
        // What was opened holds its key.
        self.open.lock().unwrap_or_else(PoisonError::into_inner).clear();
        Ok(whose)
    }

    fn learn<'a>(&'a self, model: &'a ModelRef) -> tools::BoxFuture<'a, ()> {
        Box::pin(async {
            let name = ModelName::new(model.provider.clone(), model.name.clone());
            self.catalog().learn(&name).await;
        })
    }

    fn list(&self) -> tools::BoxFuture<'_, Vec<ModelEntry>> {
        Box::pin(async { self.entries().await.into_iter().map(|(entry, _)| entry).collect() })
    }
}

/// Models by what the environment and the kept keys offer.
pub fn catalog() -> Catalog {
    let (limits, figures) = settings::of_models();
    Catalog::new(paths::variables()).keeping(keys::read()).with_limits(limits).with_figures(&figures)
}

fn refused(why: &CatalogError) -> Refusal {
    Refusal::new(RefusalKind::ModelUnknown, why.to_string()).hint(why.hint())
}
