//! Scenarios for UIs: the kit is the runtime and watches what the UI says and whether it lives.
//!
//! The UI has to say one prompt by itself, from its command line. After a run it may end or stay; it may not crash.

use super::talk::{NextLine, Talk};
use super::wires::UiWire;
use super::{Doing, Scenario, Stop, Tested};
use link::child::Exit;
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;
use wire::lines::MAX_LINE;

/// How long a UI is watched after the last word.
const WATCH: Duration = Duration::from_millis(1500);
/// The pause between the pieces of a torn line, so that they arrive as pieces.
const TORN: Duration = Duration::from_millis(3);
/// The exit code of a panic in Rust, and what shells give for a signal: crashes, not endings.
const CRASHES: [i32; 3] = [101, 134, 139];
/// The number of the question that is asked.
pub(super) const ASK: u64 = 77;

/// The scenario that is about what all others need.
pub(super) const PROMPTS: &str = "prompts";

type Act = fn(&mut Talk) -> Doing<'_>;

/// What every UI has to keep, as far as its wire has words for it.
pub(super) fn scenarios(wire: &UiWire) -> Vec<Scenario> {
    let mut all: Vec<(&str, &str, Act)> = vec![
        (PROMPTS, "after the handshake the UI says its prompt, with a text", |t| Box::pin(prompts(t))),
        ("whole-run", "a run with an answer is taken without a crash", |t| Box::pin(whole_run(t))),
        ("failed-run", "a run that fails is taken without a crash", |t| Box::pin(failed_run(t))),
        ("unknown-words", "words that the UI does not know do no harm", |t| Box::pin(unknown(t))),
        ("garbage", "lines that are no JSON do no harm", |t| Box::pin(garbage(t))),
        ("oversized-line", "a line of more than 10 MB does no harm", |t| Box::pin(oversized(t))),
        ("torn-lines", "lines that arrive in pieces are understood", |t| Box::pin(torn(t))),
        ("runtime-dies", "a runtime that goes away in a run is taken without a crash", |t| Box::pin(dies(t))),
        ("after-the-end", "words that come after the end of a run do no harm", |t| Box::pin(after(t))),
        ("only-protocol", "the UI says nothing but the protocol", |t| Box::pin(only_protocol(t))),
    ];
    if !(wire.ask)(ASK).is_empty() {
        all.push(("answers-once", "a question is answered exactly once", |t| Box::pin(answers_once(t))));
        all.push((
            "question-withdrawn",
            "a run that ends with its question open is taken without a crash",
            |t| Box::pin(withdrawn(t)),
        ));
    }
    let told = wire.told.as_ref().ok();
    let scenario = |(name, expects, act)| {
        let says = told.and_then(|told| told.says(Tested::Ui, name));
        Scenario { name, says, expects, act: super::Act::Code(act) }
    };
    all.into_iter().map(scenario).collect()
}

/// Serves the UI until it says its prompt; gives the prompt's line.
async fn prompted(talk: &mut Talk) -> Result<Value, Stop> {
    let wire = talk.ui_wire()?;
    for line in (wire.opening)() {
        talk.say(&line).await?;
    }
    let deadline = Instant::now() + talk.wishes.patience;
    loop {
        match talk.next_within(deadline.saturating_duration_since(Instant::now())).await {
            NextLine::Json(_, line) if (wire.prompt)(&line).is_some() => return Ok(line),
            NextLine::Json(_, line) => {
                for reply in (wire.reply)(&line) {
                    talk.say(&reply).await?;
                }
            }
            NextLine::Noise(_) => {}
            NextLine::Closed => {
                return Err(Stop::wrong("the UI left before it said a prompt").because(PROMPTS));
            }
            NextLine::Nothing => {
                let why = "the UI did not say a prompt in time; its command line has to give it one";
                return Err(Stop::wrong(why).because(PROMPTS));
            }
        }
    }
}

/// The number of the event before the first, on wires that number them.
const FIRST_SEQ: u64 = 1;

/// Lines under the id of the prompt and with the next numbers, on wires where lines carry them.
fn under(talk: &mut Talk, prompt: &Value, lines: Vec<(u8, Value)>) -> Vec<(u8, Value)> {
    let id = prompt.get("id").cloned().unwrap_or_default();
    let mut fill = |(lane, mut line): (u8, Value)| {
        if let Some(place) = line.get_mut("id").filter(|place| **place == "{id}") {
            *place = id.clone();
        }
        if let Some(place) = line.pointer_mut("/event/event/seq").filter(|place| **place == "{seq}") {
            *place = Value::from(FIRST_SEQ + talk.id());
        }
        (lane, line)
    };
    lines.into_iter().map(&mut fill).collect()
}

