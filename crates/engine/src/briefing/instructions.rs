//! What the person and the project want of every agent that works here: `AGENTS.md`, or `CLAUDE.md` in a folder that has none, with the
//! files that it takes in; and beside either of them `CLAUDE.local.md`.

use crate::text_sources::{TextSources, read_text};
use models::{ToolArgs, ToolCall};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tools::ToolContext;
use tools::args::{Args, PATH};
use tools::steering::imports::{TakenIn, imports, takes_in};

/// Largest file of instructions.
const MAX_FILE: u64 = 64 * 1024;
/// Bytes of all instructions together; past it the farthest are left out.
const MAX_INSTRUCTIONS: usize = 96 * 1024;
/// Folders besides those above the working directory that are looked at.
const MAX_ENTERED: usize = 64;
/// The names of the files, the better one first.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// What a person adds for themselves in a project.
const LOCAL: &str = "CLAUDE.local.md";
/// The tools that work at a path of the workspace.
const WORK_AT_A_PATH: [&str; 6] = ["read", "ls", "grep", "find", "write", "edit"];

/// The instructions that apply; what could not be read, in words.
#[derive(Debug, Default)]
pub(crate) struct Instructions {
    /// The files and their texts, the farthest first.
    pub(crate) files: Vec<(String, String)>,
    pub(crate) trouble: Vec<String>,
}

impl Instructions {
    /// Reads every file that applies to a conversation that worked at `paths`.
    pub(crate) fn for_work_at(
        paths: &BTreeSet<String>,
        place: &ToolContext,
        look: &TextSources,
    ) -> Instructions {
        Instructions::read(look, &entered(paths, place, look))
    }

    /// Reads every file that applies: the person's, those from the project's root down to the working directory, and those of the
    /// folders that the model has entered since. One that cannot be read is named, not fatal.
    pub(crate) fn read(look: &TextSources, entered: &BTreeSet<PathBuf>) -> Instructions {
        let project = look.project.as_deref();
        let near_first = look.dirs_up().into_iter().map(|dir| (dir, project));
        let near_first = near_first.chain(look.settings.as_deref().map(|dir| (dir, None)));
        let mut taken = ReadFiles::default();
        taken.read(near_first, look);
        // What is met on the way gets the room that is left: no folder pushes out what the person and the project want everywhere.
        let mut everywhere = std::mem::take(&mut taken.files);
        taken.read(entered.iter().rev().map(|dir| (dir.as_path(), project)), look);
        everywhere.reverse();
        everywhere.extend(taken.files.into_iter().rev());
        Instructions { files: everywhere, trouble: taken.trouble }
    }
}

/// What was read so far, the nearest first.
#[derive(Default)]
struct ReadFiles {
    files: Vec<(String, String)>,
    trouble: Vec<String>,
    size: usize,
    /// The files, every link followed: none is told twice.
    seen: BTreeSet<PathBuf>,
}

impl ReadFiles {
    /// Reads the files of some folders, the nearest first; with a root they stay within it.
    fn read<'a>(&mut self, folders: impl Iterator<Item = (&'a Path, Option<&'a Path>)>, look: &TextSources) {
        for (dir, within) in folders {
            let main = NAMES.iter().map(|name| dir.join(name)).find(|file| file.exists());
            let local = Some(dir.join(LOCAL)).filter(|file| file.exists());
            for file in local.into_iter().chain(main) {
                let text = read_text(&file, within, MAX_FILE);
                let Some(text) = self.take(&file, shown(&file), text) else { continue };
                if !takes_in(&file) {
                    continue;
                }
                let inside = |path: &Path| match within {
                    Some(root) if !path.starts_with(root) => Err("it leads out of the project".to_owned()),
                    _ => Ok(()),
                };
                let all = imports(&file, &text, look.home.as_deref(), &inside);
                for TakenIn { path, by, text, .. } in all.into_iter().rev().filter(|import| !import.quiet) {
                    self.take(&path, format!("{}, which {} includes", shown(&path), shown(&by)), text);
                }
            }
        }
    }

    /// Takes a file in, and gives its text where that was so.
    fn take(&mut self, file: &Path, shown: String, text: Result<String, String>) -> Option<String> {
        if !self.seen.insert(file.canonicalize().unwrap_or_else(|_| file.to_owned())) {
            return None;
        }
        match text {
            Ok(text) if self.size + text.len() > MAX_INSTRUCTIONS => {
                self.trouble.push(format!("{shown}: left out, there are too many instructions"));
                None
            }
            Ok(text) => {
                self.size += text.len();
                self.files.push((shown, text.trim().to_owned()));
                Some(text)
            }
            Err(why) => {
                self.trouble.push(format!("{shown}: {why}"));
                None
            }
        }
    }
}

