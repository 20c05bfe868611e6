//! What the person can set of the screen: names, values, and what each means. One table serves the settings file and `/settings`.
//!
//! Knows no file: the program around the UI reads them first and keeps what is chosen (see `Options` of the shell). A value that does not
//! exist is told and changes nothing.

use crate::theme::{THEMES, Theme};

/// What is rung when the person is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notify {
    /// The terminal's bell.
    pub bell: bool,
    /// A notification of the desktop, through the terminal.
    pub desktop: bool,
}

/// How the screen is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Colours; without a choice they follow the terminal.
    pub theme: Option<Theme>,
    /// Whether finished text goes to the terminal's own scrollback instead of a screen of its own.
    pub inline: bool,
    /// Whether the mouse is the UI's (else the terminal's own selection works).
    pub mouse: bool,
    /// What is rung when the person is needed.
    pub notify: Notify,
    /// Whether pictures are shown where the terminal can.
    pub images: bool,
    /// Whether it is told here when a session elsewhere waits for the person.
    pub fleet: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        let notify = Notify { bell: true, desktop: true };
        Settings { theme: None, inline: false, mouse: true, notify, images: true, fleet: false }
    }
}

/// One thing that the person can set and that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    Theme,
    /// Full screen or inline.
    Screen,
    Mouse,
    Notify,
    Images,
    /// Whether sessions elsewhere are told of.
    Fleet,
}

/// All of them: name, what it is about.
pub(crate) const SETTINGS: &[(Setting, &str, &str)] = &[
    (Setting::Theme, "theme", "colours; auto: those that fit your terminal"),
    (Setting::Screen, "screen", "full: the whole terminal; inline: its scrollback"),
    (Setting::Mouse, "mouse", "on: scrolls and copies; off: the terminal selects"),
    (Setting::Notify, "notify", "both: bell and desktop, when you are needed"),
    (Setting::Images, "images", "auto: shown where the terminal can; off: named"),
    (Setting::Fleet, "fleet", "on: tells of sessions elsewhere that wait"),
];

const NOTIFY: &[(&str, Notify)] = &[
    ("both", Notify { bell: true, desktop: true }),
    ("bell", Notify { bell: true, desktop: false }),
    ("desktop", Notify { bell: false, desktop: true }),
    ("off", Notify { bell: false, desktop: false }),
];

impl Setting {
    /// Finds it by its word in the settings file.
    pub(crate) fn named(name: &str) -> Option<Setting> {
        SETTINGS.iter().find(|(_, known, _)| *known == name).map(|(setting, _, _)| *setting)
    }

    /// Its word in the settings file and in `/settings`.
    pub(crate) fn name(self) -> &'static str {
        SETTINGS.iter().find(|(setting, _, _)| *setting == self).map_or("", |(_, name, _)| name)
    }

    /// The values it may have, the default first.
    pub(crate) fn values(self) -> Vec<&'static str> {
        match self {
            Setting::Theme => ["auto"].into_iter().chain(THEMES.iter().map(|(name, _, _)| *name)).collect(),
            Setting::Screen => vec!["full", "inline"],
            Setting::Mouse => vec!["on", "off"],
            Setting::Notify => NOTIFY.iter().map(|(name, _)| *name).collect(),
            Setting::Images => vec!["auto", "off"],
            Setting::Fleet => vec!["off", "on"],
        }
    }

    /// Whether it counts only from the next start on.
    pub(crate) fn later(self) -> bool {
        self == Setting::Screen
    }
}

/// What can stand in `[ui]`: each name with its values, the usual one first, and what it is about.
pub fn settings() -> impl Iterator<Item = (&'static str, Vec<&'static str>, &'static str)> {
    SETTINGS.iter().map(|(setting, name, about)| (*name, setting.values(), *about))
}

/// How much a value is like the one that was meant, at least.
const ALIKE: f64 = 0.8;

