//! `parlor --plain --resume` without an id: the conversations as numbered lines, of which one is taken by its number, by words of its
//! title or by its id. No cursor is moved; what comes behind the answer stays in stdin, for whoever reads on.

use super::kept_store;
use crate::exit::{self, Exit};
use crate::output;
use crate::paint::{self, home};
use domain::ids::SessionId;
use domain::session::SessionSummary;
use host::clock::now;
use host::kept::{find, told};
use host::launch::Launch;
use host::{paths, settings};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use store::{Listing, Store};

/// Conversations that are offered at most.
const PICKS: usize = 20;
/// Bytes of an answer that are looked at.
const MAX_ANSWER: usize = 4096;

/// What came of it.
pub(crate) enum Picked {
    One(SessionId),
    /// A new conversation.
    New,
    /// Nobody said anything.
    Left(Exit),
}

/// Lets the person pick one of the newest: those of this project, or of all when it has none.
///
/// # Errors
/// When the store cannot be read, and for an answer from a pipe that means none of them: nobody is there to say it again.
pub(crate) fn pick(launch: &Launch) -> anyhow::Result<Picked> {
    let Some(store) = kept_store::to_read(launch)? else { return Ok(nothing_kept()) };
    let project = paths::project(&paths::work_dir(launch, &mut settings::read().config)?);
    let of = |project: Option<String>| {
        store.list(&Listing { project, search: None, limit: Some(PICKS + 1) }).map_err(|why| told(&why))
    };
    let mut sessions = of(Some(project))?;
    let everywhere = sessions.is_empty();
    if everywhere {
        sessions = of(None)?;
    }
    if sessions.is_empty() {
        return Ok(nothing_kept());
    }
    let more = sessions.len() > PICKS;
    sessions.truncate(PICKS);
    let open = store.holders()?;
    offer(&sessions, &open, everywhere, more);
    let asked = io::stdin().is_terminal();
    loop {
        let Some(answer) = next_line()? else {
            if asked {
                return Ok(Picked::Left(Exit::Done));
            }
            output::print_error(
                "error: nothing was picked\n\nhint: name one: --resume ID; `parlor sessions list` shows the ids",
            );
            return Ok(Picked::Left(Exit::NeedsInput));
        };
        let wrong = match meant(&sessions, &*store, &answer) {
            Meant::One(id) => return Ok(Picked::One(id)),
            Meant::New => return Ok(Picked::New),
            Meant::Several(numbers) => {
                let all: Vec<String> = numbers.iter().map(usize::to_string).collect();
                format!("That fits several of them: {}. Write one of these numbers.", all.join(", "))
            }
            Meant::Nothing => {
                format!("That is none of them: a number from 1 to {}, or words of a title.", sessions.len())
            }
        };
        if !asked {
            let most = sessions.len();
            return Err(exit::usage(format!(
                "the first line matches none of them: write a number from 1 to {most}, or words of one title only\n\nhint: or name one: --resume ID"
            )));
        }
        output::print_line(&wrong);
    }
}

fn nothing_kept() -> Picked {
    output::print_line("No conversation is kept yet: this is a new one.");
    Picked::New
}

/// Tells what there is.
fn offer(sessions: &[SessionSummary], open: &BTreeMap<SessionId, Value>, everywhere: bool, more: bool) {
    output::print_line(match everywhere {
        true => "Conversations of all projects, the newest first:",
        false => "Conversations of this project, the newest first:",
    });
    for (session, number) in sessions.iter().zip(1..) {
        output::print_line(&offered(session, number, open.get(&session.id), everywhere));
    }
    if more {
        output::print_line("Older ones are in `parlor sessions list`; an id from there is taken too.");
    }
    output::print_line(
        "Write a number or words of a title, and Enter. An empty line begins a new conversation.",
    );
}

/// `holder`: the process that has it open, which is joined.
fn offered(session: &SessionSummary, number: usize, holder: Option<&Value>, everywhere: bool) -> String {
    let title = paint::line(&session.title);
    let title = if title.is_empty() { session.id.to_string() } else { title };
    let place = if everywhere { format!(", in {}", home(&session.cwd)) } else { String::new() };
    let open = match holder {
        None => String::new(),
        Some(Value::String(place)) => format!(", open at {place}"),
        Some(pid) => format!(", open in process {pid}"),
    };
    format!("{number}: {title}, {}{open}{place}", paint::ago(session.updated_at, now()))
}

