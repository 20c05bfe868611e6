//! Names the commands of the page, so that each needs its line in `capabilities/main.json`, and bakes the page in.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let commands = &[
        "begin",
        "channel_open",
        "channel_read",
        "channel_send",
        "channel_close",
        "settings",
        "set_settings",
        "pasted_picture",
    ];
    let manifest = tauri_build::AppManifest::new().commands(commands);
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(manifest))?;
    Ok(())
}
