//! A window of the toolkit with a page of one line: what the shell is measured beside (`benches/figures.rs`).

fn main() -> tauri::Result<()> {
    tauri::Builder::default().run(tauri::generate_context!("examples/empty/tauri.conf.json"))
}
