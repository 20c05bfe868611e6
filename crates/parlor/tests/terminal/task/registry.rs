//! What the registry of ACP agents checks daily on all of them, and what editors do to us beyond it, with the built program: every byte
//! on stdout is the protocol's.

use crate::task::Project;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A client that keeps every line.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    heard: Vec<Value>,
    last: u64,
}

impl Client {
    fn start(mut command: Command) -> Client {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Client { child, input, output, heard: Vec::new(), last: 0 }
    }

    fn greeted(project: &Project) -> Client {
        let mut client = Client::start(project.bare(&["acp"]));
        client.ask("initialize", json!({"protocolVersion":1,"clientCapabilities":{}}));
        client
    }

    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let line = json!({"jsonrpc":"2.0","id":self.last,"method":method,"params":params});
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
        self.last
    }

    /// The next line; `None` at the end. Whatever is no message of the protocol fails the test.
    fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.output.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        assert!(message.get("method").is_some() || message.get("id").is_some(), "{line}");
        self.heard.push(message.clone());
        Some(message)
    }

    /// Hears on until a line is this.
    fn until(&mut self, is: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.line().unwrap();
            if is(&line) {
                return line;
            }
        }
    }

    fn answer_to(&mut self, id: u64) -> Value {
        self.until(|line| line["id"] == id && line.get("method").is_none())
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer_to(id)
    }

    fn new_session(&mut self, project: &Project) -> String {
        let made = self.ask("session/new", json!({"cwd":project.path("work"),"mcpServers":[]}));
        made["result"]["sessionId"].as_str().unwrap().to_owned()
    }

    fn prompt(&mut self, session: &str, text: &str) -> u64 {
        self.send("session/prompt", json!({"sessionId":session,"prompt":[{"type":"text","text":text}]}))
    }

    /// Closes our end; all that is still said, and the exit code.
    fn close(&mut self) -> (Vec<Value>, Option<i32>) {
        self.input = None;
        let from = self.heard.len();
        while self.line().is_some() {}
        (self.heard[from..].to_vec(), self.child.wait().unwrap().code())
    }
}

