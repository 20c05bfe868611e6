//! Becoming a device and staying one: the person's word, who is at the other end, one run of the server, and tabs that stay open.

use crate::client::{Browser, Page};
use crate::command;
use crate::rooms::{self, World, serve_again};
use link::entry::Origin;
use link::websocket::Unanswered;
use serde_json::{Value, json};
use std::sync::Arc;
use web::{Identity, Options, Role, Shelf, code};

fn refused(told: &Value) -> &str {
    told["refused"]["code"].as_str().unwrap_or_else(|| panic!("{told}"))
}

#[tokio::test]
async fn nobody_becomes_a_device_without_an_offer_or_without_a_word() {
    let world = World::start().await;
    let (_, told) = Browser::new(world.address).candidate().await;
    assert_eq!(refused(&told), "not_offered");
    let page = world.server.offer(Role::Approver).unwrap().address;
    let mut browser = Browser::at(world.address, &page);
    let (socket, told) = browser.candidate().await;
    let asked = world.server.pairing().borrow().clone().unwrap();
    assert_eq!((&told["code"]["code"], asked.name.as_str()), (&json!(asked.code), "a test"));
    // A second one has to wait, and nothing of the first one's code is told to it.
    let (_, other) = Browser::at(world.address, &page).candidate().await;
    assert_eq!(refused(&other), "busy");
    assert!(!other.to_string().contains(&asked.code));
    assert!(world.server.answer_pairing(asked.id, false));
    assert_eq!(refused(&browser.enrolled(socket).await), "denied");
    assert_eq!(world.shelf.devices().active().count(), 0);
    let (_, told) = Browser::at(world.address, &page).candidate().await;
    assert_eq!(refused(&told), "not_offered", "a no ends the offer");
    let page = world.server.offer(Role::Approver).unwrap().address;
    let mut browser = Browser::at(world.address, &page);
    let mut joined = world.server.joined();
    let (socket, _) = browser.candidate().await;
    let id = world.server.pairing().borrow().as_ref().unwrap().id;
    assert!(world.server.answer_pairing(id, true));
    let told = browser.enrolled(socket).await;
    assert_eq!(told["enrolled"]["device"]["role"], json!("approver"));
    assert_eq!(joined.recv().await.unwrap().id, browser.id);
    let (_, answer) = browser.connect(&json!("fleet")).await;
    assert!(answer["welcome"].is_object(), "{answer}");
    // An offer is for one.
    let (_, told) = Browser::at(world.address, &page).candidate().await;
    assert_eq!(refused(&told), "not_offered");
}

#[tokio::test]
async fn one_that_goes_away_is_asked_about_no_more() {
    let world = World::start().await;
    let page = world.server.offer(Role::Controller).unwrap().address;
    let (socket, _) = Browser::at(world.address, &page).candidate().await;
    let mut pairing = world.server.pairing();
    let first = pairing.borrow_and_update().clone().unwrap();
    drop(socket);
    pairing.wait_for(Option::is_none).await.unwrap();
    assert!(!world.server.answer_pairing(first.id, true));
    let (_socket, told) = Browser::at(world.address, &page).candidate().await;
    assert!(told["code"].is_object(), "{told}");
    assert_ne!(world.server.pairing().borrow().as_ref().unwrap().id, first.id);
}

#[tokio::test]
async fn what_is_asked_for_is_bound_to_its_keys_its_host_and_its_connection() {
    let world = World::start().await;
    let page = world.server.offer(Role::Controller).unwrap().address;
    let browser = Browser::at(world.address, &page);
    let other = Browser::at(world.address, &page);
    let wrong = async |said: &dyn Fn(&str) -> Value| {
        let (mut socket, told) = challenged(&browser).await;
        socket.say(&said(told["challenge"]["nonce"].as_str().unwrap()));
        let told = socket.next().await.unwrap();
        assert_eq!(refused(&told), "bad_request", "{told}");
    };
    wrong(&|_| json!({})).await;
    wrong(&|_| browser.asks("another nonce")).await;
    // Somebody else's key, which this one cannot sign with.
    wrong(&|nonce| {
        let mut said = browser.asks(nonce);
        said["enrol"]["key"] = other.key().into();
        said
    })
    .await;
    wrong(&|nonce| {
        let mut said = browser.asks(nonce);
        said["enrol"]["tab"] = other.key().into();
        said
    })
    .await;
    wrong(&|nonce| {
        let mut said = browser.asks(nonce);
        said["enrol"].as_object_mut().unwrap().remove("tab");
        said
    })
    .await;
    let (_socket, told) = browser.candidate().await;
    assert!(told["code"].is_object(), "none of this used the offer up: {told}");
}

