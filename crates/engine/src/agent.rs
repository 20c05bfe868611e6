//! The agent's own task: takes orders, begins turns, routes answers and cancels, answers what it is consulted about.

use crate::budget::{self, Spent, Tally};
use crate::cache_meter::CacheMeter;
use crate::config::WorkDir;
use crate::editor::{Editor, OpenFiles};
use crate::grants::{Changes, Grants};
use crate::mcp::{Servers, Site};
use crate::offered::{OpenCalls, Performed};
use crate::outside_turn::{Consultation, MAX_TYPED, ShellContext};
use crate::port::{Port, Reported, Unwritten};
use crate::ports;
use crate::seat::{OpenAsks, Seat, Steered};
use crate::setup::Setup;
use crate::turn::{Denials, MAX_AT_ONCE, Repeats, StepBill, ToldHooks, Turn};
use domain::command::{Command, PORTS, RunCommand};
use domain::event::Failure;
use domain::ids::SessionId;
use domain::path_text;
use domain::port::menu::AgentMenu;
use domain::port::{Grounds, Order, Report, TurnBrief, TurnEnd};
use domain::session::Policy;
use domain::signal::Level;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tools::ToolContext;
use tools::checkpoint::Ledger;
use tools::policy::Rules;

/// Orders that may wait for the agent.
pub const ORDERS: usize = 256;
/// How long the end of the agent waits for turns that were cancelled; then they are dropped.
const WIND_UP: Duration = Duration::from_secs(3);

/// Performs the runs of all sessions that are its own.
pub struct Agent {
    setup: Setup,
    reports: mpsc::Sender<Reported>,
    seats: BTreeMap<SessionId, Seat>,
    servers: Servers,
    changes: Changes,
    /// Sessions that cannot be written down now, and why.
    failing: BTreeMap<SessionId, String>,
    /// Summaries that are being written outside of runs; one is no use any more once the conversation goes on.
    compacting: BTreeMap<SessionId, CancellationToken>,
    /// Commands in the background of sessions that are closed, until they are over.
    ending: JoinSet<()>,
    turns: JoinSet<()>,
    /// Room for commands of the person's own.
    typed: Arc<Semaphore>,
    /// Where servers are that UIs brought along.
    given: BTreeMap<SessionId, Site>,
    /// What the person was told of hooks, and UIs of commands.
    told_hooks: ToldHooks,
    told_menu: Arc<Mutex<AgentMenu>>,
    /// Answers to what we are consulted about. Nobody waits for them at the end.
    answers: JoinSet<()>,
}

impl Agent {
    /// An agent that reports to `reports`.
    pub fn new(mut setup: Setup, reports: mpsc::Sender<Reported>) -> Agent {
        setup.config.fit(&mut setup.toolbox);
        let told_menu = Arc::new(Mutex::new(setup.menu.clone()));
        let servers = Servers::new(setup.config.clone(), setup.data.clone(), setup.guard.clone());
        Agent {
            setup,
            reports,
            seats: BTreeMap::new(),
            servers,
            changes: Changes::default(),
            failing: BTreeMap::new(),
            compacting: BTreeMap::new(),
            ending: JoinSet::new(),
            turns: JoinSet::new(),
            typed: Arc::new(Semaphore::new(MAX_TYPED)),
            given: BTreeMap::new(),
            told_hooks: ToldHooks::default(),
            told_menu,
            answers: JoinSet::new(),
        }
    }