#[test]
fn the_registrys_checks_hold() {
    let project = Project::new();
    let mut client = Client::start(project.bare(&["acp"]));
    // The handshake, and a way to log in that works.
    let hello = client
        .ask("initialize", json!({"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true}}}));
    let hello = &hello["result"];
    assert_eq!(hello["protocolVersion"], 1);
    let can = &hello["agentCapabilities"];
    assert_eq!(can["loadSession"], true);
    for name in ["list", "resume", "close", "delete"] {
        assert!(can["sessionCapabilities"][name].is_object(), "{can}");
    }
    let way = &hello["authMethods"][0];
    assert_eq!(
        (&way["type"], way["id"].is_string(), way["name"].is_string()),
        (&json!("terminal"), true, true)
    );
    for started in [vec!["acp"], vec!["serve", "--dialect", "acp", "--stdio"]] {
        let args: Vec<&str> = started
            .into_iter()
            .chain(way["args"].as_array().unwrap().iter().filter_map(Value::as_str))
            .collect();
        // Without a terminal it asks whose key it is: it is the command that takes keys.
        let login = project.bare(&args).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&login.stderr).into_owned();
        assert!(said.contains("whose key is it?"), "{args:?}: {said}");
        let named = project.bare(&[&args[..], &["nobody"]].concat()).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&named.stderr).into_owned();
        assert!(said.contains("no provider `nobody`"), "{args:?}: {said}");
    }
    // new, a prompt, list, set_model, close, resume.
    let session = client.new_session(&project);
    let id = client.prompt(&session, "count to 3");
    assert_eq!(client.answer_to(id)["result"]["stopReason"], "end_turn");
    let listed = client.ask("session/list", json!({"cwd":project.path("work")}));
    assert_eq!(listed["result"]["sessions"][0]["sessionId"], session.as_str(), "{listed}");
    let set = client.ask("session/set_model", json!({"sessionId":session,"modelId":"offline/offline"}));
    assert_eq!(set["result"], json!({}), "{set}");
    let closed = client.ask("session/close", json!({"sessionId":session}));
    assert_eq!(closed["result"], json!({}), "{closed}");
    let place = json!({"sessionId":session,"cwd":project.path("work"),"mcpServers":[]});
    let resumed = client.ask("session/resume", place);
    assert!(resumed["result"]["configOptions"].is_array(), "{resumed}");
    let unknown = client.ask("session/archive", json!({}));
    assert_eq!(unknown["error"]["code"], -32601);
    assert_eq!(client.close().1, Some(0));
}

#[test]
fn a_session_in_which_nothing_was_said_is_found_again_by_its_id_and_stands_in_no_list() {
    for method in ["session/load", "session/resume"] {
        let project = Project::new();
        let mut client = Client::greeted(&project);
        let session = client.new_session(&project);
        assert_eq!(client.close().1, Some(0));
        let mut client = Client::greeted(&project);
        assert_eq!(client.ask("session/list", json!({}))["result"]["sessions"], json!([]));
        let place =
            |session: &str, cwd: &str| json!({"sessionId":session,"cwd":project.path(cwd),"mcpServers":[]});
        let elsewhere = client.ask(method, place(&session, "home"));
        assert_eq!(elsewhere["error"]["code"], -32602, "{elsewhere}");
        let gone = client.ask(method, place("sess-000000000000", "work"));
        assert_eq!(gone["error"]["code"], -32002, "{gone}");
        let found = client.ask(method, place(&session, "work"));
        assert!(found["result"]["modes"].is_object(), "{method}: {found}");
        let id = client.prompt(&session, "count to 2");
        assert_eq!(client.answer_to(id)["result"]["stopReason"], "end_turn");
        assert_eq!(client.ask("session/list", json!({}))["result"]["sessions"].as_array().unwrap().len(), 1);
        assert_eq!(client.close().1, Some(0));
    }
}

#[test]
fn a_session_of_another_process_is_given_a_title_and_gone_on_from_and_stays_free() {
    let project = Project::new();
    let mut client = Client::greeted(&project);
    let source = client.new_session(&project);
    let id = client.prompt(&source, "count to 3");
    client.answer_to(id);
    assert_eq!(client.close().1, Some(0));

    let mut client = Client::start(project.bare(&["acp"]));
    let hello = client.ask("initialize", json!({"protocolVersion":1,"clientCapabilities":{}}));
    let can = &hello["result"]["agentCapabilities"]["sessionCapabilities"];
    assert!(can["fork"].is_object() && can["title"].is_object(), "{can}");
    // A client that takes the first way in of every agent comes in.
    let way = &hello["result"]["authMethods"][0]["id"];
    assert_eq!(client.ask("authenticate", json!({"methodId":way}))["result"], json!({}));
    let titled = client.ask("session/set_title", json!({"sessionId":source,"title":" Three numbers "}));
    assert_eq!(titled["result"], json!({"title":"Three numbers"}));
    let gone = client.ask("session/set_title", json!({"sessionId":"sess-000000000000","title":"x"}));
    assert_eq!(gone["error"]["code"], -32002, "{gone}");
    let fork = |cwd: &str| json!({"sessionId":source,"cwd":project.path(cwd),"mcpServers":[]});
    let elsewhere = client.ask("session/fork", fork("home"));
    assert_eq!(elsewhere["error"]["code"], -32602, "{elsewhere}");
    let forked = client.ask("session/fork", fork("work"));
    let new = forked["result"]["sessionId"].as_str().unwrap().to_owned();
    assert!(new != source && forked["result"]["configOptions"].is_array(), "{forked}");
    let id = client.prompt(&new, "count to 2");
    assert_eq!(client.answer_to(id)["result"]["stopReason"], "end_turn");
    let listed = client.ask("session/list", json!({}))["result"]["sessions"].clone();
    let title = |id: &str| {
        let one = listed.as_array().unwrap().iter().find(|session| session["sessionId"] == id);
        one.unwrap_or_else(|| panic!("{id} in {listed}"))["title"].clone()
    };
    assert_eq!(
        listed.as_array().unwrap().len(),
        2,
        "nothing was made for the folder that was refused: {listed}"
    );
    assert_eq!(title(&source), "Three numbers");

    // What was only looked at is nobody's: another process takes it while this one goes on.
    let mut other = Client::greeted(&project);
    let place = json!({"sessionId":source,"cwd":project.path("work"),"mcpServers":[]});
    let loaded = other.ask("session/load", place);
    assert!(loaded["result"].is_object(), "{loaded}");
    let said =
        |client: &Client| client.heard.iter().filter(|line| line.to_string().contains("count to 2")).count();
    assert_eq!(said(&other), 0, "what the fork said is not in its source");
    assert_eq!(other.close().1, Some(0));
    assert_eq!(client.close().1, Some(0));
}

#[test]
fn an_editor_that_is_closed_stops_its_run_and_finds_what_was_said_later() {
    let project = Project::new();
    let mut client = Client::greeted(&project);
    let session = client.new_session(&project);
    let id = client.prompt(&session, "count to 10000 slowly");
    client.until(|line| line["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
    let (said, code) = client.close();
    let answer = said.iter().find(|line| line["id"] == id).unwrap_or_else(|| panic!("no answer: {said:?}"));
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    assert_eq!(code, Some(0));
    let mut client = Client::greeted(&project);
    client.ask("session/load", json!({"sessionId":session,"cwd":project.path("work"),"mcpServers":[]}));
    let told: Vec<&str> =
        client.heard.iter().filter_map(|line| line["params"]["update"]["sessionUpdate"].as_str()).collect();
    assert!(told.contains(&"user_message_chunk") && told.contains(&"agent_message_chunk"), "{told:?}");
    // With a question open it ends as well.
    let second = client.new_session(&project);
    client.prompt(&second, "write a.txt: hi");
    client.until(|line| line["method"] == "session/request_permission");
    assert_eq!(client.close().1, Some(0));
    assert!(!project.path("work/a.txt").exists());
}

#[test]
fn a_logout_forgets_the_keys_that_a_login_kept() {
    let project = Project::new();
    // Nobody answers there: the key is kept untried.
    let mut login = project.bare(&["acp", "login", "openai", "--keep"]);
    login.env("OPENAI_BASE_URL", "http://127.0.0.1:9").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut login = login.stderr(Stdio::piped()).spawn().unwrap();
    login.stdin.take().unwrap().write_all(b"some-key-0123456789\n").unwrap();
    let login = login.wait_with_output().unwrap();
    assert!(login.status.success(), "{}", String::from_utf8_lossy(&login.stderr));
    assert!(project.kept_anywhere("some-key-0123456789"));
    let mut client = Client::greeted(&project);
    assert_eq!(client.ask("logout", json!({}))["result"], json!({}));
    assert!(!project.kept_anywhere("some-key-0123456789"));
    assert_eq!(client.close().1, Some(0));
}
