//! News from the runtime.

use super::{asks, commands, completion, files, lists, prompt, reading};
use crate::ask::AskPanel;
use crate::clean::clean_line;
use crate::keymap::Action;
use crate::model::{Model, Want};
use crate::msg::Fx;
use crate::thread::Thread;
use crate::transcript::Scroll;
use crate::world::Seen;
use domain::command::{Command, LibraryCommand, Receipt, Refusal, RefusalKind};
use domain::event::{
    AskEvent, Body, ContextEvent, Event, Leaving, MessageEvent, QueueEvent, RunEvent, SessionEvent,
};
use domain::ids::SessionId;
use domain::port::{LinkState, News, Ticket};
use domain::session::SkillEntry;
use domain::signal::{Level, Signal};
use domain::state::State;

/// Runs at least this long ring the bell when they end.
const LONG_RUN_MS: u64 = 15_000;

/// Takes up what the runtime told.
pub(super) fn hear(model: &mut Model, news: News, fx: &mut Vec<Fx>) {
    match news {
        News::Attached { session, replay, board, abilities } => {
            let mut state = State::new();
            let damaged = replay.iter().filter(|(at, body)| state.apply(*at, body).is_err()).count();
            if damaged > 0 {
                model.toast(Level::Warning, format!("{damaged} records of this session could not be read"));
            }
            let thread = Thread::build(&state);
            let same = model.world.current.as_ref() == Some(&session);
            if !same {
                leave(model);
            }
            let draft = model.world.sessions.remove(&session).map(|seen| seen.draft).unwrap_or_default();
            let looked_at = model.screen.now;
            let seen =
                Seen { state, thread, board, abilities, unread: false, draft: String::new(), looked_at };
            model.world.sessions.insert(session.clone(), seen);
            model.world.current = Some(session);
            is_back(model);
            model.world.link = LinkState::Up;
            model.world.trim();
            if !model.world.is_running() {
                prompt::after_run(model, fx);
            }
            if !same {
                if model.screen.composer.is_empty() && !draft.is_empty() {
                    model.screen.composer.set(draft);
                }
                model.screen.scroll = Scroll::Tail;
                model.screen.selected = None;
                model.screen.flipped.clear();
                model.screen.ask = None;
            }
            retitle(model, fx);
        }
        News::Happened { session, event } => happened(model, &session, &event, fx),
        News::Signal { session, signal } => signalled(model, &session, signal, fx),
        News::Settled { ticket, with } => settled(model, ticket, with, fx),
        News::Link(link) => {
            if link == LinkState::Up {
                is_back(model);
            }
            if let LinkState::Lost(why) = &link {
                unheard(model);
                if model.world.link != link {
                    // The newest stands first there, so that the lines can be read downwards.
                    why.lines().rev().for_each(|line| model.notice(Level::Error, line));
                }
            }
            model.world.link = link;
        }
    }
}

/// Says that the runtime is back, when it was gone; what was said about that goes.
fn is_back(model: &mut Model) {
    if matches!(model.world.link, LinkState::Lost(_)) {
        model.screen.toasts.clear();
        model.toast(Level::Success, "the runtime is back");
    }
}

/// The runtime is gone: what nobody will answer any more comes back.
fn unheard(model: &mut Model) {
    for want in std::mem::take(&mut model.screen.pending).into_values().rev() {
        match want {
            Want::Said(text) => prompt::give_back(model, &text),
            Want::Waits(_, input) => prompt::give_back(model, &input.text),
            Want::Answer => model.screen.ask.iter_mut().for_each(AskPanel::reopen),
            Want::List(_) => model.screen.overlay = None,
            Want::Nothing
            | Want::Export(_)
            | Want::Saved
            | Want::Word(_)
            | Want::Policy(_)
            | Want::Summary
            | Want::Told
            | Want::Gone(_)
            | Want::Files
            | Want::Page(_)
            | Want::GoBack(_)
            | Want::Skills => {}
        }
    }
    prompt::give_back_afterwards(model);
}

/// Keeps what was being typed for when the person comes back to the session.
fn leave(model: &mut Model) {
    prompt::give_back_afterwards(model);
    if model.world.current.is_some() && !model.screen.composer.is_empty() {
        let draft = model.screen.composer.take();
        model.world.seen_mut().draft = draft;
    }
    let now = model.screen.now;
    model.world.seen_mut().looked_at = now;
}

fn happened(model: &mut Model, session: &SessionId, event: &Event, fx: &mut Vec<Fx>) {
    let is_current = model.world.current.as_ref() == Some(session);
    let cleared = match &event.body {
        Body::Queue(QueueEvent::Left { item, leaving: Leaving::Cleared }) if is_current => {
            let queues = &model.world.state().queues;
            queues
                .all()
                .find(|(_, waiting)| waiting.id == *item)
                .map(|(_, waiting)| waiting.input.text.clone())
        }
        _ => None,
    };
    if let Body::Ask(AskEvent::Closed { ask, closing }) = &event.body
        && is_current
    {
        let run = model.world.state().ask(*ask).and_then(|ask| ask.run);
        asks::closed(model, *ask, run, closing);
    }
    if !model.world.happened(session, event) {
        if is_current {
            // What is known does not fit what came: the whole session is asked for again.
            model.send(
                Want::Nothing,
                Command::Library(LibraryCommand::Open { session: session.clone() }),
                fx,
            );
        }
        return;
    }
    match cleared {
        Some(text) if model.screen.put_away => prompt::put_away(model, text, fx),
        Some(text) => prompt::give_back(model, &text),
        None => {}
    }
    match &event.body {
        Body::Run(RunEvent::Ended { run, .. }) => {
            let took = model.world.sessions.get(session).and_then(|seen| seen.state.run(*run));
            let long = took.is_some_and(|run| event.at.since(run.started_at) >= LONG_RUN_MS);
            if long {
                model.ring("the run is over", fx);
            }
            if is_current && std::mem::take(&mut model.screen.summarising) {
                model.toast(Level::Warning, "the runtime has told of no summary");
            }
            if is_current {
                prompt::after_run(model, fx);
            }
            retitle(model, fx);
        }
        Body::Ask(AskEvent::Opened(ask)) if !is_current => {
            let title = model.world.sessions.get(session).map(|seen| seen.state.title()).unwrap_or_default();
            let key = model.screen.keymap.shown(Action::NextSession);
            model.toast(Level::Warning, format!("“{title}” asks: {} ({key} goes there)", ask.title));
            model.ring(&format!("{title}: {}", ask.title), fx);
        }
        Body::Message(MessageEvent::Delta { text, .. }) if is_current => {
            model.screen.flow.add(model.screen.now, text.len());
        }
        Body::Run(RunEvent::Started { .. }) => {
            model.screen.put_away = false;
            retitle(model, fx);
        }
        Body::Session(SessionEvent::Renamed { .. }) => retitle(model, fx),
        Body::Context(ContextEvent::Compacted { .. }) if is_current => summarised(model),
        _ => {}
    }
}

