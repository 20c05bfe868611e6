//! Both roles wired to each other in memory, with a toy session behind the runtime's.

mod bad_input;
mod conversation;
mod dialogues;
mod fleet;
mod page;
mod passing;
mod revisions;
mod rights;

use super::{NativeRuntime, NativeUi};
use domain::ids::{Millis, SessionId};
use roles::{Greeting, Hello};
use testkit::bench::{Pair, RuntimeBench, UiBench};

fn greeting() -> Greeting {
    Greeting { version: "1.2.3".to_owned(), ..Greeting::default() }
}

fn hello(session: Option<&SessionId>) -> Hello {
    let session = session.map(|session| session.as_str().into());
    Hello { version: "1.2.3".to_owned(), session, ..Hello::default() }
}

/// Our runtime, to which nobody has said hello.
fn runtime() -> RuntimeBench {
    let mut bench = RuntimeBench::open(NativeRuntime::new(), SessionId::from_number(7), &greeting());
    bench.now = Millis(1);
    bench
}

/// Both, after the handshake; the UI asks for a session if it is told one.
fn opened(session: Option<&SessionId>) -> Pair {
    let mut pair = Pair::new(runtime(), UiBench::open(NativeUi::new(), &hello(session)));
    pair.exchange();
    pair
}

fn greeted() -> Pair {
    let mut pair = opened(None);
    pair.forget();
    pair
}
