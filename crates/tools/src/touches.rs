//! What calls touch, and whether two of them keep apart: only then may they run at the same time.
//!
//! A doubt counts as touching: who runs alone and in order is never wrong.

use crate::shell::ground;
use crate::tool::{Deed, Plan};
use std::path::{Path, PathBuf};

/// What a call reads and writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touches {
    reads: Places,
    writes: Places,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Places {
    /// These, and what is below them.
    Only(Vec<PathBuf>),
    /// Nobody can say.
    Anywhere,
}

const NOTHING: Places = Places::Only(Vec::new());

impl Touches {
    /// What a call touches, as the files stand. Looks at them: call it where blocking is allowed.
    pub fn of(plan: &Plan) -> Touches {
        let (reads, writes) = match &plan.deed {
            Deed::Read | Deed::ReadClosed => match &plan.path {
                Some(path) if !path.is_dir() => (Places::at([path.clone()]), NOTHING),
                _ => (Places::Anywhere, NOTHING),
            },
            Deed::Fetch { .. } | Deed::Reach { .. } => (NOTHING, NOTHING),
            Deed::Write { paths } => (NOTHING, Places::at(paths.iter().cloned())),
            Deed::Command { judgement, .. } => match &judgement.touches {
                Some(known) => (Places::Only(known.reads.clone()), Places::Only(known.writes.clone())),
                None => (Places::Anywhere, Places::Anywhere),
            },
            Deed::Other => (Places::Anywhere, Places::Anywhere),
        };
        // Whatever it is, it was found to change nothing.
        Touches { reads, writes: if plan.read_only { NOTHING } else { writes } }
    }

    /// Whether neither changes what the other reads or writes.
    pub fn is_apart_from(&self, other: &Touches) -> bool {
        !self.writes.meet(&other.writes) && !self.writes.meet(&other.reads) && !other.writes.meet(&self.reads)
    }
}

impl Places {
    fn at(paths: impl IntoIterator<Item = PathBuf>) -> Places {
        let known: Option<Vec<PathBuf>> = paths.into_iter().map(ground).collect();
        known.map_or(Places::Anywhere, Places::Only)
    }

    fn meet(&self, other: &Places) -> bool {
        match (self, other) {
            (Places::Only(none), _) | (_, Places::Only(none)) if none.is_empty() => false,
            (Places::Only(ours), Places::Only(theirs)) => {
                ours.iter().any(|our| theirs.iter().any(|their| lies_in(our, their) || lies_in(their, our)))
            }
            (Places::Anywhere, _) | (_, Places::Anywhere) => true,
        }
    }
}

/// Whether one path is the other or below it, also where the file system takes `A` and `a` for one name.
fn lies_in(inner: &Path, outer: &Path) -> bool {
    let name = |part: &std::ffi::OsStr| part.to_string_lossy().to_lowercase();
    let mut inner = inner.iter().map(name);
    outer.iter().map(name).all(|part| inner.next().is_some_and(|own| own == part))
}

#[cfg(test)]
mod tests {
    use crate::{Bash, Edit, Read, Tool, ToolContext, Touches};
    use serde_json::{Value, json};

    fn touches(tool: &dyn Tool, args: Value, place: &ToolContext) -> Touches {
        Touches::of(&tool.plan(&args, place).unwrap())
    }

    #[test]
    fn only_calls_that_are_known_not_to_meet_are_apart() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for folder in ["one", "two", "one/deep"] {
            std::fs::create_dir(base.join(folder)).unwrap();
        }
        for file in ["a", "b", "c"] {
            std::fs::write(base.join(file), "x\n").unwrap();
        }
        std::fs::hard_link(base.join("c"), base.join("same-as-c")).unwrap();
        std::os::unix::fs::symlink("a", base.join("link")).unwrap();
        // Nothing of where the tests lie makes a program doubtful.
        let env = [("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
        let place = ToolContext::new(&base, &base.join("out")).unwrap().with_env(env.into_iter());
        let bash = |line: &str| touches(&Bash::default(), json!({"command": line}), &place);
        let apart = [
            ("sleep 1; echo 1 > one/x", "sleep 1; echo 1 > two/x"),
            ("touch one/x", "mkdir -p two/y"),
            ("cat a > one/x", "cat a > two/x"),
            ("cp a one/x", "rm -f two/x"),
            ("cd one && touch x", "touch two/x"),
            ("sleep 1", "cargo build"),
        ];
        for (one, other) in apart {
            assert!(
                bash(one).is_apart_from(&bash(other)) && bash(other).is_apart_from(&bash(one)),
                "{one} | {other}"
            );
        }
        let meet = [
            ("touch a", "touch a"),
            ("echo 1 >> a", "cat a > b"),
            ("touch link", "cat a"),
            ("touch A", "touch a"),
            ("touch c", "cat same-as-c > b"),
            ("rm -r one", "touch one/x"),
            // The second needs the folder that the first makes.
            ("mkdir -p new/x", "touch new/y"),
            ("cd one && touch x", "touch x"),
            // Where names come from elsewhere, and where a program may do anything.
            ("touch $x", "touch b"),
            ("touch one/*", "touch b"),
            ("cp a one", "touch b"),
            ("cp -t one a", "touch b"),
            ("npm test", "cargo test"),
            ("python3 x.py", "touch b"),
            ("git add a", "touch b"),
            ("xargs touch < a", "touch b"),
            ("PATH=. touch a", "touch b"),
            ("for x in a; do touch $x; done", "touch b"),
        ];
        for (one, other) in meet {
            assert!(!bash(one).is_apart_from(&bash(other)), "{one} | {other}");
            assert!(!bash(other).is_apart_from(&bash(one)), "{other} | {one}");
        }
        let background = touches(&Bash::default(), json!({"command": "touch a", "background": true}), &place);
        assert!(!background.is_apart_from(&bash("touch b")), "it goes on beside what comes next");
        let edit =
            |path: &str| touches(&Edit, json!({"path": path, "old_text": "x", "new_text": "y"}), &place);
        let read = |path: &str| touches(&Read, json!({"path": path}), &place);
        assert!(edit("a").is_apart_from(&edit("b")) && edit("a").is_apart_from(&read("b")));
        assert!(!edit("a").is_apart_from(&edit("link")) && !edit("a").is_apart_from(&read("./a")));
        assert!(!edit("c").is_apart_from(&edit("b")), "a file that has two names");
        let list = touches(&crate::Ls, json!({"path": "."}), &place);
        assert!(!edit("a").is_apart_from(&list) && list.is_apart_from(&list));
    }
}
