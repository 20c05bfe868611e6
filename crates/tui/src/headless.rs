//! The UI without a terminal: messages in, screens and effects out. Scenario tests drive it.

use crate::about::About;
use crate::commands::FleetHere;
use crate::dump::dump;
use crate::fleet::Rows;
use crate::key::{Code, Key};
use crate::layout::has_unseen_question;
use crate::model::Model;
use crate::msg::{FleetNews, Fx, Msg, Outgoing};
use crate::theme::Theme;
use crate::update::update;
use crate::view::{Cache, view};
use domain::ids::{Millis, SessionId};
use domain::port::{Abilities, News};
use domain::state::State;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};

/// The UI without a terminal.
#[derive(Debug)]
pub struct Headless {
    pub(crate) model: Model,
    /// What it wanted done, oldest first.
    pub(crate) fx: Vec<Fx>,
    cache: Cache,
    now: Millis,
}

impl Headless {
    /// A screen of this size, with an empty clock.
    pub fn new(columns: u16, rows: u16) -> Headless {
        let mut headless = Headless {
            model: Model::new(About::default(), Theme::Terminal),
            fx: Vec::new(),
            cache: Cache::default(),
            now: Millis(0),
        };
        headless.feed(Msg::Resize(columns, rows));
        headless
    }

    /// Tells this on the first screen.
    pub fn tell(&mut self, about: About) {
        self.model.screen.start.tell(about);
    }

    /// Takes these colours.
    pub fn wear(&mut self, theme: Theme) {
        self.model.screen.preferences.try_on(theme.name());
    }

    /// The session on the screen, if there is one.
    pub fn session(&self) -> Option<&SessionId> {
        self.model.world.current.as_ref()
    }

    /// What is known of the session on the screen.
    pub fn state(&self) -> &State {
        self.model.world.state()
    }

    /// What the runtime behind it can do.
    pub fn abilities(&self) -> &Abilities {
        &self.model.world.seen().abilities
    }

    /// Whether a list is open.
    pub fn shows_list(&self) -> bool {
        self.model.screen.over.list().is_some()
    }

    /// Closes what stands over the screen, and takes away words in passing and what was begun to be written.
    pub fn tidy(&mut self) {
        self.model.screen.over.close();
        self.model.screen.toasts.clear();
        self.model.screen.composer.take();
    }

    /// Feeds a message. The screen is drawn at once.
    pub(crate) fn feed(&mut self, msg: Msg) {
        update(&mut self.model, Msg::Tick(self.now), &mut self.fx);
        update(&mut self.model, msg, &mut self.fx);
        if has_unseen_question(&self.model) {
            update(&mut self.model, Msg::Drawn, &mut self.fx);
        }
    }

    /// Takes something in that the runtime told.
    pub fn hear(&mut self, news: News) {
        self.feed(Msg::News(news));
    }

    /// Types: characters as they are, other keys as `<enter>`, `<ctrl-c>`. A `<` that names no key is typed.
    pub fn keys(&mut self, keys: &str) {
        let mut rest = keys;
        while let Some(c) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|r| r.split_once('>'));
            if let Some((key, after)) =
                named.and_then(|(name, after)| Some((name.parse::<Key>().ok()?, after)))
            {
                self.feed(Msg::Key(key));
                rest = after;
            } else {
                self.feed(Msg::Key(Key::char(c)));
                rest = &rest[c.len_utf8()..];
            }
        }
    }

    /// Gives the screen another size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.feed(Msg::Resize(columns, rows));
    }

    /// Moves the clock on; nothing sleeps.
    pub fn wait(&mut self, ms: u64) {
        self.now = Millis(self.now.0 + ms);
        update(&mut self.model, Msg::Tick(self.now), &mut self.fx);
    }

    /// One frame of the current size, and where the caret is in it.
    pub fn draw(&mut self) -> (Buffer, Option<Position>) {
        let (columns, rows) = self.model.screen.window.size();
        let area = Rect::new(0, 0, columns, rows);
        let mut buffer = Buffer::empty(area);
        let caret = view(&self.model, &mut self.cache, area, &mut buffer);
        (buffer, caret)
    }

    /// The screen with its styles, as `dump` writes it.
    pub fn dump(&mut self) -> String {
        dump(&self.draw().0)
    }

    /// The screen as text.
    pub fn screen(&mut self) -> String {
        let rows = usize::from(self.model.screen.window.size().1);
        self.dump().lines().take(rows).collect::<Vec<_>>().join("\n")
    }

    /// What the screen wanted to send since the last call.
    pub fn sent(&mut self) -> Vec<Outgoing> {
        let fx = std::mem::take(&mut self.fx);
        fx.into_iter()
            .filter_map(|fx| if let Fx::Send(outgoing) = fx { Some(outgoing) } else { None })
            .collect()
    }

    /// Opens the fleet, or shows these rows on it.
    pub fn survey(&mut self, rows: Rows) {
        self.model.screen.start.survey(FleetHere { pid: 0, visits: true });
        if self.model.screen.over.fleet().is_none() {
            self.feed(Msg::Key(Key::plain(Code::F(3))));
        }
        self.feed(Msg::Fleet(FleetNews::Rows(rows)));
    }

    /// How many cells were laid out and are kept.
    #[cfg(test)]
    pub(crate) fn laid_out(&self) -> usize {
        self.cache.laid_out()
    }
}
