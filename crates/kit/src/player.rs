//! Plays one side of a transcript against a program, over byte streams, and judges what the program says.
//!
//! The player is the other side: it says the lines that the tested side hears. It waits for what is due, never for a time to pass
//! (`wait` moves the runtime's clock, which tests stop).

use crate::notation::{Came, Judge, Kind, Millis, Next, Outcome, Raw, RawBytes, Side, Transcript, Verdict};
use crate::pattern::{Bindings, Missing};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// How long the tested side may take for a line that is due.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// Lines that were read and not yet judged.
const READ_AHEAD: usize = 1024;
/// The longest pause between two lines that is kept when a recording is played at speed.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// One byte stream to the tested side.
pub struct Lane {
    /// Its number in the transcript.
    pub number: u8,
    /// What the tested side says.
    pub read: Box<dyn AsyncRead + Send + Unpin>,
    pub write: Box<dyn AsyncWrite + Send + Unpin>,
}

/// What became of a transcript.
#[derive(Debug, Clone)]
pub struct Playback {
    /// What was found, to be shown with [`crate::notation::Report`].
    pub outcomes: Vec<Outcome>,
    /// What names stood for.
    pub bindings: Bindings,
    /// Every line that the tested side said while it was listened to.
    pub said: Vec<String>,
}

/// How fast the player speaks, and when it stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Manner {
    /// How many times faster than recorded; `None` means without any pause.
    pub speed: Option<f64>,
    /// How long the tested side may take for a line that is due.
    pub patience: Duration,
    /// Stops at the first difference.
    pub first_only: bool,
}

impl Default for Manner {
    fn default() -> Manner {
        Manner { speed: None, patience: PATIENCE, first_only: false }
    }
}

impl Manner {
    /// Waits as long as was recorded before a line.
    async fn pace(&self, after: Option<Millis>) {
        let (Some(speed), Some(Millis(after))) = (self.speed, after) else { return };
        if speed > 0.0 {
            let after = Duration::from_millis(after).as_secs_f64() / speed;
            tokio::time::sleep(
                Duration::try_from_secs_f64(after).unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE),
            )
            .await;
        }
    }
}

/// Plays `transcript` against the side that is tested, without pauses.
pub async fn play(transcript: &Transcript, tested: Side, lanes: Vec<Lane>) -> Playback {
    play_in(transcript, tested, lanes, Manner::default()).await
}

/// Plays `transcript` against the side that is tested.
pub async fn play_in(transcript: &Transcript, tested: Side, lanes: Vec<Lane>, manner: Manner) -> Playback {
    let (said, mut heard) = mpsc::channel(READ_AHEAD);
    let mut readers = JoinSet::new();
    let mut writers = Vec::new();
    for Lane { number, read, write } in lanes {
        let said = said.clone();
        readers.spawn(async move {
            let mut lines = BufReader::new(read).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                if said.send((number, line)).await.is_err() {
                    return;
                }
            }
        });
        writers.push((number, write));
    }
    drop(said);
    let mut judge = Judge::new(transcript, tested);
    let mut all_said = Vec::new();
    loop {
        if manner.first_only && judge.outcomes().iter().any(|outcome| outcome.verdict != Verdict::Met) {
            readers.abort_all();
            return Playback {
                outcomes: judge.outcomes().to_vec(),
                bindings: judge.bindings().clone(),
                said: all_said,
            };
        }
        match judge.advance() {
            Next::Done => break,
            Next::Await => match tokio::time::timeout(manner.patience, heard.recv()).await {
                Ok(Some((lane, line))) => {
                    judge.came(lane, Came::line(&line));
                    all_said.push(line);
                }
                Ok(None) => judge.gave_up("the peer has closed"),
                Err(_) => judge.gave_up("nothing came in time"),
            },
            Next::Do(step) => match &step.kind {
                Kind::Say(say) if say.side != tested => {
                    manner.pace(step.after).await;
                    match say.pattern.fill(judge.bindings(), Missing::Invent) {
                        Ok(line) => write(&mut writers, say.lane, format!("{line}\n").as_bytes()).await,
                        Err(why) => judge.gave_up(&why.to_string()),
                    }
                }
                Kind::Raw(Raw { side, lane, bytes }) if *side != tested => {
                    let bytes = match bytes {
                        RawBytes::Line(line) => format!("{line}\n").into_bytes(),
                        RawBytes::Exact(bytes) => bytes.clone(),
                    };
                    write(&mut writers, *lane, &bytes).await;
                }
                Kind::Wait(time) => tokio::time::sleep(Duration::from_millis(time.0)).await,
                Kind::Leave(_) => writers.clear(),
                _ => {}
            },
        }
    }
    // What came beyond the end was not promised.
    while let Ok((lane, line)) = heard.try_recv() {
        judge.came(lane, Came::line(&line));
        all_said.push(line);
    }
    readers.abort_all();
    Playback { outcomes: judge.outcomes().to_vec(), bindings: judge.bindings().clone(), said: all_said }
}

async fn write(writers: &mut [(u8, Box<dyn AsyncWrite + Send + Unpin>)], lane: u8, bytes: &[u8]) {
    if let Some((_, writer)) = writers.iter_mut().find(|(number, _)| *number == lane) {
        // A tested side that stopped reading shows as lines that never come.
        let _ = writer.write_all(bytes).await;
        let _ = writer.flush().await;
    }
}

/// The script of the model, as the transcript writes it.
pub fn script(transcript: &Transcript) -> String {
    let lines = transcript.steps.iter().filter_map(|step| match &step.kind {
        Kind::Model(line) => Some(format!("model {line}\n")),
        _ => None,
    });
    lines.collect()
}

/// Whether the transcript needs a clock that can be moved.
pub fn moves_clock(transcript: &Transcript) -> bool {
    transcript.steps.iter().any(|step| match &step.kind {
        Kind::Wait(_) => true,
        Kind::Model(line) => line.contains("pause"),
        _ => false,
    })
}
