//! `/agents NAME` in a session: another agent goes on, and is told what was said; and back to ours with `/agents parlor`.
//!
//! Each agent keeps to a session of its own, so that the record says who did what; what went on between them stands with the first prompt
//! that the next one gets, where the person sees it and may take it away. Invariant: nothing is told that the person did not see named.

mod past;

use crate::attach::{self, Handed};
use crate::exit::{self, Exit};
use crate::output;
use domain::content::Part;
use domain::ids::SessionId;
use host::kept;
use host::launch::Launch;
use host::paths;
use past::{BEFORE, Counts, Past};
use store::{SqliteStore, Store};
use tui::{Begin, Echo, ExitReason, ScreenExit, TypedLine, ask_line};

/// Our own agent, among the names of agents.
pub(crate) const OURS: &str = "parlor";

/// What the next agent is told, and the person of it.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    past: Past,
    /// Who was there before, and where that is kept.
    who: String,
}

impl Told {
    /// Of a session that is kept; `None` where nothing was said in it.
    pub(crate) fn of(session: &SessionId, earlier: bool) -> anyhow::Result<Option<Told>> {
        let store = SqliteStore::at(&paths::data()?).map_err(|why| kept::told(&why))?;
        let state = store.load(session).map_err(|why| kept::told(&why))?.state;
        let summary = store.summary(session).map_err(|why| kept::told(&why))?;
        let agent = match &summary.origin {
            Some(origin) => remote::origin::words(origin),
            None => match &state.settings.model {
                Some(model) => format!("Parlor's agent with {model}"),
                None => "Parlor's agent".to_owned(),
            },
        };
        let who = format!("with {agent}, in session {session}");
        let past = past::past(&state, &who, earlier);
        Ok((past.told != Counts::default()).then_some(Told { past, who }))
    }

    /// As the screen begins with it.
    pub(crate) fn begin(&self) -> Begin {
        let part = Part::Code {
            language: Some("markdown".to_owned()),
            text: self.past.text.clone(),
            path: Some(BEFORE.to_owned()),
        };
        Begin::With { name: format!("what came before: {}", self.past.told), part }
    }

    /// In a line, for the first screen.
    pub(crate) fn line(&self) -> String {
        let Past { told, left_out, .. } = &self.past;
        let left_out = match *left_out == Counts::default() {
            true => String::new(),
            false => format!("; not told: {left_out}"),
        };
        format!("goes on from what was said {}. Your next prompt tells it: {told}{left_out}", self.who)
    }
}

/// Where the person is back, with our own agent.
#[derive(Debug)]
pub(crate) struct Back {
    /// What was done elsewhere since.
    pub(crate) told: Option<Told>,
}

/// How a hand-over came to its end.
#[derive(Debug)]
pub(crate) enum Ended {
    Back(Back),
    Over(Exit),
}

/// Lets the agent of this name go on from a session, and the next one from there, until the person comes back or leaves.
pub(crate) async fn go_on(launch: &Launch, name: String, from: Option<SessionId>) -> anyhow::Result<Ended> {
    // What was typed for sessions of our own says nothing about theirs.
    let launch = Launch { prompt: None, resume: None, continue_last: false, ..launch.clone() };
    let was_ours = from.is_some() && launch.own_ui;
    let (mut name, mut from) = (name, from);
    loop {
        let earlier = !was_ours || name != OURS;
        let told = from.as_ref().map(|from| Told::of(from, earlier)).transpose()?.flatten();
        if name == OURS {
            return Ok(Ended::Back(Back { told }));
        }
        let left = match attach::on_listed(&launch, &name, handed(told.as_ref())).await {
            Ok(Some(left)) => left,
            // Not started: the person stays with whom they were.
            Ok(None) => return stay().await,
            Err(why) => {
                output::print_error(&format!("error: {}", exit::in_words(&why)));
                return stay().await;
            }
        };
        match attach::visited(&launch, left).await? {
            ExitReason::Wants { exit: ScreenExit::Attach(next), session } => {
                // Where nothing was said, what came before is still what is to be told.
                (name, from) = (next, session.or(from));
            }
            left => return Ok(Ended::Over(crate::screen::exit(&left))),
        }
    }
}

/// What the next screen begins with.
pub(crate) fn handed(told: Option<&Told>) -> Handed {
    Handed { begin: told.map(Told::begin), line: told.map(Told::line) }
}

/// Back where the person was, once they have read why.
pub(crate) async fn stay() -> anyhow::Result<Ended> {
    Ok(match ask_line("Enter goes back ", Echo::Hidden).await? {
        TypedLine::Line(_) | TypedLine::Unusable(_) => Ended::Back(Back { told: None }),
        TypedLine::Cancelled => Ended::Over(Exit::Done),
        TypedLine::Told(signal) => Ended::Over(Exit::Cancelled(signal)),
    })
}
