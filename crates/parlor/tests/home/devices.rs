//! Devices of the page on an open screen: a browser that asks, and one that joined, wherever it was let in.

use super::client::Browser;
use super::screen::{PATIENCE, Terminal};
use super::world::World;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr};
use std::os::unix::net::UnixStream;
use std::process::Child;

/// A command that waits for a browser; it ends with the test.
struct Offer(Child);

impl Drop for Offer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `parlor web` beside the server, and a browser that nobody knows yet.
fn offered(world: &World) -> (Offer, Browser) {
    let (offer, address) = world.offers(&[]);
    let here = SocketAddr::from((Ipv4Addr::LOCALHOST, super::place(&address).1));
    (Offer(offer), Browser::at(here, &address))
}

fn devices(world: &World) -> Vec<Value> {
    world.json(&["devices", "--json"])["devices"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_browser_is_allowed_and_revoked_on_an_open_screen() {
    let world = World::new();
    world.up();
    let mut room = Terminal::start(&mut world.parlor("one", &[]));
    let mut own = Terminal::start(&mut world.parlor("two", &["--here"]));
    room.shows(&["goes on when this terminal is closed"]);
    own.shows(&["asks first"]);
    // What was said in passing can be read here however slow the machine is.
    own.send("/notices\r");
    own.shows(&["What was said in passing"]);
    let (_offer, mut browser) = offered(&world);
    let (page, told) = browser.candidate().await;
    let code = told["code"]["code"].as_str().unwrap().to_owned();
    let asks = format!("a test wants to join as controller with the code {code}");
    own.shows(&[&asks]);
    room.send("/devices\r");
    room.shows(&["Devices of the page", "wants to join as controller", &code]);
    // No sooner than it can have been read: Enter counts after a second.
    super::until("it is let in", || {
        room.send("\r");
        (!devices(&world).is_empty()).then_some(())
    });
    assert!(browser.enrolled(page).await["enrolled"].is_object());
    own.shows(&["a test joined as controller; /devices revokes it"]);
    room.shows(&["controller, joined just now", &browser.id]);
    let (mut page, welcome) = browser.connect(&json!("fleet")).await;
    assert!(welcome["welcome"].is_object(), "{welcome}");
    room.send("\x1b[3~");
    room.shows(&["Del again revokes it"]);
    assert_eq!(devices(&world).len(), 1);
    room.send("\x1b[3~");
    room.shows(&["no device is enrolled"]);
    assert_eq!((devices(&world).len(), page.end().await), (0, web::code::REVOKED));
    for screen in [room, own] {
        screen.vanish(PATIENCE);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn lines_of_text_allow_by_the_code_and_deny() {
    let world = World::new();
    world.up();
    let mut plain = Terminal::start(&mut world.parlor("one", &["--plain"]));
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
    plain.shows(&["a test joined as controller"]);
    assert!(browser.enrolled(page).await["enrolled"].is_object());
    plain.send(&format!("/devices revoke {}\n", browser.id));
    plain.shows(&["revoked: a test"]);
    assert!(devices(&world).is_empty());
}

#[test]
fn who_waits_for_a_browser_and_goes_holds_no_place() {
    let world = World::new();
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
