//! The person's settings: `$XDG_CONFIG_HOME/parlor/config.toml` and what lies beside it. A project cannot widen anything here.
//!
//! Invariant: nothing about the file is fatal. What cannot be read or used is told in words and costs only itself.

mod agents;

pub use agents::{OwnAgent, OwnAgents};

use crate::text_file;
use crate::{keys, paths};
use engine::{Config, ConfigError};
use models::catalog::Catalog;
use models::{Figures, Limits};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tools::NoWorkspace;

/// Where the person's settings are: `$XDG_CONFIG_HOME/parlor`, unless set otherwise.
pub(crate) fn folder() -> Option<PathBuf> {
    if let Some(own) = std::env::var_os("PARLOR_CONFIG_DIR").filter(|dir| !dir.is_empty()) {
        return Some(PathBuf::from(own));
    }
    let base = match std::env::var_os("XDG_CONFIG_HOME").filter(|dir| Path::new(dir).is_absolute()) {
        Some(dir) => PathBuf::from(dir),
        None => tools::home()?.join(".config"),
    };
    Some(base.join("parlor"))
}

/// The settings file itself.
pub fn file() -> Option<PathBuf> {
    Some(folder()?.join("config.toml"))
}

/// What the person has set for the agent, and what is wrong with it, in words.
pub struct AgentSettings {
    pub config: Config,
    pub told: Vec<String>,
}

/// What the person has set; the defaults where nothing is written or nothing can be used.
pub fn read() -> AgentSettings {
    let (mut config, mut told) = (Config::default(), Vec::new());
    if let Some(path) = file() {
        let named = path.display();
        match text_file::load(&path) {
            Ok(None) => {}
            Ok(Some(text)) => {
                let (read, wrong) = Config::from_toml(&text);
                config = read;
                told.extend(wrong.iter().map(|why| match why {
                    ConfigError::Malformed(_) => format!("{named}: {why}"),
                    why => format!("{named}: {why}; it is left out, the rest counts"),
                }));
            }
            Err(why) => told.push(format!("{named} {why}; the defaults count")),
        }
        for (key, model) in [("model", &mut config.model), ("fallback", &mut config.fallback)] {
            if let Some(Err(why)) = model.as_deref().map(|model| Catalog::new([]).resolve(model)) {
                told.push(format!("{named}: {key}: {why}; it is left out, the rest counts"));
                *model = None;
            }
        }
    }
    for name in config.models.keys() {
        if let Err(why) = Catalog::new([]).resolve(name) {
            told.push(format!("models in your settings: {why}; it is left out, the rest counts"));
        }
    }
    let own: Vec<PathBuf> = folder().into_iter().chain(paths::data().ok()).collect();
    let config = Config { own, ..config.at(tools::home(), folder()) };
    let bounds = config.bounds();
    // One that is not there may come back, such as a disk that is not mounted now.
    let never =
        |dir: &PathBuf| bounds.judge(dir).err().filter(|why| !matches!(why, NoWorkspace::Gone { .. }));
    told.extend(
        config.workspaces.iter().filter_map(never).map(|why| format!("workspaces in your settings: {why}")),
    );
    for (name, places) in
        [("also_writable", &config.sandbox.also_writable), ("also_readable", &config.sandbox.also_readable)]
    {
        let refused = places.iter().filter_map(|place| tools::sandbox::refused_place(place));
        told.extend(refused.map(|why| format!("{name} in your settings: {why}; it is left out")));
    }
    told.extend(own_agents().told);
    told.extend(keys::trouble());
    AgentSettings { config, told }
}

/// The store that the settings file names. Here a mistake costs more than its key: nothing may take the place of what was meant.
///
/// # Errors
/// When the file names one and it cannot be told which.
pub(crate) fn store() -> Result<Option<String>, String> {
    let Some(path) = file() else { return Ok(None) };
    match text_file::load(&path) {
        Ok(text) => text.map_or(Ok(None), |text| store_in(&text)),
        // Nobody knows what stands there; it is told where settings are read.
        Err(_) => Ok(None),
    }
}

fn store_in(text: &str) -> Result<Option<String>, String> {
    let (config, wrong) = Config::from_toml(text);
    let about_it = |why: &&ConfigError| match why {
        ConfigError::Malformed(_) => text.lines().any(|line| line.trim_start().starts_with("store")),
        why => why.to_string().starts_with("store:"),
    };
    match wrong.iter().find(about_it) {
        Some(why) => Err(why.to_string()),
        None => Ok(config.store),
    }
}

/// What is written in the settings file, and nothing else; what is wrong with it is told by [`read`].
fn file_config() -> Config {
    let text = file().and_then(|path| text_file::load(&path).ok().flatten());
    text.map(|text| Config::from_toml(&text).0).unwrap_or_default()
}

/// How long is waited for providers and how often they are asked, and figures of models. What is wrong with it is told by [`read`].
pub(crate) fn of_models() -> (Limits, BTreeMap<String, Figures>) {
    let config = file_config();
    (config.limits, config.models)
}

/// The agents that the person named, and the lists of agents.
pub fn own_agents() -> OwnAgents {
    OwnAgents::read(file().as_deref(), tools::home().as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_cannot_be_read_is_not_taken_for_none() {
        assert_eq!(store_in("store = \"postgres://h/d\"\n"), Ok(Some("postgres://h/d".to_owned())));
        assert_eq!(store_in("model = 1\n"), Ok(None));
        assert_eq!(store_in("model = \n"), Ok(None));
        for wrong in ["store = 1\n", "store = postgres://h/d\n", "model = \nstore = \"postgres://h/d\"\n"] {
            assert!(store_in(wrong).is_err(), "{wrong}");
        }
    }
}
