//! The agent's own task: takes orders, begins turns, routes answers and cancels, answers what it is consulted about.

use crate::port::{Port, Reported};
use crate::seat::{Asked, ModelSource, Seat, Steered};
use crate::turn::Turn;
use domain::command::{Command, Receipt, Refusal, RefusalKind};
use domain::ids::SessionId;
use domain::port::{Order, Report, TurnBrief, TurnEnd};
use domain::session::{ModelRef, SkillList, ToolEntry};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tools::policy::Rules;
use tools::sandbox::Guard;
use tools::{Toolbox, Workplace};

/// Orders that may wait for the agent.
pub const ORDERS: usize = 256;

/// What the agent works with.
#[derive(Clone)]
pub struct Setup {
    /// Where models come from.
    pub models: Arc<dyn ModelSource>,
    /// The tools.
    pub toolbox: Toolbox,
    /// The user's data directory: rules and spilled outputs live there.
    pub data: PathBuf,
    /// The program that keeps children in bounds, if there is one.
    pub guard: Option<Guard>,
}

/// Our agent.
pub struct Agent {
    setup: Setup,
    reports: mpsc::Sender<Reported>,
    seats: BTreeMap<SessionId, Seat>,
}

impl Agent {
    /// An agent that reports to `reports`.
    pub fn new(setup: Setup, reports: mpsc::Sender<Reported>) -> Agent {
        Agent { setup, reports, seats: BTreeMap::new() }
    }

    /// Takes orders until there are no more; then stops whatever still runs.
    pub async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        while let Some(order) = orders.recv().await {
            self.order(order).await;
        }
        for seat in self.seats.values() {
            if let Some((_, cancel)) = &seat.under_way {
                cancel.cancel();
            }
        }
    }

    async fn order(&mut self, order: Order) {
        match order {
            Order::Turn(brief) => self.begin(*brief).await,
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
            Order::Consult { ticket, command, .. } => {
                // On a task of its own: a slow list of models must not hold up a cancel.
                let (setup, reports) = (self.setup.clone(), self.reports.clone());
                tokio::spawn(async move {
                    let with = consult(&setup, command).await;
                    let _ = reports.send((Report::Settled { ticket, with }, None)).await;
                });
            }
            Order::Forget { session } => {
                self.seats.remove(&session);
            }
        }
    }

    async fn begin(&mut self, brief: TurnBrief) {
        let (session, run, turn) = (brief.session.clone(), brief.run, brief.turn);
        let seat = match self.seat(&brief) {
            Ok(seat) => seat,
            Err(why) => {
                let failure = domain::event::Failure::new("workplace", why)
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
        let (asked, steered) = (seat.asked.clone(), seat.steered.clone());
        let (place, rules) = (seat.place.clone(), seat.rules.clone());
        let port = Port { session: session.clone(), run, reports: self.reports.clone() };
        let mut toolbox = self.setup.toolbox.clone();
        if let Some(names) = &brief.active_tools {
            toolbox.activate(names);
        }
        let doing = Turn {
            models: self.setup.models.clone(),
            toolbox,
            place,
            rules,
            asked,
            steered,
            cancel,
            port: port.clone(),
            brief,
        };
        tokio::spawn(async move {
            let end = doing.run().await;
            let _ = port.reports.send((Report::TurnDone { session, run, turn, end }, None)).await;
        });
    }

    fn seat(&mut self, brief: &TurnBrief) -> Result<&mut Seat, String> {
        let (cwd, project) = (Path::new(&brief.cwd), Path::new(&brief.project));
        let fits = self.seats.get(&brief.session).is_some_and(|seat| seat.place.workdir() == cwd);
        if !fits {
            let outputs = self.setup.data.join("outputs").join(brief.session.as_str());
            let mut place = Workplace::new(project, &outputs).map_err(|why| why.to_string())?;
            if cwd != project {
                place = place.at(cwd).map_err(|why| why.to_string())?;
            }
            if let Some(guard) = &self.setup.guard {
                place = place.guarded(guard.clone());
            }
            let rules = Rules::load(&self.setup.data, project)
                .unwrap_or_else(|_| Rules::none(&self.setup.data, project));
            let seat = Seat {
                asked: Asked::default(),
                steered: Steered::default(),
                place,
                rules: Arc::new(Mutex::new(rules)),
                under_way: None,
            };
            self.seats.insert(brief.session.clone(), seat);
        }
        self.seats.get_mut(&brief.session).ok_or_else(|| "the session is gone".to_owned())
    }
}

/// What only the agent knows.
async fn consult(setup: &Setup, command: Command) -> Result<Receipt, Refusal> {
    match command {
        Command::ListModels { provider } => {
            let mut models = setup.models.list().await;
            if let Some(provider) = provider {
                models.retain(|entry| entry.model.provider == provider);
                if models.is_empty() {
                    let what = format!("there is no provider {provider} here");
                    return Err(Refusal::new(RefusalKind::ModelUnknown, what));
                }
            }
            let current = setup.models.open(None).ok().map(|model| {
                let name = model.name();
                ModelRef { provider: name.provider.clone(), name: name.name.clone() }
            });
            Ok(Receipt::Models { models, current })
        }
        Command::SetModel { provider, name } => {
            let model = setup.models.find(provider.as_deref(), &name)?;
            setup.models.open(Some(&model))?;
            Ok(Receipt::Model(model))
        }
        Command::ListServers => Ok(Receipt::Servers(Vec::new())),
        Command::ListSkills { .. } => Ok(Receipt::Skills(SkillList::default())),
        Command::ListTools => {
            let entry = |spec: tools::Spec| ToolEntry {
                name: spec.name,
                description: spec.description,
                source: "built-in".to_owned(),
                active: true,
            };
            Ok(Receipt::Tools(setup.toolbox.specs().into_iter().map(entry).collect()))
        }
        Command::SetTools { tools } => {
            let names: Vec<&str> = setup.toolbox.names().collect();
            match tools.iter().flatten().find(|tool| !names.contains(&tool.as_str())) {
                Some(tool) => Err(Refusal::new(RefusalKind::ToolUnknown, format!("there is no tool {tool}"))),
                None => Ok(Receipt::Done),
            }
        }
        Command::Extension { name, .. } => {
            Err(Refusal::new(RefusalKind::ExtensionUnknown, format!("there is no extension command {name}")))
        }
        _ => Err(Refusal::new(RefusalKind::Unsupported, "the agent cannot do this")),
    }
}
