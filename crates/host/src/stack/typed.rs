//! What was typed for a session that is gone on with: its mode, model and effort are those of the command line from here on, and stay with
//! it. A flag that named a mode and was not heeded would be worse than none.
//!
//! Invariant: only the session that the command line goes on with is set anew; others that are opened later in this process are not.

use crate::launch::Launch;
use crate::mode::Ground;
use domain::command::{Command, LibraryCommand, SessionCommand, Target};
use domain::ids::SessionId;
use domain::port::{News, Ticket};
use domain::session::{Effort, ModelRef};
use domain::state::State;
use hub::Hub;
use hub::core::Standing;
use roles::Answers;

/// What the command line says of how a session is run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TypedOptions {
    /// What the mode depends on, where one was typed.
    mode: Option<Ground>,
    effort: Option<Effort>,
    model: Option<ModelRef>,
}

impl TypedOptions {
    /// `model` is what `--model` means. What the environment says is for sessions that have chosen none.
    pub(super) fn of(launch: &Launch, model: &ModelRef, ground: &Ground) -> TypedOptions {
        let usual = std::env::var(crate::launch::MODEL).ok();
        let typed = launch.model.as_ref().filter(|typed| usual.as_ref() != Some(*typed));
        let mode = launch.policy.map(|_| *ground);
        TypedOptions { mode, effort: launch.effort, model: typed.map(|_| model.clone()) }
    }

    /// The commands that make a session so. A model that was never chosen there is no choice to be undone.
    fn commands(&self, state: &State) -> Vec<SessionCommand> {
        let settings = &state.settings;
        let policy = self.mode.map(|ground| ground.mode(Some(settings.policy)));
        let policy = policy.filter(|policy| *policy != settings.policy);
        let effort = self.effort.filter(|effort| Some(*effort) != settings.effort);
        let model =
            self.model.as_ref().filter(|model| settings.model.as_ref().is_some_and(|is| is != *model));
        let set_model = |ModelRef { provider, name }: ModelRef| SessionCommand::SetModel {
            provider: Some(provider).filter(|provider| !provider.is_empty()),
            name,
        };
        let policy = policy.map(|policy| SessionCommand::SetPolicy { policy });
        let effort = effort.map(|effort| SessionCommand::SetEffort { effort: Some(effort) });
        // The model first: whether it thinks is asked of the one that will.
        model.cloned().map(set_model).into_iter().chain(effort).chain(policy).collect()
    }

    /// Opens the session and sets it as it was typed.
    ///
    /// # Errors
    /// When it cannot be opened, or not be set so.
    pub(crate) async fn open(&self, hub: &Hub, name: &str, session: &SessionId) -> anyhow::Result<()> {
        let start = Command::Library(LibraryCommand::Open { session: session.clone() });
        let mut ui = hub.attach(name, Standing::Controller, Answers::NONE, Some(start)).await?;
        let told = |refusal: domain::command::Refusal| match refusal.hint {
            Some(hint) => anyhow::anyhow!("{}; {hint}", refusal.message),
            None => anyhow::anyhow!("{}", refusal.message),
        };
        let mut state = State::new();
        if let Some(News::Attached { replay, .. }) = ui.begun().await.map_err(told)? {
            for (at, body) in replay {
                // A state that cannot be read is as if nothing had been chosen: all that was typed is said.
                let _ = state.apply(at, &body);
            }
        }
        for (number, command) in (1..).zip(self.commands(&state)) {
            let (ticket, target) = (Ticket(number), Target::Session(session.clone()));
            ui.port.command(ticket, target, Command::Session(command)).await?;
            while let Some(news) = ui.news.recv().await {
                match news {
                    News::Settled { ticket: settled, with } if settled == ticket => {
                        with.map_err(told)?;
                        break;
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        *self == TypedOptions::default()
    }

    /// The same for what a UI starts with, where that is a session to go on with and something was typed for it. A session that cannot
    /// be opened is told by whoever starts.
    pub(super) async fn begin(&self, hub: &Hub, start: Option<&Command>) -> anyhow::Result<()> {
        match start {
            Some(Command::Library(LibraryCommand::Open { session })) if !self.is_empty() => {
                self.open(hub, "command line", session).await
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::event::{Body, SessionEvent};
    use domain::ids::Millis;
    use domain::session::Policy;

    fn model(name: &str) -> ModelRef {
        ModelRef { provider: "p".to_owned(), name: name.to_owned() }
    }

    fn typed_mode(policy: Policy) -> Ground {
        let launch = Launch { policy: Some(policy), ..Launch::default() };
        Ground::of(&launch, &engine::Config::default(), crate::mode::Folder::Project)
    }

    #[test]
    fn what_was_typed_and_is_otherwise_is_set_and_nothing_else() {
        let mut state = State::new();
        for event in [
            SessionEvent::Opened { cwd: "/w".into(), project: "/w".into(), parent: None },
            SessionEvent::PolicyChosen { policy: Policy::Full },
        ] {
            state.apply(Millis(1), &Body::Session(event)).unwrap();
        }
        assert!(TypedOptions::default().commands(&state).is_empty());
        let typed = TypedOptions {
            mode: Some(typed_mode(Policy::ReadOnly)),
            effort: Some(Effort::High),
            model: Some(model("b")),
        };
        let mode = SessionCommand::SetPolicy { policy: Policy::ReadOnly };
        let effort = SessionCommand::SetEffort { effort: Some(Effort::High) };
        assert_eq!(typed.commands(&state), [effort.clone(), mode.clone()], "no model was chosen there");
        state.apply(Millis(1), &Body::Session(SessionEvent::ModelChosen { model: model("a") })).unwrap();
        let other = SessionCommand::SetModel { provider: Some("p".to_owned()), name: "b".to_owned() };
        assert_eq!(typed.commands(&state), [other, effort, mode]);
        let same =
            TypedOptions { mode: Some(typed_mode(Policy::Full)), effort: None, model: Some(model("a")) };
        assert!(same.commands(&state).is_empty());
    }
}
