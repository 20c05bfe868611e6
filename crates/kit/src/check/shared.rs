//! Scenarios that every runtime has to keep, whatever its wire: framing, runs, consent, cancelling, leaving.

use super::talk::Talk;
use super::wires::{CANCEL, CONSENT, End, Greeting, RuntimeWire};
use super::{Doing, Scenario, ScenarioPlay, Stop, Tested};
use crate::peer::Carrier;
use link::child::Exit;
use serde_json::Value;
use std::time::Duration;
use wire::lines::MAX_LINE;

/// How long a reader that is slow does not read.
const SLOW: Duration = Duration::from_secs(1);
/// How long a program may take to tell events to whoever has just come to listen.
const LISTED_AFTER: Duration = Duration::from_millis(300);
/// How long a program may take to end after its UI has left.
const END_WITHIN: Duration = Duration::from_secs(5);
/// How long to watch that nothing is done after a no.
const WATCH: Duration = Duration::from_millis(400);
/// How often to wait once more for what was allowed.
const LULLS: u32 = 10;
/// How often a second prompt is said, and the pause between: a runtime may still be busy with the end of the first run.
const SECOND_TRIES: usize = 2;
const SECOND_AFTER: Duration = Duration::from_millis(200);
/// The pause between the pieces of a torn line.
const TORN: Duration = Duration::from_millis(30);

/// The scenarios that are about what others only need: whether there is a handshake, an answer, a run.
pub(super) const GREETS: &str = "greets";
pub(super) const ANSWERS: &str = "answers";
pub(super) const RUN_ENDS: &str = "run-ends";
const CANCELS: &str = "cancel";
const CONSENT_YES: &str = "consent-yes";
/// The scenarios that steps may blame.
pub(super) const CAUSES: [&str; 3] = [GREETS, ANSWERS, RUN_ENDS];

type Act = fn(&mut Talk) -> Doing<'_>;

/// What every runtime has to keep, with the sections of this wire's document.
pub(super) fn scenarios(wire: &RuntimeWire) -> Vec<Scenario> {
    let all: [(&str, &str, Act); 12] = [
        (GREETS, "the handshake is over within the time", |t| Box::pin(greets(t))),
        (ANSWERS, "a harmless request is answered exactly once", |t| Box::pin(answers(t))),
        ("two-in-one-write", "two requests that arrive in one write are both answered", |t| Box::pin(two(t))),
        ("torn-line", "a request that arrives in pieces is answered", |t| Box::pin(torn(t))),
        ("blank-lines", "blank lines and a carriage return before a newline do no harm", |t| {
            Box::pin(blank(t))
        }),
        ("garbage", "after lines that are no JSON the next request is answered", |t| Box::pin(garbage(t))),
        ("not-utf8", "after bytes that are no text the next request is answered", |t| Box::pin(not_utf8(t))),
        ("oversized-line", "after a line of more than 10 MB the next request is answered", |t| {
            Box::pin(oversized(t))
        }),
        (RUN_ENDS, "a prompt's run ends exactly once, and nothing of it follows", |t| Box::pin(run_ends(t))),
        ("second-run", "after a run has ended the next prompt is taken", |t| Box::pin(second_run(t))),
        ("slow-reader", "a UI that reads late still hears the end of the run", |t| Box::pin(slow(t))),
        ("only-protocol", "stdout carries nothing but the protocol", |t| Box::pin(only_protocol(t))),
    ];
    let mut all = all.to_vec();
    if matches!(wire.greeting, Greeting::None) {
        all.retain(|(name, ..)| *name != GREETS);
    }
    if wire.cancel.is_some() {
        let more: [(&str, &str, Act); 2] = [
            (CANCELS, "a run that is cancelled ends soon, and once", |t| Box::pin(cancel(t))),
            ("cancel-nothing", "cancelling when nothing runs does no harm", |t| Box::pin(cancel_nothing(t))),
        ];
        all.extend(more);
    }
    if wire.asked.is_some() {
        let more: [(&str, &str, Act); 5] = [
            (CONSENT_YES, "what is allowed is done, once, and the run ends", |t| Box::pin(consent_yes(t))),
            ("consent-no", "what is denied is not done, and the run ends", |t| Box::pin(consent_no(t))),
            ("consent-twice", "a second answer to a question does nothing", |t| Box::pin(consent_twice(t))),
            ("consent-after-cancel", "a yes that comes after a cancel does nothing", |t| {
                Box::pin(consent_after_cancel(t))
            }),
            ("leave-while-asked", "when the UI leaves with a question open, nothing is done", |t| {
                Box::pin(leave_while_asked(t))
            }),
        ];
        all.extend(
            more.into_iter().filter(|(name, ..)| wire.cancel.is_some() || *name != "consent-after-cancel"),
        );
    }
    if wire.ends_with_stdin {
        all.push(("end-of-stdin", "the program ends when its stdin does", |t| Box::pin(end_of_stdin(t))));
    }
    let told = wire.told.as_ref().ok();
    let scenario = |(name, expects, act)| {
        let says = told.and_then(|told| told.says(Tested::Runtime, name));
        Scenario { name, says, expects, act: ScenarioPlay::Code(act) }
    };
    all.into_iter().map(scenario).collect()
}

