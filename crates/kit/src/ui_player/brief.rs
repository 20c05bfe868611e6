//! Short forms of events and of what a command came to, for `event` steps. Ids are left out: they are minted anew in every run.

use domain::ask::{Answer, AskKind, Closing, Scope};
use domain::command::{Receipt, Refusal, RefusalKind};
use domain::content::{Part, TextKind};
use domain::event::{
    AskEvent, Body, ContextEvent, MessageEvent, NoteEvent, Outcome, QueueEvent, RunEvent, SessionEvent,
    ToolEvent,
};
use domain::session::Effort;
use domain::signal::Signal;
use domain::tool::Progress;
use roles::{LinkEffect, Reason, UiEffect};

/// What happened, in a few words: `text "Hello"`, `tool-proposed bash {}`, `ask consent bash`, `run-ended done`.
pub fn brief(body: &Body) -> String {
    match body {
        Body::Session(SessionEvent::Opened { cwd, .. }) => format!("session-opened {cwd:?}"),
        Body::Session(SessionEvent::CameFrom { origin }) => {
            format!("came-from {} {:?}", origin.dialect, origin.place.typed())
        }
        Body::Session(SessionEvent::Renamed { title }) => format!("renamed {title:?}"),
        Body::Session(SessionEvent::ModelChosen { model }) => format!("model {model}"),
        Body::Session(SessionEvent::EffortChosen { effort }) => {
            format!("effort {}", effort.map_or("provider's", Effort::name))
        }
        Body::Session(SessionEvent::BudgetChosen { budget }) => {
            let bound = |most: Option<u64>| most.map_or_else(|| "-".to_owned(), |most| most.to_string());
            let (cost, steps) = (bound(budget.max_cost_micros), bound(budget.max_steps));
            format!("budget {cost} {steps} {}", bound(budget.max_time_s))
        }
        Body::Session(SessionEvent::PolicyChosen { policy }) => format!("policy {}", policy.name()),
        Body::Session(SessionEvent::ToolsChosen { tools }) => match tools {
            Some(tools) => format!("tools {}", tools.join(",")),
            None => "tools all".to_owned(),
        },
        Body::Session(SessionEvent::LeafMoved { leaf: Some(_) }) => "leaf moved".to_owned(),
        Body::Session(SessionEvent::LeafMoved { leaf: None }) => "leaf none".to_owned(),
        Body::Run(RunEvent::Started { .. }) => "run-started".to_owned(),
        Body::Run(RunEvent::Ended { outcome, .. }) => format!("run-ended {}", outcome_words(outcome)),
        Body::Run(RunEvent::TurnStarted { cause, .. }) => format!("turn-started {}", word(cause)),
        Body::Run(RunEvent::TurnEnded { .. }) => "turn-ended".to_owned(),
        Body::Run(RunEvent::StepStarted { .. }) => "step-started".to_owned(),
        Body::Run(RunEvent::StepBilled { usage, .. }) => {
            format!("step-billed in={} out={}", usage.input, usage.output)
        }
        Body::Run(RunEvent::StepEnded { usage, .. }) if usage.total() > 0 => {
            format!("step-ended in={} out={}", usage.input, usage.output)
        }
        Body::Run(RunEvent::StepEnded { .. }) => "step-ended".to_owned(),
        Body::Message(MessageEvent::Started { role, .. }) => format!("message {}", word(role)),
        Body::Message(MessageEvent::Delta { kind: TextKind::Text, text, .. }) => format!("text {text:?}"),
        Body::Message(MessageEvent::Delta { kind: TextKind::Thought, text, .. }) => {
            format!("thought {text:?}")
        }
        Body::Message(MessageEvent::PartAdded { part, .. }) => part_words(part),
        Body::Message(MessageEvent::Ended { finish, .. }) => format!("message-ended {}", word(finish)),
        Body::Tool(ToolEvent::Proposed { name, args, .. }) => format!("tool-proposed {name} {args}"),
        Body::Tool(ToolEvent::Decided { decision, .. }) => {
            let word = if decision.allowed { "allowed" } else { "denied" };
            format!("tool-decided {word}{}", quoted(decision.reason.as_deref()))
        }
        Body::Tool(ToolEvent::Started { .. }) => "tool-started".to_owned(),
        Body::Tool(ToolEvent::Progress { progress, .. }) => match progress {
            Progress::Output(text) | Progress::Replace(text) => format!("tool-progress {text:?}"),
            Progress::Status { percent: Some(percent), message } => {
                format!("tool-progress {percent}% {message:?}")
            }
            Progress::Status { percent: None, message } => format!("tool-progress {message:?}"),
        },
        Body::Tool(ToolEvent::Ended { outcome, result, .. }) => {
            format!("tool-ended {} {:?}", word(outcome), result.text)
        }
        Body::Ask(AskEvent::Opened(ask)) => ask_words(&ask.title, &ask.kind),
        Body::Ask(AskEvent::Closed { closing, .. }) => format!("ask-closed {}", closing_words(closing)),
        Body::Queue(QueueEvent::Added { kind, input, .. }) => {
            format!("queued {} {:?}", word(kind), input.text)
        }
        Body::Queue(QueueEvent::Edited { input, .. }) => format!("queue-edited {:?}", input.text),
        Body::Queue(QueueEvent::Left { leaving, .. }) => format!("unqueued {}", word(leaving)),
        Body::Queue(QueueEvent::ModeSet { kind, mode }) => {
            format!("queue-mode {} {}", word(kind), word(mode))
        }
        Body::Context(ContextEvent::Measured { used, window, rough }) => {
            format!("context {}{used}/{window}", if *rough { "~" } else { "" })
        }
        Body::Context(ContextEvent::Compacted { compaction, .. }) => {
            format!("compacted {:?}", compaction.summary)
        }
        Body::Note(NoteEvent::PlanChanged { items }) => format!("plan {}", items.len()),
        Body::Run(RunEvent::Retrying { attempt, max, reason, .. }) => {
            format!("retrying {attempt}/{max} {reason:?}")
        }
        Body::Note(NoteEvent::Noticed { level, text, .. }) => {
            format!("notice {} {text:?}", word(level))
        }
        Body::Rebased(_) => "rebased".to_owned(),
    }
}

