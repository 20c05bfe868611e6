//! What an entry says of how to log in at its server. Pure.

use serde_json::{Map, Value};

/// The grant by which a program gets a token without a person's yes.
const ALONE: &str = "client_credentials";

/// How to log in at a server, as far as its entry says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OAuth {
    /// What Parlor is called there: as it was made known by hand, or the https address of a document that describes it.
    pub client_id: Option<String>,
    pub client_secret: Option<String>,
    /// The port of this machine that the browser comes back to, where the authorization server knows but one.
    pub callback_port: Option<u16>,
    /// Whether no person is asked: the id and the secret are enough.
    pub alone: bool,
}

impl OAuth {
    /// The member `oauth` of an entry.
    pub(super) fn read(entry: &Map<String, Value>) -> Result<OAuth, String> {
        let Some(said) = entry.get("oauth") else { return Ok(OAuth::default()) };
        let said = said.as_object().ok_or("`oauth` must be an object")?;
        let text = |name: &str| match said.get(name) {
            None => Ok(None),
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.trim().to_owned())),
            Some(_) => Err(format!("`oauth.{name}` must be a text")),
        };
        let port = match said.get("callbackPort") {
            None => None,
            Some(port) => {
                let port = port.as_u64().and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0);
                Some(port.ok_or("`oauth.callbackPort` must be a port, from 1 to 65535")?)
            }
        };
        let alone = match text("grant")?.as_deref() {
            None | Some("authorization_code") => false,
            Some(ALONE) => true,
            Some(_) => return Err(format!("`oauth.grant` is authorization_code or {ALONE}")),
        };
        Ok(OAuth {
            client_id: text("clientId")?,
            client_secret: text("clientSecret")?,
            callback_port: port,
            alone,
        })
    }

    /// The same with variables filled in.
    pub(super) fn filled(&self, fill: &dyn Fn(&str) -> Result<String, String>) -> Result<OAuth, String> {
        let filled = |text: &Option<String>| text.as_deref().map(fill).transpose();
        let (client_id, client_secret) = (filled(&self.client_id)?, filled(&self.client_secret)?);
        Ok(OAuth { client_id, client_secret, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_says_how_to_log_in_or_what_is_wrong_with_that() {
        let read = |text: &str| {
            let entry: Value = serde_json::from_str(&format!("{{\"oauth\": {text}}}")).unwrap();
            OAuth::read(entry.as_object().unwrap())
        };
        let good = read(
            r#"{"clientId": " me ", "clientSecret": "${S}", "callbackPort": 8080, "grant": "client_credentials"}"#,
        );
        let good = good.unwrap();
        assert_eq!(
            (good.client_id.as_deref(), good.callback_port, good.alone),
            (Some("me"), Some(8080), true)
        );
        let filled = good.filled(&|text| Ok(text.replace("${S}", "secret"))).unwrap();
        assert_eq!(filled.client_secret.as_deref(), Some("secret"));
        assert_eq!(OAuth::read(&Map::new()), Ok(OAuth::default()));
        for wrong in [
            "3",
            r#"{"clientId": 3}"#,
            r#"{"callbackPort": 70000}"#,
            r#"{"callbackPort": 0}"#,
            r#"{"grant": "implicit"}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
