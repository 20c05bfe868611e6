//! The model: all that the UI knows. It changes only in `update`; `view` draws it.
//!
//! The screen is made of components. Each owns its state and what keys and news do to it; what concerns several of them is decided
//! in `update`.

use crate::about::{About, Start};
use crate::ask::{Around, Asks, Keyboard};
use crate::composer::Composer;
use crate::devices::Entrants;
use crate::figures::counted;
use crate::fleet::FleetRows;
use crate::flow::Flow;
use crate::msg::{FleetWish, Fx, Outgoing};
use crate::overlay::Over;
use crate::picker::{Choice, ListKind};
use crate::picture::Pictures;
use crate::preferences::Preferences;
use crate::settings::Setting;
use crate::theme::Theme;
use crate::toasts::{Toasts, Topic};
use crate::transcript::{Transcript, TranscriptPage};
use crate::user_command::OwnCommand;
use crate::window::Window;
use crate::wishes::Wishes;
use crate::world::World;
use domain::command::{Command, Target};
use domain::content::Input;
use domain::ids::{EntryId, SessionId};
use domain::port::Ticket;
use domain::session::Policy;
use domain::signal::Level;
use ratatui_core::layout::Rect;
use std::collections::BTreeMap;

/// Commands whose receipt is waited for at most; older ones are forgotten.
const MAX_PENDING: usize = 256;

/// All that the view draws from: nothing else decides what is seen.
#[derive(Debug)]
pub(crate) struct Model {
    /// What came from the runtime.
    pub(crate) world: World,
    /// What the person sees and does.
    pub(crate) screen: Screen,
}

/// What the person sees and does, by components.
#[derive(Debug)]
pub(crate) struct Screen {
    pub(crate) window: Window,
    pub(crate) start: Start,
    pub(crate) preferences: Preferences,
    /// Pictures that were decoded.
    pub(crate) pictures: Pictures,
    pub(crate) composer: Composer,
    /// A command that the person ran: its output goes along with the next prompt.
    pub(crate) own: OwnCommand,
    pub(crate) transcript: Transcript,
    pub(crate) asks: Asks,
    /// What stands over everything.
    pub(crate) over: Over,
    /// Rows of sessions wherever they run, while somebody tells them.
    pub(crate) fleet: FleetRows,
    /// The devices of the page, and who wants to become one.
    pub(crate) devices: Entrants,
    pub(crate) toasts: Toasts,
    pub(crate) wishes: Wishes,
    /// How fast text comes in.
    pub(crate) flow: Flow,
    /// What was sent and is not settled.
    pub(crate) tickets: Tickets,
}

/// What a command was sent for, to know what to do with its receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Want {
    /// Only that it is done.
    Nothing,
    /// That this text is heard; it comes back to the composer if it is refused.
    Said(String),
    /// That this input waits for its turn in the run of this session; when the run was over by then, it is said as a prompt.
    Waits(Option<SessionId>, Input),
    /// That an answer is taken; the question is open again if it is refused.
    Answer,
    /// That a question is known to be on the screen; not every runtime has to know.
    Shown,
    /// A list for the picker on the screen.
    List(ListKind),
    /// Another session, and these words in it.
    Words(String),
    /// A text to write to a file.
    Export(String),
    /// That the runtime has saved the session, and where.
    Saved,
    /// A word when it worked.
    Word(&'static str),
    /// That older messages are summarised; a receipt alone does not say so.
    Summary,
    /// That this mode is taken; what that means is known when it was.
    Policy(Policy),
    /// That this mode is taken, as the next one: where it cannot be had, the one after it is.
    NextPolicy(Policy),
    /// That a rule is taken back; those that are left come with it.
    Revoked,
    /// That a server reaches more or less now; how the servers are is asked for again.
    Reach,
    /// That this port is open on the person's machine, or closed again.
    Port(u16, bool),
    /// That commands may reach this port of the person's machine.
    PortAllowed(u16),
    /// What it answers, to be read.
    Told,
    /// That what this line stands for is gone; it stays in its list until then.
    Gone(Choice),
    /// The skills, for completion.
    Skills,
    /// The models, for completion.
    ModelNames,
    /// That files were taken back or done again; the conversation says which.
    Files,
    /// What changed, as a page with this title.
    Page(&'static str),
    /// That files went with the words to this entry; then the words go.
    GoBack(EntryId),
}

/// Commands on their way, and what each was sent for.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    pending: BTreeMap<Ticket, Want>,
    last: u64,
}

impl Tickets {
    /// A ticket for a command that is sent now.
    fn issue(&mut self, want: Want) -> Ticket {
        self.last += 1;
        let ticket = Ticket(self.last);
        if self.pending.len() >= MAX_PENDING {
            self.pending.pop_first();
        }
        self.pending.insert(ticket, want);
        ticket
    }

    /// What a command was sent for that is settled now.
    pub(crate) fn settle(&mut self, ticket: Ticket) -> Option<Want> {
        self.pending.remove(&ticket)
    }

    /// What nobody will settle any more, the newest first.
    pub(crate) fn take_lost(&mut self) -> impl Iterator<Item = Want> + use<> {
        std::mem::take(&mut self.pending).into_values().rev()
    }

    /// The mode that was asked for last by the key that takes the next one, while nobody has said that it holds.
    pub(crate) fn policy_to_come(&self) -> Option<Policy> {
        self.pending.values().rev().find_map(|want| match want {
            Want::NextPolicy(policy) => Some(*policy),
            _ => None,
        })
    }

