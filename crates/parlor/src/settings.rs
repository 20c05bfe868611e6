//! The person's settings: `$XDG_CONFIG_HOME/parlor/config.toml` and what lies beside it. A project cannot widen anything here.

mod ui;

pub(crate) use ui::{Ui, keep};

use anyhow::Context;
use engine::Config;
use std::path::{Path, PathBuf};

/// `$XDG_CONFIG_HOME/parlor`.
pub(crate) fn folder() -> Option<PathBuf> {
    if let Some(own) = std::env::var_os("PARLOR_CONFIG_DIR") {
        return Some(PathBuf::from(own));
    }
    let base = match std::env::var_os("XDG_CONFIG_HOME").filter(|dir| Path::new(dir).is_absolute()) {
        Some(dir) => PathBuf::from(dir),
        None => std::env::home_dir()?.join(".config"),
    };
    Some(base.join("parlor"))
}

/// The settings file itself.
pub(crate) fn file() -> Option<PathBuf> {
    Some(folder()?.join("config.toml"))
}

/// What the person has set; the defaults where nothing is written.
pub(crate) fn read() -> anyhow::Result<Config> {
    let folder = folder();
    let config = match file().filter(|file| file.exists()) {
        Some(file) => {
            let text =
                std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            Config::from_toml(&text).with_context(|| format!("{} is not right", file.display()))?
        }
        None => Config::default(),
    };
    Ok(config.at(std::env::home_dir(), folder))
}
