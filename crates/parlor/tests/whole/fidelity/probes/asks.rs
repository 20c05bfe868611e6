//! Questions to the person, and what becomes of the answers.

use super::Found;
use crate::fidelity::acts::Doing;
use crate::fidelity::scene::Scene;
use domain::ask::{ActionDigest, Answer, AskKind, Choice, Closing, Consent, Scope};
use domain::command::{Command, Refusal};
use domain::event::{AskEvent, Body};
use domain::ids::{Millis, ToolRunId};

/// A question as it is shown, without ids and digest.
fn asked(scene: &Scene) -> Vec<(String, AskKind)> {
    let ask = |ask: &domain::ask::Ask| (ask.title.clone(), plain(ask.kind.clone()));
    scene.ui.state.asks.iter().map(ask).collect()
}

fn plain(kind: AskKind) -> AskKind {
    match kind {
        AskKind::Consent(consent) => {
            let digest = ActionDigest(String::new());
            AskKind::Consent(Box::new(Consent { tool: ToolRunId(0), digest, ..*consent }))
        }
        kind => kind,
    }
}

/// What the engine heard of its questions, without digests and names.
fn heard(scene: &Scene) -> Vec<Closing> {
    let plain = |closing: Closing| match closing {
        Closing::Answered { answer: Answer::Allow { scope, .. }, .. } => {
            Closing::Answered { answer: Answer::Allow { scope, digest: None }, by: None }
        }
        Closing::Answered { answer, .. } => Closing::Answered { answer, by: None },
        closing => closing,
    };
    scene.closings().into_iter().map(plain).collect()
}

fn answered(answer: Answer) -> Closing {
    Closing::Answered { answer, by: None }
}

fn allow(scope: Scope) -> Answer {
    Answer::Allow { scope, digest: None }
}

/// Answers what is shown, if anything is; a consent that a wire shows as a plain question gets a plain answer.
async fn reply(scene: &mut Scene, answer: Answer) -> Option<Refusal> {
    let ask = scene.ui.state.asks.first()?.clone();
    let answer = match answer {
        answer if ask.kind.accepts(&answer) => answer,
        Answer::Allow { .. } => Answer::Confirmed(true),
        Answer::Deny { .. } => Answer::Confirmed(false),
        answer => answer,
    };
    scene.give(Command::Answer { ask: ask.id, answer }).await.err()
}

async fn working(scene: &mut Scene) -> Doing {
    let mut doing = scene.begins("go").await;
    doing.begin_step(scene).await;
    doing.says(scene, "Let me see.").await;
    doing
}

pub(super) async fn answer(scene: &mut Scene, with: bool) -> Found {
    let doing = working(scene).await;
    doing.asks_consent(scene, None).await;
    scene.rest().await;
    let refused = if with { reply(scene, allow(Scope::Once)).await } else { None };
    let arrived = heard(scene);
    Found::heard(scene, refused, vec![answered(allow(Scope::Once))], arrived)
}

pub(super) async fn consent(scene: &mut Scene, with: bool) -> Found {
    let doing = working(scene).await;
    if with {
        doing.asks_consent(scene, None).await;
    } else {
        doing.wants_consent(scene).await;
    }
    scene.rest().await;
    let consent = crate::fidelity::acts::consent(ToolRunId(0));
    let meant = ("Run a command?".to_owned(), plain(AskKind::Consent(Box::new(consent))));
    // Whether the person is asked is what counts: what else is seen of a question that nobody could answer is not a question.
    Found::only(None, vec![meant], asked(scene))
}

pub(super) async fn consent_scope(scene: &mut Scene, with: bool) -> Found {
    let doing = working(scene).await;
    let mut refused = None;
    for (scope, line) in [(Scope::Session, "make all"), (Scope::Always, "make check")] {
        doing.asks_about(scene, line).await;
        scene.rest().await;
        let scope = if with { scope } else { Scope::Once };
        refused = refused.or(reply(scene, allow(scope)).await);
    }
    let meant = vec![answered(allow(Scope::Session)), answered(allow(Scope::Always))];
    let arrived = heard(scene);
    Found::heard(scene, refused, meant, arrived)
}

