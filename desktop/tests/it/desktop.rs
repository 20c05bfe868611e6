//! What the shell does on the desktop around its window: tray, shortcut, notifications, links, settings.

use crate::world::{SHELL, World, until};
use serde_json::json;
use std::process::Stdio;

/// The questions of a fresh session in this window.
fn asks(world: &World, window: &crate::driver::Driven, file: &str) {
    window.begins(&format!("write {file}: hi"), &world.path("project"));
    window.reads("Allow once");
}

#[test]
fn the_tray_counts_who_waits_toggles_the_window_and_leads_to_the_question() {
    let world = World::new();
    let desk = world.desk();
    let window = world.window(&[]);
    asks(&world, &window, "tray.txt");
    until("the tray counts", || desk.title() == "Parlor: one session waits for you");
    until("the window is seen", || !world.windows().is_empty());
    desk.click();
    until("the window is put aside", || world.windows().is_empty());
    window.eval("location.hash = '#/'");
    let menu = desk.menu();
    assert!(menu[0].1.contains("tray.txt"), "{menu:?}");
    assert!(menu.iter().all(|(_, line)| !line.starts_with("Allow") && !line.contains("once")), "{menu:?}");
    desk.choose(menu[0].0);
    until("the window is seen again", || !world.windows().is_empty());
    window.reads("Allow once");
    assert!(!world.path("project/tray.txt").exists());
    window.presses("Allow once", || world.path("project/tray.txt").exists());
    until("nobody waits", || desk.title() == "Parlor");
}

#[test]
fn the_shortcut_shows_and_hides_the_window_and_another_may_be_set() {
    let world = World::new();
    let window = world.window(&[]);
    window.reads("Begin");
    until("the window is seen", || !world.windows().is_empty());
    // The grab is made right after the window: a key before it is nobody's.
    until("it is hidden by the shortcut", || {
        if !world.windows().is_empty() {
            world.keys(&["ctrl+shift+space"]);
        }
        world.windows().is_empty()
    });
    world.keys(&["ctrl+shift+space"]);
    until("it is shown by the shortcut", || !world.windows().is_empty());
    window.sets("#window-shortcut", "Ctrl+Alt+P");
    until("the other one is kept", || world.kept()["shortcut"] == json!("Ctrl+Alt+P"));
    world.keys(&["ctrl+alt+p"]);
    until("it is hidden by the other one", || world.windows().is_empty());
    // The old one is given up.
    world.keys(&["ctrl+shift+space"]);
    world.keys(&["ctrl+alt+p"]);
    until("it is shown by the other one", || !world.windows().is_empty());
}

#[test]
fn a_shortcut_that_cannot_be_had_is_refused_with_the_reason_and_the_old_one_stays() {
    let world = World::new();
    let window = world.window(&[]);
    window.reads("Begin");
    window.sets("#window-shortcut", "Nonsense+Quux");
    window.reads("cannot be had");
    assert_ne!(world.kept()["shortcut"], json!("Nonsense+Quux"));
    world.keys(&["ctrl+shift+space"]);
    until("the old one is there", || world.windows().is_empty());
}

#[test]
fn a_question_is_told_while_nobody_looks_and_taken_back_when_it_is_answered() {
    let world = World::new();
    let desk = world.desk();
    let window = world.window(&["--hidden"]);
    assert_eq!(world.windows(), [""; 0]);
    // A window that is not seen draws nothing: its words are read later.
    window.begins("write told.txt: hi", &world.path("project"));
    until("it is told", || desk.notices().len() == 1);
    let told = desk.notices().remove(0);
    assert!(told.body.contains("told.txt"), "{told:?}");
    // One may be opened, and no more.
    assert_eq!(told.actions, ["default", "Open", "open", "Open"]);
    window.eval("location.hash = '#/'");
    desk.presses(told.id, "open");
    until("the window is seen", || !world.windows().is_empty());
    window.reads("Allow once");
    assert!(!world.path("project/told.txt").exists());
    window.presses("Deny", || !window.text().contains("Allow once"));
    // Another one, which is taken back once the person looks.
    world.start(&["--hidden"]);
    until("the window is put aside", || world.windows().is_empty());
    window.eval("location.hash = '#/new'");
    window.begins("write second.txt: hi", &world.path("project"));
    until("it is told too", || desk.notices().len() == 2);
    assert_eq!(desk.taken(), [0; 0]);
    desk.click();
    until("it is taken back", || desk.taken() == [desk.notices()[1].id]);
}

