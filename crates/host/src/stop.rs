//! Being told to stop: by SIGTERM, by Ctrl-C or Ctrl-\, or because the terminal is gone.
//!
//! Invariant: signals are taken over before the first run begins, so that none ends the program while a run is under way and leaves it
//! open in the record.

use domain::command::{Command, LibraryCommand, RunCommand, Target};
use domain::port::{News, Ticket};
use hub::Hub;
use hub::core::{LiveSession, Standing};
use roles::Answers;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

/// How long a runtime that finishes first may take for it.
const DRAIN: Duration = Duration::from_secs(10);
/// How long runs may take to stop.
const STOPPED_WITHIN: Duration = Duration::from_secs(10);
/// Who stopped a run, where it was not a person at a UI.
const TOLD_TO_STOP: &str = "told to stop";
const UI_GONE: &str = "the UI is gone";
const CANCEL: Ticket = Ticket(1);

/// By what a program was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    Interrupt,
    Quit,
    Terminate,
    /// Also that nobody reads what is said any more.
    HangUp,
}

/// The signals that tell a program to stop. One that cannot be listened for never comes.
pub struct Stops {
    terminate: Option<Signal>,
    interrupt: Option<Signal>,
    quit: Option<Signal>,
    hang_up: Option<Signal>,
    /// Tells that nobody reads what is said any more.
    reader_gone: Option<oneshot::Receiver<()>>,
}

impl Stops {
    /// Takes the signals over: from here on they end nothing by themselves.
    pub fn listen() -> Stops {
        let listen = |kind| signal(kind).ok();
        Stops {
            terminate: listen(SignalKind::terminate()),
            interrupt: listen(SignalKind::interrupt()),
            quit: listen(SignalKind::quit()),
            // Who starts a program with `nohup` wants it to outlive the terminal.
            hang_up: if ignores_hangup() { None } else { listen(SignalKind::hangup()) },
            reader_gone: None,
        }
    }

    /// The same, and that nobody reads what is said any more counts as a hang-up.
    pub fn with_reader(self, gone: Option<oneshot::Receiver<()>>) -> Stops {
        Stops { reader_gone: gone, ..self }
    }

    /// Waits for the next, and says which it was.
    pub async fn next(&mut self) -> StopSignal {
        tokio::select! {
            () = told(&mut self.terminate) => StopSignal::Terminate,
            () = told(&mut self.interrupt) => StopSignal::Interrupt,
            () = told(&mut self.quit) => StopSignal::Quit,
            () = told(&mut self.hang_up) => StopSignal::HangUp,
            () = gone(&mut self.reader_gone) => StopSignal::HangUp,
        }
    }
}

async fn told(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// Once: afterwards it is known.
async fn gone(reader: &mut Option<oneshot::Receiver<()>>) {
    let gone = match reader {
        Some(reader) => reader.await.is_ok(),
        None => false,
    };
    *reader = None;
    if !gone {
        std::future::pending::<()>().await;
    }
}

/// What becomes of runs that are under way when a program is told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// They are finished first, within [`DRAIN`], unless it is told once more.
    Finish,
    /// They are stopped as a person would, within [`STOPPED_WITHIN`]: what their tools did is known then.
    Stop,
    /// They are broken off.
    BreakOff,
    /// They go on where they are, in another process, also when the UI is gone.
    Leave,
}

/// How long the runs of a UI that is gone may take to stop. A run that its runtime does not end is closed here sooner.
const GONE_GRACE: Duration = Duration::from_secs(2);
/// How long a UI that is just coming may take to be told that the runtime behind a bridge is gone.
const TOLD_WITHIN: Duration = Duration::from_millis(500);

/// Why a program that serves UIs is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// There is nobody to serve any more.
    UiGone,
    Told,
    /// The runtime behind it went before it had told what it can do.
    RuntimeLost,
}

/// How a program that serves UIs ends.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    pub runs: Runs,
    /// How long the last lines may take to be written.
    pub last_lines: Duration,
    /// Whether a question that is open when the UI is gone waits for who opens the session next, in the record.
    pub keeps_questions: bool,
}

/// Serves until that is over (the UI on stdin and stdout is gone), the program is told to stop, or the runtime behind it is lost before it
/// has told what it can do. Then every run ends in the record and for every UI, and the last lines go out. `say` tells what is waited for.
pub async fn until_told(
    hub: &Hub,
    serving: impl Future<Output = anyhow::Result<()>>,
    manner: Manner,
    say: impl Fn(&str),
) -> anyhow::Result<Over> {
    let mut stops = Stops::listen();
    let lost = hub.lost_early();
    tokio::pin!(serving, lost);
    let over = tokio::select! {
        // A UI that leaves because of it leaves after it.
        biased;
        _ = &mut lost => Over::RuntimeLost,
        served = &mut serving => {
            served?;
            // It may have been told between the two looks.
            let was_told = tokio::time::timeout(Duration::ZERO, &mut lost).await.is_ok();
            if was_told {
                return Ok(Over::RuntimeLost);
            }
            if manner.runs != Runs::Leave {
                tokio::select! {
                    _ = tokio::time::timeout(GONE_GRACE, stop_runs(hub, UI_GONE, manner.keeps_questions)) => {}
                    _ = stops.next() => {}
                }
            }
            return Ok(Over::UiGone);
        }
        _ = stops.next() => Over::Told,
    };
    if over == Over::RuntimeLost {
        tokio::select! {
            () = tokio::time::sleep(TOLD_WITHIN) => {}
            _ = stops.next() => {}
            // Who was told and has left needs no more time.
            _ = &mut serving => return Ok(over),
        }
    }
    let quiet = async {
        match manner.runs {
            Runs::Finish => {
                say("told to stop: what is under way is finished first; told again, it is ended");
                tokio::select! {
                    _ = tokio::time::timeout(DRAIN, hub.idle()) => {}
                    _ = stops.next() => {}
                }
            }
            Runs::Stop => {
                let _ = tokio::time::timeout(STOPPED_WITHIN, stop_runs(hub, TOLD_TO_STOP, false)).await;
            }
            Runs::BreakOff | Runs::Leave => {}
        }
        hub.end().await;
        tokio::time::sleep(manner.last_lines).await;
    };
    tokio::select! {
        _ = &mut serving => {}
        () = quiet => {}
    }
    Ok(over)
}

/// Stops every run, and waits until they have ended; those that wait for an answer only if they are not to wait on.
async fn stop_runs(hub: &Hub, who: &str, keeps_questions: bool) {
    let sessions = hub.present().await.unwrap_or_default();
    let waits_on = |session: &LiveSession| keeps_questions && session.asks > 0;
    let stopped = |session: &LiveSession| session.running && !waits_on(session);
    if !sessions.iter().any(stopped) {
        return;
    }
    for session in sessions.into_iter().filter(stopped) {
        let open = Command::Library(LibraryCommand::Open { session: session.id.clone() });
        let ui = hub.attach(who, Standing::Controller, Answers::NONE, Some(open)).await;
        let Ok(mut ui) = ui else { return };
        if ui.begun().await.is_ok() {
            let cancel = Command::Run(RunCommand::Cancel { run: None, reason: Some(who.to_owned()) });
            let _ = ui.port.command(CANCEL, Target::Session(session.id), cancel).await;
            // A UI that leaves takes along what it asked for and what was not done yet.
            while let Some(news) = ui.news.recv().await {
                if matches!(news, News::Settled { ticket: CANCEL, .. }) {
                    break;
                }
            }
        }
    }
    hub.idle().await;
}

/// Whether this program was started with SIGHUP switched off.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
