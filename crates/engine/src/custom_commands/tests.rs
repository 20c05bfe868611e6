//! Where commands are found, which lead, and what is told of one that changed.

use super::*;

struct Folders {
    dir: tempfile::TempDir,
}

impl Folders {
    fn new() -> Folders {
        let dir = tempfile::tempdir().unwrap();
        for sub in ["home", "settings", "work/sub", "data"] {
            fs::create_dir_all(dir.path().join(sub)).unwrap();
        }
        Folders { dir }
    }

    fn base(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn find(&self) -> CustomCommands {
        let base = self.base();
        let look = TextSources::new(
            Some(&base.join("work")),
            &base.join("work/sub"),
            Some(base.join("home")),
            Some(base.join("settings")),
        );
        CustomCommands::find(&look)
    }

    fn used(&self, prompt: &str) -> Used {
        let commands = self.find();
        let (command, behind) = commands.named_in(prompt).unwrap();
        command.used(behind, &self.base().join("data")).unwrap()
    }
}

fn names(commands: &CustomCommands) -> Vec<&str> {
    commands.all.iter().map(|command| command.name.as_str()).collect()
}

#[test]
fn commands_of_four_programs_are_found_as_they_are() {
    let folders = Folders::new();
    folders.put("settings/commands/mine.md", "Mine.");
    folders.put(
        "home/.codex/prompts/draft.md",
        "---\ndescription: draft it\nargument-hint: WHAT\n---\nDraft $ARGUMENTS",
    );
    folders.put("work/.claude/commands/fix.md", "# Fix an issue\n\nFix $1");
    folders.put("work/.claude/commands/front/part.md", "A part");
    folders.put("work/.opencode/command/tidy.md", "---\ndescription: tidy up\nagent: build\n---\nTidy");
    folders.put("work/sub/.parlor/commands/near.md", "Near");
    folders.put("work/.claude/commands/no.txt", "no Markdown");
    folders.put("work/.claude/commands/odd name.md", "a name that nobody can type");
    let found = folders.find();
    assert_eq!(names(&found), ["mine", "draft", "init", "review", "near", "fix", "front:part", "tidy"]);
    let menu = found.menu().commands;
    let told = |name: &str| menu.iter().find(|command| command.name == name).unwrap();
    assert_eq!((told("draft").about.as_str(), told("draft").hint.as_deref()), ("draft it", Some("WHAT")));
    assert_eq!(told("fix").about, "this project's: Fix an issue");
    let used = folders.used("/draft a letter");
    assert!(used.told.ends_with("Do what it says:\nDraft a letter"), "{}", used.told);
}

#[test]
fn a_project_replaces_no_command_of_the_persons_and_leads_to_no_other_file() {
    let folders = Folders::new();
    folders.put("home/.claude/commands/deploy.md", "as I do it");
    folders.put("work/.claude/commands/deploy.md", "as they would have it");
    for name in ["review", "init", "plan", "policy", "theirs"] {
        folders.put(&format!("work/.claude/commands/{name}.md"), "---\ndescription: EVIL\n---\ntheir own");
    }
    folders.put("secret", "the secret");
    let link = folders.dir.path().join("work/.claude/commands/leak.md");
    std::os::unix::fs::symlink("../../../secret", link).unwrap();
    let found = folders.find();
    assert_eq!(names(&found), ["deploy", "init", "review", "theirs"]);
    assert!(folders.used("/deploy").told.ends_with("as I do it"));
    for name in ["init", "review"] {
        assert!(!folders.used(&format!("/{name}")).told.contains("their own"), "{name}");
    }
    let evil: Vec<_> = found.menu().commands.into_iter().filter(|one| one.about.contains("EVIL")).collect();
    assert!(matches!(&evil[..], [one] if one.about == "this project's: EVIL"), "{evil:?}");
    // The person may have a better one of their own.
    folders.put("home/.claude/commands/review.md", "my review");
    assert!(folders.used("/review").told.ends_with("my review"));
}

#[test]
fn a_command_of_a_project_that_changed_is_told_and_what_it_would_allow_counts_for_nothing() {
    let folders = Folders::new();
    folders.put("work/.claude/commands/a.md", "---\nallowed-tools: Bash(*)\nmodel: x\n---\nA");
    let first = folders.used("/a").notice.unwrap();
    assert!(first.starts_with("allowed-tools, model in /a counts for nothing here"), "{first}");
    assert_eq!(folders.used("/a").notice, None, "told once");
    folders.put("work/.claude/commands/a.md", "Another");
    let changed = folders.used("/a").notice.unwrap();
    let digest = &tools::digest::hex(b"Another")[..12];
    assert!(changed.contains("another than when you used it last") && changed.contains(digest), "{changed}");
    assert_eq!(folders.used("/a").notice, None);
}

#[test]
fn only_the_beginning_of_a_prompt_is_a_command() {
    let folders = Folders::new();
    let commands = folders.find();
    for (prompt, name) in [
        ("/init", Some("init")),
        (" /review HEAD~1\nplease", Some("review")),
        ("do /init", None),
        ("/usr/bin", None),
    ] {
        assert_eq!(commands.named_in(prompt).map(|(command, _)| command.name.as_str()), name, "{prompt}");
    }
    assert_eq!(commands.named_in("/review HEAD~1\nplease").unwrap().1, "HEAD~1\nplease");
}
