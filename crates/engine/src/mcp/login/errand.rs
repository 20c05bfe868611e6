//! The way to a token, from what a server said to what is kept: who is asked, as whom, and for what. The person shows the browser the way;
//! nothing here opens one.

use super::address::{self, Nearness};
use super::challenge::Challenge;
use super::documents::{self, ClientProof, Granted, Issuer, Registered, Resource};
use super::grant::{self, Brought, Errand};
use super::kept::{KeptLogin, Logins};
use super::listener::Doorstep;
use super::web::{self, Letter};
use super::{Login, key, shown, until};
use crate::mcp::book::Listed;
use crate::mcp::client::Trouble;
use crate::mcp::entry::Way;
use crate::mcp::oauth::OAuth;
use crate::mcp::trial;
use reqwest::Url;
use serde_json::Value;
use std::path::Path;

/// How a login went on from its beginning.
pub enum BegunLogin {
    /// The server takes what is sent to it already.
    Needless,
    /// It is done: no person's yes was needed.
    Done,
    /// A person has to say yes in a browser.
    Browser(Box<BrowserLogin>),
}

/// A login that waits for a person's yes in a browser.
pub struct BrowserLogin {
    server: Url,
    near: Nearness,
    logins: Logins,
    issuer: Issuer,
    errand: Errand,
    doorstep: Doorstep,
    address: Url,
}

/// Finds out whom a server wants a token of, makes Parlor known there, and prepares the way of the browser.
///
/// # Errors
/// Why there is none, in words for the person.
pub async fn begin(listed: &Listed, data: &Path, work_dir: &crate::WorkDir) -> Result<BegunLogin, String> {
    let way = listed.entry.in_environment(listed.from_project)?;
    let Way::Http { url, headers, oauth } = &way else {
        return Err("it is a program on this machine: there is nothing to log in to".to_owned());
    };
    if headers.keys().any(|name| name.eq_ignore_ascii_case(super::HEADER)) {
        return Err("its entry has a header Authorization, which is sent instead of a login: remove it from the entry first".to_owned());
    }
    let server = Url::parse(url).map_err(|why| format!("its address is none: {why}"))?;
    let logins = Logins::in_data(data);
    let login = Login::of(&way, &logins).ok_or(
        "its address is not encrypted (http) or carries a login: a token would be read on the way. Write it with https://",
    )?;
    let kept = login.stored().await;
    let (challenge, is_kept) = match trial::of(listed, data, work_dir, None).await {
        Ok(_) => (kept.as_ref().and_then(|kept| kept.wanted.clone()), true),
        Err(Trouble::Login(challenge)) => (Some(challenge), false),
        Err(Trouble::Broken(why)) => return Err(why),
    };
    let Some(challenge) = challenge else { return Ok(BegunLogin::Needless) };
    let had = kept.filter(|_| challenge.wants_more()).and_then(|kept| kept.scope);
    let near = web::nearness(&server).await?;
    let (resource, issuer) = match found(&server, &challenge, near).await {
        // What it said at another time may be out of date.
        Err(_) if is_kept && challenge.metadata.is_some() => {
            let challenge = Challenge { metadata: None, ..challenge.clone() };
            found(&server, &challenge, near).await?
        }
        found => found?,
    };
    let supported = resource.as_ref().map(|resource| resource.scopes.clone()).unwrap_or_default();
    let scope = grant::scope(challenge.scope.as_deref(), had.as_deref(), &supported, &issuer);
    let resource = resource.map_or_else(|| key(&server), |resource| resource.named);
    if oauth.alone {
        alone(&server, near, &logins, &issuer, oauth, scope, resource).await?;
        return Ok(BegunLogin::Done);
    }
    let authorize = issuer.authorize.clone();
    let authorize =
        authorize.ok_or("its authorization server has no page for a person (`authorization_endpoint`)")?;
    let doorstep = Doorstep::open(oauth.callback_port).await;
    let doorstep = doorstep.map_err(|why| match oauth.callback_port {
        Some(port) => {
            format!("the port {port} of this machine (`callbackPort` of its entry) cannot be used: {why}")
        }
        None => format!("no port of this machine can be used for the browser to come back to: {why}"),
    })?;
    let client = client(&issuer, oauth, &doorstep.address(), scope.as_deref(), near).await?;
    let errand = Errand {
        client,
        redirect: doorstep.address(),
        state: grant::chance()?,
        verifier: grant::chance()?,
        scope,
        resource,
    };
    let address = errand.address(&authorize);
    Ok(BegunLogin::Browser(Box::new(BrowserLogin {
        server,
        near,
        logins,
        issuer,
        errand,
        doorstep,
        address,
    })))
}

