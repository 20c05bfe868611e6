//! How the window stands: read when it is made, written down when it is hidden or ends.

use crate::outside::warn;
use std::path::PathBuf;
use tauri::{WebviewWindow, Wry};
use window::kept::{self, Kept};

/// The file, where there is a place for one.
pub(crate) fn file() -> Option<PathBuf> {
    kept::file(|name| std::env::var_os(name).map(PathBuf::from))
}

/// What was kept; what cannot be read is told and left alone.
pub(crate) fn read() -> Kept {
    let Some(file) = file() else { return Kept::default() };
    let (kept, wrong) = Kept::read(&file);
    wrong.iter().for_each(|why| warn(why));
    kept
}

/// The screens: left, top, width and height in the pixels of the desktop.
fn screens(window: &WebviewWindow<Wry>) -> Vec<(i32, i32, u32, u32)> {
    let all = window.available_monitors().unwrap_or_default();
    let of = |screen: &tauri::Monitor| {
        let (at, size) = (screen.position(), screen.size());
        (at.x, at.y, size.width, size.height)
    };
    all.iter().map(of).collect()
}

/// Makes a window as large as it is wanted now and puts it there.
pub(crate) fn change(window: &WebviewWindow<Wry>, kept: &Kept) -> tauri::Result<()> {
    let (width, height) = if kept.small { kept::SMALL } else { (kept.width, kept.height) };
    window.unmaximize()?;
    window.set_size(tauri::LogicalSize::new(width, height))?;
    restore(window, kept)
}

/// Puts a window that was just made where it stood, if it can be reached there; the small one on the screen of the cursor.
pub(crate) fn restore(window: &WebviewWindow<Wry>, kept: &Kept) -> tauri::Result<()> {
    let screens = screens(window);
    if kept.small {
        let cursor = window.cursor_position().map(|at| (at.x as i32, at.y as i32)).unwrap_or_default();
        if let Some((x, y)) = kept::small_place(cursor, &screens, kept::SMALL) {
            window.set_position(tauri::PhysicalPosition::new(x, y))?;
        }
    } else if kept.maximized {
        window.maximize()?;
    } else if let Some((x, y)) = kept.at.filter(|_| kept.is_on(&screens)) {
        window.set_position(tauri::PhysicalPosition::new(x, y))?;
    }
    window.set_zoom(f64::from(kept.zoom) / 100.0)
}

/// Writes down how it stands; the file's other words stay. One that could not be read is left alone.
pub(crate) fn keep(window: &WebviewWindow<Wry>) {
    let Some(file) = file() else { return };
    let (mut kept, wrong) = Kept::read(&file);
    if wrong.is_some() || kept.small {
        return;
    }
    let before = kept.clone();
    kept.maximized = window.is_maximized().unwrap_or_default();
    if !kept.maximized {
        let scale = window.scale_factor().unwrap_or(1.0);
        if let Ok(size) = window.inner_size() {
            let size = size.to_logical::<u32>(scale);
            (kept.width, kept.height) = (size.width, size.height);
        }
        kept.at = window.outer_position().ok().map(|at| (at.x, at.y)).or(kept.at);
    }
    if kept != before
        && let Err(why) = kept.write(&file)
    {
        warn(&format!("{} cannot be written: {why}", file.display()));
    }
}
