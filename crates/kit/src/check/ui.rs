//! Scenarios for UIs: the kit is the runtime and watches what the UI says and whether it lives.
//!
//! The UI has to say one prompt by itself, from its command line. After a run it may end or stay; it may not crash.

use super::talk::{NextLine, Talk};
use super::wires::{UiWire, filled};
use super::{Doing, Scenario, ScenarioPlay, Stop, Tested};
use crate::pattern::Bindings;
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
    if !wire.lines("ask").is_empty() {
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
        Scenario { name, says, expects, act: ScenarioPlay::Code(act) }
    };
    all.into_iter().map(scenario).collect()
}

/// Serves the UI until it says its prompt; gives the prompt's line, its text, and what lines name from then on.
async fn prompted(talk: &mut Talk) -> Result<(Value, String, Bindings), Stop> {
    let wire = talk.ui_wire()?;
    let mut names = wire.names(ASK);
    for (_, line) in wire.lines("opening") {
        talk.say(&filled(line, &mut names)).await?;
    }
    let deadline = Instant::now() + talk.wishes.patience;
    loop {
        match talk.next_within(deadline.saturating_duration_since(Instant::now())).await {
            NextLine::Json(_, line) => match wire.prompt(&line, &mut names) {
                Some(text) => return Ok((line, text, names)),
                None => {
                    for reply in wire.reply(&line) {
                        talk.say(&reply).await?;
                    }
                }
            },
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

/// A run of the UI, from its prompt on.
struct UiRun<'t> {
    talk: &'t mut Talk,
    wire: &'static UiWire,
    names: Bindings,
}

impl UiRun<'_> {
    /// Waits for the prompt, and takes it.
    async fn taken(talk: &mut Talk) -> Result<UiRun<'_>, Stop> {
        let mut run = UiRun::prompted(talk).await?;
        run.say(&["accept"]).await;
        Ok(run)
    }

    async fn prompted(talk: &mut Talk) -> Result<UiRun<'_>, Stop> {
        let (wire, (.., names)) = (talk.ui_wire()?, prompted(talk).await?);
        Ok(UiRun { talk, wire, names })
    }

    /// The lines of a part, with the next numbers where they carry them.
    fn lines(&mut self, part: &str) -> Vec<(u8, Value)> {
        let mut lines = Vec::new();
        for (lane, line) in self.wire.lines(part) {
            if line.to_string().contains("$seq") {
                self.names.bind("seq", Value::from(FIRST_SEQ + self.talk.id()));
            }
            lines.push((lane, filled(line, &mut self.names)));
        }
        lines
    }

    async fn say(&mut self, parts: &[&str]) {
        for part in parts {
            for (lane, line) in self.lines(part) {
                // A UI that has what it wanted may leave.
                if self.talk.say_on(lane, &line).await.is_err() {
                    break;
                }
            }
        }
    }

    /// A message of the model.
    async fn text(&mut self, text: &str) {
        self.names.bind("said", Value::from(text));
        self.say(&["text"]).await;
    }
}

/// Serves the UI for a while and makes sure that it did not crash.
async fn survives(talk: &mut Talk) -> Result<(), Stop> {
    let wire = talk.ui_wire()?;
    let until = Instant::now() + WATCH;
    while Instant::now() < until {
        match talk.next_within(until.saturating_duration_since(Instant::now())).await {
            NextLine::Json(_, line) => {
                for reply in wire.reply(&line) {
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
    match prompted(talk).await? {
        (_, text, _) if !text.trim().is_empty() => Ok(()),
        (line, ..) => Err(Stop::wrong(format!("a prompt without a text: {line}"))),
    }
}

async fn whole_run(talk: &mut Talk) -> Result<(), Stop> {
    let mut run = UiRun::taken(talk).await?;
    run.text("hello").await;
    run.say(&["end"]).await;
    survives(talk).await
}

async fn failed_run(talk: &mut Talk) -> Result<(), Stop> {
    UiRun::taken(talk).await?.say(&["fail"]).await;
    survives(talk).await
}

async fn unknown(talk: &mut Talk) -> Result<(), Stop> {
    let wire = talk.ui_wire()?;
    let unknown: Vec<Value> =
        wire.lines("unknown").into_iter().map(|(_, line)| filled(line, &mut wire.names(ASK))).collect();
    for line in &unknown {
        talk.say(line).await?;
    }
    let mut run = UiRun::taken(talk).await?;
    for line in &unknown {
        run.talk.say(line).await?;
    }
    run.say(&["end"]).await;
    survives(talk).await
}

async fn garbage(talk: &mut Talk) -> Result<(), Stop> {
    let mut run = UiRun::prompted(talk).await?;
    run.talk.bytes(b"not json at all\n\n{\"half\":\n\xff\xfe\n[1]\nnull\n").await?;
    run.say(&["accept", "end"]).await;
    survives(talk).await
}

async fn oversized(talk: &mut Talk) -> Result<(), Stop> {
    let mut run = UiRun::prompted(talk).await?;
    let mut line = vec![b'x'; MAX_LINE + 1024];
    line.push(b'\n');
    run.talk.bytes(&line).await?;
    run.say(&["accept", "end"]).await;
    survives(talk).await
}

async fn torn(talk: &mut Talk) -> Result<(), Stop> {
    let mut run = UiRun::prompted(talk).await?;
    run.names.bind("said", Value::from("hello"));
    let lines: Vec<(u8, Value)> = ["accept", "text"].iter().flat_map(|part| run.lines(part)).collect();
    for (lane, line) in lines {
        if lane != 0 {
            let _ = run.talk.say_on(lane, &line).await;
            continue;
        }
        for piece in format!("{line}\n").into_bytes().chunks(16) {
            run.talk.bytes(piece).await?;
            tokio::time::sleep(TORN).await;
        }
    }
    run.say(&["end"]).await;
    survives(talk).await
}

async fn dies(talk: &mut Talk) -> Result<(), Stop> {
    UiRun::taken(talk).await?.text("hel").await;
    talk.leave();
    survives(talk).await
}

async fn after(talk: &mut Talk) -> Result<(), Stop> {
    let mut run = UiRun::taken(talk).await?;
    run.say(&["end"]).await;
    run.text("too late").await;
    run.say(&["end"]).await;
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
    let mut run = UiRun::taken(talk).await?;
    run.say(&["ask"]).await;
    let wire = run.wire;
    run.talk.until("the answer to a question", |line| wire.answered(line, ASK)).await?;
    let again = run.talk.lull().await.iter().filter(|line| wire.answered(line, ASK).is_some()).count();
    if again > 0 {
        return Err(Stop::wrong(format!("it was answered {} times", again + 1)));
    }
    run.say(&["settled", "end"]).await;
    survives(talk).await
}

async fn withdrawn(talk: &mut Talk) -> Result<(), Stop> {
    UiRun::taken(talk).await?.say(&["ask", "settled", "end"]).await;
    survives(talk).await
}