    /// Whether everything that was sent is settled.
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// The ticket of the last command.
    #[cfg(test)]
    pub(crate) fn last(&self) -> Ticket {
        Ticket(self.last)
    }
}

impl Model {
    /// A model before anything was heard.
    pub(crate) fn new(about: About, theme: Theme) -> Model {
        let screen = Screen {
            window: Window::new(),
            start: Start::new(about),
            preferences: Preferences::new(theme),
            pictures: Pictures::default(),
            composer: Composer::default(),
            own: OwnCommand::default(),
            transcript: Transcript::default(),
            asks: Asks::default(),
            over: Over::default(),
            fleet: FleetRows::default(),
            devices: Entrants::default(),
            toasts: Toasts::default(),
            wishes: Wishes::default(),
            flow: Flow::default(),
            tickets: Tickets::default(),
        };
        Model { world: World::default(), screen }
    }

    /// Sends a command about the session on the screen.
    pub(crate) fn send(&mut self, want: Want, command: Command, fx: &mut Vec<Fx>) {
        fx.push(Fx::Send(self.outgoing(want, command)));
    }

    /// A command about the session on the screen.
    pub(crate) fn outgoing(&mut self, want: Want, command: Command) -> Outgoing {
        let ticket = self.screen.tickets.issue(want);
        let target = self.world.current.clone().map_or(Target::Current, Target::Session);
        Outgoing { ticket, target, command }
    }

    /// Keeps a word for whoever looks for it later.
    pub(crate) fn notice(&mut self, level: Level, text: &str) {
        self.screen.toasts.note(self.screen.window.now(), level, text);
    }

    /// Shows a word for a while.
    pub(crate) fn toast(&mut self, level: Level, text: impl AsRef<str>) {
        self.toast_about(Topic::Itself, level, text);
    }

    /// The same, at most as long as there is what it is about.
    pub(crate) fn toast_about(&mut self, topic: Topic, level: Level, text: impl AsRef<str>) {
        self.screen.toasts.say(self.screen.window.now(), level, text.as_ref(), topic);
    }

    /// Rings for the person, as they want it.
    pub(crate) fn ring(&self, text: &str, fx: &mut Vec<Fx>) {
        let notify = self.screen.preferences.settings().notify;
        if notify.bell {
            fx.push(Fx::Bell);
        }
        if notify.desktop {
            fx.push(Fx::Notify(crate::clean::clean_line(text)));
        }
    }

    /// Gives a setting a value and keeps it.
    pub(crate) fn set(&mut self, setting: Setting, value: &'static str, fx: &mut Vec<Fx>) {
        if let Err(why) = self.screen.preferences.set(setting, value) {
            return self.toast(Level::Warning, why);
        }
        match setting {
            Setting::Mouse => fx.push(Fx::Mouse(self.screen.preferences.settings().mouse)),
            Setting::Images => fx.push(Fx::Redraw),
            Setting::Fleet => fx.extend(self.fleet_wish()),
            Setting::Theme | Setting::Screen | Setting::Notify => {}
        }
        fx.push(Fx::Keep { setting, value });
    }

    /// Whether the fleet is to be told of now, where somebody gathers it: while its screen is open, or always if the person wants that.
    pub(crate) fn fleet_wish(&self) -> Option<Fx> {
        let wanted = self.screen.over.fleet().is_some() || self.screen.preferences.settings().fleet;
        self.screen.start.here().fleet.is_some().then_some(Fx::Fleet(FleetWish::Watch(wanted)))
    }

    /// Copies a text and says so.
    pub(crate) fn copy(&mut self, text: &str, fx: &mut Vec<Fx>) {
        let text = crate::clean::clean(text).trim_end().to_owned();
        let (lines, characters) = (text.lines().count(), text.chars().count());
        let (lines, characters) = (counted(lines as u64, "line"), counted(characters as u64, "character"));
        self.toast(Level::Success, format!("copied {lines}, {characters}"));
        fx.push(Fx::Copy(text));
    }

    /// Whether the next key is for the composer or for the question.
    pub(crate) fn keyboard(&self) -> Keyboard {
        let Screen { window, composer, transcript, asks, own, .. } = &self.screen;
        asks.keyboard(Around {
            now: window.now(),
            completing: composer.is_completing(),
            draft: !composer.is_empty(),
            reading: transcript.is_read() || own.is_selected(),
        })
    }

    /// Whether the selection stands somewhere.
    pub(crate) fn selects(&self) -> bool {
        self.screen.own.is_selected() || self.screen.transcript.selected().is_some()
    }

    /// The person does something else than to use the question.
    pub(crate) fn writes(&mut self) {
        self.screen.asks.writes(self.screen.window.now());
    }

    /// The conversation, as it is to stand in `area`.
    pub(crate) fn page(&self, area: Rect) -> TranscriptPage<'_> {
        TranscriptPage::new(self.world.seen(), area, self.screen.preferences.cell_look(0))
    }

    /// Where the person reads, to be moved, and what they read there.
    pub(crate) fn reading(&mut self, area: Rect) -> (&mut Transcript, TranscriptPage<'_>) {
        let Screen { transcript, preferences, .. } = &mut self.screen;
        (transcript, TranscriptPage::new(self.world.seen(), area, preferences.cell_look(0)))
    }
}
