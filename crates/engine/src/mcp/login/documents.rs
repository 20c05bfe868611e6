//! The descriptions of a server and of its authorization server, and what the latter answers: read and checked. Pure.

use super::address::{self, Nearness};
use reqwest::Url;
use serde_json::Value;

/// Most entries of a list that count.
const MAX_ENTRIES: usize = 64;
/// Longest text of an answer that is kept, in bytes: tokens of some providers are large.
const MAX_TEXT: usize = 16 * 1024;
/// The only way to prove that the one who asks for a token is the one who asked for its code.
const S256: &str = "S256";

/// What a server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resource {
    /// What a token is to be for, as the server writes it.
    pub(super) named: String,
    /// Who gives out tokens for it; `None` where it does not say.
    pub(super) issuer: Option<Url>,
    pub(super) scopes: Vec<String>,
}

impl Resource {
    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn read(said: &Value, server: &Url, near: Nearness) -> Result<Resource, String> {
        let named = text(said, "resource").ok_or("its description names no `resource`")?;
        let resource = address::checked(&named, near)
            .map_err(|why| format!("the `resource` of its description {why}"))?;
        if !address::is_part_of(server, &resource) {
            let shown = super::shown(&named);
            return Err(format!("its description is about another server, {shown}: no token is asked for"));
        }
        let issuers = texts(said, "authorization_servers").unwrap_or_default();
        let issuer = issuers.first().map(|issuer| {
            address::checked(issuer, near)
                .map_err(|why| format!("the authorization server that it names {why}"))
        });
        Ok(Resource {
            named,
            issuer: issuer.transpose()?,
            scopes: texts(said, "scopes_supported").unwrap_or_default(),
        })
    }
}

/// What an authorization server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Issuer {
    /// Its name, as it must stand in its answers.
    pub(super) issuer: String,
    /// Where the person says yes; `None` where it only knows programs.
    pub(super) authorize: Option<Url>,
    pub(super) token: Url,
    pub(super) register: Option<Url>,
    pub(super) scopes: Vec<String>,
    /// How a program may show who it is; `None` where it does not say.
    pub(super) methods: Option<Vec<String>>,
    /// Whether a program may be known by the address of its description.
    pub(super) by_document: bool,
    /// Whether its name must stand in what the browser brings back.
    pub(super) says_issuer: bool,
    /// Whether tokens can be renewed; `true` where it does not say.
    pub(super) renews: bool,
}

impl Issuer {
    /// `named`: as whom it was asked. `by_origin`: no description of the server named it, so that any name of the same host will do.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn read(said: &Value, named: &Url, by_origin: bool, near: Nearness) -> Result<Issuer, String> {
        let issuer =
            text(said, "issuer").ok_or("its authorization server does not say who it is (`issuer`)")?;
        let same = address::is_same_issuer(&issuer, named.as_str())
            || by_origin && Url::parse(&issuer).is_ok_and(|issuer| issuer.origin() == named.origin());
        if !same {
            let shown = super::shown(&issuer);
            return Err(format!("the authorization server {named} says that it is another one, {shown}"));
        }
        let place = |name: &str| {
            let place = text(said, name).map(|text| address::checked(&text, near));
            place.transpose().map_err(|why| format!("the `{name}` of its authorization server {why}"))
        };
        let authorize = place("authorization_endpoint")?;
        let token = place("token_endpoint")?.ok_or("its authorization server has no `token_endpoint`")?;
        let proofs = texts(said, "code_challenge_methods_supported").unwrap_or_default();
        if authorize.is_some() && !proofs.iter().any(|proof| proof == S256) && !only_programs(said) {
            return Err(
                "its authorization server does not say that it checks who fetches the token (PKCE with S256), so somebody else could".to_owned()
            );
        }
        let flag = |name: &str| said.get(name).and_then(Value::as_bool).unwrap_or(false);
        let says_issuer = flag("authorization_response_iss_parameter_supported");
        if let Some(authorize) =
            authorize.as_ref().filter(|place| !says_issuer && is_foreign(place, &issuer, &token))
        {
            return Err(format!(
                "its authorization server {} has you say yes at {}, and wants what comes of it at {}: in that way somebody gets a \
                 token that was meant for another. No login is begun, unless its answers name it (`authorization_response_iss_parameter_supported`)",
                super::shown(&issuer),
                super::shown(&authorize.origin().ascii_serialization()),
                super::shown(&token.origin().ascii_serialization())
            ));
        }
        Ok(Issuer {
            issuer,
            authorize,
            token,
            register: place("registration_endpoint")?,
            scopes: texts(said, "scopes_supported").unwrap_or_default(),
            methods: texts(said, "token_endpoint_auth_methods_supported"),
            by_document: flag("client_id_metadata_document_supported"),
            says_issuer,
            renews: texts(said, "grant_types_supported")
                .is_none_or(|grants| grants.iter().any(|grant| grant == "refresh_token")),
        })
    }

    /// One that describes itself nowhere: the places that the first version of the protocol gave.
    pub(super) fn unsaid(server: &Url) -> Issuer {
        Issuer {
            issuer: address::at(server, "").to_string(),
            authorize: Some(address::at(server, "/authorize")),
            token: address::at(server, "/token"),
            register: Some(address::at(server, "/register")),
            scopes: Vec::new(),
            methods: None,
            by_document: false,
            says_issuer: false,
            renews: true,
        }
    }
}

