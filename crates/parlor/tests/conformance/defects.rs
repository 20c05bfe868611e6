//! Programs with a planted defect: our runtime and our UI on every wire, with one thing broken between them and the kit. The scenario
//! that is there for it must find it; without a defect all are kept; and there is no scenario that no defect turns red.

use super::{inside, red};
use dialects::Dialect;
use kit::check::{CheckReport, Defect, Found, MARK, Suite, Tested, Wishes};
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

async fn check(dialect: Dialect, tested: Tested, scenarios: &[&str], defect: Option<&Defect>) -> CheckReport {
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
            Ok(match defect {
                Some(defect) => defect.plant(peer),
                None => peer,
            })
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
    let whole = on_a_stopped_clock(check(dialect, tested, &[], None));
    let kept = |report: &CheckReport| -> Vec<String> {
        let lost = report.findings.iter().filter(|finding| finding.found != Found::Passed);
        lost.map(|finding| {
            format!("{}: {:?}\n{}", finding.scenario.name, finding.found, finding.said.join("\n"))
        })
        .collect()
    };
    assert_eq!(kept(&whole), Vec::<String>::new(), "{dialect} {}: without a defect", tested.word());
    let (mut found, mut missed) = (BTreeSet::new(), Vec::new());
    for defect in Defect::all(dialect.name(), tested) {
        let report = on_a_stopped_clock(check(dialect, tested, defect.found_by, Some(&defect)));
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

macro_rules! found {
    ($($name:ident: $dialect:ident, $tested:ident;)*) => {
        $(#[test]
        fn $name() {
            all_found(dialects::$dialect::DIALECT, Tested::$tested);
        })*
    };
}

found! {
    native_runtime: native, Runtime;
    codelia_runtime: codelia, Runtime;
    nous_runtime: nous, Runtime;
    lemon_runtime: lemon, Runtime;
    openagent_runtime: openagent, Runtime;
    asst_runtime: asst, Runtime;
    native_ui: native, Ui;
    codelia_ui: codelia, Ui;
    nous_ui: nous, Ui;
    lemon_ui: lemon, Ui;
    openagent_ui: openagent, Ui;
    asst_ui: asst, Ui;
}
