//! Files as the person's editor holds them: what stands there and is not saved yet counts, not what the disk says.
//!
//! What always holds: only files of the workspace that anybody may read go this way, and none that is too large for it; what is compared,
//! shown and written comes from the same source; one call asks for a file once, and once more after a person was asked. What it is not:
//! the way to the editor, which the engine has.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Largest file on the disk that an editor is asked for: what is larger is no text that somebody types, and would not fit into one line
/// of a wire.
pub const MAX_HELD: u64 = 4 * 1024 * 1024;

/// An editor that reads and writes files for us. Each call blocks until it has answered, within a bound.
pub trait Buffers: fmt::Debug + Send + Sync {
    /// Whether it tells what it holds. One that has stopped answering does not any more.
    fn reads(&self) -> bool;
    /// Whether it takes another content.
    fn writes(&self) -> bool;
    /// All text of a file.
    ///
    /// # Errors
    /// Why it cannot tell, in words.
    fn read(&self, path: &Path) -> Result<String, String>;
    /// Puts a text in the place of what it holds.
    ///
    /// # Errors
    /// Why it did not, in words.
    fn write(&self, path: &Path, text: &str) -> Result<(), String>;
    /// Time went by: what was remembered may be another by now.
    fn look_again(&self) {}
}

/// An editor as one call sees it: what it said is remembered, since a plan, its diff and its run look at the same text.
#[derive(Debug)]
pub(crate) struct OneCall {
    editor: Arc<dyn Buffers>,
    said: Mutex<BTreeMap<PathBuf, Result<String, String>>>,
}

impl OneCall {
    /// An editor for the length of a call.
    pub(crate) fn of(editor: &Arc<dyn Buffers>) -> Arc<dyn Buffers> {
        Arc::new(OneCall { editor: editor.clone(), said: Mutex::default() })
    }

    fn said(&self) -> std::sync::MutexGuard<'_, BTreeMap<PathBuf, Result<String, String>>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buffers for OneCall {
    fn reads(&self) -> bool {
        self.editor.reads()
    }

    fn writes(&self) -> bool {
        self.editor.writes()
    }

    fn read(&self, path: &Path) -> Result<String, String> {
        if let Some(said) = self.said().get(path) {
            return said.clone();
        }
        let said = self.editor.read(path);
        self.said().insert(path.to_owned(), said.clone());
        said
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), String> {
        self.said().clear();
        self.editor.write(path, text)
    }

    /// A file that it did not have is looked for on the disk again and not here: many show that they were asked for one that is not there.
    fn look_again(&self) {
        self.said().retain(|_, said| said.is_err());
    }
}

