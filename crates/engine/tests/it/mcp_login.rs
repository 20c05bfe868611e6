//! Logins at servers behind a URL: how one gets a token, where it is sent, how it is renewed and widened, and what a server or an
//! authorization server that is not to be believed gets.

use crate::bench::{Bench, Plan, put};
use crate::mcp::{own, until};
use crate::mcp_town::{Town, Wrong, browse};
use domain::port::TurnEnd;
use domain::session::ServerState;
use domain::tool::ToolOutcome;
use engine::Config;
use engine::mcp::{BegunLogin, BrowserLogin, Listed, Logins, begin_login};
use serde_json::{Value, json};
use std::path::Path;

fn listed(server: &Value) -> Listed {
    let (entries, errors) = engine::mcp::parse(&json!({"mcpServers": {"far": server}}).to_string());
    assert!(errors.is_empty(), "{errors:?}");
    own(&entries[0])
}

async fn begun(server: &Value, dir: &Path) -> Result<BegunLogin, String> {
    let here = dir.to_str().unwrap();
    begin_login(&listed(server), &dir.join("data"), &Config::default().work_dir(here, here)).await
}

async fn browser(server: &Value, dir: &Path) -> Box<BrowserLogin> {
    match begun(server, dir).await {
        Ok(BegunLogin::Browser(login)) => login,
        Ok(_) => panic!("a person is to be asked"),
        Err(why) => panic!("{why}"),
    }
}

/// Logs in, with a browser that says yes.
pub(crate) async fn log_in(server: &Value, dir: &Path) -> Result<(), String> {
    let login = match begun(server, dir).await? {
        BegunLogin::Browser(login) => login,
        BegunLogin::Done | BegunLogin::Needless => return Ok(()),
    };
    let address = login.address().to_owned();
    let (code, _) = tokio::join!(login.wait(), browse(&address));
    login.finish(&code?).await
}

fn bench(dir: tempfile::TempDir, server: &Value, script: &str) -> Bench {
    put(dir.path(), "settings/mcp.json", &json!({"mcpServers": {"far": server}}).to_string());
    std::fs::create_dir_all(dir.path().join("work")).unwrap();
    let config = Config::default().at(None, Some(dir.path().join("settings")));
    Bench::at(dir, Plan::script(script).config(config))
}

const CALLS: &str = "model text \"starting\"\n---\nmodel tool mcp__far__look {}\n---\nmodel text \"ok\"\n---\n\
    model tool mcp__far__put {}\n---\nmodel text \"ok\"\n---\nmodel tool mcp__far__put {}\n---\nmodel text \"ok\"";

#[tokio::test]
async fn a_login_lets_the_agent_in_is_renewed_and_widened_by_the_person_alone() {
    let town = Town::open(Wrong::Nothing).await;
    let server = json!({"url": town.server()});
    let mut bench = bench(tempfile::tempdir().unwrap(), &server, CALLS);
    let dir = bench.dir.path().to_owned();
    assert_eq!(bench.run("start").await, TurnEnd::Done);
    until(&mut bench, |state| *state == ServerState::AuthRequired).await;
    assert_eq!(town.count("/authorize") + town.count("/register"), 0, "no login begins on its own");
    log_in(&server, &dir).await.unwrap();
    // A login is noticed at once, and not after the pause that follows a failure.
    assert_eq!(bench.run("look").await, TurnEnd::Done);
    until(&mut bench, |state| *state == ServerState::Ready).await;
    // The server takes no older token: it is renewed, and the one who asks notices nothing.
    town.forget_tokens();
    assert_eq!(bench.run("put").await, TurnEnd::Done);
    let (_, outcome, text) = bench.outcomes().pop().unwrap();
    assert!(outcome == ToolOutcome::Failed && text.contains("more rights (write)"), "{outcome:?} {text}");
    assert!(text.contains("parlor mcp login far"), "{text}");
    assert_eq!(town.count("/authorize"), 1, "no login begins on its own");
    log_in(&server, &dir).await.unwrap();
    let asked = town.requests().into_iter().rfind(|request| request.target.starts_with("/authorize"));
    assert!(asked.unwrap().target.contains("scope=read+write"), "what it had is asked for, too");
    assert!(matches!(begun(&server, &dir).await, Ok(BegunLogin::Needless)));
    assert_eq!(bench.run("put").await, TurnEnd::Done);
    let (_, outcome, text) = bench.outcomes().pop().unwrap();
    assert!(
        outcome == ToolOutcome::Done && text == "seen",
        "a session that runs has it at once: {outcome:?} {text}"
    );
}

