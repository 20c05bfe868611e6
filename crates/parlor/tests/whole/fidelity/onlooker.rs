//! A UI of ours that keeps everything it is shown.

use domain::command::{Command, Receipt, Refusal, Target};
use domain::event::{Body, Event};
use domain::ids::SessionId;
use domain::port::{News, Ticket};
use domain::signal::Signal;
use domain::state::State;
use hub::core::Standing;
use hub::{Hub, LocalUi};
use roles::Answers;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Something that a UI was shown.
#[derive(Debug, Clone)]
pub(crate) enum Shown {
    /// A session from its beginning.
    Whole(Vec<Body>),
    Happened(Arc<Event>),
    Signal(Signal),
}

pub(crate) struct Onlooker {
    ui: LocalUi,
    pub(crate) session: Option<SessionId>,
    pub(crate) state: State,
    pub(crate) shown: Vec<Shown>,
    settled: BTreeMap<u64, Result<Receipt, Refusal>>,
    next: u64,
}

impl Onlooker {
    pub(crate) async fn at(hub: &Hub) -> Onlooker {
        Onlooker::arrive(hub, Answers::ALL).await
    }

    /// One that nobody asks anything.
    pub(crate) async fn unasked(hub: &Hub) -> Onlooker {
        Onlooker::arrive(hub, Answers::NONE).await
    }

    async fn arrive(hub: &Hub, answers: Answers) -> Onlooker {
        let ui = hub.attach("onlooker", Standing::Controller, answers, None).await.expect("the hub runs");
        let (session, state) = (None, State::new());
        Onlooker { ui, session, state, shown: Vec::new(), settled: BTreeMap::new(), next: 0 }
    }

    pub(crate) async fn give(&mut self, command: Command) -> u64 {
        self.give_in(Target::Current, command).await
    }

    pub(crate) async fn give_in(&mut self, target: Target, command: Command) -> u64 {
        self.next += 1;
        self.ui.port.command(Ticket(self.next), target, command).await.expect("the hub runs");
        self.next
    }

    pub(crate) fn settled(&self, ticket: u64) -> Option<Result<Receipt, Refusal>> {
        self.settled.get(&ticket).cloned()
    }

    /// Takes in what there is.
    pub(crate) fn take(&mut self) {
        while let Ok(news) = self.ui.news.try_recv() {
            match news {
                News::Attached { session, replay, board, .. } => {
                    self.state = State::new();
                    for (at, body) in &replay {
                        self.state.apply(*at, body).expect("a replay that holds");
                    }
                    self.session = Some(session);
                    self.shown.push(Shown::Whole(replay.into_iter().map(|(_, body)| body).collect()));
                    self.shown.extend(board.replay().into_iter().map(Shown::Signal));
                }
                News::Happened { session, event } if Some(&session) == self.session.as_ref() => {
                    self.state.follow(&event).expect("events that fit");
                    self.shown.push(Shown::Happened(event));
                }
                News::Signal { signal, .. } => self.shown.push(Shown::Signal(signal)),
                News::Settled { ticket, with } => {
                    self.settled.insert(ticket.0, with);
                }
                News::Happened { .. } | News::Link(_) => {}
            }
        }
    }

    /// What happened since it looks, without what it was shown from its beginning.
    pub(crate) fn happened(&self) -> impl Iterator<Item = &Event> {
        self.shown.iter().filter_map(|shown| match shown {
            Shown::Happened(event) => Some(event.as_ref()),
            Shown::Whole(_) | Shown::Signal(_) => None,
        })
    }

    pub(crate) fn signals(&self) -> Vec<Signal> {
        let signals = self.shown.iter().filter_map(|shown| match shown {
            Shown::Signal(signal) => Some(signal.clone()),
            Shown::Whole(_) | Shown::Happened(_) => None,
        });
        signals.collect()
    }
}
