//! Every door over TCP and whoever may stand before it, with the built program: the rows of the table in docs/security.md.

use crate::bench::{Serving, World, as_each_user, wait_until};
use crate::screen::Terminal;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

/// How a program asks: as it is, with its files hidden, with the connection in nobody's hands, with a lower limit of its own.
const WAYS: [&str; 4] = ["plain", "hidden", "unheld", "lowered"];

/// A server that the person started, and where it is.
struct Door {
    child: Child,
    address: String,
    host: String,
    /// Where a program asks for a socket.
    paths: Vec<String>,
    is_page: bool,
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Door {
    /// `parlor web`, with an offer that is open.
    fn page(world: &World) -> Door {
        let mut command = world.parlor(&["web", "--no-open"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let host = url.trim().strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
        let address = format!("127.0.0.1:{}", host.rsplit_once(':').unwrap().1);
        Door { child, address, host, paths: vec!["/wire".into(), "/enrol".into()], is_page: true }
    }

    /// `parlor serve --listen`.
    fn listening(world: &World) -> Door {
        let mut command = world.parlor(&["serve", "--dialect", "codelia", "--listen", "ws://127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let url = lines.find_map(|line| line.strip_prefix("serving codelia on ws://").map(str::to_owned));
        let url = url.unwrap();
        // Whoever says something there is not to be broken by a pipe that nobody reads.
        std::thread::spawn(move || lines.for_each(drop));
        let (address, path) = url.split_once('/').unwrap();
        let paths = vec![format!("/{path}")];
        Door { child, address: address.to_owned(), host: address.to_owned(), paths, is_page: false }
    }

    /// The words of an attack on each of its paths.
    fn attacks<'a>(&'a self, how: &'a str) -> impl Iterator<Item = [&'a str; 6]> {
        let kind = if self.is_page { "page" } else { "program" };
        self.paths.iter().map(move |path| ["ask", how, kind, &self.address, &self.host, path])
    }
}

fn doors(world: &World) -> [Door; 2] {
    [Door::page(world), Door::listening(world)]
}

#[test]
fn the_person_comes_in_by_every_door_over_tcp_and_another_user_by_none() {
    as_each_user(|world| {
        let attack = world.attack();
        for door in doors(world) {
            for words in door.attacks("plain") {
                assert_eq!(world.outside(&attack, &words), "let in\n", "{words:?}");
                if rustix::process::getuid().is_root() {
                    let other = world.stranger(&attack, &words);
                    assert!(other.contains("stopped: "), "{words:?}: {other}");
                }
            }
        }
    });
}

#[test]
fn a_command_comes_in_by_no_door_over_tcp_however_free_it_is() {
    as_each_user(|world| {
        let attack = world.attack();
        let serving: Serving = world.serve(&["--policy", "full"]);
        let mut ui = world.ui(&serving.socket);
        for door in doors(world) {
            for (how, kind) in [
                (json!({}), "in the sandbox"),
                (json!({"network": true}), "with network"),
                (json!({"unsandboxed": true}), "free of the sandbox"),
            ] {
                for words in WAYS.iter().flat_map(|way| door.attacks(way)) {
                    let mut args = json!({"command": format!("{attack} {}", words.join(" ")), "reason": "to see what stops it"});
                    args.as_object_mut().unwrap().extend(how.as_object().unwrap().clone());
                    let text = ui.call("bash", &args, true).text;
                    assert!(
                        text.contains("stopped: ") && !text.contains("let in"),
                        "{kind} {words:?}: {text}"
                    );
                    if door.is_page && how != json!({}) {
                        assert!(text.contains("from_command"), "{kind} {words:?}: {text}");
                    }
                }
            }
        }
    });
}

#[test]
fn who_cannot_be_proven_is_asked_about_on_the_page_and_refused_elsewhere() {
    as_each_user(|world| {
        let attack = world.attack();
        let page = Door::page(world);
        let unseen = !world.is_root();
        for how in ["lowered", "hidden"] {
            for words in page.attacks(how) {
                assert_eq!(world.outside(&attack, &words), "let in\n", "{words:?}");
            }
        }
        let listening = Door::listening(world);
        for (how, refused) in [("lowered", true), ("hidden", unseen)] {
            for words in listening.attacks(how) {
                let said = world.outside(&attack, &words);
                assert_eq!(said.contains("stopped: "), refused, "{words:?}: {said}");
            }
        }
    });
}

#[test]
fn the_browser_that_the_page_was_opened_in_is_let_in_and_the_address_is_no_secret() {
    as_each_user(|world| {
        let attack = world.attack();
        // A browser that does what a page does when it is opened at that address.
        let script = format!(
            "#!/bin/sh\necho \"$@\" > words\nhost=${{1#http://}}; host=${{host%/}}\n{attack} ask plain page \"127.0.0.1:${{host##*:}}\" \"$host\" /enrol > opened 2>&1\n"
        );
        world.folder("bin");
        world.executable("bin/xdg-open", &script);
        let mut command = world.parlor(&["web"]);
        let path = format!("{}:{}", world.path("bin").display(), std::env::var("PATH").unwrap());
        command.env("PATH", path).env("DISPLAY", ":77");
        let terminal = Terminal::start(&mut command);
        wait_until("the browser has been", || !world.get("project/opened").is_empty());
        assert_eq!(world.get("project/opened"), "let in\n");
        let words = world.get("project/words");
        assert!(words.starts_with("http://") && !words.contains(['#', '?', '@', ' ']), "{words}");
        drop(terminal);
    });
}
