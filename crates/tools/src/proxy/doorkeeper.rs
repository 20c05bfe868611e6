//! Who may go out of one command, and to where: each host by the rules of the session, else by one question to the person.
//!
//! Invariants: nothing is looked up or connected to before the answer, since a name that is looked up carries data out as well; many
//! connections to one host wait for one question; what was refused stays refused until the command is over.

use super::thinking::Thinking;
use crate::address::Host;
use crate::gate::{Gate, HostSay};
use crate::jobs::{JobReport, Jobs};
use crate::port::Port;
use crate::rule::Allowance;
use domain::ask::{Answer, AskKind, Choice, Closing, Scope};
use domain::harmless::{in_line, marked_command};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Hosts that one command may name which no rule covers: past it nobody is asked any more.
pub(super) const MAX_HOSTS: usize = 32;
/// How long a connection waits for the person; the question stays, and the next connection waits on.
const ANSWER_WITHIN: Duration = Duration::from_secs(300);
/// Refusals that are told to the model.
const MAX_TOLD: usize = 16;
/// Characters of the command line in the title.
const MAX_TITLE: usize = 40;

const DENY: &str = "deny";
const ONCE: &str = "once";
const SESSION: &str = "session";
const ALWAYS: &str = "always";

/// Decides for one command.
#[derive(Debug)]
pub(super) struct Doorkeeper {
    gate: Arc<dyn Gate>,
    /// The hosts to ask about; none where nobody can be asked.
    queue: Option<mpsc::Sender<Host>>,
    book: watch::Sender<HostBook>,
}

/// What was said of hosts in this command, by what the person was shown.
#[derive(Debug, Default)]
struct HostBook {
    standings: BTreeMap<String, HostStanding>,
    refused: Vec<String>,
    /// The command has ended: nobody is asked about another host.
    over: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HostStanding {
    /// It waits for its question, or the question is open.
    Open,
    /// For this command.
    Allowed,
    /// A rule was made of it; from then on the rules say whether it still is.
    Ruled,
    Refused(String),
}

/// What puts a command's questions to the person, one after the other.
#[derive(Debug)]
pub(super) struct Asker {
    keeper: Arc<Doorkeeper>,
    queue: mpsc::Receiver<Host>,
    port: Port,
    line: String,
    jobs: Arc<Jobs>,
    thinking: Thinking,
}

impl Doorkeeper {
    /// One that asks nobody: in the background only rules count.
    pub(super) fn silent(gate: Arc<dyn Gate>) -> Arc<Doorkeeper> {
        Arc::new(Doorkeeper { gate, queue: None, book: watch::Sender::default() })
    }

    /// One with its asker, which somebody must run.
    pub(super) fn asking(
        gate: Arc<dyn Gate>,
        port: Port,
        line: &str,
        jobs: Arc<Jobs>,
        thinking: Thinking,
    ) -> (Arc<Doorkeeper>, Asker) {
        let (sender, queue) = mpsc::channel(MAX_HOSTS);
        let keeper = Arc::new(Doorkeeper { gate, queue: Some(sender), book: watch::Sender::default() });
        let asker =
            Asker { keeper: keeper.clone(), queue, port, line: line.trim().to_owned(), jobs, thinking };
        (keeper, asker)
    }

    /// Whether a connection may go to this host now; the error says why not. Waits for the person where it must.
    pub(super) async fn pass(&self, host: &Host) -> Result<(), String> {
        if host.machine_port().is_none() && !host.looks_public() {
            return Err(self.refuse(own_network(host)));
        }
        match self.gate.says(host) {
            HostSay::Allowed => Ok(()),
            HostSay::Denied(why) => Err(self.refuse(why)),
            HostSay::Asked { .. } => self.asked(host).await,
        }
    }

