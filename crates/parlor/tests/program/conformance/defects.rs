//! Programs with a planted defect: our runtime and our UI on every wire, with one thing broken between them and the kit. The scenario
//! that is there for it must find it; without a defect all are kept; and there is no scenario that no defect turns red.

use super::{inside, red};
use dialects::Dialect;
use kit::check::{CheckReport, Defect, Expected, MARK, ScenarioOutcome, Suite, Tested, Wishes};
use kit::peer::{Peer, PeerError};
use std::collections::BTreeSet;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

/// Scenarios at a time.
const AT_ONCE: usize = 4;

fn wishes() -> Wishes {
    Wishes {
        consent: format!("write {MARK}: once"),
        // Longer than the patience: what does not stop is not over by itself.
        slow: "count to 10000 slowly".to_owned(),
        patience: Duration::from_secs(20),
        ..Wishes::default()
    }
}

async fn check(dialect: Dialect, tested: Tested, scenarios: &[&str], defects: &[&Defect]) -> CheckReport {
    let mut suite = Suite::of(dialect.name(), tested).unwrap();
    if !scenarios.is_empty() {
        suite.only_named(scenarios);
        assert_eq!(suite.scenarios.len(), scenarios.len(), "{dialect}: {scenarios:?}");
    }
    let reach = |cwd: PathBuf| {
        let reaching = async move {
            let peer = match tested {
                Tested::Runtime => inside::runtime(dialect, &cwd).await,
                Tested::Ui => inside::ui(dialect).await,
            };
            Ok(defects.iter().fold(peer, |peer, defect| defect.plant(peer)))
        };
        Box::pin(reaching) as Pin<Box<dyn Future<Output = Result<Peer, PeerError>> + Send + '_>>
    };
    suite.run(&reach, &wishes(), AT_ONCE, &mut |_| {}).await
}

fn on_a_stopped_clock<T>(doing: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = runtime.unwrap();
    let done = runtime.block_on(doing);
    runtime.shutdown_background();
    done
}

fn all_found(dialect: Dialect, tested: Tested) {
    let whole = on_a_stopped_clock(check(dialect, tested, &[], &[]));
    let kept = |report: &CheckReport| -> Vec<String> {
        let lost = report.findings.iter().filter(|finding| finding.found != ScenarioOutcome::Passed);
        lost.map(|finding| {
            format!("{}: {:?}\n{}", finding.scenario.name, finding.found, finding.said.join("\n"))
        })
        .collect()
    };
    assert_eq!(kept(&whole), Vec::<String>::new(), "{dialect} {}: without a defect", tested.word());
    let (mut found, mut missed) = (BTreeSet::new(), Vec::new());
    for defect in Defect::all(dialect.name(), tested) {
        let report = on_a_stopped_clock(check(dialect, tested, defect.found_by, &[&defect]));
        let red = red(&report);
        for name in defect.found_by {
            if !red.contains(name) {
                missed.push(format!("{name} does not see a program that {}", defect.name));
            }
        }
        found.extend(red);
    }
    let suite = Suite::of(dialect.name(), tested).unwrap();
    let idle: Vec<&str> =
        suite.scenarios.iter().map(|scenario| scenario.name).filter(|name| !found.contains(name)).collect();
    assert!(missed.is_empty(), "{dialect} {}:\n{}", tested.word(), missed.join("\n"));
    assert!(idle.is_empty(), "{dialect} {}: no defect turns these red: {idle:?}", tested.word());
}

/// The wires are shared out among a few tests, so that they share the cores: a new wire needs no test of its own.
const TESTS: usize = 4;

fn found_in_the(test: usize, tested: Tested) {
    for dialect in dialects::ALL.iter().skip(test).step_by(TESTS) {
        all_found(*dialect, tested);
    }
}

macro_rules! found {
    ($($name:ident: $test:literal, $tested:ident;)*) => {
        $(#[test]
        fn $name() {
            found_in_the($test, Tested::$tested);
        })*
    };
}

found! {
    in_runtimes_of_the_first_wires: 0, Runtime;
    in_runtimes_of_the_second_wires: 1, Runtime;
    in_runtimes_of_the_third_wires: 2, Runtime;
    in_runtimes_of_the_fourth_wires: 3, Runtime;
    in_uis_of_the_first_wires: 0, Ui;
    in_uis_of_the_second_wires: 1, Ui;
    in_uis_of_the_third_wires: 2, Ui;
    in_uis_of_the_fourth_wires: 3, Ui;
}

