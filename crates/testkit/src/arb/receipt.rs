//! Strategies for receipts and refusals.

use super::command::export_format;
use super::{
    compaction, event, json, maybe, model_ref, number, one_of, outcome, session_id, session_summary, text,
    up_to_three, usage,
};
use domain::command::{History, Receipt, Refusal, RefusalKind};
use domain::ids::{EntryId, Millis, QueuedId, RunId};
use domain::session::{
    JobState, ModelEntry, RunSummary, ServerEntry, ServerReach, ServerState, ShellJob, SkillEntry, SkillList,
    Stats, ToolEntry,
};
use proptest::prelude::*;

/// What a UI gets.
pub fn settlement() -> BoxedStrategy<Result<Receipt, Refusal>> {
    prop_oneof![receipt().prop_map(Ok), refusal().prop_map(Err)].boxed()
}

/// What a UI gets when its command was taken.
pub fn receipt() -> BoxedStrategy<Receipt> {
    prop_oneof![of_run(), of_session(), of_lists()].boxed()
}

fn of_run() -> BoxedStrategy<Receipt> {
    prop_oneof![
        Just(Receipt::Done),
        (session_id(), number()).prop_map(|(session, run)| Receipt::Started { session, run: RunId(run) }),
        (number(), number())
            .prop_map(|(item, run)| Receipt::Queued { item: QueuedId(item), run: RunId(run) }),
        (number(), maybe(outcome()))
            .prop_map(|(run, outcome)| Receipt::Cancelling { run: RunSummary { run: RunId(run), outcome } }),
        (number(), compaction())
            .prop_map(|(entry, compaction)| Receipt::Compacted { entry: EntryId(entry), compaction }),
        json().prop_map(Receipt::Extension),
    ]
    .boxed()
}

fn of_session() -> BoxedStrategy<Receipt> {
    let stats = (number(), number(), number(), number(), usage())
        .prop_map(|(messages, turns, runs, tools, usage)| Stats { messages, turns, runs, tools, usage });
    let history = (number(), up_to_three(event()), any::<bool>())
        .prop_map(|(runs, events, truncated)| History { runs, events, truncated });
    prop_oneof![
        (session_summary(), maybe(session_id()))
            .prop_map(|(session, parent)| Receipt::Session { session, parent }),
        up_to_three(session_summary()).prop_map(Receipt::Sessions),
        maybe(number()).prop_map(|leaf| Receipt::Leaf(leaf.map(EntryId))),
        history.prop_map(Receipt::History),
        stats.prop_map(Receipt::Stats),
        (text(), number()).prop_map(|(path, size)| Receipt::Saved { path, size }),
        (export_format(), text()).prop_map(|(format, text)| Receipt::Exported { format, text }),
    ]
    .boxed()
}

fn of_lists() -> BoxedStrategy<Receipt> {
    let model =
        (
            model_ref(),
            maybe(number()),
            maybe(number()),
            maybe(number()),
            maybe(number()),
            maybe(any::<bool>()),
        )
            .prop_map(|(model, context_window, max_output, price_input, price_output, thinks)| {
                ModelEntry { model, context_window, max_output, price_input, price_output, thinks }
            });
    let state = prop_oneof![
        one_of(&[
            ServerState::Disabled,
            ServerState::Connecting,
            ServerState::Ready,
            ServerState::AuthRequired
        ]),
        text().prop_map(ServerState::Failed),
    ];
    let reach = (any::<bool>(), any::<bool>(), any::<bool>(), up_to_three(text())).prop_map(
        |(network, project, programs, folders)| ServerReach { network, project, programs, folders },
    );
    let server =
        (text(), any::<bool>(), any::<bool>(), state, maybe(number()), maybe(number()), maybe(reach))
            .prop_map(|(id, http, from_project, state, tools, connected, reach)| ServerEntry {
                id,
                http,
                from_project,
                state,
                tools,
                connected_at: connected.map(Millis),
                reach,
            });
    let skill = (text(), text(), text(), text(), any::<bool>(), number()).prop_map(
        |(id, name, description, path, from_project, at)| SkillEntry {
            id,
            name,
            description,
            path,
            from_project,
            modified_at: Millis(at),
        },
    );
    let skills = (up_to_three(skill), up_to_three((text(), text())), any::<bool>())
        .prop_map(|(skills, errors, truncated)| SkillList { skills, errors, truncated });
    let tool = (text(), text(), text(), any::<bool>())
        .prop_map(|(name, description, source, active)| ToolEntry { name, description, source, active });
    let state = prop_oneof![
        one_of(&[JobState::Running, JobState::Stopped]),
        maybe(any::<i32>()).prop_map(JobState::Exited),
    ];
    let job = (text(), text(), state, number(), maybe(number()), text(), any::<bool>()).prop_map(
        |(id, line, state, started, ended, output, truncated)| ShellJob {
            id,
            line,
            state,
            started_at: Millis(started),
            ended_at: ended.map(Millis),
            output,
            truncated,
        },
    );
    prop_oneof![
        (up_to_three(model), maybe(model_ref()))
            .prop_map(|(models, current)| Receipt::Models { models, current }),
        model_ref().prop_map(Receipt::Model),
        up_to_three(server).prop_map(Receipt::Servers),
        skills.prop_map(Receipt::Skills),
        up_to_three(tool).prop_map(Receipt::Tools),
        up_to_three(job).prop_map(Receipt::Jobs),
        text().prop_map(|text| Receipt::Files { text }),
    ]
    .boxed()
}

/// Why a command was not taken.
pub fn refusal() -> BoxedStrategy<Refusal> {
    let kind = prop_oneof![
        8 => one_of(&[
            RefusalKind::Busy,
            RefusalKind::NoRun,
            RefusalKind::RunUnknown,
            RefusalKind::SessionUnknown,
            RefusalKind::EntryUnknown,
            RefusalKind::AskUnknown,
            RefusalKind::AskOver,
            RefusalKind::QueuedUnknown,
            RefusalKind::ModelUnknown,
            RefusalKind::ToolUnknown,
            RefusalKind::ExtensionUnknown,
            RefusalKind::NothingToCompact,
            RefusalKind::NotAllowed,
            RefusalKind::Invalid,
            RefusalKind::Unsupported,
            RefusalKind::TooMany,
            RefusalKind::Storage,
            RefusalKind::TimedOut,
            RefusalKind::Lost,
            RefusalKind::Internal,
        ]),
        1 => text().prop_map(|code| RefusalKind::Remote { code }),
    ];
    (kind, text(), maybe(text())).prop_map(|(kind, message, hint)| Refusal { kind, message, hint }).boxed()
}
