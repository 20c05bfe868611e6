//! Strategies for commands.

use super::{
    answer, budget, effort, input, json, maybe, mode, number, one_of, policy, queue_kind, session_id, text,
    tool_result, ui_context, up_to_three,
};
use domain::command::{
    Command, DiffSince, ExportFormat, FilesCommand, LibraryCommand, ListCommand, ListScope, PromptOptions,
    QueueCommand, RunCommand, SessionCommand, ShellCommand, Target, WhenBusy,
};
use domain::ids::{AskId, EntryId, QueuedId, RunId, ToolRunId, TurnId};
use domain::offer::Offer;
use proptest::prelude::*;

/// Which session a command is for.
pub fn target() -> BoxedStrategy<Target> {
    prop_oneof![Just(Target::Current), session_id().prop_map(Target::Session)].boxed()
}

/// How a session is written out.
pub(super) fn export_format() -> BoxedStrategy<ExportFormat> {
    one_of(&[ExportFormat::Markdown, ExportFormat::Html, ExportFormat::Jsonl])
}

/// Commands of every group.
pub fn command() -> BoxedStrategy<Command> {
    prop_oneof![2 => of_run(), 3 => of_session(), 2 => of_lists()].boxed()
}

fn of_run() -> BoxedStrategy<Command> {
    let when_busy = one_of(&[WhenBusy::Refuse, WhenBusy::Queue]);
    let options = (
        maybe(number()),
        when_busy,
        maybe(number()),
        maybe(any::<u32>()),
        maybe(any::<bool>()),
        any::<bool>(),
        up_to_three(offer()),
    )
        .prop_map(|(from, when_busy, max_tokens, temperature, tools, ask_first, offers)| PromptOptions {
            from: from.map(EntryId),
            when_busy,
            max_tokens,
            temperature,
            tools,
            ask_first,
            offers,
        });
    prop_oneof![
        (input(), options).prop_map(|(input, options)| Command::Run(RunCommand::Prompt { input, options })),
        (queue_kind(), input()).prop_map(|(kind, input)| Command::Queue(QueueCommand::Add { kind, input })),
        (number(), input())
            .prop_map(|(item, input)| Command::Queue(QueueCommand::Edit { item: QueuedId(item), input })),
        number().prop_map(|item| Command::Queue(QueueCommand::Drop { item: QueuedId(item) })),
        (queue_kind(), mode()).prop_map(|(kind, mode)| Command::Queue(QueueCommand::SetMode { kind, mode })),
        (maybe(number()), maybe(text()))
            .prop_map(|(run, reason)| Command::Run(RunCommand::Cancel { run: run.map(RunId), reason })),
        (number(), answer()).prop_map(|(ask, answer)| Command::Answer { ask: AskId(ask), answer }),
        maybe(text()).prop_map(|instruction| Command::Run(RunCommand::Compact { instruction })),
        ui_context().prop_map(Command::UpdateContext),
        (text(), json()).prop_map(|(name, payload)| Command::Extension { name, payload }),
        of_shell(),
        of_files(),
        (number(), any::<bool>(), tool_result()).prop_map(|(tool, failed, result)| Command::Performed {
            tool: ToolRunId(tool),
            failed,
            result
        }),
    ]
    .boxed()
}

fn offer() -> BoxedStrategy<Offer> {
    (text(), text(), json(), maybe(number()), any::<bool>())
        .prop_map(|(name, description, schema, patience_ms, unasked)| Offer {
            name,
            description,
            schema,
            patience_ms,
            unasked,
        })
        .boxed()
}

