//! A server behind a login and its authorization server, on loopback, for tests: good ones, and ones that are wrong in one way each.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// In which way the town is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Wrong {
    #[default]
    Nothing,
    /// The description of the server is about another one.
    Resource,
    /// The authorization server says that it is another one.
    Issuer,
    /// It names an authorization server that is not encrypted, elsewhere.
    PlainIssuer,
    /// Tokens are given out where others read along.
    PlainToken,
    /// Nothing is said of the proof that a code is one's own.
    NoProof,
    /// The description has no end.
    Huge,
    /// The description leads to itself.
    Loop,
    /// The description is at another host.
    Elsewhere,
    /// The page for the person is that of somebody else.
    Foreign,
    /// The same, with the promise that its answers say of whom they are, which those of the other do not.
    ForeignNamed,
    /// The browser comes back from another authorization server.
    Mixed,
    /// The answer to the code is no token that can be sent.
    Token,
    /// What is sent for a token is redirected.
    Redirected,
}

/// A request, as it came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: String,
}

/// The town. It goes on until the test ends.
#[derive(Clone)]
pub(crate) struct Town {
    /// Where everything is.
    pub(crate) base: String,
    wrong: Wrong,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    requests: Vec<Request>,
    /// Proof and rights by code; a code is taken out when it is used.
    codes: BTreeMap<String, (String, String)>,
    /// Rights by token that counts.
    tokens: BTreeMap<String, String>,
    /// Rights by what renews.
    renewals: BTreeMap<String, String>,
    used: BTreeSet<String>,
    count: usize,
    /// How long tokens count.
    lasts: u64,
}

