//! The `[ui]` part of the settings: read leniently (a mistake is told and the rest counts), and written back when the person chooses
//! something in the UI. What else stands in the file, comments too, stays as it is.

use host::text_file::load;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, Item, TableLike, Value, value};
use tui::{Keymap, Settings};

/// What the person has set for the screen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ui {
    /// Colours, screen, mouse and so on.
    pub(crate) settings: Settings,
    pub(crate) keys: Keymap,
    /// What is wrong with it, and what to do.
    pub(crate) told: Vec<String>,
}

impl Ui {
    /// As it stands in the file; the defaults where nothing is written or nothing can be read.
    pub(crate) fn read(file: Option<&Path>) -> Ui {
        match file.map(load) {
            Some(Ok(Some(text))) => Ui::parse(&text),
            // What cannot be read or is no TOML is told by whoever reads the agent's part.
            Some(Ok(None) | Err(_)) | None => Ui::default(),
        }
    }

    /// The `[ui]` part of a settings file.
    fn parse(text: &str) -> Ui {
        let mut ui = Ui::default();
        let document: DocumentMut = match text.parse() {
            Ok(document) => document,
            Err(_) => return ui,
        };
        let Some(part) = document.get("ui") else { return ui };
        let Some(part) = part.as_table_like() else {
            ui.told.push("[ui] in config.toml must be a table".to_owned());
            return ui;
        };
        for (name, item) in part.iter().filter(|(name, _)| *name != "keys") {
            let set = match word(item) {
                Some(word) => ui.settings.set(name, &word),
                None => Err(format!("{name} in [ui] must be one word in quotes, or true or false")),
            };
            ui.told.extend(set.err());
        }
        if let Some(keys) = part.get("keys") {
            match keys.as_table_like() {
                Some(keys) => ui.read_keys(keys),
                None => ui.told.push("[ui.keys] must be a table: steer = \"ctrl-t\"".to_owned()),
            }
        }
        ui
    }

    fn read_keys(&mut self, table: &dyn TableLike) {
        let mut wanted = Vec::new();
        for (name, item) in table.iter() {
            match keys(item) {
                Some(keys) => wanted.push((name.to_owned(), keys)),
                None => self.told.push(format!(
                    "{name} in [ui.keys] must be a key in quotes (\"ctrl-t\") or a list of them"
                )),
            }
        }
        let (keys, told) = Keymap::read(&wanted);
        self.keys = keys;
        self.told.extend(told);
    }
}

fn word(item: &Item) -> Option<String> {
    item.as_bool().map(|on| on.to_string()).or_else(|| item.as_str().map(str::to_owned))
}