#[test]
fn a_link_from_elsewhere_is_asked_about_before_anything_happens() {
    let world = World::new();
    let window = world.window(&[]);
    asks(&world, &window, "link.txt");
    let session = window.eval("return location.hash.slice(4)").as_str().unwrap().to_owned();
    window.eval("location.hash = '#/'");
    let link = format!("parlor://session/{session}");
    let at = || window.eval("return location.hash");
    until("one window", || world.windows().len() == 1);
    // Enter says no.
    world.start(&[&link]);
    until("it is asked", || world.windows().len() == 2);
    assert_eq!(at(), json!("#/"));
    world.answers(&["Return"]);
    assert_eq!(at(), json!("#/"));
    world.start(&[&link]);
    until("it is asked again", || world.windows().len() == 2);
    world.answers(&["Tab", "Return"]);
    until("the session is shown", || at() == json!(format!("#/s/{session}")));
    // Whoever floods the person with links has one of them asked about.
    window.eval("location.hash = '#/'");
    for _ in 0..3 {
        world.start(&[&link]);
    }
    until("one is asked", || world.windows().len() == 2);
    world.answers(&["Return"]);
    assert_eq!((world.windows().len(), at()), (1, json!("#/")));
    // One that leads nowhere is told, and nothing is shown.
    world.start(&["parlor://session/../../etc"]);
    until("it is told", || world.windows().len() == 2);
    world.answers(&["Return"]);
    assert_eq!(at(), json!("#/"));
}

#[test]
fn an_address_of_any_length_is_seen_whole_before_it_is_opened() {
    let world = World::new();
    let window = world.window(&[]);
    window.reads("Begin");
    until("the window is seen", || world.windows().len() == 1);
    for length in [10, 1_900] {
        window.eval(&format!("location.href = 'https://example.com/' + 'a'.repeat({length})"));
        until("it is asked", || world.windows().len() == 2);
        let asked = world.windows().pop().unwrap();
        let (width, height) = world.size(&asked);
        assert!(width <= 1280 && height <= 900, "{width}x{height}");
        world.answers(&["Return"]);
    }
}

#[test]
fn the_window_is_dark_or_light_as_the_desktop_is() {
    let world = World::new();
    let desk = world.desk();
    desk.is_dark(true);
    let window = world.window(&[]);
    window.reads("Begin");
    let dark = || window.eval("return matchMedia('(prefers-color-scheme: dark)').matches");
    until("it is dark", || dark() == json!(true));
    desk.is_dark(false);
    until("it is light", || dark() == json!(false));
    desk.is_dark(true);
    until("it is dark again", || dark() == json!(true));
}

#[test]
fn a_session_begins_with_the_agent_and_in_the_folder_that_are_set() {
    let world = World::new();
    let window = world.window(&[]);
    window.reads("Begin");
    std::fs::create_dir(world.path("elsewhere")).unwrap();
    let folder = world.path("elsewhere").display().to_string();
    window.sets("#window-folder", &folder);
    until("the folder is kept", || world.kept()["folder"] == json!(folder));
    world.start(&["--quit"]);
    until("it has ended", || !world.runs(SHELL));
    drop(window);
    let window = world.window(&[]);
    let first = || window.eval("return document.querySelector('#first-folder')?.value ?? ''");
    until("it is offered", || first() == json!(folder));
    window.puts("#first", "write here.txt: hi");
    window.presses("Begin", || window.text().contains("Allow once"));
    window.presses("Allow once", || world.path("elsewhere/here.txt").exists());
    // An agent that is not there is told, and nobody else is begun in its place.
    world.start(&["--quit"]);
    until("it has ended again", || !world.runs(SHELL));
    drop(window);
    let mut kept = world.kept();
    kept["agent"] = json!("nobody");
    std::fs::write(world.path("config/desktop.json"), kept.to_string()).unwrap();
    let window = world.window(&[]);
    window.reads("nobody, the agent of your window's settings, cannot be begun here");
    window.puts("#first", "hello");
    assert_eq!(window.eval("return document.querySelector('form.start .send').disabled"), json!(true));
}

