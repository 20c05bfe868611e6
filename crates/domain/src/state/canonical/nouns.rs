//! The nouns of a state, member by member in the order of their names. A member that a noun gains does not compile until it stands here.

use super::{Canonical, Object, Sink, filled};
use crate::ask::{ActionDigest, Ask, AskKind, Assessment, Choice, Consent, Preview, Risk, Scope};
use crate::content::{Input, Json, Part, Role, Usage};
use crate::event::{Cause, Compaction, Failure, Finish, Outcome, PlanItem, PlanState, Trigger};
use crate::ids::{AskId, EntryId, MessageId, Millis, QueuedId, RunId, Seq, StepId, ToolRunId, TurnId};
use crate::origin::{Origin, RuntimePlace};
use crate::queue::{Mode, Queues, Waiting};
use crate::signal::Level;
use crate::state::{Run, Settings, Step, Turn};
use crate::terms::{Budget, Effort, ModelRef, Policy};
use crate::tool::{Decider, Decision, ToolOutcome, ToolPhase, ToolResult};
use std::sync::Arc;

macro_rules! numbers {
    ($($ty:ident),* $(,)?) => { $(
        impl Canonical for $ty {
            fn put<S: Sink>(&self, to: &mut S) {
                self.0.put(to);
            }
        }
    )* };
}

numbers!(AskId, EntryId, MessageId, Millis, QueuedId, RunId, Seq, StepId, ToolRunId, TurnId);

/// Variants that carry nothing: written as their names.
macro_rules! names {
    ($($ty:ident { $($variant:ident: $name:literal),* $(,)? })*) => { $(
        impl Canonical for $ty {
            fn put<S: Sink>(&self, to: &mut S) {
                match self {
                    $($ty::$variant => $name,)*
                }
                .put(to);
            }
        }
    )* };
}

names! {
    Role { User: "user", Assistant: "assistant", System: "system" }
    Finish {
        Complete: "complete", Length: "length", Interrupted: "interrupted", Failed: "failed", Cut: "cut",
        Refused: "refused",
    }
    Level { Info: "info", Success: "success", Warning: "warning", Error: "error" }
    Trigger { Manual: "manual", Threshold: "threshold", Overflow: "overflow" }
    Policy { ReadOnly: "read_only", Ask: "ask", AutoEdit: "auto_edit", Sandboxed: "sandboxed", Full: "full",
        Plan: "plan" }
    Effort {
        None: "none", Minimal: "minimal", Low: "low", Medium: "medium", High: "high", Xhigh: "xhigh", Max: "max",
    }
    Mode { OneAtATime: "one_at_a_time", All: "all" }
    PlanState { Pending: "pending", Active: "active", Done: "done" }
    Cause { Prompt: "prompt", Steer: "steer", FollowUp: "follow_up" }
    Risk { Low: "low", Medium: "medium", High: "high", Critical: "critical" }
    Scope { Once: "once", Session: "session", Always: "always" }
    ToolOutcome {
        Done: "done", Failed: "failed", Denied: "denied", Skipped: "skipped", Cancelled: "cancelled",
        Unknown: "unknown",
    }
}

impl Canonical for Arc<str> {
    fn put<S: Sink>(&self, to: &mut S) {
        (**self).put(to);
    }
}

impl Canonical for Json {
    fn put<S: Sink>(&self, to: &mut S) {
        self.as_str().put(to);
    }
}

impl Canonical for ActionDigest {
    fn put<S: Sink>(&self, to: &mut S) {
        self.0.put(to);
    }
}

impl Canonical for Part {
    fn put<S: Sink>(&self, to: &mut S) {
        let part = Object::begin(to);
        match self {
            Part::Text(text) => part.member("text", text),
            Part::Thought { text, signature } => {
                part.within("thought", |o| o.member("signature", signature).member("text", text))
            }
            Part::Image { mime, base64 } => {
                part.within("image", |o| o.member("base64", base64).member("mime", mime))
            }
            Part::Code { language, text, path } => part
                .within("code", |o| o.member("language", language).member("path", path).member("text", text)),
            Part::Diff { path, text } => part.within("diff", |o| o.member("path", path).member("text", text)),
            Part::Tool(tool) => part.member("tool", tool),
            Part::Opaque { kind, json } => {
                part.within("opaque", |o| o.member("json", json).member("kind", kind))
            }
        }
        .end();
    }
}

impl Canonical for Input {
    fn put<S: Sink>(&self, to: &mut S) {
        let Input { text, attachments } = self;
        Object::begin(to).member("attachments", filled(attachments)).member("text", text).end();
    }
}

