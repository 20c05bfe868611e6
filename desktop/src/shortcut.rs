//! The shortcut that brings the window from wherever the person is. Where there is none it is said why.

use crate::outside::warn;
use tauri::plugin::TauriPlugin;
use tauri::{AppHandle, Wry};
use tauri_plugin_global_shortcut::{Builder, GlobalShortcutExt as _, ShortcutState};

/// What hears it, and does this.
pub(crate) fn plugin(pressed: fn(&AppHandle)) -> TauriPlugin<Wry> {
    Builder::new()
        .with_handler(move |app: &AppHandle, _, event| {
            if event.state() == ShortcutState::Pressed {
                pressed(app);
            }
        })
        .build()
}

/// Takes the shortcut that the person has set, if any.
pub(crate) fn take(app: &AppHandle, shortcut: &str) {
    if shortcut.is_empty() {
        return;
    }
    let refused = if on_wayland() {
        Err("Wayland has no shortcuts for programs; set one in your desktop's settings that runs `parlor-desktop --toggle`".to_owned())
    } else {
        app.global_shortcut().register(shortcut).map_err(|why| {
            format!("{why}; another program may have it: set another one, or \"\" for none, as \"shortcut\" in desktop.json")
        })
    };
    if let Err(why) = refused {
        warn(&format!("the shortcut {shortcut} cannot be had: {why}"));
    }
}

/// Whether we draw on Wayland itself, where no key of others is heard.
fn on_wayland() -> bool {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|set| set == value);
    std::env::var_os("WAYLAND_DISPLAY").is_some_and(|name| !name.is_empty()) && !is("GDK_BACKEND", "x11")
}