async fn say(talk: &mut Talk, prompt: &Value, lines: Vec<(u8, Value)>) -> Result<(), Stop> {
    for (lane, line) in under(talk, prompt, lines) {
        // A UI that has what it wanted may leave.
        if talk.say_on(lane, &line).await.is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// Serves the UI for a while and makes sure that it did not crash.
async fn survives(talk: &mut Talk) -> Result<(), Stop> {
    let wire = talk.ui_wire()?;
    let until = Instant::now() + WATCH;
    while Instant::now() < until {
        match talk.next_within(until.saturating_duration_since(Instant::now())).await {
            NextLine::Json(_, line) => {
                for reply in (wire.reply)(&line) {
                    let _ = talk.say(&reply).await;
                }
            }
            NextLine::Noise(_) => {}
            NextLine::Closed | NextLine::Nothing => break,
        }
    }
    match talk.ended(WATCH).await {
        Some(Exit::Code(code)) if CRASHES.contains(&code) => {
            Err(Stop::wrong(format!("the UI crashed with code {code}")))
        }
        Some(Exit::Signal(signal)) => Err(Stop::wrong(format!("the UI was ended by signal {signal}"))),
        Some(Exit::Code(_) | Exit::Unknown) | None => Ok(()),
    }
}

async fn prompts(talk: &mut Talk) -> Result<(), Stop> {
    let wire = talk.ui_wire()?;
    let line = prompted(talk).await?;
    match (wire.prompt)(&line) {
        Some(text) if !text.trim().is_empty() => Ok(()),
        _ => Err(Stop::wrong(format!("a prompt without a text: {line}"))),
    }
}

async fn whole_run(talk: &mut Talk) -> Result<(), Stop> {
    let wire = talk.ui_wire()?;
    let prompt = prompted(talk).await?;
    say(talk, &prompt, (wire.accept)(&prompt)).await?;
    say(talk, &prompt, (wire.text)("hello")).await?;
    say(talk, &prompt, (wire.end)()).await?;
    survives(talk).await
}

async fn failed_run(talk: &mut Talk) -> Result<(), Stop> {
    let wire = talk.ui_wire()?;
    let prompt = prompted(talk).await?;
    say(talk, &prompt, (wire.accept)(&prompt)).await?;
    say(talk, &prompt, (wire.fail)()).await?;
    survives(talk).await
}

async fn unknown(talk: &mut Talk) -> Result<(), Stop> {
    let wire = talk.ui_wire()?;
    talk.say(&(wire.unknown)()).await?;
    let prompt = prompted(talk).await?;
    say(talk, &prompt, (wire.accept)(&prompt)).await?;
    talk.say(&(wire.unknown)()).await?;
    say(talk, &prompt, (wire.end)()).await?;
    survives(talk).await
}

async fn garbage(talk: &mut Talk) -> Result<(), Stop> {
    let wire = talk.ui_wire()?;
    let prompt = prompted(talk).await?;
    talk.bytes(b"not json at all\n\n{\"half\":\n\xff\xfe\n[1]\nnull\n").await?;
    say(talk, &prompt, (wire.accept)(&prompt)).await?;
    say(talk, &prompt, (wire.end)()).await?;
    survives(talk).await
}

async fn oversized(talk: &mut Talk) -> Result<(), Stop> {
    let wire = talk.ui_wire()?;
    let prompt = prompted(talk).await?;
    let mut line = vec![b'x'; MAX_LINE + 1024];
    line.push(b'\n');
    talk.bytes(&line).await?;
    say(talk, &prompt, (wire.accept)(&prompt)).await?;
    say(talk, &prompt, (wire.end)()).await?;
    survives(talk).await
}

async fn torn(talk: &mut Talk) -> Result<(), Stop> {
    let wire = talk.ui_wire()?;
    let prompt = prompted(talk).await?;
    let lines: Vec<(u8, Value)> = (wire.accept)(&prompt).into_iter().chain((wire.text)("hello")).collect();
    for (lane, line) in under(talk, &prompt, lines) {
        if lane != 0 {
            say(talk, &prompt, vec![(lane, line)]).await?;
            continue;
        }
        for piece in format!("{line}\n").into_bytes().chunks(16) {
            talk.bytes(piece).await?;
            tokio::time::sleep(TORN).await;
        }
    }
    say(talk, &prompt, (wire.end)()).await?;
    survives(talk).await
}

async fn dies(talk: &mut Talk) -> Result<(), Stop> {
    let wire = talk.ui_wire()?;
    let prompt = prompted(talk).await?;
    say(talk, &prompt, (wire.accept)(&prompt)).await?;
    say(talk, &prompt, (wire.text)("hel")).await?;
    talk.leave();
    survives(talk).await
}

async fn after(talk: &mut Talk) -> Result<(), Stop> {
    let wire = talk.ui_wire()?;
    let prompt = prompted(talk).await?;
    say(talk, &prompt, (wire.accept)(&prompt)).await?;
    say(talk, &prompt, (wire.end)()).await?;
    say(talk, &prompt, (wire.text)("too late")).await?;
    say(talk, &prompt, (wire.end)()).await?;
    survives(talk).await
}

async fn only_protocol(talk: &mut Talk) -> Result<(), Stop> {
    whole_run(talk).await?;
    match talk.noise().first() {
        None => Ok(()),
        Some(line) => Err(Stop::wrong(format!("a line that is no JSON: {line}"))),
    }
}

async fn answers_once(talk: &mut Talk) -> Result<(), Stop> {
    let wire = talk.ui_wire()?;
    let prompt = prompted(talk).await?;
    say(talk, &prompt, (wire.accept)(&prompt)).await?;
    say(talk, &prompt, (wire.ask)(ASK)).await?;
    talk.until("the answer to a question", |line| (wire.answered)(line, ASK)).await?;
    let again = talk.lull().await.iter().filter(|line| (wire.answered)(line, ASK).is_some()).count();
    if again > 0 {
        return Err(Stop::wrong(format!("it was answered {} times", again + 1)));
    }
    say(talk, &prompt, (wire.settled)(ASK)).await?;
    say(talk, &prompt, (wire.end)()).await?;
    survives(talk).await
}

async fn withdrawn(talk: &mut Talk) -> Result<(), Stop> {
    let wire = talk.ui_wire()?;
    let prompt = prompted(talk).await?;
    say(talk, &prompt, (wire.accept)(&prompt)).await?;
    say(talk, &prompt, (wire.ask)(ASK)).await?;
    say(talk, &prompt, (wire.settled)(ASK)).await?;
    say(talk, &prompt, (wire.end)()).await?;
    survives(talk).await
}
