//! One-way words to the UI, while a run is under way.

use super::Found;
use crate::fidelity::scene::Scene;
use domain::signal::{Level, Signal, WidgetPlace};

async fn one(scene: &mut Scene, with: bool, signal: Signal) -> Found {
    let doing = scene.begins("go").await;
    if with {
        doing.signals(scene, signal.clone()).await;
    }
    scene.rest().await;
    let of_its_kind = |other: &Signal| std::mem::discriminant(other) == std::mem::discriminant(&signal);
    let arrived: Vec<Signal> = scene.ui.signals().into_iter().filter(of_its_kind).collect();
    Found::shown(scene, vec![signal], arrived)
}

pub(super) async fn notify(scene: &mut Scene, with: bool) -> Found {
    one(scene, with, Signal::Notify { level: Level::Success, text: "It is built.".to_owned() }).await
}

pub(super) async fn status(scene: &mut Scene, with: bool) -> Found {
    one(scene, with, Signal::Status { key: "branch".to_owned(), text: Some("main".to_owned()) }).await
}

pub(super) async fn working(scene: &mut Scene, with: bool) -> Found {
    one(scene, with, Signal::Working(Some("Reading the notes".to_owned()))).await
}

pub(super) async fn widget(scene: &mut Scene, with: bool) -> Found {
    let lines = vec!["first line".to_owned(), "second line".to_owned()];
    one(scene, with, Signal::Widget { key: "notes".to_owned(), lines, place: WidgetPlace::Below }).await
}

pub(super) async fn title(scene: &mut Scene, with: bool) -> Found {
    one(scene, with, Signal::Title("Building".to_owned())).await
}

pub(super) async fn editor_text(scene: &mut Scene, with: bool) -> Found {
    one(scene, with, Signal::EditorText("a draft\nof two lines".to_owned())).await
}

pub(super) async fn suggestion(scene: &mut Scene, with: bool) -> Found {
    let signal = Signal::Suggestion {
        text: "run the tests".to_owned(),
        confidence: 800,
        source: "history".to_owned(),
        context: Some("a file was changed".to_owned()),
    };
    one(scene, with, signal).await
}
