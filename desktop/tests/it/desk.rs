//! What a desktop has beside windows: a tray and notifications, as this world's bus has them, and keys and clicks of a person.

use crate::world::{World, until};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use zbus::blocking::{Connection, Proxy, connection::Builder, object_server::InterfaceRef};
use zbus::message::Header;
use zbus::object_server::SignalEmitter;
use zbus::zvariant::{OwnedValue, Value};

/// What programs have told the desktop.
#[derive(Debug, Default)]
struct Told {
    /// The bus names of those who have a place in the tray.
    items: Vec<String>,
    notices: Vec<Notice>,
    taken: Vec<u32>,
}

/// A notification, as it was asked for.
#[derive(Debug, Clone)]
pub(crate) struct Notice {
    pub(crate) id: u32,
    pub(crate) body: String,
    pub(crate) actions: Vec<String>,
}

/// Where a desktop tells how it looks.
const PORTAL: &str = "/org/freedesktop/portal/desktop";

type Shared = Arc<Mutex<Told>>;

struct Watcher(Shared);

#[zbus::interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    fn register_status_notifier_item(&self, service: &str, #[zbus(header)] header: Header<'_>) {
        let by = header.sender().map(ToString::to_string).unwrap_or_default();
        let named = if service.starts_with('/') { by } else { service.to_owned() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).items.push(named);
    }

    fn register_status_notifier_host(&self, _service: &str) {}

    #[zbus(property)]
    fn registered_status_notifier_items(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).items.clone()
    }

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    fn protocol_version(&self) -> i32 {
        0
    }
}

struct Notifier(Shared);

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Notifier {
    #[allow(clippy::too_many_arguments)]
    fn notify(
        &self,
        _app_name: &str,
        _replaces_id: u32,
        _app_icon: &str,
        _summary: &str,
        body: &str,
        actions: Vec<String>,
        _hints: HashMap<String, OwnedValue>,
        _expire_timeout: i32,
    ) -> u32 {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = u32::try_from(told.notices.len()).unwrap() + 1;
        told.notices.push(Notice { id, body: body.to_owned(), actions });
        id
    }

    fn close_notification(&self, id: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).taken.push(id);
    }

    #[zbus(signal)]
    async fn action_invoked(emitter: &SignalEmitter<'_>, id: u32, action_key: &str) -> zbus::Result<()>;
}

/// What a desktop says of its colours.
struct Colours(Arc<Mutex<u32>>);

/// Where programs are told of them, and by which name.
const COLOURS: (&str, &str) = ("org.freedesktop.appearance", "color-scheme");

#[zbus::interface(name = "org.freedesktop.portal.Settings")]
impl Colours {
    /// In the older form, in which a value is wrapped twice.
    fn read(&self, namespace: &str, key: &str) -> zbus::fdo::Result<OwnedValue> {
        if (namespace, key) != COLOURS {
            return Err(zbus::fdo::Error::UnknownProperty("not here".to_owned()));
        }
        let now = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Value::Value(Box::new(Value::U32(now))).try_into().unwrap())
    }

    #[zbus(signal)]
    async fn setting_changed(
        emitter: &SignalEmitter<'_>,
        namespace: &str,
        key: &str,
        value: Value<'_>,
    ) -> zbus::Result<()>;
}

/// The tray and the notifications of a world.
pub(crate) struct Desk {
    told: Shared,
    colours: Arc<Mutex<u32>>,
    bus: Connection,
}

impl Desk {
    /// On a bus; programs that are started from here on find them.
    pub(crate) fn on(address: &str) -> Desk {
        let told = Shared::default();
        let colours = Arc::new(Mutex::new(0));
        let bus = Builder::address(address)
            .unwrap()
            .serve_at("/StatusNotifierWatcher", Watcher(told.clone()))
            .unwrap()
            .serve_at("/org/freedesktop/Notifications", Notifier(told.clone()))
            .unwrap()
            .serve_at(PORTAL, Colours(colours.clone()))
            .unwrap()
            .name("org.freedesktop.portal.Desktop")
            .unwrap()
            .name("org.kde.StatusNotifierWatcher")
            .unwrap()
            .name("org.freedesktop.Notifications")
            .unwrap()
            .build()
            .unwrap();
        Desk { told, colours, bus }
    }

