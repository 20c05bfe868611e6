//! The terminal UI on a hub, ours or one in front of a foreign runtime.

use crate::cli::Common;
use crate::exit::Exit;
use crate::settings::{self, Ui};
use crate::{places, stack};
use dialects::role::Answers;
use domain::command::Command;
use hub::Hub;
use hub::core::Standing;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;
use tui::{About, ExitReason, Keep, Options};

/// Commands that may wait between the UI and the hub.
const OUTGOING: usize = 64;

/// Requests that the offline model understands, for the first screen.
const EXAMPLES: &[&str] = &[
    "list files",
    "read README.md",
    "run `ls -la`",
    "write hello.txt: hi",
    "ask me something",
    "think",
    "count to 200 slowly",
];

/// `parlor` in a terminal.
pub(crate) async fn own(common: Common) -> anyhow::Result<Exit> {
    let own = stack::own(&common, stack::no_log()).await?;
    let start = own.start.clone().or(Some(Command::NewSession { cwd: None, title: None, id: None }));
    let offline = own.model.provider == "offline";
    let note = if offline {
        "model: offline (no key found: it understands plain requests; `parlor doctor` tells how to get a real one)".to_owned()
    } else {
        format!("model: {}", own.model)
    };
    let look = Look::of(&common)?;
    let exit = on(&own.hub, start, Some(note), own.cwd.clone(), look).await;
    own.hub.stop().await;
    exit
}

/// How the terminal UI is to be: what the person has set, and over it what the command line says.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    ui: Ui,
    file: Option<PathBuf>,
}

impl Look {
    /// As set, and as asked for on the command line.
    pub(crate) fn of(common: &Common) -> anyhow::Result<Look> {
        let file = settings::file();
        let mut ui = Ui::read(file.as_deref());
        if let Some(name) = &common.theme {
            ui.settings.set("theme", name).map_err(anyhow::Error::msg)?;
        }
        ui.settings.inline |= common.inline;
        ui.settings.inline &= !common.full_screen;
        ui.settings.mouse &= std::env::var_os("PARLOR_NO_MOUSE").is_none();
        Ok(Look { ui, file })
    }

    /// Keeps what the person sets while the UI runs.
    fn keep(&self) -> Option<Keep> {
        let file = self.file.clone()?;
        Some(Keep(Arc::new(move |name, value| settings::keep(&file, name, value))))
    }
}

/// The terminal UI on a running hub.
pub(crate) async fn on(
    hub: &Hub,
    start: Option<Command>,
    note: Option<String>,
    cwd: PathBuf,
    look: Look,
) -> anyhow::Result<Exit> {
    let ui = hub.attach("terminal", Standing::Controller, Answers::ALL, start).await?;
    let (outgoing, mut commands) = mpsc::channel::<tui::Outgoing>(OUTGOING);
    let port = ui.port;
    let passing = tokio::spawn(async move {
        while let Some(tui::Outgoing { ticket, target, command }) = commands.recv().await {
            if port.command(ticket, target, command).await.is_err() {
                return;
            }
        }
    });
    let options = Options {
        about: About {
            program: format!("parlor {}", env!("CARGO_PKG_VERSION")),
            examples: EXAMPLES.iter().map(|&example| example.to_owned()).collect(),
            note,
            settings: look.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default(),
            told: look.ui.told.clone(),
        },
        keep: look.keep(),
        settings: look.ui.settings,
        keys: look.ui.keys,
        history: places::data().ok().map(|data| data.join("prompts")),
        cwd,
        ..Options::default()
    };
    let left = tui::run(options, ui.news, outgoing).await;
    passing.abort();
    match left? {
        ExitReason::Quit => Ok(Exit::Done),
        ExitReason::Signal => Ok(Exit::Cancelled),
    }
}
