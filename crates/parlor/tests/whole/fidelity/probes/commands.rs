//! What a UI wants of the engine: seen in what the engine is told.

use super::Found;
use crate::fidelity::scene::{self, Scene};
use crate::fidelity::trace;
use domain::command::{Command, ListCommand, QueueCommand, Receipt, Refusal, RunCommand, SessionCommand};
use domain::content::{Input, Json, Part};
use domain::event::Outcome;
use domain::port::{Order, TurnEnd};
use domain::queue::{Mode, QueueKind};
use domain::session::Policy;
use domain::signal::UiContext;

/// Gives a command if it is to be given; its refusal.
async fn given(scene: &mut Scene, with: bool, command: Command) -> Option<Refusal> {
    if with { scene.give(command).await.err() } else { None }
}

/// The commands that the engine was asked about.
fn consulted(scene: &Scene, wanted: impl Fn(&Command) -> bool) -> Vec<Command> {
    let commands = scene.orders().into_iter().filter_map(|order| match order {
        Order::Consult { command, .. } => Some(command),
        _ => None,
    });
    commands.filter(wanted).collect()
}

pub(super) async fn prompt(scene: &mut Scene, with: bool) -> Found {
    let text = "Hello there.\nHow are \"you\"?";
    let refused = if with { scene.prompt(text).await.err() } else { None };
    let arrived: Vec<Input> = scene.turns().into_iter().map(|turn| turn.input).collect();
    Found::heard(scene, refused, vec![Input::text(text)], arrived)
}

pub(super) async fn steer(scene: &mut Scene, with: bool) -> Found {
    queued(scene, with, QueueKind::Steer).await
}

pub(super) async fn follow_up(scene: &mut Scene, with: bool) -> Found {
    queued(scene, with, QueueKind::FollowUp).await
}

/// An input that waits becomes a turn of the same run; of a steer the engine hears while it works.
async fn queued(scene: &mut Scene, with: bool, kind: QueueKind) -> Found {
    let doing = scene.begins("go").await;
    let first = doing.run;
    let input = Input::text("turn left");
    let refused = given(scene, with, Command::Queue(QueueCommand::Add { kind, input })).await;
    let waits = scene.orders().iter().any(|order| matches!(order, Order::SteerWaits { waits: true, .. }));
    doing.done(scene, TurnEnd::Done).await;
    let turns: Vec<(String, bool)> =
        scene.turns().into_iter().map(|turn| (turn.input.text, turn.run == first)).collect();
    let meant = (kind == QueueKind::Steer, vec![("go".to_owned(), true), ("turn left".to_owned(), true)]);
    Found::heard(scene, refused, meant, (waits, turns))
}

pub(super) async fn queue_modes(scene: &mut Scene, with: bool) -> Found {
    let (kind, mode) = (QueueKind::Steer, Mode::All);
    let refused = given(scene, with, Command::Queue(QueueCommand::SetMode { kind, mode })).await;
    scene.begins("go").await;
    for text in ["turn left", "then right"] {
        let input = Input::text(text);
        given(scene, true, Command::Queue(QueueCommand::Add { kind, input })).await;
    }
    scene.answers("One.").await;
    scene.answers("Two.").await;
    let turns: Vec<String> = scene.turns().into_iter().map(|turn| turn.input.text).collect();
    Found::heard(
        scene,
        refused,
        vec!["go", "turn left\nthen right"],
        turns.iter().map(String::as_str).collect(),
    )
}

pub(super) async fn cancel(scene: &mut Scene, with: bool) -> Found {
    let mut doing = scene.begins("go").await;
    doing.begin_step(scene).await;
    doing.says(scene, "Slow").await;
    scene.rest().await;
    let refused = given(scene, with, Command::Run(RunCommand::Cancel { run: None, reason: None })).await;
    let told = scene.orders().iter().any(|order| matches!(order, Order::Cancel { .. }));
    if told {
        doing.done(scene, TurnEnd::Cancelled).await;
    }
    let ends: Vec<Option<Outcome>> =
        scene.ui.state.runs.iter().map(|run| run.ended.clone().map(|(_, how)| how)).collect();
    let found = Found::heard(scene, refused, (true, vec![Some(Outcome::Cancelled)]), (told, ends));
    let both = found.trace.clone() + &trace::of_ui(&scene.ui);
    Found { trace: both, ..found }
}

