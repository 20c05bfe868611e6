//! Strategies for events.

use super::ask::{digest, scope};
use super::{
    ask, budget, closing, effort, input, json, level, maybe, mode, model_ref, number, one_of, origin, part,
    policy, queue_kind, role, text, text_kind, up_to_three, usage,
};
use domain::event::{
    AskEvent, Base, Body, Cause, Compaction, ContextEvent, Event, Failure, Finish, Leaving, MessageEvent,
    NoteEvent, Outcome, PlanItem, PlanState, QueueEvent, RetryKind, RunEvent, SessionEvent, ToolEvent,
    Trigger,
};
use domain::ids::{AskId, EntryId, MessageId, Millis, QueuedId, RunId, Seq, StepId, ToolRunId, TurnId};
use domain::tool::{Decider, Decision, Progress, ToolOutcome, ToolResult};
use proptest::prelude::*;

/// Numbered events of every kind.
pub fn event() -> BoxedStrategy<Event> {
    (number(), number(), body())
        .prop_map(|(seq, at, body)| Event { seq: Seq(seq), at: Millis(at), body })
        .boxed()
}

/// How a run ends.
pub fn outcome() -> BoxedStrategy<Outcome> {
    prop_oneof![
        one_of(&[Outcome::Done, Outcome::Cancelled, Outcome::Interrupted, Outcome::Lost]),
        (text(), text(), maybe(text())).prop_map(|(code, message, hint)| Outcome::Failed(Failure {
            code,
            message,
            hint
        })),
    ]
    .boxed()
}

/// How a message ends.
pub fn finish() -> BoxedStrategy<Finish> {
    one_of(&[
        Finish::Complete,
        Finish::Length,
        Finish::Interrupted,
        Finish::Failed,
        Finish::Cut,
        Finish::Refused,
    ])
}

fn retry_kind() -> BoxedStrategy<RetryKind> {
    one_of(&[
        RetryKind::RateLimit,
        RetryKind::Overloaded,
        RetryKind::Timeout,
        RetryKind::Network,
        RetryKind::Provider,
    ])
}

/// Summaries that take the place of older entries.
pub fn compaction() -> BoxedStrategy<Compaction> {
    let trigger = one_of(&[Trigger::Manual, Trigger::Threshold, Trigger::Overflow]);
    (text(), maybe(number()), number(), (trigger, any::<bool>()), usage())
        .prop_map(|(summary, first, tokens_before, (trigger, unexplained), usage)| Compaction {
            summary,
            first_kept: first.map(EntryId),
            tokens_before,
            trigger,
            unexplained,
            usage,
        })
        .boxed()
}

/// What tools give back.
pub fn tool_result() -> BoxedStrategy<ToolResult> {
    (text(), up_to_three(part()), maybe(json()), any::<bool>())
        .prop_map(|(text, parts, json, truncated)| ToolResult { text, parts, json, truncated })
        .boxed()
}

fn decision() -> BoxedStrategy<Decision> {
    let by = prop_oneof![
        Just(Decider::Policy),
        text().prop_map(Decider::Rule),
        maybe(text()).prop_map(Decider::Person),
        Just(Decider::Foreign),
    ];
    (any::<bool>(), by, scope(), maybe(text()), maybe(digest()))
        .prop_map(|(allowed, by, scope, reason, digest)| Decision { allowed, by, scope, reason, digest })
        .boxed()
}

/// What an event may say, of every group.
pub fn body() -> BoxedStrategy<Body> {
    prop_oneof![
        3 => of_session(),
        3 => of_run(),
        3 => of_message(),
        3 => of_tool(),
        2 => of_ask_and_queue(),
    ]
    .boxed()
}

fn of_session() -> BoxedStrategy<Body> {
    let item = (text(), one_of(&[PlanState::Pending, PlanState::Active, PlanState::Done]))
        .prop_map(|(text, state)| PlanItem { text, state });
    let parent = maybe((text(), maybe(number())));
    let base = (number(), number(), number(), usage(), maybe((number(), number())), any::<bool>());
    prop_oneof![
        (text(), text(), parent).prop_map(|(cwd, project, parent)| Body::Session(SessionEvent::Opened {
            cwd,
            project,
            parent: parent.map(|(session, at)| (session, at.map(EntryId))),
        })),
        origin().prop_map(|origin| Body::Session(SessionEvent::CameFrom { origin })),
        text().prop_map(|title| Body::Session(SessionEvent::Renamed { title })),
        model_ref().prop_map(|model| Body::Session(SessionEvent::ModelChosen { model })),
        maybe(effort()).prop_map(|effort| Body::Session(SessionEvent::EffortChosen { effort })),
        budget().prop_map(|budget| Body::Session(SessionEvent::BudgetChosen { budget })),
        policy().prop_map(|policy| Body::Session(SessionEvent::PolicyChosen { policy })),
        maybe(up_to_three(text())).prop_map(|tools| Body::Session(SessionEvent::ToolsChosen { tools })),
        maybe(number()).prop_map(|leaf| Body::Session(SessionEvent::LeafMoved { leaf: leaf.map(EntryId) })),
        (number(), number(), any::<bool>())
            .prop_map(|(used, window, rough)| Body::Context(ContextEvent::Measured { used, window, rough })),
        (number(), maybe(number()), compaction()).prop_map(|(entry, parent, compaction)| Body::Context(
            ContextEvent::Compacted { entry: EntryId(entry), parent: parent.map(EntryId), compaction }
        )),
        up_to_three(item).prop_map(|items| Body::Note(NoteEvent::PlanChanged { items })),
        (number(), maybe(number()), maybe(number()), level(), text(), text()).prop_map(
            |(entry, parent, run, level, code, text)| Body::Note(NoteEvent::Noticed {
                entry: EntryId(entry),
                parent: parent.map(EntryId),
                run: run.map(RunId),
                level,
                code,
                text,
            })
        ),
        base.prop_map(|(seq, at, last_id, usage, context, context_rough)| {
            let (seq, updated_at) = (Seq(seq), Millis(at));
            Body::Rebased(Box::new(Base { seq, updated_at, last_id, usage, context, context_rough }))
        }),
    ]
    .boxed()
}

