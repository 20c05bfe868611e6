//! Devices of the page on an open screen: a browser that asks, and one that was paired, wherever it was let in.

use super::PARLOR;
use crate::client::Browser;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use testkit::{PATIENCE, Person, Running, Screen};

/// After how long a key is pressed again: one within a second after another counts for nothing.
const PAUSE: Duration = Duration::from_millis(1_200);

/// `parlor web` beside the server, and a browser that nobody knows yet.
fn offered(world: &Person) -> (Running, Browser) {
    let (offer, address) = world.offers(&[]);
    let here = SocketAddr::from((Ipv4Addr::LOCALHOST, super::place(&address).1));
    (Running(offer), Browser::at(here, &address))
}

fn devices(world: &Person) -> Vec<Value> {
    world.json(&["devices", "--json"])["devices"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_browser_is_allowed_and_revoked_on_an_open_screen() {
    let world = Person::new(PARLOR);
    world.up();
    let mut room = Screen::start(&mut world.parlor("one", &[]));
    let mut own = Screen::start(&mut world.parlor("two", &["--here"]));
    room.shows(&["goes on when this terminal is closed"]);
    own.shows(&["asks first"]);
    // What was said in passing can be read here however slow the machine is.
    own.send("/notices\r");
    own.shows(&["Recent messages"]);
    let (_offer, mut browser) = offered(&world);
    let (page, told) = browser.candidate().await;
    let code = told["code"]["code"].as_str().unwrap().to_owned();
    let asks = format!("“a test” asks to be paired as controller with the code {code}");
    own.shows(&[&asks]);
    room.send("/devices\r");
    room.shows(&["Devices of the page", "asks to be paired as controller", &code]);
    // No sooner than it can have been read: Enter counts after a second.
    super::until("it is let in", || {
        room.send("\r");
        (!devices(&world).is_empty()).then_some(())
    });
    assert!(browser.enrolled(page).await["enrolled"].is_object());
    own.shows(&["“a test” was paired as controller; /devices revokes it"]);
    room.shows(&["controller, paired just now", &browser.id]);
    let (mut page, welcome) = browser.connect(&json!("fleet")).await;
    assert!(welcome["welcome"].is_object(), "{welcome}");
    room.send("\x1b[3~");
    room.shows(&["Del again revokes it"]);
    assert_eq!(devices(&world).len(), 1);
    room.send("\x1b[3~");
    room.shows(&["no device is paired"]);
    assert_eq!((devices(&world).len(), page.end().await), (0, web::code::REVOKED));
    for screen in [room, own] {
        screen.vanish(PATIENCE);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn lines_of_text_allow_by_the_code_and_deny() {
    let world = Person::new(PARLOR);
    world.up();
    let mut plain = Screen::start(&mut world.parlor("one", &["--plain"]));
    plain.shows(&["Ready."]);
    let (_offer, mut browser) = offered(&world);
    let (page, told) = browser.candidate().await;
    let code = told["code"]["code"].as_str().unwrap().to_owned();
    plain.shows(&[&code, "/devices allows or denies it"]);
    plain.send("/devices deny\n");
    plain.shows(&["denied"]);
    assert_eq!(browser.enrolled(page).await["refused"]["code"], json!("denied"));
    let (_offer, mut browser) = offered(&world);
    let (page, told) = browser.candidate().await;
    let code = told["code"]["code"].as_str().unwrap().to_owned();
    plain.shows(&[&code]);
    plain.send(&format!("/devices allow {code}\n"));
    plain.shows(&["“a test” was paired as controller"]);
    assert!(browser.enrolled(page).await["enrolled"].is_object());
    plain.send(&format!("/devices revoke {}\n", browser.id));
    plain.shows(&["revoked: a test"]);
    assert!(devices(&world).is_empty());
}

#[test]
fn who_waits_for_a_browser_and_goes_holds_no_place() {
    let world = Person::new(PARLOR);
    let control = world.up()["control"].as_str().unwrap().to_owned();
    let (_offer, _) = offered(&world);
    let mut waiting = UnixStream::connect(control).unwrap();
    waiting.write_all(b"{\"pairing\":{}}\n").unwrap();
    waiting.shutdown(Shutdown::Write).unwrap();
    // Long before the offer is over, which is after a minute.
    waiting.set_read_timeout(Some(PATIENCE / 2)).unwrap();
    let mut heard = String::new();
    waiting.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "", "it is let go of");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_offer_is_over_when_the_command_that_made_it_is_told_to_stop() {
    let world = Person::new(PARLOR);
    world.up();
    let begun = Instant::now();
    let (mut offer, mut browser) = offered(&world);
    let (page, told) = browser.candidate().await;
    assert!(told["code"].is_object(), "{told}");
    kill_process(Pid::from_child(&offer.0), Signal::INT).unwrap();
    offer.0.wait().unwrap();
    let told = browser.enrolled(page).await;
    assert_eq!(told["refused"]["code"], json!("too_late"), "{told}");
    assert!(begun.elapsed() < web::OFFER_GOOD_FOR / 2, "it was open until its minute was over");
    let (_, told) = browser.candidate().await;
    assert_eq!(told["refused"]["code"], json!("not_offered"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn each_offer_is_asked_about_where_it_was_made() {
    let world = Person::new(PARLOR);
    world.up();
    let offers = || {
        let mut terminal = Screen::start(&mut world.parlor("home", &["web", "--no-open"]));
        terminal.shows(&["can be paired as controller"]);
        terminal
    };
    let mut first = offers();
    let mut second = offers();
    // The first one has nothing to offer any more.
    assert_eq!(first.code(), Some(1));
    first.shows(&["no browser was paired"]);
    let text = String::from_utf8_lossy(second.bytes()).into_owned();
    let address = text.lines().find(|line| line.starts_with("http://")).unwrap().trim();
    let here = SocketAddr::from((Ipv4Addr::LOCALHOST, super::place(address).1));
    let mut browser = Browser::at(here, address);
    let (page, told) = browser.candidate().await;
    let code = told["code"]["code"].as_str().unwrap().to_owned();
    second.shows(&[&format!("“a test” asks to be paired as controller with the code {code}")]);
    // No sooner than it can have been read, and with a pause before: a key that is held down counts for nothing.
    super::until("it is let in", || {
        second.send("y");
        let again = Instant::now() + PAUSE;
        while devices(&world).is_empty() && Instant::now() < again {
            std::thread::yield_now();
        }
        (!devices(&world).is_empty()).then_some(())
    });
    assert!(browser.enrolled(page).await["enrolled"].is_object());
    assert_eq!(second.code(), Some(0));
    second.shows(&["“a test” was paired; `parlor devices revoke"]);
}