fn of_shell() -> BoxedStrategy<Command> {
    let shell = prop_oneof![
        (text(), maybe(text()), maybe(number())).prop_map(|(line, cwd, seconds)| ShellCommand::Run {
            line,
            cwd,
            seconds
        }),
        (text(), maybe(text()), any::<bool>()).prop_map(|(line, cwd, typed)| ShellCommand::Start {
            line,
            cwd,
            typed
        }),
        Just(ShellCommand::Jobs),
        (text(), maybe(number())).prop_map(|(job, wait)| ShellCommand::Job { job, wait }),
        text().prop_map(|job| ShellCommand::Stop { job }),
    ];
    shell.prop_map(Command::Shell).boxed()
}

fn of_files() -> BoxedStrategy<Command> {
    let turns = || up_to_three(number().prop_map(TurnId));
    let files = prop_oneof![
        any::<bool>().prop_map(|leave| FilesCommand::Undo { leave }),
        any::<bool>().prop_map(|leave| FilesCommand::Redo { leave }),
        (turns(), turns(), any::<bool>()).prop_map(|(back, forth, leave)| FilesCommand::Go {
            back,
            forth,
            leave
        }),
        one_of(&[DiffSince::Prompt, DiffSince::Start, DiffSince::Commit])
            .prop_map(|since| FilesCommand::Diff { since }),
    ];
    files.prop_map(Command::Files).boxed()
}

fn of_session() -> BoxedStrategy<Command> {
    prop_oneof![
        (maybe(text()), maybe(text()), maybe(session_id()))
            .prop_map(|(cwd, title, id)| Command::Library(LibraryCommand::New { cwd, title, id })),
        session_id().prop_map(|session| Command::Library(LibraryCommand::Open { session })),
        (maybe(session_id()), maybe(number())).prop_map(|(session, at)| Command::Library(
            LibraryCommand::Branch { session, at: at.map(EntryId) }
        )),
        Just(Command::Session(SessionCommand::Close)),
        text().prop_map(|title| Command::Session(SessionCommand::Rename { title })),
        session_id().prop_map(|session| Command::Library(LibraryCommand::Delete { session })),
        Just(Command::Session(SessionCommand::Clear)),
        maybe(number())
            .prop_map(|leaf| Command::Session(SessionCommand::SetLeaf { leaf: leaf.map(EntryId) })),
        (session_id(), number(), number()).prop_map(|(session, max_runs, max_events)| Command::Library(
            LibraryCommand::History { session, max_runs, max_events }
        )),
        Just(Command::Session(SessionCommand::Stats)),
        (maybe(text()), any::<bool>())
            .prop_map(|(path, history)| Command::Library(LibraryCommand::Save { path, history })),
        text().prop_map(|path| Command::Library(LibraryCommand::Load { path })),
        (maybe(session_id()), export_format())
            .prop_map(|(session, format)| Command::Library(LibraryCommand::Export { session, format })),
    ]
    .boxed()
}

fn of_lists() -> BoxedStrategy<Command> {
    let scope = prop_oneof![Just(ListScope::All), maybe(text()).prop_map(ListScope::Project)];
    prop_oneof![
        (scope, maybe(number()), maybe(text())).prop_map(|(scope, limit, search)| Command::Library(
            LibraryCommand::List { scope, limit, search }
        )),
        maybe(text()).prop_map(|provider| Command::List(ListCommand::Models { provider })),
        (maybe(text()), text())
            .prop_map(|(provider, name)| Command::Session(SessionCommand::SetModel { provider, name })),
        maybe(effort()).prop_map(|effort| Command::Session(SessionCommand::SetEffort { effort })),
        budget().prop_map(|budget| Command::Session(SessionCommand::SetBudget { budget })),
        policy().prop_map(|policy| Command::Session(SessionCommand::SetPolicy { policy })),
        Just(Command::List(ListCommand::Servers)),
        (maybe(text()), any::<bool>())
            .prop_map(|(cwd, reload)| Command::List(ListCommand::Skills { cwd, reload })),
        Just(Command::List(ListCommand::Tools)),
        maybe(up_to_three(text())).prop_map(|tools| Command::Session(SessionCommand::SetTools { tools })),
    ]
    .boxed()
}
