//! A picture that the person pastes: the web view hands texts and files of a clipboard to the page, and no picture.

use std::time::Duration;
use tauri::AppHandle;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How long the program that has the picture may take to hand it over.
const GIVEN_WITHIN: Duration = Duration::from_secs(10);
/// Bytes of a picture; the page takes less.
const MAX_BYTES: usize = 20 * 1024 * 1024;
/// As screenshots are put there.
const PICTURE: &str = "image/png";

/// The picture in the clipboard; nothing where there is a text, which the view pastes by itself, or none.
///
/// # Errors
/// Why it cannot be had, for the person.
pub(crate) async fn picture(app: &AppHandle) -> Result<Vec<u8>, String> {
    let (tell, told) = oneshot::channel();
    let ask = move || {
        let clipboard = gtk::Clipboard::get(&gtk::gdk::SELECTION_CLIPBOARD);
        clipboard.request_text(move |clipboard, text| {
            if text.is_some_and(|text| !text.is_empty()) {
                // Whoever asked may be gone.
                let _ = tell.send(Vec::new());
                return;
            }
            let given = |_: &gtk::Clipboard, data: &gtk::SelectionData| drop(tell.send(data.data()));
            clipboard.request_contents(&gtk::gdk::Atom::intern(PICTURE), given);
        });
    };
    app.run_on_main_thread(ask).map_err(|why| format!("the clipboard cannot be read: {why}"))?;
    match timeout(GIVEN_WITHIN, told).await {
        Ok(Ok(picture)) if picture.len() > MAX_BYTES => {
            Err(format!("the picture in the clipboard is larger than {} MB", MAX_BYTES / 1024 / 1024))
        }
        Ok(Ok(picture)) => Ok(picture),
        Ok(Err(_)) => Ok(Vec::new()),
        Err(_) => Err("the program that has the picture does not hand it over; copy it again".to_owned()),
    }
}
