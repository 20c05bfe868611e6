//! The hub: sessions, runs, queues, asks and the UIs attached to them. It knows no dialect by name.
//!
//! [`core`] decides, without I/O; the shell performs: it owns the store, the roles and the links, and runs as one task.
//!
//! A program that embeds it brings a store, an engine and, for each link, the role of the wire that is spoken there. This engine says
//! to each prompt what it has heard:
//!
//! ```
//! use domain::content::{Role, TextKind, Usage};
//! use domain::event::{Body, Finish, MessageEvent, RunEvent};
//! use domain::ids::{MessageId, StepId};
//! use domain::port::{Order, Report, TurnEnd};
//! use hub::core::{Engine, Setup, Standing};
//! use hub::{EngineSeat, Guest, Hub};
//! use link::{Incoming, Lane, Limits, memory};
//! use tokio::sync::mpsc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (orders, mut ordered) = mpsc::channel(64);
//! let (reports, reported) = mpsc::channel(64);
//! let echo = async move {
//!     while let Some(order) = ordered.recv().await {
//!         let Order::Turn(brief) = order else { continue };
//!         let (session, run, turn) = (brief.session, brief.run, brief.turn);
//!         let (step, message) = (StepId::mint(&brief.ids), MessageId::mint(&brief.ids));
//!         let (role, turn_of, step_of) = (Role::Assistant, Some(turn), Some(step));
//!         for body in [
//!             Body::Run(RunEvent::StepStarted { turn, step, model: None }),
//!             Body::Message(MessageEvent::Started { message, parent: brief.leaf, role, turn: turn_of, step: step_of }),
//!             Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text: brief.input.text }),
//!             Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }),
//!             Body::Run(RunEvent::StepEnded { step, usage: Usage::default() }),
//!         ] {
//!             let _ = reports.send((Report::Happened { session: session.clone(), run: Some(run), body }, None)).await;
//!         }
//!         let _ = reports.send((Report::TurnDone { session, run, turn, end: TurnEnd::Done }, None)).await;
//!     }
//! };
//!
//! let setup = Setup::new(Engine::Driven, "/", 1);
//! let store = Box::new(store::MemoryStore::default());
//! let hub = Hub::start(setup, store, EngineSeat::Driven(orders), std::sync::Arc::new(|line| eprintln!("{line}")));
//!
//! let (role, greeting) = (dialects::asst::DIALECT.runtime_role(), Default::default());
//! let (name, standing) = ("asst".to_owned(), Standing::Controller);
//! let guest = Guest { role, name, standing, greeting, start: None, stays: false };
//! let (ours, mut ui) = memory::pair(&[Lane::MAIN], Limits::default());
//! let person = async {
//!     let prompt = r#"{"id":"1","kind":"user_message","message":"Hello"}"#;
//!     ui.outgoing.try_send(Lane::MAIN, prompt.to_owned()).expect("nothing waits before it");
//!     while let Some(Incoming::Frame { frame, .. }) = ui.incoming.recv().await {
//!         if format!("{frame:?}").contains("Hello") {
//!             return;
//!         }
//!     }
//!     panic!("nothing came back");
//! };
//! tokio::select! {
//!     () = person => {}
//!     () = echo => {}
//!     _ = hub.serve(guest, ours) => {}
//!     () = hub.reports(reported) => {}
//! }
//! hub.stop().await;
//! # Ok(())
//! # }
//! ```

pub mod core;
mod shell;

pub use shell::{
    Ended, EngineSeat, ErrandPort, Files, ForeignKeeping, Guest, Hub, INBOX, LOCAL_NEWS, LastLines,
    LocalPort, LocalUi, Log, Machine, Pace, RemoteSeat, Reported, Stopped, Stranger, Visit, Visits, Wait,
};
