//! A wire of two requests, for what no wire does by itself: limits, lines that are no requests, and greetings that wait.

use super::*;
use crate::exchange::{Answering, Fault, Settlement, no_answer};
use domain::command::{Command, ListCommand, RefusalKind, Target};
use domain::ids::Millis;
use domain::port::Ticket;
use roles::{LinkEffect, RuntimeEffect};

#[derive(Default)]
struct Toy {
    endpoint: Endpoint<u8>,
}

struct Hello;
struct Count;

impl Call for Hello {
    const METHOD: &'static str = "hello";
}

impl Call for Count {
    const METHOD: &'static str = "count";
}

const REQUESTS: &[Exchange<Toy>] =
    &[Exchange::of::<Hello>(|toy, cx, request| initialize(toy, cx, request, 0), no_answer), COUNT];
const COUNT: Exchange<Toy> = Exchange::of::<Count>(|_, _, _| Ok(servers(1)), counted);

fn servers(times: u8) -> Next<Toy> {
    Next::Hub(Target::Current, Command::List(ListCommand::Servers), times)
}

/// Asks a second time, and then says how often it did.
fn counted(_: &mut Toy, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Toy>) -> Answering<Toy> {
    let Receipt::Servers(_) = settled.with? else { return Err(Fault::Odd) };
    Ok(if settled.memo < 2 { servers(settled.memo + 1) } else { reply(&settled.memo) })
}

impl RpcRole for Toy {
    type Memo = u8;

    const MANNERS: Manners = Manners {
        null_id: false,
        strict: false,
        garbled: "no text",
        words: |_, why| why.to_owned(),
        unknown: |method| RpcError::new(1, method),
        too_many: || RpcError::new(2, "too many"),
        odd: || RpcError::new(3, "odd"),
    };

    fn endpoint(&self) -> &Endpoint<u8> {
        &self.endpoint
    }

    fn endpoint_mut(&mut self) -> &mut Endpoint<u8> {
        &mut self.endpoint
    }

    fn tables(&self) -> &'static [&'static [Exchange<Toy>]] {
        &[REQUESTS]
    }

    fn refused(method: &'static str, refusal: &Refusal) -> RpcError {
        RpcError::new(4, format!("{method}: {refusal}"))
    }

    fn unasked(&mut self, _: &mut RuntimeCx<'_>, _: Option<View<'_>>, _: u8, _: Result<Receipt, Refusal>) {}

    fn initialized(&self, _: &u8) -> Written {
        written(&self.endpoint.can().cancel)
    }

    fn notification(&mut self, cx: &mut RuntimeCx<'_>, method: &str, _: Option<&RawValue>) {
        cx.log(method);
    }

    fn response(&mut self, cx: &mut RuntimeCx<'_>, id: &WireId, _: Result<&RawValue, RpcError>) {
        cx.log(id.to_string());
    }
}

