//! The way from a person's yes to a token: what the browser is sent with, what it brings back, and what is sent for a token. Pure but
//! for chance.

use super::address;
use super::documents::{ClientProof, Issuer, Registered};
use super::web::Letter;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use reqwest::Url;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Bytes of chance in what nobody may guess.
const CHANCE: usize = 32;
/// The scope by which a token that renews another is asked for.
const OFFLINE: &str = "offline_access";
/// Longest code and the like that a browser may bring back.
const MAX_BROUGHT: usize = 8 * 1024;

/// What nobody may guess, as characters that may stand in an address.
pub(super) fn chance() -> Result<String, String> {
    let mut bytes = [0; CHANCE];
    SystemRandom::new().fill(&mut bytes).map_err(|_| "this machine gives no random numbers".to_owned())?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// What is told of a secret before it is shown (PKCE, S256).
pub(super) fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()))
}

/// The rights to ask for: what the server wants now, else what it says that there are; beside what a token had that may do too little.
/// Nothing where nobody says anything.
pub(super) fn scope(
    wanted: Option<&str>,
    had: Option<&str>,
    supported: &[String],
    issuer: &Issuer,
) -> Option<String> {
    let now = wanted.map_or_else(|| supported.join(" "), str::to_owned);
    let mut all: Vec<&str> = Vec::new();
    let offline = issuer.renews && issuer.scopes.iter().any(|scope| scope == OFFLINE);
    for one in had.unwrap_or_default().split(' ').chain(now.split(' ')).chain(offline.then_some(OFFLINE)) {
        if !one.is_empty() && !all.contains(&one) {
            all.push(one);
        }
    }
    (!all.is_empty()).then(|| all.join(" "))
}

/// One try to get a code by a browser.
#[derive(Clone)]
pub(super) struct Errand {
    pub(super) client: Registered,
    /// Where the browser comes back to.
    pub(super) redirect: String,
    pub(super) state: String,
    pub(super) verifier: String,
    pub(super) scope: Option<String>,
    /// What the token is to be for.
    pub(super) resource: String,
}

impl Errand {
    /// The address that the browser is sent to.
    pub(super) fn address(&self, authorize: &Url) -> Url {
        let mut url = authorize.clone();
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.client.id)
            .append_pair("redirect_uri", &self.redirect)
            .append_pair("state", &self.state)
            .append_pair("code_challenge", &challenge(&self.verifier))
            .append_pair("code_challenge_method", "S256")
            .append_pair("resource", &self.resource);
        if let Some(scope) = &self.scope {
            query.append_pair("scope", scope);
            if scope.split(' ').any(|one| one == OFFLINE) {
                // Without it some give no token that renews.
                query.append_pair("prompt", "consent");
            }
        }
        drop(query);
        url
    }

    /// What is sent for the code.
    pub(super) fn for_code(&self, code: &str) -> Letter {
        token_letter(
            &self.client,
            &[
                ("grant_type", "authorization_code"),
                ("code", code),
                ("redirect_uri", &self.redirect),
                ("code_verifier", &self.verifier),
                ("resource", &self.resource),
            ],
        )
    }
}

/// What is sent to have a token renewed.
pub(super) fn renewal(client: &Registered, renewal: &str, resource: &str) -> Letter {
    token_letter(
        client,
        &[("grant_type", "refresh_token"), ("refresh_token", renewal), ("resource", resource)],
    )
}

/// What a program sends that needs no person's yes.
pub(super) fn alone(client: &Registered, scope: Option<&str>, resource: &str) -> Letter {
    let mut fields = vec![("grant_type", "client_credentials"), ("resource", resource)];
    fields.extend(scope.map(|scope| ("scope", scope)));
    token_letter(client, &fields)
}

/// What makes Parlor known to who does not know it.
pub(super) fn registration(redirect: &str, scope: Option<&str>, issuer: &Issuer) -> Letter {
    let mut said = json!({
        "client_name": "Parlor",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "application_type": "native",
        "token_endpoint_auth_method": ClientProof::wished(issuer.methods.as_deref()).name(),
    });
    if let Some(scope) = scope {
        said["scope"] = Value::from(scope);
    }
    Letter { body: Some(("application/json", said.to_string())), authorization: None }
}

fn token_letter(client: &Registered, fields: &[(&str, &str)]) -> Letter {
    let secret = client.secret.as_deref().unwrap_or_default();
    let mut fields: Vec<(&str, &str)> = fields.to_vec();
    let mut authorization = None;
    match client.method {
        ClientProof::ClientSecretBasic => {
            let login = format!("{}:{}", written(&client.id), written(secret));
            authorization = Some(format!("Basic {}", STANDARD.encode(login)));
        }
        ClientProof::ClientSecretPost => {
            fields.extend([("client_id", client.id.as_str()), ("client_secret", secret)]);
        }
        ClientProof::None => fields.push(("client_id", &client.id)),
    }
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name}={}", written(value))).collect();
    Letter { body: Some(("application/x-www-form-urlencoded", fields.join("&"))), authorization }
}

