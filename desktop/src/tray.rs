//! The place in the tray, as `crates/window` says it is to be shown. Clicks show and hide, the menu leads to questions and answers none.

use ksni::menu::{MenuItem, StandardItem};
use ksni::{Category, Handle, Status, ToolTip, TrayMethods as _};
use std::sync::Arc;
use tokio::sync::watch;
use window::tray::{Choice, Fleet, Mood, Tray, tray};

/// Side of the picture, and of the diamond in it in sixteenths of that.
const SIDE: i32 = 32;

/// Does what was chosen.
pub(crate) type Choose = Arc<dyn Fn(&Choice) + Send + Sync>;

/// What the desktop's tray asks what to draw and tells what was clicked.
pub(crate) struct Item {
    choose: Choose,
    shown: Tray,
}

/// Puts it into the tray; why not, where the desktop has none.
pub(crate) fn put(choose: Choose) -> Result<Handle<Item>, ksni::Error> {
    let item = Item { choose, shown: tray(None) };
    tauri::async_runtime::block_on(item.spawn())
}

/// Shows the fleet, from now on.
pub(crate) async fn show(handle: Handle<Item>, mut told: watch::Receiver<Option<Fleet>>) {
    while told.changed().await.is_ok() {
        let shown = tray(told.borrow_and_update().as_ref());
        if handle.update(|item| item.shown = shown).await.is_none() {
            return;
        }
    }
}

impl ksni::Tray for Item {
    fn id(&self) -> String {
        "dev.parlor.desktop".to_owned()
    }

    fn title(&self) -> String {
        self.shown.title.clone()
    }

    fn category(&self) -> Category {
        Category::ApplicationStatus
    }

    fn status(&self) -> Status {
        if self.shown.mood == Mood::Waiting { Status::NeedsAttention } else { Status::Active }
    }

    fn icon_pixmap(&self) -> Vec<ksni::Icon> {
        vec![diamond(match self.shown.mood {
            Mood::Calm => [0xff, 0x24, 0x56, 0xc4],
            Mood::Waiting => [0xff, 0xb3, 0x6b, 0x00],
            Mood::Off => [0xff, 0x80, 0x80, 0x80],
        })]
    }

    fn attention_icon_pixmap(&self) -> Vec<ksni::Icon> {
        self.icon_pixmap()
    }

    fn tool_tip(&self) -> ToolTip {
        ToolTip { title: self.shown.title.clone(), ..ToolTip::default() }
    }

    fn activate(&mut self, _: i32, _: i32) {
        (self.choose)(&Choice::Toggle);
    }

    fn menu(&self) -> Vec<MenuItem<Item>> {
        let item = |(label, choice): &(String, Choice)| {
            let choice = choice.clone();
            MenuItem::Standard(StandardItem {
                // One underscore would be a key of the menu.
                label: label.replace('_', "__"),
                enabled: choice != Choice::Nothing,
                activate: Box::new(move |item: &mut Item| (item.choose)(&choice)),
                ..StandardItem::default()
            })
        };
        self.shown.menu.iter().map(item).collect()
    }
}

/// Our sign in one colour: ARGB, the upper left first.
fn diamond(colour: [u8; 4]) -> ksni::Icon {
    let middle = SIDE - 1;
    let inside = |x: i32, y: i32| (2 * x - middle).abs() + (2 * y - middle).abs() <= SIDE * 13 / 16;
    let pixels = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| if inside(x, y) { colour } else { [0; 4] }));
    ksni::Icon { width: SIDE, height: SIDE, data: pixels.flatten().collect() }
}
