//! Questions of the shell itself, as dialogs of the desktop: never about what an agent may do, which is asked in the page.
//!
//! Invariant: one stands at a time, so that nobody can bury the person under them.

use crate::outside::warn;
use gtk::prelude::*;
use std::cell::Cell;
use window::address;

thread_local! {
    /// Dialogs that stand; all are made on the main thread.
    static STANDING: Cell<u32> = const { Cell::new(0) };
}

/// The window that a question stands before.
pub(crate) type Parent<'a> = Option<&'a gtk::ApplicationWindow>;

/// Shows an address and asks whether it is to be opened. Must be called on the main thread.
pub(crate) fn open(parent: Parent<'_>, shown: &str, open: impl Fn(&str) -> Result<(), String> + 'static) {
    if one_stands() {
        return;
    }
    if let Err(why) = address::openable(shown) {
        return tell(parent, "This link is not opened", &format!("{}: {why}", readable(shown)));
    }
    let (address, again) = (shown.to_owned(), parent.cloned());
    ask(parent, "Open this link outside of Parlor?", shown, "Open", move || {
        if let Err(why) = open(&address) {
            tell(again.as_ref(), "The link could not be opened", &why);
        }
    });
}

/// Shows where a link from elsewhere leads and asks whether to go there. Must be called on the main thread.
pub(crate) fn follow(parent: Parent<'_>, link: &str, go: impl Fn(&str) + 'static) {
    if one_stands() {
        return;
    }
    match address::session(link) {
        Err(why) => tell(parent, "A link to Parlor leads nowhere", &why.to_string()),
        Ok(session) => {
            let asked = format!("Another program asks to show the session {session}.");
            ask(parent, "Show this session?", &asked, "Show", move || go(&address::place(&session)));
        }
    }
}

/// Whether the person is asked already: what comes then is left out, and said where the shell was started.
fn one_stands() -> bool {
    let stands = STANDING.get() > 0;
    if stands {
        warn("a link was left out: another one is being asked about");
    }
    stands
}

/// Characters of a line of a dialog: so many lines as the longest address has fit on a screen.
const LINE: i32 = 90;
/// Characters of an address that is not opened.
const MAX_SHOWN: usize = 200;

fn readable(shown: &str) -> String {
    let start: String = shown.chars().take(MAX_SHOWN).collect();
    domain::harmless::in_line(&start)
}

fn ask(parent: Parent<'_>, title: &str, words: &str, yes: &str, then: impl Fn() + 'static) {
    let dialog = dialog(parent, gtk::MessageType::Question, title, words);
    dialog.add_button("Cancel", gtk::ResponseType::Cancel);
    dialog.add_button(yes, gtk::ResponseType::Accept);
    // A key that was meant for something else says no.
    dialog.set_default_response(gtk::ResponseType::Cancel);
    dialog.connect_response(move |dialog, response| {
        dialog.close();
        if response == gtk::ResponseType::Accept {
            then();
        }
    });
    dialog.show_all();
}

fn tell(parent: Parent<'_>, title: &str, words: &str) {
    let dialog = dialog(parent, gtk::MessageType::Info, title, words);
    dialog.add_button("Close", gtk::ResponseType::Close);
    dialog.connect_response(|dialog, _| dialog.close());
    dialog.show_all();
}

fn dialog(parent: Parent<'_>, kind: gtk::MessageType, title: &str, words: &str) -> gtk::MessageDialog {
    let dialog =
        gtk::MessageDialog::new(parent, gtk::DialogFlags::MODAL, kind, gtk::ButtonsType::None, title);
    // Plain text, no markup: it comes from elsewhere.
    dialog.set_secondary_text(Some(words));
    // All of it is seen: an address has no spaces, and would lead out of the screen in one line.
    for label in dialog.message_area().downcast::<gtk::Box>().into_iter().flat_map(|area| area.children()) {
        if let Ok(label) = label.downcast::<gtk::Label>() {
            label.set_line_wrap_mode(gtk::pango::WrapMode::WordChar);
            label.set_max_width_chars(LINE);
        }
    }
    dialog.set_title("Parlor");
    STANDING.set(STANDING.get() + 1);
    dialog.connect_destroy(|_| STANDING.set(STANDING.get().saturating_sub(1)));
    dialog
}