pub(super) async fn denial_reason(scene: &mut Scene, with: bool) -> Found {
    let doing = working(scene).await;
    doing.asks_consent(scene, None).await;
    scene.rest().await;
    let reason = Some("use the other one".to_owned());
    let given = reason.clone().filter(|_| with);
    let refused = reply(scene, Answer::Deny { reason: given }).await;
    let arrived = heard(scene);
    Found::heard(scene, refused, vec![answered(Answer::Deny { reason })], arrived)
}

/// A question of any other kind, and its answer.
async fn other(scene: &mut Scene, with: bool, kind: AskKind, answer: Answer) -> Found {
    let doing = working(scene).await;
    if with {
        doing.asks(scene, "A question", kind.clone(), None).await;
    }
    scene.rest().await;
    let shown = asked(scene);
    reply(scene, answer.clone()).await;
    let heard = if with { heard(scene) } else { Vec::new() };
    let meant = (vec![("A question".to_owned(), kind)], vec![answered(answer)]);
    let trace = format!("{shown:?}");
    Found::seen(meant, (shown, heard), trace)
}

pub(super) async fn confirm(scene: &mut Scene, with: bool) -> Found {
    let kind = AskKind::Confirm {
        message: "Go on with it?".to_owned(),
        yes: Some("Do it".to_owned()),
        no: Some("Leave it".to_owned()),
        danger: true,
    };
    other(scene, with, kind, Answer::Confirmed(true)).await
}

pub(super) async fn choose(scene: &mut Scene, with: bool) -> Found {
    let choice = |id: &str, detail: Option<&str>| Choice {
        id: id.to_owned(),
        label: format!("The {id} one"),
        detail: detail.map(str::to_owned),
    };
    let choices = vec![choice("first", Some("which is quick")), choice("second", None)];
    let kind = AskKind::Choose { message: "Which way?".to_owned(), choices, many: false };
    other(scene, with, kind, Answer::Chosen(vec!["second".to_owned()])).await
}

pub(super) async fn text(scene: &mut Scene, with: bool) -> Found {
    let kind = AskKind::Text {
        message: "What is it called?".to_owned(),
        placeholder: Some("a name".to_owned()),
        default: None,
        secret: false,
        multiline: false,
    };
    other(scene, with, kind, Answer::Entered("Ada".to_owned())).await
}

pub(super) async fn edit(scene: &mut Scene, with: bool) -> Found {
    let kind = AskKind::Edit { message: "Put it right.".to_owned(), prefill: "first\nsecond\n".to_owned() };
    other(scene, with, kind, Answer::Entered("first\nthird\n".to_owned())).await
}

pub(super) async fn withdrawn(scene: &mut Scene, with: bool) -> Found {
    let doing = working(scene).await;
    let ask = doing.asks_consent(scene, None).await;
    scene.rest().await;
    if with {
        doing.withdraws(scene, ask).await;
    }
    scene.rest().await;
    let closed = scene.ui.happened().filter_map(|event| match &event.body {
        Body::Ask(AskEvent::Closed { closing, .. }) => Some(closing.clone()),
        _ => None,
    });
    let arrived = (scene.ui.state.asks.len(), closed.collect());
    Found::shown(scene, (0, vec![Closing::Withdrawn]), arrived)
}

/// How long a question may wait, to the nearest ten seconds.
pub(super) async fn deadline(scene: &mut Scene, with: bool) -> Found {
    let doing = working(scene).await;
    let at = Millis(scene.now().0 + 90_000);
    doing.asks_consent(scene, with.then_some(at)).await;
    scene.rest().await;
    let waits = scene.ui.happened().filter_map(|event| match &event.body {
        Body::Ask(AskEvent::Opened(ask)) => {
            Some(ask.deadline.map(|deadline| (deadline.since(event.at) + 5_000) / 10_000 * 10))
        }
        _ => None,
    });
    let arrived: Vec<Option<u64>> = waits.collect();
    let found = Found::shown(scene, vec![Some(90)], arrived);
    // A trace holds no times, and this is about nothing else.
    Found { trace: found.trace + &found.arrived, ..found }
}