fn of_run() -> BoxedStrategy<Body> {
    let cause = one_of(&[Cause::Prompt, Cause::Steer, Cause::FollowUp]);
    prop_oneof![
        number().prop_map(|run| Body::Run(RunEvent::Started { run: RunId(run) })),
        (number(), outcome())
            .prop_map(|(run, outcome)| Body::Run(RunEvent::Ended { run: RunId(run), outcome })),
        (number(), number(), cause).prop_map(|(run, turn, cause)| Body::Run(RunEvent::TurnStarted {
            run: RunId(run),
            turn: TurnId(turn),
            cause,
        })),
        number().prop_map(|turn| Body::Run(RunEvent::TurnEnded { turn: TurnId(turn) })),
        (number(), number(), maybe(model_ref())).prop_map(|(turn, step, model)| Body::Run(
            RunEvent::StepStarted { turn: TurnId(turn), step: StepId(step), model }
        )),
        (number(), usage())
            .prop_map(|(step, usage)| Body::Run(RunEvent::StepBilled { step: StepId(step), usage })),
        (number(), usage())
            .prop_map(|(step, usage)| Body::Run(RunEvent::StepEnded { step: StepId(step), usage })),
        (any::<u32>(), any::<u32>(), number(), text(), maybe(retry_kind())).prop_map(
            |(attempt, max, delay_ms, reason, kind)| Body::Run(RunEvent::Retrying {
                attempt,
                max,
                delay_ms,
                reason,
                kind
            })
        ),
    ]
    .boxed()
}

fn of_message() -> BoxedStrategy<Body> {
    prop_oneof![
        (number(), maybe(number()), role(), maybe(number()), maybe(number())).prop_map(
            |(message, parent, role, turn, step)| Body::Message(MessageEvent::Started {
                message: MessageId(message),
                parent: parent.map(EntryId),
                role,
                turn: turn.map(TurnId),
                step: step.map(StepId),
            })
        ),
        (number(), text_kind(), text()).prop_map(|(message, kind, text)| Body::Message(
            MessageEvent::Delta { message: MessageId(message), kind, text }
        )),
        (number(), part()).prop_map(|(message, part)| Body::Message(MessageEvent::PartAdded {
            message: MessageId(message),
            part
        })),
        (number(), finish()).prop_map(|(message, finish)| Body::Message(MessageEvent::Ended {
            message: MessageId(message),
            finish
        })),
    ]
    .boxed()
}

fn of_tool() -> BoxedStrategy<Body> {
    let outcome = one_of(&[
        ToolOutcome::Done,
        ToolOutcome::Failed,
        ToolOutcome::Denied,
        ToolOutcome::Skipped,
        ToolOutcome::Cancelled,
        ToolOutcome::Unknown,
    ]);
    let progress = prop_oneof![
        text().prop_map(Progress::Output),
        text().prop_map(Progress::Replace),
        (maybe(any::<u8>()), text()).prop_map(|(percent, message)| Progress::Status { percent, message }),
    ];
    prop_oneof![
        (number(), number(), text(), json()).prop_map(|(tool, message, name, args)| Body::Tool(
            ToolEvent::Proposed { tool: ToolRunId(tool), message: MessageId(message), name, args }
        )),
        (number(), decision())
            .prop_map(|(tool, decision)| Body::Tool(ToolEvent::Decided { tool: ToolRunId(tool), decision })),
        number().prop_map(|tool| Body::Tool(ToolEvent::Started { tool: ToolRunId(tool) })),
        (number(), progress)
            .prop_map(|(tool, progress)| Body::Tool(ToolEvent::Progress { tool: ToolRunId(tool), progress })),
        (number(), outcome, tool_result()).prop_map(|(tool, outcome, result)| Body::Tool(ToolEvent::Ended {
            tool: ToolRunId(tool),
            outcome,
            result,
        })),
    ]
    .boxed()
}

fn of_ask_and_queue() -> BoxedStrategy<Body> {
    let leaving = one_of(&[Leaving::Taken, Leaving::Dropped, Leaving::Cleared]);
    prop_oneof![
        ask().prop_map(|ask| Body::Ask(AskEvent::Opened(ask))),
        (number(), closing())
            .prop_map(|(ask, closing)| Body::Ask(AskEvent::Closed { ask: AskId(ask), closing })),
        (number(), queue_kind(), input(), maybe(text())).prop_map(|(item, kind, input, by)| Body::Queue(
            QueueEvent::Added { item: QueuedId(item), kind, input, by }
        )),
        (number(), input())
            .prop_map(|(item, input)| Body::Queue(QueueEvent::Edited { item: QueuedId(item), input })),
        (number(), leaving)
            .prop_map(|(item, leaving)| Body::Queue(QueueEvent::Left { item: QueuedId(item), leaving })),
        (queue_kind(), mode()).prop_map(|(kind, mode)| Body::Queue(QueueEvent::ModeSet { kind, mode })),
    ]
    .boxed()
}
