//! The conformance kit on the built program: ours keeps every scenario of every wire in both roles, and a program with one planted
//! defect fails exactly where it should.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

mod defects;
mod inside;
mod own;

use kit::check::{CheckReport, Finding, ScenarioOutcome, Suite, Tested, Wishes};
use kit::peer::{Peer, PeerAddress, PeerCommand, PeerError};
use std::ffi::OsString;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

/// The program under test.
const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");
/// Scenarios at a time: each is a process or two, and mostly waits.
const AT_ONCE: usize = 12;

fn wishes(patience: Duration) -> Wishes {
    Wishes {
        patience,
        lull: Duration::from_millis(600),
        slow: "count to 60 slowly".to_owned(),
        ..Wishes::default()
    }
}

/// A world of its own: what runs here is not found from elsewhere.
const WORLD: &str = concat!("PARLOR_DATA_DIR=", env!("CARGO_TARGET_TMPDIR"), "/conformance");

fn words(line: &str) -> Vec<OsString> {
    let word = |word: &str| match word {
        "PARLOR" => ["env", WORLD, PARLOR].map(OsString::from).to_vec(),
        word => vec![word.into()],
    };
    line.split(' ').flat_map(word).collect()
}

/// Runs a suite on the program.
async fn check(suite: &Suite, command: &str, wishes: &Wishes) -> CheckReport {
    let reach = |cwd: PathBuf| {
        let address = PeerAddress::Command(PeerCommand {
            command: words(command),
            cwd: Some(cwd),
            ..PeerCommand::default()
        });
        let (carrier, tested) = (suite.carrier, suite.tested);
        let reaching = async move {
            match tested {
                Tested::Runtime => Peer::runtime(&address, carrier).await,
                Tested::Ui => Peer::ui(&address, carrier, &words("PARLOR __relay")).await,
            }
        };
        Box::pin(reaching) as Pin<Box<dyn Future<Output = Result<Peer, PeerError>> + Send>>
    };
    suite.run(&reach, wishes, AT_ONCE, &mut |_| {}).await
}

/// The names of what was not kept, sorted.
fn red(report: &CheckReport) -> Vec<&'static str> {
    let red =
        |finding: &&Finding| matches!(finding.found, ScenarioOutcome::Failed(_) | ScenarioOutcome::Open(_));
    let failed = report.findings.iter().filter(red);
    let mut names: Vec<&str> = failed.map(|finding| finding.scenario.name).collect();
    names.sort_unstable();
    names
}
