//! Tries a key with its provider before anybody relies on it. Nothing is kept here.
//!
//! A list of models that is shown to everybody proves nothing about a key. So whoever lists its models is asked once more without one,
//! and where that works as well, the verdict says so instead of praising the key.

use super::providers;
use super::{Catalog, CatalogError, listing};
use crate::provider::Login;
use crate::{ErrorKind, ModelError, Secret};

/// What came of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// Where it was tried.
    pub address: String,
    /// The same for people: without user name and password.
    pub shown: String,
    pub verdict: Verdict,
}

/// What the provider says to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It takes it.
    Taken {
        /// The models it lists for it.
        models: usize,
    },
    /// It answers alike without a key: nothing is known of this one.
    Unproven,
    /// It does not take it.
    Refused(ModelError),
    /// It could not be asked, or said something else.
    Untried(ModelError),
}

impl Catalog {
    /// Tries a key with the provider of this name, at the address that the environment says.
    ///
    /// # Errors
    /// When there is no such provider, or its address is none.
    pub async fn try_key(&self, provider: &str, key: &Secret) -> Result<Trial, CatalogError> {
        let unknown = || CatalogError::UnknownProvider { provider: provider.to_owned() };
        let provider = providers::find(provider).ok_or_else(unknown)?;
        let target = provider.target_with(&self.env, Login::Key(key.clone()))?;
        let open = provider.target_with(&self.env, Login::Open)?;
        let (clients, time) = (&self.clients, self.limits.list);
        let proven = match provider.proof() {
            Some(path) => match listing::get(clients, &target, path, provider.id, time).await {
                Ok(_) => Ok(true),
                // A gateway in its place need not have that path.
                Err(why) if why.status == Some(404) => Ok(false),
                Err(why) => Err(why),
            },
            None => Ok(false),
        };
        let listed = match &proven {
            Ok(_) => listing::ask(clients, &target, provider.id, time).await,
            Err(why) => Err(why.clone()),
        };
        let verdict = match (listed, proven) {
            (Err(why), Ok(true)) if why.kind != ErrorKind::Auth => Verdict::Taken { models: 0 },
            (Err(why), _) if why.kind == ErrorKind::Auth => Verdict::Refused(why),
            (Err(why), _) => Verdict::Untried(why),
            (Ok(found), Ok(true)) => Verdict::Taken { models: found.len() },
            (Ok(found), _) => match listing::ask(clients, &open, provider.id, time).await {
                Err(why) if why.status.is_some() => Verdict::Taken { models: found.len() },
                Ok(_) | Err(_) => Verdict::Unproven,
            },
        };
        Ok(Trial { shown: providers::shown(&target.base_url), address: target.base_url, verdict })
    }
}