    async fn asked(&self, host: &Host) -> Result<(), String> {
        let key = host.to_string();
        let Some(queue) = &self.queue else {
            return Err(self.refuse(format!(
                "nobody is asked whether a command in the background may reach {host}: reach it in the foreground first, so that the \
                 person can allow it for longer"
            )));
        };
        let mut book = self.book.subscribe();
        let mut is_new = false;
        self.book.send_if_modified(|book| {
            let known = book.standings.get(&key);
            is_new = matches!(known, None | Some(HostStanding::Ruled));
            let crowded = known.is_none() && book.standings.len() >= MAX_HOSTS;
            if is_new && !crowded {
                book.standings.insert(key.clone(), HostStanding::Open);
            }
            is_new && !crowded
        });
        if is_new
            && (book.borrow().standings.get(&key) != Some(&HostStanding::Open)
                || queue.try_send(host.clone()).is_err())
        {
            return Err(
                self.refuse(format!("one command may ask for {MAX_HOSTS} hosts, and {host} is one more"))
            );
        }
        let said = book.wait_for(|book| book.standings.get(&key) != Some(&HostStanding::Open));
        let said = match tokio::time::timeout(ANSWER_WITHIN, said).await {
            Ok(Ok(book)) => book.standings.get(&key).cloned(),
            _ => None,
        };
        match said {
            Some(HostStanding::Allowed | HostStanding::Ruled) => Ok(()),
            Some(HostStanding::Refused(why)) => Err(why),
            Some(HostStanding::Open) | None => {
                Err(format!("nobody has said yet whether {host} may be reached: try again"))
            }
        }
    }

    /// Notes that something was refused, for the model.
    pub(super) fn refuse(&self, why: String) -> String {
        self.book.send_modify(|book| {
            if !book.refused.contains(&why) && book.refused.len() < MAX_TOLD {
                book.refused.push(why.clone());
            }
        });
        why
    }

    /// What the model is told when the command is over: what was refused, and what the person had not said by then.
    pub(super) fn told(&self) -> Vec<String> {
        let book = self.book.borrow();
        let open = book.standings.iter().filter(|(_, standing)| **standing == HostStanding::Open);
        let open = open.map(|(host, _)| {
            format!("nobody had said whether {host} may be reached when the command ended: call it again")
        });
        book.refused.iter().cloned().chain(open.take(MAX_TOLD)).collect()
    }

    /// The command has ended; gives the hosts of which the person has not said anything.
    pub(super) fn end(&self) -> Vec<String> {
        self.book.send_modify(|book| book.over = true);
        let book = self.book.borrow();
        let open = book.standings.iter().filter(|(_, standing)| **standing == HostStanding::Open);
        open.map(|(host, _)| host.clone()).collect()
    }

    /// Whether a host was allowed in this command, by what the person was shown.
    pub(super) fn has_allowed(&self, host: &str) -> bool {
        let book = self.book.borrow();
        matches!(book.standings.get(host), Some(HostStanding::Allowed | HostStanding::Ruled))
    }

    fn note(&self, host: &Host, standing: HostStanding) {
        if let HostStanding::Refused(why) = &standing {
            self.refuse(why.clone());
        }
        self.book.send_modify(|book| {
            book.standings.insert(host.to_string(), standing);
        });
    }
}

impl Asker {
    /// Asks until the command is over.
    pub(super) async fn run(mut self) {
        while let Some(host) = self.queue.recv().await {
            if self.keeper.book.borrow().over {
                return;
            }
            // Until what was said is noted.
            let mut pause = None;
            // What was said meanwhile, to another question or in another session, may cover it.
            let standing = match self.keeper.gate.says(&host) {
                HostSay::Allowed => HostStanding::Ruled,
                HostSay::Denied(why) => HostStanding::Refused(why),
                HostSay::Asked { rule } => {
                    pause = Some(self.thinking.begin());
                    self.ask(&host, rule.as_deref()).await
                }
            };
            self.keeper.note(&host, standing);
            drop(pause);
        }
    }