    /// Takes orders until there are no more; then stops whatever still runs and waits for it.
    pub async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        while let Some(order) = orders.recv().await {
            self.order(order).await;
        }
        for seat in self.seats.values() {
            if let Some((_, cancel)) = &seat.under_way {
                cancel.cancel();
            }
        }
        for stop in self.compacting.values() {
            stop.cancel();
        }
        self.answers.abort_all();
        // What they did to files that steer programs is put back before we go: nobody else would do it.
        for (_, seat) in std::mem::take(&mut self.seats) {
            self.ending.spawn(async move { seat.place.jobs().end().await });
        }
        let ended = async { while self.ending.join_next().await.is_some() {} };
        let turns = async { while self.turns.join_next().await.is_some() {} };
        tokio::join!(ended, tokio::time::timeout(WIND_UP, turns), self.servers.stop()).1.ok();
    }

    async fn order(&mut self, order: Order) {
        match order {
            Order::Turn(brief) => {
                self.stop_compacting(&brief.session);
                self.begin(*brief).await;
            }
            Order::Cancel { session, run } => {
                if let Some((under_way, cancel)) =
                    self.seats.get(&session).and_then(|seat| seat.under_way.as_ref())
                    && *under_way == run
                {
                    cancel.cancel();
                }
            }
            Order::AskClosed { session, ask, closing } => {
                if let Some(seat) = self.seats.get(&session) {
                    seat.asked.close(ask, closing);
                }
            }
            Order::SteerWaits { session, waits } => {
                if let Some(seat) = self.seats.get(&session) {
                    seat.steered.set(waits);
                }
            }
            Order::StoreFails { session, why } => {
                if let Some(seat) = self.seats.get(&session) {
                    seat.unwritten.set(why.clone());
                }
                match why {
                    Some(why) => self.failing.insert(session, why),
                    None => self.failing.remove(&session),
                };
            }
            Order::PolicyChanged { session, policy } => {
                if let Some(seat) = self.seats.get(&session) {
                    seat.grants.set_policy(policy);
                }
            }
            Order::Performed { session, tool, failed, result } => {
                if let Some(seat) = self.seats.get(&session) {
                    seat.calls.close(tool, Performed { failed, result });
                }
            }
            Order::FileDone { session, id, with } => {
                if let Some(seat) = self.seats.get(&session) {
                    seat.files.close(id, with);
                }
            }
            Order::OffersGone { session } => {
                if let Some(seat) = self.seats.get(&session) {
                    seat.calls.gone();
                }
            }
            Order::Consult { ticket, session, command, grounds } => {
                let shell_context = matches!(command, Command::Shell(_) | Command::Files(_))
                    .then(|| self.shell_context(&session, &grounds));
                // On a task of its own: a slow list of models must not hold up a cancel.
                let (reports, stop) = (self.reports.clone(), CancellationToken::new());
                if matches!(command, Command::Run(RunCommand::Compact { .. })) {
                    self.stop_compacting(&session);
                    self.compacting.insert(session.clone(), stop.clone());
                }
                if matches!(&command, Command::Extension { name, .. } if name == PORTS) {
                    // Ports are allowed beforehand too.
                    let work_dir = self.setup.config.work_dir(&grounds.project, &grounds.cwd);
                    let _ = self.seat(&session, &grounds.cwd, grounds.policy, &work_dir);
                }
                let seat = self.seats.get(&session);
                let (grants, cache) =
                    (seat.map(|seat| seat.grants.clone()), seat.map(|seat| seat.cache.clone()));
                let place = seat.map(|seat| seat.place.clone());
                let consulted = Consultation {
                    place,
                    grants,
                    cache,
                    setup: self.setup.clone(),
                    servers: self.servers.clone(),
                    reports: reports.clone(),
                    session,
                    grounds,
                    stop,
                    shell_context,
                };
                forget_ended(&mut self.answers);
                self.answers.spawn(async move {
                    let with = consulted.answer(command).await;
                    let _ = reports.send((Report::Settled { ticket, with }, None)).await;
                });
            }
            Order::Forget { session } => {
                self.stop_compacting(&session);
                self.bring(&session, None);
                forget_ended(&mut self.ending);
                if let Some(seat) = self.seats.remove(&session) {
                    self.ending.spawn(async move { seat.place.jobs().end().await });
                }
                self.failing.remove(&session);
            }
        }
    }

    fn stop_compacting(&mut self, session: &SessionId) {
        if let Some(stop) = self.compacting.remove(session) {
            stop.cancel();
        }
    }

    /// A UI has brought these servers for a session; those that no session has any more end.
    fn bring(&mut self, session: &SessionId, site: Option<Site>) {
        let before = match site {
            Some(site) => self.given.insert(session.clone(), site),
            None => self.given.remove(session),
        };
        if let Some(before) = before.filter(|before| !self.given.values().any(|site| site == before)) {
            self.servers.let_go(&before);
        }
    }

    async fn begin(&mut self, brief: TurnBrief) {
        let (session, run, turn) = (brief.session.clone(), brief.run, brief.turn);
        let work_dir = self.setup.config.work_dir(&brief.project, &brief.cwd);
        let look = self.setup.config.look(&work_dir);
        let seat = match self.seat(&brief.session, &brief.cwd, brief.policy, &work_dir) {
            Ok(seat) => seat,
            Err(why) => {
                let failure = Failure::new("workplace", why)
                    .hint("the working directory of this session must exist; start a new session elsewhere");
                let end = TurnEnd::Failed(failure);
                let _ = self.reports.send((Report::TurnDone { session, run, turn, end }, None)).await;
                return;
            }
        };
        let cancel = match &seat.under_way {
            Some((under_way, cancel)) if *under_way == run => cancel.clone(),
            _ => CancellationToken::new(),
        };
        seat.under_way = Some((run, cancel.clone()));
        seat.grants.set_policy(brief.policy);
        let mut trouble = seat.trouble.take();
        let (asked, steered, calls) = (seat.asked.clone(), seat.steered.clone(), seat.calls.clone());
        calls.begin();
        let (secrets, cache) = (seat.secrets.clone(), seat.cache.clone());
        let server_notes = seat.server_notes.clone();
        let (place, grants) = match moved(&seat.place, brief.ui_context.cwd.as_deref()) {
            Ok(place) => (place, seat.grants.clone()),
            Err(why) => {
                // Said once for each place, not with every turn.
                if seat.unmoved.as_ref() != Some(&why) {
                    trouble = Some(trouble.map_or_else(|| why.clone(), |before| format!("{before}\n{why}")));
                    seat.unmoved = Some(why);
                }
                (seat.place.clone(), seat.grants.clone())
            }
        };
        // Before the turn begins: its asks may be answered with the very next order.
        let open = brief.resume.iter().flat_map(|resume| &resume.consents);
        let waits = open.map(|consent| (consent.ask, asked.wait_for(consent.ask))).collect();
        let (unwritten, files) = (seat.unwritten.clone(), seat.files.clone());
        let (ledger, unkept_told) = (seat.ledger.clone(), seat.unkept_told.clone());
        let port = Port { session: session.clone(), run, reports: self.reports.clone(), unwritten };
        let site = Site::new(place.root(), place.workdir()).with(&brief.given_servers);
        self.bring(&session, Some(site).filter(|_| !brief.given_servers.is_empty()));
        let place = place.with_buffers(Editor::of_turn(&port, &files, brief.ui_files));
        if let Some(text) = trouble {
            port.notify(Level::Warning, text).await;
        }
        let doing = Turn {
            models: self.setup.models.clone(),
            toolbox: self.setup.toolbox.clone(),
            place,
            grants,
            asked,
            calls,
            ledger,
            unkept: Arc::default(),
            unkept_told,
            steered,
            secrets,
            cache,
            asking: None,
            cancel,
            port: port.clone(),
            compact_at: self.setup.config.compact_at,
            fallback: self.setup.config.fallback.clone(),
            denials: Denials::default(),
            repeats: Repeats::default(),
            budget: budget::of_turn(
                brief.budget.or(self.setup.config.budget),
                brief.attended && !self.setup.config.is_headless,
            ),
            servers: self.servers.clone(),
            server_notes,
            is_headless: self.setup.config.is_headless,
            servers_within: self.setup.config.servers_within,
            answer_schema: self.setup.config.answer_schema.clone(),
            look,
            data: self.setup.data.clone(),
            tally: Arc::new(Tally::from(Spent {
                cost_micros: brief.used.cost_micros,
                steps: brief.steps as u64,
                time: brief.resume.as_ref().map_or(Duration::ZERO, |resume| resume.took),
            })),
            step_bill: StepBill::default(),
            changing: Arc::default(),
            sub_agents_room: Arc::new(Semaphore::new(MAX_AT_ONCE)),
            sub_agents: Arc::default(),
            sub_agent: None,
            delegation: self.setup.delegation.clone(),
            allow: self.setup.allow.clone(),
            project: None,
            hooks: Vec::new(),
            told_hooks: self.told_hooks.clone(),
            told_menu: self.told_menu.clone(),
            keeps_transcripts: self.setup.config.keeps_outputs,
            brief,
        };
        forget_ended(&mut self.turns);
        self.turns.spawn(async move {
            // On a task of its own, so that a defect ends the turn and is told.
            let mut apart = JoinSet::new();
            apart.spawn(doing.run(waits));
            let end = match apart.join_next().await {
                Some(Ok(end)) => end,
                Some(Err(_)) | None => TurnEnd::Failed(
                    Failure::new("internal", "The agent broke down in this turn.")
                        .hint("say it again; please report it if that happens more than once"),
                ),
            };
            let _ = port.reports.send((Report::TurnDone { session, run, turn, end }, None)).await;
        });
    }

    /// What a command line of the person's own is run with.
    fn shell_context(&mut self, session: &SessionId, grounds: &Grounds) -> Result<ShellContext, String> {
        let work_dir = self.setup.config.work_dir(&grounds.project, &grounds.cwd);
        let room = self.typed.clone();
        let seat = self.seat(session, &grounds.cwd, grounds.policy, &work_dir)?;
        seat.grants.set_policy(grounds.policy);
        let (place, grants, asked) = (seat.place.clone(), seat.grants.clone(), seat.asked.clone());
        Ok(ShellContext { place, grants, asked, room, ledger: seat.ledger.clone() })
    }

    fn seat(
        &mut self,
        session: &SessionId,
        cwd: &str,
        policy: Policy,
        work_dir: &WorkDir,
    ) -> Result<&mut Seat, String> {
        let fits = self.seats.get(session).is_some_and(|seat| seat.cwd == cwd);
        if !fits {
            let outputs = self.setup.data.join("outputs").join(session.as_str());
            let place = match &work_dir.workspace {
                Ok(root) => ToolContext::new(root, &outputs).and_then(|place| place.at(&work_dir.cwd)),
                Err(_) => ToolContext::without_workspace(&work_dir.cwd, &outputs),
            };
            let mut place = place.map_err(|why| why.to_string())?;
            if let Some(guard) = &self.setup.guard {
                place = place.guarded(guard.clone());
            }
            let secrets = self.seats.get(session).map(|seat| seat.secrets.clone()).unwrap_or_default();
            place = place.discreet(secrets.values());
            let data = &self.setup.data;
            let (rules, trouble) = match &work_dir.workspace {
                Ok(root) => match Rules::load(data, root) {
                    Ok(rules) => (rules, None),
                    Err(why) => (Rules::none(data, root), Some(why.to_string())),
                },
                // Rules are for a project.
                Err(why) => (Rules::none(data, place.workdir()), Some(why.words())),
            };
            let vault = self.setup.vault.clone();
            let ledger = vault.map(|vault| Ledger::new(session.as_str(), &place, vault));
            let unwritten = Unwritten::default();
            unwritten.set(self.failing.get(session).cloned());
            let seat = Seat {
                cwd: cwd.to_owned(),
                unwritten,
                asked: OpenAsks::default(),
                calls: OpenCalls::default(),
                files: OpenFiles::default(),
                steered: Steered::default(),
                ledger,
                unkept_told: Arc::default(),
                place,
                grants: Grants::new(policy, rules.with(&self.setup.allow), self.changes.clone())
                    .keeping(self.setup.config.keeps_questions)
                    .with_data(&self.setup.data),
                secrets,
                cache: CacheMeter::default(),
                server_notes: crate::mcp::ServerNotes::default(),
                trouble,
                unmoved: None,
                under_way: None,
            };
            if let Some(net) = seat.place.net() {
                forget_ended(&mut self.answers);
                self.answers.spawn(ports::watch(net.watch(), session.clone(), self.reports.clone()));
            }
            self.seats.insert(session.clone(), seat);
        }
        self.seats.get_mut(session).ok_or_else(|| "the session is gone".to_owned())
    }
}

