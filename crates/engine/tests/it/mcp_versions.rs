//! The version of the protocol that is agreed on with a server.

use engine::Config;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A server of a few lines that answers with this version, and writes down how it was greeted.
fn speaking(version: &str, greeting: &Path) -> Value {
    let answer = format!(
        r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"old","version":"1"}}}}"#
    );
    let line = format!(
        r#"answer() {{ id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/'); printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
        read -r line; printf %s "$line" > '{}'; answer '{answer}'
        read -r line; read -r line; answer '{{"tools":[]}}'; cat > /dev/null"#,
        greeting.display()
    );
    json!({"command": "/bin/sh", "args": ["-c", line]})
}

async fn tried(server: Value) -> Result<usize, String> {
    let (entries, _) = engine::mcp::parse(&json!({"mcpServers": {"one": server}}).to_string());
    let dir = tempfile::tempdir().unwrap();
    let (config, here) = (Config::default(), dir.path().to_str().unwrap());
    let work_dir = config.work_dir(here, here);
    let listed = crate::mcp::own(&entries[0]);
    engine::mcp::test(&listed, dir.path(), &work_dir, None).await.map(|tested| tested.tools.len())
}

#[tokio::test]
async fn the_newest_version_with_a_greeting_is_offered_and_older_ones_are_taken() {
    let dir = tempfile::tempdir().unwrap();
    let greeting = dir.path().join("greeting");
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        assert_eq!(tried(speaking(version, &greeting)).await, Ok(0), "{version}");
        let greeted: Value = serde_json::from_str(&std::fs::read_to_string(&greeting).unwrap()).unwrap();
        assert_eq!(
            (&greeted["method"], &greeted["params"]["protocolVersion"]),
            (&json!("initialize"), &json!("2025-11-25"))
        );
    }
    let why = tried(speaking("1999-01-01", &greeting)).await.unwrap_err();
    assert!(why.starts_with("it speaks the version 1999-01-01 of MCP, and Parlor 2024-11-05, "), "{why}");
}

/// A server behind a URL that answers each request with this version, and what it was asked with which version in the header.
async fn far(version: &'static str) -> (String, Arc<Mutex<Vec<(String, Option<String>)>>>) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut text = String::new();
            let body = loop {
                let mut chunk = [0; 4096];
                let Ok(count @ 1..) = stream.read(&mut chunk).await else { break Value::Null };
                text.push_str(&String::from_utf8_lossy(&chunk[..count]));
                let Some((_, body)) = text.split_once("\r\n\r\n") else { continue };
                if let Ok(body) = serde_json::from_str::<Value>(body) {
                    break body;
                }
                if text.starts_with("GET") || text.starts_with("DELETE") {
                    break Value::Null;
                }
            };
            let header = text.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("mcp-protocol-version").then(|| value.to_owned())
            });
            let method = body["method"].as_str().unwrap_or_default().to_owned();
            let result = match method.as_str() {
                "initialize" => json!({
                    "protocolVersion": version, "capabilities": {"tools": {}},
                    "serverInfo": {"name": "far", "version": "1"},
                }),
                "tools/list" => json!({"tools": []}),
                _ => Value::Null,
            };
            seen.lock().unwrap().push((method.clone(), header));
            let answer = match (result, method.as_str()) {
                (Value::Null, "") => {
                    "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                        .to_owned()
                }
                (Value::Null, _) => {
                    "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned()
                }
                (result, _) => {
                    let text = json!({"jsonrpc": "2.0", "id": body["id"], "result": result}).to_string();
                    format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
                        text.len()
                    )
                }
            };
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (url, asked)
}

#[tokio::test]
async fn the_version_that_was_agreed_on_goes_with_every_request() {
    let (url, asked) = far("2025-06-18").await;
    assert_eq!(tried(json!({"type": "http", "url": url})).await, Ok(0));
    let asked = asked.lock().unwrap().clone();
    let with = |method: &str| asked.iter().find(|(asked, _)| asked == method).unwrap().1.clone();
    for method in ["notifications/initialized", "tools/list"] {
        assert_eq!(with(method).as_deref(), Some("2025-06-18"), "{method}: {asked:?}");
    }
}
