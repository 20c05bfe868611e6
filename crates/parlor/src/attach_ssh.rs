//! `parlor attach ssh://HOST[/SESSION]`: the terminal UI, or one prompt, on a session of another machine.

use crate::exit::{self, Exit};
use crate::output;
use crate::screen::{self, UiOptions, Whereabouts};
use host::launch::Launch;
use host::paths;
use host::stop::Stops;
use remote::front::{Approach, Begin, Front, Person};
use remote::ssh::{self, Wanted};
use std::sync::{Mutex, PoisonError};
use tui::Restart;

/// The terminal UI on a session of another machine; where there is something to `say`, that without a screen. A folder is one of that
/// machine.
pub(crate) async fn attach(
    mut launch: Launch,
    address: &str,
    say: Option<impl AsyncFnOnce(Front, Stops) -> anyhow::Result<Exit>>,
) -> anyhow::Result<Exit> {
    let address = ssh::read(address).map_err(exit::usage)?;
    let there = launch.cwd.take();
    let there = match there.as_ref().map(|folder| folder.to_str()) {
        Some(None) => {
            return Err(exit::usage(
                "--cwd names a folder there, and this one is no text\n\nhint: leave --cwd out, and go there with `cd` in the session",
            ));
        }
        Some(Some(_)) if address.session.is_some() => {
            return Err(exit::usage(
                "--cwd goes with a new session: one that is there works where it began\n\nhint: leave out one of both",
            ));
        }
        folder => folder.flatten(),
    };
    let dialect = dialects::native::DIALECT;
    // Ends the last ssh when there is another one.
    let running: Mutex<Option<ssh::Ssh>> = Mutex::new(None);
    let person = if say.is_some() { Person::Away } else { Person::There };
    let open = async |was: Option<Whereabouts>| {
        let questions = if was.is_some() { ssh::Questions::None } else { ssh::Questions::Asked };
        let session = was.and_then(|was| was.session).map(|session| session.to_string());
        let session = session.or_else(|| address.session.clone());
        let wanted = match &session {
            Some(session) => Wanted::Session(session),
            None => Wanted::New { cwd: there },
        };
        let (link, child, greeting) = ssh::start(&address, wanted, questions).await?;
        *running.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        // A short id is known there only: the relay tells the whole one.
        let begin = Begin { session: greeting.session.as_deref(), last: None };
        let size = output::terminal_size();
        Front::on_link(
            &launch,
            link,
            Approach {
                dialect,
                begin,
                person,
                size,
                judged: false,
                leash: None,
                listening: None,
                in_room: false,
            },
        )
    };
    if let Some(say) = say {
        let stops = Stops::listen().with_reader(output::reader_gone().ok());
        let front = open(None).await?;
        return say(front, stops).await;
    }
    let note = screen::note_on_another(format!("on {}", address.host));
    let (cwd, look) = (paths::working_directory(&launch)?, UiOptions::of(&launch)?);
    let front = open(None).await?;
    let left = screen::on_runtime(front, open, Restart::Connect, (note, false), cwd, look, false).await?;
    Ok(screen::exit(&left))
}