fn shown(path: &Path) -> String {
    domain::harmless::in_line(&path.to_string_lossy())
}

/// The paths that calls of the model work at, as it wrote them.
pub(crate) fn paths<'a>(calls: impl Iterator<Item = &'a ToolCall>) -> BTreeSet<String> {
    let path = |call: &'a ToolCall| {
        let ToolArgs::Parsed(args) = &call.args else { return None };
        Args::new(&call.name, args).text_opt(PATH).ok().flatten().map(str::to_owned)
    };
    calls.filter(|call| WORK_AT_A_PATH.contains(&call.name.as_str())).filter_map(path).collect()
}

/// The folders of the project that those paths lead into, beside those that are above the working directory anyway. What was installed or
/// built says nothing: it is not the project's, and files that steer are not watched there.
fn entered(paths: &BTreeSet<String>, place: &ToolContext, look: &TextSources) -> BTreeSet<PathBuf> {
    let Some(project) = &look.project else { return BTreeSet::new() };
    let above = look.dirs_up();
    let mut folders = BTreeSet::new();
    for path in paths.iter().filter_map(|path| place.resolve(path).ok()) {
        let within = |dir: &Path| dir.ancestors().take_while(|dir| dir.starts_with(project)).any(is_heavy);
        let apart =
            |dir: &&Path| dir.starts_with(project) && dir.is_dir() && !above.contains(dir) && !within(dir);
        folders.extend(path.ancestors().filter(apart).map(Path::to_owned));
        if folders.len() > MAX_ENTERED {
            return folders.into_iter().take(MAX_ENTERED).collect();
        }
    }
    folders
}

