//! A window as a person meets it, driven over WebDriver.

use crate::world::{PATIENCE, until};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

/// The key of an element in WebDriver's answers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A shell that was started to be driven; both end with this.
pub(crate) struct Driven {
    driver: Child,
    address: SocketAddr,
    session: String,
}

impl Driven {
    /// Starts the shell under a driver whose environment is the world's.
    pub(crate) fn start(mut driver: Command, shell: &str, words: &[&str]) -> Driven {
        // Nobody else takes a port that was just given back, as far as that can be had: the driver takes no other way.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let driver = driver
            .args(["--host=127.0.0.1", &format!("--port={}", address.port())])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut driven = Driven { driver, address, session: String::new() };
        until("the driver answers", || TcpStream::connect(address).is_ok());
        let options = json!({"binary": shell, "args": words});
        let asked = json!({"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}});
        let begun = driven.ask("POST", "/session", &asked);
        driven.session =
            begun["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {begun}")).to_owned();
        driven
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "GET" || method == "DELETE" { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let mut part = [0; 8192];
        // It may keep the connection open: what it says is as long as it says.
        loop {
            let text = String::from_utf8_lossy(&answer);
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head.lines().find_map(|line| {
                    line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
                });
                if length.is_some_and(|length: usize| body.len() >= length) {
                    let said: Value =
                        serde_json::from_str(body).unwrap_or_else(|why| panic!("{why}: {text}"));
                    return said["value"].clone();
                }
            }
            let read = stream.read(&mut part).unwrap();
            assert!(read > 0, "the driver said only {text:?} to {method} {path}");
            answer.extend_from_slice(&part[..read]);
        }
    }

    fn of(&self, method: &str, path: &str, body: &Value) -> Value {
        self.ask(method, &format!("/session/{}{path}", self.session), body)
    }

    /// What a piece of JavaScript in the page gives.
    pub(crate) fn eval(&self, script: &str) -> Value {
        self.of("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// All that can be read in the window.
    pub(crate) fn text(&self) -> String {
        self.eval("return document.body.innerText").as_str().unwrap_or_default().to_owned()
    }

    /// Waits until this can be read.
    #[track_caller]
    pub(crate) fn reads(&self, words: &str) {
        let mut last = String::new();
        let seen = crate::world::waited(|| {
            last = self.text();
            last.contains(words)
        });
        assert!(seen, "{words:?} is not to be read in:\n{last}");
    }

    #[track_caller]
    fn element(&self, selector: &str) -> String {
        let mut id = None;
        until(&format!("there is {selector}"), || {
            let found = self.of("POST", "/element", &json!({"using": "css selector", "value": selector}));
            id = found[ELEMENT].as_str().map(str::to_owned);
            id.is_some()
        });
        id.unwrap()
    }

    /// Types into an element.
    #[track_caller]
    pub(crate) fn types(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.of("POST", &format!("/element/{element}/value"), &json!({"text": text}));
    }

    /// Selects what has this value.
    #[track_caller]
    pub(crate) fn selects(&self, selector: &str, value: &str) {
        until(&format!("{value} is selected"), || {
            self.eval(&format!(
                "const it = document.querySelector({}); if (!it || ![...it.options].some(one => one.value === {value})) return false; \
                 it.value = {value}; it.dispatchEvent(new Event('change', {{bubbles: true}})); return true",
                json!(selector),
                value = json!(value)
            )) == json!(true)
        });
    }

    /// Puts a text in the place of what a field has, also in a window that is not seen, which gets no keys.
    #[track_caller]
    pub(crate) fn puts(&self, selector: &str, text: &str) {
        until(&format!("{selector} has its text"), || {
            self.eval(&format!(
                "const it = document.querySelector({}); if (!it) return false; \
                 Object.getOwnPropertyDescriptor(Object.getPrototypeOf(it), 'value').set.call(it, {}); \
                 it.dispatchEvent(new Event('input', {{bubbles: true}})); return true",
                json!(selector),
                json!(text)
            )) == json!(true)
        });
    }

    /// Begins a session with these words.
    #[track_caller]
    pub(crate) fn begins(&self, words: &str, folder: &std::path::Path) {
        self.puts("#first-folder", &folder.display().to_string());
        self.puts("#first", words);
        self.presses("Begin", || self.element_count("#first") == 0);
    }

    fn element_count(&self, selector: &str) -> u64 {
        self.eval(&format!("return document.querySelectorAll({}).length", json!(selector)))
            .as_u64()
            .unwrap_or_default()
    }

    /// Presses the button that says this, again where that was too early for the page, until it has done its work.
    #[track_caller]
    pub(crate) fn presses(&self, words: &str, mut done: impl FnMut() -> bool) {
        let find = format!(
            "const it = [...document.querySelectorAll('button')].find(one => one.innerText.trim().startsWith({}) && !one.disabled); \
             if (it) it.click(); return it !== undefined",
            json!(words)
        );
        until(&format!("{words:?} is pressed and does its work"), || {
            done() || {
                self.eval(&find);
                done()
            }
        });
    }

    /// Shows how the window stands and starts.
    #[track_caller]
    pub(crate) fn opens_settings(&self) {
        until("the settings are shown", || {
            self.eval(
                "const open = document.querySelector('[role=dialog] label'); \
                 if (!open) document.querySelector('button[aria-label=Window]')?.click(); return open !== null",
            ) == json!(true)
        });
    }

    /// Switches one of the settings, until that shows.
    #[track_caller]
    pub(crate) fn switches(&self, words: &str, done: impl FnMut() -> bool) {
        self.opens_settings();
        self.eval(&format!(
            "[...document.querySelectorAll('[role=dialog] label')].find(one => one.innerText.trim().startsWith({})).querySelector('input').click()",
            json!(words)
        ));
        let shown = crate::world::waited(done);
        assert!(shown, "{words:?} does not show; the window says\n{}", self.text());
    }

    /// Types into one of the settings in place of what is there, and sets it.
    #[track_caller]
    pub(crate) fn sets(&self, selector: &str, words: &str) {
        self.opens_settings();
        self.eval(&format!("document.querySelector({}).select()", json!(selector)));
        self.types(selector, &format!("{words}\u{e007}"));
    }

    /// A picture of the page, as PNG in base64.
    pub(crate) fn picture(&self) -> String {
        self.of("GET", "/screenshot", &Value::Null).as_str().unwrap_or_default().to_owned()
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.of("DELETE", "", &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
