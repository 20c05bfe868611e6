//! Completions in a real bash: the script is read as a shell reads it, and asked as readline asks it.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use std::path::Path;
use std::process::{Command, Stdio};
use testkit::said;

const PARLOR: &str = env!("CARGO_BIN_EXE_parlor");
/// As bash has them where nobody changed them.
const BREAKS: &str = " \t\n\"'@><=;|&(:";

/// A home with a conversation, a worktree and a server.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Home {
        let home = Home(tempfile::tempdir().unwrap());
        std::fs::create_dir(home.0.path().join("work")).unwrap();
        home.bash(
            "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m begin
             parlor run --model offline 'the failing bridge' && parlor mcp add weather -- uvx weather",
        );
        home
    }

    fn bash(&self, script: &str) -> String {
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-uc", script])
            .current_dir(self.0.path().join("work"))
            .stdin(Stdio::null())
            .env_clear();
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
        let own = Path::new(PARLOR).parent().unwrap().display().to_string();
        bash.env("PATH", format!("{own}:{path}")).env("HOME", self.0.path()).env("TERM", "dumb");
        said(&bash.output().unwrap())
    }

    /// What bash puts in or shows for a line with the cursor at its end.
    fn at_tab(&self, line: &str) -> Vec<String> {
        let script = format!(
            "source <(parlor completions bash)
             complete -p parlor | grep -q _parlor || exit 9
             COMP_LINE='{line}' COMP_POINT=${{#COMP_LINE}} COMP_TYPE=9 COMP_WORDBREAKS=$'{}'
             COMP_POINT=${{#COMP_LINE}}
             _parlor parlor
             (( ${{#COMPREPLY[@]}} == 0 )) || printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            BREAKS.replace('\'', "\\'").replace('\n', "\\n").replace('\t', "\\t")
        );
        self.bash(&script).lines().map(str::to_owned).collect()
    }
}

#[test]
fn bash_completes_commands_flags_and_what_is_kept() {
    let home = Home::new();
    assert_eq!(home.at_tab("parlor ses"), ["sessions"]);
    assert_eq!(home.at_tab("parlor sessions exp"), ["export"]);
    assert_eq!(home.at_tab("parlor run --output-s"), ["--output-schema"]);
    assert_eq!(home.at_tab("parlor --policy=re"), ["read-only"]);
    assert_eq!(home.at_tab("parlor mcp test "), ["weather"]);
    assert_eq!(home.at_tab("parlor --model off"), ["offline/offline"]);
    assert!(home.at_tab("parlor attach go").iter().any(|agent| agent.starts_with("goose")));
    let sessions = home.at_tab("parlor --resume ");
    let [session] = sessions.as_slice() else { panic!("{sessions:?}") };
    let taken = home.bash(&format!("parlor sessions show {session}"));
    assert!(taken.contains("the failing bridge"), "{taken}");
    // A second one, and both say what they are.
    home.bash("parlor run --model offline 'another talk'");
    let both = home.at_tab("parlor sessions export ");
    assert!(both.len() == 2 && both.iter().any(|one| one.contains("(the failing bridge, ")), "{both:?}");
    assert_eq!(home.at_tab("parlor sessions import "), Vec::<String>::new(), "files are left to bash");
}

#[test]
fn a_home_without_anything_completes_and_nothing_is_made_there() {
    let folder = tempfile::tempdir().unwrap();
    for words in
        [&["zsh", "--resume", ""][..], &["fish", "sessions", "show", ""], &["zsh", "ru"], &["bash"], &[]]
    {
        let mut parlor = Command::new(PARLOR);
        parlor
            .arg("__complete")
            .args(words)
            .env_clear()
            .env("HOME", folder.path())
            .current_dir(folder.path());
        let output = parlor.output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {output:?}");
        if words == ["zsh", "ru"] {
            let told = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(told.starts_with("run:Answer one prompt"), "{told}");
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