/// Whether a yes at this place is one to somebody else than who gets its code: neither the issuer's own place, nor one of its domain, nor
/// where the code goes to. Some providers have the page for people at another host of theirs.
fn is_foreign(authorize: &Url, issuer: &str, token: &Url) -> bool {
    let Ok(issuer) = Url::parse(issuer) else { return true };
    let is_below = |one: &Url, other: &Url| match (one.domain(), other.domain()) {
        (Some(one), Some(other)) => {
            other.contains('.') && one.strip_suffix(other).is_some_and(|more| more.ends_with('.'))
        }
        _ => false,
    };
    let is_of_issuer =
        authorize.origin() == issuer.origin() || is_below(authorize, &issuer) || is_below(&issuer, authorize);
    !is_of_issuer && authorize.origin() != token.origin()
}

/// Whether nobody but programs gets a token there.
fn only_programs(said: &Value) -> bool {
    texts(said, "grant_types_supported")
        .is_some_and(|grants| grants.iter().all(|grant| grant == "client_credentials"))
}

/// Who Parlor is to an authorization server. Its secret is shown nowhere.
#[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(in crate::mcp) struct Registered {
    pub(in crate::mcp) id: String,
    pub(in crate::mcp) secret: Option<String>,
    /// How it shows who it is.
    pub(in crate::mcp) method: ClientProof,
}

/// How a program shows who it is when it asks for a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::mcp) enum ClientProof {
    None,
    ClientSecretBasic,
    ClientSecretPost,
}

impl ClientProof {
    /// As the standard names it.
    pub(super) fn name(self) -> &'static str {
        match self {
            ClientProof::None => "none",
            ClientProof::ClientSecretBasic => "client_secret_basic",
            ClientProof::ClientSecretPost => "client_secret_post",
        }
    }

    fn named(name: &str) -> Option<ClientProof> {
        [ClientProof::None, ClientProof::ClientSecretBasic, ClientProof::ClientSecretPost]
            .into_iter()
            .find(|method| method.name() == name)
    }

    /// The one to use with or without a secret, by what the authorization server can.
    pub(super) fn fitting(methods: Option<&[String]>, has_secret: bool) -> ClientProof {
        let Some(methods) = methods.filter(|_| has_secret) else {
            return if has_secret { ClientProof::ClientSecretBasic } else { ClientProof::None };
        };
        let can = |method: &ClientProof| methods.iter().any(|name| name == method.name());
        [ClientProof::ClientSecretBasic, ClientProof::ClientSecretPost, ClientProof::None]
            .into_iter()
            .find(can)
            .unwrap_or(ClientProof::ClientSecretBasic)
    }

    /// The one to ask for when Parlor makes itself known.
    pub(super) fn wished(methods: Option<&[String]>) -> ClientProof {
        let is_open =
            methods.is_none_or(|methods| methods.iter().any(|name| name == ClientProof::None.name()));
        if is_open { ClientProof::None } else { ClientProof::fitting(methods, true) }
    }
}

impl Registered {
    /// What an authorization server answered to whom it did not know.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn read(said: &Value, methods: Option<&[String]>) -> Result<Registered, String> {
        let id = text(said, "client_id").ok_or("its authorization server gave Parlor no `client_id`")?;
        let secret = text(said, "client_secret");
        let method = text(said, "token_endpoint_auth_method").and_then(|name| ClientProof::named(&name));
        let method = method.unwrap_or_else(|| ClientProof::fitting(methods, secret.is_some()));
        Ok(Registered { id, secret, method })
    }
}