impl Town {
    pub(crate) async fn open(wrong: Wrong) -> Town {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Seen { lasts: 3600, ..Seen::default() }));
        let town = Town { base, wrong, seen };
        let here = town.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(here.clone().serve(stream));
            }
        });
        town
    }

    /// The address of the server.
    pub(crate) fn server(&self) -> String {
        format!("{}/mcp", self.base)
    }

    /// What was asked for so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.seen.lock().unwrap().requests.clone()
    }

    /// How often something below this path was asked for.
    pub(crate) fn count(&self, path: &str) -> usize {
        self.requests().iter().filter(|request| request.target.starts_with(path)).count()
    }

    /// No token counts any more; what renews them does.
    pub(crate) fn forget_tokens(&self) {
        self.seen.lock().unwrap().tokens.clear();
    }

    /// Nothing counts any more.
    pub(crate) fn forget_all(&self) {
        let mut seen = self.seen.lock().unwrap();
        seen.tokens.clear();
        seen.renewals.clear();
    }

    /// How long tokens count from now on, in seconds.
    pub(crate) fn lasts(&self, seconds: u64) {
        self.seen.lock().unwrap().lasts = seconds;
    }

    async fn serve(self, mut stream: TcpStream) {
        while let Some(request) = read(&mut stream).await {
            self.seen.lock().unwrap().requests.push(request.clone());
            let (status, headers, body) = self.answer(&request);
            let length = body.len();
            let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n");
            if stream.write_all(head.as_bytes()).await.is_err()
                || stream.write_all(body.as_bytes()).await.is_err()
            {
                return;
            }
        }
    }

    fn answer(&self, request: &Request) -> (&'static str, String, String) {
        let url = Url::parse(&self.base).unwrap().join(&request.target).unwrap();
        let base = &self.base;
        let json =
            |value: Value| ("200 OK", "content-type: application/json\r\n".to_owned(), value.to_string());
        let to = |place: &str| ("302 Found", format!("location: {place}\r\n"), String::new());
        match url.path() {
            "/mcp" if request.method == "POST" => self.server_answer(request),
            "/mcp" => ("405 Method Not Allowed", String::new(), String::new()),
            "/.well-known/oauth-protected-resource/mcp" => match self.wrong {
                Wrong::Loop => to(&request.target),
                Wrong::Elsewhere => to("http://127.0.0.1:9/other"),
                Wrong::Huge => json(json!({"resource": self.server(), "padding": "x".repeat(300 * 1024)})),
                wrong => json(json!({
                    "resource": if wrong == Wrong::Resource { "http://127.0.0.1:9/mcp".to_owned() } else { self.server() },
                    "authorization_servers":
                        [if wrong == Wrong::PlainIssuer { "http://auth.example.org" } else { base }],
                    "scopes_supported": ["read"],
                })),
            },
            "/.well-known/oauth-authorization-server" => {
                let mut said = json!({
                    "issuer": if self.wrong == Wrong::Issuer { "https://evil.example.org" } else { base },
                    "authorization_endpoint": match self.wrong {
                        // The same place by a name that is another origin.
                        Wrong::Foreign | Wrong::ForeignNamed => {
                            format!("{}/authorize", base.replace("127.0.0.1", "localhost"))
                        }
                        _ => format!("{base}/authorize"),
                    },
                    "authorization_response_iss_parameter_supported": self.wrong == Wrong::ForeignNamed,
                    "token_endpoint": match self.wrong {
                        Wrong::PlainToken => "http://auth.example.org/token".to_owned(),
                        _ => format!("{base}/token"),
                    },
                    "registration_endpoint": format!("{base}/register"),
                    "code_challenge_methods_supported": ["S256"],
                });
                if self.wrong == Wrong::NoProof {
                    said.as_object_mut().unwrap().remove("code_challenge_methods_supported");
                }
                json(said)
            }
            "/register" => json(json!({"client_id": "parlor-1", "token_endpoint_auth_method": "none"})),
            "/authorize" => {
                let of = |name: &str| {
                    url.query_pairs()
                        .find(|(key, _)| key == name)
                        .map(|(_, value)| value.into_owned())
                        .unwrap_or_default()
                };
                let mut seen = self.seen.lock().unwrap();
                seen.count += 1;
                let code = format!("code-{}", seen.count);
                seen.codes.insert(code.clone(), (of("code_challenge"), of("scope")));
                let mut back = Url::parse(&of("redirect_uri")).unwrap();
                back.query_pairs_mut().append_pair("code", &code).append_pair("state", &of("state"));
                if self.wrong == Wrong::Mixed {
                    back.query_pairs_mut().append_pair("iss", "https://evil.example.org");
                }
                to(back.as_str())
            }
            "/token" if self.wrong == Wrong::Redirected => {
                ("307 Temporary Redirect", format!("location: {base}/stolen\r\n"), String::new())
            }
            "/token" => self.token(&request.body),
            _ => ("404 Not Found", String::new(), String::new()),
        }
    }

    fn token(&self, body: &str) -> (&'static str, String, String) {
        let form = Url::parse(&format!("http://x/?{body}")).unwrap();
        let of = |name: &str| {
            form.query_pairs()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.into_owned())
                .unwrap_or_default()
        };
        let mut seen = self.seen.lock().unwrap();
        let scope = match of("grant_type").as_str() {
            "authorization_code" => {
                let proof = URL_SAFE_NO_PAD.encode(digest(&SHA256, of("code_verifier").as_bytes()));
                let code = seen.codes.remove(&of("code"));
                if code.is_none() {
                    seen.used.insert(of("code"));
                }
                code.filter(|(wanted, _)| *wanted == proof && of("resource") == self.server())
                    .map(|(_, scope)| scope)
            }
            // Each renews once.
            "refresh_token" => seen.renewals.remove(&of("refresh_token")),
            _ => None,
        };
        let kind = "content-type: application/json\r\n".to_owned();
        let Some(scope) = scope else {
            return ("400 Bad Request", kind, json!({"error": "invalid_grant"}).to_string());
        };
        seen.count += 1;
        let (token, renewal) = (format!("token-{}", seen.count), format!("renewal-{}", seen.count));
        seen.tokens.insert(token.clone(), scope.clone());
        seen.renewals.insert(renewal.clone(), scope.clone());
        let token = if self.wrong == Wrong::Token { "a\r\nb".to_owned() } else { token };
        let said = json!({
            "access_token": token, "token_type": "Bearer", "expires_in": seen.lasts, "refresh_token": renewal, "scope": scope,
        });
        ("200 OK", kind, said.to_string())
    }

    fn server_answer(&self, request: &Request) -> (&'static str, String, String) {
        let described = format!("{}/.well-known/oauth-protected-resource/mcp", self.base);
        let token = request.authorization.as_deref().and_then(|header| header.strip_prefix("Bearer "));
        let rights = token.and_then(|token| self.seen.lock().unwrap().tokens.get(token).cloned());
        let Some(rights) = rights else {
            let challenge =
                format!("www-authenticate: Bearer resource_metadata=\"{described}\", scope=\"read\"\r\n");
            return ("401 Unauthorized", challenge, String::new());
        };
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "town", "version": "1"},
            }),
            "tools/list" => json!({"tools": [
                {"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
                {"name": "put", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
            ]}),
            "tools/call"
                if message["params"]["name"] == "put" && !rights.split(' ').any(|right| right == "write") =>
            {
                let challenge = format!(
                    "www-authenticate: Bearer error=\"insufficient_scope\", scope=\"write\", resource_metadata=\"{described}\"\r\n"
                );
                return ("403 Forbidden", challenge, String::new());
            }
            "tools/call" => json!({"content": [{"type": "text", "text": "seen"}]}),
            _ => return ("202 Accepted", String::new(), String::new()),
        };
        let said = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        ("200 OK", "content-type: application/json\r\n".to_owned(), said.to_string())
    }
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break end;
        }
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&piece[..read]);
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let header = |name: &str| {
        let mut lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
    };
    let length = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = bytes[end + 4..].to_vec();
    while body.len() < length {
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        body.extend_from_slice(&piece[..read]);
    }
    let mut words = head.split(' ');
    Some(Request {
        method: words.next()?.to_owned(),
        target: words.next()?.to_owned(),
        authorization: header("authorization"),
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}

/// Opens an address as a browser does, and follows where it leads; the status of the last answer.
pub(crate) async fn browse(address: &str) -> u16 {
    let mut url = Url::parse(address).unwrap();
    for _ in 0..5 {
        let mut stream = TcpStream::connect((url.host_str().unwrap(), url.port().unwrap())).await.unwrap();
        let path = url.as_str().strip_prefix(&url.origin().ascii_serialization()).unwrap().to_owned();
        let asked = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(asked.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        let mut piece = [0; 4096];
        while !head.windows(4).any(|end| end == b"\r\n\r\n") {
            let read = stream.read(&mut piece).await.unwrap();
            assert!(read > 0, "{address} is answered");
            head.extend_from_slice(&piece[..read]);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let to = head.lines().filter_map(|line| line.split_once(": "));
        match to.clone().find(|(name, _)| name.eq_ignore_ascii_case("location")) {
            Some((_, to)) => url = url.join(to.trim()).unwrap(),
            None => return status,
        }
    }
    panic!("{address} leads in circles");
}