fn keys(item: &Item) -> Option<Vec<String>> {
    match item.as_value()? {
        Value::String(key) => Some(vec![key.value().clone()]),
        Value::Array(keys) => keys.iter().map(|key| key.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

/// Writes one setting of the screen into the file; tells in words why that did not work.
pub(crate) fn keep(file: &Path, name: &str, chosen: &str) -> Result<(), String> {
    let failed = |what: String| format!("{name} counts until you quit, but could not be kept: {what}");
    // Where the file is a link (as in a folder of dotfiles), what it leads to is written.
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    let text = match load(&file) {
        Ok(text) => text.unwrap_or_default(),
        Err(why) => return Err(failed(format!("{} {why}", file.display()))),
    };
    let mut document: DocumentMut =
        text.parse().map_err(|_| failed(format!("{} is not TOML; put it right first", file.display())))?;
    let part = document.entry("ui").or_insert_with(toml_edit::table);
    let Some(part) = part.as_table_like_mut() else {
        return Err(failed("[ui] in it must be a table".to_owned()));
    };
    match part.get_mut(name).and_then(Item::as_value_mut) {
        Some(known) => {
            let decor = known.decor().clone();
            *known = Value::from(chosen);
            *known.decor_mut() = decor;
        }
        None => {
            part.insert(name, value(chosen));
        }
    }
    replace(&file, &document.to_string()).map_err(|error| failed(format!("{}: {error}", file.display())))
}

/// Puts a text in the place of a file at once: a reader sees the old or the new one, never a half.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().map_or_else(PathBuf::new, Path::to_path_buf);
    fs::create_dir_all(&folder)?;
    let beside = folder.join(format!(".config.toml.{}", std::process::id()));
    let mut written = fs::File::create(&beside)?;
    written.write_all(text.as_bytes())?;
    written.sync_all()?;
    if let Ok(known) = fs::metadata(file) {
        fs::set_permissions(&beside, known.permissions())?;
    }
    fs::rename(&beside, file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tui::{Action, Setting};

    #[test]
    fn settings_of_the_screen_are_read() {
        let ui = Ui::parse(
            "compact_at = 60\n[ui]\ntheme = \"dark\"\nscreen = \"inline\"\nmouse = false\nnotify = \"bell\"\n\
             [ui.keys]\nsteer = \"ctrl-t\"\nfold = [\"f6\", \"f7\"]\n\"/model\" = \"f2\"\n",
        );
        assert_eq!(ui.told, Vec::<String>::new());
        let value = |setting| ui.settings.value(setting);
        assert_eq!((value(Setting::Theme), value(Setting::Screen)), ("dark", "inline"));
        assert_eq!((value(Setting::Mouse), value(Setting::Notify)), ("off", "bell"));
        assert_eq!(ui.keys.shown(Action::Steer), "Ctrl-T");
        assert_eq!(ui.keys.keys(Action::Fold).len(), 2);
    }

    #[test]
    fn a_mistake_is_told_and_the_rest_counts() {
        let ui = Ui::parse(
            "[ui]\ntheme = 3\nscren = \"inline\"\nmouse = \"off\"\n[ui.keys]\nsteer = 1\nfold = \"f6\"\n",
        );
        assert_eq!(
            ui.told,
            [
                "theme in [ui] must be one word in quotes, or true or false",
                "[ui] knows no scren; it knows theme, screen, mouse, notify, images, fleet and [ui.keys]",
                "steer in [ui.keys] must be a key in quotes (\"ctrl-t\") or a list of them",
            ]
        );
        assert_eq!(ui.settings.value(Setting::Mouse), "off");
        assert_eq!(ui.keys.shown(Action::Fold), "F6");
        for (text, told) in [("ui = 3", 1), ("[ui", 0), ("[ui]\nkeys = 3", 1), ("\u{0}", 0)] {
            let ui = Ui::parse(text);
            assert_eq!((ui.told.len(), ui.settings), (told, Settings::default()), "{text:?}");
        }
    }

    #[test]
    fn what_is_chosen_is_kept_and_the_rest_of_the_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/config.toml");
        keep(&file, "theme", "light").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "[ui]\ntheme = \"light\"\n");
        fs::write(&file, "# mine\ncompact_at = 70\n\n[ui] # looks\ntheme = \"dark\" # at night\n").unwrap();
        keep(&file, "theme", "contrast").unwrap();
        keep(&file, "mouse", "off").unwrap();
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            "# mine\ncompact_at = 70\n\n[ui] # looks\ntheme = \"contrast\" # at night\nmouse = \"off\"\n"
        );
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
        assert_eq!(Ui::read(Some(&file)).settings.value(Setting::Theme), "contrast");
    }

    #[test]
    fn a_file_that_cannot_be_changed_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        for text in ["[ui", "ui = 3\n"] {
            fs::write(&file, text).unwrap();
            assert!(keep(&file, "theme", "dark").unwrap_err().contains("could not be kept"));
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
    }

    #[test]
    fn a_link_to_the_file_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("dotfile"), folder.path().join("config.toml"));
        fs::write(&real, "").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        keep(&link, "theme", "dark").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::read_to_string(&real).unwrap().contains("dark"));
    }
}