impl Canonical for Usage {
    fn put<S: Sink>(&self, to: &mut S) {
        let Usage { input, output, cache_read, cache_write, cost_micros, rough } = *self;
        let counted = |count: u64| (count > 0).then_some(count);
        Object::begin(to)
            .member("cache_read", counted(cache_read))
            .member("cache_write", counted(cache_write))
            .member("cost_micros", counted(cost_micros))
            .member("input", counted(input))
            .member("output", counted(output))
            .member("rough", rough)
            .end();
    }
}

impl Canonical for Compaction {
    fn put<S: Sink>(&self, to: &mut S) {
        let Compaction { summary, first_kept, tokens_before, trigger, unexplained, usage } = self;
        Object::begin(to)
            .member("first_kept", first_kept)
            .member("summary", summary)
            .member("tokens_before", tokens_before)
            .member("trigger", trigger)
            .member("unexplained", unexplained)
            .member("usage", (*usage != Usage::default()).then_some(usage))
            .end();
    }
}

impl Canonical for PlanItem {
    fn put<S: Sink>(&self, to: &mut S) {
        let PlanItem { text, state } = self;
        Object::begin(to).member("state", state).member("text", text).end();
    }
}

impl Canonical for Outcome {
    fn put<S: Sink>(&self, to: &mut S) {
        match self {
            Outcome::Done => "done".put(to),
            Outcome::Failed(Failure { code, message, hint }) => Object::begin(to)
                .within("failed", |o| o.member("code", code).member("hint", hint).member("message", message))
                .end(),
            Outcome::Cancelled => "cancelled".put(to),
            Outcome::Interrupted => "interrupted".put(to),
            Outcome::Lost => "lost".put(to),
        }
    }
}

impl Canonical for Decision {
    fn put<S: Sink>(&self, to: &mut S) {
        let Decision { allowed, by, scope, reason, digest } = self;
        Object::begin(to)
            .member("allowed", allowed)
            .member("by", by)
            .member("digest", digest)
            .member("reason", reason)
            .member("scope", scope)
            .end();
    }
}

impl Canonical for Decider {
    fn put<S: Sink>(&self, to: &mut S) {
        match self {
            Decider::Policy => "policy".put(to),
            Decider::Rule(rule) => Object::begin(to).member("rule", rule).end(),
            Decider::Person(person) => Object::begin(to).member("person", person).end(),
            Decider::Foreign => "foreign".put(to),
        }
    }
}

impl Canonical for ToolResult {
    fn put<S: Sink>(&self, to: &mut S) {
        let ToolResult { text, parts, json, truncated } = self;
        Object::begin(to)
            .member("json", json)
            .member("parts", filled(parts))
            .member("text", text)
            .member("truncated", truncated)
            .end();
    }
}

impl Canonical for ToolPhase {
    fn put<S: Sink>(&self, to: &mut S) {
        match self {
            ToolPhase::Proposed => "proposed".put(to),
            ToolPhase::Awaiting(ask) => Object::begin(to).member("awaiting", ask).end(),
            ToolPhase::Allowed => "allowed".put(to),
            ToolPhase::Running => "running".put(to),
            ToolPhase::Ended(outcome) => Object::begin(to).member("ended", outcome).end(),
        }
    }
}

impl Canonical for Ask {
    fn put<S: Sink>(&self, to: &mut S) {
        let Ask { id, run, title, kind, deadline } = self;
        Object::begin(to)
            .member("deadline", deadline)
            .member("id", id)
            .member("kind", kind)
            .member("run", run)
            .member("title", title)
            .end();
    }
}

impl Canonical for AskKind {
    fn put<S: Sink>(&self, to: &mut S) {
        let kind = Object::begin(to);
        match self {
            AskKind::Consent(consent) => kind.member("consent", &**consent),
            AskKind::Confirm { message, yes, no, danger } => kind.within("confirm", |o| {
                o.member("danger", danger).member("message", message).member("no", no).member("yes", yes)
            }),
            AskKind::Choose { message, choices, many } => kind.within("choose", |o| {
                o.member("choices", choices).member("many", many).member("message", message)
            }),
            AskKind::Text { message, placeholder, default, secret, multiline } => kind.within("text", |o| {
                o.member("default", default)
                    .member("message", message)
                    .member("multiline", multiline)
                    .member("placeholder", placeholder)
                    .member("secret", secret)
            }),
            AskKind::Edit { message, prefill } => {
                kind.within("edit", |o| o.member("message", message).member("prefill", prefill))
            }
        }
        .end();
    }
}

impl Canonical for Consent {
    fn put<S: Sink>(&self, to: &mut S) {
        let Consent { tool, name, args, preview, assessment, digest, rule, takes_reason } = self;
        Object::begin(to)
            .member("args", args)
            .member("assessment", assessment)
            .member("digest", digest)
            .member("name", name)
            .member("preview", preview)
            .member("rule", rule)
            .member("takes_reason", takes_reason)
            .member("tool", tool)
            .end();
    }
}

