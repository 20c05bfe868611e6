//! The devices that may connect: their keys, names and roles, as they stand in a file. Pure; where the file lies is for the owner of the
//! server to know ([`Shelf`]).
//!
//! Invariants: what cannot be read of the file lets nobody in, and is not lost when it is written again; a device that was revoked never
//! comes back by itself.

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Map, Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// What a device may do is what any UI may.
pub use domain::rights::Standing as Role;

/// Devices that can be enrolled at once.
pub const MAX_DEVICES: usize = 256;
/// Revoked ones that are remembered, the newest.
const MAX_REVOKED: usize = 64;
/// Devices of earlier runs that are remembered, the newest: each may have a tab that is still loaded.
const MAX_EARLIER: usize = 32;
/// Characters of a name.
pub const MAX_NAME: usize = 60;
/// The largest file that is read.
pub const MAX_FILE: usize = 1024 * 1024;
/// A public key: an uncompressed point of P-256.
pub(crate) const KEY_BYTES: usize = 65;
/// Random bytes of an id.
const ID_BYTES: usize = 9;

/// For how long a device's key is good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stay {
    /// Until it is revoked: its address is encrypted, so nobody else can speak from there.
    Lasting,
    /// For one run of the server. It lives at a plain address of this machine, which any program here can take over while the server is
    /// away, and have the browser sign with what it keeps. A second key is held in the memory of a tab alone, and is good as long as
    /// that tab stays loaded.
    ThisRun { run: String, tab: Vec<u8> },
    /// Nobody wrote down how it was enrolled. It is good where addresses are encrypted.
    Untold,
}

/// Which of its keys a device signs with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signs {
    /// The one that the browser keeps.
    #[default]
    Key,
    Tab,
}

/// What a connection tells of the keys that may be used on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground<'a> {
    /// Its address is encrypted.
    pub(crate) lasting: bool,
    /// The run of this server.
    pub(crate) run: &'a str,
}

/// A browser that was let in once, known by its key from then on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    pub id: String,
    pub name: String,
    pub role: Role,
    /// Its public key.
    pub key: Vec<u8>,
    pub stay: Stay,
    /// When it was enrolled, in milliseconds since 1970.
    pub added: u64,
    /// Since when it is let in no more, in milliseconds since 1970.
    pub revoked: Option<u64>,
}

impl Device {
    /// The public key that a signature on such a connection has to fit; `None` where that key is good no more.
    pub(crate) fn good_key(&self, signs: Signs, ground: Ground<'_>) -> Option<&[u8]> {
        match (&self.stay, signs) {
            (Stay::Lasting | Stay::Untold, Signs::Key) => ground.lasting.then_some(&self.key),
            (Stay::ThisRun { run, .. }, Signs::Key) => {
                (!ground.lasting && run == ground.run).then_some(&self.key)
            }
            (Stay::ThisRun { tab, .. }, Signs::Tab) => (!ground.lasting).then_some(tab),
            (Stay::Lasting | Stay::Untold, Signs::Tab) => None,
        }
    }

    /// As pages and scripts are told of it.
    pub fn told(&self) -> Value {
        json!({"id": self.id, "name": self.name, "role": self.role.name()})
    }
}

/// What stands in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Devices {
    devices: Vec<Device>,
    /// Entries that could not be read: another version's, or a mistake of a hand. Kept as they are.
    odd: Vec<Value>,
}

/// The whole file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is no list of devices: {0}")]
pub struct Unreadable(String);

impl Devices {
    /// Reads the file's text.
    ///
    /// # Errors
    /// When nothing of it can be understood.
    pub fn read(text: &str) -> Result<Devices, Unreadable> {
        if text.trim().is_empty() {
            return Ok(Devices::default());
        }
        let unreadable = |why: &str| Unreadable(why.to_owned());
        if text.len() > MAX_FILE {
            return Err(unreadable("it is too large"));
        }
        let file: Value = serde_json::from_str(text).map_err(|why| Unreadable(why.to_string()))?;
        let list = file.get("devices").and_then(Value::as_array);
        let mut devices = Devices::default();
        for entry in list.ok_or_else(|| unreadable("it has no `devices`"))? {
            match device(entry) {
                Some(device) if devices.find(&device.id).is_none() => devices.devices.push(device),
                _ => devices.odd.push(entry.clone()),
            }
        }
        Ok(devices)
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let ours = self.devices.iter().map(entry);
        let all: Vec<Value> = ours.chain(self.odd.iter().cloned()).collect();
        format!("{:#}\n", json!({"devices": all}))
    }

    /// All that may connect, the oldest first.
    pub fn active(&self) -> impl Iterator<Item = &Device> {
        self.devices.iter().filter(|device| device.revoked.is_none())
    }

    /// How many entries could not be read.
    pub fn unread(&self) -> usize {
        self.odd.len()
    }