/// What a call says and logs, and how many commands it hands over.
fn with(toy: &mut Toy, call: impl FnOnce(&mut Toy, &mut RuntimeCx<'_>)) -> (Vec<String>, usize) {
    at(toy, 0, call)
}

fn at(toy: &mut Toy, now: u64, call: impl FnOnce(&mut Toy, &mut RuntimeCx<'_>)) -> (Vec<String>, usize) {
    let mut effects = Vec::new();
    call(toy, &mut RuntimeCx { now: Millis(now), effects: &mut effects });
    let commands = effects.iter().filter(|effect| matches!(effect, RuntimeEffect::Command { .. })).count();
    let told = effects.into_iter().filter_map(|effect| match effect {
        RuntimeEffect::Link(LinkEffect::Send { line, .. }) => Some(line),
        RuntimeEffect::Link(LinkEffect::Log(line)) => Some(format!("log: {line}")),
        _ => None,
    });
    (told.collect(), commands)
}

fn said(toy: &mut Toy, text: &str) -> (Vec<String>, usize) {
    with(toy, |toy, cx| line(toy, cx, Line::Text(text.to_owned())))
}

fn settled(toy: &mut Toy, ticket: u64, receipt: Result<Receipt, Refusal>) -> (Vec<String>, usize) {
    with(toy, |toy, cx| exchange::settle(toy, cx, None, Ticket(ticket), receipt))
}

const ASK: &str = r#"{"jsonrpc":"2.0","id":7,"method":"count"}"#;

fn only(line: &str) -> (Vec<String>, usize) {
    (vec![line.to_owned()], 0)
}

#[test]
fn what_waits_is_a_value_and_an_answer_may_ask_again() {
    let mut toy = Toy::default();
    assert_eq!(said(&mut toy, ASK), (vec![], 1));
    let from = Some((WireId::number(7), "count"));
    assert_eq!(toy.endpoint.pending.values().collect::<Vec<_>>(), [&Pending { from: from.clone(), memo: 1 }]);
    assert_eq!(settled(&mut toy, 1, Ok(Receipt::Servers(Vec::new()))), (vec![], 1));
    assert_eq!(toy.endpoint.pending.values().collect::<Vec<_>>(), [&Pending { from, memo: 2 }]);
    let answered = settled(&mut toy, 2, Ok(Receipt::Servers(Vec::new())));
    assert_eq!(answered, only(r#"{"jsonrpc":"2.0","id":7,"result":2}"#));
    assert!(toy.endpoint.pending.is_empty());
}

#[test]
fn refusals_and_odd_receipts_are_answered_once() {
    let mut toy = Toy::default();
    said(&mut toy, ASK);
    let refusal = Refusal::new(RefusalKind::Busy, "no");
    let refused = r#"{"jsonrpc":"2.0","id":7,"error":{"code":4,"message":"count: no"}}"#;
    assert_eq!(settled(&mut toy, 1, Err(refusal)), only(refused));
    said(&mut toy, ASK);
    let odd = r#"{"jsonrpc":"2.0","id":7,"error":{"code":3,"message":"odd"}}"#;
    assert_eq!(settled(&mut toy, 2, Ok(Receipt::Done)), only(odd));
    let (told, _) = settled(&mut toy, 2, Ok(Receipt::Done));
    assert!(told[0].starts_with("log: ignored"), "{told:?}");
}

#[test]
fn no_more_than_the_bound_waits_for_the_hub() {
    let mut toy = Toy::default();
    let ask = |toy: &mut Toy, now: u64| {
        // Spread over time, so that it is not the rate that refuses.
        at(toy, now * 1000, |toy, cx| line(toy, cx, Line::Text(ASK.to_owned())))
    };
    for now in 0..MAX_PENDING as u64 {
        assert_eq!(ask(&mut toy, now), (vec![], 1), "{now}");
    }
    let too_many = r#"{"jsonrpc":"2.0","id":7,"error":{"code":2,"message":"too many"}}"#;
    assert_eq!(ask(&mut toy, MAX_PENDING as u64), only(too_many));
    settled(&mut toy, 1, Ok(Receipt::Done));
    assert_eq!(ask(&mut toy, MAX_PENDING as u64 + 1), (vec![], 1));
}

#[test]
fn more_than_the_rate_is_refused_without_being_read() {
    let mut toy = Toy::default();
    let refused = (0..2_000).filter(|_| said(&mut toy, r#"{"id":1,"method":"x"}"#).0[0].contains("too many"));
    assert!(refused.count() > 0);
}

#[test]
fn what_is_no_request_is_answered_where_it_has_an_id() {
    let mut toy = Toy::default();
    let unknown = r#"{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"x"}}"#;
    assert_eq!(said(&mut toy, r#"{"id":"a","method":"x"}"#), only(unknown));
    assert_eq!(said(&mut toy, "  "), (vec![], 0));
    assert_eq!(said(&mut toy, r#"{"method":"note"}"#), only("log: note"));
    assert_eq!(said(&mut toy, r#"{"id":3,"result":1}"#), only("log: 3"));
    assert_eq!(said(&mut toy, "{secret"), only("log: ignored: a line that is not JSON"));
    let garbled = with(&mut toy, |toy, cx| line(toy, cx, Line::Garbled(String::new())));
    assert_eq!(garbled, only("log: ignored: no text"));
    let head = r#"{"jsonrpc":"2.0","id":5,"method":"count","params":{"#.to_owned();
    let (told, _) = with(&mut toy, |toy, cx| line(toy, cx, Line::Overlong(head)));
    assert!(told[0].starts_with(r#"{"jsonrpc":"2.0","id":5,"error""#), "{told:?}");
}

#[test]
fn a_greeting_waits_for_the_runtime_behind_and_is_answered_once() {
    let hello = r#"{"id":1,"method":"hello"}"#;
    let greeted = r#"{"jsonrpc":"2.0","id":1,"result":true}"#;
    assert_eq!(said(&mut Toy::default(), hello), only(greeted));
    let follows = || {
        let mut toy = Toy::default();
        toy.endpoint.greeting.follows = true;
        toy
    };
    let mut toy = follows();
    assert_eq!(said(&mut toy, hello), (vec![], 0));
    assert!(toy.endpoint.owes());
    let able = Abilities { cancel: false, ..Abilities::default() };
    let told = with(&mut toy, |toy, cx| abilities(toy, cx, &able));
    assert_eq!(told, only(r#"{"jsonrpc":"2.0","id":1,"result":false}"#));
    assert_eq!(with(&mut toy, greet), (vec![], 0));
    // It told nothing in time: nothing is claimed but what is always tried.
    let mut late = follows();
    said(&mut late, hello);
    assert_eq!(with(&mut late, greet), only(greeted));
    let mut gone = follows();
    said(&mut gone, hello);
    let refused = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"gone"}}"#;
    assert_eq!(with(&mut gone, |toy, cx| lost(toy, cx, "gone".to_owned())), only(refused));
    assert_eq!(said(&mut gone, hello), only(refused));
}

#[derive(Debug, serde::Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Said {
    Text,
}

#[test]
fn what_is_wrong_with_parameters_is_told_without_names_of_ours() {
    for (params, told) in [
        (r#"{"said":"hello"}"#, "expected an object that says what it is at line 1"),
        (r#"{"said":{"type":"voice"}}"#, "unknown variant `voice`, expected `text`"),
        (r#"{}"#, "missing field `said`"),
        ("[]", "params must be an object"),
    ] {
        #[derive(Debug, serde::Deserialize)]
        struct Params {
            #[expect(dead_code, reason = "only whether it can be read counts")]
            said: Said,
        }
        let raw = RawValue::from_string(params.to_owned()).unwrap();
        let why = object::<Params>(Some(&raw)).unwrap_err();
        assert!(why.contains(told) && !why.contains("enum"), "{params}: {why}");
    }
}
