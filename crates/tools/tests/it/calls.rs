//! Calls as models write them, with the tools of all kinds of harnesses in mind: a table of calls and what comes of each. And that no
//! other form of a call passes what its plain form does not pass.

use crate::room::{Room, port};
use domain::ask::Risk;
use domain::session::Policy;
use domain::tool::ToolOutcome;
use serde::Deserialize;
use serde_json::{Value, json};
use tools::policy::{Verdict, decide};
use tools::{CallArgs, Heard, Plan, still_valid};

const TABLE: &str = include_str!("calls.jsonl");
/// The share of calls, in percent, that may miss what they mean.
const MAX_MISSED: usize = 5;

const FILE: &str = "def one():\n\treturn 1\n\n\ndef two(x):\n    y = x + 1  \n    print(“y”, y)\n    return y\n\n\nclass Three:\n    \
                    name = \"three\"\n\n    def go(self):\n        return self.name\n";

#[derive(Deserialize)]
struct Row {
    kind: String,
    of: String,
    tool: String,
    #[serde(default)]
    args: Value,
    raw: Option<String>,
    /// Calls before it.
    #[serde(default)]
    first: Vec<(String, Value)>,
    /// The file is not read before it.
    #[serde(default)]
    unread: bool,
    file: Option<String>,
    before: Option<String>,
    swap: Option<(String, String)>,
    after: Option<String>,
    refused: Option<String>,
    says: Option<String>,
}

/// One call, from what the model wrote to its end.
async fn call(room: &Room, tool: &str, said: CallArgs) -> Result<String, String> {
    let Heard { name, said, unclear } = room.toolbox.hear(tool, said, room.place.workdir());
    if let Some(why) = unclear {
        return Err(why);
    }
    let Some(tool) = room.toolbox.reach(&name) else { return Err(format!("there is no tool {name}")) };
    let CallArgs::Value(args) = said else { return Err("the arguments are not JSON".to_owned()) };
    let plan = tool.plan(&args, &room.place).map_err(|why| why.to_string())?;
    still_valid(tool.as_ref(), &plan).map_err(|why| why.to_string())?;
    let (port, _news) = port();
    let outcome = tool.run(plan, port).await;
    if outcome.outcome == ToolOutcome::Done { Ok(outcome.result.text) } else { Err(outcome.result.text) }
}

/// What a row misses, if it misses something.
async fn missed(row: &Row) -> Option<String> {
    let room = Room::new();
    let name = row.file.as_deref().unwrap_or("f.py");
    let before = row.before.as_deref().unwrap_or(FILE);
    if before.is_empty() {
        room.put("f.py", FILE);
    } else {
        room.put(name, before);
    }
    room.put("sub/other.txt", "other text\n");
    let root = room.place.root().unwrap().display().to_string();
    let here = |value: &Value| serde_json::from_str(&value.to_string().replace("{root}", &root)).unwrap();
    if !row.unread && !before.is_empty() {
        call(&room, "read", CallArgs::Value(json!({ "path": name }))).await.unwrap();
    }
    for (tool, args) in &row.first {
        if let Err(why) = call(&room, tool, CallArgs::Value(here(args))).await {
            return Some(format!("before it: {why}"));
        }
    }
    let said = match &row.raw {
        Some(raw) if raw.is_empty() => CallArgs::Value(json!({})),
        Some(raw) => CallArgs::Text(raw.clone()),
        None => CallArgs::Value(here(&row.args)),
    };
    let told = call(&room, &row.tool, said).await;
    let now = std::fs::read_to_string(room.path(name)).unwrap_or_default();
    let wanted = match (&row.swap, &row.after) {
        (Some((old, new)), _) => before.replacen(old, new, 1),
        (None, Some(after)) => after.clone(),
        (None, None) => before.to_owned(),
    };
    let fits = match (&row.refused, &row.says, &told) {
        (Some(part), _, Err(why)) => why.contains(part.as_str()),
        (None, Some(part), Ok(text)) => text.contains(part.as_str()),
        (None, None, Ok(_)) => true,
        (Some(_), _, Ok(_)) | (None, _, Err(_)) => false,
    };
    (!fits || now != wanted).then(|| format!("{told:?}\n{now}"))
}