/// A text as it stands in a form.
fn written(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte.into()),
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// What a browser brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Brought {
    Code(String),
    /// It was refused; why, in words.
    Refused(String),
    /// It is not what was asked for: somebody else's, or none of ours. Nothing of it counts.
    Foreign,
}

/// What stands in the address at which a browser came back.
pub(super) fn brought(back: &Url, state: &str, issuer: &Issuer) -> Brought {
    let value = |name: &str| {
        let mut all = back.query_pairs().filter(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        // Said twice is not said.
        all.next().filter(|value| all.next().is_none() && value.len() <= MAX_BROUGHT)
    };
    if value("state").as_deref() != Some(state) {
        return Brought::Foreign;
    }
    let by = value("iss");
    let is_theirs = match &by {
        Some(by) => address::is_same_issuer(by, &issuer.issuer),
        None => !issuer.says_issuer,
    };
    if !is_theirs {
        let by = by.map_or_else(|| "nobody".to_owned(), |by| super::shown(&by));
        return Brought::Refused(format!(
            "the answer is of {by}, and not of {}",
            super::shown(&issuer.issuer)
        ));
    }
    if let Some(error) = value("error") {
        let more = value("error_description").map(|more| format!(": {more}")).unwrap_or_default();
        return Brought::Refused(format!("it was refused: {}", super::shown(&format!("{error}{more}"))));
    }
    value("code").filter(|code| !code.is_empty()).map_or(Brought::Foreign, Brought::Code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issuer() -> Issuer {
        Issuer::unsaid(&Url::parse("https://a.org/mcp").unwrap())
    }

    fn client(method: ClientProof) -> Registered {
        Registered { id: "me:1".into(), secret: Some("p w".into()), method }
    }

    #[test]
    fn the_proof_is_the_one_of_the_standard() {
        // RFC 7636, appendix B.
        assert_eq!(
            challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
        let (one, other) = (chance().unwrap(), chance().unwrap());
        assert!(one != other && one.len() == 43);
    }

    #[test]
    fn rights_are_what_the_server_wants_beside_what_there_were() {
        let all = ["a".to_owned(), "b".to_owned()];
        let plain = issuer();
        let offline = Issuer { scopes: vec!["offline_access".into()], ..issuer() };
        let never = Issuer { renews: false, ..offline.clone() };
        let asked = |wanted, had, issuer| scope(wanted, had, &all, issuer).unwrap();
        assert_eq!(asked(Some("x"), None, &plain), "x");
        assert_eq!(asked(None, None, &plain), "a b");
        assert_eq!(asked(Some("a x"), Some("a b"), &plain), "a b x");
        assert_eq!(asked(Some("x"), None, &offline), "x offline_access");
        assert_eq!(asked(Some("x"), None, &never), "x");
        assert_eq!(scope(None, None, &[], &plain), None);
    }

    #[test]
    fn a_program_shows_who_it_is_in_one_way_only() {
        let letter = |method| {
            let letter = renewal(&client(method), "r&", "https://a/m");
            (letter.body.unwrap().1, letter.authorization)
        };
        let common = "grant_type=refresh_token&refresh_token=r%26&resource=https%3A%2F%2Fa%2Fm";
        assert_eq!(letter(ClientProof::None), (format!("{common}&client_id=me%3A1"), None));
        let (body, login) = letter(ClientProof::ClientSecretBasic);
        assert_eq!(
            (body.as_str(), login.unwrap()),
            (common, format!("Basic {}", STANDARD.encode("me%3A1:p%20w")))
        );
        assert_eq!(
            letter(ClientProof::ClientSecretPost),
            (format!("{common}&client_id=me%3A1&client_secret=p%20w"), None)
        );
    }

    #[test]
    fn what_a_browser_brings_counts_only_with_our_state_and_of_who_was_asked() {
        let says = Issuer { says_issuer: true, ..issuer() };
        let read = |query: &str, issuer: &Issuer| {
            brought(&Url::parse(&format!("http://127.0.0.1:1/callback?{query}")).unwrap(), "s", issuer)
        };
        assert_eq!(read("code=c%2F1&state=s", &issuer()), Brought::Code("c/1".into()));
        assert_eq!(read("code=c&state=s&iss=https%3A%2F%2Fa.org", &says), Brought::Code("c".into()));
        for foreign in [
            "code=c",
            "code=c&state=x",
            "code=c&state=s&state=s",
            "state=s",
            "state=s&code=c&code=d",
            "state=s&code=",
        ] {
            assert_eq!(read(foreign, &issuer()), Brought::Foreign, "{foreign}");
        }
        for refused in ["code=c&state=s&iss=https%3A%2F%2Fevil.org", "error=access_denied&state=s"] {
            assert!(matches!(read(refused, &issuer()), Brought::Refused(_)), "{refused}");
        }
        assert!(matches!(read("code=c&state=s", &says), Brought::Refused(_)));
    }
}
