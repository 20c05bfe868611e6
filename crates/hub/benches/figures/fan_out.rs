//! What every further UI costs that watches a session: events of one conversation through many UIs.

use crate::stage::{self, guest};
use crate::{Broken, Figures};
use dialects::Dialect;
use domain::command::{Command, LibraryCommand, PromptOptions, RunCommand, Target};
use domain::content::Input;
use domain::event::{Body, RunEvent};
use domain::ids::SessionId;
use domain::port::{News, Ticket};
use hub::core::Standing;
use link::{Incoming, Limits, memory};
use roles::{Answers, Lane};
use std::time::{Duration, Instant};
use wire::lines::Frame;

/// UIs on the session.
const FEW: usize = 1;
const MANY: usize = 50;
/// Events of the conversation.
const EVENTS: usize = 2_000;
/// Telling one more UI may cost so much of what the first one costs, as events per second go.
const PROMISED: f64 = 1.0;
/// What a UI says first.
const HELLO: &str = r#"{"hello":{"protocol":1,"revision":0,"name":"bench","version":"0","capabilities":[]}}"#;
/// What the end of a run looks like.
const END: &str = "\"run_ended\"";
/// Each is measured so often; the least counts.
const TIMES: usize = 3;

pub(crate) fn measure(figures: &mut Figures) -> Result<(), Broken> {
    for dialect in [dialects::native::DIALECT] {
        let name = format!("fan-out: one of {MANY} UIs of {dialect} against one alone");
        if !figures.wants(&name) {
            continue;
        }
        let (mut few, mut many) = (Duration::MAX, Duration::MAX);
        for _ in 0..figures.depth.times(TIMES) {
            few = few.min(told(dialect, FEW)?);
            many = many.min(told(dialect, MANY)?);
        }
        let per_ui = many.as_secs_f64() / MANY as f64;
        figures.tell(&name, (per_ui * 1e6, few.as_secs_f64() * 1e6), PROMISED);
    }
    Ok(())
}

/// How long one conversation takes until all of these UIs have heard its end.
fn told(dialect: Dialect, uis: usize) -> Result<Duration, Broken> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let hub = stage::runtime(EVENTS);
        let session = SessionId::from_number(1);
        let start =
            Command::Library(LibraryCommand::New { cwd: None, title: None, id: Some(session.clone()) });
        let mut first = hub.attach("bench", Standing::Controller, Answers::ALL, Some(start)).await?;
        let mut hearing = tokio::task::JoinSet::new();
        for _ in 0..uis {
            let (theirs, ours) = memory::pair(&[Lane::MAIN], Limits::default());
            let open = Some(Command::Library(LibraryCommand::Open { session: session.clone() }));
            let ui = hub.seat(hub::Guest { start: open, ..guest(dialect) }).await?;
            let serving = hub.clone();
            tokio::spawn(async move { serving.connect(ui, Lane::MAIN, theirs).await });
            ours.outgoing.try_send(Lane::MAIN, HELLO.to_owned())?;
            hearing.spawn(async move {
                // The whole link, not only the end that is heard from.
                let (mut ui, mut lines) = (ours, 0);
                while let Some(Incoming::Frame { frame: Frame::Line(line), .. }) = ui.incoming.recv().await {
                    lines += 1;
                    if line.contains(END) {
                        return Ok(lines);
                    }
                }
                Err("a UI was let go before it heard the end")
            });
        }
        let began = Instant::now();
        let prompt =
            Command::Run(RunCommand::Prompt { input: Input::text("go"), options: PromptOptions::default() });
        first.port.command(Ticket(1), Target::Current, prompt).await?;
        loop {
            match first.news.recv().await.ok_or("the hub stopped")? {
                News::Happened { event, .. } if matches!(event.body, Body::Run(RunEvent::Ended { .. })) => {
                    break;
                }
                _ => {}
            }
        }
        while let Some(heard) = hearing.join_next().await {
            let lines = heard??;
            if lines < EVENTS / 2 {
                return Err(format!("a UI heard {lines} lines only").into());
            }
        }
        let took = began.elapsed();
        hub.stop().await;
        Ok(took)
    })
}