#[tokio::test]
async fn calls_as_models_write_them_reach_what_they_mean() {
    let rows: Vec<Row> = TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{line}: {why}")))
        .collect();
    let mut misses = Vec::new();
    for row in &rows {
        if let Some(why) = missed(row).await {
            misses.push(format!("{} ({}): {why}", row.kind, row.of));
        }
    }
    assert!(rows.len() >= 59, "{}", rows.len());
    assert!(
        misses.len() * 100 <= rows.len() * MAX_MISSED,
        "{} of {}:\n{}",
        misses.len(),
        rows.len(),
        misses.join("\n")
    );
    // None does now; the bar above is what is promised.
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

fn plan(room: &Room, tool: &str, said: CallArgs) -> Plan {
    let Heard { name, said, unclear } = room.toolbox.hear(tool, said, room.place.workdir());
    let (CallArgs::Value(args), None) = (said, unclear) else { panic!("{tool}") };
    room.toolbox.reach(&name).unwrap().plan(&args, &room.place).unwrap()
}

#[test]
fn no_form_of_a_call_passes_what_the_plain_form_does_not() {
    let room = Room::new();
    room.put("a.txt", "one\n\ttwo\n");
    room.put("AGENTS.md", "one\n\ttwo\n");
    room.put_home(".ssh/id", "SECRET");
    let patch =
        |path: &str| format!("*** Begin Patch\n*** Update File: {path}\n-\ttwo\n+\t2\n*** End Patch\n");
    for path in ["a.txt", "AGENTS.md"] {
        let text = patch(path);
        let plain = plan(&room, "apply_patch", CallArgs::Value(json!({ "input": text })));
        let edited =
            plan(&room, "edit", CallArgs::Value(json!({"path": path, "old": "\ttwo", "new": "\t2"})));
        let forms = [
            ("bash", CallArgs::Value(json!({"command": format!("apply_patch <<'EOF'\n{text}EOF")})), &plain),
            ("shell", CallArgs::Value(json!({"command": ["apply_patch", text]})), &plain),
            ("apply_patch", CallArgs::Text(text.clone()), &plain),
            (
                "Bash",
                CallArgs::Value(
                    json!({"command": format!("apply_patch <<'EOF'\n{text}EOF"), "unsandboxed": true}),
                ),
                &plain,
            ),
            (
                "Edit",
                CallArgs::Value(json!({"file_path": path, "old_string": "    two", "new_string": "    2"})),
                &edited,
            ),
            (
                "edit",
                CallArgs::Text(
                    json!(
                        json!({"path": path, "edits": [{"old": "  2\t\ttwo", "new": "  2\t\t2"}]})
                            .to_string()
                    )
                    .to_string(),
                ),
                &edited,
            ),
        ];
        for (tool, said, plain) in forms {
            let form = plan(&room, tool, said.clone());
            assert_eq!(
                (&form.tool, &form.deed, &form.preview),
                (&plain.tool, &plain.deed, &plain.preview),
                "{said:?}"
            );
            assert!(form.assessment.risk >= plain.assessment.risk, "{said:?}");
            assert!(
                plain.assessment.reasons.iter().all(|reason| form.assessment.reasons.contains(reason)),
                "{said:?}"
            );
            assert_eq!(form.rule.is_some(), plain.rule.is_some());
            for mode in Policy::ALL {
                let verdict = |plan: &Plan| decide(mode, plan, &[]);
                assert_eq!(verdict(&form), verdict(plain), "{said:?} in {mode:?}");
            }
        }
    }
    let secret = plan(&room, "read_file", CallArgs::Value(json!({"absolute_path": "~/.ssh/id"})));
    assert_eq!((secret.tool.as_str(), secret.assessment.risk), ("read", Risk::High));
    assert!(Policy::ALL.iter().all(|mode| !matches!(decide(*mode, &secret, &[]), Verdict::Allow(_))));
}

#[tokio::test]
async fn the_question_shows_the_lines_as_they_will_be() {
    let room = Room::new();
    room.put("a.py", "def f():\n\treturn 1\n");
    let args = json!({"path": "a.py", "old": "    return 1", "new": "    if x:\n        return 2"});
    let plan = plan(&room, "edit", CallArgs::Value(args.clone()));
    let Some(domain::ask::Preview::Diff { text, .. }) = &plan.preview else { panic!("{:?}", plan.preview) };
    assert!(text.contains("-\treturn 1\n+\tif x:\n+\t\treturn 2\n"), "{text}");
    assert!(
        plan.assessment.reasons.iter().any(|reason| reason.contains("line 2 differs")),
        "{:?}",
        plan.assessment
    );
    let told = call(&room, "edit", CallArgs::Value(args)).await.unwrap();
    assert!(
        told.contains("line 2 differed from `old` in tabs or blanks")
            && told.ends_with("\n\tif x:\n\t\treturn 2"),
        "{told}"
    );
}

#[tokio::test]
async fn what_a_command_of_ours_changed_needs_no_new_read_and_what_others_changed_does() {
    let room = Room::new();
    let edit = |old: &str, new: &str| CallArgs::Value(json!({"path": "a", "old": old, "new": new}));
    let run = |line: &str| CallArgs::Value(json!({ "command": line }));
    room.put("a", "one\ntwo\nthree\n");
    call(&room, "read", CallArgs::Value(json!({"path": "a"}))).await.unwrap();
    call(&room, "bash", run("sed -i s/one/ONE/ a")).await.unwrap();
    let told = call(&room, "edit", edit("two", "2")).await.unwrap();
    assert!(told.contains("a command had changed the file"), "{told}");
    assert_eq!(room.get("a"), "ONE\n2\nthree\n");
    // Whoever writes all of it must have seen all of it.
    let why = call(&room, "write", CallArgs::Value(json!({"path": "a", "content": "x"}))).await.unwrap_err();
    assert!(why.contains("read it again"), "{why}");
    let delete = json!({"input": "*** Begin Patch\n*** Delete File: a\n*** End Patch"});
    assert!(call(&room, "apply_patch", CallArgs::Value(delete)).await.unwrap_err().contains("read it again"));
    // Every occurrence is more than the model knows of.
    let all = json!({"path": "a", "old": "e", "new": "E", "all": true});
    call(&room, "bash", run("printf 'e\\n' >> a")).await.unwrap();
    assert!(call(&room, "edit", CallArgs::Value(all)).await.unwrap_err().contains("read it again"));
    // A person's change, before a command or after it, is not the model's.
    for (mine, commands) in [("mine", &["true"][..]), ("yours", &["sed -i s/three/3/ a", "true"])] {
        call(&room, "read", CallArgs::Value(json!({"path": "a"}))).await.unwrap();
        for line in commands {
            call(&room, "bash", run(line)).await.unwrap();
        }
        room.put("a", &format!("{mine}\n2\nthree\n"));
        let why = call(&room, "edit", edit("2", "two")).await.unwrap_err();
        assert!(why.contains("read it again"), "{why}");
        // Nor does a command after it make it so.
        call(&room, "bash", run("printf 'more\\n' >> a")).await.unwrap();
        let why = call(&room, "edit", edit("2", "two")).await.unwrap_err();
        assert!(why.contains("read it again"), "{why}");
    }
    // What a command in a workplace of the person's own does is the person's.
    call(&room, "read", CallArgs::Value(json!({"path": "a"}))).await.unwrap();
    let theirs = Room { place: room.place.clone().with_own_memory(), ..Room::new() };
    call(&theirs, "bash", run("printf 'theirs\\n' >> a")).await.unwrap();
    assert!(room.get("a").ends_with("theirs\n"));
    assert!(call(&room, "edit", edit("2", "two")).await.unwrap_err().contains("read it again"));
}
