//! Clients of the Agent Client Protocol at the server (`parlor up --acp`): each in a room of its own, all in the same sessions.

use super::{PARLOR, is_there, until};
use link::websocket::{self, Unanswered};
use link::{Incoming, Lane, Limits, LinkIo};
use serde_json::{Value, json};
use testkit::{PATIENCE, Person};
use tokio::net::TcpStream;
use tokio::time::timeout;
use wire::lines::Frame;

/// A program of the person's that speaks the protocol.
struct Client {
    link: LinkIo,
    requests: u64,
}

impl Client {
    async fn call(url: &str, origin: Option<&str>) -> Result<Client, Unanswered> {
        let address = url.strip_prefix("ws://").unwrap().split('/').next().unwrap();
        let stream = TcpStream::connect(address).await.unwrap();
        let (link, _) = websocket::call(stream, url, origin, Lane::MAIN, Limits::default()).await?;
        Ok(Client { link, requests: 0 })
    }

    /// One that has greeted.
    async fn greeted(url: &str) -> Client {
        let mut client = Client::call(url, None).await.unwrap();
        let hello = client.ask("initialize", json!({"protocolVersion": 1})).await;
        assert_eq!((&hello["protocolVersion"], &hello["agentInfo"]["name"]), (&json!(1), &json!("parlor")));
        client
    }

    async fn hear(&mut self) -> Option<Value> {
        match timeout(PATIENCE, self.link.incoming.recv()).await.unwrap()? {
            Incoming::Frame { frame: Frame::Line(line), .. } => Some(serde_json::from_str(&line).unwrap()),
            Incoming::Frame { .. } | Incoming::Closed { .. } => None,
        }
    }

    /// What a request is answered with.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = json!(self.requests);
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.link.outgoing.try_send(Lane::MAIN, line.to_string()).unwrap();
        loop {
            let line = self.hear().await.unwrap();
            if line["id"] == id && line.get("method").is_none() {
                assert!(line.get("error").is_none(), "{method}: {line}");
                return line["result"].clone();
            }
        }
    }

    /// Hears until the agent has said a word with this in it.
    async fn hears(&mut self, word: &str) {
        let mut said = String::new();
        while !said.contains(word) {
            let line = self.hear().await.unwrap();
            said += line["params"]["update"]["content"]["text"].as_str().unwrap_or_default();
        }
    }
}

fn said(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

#[tokio::test]
async fn clients_work_in_rooms_of_their_own_and_meet_in_a_session() {
    let world = Person::new(PARLOR);
    let up = world.json(&["up", "--acp", "--json"]);
    let url = up["clients"].as_str().unwrap();
    assert!(url.starts_with("ws://127.0.0.1:"), "{url}");
    assert_eq!(Client::call(url, Some("http://127.0.0.1")).await.err(), Some(Unanswered::Refused(403)));
    let (public, secret) = url.rsplit_once('/').unwrap();
    assert!(secret.len() >= 32, "{url}");
    assert_eq!(Client::call(&format!("{public}/"), None).await.err(), Some(Unanswered::Refused(404)));
    assert!(world.rooms().is_empty(), "who says nothing has no room");

    let mut first = Client::greeted(url).await;
    let cwd = world.path("two").canonicalize().unwrap();
    let new = first.ask("session/new", json!({"cwd": cwd, "mcpServers": []})).await;
    let session = new["sessionId"].clone();
    let ended = first.ask("session/prompt", json!({"sessionId": session, "prompt": said("say howdy")})).await;
    assert_eq!(ended["stopReason"], "end_turn");
    // The other one is led to the room that has the session.
    let mut second = Client::greeted(url).await;
    assert_eq!(world.rooms().len(), 2);
    let params = json!({"sessionId": session, "cwd": cwd, "mcpServers": []});
    second.ask("session/load", params).await;
    second.ask("session/prompt", json!({"sessionId": session, "prompt": said("say what both hear")})).await;
    first.hears("what both hear").await;
    let has_it = |room: &&Value| room["sessions"].as_array().unwrap().iter().any(|s| s["id"] == session);
    let rooms = world.rooms();
    let having: Vec<&Value> = rooms.iter().filter(has_it).collect();
    assert_eq!(having[0]["sessions"][0]["cwd"].as_str(), cwd.to_str());

    // The address is the same when the server was killed, and the session goes on.
    let server = i32::try_from(up["pid"].as_u64().unwrap()).unwrap();
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(server).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    until("it is gone", || (!is_there(server.unsigned_abs().into())).then_some(()));
    while first.hear().await.is_some() {}
    assert!(world.says(&["up"]).contains("the server runs"));
    assert!(TcpStream::connect(public.strip_prefix("ws://").unwrap()).await.is_err(), "nobody asked for it");
    assert!(world.says(&["up", "--acp"]).contains(url));
    let mut third = Client::greeted(url).await;
    third.ask("session/load", json!({"sessionId": session, "cwd": cwd, "mcpServers": []})).await;
    third.ask("session/prompt", json!({"sessionId": session, "prompt": said("say on")})).await;
}
