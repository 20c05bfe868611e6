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
    let before = SteeringSnapshot::look(&bench.root);
    assert!(before.put_back(|_| false).is_none());
    bench.meddle();
    let back = before.put_back(|_| false).unwrap();
    bench.is_as_before();
    let question = back.question("The command").unwrap();
    for words in [
        "changed AGENTS.md",
        "made .vscode\n",
        "made deep/.envrc",
        "removed .github/workflows/ci.yml",
        "  | -be kind\n  | +be evil",
        "deep/.envrc\n  | @@ -0,0 +1 @@\n  | +evil\n",
        ".vscode/tasks.json\n  | @@ -0,0 +1 @@\n  | +evil\n",
    ] {
        assert!(question.contains(words), "{words}: {question}");
    }
    assert!(!question.contains("main.rs") && !question.contains("index"), "{question}");
}

#[test]
fn a_person_may_have_it_or_not() {
    let bench = Bench::new();
    let before = SteeringSnapshot::look(&bench.root);
    bench.meddle();
    before.put_back(|_| false).unwrap().keep();
    assert_eq!(bench.get("AGENTS.md").as_deref(), Some("be evil\n"));
    assert_eq!(bench.get(".vscode/tasks.json").as_deref(), Some("evil\n"));
    assert_eq!(bench.get(".github/workflows/ci.yml"), None);
    assert!(before.put_back(|_| false).is_some(), "it is still not as it was");

    let bench = Bench::new();
    let before = SteeringSnapshot::look(&bench.root);
    bench.meddle();
    before.put_back(|_| false).unwrap().discard();
    bench.is_as_before();
    let names = std::fs::read_dir(&bench.root).unwrap().flatten().map(|entry| entry.file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().contains(ASIDE)));
}

#[test]
fn where_nobody_says_it_waits_beside_under_a_name_that_steers_nothing() {
    let bench = Bench::new();
    let before = SteeringSnapshot::look(&bench.root);
    bench.meddle();
    bench.put("AGENTS.md.held", "somebody's own");
    let told = before.put_back(|_| false).unwrap().leave();
    assert!(told.contains("AGENTS.md.held-2") && told.contains(".vscode.held"), "{told}");
    bench.is_as_before();
    assert_eq!(bench.get("AGENTS.md.held-2").as_deref(), Some("be evil\n"));
    assert_eq!(bench.get(".vscode.held/tasks.json").as_deref(), Some("evil\n"));
    assert_eq!(bench.get("AGENTS.md.held").as_deref(), Some("somebody's own"));
    let steering = SteeringSnapshot::look(&bench.root).places;
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
    let before = SteeringSnapshot::look(&bench.root);
    std::fs::rename(bench.root.join(".github"), bench.root.join("moved")).unwrap();
    std::os::unix::fs::symlink(&outside, bench.root.join(".github")).unwrap();
    before.put_back(|_| false).unwrap().leave();
    assert_eq!(bench.get(".github/workflows/ci.yml").as_deref(), Some("run: test\n"));
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    // The same with a folder above, which is no file that steers: nothing is put back, and nothing leaves the workspace.
    bench.put("deep/.npmrc", "old");
    let before = SteeringSnapshot::look(&bench.root);
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
    let before = SteeringSnapshot::look(&bench.root);
    bench.put("AGENTS.md", "agreed");
    assert!(before.put_back(|path| path == Path::new("AGENTS.md")).is_none());
    bench.put(".npmrc", "small");
    let back = before.put_back(|path| path == Path::new("AGENTS.md")).unwrap();
    let question = back.question("The command").unwrap();
    assert!(question.contains("too large"), "{question}");
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
    let before = SteeringSnapshot::look(&bench.root);
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
    let before = SteeringSnapshot::look(&bench.root);
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
    let before = SteeringSnapshot::look(&bench.root);
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
    let before = SteeringSnapshot::look(&bench.root);
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
    let before = SteeringSnapshot::look(&bench.root);
    assert_eq!(before.images[Path::new(".envrc")], SteeringImage::Odd);
}