/// What the server says of itself, if it does, and who gives out its tokens.
async fn found(
    server: &Url,
    challenge: &Challenge,
    near: Nearness,
) -> Result<(Option<Resource>, Issuer), String> {
    let places = match &challenge.metadata {
        Some(named) => {
            vec![
                address::checked(named, near)
                    .map_err(|why| format!("the address of its description {why}"))?,
            ]
        }
        None => address::of_resource(server),
    };
    let said = first(&places, near).await?;
    if let (None, Some(named)) = (&said, &challenge.metadata) {
        return Err(format!("it describes itself at {}, and there is nothing", shown(named)));
    }
    let resource = said.map(|said| Resource::read(&said, server, near)).transpose()?;
    let named = resource.as_ref().and_then(|resource| resource.issuer.clone());
    let by_origin = named.is_none();
    let named = named.unwrap_or_else(|| address::at(server, ""));
    let issuer = match first(&address::of_issuer(&named), near).await? {
        Some(said) => Issuer::read(&said, &named, by_origin, near)?,
        // As the first version of the protocol had it.
        None if resource.is_none() => Issuer::unsaid(server),
        None => return Err(format!("its authorization server {named} does not describe itself")),
    };
    Ok((resource, issuer))
}

/// The first description that is there.
async fn first(places: &[Url], near: Nearness) -> Result<Option<Value>, String> {
    for place in places {
        let answer = web::ask(place, &Letter::default(), near).await?;
        match answer.status {
            200 if answer.said.is_object() => return Ok(Some(answer.said)),
            // Pages stand there too where nothing does.
            200 | 400..=499 => {}
            status => return Err(format!("{place} answered {status}; try again later")),
        }
    }
    Ok(None)
}

/// Who Parlor is there.
async fn client(
    issuer: &Issuer,
    oauth: &OAuth,
    redirect: &str,
    scope: Option<&str>,
    near: Nearness,
) -> Result<Registered, String> {
    match &oauth.client_id {
        Some(id) if !id.starts_with("https://") => return Ok(known(issuer, oauth, id)),
        Some(id) if issuer.by_document => {
            return Ok(Registered { id: id.clone(), secret: None, method: ClientProof::None });
        }
        _ => {}
    }
    let Some(register) = &issuer.register else {
        return Err(format!(
            "its authorization server {} lets no program make itself known. Have one made known there by hand and put what it is called \
             into the server's entry: \"oauth\": {{\"clientId\": \"…\"}}",
            shown(&issuer.issuer)
        ));
    };
    let answer = web::ask(register, &grant::registration(redirect, scope, issuer), near).await?;
    match answer.status {
        200 | 201 => Registered::read(&answer.said, issuer.methods.as_deref()),
        status => Err(format!(
            "its authorization server does not want to know Parlor ({status}){}",
            why(&answer.said)
        )),
    }
}

/// Who it already knows Parlor as.
fn known(issuer: &Issuer, oauth: &OAuth, id: &str) -> Registered {
    let secret = oauth.client_secret.clone();
    let method = ClientProof::fitting(issuer.methods.as_deref(), secret.is_some());
    Registered { id: id.to_owned(), secret, method }
}

