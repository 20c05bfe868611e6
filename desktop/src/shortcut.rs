//! The shortcut that brings the window from wherever the person is. Where there is none it is said why.

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
///
/// # Errors
/// Why it cannot be had, for the person.
pub(crate) fn take(app: &AppHandle, shortcut: &str) -> Result<(), String> {
    if shortcut.is_empty() {
        return Ok(());
    }
    if let Some(why) = why_none() {
        return Err(why.to_owned());
    }
    app.global_shortcut().register(shortcut).map_err(|why| {
        let shown = domain::harmless::quoted(shortcut);
        format!("the shortcut {shown} cannot be had ({why}): another program may have it; set another one, or none")
    })
}

/// Gives up the one and takes the other; where the other cannot be had, the one stays.
///
/// # Errors
/// Why it cannot be had, for the person.
pub(crate) fn change(app: &AppHandle, from: &str, to: &str) -> Result<(), String> {
    if from == to {
        return Ok(());
    }
    take(app, to)?;
    if !from.is_empty() {
        // One that could not be had at the start is not there to be given up.
        let _ = app.global_shortcut().unregister(from);
    }
    Ok(())
}

/// Why no program has a shortcut on this desktop: we draw on Wayland itself, where no key of others is heard.
pub(crate) fn why_none() -> Option<&'static str> {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|set| set == value);
    let wayland =
        std::env::var_os("WAYLAND_DISPLAY").is_some_and(|name| !name.is_empty()) && !is("GDK_BACKEND", "x11");
    wayland.then_some(
        "Wayland has no shortcuts for programs; set one in your desktop's settings that runs `parlor-desktop --toggle`",
    )
}
