//! MCP servers in a turn: started, waited for, and what the person is told and asked about them.

use super::Turn;
use crate::mcp::{Project, Site, Starting};
use domain::ask::{Answer, Ask, AskKind, Closing};
use domain::event::{AskEvent, Body};
use domain::ids::AskId;
use domain::signal::Level;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// How long the first turn waits for servers that are just starting: a slow one joins in a later step.
const FIRST_WAIT: Duration = Duration::from_millis(1_500);

/// The codes of notices about servers in runs that nobody watches. Scripts read them.
const WAITING: &str = "mcp_waiting";
const READY: &str = "mcp_ready";
const MISSING: &str = "mcp_missing";

impl Turn {
    fn site(&self) -> Site {
        Site::new(self.place.root(), self.place.workdir()).with(&self.brief.given_servers)
    }

    /// Starts the project's servers, if they do not run, and waits for those that no turn has waited for yet.
    pub(super) async fn start_servers(&self) -> Option<Arc<Project>> {
        let (servers, ground) = (self.servers.clone(), self.site());
        let project = tokio::task::spawn_blocking(move || servers.project(&ground)).await.ok()?;
        let project = self.ask_about_servers(project).await;
        project.start();
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => {}
            () = self.wait_for(project.starting()) => {}
        }
        for trouble in project.unusable().into_iter().chain(project.troubles()) {
            if self.waits_for_servers {
                let text = format!("{trouble}. This run goes on without its tools");
                self.notice(self.brief.leaf, MISSING, text).await;
            } else {
                self.port.notify(Level::Warning, trouble).await;
            }
        }
        Some(project)
    }

    async fn wait_for(&self, mut starting: Starting) {
        let began = Instant::now();
        let all = async { while starting.next().await.is_some() {} };
        let first = if self.waits_for_servers { FIRST_WAIT.min(self.servers_within) } else { FIRST_WAIT };
        if timeout(first, all).await.is_err() && self.waits_for_servers {
            self.wait_on(&mut starting, began + self.servers_within).await;
        }
        starting.were_waited_for();
    }

    /// Waits on for servers that take their time, and says so.
    async fn wait_on(&self, starting: &mut Starting, until: Instant) {
        let leaf = self.brief.leaf;
        let words = format!("waiting for {} to start…", named(&starting.names()));
        self.note(Level::Info, leaf, WAITING, words).await;
        loop {
            match timeout_at(until, starting.next()).await {
                Ok(Some(server)) => {
                    // One that failed is told with what to do about it.
                    if let Some(tools) = server.tools {
                        let many = if tools == 1 { "" } else { "s" };
                        let text = format!("MCP server {} is ready, with {tools} tool{many}", server.name);
                        self.note(Level::Info, leaf, READY, text).await;
                    }
                }
                Ok(None) => return,
                Err(_) => {
                    let (names, most) = (starting.names(), self.servers_within.as_secs());
                    let tests: Vec<String> =
                        names.iter().map(|name| format!("`parlor mcp test {name}`")).collect();
                    let text = format!(
                        "{} did not start within {most} seconds. This run goes on without those tools, until they are there; {} tells more",
                        named(&names),
                        tests.join(", ")
                    );
                    return self.notice(leaf, MISSING, text).await;
                }
            }
        }
    }

    /// A project brought servers that nobody agreed to yet: asks, and the run waits for the answer before anything else. Asked later, it
    /// would come while the next prompt is typed, and some UIs take that for the answer. Gives the project as it stands then.
    async fn ask_about_servers(&self, project: Arc<Project>) -> Arc<Project> {
        let waiting = project.unasked();
        if waiting.is_empty() {
            return project;
        }
        let lines = waiting.iter().map(|one| format!("{}: {}", one.entry.name, one.entry.words()));
        let what = lines.collect::<Vec<_>>().join("\n");
        let not_yet = format!(
            "MCP servers of this project do not run until you agree with `parlor mcp approve`:\n{what}"
        );
        if self.waits_for_servers {
            self.notice(self.brief.leaf, MISSING, not_yet).await;
            return project;
        }
        let id = AskId::mint(&self.brief.ids);
        let closing = self.asked.wait_for(id);
        let kind = AskKind::Confirm {
            message: format!("{what}\nThey run with your rights inside the sandbox and may use the network."),
            yes: Some("Start them".to_owned()),
            no: Some("Not now".to_owned()),
            danger: true,
        };
        let title = "This project brings MCP servers".to_owned();
        let run = Some(self.brief.run);
        self.port.emit(Body::Ask(AskEvent::Opened(Ask { id, run, title, kind, deadline: None }))).await;
        let closing = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return project,
            closing = closing => closing,
        };
        match closing {
            Ok(Closing::Answered { answer: Answer::Confirmed(true), .. }) => {
                let (servers, asked) = (self.servers.clone(), project.clone());
                let agree = move || asked.approve(&waiting).map(|()| servers.project(asked.site()));
                match tokio::task::spawn_blocking(agree).await {
                    Ok(Ok(approved)) => return approved,
                    Ok(Err(why)) => {
                        self.port.notify(Level::Error, format!("This could not be kept: {why}")).await;
                    }
                    Err(_) => {}
                }
            }
            Ok(Closing::Unattended | Closing::Expired) => self.port.notify(Level::Info, not_yet).await,
            Ok(Closing::Answered { .. } | Closing::Withdrawn) | Err(_) => {}
        }
        project
    }
}

/// `MCP server a`, `MCP servers a, b`.
fn named(names: &[&str]) -> String {
    let many = if names.len() == 1 { "" } else { "s" };
    format!("MCP server{many} {}", names.join(", "))
}
