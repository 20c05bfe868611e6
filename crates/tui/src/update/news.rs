//! News from the runtime.

use super::{asks, chosen, commands, completion, everywhere, files, lists, policies, ports, prompt};
use crate::clean::clean_line;
use crate::keymap::Action;
use crate::model::{Model, Want};
use crate::msg::Fx;
use crate::picker::ListKind;
use crate::thread::Thread;
use crate::toasts::Topic;
use crate::world::SessionView;
use domain::command::{Command, LibraryCommand, ListCommand, Receipt, Refusal, RefusalKind};
use domain::content::Input;
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
            // Each record goes once it is folded, so that a long session is not held twice.
            let damaged = replay.into_iter().filter(|(at, body)| state.apply(*at, body).is_err()).count();
            if damaged > 0 {
                model.toast(Level::Warning, format!("{damaged} records of this session could not be read"));
            }
            let thread = Thread::build(&state);
            let same = model.world.current.as_ref() == Some(&session);
            if !same {
                leave(model);
                [Topic::Run, Topic::Question].into_iter().for_each(|topic| model.screen.toasts.over(topic));
            }
            let draft = model.world.sessions.remove(&session).map(|seen| seen.draft).unwrap_or_default();
            let looked_at = model.screen.window.now();
            let seen = SessionView {
                state,
                thread,
                board,
                abilities,
                unread: false,
                draft: String::new(),
                looked_at,
            };
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
                model.screen.transcript.begin_anew();
                model.screen.asks.forget();
            }
            // The first screen says what it has room for, where there is one; a session that is gone on with has none.
            let told = model.screen.start.untold();
            let is_new = model.world.seen().state.entries.is_empty();
            for told in &told {
                match is_new {
                    true => model.notice(Level::Warning, told),
                    false => model.toast(Level::Warning, told),
                }
            }
            look_at_branch(model, fx);
            retitle(model, fx);
        }
        News::Happened { session, event } => happened(model, &session, &event, fx),
        News::Signal { session, signal } => signalled(model, &session, signal, fx),
        News::Settled { ticket, with } => settled(model, ticket, with, fx),
        News::Link(LinkState::Odd(what)) => model.toast(Level::Warning, what),
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
    for want in model.screen.tickets.take_lost() {
        match want {
            Want::Said(text) => model.screen.composer.give_back(&text),
            Want::Waits(_, input) => model.screen.composer.give_back(&input.text),
            Want::Answer => model.screen.asks.reopen(),
            Want::List(_) => model.screen.over.close(),
            Want::Nothing
            | Want::Shown
            | Want::Words(_)
            | Want::Export(_)
            | Want::Saved
            | Want::Word(_)
            | Want::Policy(_)
            | Want::NextPolicy(_)
            | Want::Revoked
            | Want::Reach
            | Want::Port(..)
            | Want::PortAllowed(_)
            | Want::Summary
            | Want::Told
            | Want::Gone(_)
            | Want::Files
            | Want::Page(_)
            | Want::GoBack(_)
            | Want::ModelNames
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
    let now = model.screen.window.now();
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
        Some(text) if !model.screen.wishes.comes_back(&text) => {}
        Some(text) if model.screen.wishes.puts_away() => prompt::put_away(model, text, fx),
        Some(text) => model.screen.composer.give_back(&text),
        None => {}
    }
    match &event.body {
        Body::Run(RunEvent::Ended { run, .. }) => {
            let took = model.world.sessions.get(session).and_then(|seen| seen.state.run(*run));
            let long = took.is_some_and(|run| event.at.since(run.started_at) >= LONG_RUN_MS);
            if long {
                model.ring("the run is over", fx);
            }
            if is_current && model.screen.wishes.take_summary() {
                model.toast(Level::Warning, "the runtime has told of no summary");
            }
            if is_current {
                model.screen.toasts.over(Topic::Run);
                prompt::after_run(model, fx);
                look_at_branch(model, fx);
            }
            retitle(model, fx);
        }
        Body::Ask(AskEvent::Opened(ask)) if !is_current => {
            let title = model.world.sessions.get(session).map(|seen| seen.state.title()).unwrap_or_default();
            let key = model.screen.preferences.keymap().shown(Action::NextSession);
            model.toast(Level::Warning, format!("“{title}” asks: {} ({key} goes there)", ask.title));
            model.ring(&format!("{title}: {}", ask.title), fx);
        }
        Body::Message(MessageEvent::Delta { text, .. }) if is_current => {
            model.screen.flow.add(model.screen.window.now(), text.len());
        }
        Body::Run(RunEvent::Started { .. }) => {
            model.screen.wishes.run_begins();
            retitle(model, fx);
        }
        Body::Session(SessionEvent::Renamed { .. }) => retitle(model, fx),
        Body::Context(ContextEvent::Compacted { .. }) if is_current => summarised(model),
        _ => {}
    }
}

/// What git has checked out may be something else now.
pub(super) fn look_at_branch(model: &Model, fx: &mut Vec<Fx>) {
    let cwd = &model.world.state().settings.cwd;
    if !cwd.is_empty() {
        fx.push(Fx::FindBranch(cwd.clone()));
    }
}

/// A summary stands in the place of older messages: says so to who wanted it, once.
fn summarised(model: &mut Model) {
    if model.screen.wishes.take_summary() {
        model.toast(Level::Success, "summarised");
    }
}

