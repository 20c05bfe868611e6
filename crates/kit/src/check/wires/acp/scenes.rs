//! The scenarios that only this wire has.

use super::super::{own, quote, text};
use super::{RUNTIME, answers, asked, code, ended, hello, of_turn, request, update};
use crate::check::shared::{greet, prompt};
use crate::check::talk::Talk;
use crate::check::{Scenario, Stop};
use serde_json::{Value, json};

/// All of them, each with the sentence that it stands on.
pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        own(
            "initialize",
            quote("InitializeResponse", "Contains the negotiated protocol version and agent capabilities."),
            "the answer has version 1, and capabilities of sessions are objects",
            |t| Box::pin(initialize(t)),
        ),
        own(
            "newer-client",
            quote("InitializeResponse", "or the latest protocol version supported by the agent."),
            "a client of another version gets an answer with a version, not an error",
            |t| Box::pin(newer_client(t)),
        ),
        own(
            "method-not-found",
            quote("ErrorCode", "**Method not found**: The method does not exist or is not available."),
            "an unknown method gets the error -32601",
            |t| Box::pin(method_not_found(t)),
        ),
        own(
            "id-as-sent",
            quote(
                "RequestId",
                "The Server MUST reply with the same value in the Response object if included.",
            ),
            "an id comes back with the type it was sent with, zero too",
            |t| Box::pin(id_as_sent(t)),
        ),
        own(
            "notification",
            quote(
                "ExtNotification",
                "Allows either side to send an arbitrary notification that is not part of the ACP spec.",
            ),
            "an unknown notification is not answered",
            |t| Box::pin(notification(t)),
        ),
        own(
            "bad-params",
            quote("ErrorCode", "**Invalid params**: Invalid method parameter(s)."),
            "parameters of the wrong shape get the error -32602",
            |t| Box::pin(bad_params(t)),
        ),
        own(
            "resource-link",
            quote("ContentBlock", "All agents MUST support resource links in prompts."),
            "a prompt with a link is taken",
            |t| Box::pin(resource_link(t)),
        ),
        own(
            "updates-name-session",
            quote(
                "SessionNotification",
                "This is a notification endpoint (no response expected) that receives",
            ),
            "every update names the session that session/new told",
            |t| Box::pin(updates_name_session(t)),
        ),
        own("answer-first", None, "nothing of a session is told before the answer to session/new", |t| {
            Box::pin(answer_first(t))
        }),
        own("call-before-question", None, "a tool_call is told before permission for it is asked", |t| {
            Box::pin(call_first(t))
        }),
        own("unknown-session", None, "a prompt to a session that is not there is refused", |t| {
            Box::pin(unknown_session(t))
        }),
    ]
}

async fn call(talk: &mut Talk, line: Value) -> Result<Value, Stop> {
    let id = line.get("id").cloned().unwrap_or_default();
    talk.say(&line).await?;
    talk.until("the answer", |came| {
        // Numbers and texts are told apart only where that is what is asked.
        let same = came.get("id").is_some_and(|other| bare(other) == bare(&id));
        (same && came.get("method").is_none()).then(|| came.clone())
    })
    .await
}