/// A summary stands in the place of older messages: says so to who wanted it, once.
fn summarised(model: &mut Model) {
    if std::mem::take(&mut model.screen.summarising) {
        model.toast(Level::Success, "summarised");
    }
}

/// Sets the window's title to the session's.
fn retitle(model: &mut Model, fx: &mut Vec<Fx>) {
    let seen = model.world.seen();
    let own = seen.board.title.clone().unwrap_or_else(|| seen.state.title());
    let sign = if model.world.is_running() { "● " } else { "" };
    let title = format!("{sign}{} · parlor", clean_line(&own));
    if title != model.screen.title {
        model.screen.title.clone_from(&title);
        fx.push(Fx::Title(title));
    }
}

fn signalled(model: &mut Model, session: &SessionId, signal: Signal, fx: &mut Vec<Fx>) {
    let is_current = model.world.current.as_ref() == Some(session);
    if let Some(seen) = model.world.sessions.get_mut(session) {
        seen.board.take(&signal);
    }
    if !is_current {
        return;
    }
    match signal {
        Signal::Notify { level, text } => model.toast(level, text),
        Signal::Title(_) => retitle(model, fx),
        Signal::EditorText(text) => model.screen.composer.set(crate::clean::clean(&text).into_owned()),
        Signal::Suggestion { text, .. } => model.screen.suggestion = Some(clean_line(&text)),
        Signal::Status { .. } | Signal::Working(_) | Signal::Widget { .. } => {}
    }
}

fn settled(model: &mut Model, ticket: Ticket, with: Result<Receipt, Refusal>, fx: &mut Vec<Fx>) {
    let Some(want) = model.screen.pending.remove(&ticket) else { return };
    match (with, want) {
        (Ok(_), Want::Word(word)) => model.toast(Level::Success, word),
        (Ok(Receipt::Compacted { .. }), Want::Summary) => summarised(model),
        (Ok(_), Want::Summary) if model.screen.summarising => {
            model.toast(Level::Info, "the runtime was told to summarise");
        }
        (Ok(_), Want::Policy(policy)) => model.toast(Level::Success, commands::policy_means(model, policy)),
        (Ok(_), Want::Gone(choice)) => lists::gone(model, &choice),
        (Ok(Receipt::Extension(json)), Want::Told) => model.toast(Level::Success, clean_line(json.as_str())),
        (Ok(_), Want::Told) => model.toast(Level::Success, "done"),
        (Ok(Receipt::Files { text }), Want::Files) => files::told(model, &text),
        (Ok(Receipt::Files { text }), Want::Page(title)) => files::page(model, title, text),
        (Ok(_), Want::GoBack(entry)) => reading::go_back_to(model, entry, fx),
        (Ok(receipt), Want::List(of)) => lists::fill(model, of, receipt),
        (Ok(Receipt::Exported { text, .. }), Want::Export(path)) => fx.push(Fx::Write { path, text }),
        (Ok(Receipt::Saved { path, .. }), Want::Saved) => {
            model.toast(Level::Success, format!("saved: {}", clean_line(&path)));
        }
        // Not every runtime says where, nor that it did.
        (Ok(_), Want::Saved) => model.toast(Level::Info, "the runtime was told to save"),
        (Ok(Receipt::Skills(list)), Want::Skills) => {
            let known = |skill: SkillEntry| (clean_line(&skill.name), clean_line(&skill.description));
            model.screen.skills = list.skills.into_iter().map(known).collect();
            model.screen.completion = None;
            completion::refresh(model, fx);
        }
        (Ok(_), _) => {}
        (Err(Refusal { kind: RefusalKind::NoRun, .. }), Want::Waits(session, input)) => {
            prompt::say_anew(model, session.as_ref(), input, fx);
        }
        (Err(refusal), want) => {
            match want {
                Want::Said(text) => prompt::give_back(model, &text),
                Want::Waits(_, input) => prompt::give_back(model, &input.text),
                Want::Answer => model.screen.ask.iter_mut().for_each(AskPanel::reopen),
                // The list would hide what is said about it.
                Want::List(_) | Want::Gone(_) => model.screen.overlay = None,
                Want::Nothing
                | Want::Export(_)
                | Want::Saved
                | Want::Word(_)
                | Want::Policy(_)
                | Want::Told
                | Want::Files
                | Want::Page(_)
                | Want::GoBack(_)
                | Want::Skills => {}
                Want::Summary => model.screen.summarising = false,
            }
            model.toast(Level::Error, refusal.to_string());
        }
    }
}
