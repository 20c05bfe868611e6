//! Notifications of the desktop, as `crates/window` says that they are to be shown. A click opens the session; none answers a question.

use crate::outside::warn;
use futures_util::{Stream, StreamExt as _};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;
use window::notes::{Note, Notes, plain};
use window::tray::{Fleet, Waiting};
use zbus::zvariant::Value;

/// How long the desktop may take to show one.
const SHOWN_WITHIN: Duration = Duration::from_secs(5);
/// What a click on the notification, or on its button, is called.
const OPEN: &str = "default";
const OPEN_BUTTON: &str = "open";

#[zbus::proxy(
    interface = "org.freedesktop.Notifications",
    default_service = "org.freedesktop.Notifications",
    default_path = "/org/freedesktop/Notifications"
)]
trait Notifications {
    #[allow(clippy::too_many_arguments)]
    fn notify(
        &self,
        app_name: &str,
        replaces_id: u32,
        app_icon: &str,
        summary: &str,
        body: &str,
        actions: &[&str],
        hints: HashMap<&str, Value<'_>>,
        expire_timeout: i32,
    ) -> zbus::Result<u32>;

    fn close_notification(&self, id: u32) -> zbus::Result<()>;

    #[zbus(signal)]
    fn action_invoked(&self, id: u32, action_key: String) -> zbus::Result<()>;
}

/// Tells who waits, from now on and for as long as the fleet is followed. `seen` says whether the person looks at the window or wants none;
/// `looked` changes when they look at it.
pub(crate) async fn tell(
    mut told: watch::Receiver<Option<Fleet>>,
    mut looked: watch::Receiver<u64>,
    seen: impl Fn() -> bool,
    open: impl Fn(&str),
) {
    let (desktop, mut clicks) = match reach().await {
        Ok(reached) => reached,
        Err(why) => return warn(&format!("this desktop shows no notifications: {why}")),
    };
    let mut notes = Notes::default();
    let mut shown: BTreeMap<String, u32> = BTreeMap::new();
    loop {
        tokio::select! {
            changed = told.changed() => if changed.is_err() { return },
            changed = looked.changed() => if changed.is_err() { return },
            click = clicks.next() => {
                let Some((id, action)) = click else { return };
                let session = shown.iter().find(|(_, shown)| **shown == id).map(|(session, _)| session.clone());
                if let Some(session) = session.filter(|_| [OPEN, OPEN_BUTTON].contains(&action.as_str())) {
                    shown.remove(&session);
                    open(&session);
                }
                continue;
            }
        }
        let fleet = told.borrow_and_update().clone();
        for note in notes.look(fleet.as_ref(), seen()) {
            match note {
                Note::Take(session) => {
                    if let Some(id) = shown.remove(&session) {
                        let _ = timeout(SHOWN_WITHIN, desktop.close_notification(id)).await;
                    }
                }
                Note::Show(waiting) => match timeout(SHOWN_WITHIN, show(&desktop, &waiting)).await {
                    Ok(Ok(id)) => drop(shown.insert(waiting.session, id)),
                    Ok(Err(why)) => return warn(&format!("this desktop shows no notifications: {why}")),
                    Err(_) => warn("the desktop did not show a notification in time"),
                },
            }
        }
    }
}

async fn reach() -> zbus::Result<(NotificationsProxy<'static>, impl Stream<Item = (u32, String)> + Unpin)> {
    let desktop = NotificationsProxy::new(&zbus::Connection::session().await?).await?;
    let clicks = desktop.receive_action_invoked().await?;
    let clicks = clicks.filter_map(|click| {
        let read = click.args().ok().map(|args| (args.id, args.action_key.clone()));
        std::future::ready(read)
    });
    Ok((desktop, clicks))
}

async fn show(desktop: &NotificationsProxy<'_>, waiting: &Waiting) -> zbus::Result<u32> {
    let actions = [OPEN, "Open", OPEN_BUTTON, "Open"];
    let hints = HashMap::from([
        ("desktop-entry", Value::from("parlor-desktop")),
        ("suppress-sound", Value::from(true)),
    ]);
    desktop
        .notify("Parlor", 0, "parlor", "A session waits for you", &plain(&waiting.words), &actions, hints, -1)
        .await
}
