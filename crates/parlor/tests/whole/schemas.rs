//! Every line that our roles say, held against the schema of its wire: all transcripts are played, and each line that was said must be
//! of a kind, and must not be one any more when it is broken.

use crate::transcripts::{self, play};
use dialects::Dialect;
use kit::notation::{self, Kind, Step, Transcript};
use kit::pattern::{Bindings, Missing};
use kit::{player, ui_player};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use testkit::contract::{Contract, Side};

/// What both sides say in the transcripts of a wire.
#[derive(Default)]
struct Said {
    /// By our roles, as played.
    ours: BTreeSet<(bool, String)>,
    /// By the other side, as written.
    theirs: BTreeSet<(bool, String)>,
}

fn side(of_ui: bool) -> Side {
    if of_ui { Side::Ui } else { Side::Runtime }
}

/// The same, as transcripts name it.
fn writer(of_ui: bool) -> notation::Side {
    if of_ui { notation::Side::Ui } else { notation::Side::Runtime }
}

fn said(dialect: Dialect) -> Said {
    let mut said = Said::default();
    for (role, of_ui) in [("ui", true), ("runtime", false)] {
        for path in transcripts::of(dialect, role) {
            let text = std::fs::read_to_string(&path).expect("a readable transcript");
            let workplace = crate::bench::workplace();
            let text = transcripts::placed(&text, workplace.path());
            let transcript = Transcript::parse(&text).expect("a transcript");
            let lines = if of_ui {
                ui_player::play(dialect.ui_role().as_mut(), &transcript).said
            } else {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .start_paused(player::moves_clock(&transcript))
                    .build()
                    .expect("a runtime");
                runtime.block_on(play(dialect, &transcript, workplace.path())).said
            };
            said.ours.extend(lines.into_iter().map(|line| (of_ui, line)));
            said.theirs
                .extend(written(&transcript.steps, writer(!of_ui)).into_iter().map(|line| (!of_ui, line)));
        }
    }
    said
}

fn written(steps: &[Step], by: notation::Side) -> Vec<String> {
    let mut bindings = Bindings::default();
    let mut lines = Vec::new();
    for step in steps {
        match &step.kind {
            Kind::Say(say) | Kind::Optional(say) if say.side == by => {
                lines.extend(say.pattern.fill(&mut bindings, Missing::Invent));
            }
            Kind::AnyOrder(steps) => lines.extend(written(steps, by)),
            _ => {}
        }
    }
    lines
}

/// Lines that no transcript has, one for each kind that would otherwise be met nowhere.
fn samples(dialect: Dialect) -> Vec<(Side, Value)> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../wires")
        .join(dialect.name())
        .join("src/samples.txt");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = |line: &str| {
        let (side, json) = line.split_once(' ').expect("a side and a line");
        let side = if side == ">" { Side::Ui } else { Side::Runtime };
        (side, serde_json::from_str(json).expect("a line of JSON"))
    };
    text.lines().filter(|line| !line.starts_with('#')).map(line).collect()
}

/// The schema that a wire's authors published, where their document is one, with the definition of each method's parameters.
fn published(dialect: Dialect) -> Option<(Contract, BTreeMap<String, String>)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../kit/documents");
    let text = std::fs::read_to_string(folder.join(format!("{dialect}.txt"))).unwrap_or_default();
    let root: Value = serde_json::from_str(&text).ok()?;
    let definitions = root["$defs"].as_object().into_iter().flatten();
    let params = definitions.filter(|(name, _)| name.ends_with("Request") || name.ends_with("Notification"));
    let methods = params.filter_map(|(name, one)| Some((one["x-method"].as_str()?.to_owned(), name.clone())));
    Some((Contract::read(&text).expect("a schema"), methods.collect()))
}

/// Their schema allows any parameters in a line, for methods to come; so it is asked for each method by itself.
#[test]
fn every_line_we_say_is_of_the_schema_that_its_authors_published() {
    let mut judged = BTreeSet::new();
    for dialect in dialects::ALL {
        let Some((mut schema, methods)) = published(*dialect) else { continue };
        for (_, line) in &said(*dialect).ours {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let Some(definition) = line["method"].as_str().and_then(|method| methods.get(method)) else {
                continue;
            };
            assert!(schema.is_one(definition, &line["params"]), "{dialect}: no {definition}: {line}");
            judged.insert(definition.clone());
            let members = line["params"].as_object().into_iter().flat_map(|params| params.keys());
            let whole = members.filter(|name| *name != "_meta").any(|name| {
                let mut broken = line["params"].clone();
                broken[name] = Value::from(vec![vec![0]]);
                !schema.is_one(definition, &broken)
            });
            assert!(
                whole || line["params"] == serde_json::json!({}),
                "{definition} allows everything: {line}"
            );
        }
    }
    assert!(judged.len() >= 12, "only {judged:?}");
}

#[test]
fn every_line_we_say_is_of_its_schema_and_none_is_when_broken() {
    // A lossless wire has no transcripts; every value of the vocabulary is its sample, and the kit makes them.
    for dialect in dialects::ALL.iter().filter(|dialect| !dialect.is_lossless()) {
        let mut contract = Contract::read(&dialects::schema(*dialect)).expect("a schema");
        let said = said(*dialect);
        let mut faults = Vec::new();
        let mut broken = 0;
        for (of_ui, line) in &said.ours {
            let line: Value = match serde_json::from_str(line) {
                Ok(line) => line,
                Err(why) => {
                    faults.push(format!("no JSON: {why}: {line:?}"));
                    continue;
                }
            };
            // Said to a program that is silent, whatever it speaks: no line of any one wire.
            if line["id"] == "knock" {
                continue;
            }
            match contract.judge(side(*of_ui), &line) {
                Ok(ways) => broken += ways,
                Err(why) => faults.push(why),
            }
        }
        for (side, line) in samples(*dialect) {
            if let Err(why) = contract.judge(side, &line) {
                faults.push(format!("a sample: {why}"));
            }
        }
        assert!(faults.is_empty(), "{dialect}: {} faults\n{}", faults.len(), faults.join("\n\n"));
        // What the other side says may be odd on purpose; where it is not, it shows kinds that we hear and never say.
        for (of_ui, line) in &said.theirs {
            if let Ok(line) = serde_json::from_str(line) {
                contract.kinds_of(side(*of_ui), &line);
            }
        }
        let all = &contract.all(Side::Ui) | &contract.all(Side::Runtime);
        let unmet: Vec<_> = all.difference(contract.seen()).collect();
        assert!(unmet.is_empty(), "{dialect}: met in no transcript and in no sample: {unmet:#?}");
        // A required member can be broken in some seven ways, and each kind of line has several of them.
        assert!(broken > all.len() * 3, "{dialect}: only {broken} breakages of {} kinds", all.len());
    }
}
