//! What a wire cannot read stays out of its logs.

use roles::{Drift, Greeting, Hello};
use testkit::bench::{Link, RuntimeBench, UiBench, session};

/// Lines that no wire can read, each with a secret where somebody may have put one. What a peer calls a kind of line is no such place.
const UNREADABLE: &[&str] = &[
    "hunter2",
    r#""hunter2""#,
    r#"{"type":5,"text":"hunter2"}"#,
    r#"{"text":"hunter2"}"#,
    r#"{"command":{"ticket":1,"what":{"answer":{"ask":7,"answer":{"text":"hunter2"}}}}}"#,
    r#"{"command":{"ticket":2,"what":"hunter2"}}"#,
    r#"{"hello":"hunter2"}"#,
    r#"{"id":"1","message":5,"text":"hunter2","images":"hunter2"}"#,
    r#"{"type":"ui_response","id":5,"value":"hunter2"}"#,
    r#"{"type":"prompt","text":{"hunter2":1}}"#,
    r#"{"jsonrpc":"2.0","method":"session/cancel","params":"hunter2"}"#,
    r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":["hunter2"]}}"#,
    r#"{"jsonrpc":"2.0","method":"ui.context.update","params":"hunter2"}"#,
    r#"{"jsonrpc":"2.0","method":"context/update","params":"hunter2"}"#,
    r#"{"jsonrpc":"2.0","id":"a","result":"hunter2"}"#,
    r#"{"jsonrpc":"2.0","id":"a","error":"hunter2"}"#,
    r#"{"jsonrpc":"2.0","error":{"code":1,"message":"hunter2"}}"#,
    r#"{"jsonrpc":"2.0","id":"a","result":"hunter2","error":{"code":1,"message":"x"}}"#,
];

#[test]
fn no_wire_puts_what_it_cannot_read_into_a_log() {
    let told = |link: &Link| {
        let drifts = link.drifts.iter().map(Drift::logged);
        drifts.chain(link.logs.iter().cloned()).collect::<Vec<_>>().join("\n")
    };
    for dialect in dialects::DRIVEN {
        for line in UNREADABLE {
            let mut runtime =
                RuntimeBench::of(dialect.runtime_role(), session("sess-0001"), &Greeting::default());
            runtime.say(line);
            let mut ui = UiBench::of(dialect.ui_role(), &Hello::default());
            ui.hear(line);
            for log in [told(&runtime.link), told(&ui.link)] {
                assert!(!log.contains("hunter2"), "{}: {line}: {log}", dialect.name());
            }
        }
    }
}
