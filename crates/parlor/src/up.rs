//! `parlor up` and `parlor down`: the server in the background, begun and ended.

use crate::agent_list;
use crate::exit::Exit;
use crate::output;
use crate::web;
use anyhow::Context;
use host::control::{Control, Status};
use host::rooms::{self, EndedRooms};
use host::server::{self, By};
use serde_json::json;

/// A server in the background, so that closing a terminal ends nothing.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  parlor up\n  parlor          attaches to it by itself; parlor --here does not\n  parlor down\n\nSee parlor help server."
)]
pub(crate) struct Up {
    /// Stay in this terminal instead of the background.
    #[arg(long, conflicts_with = "systemd")]
    foreground: bool,
    /// Write a user unit for systemd, enable it and start the server by it.
    #[arg(long)]
    systemd: bool,
    /// How long a session process stays that has no UI, no run and no open question, such as 5m.
    #[arg(long, value_name = "TIME", default_value_t = rooms::IDLE.as_secs(), value_parser = crate::flags::seconds)]
    room_idle: u64,
    /// Let clients of the Agent Client Protocol in over a WebSocket, and print its address: on loopback, with a secret path, and only for
    /// programs of yours.
    #[arg(long = dialects::OF_CLIENTS.name())]
    clients: bool,
    /// Print the status as JSON.
    #[arg(long)]
    json: bool,
    /// In the background: leaves the session of whoever started it.
    #[arg(long, hide = true)]
    detached: bool,
}

/// End the server and its rooms.
///
/// Runs that are under way end first and are kept as stopped; every session can be gone on with.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  parlor down")]
pub(crate) struct Down {
    /// Print what was ended as JSON.
    #[arg(long)]
    json: bool,
}

/// `parlor up`.
pub(crate) async fn up(asked: Up) -> anyhow::Result<Exit> {
    if asked.foreground || asked.detached {
        let how = (asked.detached, asked.clients);
        server::serve(asked.room_idle, how, agent_list::agreed, output::stderr_log()).await?;
        return Ok(Exit::Done);
    }
    let by = if asked.systemd { By::Systemd } else { By::Us };
    let (status, started) = server::up(asked.room_idle, by, asked.clients).await?;
    let door = match asked.clients {
        true => Some(Control::here().await?.context("the server went away")?.clients().await?),
        false => None,
    };
    tell(&status, started, asked.json, door.as_ref());
    Ok(Exit::Done)
}

/// `door`: where clients are let in, and what is to be known of that.
fn tell(status: &Status, started: bool, json: bool, door: Option<&(String, Option<String>)>) {
    if json {
        let mut told = status.to_json();
        told["started"] = json!(started);
        if let Some((address, warning)) = door {
            told["clients"] = json!(address);
            warning.iter().for_each(|warning| output::print_error(&format!("warning: {warning}")));
        }
        output::print_line(&told.to_string());
        return;
    }
    let Status { pid, version, rooms, warning, .. } = status;
    let how = if started { "the server runs" } else { "the server runs already" };
    output::print_line(&format!(
        "{how}: process {pid}, parlor {version}, session processes: {}",
        rooms.len()
    ));
    if started {
        output::print_line(
            "`parlor` in any terminal works there now and goes on when it is closed; `parlor down` ends it",
        );
    }
    if let Some((address, warning)) = door {
        output::print_line(&format!(
            "{} clients of this machine: {address}\nwhoever knows that address, and is a program of yours, can do everything here",
            dialects::OF_CLIENTS
        ));
        warning.iter().for_each(|warning| output::print_error(&format!("warning: {warning}")));
    }
    warning.iter().for_each(|warning| web::warn(warning));
}

/// `parlor down`.
pub(crate) async fn down(asked: Down) -> anyhow::Result<Exit> {
    let (server, ended) = server::down().await?;
    if asked.json {
        let EndedRooms { rooms, killed, left } = ended;
        output::print_line(
            &json!({"server": server, "rooms": rooms, "killed": killed, "left": left}).to_string(),
        );
    } else {
        let rooms = match ended.rooms {
            0 => String::new(),
            1 => "; one session process ended with it".to_owned(),
            many => format!("; {many} session processes ended with it"),
        };
        match server {
            Some(pid) => output::print_line(&format!("the server ended (process {pid}){rooms}")),
            None if ended.rooms > 0 => {
                output::print_line(&format!(
                    "no server ran; session processes of one that was killed were ended: {}",
                    ended.rooms
                ));
            }
            None => output::print_line("no server runs"),
        }
    }
    if ended.left > 0 {
        output::print_error(&format!(
            "error: {} session processes did not end; `parlor ps` names them",
            ended.left
        ));
        return Ok(Exit::Failed);
    }
    Ok(Exit::Done)
}
