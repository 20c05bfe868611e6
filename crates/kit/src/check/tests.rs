//! Of the kit itself: names, reports, expected failures. That it finds faults is shown where there is a program to break.

use super::*;

#[test]
fn every_wire_has_scenarios_for_both_roles_with_names_of_their_own() {
    for dialect in dialects::ALL {
        for tested in [Tested::Runtime, Tested::Ui] {
            let suite =
                Suite::of(dialect.name(), tested).unwrap_or_else(|| panic!("{dialect} {}", tested.word()));
            let mut names: Vec<&str> = suite.scenarios.iter().map(|scenario| scenario.name).collect();
            assert!(names.len() >= 10, "{dialect}: {names:?}");
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count, "{dialect}: a name stands twice");
            assert!(suite.scenarios.iter().all(|scenario| !scenario.expects.is_empty()));
        }
    }
}

#[test]
fn every_file_of_scenarios_can_be_read_and_quotes_for_scenarios_that_there_are() {
    for dialect in dialects::ALL {
        let told = wires::runtime(dialect.name()).unwrap().told.as_ref();
        let told = told.unwrap_or_else(|why| panic!("{dialect}/scenarios.txt: {why}"));
        assert!(!told.own.is_empty(), "{dialect}");
        for tested in [Tested::Runtime, Tested::Ui] {
            let suite = Suite::of(dialect.name(), tested).unwrap();
            let mut quoted: Vec<&str> = told.quoted(tested).collect();
            for name in &quoted {
                assert!(suite.scenarios.iter().any(|there| there.name == *name), "{dialect}: no {name}");
            }
            quoted.sort_unstable();
            let count = quoted.len();
            quoted.dedup();
            assert_eq!(quoted.len(), count, "{dialect}: a scenario has two quotes");
        }
    }
}

#[test]
fn a_file_of_scenarios_that_cannot_be_read_says_where_and_why() {
    let scenario = |steps: &str| -> String { format!("scenario a\ntitle t\ngreet\n{steps}") };
    for (text, line, why) in [
        (scenario("sing"), 4, "unknown word \"sing\""),
        (scenario("prompt loud"), 4, "plain, tool, slow or consent"),
        (scenario("< {\"a\":1"), 4, "character"),
        (scenario("< {...}"), 4, "what is waited for is missing"),
        (scenario("must song"), 4, "\"song\" is neither a pattern nor a word"),
        (scenario("must /a is song"), 4, "no kind of value"),
        (scenario("must {...} perhaps"), 4, "follow a condition"),
        (scenario("judge song"), 4, "there is no judgement \"song\""),
        (scenario("tries 2 any\nprompt plain"), 5, "this `tries` has no `end`"),
        (scenario("anyorder else b\nprobe\nend"), 6, "only `<` lines"),
        ("scenario a\ngreet\n".to_owned(), 2, "a `title` and steps"),
        ("scenario a\nsays b\n".to_owned(), 2, "below its `seed`"),
        ("runtime a\n# c\n\ntitle b".to_owned(), 4, "`seed` and `says` are missing"),
        ("part song".to_owned(), 1, "\"song\" is no part"),
        ("part end\n< {}\n> {} 7".to_owned(), 3, "after the line"),
        ("greet".to_owned(), 1, "what begins here is no word"),
    ] {
        let Err(error) = scenes::ScenarioFile::parse(text.clone().leak(), &[]) else { panic!("{text}") };
        assert!(error.line == line && error.what.contains(why), "{text}\n{error}");
    }
}

/// A text with every run of white space as one blank: documents break their lines where they like.
fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_a_scenario_quotes_stands_in_the_document_word_for_word() {
    for dialect in dialects::ALL {
        let ours = format!("{}/../../docs/native-protocol.md", env!("CARGO_MANIFEST_DIR"));
        let theirs = format!("{}/documents/{dialect}.txt", env!("CARGO_MANIFEST_DIR"));
        let path = if dialect.is_lossless() { ours } else { theirs };
        let document = flowing(&std::fs::read_to_string(&path).expect(&path));
        for tested in [Tested::Runtime, Tested::Ui] {
            let suite = Suite::of(dialect.name(), tested).unwrap();
            let mut quoted = 0;
            for scenario in &suite.scenarios {
                let Some(quote) = scenario.says else { continue };
                quoted += 1;
                let (name, text) = (scenario.name, quote.text);
                assert!(document.contains(&flowing(text)), "{dialect} {name}: not in its document: {text}");
                assert!(!quote.section.is_empty(), "{dialect} {name}: where does it stand?");
            }
            assert!(quoted * 2 >= suite.scenarios.len(), "{dialect} {}: only {quoted} quotes", tested.word());
        }
    }
}