/// Whether a folder holds what was installed or built.
fn is_heavy(folder: &Path) -> bool {
    let name = folder.file_name().map(|name| name.to_string_lossy());
    folder.parent().zip(name).is_some_and(|(above, name)| tools::steering::is_heavy(above, &name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(read: &Instructions) -> String {
        read.files.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n")
    }

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
        let look = TextSources::new(
            Some(&base.join("work")),
            &base.join("work/a/b"),
            None,
            Some(base.join("settings")),
        );
        let read = Instructions::read(&look, &BTreeSet::new());
        let all = texts(&read);
        let order: Vec<&str> = all.lines().filter(|line| line.starts_with("the ")).collect();
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
        let read =
            Instructions::read(&TextSources::new(Some(&base), &base.join("a"), None, None), &BTreeSet::new());
        assert!(texts(&read).ends_with('y') && !texts(&read).contains("xxx") && read.trouble.len() == 1);
    }

    #[test]
    fn a_folder_on_the_way_pushes_out_nothing_of_the_person_and_the_project() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for (folder, letter) in [("settings", "p"), ("work", "r"), ("work/a", "a"), ("work/b", "b")] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
            std::fs::write(base.join(folder).join("AGENTS.md"), letter.repeat(40 * 1024)).unwrap();
        }
        let work = base.join("work");
        let look = TextSources::new(Some(&work), &work, None, Some(base.join("settings")));
        let read = Instructions::read(&look, &BTreeSet::from([work.join("a"), work.join("b")]));
        let first: Vec<&str> = read.files.iter().map(|(_, text)| &text[..1]).collect();
        assert_eq!(first, ["p", "r"]);
        assert!(
            read.trouble.len() == 2 && read.trouble.iter().all(|why| why.contains("left out")),
            "{:?}",
            read.trouble
        );
    }

    #[test]
    fn a_folder_without_instructions_for_all_has_those_for_one_agent() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("a")).unwrap();
        for (file, text) in
            [("CLAUDE.md", "only this"), ("a/AGENTS.md", "the better"), ("a/CLAUDE.md", "the other")]
        {
            std::fs::write(base.join(file), text).unwrap();
        }
        let look = TextSources::new(Some(&base), &base.join("a"), None, None);
        let text = texts(&Instructions::read(&look, &BTreeSet::new()));
        assert!(
            text.contains("only this") && text.ends_with("the better") && !text.contains("the other"),
            "{text}"
        );
    }

    #[test]
    fn files_that_instructions_take_in_stand_before_them_and_stay_in_the_project() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let put = |path: &str, text: &str| {
            std::fs::create_dir_all(base.join(path).parent().unwrap()).unwrap();
            std::fs::write(base.join(path), text).unwrap();
        };
        put("work/CLAUDE.md", "main, with @docs/style.md @../secret.md and @AGENTS.md");
        put("work/docs/style.md", "style, with @deep.md");
        put("work/docs/deep.md", "deep");
        put("work/CLAUDE.local.md", "for me, with @docs/style.md");
        put("secret.md", "secret");
        put("settings/CLAUDE.md", "the person's, with @~/own.md");
        put("home/own.md", "own");
        let home = Some(base.join("home"));
        let look =
            TextSources::new(Some(&base.join("work")), &base.join("work"), home, Some(base.join("settings")));
        let read = Instructions::read(&look, &BTreeSet::new());
        let words: Vec<&str> =
            read.files.iter().map(|(_, text)| text.split(',').next().unwrap_or_default()).collect();
        assert_eq!(words, ["own", "the person's", "main", "deep", "style", "for me"]);
        let by =
            format!("{0}/docs/style.md, which {0}/CLAUDE.local.md includes", base.join("work").display());
        assert_eq!(read.files[4].0, by);
        assert!(
            read.trouble.iter().any(|why| why.contains("secret.md") && why.contains("out of the project"))
        );
        assert!(!texts(&read).contains("secret\n") && read.trouble.len() == 2, "{:?}", read.trouble);
    }

    #[test]
    fn the_model_is_told_the_instructions_of_the_folders_that_it_enters() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for folder in ["work/sub/deep", "work/other", "work/node_modules/evil", "away"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
            std::fs::write(base.join(folder).join("AGENTS.md"), format!("those of {folder}")).unwrap();
        }
        std::os::unix::fs::symlink("../../away", base.join("work/sub/link")).unwrap();
        let look = TextSources::new(Some(&base.join("work")), &base.join("work"), None, None);
        let place = ToolContext::new(&base.join("work"), &base.join("outputs")).unwrap();
        let call = |name: &str, args: serde_json::Value| ToolCall {
            id: "1".to_owned(),
            name: name.to_owned(),
            args: ToolArgs::Parsed(args),
        };
        let calls = [
            call("read", serde_json::json!({"file_path": "sub/deep/new.rs"})),
            call("read", serde_json::json!({"path": "sub/link/x"})),
            call("read", serde_json::json!({"path": "node_modules/evil/i.js"})),
            call("bash", serde_json::json!({"command": "cat x", "path": "other/x"})),
            call("edit", serde_json::json!({"path": 7})),
        ];
        let read = Instructions::for_work_at(&paths(calls.iter()), &place, &look);
        let told = texts(&read);
        assert!(told.ends_with("those of work/sub/deep"), "{told}");
        assert!(!["other", "away", "evil"].iter().any(|word| told.contains(word)), "{told}");
    }
}