async fn alone(
    server: &Url,
    near: Nearness,
    logins: &Logins,
    issuer: &Issuer,
    oauth: &OAuth,
    scope: Option<String>,
    resource: String,
) -> Result<(), String> {
    let id = oauth.client_id.as_deref().filter(|_| oauth.client_secret.is_some());
    let id = id.ok_or("its entry says \"grant\": \"client_credentials\", which needs `clientId` and `clientSecret` beside it")?;
    let client = known(issuer, oauth, id);
    let granted = granted(issuer, &grant::alone(&client, scope.as_deref(), &resource), near).await?;
    keep(server, logins, login_of(granted, issuer, client, scope, resource, true)).await
}

async fn granted(issuer: &Issuer, letter: &Letter, near: Nearness) -> Result<Granted, String> {
    let answer = web::ask(&issuer.token, letter, near).await?;
    match answer.status {
        200 => Granted::read(&answer.said),
        status => Err(format!("its authorization server gives no token ({status}){}", why(&answer.said))),
    }
}

fn why(said: &Value) -> String {
    documents::refusal(said).map(|why| format!(": {why}")).unwrap_or_default()
}

fn login_of(
    granted: Granted,
    issuer: &Issuer,
    client: Registered,
    scope: Option<String>,
    resource: String,
    alone: bool,
) -> KeptLogin {
    KeptLogin {
        token: granted.token,
        renewal: granted.renewal,
        until: until(granted.lasts),
        scope: granted.scope.or(scope),
        resource,
        issuer: issuer.issuer.clone(),
        token_address: issuer.token.to_string(),
        client,
        alone,
        wanted: None,
    }
}

async fn keep(server: &Url, logins: &Logins, login: KeptLogin) -> Result<(), String> {
    let (logins, server) = (logins.clone(), key(server));
    super::blocking(move || logins.keep(&server, login))
        .await
        .map_err(|why| format!("the token cannot be kept: {why}"))
}

impl BrowserLogin {
    /// The address to open.
    pub fn address(&self) -> &str {
        self.address.as_str()
    }

    /// Where the person says yes: the host that the address leads to, and whose it is where its own name is another.
    pub fn place(&self) -> String {
        let (place, issuer) = (self.address.origin().ascii_serialization(), shown(&self.issuer.issuer));
        let is_named =
            Url::parse(&self.issuer.issuer).is_ok_and(|issuer| issuer.origin() == self.address.origin());
        match is_named {
            true => issuer,
            false => format!("{}, for {issuer}, which is another host", shown(&place)),
        }
    }

    /// What the token will allow, where somebody says.
    pub fn scope(&self) -> Option<String> {
        self.errand.scope.as_deref().map(shown)
    }

    /// Waits for the browser to come back to this machine; gives what a token is had for.
    ///
    /// # Errors
    /// That it was refused, or that nobody can come back.
    pub async fn wait(&self) -> Result<String, String> {
        let waited = self.doorstep.wait(&self.errand.state, &self.issuer).await;
        waited.map_err(|why| format!("the browser cannot come back: {why}"))?
    }

    /// What a token is had for, from the address at which a browser of another machine ended.
    ///
    /// # Errors
    /// That it is not such an address, or that it was refused.
    pub fn pasted(&self, text: &str) -> Result<String, String> {
        let wrong = "that is not the address at which the browser ended: it begins with";
        let back = Url::parse(text.trim()).map_err(|_| format!("{wrong} {}", self.errand.redirect))?;
        match grant::brought(&back, &self.errand.state, &self.issuer) {
            Brought::Code(code) => Ok(code),
            Brought::Refused(why) => Err(why),
            Brought::Foreign => Err(format!("{wrong} {}, and is of this login", self.errand.redirect)),
        }
    }

    /// Takes the token and keeps it.
    ///
    /// # Errors
    /// Why there is none, or why it cannot be kept.
    pub async fn finish(self, code: &str) -> Result<(), String> {
        let BrowserLogin { server, near, logins, issuer, errand, .. } = self;
        let granted = granted(&issuer, &errand.for_code(code), near).await?;
        let Errand { client, scope, resource, .. } = errand;
        keep(&server, &logins, login_of(granted, &issuer, client, scope, resource, false)).await
    }
}
