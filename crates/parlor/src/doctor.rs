//! `parlor doctor`: what is configured and what is missing, in plain words.

use crate::cli::Common;
use crate::exit::{self, Exit};
use crate::model_source::Source;
use crate::{places, stack};
use dialects::Dialect;
use models::catalog::Catalog;

/// Prints the report.
pub(crate) async fn doctor(common: &Common) -> anyhow::Result<Exit> {
    exit::say(&format!("parlor {}", env!("CARGO_PKG_VERSION")));
    exit::say("");
    let mut well = true;
    match Source::new(common.model.as_deref()).await {
        Ok(source) => exit::say(&format!("model      {}", source.default_model())),
        Err(why) => {
            well = false;
            exit::say(&format!("model      {why}\n           {}", why.hint()));
        }
    }
    for provider in Catalog::new(std::env::vars()).providers() {
        let from = match (provider.key_from, provider.local) {
            (Some(variable), _) => format!("key from {variable}"),
            (None, true) => "local server, no key needed".to_owned(),
            (None, false) => "no key".to_owned(),
        };
        let address = match &provider.address {
            Ok(address) => address.clone(),
            Err(why) => why.to_string(),
        };
        exit::say(&format!("           {:<18} {from}; {address}", provider.provider));
    }
    let cwd = stack::working_directory(common)?;
    exit::say(&format!("works in   {}", cwd.display()));
    exit::say(&format!("project    {}", places::project(&cwd).display()));
    match places::data() {
        Ok(data) => exit::say(&format!("data       {}", data.display())),
        Err(why) => {
            well = false;
            exit::say(&format!("data       {why}"));
        }
    }
    let status = tools::sandbox::status();
    exit::say(&format!("sandbox    {}", status.words));
    let names: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
    exit::say(&format!("dialects   {}", names.join(", ")));
    let term = std::env::var("TERM").unwrap_or_else(|_| "not set".to_owned());
    exit::say(&format!("terminal   TERM={term}"));
    Ok(if well { Exit::Done } else { Exit::Failed })
}