#[test]
fn a_picture_that_is_pasted_or_dropped_goes_into_the_prompt() {
    let world = World::new();
    let window = world.window(&[]);
    window.begins("list files", &world.path("project"));
    window.reads("Answered");
    let pictures = || {
        window
            .eval("return document.querySelectorAll('form.composer img, .composer img').length")
            .as_u64()
            .unwrap_or_default()
    };
    // A picture of another program in the clipboard, which the view hands over to nobody.
    let picture = world.path("shot.png");
    let made =
        world.command("base64").args(["--decode"]).arg(world.written("picture", PICTURE)).output().unwrap();
    std::fs::write(&picture, made.stdout).unwrap();
    let mut copy = world.command("xclip");
    copy.args(["-selection", "clipboard", "-target", "image/png", "-in"]).arg(&picture);
    // It stays for whoever asks for the picture, and ends with the screen.
    assert!(copy.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
    until("the window is seen", || !world.windows().is_empty());
    until("it is in front", || {
        let newest = world.windows().last().cloned().unwrap_or_default();
        let _ = world.command("xdotool").args(["windowfocus", "--sync", &newest]).status();
        window.eval("document.querySelector('#composer').dispatchEvent(new Event('paste', {bubbles: true, cancelable: true}))");
        pictures() > 0
    });
    let mut there = pictures();
    for (kind, name, member) in
        [("paste", "shot.png", "clipboardData"), ("drop", "dropped.png", "dataTransfer")]
    {
        // As the view makes it of what the desktop hands over: this needs another program that lets go of something.
        window.eval(&format!(
            "const bytes = Uint8Array.from(atob('{PICTURE}'), (one) => one.charCodeAt(0)); \
             const data = new DataTransfer(); data.items.add(new File([bytes], '{name}', {{type: 'image/png'}})); \
             const event = new Event('{kind}', {{bubbles: true, cancelable: true}}); \
             Object.defineProperty(event, '{member}', {{value: data}}); \
             document.querySelector('#composer').dispatchEvent(event)"
        ));
        until(name, || pictures() > there);
        there = pictures();
    }
}

/// A picture of one point.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[test]
fn what_is_set_in_the_window_holds_at_the_next_start() {
    let world = World::new();
    let window = world.window(&[]);
    window.reads("Begin");
    let file = world.path("home/.config/autostart/parlor-desktop.desktop");
    window.switches("Start at login", || file.exists());
    let entry = std::fs::read_to_string(&file).unwrap();
    assert!(entry.contains(&format!("Exec=\"{SHELL}\" --hidden")), "{entry}");
    window.switches("Start at login", || !file.exists());
    window.switches("Start hidden", || world.kept()["hidden"] == json!(true));
    window.switches("Small window", || world.kept()["small"] == json!(true));
    until("it is small", || window.eval("return innerWidth") == json!(360));
    world.start(&["--quit"]);
    until("it has ended", || !world.runs(SHELL));
    drop(window);
    let desk = world.desk();
    let window = world.window(&[]);
    assert_eq!(world.windows(), [""; 0]);
    desk.click();
    until("it is small again", || window.eval("return innerWidth") == json!(360));
    // A file that cannot be read is neither lost nor written over.
    std::fs::write(world.path("config/desktop.json"), "{").unwrap();
    window.opens_settings();
    window.eval("[...document.querySelectorAll('[role=dialog] label')].find(one => one.innerText.trim().startsWith('Start hidden')).querySelector('input').click()");
    window.reads("mend it or remove it first");
    assert_eq!(std::fs::read_to_string(world.path("config/desktop.json")).unwrap(), "{");
}
