//! What the person has set, and what the terminal can: colours, keys, pictures.

use crate::keymap::{Action, Keymap};
use crate::look::Appearance;
use crate::picture::Graphics;
use crate::settings::{Setting, Settings};
use crate::theme::{Depth, Theme};

/// How the screen is to be for this person on this terminal.
#[derive(Debug)]
pub(crate) struct Preferences {
    settings: Settings,
    keymap: Keymap,
    /// Colours, as they are now.
    theme: Theme,
    /// Colours where the person chose none: they follow the terminal.
    auto: Theme,
    /// Colours that the terminal shows.
    depth: Depth,
    graphics: Graphics,
}

impl Preferences {
    /// Nothing is set: these colours, the default keys, no pictures.
    pub(crate) fn new(auto: Theme) -> Preferences {
        let (settings, keymap) = (Settings::default(), Keymap::default());
        Preferences { settings, keymap, theme: auto, auto, depth: Depth::All, graphics: Graphics::None }
    }

    /// Takes what the person had set before.
    pub(crate) fn load(&mut self, settings: Settings, keymap: Keymap) {
        (self.settings, self.keymap) = (settings, keymap);
        self.recolour();
    }

    /// The terminal shows so many colours.
    pub(crate) fn colour_with(&mut self, depth: Depth) {
        self.depth = depth;
        self.recolour();
    }

    /// Colours that may be written.
    pub(crate) fn depth(&self) -> Depth {
        if self.theme == Theme::Plain { Depth::Mono } else { self.depth }
    }

    /// The terminal can do this with pictures.
    pub(crate) fn draw_with(&mut self, graphics: Graphics) {
        self.graphics = graphics;
    }

    /// What is kept for the next start.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Which key does what for this person.
    pub(crate) fn keymap(&self) -> &Keymap {
        &self.keymap
    }

    /// The colours, as they are now.
    pub(crate) fn theme(&self) -> Theme {
        self.theme
    }

    /// What the terminal can do with pictures.
    pub(crate) fn graphics(&self) -> Graphics {
        self.graphics
    }

    /// Gives a setting a value.
    ///
    /// # Errors
    /// When there is no such value: what there is, in words.
    pub(crate) fn set(&mut self, setting: Setting, value: &str) -> Result<(), String> {
        self.settings.set(setting.name(), value)?;
        if setting == Setting::Theme {
            self.recolour();
        }
        Ok(())
    }

    /// Shows colours before they are taken.
    pub(crate) fn try_on(&mut self, name: &str) {
        self.theme = self.fitting(Theme::named(name).unwrap_or(self.auto));
    }

    /// Takes the colours that are set.
    pub(crate) fn recolour(&mut self) {
        self.theme = self.fitting(self.settings.theme.unwrap_or(self.auto));
    }

    /// Soft colours cannot be mixed from sixteen: there the sixteen that the person has stand for them.
    fn fitting(&self, theme: Theme) -> Theme {
        match theme {
            Theme::Dark | Theme::Light if self.depth < Depth::Indexed => Theme::Terminal,
            Theme::Dark | Theme::Light | Theme::Terminal | Theme::Contrast | Theme::Plain => theme,
        }
    }

    /// The terminal told how dark its screen is: colours that nobody chose follow it.
    pub(crate) fn fit_background(&mut self, dark: bool) {
        if matches!(self.auto, Theme::Dark | Theme::Light) {
            self.auto = if dark { Theme::Dark } else { Theme::Light };
            self.recolour();
        }
    }

    /// Whether pictures are shown: the person wants it and the terminal can.
    fn shows_pictures(&self) -> bool {
        let can = match self.graphics {
            Graphics::None => false,
            Graphics::Blocks => self.theme != Theme::Plain,
            Graphics::Placeholders => true,
        };
        can && self.settings.images
    }

    /// How a cell of the conversation is drawn in so many columns, folded.
    pub(crate) fn cell_look(&self, columns: usize) -> Appearance {
        let opens = self.keymap.first(Action::Fold);
        Appearance {
            columns,
            theme: self.theme,
            open: false,
            whole: false,
            opens,
            pictures: self.shows_pictures(),
        }
    }

    /// How what stands around the conversation is drawn in so many columns.
    pub(crate) fn panel_look(&self, columns: usize) -> Appearance {
        Appearance { open: true, pictures: false, ..self.cell_look(columns) }
    }
}
