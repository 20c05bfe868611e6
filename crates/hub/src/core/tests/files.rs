//! Files that a UI holds: each wish is answered once, by the UI that was asked, or because it left.

use super::*;
use domain::ui_files::{FileAnswer, FileRequest, FileRequestId, UiFiles};

const BOTH: UiFiles = UiFiles { reads: true, writes: true };

fn wants(bench: &mut Bench, id: u64) {
    let (session, id) = (bench.session(), FileRequestId(id));
    let request = FileRequest::Read { path: "/w/a".into() };
    bench.step(CoreInput::Report(Report::FileWanted { session, id, request }));
}

fn asked(bench: &Bench) -> Vec<(UiId, u64)> {
    let asked = bench.outs.iter().filter_map(|out| match out {
        CoreEffect::File { ui, id, .. } => Some((*ui, id.0)),
        _ => None,
    });
    asked.collect()
}

fn done(bench: &Bench) -> Vec<(u64, FileAnswer)> {
    let done = bench.outs.iter().filter_map(|out| match out {
        CoreEffect::Order(Order::FileDone { id, with, .. }) => Some((id.0, with.clone())),
        _ => None,
    });
    done.collect()
}

#[test]
fn a_wish_goes_to_who_holds_files_and_only_that_one_answers_it() {
    let mut bench = Bench::new();
    assert!(!bench.prompt("before").ui_files.any());
    let session = bench.session();
    bench.arrive(OTHER, Answers::ALL, Standing::Controller);
    let (target, command) = (Target::Session(session), Command::Session(SessionCommand::Stats));
    bench.step(CoreInput::Command { ui: OTHER, ticket: Ticket(900), target, command });
    bench.step(CoreInput::Files { ui: OTHER, files: BOTH });
    wants(&mut bench, 9);
    assert_eq!(asked(&bench), [], "it began no run, and may never answer");
    bench.outs.clear();
    bench.step(CoreInput::Files { ui: TERMINAL, files: BOTH });
    wants(&mut bench, 1);
    assert_eq!(asked(&bench), [(TERMINAL, 1)]);
    let answer = |ui, text: &str| CoreInput::FileDone { ui, id: FileRequestId(1), with: Ok(text.into()) };
    bench.step(answer(OTHER, "not asked"));
    assert_eq!(done(&bench), []);
    bench.step(answer(TERMINAL, "held"));
    bench.step(answer(TERMINAL, "twice"));
    assert_eq!(done(&bench), [(1, Ok("held".into()))]);
}

#[test]
fn whoever_leaves_answers_with_that_and_nobody_is_waited_for_in_vain() {
    let mut bench = Bench::new();
    bench.prompt("begin");
    wants(&mut bench, 1);
    assert!(matches!(&done(&bench)[..], [(1, Err(why))] if why.contains("left")), "nobody holds files");
    bench.step(CoreInput::Files { ui: TERMINAL, files: UiFiles { reads: false, writes: true } });
    wants(&mut bench, 2);
    assert_eq!((asked(&bench).len(), done(&bench).len()), (0, 2), "it does not read");
    bench.step(CoreInput::Files { ui: TERMINAL, files: BOTH });
    wants(&mut bench, 3);
    assert_eq!((asked(&bench).len(), done(&bench).len()), (1, 2));
    bench.step(CoreInput::Left { ui: TERMINAL });
    assert!(matches!(&done(&bench)[2..], [(3, Err(why))] if why.contains("left")), "{:?}", done(&bench));
}
