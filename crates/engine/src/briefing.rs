//! What the model is told before the conversation: who it is, where it works, instructions, skills, what the UI knows.

use crate::place::{TextPlaces, read_text};
use crate::skills::Skills;
use domain::path_text;
use domain::signal::UiContext;
use std::path::Path;

/// Largest `AGENTS.md`.
const MAX_FILE: u64 = 64 * 1024;
/// Bytes of all instructions together; past it the farthest are left out.
const MAX_INSTRUCTIONS: usize = 96 * 1024;
/// Characters of what is selected in the UI.
const MAX_SELECTION: usize = 20_000;

/// Said to the model where there is no workspace.
pub(crate) const NO_WORKSPACE: &str = "\nThere is no workspace here: every file that you want to read or write is asked for, and commands cannot write.";

/// `AGENTS.md` of the person and up the tree, the farthest first; what could not be read, in words.
pub(crate) struct Instructions {
    pub(crate) text: String,
    pub(crate) trouble: Vec<String>,
}

impl Instructions {
    /// Reads every file that applies here; one that cannot be read is named, not fatal.
    pub(crate) fn read(look: &TextPlaces) -> Instructions {
        let mut near_first: Vec<(std::path::PathBuf, Option<&Path>)> =
            look.dirs_up().iter().map(|dir| (dir.join("AGENTS.md"), look.project.as_deref())).collect();
        near_first.extend(look.settings.iter().map(|dir| (dir.join("AGENTS.md"), None)));
        let (mut parts, mut trouble, mut size) = (Vec::new(), Vec::new(), 0);
        for (file, within) in near_first.into_iter().filter(|(file, _)| file.exists()) {
            match read_text(&file, within, MAX_FILE) {
                Ok(text) if size + text.len() > MAX_INSTRUCTIONS => {
                    trouble.push(format!("{}: left out, there are too many instructions", file.display()));
                }
                Ok(text) => {
                    size += text.len();
                    parts.push(format!("From {}:\n{}", file.display(), text.trim()));
                }
                Err(why) => trouble.push(format!("{}: {why}", file.display())),
            }
        }
        parts.reverse();
        Instructions { text: parts.join("\n\n"), trouble }
    }
}

/// The whole text before the conversation.
pub(crate) fn system(
    workdir: &Path,
    ui: &UiContext,
    instructions: &Instructions,
    skills: &Skills,
    prompt: &str,
) -> String {
    let mut system = format!(
        "You are a coding agent at work in {}. Use the tools to look before you answer and to make the changes that \
         are asked for. Be brief and exact. When a tool is denied, respect the reason.",
        path_text::write(workdir)
    );
    let mut add = |text: &str| {
        system.push('\n');
        system.push_str(text);
    };
    if !instructions.text.is_empty() {
        add("\nInstructions for the work here; where two differ, the later one leads:");
        add(&instructions.text);
    }
    if !skills.all.is_empty() {
        add("\nSkills, to be loaded with the tool `skill` when one fits the task:");
        for skill in &skills.all {
            add(&format!("- {}: {}", skill.entry.name, skill.entry.description));
        }
    }
    for skill in skills.named_in(prompt) {
        match skill.load() {
            Ok(text) => add(&format!("\nThe person wants this skill to be used now.\n{text}")),
            Err(why) => add(&format!("\nThe skill {} cannot be read: {why}", skill.entry.name)),
        }
    }
    if let Some(file) = &ui.active_file {
        add(&format!("The person has {file} open."));
    }
    match &ui.selection {
        Some((text, file)) if !text.is_empty() => {
            let text: String = text.chars().take(MAX_SELECTION).collect();
            add(&format!("Selected in {file}:\n{text}"));
        }
        Some((_, file)) => add(&format!("The person has something selected in {file}.")),
        None => {}
    }
    for note in &ui.notes {
        add(note);
    }
    system
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_read_up_the_tree_and_the_nearest_stands_last() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let put = |path: &str, text: &str| {
            std::fs::create_dir_all(base.join(path).parent().unwrap()).unwrap();
            std::fs::write(base.join(path), text).unwrap();
        };
        put("AGENTS.md", "above the project");
        put("settings/AGENTS.md", "the person's");
        put("work/AGENTS.md", "the project's");
        put("work/a/b/AGENTS.md", "the nearest");
        put("secret", "secret");
        std::os::unix::fs::symlink("../../secret", base.join("work/a/AGENTS.md")).unwrap();
        let look = TextPlaces::new(
            Some(&base.join("work")),
            &base.join("work/a/b"),
            None,
            Some(base.join("settings")),
        );
        let read = Instructions::read(&look);
        let order: Vec<&str> = read.text.lines().filter(|line| line.starts_with("the ")).collect();
        assert_eq!(order, ["the person's", "the project's", "the nearest"]);
        assert_eq!(read.trouble.len(), 1, "{:?}", read.trouble);
        assert!(read.trouble[0].contains("out of the project"));
    }

    #[test]
    fn too_many_instructions_leave_out_the_farthest() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("a")).unwrap();
        std::fs::write(base.join("AGENTS.md"), "x".repeat(60 * 1024)).unwrap();
        std::fs::write(base.join("a/AGENTS.md"), "y".repeat(60 * 1024)).unwrap();
        let read = Instructions::read(&TextPlaces::new(Some(&base), &base.join("a"), None, None));
        assert!(read.text.ends_with('y') && !read.text.contains("xxx") && read.trouble.len() == 1);
    }

    #[test]
    fn the_model_reads_what_is_selected_and_where() {
        let nothing = (Instructions { text: String::new(), trouble: Vec::new() }, Skills::default());
        let told = |text: &str| {
            let selection = Some((text.to_owned(), "src/a.rs".to_owned()));
            let ui = UiContext { selection, ..UiContext::default() };
            system(Path::new("/work"), &ui, &nothing.0, &nothing.1, "")
        };
        assert!(told("fn a() {}").ends_with("\nSelected in src/a.rs:\nfn a() {}"), "{}", told("fn a() {}"));
        assert!(told("").ends_with("\nThe person has something selected in src/a.rs."), "{}", told(""));
        // The text is cut, and never the path.
        assert!(told(&"x".repeat(MAX_SELECTION + 1)).ends_with(&format!(":\n{}", "x".repeat(MAX_SELECTION))));
    }
}
