//! Our own program keeps all of it.

use super::{check, wishes};
use kit::check::{CheckReport, Expected, ScenarioOutcome, Suite, Tested};
use std::time::Duration;

async fn all_kept(dialect: &str, tested: Tested, command: &str) {
    let suite = Suite::of(dialect, tested).unwrap();
    let report = check(&suite, command, &wishes(Duration::from_secs(60))).await;
    let kept = |found: &ScenarioOutcome| matches!(found, ScenarioOutcome::Passed);
    let lines: Vec<String> = report
        .findings
        .iter()
        .filter(|finding| !kept(&finding.found))
        .map(|finding| CheckReport::line(finding, &Expected::default()))
        .collect();
    assert!(lines.is_empty(), "{}\n{}", report.summary(), lines.join("\n"));
}

macro_rules! kept {
    ($($name:ident: $dialect:literal, $tested:ident, $command:literal;)*) => {
        $(#[tokio::test]
        async fn $name() {
            all_kept($dialect, Tested::$tested, $command).await;
        })*
    };
}

kept! {
    native_runtime: "native", Runtime, "PARLOR serve --dialect native --stdio --ephemeral";
    codelia_runtime: "codelia", Runtime, "PARLOR serve --dialect codelia --stdio --ephemeral";
    nous_runtime: "nous", Runtime, "PARLOR serve --dialect nous --socket {socket} --ephemeral";
    lemon_runtime: "lemon", Runtime, "PARLOR serve --dialect lemon --stdio --ephemeral";
    openagent_runtime: "openagent", Runtime, "PARLOR serve --dialect openagent --socket {socket} --ephemeral";
    asst_runtime: "asst", Runtime, "PARLOR serve --dialect asst --stdio --ephemeral";
    acp_runtime: "acp", Runtime, "PARLOR acp --ephemeral";
    native_ui: "native", Ui, "PARLOR attach --dialect native --prompt hello -- {runtime}";
    codelia_ui: "codelia", Ui, "PARLOR attach --dialect codelia --prompt hello -- {runtime}";
    nous_ui: "nous", Ui, "PARLOR attach --dialect nous --prompt hello --socket {socket}";
    lemon_ui: "lemon", Ui, "PARLOR attach --dialect lemon --prompt hello -- {runtime}";
    openagent_ui: "openagent", Ui, "PARLOR attach --dialect openagent --prompt hello --socket {socket}";
    asst_ui: "asst", Ui, "PARLOR attach --dialect asst --prompt hello -- {runtime}";
    acp_ui: "acp", Ui, "PARLOR attach --dialect acp --prompt hello -- {runtime}";
}
