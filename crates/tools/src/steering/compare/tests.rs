//! What a command does to files that steer, and what is left of it.

use super::*;
use std::os::unix::fs::PermissionsExt;

struct Bench {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

impl Bench {
    fn new() -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("work");
        std::fs::create_dir(&root).unwrap();
        let bench = Bench { _dir: dir, root };
        bench.put("AGENTS.md", "be kind\n");
        bench.put(".git/hooks/pre-commit", "old\n");
        bench.put(".git/index", "index");
        bench.put(".github/workflows/ci.yml", "run: test\n");
        bench.put("src/main.rs", "fn main() {}\n");
        bench
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn get(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(name)).ok()
    }

    /// Changes, makes and removes files that steer, and others.
    fn meddle(&self) {
        self.put("AGENTS.md", "be evil\n");
        self.put(".git/hooks/pre-commit", "evil\n");
        self.put(".git/index", "new index");
        self.put("deep/.envrc", "evil\n");
        self.put(".vscode/tasks.json", "evil\n");
        self.put("src/main.rs", "fn main() { work() }\n");
        std::fs::remove_file(self.root.join(".github/workflows/ci.yml")).unwrap();
    }

    fn is_as_before(&self) {
        assert_eq!(self.get("AGENTS.md").as_deref(), Some("be kind\n"));
        assert_eq!(self.get(".git/hooks/pre-commit").as_deref(), Some("old\n"));
        assert_eq!(self.get(".github/workflows/ci.yml").as_deref(), Some("run: test\n"));
        assert_eq!((self.get("deep/.envrc"), self.get(".vscode/tasks.json")), (None, None));
        assert_eq!(self.get(".git/index").as_deref(), Some("new index"));
        assert_eq!(self.get("src/main.rs").as_deref(), Some("fn main() { work() }\n"));
    }
}

#[test]
fn what_a_command_changed_of_what_steers_is_put_back_before_anybody_is_asked() {
    let bench = Bench::new();
    let before = Seen::look(&bench.root);
    assert!(before.put_back(|_| false).is_none());
    bench.meddle();
    let back = before.put_back(|_| false).unwrap();
    bench.is_as_before();
    let question = back.question("The command");
    for words in [
        "changed AGENTS.md",
        "made .vscode\n",
        "made deep/.envrc",
        "removed .github/workflows/ci.yml",
        "-be kind\n+be evil",
    ] {
        assert!(question.contains(words), "{words}: {question}");
    }
    assert!(!question.contains("main.rs") && !question.contains("index"), "{question}");
}

#[test]
fn a_person_may_have_it_or_not() {
    let bench = Bench::new();
    let before = Seen::look(&bench.root);
    bench.meddle();
    before.put_back(|_| false).unwrap().keep();
    assert_eq!(bench.get("AGENTS.md").as_deref(), Some("be evil\n"));
    assert_eq!(bench.get(".vscode/tasks.json").as_deref(), Some("evil\n"));
    assert_eq!(bench.get(".github/workflows/ci.yml"), None);
    assert!(before.put_back(|_| false).is_some(), "it is still not as it was");

    let bench = Bench::new();
    let before = Seen::look(&bench.root);
    bench.meddle();
    before.put_back(|_| false).unwrap().discard();
    bench.is_as_before();
    let names = std::fs::read_dir(&bench.root).unwrap().flatten().map(|entry| entry.file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().contains(ASIDE)));
}

#[test]
fn where_nobody_says_it_waits_beside_under_a_name_that_steers_nothing() {
    let bench = Bench::new();
    let before = Seen::look(&bench.root);
    bench.meddle();
    bench.put("AGENTS.md.held", "somebody's own");
    let told = before.put_back(|_| false).unwrap().leave();
    assert!(told.contains("AGENTS.md.held-2") && told.contains(".vscode.held"), "{told}");
    bench.is_as_before();
    assert_eq!(bench.get("AGENTS.md.held-2").as_deref(), Some("be evil\n"));
    assert_eq!(bench.get(".vscode.held/tasks.json").as_deref(), Some("evil\n"));
    assert_eq!(bench.get("AGENTS.md.held").as_deref(), Some("somebody's own"));
    let steering = Seen::look(&bench.root).places;
    assert!(
        steering.iter().all(|place| !place.to_string_lossy().contains(ASIDE)),
        "what waits steers: {steering:?}"
    );
}