/// The part of a document that a citation names: below a heading of these words (`Done Response`), below that with this number
/// (`section 4.1`), with that heading itself, below the one with this number within another (`Protocol Rules 3`), or the definition of a schema.
fn passages(document: &str, section: &str) -> Vec<String> {
    if let Ok(schema) = serde_json::from_str::<serde_json::Value>(document) {
        return schema["$defs"].get(section).map(texts).into_iter().collect();
    }
    let lines: Vec<&str> = document.lines().collect();
    fn heading(line: &str) -> Option<(usize, &str)> {
        let words = line.trim_start_matches('#');
        (words.len() < line.len() && words.starts_with(' ')).then(|| (line.len() - words.len(), words.trim()))
    }
    let below = |fits: &dyn Fn(&str) -> bool, lines: &[&str]| -> Vec<Vec<String>> {
        let at = |at: usize| -> Option<Vec<String>> {
            let (depth, _) = heading(lines[at]).filter(|(_, words)| fits(words))?;
            let end = lines[at + 1..]
                .iter()
                .position(|line| heading(line).is_some_and(|(other, _)| other <= depth));
            let end = end.map_or(lines.len(), |end| at + 1 + end);
            Some(lines[at..end].iter().map(|line| (*line).to_owned()).collect())
        };
        (0..lines.len()).filter_map(at).collect()
    };
    let mut found = below(&|words| words.starts_with(section), &lines);
    if let (true, Some((within, number))) = (found.is_empty(), section.rsplit_once(' ')) {
        let numbered =
            |words: &str| words.strip_prefix(number).is_some_and(|rest| rest.starts_with(['.', ')', ' ']));
        let outer = if within == "section" {
            vec![document.lines().map(str::to_owned).collect()]
        } else {
            below(&|words| words.starts_with(within), &lines)
        };
        for outer in outer {
            found.extend(below(&numbered, &outer.iter().map(String::as_str).collect::<Vec<_>>()));
        }
    }
    found.into_iter().map(|lines| lines.join("\n")).collect()
}

/// Every text in a value.
fn texts(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Object(members) => members.values().map(texts).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// What a failure cites is where it says, and what is said of a scenario when one asks for it names that.
#[test]
fn every_rule_that_is_cited_can_be_looked_up() {
    let mut lost = Vec::new();
    for dialect in dialects::ALL {
        let path = document(dialect.name());
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let text = std::fs::read_to_string(format!("{root}/{path}")).expect(&path);
        let page = std::fs::read_to_string(format!("{root}/docs/dialects/{dialect}.md")).expect("its page");
        assert!(page.contains("\n## What `parlor check` asks\n"), "{dialect}");
        for tested in [Tested::Runtime, Tested::Ui] {
            let suite = Suite::of(dialect.name(), tested).unwrap();
            assert_eq!(suite.explain("no-such-scenario"), None);
            for scenario in &suite.scenarios {
                let told = suite.explain(scenario.name).expect("it is explained");
                assert!(told.contains(scenario.expects) && told.contains(&path), "{told}");
                assert!(page.contains(&format!("| `{}` |", scenario.name)), "{dialect}: {}", scenario.name);
                let Some(quote) = scenario.says else { continue };
                assert!(told.contains(quote.section) && told.contains(quote.text), "{told}");
                let stands = passages(&text, quote.section)
                    .iter()
                    .any(|passage| flowing(passage).contains(&flowing(quote.text)));
                if !stands {
                    lost.push(format!(
                        "{dialect} {}: {} does not have: {}",
                        scenario.name, quote.section, quote.text
                    ));
                }
            }
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

fn report(found: &[(usize, ScenarioOutcome)], suite: &Suite) -> CheckReport {
    let finding = |(index, found): &(usize, ScenarioOutcome)| Finding {
        scenario: suite.scenarios[*index],
        found: found.clone(),
        said: vec!["> {\"a\":\"<&>\"}".to_owned()],
        took: Duration::from_millis(12),
        cause: None,
        because: None,
    };
    CheckReport {
        dialect: suite.dialect,
        tested: suite.tested,
        findings: found.iter().map(finding).collect(),
    }
}

#[test]
fn the_score_counts_what_could_be_judged() {
    let suite = Suite::of("codelia", Tested::Runtime).unwrap();
    let all = [
        (0, ScenarioOutcome::Passed),
        (1, ScenarioOutcome::Failed("x < y".into())),
        (2, ScenarioOutcome::Skipped("no occasion".into())),
        (3, ScenarioOutcome::Open("nothing".into())),
    ];
    let report = report(&all, &suite);
    assert_eq!((report.counts(), report.score()), ((1, 1, 1, 1), Some(50)));
    assert_eq!(report.to_json()["scenarios"][1]["came"], "x < y");
    let junit = report.to_junit();
    assert!(junit.contains("failures=\"1\" skipped=\"2\"") && junit.contains("x &lt; y"), "{junit}");
}

#[test]
fn expected_failures_are_strict_in_both_directions() {
    let suite = Suite::of("codelia", Tested::Runtime).unwrap();
    let name = |index: usize| suite.scenarios[index].name;
    let expected =
        Expected::parse(&format!("# known\n{} # a reason\n{}\nno-such-scenario\n", name(0), name(1)));
    assert_eq!(expected.why(name(0)), Some("a reason"));
    let found = report(
        &[
            (0, ScenarioOutcome::Passed),
            (1, ScenarioOutcome::Failed(String::new())),
            (2, ScenarioOutcome::Failed(String::new())),
        ],
        &suite,
    );
    assert_eq!(
        expected.against(&suite, &found),
        [
            NotExpected::Passed(name(0).to_owned()),
            NotExpected::Failed(name(2).to_owned()),
            NotExpected::Unknown("no-such-scenario".to_owned())
        ]
    );
}