/// What an answer means.
#[derive(Debug, PartialEq, Eq)]
enum Meant {
    One(SessionId),
    New,
    /// The words stand in several titles: their numbers.
    Several(Vec<usize>),
    Nothing,
}

fn meant(sessions: &[SessionSummary], store: &dyn Store, answer: &str) -> Meant {
    let answer = answer.trim();
    if answer.is_empty() {
        return Meant::New;
    }
    let number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    if let Some(one) = number.and_then(|at| sessions.get(at)) {
        return Meant::One(one.id.clone());
    }
    let words = answer.to_lowercase();
    let fits = |(_, session): &(usize, &SessionSummary)| session.title.to_lowercase().contains(&words);
    let fitting: Vec<(usize, &SessionSummary)> = (1..).zip(sessions).filter(fits).collect();
    match fitting.as_slice() {
        [(_, one)] => Meant::One(one.id.clone()),
        [] => find(store, answer).map_or(Meant::Nothing, Meant::One),
        several => Meant::Several(several.iter().map(|(number, _)| *number).collect()),
    }
}

/// A line of stdin, byte by byte, so that the next one stays there; `None` when there is none.
fn next_line() -> io::Result<Option<String>> {
    let stdin = io::stdin();
    let (mut line, mut byte) = (Vec::new(), [0]);
    loop {
        match rustix::io::read(stdin.as_fd(), &mut byte) {
            Err(rustix::io::Errno::INTR) => continue,
            // A terminal that is gone.
            Err(rustix::io::Errno::IO) | Ok(0) if line.is_empty() => return Ok(None),
            Err(rustix::io::Errno::IO) | Ok(0) => break,
            Err(why) => return Err(why.into()),
            Ok(_) if byte == *b"\n" => break,
            Ok(_) if line.len() < MAX_ANSWER => line.extend(byte),
            Ok(_) => {}
        }
    }
    Ok(Some(String::from_utf8_lossy(&line).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::ids::Millis;
    use store::MemoryStore;

    fn sessions() -> Vec<SessionSummary> {
        let titled = |number: u64, title: &str| SessionSummary {
            title: title.to_owned(),
            ..SessionSummary::new(SessionId::from_number(number))
        };
        vec![titled(3, "mend the bridge"), titled(2, "Mend the ROAD"), titled(1, "the 2nd bridge")]
    }

    #[test]
    fn a_number_words_or_nothing_mean_something_and_the_rest_is_asked_again() {
        let (sessions, store) = (sessions(), MemoryStore::new());
        let one = |number| Meant::One(SessionId::from_number(number));
        for (answer, meaning) in [
            ("1", one(3)),
            (" 3 \r", one(1)),
            ("road", one(2)),
            ("2nd", one(1)),
            ("", Meant::New),
            ("  ", Meant::New),
            ("mend", Meant::Several(vec![1, 2])),
            ("BRIDGE", Meant::Several(vec![1, 3])),
            ("0", Meant::Nothing),
            ("4", Meant::Nothing),
            ("-1", Meant::Nothing),
            ("99999999999999999999999", Meant::Nothing),
            ("\u{1b}[A", Meant::Nothing),
            ("\u{fffd}", Meant::Nothing),
        ] {
            assert_eq!(meant(&sessions, &store, answer), meaning, "{answer:?}");
        }
    }

    #[test]
    fn a_line_is_one_line_whatever_its_title_is() {
        let session = SessionSummary {
            title: "two\nlines\u{1b}[2J".to_owned(),
            updated_at: Millis(now().0),
            cwd: "/src/bridge".to_owned(),
            ..SessionSummary::new(SessionId::from_number(7))
        };
        let line = offered(&session, 1, None, true);
        assert!(!line.contains(['\n', '\u{1b}']) && line.ends_with(", just now, in /src/bridge"), "{line:?}");
        let unnamed = SessionSummary { title: String::new(), ..session };
        assert!(
            offered(&unnamed, 2, Some(&Value::from(77)), false)
                .ends_with("sess-000000000007, just now, open in process 77")
        );
    }
}
