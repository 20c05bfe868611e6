//! Where skills are found, and which prompts name them.

use super::*;

struct WorkDir {
    dir: tempfile::TempDir,
}

impl WorkDir {
    fn new() -> WorkDir {
        let dir = tempfile::tempdir().unwrap();
        for sub in ["home", "work/sub"] {
            fs::create_dir_all(dir.path().join(sub)).unwrap();
        }
        WorkDir { dir }
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn skill(&self, at: &str, name: &str) {
        self.put(
            &format!("{at}/{name}/SKILL.md"),
            &format!("---\nname: {name}\ndescription: about {name}\n---\nDo {name}."),
        );
    }

    fn look(&self) -> TextSources {
        let base = self.dir.path().canonicalize().unwrap();
        TextSources::new(Some(&base.join("work")), &base.join("work/sub"), Some(base.join("home")), None)
    }

    fn find(&self) -> Skills {
        Skills::find(&self.look())
    }
}

fn names(skills: &Skills) -> Vec<(&str, bool)> {
    skills.all.iter().map(|skill| (skill.entry.name.as_str(), skill.entry.from_project)).collect()
}

#[test]
fn skills_come_from_the_home_and_the_project_up_the_tree() {
    let work_dir = WorkDir::new();
    work_dir.skill("home/.claude/skills", "mine");
    work_dir.skill("work/.agents/skills", "shared");
    work_dir.skill("work/sub/.parlor/skills", "near");
    work_dir.skill("elsewhere/.agents/skills", "foreign");
    let skills = work_dir.find();
    assert_eq!(names(&skills), [("mine", false), ("near", true), ("shared", true)]);
    assert_eq!(skills.errors, []);
    let text = skills.all[0].load().unwrap();
    assert!(text.starts_with("Skill mine (its files are in ") && text.ends_with("Do mine."), "{text}");
}

#[test]
fn a_project_cannot_take_the_place_of_the_persons_skill() {
    let work_dir = WorkDir::new();
    work_dir.skill("home/.agents/skills", "deploy");
    work_dir.skill("work/.agents/skills", "deploy");
    let list = work_dir.find().list();
    assert_eq!(list.skills.len(), 1);
    assert!(!list.skills[0].from_project);
    assert!(list.errors[0].1.contains("hidden by"), "{:?}", list.errors);
}

#[test]
fn what_cannot_be_read_is_listed_with_its_reason() {
    let work_dir = WorkDir::new();
    work_dir.put("work/.agents/skills/a/SKILL.md", "no front matter");
    work_dir.put("work/.agents/skills/b/SKILL.md", "---\nname: b\n---\n");
    work_dir.put("work/.agents/skills/c/SKILL.md", "---\nname: not plain\ndescription: x\n---\n");
    work_dir.put("work/.agents/skills/d/SKILL.md", &"x".repeat(MAX_SKILL_BYTES as usize + 1));
    work_dir.put("work/.agents/skills/e/SKILL.md", "---\ndescription: takes its directory's name\n---\n");
    work_dir.put("work/.agents/skills/not-a-skill/README.md", "x");
    work_dir.put("secret", "---\nname: f\ndescription: x\n---\n");
    fs::create_dir(work_dir.dir.path().join("work/.agents/skills/f")).unwrap();
    std::os::unix::fs::symlink(
        "../../../../secret",
        work_dir.dir.path().join("work/.agents/skills/f/SKILL.md"),
    )
    .unwrap();
    let skills = work_dir.find();
    assert_eq!(names(&skills), [("e", true)]);
    let why: Vec<&str> = skills.errors.iter().map(|(_, why)| why.as_str()).collect();
    for (why, word) in why.iter().zip(["`---`", "description", "name", "larger than", "out of the project"]) {
        assert!(why.contains(word), "{why} has no {word}");
    }
    assert_eq!(why.len(), 5);
}

#[test]
fn a_prompt_names_skills_at_the_start_of_words() {
    let work_dir = WorkDir::new();
    for name in ["pdf", "deploy", "usr"] {
        work_dir.skill("home/.agents/skills", name);
    }
    let skills = work_dir.find();
    for (prompt, expected) in [
        ("/pdf fill this", &["pdf"][..]),
        ("use $deploy, then /pdf.", &["deploy", "pdf"]),
        ("$pdf $pdf", &["pdf"]),
        ("look at /usr/bin and cost$pdf", &[]),
        ("pdf", &[]),
        ("/unknown", &[]),
    ] {
        let named: Vec<&str> =
            skills.named_in(prompt).iter().map(|skill| skill.entry.name.as_str()).collect();
        assert_eq!(named, expected, "{prompt}");
    }
}
