//! `parlor devices`: the browsers that may connect to the page, in a file of the data folder. A server that runs hears of a change at
//! once: whoever is revoked loses its live connections.

use crate::clock;
use crate::exit::{self, Exit};
use crate::paint;
use crate::{places, private};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use web::devices::MAX_FILE;
use web::{Device, Devices, Role, Shelf};

/// In the data folder: the devices that were let in.
pub(crate) const FILE: &str = "devices.json";

/// The devices that may connect to the page.
#[derive(Debug, Args)]
pub(crate) struct Asked {
    #[command(subcommand)]
    what: Option<What>,
    /// Print them as JSON.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List them (also without a word).
    List,
    /// Take a device's right away; what it has open ends at once.
    Revoke {
        /// Its id, the beginning of that, or its name.
        device: String,
    },
    /// Call a device otherwise.
    Rename {
        /// Its id, the beginning of that, or its name.
        device: String,
        name: String,
    },
    /// Say what a device may do.
    Role {
        /// Its id, the beginning of that, or its name.
        device: String,
        #[arg(value_parser = crate::flags::role())]
        role: Role,
    },
}

/// Lists or changes them.
pub(crate) fn devices(asked: &Asked) -> anyhow::Result<Exit> {
    let file = File::new(&places::data()?);
    let told = match &asked.what {
        None | Some(What::List) => return Ok(list(&file, asked.json)),
        Some(What::Revoke { device }) => {
            let device = file.alter(device, |devices, id| devices.revoke(id, clock::now().0))?;
            format!("revoked: {} ({})", device.name, device.id)
        }
        Some(What::Rename { device, name }) => {
            let device = file.alter(device, |devices, id| devices.rename(id, name))?;
            format!("{} is now called {}", device.id, device.name)
        }
        Some(What::Role { device, role }) => {
            let device = file.alter(device, |devices, id| devices.entrust(id, *role))?;
            format!("{} ({}) is now {}", device.name, device.id, device.role)
        }
    };
    match asked.json {
        true => exit::say(&listed(&file.read()).to_string()),
        false => exit::say(&told),
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
        exit::say(&listed(&devices).to_string());
        return Exit::Done;
    }
    let now = clock::now();
    for device in devices.active() {
        let since = paint::ago(domain::ids::Millis(device.added), now);
        exit::say(&format!("{}  {:<10}  {:<12}  {}", device.id, device.role.name(), since, device.name));
    }
    if devices.active().next().is_none() {
        exit::say(
            "No device is paired. `parlor web` opens the page and asks you whether that browser may be paired.",
        );
    }
    if devices.unread() > 0 {
        let path = file.path.display();
        exit::complain(&format!(
            "warning: {} entries of {path} cannot be read and let nobody in",
            devices.unread()
        ));
    }
    Exit::Done
}

/// Where the list is kept between servers.
#[derive(Debug)]
pub(crate) struct File {
    path: PathBuf,
}

impl File {
    /// In this data folder.
    pub(crate) fn new(data: &Path) -> File {
        File { path: data.join(FILE) }
    }

    /// Changes the one device that is meant by a word, and gives it as it is then.
    fn alter(&self, word: &str, change: impl Fn(&mut Devices, &str) -> bool) -> anyhow::Result<Device> {
        self.alter_of(&self.read(), word, change)
    }

    /// Takes a device's right away where there is a screen: nothing is printed.
    ///
    /// # Errors
    /// Why it has it still.
    pub(crate) fn revoke(&self, word: &str) -> anyhow::Result<Device> {
        let known = self.known().map_err(anyhow::Error::msg)?;
        self.alter_of(&known, word, |devices, id| devices.revoke(id, clock::now().0))
    }

    fn alter_of(
        &self,
        known: &Devices,
        word: &str,
        change: impl Fn(&mut Devices, &str) -> bool,
    ) -> anyhow::Result<Device> {
        let id = match known.meant(word).as_slice() {
            [device] => device.id.clone(),
            [] => {
                return Err(exit::usage(format!(
                    "there is no device {word}\n\nhint: `parlor devices` lists them"
                )));
            }
            several => {
                let ids: Vec<&str> = several.iter().map(|device| device.id.as_str()).collect();
                return Err(exit::usage(format!(
                    "{word} may mean {}\n\nhint: say the whole id",
                    ids.join(", ")
                )));
            }
        };
        let mut done = false;
        let devices = self.change(&mut |devices| done = change(devices, &id)).map_err(anyhow::Error::msg)?;
        let device = devices.find(&id).filter(|_| done).cloned();
        device.ok_or_else(|| anyhow::anyhow!("{word} was taken away meanwhile"))
    }