pub(super) async fn context_update(scene: &mut Scene, with: bool) -> Found {
    let context = UiContext {
        cwd: Some("/usr/lib".to_owned()),
        workspace_root: Some("/usr".to_owned()),
        active_file: Some("/usr/lib/a.txt".to_owned()),
        selection: Some(("/usr/lib/a.txt".to_owned(), "alpha".to_owned())),
        notes: vec!["The shell is fish.".to_owned()],
        size: Some((100, 30)),
    };
    let refused = given(scene, with, Command::UpdateContext(context.clone())).await;
    scene.begins("go").await;
    let arrived = scene.turns().last().map(|turn| turn.ui_context.clone());
    Found::heard(scene, refused, Some(context), arrived)
}

pub(super) async fn compact(scene: &mut Scene, with: bool) -> Found {
    scene.round("one", "First.").await;
    scene.round("two", "Second.").await;
    let command = Command::Run(RunCommand::Compact { instruction: Some("keep the names".to_owned()) });
    let refused = given(scene, with, command.clone()).await;
    let arrived = consulted(scene, |command| matches!(command, Command::Run(RunCommand::Compact { .. })));
    Found::heard(scene, refused, vec![command], arrived)
}

pub(super) async fn model_set(scene: &mut Scene, with: bool) -> Found {
    let (provider, name) = (Some("south".to_owned()), "wide".to_owned());
    let refused = given(scene, with, Command::Session(SessionCommand::SetModel { provider, name })).await;
    scene.begins("go").await;
    let arrived = scene.turns().last().and_then(|turn| turn.model.clone());
    Found::heard(scene, refused, Some(scene::model("south", "wide")), arrived)
}

pub(super) async fn policy(scene: &mut Scene, with: bool) -> Found {
    let policy = Policy::AutoEdit;
    let refused = given(scene, with, Command::Session(SessionCommand::SetPolicy { policy })).await;
    scene.begins("go").await;
    let arrived = scene.turns().last().map(|turn| turn.policy);
    Found::heard(scene, refused, Some(policy), arrived)
}

/// The tools are listed, and fewer are chosen: refused where neither can be done.
pub(super) async fn tools(scene: &mut Scene, with: bool) -> Found {
    let tools = Some(vec!["read".to_owned()]);
    let mut listed = Err(Refusal::new(domain::command::RefusalKind::Invalid, "not asked"));
    let mut refused = None;
    if with {
        listed = scene.give(Command::List(ListCommand::Tools)).await;
        refused = scene.give(Command::Session(SessionCommand::SetTools { tools: tools.clone() })).await.err();
    }
    let refused = refused.filter(|_| listed.is_err());
    scene.begins("go").await;
    let chosen = scene.turns().last().and_then(|turn| turn.active_tools.clone());
    let meant = (Some(Receipt::Tools(scene::tools())), tools);
    Found::heard(scene, refused, meant, (listed.ok(), chosen))
}

pub(super) async fn extension(scene: &mut Scene, with: bool) -> Found {
    let (name, payload) = ("greet".to_owned(), Json::verbatim(r#"{"who":"you"}"#));
    let command = Command::Extension { name, payload };
    let answer = if with { Some(scene.give(command.clone()).await) } else { None };
    let (told, refused) = match answer {
        Some(Ok(receipt)) => (Some(receipt), None),
        Some(Err(refusal)) => (None, Some(refusal)),
        None => (None, None),
    };
    let heard = consulted(scene, |command| matches!(command, Command::Extension { .. }));
    let answer = Some(Receipt::Extension(Json::verbatim(r#"{"answer":42}"#)));
    Found::heard(scene, refused, (vec![command], answer), (heard, told))
}

pub(super) async fn attachments(scene: &mut Scene, with: bool) -> Found {
    let image = Part::Image { mime: "image/png".to_owned(), base64: "aGk=".into() };
    let code = Part::Code {
        language: Some("rust".to_owned()),
        text: "fn main() {}\n".to_owned(),
        path: Some("src/main.rs".to_owned()),
    };
    let attachments = if with { vec![image.clone(), code.clone()] } else { Vec::new() };
    let refused = scene.prompt_with(Input { text: "look".to_owned(), attachments }).await.err();
    let arrived: Vec<Input> = scene.turns().into_iter().map(|turn| turn.input).collect();
    let meant = vec![Input { text: "look".to_owned(), attachments: vec![image, code] }];
    Found::heard(scene, refused, meant, arrived)
}
