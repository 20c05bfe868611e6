//! Strategies for asks.

use super::{json, maybe, number, one_of, text, up_to_three};
use domain::ask::{
    ActionDigest, Answer, Ask, AskKind, Assessment, Choice, Closing, Consent, Preview, Risk, Scope,
};
use domain::ids::{AskId, Millis, RunId, ToolRunId};
use proptest::prelude::*;

/// How far a yes reaches.
pub(super) fn scope() -> BoxedStrategy<Scope> {
    one_of(&[Scope::Once, Scope::Session, Scope::Always])
}

/// What an answer is bound to.
pub(super) fn digest() -> BoxedStrategy<ActionDigest> {
    "[0-9a-f]{8}".prop_map(ActionDigest).boxed()
}

fn preview() -> BoxedStrategy<Preview> {
    prop_oneof![
        text().prop_map(Preview::Text),
        (text(), up_to_three(text())).prop_map(|(line, inner)| Preview::Command { line, inner }),
        (text(), text()).prop_map(|(path, text)| Preview::Diff { path, text }),
    ]
    .boxed()
}

fn assessment() -> BoxedStrategy<Assessment> {
    let risk = one_of(&[Risk::Low, Risk::Medium, Risk::High, Risk::Critical]);
    (risk, up_to_three(text()), any::<[bool; 2]>())
        .prop_map(|(risk, reasons, [reversible, unrated])| Assessment { risk, reasons, reversible, unrated })
        .boxed()
}

/// Questions whether a tool may run.
pub fn consent() -> BoxedStrategy<Consent> {
    let what = (number(), text(), json(), maybe(preview()));
    (what, assessment(), digest(), maybe(text()), any::<bool>())
        .prop_map(|((tool, name, args, preview), assessment, digest, rule, takes_reason)| Consent {
            tool: ToolRunId(tool),
            name,
            args,
            preview,
            assessment,
            digest,
            rule,
            takes_reason,
        })
        .boxed()
}

/// Every kind of question.
pub fn ask_kind() -> BoxedStrategy<AskKind> {
    let choice = (text(), text(), maybe(text())).prop_map(|(id, label, detail)| Choice { id, label, detail });
    prop_oneof![
        consent().prop_map(|consent| AskKind::Consent(Box::new(consent))),
        (text(), maybe(text()), maybe(text()), any::<bool>())
            .prop_map(|(message, yes, no, danger)| AskKind::Confirm { message, yes, no, danger }),
        (text(), up_to_three(choice), any::<bool>()).prop_map(|(message, choices, many)| AskKind::Choose {
            message,
            choices,
            many
        }),
        (text(), maybe(text()), maybe(text()), any::<bool>(), any::<bool>()).prop_map(
            |(message, placeholder, default, secret, multiline)| AskKind::Text {
                message,
                placeholder,
                default,
                secret,
                multiline
            }
        ),
        (text(), text()).prop_map(|(message, prefill)| AskKind::Edit { message, prefill }),
    ]
    .boxed()
}

/// Open asks of every kind.
pub fn ask() -> BoxedStrategy<Ask> {
    (number(), maybe(number()), text(), ask_kind(), maybe(number()))
        .prop_map(|(id, run, title, kind, deadline)| Ask {
            id: AskId(id),
            run: run.map(RunId),
            title,
            kind,
            deadline: deadline.map(Millis),
        })
        .boxed()
}

/// What a person says to an ask.
pub fn answer() -> BoxedStrategy<Answer> {
    prop_oneof![
        (scope(), maybe(digest())).prop_map(|(scope, digest)| Answer::Allow { scope, digest }),
        maybe(text()).prop_map(|reason| Answer::Deny { reason }),
        any::<bool>().prop_map(Answer::Confirmed),
        up_to_three(text()).prop_map(Answer::Chosen),
        text().prop_map(Answer::Entered),
        Just(Answer::Dismissed),
    ]
    .boxed()
}

/// How an ask ends.
pub fn closing() -> BoxedStrategy<Closing> {
    prop_oneof![
        (answer(), maybe(text())).prop_map(|(answer, by)| Closing::Answered { answer, by }),
        one_of(&[Closing::Withdrawn, Closing::Expired, Closing::Unattended]),
    ]
    .boxed()
}
