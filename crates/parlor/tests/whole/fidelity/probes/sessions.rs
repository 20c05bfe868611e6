//! Sessions: made, opened, listed, branched, left; and their past.

use super::Found;
use super::shown::messages;
use crate::fidelity::acts::Doing;
use crate::fidelity::onlooker::Onlooker;
use crate::fidelity::scene::Scene;
use crate::fidelity::trace::said;
use domain::command::PromptOptions;
use domain::command::{Command, LibraryCommand, ListScope, Receipt, Refusal, RunCommand, SessionCommand};
use domain::content::{Input, Part, Role, TextKind, Usage};
use domain::event::Outcome;
use domain::ids::{EntryId, SessionId};
use domain::port::{Order, TurnEnd};
use domain::session::SessionSummary;
use domain::state::State;

fn library(command: LibraryCommand) -> Command {
    Command::Library(command)
}

async fn given(scene: &mut Scene, with: bool, command: Command) -> Option<Refusal> {
    if with { scene.give(command).await.err() } else { None }
}

/// Where the last turn is done, and what the model was told there.
fn last(scene: &Scene) -> (Option<SessionId>, Vec<String>) {
    let turns = scene.turns();
    let last = turns.last();
    (last.map(|turn| turn.session.clone()), last.map(|turn| said(&turn.context)).unwrap_or_default())
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The entry of the model's first message, as the UI knows it.
fn first_answer(scene: &Scene) -> EntryId {
    let state = &scene.ui.state;
    let first = messages(state).into_iter().find(|message| message.role == Role::Assistant);
    first.map_or(EntryId(0), |message| message.id.into())
}

pub(super) async fn new(scene: &mut Scene, with: bool) -> Found {
    scene.round("one", "First.").await;
    let (first, _) = last(scene);
    let (cwd, title, id) = (None, Some("Fresh".to_owned()), None);
    let refused = given(scene, with, library(LibraryCommand::New { cwd, title, id })).await;
    scene.begins("two").await;
    let (second, context) = last(scene);
    let sessions = inside_list(scene).await;
    let title = sessions.iter().find(|summary| Some(&summary.id) == second.as_ref());
    let title = title.map(|summary| summary.title.clone()).unwrap_or_default();
    let meant = (true, texts(&["two"]), "Fresh".to_owned());
    Found::heard(scene, refused, meant, (first != second, context, title))
}

/// The sessions as the runtime itself lists them.
async fn inside_list(scene: &mut Scene) -> Vec<SessionSummary> {
    let mut insider = scene.insider().await;
    let ticket = insider.give(list_all()).await;
    scene.rest().await;
    insider.take();
    match insider.settled(ticket) {
        Some(Ok(Receipt::Sessions(sessions))) => sessions,
        other => panic!("no list: {other:?}"),
    }
}

fn list_all() -> Command {
    library(LibraryCommand::List { scope: ListScope::All, limit: None, search: None })
}

/// A session of the past, made at the runtime itself.
async fn past(scene: &mut Scene) -> (SessionId, Onlooker) {
    let mut insider = scene.insider().await;
    let (cwd, title, id) = (None, Some("Old days".to_owned()), None);
    insider.give(library(LibraryCommand::New { cwd, title, id })).await;
    insider_prompts(scene, &mut insider, "an old question").await;
    let mut doing = scene.doing();
    doing.begin_step(scene).await;
    doing.streams(scene, TextKind::Thought, "Hm.").await;
    doing.says(scene, "I look.").await;
    doing.uses(scene, "read", r#"{"path":"a.txt"}"#, "alpha").await;
    doing.end_step(scene, Usage { input: 12, output: 3, ..Usage::default() }).await;
    doing.begin_step(scene).await;
    doing.says(scene, "An old answer.").await;
    doing.end_step(scene, Usage { input: 15, output: 4, ..Usage::default() }).await;
    doing.done(scene, TurnEnd::Done).await;
    insider.take();
    (insider.session.clone().expect("a session"), insider)
}

async fn insider_prompts(scene: &mut Scene, insider: &mut Onlooker, text: &str) {
    let (input, options) = (Input::text(text), PromptOptions::default());
    insider.give(Command::Run(RunCommand::Prompt { input, options })).await;
    scene.rest().await;
    insider.take();
}

pub(super) async fn open(scene: &mut Scene, with: bool) -> Found {
    let (old, _insider) = past(scene).await;
    scene.round("one", "First.").await;
    let refused = given(scene, with, library(LibraryCommand::Open { session: old.clone() })).await;
    // Some wires go there only with the next prompt, and hear only then that they cannot.
    let refused = refused.or(scene.prompt("two").await.err());
    let (session, context) = last(scene);
    let meant = (true, texts(&["an old question", "I look.", "An old answer.", "two"]));
    Found::heard(scene, refused, meant, (session == Some(old), context))
}

pub(super) async fn list(scene: &mut Scene, with: bool) -> Found {
    let (_old, _insider) = past(scene).await;
    scene.round("one", "First.").await;
    let meant = inside_list(scene).await;
    let answer = if with { Some(scene.give(list_all()).await) } else { None };
    let (told, refused) = match answer {
        Some(Ok(Receipt::Sessions(sessions))) => (sessions, None),
        Some(Ok(_)) | None => (Vec::new(), None),
        Some(Err(refusal)) => (Vec::new(), Some(refusal)),
    };
    Found::only(refused, meant, told)
}

/// A branch from an earlier answer; where that is refused, from the tip.
pub(super) async fn branch(scene: &mut Scene, with: bool) -> Found {
    scene.round("one", "First.").await;
    scene.round("two", "Second.").await;
    let (first, _) = last(scene);
    let at = Some(first_answer(scene));
    let mut refused = given(scene, with, library(LibraryCommand::Branch { session: None, at })).await;
    if refused.is_some() {
        refused = given(scene, with, library(LibraryCommand::Branch { session: None, at: None })).await;
    }
    scene.begins("three").await;
    let (session, context) = last(scene);
    Found::heard(scene, refused, (true, texts(&["one", "First.", "three"])), (session != first, context))
}

pub(super) async fn close(scene: &mut Scene, with: bool) -> Found {
    scene.round("one", "First.").await;
    let refused = given(scene, with, Command::Session(SessionCommand::Close)).await;
    let left = scene.orders().iter().filter(|order| matches!(order, Order::Forget { .. })).count();
    Found::heard(scene, refused, 1, left)
}

pub(super) async fn clear(scene: &mut Scene, with: bool) -> Found {
    scene.round("one", "First.").await;
    let (first, _) = last(scene);
    let refused = given(scene, with, Command::Session(SessionCommand::Clear)).await;
    scene.begins("two").await;
    let (session, context) = last(scene);
    Found::heard(scene, refused, (true, texts(&["two"])), (session == first, context))
}

pub(super) async fn save(scene: &mut Scene, with: bool) -> Found {
    scene.round("one", "First.").await;
    let command = LibraryCommand::Save { path: Some("talk.json".to_owned()), history: true };
    let answer = if with { Some(scene.give(library(command)).await) } else { None };
    let size = std::fs::metadata(scene.place().join("talk.json")).map(|file| file.len()).ok();
    let told = match &answer {
        Some(Ok(Receipt::Saved { path, size: told })) => path.ends_with("talk.json") && Some(*told) == size,
        _ => false,
    };
    let elsewhere = std::fs::read_dir(scene.place().join(".data/saved")).map(Iterator::count).unwrap_or(0);
    Found::only(answer.and_then(Result::err), (true, true, 0), (size.is_some(), told, elsewhere))
}

/// A conversation as it is shown, without ids.
#[derive(Debug)]
#[expect(dead_code, reason = "compared as a text")]
struct Past {
    messages: Vec<(Role, Vec<Part>)>,
    tools: Vec<(String, String, String)>,
    outcomes: Vec<Option<Outcome>>,
    usage: Usage,
}

impl Past {
    fn of(state: &State) -> Past {
        let parts =
            |parts: &[Part]| parts.iter().filter(|part| !matches!(part, Part::Tool(_))).cloned().collect();
        let tools = state.tools.values().map(|tool| {
            let result = format!("{:?} {:?} {:?}", tool.phase, tool.decision, tool.result);
            (tool.name.clone(), tool.args.to_string(), result)
        });
        Past {
            messages: messages(state).iter().map(|message| (message.role, parts(&message.parts))).collect(),
            tools: tools.collect(),
            outcomes: state.runs.iter().map(|run| run.ended.clone().map(|(_, how)| how)).collect(),
            usage: state.usage,
        }
    }
}

/// Goes to a session and asks for its past; refused where the past is not shown and asking for it is refused.
async fn look_back(scene: &mut Scene, session: SessionId) -> Option<Refusal> {
    let opened = scene.give(library(LibraryCommand::Open { session: session.clone() })).await;
    let history = LibraryCommand::History { session, max_runs: 10, max_events: 1_000 };
    let told = scene.give(library(history)).await;
    let shown = !messages(&scene.ui.state).is_empty();
    opened.err().or(told.err().filter(|_| !shown))
}

pub(super) async fn history(scene: &mut Scene, with: bool) -> Found {
    let (old, insider) = past(scene).await;
    let refused = if with { look_back(scene, old).await } else { None };
    Found::only(refused, Past::of(&insider.state), Past::of(&scene.ui.state))
}

/// Each message with the one before it.
fn branches(state: &State) -> Vec<(String, String)> {
    let text = |entry: Option<EntryId>| {
        let message = messages(state).into_iter().find(|message| Some(EntryId::from(message.id)) == entry);
        message.map(|message| message.text()).unwrap_or_default()
    };
    let parent = |entry: EntryId| state.entries.get(&entry).and_then(|entry| entry.parent);
    let all = messages(state).into_iter().map(|message| (message.text(), text(parent(message.id.into()))));
    all.collect()
}

/// A session of the past has a second branch, or not.
pub(super) async fn tree(scene: &mut Scene, with: bool) -> Found {
    let (old, mut insider) = past(scene).await;
    if with {
        let leaf = insider.state.leaf;
        insider_prompts(scene, &mut insider, "another way").await;
        scene.answers("That way.").await;
        insider.give(Command::Session(SessionCommand::SetLeaf { leaf })).await;
        scene.rest().await;
    }
    insider_prompts(scene, &mut insider, "this way").await;
    scene.answers("This way.").await;
    insider.take();
    let refused = look_back(scene, old).await;
    Found::only(refused, branches(&insider.state), branches(&scene.ui.state))
}

pub(super) async fn leaf(scene: &mut Scene, with: bool) -> Found {
    scene.round("one", "First.").await;
    scene.round("two", "Second.").await;
    let leaf = Some(first_answer(scene));
    let refused = given(scene, with, Command::Session(SessionCommand::SetLeaf { leaf })).await;
    scene.begins("three").await;
    let (_, context) = last(scene);
    Found::heard(scene, refused, texts(&["one", "First.", "three"]), context)
}

/// A UI comes to a session whose run is under way: it is shown what was said, and hears the rest. Without the item there is no run.
pub(super) async fn resume(scene: &mut Scene, with: bool) -> Found {
    scene.round("one", "First.").await;
    if with {
        let mut doing = scene.begins("go").await;
        doing.begin_step(scene).await;
        doing.says(scene, "Half a ").await;
        scene.rest().await;
        let arrived = come_back(scene, Some(doing)).await;
        return Found::only(None, (texts(&["one", "First.", "go", "Half a word."]), true), arrived);
    }
    let arrived = come_back(scene, None).await;
    Found::only(None, (Vec::new(), false), arrived)
}

/// What a UI that comes for the session is shown, and whether it knows of the run; the model goes on meanwhile.
async fn come_back(scene: &mut Scene, doing: Option<Doing>) -> (Vec<String>, bool) {
    let session = scene.titled("one").await.expect("a session");
    let mut other = scene.another(&session).await;
    if messages(&other.state).is_empty() {
        // It asks for what it is not shown by itself.
        other.give(library(LibraryCommand::History { session, max_runs: 10, max_events: 1_000 })).await;
        scene.rest().await;
    }
    if let Some(doing) = doing {
        doing.says(scene, "word.").await;
        scene.rest().await;
    }
    other.take();
    let said = messages(&other.state).iter().map(|message| message.text()).collect();
    (said, other.state.open_run().is_some())
}
