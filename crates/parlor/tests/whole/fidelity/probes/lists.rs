//! What a UI asks for and is told at once.

use super::Found;
use crate::fidelity::scene::{self, Scene};
use domain::command::{Command, ListCommand, Receipt, SessionCommand, Target};
use domain::content::Usage;
use domain::port::TurnEnd;

async fn asked(scene: &mut Scene, with: bool, command: Command, meant: Receipt) -> Found {
    let answer = if with { Some(scene.give(command).await) } else { None };
    let (told, refused) = match answer {
        Some(Ok(Receipt::Done)) | None => (None, None),
        Some(Ok(receipt)) => (Some(receipt), None),
        Some(Err(refusal)) => (None, Some(refusal)),
    };
    Found::only(refused, Some(meant), told)
}

pub(super) async fn stats(scene: &mut Scene, with: bool) -> Found {
    let mut doing = scene.begins("go").await;
    let session = doing.session.clone();
    doing.begin_step(scene).await;
    doing.says(scene, "Looking.").await;
    doing.uses(scene, "read", r#"{"path":"a.txt"}"#, "alpha").await;
    doing.end_step(scene, Usage { input: 100, output: 20, cache_read: 40, ..Usage::default() }).await;
    doing.done(scene, TurnEnd::Done).await;
    let mut insider = scene.insider().await;
    let stats = || Command::Session(SessionCommand::Stats);
    let ticket = insider.give_in(Target::Session(session), stats()).await;
    scene.rest().await;
    insider.take();
    let meant = insider.settled(ticket).expect("an answer").expect("numbers");
    asked(scene, with, stats(), meant).await
}

pub(super) async fn models(scene: &mut Scene, with: bool) -> Found {
    let (models, current) = (scene::models(), Some(scene::model("north", "large")));
    let command = Command::List(ListCommand::Models { provider: None });
    asked(scene, with, command, Receipt::Models { models, current }).await
}

pub(super) async fn servers(scene: &mut Scene, with: bool) -> Found {
    asked(scene, with, Command::List(ListCommand::Servers), Receipt::Servers(scene::servers())).await
}

pub(super) async fn skills(scene: &mut Scene, with: bool) -> Found {
    let command = Command::List(ListCommand::Skills { cwd: None, reload: false });
    asked(scene, with, command, Receipt::Skills(scene::skills())).await
}
