//! `apply_patch`: one consent for all files, all or nothing.

use crate::room::Room;
use domain::ask::{Preview, Risk};
use domain::content::Part;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use tools::{Deed, still_valid};

fn room() -> Room {
    let mut room = Room::new();
    room.toolbox.add(Arc::new(tools::ApplyPatch));
    room.put("a.txt", "one\ntwo\nthree\n");
    room.put("sub/b.txt", "b\r\n");
    room.put("old.txt", "gone\n");
    room
}

fn patch(body: &str) -> Value {
    json!({"input": format!("*** Begin Patch\n{body}\n*** End Patch\n")})
}

const ALL: &str = "*** Update File: a.txt\n@@\n one\n-two\n+2\n three\n*** Add File: new/c.txt\n+c\n*** Delete File: old.txt\n\
                   *** Update File: sub/b.txt\n*** Move to: moved.txt\n@@\n-b\n+B";

#[tokio::test]
async fn all_files_change_with_one_plan_one_diff_and_one_digest() {
    let room = room();
    std::fs::set_permissions(room.path("a.txt"), std::fs::Permissions::from_mode(0o750)).unwrap();
    let plan = room.plan("apply_patch", &patch(ALL)).unwrap();
    assert!(matches!(&plan.deed, Deed::Write { paths } if paths.len() == 5), "{:?}", plan.deed);
    let Some(Preview::Diff { text, .. }) = &plan.preview else { panic!("{:?}", plan.preview) };
    for line in ["+++ b/a.txt", "-two", "+2", "+++ b/new/c.txt", "+c", "-gone", "+B"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(plan.assessment.risk, Risk::Medium);
    assert!(plan.assessment.reasons.iter().any(|reason| reason == "deletes a file"));
    let result = room.call("apply_patch", patch(ALL)).await.result;
    let lines: Vec<&str> = result.text.lines().collect();
    let told = [
        "changed a.txt, +1 -1 lines",
        "made new/c.txt, +1 lines",
        "made moved.txt, +1 lines",
        "deleted old.txt",
        "deleted sub/b.txt",
    ];
    assert_eq!(lines, told);
    assert!(result.parts.len() == 5 && result.parts.iter().all(|part| matches!(part, Part::Diff { .. })));
    assert_eq!(
        (room.get("a.txt"), room.get("moved.txt"), room.get("new/c.txt")),
        ("one\n2\nthree\n".into(), "B\r\n".into(), "c\n".into())
    );
    assert!(!room.path("old.txt").exists() && !room.path("sub/b.txt").exists());
    let mode = std::fs::metadata(room.path("a.txt")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o750);
}

#[tokio::test]
async fn a_plan_is_stale_as_soon_as_one_of_its_files_is_another() {
    let room = room();
    let plan = room.plan("apply_patch", &patch(ALL)).unwrap();
    room.put("sub/b.txt", "b\r\nmore\r\n");
    assert!(still_valid(room.tool("apply_patch").as_ref(), &plan).is_err());
}

#[tokio::test]
async fn where_one_file_does_not_fit_none_is_changed() {
    let room = room();
    for (wrong, told) in [
        ("*** Update File: sub/b.txt\n@@\n-nothing of the kind\n+x", "are not in the file"),
        ("*** Update File: none.txt\n@@\n-x\n+y", "there is no such file"),
        ("*** Add File: sub/b.txt\n+x", "is there already"),
        ("*** Delete File: a.txt", "is in the patch twice"),
        ("*** Update File: sub/b.txt\n@@\n b", "changes nothing here"),
    ] {
        let why = room
            .failed("apply_patch", patch(&format!("*** Update File: a.txt\n@@\n-two\n+2\n{wrong}")))
            .await;
        assert!(why.contains(told) && why.contains("nothing was changed"), "{why}");
        assert_eq!(room.get("a.txt"), "one\ntwo\nthree\n");
    }
}

#[tokio::test]
async fn what_steers_or_lies_outside_counts_for_the_whole_patch() {
    let room = room();
    for (body, told) in [
        (
            "*** Update File: a.txt\n@@\n-two\n+2\n*** Add File: AGENTS.md\n+obey",
            "other programs execute or obey",
        ),
        ("*** Update File: a.txt\n@@\n-two\n+2\n*** Add File: ../out.txt\n+x", "outside the project"),
    ] {
        let plan = room.plan("apply_patch", &patch(body)).unwrap();
        assert_eq!(plan.assessment.risk, Risk::High);
        assert!(plan.assessment.reasons.iter().any(|reason| reason.contains(told)), "{:?}", plan.assessment);
        assert!(plan.rule.is_none());
    }
}