async fn challenged(browser: &Browser) -> (Page, Value) {
    let mut page = browser.enrol_socket().await.unwrap();
    let told = page.next().await.unwrap();
    (page, told)
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_offer_is_taken_up_only_under_its_own_fresh_name_and_by_its_own_pages() {
    let world = World::start().await;
    let first = world.server.offer(Role::Controller).unwrap().address;
    let page = world.server.offer(Role::Controller).unwrap().address;
    assert!(first != page && page.contains(".localhost:"), "{page}");
    for old in [format!("http://{}/", world.address), first.clone()] {
        let (_, told) = Browser::at(world.address, &old).candidate().await;
        assert_eq!((refused(&told), &told["refused"]["open"]), ("other_name", &json!(page)), "{old}");
    }
    // A page of a name that somebody else may have spoken from asks under the fresh one.
    let own = Browser::at(world.address, &page);
    let planted = Browser::at(world.address, &first);
    let stream = tokio::net::TcpStream::connect(world.address).await.unwrap();
    let (url, origin) = (format!("ws://{}/enrol", own.host), format!("http://{}", planted.host));
    let called =
        link::websocket::call(stream, &url, Some(&origin), link::Lane::MAIN, link::Limits::default()).await;
    assert_eq!(called.err(), Some(Unanswered::Refused(403)));
    let (_socket, told) = own.candidate().await;
    assert!(told["code"].is_object(), "{told}");
}

#[tokio::test]
async fn who_comes_from_a_command_gets_in_nowhere_and_with_no_key() {
    let world = World::start().await;
    let browser = world.browser(Role::Controller).await;
    let (mut session, _) = browser.connect(&json!({"session": rooms::SESSION})).await;
    let mut sessions = Vec::new();
    for _ in 0..2 {
        sessions.push(browser.connect(&json!({"session": rooms::SESSION})).await.0);
    }
    let (mut fleet, _) = browser.connect(&json!("fleet")).await;
    let (mut acting, _) = browser.connect(&json!("fleet")).await;
    let page = world.server.offer(Role::Controller).unwrap().address;
    let (candidate, _) = Browser::at(world.address, &page).candidate().await;
    let asked = world.server.pairing().borrow().clone().unwrap();
    for origin in [Origin::Command, Origin::OtherUser, Origin::Gone] {
        world.everybody_is(origin);
        let (mut socket, nonce_or_refusal) = answered(&browser).await;
        let expected = if origin == Origin::OtherUser { "other_user" } else { "from_command" };
        assert_eq!(refused(&nonce_or_refusal), expected, "{origin:?}");
        assert_eq!(socket.end().await, code::DEVICE);
        let (_, told) = Browser::at(world.address, &page).candidate().await;
        assert_eq!(refused(&told), expected, "{origin:?}");
    }
    world.everybody_is(Origin::Command);
    // A socket that was let in and is a command's now: it may go on looking, and answers nothing.
    session.say(&json!({"looking": true}));
    session.until("echo").await;
    session.say(&command(1, &json!({"answer": {"ask": 1, "answer": {"confirmed": true}}})));
    assert_eq!(session.end().await, code::DEVICE);
    for (at, what) in [json!({"set_policy": {"policy": "full"}}), json!({"prompt": {"input": {"text": "x"}}})]
        .iter()
        .enumerate()
    {
        let mut session = sessions.remove(0);
        session.say(&command(at as u64, what));
        assert_eq!(session.end().await, code::DEVICE, "{what}");
    }
    // Nor does it allow a device, nor is one enrolled that the person allows now.
    fleet.say(&json!({"pair": {"id": asked.id, "allow": true}}));
    fleet.say(&json!({"revoke": {"device": browser.id}}));
    fleet.say(&json!({"nothing": "that is known"}));
    fleet.until("said").await;
    assert_eq!(world.server.pairing().borrow().as_ref().map(|asked| asked.id), Some(asked.id));
    acting.say(&json!({"act": {"id": 1, "key": "x", "what": "stop"}}));
    acting.end().await;
    assert!(world.server.answer_pairing(asked.id, true));
    let mut thief = Browser::at(world.address, &page);
    assert_eq!(refused(&thief.enrolled(candidate).await), "from_command");
    assert_eq!(world.shelf.devices().active().count(), 1);
    // Who cannot be proven comes in with a key that was enrolled, and can be enrolled.
    for origin in [Origin::Unseen, Origin::LowerLimit, Origin::Proxy, Origin::Inside(1)] {
        world.everybody_is(origin);
        let (_, answer) = browser.connect(&json!("fleet")).await;
        assert!(answer["welcome"].is_object(), "{origin:?}: {answer}");
        world.browser(Role::Observer).await;
    }
}

/// The first thing that it is told.
async fn answered(browser: &Browser) -> (Page, Value) {
    let mut page = browser.wire_socket().await.unwrap();
    let told = page.next().await.unwrap();
    (page, told)
}

#[tokio::test]
async fn a_kept_key_is_good_for_one_run_and_a_tabs_for_as_long_as_it_stays() {
    let (shelf, identity) = (Arc::<rooms::Paper>::default(), Identity::make().unwrap());
    let listen = async || tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let first = serve_again(listen().await, Options::default(), shelf.clone(), &identity).unwrap();
    let mut browser = first.browser(Role::Controller).await;
    let (_, answer) = browser.connect(&json!("fleet")).await;
    assert!(answer["welcome"].is_object(), "a reload within a run: {answer}");
    drop(first);
    let second = serve_again(listen().await, Options::default(), shelf.clone(), &identity).unwrap();
    browser.address = second.address;
    // The port is another one here; a real one keeps it.
    let label = browser.host.split_once('.').map(|(label, _)| label.to_owned());
    browser.host = label
        .map_or(second.address.to_string(), |label| format!("{label}.localhost:{}", second.address.port()));
    let (_, answer) = browser.connect(&json!("fleet")).await;
    assert_eq!((refused(&answer), answer["refused"].get("open")), ("other_run", None));
    let page = second.server.offer(Role::Controller).unwrap().address;
    let (_, answer) = browser.connect(&json!("fleet")).await;
    assert_eq!((refused(&answer), &answer["refused"]["open"]), ("other_run", &json!(page)));
    // The tab that stayed asks first who that is.
    let (mut socket, nonce) = browser.challenged().await.unwrap();
    socket.say(&json!({"prove": {"nonce": "mine"}}));
    let signature = socket.until("proof").await["signature"].as_str().unwrap().to_owned();
    assert!(browser.proves(&second_key(&second).await, "mine", &nonce, &signature));
    socket.say(&browser.tab_shows(&nonce, &json!("fleet")));
    socket.until("welcome").await;
    // What the browser keeps is good for nothing all the same.
    let (_, answer) = browser.connect(&json!("fleet")).await;
    assert_eq!(refused(&answer), "other_run");
    assert_eq!(shelf.read().active().count(), 1);
}

/// The public key that a server shows.
async fn second_key(world: &World) -> String {
    let (_, told) = answered(&Browser::new(world.address)).await;
    told["challenge"]["server"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_device_that_was_just_enrolled_is_known_also_while_the_list_is_looked_at() {
    let world = World::start().await;
    // The server looks at the list by itself too; a look that began before must not undo what was enrolled since.
    world.shelf.reads_slowly();
    for _ in 0..3 {
        let browser = world.browser(Role::Controller).await;
        // One look more has ended by now, and it may have begun before.
        let looks = world.shelf.looks();
        while world.shelf.looks() == looks {
            tokio::task::yield_now().await;
        }
        let (_, answer) = browser.connect(&json!("fleet")).await;
        assert!(answer["welcome"].is_object(), "{answer}");
    }
}

#[tokio::test]
async fn screens_are_told_who_is_asked_about_and_who_has_joined_and_a_controller_has_a_word() {
    let world = World::start().await;
    let (controller, observer) = (world.browser(Role::Controller).await, world.browser(Role::Observer).await);
    let (mut one, _) = controller.connect(&json!("fleet")).await;
    let (mut two, _) = observer.connect(&json!("fleet")).await;
    let page = world.server.offer(Role::Approver).unwrap().address;
    let mut browser = Browser::at(world.address, &page);
    let (socket, told) = browser.candidate().await;
    let (for_one, for_two) = (one.until("pairing").await, two.until("pairing").await);
    assert_eq!(for_one["code"], told["code"]["code"]);
    assert!(for_two.is_object() && for_two.get("code").is_none(), "{for_two}");
    let id = &for_one["id"];
    two.say(&json!({"pair": {"id": id, "allow": true}}));
    two.say(&json!({"revoke": {"device": controller.id}}));
    two.say(&json!({"act": {"id": 1, "key": "x", "what": "stop"}}));
    two.until("said").await;
    assert!(world.server.pairing().borrow().is_some(), "an observer allows nobody");
    one.say(&json!({"pair": {"id": id, "allow": true}}));
    assert!(browser.enrolled(socket).await["enrolled"].is_object());
    for page in [&mut one, &mut two] {
        assert_eq!(page.until("joined").await["device"]["id"], json!(browser.id));
    }
    let (mut joined, _) = browser.connect(&json!("fleet")).await;
    one.say(&json!({"revoke": {"device": browser.id}}));
    assert_eq!(joined.end().await, code::REVOKED);
    assert_eq!(world.shelf.devices().active().count(), 2);
}