    /// What stands in it now.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(crate) fn known(&self) -> Result<Devices, String> {
        let read = self.text().map_err(|why| why.to_string());
        read.and_then(|text| Devices::read(&text).map_err(|why| why.to_string()))
    }

    fn text(&self) -> std::io::Result<String> {
        let mut text = Vec::new();
        match std::fs::File::open(&self.path) {
            Ok(file) => {
                file.take(MAX_FILE as u64 + 1).read_to_end(&mut text)?;
                // What is no text is no list either, and is said to be none further on.
                Ok(String::from_utf8_lossy(&text).into_owned())
            }
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            Err(why) => Err(why),
        }
    }

    /// A file that is no list is put aside and not lost; it let nobody in.
    fn put_aside(&self) -> anyhow::Result<()> {
        let aside = self.path.with_extension("json.odd");
        std::fs::rename(&self.path, &aside)?;
        exit::complain(&format!(
            "warning: {} is no list of devices: it is {} now",
            self.path.display(),
            aside.display()
        ));
        Ok(())
    }
}

impl Shelf for File {
    fn stamp(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut stamp = DefaultHasher::new();
        if let Ok(about) = std::fs::metadata(&self.path) {
            (about.ino(), about.size(), about.mtime(), about.mtime_nsec()).hash(&mut stamp);
        }
        stamp.finish()
    }

    fn read(&self) -> Devices {
        self.known().unwrap_or_else(|why| {
            exit::complain(&format!(
                "warning: {} cannot be read, so no device is known: {why}",
                self.path.display()
            ));
            Devices::default()
        })
    }

    fn change(&self, change: &mut dyn FnMut(&mut Devices)) -> Result<Devices, String> {
        let mut changed = || {
            let _held = private::hold(&self.path)?;
            let mut devices = match Devices::read(&self.text()?) {
                Ok(devices) => devices,
                Err(_) => {
                    self.put_aside()?;
                    Devices::default()
                }
            };
            change(&mut devices);
            private::replace(&self.path, &devices.text())?;
            Ok::<_, anyhow::Error>(devices)
        };
        changed().map_err(|why| exit::in_words(&why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn key(first: u8) -> Vec<u8> {
        [&[4], [first; 64].as_slice()].concat()
    }

    #[test]
    fn the_file_is_for_the_person_alone_and_a_change_is_seen() {
        let data = tempfile::tempdir().unwrap();
        let file = File::new(data.path());
        let before = file.stamp();
        assert_eq!(file.read(), Devices::default());
        file.change(&mut |devices| {
            assert!(devices.enrol(key(1), web::Stay::Lasting, "one", Role::Observer, 1).is_some());
        })
        .unwrap();
        assert_ne!(file.stamp(), before);
        assert_eq!(std::fs::metadata(&file.path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(file.read().active().count(), 1);
        let device = file.alter("one", |devices, id| devices.revoke(id, 2)).unwrap();
        assert_eq!(device.revoked, Some(2));
        assert!(file.alter("one", |devices, id| devices.revoke(id, 2)).is_err());
    }

    #[test]
    fn a_file_that_is_no_list_lets_nobody_in_and_is_put_aside() {
        for odd in [&b"{\"devices\": 5}"[..], b"\xff\xfe\x00", b"[]", b"not json"] {
            let data = tempfile::tempdir().unwrap();
            let file = File::new(data.path());
            std::fs::write(&file.path, odd).unwrap();
            assert_eq!(file.read().active().count(), 0);
            file.change(&mut |devices| {
                assert!(devices.enrol(key(1), web::Stay::Lasting, "one", Role::Observer, 1).is_some());
            })
            .unwrap();
            assert_eq!(file.read().active().count(), 1);
            assert_eq!(std::fs::read(file.path.with_extension("json.odd")).unwrap(), odd);
        }
    }
}