/// A runtime that does everything its document leaves to it.
#[test]
fn whoever_takes_every_liberty_of_the_document_scores_100() {
    let mut accused = Vec::new();
    for dialect in dialects::ALL {
        let permitted = Defect::permitted(dialect.name());
        assert!(dialect.is_lossless() || !permitted.is_empty(), "{dialect}: no liberty is known");
        let taken: Vec<&Defect> = permitted.iter().collect();
        let report = on_a_stopped_clock(check(*dialect, Tested::Runtime, &[], &taken));
        let failed =
            report.findings.iter().filter(|finding| matches!(finding.found, ScenarioOutcome::Failed(_)));
        let failed = failed.map(|finding| CheckReport::line(finding, &Expected::default()));
        accused.extend((report.score() != Some(100)).then(|| report.summary()).into_iter().chain(failed));
    }
    assert!(accused.is_empty(), "{}", accused.join("\n"));
}

/// What announces something and does not show it is not merely passed over, and what needs the same is not counted besides.
#[test]
fn an_announced_ability_that_is_not_shown_is_a_failure() {
    let native = *dialects::ALL.iter().find(|dialect| dialect.is_lossless()).expect("the native wire");
    let all = Defect::all(native.name(), Tested::Runtime);
    for (name, expected) in [
        ("announces consent and never asks", vec!["consent-yes"]),
        ("announces a cancel that never comes", vec!["cancel"]),
        ("never ends a run", vec!["run-ends"]),
    ] {
        let defect = all.iter().find(|defect| defect.name == name).expect(name);
        let report = on_a_stopped_clock(check(native, Tested::Runtime, &[], &[defect]));
        assert_eq!(red(&report), expected, "a runtime that {name}");
        let passed = |scenario: &str| {
            let finding = report.findings.iter().find(|finding| finding.scenario.name == scenario);
            finding.unwrap().found == ScenarioOutcome::Passed
        };
        if name == "never ends a run" {
            for scenario in ["lawful", "lawful-tool", "balanced", "seq-rises", "attached-first"] {
                assert!(!passed(scenario), "{scenario} of a run that never ends");
            }
        }
    }
}

/// The word that ends a run also answers requests there: whoever has it wrong has one thing wrong.
#[test]
fn a_wrong_word_counts_once_wherever_it_stands() {
    let dialect = dialects::FIRST_OF_AGENTS;
    let all = Defect::all(dialect.name(), Tested::Runtime);
    let defect = all.iter().find(|defect| defect.name == "says finished where done is meant").unwrap();
    let report = on_a_stopped_clock(check(dialect, Tested::Runtime, &[], &[defect]));
    assert_eq!(red(&report), ["answers"]);
    let because = report.findings.iter().filter(|finding| finding.because == Some("answers"));
    let because: Vec<&str> = because.map(|finding| finding.scenario.name).collect();
    assert!(
        ["run-ends", "done-once", "clear-history", "torn-line"].iter().all(|name| because.contains(name)),
        "{because:?}"
    );
}

/// The kit's own fault must not hide behind "once": a program that answers nothing fails, once.
#[test]
fn a_fault_counts_once() {
    for dialect in dialects::ALL {
        let all = Defect::all(dialect.name(), Tested::Runtime);
        let silent = all.iter().find(|defect| defect.name == "never answers").expect("the defect");
        let report = on_a_stopped_clock(check(*dialect, Tested::Runtime, &[], &[silent]));
        let red = red(&report);
        assert!(red.contains(&"answers"), "{dialect}: {red:?}");
        let needs_answers =
            ["garbage", "not-utf8", "oversized-line", "cancel-nothing", "torn-line", "two-in-one-write"];
        assert!(
            needs_answers.iter().all(|name| !red.contains(name)),
            "{dialect}: one fault, and red are {red:?}"
        );
        let endless = all.iter().find(|defect| defect.name == "never ends a run").expect("the defect");
        let report = on_a_stopped_clock(check(*dialect, Tested::Runtime, &[], &[endless]));
        let red = crate::conformance::red(&report);
        // Where the same words answer requests, those are not answered either.
        assert!(red == ["run-ends"] || red.contains(&"answers"), "{dialect}: one fault, and red are {red:?}");
        if let Some(mute) = all.iter().find(|defect| defect.name == "does not greet") {
            let report = on_a_stopped_clock(check(*dialect, Tested::Runtime, &[], &[mute]));
            let red = crate::conformance::red(&report);
            assert!(red.contains(&"greets") && !red.contains(&"ready-first"), "{dialect}: red are {red:?}");
        }
    }
}
