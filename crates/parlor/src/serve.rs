//! `parlor serve`: be the runtime of another program's UI.

use crate::cli::{Common, Serve};
use crate::exit::{self, Exit};
use crate::stack::{self, Own};
use anyhow::Context;
use dialects::role::{Greeting, Lane};
use domain::command::Command;
use domain::ids::SessionId;
use hub::Guest;
use hub::core::Standing;
use link::{Limits, unix};
use tokio::task::JoinSet;

/// Serves until the UI leaves (stdio) or the program is told to stop (socket).
pub(crate) async fn serve(common: Common, serve: Serve) -> anyhow::Result<Exit> {
    if serve.stdio == serve.socket.is_some() {
        exit::complain("error: say where to speak\n\nhint: --stdio, or --socket PATH");
        std::process::exit(2);
    }
    let own = stack::own(&common, stack::log_to_stderr()).await?;
    let start = match &serve.session {
        Some(id) => {
            let session = SessionId::parse(id).with_context(|| format!("{id} is not the id of a session"))?;
            Some(Command::OpenSession { session })
        }
        None => own.start.clone(),
    };
    let serving = async {
        match &serve.socket {
            None => {
                let link = link::stdio::open(Lane::MAIN, Limits::default())?;
                own.hub.serve(guest(&own, &serve, start), link).await?;
                anyhow::Ok(())
            }
            Some(path) => {
                let listener = unix::Listener::bind(path).await?;
                exit::complain(&format!("serving {} on {}", serve.dialect.name(), path.display()));
                let mut guests = JoinSet::new();
                loop {
                    let accepted = match listener.accept().await {
                        Ok(accepted) => accepted,
                        Err(why) => {
                            exit::complain(&format!("refused: {why}"));
                            continue;
                        }
                    };
                    let link = accepted.into_link(Lane::MAIN, Limits::default());
                    let (hub, guest) = (own.hub.clone(), guest(&own, &serve, start.clone()));
                    while guests.try_join_next().is_some() {}
                    guests.spawn(async move {
                        let _ = hub.serve(guest, link).await;
                    });
                }
            }
        }
    };
    let exit = tokio::select! {
        served = serving => served.map(|()| Exit::Done),
        () = told_to_stop() => Ok(Exit::Done),
    };
    own.hub.stop().await;
    exit
}

fn guest(own: &Own, serve: &Serve, start: Option<Command>) -> Guest {
    Guest {
        role: serve.dialect.runtime_role(),
        name: serve.dialect.name().to_owned(),
        standing: Standing::Controller,
        greeting: Greeting {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            cwd: own.cwd.display().to_string(),
            model: Some((own.model.provider.clone(), own.model.name.clone())),
            options: serve.options.clone(),
        },
        start,
    }
}

/// SIGTERM or Ctrl-C.
pub(crate) async fn told_to_stop() {
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = terminate => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