/// Greets and waits until the program is ready.
pub(super) async fn greet(talk: &mut Talk) -> Result<(), Stop> {
    let wire = talk.wire()?;
    match &wire.greeting {
        Greeting::None => return Ok(()),
        Greeting::Hear => {}
        Greeting::Say(hello) => talk.say(&hello()).await?,
    }
    let greeted = talk.until("the end of the handshake", |line| (wire.greeted)(line).then_some(())).await;
    greeted.map_err(|stop| stop.because(GREETS))
}

/// Makes a harmless request and waits for its answer.
pub(super) async fn probe(talk: &mut Talk) -> Result<(), Stop> {
    let (wire, id) = (talk.wire()?, talk.id());
    talk.say(&(wire.probe)(id)).await?;
    let answered = talk.until("the answer to a request", |line| (wire.probed)(line, id).then_some(())).await;
    answered.map_err(|stop| stop.because(ANSWERS))
}

/// Says a prompt.
pub(super) async fn prompt(talk: &mut Talk, text: &str) -> Result<u64, Stop> {
    let (wire, id) = (talk.wire()?, talk.id());
    if wire.carrier == Carrier::Two && id == 1 {
        // Accepting a listener and having it on the list are two things.
        tokio::time::sleep(LISTED_AFTER).await;
    }
    talk.say(&(wire.prompt)(id, text)).await?;
    Ok(id)
}

/// Waits for the end of a run; says whether the end itself was told.
async fn end(talk: &mut Talk) -> Result<bool, Stop> {
    let wire = talk.wire()?;
    let over = talk.until("the end of the run, or its last word", |line| {
        let told = (wire.ended)(line).is_some();
        (told || (wire.last_word)(line)).then_some(told)
    });
    if over.await.map_err(|stop| stop.because(RUN_ENDS))? {
        return Ok(true);
    }
    // Where the end is told besides, it follows soon; where the document does not demand that, the last word is the end.
    let after = talk.until_over_or_silent(|line| (wire.ended)(line).is_some()).await;
    Ok(after.iter().any(|line| (wire.ended)(line).is_some()))
}

/// What names a question, and its run.
type Question = (Value, Option<Value>);

/// The question of a scenario that is about what comes after it: that there is one is another's business.
async fn question(talk: &mut Talk) -> Result<Question, Stop> {
    first_question(talk).await.map_err(|stop| stop.because(CONSENT_YES))
}