/// What a command came to: `settled done`, `settled sessions 2`, `refused busy "…"`.
pub fn brief_settled(with: &Result<Receipt, Refusal>) -> String {
    match with {
        Ok(receipt) => format!("settled {}", receipt_words(receipt)),
        Err(refusal) => format!("refused {} {:?}", refusal_words(&refusal.kind), refusal.message),
    }
}

/// What else a role wants: `drift agent.event: …`, `loss plan`, `signal notify "…"`, `log …`, `close "…"`.
pub(super) fn brief_effect(effect: &UiEffect) -> String {
    match effect {
        UiEffect::Link(LinkEffect::Drift(drift)) => format!("drift {}: {}", drift.place, drift.what),
        UiEffect::Link(LinkEffect::Loss(loss)) => format!("loss {}: {}", loss.item, loss.what),
        UiEffect::Link(LinkEffect::Log(line)) => format!("log {line}"),
        UiEffect::Link(LinkEffect::Close(Reason::Quit)) => "close quit".to_owned(),
        UiEffect::Link(LinkEffect::Close(Reason::Unusable(why))) => format!("close {why:?}"),
        UiEffect::Signal(signal) => format!("signal {}", signal_words(signal)),
        other => format!("{other:?}"),
    }
}

fn quoted(text: Option<&str>) -> String {
    text.map(|text| format!(" {text:?}")).unwrap_or_default()
}

fn outcome_words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done => "done".to_owned(),
        Outcome::Failed(failure) => format!("failed {:?}", failure.message),
        Outcome::Cancelled => "cancelled".to_owned(),
        Outcome::Interrupted => "interrupted".to_owned(),
        Outcome::Lost => "lost".to_owned(),
    }
}

fn part_words(part: &Part) -> String {
    match part {
        Part::Text(text) => format!("text {text:?}"),
        Part::Thought { text, .. } => format!("thought {text:?}"),
        Part::Image { mime, .. } => format!("image {mime}"),
        Part::Code { language, text, .. } => format!("code {} {text:?}", language.as_deref().unwrap_or("-")),
        Part::Diff { path, .. } => format!("diff {}", path.as_deref().unwrap_or("-")),
        Part::Tool(_) => "tool".to_owned(),
        Part::Opaque { kind, .. } => format!("opaque {kind}"),
    }
}

fn ask_words(title: &str, kind: &AskKind) -> String {
    match kind {
        AskKind::Consent(consent) => {
            format!("ask consent {}{}", consent.name, quoted(consent.rule.as_deref()))
        }
        AskKind::Confirm { .. } => format!("ask confirm {title:?}"),
        AskKind::Choose { choices, .. } => {
            let ids: Vec<&str> = choices.iter().map(|choice| choice.id.as_str()).collect();
            format!("ask choose {title:?} {}", ids.join(","))
        }
        AskKind::Text { secret: true, .. } => format!("ask secret {title:?}"),
        AskKind::Text { .. } => format!("ask text {title:?}"),
        AskKind::Edit { .. } => format!("ask edit {title:?}"),
    }
}