#[tokio::test]
async fn a_token_is_renewed_before_it_is_over_and_one_that_is_not_renewed_wants_a_login() {
    let town = Town::open(Wrong::Nothing).await;
    let server = json!({"url": town.server()});
    let dir = tempfile::tempdir().unwrap();
    town.lasts(1);
    log_in(&server, dir.path()).await.unwrap();
    assert_eq!(town.count("/token"), 1);
    town.lasts(3600);
    assert!(matches!(begun(&server, dir.path()).await, Ok(BegunLogin::Needless)));
    assert_eq!(town.count("/token"), 2, "it was about to be over");
    let old: Vec<String> = town.requests().into_iter().filter_map(|request| request.authorization).collect();
    assert!(
        !old.contains(&"Bearer token-2".to_owned()),
        "nothing is sent with a token that is over: {old:?}"
    );
    town.forget_all();
    assert!(matches!(begun(&server, dir.path()).await, Ok(BegunLogin::Browser(_))));
    let refreshes = town.count("/token");
    assert!(matches!(begun(&server, dir.path()).await, Ok(BegunLogin::Browser(_))));
    assert_eq!(town.count("/token"), refreshes, "what was refused once is not sent again");
}

#[tokio::test]
async fn a_token_goes_to_its_server_and_nowhere_else() {
    let (town, other) = (Town::open(Wrong::Nothing).await, Town::open(Wrong::Nothing).await);
    let dir = tempfile::tempdir().unwrap();
    let server = json!({"url": town.server()});
    log_in(&server, dir.path()).await.unwrap();
    for stranger in [other.server(), format!("{}/mcp?x=1", town.base), format!("{}/mcp/", town.base)] {
        let before = town.requests().len();
        let _ = begun(&json!({"url": stranger}), dir.path()).await;
        let sent = town.requests().into_iter().skip(before).chain(other.requests());
        assert_eq!(sent.filter(|request| request.authorization.is_some()).count(), 0, "{stranger}");
    }
    // Where others could read it, there is none.
    let Err(why) = begun(&json!({"url": "http://mcp.example.org/mcp"}), dir.path()).await else { panic!() };
    assert!(why.contains("not encrypted"), "{why}");
    // One that the entry brings leads.
    let brings = json!({"url": town.server(), "headers": {"authorization": "Bearer mine"}});
    let Err(why) = begun(&brings, dir.path()).await else { panic!() };
    assert!(why.contains("header Authorization"), "{why}");
    let entry = &listed(&server).entry;
    let logins = Logins::in_data(&dir.path().join("data"));
    assert!(logins.forget(entry).unwrap() && !logins.forget(entry).unwrap());
    assert!(matches!(begun(&server, dir.path()).await, Ok(BegunLogin::Browser(_))));
}

/// What is wrong, what is told, and how far it came: how often a person was asked and a token was.
const HOSTILE: &[(Wrong, &str, [usize; 2])] = &[
    (Wrong::Resource, "about another server", [0, 0]),
    (Wrong::Issuer, "says that it is another one", [0, 0]),
    (Wrong::PlainIssuer, "not encrypted", [0, 0]),
    (Wrong::PlainToken, "not encrypted", [0, 0]),
    (Wrong::NoProof, "S256", [0, 0]),
    (Wrong::Huge, "larger than", [0, 0]),
    (Wrong::Loop, "redirects more than", [0, 0]),
    (Wrong::Elsewhere, "redirects to another host", [0, 0]),
    (Wrong::Foreign, "No login is begun", [0, 0]),
    (Wrong::ForeignNamed, "the answer is of nobody", [1, 0]),
    (Wrong::Mixed, "the answer is of https://evil.example.org", [1, 0]),
    (Wrong::Token, "no header can carry", [1, 1]),
    (Wrong::Redirected, "not followed", [1, 1]),
];

