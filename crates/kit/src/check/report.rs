//! What a check found: as a table, as JSON, as JUnit, and as a score.

use super::{Expected, Finding, Quote, ScenarioOutcome, Tested};
use serde_json::{Value, json};
use std::fmt::Write;

/// All findings of a suite.
#[derive(Clone)]
pub struct CheckReport {
    /// The wire.
    pub dialect: &'static str,
    pub tested: Tested,
    /// What became of each scenario.
    pub findings: Vec<Finding>,
}

impl CheckReport {
    /// How many passed, failed, were skipped, and were not kept where the document leaves it open.
    pub fn counts(&self) -> (usize, usize, usize, usize) {
        let count = |is: fn(&ScenarioOutcome) -> bool| {
            self.findings.iter().filter(|finding| is(&finding.found)).count()
        };
        (
            count(|found| matches!(found, ScenarioOutcome::Passed)),
            count(|found| matches!(found, ScenarioOutcome::Failed(_))),
            count(|found| matches!(found, ScenarioOutcome::Skipped(_))),
            count(|found| matches!(found, ScenarioOutcome::Open(_))),
        )
    }

    /// Of what could be judged, how much is kept, in percent; none where nothing could be judged.
    pub fn score(&self) -> Option<u32> {
        let (passed, failed, ..) = self.counts();
        let percent = (passed * 100).checked_div(passed + failed)?;
        u32::try_from(percent).ok()
    }

    /// One line that says it all.
    pub fn summary(&self) -> String {
        let (passed, failed, skipped, open) = self.counts();
        let score =
            self.score().map_or_else(|| "nothing was judged".to_owned(), |score| format!("score {score} %"));
        let open = if open == 0 { String::new() } else { format!(", {open} left open by the document") };
        format!(
            "{} {}: {passed} kept, {failed} not, {skipped} skipped{open} · {score}",
            self.dialect,
            self.tested.word()
        )
    }

    /// One line about one scenario, and more where it was not kept.
    pub fn line(finding: &Finding, expected: &Expected) -> String {
        let scenario = &finding.scenario;
        let millis = finding.took.as_millis();
        let head =
            |mark: &str| format!("{mark:<7} {:<26} {millis:>6} ms  {}", scenario.name, scenario.expects);
        match &finding.found {
            ScenarioOutcome::Passed => head("ok"),
            ScenarioOutcome::Skipped(why) => format!("{}\n          skipped: {why}", head("skip")),
            ScenarioOutcome::Open(came) => {
                format!("{}\n          the document leaves it open; came: {came}", head("open"))
            }
            ScenarioOutcome::Failed(came) => {
                let mark = if expected.why(scenario.name).is_some() { "known" } else { "FAILED" };
                let mut text = head(mark);
                if let Some(Quote { section, text: quote }) = scenario.says {
                    let _ = write!(text, "\n          {section}: “{quote}”");
                }
                let _ = write!(text, "\n          came: {came}");
                if let Some(why) = expected.why(scenario.name).filter(|why| !why.is_empty()) {
                    let _ = write!(text, "\n          known: {why}");
                }
                for line in &finding.said {
                    // What was said may have line breaks of its own.
                    for part in line.lines() {
                        let _ = write!(text, "\n          | {part}");
                    }
                }
                text
            }
        }
    }

    /// As JSON, for programs.
    pub fn to_json(&self) -> Value {
        let (passed, failed, skipped, open) = self.counts();
        let findings: Vec<Value> = self
            .findings
            .iter()
            .map(|finding| {
                let (found, came) = match &finding.found {
                    ScenarioOutcome::Passed => ("passed", None),
                    ScenarioOutcome::Failed(came) => ("failed", Some(came)),
                    ScenarioOutcome::Skipped(why) => ("skipped", Some(why)),
                    ScenarioOutcome::Open(came) => ("open", Some(came)),
                };
                let millis = u64::try_from(finding.took.as_millis()).unwrap_or(u64::MAX);
                json!({
                    "name": finding.scenario.name,
                    "section": finding.scenario.says.map(|quote| quote.section),
                    "says": finding.scenario.says.map(|quote| quote.text),
                    "expected": finding.scenario.expects,
                    "found": found,
                    "because": finding.because,
                    "came": came,
                    "said": if found == "failed" { finding.said.clone() } else { Vec::new() },
                    "millis": millis,
                })
            })
            .collect();
        json!({
            "dialect": self.dialect,
            "role": self.tested.word(),
            "passed": passed,
            "failed": failed,
            "skipped": skipped,
            "open": open,
            "score": self.score(),
            "scenarios": findings,
        })
    }

    /// As JUnit, for build servers.
    pub fn to_junit(&self) -> String {
        let (_, failed, skipped, open) = self.counts();
        let skipped = skipped + open;
        let name = format!("{}.{}", self.dialect, self.tested.word());
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let _ = writeln!(
            text,
            "<testsuite name=\"{name}\" tests=\"{}\" failures=\"{failed}\" skipped=\"{skipped}\">",
            self.findings.len()
        );
        for finding in &self.findings {
            let scenario = &finding.scenario;
            let _ = write!(
                text,
                "  <testcase classname=\"{name}\" name=\"{}\" time=\"{:.3}\"",
                escaped(scenario.name),
                finding.took.as_secs_f64()
            );
            let _ = match &finding.found {
                ScenarioOutcome::Passed => writeln!(text, "/>"),
                ScenarioOutcome::Skipped(why) | ScenarioOutcome::Open(why) => {
                    writeln!(text, "><skipped message=\"{}\"/></testcase>", escaped(why))
                }
                ScenarioOutcome::Failed(came) => {
                    let quote = scenario.says.map_or("", |quote| quote.text);
                    let said = finding.said.join("\n");
                    let body = format!("expected: {} (“{quote}”)\n{said}", scenario.expects);
                    writeln!(
                        text,
                        "><failure message=\"{}\">{}</failure></testcase>",
                        escaped(came),
                        escaped(&body)
                    )
                }
            };
        }
        text.push_str("</testsuite>\n");
        text
    }
}

/// Text for XML; characters that it cannot hold become question marks.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' => safe.push(letter),
            control if control.is_control() => safe.push('?'),
            other => safe.push(other),
        }
    }
    safe
}