/// What is given for a code, for an older token, or to a program.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Granted {
    pub(super) token: String,
    pub(super) renewal: Option<String>,
    /// Seconds that it counts.
    pub(super) lasts: Option<u64>,
    pub(super) scope: Option<String>,
}

impl Granted {
    /// # Errors
    /// What is wrong with it, in words; nothing of it is quoted.
    pub(super) fn read(said: &Value) -> Result<Granted, String> {
        let token =
            text(said, "access_token").ok_or("the answer of its authorization server holds no token")?;
        if !token.chars().all(|c| c.is_ascii_graphic()) {
            return Err(
                "the token of its authorization server holds characters that no header can carry".to_owned()
            );
        }
        let kind = text(said, "token_type").unwrap_or_default();
        if !kind.eq_ignore_ascii_case("bearer") {
            return Err(
                "its authorization server gives tokens of a kind that Parlor does not know".to_owned()
            );
        }
        Ok(Granted {
            token,
            renewal: text(said, "refresh_token"),
            lasts: said.get("expires_in").and_then(seconds),
            scope: text(said, "scope"),
        })
    }
}

/// Why an authorization server refused, in its words, as far as they may be shown.
pub(super) fn refusal(said: &Value) -> Option<String> {
    let error = text(said, "error")?;
    let words = match text(said, "error_description") {
        Some(more) => format!("{error}: {more}"),
        None => error,
    };
    Some(super::shown(&words))
}

/// A number of seconds; some write it as a text, or with a fraction.
fn seconds(said: &Value) -> Option<u64> {
    let whole = |text: &str| text.trim().split('.').next().and_then(|text| text.parse().ok());
    match said {
        Value::String(text) => whole(text),
        Value::Number(number) => number.as_u64().or_else(|| whole(&number.to_string())),
        _ => None,
    }
}

/// A text that is there and not too long.
pub(super) fn text(said: &Value, name: &str) -> Option<String> {
    let text = said.get(name)?.as_str()?;
    (!text.is_empty() && text.len() <= MAX_TEXT).then(|| text.to_owned())
}