/// Waits for a question. A run that ends without one shows nothing, which is wrong of a program that announced that it asks.
async fn first_question(talk: &mut Talk) -> Result<Question, Stop> {
    let wire = talk.wire()?;
    let Some(asked) = wire.asked else { return Err(Stop::Skipped("this wire has no questions".to_owned())) };
    let wish = talk.wishes.consent.clone();
    prompt(talk, &wish).await?;
    let mut run = None;
    let ask = talk
        .until("a question or the end of the run", |line| {
            run = run.take().or_else(|| (wire.run_id)(line));
            let over = (wire.ended)(line).is_some() || (wire.last_word)(line);
            asked(line).map(Some).or_else(|| over.then_some(None))
        })
        .await
        .map_err(|stop| stop.because(RUN_ENDS))?;
    match (ask, talk.announced(CONSENT)) {
        (Some(ask), _) => Ok((ask, run)),
        (None, Some(true)) => Err(Stop::wrong(format!(
            "it announced `{CONSENT}`, and the run ended without a question: one was awaited at the prompt \"{wish}\" \
             (--consent-prompt says another)"
        ))),
        (None, Some(false)) => Err(Stop::Skipped(format!("the program does not announce `{CONSENT}`"))),
        (None, None) => Err(Stop::Skipped(format!("the program did not ask for consent to: {wish}"))),
    }
}

async fn answer(talk: &mut Talk, ask: &Value, yes: bool) -> Result<(), Stop> {
    let (wire, id) = (talk.wire()?, talk.id());
    talk.say(&(wire.answer)(id, ask, yes)).await
}

async fn greets(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await
}

async fn answers(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let (wire, id) = (talk.wire()?, talk.id());
    talk.say(&(wire.probe)(id)).await?;
    talk.until("an answer to a harmless request", |line| (wire.probed)(line, id).then_some(())).await?;
    match talk.lull().await.iter().filter(|line| (wire.probed)(line, id)).count() {
        0 => Ok(()),
        again => Err(Stop::wrong(format!("{} answers to one request", again + 1))),
    }
}

async fn two(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let (wire, one, other) = (talk.wire()?, talk.id(), talk.id());
    talk.bytes(format!("{}\n{}\n", (wire.probe)(one), (wire.probe)(other)).as_bytes()).await?;
    let mut left = vec![one, other];
    talk.until("the answers to two requests in one write", |line| {
        // Wires without ids answer the same twice, so one line settles one request.
        if let Some(at) = left.iter().position(|id| (wire.probed)(line, *id)) {
            left.remove(at);
        }
        left.is_empty().then_some(())
    })
    .await
    .map_err(|stop| stop.because(ANSWERS))
}

async fn torn(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let (wire, id) = (talk.wire()?, talk.id());
    let line = format!("{}\n", (wire.probe)(id)).into_bytes();
    for piece in line.chunks(line.len().div_ceil(4)) {
        talk.bytes(piece).await?;
        tokio::time::sleep(TORN).await;
    }
    let answered =
        talk.until("the answer to a request in pieces", |line| (wire.probed)(line, id).then_some(()));
    answered.await.map_err(|stop| stop.because(ANSWERS))
}

async fn blank(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let (wire, id) = (talk.wire()?, talk.id());
    talk.bytes(format!("\n\r\n  \n{}\r\n", (wire.probe)(id)).as_bytes()).await?;
    let answered = talk.until("the answer after blank lines", |line| (wire.probed)(line, id).then_some(()));
    answered.await.map_err(|stop| stop.because(ANSWERS))
}

async fn garbage(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    talk.bytes(b"{\"half\":\n[1,2,3]\n7\nnull\n{}\n{\"a\":{\"b\":\n").await?;
    probe(talk).await
}

async fn not_utf8(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    talk.bytes(b"\xff\xfe{\"a\":1}\n").await?;
    probe(talk).await
}

async fn oversized(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let mut line = vec![b'x'; MAX_LINE + 1024];
    line.push(b'\n');
    talk.bytes(&line).await?;
    probe(talk).await
}

