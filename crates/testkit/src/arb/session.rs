//! Strategies for sessions, models, signals and what runtimes can do.

use super::{ask, maybe, number, one_of, outcome, text, up_to_three, usage};
use domain::fleet::{Doing, Member};
use domain::ids::{EntryId, Millis, RunId, SessionId};
use domain::port::Abilities;
use domain::port::menu::{AgentChoice, AgentCommand, AgentMenu, AgentOption, OptionKind};
use domain::queue::{Mode, QueueKind};
use domain::session::{Budget, Effort, FoundWords, ModelRef, Origin, Policy, RuntimePlace, SessionSummary};
use domain::signal::{Board, Level, Signal, UiContext, WidgetPlace};
use proptest::prelude::*;

/// Ids of sessions, as they are written.
pub fn session_id() -> BoxedStrategy<SessionId> {
    number().prop_map(SessionId::from_number).boxed()
}

/// Models by provider and name.
pub fn model_ref() -> BoxedStrategy<ModelRef> {
    (text(), text()).prop_map(|(provider, name)| ModelRef { provider, name }).boxed()
}

/// How much is asked about before it is done.
pub fn policy() -> BoxedStrategy<Policy> {
    one_of(&Policy::ALL)
}

/// How hard a model thinks.
pub fn effort() -> BoxedStrategy<Effort> {
    one_of(&Effort::ALL)
}

/// Bounds of what may be spent.
pub fn budget() -> BoxedStrategy<Budget> {
    (maybe(number()), maybe(number()), maybe(number()))
        .prop_map(|(max_cost_micros, max_steps, max_time_s)| Budget {
            max_cost_micros,
            max_steps,
            max_time_s,
        })
        .boxed()
}

/// Runtimes of every place.
pub fn origin() -> BoxedStrategy<Origin> {
    let place = prop_oneof![
        text().prop_map(|path| RuntimePlace::Socket { path }),
        (up_to_three(text()), text(), any::<bool>())
            .prop_map(|(words, folder, incomplete)| { RuntimePlace::Command { words, folder, incomplete } }),
    ];
    (text(), place, maybe(text()))
        .prop_map(|(dialect, place, session)| Origin { dialect, place, session })
        .boxed()
}

/// Steer or follow-up.
pub fn queue_kind() -> BoxedStrategy<QueueKind> {
    one_of(&[QueueKind::Steer, QueueKind::FollowUp])
}

/// One at a time, or all at once.
pub fn mode() -> BoxedStrategy<Mode> {
    one_of(&[Mode::OneAtATime, Mode::All])
}

/// Every level of a notice.
pub fn level() -> BoxedStrategy<Level> {
    one_of(&[Level::Info, Level::Success, Level::Warning, Level::Error])
}

/// Sessions in a list.
pub fn session_summary() -> BoxedStrategy<SessionSummary> {
    let names = (session_id(), text(), text(), text());
    let times = (number(), number(), number());
    let found = (text(), number(), number());
    let found =
        found.prop_map(|(text, at, entry)| FoundWords { text, at: Millis(at), entry: EntryId(entry) });
    let now = (
        (any::<bool>(), any::<bool>()),
        maybe(outcome().prop_map(Box::new).boxed()),
        maybe(origin().prop_map(Box::new).boxed()),
        maybe(found.prop_map(Box::new).boxed()),
    );
    (names, times, maybe(text()), maybe(number()), now, usage())
        .prop_map(|((id, title, cwd, project), (created, updated, messages), prompt, run, now, usage)| {
            let ((running, elsewhere), outcome, origin, found) = now;
            SessionSummary {
                id,
                title,
                cwd,
                project,
                created_at: Millis(created),
                updated_at: Millis(updated),
                messages,
                last_prompt: prompt,
                last_run: run.map(RunId),
                running,
                elsewhere,
                outcome,
                usage,
                origin,
                found,
            }
        })
        .boxed()
}

fn place() -> BoxedStrategy<WidgetPlace> {
    one_of(&[WidgetPlace::Above, WidgetPlace::Below])
}