/// A set keeps what tasks leave behind until it is looked at.
fn forget_ended(tasks: &mut JoinSet<()>) {
    while tasks.try_join_next().is_some() {}
}

/// The place of the tools where the person's terminal stands now, as long as that is in the workspace: nothing leads out of it.
///
/// # Errors
/// Why they stay where they are.
fn moved(place: &ToolContext, cwd: Option<&str>) -> Result<ToolContext, String> {
    let Some(cwd) = cwd.map(path_text::read).filter(|cwd| cwd.is_absolute()) else {
        return Ok(place.clone());
    };
    let stays = |why: &str| {
        let (there, here) = (path_text::write(&cwd), path_text::write(place.workdir()));
        format!("Tools stay in {here}: {there} {why}.")
    };
    // A folder that is not here is one of another machine.
    let Some(real) = cwd.canonicalize().ok().filter(|real| real != place.workdir()) else {
        return Ok(place.clone());
    };
    if !place.root().is_some_and(|root| real.starts_with(root)) {
        return Err(stays("lies outside the project"));
    }
    place.at(&real).map_err(|error| stays(&format!("cannot be used ({error})")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_follow_the_terminal_inside_the_workspace_and_stay_outside_of_it() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let sub = inside.path().join("sub");
        std::fs::create_dir(&sub).unwrap();
        std::os::unix::fs::symlink(outside.path(), inside.path().join("out")).unwrap();
        let place = ToolContext::new(inside.path(), &outside.path().join("outputs")).unwrap();
        let at = |cwd: &std::path::Path| moved(&place, Some(&path_text::write(cwd)));
        assert_eq!(at(&sub).unwrap().workdir(), sub.canonicalize().unwrap());
        for cwd in [outside.path().to_owned(), inside.path().join("out")] {
            assert!(at(&cwd).unwrap_err().contains("outside the project"), "{}", cwd.display());
        }
        for cwd in [None, Some("sub"), Some("/nowhere/at/all")] {
            assert_eq!(moved(&place, cwd).unwrap().workdir(), place.workdir(), "{cwd:?}");
        }
    }
}
