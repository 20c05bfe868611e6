//! What is kept, what is collected, and what makes room.

use super::*;

fn content(digest: &str, size: usize) -> (String, Vec<u8>) {
    // Digests are names here, and contents cannot be packed.
    let mut seed = digest.bytes().fold(7_u32, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    let byte = |_| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        seed.to_be_bytes()[0]
    };
    (digest.to_owned(), (0..size).map(byte).collect())
}

fn print(path: &str, digest: &str) -> StoredPrint {
    let digest = Some(digest.to_owned());
    StoredPrint { path: path.into(), stamp: "s".into(), image: "i".into(), digest }
}

fn prints(kept: &Contents) -> Vec<String> {
    let mut found = Vec::new();
    let mut take = |path: &[u8], stamp: &str, image: &str| {
        found.push(format!("{} {stamp} {image}", String::from_utf8_lossy(path)));
    };
    kept.prints(b"/w", &mut take).unwrap();
    found
}

#[test]
fn contents_and_steps_come_back_also_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let text = "line\n".repeat(1000).into_bytes();
    {
        let kept = Contents::at(&data).unwrap();
        kept.keep(vec![("t".into(), text.clone()), content("a", 10), ("e".into(), Vec::new())]).unwrap();
        kept.keep(vec![content("a", 10)]).unwrap();
        assert!(kept.kept().unwrap() < text.len() as u64, "texts are packed, twice the same is once");
        kept.put_step("s", "one", "1", &["t", "a"]).unwrap();
        kept.put_step("s", "two", "2", &["e"]).unwrap();
        kept.put_step("s", "one", "1b", &["t"]).unwrap();
        kept.set_prints(b"/w", vec![print("x", "a"), print("y", "gone")], Vec::new()).unwrap();
    }
    let kept = Contents::at(&data).unwrap();
    assert_eq!(kept.content("t").unwrap(), Some(text));
    assert_eq!(kept.content("e").unwrap(), Some(Vec::new()));
    assert_eq!(kept.content("none").unwrap(), None);
    assert_eq!(kept.steps("s").unwrap(), ["1b", "2"]);
    assert_eq!(prints(&kept), ["x s i"], "one without its content is none");
    kept.set_prints(b"/w", Vec::new(), vec![b"x".to_vec()]).unwrap();
    assert_eq!(prints(&kept), [""; 0]);
    assert!(kept.put_step("s", "three", "3", &["none"]).is_err());
    assert_eq!(kept.steps("s").unwrap().len(), 2, "a step without its contents is none");
}

#[cfg(unix)]
#[test]
fn only_its_owner_may_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    drop(Contents::at(dir.path()).unwrap());
    assert_eq!(dir.path().join(FILE).metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_session_that_is_forgotten_leaves_nothing_that_nobody_else_uses() {
    let kept = Contents::in_memory().unwrap();
    kept.keep(vec![content("own", 10), content("shared", 10), content("seen", 10)]).unwrap();
    kept.put_step("a", "one", "", &["own", "shared"]).unwrap();
    kept.put_step("b", "one", "", &["shared"]).unwrap();
    kept.set_prints(b"/w", vec![print("x", "seen")], Vec::new()).unwrap();
    kept.forget("a").unwrap();
    let is = |digest: &str| kept.content(digest).unwrap().is_some();
    assert_eq!((is("own"), is("shared"), is("seen")), (false, true, true));
    assert_eq!((kept.steps("a").unwrap().len(), kept.steps("b").unwrap().len()), (0, 1));
    assert_eq!(kept.kept().unwrap(), 20);
}

#[test]
fn past_the_bound_the_oldest_make_room_and_the_others_stay_whole() {
    let kept = Contents::in_memory().unwrap().at_most(1000);
    for number in 0..40 {
        let digest = format!("d{number}");
        kept.keep(vec![content(&digest, 100)]).unwrap();
        kept.put_step("s", &digest, &digest, &[&digest]).unwrap();
        assert!(kept.kept().unwrap() <= 1000);
    }
    let steps = kept.steps("s").unwrap();
    assert!(steps.last().is_some_and(|last| last == "d39") && steps.len() < 40, "{steps:?}");
    for step in steps {
        assert!(kept.content(&step).unwrap().is_some(), "{step}");
    }
    assert!(matches!(kept.keep(vec![content("huge", 1001)]), Err(StoreError::Full { .. })));
}

#[test]
fn a_damaged_file_is_begun_anew() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join(FILE),
        "this is no database at all, but long enough to be looked at".repeat(20),
    )
    .unwrap();
    let kept = Contents::at(dir.path()).unwrap();
    kept.keep(vec![content("a", 10)]).unwrap();
    assert!(kept.content("a").unwrap().is_some());
}