#[cfg(test)]
mod tests {
    use crate::context::ToolContext;
    use crate::edit::Edit;
    use crate::read::Read;
    use crate::tool::{Plan, Port, Tool, ToolError, still_valid};
    use crate::write::Write;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Mutex};
    use tokio::sync::mpsc;
    use tokio_util::sync::CancellationToken;

    /// An editor whose open files differ from the disk.
    #[derive(Debug, Default)]
    struct Editor {
        open: Mutex<BTreeMap<PathBuf, String>>,
        asked: Mutex<Vec<String>>,
        deaf: bool,
        overlong: bool,
        /// It stops answering with the next request.
        leaving: bool,
        left: AtomicBool,
    }

    impl Editor {
        fn asked(&self) -> Vec<String> {
            std::mem::take(&mut *self.asked.lock().unwrap())
        }
    }

    impl super::Buffers for Editor {
        fn reads(&self) -> bool {
            !self.left.load(Ordering::Relaxed)
        }
        fn writes(&self) -> bool {
            self.reads()
        }
        fn read(&self, path: &Path) -> Result<String, String> {
            self.asked.lock().unwrap().push(format!("read {}", path.display()));
            self.left.store(self.leaving, Ordering::Relaxed);
            if self.overlong {
                return Err(format!("{}: more than 9 bytes", domain::ui_files::TOO_LONG));
            }
            if self.deaf || self.leaving {
                return Err("it did not answer".to_owned());
            }
            match self.open.lock().unwrap().get(path) {
                Some(text) => Ok(text.clone()),
                None => std::fs::read_to_string(path).map_err(|why| why.to_string()),
            }
        }
        fn write(&self, path: &Path, text: &str) -> Result<(), String> {
            self.asked.lock().unwrap().push(format!("write {}", path.display()));
            self.open.lock().unwrap().insert(path.to_owned(), text.to_owned());
            Ok(())
        }
    }

    struct Scene {
        _dir: tempfile::TempDir,
        work: PathBuf,
        editor: Arc<Editor>,
        place: ToolContext,
    }

    fn scene(editor: Editor) -> Scene {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().canonicalize().unwrap().join("work");
        std::fs::create_dir(&work).unwrap();
        std::fs::write(work.join("a.txt"), "saved\n").unwrap();
        let editor = Arc::new(editor);
        let place = ToolContext::new(&work, &dir.path().join("outputs")).unwrap();
        let place = place.with_buffers(Some(editor.clone()));
        Scene { _dir: dir, work, editor, place }
    }

    async fn run(tool: &dyn Tool, args: Value, place: &ToolContext) -> Result<String, String> {
        run_after(tool, args, place, |_, _| Ok(())).await
    }

    /// Runs a call after something that happens between its plan and its run.
    async fn run_after(
        tool: &dyn Tool,
        args: Value,
        place: &ToolContext,
        between: impl FnOnce(&dyn Tool, &Plan) -> Result<(), ToolError>,
    ) -> Result<String, String> {
        let plan = tool.plan(&args, &place.for_one_call()).map_err(|why| why.to_string())?;
        between(tool, &plan).map_err(|why| why.to_string())?;
        let (progress, _news) = mpsc::channel(16);
        let (asks, _questions) = mpsc::channel(1);
        let port = Port { progress, asks, cancel: CancellationToken::new(), gate: None };
        let outcome = tool.run(plan, port).await;
        match outcome.outcome {
            domain::tool::ToolOutcome::Done => Ok(outcome.result.text),
            _ => Err(outcome.result.text),
        }
    }

    #[tokio::test]
    async fn what_is_open_and_not_saved_is_what_is_read_shown_and_changed() {
        let Scene { work, editor, place, .. } = &scene(Editor::default());
        let file = work.join("a.txt");
        editor.open.lock().unwrap().insert(file.clone(), "open\nsecond\n".to_owned());
        let read = run(&Read, json!({"path": "a.txt"}), place).await.unwrap();
        assert!(read.contains("open") && !read.contains("saved"), "{read}");
        let args = json!({"path": "a.txt", "edits": [{"old": "open", "new": "edited"}]});
        let plan = Edit.plan(&args, place).unwrap();
        assert!(format!("{:?}", plan.preview).contains("-open"), "{:?}", plan.preview);
        run(&Edit, args, place).await.unwrap();
        assert_eq!(editor.open.lock().unwrap()[&file], "edited\nsecond\n");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "saved\n", "the editor saves, not we");
        // What the person typed since then is not written over.
        editor.open.lock().unwrap().insert(file.clone(), "typed meanwhile\n".to_owned());
        let refused = run(&Write, json!({"path": "a.txt", "content": "ours"}), place).await.unwrap_err();
        assert!(refused.contains("changed"), "{refused}");
        assert_eq!(editor.open.lock().unwrap()[&file], "typed meanwhile\n");
    }

    #[tokio::test]
    async fn a_new_file_and_one_that_is_only_in_the_editor() {
        let Scene { work, editor, place, .. } = &scene(Editor::default());
        run(&Write, json!({"path": "new.txt", "content": "hello\n"}), place).await.unwrap();
        assert_eq!(editor.open.lock().unwrap()[&work.join("new.txt")], "hello\n");
        let read = run(&Read, json!({"path": "new.txt"}), place).await.unwrap();
        assert!(read.contains("hello"), "{read}");
        let missing = run(&Read, json!({"path": "none.txt"}), place).await.unwrap_err();
        assert!(missing.to_lowercase().contains("no such file"), "{missing}");
    }

    #[tokio::test]
    async fn a_call_asks_the_editor_once_and_once_more_after_a_person_was_asked() {
        let Scene { work, editor, place, .. } = &scene(Editor::default());
        let (read, write) = (
            |file: &str| format!("read {}", work.join(file).display()),
            |file: &str| format!("write {}", work.join(file).display()),
        );
        let edit = json!({"path": "a.txt", "edits": [{"old": "saved", "new": "edited"}]});
        run(&Edit, edit, place).await.unwrap();
        assert_eq!(editor.asked(), [read("a.txt"), write("a.txt")]);
        run(&Write, json!({"path": "new.txt", "content": "x"}), place).await.unwrap();
        assert_eq!(editor.asked(), [read("new.txt"), write("new.txt")]);
        run(&Read, json!({"path": "a.txt"}), place).await.unwrap();
        assert_eq!(editor.asked(), [read("a.txt")]);
        // A person who was asked may have typed meanwhile.
        let args = json!({"path": "a.txt", "content": "ours"});
        run_after(&Write, args.clone(), place, still_valid).await.unwrap();
        assert_eq!(editor.asked(), [read("a.txt"), read("a.txt"), write("a.txt")]);
        run_after(&Write, json!({"path": "new2.txt", "content": "x"}), place, still_valid).await.unwrap();
        assert_eq!(
            editor.asked(),
            [read("new2.txt"), write("new2.txt")],
            "one that is not there is asked for once"
        );
        let typed = |tool: &dyn Tool, plan: &Plan| {
            editor.open.lock().unwrap().insert(work.join("a.txt"), "typed\n".to_owned());
            still_valid(tool, plan)
        };
        run_after(&Write, args, place, typed).await.unwrap_err();
        assert_eq!(editor.open.lock().unwrap()[&work.join("a.txt")], "typed\n");
    }

    #[tokio::test]
    async fn one_that_stops_answering_is_asked_once_and_then_the_disk_counts() {
        let Scene { work, editor, place, .. } = &scene(Editor { leaving: true, ..Editor::default() });
        let edit = json!({"path": "a.txt", "edits": [{"old": "saved", "new": "edited"}]});
        run(&Edit, edit, place).await.unwrap();
        run(&Write, json!({"path": "new.txt", "content": "x"}), place).await.unwrap();
        assert_eq!(editor.asked(), [format!("read {}", work.join("a.txt").display())]);
        assert_eq!(std::fs::read_to_string(work.join("a.txt")).unwrap(), "edited\n");
        assert_eq!(std::fs::read_to_string(work.join("new.txt")).unwrap(), "x");
    }

    #[tokio::test]
    async fn a_file_that_is_too_large_for_the_editor_is_read_from_the_disk() {
        let Scene { work, editor, place, .. } = &scene(Editor::default());
        let lines = "some line of a log\n".repeat(super::MAX_HELD as usize / 19 + 1);
        std::fs::write(work.join("huge.log"), lines).unwrap();
        let read = run(&Read, json!({"path": "huge.log"}), place).await.unwrap();
        assert!(read.contains("some line of a log"), "{read}");
        run(&Write, json!({"path": "huge.log", "content": "short\n"}), place).await.unwrap();
        assert_eq!(editor.asked(), Vec::<String>::new());
        assert_eq!(std::fs::read_to_string(work.join("huge.log")).unwrap(), "short\n");
    }

    #[tokio::test]
    async fn a_file_that_only_the_editor_has_and_cannot_tell_is_neither_missing_nor_written_over() {
        let Scene { editor, place, .. } = &scene(Editor { overlong: true, ..Editor::default() });
        for (tool, args) in [
            (&Read as &dyn Tool, json!({"path": "draft.log"})),
            (&Edit, json!({"path": "draft.log", "edits": [{"old": "a", "new": "b"}]})),
            (&Write, json!({"path": "draft.log", "content": "x"})),
        ] {
            let failed = run(tool, args, place).await.unwrap_err();
            assert!(failed.contains("is only in the editor") && failed.contains("too long"), "{failed}");
        }
        assert!(!editor.asked().iter().any(|asked| asked.starts_with("write")));
    }

    #[tokio::test]
    async fn an_editor_that_fails_is_told_and_the_disk_is_not_taken_instead() {
        let Scene { place, .. } = &scene(Editor { deaf: true, ..Editor::default() });
        for (tool, args) in [
            (&Read as &dyn Tool, json!({"path": "a.txt"})),
            (&Edit, json!({"path": "a.txt", "edits": [{"old": "saved", "new": "x"}]})),
            (&Write, json!({"path": "a.txt", "content": "x"})),
        ] {
            let failed = run(tool, args, place).await.unwrap_err();
            assert!(failed.contains("through the editor: it did not answer"), "{failed}");
        }
    }

    #[tokio::test]
    async fn what_lies_outside_and_what_is_secret_is_not_the_editors_business() {
        let Scene { work, editor, place, .. } = &scene(Editor::default());
        let outside = work.parent().unwrap().join("outside.txt");
        std::fs::write(&outside, "apart\n").unwrap();
        std::fs::write(work.join("b.png"), b"\x89PNG\r\n\x1a\n").unwrap();
        for path in [outside.to_str().unwrap(), "b.png"] {
            run(&Read, json!({"path": path}), place).await.unwrap();
        }
        assert_eq!(*editor.asked.lock().unwrap(), Vec::<String>::new());
    }
}