async fn run_ends(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let (wire, wish) = (talk.wire()?, talk.wishes.plain.clone());
    prompt(talk, &wish).await?;
    let over = end(talk).await;
    let told = if wire.ends_as_it_answers { over.map_err(|stop| stop.because(ANSWERS))? } else { over? };
    let after = talk.lull().await;
    // On a busy machine the end comes well after the last word, and is no word too many.
    let is_late_end = |line: &Value| !told && (wire.ended)(line).is_some();
    match after.iter().find(|line| (wire.of_run)(line) && !is_late_end(line)) {
        None => Ok(()),
        Some(line) => Err(Stop::wrong(format!("after the end of the run came {line}"))),
    }
}

async fn second_run(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let (wire, wish) = (talk.wire()?, talk.wishes.plain.clone());
    prompt(talk, &wish).await?;
    end(talk).await?;
    let mut came = String::new();
    for _ in 0..SECOND_TRIES {
        prompt(talk, &wish).await?;
        let heard = talk.until_over(|line| (wire.ended)(line).is_some()).await;
        // Where failing is an answer too, a run may have nothing but its end.
        if heard.iter().any(|line| (wire.of_run)(line) || (wire.ended)(line).is_some()) {
            return Ok(());
        }
        came = heard.last().map(|line| format!(", but {line}")).unwrap_or_default();
        // Some tell the end of a run a moment before they take the next.
        tokio::time::sleep(SECOND_AFTER).await;
    }
    Err(Stop::wrong(format!("nothing of a second run came{came}")))
}

async fn slow(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let (wire, wish) = (talk.wire()?, talk.wishes.slow.clone());
    talk.read(false);
    prompt(talk, &wish).await?;
    tokio::time::sleep(SLOW).await;
    talk.read(true);
    let heard = talk.until_over(|line| (wire.ended)(line).is_some()).await;
    match heard.iter().any(|line| (wire.of_run)(line) || (wire.ended)(line).is_some()) {
        true => Ok(()),
        false => Err(Stop::wrong("nothing of the run came once the UI read again")),
    }
}

async fn only_protocol(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let (wire, wish) = (talk.wire()?, talk.wishes.plain.clone());
    prompt(talk, &wish).await?;
    talk.until_over(|line| (wire.ended)(line).is_some()).await;
    talk.lull().await;
    match talk.noise().first() {
        None => Ok(()),
        Some(line) => Err(Stop::wrong(format!("a line that is no JSON: {line}"))),
    }
}

async fn cancel(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let (wire, wish) = (talk.wire()?, talk.wishes.slow.clone());
    let Some(cancel) = wire.cancel else { return Ok(()) };
    prompt(talk, &wish).await?;
    let run = talk
        .until("the start of the run", |line| {
            (wire.ended)(line).map(|_| None).or_else(|| (wire.run_id)(line).map(Some))
        })
        .await
        .map_err(|stop| stop.because(RUN_ENDS))?;
    if talk.announced(CANCEL) == Some(false) {
        return Err(cannot_cancel(talk));
    }
    let Some(run) = run else { return Err(too_quick(talk)) };
    let id = talk.id();
    talk.say(&cancel(id, &run)).await?;
    let over = talk.until("the end of the cancelled run", |line| {
        (wire.ended)(line).map(Some).or_else(|| (wire.not_known)(line, id).then_some(None))
    });
    match over.await.map_err(|stop| stop.because(RUN_ENDS))? {
        None => return Err(cannot_cancel(talk)),
        Some(End::Cancelled) => {}
        Some(End::Done) => return Err(too_quick(talk)),
        Some(End::Failed) => return Err(Stop::wrong("the run ended as a failure, not as cancelled")),
    }
    let again = talk.lull().await.iter().filter(|line| (wire.ended)(line).is_some()).count();
    if again == 0 { Ok(()) } else { Err(Stop::wrong("the run ended a second time")) }
}