#[test]
fn nothing_is_written_through_a_link_that_a_command_left() {
    let bench = Bench::new();
    let outside = bench.root.parent().unwrap().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let before = Seen::look(&bench.root);
    std::fs::rename(bench.root.join(".github"), bench.root.join("moved")).unwrap();
    std::os::unix::fs::symlink(&outside, bench.root.join(".github")).unwrap();
    before.put_back(|_| false).unwrap().leave();
    assert_eq!(bench.get(".github/workflows/ci.yml").as_deref(), Some("run: test\n"));
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    // The same with a folder above, which is no file that steers: nothing is put back, and nothing leaves the workspace.
    bench.put("deep/.npmrc", "old");
    let before = Seen::look(&bench.root);
    std::fs::rename(bench.root.join("deep"), bench.root.join("gone")).unwrap();
    std::os::unix::fs::symlink(&outside, bench.root.join("deep")).unwrap();
    let told = before.put_back(|_| false).unwrap().leave();
    assert!(told.contains("cannot be put back"), "{told}");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn what_was_agreed_to_stays_and_what_is_too_large_is_said() {
    let bench = Bench::new();
    bench.put(".npmrc", &"x".repeat(usize::try_from(MAX_IMAGE).unwrap() + 1));
    let before = Seen::look(&bench.root);
    bench.put("AGENTS.md", "agreed");
    assert!(before.put_back(|path| path == Path::new("AGENTS.md")).is_none());
    bench.put(".npmrc", "small");
    let back = before.put_back(|path| path == Path::new("AGENTS.md")).unwrap();
    assert!(back.question("The command").contains("too large"), "{}", back.question("The command"));
    assert_eq!(bench.get(".npmrc").as_deref(), Some("small"));
    assert_eq!(bench.get("AGENTS.md").as_deref(), Some("agreed"));
}

#[test]
fn nothing_hides_behind_very_many_other_files() {
    let bench = Bench::new();
    bench.put(".git/config", "old\n");
    for number in 0..=MAX_FILES {
        bench.put(&format!(".circleci/{number}"), "");
    }
    let before = Seen::look(&bench.root);
    assert!(before.cut);
    bench.put(".git/config", "evil\n");
    bench.put("AGENTS.md", "be evil\n");
    before.put_back(|_| false).unwrap().leave();
    assert_eq!(bench.get(".git/config").as_deref(), Some("old\n"));
    assert_eq!(bench.get("AGENTS.md").as_deref(), Some("be kind\n"));
}

#[test]
fn who_makes_very_many_files_is_found_out_and_said() {
    let bench = Bench::new();
    let deep = ["a/b/c/.envrc", ".git/config"];
    deep.iter().for_each(|name| bench.put(name, "old\n"));
    let before = Seen::look(&bench.root);
    for number in 0..=super::super::MAX_WALKED {
        std::fs::write(bench.root.join(format!("#{number}")), "").unwrap();
    }
    let told = before.put_back(|_| false).unwrap().leave();
    assert_eq!(told, FLOODED);
    deep.iter().for_each(|name| bench.put(name, "evil\n"));
    before.put_back(|_| false).unwrap().leave();
    assert_eq!(deep.map(|name| bench.get(name).unwrap()), ["old\n", "old\n"]);
}

#[test]
fn a_workspace_that_was_moved_away_is_compared_where_it_is_and_nothing_else_is_touched() {
    let bench = Bench::new();
    let before = Seen::look(&bench.root);
    let (moved, person) = (bench.root.with_file_name("moved"), bench.root.with_file_name("person"));
    std::fs::rename(&bench.root, &moved).unwrap();
    std::fs::create_dir(&person).unwrap();
    std::fs::write(person.join(".bashrc"), "mine").unwrap();
    std::os::unix::fs::symlink(&person, &bench.root).unwrap();
    std::fs::write(moved.join("AGENTS.md"), "be evil\n").unwrap();
    before.put_back(|_| false).unwrap().leave();
    assert_eq!(std::fs::read_to_string(moved.join("AGENTS.md")).unwrap(), "be kind\n");
    assert_eq!(std::fs::read_dir(&person).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(person.join(".bashrc")).unwrap(), "mine");
}

#[test]
fn putting_back_cannot_be_hindered_by_names_or_modes() {
    let bench = Bench::new();
    let before = Seen::look(&bench.root);
    for number in 1..=MAX_NAMED {
        let end = if number == 1 { String::new() } else { format!("-{number}") };
        bench.put(&format!(".envrc{ASIDE}{end}"), "");
    }
    bench.put(".envrc", "evil\n");
    bench.put("shut/.envrc", "evil\n");
    std::fs::set_permissions(bench.root.join("shut"), PermissionsExt::from_mode(0o555)).unwrap();
    let told = before.put_back(|_| false).unwrap().leave();
    assert_eq!((bench.get(".envrc"), bench.get("shut/.envrc")), (None, None), "{told}");
    assert!(!told.contains("NOT"), "{told}");
}

#[test]
fn a_pipe_in_the_place_of_a_file_keeps_nobody() {
    let bench = Bench::new();
    let pipe = bench.root.join(".envrc");
    rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let before = Seen::look(&bench.root);
    assert_eq!(before.images[Path::new(".envrc")], Image::Odd);
}
