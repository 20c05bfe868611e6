//! Which hooks there are, which may run, and what their answers mean.

use super::form::parse;
use super::run::heard;
use super::*;
use serde_json::json;

fn config(base: &Path) -> Config {
    Config::default().at(Some(base.join("home")), Some(base.join("settings")))
}

fn hook(event: &str, matcher: &str, command: &str) -> String {
    json!({"hooks": {event: [{"matcher": matcher, "hooks": [{"type": "command", "command": command}]}]}})
        .to_string()
}

#[test]
fn what_the_form_has_and_what_of_it_counts_for_nothing_is_told() {
    let (hooks, told) = parse(
        &json!({"hooks": {
            "PreToolUse": [
                {"matcher": "Bash", "hooks": [{"type": "command", "command": "a", "timeout": 5}, {"type": "prompt", "prompt": "x"}]},
                {"matcher": "Ed[i]t", "hooks": [{"type": "command", "command": "b"}]},
            ],
            "SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "c"}]}],
            "Notification": [{"hooks": [{"type": "command", "command": "d"}]}],
            "Stop": [{"hooks": [{"type": "command"}]}],
        }})
        .to_string(),
    );
    let seen: Vec<(HookEvent, &str, u64)> =
        hooks.iter().map(|hook| (hook.event, hook.command.as_str(), hook.timeout.as_secs())).collect();
    assert_eq!(seen, [(HookEvent::PreToolUse, "a", 5), (HookEvent::SessionStart, "c", 60)]);
    for words in ["the type \"prompt\"", "not understood", "Notification is no event", "Stop: `command` must"]
    {
        assert!(told.iter().any(|one| one.contains(words)), "{words}: {told:?}");
    }
    assert_eq!(told.len(), 4);
    let off = json!({"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}});
    assert_eq!(parse(&off.to_string()), (vec![], vec![]));
    assert_eq!(parse("{\"permissions\": {}}"), (vec![], vec![]), "settings without any are no mistake");
    assert!(parse("{").1[0].contains("not JSON"));
}

#[test]
fn the_persons_own_run_and_a_projects_wait_for_a_yes_to_exactly_them() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (data, project) = (base.join("data"), base.join("work"));
    let put = |name: &str, text: &str| {
        let file = base.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    put("settings/hooks.json", &hook("Stop", "", "own"));
    put("home/.claude/settings.json", &hook("Stop", "", "claude's"));
    put(
        "work/.claude/settings.json",
        &hook("PreToolUse", "Bash", "\"$CLAUDE_PROJECT_DIR\"/.claude/check.sh"),
    );
    put("work/.claude/check.sh", "exit 0");
    let see = || hooks(&config(&base), &data, Some(&project)).0;
    let approved = || see().iter().map(|one| one.approved).collect::<Vec<_>>();
    assert_eq!(approved(), [true, true, false]);
    let theirs = see().remove(2);
    assert!(theirs.compared.as_ref().unwrap().contains(".claude/check.sh"), "{:?}", theirs.compared);
    approve_hook(&data, &theirs).unwrap();
    assert_eq!(approved(), [true, true, true]);
    put("work/.claude/check.sh", "curl evil");
    assert_eq!(approved(), [true, true, false], "its program is another one");
    put("work/.claude/check.sh", "exit 0");
    assert_eq!(approved(), [true, true, true]);
    for command in
        ["sh \"$CLAUDE_PROJECT_DIR/.claude/check.sh\"", "sh ${CLAUDE_PROJECT_DIR}/.claude/check.sh"]
    {
        put("work/.claude/settings.json", &hook("PreToolUse", "Bash", command));
        let compared = see().remove(2).compared.unwrap();
        assert!(compared.contains(".claude/check.sh"), "{command}: {compared}");
    }
    put(
        "work/.claude/settings.json",
        &hook("PreToolUse", "Edit", "\"$CLAUDE_PROJECT_DIR\"/.claude/check.sh"),
    );
    assert_eq!(approved(), [true, true, false], "it is for another tool");
    put(
        "work/.claude/settings.json",
        &hook("PreToolUse", "Bash", "\"$CLAUDE_PROJECT_DIR\"/.claude/check.sh"),
    );
    assert!(forget_hook(&data, &theirs).unwrap());
    assert_eq!(approved(), [true, true, false]);
    assert_eq!(
        hooks(&config(&base), &data, None).0.len(),
        2,
        "where there is no workspace there is no project"
    );
}

#[test]
fn a_project_leads_to_no_file_outside_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let project = base.join("work");
    std::fs::create_dir_all(project.join(".parlor")).unwrap();
    std::fs::write(base.join("elsewhere.json"), hook("Stop", "", "x")).unwrap();
    std::os::unix::fs::symlink("../../elsewhere.json", project.join(".parlor/hooks.json")).unwrap();
    let (found, told) = hooks(&config(&base), &base.join("data"), Some(&project));
    assert_eq!(found, []);
    assert!(told[0].1.contains("out of the project"), "{told:?}");
}

#[test]
fn an_answer_denies_and_adds_and_nothing_else() {
    use HookEvent::{PostToolUse, PreToolUse, Stop, UserPromptSubmit};
    let denied = |verdict: HookVerdict| verdict.denies;
    assert_eq!(denied(heard(PreToolUse, Some(2), "", "not on Fridays")).as_deref(), Some("not on Fridays"));
    assert_eq!(heard(PreToolUse, Some(0), "", ""), HookVerdict::default());
    assert!(heard(PreToolUse, Some(1), "", "oops").failed.unwrap().contains("code 1: oops"));
    assert!(heard(PreToolUse, None, "", "").failed.unwrap().contains("signal"));
    let say = |event, value: serde_json::Value| heard(event, Some(0), &value.to_string(), "");
    let special = |decision: &str| {
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision,
               "permissionDecisionReason": "because", "updatedInput": {"command": "rm"}}})
    };
    assert_eq!(denied(say(PreToolUse, special("deny"))).as_deref(), Some("because"));
    for decision in ["allow", "ask"] {
        let verdict = say(PreToolUse, special(decision));
        assert_eq!(
            (verdict.denies, verdict.ignored.len()),
            (None, 2),
            "{decision} and the changed input count for nothing"
        );
    }
    assert_eq!(
        denied(say(Stop, json!({"decision": "block", "reason": "run the tests"}))).as_deref(),
        Some("run the tests")
    );
    assert_eq!(
        denied(say(UserPromptSubmit, json!({"continue": false, "stopReason": "no"}))).as_deref(),
        Some("no")
    );
    let added = say(
        PostToolUse,
        json!({"systemMessage": "hi", "hookSpecificOutput": {"additionalContext": "lint it"}}),
    );
    assert_eq!((added.adds.as_deref(), added.tells.as_deref()), (Some("lint it"), Some("hi")));
    // Plain text is for the model with prompts, and for nobody with tools.
    assert_eq!(heard(UserPromptSubmit, Some(0), "it is Friday\n", "").adds.as_deref(), Some("it is Friday"));
    assert_eq!(heard(PreToolUse, Some(0), "looks fine\n", ""), HookVerdict::default());
}

#[test]
fn an_answer_that_begins_as_json_and_is_none_is_told() {
    for answer in [
        "{\"decision\": \"block\", \"reason\": \"no\"}\nand more",
        "{\"decision\": \"block\",",
        "{decision: block}",
    ] {
        for event in HookEvent::ALL {
            let verdict = heard(event, Some(0), answer, "");
            assert!(verdict.failed.unwrap().contains("begins as JSON"), "{answer}");
            assert_eq!((verdict.denies, verdict.adds), (None, None), "{answer}");
        }
    }
}
