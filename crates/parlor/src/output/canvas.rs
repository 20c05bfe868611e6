//! A screen of its own on stdout for a report that is drawn again and again. Only what changed is written, in place, so that nothing
//! flickers; what stood on the terminal before is there again at the end, whatever ends it.

use super::stream::{self, Stream};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use std::time::Duration;
use tokio::sync::mpsc;

/// Another screen, without a cursor; and back.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[2J";
const LEAVE: &str = "\u{1b}[0m\u{1b}[?25h\u{1b}[?1049l";
/// The terminal shows what is between these at once.
const TOGETHER: (&str, &str) = ("\u{1b}[?2026h", "\u{1b}[?2026l");
/// How often it is looked whether a key was pressed.
const KEYS_EVERY: Duration = Duration::from_millis(100);

/// A screen that is being drawn on.
pub(crate) struct Canvas {
    shown: Vec<String>,
    title: String,
    /// How the terminal was before.
    before: Option<Termios>,
    keys: mpsc::Receiver<()>,
}

impl Canvas {
    /// Takes the screen.
    pub(crate) fn open() -> Canvas {
        let before = quiet_keys();
        stream::control(ENTER);
        let (pressed, keys) = mpsc::channel(1);
        if before.is_some() {
            std::thread::spawn(move || read_keys(&pressed));
        }
        Canvas { shown: Vec::new(), title: String::new(), before, keys }
    }

    /// Draws these lines in the place of those before.
    pub(crate) fn draw(&mut self, lines: &[String]) {
        let mut frame = String::new();
        for (at, line) in lines.iter().enumerate() {
            if self.shown.get(at) != Some(line) {
                let line = Stream::Out.harmless(line);
                frame.push_str(&format!("\u{1b}[{};1H{line}\u{1b}[0m\u{1b}[K", at + 1));
            }
        }
        if lines.len() < self.shown.len() {
            frame.push_str(&format!("\u{1b}[{};1H\u{1b}[J", lines.len() + 1));
        }
        self.shown = lines.to_vec();
        if !frame.is_empty() {
            stream::control(&format!("{}{frame}{}", TOGETHER.0, TOGETHER.1));
        }
    }

    /// Everything is drawn anew, for instance after the size changed.
    pub(crate) fn forget(&mut self) {
        self.shown.clear();
        stream::control("\u{1b}[2J");
    }

    /// Names the window.
    pub(crate) fn title(&mut self, title: &str) {
        if self.title != title {
            title.clone_into(&mut self.title);
            stream::control(&format!("\u{1b}]0;{}\u{7}", Stream::Out.harmless(title)));
        }
    }

    /// Rings, and shows these words on the desktop.
    pub(crate) fn ring(&self, bell: bool, words: Option<&str>) {
        if bell {
            stream::control("\u{7}");
        }
        if let Some(words) = words {
            stream::control(&tui::notification(&Stream::Out.harmless(words)));
        }
    }

    /// Waits until the person wants to leave.
    pub(crate) async fn left(&mut self) {
        if self.keys.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Canvas {
    fn drop(&mut self) {
        stream::control(LEAVE);
        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, before);
        }
    }
}

/// Lets keys be read one by one and not be shown; gives how it was before. `None` where there is no terminal to read from.
fn quiet_keys() -> Option<Termios> {
    let before = tcgetattr(std::io::stdin()).ok()?;
    let mut quiet = before.clone();
    quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
    // A read gives what there is, at once or after a while.
    quiet.special_codes[SpecialCodeIndex::VMIN] = 0;
    quiet.special_codes[SpecialCodeIndex::VTIME] = u8::try_from(KEYS_EVERY.as_millis() / 100).unwrap_or(1);
    tcsetattr(std::io::stdin(), OptionalActions::Now, &quiet).ok()?;
    Some(before)
}

/// Reads keys until one of them means to leave, or nobody waits for it any more.
fn read_keys(pressed: &mpsc::Sender<()>) {
    let mut key = [0; 16];
    while !pressed.is_closed() {
        match rustix::io::read(std::io::stdin(), &mut key) {
            // Alone it is Esc; the beginning of an arrow key is not.
            Ok(count) if key[..count].contains(&b'q') || key[..count] == [0x1b] || key[..count] == [4] => {
                let _ = pressed.blocking_send(());
                return;
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