/// The value that was meant, if one is like it.
fn near(value: &str, values: &[&'static str]) -> Option<&'static str> {
    let alike = values.iter().map(|known| (strsim::jaro_winkler(value, known), *known));
    let best = alike.filter(|(alike, _)| *alike >= ALIKE).max_by(|one, other| one.0.total_cmp(&other.0));
    best.map(|(_, known)| known)
}

impl Settings {
    /// The value of a setting.
    pub fn value(&self, setting: Setting) -> &'static str {
        let on = |on: bool| if on { "on" } else { "off" };
        match setting {
            Setting::Theme => self.theme.map_or("auto", Theme::name),
            Setting::Screen => ["full", "inline"][usize::from(self.inline)],
            Setting::Mouse => on(self.mouse),
            Setting::Notify => {
                NOTIFY.iter().find(|(_, notify)| *notify == self.notify).map_or("both", |(name, _)| name)
            }
            Setting::Images => ["off", "auto"][usize::from(self.images)],
            Setting::Fleet => on(self.fleet),
        }
    }

    /// Sets a setting by name and value, as they are written in the settings file.
    ///
    /// # Errors
    /// When there is no such setting or value: what there is, in words.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let Some(setting) = Setting::named(name) else {
            let names: Vec<&str> = SETTINGS.iter().map(|(_, name, _)| *name).collect();
            let name = crate::clean::clean_line(name);
            return Err(format!("[ui] knows no {name}; it knows {} and [ui.keys]", names.join(", ")));
        };
        let value = match value {
            "true" => "on",
            "false" => "off",
            other => other,
        };
        // What is a yes for pictures has a name of its own.
        let value = if setting == Setting::Images && value == "on" { "auto" } else { value };
        if !setting.values().contains(&value) {
            let value = crate::clean::clean_line(value);
            let near = near(&value, &setting.values());
            let near = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
            let (is, values) = (self.value(setting), setting.values().join(", "));
            return Err(format!("{name} cannot be {value}{near}, so it is {is}; it can be {values}"));
        }
        match setting {
            Setting::Theme => self.theme = Theme::named(value),
            Setting::Screen => self.inline = value == "inline",
            Setting::Mouse => self.mouse = value == "on",
            Setting::Notify => {
                let known = NOTIFY.iter().find(|(name, _)| *name == value);
                self.notify = known.map_or(self.notify, |(_, notify)| *notify);
            }
            Setting::Images => self.images = value == "auto",
            Setting::Fleet => self.fleet = value == "on",
        }
        Ok(())
    }

    /// The value after the one a setting has; behind the last comes the first.
    pub(crate) fn next(&self, setting: Setting) -> &'static str {
        let values = setting.values();
        let at = values.iter().position(|value| *value == self.value(setting)).map_or(0, |at| at + 1);
        values.get(at).or(values.first()).copied().unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_can_be_set_and_is_told_again() {
        for (setting, name, _) in SETTINGS {
            let mut settings = Settings::default();
            assert_eq!(settings.value(*setting), setting.values()[0], "the default of {name} comes first");
            for value in setting.values() {
                settings.set(name, value).unwrap();
                assert_eq!(settings.value(*setting), value);
            }
            assert_eq!(settings.next(*setting), setting.values()[0], "{name} goes round");
        }
    }

    #[test]
    fn what_does_not_exist_is_told_and_changes_nothing() {
        let mut settings = Settings::default();
        for (name, value, word) in [
            (
                "color",
                "dark",
                "[ui] knows no color; it knows theme, screen, mouse, notify, images, fleet and [ui.keys]",
            ),
            (
                "theme",
                "drak",
                "theme cannot be drak (did you mean dark?), so it is auto; it can be auto, terminal, dark, light, contrast, plain",
            ),
            ("screen", "true", "screen cannot be on, so it is full; it can be full, inline"),
        ] {
            assert_eq!(settings.set(name, value), Err(word.to_owned()));
        }
        assert_eq!(settings, Settings::default());
        settings.set("mouse", "false").unwrap();
        settings.set("images", "true").unwrap();
        assert_eq!(settings, Settings { mouse: false, ..Settings::default() });
    }
}
