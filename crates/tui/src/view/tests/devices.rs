//! Devices of the page on the screen: who was paired, who asks, the list and its keys, and which keys allow nobody.

use crate::msg::{Asking, DeviceLine, FleetNews, FleetWish, Fx, Msg};
use crate::update::tests::AttachedUi;
use domain::ids::Millis;
use expect_test::expect;

fn stage(columns: u16, rows: u16) -> AttachedUi {
    let mut stage = AttachedUi::new(columns, rows);
    stage.ui.model.screen.start.enlist();
    stage.ui.wait(7_200_000);
    stage.ui.fx.clear();
    stage
}

/// A browser with a name of its own choice, such as one that obeys nobody.
pub(super) fn asking(id: u64) -> Asking {
    let (name, role) = ("Firefox\u{1b}[2J on Linux\n".to_owned(), "controller".to_owned());
    Asking { server: 7, id, name, role, code: format!("482 91{id}") }
}

pub(super) fn device(id: &str, name: &str) -> DeviceLine {
    let (id, name) = (id.to_owned(), name.to_owned());
    DeviceLine { id, name, role: "controller".to_owned(), since: Millis(3_600_000) }
}

fn tell(stage: &mut AttachedUi, news: FleetNews) {
    stage.ui.feed(Msg::Fleet(news));
}

fn asks(stage: &mut AttachedUi, id: u64) {
    tell(stage, FleetNews::Asking(Some(asking(id))));
}

fn two() -> FleetNews {
    FleetNews::Devices(vec![device("dev-a", "Chrome on Android"), device("dev-b", "Safari on iPad")])
}

fn wished(stage: &mut AttachedUi) -> Vec<FleetWish> {
    let fx = std::mem::take(&mut stage.ui.fx);
    fx.into_iter().filter_map(|fx| if let Fx::Fleet(wish) = fx { Some(wish) } else { None }).collect()
}

