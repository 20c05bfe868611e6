//! A login that the screen asks for itself: the same trial and the same file as `parlor login`, told as data.

use super::{account, caveats, chosen, in_words, key_of, keys, known_of, model_source, takers};
use crate::screen::{LOG_IN, note_on};
use domain::session::ModelRef;
use models::catalog::KeptKey;
use std::sync::Arc;
use tui::{LoginNews, LoginPort, ProviderLine, TypedKey};

/// The way for a screen. `is_named`: the model was named when the program was started, and stays.
pub(crate) fn port(is_named: bool) -> LoginPort {
    LoginPort {
        providers: Arc::new(providers),
        give: Arc::new(move |provider, key, keep| {
            Box::pin(async move { give(is_named, &provider, &key, keep).await.unwrap_or_else(|news| news) })
        }),
    }
}

fn providers() -> Vec<ProviderLine> {
    let line = |state: models::catalog::ProviderState| ProviderLine {
        name: state.provider.to_owned(),
        about: known_of(&state),
        has_key: state.key_from.is_some(),
    };
    takers(&model_source::catalog()).into_iter().map(line).collect()
}

/// Tries a key and keeps it; an error is what keeps it from being kept.
async fn give(is_named: bool, provider: &str, key: &TypedKey, keep: bool) -> Result<LoginNews, LoginNews> {
    let Some(provider) = account(provider) else {
        return Err(LoginNews::Failed("there is no such provider".to_owned()));
    };
    let key = key_of(key.expose().as_bytes())
        .map_err(|why| LoginNews::Failed(format!("that is no key: {why}; copy it once more")))?;
    let trial = model_source::catalog()
        .try_key(provider, &key)
        .await
        .map_err(|why| LoginNews::Failed(format!("{why}\n{}", why.hint())))?;
    if let Some(why) = in_words(&trial).err().filter(|_| !keep) {
        return Err(LoginNews::Unsure(why.replace("\nhint: ", "\n")));
    }
    let shown = trial.shown;
    keys::keep(provider, &KeptKey { key, address: trial.address })
        .map_err(|why| LoginNews::Failed(format!("{why:#}").replace("\nhint: ", "\n")))?;
    let model = chosen(is_named, provider).await;
    let mut said = vec![format!("saved the key of {provider} for you alone; /model lists its models")];
    said.extend(caveats(provider, &shown));
    let note = model.as_ref().map(|model| {
        let model = ModelRef { provider: model.provider.clone(), name: model.name.clone() };
        note_on(&model, LOG_IN)
    });
    Ok(LoginNews::Kept { said, note, model: model.map(|model| (model.provider, model.name)) })
}
