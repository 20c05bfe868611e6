//! What a UI is shown of a run: the engine does something, and the UI's state is looked at.

use super::Found;
use crate::fidelity::scene::{self, Scene};
use domain::command::{Command, QueueCommand, Target};
use domain::content::{Input, Json, Part, Role, TextKind, Usage};
use domain::event::{
    Body, Cause, Compaction, ContextEvent, Failure, NoteEvent, Outcome, PlanItem, PlanState, RunEvent,
    ToolEvent,
};
use domain::ids::{EntryId, ToolRunId, TurnId};
use domain::port::TurnEnd;
use domain::queue::QueueKind;
use domain::signal::Level;
use domain::state::{EntryKind, Message, State};
use domain::tool::{Decider, Decision, Progress, ToolOutcome, ToolResult};

pub(super) fn messages(state: &State) -> Vec<&Message> {
    let messages = state.entries.values().filter_map(|entry| match &entry.kind {
        EntryKind::Message(message) => Some(message),
        EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
    });
    messages.collect()
}

/// The plain text of a message: what is code, a diff or a thought is none.
fn text(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// The parts of the model's messages that are wanted.
fn parts(state: &State, wanted: impl Fn(&Part) -> bool) -> Vec<Part> {
    let models = messages(state).into_iter().filter(|message| message.role == Role::Assistant);
    models.flat_map(|message| message.parts.clone()).filter(wanted).collect()
}

pub(super) async fn run_lifecycle(scene: &mut Scene, with: bool) -> Found {
    if with {
        scene.round("go", "Hello.").await;
    }
    let arrived: Vec<String> = scene
        .ui
        .happened()
        .filter_map(|event| match &event.body {
            Body::Run(RunEvent::Started { .. }) => Some("started".to_owned()),
            Body::Run(RunEvent::Ended { outcome, .. }) => Some(format!("ended: {outcome:?}")),
            _ => None,
        })
        .collect();
    Found::shown(scene, vec!["started".to_owned(), "ended: Done".to_owned()], arrived)
}

pub(super) async fn run_outcome(scene: &mut Scene, with: bool) -> Found {
    let doing = scene.begins("go").await;
    let failure = Failure::new("model_overloaded", "The model is busy.").hint("Try again later.");
    let end = if with { TurnEnd::Failed(failure.clone()) } else { TurnEnd::Done };
    doing.done(scene, end).await;
    let ends = scene.ui.state.runs.iter().map(|run| run.ended.clone().map(|(_, outcome)| outcome));
    let arrived: Vec<Option<Outcome>> = ends.collect();
    Found::shown(scene, vec![Some(Outcome::Failed(failure))], arrived)
}

/// The turns of each run: what began it, and what the person said.
fn turns(state: &State) -> Vec<Vec<(Cause, Vec<String>)>> {
    let said = |turn: TurnId| {
        let of_turn = |message: &&Message| message.turn == Some(turn) && message.role == Role::User;
        messages(state).into_iter().filter(of_turn).map(text).collect()
    };
    let turns = |run: &domain::state::Run| run.turns.iter().map(|turn| (turn.cause, said(turn.id))).collect();
    state.runs.iter().map(turns).collect()
}

pub(super) async fn turn(scene: &mut Scene, with: bool) -> Found {
    let doing = scene.begins("go").await;
    if with {
        queue_inside(scene, &doing.session).await;
    }
    scene.answers("One.").await;
    if with {
        scene.answers("Two.").await;
    }
    let meant =
        vec![vec![(Cause::Prompt, vec!["go".to_owned()]), (Cause::FollowUp, vec!["and then".to_owned()])]];
    let arrived = turns(&scene.ui.state);
    Found::shown(scene, meant, arrived)
}

/// Somebody else at the runtime queues an input.
async fn queue_inside(scene: &mut Scene, session: &domain::ids::SessionId) {
    let mut insider = scene.insider().await;
    let (kind, input) = (QueueKind::FollowUp, Input::text("and then"));
    let add = Command::Queue(QueueCommand::Add { kind, input });
    let ticket = insider.give_in(Target::Session(session.clone()), add).await;
    scene.rest().await;
    insider.take();
    assert!(matches!(insider.settled(ticket), Some(Ok(_))), "it waits");
}

pub(super) async fn step(scene: &mut Scene, with: bool) -> Found {
    let mut doing = scene.begins("go").await;
    doing.begin_step(scene).await;
    doing.says(scene, "One.").await;
    doing.uses(scene, "read", r#"{"path":"a.txt"}"#, "alpha").await;
    if with {
        doing.end_step(scene, Usage::default()).await;
        doing.begin_step(scene).await;
        doing.says(scene, "Two.").await;
    }
    doing.end_step(scene, Usage::default()).await;
    doing.done(scene, TurnEnd::Done).await;
    let state = &scene.ui.state;
    let steps = state.runs.iter().flat_map(|run| &run.turns).flat_map(|turn| &turn.steps);
    let said = |step: &domain::state::Step| -> Vec<String> {
        messages(state).into_iter().filter(|message| message.step == Some(step.id)).map(text).collect()
    };
    let arrived: Vec<Vec<String>> = steps.map(said).collect();
    Found::shown(scene, vec![vec!["One.".to_owned()], vec!["Two.".to_owned()]], arrived)
}

pub(super) async fn message_text(scene: &mut Scene, with: bool) -> Found {
    let first = "Let me look.\nIt may *take* a while: <b>\u{e9}\u{1f600}</b>";
    let second = "It reads:\n```rust\nfn main() {}\n```\nThat is all.";
    let mut doing = scene.begins("go").await;
    doing.begin_step(scene).await;
    if with {
        doing.says(scene, first).await;
    }
    doing.uses(scene, "read", r#"{"path":"a.txt"}"#, "alpha").await;
    doing.end_step(scene, Usage::default()).await;
    doing.begin_step(scene).await;
    if with {
        doing.says(scene, second).await;
    }
    doing.end_step(scene, Usage::default()).await;
    doing.done(scene, TurnEnd::Done).await;
    let models = messages(&scene.ui.state).into_iter().filter(|message| message.role == Role::Assistant);
    let arrived: Vec<String> = models.map(text).collect();
    Found::shown(scene, vec![first.to_owned(), second.to_owned()], arrived)
}

pub(super) async fn text_deltas(scene: &mut Scene, with: bool) -> Found {
    let mut doing = scene.begins("go").await;
    doing.begin_step(scene).await;
    let mut arrived: Vec<String> = Vec::new();
    for piece in ["Hel", "lo ", "there."] {
        if with {
            doing.says(scene, piece).await;
        }
        scene.rest().await;
        let models = messages(&scene.ui.state).into_iter().filter(|message| message.role == Role::Assistant);
        arrived.push(models.map(text).collect());
    }
    let meant = vec!["Hel".to_owned(), "Hello ".to_owned(), "Hello there.".to_owned()];
    Found::shown(scene, meant, arrived)
}

pub(super) async fn thought(scene: &mut Scene, with: bool) -> Found {
    let mut doing = scene.begins("go").await;
    doing.begin_step(scene).await;
    if with {
        doing.streams(scene, TextKind::Thought, "They want to go.\nWhere to?").await;
    }
    doing.says(scene, "Where to?").await;
    doing.end_step(scene, Usage::default()).await;
    doing.done(scene, TurnEnd::Done).await;
    let thought = Part::Thought { text: "They want to go.\nWhere to?".to_owned(), signature: None };
    let arrived = parts(&scene.ui.state, |part| matches!(part, Part::Thought { .. }));
    Found::shown(scene, vec![thought], arrived)
}

async fn part(scene: &mut Scene, with: bool, part: Part) -> Found {
    let mut doing = scene.begins("go").await;
    doing.begin_step(scene).await;
    doing.says(scene, "Here it is: ").await;
    if with {
        doing.adds(scene, part.clone()).await;
    }
    doing.says(scene, "That was it.").await;
    doing.end_step(scene, Usage::default()).await;
    doing.done(scene, TurnEnd::Done).await;
    let kind = std::mem::discriminant(&part);
    let arrived = parts(&scene.ui.state, |part| std::mem::discriminant(part) == kind);
    Found::shown(scene, vec![part], arrived)
}

pub(super) async fn image(scene: &mut Scene, with: bool) -> Found {
    part(scene, with, Part::Image { mime: "image/png".to_owned(), base64: "aGk=".into() }).await
}

pub(super) async fn code(scene: &mut Scene, with: bool) -> Found {
    let (language, path) = (Some("rust".to_owned()), Some("src/main.rs".to_owned()));
    part(scene, with, Part::Code { language, text: "fn main() {}\n".to_owned(), path }).await
}

pub(super) async fn diff(scene: &mut Scene, with: bool) -> Found {
    part(scene, with, a_diff()).await
}

fn a_diff() -> Part {
    let text = "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-alpha\n+beta\n".to_owned();
    Part::Diff { path: Some("a.txt".to_owned()), text }
}

/// One tool that works, one that fails and one that is passed over: what happens to each, in its order.
pub(super) async fn tool_lifecycle(scene: &mut Scene, with: bool) -> Found {
    let mut doing = scene.begins("go").await;
    doing.begin_step(scene).await;
    doing.says(scene, "Three things.").await;
    if with {
        let first = doing.proposes(scene, "read", r#"{"path":"a.txt"}"#).await;
        let second = doing.proposes(scene, "read", r#"{"path":"b.txt"}"#).await;
        let third = doing.proposes(scene, "read", r#"{"path":"c.txt"}"#).await;
        doing.end_message(scene).await;
        doing.starts(scene, first, Decider::Policy).await;
        doing.ends(scene, first, ToolOutcome::Done, ToolResult::text("alpha")).await;
        doing.starts(scene, second, Decider::Policy).await;
        doing.ends(scene, second, ToolOutcome::Failed, ToolResult::text("no such file")).await;
        doing.ends(scene, third, ToolOutcome::Skipped, ToolResult::text("passed over")).await;
    }
    doing.end_step(scene, Usage::default()).await;
    doing.done(scene, TurnEnd::Done).await;
    let tool = |tool: ToolRunId| scene.ui.state.tool(tool).map(|tool| tool.args.to_string());
    let mut arrived: Vec<(Option<String>, String)> = Vec::new();
    for event in scene.ui.happened() {
        match &event.body {
            Body::Tool(ToolEvent::Proposed { tool: id, name, .. }) => arrived.push((tool(*id), name.clone())),
            Body::Tool(ToolEvent::Started { tool: id }) => arrived.push((tool(*id), "started".to_owned())),
            Body::Tool(ToolEvent::Ended { tool: id, outcome, .. }) => {
                arrived.push((tool(*id), format!("{outcome:?}")));
            }
            _ => {}
        }
    }
    arrived.sort_by(|(one, _), (other, _)| one.cmp(other));
    let of = |file: &str, what: &str| (Some(format!(r#"{{"path":"{file}"}}"#)), what.to_owned());
    let meant = vec![
        of("a.txt", "read"),
        of("a.txt", "started"),
        of("a.txt", "Done"),
        of("b.txt", "read"),
        of("b.txt", "started"),
        of("b.txt", "Failed"),
        of("c.txt", "read"),
        of("c.txt", "Skipped"),
    ];
    Found::shown(scene, meant, arrived)
}

pub(super) async fn tool_progress(scene: &mut Scene, with: bool) -> Found {
    let mut doing = scene.begins("go").await;
    doing.begin_step(scene).await;
    doing.says(scene, "It takes a while.").await;
    let tool = doing.proposes(scene, "bash", r#"{"command":"make"}"#).await;
    doing.end_message(scene).await;
    doing.starts(scene, tool, Decider::Policy).await;
    scene.rest().await;
    if with {
        doing.progresses(scene, tool, Progress::Output("one\n".to_owned())).await;
        scene.rest().await;
        doing.progresses(scene, tool, Progress::Output("two\n".to_owned())).await;
        scene.rest().await;
        let status = Progress::Status { percent: Some(50), message: "half of it".to_owned() };
        doing.progresses(scene, tool, status).await;
    }
    scene.rest().await;
    let tools = scene.ui.state.tools.values().map(|tool| (tool.output.clone(), tool.status.clone()));
    let arrived: Vec<_> = tools.collect();
    let meant = vec![("one\ntwo\n".to_owned(), Some((Some(50), "half of it".to_owned())))];
    Found::shown(scene, meant, arrived)
}

pub(super) async fn tool_result(scene: &mut Scene, with: bool) -> Found {
    let mut doing = scene.begins("go").await;
    doing.begin_step(scene).await;
    doing.says(scene, "I change it.").await;
    let tool = doing.proposes(scene, "edit", r#"{"path":"a.txt"}"#).await;
    doing.end_message(scene).await;
    doing.starts(scene, tool, Decider::Policy).await;
    let result = ToolResult {
        text: "changed 1 line".to_owned(),
        parts: vec![a_diff()],
        json: Some(Json::verbatim(r#"{"lines":1}"#)),
        truncated: true,
    };
    let given = if with { result.clone() } else { ToolResult::default() };
    doing.ends(scene, tool, ToolOutcome::Done, given).await;
    doing.end_step(scene, Usage::default()).await;
    doing.done(scene, TurnEnd::Done).await;
    let arrived: Vec<_> = scene.ui.state.tools.values().map(|tool| tool.result.clone()).collect();
    Found::shown(scene, vec![Some(result)], arrived)
}

/// A tool is allowed by a rule: or, without the item, by the mode.
pub(super) async fn decision(scene: &mut Scene, with: bool) -> Found {
    let mut doing = scene.begins("go").await;
    doing.begin_step(scene).await;
    doing.says(scene, "I build it.").await;
    let tool = doing.proposes(scene, "bash", r#"{"command":"make"}"#).await;
    doing.end_message(scene).await;
    let scope = if with { domain::ask::Scope::Always } else { domain::ask::Scope::Once };
    let by = if with { Decider::Rule("make *".to_owned()) } else { Decider::Policy };
    let decision = Decision { allowed: true, by, scope, reason: None, digest: None };
    doing.happens(scene, Body::Tool(ToolEvent::Decided { tool, decision })).await;
    doing.happens(scene, Body::Tool(ToolEvent::Started { tool })).await;
    doing.ends(scene, tool, ToolOutcome::Done, ToolResult::text("built")).await;
    doing.end_step(scene, Usage::default()).await;
    doing.done(scene, TurnEnd::Done).await;
    let decisions = scene.ui.state.tools.values().map(|tool| tool.decision.clone());
    let arrived: Vec<_> = decisions.map(|d| d.map(|d| (d.allowed, d.by, d.scope, d.reason))).collect();
    let meant = (true, Decider::Rule("make *".to_owned()), domain::ask::Scope::Always, None);
    Found::shown(scene, vec![Some(meant)], arrived)
}

pub(super) async fn queue_changes(scene: &mut Scene, with: bool) -> Found {
    let doing = scene.begins("go").await;
    if with {
        queue_inside(scene, &doing.session).await;
    }
    scene.rest().await;
    let waiting = scene.ui.state.queues.all().map(|(kind, waiting)| (kind, waiting.input.text.clone()));
    let arrived: Vec<_> = waiting.collect();
    Found::shown(scene, vec![(QueueKind::FollowUp, "and then".to_owned())], arrived)
}

pub(super) async fn context_left(scene: &mut Scene, with: bool) -> Found {
    let doing = scene.begins("go").await;
    if with {
        let measured = ContextEvent::Measured { used: 51_234, window: 200_000, rough: false };
        doing.happens(scene, Body::Context(measured)).await;
    }
    scene.rest().await;
    let arrived = scene.ui.state.context;
    Found::shown(scene, Some((51_234, 200_000)), arrived)
}

pub(super) async fn usage(scene: &mut Scene, with: bool) -> Found {
    let usage =
        Usage { input: 120, output: 34, cache_read: 60, cache_write: 10, cost_micros: 5_678, rough: false };
    let mut doing = scene.begins("go").await;
    doing.begin_step(scene).await;
    doing.says(scene, "Done.").await;
    doing.end_step(scene, if with { usage } else { Usage::default() }).await;
    doing.done(scene, TurnEnd::Done).await;
    let arrived = scene.ui.state.usage;
    Found::shown(scene, usage, arrived)
}

pub(super) async fn compaction(scene: &mut Scene, with: bool) -> Found {
    scene.round("one", "First.").await;
    let mut doing = scene.begins("go").await;
    doing.begin_step(scene).await;
    doing.says(scene, "Done.").await;
    doing.end_step(scene, Usage::default()).await;
    if with {
        let (entry, parent) = (EntryId(doing.ids.next()), doing.leaf());
        let compacted = ContextEvent::Compacted { entry, parent, compaction: scene::compaction() };
        doing.happens(scene, Body::Context(compacted)).await;
    }
    doing.done(scene, TurnEnd::Done).await;
    let compactions = scene.ui.state.entries.values().filter_map(|entry| match &entry.kind {
        EntryKind::Compaction(compaction) => Some(compaction.clone()),
        EntryKind::Message(_) | EntryKind::Notice { .. } => None,
    });
    let arrived: Vec<Compaction> = compactions.collect();
    Found::shown(scene, vec![scene::compaction()], arrived)
}

pub(super) async fn plan(scene: &mut Scene, with: bool) -> Found {
    let item = |text: &str, state: PlanState| PlanItem { text: text.to_owned(), state };
    let items = vec![
        item("read it", PlanState::Done),
        item("change it", PlanState::Active),
        item("try it", PlanState::Pending),
    ];
    let doing = scene.begins("go").await;
    if with {
        doing.happens(scene, Body::Note(NoteEvent::PlanChanged { items: items.clone() })).await;
    }
    scene.rest().await;
    let arrived = scene.ui.state.plan.clone();
    Found::shown(scene, items, arrived)
}

pub(super) async fn retry(scene: &mut Scene, with: bool) -> Found {
    let retrying = Body::Run(RunEvent::Retrying {
        attempt: 2,
        max: 5,
        delay_ms: 1_500,
        reason: "the model is overloaded".to_owned(),
        kind: Some(domain::event::RetryKind::Overloaded),
    });
    let mut doing = scene.begins("go").await;
    doing.begin_step(scene).await;
    if with {
        doing.happens(scene, retrying.clone()).await;
    }
    scene.rest().await;
    let bodies = scene.ui.happened().map(|event| event.body.clone());
    let arrived: Vec<Body> =
        bodies.filter(|body| matches!(body, Body::Run(RunEvent::Retrying { .. }))).collect();
    Found::shown(scene, vec![retrying], arrived)
}

pub(super) async fn notice(scene: &mut Scene, with: bool) -> Found {
    let doing = scene.begins("go").await;
    let (code, text) = ("odd_file".to_owned(), "The file is odd.".to_owned());
    let meant = vec![(Level::Warning, code.clone(), text.clone())];
    if with {
        let (entry, parent, run) = (EntryId(doing.ids.next()), doing.leaf(), Some(doing.run));
        let noticed = NoteEvent::Noticed { entry, parent, run, level: Level::Warning, code, text };
        doing.happens(scene, Body::Note(noticed)).await;
    }
    scene.rest().await;
    let notices = scene.ui.state.entries.values().filter_map(|entry| match &entry.kind {
        EntryKind::Notice { level, code, text, .. } => Some((*level, code.clone(), text.clone())),
        EntryKind::Message(_) | EntryKind::Compaction(_) => None,
    });
    let arrived: Vec<_> = notices.collect();
    Found::shown(scene, meant, arrived)
}
