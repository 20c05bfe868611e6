//! Strategies for commands.

use super::{
    answer, few, input, json, maybe, mode, number, one_of, policy, queue_kind, session_id, text, ui_context,
};
use domain::command::{Command, ExportFormat, ListScope, PromptOptions, Target, WhenBusy};
use domain::ids::{AskId, EntryId, QueuedId, RunId};
use proptest::prelude::*;

/// Which session a command is for.
pub fn target() -> BoxedStrategy<Target> {
    prop_oneof![Just(Target::Current), session_id().prop_map(Target::Session)].boxed()
}

/// How a session is written out.
pub(super) fn export_format() -> BoxedStrategy<ExportFormat> {
    one_of(&[ExportFormat::Markdown, ExportFormat::Html, ExportFormat::Jsonl])
}

/// What UIs want.
pub fn command() -> BoxedStrategy<Command> {
    prop_oneof![2 => of_run(), 3 => of_session(), 2 => of_lists()].boxed()
}

fn of_run() -> BoxedStrategy<Command> {
    let when_busy = one_of(&[WhenBusy::Refuse, WhenBusy::Queue]);
    let options = (maybe(number()), when_busy, maybe(number()), maybe(any::<u32>()), maybe(any::<bool>()))
        .prop_map(|(from, when_busy, max_tokens, temperature, tools)| PromptOptions {
            from: from.map(EntryId),
            when_busy,
            max_tokens,
            temperature,
            tools,
        });
    prop_oneof![
        (input(), options).prop_map(|(input, options)| Command::Prompt { input, options }),
        (queue_kind(), input()).prop_map(|(kind, input)| Command::Enqueue { kind, input }),
        (number(), input()).prop_map(|(item, input)| Command::EditQueued { item: QueuedId(item), input }),
        number().prop_map(|item| Command::DropQueued { item: QueuedId(item) }),
        (queue_kind(), mode()).prop_map(|(kind, mode)| Command::SetQueueMode { kind, mode }),
        (maybe(number()), maybe(text()))
            .prop_map(|(run, reason)| Command::Cancel { run: run.map(RunId), reason }),
        (number(), answer()).prop_map(|(ask, answer)| Command::Answer { ask: AskId(ask), answer }),
        maybe(text()).prop_map(|instruction| Command::Compact { instruction }),
        ui_context().prop_map(Command::UpdateContext),
        (text(), json()).prop_map(|(name, payload)| Command::Extension { name, payload }),
    ]
    .boxed()
}

fn of_session() -> BoxedStrategy<Command> {
    prop_oneof![
        (maybe(text()), maybe(text()), maybe(session_id()))
            .prop_map(|(cwd, title, id)| Command::NewSession { cwd, title, id }),
        session_id().prop_map(|session| Command::OpenSession { session }),
        (maybe(session_id()), maybe(number()))
            .prop_map(|(session, at)| Command::BranchSession { session, at: at.map(EntryId) }),
        Just(Command::CloseSession),
        text().prop_map(|title| Command::RenameSession { title }),
        session_id().prop_map(|session| Command::DeleteSession { session }),
        Just(Command::ClearSession),
        maybe(number()).prop_map(|leaf| Command::SetLeaf { leaf: leaf.map(EntryId) }),
        (session_id(), number(), number()).prop_map(|(session, max_runs, max_events)| Command::History {
            session,
            max_runs,
            max_events,
        }),
        Just(Command::Stats),
        (maybe(text()), any::<bool>()).prop_map(|(path, history)| Command::SaveSession { path, history }),
        text().prop_map(|path| Command::LoadSession { path }),
        (maybe(session_id()), export_format())
            .prop_map(|(session, format)| Command::ExportSession { session, format }),
    ]
    .boxed()
}

fn of_lists() -> BoxedStrategy<Command> {
    let scope = prop_oneof![Just(ListScope::All), maybe(text()).prop_map(ListScope::Project)];
    prop_oneof![
        (scope, maybe(number()), maybe(text())).prop_map(|(scope, limit, search)| Command::ListSessions {
            scope,
            limit,
            search
        }),
        maybe(text()).prop_map(|provider| Command::ListModels { provider }),
        (maybe(text()), text()).prop_map(|(provider, name)| Command::SetModel { provider, name }),
        policy().prop_map(|policy| Command::SetPolicy { policy }),
        Just(Command::ListServers),
        (maybe(text()), any::<bool>()).prop_map(|(cwd, reload)| Command::ListSkills { cwd, reload }),
        Just(Command::ListTools),
        maybe(few(text())).prop_map(|tools| Command::SetTools { tools }),
    ]
    .boxed()
}