/// What is asked of what these files became, and what is told where nobody is asked.
fn asked(files: &[(String, Vec<u8>)]) -> Result<String, String> {
    let bench = Bench::new();
    let before = SteeringSnapshot::look(&bench.root);
    for (name, bytes) in files {
        bench.put(name, "");
        std::fs::write(bench.root.join(name), bytes).unwrap();
    }
    let back = before.put_back(|_| false).unwrap();
    back.question("The command").ok_or_else(|| back.leave_unshown())
}

#[test]
fn a_person_is_asked_only_about_what_they_are_shown_whole() {
    let many = |count: usize| -> Vec<(String, Vec<u8>)> {
        (0..count).map(|number| (format!("d{number}/.envrc"), format!("run {number}\n").into())).collect()
    };
    let one = |name: &str, bytes: &[u8]| vec![(name.to_owned(), bytes.to_owned())];
    // All names and all that is in them, also of a folder that is new.
    let question = asked(&many(25)).unwrap();
    for number in 0..25 {
        assert!(question.contains(&format!("- made d{number}/.envrc\n")), "{number}: {question}");
        assert!(question.contains(&format!("+run {number}\n")), "{number}: {question}");
    }
    let inside: Vec<_> = (0..25).map(|n| (format!(".vscode/{n}.json"), format!("run {n}").into())).collect();
    assert!((0..25).all(|number| asked(&inside).unwrap().contains(&format!("+run {number}\n"))));
    let long = "run\n".repeat(4000);
    let question = asked(&one("AGENTS.md", format!("{long}last").as_bytes())).unwrap();
    assert!(question.contains("+last\n") && question.len() <= MAX_SHOWN, "{}", question.len());
    // Else nobody is, and it is told where it lies and how it is taken.
    let too_long = "run\n".repeat(20_000);
    for (files, aside) in [
        (many(2000), "d0/.envrc.held"),
        (one("AGENTS.md", too_long.as_bytes()), "AGENTS.md.held"),
        (one(".vscode/tasks.json", too_long.as_bytes()), ".vscode.held"),
        (one(".envrc", &[0xff, 0xfe]), ".envrc.held"),
        (one("AGENTS.md", &vec![b'x'; 2 * 1024 * 1024]), "AGENTS.md.held"),
    ] {
        let told = asked(&files).unwrap_err();
        let take = format!("`mv {aside} {}`", aside.trim_end_matches(ASIDE));
        assert!(told.contains("nobody was asked") && told.contains(&take), "{told}");
        assert!(told.len() < 4096, "{}", told.len());
    }
}

#[test]
fn a_name_passes_for_one_file_and_is_no_line_for_a_shell() {
    let name = "x\n- made nothing; rm -r y/.envrc".to_owned();
    let question = asked(&[(name.clone(), "run\n".into())]).unwrap();
    assert!(question.contains("- made x\\n- made nothing; rm -r y/.envrc\n"), "{question}");
    let told = asked(&[(name, vec![0xff])]).unwrap_err();
    assert!(told.contains(ASIDE) && !told.contains("`mv"), "{told}");
}

#[test]
fn a_link_and_a_mode_are_shown_as_what_they_are() {
    let bench = Bench::new();
    let before = SteeringSnapshot::look(&bench.root);
    std::os::unix::fs::symlink("/etc/shadow", bench.root.join(".envrc")).unwrap();
    std::fs::set_permissions(bench.root.join("AGENTS.md"), PermissionsExt::from_mode(0o755)).unwrap();
    let question = before.put_back(|_| false).unwrap().question("The command").unwrap();
    assert!(question.contains(".envrc is a link to /etc/shadow\n"), "{question}");
    assert!(question.contains("AGENTS.md has the mode 755 instead of 644\n"), "{question}");
}

#[test]
fn a_new_folder_that_was_not_seen_to_its_end_is_not_asked_about() {
    let files: Vec<_> = (0..=MAX_FILES).map(|number| (format!(".circleci/{number}"), Vec::new())).collect();
    assert!(asked(&files).is_err());
    let deep = format!(".circleci/{}x", "d/".repeat(MAX_DEPTH));
    assert!(asked(&[(deep, Vec::new())]).is_err());
}
