//! Folders that a command shuts to their own owner, so that nobody can list what it writes in them.

use crate::hostile::bench::as_each_user;

#[test]
fn what_is_written_in_a_folder_that_was_shut_is_seen_and_put_back() {
    if tools::sandbox::status().can_hold().is_err() {
        return;
    }
    as_each_user(|world| {
        world.folder("project/sub");
        world.folder("project/src");
        world.put("project/sub/AGENTS.md", "mine");
        world.put("project/src/a", "one\n");
        let serving = world.serve(&["--policy", "sandboxed"]);
        let mut ui = world.ui(&serving.socket);
        // In scripts: a line that names what steers would be asked about.
        let scripts = [
            "chmod 311 sub src",
            "printf evil > sub/AGENTS.md; printf evil > sub/.envrc; printf 'lost\\n' > src/a",
            "mkdir pkg; printf evil > pkg/.envrc; chmod 311 pkg",
            "chmod 0 sub src; chmod 311 .",
            "printf evil > AGENTS.md; printf evil > sub/AGENTS.md",
            "chmod 755 . sub src; mkdir -p other/deep; printf evil > other/deep/.envrc; chmod 0 other",
        ];
        for script in scripts {
            world.put("project/run.sh", script);
            ui.bash("bash run.sh", true);
            for made in ["sub/.envrc", "pkg/.envrc", "AGENTS.md", "other/deep/.envrc"] {
                assert!(!world.path(format!("project/{made}")).exists(), "{script}: {made} stays");
            }
            assert_eq!(world.get("project/sub/AGENTS.md"), "mine", "{script}");
        }
    });
}
