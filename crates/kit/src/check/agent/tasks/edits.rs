//! Tasks in which the model errs when it changes a file.

use super::*;
use serde_json::json;

/// The usual change as a patch.
const PATCH: &str = "*** Begin Patch\n*** Update File: f.py\n@@ def two(x):\n     print(\"y\", y)\n-    return y\n+    return y * 2\n*** End Patch\n";
/// The same as git writes it.
const DIFF: &str = "--- a/f.py\n+++ b/f.py\n@@ -6,3 +6,3 @@ def two(x):\n     y = x + 1\n     print(\"y\", y)\n-    return y\n+    return y * 2\n";

/// By what is wrong: the text, the form of the call, the time or place.
pub(super) fn tasks() -> Vec<AgentTask> {
    let mut all = texts();
    all.extend(forms());
    all.extend(states());
    all
}

/// Texts that are not quite what stands in the file.
fn texts() -> Vec<AgentTask> {
    let tabs = F.replace("    ", "\t");
    let quotes = "title = “A day”\nsize = 3\n";
    let blanks = "a = 1  \nb = 2\t\nc = 3\n";
    let ends = "a = 1\r\nb = 2\r\nc = 3\r\n";
    vec![
        task("exact-edit", "nothing is wrong").reads("f.py", "class Three").changes(vec![exact()]),
        task("drifted-indentation", "the text has less indentation than the file").errs(edit(
            "f.py",
            "y = x + 1\nprint(\"y\", y)\nreturn y\n",
            "y = x + 1\nprint(\"y\", y)\nreturn y * 2\n",
        )),
        task("blanks-for-tabs", "the text has blanks where the file has tabs")
            .file("f.py", &*tabs)
            .reads("f.py", "class Three")
            .call(
                vec![
                    edit(
                        "f.py",
                        "    y = x + 1\n    print(\"y\", y)\n    return y\n",
                        "    y = x + 1\n    print(\"y\", y)\n    return y * 2\n",
                    ),
                    edit("f.py", "\treturn y\n", "\treturn y * 2\n"),
                ],
                file_has("f.py", "return y * 2"),
            )
            .then("f.py", tabs.replacen("\treturn y\n", "\treturn y * 2\n", 1)),
        task("line-numbers", "line numbers are copied with the text").errs(edit(
            "f.py",
            "     6\t    y = x + 1\n     7\t    print(\"y\", y)\n     8\t    return y\n",
            "     6\t    y = x + 1\n     7\t    print(\"y\", y)\n     8\t    return y * 2\n",
        )),
        task("straight-quotes", "the text has straight quotes where the file has curly ones")
            .prompt("Set the size in q.py to 4.")
            .file("q.py", quotes)
            .reads("q.py", "size = 3")
            .call(
                vec![
                    edit("q.py", "title = \"A day\"\nsize = 3\n", "title = \"A day\"\nsize = 4\n"),
                    edit("q.py", "size = 3", "size = 4"),
                ],
                file_has("q.py", "size = 4"),
            )
            .then("q.py", quotes.replace("size = 3", "size = 4")),
        task("trailing-blanks", "the text leaves out blanks at the ends of lines")
            .prompt("Set b in b.py to 20.")
            .file("b.py", blanks)
            .reads("b.py", "c = 3")
            .call(
                vec![
                    edit("b.py", "a = 1\nb = 2\nc = 3\n", "a = 1\nb = 20\nc = 3\n"),
                    edit("b.py", "b = 2", "b = 20"),
                ],
                file_has("b.py", "b = 20"),
            ),
        task("line-ends", "the text has other ends of lines than the file")
            .prompt("Set b in w.ini to 20.")
            .file("w.ini", ends)
            .reads("w.ini", "c = 3")
            .call(
                vec![edit("w.ini", "a = 1\nb = 2\n", "a = 1\nb = 20\n"), edit("w.ini", "b = 2", "b = 20")],
                file_has("w.ini", "b = 20"),
            )
            .then("w.ini", ends.replace("b = 2", "b = 20")),
    ]
}

/// Calls that have another form than the agent's own tool.
fn forms() -> Vec<AgentTask> {
    let patched = |name, text: &str| foreign(ToolRole::Patch, name, json!({"input":text}));
    vec![
        task("other-argument-names", "the arguments have the names of another harness")
            .errs(own(ToolRole::Edit, json!({"file_path":"f.py","old_str":LINE,"new_str":CHANGED}))),
        task("arguments-as-text", "the arguments are a text of JSON within JSON")
            .errs(CallForm::Twice(Box::new(exact()))),
        task("raw-line-breaks", "the arguments have line breaks that JSON does not allow")
            .errs(CallForm::RawBreaks(Box::new(exact()))),
        task("another-editor", "the editor of another harness is called").errs(foreign(
            ToolRole::Edit,
            "str_replace_editor",
            json!({"command":"str_replace","path":"{cwd}/f.py","old_str":LINE,"new_str":CHANGED}),
        )),
        task("patch-call", "a patch is given to a tool that the agent does not list")
            .errs(patched("apply_patch", PATCH)),
        task("unified-diff", "a diff as git writes it is given as a patch")
            .errs(patched("apply_patch", DIFF)),
        task("patch-in-shell", "a patch is given to the shell")
            .errs(run(&format!("apply_patch <<'EOF'\n{PATCH}EOF"))),
        task("file-by-edit", "a new file is made by an edit of nothing")
            .prompt("Make n.txt with the line hello.")
            .call(vec![edit("n.txt", "", "hello\n"), write("n.txt", "hello\n")], file_has("n.txt", "hello"))
            .then("n.txt", "hello\n"),
    ]
}

/// Edits at a time or a place that is not as the model thinks.
fn states() -> Vec<AgentTask> {
    let twice = "a = 1\nreturn a\n\nb = 2\nreturn a\n";
    let formatted = F.replacen("return 1\n", "return 10\n", 1).replace('"', "'");
    vec![
        task("unread-edit", "a file is changed that was not read").changes(vec![
            exact(),
            read("f.py"),
            exact(),
        ]),
        task("formatted-meanwhile", "a formatter has changed the file since it was read")
            .prompt("Let one() in f.py return 10, format it, and let two() return twice as much.")
            .reads("f.py", "class Three")
            .call(vec![edit("f.py", "    return 1\n", "    return 10\n")], file_has("f.py", "return 10"))
            .call(vec![run("sed -i \"s/\\\"/'/g\" f.py")], file_has("f.py", "'three'"))
            .call(vec![exact(), read("f.py"), exact()], file_has("f.py", "return y * 2"))
            .then("f.py", formatted.replacen(LINE, CHANGED, 1)),
        task("two-places", "the text stands in the file twice, which is for the model to mend")
            .prompt("Let the second return in t.py return b.")
            .file("t.py", twice)
            .reads("t.py", "b = 2")
            .step(TaskStep::Ambiguous {
                form: edit("t.py", "return a\n", "return b\n"),
                path: "t.py".to_owned(),
                text: twice.to_owned(),
            })
            .call(vec![edit("t.py", "b = 2\nreturn a\n", "b = 2\nreturn b\n")], file_has("t.py", "return b"))
            .then("t.py", "a = 1\nreturn a\n\nb = 2\nreturn b\n"),
    ]
}
