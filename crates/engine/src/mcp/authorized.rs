//! The way to a server behind a URL, with the token of its login: sent with each request, renewed where the server does not take it, and
//! what the server says when it wants another one noted. Redirects are not followed, so that no token goes elsewhere.

use super::login::{Challenge, Login};
use reqwest::Client;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

type Headers = HashMap<HeaderName, HeaderValue>;
type HttpError = StreamableHttpError<reqwest::Error>;

/// How the library tells of a refusal that says nothing more.
const BARE_REFUSAL: &str = "HTTP 401";

/// The web with a login at one server; without one it is plain.
#[derive(Clone)]
pub(super) struct Authorized {
    pub(super) web: Client,
    pub(super) login: Option<Login>,
    /// Largest event of a stream.
    pub(super) most: usize,
}

impl Authorized {
    async fn with_token<T, F: Future<Output = Result<T, HttpError>>>(
        &self,
        send: impl Fn(Option<String>) -> F,
    ) -> Result<T, HttpError> {
        let Some(login) = &self.login else { return send(None).await };
        let token = login.token().await;
        let why = match send(token.clone()).await {
            Err(why) if is_refusal(&why) => why,
            answer => return kept(login, answer).await,
        };
        let other = match &why {
            // It is good, and may do too little: only the person gets another one.
            StreamableHttpError::InsufficientScope(_) => login.replaced(token.as_deref()).await,
            _ => login.renewed(token.as_deref()).await,
        };
        match other {
            Some(token) => kept(login, send(Some(token)).await).await,
            None => kept(login, Err(why)).await,
        }
    }
}

/// Whether the server does not take what was sent, and might take another token.
fn is_refusal(why: &HttpError) -> bool {
    match why {
        StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_) => true,
        StreamableHttpError::UnexpectedServerResponse(words) => words.starts_with(BARE_REFUSAL),
        _ => false,
    }
}

/// The answer; what a server wants beyond a token is kept for the login that may follow.
async fn kept<T>(login: &Login, answer: Result<T, HttpError>) -> Result<T, HttpError> {
    if let Err(StreamableHttpError::InsufficientScope(why)) = &answer {
        let challenge = Challenge::read(&why.www_authenticate_header);
        if challenge.wants_more() {
            login.wants_more(challenge).await;
        }
    }
    answer
}

/// What a server wants of a login, where that is why something failed.
pub(super) fn challenge(why: &(dyn Error + 'static)) -> Option<Challenge> {
    let mut why = Some(why);
    while let Some(error) = why {
        if let Some(HttpError::AuthRequired(refusal)) = error.downcast_ref() {
            return Some(Challenge::read(&refusal.www_authenticate_header));
        }
        if let Some(HttpError::InsufficientScope(refusal)) = error.downcast_ref() {
            return Some(Challenge::read(&refusal.www_authenticate_header)).filter(Challenge::wants_more);
        }
        if let Some(HttpError::UnexpectedServerResponse(words)) = error.downcast_ref()
            && words.starts_with(BARE_REFUSAL)
        {
            return Some(Challenge::default());
        }
        why = error.source();
    }
    None
}

impl StreamableHttpClient for Authorized {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        self.post_message_with_max_sse_event_size(uri, message, session, token, headers, self.most).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        self.with_token(|token| {
            let (uri, message, session, headers) =
                (uri.clone(), message.clone(), session.clone(), headers.clone());
            self.web.post_message_with_max_sse_event_size(uri, message, session, token, headers, most)
        })
        .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        self.with_token(|token| self.web.delete_session(uri.clone(), session.clone(), token, headers.clone()))
            .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<BoxedSseResponse, HttpError> {
        self.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, self.most).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<BoxedSseResponse, HttpError> {
        self.with_token(|token| {
            let (uri, session, last_event, headers) =
                (uri.clone(), session.clone(), last_event.clone(), headers.clone());
            self.web.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, most)
        })
        .await
    }
}
