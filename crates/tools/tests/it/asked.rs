//! How many of the latest questions a rule would have answered.

use crate::room::Room;
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};
use tools::Plan;
use tools::policy::{AnsweredBy, Rule, Rules};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

struct Questions {
    room: Room,
    rules: Rules,
}

impl Questions {
    fn new() -> Questions {
        let room = Room::new();
        let rules = Rules::load(&room.dir.path().join("data"), &room.path("")).unwrap();
        Questions { room, rules }
    }

    fn plan(&self, line: &str) -> Plan {
        self.room.plan("bash", &json!({"command": line})).unwrap()
    }

    fn counts(&self, line: &str, rules: &[Rule], now: SystemTime) -> Option<AnsweredBy> {
        self.rules.asked().answered_by(&self.plan(line).rule.unwrap(), rules, now)
    }

    /// The only file beside the rules.
    fn file(&self) -> std::path::PathBuf {
        let mut files = std::fs::read_dir(self.room.dir.path().join("data/rules")).unwrap();
        files.next().unwrap().unwrap().path()
    }
}

#[test]
fn a_rule_tells_how_many_questions_it_would_have_answered() {
    let questions = Questions::new();
    let now = SystemTime::now();
    assert_eq!(questions.counts("cargo test", &[], now), None, "nothing is known");
    questions.rules.asked().add(&questions.plan("cargo doc"), now - DAY * 8);
    assert_eq!(questions.counts("cargo test", &[], now), None, "that was long ago");
    for line in
        ["cargo build", "cargo check && cargo fmt", "cargo check && make test", "make test", "rm -rf x"]
    {
        questions.rules.asked().add(&questions.plan(line), now - DAY);
    }
    let write = questions.room.plan("write", &json!({"path": "a.txt", "content": "x"})).unwrap();
    questions.rules.asked().add(&write, now);
    let counted = |answered| Some(AnsweredBy { answered, asked: 6 });
    assert_eq!(questions.counts("cargo test", &[], now), counted(2));
    assert_eq!(questions.counts("make test", &[], now), counted(1));
    assert_eq!(questions.counts("echo x > b.txt", &[], now), counted(1));
    // With the one that holds it answers what needs both; what that one answers alone is not its own.
    let cargo = questions.plan("cargo test").rule.unwrap().rules;
    assert_eq!(questions.counts("make test", &cargo, now), counted(2));
    assert_eq!(questions.counts("cargo test", &cargo, now), counted(0));
    let words = questions.counts("cargo test", &[], now).unwrap().to_string();
    assert_eq!(words, "would have answered 2 of the 6 questions of the last 7 days");
    let one = AnsweredBy { answered: 1, asked: 1 }.to_string();
    assert_eq!(one, "would have answered the only question of the last 7 days");
}

#[test]
fn what_is_kept_is_small_private_and_never_in_the_way() {
    let questions = Questions::new();
    let (now, long) = (SystemTime::now(), "x".repeat(50_000));
    let plan = questions.plan(&format!("cargo test {long}"));
    questions.rules.asked().add(&plan, now);
    let file = questions.file();
    let meta = || std::fs::metadata(&file).unwrap();
    assert!(meta().len() < 4096, "of a long one it is only kept that it was asked");
    assert_eq!(meta().permissions().mode() & 0o777, 0o600);
    let plan = questions.plan("cargo build");
    for _ in 0..5000 {
        questions.rules.asked().add(&plan, now);
    }
    assert!(meta().len() <= 256 * 1024, "{}", meta().len());
    let many = questions.counts("cargo test", &[], now).unwrap();
    assert!(many.answered > 1000 && many.answered <= many.asked, "{many:?}");
    // It is no file of rules.
    assert!(tools::policy::projects(&questions.room.dir.path().join("data")).unwrap().is_empty());
    std::fs::write(&file, b"\xff\n{}\n{\"at\": 1}\n").unwrap();
    assert_eq!(questions.counts("cargo test", &[], now), None);
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    questions.rules.asked().add(&plan, now);
    assert_eq!(questions.counts("cargo test", &[], now), None);
}