#[tokio::test]
async fn a_server_that_is_not_to_be_believed_gets_no_token() {
    for (wrong, told, [yes, token]) in HOSTILE {
        let town = Town::open(*wrong).await;
        let dir = tempfile::tempdir().unwrap();
        let server = json!({"url": town.server()});
        let why = log_in(&server, dir.path()).await.expect_err("it is refused");
        assert!(why.contains(told), "{wrong:?}: {why}");
        assert_eq!([town.count("/authorize"), town.count("/token")], [*yes, *token], "{wrong:?}");
        assert_eq!(town.count("/stolen"), 0);
        assert!(
            !Logins::in_data(&dir.path().join("data")).forget(&listed(&server).entry).unwrap(),
            "{wrong:?}"
        );
    }
}

#[tokio::test]
async fn a_browser_that_brings_what_is_not_ours_changes_nothing() {
    let town = Town::open(Wrong::Nothing).await;
    let dir = tempfile::tempdir().unwrap();
    let server = json!({"url": town.server()});
    let login = browser(&server, dir.path()).await;
    let address = reqwest::Url::parse(login.address()).unwrap();
    let of = |name: &str| address.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
    assert_eq!((of("code_challenge_method"), of("resource")), ("S256".to_owned(), town.server()));
    let back = of("redirect_uri");
    assert!(back.starts_with("http://127.0.0.1:"), "{back}");
    let address = login.address().to_owned();
    let visits = async {
        for foreign in ["?code=evil&state=guessed", "?code=evil", "?error=access_denied", ""] {
            assert_eq!(browse(&format!("{back}{foreign}")).await, 400, "{foreign}");
        }
        assert_eq!(browse(&back.replace("/callback", "/other")).await, 404);
        browse(&address).await
    };
    let (code, status) = tokio::join!(login.wait(), visits);
    let code = code.unwrap();
    assert_eq!((code.as_str(), status), ("code-1", 200));
    for pasted in ["", "code-1", "http://127.0.0.1:1/callback?code=x&state=y"] {
        assert!(login.pasted(pasted).is_err(), "{pasted}");
    }
    let pasted = format!("{back}?code=by-hand&state={}", of("state"));
    assert_eq!(login.pasted(&pasted).unwrap(), "by-hand");
    login.finish(&code).await.unwrap();
    // A code that is brought again gives nothing.
    town.forget_all();
    let login = browser(&server, dir.path()).await;
    let why = login.finish("code-1").await.unwrap_err();
    assert!(why.contains("invalid_grant"), "{why}");
}

#[tokio::test]
async fn who_only_holds_connections_open_does_not_keep_the_browser_waiting() {
    let town = Town::open(Wrong::Nothing).await;
    let dir = tempfile::tempdir().unwrap();
    let login = browser(&json!({"url": town.server()}), dir.path()).await;
    let address = reqwest::Url::parse(login.address()).unwrap();
    let back = address.query_pairs().find(|(key, _)| key == "redirect_uri").unwrap().1.into_owned();
    let back = reqwest::Url::parse(&back).unwrap();
    let mut idle = Vec::new();
    for _ in 0..12 {
        idle.push(tokio::net::TcpStream::connect(("127.0.0.1", back.port().unwrap())).await.unwrap());
    }
    let address = login.address().to_owned();
    let start = std::time::Instant::now();
    let (code, status) = tokio::join!(login.wait(), browse(&address));
    assert_eq!((code.unwrap().as_str(), status), ("code-1", 200));
    // One after the other they would have been heard out for a minute.
    assert!(start.elapsed() < std::time::Duration::from_secs(30), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_server_on_this_machine_alone_may_name_places_on_it() {
    // A far server that names an address of this machine is refused before anything is asked there: see the tables of `address`.
    let town = Town::open(Wrong::Nothing).await;
    let dir = tempfile::tempdir().unwrap();
    let login = browser(&json!({"url": town.server()}), dir.path()).await;
    assert_eq!((login.place(), login.scope().as_deref()), (town.base.clone(), Some("read")));
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = port.local_addr().unwrap().port();
    let entry = json!({"url": town.server(), "oauth": {"clientId": "mine", "callbackPort": taken}});
    let Err(why) = begun(&entry, dir.path()).await else { panic!() };
    assert!(why.contains(&taken.to_string()) && why.contains("callbackPort"), "{why}");
    drop(port);
    let before = town.count("/register");
    let login = browser(&entry, dir.path()).await;
    assert!(login.address().contains("client_id=mine"), "{}", login.address());
    assert_eq!(town.count("/register"), before, "it is known already");
}
