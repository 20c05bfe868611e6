//! What can be asked for. All routes stand in one list, and the guard stands before the whole of it.

use crate::rooms::Rooms;
use crate::shared::{Peer, Shared};
use crate::{assets, converse, enrol, guard};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use std::sync::Arc;

/// Every route, by its method and its path.
pub const ROUTES: &[(Method, &str)] = &[
    (Method::GET, "/"),
    (Method::GET, "/{file}"),
    (Method::GET, "/assets/{*file}"),
    (Method::GET, "/enrol"),
    (Method::GET, "/wire"),
];

/// All of it, behind the guard.
pub(crate) fn router<R: Rooms>(shared: Arc<Shared<R>>) -> Router {
    let mut router = Router::new();
    for (_, path) in ROUTES {
        router = router.route(path, route::<R>(path));
    }
    router
        .fallback(nothing)
        .method_not_allowed_fallback(not_so)
        .layer(from_fn_with_state(shared.clone(), stand_before::<R>))
        .with_state(shared)
}

fn route<R: Rooms>(path: &str) -> MethodRouter<Arc<Shared<R>>> {
    match path {
        "/" => get(index),
        "/enrol" => get(enrol::upgrade::<R>),
        "/wire" => get(converse::upgrade::<R>),
        "/assets/{*file}" => get(hashed),
        _ => get(beside),
    }
}

/// The guard.
async fn stand_before<R: Rooms>(
    State(shared): State<Arc<Shared<R>>>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let host = shared.names.host(&request).map(str::to_owned);
    let judged = guard::judge(&shared.names, &request);
    let mut answer = match judged {
        Ok(()) => next.run(request).await,
        Err((status, why)) => {
            let peer = request.extensions().get::<Peer>();
            let peer = peer.map(|peer| peer.ends.peer.to_string()).unwrap_or_default();
            shared.log(&format!("refused a request from {peer}: {why}"));
            guard::refused(status, why)
        }
    };
    guard::dress(answer.headers_mut(), &shared.names, host.as_deref());
    answer
}

async fn index(headers: HeaderMap) -> Response {
    given(assets::INDEX, &headers)
}

async fn beside(Path(file): Path<String>, headers: HeaderMap) -> Response {
    given(&file, &headers)
}

async fn hashed(Path(file): Path<String>, headers: HeaderMap) -> Response {
    let mut answer = given(&format!("{}{file}", assets::HASHED), &headers);
    if answer.status().is_success() {
        let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
        answer.headers_mut().insert(header::CACHE_CONTROL, forever);
    }
    answer
}

fn given(path: &str, asked: &HeaderMap) -> Response {
    let accepted =
        asked.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let Some((encoding, bytes)) = assets::served(path, accepted) else {
        return guard::refused(StatusCode::NOT_FOUND, "there is nothing here");
    };
    let kind = [(header::CONTENT_TYPE, assets::kind(path)), (header::VARY, "accept-encoding")];
    match encoding {
        Some(name) => (kind, [(header::CONTENT_ENCODING, name)], bytes).into_response(),
        None => (kind, bytes).into_response(),
    }
}

async fn nothing() -> Response {
    guard::refused(StatusCode::NOT_FOUND, "there is nothing here")
}

async fn not_so() -> Response {
    guard::refused(StatusCode::METHOD_NOT_ALLOWED, "this cannot be asked for in this way")
}
