//! Parlor in a window. A thin shell around the page: it starts, shows, hides and asks, and hands on what the page says to Parlor
//! (`crates/window`). It hosts no session, reads no line of theirs and answers no question.
//!
//! Invariants: one shell per desktop; closing the window ends nothing; the page comes from this program and goes nowhere else; a link is
//! opened, and followed, only after the person has read it.

mod ask;
mod channel;
mod clipboard;
mod notices;
mod outside;
mod place;
mod shell;
mod shortcut;
mod tray;

use shell::Shell;
use std::process::ExitCode;
use std::sync::Arc;
use tauri::{Manager as _, RunEvent};
use window::words::{self, Wish};

fn main() -> ExitCode {
    let said: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let wish = match words::read(&said) {
        Ok(Wish::Help) => return outside::print(words::HELP),
        Ok(Wish::Version) => {
            return outside::print(concat!("parlor-desktop ", env!("CARGO_PKG_VERSION"), "\n"));
        }
        Ok(wish) => wish,
        Err(why) => {
            outside::warn(&why);
            return ExitCode::from(2);
        }
    };
    match run(wish) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            outside::warn(&format!("there is no window: {why}"));
            ExitCode::FAILURE
        }
    }
}

fn run(wish: Wish) -> Result<(), String> {
    // The toolkit ends with a trace of its own where it finds no screen.
    gtk::init().map_err(|_| "no screen can be reached; DISPLAY or WAYLAND_DISPLAY names one")?;
    let second = tauri_plugin_single_instance::init(|app, said, _| {
        // Words that cannot be read were refused where they were said. They may come before this start has made its window: what is
        // drawn comes after that.
        if let Ok(wish) = words::read(said.get(1..).unwrap_or_default()) {
            let here = app.clone();
            let _ = app.run_on_main_thread(move || shell::of(&here).wish(&wish));
        }
    });
    let app = tauri::Builder::default()
        .plugin(second)
        .plugin(shortcut::plugin(|app| shell::of(app).toggle()))
        .invoke_handler(tauri::generate_handler![
            channel::begin,
            channel::channel_open,
            channel::channel_read,
            channel::channel_send,
            channel::channel_close,
            channel::settings,
            channel::set_settings,
            channel::pasted_picture
        ])
        .setup(move |app| {
            let shell = Arc::new(Shell::new(app.handle().clone()));
            app.manage(shell.clone());
            shell.start(&wish)?;
            Ok(())
        })
        .build(tauri::generate_context!())
        .map_err(|why| why.to_string())?;
    app.run(|app, event| {
        if let RunEvent::Exit = event {
            shell::of(app).leave();
        }
    });
    Ok(())
}
