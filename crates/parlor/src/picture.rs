//! `parlor __picture FILE`: the picture in the README, drawn by the real UI from a real run of the real stack (the offline model, a
//! folder made for it). `cargo xtask picture` runs it; nobody types it.

use crate::exit::Exit;
use crate::stack;
use anyhow::Context;
use domain::command::{Command, LibraryCommand};
use domain::event::{AskEvent, Body, RunEvent};
use domain::port::News;
use domain::session::Policy;
use hub::LocalUi;
use hub::core::Standing;
use roles::Answers;
use std::path::Path;
use std::sync::Arc;
use store::MemoryStore;
use tui::Headless;
use tui::theme::Theme;

const COLUMNS: u16 = 100;
const ROWS: u16 = 34;

/// Lets a run happen on a screen of its own and writes what it shows.
pub(crate) async fn draw(file: &Path) -> anyhow::Result<Exit> {
    let around = std::env::temp_dir().join("parlor-picture");
    let folder = around.join("hello-parlor");
    std::fs::create_dir(&around)
        .with_context(|| format!("{} is in the way: take it away", around.display()))?;
    std::fs::create_dir_all(folder.join("src"))?;
    std::fs::write(folder.join("README.md"), "# hello-parlor\n\nA tiny program that greets.\n")?;
    std::fs::write(folder.join("src/main.rs"), "fn main() {\n    println!(\"hello\");\n}\n")?;
    let drawn = in_folder(&folder).await;
    std::fs::remove_dir_all(&around)?;
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(file, drawn?).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(Exit::Done)
}

async fn in_folder(folder: &Path) -> anyhow::Result<String> {
    let models = Arc::new(crate::model_source::Source::new(Some("offline")).await?);
    let store = Box::new(MemoryStore::default());
    let data = folder.with_file_name("data");
    let hub = stack::assemble_in(models, store, folder, &data, Policy::default(), stack::no_log());
    let start = Command::Library(LibraryCommand::New { cwd: None, title: None, id: None });
    let mut ui = hub.attach("terminal", Standing::Controller, Answers::ALL, Some(start)).await?;
    let mut screen = Headless::new(COLUMNS, ROWS);
    screen.model.screen.theme = Theme::named("dark").unwrap_or(screen.model.screen.theme);
    let attached = |news: &News| matches!(news, News::Attached { .. });
    follow(&mut screen, &mut ui, attached).await?;
    say(&mut screen, &mut ui, "read src/main.rs").await?;
    follow(&mut screen, &mut ui, |news| {
        happened(news, |body| matches!(body, Body::Run(RunEvent::Ended { .. })))
    })
    .await?;
    say(&mut screen, &mut ui, "edit src/main.rs: \"hello\" => \"hello, parlor\"").await?;
    follow(&mut screen, &mut ui, |news| {
        happened(news, |body| matches!(body, Body::Ask(AskEvent::Opened(_))))
    })
    .await?;
    screen.wait(1_000);
    let (buffer, _) = screen.draw();
    hub.stop().await;
    Ok(tui::svg(&buffer))
}

async fn say(screen: &mut Headless, ui: &mut LocalUi, text: &str) -> anyhow::Result<()> {
    screen.keys(text);
    screen.keys("<enter>");
    for tui::Outgoing { ticket, target, command } in screen.sent() {
        ui.port.command(ticket, target, command).await?;
    }
    Ok(())
}

async fn follow(
    screen: &mut Headless,
    ui: &mut LocalUi,
    until: impl Fn(&News) -> bool,
) -> anyhow::Result<()> {
    loop {
        let news = ui.news.recv().await.context("the hub stopped")?;
        let done = until(&news);
        screen.hear(news);
        if done {
            return Ok(());
        }
    }
}

fn happened(news: &News, what: impl Fn(&Body) -> bool) -> bool {
    matches!(news, News::Happened { event, .. } if what(&event.body))
}