/// The program does not cancel, and says so: a broken word where it had announced that it does.
fn cannot_cancel(talk: &Talk) -> Stop {
    match talk.announced(CANCEL) {
        Some(true) => Stop::wrong(format!("it announced `{CANCEL}`, and refused to")),
        Some(false) => Stop::Skipped(format!("the program does not announce `{CANCEL}`")),
        None => Stop::Skipped("the program says that it does not know how to cancel".to_owned()),
    }
}

fn too_quick(talk: &Talk) -> Stop {
    match talk.announced(CANCEL) {
        Some(true) => Stop::wrong(format!(
            "it announced `{CANCEL}`, and the run went on to its end: an end as cancelled was awaited after the prompt \"{}\" \
             (--slow-prompt says one that takes longer)",
            talk.wishes.slow
        )),
        _ => Stop::Skipped("the run was over before it could be cancelled".to_owned()),
    }
}

async fn cancel_nothing(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let wire = talk.wire()?;
    let Some(cancel) = wire.cancel else { return Ok(()) };
    let id = talk.id();
    talk.say(&cancel(id, &Value::from("run-that-never-was"))).await?;
    probe(talk).await
}

async fn consent_yes(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let (ask, _) = first_question(talk).await?;
    answer(talk, &ask, true).await?;
    end(talk).await?;
    // A program that takes its time on a busy machine has done nothing wrong yet.
    for _ in 0..LULLS {
        if talk.mark().is_some() || !talk.is_ours() {
            break;
        }
        talk.lull().await;
    }
    match talk.mark() {
        _ if !talk.is_ours() => Ok(()),
        Some(text) if text.lines().count() == 1 => Ok(()),
        Some(text) => Err(Stop::wrong(format!("it was done {} times", text.lines().count()))),
        None => Err(Stop::wrong("it was allowed and not done")),
    }
}

async fn consent_no(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let (ask, _) = question(talk).await?;
    answer(talk, &ask, false).await?;
    end(talk).await?;
    not_done(talk).await
}

async fn consent_twice(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let (ask, _) = question(talk).await?;
    answer(talk, &ask, false).await?;
    answer(talk, &ask, true).await?;
    end(talk).await?;
    not_done(talk).await?;
    probe(talk).await
}

async fn consent_after_cancel(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let wire = talk.wire()?;
    let Some(cancel) = wire.cancel else { return Ok(()) };
    let (ask, run) = question(talk).await?;
    if talk.announced(CANCEL) == Some(false) {
        return Err(cannot_cancel(talk));
    }
    let id = talk.id();
    talk.say(&cancel(id, &run.unwrap_or_default())).await?;
    answer(talk, &ask, true).await?;
    let heard = talk.until_over(|line| (wire.ended)(line).is_some()).await;
    if heard.iter().any(|line| (wire.not_known)(line, id)) {
        return Err(cannot_cancel(talk).because(CANCELS));
    }
    not_done(talk).await
}

async fn leave_while_asked(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    question(talk).await?;
    talk.leave();
    talk.ended(WATCH).await;
    not_done(talk).await
}

async fn not_done(talk: &mut Talk) -> Result<(), Stop> {
    tokio::time::sleep(WATCH).await;
    match talk.mark() {
        None => Ok(()),
        Some(_) => Err(Stop::wrong("it was done without a valid yes")),
    }
}

async fn end_of_stdin(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    if !talk.is_on_stdio() {
        return Err(Stop::Skipped("the program is not spoken with on its stdin".to_owned()));
    }
    talk.leave();
    match talk.ended(END_WITHIN).await {
        Some(Exit::Code(_)) => Ok(()),
        Some(exit) => Err(Stop::wrong(format!("the program {exit}"))),
        None => Err(Stop::wrong(format!("the program still runs after {END_WITHIN:?}"))),
    }
}