/// Sets the window's title to the session's.
pub(super) fn retitle(model: &mut Model, fx: &mut Vec<Fx>) {
    let seen = model.world.seen();
    let own = seen.board.title.clone().unwrap_or_else(|| seen.state.title());
    let sign = if model.world.is_running() { "● " } else { "" };
    let elsewhere = match model.screen.fleet.waiting_besides(model.world.current.as_ref()) {
        0 => String::new(),
        waiting => format!("({waiting}) "),
    };
    let title = format!("{elsewhere}{sign}{} · parlor", clean_line(&own));
    if model.screen.window.retitle(&title) {
        fx.push(Fx::Title(title));
    }
}

fn signalled(model: &mut Model, session: &SessionId, signal: Signal, fx: &mut Vec<Fx>) {
    let is_current = model.world.current.as_ref() == Some(session);
    let listened = ports::listening(model);
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
        Signal::Suggestion { text, .. } => model.screen.composer.suggest(clean_line(&text)),
        Signal::Status { .. } => ports::told(model, &listened),
        Signal::Working(_) | Signal::Widget { .. } => {}
    }
}

fn settled(model: &mut Model, ticket: Ticket, with: Result<Receipt, Refusal>, fx: &mut Vec<Fx>) {
    let Some(want) = model.screen.tickets.settle(ticket) else { return };
    match (with, want) {
        (Ok(_), Want::Word(word)) => model.toast(Level::Success, word),
        (Ok(Receipt::Compacted { .. }), Want::Summary) => summarised(model),
        (Ok(_), Want::Summary) if model.screen.wishes.wants_summary() => {
            model.toast(Level::Info, "the runtime was told to summarise");
        }
        (Ok(_), Want::Policy(policy)) => model.toast(Level::Success, commands::policy_means(model, policy)),
        (Ok(receipt), Want::Revoked) => {
            lists::fill(model, ListKind::Rules, receipt);
            model.toast(Level::Success, "revoked: it is asked again from now on");
        }
        (Ok(_), Want::Reach) => {
            model.toast(Level::Success, "the server starts again with what it may reach now");
            model.send(Want::List(ListKind::Servers), Command::List(ListCommand::Servers), fx);
        }
        (Ok(_), Want::Port(port, open)) => ports::switched(model, port, open),
        (Ok(_), Want::PortAllowed(port)) => ports::allowed(model, port),
        (Ok(_), Want::NextPolicy(policy)) => policies::taken(model, policy),
        (Err(refusal), Want::NextPolicy(policy)) => policies::refused(model, policy, &refusal, fx),
        (Ok(_), Want::Gone(choice)) => chosen::gone(model, &choice),
        (Ok(Receipt::Extension(json)), Want::Told) => model.toast(Level::Success, clean_line(json.as_str())),
        (Ok(_), Want::Told) => model.toast(Level::Success, "done"),
        (Ok(Receipt::Files { text }), Want::Files) => files::told(model, &text),
        (Ok(Receipt::Files { text }), Want::Page(title)) => files::page(model, title, text),
        (Ok(_), Want::GoBack(entry)) => files::go_back_to(model, entry, fx),
        (Ok(Receipt::Sessions(sessions)), Want::List(ListKind::Search)) => {
            everywhere::found(model, &sessions);
        }
        (Ok(_), Want::Words(words)) => everywhere::show(model, &words),
        (Ok(receipt), Want::List(of)) => lists::fill(model, of, receipt),
        (Ok(Receipt::Exported { text, .. }), Want::Export(path)) => fx.push(Fx::Write { path, text }),
        (Ok(Receipt::Saved { path, .. }), Want::Saved) => {
            model.toast(Level::Success, format!("saved: {}", clean_line(&path)));
        }
        // Not every runtime says where, nor that it did.
        (Ok(_), Want::Saved) => model.toast(Level::Info, "the runtime was told to save"),
        (Ok(Receipt::Skills(list)), Want::Skills) => {
            let known = |skill: SkillEntry| (clean_line(&skill.name), clean_line(&skill.description));
            model.screen.composer.know_skills(list.skills.into_iter().map(known).collect());
            completion::refresh(model, fx);
        }
        (Ok(Receipt::Models { models, .. }), Want::ModelNames) => {
            let item =
                |entry| (lists::model_item(entry, None).label, lists::model_told(entry, " per 1M tokens"));
            model.screen.composer.know_models(models.iter().map(item).collect());
        }
        // Nobody asked for them in words: a list that does not come is no news.
        (Ok(_) | Err(_), Want::ModelNames | Want::Shown) => {}
        (Ok(_), Want::Waits(_, Input { text, .. })) | (Ok(Receipt::Queued { .. }), Want::Said(text)) => {
            model.screen.wishes.waits(text);
        }
        (Ok(_), _) => {}
        (Err(Refusal { kind: RefusalKind::NoRun, .. }), Want::Waits(session, input)) => {
            prompt::say_anew(model, session.as_ref(), input, fx);
        }
        (Err(refusal), want) => {
            match want {
                Want::Said(text) => model.screen.composer.give_back(&text),
                Want::Waits(_, input) => model.screen.composer.give_back(&input.text),
                Want::Answer => model.screen.asks.reopen(),
                // An empty list has nothing to show.
                Want::List(_) => model.screen.over.close(),
                Want::Nothing
                | Want::Shown
                | Want::Words(_)
                | Want::Gone(_)
                | Want::Revoked
                | Want::Reach
                | Want::Port(..)
                | Want::PortAllowed(_)
                | Want::Export(_)
                | Want::Saved
                | Want::Word(_)
                | Want::Policy(_)
                | Want::NextPolicy(_)
                | Want::Told
                | Want::Files
                | Want::Page(_)
                | Want::GoBack(_)
                | Want::ModelNames
                | Want::Skills => {}
                Want::Summary => {
                    model.screen.wishes.take_summary();
                }
            }
            model.toast(Level::Error, refusal.to_string());
        }
    }
}
