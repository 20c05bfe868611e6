//! What is kept of the shell between two starts: how its window stood, and what the person set. A file that cannot be read is told and
//! left alone; what it does not say is as usual.
//!
//! Invariant: whatever stands in the file, the window fits on the screen and can be read.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Width and height of the small window.
pub const SMALL: (u32, u32) = (360, 600);
/// Of the full window, the first time.
pub const FULL: (u32, u32) = (1_100, 780);
/// Bounds of what is taken from a file.
const SIDES: std::ops::RangeInclusive<u32> = 240..=16_384;
/// Zoom in percent.
const ZOOM: std::ops::RangeInclusive<u32> = 30..=500;
/// Bytes of the file that are read.
const MAX_FILE: u64 = 64 * 1024;
/// Characters of a shortcut.
const MAX_SHORTCUT: usize = 60;
/// Characters of an agent's name and of a folder.
const MAX_NAME: usize = 200;
const MAX_FOLDER: usize = 4_096;
/// The shortcut that brings the window, unless another is set.
pub const SHORTCUT: &str = "Ctrl+Shift+Space";

/// The file's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// Whether the small window is the one that is shown.
    pub small: bool,
    pub width: u32,
    pub height: u32,
    /// Where the full window stood; nowhere in particular without it.
    pub at: Option<(i32, i32)>,
    pub maximized: bool,
    /// In percent.
    pub zoom: u32,
    /// Whether the shell starts in the tray.
    pub hidden: bool,
    /// What brings the window, as `Ctrl+Shift+Space`; empty for nothing.
    pub shortcut: String,
    /// Whether the desktop tells that a session waits while the window is not looked at.
    pub notify: bool,
    /// The agent that a session begins with, by its name, unless another is chosen; empty for Parlor's own.
    pub agent: String,
    /// The folder that it begins in, unless another is chosen; empty for the one that was used last.
    pub folder: String,
}

/// What the person may set in the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub small: bool,
    pub zoom: u32,
    pub hidden: bool,
    pub shortcut: String,
    pub notify: bool,
    pub agent: String,
    pub folder: String,
    /// Whether the shell is started at login, which is no word of the file.
    pub autostart: bool,
}

impl Default for Kept {
    fn default() -> Kept {
        Kept {
            small: false,
            width: FULL.0,
            height: FULL.1,
            at: None,
            maximized: false,
            zoom: 100,
            hidden: false,
            shortcut: SHORTCUT.to_owned(),
            notify: true,
            agent: String::new(),
            folder: String::new(),
        }
    }
}

/// The file: `desktop.json` in the folder of settings.
pub fn file(var: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name| var(name).filter(|folder| folder.is_absolute());
    let folder = absolute("PARLOR_CONFIG_DIR")
        .or_else(|| absolute("XDG_CONFIG_HOME").map(|folder| folder.join("parlor")))
        .or_else(|| absolute("HOME").map(|home| home.join(".config/parlor")))?;
    Some(folder.join("desktop.json"))
}

impl Kept {
    /// What stands in the file; as usual where there is none, and what was wrong with it.
    pub fn read(file: &Path) -> (Kept, Option<String>) {
        use io::Read as _;
        let mut text = String::new();
        let opened = std::fs::File::open(file);
        match opened.and_then(|opened| opened.take(MAX_FILE).read_to_string(&mut text)) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => return (Kept::default(), None),
            Err(why) => return (Kept::default(), Some(format!("{} cannot be read: {why}", file.display()))),
            Ok(_) => {}
        }
        // A list would be taken for the values in their order.
        let members = serde_json::from_str::<Map<String, Value>>(&text);
        match members.and_then(|members| serde_json::from_value::<Kept>(Value::Object(members))) {
            Ok(kept) => (kept.bounded(), None),
            Err(why) => (Kept::default(), Some(format!("{} cannot be read: {why}", file.display()))),
        }
    }

    fn bounded(mut self) -> Kept {
        let within =
            |value: u32, range: &std::ops::RangeInclusive<u32>| value.clamp(*range.start(), *range.end());
        self.width = within(self.width, &SIDES);
        self.height = within(self.height, &SIDES);
        self.zoom = within(self.zoom, &ZOOM);
        self
    }

    /// What of it the person may set.
    pub fn settings(&self, autostart: bool) -> Settings {
        let Kept { small, zoom, hidden, shortcut, notify, agent, folder, .. } = self.clone();
        Settings { small, zoom, hidden, shortcut, notify, agent, folder, autostart }
    }

    /// As the person wants it now; the place of the window stays.
    #[must_use]
    pub fn with(self, wanted: &Settings) -> Kept {
        let Settings { small, zoom, hidden, shortcut, notify, agent, folder, autostart: _ } = wanted.clone();
        let line = |text: &str, most| text.chars().filter(|one| !one.is_control()).take(most).collect();
        let shortcut = line(&shortcut, MAX_SHORTCUT);
        let (agent, folder) = (line(&agent, MAX_NAME), line(&folder, MAX_FOLDER));
        Kept { small, zoom, hidden, shortcut, notify, agent, folder, ..self }.bounded()
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        let folder = file.parent().ok_or(io::ErrorKind::InvalidInput)?;
        std::fs::create_dir_all(folder)?;
        let beside = file.with_extension(format!("json.{}", std::process::id()));
        let mut new = std::fs::File::create(&beside)?;
        new.write_all(&serde_json::to_vec_pretty(self)?)?;
        new.write_all(b"\n")?;
        std::fs::rename(&beside, file)
    }

    /// Whether the full window, where it stood, can be reached on one of these screens (left, top, width, height): else it is put where
    /// the system likes it.
    pub fn is_on(&self, screens: &[(i32, i32, u32, u32)]) -> bool {
        /// Of the upper edge, so much has to be seen to take hold of it.
        const SEEN: i32 = 80;
        let Some((left, top)) = self.at else { return false };
        let width = i32::try_from(self.width).unwrap_or(i32::MAX);
        screens.iter().any(|(x, y, w, h)| {
            let (right, bottom) = (x.saturating_add_unsigned(*w), y.saturating_add_unsigned(*h));
            left.saturating_add(width) >= x.saturating_add(SEEN)
                && left <= right.saturating_sub(SEEN)
                && (*y..bottom.saturating_sub(SEEN)).contains(&top)
        })
    }
}

