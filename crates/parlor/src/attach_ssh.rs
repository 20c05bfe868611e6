//! `parlor attach ssh://HOST[/SESSION]`: the terminal UI on a session of another machine.

use crate::exit::{self, Exit};
use crate::output;
use crate::screen::{self, UiOptions, Whereabouts};
use host::launch::Launch;
use host::paths;
use remote::front::{Approach, Begin, Front, Person};
use remote::ssh;
use std::sync::{Mutex, PoisonError};
use tui::Restart;

/// The terminal UI on a session of another machine.
pub(crate) async fn attach(launch: &Launch, address: &str) -> anyhow::Result<Exit> {
    let address = ssh::read(address).map_err(exit::usage)?;
    let dialect = dialects::native::DIALECT;
    // Ends the last ssh when there is another one.
    let running: Mutex<Option<ssh::Ssh>> = Mutex::new(None);
    let open = async |was: Option<Whereabouts>| {
        let questions = if was.is_some() { ssh::Questions::None } else { ssh::Questions::Asked };
        let session = was.and_then(|was| was.session).map(|session| session.to_string());
        let session = session.or_else(|| address.session.clone());
        let (link, child, greeting) = ssh::start(&address, session.as_deref(), questions).await?;
        *running.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        // A short id is known there only: the relay tells the whole one.
        let begin = Begin { session: greeting.session.as_deref(), last: None };
        let (person, size) = (Person::There, output::terminal_size());
        Front::on_link(launch, link, Approach { dialect, begin, person, size, listening: None })
    };
    let note = screen::note_on_another(format!("on {}", address.host));
    let (cwd, look) = (paths::working_directory(launch)?, UiOptions::of(launch)?);
    let front = open(None).await?;
    let left = screen::on_runtime(front, open, Restart::Connect, (note, false), cwd, look, false).await?;
    Ok(screen::exit(&left))
}
