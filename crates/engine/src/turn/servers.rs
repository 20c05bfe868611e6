//! MCP servers in a turn: started, waited for, and what the person is told and asked about them.

use super::Turn;
use crate::mcp::{self, Listed, Logins, Project, Site, Starting};
use domain::ask::{Answer, Ask, AskKind, Closing};
use domain::event::{AskEvent, Body};
use domain::harmless::marked;
use domain::ids::AskId;
use domain::signal::Level;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// How long the first turn waits for servers that are just starting, where the person agreed to them earlier: a slow one joins in a later
/// step.
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
        let (servers, work_dir) = (self.servers.clone(), self.site());
        let project = tokio::task::spawn_blocking(move || servers.project(&work_dir)).await.ok()?;
        let (project, is_agreed) = self.ask_about_servers(project).await;
        project.start(!self.is_headless);
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => {}
            // Who has just agreed to a server wants it in this answer.
            () = self.wait_for(project.starting(), self.is_headless || is_agreed) => {}
        }
        self.tell_troubles(&project).await;
        Some(project)
    }

    /// Tells what is new of servers that cannot be used.
    pub(super) async fn tell_troubles(&self, project: &Project) {
        for trouble in project.unusable().into_iter().chain(project.troubles()) {
            if self.is_headless {
                let text = format!("{trouble}. This run goes on without its tools");
                self.notice(self.brief.leaf, MISSING, text).await;
            } else {
                self.port.notify(Level::Warning, trouble).await;
            }
        }
    }

    async fn wait_for(&self, mut starting: Starting, is_patient: bool) {
        let began = Instant::now();
        let all = async { while starting.next().await.is_some() {} };
        let first = if is_patient { FIRST_WAIT.min(self.servers_within) } else { FIRST_WAIT };
        if timeout(first, all).await.is_err() && is_patient {
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

    /// Servers wait for a word of the person, whether they start and what they may reach: asks, one after the other, and the run waits for
    /// the answers before anything else. Asked later, they would come while the next prompt is typed, and some UIs take that for the
    /// answer. Gives the project as it stands then, and whether any was agreed to.
    async fn ask_about_servers(&self, mut project: Arc<Project>) -> (Arc<Project>, bool) {
        let (open, plain): (Vec<Listed>, Vec<Listed>) =
            project.unasked().into_iter().partition(|listed| project.is_open(listed));
        let new = open.iter().chain(&plain).filter(|listed| !listed.approved);
        let lines = new.map(|one| marked(&format!("{}: {}", one.entry.name, one.entry.words())));
        let what = lines.collect::<Vec<_>>().join("\n");
        let not_yet = (!what.is_empty()).then(|| {
            format!(
                "MCP servers of this project do not run until you agree with `parlor mcp approve`:\n{what}"
            )
        });
        if self.is_headless {
            if let Some(not_yet) = not_yet {
                self.notice(self.brief.leaf, MISSING, not_yet).await;
            }
            return (project, false);
        }
        let (mut unheard, mut is_agreed) = (false, false);
        if !plain.is_empty() {
            match self.ask_about(plain_question(&plain, &Logins::in_data(&self.data))).await {
                PersonReply::Said(Answer::Confirmed(true)) => {
                    is_agreed = true;
                    project = self.keep(project, move |project| project.approve(&plain)).await;
                }
                PersonReply::Nobody => unheard = true,
                PersonReply::Said(_) | PersonReply::Nothing => {}
            }
        }
        for listed in open {
            match self.ask_about(mcp::question(&listed)).await {
                PersonReply::Said(Answer::Chosen(chosen)) => {
                    if let Some(said) = mcp::said(&chosen) {
                        is_agreed = true;
                        project = self.keep(project, move |project| project.let_reach(&listed, &said)).await;
                    }
                }
                PersonReply::Nobody => unheard = true,
                PersonReply::Said(_) | PersonReply::Nothing => {}
            }
        }
        if unheard {
            // Those that were agreed to run on a leash that lets them reach nothing; of the others the person is told.
            project.start(false);
            if let Some(not_yet) = not_yet {
                self.port.notify(Level::Info, not_yet).await;
            }
        }
        (project, is_agreed)
    }

    /// Puts a question of this run; gives what comes of it.
    pub(super) async fn ask_about(&self, (title, kind): (String, AskKind)) -> PersonReply {
        if self.cancel.is_cancelled() {
            return PersonReply::Nothing;
        }
        let id = AskId::mint(&self.brief.ids);
        let closing = self.asked.wait_for(id);
        let ask = Ask { id, run: Some(self.brief.run), title, kind, deadline: None };
        self.port.emit(Body::Ask(AskEvent::Opened(ask))).await;
        let closing = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return PersonReply::Nothing,
            closing = closing => closing,
        };
        match closing {
            Ok(Closing::Answered { answer, .. }) => PersonReply::Said(answer),
            Ok(Closing::Unattended | Closing::Expired) => PersonReply::Nobody,
            Ok(Closing::Withdrawn) | Err(_) => PersonReply::Nothing,
        }
    }

    /// Keeps what was said; gives the project as it stands then.
    async fn keep(
        &self,
        project: Arc<Project>,
        keep: impl FnOnce(&Project) -> std::io::Result<()> + Send + 'static,
    ) -> Arc<Project> {
        let (servers, asked) = (self.servers.clone(), project.clone());
        let kept = move || keep(&asked).map(|()| servers.project(asked.site()));
        match tokio::task::spawn_blocking(kept).await {
            Ok(Ok(fresh)) => return fresh,
            Ok(Err(why)) => self.port.notify(Level::Error, format!("This could not be kept: {why}")).await,
            Err(_) => {}
        }
        project
    }
}

/// What came of a question that a run puts before the model is asked.
pub(super) enum PersonReply {
    Said(Answer),
    /// Nobody was there to answer it.
    Nobody,
    /// The run is over, or the question is.
    Nothing,
}

/// The question about servers that no leash holds: those behind a URL, and all where there is no sandbox.
fn plain_question(waiting: &[Listed], logins: &Logins) -> (String, AskKind) {
    let more = |one: &Listed| {
        let sent = if logins.has(&one.entry, one.from_project) { mcp::SENT } else { "" };
        let compared = one.compared.as_ref().map(|words| format!("\n{words}")).unwrap_or_default();
        format!("{sent}{compared}")
    };
    let lines =
        waiting.iter().map(|one| marked(&format!("{}: {}{}", one.entry.name, one.entry.words(), more(one))));
    let what = lines.collect::<Vec<_>>().join("\n");
    let bare = waiting.iter().any(|one| !one.is_behind_a_url());
    let means =
        if bare { "\n\nThere is no sandbox on this machine: they may do whatever you may." } else { "" };
    let kind = AskKind::Confirm {
        message: format!("{what}{means}"),
        yes: Some("Start them".to_owned()),
        no: Some("Not now".to_owned()),
        danger: true,
    };
    ("This project brings MCP servers".to_owned(), kind)
}

/// `MCP server a`, `MCP servers a, b`.
fn named(names: &[&str]) -> String {
    let many = if names.len() == 1 { "" } else { "s" };
    format!("MCP server{many} {}", names.join(", "))
}