fn texts(said: &Value, name: &str) -> Option<Vec<String>> {
    let list = said.get(name)?.as_array()?.iter().take(MAX_ENTRIES);
    Some(list.filter_map(Value::as_str).filter(|text| text.len() <= MAX_TEXT).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const FAR: Nearness = Nearness { loopback: false, private: false };

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn a_description_must_be_of_the_server_and_name_who_may_be_asked() {
        let server = url("https://mcp.example.org/mcp");
        let read = |said: Value| Resource::read(&said, &server, FAR);
        let good = read(
            json!({"resource": "https://mcp.example.org/mcp", "authorization_servers": ["https://a.org", "x"]}),
        );
        assert_eq!(good.unwrap().issuer, Some(url("https://a.org")));
        for (said, why) in [
            (
                json!({"resource": "https://evil.example.com/mcp", "authorization_servers": ["https://a.org"]}),
                "another server",
            ),
            (json!({"authorization_servers": ["https://a.org"]}), "`resource`"),
            (
                json!({"resource": "https://mcp.example.org", "authorization_servers": ["https://10.0.0.1"]}),
                "own network",
            ),
            (
                json!({"resource": "https://mcp.example.org", "authorization_servers": ["http://a.org"]}),
                "not encrypted",
            ),
        ] {
            let told = read(said.clone()).unwrap_err();
            assert!(told.contains(why), "{said}: {told}");
        }
    }

    #[test]
    fn an_authorization_server_must_be_who_was_asked_and_check_who_takes_the_token() {
        let good = json!({
            "issuer": "https://a.org", "authorization_endpoint": "https://a.org/authorize", "token_endpoint": "https://b.org/token",
            "code_challenge_methods_supported": ["plain", "S256"], "grant_types_supported": ["authorization_code"],
        });
        let read = |said: &Value| Issuer::read(said, &url("https://a.org/"), false, FAR);
        assert!(!read(&good).unwrap().renews);
        for (name, value, why) in [
            ("issuer", json!("https://other.org"), "another one"),
            ("issuer", json!("https://a.org/tenant"), "another one"),
            ("issuer", json!(null), "who it is"),
            ("token_endpoint", json!("http://a.org/token"), "not encrypted"),
            ("token_endpoint", json!(null), "no `token_endpoint`"),
            ("authorization_endpoint", json!("https://192.168.0.1/a"), "own network"),
            ("registration_endpoint", json!("https://localhost/r"), "own network"),
            ("code_challenge_methods_supported", json!(["plain"]), "S256"),
            ("code_challenge_methods_supported", json!(null), "S256"),
        ] {
            let mut said = good.clone();
            said[name] = value.clone();
            let told = read(&said).unwrap_err();
            assert!(told.contains(why), "{name} = {value}: {told}");
        }
        // Who shows another's page for people, and takes the code that is had there.
        for (authorize, token, is_good) in [
            ("https://accounts.google.com/o/oauth2/v2/auth", "https://a.org/token", false),
            ("https://a.org.evil.example/auth", "https://a.org/token", false),
            ("https://a.org:8443/auth", "https://a.org/token", false),
            ("https://org/auth", "https://a.org/token", false),
            ("https://login.a.org/auth", "https://a.org/token", true),
            ("https://a.org/auth", "https://token.example/token", true),
            ("https://pool.auth.example/auth", "https://pool.auth.example/token", true),
        ] {
            let mut said = good.clone();
            said["authorization_endpoint"] = json!(authorize);
            said["token_endpoint"] = json!(token);
            let told = read(&said).map(|issuer| issuer.says_issuer);
            assert_eq!(told.is_ok(), is_good, "{authorize} {token}: {told:?}");
            assert!(is_good || told.unwrap_err().contains("No login is begun"));
            said["authorization_response_iss_parameter_supported"] = json!(true);
            assert!(read(&said).unwrap().says_issuer, "its answers have to name it then: {authorize}");
        }
        // Where nobody named it, it is known by its host alone.
        let mut said = good;
        said["issuer"] = json!("https://a.org/oauth");
        assert!(Issuer::read(&said, &url("https://a.org/"), true, FAR).is_ok());
        said["issuer"] = json!("https://other.org/oauth");
        assert!(Issuer::read(&said, &url("https://a.org/"), true, FAR).is_err());
    }

    #[test]
    fn a_program_shows_who_it_is_as_it_is_wanted() {
        let methods = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        for (names, has_secret, wanted) in [
            (None, true, ClientProof::ClientSecretBasic),
            (None, false, ClientProof::None),
            (methods(&["client_secret_post", "private_key_jwt"]), true, ClientProof::ClientSecretPost),
            (methods(&["client_secret_post", "client_secret_basic"]), true, ClientProof::ClientSecretBasic),
            (methods(&["none"]), true, ClientProof::None),
            (methods(&["client_secret_basic"]), false, ClientProof::None),
        ] {
            assert_eq!(ClientProof::fitting(names.as_deref(), has_secret), wanted, "{names:?} {has_secret}");
        }
        let wished = ClientProof::wished(methods(&["client_secret_post"]).as_deref());
        assert_eq!(wished, ClientProof::ClientSecretPost);
    }

    #[test]
    fn a_token_is_one_that_can_be_sent() {
        let read = |said: Value| Granted::read(&said).map(|granted| granted.token).map_err(|_| ());
        assert_eq!(read(json!({"access_token": "abc", "token_type": "bearer"})), Ok("abc".to_owned()));
        for (said, lasts) in [
            (json!(1), Some(1)),
            (json!("1"), Some(1)),
            (json!(3599.5), Some(3599)),
            (json!("soon"), None),
            (json!(null), None),
        ] {
            let granted = json!({"access_token": "abc", "token_type": "bearer", "expires_in": said});
            assert_eq!(Granted::read(&granted).unwrap_or_else(|why| panic!("{why}")).lasts, lasts, "{said}");
        }
        for said in [
            json!({"access_token": "a\r\nX: y", "token_type": "Bearer"}),
            json!({"access_token": "", "token_type": "Bearer"}),
            json!({"access_token": "abc", "token_type": "mac"}),
            json!({"access_token": "abc"}),
            json!({"access_token": "a".repeat(MAX_TEXT + 1), "token_type": "Bearer"}),
            json!([]),
        ] {
            assert_eq!(read(said.clone()), Err(()), "{said}");
        }
    }
}