fn closing_words(closing: &Closing) -> String {
    match closing {
        Closing::Answered { answer, .. } => match answer {
            Answer::Allow { scope: Scope::Once, .. } => "allow".to_owned(),
            Answer::Allow { scope: Scope::Session, .. } => "allow session".to_owned(),
            Answer::Allow { scope: Scope::Always, .. } => "allow always".to_owned(),
            Answer::Deny { reason } => format!("deny{}", quoted(reason.as_deref())),
            Answer::Confirmed(true) => "yes".to_owned(),
            Answer::Confirmed(false) => "no".to_owned(),
            Answer::Chosen(ids) => format!("choose {}", ids.join(",")),
            Answer::Entered(text) => format!("enter {text:?}"),
            Answer::Dismissed => "dismiss".to_owned(),
        },
        Closing::Withdrawn => "withdrawn".to_owned(),
        Closing::Expired => "expired".to_owned(),
        Closing::Unattended => "unattended".to_owned(),
    }
}

fn signal_words(signal: &Signal) -> String {
    match signal {
        Signal::Notify { level, text } => format!("notify {} {text:?}", word(level)),
        Signal::Status { key, text } => format!("status {key}{}", quoted(text.as_deref())),
        Signal::Working(text) => format!("working{}", quoted(text.as_deref())),
        Signal::Widget { key, lines, .. } => format!("widget {key} {:?}", lines.join("\n")),
        Signal::Title(title) => format!("title {title:?}"),
        Signal::EditorText(text) => format!("editor-text {text:?}"),
        Signal::Suggestion { text, .. } => format!("suggestion {text:?}"),
    }
}

fn receipt_words(receipt: &Receipt) -> String {
    match receipt {
        Receipt::Done => "done".to_owned(),
        Receipt::Started { .. } => "started".to_owned(),
        Receipt::Queued { .. } => "queued".to_owned(),
        Receipt::Cancelling { run } => match &run.outcome {
            None => "cancelling".to_owned(),
            Some(outcome) => format!("over {}", outcome_words(outcome)),
        },
        Receipt::Session { session, .. } => format!("session {}", session.id),
        Receipt::Sessions(all) => {
            let ids: Vec<&str> = all.iter().map(|session| session.id.as_str()).collect();
            format!("sessions {}", ids.join(","))
        }
        Receipt::Leaf(leaf) => format!("leaf {}", if leaf.is_some() { "moved" } else { "none" }),
        Receipt::History(history) => {
            let more = if history.truncated { " truncated" } else { "" };
            format!("history {}{more}", history.runs)
        }
        Receipt::Stats(stats) => format!("stats messages={} runs={}", stats.messages, stats.runs),
        Receipt::Saved { path, .. } => format!("saved {path:?}"),
        Receipt::Exported { .. } => "exported".to_owned(),
        Receipt::Models { models, current } => {
            let names: Vec<String> = models.iter().map(|entry| entry.model.to_string()).collect();
            let current = current.as_ref().map(|model| format!(" current {model}")).unwrap_or_default();
            format!("models {}{current}", names.join(","))
        }
        Receipt::Model(model) => format!("model {model}"),
        Receipt::Servers(servers) => {
            let ids: Vec<&str> = servers.iter().map(|server| server.id.as_str()).collect();
            format!("servers {}", ids.join(","))
        }
        Receipt::Skills(list) => {
            let ids: Vec<&str> = list.skills.iter().map(|skill| skill.id.as_str()).collect();
            format!("skills {}", ids.join(","))
        }
        Receipt::Tools(tools) => {
            let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
            format!("tools {}", names.join(","))
        }
        Receipt::Jobs(jobs) => {
            let ids: Vec<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
            format!("jobs {}", ids.join(","))
        }
        Receipt::Files { .. } => "files".to_owned(),
        Receipt::Compacted { .. } => "compacted".to_owned(),
        Receipt::Extension(json) => format!("extension {json}"),
    }
}

fn refusal_words(kind: &RefusalKind) -> String {
    match kind {
        RefusalKind::Remote { code } => format!("remote {code}"),
        kind => word(kind),
    }
}

/// What a variant is called: its written name.
fn word(of: &impl serde::Serialize) -> String {
    record::name_of(of).replace('_', "-")
}