/// Signals of every kind.
pub fn signal() -> BoxedStrategy<Signal> {
    prop_oneof![
        (level(), text()).prop_map(|(level, text)| Signal::Notify { level, text }),
        (text(), maybe(text())).prop_map(|(key, text)| Signal::Status { key, text }),
        maybe(text()).prop_map(Signal::Working),
        (text(), up_to_three(text()), place()).prop_map(|(key, lines, place)| Signal::Widget {
            key,
            lines,
            place
        }),
        text().prop_map(Signal::Title),
        text().prop_map(Signal::EditorText),
        (text(), any::<u16>(), text(), maybe(text())).prop_map(|(text, confidence, source, context)| {
            Signal::Suggestion { text, confidence, source, context }
        }),
    ]
    .boxed()
}

/// Boards that signals have drawn.
pub fn board() -> BoxedStrategy<Board> {
    proptest::collection::vec(signal(), 0..8)
        .prop_map(|signals| {
            let mut board = Board::default();
            for signal in &signals {
                board.take(signal);
            }
            board
        })
        .boxed()
}

/// What a UI knows.
pub fn ui_context() -> BoxedStrategy<UiContext> {
    let size = maybe(any::<(u16, u16)>());
    (maybe(text()), maybe(text()), maybe(text()), maybe((text(), text())), up_to_three(text()), size)
        .prop_map(|(cwd, workspace_root, active_file, selection, notes, size)| UiContext {
            cwd,
            workspace_root,
            active_file,
            selection,
            notes,
            size,
        })
        .boxed()
}

/// What a runtime can do.
pub fn abilities() -> BoxedStrategy<Abilities> {
    let old = any::<[bool; 9]>();
    let new = any::<[bool; 20]>();
    let model = proptest::option::of(model_ref());
    (text(), old, new, model, menu())
        .prop_map(|(name, old, new, model, menu)| {
            let [steer, follow_up, cancel, sessions, branch, models, servers, skills, consent] = old;
            let [
                new_session,
                open_session,
                delete_session,
                rename_session,
                clear,
                go_back,
                compact,
                rest @ ..,
            ] = new;
            let [
                export,
                save,
                set_model,
                policy,
                list_tools,
                set_tools,
                extensions,
                session_scope,
                effort,
                ping,
                errands,
                undo,
                text_only,
            ] = rest;
            Abilities {
                name,
                steer,
                follow_up,
                cancel,
                sessions,
                branch,
                models,
                servers,
                skills,
                consent,
                new_session,
                open_session,
                delete_session,
                rename_session,
                clear,
                go_back,
                compact,
                export,
                save,
                set_model,
                policy,
                list_tools,
                set_tools,
                extensions,
                session_scope,
                effort,
                ping,
                errands,
                undo,
                text_only,
                model,
                menu: menu.into(),
            }
        })
        .boxed()
}

/// What runtimes offer in words of their own.
fn menu() -> BoxedStrategy<AgentMenu> {
    let command =
        (text(), text(), maybe(text())).prop_map(|(name, about, hint)| AgentCommand { name, about, hint });
    let choice = (text(), text(), maybe(text()), maybe(text()))
        .prop_map(|(value, name, about, group)| AgentChoice { value, name, about, group });
    let kind = one_of(&[OptionKind::Mode, OptionKind::Model, OptionKind::Effort, OptionKind::Other]);
    let option = (text(), text(), maybe(text()), kind, text(), up_to_three(choice.boxed())).prop_map(
        |(id, name, about, kind, value, choices)| AgentOption { id, name, about, kind, value, choices },
    );
    let command = command.boxed();
    (up_to_three(command.clone()), up_to_three(option.boxed()), up_to_three(command))
        .prop_map(|(commands, options, mentions)| AgentMenu { commands, options, mentions })
        .boxed()
}

/// Sessions as a process tells of them.
pub fn member() -> BoxedStrategy<Member> {
    let doing = prop_oneof![
        Just(Doing::Nothing),
        Just(Doing::Running),
        (number(), text(), maybe(ask().prop_map(Box::new).boxed()))
            .prop_map(|(asks, question, ask)| Doing::Waiting { asks, question, ask }),
        outcome().prop_map(Doing::Ended),
    ];
    let tasks = up_to_three(text().boxed());
    (session_id(), text(), text(), text(), maybe(text()), doing, tasks, number(), usage())
        .prop_map(|(session, title, cwd, project, runtime, doing, tasks, since, usage)| {
            let since = Millis(since);
            Member { session, title, cwd, project, runtime, doing, tasks, since, usage }
        })
        .boxed()
}