impl Canonical for Assessment {
    fn put<S: Sink>(&self, to: &mut S) {
        let Assessment { risk, reasons, reversible, unrated } = self;
        Object::begin(to)
            .member("reasons", reasons)
            .member("reversible", reversible)
            .member("risk", risk)
            .member("unrated", unrated)
            .end();
    }
}

impl Canonical for Preview {
    fn put<S: Sink>(&self, to: &mut S) {
        let preview = Object::begin(to);
        match self {
            Preview::Text(text) => preview.member("text", text),
            Preview::Command { line, inner } => {
                preview.within("command", |o| o.member("inner", inner).member("line", line))
            }
            Preview::Diff { path, text } => {
                preview.within("diff", |o| o.member("path", path).member("text", text))
            }
        }
        .end();
    }
}

impl Canonical for Choice {
    fn put<S: Sink>(&self, to: &mut S) {
        let Choice { id, label, detail } = self;
        Object::begin(to).member("detail", detail).member("id", id).member("label", label).end();
    }
}

impl Canonical for ModelRef {
    fn put<S: Sink>(&self, to: &mut S) {
        let ModelRef { provider, name } = self;
        Object::begin(to).member("name", name).member("provider", provider).end();
    }
}

impl Canonical for Budget {
    fn put<S: Sink>(&self, to: &mut S) {
        let Budget { max_cost_micros, max_steps, max_time_s } = self;
        Object::begin(to)
            .member("max_cost_micros", max_cost_micros)
            .member("max_steps", max_steps)
            .member("max_time_s", max_time_s)
            .end();
    }
}

impl Canonical for Origin {
    fn put<S: Sink>(&self, to: &mut S) {
        let Origin { dialect, place, session } = self;
        Object::begin(to).member("dialect", dialect).member("place", place).member("session", session).end();
    }
}

impl Canonical for RuntimePlace {
    fn put<S: Sink>(&self, to: &mut S) {
        let place = Object::begin(to);
        match self {
            RuntimePlace::Socket { path } => place.within("socket", |o| o.member("path", path)),
            RuntimePlace::Command { words, folder, incomplete } => place.within("command", |o| {
                o.member("folder", folder).member("incomplete", incomplete).member("words", words)
            }),
        }
        .end();
    }
}

impl Canonical for Settings {
    fn put<S: Sink>(&self, to: &mut S) {
        // The mode before a plan follows from the modes that were chosen.
        let Settings {
            cwd,
            project,
            parent,
            origin,
            title,
            model,
            effort,
            budget,
            policy,
            before_plan: _,
            tools,
        } = self;
        Object::begin(to)
            .member("budget", (*budget != Budget::default()).then_some(budget))
            .member("cwd", cwd)
            .member("effort", effort)
            .member("model", model)
            .member("origin", origin)
            .member("parent", parent)
            .member("policy", policy)
            .member("project", project)
            .member("title", title)
            .member("tools", tools)
            .end();
    }
}

impl Canonical for Queues {
    fn put<S: Sink>(&self, to: &mut S) {
        let Queues { steer, follow_up, steer_mode, follow_up_mode } = self;
        Object::begin(to)
            .member("follow_up", follow_up)
            .member("follow_up_mode", follow_up_mode)
            .member("steer", steer)
            .member("steer_mode", steer_mode)
            .end();
    }
}

impl Canonical for Waiting {
    fn put<S: Sink>(&self, to: &mut S) {
        let Waiting { id, input, by } = self;
        Object::begin(to).member("by", by).member("input", input).member("item", id).end();
    }
}

/// Without its times: clocks differ.
impl Canonical for Run {
    fn put<S: Sink>(&self, to: &mut S) {
        let Run { id, started_at: _, ended, turns } = self;
        let outcome = ended.as_ref().map(|(_, outcome)| outcome);
        Object::begin(to).member("outcome", outcome).member("run", id).member("turns", turns).end();
    }
}

impl Canonical for Turn {
    fn put<S: Sink>(&self, to: &mut S) {
        let Turn { id, cause, ended, steps } = self;
        Object::begin(to)
            .member("cause", cause)
            .member("ended", ended)
            .member("steps", steps)
            .member("turn", id)
            .end();
    }
}

impl Canonical for Step {
    fn put<S: Sink>(&self, to: &mut S) {
        let Step { id, model, billed, usage } = self;
        Object::begin(to)
            .member("billed", billed)
            .member("model", model)
            .member("step", id)
            .member("usage", usage)
            .end();
    }
}
