//! What the page may ask of the shell: its connections, that Parlor runs, how the window stands and starts, and a picture that is pasted.
//! Everything else is the server's.

use crate::shell::{Shell, Standing};
use serde_json::Value;
use std::sync::Arc;
use tauri::State;
use window::kept::Settings;
use window::{Heard, Refused};

type Here<'a> = State<'a, Arc<Shell>>;

/// The person starts the shell, or wants to try again.
#[tauri::command]
pub(crate) async fn begin(shell: Here<'_>) -> Result<(), Refused> {
    shell.begin().await
}

/// A connection for what the page wants, by its number.
#[tauri::command]
pub(crate) async fn channel_open(shell: Here<'_>, wants: Value) -> Result<u32, Heard> {
    shell.channel.open(&wants).await
}

/// Waits for what comes next.
#[tauri::command]
pub(crate) async fn channel_read(shell: Here<'_>, number: u32) -> Result<Heard, ()> {
    Ok(shell.channel.read(number).await)
}

/// Lines of the page, in their order.
#[tauri::command]
pub(crate) async fn channel_send(shell: Here<'_>, number: u32, lines: Vec<String>) -> Result<bool, ()> {
    Ok(shell.channel.send(number, lines).await)
}

/// The page no longer wants it.
#[tauri::command]
pub(crate) async fn channel_close(shell: Here<'_>, number: u32) -> Result<(), ()> {
    shell.channel.close(number);
    Ok(())
}

/// How the window stands and starts.
#[tauri::command]
pub(crate) async fn settings(shell: Here<'_>) -> Result<Standing, ()> {
    Ok(shell.standing())
}

/// As the person wants it from now on; why not, where it cannot be.
#[tauri::command]
pub(crate) async fn set_settings(shell: Here<'_>, wanted: Settings) -> Result<Standing, String> {
    shell.set(&wanted)?;
    Ok(shell.standing())
}

/// The picture that the person pastes; empty where there is none. Only of a window that has the focus: a paste happens nowhere else.
#[tauri::command]
pub(crate) async fn pasted_picture(shell: Here<'_>) -> Result<tauri::ipc::Response, String> {
    if !shell.is_looked_at() {
        return Err("a picture is pasted only into a window that is in front".to_owned());
    }
    Ok(tauri::ipc::Response::new(shell.clipboard_picture().await?))
}