    /// A device by its id, revoked or not.
    pub fn find(&self, id: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.id == id)
    }

    /// The devices that are meant by an id, the beginning of one, or a name.
    pub fn meant(&self, word: &str) -> Vec<&Device> {
        let exact: Vec<&Device> = self.active().filter(|device| device.id == word).collect();
        if !exact.is_empty() || word.is_empty() {
            return exact;
        }
        let short = |device: &Device| {
            device.id.starts_with(word)
                || device.id.strip_prefix("dev-").is_some_and(|rest| rest.starts_with(word))
        };
        self.active().filter(|device| short(device) || device.name.eq_ignore_ascii_case(word)).collect()
    }

    /// Adds a device; `None` when there are too many. A key that is known already becomes this device's.
    pub fn enrol(&mut self, key: Vec<u8>, stay: Stay, name: &str, role: Role, now: u64) -> Option<Device> {
        self.devices.retain(|device| device.key != key);
        if let Stay::ThisRun { run, .. } = &stay {
            self.forget_earlier(run);
        }
        if self.active().count() >= MAX_DEVICES || !is_key(&key) {
            return None;
        }
        let id = format!("dev-{}", random::<ID_BYTES>()?);
        let device = Device { id, name: clean_name(name), role, key, stay, added: now, revoked: None };
        self.devices.push(device.clone());
        Some(device)
    }

    /// Takes a device's right away; whether it had any.
    pub fn revoke(&mut self, id: &str, now: u64) -> bool {
        let Some(device) = self.entitled(id) else { return false };
        device.revoked = Some(now);
        let mut revoked: Vec<u64> = self.devices.iter().filter_map(|device| device.revoked).collect();
        revoked.sort_unstable();
        if let Some(oldest) =
            revoked.len().checked_sub(MAX_REVOKED).and_then(|extra| revoked.get(extra)).copied()
        {
            self.devices.retain(|device| device.revoked.is_none_or(|at| at >= oldest));
        }
        true
    }

    /// Calls a device otherwise.
    pub fn rename(&mut self, id: &str, name: &str) -> bool {
        self.entitled(id).is_some_and(|device| {
            device.name = clean_name(name);
            true
        })
    }

    /// Gives a device another role.
    pub fn entrust(&mut self, id: &str, role: Role) -> bool {
        self.entitled(id).is_some_and(|device| {
            device.role = role;
            true
        })
    }

    /// Those of earlier runs would pile up: each reload after a restart makes a new device.
    fn forget_earlier(&mut self, this: &str) {
        let is_earlier = |device: &Device| {
            device.revoked.is_none() && matches!(&device.stay, Stay::ThisRun { run, .. } if run != this)
        };
        let mut over =
            self.devices.iter().filter(|device| is_earlier(device)).count().saturating_sub(MAX_EARLIER);
        self.devices.retain(|device| {
            let forgotten = over > 0 && is_earlier(device);
            over -= usize::from(forgotten);
            !forgotten
        });
    }

    fn entitled(&mut self, id: &str) -> Option<&mut Device> {
        self.devices.iter_mut().find(|device| device.id == id && device.revoked.is_none())
    }
}

/// Where the file lies.
pub trait Shelf: Send + Sync + 'static {
    /// Something that is another one when the file has changed.
    fn stamp(&self) -> u64;

    /// What stands in it now. A file that cannot be read lets nobody in.
    fn read(&self) -> Devices;

    /// Changes it, alone, and gives what stands in it then.
    ///
    /// # Errors
    /// Why it could not be written, for a person; nothing has changed then.
    fn change(&self, change: &mut dyn FnMut(&mut Devices)) -> Result<Devices, String>;
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// So many random bytes as text.
pub(crate) fn random<const BYTES: usize>() -> Option<String> {
    let mut bytes = [0; BYTES];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(URL_SAFE_NO_PAD.encode(bytes))
}

/// A name as it can be shown anywhere.
pub(crate) fn clean_name(name: &str) -> String {
    let clean: String = name.chars().filter(|c| !domain::harmless::is_harmful(*c)).take(MAX_NAME).collect();
    let clean = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    if clean.is_empty() { "a device without a name".to_owned() } else { clean }
}

/// Whether these bytes can be a public key.
pub(crate) fn is_key(bytes: &[u8]) -> bool {
    bytes.len() == KEY_BYTES && bytes.first() == Some(&4)
}

fn device(entry: &Value) -> Option<Device> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let public = |text: &str| URL_SAFE_NO_PAD.decode(text).ok().filter(|key| key.len() == KEY_BYTES);
    let key = public(text("key")?)?;
    let stay = match (text("stays"), text("run"), text("tab")) {
        (Some("lasting"), None, None) => Stay::Lasting,
        (Some("run"), Some(run), Some(tab)) => Stay::ThisRun { run: run.to_owned(), tab: public(tab)? },
        (None, None, None) => Stay::Untold,
        _ => return None,
    };
    let id = text("id")?.to_owned();
    let role = Role::named(text("role")?)?;
    // Whatever it says, it does not say that this one may come in.
    let revoked = entry.get("revoked").map(|at| at.as_u64().unwrap_or_default());
    let added = entry.get("added").and_then(Value::as_u64).unwrap_or_default();
    Some(Device { id, name: clean_name(text("name").unwrap_or_default()), role, key, stay, added, revoked })
}

fn entry(device: &Device) -> Value {
    let mut entry = Map::new();
    entry.insert("id".into(), device.id.clone().into());
    entry.insert("name".into(), device.name.clone().into());
    entry.insert("role".into(), device.role.name().into());
    entry.insert("key".into(), URL_SAFE_NO_PAD.encode(&device.key).into());
    match &device.stay {
        Stay::Lasting => drop(entry.insert("stays".into(), "lasting".into())),
        Stay::ThisRun { run, tab } => {
            entry.insert("stays".into(), "run".into());
            entry.insert("run".into(), run.as_str().into());
            entry.insert("tab".into(), URL_SAFE_NO_PAD.encode(tab).into());
        }
        Stay::Untold => {}
    }
    entry.insert("added".into(), device.added.into());
    if let Some(at) = device.revoked {
        entry.insert("revoked".into(), at.into());
    }
    entry.into()
}
