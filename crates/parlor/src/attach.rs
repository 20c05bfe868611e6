//! `parlor attach`: be the UI of another program's runtime.

use crate::cli::{Attach, Common, Run};
use crate::exit::{self, Exit};
use crate::{interactive, run, stack};
use dialects::role::{Hello, Lane};
use hub::RemoteSeat;
use link::child::{Child, Launch};
use link::{Limits, LinkIo, unix};
use std::time::Duration;

/// How long a socket may take to answer.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// Opens the terminal UI (or says one prompt) on a foreign runtime.
pub(crate) async fn attach(common: Common, attach: Attach) -> anyhow::Result<Exit> {
    let (link, child) = match (&attach.socket, attach.command.is_empty()) {
        (Some(path), _) => (unix::connect(path, Lane::MAIN, Limits::default(), CONNECT_WITHIN).await?, None),
        (None, false) => {
            let (link, child) = Launch::new(attach.command.clone()).start(Lane::MAIN, Limits::default())?;
            (link, Some(child))
        }
        (None, true) => {
            exit::complain("error: say what to attach to\n\nhint: --socket PATH, or -- COMMAND");
            std::process::exit(2);
        }
    };
    let exit = on_link(&common, &attach, link).await;
    if let Some(child) = child {
        finish(child, exit.as_ref().is_ok_and(|exit| *exit == Exit::Done)).await;
    }
    exit
}

async fn on_link(common: &Common, attach: &Attach, link: LinkIo) -> anyhow::Result<Exit> {
    let hello = Hello {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        cwd: stack::working_directory(common)?.display().to_string(),
        size: None,
        session: attach.session.as_deref().map(Into::into),
    };
    let (role, lossless) = (attach.dialect.ui_role(), attach.dialect.is_lossless());
    let seat = RemoteSeat { role, link, hello, lossless };
    match &attach.prompt {
        Some(prompt) => {
            let hub = stack::remote(common, seat, stack::log_to_stderr())?;
            let exit = run::converse(&hub, None, prompt.clone(), &Run::of(String::new())).await;
            hub.stop().await;
            exit
        }
        None => {
            let hub = stack::remote(common, seat, stack::no_log())?;
            let note = format!("on a runtime that speaks {}", attach.dialect.name());
            let exit = interactive::on(&hub, None, Some(note), stack::working_directory(common)?).await;
            hub.stop().await;
            exit
        }
    }
}

/// Lets the child go; after a failure shows what it said last.
async fn finish(child: Child, well: bool) {
    let (status, stderr) = child.shutdown().await;
    if !well {
        for line in stderr.iter().rev().take(20).rev() {
            exit::complain(&format!("runtime: {line}"));
        }
        exit::complain(&format!("runtime ended: {status}"));
    }
}