fn bare(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

fn expect_code(line: &Value, wanted: i64) -> Result<(), Stop> {
    if code(line) == Some(wanted) { Ok(()) } else { Err(Stop::wrong(line.to_string())) }
}

async fn initialize(talk: &mut Talk) -> Result<(), Stop> {
    let answer = call(talk, hello(1)).await?;
    if answer.pointer("/result/protocolVersion") != Some(&json!(1)) {
        return Err(Stop::wrong(format!("no version 1: {answer}")));
    }
    let sessions = answer.pointer("/result/agentCapabilities/sessionCapabilities");
    let members = sessions.and_then(Value::as_object).into_iter().flatten();
    match members.into_iter().find(|(_, can)| !can.is_object() && !can.is_null()) {
        None => Ok(()),
        Some((name, can)) => Err(Stop::wrong(format!("{name} is {can}"))),
    }
}

async fn newer_client(talk: &mut Talk) -> Result<(), Stop> {
    let answer = call(talk, hello(99)).await?;
    let version = answer.pointer("/result/protocolVersion").and_then(Value::as_u64);
    if version.is_some() { Ok(()) } else { Err(Stop::wrong(answer.to_string())) }
}

async fn method_not_found(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let id = talk.id();
    let answer = call(talk, request(id, "session/no_such_method", json!({}))).await?;
    expect_code(&answer, -32601)
}

async fn id_as_sent(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    for id in [json!(0), json!(41), json!("41a")] {
        let line = json!({"jsonrpc":"2.0","id":id,"method":"session/no_such_method","params":{}});
        let answer = call(talk, line).await?;
        if answer.get("id") != Some(&id) {
            return Err(Stop::wrong(format!("{id} came back as {answer}")));
        }
    }
    Ok(())
}

async fn notification(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    talk.lull().await;
    talk.say(&json!({"jsonrpc":"2.0","method":"_no.such/notification","params":{}})).await?;
    let heard = talk.lull().await;
    match heard.iter().find(|line| line.get("error").is_some() || line.get("result").is_some()) {
        None => Ok(()),
        Some(line) => Err(Stop::wrong(format!("it was answered with {line}"))),
    }
}

async fn bad_params(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let id = talk.id();
    let answer =
        call(talk, request(id, "session/prompt", json!({"sessionId":"{session}","prompt":"words"}))).await?;
    expect_code(&answer, -32602)
}

async fn resource_link(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let (id, wish) = (talk.id(), talk.wishes.plain.clone());
    let blocks =
        json!([{"type":"text","text":wish},{"type":"resource_link","name":"a.txt","uri":"file:///a.txt"}]);
    talk.say(&request(id, "session/prompt", json!({"sessionId":"{session}","prompt":blocks}))).await?;
    let answer = talk.until("the answer", |line| answers(line, id).then(|| line.clone())).await?;
    match text(&answer, "/result/stopReason") {
        Some(_) => Ok(()),
        None => Err(Stop::wrong(answer.to_string())),
    }
}

/// A whole turn of the plain prompt, from the greeting on.
async fn whole_turn(talk: &mut Talk) -> Result<Vec<Value>, Stop> {
    greet(talk).await?;
    let wish = talk.wishes.plain.clone();
    prompt(talk, &wish).await?;
    Ok(talk.until_over(|line| ended(line).is_some()).await)
}

async fn updates_name_session(talk: &mut Talk) -> Result<(), Stop> {
    talk.say(&hello(1)).await?;
    let session =
        talk.until("a session", |line| text(line, "/result/sessionId").map(ToOwned::to_owned)).await?;
    let wish = talk.wishes.plain.clone();
    prompt(talk, &wish).await?;
    let lines = talk.until_over(|line| ended(line).is_some()).await;
    let mut updates = lines.iter().filter(|line| update(line).is_some()).peekable();
    if updates.peek().is_none() {
        return Err(Stop::Skipped("no update came".to_owned()));
    }
    match updates.find(|line| text(line, "/params/sessionId") != Some(session.as_str())) {
        None => Ok(()),
        Some(line) => Err(Stop::wrong(format!("the session is {session}, and there came {line}"))),
    }
}

async fn answer_first(talk: &mut Talk) -> Result<(), Stop> {
    talk.say(&hello(1)).await?;
    let first = talk
        .until("the answer to session/new", |line| {
            ((RUNTIME.greeted)(line) || update(line).is_some()).then(|| line.clone())
        })
        .await?;
    if (RUNTIME.greeted)(&first) { Ok(()) } else { Err(Stop::wrong(first.to_string())) }
}

async fn call_first(talk: &mut Talk) -> Result<(), Stop> {
    greet(talk).await?;
    let wish = talk.wishes.consent.clone();
    prompt(talk, &wish).await?;
    let lines = talk.until_over(|line| asked(line).is_some() || ended(line).is_some()).await;
    let Some(question) = lines.iter().find(|line| asked(line).is_some()) else {
        return Err(Stop::Skipped("nothing was asked".to_owned()));
    };
    let wanted = text(question, "/params/toolCall/toolCallId");
    let told = lines
        .iter()
        .any(|line| update(line) == Some("tool_call") && text(line, "/params/update/toolCallId") == wanted);
    if told { Ok(()) } else { Err(Stop::wrong(format!("no tool_call before {question}"))) }
}

async fn unknown_session(talk: &mut Talk) -> Result<(), Stop> {
    whole_turn(talk).await?;
    let id = talk.id();
    let prompt = json!({"sessionId":"session-that-never-was","prompt":[{"type":"text","text":"hello"}]});
    let answer = call(talk, request(id, "session/prompt", prompt)).await?;
    if code(&answer).is_some() && !of_turn(&answer) { Ok(()) } else { Err(Stop::wrong(answer.to_string())) }
}
