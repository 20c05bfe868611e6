//! `parlor devices`: lists and changes the browsers that may connect to the page.

use crate::exit::Exit;
use crate::output;
use crate::paint;
use clap::{Args, Subcommand};
use host::devices::File;
use host::{clock, paths};
use serde_json::{Value, json};
use web::{Devices, Role, Shelf};

/// The devices that may connect to the page.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor devices list\n  parlor devices rename 3f2a phone\n  parlor devices role phone observer\n  parlor devices revoke phone\n\nSee parlor help web.md."
)]
pub(crate) struct DevicesArgs {
    #[command(subcommand)]
    what: Option<DevicesCommand>,
    /// Print them as JSON.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum DevicesCommand {
    /// List them (also without a word).
    List,
    /// Revoke a device; what it has open ends at once.
    Revoke {
        /// Its id, the beginning of that, or its name.
        device: String,
    },
    /// Rename a device: what is shown of it here and on its own page.
    Rename {
        /// Its id, the beginning of that, or its name.
        device: String,
        /// Its new name.
        name: String,
    },
    /// Say what a device may do.
    Role {
        /// Its id, the beginning of that, or its name.
        device: String,
        /// What it may do from now on.
        #[arg(value_parser = crate::flags::role())]
        role: Role,
    },
}

/// Lists or changes them.
pub(crate) fn devices(asked: &DevicesArgs) -> anyhow::Result<Exit> {
    let file = File::new(&paths::data()?, output::stderr_log());
    let told = match &asked.what {
        None | Some(DevicesCommand::List) => return Ok(list(&file, asked.json)),
        Some(DevicesCommand::Revoke { device }) => {
            let device = file.alter(device, |devices, id| devices.revoke(id, clock::now().0))?;
            format!("revoked: {} ({})", device.name, device.id)
        }
        Some(DevicesCommand::Rename { device, name }) => {
            let device = file.alter(device, |devices, id| devices.rename(id, name))?;
            format!("{} is now called {}", device.id, device.name)
        }
        Some(DevicesCommand::Role { device, role }) => {
            let device = file.alter(device, |devices, id| devices.entrust(id, *role))?;
            format!("{} ({}) is now {}", device.name, device.id, device.role)
        }
    };
    match asked.json {
        true => output::print_line(&listed(&file.read()).to_string()),
        false => output::print_line(&told),
    }
    Ok(Exit::Done)
}

fn listed(devices: &Devices) -> Value {
    let told = devices.active().map(|device| {
        let mut told = device.told();
        told["added"] = device.added.into();
        told
    });
    json!({"devices": told.collect::<Vec<_>>(), "unread": devices.unread()})
}

fn list(file: &File, json: bool) -> Exit {
    let devices = file.read();
    if json {
        output::print_line(&listed(&devices).to_string());
        return Exit::Done;
    }
    let now = clock::now();
    for device in devices.active() {
        let since = paint::ago(domain::ids::Millis(device.added), now);
        output::print_line(&format!(
            "{}  {:<10}  {:<12}  {}",
            device.id,
            device.role.name(),
            since,
            device.name
        ));
    }
    if devices.active().next().is_none() {
        output::print_line(
            "No device is paired. `parlor web` opens the page and asks you whether that browser may be paired.",
        );
    }
    if devices.unread() > 0 {
        let path = file.path.display();
        output::print_error(&format!(
            "warning: {} entries of {path} cannot be read and let nobody in",
            devices.unread()
        ));
    }
    Exit::Done
}
