//! The table of rights that others read too (`rights.jsonl`) has every command of the schema and says what the domain says.

use crate::wire::Wanted;
use domain::rights::Standing;
use serde_json::Value;
use std::collections::BTreeSet;

fn tag(value: &Value) -> String {
    let named = value.as_object().and_then(|members| members.keys().next());
    named.map_or_else(|| value.as_str().unwrap().to_owned(), Clone::clone)
}

#[test]
fn the_table_of_rights_has_every_command_and_is_what_the_domain_says() {
    let mut seen = BTreeSet::new();
    for row in include_str!("../rights.jsonl").lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let least = Standing::named(row["least"].as_str().unwrap()).unwrap();
        let wanted = serde_json::json!({"ticket": 1, "what": row["what"]}).to_string();
        let Wanted { what, .. } = serde_json::from_str(&wanted).unwrap();
        for standing in Standing::ALL {
            let may = least.lowered_to(standing) == least;
            assert_eq!(standing.may(&what).is_ok(), may, "{standing}: {wanted}");
        }
        seen.insert(tag(&row["what"]));
        if let Some(answer) = row["what"].pointer("/answer/answer") {
            seen.insert(format!("answer {}", tag(answer)));
        }
    }
    let schema: Value = serde_json::from_str(include_str!("../schema.json")).unwrap();
    let tags = |noun: &str| {
        let ways = schema["$defs"][noun]["oneOf"].as_array().unwrap().iter();
        let all = ways.flat_map(|way| {
            let names = way["enum"].as_array().cloned().unwrap_or_default().into_iter();
            let names = names.chain(way.get("const").cloned()).map(|name| tag(&name));
            let members = way["properties"].as_object().into_iter().flat_map(|all| all.keys().cloned());
            names.chain(members.collect::<Vec<_>>()).collect::<Vec<_>>()
        });
        all.collect::<BTreeSet<String>>()
    };
    let answers = tags("Answer").into_iter().map(|answer| format!("answer {answer}"));
    assert_eq!(seen, tags("Command").into_iter().chain(answers).collect());
}