fn flush(screen: &str) -> String {
    screen.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn who_was_paired_is_told_with_what_revokes_it_and_can_be_read_again() {
    let mut stage = stage(120, 24);
    tell(&mut stage, FleetNews::Joined(device("dev-a", "Firefox on\u{1b}[2J Linux")));
    let words = "was paired as controller; /devices revokes it";
    assert!(stage.ui.screen().contains(words), "{}", stage.ui.screen());
    stage.ui.wait(60_000);
    assert!(!stage.ui.screen().contains(words));
    stage.ui.keys("/notices<enter>");
    assert!(stage.ui.screen().contains(words), "{}", stage.ui.screen());
}

#[test]
fn who_asks_rings_and_is_told_with_its_code_until_it_is_over() {
    let mut stage = stage(120, 24);
    asks(&mut stage, 3);
    let rung = "asks to be paired as controller";
    assert!(stage.ui.fx.contains(&Fx::Bell));
    assert!(stage.ui.fx.iter().any(|fx| matches!(fx, Fx::Notify(text) if text.contains(rung))));
    let words = "asks to be paired as controller with the code 482 913; /devices allows or denies it";
    assert!(stage.ui.screen().contains(words), "{}", stage.ui.screen());
    tell(&mut stage, FleetNews::Asking(None));
    assert!(!stage.ui.screen().contains(words), "{}", stage.ui.screen());
    // Whole, also where it takes several rows.
    let mut narrow = self::stage(60, 24);
    asks(&mut narrow, 3);
    let screen = narrow.ui.screen();
    assert!(screen.contains("482 913") && screen.contains("/devices"), "{screen}");
}

#[test]
fn the_list_allows_denies_and_revokes() {
    let mut stage = stage(80, 14);
    asks(&mut stage, 3);
    stage.ui.keys("/devices<enter>");
    assert_eq!(wished(&mut stage), [FleetWish::Devices]);
    tell(&mut stage, two());
    stage.ui.wait(1_000);
    expect![[r#"
        Devices of the page
        >  type to filter
        ? 482 913  “Firefox on Linux”  asks to be paired as controller
          Chrome on Android            controller, paired 1 h ago · dev-a
          Safari on iPad               controller, paired 1 h ago · dev-b








        Esc closes · Enter allows who asks · Del twice revokes · 1 of 3"#]]
    .assert_eq(&flush(&stage.ui.screen()));
    stage.ui.keys("<enter><enter>");
    assert_eq!(wished(&mut stage), [FleetWish::Pair { server: 7, id: 3, allow: true }], "once");
    tell(&mut stage, FleetNews::Asking(None));
    stage.ui.keys("<down><delete>");
    assert!(stage.ui.screen().contains("Del again revokes it"), "{}", stage.ui.screen());
    assert_eq!(wished(&mut stage), [], "once is not enough");
    // What is to go is meant, and not a place in the list.
    asks(&mut stage, 4);
    stage.ui.keys("<delete>");
    assert_eq!(wished(&mut stage), [FleetWish::Revoke("dev-b".to_owned())]);
    tell(&mut stage, FleetNews::Devices(Vec::new()));
    stage.ui.keys("<delete>");
    assert!(stage.ui.screen().contains("Del again denies it"), "{}", stage.ui.screen());
    stage.ui.keys("<delete>");
    assert_eq!(wished(&mut stage), [FleetWish::Pair { server: 7, id: 4, allow: false }]);
    tell(&mut stage, FleetNews::Asking(None));
    assert!(stage.ui.screen().contains("no device is paired"), "{}", stage.ui.screen());
}

#[test]
fn no_key_of_before_allows_anybody() {
    // Typed ahead, before the list was filled and just after.
    let mut stage = stage(80, 24);
    asks(&mut stage, 3);
    stage.ui.keys("/devices<enter><enter>");
    tell(&mut stage, FleetNews::Devices(Vec::new()));
    stage.ui.keys("<enter>");
    stage.ui.wait(999);
    stage.ui.keys("<enter>");
    assert_eq!(wished(&mut stage), [FleetWish::Devices]);
    assert!(stage.ui.screen().contains("compare the code first"), "{}", stage.ui.screen());
    stage.ui.wait(1);
    stage.ui.keys("<enter>");
    assert_eq!(wished(&mut stage), [FleetWish::Pair { server: 7, id: 3, allow: true }]);
    // It comes while the list is open: above the cursor, which stays with its device.
    let mut stage = self::stage(80, 24);
    stage.ui.keys("/devices<enter>");
    tell(&mut stage, two());
    for id in [3, 4] {
        asks(&mut stage, id);
        stage.ui.wait(2_000);
        stage.ui.keys("<enter>");
    }
    assert_eq!(wished(&mut stage), [FleetWish::Devices]);
    // One asks in the place of another that was under the cursor.
    stage.ui.keys("<up>");
    asks(&mut stage, 5);
    stage.ui.wait(2_000);
    stage.ui.keys("<enter>");
    assert_eq!(wished(&mut stage), []);
    // Where there is no other line it counts as one that was just shown.
    tell(&mut stage, FleetNews::Devices(Vec::new()));
    asks(&mut stage, 6);
    stage.ui.keys("<enter>");
    assert_eq!(wished(&mut stage), []);
}

#[test]
fn words_behind_the_command_do_the_same() {
    let mut stage = stage(120, 24);
    for (line, wish) in [
        ("/devices allow 482913", None),
        ("/devices sing", None),
        ("/devices revoke", None),
        ("/devices revoke dev-a", Some(FleetWish::Revoke("dev-a".to_owned()))),
    ] {
        stage.ui.feed(Msg::Slash(line.to_owned()));
        assert_eq!(wished(&mut stage), wish.into_iter().collect::<Vec<_>>(), "{line}");
    }
    for (line, allow) in [
        ("/devices allow", None),
        ("/devices allow 482 914", None),
        ("/devices allow 482 913", Some(true)),
        ("/devices allow 482913", Some(true)),
        ("/devices deny", Some(false)),
    ] {
        asks(&mut stage, 3);
        stage.ui.feed(Msg::Slash(line.to_owned()));
        let wish = allow.map(|allow| FleetWish::Pair { server: 7, id: 3, allow });
        assert_eq!(wished(&mut stage), wish.into_iter().collect::<Vec<_>>(), "{line}");
    }
}