    async fn ask(&self, host: &Host, rule: Option<&str>) -> HostStanding {
        let beside = self.beside(host);
        let jobs: String = beside.iter().map(|job| format!(" or job-{}", job.id)).collect();
        let title = format!("`{}`{jobs} wants to reach {host}", titled(&self.line));
        let closing = self.port.ask(&title, question(&self.line, &beside, host, rule)).await;
        let Some(Closing::Answered { answer, .. }) = closing else {
            return HostStanding::Refused(format!(
                "nobody could be asked whether commands may reach {host}. Whoever started this can allow it with --allow {}",
                Allowance::Host(host.to_string())
            ));
        };
        let scope = match &answer {
            Answer::Chosen(ids) => match ids.iter().map(String::as_str).next() {
                Some(ONCE) => Scope::Once,
                Some(SESSION) if rule.is_some() => Scope::Session,
                Some(ALWAYS) if rule.is_some() => Scope::Always,
                _ => return denied(host),
            },
            _ => return denied(host),
        };
        self.keeper.gate.remember(scope, host);
        match self.keeper.gate.says(host) {
            HostSay::Allowed => HostStanding::Ruled,
            // Once, or the rule could not be kept.
            HostSay::Asked { .. } => HostStanding::Allowed,
            HostSay::Denied(why) => HostStanding::Refused(why),
        }
    }
}

impl Asker {
    /// What runs in the background and may be who connects: to a port of this machine all commands of the session come by the same way.
    fn beside(&self, host: &Host) -> Vec<JobReport> {
        let is_shared = host.machine_port().is_some();
        self.jobs.list().into_iter().filter(|job| is_shared && job.over_for.is_none()).collect()
    }
}

fn denied(host: &Host) -> HostStanding {
    HostStanding::Refused(format!("the person did not allow {host}: go on without it"))
}

/// Why what is one's own is not reached this way, and what to do.
pub(super) fn own_network(host: &Host) -> String {
    if is_loopback(host.name()) {
        return format!("{host}: this is the session's own network: call 127.0.0.1 without the proxy");
    }
    format!(
        "{host} is on this machine or its own network, which commands do not reach by name: if it must be, call it with `network` and a \
         `reason`"
    )
}

/// Whether a host is named that a command has in the network of its session.
fn is_loopback(name: &str) -> bool {
    match name.parse::<IpAddr>() {
        Ok(address) => {
            let address = address.to_canonical();
            address.is_loopback() || address.is_unspecified()
        }
        Err(_) => name == "localhost" || name.ends_with(".localhost"),
    }
}

fn question(line: &str, jobs: &[JobReport], host: &Host, rule: Option<&str>) -> AskKind {
    let choice = |id: &str, label: &str, detail: Option<&str>| Choice {
        id: id.to_owned(),
        label: label.to_owned(),
        detail: detail.map(str::to_owned),
    };
    let (what, beside) = match host.machine_port() {
        None => ("What it can read it can send there; what is encrypted is not looked into.", None),
        Some(_) => (
            "What listens there believes it is a program of yours.",
            Some("and for commands that run beside it"),
        ),
    };
    // Who answers in a hurry has said no.
    let mut choices = vec![
        choice(DENY, "No", Some("the command goes on without it")),
        choice(ONCE, "For this command", beside),
    ];
    if let Some(rule) = rule {
        choices.push(choice(SESSION, "Until this session closes", Some(rule)));
        choices.push(choice(ALWAYS, "Always in this project", Some(rule)));
    }
    let job =
        |job: &JobReport| format!("\n\njob-{}, in the background:\n{}", job.id, marked_command(&job.line));
    let jobs: String = jobs.iter().map(job).collect();
    // The whole command, since what is left out may be what matters.
    let message = format!("Let the command reach {host}?\n\n{}{jobs}\n\n{what}", marked_command(line));
    AskKind::Choose { message, choices, many: false }
}

/// The command's beginning, in one line and in quotes that it cannot close.
fn titled(line: &str) -> String {
    let line = in_line(line).replace('`', "'");
    let mut short: String = line.chars().take(MAX_TITLE).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}