/// Where the small window comes up: in the middle of the screen that the cursor is on (left, top, width, height).
pub fn small_place(
    cursor: (i32, i32),
    screens: &[(i32, i32, u32, u32)],
    small: (u32, u32),
) -> Option<(i32, i32)> {
    let holds = |screen: &&(i32, i32, u32, u32)| {
        let (x, y, w, h) = **screen;
        (x..x.saturating_add_unsigned(w)).contains(&cursor.0)
            && (y..y.saturating_add_unsigned(h)).contains(&cursor.1)
    };
    let (x, y, w, h) = *screens.iter().find(holds).or_else(|| screens.first())?;
    Some((
        x.saturating_add_unsigned(w.saturating_sub(small.0) / 2),
        y.saturating_add_unsigned(h.saturating_sub(small.1) / 2),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_what_cannot_be_read_is_told_and_left() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a/desktop.json");
        assert_eq!(Kept::read(&file), (Kept::default(), None));
        let kept = Kept { small: true, zoom: 120, at: Some((-5, 7)), ..Kept::default() };
        kept.write(&file).unwrap();
        assert_eq!(Kept::read(&file), (kept, None));
        std::fs::write(&file, r#"{"width":1,"height":99999999,"zoom":0,"more":1}"#).unwrap();
        let (kept, told) = Kept::read(&file);
        assert_eq!((kept.width, kept.height, kept.zoom, told), (240, 16_384, 30, None));
        for bad in ["{", "[]", r#"{"zoom":-1}"#, "\u{0}"] {
            std::fs::write(&file, bad).unwrap();
            let (kept, told) = Kept::read(&file);
            assert!(kept == Kept::default() && told.is_some(), "{bad}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), bad);
        }
    }

    #[test]
    fn what_is_set_in_the_window_is_bounded_and_leaves_its_place() {
        let kept = Kept { at: Some((5, 7)), width: 900, ..Kept::default() };
        let wanted = Settings {
            small: true,
            zoom: 9_999,
            hidden: true,
            shortcut: format!("a\n{}", "b".repeat(99)),
            notify: false,
            agent: "go\u{7}ose".to_owned(),
            folder: "/p".repeat(9_999),
            autostart: true,
        };
        let set = kept.clone().with(&wanted);
        assert_eq!((set.at, set.width, set.zoom, set.small, set.notify), (kept.at, 900, 500, true, false));
        assert_eq!(
            (set.shortcut.len(), &set.agent[..], set.folder.len()),
            (MAX_SHORTCUT, "goose", MAX_FOLDER)
        );
        assert_eq!(set.clone().with(&set.settings(false)), set);
        assert!(serde_json::from_str::<Settings>(r#"{"small":true,"allow":true}"#).is_err());
    }

    #[test]
    fn a_window_comes_back_only_where_it_can_be_taken_hold_of() {
        let screens = [(0, 0, 1_000, 800), (1_000, 0, 1_000, 800)];
        let at = |x, y| Kept { at: Some((x, y)), ..Kept::default() }.is_on(&screens);
        assert!(at(0, 0) && at(1_500, 100) && at(-900, 10));
        assert!(
            !at(1_950, 0)
                && !at(0, -1)
                && !at(0, 790)
                && !at(-1_050, 0)
                && !at(i32::MAX, i32::MAX)
                && !at(i32::MIN, 0)
        );
        assert!(!Kept::default().is_on(&screens));
    }

    #[test]
    fn the_small_window_is_on_the_screen_of_the_cursor() {
        let screens = [(0, 0, 1_000, 800), (1_000, 0, 1_000, 800)];
        assert_eq!(small_place((1_200, 5), &screens, SMALL), Some((1_320, 100)));
        assert_eq!(small_place((-9, -9), &screens, SMALL), Some((320, 100)));
        assert_eq!(small_place((0, 0), &[], SMALL), None);
        assert_eq!(small_place((0, 0), &[(0, 0, 100, 100)], SMALL), Some((0, 0)));
    }

    #[test]
    fn the_file_lies_with_the_settings() {
        let with = |set: &'static [(&'static str, &'static str)]| {
            file(move |name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| PathBuf::from(value)))
        };
        assert_eq!(with(&[("PARLOR_CONFIG_DIR", "/c"), ("HOME", "/h")]), Some("/c/desktop.json".into()));
        assert_eq!(
            with(&[("XDG_CONFIG_HOME", "rel"), ("HOME", "/h")]),
            Some("/h/.config/parlor/desktop.json".into())
        );
        assert_eq!(with(&[("XDG_CONFIG_HOME", "/x")]), Some("/x/parlor/desktop.json".into()));
        assert_eq!(with(&[]), None);
    }
}
