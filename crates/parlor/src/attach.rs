//! `parlor attach`: be the UI of another program's runtime.

use crate::cli::{Attach, Common, Run};
use crate::exit::{self, Exit};
use crate::interactive::{self, UiOptions};
use crate::ps::announcement::Announcement;
use crate::record::Tape;
use crate::remote::{Front, RuntimeAddress};
use crate::stop::Stops;
use crate::{places, ps, run, stack};
use domain::ids::SessionId;

/// Opens the terminal UI (or says one prompt) on a foreign runtime.
pub(crate) async fn attach(common: Common, mut attach: Attach) -> anyhow::Result<Exit> {
    let named = RuntimeAddress::of(attach.socket.as_ref(), &attach.command)
        .or_else(|| RuntimeAddress::usual(attach.dialect));
    let place = match (named, &attach.session) {
        (Some(place), _) => place,
        (None, Some(session)) if attach.dialect.is_lossless() => {
            let (socket, id) = ps::find(session).await?;
            attach.session = Some(id);
            RuntimeAddress::Socket(socket)
        }
        (None, _) => {
            return Err(exit::usage(
                "say what to attach to\n\nhint: --socket PATH, --session ID (see `parlor ps`), or -- COMMAND",
            ));
        }
    };
    let socket = match &place {
        RuntimeAddress::Socket(path) => Some(path.clone()),
        RuntimeAddress::Command(_) => None,
    };
    let headless = attach.prompt.is_some();
    let log = if headless { stack::log_to_stderr() } else { stack::no_log() };
    let tape = attach.record.as_deref().map(Tape::new);
    let stops = headless.then(Stops::listen);
    let front =
        Front::open(&common, attach.dialect, place, attach.session.as_deref(), tape.as_ref(), log).await?;
    let exit = match (&attach.prompt, stops) {
        (Some(prompt), Some(stops)) => {
            run::converse(&front.hub, None, prompt.clone(), &Run::of(String::new()), stops).await
        }
        _ => {
            let note = interactive::note_on_another(format!("on a runtime that speaks {}", attach.dialect));
            let (cwd, look) = (places::working_directory(&common)?, UiOptions::of(&common)?);
            if let Some(socket) = socket {
                let open = async |session: Option<SessionId>| {
                    let known = session.filter(|_| attach.dialect.is_lossless()).map(|id| id.to_string());
                    let session = known.as_deref().or(attach.session.as_deref());
                    let place = RuntimeAddress::Socket(socket.clone());
                    Front::open(&common, attach.dialect, place, session, tape.as_ref(), stack::no_log()).await
                };
                let exit = interactive::on_socket(front, open, note, cwd, look).await;
                if let Some(tape) = tape {
                    tape.finish();
                }
                return exit;
            }
            let _announcement =
                Announcement::quietly(&front.hub, &cwd, &format!("terminal on {}", attach.dialect)).await;
            interactive::on(&front.hub, None, note, cwd, look).await
        }
    };
    front.close(exit.as_ref().is_ok_and(|exit| *exit == Exit::Done)).await;
    if let Some(tape) = tape {
        tape.finish();
    }
    exit
}