    /// The person likes dark colours from now on, or light ones.
    pub(crate) fn is_dark(&self, dark: bool) {
        let now = if dark { 1 } else { 2 };
        *self.colours.lock().unwrap_or_else(PoisonError::into_inner) = now;
        let at: InterfaceRef<Colours> = self.bus.object_server().interface(PORTAL).unwrap();
        let (namespace, key) = COLOURS;
        zbus::block_on(Colours::setting_changed(at.signal_emitter(), namespace, key, Value::U32(now)))
            .unwrap();
    }

    fn told<T>(&self, read: impl Fn(&Told) -> T) -> T {
        read(&self.told.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn item(&self) -> String {
        until("there is a place in the tray", || self.told(|told| !told.items.is_empty()));
        self.told(|told| told.items.last().cloned()).unwrap()
    }

    fn proxy(&self, path: &'static str, interface: &'static str) -> Proxy<'static> {
        Proxy::new(&self.bus, self.item(), path, interface).unwrap()
    }

    fn in_tray(&self) -> Proxy<'static> {
        self.proxy("/StatusNotifierItem", "org.kde.StatusNotifierItem")
    }

    /// What the tray says when it is pointed at.
    pub(crate) fn title(&self) -> String {
        self.in_tray().get_property("Title").unwrap()
    }

    /// The left click.
    pub(crate) fn click(&self) {
        self.in_tray().call_method("Activate", &(0i32, 0i32)).unwrap();
    }

    /// The lines of the menu, with their numbers.
    pub(crate) fn menu(&self) -> Vec<(i32, String)> {
        type Layout = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);
        let menu = self.proxy("/MenuBar", "com.canonical.dbusmenu");
        let (_, (_, _, lines)): (u32, Layout) =
            menu.call("GetLayout", &(0i32, -1i32, Vec::<String>::new())).unwrap();
        let line = |line: OwnedValue| {
            let (number, words, _): Layout = line.try_into().unwrap();
            let label = words.get("label").and_then(|label| String::try_from(label.clone()).ok());
            (number, label.unwrap_or_default())
        };
        lines.into_iter().map(line).collect()
    }

    pub(crate) fn choose(&self, number: i32) {
        let menu = self.proxy("/MenuBar", "com.canonical.dbusmenu");
        menu.call_method("Event", &(number, "clicked", Value::from(0i32), 0u32)).unwrap();
    }

    pub(crate) fn notices(&self) -> Vec<Notice> {
        self.told(|told| told.notices.clone())
    }

    pub(crate) fn taken(&self) -> Vec<u32> {
        self.told(|told| told.taken.clone())
    }

    /// A click on a notification's button.
    pub(crate) fn presses(&self, notice: u32, action: &str) {
        let at: InterfaceRef<Notifier> =
            self.bus.object_server().interface("/org/freedesktop/Notifications").unwrap();
        zbus::block_on(Notifier::action_invoked(at.signal_emitter(), notice, action)).unwrap();
    }
}

impl World {
    /// The windows of the shell that are seen.
    pub(crate) fn windows(&self) -> Vec<String> {
        let found = self
            .command("xdotool")
            .args(["search", "--onlyvisible", "--class", "parlor-desktop"])
            .output()
            .unwrap();
        String::from_utf8_lossy(&found.stdout).lines().map(str::to_owned).collect()
    }

    /// How wide and how high a window is.
    pub(crate) fn size(&self, window: &str) -> (u32, u32) {
        let told = self.command("xdotool").args(["getwindowgeometry", "--shell", window]).output().unwrap();
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        let side = |name: &str| told.lines().find_map(|line| line.strip_prefix(name)?.parse().ok()).unwrap();
        (side("WIDTH="), side("HEIGHT="))
    }

    /// Answers the dialog by keys, again where they came before it had the focus.
    pub(crate) fn answers(&self, keys: &[&str]) {
        let asked = self.windows().len();
        until("the dialog is answered", || {
            let newest = self.windows().last().cloned().unwrap_or_default();
            let _ = self.command("xdotool").args(["windowfocus", "--sync", &newest]).status();
            self.keys(keys);
            self.windows().len() < asked
        });
    }

    /// Presses keys, wherever the person is.
    pub(crate) fn keys(&self, keys: &[&str]) {
        assert!(self.command("xdotool").arg("key").args(keys).status().unwrap().success());
    }
}
