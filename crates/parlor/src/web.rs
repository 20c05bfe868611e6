//! `parlor web`: the page in a browser, from the server in the background where one runs, else from one of this process. The person is
//! asked here about each browser.

mod confirm;

use crate::agent_list;
use crate::browser;
use crate::exit::Exit;
use crate::flags;
use crate::output;
use anyhow::Context;
use clap::Args;
use confirm::{Keys, Typed};
use domain::harmless::quoted;
use host::control::{Asking, Control, Paired, said};
use host::page::{self, Served, Serving, StartFolder, Ways};
use host::rooms;
use host::stop::Stops;
use std::convert::Infallible;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::task::JoinSet;
use web::{Role, Server};

/// The page in a browser.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  parlor web\n  parlor web --role observer --no-open\n  parlor web --tls cert.pem key.pem --bind 0.0.0.0 --host desk.lan\n  parlor web --behind-proxy --host parlor.example.org --port 8322"
)]
pub(crate) struct Web {
    /// Only print the address.
    #[arg(long)]
    no_open: bool,
    /// The port. Without it: the one of last time, else a free one.
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// The address to listen on. Others than loopback need --tls or --behind-proxy.
    #[arg(long, value_name = "ADDRESS", default_value_t = page::USUAL_BIND)]
    bind: IpAddr,
    /// A name that browsers reach this server by, with its port where that is another one. Repeatable.
    #[arg(long, value_name = "NAME", value_parser = page::host_name)]
    host: Vec<String>,
    /// Encrypt with this certificate and its key, both as PEM files.
    #[arg(long, num_args = 2, value_names = ["CERT", "KEY"], conflicts_with = "behind_proxy")]
    tls: Vec<PathBuf>,
    /// Your own proxy in front of this server encrypts; name it with --host.
    #[arg(long, requires = "host")]
    behind_proxy: bool,
    /// What the browser that opens the address may do.
    #[arg(long, default_value_t, value_name = "ROLE", value_parser = flags::role())]
    role: Role,
}

impl Web {
    /// Whether nothing is wanted that the page of the server in the background does not have.
    fn is_usual(&self) -> bool {
        let Web { no_open: _, port, bind, host, tls, behind_proxy, role: _ } = self;
        port.is_none() && *bind == page::USUAL_BIND && host.is_empty() && tls.is_empty() && !behind_proxy
    }

    fn serving(&self) -> Serving {
        let tls = match self.tls.as_slice() {
            [certificate, key] => Some((certificate.clone(), key.clone())),
            _ => None,
        };
        let (hosts, behind_proxy) = (self.host.clone(), self.behind_proxy);
        Serving { port: self.port, bind: self.bind, hosts, tls, behind_proxy }
    }
}

/// Says what is to be known of the page that is served.
pub(crate) fn warn(warning: &str) {
    output::print_error(&format!("warning: {warning}"));
}

/// Opens the page of the server in the background, or serves it until told to stop.
pub(crate) async fn web(asked: Web) -> anyhow::Result<Exit> {
    let role = asked.role;
    let mut stops = Stops::listen();
    if let Some(server) = Control::here().await? {
        if asked.is_usual() {
            return tokio::select! {
                _ = stops.next() => Ok(Exit::Done),
                paired = pair_elsewhere(server, role, !asked.no_open) => paired,
            };
        }
        output::print_error("the page of `parlor up` has none of these options: this is a separate one");
    }
    let ways = Arc::new(Ways::to(
        rooms::Rooms::new(rooms::IDLE)?.offering(agent_list::agreed),
        StartFolder::default(),
    )?);
    let Served { server, warning } = page::start(&asked.serving(), ways, output::stderr_log()).await?;
    warning.into_iter().for_each(|warning| warn(&warning));
    output::print_error(&format!("the page is served at {}; Ctrl-C ends it, sessions go on", server.page()));
    let exit = tokio::select! {
        _ = stops.next() => Ok(Exit::Done),
        failed = pair_here(&server, role, !asked.no_open) => failed.map(|never| match never {}),
    };
    server.say_goodbye().await;
    exit
}

/// Offers the page of this process to browsers, one after the other, and takes the person's word about each.
async fn pair_here(server: &Server<Ways>, role: Role, opens: bool) -> anyhow::Result<Infallible> {
    let mut keys = Keys::take();
    let mut pairing = server.pairing();
    let mut opening = JoinSet::new();
    invite(&page::offer(server, role)?.address, role, opens, &mut opening);
    if keys.is_terminal() {
        output::print_error("press Enter to pair another browser");
    }
    loop {
        let asked_about = pairing.borrow_and_update().clone();
        match asked_about {
            None => tokio::select! {
                changed = pairing.changed() => changed.context("the page is served no more")?,
                typed = keys.next() => {
                    if typed == Typed::Enter {
                        invite(&page::offer(server, role)?.address, role, false, &mut opening);
                    }
                }
            },
            Some(asked) => {
                let asking = Asking { name: asked.name, role: asked.role.to_string(), code: asked.code };
                tokio::select! {
                    changed = pairing.changed() => {
                        changed.context("the page is served no more")?;
                        output::print_error("that browser is no longer asked about");
                    }
                    allow = confirm::ask(&mut keys, &asking) => {
                        let done = server.answer_pairing(asked.id, allow);
                        pairing.borrow_and_update();
                        output::print_error(said(allow, done));
                    }
                }
            }
        }
    }
}

/// The same with the server in the background, until one browser is paired or the offer is over.
async fn pair_elsewhere(mut server: Control, role: Role, opens: bool) -> anyhow::Result<Exit> {
    let mut keys = Keys::take();
    let mut opening = JoinSet::new();
    let (address, warning) = server.web(role).await?;
    warning.into_iter().for_each(|warning| warn(&warning));
    invite(&address, role, opens, &mut opening);
    loop {
        match server.pairing().await? {
            Paired::Asked { id, asking } => {
                let allow = tokio::select! {
                    allow = confirm::ask(&mut keys, &asking) => allow,
                    over = server.over(id) => {
                        over?;
                        continue;
                    }
                };
                let done = server.pair(id, allow).await?;
                output::print_error(said(allow, done));
            }
            Paired::Joined { name, id } => {
                let name = quoted(&name);
                output::print_error(&format!("{name} was paired; `parlor devices revoke {id}` revokes it"));
                return Ok(Exit::Done);
            }
            Paired::Over => {
                output::print_error("no browser was paired; run `parlor web` again to try once more");
                return Ok(Exit::Failed);
            }
        }
    }
}

/// Tells the person the address, and opens it where that is wanted and can be done.
fn invite(address: &str, role: Role, opens: bool, opening: &mut JoinSet<()>) {
    output::print_line(address);
    let seconds = web::OFFER_GOOD_FOR.as_secs();
    output::print_error(&format!(
        "a browser that opens the address above within {seconds} seconds can be paired as {role}; you are asked first"
    ));
    if opens && browser::is_here() {
        let address = address.to_owned();
        opening.spawn(async move { browser::open(&address).await });
    }
}
